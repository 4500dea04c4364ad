//! What the end of one task leads to: what is noted beside its writes, stored, shown, and answered to its caller.

use super::Loop;
use super::persist::StoreTime;
use super::tasks::StepOutcome;
use crate::base::failure::{Failure, stored_repr};
use crate::base::ids::Name;
use crate::checkpoint::task_record::TaskRecord;
use crate::checkpoint::types::reserved;
use crate::graph::context::interrupt_id;
use crate::graph::node::{Interrupted, NodeError};
use crate::graph::plan::NodeIx;
use crate::graph::writes::{Channel, Writes};
use crate::stream::error::RunError;
use crate::stream::events::Interrupt;
use crate::stream::request::Durability;
use crate::task;
use crate::value::{List, Value};

/// The effect of one task's end on its step.
pub(super) struct TaskConclusion {
    /// Writes to reserved channels, stored beside the task's own.
    notes: Writes,
    /// The task used answers that are stored with it.
    answered: bool,
    /// The task's own writes count.
    done: bool,
    /// The task failed at a breakpoint, or stopped before its next attempt: the step stays open.
    pub(super) stops: bool,
    pub(super) interrupts: Vec<Interrupt>,
    pub(super) failure: Option<Failure>,
    /// The error handler that takes over, and from which failure.
    pub(super) handled: Option<(NodeIx, Failure)>,
    /// The error that callers receive in place of a result.
    answer: Result<(), NodeError>,
}

impl TaskConclusion {
    pub(super) fn new(answers: Option<Vec<Value>>) -> Self {
        let mut conclusion = Self {
            notes: Writes::new(),
            answered: answers.is_some(),
            done: false,
            stops: false,
            interrupts: Vec::new(),
            failure: None,
            handled: None,
            answer: Ok(()),
        };
        if let Some(answers) = answers {
            conclusion.note(reserved::RESUME, answers);
        }
        conclusion
    }

    fn note(&mut self, channel: impl Into<Name>, value: impl Into<Value>) {
        self.notes.push((Channel::Named(channel.into()), value.into()));
    }

    /// Returns whether there is anything to store and to show. A nested graph that stopped at a breakpoint leaves
    /// nothing.
    fn leaves_something(&self) -> bool {
        self.done || !self.notes.is_empty()
    }
}

impl Loop {
    /// Concludes that a task is done: its writes count.
    pub(super) fn done(&mut self, place: usize, conclusion: &mut TaskConclusion) {
        conclusion.done = true;
        if self.setup.shared.config.durability != Durability::Exit {
            self.resumed.questions.finished(&self.open.tasks[place].head);
        }
    }

    /// Concludes that a task asks, or that a graph in it does.
    pub(super) fn asked(
        &mut self,
        place: usize,
        asked: Interrupted,
        conclusion: &mut TaskConclusion,
        ended: &mut StepOutcome,
    ) {
        conclusion.interrupts = match asked {
            Interrupted::Question { question, index } => vec![Interrupt {
                id: interrupt_id(&self.open.tasks[place].head.ns(), index),
                value: question,
            }],
            Interrupted::Nested(interrupts) => interrupts,
        };
        if !conclusion.interrupts.is_empty() {
            let list: List = conclusion.interrupts.iter().map(Interrupt::to_json).collect();
            conclusion.note(reserved::INTERRUPT, list);
            conclusion.notes.extend(self.note_asked(place));
        }
        ended.asked = true;
        let interrupts = conclusion.interrupts.clone();
        conclusion.answer = Err(NodeError::Interrupt(Interrupted::Nested(interrupts)));
    }

