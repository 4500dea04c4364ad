//! Versions of graphs: those that runs keep with their threads, saved and automatic copies, and what a changed graph means
//! for a thread that goes on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Record;

/// A version of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GraphVersionView {
    /// Id for `graph.version` and `graph.restore`.
    pub id: String,
    /// The name that somebody gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
    /// When it was saved or first ran: ISO-8601, UTC.
    pub at: String,
    /// Number of nodes.
    pub nodes: u32,
    /// Number of edges.
    pub edges: u32,
    /// Identifies what the document says, whatever its layout is; absent for copies of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hash: Option<String>,
    /// Threads whose newest run ran it.
    pub threads: u32,
    /// The one of them that changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub thread_id: Option<String>,
    /// Is it a saved or automatic copy?
    pub saved: bool,
    /// It is no graph: its text can be looked at and given back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub is_text: bool,
}

/// Answer of `graph.versions`: newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GraphVersions {
    /// Newest first.
    pub versions: Vec<GraphVersionView>,
    /// Identifies what the document says now.
    pub current: String,
    /// Why those that runs kept are not among them, when the database cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unread: Option<String>,
}

/// `graph.version`: a version to look at, which is not opened by it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadVersion {
    /// The open document.
    pub graph_id: String,
    /// Which version.
    pub id: String,
}

/// Answer of `graph.version`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct VersionContent {
    /// Every record, in file order.
    pub records: Vec<Record>,
    /// Of a version that is no graph: its text. It has no records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    /// Other files that it consists of, with how they differ now.
    pub files: Vec<VersionFile>,
    /// Python packages whose version differs now.
    pub packages: Vec<PackageChange>,
    /// Secrets were taken out of it: it is to be read, and cannot run.
    pub redacted: bool,
}

/// A file of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct VersionFile {
    /// Path from the project's folder.
    pub path: String,
    /// How it is now.
    pub now: FileNow,
}

/// A file now, beside what a version kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum FileNow {
    /// It is the same.
    Same,
    /// It has another text.
    Changed,
    /// It is gone, or the graph uses it no more.
    Gone,
    /// The graph uses it since.
    Added,
}

/// A Python package whose version differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct PackageChange {
    /// Its name.
    pub name: String,
    /// Version then; absent when it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// Version now; absent when it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<String>,
}

/// `graph.nameVersion`: gives a version a name and a note, or takes both away. A version with a name is kept.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NameVersion {
    /// The open document.
    pub graph_id: String,
    /// Which version; absent: the document as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
    /// The name; absent takes it away, with the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    /// The note, of several lines as needed; absent keeps the one it has, an empty one removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
}

/// `graph.restore`: the document becomes what the version holds; a new revision, so nothing is lost.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RestoreGraph {
    /// The open document.
    pub graph_id: String,
    /// Which version.
    pub version: String,
}

/// `thread.graph`: the version of its graph that a thread ran on, beside the graph as it is now.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadThreadGraph {
    /// The thread.
    pub thread_id: String,
    /// The checkpoint that is looked at. Absent: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checkpoint_id: Option<String>,
    /// An open document. Absent: the thread's graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
}

/// Answer of `thread.graph`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ThreadGraph {
    /// The version that the checkpoint's run ran, for `graph.version`. Absent: not recorded, as in threads of older releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// When it first ran in this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<String>,
    /// Is the graph now another one, apart from its layout?
    pub moved: bool,
    /// What becomes of the thread when it goes on with the graph as it is now.
    pub report: GoOnReport,
}

/// Consequences for a thread that continues with a graph that has changed since the thread ran. An empty report means
/// that the change does not matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct GoOnReport {
    /// Next tasks whose node is gone or of another kind.
    pub tasks: Vec<TaskChange>,
    /// Keys with a value that are gone, or have another type or reducer.
    pub keys: Vec<KeyChange>,
    /// Nodes whose questions may be others, or in another order, than those that were asked and answered.
    pub questions: Vec<QuestionChange>,
    /// Programs that changed. The file as it is now runs, whichever version of the graph goes on.
    pub programs: Vec<String>,
}

/// A next task whose node is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TaskChange {
    /// Its node.
    pub node: String,
    /// Nodes around it, the outermost first, when it is in a nested graph.
    pub path: Vec<String>,
    /// How the node differs.
    pub change: NodeChange,
    /// Nodes that may have taken its place, the likeliest first.
    pub candidates: Vec<String>,
}

/// Change to the node of a next task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum NodeChange {
    /// There is none of that name: the task is lost.
    Gone,
    /// It is of another kind.
    Kind,
    /// The graph that it runs is another one: what goes on inside is lost.
    Graph,
}

/// A state key that is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct KeyChange {
    /// The key.
    pub key: String,
    /// What about it differs.
    pub change: KeyChangeKind,
    /// What it was.
    pub before: String,
    /// What it is; empty when it is gone.
    pub after: String,
}

/// Kind of change to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KeyChangeKind {
    /// It is gone: its value is seen no more.
    Gone,
    /// Its type: the value may not fit.
    Type,
    /// How updates are joined with it.
    Reducer,
}

/// A node that asks, and was changed since it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct QuestionChange {
    /// The node.
    pub node: String,
    /// Questions of the task that were answered already: their answers are given to it again in this order.
    pub answered: u32,
}

/// Choice of the graph version with which a thread continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum GoOnWith {
    /// The one that it ran on.
    Recorded,
    /// The graph as it is now.
    Current,
}

/// Next tasks whose node was renamed: its old name, and the name of the node that runs in its place.
pub type Renamed = BTreeMap<String, String>;

impl GoOnReport {
    /// Returns whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.keys.is_empty() && self.questions.is_empty()
    }

    /// Returns the next tasks that would be lost when these nodes run in place of others.
    pub fn lost<'a>(&'a self, renamed: &'a Renamed) -> impl Iterator<Item = &'a TaskChange> {
        let lost = self.tasks.iter().filter(|task| task.change != NodeChange::Kind);
        lost.filter(|task| !(task.path.is_empty() && renamed.contains_key(&task.node)))
    }
}
