//! The tasks of one super-step together, and what is recorded when one ends.

use std::borrow::Cow;
use std::future::{Ready, poll_fn, ready};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use super::executor::{Executor, InlineTask};
use super::*;
use crate::base::failure::Failure;

/// Tasks done on the spot after which the runtime may do something else, and a cancelled run stops.
pub(super) const BREATHER: usize = 128;

/// The end of all tasks of a step, taken together.
#[derive(Default)]
pub(super) struct Ended {
    /// The task that is being recorded was done on the spot: its writes can wait for those of its neighbours.
    pub(super) on_the_spot: bool,
    /// A task failed at a breakpoint: the step stays open.
    pub(super) stopped: bool,
    pub(super) failure: Option<RunError>,
    asked: bool,
    /// A called task asked. If its caller went on without it, nobody else says so.
    asked_in_call: bool,
}

impl Ended {
    /// Returns whether a task has failed. A command to the graph around does not count, nor does a drained graph: the
    /// others go on.
    pub(super) fn has_failed(&self) -> bool {
        !matches!(
            self.failure,
            None | Some(RunError::ParentCommand { .. } | RunError::Drained { .. })
        )
    }
}

/// The effect of one task's end on its step.
struct Verdict {
    /// Writes to reserved channels, stored beside the task's own.
    notes: Writes,
    /// The task used answers that are stored with it.
    answered: bool,
    /// The task's own writes count.
    done: bool,
    interrupts: Vec<Interrupt>,
    failure: Option<Failure>,
    /// The error handler that takes over, and from which failure.
    handled: Option<(NodeIx, Failure)>,
    /// The error that callers receive in place of a result.
    answer: Result<(), NodeError>,
}

