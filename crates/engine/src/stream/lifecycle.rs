//! Callbacks for runs that stop to wait and that go on.

use std::fmt::Debug;
use std::sync::Arc;

use crate::base::ids::CheckpointId;
use crate::stream::events::Interrupt;

/// Handler that is called when a run stops to wait, and when one goes on. The run waits for these calls, so they should
/// be short.
pub trait Lifecycle: Debug + Send + Sync {
    /// Handles a stop of the outermost graph: a question waits, or a breakpoint was reached.
    fn on_interrupt(&self, event: &LifecycleEvent) {
        let _ = event;
    }
    /// Handles a graph, possibly a nested one, that goes on from a checkpoint.
    fn on_resume(&self, event: &LifecycleEvent) {
        let _ = event;
    }
}

/// Reason and place at which a run stopped or goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecycleEvent {
    /// What stopped it.
    pub status: LifecycleStatus,
    /// The checkpoint that the open step starts from.
    pub checkpoint_id: CheckpointId,
    /// `node:task` segments of the nested graph; empty for the outermost one.
    pub ns: Arc<[String]>,
    /// The questions that wait.
    pub interrupts: Vec<Interrupt>,
}

/// The cause that stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifecycleStatus {
    /// Tasks of the step wait.
    Pending,
    /// A breakpoint before a node.
    InterruptBefore,
    /// A breakpoint after a node.
    InterruptAfter,
}

impl LifecycleStatus {
    /// Returns the name: pending, interrupt_before or interrupt_after.
    pub fn as_str(self) -> &'static str {
        match self {
            LifecycleStatus::Pending => "pending",
            LifecycleStatus::InterruptBefore => "interrupt_before",
            LifecycleStatus::InterruptAfter => "interrupt_after",
        }
    }
}
