//! The store that a recorded node is given: it notes which items are read, found, put and removed.

use std::sync::Arc;

use async_trait::async_trait;

use crate::base::clock::Clock;
use crate::checkpoint::memory_use::{MemoryAction, MemoryUse};
use crate::checkpoint::progress::Progress;
use crate::checkpoint::task_record::RecordedValue;
use crate::graph::recorder::Recorder;
use crate::store::{
    Item, ItemPlace, NewVectors, Outdated, Store, StoreAnswer, StoreConfig, StoreError, StoreOp,
};
use crate::value::{Object, Value};

/// A store whose uses are noted.
#[derive(Debug)]
pub(crate) struct NotedStore {
    store: Arc<dyn Store>,
    recorder: Arc<Recorder>,
    clock: Arc<dyn Clock>,
}

/// Kind of a store operation, by which its answer is interpreted.
enum NotedOp {
    Get(Vec<String>, String),
    Put(MemoryUse),
    Search,
    Other,
}

fn recorded(value: &Object) -> Option<RecordedValue> {
    Some((&Value::Object(value.clone())).into())
}

impl NotedStore {
    pub(crate) fn new(store: Arc<dyn Store>, recorder: Arc<Recorder>, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            recorder,
            clock,
        }
    }

    fn asked(&self, op: &StoreOp) -> NotedOp {
        match op {
            StoreOp::Get { namespace, key, .. } => NotedOp::Get(namespace.clone(), key.clone()),
            StoreOp::Put {
                namespace,
                key,
                value,
                ..
            } => NotedOp::Put(MemoryUse {
                action: match value {
                    Some(_) => MemoryAction::Written,
                    None => MemoryAction::Removed,
                },
                namespace: namespace.clone(),
                key: key.clone(),
                value: value.as_ref().and_then(recorded),
                at: self.clock.now_ms(),
            }),
            StoreOp::Search(_) => NotedOp::Search,
            StoreOp::ListNamespaces(_) => NotedOp::Other,
        }
    }

    fn note(&self, asked: NotedOp, answer: &StoreAnswer) {
        let at = self.clock.now_ms();
        match (asked, answer) {
            (NotedOp::Get(namespace, key), StoreAnswer::Item(item)) => self.recorder.used(MemoryUse {
                action: MemoryAction::Read,
                namespace,
                key,
                value: item.as_ref().and_then(|item| recorded(&item.value)),
                at,
            }),
            (NotedOp::Search, StoreAnswer::Items(items)) => {
                for Item {
                    namespace,
                    key,
                    value,
                    ..
                } in items
                {
                    self.recorder.used(MemoryUse {
                        action: MemoryAction::Found,
                        namespace: namespace.clone(),
                        key: key.clone(),
                        value: recorded(value),
                        at,
                    });
                }
            }
            (NotedOp::Put(used), _) => self.recorder.used(used),
            _ => {}
        }
    }
}

#[async_trait]
impl Store for NotedStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let asked: Vec<NotedOp> = ops.iter().map(|op| self.asked(op)).collect();
        let answers = self.store.batch(ops).await?;
        // Reads see the state before the puts.
        let (puts, reads): (Vec<_>, Vec<_>) =
            (asked.into_iter().zip(&answers)).partition(|(asked, _)| matches!(asked, NotedOp::Put(_)));
        for (asked, answer) in reads.into_iter().chain(puts) {
            self.note(asked, answer);
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        self.store.sweep().await
    }

    fn config(&self) -> Option<&StoreConfig> {
        self.store.config()
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        self.store.outdated(after, limit).await
    }

    async fn replace_vectors(&self, items: Vec<NewVectors>) -> Result<u64, StoreError> {
        self.store.replace_vectors(items).await
    }

    async fn reembed(&self, progress: &Progress) -> Result<u64, StoreError> {
        self.store.reembed(progress).await
    }
}
