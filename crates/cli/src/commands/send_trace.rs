//! `superstep trace --send`: what ran, as the spans that its run would have sent.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use superstep_nodes::models::observed_model;
use superstep_telemetry::{FieldValue, Options, PastSpan, Telemetry};
use superstep_workbench::wire::{ExchangeEnd, RunStatus, RunView, SpanCall, SpanEnd, TraceSpan, TraceView};

use crate::fault::Fault;
use crate::out;

/// Sends it, and says how much that was.
pub(crate) async fn send(trace: &TraceView, thread: &str) -> Result<(), Fault> {
    let options = Options::from_env().map_err(|error| Fault::failed(error.to_string()))?;
    let Some(mut options) = options.filter(|options| options.traces.is_some()) else {
        return Err(Fault::usage(
            "No collector is named. Set OTEL_EXPORTER_OTLP_ENDPOINT, for example to http://localhost:4318.",
        ));
    };
    options.metrics = None;
    let spans = spans_of(trace, thread);
    let count = spans.len() as u64;
    // The exporter blocks until everything has been delivered.
    let sent = tokio::task::spawn_blocking(move || {
        let telemetry = Telemetry::start(options)?;
        let sent = telemetry.send(&spans);
        sent.and(telemetry.finish())
    });
    let sent = sent.await.map_err(|error| Fault::failed(error.to_string()))?;
    sent.map_err(|error| Fault::failed(error.to_string()))?;
    out::note(&format!("{} sent.", out::count(count, "span")));
    Ok(())
}

fn at(millis: f64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs_f64(millis.max(0.0) / 1000.0)
}

fn outcome(end: SpanEnd) -> &'static str {
    match end {
        SpanEnd::Done => "done",
        SpanEnd::Failed => "failed",
        SpanEnd::Asking => "interrupted",
        SpanEnd::Left => "cancelled",
    }
}

/// Builds the spans of a trace, each before those that it encloses: runs, then steps and tasks of each graph, the
/// outermost first.
fn spans_of(trace: &TraceView, thread: &str) -> Vec<PastSpan> {
    let mut ends: HashMap<&str, (f64, f64)> = HashMap::new();
    let mut steps: HashMap<String, (f64, f64, Vec<&TraceSpan>)> = HashMap::new();
    for span in &trace.spans {
        let run = ends.entry(&span.run_id).or_insert((span.started, span.ended));
        *run = (run.0.min(span.started), run.1.max(span.ended));
        let step = steps
            .entry(step_of(span))
            .or_insert((span.started, span.ended, Vec::new()));
        *step = (
            step.0.min(span.started),
            step.1.max(span.ended),
            std::mem::take(&mut step.2),
        );
        step.2.push(span);
    }
    let mut runs: Vec<_> = ends.into_iter().collect();
    runs.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let mut sent = Vec::new();
    for (run_id, times) in runs {
        let known = trace.runs.iter().find(|run| run.run_id == run_id);
        sent.push(run(run_id, thread, times, known));
    }
    let mut steps: Vec<_> = steps.into_iter().collect();
    // A graph within begins after the task around it, and no later than with it.
    steps.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let known: std::collections::HashSet<(&str, &str)> = (trace.spans.iter())
        .map(|span| (span.run_id.as_str(), span.task_id.as_str()))
        .collect();
    // In a tree, so that a task is there before the steps within it, even when they began in the same millisecond.
    let mut inside: HashMap<String, Vec<Step<'_>>> = HashMap::new();
    for (id, (from, to, tasks)) in steps {
        let Some(first) = tasks.first() else { continue };
        let around = match &first.parent {
            Some(parent) if known.contains(&(first.run_id.as_str(), parent.as_str())) => {
                task_of(&first.run_id, parent)
            }
            _ => first.run_id.clone(),
        };
        let step = Step { id, from, to, tasks };
        inside.entry(around).or_default().push(step);
    }
    let mut open: Vec<String> = sent.iter().map(|run| run.id.clone()).collect();
    while let Some(around) = open.pop() {
        for step in inside.remove(&around).unwrap_or_default() {
            sent.push(step.span(&around));
            for task in &step.tasks {
                open.push(task_of(&task.run_id, &task.task_id));
                task_spans(task, &step.id, &mut sent);
            }
        }
    }
    sent
}

fn step_of(span: &TraceSpan) -> String {
    let parent = span.parent.as_deref().unwrap_or_default();
    format!("{} {parent} {} {}", span.run_id, span.step, span.checkpoint_id)
}

fn task_of(run: &str, task: &str) -> String {
    format!("{run} {task}")
}

