//! Figures over the runs of many threads, and the runs behind each of them, from what the ledger keeps. One reading makes
//! both, so that a list has as many runs as its figure says.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use superstep_nodes::ModelSettings;

use crate::Workbench;
use crate::base::files;
use crate::ledger::{Ledger, RunOfThread, RunRow, StoredSpan};
use crate::models::prices::price_calls;
use crate::wire::{
    Durations, ExchangeCost, GraphRuns, ListRuns, NodeFailures, NodeTimes, OverviewStatus, Problem, RunGroup,
    RunLine, RunList, RunPeriod, RunSlice, RunStatus, RunsOverview, SpanCall, SpanEnd,
};

/// Rows of a table of an overview.
const MAX_ROWS: usize = 100;
/// Runs of a page: by default, and at most.
const PAGE: u32 = 200;
const MAX_PAGE: u32 = 1_000;
/// Milliseconds.
const DAY: f64 = 86_400_000.0;

/// A task that ended in a run.
#[derive(Debug)]
struct EndedTask {
    id: String,
    checkpoint_id: String,
    node: String,
    worked: f64,
    /// It came to an end of its own: not asking, and not left when the run ended.
    is_over: bool,
    /// The class of the error, of a task that did not only pass on the failure of one within it.
    class: Option<String>,
}

/// A run with what its tasks did.
#[derive(Debug)]
struct KnownRun {
    of: RunOfThread,
    graph: String,
    outcome: OverviewStatus,
    tasks: Vec<EndedTask>,
    input: u64,
    output: u64,
    cost: BTreeMap<String, f64>,
    unpriced: u32,
    unpriced_models: BTreeSet<String>,
}

/// Returns the class of an error as spans have it, such as `ValueError('no')`.
fn class_of(error: &str) -> &str {
    let end = error.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
    &error[..end.unwrap_or(error.len())]
}

/// Adds amounts of money without the digits that only the arithmetic makes.
fn add_cost(cost: &mut BTreeMap<String, f64>, more: &ExchangeCost) {
    let sum = cost.entry(more.currency.clone()).or_default();
    *sum = ((*sum + more.amount) * 1e12).round() / 1e12;
}

