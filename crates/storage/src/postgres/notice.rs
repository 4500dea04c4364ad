//! How programs notice each other's changes: a saver that changed something raises a number by a statement of its own, at most
//! every 200 ms, and others look at it. No commit waits for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, Notify};

use super::fault::PostgresFault;
use super::server::Server;

/// The least time between two raises.
const EVERY: Duration = Duration::from_millis(200);
/// How long a saver that is dropped waits until its last change is announced.
const PATIENCE: Duration = Duration::from_secs(1);
/// A power cut may take back the number, which is then another one, too.
const RAISE: &str = "SET LOCAL synchronous_commit = off; UPDATE changes SET n = n + 1";

/// Changes of this saver and its stores that are to be announced.
#[derive(Debug, Default)]
pub(super) struct Notice {
    changed: Notify,
    /// Something changed that is not announced yet.
    is_behind: AtomicBool,
    /// The log says that changes are not announced.
    is_logged: AtomicBool,
    /// How often the number was raised here. Held while it is raised or read, so that the two fit.
    own: Mutex<u64>,
}

impl Server {
    /// Schedules the announcement that something was changed here.
    pub(super) fn changed(&self) {
        self.notice.is_behind.store(true, Ordering::Release);
        self.notice.changed.notify_one();
    }

    /// Announces changes for as long as its runtime runs.
    pub(super) async fn tell_changes(self: Arc<Self>) {
        loop {
            self.notice.changed.notified().await;
            self.announce().await;
            tokio::time::sleep(EVERY).await;
        }
    }

    /// Announces what is not announced yet.
    pub(super) async fn announce(self: &Arc<Self>) {
        let mut own = self.notice.own.lock().await;
        if !self.notice.is_behind.swap(false, Ordering::AcqRel) {
            return;
        }
        match self.raise().await {
            Ok(()) => *own += 1,
            // Whether it arrived is not known. If it did, this saver sees one change too many.
            Err(fault) if fault.is_lost() => self.changed(),
            Err(fault) if !self.notice.is_logged.swap(true, Ordering::Relaxed) => {
                let error = fault.worded("telling other programs of changes", &self.shown);
                tracing::warn!(%error, "other programs do not notice what is changed here");
            }
            Err(_) => {}
        }
    }

    async fn raise(self: &Arc<Self>) -> Result<(), PostgresFault> {
        let session = self.session().await?;
        session.batch(RAISE).await?;
        self.keep(session);
        Ok(())
    }

    /// Announces changes as [`tell`](Self::tell), for a thread that may wait, but not for long.
    pub(super) fn tell_last(self: &Arc<Self>) {
        let (done, ended) = std::sync::mpsc::channel();
        let server = self.clone();
        self.runtime.spawn(async move {
            server.announce().await;
            let _ = done.send(());
        });
        let _ = ended.recv_timeout(PATIENCE);
    }

    /// Returns the number of changes without those made here; `None` for a role that may not read it.
    pub(super) async fn changes(self: &Arc<Self>) -> Result<Option<u64>, PostgresFault> {
        let own = self.notice.own.lock().await;
        let mut again = true;
        loop {
            match self.raised().await {
                Ok(found) => return Ok(found.map(|n| n.cast_unsigned().wrapping_sub(*own))),
                Err(fault) if fault.is_lost() && std::mem::take(&mut again) => {}
                Err(fault) if fault.is_refused() => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
    }

    async fn raised(self: &Arc<Self>) -> Result<Option<i64>, PostgresFault> {
        let mut session = self.session().await?;
        let rows = session.query("SELECT n FROM changes", &[]).await?;
        self.keep(session);
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
    }
}
