//! The steps that read or wrote an item of long-term memory, as the records of their tasks say.

use superstep::checkpoint::{CheckpointAddress, CheckpointHead, ListQuery, StorageError, records_of};
use superstep::checkpoint::{MemoryUse, TaskId};
use superstep::run::iso8601;
use superstep::{Checkpointer, ThreadId, Value};

use crate::session::node_of;
use crate::wire::{FindUses, ItemUse};

/// Checkpoints whose writes are read at once.
const AT_ONCE: usize = 256;

/// An item that is looked for.
#[derive(Debug)]
pub(super) struct SoughtItem {
    namespace: Vec<String>,
    key: String,
}

impl From<&FindUses> for SoughtItem {
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

/// Returns the checkpoint of the outermost graph that the step of a checkpoint belongs to.
fn outermost(head: &CheckpointHead) -> String {
    let root = head.metadata.parents.get("").and_then(Value::as_str);
    root.map_or_else(|| head.id.to_string(), str::to_owned)
}

impl SoughtItem {
    /// Returns the uses in a thread, the newest first; those in nested graphs, too.
    pub(super) async fn run(
        &self,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        title: &str,
    ) -> Result<Vec<ItemUse>, StorageError> {
        let query = ListQuery::new().thread(thread.clone());
        let mut found = Vec::new();
        for page in saver.heads(&query).await?.chunks(AT_ONCE) {
            let address = |head: &CheckpointHead| {
                CheckpointAddress::new(thread.clone(), head.ns.clone(), head.id.clone())
            };
            let addresses: Vec<CheckpointAddress> = page.iter().map(address).collect();
            let writes = saver.writes(&addresses).await?;
            for (head, writes) in page.iter().zip(&writes) {
                for (task, record) in records_of(writes) {
                    let row = writes.iter().find(|row| row.task_id == *task);
                    let place = UsingTask {
                        thread,
                        title,
                        head,
                        node: row.and_then(|row| node_of(&row.task_path)).unwrap_or_default(),
                        task,
                    };
                    let uses = record.memory.iter().rev();
                    let of_item =
                        uses.filter(|used| used.key == self.key && used.namespace == self.namespace);
                    found.extend(of_item.map(|used| (used.at, place.used(used))));
                }
            }
        }
        // Graphs within others come between the checkpoints around them.
        found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        Ok(found.into_iter().map(|(_, used)| used).collect())
    }
}

/// A task that used something.
struct UsingTask<'a> {
    thread: &'a ThreadId,
    title: &'a str,
    head: &'a CheckpointHead,
    node: &'a str,
    task: &'a TaskId,
}

impl UsingTask<'_> {
    fn used(&self, used: &MemoryUse) -> ItemUse {
        ItemUse {
            thread_id: self.thread.to_string(),
            title: self.title.to_owned(),
            checkpoint_id: outermost(self.head),
            step: i32::try_from(self.head.metadata.step + 1).unwrap_or(i32::MAX),
            within: nodes_around(&self.head.ns),
            node: self.node.to_owned(),
            task_id: self.task.to_string(),
            at: iso8601(used.at),
            action: used.action.into(),
            value: used.value.as_ref().map(Into::into),
        }
    }
}
