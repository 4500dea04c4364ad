//! Place of the tables: a file, or a server.

use std::path::Path;

use superstep::checkpoint::StorageError;

use super::file::DbFile;
use super::rows::{Fault, ReadCounts, RowReader};
#[cfg(feature = "postgres")]
use super::server::DbServer;

/// A database of a LangGraph program.
#[derive(Debug)]
pub(super) enum Source {
    File(Box<DbFile>),
    #[cfg(feature = "postgres")]
    Server(Box<DbServer>),
}

impl Source {
    pub(super) fn open_file(path: &Path) -> Result<Self, StorageError> {
        DbFile::open(path).map(|file| Self::File(Box::new(file)))
    }

    #[cfg(feature = "postgres")]
    pub(super) fn connect(url: &str) -> Result<Self, StorageError> {
        DbServer::open(url).map(|server| Self::Server(Box::new(server)))
    }

    /// Returns where it is, for messages.
    pub(super) fn place(&self) -> String {
        match self {
            Self::File(file) => file.path.display().to_string(),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.shown(),
        }
    }

    /// Returns the bytes that it takes.
    pub(super) fn size(&self) -> Result<u64, StorageError> {
        match self {
            Self::File(file) => Ok(file.path.metadata().map_or(0, |file| file.len())),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.size(),
        }
    }

    /// Returns a number that changes when the program has stored something.
    pub(super) fn version(&self) -> Result<u64, StorageError> {
        match self {
            Self::File(file) => file.version(),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.version(),
        }
    }

    /// Returns how much was read.
    pub(super) fn counts(&self) -> ReadCounts {
        match self {
            Self::File(file) => file.meter.counts(),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.meter.counts(),
        }
    }

    /// Reads, in reads that are each short.
    pub(super) fn read<T>(
        &self,
        what: &str,
        operation: impl Fn(&dyn RowReader) -> Result<T, Fault>,
    ) -> Result<T, StorageError> {
        match self {
            Self::File(file) => file.read(what, |rows| operation(rows)),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.read(what, |rows| operation(rows)),
        }
    }
}
