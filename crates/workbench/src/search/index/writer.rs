//! Writes the index while the workbench is open: threads that changed, then the rest from the newest to the oldest, and a look
//! at all of them, for what was deleted or pruned: when this program removed something, and soon after another changed
//! anything.

use std::collections::BTreeSet;
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use superstep::Checkpointer;
use superstep::checkpoint::{ThreadPlace, ThreadQuery, ThreadSummary};
use superstep_storage::Backend;

use super::super::Directory;
use super::super::texts;
use super::super::thread_history::{NeededParts, ThreadHistory};
use super::super::words::{fold, tokens};
use super::file::{Entry, File, IndexedThread, Range, remove};
use super::path_of;
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::now;
use crate::wire::Problem;
use superstep_document::text;

/// Time between two looks at the newest thread, and between two looks at all of them when no change is reported.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const COMPARE_EVERY: Duration = Duration::from_mins(10);
/// A look at all threads waits for this multiple of the time that the last one took: a program that writes without a pause
/// must not have them compared without a pause.
const COMPARE_SHARE: u32 = 20;
/// Time between two notes that nothing has changed.
const NOTE_EVERY: Duration = Duration::from_mins(1);
/// Threads that are added at once.
const BATCH: usize = 32;
/// Threads that are listed at once.
const LISTED: usize = 500;

/// Requests to the writer of the index.
#[derive(Debug, Default)]
pub(crate) struct Indexing {
    /// Something was removed: all threads are to be compared.
    removed: AtomicBool,
}

impl Indexing {
    /// Notes that threads or checkpoints were removed.
    pub(crate) fn note_removed(&self) {
        self.removed.store(true, Ordering::Relaxed);
    }
}

/// Writes for as long as the workbench is there.
pub(crate) fn watch(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    tokio::spawn(async move {
        let mut writer: Option<Writer> = None;
        let mut wait = LOOK_EVERY;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
            let Some(workbench) = weak.upgrade() else { return };
            wait = match workbench.index_more(&mut writer).await {
                Ok(true) => Duration::ZERO,
                Ok(false) => LOOK_EVERY,
                Err(problem) => {
                    tracing::warn!(%problem, "the index of threads is not written");
                    writer = None;
                    10 * LOOK_EVERY
                }
            };
        }
    });
}

impl Workbench {
    /// Returns the path of the database's index file, if it has one.
    pub(in crate::search) fn index_path(&self) -> Option<PathBuf> {
        let place = self.database.place();
        let on = self.preferences.settings().index_threads.unwrap_or(true);
        let path = path_of(self.instance.data_dir(), &place);
        (on && matches!(Backend::of(&place), Ok(Backend::Sqlite))).then_some(path)
    }

    /// Writes a part of what is to be written; `true` when there is more.
    async fn index_more(self: &Arc<Self>, writer: &mut Option<Writer>) -> Result<bool, Problem> {
        let Some(path) = self.index_path() else {
            *writer = None;
            let path = path_of(self.instance.data_dir(), &self.database.place());
            blocking(move || Writer::take(&path).map(|_| remove(&path))).await?;
            return Ok(false);
        };
        if writer.as_ref().is_none_or(|writer| writer.path != path) {
            *writer = blocking(move || Writer::open(&path)).await??;
        }
        let Some(writer) = writer else {
            // Another program writes it.
            return Ok(false);
        };
        let removed = self.indexing.removed.swap(false, Ordering::Relaxed);
        let (saver, directory) = (self.saver(), self.directory());
        writer.more(&*saver, &*directory, removed).await
    }
}

/// The last look at all threads.
#[derive(Debug)]
struct Compared {
    at: Instant,
    took: Duration,
    /// The number of the database's changes by other programs before it.
    changes: Option<u64>,
}

impl Compared {
    /// Returns whether all threads are to be compared again, with this number of changes now.
    fn is_over(&self, changes: Option<u64>) -> bool {
        let elapsed = self.at.elapsed();
        elapsed >= COMPARE_EVERY || (self.changes != changes && elapsed >= COMPARE_SHARE * self.took)
    }
}

/// The program that writes an index.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    /// Held while this program writes.
    _lock: fs::File,
    file: Option<File>,
    compared: Option<Compared>,
    /// Something was removed since.
    removed: bool,
    /// When the range was stored last.
    noted: Option<Instant>,
}

