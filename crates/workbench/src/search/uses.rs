//! The steps that read or wrote an item of long-term memory, as the records of their tasks say.

use superstep::{
    CheckpointAddress, CheckpointHead, Checkpointer, ListQuery, StorageError, ThreadId, Value, iso8601,
    records_of,
};

use crate::session::node_of;
use crate::wire::{FindUses, ItemUse};

/// An item that is looked for.
#[derive(Debug)]
pub(super) struct Wanted {
    namespace: Vec<String>,
    key: String,
}

impl From<&FindUses> for Wanted {
    fn from(request: &FindUses) -> Self {
        Self {
            namespace: request.namespace.clone(),
            key: request.key.clone(),
        }
    }
}

/// Names the nodes around the tasks of a namespace, the outermost first.
fn nodes_around(ns: &str) -> Vec<String> {
    let parts = ns.split('|').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split(':').next().unwrap_or(part).to_owned())
        .collect()
}

/// The checkpoint of the outermost graph that the step of a checkpoint belongs to.
fn outermost(head: &CheckpointHead) -> String {
    let root = head.metadata.parents.get("").and_then(Value::as_str);
    root.map_or_else(|| head.id.to_string(), str::to_owned)
}

impl Wanted {
    /// The uses in a thread, the newest first; in the graphs within its own, too.
    pub(super) async fn run(
        &self,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        title: &str,
    ) -> Result<Vec<ItemUse>, StorageError> {
        let query = ListQuery {
            thread: Some(thread.clone()),
            ..ListQuery::default()
        };
        let mut found = Vec::new();
        for head in saver.heads(&query).await? {
            let address = CheckpointAddress {
                thread: thread.clone(),
                ns: head.ns.clone(),
                id: head.id.clone(),
            };
            let writes = saver.writes_of(address).await?;
            for (task, record) in records_of(&writes) {
                let of_item = (record.memory.iter())
                    .filter(|used| used.key == self.key && used.namespace == self.namespace);
                let path = writes.iter().find(|row| row.task_id == *task);
                let node = path.and_then(|row| node_of(&row.task_path)).unwrap_or_default();
                found.extend(of_item.map(|used| {
                    let step = i32::try_from(head.metadata.step + 1).unwrap_or(i32::MAX);
                    let row = ItemUse {
                        thread_id: thread.to_string(),
                        title: title.to_owned(),
                        checkpoint_id: outermost(&head),
                        step,
                        within: nodes_around(&head.ns),
                        node: node.to_owned(),
                        task_id: task.to_string(),
                        at: iso8601(used.at),
                        action: used.action.into(),
                        value: used.value.as_ref().map(Into::into),
                    };
                    (used.at, row)
                }));
            }
        }
        found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Ok(found.into_iter().map(|(_, used)| used).collect())
    }
}
