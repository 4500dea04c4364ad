//! Work on other branches of a thread, as far as it was read; [`inspect::other_branches`](crate::inspect::other_branches) reads it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex, OnceCell};

use crate::base::ids::{CheckpointId, Name, TaskId};
use crate::graph::writes::Writes;
use crate::policy::effect::EffectState;

/// Starting point of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunStart {
    /// The checkpoint of the outermost graph that was loaded; None on a new thread.
    pub(crate) start: Option<CheckpointId>,
    /// The newest one at that time.
    pub(crate) newest: Option<CheckpointId>,
    /// The run does not finish the step of `start`: it made a checkpoint of its own first.
    pub(crate) leaves: bool,
    /// It began with an input.
    pub(crate) input: bool,
}

/// A checkpoint whose step was done on another branch.
#[derive(Debug)]
pub(crate) struct BranchCheckpoint {
    pub(crate) ns: Name,
    pub(crate) id: CheckpointId,
    /// The checkpoint of the outermost graph that it belongs to.
    pub(crate) root: CheckpointId,
    pub(crate) ts: String,
    pub(crate) next: Vec<Name>,
    /// Did its step finish?
    pub(crate) ran: bool,
}

/// A task with an effect that was done, or begun, on another branch.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) task_id: TaskId,
    pub(crate) node: Name,
    pub(crate) state: EffectState,
    /// The key that it sent.
    pub(crate) key: Name,
    pub(crate) digest: u128,
    /// What it wrote; empty when that was not stored.
    pub(crate) writes: Writes,
    /// The checkpoint of the outermost graph that it belongs to.
    pub(crate) root: CheckpointId,
    /// When its step began.
    pub(crate) ts: String,
}

/// Work that was done on other branches than the one of a run.
#[derive(Debug, Default)]
pub(crate) struct OtherBranches {
    pub(crate) began: OnceLock<RunStart>,
    pub(crate) known: OnceCell<KnownVisits>,
}

#[derive(Debug, Default)]
pub(crate) struct KnownVisits {
    /// The oldest first.
    pub(crate) sites: Vec<BranchCheckpoint>,
    pub(crate) seen: Mutex<VisitsRead>,
}

/// Part of the other branches that was read so far.
#[derive(Debug, Default)]
pub(crate) struct VisitsRead {
    pub(crate) visits: HashMap<usize, Vec<Arc<Visit>>>,
    /// For a task that stands for one of another branch: that one.
    pub(crate) instead: HashMap<TaskId, TaskId>,
    /// What tasks of this branch stand for.
    pub(crate) taken: HashSet<TaskId>,
}
