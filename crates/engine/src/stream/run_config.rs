//! How a graph is run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::claim::ClaimRequest;
use crate::checkpoint::graph_version::{GRAPH_VERSION, GraphVersion};
use crate::policy::bounds::Bounds;
use crate::policy::breakpoint::{Breakpoint, BreakpointPlace};
use crate::policy::effect::EffectPolicy;
use crate::stream::events::StreamMode;
use crate::stream::lifecycle::Lifecycle;
use crate::stream::metrics::Meter;
use crate::stream::request::{Drain, Durability, Output, StepTask};
use crate::stream::testing::Testing;
use crate::value::{Object, Value};

/// Settings of a run. They begin with [`RunConfig::on`] or `RunConfig::default()`; each setting has a method of its
/// name.
///
/// ```
/// use superstep::{RunConfig, StreamMode};
///
/// let config = RunConfig::on("thread-1").recursion_limit(25).modes([StreamMode::Updates]);
/// assert_eq!(config.recursion_limit, 25);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[doc(alias = "RunnableConfig")]
pub struct RunConfig {
    /// The thread to continue or begin; needs a checkpointer.
    pub thread: Option<ThreadId>,
    /// Run the thread as its only runner. The run fails with [`StorageError::Busy`](crate::checkpoint::StorageError::Busy) before any
    /// of its nodes begins when another run holds the thread, and with
    /// [`StorageError::Superseded`](crate::checkpoint::StorageError::Superseded) when another took it over. Means nothing where the
    /// checkpointer offers no [`Coordination`](crate::checkpoint::Coordination).
    pub claim: Option<ClaimRequest>,
    /// Start from this checkpoint rather than from the newest.
    pub checkpoint_id: Option<CheckpointId>,
    /// With `checkpoint_id`: the namespace of the checkpoint, when it is one of a nested graph.
    pub ns: Name,
    /// The keys that `values` and `updates` show and that the run returns.
    pub output: Output,
    /// Stream what nested graphs do, too.
    pub subgraphs: bool,
    /// Receives when the run stops to wait and when it goes on.
    pub lifecycle: Option<Arc<dyn Lifecycle>>,
    /// Asks the run to stop when the step that it is in has finished.
    pub drain: Drain,
    /// How long each super-step may take. Nested graphs share the time of the step that runs them.
    pub step_timeout: Option<Duration>,
    /// How long the run may take.
    pub run_timeout: Option<Duration>,
    /// What to stream.
    pub modes: Vec<StreamMode>,
    /// `messages` streams whole messages with which tools answer, when a node returns them.
    pub tool_messages: bool,
    /// Super-steps before the run fails as endless; START counts as one.
    pub recursion_limit: u32,
    /// What the run may make at most; nothing is bounded by default.
    pub bounds: Bounds,
    /// Stop before these nodes; `*` means all.
    pub interrupt_before: Vec<Name>,
    /// Stop after these nodes; `*` means all.
    pub interrupt_after: Vec<Name>,
    /// Breakpoints on `*` hold in nested graphs as well: a run steps into them.
    pub interrupt_nested: bool,
    /// Where the run stops under which conditions, or logs. A run that stopped there goes on with
    /// [`Input::Continue`](crate::Input::Continue).
    pub breakpoints: Arc<[Breakpoint]>,
    /// Run one task of the step that the thread has come to, and hold the others back. What it writes is stored as after a
    /// crash: the others see the same state, and the step is applied when all of its tasks have run. Needs a checkpointer
    /// and the durability sync or async.
    pub step_task: Option<StepTask>,
    /// When checkpoints are stored.
    pub durability: Durability,
    /// Stored with every checkpoint: strings, numbers and booleans whose key does not begin with `__`.
    pub metadata: Object,
    /// What nodes of the outermost graph write instead of running, by node: an update of the state each, as the node would
    /// return it. Its edges lead on from that. Its effect is not done, and nothing of it is cached.
    pub pinned: BTreeMap<Name, Value>,
    /// The same for graphs within it, at any depth, by their [origin](crate::Graph::with_origin).
    pub pinned_within: BTreeMap<Name, BTreeMap<Name, Value>>,
    /// The run context: what nodes read and no node writes, such as who asks or which database to use. It is not stored:
    /// each run of a thread is given its own. Nothing and an empty object both mean that there is none. A graph that
    /// declares a [`ContextSchema`](crate::graph::ContextSchema) checks it when the run begins.
    pub context: Value,
    /// Values that nodes read, as LangGraph's `configurable`. Plain ones are stored with every checkpoint as metadata is;
    /// new graphs use `context`.
    pub configurable: Object,
    /// Labels of the run, which nodes read and messages of models carry.
    pub tags: Vec<Name>,
    /// The number of tasks that may run at once.
    pub max_concurrency: Option<usize>,
    /// Stops the run when cancelled.
    pub cancel: CancellationToken,
    /// The run's id; made up when absent.
    pub run_id: Option<String>,
    /// Refuse answers that fit no waiting question instead of asking again. A checkpoint that the thread has moved
    /// past takes any answer.
    pub strict_resume: bool,
    /// What happens when the run comes to a node whose [effect](crate::NodeOptions::effect) was done already, on another
    /// branch of the thread.
    pub effects: EffectPolicy,
    /// The same for single nodes, by their name in the graph they are in. Where one says [`EffectPolicy::Reuse`] and there
    /// is nothing to use, `effects` decides.
    pub effects_of: BTreeMap<Name, EffectPolicy>,
    /// A node that works outside of the graph begins only where its policy is [`EffectPolicy::Again`]: a run that only asks
    /// what would be changes nothing outside. Where there is a result to use, the policy says as ever what becomes of it.
    pub hold_effects: bool,
    /// Answers to a checkpoint that the thread has moved past: tasks that finished there are not run again. LangGraph
    /// runs them again.
    pub keep_finished: bool,
    /// Stores beside the writes of each task which state keys it read and why its routers went where they did, as a
    /// [`TaskRecord`](crate::checkpoint::TaskRecord). Nothing that runs depends on it.
    pub record: bool,
    /// The version of the graph that the run runs: its checkpoints name it, and the thread keeps it once. Nothing that runs
    /// depends on it.
    pub graph_version: Option<Arc<GraphVersion>>,
    /// Measures what the run costs, when given.
    pub metrics: Option<Meter>,
    /// Inputs and outputs appear in spans up to this many bytes; 0 keeps them out.
    pub content_limit: usize,
    /// Switches of tests, see [`testing`](crate::testing).
    pub(crate) testing: Testing,
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
            modes: Vec::new(),
            tool_messages: true,
            recursion_limit: 10_007,
            bounds: Bounds::default(),
            interrupt_before: Vec::new(),
            interrupt_after: Vec::new(),
            interrupt_nested: false,
            breakpoints: [].into(),
            step_task: None,
            durability: Durability::default(),
            metadata: Object::new(),
            pinned: BTreeMap::new(),
            pinned_within: BTreeMap::new(),
            context: Value::Null,
            configurable: Object::new(),
            tags: Vec::new(),
            max_concurrency: None,
            cancel: CancellationToken::new(),
            run_id: None,
            strict_resume: false,
            effects: EffectPolicy::default(),
            effects_of: BTreeMap::new(),
            hold_effects: false,
            keep_finished: false,
            record: false,
            graph_version: None,
            metrics: None,
            content_limit: 1024,
            testing: Testing::default(),
        }
    }
}