fn costs(cost: &BTreeMap<String, f64>) -> Vec<ExchangeCost> {
    let view = |(currency, amount): (&String, &f64)| ExchangeCost {
        amount: *amount,
        currency: currency.clone(),
    };
    cost.iter().map(view).collect()
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the percentile of sorted values by nearest rank; `None` of no values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a list that fits into memory"
)]
fn percentile(sorted: &[f64], of_100: f64) -> Option<f64> {
    let place = (of_100 / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(place.max(1) - 1).copied()
}

fn durations(mut values: Vec<f64>) -> Option<Durations> {
    values.sort_by(f64::total_cmp);
    Some(Durations {
        median: percentile(&values, 50.0)?,
        p95: percentile(&values, 95.0)?,
    })
}

impl KnownRun {
    fn take(&mut self, call: &SpanCall) {
        let (input, output) = call.tokens.map_or((0, 0), |tokens| (tokens.input, tokens.output));
        self.input += input;
        self.output += output;
        match &call.cost {
            Some(cost) => add_cost(&mut self.cost, cost),
            None if input + output > 0 => {
                self.unpriced += 1;
                self.unpriced_models.insert(call.model.clone());
            }
            None => {}
        }
    }

    fn is_unrecorded(&self) -> bool {
        self.tasks.is_empty() && self.outcome != OverviewStatus::Running
    }

    fn is_of(&self, graph: &str) -> bool {
        self.graph == graph
    }

    /// Returns the milliseconds of a run that came to its end.
    fn took(&self) -> Option<f64> {
        self.of.millis.filter(|_| self.outcome == OverviewStatus::Done)
    }

    fn dearest(&self) -> f64 {
        self.cost.values().copied().fold(0.0, f64::max)
    }

    fn line(&self, task: Option<&EndedTask>) -> RunLine {
        RunLine {
            run: self.of.run.view(),
            outcome: self.outcome,
            title: (self.of.title.clone()).unwrap_or_else(|| self.of.run.thread_id.clone()),
            graph_name: self.of.graph_name.clone().unwrap_or_default(),
            millis: self.of.millis,
            tokens: self.input + self.output,
            cost: costs(&self.cost),
            unpriced: self.unpriced,
            checkpoint_id: task.map(|task| task.checkpoint_id.clone()),
            task_id: task.map(|task| task.id.clone()),
            task_millis: task.map(|task| task.worked),
        }
    }
}

/// Reads the runs of a period with their tasks, the newest first.
fn read(
    ledger: &Ledger,
    settings: &ModelSettings,
    period: &RunPeriod,
    place: &str,
    is_alive: impl Fn(&RunRow) -> bool,
) -> Result<Vec<KnownRun>, Problem> {
    let since = period.since.unwrap_or_default().max(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "milliseconds stay below 2^53"
    )]
    let from = superstep::run::iso8601(since as u64);
    let mut followed: HashMap<String, String> = HashMap::new();
    let mut runs = Vec::new();
    for of in ledger.runs_since(&from, place)? {
        let key = of.graph_key.clone().unwrap_or_default();
        let graph = match followed.get(&key) {
            Some(graph) => graph.clone(),
            None => {
                let graph = ledger.followed(&key)?;
                followed.insert(key, graph.clone());
                graph
            }
        };
        let is_alive = of.is_last && of.run.status == RunStatus::Running && is_alive(&of.run);
        runs.push(KnownRun {
            outcome: OverviewStatus::of(of.run.status, is_alive, of.is_last),
            of,
            graph,
            tasks: Vec::new(),
            input: 0,
            output: 0,
            cost: BTreeMap::new(),
            unpriced: 0,
            unpriced_models: BTreeSet::new(),
        });
    }
    let places: HashMap<String, usize> = (runs.iter().enumerate())
        .map(|(place, run)| (run.of.run.run_id.clone(), place))
        .collect();
    // The tasks around one that failed fail with it.
    let mut failed_within: HashSet<(usize, String)> = HashSet::new();
    ledger.each_span_since(since, |mut span: StoredSpan| {
        let Some(place) = places.get(&span.run_id) else {
            return;
        };
        let run = &mut runs[*place];
        price_calls(settings, &mut span.calls);
        span.calls.iter().for_each(|call| run.take(call));
        let is_failed = span.end == SpanEnd::Failed;
        if let (true, Some(around)) = (is_failed, &span.parent) {
            failed_within.insert((*place, around.clone()));
        }
        run.tasks.push(EndedTask {
            worked: span.worked(),
            is_over: matches!(span.end, SpanEnd::Done | SpanEnd::Failed),
            class: is_failed.then(|| class_of(span.error.as_deref().unwrap_or_default()).to_owned()),
            id: span.task_id,
            checkpoint_id: span.checkpoint_id,
            node: span.node,
        });
    })?;
    for (place, run) in runs.iter_mut().enumerate() {
        for task in run.tasks.iter_mut().filter(|task| task.class.is_some()) {
            if failed_within.contains(&(place, task.id.clone())) {
                task.class = None;
            }
        }
    }
    Ok(runs)
}

/// Returns the graphs of these runs, with the most runs first.
fn graphs(runs: &[KnownRun]) -> Vec<GraphRuns> {
    let mut graphs: BTreeMap<&str, GraphRuns> = BTreeMap::new();
    for run in runs {
        let graph = graphs.entry(&run.graph).or_insert_with(|| GraphRuns {
            key: run.graph.clone(),
            name: String::new(),
            runs: 0,
        });
        graph.runs += 1;
        // Of a graph that was renamed the newest name counts, and runs come newest first.
        if graph.name.is_empty() {
            graph.name = run.of.graph_name.clone().unwrap_or_default();
        }
    }
    let mut graphs: Vec<GraphRuns> = graphs.into_values().collect();
    graphs.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.name.cmp(&b.name)));
    graphs
}

