//! One task in full, and the visits of its node.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{DecisionView, Json, TraceSpan, ValueView};

/// `thread.task`: what one task saw and did, beside what its [`TaskView`](super::TaskView) says.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadTask {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that its step began from, in its own graph.
    pub checkpoint_id: String,
    /// Where its graph keeps its checkpoints, when that is a nested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ns: Option<String>,
    /// The task.
    pub task_id: String,
}

/// Answer of `thread.task`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskDetail {
    /// What it was given: the packet that was sent to it, or else the state keys that its node sees.
    pub input: TaskInput,
    /// What it logged and emitted, the newest of it.
    pub emitted: Vec<TaskEmitted>,
    /// It emitted more than this, or its run more than is kept.
    pub more_emitted: bool,
    /// When it was at work, once for each run that had it; empty where no program of this data folder saw it.
    pub spans: Vec<TraceSpan>,
    /// What the graph says that its node does to the world outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effect: Option<String>,
    /// The task of another branch that did the same work before: this one did it again, or used what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub instead: Option<String>,
    /// What its result came from, when it did not work for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unworked: Option<UnworkedResult>,
}

/// Source of a result that a task did not work for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum UnworkedResult {
    /// What an earlier run with the same input had written was used.
    Cache,
    /// What another branch had written was used.
    Branch,
    /// A person said that nothing was left to do, or gave the result.
    Answer,
}

impl UnworkedResult {
    /// Returns the name: cache, branch or answer.
    pub fn as_str(self) -> &'static str {
        match self {
            UnworkedResult::Cache => "cache",
            UnworkedResult::Branch => "branch",
            UnworkedResult::Answer => "answer",
        }
    }
}

/// Input of a task.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum TaskInput {
    /// A packet.
    Packet(ValueView),
    /// The state, by key.
    State(BTreeMap<String, ValueView>),
}

/// Value that a task emitted.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TaskEmitted {
    /// Milliseconds since the epoch.
    pub at: f64,
    /// What.
    #[ts(type = "any")]
    pub value: Json,
}

/// `node.visits`: the steps of a branch in which a node ran or waits to run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadVisits {
    /// The thread.
    pub thread_id: String,
    /// The node.
    pub node: String,
    /// The moment; absent means the newest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// The end of the branch that the moment is on; absent means the newest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tip: Option<String>,
}

/// A visit of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// The checkpoint that the step began from.
    pub checkpoint_id: String,
    /// The super-step.
    pub step: i32,
}

/// Answer of `node.visits`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct VisitsView {
    /// Visits on the branch.
    pub total: u32,
    /// The number of the visit at the moment, or the last before it: 1 for the first, 0 when there is none.
    pub at: u32,
    /// That visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub here: Option<Visit>,
    /// The one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub previous: Option<Visit>,
    /// The one after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<Visit>,
    /// The first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub first: Option<Visit>,
    /// The last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last: Option<Visit>,
    /// The branch is longer than what was looked through: only its last super-steps were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub counted: Option<u32>,
    /// Edges that lead to the node when several nodes have run.
    pub waits: Vec<JoinWait>,
    /// Other edges that lead to the node, none of which did in the step before the moment; empty when the node has a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<EdgeNotTaken>>", optional)]
    pub not_taken: Vec<EdgeNotTaken>,
}

/// An edge that leads to a node when several nodes have run, as it was at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct JoinWait {
    /// Nodes that have run.
    pub came: Vec<JoinArrival>,
    /// Nodes that it waits for; none where the node runs.
    pub missing: Vec<String>,
}

/// A node that has run for a join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct JoinArrival {
    /// The node.
    pub node: String,
    /// The last step before the moment in which it ran; absent where that step is not stored any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub visit: Option<Visit>,
}

/// An edge that leads to a node and did not in a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct EdgeNotTaken {
    /// The edge.
    pub edge: String,
    /// The node that it comes from.
    pub from: String,
    /// Whether that node ran in the step.
    pub ran: bool,
    /// Its decision, where the node ran and the run recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub decision: Option<DecisionView>,
}
