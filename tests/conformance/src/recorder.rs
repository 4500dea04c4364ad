//! The Python process that runs cases with LangGraph.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::root;
use crate::normal::normalise;

/// How long LangGraph may take for a case. Some it never ends: its executor waits for the thread of a task that waits
/// for a call which nobody will make any more, or that runs a nested graph for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// One process for any number of cases; another one after a case that did not end.
#[derive(Debug)]
pub struct Recorder {
    running: Running,
}

#[derive(Debug)]
struct Running {
    process: Child,
    input: ChildStdin,
    /// Its lines.
    output: Receiver<io::Result<String>>,
}

fn other(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

impl Recorder {
    /// Starts the interpreter that `SUPERSTEP_CONFORMANCE_PYTHON` names, or that of `target/conformance/venv`.
    pub fn start() -> io::Result<Self> {
        let running = Running::start()?;
        Ok(Self { running })
    }

    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        let Running { input, output, .. } = &mut self.running;
        writeln!(input, "{request}")?;
        input.flush()?;
        let line = match output.recv_timeout(PATIENCE) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(other("the recorder ended; what it said stands above"));
            }
            Err(RecvTimeoutError::Timeout) => {
                self.running = Running::start()?;
                let patience = PATIENCE.as_secs();
                return Err(other(format!("LangGraph did not end it within {patience} s")));
            }
        };
        let answer: Value = serde_json::from_str(&line).map_err(|why| other(format!("{why}: {line}")))?;
        match answer.get("failed") {
            Some(why) => Err(other(format!(
                "{why}\n{}",
                answer["trace"].as_str().unwrap_or_default()
            ))),
            None => Ok(answer),
        }
    }

    /// Records what LangGraph does with a case, in comparable form.
    pub fn record(&mut self, case: &Value) -> io::Result<Value> {
        self.observe(case).map(normalise)
    }

    /// Records what LangGraph does with a case, with ids and times as they came.
    pub fn observe(&mut self, case: &Value) -> io::Result<Value> {
        let mut request = case.clone();
        if let Value::Object(fields) = &mut request {
            fields.remove("record");
        }
        let mut answer = self.ask(&request)?;
        Ok(answer["record"].take())
    }

    /// Generates a random case, and its record with ids and times as they came.
    pub fn generate(&mut self, seed: u64) -> io::Result<(Value, Value)> {
        let mut answer = self.ask(&json!({"seed": seed}))?;
        Ok((answer["case"].take(), answer["record"].take()))
    }
}

impl Running {
    fn start() -> io::Result<Self> {
        let python = std::env::var_os("SUPERSTEP_CONFORMANCE_PYTHON")
            .map(PathBuf::from)
            .unwrap_or_else(|| root().join("../../target/conformance/venv/bin/python"));
        let mut process = Command::new(&python)
            .arg(root().join("python/record.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|why| {
                let python = python.display();
                other(format!(
                    "{python} cannot be started: {why}. `./dev conformance` installs what is needed."
                ))
            })?;
        let (input, lines) = process
            .stdin
            .take()
            .zip(process.stdout.take())
            .ok_or_else(|| other("no pipes"))?;
        let (sender, output) = channel();
        thread::spawn(move || {
            for line in BufReader::new(lines).lines() {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            process,
            input,
            output,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It ends by itself when its input closes; a recorder that hangs is not waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
