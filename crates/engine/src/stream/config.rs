//! What a caller asks of a graph, and what it is given back.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::base::command::Command;
use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::claim::ClaimRequest;
use crate::policy::bounds::Bounds;
use crate::policy::effect::EffectPolicy;
use crate::policy::schedule::Schedule;
use crate::stream::events::{Interrupt, StreamMode, beside};
use crate::stream::lifecycle::Lifecycle;
use crate::stream::metrics::{Meter, RunMetrics};
use crate::value::{List, Object, Value};

/// What a run is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A new input; unfinished work of the thread is abandoned.
    Value(Value),
    /// Answers, an edit or a jump for a thread that waits.
    Command(Command),
    /// Nothing: go on where the thread stopped (or, with a checkpoint id, run again from there).
    Resume,
}

impl Input {
    /// An input object.
    pub fn value(value: impl Into<Value>) -> Self {
        Input::Value(value.into())
    }
    /// One answer, or a map of interrupt ids to answers.
    pub fn resume(answer: impl Into<Value>) -> Self {
        Input::Command(Command {
            resume: Some(answer.into()),
            ..Command::default()
        })
    }
}

/// When checkpoints reach the backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before the next step starts. An input is stored together with what START makes of it, unless a router of START
    /// decides or somebody reads checkpoints.
    #[default]
    Sync,
    /// In the background; all before the run returns.
    Async,
    /// Once, when the run ends.
    Exit,
}

/// Asks a run, and every graph nested in it, to stop before its next step. Clone it to keep one end.
#[derive(Clone, Debug, Default)]
pub struct Drain(Arc<OnceLock<String>>);

impl Drain {
    /// Asks; `reason` is what the run's error says. Asking again changes nothing.
    pub fn request(&self, reason: impl Into<String>) {
        let _ = self.0.set(reason.into());
    }
    pub(crate) fn requested(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

/// What a run shows of the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Output {
    /// The stream shows every key, the run returns the graph's output keys.
    #[default]
    Graph,
    /// These keys.
    Keys(Vec<Name>),
    /// One key, as a bare value.
    Key(Name),
}

/// How to run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// The thread to continue or begin; needs a checkpointer.
    pub thread: Option<ThreadId>,
    /// Run the thread as its only runner. The run fails with [`StorageError::Busy`](crate::StorageError::Busy) before any
    /// of its nodes begins when another run holds the thread, and with
    /// [`StorageError::Superseded`](crate::StorageError::Superseded) when another took it over. Means nothing where the
    /// checkpointer offers no [`Coordination`](crate::Coordination).
    pub claim: Option<ClaimRequest>,
    /// Start from this checkpoint rather than from the newest.
    pub checkpoint_id: Option<CheckpointId>,
    /// With `checkpoint_id`: the namespace of the checkpoint, when it is one of a nested graph.
    pub ns: Name,
    /// The keys that `values` and `updates` show and that the run returns.
    pub output: Output,
    /// Stream what nested graphs do, too.
    pub subgraphs: bool,
    /// Told when the run stops to wait and when it goes on.
    pub lifecycle: Option<Arc<dyn Lifecycle>>,
    /// Asks the run to stop when the step that it is in has finished.
    pub drain: Drain,
    /// How long each super-step may take. Nested graphs share the time of the step that runs them.
    pub step_timeout: Option<Duration>,
    /// How long the run may take.
    pub run_timeout: Option<Duration>,
    /// An order in which the tasks of a super-step are dealt with when they have ended, for tests.
    pub schedule: Option<Schedule>,
    /// What to stream.
    pub modes: Vec<StreamMode>,
    /// Super-steps before the run fails as endless; START counts as one.
    pub recursion_limit: u32,
    /// What the run may make at most; nothing is bounded unless it is said.
    pub bounds: Bounds,
    /// Stop before these nodes; `*` means all.
    pub interrupt_before: Vec<Name>,
    /// Stop after these nodes; `*` means all.
    pub interrupt_after: Vec<Name>,
    /// Breakpoints on `*` hold in nested graphs as well: a run steps into them.
    pub interrupt_nested: bool,
    /// When checkpoints are stored.
    pub durability: Durability,
    /// Stored with every checkpoint: strings, numbers and booleans whose key does not begin with `__`.
    pub metadata: Object,
    /// The run context: what nodes read and no node writes, such as who asks or which database to use. It is not stored:
    /// each run of a thread is given its own. Nothing and an empty object both mean that there is none. A graph that
    /// declares a [`ContextSchema`](crate::ContextSchema) checks it when the run begins.
    pub context: Value,
    /// Values that nodes read, as LangGraph's `configurable`. Plain ones are stored with every checkpoint as metadata is;
    /// new graphs use `context`.
    pub configurable: Object,
    /// Labels of the run, which nodes read and messages of models carry.
    pub tags: Vec<Name>,
    /// At most so many tasks at once.
    pub max_concurrency: Option<usize>,
    /// Stops the run when cancelled.
    pub cancel: CancellationToken,
    /// The run's id; made up when absent.
    pub run_id: Option<String>,
    /// Refuse answers that fit no waiting question instead of asking again. A checkpoint that the thread has moved
    /// past takes any answer.
    pub strict_resume: bool,
    /// Where there is no checkpoint yet, use an input command twice as LangGraph does: once at once, and once more as
    /// the input of START.
    pub compat_double_command: bool,
    /// What happens when the run comes to a node whose [effect](crate::NodeOptions::effect) was done already, on another
    /// branch of the thread.
    pub effects: EffectPolicy,
    /// The same for single nodes, by their name in the graph they are in. Where one says [`EffectPolicy::Reuse`] and there
    /// is nothing to use, `effects` decides.
    pub effects_of: BTreeMap<Name, EffectPolicy>,
    /// Answers to a checkpoint that the thread has moved past: tasks that finished there are not run again. LangGraph
    /// runs them again.
    pub keep_finished: bool,
    /// Measures what the run costs, when given.
    pub metrics: Option<Meter>,
    /// Inputs and outputs appear in spans up to this many bytes; 0 keeps them out.
    pub content_limit: usize,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            thread: None,
            claim: None,
            checkpoint_id: None,
            ns: "".into(),
            output: Output::default(),
            subgraphs: false,
            lifecycle: None,
            drain: Drain::default(),
            step_timeout: None,
            run_timeout: None,
            schedule: None,
            modes: Vec::new(),
            recursion_limit: 10_007,
            bounds: Bounds::default(),
            interrupt_before: Vec::new(),
            interrupt_after: Vec::new(),
            interrupt_nested: false,
            durability: Durability::default(),
            metadata: Object::new(),
            context: Value::Null,
            configurable: Object::new(),
            tags: Vec::new(),
            max_concurrency: None,
            cancel: CancellationToken::new(),
            run_id: None,
            strict_resume: false,
            compat_double_command: false,
            effects: EffectPolicy::default(),
            effects_of: BTreeMap::new(),
            keep_finished: false,
            metrics: None,
            content_limit: 1024,
        }
    }
}

