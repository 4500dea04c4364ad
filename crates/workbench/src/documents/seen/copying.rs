//! Threads of another program, copied among our own: with every branch, and with the graph that they belong to here, so that
//! the list of its threads shows them.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use superstep::checkpoint::{
    CheckpointAddress, CheckpointHead, CheckpointTuple, Commit, Foreign, ForeignTask, ListQuery, Sealed,
    StorageError, ThreadQuery, Watch,
};
use superstep::{Checkpointer, ThreadId};
use superstep_document::{Text, text};
use superstep_storage::transfer::{SkippedCheckpoint, TransferError, Transferred, transfer};

use super::drawing::skeleton;
use super::{DocumentState, SeenGraph};
use crate::Workbench;
use crate::base::blocking;
use crate::base::files::Fingerprint;
use crate::base::problem::no_thread;
use crate::documents::autosave::AutosaveSlot;
use crate::session::{Origin, graph_path};
use crate::wire::{CopiedOwn, CopyOwn, OwnCopy, Problem, RunLabels, RunModels};

/// Threads that are listed at a time.
const PAGE: usize = 200;
/// Sentences about what was left out.
const MAX_SKIPPED: usize = 100;

/// Threads of another program, each of whose checkpoints names a graph of ours as well.
#[derive(Debug)]
struct Adopted {
    saver: Arc<dyn Checkpointer>,
    origin: Origin,
}

impl Adopted {
    fn inner(&self) -> Result<&dyn Foreign, StorageError> {
        let none = StorageError::Unsupported("copying threads that are our own already");
        self.saver.foreign().ok_or(none)
    }
}

#[async_trait]
impl Checkpointer for Adopted {
    async fn commit(&self, _: Commit) -> Result<(), StorageError> {
        Err(self.refusal())
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.saver.list(query).await
    }
    async fn delete_thread(&self, _: &ThreadId) -> Result<(), StorageError> {
        Err(self.refusal())
    }
    fn foreign(&self) -> Option<&dyn Foreign> {
        self.saver.foreign().map(|_| self as &dyn Foreign)
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.saver.heads(query).await
    }
}

#[async_trait]
impl Foreign for Adopted {
    fn refusal(&self) -> StorageError {
        match self.inner() {
            Ok(inner) => inner.refusal(),
            Err(error) => error,
        }
    }
    fn known_threads(&self) -> Option<u64> {
        self.saver.foreign()?.known_threads()
    }
    fn set_key(&self, key: Option<&str>) {
        if let Some(foreign) = self.saver.foreign() {
            foreign.set_key(key);
        }
    }
    fn sealed(&self) -> Option<Sealed> {
        self.saver.foreign()?.sealed()
    }
    async fn tasks(&self, at: &CheckpointAddress) -> Result<Vec<ForeignTask>, StorageError> {
        self.inner()?.tasks(at).await
    }
    async fn portable(&self, at: &CheckpointAddress) -> Result<Option<CheckpointTuple>, StorageError> {
        let mut found = self.inner()?.portable(at).await?;
        if let Some(tuple) = &mut found {
            self.origin.note_graph(&mut tuple.checkpoint.metadata.user);
        }
        Ok(found)
    }
}

/// A graph of ours, by its name and its key.
#[derive(Clone, Debug)]
struct GraphOfCopies {
    name: String,
    key: String,
}

impl GraphOfCopies {
    fn origin(&self) -> Origin {
        Origin {
            graph: self.name.clone(),
            path: self.key.clone(),
            models: RunModels::default(),
            disabled: Vec::new(),
            by: None,
            labels: RunLabels::default(),
            pinned: Vec::new(),
        }
    }
}

/// Graphs that threads become threads of, while some are copied.
#[derive(Debug, Default)]
struct CopyGraphs {
    /// The one that is open, where it is ours.
    open: Option<GraphOfCopies>,
    /// Drafts by the ids of the graphs that were seen.
    drafts: HashMap<String, GraphOfCopies>,
}

impl CopiedOwn {
    fn leave_out(&mut self, what: Text) {
        self.left_out += 1;
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(Problem::new("left-out", what));
        }
    }

    fn count(&mut self, thread: &ThreadId, graph: &str, copied: Transferred) {
        self.checkpoints += copied.checkpoints;
        self.stopped |= copied.stopped;
        match copied.known {
            0 => self.threads += 1,
            _ => self.known += 1,
        }
        for SkippedCheckpoint { id, cause } in copied.skipped {
            self.leave_out(text!(
                "{thread}: checkpoint {checkpoint} cannot be read: {cause}.",
                thread = thread.as_str(),
                checkpoint = id.as_str(),
                cause
            ));
        }
        self.first.get_or_insert_with(|| OwnCopy {
            thread_id: thread.to_string(),
            graph: graph.to_owned(),
        });
    }
}

