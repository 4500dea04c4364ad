//! The tasks of one super-step together, and what is recorded when one ends.

use std::collections::{HashMap, VecDeque};
use std::future::{Ready, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use super::conclusion::TaskConclusion;
use super::executor::{Executor, InlineTask};
use super::{Loop, Stop};
use crate::base::ids::TaskId;
use crate::checkpoint::types::{PendingWrite, TaskWrites, reserved};
use crate::graph::context::TaskInfo;
use crate::graph::node::Interrupted;
use crate::graph::task::TaskHeader;
use crate::graph::writes::{Channel, Writes, resolve, stored_writes};
use crate::inspect::snapshot;
use crate::stream::error::RunError;
use crate::stream::lifecycle::LifecycleStatus;
use crate::stream::request::Durability;
use crate::task::{self, End, Task, TaskOutcome};
use crate::value::Value;

/// Tasks done on the spot after which the runtime may do something else, and a cancelled run stops.
pub(super) const BREATHER: usize = 128;

/// The end of all tasks of a step, taken together.
#[derive(Default)]
pub(super) struct StepOutcome {
    /// The task that is being recorded was done on the spot: its writes can wait for those of its neighbours.
    pub(super) on_the_spot: bool,
    /// A task failed at a breakpoint: the step stays open.
    pub(super) stopped: bool,
    pub(super) failure: Option<RunError>,
    pub(super) asked: bool,
    /// A called task asked. If its caller went on without it, nobody else says so.
    pub(super) asked_in_call: bool,
}

impl StepOutcome {
    /// Notes why the step fails; the first reason counts.
    pub(super) fn fail(&mut self, error: RunError) {
        self.failure.get_or_insert(error);
    }

    /// Returns whether a task has failed. A command to the graph around does not count, nor does a drained graph: the
    /// others go on.
    pub(super) fn has_failed(&self) -> bool {
        !matches!(
            self.failure,
            None | Some(RunError::ParentCommand { .. } | RunError::Drained { .. })
        )
    }
}

impl Loop {
    /// Gives tasks that finished in an earlier attempt at this step their writes back.
    pub(super) fn give_back(&mut self) {
        let mut places: HashMap<TaskId, usize> = HashMap::new();
        for (place, task) in self.open.tasks.iter().enumerate() {
            places.insert(task.id().clone(), place);
        }
        for pending in &self.resumed.pending {
            if snapshot::is_output(&pending.write.channel)
                && let Some(place) = places.get(&pending.task_id)
            {
                let channel = resolve(&self.setup.plan, &pending.write.channel);
                self.open.tasks[*place]
                    .writes
                    .push((channel, pending.write.value.clone()));
            }
        }
    }

    /// Leaves behind stored writes that no task was given back: they are not part of what this step leads to.
    pub(super) fn leave_behind(&mut self) {
        if self.setup.plan.deltas.is_empty() {
            return;
        }
        let done = self.open.tasks.iter().filter(|task| !task.writes.is_empty());
        self.resumed.given_back = done.map(|task| task.id().clone()).collect();
        let unused = |write: &&PendingWrite| {
            !write.task_id.is_null() && !self.resumed.given_back.contains(&write.task_id)
        };
        self.live.leave_behind(self.resumed.pending.iter().filter(unused));
    }

    /// Keeps the writes to delta keys when nothing is stored before the run ends, because the last checkpoint is
    /// rebuilt from them. Their order is that of the steps.
    pub(super) fn keep_deltas(&mut self) {
        let given_back = std::mem::take(&mut self.resumed.given_back);
        let first_step = *self.progress.first_step.get_or_insert(self.progress.step);
        let Some(persister) = &mut self.persister else {
            return;
        };
        if self.setup.plan.deltas.is_empty() || persister.durability != Durability::Exit {
            return;
        }
        if !self.resumed.owns_start {
            self.live.deltas.force_written();
            return;
        }
        for task in self
            .open
            .tasks
            .iter()
            .filter(|task| !given_back.contains(task.id()))
        {
            let is_delta = |(channel, _): &&(Channel, Value)| matches!(channel, Channel::Known(c) if self.setup.plan.deltas.contains(c));
            let writes: Writes = task.writes.iter().filter(is_delta).cloned().collect();
            if !writes.is_empty() {
                persister.keep_delta(TaskWrites {
                    checkpoint_id: self.progress.current.clone(),
                    task_id: crate::state::delta::late_task(task.id(), self.progress.step),
                    // The first step of the run takes its place among what is stored of that step already.
                    task_path: if self.progress.step == first_step {
                        task.path_text().clone()
                    } else {
                        format!("~~{:010}{}", self.progress.step.max(0), task.path_text()).into()
                    },
                    writes: stored_writes(&self.setup.plan, 0, &writes),
                });
            }
        }
    }

    /// Runs every task without writes, all at once, and what they call. Some(stop) when the step stays open.
    pub(super) async fn run_tasks(&mut self) -> Result<Option<Stop>, RunError> {
        let mut ended = StepOutcome::default();
        self.count_packets_again()?;
        let expiry = self.progress.deadline.next(self.setup.shared.config.step_timeout);
        let waits = |place: &usize| self.open.tasks[*place].writes.is_empty() && !self.is_held(*place);
        let mut queue = (0..self.open.tasks.len()).filter(waits);
        let (Some(place), None) = (queue.next(), queue.next()) else {
            let queue = (0..self.open.tasks.len()).filter(waits).collect();
            let executor = Executor::new(self, queue, ended);
            return Box::pin(executor.run(None, expiry)).await;
        };
        // A step of one task needs no task of the runtime: it runs here, and most often is done at once.
        let mut work = pin!(self.execute(place));
        let mut done: Pin<Box<Ready<TaskOutcome>>>;
        let just_begun = AtomicBool::new(false);
        let work: Pin<&mut (dyn Future<Output = TaskOutcome> + Send)> = match futures::poll!(work.as_mut()) {
            Poll::Ready(outcome) if self.open.calls.is_empty() => {
                self.progress.on_the_spot += 1;
                if self.progress.on_the_spot.is_multiple_of(BREATHER) {
                    tokio::task::yield_now().await;
                }
                let others = self.open.held.iter().filter(|held| **held).count();
                match self.finished(place, outcome, others, &mut ended).await? {
                    None => return self.closed(ended, None),
                    Some(handler) => {
                        let executor = Executor::new(self, [handler].into(), ended);
                        return Box::pin(executor.run(None, expiry)).await;
                    }
                }
            }
            Poll::Ready(outcome) => {
                done = Box::pin(ready(outcome));
                done.as_mut()
            }
            Poll::Pending => {
                just_begun.store(true, Ordering::Relaxed);
                work
            }
        };
        let here = InlineTask {
            place,
            work,
            just_begun: &just_begun,
        };
        let mut rest = Box::pin(Executor::new(self, VecDeque::new(), ended).run(Some(here), expiry));
        poll_fn(|cx| {
            let polled = rest.as_mut().poll(cx);
            just_begun.store(false, Ordering::Relaxed);
            polled
        })
        .await
    }

    /// Closes a step whose tasks have all ended, or whose time was up, and returns what follows.
    pub(super) fn closed(
        &mut self,
        ended: StepOutcome,
        expired: Option<RunError>,
    ) -> Result<Option<Stop>, RunError> {
        self.open.calls.clear();
        if ended.has_failed() {
            self.fall_silent();
        }
        // What ended before the time was up is not hidden by it.
        let open = ended.asked || ended.stopped;
        let failure = ended.failure.or(expired.filter(|_| !open));
        if failure.is_none() && !ended.asked && self.holds_any() {
            self.stop_after_task();
        }
        match (failure, ended.asked) {
            (Some(error), _) => Err(error),
            (None, false) if ended.stopped || self.holds_any() => {
                Ok(Some(Stop::Breakpoint(LifecycleStatus::Pending)))
            }
            (None, true) if self.report.interrupts.is_empty() && !ended.asked_in_call => {
                Ok(Some(Stop::Breakpoint(LifecycleStatus::Pending)))
            }
            (None, true) => Ok(Some(Stop::Asked)),
            (None, false) => Ok(None),
        }
    }

    /// Closes the stream after a failure: the run is over for its readers. A graph around a nested one may still go on.
    pub(super) fn fall_silent(&self) {
        if !self.setup.shared.is_nested() {
            self.setup.shared.emitter.close();
        }
    }

    /// Records how a task ended, and emits it. Gives the place of the task that takes over, if it failed.
    pub(super) async fn finished(
        &mut self,
        place: usize,
        outcome: TaskOutcome,
        others: usize,
        ended: &mut StepOutcome,
    ) -> Result<Option<usize>, RunError> {
        let TaskOutcome {
            mut writes,
            end,
            answers,
            record,
        } = outcome;
        if matches!(end, End::Done)
            && let Err(error) = self.count_finished(place, &writes)
        {
            // Its writes are not kept, so the memory that they take is free again.
            ended.fail(error);
            return Ok(None);
        }
        self.count_work(place, &writes);
        let mut conclusion = TaskConclusion::new(answers);
        match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
                if self.setup.cache.is_some() {
                    self.keep_result(place, &writes).await;
                }
                self.done(place, &mut conclusion);
            }
            End::Interrupted(asked) => {
                let is_own = matches!(asked, Interrupted::Question { .. });
                self.asked(place, asked, &mut conclusion, ended);
                if is_own {
                    self.note_question(place, &conclusion.interrupts).await;
                }
            }
            End::Failed(_) if self.stopped_before_retry(place) => {
                ended.stopped = true;
                conclusion.stops = true;
            }
            End::Failed(reason) => {
                conclusion.stops = self.breaks_at_failure(place, &reason).await;
                self.failed(place, &writes, reason, &mut conclusion, ended);
            }
            End::Parent(command) => {
                ended.fail(RunError::ParentCommand { command });
                return Ok(None);
            }
            End::Drained(reason) => {
                ended.fail(RunError::Drained { reason });
                return Ok(None);
            }
            End::Cancelled => {
                ended.fail(RunError::Cancelled);
                return Ok(None);
            }
        }
        if let (Some(node), Some(record)) = (self.open.tasks[place].node, &record) {
            self.progress.records.insert(node, record.clone());
        }
        let leaves_something = self.note_rest(place, record.as_ref(), &mut conclusion);
        if leaves_something && self.persister.is_some() {
            self.store_conclusion(place, &writes, &mut conclusion, others, ended)
                .await?;
        }
        // A question asked in a call is shown as its caller's.
        ended.asked_in_call |= self.is_shown_by_caller(place, &conclusion);
        if leaves_something && self.is_shown(place, &conclusion) {
            let failure = conclusion.failure.take();
            self.emit_outcome(place, &writes, &conclusion.interrupts, failure, record)
                .await;
        }
        self.reply(place, &writes, &mut conclusion);
        self.open.tasks[place].writes = writes;
        let handled = conclusion.handled;
        Ok(handled.map(|(handler, reason)| self.take_over(place, handler, reason)))
    }

    /// Counts the packets of a task that is done; an error when they are more than the run may make.
    fn count_finished(&mut self, place: usize, writes: &Writes) -> Result<(), RunError> {
        match self.open.tasks[place].is_call() {
            true => Ok(()),
            false => self.count_packets(writes),
        }
    }

    /// Counts a task that has ended, and its writes to state keys.
    fn count_work(&mut self, place: usize, writes: &Writes) {
        if !self.open.tasks[place].is_start() {
            let written = task::count_state_writes(&self.setup.plan, writes);
            self.count(0, 1, written);
        }
    }

    /// Returns the task information that accompanies the messages that a task returned.
    pub(super) fn info(&self, task: &Task) -> TaskInfo {
        task.info(&self.setup.shared, self.setup.shared.clock.now_ms())
    }

    /// Returns a task's writes as they are stored, and keeps them as pending writes of the open step.
    pub(super) fn record_pending<'a>(
        &mut self,
        task: &TaskHeader,
        writes: impl IntoIterator<Item = &'a (Channel, Value)>,
    ) -> TaskWrites {
        let record = self.record(task, writes);
        for write in &record.writes {
            // Only a task that was tried before has something to replace; a wide step is not searched for each write.
            if write.idx < 0 {
                self.resumed
                    .pending
                    .retain(|p| p.task_id != record.task_id || p.write.idx != write.idx);
            }
            self.resumed.pending.push(PendingWrite {
                task_id: record.task_id.clone(),
                task_path: record.task_path.clone(),
                write: write.clone(),
            });
        }
        record
    }

    /// Returns a task's writes as they are stored.
    pub(super) fn record<'a>(
        &self,
        task: &TaskHeader,
        writes: impl IntoIterator<Item = &'a (Channel, Value)>,
    ) -> TaskWrites {
        TaskWrites {
            checkpoint_id: self.progress.current.clone(),
            task_id: task.id().clone(),
            task_path: task.path_text().clone(),
            writes: stored_writes(&self.setup.plan, 0, writes),
        }
    }
}
