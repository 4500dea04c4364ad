//! Threads: titles, checkpoints, edits. A thread is what storage says it is; the ledger adds its title.

mod align;
pub(crate) mod compare;
mod edit;
mod key_history;
pub(crate) mod listing;
pub(crate) mod nested;
pub(crate) mod paths;
mod pins;
pub(crate) mod provenance;
pub(crate) mod questions;
mod route;
pub(crate) mod snapshot;
pub(crate) mod status;
pub(crate) mod task;
pub(crate) mod tasks;
pub(crate) mod visits;
pub(crate) mod ways;

pub use align::common;

use std::collections::HashMap;
use std::sync::Arc;

use superstep::checkpoint::{Checkpoint, CheckpointHead, ListQuery, Source, reserved};
use superstep::value::Object;
use superstep::{CheckpointId, Value};

use crate::Workbench;
use crate::base::problem::no_thread;
use crate::ledger::{Bookmark, RunRow, ThreadRow};
use crate::models::chosen;
use crate::session;
use crate::threads::listing::page_size;
use crate::wire::{
    AppEvent, CheckpointList, CheckpointView, ListCheckpoints, Problem, RenameThread, RunModels, RunStatus,
    ThreadRef, ThreadView,
};
use superstep_document::text;

/// Returns whether a name is a node's name or a state key, and not that of an engine channel. What an entry point returned, and
/// what its next run is given, are shown as keys.
pub(crate) fn is_state_key(name: &str) -> bool {
    let is_shown = [reserved::END, reserved::PREVIOUS].contains(&name);
    (is_shown || !name.starts_with("__")) && !name.starts_with("branch:") && !name.starts_with("join:")
}

