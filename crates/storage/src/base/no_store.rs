//! The long-term memory of storage that has none.

use std::sync::Arc;

use async_trait::async_trait;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp};

use super::Stores;

/// Long-term memory that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct NoStore {
    /// Where it is, for messages.
    pub(crate) place: String,
}

#[async_trait]
impl Store for NoStore {
    async fn batch(&self, _: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        Err(StorageError::Backend {
            what: format!("reading long-term memory ({})", self.place),
            cause: "only its threads are read here".to_owned(),
            remedy: "Look at it with the program that fills it".to_owned(),
        }
        .into())
    }

    async fn sweep(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl Stores for NoStore {
    async fn with_config(&self, _: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(self.clone()))
    }
}
