//! The real program in temporary folders: what it prints, where, and how it exits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::too_many_lines, reason = "a test tells one story")]

mod agent_server;
mod attach;
mod breaks;
mod changes;
mod check;
mod claims;
#[cfg(unix)]
mod damaged;
mod diff;
mod effects;
#[cfg(unix)]
mod elsewhere;
mod evaluate;
mod explain;
#[cfg(unix)]
mod handover;
mod hot_edit;
mod invariants;
mod langgraph;
#[cfg(target_os = "linux")]
mod outlive;
mod preview;
#[cfg(target_os = "linux")]
mod read_only;
mod records;
mod run;
mod search;
mod secrets;
#[cfg(unix)]
mod serve;
mod store;
mod telemetry;
mod terminal;
mod testing;
mod threads;
mod trace;
mod trust;
mod what_if;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

/// A user with an empty data folder.
struct User {
    dir: TempDir,
}

/// What a call came to.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl User {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_superstep"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
            .env("SUPERSTEP_DATA", self.dir.path().join("data"))
            .env("HOME", self.dir.path());
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            if shown == "SUPERSTEP_LOG" || shown == "SUPERSTEP_DB" || shown.starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        command
    }

    fn call(&self, args: &[&str]) -> Done {
        done(&mut self.command(args))
    }

    /// Calls with a command in front of the program, which starts it: `"$0" "$@"` of a shell's script.
    fn through(&self, around: &[&str], args: &[&str]) -> Done {
        let own = self.command(args);
        let mut command = Command::new(around[0]);
        command
            .args(&around[1..])
            .arg(own.get_program())
            .args(own.get_args())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        done(&mut command)
    }

    /// Calls and insists on the exit code.
    #[track_caller]
    fn expect(&self, code: i32, args: &[&str]) -> Done {
        let done = self.call(args);
        assert_eq!(
            done.code, code,
            "{args:?}\nstdout: {}\nstderr: {}",
            done.out, done.err
        );
        done
    }

    /// Writes a graph file and gives its path.
    fn graph(&self, name: &str, graph: &Json) -> String {
        let path = self.dir.path().join(name);
        std::fs::write(&path, serde_json::to_string_pretty(graph).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn done(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Done {
    fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The lines of NDJSON.
    fn events(&self) -> Vec<Json> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// A folder of the repository's `graphs`.
fn example(name: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../graphs")
        .join(name);
    root.canonicalize().unwrap().to_str().unwrap().to_owned()
}
