//! Runs: one per thread at a time, from the request to the last event.
//!
//! The engine's stream is read by one task per run, which publishes what happens, notes in the ledger how long
//! tasks took and where they led, and says at the end how the run stands. Nothing here is needed to resume: the
//! checkpoints are; a process that dies leaves a run that the next one shows as stopped.

mod answers;
pub(crate) mod attempts;
mod begin;
mod breakpoints;
pub(crate) mod effects;
mod evaluate;
pub(crate) mod exchanges;
mod hot_edit;
pub(crate) mod jobs;
mod named_edges;
pub(crate) mod node_test;
mod overview;
mod playground;
mod reader;
mod recorder;
pub(crate) mod records;
pub(crate) mod session;
mod stop;
mod tokens;
pub(crate) mod trace;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use superstep::RunError;
use superstep::checkpoint::StorageError;
use superstep::run::{Breakpoint, RunStatus as Ended};
use tokio_util::sync::CancellationToken;

pub(crate) use self::recorder::Recorder;
pub use self::stop::StopHandle;
use crate::Workbench;
use crate::wire::{Problem, RunStatus, RunStop};
use superstep_document::{Text, text};

/// Runs of this process by thread.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    active: Mutex<HashMap<String, Active>>,
    /// The breakpoints of the last run of each thread: one that goes on counts their hits further.
    points: Mutex<HashMap<String, Arc<[Breakpoint]>>>,
}

#[derive(Debug, Default)]
struct Active {
    /// False while a thread is only reserved, for an edit or while a run is prepared.
    running: bool,
    stop: StopHandle,
    ended: CancellationToken,
    /// Questions that this run answers, until what it did with the answers is stored.
    answering: Vec<String>,
    /// The checkpoint that asks them.
    asked_at: Option<String>,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Active>> {
        self.active.lock()
    }

    pub(crate) fn is_running(&self, thread_id: &str) -> bool {
        self.lock().get(thread_id).is_some_and(|active| active.running)
    }

    /// Returns whether a run or an edit has the thread.
    pub(crate) fn is_taken(&self, thread_id: &str) -> bool {
        self.lock().contains_key(thread_id)
    }

    /// Returns what tells when the thread is free that is taken.
    fn end_of(&self, thread_id: &str) -> Option<CancellationToken> {
        self.lock().get(thread_id).map(|active| active.ended.clone())
    }

    /// Returns the threads that are running.
    pub(crate) fn running(&self) -> Vec<String> {
        let active = self.lock();
        let running = active.iter().filter(|(_, active)| active.running);
        running.map(|(thread_id, _)| thread_id.clone()).collect()
    }

    /// Keeps every thread from being taken for as long as the answer is held; `None` when one is taken already.
    pub(crate) fn idle(&self) -> Option<impl Drop + '_> {
        let active = self.lock();
        active.is_empty().then_some(active)
    }

    pub(crate) fn answering(&self, thread_id: &str) -> Vec<String> {
        self.lock()
            .get(thread_id)
            .map(|active| active.answering.clone())
            .unwrap_or_default()
    }

    /// Returns the questions that are being answered, with their thread and checkpoint.
    pub(crate) fn being_answered(&self) -> Vec<(String, String, Vec<String>)> {
        let active = self.lock();
        let answered = active.iter().filter(|(_, active)| !active.answering.is_empty());
        answered
            .filter_map(|(thread, active)| {
                Some((thread.clone(), active.asked_at.clone()?, active.answering.clone()))
            })
            .collect()
    }

    /// Counts the hits of breakpoints from where the thread's last run ended, if the run goes on from it.
    fn count_on(&self, thread_id: &str, goes_on: bool, points: &Arc<[Breakpoint]>) {
        let mut kept = self.points.lock();
        let before = kept.remove(thread_id).filter(|_| goes_on).unwrap_or_default();
        for point in points.iter() {
            if let Some(known) = before.iter().find(|known| known.id() == point.id()) {
                // Clones share their count.
                drop(point.clone().counted(known.hit_count()));
            }
        }
        if !points.is_empty() {
            kept.insert(thread_id.to_owned(), points.clone());
        }
    }

    /// Forgets what is kept of the runs of a thread that is gone.
    pub(crate) fn forget(&self, thread_id: &str) {
        self.points.lock().remove(thread_id);
    }

    fn with(&self, thread_id: &str, change: impl FnOnce(&mut Active)) {
        if let Some(active) = self.lock().get_mut(thread_id) {
            change(active);
        }
    }

    /// Stops every run and waits, but not for ever.
    pub(crate) async fn stop_all(&self, within: Duration) {
        let ends: Vec<CancellationToken> = {
            let active = self.lock();
            active.values().for_each(|run| run.stop.cancel.cancel());
            active.values().map(|run| run.ended.clone()).collect()
        };
        let all = async {
            for ended in ends {
                ended.cancelled().await;
            }
        };
        let _ = tokio::time::timeout(within, all).await;
    }
}