/// Returns the state keys of a checkpoint as they are stored, which is all that can be shown when the graph is gone.
pub fn stored_state(checkpoint: &Checkpoint) -> Object {
    let values = checkpoint.channel_values.iter();
    values
        .filter(|(name, _)| is_state_key(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

pub(crate) fn checkpoint_view(head: &CheckpointHead) -> CheckpointView {
    // Later checkpoints of an edit inherit its metadata; only the edit itself was made as a node.
    let edit = head.metadata.source == Source::Update;
    let as_node = head
        .metadata
        .user
        .get("as_node")
        .and_then(Value::as_str)
        .map(str::to_owned);
    CheckpointView {
        id: head.id.to_string(),
        parent: head.parent.as_ref().map(ToString::to_string),
        at: head.ts.clone(),
        source: head.metadata.source.as_str().to_owned(),
        step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
        next: head.next.iter().map(ToString::to_string).collect(),
        updated: match session::edited_keys(head) {
            // The engine does not say which channels an edit changed, so that every node is considered next.
            Some(keys) if edit => keys.map(str::to_owned).collect(),
            _ => {
                let updated = head.updated_channels.iter().flatten();
                updated
                    .filter(|name| is_state_key(name))
                    .map(ToString::to_string)
                    .collect()
            }
        },
        questions: head.interrupted,
        failed: head.failed,
        bookmark: None,
        bookmark_note: None,
        as_node: as_node.filter(|_| edit),
        // An edit inherits the metadata of the run before it.
        run: session::run_id(head).filter(|_| !edit).map(str::to_owned),
        what_if: session::what_if(head),
        by: session::by(&head.metadata),
    }
}

/// Adds the bookmark that a checkpoint has among those of its thread.
fn with_bookmark(view: CheckpointView, marked: Option<&HashMap<String, Bookmark>>) -> CheckpointView {
    match marked.and_then(|marked| marked.get(&view.id)) {
        Some(bookmark) => CheckpointView {
            bookmark: Some(bookmark.name.clone()),
            bookmark_note: Some(bookmark.note.clone()).filter(|note| !note.is_empty()),
            ..view
        },
        None => view,
    }
}

impl Workbench {
    /// Returns which models answered on the way to a checkpoint, or to the newest one.
    pub(crate) async fn models_of(
        &self,
        thread_id: &str,
        checkpoint_id: Option<&str>,
    ) -> Result<RunModels, Problem> {
        let heads = self.heads(thread_id, checkpoint_id, Some(1)).await?;
        Ok(heads.first().and_then(chosen).unwrap_or_default())
    }

    /// Reads checkpoint heads without values, the newest first.
    pub(crate) async fn heads(
        &self,
        thread_id: &str,
        id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<CheckpointHead>, Problem> {
        let query = ListQuery::new()
            .thread(thread_id)
            .ns("")
            .id(id.map(CheckpointId::from))
            .limit(limit);
        self.saver().heads(&query).await.map_err(Problem::from)
    }

    /// Returns a checkpoint as it is shown, with its bookmark.
    pub(crate) fn marked(&self, thread_id: &str, head: &CheckpointHead) -> Result<CheckpointView, Problem> {
        let marked = self.ledger.bookmarks(Some(thread_id))?;
        Ok(with_bookmark(checkpoint_view(head), marked.get(thread_id)))
    }

    /// Returns the key of a thread's graph: a path or a draft's id.
    pub(crate) fn graph_key(&self, head: &CheckpointHead, row: Option<&ThreadRow>) -> Option<String> {
        let noted = row.map(|row| row.graph_key.clone()).filter(|key| !key.is_empty());
        noted.or_else(|| session::graph_path(head).map(str::to_owned))
    }

    /// Returns the key of the thread's graph.
    pub(crate) async fn key_of_thread(&self, thread_id: &str) -> Result<String, Problem> {
        let row = self.ledger.thread(thread_id)?;
        let head = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
        let key = match (&head, row) {
            (Some(head), row) => self.graph_key(head, row.as_ref()),
            (None, Some(row)) => Some(row.graph_key),
            (None, None) => return Err(no_thread(thread_id)),
        };
        key.ok_or_else(|| {
            Problem::new(
                "graph-needed",
                text!("It is not known which graph this thread ran."),
            )
            .remedy(text!("Open the graph and run the thread with it."))
        })
    }

    pub(crate) async fn thread_get(self: &Arc<Self>, request: ThreadRef) -> Result<ThreadView, Problem> {
        self.thread(&request.thread_id).await
    }

    pub(crate) async fn thread_rename(
        self: &Arc<Self>,
        request: RenameThread,
    ) -> Result<ThreadView, Problem> {
        let title = request.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Problem::invalid(text!("The title is empty.")).remedy(text!("Type a title.")));
        }
        let view = self.thread(&request.thread_id).await?;
        let row = match self.ledger.thread(&request.thread_id)? {
            Some(row) => ThreadRow { title, ..row },
            None => ThreadRow {
                thread_id: view.thread_id.clone(),
                title,
                graph_name: view.graph_name.clone(),
                graph_key: self.key_of_thread(&request.thread_id).await.unwrap_or_default(),
                created_at: view.created_at.clone(),
            },
        };
        self.ledger.rename(&row, &self.database.place())?;
        self.publish_thread(&request.thread_id).await;
        self.thread(&request.thread_id).await
    }

    /// Forgets what is kept of a thread beside its checkpoints, which are gone.
    pub(crate) fn forget_thread(&self, thread_id: &str) -> Result<(), Problem> {
        self.runs.forget(thread_id);
        self.ledger.delete_thread(thread_id)
    }

    pub(crate) async fn thread_checkpoints(
        self: &Arc<Self>,
        request: ListCheckpoints,
    ) -> Result<CheckpointList, Problem> {
        let limit = page_size((request.limit > 0).then_some(request.limit), 500);
        let query = ListQuery::new()
            .thread(request.thread_id.as_str())
            .ns("")
            .before(request.before.as_deref().map(CheckpointId::from))
            .limit(limit + 1);
        let heads = self.saver().heads(&query).await?;
        if heads.is_empty() && request.before.is_none() && self.ledger.thread(&request.thread_id)?.is_none() {
            return Err(no_thread(&request.thread_id));
        }
        let more = heads.len() > limit;
        let marked = self.ledger.bookmarks(Some(&request.thread_id))?;
        let marked = marked.get(&request.thread_id);
        let view = |head: &CheckpointHead| with_bookmark(checkpoint_view(head), marked);
        Ok(CheckpointList {
            checkpoints: heads.iter().take(limit).map(view).collect(),
            more,
            runs: (self.ledger.runs_of(&request.thread_id)?.iter())
                .filter(|run| run.stop.is_some() || run.status == RunStatus::Asking)
                .map(RunRow::view)
                .collect(),
        })
    }

    /// Publishes how a thread stands.
    pub(crate) async fn publish_thread(&self, thread_id: &str) {
        match self.thread(thread_id).await {
            Ok(thread) => self.hub.publish(AppEvent::Thread {
                thread: Box::new(thread),
            }),
            Err(problem) => tracing::debug!(thread_id, %problem, "the thread could not be read"),
        }
    }

    /// Publishes a checkpoint.
    pub(crate) async fn publish_checkpoint(&self, thread_id: &str, id: &str) {
        if let Some(event) = self.checkpoint_event(thread_id, id).await {
            self.hub.publish(event);
        }
    }

    /// Builds the event that interfaces receive of a stored checkpoint.
    pub(crate) async fn checkpoint_event(&self, thread_id: &str, id: &str) -> Option<AppEvent> {
        match self.heads(thread_id, Some(id), Some(1)).await {
            Ok(heads) => {
                let head = heads.into_iter().next()?;
                let checkpoint = self
                    .marked(thread_id, &head)
                    .unwrap_or_else(|_| checkpoint_view(&head));
                Some(AppEvent::Checkpoint {
                    thread_id: thread_id.to_owned(),
                    checkpoint,
                })
            }
            Err(problem) => {
                tracing::warn!(thread_id, id, %problem, "the checkpoint could not be read");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_engine_are_no_state_keys() {
        for (name, is) in [
            ("log", true),
            ("_x", true),
            ("__start__", false),
            ("branch:to:a", false),
            ("join:a", false),
        ] {
            assert_eq!(is_state_key(name), is, "{name}");
        }
    }
}
