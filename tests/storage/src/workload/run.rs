//! Runs of a line: how they claim the thread, what they say about effects, and a second program that takes the thread
//! over while they run.

use std::time::Duration;

use superstep::checkpoint::{ClaimRequest, Holder, StorageError, TakeOver};
use superstep::inspect::{TaskSnapshot, TaskState};
use superstep::run::{Durability, EffectPolicy};
use superstep::value::Object;
use superstep::{CheckpointId, Input, RunConfig, RunError, StateSnapshot, Value, json};

use super::{Line, Trouble};
use crate::witness::Fact;

/// Length of a run's claim. A killed process leaves claims that are still live when the next one comes.
const LENGTH: Duration = Duration::from_secs(1);

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Everything it did is stored.
    Stored,
    /// It stopped before an effect that was done on another branch.
    Stopped,
    /// Another run has taken the thread over.
    Lost,
}

/// Way in which a run claims its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claiming {
    /// Not at all.
    No,
    /// As its only runner; the claim that a killed process left is taken over.
    Yes,
    /// As its only runner, until another takes it over.
    Contested,
}

/// Input and expectations of a run.
#[derive(Debug)]
pub(super) struct Step {
    input: Input,
    /// An answer in it allows an effect to be done again.
    again: bool,
    answers: Vec<Given>,
}

impl Step {
    fn of(input: Input) -> Self {
        Self {
            input,
            again: false,
            answers: Vec::new(),
        }
    }
}

/// An answer to a question of a node.
#[derive(Debug)]
struct Given {
    id: String,
    task: String,
    answer: String,
}

