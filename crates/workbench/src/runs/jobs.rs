//! Long work that an interface asked for: how far it is, and how to stop it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::wire::{AppEvent, CancelWork, Empty, Problem};

/// Shortest time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// What is going on, by the name that the interface gave it.
#[derive(Debug, Default)]
pub(crate) struct Works {
    going: Mutex<HashMap<String, CancellationToken>>,
}

impl Works {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.going.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work that is going on; over when dropped.
pub(crate) struct Work<'a> {
    workbench: &'a Workbench,
    name: Option<String>,
    stop: CancellationToken,
    reported: Mutex<Option<Instant>>,
}

impl Work<'_> {
    /// Reports how far it is; `false` when it is to stop.
    pub(crate) fn at(&self, done: u64, total: u64) -> bool {
        if let Some(name) = &self.name {
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Cancelled when it is to stop.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.workbench.works.lock().remove(name);
        }
    }
}

impl Workbench {
    /// Begins work under the name that the interface gave it, if any.
    pub(crate) fn work(&self, name: Option<String>) -> Work<'_> {
        let stop = CancellationToken::new();
        if let Some(name) = &name {
            self.works.lock().insert(name.clone(), stop.clone());
        }
        Work {
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
        // Work that is over meanwhile has nothing to stop.
        if let Some(stop) = self.works.lock().get(&request.work) {
            stop.cancel();
        }
        Ok(Empty {})
    }
}
