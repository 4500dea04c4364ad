//! Threads and long-term memory that another program has open, as a saver and a store: a program without a way of its own
//! to a folder of threads does with it what any other backend does. Each operation is a call of one command; the other end
//! does it and knows nothing of what it is for.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Integrity, ListQuery, Maintenance, PendingWrite, Progress, Pruning, Removal, StorageError,
    ThreadBreakdown, ThreadQuery, ThreadSummary, Usage, Waiting, WaitingQuery,
};
use superstep::store::{ItemPlace, NewVectors, Outdated};
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp};
use superstep::{CheckpointId, Checkpointer, Name, Store, ThreadId};
use tokio::sync::Mutex;

use super::Peer;
use crate::Workbench;
use crate::wire::{Json, Problem};
use superstep_document::text;

/// The command of a call that carries an operation. It is for programs, and no host has a route for it.
pub(crate) const COMMAND: &str = "storage.do";

/// An operation of a saver or a store.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", content = "with", rename_all = "camelCase")]
enum Operation {
    Commit(Vec<Commit>),
    List(ListQuery),
    Heads(ListQuery),
    Get(ThreadId, Name, Option<CheckpointId>),
    Values(ThreadId, Name, Option<CheckpointId>, Vec<Name>),
    Writes(Vec<CheckpointAddress>),
    Threads(ThreadQuery),
    Thread(ThreadId),
    CountThreads(ThreadQuery),
    CopyThread(ThreadId, ThreadId),
    DeleteThread(ThreadId),
    Claims(Vec<ThreadId>),
    Waiting(WaitingQuery),
    CountWaiting,
    DeleteClaimed(ThreadId, ClaimRequest),
    Prune(Pruning),
    Usage,
    Lens(ThreadId),
    Verify { repair: bool },
    Items(Vec<StoreOp>),
    Sweep,
    Outdated(Option<ItemPlace>, usize),
    Renew(Vec<NewVectors>),
}

impl Operation {
    /// Returns whether the operation changes anything; `false` for one that only reads.
    fn changes(&self) -> bool {
        match self {
            Operation::Commit(_)
            | Operation::CopyThread(..)
            | Operation::DeleteThread(_)
            | Operation::DeleteClaimed(..)
            | Operation::Sweep
            | Operation::Renew(_) => true,
            Operation::Prune(pruning) => !pruning.dry_run,
            Operation::Verify { repair } => *repair,
            Operation::Items(ops) => ops.iter().any(|op| matches!(op, StoreOp::Put { .. })),
            _ => false,
        }
    }
}

/// Result of an operation.
type OperationResult = Result<Json, StoreError>;

fn storage(what: &str, cause: impl fmt::Display) -> StorageError {
    StorageError::Backend {
        what: what.to_owned(),
        cause: cause.to_string(),
        remedy: "Try again, or close the program that has the threads open and do this again".to_owned(),
    }
}

fn json<T: Serialize>(answer: Result<T, impl Into<StoreError>>) -> OperationResult {
    let answer = answer.map_err(Into::into)?;
    Ok(serde_json::to_value(answer).map_err(|error| storage("Answering another program failed", error))?)
}

impl Workbench {
    /// Executes an operation for another program.
    pub(crate) async fn storage_for(self: &Arc<Self>, request: Json) -> Result<Json, Problem> {
        let operation: Operation = serde_json::from_value(request).map_err(|error| {
            Problem::invalid(text!(
                "The operation is not understood: {error}.",
                error = error.to_string()
            ))
        })?;
        let this = self.clone();
        // It is done to its end, also when the other program goes away.
        let done = tokio::spawn(async move {
            let changes = operation.changes();
            let outcome = this.operate(operation).await;
            if changes {
                this.programs.changes.note_handed();
            }
            outcome
        });
        let outcome = done.await.map_err(|error| {
            Problem::new(
                "internal",
                text!("The operation broke off: {error}.", error = error.to_string()),
            )
        })?;
        serde_json::to_value(&outcome).or_else(|_| {
            // One of the few errors that name something of this program.
            let refused =
                outcome.map_err(|error| StoreError::from(storage("The other program refused", error)));
            serde_json::to_value(&refused).map_err(|error| {
                Problem::new(
                    "internal",
                    text!(
                        "The answer cannot be written: {error}.",
                        error = error.to_string()
                    ),
                )
            })
        })
    }

