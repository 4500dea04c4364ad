//! Why documents cannot be searched, in words that say what to do.

use std::path::PathBuf;

use crate::base::access::AccessDenied;
use crate::models::ModelError;

/// Why a folder cannot be searched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// The graph has no folder yet.
    #[error("the graph is not saved yet, so it has no folder to search in. Save it first.")]
    NoGraphFolder,
    /// There is no such folder or file.
    #[error("there is no folder or file {}. Create it, or correct the setting `folder`.", .0.display())]
    Missing(PathBuf),
    /// It is not inside the project, and not named as what is outside.
    #[error(
        "the folder {0:?} is outside the graph's own folder. Name a folder inside it, without `..` and links, or name one outside by its whole path."
    )]
    Outside(String),
    /// It is outside of the project, and the graph may not read there.
    #[error("{0}.")]
    AccessDenied(AccessDenied),
    /// A pattern for files is none.
    #[error("the pattern {0:?} of `files` cannot be read: {1}. Write one such as `*.md` or `guides/**`.")]
    BadPattern(String, String),
    /// Too many files, or too large together.
    #[error("{place} is too large to search: {1}. Name a part of it, or choose `files`.", place = .0.display())]
    TooLarge(PathBuf, String),
    /// Reading failed.
    #[error("{place} cannot be read: {1}.", place = .0.display())]
    Read(PathBuf, String),
    /// SQLite failed.
    #[error("the search index failed: {0}.")]
    Index(String),
    /// The model that makes vectors failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Somebody stopped the search.
    #[error("the search was stopped.")]
    Stopped,
}

impl From<rusqlite::Error> for SearchError {
    fn from(error: rusqlite::Error) -> Self {
        SearchError::Index(error.to_string())
    }
}
