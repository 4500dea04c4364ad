//! Where values came from, and why edges led where they did.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ChangeKind, CheckpointView, Json, ValueView};

/// `thread.provenance`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadProvenance {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint whose state has the value; absent means the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// JSON Pointer of the value, e.g. `/total` or `/messages/3/content`.
    pub pointer: String,
    /// The most writes; 0 means 25.
    #[serde(default)]
    pub limit: u32,
}

/// Answer of `thread.provenance`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ProvenanceView {
    /// The write of the value first; each other one is of something that an earlier one read.
    pub writes: Vec<ValueWriteView>,
    /// There is more behind them.
    pub more: bool,
}

/// A write of a value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ValueWriteView {
    /// JSON Pointer of what was written.
    pub pointer: String,
    /// The write, by its place in the list, whose task read it; absent for the value that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub read_by: Option<u32>,
    /// The checkpoint that has the value for the first time.
    pub checkpoint: CheckpointView,
    /// The checkpoint from which the step began; absent where it is not stored any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// What changed.
    pub change: ChangeKind,
    /// What was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<ValueView>,
    /// What was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<ValueView>,
    /// How it came to be.
    pub origin: WriteOriginView,
    /// The tasks that wrote it; of an edit the node that it stood for.
    pub writers: Vec<WriterView>,
}

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum WriteOriginView {
    /// Tasks wrote it.
    Task,
    /// It was in the input of a run.
    Input,
    /// It was the update of a command that continued a run.
    Command,
    /// A person edited the state.
    Edit,
    /// It is older than what was looked through: asked for `pointer` at `checkpoint`, the search goes on.
    Older,
    /// What came before is not stored any more.
    Unknown,
}

/// A task that wrote a value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WriterView {
    /// Node.
    pub node: String,
    /// Task; absent for an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub task_id: Option<String>,
    /// The state keys that it read.
    pub reads: KeysReadView,
    /// It was sent a packet, and saw that instead of the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub packet: bool,
    /// The packet, whole when it is very small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub input: Option<super::ValueView>,
    /// The nodes that sent the packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub sent_by: Vec<String>,
    /// The answers that it was given to its questions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<AnswerGivenView>>", optional)]
    pub answers: Vec<AnswerGivenView>,
    /// Where its reads were not seen, or the state was used as a whole: the keys that it may have read, those that were
    /// written last first. Each can be asked for at the checkpoint from which the step began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PossibleReadView>>", optional)]
    pub may_have_read: Vec<PossibleReadView>,
    /// There are more of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub may_have_read_more: bool,
}

/// A state key that a task may have read.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PossibleReadView {
    /// The key.
    pub key: String,
    /// The checkpoint with its last write before the task.
    pub checkpoint_id: String,
    /// The step of that write.
    pub step: i32,
}

/// An answer to a question of a task.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AnswerGivenView {
    /// What was asked; absent where it is not stored: of several questions of a task, the last one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub question: Option<ValueView>,
    /// What was answered.
    pub answer: ValueView,
}

/// The state keys that a task read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", content = "keys", rename_all = "lowercase")]
pub enum KeysReadView {
    /// Not seen: any key of its input may have been read.
    Unknown,
    /// The state was used as a whole.
    All,
    /// These.
    Keys(Vec<String>),
}

/// Record of what a task read, and of why it led where it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecordView {
    /// The state keys that it read.
    pub reads: KeysReadView,
    /// Where its edges led, taken or not, and where the node itself did.
    pub decisions: Vec<DecisionView>,
    /// What it did with items of long-term memory, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<MemoryUseView>>", optional)]
    pub memory: Vec<MemoryUseView>,
    /// The node did not run: its output is pinned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub pinned: bool,
    /// What it did, in Markdown, as the node's `summary` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub summary: Option<String>,
    /// More than that was not recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub memory_cut: bool,
}

/// Use of an item of long-term memory by a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct MemoryUseView {
    /// What.
    pub action: super::UseOfItem,
    /// Where the item is.
    pub namespace: Vec<String>,
    /// Its key.
    pub key: String,
    /// Its value, as it was read or put; absent when there was no such item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<RecordedValueView>,
}

/// Decision on where a conditional edge led, or the node itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct DecisionView {
    /// The edge, by its id; absent when the node itself decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub edge: Option<String>,
    /// The nodes that it led to; empty when the edge was not taken.
    pub to: Vec<String>,
    /// Number of packets that it sent.
    pub packets: u32,
    /// The expression that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expression: Option<String>,
    /// What it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub result: Option<RecordedValueView>,
    /// The state keys that were read for it, with their values at that time.
    pub values: Vec<RecordedKey>,
    /// The conditions that were tried, in order.
    pub conditions: Vec<TriedConditionView>,
    /// Some of it was left out: there were too many entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub cut: bool,
}

/// A state key that was read, with its value at that time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RecordedKey {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: RecordedValueView,
}

/// A value as it was when it was read: itself, or its size and hash when it was large.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct RecordedValueView {
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub value: Option<Json>,
    /// Bytes of a large value, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub size: Option<u32>,
    /// Hash of a large value, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hash: Option<String>,
}

/// A condition that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TriedConditionView {
    /// What is chosen when it is true.
    pub label: String,
    /// Its expression; absent where it always holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub expression: Option<String>,
    /// Whether it held.
    pub held: bool,
}
