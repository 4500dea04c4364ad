//! What git knows of a graph's file, with its history, and the two sides of a file with conflict marks.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Problem, Record};

/// State of a graph's file in the repository around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum GitState {
    /// There is no repository, no file, or no git on this computer.
    None,
    /// The last commit has no such file.
    New,
    /// The last commit has it.
    Tracked,
    /// It cannot be compared; `problem` says why.
    Refused,
}

/// Answer of `graph.git`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GitView {
    /// How the file stands to the repository.
    pub state: GitState,
    /// The branch; absent when none is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<String>,
    /// The last commit, as 40 or 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// The graph as it is in the last commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub records: Option<Vec<Record>>,
    /// Why it cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<Problem>,
}

/// `graph.history`: commits that changed the graph's file, newest first, a page at once.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadHistory {
    /// The open document.
    pub graph_id: String,
    /// Commits that were answered already.
    #[serde(default)]
    pub offset: u32,
}

/// Answer of `graph.history`; empty when the file is in no repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct GraphHistory {
    /// Newest first.
    pub commits: Vec<CommitView>,
    /// There are older ones.
    pub more: bool,
}

/// A commit that changed the graph's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct CommitView {
    /// Id of the version for `graph.version` and `graph.restore`.
    pub id: String,
    /// The commit, as 40 or 64 hexadecimal digits.
    pub commit: String,
    /// First line of its message, cut when it is long.
    pub subject: String,
    /// Name of its author.
    pub author: String,
    /// When it was made: ISO-8601, UTC.
    pub at: String,
    /// Path of the file in it, from the top of the repository.
    pub path: String,
}

/// One side of a conflict.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConflictSide {
    /// What git wrote beside the mark: a branch or a commit.
    pub name: String,
    /// The whole graph of this side.
    pub records: Vec<Record>,
}

/// Answer of `graph.conflict`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ConflictView {
    /// Above the middle mark: the branch that is checked out.
    pub ours: ConflictSide,
    /// Below it: what is merged.
    pub theirs: ConflictSide,
    /// The graph before both, when the marks hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base: Option<Vec<Record>>,
}
