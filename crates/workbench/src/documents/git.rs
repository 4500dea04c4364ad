//! What git knows of a graph's file. It is only read, and a repository is somebody else's: its configuration may name
//! programs for hooks, filters, monitors, pagers, differences and fetching, and none of them may run. So only
//! commands are used that read objects by name, without the index and the work tree, with everything that could start a
//! program switched off: two of plumbing here, and those of [`git_history`](super::git_history).

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use superstep_document::Document;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::records;
use crate::Workbench;
use crate::base::blocking;
use crate::wire::{GitState, GitView, GraphRef, Problem};
use superstep_document::text;

/// A command of git may take this long: one that hangs is given up, one on a busy machine is not.
const PATIENCE: Duration = Duration::from_secs(20);
/// Messages of git are read so far.
const MAX_WORDS: u64 = 4 << 10;

/// Result of a git command.
pub(super) enum Ended {
    Done(Vec<u8>),
    Failed(String),
    /// There is no git on this computer.
    Missing,
    TooLong,
    TooLarge,
}

fn view(state: GitState) -> GitView {
    GitView {
        state,
        branch: None,
        commit: None,
        records: None,
        problem: None,
    }
}

fn refused(problem: Problem) -> GitView {
    GitView {
        problem: Some(problem),
        ..view(GitState::Refused)
    }
}

impl Workbench {
    pub(crate) async fn graph_git(self: &Arc<Self>, request: GraphRef) -> Result<GitView, Problem> {
        let Some(path) = self.document(&request.graph_id)?.source().path else {
            return Ok(view(GitState::None));
        };
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(view(GitState::None));
        };
        let small = MAX_WORDS;
        let commit = match head(folder).await {
            Ended::Done(commit) => line(&commit),
            Ended::Failed(why) if why.contains("dubious ownership") => return Ok(refused(not_ours(folder))),
            // Outside of a repository, or before the first commit.
            Ended::Failed(_) => {
                let inside = git(folder, &["rev-parse", "--is-inside-work-tree"], small).await;
                return Ok(view(match inside {
                    Ended::Done(text) if line(&text) == "true" => GitState::New,
                    _ => GitState::None,
                }));
            }
            Ended::Missing => return Ok(view(GitState::None)),
            Ended::TooLong | Ended::TooLarge => return Ok(refused(slow())),
        };
        let branch = match git(folder, &["rev-parse", "--abbrev-ref", "HEAD"], small).await {
            Ended::Done(branch) => Some(line(&branch)).filter(|branch| branch != "HEAD"),
            _ => None,
        };
        let known = |state| GitView {
            branch: branch.clone(),
            commit: Some(commit.clone()),
            ..view(state)
        };
        let mut object = OsString::from(format!("{commit}:./"));
        object.push(name);
        let args = [OsString::from("cat-file"), "blob".into(), object];
        match git(folder, &args, superstep_nodes::files::MAX_GRAPH).await {
            Ended::Done(text) => {
                let found = blocking(move || of_commit(&text)).await?;
                Ok(match found {
                    Ok(records) => GitView {
                        records: Some(records),
                        ..known(GitState::Tracked)
                    },
                    Err(problem) => GitView {
                        problem: Some(problem),
                        ..known(GitState::Refused)
                    },
                })
            }
            Ended::Failed(_) => Ok(known(GitState::New)),
            Ended::Missing => Ok(view(GitState::None)),
            Ended::TooLong => Ok(refused(slow())),
            Ended::TooLarge => Ok(refused(
                Problem::new(
                    "too-large",
                    text!("The file in the last commit is too large for a graph."),
                )
                .remedy(text!("Compare the files with git.")),
            )),
        }
    }
}

fn of_commit(text: &[u8]) -> Result<Vec<crate::wire::Record>, Problem> {
    let unreadable = || {
        Problem::new(
            "unreadable-file",
            text!("The file in the last commit is no graph."),
        )
        .remedy(text!(
            "A file that git keeps elsewhere (Git LFS) cannot be compared."
        ))
    };
    let text = std::str::from_utf8(text).map_err(|_| unreadable())?;
    let (document, _) = Document::parse(text);
    if document.source().is_some() {
        return Err(unreadable());
    }
    Ok(records(&document))
}

pub(super) fn line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).trim().to_owned()
}

pub(super) fn slow() -> Problem {
    Problem::new("git-slow", text!("Git did not answer in time."))
        .remedy(text!("See whether git works in this folder."))
}

pub(super) fn not_ours(folder: &Path) -> Problem {
    Problem::new(
        "git-owner",
        text!(
            "The repository of {path} belongs to another user, and git does not read it.",
            path = folder.display().to_string()
        ),
    )
    .remedy(text!(
        "If you trust it, add the folder to safe.directory of your git configuration."
    ))
}

/// Reads the id of the last commit.
pub(super) async fn head(folder: &Path) -> Ended {
    let args = ["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"];
    git(folder, &args, MAX_WORDS).await
}

/// Runs a command that reads objects, in a folder, with nothing of the repository's configuration that starts a program.
pub(super) async fn git(folder: &Path, args: &[impl AsRef<std::ffi::OsStr>], most: u64) -> Ended {
    let mut command = Command::new("git");
    // Another repository may be named in our environment, as in a hook.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(&name);
        }
    }
    command
        .args(["--no-pager", "--no-optional-locks", "--literal-pathspecs"])
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args([
            "-c",
            "core.sshCommand=false",
            "-c",
            "core.gitProxy=false",
            "-c",
            "credential.helper=",
        ])
        .args(args)
        .current_dir(folder)
        // A partial clone fetches objects that are missing, by a command of its configuration.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_ASKPASS", "false")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(_) => return Ended::Missing,
    };
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Ended::Missing;
    };
    let work = async {
        let (mut out, mut words) = (Vec::new(), Vec::new());
        let (mut stdout, mut stderr) = (stdout.take(most + 1), stderr.take(MAX_WORDS));
        let (read, _) = tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut words));
        if read.is_err() || out.len() as u64 > most {
            return Ended::TooLarge;
        }
        match child.wait().await {
            Ok(status) if status.success() => Ended::Done(out),
            _ => Ended::Failed(String::from_utf8_lossy(&words).into_owned()),
        }
    };
    tokio::time::timeout(PATIENCE, work)
        .await
        .unwrap_or(Ended::TooLong)
}
