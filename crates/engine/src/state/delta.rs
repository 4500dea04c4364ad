//! Delta keys: their value is not stored with every checkpoint but rebuilt from the writes that led to it.
//!
//! A checkpoint of a graph with such keys counts, for each of them, the updates and super-steps since its value was
//! stored last. When the count reaches the key's frequency, the checkpoint holds the value as a snapshot,
//! `{"__snapshot__": value}`, and counting begins again. Anyone who loads a checkpoint without a snapshot walks up its
//! parents to the nearest one and joins the writes stored on the way.
//!
//! This is right as long as the writes stored on a parent are exactly those that its child applied. Where that is not
//! so (an overwrite discarded its neighbours, a branch left writes behind, a step ran again), the child is forced to
//! hold a snapshot, and the walk ends there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::channel::{Kind, whole_of};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::graph_version::GraphVersion;
use crate::checkpoint::maintenance::{Keep, Link, Pruning, Removal, Scope};
use crate::checkpoint::progress::Progress;
use crate::checkpoint::threads::ThreadQuery;
use crate::checkpoint::types::{
    ChannelValues, Checkpoint, CheckpointHead, CheckpointTuple, ListQuery, Metadata, PendingWrite, Source,
    StorageError,
};
use crate::graph::plan::{ChannelIx, Plan};
use crate::state::live::Live;
use crate::value::{List, Object, Value};

/// Where metadata keeps the counts: `{key: [updates, super-steps]}`.
const COUNTERS: &str = "counters_since_delta_snapshot";
/// Super-steps after which a key that is not written any more is stored, so that no walk is longer.
const MAX_STEPS: u64 = 5_000;

/// Returns the counts among the entries of a checkpoint's metadata.
pub(crate) fn counters_of(metadata: &Object) -> Object {
    let counts = metadata.get(COUNTERS).map(|counts| (COUNTERS, counts.clone()));
    counts.into_iter().collect()
}

/// Returns whether values of a checkpoint are those of delta keys: only its graph shows them as they are.
pub fn has_deltas(metadata: &Metadata, values: &ChannelValues) -> bool {
    let mut values = values.iter();
    metadata.user.contains_key(COUNTERS) || values.any(|(_, value)| whole_of(value).is_some())
}

/// Purpose that a checkpoint is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointUse {
    /// It is stored, and the next one is made against it.
    Base,
    /// It may give way to a later one that is made against the same base.
    Provisional,
}

/// Records of a thread's delta keys between two checkpoints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deltas {
    /// Updates and super-steps since the last snapshot.
    counts: BTreeMap<ChannelIx, (u64, u64)>,
    /// Written since the last checkpoint.
    written: BTreeSet<ChannelIx>,
    /// Keys whose next checkpoint must hold a snapshot.
    forced: BTreeSet<ChannelIx>,
    /// The next checkpoint is the first of its thread, made by an edit: counting begins after it.
    pub(crate) first_edit: bool,
}

impl Deltas {
    /// Loads the counts of a stored checkpoint.
    pub(crate) fn load(plan: &Plan, metadata: &Metadata) -> Self {
        let mut deltas = Self::default();
        let counts = metadata.user.get(COUNTERS).and_then(Value::as_object);
        for index in &plan.deltas {
            let count = counts.and_then(|counts| counts.get(&plan.channel(*index).name));
            let number = |at: usize| count.and_then(|count| count.at(at)).and_then(Value::as_u64);
            if let (Some(updates), Some(steps)) = (number(0), number(1)) {
                deltas.counts.insert(*index, (updates, steps));
            }
        }
        deltas
    }

    pub(crate) fn note_write(&mut self, index: ChannelIx, overwritten: bool) {
        self.written.insert(index);
        if overwritten {
            self.forced.insert(index);
        }
    }

    pub(crate) fn force(&mut self, index: ChannelIx) {
        self.forced.insert(index);
    }

    /// Forces the next checkpoint to hold the result of the writes since the last one, because nobody will find those.
    pub(crate) fn force_written(&mut self) {
        self.forced.extend(&self.written);
    }

