//! The live state of a thread: channel values and versions by index, and the persistent maps of its checkpoint.
//!
//! Steps work on plain vectors; the maps of the checkpoint are brought up to date from a list of what changed, when a
//! checkpoint is made. So a step without a checkpointer never touches them, and one with a checkpointer pays for
//! what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::channel::{Effect, Kind, overwrite_of, refusal, whole_of};
use crate::checkpoint::{
    Change, ChannelValues, ChannelVersions, Checkpoint, CheckpointTuple, Metadata, PendingWrite,
    VersionsSeen, Write, reserved, write_index,
};
use crate::delta::{Deltas, is_rebuilt, key_of, snapshot};
use crate::entries::{Writer, add_writes};
use crate::error::RunError;
use crate::ids::{CheckpointId, Name};
use crate::names::Changes;
use crate::plan::{ChannelIx, NodeIx, Plan, Shown};
use crate::task::Place;
use crate::value::{List, Value};
use crate::view;

/// Where a write goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Channel {
    Known(ChannelIx),
    /// Control channels, and channels the graph does not have.
    Named(Name),
}

impl Channel {
    fn known(&self) -> Option<ChannelIx> {
        match self {
            Channel::Known(index) => Some(*index),
            Channel::Named(_) => None,
        }
    }
}

pub(crate) type Writes = Vec<(Channel, Value)>;

/// One task's writes, as they are applied.
pub(crate) struct Applied<'a> {
    pub(crate) name: &'a str,
    pub(crate) node: Option<NodeIx>,
    /// Sorts tasks.
    pub(crate) place: Place<'a>,
    /// Was it started by its trigger channels (and so consumes them)?
    pub(crate) pulled: bool,
    pub(crate) writes: &'a [(Channel, Value)],
}

/// The writes of a step by channel.
struct Grouped<'a> {
    /// Channels in the order in which they were first written, each with the end of its part of `values`.
    channels: Vec<(ChannelIx, usize)>,
    /// In task order and then write order.
    values: Vec<&'a Value>,
}

const NO_PLACE: u32 = u32::MAX;
static NULL: Value = Value::Null;

/// A task wrote to a channel that is none of the graph's.
fn unknown(task: &Applied<'_>, name: &str) {
    if !name.starts_with("__") {
        tracing::warn!(task = task.name, "wrote to unknown channel {name}, ignoring it");
    }
}

/// Groups by counting: two passes over the writes, and no allocation for each channel. `places` says where each channel
/// went; the caller clears it.
fn group<'a>(tasks: &[Applied<'a>], places: &mut [u32]) -> Grouped<'a> {
    let written = tasks.iter().map(|task| task.writes.len()).sum();
    let mut channels: Vec<(ChannelIx, usize)> = Vec::with_capacity(if tasks.len() > 1 { 0 } else { written });
    let mut total = 0;
    for task in tasks {
        for (channel, _) in task.writes {
            match channel {
                Channel::Known(index) => {
                    let place = &mut places[*index as usize];
                    if *place == NO_PLACE {
                        *place = channels.len() as u32;
                        channels.push((*index, 0));
                    }
                    channels[*place as usize].1 += 1;
                    total += 1;
                }
                Channel::Named(name) => unknown(task, name),
            }
        }
    }
    let once = channels.len() == total;
    let mut begin = 0;
    for (_, count) in &mut channels {
        begin += std::mem::replace(count, begin);
    }
    let known = tasks.iter().flat_map(|task| task.writes);
    let known = known.filter_map(|(channel, value)| match channel {
        Channel::Known(index) => Some((*index, value)),
        Channel::Named(_) => None,
    });
    let mut values = Vec::with_capacity(total);
    if once {
        // The order of the writes is that of the channels already.
        values.extend(known.map(|(_, value)| value));
        for (_, end) in &mut channels {
            *end += 1;
        }
        return Grouped { channels, values };
    }
    values.resize(total, &NULL);
    for (index, value) in known {
        let next = &mut channels[places[index as usize] as usize].1;
        values[*next] = value;
        *next += 1;
    }
    Grouped { channels, values }
}

