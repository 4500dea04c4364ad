//! Open documents: opening, patching, saving, closing, and bringing unsaved changes back.
//!
//! Rules that nothing here may break: a document is changed only by patches; the user's file is written only when the
//! user saves, and never over something that this process has not seen unless the user says so; what is not saved is in
//! the autosave folder within about a second.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use superstep_document::{Document, Patch, PatchOp};
use tokio::time::Instant;

use crate::Workbench;
use crate::autosave::{Slot, Unsaved};
use crate::files::{self, Fingerprint};
use crate::wire::{
    AppEvent, Applied, ApplyPatch, Autosaves, CloseGraph, Diagnostic, Empty, GraphRef, GraphView, Json,
    Leads, NewGraph, NodeRef, OpenGraph, Problem, Record, RestoreGraph, SaveGraph, Saved, Severity,
};

/// Unsaved changes are written this long after the first of them, and then at most so often.
const AUTOSAVE_FIRST: Duration = Duration::from_millis(150);
const AUTOSAVE_EVERY: Duration = Duration::from_millis(1_000);
/// A README longer than this is cut.
const MAX_README: usize = 256 << 10;

/// The documents of this process.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: Mutex<Vec<Arc<Open>>>,
}

/// One open document.
#[derive(Debug)]
pub(crate) struct Open {
    /// Its id.
    pub(crate) id: String,
    state: Mutex<State>,
    /// Held while files of this document are written, so that an autosave cannot overtake a save.
    io: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State {
    document: Document,
    path: Option<PathBuf>,
    slot: Slot,
    rev: u32,
    saved_rev: u32,
    /// The revision in the autosave folder.
    autosaved_rev: u32,
    /// What the user's file held when it was last read or written here.
    disk: Option<Fingerprint>,
    /// Problems that only the text shows (see [`Document::parse`]).
    of_text: Vec<superstep_document::Diagnostic>,
    found: Found,
    recovered_at: Option<String>,
    timer: bool,
    last_autosave: Option<Instant>,
    /// Why the last autosave failed; shown among the problems until one succeeds.
    unkept: Option<Problem>,
    closed: bool,
}

/// What checking a document finds.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    diagnostics: Vec<Diagnostic>,
    leads: Leads,
}

impl Found {
    fn told(self, graph_id: &str) -> AppEvent {
        AppEvent::Diagnostics {
            graph_id: graph_id.to_owned(),
            diagnostics: self.diagnostics,
            leads: self.leads,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs file work where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::new("internal", format!("A background task failed: {error}.")).remedy("Try again.")
    })
}

pub(crate) fn wire_diagnostic(diagnostic: &superstep_document::Diagnostic) -> Diagnostic {
    Diagnostic {
        code: diagnostic.code.to_owned(),
        severity: match diagnostic.severity {
            superstep_document::Severity::Error => Severity::Error,
            superstep_document::Severity::Warning => Severity::Warning,
        },
        message: diagnostic.message.clone(),
        remedy: diagnostic.remedy.clone(),
        record: diagnostic.record.clone(),
        pointer: diagnostic.pointer.clone(),
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

/// The document's name, or what its file is called.
pub(crate) fn name_of(document: &Document, path: Option<&Path>) -> String {
    let from_path = || {
        let path = path?;
        let stem = path.file_stem()?;
        let stem = if stem == "graph" {
            path.parent()?.file_name()?
        } else {
            stem
        };
        Some(stem.to_string_lossy().into_owned())
    };
    text_of(document, "name")
        .map(str::to_owned)
        .or_else(from_path)
        .unwrap_or_else(|| "Untitled".into())
}

/// Reads a graph's text; `None` when there is no file.
fn read_text(path: &Path) -> Result<Option<String>, Problem> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::file("read", path, &error)),
    }
}

/// A document with where it is and what identifies this version of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) document: Document,
    pub(crate) path: Option<PathBuf>,
    /// What a thread's metadata says: the path, or the draft's id.
    pub(crate) key: String,
    pub(crate) name: String,
    /// Equal for equal text.
    pub(crate) version: String,
}

