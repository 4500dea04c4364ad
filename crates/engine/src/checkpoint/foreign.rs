//! Threads that another program makes, in a database that is only read.
//!
//! A saver of such threads lists and reads them like any other; what their graph would say of a checkpoint, which tasks
//! begin there, it concludes from what is stored. It stores nothing: every change is refused with
//! [`StorageError::OnlyRead`](super::types::StorageError::OnlyRead).

use std::fmt::Debug;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::base::ids::{Name, TaskId};
use crate::checkpoint::types::{CheckpointAddress, CheckpointTuple, Metadata, StorageError};
use crate::value::{Object, Value};

/// The key of a checkpoint's metadata, in a copy of a thread that another program made, under which stand the tasks that
/// begin there: an object from each one's path as text (`~__pregel_pull, NODE`, `~__pregel_push, 0000000000, 0000000000`) to
/// the id that the program gave it.
///
/// Everything that is stored of a task, its questions and answers and the namespace of the graph that it runs, is found by
/// its id, which another program makes in another way; and what triggers a node is that program's, too. A graph with the
/// same nodes takes the tasks from here, and goes on with them.
pub const TASK_IDS: &str = "langgraph_tasks";

/// How the path of a node's task begins.
const PULL: &str = "~__pregel_pull, ";

/// Tasks of a checkpoint as the program has them that the thread was copied from.
#[derive(Clone, Debug)]
pub(crate) struct GivenTasks(Object);

impl GivenTasks {
    /// Reads the tasks from the metadata of a checkpoint; `None` for one of our own.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        metadata
            .user
            .get(TASK_IDS)
            .and_then(Value::as_object)
            .cloned()
            .map(Self)
    }

    /// Returns the id of the task at a path.
    pub(crate) fn id(&self, path: &str) -> Option<TaskId> {
        self.0.get(path).and_then(Value::as_str).map(TaskId::from)
    }

    /// Returns the nodes that were triggered.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|path| path.strip_prefix(PULL))
    }
}

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
    /// Namespace in which its node's graph keeps its checkpoints, where the node runs one as far as the thread shows: this task
    /// did, or another one of the node.
    pub graph: Option<Name>,
}

/// Reason why encrypted values of another program's threads are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sealed {
    /// There is no key.
    NoKey,
    /// The key is not that of the values.
    WrongKey,
    /// The key has this number of bytes, and no key of the cipher has.
    KeyLength(usize),
}

/// Optional part of a saver whose threads another program makes and runs.
#[async_trait]
pub trait Foreign: Debug + Send + Sync {
    /// Returns why nothing here can be run, answered, edited, forked or deleted.
    fn refusal(&self) -> StorageError;
    /// Returns the number of threads when all were looked through last; `None` until that has been done once, when a list that
    /// was [wanted soon](crate::checkpoint::ThreadQuery::soon) is in the order of ids.
    fn known_threads(&self) -> Option<u64>;
    /// Opens encrypted values with this key from now on, the text that the program was given; with none they stay closed. Another
    /// key than before counts as a change.
    fn set_key(&self, key: Option<&str>);
    /// Returns why encrypted values stay closed; `None` where the key opens them, and where none was read yet.
    fn sealed(&self) -> Option<Sealed>;
    /// Reads the tasks that begin at a checkpoint, packets first; none when there is no such checkpoint.
    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError>;
    /// Reads a checkpoint in the form in which a saver of threads of our own keeps it: with what triggers its tasks, so that
    /// a graph with the same nodes can go on from its copy.
    async fn portable(&self, at: &CheckpointAddress) -> Result<Option<CheckpointTuple>, StorageError>;
}
