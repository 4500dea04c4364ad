//! Unsaved changes and past versions of documents, in the data folder.
//!
//! Each document has a *slot*: for a saved graph the hash of its path, for a draft its id. A slot holds `unsaved-ID.json`
//! of each program that has changes which are not in the user's file (older releases wrote `unsaved.json`),
//! `steps.json` with the steps of undo, and `history/` with copies of earlier versions. All are whole texts written atomically, so a crash at any moment leaves the version before or the version after.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use superstep_document::{Document, Section};
use superstep_nodes::document_hash;
use superstep_nodes::files::read_own;

use crate::base::files::{self, Fingerprint};
use crate::base::instance::Instance;
use crate::wire::Json;

/// Copies that are kept of one document.
const MAX_COPIES: usize = 50;
/// The newest copies are never thinned.
const KEEP_NEWEST: usize = 12;
/// A new copy is made at most this often while editing.
const COPY_EVERY_MS: u64 = 60_000;
/// Steps of undo take at most this much.
pub(crate) const MAX_STEPS: u64 = 8 << 20;

/// Changes that are not in the user's file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Unsaved {
    /// The open document's id; a draft is known by it after a restart.
    pub(crate) graph_id: String,
    /// The user's file; `None` for a draft.
    pub(crate) path: Option<PathBuf>,
    /// When the changes were made.
    pub(crate) saved_at: String,
    /// What the user's file held when the changes began.
    pub(crate) base: Option<Fingerprint>,
    /// The process that holds the document open.
    pub(crate) instance: String,
    /// The document.
    pub(crate) text: String,
}

/// The steps that undo and redo of a document go through, as its window keeps them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Steps {
    /// The text of the document that they lead to: they fit no other.
    pub(crate) of: Fingerprint,
    /// The steps.
    pub(crate) steps: Json,
}

/// File of unsaved changes that older releases wrote, for the first program that had some.
const UNSAVED: &str = "unsaved.json";

fn unsaved_in(path: &Path) -> Option<Unsaved> {
    serde_json::from_str(&read_own(path).ok()?).ok()
}

