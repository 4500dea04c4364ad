//! How a document comes to be open: new, from its file, from what was not saved; and which one a thread ran.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use superstep_document::{Diagnostic, Document};

use super::conflict;
use super::{DocumentState, GraphSource, OpenDocument, records};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};
use crate::documents::autosave::{AutosaveSlot, Unsaved};
use crate::session::name_of;
use crate::wire::{
    Applied, GraphRef, GraphView, InsideView, NewGraph, NodeRef, OpenGraph, Problem, ReadInside, WriteText,
};
use superstep_document::text;
use superstep_nodes::document_hash;

impl Workbench {
    /// Brings back the drafts of sessions that are over.
    pub(crate) fn restore_drafts(&self) {
        let root = self.autosave_dir();
        let mut drafts: Vec<(AutosaveSlot, Unsaved)> = AutosaveSlot::all(&root)
            .into_iter()
            .filter_map(|slot| Some((slot.clone(), slot.left_unsaved(&self.instance)?)))
            .filter(|(_, unsaved)| unsaved.path.is_none())
            .collect();
        drafts.sort_by(|a, b| a.1.graph_id.cmp(&b.1.graph_id));
        for (slot, unsaved) in drafts {
            self.documents.add(self.recovered(slot, unsaved, None));
        }
    }

    /// Creates an open document from unsaved changes.
    fn recovered(
        &self,
        slot: AutosaveSlot,
        unsaved: Unsaved,
        file: Option<(PathBuf, Option<&str>)>,
    ) -> Arc<OpenDocument> {
        let (document, of_text) = of_file(&unsaved.text);
        let (path, disk) = file.unzip();
        let disk_hash = disk
            .flatten()
            .filter(|text| unsaved.base.as_ref() == Some(&Fingerprint::of(text)))
            .map(|text| document_hash(&Document::parse(text).0));
        let is_draft = path.is_none();
        let id = if is_draft {
            unsaved.graph_id
        } else {
            new_id("graph")
        };
        self.new_open(
            id,
            DocumentState {
                path,
                rev: 1,
                // Those of a file are kept again, as changes of this program.
                autosaved_rev: u32::from(is_draft),
                disk: unsaved.base,
                disk_hash,
                of_text,
                recovered_at: Some(unsaved.saved_at),
                ..DocumentState::new(document, slot)
            },
        )
    }

    pub(crate) async fn graph_new(self: &Arc<Self>, request: NewGraph) -> Result<GraphView, Problem> {
        let name = match request.name.trim() {
            "" => "Untitled",
            name => name,
        };
        let begun = match (&request.text, &request.inside) {
            (Some(text), _) => Some(of_text(text)?),
            (None, Some(node)) => Some((self.inside(node)?, Vec::new())),
            (None, None) => None,
        };
        // A draft with something in it is kept from the beginning.
        let rev = u32::from(begun.is_some());
        let (document, of_text) = begun.unwrap_or_else(|| (Document::new(name), Vec::new()));
        let id = new_id("draft");
        let slot = AutosaveSlot::of_draft(&self.autosave_dir(), &id);
        let state = DocumentState {
            rev,
            of_text,
            ..DocumentState::new(document, slot)
        };
        let this = self.clone();
        let open = blocking(move || this.new_open(id, state)).await?;
        self.documents.add(open.clone());
        self.autosave(&open).await?;
        Ok(open.view())
    }

    /// Returns the graph that a node is inside.
    fn inside(&self, at: &NodeRef) -> Result<Document, Problem> {
        let source = self.document(&at.graph_id)?.source();
        self.registry.inside(&source.document, &at.node).ok_or_else(|| {
            Problem::not_found(text!(
                "Node {node} has no graph inside that could be opened.",
                node = &at.node
            ))
            .remedy(text!(
                "Only nodes whose kind draws a graph from its settings have one; correct the settings first."
            ))
        })
    }

    pub(crate) async fn graph_inside(self: &Arc<Self>, request: ReadInside) -> Result<InsideView, Problem> {
        let open = self.document(&request.graph_id)?;
        if let Some(document) = self.seen_within(&open, &request.path) {
            return Ok(InsideView {
                name: name_of(&document, None),
                path: None,
                records: records(&document),
            });
        }
        self.inside_of(open.source(), request.path).await
    }

    /// Reads the graph that a node of this graph runs, to look at.
    pub(crate) async fn inside_of(
        self: &Arc<Self>,
        source: GraphSource,
        path: Vec<String>,
    ) -> Result<InsideView, Problem> {
        let names = path.join(" › ");
        let found = self.run_within(source, path).await?;
        let (document, file) = found.ok_or_else(|| {
            Problem::not_found(text!("Node {names} runs no graph that could be shown.", names))
                .remedy(text!("Correct the graph that it names in its settings."))
        })?;
        Ok(InsideView {
            name: name_of(&document, file.as_deref()),
            path: file.map(|file| file.display().to_string()),
            records: records(&document),
        })
    }