impl Workbench {
    /// Returns a draft with the nodes and ways of a graph that was seen. Every database and graph has one, which is made once.
    async fn draft_of(self: &Arc<Self>, graph: &SeenGraph) -> Result<GraphOfCopies, Problem> {
        let of = Fingerprint::of(&format!("{}\n{}", self.database.place(), graph.name));
        let id = format!("draft-{}", of.as_str().get(..24).unwrap_or_default());
        let key = self.ledger.followed(&id)?;
        // Saved meanwhile: it is that file.
        if key != id || self.documents.get(&id).is_some() {
            return Ok(GraphOfCopies {
                name: graph.name.clone(),
                key,
            });
        }
        let document = skeleton(
            graph
                .document(&[])
                .unwrap_or(&superstep_document::Document::new("")),
        );
        let slot = AutosaveSlot::of_draft(&self.autosave_dir(), &id);
        let state = DocumentState {
            rev: 1,
            ..DocumentState::new(document, slot)
        };
        let (this, name) = (self.clone(), id.clone());
        let open = blocking(move || this.new_open(name, state)).await?;
        self.documents.add(open.clone());
        self.autosave(&open).await?;
        Ok(GraphOfCopies {
            name: graph.name.clone(),
            key: id,
        })
    }

    async fn graph_of_copy(
        self: &Arc<Self>,
        graphs: &mut CopyGraphs,
        thread: &ThreadId,
    ) -> Result<Option<GraphOfCopies>, Problem> {
        if graphs.open.is_some() {
            return Ok(graphs.open.clone());
        }
        let found = self.seen_of(thread.as_str()).await?;
        let Some(graph) = (found.as_ref()).and_then(|(seen, place)| seen.graphs.get(*place)) else {
            return Ok(None);
        };
        if let Some(laid) = graph.laid.as_ref().filter(|laid| laid.problem.is_none()) {
            return Ok(Some(GraphOfCopies {
                name: graph.name.clone(),
                key: laid.path.clone(),
            }));
        }
        if let Some(known) = graphs.drafts.get(&graph.id) {
            return Ok(Some(known.clone()));
        }
        let draft = self.draft_of(graph).await?;
        graphs.drafts.insert(graph.id.clone(), draft.clone());
        Ok(Some(draft))
    }

    /// Copies a thread, and counts it. What is wrong with one is no reason to leave others behind.
    async fn copy_one(
        self: &Arc<Self>,
        graphs: &mut CopyGraphs,
        to: &dyn Checkpointer,
        thread: &ThreadId,
        watch: Watch<'_>,
        all: &mut CopiedOwn,
    ) -> Result<(), Problem> {
        let known = to.thread(thread).await?;
        let of_known = known.as_ref().and_then(|known| graph_path(&known.head));
        let graph = self.graph_of_copy(graphs, thread).await?;
        let key = of_known.map_or_else(
            || graph.as_ref().map(|graph| graph.key.clone()).unwrap_or_default(),
            str::to_owned,
        );
        let saver = self.saver();
        let adopted;
        let from: &dyn Checkpointer = match &graph {
            Some(graph) => {
                adopted = Adopted {
                    saver,
                    origin: graph.origin(),
                };
                &adopted
            }
            None => &*saver,
        };
        match transfer(from, to, thread, thread, watch).await {
            Ok(copied) => all.count(thread, &key, copied),
            Err(TransferError::Taken(_)) => all.leave_out(text!(
                "{thread}: there is a thread of this name, which has gone a way of its own.",
                thread = thread.as_str()
            )),
            Err(TransferError::Stopped) => all.stopped = true,
            Err(TransferError::NoThread(_)) => return Err(no_thread(thread.as_str())),
            Err(TransferError::Storage(StorageError::Corrupt { cause, .. })) => all.leave_out(text!(
                "{thread}: it cannot be read: {cause}.",
                thread = thread.as_str(),
                cause
            )),
            Err(TransferError::Storage(error)) => return Err(error.into()),
            Err(error) => return Err(Problem::new("storage", format!("{error}."))),
        }
        Ok(())
    }

    pub(crate) async fn thread_copy_own(self: &Arc<Self>, request: CopyOwn) -> Result<CopiedOwn, Problem> {
        let saver = self.saver();
        if saver.foreign().is_none() {
            return Err(
                Problem::invalid(text!("The threads in use are our own already.")).remedy(text!(
                    "Duplicate one instead, or open the database of a LangGraph program first."
                )),
            );
        }
        let mut graphs = CopyGraphs::default();
        if let Some(open) = request.graph_id.as_deref().and_then(|id| self.documents.get(id))
            && open.refuse_seen().is_ok()
        {
            let source = open.source();
            graphs.open = Some(GraphOfCopies {
                name: source.name,
                key: source.key,
            });
        }
        let job = self.job(request.work);
        let own = self.database.own().await?;
        let mut all = CopiedOwn {
            database: own.url.clone(),
            ..CopiedOwn::default()
        };
        if let Some(id) = &request.thread_id {
            let thread = ThreadId::from(id.as_str());
            let watch = |done, total| job.at(done, total);
            self.copy_one(&mut graphs, &*own.checkpointer, &thread, &watch, &mut all)
                .await?;
            return Ok(all);
        }
        let total = saver.count_threads(&ThreadQuery::default()).await?;
        let mut page = ThreadQuery::new().limit(PAGE);
        let watch = |_, _| !job.stop().is_cancelled();
        let mut done = 0;
        while !all.stopped {
            let found = saver.threads(&page).await?;
            let Some(last) = found.last() else { break };
            page.after = Some(last.place());
            for summary in &found {
                if !job.at(done, total) {
                    all.stopped = true;
                    break;
                }
                self.copy_one(&mut graphs, &*own.checkpointer, &summary.thread, &watch, &mut all)
                    .await?;
                done += 1;
            }
        }
        Ok(all)
    }
}