impl Open {
    fn view(&self) -> GraphView {
        let state = lock(&self.state);
        let readme = state.path.as_deref().and_then(Path::parent).and_then(|folder| {
            let text = fs::read_to_string(folder.join("README.md")).ok()?;
            let end = (0..=MAX_README.min(text.len()))
                .rev()
                .find(|i| text.is_char_boundary(*i))?;
            Some(text[..end].to_owned())
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
            diagnostics: state.found.diagnostics.clone(),
            leads: state.found.leads.clone(),
            recovered_at: state.recovered_at.clone(),
            sample_input,
            readme,
        }
    }

    pub(crate) fn source(&self) -> Source {
        let state = lock(&self.state);
        Source {
            document: state.document.clone(),
            path: state.path.clone(),
            key: state
                .path
                .as_ref()
                .map_or_else(|| self.id.clone(), |p| p.to_string_lossy().into_owned()),
            name: name_of(&state.document, state.path.as_deref()),
            version: format!("{}@{}", self.id, state.rev),
        }
    }

    /// What a thread's metadata says of this document.
    pub(crate) fn key(&self) -> String {
        let state = lock(&self.state);
        state
            .path
            .as_ref()
            .map_or_else(|| self.id.clone(), |p| p.to_string_lossy().into_owned())
    }
}

impl State {
    fn check(&mut self, workbench: &Workbench) {
        // The text's own problems are gone once there is a document that can be written.
        let unreadable = self.document.source().is_some();
        let of_text = self
            .of_text
            .iter()
            .filter(|d| unreadable || !matches!(d.code, "not-json" | "not-an-object"));
        let mut found = Found {
            diagnostics: of_text.map(wire_diagnostic).collect(),
            leads: Leads::new(),
        };
        if !unreadable {
            let folder = self.path.as_deref().and_then(Path::parent);
            let checked = workbench.check(&self.document, folder);
            found
                .diagnostics
                .extend(checked.problems.iter().map(wire_diagnostic));
            for (from, to) in checked.leads() {
                found
                    .leads
                    .entry(from.to_owned())
                    .or_default()
                    .push(to.to_owned());
            }
        }
        found.diagnostics.extend(self.unkept.as_ref().map(|problem| {
            Diagnostic {
                code: "autosave-failed".into(),
                severity: Severity::Warning,
                message: format!("Unsaved changes could not be kept: {}", problem.message),
                remedy: problem
                    .remedy
                    .clone()
                    .unwrap_or_else(|| "Save the graph to another place.".into()),
                record: "doc".into(),
                pointer: None,
            }
        }));
        self.found = found;
    }

    fn unsaved(&self, id: &str, instance: &str) -> Unsaved {
        Unsaved {
            graph_id: id.to_owned(),
            path: self.path.clone(),
            saved_at: files::now(),
            base: self.disk.clone(),
            instance: instance.to_owned(),
            text: self.document.to_text(),
        }
    }
}

impl Documents {
    pub(crate) fn all(&self) -> Vec<Arc<Open>> {
        lock(&self.open).clone()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Open>> {
        lock(&self.open).iter().find(|open| open.id == id).cloned()
    }

    fn at_path(&self, path: &Path) -> Option<Arc<Open>> {
        lock(&self.open)
            .iter()
            .find(|open| lock(&open.state).path.as_deref() == Some(path))
            .cloned()
    }

    /// By what a thread's metadata says: a path or a draft's id.
    pub(crate) fn by_key(&self, key: &str) -> Option<Arc<Open>> {
        lock(&self.open)
            .iter()
            .find(|open| open.id == key || open.key() == key)
            .cloned()
    }

    fn add(&self, open: Arc<Open>) {
        lock(&self.open).push(open);
    }

    fn remove(&self, id: &str) {
        lock(&self.open).retain(|open| open.id != id);
    }
}

/// Settled form of a path that names a graph: the file itself for a folder, links resolved where the file exists.
fn graph_file(path: &str) -> Result<PathBuf, Problem> {
    let mut path = files::absolute(path)?;
    if path.is_dir() {
        path.push("graph.json");
    }
    // Of a file that is not there yet the folder is resolved, so that a path has one spelling.
    if let Ok(real) = fs::canonicalize(&path) {
        return Ok(real);
    }
    Ok(
        match (
            path.parent().and_then(|folder| fs::canonicalize(folder).ok()),
            path.file_name(),
        ) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path,
        },
    )
}

impl Workbench {
    fn autosave_dir(&self) -> PathBuf {
        self.data_dir.join("autosave")
    }

    /// The open document, or the problem that says it is not open.
    pub(crate) fn document(&self, graph_id: &str) -> Result<Arc<Open>, Problem> {
        self.documents.get(graph_id).ok_or_else(|| {
            Problem::not_found(format!("No graph with id {graph_id} is open."))
                .remedy("Open the graph again.")
        })
    }

