//! `superstep test`: the tests beside graphs, and what came of them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value as Json, json};
use superstep::{CheckpointId, ThreadId};
use superstep_nodes::models::{RECORDINGS, TestAnswers};
use superstep_nodes::testing::{self, Divergence, GraphTest, Played};
use superstep_workbench::wire::{ModelRecording, RunModels, TestKey, TestMade, ValueView};
use superstep_workbench::{Coverage, CoveredWay, Staged, TestedThread, test_of_thread};

use crate::args::{Models, TestArgs};
use crate::commands::run::runnable;
use crate::commands::state::open;
use crate::fault::{FAILED, Fault};
use crate::graph::GraphFile;
use crate::out::{self, quoted};
use crate::place::Store;
use crate::watch::run_at_changes;

/// Folders within folders in which graphs are looked for.
const MAX_DEPTH: usize = 8;
/// Letters of a value in a report for people.
const MAX_SHOWN: usize = 300;

/// The result of one test.
#[derive(Debug, Serialize)]
struct Tested {
    /// Folder of the graph and name of the test.
    name: String,
    graph: PathBuf,
    test: PathBuf,
    passed: bool,
    /// Seconds.
    took: f64,
    /// Why it could not be run at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    divergences: Vec<Divergence>,
    /// What came was written as what must come.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    accepted: bool,
}

pub(crate) async fn test(args: TestArgs) -> Result<(), Fault> {
    if let Some(thread) = &args.from {
        return from_thread(&args, thread).await;
    }
    if !args.watch {
        return test_once(&args).await;
    }
    if args.models == Some(Models::Record) {
        return Err(Fault::usage(
            "--watch cannot record: what is recorded would be a change.",
        ));
    }
    let own: Vec<PathBuf> = args.junit.iter().cloned().collect();
    run_at_changes(&paths(&args), &own, async || test_once(&args).await).await
}

async fn test_once(args: &TestArgs) -> Result<(), Fault> {
    let mut results = Vec::new();
    let mut covered = Vec::new();
    for (graph, tests) in found(args)?.into_iter().filter(|(_, tests)| !tests.is_empty()) {
        let file = GraphFile::read(&graph)
            .map(|file| file.with_models(models(args, &graph)))
            .and_then(|file| runnable(&file, args.trust).map(|_| file))
            .map_err(|fault| match fault.message() {
                cause if cause.is_empty() => format!("{} cannot run.", graph.display()),
                cause => cause,
            });
        let mut coverage = match &file {
            Ok(file) if args.coverage => Some(Coverage::of(&file.document)),
            _ => None,
        };
        for path in &tests {
            let tested = match &file {
                Ok(file) => one(args, file, &graph, path, coverage.as_mut()).await?,
                Err(cause) => failed_to_run(&graph, path, cause.clone()),
            };
            report(args, tested, &mut results)?;
        }
        covered.extend(coverage.map(|coverage| CoveredGraph { graph, coverage }));
    }
    end(args, &results, &covered)
}

fn failed_to_run(graph: &Path, test: &Path, cause: String) -> Tested {
    Tested {
        name: name_of(graph, test),
        graph: graph.to_owned(),
        test: test.to_owned(),
        passed: false,
        took: 0.0,
        error: Some(cause),
        divergences: Vec::new(),
        accepted: false,
    }
}

async fn one(
    args: &TestArgs,
    file: &GraphFile,
    graph: &Path,
    path: &Path,
    coverage: Option<&mut Coverage>,
) -> Result<Tested, Fault> {
    let mut test = match GraphTest::read(path) {
        Ok(test) => test,
        Err(error) => return Ok(failed_to_run(graph, path, error.to_string())),
    };
    // Nothing of one test is left in the next: a graph of its own, too.
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let answers = TestAnswers::of(&name, graph.parent().unwrap_or(Path::new("")));
    let answers = answers.map_err(|error| Fault::failed(error.to_string()))?;
    let built = runnable(&file.tested_with(Arc::new(answers)), args.trust)?;
    let began = Instant::now();
    let played = test.play(built, &file.document).await;
    let took = began.elapsed();
    let divergences = test.divergences(&played);
    if let Some(coverage) = coverage {
        coverage.add(&file.document, &played);
    }
    let accepted = args.accept && accept(&mut test, &divergences, played, path)?;
    Ok(Tested {
        name: name_of(graph, path),
        graph: graph.to_owned(),
        test: path.to_owned(),
        passed: divergences.is_empty() || accepted,
        took: took.as_secs_f64(),
        error: None,
        divergences,
        accepted,
    })
}

