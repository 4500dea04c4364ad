//! What readers see of the folder without asking the writer: which threads there are, what each stands at, and those
//! that are in memory. Anyone who asks for a thread that is not in memory reads its journal without the writer, so nobody
//! who reads waits for what the writer does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;
use parking_lot::{Mutex, MutexGuard};
use superstep::checkpoint::{
    Claims, StorageError, ThreadQuery, ThreadSummary, ThreadUsage, Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Checkpointer, ThreadId};

use super::journal::{Journal, Loaded};
use super::thread_list_cache::ThreadListCache;
use crate::base::quarantine::passed_over;

/// Threads held in memory: each has an open file.
pub(super) const THREADS: usize = 256;
/// Bytes of journals whose threads are held in memory, unless one alone has more.
pub(super) const BYTES: u64 = 256 * 1024 * 1024;

/// Summary of a thread at a given length of its journal.
pub(super) type Summary = (u64, Option<ThreadSummary>);

/// State that readers see without asking the writer.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<FolderState>,
    /// Claims of runs in this process: no other has the folder.
    claims: Mutex<Claims>,
    moment: AtomicU64,
}

/// A checkpoint whose questions wait: its id, its time, and how many of its tasks ask.
pub(super) type Asked = (CheckpointId, String, u32);

#[derive(Debug, Default)]
struct FolderState {
    threads: BTreeMap<ThreadId, KnownThread>,
    /// Checkpoints whose questions wait, with their time and how many of their tasks ask. The writer keeps it with each
    /// commit; what `unlooked` names is not in it yet.
    waiting: BTreeMap<(CheckpointId, ThreadId), (String, u32)>,
    /// All these tasks together.
    tasks: u64,
    /// Threads of which nobody knows what waits, or where they stand, before their journal is read.
    unlooked: BTreeSet<ThreadId>,
    loaded: HashMap<ThreadId, Arc<Loaded>>,
    /// What readers brought into memory and the writer has not taken over yet. Each is among those `loaded`.
    brought: HashMap<ThreadId, Journal>,
    /// How many files there have been.
    files: u64,
}

/// A thread with a journal.
#[derive(Debug)]
struct KnownThread {
    path: PathBuf,
    /// Another number for each file that stood there.
    file: u64,
    /// How often it left the memory: what was read of it before may be old by now.
    left: u64,
    summary: Option<Summary>,
    /// The summary is of what could be read of it.
    damaged: bool,
    /// Its checkpoints in the list of questions that wait.
    asking: Vec<CheckpointId>,
}

/// State of a thread when its file was about to be read.
#[derive(Clone, Debug)]
struct Moment {
    path: PathBuf,
    file: u64,
    left: u64,
}

impl KnownThread {
    fn now(&self) -> Moment {
        Moment {
            path: self.path.clone(),
            file: self.file,
            left: self.left,
        }
    }

    /// Returns whether the file is unchanged since the moment; if not, what was read then may be outdated.
    fn is_still(&self, moment: &Moment) -> bool {
        self.file == moment.file && self.left == moment.left
    }
}

impl FolderState {
    fn known(&mut self, thread: &ThreadId, path: impl FnOnce() -> PathBuf) -> &mut KnownThread {
        let files = &mut self.files;
        self.threads.entry(thread.clone()).or_insert_with(|| {
            *files += 1;
            KnownThread {
                path: path(),
                file: *files,
                left: 0,
                summary: None,
                damaged: false,
                asking: Vec::new(),
            }
        })
    }

    /// Sets the waiting checkpoints of a thread, replacing all earlier ones.
    fn ask(&mut self, thread: &ThreadId, asked: impl IntoIterator<Item = Asked>) {
        self.unlooked.remove(thread);
        self.ask_nothing(thread);
        let Some(known) = self.threads.get_mut(thread) else {
            return;
        };
        for (id, ts, tasks) in asked {
            known.asking.push(id.clone());
            self.tasks += u64::from(tasks);
            self.waiting.insert((id, thread.clone()), (ts, tasks));
        }
    }