    async fn operate(&self, operation: Operation) -> OperationResult {
        let (saver, store) = (self.saver(), self.store());
        let index = || {
            let index = saver.coordination();
            index.ok_or(StorageError::Unsupported("asking who runs a thread"))
        };
        match operation {
            Operation::Commit(commits) => json(saver.commit_all(commits).await),
            Operation::List(query) => json(saver.list(&query).await),
            Operation::Heads(query) => json(saver.heads(&query).await),
            Operation::Get(thread, ns, id) => json(saver.get(&thread, &ns, id.as_ref()).await),
            Operation::Values(thread, ns, id, keys) => {
                json(saver.values(&thread, &ns, id.as_ref(), &keys).await)
            }
            Operation::Writes(of) => json(saver.writes(&of).await),
            Operation::Threads(query) => json(saver.threads(&query).await),
            Operation::Thread(thread) => json(saver.thread(&thread).await),
            Operation::CountThreads(query) => json(saver.count_threads(&query).await),
            Operation::CopyThread(from, to) => json(saver.copy_thread(&from, &to).await),
            Operation::DeleteThread(thread) => json(saver.delete_thread(&thread).await),
            Operation::Claims(threads) => json(index()?.claims(&threads).await),
            Operation::Waiting(query) => json(saver.waiting(&query).await),
            Operation::CountWaiting => json(saver.count_waiting().await),
            Operation::DeleteClaimed(thread, by) => {
                json(superstep::checkpoint::delete_thread(&*saver, &thread, &by).await)
            }
            Operation::Prune(pruning) => json(saver.prune(&pruning).await),
            Operation::Usage => json(saver.usage().await),
            Operation::Lens(thread) => json(saver.breakdown(&thread).await),
            Operation::Verify { repair } => json(saver.verify(repair).await),
            Operation::Items(ops) => json(store.batch(ops).await),
            Operation::Sweep => json(store.sweep().await),
            Operation::Outdated(after, limit) => json(store.outdated(after, limit).await),
            Operation::Renew(items) => json(store.replace_vectors(items).await),
        }
    }
}

/// The threads and the memory that another program has open.
#[derive(Debug)]
pub struct Remote {
    program: Peer,
    config: StoreConfig,
    /// Commits are applied in the order in which they were called.
    commits: Mutex<()>,
}

impl Remote {
    /// Creates the storage of this program; `config` says how memory is searched there.
    pub fn of(program: Peer, config: StoreConfig) -> Self {
        Self {
            program,
            config,
            commits: Mutex::new(()),
        }
    }

    async fn operate<T: DeserializeOwned>(&self, operation: Operation) -> Result<T, StoreError> {
        let program = &self.program.hello().program;
        let failed = |cause: String| storage(&format!("Asking {program} failed"), cause);
        let request = serde_json::to_value(operation).map_err(|error| failed(error.to_string()))?;
        let answer = self.program.call(COMMAND, request).await;
        let answer = answer.map_err(|problem| failed(problem.message))?;
        let outcome: OperationResult =
            serde_json::from_value(answer).map_err(|error| failed(error.to_string()))?;
        Ok(serde_json::from_value(outcome?).map_err(|error| failed(error.to_string()))?)
    }

    async fn saved<T: DeserializeOwned>(&self, operation: Operation) -> Result<T, StorageError> {
        self.operate(operation).await.map_err(|error| match error {
            StoreError::Storage(error) => error,
            other => storage("The other program refused", other),
        })
    }
}

#[async_trait]
impl Checkpointer for Remote {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        self.commit_all(vec![commit]).await
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        let _in_order = self.commits.lock().await;
        self.saved(Operation::Commit(commits)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.saved(Operation::List(query.clone())).await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.saved(Operation::Heads(query.clone())).await
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let operation = Operation::Get(thread.clone(), ns.into(), id.cloned());
        self.saved(operation).await
    }

    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let operation = Operation::Values(thread.clone(), ns.into(), id.cloned(), keys.to_vec());
        self.saved(operation).await
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        self.saved(Operation::Writes(of.to_vec())).await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.saved(Operation::Threads(query.clone())).await
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        self.saved(Operation::Thread(thread.clone())).await
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        self.saved(Operation::CountThreads(query.clone())).await
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.saved(Operation::CopyThread(from.clone(), to.clone())).await
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.saved(Operation::DeleteThread(thread.clone())).await
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[async_trait]
impl Coordination for Remote {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        self.saved(Operation::Claims(threads.to_vec())).await
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        self.saved(Operation::Waiting(query.clone())).await
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.saved(Operation::CountWaiting).await
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let operation = Operation::DeleteClaimed(thread.clone(), by.clone());
        self.saved(operation).await
    }
}

#[async_trait]
impl Maintenance for Remote {
    // How far it is, is not reported on the way, and what has begun is not stopped.
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        progress.at(0, 1)?;
        self.saved(Operation::Prune(pruning.clone())).await
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        self.saved(Operation::Usage).await
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        self.saved(Operation::Lens(thread.clone())).await
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        progress.at(0, 1)?;
        self.saved(Operation::Verify { repair }).await
    }
}

#[async_trait]
impl Store for Remote {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        self.operate(Operation::Items(ops)).await
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        self.operate(Operation::Sweep).await
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        self.operate(Operation::Outdated(after, limit)).await
    }

    async fn replace_vectors(&self, items: Vec<NewVectors>) -> Result<u64, StoreError> {
        self.operate(Operation::Renew(items)).await
    }
}
