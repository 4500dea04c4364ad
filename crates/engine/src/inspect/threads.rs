//! Reads and edits of a thread, and what is done with it as a whole.

use crate::base::ids::ThreadId;
use crate::checkpoint::maintenance::{Pruning, Removal};
use crate::checkpoint::types::ListQuery;
use crate::graph::compiled::Graph;
use crate::graph::scope::graph_path;
use crate::inspect::edit::{EditUse, StateUpdate, Updated, bulk_update_state};
use crate::inspect::snapshot::{StateSnapshot, get_state, history, locate};
use crate::state::delta;
use crate::stream::error::{RunError, StateError};
use crate::stream::request::StateRef;

impl Graph {
    /// Reads the state of a thread.
    pub async fn get_state(&self, at: &StateRef) -> Result<StateSnapshot, StateError> {
        get_state(self, at).await
    }

    /// Reads past states of a thread, newest first.
    pub async fn get_state_history(
        &self,
        thread: &ThreadId,
        query: &ListQuery,
    ) -> Result<Vec<StateSnapshot>, StateError> {
        history(self, thread, query).await
    }

    /// Edits the state as if a node had just returned `update.values`; makes a new checkpoint.
    pub async fn update_state(&self, at: &StateRef, update: StateUpdate) -> Result<Updated, StateError> {
        self.bulk_update_state(at, vec![vec![update]]).await
    }

    /// Edits the state in several super-steps, each of one update or more; every super-step makes a checkpoint. Nothing
    /// is stored unless all of them can be made.
    pub async fn bulk_update_state(
        &self,
        at: &StateRef,
        steps: Vec<Vec<StateUpdate>>,
    ) -> Result<Updated, StateError> {
        self.edit(at, steps, EditUse::Store).await
    }

    /// Returns the result that `update_state` would have, without storing it.
    pub async fn preview_update(&self, at: &StateRef, update: StateUpdate) -> Result<Updated, StateError> {
        self.edit(at, vec![vec![update]], EditUse::Preview).await
    }

    /// Returns the result that `bulk_update_state` would have, without storing it.
    pub async fn preview_bulk_update(
        &self,
        at: &StateRef,
        steps: Vec<Vec<StateUpdate>>,
    ) -> Result<Updated, StateError> {
        self.edit(at, steps, EditUse::Preview).await
    }

    async fn edit(
        &self,
        at: &StateRef,
        steps: Vec<Vec<StateUpdate>>,
        usage: EditUse,
    ) -> Result<Updated, StateError> {
        let Some((graph, ns)) = locate(self, &at.ns) else {
            let path = graph_path(&at.ns).join("|");
            return Err(RunError::invalid_request(format!(
                "Subgraph {path} not found\nName the graphs that a node runs with NodeOptions::runs."
            )));
        };
        bulk_update_state(&graph, &StateRef { ns, ..at.clone() }, steps, usage).await
    }

    /// Removes a thread with everything in it; a missing one is no error.
    pub async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StateError> {
        Ok(self.need_saver("delete_thread")?.delete_thread(thread).await?)
    }

    /// Copies a thread, past and all, to another; a missing source is no error.
    pub async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StateError> {
        Ok(self.need_saver("copy_thread")?.copy_thread(from, to).await?)
    }

    /// Removes checkpoints, and says what went. What a delta key of a kept checkpoint is rebuilt from stays too.
    pub async fn prune(&self, pruning: &Pruning) -> Result<Removal, StateError> {
        let saver = self.need_saver("prune")?;
        Ok(delta::prune(&**saver, pruning).await?)
    }
}