    fn ask_nothing(&mut self, thread: &ThreadId) {
        let known = self.threads.get_mut(thread);
        for id in known
            .map(|known| std::mem::take(&mut known.asking))
            .unwrap_or_default()
        {
            if let Some((_, tasks)) = self.waiting.remove(&(id, thread.clone())) {
                self.tasks -= u64::from(tasks);
            }
        }
    }

    /// Sets the waiting checkpoints of a thread from its copy in memory.
    fn ask_as(&mut self, thread: &ThreadId, loaded: &Loaded) {
        let asked = loaded.waiting().into_iter();
        self.ask(thread, asked.map(|one| (one.checkpoint, one.ts, one.tasks)));
    }

    /// Returns whether the id is that of the newest checkpoint of the outermost graph of a thread.
    fn is_newest(&self, thread: &ThreadId, id: &CheckpointId) -> bool {
        if let Some(loaded) = self.loaded.get(thread) {
            let summary = loaded.saver.thread(thread).now_or_never();
            let head = summary.and_then(|found| Some(found.ok()??.head.id));
            return head.as_ref() == Some(id);
        }
        let summary = self.threads.get(thread).and_then(|known| known.summary.as_ref());
        summary.is_some_and(|(_, summary)| summary.as_ref().is_some_and(|summary| summary.head.id == *id))
    }
}

/// Extent to which a thread is kept in memory.
pub(super) enum Residence {
    Nothing,
    Unread,
    Loaded(Arc<Loaded>),
}

