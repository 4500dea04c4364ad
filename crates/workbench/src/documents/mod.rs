//! Open documents: opening, patching, saving, closing, and bringing unsaved changes back.
//!
//! Rules that nothing here may break: a document is changed only by patches; the user's file is written only when the
//! user saves, and never over something that this process has not seen unless the user says so; what is not saved is in
//! the autosave folder within about a second.

pub(crate) mod autosave;
pub(crate) mod breakpoints;
mod caches;
pub(crate) mod catalogue;
mod conflict;
mod disk;
mod find;
mod git;
mod git_history;
pub(crate) mod graphs;
mod opening;
mod outside;
mod permission;
mod pictures;
mod replace;
mod saving;
pub(crate) mod seen;
mod steps;
mod texts;
pub(crate) mod versions;
pub(crate) mod watching;

pub(crate) use caches::GraphCaches;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use superstep_document::{Document, Patch, PatchOp};
use superstep_nodes::{Environment, Stamp};
use tokio::time::Instant;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};
use crate::documents::autosave::{AutosaveSlot, Unsaved};
use crate::session::{Origin, RanOn, disabled_in, name_of};
use crate::wire::RunModels;
use crate::wire::{
    AppEvent, Applied, ApplyPatch, Diagnostic, DynamicTargets, Example, GraphView, Json, Problem,
    ProblemTexts, Record, SeenView, Severity,
};
use superstep_document::text;

/// Unsaved changes are written this long after the first of them, and then at most so often.
const AUTOSAVE_FIRST: Duration = Duration::from_millis(150);
const AUTOSAVE_EVERY: Duration = Duration::from_millis(1_000);
/// A README longer than this is cut.
const MAX_README: u64 = 256 << 10;

/// Problems of a text that is no graph.
const OF_NO_GRAPH: [&str; 4] = ["not-json", "not-an-object", "not-a-graph", "conflict-marks"];

/// The documents of this process.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: Mutex<Vec<Arc<OpenDocument>>>,
    /// Where new ones are saved.
    pub(crate) graphs_dir: PathBuf,
    /// The examples that come with the app.
    examples_dir: Option<PathBuf>,
    /// What that folder holds, read once: it does not change.
    examples: OnceLock<Vec<Example>>,
    /// Held while one is opened.
    opening: tokio::sync::Mutex<()>,
    /// The watch over their files.
    pub(crate) watch: watching::FileWatch,
}

