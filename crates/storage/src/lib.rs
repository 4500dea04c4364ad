//! Checkpointer and store backends behind the engine's traits: SQLite by default.
//!
//! The engine knows the traits only; which backend threads and items live in is decided by a URL and a host. Every
//! backend here is accepted by the engine's conformance suites (`superstep_suites`), not by review. The layout of the
//! tables and what durability means are described in `docs/storage.md`, the store in `docs/store.md`.

mod address;
mod codec;
mod file;
mod postgres;
mod presence;
mod redis;
mod refusal;
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

const OPENING: &str = "opening storage";

/// A place for threads and for long-term memory.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Keeps threads.
    pub checkpointer: Arc<dyn Checkpointer>,
    /// Keeps items.
    pub store: Arc<dyn Store>,
    /// The URL that opens it again, without its password: for messages.
    pub url: String,
    place: Place,
}

/// Where items are, for another store on them.
#[derive(Clone, Debug)]
enum Place {
    Memory(Arc<MemoryStore>),
    Sqlite(SqliteSaver),
    File(Arc<FileStore>),
    Postgres(Arc<PostgresSaver>),
    Redis(Arc<RedisSaver>),
}

type Parts = (Arc<dyn Checkpointer>, Arc<dyn Store>, Place);

impl Storage {
    /// The same place whose store has another configuration. Stores that were handed out before keep theirs.
    pub async fn with_store_config(&self, config: StoreConfig) -> Result<Self, StorageError> {
        let store: Arc<dyn Store> = match &self.place {
            Place::Memory(store) => Arc::new(store.sharing(config)),
            Place::Sqlite(saver) => Arc::new(saver.store(config)),
            Place::File(store) => Arc::new(store.sharing(config)),
            Place::Postgres(saver) => Arc::new(saver.store(config)),
            Place::Redis(saver) => Arc::new(saver.store(config).await?),
        };
        Ok(Self {
            store,
            ..self.clone()
        })
    }

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
    let (checkpointer, store, place): Parts = match Address::read(url)? {
        Address::Memory => {
            let store = Arc::new(MemoryStore::with_config(config));
            (Arc::new(MemorySaver::new()), store.clone(), Place::Memory(store))
        }
        // Opening may migrate a large file, which takes its time.
        Address::Sqlite(path, synchronous) => {
            let options = SqliteOptions {
                synchronous,
                ..SqliteOptions::default()
            };
            let saver = blocking(OPENING, move || SqliteSaver::open_with(path, options)).await?;
            let store = saver.store(config);
            (Arc::new(saver.clone()), Arc::new(store), Place::Sqlite(saver))
        }
        Address::File(path, synchronous) => {
            let open = move || FileSaver::open_with_store(path, FileOptions { synchronous }, config);
            let (saver, store) = blocking(OPENING, open).await?;
            let store = Arc::new(store);
            (Arc::new(saver), store.clone(), Place::File(store))
        }
        Address::Postgres => of_postgres(PostgresSaver::open(url).await?, config),
        Address::Redis => of_redis(RedisSaver::open(url).await?, config).await?,
    };
    Ok(Storage {
        checkpointer,
        store,
        url: shown(url),
        place,
    })
}

fn of_postgres(saver: PostgresSaver, config: StoreConfig) -> Parts {
    let saver = Arc::new(saver);
    let store = saver.store(config);
    (saver.clone(), Arc::new(store), Place::Postgres(saver))
}

async fn of_redis(saver: RedisSaver, config: StoreConfig) -> Result<Parts, StorageError> {
    let saver = Arc::new(saver);
    let store = saver.store(config).await?;
    Ok((saver.clone(), Arc::new(store), Place::Redis(saver)))
}

/// Opens the backend that `url` names for who only looks: where nothing is stored yet nothing is made, and `None` is the
/// answer.
pub async fn open_existing(url: &str) -> Result<Option<Storage>, StorageError> {
    open_existing_with(url, StoreConfig::default()).await
}

/// As [`open_existing`], with a configuration for its store.
pub async fn open_existing_with(url: &str, config: StoreConfig) -> Result<Option<Storage>, StorageError> {
    let (checkpointer, store, place) = match Address::read(url)? {
        Address::Postgres => match PostgresSaver::open_existing(url).await? {
            Some(saver) => of_postgres(saver, config),
            None => return Ok(None),
        },
        Address::Redis => match RedisSaver::open_existing(url).await? {
            Some(saver) => of_redis(saver, config).await?,
            None => return Ok(None),
        },
        address if address.is_new() => return Ok(None),
        _ => return open_with(url, config).await.map(Some),
    };
    Ok(Some(Storage {
        checkpointer,
        store,
        url: shown(url),
        place,
    }))
}

/// Does something on a thread that may wait for the disk.
async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    if tokio::runtime::Handle::try_current().is_err() {
        // Another executor: it has no pool of blocking threads that we know of.
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(StorageError::Backend {
            what: what.to_owned(),
            cause: error.to_string(),
            remedy: "Try again".to_owned(),
        })
    })
}