#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) plan: Arc<Plan>,
    /// Values of the state keys, then of the managed ones; shared with running tasks.
    pub(crate) state: Arc<Vec<Option<Value>>>,
    /// What a node without input keys of its own is given, made once for every state that some node is given.
    whole: OnceLock<Value>,
    /// Per channel, its place among the groups of the step that is being applied.
    places: Vec<u32>,
    /// Values of the other channels, offset by the number of keys that nodes can read.
    control: Vec<Option<Value>>,
    versions: Vec<u64>,
    pub(crate) max_version: u64,
    /// The versions of all nodes' triggers when the node last ran, node after node.
    seen: Vec<u64>,
    /// Per node, whether it ever did.
    ran: Vec<bool>,
    /// Entries of `versions_seen` that are not nodes of this graph.
    extra_seen: BTreeMap<Name, ChannelVersions>,
    /// Has any channel changed since the run last stopped for a breakpoint?
    pub(crate) changed_since_interrupt: bool,
    /// Available channels that vanish in a step that does not write them.
    transient: Vec<ChannelIx>,
    /// Lists of channels that a step needs, kept from the last one.
    spare: [Vec<ChannelIx>; 2],
    /// Triggers of deferred nodes that wait for a step that triggers nothing else.
    waiting: BTreeSet<ChannelIx>,
    pub(crate) deltas: Deltas,
    dirty: Dirty,
    /// False when no checkpoint will be made: then nothing is noted as dirty.
    pub(crate) tracked: bool,
    /// The checkpoint that this state continues.
    pub(crate) base: Option<Base>,
    /// Per channel, whether that checkpoint has a value for it.
    held: Vec<bool>,
}

/// What was changed since the last stored checkpoint.
#[derive(Clone, Default)]
struct Dirty {
    /// Channels, and how many items of a list were only kept.
    channels: Vec<(ChannelIx, Option<usize>)>,
    /// Per channel, its place in the list.
    places: Vec<Option<u32>>,
    /// Nodes that have seen something new.
    nodes: Vec<NodeIx>,
    /// Per node, whether it is in the list.
    noted: Vec<bool>,
    /// Other entries of what was seen.
    extra: BTreeSet<Name>,
}

impl Dirty {
    fn note(&mut self, index: ChannelIx, kept: Option<usize>) {
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

    fn note_node(&mut self, node: NodeIx) {
        if self.noted.len() <= node as usize {
            self.noted.resize(node as usize + 1, false);
        }
        if !std::mem::replace(&mut self.noted[node as usize], true) {
            self.nodes.push(node);
        }
    }

    fn has(&self, index: ChannelIx) -> bool {
        matches!(self.places.get(index as usize), Some(Some(_)))
    }

    fn clear(&mut self) {
        for (index, _) in self.channels.drain(..) {
            self.places[index as usize] = None;
        }
        for node in self.nodes.drain(..) {
            self.noted[node as usize] = false;
        }
        self.extra.clear();
    }
}

/// What of a stored checkpoint the next one is made from.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    values: ChannelValues,
    versions: ChannelVersions,
    seen: VersionsSeen,
}

