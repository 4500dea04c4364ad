//! A step of one task: the others of its super-step are held back.

use super::Loop;
use crate::graph::scope::graph_path;
use crate::policy::breakpoint::BreakpointHit;
use crate::stream::error::RunError;
use crate::stream::request::StepTask;
use crate::task::Task;

impl Loop {
    /// Chooses the task that alone runs, if the run is to make a step of one task.
    pub(super) fn hold_others(&mut self) -> Result<(), RunError> {
        self.open.held.clear();
        self.open.alone = None;
        let Some(step_task) = &self.setup.shared.config.step_task else {
            return Ok(());
        };
        let waits = |task: &Task| task.writes.is_empty() && !task.is_start();
        if !self.open.tasks.iter().any(waits) {
            return Ok(());
        }
        let chosen = match step_task {
            StepTask::Next => self.open.tasks.iter().position(waits),
            StepTask::Task(id) => self
                .open
                .tasks
                .iter()
                .position(|task| waits(task) && task.id() == id),
        };
        let Some(chosen) = chosen else {
            return Err(RunError::invalid_request(
                "The task that is to run alone does not wait in the step that the thread has come to.",
            ));
        };
        let held = |place: usize| place != chosen && waits(&self.open.tasks[place]);
        self.open.alone = Some(chosen);
        self.open.held = (0..self.open.tasks.len()).map(held).collect();
        Ok(())
    }

    /// Returns whether the task is held back because another runs alone.
    pub(super) fn is_held(&self, place: usize) -> bool {
        self.open.held.get(place).copied().unwrap_or(false)
    }

    /// Returns whether the step stays open because tasks of it were held back.
    pub(super) fn holds_any(&self) -> bool {
        self.open.held.contains(&true)
    }

    /// Notes that the run stops because one task was to run alone.
    pub(super) fn stop_after_task(&self) {
        let waiting = self.open.held.iter().filter(|held| **held).count();
        let task = self.open.alone.and_then(|place| self.open.tasks.get(place));
        let reason = match (task, waiting) {
            (Some(task), 0) => format!("`{}` ran, the last task of its step", task.name),
            (Some(task), 1) => format!("`{}` ran alone; 1 task of the step waits", task.name),
            (Some(task), n) => format!("`{}` ran alone; {n} tasks of the step wait", task.name),
            (None, _) => "A step of one task".to_owned(),
        };
        self.setup.shared.hits.stop(BreakpointHit {
            id: "".into(),
            reason,
            node: task.map(|task| task.name.clone()),
            task_id: task.map(|task| task.id().clone()),
            path: graph_path(&self.setup.shared.ns).join("/"),
            step: self.progress.step - i64::from(!self.holds_any()),
            hit: 0,
        });
    }
}
