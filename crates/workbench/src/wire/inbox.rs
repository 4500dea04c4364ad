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
    /// Checkpoint that waits; the answer names it.
    pub checkpoint_id: String,
    /// The branch that asks, when it is not the newest of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<QuestionBranch>,
    /// Waiting since.
    pub since: String,
}

/// A branch of a thread that is not its newest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QuestionBranch {
    /// Super-step of the checkpoint that waits.
    pub step: i64,
    /// Super-step at which the thread's newest branch left it.
    pub left_at: i64,
}

/// `inbox.list`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListInbox {
    /// Only what follows this place: `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Waiting checkpoints of a page; absent means 100, at most 5,000. A checkpoint may ask several questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Only this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
}

/// Answer of `inbox.list`: waiting longest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    /// The questions.
    pub questions: Vec<Question>,
    /// How many wait in all.
    pub waiting: u32,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<String>,
}

/// `question.withdraw`: the question waits no longer and nobody answers it; the thread stays as it is.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawQuestion {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks.
    pub checkpoint_id: String,
    /// Interrupt id.
    pub interrupt_id: String,
    /// Why, in the words of the person who withdraws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// `inbox.changes`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadChanges {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that asks. Absent: the newest of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
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
