//! Sessions on a PostgreSQL server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use parking_lot::Mutex;
use superstep::Value;
use superstep::checkpoint::StorageError;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::codec::value_cache::ValueCache;

use super::address::ServerAddress;
use super::fault::{PostgresFault, is_passing};
use super::notice::Notice;

/// Idle sessions that are kept for reading.
const MAX_IDLE: usize = 4;
/// Sessions that are used at a time beside the writer's.
const MAX_SESSIONS: usize = 16;
/// How long a server that is down may take to come back before callers get an error.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long after that other callers get the error at once.
const REFUSED_FOR: Duration = Duration::from_secs(2);
/// The schema of databases whose URL names none.
const SCHEMA: &str = "superstep";

/// About how many bytes of values are kept in memory.
const CACHED_BYTES: u64 = 64 << 20;
/// Where numbers of rows are never given again, nothing that is in memory grows old.
const EPOCH: i64 = 1;

/// Parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Address of the database, and the means to connect to it.
pub(super) struct Server {
    address: ServerAddress,
    /// The schema that everything is in.
    pub(super) schema: String,
    /// Its address as people may see it: without the password.
    pub(super) shown: String,
    /// Where sessions are looked after.
    pub(super) runtime: Handle,
    idle: Mutex<Vec<Session>>,
    /// Sessions that may be used at a time, so that many readers do not take all that the server has.
    places: Arc<Semaphore>,
    /// Values that were stored or read lately. The sequence gives the number of a row once, so there is one epoch.
    pub(super) value_cache: ValueCache<()>,
    /// When the server last could not be reached, to spare the next callers the wait.
    unreachable: Mutex<Option<Instant>>,
    pub(super) notice: Notice,
}

impl Server {
    /// Creates the server that a URL names, `postgres://user:password@host:port/database?schema=…&sslmode=…`.
    pub(super) fn new(url: &str, runtime: Handle) -> Result<Self, StorageError> {
        let address = ServerAddress::read(url)?;
        let schema = address.schema.clone().unwrap_or_else(|| SCHEMA.to_owned());
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if schema.is_empty() || schema.len() > 63 || !schema.bytes().all(plain) {
            return Err(address.refused(
                format!("{schema:?} cannot be the name of a schema"),
                "Use small letters, digits and underscores, at most 63",
            ));
        }
        Ok(Self {
            schema,
            shown: address.shown.clone(),
            address,
            runtime,
            value_cache: ValueCache::new(CACHED_BYTES),
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(MAX_SESSIONS)),
            unreachable: Mutex::default(),
            notice: Notice::default(),
        })
    }

    /// Returns a session that nobody else is using.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Session, PostgresFault> {
        // The semaphore is never closed.
        let place = self.places.clone().acquire_owned().await.ok();
        let idle = self.idle.lock().pop();
        let mut session = match idle {
            Some(session) if !session.client.is_closed() => session,
            _ => self.connect().await?,
        };
        session.place = place;
        Ok(session)
    }

    /// Ends the transaction of a session and gives it back, while its user goes on.
    pub(super) fn end(self: &Arc<Self>, session: Session) {
        let server = self.clone();
        self.runtime.spawn(async move {
            if session.batch("COMMIT").await.is_ok() {
                server.keep(session);
            }
        });
    }

    /// Returns the value that ends with this row, when it is in memory.
    pub(super) fn cached_value(&self, row: i64) -> Option<Value> {
        self.value_cache.value(EPOCH, row)
    }

    /// Keeps the value that ends with this row in memory; it continues the value of the row `base`.
    pub(super) fn have(&self, row: i64, base: Option<i64>, value: Value, size: i64) {
        self.value_cache
            .keep(EPOCH, row, base, value, size.unsigned_abs());
    }

    /// Gives a session back that is as it was.
    pub(super) fn keep(&self, mut session: Session) {
        session.place = None;
        let mut idle = self.idle.lock();
        if idle.len() < MAX_IDLE && !session.client.is_closed() {
            idle.push(session);
        }
    }

    /// Connects, waiting for a server that is just starting again.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<Session, PostgresFault> {
        let last = *self.unreachable.lock();
        let patience = match last {
            Some(last) if last.elapsed() < REFUSED_FOR => Duration::ZERO,
            _ => PATIENCE,
        };
        let server = self.clone();
        // On our own runtime: the caller may have none, or one that ends before the session does.
        let connecting = self.runtime.spawn(async move {
            let began = Instant::now();
            let mut pause = Duration::from_millis(20);
            loop {
                match server.try_connect().await {
                    Err(error) if is_passing(&error) && began.elapsed() < patience => {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(Duration::from_millis(500));
                    }
                    outcome => return outcome,
                }
            }
        });
        let what = "connecting to the server";
        let fault = match connecting.await {
            Ok(Ok(session)) => {
                *self.unreachable.lock() = None;
                return Ok(session);
            }
            // Worded here: to a caller, a connection that could not be made is no connection that was cut.
            Ok(Err(error)) => PostgresFault::Sql(error).worded(what, &self.shown),
            Err(error) => StorageError::Backend {
                what: format!("{what} ({})", self.shown),
                cause: error.to_string(),
                remedy: "Open the database again".to_owned(),
            },
        };
        *self.unreachable.lock() = Some(Instant::now());
        Err(PostgresFault::Storage(fault))
    }

    async fn try_connect(&self) -> Result<Session, tokio_postgres::Error> {
        let client = self.address.connect(&self.runtime).await?;
        client
            // `public` is where extensions usually are.
            .batch_execute(&format!("SET search_path = \"{}\", public", self.schema))
            .await?;
        Ok(Session {
            client,
            statements: HashMap::new(),
            place: None,
        })
    }
}

/// A connection and the statements it has prepared.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<String, Statement>,
    /// Held while it is used.
    place: Option<OwnedSemaphorePermit>,
}

impl Session {
    /// Returns the prepared statements for these; those that are new are prepared in one round trip.
    pub(super) async fn prepare_all<const N: usize>(
        &mut self,
        all: [&str; N],
    ) -> Result<[Statement; N], PostgresFault> {
        let new = all.iter().filter(|sql| !self.statements.contains_key(**sql));
        let client = &self.client;
        let prepared = new.map(|sql| async move {
            let statement = client.prepare(sql).await?;
            Ok::<_, tokio_postgres::Error>(((*sql).to_owned(), statement))
        });
        let prepared = try_join_all(prepared).await?;
        self.statements.extend(prepared);
        Ok(all.map(|sql| self.statements[sql].clone()))
    }

    /// Returns the prepared statement for `sql`.
    pub(super) async fn prepare(&mut self, sql: &str) -> Result<Statement, PostgresFault> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(&mut self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, PostgresFault> {
        let statement = self.prepare(sql).await?;
        Ok(self.client.query(&statement, params).await?)
    }

    pub(super) async fn execute(&mut self, sql: &str, params: Params<'_>) -> Result<u64, PostgresFault> {
        let statement = self.prepare(sql).await?;
        Ok(self.client.execute(&statement, params).await?)
    }

    pub(super) async fn batch(&self, sql: &str) -> Result<(), PostgresFault> {
        Ok(self.client.batch_execute(sql).await?)
    }
}
