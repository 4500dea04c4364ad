//! An edit of a thread's state by a person.

use std::sync::Arc;

use superstep::{CheckpointId, Object, ThreadId, Value, overwrite};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::documents::graphs::Built;
use crate::ledger::ThreadRow;
use crate::session::Edit;
use crate::wire::{Problem, RunModels, UpdateState, Updated};

/// The values of an edit, where these keys are replaced and not joined by their reducers.
fn overwriting(built: &Built, values: Value, keys: &[String]) -> Result<Value, Problem> {
    if matches!(values, Value::Null) {
        return Ok(values);
    }
    let Some(given) = values.as_object() else {
        return Err(Problem::invalid(format!(
            "The update must be an object of state keys, not {}.",
            values.type_name()
        ))
        .remedy("Give an object such as {\"key\": value}."));
    };
    let joins = |key: &str| {
        built.graph.state_keys().any(|(name, reducer)| {
            **name == *key && !matches!(reducer, "overwrite" | "ephemeral" | "any" | "topic" | "untracked")
        })
    };
    let value = |(key, value): (&Arc<str>, &Value)| {
        let replaces = keys.iter().any(|name| **name == **key) && joins(key);
        let value = if replaces {
            overwrite(value.clone())
        } else {
            value.clone()
        };
        (key.clone(), value)
    };
    Ok(Value::Object(given.iter().map(value).collect::<Object>()))
}

impl Workbench {
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
        let values = overwriting(&built, request.values.clone().into(), &request.overwrite)?;
        built.check("the edit", &values)?;
        let edit = Edit {
            values,
            as_node: request.as_node.as_deref().map(Into::into),
            checkpoint: request.checkpoint_id.as_deref().map(CheckpointId::from),
            preview: request.preview,
        };
        let claim = self.claim(&request.thread_id, request.take_over).await;
        let thread = ThreadId::from(request.thread_id.as_str());
        let origin = built.source.origin(&RunModels::default());
        let updated = edit.apply(&built.graph, &thread, claim, &origin).await?;
        let Some(id) = &updated.checkpoint_id else {
            return Ok(updated);
        };
        if self.ledger.thread(&request.thread_id)?.is_none() {
            let row = ThreadRow {
                thread_id: request.thread_id.clone(),
                title: built.source.name.clone(),
                graph_name: built.source.name.clone(),
                graph_key: built.source.key.clone(),
                created_at: files::now(),
            };
            self.ledger.thread_began(&row, &self.database.place())?;
        }
        if let Some(event) = self.checkpoint_event(&request.thread_id, id).await {
            self.emit(&request.thread_id, event);
        }
        self.publish_thread(&request.thread_id).await;
        self.publish_inbox(Some(&request.thread_id));
        Ok(updated)
    }
}
