//! JavaScript without a world around it: a function of the state, with limits on time, memory and stack.
//!
//! Programs run in worker processes (`workers`), because some of QuickJS's own functions look at no time limit, and a
//! process can be ended where a thread cannot. Hosts that do not serve as a worker run them on threads of their own.
//!
//! Each call gets a QuickJS runtime in which nothing ran before, so nothing leaks from one task to another. There is no file, network or
//! process to reach; what a program asks for beside its return value goes to its node (see `requests`),
//! and the only files that it can import are JavaScript modules of its project.

mod errors;
mod frames;
mod inputs;
mod machine;
mod machine_pool;
mod modules;
mod program_time;
mod serve;
mod source;
#[cfg(test)]
mod tests;
mod worker;
mod workers;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep_document::{Text, text};

use crate::programs::requests::Fault;

pub use machine::check;
pub use modules::Files;
pub(crate) use serve::work;
pub use source::JavaScriptSource;
pub(crate) use workers::{JavaScriptCall, Workers};

/// Name of the user's code in stack traces.
const FILE: &str = "source";

/// Limits on what a program may use.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Limits {
    /// Time that it may take itself: processor time, and the sleep that it asks for.
    pub timeout: Duration,
    /// Time on the clock after which it is stopped whatever it waits for.
    pub patience: Duration,
    /// Memory in bytes.
    pub memory: usize,
}

impl Limits {
    /// Shortest [`patience`](Self::patience): far more than what a busy computer makes of a second of work.
    const MIN_PATIENCE: Duration = Duration::from_secs(60);

    /// Returns limits whose patience is a multiple of the timeout.
    pub fn new(timeout: Duration, memory: usize) -> Self {
        Self {
            timeout,
            patience: timeout.saturating_mul(10).max(Self::MIN_PATIENCE),
            memory,
        }
    }
}

/// Reason why a program gave no result.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub enum CodeError {
    /// It is not JavaScript.
    Syntax {
        /// What is wrong.
        message: String,
        /// Line in the user's source.
        line: Option<usize>,
    },
    /// It threw.
    Thrown {
        /// `TypeError: …`
        message: String,
        /// Line in the user's source.
        line: Option<usize>,
    },
    /// It took more time than it may.
    Timeout {
        /// Time that it may take itself.
        limit: Duration,
        /// Was a part of it sleep?
        slept: bool,
    },
    /// It had not ended after this time on the clock, which is much longer than what it may take itself.
    Unfinished(Duration),
    /// It used too much memory.
    Memory(usize),
    /// The run was cancelled.
    Cancelled,
    /// What it returned is not JSON.
    NotJson(String),
    /// QuickJS itself failed.
    Machine(String),
}

impl CodeError {
    /// Returns the message about a source that cannot be compiled.
    pub fn of_source(self) -> Text {
        match self {
            CodeError::Syntax {
                message,
                line: Some(line),
            } => text!(
                "The code cannot be read in line {line}: {message}.",
                line,
                message
            ),
            CodeError::Syntax { message, line: None } => {
                text!("The code cannot be read: {message}.", message)
            }
            other => text!("The code cannot be compiled: {cause}", cause = other.to_string()),
        }
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |line: &Option<usize>| line.map_or_else(String::new, |line| format!(" (line {line})"));
        match self {
            CodeError::Syntax { message, line } => {
                write!(f, "the code cannot be read{}: {message}.", at(line))
            }
            CodeError::Thrown { message, line } => write!(f, "the code failed{}: {message}.", at(line)),
            CodeError::Timeout { limit, slept: false } => write!(
                f,
                "the code was stopped after {} ms of processor time. Make it do less, or raise the time limit in the node's settings.",
                limit.as_millis()
            ),
            CodeError::Timeout { limit, slept: true } => write!(
                f,
                "the code was stopped after {} ms of processor time and sleep. Make it do or sleep less, or raise the time limit in the node's settings.",
                limit.as_millis()
            ),
            CodeError::Unfinished(patience) => write!(
                f,
                "the code had not ended after {} s on the clock and was stopped. Look at what it waits for and at what else keeps the computer busy; a higher time limit in the node's settings gives it longer here, too.",
                patience.as_secs_f64()
            ),
            CodeError::Memory(limit) => write!(
                f,
                "the code used more than {} MB of memory. Make it keep less, or raise the memory limit in the node's settings.",
                limit / 1024 / 1024
            ),
            CodeError::Cancelled => f.write_str("the run was cancelled."),
            CodeError::NotJson(found) => {
                write!(
                    f,
                    "the code returned {found}. Return an object with state keys, or nothing to write nothing."
                )
            }
            CodeError::Machine(cause) => write!(f, "the JavaScript machine failed: {cause}."),
        }
    }
}

impl std::error::Error for CodeError {}

impl From<Fault> for CodeError {
    fn from(fault: Fault) -> Self {
        CodeError::Thrown {
            message: format!("{}: {}", fault.class, fault.message),
            line: None,
        }
    }
}
