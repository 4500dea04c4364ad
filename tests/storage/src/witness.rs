//! What a process that may be killed at any moment leaves for those who come after it.
//!
//! The journal is a file that outlives the process: a line is written in one call, after the fact that it states, so
//! what stands there has happened. The last line of a killed process may be torn; it is passed over.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    ChannelValues, Checkpoint, CheckpointAddress, CheckpointHead, CheckpointTuple, Commit, Coordination,
    ListQuery, Maintenance, PendingWrite, StorageError, TaskStatus, ThreadQuery, ThreadSummary,
};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

/// One line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Note {
    /// A task began its work.
    Began {
        /// Its thread.
        thread: ThreadId,
        /// Its id.
        task: String,
        /// What it is about to do.
        what: String,
    },
    /// A checkpoint is about to be stored.
    Storing {
        /// Its thread.
        thread: ThreadId,
        /// Its namespace.
        ns: Name,
        /// Its id.
        id: CheckpointId,
        /// The root checkpoint in which it was made, when it is one of a nested graph.
        owner: Option<CheckpointId>,
    },
    /// A checkpoint was acknowledged.
    Stored {
        /// Its thread.
        thread: ThreadId,
        /// Its namespace.
        ns: Name,
        /// Its id.
        id: CheckpointId,
        /// Its contents.
        print: u64,
    },
    /// Writes of a task were acknowledged.
    Wrote {
        /// Its thread.
        thread: ThreadId,
        /// Its namespace.
        ns: Name,
        /// The checkpoint it started from.
        id: CheckpointId,
        /// Its id.
        task: String,
        /// Do these writes say that it has finished?
        finished: bool,
        /// Each position with its contents.
        writes: Vec<(i32, u64)>,
    },
    /// All but this many of the newest checkpoints of each namespace are about to go.
    Pruning {
        /// Of this thread.
        thread: ThreadId,
        /// How many stay.
        newest: usize,
    },
    /// They are gone.
    Pruned {
        /// Of this thread.
        thread: ThreadId,
    },
    /// A thread is about to go.
    Deleting {
        /// This one.
        thread: ThreadId,
    },
    /// It is gone.
    Deleted {
        /// This one.
        thread: ThreadId,
    },
    /// A thread is about to be copied.
    Copying {
        /// From here.
        from: ThreadId,
        /// To there.
        to: ThreadId,
    },
    /// It is copied.
    Copied {
        /// From here.
        from: ThreadId,
        /// To there.
        to: ThreadId,
    },
    /// An item of the store is about to be put, or, without a number, deleted.
    Putting {
        /// Its key.
        key: String,
        /// What it holds.
        n: Option<u64>,
    },
    /// That was acknowledged.
    Put {
        /// Its key.
        key: String,
        /// What it holds.
        n: Option<u64>,
    },
    /// Something happened in the runs of a thread.
    Of {
        /// This.
        fact: Fact,
        /// The thread.
        thread: ThreadId,
    },
    /// A thread is not as it should be.
    Broken {
        /// The thread.
        thread: ThreadId,
        /// How.
        what: String,
    },
}

/// Event in the runs of a thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Fact {
    /// A run begins.
    Begins {
        /// Effects may be done again: its policy or an answer says so.
        again: bool,
        /// It stores nothing before its end.
        exit: bool,
    },
    /// A run stopped before a node whose effect was done on another branch.
    Stopped,
    /// A run from a checkpoint of the past came to its end.
    Replayed,
    /// A run lost its thread to another one.
    Superseded,
    /// A turn ended with the state that it should have.
    Turned {
        /// The case of the turn: equal in all replays of it.
        case: u64,
        /// The act that the state names; 0 for none.
        paid: u64,
    },
    /// Something was done that must not be done twice.
    Acted {
        /// For this case.
        case: u64,
        /// Number of the act; no other has it.
        act: u64,
    },
    /// A person answers that the work of a case was done: the run goes on without its result.
    Vouched {
        /// The case.
        case: u64,
    },
    /// A question waits.
    Asks {
        /// Its id.
        id: String,
    },
    /// An answer is about to be given.
    Answering {
        /// The question.
        id: String,
        /// The task that asks.
        task: String,
        /// The answer.
        answer: String,
    },
    /// The run that was given an answer came to an end.
    Answered {
        /// The question.
        id: String,
        /// The answer.
        answer: String,
    },
    /// A node was given an answer.
    Received {
        /// Its task.
        task: String,
        /// The answer.
        answer: String,
    },
    /// A commit with a claim is about to be made.
    Showing {
        /// Number of the commit in its process.
        commit: u64,
    },
    /// It was acknowledged.
    Shown {
        /// Number of the commit in its process.
        commit: u64,
        /// The claim.
        claim: String,
        /// The commit took the claim.
        takes: bool,
    },
}

/// The journal, open for writing.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Continues the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    /// Writes a line.
    ///
    /// # Panics
    /// When the file cannot be written: a witness that is silent proves nothing.
    pub fn note(&self, note: &Note) {
        let mut line = serde_json::to_vec(note).expect("a note is JSON");
        // The first line break ends what a killed process left torn.
        line.insert(0, b'\n');
        line.push(b'\n');
        (&self.file).write_all(&line).expect("the journal can be written");
    }
}

