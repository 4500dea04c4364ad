//! `./dev conformance`: replays, records and compares cases, and looks for new ones.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use superstep_conformance::{
    Case, Deviations, Difference, Recorder, Refusal, Side, Verdict, cases, differences, judge, leave_out,
    normalise, performed, record, root, shrink,
};

const USAGE: &str = "\
Usage: ./dev conformance COMMAND

  run CASE…           what the engine does with cases, as JSON (no Python needed)
  record CASE…        what LangGraph does with them, as JSON
  record --write CASE…|all
                      write what LangGraph does into the cases
  diff [CASE…|all]    hold what the engine does against what is written in the cases (no Python needed)
  fuzz [--count N] [--seed S] [--keep FOLDER] [--tries N]
                      random graphs and scripts, on both sides; a difference is shrunk with this many tries (400) and
                      written down; what differs is counted by its place

A CASE is theme/name, a theme, or a file.";

/// A line to stdout. A closed pipe ends the program, it does not panic.
macro_rules! say {
    ($($what:tt)*) => {
        writeln!(io::stdout(), $($what)*)?
    };
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = arguments.split_first() else {
        println!("{USAGE}");
        return ExitCode::from(2);
    };
    let done = match command.as_str() {
        "run" => run(rest),
        "diff" => diff(rest),
        "record" => match rest.split_first() {
            Some((write, rest)) if write == "--write" => write_records(rest),
            _ => show_records(rest),
        },
        "fuzz" => fuzz(rest),
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Anyone who reads on the other end has seen enough.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Prints one record as JSON, or several as an object by case.
fn print(records: Vec<(String, serde_json::Value)>) -> io::Result<bool> {
    let shown = match <[_; 1]>::try_from(records) {
        Ok([(_, record)]) => record,
        Err(records) => records.into_iter().collect(),
    };
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &shown)?;
    writeln!(out)?;
    Ok(true)
}

fn run(wanted: &[String]) -> io::Result<bool> {
    if wanted.is_empty() {
        say!("{USAGE}");
        return Ok(false);
    }
    let mut records = Vec::new();
    for case in cases(wanted)? {
        let made = record(&case.value).map_err(|why| io::Error::other(format!("{}: {why}", case.name)))?;
        records.push((case.name, made));
    }
    print(records)
}

fn diff(wanted: &[String]) -> io::Result<bool> {
    let show = if wanted.is_empty() || wanted == ["all"] {
        3
    } else {
        usize::MAX
    };
    let deviations = Deviations::read()?;
    let (mut same, mut meant, mut different, mut refused) = (0, 0, 0, 0);
    for case in cases(wanted)? {
        match judge(&case, &deviations) {
            Verdict::Same => same += 1,
            Verdict::Meant(reason) => {
                meant += 1;
                say!("{}: differs as meant: {reason}", case.name);
            }
            Verdict::Different(found) => {
                different += 1;
                say!("{}: {} differences", case.name, found.len());
                for difference in found.iter().take(show) {
                    say!("  {difference}");
                }
            }
            Verdict::Outdated(reason) => {
                different += 1;
                say!(
                    "{}: no longer differs, remove it from deviations.json ({reason})",
                    case.name
                );
            }
            Verdict::Refused(refusal) => {
                refused += 1;
                say!("{}: {refusal}", case.name);
            }
        }
    }
    say!(
        "{same} cases are the same, {meant} differ as meant, {different} differ, {refused} could not be replayed"
    );
    Ok(different == 0 && refused == 0)
}

/// Records what LangGraph does with each case.
fn records(wanted: &[String]) -> io::Result<Vec<(Case, serde_json::Value)>> {
    if wanted.is_empty() {
        return Err(io::Error::other(USAGE));
    }
    let mut recorder = Recorder::start()?;
    let mut made = Vec::new();
    for case in cases(wanted)? {
        let record = recorder.record(&case.value);
        let record = record.map_err(|why| io::Error::other(format!("{}: {why}", case.name)))?;
        made.push((case, record));
    }
    Ok(made)
}

fn show_records(wanted: &[String]) -> io::Result<bool> {
    print(
        records(wanted)?
            .into_iter()
            .map(|(case, record)| (case.name, record))
            .collect(),
    )
}

fn write_records(wanted: &[String]) -> io::Result<bool> {
    let made = records(wanted)?;
    let (count, mut changed) = (made.len(), 0);
    for (mut case, record) in made {
        if case.value.get("record") != Some(&record) {
            changed += 1;
            say!("{}", case.name);
            case.value["record"] = record;
        }
        case.write()?;
    }
    say!("{count} cases recorded, {changed} of them new or changed");
    Ok(true)
}

fn option(arguments: &[String], name: &str) -> Option<String> {
    let place = arguments.iter().position(|argument| argument == name)?;
    arguments.get(place + 1).cloned()
}

/// Returns the keys of a case's graphs that are rebuilt from writes.
fn delta_keys(case: &serde_json::Value) -> Vec<String> {
    let graphs = case["graph"]["graphs"].as_object().into_iter().flatten();
    let graphs = graphs.map(|(_, graph)| graph).chain([&case["graph"]]);
    let states = graphs.filter_map(|graph| graph["state"].as_object()).flatten();
    let keys = states.filter(|(_, spec)| spec["channel"] == "delta");
    keys.map(|(key, _)| key.clone()).collect()
}

/// Returns whether a difference counts. Five things differ everywhere: the path of a row where an edit replaces a task
/// that has rows already, the form in which a command is stored that begins a thread, what LangGraph notes of delta
/// keys that it stored at a fork, what it repeats of a request for what is not there, and the metadata that an edit
/// keeps of the checkpoint before it.
fn counts(difference: &Difference, deltas: &[String]) -> bool {
    let parts: Vec<&str> = difference.place.split('.').collect();
    let stored = difference.place.contains(".stored.");
    let path = parts.len() > 3 && parts[parts.len() - 3] == "writes" && parts.ends_with(&["1"]);
    let last = parts.last().copied().unwrap_or_default();
    let noted = parts.contains(&"versions_seen")
        && (last == "__snapshot_bumps__" || deltas.iter().any(|key| key == last));
    let kept = parts.len() > 1 && parts[parts.len() - 2] == "metadata" && difference.reference.is_none();
    !(kept
        || difference.engine.is_none() && difference.place.contains(".config.configurable")
        || stored && (path || noted || difference.place.contains(".channel_values.__start__")))
}

/// Returns how the engine differs from what LangGraph did with a case, without what occurs everywhere and without the
/// messages that only one side tells.
fn different(case: &serde_json::Value, mut theirs: serde_json::Value) -> Result<Vec<Difference>, Refusal> {
    let deltas = delta_keys(case);
    let mut ours = performed(case)?;
    leave_out(&mut theirs, Side::Reference);
    leave_out(&mut ours, Side::Engine);
    let found = differences(&normalise(theirs), normalise(ours)).into_iter();
    Ok(found.filter(|difference| counts(difference, &deltas)).collect())
}

/// Returns the kind of a difference; a smaller case must show the same kind.
fn kind_of(difference: &Difference) -> String {
    let parts = difference.place.split('.');
    parts
        .filter(|part| part.parse::<usize>().is_err())
        .collect::<Vec<_>>()
        .join(".")
}

fn fuzz(arguments: &[String]) -> io::Result<bool> {
    let number = |name: &str, default: u64| {
        option(arguments, name)
            .and_then(|n| n.parse().ok())
            .unwrap_or(default)
    };
    let (count, seed) = (number("--count", 1000), number("--seed", 1));
    let tries = usize::try_from(number("--tries", 400)).unwrap_or(usize::MAX);
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let folder =
        option(arguments, "--keep").map_or_else(|| root().join("../../target/conformance/found"), Into::into);
    let mut recorder = Recorder::start()?;
    let (mut differ, mut refused, mut unknown) = (0, 0, 0);
    for (done, seed) in (seed..seed + count).enumerate() {
        if done > 0 && done.is_multiple_of(100) {
            eprintln!("{done} of {count} cases, {differ} differ");
        }
        let (case, theirs) = match recorder.generate(seed) {
            Ok(made) => made,
            Err(why) => {
                unknown += 1;
                say!(
                    "seed {seed}: {}",
                    why.to_string().lines().next().unwrap_or_default()
                );
                continue;
            }
        };
        match different(&case, theirs) {
            Ok(found) if found.is_empty() => continue,
            Err(Refusal::Unsupported(what)) => {
                refused += 1;
                say!("seed {seed}: the engine does not offer {what}");
                continue;
            }
            Err(refusal) => return Err(io::Error::other(format!("seed {seed}: {refusal}"))),
            Ok(_) => {}
        }
        // A race on the reference's side is not a difference: it must show again.
        let again = |recorder: &mut Recorder, case: &serde_json::Value| {
            let theirs = recorder.observe(case).ok()?;
            let found = different(case, theirs.clone()).ok()?;
            (!found.is_empty()).then_some((normalise(theirs), found))
        };
        let Some((_, first)) = again(&mut recorder, &case) else {
            say!("seed {seed}: differed once and not again");
            continue;
        };
        let kind = kind_of(&first[0]);
        differ += 1;
        *kinds.entry(kind.clone()).or_default() += 1;
        let mut small = shrink(case, tries, |case| {
            again(&mut recorder, case).is_some_and(|(_, found)| kind_of(&found[0]) == kind)
        });
        let Some((theirs, found)) = again(&mut recorder, &small) else {
            say!("seed {seed}: differed, but not every time");
            continue;
        };
        small["record"] = theirs;
        let case = Case {
            name: format!("seed-{seed}"),
            path: folder.join(format!("seed-{seed}.json")),
            value: small,
        };
        case.write()?;
        say!("seed {seed}: {}", case.path.display());
        for difference in found.iter().take(3) {
            say!("  {difference}");
        }
    }
    for (kind, count) in kinds {
        say!("{count:6}  {kind}");
    }
    say!(
        "{count} random cases, {differ} differ, {refused} use what the engine does not offer, {unknown} LangGraph did \
         not finish"
    );
    Ok(differ == 0)
}
