//! The Python process that runs cases with LangGraph.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::case::root;
use crate::normal::normalise;

/// One process for any number of cases.
#[derive(Debug)]
pub struct Recorder {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

fn other(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

impl Recorder {
    /// Starts the interpreter that `SUPERSTEP_CONFORMANCE_PYTHON` names, or that of `target/conformance/venv`.
    pub fn start() -> io::Result<Self> {
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
        let (input, output) = process
            .stdin
            .take()
            .zip(process.stdout.take())
            .ok_or_else(|| other("no pipes"))?;
        Ok(Self {
            process,
            input,
            output: BufReader::new(output),
        })
    }

    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        writeln!(self.input, "{request}")?;
        self.input.flush()?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(other("the recorder ended; what it said stands above"));
        }
        let answer: Value = serde_json::from_str(&line).map_err(|why| other(format!("{why}: {line}")))?;
        match answer.get("failed") {
            Some(why) => Err(other(format!(
                "{why}\n{}",
                answer["trace"].as_str().unwrap_or_default()
            ))),
            None => Ok(answer),
        }
    }

    /// What LangGraph does with a case, in comparable form.
    pub fn record(&mut self, case: &Value) -> io::Result<Value> {
        let mut request = case.clone();
        if let Value::Object(fields) = &mut request {
            fields.remove("record");
        }
        let mut answer = self.ask(&request)?;
        Ok(normalise(answer["record"].take()))
    }

    /// A random case with its record.
    pub fn generate(&mut self, seed: u64) -> io::Result<Value> {
        let mut answer = self.ask(&json!({"seed": seed}))?;
        let mut case = answer["case"].take();
        case["record"] = normalise(answer["record"].take());
        Ok(case)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It ends by itself when its input closes; a recorder that hangs is not waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
