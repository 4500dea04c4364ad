//! How what was changed is kept: autosaves, saving, closing, earlier versions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::opening::{graph_file, of_file, read_text};
use super::{DocumentState, OpenDocument};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};
use crate::base::instance::Instance;
use crate::documents::autosave::AutosaveSlot;
use crate::session::name_of;
use crate::wire::{CloseGraph, Empty, Problem, SaveGraph, Saved};
use superstep_document::{Text, text};
use superstep_nodes::document_hash;

/// Returns where a graph is saved: under the given name, else where it was.
fn saved_to(named: Option<&str>, old: Option<&Path>) -> Result<PathBuf, Problem> {
    match (named, old) {
        (Some(path), _) => {
            let mut path = graph_file(path)?;
            if path.extension().is_none() {
                path.set_extension("json");
            }
            Ok(path)
        }
        (None, Some(path)) => Ok(path.to_owned()),
        (None, None) => Err(Problem::new("path-needed", text!("The graph has no file yet."))
            .remedy(text!("Choose where to save it."))),
    }
}

/// How often a save is tried again that another program was in the way of.
const MAX_RACES: usize = 3;

/// A graph's text on its way to its file, and the copies that are kept beside.
struct NewFile {
    target: PathBuf,
    text: String,
    fingerprint: Fingerprint,
    /// What the file held when it was read or written last.
    disk: Option<Fingerprint>,
    /// The text as it was opened, unless it is among the copies already.
    before: Option<String>,
    overwrite: bool,
    /// What the file may hold besides: somebody saw it, and its changes are in the text.
    seen: Option<String>,
    /// The file is the one that the graph has had.
    same_place: bool,
    /// The graph has had no file.
    drafted: bool,
    slot: AutosaveSlot,
    old_slot: AutosaveSlot,
    graph_id: String,
    instance: Arc<Instance>,
}

impl NewFile {
    /// Writes the file, unless it holds what nobody here has seen.
    fn write(&self) -> Result<(), Problem> {
        let mut written = self.write_once()?;
        // It was written by somebody else in the same moment; that is looked at as what was there before is.
        for _ in 0..MAX_RACES {
            if written {
                break;
            }
            written = self.write_once()?;
        }
        if !written {
            return Err(self.is_other());
        }
        if !self.same_place {
            self.slot.adopt(&self.old_slot);
        }
        // The user's file is written; what follows is housekeeping that must not make the save look failed.
        let _ = self.slot.keep(&self.text);
        if self.drafted {
            let _ = self.old_slot.remove();
        } else if !self.same_place {
            let _ = self.old_slot.clear_unsaved(&self.graph_id, &self.instance);
            // They lead to what is now in the other file.
            let _ = self.old_slot.clear_steps();
        }
        Ok(())
    }

    /// Writes the file. Returns `false`, and leaves it alone, when another program wrote it meanwhile.
    fn write_once(&self) -> Result<bool, Problem> {
        let (there, is_readable) = match read_text(&self.target) {
            Err(problem) if !self.overwrite => return Err(problem),
            Ok(there) => (there, true),
            Err(_) => (None, false),
        };
        if let Some(there) = &there {
            let found = Fingerprint::of(there);
            let known = found == self.fingerprint || (self.same_place && self.disk.as_ref() == Some(&found));
            let seen = self.seen.as_deref() == Some(found.as_str());
            if !known && !seen && !self.overwrite {
                return Err(self.is_other());
            }
            // What nobody here has read is written over only when it can be gone back to.
            if !known {
                (self.slot.keep(there))
                    .map_err(|e| Problem::at(text!("copy to"), text!("the data folder"), &e))?;
            }
        }
        // The autosave of the first change would have kept it; the save came before.
        if let Some(before) = &self.before {
            let _ = self.old_slot.keep(before);
        }
        let bytes = self.text.as_bytes();
        match is_readable {
            true => files::write_over(&self.target, bytes, there.as_deref().map(str::as_bytes)),
            false => files::write_atomic(&self.target, bytes).map(|()| true),
        }
        .map_err(|e| Problem::file(text!("save"), &self.target, &e))
    }