/// Writes what came as what must come, of what the test looks at. An answer that nobody asked for, an edit that was not
/// made and an expression that is not true are not accepted: the test says something else than the graph does.
fn accept(
    test: &mut GraphTest,
    divergences: &[Divergence],
    played: Played,
    path: &Path,
) -> Result<bool, Fault> {
    if !GraphTest::is_acceptable(divergences) {
        return Ok(false);
    }
    test.accept(played.outcome);
    write(path, &test.to_text())?;
    Ok(true)
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), Fault> {
    let cannot = |error| Fault::failed(format!("{} cannot be written: {error}.", path.display()));
    let mut staged = Staged::begin(path).map_err(cannot)?;
    staged.file.write_all(text.as_bytes()).map_err(cannot)?;
    staged.finish().map_err(cannot)
}

/// Returns who answers for the models of a graph: what was kept beside it, unless the person says otherwise.
fn models(args: &TestArgs, graph: &Path) -> RunModels {
    let is_kept = graph
        .parent()
        .is_some_and(|folder| folder.join(RECORDINGS).exists());
    let recording = match args.models {
        Some(models) => Some(models.into()),
        None => is_kept.then_some(ModelRecording::Replay),
    };
    RunModels {
        scripted: None,
        recording,
    }
}

/// Returns where to look: what was named, or else this folder.
fn paths(args: &TestArgs) -> Vec<PathBuf> {
    match args.paths.is_empty() {
        true => vec![PathBuf::from(".")],
        false => args.paths.clone(),
    }
}

/// Makes a test of a thread.
async fn from_thread(args: &TestArgs, thread: &str) -> Result<(), Fault> {
    let named = match args.paths.as_slice() {
        [] => None,
        [graph] => Some(graph.as_path()),
        _ => {
            return Err(Fault::usage(
                "A test is made of one graph. Name it alone, or none where it is the one that the thread ran.",
            ));
        }
    };
    let store = Store::existing(&args.db).await?;
    if store.saver.foreign().is_some() {
        return Err(Fault::usage(
            "The thread was made by another program, whose graph cannot be played here. Copy it to a graph of your own first: \
             `superstep threads copy`.",
        ));
    }
    let thread = ThreadId::from(thread);
    let head = store.head(&thread).await?;
    let checkpoint = args.checkpoint.as_deref().map(CheckpointId::from);
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let (file, reading) = open(&store, named, &thread, &head)?;
    let of = TestedThread {
        graph: &reading,
        document: &file.document,
        saver: &*store.saver,
        thread: &thread,
        checkpoint: checkpoint.as_ref(),
    };
    let made = test_of_thread(of, superstep_workbench::default_data_dir().as_deref()).await?;
    let (name, path) = made.name(&file.path, args.name.as_deref())?;
    let answers = made.answers(&file.path, &name)?;
    let file = file.with_models(RunModels {
        scripted: None,
        recording: Some(ModelRecording::Replay),
    });
    let built = runnable(&file.tested_with(answers.clone()), args.trust)?;
    let mut tried = made.tried(built, &file.document).await;
    tried.choose(None, None, args.holds.clone());
    if args.leave_out {
        tried.leave_out();
    }
    let left = tried.divergences();
    if left.is_empty() {
        tried.write(&path, &answers)?;
    }
    let view = tried.view(name, &path, &answers, left.is_empty());
    match args.json {
        true => out::pretty(&view)?,
        false => tell(&view)?,
    }
    match view.written {
        true => Ok(()),
        false => Err(Fault::quiet(FAILED)),
    }
}

/// Tells what is in a new test, or why it was not written.
fn tell(made: &TestMade) -> Result<(), Fault> {
    let count = |of: u32, what: &str| out::count(u64::from(of), what);
    let how = if made.written { "written" } else { "NOT written" };
    out::line(&format!("{how}  {}", made.path))?;
    let mut parts = vec![count(made.inputs, "input"), count(made.answers, "answer")];
    if made.edits > 0 {
        parts.push(count(made.edits, "edit"));
    }
    if made.recorded > 0 {
        parts.push(format!("{} of models", count(made.recorded, "recorded answer")));
    }
    out::line(&format!("    {}", parts.join(", ")))?;
    if let Some(status) = &made.status {
        out::line(&format!("    ends: {status}"))?;
    }
    if !made.nodes.is_empty() {
        out::line(&format!("    nodes: {}", made.nodes.join(", ")))?;
    }
    let left_out = |key: &TestKey| made.left_out.contains(&format!("values.{}", key.key));
    let keys = made.keys.iter().filter(|key| !left_out(key));
    let keys: Vec<&str> = keys.map(|key| key.key.as_str()).collect();
    out::line(&format!("    values: {}", keys.join(", ")))?;
    if !made.left_out.is_empty() {
        out::line(&format!("    left out: {}", made.left_out.join(", ")))?;
    }
    for one in &made.differences {
        let by: Vec<String> = one
            .by
            .iter()
            .map(|by| format!("{} ({})", by.node, by.kind))
            .collect();
        let by = match by.is_empty() {
            true => String::new(),
            false => format!("; by {}", by.join(", ")),
        };
        let value = |value: &Option<ValueView>| match value {
            Some(value) => match (&value.value, &value.head) {
                (Some(value), _) => shown(value),
                (None, Some(head)) => format!("{head}…"),
                (None, None) => format!("{} bytes", value.bytes),
            },
            None => "nothing".to_owned(),
        };
        out::line(&format!(
            "    {}: {} in the thread, {} when it was played{by}",
            one.at,
            value(&one.expected),
            value(&one.found)
        ))?;
    }
    for note in &made.notes {
        out::note(note);
    }
    if !made.written && made.differences.iter().all(|one| one.at.starts_with("/expect/")) {
        out::note("To leave out what differs: --leave-out");
    }
    Ok(())
}

