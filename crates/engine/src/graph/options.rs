//! How a node is run, beside what it does.

use std::fmt;
use std::sync::Arc;

use crate::base::ids::Name;
use crate::base::timeout::Timeout;
use crate::graph::compiled::Graph;
use crate::graph::context::NodeContext;
use crate::graph::handler::{ErrorBranch, ErrorHandler};
use crate::graph::node::{Node, NodeOutput};
use crate::policy::cache::CachePolicy;
use crate::policy::effect::Effect;
use crate::policy::limits::Permits;
use crate::policy::retry::RetryPolicy;
use crate::value::{Object, Value};

/// Options of one node. Start from the default and chain.
#[derive(Clone, Default)]
pub struct NodeOptions {
    /// Graphs that the node runs.
    pub(crate) graphs: Vec<Graph>,
    /// The state keys the node is given; all when None.
    pub(crate) input: Option<Vec<Name>>,
    pub(crate) defer: bool,
    pub(crate) retry: Vec<RetryPolicy>,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) cache: Option<CachePolicy>,
    pub(crate) error_handler: Option<Arc<dyn ErrorHandler>>,
    pub(crate) error_branch: Option<ErrorBranch>,
    pub(crate) fallback: Option<Arc<dyn Node>>,
    pub(crate) kind: Option<Name>,
    pub(crate) places: Option<Arc<Permits>>,
    pub(crate) blocking: bool,
    pub(crate) writes: Option<Vec<Name>>,
    pub(crate) destinations: Vec<Name>,
    pub(crate) metadata: Object,
    pub(crate) max_visits: Option<u32>,
    /// Where a run goes on instead of coming to the node once more.
    pub(crate) limit_branch: Vec<Name>,
    pub(crate) effect: Option<Effect>,
    pub(crate) effect_keys: Option<Vec<Name>>,
}

impl fmt::Debug for NodeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeOptions")
            .field("input", &self.input)
            .field("defer", &self.defer)
            .field("retry", &self.retry)
            .field("timeout", &self.timeout)
            .field("cache", &self.cache)
            .field("error_handler", &self.error_handler.is_some())
            .field("error_branch", &self.error_branch)
            .field("fallback", &self.fallback.is_some())
            .field("kind", &self.kind)
            .field("blocking", &self.blocking)
            .finish_non_exhaustive()
    }
}

impl NodeOptions {
    /// Creates the defaults: the node is given the whole state.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets whether the node waits until no other node is triggered; all waiting nodes then run in the same super-step.
    /// Packets sent to it do not wait, and packets that are queued for others do not hold it back.
    pub fn defer(mut self, defer: bool) -> Self {
        self.defer = defer;
        self
    }
    /// Adds a graph that the node runs with [`NodeContext::invoke`](crate::NodeContext::invoke): its state can then be
    /// read and edited through this graph.
    pub fn runs(mut self, graph: &Graph) -> Self {
        self.graphs.push(graph.clone());
        self
    }
    /// Sets the only keys that the node is given.
    pub fn input<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.input = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Adds a retry policy for failures. If called several times, the first policy that accepts a failure decides about
    /// it.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry.push(policy);
        self
    }
    /// Sets the time that each attempt may take.
    pub fn timeout(mut self, timeout: Timeout) -> Self {
        self.timeout = Some(timeout);
        self
    }
    /// Sets the cache policy: results are reused for the same input, if the graph has a cache.
    pub fn cache(mut self, policy: CachePolicy) -> Self {
        self.cache = Some(policy);
        self
    }
    /// Takes over when the node has failed for good.
    pub fn error_handler(mut self, handler: impl ErrorHandler) -> Self {
        self.error_handler = Some(Arc::new(handler));
        self
    }
    /// Sets `target` as the node at which the run continues, instead of along the node's edges, when the node has
    /// failed for good. The error is written to the key `into`, if there is one, as `{"node", "class", "message"}`. An
    /// error handler comes first.
    pub fn error_branch(mut self, target: impl Into<Name>, into: Option<Name>) -> Self {
        let target = target.into();
        self.error_branch = Some(ErrorBranch { target, into });
        self
    }
    /// Sets a node that does the work when the last attempt has failed: same input, same edges. It may get the reason
    /// from [`failed`](crate::NodeContext::failed). Its own failure is the node's.
    pub fn fallback(mut self, node: impl Node) -> Self {
        self.fallback = Some(Arc::new(node));
        self
    }
    /// Sets the node's update for the case that the last attempt has failed.
    pub fn fallback_value(self, update: impl Into<Value>) -> Self {
        let update = update.into();
        self.fallback(move |_: NodeContext, _: Value| {
            let update = update.clone();
            async move { Ok(NodeOutput::Update(update)) }
        })
    }
    /// Sets the kind by which [`Limits`](crate::graph::Limits) know the node.
    pub fn kind(mut self, kind: impl Into<Name>) -> Self {
        self.kind = Some(kind.into());
        self
    }
    /// Limits the tasks of this node that work at once to `limit`, over all runs of the graph; at least one. Clones of
    /// the options share the places. A task waits here before it waits for a place of its kind, and does not hold up
    /// other nodes meanwhile.
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.places = Some(Arc::new(Permits::new(limit.max(1))));
        self
    }
    /// Declares that the node computes without waiting: it works on a thread of its own, so that it does not hold up
    /// others. For a closure that is not async, see [`blocking`](crate::graph::blocking).
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }
    /// Declares the only keys that the node may write. This is for the [analysis](crate::Graph::analysis); runs do not
    /// check it.
    pub fn writes<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.writes = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Goes with the messages and task events of the node, beside the metadata of the run, over which it wins.
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.metadata = metadata;
        self
    }
    /// Limits the super-steps in which a thread may come to the node after an input to `limit`: a bound for the loops
    /// that it is part of, in addition to the recursion limit of each run. Runs that answer a question, go on after a
    /// stop or begin in the past count on from the checkpoint that they begin at; an input counts from zero, and so does
    /// each input of a nested graph. The step after them is not begun and the run fails with
    /// [`RunError::LoopLimit`](crate::RunError::LoopLimit), unless there is a [`limit_branch`](Self::limit_branch). A
    /// run that is started where the limit was reached counts from zero.
    pub fn max_visits(mut self, limit: u32) -> Self {
        self.max_visits = Some(limit);
        self
    }
    /// Adds `target` to the nodes at which a run goes on when [`max_visits`](Self::max_visits) is reached: the node does
    /// not work then, its edges are not followed, and its task is a failed one of the class `LoopLimitError` that leads
    /// there.
    pub fn limit_branch(mut self, target: impl Into<Name>) -> Self {
        self.limit_branch.push(target.into());
        self
    }
    /// Declares what the node does to the world outside of the graph. A run that comes to a node whose effect was done
    /// already on another branch of its thread follows [`RunConfig::effects`](crate::RunConfig::effects); work that
    /// must be done once and was interrupted asks before it is done again. Needs a checkpointer. A node that declares
    /// nothing runs again, as does every node that is pure or only reads.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }
    /// Sets the only state keys that the effect depends on: where they are equal, it is the same effect. Without this,
    /// everything that the node is given has to be equal. A node that is given a packet is compared by the whole
    /// packet.
    pub fn effect_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.effect_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Declares the targets that the node's commands may lead to. They must exist; drawings and the
    /// [analysis](crate::Graph::analysis) show them. Commands may lead elsewhere nevertheless.
    pub fn destinations<T: Into<Name>>(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        self.destinations = targets.into_iter().map(Into::into).collect();
        self
    }
}
