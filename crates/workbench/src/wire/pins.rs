//! Pinned outputs: what nodes write instead of running.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Json, ValueView};

/// `pins.get`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ReadPins {
    /// The graph's file, or the id of a draft.
    pub graph: String,
}

/// `pins.set`: pins the output of a node, or ends that.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SetPin {
    /// The graph's file, or the id of a draft.
    pub graph: String,
    /// The node.
    pub node: String,
    /// The task whose writes are pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<PinnedTask>,
    /// An object of state keys that is pinned, in place of a task's writes. With neither the node runs again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub output: Option<Json>,
    /// The node is called this now; what is pinned goes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub renamed: Option<String>,
}

/// A task of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PinnedTask {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint from which its step began.
    pub checkpoint_id: String,
    /// The task.
    pub task_id: String,
}

/// Answer of both: the pinned outputs of a graph, by node.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Pins {
    /// The graph's file, or the id of a draft.
    pub graph: String,
    /// What each node writes, shortened.
    pub nodes: BTreeMap<String, ValueView>,
}
