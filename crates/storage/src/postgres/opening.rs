//! Opening a database by its address.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use super::PostgresSaver;
use crate::base::{Address, OpenMode, Opened, Stores};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    mode: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let saver = match mode {
            OpenMode::Existing => PostgresSaver::open_existing(&address.url).await?,
            OpenMode::Create => Some(PostgresSaver::open(&address.url).await?),
        };
        match saver {
            Some(saver) => Opened::of(saver, config).await.map(Some),
            None => Ok(None),
        }
    })
}

#[async_trait]
impl Stores for PostgresSaver {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.store(config)))
    }
}
