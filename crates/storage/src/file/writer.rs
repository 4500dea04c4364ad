//! The one thread that writes. It takes the jobs that have come, does them in their order, and answers when what they
//! wrote is as safe as was asked for, so that callers who come together wait for the disk together.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use superstep::ThreadId;
use superstep::checkpoint::{ClaimRow, ClaimUse, Commit, StorageError};

use super::folder::{Folder, failed};
use super::journal::Journal;
use super::rewrite::{Begun, Rewrite};
use super::shared::{BYTES, Residence, Shared, THREADS};
use super::thread_list_cache;
use crate::base::Synchronous;
use crate::base::quarantine::passed_over;

/// Most jobs that wait for the disk together.
const GROUP: usize = 256;
/// How long written lines wait for the disk when nobody asks for it.
const CALM: Duration = Duration::from_secs(1);

/// A job for the writer. It returns a function that answers the caller, given the error if waiting for the disk failed.
pub(super) type Job = Box<dyn FnOnce(&mut Writer) -> Answer + Send>;
/// Answers the caller.
pub(super) type Answer = Box<dyn FnOnce(Option<&StorageError>) + Send>;

pub(super) struct Writer {
    folder: Arc<Folder>,
    synchronous: Synchronous,
    shared: Arc<Shared>,
    open: HashMap<ThreadId, Journal>,
    /// Threads with lines that the disk may not have yet.
    unsynced: HashSet<ThreadId>,
}

/// Withdraws the questions that an older release left behind when a new input came: they must wait for nobody. A thread
/// that is damaged is left as it is.
fn settle(folder: &Folder) -> Result<(), StorageError> {
    for (thread, path) in folder.journals()? {
        let journal = thread
            .map_or_else(|| Journal::named(&path), Ok)
            .and_then(|thread| Journal::load(&thread, &path));
        let settled = journal.and_then(|mut journal| {
            let commit = journal.loaded.abandoned(&journal.thread);
            let Some(commit) = commit else { return Ok(()) };
            journal.commit(commit).and_then(|()| journal.sync())
        });
        match settled {
            Err(StorageError::Corrupt { place, cause }) => {
                tracing::warn!(file = %path.display(), place, cause, "its questions are left as they are");
            }
            settled => settled?,
        }
    }
    folder.set_settled()
}

