//! Errors of building, running and editing, each saying what happened, where, and what to do.

use std::fmt;
use std::time::Duration;

use crate::base::command::Command;
use crate::base::failure::Failure;
use crate::base::ids::{CheckpointId, InterruptId, Name, TaskId};
use crate::checkpoint::types::StorageError;
use crate::policy::bounds::{Beyond, Bound};
use crate::policy::effect::EffectState;

/// Reason why a run, a read or an edit of a thread did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RunError {
    /// Too many super-steps.
    #[error(
        "Recursion limit of {limit} reached without hitting a stop condition. The thread is kept as it is: raise the \
         recursion limit to go on, or give the loop a way out."
    )]
    Recursion {
        /// The limit.
        limit: u32,
    },
    /// An update that the channels cannot take.
    #[error("{message}")]
    InvalidUpdate {
        /// What, where, and what to do.
        message: String,
    },
    /// Nothing to run from.
    #[error("{message}")]
    EmptyInput {
        /// What was missing.
        message: String,
    },
    /// A node failed.
    #[error("node {node:?} failed: {failure}")]
    Node {
        /// The node.
        node: Name,
        /// Its task.
        task_id: TaskId,
        /// What it said.
        failure: Failure,
    },
    /// A node's command for the parent graph reached a graph that has none.
    #[error(
        "Command(graph=PARENT) was returned where there is no parent graph. Return it from a node of a nested graph."
    )]
    ParentCommand {
        /// The command.
        command: Box<Command>,
    },
    /// The run was asked to stop at the next step's beginning; the thread goes on from there.
    #[error("Graph drained: {reason}")]
    Drained {
        /// What the request said.
        reason: String,
    },
    /// Somebody stopped the run; the thread goes on from its last checkpoint.
    #[error("the run was stopped; the thread can go on from its last checkpoint")]
    Cancelled,
    /// A thread came to a node in more super-steps than the node allows. The thread can go on from there.
    #[error(
        "A thread may come to node `{node}` in at most {limit} super-steps after an input, and was to come once more. Nothing \
         of that step was begun: go on with the thread, which then counts from zero, raise the node's `max_visits`, or give \
         the limit a way of its own."
    )]
    LoopLimit {
        /// Which node.
        node: Name,
        /// How often a thread may come to it after an input.
        limit: u32,
    },
    /// An [invariant](crate::run::Breakpoint::invariant) of the graph is broken at which runs fail. What the step wrote is
    /// stored, and the thread can go on when its state was corrected.
    #[error(
        "{reason}. The thread is kept as the step left it: correct its state, or go back before the step, and go on."
    )]
    Invariant {
        /// The invariant.
        id: Name,
        /// Which is broken, and where.
        reason: String,
        /// The node, where the invariant is about one.
        node: Option<Name>,
        /// The super-step.
        step: i64,
    },
    /// A super-step was to make more than [`RunConfig::bounds`](crate::RunConfig::bounds) allows. It took no effect, and
    /// the thread can go on from there.
    #[error(
        "{}. The step took no effect and the thread is kept as it was: make it less, or raise the limit to go on.",
        Beyond(*.bound, *.limit)
    )]
    Bound {
        /// Which bound.
        bound: Bound,
        /// How much it allows.
        limit: usize,
    },
    /// The run came to a node whose effect was done already on another branch of the thread. Nothing of the step was begun.
    #[error(
        "Node `{node}` {} (checkpoint {checkpoint}), and this run would do it again{}. Nothing of the step was begun: say          what to do with `RunConfig::effects` (reuse the result, do it again, or ask), and go on with the thread.",
         effect_was(.state),
         if *.same_input { "" } else { " with another input" }
    )]
    Effect {
        /// The node.
        node: Name,
        /// Its task, which did not begin.
        task_id: TaskId,
        /// The checkpoint of the outermost graph whose step did it.
        checkpoint: CheckpointId,
        /// How far it came.
        state: EffectState,
        /// Was it done with the input that the node would be given now?
        same_input: bool,
    },
    /// The run came to a node that works outside of the graph, with nothing to use in its place, and
    /// [`RunConfig::hold_effects`](crate::RunConfig::hold_effects) keeps it from that. Nothing of the step was begun.
    #[error(
        "Node `{node}` would work outside of the graph, which this run does not do. Nothing of the step was begun: allow it with \
         `RunConfig::effects_of`, and go on with the thread."
    )]
    Held {
        /// The node.
        node: Name,
        /// Its task, which did not begin.
        task_id: TaskId,
    },
    /// It took too long; the thread goes on from its last checkpoint, and finished tasks are kept.
    #[error("the {scope} took longer than {:.3}s; the thread can go on from its last checkpoint", .limit.as_secs_f64())]
    TimedOut {
        /// What took too long.
        scope: TimeoutScope,
        /// How long it might take.
        limit: Duration,
    },
    /// Storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The operation needs a checkpointer or a thread.
    #[error("{message}")]
    NotPersistent {
        /// What is needed, for what.
        message: String,
    },
    /// One answer for several questions.
    #[error(
        "When there are multiple pending interrupts, you must specify the interrupt id when resuming: {pending} \
         questions wait. Give a map of interrupt id to answer."
    )]
    AmbiguousResume {
        /// Number of questions.
        pending: usize,
    },
    /// With [`strict_resume`](crate::RunConfig::strict_resume): the answers do not fit the questions that wait.
    /// Nothing was written.
    #[error("{}", unknown_interrupt(.reason, .interrupts, .pending))]
    UnknownInterrupt {
        /// In which way.
        reason: UnknownInterruptReason,
        /// The named questions that do not wait.
        interrupts: Vec<InterruptId>,
        /// The questions that do.
        pending: Vec<InterruptId>,
    },
    /// The run context is not what the graph declares.
    #[error(
        "The run context does not fit the graph: {reason}\nGive the run the context that the graph declares."
    )]
    InvalidContext {
        /// What does not fit.
        reason: String,
    },
    /// The request does not fit the graph or the thread.
    #[error("{message}")]
    InvalidRequest {
        /// What does not fit, and what would.
        message: String,
    },
}