    /// Reads the graph that the last node of a path runs, and its file, as this version of the graph around it has them.
    pub(crate) async fn run_within(
        self: &Arc<Self>,
        source: GraphSource,
        path: Vec<String>,
    ) -> Result<Option<(Document, Option<PathBuf>)>, Problem> {
        let this = self.clone();
        blocking(move || {
            let folder = source.path.as_deref().and_then(Path::parent);
            let environment = source.within(this.environment(folder.map(Path::to_path_buf)));
            this.registry.run_by(&source.document, &environment, &path)
        })
        .await
    }

    pub(crate) async fn graph_open(self: &Arc<Self>, request: OpenGraph) -> Result<GraphView, Problem> {
        if let Some(view) = self.open_seen(&request.path, request.work).await? {
            return Ok(view);
        }
        let this = self.clone();
        // One opening at a time, so that a path asked for twice at once is opened once.
        let _opening = self.documents.opening.lock().await;
        let path = blocking(move || graph_file(&request.path)).await??;
        if let Some(open) = self.documents.at_path(&path) {
            self.look_at_file(&open, true).await;
        }
        let view = blocking(move || this.open_path(&path)).await??;
        self.documents.watch.wake();
        // What a program left that is gone would be a mere version as soon as another one saves.
        if view.recovered_at.is_some()
            && let Some(open) = self.documents.get(&view.graph_id)
        {
            // When that fails, it is shown among the problems.
            let _ = self.autosave(&open).await;
        }
        Ok(view)
    }