/// One open document.
#[derive(Debug)]
pub(crate) struct OpenDocument {
    /// Its id.
    pub(crate) id: String,
    state: Mutex<DocumentState>,
    /// Held while files of this document are written, so that an autosave cannot overtake a save.
    io: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct DocumentState {
    document: Document,
    path: Option<PathBuf>,
    slot: AutosaveSlot,
    rev: u32,
    saved_rev: u32,
    /// The revision in the autosave folder.
    autosaved_rev: u32,
    /// What the user's file held when it was last read or written here.
    disk: Option<Fingerprint>,
    /// The graph that it held then, by its hash; `None` when that is not known.
    disk_hash: Option<String>,
    /// Problems that only the text shows (see [`Document::parse`]).
    of_text: Vec<superstep_document::Diagnostic>,
    found: Findings,
    recovered_at: Option<String>,
    timer: bool,
    /// The text of the file as it was read or written here, until something is changed. Written again the document may be
    /// another text: without a second member of one name, for example.
    as_read: Option<String>,
    /// The text that the first change since the last save replaced, until it is among the earlier versions.
    before: Option<String>,
    last_autosave: Option<Instant>,
    file: FileLook,
    /// Why the last autosave failed; shown among the problems until one succeeds.
    unkept: Option<Problem>,
    closed: bool,
    /// Of a graph that was drawn from threads of another program: what it was drawn from. Nobody edits or saves it.
    seen: Option<SeenView>,
}

/// The user's file as it was looked at last.
#[derive(Debug, Default)]
struct FileLook {
    /// Of the content that was read here, once no later one can have the same.
    known: Option<Stamp>,
    /// Of a content that was not read yet, or of no file (`Some(None)`): a program may be writing it.
    coming: Option<Option<Stamp>>,
    /// Another program has written it, and there are changes here that are not in it.
    is_other: bool,
    /// There is no file any more.
    is_gone: bool,
}

/// Results of checking a document.
#[derive(Clone, Debug, Default, PartialEq)]
struct Findings {
    diagnostics: Vec<Diagnostic>,
    leads: DynamicTargets,
}

impl Findings {
    fn event(self, graph_id: &str, rev: u32) -> AppEvent {
        AppEvent::Diagnostics {
            graph_id: graph_id.to_owned(),
            rev,
            diagnostics: self.diagnostics,
            leads: self.leads,
        }
    }
}

pub(crate) fn wire_diagnostic(diagnostic: &superstep_document::Diagnostic) -> Diagnostic {
    Diagnostic {
        code: diagnostic.code.to_owned(),
        severity: match diagnostic.severity {
            superstep_document::Severity::Error => Severity::Error,
            superstep_document::Severity::Warning => Severity::Warning,
        },
        message: diagnostic.message.to_string(),
        remedy: diagnostic.remedy.to_string(),
        record: diagnostic.record.clone(),
        pointer: diagnostic.pointer.clone(),
        texts: ProblemTexts::of(&diagnostic.message, Some(&diagnostic.remedy)),
    }
}

pub(crate) fn records(document: &Document) -> Vec<Record> {
    document
        .records()
        .map(|(id, value)| Record {
            id: id.to_owned(),
            value: value.clone(),
        })
        .collect()
}

pub(crate) fn text_of<'a>(document: &'a Document, field: &str) -> Option<&'a str> {
    document
        .head()
        .get(field)
        .and_then(Json::as_str)
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

/// A document with where it is and what identifies this version of it.
#[derive(Clone, Debug)]
pub(crate) struct GraphSource {
    pub(crate) document: Document,
    pub(crate) path: Option<PathBuf>,
    /// What a thread's metadata says: the path, or the draft's id.
    pub(crate) key: String,
    pub(crate) name: String,
    /// Equal for equal text.
    pub(crate) version: String,
    /// The version that a thread ran on, which this is in place of the graph as it is now.
    pub(crate) earlier: Option<Arc<RanOn>>,
}

impl GraphSource {
    /// Returns the graph as it was when a thread ran on it.
    pub(crate) fn as_it_was(&self, ran: RanOn) -> Self {
        Self {
            document: ran.sources.document(),
            version: format!("ran on {}", ran.id),
            earlier: Some(Arc::new(ran)),
            ..self.clone()
        }
    }

    /// Returns the environment that the graph may use, with graph files as this version has them.
    pub(crate) fn within(&self, environment: Environment) -> Environment {
        match &self.earlier {
            Some(ran) => environment.at_version(&ran.sources),
            None => environment,
        }
    }

    /// Creates the origin that is recorded in a checkpoint that these models answered for.
    pub(crate) fn origin(&self, models: &RunModels) -> Origin {
        Origin {
            graph: self.name.clone(),
            path: self.key.clone(),
            models: models.clone(),
            disabled: disabled_in(&self.document),
            by: None,
            labels: Default::default(),
            pinned: Vec::new(),
        }
    }
}

impl OpenDocument {
    /// Returns whether it was drawn from what another program does, and nobody edits it.
    pub(crate) fn is_seen(&self) -> bool {
        self.state.lock().seen.is_some()
    }

