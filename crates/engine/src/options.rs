//! How a node is run, beside what it does.

use crate::ids::Name;

/// Options of one node. Start from the default and chain.
#[derive(Clone, Debug, Default)]
pub struct NodeOptions {
    /// The state keys the node is given; all when None.
    pub(crate) input: Option<Vec<Name>>,
    pub(crate) defer: bool,
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
}
