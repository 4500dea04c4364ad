//! The runnable graph. What is done with it is added where it is done: runs by `run`, reads and edits by `inspect`.

use std::fmt;
use std::sync::Arc;

use crate::base::clock::{Clock, SystemClock};
use crate::base::ids::{CheckpointId, CheckpointIds, Name};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::graph::context_schema::{ContextSchema, is_given};
use crate::graph::plan::Plan;
use crate::graph::scope::Persistence;
use crate::graph::shared::IntoShared;
use crate::policy::breakpoint::Breakpoint;
use crate::policy::cache::NodeCache;
use crate::policy::limits::Limits;
use crate::store::Store;
use crate::stream::error::RunError;
use crate::value::Value;

/// A compiled graph. Cheap to clone; one graph runs any number of threads at once.
#[derive(Clone)]
#[doc(alias = "CompiledStateGraph")]
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
    pub(crate) invariants: Arc<[Breakpoint]>,
    pub(crate) origin: Option<Name>,
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
            invariants: [].into(),
            origin: None,
        }
    }

    /// Returns the context that nodes of a run read, from what the caller gives; refuses what does not fit the graph's
    /// declaration.
    pub fn context_of(&self, given: Value) -> Result<Value, RunError> {
        let read = match &self.context {
            Some(schema) => schema
                .read(given)
                .map_err(|reason| RunError::InvalidContext { reason })?,
            None => given,
        };
        Ok(if is_given(&read) { read } else { Value::Null })
    }

    /// Sets how the graph keeps its threads when it runs inside another graph.
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// Sets where the graph comes from, such as its file: a run finds what is [pinned](crate::RunConfig::pinned_within) in
    /// it by that, wherever it runs inside another graph.
    pub fn with_origin(mut self, origin: impl Into<Name>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Returns where the graph comes from.
    pub fn origin(&self) -> Option<&Name> {
        self.origin.as_ref()
    }

    /// Returns the graphs that its nodes run, each with the node.
    pub fn nested(&self) -> impl Iterator<Item = (&Name, &Graph)> {
        let nodes = self.plan.nodes.iter();
        nodes.flat_map(|node| node.more().graphs.iter().map(move |graph| (&node.name, graph)))
    }

    /// Sets the nodes before which the graph stops, unless a run overrides this; `*` means all.
    pub fn with_interrupt_before<T: Into<Name>>(mut self, nodes: impl IntoIterator<Item = T>) -> Self {
        self.interrupt_before = nodes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the nodes after which the graph stops, unless a run overrides this; `*` means all.
    pub fn with_interrupt_after<T: Into<Name>>(mut self, nodes: impl IntoIterator<Item = T>) -> Self {
        self.interrupt_after = nodes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the checkpointer in which the graph keeps its threads: one of its own, or an [`Arc`] of one that is used
    /// elsewhere too.
    pub fn with_checkpointer(mut self, saver: impl IntoShared<dyn Checkpointer>) -> Self {
        self.saver = Some(saver.into_shared());
        self
    }

    /// Sets the clock of the graph.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.ids = Arc::new(CheckpointIds::new(clock.clone()));
        self.clock = clock;
        self
    }

    /// Prepares the graph for runs aside: their checkpoints sort after `after` and before `before`, so a branch that
    /// they create never becomes the current state of its thread. It begins at `after`, where `before` is a younger
    /// checkpoint of the thread, or with a [copy](crate::StateUpdate::as_node) of `before`, whose parent is `after`.
    /// One such graph makes one branch. `None` when ids of the thread leave no room between the two.
    pub fn aside(mut self, after: Option<&CheckpointId>, before: &CheckpointId) -> Option<Self> {
        self.ids = Arc::new(CheckpointIds::aside(self.clock.clone(), after, before)?);
        Some(self)
    }

    /// Returns the clock that the graph's runs read.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
    /// Sets a cache for results of nodes that have a [`CachePolicy`](crate::graph::CachePolicy).
    pub fn with_cache(mut self, cache: impl IntoShared<dyn NodeCache>) -> Self {
        self.cache = Some(cache.into_shared());
        self
    }

    /// Sets a store, which the graph's nodes and tasks see. A graph within it sees the same one unless it has its own.
    pub fn with_store(mut self, store: impl IntoShared<dyn Store>) -> Self {
        self.store = Some(store.into_shared());
        self
    }

    /// Sets limits for kinds of nodes, over all runs of the graph.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Names of the nodes in declaration order, without START.
    pub fn node_names(&self) -> impl Iterator<Item = &Name> {
        self.plan
            .nodes
            .iter()
            .filter(|node| !node.is_start())
            .map(|node| &node.name)
    }

    /// Returns the state keys in declaration order, with the name of their reducer.
    pub fn state_keys(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.plan.channels[..self.plan.state_keys]
            .iter()
            .map(|c| (&c.name, c.spec.reducer_name()))
    }

    /// Formats the compiled plan as text.
    pub fn plan(&self) -> String {
        self.plan.to_string()
    }

    /// Draws the graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        self.plan.mermaid()
    }

    /// Draws the graph for Graphviz.
    pub fn dot(&self) -> String {
        self.plan.dot()
    }

    pub(crate) fn need_saver(&self, what: &str) -> Result<&Arc<dyn Checkpointer>, RunError> {
        self.saver.as_ref().ok_or_else(|| RunError::NotPersistent {
            message: format!("No checkpointer set: {what} needs one. Call `with_checkpointer` on the graph."),
        })
    }
}
