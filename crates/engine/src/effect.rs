//! What running a node does to the world outside of its graph, and what happens when that would be done again.

/// What a node does to the world outside of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing, and the same input gives the same result.
    Pure,
    /// It only reads: running it again does no harm, but may give another result.
    Reads,
    /// It changes something, and doing so twice with the same key is doing it once.
    Idempotent,
    /// It changes something, and must not do so twice.
    Once,
    /// It may change something: nobody said what it does.
    Unknown,
}

impl Effect {
    /// Returns true when doing it again may change something outside that was changed before.
    pub fn is_outside(self) -> bool {
        matches!(self, Effect::Idempotent | Effect::Once | Effect::Unknown)
    }
}

/// What happens when a run comes to a node whose effect was already done on another branch of the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EffectPolicy {
    /// What the node returned for the same input is used again. For another input there is nothing to use, and the run
    /// stops before the node.
    Reuse,
    /// The node works again; for the same input, with the key that it sent the first time.
    Again,
    /// The run stops before the node with [`RunError::Effect`](crate::RunError::Effect).
    #[default]
    Stop,
    /// The node asks first, as an [interrupt](crate::NodeContext::interrupt).
    Ask,
}