    /// Counts one more checkpoint and gives the keys whose value it must hold. The counts are put into its metadata.
    /// A provisional one may yet give way to a later one.
    pub(crate) fn count(
        &mut self,
        plan: &Plan,
        metadata: &mut Metadata,
        usage: CheckpointUse,
        has_version: impl Fn(ChannelIx) -> bool,
    ) -> BTreeSet<ChannelIx> {
        let mut due = BTreeSet::new();
        let mut shown = Object::new();
        for &index in &plan.deltas {
            let Kind::Delta(spec) = &plan.channel(index).spec.kind else {
                continue;
            };
            if self.first_edit {
                due.extend(self.forced.contains(&index).then_some(index));
                continue;
            }
            let count = self.counts.entry(index).or_default();
            count.0 += u64::from(self.written.contains(&index));
            count.1 += 1;
            let reached = count.0 >= u64::from(spec.frequency) || count.1 >= MAX_STEPS;
            if self.forced.contains(&index) || (reached && has_version(index)) {
                due.insert(index);
                if usage == CheckpointUse::Base {
                    self.counts.remove(&index);
                }
            } else {
                shown.insert(plan.channel(index).name.clone(), vec![count.0, count.1]);
            }
        }
        self.written.clear();
        if usage == CheckpointUse::Base {
            self.forced.clear();
            self.first_edit = false;
        }
        if shown.is_empty() {
            metadata.user.remove(COUNTERS);
        } else {
            metadata.user.insert(COUNTERS, shown);
        }
        due
    }
}

/// Returns the delta key that a stored write belongs to.
pub(crate) fn key_of(plan: &Plan, write: &PendingWrite) -> Option<ChannelIx> {
    let index = plan.channel_named(&write.write.channel)?;
    matches!(plan.channel(index).spec.kind, Kind::Delta(_)).then_some(index)
}

/// Reads a checkpoint, with the values that it leaves to its parents.
pub(crate) async fn get(
    plan: &Plan,
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    ns: &str,
    id: Option<&CheckpointId>,
) -> Result<Option<CheckpointTuple>, StorageError> {
    let mut tuple = saver.get(thread, ns, id).await?;
    if let Some(tuple) = &mut tuple {
        rebuild(plan, saver, tuple).await?;
    }
    Ok(tuple)
}

/// Checkpoints, newest first, each with the values that it leaves to its parents.
pub(crate) async fn list(
    plan: &Plan,
    saver: &dyn Checkpointer,
    query: &ListQuery,
) -> Result<Vec<CheckpointTuple>, StorageError> {
    let mut tuples = saver.list(query).await?;
    for tuple in &mut tuples {
        rebuild(plan, saver, tuple).await?;
    }
    Ok(tuples)
}

/// Removes checkpoints, and keeps those that what stays is rebuilt from: what a host calls that has no graph.
pub async fn prune(saver: &dyn Checkpointer, pruning: &Pruning) -> Result<Removal, StorageError> {
    prune_watched(saver, pruning, &Progress::default()).await
}

/// Removes checkpoints as [`prune`] does, and says meanwhile how far it is.
pub async fn prune_watched(
    saver: &dyn Checkpointer,
    pruning: &Pruning,
    progress: &Progress,
) -> Result<Removal, StorageError> {
    let mut pruning = pruning.clone();
    let needed = ancestry(saver, &mut pruning).await?;
    saver.prune_watched(&pruning.retain(needed), progress).await
}

