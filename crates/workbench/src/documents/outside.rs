//! Files of open graphs that other programs write: looked at when they may be others ([`watching`](super::watching)), when
//! a graph is shown, and before every run. A graph without changes of its own is read again; one with changes says so, and
//! saving joins them.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use superstep_nodes::{Stamp, document_hash};

use super::opening::{of_file, read_text};
use super::{DocumentState, OpenDocument};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::Fingerprint;

/// A file that was not changed for so long is not being written any more.
const STANDS_AFTER: Duration = Duration::from_millis(100);
/// After this time every further write gives another stamp (see [`Stamp::is_final`]).
const SURE_AFTER: Duration = Duration::from_millis(2_100);

impl DocumentState {
    /// Takes what the file holds; the document is a saved one then.
    pub(super) fn take_file(&mut self, text: String) {
        let (document, of_text) = of_file(&text);
        self.disk = Some(Fingerprint::of(&text));
        self.disk_hash = Some(document_hash(&document));
        self.document = document;
        self.of_text = of_text;
        self.rev += 1;
        self.saved_rev = self.rev;
        self.as_read = Some(text);
        self.before = None;
        self.recovered_at = None;
        self.file.is_other = false;
        self.file.is_gone = false;
    }
}

/// State in which a file was found.
enum Standing {
    /// As it is known.
    Same,
    /// Perhaps a program is writing it: it is to be looked at again.
    Coming,
    /// As nobody here has read it.
    Other,
}

impl OpenDocument {
    /// Looks at the file, without reading it. Without `at_once` it must have stood still since the look before.
    fn standing(&self, at_once: bool) -> Standing {
        let Some(path) = self.state.lock().path.clone() else {
            return Standing::Same;
        };
        let found = match Stamp::read(&path) {
            Ok(stamp) => Some(stamp),
            Err(error) if is_missing(&error) => None,
            // A folder that may not be entered, for example: it may be there or not.
            Err(_) => return Standing::Same,
        };
        let mut state = self.state.lock();
        let is_moved = state.path.as_ref() != Some(&path);
        let file = &mut state.file;
        let is_known = match &found {
            Some(_) => file.known == found && !file.is_gone,
            None => file.is_gone,
        };
        if is_known || is_moved {
            file.coming = None;
            return Standing::Same;
        }
        let stands = at_once || file.coming.as_ref() == Some(&found);
        file.coming = Some(found);
        match stands {
            true => Standing::Other,
            false => Standing::Coming,
        }
    }

    /// Reads the file again when it holds what nobody here has seen. Returns whether anything that is shown is other now.
    fn read_other_file(&self) -> bool {
        let (path, slot) = {
            let state = self.state.lock();
            (state.path.clone(), state.slot.clone())
        };
        let Some(path) = path else { return false };
        let at = SystemTime::now();
        let stamp = Stamp::of(&path);
        let read = read_text(&path);
        let text = read.ok();
        let found = text.as_ref().map(|text| text.as_deref().map(Fingerprint::of));
        let kept = {
            let state = self.state.lock();
            if state.path.as_ref() != Some(&path) || state.closed {
                return false;
            }
            let is_other = found.as_ref().is_some_and(|found| state.disk != *found);
            (state.rev == state.saved_rev && is_other).then(|| state.text_as_read())
        };
        // What is replaced, or was only in the file, is a version to go back to; without one nothing is replaced.
        if let Some(kept) = &kept
            && let Err(error) = slot.keep(kept)
        {
            tracing::warn!(path = %path.display(), %error, "the file was changed outside, and is not read");
            return false;
        }
        let mut state = self.state.lock();
        // Of a file that may not be read, that its rights change is the next news; what it holds is said when it is saved.
        state.file.known = stamp.filter(|stamp| text.is_none() || stamp.is_final(at));
        let Some(text) = text else { return false };
        let was_gone = std::mem::replace(&mut state.file.is_gone, text.is_none());
        let Some(text) = text else { return !was_gone };
        if state.disk == found.flatten() {
            return std::mem::take(&mut state.file.is_other) || was_gone;
        }
        if kept.is_some() && state.rev == state.saved_rev {
            state.take_file(text);
            return true;
        }
        !std::mem::replace(&mut state.file.is_other, true) || was_gone
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl Workbench {
    /// Looks at the files of all open graphs. Returns after what time that is to be repeated.
    pub(crate) async fn look_at_graph_files(self: &Arc<Self>) -> Option<Duration> {
        let mut again = None;
        for open in self.documents.all() {
            let next = self.look_at_file(&open, false).await;
            again = again.into_iter().chain(next).min();
        }
        again
    }

    /// Looks at the file of an open graph, and sends the windows what differs. Returns after what time the look is to be
    /// repeated without any other reason.
    pub(crate) async fn look_at_file(
        self: &Arc<Self>,
        open: &Arc<OpenDocument>,
        at_once: bool,
    ) -> Option<Duration> {
        let of_look = open.clone();
        match blocking(move || of_look.standing(at_once)).await.ok()? {
            Standing::Same => return None,
            Standing::Coming => return Some(STANDS_AFTER),
            Standing::Other => {}
        }
        // Not while it is being saved.
        let _io = open.io.lock().await;
        let of_read = open.clone();
        let read = blocking(move || {
            let is_other = of_read.read_other_file();
            let file = &of_read.state.lock().file;
            (is_other, file.known.is_none() && !file.is_gone)
        });
        let (is_other, is_unsure) = read.await.ok()?;
        if is_other && let Ok((rev, found)) = self.check_open(open).await {
            self.hub.publish(found.event(&open.id, rev));
        }
        is_unsure.then_some(SURE_AFTER)
    }
}
