//! When commits reach the backend: at once, in the background, or at the end of the run.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::graph_version::GraphVersion;
use crate::checkpoint::run_claim::{ClaimTurn, KeepAlive, RunClaim};
use crate::checkpoint::types::{Checkpoint, Commit, Put, StorageError, TaskWrites, reserved};
use crate::stream::error::RunError;
use crate::stream::metrics::{Activity, Busy, Meter};
use crate::stream::request::Durability;

/// Time at which something is handed to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreTime {
    /// Now.
    AtOnce,
    /// Together with the next checkpoint, in one transaction.
    WithNext,
}

/// A request to the worker that stores commits.
enum PersistRequest {
    Commit(Box<Commit>),
    Flush(oneshot::Sender<Result<(), StorageError>>),
}

/// Sender of a run's commits to its backend, in order. Commits that need not be awaited at once go through a worker, so
/// that tasks keep running meanwhile.
pub(crate) struct Persister {
    saver: Arc<dyn Checkpointer>,
    thread: ThreadId,
    ns: Name,
    pub(crate) durability: Durability,
    worker: Option<mpsc::Sender<PersistRequest>>,
    /// Task writes that wait for the checkpoint of their step.
    held: Vec<TaskWrites>,
    /// Withdrawals of questions, which go with the next commit.
    withdrawn: Vec<TaskWrites>,
    /// A checkpoint that is stored with the next one.
    ahead: Option<Commit>,
    /// With `Exit`: the newest checkpoint.
    last: Option<Put>,
    /// With `Exit`: writes to delta keys, which are rebuilt from what is stored on the checkpoint before.
    deltas: Vec<TaskWrites>,
    /// What carries them when the thread has no checkpoint before.
    stub: Option<Checkpoint>,
    /// The claim of the run, which the outermost graph takes, renews and ends.
    claim: Option<Arc<RunClaim>>,
    keep_alive: Option<KeepAlive>,
    meter: Option<Meter>,
    /// The version of the graph, which goes with the first commit where the thread does not keep it.
    version: Option<Commit>,
}

/// Commits that may wait for the backend before the run waits too: with `Async`, what a crash can take.
const QUEUE: usize = 256;

/// Stores what is queued. Commits that came while an earlier one was being stored go to the backend together, so that
/// a fast loop pays for one transaction where a careful one pays for many.
async fn store(
    saver: Arc<dyn Checkpointer>,
    claim: Option<Arc<RunClaim>>,
    mut orders: mpsc::Receiver<PersistRequest>,
) {
    let mut failed = None;
    let mut waiting = Vec::new();
    while orders.recv_many(&mut waiting, QUEUE).await > 0 {
        let mut commits = Vec::new();
        let mut flushes = Vec::new();
        for order in waiting.drain(..) {
            match order {
                PersistRequest::Commit(commit) => commits.push(*commit),
                PersistRequest::Flush(done) => flushes.push(done),
            }
        }
        // After a failure nothing later may be stored: the thread would have a hole.
        if failed.is_none() && !commits.is_empty() {
            failed = saver.commit_all(commits).await.err();
            if let (Some(error), Some(claim)) = (&failed, &claim) {
                claim.unstored(error);
            }
        }
        // Who flushes waits for the answer, so that no commit can be queued behind a flush.
        for done in flushes {
            let _ = done.send(failed.clone().map_or(Ok(()), Err));
        }
    }
}

impl Persister {
    pub(crate) fn new(
        saver: Arc<dyn Checkpointer>,
        thread: ThreadId,
        ns: Name,
        durability: Durability,
        claim: Option<Arc<RunClaim>>,
        meter: Option<Meter>,
    ) -> Self {
        Self {
            saver,
            thread,
            ns,
            durability,
            worker: None,
            held: Vec::new(),
            withdrawn: Vec::new(),
            ahead: None,
            last: None,
            deltas: Vec::new(),
            stub: None,
            claim,
            keep_alive: None,
            meter,
            version: None,
        }
    }

    /// Keeps the version of the graph with the run's first commit.
    pub(crate) fn keep_version(&mut self, version: &GraphVersion, id: CheckpointId, ts: String) {
        self.version = Some(version.commit(&self.thread, id, ts));
    }

    /// Returns whether the backend has this thread of the version.
    pub(crate) async fn has_version(&self, version: &GraphVersion) -> Result<bool, RunError> {
        let _waits = self.waits();
        Ok(GraphVersion::is_kept(&*self.saver, &self.thread, &version.id).await?)
    }

    /// Creates a commit, which takes this turn with the claim of the run.
    fn commit(&self, writes: Vec<TaskWrites>, put: Option<Put>, turn: ClaimTurn) -> Commit {
        // A nested graph does not end the claim of the run.
        let turn = if self.is_root() { turn } else { ClaimTurn::GoesOn };
        let commit = Commit {
            thread: self.thread.clone(),
            ns: self.ns.clone(),
            writes,
            put,
            claim: self.claim.as_ref().map(|claim| claim.shown(turn)),
        };
        if let Some(meter) = &self.meter {
            meter.commit(&commit);
        }
        commit
    }

