//! `superstep evaluate`: the rows of a data set through variants of a graph, what came of each, and how many pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde_json::Value as Json;
use superstep::{CheckpointId, ThreadId};
use superstep_workbench::evaluations::{
    EvaluationFile, EvaluationSetup, Evaluator, FOLDER, KeptResults, append_row, row_of_test, summarize,
    write_table,
};
use superstep_workbench::wire::{EvaluatedRow, EvaluatedVariant, PastEvaluation};
use superstep_workbench::{TestedThread, test_of_thread};
use tokio_util::sync::CancellationToken;

use crate::args::what_if::EvaluateArgs;
use crate::commands::run::runnable;
use crate::commands::state::open;
use crate::commands::test::{graphs_in, unlisted, write};
use crate::commands::what_if::{Graphs, limited};
use crate::fault::{FAILED, Fault, STOPPED, WAITING};
use crate::graph::GraphFile;
use crate::out;
use crate::place::{Store, data_dir};
use crate::report::stop_on_ctrl_c;

/// Rows that did not pass, and rows that came out otherwise, that are listed for people.
const MAX_LISTED: usize = 20;
/// Letters of a reason.
const MAX_REASON: usize = 200;

/// An evaluation that was run, or that was looked up.
#[derive(Debug, Serialize)]
struct Evaluated {
    evaluation: PathBuf,
    graph: PathBuf,
    variants: Vec<EvaluatedVariant>,
    /// What judging models used; it is in no row.
    judging: Judging,
    rows: Vec<EvaluatedRow>,
}

/// Tokens, and cost by currency.
#[derive(Debug, Serialize)]
struct Judging {
    tokens: u64,
    cost: BTreeMap<String, f64>,
}

/// An evaluation, and its graph.
struct Found {
    evaluation: PathBuf,
    graph: PathBuf,
}

pub(crate) async fn evaluate(args: EvaluateArgs) -> Result<(), Fault> {
    let found = found(&args)?;
    let alone = |what: &str| match found.as_slice() {
        [one] => Ok(one),
        _ => Err(Fault::usage(format!(
            "{what} is for one evaluation, and there are {}. Name its file.",
            found.len()
        ))),
    };
    if let Some(thread) = &args.add {
        return add(&args, alone("--add")?, thread).await;
    }
    if args.history {
        return history(&args, &found);
    }
    if args.csv.is_some() {
        alone("--csv")?;
    }
    let stop = CancellationToken::new();
    stop_on_ctrl_c(stop.clone());
    let mut all = Vec::new();
    let mut short = false;
    for one in &found {
        let (evaluated, at_least) = run(&args, one, &stop).await?;
        if let Some(path) = &args.csv {
            write(path, &write_table(&evaluated.rows))?;
        }
        if !args.json {
            report(&evaluated)?;
        }
        short |= is_short(&evaluated, at_least);
        all.push(evaluated);
        if stop.is_cancelled() {
            break;
        }
    }
    if args.json {
        out::pretty(&all)?;
    }
    let mut rows = all.iter().flat_map(|evaluated| &evaluated.rows);
    match () {
        () if stop.is_cancelled() => Err(Fault::quiet(STOPPED)),
        () if short => Err(Fault::quiet(FAILED)),
        () if rows.any(|row| row.status == "limit") => Err(Fault::quiet(WAITING)),
        () => Ok(()),
    }
}

/// Returns whether too few rows pass; where nobody says how many must, whether one failed.
fn is_short(evaluated: &Evaluated, at_least: Option<f64>) -> bool {
    let mut variants = evaluated.variants.iter();
    match at_least {
        Some(least) => variants.any(|one| {
            one.rate.is_some_and(|[rate, ..]| rate < least) || (one.rate.is_none() && one.cut == 0)
        }),
        None => variants.any(|one| one.failed > 0),
    }
}

/// Runs an evaluation. Also returns the part of its rows that must pass.
async fn run(
    args: &EvaluateArgs,
    one: &Found,
    stop: &CancellationToken,
) -> Result<(Evaluated, Option<f64>), Fault> {
    let path = &one.evaluation;
    let mut file = EvaluationFile::read(path)?;
    file.limit = limited(file.limit, args.limit);
    file.total = limited(file.total, args.total);
    file.repeat = args.repeat.map(Into::into).or(file.repeat);
    file.concurrency = args.concurrency.or(file.concurrency);
    let at_least = args.at_least.or(file.at_least);
    let graph = GraphFile::read(&one.graph)?;
    runnable(&graph, args.trust)?;
    let rows = file.read_rows(path, &graph.document)?;
    let mut rows: Vec<_> = (1..).zip(rows).collect();
    if let Some(words) = &args.filter {
        rows.retain(|(_, row)| row.name.contains(words.as_str()));
        if rows.is_empty() {
            return Err(Fault::usage(format!(
                "No row of {} has {words:?} in its name.",
                path.display()
            )));
        }
    }
    let folder = data_dir()?;
    let kept = KeptResults::open(&folder, path)?;
    let document = graph.document.clone();
    let evaluator = Evaluator::new(EvaluationSetup {
        host: Arc::new(Graphs {
            registry: superstep_workbench::registry(&folder),
            file: graph,
            store: None,
            trust: args.trust,
        }),
        document,
        models: args.answering(),
        file,
        path,
        rows,
        only: args.variants.clone(),
        again: args.again,
    })?;
    let (ended, total) = (AtomicUsize::new(0), evaluator.runs());
    let progress = |_: &EvaluatedRow| {
        let ended = ended.fetch_add(1, Ordering::Relaxed) + 1;
        out::overwrite(&format!("{}: {ended} of {total} runs ended", path.display()));
    };
    let rows = evaluator.run(&kept, stop, &progress).await;
    out::overwrite("");
    let variants = summarize(&evaluator.variants(), &rows, &kept);
    // What is left of the rows cannot be held beside all of them.
    if !stop.is_cancelled() && args.filter.is_none() {
        kept.keep_run(&PastEvaluation::now(variants.clone()));
    }
    let (tokens, cost) = evaluator.judging();
    let evaluated = Evaluated {
        evaluation: path.clone(),
        graph: one.graph.clone(),
        variants,
        judging: Judging { tokens, cost },
        rows,
    };
    Ok((evaluated, at_least))
}

