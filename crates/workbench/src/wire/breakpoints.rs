//! Breakpoints of a graph.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// On which side of a node a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum BreakWhen {
    /// Before the node runs.
    Before,
    /// After it ran.
    After,
}

/// A breakpoint. It may outlive its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    /// The node.
    pub node: String,
    /// On which side of it a run stops.
    pub when: BreakWhen,
    /// Does it count? One that is switched off stays in the list.
    pub enabled: bool,
}

/// `breakpoints.get`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadBreakpoints {
    /// The graph's file, or the id of a draft.
    pub graph: String,
}

/// `breakpoints.set`, and what both commands answer: all breakpoints of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoints {
    /// The graph's file, or the id of a draft.
    pub graph: String,
    /// In the order in which they were set.
    pub points: Vec<Breakpoint>,
}
