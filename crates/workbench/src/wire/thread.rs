//! Threads, checkpoints, state, comparison, edits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Json, RunStatus, RunView};

/// A thread, as lists show it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    /// Id.
    pub thread_id: String,
    /// Given by the user, or made from the first input.
    pub title: String,
    /// Name of the graph that it runs.
    pub graph_name: String,
    /// The graph's file; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// How it stands.
    pub status: RunStatus,
    /// Nodes that run next; of a thread that asks, those that ask.
    pub next: Vec<String>,
    /// Unanswered questions.
    pub questions: u32,
    /// Number of checkpoints.
    pub checkpoints: u32,
    /// Super-step of the newest checkpoint.
    pub step: i32,
    /// Newest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub head: Option<String>,
    /// Who answers for its models, when that is not for the nodes to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub models: Option<super::RunModels>,
    /// Tags and metadata of its last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub labels: Option<super::RunLabels>,
    /// Disabled nodes of the graph that its last run passed by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub disabled: Vec<String>,
    /// Nodes that did not run in its last run, because their output is pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub pinned: Vec<String>,
    /// Its last run, when one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub run: Option<super::RunView>,
    /// The program that runs it, when that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub program: Option<String>,
    /// Begun.
    pub created_at: String,
    /// Changed last.
    pub updated_at: String,
}

/// `thread.list`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListThreads {
    /// Only threads of this open document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Only with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<RunStatus>,
    /// Text in title or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub search: Option<String>,
    /// Only those whose last run has all of these tags and entries of metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub labels: Option<super::RunLabels>,
    /// Only those after this place in the list: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Largest number of entries, at most 5,000; 0 means 200.
    #[serde(default)]
    pub limit: u32,
}

/// Answer of `thread.list`: changed last first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ThreadList {
    /// The page.
    pub threads: Vec<ThreadView>,
    /// How many there are in all; only the first page says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub total: Option<u32>,
    /// Where the next page begins; absent when this is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<String>,
    /// The threads are another program's and are still looked through for the newest: these are the first in the order of ids,
    /// and an event says when the list is to be loaded again. `total` and `next` are absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub sorting: bool,
}

/// A request that names a thread.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRef {
    /// The thread.
    pub thread_id: String,
}

/// `thread.delete`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DeleteThread {
    /// The thread.
    pub thread_id: String,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// `thread.rename`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RenameThread {
    /// The thread.
    pub thread_id: String,
    /// Its new title.
    pub title: String,
}

/// `thread.events`: what the runs of a thread did, as it was published while they ran.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadEvents {
    /// The thread.
    pub thread_id: String,
    /// Only what was kept after this place: `last` of an answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<u64>,
    /// A name for the moment of the answer: an event of this name comes between what the answer has and what it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mark: Option<String>,
}

/// Answer of `thread.events`: the newest events of the thread's runs, the oldest of them first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ThreadEvents {
    /// The events.
    pub events: Vec<super::AppEvent>,
    /// Older ones were left out.
    pub left_out: bool,
    /// The place of the last.
    pub last: u64,
}

/// A request that names a checkpoint of a thread; without one, the newest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRef {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint; absent means live: the newest, with the finished tasks of an open step applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
}

/// `thread.checkpoints`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListCheckpoints {
    /// The thread.
    pub thread_id: String,
    /// Only those created before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// Largest number of entries, at most 5,000; 0 means 500.
    #[serde(default)]
    pub limit: u32,
}

/// A checkpoint without its values.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointView {
    /// Id.
    pub id: String,
    /// The one it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// When.
    pub at: String,
    /// input, loop, update or fork.
    pub source: String,
    /// Super-step.
    pub step: i32,
    /// Nodes that run next.
    pub next: Vec<String>,
    /// State keys and channels that the step changed.
    pub updated: Vec<String>,
    /// Unanswered questions of its tasks.
    pub questions: u32,
    /// Failed tasks.
    pub failed: u32,
    /// What a person called it, to find it again; pruning leaves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bookmark: Option<String>,
    /// The note of the bookmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bookmark_note: Option<String>,
    /// Node the edit was made as, for `update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub as_node: Option<String>,
    /// The run that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub run: Option<String>,
    /// The what-if grid whose branch it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub what_if: Option<super::WhatIfBranch>,
    /// What the person is called who gave the input, edited or forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
}

/// Answer of `thread.checkpoints`: newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct CheckpointList {
    /// The page.
    pub checkpoints: Vec<CheckpointView>,
    /// More before the last one?
    pub more: bool,
    /// Runs of the thread that ended at a question or a breakpoint.
    #[serde(default)]
    pub runs: Vec<RunView>,
}

/// Difference of a key from the parent checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// As before.
    Same,
    /// New.
    Added,
    /// Another value.
    Changed,
    /// Items were added at the end.
    Appended,
    /// Gone.
    Removed,
    /// In another place of its list.
    Moved,
}

