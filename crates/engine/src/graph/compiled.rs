//! The runnable graph. What is done with it is added where it is done: runs by `run`, reads and edits by `inspect`.

use std::fmt;
use std::sync::Arc;

use crate::base::clock::{Clock, SystemClock};
use crate::base::ids::{CheckpointId, CheckpointIds, Name};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::graph::context_schema::{ContextSchema, is_given};
use crate::graph::plan::Plan;
use crate::graph::scope::Persistence;
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
        }
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

    /// The graph as runs aside need it: their checkpoints sort after `after` and before `before`, so a branch that they make
    /// never becomes what its thread is now. It begins at `after`, where `before` is a younger checkpoint of the thread,
    /// or with a [copy](crate::StateUpdate::as_node) of `before`, whose parent is `after`. One such graph makes one branch.
    /// `None` when ids of the thread leave no room between the two.
    pub fn aside(mut self, after: Option<&CheckpointId>, before: &CheckpointId) -> Option<Self> {
        self.ids = Arc::new(CheckpointIds::aside(self.clock.clone(), after, before)?);
        Some(self)
    }

    /// The clock that its runs read.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
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

    /// The graph with limits for kinds of nodes, over all its runs.
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

    /// State keys in declaration order, with the name of their reducer.
    pub fn state_keys(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.plan.channels[..self.plan.state_keys]
            .iter()
            .map(|c| (&c.name, c.spec.reducer_name()))
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