impl RunConfig {
    /// Creates the configuration of a run on a thread.
    pub fn on(thread: impl Into<ThreadId>) -> Self {
        Self {
            thread: Some(thread.into()),
            ..Self::default()
        }
    }
    /// Runs on this [thread](Self#structfield.thread).
    pub fn thread(mut self, id: impl Into<ThreadId>) -> Self {
        self.thread = Some(id.into());
        self
    }
    /// Sets the [claim](Self#structfield.claim) that makes the run the only one of its thread.
    pub fn claim(mut self, claim: impl Into<Option<ClaimRequest>>) -> Self {
        self.claim = claim.into();
        self
    }
    /// Starts from this [checkpoint](Self#structfield.checkpoint_id).
    pub fn checkpoint_id(mut self, id: impl Into<Option<CheckpointId>>) -> Self {
        self.checkpoint_id = id.into();
        self
    }
    /// Sets the [namespace](Self#structfield.ns) of the checkpoint.
    pub fn ns(mut self, ns: impl Into<Name>) -> Self {
        self.ns = ns.into();
        self
    }
    /// Sets the [keys](Self#structfield.output) that the run shows and returns.
    pub fn output(mut self, output: Output) -> Self {
        self.output = output;
        self
    }
    /// Streams what nested graphs do, too, or does not.
    pub fn subgraphs(mut self, subgraphs: bool) -> Self {
        self.subgraphs = subgraphs;
        self
    }
    /// Sets what [receives](Self#structfield.lifecycle) when the run stops to wait and goes on.
    pub fn lifecycle(mut self, receiver: Arc<dyn Lifecycle>) -> Self {
        self.lifecycle = Some(receiver);
        self
    }
    /// Sets what asks the run to [stop after its step](Self#structfield.drain).
    pub fn drain(mut self, drain: Drain) -> Self {
        self.drain = drain;
        self
    }
    /// Limits each [super-step](Self#structfield.step_timeout).
    pub fn step_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.step_timeout = limit.into();
        self
    }
    /// Limits the [run](Self#structfield.run_timeout).
    pub fn run_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.run_timeout = limit.into();
        self
    }
    /// Sets what is [streamed](Self#structfield.modes).
    pub fn modes(mut self, modes: impl IntoIterator<Item = StreamMode>) -> Self {
        self.modes = modes.into_iter().collect();
        self
    }
    /// Streams the [answers of tools](Self#structfield.tool_messages), or does not.
    pub fn tool_messages(mut self, stream: bool) -> Self {
        self.tool_messages = stream;
        self
    }
    /// Sets the number of [super-steps](Self#structfield.recursion_limit) before the run fails as endless.
    pub fn recursion_limit(mut self, steps: u32) -> Self {
        self.recursion_limit = steps;
        self
    }
    /// Sets what the run may [make at most](Self#structfield.bounds).
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }
    /// Stops [before](Self#structfield.interrupt_before) these nodes; `*` means all.
    pub fn interrupt_before(mut self, nodes: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        self.interrupt_before = nodes.into_iter().map(Into::into).collect();
        self
    }
    /// Stops [after](Self#structfield.interrupt_after) these nodes; `*` means all.
    pub fn interrupt_after(mut self, nodes: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        self.interrupt_after = nodes.into_iter().map(Into::into).collect();
        self
    }
    /// Makes breakpoints on `*` hold in [nested graphs](Self#structfield.interrupt_nested) as well, or not.
    pub fn interrupt_nested(mut self, nested: bool) -> Self {
        self.interrupt_nested = nested;
        self
    }
    /// Sets the [breakpoints](Self#structfield.breakpoints).
    pub fn breakpoints(mut self, breakpoints: impl IntoIterator<Item = Breakpoint>) -> Self {
        self.breakpoints = breakpoints.into_iter().collect();
        self
    }
    /// Runs [one task](Self#structfield.step_task) of the open step.
    pub fn step_task(mut self, task: impl Into<Option<StepTask>>) -> Self {
        self.step_task = task.into();
        self
    }
    /// Stores what tasks [read and decide](Self#structfield.record), or does not.
    pub fn record(mut self, record: bool) -> Self {
        self.record = record;
        self
    }
    /// Sets the [version of the graph](Self#structfield.graph_version).
    pub fn graph_version(mut self, version: impl Into<Arc<GraphVersion>>) -> Self {
        self.graph_version = Some(version.into());
        self
    }
    /// Sets when checkpoints are [stored](Self#structfield.durability).
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
    /// Sets what is [stored](Self#structfield.metadata) with every checkpoint.
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.metadata = metadata;
        self
    }
    /// Sets what nodes [write instead of running](Self#structfield.pinned).
    pub fn pinned(mut self, pinned: BTreeMap<Name, Value>) -> Self {
        self.pinned = pinned;
        self
    }
    /// Sets what nodes of graphs within it [write instead of running](Self#structfield.pinned_within).
    pub fn pinned_within(mut self, pinned: BTreeMap<Name, BTreeMap<Name, Value>>) -> Self {
        self.pinned_within = pinned;
        self
    }
    /// Sets the [run context](Self#structfield.context).
    pub fn context(mut self, context: impl Into<Value>) -> Self {
        self.context = context.into();
        self
    }
    /// Sets the [values](Self#structfield.configurable) of LangGraph's `configurable`.
    pub fn configurable(mut self, values: Object) -> Self {
        self.configurable = values;
        self
    }
    /// Sets the [labels](Self#structfield.tags) of the run.
    pub fn tags(mut self, tags: impl IntoIterator<Item = impl Into<Name>>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }
    /// Limits how many [tasks](Self#structfield.max_concurrency) run at once.
    pub fn max_concurrency(mut self, tasks: impl Into<Option<usize>>) -> Self {
        self.max_concurrency = tasks.into();
        self
    }
    /// Sets what [stops](Self#structfield.cancel) the run.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }
    /// Sets the [run's id](Self#structfield.run_id).
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }
    /// Refuses answers that fit [no waiting question](Self#structfield.strict_resume), or asks again.
    pub fn strict_resume(mut self, strict: bool) -> Self {
        self.strict_resume = strict;
        self
    }
    /// Sets what happens to [effects](Self#structfield.effects) that were done already.
    pub fn effects(mut self, policy: EffectPolicy) -> Self {
        self.effects = policy;
        self
    }
    /// Sets the same for [single nodes](Self#structfield.effects_of).
    pub fn effects_of(mut self, policies: impl IntoIterator<Item = (Name, EffectPolicy)>) -> Self {
        self.effects_of = policies.into_iter().collect();
        self
    }
    /// Begins no [work outside of the graph](Self#structfield.hold_effects) that is not asked for.
    pub fn hold_effects(mut self, hold: bool) -> Self {
        self.hold_effects = hold;
        self
    }
    /// Keeps tasks that [finished](Self#structfield.keep_finished) at a past checkpoint, or runs them again.
    pub fn keep_finished(mut self, keep: bool) -> Self {
        self.keep_finished = keep;
        self
    }
    /// Sets what [measures](Self#structfield.metrics) the run.
    pub fn metrics(mut self, meter: impl Into<Option<Meter>>) -> Self {
        self.metrics = meter.into();
        self
    }
    /// Sets how much of inputs and outputs appears in [spans](Self#structfield.content_limit), in bytes.
    pub fn content_limit(mut self, bytes: usize) -> Self {
        self.content_limit = bytes;
        self
    }
}

impl RunConfig {
    /// Returns whether any breakpoint is at such a place.
    pub(crate) fn has_breakpoint(&self, is_such: impl Fn(&BreakpointPlace) -> bool) -> bool {
        self.breakpoints
            .iter()
            .any(|breakpoint| is_such(&breakpoint.place))
    }
}

/// Returns the metadata to keep with every checkpoint: plain values under keys of the user's own.
pub(crate) fn user_metadata(config: &RunConfig) -> Object {
    let given = config.configurable.iter().chain(config.metadata.iter());
    let version = config.graph_version.iter();
    let version = version.map(|version| (GRAPH_VERSION.into(), version.id.clone().into()));
    given
        .filter(|(key, value)| {
            matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_)) && !is_own_metadata(key)
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .chain(version)
        .collect()
}

/// Tells whether checkpoints have metadata of their own under this key, so that no run can say it.
pub fn is_own_metadata(key: &str) -> bool {
    const OWN: [&str; 4] = ["source", "step", "parents", GRAPH_VERSION];
    key.starts_with("__") || OWN.contains(&key) || is_place(key)
}

/// Returns whether the name says where a run or a task is. The user's metadata cannot use it.
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
