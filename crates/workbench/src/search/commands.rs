//! The commands of the query desk, over the threads of a workbench.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use superstep::checkpoint::ThreadSummary;
use superstep::value::Object;
use superstep::{CheckpointId, Graph};

use super::{Desk, Directory, Listed};
use crate::Workbench;
use crate::base::{blocking, values};
use crate::wire::{
    CheckInvariants, EdgeReconsidered, FindMoments, FindUses, InvariantsAt, InvariantsChecked, ItemUses,
    MomentsFound, NodeProbed, ProbeNode, Problem, ReadInvariants, ReadWatch, ReconsiderEdge, WatchHistory,
};
use superstep_document::text;

/// The threads of a workbench.
#[derive(Debug)]
struct ThreadDirectory {
    workbench: Arc<Workbench>,
    /// What the keys of a graph begin with, by its key.
    initial: Mutex<HashMap<String, Object>>,
}

impl ThreadDirectory {
    fn key(&self, thread: &ThreadSummary) -> Option<String> {
        let row = self.workbench.ledger.thread(thread.thread.as_str()).ok()?;
        self.workbench.graph_key(&thread.head, row.as_ref())
    }
}

#[async_trait]
impl Directory for ThreadDirectory {
    async fn listed(&self, threads: &[ThreadSummary]) -> Result<Vec<Listed>, Problem> {
        let ids: Vec<&str> = threads.iter().map(|thread| thread.thread.as_str()).collect();
        let (rows, runs) = (
            self.workbench.ledger.threads(&ids)?,
            self.workbench.runs_of(&ids).await?,
        );
        let mut listed = Vec::with_capacity(threads.len());
        for (summary, id) in threads.iter().zip(ids) {
            let adopted = match rows.get(id) {
                Some(_) => None,
                None => Some(self.workbench.adopt(summary).await?),
            };
            let row = rows.get(id).or(adopted.as_ref());
            let view = self.workbench.thread_view(summary, row, &runs.of(id))?;
            listed.push(Listed {
                title: view.title,
                graph_name: view.graph_name,
                graph_path: view.graph_path,
                status: view.status,
            });
        }
        Ok(listed)
    }

    async fn cost(&self, thread: &str) -> Result<f64, Problem> {
        let (this, thread) = (self.workbench.clone(), thread.to_owned());
        blocking(move || this.ledger.cost(&thread)).await?
    }

    async fn titles(&self) -> Result<Vec<(String, String)>, Problem> {
        self.workbench.ledger.titles()
    }

    async fn initial(&self, thread: &ThreadSummary) -> Object {
        let Some(key) = self.key(thread) else {
            return Object::new();
        };
        if let Some(known) = self.initial.lock().get(&key) {
            return known.clone();
        }
        let (this, of) = (self.workbench.clone(), key.clone());
        let source = blocking(move || this.source_by_key(&of)).await;
        let initial = match source {
            Ok(Ok(source)) => values::initial(&source.document),
            _ => Object::new(),
        };
        self.initial.lock().insert(key, initial.clone());
        initial
    }

    async fn graph(&self, thread: &ThreadSummary) -> Option<Graph> {
        let key = self.key(thread)?;
        let this = self.workbench.clone();
        let built = blocking(move || this.build_to_read(&key)).await.ok()??;
        Some(built.graph.clone())
    }
}

impl Workbench {
    /// Creates the directory of what is known of threads apart from their checkpoints.
    pub(super) fn directory(self: &Arc<Self>) -> Arc<dyn Directory> {
        let threads = ThreadDirectory {
            workbench: self.clone(),
            initial: Mutex::default(),
        };
        Arc::new(threads)
    }

    fn desk(self: &Arc<Self>) -> Desk {
        Desk::new(self.saver(), self.directory()).with_index(self.index_path())
    }

    /// Returns the keys that the graph of a request is known by.
    fn graph_keys(&self, graph_id: Option<&str>, path: Option<String>) -> Result<Vec<String>, Problem> {
        let mut keys: Vec<String> = path.into_iter().collect();
        if let Some(graph_id) = graph_id {
            keys.extend(self.keys_of_graph(graph_id)?);
        }
        Ok(keys)
    }

    pub(crate) async fn moments_find(
        self: &Arc<Self>,
        request: FindMoments,
    ) -> Result<MomentsFound, Problem> {
        let graphs = self.graph_keys(request.graph_id.as_deref(), request.graph_path.clone())?;
        self.desk().find(&request, &graphs).await
    }

    pub(crate) async fn store_uses(self: &Arc<Self>, request: FindUses) -> Result<ItemUses, Problem> {
        self.desk().uses(&request).await
    }

    pub(crate) async fn node_probe(self: &Arc<Self>, request: ProbeNode) -> Result<NodeProbed, Problem> {
        let graphs = self.graph_keys(request.graph_id.as_deref(), request.graph_path.clone())?;
        self.desk().probe(&request, &graphs).await
    }

    pub(crate) async fn invariants_check(
        self: &Arc<Self>,
        request: CheckInvariants,
    ) -> Result<InvariantsChecked, Problem> {
        let graphs = self.keys_of_graph(&request.graph_id)?;
        let document = self.document(&request.graph_id)?.source().document;
        self.desk().check(&request, &document, &graphs).await
    }

    pub(crate) async fn edge_reconsider(
        self: &Arc<Self>,
        request: ReconsiderEdge,
    ) -> Result<EdgeReconsidered, Problem> {
        let graphs = self.keys_of_graph(&request.graph_id)?;
        let document = self.document(&request.graph_id)?.source().document;
        self.desk().reconsider(&request, &document, &graphs).await
    }

    /// Reads the stored summary of a thread.
    async fn summary(&self, thread: &str) -> Result<ThreadSummary, Problem> {
        let found = self.saver().thread(&thread.into()).await?;
        found.ok_or_else(|| Problem::not_found(text!("The thread is not stored any more.")))
    }

    pub(crate) async fn invariants_at(
        self: &Arc<Self>,
        request: ReadInvariants,
    ) -> Result<InvariantsAt, Problem> {
        let document = self.document(&request.graph_id)?.source().document;
        if document.invariants().is_empty() {
            return Ok(InvariantsAt::default());
        }
        let summary = self.summary(&request.thread_id).await?;
        let newest = || summary.head.id.clone();
        let checkpoint = request.checkpoint_id.map_or_else(newest, CheckpointId::from);
        let invariants = self.desk().stands(&document, &summary, &checkpoint).await?;
        Ok(InvariantsAt { invariants })
    }

    pub(crate) async fn watch_history(self: &Arc<Self>, request: ReadWatch) -> Result<WatchHistory, Problem> {
        let summary = self.summary(&request.thread_id).await?;
        let until = request.checkpoint_id.map(CheckpointId::from);
        self.desk()
            .watched(&summary, &request.expression, until.as_ref())
            .await
    }
}
