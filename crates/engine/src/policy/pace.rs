//! Whether a node's work is better done on the spot or handed to the runtime.
//!
//! Handing a task to the runtime and waiting for it takes most of a microsecond, which is more than many nodes work:
//! a template, a condition, a lookup. Those are done one after the other where the step is. A node that computes for
//! long, or waits, is a task of the runtime, so that the others of its step go on beside it. Which is which is learned
//! from how long the node took the last time.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Work that takes less is done on the spot.
const QUICK: Duration = Duration::from_micros(20);

/// Tasks of one node, none of them seen at work yet, that make it worthwhile to try one on the spot.
pub(crate) const MANY: usize = 8;

/// The known pace of a node.
#[derive(Debug, Default)]
pub(crate) struct Pace(AtomicU8);

impl Pace {
    /// Returns Some(true) for work that is done at once; None when the pace is not known yet.
    pub(crate) fn quick(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            known => Some(known == 1),
        }
    }

    /// Notes how long the work took that began at `began`. Waiting counts.
    pub(crate) fn learn(&self, began: Instant) {
        let known = if began.elapsed() < QUICK { 1 } else { 2 };
        self.0.store(known, Ordering::Relaxed);
    }
}