/// A value, whole when small, otherwise summarised.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ValueView {
    /// null, boolean, integer, number, string, array, object.
    pub kind: String,
    /// Bytes of JSON.
    pub bytes: u32,
    /// Items, keys or characters.
    pub length: u32,
    /// The value, when it is at most 4 KiB of JSON (or is the answer to `thread.value`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub value: Option<Json>,
    /// The beginning, as text, when the value is not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub head: Option<String>,
}

/// One key of the state at a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Name.
    pub key: String,
    /// Declared type.
    pub declared: String,
    /// Reducer or channel.
    pub reducer: String,
    /// Value; absent when the key has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub value: Option<ValueView>,
    /// Against the parent checkpoint.
    pub change: ChangeKind,
    /// The parent's value, when it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub previous: Option<ValueView>,
    /// Nodes that wrote it in the step that made this checkpoint.
    pub writers: Vec<String>,
}

/// Status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// Not begun.
    Waiting,
    /// Working.
    Running,
    /// Finished.
    Done,
    /// Failed.
    Failed,
    /// Waits for an answer.
    Asking,
}

/// A question of a task.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct InterruptView {
    /// Id, to answer it by.
    pub id: String,
    /// What is asked.
    #[ts(type = "any")]
    pub value: Json,
}

/// An attempt at a task that failed and was not its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// 1 for the first.
    pub attempt: u32,
    /// Why it failed.
    pub error: String,
    /// The wait before the next attempt; absent when it was the last one and the node's fallback took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub wait_millis: Option<u32>,
}

/// Failure of a task, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FailureView {
    /// Class of the error, e.g. `NodeTimeoutError`.
    pub class: String,
    /// The HTTP status, when a server's answer is the failure and its run noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<u16>,
    /// Whether another attempt may succeed: it is not of the errors that last until their cause is removed.
    pub retryable: bool,
}

/// A task of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Id.
    pub id: String,
    /// Node.
    pub node: String,
    /// How it stands (or ended).
    pub status: TaskStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
    /// The same as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub failure: Option<FailureView>,
    /// Its questions.
    pub interrupts: Vec<InterruptView>,
    /// What it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub result: Option<ValueView>,
    /// Nodes that its writes lead to.
    pub targets: Vec<String>,
    /// The wires that it followed, when it is done; those to the end too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<TakenWay>>", optional)]
    pub ways: Vec<TakenWay>,
    /// Milliseconds, when this process saw it run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub millis: Option<u32>,
    /// Attempts that failed before it ended, when this process saw them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<AttemptView>>", optional)]
    pub attempts: Vec<AttemptView>,
    /// Why it was not tried again although its node is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub not_retried: Option<String>,
    /// Of a node that runs another graph: the namespace of that graph's checkpoints, for `thread.within`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub within: Option<String>,
    /// What it read and decided; absent where its run did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub record: Option<super::TaskRecordView>,
    /// The packet that it was sent instead of the state, whole when it is very small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub packet: Option<ValueView>,
}

/// `thread.within`: what a graph did that a task runs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadWithin {
    /// The thread.
    pub thread_id: String,
    /// The namespace, as a task names it.
    pub ns: String,
    /// Only steps older than this checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// The most steps; 0 means 50.
    #[serde(default)]
    pub limit: u32,
}

/// `thread.inside`: the graph that a node of a thread's graph runs, as the thread ran it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadThreadInside {
    /// The thread.
    pub thread_id: String,
    /// The open document, for a thread that is of the graph as it is now.
    pub graph_id: String,
    /// The namespace, as the task of the node names it.
    pub ns: String,
}

/// Answer of `thread.within`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WithinView {
    /// Its steps, newest first.
    pub steps: Vec<WithinStep>,
    /// There are older ones.
    pub more: bool,
}

/// A checkpoint of a nested graph.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct WithinStep {
    /// The checkpoint.
    pub checkpoint: CheckpointView,
    /// The checkpoint of the outermost graph whose step ran this; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub root: Option<String>,
    /// What ran from there, or will.
    pub tasks: Vec<TaskView>,
    /// The state as the step began, by key.
    pub state: BTreeMap<String, ValueView>,
}

/// Number of times that a node ran on the way to a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NodeCount {
    /// Node.
    pub node: String,
    /// Finished tasks.
    pub runs: u32,
    /// The last of them failed, and the thread went on along the node's error way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub rerouted: bool,
}

/// A wire that a task followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TakenWay {
    /// To.
    pub to: String,
    /// The wire, as interfaces name it: `EDGE`, or `EDGE|PART` where an edge is drawn as several. Absent where it is not
    /// known which of several it was, or where no wire leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub way: Option<String>,
    /// How often: several packets may be sent along one wire.
    pub times: u32,
}

/// An edge that was taken on the way to a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct EdgeCount {
    /// From.
    pub from: String,
    /// To.
    pub to: String,
    /// The wire, as in [`TakenWay`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub way: Option<String>,
    /// How often.
    pub times: u32,
}