    fn is_root(&self) -> bool {
        self.ns.is_empty()
    }

    /// Stores commits where it is.
    async fn store_here(&mut self, mut commits: Vec<Commit>) -> Result<(), RunError> {
        commits.extend(self.version.take());
        let stored = match <[Commit; 1]>::try_from(commits) {
            Ok([commit]) => self.saver.commit(commit).await,
            Err(commits) => self.saver.commit_all(commits).await,
        };
        if let (Err(error), Some(claim)) = (&stored, &self.claim) {
            claim.unstored(error);
        }
        Ok(stored?)
    }

    /// Waits until the thread is the run's: before that none of its nodes may begin.
    pub(crate) async fn secure(&mut self) -> Result<(), RunError> {
        let Some(claim) = self.claim.clone().filter(|claim| !claim.is_settled()) else {
            return Ok(());
        };
        self.catch_up().await?;
        if claim.is_new() {
            let _waits = self.waits();
            self.store_here(vec![claim.commit(ClaimTurn::GoesOn)]).await?;
        }
        self.settle().await?;
        if claim.is_open() {
            self.keep_alive = Some(claim.hold());
        }
        Ok(())
    }

    /// Counts time until the guard is dropped as the backend's, unless nodes work meanwhile.
    fn waits(&self) -> Option<Busy> {
        self.meter.as_ref().map(|meter| meter.enter(Activity::Storage))
    }

    /// Takes the writes of a finished task. They are stored at once while other tasks of the step are running, and
    /// with the step's checkpoint otherwise: one transaction for a step of one task.
    pub(crate) async fn task(&mut self, writes: TaskWrites, time: StoreTime) -> Result<(), RunError> {
        self.held.push(writes);
        if time == StoreTime::AtOnce && self.durability != Durability::Exit {
            let _waits = self.waits();
            let commit = self.take_held(None, ClaimTurn::GoesOn);
            self.enqueue(commit).await?;
        }
        Ok(())
    }

    /// Withdraws a question of another checkpoint, or of the one that is left, as soon as the next commit is stored.
    pub(crate) fn withdraw(&mut self, withdrawal: TaskWrites) {
        self.withdrawn.push(withdrawal);
    }

    /// Stores what waits for its step's checkpoint, because other tasks of the step take longer.
    pub(crate) async fn release(&mut self) -> Result<(), RunError> {
        if self.held.is_empty() || self.durability == Durability::Exit {
            return Ok(());
        }
        let _waits = self.waits();
        let commit = self.take_held(None, ClaimTurn::GoesOn);
        self.enqueue(commit).await
    }

    fn take_held(&mut self, put: Option<Put>, turn: ClaimTurn) -> Commit {
        let mut writes = std::mem::take(&mut self.withdrawn);
        writes.append(&mut self.held);
        self.commit(writes, put, turn)
    }

    /// Stores a new checkpoint, with the writes that led to it. One that may wait is stored with the next one, in one
    /// transaction.
    pub(crate) async fn checkpoint(&mut self, put: Put, time: StoreTime) -> Result<(), RunError> {
        let _waits = self.waits();
        // Where nothing runs next the run has come to its end.
        let turn = match time {
            StoreTime::AtOnce if put.checkpoint.next.is_empty() => ClaimTurn::Ends,
            _ => ClaimTurn::GoesOn,
        };
        match self.durability {
            Durability::Exit => {
                self.close_step();
                self.keep_last(put);
                Ok(())
            }
            Durability::Async => {
                let commit = self.take_held(Some(put), turn);
                self.enqueue(commit).await
            }
            Durability::Sync => {
                let commit = self.take_held(Some(put), turn);
                if self.worker.is_some() {
                    self.enqueue(commit).await?;
                    self.flush().await
                } else if time == StoreTime::WithNext {
                    self.ahead = Some(commit);
                    Ok(())
                } else if let Some(before) = self.ahead.take() {
                    self.store_here(vec![before, commit]).await
                } else {
                    self.store_here(vec![commit]).await
                }
            }
        }
    }

    /// Stores a checkpoint that waits for the next one: a node is to run, and it may take long.
    pub(crate) async fn catch_up(&mut self) -> Result<(), RunError> {
        match self.ahead.take() {
            None => Ok(()),
            Some(before) => {
                let _waits = self.waits();
                self.store_here(vec![before]).await
            }
        }
    }

    /// Drops the answer that the run was given, with `Exit`: it was used, so it is not stored for a later question.
    pub(crate) fn forget_answer(&mut self) {
        if self.durability == Durability::Exit {
            for record in self.held.iter_mut().filter(|record| record.task_id.is_null()) {
                record.writes.retain(|write| &*write.channel != reserved::RESUME);
            }
            self.held.retain(|record| !record.writes.is_empty());
        }
    }

