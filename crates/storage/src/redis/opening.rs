//! Opening a server by its address.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use super::RedisSaver;
use crate::base::{Address, OpenMode, Opened, Stores};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    mode: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let saver = match mode {
            OpenMode::Existing => RedisSaver::open_existing(&address.url).await?,
            OpenMode::Create => Some(RedisSaver::open(&address.url).await?),
        };
        match saver {
            Some(saver) => Opened::of(saver, config).await.map(Some),
            None => Ok(None),
        }
    })
}

#[async_trait]
impl Stores for RedisSaver {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.store(config).await?))
    }
}
