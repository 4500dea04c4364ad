//! Commits that changed a graph's file, and the graph in one of them.
//!
//! `git log` and `git diff-tree` are used beside the commands of [`git`](super::git): both read objects by name. What the
//! configuration of a repository could make them start (checks of signatures, external differences, conversions to text)
//! is switched off by their own options. Renames are followed here and not with `--follow`, which leaves merges out and
//! cannot be read page by page.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use superstep::run::iso8601;
use superstep_document::text;

use super::git::{Ended, git, head, line, not_ours, slow};
use crate::Workbench;
use crate::wire::{CommitView, GraphHistory, Problem, ReadHistory};

/// Commits of one answer.
const PAGE: usize = 50;
/// Commits that are listed at most.
const MAX_COMMITS: usize = 2_000;
/// Renames that are followed.
const MAX_RENAMES: usize = 20;
/// Answers of git are read up to this size.
const MAX_ANSWER: u64 = 4 << 20;
/// Reading one page may take this long, however many commands it needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of both commands: nothing of a repository's configuration is started or changes their answer.
const PLAIN: [&str; 6] = [
    "-z",
    "--raw",
    "--no-abbrev",
    "--no-relative",
    "--no-ext-diff",
    "--no-textconv",
];
/// Fields of a commit, each ended by a NUL: id, parents, time, author and subject.
const FIELDS: &str = "--format=tformat:%H%x00%P%x00%ct%x00%<(80,trunc)%an%x00%<(200,trunc)%s";

/// A file in a repository.
struct Tracked<'a> {
    /// The folder that git runs in.
    folder: &'a Path,
    /// Leads from there to the top of the work tree.
    up: String,
    /// Path of the file from the top.
    path: String,
}

/// A commit that changed a file.
struct Commit {
    id: String,
    parents: Vec<String>,
    time: u64,
    author: String,
    subject: String,
    /// What the file holds in it.
    blob: String,
    /// The first parent has no such file.
    is_new: bool,
}

impl Workbench {
    pub(crate) async fn graph_history(
        self: &Arc<Self>,
        request: ReadHistory,
    ) -> Result<GraphHistory, Problem> {
        let Some(path) = self.document(&request.graph_id)?.source().path else {
            return Ok(GraphHistory::default());
        };
        let page = page(&path, request.offset as usize);
        match tokio::time::timeout(PATIENCE, page).await {
            Ok(page) => page,
            Err(_) => Err(slow()),
        }
    }
}

/// Reads the commits of a file after the first `offset`, newest first; none when it is in no repository.
async fn page(path: &Path, offset: usize) -> Result<GraphHistory, Problem> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(GraphHistory::default());
    };
    let mut from = match head(folder).await {
        Ended::Done(commit) => line(&commit),
        Ended::Failed(why) if why.contains("dubious ownership") => return Err(not_ours(folder)),
        // Outside of a repository, or before the first commit.
        Ended::Failed(_) | Ended::Missing => return Ok(GraphHistory::default()),
        Ended::TooLong | Ended::TooLarge => return Err(slow()),
    };
    let prefix = done(git(folder, &["rev-parse", "--show-prefix"], MAX_ANSWER).await)?;
    let prefix = String::from_utf8_lossy(&prefix);
    let prefix = prefix.strip_suffix('\n').unwrap_or(&prefix);
    let mut file = Tracked {
        folder,
        up: "../".repeat(prefix.matches('/').count()),
        path: format!("{prefix}{name}"),
    };
    let wanted = offset.saturating_add(PAGE + 1).min(MAX_COMMITS);
    let mut commits = Vec::new();
    for _ in 0..=MAX_RENAMES {
        let asked = wanted - commits.len();
        let found = file.commits(&from, asked).await?;
        let oldest = found.last().filter(|_| found.len() < asked);
        let renamed = match oldest {
            Some(oldest) => file.before(oldest).await,
            None => None,
        };
        commits.extend(found.iter().map(|commit| commit.view(&file.path)));
        let Some((parent, path)) = renamed else { break };
        (from, file.path) = (parent, path);
    }
    let is_cut = commits.len() > offset + PAGE;
    Ok(GraphHistory {
        commits: commits.into_iter().skip(offset).take(PAGE).collect(),
        more: is_cut,
    })
}