    /// Builds the problem of a file that holds what nobody here has seen.
    fn is_other(&self) -> Problem {
        let path = self.target.display().to_string();
        if self.same_place {
            Problem::new("changed-on-disk", text!("{path} was changed outside since it was opened.", path))
                .remedy(text!("Save under another name, or write over it: the version on disk is kept among the earlier versions."))
        } else {
            Problem::new("file-exists", text!("{path} already exists.", path))
                .remedy(text!("Choose another name, or write over it."))
        }
    }
}

/// Refuses a document of which there is nothing to save: of no graph only the text is, and of marks that nobody has
/// resolved nothing.
fn refuse_unsavable(state: &DocumentState) -> Result<(), Problem> {
    match state.text().is_some() || state.document.is_graph() {
        true => Ok(()),
        false => Err(Problem::new(
            "unreadable-file",
            text!("The file is not a graph, so there is nothing to save over it."),
        )
        .remedy(text!("Correct the file in a text editor, or make a new graph."))),
    }
}

fn open_elsewhere(path: &Path, id: &str) -> Text {
    let path = path.display().to_string();
    text!("{path} is open as another graph ({id}).", path, id)
}

impl Workbench {
    /// Writes what is not saved to the autosave folder.
    pub(super) async fn autosave(self: &Arc<Self>, open: &Arc<OpenDocument>) -> Result<(), Problem> {
        let _io = open.io.lock().await;
        let (unsaved, slot, rev, before) = {
            let mut state = open.state.lock();
            state.timer = false;
            if state.closed || state.rev == state.saved_rev || state.rev == state.autosaved_rev {
                return Ok(());
            }
            (
                state.unsaved(&open.id, self.instance.id()),
                state.slot.clone(),
                state.rev,
                state.before.clone(),
            )
        };
        let instance = self.instance.clone();
        let written = blocking(move || {
            slot.write_unsaved(&unsaved, &instance)
                .map_err(|e| Problem::at(text!("autosave to"), text!("the data folder"), &e))?;
            if let Some(before) = before {
                slot.keep(&before)
                    .map_err(|e| Problem::at(text!("copy to"), text!("the data folder"), &e))?;
            }
            slot.keep_unless_recent(&unsaved.text)
                .map_err(|e| Problem::at(text!("copy to"), text!("the data folder"), &e))
        })
        .await?;
        let changed = {
            let mut state = open.state.lock();
            state.last_autosave = Some(Instant::now());
            if written.is_ok() {
                state.autosaved_rev = rev;
                state.before = None;
            }
            let failed = written.as_ref().err().cloned();
            let changed = failed.is_some() != state.unkept.is_some();
            state.unkept = failed;
            changed.then(|| (state.rev, state.shown()))
        };
        if let Some((rev, found)) = changed {
            self.hub.publish(found.event(&open.id, rev));
        }
        written
    }

