//! What a node is handed while it runs: its questions, its streams, its place in the run.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::base::ids::{CheckpointId, InterruptId, Name, TaskId, ThreadId};
use crate::base::timeout::Pulse;
use crate::graph::call::{TaskFn, TaskHandle};
use crate::graph::compiled::Graph;
use crate::graph::handler::NodeFailed;
use crate::graph::node::{Interrupted, NodeError};
use crate::graph::noted_store::NotedStore;
use crate::graph::plan::NodeIx;
use crate::graph::recorder::Recorder;
use crate::graph::scope::Shared;
use crate::graph::task::{Origin, StepContext, TaskHeader};
use crate::policy::breakpoint::BreakpointPlace;
use crate::store::Store;
use crate::stream::emit::Emitter;
use crate::stream::events::{Payload, StreamMode};
use crate::stream::metrics::ModelUsage;
use crate::stream::run_config::RunConfig;
use crate::value::{List, Object, Value};

/// Facts about a task and its place in a run.
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

struct ContextData {
    head: Arc<TaskHeader>,
    attempt: u32,
    /// When the first attempt began.
    began_ms: u64,
    /// Made when somebody asks, which most nodes never do.
    info: OnceLock<Box<TaskInfo>>,
    shared: Arc<Shared>,
    /// Does the step go on where an earlier run left it? None after the first step of a run.
    resuming: Option<bool>,
    /// Answers given to this task, in order: stored ones, then one that names its question by id.
    given: Mutex<Vec<Value>>,
    used: Mutex<Option<Vec<Value>>>,
    questions: AtomicUsize,
    graphs: AtomicUsize,
    calls: AtomicUsize,
    /// Set for attempts that are watched, or whose graph is run by one.
    pulse: Option<Arc<Pulse>>,
    /// Set for error handlers: what they take over from.
    failed: Option<Box<NodeFailed>>,
    /// The place of the task in its step, by which the run knows who calls.
    place: usize,
    previous: Option<Value>,
    /// Messages that are to be written, with their keys.
    pushed: Mutex<Vec<(Name, Value)>>,
    /// Answers that were used before the node began.
    before: usize,
    /// The key of its effect, when that is not the task's id.
    key: Option<Name>,
    /// Set in runs that record what tasks read and decide.
    recorder: Option<Arc<Recorder>>,
    /// The store that notes its uses; made when somebody asks for it.
    noted_store: OnceLock<Arc<dyn Store>>,
}

/// Context that a node is given. Cheap to clone; may be moved to other tasks and threads.
#[derive(Clone)]
#[doc(alias = "Runtime")]
pub struct NodeContext(Arc<ContextData>);

impl fmt::Debug for NodeContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeContext").field(self.info()).finish()
    }
}

/// Returns the id of the `index`-th question of a task.
pub(crate) fn interrupt_id(task_ns: &str, index: usize) -> InterruptId {
    let hash = |text: &str| format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
    InterruptId::new(if index == 0 {
        hash(task_ns)
    } else {
        hash(&format!("{task_ns}|{index}"))
    })
}

impl TaskHeader {
    /// Returns facts about the task; the attempt is the first.
    pub(crate) fn info(&self, shared: &Shared, began_ms: u64) -> TaskInfo {
        TaskInfo {
            thread: shared.config.thread.clone(),
            run_id: shared.run_id.clone(),
            task_id: self.id().clone(),
            checkpoint_id: self.stage.checkpoint.clone(),
            checkpoint_ns: self.ns(),
            node: self.name.clone(),
            step: self.stage.step,
            attempt: 1,
            first_attempt_ms: began_ms,
            triggers: self.triggers(),
            path: self.path(),
        }
    }
}

/// Work outside of a run that a context is made for.
pub(crate) struct DetachedTask<'a> {
    pub(crate) node: NodeIx,
    pub(crate) id: &'a TaskId,
    /// The checkpoint and the super-step that it is shown to be of.
    pub(crate) checkpoint: &'a CheckpointId,
    pub(crate) step: i64,
    /// Answers to its questions, in order.
    pub(crate) answers: Vec<Value>,
}