    fn new_open(&self, id: String, mut state: State) -> Arc<Open> {
        state.check(self);
        Arc::new(Open {
            id,
            state: Mutex::new(state),
            io: tokio::sync::Mutex::default(),
        })
    }

    /// Brings back the drafts of sessions that are over.
    pub(crate) fn restore_drafts(&self) {
        let root = self.autosave_dir();
        let mut drafts: Vec<(Slot, Unsaved)> = Slot::all(&root)
            .into_iter()
            .filter_map(|slot| Some((slot.clone(), slot.read_unsaved()?)))
            .filter(|(_, unsaved)| unsaved.path.is_none() && !self.instance.is_other_alive(&unsaved.instance))
            .collect();
        drafts.sort_by(|a, b| a.1.graph_id.cmp(&b.1.graph_id));
        for (slot, unsaved) in drafts {
            self.documents.add(self.recovered(slot, unsaved, None));
        }
    }

    /// An open document from unsaved changes.
    fn recovered(&self, slot: Slot, unsaved: Unsaved, path: Option<PathBuf>) -> Arc<Open> {
        let (document, of_text) = Document::parse(&unsaved.text);
        let id = if path.is_none() {
            unsaved.graph_id
        } else {
            new_id("graph")
        };
        self.new_open(
            id,
            State {
                document,
                path,
                slot,
                rev: 1,
                saved_rev: 0,
                autosaved_rev: 1,
                disk: unsaved.base,
                of_text,
                found: Found::default(),
                recovered_at: Some(unsaved.saved_at),
                timer: false,
                last_autosave: None,
                unkept: None,
                closed: false,
            },
        )
    }

    pub(crate) async fn graph_new(self: &Arc<Self>, request: NewGraph) -> Result<GraphView, Problem> {
        let name = match request.name.trim() {
            "" => "Untitled",
            name => name,
        };
        let inside = match &request.inside {
            Some(node) => Some(self.inside(node)?),
            None => None,
        };
        // A draft with something in it is kept from the beginning.
        let rev = u32::from(inside.is_some());
        let id = new_id("draft");
        let slot = Slot::of_draft(&self.autosave_dir(), &id);
        let open = self.new_open(
            id,
            State {
                document: inside.unwrap_or_else(|| Document::new(name)),
                path: None,
                slot,
                rev,
                saved_rev: 0,
                autosaved_rev: 0,
                disk: None,
                of_text: Vec::new(),
                found: Found::default(),
                recovered_at: None,
                timer: false,
                last_autosave: None,
                unkept: None,
                closed: false,
            },
        );
        self.documents.add(open.clone());
        self.autosave(&open, None).await?;
        Ok(open.view())
    }

    /// The graph that a node is inside.
    fn inside(&self, at: &NodeRef) -> Result<Document, Problem> {
        let source = self.document(&at.graph_id)?.source();
        self.registry.inside(&source.document, &at.node).ok_or_else(|| {
            Problem::not_found(format!(
                "Node {} has no graph inside that could be opened.",
                at.node
            ))
            .remedy(
                "Only nodes whose kind draws a graph from its settings have one; correct the settings first.",
            )
        })
    }

    pub(crate) async fn graph_open(self: &Arc<Self>, request: OpenGraph) -> Result<GraphView, Problem> {
        let this = self.clone();
        // One opening at a time, so that a path asked for twice at once is opened once.
        let _opening = self.opening.lock().await;
        blocking(move || this.open_path(&graph_file(&request.path)?)).await?
    }

    fn open_path(&self, path: &Path) -> Result<GraphView, Problem> {
        if let Some(open) = self.documents.at_path(path) {
            let view = open.view();
            self.preferences.opened(path, &view.name);
            return Ok(view);
        }
        let slot = Slot::of_path(&self.autosave_dir(), path);
        let text = read_text(path)?;
        let unsaved = slot.read_unsaved().filter(|unsaved| {
            !self.instance.is_other_alive(&unsaved.instance) && Some(&unsaved.text) != text.as_ref()
        });
        let open = match (text, unsaved) {
            // A file that is gone but has unsaved changes can be brought back whole.
            (_, Some(unsaved)) => self.recovered(slot, unsaved, Some(path.to_path_buf())),
            (None, None) => {
                let missing = io::Error::from(io::ErrorKind::NotFound);
                return Err(Problem::file("open", path, &missing));
            }
            (Some(text), None) => {
                let (document, of_text) = Document::parse(&text);
                self.new_open(
                    new_id("graph"),
                    State {
                        document,
                        path: Some(path.to_path_buf()),
                        slot,
                        rev: 0,
                        saved_rev: 0,
                        autosaved_rev: 0,
                        disk: Some(Fingerprint::of(&text)),
                        of_text,
                        found: Found::default(),
                        recovered_at: None,
                        timer: false,
                        last_autosave: None,
                        unkept: None,
                        closed: false,
                    },
                )
            }
        };
        let view = open.view();
        self.preferences.opened(path, &view.name);
        self.documents.add(open);
        Ok(view)
    }