    /// Writes all unsaved changes now.
    pub(crate) async fn autosave_all(self: &Arc<Self>) {
        for open in self.documents.all() {
            if let Err(problem) = self.autosave(&open).await {
                tracing::error!(graph = open.id, %problem, "unsaved changes could not be kept");
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "the steps of saving, in their order")]
    pub(crate) async fn graph_save(self: &Arc<Self>, request: SaveGraph) -> Result<Saved, Problem> {
        let open = self.document(&request.graph_id)?;
        open.refuse_seen()?;
        let _io = open.io.lock().await;
        let (text, hash, rev, old_path, disk, old_slot, before) = {
            let state = open.state.lock();
            refuse_unsavable(&state)?;
            (
                // What nobody has changed is not written in another way either.
                match state.rev == state.saved_rev {
                    true => state.text_as_read(),
                    false => state.document.file_text(),
                },
                document_hash(&state.document),
                state.rev,
                state.path.clone(),
                state.disk.clone(),
                state.slot.clone(),
                state.before.clone(),
            )
        };
        let path = saved_to(request.path.as_deref(), old_path.as_deref())?;
        let same_place = old_path.as_deref() == Some(path.as_path());
        if !same_place && let Some(other) = self.documents.at_path(&path) {
            return Err(Problem::new("file-open", open_elsewhere(&path, &other.id))
                .remedy(text!("Choose another name, or close that graph first.")));
        }
        let slot = if same_place {
            old_slot.clone()
        } else {
            AutosaveSlot::of_path(&self.autosave_dir(), &path)
        };
        let fingerprint = Fingerprint::of(&text);
        let file = NewFile {
            target: path.clone(),
            text,
            fingerprint: fingerprint.clone(),
            disk,
            before,
            overwrite: request.overwrite,
            seen: request.seen,
            same_place,
            drafted: old_path.is_none(),
            slot: slot.clone(),
            old_slot,
            graph_id: open.id.clone(),
            instance: self.instance.clone(),
        };
        // What was no graph may have become one.
        let (read_again, written) = blocking(move || {
            let read_again = of_file(&file.text);
            file.write().map(|()| (read_again, file.text))
        })
        .await??;
        let (name, clean) = {
            let mut state = open.state.lock();
            state.path = Some(path.clone());
            state.slot = slot.clone();
            state.disk = Some(fingerprint);
            state.file = Default::default();
            state.disk_hash = Some(hash);
            state.saved_rev = rev;
            state.as_read = (state.rev == rev).then_some(written);
            state.before = None;
            if state.document.source().is_some() && state.rev == rev {
                (state.document, state.of_text) = read_again;
            } else {
                state.of_text.clear();
            }
            state.recovered_at = None;
            (name_of(&state.document, Some(&path)), state.rev == rev)
        };
        // Elsewhere a folder that nodes name may be missing. The file is written, whatever comes of this.
        let _ = self.check_open(&open).await;
        if clean {
            let (graph_id, instance) = (open.id.clone(), self.instance.clone());
            let _ = blocking(move || slot.clear_unsaved(&graph_id, &instance)).await;
        }
        self.follow_file(&open.id, old_path.as_deref(), &path)?;
        self.preferences.opened(&path, &name);
        self.documents.watch.wake();
        Ok(Saved {
            path: path.to_string_lossy().into_owned(),
            saved_rev: rev,
        })
    }

    /// Lets what is kept with a graph's file follow it to the path at which it was saved.
    fn follow_file(&self, graph: &str, from: Option<&Path>, to: &Path) -> Result<(), Problem> {
        match from {
            None => self.ledger.moved(graph, &to.to_string_lossy()),
            Some(from) if from != to => self
                .ledger
                .copy_breakpoints(&from.to_string_lossy(), &to.to_string_lossy()),
            Some(_) => Ok(()),
        }
    }

    pub(crate) async fn graph_close(self: &Arc<Self>, request: CloseGraph) -> Result<Empty, Problem> {
        let open = self.document(&request.graph_id)?;
        if request.discard {
            let _io = open.io.lock().await;
            let (slot, draft) = {
                let mut state = open.state.lock();
                state.closed = true;
                (state.slot.clone(), state.path.is_none())
            };
            let (graph_id, instance) = (open.id.clone(), self.instance.clone());
            blocking(move || {
                if draft {
                    slot.remove()
                } else {
                    let _ = slot.clear_steps();
                    slot.clear_unsaved(&graph_id, &instance)
                }
            })
            .await?
            .map_err(|e| {
                Problem::at(
                    text!("forget the unsaved changes in"),
                    text!("the data folder"),
                    &e,
                )
            })?;
        } else {
            self.autosave(&open).await?;
        }
        self.documents.remove(&open.id);
        self.documents.watch.wake();
        Ok(Empty {})
    }
}

pub(super) async fn autosave_later(workbench: Weak<Workbench>, open: Weak<OpenDocument>, due: Duration) {
    tokio::time::sleep(due).await;
    let (Some(workbench), Some(open)) = (workbench.upgrade(), open.upgrade()) else {
        return;
    };
    if let Err(problem) = workbench.autosave(&open).await {
        tracing::error!(graph = open.id, %problem, "unsaved changes could not be kept; the next change tries again");
    }
}
