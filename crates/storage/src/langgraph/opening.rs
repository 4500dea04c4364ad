//! Opening a database by its address.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::Store;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use super::LanggraphSaver;
use super::items::ForeignStore;
use crate::base::{Address, OPENING, OpenMode, Opened, Stores, blocking};

pub(crate) fn open(
    address: Address,
    config: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        let saver = match address.path() {
            Some(path) => {
                let path = path.to_owned();
                blocking(OPENING, move || LanggraphSaver::open(&path)).await?
            }
            None => on_server(&address.url).await?,
        };
        Opened::of(saver, config).await.map(Some)
    })
}

/// Returns the address of the server behind `langgraph:`.
pub(crate) fn server_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("langgraph:")?;
    rest.contains("://").then_some(rest)
}

#[cfg(feature = "postgres")]
async fn on_server(url: &str) -> Result<LanggraphSaver, StorageError> {
    LanggraphSaver::connect(server_of(url).unwrap_or(url)).await
}

#[cfg(not(feature = "postgres"))]
async fn on_server(url: &str) -> Result<LanggraphSaver, StorageError> {
    Err(StorageError::Backend {
        what: format!("opening storage {:?}", crate::base::shown(url)),
        cause: "this program was built without PostgreSQL".to_owned(),
        remedy: "Build superstep-storage with its feature `postgres`".to_owned(),
    })
}

#[async_trait]
impl Stores for LanggraphSaver {
    async fn with_config(&self, config: StoreConfig) -> Result<Arc<dyn Store>, StorageError> {
        Ok(Arc::new(ForeignStore::new(self.clone(), config)))
    }
}