impl Writer {
    /// Takes the right to write; `None` while another program has it.
    fn take(path: &Path) -> Option<fs::File> {
        let lock = fs::File::create(path.with_extension("lock")).ok()?;
        match lock.try_lock() {
            Ok(()) => Some(lock),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(error)) => {
                tracing::debug!(%error, "the index of threads cannot be locked");
                None
            }
        }
    }

    /// Opens the index to write it; `None` while another program writes it.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, Problem> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Problem::file(text!("make the folder"), folder, &error))?;
        }
        let Some(lock) = Self::take(path) else {
            return Ok(None);
        };
        Ok(Some(Self {
            file: Some(File::write(path)?),
            path: path.to_owned(),
            _lock: lock,
            compared: None,
            removed: false,
            noted: None,
        }))
    }

    /// Runs work on the file outside the threads of the runtime.
    async fn with<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut File) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Problem> {
        let path = self.path.clone();
        let mut file = match self.file.take() {
            Some(file) => file,
            // The work before was broken off with the file.
            None => blocking(move || File::write(&path)).await??,
        };
        let (file, outcome) = blocking(move || {
            let outcome = work(&mut file);
            (file, outcome)
        })
        .await?;
        match &outcome {
            // Opened the next time, it is made again.
            Err(error) if is_damage(error) => {
                drop(file);
                let path = self.path.clone();
                blocking(move || remove(&path)).await?;
            }
            _ => self.file = Some(file),
        }
        Ok(outcome?)
    }

    /// Writes a part of what is to be written; `true` when there is more.
    pub(super) async fn more(
        &mut self,
        saver: &dyn Checkpointer,
        directory: &dyn Directory,
        removed: bool,
    ) -> Result<bool, Problem> {
        self.removed |= removed;
        let Some(range) = self.with(|file| file.range()).await? else {
            let batch = list(saver, None, BATCH).await?;
            let Some(first) = batch.first() else {
                return Ok(false);
            };
            let range = Range {
                newest: first.head.id.to_string(),
                oldest: oldest(&batch),
                until: now(),
            };
            self.add(saver, directory, batch).await?;
            self.with(move |file| file.set_range(&range)).await?;
            return Ok(true);
        };
        let before = range.clone();
        let fresh = newer(saver, &range.newest).await?;
        let newest = fresh
            .first()
            .map_or(range.newest, |thread| thread.head.id.to_string());
        self.add(saver, directory, fresh).await?;
        let mut oldest_known = range.oldest;
        let more = !oldest_known.is_empty();
        if more {
            let place = ThreadPlace {
                head: oldest_known.as_str().into(),
                thread: "\u{10ffff}".into(),
            };
            let batch = list(saver, Some(place), BATCH).await?;
            oldest_known = oldest(&batch);
            self.add(saver, directory, batch).await?;
        } else {
            let changes = changes(saver).await;
            let is_over = |compared: &Compared| compared.is_over(changes);
            if self.removed || self.compared.as_ref().is_none_or(is_over) {
                let began = Instant::now();
                self.compare(saver, directory, &newest).await?;
                self.removed = false;
                self.compared = Some(Compared {
                    at: Instant::now(),
                    took: began.elapsed(),
                    changes,
                });
            }
        }
        let range = Range {
            newest,
            oldest: oldest_known,
            until: now(),
        };
        let same = range.newest == before.newest && range.oldest == before.oldest;
        // An idle app writes nothing but the time, and seldom.
        if !same || self.noted.is_none_or(|noted| noted.elapsed() >= NOTE_EVERY) {
            self.with(move |file| file.set_range(&range)).await?;
            self.noted = Some(Instant::now());
        }
        Ok(more)
    }

    /// Compares what is known with the database: forgets what is gone, and collects again what is another one. Threads
    /// that changed after `newest` are left to the next look.
    async fn compare(
        &mut self,
        saver: &dyn Checkpointer,
        directory: &dyn Directory,
        newest: &str,
    ) -> Result<(), Problem> {
        let mut rows = self.with(|file| file.rows()).await?;
        let mut other = Vec::new();
        let mut after = None;
        loop {
            let page = list(saver, after, LISTED).await?;
            after = page.last().map(ThreadSummary::place);
            let short = page.len() < LISTED;
            for thread in page {
                let same = |row: IndexedThread| {
                    row.head == thread.head.id.as_str() && row.checkpoints == thread.checkpoints
                };
                let known = rows.remove(thread.thread.as_str());
                if thread.head.id.as_str() <= newest && !known.is_some_and(same) {
                    other.push(thread);
                }
            }
            if short {
                break;
            }
        }
        // Words of checkpoints that are gone go with the whole thread.
        let mut gone: Vec<String> = rows.into_keys().collect();
        gone.extend(other.iter().map(|thread| thread.thread.to_string()));
        if !gone.is_empty() {
            self.with(move |file| file.forget(&gone)).await?;
        }
        self.add(saver, directory, other).await
    }

    /// Adds threads, the oldest of them first.
    async fn add(
        &mut self,
        saver: &dyn Checkpointer,
        directory: &dyn Directory,
        mut threads: Vec<ThreadSummary>,
    ) -> Result<(), Problem> {
        threads.reverse();
        for batch in threads.chunks(BATCH) {
            let ids: Vec<String> = batch.iter().map(|thread| thread.thread.to_string()).collect();
            let known = self
                .with(move |file| {
                    ids.iter()
                        .map(|id| file.row(id))
                        .collect::<rusqlite::Result<Vec<_>>>()
                })
                .await?;
            let mut entries = Vec::with_capacity(batch.len());
            for (thread, known) in batch.iter().zip(known) {
                entries.push(entry(saver, directory, thread, known).await?);
            }
            self.with(move |file| file.add(&entries)).await?;
        }
        Ok(())
    }
}