/// Counts when runs began, in equal parts of the time from `since`, or from the first of them, to now.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of at most thirty"
)]
fn slices(runs: &[&KnownRun], since: Option<f64>, now: f64) -> Vec<RunSlice> {
    let Some(from) = since.or_else(|| runs.last().map(|run| run.of.began)) else {
        return Vec::new();
    };
    let whole = (now - from).max(1.0);
    let parts = match whole {
        whole if whole <= 2.0 * DAY => 24,
        whole if whole <= 8.0 * DAY => 28,
        _ => 30,
    };
    let mut slices: Vec<RunSlice> = (0..parts)
        .map(|part| RunSlice {
            from: from + whole * f64::from(part) / f64::from(parts),
            begun: 0,
            failed: 0,
        })
        .collect();
    let last = slices.len() - 1;
    for run in runs {
        let part = ((run.of.began - from) / whole * slices.len() as f64).max(0.0) as usize;
        let slice = &mut slices[part.min(last)];
        slice.begun += 1;
        slice.failed += u32::from(run.outcome == OverviewStatus::Failed);
    }
    slices
}

/// Sums up failures by node and class, the most frequent first.
fn failures(runs: &[&KnownRun], names: &HashMap<&str, &str>) -> Vec<NodeFailures> {
    let mut found: BTreeMap<(&str, &str, &str), (u32, HashSet<&str>)> = BTreeMap::new();
    for run in runs {
        for task in &run.tasks {
            if let Some(class) = &task.class {
                let group = found.entry((&run.graph, &task.node, class)).or_default();
                group.0 += 1;
                group.1.insert(&run.of.run.run_id);
            }
        }
    }
    let view =
        |((graph, node, class), (tasks, runs)): ((&str, &str, &str), (u32, HashSet<&str>))| NodeFailures {
            graph: graph.to_owned(),
            graph_name: names.get(graph).copied().unwrap_or_default().to_owned(),
            node: node.to_owned(),
            class: class.to_owned(),
            tasks,
            runs: count(runs.len()),
        };
    let mut rows: Vec<NodeFailures> = found.into_iter().map(view).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.tasks));
    rows.truncate(MAX_ROWS);
    rows
}

/// Sums up the times of nodes, the slowest by 95th percentile first.
fn nodes(runs: &[&KnownRun], names: &HashMap<&str, &str>) -> Vec<NodeTimes> {
    let mut found: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for run in runs {
        for task in run.tasks.iter().filter(|task| task.is_over) {
            found
                .entry((&run.graph, &task.node))
                .or_default()
                .push(task.worked);
        }
    }
    let view = |((graph, node), values): ((&str, &str), Vec<f64>)| {
        Some(NodeTimes {
            graph: graph.to_owned(),
            graph_name: names.get(graph).copied().unwrap_or_default().to_owned(),
            node: node.to_owned(),
            tasks: count(values.len()),
            total: values.iter().sum(),
            took: durations(values)?,
        })
    };
    let mut rows: Vec<NodeTimes> = found.into_iter().filter_map(view).collect();
    rows.sort_by(|a, b| b.took.p95.total_cmp(&a.took.p95));
    rows.truncate(MAX_ROWS);
    rows
}

fn overview(all: &[KnownRun], period: &RunPeriod, now: f64) -> RunsOverview {
    let graphs = graphs(all);
    let names: HashMap<&str, &str> = (graphs.iter())
        .map(|graph| (graph.key.as_str(), graph.name.as_str()))
        .collect();
    let runs = in_period(all, period);
    let mut view = RunsOverview {
        took: durations(runs.iter().filter_map(|run| run.took()).collect()),
        failures: failures(&runs, &names),
        nodes: nodes(&runs, &names),
        slices: slices(&runs, period.since, now),
        ..RunsOverview::default()
    };
    let (mut cost, mut models) = (BTreeMap::new(), BTreeSet::new());
    for run in &runs {
        view.counts.add(run.outcome);
        view.input += run.input;
        view.output += run.output;
        view.unpriced += run.unpriced;
        view.unrecorded += u32::from(run.is_unrecorded());
        models.extend(&run.unpriced_models);
        costs(&run.cost).iter().for_each(|more| add_cost(&mut cost, more));
    }
    view.cost = costs(&cost);
    view.unpriced_models = models.into_iter().cloned().collect();
    view.graphs = graphs;
    view
}

fn in_period<'a>(all: &'a [KnownRun], period: &RunPeriod) -> Vec<&'a KnownRun> {
    let is_wanted = |run: &&KnownRun| period.graph.as_ref().is_none_or(|graph| run.is_of(graph));
    all.iter().filter(is_wanted).collect()
}

