//! Replacing texts in graphs. Of an open document the patch is made, which the window applies as a step that undo takes
//! back; a file that is not open is written, with the same care as a save: never over what was not searched, whole or
//! not at all, and with the text before it among the earlier versions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use superstep_document::{Document, Patch, PatchOp};

use super::autosave::AutosaveSlot;
use super::find::{fingerprint_of, version_of};
use super::name_of;
use super::opening::{graph_file, of_file, read_text};
use super::texts::{self, Pattern, TextPlace};
use crate::Workbench;
use crate::base::{blocking, files};
use crate::wire::{
    self, Json, MatchPlace, Problem, ReplaceIn, ReplaceText, ReplacedFile, SkippedFile, TextReplaced,
};
use superstep_document::text;

impl Workbench {
    pub(crate) async fn project_replace(
        self: &Arc<Self>,
        request: ReplaceText,
    ) -> Result<TextReplaced, Problem> {
        let pattern = Pattern::new(&request.query)?;
        let this = self.clone();
        // A file that is opened meanwhile would be read before and shown after it was written.
        let _opening = self.documents.opening.lock().await;
        blocking(move || {
            let job = this.job(request.work.clone());
            let mut answer = TextReplaced::default();
            let total = request.files.len() as u64;
            for (done, one) in (0u64..).zip(&request.files) {
                if !job.at(done, total) {
                    answer.cancelled = true;
                    break;
                }
                match this.replace_in(one, &pattern, &request.replacement) {
                    Ok(Some(file)) => answer.files.push(file),
                    Ok(None) => {}
                    Err(problem) => answer.skipped.push(SkippedFile {
                        path: one
                            .path
                            .clone()
                            .or_else(|| one.graph_id.clone())
                            .unwrap_or_default(),
                        problem,
                    }),
                }
            }
            answer
        })
        .await
    }

    fn replace_in(
        &self,
        one: &ReplaceIn,
        pattern: &Pattern,
        replacement: &str,
    ) -> Result<Option<ReplacedFile>, Problem> {
        let path = match &one.path {
            Some(path) => Some(graph_file(path)?),
            None => None,
        };
        let open = match (&one.graph_id, &path) {
            (Some(id), _) => Some(self.document(id)?),
            (None, Some(path)) => self.documents.at_path(path),
            (None, None) => {
                return Err(Problem::invalid(text!(
                    "A graph to replace in has neither an id nor a path."
                )));
            }
        };
        if let Some(open) = open {
            let (document, path, rev) = open.searched();
            if version_of(rev) != one.version {
                return Err(changed(&name_of(&document, path.as_deref())));
            }
            let (ops, matches) = ops_for(&document, pattern, replacement, one.only.as_deref());
            return Ok((matches > 0).then(|| ReplacedFile {
                path: path.as_ref().map(|path| path.to_string_lossy().into_owned()),
                graph_id: Some(open.id.clone()),
                name: name_of(&document, path.as_deref()),
                matches,
                ops: ops.into_iter().map(wire_op).collect(),
                rev,
            }));
        }
        let Some(path) = path else { return Ok(None) };
        self.replace_in_file(&path, one, pattern, replacement)
    }

    fn replace_in_file(
        &self,
        path: &Path,
        one: &ReplaceIn,
        pattern: &Pattern,
        replacement: &str,
    ) -> Result<Option<ReplacedFile>, Problem> {
        let shown = path.display().to_string();
        let text = read_text(path)?.ok_or_else(|| changed(&shown))?;
        if fingerprint_of(&text) != one.version {
            return Err(changed(&shown));
        }
        let slot = AutosaveSlot::of_path(&self.autosave_dir(), path);
        if slot.read_unsaved().is_some_and(|unsaved| unsaved.text != text) {
            return Err(Problem::new(
                "unsaved-changes",
                text!("{shown} has changes that are not in the file.", shown),
            )
            .remedy(text!("Open it, save or discard them, and replace again.")));
        }
        let (mut document, problems) = of_file(&text);
        if document.source().is_some() || !problems.is_empty() {
            return Err(Problem::new(
                "unreadable-file",
                text!(
                    "{shown} cannot be read as a graph without losing something.",
                    shown
                ),
            )
            .remedy(text!("Open it and see its problems.")));
        }
        let (ops, matches) = ops_for(&document, pattern, replacement, one.only.as_deref());
        if matches == 0 {
            return Ok(None);
        }
        document
            .apply(&Patch { ops })
            .map_err(|error| Problem::new(error.code(), error.to_string()).remedy(text!("Search again.")))?;
        slot.keep(&text)
            .map_err(|e| Problem::at(text!("copy to"), text!("the data folder"), &e))?;
        let made = document.file_text();
        files::write_atomic(path, made.as_bytes()).map_err(|e| Problem::file(text!("save"), path, &e))?;
        let _ = slot.keep(&made);
        Ok(Some(ReplacedFile {
            path: Some(path.to_string_lossy().into_owned()),
            graph_id: None,
            name: name_of(&document, Some(path)),
            matches,
            ops: Vec::new(),
            rev: 0,
        }))
    }
}

fn changed(what: &str) -> Problem {
    Problem::new("conflict", text!("{what} has changed since the search.", what))
        .remedy(text!("Search again."))
}

fn wire_op(op: PatchOp) -> wire::PatchOp {
    wire::PatchOp {
        id: op.id,
        from: op.from,
        to: op.to,
        at: op.at.and_then(|at| u32::try_from(at).ok()),
    }
}

/// Builds the patch that replaces matches, and counts the replacements. Names stay: others refer to them.
fn ops_for(
    document: &Document,
    pattern: &Pattern,
    replacement: &str,
    only: Option<&[MatchPlace]>,
) -> (Vec<PatchOp>, u32) {
    let mut changed: BTreeMap<String, Json> = BTreeMap::new();
    let mut order = Vec::new();
    let mut matches = 0;
    texts::visit(document, &mut |text| {
        let TextPlace::Value(pointer) = &text.place else {
            return true;
        };
        let wanted = |index: u32| {
            only.is_none_or(|only| {
                only.iter().any(|place| {
                    place.index == index && place.record == text.record && place.pointer == *pointer
                })
            })
        };
        let Some((made, count)) = pattern.replace(text.text, replacement, wanted) else {
            return true;
        };
        let Some(before) = document.record(text.record) else {
            return true;
        };
        let record = changed.entry(text.record.to_owned()).or_insert_with(|| {
            order.push(text.record.to_owned());
            before.clone()
        });
        if let Some(place) = record.pointer_mut(pointer) {
            *place = Json::String(made);
            matches += count;
        }
        true
    });
    let ops = order.into_iter().filter_map(|id| {
        Some(PatchOp {
            from: document.record(&id)?.clone(),
            to: changed.remove(&id)?,
            id,
            at: None,
        })
    });
    (ops.collect(), matches)
}
