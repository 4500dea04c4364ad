//! The backends: one entry each, from which addresses, messages, help and settings take what they say of them.

mod address;
mod memory;

pub use address::path_of;
pub(crate) use address::{is_new, read};

use crate::base::Open;

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
        title: "SQLite",
        form: "sqlite:PATH",
        example: "sqlite:threads.db",
        location: Location::File,
        open: Some(crate::sqlite::open),
    },
    BackendEntry {
        backend: Backend::File,
        schemes: &["file"],
        title: "Folder",
        form: "file:FOLDER",
        example: "file:threads",
        location: Location::Folder,
        open: Some(crate::file::open),
    },
    BackendEntry {
        backend: Backend::Postgres,
        schemes: &["postgres", "postgresql"],
        title: "PostgreSQL",
        form: "postgres://…",
        example: "postgres://me@localhost/superstep",
        location: Location::Server,
        open: POSTGRES,
    },
    BackendEntry {
        backend: Backend::Redis,
        schemes: &["redis", "rediss"],
        title: "Redis",
        form: "redis://…",
        example: "redis://localhost",
        location: Location::Server,
        open: REDIS,
    },
    BackendEntry {
        backend: Backend::Memory,
        schemes: &["memory"],
        title: "Memory",
        form: "memory:",
        example: "memory:",
        location: Location::Process,
        open: Some(memory::open),
    },
];

/// What a plain path is an address of.
const OF_PATHS: Backend = Backend::Sqlite;

impl Backend {
    /// Every kind, the usual one first.
    pub const ALL: &[Backend] = &[
        Backend::Sqlite,
        Backend::File,
        Backend::Postgres,
        Backend::Redis,
        Backend::Memory,
    ];

    /// Returns the kind whose addresses begin with the scheme.
    pub fn named(scheme: &str) -> Option<Self> {
        let entry = ENTRIES.iter().find(|entry| entry.schemes.contains(&scheme))?;
        Some(entry.backend)
    }

    /// Returns the kind that an address names; `None` for an unknown scheme. A plain path names a SQLite file.
    pub fn of(url: &str) -> Option<Self> {
        Self::named(address::split(url).0)
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

    /// Returns the form of the backend's addresses, for help and messages.
    pub fn form(self) -> &'static str {
        self.entry().form
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
        assert_eq!(ENTRIES.len(), Backend::ALL.len());
        for backend in Backend::ALL {
            assert_eq!(backend.entry().backend, *backend);
            assert_eq!(Backend::named(backend.scheme()), Some(*backend));
            assert_eq!(Backend::of(backend.example()), Some(*backend));
            assert!(backend.form().starts_with(backend.scheme()));
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
