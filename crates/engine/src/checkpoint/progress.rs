//! How far a long work is, and how to stop it: between the caller that waits for a backend and the backend, which may do the
//! work on another thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::checkpoint::types::StorageError;

/// Callback that is given the amount done and the total; an answer of `false` stops the work.
pub type Watch<'a> = &'a (dyn Fn(u64, u64) -> bool + Sync);

/// Progress of long work. All clones share one state; the requester of the work keeps one, the worker has another.
#[derive(Clone, Debug)]
pub struct Progress {
    reported: Arc<watch::Sender<(u64, u64)>>,
    stopped: Arc<AtomicBool>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            reported: Arc::new(watch::Sender::new((0, 0))),
            stopped: Arc::default(),
        }
    }
}

impl Progress {
    /// Stops the work at the next opportunity, with [`StorageError::Stopped`].
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Reports the amount done and the total: the backend does this as often as it can, and ends here when the work was
    /// stopped. Both numbers are counts of whatever the work has most of, usually checkpoints.
    pub fn at(&self, done: u64, total: u64) -> Result<(), StorageError> {
        if self.is_stopped() {
            return Err(StorageError::Stopped);
        }
        if self.reported.receiver_count() > 0 {
            self.reported.send_replace((done, total));
        }
        Ok(())
    }

    /// Waits for the work that has this progress, and meanwhile reports to `watch` how far it is. Several steps that come
    /// together are reported as one.
    pub async fn follow<T>(&self, work: impl Future<Output = T>, watch: Watch<'_>) -> T {
        let mut reported = self.reported.subscribe();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return outcome,
                Ok(()) = reported.changed() => {
                    let (done, total) = *reported.borrow_and_update();
                    if !watch(done, total) {
                        self.stop();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn who_waits_is_notified_and_can_stop_it() {
        let progress = Progress::default();
        let work = async {
            for n in 0..100 {
                progress.at(n, 100)?;
                tokio::task::yield_now().await;
            }
            Ok::<_, StorageError>(())
        };
        let received = Mutex::new(Vec::new());
        let outcome = progress
            .follow(work, &|done, total| {
                received.lock().unwrap().push((done, total));
                done < 5
            })
            .await;
        assert!(matches!(outcome, Err(StorageError::Stopped)));
        let received = received.into_inner().unwrap();
        assert_eq!(received.last(), Some(&(5, 100)));
        assert!(received.is_sorted());
    }
}
