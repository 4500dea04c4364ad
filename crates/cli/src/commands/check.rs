//! `superstep check`: every problem of one or more graphs, and where their invariants were broken.

use serde_json::json;
use superstep_document::Diagnostic;
use superstep_nodes::Registry;

use crate::args::CheckArgs;
use crate::commands::rules::{Broken, broken};
use crate::fault::{FAILED, Fault};
use crate::graph::{GraphFile, describe};
use crate::out;

pub(crate) async fn check(args: &CheckArgs) -> Result<(), Fault> {
    let registry = Registry::standard();
    // All files are read first: a wrong path is not found after a screen of problems.
    let files = args
        .graphs
        .iter()
        .map(|path| GraphFile::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let mut failed = false;
    let mut reports = Vec::new();
    for file in &files {
        let mut problems = file.problems(&registry);
        if !args.allow_disabled {
            superstep_nodes::refuse_disabled(&mut problems);
        }
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        let warnings = problems.len() - errors;
        failed |= errors > 0 || (args.deny_warnings && warnings > 0);
        let mut report = json!({
            "path": file.path,
            "name": file.document.name(),
            "errors": errors,
            "warnings": warnings,
            "problems": problems,
        });
        if !args.json {
            text(file, &problems, errors, warnings)?;
        }
        // A graph without invariants, or with some that cannot be read, has none that were broken.
        if args.threads && errors == 0 && !file.document.invariants().is_empty() {
            let found = broken(file, &args.db, args.since.as_deref(), args.json).await?;
            failed |= !found.moments.is_empty();
            if !args.json {
                summary(file, &found)?;
            }
            report["searched"] = found.threads.into();
            report["unknown"] = found.searched.unknown.into();
            report["broken"] = found.moments.into();
        } else if args.threads {
            report["broken"] = json!([]);
            if !args.json && errors == 0 {
                out::note("The graph has no invariants.");
            }
        }
        reports.push(report);
    }
    if args.json {
        out::pretty(&reports)?;
    }
    if failed { Err(Fault::quiet(FAILED)) } else { Ok(()) }
}

fn summary(file: &GraphFile, found: &Broken) -> Result<(), Fault> {
    let invariants = out::count(file.document.invariants().len() as u64, "invariant");
    let threads = out::count(found.threads, "thread");
    let message = match found.moments.len() {
        0 => format!("{invariants} held in {threads}"),
        moments => format!(
            "broken at {} in {} of {threads} ({invariants})",
            out::count(moments as u64, "moment"),
            found.broken_threads
        ),
    };
    found.searched.note_unknown();
    Ok(out::line(&format!("{}: {message}", file.path.display()))?)
}

fn text(file: &GraphFile, problems: &[Diagnostic], errors: usize, warnings: usize) -> Result<(), Fault> {
    for problem in problems {
        out::lines(&describe(problem))?;
    }
    let counted = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let found = match (errors, warnings) {
        (0, 0) => {
            let nodes = file.document.node_ids().count();
            format!(
                "no problems ({}, {})",
                counted(nodes, "node"),
                counted(file.document.edges().count(), "edge")
            )
        }
        (errors, warnings) => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    Ok(out::line(&format!("{}: {found}", file.path.display()))?)
}
