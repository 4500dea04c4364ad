//! Opening a file by its address.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use super::{SqliteOptions, SqliteSaver};
use crate::base::{Address, OPENING, OpenMode, Opened, Stores, blocking};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let options = SqliteOptions::default().synchronous(address.synchronous);
        // Opening may migrate a large file, which takes its time.
        let saver = blocking(OPENING, move || SqliteSaver::open_with(address.path, options)).await?;
        Opened::of(saver, config).await.map(Some)
    })
}

#[async_trait]
impl Stores for SqliteSaver {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.store(config)))
    }
}