impl Writer {
    pub(super) fn new(
        folder: Arc<Folder>,
        synchronous: Synchronous,
        shared: Arc<Shared>,
    ) -> Result<Self, StorageError> {
        folder.clear()?;
        if !folder.is_settled() {
            settle(&folder)?;
        }
        let mut remembered = thread_list_cache::read(&folder);
        for (thread, path) in folder.journals()? {
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
            let known = remembered
                .remove(&thread)
                .filter(|((bytes, _), _)| *bytes == size);
            shared.found(thread, path, known);
        }
        Ok(Self {
            folder,
            synchronous,
            shared,
            open: HashMap::new(),
            unsynced: HashSet::new(),
        })
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

    pub(super) fn sync(&mut self) -> Result<(), StorageError> {
        let mut outcome = Ok(());
        for thread in std::mem::take(&mut self.unsynced) {
            if let Some(journal) = self.open.get_mut(&thread)
                && let Err(error) = journal.sync()
            {
                // What the file holds now is anybody's guess: it is read again.
                self.shared.replaced(&thread);
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
        for thread in self.open.keys() {
            self.shared.summarize(thread)?;
        }
        thread_list_cache::write(&self.folder, self.shared.remembered())
    }

    /// Returns the journal of a thread, reading it if need be.
    fn journal(&mut self, thread: &ThreadId) -> Result<&mut Journal, StorageError> {
        if !self.open.contains_key(thread) {
            let journal = match self.shared.take_over(thread) {
                Some(journal) => journal,
                None => {
                    let known = self.shared.file_of(thread).map(|(path, _)| path);
                    Journal::load(thread, &known.unwrap_or_else(|| self.folder.journal(thread)))?
                }
            };
            if let Err(error) = self.make_room(journal.weight) {
                self.forget(thread);
                return Err(error);
            }
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
        if journal.bytes() > 0 {
            self.shared.publish(&journal);
        }
        self.open.insert(journal.thread.clone(), journal);
    }

    /// Takes over what a reader brought into memory, and makes room for it.
    pub(super) fn take_over(&mut self, thread: &ThreadId) {
        if let Residence::Loaded(_) = self.shared.thread(thread)
            && let Err(error) = self.journal(thread)
        {
            passed_over(thread, &error);
        }
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
            self.shared.summarize(&thread)?;
            self.forget(&thread);
        }
        Ok(())
    }

    fn forget(&mut self, thread: &ThreadId) {
        self.open.remove(thread);
        self.shared.forget(thread);
    }

    /// Forgets a thread that is no longer stored.
    fn gone(&mut self, thread: &ThreadId) {
        self.open.remove(thread);
        self.unsynced.remove(thread);
        self.shared.gone(thread);
    }

    pub(super) fn commits(&mut self, commits: Vec<Commit>) -> Result<(), StorageError> {
        let shared = self.shared.clone();
        for mut commit in commits {
            let thread = commit.thread.clone();
            let claimed = match commit.claim.take() {
                Some(shown) => self.compare(&thread, &shown)?,
                None => None,
            };
            if commit.writes.is_empty() && commit.put.is_none() {
                if let Some(row) = claimed {
                    let is_stored = self.shared.file_of(&thread).is_some();
                    self.shared.claims().set(&thread, row, is_stored);
                }
                continue;
            }
            let journal = self.journal(&thread)?;
            let (before, asked) = (journal.bytes(), journal.loaded.asks());
            journal.commit(commit)?;
            if let Some(row) = claimed {
                shared.claims().set(&thread, row, true);
            }
            if journal.bytes() == before {
                continue;
            }
            if before > 0 && (asked || journal.loaded.asks()) {
                let loaded = journal.loaded.clone();
                self.shared.asks(&thread, &loaded);
            }
            self.unsynced.insert(thread.clone());
            if before == 0
                && let Some(journal) = self.open.get(&thread)
            {
                self.shared.publish(journal);
            }
        }
        Ok(())
    }

    /// Decides about something that shows a claim.
    pub(super) fn compare(
        &mut self,
        thread: &ThreadId,
        shown: &ClaimUse,
    ) -> Result<Option<ClaimRow>, StorageError> {
        let asks = shown.take.as_ref().is_some_and(|take| take.onto.is_some());
        let newest = match self.shared.file_of(thread) {
            Some(_) if asks => self.journal(thread)?.loaded.saver.newest(thread),
            _ => None,
        };
        self.shared.claims().compare(thread, shown, || newest)
    }

    pub(super) fn delete(&mut self, thread: &ThreadId) -> Result<(), StorageError> {
        // A damaged thread is deleted too, so it is not read.
        let Some((path, _)) = self.shared.file_of(thread) else {
            self.shared.claims().forget(thread);
            return Ok(());
        };
        self.open.remove(thread);
        Journal::remove_at(&path)?;
        self.gone(thread);
        Ok(())
    }

    /// Returns every thread, including what was committed before this call.
    pub(super) fn threads(&self) -> Vec<ThreadId> {
        self.shared.threads()
    }

    /// Returns the number of the file of a thread, if it has one.
    pub(super) fn file_of(&self, thread: &ThreadId) -> Option<u64> {
        self.shared.file_of(thread).map(|(_, file)| file)
    }

    /// Returns the current state of a thread, for a long operation beside the writer; `None` when there is no such
    /// thread.
    pub(super) fn begin(&mut self, thread: &ThreadId) -> Result<Option<Begun>, StorageError> {
        match self.shared.thread(thread) {
            Residence::Nothing => Ok(None),
            _ => self.begin_again(thread).map(Some),
        }
    }

    /// Returns the current state of a thread, even when nothing is stored in it yet.
    fn begin_again(&mut self, thread: &ThreadId) -> Result<Begun, StorageError> {
        let journal = self.journal(thread)?;
        journal.loaded.sound(thread)?;
        let (loaded, bytes) = (journal.loaded.clone(), journal.bytes());
        let path = journal.path().to_path_buf();
        Ok(Begun {
            thread: thread.clone(),
            file: self.shared.file_of(thread).map(|(_, file)| file),
            path,
            bytes,
            loaded,
        })
    }

    /// Returns the current state of the threads of a copy; `None` when there is nothing to do.
    pub(super) fn begin_copy(
        &mut self,
        from: &ThreadId,
        to: &ThreadId,
    ) -> Result<Option<(Begun, Begun)>, StorageError> {
        if from == to {
            return Ok(None);
        }
        let to = self.begin_again(to)?;
        Ok(self.begin(from)?.map(|from| (from, to)))
    }

    /// Puts a journal that was written beside another in its place, with what has come since then. False when somebody
    /// else has replaced or deleted it meanwhile: then nothing is done.
    pub(super) fn put_in_place(&mut self, mut rewrite: Rewrite) -> Result<bool, StorageError> {
        let thread = rewrite.begun.thread.clone();
        if self.shared.file_of(&thread).map(|(_, file)| file) != rewrite.begun.file {
            return Ok(false);
        }
        let journal = self.journal(&thread)?;
        journal.loaded.sound(&thread)?;
        if journal.bytes() < rewrite.begun.bytes || !rewrite.catch_up(journal)? {
            return Ok(false);
        }
        if rewrite.is_empty() {
            return self.delete(&thread).map(|()| true);
        }
        // The old file is closed first: not every system replaces an open one. Readers have what is in memory.
        self.open.remove(&thread);
        let placed = match rewrite.place() {
            Ok(journal) => journal,
            Err(error) => {
                self.forget(&thread);
                return Err(error);
            }
        };
        self.unsynced.remove(&thread);
        self.shared.replaced(&thread);
        self.take(placed);
        Ok(true)
    }

    /// Reads a damaged thread again, from the disk. With `repair`, what cannot be read is removed, and the answer is
    /// true when that was so.
    pub(super) fn read_again(&mut self, thread: &ThreadId, repair: bool) -> Result<bool, StorageError> {
        self.shared.replaced(thread);
        self.forget(thread);
        if let Residence::Nothing = self.shared.thread(thread) {
            return Ok(false);
        }
        let folder = self.folder.clone();
        let journal = self.journal(thread)?;
        if !repair || journal.loaded.damage.is_empty() {
            return Ok(false);
        }
        journal.keep_copy()?;
        let done = journal.repair(&folder);
        match self.open.remove(thread) {
            Some(journal) if !journal.is_empty() || !journal.loaded.damage.is_empty() => {
                self.shared.replaced(thread);
                self.take(journal);
            }
            _ => self.gone(thread),
        }
        done.map(|()| true)
    }
}
