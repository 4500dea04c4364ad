//! What becomes of a thread that goes on after its graph was changed: the report, and with which version it goes on.

use superstep::checkpoint::CheckpointHead;
use superstep::{Checkpointer, ThreadId};
use superstep_workbench::session::{RanOn, go_on_report};
use superstep_workbench::wire::{GoOnReport, KeyChangeKind, NodeChange, Renamed, TaskChange};

use crate::args::{Running, WhichVersion};
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::out;

/// Determines the graph that a thread continues with, and which nodes run in place of others. Fails when next tasks
/// would be lost and nobody has chosen how to continue.
pub(super) async fn version_to_run(
    file: GraphFile,
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    head: &CheckpointHead,
    args: &Running,
) -> Result<(GraphFile, Renamed), Fault> {
    let none = Renamed::new();
    let Some(ran) = RanOn::read(saver, thread, head).await? else {
        return match args.graph_version {
            Some(WhichVersion::Recorded) => Err(Fault::usage(format!(
                "The version of the graph that thread {thread} ran on is not recorded. Leave --graph-version out."
            ))),
            _ => Ok((file, none)),
        };
    };
    let now = file.sources();
    if *now.version().id == *ran.id {
        return Ok((file, none));
    }
    let report = go_on_report(saver, thread, head, &ran.sources, &now).await?;
    let renamed: Renamed = args.renamed.iter().cloned().collect();
    for (old, new) in &renamed {
        let is_lost = report
            .tasks
            .iter()
            .any(|task| task.path.is_empty() && task.node == *old);
        if !is_lost {
            return Err(Fault::usage(format!(
                "No next task of thread {thread} is of a node {old} that is gone."
            )));
        }
        if file.document.nodes().all(|(id, _)| id != new) {
            return Err(Fault::usage(format!("The graph has no node {new}.")));
        }
    }
    let lost = report.lost(&renamed).count();
    let which = match args.graph_version {
        None if !renamed.is_empty() && lost == 0 => Some(WhichVersion::Current),
        which => which,
    };
    match which {
        Some(WhichVersion::Recorded) => Ok((file.at_version(ran)?, none)),
        Some(WhichVersion::Current) => Ok((file, renamed)),
        None if report.is_empty() => Ok((file, none)),
        None => {
            out::note(&format!(
                "The graph was changed since thread {thread} ran:\n{}",
                lines(&report).join("\n")
            ));
            match lost {
                0 => Ok((file, none)),
                _ => Err(Fault::usage(
                    "Next tasks would be lost. Nothing was begun. Say how to go on: --graph-version recorded (the version \
                     that the thread ran on), --rename OLD=NEW (another node runs in the place of one that is gone), or \
                     --graph-version current (without them).",
                )),
            }
        }
    }
}

fn place(task: &TaskChange) -> String {
    let path = task.path.iter().chain([&task.node]);
    path.map(String::as_str).collect::<Vec<_>>().join(" > ")
}

/// Formats the report, one line for each change.
fn lines(report: &GoOnReport) -> Vec<String> {
    let tasks = report.tasks.iter().map(|task| {
        let what = match task.change {
            NodeChange::Gone => "runs next, and there is no such node any more",
            NodeChange::Kind => "runs next, and is of another kind now",
            NodeChange::Graph => "runs next, and the graph around it is another one now",
        };
        let candidates = match task.candidates.as_slice() {
            [] => String::new(),
            [first, ..] => format!(" (renamed? --rename {}={first})", task.node),
        };
        format!("  node {} {what}{candidates}", place(task))
    });
    let keys = report.keys.iter().map(|key| match key.change {
        KeyChangeKind::Gone => format!("  key {} is gone; its value is seen no more", key.key),
        KeyChangeKind::Type => format!(
            "  key {}: its type was {} and is {}",
            key.key, key.before, key.after
        ),
        KeyChangeKind::Reducer => format!(
            "  key {}: its reducer was {} and is {}",
            key.key, key.before, key.after
        ),
    });
    let questions = report.questions.iter().map(|change| match change.answered {
        0 => format!("  node {} was changed since it asked", change.node),
        1 => format!("  node {} was changed; the answer that it was given already is given to its first question", change.node),
        count => format!("  node {} was changed; the {count} answers that it was given already are given to its first questions", change.node),
    });
    let programs = report
        .programs
        .iter()
        .map(|path| format!("  file {path} was changed"));
    tasks.chain(keys).chain(questions).chain(programs).collect()
}
