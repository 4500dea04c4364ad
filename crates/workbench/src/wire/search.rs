//! The query desk: moments of all threads by words and conditions, and values of an expression at every visit of a node.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Evaluated, RunStatus};

/// `moments.find`: every condition that is given must hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct FindMoments {
    /// Words that a step wrote, or that are in the title: each is the beginning of a word, `"…"` a phrase.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub words: Option<String>,
    /// An expression over `state`, `task` and `run`: the first step after which it is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub first_where: Option<String>,
    /// An expression that is true of the newest checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at_end: Option<String>,
    /// Nodes that ran on one branch, each in a later step than the one before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub passed: Vec<String>,
    /// Status of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<RunStatus>,
    /// Only moments from then on: ISO-8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// Only moments before then: ISO-8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub until: Option<String>,
    /// Only moments that this version of a graph made: its id, or the beginning of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_version: Option<String>,
    /// Only threads whose runs have cost this much, in one currency, as far as their traces are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost_from: Option<f64>,
    /// Only threads of this open document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Only threads of the graph at this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// Expressions whose values are given with each moment.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub columns: Vec<String>,
    /// Where to go on: `next` of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Moments of an answer, from which on no further thread is looked at; 0 means 100.
    pub limit: u32,
}

/// Answer of `moments.find`: what was found in some of the threads, the newest first. It comes after a fraction of a second
/// at most, and the rest is asked for with `next`; who does not ask has stopped the search.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MomentsFound {
    /// The moments.
    pub moments: Vec<MomentFound>,
    /// How far the search is.
    pub progress: SearchProgress,
}

/// State of the word index: how far it is behind the threads. A search reads the threads that the index does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct IndexState {
    /// When it was compared with the threads last: ISO-8601, UTC.
    pub until: String,
    /// Threads that it does not know as they are now.
    pub behind: u64,
}

/// Progress of a search over all threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchProgress {
    /// Threads that were read for this answer; an index leaves out those that do not have the words.
    pub searched: u64,
    /// Threads in all; only in the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub total: Option<u64>,
    /// The index that the search uses; only in the first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub index: Option<IndexState>,
    /// Where to go on; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next: Option<String>,
    /// Steps at which an expression could not be evaluated: they count as steps at which it does not hold.
    pub unknown: u64,
    /// Why, at the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

/// Reason why a moment is in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum MomentReason {
    /// The words are in the title of the thread.
    Title,
    /// The step wrote the words.
    State,
    /// A task that began here failed with the words.
    Error,
    /// A task that began here asked the words.
    Question,
    /// The first step after which the expression is true.
    Condition,
    /// The step in which the last of the nodes ran.
    Passed,
    /// The newest checkpoint of a thread that fits.
    Thread,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    /// The text.
    pub text: String,
    /// One of the words that were looked for.
    pub hit: bool,
}

/// A moment that was found.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MomentFound {
    /// Thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// Name of its graph.
    pub graph_name: String,
    /// File of its graph; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// Status of the thread.
    pub status: RunStatus,
    /// Checkpoint.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// When the checkpoint was made: ISO-8601, UTC.
    pub at: String,
    /// Why it is here.
    pub reason: MomentReason,
    /// The nodes that ran in its step.
    pub nodes: Vec<String>,
    /// JSON Pointer of the text with the words, in the state of the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pointer: Option<String>,
    /// What stands around the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<SnippetPart>>", optional)]
    pub snippet: Vec<SnippetPart>,
    /// Values of the columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<Evaluated>>", optional)]
    pub columns: Vec<Evaluated>,
    /// Further moments of this thread that are not listed.
    pub more: u32,
}

/// `node.probe`
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ProbeNode {
    /// The node, or the node that an edge comes from.
    pub node: String,
    /// Of an edge: the node that it leads to, or `__end__`. Only steps in which it was taken count then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub to: Option<String>,
    /// An expression over `state` after the step, `before` it, `writes` of the node, `task` and `run`.
    pub expression: String,
    /// Only threads of this open document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Only threads of the graph at this path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_path: Option<String>,
    /// Only visits from then on: ISO-8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// Where to go on: `next` of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Visits of an answer, from which on no further thread is looked at; 0 means 100.
    pub limit: u32,
}

/// Answer of `node.probe`: the visits in some of the threads, the newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeProbed {
    /// The visits.
    pub visits: Vec<NodeVisit>,
    /// How far the search is.
    pub progress: SearchProgress,
}

/// A step in which a node ran to its end.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeVisit {
    /// Thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// The checkpoint that the step led to.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// When the checkpoint was made: ISO-8601, UTC.
    pub at: String,
    /// Tasks of the node in that step.
    pub tasks: u32,
    /// What the expression gives.
    pub result: Evaluated,
}

