//! Making [`Problem`]s: what happened and where, and what to do about it.

use std::path::Path;

use superstep::RunError;
use superstep::checkpoint::StorageError;
use superstep::store::StoreError;

use crate::wire::{Problem, ProblemTexts};
use superstep_document::{Text, text};

impl Problem {
    /// Creates a problem without a remedy.
    pub fn new(code: &str, message: impl Into<Text>) -> Self {
        let message = message.into();
        Problem {
            code: code.into(),
            texts: ProblemTexts::of(&message, None),
            message: message.into(),
            remedy: None,
            trust: None,
        }
    }

    /// Adds what to do.
    pub fn remedy(mut self, remedy: impl Into<Text>) -> Self {
        let remedy = remedy.into();
        self.texts = ProblemTexts::of(&self.message_text(), Some(&remedy));
        self.remedy = Some(remedy.into());
        self
    }

    /// Replaces the message; code and remedy stay.
    pub(crate) fn with_message(mut self, message: Text) -> Self {
        self.texts = ProblemTexts::of(&message, self.remedy_text().as_ref());
        self.message = message.into();
        self
    }

    /// Creates the problem of a request that cannot be understood.
    pub fn invalid(message: impl Into<Text>) -> Self {
        Problem::new("invalid-request", message)
    }

    /// Creates the problem of something named in a request that does not exist.
    pub fn not_found(what: impl Into<Text>) -> Self {
        Problem::new("not-found", what)
    }

    /// Creates the problem of a file or folder that could not be read or written.
    pub fn file(doing: Text, path: &Path, error: &std::io::Error) -> Self {
        Self::at(doing, path.display().to_string().into(), error)
    }

    /// Creates the same problem for a place with another name.
    pub(crate) fn at(doing: Text, place: Text, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let remedy = match error.kind() {
            Kind::NotFound => text!("Check the path; the file or folder may have been moved or deleted."),
            Kind::PermissionDenied => {
                text!("Choose a place that you may write to, or change the permissions.")
            }
            Kind::ReadOnlyFilesystem => {
                text!(
                    "The disk is read-only: choose a place on a disk that is writable, or make this one writable."
                )
            }
            Kind::StorageFull | Kind::QuotaExceeded => {
                text!(
                    "The disk is full: free some space and try again. Nothing is lost while this stays open."
                )
            }
            Kind::IsADirectory => text!("Choose a file, not a folder."),
            Kind::NotADirectory => text!("Choose a folder, not a file."),
            Kind::InvalidInput => text!("Choose a file that holds text, not a device or a pipe."),
            Kind::InvalidData => text!("The file is not text in UTF-8; it may not be a graph."),
            _ => text!("Check that the disk is there and try again."),
        };
        let code = match error.kind() {
            Kind::NotFound => "not-found",
            Kind::StorageFull | Kind::QuotaExceeded => "disk-full",
            _ => "file-error",
        };
        // What the standard library says of it is "entity not found".
        let cause = match error.kind() {
            Kind::NotFound => text!("there is no such file or folder"),
            _ => error.to_string().into(),
        };
        Problem::new(
            code,
            text!("Could not {doing} {place}: {cause}.", doing, place, cause),
        )
        .remedy(remedy)
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::from(&error)
    }
}

impl From<&RunError> for Problem {
    fn from(error: &RunError) -> Self {
        let remedy = match error {
            RunError::Recursion { .. } => {
                text!("Continue the thread, or raise the recursion limit of the graph.")
            }
            RunError::Effect { node, same_input, .. } => {
                let node = node.to_string();
                let message = if *same_input {
                    text!(
                        "Stopped before `{node}`: it did its work already on another branch of this thread.",
                        node
                    )
                } else {
                    text!(
                        "Stopped before `{node}`: it did its work already on another branch of this thread, with another input.",
                        node
                    )
                };
                return Problem::new(error.code(), message).remedy(text!(
                    "Continue, and say whether it is to do it again, use its result, or be left out."
                ));
            }
            RunError::Held { node, .. } => {
                let message = text!(
                    "Stopped before `{node}`: it would work outside of the graph.",
                    node = node.to_string()
                );
                return Problem::new(error.code(), message).remedy(text!(
                    "Let it work again among the side effects, and run the row again."
                ));
            }
            RunError::Bound { .. } => {
                text!("Let the step make less, or raise the limit in `limits` of the graph, and continue.")
            }
            RunError::Invariant { .. } => {
                text!("Correct the state, or change the invariant, and continue; or go back before the step.")
            }
            RunError::LoopLimit { .. } => text!(
                "Continue the thread, raise `max_visits` of the node, or lead an edge with `limit` to where it is to go on."
            ),
            RunError::Node { .. } => {
                text!("Correct the node or the state, and continue: what finished is not run again.")
            }
            RunError::InvalidUpdate { .. } => {
                text!("Correct what is written, or the key's reducer or schema.")
            }
            RunError::EmptyInput { .. } => text!("Give the thread an input."),
            RunError::AmbiguousResume { .. } | RunError::UnknownInterrupt { .. } => {
                text!("Answer each waiting question by its id.")
            }
            RunError::Storage(error) => return error.into(),
            _ => {
                return Problem::new(error.code(), message_of(error));
            }
        };
        Problem::new(error.code(), message_of(error)).remedy(remedy)
    }
}