impl Shared {
    /// Returns the claims of threads.
    pub(super) fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock()
    }

    fn state(&self) -> MutexGuard<'_, FolderState> {
        self.state.lock()
    }

    pub(super) fn thread(&self, thread: &ThreadId) -> Residence {
        let state = self.state();
        match state.loaded.get(thread) {
            Some(loaded) => {
                self.touch(loaded);
                Residence::Loaded(loaded.clone())
            }
            None if state.threads.contains_key(thread) => Residence::Unread,
            None => Residence::Nothing,
        }
    }

    pub(super) fn threads(&self) -> Vec<ThreadId> {
        self.state().threads.keys().cloned().collect()
    }

    pub(super) fn touch(&self, loaded: &Loaded) {
        let moment = self.moment.fetch_add(1, Ordering::Relaxed);
        loaded.used.store(moment, Ordering::Relaxed);
    }

    /// Returns the file of a thread that has one, with its number.
    pub(super) fn file_of(&self, thread: &ThreadId) -> Option<(PathBuf, u64)> {
        let state = self.state();
        state
            .threads
            .get(thread)
            .map(|known| (known.path.clone(), known.file))
    }

    /// Adds a file that was found when the folder was opened.
    pub(super) fn found(&self, thread: ThreadId, path: PathBuf, known: Option<ThreadListCache>) {
        let mut state = self.state();
        match known {
            Some((summary, asked)) => {
                state.known(&thread, || path).summary = Some(summary);
                state.ask(&thread, asked);
            }
            None => {
                state.known(&thread, || path).summary = None;
                state.unlooked.insert(thread);
            }
        }
    }

    /// Records that a thread in memory asks something else than before.
    pub(super) fn asks(&self, thread: &ThreadId, loaded: &Loaded) {
        self.state().ask_as(thread, loaded);
    }

    /// Looks at the threads of which nobody knows what waits.
    fn look(&self) {
        let unlooked: Vec<ThreadId> = self.state().unlooked.iter().cloned().collect();
        for thread in &unlooked {
            if let Err(error) = self.summarize(thread) {
                passed_over(thread, &error);
            }
        }
    }

    pub(super) fn waiting(&self, query: &WaitingQuery) -> Vec<Waiting> {
        self.look();
        let state = self.state();
        let begin = match &query.after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Unbounded,
        };
        let places = state.waiting.range((begin, Bound::Unbounded));
        let places =
            places.filter(|((_, thread), _)| query.thread.as_ref().is_none_or(|wanted| wanted == thread));
        let shown = places.map(|((id, thread), (ts, tasks))| Waiting {
            thread: thread.clone(),
            checkpoint: id.clone(),
            ts: ts.clone(),
            tasks: *tasks,
            is_newest: state.is_newest(thread, id),
        });
        shown.take(query.limit.unwrap_or(usize::MAX)).collect()
    }

    pub(super) fn count_waiting(&self) -> u64 {
        self.look();
        self.state().tasks
    }

    /// Lets readers see what the writer has of a thread.
    pub(super) fn publish(&self, journal: &Journal) {
        let mut state = self.state();
        state.known(&journal.thread, || journal.path().to_path_buf());
        state.brought.remove(&journal.thread);
        state
            .loaded
            .insert(journal.thread.clone(), journal.loaded.clone());
        state.ask_as(&journal.thread, &journal.loaded);
    }

    /// Records that the journal was replaced by another file.
    pub(super) fn replaced(&self, thread: &ThreadId) {
        let mut state = self.state();
        state.files += 1;
        let file = state.files;
        if let Some(known) = state.threads.get_mut(thread) {
            known.file = file;
            known.summary = None;
            state.unlooked.insert(thread.clone());
        }
    }

    /// Lets go of what is in memory of a thread.
    pub(super) fn forget(&self, thread: &ThreadId) {
        let mut state = self.state();
        state.brought.remove(thread);
        let bytes = state.loaded.remove(thread).map(|loaded| loaded.bytes());
        if let Some(known) = state.threads.get_mut(thread) {
            known.left += 1;
            // What the thread stands at is not known where it went on since.
            known.summary.take_if(|(of, _)| Some(*of) != bytes);
            if known.summary.is_none() {
                state.unlooked.insert(thread.clone());
            }
        }
    }

    /// Records that a thread is no longer stored.
    pub(super) fn gone(&self, thread: &ThreadId) {
        self.claims().forget(thread);
        let mut state = self.state();
        state.brought.remove(thread);
        state.loaded.remove(thread);
        state.ask_nothing(thread);
        state.unlooked.remove(thread);
        state.threads.remove(thread);
    }

    /// Returns the thread in memory, loading it if need be; also whether the writer should take it over. Waits for the
    /// disk.
    pub(super) fn bring(&self, thread: &ThreadId) -> Result<Option<(Arc<Loaded>, bool)>, StorageError> {
        let moment = {
            let state = self.state();
            match (state.loaded.get(thread), state.threads.get(thread)) {
                (Some(loaded), _) => return Ok(Some((loaded.clone(), false))),
                (None, Some(known)) => known.now(),
                (None, None) => return Ok(None),
            }
        };
        let journal = Journal::load(thread, &moment.path)?;
        Ok(Some(self.keep(thread, &moment, journal)))
    }

    /// Keeps what was read of a thread, unless it may be old by now.
    fn keep(&self, thread: &ThreadId, moment: &Moment, journal: Journal) -> (Arc<Loaded>, bool) {
        let mut state = self.state();
        if let Some(loaded) = state.loaded.get(thread) {
            // Somebody else was quicker, and may have added to it.
            return (loaded.clone(), false);
        }
        let loaded = journal.loaded.clone();
        self.touch(&loaded);
        let known = state.threads.get(thread);
        let current = known.is_some_and(|known| known.is_still(moment));
        let held: u64 = state.brought.values().map(|journal| journal.weight).sum();
        // The writer makes room, and may be busy for long. What is not kept is read again by who asks next.
        let room = held == 0 || (state.brought.len() < THREADS && held + journal.weight <= BYTES);
        let keep = current && room && journal.bytes() > 0;
        if keep {
            state.loaded.insert(thread.clone(), loaded.clone());
            state.brought.insert(thread.clone(), journal);
        }
        (loaded, keep)
    }

    /// Takes the journal that a reader loaded into memory of a thread, for the writer.
    pub(super) fn take_over(&self, thread: &ThreadId) -> Option<Journal> {
        self.state().brought.remove(thread)
    }

    /// Brings the summary of a thread up to date. Waits for the disk where it is not in memory and was never looked at.
    pub(super) fn summarize(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let (in_memory, moment) = {
            let state = self.state();
            let Some(known) = state.threads.get(thread) else {
                return Ok(());
            };
            let loaded = state.loaded.get(thread);
            let current = match (loaded, &known.summary) {
                (Some(loaded), Some((bytes, _))) => loaded.bytes() == *bytes,
                (None, Some(_)) => true,
                (_, None) => false,
            };
            if current {
                return Ok(());
            }
            (loaded.cloned(), known.now())
        };
        let loaded = match in_memory {
            Some(loaded) => loaded,
            // A list of many threads does not push those out of memory that are worked with.
            None => Journal::load(thread, &moment.path)?.loaded,
        };
        self.note(thread, &moment, &loaded);
        Ok(())
    }

    /// Notes what a thread stands at, unless that may be old by now.
    fn note(&self, thread: &ThreadId, moment: &Moment, loaded: &Loaded) {
        // Before the summary: where somebody writes meanwhile, it is rebuilt next time.
        let bytes = loaded.bytes();
        let all = ThreadQuery::default();
        let summaries = loaded.saver.threads(&all).now_or_never();
        let summary = summaries.and_then(Result::ok).and_then(|mut found| found.pop());
        let sound = loaded.sound(thread);
        let mut state = self.state();
        if let Some(known) = state.threads.get_mut(thread)
            && known.is_still(moment)
        {
            known.summary = Some((bytes, summary));
            known.damaged = sound.is_err();
            match state.loaded.get(thread).cloned() {
                // Somebody may have added to it since.
                Some(newer) => state.ask_as(thread, &newer),
                None => state.ask_as(thread, loaded),
            }
        }
        drop(state);
        if let Err(error) = sound {
            passed_over(thread, &error);
        }
    }

    /// Summarizes all threads; one that cannot be read does not hide the others.
    fn summarize_all(&self) {
        for thread in &self.threads() {
            if let Err(error) = self.summarize(thread) {
                passed_over(thread, &error);
            }
        }
    }

    pub(super) fn list(&self, query: &ThreadQuery) -> Vec<ThreadSummary> {
        self.summarize_all();
        let state = self.state();
        let mut found: Vec<&ThreadSummary> = state.summaries().filter(|one| query.matches(one)).collect();
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        found.into_iter().cloned().collect()
    }

    pub(super) fn count(&self, query: &ThreadQuery) -> u64 {
        self.summarize_all();
        let query = query.clone().after(None).limit(None);
        let state = self.state();
        state.summaries().filter(|one| query.matches(one)).count() as u64
    }

    pub(super) fn summary(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        self.summarize(thread)?;
        let state = self.state();
        let summary = state.threads.get(thread).and_then(|known| known.summary.as_ref());
        Ok(summary.and_then(|(_, summary)| summary.clone()))
    }

    /// Returns the state of threads to be cached for the next opening.
    pub(super) fn remembered(&self) -> Vec<(ThreadId, ThreadListCache)> {
        let state = self.state();
        // The next to list the threads learns of damage too.
        let sound = state.threads.iter().filter(|(_, known)| !known.damaged);
        let looked = sound.filter(|(thread, _)| !state.unlooked.contains(*thread));
        let asked = |thread: &ThreadId, known: &KnownThread| {
            let asked = known.asking.iter().filter_map(|id| {
                let (ts, tasks) = state.waiting.get(&(id.clone(), thread.clone()))?;
                Some((id.clone(), ts.clone(), *tasks))
            });
            asked.collect()
        };
        looked
            .filter_map(|(thread, known)| {
                let known_of = (known.summary.clone()?, asked(thread, known));
                Some((thread.clone(), known_of))
            })
            .collect()
    }

    /// Returns the usage of each thread, the largest first.
    pub(super) fn usage(&self) -> Vec<ThreadUsage> {
        let mut usage = Vec::new();
        for thread in self.threads() {
            let Some((path, _)) = self.file_of(&thread) else {
                continue;
            };
            let loaded = match self.thread(&thread) {
                Residence::Loaded(loaded) => Ok(loaded),
                _ => Journal::load(&thread, &path).map(|journal| journal.loaded),
            };
            let (checkpoints, bytes) = match loaded {
                Ok(loaded) => (loaded.checkpoints(), loaded.bytes()),
                Err(error) => {
                    passed_over(&thread, &error);
                    (0, size_of(&path))
                }
            };
            usage.push(ThreadUsage {
                thread,
                checkpoints,
                bytes,
            });
        }
        let order =
            |a: &ThreadUsage, b: &ThreadUsage| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread));
        usage.sort_by(order);
        usage
    }
}

