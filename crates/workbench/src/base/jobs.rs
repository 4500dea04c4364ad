//! Jobs: long operations that an interface asked for, with their progress and a way to stop them.

use std::collections::HashMap;

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::wire::{AppEvent, CancelWork, Empty, Problem};

/// Shortest time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The jobs that run, by the names that the interface gave them.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    /// Cancelled when the workbench is closed: what goes on in the background ends.
    pub(crate) ending: CancellationToken,
    running: Mutex<HashMap<String, CancellationToken>>,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.running.lock()
    }
}

/// A job that runs; over when dropped.
pub(crate) struct Job<'a> {
    workbench: &'a Workbench,
    name: Option<String>,
    stop: CancellationToken,
    reported: Mutex<Option<Instant>>,
}

impl Job<'_> {
    /// Reports how far it is; `false` when it is to stop.
    pub(crate) fn at(&self, done: u64, total: u64) -> bool {
        if let Some(name) = &self.name {
            let mut reported = self.reported.lock();
            if reported.is_none_or(|reported| reported.elapsed() >= REPORT_EVERY) {
                *reported = Some(Instant::now());
                self.workbench.hub.publish(AppEvent::Work {
                    work: name.clone(),
                    done,
                    total,
                });
            }
        }
        !self.stop.is_cancelled()
    }

    /// Returns the token that is cancelled when the job should stop.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.workbench.jobs.lock().remove(name);
        }
    }
}

impl Workbench {
    /// Begins a job under the name that the interface gave it, if any.
    pub(crate) fn job(&self, name: Option<String>) -> Job<'_> {
        let stop = CancellationToken::new();
        if let Some(name) = &name {
            self.jobs.lock().insert(name.clone(), stop.clone());
        }
        Job {
            workbench: self,
            name,
            stop,
            reported: Mutex::default(),
        }
    }

    pub(crate) async fn work_cancel(
        self: &std::sync::Arc<Self>,
        request: CancelWork,
    ) -> Result<Empty, Problem> {
        // A job that is over meanwhile has nothing to stop.
        if let Some(stop) = self.jobs.lock().get(&request.work) {
            stop.cancel();
        }
        Ok(Empty {})
    }
}
