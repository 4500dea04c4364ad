//! Checkpoints as LangGraph's streams and states show them.

use crate::base::ids::{CheckpointId, ThreadId};
use crate::checkpoint::types::Metadata;
use crate::value::{Object, Value};

/// The address of a checkpoint. That of a nested one names the checkpoints of the graphs around it.
pub(crate) fn config_json(thread: &ThreadId, ns: &str, id: Option<&CheckpointId>, parents: &Object) -> Value {
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
    Value::Object([("configurable", Value::Object(inner))].into_iter().collect())
}

/// Metadata as LangGraph's checkpoints show it.
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