    fn view(&self) -> GraphView {
        let state = self.state.lock();
        let found = state.shown();
        let readme = state.path.as_deref().and_then(Path::parent).and_then(|folder| {
            let file = folder.join("README.md").canonicalize().ok()?;
            // A link out of the project is somebody else's text.
            let is_inside = folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
            is_inside.then(|| superstep_nodes::files::read_beginning(&file, MAX_README).ok())?
        });
        let sample_input = state
            .document
            .head()
            .get("examples")
            .and_then(|e| e.get(0)?.get("input"))
            .cloned();
        GraphView {
            graph_id: self.id.clone(),
            name: name_of(&state.document, state.path.as_deref()),
            path: state.path.as_ref().map(|p| p.to_string_lossy().into_owned()),
            records: records(&state.document),
            rev: state.rev,
            saved_rev: state.saved_rev,
            diagnostics: found.diagnostics,
            leads: found.leads,
            recovered_at: state.recovered_at.clone(),
            sample_input,
            readme,
            text: state.text().map(str::to_owned),
            seen: state.seen.clone(),
        }
    }

    pub(crate) fn source(&self) -> GraphSource {
        let state = self.state.lock();
        GraphSource {
            document: state.document.clone(),
            path: state.path.clone(),
            key: state
                .path
                .as_ref()
                .map_or_else(|| self.id.clone(), |p| p.to_string_lossy().into_owned()),
            name: name_of(&state.document, state.path.as_deref()),
            version: format!("{}@{}", self.id, state.rev),
            earlier: None,
        }
    }

    /// Returns the key that a thread's metadata holds for this document.
    pub(crate) fn key(&self) -> String {
        let state = self.state.lock();
        state
            .path
            .as_ref()
            .map_or_else(|| self.id.clone(), |p| p.to_string_lossy().into_owned())
    }
}

/// Data of an open document that a check needs. Checks may take long, and the document is not locked meanwhile.
struct Subject {
    document: Document,
    path: Option<PathBuf>,
    of_text: Vec<superstep_document::Diagnostic>,
    rev: u32,
    is_seen: bool,
}

impl Subject {
    fn check(&self, workbench: &Workbench) -> Findings {
        // What its nodes do is not known, and nothing of it can be corrected.
        if self.is_seen {
            return Findings::default();
        }
        // The text's own problems are gone once there is a document that can be written.
        let unreadable = self.document.source().is_some();
        let of_text = self
            .of_text
            .iter()
            .filter(|d| unreadable || !OF_NO_GRAPH.contains(&d.code));
        let mut found = Findings {
            diagnostics: of_text.map(wire_diagnostic).collect(),
            leads: DynamicTargets::new(),
        };
        if !unreadable {
            let folder = self.path.as_deref().and_then(Path::parent);
            let checked = workbench.check(&self.document, folder);
            found
                .diagnostics
                .extend(checked.problems.iter().map(wire_diagnostic));
            for (from, to) in checked.dynamic_targets() {
                found
                    .leads
                    .entry(from.to_owned())
                    .or_default()
                    .push(to.to_owned());
            }
        }
        found
    }
}

/// Creates the problem of what would change a graph that was only seen.
fn only_seen() -> Problem {
    Problem::new(
        "only-seen",
        text!("The graph was drawn from threads of another program, and is only read."),
    )
    .remedy(text!("Make a graph of your own of it, and edit that."))
}

impl DocumentState {
    /// Creates the state of a document that nothing has been done with.
    fn new(document: Document, slot: AutosaveSlot) -> Self {
        Self {
            document,
            path: None,
            slot,
            rev: 0,
            saved_rev: 0,
            autosaved_rev: 0,
            disk: None,
            disk_hash: None,
            of_text: Vec::new(),
            found: Findings::default(),
            recovered_at: None,
            timer: false,
            as_read: None,
            before: None,
            last_autosave: None,
            file: FileLook::default(),
            unkept: None,
            closed: false,
            seen: None,
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            document: self.document.clone(),
            path: self.path.clone(),
            of_text: self.of_text.clone(),
            rev: self.rev,
            is_seen: self.seen.is_some(),
        }
    }