/// Returns the checkpoints that a pruning would remove although what it keeps is rebuilt from them. The pruning learns
/// which nested runs end with it.
///
/// Which keys those are is read from the counts in the metadata, so that nested graphs, whose keys the outer plan does
/// not know, keep what they need as well.
async fn ancestry(
    saver: &dyn Checkpointer,
    pruning: &mut Pruning,
) -> Result<Vec<CheckpointId>, StorageError> {
    let threads = match &pruning.scope {
        Scope::Threads(_, Keep::Nothing) => return Ok(Vec::new()),
        Scope::Threads(threads, _) => threads.clone(),
        Scope::Runs(_) => {
            let all = saver.threads(&ThreadQuery::default()).await?;
            all.into_iter().map(|summary| summary.thread).collect()
        }
    };
    let mut needed = BTreeSet::new();
    for thread in threads {
        let heads = saver.heads(&ListQuery::new().thread(thread.clone())).await?;
        let mut spaces: BTreeMap<&Name, Vec<&CheckpointHead>> = BTreeMap::new();
        for head in &heads {
            spaces.entry(&head.ns).or_default().push(head);
        }
        if matches!(pruning.scope, Scope::Threads(..)) {
            end_nested(&thread, &spaces, pruning);
        }
        for (ns, heads) in &spaces {
            if !heads.iter().copied().any(counts_keys) {
                continue;
            }
            let links: Vec<Link<'_>> = heads
                .iter()
                .map(|head| Link::of(&head.id, head.parent.as_ref(), &head.metadata))
                .collect();
            let doomed: BTreeSet<&CheckpointId> = pruning
                .doomed(&thread, ns, &links)
                .into_iter()
                .map(|link| link.id)
                .collect();
            for head in heads
                .iter()
                .filter(|head| counts_keys(head) && !doomed.contains(&head.id))
            {
                // The walk of a rebuild: up the parents until every counted key was found whole.
                let mut open = counted(&head.metadata);
                let mut at = Some(head.id.clone());
                while let (Some(id), false) = (&at, open.is_empty()) {
                    let Some(tuple) = saver.get(&thread, ns, Some(id)).await? else {
                        break;
                    };
                    open.retain(|key| !tuple.checkpoint.channel_values.contains_key(key));
                    at = tuple.checkpoint.parent.filter(|_| !open.is_empty());
                    needed.extend(at.clone().filter(|id| doomed.contains(id)));
                }
            }
        }
        end_versions(&thread, &spaces, &needed, pruning);
    }
    Ok(needed.into_iter().collect())
}

/// Finds the versions of graphs that no checkpoint which stays was run by.
fn end_versions(
    thread: &ThreadId,
    spaces: &BTreeMap<&Name, Vec<&CheckpointHead>>,
    needed: &BTreeSet<CheckpointId>,
    pruning: &mut Pruning,
) {
    let mut stay: HashSet<&str> = HashSet::new();
    for (ns, heads) in spaces.iter().filter(|(ns, _)| !GraphVersion::is_space(ns)) {
        let links: Vec<Link<'_>> = heads
            .iter()
            .map(|head| Link::of(&head.id, head.parent.as_ref(), &head.metadata))
            .collect();
        let doomed: HashSet<&CheckpointId> = pruning
            .doomed(thread, ns, &links)
            .into_iter()
            .map(|link| link.id)
            .filter(|id| !needed.contains(*id))
            .collect();
        let kept = heads.iter().filter(|head| !doomed.contains(&head.id));
        stay.extend(kept.filter_map(|head| GraphVersion::of(head)));
    }
    let unused: Vec<Name> = GraphVersion::unused(spaces.keys().copied(), &stay)
        .cloned()
        .collect();
    pruning
        .ended
        .extend(unused.into_iter().map(|ns| (thread.clone(), ns)));
}

