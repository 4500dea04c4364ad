//! A store in memory. Nothing of it survives the process.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;

use super::Store;
use super::config::StoreConfig;
use super::error::StoreError;
use super::items::{ItemPlace, Items};
use super::ops::{StoreAnswer, StoreOp};
use super::reembed::{NewVectors, Outdated};

/// A store that keeps items in memory.
#[derive(Default)]
#[doc(alias = "InMemoryStore")]
pub struct MemoryStore {
    config: StoreConfig,
    items: Arc<RwLock<Items>>,
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.items.read();
        f.debug_struct("MemoryStore")
            .field("items", &items.len())
            .finish_non_exhaustive()
    }
}

impl MemoryStore {
    /// Creates an empty store without vectors, whose items live forever.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty store with this configuration.
    pub fn with_config(config: StoreConfig) -> Self {
        Self {
            config,
            items: Arc::default(),
        }
    }

    /// Creates a store of the same items, with another configuration for what is put and found through it.
    pub fn sharing(&self, config: StoreConfig) -> Self {
        Self {
            config,
            items: self.items.clone(),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let mut batch = self.config.prepare(ops).await?;
        let mut touched = Vec::new();
        {
            let items = self.items.read();
            for (place, read) in std::mem::take(&mut batch.reads) {
                batch.answers[place] = items.answer(&batch, read, &mut touched);
            }
        }
        if !touched.is_empty() || !batch.writes.is_empty() {
            let mut items = self.items.write();
            for ((namespace, key), expires_at) in touched {
                items.refresh(&namespace, &key, expires_at);
            }
            for write in std::mem::take(&mut batch.writes) {
                match items.written(&batch, write) {
                    (place, Some(kept)) => items.insert(place, kept),
                    ((namespace, key), None) => items.remove(&namespace, &key),
                }
            }
        }
        Ok(batch.answers)
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        let now = self.config.clock.now_ms();
        let mut items = self.items.write();
        let expired = items.expired(now);
        for (namespace, key) in &expired {
            items.remove(namespace, key);
        }
        Ok(expired.len() as u64)
    }

    fn config(&self) -> Option<&StoreConfig> {
        Some(&self.config)
    }

    async fn outdated(&self, after: Option<ItemPlace>, limit: usize) -> Result<Vec<Outdated>, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(Vec::new());
        };
        let items = self.items.read();
        Ok(items.outdated(index.embedding(), index.dims, after.as_ref(), limit))
    }

    async fn replace_vectors(&self, renewed: Vec<NewVectors>) -> Result<u64, StoreError> {
        let Some(index) = &self.config.index else {
            return Ok(0);
        };
        let mut items = self.items.write();
        let mut count = 0;
        for renewed in renewed {
            if let Some((place, kept)) = items.with_vectors(index.embedding(), renewed) {
                items.insert(place, kept);
                count += 1;
            }
        }
        Ok(count)
    }
}
