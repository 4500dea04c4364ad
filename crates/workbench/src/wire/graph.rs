//! Open documents: records, patches, diagnostics, files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Json, ProblemTexts};

/// One record of an open document. Ids: `doc`, `key:NAME`, `node:NAME`, `edge:ID`, `layout:NODE`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Record {
    /// Record id.
    pub id: String,
    /// Its content, as in the file.
    #[ts(type = "any")]
    pub value: Json,
}

/// One step of a patch: the record `id` goes from `from` to `to`; null means absent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PatchOp {
    /// Record id.
    pub id: String,
    /// What it was. The patch is refused when it is something else.
    #[ts(type = "any")]
    pub from: Json,
    /// What it becomes.
    #[ts(type = "any")]
    pub to: Json,
    /// Place among the records of its section where it is inserted, or from which it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<u32>,
}

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The graph cannot run.
    Error,
    /// It runs, probably not as meant.
    Warning,
}

/// A problem of a document, with its place and remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Diagnostic {
    /// Stable code in kebab-case.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// The record it belongs to.
    pub record: String,
    /// JSON Pointer inside the record, e.g. `/config/prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub pointer: Option<String>,
    /// Both texts as they were made, for other languages; absent when they stand for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub texts: Option<Box<ProblemTexts>>,
}

/// Node → names of those that it may go to without an edge (`__end__` is one; others may be of no node): what its
/// settings name, and what the return annotation of its Python function does. Nodes that name none are left out.
pub type DynamicTargets = BTreeMap<String, Vec<String>>;

/// An open document.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GraphView {
    /// Id of this open document for the life of the process.
    pub graph_id: String,
    /// Its name.
    pub name: String,
    /// Where it is saved; absent for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Every record, in file order.
    pub records: Vec<Record>,
    /// Counts accepted patches.
    pub rev: u32,
    /// The revision that is in the file.
    pub saved_rev: u32,
    /// Problems.
    pub diagnostics: Vec<Diagnostic>,
    /// By node, where it may go without an edge: what its settings name, and its Python function's return annotation.
    pub leads: DynamicTargets,
    /// Set when unsaved changes of an earlier session were brought back: when they were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub recovered_at: Option<String>,
    /// A ready-made input, from the document's `examples`, for the run form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub sample_input: Option<Json>,
    /// The README beside the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub readme: Option<String>,
    /// Of a file that is no graph: its text, which is all that can be edited. Such a document has no records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    /// Of a graph that was drawn from threads of another program: what it was drawn from. It is only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seen: Option<SeenView>,
}

/// Reason why encrypted values of another program's threads are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SealedValues {
    /// There is no key.
    NoKey,
    /// The key is not that of the values.
    WrongKey,
    /// The key has a number of bytes that no key has.
    KeyLength,
}

impl From<superstep::checkpoint::Sealed> for SealedValues {
    fn from(sealed: superstep::checkpoint::Sealed) -> Self {
        use superstep::checkpoint::Sealed;
        match sealed {
            Sealed::NoKey => Self::NoKey,
            Sealed::WrongKey => Self::WrongKey,
            Sealed::KeyLength(_) => Self::KeyLength,
        }
    }
}

/// The threads that graphs were drawn from, the newest of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SeenView {
    /// The address of the database, without a password.
    pub database: String,
    /// Threads that were looked at.
    pub looked: u32,
    /// Threads that there are; those that were looked at while all are still looked through for the newest.
    pub threads: u32,
    /// All threads are still looked through: those that were looked at are the first in the order of ids.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub sorting: bool,
    /// Why encrypted values are not shown; absent where the key opens them, and where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sealed: Option<SealedValues>,
    /// Every graph that was seen.
    pub graphs: Vec<SeenGraphView>,
    /// The program that makes the threads, when it is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub attached: Option<AttachedView>,
}

/// A LangGraph program that is attached, by itself or by its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AttachedView {
    /// File and graph, or the address of a server with an assistant, for `graph.open`, which attaches it again.
    pub named: String,
    /// A server runs it.
    pub server: bool,
    /// Path of its interpreter, or the address of its server.
    pub interpreter: String,
    /// Release of Python; empty where a server runs it.
    pub python: String,
    /// Release of LangGraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub langgraph: Option<String>,
    /// A file of it is another one than the one that was imported, or its process has ended.
    pub changed: bool,
    /// Parts of the drawing that this graph or this release does not say.
    pub lacking: Vec<String>,
}

/// A graph as threads of another program show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SeenGraphView {
    /// Its id, for `graph.get`.
    pub graph_id: String,
    /// The name that the program's server gave it, or else that of the database.
    pub name: String,
    /// Threads that it was drawn from.
    pub threads: u32,
    /// The graph of our own that it is shown on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub laid: Option<LaidOn>,
    /// It is that of the attached program: drawn as its builder has it, and run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub attached: bool,
}

/// `graph.seen`: opens the graphs of the database in use, as far as its threads show them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LookAtMore {
    /// The one to show; that of most threads where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub graph_id: Option<String>,
    /// Four times as many threads are looked at as before.
    #[serde(default)]
    pub more: bool,
}

