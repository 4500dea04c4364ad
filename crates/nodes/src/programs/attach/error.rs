//! Reasons why a program cannot be attached, or does not do what it was asked, with what to do about them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use serde::Deserialize;
use superstep_document::Text;

use crate::base::access::AccessDenied;
use crate::programs::agent_server_error::AgentServerError;

/// Reason why an attached program did not do what it was asked.
#[derive(Debug)]
pub enum AttachError {
    /// The text names no program.
    Form {
        /// The text.
        text: String,
    },
    /// There is no such file.
    NoFile {
        /// Its path.
        file: PathBuf,
    },
    /// A file was named, without the name of a graph in it.
    Unnamed {
        /// The file.
        file: PathBuf,
    },
    /// A `langgraph.json` cannot be used.
    Config {
        /// The file.
        file: PathBuf,
        /// Cause.
        cause: String,
    },
    /// A `langgraph.json` has no such entry, or several and none was named.
    Entry {
        /// The file.
        file: PathBuf,
        /// The entry that was named.
        entry: Option<String>,
        /// The entries that there are.
        names: Vec<String>,
    },
    /// The program is written in JavaScript or TypeScript.
    JavaScript {
        /// Its file.
        file: PathBuf,
    },
    /// There is no interpreter: why, and what to do.
    NoInterpreter(Text, Text),
    /// Its owner has not allowed it.
    AccessDenied(AccessDenied),
    /// The interpreter does not start.
    NotStarted {
        /// The interpreter.
        program: PathBuf,
        /// Cause.
        cause: String,
    },
    /// The module was not imported in time, and the process was ended with everything that it had started.
    Hangs {
        /// The limit.
        limit: Duration,
        /// The end of what it wrote.
        said: String,
    },
    /// The process has ended.
    Ended {
        /// The interpreter.
        program: PathBuf,
        /// Its exit status.
        status: Option<ExitStatus>,
        /// The end of what it wrote.
        said: String,
    },
    /// The process says what is no answer, so it was ended.
    Garbled {
        /// The interpreter.
        program: PathBuf,
        /// Cause.
        cause: String,
    },
    /// The program says no.
    Fault(Box<AttachFault>),
    /// The server that runs the program does not do what it was asked.
    Server(Box<AgentServerError>),
}

/// Kind of error that the program says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachFaultCode {
    /// The file is gone.
    NoFile,
    /// LangGraph is not installed for the interpreter.
    LanggraphMissing,
    /// LangGraph is older than 0.6.
    LanggraphTooOld,
    /// The module, or one that it imports, is no valid Python.
    SyntaxError,
    /// The module raised an error while it was imported.
    ImportFailed,
    /// The module ended the program while it was imported.
    ImportEnded,
    /// The module has no such name.
    NoName,
    /// The name is of something else.
    NotAGraph,
    /// The function that makes the graph wants more than a configuration.
    FactoryArguments,
    /// The function that makes the graph raised an error.
    FactoryFailed,
    /// The builder cannot be compiled.
    CompileFailed,
    /// The graph cannot be drawn.
    NotDrawn,
    /// A node raised an error.
    NodeFailed,
    /// A run took more steps than its limit.
    RecursionLimit,
    /// A run was given nothing that starts a node.
    EmptyInput,
    /// A node returned what the state does not take, or an edit is of such a kind.
    InvalidUpdate,
    /// The thread has no such checkpoint.
    NoCheckpoint,
    /// debugpy is not installed for the interpreter.
    DebugpyMissing,
    /// debugpy does not listen.
    DebugpyFailed,
    /// A run failed outside of its nodes.
    RunFailed,
    /// A run was stopped.
    Cancelled,
    /// An answer is larger than the limit.
    TooLarge,
    /// Anything else.
    #[serde(other)]
    Failed,
}

impl AttachFaultCode {
    /// Returns the code in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            AttachFaultCode::NoFile => "no-file",
            AttachFaultCode::LanggraphMissing => "langgraph-missing",
            AttachFaultCode::LanggraphTooOld => "langgraph-too-old",
            AttachFaultCode::SyntaxError => "syntax-error",
            AttachFaultCode::ImportFailed => "import-failed",
            AttachFaultCode::ImportEnded => "import-ended",
            AttachFaultCode::NoName => "no-name",
            AttachFaultCode::NotAGraph => "not-a-graph",
            AttachFaultCode::FactoryArguments => "factory-arguments",
            AttachFaultCode::FactoryFailed => "factory-failed",
            AttachFaultCode::CompileFailed => "compile-failed",
            AttachFaultCode::NotDrawn => "not-drawn",
            AttachFaultCode::NodeFailed => "node-failed",
            AttachFaultCode::RecursionLimit => "recursion-limit",
            AttachFaultCode::EmptyInput => "empty-input",
            AttachFaultCode::InvalidUpdate => "invalid-update",
            AttachFaultCode::NoCheckpoint => "no-checkpoint",
            AttachFaultCode::DebugpyMissing => "debugpy-missing",
            AttachFaultCode::DebugpyFailed => "debugpy-failed",
            AttachFaultCode::RunFailed => "run-failed",
            AttachFaultCode::Cancelled => "cancelled",
            AttachFaultCode::TooLarge => "too-large",
            AttachFaultCode::Failed => "failed",
        }
    }
}

