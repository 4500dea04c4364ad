//! A thread as commands list it, whether this program read it or another one that has it open.

use std::collections::HashMap;
use std::path::Path;

use superstep::Checkpointer;
use superstep::checkpoint::{CheckpointHead, ThreadQuery, ThreadSummary};
use superstep::value::Object;
use superstep_workbench::session;
use superstep_workbench::wire::RunLabels;

use crate::args::threads::Status;
use crate::fault::Fault;

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

/// Criterion for the graph of a thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GraphFilter {
    /// Its file, as threads store it.
    Path(String),
    /// Its name.
    Name(String),
}

impl GraphFilter {
    /// Reads what was asked for: a file that is there or that threads ran, or else the name of a graph. `has` says
    /// whether there is a thread that fits.
    pub(crate) async fn read(
        graph: &Path,
        has: impl AsyncFn(GraphFilter) -> Result<bool, Fault>,
    ) -> Result<Self, Fault> {
        let path = || GraphFilter::Path(absolute(graph));
        if graph.exists() || has(path()).await? {
            return Ok(path());
        }
        let name = || GraphFilter::Name(graph.to_string_lossy().into_owned());
        match has(name()).await? {
            true => Ok(name()),
            false => Err(Fault::usage(format!(
                "No graph is like {:?}: there is no such file or folder, and no thread ran a graph of that path or name. \
                 `superstep threads list` shows the names.",
                graph.display()
            ))),
        }
    }

    /// Reads what was asked for of the threads of a database.
    pub(crate) async fn of(graph: &Path, saver: &dyn Checkpointer) -> Result<Self, Fault> {
        let has = async |wanted: GraphFilter| {
            let mut of_graph = ThreadQuery::new();
            of_graph.filter = wanted.note(of_graph.filter);
            Ok::<bool, Fault>(saver.count_threads(&of_graph).await? > 0)
        };
        Self::read(graph, has).await
    }

    /// Returns the path or the name.
    pub(crate) fn into_text(self) -> String {
        match self {
            GraphFilter::Path(text) | GraphFilter::Name(text) => text,
        }
    }

    pub(crate) fn fits(&self, path: Option<&str>, name: &str) -> bool {
        match self {
            GraphFilter::Path(wanted) => path == Some(wanted),
            GraphFilter::Name(wanted) => name == wanted,
        }
    }

    /// Restricts a filter of threads.
    pub(crate) fn note(&self, filter: Object) -> Object {
        match self {
            GraphFilter::Path(path) => session::of_graph(filter, path),
            GraphFilter::Name(name) => session::of_graph_named(filter, name),
        }
    }
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
