//! Checkpoints as LangGraph's streams and states show them.

use crate::base::ids::{CheckpointId, ThreadId};
use crate::checkpoint::types::Metadata;
use crate::value::{Object, Value};

/// Creates the configuration of a checkpoint: its place, after the values that a run was configured with.
pub(crate) fn config_with(mut values: Object, place: Object) -> Value {
    for (key, value) in place.iter() {
        values.insert(key.clone(), value.clone());
    }
    [("configurable", Value::Object(values))]
        .into_iter()
        .collect::<Object>()
        .into()
}

/// Creates the address of a checkpoint. The address of a nested one names the checkpoints of the graphs around it.
pub(crate) fn config_json(thread: &ThreadId, ns: &str, id: Option<&CheckpointId>, parents: &Object) -> Value {
    config_with(place(thread, ns, id, parents), Object::new())
}

/// Returns the place of a checkpoint, as configurations name it.
pub(crate) fn place(thread: &ThreadId, ns: &str, id: Option<&CheckpointId>, parents: &Object) -> Object {
    let mut inner = Object::new();
    inner.insert("thread_id", thread);
    // What is not there is named as it is asked for: the outermost graph by its thread alone.
    if id.is_some() || !ns.is_empty() {
        inner.insert("checkpoint_ns", ns);
    }
    if let Some(id) = id {
        inner.insert("checkpoint_id", id);
        if !parents.is_empty() {
            let mut map = parents.clone();
            map.insert(ns, id);
            inner.insert("checkpoint_map", map);
        }
    }
    inner
}

/// Converts metadata to the form that LangGraph's checkpoints show.
pub(crate) fn metadata_json(metadata: &Metadata) -> Value {
    let mut object = Object::new();
    object.insert("source", metadata.source.as_str());
    object.insert("step", metadata.step);
    object.insert("parents", metadata.parents.clone());
    for (key, value) in metadata.user.iter() {
        object.insert(key.clone(), value.clone());
    }
    Value::Object(object)
}