/// Error that the program says.
#[derive(Clone, Debug, Deserialize)]
pub struct AttachFault {
    /// Kind.
    pub code: AttachFaultCode,
    /// Description.
    pub message: String,
    /// File of the person's code that it came from.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Line there, from one.
    #[serde(default)]
    pub line: Option<u64>,
    /// Text of the line.
    #[serde(default)]
    pub text: Option<String>,
    /// Traceback without frames of libraries, but for the last: the outermost frame first.
    #[serde(default)]
    pub traceback: Vec<String>,
    /// Frames that it leaves out.
    #[serde(default)]
    pub left_out: u64,
    /// Names that may have been meant.
    #[serde(default)]
    pub names: Vec<String>,
    /// Module that is not installed.
    #[serde(default)]
    pub missing: Option<String>,
    /// Node of a run that failed.
    #[serde(default)]
    pub node: Option<String>,
    /// Its task.
    #[serde(default)]
    pub task: Option<String>,
}

impl AttachFault {
    /// Returns what to do about it, where that can be said.
    pub fn remedy(&self) -> Option<String> {
        match self.code {
            AttachFaultCode::LanggraphMissing => Some(
                "Install it there (`pip install langgraph`), make a virtual environment `.venv` in the project's folder, or name \
                 the project's interpreter in SUPERSTEP_PYTHON."
                    .to_owned(),
            ),
            AttachFaultCode::LanggraphTooOld => Some("Install 0.6 or later.".to_owned()),
            AttachFaultCode::ImportFailed => self.missing.as_ref().map(|module| {
                format!("Install {module} for this interpreter, or name the project's own in SUPERSTEP_PYTHON.")
            }),
            AttachFaultCode::NoName | AttachFaultCode::NotAGraph | AttachFaultCode::InvalidUpdate
                if !self.names.is_empty() =>
            {
                Some(format!("It has: {}.", self.names.join(", ")))
            }
            AttachFaultCode::NoCheckpoint => Some(
                "`superstep history THREAD --db langgraph:DATABASE` lists those that it has.".to_owned(),
            ),
            AttachFaultCode::DebugpyMissing => Some("Install it there: `pip install debugpy`.".to_owned()),
            AttachFaultCode::ImportEnded => {
                Some("Put what the program does by itself under `if __name__ == \"__main__\":`.".to_owned())
            }
            AttachFaultCode::RecursionLimit => Some("Raise it with --recursion-limit, or end the loop.".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for AttachFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.message.ends_with(['.', '!', '?', ')']) {
            ""
        } else {
            "."
        };
        write!(f, "{}{end}", self.message)?;
        if let Some(remedy) = self.remedy() {
            write!(f, " {remedy}")?;
        }
        match (&self.file, self.line, &self.text) {
            (Some(file), Some(line), Some(text)) if !text.is_empty() => {
                write!(f, "\nAt {}:{line}: {text}", file.display())?;
            }
            (Some(file), Some(line), _) => write!(f, "\nAt {}:{line}", file.display())?,
            _ => {}
        }
        // The line above is the last of one frame already.
        if self.traceback.len() > 1 {
            for line in &self.traceback {
                write!(f, "\n  {line}")?;
            }
            if self.left_out > 0 {
                write!(f, "\n  ({} frames of libraries are left out)", self.left_out)?;
            }
        }
        Ok(())
    }
}

fn said(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    match text.trim() {
        "" => Ok(()),
        text => write!(f, " It said:\n{text}"),
    }
}

fn named(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttachError::Form { text } => write!(
                f,
                "{text:?} names no LangGraph program. Write the file and the name of the graph in it, such as agent.py:graph, or a \
                 langgraph.json."
            ),
            AttachError::NoFile { file } => {
                write!(f, "There is no file {}. Check the path.", file.display())
            }
            AttachError::Unnamed { file } => write!(
                f,
                "{} may have several graphs. Name one as the program calls it, such as {}:graph.",
                file.display(),
                named(file)
            ),
            AttachError::Config { file, cause } => {
                write!(f, "{} cannot be used: {cause}. Correct it.", file.display())
            }
            AttachError::Entry { file, names, .. } if names.is_empty() => {
                write!(f, "{} lists no graphs. Add one under \"graphs\".", file.display())
            }
            AttachError::Entry { file, entry, names } => {
                match entry {
                    Some(entry) => write!(f, "{} has no graph {entry}.", file.display())?,
                    None => write!(f, "{} has several graphs.", file.display())?,
                }
                let name = &names[0];
                write!(
                    f,
                    " Name one of {}, such as {}:{name}.",
                    names.join(", "),
                    named(file)
                )
            }
            AttachError::JavaScript { file } => write!(
                f,
                "{} is a JavaScript program, and only programs in Python are attached.",
                file.display()
            ),
            AttachError::NoInterpreter(missing, remedy) => write!(f, "{missing} {remedy}"),
            AttachError::AccessDenied(denied) => write!(f, "{denied}."),
            AttachError::NotStarted { program, cause } => {
                write!(f, "{} does not start: {cause}.", program.display())
            }
            AttachError::Hangs { limit, said: text } => {
                write!(
                    f,
                    "The module was not imported within {} s, and its process was ended. Put what takes long, or waits for somebody, \
                     into a function, or raise the limit.",
                    limit.as_secs_f64()
                )?;
                said(f, text)
            }
            AttachError::Ended {
                program,
                status,
                said: text,
            } => {
                write!(f, "The program ended ({}", program.display())?;
                if let Some(status) = status {
                    write!(f, ", {status}")?;
                }
                f.write_str(").")?;
                said(f, text)
            }
            AttachError::Garbled { program, cause } => write!(
                f,
                "{} said what is no answer ({cause}), and was ended. Something in the program may write to descriptors that are not \
                 its own.",
                program.display()
            ),
            AttachError::Fault(fault) => fault.fmt(f),
            AttachError::Server(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AttachError {}

impl AttachError {
    /// Returns what the program says is wrong.
    pub fn fault(&self) -> Option<&AttachFault> {
        match self {
            AttachError::Fault(fault) => Some(fault),
            _ => None,
        }
    }
}
