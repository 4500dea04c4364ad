//! A run of an attached program, and the states of its threads.

use std::fmt;

use serde::{Deserialize, Serialize};
use superstep::Value;
use superstep::value::Object;
use tokio::sync::mpsc;

use super::error::AttachError;
use super::process::Reply;

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
    /// Steps of the run that this stretch goes on with; they count for the limit.
    pub steps_before: u64,
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
            steps_before: 0,
        }
    }

    /// Returns the request of the stretch that goes on where one of this run has stopped, this many steps after the first.
    pub fn going_on(self, steps: u64) -> Self {
        Self {
            checkpoint: None,
            input: AttachedInput::GoOn,
            steps_before: steps,
            ..self
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
        request.insert(
            "steps_before",
            i64::try_from(self.steps_before).unwrap_or(i64::MAX),
        );
        request
    }
}

/// Edit of a thread's state, made by LangGraph's own functions.
#[derive(Clone, Debug, Default)]
pub struct ProgramEdit {
    /// Thread.
    pub thread: String,
    /// Checkpoint that is edited, on a new branch; the newest when none is named.
    pub checkpoint: Option<String>,
    /// State keys, as if a node had returned them.
    pub values: Value,
    /// Keys whose value takes the place of what is there, past their reducer.
    pub overwrite: Vec<String>,
    /// The node; LangGraph chooses the one that ran last when none is named.
    pub as_node: Option<String>,
    /// In place of values: the tasks after the checkpoint count as having run and written nothing.
    pub skip_step: bool,
    /// Nothing is stored.
    pub preview: bool,
}

impl ProgramEdit {
    pub(super) fn request(&self) -> Object {
        let text = |text: &Option<String>| text.as_deref().map(Value::from).unwrap_or_default();
        let overwrite = self.overwrite.iter().map(|key| Value::from(key.as_str()));
        let mut request = Object::new();
        request.insert("thread", self.thread.as_str());
        request.insert("checkpoint", text(&self.checkpoint));
        request.insert("values", self.values.clone());
        request.insert("overwrite", Value::Array(overwrite.collect()));
        request.insert("as_node", text(&self.as_node));
        request.insert("skip", self.skip_step);
        request.insert("preview", self.preview);
        request
    }
}

/// Outcome of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EditedState {
    /// The new checkpoint; none of a preview.
    #[serde(default)]
    pub checkpoint: Option<String>,
    /// Nodes that would run next.
    pub next: Vec<String>,
    /// The node that it was made as.
    pub as_node: String,
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
    /// All state keys, where a run stopped before or after a node.
    #[serde(default)]
    pub all: Value,
    /// Nodes that ran in the step before, where a run stopped before or after a node.
    #[serde(default)]
    pub ran: Vec<String>,
}

impl AttachedState {
    /// Returns the super-step of the checkpoint.
    pub fn step(&self) -> i64 {
        let step = self.metadata.get("step").and_then(Value::as_i64);
        step.unwrap_or_default()
    }
}

/// Holder of a run, wherever it is.
pub(in crate::programs) trait RunControl: fmt::Debug + Send + Sync {
    /// Stops it at once.
    fn stop(&self);
    /// Stops it when its step has finished.
    fn drain(&self);
    /// Returns why nothing more comes of it.
    fn lost(&self) -> AttachError;
    /// Returns the error of an end that cannot be read.
    fn garbled(&self, cause: String) -> AttachError;
}

/// A run that was begun. Dropped before its end, it is stopped.
pub struct AttachedRun {
    control: Box<dyn RunControl>,
    replies: mpsc::Receiver<Reply>,
    ended: Option<Result<AttachedState, AttachError>>,
}

impl fmt::Debug for AttachedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachedRun")
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

impl AttachedRun {
    pub(in crate::programs) fn new(control: Box<dyn RunControl>, replies: mpsc::Receiver<Reply>) -> Self {
        Self {
            control,
            replies,
            ended: None,
        }
    }

    /// Waits for the next event; `None` at the end. The program waits while events are not taken.
    pub async fn next(&mut self) -> Option<AttachedEvent> {
        if self.ended.is_some() {
            return None;
        }
        match self.replies.recv().await {
            Some(Reply::Event(event)) => return Some(event),
            Some(Reply::Ended(ended)) => {
                let read = |value: Value| {
                    value
                        .decode()
                        .map_err(|error| self.control.garbled(error.to_string()))
                };
                self.ended = Some(ended.and_then(read));
            }
            None => self.ended = Some(Err(self.control.lost())),
        }
        None
    }

    /// Stops the run. A node that does not stop is ended with the program a while later.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Stops the run when its step has finished, where LangGraph can; otherwise at once.
    pub fn drain(&self) {
        self.control.drain();
    }

    /// Waits for the end of the run, and returns the state that it came to.
    pub async fn ended(mut self) -> Result<AttachedState, AttachError> {
        while self.next().await.is_some() {}
        self.take_ended()
    }

    /// Takes the state that the run came to, after its last event.
    pub fn take_ended(&mut self) -> Result<AttachedState, AttachError> {
        self.ended.take().unwrap_or_else(|| Err(self.control.lost()))
    }
}

impl Drop for AttachedRun {
    fn drop(&mut self) {
        self.control.stop();
    }
}
