//! Opening a folder by its address.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use super::{FileOptions, FileSaver, FileStore};
use crate::base::{Address, OPENING, OpenMode, Opened, Stores, blocking};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let options = FileOptions::default().synchronous(address.synchronous);
        let open = move || FileSaver::open_with_store(address.path, options, config);
        let (saver, store) = blocking(OPENING, open).await?;
        Ok(Some(Opened::with_store(saver, store)))
    })
}

#[async_trait]
impl Stores for FileStore {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.sharing(config)))
    }
}