    /// Drops the held writes when a step has ended, with `Exit`: what its tasks wrote is in the state.
    pub(crate) fn close_step(&mut self) {
        self.held.clear();
    }

    /// Keeps the newest checkpoint, with `Exit`, to be stored when the run ends.
    pub(crate) fn keep_last(&mut self, put: Put) {
        self.last = Some(put);
    }

    /// Returns whether this run's first checkpoint is still to come, with nothing before it.
    pub(crate) fn needs_stub(&self) -> bool {
        self.durability == Durability::Exit && self.stub.is_none() && self.last.is_none()
    }

    /// Keeps an empty checkpoint, stored only if there are writes to delta keys that need one to be stored on.
    pub(crate) fn keep_stub(&mut self, stub: Checkpoint) {
        self.stub = Some(stub);
    }

    /// Keeps a step's writes to delta keys until the run ends.
    pub(crate) fn keep_delta(&mut self, writes: TaskWrites) {
        self.deltas.push(writes);
    }

    /// Returns whether everything waits for the end of the run.
    pub(crate) fn waits_for_end(&self) -> bool {
        self.durability == Durability::Exit
    }

    /// Stores everything so far before it returns, also what waited for the end of the run.
    pub(crate) async fn finish(&mut self) -> Result<(), RunError> {
        let _waits = self.waits();
        if let Some(mut put) = self.last.take() {
            let mut deltas = std::mem::take(&mut self.deltas);
            let whole = &put.checkpoint.channel_values;
            for task in &mut deltas {
                task.writes.retain(|write| !whole.contains_key(&write.channel));
            }
            deltas.retain(|task| !task.writes.is_empty());
            if !deltas.is_empty() {
                if let (None, Some(stub)) = (&put.checkpoint.parent, self.stub.take()) {
                    put.checkpoint.parent = Some(stub.id.clone());
                    let stub = Put {
                        checkpoint: stub,
                        changes: Vec::new(),
                        seen: Vec::new(),
                    };
                    let commit = self.commit(Vec::new(), Some(stub), ClaimTurn::GoesOn);
                    self.enqueue(commit).await?;
                }
                let anchor = put.checkpoint.parent.clone();
                for (task, anchor) in deltas.iter_mut().zip(std::iter::repeat(anchor)) {
                    task.checkpoint_id = anchor.unwrap_or_else(|| put.checkpoint.id.clone());
                }
            }
            deltas.append(&mut self.withdrawn);
            let turn = match self.held.is_empty() {
                true => ClaimTurn::Ends,
                false => ClaimTurn::GoesOn,
            };
            let commit = self.commit(deltas, Some(put), turn);
            self.enqueue(commit).await?;
        }
        if !self.held.is_empty() || !self.withdrawn.is_empty() {
            let commit = self.take_held(None, ClaimTurn::Ends);
            self.enqueue(commit).await?;
        }
        self.catch_up().await?;
        self.end_claim().await?;
        self.flush().await
    }

    /// Ends the claim of the run, where no commit has.
    async fn end_claim(&mut self) -> Result<(), RunError> {
        if !self.is_root() {
            return Ok(());
        }
        self.keep_alive = None;
        match self
            .claim
            .clone()
            .filter(|claim| claim.is_open() && claim.lost().is_none())
        {
            Some(claim) if self.worker.is_some() => self.enqueue(claim.commit(ClaimTurn::Ends)).await,
            Some(claim) => self.store_here(vec![claim.commit(ClaimTurn::Ends)]).await,
            None => Ok(()),
        }
    }

    /// Waits until everything that was handed over so far is stored.
    pub(crate) async fn settle(&mut self) -> Result<(), RunError> {
        let _waits = self.waits();
        self.flush().await
    }

    async fn flush(&mut self) -> Result<(), RunError> {
        let Some(worker) = &self.worker else { return Ok(()) };
        let (done, wait) = oneshot::channel();
        if worker.send(PersistRequest::Flush(done)).await.is_ok()
            && let Ok(result) = wait.await
        {
            result?;
        }
        Ok(())
    }

    async fn enqueue(&mut self, commit: Commit) -> Result<(), RunError> {
        let worker = self.worker.get_or_insert_with(|| {
            let (sender, orders) = mpsc::channel(QUEUE);
            tokio::spawn(store(self.saver.clone(), self.claim.clone(), orders));
            sender
        });
        let first = self.ahead.take().into_iter();
        for commit in first.chain([commit]).chain(self.version.take()) {
            // The worker ends only when this sender is dropped, so sending cannot fail while it lives.
            let _ = worker.send(PersistRequest::Commit(Box::new(commit))).await;
        }
        Ok(())
    }
}
