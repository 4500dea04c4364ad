//! Files that may not be written: what the system says of them, which SQLite does not repeat, and how a database there is
//! read. It knows no schema.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

/// Returns what the system says when somebody is to write the file, or another one beside it: the log of a database is one.
/// `None` when both may be written.
pub fn refusal_to_write(path: &Path) -> Option<io::Error> {
    let refused = match path.is_file() {
        true => OpenOptions::new().append(true).open(path).err(),
        false => None,
    };
    refused.or_else(|| {
        let probe = beside(path, &format!("-probe-{}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&probe) {
            Ok(_) => {
                let _ = fs::remove_file(&probe);
                None
            }
            // Another thread of this process asks as well.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(error),
        }
    })
}

/// Checks whether a file may be written before SQLite does, which would leave files beside one that it can only read. What is
/// not there may be.
pub fn may_be_written(path: &Path) -> bool {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    !opened.is_err_and(|error| is_refusal(&error))
}

/// Returns whether the system refuses to write here, which leaves reading.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Returns what to do where writing is refused; `what` is what may not be written, `another` what may be chosen in its place.
pub(crate) fn remedy_of_refusal(error: &io::Error, what: &str, another: &str) -> String {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => format!(
            "The disk is read-only: choose {another} on a disk that is writable, or make this one writable; what is stored here \
             can still be read"
        ),
        _ => format!("Make {what} writable, or choose {another}; what is stored here can still be read"),
    }
}

/// Opens a connection to a database file that may only be read. Where nobody has it open, it is opened as one that does not
/// change: SQLite asks for no files beside it then.
pub fn open_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let has_log = log_of(path).metadata().is_ok_and(|log| log.len() > 0);
    match has_log || beside(path, "-shm").exists() {
        true => Connection::open_with_flags(path, flags),
        false => Connection::open_with_flags(unchanging(path), flags | OpenFlags::SQLITE_OPEN_URI),
    }
}

/// Returns the path of the log that SQLite keeps beside a file.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// Returns the path of a file that SQLite keeps beside another.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Returns the URI of a file that does not change while it is open.
pub(crate) fn unchanging(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    let text = path.to_string_lossy();
    let text = if cfg!(windows) {
        format!("/{}", text.replace('\\', "/"))
    } else {
        text.into_owned()
    };
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(byte)),
            // Writing to a string cannot fail.
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_file_from_being_written_is_said_and_nothing_is_left() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("x.db");
        assert!(refusal_to_write(&file).is_none(), "it can be made");
        fs::write(&file, "").expect("our folder");
        assert!(refusal_to_write(&file).is_none());
        let missing = refusal_to_write(&dir.path().join("gone/x.db")).expect("there is no such folder");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let below = refusal_to_write(&file.join("x.db")).expect("a file is no folder");
        assert_eq!(below.kind(), io::ErrorKind::NotADirectory);
        let left = fs::read_dir(dir.path()).expect("our folder").count();
        assert_eq!(left, 1);
    }
}
