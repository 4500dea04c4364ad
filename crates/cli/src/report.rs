//! A run as it is shown, whichever program it is in: lines for people, or events for programs, and how it ended.

use std::io;

use superstep::value::{List, Object};
use superstep::{Interrupt, StreamEvent, StreamMode, Value};
use superstep_workbench::Watcher;
use superstep_workbench::ipc::{Ending, Streamed};
use superstep_workbench::wire::RunStop;

use crate::args::Running;
use crate::fault::{FAILED, Fault, STOPPED, WAITING};
use crate::out::{self, quoted};
use crate::progress::{self, Again, Progress, json};

/// The line in place of how to go on.
const GONE: &str = "The thread was in memory only, and is gone now.";

/// Output of one run.
#[derive(Debug)]
pub(crate) struct Report {
    thread: String,
    /// The command that goes on with the thread.
    again: Again,
    /// The thread outlives the program.
    durable: bool,
    /// Events for programs are written, not lines for people.
    machine: bool,
    modes: Vec<StreamMode>,
    progress: Progress,
    written: io::Result<()>,
}

impl Report {
    pub(crate) fn new(args: &Running, thread: &str, option: &str, durable: bool) -> Self {
        let machine = args.json || !args.stream.is_empty();
        let modes = match (machine, args.stream.is_empty()) {
            (true, true) => vec![StreamMode::Updates],
            (true, false) => args.stream.clone(),
            (false, _) => progress::MODES.to_vec(),
        };
        Self {
            again: Again::thread(thread, option),
            thread: thread.to_owned(),
            durable,
            machine,
            modes,
            progress: Progress::default(),
            written: Ok(()),
        }
    }

    /// Creates the output of a run that another command begins, of these modes.
    pub(crate) fn of(
        machine: bool,
        modes: Vec<StreamMode>,
        thread: &str,
        again: Again,
        durable: bool,
    ) -> Self {
        Self {
            thread: thread.to_owned(),
            again,
            durable,
            machine,
            modes,
            progress: Progress::default(),
            written: Ok(()),
        }
    }

    /// Returns the modes of the stream that are shown.
    pub(crate) fn modes(&self) -> &[StreamMode] {
        &self.modes
    }

    pub(crate) fn begin(&self, run_id: &str) -> Result<(), Fault> {
        if self.machine {
            let thread = Value::from(self.thread.as_str());
            event("metadata", [("thread_id", thread), ("run_id", run_id.into())])?;
        } else {
            out::note(&format!("thread {}", self.thread));
        }
        Ok(())
    }

    /// Shows an event; false when nobody reads any more.
    pub(crate) fn show(&mut self, event: &Streamed) -> bool {
        if !self.machine {
            self.progress.show(event);
        } else if self.written.is_ok() {
            let ns: List = event.ns.iter().map(|part| Value::from(part.as_str())).collect();
            self.written = line(&event.event, ns, event.data.clone());
        }
        self.is_read()
    }

    fn is_read(&self) -> bool {
        self.written.is_ok()
    }

    /// Ends the line of tokens, before other words.
    pub(crate) fn end_speech(&mut self) {
        self.progress.end_speech();
    }

    /// Shows the last event or the last words, and gives the exit code.
    pub(crate) fn ended(mut self, ending: Ending) -> Result<(), Fault> {
        self.end_speech();
        std::mem::replace(&mut self.written, Ok(()))?;
        match ending {
            Ending::Result {
                status,
                values,
                interrupts,
                checkpoint,
                stop,
            } => self.result(&status, values, interrupts, checkpoint, stop),
            Ending::Failed {
                code,
                message,
                node,
                task,
                checkpoint,
                same_input,
            } => {
                if self.machine {
                    let mut facts = vec![
                        ("code", Value::from(code.as_str())),
                        ("message", message.as_str().into()),
                        ("thread_id", self.thread.as_str().into()),
                    ];
                    if let (Some(node), Some(task)) = (&node, &task) {
                        facts.push(("node", node.as_str().into()));
                        facts.push(("task_id", task.as_str().into()));
                    }
                    event("error", facts)?;
                }
                let effect = node.zip(checkpoint).filter(|_| task.is_none());
                Err(self.failure(&code, &message, effect, same_input))
            }
        }
    }

    fn resume(&self) -> String {
        self.again.whole()
    }

    fn kept(&self, text: String) -> String {
        if self.durable { text } else { GONE.to_owned() }
    }

    fn failure(
        &self,
        code: &str,
        message: &str,
        effect: Option<(String, String)>,
        same_input: bool,
    ) -> Fault {
        let resume = self.resume();
        match (code, effect) {
            ("cancelled" | "drained", _) => {
                out::note(&self.kept(format!(
                    "Stopped. What was finished is kept; go on with: {resume}"
                )));
                Fault::quiet(STOPPED)
            }
            (
                "node-failed" | "recursion-limit" | "loop-limit" | "packet-limit" | "packet-size-limit"
                | "state-size-limit" | "invariant-broken",
                _,
            ) => {
                out::note(&format!("superstep: {message}"));
                out::note(&self.kept(format!(
                    "Finished work is kept. Remove the cause and go on with: {resume}"
                )));
                Fault::quiet(FAILED)
            }
            (_, Some((node, checkpoint))) => {
                let (input, reuse) = match same_input {
                    true => ("", "reuse (use its result) or "),
                    false => (", with another input", ""),
                };
                out::note(&format!(
                    "superstep: Stopped before `{node}`, which did its work already on another branch (checkpoint \
                     {checkpoint}){input}."
                ));
                out::note(&self.kept(format!(
                    "Nothing of the step was begun. Go on with {resume} --effects WHAT: {reuse}again (do it again)."
                )));
                Fault::quiet(WAITING)
            }
            (
                "invalid-request" | "ambiguous-resume" | "unknown-interrupt" | "empty-input"
                | "no-checkpoint",
                _,
            ) => Fault::usage(message),
            _ => Fault::failed(message),
        }
    }

