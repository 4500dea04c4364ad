//! A thread as commands list it, whether this program read it or another one that has it open.

use std::collections::HashMap;
use std::path::Path;

use superstep::checkpoint::{CheckpointHead, ThreadSummary};
use superstep_workbench::session;
use superstep_workbench::wire::RunLabels;

use crate::args::threads::Status;

/// Returns the status of a thread by its newest checkpoint, also while it runs.
pub(crate) fn status_of(head: &CheckpointHead) -> Status {
    match head {
        head if head.interrupted > 0 => Status::Asking,
        head if head.failed > 0 => Status::Failed,
        head if head.next.is_empty() => Status::Done,
        _ => Status::Paused,
    }
}

pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Asking => "asking",
        Status::Failed => "failed",
        Status::Paused => "paused",
    }
}

/// A thread as it is listed.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) thread: String,
    pub(crate) status: String,
    pub(crate) graph: String,
    pub(crate) graph_path: String,
    pub(crate) step: i64,
    pub(crate) next: Vec<String>,
    pub(crate) newest: Option<String>,
    pub(crate) checkpoints: u64,
    pub(crate) questions: u64,
    /// Who runs it now.
    pub(crate) program: Option<String>,
    pub(crate) created: String,
    pub(crate) updated: String,
    /// Tags and metadata of its last run.
    pub(crate) labels: RunLabels,
}

impl From<&ThreadSummary> for Row {
    fn from(thread: &ThreadSummary) -> Self {
        let head = &thread.head;
        Self {
            thread: thread.thread.to_string(),
            status: word(status_of(head)).to_owned(),
            graph: session::graph_name(head).unwrap_or_default().to_owned(),
            graph_path: session::graph_path(head).unwrap_or_default().to_owned(),
            step: head.metadata.step,
            next: head.next.iter().map(ToString::to_string).collect(),
            newest: Some(head.id.to_string()),
            checkpoints: thread.checkpoints,
            questions: head.interrupted.into(),
            program: None,
            created: thread.created.clone(),
            updated: head.ts.clone(),
            labels: RunLabels::of_checkpoint(head).unwrap_or_default(),
        }
    }
}

/// Formats the next nodes, each once with its count: a fan-out has many tasks of one node.
pub(crate) fn next_of<N: AsRef<str>>(next: &[N]) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for name in next.iter().map(AsRef::as_ref) {
        let place = *places.entry(name).or_insert(counted.len());
        match counted.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counted.push((name, 1)),
        }
    }
    let each = |(name, count): (&str, usize)| {
        if count == 1 {
            name.to_owned()
        } else {
            format!("{name} ×{count}")
        }
    };
    counted.into_iter().map(each).collect::<Vec<_>>().join(", ")
}

/// Returns the path of a graph's file as threads store it.
pub(crate) fn absolute(path: &Path) -> String {
    let file = if path.is_dir() {
        path.join("graph.json")
    } else {
        path.to_owned()
    };
    file.canonicalize().unwrap_or(file).to_string_lossy().into_owned()
}