/// Removes a file that may not be there.
fn removed(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Location of one document's copies.
#[derive(Debug, Clone)]
pub(crate) struct AutosaveSlot {
    dir: PathBuf,
}

impl AutosaveSlot {
    pub(crate) fn of_draft(root: &Path, graph_id: &str) -> Self {
        AutosaveSlot {
            dir: root.join(graph_id),
        }
    }

    pub(crate) fn of_path(root: &Path, path: &Path) -> Self {
        let hash = xxhash_rust::xxh3::xxh3_128(path.to_string_lossy().as_bytes());
        AutosaveSlot {
            dir: root.join(format!("file-{hash:032x}")),
        }
    }

    /// Returns every slot that exists.
    pub(crate) fn all(root: &Path) -> Vec<AutosaveSlot> {
        fs::read_dir(root)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| AutosaveSlot { dir: entry.path() })
            .collect()
    }

    /// Returns unsaved changes of every program, newest first, with their files.
    fn all_unsaved(&self) -> Vec<(PathBuf, Unsaved)> {
        let mut all: Vec<(PathBuf, Unsaved)> = fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name == UNSAVED || name.starts_with("unsaved-") && name.ends_with(".json")
            })
            .filter_map(|entry| Some((entry.path(), unsaved_in(&entry.path())?)))
            .collect();
        all.sort_by(|(_, a), (_, b)| b.saved_at.cmp(&a.saved_at));
        all
    }

    /// Returns the newest unsaved changes of all programs.
    pub(crate) fn read_unsaved(&self) -> Option<Unsaved> {
        self.all_unsaved().into_iter().map(|(_, unsaved)| unsaved).next()
    }

    /// Returns the newest unsaved changes that no other living program holds.
    pub(crate) fn left_unsaved(&self, here: &Instance) -> Option<Unsaved> {
        let all = self.all_unsaved().into_iter().map(|(_, unsaved)| unsaved);
        all.into_iter()
            .find(|unsaved| !here.is_other_alive(&unsaved.instance))
    }

    fn unsaved_of(&self, here: &Instance) -> PathBuf {
        self.dir.join(format!("unsaved-{}.json", here.id()))
    }

    /// Writes the unsaved changes of a document, into a file of this program: two that share one could write it at once.
    pub(crate) fn write_unsaved(&self, unsaved: &Unsaved, here: &Instance) -> io::Result<()> {
        let own = self.unsaved_of(here);
        for (path, there) in self.left_by_others(&unsaved.graph_id, here) {
            if there.text != unsaved.text {
                self.keep(&there.text)?;
            }
            if path != own {
                removed(&path)?;
            }
        }
        files::write_atomic(&own, &serde_json::to_vec(unsaved)?)
    }

    /// Removes the unsaved changes of a document.
    pub(crate) fn clear_unsaved(&self, graph_id: &str, here: &Instance) -> io::Result<()> {
        for (path, there) in self.left_by_others(graph_id, here) {
            self.keep(&there.text)?;
            removed(&path)?;
        }
        removed(&self.unsaved_of(here))
    }

    /// Returns unsaved changes that a program left which is gone, or a document that was closed with them here: they become
    /// copies when another document takes their place. Those of a program that lives are its own.
    fn left_by_others(&self, graph_id: &str, here: &Instance) -> Vec<(PathBuf, Unsaved)> {
        let mut all = self.all_unsaved();
        all.retain(|(_, there)| {
            let is_same = there.graph_id == graph_id && there.instance == here.id();
            !is_same && !here.is_other_alive(&there.instance)
        });
        all
    }

    pub(crate) fn read_steps(&self) -> Option<Steps> {
        let path = self.dir.join("steps.json");
        let text = superstep_nodes::files::read_text(&path, MAX_STEPS).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn write_steps(&self, steps: &Steps) -> io::Result<()> {
        files::write_atomic(&self.dir.join("steps.json"), &serde_json::to_vec(steps)?)
    }

    pub(crate) fn clear_steps(&self) -> io::Result<()> {
        removed(&self.dir.join("steps.json"))
    }

    /// Removes the slot with everything in it.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn history(&self) -> PathBuf {
        self.dir.join("history")
    }

    /// Copies, newest first. A copy's facts are in its name, so that listing reads no file.
    pub(crate) fn copies(&self) -> Vec<Copy> {
        let mut copies: Vec<Copy> = fs::read_dir(self.history())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Copy::parse(&entry.file_name().to_string_lossy()))
            .collect();
        copies.sort_by_key(|copy| std::cmp::Reverse(copy.at));
        copies
    }

    /// Reads the text of a copy; `None` when there is no such copy.
    pub(crate) fn read_copy(&self, id: &str) -> Option<String> {
        let copy = self.copies().into_iter().find(|copy| copy.id() == id)?;
        read_own(&self.history().join(copy.file())).ok()
    }

    /// Keeps a copy of `text` as [`keep`](Self::keep) does, unless the newest copy is only a moment old.
    pub(crate) fn keep_unless_recent(&self, text: &str) -> io::Result<()> {
        let newest = self.copies().into_iter().next();
        let is_recent = |newest: &Copy| files::now_ms().saturating_sub(newest.at) < COPY_EVERY_MS;
        match newest.as_ref().is_some_and(is_recent) {
            true => Ok(()),
            false => self.keep(text),
        }
    }

    /// Keeps a copy of `text`, unless the newest copy is the same.
    pub(crate) fn keep(&self, text: &str) -> io::Result<()> {
        let copies = self.copies();
        let now = files::now_ms();
        if let Some(newest) = copies.first() {
            let old = read_own(&self.history().join(newest.file()));
            if old.is_ok_and(|old| old == text) {
                return Ok(());
            }
        }
        // Two copies of one millisecond keep their order.
        let at = copies.first().map_or(now, |newest| now.max(newest.at + 1));
        let (document, _) = Document::parse(text);
        let count = |section| document.section(section).len();
        let copy = Copy {
            at,
            nodes: count(Section::Nodes),
            edges: count(Section::Edges),
            hash: Some(document_hash(&document)),
        };
        files::write_atomic(&self.history().join(copy.file()), text.as_bytes())?;
        let mut all = vec![copy];
        all.extend(copies);
        for surplus in thin(&mut all, now) {
            let _ = fs::remove_file(self.history().join(surplus.file()));
        }
        Ok(())
    }

    fn named(&self) -> PathBuf {
        self.dir.join("named")
    }

    /// Returns the versions that somebody gave a name.
    pub(crate) fn named_versions(&self) -> Vec<Named> {
        let entries = fs::read_dir(self.named()).into_iter().flatten().flatten();
        let texts = entries.filter_map(|entry| read_own(&entry.path()).ok());
        texts
            .filter_map(|text| serde_json::from_str(&text).ok())
            .collect()
    }

    /// Names a version, in place of an earlier name.
    pub(crate) fn name(&self, named: &Named) -> io::Result<()> {
        files::write_atomic(
            &self.named().join(format!("{}.json", named.hash)),
            &serde_json::to_vec(named)?,
        )
    }

    /// Returns the note of a version with a name; empty when it has none.
    pub(crate) fn note_of(&self, hash: &str) -> String {
        let mut named = self.named_versions().into_iter();
        named
            .find(|named| named.hash == hash)
            .map(|named| named.note)
            .unwrap_or_default()
    }

    /// Takes the name of a version away, with its note.
    pub(crate) fn unname(&self, hash: &str) -> io::Result<()> {
        match self.named_versions().iter().find(|named| named.hash == hash) {
            Some(named) => fs::remove_file(self.named().join(format!("{}.json", named.hash))),
            None => Ok(()),
        }
    }

    /// Takes over the copies of another slot (a draft that was saved, a graph that was saved under another name).
    pub(crate) fn adopt(&self, other: &AutosaveSlot) {
        let _ = fs::create_dir_all(self.history());
        for copy in other.copies() {
            let target = self.history().join(copy.file());
            if !target.exists() {
                let _ = fs::copy(other.history().join(copy.file()), target);
            }
        }
        for named in other.named_versions() {
            let _ = self.name(&named);
        }
    }
}

