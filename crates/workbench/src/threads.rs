//! Threads: titles, checkpoints, edits. A thread is what storage says it is; the ledger adds its title.

use std::sync::Arc;

use superstep::{
    CheckpointHead, CheckpointId, ListQuery, Object, RunError, Source as MadeBy, StateRef, StateUpdate,
    StorageError, ThreadId, Value,
};

use crate::Workbench;
use crate::documents::blocking;
use crate::ledger::ThreadRow;
use crate::listing::page_size;
use crate::wire::{
    AppEvent, CheckpointList, CheckpointView, DeleteThread, Empty, ListCheckpoints, Problem, RenameThread,
    ThreadRef, ThreadView, UpdateState, Updated,
};

/// Metadata that the workbench puts on every checkpoint, so that a thread can be understood without the ledger.
pub(crate) const GRAPH: &str = "graph";
pub(crate) const GRAPH_PATH: &str = "graph_path";
/// The run that made a checkpoint, under the name that LangGraph has for it.
pub(crate) const RUN_ID: &str = "run_id";

/// An engine error as interfaces see it.
pub(crate) fn problem(error: &RunError) -> Problem {
    let remedy = match error {
        RunError::Recursion { .. } => "Continue the thread, or raise the recursion limit of the graph.",
        RunError::Effect { node, same_input, .. } => {
            let input = if *same_input { "" } else { ", with another input" };
            let message = format!(
                "Stopped before `{node}`: it did its work already on another branch of this thread{input}."
            );
            return Problem::new(error.code(), message)
                .remedy("Continue, and say whether it is to do it again, use its result, or be left out.");
        }
        RunError::Bound { .. } => {
            "Let the step make less, or raise the limit in `limits` of the graph, and continue."
        }
        RunError::LoopLimit { .. } => "Continue the thread, or raise `max_visits` of the node.",
        RunError::Node { .. } => {
            "Correct the node or the state, and continue: what finished is not run again."
        }
        RunError::InvalidUpdate { .. } => "Correct what is written, or the key's reducer or schema.",
        RunError::EmptyInput { .. } => "Give the thread an input.",
        RunError::AmbiguousResume { .. } | RunError::UnknownInterrupt { .. } => {
            "Answer each waiting question by its id."
        }
        RunError::Storage(error) => return storage_problem(error),
        _ => {
            return Problem::new(error.code(), error.to_string());
        }
    };
    Problem::new(error.code(), error.to_string()).remedy(remedy)
}

/// A storage error with its own remedy.
pub(crate) fn storage_problem(error: &StorageError) -> Problem {
    match error {
        StorageError::Backend { what, cause, remedy } => {
            Problem::new("storage", format!("Storage failed while {what}: {cause}."))
                .remedy(format!("{}.", remedy.trim_end_matches('.')))
        }
        StorageError::NewerSchema { found, supported, .. } => Problem::new(
            "newer-version",
            format!("The database of threads has schema {found}; this release reads up to {supported}. It was not changed."),
        )
        .remedy("Install a newer release, or start with another data folder."),
        StorageError::Corrupt { .. } => Problem::new("storage", error.to_string())
            .remedy("Go on with another checkpoint or thread, or put back a copy of the database."),
        StorageError::Busy { held, .. } => Problem::new(
            "thread-busy",
            format!("Another program is running this thread: {}.", held.holder.name),
        )
        .remedy(format!(
            "Wait until its run has ended, or stop it there. When that program is gone, try again in {} s.",
            held.remaining.as_secs() + 1
        )),
        StorageError::Superseded { by: Some(by), .. } => Problem::new(
            "superseded",
            format!("Another program took this thread over: {}.", by.name),
        )
        .remedy("What was finished is kept. Look at the thread as it is now."),
        StorageError::Superseded { by: None, thread } => Problem::new(
            "superseded",
            format!("Thread {thread} was deleted or changed by another program meanwhile."),
        )
        .remedy("Look at the thread as it is now, and start again."),
        StorageError::Stopped => Problem::new("stopped", "It was stopped. What was not done yet is as it was."),
        StorageError::Unsupported(_) => Problem::new("storage", format!("{error}."))
            .remedy("Use a database of another kind for this."),
    }
}

pub(crate) fn no_thread(id: &str) -> Problem {
    Problem::not_found(format!("There is no thread {id}."))
        .remedy("It may have been deleted in another window.")
}

/// A node's name, or a state key: what is not is a channel of the engine.
pub(crate) fn is_state_key(name: &str) -> bool {
    !name.starts_with("__") && !name.starts_with("branch:") && !name.starts_with("join:")
}

/// Metadata of an edit: the keys it wrote, one a line.
const EDITED: &str = "edited";

pub(crate) fn checkpoint_view(head: &CheckpointHead) -> CheckpointView {
    // Later checkpoints of an edit inherit its metadata; only the edit itself was made as a node.
    let edit = head.metadata.source == MadeBy::Update;
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
        updated: match head.metadata.user.get(EDITED).and_then(Value::as_str) {
            // The engine does not say which channels an edit changed, so that every node is considered next.
            Some(keys) if edit => keys.lines().map(str::to_owned).collect(),
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
        as_node: as_node.filter(|_| edit),
    }
}

