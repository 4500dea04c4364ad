//! The PostgreSQL database of a LangGraph program, read by a role that need only select: each statement is a transaction of
//! its own that only reads, with a bounded number of rows and bytes, so that none lasts long enough to be felt.

mod rows;
mod schema;
mod session;

use std::fmt;

use parking_lot::Mutex;
use superstep::checkpoint::StorageError;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use rows::ServerRows;
use schema::{Layout, choose, has_one};
use session::ReadSession;

use super::rows::{Fault, Meter, RowReader};
use crate::postgres::{PostgresFault, ServerAddress};

/// Idle sessions that are kept.
const MAX_IDLE: usize = 4;
/// The database.
pub(super) struct DbServer {
    address: ServerAddress,
    /// Looks after connections.
    runtime: Option<Runtime>,
    idle: Mutex<Vec<Client>>,
    layout: Layout,
    pub(in crate::langgraph) meter: Meter,
}

impl fmt::Debug for DbServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DbServer")
            .field("address", &self.address.shown)
            .field("schema", &self.layout.schema)
            .finish_non_exhaustive()
    }
}

impl Drop for DbServer {
    fn drop(&mut self) {
        // Where it is dropped nobody may wait.
        if let Some(runtime) = self.runtime.take() {
            self.idle.lock().clear();
            runtime.shutdown_background();
        }
    }
}

impl DbServer {
    /// Opens the database that a URL names, which must be a LangGraph program's.
    pub(super) fn open(url: &str) -> Result<Self, StorageError> {
        let mut server = Self::unread(url)?;
        let layout = server.with_session("opening the LangGraph database", |session| {
            choose(session, &server.address)
        })?;
        match layout {
            Some(layout) => server.layout = layout,
            None => {
                return Err(server.address.refused(
                    "it has no tables of LangGraph's PostgresSaver".to_owned(),
                    "Give the address that PostgresSaver was opened with, and a role that may see its tables",
                ));
            }
        }
        Ok(server)
    }

    /// Returns whether a database has tables of LangGraph.
    pub(super) fn is_one(url: &str) -> Result<bool, StorageError> {
        let server = Self::unread(url)?;
        server.with_session("looking at the database", |session| {
            has_one(session, &server.address)
        })
    }

    fn unread(url: &str) -> Result<Self, StorageError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("superstep-langgraph-io")
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| StorageError::Backend {
            what: "connecting to a LangGraph database".to_owned(),
            cause: error.to_string(),
            remedy: "Close other programs and try again".to_owned(),
        })?;
        Ok(Self {
            address: ServerAddress::read(url)?,
            runtime: Some(runtime),
            idle: Mutex::default(),
            layout: Layout::default(),
            meter: Meter::default(),
        })
    }

    /// Returns the address without the password.
    pub(super) fn shown(&self) -> String {
        self.address.shown.clone()
    }

    fn session(&self) -> Result<ReadSession<'_>, Fault> {
        let Some(runtime) = &self.runtime else {
            return Err(Fault::Storage(StorageError::Unsupported(
                "reading a database that was closed",
            )));
        };
        let idle = self.idle.lock().pop().filter(|client| !client.is_closed());
        let client = match idle {
            Some(client) => client,
            None => {
                let connected = runtime.block_on(self.address.connect(runtime.handle()));
                connected.map_err(|error| Fault::Server(PostgresFault::from(error)))?
            }
        };
        Ok(ReadSession {
            runtime,
            client,
            meter: &self.meter,
        })
    }

    fn with_session<T>(
        &self,
        what: &str,
        operation: impl Fn(&ReadSession<'_>) -> Result<T, Fault>,
    ) -> Result<T, StorageError> {
        let once = || -> Result<T, Fault> {
            let session = self.session()?;
            let done = operation(&session);
            let mut idle = self.idle.lock();
            if idle.len() < MAX_IDLE && !session.client.is_closed() {
                idle.push(session.client);
            }
            done
        };
        // A connection that was cut is made again, once.
        let done = match once() {
            Err(Fault::Server(fault)) if fault.is_lost() => {
                self.idle.lock().clear();
                once()
            }
            done => done,
        };
        done.map_err(|fault| match fault {
            Fault::Server(fault) => fault.worded_reading(what, &self.address.shown),
            other => other.elsewhere(what),
        })
    }

    /// Reads, in transactions that are each short.
    pub(super) fn read<T>(
        &self,
        what: &str,
        operation: impl Fn(&dyn RowReader) -> Result<T, Fault>,
    ) -> Result<T, StorageError> {
        self.with_session(what, |session| operation(&ServerRows::of(session, &self.layout)))
    }

    /// Returns a number that changes when a program has stored something in the server.
    pub(super) fn version(&self) -> Result<u64, StorageError> {
        self.with_session("looking for changes", |session| {
            // It moves with every commit that changes something.
            let rows = session.query("SELECT txid_current_snapshot()::text", &[])?;
            let text: String = rows.first().map(|row| row.get(0)).unwrap_or_default();
            Ok(xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
        })
    }

    /// Returns the bytes that the tables take.
    pub(super) fn size(&self) -> Result<u64, StorageError> {
        self.with_session("measuring the database", |session| {
            let names = self.layout.tables();
            let sql = "SELECT coalesce(sum(pg_total_relation_size(name::regclass)), 0)::bigint FROM unnest($1) AS name";
            let rows = session.query(sql, &[(&&names[..], Type::TEXT_ARRAY)])?;
            let size: i64 = rows.first().map_or(0, |row| row.get(0));
            Ok(size.cast_unsigned())
        })
    }
}