    pub(crate) async fn graph_get(self: &Arc<Self>, request: GraphRef) -> Result<GraphView, Problem> {
        if self.documents.get(&request.graph_id).is_none() && request.graph_id.starts_with("draft-") {
            // A draft that was closed with its changes kept.
            let slot = Slot::of_draft(&self.autosave_dir(), &request.graph_id);
            if let Some(unsaved) = slot.read_unsaved().filter(|u| u.graph_id == request.graph_id) {
                self.documents.add(self.recovered(slot, unsaved, None));
            }
        }
        Ok(self.document(&request.graph_id)?.view())
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
        self.change(&open, Some(request.base_rev), |document| {
            document.apply(&patch).map(|_| ()).map_err(|error| {
                Problem::new(error.code(), error.to_string())
                    .remedy("The graph is loaded again; repeat the edit.")
            })
        })
    }

    /// Changes a document in one revision and sees to its autosave.
    fn change(
        self: &Arc<Self>,
        open: &Arc<Open>,
        base_rev: Option<u32>,
        edit: impl FnOnce(&mut Document) -> Result<(), Problem>,
    ) -> Result<Applied, Problem> {
        let mut state = lock(&open.state);
        if base_rev.is_some_and(|base| base != state.rev) {
            return Err(Problem::new(
                "conflict",
                format!(
                    "The graph is at revision {}, the edit was made for revision {}: it was changed from another window.",
                    state.rev,
                    base_rev.unwrap_or_default()
                ),
            )
            .remedy("The graph is loaded again; repeat the edit."));
        }
        // What the first change replaces is kept as a version to go back to; of an unreadable file that is its text.
        let before = (state.rev == state.saved_rev).then(|| {
            state
                .document
                .source()
                .map_or_else(|| state.document.to_text(), str::to_owned)
        });
        edit(&mut state.document)?;
        state.rev += 1;
        state.check(self);
        let applied = Applied {
            rev: state.rev,
            diagnostics: state.found.diagnostics.clone(),
            leads: state.found.leads.clone(),
        };
        if !state.timer {
            state.timer = true;
            let due = state.last_autosave.map_or(Duration::ZERO, |last| {
                AUTOSAVE_EVERY.saturating_sub(last.elapsed())
            });
            let (workbench, open) = (Arc::downgrade(self), Arc::downgrade(open));
            tokio::spawn(autosave_later(workbench, open, due.max(AUTOSAVE_FIRST), before));
        }
        Ok(applied)
    }

    /// Writes what is not saved to the autosave folder. `before` is the version that the first change replaced.
    async fn autosave(self: &Arc<Self>, open: &Arc<Open>, before: Option<String>) -> Result<(), Problem> {
        let _io = open.io.lock().await;
        let (unsaved, slot, rev) = {
            let mut state = lock(&open.state);
            state.timer = false;
            if state.closed || state.rev == state.saved_rev || state.rev == state.autosaved_rev {
                return Ok(());
            }
            (
                state.unsaved(&open.id, self.instance.id()),
                state.slot.clone(),
                state.rev,
            )
        };
        let written = blocking(move || {
            slot.write_unsaved(&unsaved)
                .map_err(|e| Problem::file("autosave to", Path::new("the data folder"), &e))?;
            if let Some(before) = before {
                slot.keep(&before, true)
                    .map_err(|e| Problem::file("copy to", Path::new("the data folder"), &e))?;
            }
            slot.keep(&unsaved.text, false)
                .map_err(|e| Problem::file("copy to", Path::new("the data folder"), &e))
        })
        .await?;
        let changed = {
            let mut state = lock(&open.state);
            state.last_autosave = Some(Instant::now());
            if written.is_ok() {
                state.autosaved_rev = rev;
            }
            let failed = written.as_ref().err().cloned();
            let changed = failed.is_some() != state.unkept.is_some();
            state.unkept = failed;
            if changed {
                state.check(self);
            }
            changed.then(|| state.found.clone())
        };
        if let Some(found) = changed {
            self.hub.publish(found.told(&open.id));
        }
        written
    }

