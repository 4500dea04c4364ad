//! What takes over from tasks that failed: tasks of the same step, made when the failure is known.

use std::collections::{HashMap, HashSet};

use super::Loop;
use crate::base::failure::{Failure, failure_of, repr};
use crate::base::ids::TaskId;
use crate::checkpoint::types::{PendingWrite, reserved};
use crate::graph::handler::NodeFailed;
use crate::graph::plan::NodeIx;
use crate::graph::task::TaskHeader;
use crate::graph::writes::Channel;
use crate::task;

impl Loop {
    /// Returns the node that takes over when this task fails.
    pub(super) fn handler_of(&self, task: &TaskHeader) -> Option<NodeIx> {
        let node = task.node?;
        match self.is_beyond(task) {
            true => self.setup.plan.limit_handlers.get(&node).copied(),
            false => self.setup.plan.node(node).handler,
        }
    }

    /// Makes the task that takes over from the failed one, and gives its place.
    pub(super) fn take_over(&mut self, place: usize, handler: NodeIx, error: Failure) -> usize {
        let failed = &mut self.open.tasks[place];
        // The failed task is not run again, and what it wrote before it failed counts.
        let shown = repr(&error);
        failed
            .writes
            .push((Channel::Named(reserved::ERROR.into()), shown.into()));
        let failure = NodeFailed {
            node: failed.name.clone(),
            error,
        };
        let task = task::taking_over(failed, handler, failure);
        self.open.tasks.push(task);
        self.open.tasks.len() - 1
    }

    /// Takes up again what handlers began in an earlier attempt at this step: what failed then does not run again.
    pub(super) fn resume_handlers(&mut self) {
        let routed = |write: &&PendingWrite| &*write.write.channel == reserved::ERROR_SOURCE;
        let routed: HashSet<TaskId> = self
            .resumed
            .pending
            .iter()
            .filter(routed)
            .map(|write| write.task_id.clone())
            .collect();
        if routed.is_empty() {
            return;
        }
        let is_error = |write: &&PendingWrite| &*write.write.channel == reserved::ERROR;
        let errors: HashMap<TaskId, Failure> = self
            .resumed
            .pending
            .iter()
            .filter(is_error)
            .filter_map(|write| Some((write.task_id.clone(), failure_of(write.write.value.as_str()?))))
            .collect();
        for place in 0..self.open.tasks.len() {
            let task = &self.open.tasks[place];
            if routed.contains(task.id())
                && let (Some(handler), Some(error)) = (self.handler_of(task), errors.get(task.id()))
            {
                self.take_over(place, handler, error.clone());
            }
        }
    }
}
