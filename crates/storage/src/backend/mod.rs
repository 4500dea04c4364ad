//! The backends: one entry each. Address parsing, messages, the command line's help, the form in the settings and the
//! tests of all backends take from it what they say, and name no backend that they do not treat in a way of its own.

mod address;
mod memory;

pub(crate) use address::{is_new, read};
pub use address::{path_of, recognized};

use futures::future::BoxFuture;
use superstep::checkpoint::StorageError;
use superstep::store::StoreConfig;

use crate::base::{Address, Open, OpenMode, Opened, shown};

/// A kind of backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A SQLite file.
    Sqlite,
    /// A folder with a journal for each thread.
    File,
    /// A PostgreSQL server.
    Postgres,
    /// A Redis server.
    Redis,
    /// The SQLite file or the PostgreSQL database of a LangGraph program, which is only read.
    Langgraph,
    /// A LangGraph server, whose threads are only read by its API: by a client above this crate.
    AgentServer,
    /// The process; nothing is left when it ends.
    Memory,
}

/// Location at which a backend keeps stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the process.
    Process,
    /// In a file, whose path follows the scheme.
    File,
    /// In a folder, whose path follows the scheme.
    Folder,
    /// On a server, which reads the address itself.
    Server,
}

/// An entry of the list.
struct BackendEntry {
    backend: Backend,
    /// How addresses begin; the first is the usual one.
    schemes: &'static [&'static str],
    title: &'static str,
    /// A sentence for who chooses one.
    summary: &'static str,
    /// The form of an address.
    form: &'static str,
    example: &'static str,
    location: Location,
    /// `None` when it is not built in.
    open: Option<Open>,
}

#[cfg(feature = "postgres")]
const POSTGRES: Option<Open> = Some(crate::postgres::open);
#[cfg(not(feature = "postgres"))]
const POSTGRES: Option<Open> = None;
#[cfg(feature = "redis")]
const REDIS: Option<Open> = Some(crate::redis::open);
#[cfg(not(feature = "redis"))]
const REDIS: Option<Open> = None;

const ENTRIES: &[BackendEntry] = &[
    BackendEntry {
        backend: Backend::Sqlite,
        schemes: &["sqlite"],
        title: "SQLite file",
        summary: "One file on this computer. The default.",
        form: "sqlite:PATH",
        example: "sqlite:threads.db",
        location: Location::File,
        open: Some(crate::sqlite::open),
    },
    BackendEntry {
        backend: Backend::File,
        schemes: &["file"],
        title: "Folder",
        summary: "A journal of readable lines for each thread.",
        form: "file:FOLDER",
        example: "file:threads",
        location: Location::Folder,
        open: Some(crate::file::open),
    },
    BackendEntry {
        backend: Backend::Postgres,
        schemes: &["postgres", "postgresql"],
        title: "PostgreSQL",
        summary: "A server for several users at once.",
        form: "postgres://USER@HOST/DATABASE",
        example: "postgres://me@localhost/superstep",
        location: Location::Server,
        open: POSTGRES,
    },
    BackendEntry {
        backend: Backend::Redis,
        schemes: &["redis", "rediss"],
        title: "Redis",
        summary: "A server that keeps threads in memory, and on disk if configured.",
        form: "redis://HOST",
        example: "redis://localhost",
        location: Location::Server,
        open: REDIS,
    },
    BackendEntry {
        backend: Backend::Langgraph,
        schemes: &["langgraph"],
        title: "LangGraph file",
        summary: "The threads of a LangGraph program, as its SqliteSaver or PostgresSaver keeps them. Only read.",
        form: "langgraph:PATH",
        example: "langgraph:checkpoints.sqlite",
        location: Location::File,
        open: Some(crate::langgraph::open),
    },
    BackendEntry {
        backend: Backend::AgentServer,
        schemes: &["agent-server"],
        title: "LangGraph server",
        summary: "The threads of a LangGraph server (`langgraph dev`, LangGraph Platform), by its API. Only read.",
        form: "agent-server:http://HOST:PORT",
        example: "agent-server:http://127.0.0.1:2024",
        location: Location::Server,
        open: Some(without_client),
    },
    BackendEntry {
        backend: Backend::Memory,
        schemes: &["memory"],
        title: "Memory",
        summary: "Discarded when Superstep closes.",
        form: "memory:",
        example: "memory:",
        location: Location::Process,
        open: Some(memory::open),
    },
];