impl RunConfig {
    /// A run on a thread.
    pub fn on(thread: impl Into<ThreadId>) -> Self {
        Self {
            thread: Some(thread.into()),
            ..Self::default()
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Nothing is left to run.
    Done,
    /// It waits for answers.
    Interrupted,
    /// It stopped at a breakpoint.
    Breakpoint,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The output keys of the state; null when the run never produced a state.
    pub value: Value,
    /// How it ended.
    pub status: RunStatus,
    /// Questions that wait.
    pub interrupts: Vec<Interrupt>,
    /// The newest checkpoint, when there is a checkpointer.
    pub checkpoint_id: Option<CheckpointId>,
    /// What it cost, when `RunConfig.metrics` asked.
    pub metrics: Option<RunMetrics>,
}

impl RunResult {
    /// `{"value", "interrupts"}`, LangGraph's second form.
    pub fn to_json_v2(&self) -> Value {
        let questions: List = self.interrupts.iter().map(Interrupt::to_json).collect();
        let mut form = Object::new();
        form.insert("value", beside(&self.value, &self.interrupts));
        form.insert("interrupts", questions);
        Value::Object(form)
    }
    /// The value, with `__interrupt__` added when questions wait.
    pub fn to_json(&self) -> Value {
        if self.interrupts.is_empty() {
            return self.value.clone();
        }
        let mut object = self.value.as_object().cloned().unwrap_or_default();
        object.insert(
            "__interrupt__",
            self.interrupts.iter().map(Interrupt::to_json).collect::<List>(),
        );
        Value::Object(object)
    }
}

/// Which state of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRef {
    /// The thread.
    pub thread: ThreadId,
    /// A checkpoint; None means live: the newest, with the finished tasks of an open step applied.
    pub checkpoint_id: Option<CheckpointId>,
    /// The namespace of a nested graph; empty for the graph itself.
    pub ns: Name,
    /// Read the state of nested graphs whose tasks wait, too.
    pub subgraphs: bool,
    /// Who edits the state: the edit is refused while a run of another program holds the thread.
    pub claim: Option<ClaimRequest>,
}

impl StateRef {
    /// The live state.
    pub fn live(thread: impl Into<ThreadId>) -> Self {
        Self {
            thread: thread.into(),
            checkpoint_id: None,
            ns: "".into(),
            subgraphs: false,
            claim: None,
        }
    }
    /// The state at a checkpoint.
    pub fn at(thread: impl Into<ThreadId>, checkpoint: impl Into<CheckpointId>) -> Self {
        Self {
            checkpoint_id: Some(checkpoint.into()),
            ..Self::live(thread)
        }
    }
    /// The same of a nested graph, by its namespace.
    pub fn within(mut self, ns: impl Into<Name>) -> Self {
        self.ns = ns.into();
        self
    }
    /// The same for an edit by this holder.
    pub fn claimed(mut self, by: ClaimRequest) -> Self {
        self.claim = Some(by);
        self
    }
    /// With the state of nested graphs.
    pub fn with_subgraphs(mut self) -> Self {
        self.subgraphs = true;
        self
    }
}

/// Metadata worth keeping with every checkpoint: plain values under keys of the user's own.
pub(crate) fn user_metadata(config: &RunConfig) -> Object {
    const OWN: [&str; 3] = ["source", "step", "parents"];
    let given = config.configurable.iter().chain(config.metadata.iter());
    given
        .filter(|(key, value)| {
            matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
                && !key.starts_with("__")
                && !OWN.contains(&&***key)
                && !is_place(key)
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Does the name say where a run or a task is? The user's metadata cannot say it.
pub(crate) fn is_place(key: &str) -> bool {
    const PLACES: [&str; 9] = [
        "thread_id",
        "checkpoint_id",
        "checkpoint_ns",
        "checkpoint_map",
        "langgraph_step",
        "langgraph_node",
        "langgraph_triggers",
        "langgraph_path",
        "langgraph_checkpoint_ns",
    ];
    PLACES.contains(&key)
}
