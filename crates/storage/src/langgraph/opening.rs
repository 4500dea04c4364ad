//! Opening a file by its address, with a store that holds nothing: what a LangGraph program remembers across threads is not
//! in its database of checkpoints.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp};

use super::LanggraphSaver;
use crate::base::{Address, OPENING, OpenMode, Opened, Stores, blocking};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let saver = blocking(OPENING, move || LanggraphSaver::open(&address.path)).await?;
        Opened::of(saver, config).await.map(Some)
    })
}

/// The long-term memory of a place that has none.
#[derive(Debug)]
struct NoMemory(StorageError);

#[async_trait]
impl Store for NoMemory {
    async fn batch(&self, _: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        Err(self.0.clone().into())
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl Stores for LanggraphSaver {
    async fn with_config(&self, _: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(NoMemory(StorageError::Backend {
            what: format!("reading long-term memory ({})", self.path().display()),
            cause: "LangGraph keeps it elsewhere than its checkpoints".to_owned(),
            remedy: "Only threads can be read here".to_owned(),
        })))
    }
}
