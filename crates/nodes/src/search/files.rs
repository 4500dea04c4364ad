//! Which files below a folder are searched: what `.gitignore` and `.ignore` hide is not, nor are links and hidden files.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use super::SearchError;
use crate::base::files::read_bytes;

/// Most files of one folder.
const MAX_FILES: usize = 50_000;
/// Largest sum of file sizes.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Largest file that says what is ignored.
const MAX_RULES: u64 = 256 * 1024;
/// The names of such files.
const RULES: [&str; 2] = [".gitignore", ".ignore"];
/// Folders inside each other.
const MAX_DEPTH: usize = 64;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Plain,
    Code,
    Html,
    Pdf,
}

impl Form {
    /// Detects the format by the file extension.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match end.as_str() {
            "md" | "markdown" | "mdx" | "mkd" => Form::Markdown,
            "txt" | "text" | "rst" | "adoc" | "asciidoc" | "org" | "tex" | "log" | "csv" | "tsv" | "json"
            | "jsonl" | "yaml" | "yml" | "toml" | "ini" | "xml" | "srt" | "vtt" => Form::Plain,
            "html" | "htm" | "xhtml" => Form::Html,
            "pdf" => Form::Pdf,
            "rs" | "py" | "pyi" | "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "go" | "java" | "kt"
            | "kts" | "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "cs" | "rb" | "php" | "swift" | "scala"
            | "sh" | "bash" | "sql" | "lua" | "r" | "jl" | "ex" | "exs" | "erl" | "hs" | "ml" | "fs"
            | "clj" | "dart" | "zig" | "nim" | "pl" | "pm" | "css" | "scss" | "vue" | "svelte" | "proto"
            | "graphql" => Form::Code,
            _ => return None,
        })
    }

    /// Returns the size of the largest file of this format that is read.
    pub(super) fn largest(self) -> u64 {
        match self {
            Form::Pdf => 64 * 1024 * 1024,
            Form::Html => 8 * 1024 * 1024,
            Form::Markdown | Form::Plain | Form::Code => 4 * 1024 * 1024,
        }
    }
}

/// A file as it lies there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Relative to the place, with `/`; the file's own name when the place is a file.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) form: Form,
    pub(super) size: u64,
    /// Nanoseconds since the Unix epoch; 0 where the system does not say.
    pub(super) modified: i64,
}

/// Compiles patterns such as `*.md` or `guides/**`; `!` before one leaves out.
pub(super) fn patterns(place: &Path, patterns: &[String]) -> Result<Override, SearchError> {
    let mut builder = OverrideBuilder::new(place);
    let bad = |pattern: &str, e: ignore::Error| SearchError::BadPattern(pattern.to_owned(), e.to_string());
    for pattern in patterns {
        builder.add(pattern).map_err(|e| bad(pattern, e))?;
    }
    builder.build().map_err(|e| bad(&patterns.join(", "), e))
}

/// Finds the files that are searched, sorted by name. Blocks the thread.
pub(super) fn walk(
    place: &Path,
    chosen: &Override,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<FoundFile>, SearchError> {
    let failed = |e: &dyn std::fmt::Display| SearchError::Read(place.to_owned(), e.to_string());
    if place.is_file() {
        let form = Form::of(place).ok_or_else(|| failed(&"it is no text, HTML, PDF or program"))?;
        let facts = place.metadata().map_err(|e| failed(&e))?;
        let name = place
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        return Ok(vec![found(name, place.to_owned(), form, &facts)]);
    }
    let unreadable = Arc::new(OnceLock::new());
    let found_unreadable = unreadable.clone();
    // The walker reads the rules of a folder by itself when it goes in, whole and whatever they are.
    if let Err((path, e)) = readable_rules(place) {
        return Err(SearchError::Read(path, e.to_string()));
    }
    let walk = WalkBuilder::new(place)
        .filter_entry(move |entry| {
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return true;
            }
            let rules = readable_rules(entry.path());
            // The first one is the one that is named.
            rules.map_err(|error| found_unreadable.set(error)).is_ok()
        })
        .follow_links(false)
        // A repository is no condition, and what lies around the place has no say.
        .require_git(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .max_depth(Some(MAX_DEPTH))
        .build();
    let (mut list, mut bytes) = (Vec::new(), 0_u64);
    for entry in walk {
        if stop() {
            return Err(SearchError::Stopped);
        }
        if unreadable.get().is_some() {
            break;
        }
        // A folder that cannot be read is not the end of the search.
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) if list.is_empty() && e.depth() == Some(0) => return Err(failed(&e)),
            Err(e) => {
                tracing::warn!(folder = %place.display(), "not searched: {e}");
                continue;
            }
        };
        let path = entry.path();
        let Some(form) = Form::of(path).filter(|_| entry.file_type().is_some_and(|kind| kind.is_file()))
        else {
            continue;
        };
        if chosen.matched(path, false).is_ignore() {
            continue;
        }
        let Ok(facts) = entry.metadata() else { continue };
        let relative = path.strip_prefix(place).unwrap_or(path);
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        bytes = bytes.saturating_add(facts.len());
        list.push(found(parts.join("/"), path.to_owned(), form, &facts));
        if list.len() > MAX_FILES || bytes > MAX_BYTES {
            let why = format!("{MAX_FILES} files and {} MB are the limit", MAX_BYTES >> 20);
            return Err(SearchError::TooLarge(place.to_owned(), why));
        }
    }
    if let Some((path, e)) = unreadable.get() {
        return Err(SearchError::Read(path.clone(), e.to_string()));
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(list)
}

