//! A server's process: started with little of our environment, ended with everything that it started, and what it
//! wrote last kept for the day it fails.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};

use super::config::FilledServerConfig;
use crate::models::Variables;
use crate::programs::helper::HelperProgram;
use crate::programs::process_group::{ProcessGroup, Start};

/// What servers are given of our environment: what programs need to start at all, and no keys. The rest is declared in
/// the file.
const PASSED_ON: [&str; 22] = [
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
];
/// How long a server may take to end after its input has ended.
const GRACE: Duration = Duration::from_secs(2);
/// How long the last lines of a server that has ended are waited for; they are there at once unless the computer is busy.
const LAST_LINES: Duration = Duration::from_secs(5);
/// Lines of standard error that are kept, and their length.
const KEPT_LINES: usize = 12;
const MAX_LINE: usize = 2000;

/// A running process. Dropped, it ends: first its input, then, if that does not help, by force.
#[derive(Debug)]
pub(super) struct ServerProcess {
    ended: watch::Receiver<Option<String>>,
    error_lines: ErrorLines,
    /// Dropped to end it.
    _stop: oneshot::Sender<()>,
}

type ErrorLines = Arc<Mutex<VecDeque<String>>>;

/// Pipes through which a client talks to its server.
pub(super) type ServerPipes = (ChildStdout, ChildStdin);

impl ServerProcess {
    /// Starts the program of a launch in the project's folder `root`.
    pub(super) fn start(
        server: &str,
        launch: &FilledServerConfig,
        root: &Path,
        variables: &Variables,
        helper: Option<&HelperProgram>,
    ) -> io::Result<(Self, ServerPipes)> {
        let FilledServerConfig::Program {
            command,
            args,
            env,
            cwd,
        } = launch
        else {
            return Err(io::Error::other("it is no program"));
        };
        let folder = cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
        // What a relative program is relative to differs from system to system.
        let relative = command.contains('/') && Path::new(command).is_relative();
        let program = match relative {
            true => folder.join(command).into_os_string(),
            false => command.into(),
        };
        let passed_on = PASSED_ON
            .iter()
            .filter_map(|name| Some((*name, variables(name)?)));
        let declared = env.iter().map(|(name, value)| (name.as_str(), value.clone()));
        // What is declared goes before what is passed on.
        let all: BTreeMap<&str, String> = passed_on.chain(declared).collect();
        // Servers are often started by another program, such as npx, and have to end with it.
        let start = Start {
            program,
            args: args.iter().map(Into::into).collect(),
            folder: &folder,
            variables: all
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        };
        let (child, (stdin, stdout, stderr)) = ProcessGroup::start(start, helper)?;
        let error_lines = ErrorLines::default();
        let listening = tokio::spawn(listen(server.to_owned(), stderr, error_lines.clone()));
        let (ended, when_ended) = watch::channel(None);
        let (stop, stopped) = oneshot::channel();
        let server = server.to_owned();
        tokio::spawn(async move {
            let status = watched(child, stopped).await;
            // Its last lines are read before its end is reported.
            let _ = tokio::time::timeout(LAST_LINES, listening).await;
            tracing::info!(target: "superstep::mcp", server, "ended: {status}");
            ended.send_replace(Some(status));
        });
        let process = Self {
            ended: when_ended,
            error_lines,
            _stop: stop,
        };
        Ok((process, (stdout, stdin)))
    }

    /// Returns how the process ended, if it has, and its last output; for error messages.
    pub(super) async fn exit_message(&self) -> String {
        let mut ended = self.ended.clone();
        // A process that just closed its output has its end known in a moment.
        let _ = tokio::time::timeout(LAST_LINES * 2, ended.wait_for(Option::is_some)).await;
        let status = ended.borrow().clone();
        let mut words = status.map_or_else(String::new, |status| format!(" ({status})"));
        let error_lines: Vec<String> = self.error_lines.lock().iter().cloned().collect();
        if !error_lines.is_empty() {
            words.push_str(". It said: ");
            words.push_str(&error_lines.join("\n"));
        }
        words
    }

    /// Returns whether the process is still running.
    pub(super) fn runs(&self) -> bool {
        self.ended.borrow().is_none()
    }
}

/// Waits for the end of a process, or brings it about.
async fn watched(mut child: ProcessGroup, stopped: oneshot::Receiver<()>) -> String {
    let described = |status: io::Result<std::process::ExitStatus>| match status {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    tokio::select! {
        status = child.wait() => return described(status),
        // Either it was asked to stop, or nobody holds it any more.
        _ = stopped => {}
    }
    if let Ok(status) = tokio::time::timeout(GRACE, child.wait()).await {
        return described(status);
    }
    child.end();
    match child.wait().await {
        Ok(_) => "it did not end by itself and was killed".to_owned(),
        Err(error) => format!("it could not be ended: {error}"),
    }
}

/// Passes standard error on to the log, and keeps the end of it.
async fn listen(server: String, mut stderr: impl AsyncRead + Unpin, error_lines: ErrorLines) {
    let keep = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        tracing::info!(target: "superstep::mcp", server, "{text}");
        let mut error_lines = error_lines.lock();
        error_lines.push_back(text.to_owned());
        if error_lines.len() > KEPT_LINES {
            error_lines.pop_front();
        }
    };
    let (mut line, mut block) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stderr.read(&mut block).await {
        for &byte in &block[..count] {
            if byte == b'\n' {
                keep(&line);
                line.clear();
            } else if line.len() < MAX_LINE {
                line.push(byte);
            }
        }
    }
    keep(&line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_of_standard_error_are_kept_and_long_ones_cut() {
        let lines = (0..20).map(|n| format!("line {n}\r\n\n")).collect::<String>();
        let text = format!("{lines}{}\nno end", "x".repeat(3 * MAX_LINE));
        let error_lines = ErrorLines::default();
        listen("s".to_owned(), text.as_bytes(), error_lines.clone()).await;
        let kept: Vec<String> = error_lines.lock().iter().cloned().collect();
        let whole: Vec<String> = (10..20).map(|n| format!("line {n}")).collect();
        assert_eq!(kept[..KEPT_LINES - 2], whole);
        assert_eq!(
            kept[KEPT_LINES - 2..],
            ["x".repeat(MAX_LINE), "no end".to_owned()]
        );
    }
}
