//! Is a file that is open still the one that stands at its path? What is written to one that was deleted or replaced is
//! lost without a word: it must not be acknowledged.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use superstep::checkpoint::StorageError;

/// Identity that distinguishes a file from every other one; `None` where the system keeps open files from being
/// deleted.
type Identity = Option<(u64, u64)>;

#[cfg(unix)]
fn identity(facts: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    Some((facts.dev(), facts.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    None
}

/// Files that are in use, and have to stay where they are.
#[derive(Debug)]
pub(crate) struct Presence(Vec<(PathBuf, Option<Identity>)>);

impl Presence {
    /// Records the files at these paths; one that does not exist yet counts from when it is first seen.
    pub(crate) fn of(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths = paths.into_iter();
        Self(
            paths
                .map(|path| {
                    let found = standing(&path).ok();
                    (path, found)
                })
                .collect(),
        )
    }

    /// Refuses when one of them is gone, or another is in its place.
    pub(crate) fn require(&mut self) -> Result<(), StorageError> {
        for (path, opened) in &mut self.0 {
            match opened {
                Some(opened) => require(path, *opened)?,
                None => *opened = standing(path).ok(),
            }
        }
        Ok(())
    }
}

fn standing(path: &Path) -> std::io::Result<Identity> {
    std::fs::metadata(path).map(|facts| identity(&facts))
}

fn require(path: &Path, opened: Identity) -> Result<(), StorageError> {
    match standing(path) {
        Ok(found) if found == opened => Ok(()),
        Ok(_) => Err(lost(path, "it was replaced by another file while it was open")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(lost(path, "it was deleted or moved while it was open"))
        }
        Err(error) => Err(lost(path, &error.to_string())),
    }
}

/// Refuses when an open file does not stand at the path any more.
pub(crate) fn require_open(file: &File, path: &Path) -> Result<(), StorageError> {
    let opened = file.metadata().map_err(|error| lost(path, &error.to_string()))?;
    require(path, identity(&opened))
}

fn lost(path: &Path, cause: &str) -> StorageError {
    StorageError::Backend {
        what: format!("writing to {}", path.display()),
        cause: cause.to_owned(),
        remedy: "Put the file back where it was, or restore a copy, and open it again; nothing is stored until then"
            .to_owned(),
    }
}