/// Returns the runs of a group in their order, each with the task that it is in the group for.
fn group<'a>(runs: Vec<&'a KnownRun>, group: &RunGroup) -> Vec<(&'a KnownRun, Option<&'a EndedTask>)> {
    let slowest = |a: &&EndedTask, b: &&EndedTask| a.worked.total_cmp(&b.worked);
    let task_of = |run: &'a KnownRun| match group {
        RunGroup::Failure { graph, node, class } if run.is_of(graph) => (run.tasks.iter())
            .filter(|task| task.node == *node && task.class.as_ref() == Some(class))
            .max_by(slowest),
        RunGroup::Node { graph, node } if run.is_of(graph) => (run.tasks.iter())
            .filter(|task| task.node == *node && task.is_over)
            .max_by(slowest),
        _ => None,
    };
    let is_in = |run: &KnownRun, task: Option<&EndedTask>| match group {
        RunGroup::All => true,
        RunGroup::Outcome { outcome } => run.outcome == *outcome,
        RunGroup::Longest => run.took().is_some(),
        RunGroup::Tokens => run.input + run.output > 0,
        RunGroup::Dearest => !run.cost.is_empty() || run.unpriced > 0,
        RunGroup::Unpriced => run.unpriced > 0,
        RunGroup::Failure { .. } | RunGroup::Node { .. } => task.is_some(),
        RunGroup::Unrecorded => run.is_unrecorded(),
    };
    let with_task = runs.into_iter().map(|run| (run, task_of(run)));
    let mut found: Vec<_> = with_task.filter(|(run, task)| is_in(run, *task)).collect();
    let worked = |task: Option<&EndedTask>| task.map_or(0.0, |task| task.worked);
    // Those that are equal stay as they are, the newest first.
    found.sort_by(|(a, of_a), (b, of_b)| match group {
        RunGroup::Longest => b.took().unwrap_or(0.0).total_cmp(&a.took().unwrap_or(0.0)),
        RunGroup::Tokens => (b.input + b.output).cmp(&(a.input + a.output)),
        RunGroup::Dearest => b.dearest().total_cmp(&a.dearest()),
        RunGroup::Node { .. } => worked(*of_b).total_cmp(&worked(*of_a)),
        _ => Ordering::Equal,
    });
    found
}

fn list(all: &[KnownRun], request: &ListRuns) -> RunList {
    let most = match request.limit {
        0 => PAGE,
        limit => limit.min(MAX_PAGE),
    };
    let found = group(in_period(all, &request.period), &request.group);
    RunList {
        total: count(found.len()),
        runs: (found.into_iter())
            .skip(request.offset as usize)
            .take(most as usize)
            .map(|(run, task)| run.line(task))
            .collect(),
    }
}

impl Workbench {
    /// Reads the runs of a period, after what was handed in before.
    async fn known_runs(self: &Arc<Self>, period: &RunPeriod) -> Result<Vec<KnownRun>, Problem> {
        // Nothing of the period is left to be written when it is read.
        self.runs.records.keeper().ask(|_| Ok(())).await?;
        let (bench, period) = (self.clone(), period.clone());
        let (place, settings) = (self.database.place(), self.models());
        crate::base::blocking(move || {
            let is_alive = |run: &RunRow| {
                bench.runs.is_running(&run.thread_id) || bench.instance.is_other_alive(&run.instance)
            };
            read(&bench.ledger, &settings, &period, &place, is_alive)
        })
        .await?
    }

    pub(crate) async fn runs_overview(self: &Arc<Self>, request: RunPeriod) -> Result<RunsOverview, Problem> {
        let runs = self.known_runs(&request).await?;
        #[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
        let now = files::now_ms() as f64;
        Ok(overview(&runs, &request, now))
    }

