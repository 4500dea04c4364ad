//! `superstep check`: every problem of one or more graphs.

use serde_json::json;
use superstep_document::Diagnostic;
use superstep_nodes::Registry;

use crate::args::CheckArgs;
use crate::fault::{FAILED, Fault};
use crate::graph::{GraphFile, describe};
use crate::out;

pub(crate) fn check(args: &CheckArgs) -> Result<(), Fault> {
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
        if args.json {
            reports.push(json!({
                "path": file.path,
                "name": file.document.name(),
                "errors": errors,
                "warnings": warnings,
                "problems": problems,
            }));
        } else {
            text(file, &problems, errors, warnings)?;
        }
    }
    if args.json {
        out::pretty(&reports)?;
    }
    if failed { Err(Fault::quiet(FAILED)) } else { Ok(()) }
}

fn text(file: &GraphFile, problems: &[Diagnostic], errors: usize, warnings: usize) -> Result<(), Fault> {
    for problem in problems {
        out::line(&describe(problem))?;
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
