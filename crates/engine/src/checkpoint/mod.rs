//! Checkpoints: what they are, who keeps them, and who may run a thread.

pub(crate) mod checkpointer;
pub(crate) mod claim;
pub(crate) mod maintenance;
pub(crate) mod memory;
pub(crate) mod progress;
pub(crate) mod run_claim;
pub(crate) mod threads;
pub(crate) mod types;
pub(crate) mod waiting;