/// A graph file of our own on which the threads of a graph that was seen are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaidOn {
    /// The file.
    pub path: String,
    /// Nodes of the threads that have a node there.
    pub found: u32,
    /// Nodes that were seen in the threads.
    pub nodes: u32,
    /// Why the file cannot be shown, if it cannot: then the graph is drawn as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}

/// `graph.lay`: shows the threads of a graph that was seen on a graph file of our own. Nodes of equal names are the same.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LayGraph {
    /// The graph that was seen.
    pub graph_id: String,
    /// The file; absent leads back to the graph as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Nodes of the file that stand for seen ones of other names, by the names in the threads; the file's node is named at
    /// most once. Absent leaves those that were chosen before for this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub names: Option<BTreeMap<String, String>>,
}

/// Answer of `graph.laid` and `graph.lay`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct LaidView {
    /// The file; absent while the graph is drawn as it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Nodes that were seen in the threads, in the order of their names.
    pub nodes: Vec<String>,
    /// Nodes of the file, in its order.
    pub own: Vec<String>,
    /// The file's node for each seen one that has one there.
    pub names: BTreeMap<String, String>,
}

/// `graph.writeText`: the text of a document that is no graph.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WriteText {
    /// Which document.
    pub graph_id: String,
    /// The revision that the text was made from.
    pub base_rev: u32,
    /// At most 64 MB.
    pub text: String,
}

/// `graph.new`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct NewGraph {
    /// Name of the draft.
    pub name: String,
    /// Begin with the graph that this node is inside, of a kind that draws one from its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub inside: Option<NodeRef>,
    /// Begin with the graph of this text, which is that of a graph file; its own name counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
}

/// A node of an open document.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeRef {
    /// The document.
    pub graph_id: String,
    /// The node.
    pub node: String,
}

/// `graph.arrange`: places for boxes in layers from left to right, for a graph that is too large for the interface.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ArrangeGraph {
    /// What is to be placed.
    pub boxes: Vec<ArrangeBox>,
    /// What joins them.
    pub links: Vec<ArrangeLink>,
    /// A name of the caller's, for progress and for `work.cancel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// A box on the canvas, with the room that its labels need.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ArrangeBox {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Where links come in, from its top.
    pub port: f64,
    /// It is the start.
    #[serde(default)]
    pub first: bool,
    /// It is the end.
    #[serde(default)]
    pub last: bool,
}

/// A link between two boxes, by their places in the list.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ArrangeLink {
    /// The box that it leaves.
    pub from: u32,
    /// The box that it reaches.
    pub to: u32,
    /// Where it leaves, from the top of its box.
    pub port: f64,
}

/// Answer of `graph.arrange`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Arranged {
    /// Left and upper side of every box, in the order of the request.
    pub positions: Vec<[f64; 2]>,
}

/// `graph.inside`: the graph that a node runs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadInside {
    /// The document around it.
    pub graph_id: String,
    /// The node that runs it; after nodes around that one, the outermost first.
    pub path: Vec<String>,
}

/// Answer of `graph.inside`: a graph to look at, which is not opened by it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct InsideView {
    /// Its name.
    pub name: String,
    /// Its file; absent when it is drawn from the node's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Every record, in file order.
    pub records: Vec<Record>,
}

/// `graph.open`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OpenGraph {
    /// A graph file, or a folder that holds `graph.json`.
    pub path: String,
    /// A name of the caller's, by which `work.cancel` stops a program that is imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub work: Option<String>,
}

/// `program.debug`: lets an editor attach to the code of the attached program, by debugpy.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProgramDebugger {
    /// Host.
    pub host: String,
    /// Port.
    pub port: u16,
    /// The entry of `configurations` in VS Code's `launch.json` that attaches there.
    pub launch: String,
}

/// `graph.openExample`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct OpenExample {
    /// Example id (its folder's name). It is copied into the user's graphs folder the first time.
    pub id: String,
}

/// A request that names an open document.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GraphRef {
    /// The open document.
    pub graph_id: String,
}

/// `graph.apply`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApplyPatch {
    /// The open document.
    pub graph_id: String,
    /// The revision that the patch was made against.
    pub base_rev: u32,
    /// The steps.
    pub ops: Vec<PatchOp>,
}

/// Answer of `graph.apply`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Applied {
    /// The new revision.
    pub rev: u32,
    /// All problems of the document now.
    pub diagnostics: Vec<Diagnostic>,
    /// By node, where it may go without an edge: what its settings name, and its Python function's return annotation.
    pub leads: DynamicTargets,
}

/// `graph.save`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveGraph {
    /// The open document.
    pub graph_id: String,
    /// Save as: the new place. Needed for a draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Write over another file that is in the way, or over changes made outside since it was opened.
    #[serde(default)]
    pub overwrite: bool,
    /// Write over changes made outside when they are these: `seen` of `graph.disk`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seen: Option<String>,
}

/// Answer of `graph.disk`: the graph as its file holds it now.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct DiskVersion {
    /// Name of what the file holds, for `graph.save`.
    pub seen: String,
    /// The graph in the file.
    pub records: Vec<Record>,
    /// The graph as it was read or written here last, when a copy of it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base: Option<Vec<Record>>,
}

