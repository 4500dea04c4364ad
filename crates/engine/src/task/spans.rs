//! The spans of a run: `run` holds its `step`s, a step its `task`s, a task its `attempt`s.
//!
//! All have the target [`TARGET`]; `run` is of level INFO, the others of DEBUG. Their fields are stable:
//!
//! | span | from the start | at its end |
//! |---|---|---|
//! | `run` | `run.id`, `thread.id`, `input` | `outcome`, `error`, `error.code`, `output`, `steps`, `tasks`, `writes` |
//! | `step` | `step`, `tasks` | `outcome`, `error` |
//! | `task` | `node`, `task.id()`, `step`, `input` | `outcome`, `error`, `output` |
//! | `attempt` | `node`, `attempt` | `outcome`, `error` |
//!
//! `outcome` is `done`, `failed` or `cancelled`; `interrupted` where a question waits, and of a run also `breakpoint`.
//! The step and the task that take the input have spans only when START has routers, because then code of the user
//! runs there.
//!
//! `input` and `output` are JSON, cut after [`RunConfig::content_limit`](crate::RunConfig::content_limit) bytes: state
//! can be large, and private. They are written only for a span that somebody listens to.
//!
//! What a run cost is one event of the target [`METRICS_TARGET`] and level DEBUG, inside its `run` span, when it ends:
//! `outcome`, `error.code`, and the fields of [`RunMetrics`](crate::stream::RunMetrics), times in seconds. A run is measured for
//! it only when somebody listens to that target.

use std::fmt::Display;
use std::io;

use tracing::Span;

use crate::base::command::Target;
use crate::graph::context::NodeContext;
use crate::stream::error::RunError;
use crate::stream::metrics::Meter;
use crate::stream::request::{Input, RunStatus};
use crate::stream::run_config::RunConfig;
use crate::task::{End, Task};
use crate::value::{Object, Value};

/// The target of every span of a run.
pub const TARGET: &str = "superstep::run";
/// The target of the event that says what a run cost.
pub const METRICS_TARGET: &str = "superstep::metrics";
/// The fields that hold what users put into a graph and what comes out; exporters keep them back unless asked.
pub const CONTENT_FIELDS: [&str; 2] = ["input", "output"];

/// Records how the work of a span ended, also when its future is dropped before the end.
pub(crate) struct Ending {
    span: Span,
    outcome: &'static str,
    code: Option<&'static str>,
    /// What a run cost is reported with how it ended.
    cost: Option<Meter>,
}

