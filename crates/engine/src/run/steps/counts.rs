//! What a run counts as it goes: its work, the size of its state, and how often it comes to a node.

use super::Loop;
use super::packets::Packets;
use crate::graph::plan::ChannelIx;
use crate::graph::writes::Writes;
use crate::policy::bounds::{Beyond, Bound};
use crate::stream::error::RunError;

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

    /// Counts the steps in which a bounded node has work, however many tasks it has there.
    pub(super) fn count_visits(&mut self) -> Result<(), RunError> {
        for node in &self.setup.plan.bounded {
            let spec = self.setup.plan.node(*node);
            let (true, Some(limit)) = (
                self.open.tasks.iter().any(|task| task.node == Some(*node)),
                spec.more().max_visits,
            ) else {
                continue;
            };
            let visits = self.progress.visits.entry(*node).or_default();
            *visits += 1;
            if *visits > limit {
                return Err(RunError::LoopLimit {
                    node: spec.name.clone(),
                    limit,
                });
            }
        }
        Ok(())
    }
}
