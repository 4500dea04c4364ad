//! Finding and replacing texts in the graph files of a project.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{PatchOp, Problem};

/// Text or pattern to search for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextQuery {
    /// The text, or the pattern of a regular expression.
    pub text: String,
    /// Is it a regular expression (of Rust's `regex`)?
    #[serde(default)]
    pub regex: bool,
    /// Only where no letter or digit stands right before and after.
    #[serde(default)]
    pub whole_word: bool,
    /// Tell capitals from small letters.
    #[serde(default)]
    pub match_case: bool,
}

/// `project.find`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindText {
    /// The open graph; its folder, with the folders in it, is the project.
    pub graph_id: String,
    /// What is looked for.
    pub query: TextQuery,
    /// In every graph of the folder; otherwise in this graph.
    #[serde(default)]
    pub everywhere: bool,
    /// What would be put in the place of each match. A regular expression's groups are `$1` or `${name}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub replacement: Option<String>,
    /// Name of this work, for its progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// One match, with the line around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextMatch {
    /// The record.
    pub record: String,
    /// Kind of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<String>,
    /// Is the node disabled?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub disabled: bool,
    /// JSON Pointer of the text in the record; absent for the record's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pointer: Option<String>,
    /// A name that others refer to: it is renamed, not replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub named: bool,
    /// Which match of this text, from 0.
    pub index: u32,
    /// Line of the text, from 1.
    pub line: u32,
    /// What stands before it in its line, cut.
    pub before: String,
    /// The match, cut.
    pub text: String,
    /// What stands behind it in its line, cut.
    pub after: String,
    /// What would stand there instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub replaced: Option<String>,
}

/// A graph with matches.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// Where it is; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Its path within the project.
    pub place: String,
    /// The open document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Name of the graph.
    pub name: String,
    /// What was searched; a replacement says it again.
    pub version: String,
    /// Its matches, in the order of the file.
    pub matches: Vec<TextMatch>,
}

/// A file that could not be searched or changed, and why.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SkippedFile {
    /// Where it is.
    pub path: String,
    /// Why.
    pub problem: Problem,
}

/// Answer of `project.find`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextFound {
    /// Graphs with matches: the open one, then by path.
    pub files: Vec<FoundFile>,
    /// Graphs that were searched.
    pub searched: u32,
    /// Graph files that could not be searched.
    pub skipped: Vec<SkippedFile>,
    /// There are more matches, or more files, than a search takes.
    pub cut: bool,
    /// It was cancelled.
    pub cancelled: bool,
}

/// Identification of one match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct MatchPlace {
    /// The record.
    pub record: String,
    /// JSON Pointer of the text in the record.
    pub pointer: String,
    /// Which match of this text.
    pub index: u32,
}

/// A graph to replace in.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceIn {
    /// The open document, of one that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// The file, of one that is not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// What was searched. A graph that has changed since is left as it is.
    pub version: String,
    /// The matches that are replaced; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub only: Option<Vec<MatchPlace>>,
}

/// `project.replace`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReplaceText {
    /// What is looked for.
    pub query: TextQuery,
    /// What is put in its place.
    pub replacement: String,
    /// Where.
    pub files: Vec<ReplaceIn>,
    /// Name of this work, for its progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// Changes that were made to a graph, or are to be made.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReplacedFile {
    /// The file; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// The open document: the window applies `ops` to it, as one step that undo takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Name of the graph.
    pub name: String,
    /// Matches that were replaced.
    pub matches: u32,
    /// The patch of an open document. Files that are not open are written already.
    pub ops: Vec<PatchOp>,
    /// The revision that the patch is for.
    pub rev: u32,
}

/// Answer of `project.replace`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextReplaced {
    /// Graphs that change.
    pub files: Vec<ReplacedFile>,
    /// Graphs that were left as they are, and why.
    pub skipped: Vec<SkippedFile>,
    /// It was cancelled; what is listed is done.
    pub cancelled: bool,
}