impl NodeContext {
    pub(crate) fn new(
        head: Arc<TaskHeader>,
        place: usize,
        shared: Arc<Shared>,
        resuming: Option<bool>,
        given: Vec<Value>,
        previous: Option<Value>,
        recorder: Option<Recorder>,
    ) -> Self {
        let began_ms = shared.clock.now_ms();
        let failed = head.failed().cloned().map(Box::new);
        let pulse = shared.pulse.clone();
        Self(Arc::new(ContextData {
            head,
            attempt: 1,
            began_ms,
            info: OnceLock::new(),
            shared,
            resuming,
            given: Mutex::new(given),
            used: Mutex::new(None),
            questions: AtomicUsize::new(0),
            graphs: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            pulse,
            failed,
            place,
            previous,
            pushed: Mutex::default(),
            before: 0,
            key: None,
            recorder: recorder.map(Arc::new),
            noted_store: OnceLock::new(),
        }))
    }

    /// Creates the context of work outside of a run: routers while a state is edited, and nodes on their own.
    pub(crate) fn detached(
        graph: &Graph,
        config: RunConfig,
        task: DetachedTask<'_>,
        emitter: Emitter,
    ) -> Self {
        let name = &graph.plan.node(task.node).name;
        let info = TaskInfo {
            thread: config.thread.clone(),
            run_id: String::new(),
            checkpoint_ns: format!("{name}:{}", task.id),
            task_id: task.id.clone(),
            checkpoint_id: task.checkpoint.clone(),
            node: name.clone(),
            step: task.step,
            attempt: 1,
            first_attempt_ms: 0,
            triggers: Vec::new(),
            path: Value::Null,
        };
        let stage = StepContext::new(&graph.plan, &"".into(), task.checkpoint, task.step);
        let name = info.node.clone();
        let id = task.id.clone();
        let head = TaskHeader::known(&stage, Some(task.node), name, Origin::Pull, id, "".into());
        // No run stands behind it.
        let recorder = config.record.then(Recorder::default);
        let shared = Shared::root(graph, config, String::new(), emitter);
        let context = Self::new(
            Arc::new(head),
            0,
            Arc::new(shared),
            None,
            task.answers,
            None,
            recorder,
        );
        let _ = context.0.info.set(Box::new(info));
        context
    }