impl Tracked<'_> {
    /// Reads the commits up to `from` that changed the file under its present path, newest first.
    async fn commits(&self, from: &str, most: usize) -> Result<Vec<Commit>, Problem> {
        let most = format!("--max-count={most}");
        let path = format!("{}{}", self.up, self.path);
        let mut args = vec!["log"];
        args.extend(PLAIN);
        args.extend([
            FIELDS,
            "--encoding=UTF-8",
            "--no-show-signature",
            "--no-decorate",
            "--no-notes",
            "--no-mailmap",
            "--no-color",
            "--no-follow",
            "--no-renames",
            "--root",
            // A merge is compared with the branch that it was made on.
            "--diff-merges=first-parent",
            // A deleted file is no version.
            "--diff-filter=AMT",
            most.as_str(),
            from,
            "--",
            path.as_str(),
        ]);
        let answer = done(git(self.folder, &args, MAX_ANSWER).await)?;
        Ok(parsed(&answer, &self.path))
    }

    /// Returns the parent of a commit and the path of the file there, when the commit renamed it.
    async fn before(&self, commit: &Commit) -> Option<(String, String)> {
        let ([parent], true) = (commit.parents.as_slice(), commit.is_new) else {
            return None;
        };
        let mut args = vec!["diff-tree"];
        args.extend(PLAIN);
        args.extend(["-r", "-M", "-l400", "--no-commit-id", "--diff-filter=R"]);
        args.push(&commit.id);
        let Ended::Done(answer) = git(self.folder, &args, MAX_ANSWER).await else {
            return None;
        };
        let answer = String::from_utf8(answer).ok()?;
        let parts: Vec<&str> = answer.split('\0').collect();
        let mut renames = parts.chunks_exact(3);
        let rename = renames.find(|rename| rename[2] == self.path)?;
        Some((parent.clone(), rename[1].to_owned()))
    }
}

impl Commit {
    fn view(&self, path: &str) -> CommitView {
        CommitView {
            id: format!("git:{}@{}", self.id, self.blob),
            commit: self.id.clone(),
            subject: self.subject.clone(),
            author: self.author.clone(),
            at: iso8601(self.time),
            path: path.to_owned(),
        }
    }
}

/// Reads an answer of `git log`: the fields of each commit, then its files with a colon before their modes.
fn parsed(answer: &[u8], path: &str) -> Vec<Commit> {
    let answer = String::from_utf8_lossy(answer);
    let mut parts = answer.split('\0').peekable();
    let mut commits = Vec::new();
    while let (Some(id), Some(parents), Some(time), Some(author), Some(subject)) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) {
        let mut file = None;
        while let Some(change) = parts.next_if(|part| part.trim_start().starts_with(':')) {
            if parts.next() == Some(path) {
                file = Some(change);
            }
        }
        // Modes before and after, what it held before and after, and how it changed.
        let change: Vec<&str> = file.unwrap_or_default().split_whitespace().collect();
        let [_, _, _, blob, how] = change.as_slice() else {
            continue;
        };
        let seconds: u64 = time.parse().unwrap_or_default();
        commits.push(Commit {
            id: id.to_owned(),
            parents: parents.split_whitespace().map(str::to_owned).collect(),
            time: seconds.min(LAST_SECOND) * 1_000,
            author: author.trim().to_owned(),
            subject: subject.trim().to_owned(),
            blob: (*blob).to_owned(),
            is_new: how.starts_with('A'),
        });
    }
    commits
}