impl Journal {
    /// Returns whether the act of a case was done, as a person sees who looks at the outside world.
    pub fn has_acted(&self, thread: &ThreadId, case: u64) -> io::Result<bool> {
        let bytes = std::fs::read(&self.path)?;
        let acts = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| line.starts_with(br#"{"Of":{"fact":{"Acted""#))
            .filter_map(|line| serde_json::from_slice(line).ok());
        Ok(acts.into_iter().any(|note| match note {
            Note::Of {
                fact: Fact::Acted { case: acted, .. },
                thread: of,
            } => of == *thread && acted == case,
            _ => false,
        }))
    }

    /// Writes a line about the runs of a thread.
    pub fn fact(&self, thread: &ThreadId, fact: Fact) {
        let thread = thread.clone();
        self.note(&Note::Of { fact, thread });
    }
}

/// Reads the lines of a journal beginning at `from`, and says where they end.
pub fn read(path: &Path, from: usize) -> io::Result<(Vec<Note>, usize)> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other?,
    };
    let lines = bytes.get(from..).unwrap_or_default().split(|byte| *byte == b'\n');
    Ok((
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect(),
        bytes.len(),
    ))
}

/// Returns a number that equal checkpoints share.
pub fn print_of(checkpoint: &Checkpoint) -> u64 {
    hash(&format!("{checkpoint:?}"))
}

/// Returns a number that equal values share.
pub fn print_of_value(value: &Value) -> u64 {
    hash(&value.to_string())
}

fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// A backend whose acknowledgements are noted.
#[derive(Debug)]
pub struct Witness {
    backend: Arc<dyn Checkpointer>,
    journal: Arc<Journal>,
    commits: AtomicU64,
}

impl Witness {
    /// Notes what `backend` acknowledges.
    pub fn new(backend: Arc<dyn Checkpointer>, journal: Arc<Journal>) -> Self {
        Self {
            backend,
            journal,
            commits: AtomicU64::new(0),
        }
    }

    /// Notes what the commits are about to store; gives what is to be noted once they are acknowledged.
    fn announce(&self, commits: &[Commit]) -> Vec<Note> {
        let mut after = Vec::new();
        for commit in commits {
            intent(commit).iter().for_each(|note| self.journal.note(note));
            after.extend(notes(commit));
            let Some(shown) = &commit.claim else { continue };
            let number = self.commits.fetch_add(1, Ordering::Relaxed);
            after.push(Note::Of {
                fact: Fact::Shown {
                    commit: number,
                    claim: shown.claim.to_string(),
                    takes: shown.take.is_some(),
                },
                thread: commit.thread.clone(),
            });
            self.journal
                .fact(&commit.thread, Fact::Showing { commit: number });
        }
        after
    }
}

/// Returns the note to write before the commit: pruning counts the commit, whether it is acknowledged or not.
fn intent(commit: &Commit) -> Option<Note> {
    let checkpoint = &commit.put.as_ref()?.checkpoint;
    let owner = checkpoint.metadata.parents.get("").and_then(|id| id.as_str());
    Some(Note::Storing {
        thread: commit.thread.clone(),
        ns: commit.ns.clone(),
        id: checkpoint.id.clone(),
        owner: owner.map(CheckpointId::from),
    })
}

/// Returns the notes to write once the commit is acknowledged.
fn notes(commit: &Commit) -> Vec<Note> {
    let stored = commit.put.iter().map(|put| Note::Stored {
        thread: commit.thread.clone(),
        ns: commit.ns.clone(),
        id: put.checkpoint.id.clone(),
        print: print_of(&put.checkpoint),
    });
    let wrote = commit.writes.iter().map(|task| Note::Wrote {
        thread: commit.thread.clone(),
        ns: commit.ns.clone(),
        id: task.checkpoint_id.clone(),
        task: task.task_id.to_string(),
        finished: TaskStatus::of(&task.task_id, task.writes.iter().map(|write| &*write.channel)).finished,
        writes: task
            .writes
            .iter()
            .map(|write| (write.idx, print_of_value(&write.value)))
            .collect(),
    });
    stored.chain(wrote).collect()
}

#[async_trait]
impl Checkpointer for Witness {
    // Written out so that the backend is called at once, as it is by the engine.
    fn commit<'life0, 'async_trait>(
        &'life0 self,
        commit: Commit,
    ) -> BoxFuture<'async_trait, Result<(), StorageError>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let notes = self.announce(std::slice::from_ref(&commit));
        let stored = self.backend.commit(commit);
        Box::pin(async move {
            stored.await?;
            notes.iter().for_each(|note| self.journal.note(note));
            Ok(())
        })
    }
    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        let notes = self.announce(&commits);
        self.backend.commit_all(commits).await?;
        notes.iter().for_each(|note| self.journal.note(note));
        Ok(())
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.backend.get(thread, ns, id).await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.backend.list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.backend.heads(query).await
    }
    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        self.backend.values(thread, ns, id, keys).await
    }
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.backend.threads(query).await
    }
    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        self.backend.count_threads(query).await
    }
    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        self.backend.writes(of).await
    }
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        // Who prunes notes it: only that place knows by which rule the journal is to be read.
        self.backend.maintenance()
    }
    fn coordination(&self) -> Option<&dyn Coordination> {
        self.backend.coordination()
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let thread = thread.clone();
        self.journal.note(&Note::Deleting {
            thread: thread.clone(),
        });
        self.backend.delete_thread(&thread).await?;
        self.journal.note(&Note::Deleted { thread });
        Ok(())
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let (from, to) = (from.clone(), to.clone());
        self.journal.note(&Note::Copying {
            from: from.clone(),
            to: to.clone(),
        });
        self.backend.copy_thread(&from, &to).await?;
        self.journal.note(&Note::Copied { from, to });
        Ok(())
    }
}