impl Base {
    fn of(checkpoint: &Checkpoint) -> Self {
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
    /// The state of a thread that has no checkpoint yet.
    pub(crate) fn fresh(plan: Arc<Plan>) -> Self {
        let keys = plan.readable_keys;
        let state = plan.channels[..keys]
            .iter()
            .map(|c| c.spec.default.clone())
            .collect();
        Self {
            state: Arc::new(state),
            whole: OnceLock::new(),
            places: vec![NO_PLACE; plan.channels.len()],
            control: vec![None; plan.channels.len() - keys],
            versions: vec![0; plan.channels.len()],
            max_version: 0,
            seen: vec![0; plan.trigger_count()],
            ran: vec![false; plan.nodes.len()],
            extra_seen: BTreeMap::new(),
            changed_since_interrupt: false,
            transient: Vec::new(),
            spare: Default::default(),
            waiting: BTreeSet::new(),
            deltas: Deltas::default(),
            dirty: Dirty::default(),
            tracked: true,
            base: None,
            held: vec![false; plan.channels.len()],
            plan,
        }
    }

    /// The state a checkpoint holds.
    pub(crate) fn load(plan: Arc<Plan>, checkpoint: &Checkpoint) -> Self {
        let mut live = Self::fresh(plan.clone());
        for (name, version) in &checkpoint.channel_versions {
            live.max_version = live.max_version.max(*version);
            let Some(index) = plan.channel_named(name) else {
                continue;
            };
            live.versions[index as usize] = *version;
            let mut value = checkpoint.channel_values.get(name).cloned();
            live.held[index as usize] = value.is_some();
            let kind = &plan.channel(index).spec.kind;
            if kind.can_be_rebuilt()
                && let Some(whole) = value.as_ref().and_then(whole_of)
            {
                value = Some(whole.clone());
                if !matches!(kind, Kind::Delta(_)) {
                    // It was a delta key; from now on its value is stored like any other.
                    live.dirty.note(index, None);
                }
            }
            if kind.is_transient() && kind.available(value.as_ref()) {
                live.transient.push(index);
            }
            if kind.waits(value.as_ref()) {
                live.waiting.insert(index);
            }
            if value.is_some() || !kind.keeps_default() {
                *live.slot(index) = value;
            }
        }
        for (name, seen) in &checkpoint.versions_seen {
            match plan.node_index.get(name) {
                Some(&node) => {
                    let versions = plan
                        .trigger_names(node)
                        .map(|name| seen.get(name).copied().unwrap_or(0));
                    for (slot, version) in live.seen[plan.triggers_of(node)].iter_mut().zip(versions) {
                        *slot = version;
                    }
                    live.ran[node as usize] = true;
                }
                None => {
                    live.extra_seen.insert(name.clone(), seen.clone());
                }
            }
        }
        let interrupt_seen = live.extra_seen.get(reserved::INTERRUPT);
        live.changed_since_interrupt = checkpoint.channel_versions.iter().any(|(name, version)| {
            *version
                > interrupt_seen
                    .and_then(|seen| seen.get(name))
                    .copied()
                    .unwrap_or(0)
        });
        live.deltas = Deltas::load(&plan, &checkpoint.metadata);
        live.base = Some(Base::of(checkpoint));
        live
    }

    fn slot(&mut self, index: ChannelIx) -> &mut Option<Value> {
        match (index as usize).checked_sub(self.plan.readable_keys) {
            None => {
                self.whole.take();
                &mut Arc::make_mut(&mut self.state)[index as usize]
            }
            Some(offset) => &mut self.control[offset],
        }
    }

    pub(crate) fn value(&self, index: ChannelIx) -> Option<&Value> {
        match (index as usize).checked_sub(self.plan.readable_keys) {
            None => self.state[index as usize].as_ref(),
            Some(offset) => self.control[offset].as_ref(),
        }
    }

    fn available(&self, index: ChannelIx) -> bool {
        self.plan.channel(index).spec.kind.available(self.value(index))
    }

    /// What a node is given that names no keys.
    pub(crate) fn whole_view(&self) -> Value {
        self.whole
            .get_or_init(|| view::input_view(&self.plan, &self.state, None))
            .clone()
    }

    /// The whole state, private keys included.
    pub(crate) fn values(&self) -> Value {
        view::view(&self.plan, &self.state, 0..self.plan.state_keys as ChannelIx)
    }

    pub(crate) fn shown(&self, shown: &Shown) -> Value {
        match shown {
            Shown::All => self.values(),
            Shown::Keys(keys) => view::view(&self.plan, &self.state, keys.iter().copied()),
            Shown::Key(key) => self.value(*key).cloned().unwrap_or_default(),
        }
    }

    pub(crate) fn output(&self) -> Value {
        match &self.plan.output_keys {
            Some(keys) => view::view(&self.plan, &self.state, keys.iter().copied()),
            None => self.values(),
        }
    }

    /// Gives the state keys these values, past their reducers.
    pub(crate) fn set_state(&mut self, state: &Value) -> Result<(), RunError> {
        let mut writes = Writes::new();
        add_writes(&self.plan, Writer::Command, state, &mut writes).map_err(RunError::invalid_update)?;
        for (channel, value) in writes {
            if let Channel::Known(index) = channel {
                *self.slot(index) = Some(value);
            }
        }
        Ok(())
    }

    /// Computes the managed keys for a step with so many steps left.
    pub(crate) fn set_managed(&mut self, remaining: i64) {
        let managed = self.plan.state_keys..self.plan.readable_keys;
        if managed.is_empty() {
            return;
        }
        let plan = self.plan.clone();
        self.whole.take();
        let state = Arc::make_mut(&mut self.state);
        for index in managed {
            if let Kind::Managed(managed) = plan.channels[index].spec.kind {
                state[index] = Some(managed.value(remaining));
            }
        }
    }

    /// Packets that wait in the queue.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Value> {
        let queue = self.value(self.plan.tasks_channel).and_then(Value::as_array);
        queue.into_iter().flat_map(List::iter)
    }

