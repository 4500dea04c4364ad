//! An edit of a thread's state, as a node.

use superstep::{
    CheckpointId, ClaimRequest, Graph, Name, Object, RunError, StateRef, StateUpdate, ThreadId, Value,
    overwrite,
};
use superstep_document::{ChannelKind, Document, Reducer};

use super::Origin;
use crate::wire::Updated;

/// These values for the keys, of which those that `replaced` chooses take the place of what is there: their reducers do not
/// join them with it.
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

/// An edit of a thread's state.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The values, by key.
    pub values: Value,
    /// The node whose result they are; found out when absent.
    pub as_node: Option<Name>,
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
        let mut update = StateUpdate::default();
        let keys = self.values.as_object();
        let metadata = origin.of_edit(keys.iter().flat_map(|values| values.keys()).map(|key| &**key));
        update.metadata = metadata;
        update.values = self.values;
        update.as_node = self.as_node;
        let edited = if self.preview {
            graph.preview_update(&at, update).await?
        } else {
            graph.update_state(&at, update).await?
        };
        Ok(Updated {
            checkpoint_id: (!self.preview).then(|| edited.checkpoint_id.to_string()),
            next: edited.next.iter().map(ToString::to_string).collect(),
            as_node: edited.as_node.to_string(),
        })
    }
}
