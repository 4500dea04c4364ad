//! The threads of a data folder as a host without a workbench knows them.

use std::collections::HashMap;
use std::path::Path;

use async_trait::async_trait;
use parking_lot::Mutex;
use superstep::Graph;
use superstep::checkpoint::{ThreadStatus, ThreadSummary};
use superstep::value::Object;
use superstep_document::Document;
use superstep_nodes::files::{MAX_GRAPH, read_text};

use super::{Directory, Listed};
use crate::base::values::initial;
use crate::ledger::Ledger;
use crate::session;
use crate::wire::{Problem, RunStatus};

/// Function that builds the graph of a thread.
type BuildGraph = dyn Fn(&ThreadSummary) -> Option<Graph> + Send + Sync;

/// The threads as a data folder knows them, for a host that has no workbench.
pub struct Folder {
    ledger: Option<Ledger>,
    /// What the keys of a graph begin with, by its file.
    initial: Mutex<HashMap<String, Object>>,
    graphs: Box<BuildGraph>,
}

impl std::fmt::Debug for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folder")
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

impl Folder {
    /// Opens what the app's data folder knows, if there is one; `graphs` builds the graph of a thread.
    pub fn open(
        data_dir: Option<&Path>,
        graphs: impl Fn(&ThreadSummary) -> Option<Graph> + Send + Sync + 'static,
    ) -> Result<Self, Problem> {
        Ok(Self {
            ledger: data_dir.map(Ledger::existing).transpose()?.flatten(),
            initial: Mutex::default(),
            graphs: Box::new(graphs),
        })
    }
}

#[async_trait]
impl Directory for Folder {
    async fn listed(&self, threads: &[ThreadSummary]) -> Result<Vec<Listed>, Problem> {
        let ids: Vec<&str> = threads.iter().map(|thread| thread.thread.as_str()).collect();
        let rows = match &self.ledger {
            Some(ledger) => ledger.threads(&ids)?,
            None => Default::default(),
        };
        let listed = threads.iter().map(|thread| {
            let (row, head) = (rows.get(thread.thread.as_str()), &thread.head);
            let path = session::graph_path(head).filter(|path| !path.starts_with("draft-"));
            Listed {
                title: row.map_or_else(|| thread.thread.to_string(), |row| row.title.clone()),
                graph_name: session::graph_name(head).unwrap_or_default().to_owned(),
                graph_path: path.map(str::to_owned),
                status: match thread.status() {
                    ThreadStatus::Idle => RunStatus::Done,
                    ThreadStatus::Interrupted => RunStatus::Asking,
                    ThreadStatus::Error => RunStatus::Failed,
                    ThreadStatus::Pending => RunStatus::Paused,
                },
            }
        });
        Ok(listed.collect())
    }

    async fn cost(&self, thread: &str) -> Result<f64, Problem> {
        self.ledger.as_ref().map_or(Ok(0.0), |ledger| ledger.cost(thread))
    }

    async fn titles(&self) -> Result<Vec<(String, String)>, Problem> {
        self.ledger
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), Ledger::titles)
    }

    async fn initial(&self, thread: &ThreadSummary) -> Object {
        let Some(path) = session::graph_path(&thread.head) else {
            return Object::new();
        };
        let mut known = self.initial.lock();
        let read = || {
            let text = read_text(Path::new(path), MAX_GRAPH).ok()?;
            Some(initial(&Document::parse(&text).0))
        };
        let initial = known.entry(path.to_owned());
        initial.or_insert_with(|| read().unwrap_or_default()).clone()
    }

    async fn graph(&self, thread: &ThreadSummary) -> Option<Graph> {
        (self.graphs)(thread)
    }
}