/// Finds the namespaces of nested runs whose checkpoint goes. Each is of one task of one checkpoint, and nothing else
/// leads to it: without that checkpoint it would take space for ever. A nested graph that remembers across runs has a
/// namespace without a task, and stays.
fn end_nested(thread: &ThreadId, spaces: &BTreeMap<&Name, Vec<&CheckpointHead>>, pruning: &mut Pruning) {
    let mut stays: HashMap<&str, HashSet<&CheckpointId>> = HashMap::new();
    let mut outer_first: Vec<(&Name, &Vec<&CheckpointHead>)> =
        spaces.iter().map(|(ns, heads)| (*ns, heads)).collect();
    outer_first.sort_by_key(|(ns, _)| ns.split('|').count());
    // What is newer than the root may be going on, also in a checkpoint of the past.
    let newest = spaces.get(&Name::from("")).and_then(|heads| heads.first());
    for (ns, heads) in outer_first {
        let over = newest.is_some_and(|root| heads.first().is_some_and(|head| head.id < root.id));
        // A fork inside goes on in the namespace of the run that it is a fork of.
        let ended = over
            && heads.iter().all(|head| {
                ns.match_indices('|').chain([(ns.len(), "")]).any(|(end, _)| {
                    let (around, segment) = ns[..end].rsplit_once('|').unwrap_or(("", &ns[..end]));
                    let owner = head.metadata.parents.get(around).and_then(Value::as_str);
                    let (true, Some(owner)) = (segment.contains(':'), owner) else {
                        return false;
                    };
                    let owner = CheckpointId::from(owner);
                    // One that is newer than everything around it came while the list was read.
                    let known = spaces.get(&Name::from(around)).and_then(|heads| heads.first());
                    let past = known.is_some_and(|newest| owner <= newest.id);
                    past && !stays.get(around).is_some_and(|kept| kept.contains(&owner))
                })
            });
        if ended {
            pruning.ended.insert((thread.clone(), ns.clone()));
        }
        let links: Vec<Link<'_>> = heads
            .iter()
            .map(|head| Link::of(&head.id, head.parent.as_ref(), &head.metadata))
            .collect();
        let doomed: HashSet<&CheckpointId> = pruning
            .doomed(thread, ns, &links)
            .into_iter()
            .map(|link| link.id)
            .collect();
        let kept = heads
            .iter()
            .map(|head| &head.id)
            .filter(|id| !doomed.contains(id));
        stays.insert(ns, kept.collect());
    }
}

fn counted(metadata: &Metadata) -> Vec<String> {
    let counts = metadata.user.get(COUNTERS).and_then(Value::as_object);
    counts.map_or_else(Vec::new, |counts| {
        counts.keys().map(|key| key.to_string()).collect()
    })
}

fn counts_keys(head: &CheckpointHead) -> bool {
    head.metadata.user.contains_key(COUNTERS)
}

struct Walk {
    index: ChannelIx,
    seed: Option<Value>,
    /// Newest first.
    writes: Vec<Value>,
}

/// Puts the values that are not stored with the checkpoint into it.
async fn rebuild(
    plan: &Plan,
    saver: &dyn Checkpointer,
    tuple: &mut CheckpointTuple,
) -> Result<(), StorageError> {
    // A key that was a delta key when the thread was written may be an ordinary reducer by now.
    if plan.deltas.is_empty() && !tuple.checkpoint.metadata.user.contains_key(COUNTERS) {
        return Ok(());
    }
    let values = &tuple.checkpoint.channel_values;
    let versions = tuple.checkpoint.channel_versions.keys();
    let missing = versions.filter(|name| !values.contains_key(name));
    let mut open: Vec<Walk> = missing
        .filter_map(|name| plan.channel_named(name))
        .filter(|index| plan.channel(*index).spec.kind.can_be_rebuilt())
        .map(|index| Walk {
            index,
            seed: None,
            writes: Vec::new(),
        })
        .collect();
    let mut done = Vec::with_capacity(open.len());
    let mut parent = tuple.checkpoint.parent.clone();
    while let (Some(id), false) = (&parent, open.is_empty()) {
        let Some(ancestor) = saver.get(&tuple.thread, &tuple.ns, Some(id)).await? else {
            let keys: Vec<&str> = open.iter().map(|walk| &*plan.channel(walk.index).name).collect();
            return Err(StorageError::Corrupt {
                place: format!(
                    "{} of checkpoint {} of thread {}",
                    keys.join(", "),
                    tuple.checkpoint.id,
                    tuple.thread
                ),
                cause: format!("it is rebuilt from checkpoint {id}, which is not there any more"),
            });
        };
        let mut index = 0;
        while index < open.len() {
            let walk = &mut open[index];
            let name = &plan.channel(walk.index).name;
            let stored = ancestor.pending_writes.iter().rev();
            walk.writes.extend(
                stored
                    .filter(|w| w.write.channel == *name)
                    .map(|w| w.write.value.clone()),
            );
            walk.seed = ancestor.checkpoint.channel_values.get(name).cloned();
            if walk.seed.is_some() {
                done.push(open.swap_remove(index));
            } else {
                index += 1;
            }
        }
        parent = ancestor.checkpoint.parent.clone();
    }
    for walk in done.into_iter().chain(open) {
        let channel = plan.channel(walk.index);
        // Null by itself was the value of a key that was no delta key yet.
        let seed = walk.seed.filter(|seed| !seed.is_null());
        let seed = seed.map(|seed| whole_of(&seed).cloned().unwrap_or(seed));
        let mut value = seed.or_else(|| channel.spec.default.clone());
        let writes: Vec<&Value> = walk.writes.iter().rev().collect();
        channel
            .spec
            .kind
            .replay(&mut value, &writes)
            .map_err(|cause| StorageError::Corrupt {
                place: format!(
                    "key {} of checkpoint {} of thread {}",
                    channel.name, tuple.checkpoint.id, tuple.thread
                ),
                cause,
            })?;
        if let Some(value) = value {
            let values = &mut tuple.checkpoint.channel_values;
            values.insert(channel.name.clone(), rebuilt(value));
        }
    }
    Ok(())
}

