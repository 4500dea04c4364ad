//! Breakpoints of a graph.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The kind of place where a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum BreakWhen {
    /// Before the node runs.
    Before,
    /// After it ran.
    After,
    /// After the step in which the node led to another, see `to`.
    Edge,
    /// After a step that wrote a state key, see `key`.
    Key,
    /// When the node fails, before its writes and those of the step are lost. `kind` is a class of errors.
    Error,
    /// When an attempt of the node failed and another would follow.
    Retry,
    /// When the node asks. `kind` is the kind of the question.
    Question,
    /// After a step in which the node emitted a value of its own.
    Emitted,
    /// When the run has made a number of steps, see `limit`.
    Steps,
    /// When the run has taken a number of seconds, see `limit`.
    Seconds,
    /// When the state has a number of bytes, see `limit`.
    StateBytes,
    /// When a key has a number of bytes, see `key` and `limit`.
    KeyBytes,
    /// When the run has used a number of tokens, see `limit`.
    Tokens,
    /// When the run has cost an amount, see `amount`.
    Cost,
    /// When the condition became true.
    Watch,
}

/// Amount of US dollars. It is kept in millionths, so that breakpoints can be compared; on the wire it is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "f64", from = "f64")]
pub struct Dollars(u64);

impl From<f64> for Dollars {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float out of range becomes the nearest number, and what is none becomes 0"
    )]
    fn from(dollars: f64) -> Self {
        Self((dollars * 1e6).round() as u64)
    }
}

impl From<Dollars> for f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "nobody sets a limit of nine billion dollars"
    )]
    fn from(dollars: Dollars) -> Self {
        dollars.0 as f64 / 1e6
    }
}

/// Rule that decides which hits a breakpoint acts on. A hit is a moment at its place at which its condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "rule", content = "n", rename_all = "camelCase")]
pub enum BreakHits {
    /// Every n-th.
    Every(u32),
    /// The n-th only.
    Nth(u32),
    /// All from the n-th on.
    From(u32),
}

/// A breakpoint. It may outlive its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    /// A name that is its own in the graph; absent in breakpoints of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
    /// The node; `*` for every node, empty where the place has none.
    #[serde(default)]
    pub node: String,
    /// The kind of place.
    pub when: BreakWhen,
    /// Of an edge: the node that it comes to, or `__end__`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub to: Option<String>,
    /// The state key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key: Option<String>,
    /// The class of errors, or the kind of questions; all of them without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    /// Steps, seconds, bytes or tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// US dollars, of a limit of cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(as = "Option<f64>", optional)]
    pub amount: Option<Dollars>,
    /// A nested graph: the names of the nodes that lead there, joined with `/`, or `*` for every graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub within: Option<String>,
    /// An expression over `state`, `old`, `new`, `writer`, `task`, `value` and `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub condition: Option<String>,
    /// Which hits count; every one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hits: Option<BreakHits>,
    /// A template of a text that is logged; the run goes on then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub log: Option<String>,
    /// It is removed when it has stopped a run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub once: bool,
    /// Does it count? One that is switched off stays in the list.
    pub enabled: bool,
}

impl Breakpoint {
    /// Returns the name that is the breakpoint's own in its graph: its id, or its place where an earlier release gave none.
    pub(crate) fn name(&self) -> String {
        let place = || {
            let when = serde_json::json!(self.when);
            format!("{}:{}", when.as_str().unwrap_or_default(), self.node)
        };
        self.id.clone().unwrap_or_else(place)
    }
}

/// Place where a run stopped, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunStop {
    /// The breakpoint, by its id; absent after a step of one task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub breakpoint: Option<String>,
    /// A sentence without a full stop.
    pub reason: String,
    /// The node, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub node: Option<String>,
    /// The task, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_id: Option<String>,
    /// The nodes that lead to the nested graph in which it stopped, joined with `/`; empty for the graph itself.
    pub within: String,
}

impl From<&superstep::run::BreakpointHit> for RunStop {
    fn from(hit: &superstep::run::BreakpointHit) -> Self {
        Self {
            breakpoint: Some(hit.id.to_string()).filter(|id| !id.is_empty()),
            reason: hit.reason.clone(),
            node: hit.node.as_ref().map(ToString::to_string),
            task_id: hit.task_id.as_ref().map(ToString::to_string),
            within: hit.path.clone(),
        }
    }
}

/// `breakpoints.get`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadBreakpoints {
    /// The graph's file, or the id of a draft.
    pub graph: String,
}

/// `breakpoint.check`: refuses a breakpoint whose place is not complete, or whose condition or text is not valid.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckBreakpoint {
    /// The breakpoint.
    pub point: Breakpoint,
    /// The open graph that it is for: that of a program takes fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
}

/// `breakpoints.change`: changes some breakpoints of a graph, and leaves the others as they are stored: another window may
/// have changed those.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangeBreakpoints {
    /// The graph's file, or the id of a draft.
    pub graph: String,
    /// Those that take the place of the one with their id, or are added at the end.
    #[serde(default)]
    pub points: Vec<Breakpoint>,
    /// Ids of those that are removed; `WHEN:NODE` of one without an id.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// Answer of `breakpoints.get` and `breakpoints.change`: all breakpoints of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoints {
    /// The graph's file, or the id of a draft.
    pub graph: String,
    /// In the order in which they were set.
    pub points: Vec<Breakpoint>,
}