    /// Looks at every open document again, after something outside of it has changed that it may need.
    pub(crate) fn check_again(&self) {
        for open in self.documents.all() {
            let changed = {
                let mut state = lock(&open.state);
                let before = state.found.clone();
                state.check(self);
                (state.found != before).then(|| state.found.clone())
            };
            if let Some(found) = changed {
                self.hub.publish(found.told(&open.id));
            }
        }
    }

    /// Writes all unsaved changes now.
    pub(crate) async fn autosave_all(self: &Arc<Self>) {
        for open in self.documents.all() {
            if let Err(problem) = self.autosave(&open, None).await {
                tracing::error!(graph = open.id, %problem, "unsaved changes could not be kept");
            }
        }
    }

    pub(crate) async fn graph_save(self: &Arc<Self>, request: SaveGraph) -> Result<Saved, Problem> {
        let open = self.document(&request.graph_id)?;
        let _io = open.io.lock().await;
        let (text, rev, old_path, disk, old_slot) = {
            let state = lock(&open.state);
            if state.document.source().is_some() {
                return Err(Problem::new(
                    "unreadable-file",
                    "The file is not a graph, so there is nothing to save over it.",
                )
                .remedy("Correct the file in a text editor, or make a new graph."));
            }
            (
                state.document.to_text(),
                state.rev,
                state.path.clone(),
                state.disk.clone(),
                state.slot.clone(),
            )
        };
        let path = match (&request.path, &old_path) {
            (Some(path), _) => {
                let mut path = graph_file(path)?;
                if path.extension().is_none() {
                    path.set_extension("json");
                }
                path
            }
            (None, Some(path)) => path.clone(),
            (None, None) => {
                return Err(Problem::new("path-needed", "The graph has no file yet.")
                    .remedy("Choose where to save it."));
            }
        };
        let same_place = old_path.as_deref() == Some(path.as_path());
        if !same_place && let Some(other) = self.documents.at_path(&path) {
            return Err(Problem::new(
                "file-open",
                format!("{} is open as another graph ({}).", path.display(), other.id),
            )
            .remedy("Choose another name, or close that graph first."));
        }
        let slot = if same_place {
            old_slot.clone()
        } else {
            Slot::of_path(&self.autosave_dir(), &path)
        };
        let (target, overwrite, copy, drafted) =
            (path.clone(), request.overwrite, slot.clone(), old_path.is_none());
        let fingerprint = Fingerprint::of(&text);
        let written = fingerprint.clone();
        blocking(move || {
            let there = match read_text(&target) {
                Err(problem) if !overwrite => return Err(problem),
                there => there.ok().flatten(),
            };
            if let Some(there) = there {
                let found = Fingerprint::of(&there);
                let known = found == written || (same_place && disk.as_ref() == Some(&found));
                if !known && !overwrite {
                    return Err(if same_place {
                        Problem::new("changed-on-disk", format!("{} was changed outside since it was opened.", target.display()))
                            .remedy("Save under another name, or write over it: the version on disk is kept among the earlier versions.")
                    } else {
                        Problem::new("file-exists", format!("{} already exists.", target.display()))
                            .remedy("Choose another name, or write over it.")
                    });
                }
                if !known {
                    let _ = copy.keep(&there, true);
                }
            }
            files::write_atomic(&target, text.as_bytes()).map_err(|e| Problem::file("save", &target, &e))?;
            if !same_place {
                copy.adopt(&old_slot);
            }
            // The user's file is written; what follows is housekeeping that must not make the save look failed.
            let _ = copy.keep(&text, true);
            if drafted {
                let _ = old_slot.remove();
            } else if !same_place {
                let _ = old_slot.clear_unsaved();
            }
            Ok(())
        })
        .await??;
        let (name, clean) = {
            let mut state = lock(&open.state);
            state.path = Some(path.clone());
            state.slot = slot.clone();
            state.disk = Some(fingerprint);
            state.saved_rev = rev;
            state.of_text.clear();
            state.recovered_at = None;
            // Elsewhere a folder that nodes name may be missing.
            state.check(self);
            (name_of(&state.document, Some(&path)), state.rev == rev)
        };
        if clean {
            let _ = blocking(move || slot.clear_unsaved()).await;
        }
        if old_path.is_none() {
            self.ledger.moved(&open.id, &path.to_string_lossy())?;
        }
        self.preferences.opened(&path, &name);
        Ok(Saved {
            path: path.to_string_lossy().into_owned(),
            saved_rev: rev,
        })
    }

