//! Tasks of a checkpoint as interfaces receive them.

use std::collections::{HashMap, HashSet};

use superstep::Failure;
use superstep::inspect::{TaskSnapshot, TaskState};
use superstep_document::Document;

use crate::base::values::{self, interrupt_view};
use crate::ledger::TaskRow;
use crate::threads::task::is_packet;
use crate::threads::ways::Wires;
use crate::wire::{AttemptView, FailureView, TaskRecordView, TaskStatus, TaskView};

/// Information about a checkpoint's tasks beyond what is stored of them.
pub(crate) struct TasksOf<'a> {
    pub(crate) timings: &'a [TaskRow],
    pub(crate) running: &'a HashSet<String>,
    pub(crate) attempts: &'a HashMap<String, Vec<AttemptView>>,
    /// Tasks whose questions wait; the others' were withdrawn.
    pub(crate) waiting: Option<&'a HashSet<String>>,
    /// Their step has ended.
    pub(crate) closed: bool,
    pub(crate) document: Option<&'a Document>,
    /// The wires of that document.
    pub(crate) wires: &'a Wires,
    /// What they read and decided.
    pub(crate) records: &'a HashMap<String, TaskRecordView>,
}

/// Returns the reason why a task of this document was not retried.
pub(crate) fn not_retried(document: &Document, node: &str, failure: &Failure) -> Option<String> {
    let (_, spec) = document.nodes().find(|(id, _)| *id == node)?;
    superstep_nodes::not_retried(&spec.policy, failure)
}

impl From<&Failure> for FailureView {
    fn from(failure: &Failure) -> Self {
        Self {
            class: failure.class.to_string(),
            status: failure.status,
            retryable: superstep_nodes::may_pass(failure),
        }
    }
}

/// Reads the failure of a task that a checkpoint keeps. The stored text has no status: the ledger noted it.
fn failure_of(error: &str, row: Option<&TaskRow>) -> Failure {
    let mut failure = Failure::from_shown(error);
    failure.status = row.and_then(|row| row.status);
    failure
}

pub(crate) fn task_view(task: &TaskSnapshot, known: &TasksOf<'_>) -> TaskView {
    let id = task.id.to_string();
    let row = known.timings.iter().find(|row| row.task_id == id);
    // A result beside an error is of a node whose router failed, or of a later attempt, which succeeded.
    let succeeded =
        task.result.is_some() && (task.error.is_none() || row.map_or(known.closed, |row| row.finished));
    let asks = !task.interrupts.is_empty() && known.waiting.is_none_or(|waiting| waiting.contains(&id));
    let status = if known.running.contains(&id) {
        TaskStatus::Running
    } else if succeeded {
        TaskStatus::Done
    } else if task.error.is_some() {
        TaskStatus::Failed
    } else if asks {
        TaskStatus::Asking
    } else {
        TaskStatus::Waiting
    };
    let mut attempts = known.attempts.get(&id).cloned().unwrap_or_default();
    let mut error = task.error.clone();
    if status == TaskStatus::Done
        && let Some(error) = error.take()
    {
        // The run before failed with it; what it tried before that is kept, as the last attempts that failed are.
        attempts.push(AttemptView {
            attempt: attempts.last().map_or(0, |last| last.attempt) + 1,
            error,
            wait_millis: None,
        });
    }
    let failure = (error.as_deref()).map(|error| failure_of(error, row));
    let not_retried = match (status, &failure, known.document) {
        (TaskStatus::Failed, Some(failure), Some(document)) => not_retried(document, &task.name, failure),
        _ => None,
    };
    let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
    let record = known.records.get(&id);
    let ways = match (status, row.and_then(|row| row.ways.clone())) {
        (TaskStatus::Done, Some(ways)) => ways,
        (TaskStatus::Done, None) => {
            let decisions = record.map(|record| &record.decisions[..]);
            known.wires.followed(&task.name, &targets, decisions)
        }
        _ => Vec::new(),
    };
    TaskView {
        node: task.name.to_string(),
        status,
        error,
        failure: failure.as_ref().map(Into::into),
        interrupts: match status {
            // What was withdrawn is not asked any more.
            TaskStatus::Waiting => Vec::new(),
            _ => task.interrupts.iter().map(interrupt_view).collect(),
        },
        result: task.result.as_ref().map(values::view),
        targets,
        ways,
        millis: row.map(|row| row.millis),
        attempts,
        not_retried,
        within: task.state.as_ref().and_then(|state| match state {
            TaskState::Ns(ns) => Some(ns.to_string()),
            TaskState::Snapshot(_) => None,
        }),
        record: record.cloned(),
        packet: is_packet(task).then(|| values::brief(&task.input)),
        id,
    }
}