    /// Returns what is shown among the problems: what the check found, an autosave that failed, and a file that another
    /// program wrote or removed.
    fn shown(&self) -> Findings {
        let mut found = self.found.clone();
        if self.file.is_other {
            let message =
                text!("The file was changed by another program, and there are unsaved changes here.");
            let remedy = text!("Save the graph: the changes are joined, and what both changed is asked.");
            let warning = superstep_document::Diagnostic::warning("changed-outside", "doc", message, remedy);
            found.diagnostics.push(wire_diagnostic(&warning));
        }
        if self.file.is_gone {
            let message = text!("The file is gone: another program moved or removed it.");
            let remedy = text!("Save the graph to write it again, or save it to another place.");
            let warning = superstep_document::Diagnostic::warning("file-gone", "doc", message, remedy);
            found.diagnostics.push(wire_diagnostic(&warning));
        }
        found.diagnostics.extend(self.unkept.as_ref().map(|problem| {
            let cause = problem.message_text();
            let message = text!("Unsaved changes could not be kept: {cause}", cause);
            let save = || text!("Save the graph to another place.");
            let remedy = problem.remedy_text().unwrap_or_else(save);
            let warning = superstep_document::Diagnostic::warning("autosave-failed", "doc", message, remedy);
            wire_diagnostic(&warning)
        }));
        found
    }

    /// Returns the text of a file that is no graph. Of one with conflict marks the sides are known, and a patch joins them.
    fn text(&self) -> Option<&str> {
        let has_marks = self.of_text.iter().any(|found| found.code == "conflict-marks");
        self.document.source().filter(|_| !has_marks)
    }

    /// Returns the text of a document without changes, as it stood in the file when it was read.
    fn text_as_read(&self) -> String {
        (self.as_read.clone()).unwrap_or_else(|| self.document.file_text())
    }

    fn unsaved(&self, id: &str, instance: &str) -> Unsaved {
        Unsaved {
            graph_id: id.to_owned(),
            path: self.path.clone(),
            saved_at: files::now(),
            base: self.disk.clone(),
            instance: instance.to_owned(),
            text: self.document.file_text(),
        }
    }
}

