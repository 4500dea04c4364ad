//! Checkpoints, the trait of their backends, claims of runs on threads.

pub(crate) mod checkpointer;
pub(crate) mod claim;
pub(crate) mod maintenance;
pub(crate) mod memory;
pub(crate) mod progress;
pub(crate) mod run_claim;
pub(crate) mod threads;
pub(crate) mod types;
pub(crate) mod waiting;
