//! The trait that a backend implements.
//!
//! A saver must store commits, list what it stored and delete threads; everything else is made of that, and a backend that
//! can do better says so. Beside it a backend may offer [`Coordination`], by which several programs share it, and
//! [`Maintenance`], which keeps it in order. One that only reads what another program stores offers [`Foreign`].
//!
//! ```
//! # use std::sync::{Arc, Mutex};
//! # use superstep::*;
//! # use superstep::checkpoint::*;
//! # use superstep::inspect::*;
//! # use superstep::store::*;
//! /// Keeps checkpoints in a list.
//! #[derive(Debug, Default)]
//! struct Rows(Mutex<Vec<CheckpointTuple>>);
//!
//! #[async_trait::async_trait]
//! impl Checkpointer for Rows {
//!     async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
//!         commit.apply(&mut self.0.lock().unwrap())
//!     }
//!     async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
//!         Ok(query.select(&self.0.lock().unwrap()))
//!     }
//!     async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
//!         self.0.lock().unwrap().retain(|row| row.thread != *thread);
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let asks = |context: NodeContext, _: Value| async move {
//!     let answer = context.interrupt("Is it so?")?;
//!     Ok(NodeOutput::update([("answer", answer)]))
//! };
//! let graph = StateGraph::new()
//!     .channel("answer", ChannelSpec::last_value())
//!     .node("asks", asks)
//!     .edge(START, "asks")
//!     .compile()?
//!     .with_checkpointer(Arc::new(Rows::default()));
//! let run = graph.invoke(Input::value(json!({"answer": "unknown"})), RunConfig::on("case 1")).await?;
//! assert_eq!(run.interrupts.len(), 1);
//! let run = graph.invoke(Input::answer("yes"), RunConfig::on("case 1")).await?;
//! assert_eq!(run.value, json!({"answer": "yes"}));
//! // What needs more than a saver must do is refused.
//! let latest = Pruning::threads(["case 1".into()], Keep::Latest);
//! let refused = graph.prune(&latest).await.unwrap_err().to_string();
//! assert!(refused.contains("not supported by this backend"), "{refused}");
//! # Ok(()) }
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;

use async_trait::async_trait;

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::claim::Coordination;
use crate::checkpoint::foreign::Foreign;
use crate::checkpoint::maintenance::{Integrity, Maintenance, Pruning, Removal, ThreadBreakdown, Usage};
use crate::checkpoint::progress::Progress;
use crate::checkpoint::task_record::{TaskRecord, records_of};
use crate::checkpoint::threads::{ThreadQuery, ThreadSummary};
use crate::checkpoint::types::{
    Change, ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, Commit, ListQuery,
    PendingWrite, Put, StorageError, TaskStatus, TaskWrites,
};
use crate::value::Value;

/// Storage of checkpoints. `commit` is ordered per thread: a later call is never visible before an earlier one.
#[async_trait]
#[doc(alias = "BaseCheckpointSaver")]
pub trait Checkpointer: Debug + Send + Sync {
    /// Stores task writes and a checkpoint as one unit. Returns when they are durable as the backend defines it.
    async fn commit(&self, commit: Commit) -> Result<(), StorageError>;
    /// Reads whole checkpoints, newest first.
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError>;
    /// Removes a thread with everything in it; a missing one is no error.
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError>;

    /// Returns the coordination of several programs on one database, if the backend offers it. Without it, runs have no
    /// claims.
    fn coordination(&self) -> Option<&dyn Coordination> {
        None
    }
    /// Returns the maintenance of the database, if the backend offers it.
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        None
    }

    /// Returns what is known of threads that another program makes, for a saver that only reads its database.
    fn foreign(&self) -> Option<&dyn Foreign> {
        None
    }

    /// Stores several commits in their order, best as one transaction. After one that fails nothing later may be
    /// stored; what came before it may be undone with it.
    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        for commit in commits {
            self.commit(commit).await?;
        }
        Ok(())
    }
    /// Reads the checkpoint with `id`, or the newest of the namespace.
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(ns)
            .id(id.cloned())
            .limit(1);
        Ok(self.list(&query).await?.into_iter().next())
    }
    /// Reads checkpoints without values, newest first. Backends decode no value for it.
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let found = self.list(query).await?;
        Ok(found.into_iter().map(CheckpointTuple::into_head).collect())
    }
    /// Reads the values of some keys of a checkpoint, or of the newest of the namespace; `None` when there is no such
    /// checkpoint. A key without a value is left out.
    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let found = self.get(thread, ns, id).await?;
        Ok(found.map(|tuple| {
            let values = &tuple.checkpoint.channel_values;
            keys.iter()
                .filter_map(|key| Some((key.clone(), values.get(key)?.clone())))
                .collect()
        }))
    }
    /// Reads checkpoints with the values of some keys, newest first. Every other key that has a value has null instead,
    /// for which backends need not decode anything.
    async fn heads_with(
        &self,
        query: &ListQuery,
        keys: &[Name],
    ) -> Result<Vec<(CheckpointHead, ChannelValues)>, StorageError> {
        let found = self.list(query).await?.into_iter().map(|tuple| {
            let all = tuple.checkpoint.channel_values.iter();
            let values = all.map(|(name, value)| match keys.contains(name) {
                true => (name.clone(), value.clone()),
                false => (name.clone(), Value::Null),
            });
            let values = values.collect();
            (tuple.into_head(), values)
        });
        Ok(found.collect())
    }
    /// Reads the pending writes of checkpoints, in the order of `of`; those of each are ordered by (task path, task id,
    /// idx), and empty when there is no such checkpoint.
    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let mut all = Vec::with_capacity(of.len());
        for CheckpointAddress { thread, ns, id } in of {
            let found = self.get(thread, ns, Some(id)).await?;
            all.push(found.map(|tuple| tuple.pending_writes).unwrap_or_default());
        }
        Ok(all)
    }
    /// Lists threads with a root checkpoint, the one with the newest head first.
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let mut found = summaries(self.list(&roots(None)).await?);
        found.retain(|summary| query.matches(summary));
        found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }
    /// Reads one thread as lists show it; `None` when it has no root checkpoint.
    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        Ok(summaries(self.list(&roots(Some(thread))).await?).pop())
    }
    /// Counts the threads that match; `after` and `limit` are ignored.
    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let all = query.clone().after(None).limit(None);
        Ok(self.threads(&all).await?.len() as u64)
    }
    /// Copies every checkpoint, namespace and write to another thread; a missing source is no error. What the other
    /// thread has already stays as it is.
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let of = |thread: &ThreadId| ListQuery::new().thread(thread.clone());
        let there = self.heads(&of(to)).await?;
        let there: HashSet<(Name, CheckpointId)> = there.into_iter().map(|head| (head.ns, head.id)).collect();
        let source = self.list(&of(from)).await?.into_iter().rev();
        let missing =
            source.filter(|tuple| !there.contains(&(tuple.ns.clone(), tuple.checkpoint.id.clone())));
        self.commit_all(missing.map(|tuple| tuple.into_commit(to)).collect())
            .await
    }
}