/// Refuses a folder whose rules are no regular files, or larger than such files are. Git keeps links, so a clone may bring
/// one that leads anywhere.
fn readable_rules(folder: &Path) -> Result<(), (PathBuf, io::Error)> {
    for path in RULES.map(|name| folder.join(name)) {
        match read_bytes(&path, MAX_RULES) {
            Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge) => {
                return Err((path, e));
            }
            // What is not there or may not be read has no say.
            _ => {}
        }
    }
    Ok(())
}

fn found(name: String, path: PathBuf, form: Form, facts: &std::fs::Metadata) -> FoundFile {
    let modified = facts
        .modified()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    FoundFile {
        name,
        path,
        form,
        size: facts.len(),
        modified: modified.map_or(0, |at| i64::try_from(at.as_nanos()).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn rules_that_are_no_files_of_rules_are_refused_before_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("a.md"), "a").unwrap();
        let large = dir.path().join("large");
        std::fs::write(&large, "x\n".repeat(200_000)).unwrap();
        let all = patterns(dir.path(), &[]).unwrap();
        for target in [large.as_path(), Path::new("/dev/zero")] {
            for (folder, name) in [(dir.path(), ".gitignore"), (&*deep, ".ignore")] {
                let link = folder.join(name);
                std::os::unix::fs::symlink(target, &link).unwrap();
                let refused = walk(dir.path(), &all, &|| false);
                assert!(
                    matches!(&refused, Err(SearchError::Read(path, _)) if *path == link),
                    "{target:?} {name}: {refused:?}"
                );
                std::fs::remove_file(&link).unwrap();
            }
        }
        // A link to rules is read, and one to nothing has no say.
        std::fs::write(&large, "deep/\n").unwrap();
        std::os::unix::fs::symlink(&large, dir.path().join(".ignore")).unwrap();
        std::os::unix::fs::symlink("/nothing/there", dir.path().join(".gitignore")).unwrap();
        assert_eq!(walk(dir.path(), &all, &|| false).unwrap(), []);
    }

    fn names(place: &Path, chosen: &[&str]) -> Vec<String> {
        let chosen: Vec<String> = chosen.iter().map(|one| (*one).to_owned()).collect();
        let chosen = patterns(place, &chosen).unwrap();
        walk(place, &chosen, &|| false)
            .unwrap()
            .into_iter()
            .map(|found| found.name)
            .collect()
    }

    #[test]
    fn what_is_ignored_hidden_linked_or_unknown_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a.md", ""),
            ("guides/b.txt", ""),
            ("guides/deep/c.html", ""),
            ("src/d.rs", ""),
            ("drafts/e.md", ""),
            (".hidden/f.md", ""),
            (".g.md", ""),
            ("h.exe", ""),
            ("i", ""),
            (".gitignore", "drafts/\n"),
        ] {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/hosts", dir.path().join("link.txt")).unwrap();
            std::os::unix::fs::symlink(dir.path(), dir.path().join("guides/round")).unwrap();
        }
        assert_eq!(
            names(dir.path(), &[]),
            ["a.md", "guides/b.txt", "guides/deep/c.html", "src/d.rs"]
        );
        assert_eq!(
            names(dir.path(), &["*.md", "guides/**"]),
            ["a.md", "guides/b.txt", "guides/deep/c.html"]
        );
        assert_eq!(
            names(dir.path(), &["!*.md"]),
            ["guides/b.txt", "guides/deep/c.html", "src/d.rs"]
        );
        assert_eq!(
            names(dir.path(), &["*", "!*.rs"]),
            ["a.md", "guides/b.txt", "guides/deep/c.html"]
        );
        assert_eq!(names(&dir.path().join("guides/b.txt"), &[]), ["b.txt"]);
        assert!(patterns(dir.path(), &["[".into()]).is_err());
        assert!(matches!(
            walk(dir.path(), &Override::empty(), &|| true),
            Err(SearchError::Stopped)
        ));
    }
}