impl FolderState {
    fn summaries(&self) -> impl Iterator<Item = &ThreadSummary> {
        self.threads
            .values()
            .filter_map(|known| known.summary.as_ref()?.1.as_ref())
    }
}

/// Returns the size of a file in bytes, 0 if the file does not exist.
pub(super) fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[cfg(test)]
mod tests {
    use superstep_suites::{Draft, id};

    use super::*;
    use crate::FileSaver;

    #[tokio::test]
    async fn the_thread_that_was_used_longest_ago_leaves_memory_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = FileSaver::open(folder.path()).expect("opens");
        let name = |n: usize| format!("t{n}");
        for n in 0..THREADS {
            let stored = Draft::root(id(1)).store(&saver, &name(n), "").await;
            stored.expect("stores");
        }
        assert!(matches!(saver.shared.thread(&"t0".into()), Residence::Loaded(_)));
        let next = Draft::root(id(1)).store(&saver, "next", "").await;
        next.expect("stores");
        let state = saver.shared.state();
        let gone = (0..THREADS)
            .map(name)
            .filter(|name| !state.loaded.contains_key(&ThreadId::from(name.as_str())));
        assert_eq!(gone.collect::<Vec<_>>(), ["t1"]);
    }

    /// An event, the function that triggers it, and whether what was read is kept nevertheless.
    type Happening<'a> = (&'static str, &'a dyn Fn(&Shared), bool);

    /// What happens to a thread between the look at where it stands and the end of reading its file.
    #[tokio::test]
    async fn what_may_be_old_when_it_was_read_is_not_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let thread = ThreadId::from("t");
        let saver = FileSaver::open(folder.path()).expect("opens");
        Draft::root(id(1)).store(&saver, "t", "").await.expect("stores");
        let (path, _) = saver.shared.file_of(&thread).expect("has a file");
        drop(saver);
        let read = || Journal::load(&thread, &path).expect("reads");
        let nothing = |_: &Shared| {};
        let meanwhile: [Happening<'_>; 6] = [
            ("nothing", &nothing, true),
            ("another file", &|shared| shared.replaced(&thread), false),
            (
                "it was used and let go of",
                &|shared| shared.forget(&thread),
                false,
            ),
            ("it was deleted", &|shared| shared.gone(&thread), false),
            (
                "it was deleted and made again",
                &|shared| {
                    shared.gone(&thread);
                    shared.found(thread.clone(), path.clone(), None);
                },
                false,
            ),
            ("the writer has it", &|shared| shared.publish(&read()), false),
        ];
        for (what, happens, kept) in meanwhile {
            let shared = Shared::default();
            shared.found(thread.clone(), path.clone(), None);
            let moment = shared.state().threads[&thread].now();
            happens(&shared);
            let (loaded, keep) = shared.keep(&thread, &moment, read());
            assert_eq!((keep, loaded.checkpoints()), (kept, 1), "{what}");
            assert_eq!(shared.take_over(&thread).is_some(), kept, "{what}");

            let shared = Shared::default();
            shared.found(thread.clone(), path.clone(), None);
            let moment = shared.state().threads[&thread].now();
            happens(&shared);
            shared.note(&thread, &moment, &read().loaded);
            let noted = shared
                .state()
                .threads
                .get(&thread)
                .is_some_and(|known| known.summary.is_some());
            assert_eq!(noted, kept || what == "the writer has it", "{what}");
        }
    }
}
