//! When the files of open graphs are looked at: as soon as the system reports that one may be another, each second where it
//! reports nothing, and again until what was seen stands still. Opening, showing and running a graph look by themselves.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::Workbench;
use crate::base::blocking;
use crate::base::file_events::{FileEvents, MakeWatcher, of_system};

/// How often files are looked at that the system does not report.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The least time between two looks: events come in thousands.
const PAUSE: Duration = Duration::from_millis(50);

/// Input of the watch.
#[derive(Debug, Default)]
pub(crate) struct FileWatch {
    wake: Arc<Notify>,
}

impl FileWatch {
    /// Says that there may be something to look at.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }
}

/// Holder of files that are looked at.
trait Looking: Send + Sync + 'static {
    /// Returns the files; `None` while nobody wants to know.
    fn files(&self) -> Option<Vec<PathBuf>>;
    /// Looks at them. Returns after what time that is to be repeated.
    fn look(self: Arc<Self>) -> impl Future<Output = Option<Duration>> + Send;
}

impl Looking for Workbench {
    fn files(&self) -> Option<Vec<PathBuf>> {
        self.hub.has_subscribers().then(|| {
            let mut files = self.documents.paths();
            files.extend(self.program_files());
            files
        })
    }

    async fn look(self: Arc<Self>) -> Option<Duration> {
        self.look_at_program().await;
        self.look_at_graph_files().await
    }
}

/// Looks for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    let wake = workbench.documents.watch.wake.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = keep_looking(weak, wake, of_system) => {}
        }
    });
}

async fn keep_looking<T: Looking>(looking: Weak<T>, wake: Arc<Notify>, make: MakeWatcher) {
    let mut events = FileEvents::new(make, wake.clone());
    let mut wait = None;
    loop {
        match wait {
            Some(wait) => drop(tokio::time::timeout(wait, wake.notified()).await),
            None => wake.notified().await,
        }
        let Some(of_look) = looking.upgrade() else { return };
        // What is watched meanwhile wakes again, as does a new subscriber.
        let Some(files) = of_look.files() else {
            wait = None;
            continue;
        };
        // They are watched before they are looked at, so that no change falls between.
        let followed = blocking(move || {
            let hears_all = events.follow(&files);
            (events, hears_all)
        });
        let Ok((followed, hears_all)) = followed.await else {
            return;
        };
        events = followed;
        let again = of_look.look().await;
        wait = again.into_iter().chain((!hears_all).then_some(LOOK_EVERY)).min();
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A file, and how often it was looked at.
    struct Looks {
        file: PathBuf,
        count: AtomicUsize,
        looked: Notify,
    }

    impl Looking for Looks {
        fn files(&self) -> Option<Vec<PathBuf>> {
            Some(vec![self.file.clone()])
        }

        async fn look(self: Arc<Self>) -> Option<Duration> {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.looked.notify_one();
            None
        }
    }

    fn looks(folder: &tempfile::TempDir) -> Arc<Looks> {
        Arc::new(Looks {
            file: folder.path().join("graph.json"),
            count: AtomicUsize::new(0),
            looked: Notify::new(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_the_system_does_not_tell_about_is_looked_at_each_second() {
        let folder = tempfile::tempdir().unwrap();
        let looks = looks(&folder);
        let wake = Arc::new(Notify::new());
        wake.notify_one();
        let none: MakeWatcher = |_| Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch));
        let began = tokio::time::Instant::now();
        let keeping = tokio::spawn(keep_looking(Arc::downgrade(&looks), wake, none));
        while looks.count.load(Ordering::Relaxed) < 11 {
            looks.looked.notified().await;
        }
        let took = began.elapsed();
        assert!(took >= 10 * LOOK_EVERY && took < 12 * LOOK_EVERY, "{took:?}");
        keeping.abort();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn a_quiet_folder_is_looked_at_once_and_an_event_is_a_look() {
        let folder = tempfile::tempdir().unwrap();
        let looks = looks(&folder);
        let wake = Arc::new(Notify::new());
        wake.notify_one();
        let quiet: MakeWatcher = |_| Ok(Box::new(notify::NullWatcher));
        let keeping = tokio::spawn(keep_looking(Arc::downgrade(&looks), wake.clone(), quiet));
        looks.looked.notified().await;
        // An hour of the paused clock, which only goes on when nobody works.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(looks.count.load(Ordering::Relaxed), 1);
        for _ in 0..10_000 {
            wake.notify_one();
        }
        looks.looked.notified().await;
        tokio::time::sleep(Duration::from_secs(3600)).await;
        // The first event wakes who waits, and the others are one reason to look again.
        assert!(looks.count.load(Ordering::Relaxed) <= 3);
        keeping.abort();
    }
}
