//! Checkpointer and store backends behind the engine's traits: SQLite by default.
//!
//! The engine knows the traits only; which backend threads and items live in is decided by a URL and a host. Every
//! backend here is accepted by the engine's conformance suites (`superstep_suites`), not by review. The layout of the
//! tables and what durability means are described in `docs/storage.md`, the store in `docs/store.md`.

/// The programs of the pages, beside everything that this crate brings with it.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct StoragePage;
    #[doc = include_str!("../../engine/README.md")]
    struct EnginePage;
}

mod backend;
mod base;
mod codec;
mod file;
mod langgraph;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
pub mod retention;
mod sqlite;
pub mod transfer;

use std::sync::Arc;

pub use backend::{Backend, Location, path_of, recognized};
use base::{NoStore, OpenMode, Stores};
pub use base::{Synchronous, may_be_written, open_to_read, refusal_to_write, shown};
pub use file::{FileOptions, FileSaver, FileStore};
pub use langgraph::{AesKey, CLASS, KEY_VARIABLE as LANGGRAPH_KEY, LanggraphSaver, ReadCounts, in_a_line};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresSaver, PostgresStore, langgraph_schemas};
#[cfg(feature = "redis")]
pub use redis::{RedisLife, RedisOptions, RedisSaver, RedisStore};
pub use sqlite::{SqliteOptions, SqliteSaver, SqliteStore};
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;
use superstep::{Checkpointer, Graph, Store};

/// A place for threads and for long-term memory.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Keeps threads.
    pub checkpointer: Arc<dyn Checkpointer>,
    /// Keeps items.
    pub store: Arc<dyn Store>,
    /// The URL that opens it again, without its password: for messages.
    pub url: String,
    /// Makes other stores on the same items.
    stores: Arc<dyn Stores>,
}

impl Storage {
    /// Creates storage of threads that another program makes, without long-term memory: for a saver that this crate does not
    /// open itself. The URL is that which opens it again.
    pub fn only_read(checkpointer: Arc<dyn Checkpointer>, url: &str) -> Self {
        let url = shown(url);
        let store = Arc::new(NoStore { place: url.clone() });
        Self {
            checkpointer,
            store: store.clone(),
            url,
            stores: store,
        }
    }

    /// Returns the same storage with another configuration of its store. Stores that were handed out before keep
    /// theirs.
    pub async fn with_store_config(&self, config: StoreConfig) -> Result<Self, StorageError> {
        Ok(Self {
            store: self.stores.with_config(config).await?,
            ..self.clone()
        })
    }

    /// Attaches this storage to the graph.
    pub fn attach(&self, graph: Graph) -> Graph {
        graph
            .with_checkpointer(self.checkpointer.clone())
            .with_store(self.store.clone())
    }
}

/// Opens the backend that `url` names: `memory:`, `sqlite:PATH`, `file:FOLDER`, `postgres://…`,
/// `redis://…`, `langgraph:PATH`, `langgraph:postgres://…`, or a plain path (SQLite). A PostgreSQL database with the tables
/// of a LangGraph program and none of ours is read as that program's. `?synchronous=normal` behind a path lets a power cut take the last commits, for
/// speed; without it a commit that is acknowledged stays.
pub async fn open(url: &str) -> Result<Storage, StorageError> {
    open_with(url, StoreConfig::default()).await
}

/// Opens the backend that `url` names, with a configuration for its store.
pub async fn open_with(url: &str, config: StoreConfig) -> Result<Storage, StorageError> {
    let opened = open_backend(url, config, OpenMode::Create).await?;
    opened.ok_or_else(|| StorageError::Backend {
        what: format!("opening storage {:?}", shown(url)),
        cause: "nothing is stored there, and nothing was made".to_owned(),
        remedy: "Report this as an error of the backend".to_owned(),
    })
}

/// Opens the backend that `url` names for who only looks: where nothing is stored yet nothing is made, and `None` is the
/// answer.
pub async fn open_existing(url: &str) -> Result<Option<Storage>, StorageError> {
    open_existing_with(url, StoreConfig::default()).await
}

/// Opens existing storage like [`open_existing`], with a configuration for its store.
pub async fn open_existing_with(url: &str, config: StoreConfig) -> Result<Option<Storage>, StorageError> {
    open_backend(url, config, OpenMode::Existing).await
}

async fn open_backend(
    url: &str,
    config: StoreConfig,
    mode: OpenMode,
) -> Result<Option<Storage>, StorageError> {
    let (open, address) = backend::read(url)?;
    if mode == OpenMode::Existing && address.path().is_some_and(backend::is_new) {
        return Ok(None);
    }
    let opened = match Backend::of(url)? {
        Backend::Postgres => open_server(open, address, config, mode).await?,
        _ => open(address, config, mode).await?,
    };
    Ok(opened.map(|opened| Storage {
        checkpointer: opened.checkpointer,
        store: opened.store,
        url: shown(url),
        stores: opened.stores,
    }))
}

/// Lists the schemas of a server's database that have LangGraph's tables: none, for this program was built without PostgreSQL.
#[cfg(not(feature = "postgres"))]
pub async fn langgraph_schemas(_: &str) -> Result<Vec<String>, StorageError> {
    Ok(Vec::new())
}

/// Opens the database of a server: ours, or else that of a LangGraph program, or else a new one of ours.
#[cfg(feature = "postgres")]
async fn open_server(
    open: base::Open,
    address: base::Address,
    config: StoreConfig,
    mode: OpenMode,
) -> Result<Option<base::Opened>, StorageError> {
    let ours = open(address.clone(), config.clone(), OpenMode::Existing).await?;
    match (ours, mode) {
        (Some(ours), _) => Ok(Some(ours)),
        (None, _) if langgraph::is_on_server(&address.url).await? => {
            langgraph::open(address, config, mode).await
        }
        (None, OpenMode::Existing) => Ok(None),
        (None, OpenMode::Create) => open(address, config, mode).await,
    }
}

#[cfg(not(feature = "postgres"))]
async fn open_server(
    open: base::Open,
    address: base::Address,
    config: StoreConfig,
    mode: OpenMode,
) -> Result<Option<base::Opened>, StorageError> {
    open(address, config, mode).await
}
