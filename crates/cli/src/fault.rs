//! How a command ends when it does not end well, and the exit code for it. Programs branch on these numbers, so they
//! are part of the interface: `args.rs` documents them for people.

use std::process::ExitCode;

use superstep::{RunError, StorageError};

/// Done.
pub(crate) const DONE: u8 = 0;
/// The run failed, or the check found errors.
pub(crate) const FAILED: u8 = 1;
/// The command line cannot be used as it is.
pub(crate) const USAGE: u8 = 2;
/// The run waits: for an answer, or at a breakpoint.
pub(crate) const WAITING: u8 = 3;
/// Stopped by Ctrl-C.
pub(crate) const STOPPED: u8 = 130;

/// Why a command did not end with [`DONE`].
#[derive(Debug)]
pub(crate) struct Fault {
    code: u8,
    /// For stderr; empty when everything was said.
    message: String,
}

impl Fault {
    /// Something went wrong while doing what was asked.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: FAILED,
            message: message.into(),
        }
    }

    /// What was asked cannot be done: a file, thread or value is not what the command needs.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            message: message.into(),
        }
    }

    /// An ending that has been explained already.
    pub(crate) fn quiet(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }

    /// What it says; empty when everything was said.
    pub(crate) fn message(self) -> String {
        self.message
    }

    /// Says it on stderr.
    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            crate::out::note(&format!("superstep: {}", self.message));
        }
        ExitCode::from(self.code)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            // The reader has seen enough (`| head`); that is no failure of ours.
            return Fault::quiet(DONE);
        }
        Fault::failed(format!("The output could not be written: {error}."))
    }
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        Fault::failed(error.to_string())
    }
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        match error {
            RunError::InvalidRequest { .. }
            | RunError::InvalidContext { .. }
            | RunError::AmbiguousResume { .. }
            | RunError::UnknownInterrupt { .. }
            | RunError::EmptyInput { .. } => Fault::usage(error.to_string()),
            _ => Fault::failed(error.to_string()),
        }
    }
}
