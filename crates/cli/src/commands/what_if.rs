//! `superstep whatif`: rows of a file as forks from one moment of a thread, with what came of each. A line is printed when
//! a row has ended, so that Ctrl-C loses none.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use superstep::checkpoint::GraphVersion;
use superstep::{CheckpointId, Graph, ThreadId};
use superstep_document::{Diagnostic, Document};
use superstep_nodes::models::Exchange;
use superstep_nodes::{Registry, files};
use superstep_workbench::Instance;
use superstep_workbench::what_if::{self, Bench, Setting, WhatIfHost};
use superstep_workbench::wire::{
    Problem, RunModels, ValueView, WhatIfGrid, WhatIfLimit, WhatIfResult, WhatIfStatus, WhatIfView,
};
use tokio_util::sync::CancellationToken;

use crate::args::what_if::WhatIfArgs;
use crate::fault::{FAILED, Fault, STOPPED, WAITING};
use crate::graph::GraphFile;
use crate::input::context;
use crate::out;
use crate::place::{Store, graph_of};
use crate::report::stop_on_ctrl_c;

/// The largest file with rows.
const MAX_TABLE: u64 = 16 << 20;
/// Letters of a name, and of what came of a row, in a line.
const MAX_NAME: usize = 36;
const MAX_SHOWN: usize = 100;

/// Graphs of the thread's file and of what rows make of it.
pub(crate) struct Graphs {
    pub(crate) registry: Registry,
    pub(crate) file: GraphFile,
    /// Where threads are kept; rows that nobody else sees have none.
    pub(crate) store: Option<Arc<Store>>,
    pub(crate) trust: bool,
}

impl WhatIfHost for Graphs {
    fn graph(&self, document: &Document, models: &RunModels) -> Result<(Graph, GraphVersion), Problem> {
        let file = self.file.changed(document.clone(), models.clone());
        let grants = file
            .permitted(self.trust)
            .map_err(|fault| Problem::new("not-allowed", fault.message()))?;
        let environment = file.environment().with_grants(grants);
        let built = self.registry.build(document, &environment).map_err(cannot_run)?;
        let graph = match &self.store {
            Some(store) => (built.graph)
                .with_checkpointer(store.saver.clone())
                .with_store(store.memory.clone()),
            None => built.graph,
        };
        Ok((graph, file.version()))
    }

    fn exchanges(&self, task: &str) -> Vec<Exchange> {
        self.registry.exchanges().take(task)
    }
}

/// Creates the problem of a graph that cannot be built, from its first error.
pub(crate) fn cannot_run(problems: Vec<Diagnostic>) -> Problem {
    let first = problems.into_iter().find(Diagnostic::is_error);
    let (message, remedy) = first
        .map(|first| (first.message, first.remedy))
        .unwrap_or_default();
    Problem::new("graph-invalid", format!("The graph cannot run. {message}")).remedy(remedy)
}

/// Reads the text of the file or of stdin.
fn text(path: &Path) -> Result<String, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::usage(format!(
            "The rows in {} cannot be read: {error}. Name a JSON file with `rows`; see `superstep whatif --help`.",
            path.display()
        ))
    };
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .take(MAX_TABLE)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        return Ok(text);
    }
    files::read_text(path, MAX_TABLE).map_err(unreadable)
}

/// Returns a limit of a file with what the command line says of it.
pub(crate) fn limited(own: WhatIfLimit, given: Option<WhatIfLimit>) -> WhatIfLimit {
    let Some(given) = given else { return own };
    WhatIfLimit {
        seconds: given.seconds.or(own.seconds),
        tokens: given.tokens.or(own.tokens),
        cost: given.cost.or(own.cost),
    }
}

/// Reads the grid from the file; options of the command line override it.
fn grid(args: &WhatIfArgs) -> Result<WhatIfGrid, Fault> {
    let mut grid = what_if::read(&text(&args.file)?)?;
    grid.limit = limited(grid.limit, args.limit);
    grid.total = limited(grid.total, args.total);
    grid.repeat = args.repeat.map(Into::into).or(grid.repeat);
    grid.concurrency = args.concurrency.map(Into::into).or(grid.concurrency);
    let answering = args.answering();
    if !answering.is_empty() {
        grid.models = Some(answering.or(grid.models.take().unwrap_or_default()));
    }
    Ok(grid)
}

pub(crate) async fn what_if(args: WhatIfArgs) -> Result<(), Fault> {
    let grid = grid(&args)?;
    let store = Arc::new(Store::existing(&args.db).await?.refuse_foreign()?);
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let file = GraphFile::read(&graph_of(args.graph.as_deref(), &thread, &head)?)?;
    if let Some(problem) = file.unread().iter().find(|problem| problem.is_error()) {
        return Err(Fault::failed(format!("{} {}", problem.message, problem.remedy)));
    }
    let records = store.records();
    let instance = match &records {
        Some(dir) => Some(Instance::enter(dir).map_err(|error| {
            Fault::failed(format!(
                "The data folder {} cannot be written to: {error}.",
                dir.display()
            ))
        })?),
        None => None,
    };
    let kept = records
        .as_deref()
        .and_then(|dir| what_if::context_of(dir, &thread));
    let registry = match &records {
        Some(dir) => superstep_workbench::registry(dir),
        None => Registry::standard(),
    };
    let setting = Setting {
        saver: store.saver.clone(),
        thread: thread.clone(),
        checkpoint: args.checkpoint.as_deref().map(CheckpointId::from),
        document: file.document.clone(),
        origin: file.origin(),
        context: context(&file, &args.context)?.or(kept).unwrap_or_default(),
        instance: instance
            .as_ref()
            .map(|own| own.id().to_owned())
            .unwrap_or_default(),
        host: Arc::new(Graphs {
            registry,
            file,
            store: Some(store.clone()),
            trust: args.trust,
        }),
    };
    let mut bench = Bench::new(setting, grid).await?;
    if let Some(dir) = &records {
        bench = what_if::kept_in(bench, dir)?;
    }
    let stop = CancellationToken::new();
    stop_on_ctrl_c(stop.clone());
    let table = Table::of(&bench.view(), args.json);
    table.head()?;
    bench
        .run(&stop, &|bench, place| table.row(&bench.view(), place))
        .await;
    let view = bench.view();
    table.end(&view)?;
    if args.json {
        out::pretty(&view)?;
    }
    ended(&view, stop.is_cancelled())
}

