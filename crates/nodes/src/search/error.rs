//! Why documents cannot be searched, in words that say what to do.

use std::fmt;
use std::path::PathBuf;

use crate::base::access::AccessDenied;
use crate::models::ModelError;
use superstep_document::{Text, text};

/// Reason why a folder cannot be searched.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchError {
    /// The graph has no folder yet.
    NoGraphFolder,
    /// There is no such folder or file.
    Missing(PathBuf),
    /// It is not inside the project, and not named as what is outside.
    Outside(String),
    /// It is outside of the project, and the graph may not read there.
    AccessDenied(AccessDenied),
    /// A pattern for files is none.
    BadPattern(String, String),
    /// Too many files, or too large together.
    TooLarge(PathBuf, String),
    /// Reading failed.
    Read(PathBuf, String),
    /// SQLite failed.
    Index(String),
    /// The model that makes vectors failed.
    Model(ModelError),
    /// Somebody stopped the search.
    Stopped,
}

impl SearchError {
    /// Returns what is wrong, with a full stop, and without what to do where [`SearchError::remedy`] covers that.
    pub fn message(&self) -> Text {
        match self {
            SearchError::NoGraphFolder => {
                text!("the graph is not saved yet, so it has no folder to search in.")
            }
            SearchError::Missing(path) => text!(
                "there is no folder or file {path}.",
                path = path.display().to_string()
            ),
            SearchError::Outside(name) => text!(
                "the folder {name} is outside the graph's own folder.",
                name = format!("{name:?}")
            ),
            SearchError::AccessDenied(denied) => format!("{denied}.").into(),
            SearchError::BadPattern(pattern, cause) => {
                text!(
                    "the pattern {pattern} of `files` cannot be read: {cause}.",
                    pattern = format!("{pattern:?}"),
                    cause
                )
            }
            SearchError::TooLarge(place, cause) => {
                text!(
                    "{place} is too large to search: {cause}.",
                    place = place.display().to_string(),
                    cause
                )
            }
            SearchError::Read(place, cause) => text!(
                "{place} cannot be read: {cause}.",
                place = place.display().to_string(),
                cause
            ),
            SearchError::Index(cause) => text!("the search index failed: {cause}.", cause),
            SearchError::Model(error) => error.message(),
            SearchError::Stopped => text!("the search was stopped."),
        }
    }

    /// Returns what to do.
    pub fn remedy(&self) -> Option<Text> {
        match self {
            SearchError::NoGraphFolder => Some(text!("Save it first.")),
            SearchError::Missing(_) => Some(text!("Create it, or correct the setting `folder`.")),
            SearchError::Outside(_) => Some(text!(
                "Name a folder inside it, without `..` and links, or name one outside by its whole path."
            )),
            SearchError::BadPattern(..) => Some(text!("Write one such as `*.md` or `guides/**`.")),
            SearchError::TooLarge(..) => Some(text!("Name a part of it, or choose `files`.")),
            _ => None,
        }
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match self.remedy() {
            Some(remedy) => write!(f, " {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its text is that of the model's error.
            SearchError::Model(error) => error.source(),
            _ => None,
        }
    }
}

impl From<ModelError> for SearchError {
    fn from(error: ModelError) -> Self {
        SearchError::Model(error)
    }
}

impl From<rusqlite::Error> for SearchError {
    fn from(error: rusqlite::Error) -> Self {
        SearchError::Index(error.to_string())
    }
}
