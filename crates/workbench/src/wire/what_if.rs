//! What-if grids: many forks from one moment, each with something changed, and what came of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Difference, EffectChoice, ExchangeCost, Json, PatchOp, Problem, RunModels, ValueView};

/// Changes of a row. A row without changes shows what happens when nothing is different.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfRow {
    /// What the row is called; made from its changes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// State keys and the values that take the place of those of the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "Record<string, any>")]
    pub values: Option<BTreeMap<String, Json>>,
    /// The node as whose result the values are written; found out when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub as_node: Option<String>,
    /// An input. At the moment of an input it takes the place of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub input: Option<Json>,
    /// Parts of the graph's document by their JSON Pointers, such as `/nodes/reply/config/prompt`; null takes a part away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "Record<string, any>")]
    pub settings: Option<BTreeMap<String, Json>>,
    /// The model of every node that asks one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// Who answers for the models, in place of the grid's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<RunModels>,
    /// The whole document of a graph, in place of the thread's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub graph: Option<Json>,
}

/// Limit on what one row, or all of them, may use. Absent fields have no limit, except for the time of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfLimit {
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seconds: Option<f64>,
    /// Tokens, sent and answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tokens: Option<u64>,
    /// Money, in the currency of the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost: Option<f64>,
}

/// Method of grading a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfScorer {
    /// An expression over `state`, `base` and `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expression: Option<String>,
    /// A model that grades by the rubric, as graphs name models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// What the model is to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rubric: Option<String>,
}

/// A grid as it is asked for; a file of `superstep whatif` holds the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfGrid {
    /// At least one.
    pub rows: Vec<WhatIfRow>,
    /// How often each row runs; once when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repeat: Option<u32>,
    /// Rows that run at once; two when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub concurrency: Option<u32>,
    /// What each row may use.
    #[serde(default)]
    #[ts(as = "Option<WhatIfLimit>", optional)]
    pub limit: WhatIfLimit,
    /// What all rows together may use.
    #[serde(default)]
    #[ts(as = "Option<WhatIfLimit>", optional)]
    pub total: WhatIfLimit,
    /// What grades the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub scorer: Option<WhatIfScorer>,
    /// What happens at nodes that work outside of the graph. Those that are not named use a result of the same input, or
    /// stop their row.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, EffectChoice>>", optional)]
    pub effects: BTreeMap<String, EffectChoice>,
    /// State keys that are shown; the graph's output keys, or those that a row changed, when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub keys: Vec<String>,
    /// Who answers for the models of all rows. Absent: as on the way to the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<RunModels>,
}

/// Status of one run of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum WhatIfStatus {
    /// Not begun.
    Queued,
    /// Working.
    Running,
    /// Came to its end.
    Done,
    /// A node asks something; nobody is asked, and the row ends there.
    Asked,
    /// Stopped before a node that would work outside of the graph.
    Held,
    /// A node failed, or the row could not begin.
    Failed,
    /// Its time, tokens or money were used up, or those of the grid.
    Limit,
    /// Somebody stopped the grid.
    Stopped,
}

impl WhatIfStatus {
    /// Returns whether the run has not come to its end.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// Result of one run of a row.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfResult {
    /// The row, counted from 0.
    pub row: u32,
    /// Which run of the row, counted from 0.
    pub repeat: u32,
    /// How it stands.
    pub status: WhatIfStatus,
    /// Where its branch ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// Why it did not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<Problem>,
    /// What was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub asks: Option<String>,
    /// The node that asked, failed, or was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub node: Option<String>,
    /// State keys at its end.
    pub output: BTreeMap<String, ValueView>,
    /// How its state differs from the base, the first of it.
    pub changes: Vec<Difference>,
    /// How many differences there are.
    pub changed: u32,
    /// Super-steps.
    pub steps: u32,
    /// Tokens, sent and answered; scorers are not counted.
    pub tokens: u64,
    /// What models cost, one entry for each currency.
    pub cost: Vec<ExchangeCost>,
    /// True when a model has no price, so that `cost` is not everything.
    pub unpriced: bool,
    /// How long it took, in milliseconds.
    pub millis: u32,
    /// What the scorer gave: a number, a boolean or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub score: Option<Json>,
    /// Why the scorer gave it, or why it gave nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub score_note: Option<String>,
}

/// Base that the results are compared with.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfBase {
    /// The checkpoint.
    pub checkpoint_id: String,
    /// Is it what followed the moment? Otherwise nothing has, and the state of the moment is the base.
    pub followed: bool,
    /// State keys there.
    pub output: BTreeMap<String, ValueView>,
}

/// A grid and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfView {
    /// Id.
    pub id: String,
    /// The thread.
    pub thread_id: String,
    /// The moment.
    pub checkpoint_id: String,
    /// Super-step of the moment.
    pub step: i32,
    /// When it was asked for: ISO-8601, UTC.
    pub made_at: String,
    /// The program that runs it.
    pub instance: String,
    /// Is it running?
    pub running: bool,
    /// What was asked for.
    pub grid: WhatIfGrid,
    /// What the rows are called.
    pub names: Vec<String>,
    /// What results are compared with.
    pub base: WhatIfBase,
    /// Every run of every row, in their order.
    pub results: Vec<WhatIfResult>,
}

/// `whatIf.start`: runs a grid in the background.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartWhatIf {
    /// The thread.
    pub thread_id: String,
    /// The moment; absent means now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// An open document. Absent: the graph that the thread ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// The grid.
    pub grid: WhatIfGrid,
}

/// `whatIf.stop` and `whatIf.remove` name a grid; its branches stay when it is removed.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfRef {
    /// The thread.
    pub thread_id: String,
    /// The grid.
    pub id: String,
}

/// `whatIf.list`: the grids of a thread.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListWhatIfs {
    /// The thread.
    pub thread_id: String,
}

/// Answer of `whatIf.list`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfList {
    /// The newest first.
    pub grids: Vec<WhatIfView>,
}

/// `whatIf.take`: a run of a row becomes what the thread is now.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TakeWhatIf {
    /// The thread.
    pub thread_id: String,
    /// The grid.
    pub id: String,
    /// The row.
    pub row: u32,
    /// Which run of it.
    #[serde(default)]
    pub repeat: u32,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// `whatIf.edit`: what a row changes in the graph, as an edit of an open document.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EditByWhatIf {
    /// An open document.
    pub graph_id: String,
    /// The row.
    pub row: WhatIfRow,
}

/// Answer of `whatIf.edit`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfEdit {
    /// The edit.
    pub ops: Vec<PatchOp>,
}

/// The branch of a grid that a checkpoint is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfBranch {
    /// The grid.
    pub grid: String,
    /// The row, counted from 0.
    pub row: u32,
    /// Which run of the row, counted from 0.
    pub repeat: u32,
}
