//! What keeps a database in order: what takes space, what could go, and whether what is stored is sound.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;

use async_trait::async_trait;

use serde::{Deserialize, Serialize};

use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::progress::Progress;
use crate::checkpoint::types::{Metadata, StorageError};

/// Maintenance of a database. Optional: runs need none of it, and calls to a saver without it fail
/// ([`StorageError::Unsupported`]).
#[async_trait]
pub trait Maintenance: Debug + Send + Sync {
    /// Removes checkpoints with their writes, and says what went.
    async fn prune(&self, pruning: &Pruning) -> Result<Removal, StorageError> {
        self.prune_watched(pruning, &Progress::default()).await
    }
    /// Removes checkpoints, and says meanwhile how far it is. When it is stopped, every thread is either as it was or
    /// done; a backend with transactions leaves all as they were.
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError>;
    /// Measures the size of everything that is stored.
    async fn usage(&self) -> Result<Usage, StorageError>;
    /// Measures the size of each key and each checkpoint of a thread.
    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError>;
    /// Reads everything, and with `repair` puts right what can be: a checkpoint that cannot be read is removed, and
    /// what continues it goes on without a past. Nothing that can be read is removed.
    async fn verify(&self, repair: bool) -> Result<Integrity, StorageError> {
        self.verify_watched(repair, &Progress::default()).await
    }
    /// Reads everything, and says meanwhile how far it is. When it is stopped, every thread is either as it was or
    /// repaired.
    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError>;
}

/// Part of a thread that [`Pruning`] keeps. Each namespace is considered by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Keep {
    /// The newest checkpoint of each namespace, with its writes.
    Latest,
    /// The newest checkpoint of each branch: everything that no other checkpoint continues.
    Branches,
    /// This many of the newest checkpoints of each namespace.
    Newest(usize),
    /// Nothing.
    Nothing,
}

/// Checkpoints that a [`Pruning`] applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// The past of these threads.
    Threads(Vec<ThreadId>, Keep),
    /// The checkpoints whose metadata names one of these runs as `run_id`, in every thread and namespace.
    Runs(Vec<String>),
}

impl Scope {
    /// Returns each of the threads once, in order: one that is named twice is removed, and counted, once.
    pub fn distinct(threads: &[ThreadId]) -> Vec<ThreadId> {
        let mut threads = threads.to_vec();
        threads.sort();
        threads.dedup();
        threads
    }
}

/// Request to remove checkpoints. What is kept reads as before; its parent may be gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pruning {
    /// Which checkpoints.
    pub scope: Scope,
    /// Checkpoints that stay whatever the scope says: bookmarks, and what others are rebuilt from.
    pub retain: Vec<CheckpointId>,
    /// Namespaces of nested runs of which nothing stays but what is retained, because the checkpoint that they belong to
    /// goes, and of versions of graphs that nothing which stays was run by: [`prune`](crate::inspect::prune) fills it in.
    pub ended: HashSet<(ThreadId, Name)>,
    /// Only say what would go.
    pub dry_run: bool,
}

impl Pruning {
    /// Creates a pruning of this scope.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            retain: Vec::new(),
            ended: HashSet::new(),
            dry_run: false,
        }
    }

    /// Creates a pruning of the past of threads.
    pub fn threads(threads: impl IntoIterator<Item = ThreadId>, keep: Keep) -> Self {
        Self::new(Scope::Threads(threads.into_iter().collect(), keep))
    }

    /// Creates a pruning of what runs wrote.
    pub fn runs(runs: impl IntoIterator<Item = String>) -> Self {
        Self::new(Scope::Runs(runs.into_iter().collect()))
    }

    /// Sets a dry run: nothing is removed; the report states what would be.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Adds checkpoints that are kept.
    pub fn retain(mut self, checkpoints: impl IntoIterator<Item = CheckpointId>) -> Self {
        self.retain.extend(checkpoints);
        self
    }

    fn is_ended(&self, thread: &ThreadId, ns: &Name) -> bool {
        !self.ended.is_empty() && self.ended.contains(&(thread.clone(), ns.clone()))
    }

    /// Returns the checkpoints of one namespace of a thread that are removed. One rule for every backend.
    pub fn doomed<'a>(&self, thread: &ThreadId, ns: &Name, space: &'a [Link<'a>]) -> Vec<&'a Link<'a>> {
        let retained: HashSet<&CheckpointId> = self.retain.iter().collect();
        let kept: HashSet<&CheckpointId> = match &self.scope {
            _ if self.is_ended(thread, ns) => HashSet::new(),
            Scope::Threads(_, Keep::Nothing) => HashSet::new(),
            Scope::Threads(_, Keep::Latest) => newest(space, 1),
            Scope::Threads(_, Keep::Newest(count)) => newest(space, *count),
            Scope::Threads(_, Keep::Branches) => tips(space).into_iter().map(|link| link.id).collect(),
            Scope::Runs(runs) => space
                .iter()
                .filter(|link| link.run.is_none_or(|run| !runs.iter().any(|gone| gone == run)))
                .map(|link| link.id)
                .collect(),
        };
        space
            .iter()
            .filter(|link| !kept.contains(link.id) && !retained.contains(link.id))
            .collect()
    }

    /// Returns the newest checkpoints of removed branches, out of what [`Pruning::doomed`] returns. A nested run that
    /// ends with its checkpoint is no branch.
    pub fn lost_branches<'a>(
        &self,
        thread: &ThreadId,
        ns: &Name,
        space: &'a [Link<'a>],
        doomed: &[&'a Link<'a>],
    ) -> Vec<&'a CheckpointId> {
        if self.is_ended(thread, ns) {
            return Vec::new();
        }
        let gone: HashSet<&CheckpointId> = doomed.iter().map(|link| link.id).collect();
        tips(space)
            .into_iter()
            .map(|link| link.id)
            .filter(|id| gone.contains(id))
            .collect()
    }
}