/// Returns the graphs that have tests, each with those that were asked for.
fn found(args: &TestArgs) -> Result<Vec<(PathBuf, Vec<PathBuf>)>, Fault> {
    let mut all = Vec::new();
    for path in &paths(args) {
        let is_test = path
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name == testing::FOLDER);
        if path.is_file() && is_test {
            let graph = path
                .parent()
                .and_then(Path::parent)
                .unwrap_or(Path::new(""))
                .join("graph.json");
            all.push((graph, vec![path.clone()]));
            continue;
        }
        let mut graphs = BTreeSet::new();
        match path.is_dir() {
            true => graphs_in(path, testing::FOLDER, &mut graphs)?,
            false => drop(graphs.insert(path.clone())),
        }
        for graph in graphs {
            let tests = GraphTest::files_beside(&graph).map_err(|error| unlisted(&graph, &error))?;
            all.push((graph, tests));
        }
    }
    if let Some(words) = &args.filter {
        for (graph, tests) in &mut all {
            tests.retain(|test| name_of(graph, test).contains(words.as_str()));
        }
    }
    if all.iter().all(|(_, tests)| tests.is_empty()) {
        let places: Vec<String> = paths(args)
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let which = match &args.filter {
            Some(words) => format!("No test with {words:?} in its name is in {}.", places.join(", ")),
            None => format!("There are no tests in {}.", places.join(", ")),
        };
        return Err(Fault::usage(format!(
            "{which} A test is a file {}/NAME.json beside a graph.json.",
            testing::FOLDER
        )));
    }
    Ok(all)
}

pub(crate) fn unlisted(place: &Path, error: &std::io::Error) -> Fault {
    Fault::usage(format!(
        "{} cannot be listed: {error}. Check that you may read it.",
        place.display()
    ))
}

/// Finds the `graph.json` of a folder, and those of folders within it that have a folder of this name beside them.
pub(crate) fn graphs_in(folder: &Path, beside: &str, graphs: &mut BTreeSet<PathBuf>) -> Result<(), Fault> {
    collect_graphs(folder, beside, 0, graphs)
}

