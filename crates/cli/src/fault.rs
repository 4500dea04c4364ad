//! How a command ends when it does not end well, and the exit code for it. Programs branch on these numbers, so they
//! are part of the interface: `args.rs` documents them for people.

use std::process::ExitCode;

use superstep::RunError;
use superstep::checkpoint::StorageError;
use superstep_workbench::wire::Problem;

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

/// Reason why a command did not end with [`DONE`].
#[derive(Debug)]
pub(crate) struct Fault {
    code: u8,
    /// For stderr; empty when everything was said.
    message: String,
}

impl Fault {
    /// Creates the fault of a command that failed while it was carried out.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            code: FAILED,
            message: message.into(),
        }
    }

    /// Creates the fault of a command that cannot be carried out: a file, thread or value is not what it needs.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            message: message.into(),
        }
    }

    /// Creates the fault of an ending that has been explained already.
    pub(crate) fn quiet(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }

    /// Returns the message; empty when everything has been reported.
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
        match error {
            StorageError::OnlyRead { .. } => Fault::usage(format!("{error}.")),
            _ => Fault::failed(error.to_string()),
        }
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
            RunError::Storage(error) => error.into(),
            _ => Fault::failed(error.to_string()),
        }
    }
}

/// Codes of the problems that are the command line's: it names what is not there, or says what does not fit. With every
/// other one the command failed.
const OF_THE_COMMAND_LINE: [&str; 19] = [
    "already-answered",
    "ambiguous-resume",
    "conflict",
    "does-not-fit",
    "empty-input",
    "evaluation-invalid",
    "graph-changed",
    "graph-needed",
    "invalid-breakpoint",
    "invalid-context",
    "invalid-request",
    "invalid-update",
    "not-allowed",
    "not-asked",
    "not-found",
    "only-read",
    "trust-needed",
    "unknown-interrupt",
    "what-if-invalid",
];

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let remedy = problem.remedy.unwrap_or_default();
        let message = format!("{} {remedy}", problem.message).trim_end().to_owned();
        match OF_THE_COMMAND_LINE.contains(&problem.code.as_str()) {
            true => Fault::usage(message),
            false => Fault::failed(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use superstep::checkpoint::StorageError;

    use super::*;

    #[test]
    fn a_problem_of_the_command_line_is_distinguished_from_a_failure_by_its_code() {
        let of = |problem: Problem| Fault::from(problem).code;
        for code in OF_THE_COMMAND_LINE {
            assert_eq!(of(Problem::new(code, "No.")), USAGE, "{code}");
        }
        for code in [
            "file-error",
            "disk-full",
            "graph-invalid",
            "storage",
            "thread-busy",
            "internal",
            "new",
        ] {
            assert_eq!(of(Problem::new(code, "No.")), FAILED, "{code}");
        }
    }

    #[test]
    fn an_error_of_a_run_ends_alike_wherever_the_run_was() {
        let message = String::from("what happened");
        for error in [
            RunError::EmptyInput {
                message: message.clone(),
            },
            RunError::InvalidRequest {
                message: message.clone(),
            },
            RunError::InvalidContext { reason: message },
            RunError::Recursion { limit: 3 },
            RunError::Cancelled,
            RunError::Storage(StorageError::Stopped),
        ] {
            let handed = Fault::from(Problem::from(&error)).code;
            let text = error.to_string();
            assert_eq!(Fault::from(error).code, handed, "{text}");
        }
    }

    #[test]
    fn the_remedy_of_a_problem_follows_what_happened() {
        let bare = Problem::new("storage", "The disk is gone.");
        assert_eq!(Fault::from(bare.clone()).message(), "The disk is gone.");
        assert_eq!(
            Fault::from(bare.remedy("Look for it.")).message(),
            "The disk is gone. Look for it."
        );
    }
}