impl Documents {
    /// Creates what holds the documents of a process, none yet.
    pub(crate) fn new(graphs_dir: PathBuf, examples_dir: Option<PathBuf>) -> Self {
        Self {
            graphs_dir,
            examples_dir,
            ..Self::default()
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<OpenDocument>> {
        self.open.lock().clone()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<OpenDocument>> {
        self.open.lock().iter().find(|open| open.id == id).cloned()
    }

    /// Returns the files of all that is open.
    fn paths(&self) -> Vec<PathBuf> {
        let open = self.open.lock();
        open.iter()
            .filter_map(|open| open.state.lock().path.clone())
            .collect()
    }

    fn at_path(&self, path: &Path) -> Option<Arc<OpenDocument>> {
        self.open
            .lock()
            .iter()
            .find(|open| open.state.lock().path.as_deref() == Some(path))
            .cloned()
    }

    /// Finds a document by the key in a thread's metadata: a path or a draft's id.
    pub(crate) fn by_key(&self, key: &str) -> Option<Arc<OpenDocument>> {
        self.open
            .lock()
            .iter()
            .find(|open| open.id == key || open.key() == key)
            .cloned()
    }

    fn add(&self, open: Arc<OpenDocument>) {
        self.open.lock().push(open);
    }

    fn remove(&self, id: &str) {
        self.open.lock().retain(|open| open.id != id);
    }
}

impl Workbench {
    fn autosave_dir(&self) -> PathBuf {
        self.instance.data_dir().join("autosave")
    }

    /// Returns the open document, or the problem that says it is not open.
    pub(crate) fn document(&self, graph_id: &str) -> Result<Arc<OpenDocument>, Problem> {
        self.documents.get(graph_id).ok_or_else(|| {
            Problem::not_found(text!("No graph with id {graph_id} is open.", graph_id))
                .remedy(text!("Open the graph again."))
        })
    }

    fn new_open(&self, id: String, mut state: DocumentState) -> Arc<OpenDocument> {
        state.found = state.subject().check(self);
        Arc::new(OpenDocument {
            id,
            state: Mutex::new(state),
            io: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) async fn graph_apply(self: &Arc<Self>, request: ApplyPatch) -> Result<Applied, Problem> {
        let open = self.document(&request.graph_id)?;
        let ops = request.ops.into_iter().map(|op| PatchOp {
            id: op.id,
            from: op.from,
            to: op.to,
            at: op.at.map(|at| at as usize),
        });
        let patch = Patch { ops: ops.collect() };
        self.change(&open, Some(request.base_rev), |state| {
            if state.text().is_some() {
                return Err(Problem::new(
                    "not-a-graph",
                    text!("The file is no graph, so there is nothing to edit in it."),
                )
                .remedy(text!("Correct its text, or make a new graph.")));
            }
            state.document.apply(&patch).map(|_| ()).map_err(|error| {
                Problem::new(error.code(), error.to_string())
                    .remedy(text!("The graph is loaded again; repeat the edit."))
            })
        })
        .await
    }

    /// Changes a document in one revision and sees to its autosave.
    async fn change(
        self: &Arc<Self>,
        open: &Arc<OpenDocument>,
        base_rev: Option<u32>,
        edit: impl FnOnce(&mut DocumentState) -> Result<(), Problem>,
    ) -> Result<Applied, Problem> {
        {
            let mut state = open.state.lock();
            if state.seen.is_some() {
                return Err(only_seen());
            }
            if base_rev.is_some_and(|base| base != state.rev) {
                return Err(Problem::new(
                    "conflict",
                    text!("The graph is at revision {rev}, the edit was made for revision {value}: it was changed from another window.", rev = state.rev, value = base_rev.unwrap_or_default()),
                )
                .remedy(text!("The graph is loaded again; repeat the edit.")));
            }
            // What the first change replaces is kept as a version to go back to, to the byte.
            let before = (state.rev == state.saved_rev).then(|| state.text_as_read());
            edit(&mut state)?;
            state.as_read = None;
            state.rev += 1;
            state.before = before.or(state.before.take());
            if !state.timer {
                state.timer = true;
                let due = state.last_autosave.map_or(Duration::ZERO, |last| {
                    AUTOSAVE_EVERY.saturating_sub(last.elapsed())
                });
                let (workbench, open) = (Arc::downgrade(self), Arc::downgrade(open));
                tokio::spawn(saving::autosave_later(workbench, open, due.max(AUTOSAVE_FIRST)));
            }
        }
        let (rev, found) = self.check_open(open).await?;
        Ok(Applied {
            rev,
            diagnostics: found.diagnostics,
            leads: found.leads,
        })
    }

    /// Looks at an open document where that may take long, and says which revision it saw and what is shown for it.
    async fn check_open(self: &Arc<Self>, open: &Arc<OpenDocument>) -> Result<(u32, Findings), Problem> {
        let (this, open) = (self.clone(), open.clone());
        blocking(move || this.check_here(&open)).await
    }

    fn check_here(&self, open: &OpenDocument) -> (u32, Findings) {
        let subject = open.state.lock().subject();
        let found = subject.check(self);
        let mut state = open.state.lock();
        // A later change has a check of its own.
        if state.rev != subject.rev || state.path != subject.path {
            return (subject.rev, found);
        }
        state.found = found;
        (subject.rev, state.shown())
    }

    /// Looks at every open document again, after something outside of it has changed that it may need. May take long.
    pub(crate) fn check_again(&self) {
        for open in self.documents.all() {
            let before = open.state.lock().shown();
            let (rev, found) = self.check_here(&open);
            if found != before {
                self.hub.publish(found.event(&open.id, rev));
            }
        }
    }
}