/// Refuses to open a LangGraph server: requests are made above this crate, which gives what it opens to
/// [`Storage::only_read`](crate::Storage::only_read).
fn without_client(
    address: Address,
    _: StoreConfig,
    _: OpenMode,
) -> BoxFuture<'static, Result<Option<Opened>, StorageError>> {
    Box::pin(async move {
        Err(StorageError::Backend {
            what: format!("opening storage {:?}", shown(&address.url)),
            cause: "a LangGraph server is asked over HTTP, and this crate has no client for that".to_owned(),
            remedy: "Open it with superstep_nodes::agent_server::AgentServerSaver".to_owned(),
        })
    })
}

/// What a plain path is an address of.
const OF_PATHS: Backend = Backend::Sqlite;

const fn all() -> [Backend; ENTRIES.len()] {
    let mut all = [OF_PATHS; ENTRIES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = ENTRIES[at].backend;
        at += 1;
    }
    all
}

impl Backend {
    /// Every kind, the usual one first.
    pub const ALL: &[Backend] = &all();

    /// Returns the kind whose addresses begin with the scheme.
    pub fn named(scheme: &str) -> Option<Self> {
        let entry = ENTRIES.iter().find(|entry| entry.schemes.contains(&scheme))?;
        Some(entry.backend)
    }

    /// Returns the kind that an address names: a plain path names a SQLite file. The error for an unknown scheme lists
    /// the backends.
    pub fn of(url: &str) -> Result<Self, StorageError> {
        address::backend_of(url)
    }

    fn entry(self) -> &'static BackendEntry {
        // The order is the same, which a test holds.
        &ENTRIES[self as usize]
    }

    /// Returns the scheme with which its addresses begin.
    pub fn scheme(self) -> &'static str {
        self.entry().schemes[0]
    }

    /// Returns the name of the backend.
    pub fn title(self) -> &'static str {
        self.entry().title
    }

    /// Returns a sentence for who chooses a backend.
    pub fn summary(self) -> &'static str {
        self.entry().summary
    }

    /// Returns the form of the backend's addresses, for help and messages.
    pub fn form(self) -> &'static str {
        self.entry().form
    }

    /// Returns the form in short: of a server's address only the scheme.
    pub fn short_form(self) -> String {
        match self.form().split_once("://") {
            Some((scheme, _)) if self.location() == Location::Server => format!("{scheme}://…"),
            _ => self.form().to_owned(),
        }
    }

    /// Returns an example of an address.
    pub fn example(self) -> &'static str {
        self.entry().example
    }

    /// Returns where the backend keeps stored data.
    pub fn location(self) -> Location {
        self.entry().location
    }

    /// Returns whether its contents are available to another process, or to the same one later.
    pub fn is_durable(self) -> bool {
        self.location() != Location::Process
    }

    /// Returns whether several programs may have the backend open.
    pub fn is_shared(self) -> bool {
        matches!(self.location(), Location::File | Location::Server)
    }

    /// Returns whether the backend can be opened: a program may be built without the servers' clients.
    pub fn is_built_in(self) -> bool {
        self.entry().open.is_some()
    }

    pub(crate) fn opener(self) -> Option<Open> {
        self.entry().open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_backend_at_its_place() {
        for backend in Backend::ALL {
            assert_eq!(backend.entry().backend, *backend);
            assert_eq!(Backend::named(backend.scheme()), Some(*backend));
            assert_eq!(Backend::of(backend.example()).ok(), Some(*backend));
            assert!(backend.form().starts_with(backend.scheme()));
            assert!(
                backend
                    .form()
                    .starts_with(backend.short_form().trim_end_matches('…'))
            );
        }
    }

    #[test]
    fn examples_are_addresses() {
        for backend in Backend::ALL {
            match read(backend.example()) {
                Ok((_, address)) => {
                    assert!(backend.is_built_in());
                    let has_path = matches!(backend.location(), Location::File | Location::Folder);
                    assert_eq!(address.path().is_some(), has_path, "{backend:?}");
                }
                Err(error) => {
                    assert!(!backend.is_built_in());
                    assert!(error.to_string().contains("built without"), "{error}");
                }
            }
        }
    }
}