impl Verdict {
    fn new(answers: Option<Vec<Value>>) -> Self {
        let answered = answers.is_some();
        let resume = answers.map(|answers| (Channel::Named(reserved::RESUME.into()), Value::from(answers)));
        Self {
            notes: resume.into_iter().collect(),
            answered,
            done: false,
            interrupts: Vec::new(),
            failure: None,
            handled: None,
            answer: Ok(()),
        }
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
        let mut ended = Ended::default();
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
        let mut done: Pin<Box<Ready<Outcome>>>;
        let just_begun = AtomicBool::new(false);
        let work: Pin<&mut (dyn Future<Output = Outcome> + Send)> = match futures::poll!(work.as_mut()) {
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
        ended: Ended,
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
        outcome: Outcome,
        others: usize,
        ended: &mut Ended,
    ) -> Result<Option<usize>, RunError> {
        let head = self.open.tasks[place].head.clone();
        let Outcome {
            mut writes,
            end,
            answers,
            record,
        } = outcome;
        if matches!(end, End::Done)
            && !head.is_call()
            && let Err(error) = self.count_packets(&writes)
        {
            // Its writes are not kept, so the memory that they take is free again.
            ended.failure.get_or_insert(error);
            return Ok(None);
        }
        if !head.is_start() {
            let written = task::count_state_writes(&self.setup.plan, &writes);
            self.count(0, 1, written);
        }
        let mut verdict = Verdict::new(answers);
        match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
                if self.setup.cache.is_some() {
                    self.keep_result(place, &writes).await;
                }
                self.done(place, &mut verdict);
            }
            End::Interrupted(asked) => {
                let is_own = matches!(asked, Interrupted::Question { .. });
                self.asked(place, asked, &mut verdict, ended);
                if is_own {
                    self.note_question(place, &verdict.interrupts).await;
                }
            }
            End::Failed(reason) => {
                let stops = self.breaks_at_failure(place, &reason).await;
                self.failed(&head, &writes, reason, &mut verdict, ended, stops);
            }
            stopped => {
                ended.failure.get_or_insert(match stopped {
                    End::Parent(command) => RunError::ParentCommand { command },
                    End::Drained(reason) => RunError::Drained { reason },
                    _ => RunError::Cancelled,
                });
                return Ok(None);
            }
        }
        let leaves_something = self.note_rest(place, &mut verdict);
        if let Some(record) = record.filter(|_| leaves_something && self.persister.is_some()) {
            let noted = (Channel::Named(reserved::RECORD.into()), record.to_value());
            verdict.notes.push(noted);
        }
        if leaves_something && self.persister.is_some() {
            self.store_outcome(place, &writes, &mut verdict, others, ended)
                .await?;
        }
        // A question asked in a call is shown as its caller's.
        let shown_by_caller = head.is_call() && !verdict.interrupts.is_empty();
        ended.asked_in_call |= shown_by_caller;
        // A nested graph that stopped at a breakpoint leaves nothing to emit.
        if !head.is_start() && !shown_by_caller && leaves_something && self.shows(&verdict.interrupts) {
            self.emit_outcome(place, &writes, &verdict.interrupts, verdict.failure)
                .await;
        }
        if head.is_call() {
            for reply in self.open.calls.waiting.remove(&place).into_iter().flatten() {
                let value = || task::return_of(&writes).cloned().unwrap_or_default();
                let _ = reply.send(verdict.answer.clone().map(|()| value()));
            }
        } else {
            self.report.interrupts.extend(verdict.interrupts);
        }
        self.open.tasks[place].writes = writes;
        let handled = verdict.handled;
        Ok(handled.map(|(handler, reason)| self.take_over(place, handler, reason)))
    }

    /// Records that a task is done: its writes count.
    fn done(&mut self, place: usize, verdict: &mut Verdict) {
        verdict.done = true;
        if self.setup.shared.config.durability != Durability::Exit {
            self.resumed.questions.finished(&self.open.tasks[place].head);
        }
    }

    /// Records that a task asks, or that a graph in it does.
    fn asked(&mut self, place: usize, asked: Interrupted, verdict: &mut Verdict, ended: &mut Ended) {
        verdict.interrupts = match asked {
            Interrupted::Question { question, index } => vec![Interrupt {
                id: interrupt_id(&self.open.tasks[place].head.ns(), index),
                value: question,
            }],
            Interrupted::Nested(interrupts) => interrupts,
        };
        if !verdict.interrupts.is_empty() {
            let list: List = verdict.interrupts.iter().map(Interrupt::to_json).collect();
            let list = Value::Array(list);
            verdict
                .notes
                .push((Channel::Named(reserved::INTERRUPT.into()), list));
            verdict.notes.extend(self.note_asked(place));
        }
        ended.asked = true;
        verdict.answer = Err(NodeError::Interrupt(Interrupted::Nested(
            verdict.interrupts.clone(),
        )));
    }

    /// Records that a task failed. An error handler takes over, a caller decides, or the run fails.
    fn failed(
        &self,
        head: &TaskHeader,
        writes: &Writes,
        reason: Failure,
        verdict: &mut Verdict,
        ended: &mut Ended,
        stops: bool,
    ) {
        ended.stopped |= stops;
        let shown = repr(&reason);
        let notes = &mut verdict.notes;
        notes.push((Channel::Named(reserved::ERROR.into()), shown.as_str().into()));
        // A router that fails comes after its node's own writes, which are kept.
        notes.extend(writes.iter().cloned());
        verdict.failure = Some(reason.clone());
        verdict.answer = Err(NodeError::Failed(reason.clone()));
        if let Some(handler) = self.handler_of(head) {
            let name = Value::String(head.name.clone());
            notes.push((Channel::Named(reserved::ERROR_SOURCE.into()), name));
            // Nothing new begins in a step that has failed: the handler runs when the step is resumed.
            verdict.handled = Some((handler, reason)).filter(|_| !ended.has_failed() && !stops);
        } else if !head.is_call() && !stops {
            // Its caller decides what the failure of a call means.
            ended.failure.get_or_insert(match &*reason.class {
                "InvalidUpdateError" => RunError::InvalidUpdate {
                    message: format!("{}\nReturned by node {:?}.", reason.message, &*head.name),
                },
                _ => RunError::Node {
                    node: head.name.clone(),
                    task_id: head.id().clone(),
                    failure: reason,
                },
            });
        }
    }

    /// Notes the task's effect and the answers that are used up. False when the task leaves nothing.
    fn note_rest(&self, place: usize, verdict: &mut Verdict) -> bool {
        if self.persister.is_some()
            && let Some(note) = self.effect_note(place)
        {
            verdict
                .notes
                .push((Channel::Named(reserved::EFFECT.into()), note));
        }
        let leaves_something = verdict.done || !verdict.notes.is_empty();
        let used_up = || self.resumed.given.contains_key(self.open.tasks[place].head.id());
        if !verdict.done && leaves_something && !verdict.answered && used_up() {
            // It asks, or fails, before the stored answers that this run went back behind: they are used up.
            let none = Value::Array(List::new());
            verdict
                .notes
                .push((Channel::Named(reserved::RESUME.into()), none));
        }
        leaves_something
    }

    /// Stores what a task leaves: its writes if they count, and its notes.
    async fn store_outcome(
        &mut self,
        place: usize,
        writes: &Writes,
        verdict: &mut Verdict,
        others: usize,
        ended: &Ended,
    ) -> Result<(), RunError> {
        let head = self.open.tasks[place].head.clone();
        let mut stored = std::mem::take(&mut verdict.notes);
        let stored = match stored.is_empty() {
            true => Cow::Borrowed(writes),
            false => {
                stored.extend(writes.iter().filter(|_| verdict.done).cloned());
                Cow::Owned(stored)
            }
        };
        let handled = verdict.handled.is_some();
        // When the last task of a step is done the step closes, and nobody asks for its pending writes.
        let open = others > 0 || ended.asked || ended.stopped || ended.failure.is_some() || handled;
        let record = self.record(&head, &stored, open);
        if let Some(persister) = &mut self.persister
            && !record.writes.is_empty()
        {
            let work = self.open.calls.work.get(&place);
            let sealed = head.is_call() && work.is_some_and(|work| work.sealed);
            let at_once = sealed || others > 0 && !ended.on_the_spot || handled;
            persister.task(record, at_once).await?;
            if sealed {
                persister.settle().await?;
            }
        }
        Ok(())
    }

    /// Returns the task information that accompanies the messages that a task returned.
    pub(super) fn info(&self, task: &Task) -> TaskInfo {
        task.info(&self.setup.shared, self.setup.shared.clock.now_ms())
    }

    /// Returns a task's writes as they are stored; also keeps them as pending writes of the open step, if it stays
    /// open.
    pub(super) fn record(&mut self, task: &TaskHeader, writes: &Writes, pending: bool) -> TaskWrites {
        let writes = stored_writes(&self.setup.plan, 0, writes);
        let (task_id, task_path) = (task.id().clone(), task.path_text().clone());
        for write in writes.iter().filter(|_| pending) {
            // Only a task that was tried before has something to replace; a wide step is not searched for each write.
            if write.idx < 0 {
                self.resumed
                    .pending
                    .retain(|p| p.task_id != task_id || p.write.idx != write.idx);
            }
            self.resumed.pending.push(PendingWrite {
                task_id: task_id.clone(),
                task_path: task_path.clone(),
                write: write.clone(),
            });
        }
        TaskWrites {
            checkpoint_id: self.progress.current.clone(),
            task_id,
            task_path,
            writes,
        }
    }
}