fn collect_graphs(
    folder: &Path,
    beside: &str,
    depth: usize,
    graphs: &mut BTreeSet<PathBuf>,
) -> Result<(), Fault> {
    let graph = folder.join("graph.json");
    if graph.is_file() && (depth == 0 || folder.join(beside).is_dir()) {
        graphs.insert(graph);
    }
    if depth == MAX_DEPTH {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(|error| unlisted(folder, &error))? {
        let entry = entry?;
        let name = entry.file_name();
        let is_left_out =
            name.to_string_lossy().starts_with('.') || name == "node_modules" || name == "target";
        // Links are not followed: they may lead round.
        if !is_left_out && entry.file_type()?.is_dir() {
            collect_graphs(&entry.path(), beside, depth + 1, graphs)?;
        }
    }
    Ok(())
}

fn name_of(graph: &Path, test: &Path) -> String {
    let whole = graph.canonicalize().unwrap_or_else(|_| graph.to_owned());
    let folder = whole.parent().and_then(Path::file_name).unwrap_or_default();
    let test = test.file_stem().unwrap_or_default();
    format!("{}/{}", folder.to_string_lossy(), test.to_string_lossy())
}

fn report(args: &TestArgs, tested: Tested, results: &mut Vec<Tested>) -> Result<(), Fault> {
    if !args.json {
        let how = match (tested.passed, tested.accepted) {
            (_, true) => "accepted",
            (true, false) => "passed",
            (false, false) => "FAILED",
        };
        out::line(&format!("{how:8}  {}  {:.1} s", tested.name, tested.took))?;
        for line in why(&tested) {
            out::line(&format!("    {line}"))?;
        }
    }
    results.push(tested);
    Ok(())
}

/// Says in lines why a test failed, the first divergence first.
fn why(tested: &Tested) -> Vec<String> {
    let mut lines: Vec<String> = tested
        .error
        .iter()
        .map(|error| error.replace('\n', " "))
        .collect();
    for one in &tested.divergences {
        lines.push(format!(
            "{}: {} expected, {} found",
            one.at,
            shown(&one.expected),
            shown(&one.found)
        ));
    }
    lines
}

fn shown(value: &Json) -> String {
    let text = match value {
        Json::Null => return "nothing".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn end(args: &TestArgs, results: &[Tested], covered: &[CoveredGraph]) -> Result<(), Fault> {
    if let Some(path) = &args.junit {
        write(path, &junit(results))?;
    }
    let failed = results.iter().filter(|tested| !tested.passed).count();
    if args.json && args.coverage {
        out::pretty(&json!({"tests": results, "coverage": covered}))?;
    } else if args.json {
        out::pretty(&results)?;
    } else {
        for graph in covered {
            graph.report()?;
        }
        let took: Duration = results
            .iter()
            .map(|tested| Duration::from_secs_f64(tested.took))
            .sum();
        out::line(&format!(
            "{} passed, {failed} failed in {:.1} s",
            results.len() - failed,
            took.as_secs_f64()
        ))?;
        if let Some(first) = results
            .iter()
            .find(|tested| !tested.passed && tested.error.is_none())
        {
            let test = quoted(&first.test.to_string_lossy());
            out::note(&format!(
                "If what was found is right: superstep test --accept {test}"
            ));
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Fault::quiet(FAILED)),
    }
}

/// Coverage of a graph by its tests.
#[derive(Debug, Serialize)]
struct CoveredGraph {
    graph: PathBuf,
    #[serde(flatten)]
    coverage: Coverage,
}

impl CoveredGraph {
    /// Prints how much was taken, and what was not.
    fn report(&self) -> Result<(), Fault> {
        let Coverage { nodes, ways, answers } = &self.coverage;
        let conditions: Vec<(&CoveredWay, u32)> = ways
            .iter()
            .filter_map(|way| Some((way, way.not_taken?)))
            .collect();
        let of =
            |covered: usize, all: usize, what: &str| format!("{covered} of {}", out::count(all as u64, what));
        let parts = [
            of(
                nodes.iter().filter(|one| one.times > 0).count(),
                nodes.len(),
                "node",
            ),
            of(ways.iter().filter(|one| one.taken > 0).count(), ways.len(), "way"),
            of(
                conditions
                    .iter()
                    .filter(|(one, not)| one.taken > 0 && *not > 0)
                    .count(),
                conditions.len(),
                "condition",
            ),
            of(
                answers.iter().filter(|one| one.times > 0).count(),
                answers.len(),
                "answer",
            ),
        ];
        out::line(&format!("{}: {}", self.graph.display(), parts.join(", ")))?;
        for node in nodes.iter().filter(|node| node.times == 0) {
            out::line(&format!("    never ran       {}", node.node))?;
        }
        for way in ways.iter().filter(|way| way.taken == 0) {
            out::line(&format!(
                "    never taken     {} -> {} ({})",
                way.from, way.to, way.id
            ))?;
        }
        for (way, _) in conditions.iter().filter(|(way, not)| way.taken > 0 && *not == 0) {
            out::line(&format!(
                "    always held     {} -> {} ({})",
                way.from, way.to, way.id
            ))?;
        }
        for one in answers.iter().filter(|one| one.times == 0) {
            let field = one
                .field
                .as_ref()
                .map(|field| format!("{field}: "))
                .unwrap_or_default();
            out::line(&format!(
                "    never answered  {}: {field}{}",
                one.node,
                shown(&one.value)
            ))?;
        }
        Ok(())
    }
}

/// Writes results as CI systems read them.
fn junit(results: &[Tested]) -> String {
    let failed = results.iter().filter(|tested| !tested.passed).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"superstep\" tests=\"{}\" failures=\"{failed}\">\n",
        results.len()
    );
    for tested in results {
        let (folder, name) = tested.name.split_once('/').unwrap_or(("", &tested.name));
        text += &format!(
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            xml(folder),
            xml(name),
            tested.took
        );
        match why(tested).as_slice() {
            [] => text += "/>\n",
            _ if tested.passed => text += "/>\n",
            lines => {
                let first = xml(&lines[0]);
                text += &format!(
                    ">\n    <failure message=\"{first}\">{}</failure>\n  </testcase>\n",
                    xml(&lines.join("\n"))
                );
            }
        }
    }
    text + "</testsuite>\n"
}

/// Escapes a text for XML; controls have no place in it.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
