//! The one thread that writes. It takes the jobs that have come, does them in their order, and answers when what they
//! wrote is as safe as was asked for, so that callers who come together wait for the disk together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use serde::{Deserialize, Serialize};
use superstep::{
    CheckpointHead, CheckpointId, Checkpointer, Commit, Damage, Integrity, Link, Name, Progress, Pruning,
    Removal, Scope, StorageError, ThreadId, ThreadQuery, ThreadSummary, ThreadUsage, Usage,
};

use super::folder::{Folder, failed};
use super::journal::{Doomed, Journal, Loaded};
use super::line::{lines, put_line, read_line};
use crate::codec::plain::Head;
use crate::salvage::passed_over;
use crate::sqlite::Synchronous;

/// Most jobs that wait for the disk together.
const GROUP: usize = 256;
/// Threads held in memory: each has an open file.
const THREADS: usize = 256;
/// Bytes of journals whose threads are held in memory, unless one alone has more.
const BYTES: u64 = 256 * 1024 * 1024;
/// How long written lines wait for the disk when nobody asks for it.
const CALM: Duration = Duration::from_secs(1);

/// Something for the writer to do. It gives back how to answer, given that the disk could not be waited for.
pub(super) type Job = Box<dyn FnOnce(&mut Writer) -> Answer + Send>;
/// Answers the caller.
pub(super) type Answer = Box<dyn FnOnce(Option<&StorageError>) + Send>;

/// What readers see without asking the writer.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    moment: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    threads: BTreeMap<ThreadId, Known>,
    loaded: HashMap<ThreadId, Arc<Loaded>>,
}

/// A thread with a journal.
#[derive(Debug)]
struct Known {
    path: PathBuf,
    /// Its summary when the journal had so many bytes.
    summary: Option<(u64, Option<ThreadSummary>)>,
    /// The summary is of what could be read of it.
    damaged: bool,
}

impl Known {
    fn at(path: PathBuf) -> Self {
        Self {
            path,
            summary: None,
            damaged: false,
        }
    }
}

/// What is at hand of a thread.
pub(super) enum AtHand {
    Nothing,
    Unread,
    Loaded(Arc<Loaded>),
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn thread(&self, thread: &ThreadId) -> AtHand {
        let state = self.state();
        match state.loaded.get(thread) {
            Some(loaded) => {
                self.touch(loaded);
                AtHand::Loaded(loaded.clone())
            }
            None if state.threads.contains_key(thread) => AtHand::Unread,
            None => AtHand::Nothing,
        }
    }

    pub(super) fn threads(&self) -> Vec<ThreadId> {
        self.state().threads.keys().cloned().collect()
    }

    fn touch(&self, loaded: &Loaded) {
        let moment = self.moment.fetch_add(1, Ordering::Relaxed);
        loaded.used.store(moment, Ordering::Relaxed);
    }
}

/// A line of the list of summaries, which spares reading every journal at the next opening.
#[derive(Serialize, Deserialize)]
struct Remembered {
    thread: ThreadId,
    bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<RememberedRoot>,
}

#[derive(Serialize, Deserialize)]
struct RememberedRoot {
    head: Head,
    created: String,
    checkpoints: u64,
    interrupted: u32,
    failed: u32,
}

impl RememberedRoot {
    fn of(summary: &ThreadSummary) -> Self {
        let head = summary.head.clone();
        Self {
            created: summary.created.clone(),
            checkpoints: summary.checkpoints,
            interrupted: head.interrupted,
            failed: head.failed,
            head: Head {
                id: head.id,
                parent: head.parent,
                ts: head.ts,
                source: head.metadata.source,
                step: head.metadata.step,
                parents: head.metadata.parents,
                user: head.metadata.user,
                next: head.next,
                updated: head.updated_channels,
            },
        }
    }

    fn summary(self, thread: ThreadId) -> ThreadSummary {
        let metadata = self.head.metadata();
        ThreadSummary {
            thread,
            created: self.created,
            checkpoints: self.checkpoints,
            head: CheckpointHead {
                ns: "".into(),
                id: self.head.id,
                parent: self.head.parent,
                ts: self.head.ts,
                metadata,
                next: self.head.next,
                updated_channels: self.head.updated,
                interrupted: self.interrupted,
                failed: self.failed,
            },
        }
    }
}