    /// Notes what was decided before the node begins: the answers that it took, and the key of the node's effect.
    pub(crate) fn decided(mut self, answers: &[Value], key: Option<Name>) -> Self {
        // A new context has no other owner.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            let used = answers.len();
            inner.key = key;
            inner.before = used;
            inner.questions = AtomicUsize::new(used);
            if used > 0 {
                let given = inner.given.get_mut();
                if given.len() < used {
                    *given = answers.to_vec();
                }
                inner.used = Mutex::new(Some(answers.to_vec()));
            }
        }
        self
    }

    /// Returns the key under which the node's effect is done, for servers that do nothing twice under one key: it stays
    /// the same when the same work is done again, in another run or on another branch. It is the id of the task that
    /// did it first.
    pub fn effect_key(&self) -> &str {
        match &self.0.key {
            Some(key) => key,
            None => self.0.head.id().as_str(),
        }
    }

    /// Returns the recorder in which the node notes what it reads and why it decides as it does; `None` when the run
    /// does not [record](RunConfig::record) it.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.0.recorder.as_deref()
    }

    /// Creates the context of another attempt at the same task: its questions are counted from the start again, answers
    /// are kept.
    pub(crate) fn for_attempt(&self, number: u32, pulse: Option<Arc<Pulse>>) -> Self {
        Self(Arc::new(ContextData {
            head: self.0.head.clone(),
            attempt: number,
            began_ms: self.0.began_ms,
            info: OnceLock::new(),
            shared: self.0.shared.clone(),
            // What the attempt before ran to its end need not run again.
            resuming: if number > 1 { Some(true) } else { self.0.resuming },
            given: Mutex::new(self.0.given.lock().clone()),
            used: Mutex::new(self.0.used.lock().clone()),
            questions: AtomicUsize::new(self.0.before),
            // Graphs of the failed attempt keep their places: this one starts over, beside them.
            graphs: AtomicUsize::new(self.0.graphs.load(Ordering::SeqCst)),
            calls: AtomicUsize::new(0),
            pulse: pulse.or_else(|| self.0.shared.pulse.clone()),
            failed: self.0.failed.clone(),
            place: self.0.place,
            previous: self.0.previous.clone(),
            pushed: Mutex::default(),
            before: self.0.before,
            key: self.0.key.clone(),
            recorder: (self.0.recorder.as_ref()).map(|failed| Arc::new(failed.of_next_attempt())),
            noted_store: OnceLock::new(),
        }))
    }

    /// Creates the context of the fallback that does the work after the last attempt: it starts over, also in graphs
    /// that it runs.
    pub(crate) fn for_fallback(&self, number: u32, failed: NodeFailed) -> Self {
        let mut context = self.for_attempt(number, None);
        if let Some(inner) = Arc::get_mut(&mut context.0) {
            inner.resuming = Some(false);
        }
        context.taking_over(failed)
    }

    /// Sets the failed node that the context's task takes over from.
    pub(crate) fn taking_over(mut self, failed: NodeFailed) -> Self {
        // A new context has no other owner.
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.failed = Some(Box::new(failed));
        }
        self
    }

    /// Returns the node that failed, and why, in an error handler or a fallback.
    pub fn failed(&self) -> Option<&NodeFailed> {
        self.0.failed.as_deref()
    }

    /// Reports that the node is alive although it does nothing visible: its idle timeout starts again.
    pub fn heartbeat(&self) {
        if let Some(pulse) = &self.0.pulse {
            pulse.beat();
        }
    }

    pub(crate) fn pulse(&self) -> Option<Arc<Pulse>> {
        self.0.pulse.clone()
    }

    /// Notes that the node did something visible, for an idle timeout that looks at that. False when its attempt has been
    /// given up, so that nobody should see it.
    pub fn note_activity(&self) -> bool {
        self.0.pulse.as_ref().is_none_or(|pulse| pulse.seen())
    }

    /// Asks a question and waits for its answer, for as long as it takes.
    ///
    /// The first time this returns an error to be passed on with `?`: the run stops, the question is stored. When
    /// the thread is resumed the node runs again from its beginning, and the k-th call of this function gets the
    /// k-th answer.
    pub fn interrupt(&self, question: impl Into<Value>) -> Result<Value, NodeError> {
        let index = self.0.questions.fetch_add(1, Ordering::SeqCst);
        let mut given = self.0.given.lock();
        if index >= given.len() {
            let answer = self.0.shared.answers.scalar.lock().take();
            match answer {
                Some(answer) => given.push(answer),
                None => {
                    return Err(NodeError::Interrupt(Interrupted::Question {
                        question: question.into(),
                        index,
                    }));
                }
            }
        }
        *self.0.used.lock() = Some(given.clone());
        Ok(given[index].clone())
    }

    /// Sends something to readers of the `custom` stream. Waits while the reader is behind.
    pub async fn emit(&self, value: impl Into<Value>) {
        let value = value.into();
        if !self.note_activity() {
            return;
        }
        let shared = &self.0.shared;
        if shared
            .config
            .has_breakpoint(|place| matches!(place, BreakpointPlace::Emitted(_)))
        {
            let mut emitted = shared.hits.emitted.lock();
            emitted.push((self.info().task_id.clone(), value.clone()));
        }
        if self.wants(StreamMode::Custom) {
            if self.0.calls.load(Ordering::Relaxed) > 0 {
                // What was called before is emitted before.
                tokio::task::yield_now().await;
            }
            let task = self.info().task_id.clone();
            let (emitter, payload) = (&self.0.shared.emitter, Payload::Custom(value, Some(task)));
            // What a called task emits comes in the namespace of its caller.
            match self.0.head.caller_segments(&emitter.ns()) {
                Some(ns) => emitter.nested(ns).send(payload).await,
                None => emitter.send(payload).await,
            }
        }
    }

    /// Reports the tokens and the cost of a request that the node made, for
    /// [limits](crate::run::BreakpointLimit::Tokens) of the run. Requests of attempts that fail count too: they were paid for.
    pub fn report_usage(&self, usage: ModelUsage) {
        self.0.shared.usage.add(usage);
    }

    /// Sends a token chunk or message to readers of the `messages` stream; the task's metadata is added.
    pub async fn message(&self, message: impl Into<Value>) {
        if self.note_activity() && self.wants(StreamMode::Messages) {
            let (message, emitter) = (message.into(), &self.0.shared.emitter);
            // What was emitted, whole or in chunks, is not emitted again when the node returns it.
            if let Some(id) = message.get("id").and_then(Value::as_str) {
                emitter.first_time(id.to_owned());
            }
            let mut metadata = self.metadata();
            if let (Some("AIMessageChunk"), Value::Object(fields)) =
                (message.get("type").and_then(Value::as_str), &mut metadata)
            {
                if !fields.contains_key("checkpoint_ns") {
                    // A model call carries the namespace of the task that makes it.
                    fields.insert("checkpoint_ns", self.info().checkpoint_ns.as_str());
                }
                if !self.tags().is_empty() {
                    fields.insert("tags", tag_list(self.tags()));
                }
            }
            emitter.send(Payload::Message(message, metadata)).await;
        }
    }

    /// Sends a whole message to readers of the `messages` stream at once, and writes it to the state key `key` when the
    /// node has returned, before what it returns. The message gets an id if it has none.
    pub async fn push_message(
        &self,
        key: impl Into<Name>,
        message: impl Into<Value>,
    ) -> Result<(), NodeError> {
        let refused = |why| NodeError::new("ValueError", why);
        let message = crate::value::messages::coerce(&message.into()).map_err(refused)?;
        self.0.pushed.lock().push((key.into(), message.clone()));
        self.message(message).await;
        Ok(())
    }

    /// Takes the messages that [`push_message`](Self::push_message) was given.
    pub(crate) fn take_pushed(&self) -> Vec<(Name, Value)> {
        std::mem::take(&mut self.0.pushed.lock())
    }

    /// Returns whether anybody reads this stream.
    pub fn wants(&self, mode: StreamMode) -> bool {
        self.0.shared.emitter.wants(mode)
    }

    /// Resolves when the run is stopped; select on it in long work.
    pub async fn cancelled(&self) {
        self.0.shared.config.cancel.cancelled().await;
    }

    /// Returns whether the run has been stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.shared.config.cancel.is_cancelled()
    }

    /// Returns whether the attempt at the node, or one around it, has taken longer than its
    /// [`Timeout`](crate::graph::Timeout) allows. The attempt is given up as soon as the node waits for something; work that
    /// only computes can look here now and then, and end early.
    pub fn is_out_of_time(&self) -> bool {
        let pulse = self.0.pulse.as_ref().or(self.0.shared.pulse.as_ref());
        pulse.is_some_and(|pulse| pulse.is_over())
    }

    /// Returns the facts about this task.
    pub fn info(&self) -> &TaskInfo {
        self.0.info.get_or_init(|| {
            Box::new(TaskInfo {
                attempt: self.0.attempt,
                ..self.0.head.info(&self.0.shared, self.0.began_ms)
            })
        })
    }

    /// Returns the time by the run's clock: milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.0.shared.clock.now_ms()
    }

    /// Returns the metadata that accompanies messages of this task.
    pub fn metadata(&self) -> Value {
        message_metadata(self.info(), &self.0.shared, self.0.head.metadata())
    }

    /// Returns the [context](RunConfig::context) of the run; null when it has none.
    pub fn context(&self) -> &Value {
        &self.0.shared.config.context
    }

    /// Returns the [configurable values](RunConfig::configurable) of the run.
    pub fn configurable(&self) -> &Object {
        &self.0.shared.config.configurable
    }

    /// Returns the [labels](RunConfig::tags) of the run.
    pub fn tags(&self) -> &[Name] {
        &self.0.shared.config.tags
    }

    /// Calls a task: its work begins at once, its result is recorded.
    ///
    /// Await the handle for the result. When this node runs again, a call that had finished gives its recorded result
    /// without doing the work; calls are matched by their order.
    pub fn call(&self, task: &TaskFn, args: impl Into<Value>) -> TaskHandle {
        self.note_activity();
        let index = self.0.calls.fetch_add(1, Ordering::SeqCst);
        TaskHandle::call(&self.0.shared, self.0.place, index, task, args.into())
    }

    /// Calls a task at a place of its own: as [`call`](Self::call), but matched by the place that the caller names, whatever
    /// else it calls before or after. A caller must not name a place twice in one run of its work.
    pub fn call_at(&self, slot: u32, task: &TaskFn, args: impl Into<Value>) -> TaskHandle {
        /// Calls that are counted stay below.
        const SLOTS: usize = 4_000_000_000;
        self.note_activity();
        let index = SLOTS.saturating_add(usize::try_from(slot).unwrap_or(usize::MAX));
        TaskHandle::call(&self.0.shared, self.0.place, index, task, args.into())
    }

    /// Returns whether the task may have run before: its run goes on where another stopped, or this is another attempt.
    pub fn may_have_run(&self) -> bool {
        self.0.resuming == Some(true)
    }

    /// Returns what the last run in this thread returned or saved, in an [`Entrypoint`](crate::graph::Entrypoint); null on the
    /// first.
    pub fn previous(&self) -> Value {
        self.0.previous.clone().unwrap_or_default()
    }

    /// Returns the header of the task that the context belongs to.
    pub(crate) fn head(&self) -> &TaskHeader {
        &self.0.head
    }

    /// Returns the store of the graph, or of the graph around it: long-term memory apart from threads and checkpoints.
    pub fn store(&self) -> Option<&Arc<dyn Store>> {
        let store = self.0.shared.store.as_ref()?;
        let Some(recorder) = &self.0.recorder else {
            return Some(store);
        };
        let noted = || {
            let clock = self.0.shared.clock.clone();
            Arc::new(NotedStore::new(store.clone(), recorder.clone(), clock)) as Arc<dyn Store>
        };
        Some(self.0.noted_store.get_or_init(noted))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    pub(crate) fn resuming(&self) -> Option<bool> {
        self.0.resuming
    }

    /// Returns the number of graphs that this task has run before, and counts one more.
    pub(crate) fn next_graph_call(&self) -> usize {
        self.0.graphs.fetch_add(1, Ordering::SeqCst)
    }

    /// Returns the answers that were used, to be stored with the task.
    pub(crate) fn used_answers(&self) -> Option<Vec<Value>> {
        self.0.used.lock().clone()
    }
}