/// Returns the message of the engine, with its pattern where people meet it often.
fn message_of(error: &RunError) -> Text {
    match error {
        RunError::Recursion { limit } => text!(
            "Recursion limit of {limit} reached without hitting a stop condition. The thread is kept as it is: raise the \
             recursion limit to go on, or give the loop a way out.",
            limit = *limit
        ),
        RunError::Node { node, failure, .. } => text!(
            "node {node} failed: {failure}",
            node = format!("{node:?}"),
            failure = failure.to_string()
        ),
        RunError::Cancelled => {
            text!("the run was stopped; the thread can go on from its last checkpoint")
        }
        RunError::LoopLimit { node, limit } => text!(
            "A thread may come to node `{node}` in at most {limit} super-steps after an input, and was to come once more. Nothing \
             of that step was begun: go on with the thread, which then counts from zero, raise the node's `max_visits`, or give \
             the limit a way of its own.",
            node = &**node,
            limit = *limit
        ),
        RunError::Invariant { reason, .. } => text!(
            "{reason}. The thread is kept as the step left it: correct its state, or go back before the step, and go on.",
            reason
        ),
        other => other.to_string().into(),
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        Self::from(&error)
    }
}

impl From<&StorageError> for Problem {
    fn from(error: &StorageError) -> Self {
        match error {
            StorageError::Backend { what, cause, remedy } => {
                Problem::new("storage", text!("Storage failed while {what}: {cause}.", what, cause))
                    .remedy(format!("{}.", remedy.trim_end_matches('.')))
            }
            StorageError::NewerSchema { found, supported, .. } => Problem::new(
                "newer-version",
                text!("The database of threads has schema {found}; this release reads up to {supported}. It was not changed.", found = *found, supported = *supported),
            )
            .remedy(text!("Install a newer release, or start with another data folder.")),
            StorageError::Corrupt { .. } => Problem::new("storage", error.to_string())
                .remedy(text!("Go on with another checkpoint or thread, or put back a copy of the database.")),
            StorageError::Busy { held, .. } => Problem::new(
                "thread-busy",
                text!("Another program is running this thread: {name}.", name = &*held.holder.name),
            )
            .remedy(text!("Wait until its run has ended, or stop it there. When that program is gone, try again in {seconds} s.", seconds = held.remaining.as_secs() + 1)),
            StorageError::Superseded { by: Some(by), .. } => Problem::new(
                "superseded",
                text!("Another program took this thread over: {name}.", name = &*by.name),
            )
            .remedy(text!("What was finished is kept. Look at the thread as it is now.")),
            StorageError::Superseded { by: None, thread } => Problem::new(
                "superseded",
                text!("Thread {thread} was deleted or changed by another program meanwhile.", thread = thread.as_str()),
            )
            .remedy(text!("Look at the thread as it is now, and start again.")),
            StorageError::Stopped => Problem::new("stopped", text!("It was stopped. What was not done yet is as it was.")),
            StorageError::OnlyRead { place, why, remedy } => {
                Problem::new("only-read", text!("{place} is only read: {why}.", place, why))
                    .remedy(format!("{}.", remedy.trim_end_matches('.')))
            }
            StorageError::Unsupported(_) => Problem::new("storage", format!("{error}."))
                .remedy(text!("Use a database of another kind for this.")),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Storage(error) => error.into(),
            StoreError::Embedding { name, cause, remedy } => Problem::new(
                "embedding",
                text!("The embedding {name} failed: {cause}.", name, cause),
            )
            .remedy(format!("{remedy}.")),
            refused => {
                let text = refused.to_string();
                let mut letters = text.chars();
                let first = letters.next().map(|c| c.to_uppercase().to_string());
                Problem::invalid(first.unwrap_or_default() + letters.as_str())
            }
        }
    }
}

/// An error of the workbench's own database.
impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        let full = matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DiskFull));
        let (code, remedy) = if full {
            (
                "disk-full",
                text!("The disk is full: free some space and try again."),
            )
        } else {
            (
                "storage",
                text!("Check that the data folder is there and may be written to."),
            )
        };
        Problem::new(
            code,
            text!(
                "The workbench's own database failed: {error}.",
                error = error.to_string()
            ),
        )
        .remedy(remedy)
    }
}

pub(crate) fn no_thread(id: &str) -> Problem {
    Problem::not_found(text!("There is no thread {id}.", id))
        .remedy(text!("It may have been deleted in another window."))
}