pub(super) struct Writer {
    folder: Arc<Folder>,
    synchronous: Synchronous,
    shared: Arc<Shared>,
    open: HashMap<ThreadId, Journal>,
    /// Threads with lines that the disk may not have yet.
    unsynced: HashSet<ThreadId>,
}

impl Writer {
    pub(super) fn new(
        folder: Arc<Folder>,
        synchronous: Synchronous,
        shared: Arc<Shared>,
    ) -> Result<Self, StorageError> {
        let writer = Self {
            folder,
            synchronous,
            shared,
            open: HashMap::new(),
            unsynced: HashSet::new(),
        };
        let mut remembered = writer.remembered();
        let mut state = writer.shared.state();
        for (thread, path) in writer.folder.journals()? {
            let thread = match thread {
                Some(thread) => thread,
                None => match Journal::named(&path) {
                    Ok(thread) => thread,
                    Err(error) => {
                        tracing::error!(%error, "a thread cannot be listed");
                        continue;
                    }
                },
            };
            let size = fs::metadata(&path)
                .map_err(|error| failed("reading", &path, &error))?
                .len();
            let summary = remembered.remove(&thread).filter(|(bytes, _)| *bytes == size);
            let known = Known {
                summary,
                ..Known::at(path)
            };
            state.threads.insert(thread, known);
        }
        drop(state);
        Ok(writer)
    }

    fn list_path(&self) -> PathBuf {
        self.folder.path().join("threads.jsonl")
    }

    fn remembered(&self) -> HashMap<ThreadId, (u64, Option<ThreadSummary>)> {
        // Without the list, or with a line that cannot be read, the journals are read.
        let bytes = fs::read(self.list_path()).unwrap_or_default();
        let found = lines(&bytes)
            .0
            .filter_map(|(_, line)| read_line::<Remembered>(line).ok());
        found
            .map(|line| {
                let summary = line.root.map(|root| root.summary(line.thread.clone()));
                (line.thread, (line.bytes, summary))
            })
            .collect()
    }

