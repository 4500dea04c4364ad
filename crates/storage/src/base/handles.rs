//! Handles of open files: a process that has as many as it may is distinguished from one that may not open a file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Handles that a database needs besides those that are open: its file, its log, the index of that, its folder.
const NEEDED: usize = 4;
/// The remedy of a lack of them.
pub(crate) const MORE_HANDLES: &str =
    "Let the program open more files (`ulimit -n`) and try again; what was stored before is untouched";

/// Returns whether the process, or the system, has as many open files as it may.
pub(crate) fn is_lack_of_handles(error: &io::Error) -> bool {
    let codes: &[i32] = match cfg!(windows) {
        // ERROR_TOO_MANY_OPEN_FILES
        true => &[4],
        // ENFILE, EMFILE
        false => &[23, 24],
    };
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Returns the system's error when the process may not open as many files as a database needs. SQLite says only that it
/// could not open one.
pub(crate) fn lack_of_handles(path: &Path) -> Option<io::Error> {
    let opened: io::Result<Vec<File>> = (0..NEEDED).map(|_| File::open(path)).collect();
    opened.err().filter(is_lack_of_handles)
}