/// A version with a name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Named {
    /// See [`document_hash`].
    pub(crate) hash: String,
    /// Its name.
    pub(crate) name: String,
    /// What somebody noted about it; empty when nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
    /// When the version was made: ISO-8601, UTC.
    pub(crate) at: String,
    /// The document.
    pub(crate) text: String,
}

/// A copy of a document, as the name of its file says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Copy {
    pub(crate) at: u64,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    /// See [`document_hash`]; copies of older releases have none.
    pub(crate) hash: Option<String>,
}

impl Copy {
    pub(crate) fn id(&self) -> String {
        let hash = self.hash.as_deref().map(|hash| format!("-{hash}"));
        format!(
            "{}-{}-{}{}",
            self.at,
            self.nodes,
            self.edges,
            hash.unwrap_or_default()
        )
    }
    fn file(&self) -> String {
        format!("{}.json", self.id())
    }
    fn parse(file: &str) -> Option<Copy> {
        let mut parts = file.strip_suffix(".json")?.split('-');
        let copy = Copy {
            at: parts.next()?.parse().ok()?,
            nodes: parts.next()?.parse().ok()?,
            edges: parts.next()?.parse().ok()?,
            hash: parts.next().map(str::to_owned),
        };
        let is_hash = |hash: &String| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (parts.next().is_none() && copy.hash.iter().all(is_hash)).then_some(copy)
    }
}

