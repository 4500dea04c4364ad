//! The runnable graph and the ways into it: invoke, stream, read, edit.

use std::fmt;
use std::sync::Arc;

use crate::analysis::Analysis;
use crate::cache::NodeCache;
use crate::checkpoint::ListQuery;
use crate::clock::{Clock, SystemClock};
use crate::context_schema::{ContextSchema, is_given};
use crate::emit::Emitter;
use crate::error::{RunError, StateError};
use crate::ids::{CheckpointIds, Name, ThreadId};
use crate::limits::Limits;
use crate::maintenance::{Pruning, Removal};
use crate::nest::Persistence;
use crate::plan::Plan;
use crate::protocol::GraphRunStream;
use crate::request::{Input, RunConfig, RunResult, StateRef};
use crate::run::Loop;
use crate::running::Run;
use crate::saver::Checkpointer;
use crate::snapshot::StateSnapshot;
use crate::store::Store;
use crate::stream::StreamMode;
use crate::update::{StateUpdate, Updated};
use crate::value::Value;

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
    pub(crate) context: Option<ContextSchema>,
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
            context: None,
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

    /// The context that nodes of a run read, of what the caller gives; refuses what does not fit what the graph declares.
    pub fn context_of(&self, given: Value) -> Result<Value, RunError> {
        let read = match &self.context {
            Some(schema) => schema
                .read(given)
                .map_err(|reason| RunError::InvalidContext { reason })?,
            None => given,
        };
        Ok(if is_given(&read) { read } else { Value::Null })
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
