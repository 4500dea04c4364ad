//! An edit of a thread's state, as a node.

use superstep::checkpoint::ClaimRequest;
use superstep::inspect::TaskSnapshot;
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{CheckpointId, Graph, Name, RunError, StateUpdate, ThreadId, Value, overwrite};
use superstep_document::{ChannelKind, Document, Reducer};

use super::Origin;
use crate::wire::Updated;

/// Builds an update of these values in which the keys chosen by `replaced` overwrite the current values instead of
/// being joined with them by their reducers.
pub(crate) fn replacing(document: &Document, values: &Object, replaced: impl Fn(&str) -> bool) -> Value {
    let joins = |name: &str| {
        document.state_keys().any(|(key, spec)| {
            key == name && spec.channel == ChannelKind::Kept && spec.reducer != Reducer::Overwrite
        })
    };
    let values = values.iter().map(|(name, value)| {
        let value = match replaced(name) && joins(name) {
            true => overwrite(value.clone()),
            false => value.clone(),
        };
        (name.clone(), value)
    });
    Value::Object(values.collect())
}

/// Content that an edit writes.
#[derive(Clone, Debug)]
pub enum Write {
    /// Values by key, as the result of a node; it is found out when absent.
    Values(Value, Option<Name>),
    /// Nothing: the step after the checkpoint is skipped. Each of its tasks counts as one that has run and has written
    /// nothing, and the edges of its node are followed.
    SkippedStep,
}

/// An edit of a thread's state.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What is written, and as which node.
    pub write: Write,
    /// The checkpoint that is edited, on a new branch; the newest when absent.
    pub checkpoint: Option<CheckpointId>,
    /// Nothing is stored.
    pub preview: bool,
}

impl Edit {
    /// Makes the edit in a thread of the graph.
    pub async fn apply(
        self,
        graph: &Graph,
        thread: &ThreadId,
        claim: ClaimRequest,
        origin: &Origin,
    ) -> Result<Updated, RunError> {
        let mut at = StateRef::live(thread.clone());
        at.checkpoint_id = self.checkpoint;
        at.claim = Some(claim);
        let updates = match self.write {
            Write::Values(values, as_node) => {
                let mut update = StateUpdate::default();
                let keys = values.as_object().into_iter().flat_map(|values| values.keys());
                update.metadata = origin.of_edit(keys.map(|key| &**key));
                update.values = values;
                update.as_node = as_node;
                vec![update]
            }
            Write::SkippedStep => skips(graph, &at, origin).await?,
        };
        let edited = match self.preview {
            true => graph.preview_bulk_update(&at, vec![updates]).await?,
            false => graph.bulk_update_state(&at, vec![updates]).await?,
        };
        Ok(Updated {
            checkpoint_id: (!self.preview).then(|| edited.checkpoint_id.to_string()),
            next: edited.next.iter().map(ToString::to_string).collect(),
            as_node: edited.as_node.to_string(),
        })
    }
}

/// Builds one update without values for each task that runs after the checkpoint.
async fn skips(graph: &Graph, at: &StateRef, origin: &Origin) -> Result<Vec<StateUpdate>, RunError> {
    let tasks = graph.get_state(at).await?.tasks;
    if tasks.is_empty() {
        return Err(RunError::InvalidUpdate {
            message:
                "No task runs after this checkpoint, so there is no step to skip. Choose an earlier one."
                    .to_owned(),
        });
    }
    let update = |task: TaskSnapshot| StateUpdate {
        metadata: origin.of_edit([]),
        as_node: Some(task.name),
        task_id: Some(task.id),
        ..StateUpdate::default()
    };
    Ok(tasks.into_iter().map(update).collect())
}
