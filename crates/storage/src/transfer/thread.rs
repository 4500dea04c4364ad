//! A thread on its way: read checkpoint by checkpoint, the oldest first, and stored in the same order.

use std::collections::HashMap;

use superstep::checkpoint::{Change, Checkpoint, Commit, ListQuery, Put, TaskWrites};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

use super::TransferError;

/// Checkpoints that are stored together.
const AT_ONCE: usize = 64;

/// A checkpoint on its way.
pub(super) struct Parcel {
    pub(super) put: Put,
    pub(super) ns: Name,
    pub(super) writes: Vec<TaskWrites>,
}

impl Parcel {
    fn commit(self, thread: &ThreadId) -> Commit {
        Commit {
            claim: None,
            thread: thread.clone(),
            ns: self.ns,
            writes: self.writes,
            put: Some(self.put),
        }
    }
}

/// Checkpoints that others continue, for as long as one of those is still to come.
#[derive(Default)]
struct Parents {
    held: HashMap<(Name, CheckpointId), Checkpoint>,
    /// How many continue each.
    awaited: HashMap<(Name, CheckpointId), usize>,
}

impl Parents {
    /// Takes the parent of a checkpoint, which is not requested again by this one.
    fn take(&mut self, ns: &Name, parent: Option<&CheckpointId>) -> Option<Checkpoint> {
        let place = (ns.clone(), parent?.clone());
        if let Some(count) = self.awaited.get_mut(&place)
            && *count > 1
        {
            *count -= 1;
            return self.held.get(&place).cloned();
        }
        self.held.remove(&place)
    }

    fn hold(&mut self, ns: &Name, checkpoint: &Checkpoint) {
        let place = (ns.clone(), checkpoint.id.clone());
        if self.awaited.contains_key(&place) {
            self.held.insert(place, checkpoint.clone());
        }
    }
}

/// Reader of a thread, the oldest checkpoint first.
pub(super) struct Reader<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    /// The newest first: they are taken from the end.
    left: Vec<(Name, CheckpointId)>,
    pub(super) total: u64,
    parents: Parents,
}

impl<'a> Reader<'a> {
    pub(super) async fn open(
        saver: &'a dyn Checkpointer,
        thread: &'a ThreadId,
    ) -> Result<Self, TransferError> {
        let heads = saver.heads(&ListQuery::new().thread(thread.clone())).await?;
        if heads.is_empty() {
            return Err(TransferError::NoThread(thread.clone()));
        }
        let mut parents = Parents::default();
        for head in &heads {
            if let Some(parent) = &head.parent {
                *parents
                    .awaited
                    .entry((head.ns.clone(), parent.clone()))
                    .or_default() += 1;
            }
        }
        Ok(Self {
            saver,
            thread,
            total: heads.len() as u64,
            left: heads.into_iter().map(|head| (head.ns, head.id)).collect(),
            parents,
        })
    }

    pub(super) fn done(&self) -> u64 {
        self.total - self.left.len() as u64
    }

    pub(super) async fn next(&mut self) -> Result<Option<(Parcel, Option<Checkpoint>)>, TransferError> {
        while let Some((ns, id)) = self.left.pop() {
            // A checkpoint that was pruned meanwhile is one that nobody wants to keep.
            let Some(tuple) = self.saver.get(self.thread, &ns, Some(&id)).await? else {
                continue;
            };
            let parent = self.parents.take(&ns, tuple.checkpoint.parent.as_ref());
            self.parents.hold(&ns, &tuple.checkpoint);
            let mut writes: Vec<TaskWrites> = Vec::new();
            for pending in tuple.pending_writes {
                match writes.last_mut().filter(|last| last.task_id == pending.task_id) {
                    Some(last) => last.writes.push(pending.write),
                    None => writes.push(TaskWrites {
                        checkpoint_id: id.clone(),
                        task_id: pending.task_id,
                        task_path: pending.task_path,
                        writes: vec![pending.write],
                    }),
                }
            }
            let put = put(tuple.checkpoint, parent.as_ref());
            return Ok(Some((Parcel { put, ns, writes }, parent)));
        }
        Ok(None)
    }
}

/// Builds a put from a checkpoint, with what it changes against its parent.
pub(super) fn put(checkpoint: Checkpoint, parent: Option<&Checkpoint>) -> Put {
    let version = |name: &Name| parent.and_then(|parent| parent.channel_versions.get(name));
    let versions = checkpoint.channel_versions.iter();
    let changes = versions
        .filter(|(name, now)| version(name) != Some(now))
        .map(|(name, _)| Change {
            channel: name.clone(),
            appended_from: appended_from(
                parent.and_then(|parent| parent.channel_values.get(name)),
                checkpoint.channel_values.get(name),
            ),
        })
        .collect();
    let seen = checkpoint
        .versions_seen
        .iter()
        .filter(|(node, now)| parent.and_then(|parent| parent.versions_seen.get(node)) != Some(now))
        .map(|(node, _)| node.clone())
        .collect();
    Put {
        checkpoint,
        changes,
        seen,
    }
}

fn appended_from(before: Option<&Value>, now: Option<&Value>) -> Option<usize> {
    match (before, now) {
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            let grown = before.len() <= now.len() && before.iter().zip(now.iter()).all(|(a, b)| alike(a, b));
            grown.then_some(before.len())
        }
        _ => None,
    }
}

/// Returns whether two values are equal. Items that a backend has read once are the same in memory, and need no look
/// inside.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.same(b) || a == b,
        (Value::Array(a), Value::Array(b)) => a.same(b) || a == b,
        (a, b) => a == b,
    }
}

/// Stores checkpoints as a new thread, or leaves nothing behind.
pub(super) struct Writer<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    waiting: Vec<Commit>,
    stored: u64,
}

impl<'a> Writer<'a> {
    pub(super) async fn open(
        saver: &'a dyn Checkpointer,
        thread: &'a ThreadId,
    ) -> Result<Self, TransferError> {
        let any = ListQuery::new().thread(thread.clone()).limit(1);
        if !saver.heads(&any).await?.is_empty() {
            return Err(TransferError::Taken(thread.clone()));
        }
        Ok(Self {
            saver,
            thread,
            waiting: Vec::new(),
            stored: 0,
        })
    }

    pub(super) async fn add(&mut self, parcel: Parcel) -> Result<(), TransferError> {
        self.waiting.push(parcel.commit(self.thread));
        if self.waiting.len() >= AT_ONCE {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), TransferError> {
        let commits = std::mem::take(&mut self.waiting);
        self.stored += commits.len() as u64;
        Ok(self.saver.commit_all(commits).await?)
    }

    /// Ends the work: what was begun is complete, or gone.
    pub(super) async fn end(mut self, done: Result<(), TransferError>) -> Result<u64, TransferError> {
        let done = match done {
            Ok(()) => self.flush().await,
            Err(error) => Err(error),
        };
        if done.is_err() && self.stored > 0 {
            // The reason why it failed says more than that tidying up failed too.
            if let Err(error) = self.saver.delete_thread(self.thread).await {
                tracing::warn!(thread = %self.thread, %error, "what was stored of it could not be removed");
            }
        }
        done.map(|()| self.stored)
    }
}