/// Takes out copies until few enough are left: each time the one whose neighbours are closest together for their age,
/// so that the past gets coarser the further back it is and the oldest copy stays.
fn thin(copies: &mut Vec<Copy>, now: u64) -> Vec<Copy> {
    let mut surplus = Vec::new();
    while copies.len() > MAX_COPIES {
        let crowd = |i: &usize| {
            let gap = copies[i - 1].at.saturating_sub(copies[i + 1].at);
            let age = now.saturating_sub(copies[*i].at).max(1);
            // Parts per million, so that no floating point is compared.
            u128::from(gap) * 1_000_000 / u128::from(age)
        };
        let Some(index) = (KEEP_NEWEST..copies.len() - 1).min_by_key(crowd) else {
            break;
        };
        surplus.push(copies.remove(index));
    }
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_bounded_and_reach_far_back() {
        let hour = 3_600_000;
        let mut copies = Vec::new();
        let mut now = 0;
        for n in 0..2_000u64 {
            now = n * hour;
            copies.insert(
                0,
                Copy {
                    at: now,
                    nodes: 0,
                    edges: 0,
                    hash: None,
                },
            );
            thin(&mut copies, now);
        }
        assert_eq!(copies.len(), MAX_COPIES);
        assert_eq!(copies.last().unwrap().at, 0, "the oldest copy stays");
        let recent: Vec<u64> = copies
            .iter()
            .take(KEEP_NEWEST)
            .map(|c| (now - c.at) / hour)
            .collect();
        assert_eq!(
            recent,
            (0..KEEP_NEWEST as u64).collect::<Vec<_>>(),
            "the newest copies all stay"
        );
        let gaps: Vec<u64> = copies.windows(2).map(|w| (w[0].at - w[1].at) / hour).collect();
        assert!(
            gaps[30] > gaps[0] && gaps[30] < 500,
            "the past gets coarser, without a hole: {gaps:?}"
        );
    }

    #[test]
    fn programs_that_have_one_graph_open_keep_their_unsaved_changes_apart() {
        let root = tempfile::tempdir().unwrap();
        let [one, two] = [(); 2].map(|()| Instance::enter(root.path()).unwrap());
        let slot = AutosaveSlot::of_path(&root.path().join("autosave"), Path::new("/g/one.json"));
        let write = |here: &Instance, text: &str, saved_at: &str| {
            let unsaved = Unsaved {
                graph_id: format!("graph of {}", here.id()),
                path: Some("/g/one.json".into()),
                saved_at: saved_at.into(),
                base: None,
                instance: here.id().into(),
                text: text.into(),
            };
            slot.write_unsaved(&unsaved, here).unwrap();
        };
        let left = |here: &Instance| slot.left_unsaved(here).map(|unsaved| unsaved.text);
        write(&one, "one", "1");
        write(&two, "two", "2");
        write(&one, "one again", "3");
        assert_eq!(left(&one).as_deref(), Some("one again"));
        assert_eq!(left(&two).as_deref(), Some("two"));
        slot.clear_unsaved(&format!("graph of {}", one.id()), &one)
            .unwrap();
        assert_eq!(left(&one), None);
        assert_eq!(
            left(&two).as_deref(),
            Some("two"),
            "saving here forgets nothing of the other"
        );
        // What a dead one left is offered, and is a copy when somebody else saves instead.
        write(&one, "one", "4");
        drop(two);
        let three = Instance::enter(root.path()).unwrap();
        assert_eq!(left(&three).as_deref(), Some("two"));
        slot.clear_unsaved(&format!("graph of {}", one.id()), &one)
            .unwrap();
        assert_eq!(left(&three), None);
        let copies: Vec<_> = slot
            .copies()
            .iter()
            .filter_map(|copy| slot.read_copy(&copy.id()))
            .collect();
        assert_eq!(copies, ["two"]);
        // What a document was closed with is a copy when another one of the same file is saved.
        write(&three, "three", "5");
        slot.clear_unsaved("graph of another window", &three).unwrap();
        let newest = slot.copies().remove(0);
        assert_eq!(slot.read_copy(&newest.id()).as_deref(), Some("three"));
    }

    #[test]
    fn a_copy_is_kept_once_and_read_back() {
        let root = tempfile::tempdir().unwrap();
        let slot = AutosaveSlot::of_draft(root.path(), "draft-1");
        let one = r#"{"format":"superstep/1","nodes":{"a":{}},"edges":[]}"#;
        slot.keep(one).unwrap();
        slot.keep(one).unwrap();
        slot.keep_unless_recent("{}").unwrap();
        let copies = slot.copies();
        assert_eq!(
            copies.len(),
            1,
            "the same text, or one a moment later, is no new copy"
        );
        assert_eq!((copies[0].nodes, copies[0].edges), (1, 0));
        slot.keep("{}").unwrap();
        assert_eq!(slot.copies().len(), 2);
        assert_eq!(slot.read_copy(&copies[0].id()).as_deref(), Some(one));
        assert_eq!(slot.read_copy("../../etc/passwd"), None);
    }

    #[test]
    fn what_is_not_saved_is_written_read_and_forgotten() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(AutosaveSlot::all(&root.path().join("none")).len(), 0);
        let data = tempfile::tempdir().unwrap();
        let here = Instance::enter(data.path()).unwrap();
        let slot = AutosaveSlot::of_path(root.path(), Path::new("/g/one.json"));
        assert!(slot.read_unsaved().is_none());
        slot.clear_unsaved("graph-1", &here).unwrap();
        let unsaved = Unsaved {
            graph_id: "graph-1".into(),
            path: Some("/g/one.json".into()),
            saved_at: "2026".into(),
            base: Some(Fingerprint::of("{}")),
            instance: here.id().into(),
            text: "{}".into(),
        };
        slot.write_unsaved(&unsaved, &here).unwrap();
        let same = AutosaveSlot::of_path(root.path(), Path::new("/g/one.json"));
        let read = same.read_unsaved().unwrap();
        assert_eq!(
            (read.graph_id.as_str(), read.text.as_str(), read.base),
            ("graph-1", "{}", unsaved.base)
        );
        assert!(
            AutosaveSlot::of_path(root.path(), Path::new("/g/two.json"))
                .read_unsaved()
                .is_none()
        );
        assert_eq!(AutosaveSlot::all(root.path()).len(), 1);
        slot.clear_unsaved("graph-1", &here).unwrap();
        assert!(slot.read_unsaved().is_none());
        slot.keep("{}").unwrap();
        slot.remove().unwrap();
        slot.remove().unwrap();
        assert_eq!(
            (slot.copies().len(), AutosaveSlot::all(root.path()).len()),
            (0, 0)
        );
    }

    #[test]
    fn a_named_version_keeps_its_note_and_older_files_have_none() {
        let root = tempfile::tempdir().unwrap();
        let slot = AutosaveSlot::of_draft(root.path(), "draft-1");
        let older = r#"{"hash":"1","name":"one","at":"2026","text":"{}"}"#;
        files::write_atomic(&slot.named().join("1.json"), older.as_bytes()).unwrap();
        let read = slot.named_versions().remove(0);
        assert_eq!((read.name.as_str(), read.note.as_str()), ("one", ""));
        let note = "Why\n\nIt was odd.".to_owned();
        slot.name(&Named { note, ..read }).unwrap();
        assert_eq!(slot.note_of("1"), "Why\n\nIt was odd.");
        assert_eq!(slot.note_of("2"), "");
        let file = AutosaveSlot::of_path(root.path(), Path::new("/g/one.json"));
        file.adopt(&slot);
        assert_eq!(
            file.note_of("1"),
            slot.note_of("1"),
            "it goes over with the version"
        );
        slot.unname("1").unwrap();
        assert_eq!(
            (slot.named_versions().len(), slot.note_of("1")),
            (0, String::new())
        );
    }

    #[test]
    fn copies_go_over_to_another_name() {
        let root = tempfile::tempdir().unwrap();
        let (draft, file) = (
            AutosaveSlot::of_draft(root.path(), "draft-1"),
            AutosaveSlot::of_path(root.path(), Path::new("/g/one.json")),
        );
        draft.keep("{\"name\": \"a\"}").unwrap();
        draft.keep("{\"name\": \"b\"}").unwrap();
        file.adopt(&draft);
        let ids = |slot: &AutosaveSlot| {
            slot.copies()
                .into_iter()
                .map(|copy| copy.id())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&file), ids(&draft));
        assert_eq!(ids(&file).len(), 2);
        assert_eq!(
            file.read_copy(&ids(&file)[0]).as_deref(),
            Some("{\"name\": \"b\"}"),
            "the newest comes first"
        );
        file.adopt(&draft);
        assert_eq!(ids(&file).len(), 2);
    }

    #[test]
    fn only_files_of_ours_are_copies() {
        let copy = Copy {
            at: 12,
            nodes: 3,
            edges: 4,
            hash: None,
        };
        assert_eq!(
            (copy.id().as_str(), copy.file().as_str()),
            ("12-3-4", "12-3-4.json")
        );
        assert_eq!(Copy::parse("12-3-4.json"), Some(copy));
        for other in ["12-3-4", "12-3.json", "12-3-4-5.json", "a-3-4.json", ".json"] {
            assert_eq!(Copy::parse(other), None, "{other}");
        }
        let hashed = Copy::parse("12-3-4-0123456789abcdef.json");
        assert_eq!(
            hashed.as_ref().map(Copy::id).as_deref(),
            Some("12-3-4-0123456789abcdef")
        );
        assert_eq!(
            hashed.and_then(|copy| copy.hash).as_deref(),
            Some("0123456789abcdef")
        );
    }

    #[test]
    fn few_enough_copies_all_stay() {
        let mut copies: Vec<Copy> = (0..MAX_COPIES as u64)
            .rev()
            .map(|at| Copy {
                at,
                nodes: 0,
                edges: 0,
                hash: None,
            })
            .collect();
        assert_eq!(thin(&mut copies, 100), []);
        copies.insert(
            0,
            Copy {
                at: 100,
                nodes: 0,
                edges: 0,
                hash: None,
            },
        );
        let gone = thin(&mut copies, 100);
        assert_eq!((gone.len(), copies.len()), (1, MAX_COPIES));
        assert!(
            gone[0].at > 0 && gone[0].at < 39,
            "neither the oldest nor one of the newest: {gone:?}"
        );
    }

    #[test]
    fn while_editing_a_copy_is_made_now_and_then() {
        let root = tempfile::tempdir().unwrap();
        let slot = AutosaveSlot::of_draft(root.path(), "draft-1");
        let old = Copy {
            at: files::now_ms() - COPY_EVERY_MS - 1_000,
            nodes: 0,
            edges: 0,
            hash: None,
        };
        files::write_atomic(&slot.history().join(old.file()), b"{}").unwrap();
        slot.keep_unless_recent("{}").unwrap();
        assert_eq!(slot.copies().len(), 1, "nothing changed");
        slot.keep_unless_recent("{ }").unwrap();
        assert_eq!(slot.copies().len(), 2, "the last copy is older than a minute");
        slot.keep_unless_recent("{  }").unwrap();
        assert_eq!(slot.copies().len(), 2);
        // A clock that was set back does not change the order.
        let future = Copy {
            at: files::now_ms() + 3_600_000,
            nodes: 0,
            edges: 0,
            hash: None,
        };
        files::write_atomic(&slot.history().join(future.file()), b"{   }").unwrap();
        slot.keep("[]").unwrap();
        assert_eq!(slot.read_copy(&slot.copies()[0].id()).as_deref(), Some("[]"));
    }
}