/// Reason why answers do not fit the questions of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownInterruptReason {
    /// They name a question that does not wait, or no longer.
    NotPending,
    /// The map of answers is empty.
    EmptyMap,
    /// One answer, but several questions.
    Ambiguous,
}

fn effect_was(state: &EffectState) -> &'static str {
    match state {
        EffectState::Done => "did its work already on another branch of the thread",
        EffectState::Failed => "failed in the middle of its work on another branch of the thread",
        EffectState::Begun => "began its work on another branch of the thread and did not end it",
    }
}

fn unknown_interrupt(
    reason: &UnknownInterruptReason,
    interrupts: &[InterruptId],
    pending: &[InterruptId],
) -> String {
    let waiting = match pending {
        [] => "No question waits.".to_owned(),
        ids => {
            let ids: Vec<&str> = ids.iter().map(InterruptId::as_str).collect();
            format!("These wait: {}.", ids.join(", "))
        }
    };
    let what = match (reason, interrupts.first()) {
        (UnknownInterruptReason::NotPending, Some(id)) => {
            format!("Unknown or already-consumed interrupt: {id}")
        }
        (UnknownInterruptReason::NotPending, None) => "Unknown or already-consumed interrupt".to_owned(),
        (UnknownInterruptReason::EmptyMap, _) => "The resume map names no interrupt".to_owned(),
        (UnknownInterruptReason::Ambiguous, _) => {
            "When there are multiple pending interrupts, you must specify the interrupt id when resuming."
                .to_owned()
        }
    };
    format!("{what}\n{waiting}")
}

/// The part of a run that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutScope {
    /// One super-step.
    Step,
    /// The whole run.
    Run,
}

impl fmt::Display for TimeoutScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeoutScope::Step => "super-step",
            TimeoutScope::Run => "run",
        })
    }
}

/// Error of a read or an edit of a thread; these fail in the same ways as runs.
pub type StateError = RunError;

impl RunError {
    pub(crate) fn invalid_update(message: impl Into<String>) -> Self {
        RunError::InvalidUpdate {
            message: message.into(),
        }
    }
    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        RunError::InvalidRequest {
            message: message.into(),
        }
    }
    /// Returns the error class under which a failure is stored and shown, by its name in LangGraph where it has one.
    pub fn class(&self) -> &str {
        match self {
            RunError::Recursion { .. } | RunError::LoopLimit { .. } => "GraphRecursionError",
            RunError::Bound { .. } => "GraphBoundError",
            RunError::Invariant { .. } => "InvariantError",
            RunError::InvalidUpdate { .. } => "InvalidUpdateError",
            RunError::EmptyInput { .. } => "EmptyInputError",
            RunError::Node { failure, .. } => &failure.class,
            RunError::ParentCommand { .. } => "ParentCommand",
            RunError::Drained { .. } => "GraphDrained",
            RunError::Cancelled => "CancelledError",
            RunError::TimedOut { .. } => "TimeoutError",
            RunError::Storage(_) => "StorageError",
            RunError::AmbiguousResume { .. } => "RuntimeError",
            RunError::UnknownInterrupt { .. } => "UnknownInterruptError",
            RunError::Effect { .. } | RunError::Held { .. } => "EffectError",
            RunError::NotPersistent { .. } | RunError::InvalidRequest { .. } => "ValueError",
            RunError::InvalidContext { .. } => "TypeError",
        }
    }
    /// Returns a stable code in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            RunError::Recursion { .. } => "recursion-limit",
            RunError::LoopLimit { .. } => "loop-limit",
            RunError::Invariant { .. } => "invariant-broken",
            RunError::Bound { bound, .. } => match bound {
                Bound::Packets => "packet-limit",
                Bound::PacketBytes => "packet-size-limit",
                Bound::StateBytes => "state-size-limit",
            },
            RunError::InvalidUpdate { .. } => "invalid-update",
            RunError::EmptyInput { .. } => "empty-input",
            RunError::Node { .. } => "node-failed",
            RunError::Cancelled => "cancelled",
            RunError::TimedOut { .. } => "timed-out",
            RunError::ParentCommand { .. } => "no-parent-graph",
            RunError::Drained { .. } => "drained",
            RunError::Storage(StorageError::Busy { .. }) => "thread-busy",
            RunError::Storage(StorageError::Superseded { .. }) => "superseded",
            RunError::Storage(_) => "storage",
            RunError::Effect { .. } => "effect-done",
            RunError::Held { .. } => "effect-held",
            RunError::NotPersistent { .. } => "not-persistent",
            RunError::AmbiguousResume { .. } => "ambiguous-resume",
            RunError::UnknownInterrupt { .. } => "unknown-interrupt",
            RunError::InvalidRequest { .. } => "invalid-request",
            RunError::InvalidContext { .. } => "invalid-context",
        }
    }
}

/// The part of a graph that a problem is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphPlace {
    /// The graph as a whole.
    Graph,
    /// A node.
    Node(Name),
    /// An edge.
    Edge(Name, Name),
    /// A conditional edge of a node, by its name.
    Branch(Name, Name),
    /// A channel.
    Channel(Name),
}

/// One problem found while compiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphProblem {
    /// Stable code in kebab-case.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// Where.
    pub place: GraphPlace,
}

/// Every problem of a graph at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// At least one.
    pub problems: Vec<GraphProblem>,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{} [{}] {}", problem.message, problem.code, problem.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
