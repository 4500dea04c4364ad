//! Checkpointer and store backends behind the engine's traits: SQLite by default.
//!
//! The engine knows the traits only; which backend threads and items live in is decided by a URL and a host. Every
//! backend here is accepted by the engine's conformance suites (`superstep::conformance`), not by review. The layout of the
//! tables and what durability means are described in `docs/storage.md`, the store in `docs/store.md`.

mod codec;
mod file;
mod postgres;
mod redis;
pub mod retention;
mod sqlite;
pub mod transfer;

use std::sync::Arc;

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
/// `redis://…`, or a plain path (SQLite).
pub async fn open(url: &str) -> Result<Storage, StorageError> {
    open_with(url, StoreConfig::default()).await
}

/// Opens the backend that `url` names, with a configuration for its store.
pub async fn open_with(url: &str, config: StoreConfig) -> Result<Storage, StorageError> {
    let refused = |cause: String, remedy: &str| {
        Err(StorageError::Backend {
            what: format!("opening storage {:?}", shown(url)),
            cause,
            remedy: remedy.to_owned(),
        })
    };
    let (scheme, rest) = match url.split_once(':') {
        // A single letter before the colon is a Windows drive.
        Some((scheme, rest)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            (scheme, rest.strip_prefix("//").unwrap_or(rest))
        }
        _ => ("sqlite", url),
    };
    let rest = rest.to_owned();
    let (checkpointer, store): (Arc<dyn Checkpointer>, Arc<dyn Store>) = match scheme {
        "memory" => (
            Arc::new(MemorySaver::new()),
            Arc::new(MemoryStore::with_config(config)),
        ),
        "sqlite" if rest.is_empty() => {
            return refused(
                "it names no file".to_owned(),
                "Give a path, as in sqlite:threads.db, or use memory:",
            );
        }
        // Opening may migrate a large file, which takes its time.
        "sqlite" => {
            let saver = blocking(move || SqliteSaver::open(rest)).await?;
            let store = saver.store(config);
            (Arc::new(saver), Arc::new(store))
        }
        "file" if rest.is_empty() => {
            return refused(
                "it names no folder".to_owned(),
                "Give a folder, as in file:threads",
            );
        }
        "file" => {
            let open = move || FileSaver::open_with_store(rest, FileOptions::default(), config);
            let (saver, store) = blocking(open).await?;
            (Arc::new(saver), Arc::new(store))
        }
        "postgres" | "postgresql" => {
            let saver = PostgresSaver::open(url).await?;
            let store = saver.store(config);
            (Arc::new(saver), Arc::new(store))
        }
        "redis" | "rediss" => (
            Arc::new(RedisSaver::open(url).await?),
            Arc::new(RedisStore::open(url, config).await?),
        ),
        other => {
            return refused(
                format!("no backend is called {other:?}"),
                "Use memory:, sqlite:PATH, file:FOLDER, postgres://…, redis://… or the path of a SQLite file",
            );
        }
    };
    Ok(Storage {
        checkpointer,
        store,
        url: shown(url),
    })
}

/// A URL without its password.
pub fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{scheme}://{user}:…@{host}{path}")
        }
        None => url.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(
            shown("postgres://me:se:c@ret@host:5432/db?x=1"),
            "postgres://me:…@host:5432/db?x=1"
        );
        assert_eq!(shown("redis://:secret@host"), "redis://:…@host");
        assert_eq!(shown("postgres://host/db"), "postgres://host/db");
        assert_eq!(shown("sqlite:/a@b.db"), "sqlite:/a@b.db");
    }
}