impl Workbench {
    /// Newest first, without values.
    pub(crate) async fn heads(
        &self,
        thread_id: &str,
        id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<CheckpointHead>, Problem> {
        let query = ListQuery {
            thread: Some(thread_id.into()),
            ns: Some("".into()),
            id: id.map(CheckpointId::from),
            limit,
            ..ListQuery::default()
        };
        self.saver().heads(&query).await.map_err(|e| problem(&e.into()))
    }

    /// A checkpoint as it is shown, with its bookmark.
    pub(crate) fn marked(&self, thread_id: &str, head: &CheckpointHead) -> Result<CheckpointView, Problem> {
        let mut marked = self.ledger.bookmarks(Some(thread_id))?;
        let of_thread = marked.get_mut(thread_id);
        Ok(CheckpointView {
            bookmark: of_thread.and_then(|marked| marked.remove(head.id.as_str())),
            ..checkpoint_view(head)
        })
    }

    /// What the thread says about its graph: a path or a draft's id.
    pub(crate) fn graph_key(&self, head: &CheckpointHead, row: Option<&ThreadRow>) -> Option<String> {
        let noted = row.map(|row| row.graph_key.clone()).filter(|key| !key.is_empty());
        noted.or_else(|| {
            head.metadata
                .user
                .get(GRAPH_PATH)
                .and_then(Value::as_str)
                .map(str::to_owned)
        })
    }

    /// The key of the thread's graph.
    pub(crate) async fn key_of_thread(&self, thread_id: &str) -> Result<String, Problem> {
        let row = self.ledger.thread(thread_id)?;
        let head = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
        let key = match (&head, row) {
            (Some(head), row) => self.graph_key(head, row.as_ref()),
            (None, Some(row)) => Some(row.graph_key),
            (None, None) => return Err(no_thread(thread_id)),
        };
        key.ok_or_else(|| {
            Problem::new("graph-needed", "It is not known which graph this thread ran.")
                .remedy("Open the graph and run the thread with it.")
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
            return Err(Problem::invalid("The title is empty.").remedy("Type a title."));
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

    pub(crate) async fn thread_delete(self: &Arc<Self>, request: DeleteThread) -> Result<Empty, Problem> {
        let _slot = self.reserve_claimed(&request.thread_id)?;
        // Says so when there is no such thread.
        self.thread(&request.thread_id).await?;
        let by = self.claim(&request.thread_id, request.take_over).await;
        superstep::delete_thread(&*self.saver(), &ThreadId::from(request.thread_id.as_str()), &by)
            .await
            .map_err(|e| problem(&e.into()))?;
        self.ledger.delete_thread(&request.thread_id)?;
        self.publish_inbox(Some(&request.thread_id));
        self.hub.publish(AppEvent::ThreadDeleted {
            thread_id: request.thread_id,
        });
        Ok(Empty {})
    }

    pub(crate) async fn thread_checkpoints(
        self: &Arc<Self>,
        request: ListCheckpoints,
    ) -> Result<CheckpointList, Problem> {
        let limit = page_size((request.limit > 0).then_some(request.limit), 500);
        let query = ListQuery {
            thread: Some(request.thread_id.as_str().into()),
            ns: Some("".into()),
            before: request.before.as_deref().map(CheckpointId::from),
            limit: Some(limit + 1),
            ..ListQuery::default()
        };
        let heads = self.saver().heads(&query).await.map_err(|e| problem(&e.into()))?;
        if heads.is_empty() && request.before.is_none() && self.ledger.thread(&request.thread_id)?.is_none() {
            return Err(no_thread(&request.thread_id));
        }
        let more = heads.len() > limit;
        let marked = self.ledger.bookmarks(Some(&request.thread_id))?;
        let marked = marked.get(&request.thread_id);
        let view = |head: &CheckpointHead| CheckpointView {
            bookmark: marked.and_then(|marked| marked.get(head.id.as_str())).cloned(),
            ..checkpoint_view(head)
        };
        Ok(CheckpointList {
            checkpoints: heads.iter().take(limit).map(view).collect(),
            more,
        })
    }

    pub(crate) async fn thread_update(self: &Arc<Self>, request: UpdateState) -> Result<Updated, Problem> {
        let _slot = self.reserve_claimed(&request.thread_id)?;
        let source = match &request.graph_id {
            Some(graph_id) => self.document(graph_id)?.source(),
            None => {
                let key = self.key_of_thread(&request.thread_id).await?;
                self.source_by_key(&key)?
            }
        };
        let this = self.clone();
        let built = blocking(move || this.build(source)).await??;
        let mut values = Value::from(request.values.clone());
        match &values {
            Value::Null => {}
            Value::Object(given) => {
                let mut wrapped = Object::new();
                for (key, value) in given.iter() {
                    let reduced = built.graph.state_keys().any(|(name, reducer)| {
                        let joins =
                            !matches!(reducer, "overwrite" | "ephemeral" | "any" | "topic" | "untracked");
                        **name == **key && joins
                    });
                    if reduced && request.overwrite.iter().any(|name| **name == **key) {
                        let inner: Object = [("__overwrite__", value.clone())].into_iter().collect();
                        wrapped.insert(key.clone(), inner);
                    } else {
                        wrapped.insert(key.clone(), value.clone());
                    }
                }
                values = wrapped.into();
            }
            other => {
                return Err(Problem::invalid(format!(
                    "The update must be an object of state keys, not {}.",
                    other.type_name()
                ))
                .remedy("Give an object such as {\"key\": value}."));
            }
        }
        built.check("the edit", &values)?;
        let at = StateRef::live(request.thread_id.as_str())
            .checkpoint(request.checkpoint_id.as_deref().map(CheckpointId::from))
            .claimed(self.claim(&request.thread_id, request.take_over).await);
        let edited_keys: Vec<&str> = values
            .as_object()
            .iter()
            .flat_map(|o| o.keys())
            .map(|key| &**key)
            .collect();
        let metadata: Object = [
            (GRAPH, built.source.name.as_str()),
            (GRAPH_PATH, built.source.key.as_str()),
            (EDITED, edited_keys.join("\n").as_str()),
        ]
        .into_iter()
        .collect();
        let update = StateUpdate {
            values,
            as_node: request.as_node.as_deref().map(Into::into),
            metadata,
            ..StateUpdate::default()
        };
        let edited = if request.preview {
            built.graph.preview_update(&at, update).await
        } else {
            built.graph.update_state(&at, update).await
        }
        .map_err(|e| problem(&e))?;
        let updated = Updated {
            checkpoint_id: (!request.preview).then(|| edited.checkpoint_id.to_string()),
            next: edited.next.iter().map(ToString::to_string).collect(),
            as_node: edited.as_node.to_string(),
        };
        if request.preview {
            return Ok(updated);
        }
        if self.ledger.thread(&request.thread_id)?.is_none() {
            let row = ThreadRow {
                thread_id: request.thread_id.clone(),
                title: built.source.name.clone(),
                graph_name: built.source.name.clone(),
                graph_key: built.source.key.clone(),
                created_at: crate::files::now(),
            };
            self.ledger.thread_began(&row, &self.database.place())?;
        }
        let id = edited.checkpoint_id.as_str();
        if let Some(event) = self.checkpoint_event(&request.thread_id, id).await {
            self.emit(&request.thread_id, event);
        }
        self.publish_thread(&request.thread_id).await;
        self.publish_inbox(Some(&request.thread_id));
        Ok(updated)
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

    /// What interfaces receive of a checkpoint that is stored.
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
    fn storage_errors_keep_their_own_remedy() {
        let full = StorageError::Backend {
            what: "writing".into(),
            cause: "disk full".into(),
            remedy: "Free some space".into(),
        };
        let shown = problem(&full.into());
        assert_eq!(
            (shown.code.as_str(), shown.remedy.as_deref()),
            ("storage", Some("Free some space."))
        );
        let newer = problem(
            &StorageError::NewerSchema {
                place: "threads.db".to_owned(),
                found: 9,
                supported: 1,
            }
            .into(),
        );
        assert_eq!(newer.code, "newer-version");
        assert!(newer.message.contains('9') && newer.remedy.is_some());
    }

    #[test]
    fn errors_of_runs_say_what_to_do() {
        let message = || String::from("what happened");
        for (error, remedy) in [
            (RunError::Recursion { limit: 3 }, "recursion limit"),
            (
                RunError::LoopLimit {
                    node: "a".into(),
                    limit: 3,
                },
                "max_visits",
            ),
            (
                RunError::InvalidUpdate { message: message() },
                "reducer or schema",
            ),
            (RunError::EmptyInput { message: message() }, "an input"),
        ] {
            let said = problem(&error);
            assert_eq!(
                (said.code.as_str(), &said.message),
                (error.code(), &error.to_string())
            );
            assert!(said.remedy.is_some_and(|text| text.contains(remedy)), "{error}");
        }
        let stopped = problem(&RunError::Cancelled);
        assert_eq!(
            (stopped.remedy, stopped.message),
            (None, RunError::Cancelled.to_string())
        );
        let effect = |same_input| RunError::Effect {
            node: "pay".into(),
            task_id: "t".into(),
            checkpoint: "c".into(),
            state: superstep::EffectState::Done,
            same_input,
        };
        let (same, other) = (problem(&effect(true)), problem(&effect(false)));
        assert!(same.message.contains("`pay`") && !same.message.contains("another input"));
        assert!(other.message.contains("another input"));
    }

    #[test]
    fn another_program_is_named_where_it_is_in_the_way() {
        let deleted = storage_problem(&StorageError::Superseded {
            by: None,
            thread: "t".into(),
        });
        assert_eq!(deleted.code, "superseded");
        assert!(deleted.message.contains("deleted or changed"));
        let stopped = storage_problem(&StorageError::Stopped);
        assert_eq!((stopped.code.as_str(), stopped.remedy), ("stopped", None));
        let cannot = storage_problem(&StorageError::Unsupported("pruning"));
        assert!(cannot.remedy.is_some_and(|text| text.contains("another kind")));
    }

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