impl Ending {
    pub(crate) fn of(span: &Span) -> Self {
        Self {
            span: span.clone(),
            outcome: "cancelled",
            code: None,
            cost: None,
        }
    }
    pub(crate) fn of_run(span: &Span, meter: Option<Meter>) -> Self {
        let mut ending = Self::of(span);
        ending.cost = meter.filter(Meter::is_reported);
        ending
    }
    fn set(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
    fn error(&self, error: &dyn Display) {
        if !self.span.is_disabled() {
            self.span.record("error", tracing::field::display(error));
        }
    }

    pub(crate) fn step(mut self) {
        self.set("done");
    }
    pub(crate) fn stopped_step(mut self, error: Option<&RunError>) {
        self.set(match error {
            None => "interrupted",
            Some(RunError::Cancelled) => "cancelled",
            Some(_) => "failed",
        });
        if let Some(error) = error {
            self.error(error);
        }
    }

    pub(crate) fn task(&mut self, end: &End) {
        self.set(match end {
            End::Done => "done",
            End::Failed(_) => "failed",
            End::Interrupted { .. } => "interrupted",
            End::Parent(_) => "done",
            End::Drained(_) | End::Cancelled => "cancelled",
        });
        if let End::Failed(failure) = end {
            self.error(failure);
        }
    }
    pub(crate) fn output(&self, output: impl FnOnce() -> Value, limit: usize) {
        if limit > 0 && !self.span.is_disabled() {
            self.span.record("output", shown(&output(), limit));
        }
    }

    pub(crate) fn counts(&self, steps: u64, tasks: u64, writes: u64) {
        if self.span.is_disabled() {
            return;
        }
        self.span
            .record("steps", steps)
            .record("tasks", tasks)
            .record("writes", writes);
    }
    pub(crate) fn run(&mut self, status: Result<RunStatus, &RunError>) {
        self.set(match status {
            Ok(RunStatus::Done) => "done",
            Ok(RunStatus::Interrupted) => "interrupted",
            Ok(RunStatus::Breakpoint) => "breakpoint",
            Err(RunError::Cancelled) => "cancelled",
            Err(_) => "failed",
        });
        if let Err(error) = status {
            self.error(error);
            self.code = Some(error.code());
            self.span.record("error.code", error.code());
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // A span that nobody listens to would look for the field's name first.
        if !self.span.is_disabled() {
            self.span.record("outcome", self.outcome);
        }
        if let Some(meter) = &self.cost {
            let cost = meter.read();
            tracing::debug!(
                target: METRICS_TARGET,
                parent: &self.span,
                outcome = self.outcome,
                error.code = self.code,
                steps = cost.steps,
                tasks = cost.tasks,
                writes = cost.writes,
                commits = cost.commits,
                checkpoint_bytes = cost.checkpoint_bytes,
                peak_state_bytes = cost.peak_state_bytes,
                in_nodes = cost.in_nodes.as_secs_f64(),
                in_storage = cost.in_storage.as_secs_f64(),
                in_readers = cost.in_readers.as_secs_f64(),
                in_engine = cost.in_engine.as_secs_f64(),
                "a run has ended",
            );
        }
    }
}

/// Returns whether anybody listens to the costs of runs. Checked as for a span: the result of `tracing::enabled!` stays
/// behind in the filters of tracing-subscriber, and could hold for the next span.
pub(crate) fn wants_costs() -> bool {
    !tracing::debug_span!(target: METRICS_TARGET, "cost").is_disabled()
}

pub(crate) fn run(config: &RunConfig, run_id: &str, input: &Input) -> Span {
    tracing::info_span!(
        target: TARGET,
        "run",
        run.id = run_id,
        thread.id = config.thread.as_ref().map(tracing::field::display),
        input = content(config.content_limit, || input_json(input)),
        output = tracing::field::Empty,
        outcome = tracing::field::Empty,
        error = tracing::field::Empty,
        error.code = tracing::field::Empty,
        steps = tracing::field::Empty,
        tasks = tracing::field::Empty,
        writes = tracing::field::Empty,
    )
}

pub(crate) fn step(step: i64, tasks: usize) -> Span {
    tracing::debug_span!(
        target: TARGET,
        "step",
        step,
        tasks,
        outcome = tracing::field::Empty,
        error = tracing::field::Empty,
    )
}

pub(crate) fn task(task: &Task, step: i64, limit: usize) -> Span {
    tracing::debug_span!(
        target: TARGET,
        "task",
        node = &*task.name,
        task.id = %task.id(),
        step,
        input = content(limit, || task.input.clone()),
        output = tracing::field::Empty,
        outcome = tracing::field::Empty,
        error = tracing::field::Empty,
    )
}

pub(crate) fn attempt(context: &NodeContext) -> Span {
    // The fields are worked out only when somebody listens.
    tracing::debug_span!(
        target: TARGET,
        "attempt",
        node = &*context.info().node,
        attempt = context.info().attempt,
        outcome = tracing::field::Empty,
        error = tracing::field::Empty,
    )
}

fn content(limit: usize, value: impl FnOnce() -> Value) -> Option<String> {
    (limit > 0).then(|| shown(&value(), limit))
}

fn input_json(input: &Input) -> Value {
    match input {
        Input::Value(value) => value.clone(),
        Input::Continue => Value::Null,
        Input::Command(command) => {
            let goto: Vec<Value> = command.goto.iter().map(target_json).collect();
            let entries = [
                ("update", command.update.clone()),
                ("goto", (!goto.is_empty()).then(|| goto.into())),
                ("resume", command.resume.clone()),
            ];
            let given = entries.into_iter().filter_map(|(key, value)| Some((key, value?)));
            Value::Object(given.collect::<Object>())
        }
    }
}

fn target_json(target: &Target) -> Value {
    match target {
        Target::Node(name) => Value::String(name.clone()),
        Target::Send(packet) => crate::channel::packet(packet),
    }
}

/// Returns the first `limit` bytes of the value as JSON; what is cut off is not even made.
pub(crate) fn shown(value: &Value, limit: usize) -> String {
    struct Limited {
        text: Vec<u8>,
        left: usize,
    }
    impl io::Write for Limited {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let kept = bytes.len().min(self.left);
            self.text.extend_from_slice(&bytes[..kept]);
            self.left -= kept;
            if kept < bytes.len() {
                return Err(io::ErrorKind::WriteZero.into());
            }
            Ok(kept)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut out = Limited {
        text: Vec::new(),
        left: limit,
    };
    let whole = serde_json::to_writer(&mut out, value).is_ok();
    let Limited { mut text, .. } = out;
    if let Err(error) = std::str::from_utf8(&text) {
        text.truncate(error.valid_up_to());
    }
    let mut text = String::from_utf8(text).unwrap_or_default();
    if !whole {
        text.push('…');
    }
    text
}