/// Creates the problem of a missing checkpoint in a thread that exists.
pub(crate) fn no_checkpoint(thread_id: &str, id: &str) -> Problem {
    Problem::not_found(text!("Thread {thread_id} has no checkpoint {id}.", thread_id, id)).remedy(text!(
        "It may have been deleted in another window; choose another one."
    ))
}

/// Creates the problem that somebody else answered first.
pub(crate) fn already_answered(message: Text) -> Problem {
    Problem::new("already-answered", message).remedy(text!("Look at the inbox again."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_problem_says_what_can_be_done_about_its_cause() {
        use std::io::ErrorKind as Kind;
        let of = |kind: Kind| Problem::file(text!("read"), Path::new("/x"), &kind.into());
        for (kind, code, remedy) in [
            (Kind::NotFound, "not-found", "Check the path"),
            (Kind::PermissionDenied, "file-error", "may write to"),
            (Kind::ReadOnlyFilesystem, "file-error", "is read-only"),
            (Kind::StorageFull, "disk-full", "free some space"),
            (Kind::QuotaExceeded, "disk-full", "free some space"),
            (Kind::IsADirectory, "file-error", "not a folder"),
            (Kind::NotADirectory, "file-error", "not a file"),
            (Kind::InvalidData, "file-error", "UTF-8"),
            (Kind::Other, "file-error", "disk is there"),
        ] {
            let problem = of(kind);
            assert_eq!(problem.code, code, "{kind:?}");
            assert!(
                problem
                    .remedy
                    .as_deref()
                    .is_some_and(|text| text.contains(remedy)),
                "{problem:?}"
            );
            assert!(problem.message.starts_with("Could not read /x: "), "{problem:?}");
        }
        assert!(
            of(Kind::NotFound)
                .message
                .ends_with("there is no such file or folder.")
        );
        assert!(!of(Kind::Other).message.contains("no such file"));
    }

    #[test]
    fn storage_errors_keep_their_own_remedy() {
        let full = StorageError::Backend {
            what: "writing".into(),
            cause: "disk full".into(),
            remedy: "Free some space".into(),
        };
        let shown = Problem::from(full);
        assert_eq!(
            (shown.code.as_str(), shown.remedy.as_deref()),
            ("storage", Some("Free some space."))
        );
        let newer = Problem::from(StorageError::NewerSchema {
            place: "threads.db".to_owned(),
            found: 9,
            supported: 1,
        });
        assert_eq!(newer.code, "newer-version");
        assert!(newer.message.contains('9') && newer.remedy.is_some());
    }

    #[test]
    fn errors_of_runs_say_what_to_do() {
        let message = || String::from("what happened");
        for (error, remedy) in [
            (RunError::Recursion { limit: 3 }, "recursion limit"),
            (
                RunError::LoopLimit {
                    node: "a".into(),
                    limit: 3,
                },
                "max_visits",
            ),
            (
                RunError::InvalidUpdate { message: message() },
                "reducer or schema",
            ),
            (RunError::EmptyInput { message: message() }, "an input"),
            (
                RunError::Node {
                    node: "a".into(),
                    task_id: "t".into(),
                    failure: superstep::Failure::new("ValueError", "no {value}"),
                },
                "what finished",
            ),
            (
                RunError::Invariant {
                    id: "node:a#1".into(),
                    reason: message(),
                    node: None,
                    step: 1,
                },
                "change the invariant",
            ),
        ] {
            let shown = Problem::from(&error);
            assert_eq!(
                (shown.code.as_str(), &shown.message),
                (error.code(), &error.to_string())
            );
            assert!(shown.remedy.is_some_and(|text| text.contains(remedy)), "{error}");
        }
        let stopped = Problem::from(&RunError::Cancelled);
        assert_eq!(
            (stopped.remedy, stopped.message),
            (None, RunError::Cancelled.to_string())
        );
        let effect = |same_input| RunError::Effect {
            node: "pay".into(),
            task_id: "t".into(),
            checkpoint: "c".into(),
            state: superstep::run::EffectState::Done,
            same_input,
        };
        let (same, other) = (Problem::from(&effect(true)), Problem::from(&effect(false)));
        assert!(same.message.contains("`pay`") && !same.message.contains("another input"));
        assert!(other.message.contains("another input"));
    }

    #[test]
    fn another_program_is_named_where_it_is_in_the_way() {
        let deleted = Problem::from(StorageError::Superseded {
            by: None,
            thread: "t".into(),
        });
        assert_eq!(deleted.code, "superseded");
        assert!(deleted.message.contains("deleted or changed"));
        let stopped = Problem::from(StorageError::Stopped);
        assert_eq!((stopped.code.as_str(), stopped.remedy), ("stopped", None));
        let cannot = Problem::from(StorageError::Unsupported("pruning"));
        assert!(cannot.remedy.is_some_and(|text| text.contains("another kind")));
    }
}
