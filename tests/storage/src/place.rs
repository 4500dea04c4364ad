//! Empty places of every backend.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use superstep::Checkpointer;
use superstep::checkpoint::StorageError;
use superstep_storage::{Backend, Location};
use superstep_test_servers::{Postgres, Redis};

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
    /// Creates an empty place; `None` when it needs a server and servers are not wanted here, or is only read.
    pub fn of(backend: Backend) -> Option<Self> {
        if matches!(backend, Backend::Langgraph | Backend::AgentServer) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inside = |name: &str| format!("{}:{}", backend.scheme(), folder.path().join(name).display());
        let url = match (backend.location(), backend) {
            (Location::Process, _) => backend.example().to_owned(),
            (Location::File, _) => inside("threads.db"),
            (Location::Folder, _) => inside("threads"),
            (_, Backend::Postgres) => postgres()?.database(),
            (_, Backend::Redis) => keys_of_its_own(redis()?.url()),
            (Location::Server, _) => panic!("{backend:?} needs a server of the test's own"),
        };
        Some(Self { backend, url, folder })
    }

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
