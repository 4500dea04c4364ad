//! An edit of a thread's state by a person.

use std::sync::Arc;

use superstep::{CheckpointId, ThreadId, Value};
use superstep_nodes::attach::ProgramEdit;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::documents::GraphSource;
use crate::documents::graphs::Built;
use crate::documents::seen::{no_program, problem_of};
use crate::ledger::ThreadRow;
use crate::session::{Edit, Origin, RanOn, Write, replacing};
use crate::wire::{Problem, RunModels, UpdateState, Updated};
use superstep_document::text;

/// Returns the values of an edit in a form in which these keys are replaced instead of being joined by their reducers.
fn overwriting(built: &Built, values: Value, keys: &[String]) -> Result<Value, Problem> {
    if matches!(values, Value::Null) {
        return Ok(values);
    }
    let Some(given) = values.as_object() else {
        return Err(Problem::invalid(text!(
            "The update must be an object of state keys, not {found}.",
            found = values.type_name()
        ))
        .remedy(text!("Give an object such as {\"key\": value}.")));
    };
    let replaced = |key: &str| keys.iter().any(|name| name == key);
    Ok(replacing(&built.source.document, given, replaced))
}

impl Workbench {
    /// Tells whether the graph can be built, ready to run.
    pub(crate) async fn can_run(
        self: &Arc<Self>,
        source: &GraphSource,
        models: &RunModels,
    ) -> Result<bool, Problem> {
        let (this, source, models) = (self.clone(), source.clone(), models.clone());
        blocking(move || this.build_with(source, models).is_ok()).await
    }

    /// Returns the graph that a thread goes on with from a checkpoint, the newest when it is `None`: as it is now, or as
    /// it was when the thread ran while its document cannot run.
    pub(crate) async fn graph_to_go_on(
        self: &Arc<Self>,
        thread: &str,
        checkpoint: Option<&str>,
        source: GraphSource,
    ) -> Result<GraphSource, Problem> {
        let models = RunModels::default();
        if self.can_run(&source, &models).await? {
            return Ok(source);
        }
        let head = match checkpoint {
            Some(id) => Some(self.head(thread, id).await?),
            None => self.heads(thread, None, Some(1)).await?.into_iter().next(),
        };
        let Some(head) = head else { return Ok(source) };
        let ran = RanOn::read(&*self.saver(), &thread.into(), &head).await?;
        match ran.map(|ran| source.as_it_was(ran)) {
            Some(before) if self.can_run(&before, &models).await? => Ok(before),
            _ => Ok(source),
        }
    }

    /// Builds the graph of an open document, or else the one that the thread ran last, to go on with from a checkpoint.
    pub(crate) async fn built_for(
        self: &Arc<Self>,
        thread: &str,
        graph: Option<&str>,
        checkpoint: Option<&str>,
    ) -> Result<Arc<Built>, Problem> {
        let source = match graph {
            Some(graph) => self.document(graph)?.source(),
            None => self.source_by_key(&self.key_of_thread(thread).await?)?,
        };
        let source = self.graph_to_go_on(thread, checkpoint, source).await?;
        let this = self.clone();
        blocking(move || this.build(source)).await?
    }

    /// Returns the origin that the checkpoints of a run or an edit record: the graph, and the name of the user.
    pub(crate) fn origin(&self, source: &GraphSource, models: &RunModels) -> Origin {
        Origin {
            by: self.preferences.settings().name,
            ..source.origin(models)
        }
    }

    pub(crate) async fn thread_update(self: &Arc<Self>, request: UpdateState) -> Result<Updated, Problem> {
        if self.attached().is_some() {
            return self.update_attached(request).await;
        }
        let _slot = self.reserve_claimed(&request.thread_id, Vec::new())?;
        let built = self
            .built_for(
                &request.thread_id,
                request.graph_id.as_deref(),
                request.checkpoint_id.as_deref(),
            )
            .await?;
        let write = match request.skip_step {
            true => Write::SkippedStep,
            false => {
                let values = overwriting(&built, request.values.clone().into(), &request.overwrite)?;
                built.check("the edit", &values)?;
                Write::Values(values, request.as_node.as_deref().map(Into::into))
            }
        };
        let edit = Edit {
            write,
            checkpoint: request.checkpoint_id.as_deref().map(CheckpointId::from),
            preview: request.preview,
        };
        let claim = self.claim(&request.thread_id, request.take_over).await;
        let thread = ThreadId::from(request.thread_id.as_str());
        let origin = self.origin(&built.source, &RunModels::default());
        let updated = edit.apply(&built.graph, &thread, claim, &origin).await?;
        let Some(id) = &updated.checkpoint_id else {
            return Ok(updated);
        };
        let (name, key) = (&built.source.name, &built.source.key);
        self.note_edit(&request.thread_id, id, name, key).await?;
        Ok(updated)
    }

    /// Edits a thread of the attached program, by LangGraph's own functions in its process.
    async fn update_attached(self: &Arc<Self>, request: UpdateState) -> Result<Updated, Problem> {
        // Before the thread is taken: a program is not started again while it runs one.
        if !self.runs.is_taken(&request.thread_id) {
            self.current_program().await?;
        }
        let attachment = self.attached().ok_or_else(no_program)?;
        let _slot = self.reserve_attached(&request.thread_id, Vec::new())?;
        let edit = ProgramEdit {
            thread: request.thread_id.clone(),
            checkpoint: request.checkpoint_id,
            values: request.values.into(),
            overwrite: request.overwrite,
            as_node: request.as_node,
            skip_step: request.skip_step,
            preview: request.preview,
        };
        let edited = attachment.own_program()?.edit_state(&edit).await;
        let edited = edited.map_err(|error| problem_of(&error, &attachment.named))?;
        if let Some(id) = &edited.checkpoint {
            let name = attachment.document_name();
            self.note_edit(&request.thread_id, id, &name, &attachment.named)
                .await?;
        }
        Ok(Updated {
            checkpoint_id: edited.checkpoint,
            next: edited.next,
            as_node: edited.as_node,
        })
    }

    /// Publishes the checkpoint of an edit, and notes its thread where it is new.
    async fn note_edit(
        self: &Arc<Self>,
        thread: &str,
        checkpoint: &str,
        name: &str,
        key: &str,
    ) -> Result<(), Problem> {
        if self.ledger.thread(thread)?.is_none() {
            let row = ThreadRow {
                thread_id: thread.to_owned(),
                title: name.to_owned(),
                graph_name: name.to_owned(),
                graph_key: key.to_owned(),
                created_at: files::now(),
            };
            self.ledger.thread_began(&row, &self.database.place())?;
        }
        if let Some(event) = self.checkpoint_event(thread, checkpoint).await {
            self.emit(thread, event);
        }
        self.publish_thread(thread).await;
        self.publish_inbox(Some(thread));
        Ok(())
    }
}
