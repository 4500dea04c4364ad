//! Who has a thread: runs and edits of this process, one for each thread at a time, and the claims that other programs see.

mod announcer;
pub(crate) mod claim;
pub(crate) mod records;
mod switching;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use superstep::run::{Breakpoint, Drain};
use tokio_util::sync::CancellationToken;

pub(crate) use self::announcer::{Announcer, ChangedThreads};
use crate::Workbench;
use crate::wire::{Problem, RunStatus};
use superstep_document::{Text, text};

/// The ways to end a run from outside: at once, or when the step under way has finished.
#[derive(Clone, Debug, Default)]
pub struct StopHandle {
    /// Breaks off what the run is doing.
    pub cancel: CancellationToken,
    /// Lets the tasks of the step finish, and begins no other step.
    pub drain: Drain,
}

impl From<CancellationToken> for StopHandle {
    fn from(cancel: CancellationToken) -> Self {
        let drain = Drain::default();
        Self { cancel, drain }
    }
}

/// Runs of this process by thread.
#[derive(Debug)]
pub(crate) struct Runs {
    active: Mutex<HashMap<String, Active>>,
    /// The breakpoints of the last run of each thread: one that goes on counts their hits further.
    points: Mutex<HashMap<String, Arc<[Breakpoint]>>>,
    /// Logs of what they do.
    pub(crate) records: records::Records,
}

impl Runs {
    /// Creates what holds the runs of a process, none yet.
    pub(crate) fn new(records: records::Records) -> Self {
        Self {
            active: Mutex::default(),
            points: Mutex::default(),
            records,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Active {
    /// False while a thread is only reserved, for an edit or while a run is prepared.
    pub(crate) running: bool,
    pub(crate) stop: StopHandle,
    pub(crate) ended: CancellationToken,
    /// Questions that this run answers, until what it did with the answers is stored.
    pub(crate) answering: Vec<String>,
    /// The checkpoint that asks them.
    pub(crate) asked_at: Option<String>,
}

impl Runs {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Active>> {
        self.active.lock()
    }

    pub(crate) fn is_running(&self, thread_id: &str) -> bool {
        self.lock().get(thread_id).is_some_and(|active| active.running)
    }

    /// Returns whether a run or an edit has the thread.
    pub(crate) fn is_taken(&self, thread_id: &str) -> bool {
        self.lock().contains_key(thread_id)
    }

    /// Returns the token that is cancelled when a thread that is taken is free.
    pub(crate) fn end_of(&self, thread_id: &str) -> Option<CancellationToken> {
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
    pub(crate) fn count_on(&self, thread_id: &str, goes_on: bool, points: &Arc<[Breakpoint]>) {
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

    pub(crate) fn with(&self, thread_id: &str, change: impl FnOnce(&mut Active)) {
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
    pub(crate) thread_id: String,
    pub(crate) stop: StopHandle,
    pub(crate) ended: CancellationToken,
}

impl Drop for TakenThread {
    fn drop(&mut self) {
        if let Some(workbench) = self.workbench.upgrade() {
            workbench.runs.lock().remove(&self.thread_id);
            workbench.hub.forget(&self.thread_id);
            workbench.announcer.thread_is_free();
        }
        self.ended.cancel();
    }
}

pub(crate) fn busy(message: Text) -> Problem {
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
    pub(crate) fn runs_here_only(&self, thread_id: &str) -> Result<(), Problem> {
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
        self.refuse_foreign()?;
        self.reserve_attached(thread_id, answering)
    }

    /// Takes a thread for a run of the program that makes the threads in use.
    pub(crate) fn reserve_attached(
        self: &Arc<Self>,
        thread_id: &str,
        answering: Vec<String>,
    ) -> Result<TakenThread, Problem> {
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
}