fn run(id: &str, thread: &str, (from, to): (f64, f64), known: Option<&RunView>) -> PastSpan {
    let mut fields: Vec<(_, FieldValue)> = vec![
        ("run.id", id.to_owned().into()),
        ("thread.id", thread.to_owned().into()),
    ];
    if let Some(run) = known {
        let outcome = match run.status {
            RunStatus::Done => "done",
            RunStatus::Failed => "failed",
            RunStatus::Asking => "interrupted",
            RunStatus::Paused => "breakpoint",
            _ => "cancelled",
        };
        fields.push(("outcome", outcome.into()));
        if let Some(problem) = &run.problem {
            fields.push(("error", problem.message.clone().into()));
        }
    }
    PastSpan {
        id: id.to_owned(),
        parent: None,
        name: "run".into(),
        from: at(from),
        to: at(to),
        is_request: false,
        fields,
    }
}

struct Step<'a> {
    id: String,
    from: f64,
    to: f64,
    tasks: Vec<&'a TraceSpan>,
}

impl Step<'_> {
    fn span(&self, around: &str) -> PastSpan {
        let number = self.tasks.first().map_or(0, |task| task.step);
        PastSpan {
            id: self.id.clone(),
            parent: Some(around.to_owned()),
            name: "step".into(),
            from: at(self.from),
            to: at(self.to),
            is_request: false,
            fields: vec![
                ("step", number.to_string().into()),
                ("tasks", self.tasks.len().to_string().into()),
            ],
        }
    }
}

/// Adds the spans of a task, with its attempts and its requests to models.
fn task_spans(task: &TraceSpan, step: &str, sent: &mut Vec<PastSpan>) {
    let id = task_of(&task.run_id, &task.task_id);
    let mut fields: Vec<(_, FieldValue)> = vec![
        ("node", task.node.clone().into()),
        ("task.id", task.task_id.clone().into()),
        ("step", task.step.to_string().into()),
        ("outcome", outcome(task.end).into()),
    ];
    if task.waited() > 0.0 {
        fields.push(("waited_ms", format!("{:.0}", task.waited()).into()));
    }
    fields.extend(task.error.clone().map(|error| ("error", error.into())));
    let part = |name: &'static str, number: usize, from: f64, to: f64, fields| PastSpan {
        id: format!("{id} {name} {number}"),
        parent: Some(id.clone()),
        name: name.into(),
        from: at(from),
        to: at(to),
        is_request: false,
        fields,
    };
    let mut parts = Vec::new();
    let mut from = task.started;
    for (number, failed) in task.attempts.iter().enumerate() {
        let fields: Vec<(_, FieldValue)> = vec![
            ("node", task.node.clone().into()),
            ("attempt", failed.attempt.to_string().into()),
            ("outcome", "failed".into()),
            ("error", failed.error.clone().into()),
        ];
        parts.push(part("attempt", number, from, failed.ended, fields));
        from = (failed.ended + f64::from(failed.wait_millis.unwrap_or(0))).min(task.ended);
    }
    let last: Vec<(_, FieldValue)> = vec![
        ("node", task.node.clone().into()),
        ("attempt", (task.attempts.len() + 1).to_string().into()),
        ("outcome", outcome(task.end).into()),
    ];
    parts.push(part("attempt", task.attempts.len(), from, task.ended, last));
    for (number, call) in task.calls.iter().enumerate() {
        let ended = call.at + f64::from(call.millis);
        let plain = part("model", number, call.at, ended, call_fields(call));
        parts.push(match observed_model(&call.model) {
            Some((provider, model)) => as_request(plain, call, provider, model),
            None => plain,
        });
    }
    sent.push(PastSpan {
        parent: Some(step.to_owned()),
        name: "task".into(),
        from: at(task.started),
        to: at(task.ended),
        is_request: false,
        fields,
        id,
    });
    sent.extend(parts);
}

fn call_fields(call: &SpanCall) -> Vec<(&'static str, FieldValue)> {
    let ended = match call.ended {
        ExchangeEnd::Failed => "failed",
        ExchangeEnd::Done | ExchangeEnd::Left => "done",
    };
    let mut fields = vec![("model", call.model.clone().into()), ("outcome", ended.into())];
    if let Some(tokens) = &call.tokens {
        fields.push(("tokens.input", tokens.input.to_string().into()));
        fields.push(("tokens.output", tokens.output.to_string().into()));
    }
    if let Some(cost) = &call.cost {
        fields.push(("cost", format!("{} {}", cost.amount, cost.currency).into()));
    }
    fields
}

/// Adds the name and the attributes that the span of a call of a model has in OpenTelemetry's conventions.
fn as_request(mut span: PastSpan, call: &SpanCall, provider: &str, model: &str) -> PastSpan {
    span.name = format!("chat {model}").into();
    span.is_request = true;
    span.fields.extend([
        ("gen_ai.operation.name", "chat".into()),
        ("gen_ai.provider.name", provider.to_owned().into()),
        ("gen_ai.request.model", model.to_owned().into()),
    ]);
    let count = |tokens: u64| FieldValue::I64(i64::try_from(tokens).unwrap_or(i64::MAX));
    span.fields.extend(call.tokens.iter().flat_map(|tokens| {
        [
            ("gen_ai.usage.input_tokens", count(tokens.input)),
            ("gen_ai.usage.output_tokens", count(tokens.output)),
        ]
    }));
    span
}
