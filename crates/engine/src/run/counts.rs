//! What a run counts as it goes: its work, the size of its state, and how often it comes to a node.

use super::*;

impl Loop {
    pub(super) fn count(&mut self, steps: u64, tasks: u64, writes: u64) {
        self.counts.steps += steps;
        self.counts.tasks += tasks;
        self.counts.writes += writes;
        if let Some(meter) = &self.shared.config.metrics {
            meter.count(|metrics| {
                metrics.steps += steps;
                metrics.tasks += tasks;
                metrics.writes += writes;
            });
        }
    }

    /// Notes how large the state is, after these channels changed.
    pub(super) fn measure_state(&mut self, changed: impl IntoIterator<Item = ChannelIx>) {
        let Some(meter) = &self.shared.config.metrics else {
            return;
        };
        for channel in changed {
            self.size.set(channel as usize, self.live.value(channel));
        }
        let total = self.size.total() as u64;
        meter.count(|metrics| metrics.peak_state_bytes = metrics.peak_state_bytes.max(total));
    }

    /// Counts the steps in which a bounded node has work, however many tasks it has there.
    pub(super) fn count_visits(&mut self) -> Result<(), RunError> {
        for node in &self.plan.bounded {
            let spec = self.plan.node(*node);
            let (true, Some(limit)) = (
                self.tasks.iter().any(|task| task.node == Some(*node)),
                spec.more().max_visits,
            ) else {
                continue;
            };
            let visits = self.visits.entry(*node).or_default();
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
