//! Making [`Problem`]s: what happened and where, and what to do about it.

use std::path::Path;

use crate::wire::Problem;

impl Problem {
    /// A problem without a remedy.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Problem {
            code: code.into(),
            message: message.into(),
            remedy: None,
            trust: None,
        }
    }

    /// Adds what to do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// A request that cannot be understood.
    pub fn invalid(message: impl Into<String>) -> Self {
        Problem::new("invalid-request", message)
    }

    /// Something named in a request that is not there.
    pub fn not_found(what: impl Into<String>) -> Self {
        Problem::new("not-found", what)
    }

    /// A file or folder that could not be read or written.
    pub fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let remedy = match error.kind() {
            Kind::NotFound => "Check the path; the file or folder may have been moved or deleted.",
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => {
                "Choose a place that you may write to, or change the permissions."
            }
            Kind::StorageFull | Kind::QuotaExceeded => {
                "The disk is full: free some space and try again. Nothing is lost while this stays open."
            }
            Kind::IsADirectory => "Choose a file, not a folder.",
            Kind::NotADirectory => "Choose a folder, not a file.",
            Kind::InvalidInput => "Choose a file that holds text, not a device or a pipe.",
            Kind::InvalidData => "The file is not text in UTF-8; it may not be a graph.",
            _ => "Check that the disk is there and try again.",
        };
        let code = match error.kind() {
            Kind::NotFound => "not-found",
            Kind::StorageFull | Kind::QuotaExceeded => "disk-full",
            _ => "file-error",
        };
        // What the standard library says of it is "entity not found".
        let cause = match error.kind() {
            Kind::NotFound => "there is no such file or folder".to_owned(),
            _ => error.to_string(),
        };
        Problem::new(code, format!("Could not {doing} {}: {cause}.", path.display())).remedy(remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_problem_says_what_can_be_done_about_its_cause() {
        use std::io::ErrorKind as Kind;
        let of = |kind: Kind| Problem::file("read", Path::new("/x"), &kind.into());
        for (kind, code, remedy) in [
            (Kind::NotFound, "not-found", "Check the path"),
            (Kind::PermissionDenied, "file-error", "may write to"),
            (Kind::ReadOnlyFilesystem, "file-error", "may write to"),
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
}
