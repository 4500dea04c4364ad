//! Threads that another program makes, in a database that is only read.
//!
//! A saver of such threads lists and reads them like any other; what their graph would say of a checkpoint, which tasks
//! begin there, it tells from what is stored. It stores nothing: every change is refused with
//! [`StorageError::OnlyRead`](super::types::StorageError::OnlyRead).

use std::fmt::Debug;

use async_trait::async_trait;

use crate::base::ids::{Name, TaskId};
use crate::checkpoint::types::{CheckpointAddress, StorageError};
use crate::value::Value;

/// A task of a checkpoint, as far as the database has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignTask {
    /// Id, as the program gave it.
    pub id: TaskId,
    /// Node; empty where nothing says which.
    pub name: Name,
    /// Path, e.g. `["__pregel_pull", "a"]`.
    pub path: Value,
    /// The packet that it was sent; `None` for a task that was given the state.
    pub packet: Option<Value>,
}

/// Optional part of a saver whose threads another program makes and runs.
#[async_trait]
pub trait Foreign: Debug + Send + Sync {
    /// Returns why nothing here can be run, answered, edited, forked or deleted.
    fn refusal(&self) -> StorageError;
    /// Reads the tasks that begin at a checkpoint, packets first; none when there is no such checkpoint.
    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError>;
}
