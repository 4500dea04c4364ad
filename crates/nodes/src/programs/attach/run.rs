//! A run of an attached program, and the states of its threads.

use std::fmt;

use serde::{Deserialize, Serialize};
use superstep::Value;
use superstep::value::Object;
use tokio::sync::mpsc;

use super::error::AttachError;
use super::process::{Reply, Requests};

/// Input of a run.
#[derive(Clone, Debug)]
pub enum AttachedInput {
    /// Values of state keys, or whatever the graph takes.
    Given(Value),
    /// Answers by the ids of their questions, or the answer of the only one.
    Answers(Value),
    /// Nothing: the thread goes on where it stopped.
    GoOn,
}

/// Request of a run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Thread.
    pub thread: String,
    /// Checkpoint to begin at, instead of the newest.
    pub checkpoint: Option<String>,
    /// Input.
    pub input: AttachedInput,
    /// Run context, when the graph takes one.
    pub context: Option<Value>,
    /// Stream modes that are wanted, by LangGraph's names.
    pub modes: Vec<String>,
    /// Nodes to stop before; `*` is all.
    pub break_before: Vec<String>,
    /// Nodes to stop after; `*` is all.
    pub break_after: Vec<String>,
    /// Most steps; LangGraph's own limit when none is named.
    pub recursion_limit: Option<u32>,
}

impl RunSpec {
    /// Creates the request of a run with this input, which streams updates.
    pub fn new(thread: impl Into<String>, input: AttachedInput) -> Self {
        Self {
            thread: thread.into(),
            checkpoint: None,
            input,
            context: None,
            modes: vec!["updates".to_owned()],
            break_before: Vec::new(),
            break_after: Vec::new(),
            recursion_limit: None,
        }
    }

    pub(super) fn request(&self) -> Object {
        let names = |names: &[String]| -> Value {
            Value::Array(names.iter().map(|name| Value::from(name.as_str())).collect())
        };
        let mut request = Object::new();
        request.insert("thread", self.thread.as_str());
        request.insert(
            "checkpoint",
            self.checkpoint.as_deref().map(Value::from).unwrap_or_default(),
        );
        match &self.input {
            AttachedInput::Given(value) => request.insert("input", value.clone()),
            AttachedInput::Answers(value) => request.insert("answers", value.clone()),
            AttachedInput::GoOn => request.insert("input", Value::Null),
        };
        request.insert("context", self.context.clone().unwrap_or_default());
        request.insert("modes", names(&self.modes));
        request.insert("break_before", names(&self.break_before));
        request.insert("break_after", names(&self.break_after));
        let limit = self.recursion_limit.map(|limit| Value::from(i64::from(limit)));
        request.insert("recursion_limit", limit.unwrap_or_default());
        request
    }
}

/// An event of a run, in the form of LangGraph's stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AttachedEvent {
    /// Its stream mode.
    pub event: String,
    /// The nested graph that it is of; empty for the outermost.
    pub ns: Vec<String>,
    /// What happened.
    pub data: Value,
    /// Super-step of a task or checkpoint.
    #[serde(default)]
    pub step: Option<i64>,
}

/// Ids of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct CheckpointPlace {
    /// Thread.
    pub thread_id: String,
    /// Checkpoint; none of a thread that has not run.
    #[serde(default)]
    pub checkpoint_id: Option<String>,
    /// Namespace of the nested graph; empty for the outermost.
    #[serde(default)]
    pub checkpoint_ns: String,
}

/// A task of a checkpoint.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AttachedTask {
    /// Id.
    pub id: String,
    /// Node.
    pub name: String,
    /// The error that it failed with.
    #[serde(default)]
    pub error: Option<String>,
    /// Its questions: `{"id", "value"}` each.
    #[serde(default)]
    pub interrupts: Vec<Value>,
    /// What it wrote.
    #[serde(default)]
    pub result: Value,
    /// State of the graph that it runs, or the ids of that.
    #[serde(default)]
    pub state: Value,
}

/// State of a thread at a checkpoint, or at the end of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct AttachedState {
    /// State keys; at the end of a run only those of the result.
    pub values: Value,
    /// Nodes that are next.
    pub next: Vec<String>,
    /// The checkpoint.
    #[serde(default)]
    pub config: Option<CheckpointPlace>,
    /// The checkpoint before it.
    #[serde(default)]
    pub parent: Option<CheckpointPlace>,
    /// Metadata of the checkpoint.
    #[serde(default)]
    pub metadata: Value,
    /// Time of the checkpoint.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Tasks of its step.
    #[serde(default)]
    pub tasks: Vec<AttachedTask>,
    /// Questions that wait: `{"id", "value"}` each.
    #[serde(default)]
    pub interrupts: Vec<Value>,
    /// `done`, `interrupted` or `breakpoint`, at the end of a run.
    #[serde(default)]
    pub status: String,
}

/// A run that was begun. Dropped before its end, it is stopped.
pub struct AttachedRun {
    pub(super) requests: Requests,
    pub(super) number: u64,
    pub(super) replies: mpsc::Receiver<Reply>,
    pub(super) ended: Option<Result<AttachedState, AttachError>>,
}

impl fmt::Debug for AttachedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedRun")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl AttachedRun {
    /// Waits for the next event; `None` at the end. The program waits while events are not taken.
    pub async fn next(&mut self) -> Option<AttachedEvent> {
        if self.ended.is_some() {
            return None;
        }
        match self.replies.recv().await {
            Some(Reply::Event(event)) => return Some(event),
            Some(Reply::Ended(ended)) => {
                self.ended = Some(ended.and_then(|value| self.requests.decoded(&value)));
            }
            None => self.ended = Some(Err(self.requests.lost())),
        }
        None
    }

    /// Stops the run. A node that does not stop is ended with the program a while later.
    pub fn stop(&self) {
        self.requests.stop(self.number);
    }

    /// Stops the run when its step has finished, where LangGraph can; otherwise at once.
    pub fn drain(&self) {
        self.requests.drain(self.number);
    }

    /// Waits for the end of the run, and returns the state that it came to.
    pub async fn ended(mut self) -> Result<AttachedState, AttachError> {
        while self.next().await.is_some() {}
        self.ended.take().unwrap_or_else(|| Err(self.requests.lost()))
    }
}

impl Drop for AttachedRun {
    fn drop(&mut self) {
        self.requests.stop(self.number);
    }
}