    pub(crate) async fn runs_list(self: &Arc<Self>, request: ListRuns) -> Result<RunList, Problem> {
        Ok(list(&self.known_runs(&request.period).await?, &request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::ThreadRow;
    use crate::wire::{ExchangeEnd, ExchangeTokens, RunCounts, TraceSpan};

    /// 2026-01-01T00:00:00Z.
    const MIDNIGHT: f64 = 1_767_225_600_000.0;

    fn at(seconds: u64) -> String {
        superstep::run::iso8601(1_767_225_600_000 + seconds * 1000)
    }

    struct Filled {
        ledger: Ledger,
        _dir: tempfile::TempDir,
    }

    impl Filled {
        fn run(&self, id: &str, thread: &str, began: u64, ended: Option<u64>, status: RunStatus) {
            let run = RunRow {
                run_id: id.into(),
                thread_id: thread.into(),
                instance: "mine".into(),
                status,
                started_at: at(began),
                ended_at: ended.map(at),
                problem: None,
                stop: None,
                summary: None,
            };
            self.ledger.run_began(&run).unwrap();
            if ended.is_some() {
                self.ledger.run_ended(&run).unwrap();
            }
        }

        fn thread(&self, id: &str, graph: &str, place: &str) {
            let row = ThreadRow {
                thread_id: id.into(),
                title: format!("The {id}"),
                graph_name: graph.to_uppercase(),
                graph_key: graph.into(),
                created_at: at(0),
            };
            self.ledger.thread_began(&row, place).unwrap();
        }

        /// Fills a ledger: two graphs, runs of every outcome, one of another database, one of which no task is kept.
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let ledger = Ledger::open(&dir.path().join("workbench.db")).unwrap();
            let filled = Self { ledger, _dir: dir };
            filled.thread("t1", "a", "here");
            filled.thread("t2", "a", "here");
            filled.thread("t3", "draft-1", "here");
            filled.thread("t4", "a", "elsewhere");
            filled.ledger.moved("draft-1", "b").unwrap();
            filled.run("old", "t1", 0, Some(1), RunStatus::Done);
            filled.run("asked", "t1", 100, Some(104), RunStatus::Asking);
            filled.run("answered", "t1", 200, Some(210), RunStatus::Done);
            filled.run("failed", "t2", 300, Some(302), RunStatus::Failed);
            filled.run("alive", "t2", 400, None, RunStatus::Running);
            filled.run("paused", "t3", 500, Some(501), RunStatus::Paused);
            filled.run("foreign", "t4", 600, Some(601), RunStatus::Failed);
            filled.run("gone", "cli", 700, None, RunStatus::Running);
            filled.run("quick", "t5", 800, Some(802), RunStatus::Done);
            filled
        }

        fn spans(&self, run: &str, spans: Vec<TraceSpan>) {
            let of = |span: TraceSpan| TraceSpan {
                run_id: run.into(),
                ..span
            };
            self.ledger
                .keep_spans("t", &spans.into_iter().map(of).collect::<Vec<_>>())
                .unwrap();
        }

        fn known(&self, since: Option<u64>) -> Vec<KnownRun> {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let since = since.map(|seconds| MIDNIGHT + (seconds * 1000) as f64);
            let period = RunPeriod { since, graph: None };
            let settings = ModelSettings::default();
            read(&self.ledger, &settings, &period, "here", |run| {
                run.run_id == "alive"
            })
            .unwrap()
        }
    }

    fn task(id: &str, node: &str, began: f64, millis: f64) -> TraceSpan {
        TraceSpan {
            run_id: String::new(),
            task_id: id.into(),
            parent: None,
            checkpoint_id: format!("before {id}"),
            node: node.into(),
            step: 1,
            started: MIDNIGHT + began * 1000.0,
            ended: MIDNIGHT + began * 1000.0 + millis,
            end: SpanEnd::Done,
            error: None,
            attempts: Vec::new(),
            calls: Vec::new(),
            waits: Vec::new(),
        }
    }

    fn fails(task: TraceSpan, parent: Option<&str>, error: &str) -> TraceSpan {
        TraceSpan {
            parent: parent.map(str::to_owned),
            end: SpanEnd::Failed,
            error: Some(error.into()),
            ..task
        }
    }

    fn asks(task: TraceSpan, input: u64, output: u64, dollars: Option<f64>) -> TraceSpan {
        let call = SpanCall {
            model: "mine::m".into(),
            at: 0.0,
            millis: 1,
            ended: ExchangeEnd::Done,
            tokens: Some(ExchangeTokens { input, output }),
            cost: dollars.map(|amount| ExchangeCost {
                amount,
                currency: "USD".into(),
            }),
        };
        TraceSpan {
            calls: vec![call],
            ..task
        }
    }

    fn filled() -> Filled {
        let filled = Filled::new();
        filled.spans(
            "old",
            vec![asks(task("0", "think", 0.5, 100.0), 900, 90, Some(9.0))],
        );
        filled.spans(
            "asked",
            vec![asks(task("1", "think", 100.0, 1000.0), 10, 2, Some(0.7))],
        );
        filled.spans(
            "answered",
            vec![
                asks(task("2", "think", 200.0, 3000.0), 20, 3, Some(0.1)),
                task("3", "pay", 204.0, 500.0),
                // Its own first attempt failed elsewhere; this one asks.
                TraceSpan {
                    end: SpanEnd::Asking,
                    ..task("4", "pay", 205.0, 9000.0)
                },
            ],
        );
        filled.spans(
            "failed",
            vec![
                fails(task("5", "fetch", 300.0, 200.0), Some("6"), "TimeoutError('5 s')"),
                fails(task("6", "inner", 300.0, 250.0), None, "TimeoutError('5 s')"),
                fails(task("7", "fetch", 301.0, 100.0), None, "TimeoutError('6 s')"),
                fails(task("8", "fetch", 301.0, 100.0), None, "my.Error"),
            ],
        );
        filled.spans("paused", vec![asks(task("9", "think", 500.0, 700.0), 5, 0, None)]);
        filled.spans(
            "foreign",
            vec![fails(task("10", "fetch", 600.0, 1.0), None, "E('no')")],
        );
        filled
    }

    fn shown(figures: &RunsOverview) -> Vec<(&str, &str, &str, u32, u32)> {
        let rows = figures.failures.iter();
        rows.map(|row| {
            let (graph, node, class) = (&row.graph_name, &row.node, &row.class);
            (graph.as_str(), node.as_str(), class.as_str(), row.tasks, row.runs)
        })
        .collect()
    }

    #[test]
    fn figures_count_the_runs_of_the_period_and_what_their_tasks_did() {
        let filled = filled();
        let period = RunPeriod {
            since: Some(MIDNIGHT + 50_000.0),
            graph: None,
        };
        let known = filled.known(Some(50));
        let figures = overview(&known, &period, MIDNIGHT + 1_050_000.0);
        let counts = RunCounts {
            begun: 7,
            running: 1,
            done: 2,
            failed: 1,
            stopped: 1,
            waiting: 1,
            continued: 1,
        };
        assert_eq!(figures.counts, counts, "the run of another database is not there");
        let took = Durations {
            median: 2000.0,
            p95: 10_000.0,
        };
        assert_eq!(figures.took, Some(took));
        assert_eq!((figures.input, figures.output), (35, 5));
        assert_eq!(figures.cost.len(), 1);
        assert_eq!((figures.cost[0].amount, figures.unpriced), (0.8, 1));
        assert_eq!(figures.unpriced_models, ["mine::m"]);
        assert_eq!(
            shown(&figures),
            [
                ("A", "fetch", "TimeoutError", 2, 1),
                ("A", "fetch", "my.Error", 1, 1)
            ],
            "the node around one that failed passes it on"
        );
        let nodes: Vec<_> = (figures.nodes.iter())
            .map(|row| {
                (
                    row.graph.as_str(),
                    row.node.as_str(),
                    row.tasks,
                    row.took.median,
                    row.took.p95,
                    row.total,
                )
            })
            .collect();
        assert_eq!(
            nodes,
            [
                ("a", "think", 2, 1000.0, 3000.0, 4000.0),
                ("b", "think", 1, 700.0, 700.0, 700.0),
                ("a", "pay", 1, 500.0, 500.0, 500.0),
                ("a", "inner", 1, 250.0, 250.0, 250.0),
                ("a", "fetch", 3, 100.0, 200.0, 400.0),
            ]
        );
        let graphs: Vec<_> = (figures.graphs.iter())
            .map(|graph| (graph.key.as_str(), graph.name.as_str(), graph.runs))
            .collect();
        assert_eq!(graphs, [("a", "A", 4), ("", "", 2), ("b", "DRAFT-1", 1)]);
        assert_eq!(
            figures.unrecorded, 2,
            "`gone` and `quick`; `alive` may still keep some"
        );
        // 1,000 s in 24 parts of 41.7 s, from 50 s on.
        let begun: Vec<u32> = figures.slices.iter().map(|slice| slice.begun).collect();
        let places: Vec<usize> = (0..24).filter(|place| begun[*place] == 1).collect();
        assert_eq!((begun.len(), places), (24, vec![1, 3, 6, 8, 10, 15, 18]));
        assert_eq!(figures.slices[6].failed, 1);
    }

    #[test]
    fn one_graph_is_counted_alone_and_the_others_stay_to_be_chosen() {
        let filled = filled();
        let period = RunPeriod {
            since: None,
            graph: Some("b".into()),
        };
        let figures = overview(&filled.known(None), &period, MIDNIGHT + 1_000_000.0);
        assert_eq!((figures.counts.begun, figures.counts.waiting), (1, 1));
        assert_eq!((figures.input, figures.unpriced, figures.took), (5, 1, None));
        assert_eq!(figures.graphs.len(), 3);
        assert_eq!(figures.slices.len(), 24);
        assert_eq!(figures.slices[0].begun, 1, "from its first run on");
        let empty = overview(&[], &RunPeriod::default(), MIDNIGHT);
        assert_eq!(empty, RunsOverview::default());
    }

    #[test]
    fn every_figure_has_as_many_runs_in_its_list() {
        let filled = filled();
        let known = filled.known(Some(50));
        let ids = |group: RunGroup| {
            let request = ListRuns {
                group,
                ..ListRuns::default()
            };
            let found = list(&known, &request);
            assert_eq!(found.total as usize, found.runs.len());
            let ids = found.runs.into_iter().map(|line| line.run.run_id);
            ids.collect::<Vec<_>>().join(" ")
        };
        let outcome = |outcome| ids(RunGroup::Outcome { outcome });
        assert_eq!(
            ids(RunGroup::All),
            "quick gone paused alive failed answered asked"
        );
        assert_eq!(outcome(OverviewStatus::Running), "alive");
        assert_eq!(outcome(OverviewStatus::Done), "quick answered");
        assert_eq!(outcome(OverviewStatus::Stopped), "gone");
        assert_eq!(outcome(OverviewStatus::Waiting), "paused");
        assert_eq!(outcome(OverviewStatus::Continued), "asked");
        assert_eq!(ids(RunGroup::Longest), "answered quick");
        assert_eq!(ids(RunGroup::Tokens), "answered asked paused");
        assert_eq!(ids(RunGroup::Dearest), "asked answered paused");
        assert_eq!(ids(RunGroup::Unpriced), "paused");
        assert_eq!(ids(RunGroup::Unrecorded), "quick gone");
        let of = |node: &str| RunGroup::Node {
            graph: "a".into(),
            node: node.into(),
        };
        assert_eq!(ids(of("think")), "answered asked");
        let failure = RunGroup::Failure {
            graph: "a".into(),
            node: "fetch".into(),
            class: "TimeoutError".into(),
        };
        assert_eq!(ids(failure.clone()), "failed");
        let request = ListRuns {
            group: failure,
            ..ListRuns::default()
        };
        let line = &list(&known, &request).runs[0];
        assert_eq!(line.title, "The t2");
        assert_eq!(
            (
                line.task_id.as_deref(),
                line.checkpoint_id.as_deref(),
                line.task_millis
            ),
            (Some("5"), Some("before 5"), Some(200.0)),
            "the slowest of those that failed so"
        );
        let page = ListRuns {
            offset: 1,
            limit: 2,
            ..ListRuns::default()
        };
        let page = list(&known, &page);
        let titles: Vec<&str> = page.runs.iter().map(|line| line.title.as_str()).collect();
        assert_eq!(
            (page.total, titles),
            (7, vec!["cli", "The t3"]),
            "a thread without a title has its id"
        );
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&values, 50.0), Some(10.0));
        assert_eq!(percentile(&values, 95.0), Some(19.0));
        assert_eq!(percentile(&values[..1], 95.0), Some(1.0));
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(class_of("ValueError('a(b)')"), "ValueError");
        assert_eq!(class_of("my.Error"), "my.Error");
    }
}