    /// Works until every sender is gone.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let first = if self.unsynced.is_empty() {
                jobs.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                jobs.recv_timeout(CALM)
            };
            match first {
                Ok(first) => self.group(first, jobs),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = self.sync() {
                        tracing::error!(%error, "what was stored may not outlive a power cut");
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if let Err(error) = self.sync().and_then(|()| self.remember()) {
            tracing::warn!(%error, "the next opening reads the journals again");
        }
    }

    fn group(&mut self, first: Job, jobs: &Receiver<Job>) {
        let mut answers = vec![first(self)];
        while answers.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            answers.push(job(self));
        }
        let failure = match self.synchronous {
            Synchronous::Normal => None,
            Synchronous::Full => self.sync().err(),
        };
        for answer in answers {
            answer(failure.as_ref());
        }
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        let mut outcome = Ok(());
        for thread in std::mem::take(&mut self.unsynced) {
            if let Some(journal) = self.open.get_mut(&thread)
                && let Err(error) = journal.sync()
            {
                // What the file holds now is anybody's guess: it is read again.
                self.forget(&thread);
                outcome = Err(error);
            }
        }
        outcome
    }

    /// Writes down what the threads stand at.
    fn remember(&mut self) -> Result<(), StorageError> {
        if !self.folder.is_ours() {
            return Ok(());
        }
        let mut text = Vec::new();
        let threads: Vec<_> = self.open.keys().cloned().collect();
        for thread in &threads {
            self.summarize(thread)?;
        }
        for (thread, known) in &self.shared.state().threads {
            let Some((bytes, summary)) = &known.summary else {
                continue;
            };
            if known.damaged {
                // The next to list the threads is told of it too.
                continue;
            }
            let line = Remembered {
                thread: thread.clone(),
                bytes: *bytes,
                root: summary.as_ref().map(RememberedRoot::of),
            };
            // A line that cannot be written is a journal that is read.
            let _ = put_line(&mut text, &line);
        }
        self.folder.replace(&self.list_path(), &text)
    }

    fn path_of(&self, thread: &ThreadId) -> PathBuf {
        match self.shared.state().threads.get(thread) {
            Some(known) => known.path.clone(),
            None => self.folder.journal(thread),
        }
    }

    /// The journal of a thread, read if need be.
    pub(super) fn journal(&mut self, thread: &ThreadId) -> Result<&mut Journal, StorageError> {
        if !self.open.contains_key(thread) {
            let journal = Journal::load(thread, &self.path_of(thread))?;
            self.make_room(journal.weight)?;
            self.take(journal);
        }
        match self.open.get_mut(thread) {
            Some(journal) => {
                self.shared.touch(&journal.loaded);
                Ok(journal)
            }
            // It was put there above.
            None => Err(StorageError::Unsupported("a thread that is read and not there")),
        }
    }

    fn take(&mut self, journal: Journal) {
        let thread = journal.thread.clone();
        if journal.bytes > 0 {
            self.publish(&thread, &journal);
        }
        self.open.insert(thread, journal);
    }

    /// Lets readers see the thread.
    fn publish(&self, thread: &ThreadId, journal: &Journal) {
        let mut state = self.shared.state();
        if !state.threads.contains_key(thread) {
            let path = self.folder.journal(thread);
            state.threads.insert(thread.clone(), Known::at(path));
        }
        state.loaded.insert(thread.clone(), journal.loaded.clone());
    }

    fn make_room(&mut self, bytes: u64) -> Result<(), StorageError> {
        let mut held: u64 = self.open.values().map(|journal| journal.weight).sum();
        while !self.open.is_empty() && (self.open.len() >= THREADS || held + bytes > BYTES) {
            let used = |journal: &Journal| journal.loaded.used.load(Ordering::Relaxed);
            let oldest = self.open.values().min_by_key(|journal| used(journal));
            let Some((thread, size)) = oldest.map(|journal| (journal.thread.clone(), journal.weight)) else {
                break;
            };
            held -= size;
            if self.unsynced.contains(&thread) {
                self.sync()?;
            }
            self.summarize(&thread)?;
            self.forget(&thread);
        }
        Ok(())
    }

    fn forget(&mut self, thread: &ThreadId) {
        self.open.remove(thread);
        self.shared.state().loaded.remove(thread);
    }

    /// Forgets a thread that is no longer stored.
    fn gone(&mut self, thread: &ThreadId) {
        self.forget(thread);
        self.unsynced.remove(thread);
        self.shared.state().threads.remove(thread);
    }

    /// Readers see a journal that was rewritten, or nothing where nothing is left.
    fn rewritten(&mut self, thread: &ThreadId) {
        match self.open.remove(thread) {
            Some(journal) if !journal.is_empty() || !journal.loaded.damage.is_empty() => {
                if let Some(known) = self.shared.state().threads.get_mut(thread) {
                    known.summary = None;
                }
                self.take(journal);
            }
            _ => self.gone(thread),
        }
    }

    /// Brings the summary of a thread up to date.
    fn summarize(&mut self, thread: &ThreadId) -> Result<(), StorageError> {
        let current = self.open.get(thread).map(|journal| journal.bytes);
        let known = |state: &State| {
            let known = state.threads.get(thread)?;
            Some(known.summary.as_ref().map(|(bytes, _)| *bytes))
        };
        match known(&self.shared.state()) {
            None => return Ok(()),
            Some(Some(bytes)) if current.is_none_or(|current| current == bytes) => return Ok(()),
            Some(_) => {}
        }
        let journal = self.journal(thread)?;
        let (bytes, all) = (journal.bytes, ThreadQuery::default());
        let summaries = journal.loaded.saver.threads(&all).now_or_never();
        let summary = summaries.and_then(Result::ok).and_then(|mut found| found.pop());
        let sound = journal.loaded.sound(thread);
        if let Some(known) = self.shared.state().threads.get_mut(thread) {
            known.summary = Some((bytes, summary));
            known.damaged = sound.is_err();
        }
        if let Err(error) = sound {
            passed_over(thread, &error);
        }
        Ok(())
    }

    pub(super) fn commits(&mut self, commits: Vec<Commit>) -> Result<(), StorageError> {
        for commit in commits {
            let thread = commit.thread.clone();
            let journal = self.journal(&thread)?;
            let (new, before) = (journal.bytes == 0, journal.bytes);
            journal.commit(commit)?;
            if journal.bytes == before {
                continue;
            }
            self.unsynced.insert(thread.clone());
            if new && let Some(journal) = self.open.get(&thread) {
                self.publish(&thread, journal);
            }
        }
        Ok(())
    }

    pub(super) fn threads(&mut self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.summarize_all();
        let state = self.shared.state();
        let mut found: Vec<&ThreadSummary> = state
            .threads
            .values()
            .filter_map(|known| known.summary.as_ref()?.1.as_ref())
            .filter(|summary| query.matches(summary))
            .collect();
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found.into_iter().cloned().collect())
    }

    pub(super) fn thread(&mut self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        if let AtHand::Nothing = self.shared.thread(thread) {
            return Ok(None);
        }
        self.summarize(thread)?;
        let state = self.shared.state();
        let summary = state.threads.get(thread).and_then(|known| known.summary.as_ref());
        Ok(summary.and_then(|(_, summary)| summary.clone()))
    }

    pub(super) fn count(&mut self, query: &ThreadQuery) -> Result<u64, StorageError> {
        self.summarize_all();
        let query = ThreadQuery {
            after: None,
            limit: None,
            ..query.clone()
        };
        let state = self.shared.state();
        let summaries = state
            .threads
            .values()
            .filter_map(|known| known.summary.as_ref()?.1.as_ref());
        Ok(summaries.filter(|summary| query.matches(summary)).count() as u64)
    }

    /// One thread that cannot be read does not hide the others.
    fn summarize_all(&mut self) {
        for thread in &self.shared.threads() {
            if let Err(error) = self.summarize(thread) {
                passed_over(thread, &error);
            }
        }
    }

    pub(super) fn delete(&mut self, thread: &ThreadId) -> Result<(), StorageError> {
        if let AtHand::Nothing = self.shared.thread(thread) {
            return Ok(());
        }
        // A damaged thread is deleted too, so it is not read.
        let path = self
            .shared
            .state()
            .threads
            .get(thread)
            .map(|known| known.path.clone());
        self.open.remove(thread);
        if let Some(path) = path {
            Journal::remove_at(&path)?;
        }
        self.gone(thread);
        Ok(())
    }

    pub(super) fn copy(&mut self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        if from == to || matches!(self.shared.thread(from), AtHand::Nothing) {
            return Ok(());
        }
        self.journal(to)?.loaded.sound(to)?;
        // Held here, so that reading the source cannot push it out.
        let Some(mut target) = self.open.remove(to) else {
            return Ok(());
        };
        let done = self.journal(from).and_then(|source| {
            source.loaded.sound(from)?;
            source.with_copy(&target)
        });
        let done = done.and_then(|text| target.rewrite(&self.folder, &text));
        self.open.insert(to.clone(), target);
        self.rewritten(to);
        done
    }

    pub(super) fn prune(&mut self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        let threads = match &pruning.scope {
            Scope::Threads(threads, _) => Scope::distinct(threads),
            Scope::Runs(_) => self.shared.threads(),
        };
        let mut removal = Removal {
            bytes: Some(0),
            ..Removal::default()
        };
        for (done, thread) in threads.iter().enumerate() {
            progress.at(done as u64, threads.len() as u64)?;
            if let AtHand::Nothing = self.shared.thread(thread) {
                continue;
            }
            self.prune_thread(thread, pruning, &mut removal)?;
        }
        Ok(removal)
    }

    fn prune_thread(
        &mut self,
        thread: &ThreadId,
        pruning: &Pruning,
        removal: &mut Removal,
    ) -> Result<(), StorageError> {
        let folder = self.folder.clone();
        let journal = self.journal(thread)?;
        journal.loaded.sound(thread)?;
        let mut spaces: BTreeMap<Name, Vec<CheckpointHead>> = BTreeMap::new();
        for head in journal.heads() {
            spaces.entry(head.ns.clone()).or_default().push(head);
        }
        let mut doomed = Doomed::new();
        for (ns, heads) in &spaces {
            let links: Vec<Link<'_>> = heads
                .iter()
                .map(|head| Link::of(&head.id, head.parent.as_ref(), &head.metadata))
                .collect();
            let gone = pruning.doomed(thread, ns, &links);
            let lost = pruning.lost_branches(thread, ns, &links, &gone);
            let lost = lost
                .into_iter()
                .map(|id: &CheckpointId| (thread.clone(), id.clone()));
            removal.branches.extend(lost);
            doomed.extend(gone.into_iter().map(|link| (ns.clone(), link.id.clone())));
        }
        if doomed.is_empty() {
            return Ok(());
        }
        let left = journal.checkpoints().count() - doomed.len();
        let text = if left == 0 {
            Vec::new()
        } else {
            journal.without(&doomed)?
        };
        removal.checkpoints += doomed.len() as u64;
        removal.threads += u64::from(left == 0);
        removal.bytes = removal
            .bytes
            .map(|bytes| bytes + journal.bytes.saturating_sub(text.len() as u64));
        if pruning.dry_run {
            return Ok(());
        }
        if left == 0 {
            return self.delete(thread);
        }
        let done = journal.rewrite(&folder, &text);
        self.rewritten(thread);
        done
    }

    pub(super) fn usage(&mut self) -> Result<Usage, StorageError> {
        let mut usage = Usage::default();
        let size = |file: &Path| fs::metadata(file).map_or(0, |file| file.len());
        usage.store = size(&self.folder.path().join("store.jsonl"));
        usage.bytes = usage.store + size(&self.list_path());
        for thread in self.shared.threads() {
            let (checkpoints, bytes) = match self.journal(&thread) {
                Ok(journal) => (journal.checkpoints().count() as u64, journal.bytes),
                Err(error) => {
                    passed_over(&thread, &error);
                    (0, size(&self.path_of(&thread)))
                }
            };
            usage.bytes += bytes;
            usage.threads.push(ThreadUsage {
                thread,
                checkpoints,
                bytes,
            });
        }
        let order =
            |a: &ThreadUsage, b: &ThreadUsage| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread));
        usage.threads.sort_by(order);
        Ok(usage)
    }

    pub(super) fn verify(&mut self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let mut found = Integrity::default();
        let folder = self.folder.clone();
        self.sync()?;
        for (thread, path) in folder.journals()? {
            if thread.is_none()
                && let Err(error) = Journal::named(&path)
            {
                found.damage.push(Damage {
                    thread: None,
                    what: format!("{error}: whose thread it is cannot be said"),
                    repair: None,
                });
            }
        }
        let threads = self.shared.threads();
        let total = threads.len() as u64;
        for thread in threads {
            progress.at(found.threads, total)?;
            // What is on the disk counts, not what is in memory.
            self.forget(&thread);
            found.threads += 1;
            let journal = match self.journal(&thread) {
                Ok(journal) => journal,
                Err(error) => {
                    found.damage.push(Damage {
                        thread: Some(thread),
                        what: error.to_string(),
                        repair: None,
                    });
                    continue;
                }
            };
            found.checkpoints += journal.checkpoints().count() as u64;
            let damage = journal.loaded.damage.clone();
            if damage.is_empty() {
                continue;
            }
            found.damage.extend(damage);
            if repair {
                journal.keep_copy()?;
                let text = journal.without(&Doomed::new())?;
                let done = journal.rewrite(&folder, &text);
                self.rewritten(&thread);
                done?;
                found.repaired = true;
            }
        }
        Ok(found)
    }

    pub(super) fn loaded(&mut self, thread: &ThreadId) -> Result<Arc<Loaded>, StorageError> {
        Ok(self.journal(thread)?.loaded.clone())
    }
}
