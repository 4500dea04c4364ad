//! Evaluations: rows of a data set run through variants of a graph, scored and counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Map;
use ts_rs::TS;

use super::Json;

/// A score that a row got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RowScore {
    /// A number, true or false, or a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub value: Option<Json>,
    /// Whether it passes; absent where that is not to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub passed: Option<bool>,
    /// Why it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
}

/// Result of a row in a variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatedRow {
    /// The hash of everything that it depends on.
    pub key: String,
    /// The hash of the row with its scores, without the graph.
    pub case: String,
    /// When it ended, ISO 8601.
    pub at: String,
    /// The name of the variant.
    pub variant: String,
    /// The version of the graph.
    pub graph: String,
    /// The place of the row in its file, 1 for the first.
    pub row: u32,
    /// The name of the row.
    pub name: String,
    /// Which of its repetitions, 1 for the first.
    pub repeat: u32,
    /// `done`, `interrupted` (a question is left), `failed`, `limit` or `stopped`.
    pub status: String,
    /// Whether it passed all scores; absent where none said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub passed: Option<bool>,
    /// By name.
    #[serde(default)]
    pub scores: BTreeMap<String, RowScore>,
    /// Values of the keys that the row expects and of the graph's output.
    #[serde(default)]
    #[ts(type = "Record<string, any>")]
    pub values: Map<String, Json>,
    /// Why it failed, or which question was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
    /// Tokens, sent and answered.
    #[serde(default)]
    pub tokens: u64,
    /// Cost by currency.
    #[serde(default)]
    #[ts(type = "Record<string, number>")]
    pub cost: BTreeMap<String, f64>,
    /// A model has no price, so the cost is not everything.
    #[serde(default)]
    pub unpriced: bool,
    /// Milliseconds.
    #[serde(default)]
    pub millis: u32,
    /// It was not run again: what it depends on is as it was.
    #[serde(default, skip_deserializing)]
    pub reused: bool,
}

/// Counts of a variant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatedVariant {
    /// Its name.
    pub variant: String,
    /// The version of the graph.
    pub graph: String,
    /// Runs that passed or did not.
    pub scored: u32,
    /// Runs that passed.
    pub passed: u32,
    /// Runs of which no score says whether they pass.
    pub unscored: u32,
    /// Runs that failed, among those that did not pass.
    pub failed: u32,
    /// Runs that a limit or a stop kept from their end. They count nowhere else.
    pub cut: u32,
    /// Runs whose result was kept from before.
    pub reused: u32,
    /// The part that passed and its interval of 95 % (Wilson); absent without a scored run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rate: Option<[f64; 3]>,
    /// Tokens.
    pub tokens: u64,
    /// Cost by currency.
    #[ts(type = "Record<string, number>")]
    pub cost: BTreeMap<String, f64>,
    /// A model has no price, so the cost is not everything.
    pub unpriced: bool,
    /// Milliseconds of the run in the middle.
    pub median_millis: u32,
    /// What it is compared with: the first variant, or itself on the graph before; absent where there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compared: Option<String>,
    /// Names of rows that passed there and do not here.
    pub worse: Vec<String>,
    /// Names of rows that pass here and did not there.
    pub better: Vec<String>,
    /// There are too few rows to say that one is better.
    pub too_few: bool,
}

/// An evaluation that was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PastEvaluation {
    /// When it ended, ISO 8601.
    pub at: String,
    /// Its variants, in their order.
    pub variants: Vec<EvaluatedVariant>,
}

/// Answer of `evaluation.list`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationList {
    /// The folder of the evaluations; absent where the graph is in no file yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub folder: Option<String>,
    /// By name.
    pub evaluations: Vec<EvaluationEntry>,
}

/// An evaluation of a graph.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationEntry {
    /// Its name.
    pub name: String,
    /// What is evaluated, for people.
    pub about: String,
    /// Number of rows.
    pub rows: u32,
    /// Names of the variants.
    pub variants: Vec<String>,
    /// The part of rows that must pass, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at_least: Option<f64>,
    /// Why the file cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
    /// How it came out before, the newest first.
    pub history: Vec<PastEvaluation>,
}

/// `evaluation.run`: runs an evaluation of an open graph. Stopped by `work.cancel`, it answers with what has run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunEvaluation {
    /// The open graph.
    pub graph_id: String,
    /// The evaluation's name.
    pub name: String,
    /// Runs also rows of which everything is as it was.
    #[serde(default)]
    pub again: bool,
    /// A name under which progress is reported, and by which `work.cancel` stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Answer of `evaluation.run`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationResult {
    /// The evaluation's name.
    pub name: String,
    /// Counts by variant.
    pub variants: Vec<EvaluatedVariant>,
    /// The runs: those that did not pass first, then in their order.
    pub rows: Vec<EvaluatedRow>,
    /// Runs that are left out of `rows`.
    pub left_out: u32,
    /// It was stopped.
    pub stopped: bool,
    /// Tokens that judging models used.
    pub judging: u64,
}

/// `evaluation.row`: reads a row of the data set.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadEvaluationRow {
    /// The open graph.
    pub graph_id: String,
    /// The evaluation's name.
    pub name: String,
    /// The place of the row, 1 for the first.
    pub row: u32,
}

/// Answer of `evaluation.row`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationRowView {
    /// Its name.
    pub name: String,
    /// Inputs, one run each on the same thread.
    #[ts(type = "any[]")]
    pub inputs: Vec<Json>,
    /// What must come, by state key.
    #[ts(type = "Record<string, any>")]
    pub expect: Map<String, Json>,
}

/// `evaluation.add`: adds what happened on a thread as a row.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AddEvaluationRow {
    /// The open graph.
    pub graph_id: String,
    /// The evaluation's name.
    pub name: String,
    /// The thread.
    pub thread_id: String,
    /// The end of the way through the thread; the newest checkpoint when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// The name of the row.
    pub row: String,
}