/// Converts labels to a list of texts.
pub(crate) fn tag_list(tags: &[Name]) -> List {
    tags.iter().cloned().map(Value::String).collect()
}

/// Builds the metadata of a task's message: the user's metadata, then its origin, then what its node adds. Places that
/// the user's metadata names keep their values.
pub(crate) fn message_metadata(info: &TaskInfo, shared: &Shared, own: &Object) -> Value {
    let mut meta = shared.config.metadata.clone();
    let places: [(&str, Option<&str>); 3] = [
        (
            "checkpoint_id",
            shared.asked_at.as_ref().map(CheckpointId::as_str),
        ),
        ("thread_id", info.thread.as_ref().map(ThreadId::as_str)),
        ("checkpoint_ns", shared.within.as_deref()),
    ];
    for (key, place) in places {
        if let Some(place) = place
            && !meta.contains_key(key)
        {
            meta.insert(key, place);
        }
    }
    meta.insert("langgraph_step", info.step);
    meta.insert("langgraph_node", info.node.clone());
    let triggers: List = info.triggers.iter().map(|t| Value::String(t.clone())).collect();
    meta.insert("langgraph_triggers", triggers);
    meta.insert("langgraph_path", info.path.clone());
    meta.insert("langgraph_checkpoint_ns", info.checkpoint_ns.as_str());
    for (key, value) in own.iter() {
        meta.insert(key.clone(), value.clone());
    }
    Value::Object(meta)
}
