//! Why a store refused or failed.

use serde::{Deserialize, Serialize};

use crate::checkpoint::types::StorageError;

/// Reason why a store could not carry out a batch. Nothing of the batch was stored.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
pub enum StoreError {
    /// A namespace that no item can have.
    #[error("the namespace {namespace:?} cannot be used: {reason}")]
    Namespace {
        /// The namespace.
        namespace: Vec<String>,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// A key that no item can have.
    #[error("the key {0:?} cannot be used: it holds a NUL character. Remove it.")]
    Key(String),
    /// A value that is no object.
    #[serde(skip)]
    #[error("the value of {key:?} is {found}, and a store keeps objects. Wrap it, as in {{\"value\": …}}.")]
    Value {
        /// The key it was put at.
        key: String,
        /// What it is.
        #[serde(skip)]
        found: &'static str,
    },
    /// A value that could not be read back.
    #[error("the value of {key:?} is nested more than {limit} levels deep. Make it flatter.")]
    Nested {
        /// The key it was put at.
        key: String,
        /// How deep a value may be.
        limit: usize,
    },
    /// A filter that cannot be read.
    #[error("the filter{} cannot be read: {reason}", if field.is_empty() { String::new() } else { format!(" of {field:?}") })]
    Filter {
        /// The field it is for; empty when it is about the whole filter.
        field: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A path that cannot be read.
    #[error("the path {path:?} cannot be read: {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A query that this store cannot answer.
    #[error("the search cannot be done: {0}")]
    Query(String),
    /// Texts could not be turned into vectors.
    #[error("the embedding {name:?} failed: {cause}. {remedy}")]
    Embedding {
        /// Which embedding.
        name: String,
        /// What it said.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// The backend failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl StoreError {
    /// Returns the name of the error's class, as a node's failure shows it.
    pub fn class(&self) -> &'static str {
        match self {
            StoreError::Namespace { .. } => "InvalidNamespaceError",
            StoreError::Embedding { .. } => "EmbeddingError",
            StoreError::Storage(_) => "StorageError",
            StoreError::Key(_)
            | StoreError::Value { .. }
            | StoreError::Nested { .. }
            | StoreError::Filter { .. }
            | StoreError::Path { .. }
            | StoreError::Query(_) => "ValueError",
        }
    }
}
