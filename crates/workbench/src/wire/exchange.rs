//! What was asked of models, and what they answered.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Json;

/// `thread.exchanges`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadExchanges {
    /// The thread.
    pub thread_id: String,
    /// The task; one of a nested graph, too. Absent for those of all tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_id: Option<String>,
    /// Only those that were sent at or after this moment, in milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<f64>,
    /// Without what was sent and answered: to sum up time, tokens and cost.
    #[serde(default)]
    pub brief: bool,
}

/// Answer of `thread.exchanges`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ExchangeList {
    /// What was asked and answered, the oldest first; the newest of them when there are very many.
    pub exchanges: Vec<ExchangeView>,
}

/// End of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeEnd {
    /// The answer is complete.
    Done,
    /// The server failed or refused.
    Failed,
    /// The run was stopped, or the time was over.
    Left,
}

/// Source that answered in place of a model's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum OfflineAnswer {
    /// The file of recorded answers; tokens and cost are those of the recording.
    Recording,
    /// The node's script.
    Script,
}

/// Tokens of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExchangeTokens {
    /// Sent.
    pub input: u64,
    /// Answered.
    pub output: u64,
}

/// Cost of an exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ExchangeCost {
    /// How much.
    pub amount: f64,
    /// Of which money.
    pub currency: String,
}

/// A request to a model and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExchangeView {
    /// The task that asked.
    #[serde(default)]
    pub task_id: String,
    /// The model as the graph names it.
    pub model: String,
    /// Where the request went; empty for the provider's own address.
    pub address: String,
    /// When it was sent, in milliseconds since the epoch.
    pub at: f64,
    /// How long the answer took, in milliseconds.
    pub millis: u32,
    /// Messages, tools and parameters; keys are hidden and long texts cut.
    #[ts(type = "any")]
    pub request: Json,
    /// The body as it was sent, in the server's own protocol, with keys hidden and what is long cut. Absent where it is
    /// not known: nothing was sent, a library wrote it, or an earlier release kept the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub body: Option<Json>,
    /// The frames of the answer, one a line, as they came.
    pub response: String,
    /// The text of the answer, when it is complete, and a line for each call in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub answer: Option<String>,
    /// Who answered in the place of the model's server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<OfflineAnswer>,
    /// How it ended.
    pub ended: ExchangeEnd,
    /// Tokens, when the server counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tokens: Option<ExchangeTokens>,
    /// What it cost, when there is a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost: Option<ExchangeCost>,
    /// What a recording would have of the answer, for tests; not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(skip)]
    pub recorded: Option<Json>,
}