    fn open_path(&self, path: &Path) -> Result<GraphView, Problem> {
        if let Some(open) = self.documents.at_path(path) {
            let view = open.view();
            self.preferences.opened(path, &view.name);
            return Ok(view);
        }
        let slot = AutosaveSlot::of_path(&self.autosave_dir(), path);
        let text = read_text(path)?;
        let unsaved = slot.left_unsaved(&self.instance);
        let unsaved = unsaved.filter(|unsaved| Some(&unsaved.text) != text.as_ref());
        let open = match (text, unsaved) {
            // A file that is gone but has unsaved changes can be brought back whole.
            (text, Some(unsaved)) => {
                self.recovered(slot, unsaved, Some((path.to_path_buf(), text.as_deref())))
            }
            (None, None) => {
                let missing = io::Error::from(io::ErrorKind::NotFound);
                return Err(Problem::file(text!("open"), path, &missing));
            }
            (Some(text), None) => {
                let (document, of_text) = of_file(&text);
                let disk_hash = Some(document_hash(&document));
                self.new_open(
                    new_id("graph"),
                    DocumentState {
                        path: Some(path.to_path_buf()),
                        disk: Some(Fingerprint::of(&text)),
                        disk_hash,
                        of_text,
                        as_read: Some(text),
                        ..DocumentState::new(document, slot)
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
            let slot = AutosaveSlot::of_draft(&self.autosave_dir(), &request.graph_id);
            if let Some(unsaved) = slot.read_unsaved().filter(|u| u.graph_id == request.graph_id) {
                self.documents.add(self.recovered(slot, unsaved, None));
            }
        }
        if self.documents.get(&request.graph_id).is_none()
            && let Some(view) = self.seen_again(&request.graph_id).await?
        {
            return Ok(view);
        }
        let open = self.document(&request.graph_id)?;
        // A window that comes to the front asks.
        self.look_at_file(&open, true).await;
        Ok(open.view())
    }

    /// Takes the file's graph in place of the open one, which is then saved. What it replaces is kept as a version.
    pub(crate) async fn graph_revert(self: &Arc<Self>, request: GraphRef) -> Result<GraphView, Problem> {
        let open = self.document(&request.graph_id)?;
        let _io = open.io.lock().await;
        let (path, slot, current) = {
            let state = open.state.lock();
            (state.path.clone(), state.slot.clone(), state.text_as_read())
        };
        let path = path.ok_or_else(|| {
            Problem::new("path-needed", text!("The graph has no file yet."))
                .remedy(text!("Choose where to save it."))
        })?;
        let (graph_id, instance) = (open.id.clone(), self.instance.clone());
        let text = blocking(move || {
            let text = read_text(&path)?.ok_or_else(|| {
                Problem::file(text!("open"), &path, &io::Error::from(io::ErrorKind::NotFound))
            })?;
            let kept = slot
                .keep(&current)
                .and_then(|()| slot.clear_unsaved(&graph_id, &instance));
            kept.map_err(|e| Problem::at(text!("copy to"), text!("the data folder"), &e))?;
            Ok::<_, Problem>(text)
        })
        .await??;
        open.state.lock().take_file(text);
        self.check_open(&open).await?;
        Ok(open.view())
    }

    /// Takes over the text that a person made of a file that is no graph. It is one when it is saved.
    pub(crate) async fn graph_write_text(self: &Arc<Self>, request: WriteText) -> Result<Applied, Problem> {
        let open = self.document(&request.graph_id)?;
        if request.text.len() as u64 > superstep_nodes::files::MAX_GRAPH {
            return Err(Problem::invalid(text!("The text is larger than 64 MB."))
                .remedy(text!("Shorten it, or edit the file in another program.")));
        }
        let text = request.text;
        let (_, of_text) = blocking({
            let text = text.clone();
            move || of_file(&text)
        })
        .await?;
        self.change(&open, Some(request.base_rev), |state| {
            if state.document.source().is_none() {
                return Err(Problem::new(
                    "conflict",
                    text!("The file is a graph, which has no text of its own here."),
                )
                .remedy(text!("The graph is loaded again; repeat the edit.")));
            }
            state.document = Document::text_only(&text);
            state.of_text = of_text;
            Ok(())
        })
        .await
    }

    /// Returns the document that a thread ran: open, in its file, or a draft in the autosave folder.
    pub(crate) fn source_by_key(&self, key: &str) -> Result<GraphSource, Problem> {
        let key = self.ledger.followed(key)?;
        if let Some(open) = self.documents.by_key(&key) {
            return Ok(open.source());
        }
        if key.starts_with("draft-") {
            let unsaved = AutosaveSlot::of_draft(&self.autosave_dir(), &key)
                .read_unsaved()
                .ok_or_else(|| {
                    Problem::not_found(text!("The thread ran a draft that was thrown away."))
                        .remedy(text!("Open another graph and run the thread with it."))
                })?;
            let (document, _) = Document::parse(&unsaved.text);
            let name = name_of(&document, None);
            let version = format!("{:?}", Fingerprint::of(&unsaved.text));
            return Ok(GraphSource {
                document,
                path: None,
                name,
                key,
                version,
                earlier: None,
            });
        }
        let path = PathBuf::from(&key);
        let text = read_text(&path)?.ok_or_else(|| {
            Problem::not_found(text!(
                "The thread's graph {path} is not there any more.",
                path = path.display().to_string()
            ))
            .remedy(text!(
                "Put the file back, or open a graph and run the thread with it."
            ))
        })?;
        let (document, _) = of_file(&text);
        let name = name_of(&document, Some(&path));
        let version = format!("{:?}", Fingerprint::of(&text));
        Ok(GraphSource {
            document,
            name,
            path: Some(path),
            key,
            version,
            earlier: None,
        })
    }
}

/// Parses the text of a graph file, with the problems that only the text shows; conflict marks are the one that counts. Of
/// a file that is no graph the text is all there is.
pub(super) fn of_file(text: &str) -> (Document, Vec<Diagnostic>) {
    let (document, of_text) = Document::parse(text);
    if let Some(conflict) = conflict::diagnostic(&document) {
        return (document, vec![conflict]);
    }
    if document.source().is_some() || document.is_graph() {
        return (document, of_text);
    }
    let other = Diagnostic::error(
        "not-a-graph",
        "doc",
        text!("The file is JSON, and no graph: it has no `format` of Superstep and no nodes by their names."),
        text!("Open another file, or write a graph in its place. Nothing else is written over it."),
    );
    (Document::text_only(text), vec![other])
}

/// Parses a graph that came as text and has no file to return to: what cannot be read as one is refused, other problems
/// are reported.
fn of_text(text: &str) -> Result<(Document, Vec<Diagnostic>), Problem> {
    if text.len() as u64 > superstep_nodes::files::MAX_GRAPH {
        return Err(
            Problem::invalid("The graph is larger than 64 MB.").remedy("Split it into nested graphs.")
        );
    }
    let (document, diagnostics) = Document::parse(text);
    match diagnostics
        .iter()
        .find(|found| matches!(found.code, "not-json" | "not-an-object"))
    {
        Some(found) => Err(Problem::invalid(found.message.clone())
            .remedy("Only the JSON text of a graph file can be opened as a graph.")),
        None => Ok((document, diagnostics)),
    }
}

/// Returns the canonical path of a graph: the file itself for a folder, links resolved where the file exists.
pub(super) fn graph_file(path: &str) -> Result<PathBuf, Problem> {
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

/// Reads a graph's text; `None` when there is no file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, Problem> {
    match superstep_nodes::files::read_text(path, superstep_nodes::files::MAX_GRAPH) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::file(text!("read"), path, &error)),
    }
}

fn new_id(kind: &str) -> String {
    format!("{kind}-{}", uuid::Uuid::now_v7().simple())
}