/// Converts the outcome of the grid to an exit code.
fn ended(view: &WhatIfView, stopped: bool) -> Result<(), Fault> {
    let any = |wanted: &[WhatIfStatus]| view.results.iter().any(|result| wanted.contains(&result.status));
    match () {
        () if stopped => Err(Fault::quiet(STOPPED)),
        () if any(&[WhatIfStatus::Failed]) => Err(Fault::quiet(FAILED)),
        () if any(&[WhatIfStatus::Asked, WhatIfStatus::Held, WhatIfStatus::Limit]) => {
            Err(Fault::quiet(WAITING))
        }
        () => Ok(()),
    }
}

/// The lines of the rows, as they end.
struct Table {
    /// Width of the names.
    name: usize,
    json: bool,
    repeats: bool,
}

impl Table {
    fn of(view: &WhatIfView, json: bool) -> Self {
        let widest = view.names.iter().map(|name| name.chars().count()).max();
        Self {
            name: widest.unwrap_or(0).clamp(4, MAX_NAME),
            json,
            repeats: view.grid.repeat.is_some_and(|repeat| repeat > 1),
        }
    }

    fn head(&self) -> Result<(), Fault> {
        if self.json {
            return Ok(());
        }
        let name = self.name;
        Ok(out::line(&format!(
            "{:<6} {:name$} {:<8} {:>10} {:>8} {:>12} {:>8}  RESULT",
            "ROW", "NAME", "STATUS", "SCORE", "TOKENS", "COST", "SECONDS"
        ))?)
    }

    /// Prints a row that has ended.
    fn row(&self, view: &WhatIfView, place: usize) {
        let total = view.results.len();
        let ended = view
            .results
            .iter()
            .filter(|result| !result.status.is_open())
            .count();
        out::overwrite(&format!("{ended} of {total} ended"));
        let Some(result) = view.results.get(place).filter(|result| !result.status.is_open()) else {
            return;
        };
        if self.json {
            return;
        }
        out::overwrite("");
        // A reader that has seen enough closes the pipe; the rows go on.
        let _ = out::line(self.text(view, result).trim_end());
    }

    fn text(&self, view: &WhatIfView, result: &WhatIfResult) -> String {
        let name = view.names.get(result.row as usize).map_or("", String::as_str);
        let name: String = name.chars().take(self.name).collect();
        let row = match self.repeats {
            true => format!("{}.{}", result.row + 1, result.repeat + 1),
            false => (result.row + 1).to_string(),
        };
        let cost: Vec<String> = result
            .cost
            .iter()
            .map(|cost| format!("{:.4} {}", cost.amount, cost.currency))
            .collect();
        let width = self.name;
        format!(
            "{row:<6} {name:width$} {:<8} {:>10} {:>8} {:>12} {:>8.2}  {}",
            word(result.status),
            result
                .score
                .as_ref()
                .map_or_else(String::new, |score| out::short(score, 10)),
            result.tokens,
            cost.join("+"),
            f64::from(result.millis) / 1000.0,
            came_of(result),
        )
    }

    fn end(&self, view: &WhatIfView) -> Result<(), Fault> {
        out::overwrite("");
        let unpriced = view
            .results
            .iter()
            .any(|result| result.unpriced && result.tokens > 0);
        if unpriced {
            out::note("A model has no price, so the costs are not everything.");
        }
        if !self.json {
            let compared = match view.base.followed {
                true => "what followed the moment",
                false => "the state of the moment, as nothing has followed it",
            };
            out::note(&format!(
                "Compared with {compared}. `superstep diff {thread}@{base} {thread}@CHECKPOINT` shows all of a row; --json has \
                 the checkpoints.",
                thread = view.thread_id,
                base = view.base.checkpoint_id
            ));
        }
        Ok(())
    }
}

fn word(status: WhatIfStatus) -> &'static str {
    match status {
        WhatIfStatus::Queued => "queued",
        WhatIfStatus::Running => "running",
        WhatIfStatus::Done => "done",
        WhatIfStatus::Asked => "asked",
        WhatIfStatus::Held => "held",
        WhatIfStatus::Failed => "failed",
        WhatIfStatus::Limit => "limit",
        WhatIfStatus::Stopped => "stopped",
    }
}

/// Summarizes the result of a row in a few words.
fn came_of(result: &WhatIfResult) -> String {
    let output = || {
        let shown = |(key, value): (&String, &ValueView)| {
            let text = value.value.as_ref().map_or_else(
                || value.head.clone().unwrap_or_default(),
                |value| out::short(value, MAX_SHOWN),
            );
            format!("{key} {text}")
        };
        result.output.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    let text = match (&result.problem, &result.asks) {
        (Some(problem), _) => problem.message.clone(),
        (None, Some(question)) => question.lines().next().unwrap_or_default().to_owned(),
        (None, None) => output(),
    };
    match text.chars().count() > MAX_SHOWN {
        true => format!("{}…", text.chars().take(MAX_SHOWN).collect::<String>()),
        false => text,
    }
}