    /// One of the packets that wait in the queue.
    pub(crate) fn packet(&self, place: usize) -> Option<&Value> {
        self.value(self.plan.tasks_channel)?.at(place)
    }

    /// Does one of the node's triggers hold something that the node has not seen?
    pub(crate) fn triggered(&self, node: NodeIx) -> bool {
        let seen = &self.seen[self.plan.triggers_of(node)];
        let ran = self.ran[node as usize];
        let mut triggers = self.plan.node(node).triggers.iter().zip(seen);
        triggers.any(|(channel, seen)| {
            self.available(*channel) && (!ran || self.versions[*channel as usize] > *seen)
        })
    }

    /// Nodes to run beside the queued packets: those that `updated` triggers, by name; or any, in declaration order.
    pub(crate) fn triggered_nodes(&self, updated: Option<&[ChannelIx]>) -> SmallVec<[NodeIx; 4]> {
        match updated.filter(|updated| !updated.is_empty()) {
            Some(updated) => {
                let mut nodes: SmallVec<[NodeIx; 4]> = updated
                    .iter()
                    .flat_map(|c| self.plan.channel(*c).subscribers.iter().copied())
                    .collect();
                if nodes.len() > 1 {
                    nodes.sort_by(|a, b| self.plan.node(*a).name.cmp(&self.plan.node(*b).name));
                    nodes.dedup();
                }
                nodes.retain(|node| self.triggered(*node));
                nodes
            }
            None => {
                // Only channels that hold something can trigger; the graph may have many more nodes than that.
                let held = (self.plan.readable_keys..self.plan.channels.len()).map(|c| c as ChannelIx);
                let mut nodes: SmallVec<[NodeIx; 4]> = held
                    .filter(|c| self.value(*c).is_some())
                    .flat_map(|c| self.plan.channel(c).subscribers.iter().copied())
                    .collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes.retain(|node| self.triggered(*node));
                nodes
            }
        }
    }

    /// Names of what runs next: packets, then nodes in declaration order.
    pub(crate) fn next_names(&self, updated: Option<&[ChannelIx]>) -> Vec<Name> {
        let known = |packet: &Value| {
            let name = packet.get("node")?.as_str()?;
            self.plan
                .node_index
                .get(name)
                .map(|node| self.plan.node(*node).name.clone())
        };
        let mut next: Vec<Name> = self.packets().filter_map(known).collect();
        let mut nodes = self.triggered_nodes(updated);
        nodes.sort_unstable();
        next.extend(nodes.into_iter().map(|node| self.plan.node(node).name.clone()));
        next
    }