/// Answer of `graph.save`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// Where it is now.
    pub path: String,
    /// The revision in the file.
    pub saved_rev: u32,
}

/// `graph.close`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CloseGraph {
    /// The open document.
    pub graph_id: String,
    /// Forget unsaved changes; otherwise they are kept for the next opening.
    #[serde(default)]
    pub discard: bool,
}

/// Answer of `graph.export`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Exported {
    /// The graph file's text.
    pub json: String,
    /// A Mermaid drawing.
    pub mermaid: String,
}

/// `picture.save`: a drawing of a graph as a file, for hosts whose windows cannot write files.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SavePicture {
    /// The file, which ends in `.svg` or `.png`; it is replaced when it is there.
    pub path: String,
    /// Its content as base64.
    pub content: String,
}

/// Answer of `picture.save`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct PictureSaved {
    /// The file.
    pub path: String,
}

/// A language that nodes are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ProgramLanguage {
    /// JavaScript, whose types are TypeScript's.
    Javascript,
    /// Python.
    Python,
}

/// `graph.types`: the types of the state, for the editor in which somebody writes a program.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadTypes {
    /// The open document.
    pub graph_id: String,
    /// Of which language.
    pub language: ProgramLanguage,
}

/// Answer of `graph.types`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct StateTypes {
    /// Text of a file.
    pub text: String,
}

/// An example that comes with the app.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct Example {
    /// Folder name.
    pub id: String,
    /// Name.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Its records, for a small picture.
    pub records: Vec<Record>,
    /// No other files belong to it, so that its nodes work in any graph.
    pub alone: bool,
}

/// A graph opened before.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Recent {
    /// Where it is.
    pub path: String,
    /// Its name.
    pub name: String,
    /// When it was opened last.
    pub opened_at: String,
    /// False when the file is gone.
    pub exists: bool,
}

/// A node kind, for the palette and the inspector.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NodeKind {
    /// `kind` in the document.
    pub kind: String,
    /// Name for people.
    pub title: String,
    /// One sentence.
    pub summary: String,
    /// Lucide icon name.
    pub icon: String,
    /// Palette group: `state`, `models`, `code`, `people`, `knowledge`.
    pub group: String,
    /// What people who come from elsewhere call it, for searches.
    pub aliases: Vec<String>,
    /// JSON Schema of `config`. Properties carry `title`, `description`, `default` and `x-editor`
    /// (`expression`, `template`, `code`, `state-key`, `state-keys`, `schema`, `folder`, `graph-file`, `text`, `choices`,
    /// `assignments`, `script`), `x-if` (shown only while the fields beside it have these values: one, one of a list, or
    /// any, `*`), `x-leads-to` (names a node to go to without an edge, while the fields beside it have these values) and
    /// `x-takes` (a state key that takes the value of the field beside it with this name). The schema itself carries
    /// `x-form`: `front`, the fields that are shown at first, and `groups` of the others, each with `title` and `fields`.
    #[ts(type = "any")]
    pub config_schema: Json,
    /// `config` of a new node.
    #[ts(type = "any")]
    pub defaults: Json,
    /// JSON Pointers into `config` whose text is shown on the node's card, at most three.
    pub card: Vec<String>,
    /// A node of it is a graph inside, drawn from its settings, which `graph.new` opens as a draft.
    pub inside: bool,
}

/// Answer of `app.info`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// Version.
    pub version: String,
    /// The user's data folder.
    pub data_dir: String,
    /// Where new graphs are saved unless another place is chosen.
    pub graphs_dir: String,
    /// Examples.
    pub examples: Vec<Example>,
    /// Recent graphs, newest first.
    pub recents: Vec<Recent>,
    /// Node kinds.
    pub kinds: Vec<NodeKind>,
    /// Settings.
    pub settings: super::Settings,
    /// Documents that are open in this process (a window that reloads finds them again).
    pub open: Vec<GraphRef>,
}

/// `files.list`
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ListFiles {
    /// A folder; absent means the user's graphs folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub dir: Option<String>,
}

/// A file or folder.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// Name.
    pub name: String,
    /// Absolute path.
    pub path: String,
    /// Is it a folder?
    pub is_dir: bool,
    /// Is it a graph file, or a folder that holds one?
    pub is_graph: bool,
    /// When it was changed.
    pub modified: String,
}

/// Answer of `files.list`.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FileList {
    /// The folder.
    pub dir: String,
    /// Its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// Folders first, then JSON files, tables and databases.
    pub entries: Vec<FileEntry>,
}

/// `graph.keepSteps`: what undo and redo of a document go through, for the next time it is opened.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeepSteps {
    /// The document.
    pub graph_id: String,
    /// The revision that the steps lead to. Those of another one are not kept.
    pub rev: u32,
    /// The steps, as the interface reads them.
    #[ts(type = "any")]
    pub steps: Json,
}

/// Answer of `graph.steps`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct KeptSteps {
    /// The steps that were kept for the document as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "any")]
    pub steps: Option<Json>,
    /// There were steps, and the document is another one now.
    pub dropped: bool,
}