/// What [`Maintenance`] does, refused with [`StorageError::Unsupported`] by a saver that offers none.
impl dyn Checkpointer + '_ {
    fn maintained(&self, what: &'static str) -> Result<&dyn Maintenance, StorageError> {
        self.maintenance().ok_or(StorageError::Unsupported(what))
    }

    /// Calls [`Maintenance::prune`].
    pub async fn prune(&self, pruning: &Pruning) -> Result<Removal, StorageError> {
        self.prune_watched(pruning, &Progress::default()).await
    }

    /// Calls [`Maintenance::prune_watched`].
    pub async fn prune_watched(
        &self,
        pruning: &Pruning,
        progress: &Progress,
    ) -> Result<Removal, StorageError> {
        let maintenance = self.maintained("removing the past of a thread")?;
        maintenance.prune_watched(pruning, progress).await
    }

    /// Calls [`Maintenance::usage`].
    pub async fn usage(&self) -> Result<Usage, StorageError> {
        self.maintained("measuring what is stored")?.usage().await
    }

    /// Calls [`Maintenance::breakdown`].
    pub async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        self.maintained("measuring what a thread takes")?
            .breakdown(thread)
            .await
    }

    /// Calls [`Maintenance::verify`].
    pub async fn verify(&self, repair: bool) -> Result<Integrity, StorageError> {
        self.verify_watched(repair, &Progress::default()).await
    }

    /// Calls [`Maintenance::verify_watched`].
    pub async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let maintenance = self.maintained("checking what is stored")?;
        maintenance.verify_watched(repair, progress).await
    }

    /// Reads the pending writes of one checkpoint.
    pub async fn writes_of(&self, checkpoint: CheckpointAddress) -> Result<Vec<PendingWrite>, StorageError> {
        let mut found = self.writes(std::slice::from_ref(&checkpoint)).await?;
        Ok(found.pop().unwrap_or_default())
    }
}

fn roots(thread: Option<&ThreadId>) -> ListQuery {
    let mut query = ListQuery::new().ns("");
    query.thread = thread.cloned();
    query
}

/// Builds the summaries of threads from their root checkpoints, the newest first.
fn summaries(roots: Vec<CheckpointTuple>) -> Vec<ThreadSummary> {
    let mut threads: BTreeMap<ThreadId, ThreadSummary> = BTreeMap::new();
    for tuple in roots {
        let (thread, head) = (tuple.thread.clone(), tuple.into_head());
        let summary = threads.entry(thread.clone()).or_insert_with(|| ThreadSummary {
            thread,
            created: String::new(),
            checkpoints: 0,
            head: head.clone(),
        });
        summary.created = head.ts;
        summary.checkpoints += 1;
    }
    threads.into_values().collect()
}

