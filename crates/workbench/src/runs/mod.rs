//! Runs: one per thread at a time, from the request to the last event.
//!
//! The engine's stream is read by one task per run, which publishes what happens, notes in the ledger how long
//! tasks took and where they led, and says at the end how the run stands. Nothing here is needed to resume: the
//! checkpoints are; a process that dies leaves a run that the next one shows as stopped.

mod answers;
mod attached;
pub(crate) mod attempts;
mod begin;
mod breakpoints;
pub(crate) mod effects;
mod evaluate;
pub(crate) mod exchanges;
mod handed;
mod host;
mod hot_edit;
mod named_edges;
pub(crate) mod node_test;
mod overview;
mod playground;
pub(crate) mod program_points;
mod reader;
mod recorder;
pub(crate) mod records;
pub(crate) mod session;
mod stop;
mod tokens;
pub(crate) mod trace;

use superstep::RunError;
use superstep::checkpoint::StorageError;
use superstep::run::RunStatus as Ended;

pub(crate) use self::recorder::Recorder;
use crate::wire::{Problem, RunStatus, RunStop};

/// Returns the status of a run from its result, and its problem. Interfaces decide how to present a graph's own error
/// text `Class('message')`; the codes are ours.
pub(crate) fn status_of(
    result: &Result<superstep::RunResult, RunError>,
    open: bool,
) -> (RunStatus, Option<Problem>) {
    match result {
        Ok(result) => match result.status {
            Ended::Done => (RunStatus::Done, None),
            Ended::Interrupted => (RunStatus::Asking, None),
            // A stop after the last step leaves nothing to continue.
            Ended::Breakpoint => (if open { RunStatus::Paused } else { RunStatus::Done }, None),
        },
        Err(RunError::Cancelled) => (RunStatus::Stopped, None),
        // It was asked to stop after its step.
        Err(RunError::Drained { .. }) => (RunStatus::Paused, None),
        // Another program goes on with the thread; how it stands is for that one to say.
        Err(error @ RunError::Storage(StorageError::Superseded { .. } | StorageError::Busy { .. })) => {
            (RunStatus::Stopped, Some(error.into()))
        }
        // Nothing of the step was begun: it stands before the node.
        Err(error @ (RunError::Effect { .. } | RunError::Held { .. })) => {
            (RunStatus::Paused, Some(error.into()))
        }
        Err(error) => (RunStatus::Failed, Some(error.into())),
    }
}

/// Returns where a breakpoint stopped a run.
pub(crate) fn stop_of(result: &Result<superstep::RunResult, RunError>) -> Option<RunStop> {
    result.as_ref().ok()?.stopped.as_ref().map(RunStop::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;
    use superstep::checkpoint::{ClaimId, ClaimView, Holder};

    use super::*;

    #[test]
    fn a_run_that_another_program_kept_from_the_thread_is_no_failure_of_the_thread() {
        let held = ClaimView {
            claim: ClaimId::from("c"),
            number: 1,
            holder: Holder::new("other", "the nightly import"),
            remaining: Duration::from_secs(9),
            ended: false,
        };
        let (thread, by) = ("t".into(), Some(Box::new(held.holder.clone())));
        let busy = StorageError::Busy {
            thread: superstep::ThreadId::from("t"),
            held: Box::new(held),
        };
        for error in [busy, StorageError::Superseded { thread, by }] {
            let (status, problem) = status_of(&Err(RunError::Storage(error)), true);
            assert_eq!(status, RunStatus::Stopped);
            assert!(problem.is_some_and(|problem| problem.message.contains("the nightly import")));
        }
    }
}
