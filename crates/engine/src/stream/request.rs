//! What a caller asks of a graph, and what it is given back.

use std::sync::{Arc, OnceLock};

use crate::base::command::Command;
use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::claim::ClaimRequest;
use crate::policy::breakpoint::BreakpointHit;
use crate::stream::events::{Interrupt, beside};
use crate::stream::metrics::RunMetrics;
use crate::value::{List, Object, Value};

/// The input of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A new input; unfinished work of the thread is abandoned.
    Value(Value),
    /// Answers, an edit or a jump for a thread that waits.
    Command(Command),
    /// Nothing: go on where the thread stopped (or, with a checkpoint id, run again from there).
    Continue,
}

impl Input {
    /// Creates an input object.
    pub fn value(value: impl Into<Value>) -> Self {
        Input::Value(value.into())
    }
    /// Creates one answer, or a map of interrupt ids to answers: LangGraph's `Command(resume=…)`.
    #[doc(alias = "resume")]
    pub fn answer(answer: impl Into<Value>) -> Self {
        Input::Command(Command {
            resume: Some(answer.into()),
            ..Command::default()
        })
    }
    /// The old name of [`Input::Continue`].
    #[deprecated(since = "0.1.0", note = "use `Input::Continue`")]
    #[allow(non_upper_case_globals, reason = "it was a variant")]
    pub const Resume: Input = Input::Continue;
    /// Creates an answer; the old name of [`Input::answer`].
    #[deprecated(since = "0.1.0", note = "use `Input::answer`")]
    pub fn resume(answer: impl Into<Value>) -> Self {
        Self::answer(answer)
    }
}

/// The time at which checkpoints reach the backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before the next step starts. An input is stored together with what START makes of it, unless a router of START
    /// decides or somebody reads checkpoints.
    #[default]
    Sync,
    /// In the background; all before the run returns.
    Async,
    /// Once, when the run ends.
    Exit,
}

/// Asks a run, and every graph nested in it, to stop before its next step. Clone it to keep one end.
#[derive(Clone, Debug, Default)]
pub struct Drain(Arc<OnceLock<String>>);

impl Drain {
    /// Requests the drain; `reason` is the message of the run's error. A second request changes nothing.
    pub fn request(&self, reason: impl Into<String>) {
        let _ = self.0.set(reason.into());
    }
    /// Returns the reason of the request, once there is one.
    pub fn requested(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

/// The part of the state that a run shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Output {
    /// The stream shows every key, the run returns the graph's output keys.
    #[default]
    Graph,
    /// These keys.
    Keys(Vec<Name>),
    /// One key, as a bare value.
    Key(Name),
}

/// The task of an open step that runs alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepTask {
    /// The first that waits.
    Next,
    /// This one.
    Task(TaskId),
}

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Nothing is left to run.
    Done,
    /// It waits for answers.
    Interrupted,
    /// It stopped at a breakpoint.
    Breakpoint,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The output keys of the state; null when the run never produced a state.
    pub value: Value,
    /// How it ended.
    pub status: RunStatus,
    /// Questions that wait.
    pub interrupts: Vec<Interrupt>,
    /// The newest checkpoint, when there is a checkpointer.
    pub checkpoint_id: Option<CheckpointId>,
    /// The breakpoint at which it stopped. None for `interrupt_before` and `interrupt_after`.
    pub stopped: Option<BreakpointHit>,
    /// What it cost, when `RunConfig.metrics` asked.
    pub metrics: Option<RunMetrics>,
}

impl RunResult {
    /// Converts the result to `{"value", "interrupts"}`, LangGraph's second form.
    pub fn to_json_v2(&self) -> Value {
        let questions: List = self.interrupts.iter().map(Interrupt::to_json).collect();
        let mut form = Object::new();
        form.insert("value", beside(&self.value, &self.interrupts));
        form.insert("interrupts", questions);
        Value::Object(form)
    }
    /// Returns the value, with `__interrupt__` added when questions wait.
    pub fn to_json(&self) -> Value {
        if self.interrupts.is_empty() {
            return self.value.clone();
        }
        let mut object = self.value.as_object().cloned().unwrap_or_default();
        object.insert(
            "__interrupt__",
            self.interrupts.iter().map(Interrupt::to_json).collect::<List>(),
        );
        Value::Object(object)
    }
}

/// Reference to a state of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateRef {
    /// The thread.
    pub thread: ThreadId,
    /// A checkpoint; None means live: the newest, with the finished tasks of an open step applied.
    pub checkpoint_id: Option<CheckpointId>,
    /// The namespace of a nested graph; empty for the graph itself.
    pub ns: Name,
    /// Read the state of nested graphs whose tasks wait, too.
    pub subgraphs: bool,
    /// Who edits the state: the edit is refused while a run of another program holds the thread.
    pub claim: Option<ClaimRequest>,
}

impl StateRef {
    /// Creates a reference to the live state.
    pub fn live(thread: impl Into<ThreadId>) -> Self {
        Self {
            thread: thread.into(),
            checkpoint_id: None,
            ns: "".into(),
            subgraphs: false,
            claim: None,
        }
    }
    /// Creates a reference to the state at a checkpoint.
    pub fn at(thread: impl Into<ThreadId>, checkpoint: impl Into<CheckpointId>) -> Self {
        Self {
            checkpoint_id: Some(checkpoint.into()),
            ..Self::live(thread)
        }
    }
    /// Sets the checkpoint; None means the live state.
    pub fn checkpoint(mut self, id: impl Into<Option<CheckpointId>>) -> Self {
        self.checkpoint_id = id.into();
        self
    }
    /// Sets the nested graph, by its namespace.
    pub fn within(mut self, ns: impl Into<Name>) -> Self {
        self.ns = ns.into();
        self
    }
    /// Sets the holder that makes an edit.
    pub fn claimed(mut self, by: impl Into<Option<ClaimRequest>>) -> Self {
        self.claim = by.into();
        self
    }
    /// Adds the state of nested graphs.
    pub fn with_subgraphs(mut self) -> Self {
        self.subgraphs = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(deprecated)]
    fn old_names_of_inputs_mean_the_new_ones() {
        assert_eq!(Input::Resume, Input::Continue);
        assert_eq!(Input::resume("yes"), Input::answer("yes"));
    }
}