    pub(crate) async fn graph_close(self: &Arc<Self>, request: CloseGraph) -> Result<Empty, Problem> {
        let open = self.document(&request.graph_id)?;
        if request.discard {
            let _io = open.io.lock().await;
            let (slot, draft) = {
                let mut state = lock(&open.state);
                state.closed = true;
                (state.slot.clone(), state.path.is_none())
            };
            blocking(move || {
                if draft {
                    slot.remove()
                } else {
                    slot.clear_unsaved()
                }
            })
            .await?
            .map_err(|e| Problem::file("forget the unsaved changes in", Path::new("the data folder"), &e))?;
        } else {
            self.autosave(&open, None).await?;
        }
        self.documents.remove(&open.id);
        Ok(Empty {})
    }

    pub(crate) async fn graph_autosaves(self: &Arc<Self>, request: GraphRef) -> Result<Autosaves, Problem> {
        let slot = lock(&self.document(&request.graph_id)?.state).slot.clone();
        Ok(Autosaves {
            autosaves: blocking(move || slot.autosaves()).await?,
        })
    }

    pub(crate) async fn graph_restore(self: &Arc<Self>, request: RestoreGraph) -> Result<GraphView, Problem> {
        let open = self.document(&request.graph_id)?;
        let (slot, current) = {
            let state = lock(&open.state);
            (state.slot.clone(), state.document.to_text())
        };
        let id = request.autosave_id.clone();
        let text = blocking(move || {
            let text = slot.read_copy(&id);
            if text.is_some() {
                // The way back from going back.
                let _ = slot.keep(&current, true);
            }
            text
        })
        .await?
        .ok_or_else(|| {
            Problem::not_found("That earlier version is not there any more.")
                .remedy("Choose another version.")
        })?;
        self.change(&open, None, |document| {
            let (restored, _) = Document::parse(&text);
            if restored.source().is_some() {
                return Err(
                    Problem::new("unreadable-file", "That earlier version is not a graph.")
                        .remedy("Choose another version."),
                );
            }
            *document = restored;
            Ok(())
        })?;
        Ok(open.view())
    }

    /// The document that a thread ran: open, in its file, or a draft in the autosave folder.
    pub(crate) fn source_by_key(&self, key: &str) -> Result<Source, Problem> {
        let key = self.ledger.followed(key)?;
        if let Some(open) = self.documents.by_key(&key) {
            return Ok(open.source());
        }
        if key.starts_with("draft-") {
            let unsaved = Slot::of_draft(&self.autosave_dir(), &key)
                .read_unsaved()
                .ok_or_else(|| {
                    Problem::not_found("The thread ran a draft that was thrown away.")
                        .remedy("Open another graph and run the thread with it.")
                })?;
            let (document, _) = Document::parse(&unsaved.text);
            let name = name_of(&document, None);
            let version = format!("{:?}", Fingerprint::of(&unsaved.text));
            return Ok(Source {
                document,
                path: None,
                name,
                key,
                version,
            });
        }
        let path = PathBuf::from(&key);
        let text = read_text(&path)?.ok_or_else(|| {
            Problem::not_found(format!(
                "The thread's graph {} is not there any more.",
                path.display()
            ))
            .remedy("Put the file back, or open a graph and run the thread with it.")
        })?;
        let (document, _) = Document::parse(&text);
        let name = name_of(&document, Some(&path));
        let version = format!("{:?}", Fingerprint::of(&text));
        Ok(Source {
            document,
            name,
            path: Some(path),
            key,
            version,
        })
    }
}

async fn autosave_later(workbench: Weak<Workbench>, open: Weak<Open>, due: Duration, before: Option<String>) {
    tokio::time::sleep(due).await;
    let (Some(workbench), Some(open)) = (workbench.upgrade(), open.upgrade()) else {
        return;
    };
    if let Err(problem) = workbench.autosave(&open, before).await {
        tracing::error!(graph = open.id, %problem, "unsaved changes could not be kept; the next change tries again");
    }
}

fn new_id(kind: &str) -> String {
    format!("{kind}-{}", uuid::Uuid::now_v7().simple())
}