    /// Applies the writes of one super-step. `bump` is false for reads that only look ahead: versions stay.
    /// Returns the channels that were updated and can be read.
    pub(crate) fn apply(
        &mut self,
        tasks: &mut [Applied<'_>],
        is_step: bool,
        bump: bool,
    ) -> Result<Vec<ChannelIx>, RunError> {
        tasks.sort_by(|a, b| a.place.cmp(&b.place));
        let plan = self.plan.clone();
        for task in tasks.iter() {
            let Some(node) = task.node else {
                if !task.name.is_empty() && !self.extra_seen.contains_key(task.name) {
                    self.extra_seen.insert(task.name.into(), ChannelVersions::new());
                    self.note_extra(task.name);
                }
                continue;
            };
            let mut differs = !std::mem::replace(&mut self.ran[node as usize], true);
            if task.pulled {
                let seen = &mut self.seen[plan.triggers_of(node)];
                for (slot, channel) in seen.iter_mut().zip(&plan.node(node).triggers) {
                    let version = self.versions[*channel as usize];
                    differs |= *slot != version;
                    *slot = version;
                }
            }
            if differs && self.tracked {
                self.dirty.note_node(node);
            }
        }
        let version = self.max_version + 1;
        let [mut updated, next] = std::mem::take(&mut self.spare);
        for task in tasks.iter().filter(|task| task.pulled) {
            for channel in task.node.iter().flat_map(|node| &plan.node(*node).triggers) {
                if plan.channel(*channel).spec.kind.consume(self.slot(*channel)) {
                    self.changed(*channel, None, bump.then_some(version));
                }
            }
        }
        let mut passed = std::mem::replace(&mut self.transient, next);
        let version = bump.then_some(version);
        if !self.apply_one(&plan, tasks, version, &mut passed, &mut updated)? {
            let grouped = group(tasks, &mut self.places);
            passed.retain(|index| self.places[*index as usize] == NO_PLACE);
            for (index, _) in &grouped.channels {
                self.places[*index as usize] = NO_PLACE;
            }
            let mut begin = 0;
            for (index, end) in &grouped.channels {
                let values = &grouped.values[begin..*end];
                begin = *end;
                self.write(&plan, tasks, *index, values, version, &mut updated)?;
            }
        }
        for index in &passed {
            if !is_step {
                self.transient.push(*index);
            } else if let Ok(Effect::Replaced) = plan.channel(*index).spec.kind.update(self.slot(*index), &[])
            {
                self.changed(*index, None, version);
            }
        }
        passed.clear();
        self.spare[1] = passed;
        let leads_on = |channel: &ChannelIx| !plan.channel(*channel).subscribers.is_empty();
        if is_step && !self.waiting.is_empty() && !updated.iter().any(leads_on) {
            // The step led nowhere, so the deferred nodes have their turn, all of them at once.
            for index in std::mem::take(&mut self.waiting) {
                if plan.channel(index).spec.kind.finish(self.slot(index)) {
                    self.changed(index, None, version);
                    updated.push(index);
                }
            }
        }
        Ok(updated)
    }

    /// Takes a list of updated channels back that nobody needs any more.
    pub(crate) fn recycle(&mut self, mut updated: Vec<ChannelIx>) {
        updated.clear();
        self.spare[0] = updated;
    }

    /// Applies the writes of a step of one task that writes no channel twice, which needs no groups. False for any
    /// other step, of which nothing is applied. Written channels are taken out of `passed`.
    fn apply_one(
        &mut self,
        plan: &Plan,
        tasks: &[Applied<'_>],
        version: Option<u64>,
        passed: &mut Vec<ChannelIx>,
        updated: &mut Vec<ChannelIx>,
    ) -> Result<bool, RunError> {
        let [only] = tasks else { return Ok(false) };
        let known = || only.writes.iter().filter_map(|(channel, _)| channel.known());
        let once = known().all(|index| std::mem::replace(&mut self.places[index as usize], 0) == NO_PLACE);
        if once {
            passed.retain(|index| self.places[*index as usize] == NO_PLACE);
        }
        for index in known() {
            self.places[index as usize] = NO_PLACE;
        }
        if once {
            for (channel, value) in only.writes {
                match channel {
                    Channel::Known(index) => self.write(plan, tasks, *index, &[value], version, updated)?,
                    Channel::Named(name) => unknown(only, name),
                }
            }
        }
        Ok(once)
    }

    /// Applies what a step writes to one channel.
    fn write(
        &mut self,
        plan: &Plan,
        tasks: &[Applied<'_>],
        index: ChannelIx,
        values: &[&Value],
        version: Option<u64>,
        updated: &mut Vec<ChannelIx>,
    ) -> Result<(), RunError> {
        let channel = plan.channel(index);
        let kind = &channel.spec.kind;
        let effect = kind.update(self.slot(index), values).map_err(|why| {
            let writes = |task: &&Applied<'_>| {
                let ours = |(channel, _): &&(Channel, Value)| *channel == Channel::Known(index);
                task.writes.iter().filter(ours).count()
            };
            let writers = tasks
                .iter()
                .flat_map(|task| std::iter::repeat_n(task.name, writes(&task)))
                .collect();
            RunError::invalid_update(refusal(&channel.name, &why, writers))
        })?;
        let kept = match effect {
            Effect::Unchanged => return Ok(()),
            Effect::Replaced => None,
            Effect::Appended(kept) => Some(kept),
        };
        self.changed(index, kept, version);
        if matches!(kind, Kind::Delta(_)) {
            let overwritten = values.iter().any(|value| overwrite_of(value).is_some());
            self.deltas.note_write(index, overwritten);
        }
        if kind.waits(self.value(index)) {
            self.waiting.insert(index);
        }
        if self.available(index) {
            updated.push(index);
            if kind.is_transient() {
                self.transient.push(index);
            }
        }
        Ok(())
    }

    fn changed(&mut self, index: ChannelIx, kept: Option<usize>, version: Option<u64>) {
        if let Some(version) = version {
            self.versions[index as usize] = version;
            self.max_version = self.max_version.max(version);
            self.changed_since_interrupt = true;
        }
        if self.tracked {
            self.dirty.note(index, kept);
        }
    }

    fn note_extra(&mut self, name: &str) {
        if self.tracked {
            self.dirty.extra.insert(name.into());
        }
    }

    /// The same state as the first of a new place: nothing that is stored can be built upon.
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

    /// Marks everything as seen by the breakpoints, so that the stop a run resumes from does not stop it again.
    pub(crate) fn pass_breakpoints(&mut self) {
        let plan = self.plan.clone();
        let mut seen = self
            .extra_seen
            .get(reserved::INTERRUPT)
            .cloned()
            .unwrap_or_default();
        for (index, version) in self
            .versions
            .iter()
            .enumerate()
            .filter(|(_, version)| **version > 0)
        {
            seen.insert(plan.channels[index].name.clone(), *version);
        }
        self.extra_seen.insert(reserved::INTERRUPT.into(), seen);
        self.note_extra(reserved::INTERRUPT);
        self.changed_since_interrupt = false;
    }

    /// Has anything been seen by what is no node of this graph?
    pub(crate) fn seen_by_others(&self) -> bool {
        let mut others = self.extra_seen.values();
        others.any(|seen| seen.iter().any(|(_, version)| *version > 0))
    }

    /// `(version, node)` of every trigger that a node of this graph has seen.
    pub(crate) fn seen_versions(&self) -> impl Iterator<Item = (u64, NodeIx)> + '_ {
        (0..self.plan.nodes.len() as NodeIx).flat_map(|node| {
            let seen = self.seen[self.plan.triggers_of(node)].iter();
            seen.filter(|v| **v > 0).map(move |v| (*v, node))
        })
    }

    /// Makes the checkpoint of the state as it is now. With `settle` it becomes the base of the next one; without,
    /// the next one is made against the same base again (nothing in between is stored).
    pub(crate) fn checkpoint(
        &mut self,
        id: CheckpointId,
        ts: String,
        mut metadata: Metadata,
        updated: Option<&[ChannelIx]>,
        settle: bool,
    ) -> (Checkpoint, Vec<Change>, Vec<Name>) {
        let plan = self.plan.clone();
        let whole = self.snapshots(&mut metadata, settle);
        let empty = Base {
            id: id.clone(),
            parent: None,
            values: ChannelValues::new(),
            versions: ChannelVersions::new(),
            seen: VersionsSeen::new(),
        };
        let base = self.base.as_ref().unwrap_or(&empty);
        let mut changed = SmallVec::<[(ChannelIx, Option<usize>); 8]>::from_slice(&self.dirty.channels);
        changed.retain(|(index, _)| self.versions[*index as usize] > 0);
        let is_rebuilt_in_base = |index: &ChannelIx| {
            let value = base.values.get(&plan.channel(*index).name);
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

        let mut values = Changes::with_capacity(changed.len());
        let mut versions = Changes::with_capacity(changed.len());
        let mut changes: Vec<Change> = Vec::with_capacity(changed.len());
        for (index, kept) in changed {
            let name = &plan.channel(index).name;
            let value = match whole.contains(&index) {
                true => self.value(index).map(|value| snapshot(value.clone())),
                false => self.stored_value(index),
            };
            let known = self.held[index as usize];
            if settle {
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
        let names = self.changed_seen();
        let seen = names.iter().map(|name| (name.clone(), Some(self.seen_of(name))));
        let updated_channels = updated.map(|updated| {
            let mut names: Vec<Name> = updated.iter().map(|c| plan.channel(*c).name.clone()).collect();
            names.sort();
            names
        });
        let checkpoint = Checkpoint {
            id,
            parent: self.base.as_ref().map(|base| base.id.clone()),
            ts,
            channel_values: base.values.with(values),
            channel_versions: base.versions.with(versions),
            versions_seen: base.seen.with(seen.collect()),
            updated_channels,
            metadata,
            next: self.next_names(updated),
        };
        if settle {
            self.base = Some(Base::of(&checkpoint));
            self.dirty.clear();
        }
        (checkpoint, changes, names)
    }

    /// Entries of what was seen that differ from the last stored checkpoint's, in the order of their names.
    fn changed_seen(&self) -> Vec<Name> {
        let nodes = self.dirty.nodes.iter();
        let nodes = nodes.map(|node| self.plan.node(*node).name.clone());
        let mut names: Vec<Name> = nodes.chain(self.dirty.extra.iter().cloned()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The trigger versions that a node, or whoever else has this name, has seen.
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

    /// The delta keys whose values the next checkpoint holds. A backend stores what has a new version, so they get one.
    fn snapshots(&mut self, metadata: &mut Metadata, settle: bool) -> BTreeSet<ChannelIx> {
        if self.plan.deltas.is_empty() {
            return BTreeSet::new();
        }
        let plan = self.plan.clone();
        let versions = &self.versions;
        let due = self
            .deltas
            .count(&plan, metadata, settle, |index| versions[index as usize] > 0);
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

    /// Stored writes that the next checkpoint does not follow from: the delta keys they belong to are stored whole.
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

    /// The value as checkpoints hold it.
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

    /// The channels named by a stored list that this graph still has.
    pub(crate) fn indexes(&self, names: &[Name]) -> Vec<ChannelIx> {
        names
            .iter()
            .filter_map(|name| self.plan.channel_named(name))
            .collect()
    }

    /// Applies the writes that an input command left on the checkpoint.
    pub(crate) fn apply_null_writes(
        &mut self,
        pending: &[PendingWrite],
        bump: bool,
    ) -> Result<Vec<ChannelIx>, RunError> {
        let writes: Writes = pending
            .iter()
            .filter(|write| write.task_id.is_null())
            .map(|write| {
                (
                    resolve(&self.plan, &write.write.channel),
                    write.write.value.clone(),
                )
            })
            .collect();
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let mut task = [Applied {
            name: reserved::INPUT,
            node: None,
            place: Place::Text(""),
            pulled: false,
            writes: &writes,
        }];
        self.apply(&mut task, false, bump)
    }
}

/// Is the value itself part of every checkpoint?
fn is_kept(kind: &Kind) -> bool {
    kind.is_stored() && !matches!(kind, Kind::Delta(_))
}

/// The channel of a stored write.
pub(crate) fn resolve(plan: &Plan, name: &Name) -> Channel {
    match plan.channel_named(name) {
        Some(index) => Channel::Known(index),
        None => Channel::Named(name.clone()),
    }
}

/// The name of a write's channel.
pub(crate) fn channel_name(plan: &Plan, channel: &Channel) -> Name {
    match channel {
        Channel::Known(index) => plan.channel(*index).name.clone(),
        Channel::Named(name) => name.clone(),
    }
}

/// A task's writes as they are stored, the first at `from` in the task's list. What is untracked is left out.
pub(crate) fn stored_writes(plan: &Plan, from: usize, writes: &[(Channel, Value)]) -> Vec<Write> {
    let is_stored = |channel: &Channel| match channel {
        Channel::Known(index) => plan.channel(*index).spec.kind.is_stored(),
        Channel::Named(_) => true,
    };
    let stored = |(position, (channel, value)): (usize, &(Channel, Value))| {
        let is_packet = *channel == Channel::Known(plan.tasks_channel);
        let channel = channel_name(plan, channel);
        Write {
            idx: write_index(&channel, from + position),
            channel,
            value: if is_packet && plan.has_untracked {
                plan.without_untracked(value)
            } else {
                value.clone()
            },
        }
    };
    let kept = writes.iter().filter(|(channel, _)| is_stored(channel));
    kept.enumerate().map(stored).collect()
}

/// A state of the thread at `tuple`, or the fresh state.
pub(crate) fn load(plan: &Arc<Plan>, tuple: Option<&CheckpointTuple>) -> Live {
    match tuple {
        Some(tuple) => Live::load(plan.clone(), &tuple.checkpoint),
        None => Live::fresh(plan.clone()),
    }
}
