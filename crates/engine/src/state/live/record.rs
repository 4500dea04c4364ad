//! The checkpoint of a state: made from the one before and a list of what changed.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::Live;
use crate::base::ids::{CheckpointId, Name};
use crate::base::names::Changes;
use crate::checkpoint::types::{
    Change, ChannelValues, ChannelVersions, Checkpoint, Metadata, PendingWrite, VersionsSeen,
};
use crate::graph::plan::{ChannelIx, NodeIx};
use crate::graph::writes::is_kept;
use crate::state::delta::{CheckpointUse, is_rebuilt, key_of, snapshot};
use crate::value::{List, Value};

/// Changes since the last stored checkpoint.
#[derive(Clone, Default)]
pub(super) struct Dirty {
    /// Channels, and how many items of a list were only kept.
    pub(super) channels: Vec<(ChannelIx, Option<usize>)>,
    /// Per channel, its place in the list.
    places: Vec<Option<u32>>,
    /// Nodes that have seen something new.
    pub(super) nodes: Vec<NodeIx>,
    /// Per node, whether it is in the list.
    noted: Vec<bool>,
    /// Other entries of what was seen.
    pub(super) extra: BTreeSet<Name>,
}

impl Dirty {
    pub(super) fn note(&mut self, index: ChannelIx, kept: Option<usize>) {
        if self.places.len() <= index as usize {
            self.places.resize(index as usize + 1, None);
        }
        match self.places[index as usize] {
            Some(place) => {
                let before = &mut self.channels[place as usize].1;
                *before = before.zip(kept).map(|(a, b)| a.min(b));
            }
            None => {
                self.places[index as usize] = Some(self.channels.len() as u32);
                self.channels.push((index, kept));
            }
        }
    }

    pub(super) fn note_node(&mut self, node: NodeIx) {
        if self.noted.len() <= node as usize {
            self.noted.resize(node as usize + 1, false);
        }
        if !std::mem::replace(&mut self.noted[node as usize], true) {
            self.nodes.push(node);
        }
    }

    pub(super) fn has(&self, index: ChannelIx) -> bool {
        matches!(self.places.get(index as usize), Some(Some(_)))
    }

    pub(super) fn clear(&mut self) {
        for (index, _) in self.channels.drain(..) {
            self.places[index as usize] = None;
        }
        for node in self.nodes.drain(..) {
            self.noted[node as usize] = false;
        }
        self.extra.clear();
    }
}

/// Channels that changed, and how many items of a list were only kept.
type Changed = SmallVec<[(ChannelIx, Option<usize>); 8]>;

/// The parts of a stored checkpoint that the next one is made from.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    values: ChannelValues,
    versions: ChannelVersions,
    seen: VersionsSeen,
}

impl Base {
    pub(super) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            id: checkpoint.id.clone(),
            parent: checkpoint.parent.clone(),
            values: checkpoint.channel_values.clone(),
            versions: checkpoint.channel_versions.clone(),
            seen: checkpoint.versions_seen.clone(),
        }
    }
}

impl Live {
    /// Detaches the state from its checkpoint, to make it the first of a new place: nothing that is stored can be built
    /// upon.
    pub(crate) fn detach(&mut self) {
        self.base = None;
        self.held.fill(false);
        self.dirty.clear();
        for (index, version) in self.versions.iter().enumerate() {
            if *version > 0 {
                self.dirty.note(index as ChannelIx, None);
            }
        }
        let nodes = self.ran.iter().enumerate().filter(|(_, ran)| **ran);
        nodes.for_each(|(node, _)| self.dirty.note_node(node as NodeIx));
        self.dirty.extra.extend(self.extra_seen.keys().cloned());
    }

    /// Makes the checkpoint of the state as it is now. As a base the next one is made against it;
    /// as a provisional one the next is made against the same base again (nothing in between is stored).
    pub(crate) fn checkpoint(
        &mut self,
        id: CheckpointId,
        ts: String,
        mut metadata: Metadata,
        updated: Option<&[ChannelIx]>,
        usage: CheckpointUse,
    ) -> (Checkpoint, Vec<Change>, Vec<Name>) {
        let whole = self.snapshots(&mut metadata, usage);
        let changed = self.changed_channels(&whole);
        let (values, versions, changes) = self.changes(changed, &whole, usage);
        let names = self.changed_seen();
        let seen = names.iter().map(|name| (name.clone(), Some(self.seen_of(name))));
        let empty = Base {
            id: id.clone(),
            parent: None,
            values: ChannelValues::new(),
            versions: ChannelVersions::new(),
            seen: VersionsSeen::new(),
        };
        let base = self.base.as_ref().unwrap_or(&empty);
        let checkpoint = Checkpoint {
            id,
            parent: self.base.as_ref().map(|base| base.id.clone()),
            ts,
            channel_values: base.values.with(values),
            channel_versions: base.versions.with(versions),
            versions_seen: base.seen.with(seen.collect()),
            updated_channels: updated.map(|updated| self.names_of(updated)),
            metadata,
            next: self.next_names(updated),
        };
        if usage == CheckpointUse::Base {
            self.base = Some(Base::of(&checkpoint));
            self.dirty.clear();
        }
        (checkpoint, changes, names)
    }

