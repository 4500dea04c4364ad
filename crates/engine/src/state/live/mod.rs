//! The live state of a thread: channel values and versions by index, and the persistent maps of its checkpoint.
//!
//! Steps work on plain vectors; the maps of the checkpoint are brought up to date from a list of what changed, when a
//! checkpoint is made. So a step without a checkpointer never touches them, and one with a checkpointer pays for
//! what changed.

mod apply;
mod next;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::base::ids::Name;
use crate::channel::{Kind, whole_of};
use crate::checkpoint::foreign::GivenTasks;
use crate::checkpoint::types::{ChannelVersions, Checkpoint, CheckpointTuple, reserved};
use crate::graph::plan::{ChannelIx, NodeIx, Plan, Shown};
use crate::graph::writes::{Channel, Writes};
use crate::state::delta::Deltas;
use crate::state::entries::{UpdateAuthor, add_writes};
use crate::state::view;
use crate::stream::error::RunError;
use crate::value::Value;

pub(crate) use apply::Applied;

use record::{Base, Dirty};

/// A channel that the step which is being applied has not written.
const NO_PLACE: u32 = u32::MAX;

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
    /// Is it noted which lists only grew?
    pub(crate) measured: bool,
    /// Lists that did since somebody looked, with how many items they kept.
    pub(crate) grown: Vec<(ChannelIx, usize)>,
    /// The checkpoint that this state continues.
    pub(crate) base: Option<Base>,
    /// Per channel, whether that checkpoint has a value for it.
    held: Vec<bool>,
}

impl Live {
    /// Creates the state of a thread that has no checkpoint yet.
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
            measured: false,
            grown: Vec::new(),
            base: None,
            held: vec![false; plan.channels.len()],
            plan,
        }
    }

    /// Loads the state that a checkpoint holds.
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
            if let (Kind::Delta(spec), Some(Value::Null)) = (kind, &value) {
                // It was no delta key when this was stored: such a key begins empty.
                value = Some(spec.empty.clone());
            } else if kind.can_be_rebuilt()
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
        if let Some(given) = GivenTasks::of(&checkpoint.metadata) {
            live.trigger(&given, checkpoint);
        }
        live
    }

    /// Triggers the nodes that another program had come to, where its channels do not do so in this graph: it may join
    /// other nodes, and programs of before 2025 name their triggers in another way.
    fn trigger(&mut self, given: &GivenTasks, checkpoint: &Checkpoint) {
        let plan = self.plan.clone();
        let nodes = given.nodes().filter_map(|name| plan.node_index.get(name));
        let mut missed: Vec<NodeIx> = nodes.copied().chain(led_to(&plan, checkpoint)).collect();
        missed.retain(|node| !plan.node(*node).is_start() && !self.triggered(*node));
        missed.sort_unstable();
        missed.dedup();
        if missed.is_empty() {
            return;
        }
        self.max_version += 1;
        for node in missed {
            let channel = plan.node(node).branch_channel;
            let kind = &plan.channel(channel).spec.kind;
            *self.slot(channel) = Some(kind.trigger());
            self.versions[channel as usize] = self.max_version;
            if kind.is_transient() {
                self.transient.push(channel);
            }
            self.waiting.remove(&channel);
            self.dirty.note(channel, None);
        }
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

    /// Returns the value given to a node that names no keys.
    pub(crate) fn whole_view(&self) -> Value {
        self.whole
            .get_or_init(|| view::input_view(&self.plan, &self.state, None))
            .clone()
    }

    /// Returns the whole state, private keys included.
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
        add_writes(&self.plan, UpdateAuthor::Command, state, &mut writes)
            .map_err(RunError::invalid_update)?;
        for (channel, value) in writes {
            if let Channel::Known(index) = channel {
                *self.slot(index) = Some(value);
            }
        }
        Ok(())
    }

    /// Computes the managed keys for a step, given how many steps are left.
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

    /// Returns whether anything but a node of this graph has seen a channel.
    pub(crate) fn seen_by_others(&self) -> bool {
        let mut others = self.extra_seen.values();
        others.any(|seen| seen.iter().any(|(_, version)| *version > 0))
    }

    /// Returns `(version, node)` of every trigger that a node of this graph has seen.
    pub(crate) fn seen_versions(&self) -> impl Iterator<Item = (u64, NodeIx)> + '_ {
        (0..self.plan.nodes.len() as NodeIx).flat_map(|node| {
            let seen = self.seen[self.plan.triggers_of(node)].iter();
            seen.filter(|v| **v > 0).map(move |v| (*v, node))
        })
    }

    /// Returns the channels of a stored list of names that this graph still has.
    pub(crate) fn indexes(&self, names: &[Name]) -> Vec<ChannelIx> {
        names
            .iter()
            .filter_map(|name| self.plan.channel_named(name))
            .collect()
    }
}

/// Returns the nodes that channels of a program of before 2025 lead to: `start:NODE` and `branch:FROM:CONDITION:NODE` name
/// them, and a channel with the name of a node says that it ran in the step before, from which the edges of this graph lead
/// on. Such a channel has a value for one step.
fn led_to(plan: &Plan, checkpoint: &Checkpoint) -> Vec<NodeIx> {
    let mut found = Vec::new();
    for (name, _) in &checkpoint.channel_values {
        if plan.channel_named(name).is_some() {
            continue;
        }
        let targets: Vec<NodeIx> = match plan.node_index.get(name) {
            Some(ran) => {
                let edges = plan.node(*ran).edges.iter();
                edges
                    .filter_map(|edge| plan.channel(*edge).branch_target)
                    .collect()
            }
            None => {
                let named = name
                    .strip_prefix("start:")
                    .or_else(|| name.strip_prefix("branch:"));
                let node = named.and_then(|rest| plan.node_index.get(rest.rsplit(':').next()?));
                node.copied().into_iter().collect()
            }
        };
        let version = checkpoint.channel_versions.get(name);
        found.extend(targets.into_iter().filter(|node| {
            let seen = checkpoint.versions_seen.get(&plan.node(*node).name);
            seen.and_then(|seen| seen.get(name)) < version
        }));
    }
    found
}

/// Loads the state of the thread at `tuple`, or the fresh state.
pub(crate) fn load(plan: &Arc<Plan>, tuple: Option<&CheckpointTuple>) -> Live {
    match tuple {
        Some(tuple) => Live::load(plan.clone(), &tuple.checkpoint),
        None => Live::fresh(plan.clone()),
    }
}