/// Answer of `thread.snapshot`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint; absent when the thread has none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint: Option<CheckpointView>,
    /// Is it the newest of the thread?
    pub is_head: bool,
    /// State, in declaration order.
    pub keys: Vec<KeyView>,
    /// Nodes that run next.
    pub next: Vec<String>,
    /// Tasks of the checkpoint.
    pub tasks: Vec<TaskView>,
    /// Tasks of the parent checkpoint: the ones that led here.
    pub previous_tasks: Vec<TaskView>,
    /// Nodes that ran on the way here.
    pub visits: Vec<NodeCount>,
    /// Edges taken on the way here.
    pub taken: Vec<EdgeCount>,
    /// The way here is longer than what was counted: only its last super-steps were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub counted: Option<u32>,
}

/// `thread.value`: a part of a value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadValue {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint; absent means live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// JSON Pointer from the state's root, e.g. `/messages/3/content`.
    pub pointer: String,
    /// For lists and text: the number of items or characters to skip.
    #[serde(default)]
    pub offset: u32,
    /// For lists and text: the most of them; 0 means all.
    #[serde(default)]
    pub limit: u32,
}

/// `thread.keyHistory`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadKeyHistory {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that the history leads to; absent means the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// The state key.
    pub key: String,
    /// Only writes of checkpoints before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// Most writes; 0 means 100.
    #[serde(default)]
    pub limit: u32,
    /// An expression over `value`: the oldest write after which it was true is answered too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub first_where: Option<String>,
}

/// A step that wrote a key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyWrite {
    /// The checkpoint after it.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// When.
    pub at: String,
    /// input, loop, update or fork.
    pub source: String,
    /// Nodes that wrote it; of an edit, the node it was made as.
    pub writers: Vec<String>,
    /// What the write did.
    pub change: ChangeKind,
    /// Value before; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<ValueView>,
    /// Value after; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<ValueView>,
}

/// Answer of `thread.keyHistory`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct KeyHistory {
    /// Writes on the way to the checkpoint, the newest first.
    pub writes: Vec<KeyWrite>,
    /// Are there older ones?
    pub more: bool,
    /// Number of all writes.
    pub total: u32,
    /// The oldest write after which the condition was true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub first: Option<KeyWrite>,
}

/// `thread.compare`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Compare {
    /// One checkpoint.
    pub left: CheckpointRef,
    /// The other; may be of another thread of the same graph.
    pub right: CheckpointRef,
}

/// One difference.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// JSON Pointer on the right; on the left when the value is gone.
    pub pointer: String,
    /// JSON Pointer on the left, when the value stood elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left_pointer: Option<String>,
    /// What changed from left to right.
    pub change: ChangeKind,
    /// On the left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left: Option<ValueView>,
    /// On the right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub right: Option<ValueView>,
}

/// A step on the way to a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathStep {
    /// The checkpoint that it led to.
    pub id: String,
    /// Super-step.
    pub step: i32,
    /// input, loop, update or fork.
    pub source: String,
    /// Nodes that ran; of an edit, the node it was made as.
    pub nodes: Vec<NodeCount>,
}

/// Steps that follow each other on both ways, or where the ways differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PathStretch {
    /// Did the same nodes run on both sides? The two lists are then of the same length.
    pub same: bool,
    /// Steps on the left.
    pub left: Vec<PathStep>,
    /// Steps on the right.
    pub right: Vec<PathStep>,
}

/// The ways to two checkpoints beside each other, the oldest step first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PathComparison {
    /// From where they parted, or from where both threads began.
    pub stretches: Vec<PathStretch>,
    /// Nodes that ran on the left only.
    pub only_left: Vec<String>,
    /// Nodes that ran on the right only.
    pub only_right: Vec<String>,
    /// True when older steps were left out.
    pub cut: bool,
}

/// Answer of `thread.compare`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Left checkpoint.
    pub left: CheckpointView,
    /// Right checkpoint.
    pub right: CheckpointView,
    /// The newest checkpoint that both continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub common_ancestor: Option<String>,
    /// The steps that led to both, since they parted.
    pub paths: PathComparison,
    /// Differences in the state, as deep as they go.
    pub differences: Vec<Difference>,
    /// Keys that are equal.
    pub equal_keys: Vec<String>,
    /// True when differences were left out because there are too many.
    pub truncated: bool,
}

/// `thread.update`: edit the state as if a node had returned `values`; makes a new checkpoint, and a fork when the
/// addressed one is not the newest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UpdateState {
    /// The thread; it is created when it does not exist and `graph_id` is given.
    pub thread_id: String,
    /// The checkpoint to continue; absent means the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// Open document, for a thread whose graph is being edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// The update; reducers apply unless the key is in `overwrite`.
    #[ts(type = "any")]
    pub values: Json,
    /// Keys whose value replaces what is there instead of going through the reducer.
    #[serde(default)]
    pub overwrite: Vec<String>,
    /// The node; absent means the one that ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub as_node: Option<String>,
    /// In place of values: the tasks after the checkpoint count as having run and written nothing, and the edges of their
    /// nodes are followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub skip_step: bool,
    /// Only say what would run next; store nothing.
    #[serde(default)]
    pub preview: bool,
    /// Take the thread over from another program that runs it; its run ends there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub take_over: bool,
}

/// Answer of `thread.update`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Updated {
    /// The new checkpoint; absent for a preview.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// Nodes that would run next.
    pub next: Vec<String>,
    /// The node it was made as.
    pub as_node: String,
}