    fn result(
        &self,
        status: &str,
        values: Value,
        interrupts: Vec<Value>,
        checkpoint: Option<String>,
        stop: Option<RunStop>,
    ) -> Result<(), Fault> {
        if self.machine {
            let mut facts = vec![
                ("status", Value::from(status)),
                ("thread_id", self.thread.as_str().into()),
                ("checkpoint_id", checkpoint.map(Value::from).unwrap_or_default()),
                ("values", values),
                ("interrupts", Value::from(interrupts.clone())),
            ];
            if let Some(stop) = stop.as_ref().and_then(|stop| serde_json::to_value(stop).ok()) {
                facts.push(("stop", stop.into()));
            }
            event("result", facts)?;
        } else {
            out::pretty(&json(&values))?;
        }
        match status {
            "done" => return Ok(()),
            "interrupted" if !self.machine => {
                let questions: Vec<Interrupt> = interrupts.iter().filter_map(Interrupt::from_json).collect();
                for question in &questions {
                    progress::question_for(question, questions.len() == 1, &self.again);
                }
                if !self.durable {
                    out::note(GONE);
                }
            }
            _ if !self.machine => {
                let resume = self.resume();
                let reason = |stop: &RunStop| stop.reason.trim_end_matches('.').to_owned();
                let why = match &stop {
                    Some(stop) if stop.within.is_empty() => format!("Stopped: {}.", reason(stop)),
                    Some(stop) => format!("Stopped in {}: {}.", stop.within, reason(stop)),
                    None => "Stopped at a breakpoint.".to_owned(),
                };
                out::note(&self.kept(format!("{why} Go on with: {resume}")));
            }
            _ => {}
        }
        Err(Fault::quiet(WAITING))
    }
}

impl Watcher for Report {
    fn event(&mut self, event: &StreamEvent) -> bool {
        self.show(&event.into())
    }

    fn waits(&mut self, until: u64) -> bool {
        self.end_speech();
        if !self.machine {
            out::note(&format!("Waits until {}.", superstep::run::iso8601(until)));
        }
        self.is_read()
    }
}

/// Writes a stream line of the command line's own, in the form of the engine's lines.
fn event(name: &str, data: impl IntoIterator<Item = (&'static str, Value)>) -> io::Result<()> {
    line(
        name,
        List::new(),
        Value::Object(data.into_iter().collect::<Object>()),
    )
}

fn line(name: &str, ns: List, data: Value) -> io::Result<()> {
    let line: Object = [
        ("event", Value::from(name)),
        ("ns", Value::Array(ns)),
        ("data", data),
    ]
    .into_iter()
    .collect();
    out::compact(&Value::Object(line))
}

/// Stops the run at the first Ctrl+C, and the program at the second.
pub(crate) fn stop_on_ctrl_c(cancel: tokio_util::sync::CancellationToken) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
            out::note("Stopping; once more to stop without waiting.");
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(i32::from(STOPPED));
            }
        }
    });
}

/// Shows what an edit came to; `again` is the command that goes on with the thread.
pub(crate) fn show_edit(
    thread: &str,
    checkpoint: Option<&str>,
    as_node: &str,
    next: &[String],
    as_json: bool,
    again: &str,
) -> Result<(), Fault> {
    if as_json {
        let made = serde_json::json!({"thread_id": thread, "checkpoint_id": checkpoint, "as_node": as_node, "next": next});
        return Ok(out::pretty(&made)?);
    }
    let names = match next.is_empty() {
        true => "nothing".to_owned(),
        false => next.join(", "),
    };
    match checkpoint {
        Some(checkpoint) => {
            out::line(&format!("checkpoint {checkpoint}, as {as_node}; next: {names}"))?;
            if !next.is_empty() {
                out::note(&format!("Go on with: {again}"));
            }
        }
        None => out::line(&format!(
            "nothing stored; as {as_node} the next would be: {names}"
        ))?,
    }
    Ok(())
}

/// Says that a new input leaves the questions at the checkpoint unanswered.
pub(crate) fn left_unanswered(thread: &str, checkpoint: &str, questions: u64, option: &str) {
    let verb = match questions {
        0 => return,
        1 => "is",
        _ => "are",
    };
    out::note(&format!(
        "{} of thread {thread} {verb} left without an answer by this input. To answer all the same: superstep resume {} \
         --checkpoint {checkpoint}{option}",
        out::count(questions, "question"),
        quoted(thread)
    ));
}
