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
    /// The defaults: the node is given the whole state.
    pub fn new() -> Self {
        Self::default()
    }
    /// The node waits until no other node is triggered; all nodes that wait then run in the same super-step. Packets
    /// sent to it do not wait, and packets that are queued for others do not hold it back.
    pub fn defer(mut self, defer: bool) -> Self {
        self.defer = defer;
        self
    }
    /// The node runs this graph with [`NodeContext::invoke`](crate::NodeContext::invoke): its state can then be read
    /// and edited through this graph.
    pub fn runs(mut self, graph: &Graph) -> Self {
        self.graphs.push(graph.clone());
        self
    }
    /// The node is given only these keys.
    pub fn input<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.input = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Failures are tried again. Called several times, the first policy that wants a failure decides about it.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry.push(policy);
        self
    }
    /// Each attempt may take only so long.
    pub fn timeout(mut self, timeout: Timeout) -> Self {
        self.timeout = Some(timeout);
        self
    }
    /// Results are used again for the same input, if the graph has a cache.
    pub fn cache(mut self, policy: CachePolicy) -> Self {
        self.cache = Some(policy);
        self
    }
    /// Takes over when the node has failed for good.
    pub fn error_handler(mut self, handler: impl ErrorHandler) -> Self {
        self.error_handler = Some(Arc::new(handler));
        self
    }
    /// When the node has failed for good, the run goes on at `target` instead of along the node's edges. The error is
    /// written to the key `into`, if there is one, as `{"node", "class", "message"}`. An error handler comes first.
    pub fn error_branch(mut self, target: impl Into<Name>, into: Option<Name>) -> Self {
        let target = target.into();
        self.error_branch = Some(ErrorBranch { target, into });
        self
    }
    /// When the last attempt has failed, this does the node's work: same input, same edges. It may ask
    /// [`failed`](crate::NodeContext::failed) why. Its own failure is the node's.
    pub fn fallback(mut self, node: impl Node) -> Self {
        self.fallback = Some(Arc::new(node));
        self
    }
    /// When the last attempt has failed, this is the node's update.
    pub fn fallback_value(self, update: impl Into<Value>) -> Self {
        let update = update.into();
        self.fallback(move |_: NodeContext, _: Value| {
            let update = update.clone();
            async move { Ok(NodeOutput::Update(update)) }
        })
    }
    /// The kind that [`Limits`](crate::Limits) know the node by.
    pub fn kind(mut self, kind: impl Into<Name>) -> Self {
        self.kind = Some(kind.into());
        self
    }
    /// At most `limit` tasks of this node work at once, over all runs of the graph; at least one. Clones of the options share
    /// the places. A task waits here before it waits for a place of its kind, and holds up no other node meanwhile.
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.places = Some(Arc::new(Permits::new(limit.max(1))));
        self
    }
    /// The node computes without waiting: it works on a thread of its own, so that it does not hold up others. For a
    /// closure that is not async, see [`blocking`](crate::blocking).
    pub fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }
    /// The node writes at most these keys. This is for the [analysis](crate::Graph::analysis); runs do not check it.
    pub fn writes<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.writes = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Goes with the messages and task events of the node, beside the metadata of the run, over which it wins.
    pub fn metadata(mut self, metadata: Object) -> Self {
        self.metadata = metadata;
        self
    }
    /// A run may come to the node in at most this many super-steps: a bound for the loops that it is part of, beside the
    /// recursion limit of the whole run. The step after them is not begun and the run fails with
    /// [`RunError::LoopLimit`](crate::RunError::LoopLimit); the thread can go on from there, and a new run counts from zero.
    pub fn max_visits(mut self, limit: u32) -> Self {
        self.max_visits = Some(limit);
        self
    }
    /// What the node does to the world outside of the graph. A run that comes to a node whose effect was done already on
    /// another branch of its thread does what [`RunConfig::effects`](crate::RunConfig::effects) says; work that is to be
    /// done once and was broken off asks before it is done again. Needs a checkpointer. A node that declares nothing runs
    /// again, as every node does that is pure or only reads.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }
    /// The effect depends on these state keys only: where they are equal, it is the same effect. Without this all of what
    /// the node is given has to be equal. A node that is given a packet is compared by the whole packet.
    pub fn effect_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.effect_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }
    /// Where the commands that the node returns may lead. They must exist; drawings and the
    /// [analysis](crate::Graph::analysis) show them. Commands may lead elsewhere even so.
    pub fn destinations<T: Into<Name>>(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        self.destinations = targets.into_iter().map(Into::into).collect();
        self
    }
}
