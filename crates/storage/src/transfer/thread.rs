//! A thread on its way: read checkpoint by checkpoint, the oldest first, and stored in the same order.

use std::collections::{HashMap, HashSet};

use superstep::checkpoint::{
    Change, Checkpoint, CheckpointAddress, CheckpointHead, CheckpointTuple, Commit, ListQuery, Put,
    StorageError, TaskWrites, Write,
};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};

use super::{SkippedCheckpoint, TransferError};

/// Namespace and id of a checkpoint.
pub(super) type CheckpointPlace = (Name, CheckpointId);

/// Checkpoints that are stored together.
const MAX_AT_ONCE: usize = 64;

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
    held: HashMap<CheckpointPlace, Checkpoint>,
    /// How many continue each.
    awaited: HashMap<CheckpointPlace, usize>,
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
    left: Vec<CheckpointPlace>,
    pub(super) total: u64,
    parents: Parents,
    /// Set when checkpoints that cannot be read are left out.
    pub(super) skips_damage: bool,
    /// Those that were, and why.
    pub(super) skipped: Vec<SkippedCheckpoint>,
}

/// Orders checkpoints so that each comes after its parent: the first last, to be taken from the end. Ids of another
/// program's processes do not sort so by themselves, and its chains may even run in a circle.
fn after_parents(heads: Vec<CheckpointHead>) -> Vec<CheckpointPlace> {
    let mut index: HashMap<CheckpointPlace, usize> = HashMap::new();
    for (at, head) in heads.iter().enumerate() {
        index.insert((head.ns.clone(), head.id.clone()), at);
    }
    let parent = |at: usize| {
        let head = &heads[at];
        let place = (head.ns.clone(), head.parent.clone()?);
        index.get(&place).copied()
    };
    let (mut ordered, mut passed) = (Vec::with_capacity(heads.len()), HashSet::new());
    for oldest in (0..heads.len()).rev() {
        let (mut line, mut at) = (Vec::new(), Some(oldest));
        while let Some(next) = at.filter(|next| passed.insert(*next)) {
            line.push(next);
            at = parent(next);
        }
        ordered.extend(line.into_iter().rev());
    }
    let mut places: Vec<Option<CheckpointPlace>> =
        heads.into_iter().map(|head| Some((head.ns, head.id))).collect();
    ordered
        .into_iter()
        .rev()
        .filter_map(|at| places[at].take())
        .collect()
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
            left: after_parents(heads),
            parents,
            skips_damage: false,
            skipped: Vec::new(),
        })
    }

    /// Returns all that is still to come.
    pub(super) fn places(&self) -> HashSet<CheckpointPlace> {
        self.left.iter().cloned().collect()
    }

    /// Reads a checkpoint; `None` when there is none any more, or when it is left out.
    async fn read(&mut self, ns: &Name, id: &CheckpointId) -> Result<Option<CheckpointTuple>, TransferError> {
        let read = match self.saver.foreign() {
            Some(foreign) => {
                let at = CheckpointAddress::new(self.thread.clone(), ns.clone(), id.clone());
                foreign.portable(&at).await
            }
            None => self.saver.get(self.thread, ns, Some(id)).await,
        };
        match read {
            Err(StorageError::Corrupt { cause, .. }) if self.skips_damage => {
                self.skipped.push(SkippedCheckpoint {
                    id: id.clone(),
                    cause,
                });
                Ok(None)
            }
            read => Ok(read?),
        }
    }

    pub(super) fn done(&self) -> u64 {
        self.total - self.left.len() as u64
    }

    pub(super) async fn next(&mut self) -> Result<Option<(Parcel, Option<Checkpoint>)>, TransferError> {
        while let Some((ns, id)) = self.left.pop() {
            // A checkpoint that was pruned meanwhile is one that nobody wants to keep.
            let Some(tuple) = self.read(&ns, &id).await? else {
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
    // LangGraph's joins note who came without a new version.
    let met_more = |name: &Name| {
        let before = parent.and_then(|parent| parent.channel_values.get(name));
        name.starts_with("join:") && before != checkpoint.channel_values.get(name)
    };
    let versions = checkpoint.channel_versions.iter();
    let changes = versions
        .filter(|(name, now)| version(name) != Some(now) || met_more(name))
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

/// Stores checkpoints as a new thread, or leaves nothing behind; or adds what a copy has not.
pub(super) struct Writer<'a> {
    saver: &'a dyn Checkpointer,
    thread: &'a ThreadId,
    waiting: Vec<Commit>,
    stored: u64,
    /// Checkpoints that are there already.
    pub(super) known: HashSet<CheckpointPlace>,
}

impl<'a> Writer<'a> {
    pub(super) async fn open(
        saver: &'a dyn Checkpointer,
        thread: &'a ThreadId,
        original: Option<HashSet<CheckpointPlace>>,
    ) -> Result<Self, TransferError> {
        let mut query = ListQuery::new().thread(thread.clone());
        if original.is_none() {
            query = query.limit(1);
        }
        let heads = saver.heads(&query).await?.into_iter();
        let known: HashSet<CheckpointPlace> = heads.map(|head| (head.ns, head.id)).collect();
        // One that has gone a way of its own is no copy any more.
        if !known.is_empty() && !original.is_some_and(|original| known.is_subset(&original)) {
            return Err(TransferError::Taken(thread.clone()));
        }
        Ok(Self {
            saver,
            thread,
            waiting: Vec::new(),
            stored: 0,
            known,
        })
    }

    pub(super) async fn add(&mut self, parcel: Parcel) -> Result<(), TransferError> {
        let place = (parcel.ns.clone(), parcel.put.checkpoint.id.clone());
        if self.known.contains(&place) {
            return self.bring_on(parcel).await;
        }
        self.waiting.push(parcel.commit(self.thread));
        if self.waiting.len() >= MAX_AT_ONCE {
            self.flush().await?;
        }
        Ok(())
    }

    /// Adds what tasks of a checkpoint have stored since it was copied: answers, questions, ends.
    async fn bring_on(&mut self, mut parcel: Parcel) -> Result<(), TransferError> {
        let id = parcel.put.checkpoint.id.clone();
        let at = CheckpointAddress::new(self.thread.clone(), parcel.ns.clone(), id);
        let there = self.saver.writes_of(at).await?;
        for task in &mut parcel.writes {
            let is_there = |write: &Write| {
                (there.iter()).any(|known| known.task_id == task.task_id && known.write == *write)
            };
            task.writes.retain(|write| !is_there(write));
        }
        parcel.writes.retain(|task| !task.writes.is_empty());
        if !parcel.writes.is_empty() {
            let mut commit = parcel.commit(self.thread);
            commit.put = None;
            self.saver.commit_all(vec![commit]).await?;
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
        if done.is_err() && self.stored > 0 && self.known.is_empty() {
            // The reason why it failed says more than that tidying up failed too.
            if let Err(error) = self.saver.delete_thread(self.thread).await {
                tracing::warn!(thread = %self.thread, %error, "what was stored of it could not be removed");
            }
        }
        done.map(|()| self.stored)
    }
}