/// `invariants.check`: where an invariant of a graph was broken, in all its threads.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckInvariants {
    /// The open document that has them.
    pub graph_id: String,
    /// Only this one, by its id (`node:pay#1`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub only: Option<String>,
    /// Only moments from then on: ISO-8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// Where to go on: `next` of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Threads of an answer; 0 means 100.
    pub limit: u32,
}

/// Answer of `invariants.check`: moments in some of the threads, the newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvariantsChecked {
    /// Threads of the graph that were read for this answer.
    pub threads: u64,
    /// The moments.
    pub moments: Vec<BrokenMoment>,
    /// How far the search is.
    pub progress: SearchProgress,
}

/// A moment at which an invariant is broken. One of the graph as a whole is listed where it became broken.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BrokenMoment {
    /// Thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// Status of the thread.
    pub status: RunStatus,
    /// Checkpoint.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// When the checkpoint was made: ISO-8601, UTC.
    pub at: String,
    /// The nodes that ran in its step.
    pub nodes: Vec<String>,
    /// The invariant, such as `doc#1` or `node:pay#2`.
    pub invariant: String,
    /// Its message, or its expression.
    pub says: String,
    /// Checkpoints for which it stayed broken, with this one.
    pub checkpoints: u32,
}

/// `invariants.at`: how the invariants of a graph stand at a moment of one of its threads.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadInvariants {
    /// The open document that has them.
    pub graph_id: String,
    /// Thread.
    pub thread_id: String,
    /// Checkpoint; the newest without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
}

/// Answer of `invariants.at`, in the order of the document.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvariantsAt {
    /// One for each invariant.
    pub invariants: Vec<InvariantAt>,
}

/// An invariant at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InvariantAt {
    /// The invariant, such as `doc#1` or `node:pay#2`.
    pub id: String,
    /// How it stands.
    pub state: InvariantState,
    /// Why it could not be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
}

/// State of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum InvariantState {
    /// It holds.
    Holds,
    /// It is broken.
    Broken,
    /// The step did not come to its node, edge or state key.
    Elsewhere,
    /// It cannot be checked.
    Unknown,
}

/// `watch.history`: an expression at each step of the branch that leads to a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadWatch {
    /// Thread.
    pub thread_id: String,
    /// The expression, over `state`, `task` and `run`.
    pub expression: String,
    /// A checkpoint of the branch; without, that of the newest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
}

/// Answer of `watch.history`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WatchHistory {
    /// Where the value became another, the oldest first; the first step of all is one of them.
    pub changes: Vec<WatchChange>,
    /// Steps that were looked at, up to the newest of the branch.
    pub steps: u32,
    /// There are older steps that were not.
    pub more: bool,
}

/// A step at which the value of an expression became another.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WatchChange {
    /// The checkpoint that the step led to.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// Its place among the steps that were looked at.
    pub place: u32,
    /// The value.
    pub result: Evaluated,
}

/// `edge.reconsider`: what a conditional edge would have decided with another expression, at each of its stored decisions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct ReconsiderEdge {
    /// The open document that has the edge.
    pub graph_id: String,
    /// The edge.
    pub edge: String,
    /// The expression in place of its own.
    pub expression: String,
    /// Only decisions from then on: ISO-8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub since: Option<String>,
    /// Where to go on: `next` of the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
    /// Threads of an answer; 0 means 100.
    pub limit: u32,
}

/// Answer of `edge.reconsider`: the decisions in some of the threads, the newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EdgeReconsidered {
    /// Threads of the graph that were read for this answer.
    pub threads: u64,
    /// Decisions that were evaluated; those that could not be are `unknown` in the progress.
    pub decisions: u64,
    /// Steps in which the edge's node ran, and what it decided was not recorded.
    pub not_recorded: u64,
    /// The decisions that would change.
    pub changed: Vec<ChangedDecision>,
    /// How far the search is.
    pub progress: SearchProgress,
}

/// A decision that another expression would have made in another way.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedDecision {
    /// Thread.
    pub thread_id: String,
    /// Its title.
    pub title: String,
    /// Status of the thread.
    pub status: RunStatus,
    /// The checkpoint that the step led to; the one it began from, when it has not ended.
    pub checkpoint_id: String,
    /// Super-step.
    pub step: i32,
    /// When the checkpoint was made: ISO-8601, UTC.
    pub at: String,
    /// Where the edge led.
    pub was: Led,
    /// Where it would lead.
    pub now: Led,
    /// What the other expression gives.
    pub result: Evaluated,
}

/// Result of an edge: where it led.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Led {
    /// The nodes; empty when it was not taken, or led to the end.
    pub to: Vec<String>,
    /// Packets that it sent.
    pub packets: u32,
}
