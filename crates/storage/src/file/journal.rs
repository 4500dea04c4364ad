//! The journal of one thread, and what it adds up to.
//!
//! The journal is the truth; the thread in memory is what its lines add up to. A line is a commit, so a commit is
//! there as a whole or not at all. A checkpoint is a change of its parent, which stands before it; now and then one
//! is written whole, so that a damaged line does not cost everything after it.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, Commit, Coordination, Damage, ListQuery, Put, Source, StorageError,
    Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Checkpointer, MemorySaver, Name, ThreadId};

use super::folder::{Folder, failed, keep_copy, sync_folder};
use super::line::{lines, put_line, read_line, read_text, text_of};
use super::rewrite;
use crate::base::presence;
use crate::base::quarantine::withdrawals;
use crate::codec::plain::{JournalEntry, Task, read_back, written_out};

/// Layout of a journal.
const SCHEMA: u32 = 1;
/// Checkpoints of a damaged thread that are named.
const NAMED: usize = 5;
/// Changes before which no checkpoint is written whole...
const CHANGES: u32 = 8;
/// ...and how many times the weight of the last whole one they must have.
const RATIO: u64 = 4;

/// A line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JournalLine {
    /// The first.
    Journal { schema: u32, thread: ThreadId },
    /// Any other.
    Commit(Box<JournalEntry>),
}

/// A thread in memory. Readers hold on to it while the writer goes on or forgets it.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) saver: MemorySaver,
    /// Lines that could not be read.
    pub(super) damage: Vec<Damage>,
    /// When it was last asked for, on the backend's own clock.
    pub(super) used: AtomicU64,
    /// Bytes of the journal's lines that are in it.
    bytes: AtomicU64,
    /// How many checkpoints it has, in every namespace.
    checkpoints: AtomicU64,
}

impl Loaded {
    /// Returns the number of bytes of the journal's lines that are loaded.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    fn stands_at(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Release);
    }

    /// Returns the number of checkpoints, in every namespace.
    pub(super) fn checkpoints(&self) -> u64 {
        self.checkpoints.load(Ordering::Relaxed)
    }

    /// Returns whether a question of the outermost graph is waiting.
    pub(super) fn asks(&self) -> bool {
        let count = self.saver.count_waiting().now_or_never();
        count.and_then(Result::ok).is_some_and(|count| count > 0)
    }

    /// Returns the checkpoints whose questions are waiting.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let waiting = self.saver.waiting(&WaitingQuery::default()).now_or_never();
        waiting.and_then(Result::ok).unwrap_or_default()
    }

    /// Creates the commit that withdraws the questions that a new input came after.
    pub(super) fn abandoned(&self, thread: &ThreadId) -> Option<Commit> {
        let waiting = self.waiting();
        if waiting.is_empty() {
            return None;
        }
        let root = ListQuery::new()
            .ns("")
            .filter([("source", Source::Input.as_str())].into_iter().collect());
        let inputs = self.saver.heads(&root).now_or_never()?.ok()?;
        let after: HashSet<CheckpointId> = inputs.into_iter().filter_map(|head| head.parent).collect();
        let mut writes = Vec::new();
        for asked in waiting.iter().filter(|asked| after.contains(&asked.checkpoint)) {
            let address = CheckpointAddress::new(thread.clone(), "", asked.checkpoint.clone());
            let pending = self.saver.writes(&[address]).now_or_never()?.ok()?;
            writes.extend(withdrawals(&asked.checkpoint, &pending.concat()));
        }
        (!writes.is_empty()).then(|| Commit {
            claim: None,
            thread: thread.clone(),
            ns: "".into(),
            writes,
            put: None,
        })
    }

    /// Reads a checkpoint of the thread.
    pub(super) fn read(&self, thread: &ThreadId, ns: &str, id: &CheckpointId) -> Option<Checkpoint> {
        let found = self.saver.get(thread, ns, Some(id)).now_or_never()?;
        Some(found.ok()??.checkpoint)
    }

    /// Checks that no line is damaged; otherwise returns the error for anyone who asks for something that a damaged
    /// line may have contained.
    pub(super) fn sound(&self, thread: &ThreadId) -> Result<(), StorageError> {
        match self.damage.first() {
            None => Ok(()),
            Some(damage) => Err(StorageError::Corrupt {
                place: format!("Thread {thread}"),
                cause: format!(
                    "{}. {}; a repair removes what is lost",
                    damage.what,
                    self.readable()
                ),
            }),
        }
    }

    /// Returns which checkpoints can still be read, for anyone who cannot list them.
    fn readable(&self) -> String {
        let newest = ListQuery::new().ns("").limit(NAMED + 1);
        let heads = self
            .saver
            .heads(&newest)
            .now_or_never()
            .and_then(Result::ok)
            .unwrap_or_default();
        let named: Vec<&str> = heads.iter().take(NAMED).map(|head| head.id.as_str()).collect();
        match (named.is_empty(), heads.len() > NAMED) {
            (true, _) => "None of its checkpoints can be read".to_owned(),
            (false, more) => format!(
                "These checkpoints can be read one by one: {}{}",
                named.join(", "),
                if more { " and older ones" } else { "" }
            ),
        }
    }
}

