//! Turns what SQLite says into what the user can do about it.

use std::path::Path;

use rusqlite::ErrorCode;
use superstep::checkpoint::StorageError;

use super::schema::OPENING;
use crate::base::unwritable::{is_refusal, refusal_to_write, remedy_of_refusal};

/// A failure inside this module: SQLite's own, or one that is already worded.
#[derive(Debug)]
pub(super) enum SqliteFault {
    Sql(rusqlite::Error),
    Storage(StorageError),
    /// What was asked for in a hurry is not in memory; it is asked for again without.
    Cold,
}

impl From<rusqlite::Error> for SqliteFault {
    fn from(error: rusqlite::Error) -> Self {
        SqliteFault::Sql(error)
    }
}

impl From<StorageError> for SqliteFault {
    fn from(error: StorageError) -> Self {
        SqliteFault::Storage(error)
    }
}

impl SqliteFault {
    pub(super) fn corrupt(place: impl Into<String>, cause: impl ToString) -> Self {
        SqliteFault::Storage(StorageError::Corrupt {
            place: place.into(),
            cause: cause.to_string(),
        })
    }

    /// Names the place when a column did not hold what it should.
    pub(super) fn at(self, place: impl FnOnce() -> String) -> Self {
        match self {
            SqliteFault::Sql(error) if is_damage(&error) => SqliteFault::corrupt(place(), error),
            other => other,
        }
    }

    /// Returns whether the system does not allow writing the file, or others beside it.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, SqliteFault::Sql(error) if is_refused(error))
    }

    /// Converts the fault into the error for the caller; `what` says what was being done, `path` on which file.
    pub(super) fn worded(self, what: &str, path: &Path) -> StorageError {
        match self {
            SqliteFault::Storage(error) => error,
            // Only a check asks to be interrupted.
            SqliteFault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                StorageError::Stopped
            }
            SqliteFault::Sql(error) => worded(&error, what, path),
            SqliteFault::Cold => StorageError::Backend {
                what: format!("{what} ({})", path.display()),
                cause: "it has to be read first".to_owned(),
                remedy: "Try again".to_owned(),
            },
        }
    }
}

/// Creates the error that refuses a change to a file that may only be read.
pub(super) fn only_read(path: &Path) -> StorageError {
    let what = format!("writing to {}", path.display());
    match refused(&what, path) {
        Some(refused) => refused,
        // It may be written by now.
        None => StorageError::Backend {
            what,
            cause: "the file or its folder could not be written when it was opened".to_owned(),
            remedy: "Open it again: both are writable now".to_owned(),
        },
    }
}

/// Returns the error in the system's words where the system keeps the file, or others beside it, from being written: SQLite
/// says only that it could not.
fn refused(what: &str, path: &Path) -> Option<StorageError> {
    let error = refusal_to_write(path).filter(is_refusal)?;
    Some(StorageError::Backend {
        what: what.to_owned(),
        cause: error.to_string(),
        remedy: remedy_of_refusal(
            &error,
            &format!("{} and its folder", path.display()),
            "another file",
        ),
    })
}

/// Returns whether SQLite could not write, or open what it would write.
fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen)
    )
}

/// Returns whether a page of the file is damaged.
pub(super) fn is_corrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(
        error,
        InvalidColumnType(..) | FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | Utf8Error(..)
    )
}

fn worded(error: &rusqlite::Error, what: &str, path: &Path) -> StorageError {
    let file = path.display();
    if is_damage(error) {
        return StorageError::Corrupt {
            place: format!("A record met while {what}"),
            cause: error.to_string(),
        };
    }
    let what_where = format!("{what} ({file})");
    if is_refused(error)
        && let Some(refused) = refused(&what_where, path)
    {
        return refused;
    }
    let remedy = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "Free some disk space and try again; what was stored before is untouched".to_owned(),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
            format!("Make {file} and its folder writable, or choose another file; it can still be read")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            "Another program is writing to the file; close it or try again".to_owned()
        }
        Some(ErrorCode::CannotOpen) => {
            "Check that the folder exists and may be read and written, and that the program may open more files \
             (`ulimit -n`)"
                .to_owned()
        }
        Some(ErrorCode::NotADatabase) => {
            "The file is not a Superstep database; choose another file".to_owned()
        }
        // Nothing can be exported from a file that does not open.
        Some(ErrorCode::DatabaseCorrupt) if what == OPENING => {
            "The file is damaged; copy it away and restore a backup".to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            "The file is damaged; copy it away and restore a backup, or export each thread that can still be read".to_owned()
        }
        Some(ErrorCode::SystemIoFailure) => {
            "Check the disk, and that the program may write files as large as this one (`ulimit -f`); what was stored \
             before is untouched"
                .to_owned()
        }
        Some(ErrorCode::OutOfMemory) => "Close other programs and try again".to_owned(),
        Some(ErrorCode::TooBig) => "The value is larger than SQLite can store in a row; split it".to_owned(),
        _ => "Try again; if it stays, report it with this message".to_owned(),
    };
    StorageError::Backend {
        what: what_where,
        cause: error.to_string(),
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn only_what_may_not_be_written_is_a_refusal() {
        let conn = Connection::open_in_memory().expect("there is memory");
        let fault = |sql: &str| SqliteFault::from(conn.execute_batch(sql).expect_err(sql));
        for sql in ["SELECT nonsense", "INSERT INTO nothing VALUES (1)"] {
            assert!(!fault(sql).is_refusal(), "{sql}");
        }
        conn.pragma_update(None, "query_only", true).expect("a setting");
        assert!(fault("CREATE TABLE t (n)").is_refusal());
        let missing = tempfile::tempdir()
            .expect("a temporary folder")
            .path()
            .join("gone/x.db");
        let error = Connection::open(missing).expect_err("there is no such folder");
        assert!(SqliteFault::from(error).is_refusal());
    }
}
