//! Files of open graphs that other programs write: looked at several times a second while somebody listens, and before every
//! run. A graph without changes of its own is read again; one with changes says so, and saving joins them.

use std::sync::Arc;

use superstep_nodes::document_hash;

use super::opening::{of_file, read_text};
use super::{DocumentState, OpenDocument};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{self, Fingerprint};

impl DocumentState {
    /// Takes what the file holds; the document is a saved one then.
    pub(super) fn take_file(&mut self, text: &str) {
        let (document, of_text) = of_file(text);
        self.disk = Some(Fingerprint::of(text));
        self.disk_hash = Some(document_hash(&document));
        self.document = document;
        self.of_text = of_text;
        self.rev += 1;
        self.saved_rev = self.rev;
        self.before = None;
        self.recovered_at = None;
        self.file.is_other = false;
    }
}

impl OpenDocument {
    /// Returns whether the file is to be read. Without `at_once` it must have stood still since the look before.
    fn has_other_file(&self, at_once: bool) -> bool {
        let Some(path) = self.state.lock().path.clone() else {
            return false;
        };
        // A file that is gone is written again by saving.
        let Some(now) = files::stamp(&path) else {
            return false;
        };
        let mut state = self.state.lock();
        if state.path.as_ref() != Some(&path) || state.file.known == Some(now) {
            return false;
        }
        let stands = at_once || state.file.coming == Some(now);
        state.file.coming = Some(now);
        stands
    }

    /// Reads the file again when it holds what nobody here has seen. Returns whether anything that is shown is other now.
    fn read_other_file(&self) -> bool {
        let (path, slot) = {
            let state = self.state.lock();
            (state.path.clone(), state.slot.clone())
        };
        let Some(path) = path else { return false };
        let stamp = files::stamp(&path);
        // What cannot be read is said when it is saved.
        let Ok(Some(text)) = read_text(&path) else {
            return false;
        };
        let found = Fingerprint::of(&text);
        let kept = {
            let state = self.state.lock();
            if state.path.as_ref() != Some(&path) || state.closed {
                return false;
            }
            (state.rev == state.saved_rev && state.disk.as_ref() != Some(&found))
                .then(|| state.document.file_text())
        };
        // What is replaced is a version to go back to; without one nothing is replaced.
        if let Some(kept) = &kept
            && let Err(error) = slot.keep(kept)
        {
            tracing::warn!(path = %path.display(), %error, "the file was changed outside, and is not read");
            return false;
        }
        let mut state = self.state.lock();
        state.file.known = stamp;
        if state.disk.as_ref() == Some(&found) {
            return std::mem::take(&mut state.file.is_other);
        }
        if kept.is_some() && state.rev == state.saved_rev {
            state.take_file(&text);
            return true;
        }
        !std::mem::replace(&mut state.file.is_other, true)
    }
}

impl Workbench {
    /// Looks at the files of all open graphs.
    pub(crate) async fn look_at_graph_files(self: &Arc<Self>) {
        for open in self.documents.all() {
            self.look_at_file(&open, false).await;
        }
    }

    /// Looks at the file of an open graph, and tells the windows what is other.
    pub(crate) async fn look_at_file(self: &Arc<Self>, open: &Arc<OpenDocument>, at_once: bool) {
        let of_look = open.clone();
        if !blocking(move || of_look.has_other_file(at_once))
            .await
            .unwrap_or(false)
        {
            return;
        }
        // Not while it is being saved.
        let _io = open.io.lock().await;
        let of_read = open.clone();
        if blocking(move || of_read.read_other_file()).await.unwrap_or(false)
            && let Ok((rev, found)) = self.check_open(open).await
        {
            self.hub.publish(found.event(&open.id, rev));
        }
    }
}
