//! The index of words over all threads: a file beside the database that says in which threads the words of a search may be.
//!
//! It never answers by itself. What it names is read from the database as without it, and threads that it does not know yet
//! are read, too; so what was deleted is not found, and an index that is behind, switched off or damaged costs time and
//! nothing else. It knows all threads between two places of the list, the newest first: the file is written from the newest
//! thread on, and what came since is added. One program writes ([`writer`]), the others read.

mod file;
pub(super) mod reader;
mod writer;

use std::path::{Path, PathBuf};

pub(crate) use writer::{Indexing, watch};

/// Letters of a word that are kept.
const MAX_WORD: usize = 40;

/// Returns the path of a database's index file.
pub(super) fn path_of(data_dir: &Path, place: &str) -> PathBuf {
    let name = xxhash_rust::xxh3::xxh3_64(place.as_bytes());
    data_dir.join("search").join(format!("{name:016x}.db"))
}

/// Returns a word as the index stores it.
pub(super) fn kept(word: &str) -> &str {
    let end = word.char_indices().nth(MAX_WORD).map_or(word.len(), |(at, _)| at);
    &word[..end]
}
