//! Python: functions of the project, run by the person's own interpreter in a worker process beside this one.
//!
//! A project has one worker, begun when a function is called, started again when it has died, and ended when nobody has
//! called anything for a while. It speaks the protocol of `requests` over its pipes, is given no
//! environment but a short list, and ends when this process does.

mod command_targets;
mod function;
mod interpreter;
mod worker;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use superstep::NodeError;

use crate::base::access::AccessDenied;
use crate::programs::helper::HelperProgram;
use crate::programs::requests::Fault;

pub use function::PythonFunction;
pub(crate) use function::{MAX_FILE, PythonCall, PythonWork, Style, default_timeout, inside};
pub use interpreter::{InterpreterLocation, find};
pub(crate) use interpreter::{interpreter, variables};
use superstep_document::{Text, text};
use worker::PythonWorker;

/// Variable that names the interpreter, for projects without an environment of their own.
pub const INTERPRETER: &str = "SUPERSTEP_PYTHON";

/// Reason why a Python function gave no result.
#[derive(Debug)]
pub(crate) enum PythonError {
    /// There is no interpreter.
    NotFound,
    /// The one that is configured is not there.
    Configured(String),
    /// The graph is in no folder, so that there is no project.
    NoProject,
    /// The owner has not allowed it.
    AccessDenied(AccessDenied),
    /// It does not start.
    Start(PathBuf, String),
    /// The process has ended in the middle of the call.
    Crashed(PathBuf, Option<ExitStatus>, String),
    /// The call took too long.
    Timeout(Duration),
    /// The function raised an error.
    Raised(Fault),
}

impl PythonError {
    /// Returns why there is no interpreter, without what to do about it.
    pub(crate) fn missing(&self) -> Text {
        match self {
            PythonError::Configured(name) => text!("There is no Python {name}.", name),
            PythonError::NoProject => {
                text!("This graph is not saved yet, so there is no project to run Python in.")
            }
            _ => text!("There is no Python on this computer."),
        }
    }

    /// Returns what to do about the error.
    pub(crate) fn remedy(&self) -> Text {
        match self {
            PythonError::NotFound => {
                text!(
                    "Install Python 3.9 or newer, make a virtual environment `.venv` in the project's folder, or name an interpreter in the settings or the variable SUPERSTEP_PYTHON."
                )
            }
            PythonError::Configured(_) => {
                text!("Correct it in the settings or in the variable SUPERSTEP_PYTHON, or remove it there.")
            }
            PythonError::NoProject => text!("Save this graph first: Python runs in the project's folder."),
            _ => text!("See the node's log."),
        }
    }

    /// Formats the error for a model: without the traceback, which the model could not act on.
    pub(crate) fn for_model(&self) -> String {
        let text = self.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_end_matches('.').to_owned()
    }

    /// Converts the error to the failure of the caller.
    pub(crate) fn of(self, called: &str) -> NodeError {
        match self {
            PythonError::AccessDenied(denied) => denied.into(),
            PythonError::Raised(fault) => NodeError::new(fault.class, format!("{called}: {}", fault.message)),
            other => NodeError::new("PythonError", format!("{called}: {other}")),
        }
    }
}

impl fmt::Display for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PythonError::NotFound => write!(f, "there is no Python on this computer. {}", self.remedy()),
            PythonError::Configured(name) => write!(f, "there is no Python {name}. {}", self.remedy()),
            PythonError::NoProject => f.write_str(&self.remedy()),
            PythonError::AccessDenied(denied) => write!(f, "{denied}."),
            PythonError::Start(program, cause) => write!(f, "{} does not start: {cause}.", program.display()),
            PythonError::Crashed(program, status, stderr) => {
                write!(f, "{} ended in the middle of the call", program.display())?;
                if let Some(status) = status {
                    write!(f, " ({status})")?;
                }
                f.write_str(". The next call starts it again.")?;
                if stderr.is_empty() {
                    Ok(())
                } else {
                    write!(f, " It said:\n{stderr}")
                }
            }
            PythonError::Timeout(limit) => write!(
                f,
                "the code was stopped after {} ms. Make it do less, or raise the time limit in the node's settings.",
                limit.as_millis()
            ),
            PythonError::Raised(fault) => f.write_str(&fault.message),
        }
    }
}

impl From<Fault> for PythonError {
    fn from(fault: Fault) -> Self {
        PythonError::Raised(fault)
    }
}

/// Properties that distinguish workers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct WorkerKey {
    program: PathBuf,
    root: PathBuf,
    /// Declared variables with their values.
    variables: Vec<(String, String)>,
}

/// The workers of all projects.
pub(crate) struct PythonWorkers {
    workers: Mutex<HashMap<WorkerKey, Arc<PythonWorker>>>,
    /// What runs the interpreters.
    helper: Option<HelperProgram>,
}

impl Default for PythonWorkers {
    fn default() -> Self {
        Self::new(HelperProgram::this())
    }
}

impl PythonWorkers {
    pub(crate) fn new(helper: Option<HelperProgram>) -> Self {
        Self {
            workers: Mutex::default(),
            helper,
        }
    }

    /// Returns the worker of a project, started if there is none.
    fn worker(&self, key: WorkerKey) -> Result<Arc<PythonWorker>, PythonError> {
        let mut workers = self.workers.lock();
        workers.retain(|_, worker| worker.takes_calls());
        if let Some(worker) = workers.get(&key) {
            return Ok(worker.clone());
        }
        let worker = Arc::new(PythonWorker::start(&key, self.helper.as_ref())?);
        workers.insert(key, worker.clone());
        Ok(worker)
    }
}
