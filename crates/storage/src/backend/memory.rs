//! Threads and items in the memory of the process.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;
use superstep::{MemorySaver, MemoryStore, Store};

use crate::base::{Address, OpenMode, Opened, Stores};

pub(super) fn open(
    _: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let store = MemoryStore::with_config(config);
        Ok(Some(Opened::with_store(MemorySaver::new(), store)))
    })
}

#[async_trait]
impl Stores for MemoryStore {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.sharing(config)))
    }
}
