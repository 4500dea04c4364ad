//! The records of runs that are not over, and of what else happens to a thread.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::Workbench;
use crate::ledger::{BackgroundWriter, Ledger, RunLog};
use crate::wire::{AppEvent, Problem};
use superstep_document::text;

/// The records of the runs of a workbench.
#[derive(Debug)]
pub(crate) struct Records {
    keeper: Arc<BackgroundWriter>,
    /// Runs of which something may not be written yet, by thread.
    open: Mutex<HashMap<String, Arc<RunLog>>>,
}

impl Records {
    pub(crate) fn new(ledger: &Arc<Ledger>) -> Result<Self, Problem> {
        let ledger = ledger.clone();
        let keeper = BackgroundWriter::start(move || Ok(ledger));
        let keeper = keeper.map_err(|error| {
            Problem::new(
                "internal",
                text!(
                    "A thread could not be started: {error}.",
                    error = error.to_string()
                ),
            )
            .remedy(text!("Close other programs and try again."))
        })?;
        Ok(Self {
            keeper: Arc::new(keeper),
            open: Mutex::default(),
        })
    }

    pub(crate) fn keeper(&self) -> Arc<BackgroundWriter> {
        self.keeper.clone()
    }

    /// Returns the logs of runs that are not over, by thread.
    pub(crate) fn open(&self) -> parking_lot::MutexGuard<'_, HashMap<String, Arc<RunLog>>> {
        self.open.lock()
    }

    /// Creates the log of a run that begins.
    pub(crate) fn begin(&self, thread_id: &str, run_id: &str) -> Arc<RunLog> {
        let log = RunLog::new(self.keeper.clone(), thread_id, run_id);
        self.open().insert(thread_id.to_owned(), log.clone());
        log
    }

    /// Closes the log, which receives nothing more.
    pub(crate) fn ended(&self, log: &Arc<RunLog>) {
        log.hand_in_and(|| {
            self.open().retain(|_, open| !Arc::ptr_eq(open, log));
        });
        self.keeper.then(|ledger| {
            if let Err(problem) = ledger.trim_events().and_then(|()| ledger.trim_spans()) {
                tracing::warn!(%problem, "records of old runs were not removed");
            }
        });
    }
}

impl Workbench {
    /// Publishes something that happened to a thread outside of a run, and keeps it.
    pub(crate) fn emit(&self, thread_id: &str, event: AppEvent) {
        let log = self
            .runs
            .records
            .begin(thread_id, &uuid::Uuid::now_v7().to_string());
        log.emit(event, |event| self.hub.publish(event));
        self.runs.records.ended(&log);
    }
}
