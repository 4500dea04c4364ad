//! The tasks of one super-step together, and what is recorded when one ends.

use std::borrow::Cow;
use std::future::{Ready, poll_fn, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use super::crew::{Crew, Here};
use super::*;

/// After so many tasks done on the spot the runtime may do something else, and a cancelled run stops.
pub(super) const BREATHER: usize = 128;

/// How the tasks of a step ended, all together.
#[derive(Default)]
pub(super) struct Ended {
    /// The task that is being recorded was done on the spot: its writes can wait for those of its neighbours.
    pub(super) on_the_spot: bool,
    pub(super) failure: Option<RunError>,
    asked: bool,
    /// A called task asked. If its caller went on without it, nobody else says so.
    asked_in_call: bool,
}

impl Ended {
    /// Has a task failed? A command to the graph around is none, and a drained graph neither: the others go on.
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
        for (place, task) in self.tasks.iter().enumerate() {
            places.insert(task.id().clone(), place);
        }
        for pending in &self.pending {
            if snapshot::is_output(&pending.write.channel)
                && let Some(place) = places.get(&pending.task_id)
            {
                let channel = resolve(&self.plan, &pending.write.channel);
                self.tasks[*place]
                    .writes
                    .push((channel, pending.write.value.clone()));
            }
        }
    }

    /// Stored writes that no task was given back are not part of what this step leads to.
    pub(super) fn leave_behind(&mut self) {
        if self.plan.deltas.is_empty() {
            return;
        }
        let done = self.tasks.iter().filter(|task| !task.writes.is_empty());
        self.given_back = done.map(|task| task.id().clone()).collect();
        let unused =
            |write: &&PendingWrite| !write.task_id.is_null() && !self.given_back.contains(&write.task_id);
        self.live.leave_behind(self.pending.iter().filter(unused));
    }

    /// When nothing is stored before the run ends, its writes to delta keys are kept, because the last checkpoint is
    /// rebuilt from them. Their order is that of the steps.
    pub(super) fn keep_deltas(&mut self) {
        let given_back = std::mem::take(&mut self.given_back);
        let first_step = *self.first_step.get_or_insert(self.step);
        let Some(persister) = &mut self.persister else {
            return;
        };
        if self.plan.deltas.is_empty() || persister.durability != Durability::Exit {
            return;
        }
        if !self.owns_start {
            self.live.deltas.force_written();
            return;
        }
        for task in self.tasks.iter().filter(|task| !given_back.contains(task.id())) {
            let is_delta = |(channel, _): &&(Channel, Value)| matches!(channel, Channel::Known(c) if self.plan.deltas.contains(c));
            let writes: Writes = task.writes.iter().filter(is_delta).cloned().collect();
            if !writes.is_empty() {
                persister.keep_delta(TaskWrites {
                    checkpoint_id: self.current.clone(),
                    task_id: crate::state::delta::late_task(task.id(), self.step),
                    // The first step of the run takes its place among what is stored of that step already.
                    task_path: if self.step == first_step {
                        task.path_text().clone()
                    } else {
                        format!("~~{:010}{}", self.step.max(0), task.path_text()).into()
                    },
                    writes: stored_writes(&self.plan, 0, &writes),
                });
            }
        }
    }

    /// Runs every task without writes, all at once, and what they call. Some(stop) when the step stays open.
    pub(super) async fn run_tasks(&mut self) -> Result<Option<Stop>, RunError> {
        let mut ended = Ended::default();
        self.count_packets_again()?;
        let expiry = self.deadline.next(self.shared.config.step_timeout);
        let mut queue = (0..self.tasks.len()).filter(|place| self.tasks[*place].writes.is_empty());
        let (Some(place), None) = (queue.next(), queue.next()) else {
            let queue = (0..self.tasks.len()).filter(|place| self.tasks[*place].writes.is_empty());
            let crew = Crew::new(self, queue.collect(), ended);
            return Box::pin(crew.run(None, expiry)).await;
        };
        // A step of one task needs no task of the runtime: it runs here, and most often is done at once.
        let mut work = pin!(self.execute(place));
        let mut done: Pin<Box<Ready<Outcome>>>;
        let just_begun = AtomicBool::new(false);
        let work: Pin<&mut (dyn Future<Output = Outcome> + Send)> = match futures::poll!(work.as_mut()) {
            Poll::Ready(outcome) if self.calls.is_empty() => {
                self.on_the_spot += 1;
                if self.on_the_spot.is_multiple_of(BREATHER) {
                    tokio::task::yield_now().await;
                }
                match self.finished(place, outcome, 0, &mut ended).await? {
                    None => return self.closed(ended, None),
                    Some(handler) => {
                        let crew = Crew::new(self, [handler].into(), ended);
                        return Box::pin(crew.run(None, expiry)).await;
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
        let here = Here {
            place,
            work,
            just_begun: &just_begun,
        };
        let mut rest = Box::pin(Crew::new(self, VecDeque::new(), ended).run(Some(here), expiry));
        poll_fn(|cx| {
            let polled = rest.as_mut().poll(cx);
            just_begun.store(false, Ordering::Relaxed);
            polled
        })
        .await
    }

    /// What comes of a step whose tasks have all ended, or whose time was up.
    pub(super) fn closed(
        &mut self,
        ended: Ended,
        expired: Option<RunError>,
    ) -> Result<Option<Stop>, RunError> {
        self.calls.clear();
        if ended.has_failed() {
            self.fall_silent();
        }
        // What ended before the time was up is not hidden by it.
        match (ended.failure.or(expired.filter(|_| !ended.asked)), ended.asked) {
            (Some(error), _) => Err(error),
            (None, true) if self.interrupts.is_empty() && !ended.asked_in_call => {
                Ok(Some(Stop::Breakpoint(LifecycleStatus::Pending)))
            }
            (None, true) => Ok(Some(Stop::Asked)),
            (None, false) => Ok(None),
        }
    }

    /// After a failure the run is over for its readers. A graph around a nested one may still go on.
    pub(super) fn fall_silent(&self) {
        if !self.shared.is_nested() {
            self.shared.emitter.close();
        }
    }

    /// Records how a task ended, and tells readers. Gives the place of the task that takes over, if it failed.
    pub(super) async fn finished(
        &mut self,
        place: usize,
        outcome: Outcome,
        others: usize,
        ended: &mut Ended,
    ) -> Result<Option<usize>, RunError> {
        let head = self.tasks[place].head.clone();
        let keeps = self.persister.is_some();
        let Outcome {
            mut writes,
            end,
            answers,
        } = outcome;
        if matches!(end, End::Done)
            && !head.is_call()
            && let Err(error) = self.count_packets(&writes)
        {
            // Its writes are not kept, so the memory that they take is free again.
            ended.failure.get_or_insert(error);
            return Ok(None);
        }
        let answered = answers.is_some();
        let resume = answers.map(|answers| (Channel::Named(reserved::RESUME.into()), Value::from(answers)));
        let mut said: Writes = resume.into_iter().collect();
        let mut done = false;
        let mut interrupts = Vec::new();
        let mut error = None;
        let mut handled = None;
        if !head.is_start() {
            let written = task::count_state_writes(&self.plan, &writes);
            self.count(0, 1, written);
        }
        let answer = match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
                if self.cache.is_some() {
                    self.keep_result(place, &writes).await;
                }
                done = true;
                if self.shared.config.durability != Durability::Exit {
                    self.questions.finished(&head);
                }
                Ok(())
            }
            End::Interrupted(asked) => {
                interrupts = match asked {
                    Interrupted::Question { question, index } => vec![Interrupt {
                        id: interrupt_id(&head.ns(), index),
                        value: question,
                    }],
                    Interrupted::Nested(interrupts) => interrupts,
                };
                if !interrupts.is_empty() {
                    let list: List = interrupts.iter().map(Interrupt::to_json).collect();
                    said.push((Channel::Named(reserved::INTERRUPT.into()), Value::Array(list)));
                    said.extend(self.note_asked(place));
                }
                ended.asked = true;
                Err(NodeError::Interrupt(Interrupted::Nested(interrupts.clone())))
            }
            End::Failed(reason) => {
                let shown = repr(&reason);
                said.push((Channel::Named(reserved::ERROR.into()), shown.as_str().into()));
                // A router that fails comes after its node's own writes, which are kept.
                said.extend(writes.iter().cloned());
                error = Some(shown);
                let answer = Err(NodeError::Failed(reason.clone()));
                if let Some(handler) = self.handler_of(&head) {
                    let name = Value::String(head.name.clone());
                    said.push((Channel::Named(reserved::ERROR_SOURCE.into()), name));
                    // Nothing new begins in a step that has failed: the handler runs when the step is resumed.
                    handled = Some((handler, reason)).filter(|_| !ended.has_failed());
                } else if !head.is_call() {
                    // Who called decides what the failure of a call means.
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
                answer
            }
            End::Parent(command) => {
                ended.failure.get_or_insert(RunError::ParentCommand { command });
                return Ok(None);
            }
            End::Drained(reason) => {
                ended.failure.get_or_insert(RunError::Drained { reason });
                return Ok(None);
            }
            End::Cancelled => {
                ended.failure.get_or_insert(RunError::Cancelled);
                return Ok(None);
            }
        };
        if keeps && let Some(note) = self.effect_note(place) {
            said.push((Channel::Named(reserved::EFFECT.into()), note));
        }
        let leaves_something = done || !said.is_empty();
        if !done && leaves_something && !answered && self.given.contains_key(head.id()) {
            // It asks, or fails, before the stored answers that this run went back behind: they are used up.
            said.push((Channel::Named(reserved::RESUME.into()), Value::Array(List::new())));
        }
        if keeps && leaves_something {
            let stored = match said.is_empty() {
                true => Cow::Borrowed(&writes),
                false => {
                    said.extend(writes.iter().filter(|_| done).cloned());
                    Cow::Owned(said)
                }
            };
            // When the last task of a step is done the step closes, and nobody asks for its pending writes.
            let open = others > 0 || ended.asked || ended.failure.is_some() || handled.is_some();
            let record = self.record(&head, &stored, open);
            if let Some(persister) = &mut self.persister
                && !record.writes.is_empty()
            {
                let sealed = head.is_call() && self.calls.work.get(&place).is_some_and(|work| work.sealed);
                let at_once = sealed || others > 0 && !ended.on_the_spot || handled.is_some();
                persister.task(record, at_once).await?;
                if sealed {
                    persister.settle().await?;
                }
            }
        }
        // A question asked in a call is shown as its caller's.
        let shown_by_caller = head.is_call() && !interrupts.is_empty();
        ended.asked_in_call |= shown_by_caller;
        // A nested graph that stopped at a breakpoint leaves nothing to tell.
        if !head.is_start() && !shown_by_caller && leaves_something {
            self.emit_outcome(place, &writes, &interrupts, error).await;
        }
        if head.is_call() {
            for reply in self.calls.waiting.remove(&place).into_iter().flatten() {
                let value = || task::return_of(&writes).cloned().unwrap_or_default();
                let _ = reply.send(answer.clone().map(|()| value()));
            }
        } else {
            self.interrupts.extend(interrupts);
        }
        self.tasks[place].writes = writes;
        Ok(handled.map(|(handler, reason)| self.take_over(place, handler, reason)))
    }

    /// What messages that a task returned are accompanied by.
    pub(super) fn info(&self, task: &Task) -> TaskInfo {
        task.info(&self.shared, self.shared.clock.now_ms())
    }

    /// A task's writes as they are stored; also kept as pending writes of the open step, if it stays open.
    pub(super) fn record(&mut self, task: &Head, writes: &Writes, pending: bool) -> TaskWrites {
        let writes = stored_writes(&self.plan, 0, writes);
        let (task_id, task_path) = (task.id().clone(), task.path_text().clone());
        for write in writes.iter().filter(|_| pending) {
            // Only a task that was tried before has something to replace; a wide step is not searched for each write.
            if write.idx < 0 {
                self.pending
                    .retain(|p| p.task_id != task_id || p.write.idx != write.idx);
            }
            self.pending.push(PendingWrite {
                task_id: task_id.clone(),
                task_path: task_path.clone(),
                write: write.clone(),
            });
        }
        TaskWrites {
            checkpoint_id: self.current.clone(),
            task_id,
            task_path,
            writes,
        }
    }
}