    /// Returns the channels in which the next checkpoint differs, by name, and how many items of a list were only kept.
    #[inline]
    fn changed_channels(&self, whole: &BTreeSet<ChannelIx>) -> Changed {
        let plan = &self.plan;
        let mut changed = Changed::from_slice(&self.dirty.channels);
        changed.retain(|(index, _)| self.versions[*index as usize] > 0);
        let is_rebuilt_in_base = |index: &ChannelIx| {
            let base = self.base.as_ref();
            let value = base.and_then(|base| base.values.get(&plan.channel(*index).name));
            value.is_some_and(is_rebuilt)
        };
        let stale: Vec<ChannelIx> = (plan.deltas.iter().copied()).filter(is_rebuilt_in_base).collect();
        let quiet = whole
            .iter()
            .chain(&stale)
            .filter(|index| !self.dirty.has(**index));
        let quiet: BTreeSet<ChannelIx> = quiet.copied().collect();
        changed.extend(quiet.into_iter().map(|index| (index, None)));
        changed.sort_by(|(a, _), (b, _)| plan.channel(*a).name.cmp(&plan.channel(*b).name));
        changed
    }

    /// Returns values and versions of the changed channels, and the changes as a backend is given them.
    #[inline]
    fn changes(
        &mut self,
        changed: Changed,
        whole: &BTreeSet<ChannelIx>,
        usage: CheckpointUse,
    ) -> (Changes<Value>, Changes<u64>, Vec<Change>) {
        let mut values = Changes::with_capacity(changed.len());
        let mut versions = Changes::with_capacity(changed.len());
        let mut changes: Vec<Change> = Vec::with_capacity(changed.len());
        for (index, kept) in changed {
            let name = &self.plan.channel(index).name;
            let value = match whole.contains(&index) {
                true => self.value(index).map(|value| snapshot(value.clone())),
                false => self.stored_value(index),
            };
            let known = self.held[index as usize];
            if usage == CheckpointUse::Base {
                self.held[index as usize] = value.is_some();
            }
            if known || value.is_some() {
                values.push((name.clone(), value));
            }
            if self.dirty.has(index) || whole.contains(&index) {
                versions.push((name.clone(), Some(self.versions[index as usize])));
                changes.push(Change {
                    channel: name.clone(),
                    appended_from: kept.filter(|_| known),
                });
            }
        }
        (values, versions, changes)
    }

    /// Names of channels, each once: what an input command wrote may have been written again.
    fn names_of(&self, channels: &[ChannelIx]) -> Vec<Name> {
        let names = channels
            .iter()
            .map(|index| self.plan.channel(*index).name.clone());
        let mut names: Vec<Name> = names.collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the entries of what was seen that differ from the last stored checkpoint's, in the order of their names.
    fn changed_seen(&self) -> Vec<Name> {
        let nodes = self.dirty.nodes.iter();
        let nodes = nodes.map(|node| self.plan.node(*node).name.clone());
        let mut names: Vec<Name> = nodes.chain(self.dirty.extra.iter().cloned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the trigger versions that a node, or anything else of this name, has seen.
    fn seen_of(&self, name: &Name) -> ChannelVersions {
        let node = self.plan.node_index.get(name);
        let Some(node) = node.copied().filter(|node| self.ran[*node as usize]) else {
            return self.extra_seen.get(name).cloned().unwrap_or_default();
        };
        let seen = &self.seen[self.plan.triggers_of(node)];
        let triggers = self.plan.trigger_names(node).zip(seen);
        let versions = triggers.filter(|(_, version)| **version > 0);
        ChannelVersions::of(
            versions
                .map(|(name, version)| (name.clone(), Some(*version)))
                .collect(),
        )
    }

    /// Returns the delta keys whose values the next checkpoint holds. A backend stores what has a new version, so they
    /// get one.
    fn snapshots(&mut self, metadata: &mut Metadata, usage: CheckpointUse) -> BTreeSet<ChannelIx> {
        if self.plan.deltas.is_empty() {
            return BTreeSet::new();
        }
        let plan = self.plan.clone();
        let versions = &self.versions;
        let due = self
            .deltas
            .count(&plan, metadata, usage, |index| versions[index as usize] > 0);
        for index in &due {
            let stored = self
                .base
                .as_ref()
                .and_then(|base| base.versions.get(&plan.channel(*index).name));
            let version = &mut self.versions[*index as usize];
            if *version == stored.copied().unwrap_or(0) {
                *version += 1;
                self.max_version = self.max_version.max(*version);
            }
        }
        due
    }

    /// Leaves behind stored writes that the next checkpoint does not follow from: the delta keys they belong to are
    /// stored whole.
    pub(crate) fn leave_behind<'a>(&mut self, writes: impl IntoIterator<Item = &'a PendingWrite>) {
        if self.plan.deltas.is_empty() {
            return;
        }
        for write in writes {
            if let Some(index) = key_of(&self.plan, write) {
                self.deltas.force(index);
            }
        }
    }

    /// Returns the value as checkpoints hold it.
    fn stored_value(&self, index: ChannelIx) -> Option<Value> {
        let value = self
            .value(index)
            .filter(|_| is_kept(&self.plan.channel(index).spec.kind))?;
        if index != self.plan.tasks_channel || !self.plan.has_untracked {
            return Some(value.clone());
        }
        let queue = value.as_array()?.iter();
        Some(
            queue
                .map(|packet| self.plan.without_untracked(packet))
                .collect::<List>()
                .into(),
        )
    }
}
