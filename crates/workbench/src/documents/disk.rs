//! The file of an open graph after another program wrote it: what it holds, and the graph that both began with.

use std::sync::Arc;

use superstep_document::{Document, text};
use superstep_nodes::document_hash;

use super::opening::{of_file, read_text};
use super::records;
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::Fingerprint;
use crate::documents::autosave::AutosaveSlot;
use crate::wire::{DiskVersion, GraphRef, Problem, Record};

/// Returns the graph of a text; `None` when it holds none.
fn graph_of(text: &str) -> Option<Vec<Record>> {
    let (document, _) = of_file(text);
    document.source().is_none().then(|| records(&document))
}

/// Finds the text of a graph by its hash: it is kept with the document, or among its copies.
fn text_of(hash: &str, before: Option<String>, slot: &AutosaveSlot) -> Option<String> {
    if let Some(text) = before
        && document_hash(&Document::parse(&text).0) == hash
    {
        return Some(text);
    }
    let mut copies = slot.copies().into_iter();
    let copy = copies.find(|copy| copy.hash.as_deref() == Some(hash))?;
    slot.read_copy(&copy.id())
}

impl Workbench {
    /// Reads the file of an open graph as it is now. The open graph does not change.
    pub(crate) async fn graph_disk(self: &Arc<Self>, request: GraphRef) -> Result<DiskVersion, Problem> {
        let open = self.document(&request.graph_id)?;
        let _io = open.io.lock().await;
        let (path, hash, slot, before) = {
            let state = open.state.lock();
            (
                state.path.clone(),
                state.disk_hash.clone(),
                state.slot.clone(),
                state.before.clone(),
            )
        };
        let path = path.ok_or_else(|| {
            Problem::new("path-needed", text!("The graph has no file yet."))
                .remedy(text!("Choose where to save it."))
        })?;
        blocking(move || {
            let shown = || path.display().to_string();
            let text = read_text(&path)?.ok_or_else(|| {
                Problem::not_found(text!("{path} does not exist any more.", path = shown()))
                    .remedy(text!("Save the graph to write it again."))
            })?;
            let records = graph_of(&text).ok_or_else(|| {
                Problem::new("unreadable-file", text!("{path} is no graph any more.", path = shown()))
                    .remedy(text!("Save under another name, or write over it: the version on disk is kept among the earlier versions."))
            })?;
            let base = hash.and_then(|hash| text_of(&hash, before, &slot));
            Ok(DiskVersion {
                seen: Fingerprint::of(&text).as_str().to_owned(),
                records,
                base: base.as_deref().and_then(graph_of),
            })
        })
        .await?
    }
}