/// What a saver that keeps whole checkpoints is made of.
impl Commit {
    /// Applies the commit to stored checkpoints, or refuses it and leaves them as they are. The claim is not looked at.
    pub fn apply(self, stored: &mut Vec<CheckpointTuple>) -> Result<(), StorageError> {
        let Commit {
            thread,
            ns,
            writes,
            put,
            ..
        } = self;
        let place = |stored: &[CheckpointTuple], id: &CheckpointId| {
            let is_it =
                |row: &CheckpointTuple| row.thread == thread && row.ns == ns && row.checkpoint.id == *id;
            stored.iter().position(is_it)
        };
        let new = put.as_ref().map(|put| put.checkpoint.id.clone());
        let is_known = |task: &&TaskWrites| {
            Some(&task.checkpoint_id) == new.as_ref() || place(stored, &task.checkpoint_id).is_some()
        };
        if let Some(orphan) = writes.iter().find(|task| !is_known(task)) {
            return Err(StorageError::orphan(&thread, orphan));
        }
        if let Some(put) = put.filter(|put| place(stored, &put.checkpoint.id).is_none()) {
            stored.push(CheckpointTuple {
                thread: thread.clone(),
                ns: ns.clone(),
                checkpoint: put.checkpoint,
                pending_writes: Vec::new(),
            });
        }
        for task in writes {
            if let Some(place) = place(stored, &task.checkpoint_id) {
                stored[place].add(task);
            }
        }
        Ok(())
    }
}

impl CheckpointTuple {
    /// Returns what the tasks read and decided, by task, where their run recorded it.
    pub fn records(&self) -> impl Iterator<Item = (&TaskId, TaskRecord)> {
        records_of(&self.pending_writes)
    }

    /// Adds what a task wrote: rows with `idx < 0` replace an earlier row, others are kept if already there.
    pub fn add(&mut self, task: TaskWrites) {
        for write in task.writes {
            let row = PendingWrite {
                task_id: task.task_id.clone(),
                task_path: task.task_path.clone(),
                write,
            };
            let key = |row: &PendingWrite| (row.task_path.clone(), row.task_id.clone(), row.write.idx);
            match self.pending_writes.binary_search_by_key(&key(&row), key) {
                Ok(place) if row.write.idx < 0 => self.pending_writes[place] = row,
                Ok(_) => {}
                Err(place) => self.pending_writes.insert(place, row),
            }
        }
    }

    /// Converts the checkpoint to one without its values.
    pub fn into_head(self) -> CheckpointHead {
        let mut tasks: BTreeMap<&TaskId, Vec<&str>> = BTreeMap::new();
        for row in &self.pending_writes {
            tasks.entry(&row.task_id).or_default().push(&row.write.channel);
        }
        let (mut interrupted, mut failed) = (0, 0);
        for (task, channels) in tasks {
            let status = TaskStatus::of(task, channels);
            interrupted += u32::from(status.interrupted);
            failed += u32::from(status.failed);
        }
        let checkpoint = self.checkpoint;
        CheckpointHead {
            ns: self.ns,
            id: checkpoint.id,
            parent: checkpoint.parent,
            ts: checkpoint.ts,
            metadata: checkpoint.metadata,
            next: checkpoint.next,
            updated_channels: checkpoint.updated_channels,
            interrupted,
            failed,
        }
    }

    /// Converts the checkpoint to a commit that stores all of it in another thread.
    pub fn into_commit(self, thread: &ThreadId) -> Commit {
        let checkpoint = self.checkpoint;
        let mut writes: Vec<TaskWrites> = Vec::new();
        for row in self.pending_writes {
            match writes.last_mut().filter(|last| last.task_id == row.task_id) {
                Some(last) => last.writes.push(row.write),
                None => writes.push(TaskWrites {
                    checkpoint_id: checkpoint.id.clone(),
                    task_id: row.task_id,
                    task_path: row.task_path,
                    writes: vec![row.write],
                }),
            }
        }
        let changes = checkpoint.channel_versions.keys().map(|channel| Change {
            channel: channel.clone(),
            appended_from: None,
        });
        Commit {
            thread: thread.clone(),
            ns: self.ns,
            writes,
            put: Some(Put {
                changes: changes.collect(),
                seen: checkpoint.versions_seen.keys().cloned().collect(),
                checkpoint,
            }),
            claim: None,
        }
    }
}

impl ListQuery {
    /// Returns those of these checkpoints that the query lists.
    pub fn select(&self, stored: &[CheckpointTuple]) -> Vec<CheckpointTuple> {
        let is_wanted = |row: &&CheckpointTuple| {
            let id = &row.checkpoint.id;
            self.thread.as_ref().is_none_or(|thread| *thread == row.thread)
                && self.ns.as_ref().is_none_or(|ns| *ns == row.ns)
                && self.id.as_ref().is_none_or(|wanted| wanted == id)
                && self.before.as_ref().is_none_or(|before| id < before)
                && row.checkpoint.metadata.matches(&self.filter)
        };
        let mut found: Vec<&CheckpointTuple> = stored.iter().filter(is_wanted).collect();
        found.sort_by(|a, b| {
            (b.checkpoint.id.cmp(&a.checkpoint.id)).then_with(|| (&a.thread, &a.ns).cmp(&(&b.thread, &b.ns)))
        });
        let limit = self.limit.unwrap_or(usize::MAX);
        found.into_iter().take(limit).cloned().collect()
    }
}