/// Weight of a checkpoint's chain of changes, which decides how the checkpoint is written.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    changes: u32,
    bytes: u64,
    whole: u64,
}

/// The file of a thread, as the writer sees it.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) thread: ThreadId,
    path: PathBuf,
    /// Opened for the first commit.
    file: Option<File>,
    /// The disk may not have the name of the file yet.
    unnamed: bool,
    /// Bytes of sound lines; what stands behind them is cut off before the next line.
    bytes: u64,
    /// Bytes of their text, which is about what the thread takes in memory.
    pub(super) weight: u64,
    chains: HashMap<Name, HashMap<CheckpointId, Chain>>,
    pub(super) loaded: Arc<Loaded>,
}

impl Journal {
    /// Reads the journal; without a file, a thread in which nothing is.
    pub(super) fn load(thread: &ThreadId, path: &Path) -> Result<Self, StorageError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed("reading", path, &error)),
        };
        Ok(Self::of(thread, path, &bytes))
    }

    /// Parses a file with this text.
    pub(super) fn of(thread: &ThreadId, path: &Path, text: &[u8]) -> Self {
        let mut journal = Self {
            thread: thread.clone(),
            path: path.to_path_buf(),
            file: None,
            unnamed: text.is_empty(),
            bytes: 0,
            weight: 0,
            chains: HashMap::new(),
            loaded: Arc::default(),
        };
        journal.take_in(text);
        journal
    }

    /// Takes in the lines of a text that follows what it has, before anybody else sees the thread.
    pub(super) fn take_in(&mut self, text: &[u8]) {
        let mut damage = Vec::new();
        let (lines, finished) = lines(text);
        for (number, line) in lines {
            let record = text_of(line).and_then(|text| {
                self.weight += text.len() as u64;
                read_text(&text)
            });
            let read = record.and_then(|record| match record {
                JournalLine::Commit(entry) => self.replay(*entry, line.len() as u64, !damage.is_empty()),
                JournalLine::Journal { schema, .. } if schema > SCHEMA => Err(format!(
                    "it has schema {schema}, this release reads up to {SCHEMA}"
                )),
                JournalLine::Journal { .. } => Ok(()),
            });
            if let Err(cause) = read {
                damage.push(Damage {
                    thread: Some(self.thread.clone()),
                    what: format!("line {number} of {} cannot be used: {cause}", self.path.display()),
                    repair: Some("What it holds is removed; a copy of the file is kept beside it".to_owned()),
                });
            }
        }
        if finished < text.len() {
            let bytes = text.len() - finished;
            tracing::info!(file = %self.path.display(), bytes, "an unfinished commit is cut off");
        }
        self.bytes += finished as u64;
        self.loaded.stands_at(self.bytes);
        if let Some(loaded) = Arc::get_mut(&mut self.loaded) {
            loaded.damage.extend(damage);
        }
    }

    /// Returns the journal's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes of the journal's sound lines.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the thread whose journal this is, for a name too long for a file name.
    pub(super) fn named(path: &Path) -> Result<ThreadId, StorageError> {
        let bytes = fs::read(path).map_err(|error| failed("reading", path, &error))?;
        let first = lines(&bytes).0.next();
        let record = first
            .ok_or("it is empty".to_owned())
            .and_then(|(_, line)| read_line(line));
        match record {
            Ok(JournalLine::Journal { thread, .. }) => Ok(thread),
            Ok(JournalLine::Commit(_)) => Err("the thread is not named".to_owned()),
            Err(cause) => Err(cause),
        }
        .map_err(|cause| StorageError::Corrupt {
            place: format!("The first line of {}", path.display()),
            cause,
        })
    }

    /// Adds what a line says to the thread in memory. After damage, what belongs to it goes with it.
    fn replay(&mut self, entry: JournalEntry, bytes: u64, damaged: bool) -> Result<(), String> {
        let ns = entry.ns;
        let put = match entry.put {
            Some(record) => {
                let whole = !record.continues;
                let parent = self.parent(&ns, record.head.parent.as_ref());
                Some((read_back(record, parent.as_ref())?, whole))
            }
            None => None,
        };
        let new = put.as_ref().map(|(checkpoint, _)| checkpoint.id.clone());
        let writes = entry.writes.into_iter().map(Task::into_writes);
        let writes = writes.filter(|task| {
            // Its checkpoint stood on a line that is lost.
            !damaged || Some(&task.checkpoint_id) == new.as_ref() || self.has(&ns, &task.checkpoint_id)
        });
        let commit = Commit {
            claim: None,
            thread: self.thread.clone(),
            ns: ns.clone(),
            writes: writes.collect(),
            put: put.as_ref().map(|(checkpoint, _)| Put {
                checkpoint: checkpoint.clone(),
                changes: Vec::new(),
                seen: Vec::new(),
            }),
        };
        self.remember(commit).map_err(|error| error.to_string())?;
        if let Some((checkpoint, whole)) = put {
            self.link(&ns, &checkpoint, whole, bytes);
        }
        Ok(())
    }

    fn remember(&self, commit: Commit) -> Result<(), StorageError> {
        // Memory never waits.
        self.loaded.saver.commit(commit).now_or_never().unwrap_or(Ok(()))
    }

    fn parent(&self, ns: &Name, parent: Option<&CheckpointId>) -> Option<Checkpoint> {
        parent.and_then(|parent| self.loaded.read(&self.thread, ns, parent))
    }

    fn has(&self, ns: &Name, id: &CheckpointId) -> bool {
        self.chains.get(ns).is_some_and(|space| space.contains_key(id))
    }

    fn chain(&self, ns: &Name, id: Option<&CheckpointId>) -> Option<Chain> {
        self.chains.get(ns)?.get(id?).copied()
    }

    fn link(&mut self, ns: &Name, checkpoint: &Checkpoint, whole: bool, bytes: u64) {
        let chain = match self.chain(ns, checkpoint.parent.as_ref()) {
            Some(before) if !whole => Chain {
                changes: before.changes + 1,
                bytes: before.bytes + bytes,
                whole: before.whole,
            },
            _ => Chain {
                whole: bytes,
                ..Chain::default()
            },
        };
        let space = self.chains.entry(ns.clone()).or_default();
        if space.insert(checkpoint.id.clone(), chain).is_none() {
            self.loaded.checkpoints.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns whether the journal is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.chains.values().all(HashMap::is_empty)
    }

    /// Stores a commit: first in the file, then in memory.
    pub(super) fn commit(&mut self, mut commit: Commit) -> Result<(), StorageError> {
        self.loaded.sound(&self.thread)?;
        let new = commit.put.as_ref().map(|put| put.checkpoint.id.clone());
        for task in &commit.writes {
            if Some(&task.checkpoint_id) != new.as_ref() && !self.has(&commit.ns, &task.checkpoint_id) {
                return Err(StorageError::orphan(&self.thread, task));
            }
        }
        let stored = new.as_ref().is_some_and(|id| self.has(&commit.ns, id));
        if stored {
            commit.put = None;
        }
        if commit.put.is_none() && commit.writes.is_empty() {
            return Ok(());
        }
        let mut whole = true;
        let record = commit.put.as_ref().map(|put| {
            let parent = put.checkpoint.parent.as_ref();
            let heavy = |chain: Chain| chain.changes >= CHANGES && chain.bytes >= RATIO * chain.whole;
            let light = self.chain(&commit.ns, parent).is_some_and(|chain| !heavy(chain));
            let parent = light.then(|| self.parent(&commit.ns, parent)).flatten();
            whole = parent.is_none();
            written_out(put, parent.as_ref())
        });
        let entry = JournalEntry {
            ns: commit.ns.clone(),
            writes: commit.writes.iter().map(Task::of).collect(),
            put: record,
        };
        entry.readable(&self.thread)?;
        let bytes = self.append(entry)?;
        if let Some(put) = &commit.put {
            self.link(&commit.ns, &put.checkpoint, whole, bytes);
        }
        let done = self.remember(commit);
        // After it is there: what readers note of the thread is at least of this.
        self.loaded.stands_at(self.bytes);
        done
    }

    fn append(&mut self, entry: JournalEntry) -> Result<u64, StorageError> {
        let mut text = Vec::new();
        let unwritable = |cause| StorageError::Backend {
            what: format!("storing a checkpoint of thread {}", self.thread),
            cause,
            remedy: "Write a value that JSON can express".to_owned(),
        };
        if self.bytes == 0 {
            put_line(&mut text, &first(&self.thread)).map_err(unwritable)?;
        }
        let weight = put_line(&mut text, &JournalLine::Commit(Box::new(entry))).map_err(unwritable)?;
        let path = self.path.clone();
        let error = |error| failed("writing to", &path, &error);
        let whole = self.bytes;
        let file = self.open().map_err(error)?;
        if let Err(cause) = file.write_all(&text) {
            // What is left of the line would be cut off at the next opening; if it cannot be cut now, it is then.
            if file.set_len(whole).is_err() {
                self.file = None;
            }
            return Err(error(cause));
        }
        if let Err(gone) = presence::require_open(file, &path) {
            self.file = None;
            return Err(gone);
        }
        self.bytes += text.len() as u64;
        self.weight += weight as u64;
        Ok(text.len() as u64)
    }

    fn open(&mut self) -> std::io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                // One that was there before is not made again: it would be without its past.
                let new = self.bytes == 0;
                let file = OpenOptions::new().append(true).create(new).open(&self.path)?;
                let found = file.metadata()?.len();
                if found < self.bytes {
                    return Err(std::io::Error::other("it is shorter than what was stored in it"));
                }
                if found > self.bytes {
                    file.set_len(self.bytes)?;
                }
                file
            }
        };
        Ok(self.file.insert(file))
    }

    /// Waits until the disk has what was written.
    pub(super) fn sync(&mut self) -> Result<(), StorageError> {
        let Some(file) = &self.file else { return Ok(()) };
        let named = |()| {
            if self.unnamed {
                sync_folder(&self.path)
            } else {
                Ok(())
            }
        };
        let synced = file.sync_data().and_then(named);
        synced.map_err(|error| failed("writing to", &self.path, &error))?;
        self.unnamed = false;
        Ok(())
    }

    /// Rewrites the journal with what can be read of it; without a checkpoint in it, the file goes.
    pub(super) fn repair(&mut self, folder: &Folder) -> Result<(), StorageError> {
        let bytes = fs::read(&self.path).map_err(|error| failed("reading", &self.path, &error))?;
        let gone = |ns: &Name, id: &CheckpointId| !self.has(ns, id);
        let source = rewrite::RewriteSource {
            path: &self.path,
            thread: &self.thread,
            loaded: &self.loaded,
            left_out: &gone,
            strange: &|_, _| false,
        };
        let mut text = Vec::new();
        source.copy(&mut text, &self.thread, &bytes, &|| Ok(()))?;
        self.file = None;
        folder.replace(&self.path, &text)?;
        *self = Self::load(&self.thread, &self.path)?;
        if self.is_empty() {
            Self::remove_at(&self.path)?;
            self.bytes = 0;
        }
        Ok(())
    }

    /// Keeps a copy of the damaged file beside it.
    pub(super) fn keep_copy(&self) -> Result<PathBuf, StorageError> {
        keep_copy(&self.path)
    }

    /// Removes the file of a journal.
    pub(super) fn remove_at(path: &Path) -> Result<(), StorageError> {
        match fs::remove_file(path).and_then(|()| sync_folder(path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(failed("deleting", path, &error))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the first line of the journal of a thread.
pub(super) fn first(thread: &ThreadId) -> JournalLine {
    JournalLine::Journal {
        schema: SCHEMA,
        thread: thread.clone(),
    }
}