    /// Concludes that a task failed. An error handler takes over, a caller decides, or the run fails.
    pub(super) fn failed(
        &self,
        place: usize,
        writes: &Writes,
        reason: Failure,
        conclusion: &mut TaskConclusion,
        ended: &mut StepOutcome,
    ) {
        let head = &self.open.tasks[place].head;
        ended.stopped |= conclusion.stops;
        conclusion.note(reserved::ERROR, stored_repr(&reason));
        // A router that fails comes after its node's own writes, which are kept.
        conclusion.notes.extend(writes.iter().cloned());
        conclusion.failure = Some(reason.clone());
        conclusion.answer = Err(NodeError::Failed(reason.clone()));
        if let Some(handler) = self.handler_of(head) {
            conclusion.note(reserved::ERROR_SOURCE, head.name.clone());
            // Nothing new begins in a step that has failed: the handler runs when the step is resumed.
            let takes_over = !ended.has_failed() && !conclusion.stops;
            conclusion.handled = takes_over.then_some((handler, reason));
        } else if !head.is_call() && !conclusion.stops {
            // Its caller decides what the failure of a call means.
            ended.fail(match &*reason.class {
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

    /// Notes the task's effect, the answers that are used up, and what the task read and decided. False when the task
    /// leaves nothing.
    pub(super) fn note_rest(
        &self,
        place: usize,
        record: Option<&Value>,
        conclusion: &mut TaskConclusion,
    ) -> bool {
        let is_stored = self.persister.is_some();
        if is_stored && let Some(note) = self.effect_note(place) {
            conclusion.note(reserved::EFFECT, note);
        }
        let leaves_something = conclusion.leaves_something();
        let used_up = || self.resumed.given.contains_key(self.open.tasks[place].head.id());
        if !conclusion.done && leaves_something && !conclusion.answered && used_up() {
            // It asks, or fails, before the stored answers that this run went back behind: they are used up.
            conclusion.note(reserved::RESUME, List::new());
        }
        if let Some(record) = record.filter(|_| is_stored && leaves_something) {
            conclusion.note(TaskRecord::channel(), record.clone());
        }
        leaves_something
    }

    /// Stores what a task leaves: its writes if they count, and its notes.
    pub(super) async fn store_conclusion(
        &mut self,
        place: usize,
        writes: &Writes,
        conclusion: &mut TaskConclusion,
        others: usize,
        ended: &StepOutcome,
    ) -> Result<(), RunError> {
        let head = self.open.tasks[place].head.clone();
        let notes = std::mem::take(&mut conclusion.notes);
        let counting = match notes.is_empty() || conclusion.done {
            true => &writes[..],
            false => &[],
        };
        let stored = notes.iter().chain(counting);
        let handled = conclusion.handled.is_some();
        // When the last task of a step is done the step closes, and nobody asks for its pending writes.
        let stays_open = others > 0 || ended.asked || ended.stopped || ended.failure.is_some() || handled;
        let record = match stays_open {
            true => self.record_pending(&head, stored),
            false => self.record(&head, stored),
        };
        if let Some(persister) = &mut self.persister
            && !record.writes.is_empty()
        {
            let work = self.open.calls.work.get(&place);
            let sealed = head.is_call() && work.is_some_and(|work| work.sealed);
            let time = match sealed || others > 0 && !ended.on_the_spot || handled {
                true => StoreTime::AtOnce,
                false => StoreTime::WithNext,
            };
            persister.task(record, time).await?;
            if sealed {
                persister.settle().await?;
            }
        }
        Ok(())
    }

    /// Returns whether a task asks whose caller shows the question as its own.
    pub(super) fn is_shown_by_caller(&self, place: usize, conclusion: &TaskConclusion) -> bool {
        self.open.tasks[place].is_call() && !conclusion.interrupts.is_empty()
    }

    /// Returns whether the end of a task is emitted: somebody reads it, and no caller shows it as its own.
    pub(super) fn is_shown(&mut self, place: usize, conclusion: &TaskConclusion) -> bool {
        // What stops before its next attempt has not ended.
        let has_ended = !conclusion.stops || conclusion.failure.is_some();
        has_ended
            && !self.open.tasks[place].is_start()
            && !self.is_shown_by_caller(place, conclusion)
            && self.shows(&conclusion.interrupts)
    }

    /// Answers the callers of a task; the questions of any other are the run's.
    pub(super) fn reply(&mut self, place: usize, writes: &Writes, conclusion: &mut TaskConclusion) {
        if !self.open.tasks[place].is_call() {
            self.report.interrupts.append(&mut conclusion.interrupts);
            return;
        }
        for reply in self.open.calls.waiting.remove(&place).into_iter().flatten() {
            let value = || task::return_of(writes).cloned().unwrap_or_default();
            let _ = reply.send(conclusion.answer.clone().map(|()| value()));
        }
    }
}
