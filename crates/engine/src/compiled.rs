//! The runnable graph and the ways into it: invoke, stream, read, edit.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::analysis::Analysis;
use crate::cache::NodeCache;
use crate::checkpoint::{Checkpointer, ListQuery};
use crate::clock::{Clock, SystemClock};
use crate::emit::Emitter;
use crate::error::{RunError, StateError};
use crate::ids::{CheckpointId, CheckpointIds, Name, ThreadId};
use crate::lifecycle::Lifecycle;
use crate::limits::Limits;
use crate::metrics::{Meter, RunMetrics};
use crate::nest::Persistence;
use crate::node::Command;
use crate::plan::Plan;
use crate::protocol::GraphRunStream;
use crate::run::Loop;
use crate::running::Run;
use crate::schedule::Schedule;
use crate::snapshot::StateSnapshot;
use crate::store::Store;
use crate::stream::{Interrupt, StreamMode};
use crate::update::{StateUpdate, Updated};
use crate::upkeep::{Pruning, Removal};
use crate::value::{List, Object, Value};

/// A compiled graph. Cheap to clone; one graph runs any number of threads at once.
#[derive(Clone)]
pub struct Graph {
    pub(crate) plan: Arc<Plan>,
    pub(crate) saver: Option<Arc<dyn Checkpointer>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<CheckpointIds>,
    pub(crate) limits: Limits,
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) persistence: Persistence,
    pub(crate) interrupt_before: Vec<Name>,
    pub(crate) interrupt_after: Vec<Name>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.plan.nodes.len())
            .finish_non_exhaustive()
    }
}

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
    /// Measures what the run costs, when given.
    pub metrics: Option<Meter>,
    /// Inputs and outputs appear in spans up to this many bytes; 0 keeps them out.
    pub content_limit: usize,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            thread: None,
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
            interrupt_before: Vec::new(),
            interrupt_after: Vec::new(),
            interrupt_nested: false,
            durability: Durability::default(),
            metadata: Object::new(),
            max_concurrency: None,
            cancel: CancellationToken::new(),
            run_id: None,
            strict_resume: false,
            compat_double_command: false,
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
}

impl StateRef {
    /// The live state.
    pub fn live(thread: impl Into<ThreadId>) -> Self {
        Self {
            thread: thread.into(),
            checkpoint_id: None,
            ns: "".into(),
            subgraphs: false,
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
    /// With the state of nested graphs.
    pub fn with_subgraphs(mut self) -> Self {
        self.subgraphs = true;
        self
    }
}

impl Graph {
    pub(crate) fn new(plan: Plan) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        Self {
            plan: Arc::new(plan),
            saver: None,
            ids: Arc::new(CheckpointIds::new(clock.clone())),
            clock,
            limits: Limits::new(),
            cache: None,
            store: None,
            persistence: Persistence::default(),
            interrupt_before: Vec::new(),
            interrupt_after: Vec::new(),
        }
    }

    /// The graph with another way of keeping its threads when it runs inside another graph.
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// The graph stops before these nodes, unless a run says otherwise; `*` means all.
    pub fn with_interrupt_before<T: Into<Name>>(mut self, nodes: impl IntoIterator<Item = T>) -> Self {
        self.interrupt_before = nodes.into_iter().map(Into::into).collect();
        self
    }

    /// The graph stops after these nodes, unless a run says otherwise; `*` means all.
    pub fn with_interrupt_after<T: Into<Name>>(mut self, nodes: impl IntoIterator<Item = T>) -> Self {
        self.interrupt_after = nodes.into_iter().map(Into::into).collect();
        self
    }

    /// The graph with a place to keep its threads.
    pub fn with_checkpointer(mut self, saver: Arc<dyn Checkpointer>) -> Self {
        self.saver = Some(saver);
        self
    }

    /// The graph with another clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.ids = Arc::new(CheckpointIds::new(clock.clone()));
        self.clock = clock;
        self
    }

