//! A request to a model by itself: the prompt playground.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{CheckpointRef, ExchangeView, Json, ModelRecording};

/// `model.ask`: asks a model as a node would, without a run. Nothing of it is kept. Its answer comes in pieces, as
/// `answer` events, and whole.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskModel {
    /// An open document: its folder has the recorded answers, and what it may use is asked as for a run.
    pub graph_id: String,
    /// The `model` node whose other settings count (its script, its time limit). Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub node: Option<String>,
    /// The state that a script sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<CheckpointRef>,
    /// State keys and their values; they take the place of the checkpoint's.
    #[serde(default)]
    #[ts(type = "Record<string, any>")]
    pub state: BTreeMap<String, Json>,
    /// The model, as a node names it.
    pub model: String,
    /// `messages`, `temperature`, `max_tokens`, `reasoning`, `output`, `tools`, `tool_choice`, as an exchange has them.
    #[ts(type = "Record<string, any>")]
    pub request: BTreeMap<String, Json>,
    /// `replay` answers from the recorded answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub recording: Option<ModelRecording>,
    /// A name for the pieces of the answer, by which `work.cancel` stops it.
    pub work: String,
}

/// Answer of `model.ask`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ModelAsked {
    /// The answer as a message, or the value when `output` was given; absent when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub value: Option<Json>,
    /// What it used, as `usage_into` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub usage: Option<Json>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub millis: u32,
    /// What was sent and answered.
    pub exchanges: Vec<ExchangeView>,
}
