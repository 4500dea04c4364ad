//! With what a run begins or goes on, and where.

use superstep::value::Object;
use superstep::{CheckpointId, Command, Input, Name, RunConfig, Target, Value};

/// Input with which a run begins.
#[derive(Clone, Debug)]
pub enum Given {
    /// An input.
    Input(Value),
    /// Answers: one, or an object of them by the ids of their questions.
    Answers(Value),
    /// Nothing: the thread goes on.
    Nothing,
}

impl Given {
    pub(crate) fn input(self) -> Input {
        match self {
            Self::Input(input) => Input::Value(input),
            Self::Answers(answers) => Input::answer(answers),
            Self::Nothing => Input::Continue,
        }
    }
}

/// The beginning of a run, or how a thread goes on.
#[derive(Clone, Debug)]
pub struct Start {
    /// What it begins with.
    pub given: Given,
    /// The checkpoint where it begins; where the thread stands when absent.
    pub checkpoint: Option<CheckpointId>,
    /// The nested graph whose checkpoint that is, by its namespace; empty for the graph itself.
    pub ns: Name,
    /// Tasks of the open step that have finished stay as they are. So a question is answered where it waits; another answer
    /// to one that was answered already is a new branch, on which everything of its step runs again.
    pub keep_finished: bool,
    /// Nodes that run in the place of next tasks whose node is gone.
    pub also: Vec<Name>,
    /// Who gives the answers, for their history.
    pub person: Option<String>,
}

impl Start {
    /// Begins with an input, on a new branch where a checkpoint is named.
    pub fn input(input: Value, checkpoint: Option<CheckpointId>) -> Self {
        Self {
            given: Given::Input(input),
            checkpoint,
            ns: "".into(),
            keep_finished: false,
            also: Vec::new(),
            person: None,
        }
    }

    /// Goes on where the thread stands, or again from a checkpoint.
    pub fn go_on(checkpoint: Option<CheckpointId>) -> Self {
        Self {
            given: Given::Nothing,
            checkpoint,
            ns: "".into(),
            keep_finished: false,
            also: Vec::new(),
            person: None,
        }
    }

    /// Goes on with answers to questions that wait.
    pub fn answers(answers: Value, checkpoint: Option<CheckpointId>) -> Self {
        Self {
            given: Given::Answers(answers),
            checkpoint,
            ns: "".into(),
            keep_finished: true,
            also: Vec::new(),
            person: None,
        }
    }

    /// Goes on without an answer, because the time of a question at this checkpoint is over.
    pub fn time_passed(checkpoint: CheckpointId) -> Self {
        Self::answers(Object::new().into(), Some(checkpoint))
    }

    /// Sets the nested graph whose checkpoint is named.
    pub fn within(mut self, ns: impl Into<Name>) -> Self {
        self.ns = ns.into();
        self
    }

    /// Sets where the run begins, and gives its input.
    pub(crate) fn apply(self, config: &mut RunConfig) -> Input {
        config.checkpoint_id = self.checkpoint;
        config.ns = self.ns;
        config.keep_finished = self.keep_finished;
        let mut input = self.given.input();
        if !self.also.is_empty() {
            let goto: Vec<Target> = self.also.into_iter().map(Target::Node).collect();
            input = match input {
                Input::Continue => Input::Command(Command::goto(goto)),
                Input::Command(command) => Input::Command(Command { goto, ..command }),
                input => input,
            };
        }
        input
    }
}
