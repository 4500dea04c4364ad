//! Checkpointer backends behind the engine's trait: SQLite by default.
//!
//! The engine knows the trait only; which backend a thread lives in is decided by a URL and a host. Every backend
//! here is accepted by the engine's conformance suite (`superstep::conformance`), not by review. The layout of the
//! tables and what durability means are described in `docs/storage.md`.

mod codec;
mod file;
mod postgres;
pub mod retention;
mod sqlite;
pub mod transfer;

use std::sync::Arc;

pub use file::{FileOptions, FileSaver};
pub use postgres::PostgresSaver;
pub use sqlite::{SqliteOptions, SqliteSaver, Synchronous};
use superstep::{Checkpointer, MemorySaver, StorageError};

/// Opens the backend that `url` names: `memory:`, `sqlite:PATH`, `file:FOLDER`, or a plain path (SQLite).
pub fn open(url: &str) -> Result<Arc<dyn Checkpointer>, StorageError> {
    if url == "memory:" {
        return Ok(Arc::new(MemorySaver::new()));
    }
    let path = match url.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        Some(("file", path)) => {
            let path = path.strip_prefix("//").unwrap_or(path);
            return Ok(Arc::new(FileSaver::open(if path.is_empty() {
                "."
            } else {
                path
            })?));
        }
        // A single letter before the colon is a Windows drive.
        Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            return Err(StorageError::Backend {
                what: format!("opening storage {url:?}"),
                cause: format!("no backend is called {scheme:?}"),
                remedy: "Use memory:, sqlite:PATH, file:FOLDER or the path of a SQLite file".to_owned(),
            });
        }
        _ => url,
    };
    if path.is_empty() {
        return Err(StorageError::Backend {
            what: format!("opening storage {url:?}"),
            cause: "it names no file".to_owned(),
            remedy: "Give a path, as in sqlite:threads.db, or use memory:".to_owned(),
        });
    }
    Ok(Arc::new(SqliteSaver::open(path)?))
}