/// A thread that is taken; given back when dropped, however the work on it ends.
#[derive(Debug)]
pub(crate) struct TakenThread {
    workbench: Weak<Workbench>,
    thread_id: String,
    stop: StopHandle,
    ended: CancellationToken,
}

impl Drop for TakenThread {
    fn drop(&mut self) {
        if let Some(workbench) = self.workbench.upgrade() {
            workbench.runs.lock().remove(&self.thread_id);
            workbench.hub.forget(&self.thread_id);
            workbench.holding.look();
        }
        self.ended.cancel();
    }
}

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

fn busy(message: Text) -> Problem {
    Problem::new("busy", message).remedy(text!("Wait until it stops, or stop it first."))
}

impl Workbench {
    /// Takes a thread for what shows no claim to storage.
    pub(crate) fn reserve(self: &Arc<Self>, thread_id: &str) -> Result<TakenThread, Problem> {
        self.runs_here_only(thread_id)?;
        self.reserve_here(thread_id, Vec::new())
    }

    /// Takes a thread for a run or an edit that shows a claim: storage says whether another program runs it. The questions
    /// that it answers are known at once to whatever comes second.
    pub(crate) fn reserve_claimed(
        self: &Arc<Self>,
        thread_id: &str,
        answering: Vec<String>,
    ) -> Result<TakenThread, Problem> {
        if self.saver().coordination().is_none() {
            self.runs_here_only(thread_id)?;
        }
        self.reserve_here(thread_id, answering)
    }

    /// Refuses a thread that another program of the data folder runs.
    fn runs_here_only(&self, thread_id: &str) -> Result<(), Problem> {
        match self.ledger.last_runs(&[thread_id])?.get(thread_id) {
            Some(last)
                if last.status == RunStatus::Running && self.instance.is_other_alive(&last.instance) =>
            {
                Err(busy(text!("The thread is running in another window or program.")))
            }
            _ => Ok(()),
        }
    }

    fn reserve_here(
        self: &Arc<Self>,
        thread_id: &str,
        answering: Vec<String>,
    ) -> Result<TakenThread, Problem> {
        // Threads of another program are only read, and nothing of a run may begin.
        if let Some(foreign) = self.saver().foreign() {
            return Err(foreign.refusal().into());
        }
        let mut active = self.runs.lock();
        if active.contains_key(thread_id) {
            return Err(busy(text!("The thread is running.")));
        }
        let taken = Active {
            answering,
            ..Active::default()
        };
        let slot = TakenThread {
            workbench: Arc::downgrade(self),
            thread_id: thread_id.to_owned(),
            stop: taken.stop.clone(),
            ended: taken.ended.clone(),
        };
        active.insert(thread_id.to_owned(), taken);
        Ok(slot)
    }
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::{ClaimId, ClaimView, Holder};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_breakpoints_of_a_thread_are_forgotten_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let workbench = Workbench::open(crate::Options::new(dir.path().to_owned()))
            .await
            .unwrap();
        let points: Arc<[Breakpoint]> = [Breakpoint::new(
            "here",
            superstep::run::BreakpointPlace::Before("a".into()),
        )]
        .into();
        for thread in ["goes", "stays"] {
            workbench.runs.count_on(thread, false, &points);
        }
        workbench.forget_thread("goes").unwrap();
        let kept: Vec<String> = workbench.runs.points.lock().keys().cloned().collect();
        assert_eq!(kept, ["stays"]);
    }

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