/// Last second of the year 9999: commits may claim any time.
const LAST_SECOND: u64 = 253_402_300_799;

/// Returns what git answered, or why it cannot be read.
fn done(ended: Ended) -> Result<Vec<u8>, Problem> {
    match ended {
        Ended::Done(answer) => Ok(answer),
        Ended::Missing => Ok(Vec::new()),
        Ended::TooLong => Err(slow()),
        Ended::TooLarge => Err(Problem::new(
            "too-large",
            text!("The history of the file is too long to be listed."),
        )
        .remedy(text!("Look at it with git."))),
        Ended::Failed(why) => Err(Problem::new(
            "git-failed",
            text!(
                "Git could not read the history of the file: {why}",
                why = why.trim().to_owned()
            ),
        )
        .remedy(text!("See whether git works in this folder."))),
    }
}

/// Returns the blob of a version's id (`COMMIT@BLOB`) when both are ids of objects and nothing else.
pub(super) fn blob_of(id: &str) -> Option<&str> {
    let (commit, blob) = id.split_once('@')?;
    (is_object(commit) && is_object(blob)).then_some(blob)
}

fn is_object(id: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    matches!(id.len(), 40 | 64) && id.bytes().all(is_digit)
}

/// Reads what a file of the repository around `path` held; `None` when there is no such object.
pub(super) async fn blob_text(path: &Path, blob: &str) -> Result<Option<String>, Problem> {
    let Some(folder) = path.parent() else {
        return Ok(None);
    };
    match git(
        folder,
        &["cat-file", "blob", blob],
        superstep_nodes::files::MAX_GRAPH,
    )
    .await
    {
        Ended::Done(text) => Ok(String::from_utf8(text).ok()),
        Ended::Failed(_) | Ended::Missing => Ok(None),
        Ended::TooLong => Err(slow()),
        Ended::TooLarge => Err(
            Problem::new("too-large", text!("That version is too large for a graph."))
                .remedy(text!("Compare the files with git.")),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_objects_are_given_to_git() {
        let (commit, blob) = ("0123456789abcdef0123456789abcdef01234567", "f".repeat(40));
        assert_eq!(blob_of(&format!("{commit}@{blob}")), Some(blob.as_str()));
        let long = "a".repeat(64);
        assert_eq!(blob_of(&format!("{long}@{long}")), Some(long.as_str()));
        let outside = [
            commit.to_owned(),
            format!("HEAD@{blob}"),
            format!("{commit}@HEAD:./secret"),
            format!("{commit}@--batch"),
            format!("{commit}@{}", "F".repeat(40)),
            format!("{commit}@{}", "f".repeat(39)),
            format!("{commit}@{blob}@{blob}"),
            format!("{commit}@{blob}\n"),
        ];
        for id in outside {
            assert_eq!(blob_of(&id), None, "{id}");
        }
    }

    #[test]
    fn an_answer_that_is_cut_or_odd_is_read_as_far_as_it_goes() {
        let (commit, blob) = ("c".repeat(40), "b".repeat(40));
        let zero = "0".repeat(40);
        let of = |path: &str| {
            format!("{commit}\0\x005000000000000000\0 A \0 s: ..\0\n:000000 100644 {zero} {blob} A\0{path}\0")
        };
        let both = of("g/a.json") + &of("g/a.json/b") + &commit + "\0\0";
        let read = parsed(both.as_bytes(), "g/a.json");
        assert_eq!(
            read.len(),
            1,
            "a folder of that name, and half a commit, are none"
        );
        let view = read[0].view("g/a.json");
        assert_eq!((view.author.as_str(), view.subject.as_str()), ("A", "s: .."));
        assert_eq!(view.at, "9999-12-31T23:59:59.000+00:00");
        assert_eq!(view.id, format!("git:{commit}@{blob}"));
        assert!(read[0].is_new && read[0].parents.is_empty());
    }
}
