//! Questions that wait for a person, of all threads.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Comparison, Json};

/// A choice offered with a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Choice {
    /// On the button.
    pub label: String,
    /// The answer it gives.
    #[ts(type = "any")]
    pub value: Json,
    /// What it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub description: Option<String>,
}

/// What a question says.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The question as text.
    pub text: String,
    /// JSON Schema of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub schema: Option<Json>,
    /// Choices.
    pub choices: Vec<Choice>,
    /// State that matters for the answer, by key.
    #[ts(type = "any")]
    pub context: Json,
    /// Why an earlier answer was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub refused: Option<String>,
    /// The interrupt's value as the node gave it.
    #[ts(type = "any")]
    pub value: Json,
}

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Interrupt id: the answer goes to it.
    pub interrupt_id: String,
    /// Thread.
    pub thread_id: String,
    /// Thread title.
    pub thread_title: String,
    /// Graph name.
    pub graph_name: String,
    /// Graph file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// Node that asks.
    pub node: String,
    /// What it says.
    #[serde(flatten)]
    pub asked: Asked,
    /// Checkpoint that waits.
    pub checkpoint_id: String,
    /// Waiting since.
    pub since: String,
}

/// Answer of `inbox.list`: waiting longest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Inbox {
    /// The questions.
    pub questions: Vec<Question>,
}

/// Answer of `inbox.changes`: what changed in a thread that asks since somebody last had a hand in it. Empty when nobody
/// had before this run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct Changes {
    /// When the run began that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// The checkpoint that it went on from, and the thread as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub comparison: Option<Comparison>,
}