/// Returns whether the file itself is at fault.
fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
    )
}

/// Returns the number of the database's changes by other programs; `None` where it is not known.
async fn changes(saver: &dyn Checkpointer) -> Option<u64> {
    let changes = saver.coordination()?.changes().await;
    changes
        .inspect_err(|error| tracing::debug!(%error, "changes of others are not seen"))
        .ok()?
}

async fn list(
    saver: &dyn Checkpointer,
    after: Option<ThreadPlace>,
    limit: usize,
) -> Result<Vec<ThreadSummary>, Problem> {
    let query = ThreadQuery::new().after(after).limit(limit);
    Ok(saver.threads(&query).await?)
}

/// Returns the head of the oldest thread of a batch; empty when no thread is older.
fn oldest(batch: &[ThreadSummary]) -> String {
    let last = batch.last().filter(|_| batch.len() == BATCH);
    last.map(|thread| thread.head.id.to_string()).unwrap_or_default()
}

/// Returns the threads that changed since `newest`, the newest first.
async fn newer(saver: &dyn Checkpointer, newest: &str) -> Result<Vec<ThreadSummary>, Problem> {
    let mut found: Vec<ThreadSummary> = Vec::new();
    let mut size = 1;
    loop {
        let page = list(saver, found.last().map(ThreadSummary::place), size).await?;
        let known = found.len();
        found.extend(page.into_iter().filter(|thread| thread.head.id.as_str() > newest));
        // The list is in order: a page that is not full of newer threads has reached those that are known.
        if found.len() - known < size {
            return Ok(found);
        }
        size = LISTED;
    }
}

/// Collects the words of a thread; for a thread that has grown, the words added since.
async fn entry(
    saver: &dyn Checkpointer,
    directory: &dyn Directory,
    thread: &ThreadSummary,
    known: Option<IndexedThread>,
) -> Result<Entry, Problem> {
    let mut past = ThreadHistory::read(saver, directory, thread, &NeededParts::Whole).await?;
    // A thread of which something was removed is collected again, and one that has grown too often.
    let known = known.filter(|known| !known.is_full).and_then(|known| {
        let head = past
            .heads
            .iter()
            .position(|head| head.id.as_str() == known.head)?;
        (head as u64 + 1 == known.checkpoints).then_some(head)
    });
    let mut words = BTreeSet::new();
    let mut add = |text: texts::PlacedText<'_>| {
        let folded = fold(&text.text);
        for word in tokens(&folded) {
            let word = super::kept(word);
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        }
    };
    let mut before = std::collections::HashMap::new();
    let mut from = known.unwrap_or(0);
    while from < past.heads.len() {
        let read = past.chunk(from, directory).await?;
        let mut states = std::collections::HashMap::with_capacity(read.len());
        for checkpoint in read {
            let place = checkpoint.place;
            // What the tasks of the last known checkpoint asked may be new.
            texts::of_tasks(&checkpoint.writes, &mut add);
            if known != Some(place) {
                let parent = past.parent(place);
                let near = parent.and_then(|parent| states.get(&parent).or_else(|| before.get(&parent)));
                let old = match (near, parent) {
                    (Some(near), _) => Some(superstep::value::Object::clone(near)),
                    (None, Some(parent)) => past.state(parent, directory).await?,
                    (None, None) => None,
                };
                let old = old.unwrap_or_else(|| past.initial.clone());
                texts::written(&old, &checkpoint.state, &mut add);
            }
            states.insert(place, checkpoint.state);
        }
        before = states;
        from = past.next(from);
    }
    Ok(Entry {
        thread: thread.thread.to_string(),
        head: thread.head.id.to_string(),
        checkpoints: thread.checkpoints,
        grew: known.is_some(),
        words,
    })
}

#[cfg(test)]
mod tests;
