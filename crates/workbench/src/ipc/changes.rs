//! What other programs change in the data folder and in the database of threads: looked for several times a second while
//! somebody listens, and published as one event, upon which interfaces load again what they show.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use superstep_nodes::{ModelSettings, Stamp};

use crate::base::blocking;
use crate::wire::AppEvent;
use crate::{NamedSecrets, Trust, Workbench, ipc};

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The least time between two events.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);
/// Files of the data folder that others may write.
const FILES: [&str; 4] = [
    "settings.json",
    Trust::FILE,
    ModelSettings::FILE,
    NamedSecrets::FILE,
];

/// Input of the watch.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// When the first claim ends that was read and is not renewed: nobody else would say so.
    lapse: Mutex<Option<Instant>>,
    /// Counts what was changed here for other programs, which the saver takes for changes of its own.
    handed: AtomicU64,
}

impl Watch {
    /// Notes that something was changed for another program.
    pub(crate) fn note_handed(&self) {
        self.handed.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a claim of another program ends by itself after this time.
    pub(crate) fn look_after(&self, remaining: Duration) {
        let ends = Instant::now() + remaining;
        let mut lapse = self.lapse.lock();
        *lapse = Some(lapse.map_or(ends, |earlier| earlier.min(ends)));
    }

    /// Returns whether a claim that was noted has ended; `true` only once.
    fn has_lapsed(&self) -> bool {
        let mut lapse = self.lapse.lock();
        lapse.take_if(|ends| *ends < Instant::now()).is_some()
    }
}

/// Result of a look; a change by another program makes it differ.
#[derive(Debug, Default, PartialEq)]
struct Look {
    place: String,
    handed: u64,
    threads: Option<u64>,
    ledger: Option<i64>,
    files: [Option<Stamp>; FILES.len()],
}

/// Looks for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    tokio::spawn(async move {
        // A subscriber read the data before or after this look: the next one reports a change in between.
        let mut seen: Option<Look> = None;
        let mut wait = Duration::ZERO;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
            wait = LOOK_EVERY;
            let Some(workbench) = weak.upgrade() else { return };
            if seen.is_some() && !workbench.hub.has_subscribers() {
                continue;
            }
            ipc::follow(&workbench).await;
            let look = workbench.look(seen.as_ref()).await;
            if let Some(seen) = &seen
                && *seen != look
            {
                workbench.publish_changes(seen, &look).await;
                wait = PUBLISH_EVERY;
            }
            if workbench.programs.changes.has_lapsed() {
                workbench.hub.publish(AppEvent::Changed {
                    threads: true,
                    settings: false,
                });
            }
            seen = Some(look);
        }
    });
}

impl Workbench {
    async fn look(self: &Arc<Self>, before: Option<&Look>) -> Look {
        let place = self.database.place();
        let saver = self.saver();
        let changes = match saver.coordination() {
            Some(coordination) => coordination.changes().await,
            None => Ok(None),
        };
        let threads = match changes {
            Ok(threads) => threads,
            Err(error) => {
                tracing::debug!(%error, "changes of others are not seen");
                before.and_then(|before| before.threads)
            }
        };
        let this = self.clone();
        let beside = blocking(move || {
            let files = FILES.map(|file| Stamp::of(&this.instance.data_dir().join(file)));
            (this.ledger.changes().ok(), files)
        });
        let (ledger, files) = beside.await.unwrap_or_default();
        Look {
            place,
            handed: self.programs.changes.handed.load(Ordering::Relaxed),
            threads,
            ledger,
            files,
        }
    }

    async fn publish_changes(self: &Arc<Self>, before: &Look, now: &Look) {
        let settings = before.files != now.files;
        // No later look reports what was stored between the choice of another database and this one.
        let other = before.place != now.place || before.threads != now.threads;
        let threads = other || before.ledger != now.ledger || before.handed != now.handed;
        if settings {
            let this = self.clone();
            let _ = blocking(move || this.preferences.read_again()).await;
            // Another program may have entered or removed the key.
            if let Err(problem) = self.give_key().await {
                tracing::debug!(%problem, "the key of encrypted values was not read again");
            }
        }
        if other {
            self.follow_seen().await;
        }
        if threads {
            self.publish_inbox(None);
        }
        if threads || settings {
            self.hub.publish(AppEvent::Changed { threads, settings });
        }
    }
}