    /// The graph with a cache for results of nodes that have a [`CachePolicy`](crate::CachePolicy).
    pub fn with_cache(mut self, cache: Arc<dyn NodeCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// The graph with a store, which its nodes and tasks see. A graph within it sees the same one unless it has its own.
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Forgets the kept results of these nodes; of all when none is named. Unknown names are passed over.
    pub async fn clear_cache<T: AsRef<str>>(
        &self,
        nodes: impl IntoIterator<Item = T>,
    ) -> Result<(), RunError> {
        let Some(cache) = &self.cache else {
            return Err(RunError::invalid_request(
                "No cache is set for this graph. Cannot clear cache. Call `with_cache` on the graph.",
            ));
        };
        let nodes: Vec<T> = nodes.into_iter().collect();
        let wanted = |name: &Name| nodes.is_empty() || nodes.iter().any(|node| node.as_ref() == &**name);
        let nodes = self.plan.nodes.iter().filter(|node| wanted(&node.name));
        let places: Vec<Name> = nodes
            .filter_map(|node| Some(node.more().cache.as_ref()?.place(&node.name)))
            .collect();
        Ok(cache.clear(&places).await?)
    }

    /// The graph with limits for kinds of nodes, over all its runs.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs until there is nothing left to do, a question waits, or a breakpoint stops it.
    pub async fn invoke(&self, input: Input, config: RunConfig) -> Result<RunResult, RunError> {
        Loop::root(self, config, Emitter::none())?.run(input).await
    }

    /// Runs several inputs at once, each on a thread of its own when `config` names none; results in input order.
    pub async fn batch(&self, inputs: Vec<Input>, config: RunConfig) -> Vec<Result<RunResult, RunError>> {
        futures::future::join_all(inputs.into_iter().map(|input| self.invoke(input, config.clone()))).await
    }

    /// Starts a run in the background and streams what happens. Needs a tokio runtime. Dropping the `Run` stops it.
    ///
    /// After a task has failed, what was just as quick is told and nothing after that, although the others of its step
    /// end and are kept.
    pub fn stream(&self, input: Input, mut config: RunConfig) -> Run {
        let cancel = config.cancel.child_token();
        config.cancel = cancel.clone();
        let graph = self.clone();
        Run::start(&config.modes.clone(), cancel, async move |emitter| {
            Loop::root(&graph, config, emitter)?.run(input).await
        })
    }

    /// Starts a run that is read by LangGraph's streaming protocol, version 3: nested graphs are always told, and the modes
    /// of the configuration are told beside what the protocol always tells. Needs a tokio runtime.
    pub fn stream_events(&self, input: Input, mut config: RunConfig) -> GraphRunStream {
        let always = [
            StreamMode::Values,
            StreamMode::Messages,
            StreamMode::Tasks,
            StreamMode::Attempts,
        ];
        let (cancel, asked) = (config.cancel.child_token(), std::mem::take(&mut config.modes));
        (config.cancel, config.subgraphs) = (cancel.clone(), true);
        let modes: Vec<StreamMode> = always.iter().chain(&asked).copied().collect();
        let (graph, clock) = (self.clone(), self.clock.clone());
        let run = Run::start(&modes, cancel.clone(), async move |emitter| {
            Loop::root(&graph, config, emitter.without_tools())?
                .run(input)
                .await
        });
        GraphRunStream::new(run, cancel, clock, asked)
    }

    /// The state of a thread.
    pub async fn get_state(&self, at: &StateRef) -> Result<StateSnapshot, StateError> {
        crate::snapshot::get_state(self, at).await
    }

    /// Past states of a thread, newest first.
    pub async fn get_state_history(
        &self,
        thread: &ThreadId,
        query: &ListQuery,
    ) -> Result<Vec<StateSnapshot>, StateError> {
        crate::snapshot::history(self, thread, query).await
    }

    /// Edits the state as if a node had just returned `update.values`; makes a new checkpoint.
    pub async fn update_state(&self, at: &StateRef, update: StateUpdate) -> Result<Updated, StateError> {
        self.bulk_update_state(at, vec![vec![update]]).await
    }

    /// Edits the state in several super-steps, each of one update or more; every super-step makes a checkpoint.
    /// Nothing is stored unless all of them can be made.
    pub async fn bulk_update_state(
        &self,
        at: &StateRef,
        steps: Vec<Vec<StateUpdate>>,
    ) -> Result<Updated, StateError> {
        self.edit(at, steps, true).await
    }

    /// What `update_state` would do, without storing it.
    pub async fn preview_update(&self, at: &StateRef, update: StateUpdate) -> Result<Updated, StateError> {
        self.edit(at, vec![vec![update]], false).await
    }

    async fn edit(
        &self,
        at: &StateRef,
        steps: Vec<Vec<StateUpdate>>,
        store: bool,
    ) -> Result<Updated, StateError> {
        let Some((graph, ns)) = crate::snapshot::locate(self, &at.ns) else {
            let path = crate::nest::graph_path(&at.ns).join("|");
            return Err(RunError::invalid_request(format!(
                "Subgraph {path} not found\nName the graphs that a node runs with NodeOptions::runs."
            )));
        };
        crate::update::bulk_update_state(&graph, &StateRef { ns, ..at.clone() }, steps, store).await
    }

    /// Removes a thread with everything in it; a missing one is no error.
    pub async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StateError> {
        Ok(self.need_saver("delete_thread")?.delete_thread(thread).await?)
    }

    /// Copies a thread, past and all, to another; a missing source is no error.
    pub async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StateError> {
        Ok(self.need_saver("copy_thread")?.copy_thread(from, to).await?)
    }

    /// Removes checkpoints, and says what went. What a delta key of a kept checkpoint is rebuilt from stays too.
    pub async fn prune(&self, pruning: &Pruning) -> Result<Removal, StateError> {
        let saver = self.need_saver("prune")?;
        Ok(crate::delta::prune(&**saver, pruning).await?)
    }

    /// Names of the nodes in declaration order, without START.
    pub fn node_names(&self) -> impl Iterator<Item = &Name> {
        self.plan
            .nodes
            .iter()
            .filter(|node| !node.is_start())
            .map(|node| &node.name)
    }

    /// State keys in declaration order, with the name of their reducer.
    pub fn state_keys(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.plan.channels[..self.plan.state_keys]
            .iter()
            .map(|c| (&c.name, c.spec.reducer_name()))
    }

    /// What can be said about the graph without running it. Worked out anew by each call.
    pub fn analysis(&self) -> Analysis {
        Analysis::of(self.plan.clone())
    }

    /// The compiled plan as text.
    pub fn plan(&self) -> String {
        self.plan.to_string()
    }

    /// A Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        self.plan.mermaid()
    }

    /// A drawing for Graphviz.
    pub fn dot(&self) -> String {
        self.plan.dot()
    }

    pub(crate) fn need_saver(&self, what: &str) -> Result<&Arc<dyn Checkpointer>, RunError> {
        self.saver.as_ref().ok_or_else(|| RunError::NotPersistent {
            message: format!("No checkpointer set: {what} needs one. Call `with_checkpointer` on the graph."),
        })
    }
}
