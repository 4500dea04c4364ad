//! A person's own LangGraph program, attached: its graph is drawn and run in a process of the project's interpreter.
//!
//! The process runs a bridge of ours (`bridge.py`), which imports the program's module and answers in JSON lines on
//! descriptors of its own: what the program prints goes to its standard error, and what it reads is empty. The process is ended
//! with everything that it started when the [`AttachedProgram`] is dropped, and ends by itself when nobody sends requests any more.
//! The program's files are only read.

mod drawing;
mod error;
mod process;
mod run;
mod target;

use std::path::PathBuf;
use std::time::Duration;

pub use drawing::{
    AttachedDescription, CodePlace, DrawnBranch, DrawnChannel, DrawnFrom, DrawnJoin, DrawnNode, DrawnTask,
    DrawnWay, GraphDrawing, GraphSchemas, ProgramVersions, WayKind,
};
pub use error::{AttachError, AttachFault, AttachFaultCode};
pub(in crate::programs) use process::Reply;
pub use process::{AttachedProgram, DebugAddress, ThreadsPlace};
pub(in crate::programs) use run::RunControl;
pub use run::{
    AttachedEvent, AttachedInput, AttachedRun, AttachedState, AttachedTask, CheckpointPlace, EditedState,
    ProgramEdit, RunSpec,
};
pub use target::AttachTarget;

use crate::base::access::Access;
use crate::programs::helper::HelperProgram;
use crate::programs::python;
use crate::project::Environment;

/// Default of [`AttachOptions::import_limit`].
const MAX_IMPORT: Duration = Duration::from_mins(2);
/// Default of [`AttachOptions::stop_limit`].
const MAX_STOP: Duration = Duration::from_secs(5);

/// Settings of an attachment.
#[derive(Clone, Debug)]
pub struct AttachOptions {
    /// Time that the module has to be imported.
    pub import_limit: Duration,
    /// Time that a stopped run has to end before its process does.
    pub stop_limit: Duration,
    /// Names of variables that the program is given besides those of every program, from the environment.
    pub variables: Vec<String>,
    /// File of SQLite that keeps the threads of a program whose checkpointer is none, or in memory; otherwise they are in
    /// memory. Of a checkpointer that no other program can read, it is given copies.
    pub keep: Option<PathBuf>,
    /// Program that ends what the interpreter leaves behind.
    pub helper: Option<HelperProgram>,
}

impl Default for AttachOptions {
    fn default() -> Self {
        Self {
            import_limit: MAX_IMPORT,
            stop_limit: MAX_STOP,
            variables: Vec::new(),
            keep: None,
            helper: HelperProgram::this(),
        }
    }
}

/// Returns what an attached program wants to access: its interpreter and the variables that it is given. Nothing is started.
pub fn wanted(environment: &Environment, options: &AttachOptions) -> Result<Vec<Access>, AttachError> {
    let found = python::interpreter(environment)
        .map_err(|error| AttachError::NoInterpreter(error.missing(), error.remedy()))?;
    let variables = options.variables.iter().cloned().map(Access::Variable);
    Ok(std::iter::once(Access::Program(found.named))
        .chain(variables)
        .collect())
}
