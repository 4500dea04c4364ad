//! Long-term memory of a LangGraph program: the table of its store, if it is in the same database. It is read, and
//! never written.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use superstep::Value;
use superstep::checkpoint::{Coordination as _, StorageError};
use superstep::store::{Index, Items, Store, StoreAnswer, StoreConfig, StoreError, StoreOp, StoredItem, Ttl};
use superstep::value::Object;

use super::LanggraphSaver;
use super::encoded;
use super::rows::ItemRow;

/// Items that are read; a store with more is not.
const MAX_ITEMS: usize = 200_000;

/// The store of a program.
pub(super) struct ForeignStore {
    saver: LanggraphSaver,
    config: StoreConfig,
    /// The items, as of a version of the database.
    known: Mutex<Option<(Option<u64>, Arc<Items>)>>,
}

impl fmt::Debug for ForeignStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignStore")
            .field("saver", &self.saver)
            .finish_non_exhaustive()
    }
}

fn ms(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}

/// Converts a row to an item, found by the words in it; `None` when no item can have its place.
async fn item_of(config: &StoreConfig, row: ItemRow) -> Option<((Vec<String>, String), StoredItem)> {
    let value = match row.value {
        Ok(bytes) => encoded::decode("json", &bytes),
        Err(reason) => super::classes::unreadable(reason),
    };
    let value = match value {
        Value::Object(object) => object,
        other => [("value", other)].into_iter().collect::<Object>(),
    };
    let put = StoreOp::Put {
        namespace: row.prefix.split('.').map(str::to_owned).collect(),
        key: row.key,
        value: Some(value),
        index: Index::Default,
        ttl: Ttl::Never,
    };
    let mut batch = config.prepare(vec![put]).await.ok()?;
    let write = batch.writes.pop()?;
    let (place, stored) = Items::new().written(&batch, write);
    let mut stored = stored?;
    stored.created_at = ms(row.created);
    stored.updated_at = ms(row.updated);
    stored.expires_at = row.expires.map(ms);
    Some((place, stored))
}

impl ForeignStore {
    pub(super) fn new(saver: LanggraphSaver, mut config: StoreConfig) -> Self {
        // Nothing is embedded of what is only read.
        config.index = None;
        Self {
            saver,
            config,
            known: Mutex::default(),
        }
    }

    async fn items(&self) -> Result<Arc<Items>, StoreError> {
        let version = self.saver.changes().await?;
        if let Some((of, items)) = &*self.known.lock()
            && *of == version
        {
            return Ok(items.clone());
        }
        let rows = self.saver.read("reading long-term memory", |_, tables| {
            let mut found: Vec<ItemRow> = Vec::new();
            loop {
                let last = found.last().map(|row| (&*row.prefix, &*row.key));
                let Some(page) = tables.items_after(last)? else {
                    return Ok(None);
                };
                if page.is_empty() || found.len() > MAX_ITEMS {
                    return Ok(Some(found));
                }
                found.extend(page);
            }
        });
        let Some(rows) = rows.await? else {
            return Err(self.none(
                "LangGraph keeps it elsewhere than its checkpoints",
                "Only threads can be read here",
            ));
        };
        if rows.len() > MAX_ITEMS {
            let cause = format!("it has more than {MAX_ITEMS} items");
            return Err(self.none(&cause, "Look at it with the program"));
        }
        let mut items = Items::new();
        for row in rows {
            if let Some((place, stored)) = item_of(&self.config, row).await {
                items.insert(place, stored);
            }
        }
        let items = Arc::new(items);
        *self.known.lock() = Some((version, items.clone()));
        Ok(items)
    }

    fn none(&self, cause: &str, remedy: &str) -> StoreError {
        StoreError::from(StorageError::Backend {
            what: format!("reading long-term memory ({})", self.saver.place()),
            cause: cause.to_owned(),
            remedy: remedy.to_owned(),
        })
    }
}

#[async_trait]
impl Store for ForeignStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let items = self.items().await?;
        if ops.iter().any(|op| matches!(op, StoreOp::Put { .. })) {
            return Err(self.saver.only_read().into());
        }
        let mut batch = self.config.prepare(ops).await?;
        let mut touched = Vec::new();
        for (place, read) in std::mem::take(&mut batch.reads) {
            batch.answers[place] = items.answer(&batch, read, &mut touched);
        }
        Ok(batch.answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}