const COUNTS: [&str; 10] = [
    "VARIANT", "GRAPH", "PASSED", "RATE", "95 %", "FAILED", "CUT", "TOKENS", "COST", "MEDIAN",
];

/// Returns the cells of [`COUNTS`].
fn counts(one: &EvaluatedVariant) -> Vec<String> {
    let percent = |part: f64| format!("{:.0} %", part * 100.0);
    let (rate, interval) = match one.rate {
        Some([rate, low, high]) => (percent(rate), format!("{:.0} to {}", low * 100.0, percent(high))),
        None => Default::default(),
    };
    vec![
        one.variant.clone(),
        one.graph.chars().take(8).collect(),
        format!("{} of {}", one.passed, one.scored),
        rate,
        interval,
        one.failed.to_string(),
        one.cut.to_string(),
        one.tokens.to_string(),
        amounts(&one.cost),
        format!("{:.2} s", f64::from(one.median_millis) / 1000.0),
    ]
}

fn amounts(cost: &BTreeMap<String, f64>) -> String {
    let amounts: Vec<String> = cost
        .iter()
        .map(|(currency, amount)| format!("{amount:.4} {currency}"))
        .collect();
    amounts.join("+")
}

fn report(evaluated: &Evaluated) -> Result<(), Fault> {
    let Evaluated { variants, rows, .. } = evaluated;
    out::line(&format!("{}", evaluated.evaluation.display()))?;
    let cells: Vec<Vec<String>> = variants.iter().map(counts).collect();
    out::table(&COUNTS, &cells)?;
    let bad: Vec<&EvaluatedRow> = rows
        .iter()
        .filter(|row| row.passed == Some(false) || row.status == "limit")
        .collect();
    for row in bad.iter().take(MAX_LISTED) {
        let repeat = if row.repeat > 1 {
            format!(" (run {})", row.repeat)
        } else {
            String::new()
        };
        out::line(&format!(
            "    {}: {}{repeat}: {}",
            row.variant,
            row.name,
            reason(row)
        ))?;
    }
    if let Some(more) = bad.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        out::line(&format!("    and {more} more; --json and --csv have them all"))?;
    }
    for one in variants {
        let Some(compared) = &one.compared else { continue };
        for (word, names) in [("worse", &one.worse), ("better", &one.better)] {
            if names.is_empty() {
                continue;
            }
            let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            out::line(&format!(
                "    {} is {word} than {compared} in {}: {}{more}",
                one.variant,
                out::count(names.len() as u64, "run"),
                shown.join(", ")
            ))?;
        }
    }
    let Judging { tokens, cost } = &evaluated.judging;
    if *tokens > 0 {
        out::note(&format!(
            "The models that judge used {tokens} tokens. {}",
            amounts(cost)
        ));
    }
    let stopped = rows.iter().filter(|row| row.status == "stopped").count();
    if stopped > 0 {
        out::note(&format!(
            "{} did not come to an end. The same command goes on with them.",
            out::count(stopped as u64, "run")
        ));
    }
    let reused = variants.iter().map(|one| u64::from(one.reused)).sum();
    if reused > 0 {
        out::note(&format!(
            "{} of before; nothing changed for them. --again runs them.",
            out::count(reused, "result")
        ));
    }
    if stopped == 0 && variants.len() > 1 && variants.iter().any(|one| one.too_few && one.scored > 0) {
        out::note("There are fewer than 20 rows: too few to say that a variant is better.");
    }
    if variants.iter().any(|one| one.unscored > 0) {
        out::note(
            "Some rows have numbers that nobody says how large they must be: `at_least` of a score does.",
        );
    }
    if variants.iter().any(|one| one.unpriced) {
        out::note("A model has no price, so the costs are not everything.");
    }
    Ok(())
}

