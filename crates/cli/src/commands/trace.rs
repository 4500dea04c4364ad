//! `superstep trace`: what ran when on a thread, and what it cost.

use std::collections::BTreeMap;

use superstep::ThreadId;
use superstep_workbench::wire::{Problem, ReadTrace, SpanCall, SpanEnd, TraceSpan, TraceView};

use crate::args::{SumBy, TraceArgs};
use crate::commands::send_trace;
use crate::fault::Fault;
use crate::out;
use crate::place::{Store, data_dir};
use crate::progress::task_name;

pub(crate) async fn trace(args: &TraceArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    store.thread(&ThreadId::from(args.thread.as_str())).await?;
    let request = ReadTrace {
        thread_id: args.thread.clone(),
        after: None,
        limit: args
            .limit
            .map_or(0, |limit| u32::try_from(limit.get()).unwrap_or(u32::MAX)),
    };
    let trace = superstep_workbench::trace(&data_dir()?, &request).map_err(|problem| Problem {
        message: format!("The trace cannot be read: {}", problem.message),
        ..problem
    })?;
    if args.send && !trace.spans.is_empty() {
        return send_trace::send(&trace, &args.thread).await;
    }
    if args.reading.json {
        return Ok(out::pretty(&trace)?);
    }
    if trace.spans.is_empty() {
        out::note(match store.saver.foreign() {
            Some(_) => {
                "How long tasks took and what they cost is not in a LangGraph database. `superstep history` has the times of its \
                 checkpoints, and `superstep state` the tokens that its messages carry."
            }
            None => {
                "Nothing is recorded of this thread: it was run before traces were kept, or without a data folder."
            }
        });
        return Ok(());
    }
    if trace.left_out {
        out::note("Only the newest tasks are shown; --limit shows more of them.");
    }
    let (mut heads, mut rows) = match args.by {
        Some(by) => (
            vec![by.heading(), "N", "TIME", "WAITED", "TOKENS", "COST"],
            sums(&trace, by),
        ),
        None => (
            vec!["START", "STEP", "TASK", "TIME", "WAITED", "TOKENS", "COST", "END"],
            tasks(&trace),
        ),
    };
    // Most graphs have no limits: then no task waited.
    let waited = heads.iter().position(|head| *head == "WAITED");
    if let Some(at) = waited.filter(|at| rows.iter().all(|row| row[*at].is_empty())) {
        heads.remove(at);
        for row in &mut rows {
            row.remove(at);
        }
    }
    Ok(out::table(&heads, &rows)?)
}

/// Time, tokens and money of some spans or calls.
#[derive(Debug, Default)]
struct Sum {
    count: u64,
    millis: f64,
    waited: f64,
    tokens: u64,
    cost: BTreeMap<String, f64>,
}

impl Sum {
    fn add(&mut self, calls: &[SpanCall]) {
        for call in calls {
            self.tokens += call
                .tokens
                .as_ref()
                .map_or(0, |tokens| tokens.input + tokens.output);
            if let Some(cost) = &call.cost {
                *self.cost.entry(cost.currency.clone()).or_default() += cost.amount;
            }
        }
    }

    fn tokens(&self) -> String {
        match self.tokens {
            0 => String::new(),
            tokens => tokens.to_string(),
        }
    }

    fn cost(&self) -> String {
        let amounts = self.cost.iter();
        let shown: Vec<String> = amounts
            .map(|(currency, amount)| format!("{amount:.4} {currency}"))
            .collect();
        shown.join(" + ")
    }
}

/// Formats milliseconds for people.
fn time(millis: f64) -> String {
    match millis {
        ..1000.0 => format!("{millis:.0} ms"),
        ..60_000.0 => format!("{:.2} s", millis / 1000.0),
        _ => format!("{:.1} min", millis / 60_000.0),
    }
}

fn waited(millis: f64) -> String {
    if millis > 0.0 { time(millis) } else { String::new() }
}

fn end(span: &TraceSpan) -> String {
    let tries = match span.attempts.len() {
        0 => String::new(),
        failed => format!(" after {}", out::count(failed as u64, "failed attempt")),
    };
    let end = match span.end {
        SpanEnd::Done => "done",
        SpanEnd::Failed => "failed",
        SpanEnd::Asking => "asking",
        SpanEnd::Left => "left",
    };
    let error = span
        .error
        .as_deref()
        .map_or(String::new(), |error| format!(": {error}"));
    format!("{end}{tries}{error}")
}

/// Returns a row for each task, those of nested graphs below the task that runs them.
fn tasks(trace: &TraceView) -> Vec<Vec<String>> {
    let mut within: BTreeMap<(&str, &str), Vec<&TraceSpan>> = BTreeMap::new();
    let known = |span: &TraceSpan, id: &str| {
        (trace.spans.iter()).any(|other| other.task_id == id && other.run_id == span.run_id)
    };
    let mut parents: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for span in &trace.spans {
        // What a task ran that is not kept any more stands on its own.
        let parent = span.parent.as_deref().unwrap_or_default();
        let is_known = parent.is_empty()
            || *(parents.entry((&span.run_id, parent))).or_insert_with(|| known(span, parent));
        let place = (span.run_id.as_str(), if is_known { parent } else { "" });
        within.entry(place).or_default().push(span);
    }
    for spans in within.values_mut() {
        spans.sort_by(|a, b| a.started.total_cmp(&b.started).then(a.step.cmp(&b.step)));
    }
    let first = trace
        .spans
        .iter()
        .map(|span| span.started)
        .fold(f64::INFINITY, f64::min);
    let mut rows = Vec::with_capacity(trace.spans.len());
    let mut open: Vec<(usize, &TraceSpan)> = Vec::new();
    let runs: Vec<&str> = within
        .keys()
        .filter(|(_, task)| task.is_empty())
        .map(|(run, _)| *run)
        .collect();
    for run in runs {
        open.extend(within[&(run, "")].iter().rev().map(|span| (0, *span)));
        while let Some((depth, span)) = open.pop() {
            let mut sum = Sum::default();
            sum.add(&span.calls);
            rows.push(vec![
                time(span.started - first),
                span.step.to_string(),
                format!("{}{}", "  ".repeat(depth), task_name(&span.node)),
                time(span.worked()),
                waited(span.waited()),
                sum.tokens(),
                sum.cost(),
                end(span),
            ]);
            let inside = within.get(&(run, span.task_id.as_str()));
            open.extend(inside.into_iter().flatten().rev().map(|span| (depth + 1, *span)));
        }
    }
    rows
}

/// Returns a row for each node or model, the one that took longest first.
fn sums(trace: &TraceView, by: SumBy) -> Vec<Vec<String>> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for span in &trace.spans {
        match by {
            SumBy::Node => {
                let sum = sums.entry(&span.node).or_default();
                sum.count += 1;
                sum.millis += span.worked();
                sum.waited += span.waited();
                sum.add(&span.calls);
            }
            SumBy::Model => {
                for call in &span.calls {
                    let sum = sums.entry(&call.model).or_default();
                    sum.count += 1;
                    sum.millis += f64::from(call.millis);
                    sum.add(std::slice::from_ref(call));
                }
            }
        }
    }
    let mut sums: Vec<(&str, Sum)> = sums.into_iter().collect();
    sums.sort_by(|(_, a), (_, b)| b.millis.total_cmp(&a.millis));
    let row = |(name, sum): (&str, Sum)| {
        vec![
            task_name(name).into_owned(),
            sum.count.to_string(),
            time(sum.millis),
            waited(sum.waited),
            sum.tokens(),
            sum.cost(),
        ]
    };
    sums.into_iter().map(row).collect()
}
