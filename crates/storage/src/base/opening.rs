//! Opening a backend: what it is given, and what it gives.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;
use superstep::{Checkpointer, Store};

use super::Address;

/// What callers wait for.
pub(crate) const OPENING: &str = "opening storage";

/// Treatment of storage that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// It is made.
    Create,
    /// A server on which nothing is stored yet is left as it is, and `None` is the answer; the files of the others are
    /// looked at before.
    Existing,
}

/// Opens what an address names, with a configuration for its store.
pub(crate) type Open = fn(
    address: Address,
    config: StoreConfig,
    mode: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>>;

/// An opened backend.
pub(crate) struct Opened {
    pub(crate) checkpointer: Arc<dyn Checkpointer>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) stores: Arc<dyn Stores>,
}

/// Factory of stores with other configurations on the items of an opened backend.
#[async_trait]
pub(crate) trait Stores: fmt::Debug + Send + Sync {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError>;
}

impl Opened {
    /// Opens a backend whose checkpointer makes its stores.
    pub(crate) async fn of<S: Checkpointer + Stores + 'static>(
        saver: S,
        config: StoreConfig,
    ) -> Result<Self, StorageError> {
        let saver = Arc::new(saver);
        Ok(Self {
            store: saver.with_config(config).await?,
            checkpointer: saver.clone(),
            stores: saver,
        })
    }

    /// Creates a backend with a store of its own, which makes the others.
    pub(crate) fn with_store<S: Store + Stores + 'static>(
        checkpointer: impl Checkpointer + 'static,
        store: S,
    ) -> Self {
        let store = Arc::new(store);
        Self {
            checkpointer: Arc::new(checkpointer),
            store: store.clone(),
            stores: store,
        }
    }
}
