//! The query desk: which threads contain these words, where did this expression become true for the first time, which went
//! through these nodes, what was this expression at every visit of a node, where was an invariant broken, which steps used an
//! item of long-term memory, and what would another condition have decided.
//!
//! Every backend is searched in the same way, thread by thread, the newest first, through the traits of the engine. An
//! answer comes after a fraction of a second with what was found by then and the place to go on from, so that progress and
//! stopping need nothing of their own. Hosts say how their threads are listed ([`Directory`]); nothing here knows which.

mod commands;
mod condition;
mod desk;
mod edges;
mod find;
mod folder;
mod index;
mod invariants;
mod probe;
mod reconsider;
mod texts;
mod thread_history;
mod uses;
mod value_history;
mod words;

use std::fmt::Debug;

use async_trait::async_trait;
use superstep::Graph;
use superstep::checkpoint::ThreadSummary;
use superstep::value::Object;

pub use desk::Desk;
pub use folder::Folder;
pub(crate) use index::{Indexing, watch as keep_index};

use crate::wire::{Problem, RunStatus};

/// A thread as lists show it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Title.
    pub title: String,
    /// Name of its graph; empty when it is not known.
    pub graph_name: String,
    /// File of its graph; `None` for a draft.
    pub graph_path: Option<String>,
    /// How it stands.
    pub status: RunStatus,
}

/// Knowledge of a host about threads, apart from their checkpoints.
#[async_trait]
pub trait Directory: Debug + Send + Sync {
    /// Returns these threads as lists show them, in the same order.
    async fn listed(&self, threads: &[ThreadSummary]) -> Result<Vec<Listed>, Problem>;
    /// Returns what the runs of a thread have cost, in the currency of which it is most; 0 where nothing is kept of it.
    async fn cost(&self, thread: &str) -> Result<f64, Problem>;
    /// Returns the titles of all threads that have one, by thread.
    async fn titles(&self) -> Result<Vec<(String, String)>, Problem>;
    /// Returns the initial values of the state keys of a thread's graph; empty when the graph is gone.
    async fn initial(&self, thread: &ThreadSummary) -> Object;
    /// Returns the graph of a thread over its storage, which shows values that are stored as deltas; `None` when the
    /// graph is gone.
    async fn graph(&self, thread: &ThreadSummary) -> Option<Graph>;
}