/// A checkpoint and what it continues, as pruning sees it.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The checkpoint.
    pub id: &'a CheckpointId,
    /// What it continues.
    pub parent: Option<&'a CheckpointId>,
    /// The run that wrote it.
    pub run: Option<&'a str>,
}

impl<'a> Link<'a> {
    /// Creates the link of a stored checkpoint.
    pub fn of(id: &'a CheckpointId, parent: Option<&'a CheckpointId>, metadata: &'a Metadata) -> Self {
        Self {
            id,
            parent,
            run: metadata.run_id(),
        }
    }
}

fn newest<'a>(space: &'a [Link<'a>], count: usize) -> HashSet<&'a CheckpointId> {
    let mut ids: Vec<&CheckpointId> = space.iter().map(|link| link.id).collect();
    ids.sort_unstable_by(|a, b| b.cmp(a));
    ids.into_iter().take(count).collect()
}

/// Returns the checkpoints of a namespace that no other one continues.
pub fn tips<'a>(space: &'a [Link<'a>]) -> Vec<&'a Link<'a>> {
    let parents: HashSet<&CheckpointId> = space.iter().filter_map(|link| link.parent).collect();
    space.iter().filter(|link| !parents.contains(link.id)).collect()
}

/// Summary of what was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// Threads of which nothing is left.
    pub threads: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Bytes that are free afterwards, where the backend knows them. What other checkpoints share is not counted.
    pub bytes: Option<u64>,
    /// Newest checkpoints of branches that go, so that a person sees which forks are lost.
    pub branches: Vec<(ThreadId, CheckpointId)>,
    /// Threads that were left as they are, because a run holds them.
    pub skipped: Vec<ThreadId>,
}

/// Storage that one thread takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadUsage {
    /// The thread.
    pub thread: ThreadId,
    /// Checkpoints in all its namespaces.
    pub checkpoints: u64,
    /// Bytes stored for it; what it shares with other threads counts for each.
    pub bytes: u64,
}

/// Storage that everything takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Size of the file, folder or database; what the process holds for memory.
    pub bytes: u64,
    /// Bytes of that which hold nothing now and are used again by the next writes.
    pub free: u64,
    /// Bytes that sharing equal values saves.
    pub shared: u64,
    /// Bytes of what is remembered beside threads: the items of the store in the same place.
    pub store: u64,
    /// Each thread, the largest first.
    pub threads: Vec<ThreadUsage>,
}

/// Storage that one key of a thread takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsage {
    /// The channel.
    pub key: Name,
    /// Times it was stored.
    pub versions: u64,
    /// Bytes of all of them together.
    pub bytes: u64,
    /// Bytes they would take if every version were stored whole.
    pub whole: u64,
}

/// Storage that the keys of a thread take, added up value by value.
#[derive(Clone, Debug, Default)]
pub struct KeySums(BTreeMap<Name, KeyUsage>);

impl KeySums {
    /// Adds a stored value of a key: `bytes` that it took, and `whole` for those that it would take by itself.
    pub fn add(&mut self, key: &Name, bytes: u64, whole: u64) {
        let usage = self.0.entry(key.clone()).or_insert_with(|| KeyUsage {
            key: key.clone(),
            versions: 0,
            bytes: 0,
            whole: 0,
        });
        usage.versions += 1;
        usage.bytes += bytes;
        usage.whole += whole;
    }

    /// Returns each key, the largest first.
    pub fn sorted(self) -> Vec<KeyUsage> {
        let mut keys: Vec<KeyUsage> = self.0.into_values().collect();
        keys.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.key.cmp(&b.key)));
        keys
    }
}

/// Storage that one checkpoint added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointUsage {
    /// The namespace.
    pub ns: Name,
    /// The checkpoint.
    pub id: CheckpointId,
    /// Its super-step.
    pub step: i64,
    /// ISO-8601, UTC.
    pub ts: String,
    /// Bytes of the record, its new values and its pending writes.
    pub bytes: u64,
}

/// Storage that a thread takes, in detail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadBreakdown {
    /// Each key, the largest first.
    pub keys: Vec<KeyUsage>,
    /// Each checkpoint, the oldest first.
    pub checkpoints: Vec<CheckpointUsage>,
}

/// Stored data that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// The thread, when it is one's.
    pub thread: Option<ThreadId>,
    /// Which record, and what is wrong with it.
    pub what: String,
    /// What a repair does, or did; `None` when nothing can be done.
    pub repair: Option<String>,
}

/// Findings of a check of everything stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integrity {
    /// Threads looked at.
    pub threads: u64,
    /// Checkpoints looked at, each read whole.
    pub checkpoints: u64,
    /// Items of the long-term memory in the same place that were looked at.
    pub items: u64,
    /// What is wrong.
    pub damage: Vec<Damage>,
    /// True when the repairs were made.
    pub repaired: bool,
}

impl Integrity {
    /// Returns whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}
