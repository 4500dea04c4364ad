//! How a node is run, beside what it does.

use crate::ids::Name;
use crate::retry::RetryPolicy;
use crate::timeout::Timeout;

/// Options of one node. Start from the default and chain.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// The state keys the node is given; all when None.
    pub(crate) input: Option<Vec<Name>>,
    pub(crate) defer: bool,
    pub(crate) retry: Vec<RetryPolicy>,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) kind: Option<Name>,
    pub(crate) blocking: bool,
    pub(crate) writes: Option<Vec<Name>>,
    pub(crate) destinations: Vec<Name>,
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
    /// The kind that [`Limits`](crate::Limits) know the node by.
    pub fn kind(mut self, kind: impl Into<Name>) -> Self {
        self.kind = Some(kind.into());
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
    /// Where the commands that the node returns may lead. They must exist; drawings and the
    /// [analysis](crate::Graph::analysis) show them. Commands may lead elsewhere even so.
    pub fn destinations<T: Into<Name>>(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        self.destinations = targets.into_iter().map(Into::into).collect();
        self
    }
}