impl Line<'_> {
    fn note(&self, fact: Fact) {
        self.lines.journal.fact(&self.thread, fact);
    }

    /// Returns the next step of the thread from its current state.
    pub(super) fn next_step(&self, state: &StateSnapshot) -> Result<Step, Trouble> {
        let is_effect = |question: &Value| question.get("kind").and_then(Value::as_str) == Some("effect");
        if let Some(asked) = state.interrupts.iter().find(|asked| is_effect(&asked.value)) {
            let case = state
                .values
                .get("case")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            let is_done = asked.value.get("state").and_then(Value::as_str) == Some("done");
            // A person looks at what was done, and says how to go on.
            let answer = match (is_done, self.lines.journal.has_acted(&self.thread, case)?) {
                (true, _) if self.percent(70) => "use",
                (false, true) => "done",
                _ => "again",
            };
            if answer == "done" {
                self.note(Fact::Vouched { case });
            }
            let answers: Object = [(asked.id.as_str(), answer)].into_iter().collect();
            return Ok(Step {
                again: answer == "again",
                ..Step::of(Input::answer(Value::Object(answers)))
            });
        }
        for asked in &state.interrupts {
            self.note(Fact::Asks {
                id: asked.id.to_string(),
            });
        }
        if !state.interrupts.is_empty() {
            // One answer, or all of them.
            let count = match self.percent(50) {
                true => 1,
                false => state.interrupts.len(),
            };
            let answers: Vec<Given> = state.interrupts[..count]
                .iter()
                .map(|asked| Given {
                    id: asked.id.to_string(),
                    task: asker(&state.tasks, asked.id.as_str()).unwrap_or_default(),
                    answer: format!("go on {}", self.random().below(1 << 40)),
                })
                .collect();
            let by_id: Object = answers
                .iter()
                .map(|given| (given.id.as_str(), given.answer.as_str()))
                .collect();
            return Ok(Step {
                answers,
                ..Step::of(Input::answer(Value::Object(by_id)))
            });
        }
        if !state.next.is_empty() {
            return Ok(Step::of(Input::Continue));
        }
        let turn = state.values.get("turn").and_then(Value::as_u64);
        let (turn, case) = (turn.map_or(0, |turn| turn + 1), self.random().below(1 << 40));
        Ok(Step::of(Input::value(
            json!({"turn": turn, "case": case, "paid": 0}),
        )))
    }

    /// Runs the thread once more from a checkpoint of the past.
    pub(super) async fn replay(&self, from: Option<CheckpointId>) -> Result<(), Trouble> {
        let ended = self
            .run_at(Step::of(Input::Continue), Claiming::Yes, from)
            .await?;
        if ended == Ended::Stored {
            self.note(Fact::Replayed);
        }
        Ok(())
    }

    /// Runs the thread from where it stands.
    pub(super) async fn run(&self, step: Step, claiming: Claiming) -> Result<(), Trouble> {
        self.run_at(step, claiming, None).await.map(drop)
    }

    async fn run_at(
        &self,
        step: Step,
        claiming: Claiming,
        from: Option<CheckpointId>,
    ) -> Result<Ended, Trouble> {
        let durability = match self.random().below(10) {
            0 => Durability::Exit,
            1..5 => Durability::Async,
            _ => Durability::Sync,
        };
        let effects = match self.random().below(10) {
            0 => EffectPolicy::Again,
            1..4 => EffectPolicy::Ask,
            4..6 => EffectPolicy::Stop,
            _ => EffectPolicy::Reuse,
        };
        self.note(Fact::Begins {
            again: step.again || effects == EffectPolicy::Again,
            exit: durability == Durability::Exit,
        });
        for given in &step.answers {
            self.note(Fact::Answering {
                id: given.id.clone(),
                task: given.task.clone(),
                answer: given.answer.clone(),
            });
        }
        let config = RunConfig::on(self.thread.clone())
            .durability(durability)
            .effects(effects);
        let here = config.clone().checkpoint_id(from);
        let ended = match claiming {
            Claiming::No => ended(self.graph.invoke(step.input, here).await)?,
            Claiming::Yes => self.run_claimed(step.input, here).await?,
            Claiming::Contested => {
                let pause = Duration::from_micros(self.random().below(12_000));
                let rival = async {
                    tokio::time::sleep(pause).await;
                    self.take_over(config).await
                };
                let (ended, other) = tokio::join!(self.run_claimed(step.input, here), rival);
                other?;
                ended?
            }
        };
        match ended {
            Ended::Stored => {
                for given in step.answers {
                    self.note(Fact::Answered {
                        id: given.id,
                        answer: given.answer,
                    });
                }
            }
            Ended::Stopped => self.note(Fact::Stopped),
            Ended::Lost => self.note(Fact::Superseded),
        }
        Ok(ended)
    }

    /// Runs as the only runner. When another holds the thread, its claim is taken over as a person would who was shown it.
    async fn run_claimed(&self, input: Input, config: RunConfig) -> Result<Ended, Trouble> {
        let mut claim = claim(&format!("first {}", std::process::id()), TakeOver::Never);
        loop {
            let config = config.clone().claim(claim.clone());
            match self.graph.invoke(input.clone(), config).await {
                Err(RunError::Storage(StorageError::Busy { held, .. })) => {
                    claim.take_over = TakeOver::Only(held.claim.clone());
                }
                other => return ended(other),
            }
        }
    }

    /// Takes the thread over from whichever run has it, and goes on with what it left.
    async fn take_over(&self, config: RunConfig) -> Result<(), Trouble> {
        let config = config.claim(claim("rival", TakeOver::Always));
        match self.graph.invoke(Input::Continue, config).await {
            // The thread has no checkpoint yet.
            Err(RunError::EmptyInput { .. }) => Ok(()),
            other => ended(other).map(drop),
        }
    }
}

fn claim(name: &str, take_over: TakeOver) -> ClaimRequest {
    ClaimRequest::by(Holder::new(name, name))
        .take_over(take_over)
        .length(LENGTH)
}

fn ended<T>(result: Result<T, RunError>) -> Result<Ended, Trouble> {
    match result {
        Ok(_) => Ok(Ended::Stored),
        Err(RunError::Effect { .. }) => Ok(Ended::Stopped),
        Err(RunError::Storage(StorageError::Superseded { .. })) => Ok(Ended::Lost),
        Err(error) => Err(error.into()),
    }
}

/// Returns the task that asks a question, in this graph or in one that it runs.
fn asker(tasks: &[TaskSnapshot], id: &str) -> Option<String> {
    tasks.iter().find_map(|task| match &task.state {
        Some(TaskState::Snapshot(inner)) => asker(&inner.tasks, id),
        _ => {
            let asks = task.interrupts.iter().any(|asked| asked.id.as_str() == id);
            asks.then(|| task.id.to_string())
        }
    })
}
