//! Checkpointer and store backends behind the engine's traits: SQLite by default.
//!
//! The engine knows the traits only; which backend threads and items live in is decided by a URL and a host. Every
//! backend here is accepted by the engine's conformance suites (`superstep::conformance`), not by review. The layout of the
//! tables and what durability means are described in `docs/storage.md`, the store in `docs/store.md`.

mod address;
mod codec;
mod file;
mod postgres;
mod redis;
pub mod retention;
mod salvage;
mod sqlite;
pub mod transfer;

use std::sync::Arc;

use address::Address;
pub use address::{path_of, shown};
pub use file::{FileOptions, FileSaver, FileStore};
pub use postgres::{PostgresSaver, PostgresStore};
pub use redis::{RedisLife, RedisOptions, RedisSaver, RedisStore};
pub use sqlite::{SqliteOptions, SqliteSaver, SqliteStore, Synchronous};
use superstep::{Checkpointer, Graph, MemorySaver, MemoryStore, StorageError, Store, StoreConfig};

/// A place for threads and for long-term memory.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Keeps threads.
    pub checkpointer: Arc<dyn Checkpointer>,
    /// Keeps items.
    pub store: Arc<dyn Store>,
    /// The URL that opens it again, without its password: for messages.
    pub url: String,
}

impl Storage {
    /// The graph with this place.
    pub fn attach(&self, graph: Graph) -> Graph {
        graph
            .with_checkpointer(self.checkpointer.clone())
            .with_store(self.store.clone())
    }
}

/// Opens the backend that `url` names: `memory:`, `sqlite:PATH`, `file:FOLDER`, `postgres://…`,
/// `redis://…`, or a plain path (SQLite). `?synchronous=normal` behind a path lets a power cut take the last commits, for
/// speed; without it a commit that is acknowledged stays.
pub async fn open(url: &str) -> Result<Storage, StorageError> {
    open_with(url, StoreConfig::default()).await
}

/// Opens the backend that `url` names, with a configuration for its store.
pub async fn open_with(url: &str, config: StoreConfig) -> Result<Storage, StorageError> {
    let (checkpointer, store): (Arc<dyn Checkpointer>, Arc<dyn Store>) = match Address::read(url)? {
        Address::Memory => (
            Arc::new(MemorySaver::new()),
            Arc::new(MemoryStore::with_config(config)),
        ),
        // Opening may migrate a large file, which takes its time.
        Address::Sqlite(path, synchronous) => {
            let options = SqliteOptions {
                synchronous,
                ..SqliteOptions::default()
            };
            let saver = blocking(move || SqliteSaver::open_with(path, options)).await?;
            let store = saver.store(config);
            (Arc::new(saver), Arc::new(store))
        }
        Address::File(path, synchronous) => {
            let open = move || FileSaver::open_with_store(path, FileOptions { synchronous }, config);
            let (saver, store) = blocking(open).await?;
            (Arc::new(saver), Arc::new(store))
        }
        Address::Postgres => {
            let saver = PostgresSaver::open(url).await?;
            let store = saver.store(config);
            (Arc::new(saver), Arc::new(store))
        }
        Address::Redis => (
            Arc::new(RedisSaver::open(url).await?),
            Arc::new(RedisStore::open(url, config).await?),
        ),
    };
    Ok(Storage {
        checkpointer,
        store,
        url: shown(url),
    })
}

/// Opens the backend that `url` names for who only looks: where nothing is stored yet nothing is made, and `None` is the
/// answer.
pub async fn open_existing(url: &str) -> Result<Option<Storage>, StorageError> {
    let config = StoreConfig::default();
    let (checkpointer, store): (Arc<dyn Checkpointer>, Arc<dyn Store>) = match Address::read(url)? {
        Address::Postgres => {
            let Some(saver) = PostgresSaver::open_existing(url).await? else {
                return Ok(None);
            };
            let store = saver.store(config);
            (Arc::new(saver), Arc::new(store))
        }
        Address::Redis => {
            let Some(saver) = RedisSaver::open_existing(url).await? else {
                return Ok(None);
            };
            (Arc::new(saver), Arc::new(RedisStore::open(url, config).await?))
        }
        address if address.is_new() => return Ok(None),
        _ => return open_with(url, config).await.map(Some),
    };
    Ok(Some(Storage {
        checkpointer,
        store,
        url: shown(url),
    }))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    if tokio::runtime::Handle::try_current().is_err() {
        // Another executor: it has no pool of blocking threads that we know of.
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(StorageError::Backend {
            what: "opening storage".to_owned(),
            cause: error.to_string(),
            remedy: "Try again".to_owned(),
        })
    })
}
