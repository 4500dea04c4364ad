//! The writes of a super-step reach the channels, in a fixed order.

use std::collections::BTreeSet;

use super::{Live, NO_PLACE};
use crate::channel::{ChannelChange, Kind, overwrite_of, refusal};
use crate::checkpoint::types::{ChannelVersions, PendingWrite, reserved};
use crate::graph::plan::{ChannelIx, NodeIx, Plan};
use crate::graph::task::TaskOrder;
use crate::graph::writes::{Channel, Writes, resolve};
use crate::stream::error::RunError;
use crate::value::Value;

/// One task's writes, as they are applied.
pub(crate) struct Applied<'a> {
    pub(crate) name: &'a str,
    pub(crate) node: Option<NodeIx>,
    /// Sorts tasks.
    pub(crate) place: TaskOrder<'a>,
    /// Was it started by its trigger channels (and so consumes them)?
    pub(crate) pulled: bool,
    pub(crate) writes: &'a [(Channel, Value)],
}

/// The unit of work that ends with the writes that are applied.
enum Ends {
    Step,
    Nothing,
}

/// Treatment of the versions of channels that are written.
#[derive(Clone, Copy)]
enum Versions {
    Advance,
    Keep,
}

/// The writes of a step by channel.
pub(super) struct Grouped<'a> {
    /// Channels in the order in which they were first written, each with the end of its part of `values`.
    pub(super) channels: Vec<(ChannelIx, usize)>,
    /// In task order and then write order.
    pub(super) values: Vec<&'a Value>,
}

static NULL: Value = Value::Null;

/// Logs that a task wrote to a channel that the graph does not have.
pub(super) fn unknown(task: &Applied<'_>, name: &str) {
    if !name.starts_with("__") {
        tracing::warn!(task = task.name, "wrote to unknown channel {name}, ignoring it");
    }
}

/// Logs whose updates are lost because another task of the step overwrote the key: nothing else says so.
fn warn_of_lost(key: &str, index: ChannelIx, tasks: &[Applied<'_>]) {
    let writes = || {
        tasks.iter().enumerate().flat_map(|(place, task)| {
            let ours = task
                .writes
                .iter()
                .filter(move |(written, _)| *written == Channel::Known(index));
            ours.map(move |(_, value)| (place, task.name, overwrite_of(value).is_some()))
        })
    };
    let Some((by_place, by, _)) = writes().find(|(_, _, overwrites)| *overwrites) else {
        return;
    };
    let others = writes().filter(|(place, _, overwrites)| *place != by_place && !overwrites);
    let lost: BTreeSet<&str> = others.map(|(_, name, _)| name).collect();
    if !lost.is_empty() {
        tracing::warn!(
            key,
            by,
            ?lost,
            "a task overwrote the key, so what others of the same step wrote to it is lost; join the branches first, or defer the node that overwrites"
        );
    }
}

/// Groups by counting: two passes over the writes, and no allocation for each channel. `places` says where each channel
/// went; the caller clears it.
pub(super) fn group<'a>(tasks: &[Applied<'a>], places: &mut [u32]) -> Grouped<'a> {
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
    let mut values = vec![&NULL; total];
    let mut next_of_once = 0..total;
    for task in tasks {
        for (channel, value) in task.writes {
            let Channel::Known(index) = channel else { continue };
            // Where no channel is written twice, the order of the writes is that of the channels already.
            let place = match once {
                true => next_of_once.next().unwrap_or_default(),
                false => places[*index as usize] as usize,
            };
            let next = &mut channels[place].1;
            values[*next] = value;
            *next += 1;
        }
    }
    Grouped { channels, values }
}

impl Live {
    /// Applies the writes of one super-step. Returns the channels that were updated and can be read.
    pub(crate) fn apply_step(&mut self, tasks: &mut [Applied<'_>]) -> Result<Vec<ChannelIx>, RunError> {
        self.apply(tasks, Ends::Step, Versions::Advance)
    }

    /// Applies an input: no step ends with it, so that values for one step stay.
    pub(crate) fn apply_input(&mut self, tasks: &mut [Applied<'_>]) -> Result<Vec<ChannelIx>, RunError> {
        self.apply(tasks, Ends::Nothing, Versions::Advance)
    }

    /// Applies the writes of one super-step for a read that only looks ahead: versions stay.
    pub(crate) fn preview_step(&mut self, tasks: &mut [Applied<'_>]) -> Result<Vec<ChannelIx>, RunError> {
        self.apply(tasks, Ends::Step, Versions::Keep)
    }

    fn apply(
        &mut self,
        tasks: &mut [Applied<'_>],
        ends: Ends,
        versions: Versions,
    ) -> Result<Vec<ChannelIx>, RunError> {
        let is_step = matches!(ends, Ends::Step);
        let bump = matches!(versions, Versions::Advance);
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
            } else if let Ok(ChannelChange::Replaced) =
                plan.channel(*index).spec.kind.update(self.slot(*index), &[])
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
            ChannelChange::Unchanged => return Ok(()),
            ChannelChange::Replaced => None,
            ChannelChange::Appended(kept) => Some(kept),
        };
        if let (true, Some(kept)) = (self.measured, kept) {
            self.grown.push((index, kept));
        }
        let overwritten =
            || kind.takes_overwrites() && values.iter().any(|value| overwrite_of(value).is_some());
        if values.len() > 1 && version.is_some() && overwritten() {
            warn_of_lost(&channel.name, index, tasks);
        }
        self.changed(index, kept, version);
        if matches!(kind, Kind::Delta(_)) {
            self.deltas.note_write(index, overwritten());
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

    pub(super) fn note_extra(&mut self, name: &str) {
        if self.tracked {
            self.dirty.extra.insert(name.into());
        }
    }

    /// Applies the writes that an input command left on the checkpoint.
    pub(crate) fn apply_null_writes(&mut self, pending: &[PendingWrite]) -> Result<Vec<ChannelIx>, RunError> {
        self.take_null_writes(pending, Versions::Advance)
    }

    /// Applies the writes that an input command left on the checkpoint, for a read that only looks ahead: versions
    /// stay.
    pub(crate) fn preview_null_writes(
        &mut self,
        pending: &[PendingWrite],
    ) -> Result<Vec<ChannelIx>, RunError> {
        self.take_null_writes(pending, Versions::Keep)
    }

    fn take_null_writes(
        &mut self,
        pending: &[PendingWrite],
        versions: Versions,
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
            place: TaskOrder::Text(""),
            pulled: false,
            writes: &writes,
        }];
        self.apply(&mut task, Ends::Nothing, versions)
    }
}
