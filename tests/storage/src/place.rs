//! A backend of a kind, and an empty place of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use superstep::{Checkpointer, StorageError};
use superstep_test_servers::{Postgres, Redis};

/// A kind of backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// `memory:`
    Memory,
    /// `sqlite:`
    Sqlite,
    /// `file:`
    File,
    /// `postgres:`, a database of its own on a server of the test's own.
    Postgres,
    /// `redis:`, keys of its own on a server of the test's own.
    Redis,
}

impl Backend {
    /// Every kind.
    pub const ALL: &[Backend] = &[
        Backend::Memory,
        Backend::Sqlite,
        Backend::File,
        Backend::Postgres,
        Backend::Redis,
    ];

    /// Returns the backend whose URLs begin with this scheme.
    pub fn named(scheme: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|backend| backend.scheme() == scheme)
    }

    /// Returns the scheme with which the backend's URLs begin.
    pub fn scheme(self) -> &'static str {
        match self {
            Backend::Memory => "memory",
            Backend::Sqlite => "sqlite",
            Backend::File => "file",
            Backend::Postgres => "postgres",
            Backend::Redis => "redis",
        }
    }

    /// Returns whether the data of the backend is still there when another process, or the same one later, opens it.
    pub fn is_durable(self) -> bool {
        self != Backend::Memory
    }

    /// Returns whether several programs may have the backend open.
    pub fn is_shared(self) -> bool {
        self.is_durable() && self != Backend::File
    }

    /// Creates an empty place; `None` when it needs a server and servers are not wanted here.
    pub fn place(self) -> Option<Place> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inside = |name: &str| folder.path().join(name).display().to_string();
        let url = match self {
            Backend::Memory => "memory:".to_owned(),
            Backend::Sqlite => format!("sqlite:{}", inside("threads.db")),
            Backend::File => format!("file:{}", inside("threads")),
            Backend::Postgres => postgres()?.database(),
            Backend::Redis => keys_of_its_own(redis()?.url()),
        };
        Some(Place {
            backend: self,
            url,
            folder,
        })
    }
}

/// Storage for threads for the length of a test.
#[derive(Debug)]
pub struct Place {
    /// What it is.
    pub backend: Backend,
    /// Its address.
    pub url: String,
    folder: tempfile::TempDir,
}

impl Place {
    /// Opens it, as another program would.
    pub async fn open(&self) -> Result<Arc<dyn Checkpointer>, StorageError> {
        open(&self.url).await
    }

    /// Leaves the folder behind, for a person to look at.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Returns the place's own folder, in which a backend of files keeps its threads.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Opens the checkpointer at a URL.
pub async fn open(url: &str) -> Result<Arc<dyn Checkpointer>, StorageError> {
    Ok(superstep_storage::open(url).await?.checkpointer)
}

/// Returns the server of this process, started on first use. Its watchdog ends it when the process ends.
fn postgres() -> Option<&'static Postgres> {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    SERVER.get_or_init(Postgres::start).as_ref()
}

/// Returns the server of this process, started on first use. Its watchdog ends it when the process ends.
fn redis() -> Option<&'static Redis> {
    static SERVER: OnceLock<Option<Redis>> = OnceLock::new();
    SERVER.get_or_init(Redis::start).as_ref()
}

fn keys_of_its_own(url: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{url}?prefix=place{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
