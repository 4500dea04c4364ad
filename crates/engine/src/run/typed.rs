//! Graphs whose input and output are Rust types.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::ids::Name;
use crate::graph::compiled::Graph;
use crate::inspect::edit::{StateUpdate, Updated};
use crate::run::handle::Run;
use crate::stream::error::{RunError, UnknownInterruptReason};
use crate::stream::events::Interrupt;
use crate::stream::request::{Input, RunResult, RunStatus, StateRef};
use crate::stream::run_config::RunConfig;
use crate::value::Value;

/// The end of a typed run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<O> {
    /// Nothing is left to run: the output.
    Done(O),
    /// These questions wait for answers.
    Asked(Vec<Interrupt>),
    /// It stopped at a breakpoint.
    Breakpoint,
}

impl<O> Outcome<O> {
    /// Returns the output of a run that is done.
    pub fn done(self) -> Option<O> {
        match self {
            Outcome::Done(output) => Some(output),
            _ => None,
        }
    }
}

/// A graph that takes an `I` and gives an `O`. Everything else of [`Graph`] is there too.
pub struct TypedGraph<I, O> {
    graph: Graph,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Clone for TypedGraph<I, O> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            types: PhantomData,
        }
    }
}

impl<I, O> fmt::Debug for TypedGraph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.graph.fmt(f)
    }
}

impl<I, O> Deref for TypedGraph<I, O> {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl Graph {
    /// Converts the graph into one with Rust types for its input and output.
    pub fn typed<I, O>(self) -> TypedGraph<I, O>
    where
        I: Serialize + 'static,
        O: DeserializeOwned + 'static,
    {
        TypedGraph {
            graph: self,
            types: PhantomData,
        }
    }
}

impl<I: Serialize + 'static, O: DeserializeOwned + 'static> TypedGraph<I, O> {
    /// Runs an input.
    pub async fn invoke(&self, input: &I, config: RunConfig) -> Result<Outcome<O>, RunError> {
        outcome(self.graph.invoke(input_of(input)?, config).await?)
    }

    /// Answers the question that waits, and runs on. For several questions, give a map of their ids to answers. Where no
    /// question waits this is an error, and nothing runs.
    pub async fn resume(&self, answer: impl Into<Value>, config: RunConfig) -> Result<Outcome<O>, RunError> {
        if let (Some(thread), None) = (&config.thread, &config.checkpoint_id) {
            let state = self.graph.get_state(&StateRef::live(thread.clone())).await?;
            if state.interrupts.is_empty() {
                return Err(RunError::UnknownInterrupt {
                    reason: UnknownInterruptReason::NotPending,
                    interrupts: Vec::new(),
                    pending: Vec::new(),
                });
            }
        }
        let config = RunConfig {
            strict_resume: true,
            ..config
        };
        outcome(self.graph.invoke(Input::answer(answer), config).await?)
    }

    /// Goes on where the thread stopped.
    pub async fn go_on(&self, config: RunConfig) -> Result<Outcome<O>, RunError> {
        outcome(self.graph.invoke(Input::Continue, config).await?)
    }

    /// Runs several inputs at once; results in input order.
    pub async fn batch(&self, inputs: &[I], config: RunConfig) -> Vec<Result<Outcome<O>, RunError>> {
        let runs = inputs.iter().map(|input| self.invoke(input, config.clone()));
        futures::future::join_all(runs).await
    }

    /// Runs an input in the background and streams what happens.
    pub fn stream(&self, input: &I, config: RunConfig) -> Result<Run, RunError> {
        Ok(self.graph.stream(input_of(input)?, config))
    }

    /// Edits the state at a checkpoint as if this node had returned the update there, which is anything that serializes to
    /// one, as what a typed node returns. The thread goes on from the edit: at a checkpoint of the past it is a fork.
    pub async fn edit_as<U: Serialize + 'static>(
        &self,
        node: impl Into<Name>,
        update: &U,
        at: &StateRef,
    ) -> Result<Updated, RunError> {
        let values = Value::encode(update);
        let values =
            values.map_err(|error| RunError::invalid_request(format!("the update is not JSON: {error}")))?;
        let edit = StateUpdate::new(values).as_node(node);
        self.graph.update_state(at, edit).await
    }

    /// Reads the state of a thread as any type.
    pub async fn state<S: DeserializeOwned + 'static>(&self, at: &StateRef) -> Result<S, RunError> {
        let state = self.graph.get_state(at).await?;
        state.values.decode().map_err(|error| {
            RunError::invalid_request(format!(
                "the state of thread {} does not read so: {error}",
                at.thread
            ))
        })
    }
}

fn input_of<I: Serialize + 'static>(input: &I) -> Result<Input, RunError> {
    let value = Value::encode(input);
    let value =
        value.map_err(|error| RunError::invalid_request(format!("the input is not JSON: {error}")))?;
    Ok(Input::Value(value))
}

fn outcome<O: DeserializeOwned + 'static>(result: RunResult) -> Result<Outcome<O>, RunError> {
    Ok(match result.status {
        RunStatus::Interrupted => Outcome::Asked(result.interrupts),
        RunStatus::Breakpoint => Outcome::Breakpoint,
        RunStatus::Done => Outcome::Done(result.value.decode().map_err(|error| {
            RunError::invalid_request(format!("the output does not read as its type: {error}"))
        })?),
    })
}
