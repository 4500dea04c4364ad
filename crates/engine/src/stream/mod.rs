//! Configuration of a run, and its reports: events, errors, costs.

pub(crate) mod emit;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod json;
pub(crate) mod lifecycle;
pub(crate) mod metrics;
pub(crate) mod request;
pub(crate) mod run_config;
pub mod testing;

pub use events::{
    AttemptFailed, CheckpointEvent, Interrupt, ItemShape, Payload, StreamEvent, StreamMode, TaskEnd,
    TaskStart, TaskWaited, Update,
};
pub use lifecycle::{Lifecycle, LifecycleEvent, LifecycleStatus};
pub use metrics::{Meter, ModelUsage, RunMetrics};
