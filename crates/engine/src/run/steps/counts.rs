//! What a run counts as it goes: its work, the size of its state, and how often its thread comes to a node.

use super::Loop;
use super::effects::Decided;
use super::packets::Packets;
use crate::base::failure::Failure;
use crate::checkpoint::types::{Metadata, VISITS};
use crate::graph::plan::{ChannelIx, NodeIx};
use crate::graph::task::TaskHeader;
use crate::graph::writes::Writes;
use crate::policy::bounds::{Beyond, Bound};
use crate::stream::error::RunError;
use crate::task::Substitute;
use crate::value::{Object, Value};

fn beyond(Beyond(bound, limit): Beyond) -> RunError {
    RunError::Bound { bound, limit }
}

impl Loop {
    pub(super) fn count(&mut self, steps: u64, tasks: u64, writes: u64) {
        self.report.counts.steps += steps;
        self.report.counts.tasks += tasks;
        self.report.counts.writes += writes;
        if let Some(meter) = &self.setup.shared.config.metrics {
            meter.count(|metrics| {
                metrics.steps += steps;
                metrics.tasks += tasks;
                metrics.writes += writes;
            });
        }
    }

    /// Notes how large the state is, after these channels changed; an error when it is too large.
    pub(super) fn measure_state(
        &mut self,
        changed: impl IntoIterator<Item = ChannelIx>,
    ) -> Result<(), RunError> {
        let config = &self.setup.shared.config;
        if config.metrics.is_none()
            && config.bounds.state_bytes.is_none()
            && !self.breakpoints.as_ref().is_some_and(|points| points.measures)
        {
            return Ok(());
        }
        self.live.measured = true;
        let grown = std::mem::take(&mut self.live.grown);
        for channel in changed {
            let mut kept = grown.iter().filter(|(grown, _)| *grown == channel);
            let kept = kept.next().map(|(_, kept)| *kept);
            self.report
                .size
                .set(channel as usize, self.live.value(channel), kept);
        }
        let total = self.report.size.total();
        if let Some(meter) = &self.setup.shared.config.metrics {
            let total = total as u64;
            meter.count(|metrics| metrics.peak_state_bytes = metrics.peak_state_bytes.max(total));
        }
        match self.setup.shared.config.bounds.state_bytes {
            Some(limit) if total > limit => Err(beyond(Beyond(Bound::StateBytes, limit))),
            _ => Ok(()),
        }
    }

    /// Counts the packets of a task that has ended.
    pub(super) fn count_packets(&mut self, writes: &Writes) -> Result<(), RunError> {
        let bounds = &self.setup.shared.config.bounds;
        let found = self
            .open
            .packets
            .add(bounds, self.setup.plan.tasks_channel, writes);
        found.map_or(Ok(()), |found| Err(beyond(found)))
    }

    /// Begins to count the packets of a step, with those of tasks that ended in an earlier run.
    pub(super) fn count_packets_again(&mut self) -> Result<(), RunError> {
        self.open.packets = Packets::default();
        let bounds = &self.setup.shared.config.bounds;
        for task in &self.open.tasks {
            if let Some(found) = self
                .open
                .packets
                .add(bounds, self.setup.plan.tasks_channel, &task.writes)
            {
                return Err(beyond(found));
            }
        }
        Ok(())
    }

    /// Counts the visits of the step that is open, however many tasks a bounded node has in it, and notes which nodes
    /// lead elsewhere. Returns the error of a node that does not.
    pub(super) fn count_visits(&mut self) -> Result<(), RunError> {
        self.open.beyond.clear();
        let mut refused = Ok(());
        for node in &self.setup.plan.bounded {
            let spec = self.setup.plan.node(*node);
            let (true, Some(limit)) = (
                self.open.tasks.iter().any(|task| task.node == Some(*node)),
                spec.more().max_visits,
            ) else {
                continue;
            };
            let visits = self.progress.visits.entry(*node).or_default();
            *visits = visits.saturating_add(1);
            if *visits <= limit {
                continue;
            }
            if self.setup.plan.limit_handlers.contains_key(node) {
                self.open.beyond.push(*node);
            } else if self.progress.first_step.is_none() {
                // The thread stopped here, and somebody has it go on nevertheless.
                *visits = 1;
            } else if refused.is_ok() {
                refused = Err(RunError::LoopLimit {
                    node: spec.name.clone(),
                    limit,
                });
            }
        }
        refused
    }

    /// Returns whether the task is one of a node that was visited as often as it may be, and leads elsewhere.
    pub(super) fn is_beyond(&self, task: &TaskHeader) -> bool {
        task.node.is_some_and(|node| self.open.beyond.contains(&node))
    }

    /// Lets the tasks of nodes that lead elsewhere fail instead of doing their work.
    pub(super) fn refuse_beyond(&mut self) {
        for place in 0..self.open.tasks.len() {
            let task = &self.open.tasks[place];
            let Some(node) = task.node.filter(|node| self.open.beyond.contains(node)) else {
                continue;
            };
            let limit = self.setup.plan.node(node).more().max_visits.unwrap_or_default();
            let why = format!(
                "`{}` was visited {limit} times, which is its `max_visits`",
                task.name
            );
            if task.writes.is_empty() {
                let fails = Substitute::Fail(Failure::new("LoopLimitError", why));
                self.open.decided.insert(place, Decided::instead(fails));
            }
        }
    }

    /// Returns the counts as the checkpoint of the state keeps them; `None` where nothing was counted.
    pub(super) fn stored_visits(&self) -> Option<Object> {
        let visits = self.progress.visits.iter();
        let named = visits.map(|(node, visits)| (self.setup.plan.node(*node).name.clone(), *visits));
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        (!named.is_empty()).then(|| named.into_iter().collect())
    }

    /// Counts on from a checkpoint.
    pub(super) fn load_visits(&mut self, metadata: &Metadata) {
        let counts = metadata.user.get(VISITS).and_then(Value::as_object);
        let of_node = |node: &NodeIx| {
            let visits = counts?.get(&self.setup.plan.node(*node).name)?.as_u64()?;
            Some((*node, u32::try_from(visits).unwrap_or(u32::MAX)))
        };
        self.progress.visits = self.setup.plan.bounded.iter().filter_map(of_node).collect();
    }
}
