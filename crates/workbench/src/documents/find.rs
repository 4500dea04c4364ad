//! Finding texts in the open graph, or in every graph file of its folder. Documents that are open are searched as they
//! are in memory, the others as they are on disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use superstep_document::Document;

use super::opening::read_text;
use super::texts::{self, Pattern};
use super::{OpenDocument, name_of};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::{Fingerprint, is_graph_file};
use crate::wire::{FindText, FoundFile, Problem, SkippedFile, TextFound};
use superstep_document::text;

/// Matches that one search answers with.
const MAX_MATCHES: usize = 2_000;
/// Graph files that one search reads, entries of folders that it looks at for them, and how deep it goes.
const MAX_FILES: usize = 2_000;
const MAX_ENTRIES: usize = 50_000;
const MAX_DEPTH: usize = 8;
/// Folders of other programs, which may be huge.
const SKIPPED: [&str; 4] = ["node_modules", "target", "__pycache__", "venv"];

impl OpenDocument {
    /// Returns what of this document is searched: the document, its path and its revision.
    pub(super) fn searched(&self) -> (Document, Option<PathBuf>, u32) {
        let state = self.state.lock();
        (state.document.clone(), state.path.clone(), state.rev)
    }
}

impl Workbench {
    pub(crate) async fn project_find(self: &Arc<Self>, request: FindText) -> Result<TextFound, Problem> {
        let pattern = Pattern::new(&request.query)?;
        let current = self.document(&request.graph_id)?;
        let this = self.clone();
        blocking(move || {
            let job = this.job(request.work.clone());
            let mut search = TextSearch {
                pattern: &pattern,
                replacement: request.replacement.as_deref(),
                answer: TextFound::default(),
                matches: 0,
                folder: None,
            };
            let (_, path, _) = current.searched();
            search.folder = path.as_deref().and_then(Path::parent).map(Path::to_path_buf);
            search.open(&current);
            let folder = search.folder.clone().filter(|_| request.everywhere);
            let Some(folder) = folder else {
                return search.answer;
            };
            let mut open = this.documents.all();
            open.retain(|other| {
                let path = other.searched().1;
                other.id != current.id && path.is_some_and(|path| path.starts_with(&folder))
            });
            let known: HashSet<PathBuf> = open
                .iter()
                .filter_map(|other| other.searched().1)
                .chain(path)
                .collect();
            for other in &open {
                search.open(other);
            }
            let mut walk = FolderWalk::default();
            walk.folder(&folder, 0, &mut |looked| job.at(looked as u64, 0));
            search.answer.cut |= walk.cut;
            search.answer.cancelled |= walk.stopped;
            let total = walk.files.len() as u64;
            for (done, file) in (0u64..).zip(&walk.files) {
                if !job.at(done, total) {
                    search.answer.cancelled = true;
                    break;
                }
                if !known.contains(file) && !search.file(file) {
                    break;
                }
            }
            search.answer
        })
        .await
    }
}

struct TextSearch<'a> {
    pattern: &'a Pattern,
    replacement: Option<&'a str>,
    answer: TextFound,
    matches: usize,
    folder: Option<PathBuf>,
}

impl TextSearch<'_> {
    fn open(&mut self, open: &OpenDocument) {
        let (document, path, rev) = open.searched();
        self.document(&document, path.as_deref(), Some(&open.id), version_of(rev));
    }

    /// Searches a file; `false` when enough was found.
    fn file(&mut self, file: &Path) -> bool {
        let text = match read_text(file) {
            Ok(Some(text)) => text,
            // Deleted while the search went on.
            Ok(None) => return true,
            Err(problem) => {
                self.skip(file, problem);
                return true;
            }
        };
        let (document, problems) = Document::parse(&text);
        if document.source().is_some() {
            let message = problems
                .first()
                .map(|problem| problem.message.clone())
                .unwrap_or_default();
            self.skip(
                file,
                Problem::new("unreadable-file", message).remedy(text!("Open the file to see what is wrong.")),
            );
            return true;
        }
        self.document(&document, Some(file), None, fingerprint_of(&text));
        !self.answer.cut
    }

    fn skip(&mut self, file: &Path, problem: Problem) {
        self.answer.skipped.push(SkippedFile {
            path: file.to_string_lossy().into_owned(),
            problem,
        });
    }

    fn document(
        &mut self,
        document: &Document,
        path: Option<&Path>,
        graph_id: Option<&str>,
        version: String,
    ) {
        self.answer.searched += 1;
        // One more than is shown says that there are more.
        let room = MAX_MATCHES - self.matches;
        let mut matches = texts::find(document, self.pattern, self.replacement, room + 1);
        if matches.len() > room {
            matches.truncate(room);
            self.answer.cut = true;
        }
        self.matches += matches.len();
        if matches.is_empty() {
            return;
        }
        let place = path.map(|path| match &self.folder {
            Some(folder) => path.strip_prefix(folder).unwrap_or(path),
            None => path,
        });
        self.answer.files.push(FoundFile {
            path: path.map(|path| path.to_string_lossy().into_owned()),
            place: place
                .map(|place| place.to_string_lossy().into_owned())
                .unwrap_or_default(),
            graph_id: graph_id.map(str::to_owned),
            name: name_of(document, path),
            version,
            matches,
        });
    }
}

/// Returns the version by which an open document is recognized as the one that was searched.
pub(super) fn version_of(rev: u32) -> String {
    format!("rev-{rev}")
}

/// Returns the version of a file's text, for the same purpose.
pub(super) fn fingerprint_of(text: &str) -> String {
    format!("{:?}", Fingerprint::of(text))
}

/// The graph files of a folder, found with a bound on the work.
#[derive(Debug, Default)]
struct FolderWalk {
    files: Vec<PathBuf>,
    looked: usize,
    cut: bool,
    stopped: bool,
}

impl FolderWalk {
    fn folder(&mut self, folder: &Path, depth: usize, go_on: &mut dyn FnMut(usize) -> bool) {
        if depth > MAX_DEPTH {
            self.cut = true;
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            self.looked += 1;
            if self.looked > MAX_ENTRIES {
                self.cut = true;
                break;
            }
            if self.looked.is_multiple_of(256) && !go_on(self.looked) {
                self.stopped = true;
                return;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            // A link may lead out of the project, or round.
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') || SKIPPED.contains(&name.as_str()) || kind.is_symlink() {
                continue;
            }
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
                files.push(path);
            }
        }
        files.sort();
        folders.sort();
        for file in files {
            if !is_graph_file(&file) {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                self.cut = true;
                return;
            }
            self.files.push(file);
        }
        for folder in folders {
            if self.stopped || self.looked > MAX_ENTRIES {
                return;
            }
            self.folder(&folder, depth + 1, go_on);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_for_files_can_be_stopped_and_does_not_follow_links() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..600 {
            fs::write(
                dir.path().join(format!("g{n}.json")),
                r#"{"format": "superstep/1"}"#,
            )
            .unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path(), dir.path().join("round")).unwrap();
        let mut walk = FolderWalk::default();
        walk.folder(dir.path(), 0, &mut |_| true);
        assert_eq!((walk.files.len(), walk.cut, walk.stopped), (600, false, false));
        let mut stopped = FolderWalk::default();
        stopped.folder(dir.path(), 0, &mut |_| false);
        assert!(stopped.stopped && stopped.files.is_empty());
    }
}
