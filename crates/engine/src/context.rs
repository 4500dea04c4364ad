//! What a node is handed while it runs: its questions, its streams, its place in the run.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use crate::emit::Emitter;
use crate::handler::NodeFailed;
use crate::ids::{CheckpointId, InterruptId, Name, TaskId, ThreadId};
use crate::node::{Interrupted, NodeError};
use crate::stream::{Payload, StreamMode};
use crate::timeout::Pulse;
use crate::value::{List, Object, Value};

/// Where a task stands.
#[derive(Clone, Debug)]
pub struct TaskInfo {
    /// Thread, when there is one.
    pub thread: Option<ThreadId>,
    /// Run.
    pub run_id: String,
    /// Task.
    pub task_id: TaskId,
    /// Checkpoint the task started from.
    pub checkpoint_id: CheckpointId,
    /// Namespace of the task, `node:task`.
    pub checkpoint_ns: String,
    /// Node.
    pub node: Name,
    /// Super-step.
    pub step: i64,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// When the first attempt began, in milliseconds since the Unix epoch.
    pub first_attempt_ms: u64,
    /// Trigger channels.
    pub triggers: Vec<Name>,
    /// Path of the task, as metadata shows it.
    pub path: Value,
}

/// Answers waiting for one task, and where a single answer to the whole run can be taken from.
#[derive(Default)]
pub(crate) struct Answers {
    /// Answers given to this task, in order: stored ones, then one that names its question by id.
    pub(crate) given: Vec<Value>,
    /// The one answer of a scalar resume; whoever asks first takes it.
    pub(crate) scalar: Arc<Mutex<Option<Value>>>,
}

struct Inner {
    info: TaskInfo,
    user: Arc<Object>,
    emitter: Emitter,
    cancel: CancellationToken,
    answers: Mutex<Answers>,
    used: Mutex<Option<Vec<Value>>>,
    calls: AtomicUsize,
    /// Set for attempts that are watched.
    pulse: Option<Arc<Pulse>>,
    /// Set for error handlers: what they take over from.
    failed: Option<NodeFailed>,
}

/// What a node is handed. Cheap to clone; may be moved to other tasks and threads.
#[derive(Clone)]
pub struct NodeContext(Arc<Inner>);

impl fmt::Debug for NodeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeContext").field(&self.0.info).finish()
    }
}

/// The id of the `index`-th question of a task.
pub(crate) fn interrupt_id(task_ns: &str, index: usize) -> InterruptId {
    let hash = |text: &str| format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
    InterruptId::new(if index == 0 {
        hash(task_ns)
    } else {
        hash(&format!("{task_ns}|{index}"))
    })
}

impl NodeContext {
    pub(crate) fn new(
        info: TaskInfo,
        user: Arc<Object>,
        emitter: Emitter,
        cancel: CancellationToken,
        answers: Answers,
    ) -> Self {
        Self(Arc::new(Inner {
            info,
            user,
            emitter,
            cancel,
            answers: Mutex::new(answers),
            used: Mutex::new(None),
            calls: AtomicUsize::new(0),
            pulse: None,
            failed: None,
        }))
    }

    /// The context of another attempt at the same task: its questions are counted anew, answers are kept.
    pub(crate) fn for_attempt(&self, number: u32, pulse: Option<Arc<Pulse>>) -> Self {
        let answers = lock(&self.0.answers);
        Self(Arc::new(Inner {
            info: TaskInfo {
                attempt: number,
                ..self.0.info.clone()
            },
            user: self.0.user.clone(),
            emitter: self.0.emitter.clone(),
            cancel: self.0.cancel.clone(),
            answers: Mutex::new(Answers {
                given: answers.given.clone(),
                scalar: answers.scalar.clone(),
            }),
            used: Mutex::new(lock(&self.0.used).clone()),
            calls: AtomicUsize::new(0),
            pulse,
            failed: self.0.failed.clone(),
        }))
    }

    /// The context of what takes over from a failed node.
    pub(crate) fn taking_over(mut self, failed: NodeFailed) -> Self {
        // A new context has no other owner.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.failed = Some(failed);
        }
        self
    }

    /// In an error handler or a fallback: the node that failed, and why.
    pub fn failed(&self) -> Option<&NodeFailed> {
        self.0.failed.as_ref()
    }

    /// The node is alive although nothing can be seen of it: its idle timeout starts anew.
    pub fn heartbeat(&self) {
        if let Some(pulse) = &self.0.pulse {
            pulse.beat();
        }
    }

    /// Notes that the node did something. False when its attempt has been given up, so that nobody should see it.
    fn heard(&self) -> bool {
        self.0.pulse.as_ref().is_none_or(|pulse| pulse.seen())
    }

    /// Asks a question and waits for its answer, for as long as it takes.
    ///
    /// The first time this returns an error to be passed on with `?`: the run stops, the question is stored. When
    /// the thread is resumed the node runs again from its beginning, and the k-th call of this function gets the
    /// k-th answer.
    pub fn interrupt(&self, question: impl Into<Value>) -> Result<Value, NodeError> {
        let index = self.0.calls.fetch_add(1, Ordering::SeqCst);
        let mut answers = lock(&self.0.answers);
        if index >= answers.given.len() {
            let answer = lock(&answers.scalar).take();
            match answer {
                Some(answer) => answers.given.push(answer),
                None => {
                    return Err(NodeError::Interrupt(Interrupted {
                        question: question.into(),
                        index,
                    }));
                }
            }
        }
        *lock(&self.0.used) = Some(answers.given.clone());
        Ok(answers.given[index].clone())
    }

    /// Sends something to readers of the `custom` stream. Waits while the reader is behind.
    pub async fn emit(&self, value: impl Into<Value>) {
        if self.heard() && self.wants(StreamMode::Custom) {
            self.0.emitter.send(Payload::Custom(value.into())).await;
        }
    }

    /// Sends a token chunk or message to readers of the `messages` stream; the task's metadata is added.
    pub async fn message(&self, message: impl Into<Value>) {
        if self.heard() && self.wants(StreamMode::Messages) {
            self.0
                .emitter
                .send(Payload::Message(message.into(), self.metadata()))
                .await;
        }
    }

    /// Does anybody read this stream?
    pub fn wants(&self, mode: StreamMode) -> bool {
        self.0.emitter.wants(mode)
    }

    /// Resolves when the run is stopped; select on it in long work.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// Has the run been stopped?
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Where this task stands.
    pub fn info(&self) -> &TaskInfo {
        &self.0.info
    }

    /// The metadata that accompanies messages of this task.
    pub fn metadata(&self) -> Value {
        message_metadata(&self.0.info, &self.0.user)
    }

    /// The answers that were used, to be stored with the task.
    pub(crate) fn used_answers(&self) -> Option<Vec<Value>> {
        lock(&self.0.used).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What accompanies a message of a task: the user's metadata, then where it comes from.
pub(crate) fn message_metadata(info: &TaskInfo, user: &Object) -> Value {
    let mut meta = user.clone();
    if let Some(thread) = &info.thread {
        meta.insert("thread_id", thread);
    }
    meta.insert("langgraph_step", info.step);
    meta.insert("langgraph_node", info.node.clone());
    let triggers: List = info.triggers.iter().map(|t| Value::String(t.clone())).collect();
    meta.insert("langgraph_triggers", triggers);
    meta.insert("langgraph_path", info.path.clone());
    meta.insert("langgraph_checkpoint_ns", info.checkpoint_ns.as_str());
    Value::Object(meta)
}