/// Wraps a value as checkpoints hold it when it is stored whole.
pub(crate) fn snapshot(value: Value) -> Value {
    Value::Object([("__snapshot__", value)].into_iter().collect())
}

/// Wraps a value that is not stored, as a loaded checkpoint has it.
fn rebuilt(value: Value) -> Value {
    Value::Object([("__rebuilt__", value)].into_iter().collect())
}

pub(crate) fn is_rebuilt(value: &Value) -> bool {
    value.get("__rebuilt__").is_some() && value.as_object().is_some_and(|object| object.len() == 1)
}

/// Converts a loaded checkpoint into its stored form.
pub(crate) fn as_stored(plan: &Plan, mut checkpoint: Checkpoint) -> Checkpoint {
    for index in &plan.deltas {
        let name = &plan.channel(*index).name;
        if checkpoint.channel_values.get(name).is_some_and(is_rebuilt) {
            checkpoint.channel_values.remove(name);
        }
    }
    checkpoint
}

/// Completes a checkpoint that `live` made with the values that it leaves to its parents.
pub(crate) fn complete(live: &Live, mut checkpoint: Checkpoint) -> Checkpoint {
    for index in &live.plan.deltas {
        let name = &live.plan.channel(*index).name;
        let has_version = checkpoint.channel_versions.contains_key(name);
        if let (Some(value), true, false) = (
            live.value(*index),
            has_version,
            checkpoint.channel_values.contains_key(name),
        ) {
            checkpoint
                .channel_values
                .insert(name.clone(), rebuilt(value.clone()));
        }
    }
    checkpoint
}

/// Creates the empty checkpoint before a thread's first, which carries writes when nothing else can.
pub(crate) fn stub(id: CheckpointId, ts: String) -> Checkpoint {
    Checkpoint {
        id,
        parent: None,
        ts,
        channel_values: Default::default(),
        channel_versions: Default::default(),
        versions_seen: Default::default(),
        updated_channels: None,
        metadata: Metadata {
            source: Source::Input,
            step: -2,
            parents: Object::new(),
            user: Object::new(),
        },
        next: Vec::new(),
    }
}

/// Returns the id under which a task's writes are stored on a checkpoint that is not the one it ran on.
pub(crate) fn late_task(task: &TaskId, step: i64) -> TaskId {
    TaskId::new(format!("{:08}-{task}", step.max(0)))
}

/// Gives messages their ids before they are stored, so that joining them again gives the same ones.
pub(crate) fn with_ids(update: &Value) -> Value {
    let whole = |message: &Value| crate::value::messages::coerce(message).unwrap_or_else(|_| message.clone());
    match update {
        Value::Array(items) => Value::Array(items.iter().map(whole).collect::<List>()),
        one => whole(one),
    }
}