/// Says why a row did not pass.
fn reason(row: &EvaluatedRow) -> String {
    let scores = row.scores.iter().filter(|(_, score)| score.passed == Some(false));
    let scores = scores.map(|(name, score)| match (&score.note, &score.value) {
        (Some(note), Some(value)) if !value.is_boolean() => format!("{name} is {value}: {note}"),
        (Some(note), _) => format!("{name}: {note}"),
        (None, Some(Json::Bool(_)) | None) => format!("{name} is not so"),
        (None, Some(value)) => format!("{name} is {value}"),
    });
    let all: Vec<String> = row.error.iter().cloned().chain(scores).collect();
    let text = all.join("; ");
    match text.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn history(args: &EvaluateArgs, found: &[Found]) -> Result<(), Fault> {
    let folder = data_dir()?;
    let mut all = Vec::new();
    for one in found {
        let runs = KeptResults::runs_of(&folder, &one.evaluation)?;
        if !args.json {
            out::line(&format!("{}", one.evaluation.display()))?;
            match runs.is_empty() {
                true => out::note("It has not run yet: `superstep evaluate` runs it."),
                false => {
                    let rows: Vec<Vec<String>> = runs
                        .iter()
                        .flat_map(|run| {
                            let cells = |one| [vec![run.at.clone()], counts(one)].concat();
                            run.variants.iter().map(cells)
                        })
                        .collect();
                    let head: Vec<&str> = ["WHEN"].into_iter().chain(COUNTS).collect();
                    out::table(&head, &rows)?;
                }
            }
        }
        all.push(serde_json::json!({"evaluation": one.evaluation, "graph": one.graph, "runs": runs}));
    }
    match args.json {
        true => Ok(out::pretty(&all)?),
        false => Ok(()),
    }
}

/// Adds a row of what happened on a thread.
async fn add(args: &EvaluateArgs, one: &Found, thread: &str) -> Result<(), Fault> {
    let evaluation = EvaluationFile::read(&one.evaluation)?;
    let store = Store::existing(&args.db).await?;
    if store.saver.foreign().is_some() {
        return Err(Fault::usage(
            "The thread was made by another program, whose graph cannot run here. Copy it to a graph of your own first: \
             `superstep threads copy`.",
        ));
    }
    let thread = ThreadId::from(thread);
    let head = store.head(&thread).await?;
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let (file, graph) = open(&store, Some(&one.graph), &thread, &head)?;
    let checkpoint = args.checkpoint.as_deref().map(CheckpointId::from);
    let of = TestedThread {
        graph: &graph,
        document: &file.document,
        saver: &*store.saver,
        thread: &thread,
        checkpoint: checkpoint.as_ref(),
    };
    let made = test_of_thread(of, superstep_workbench::default_data_dir().as_deref()).await?;
    let keys = evaluation.expected_keys(&file.document);
    let name = args.name.clone().unwrap_or_else(|| thread.to_string());
    let row = row_of_test(made.test(), name, &keys);
    let rows = evaluation.rows_file(&one.evaluation);
    append_row(&rows, &row)?;
    match args.json {
        true => Ok(out::pretty(&row)?),
        false => {
            let expected: Vec<&str> = row.expect.keys().map(String::as_str).collect();
            Ok(out::line(&format!(
                "added to {}: {}, {}, expects {}",
                rows.display(),
                out::count(row.inputs.len() as u64, "input"),
                out::count(row.answers.as_ref().map_or(0, Vec::len) as u64, "answer"),
                match expected.is_empty() {
                    true => "nothing".to_owned(),
                    false => expected.join(", "),
                }
            ))?)
        }
    }
}

/// Returns the evaluations that were asked for.
fn found(args: &EvaluateArgs) -> Result<Vec<Found>, Fault> {
    let here = [PathBuf::from(".")];
    let paths = match args.paths.is_empty() {
        true => &here[..],
        false => &args.paths,
    };
    let mut all = Vec::new();
    for path in paths {
        let parent = |path: &Path| path.parent().map(Path::to_owned);
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        let is_evaluation =
            parent(&whole).is_some_and(|folder| folder.file_name().is_some_and(|name| name == FOLDER));
        if path.is_file() && (is_evaluation || args.graph.is_some()) {
            let folder = parent(&whole)
                .and_then(|folder| parent(&folder))
                .unwrap_or_default();
            all.push(Found {
                evaluation: path.clone(),
                graph: args.graph.clone().unwrap_or_else(|| folder.join("graph.json")),
            });
            continue;
        }
        let mut graphs = BTreeSet::new();
        match path.is_dir() {
            true => graphs_in(path, FOLDER, &mut graphs)?,
            false => drop(graphs.insert(path.clone())),
        }
        for graph in graphs {
            let files = EvaluationFile::files_beside(&graph).map_err(|error| unlisted(&graph, &error))?;
            all.extend(files.into_iter().map(|evaluation| Found {
                evaluation,
                graph: args.graph.clone().unwrap_or_else(|| graph.clone()),
            }));
        }
    }
    if all.is_empty() {
        let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Fault::usage(format!(
            "There are no evaluations in {}. An evaluation is a file {FOLDER}/NAME.json beside a graph.json; see `superstep \
             evaluate --help`.",
            places.join(", ")
        )));
    }
    Ok(all)
}
