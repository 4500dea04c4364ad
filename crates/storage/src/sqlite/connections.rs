//! The connections to a file: one that writes, and those that read and are kept for the next reader.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rusqlite::Connection;
use superstep::checkpoint::{Integrity, Progress, Pruning, Removal, StorageError};
use superstep::store::StoreConfig;

use super::fault::SqliteFault;
use super::parts::decoder;
use super::queue::Queue;
use super::reader::{Memo, Metas, Names, SqliteState, View};
use super::roster::KeptRoster;
use super::writer::{Writer, epoch};
use super::{SqliteOptions, schema};
use crate::codec::encoding::ValueDecoder;
use crate::codec::value_cache::ValueCache;

/// Idle reading connections that are kept.
const MAX_IDLE_READERS: usize = 4;
/// Steps of SQLite's machine after which a check asks whether it is to go on: some milliseconds.
const ASK_EVERY: std::ffi::c_int = 100_000;

/// The connections to a file.
pub(super) struct Connections {
    pub(super) path: PathBuf,
    pub(super) options: SqliteOptions,
    readers: Mutex<Vec<Reader>>,
    /// Says that the file was changed while the writer is at work. Opened by the first look.
    watcher: Mutex<Option<Connection>>,
    value_cache: Arc<ValueCache<SqliteState>>,
    roster: KeptRoster,
    /// Gone when the file may only be read.
    pub(super) queue: Option<Arc<Queue>>,
    /// How the words of items are cut when their index has to be made again.
    pub(super) cutting: Mutex<StoreConfig>,
    /// The thread that does what waits in the queue.
    thread: Option<JoinHandle<()>>,
}

struct Reader {
    conn: Connection,
    metas: Metas,
    names: Names,
    decoder: ValueDecoder,
}

impl Connections {
    pub(super) fn new(conn: Connection, path: PathBuf, options: SqliteOptions) -> Result<Self, StorageError> {
        let value_cache = Arc::new(ValueCache::new(options.cache_bytes));
        let writer = Writer::new(conn, path.clone(), options.busy_timeout, value_cache.clone())?;
        let queue = Arc::new(Queue::new(writer));
        let (served, file) = (queue.clone(), path.clone());
        let thread = std::thread::Builder::new()
            .name("superstep-sqlite".to_owned())
            .spawn(move || served.serve(|| schema::open_folder(&file)))
            .map_err(|error| StorageError::Backend {
                what: format!("starting the writer of {}", path.display()),
                cause: error.to_string(),
                remedy: "Close other programs and try again".to_owned(),
            })?;
        Ok(Self {
            path,
            options,
            readers: Mutex::default(),
            watcher: Mutex::default(),
            value_cache,
            roster: KeptRoster::default(),
            queue: Some(queue),
            cutting: Mutex::default(),
            thread: Some(thread),
        })
    }

    /// Creates the connections to a file that may only be read.
    pub(super) fn reading(path: PathBuf, options: SqliteOptions) -> Self {
        Self {
            path,
            options,
            readers: Mutex::default(),
            watcher: Mutex::default(),
            value_cache: Arc::new(ValueCache::new(options.cache_bytes)),
            roster: KeptRoster::default(),
            queue: None,
            cutting: Mutex::default(),
            thread: None,
        }
    }

    fn connect(&self) -> Result<Connection, SqliteFault> {
        match self.queue {
            Some(_) => schema::open_reader(&self.path, self.options),
            None => schema::open_only_reader(&self.path, self.options),
        }
    }

    /// Returns a number that changes with another program's commit; `None` for a file that may only be read.
    pub(super) fn changes(&self) -> Result<Option<u64>, SqliteFault> {
        let Some(queue) = &self.queue else { return Ok(None) };
        // A look without it sees less, and fails where the writer's does.
        Ok(queue.changes(|| self.version().ok())?)
    }

    fn version(&self) -> Result<i64, SqliteFault> {
        let mut watcher = self.watcher.lock();
        let conn = match watcher.take() {
            Some(conn) => conn,
            None => self.connect()?,
        };
        let version = conn
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        *watcher = Some(conn);
        Ok(version)
    }

    pub(super) fn read<T>(
        &self,
        operation: impl FnOnce(&mut View<'_>) -> Result<T, SqliteFault>,
    ) -> Result<T, SqliteFault> {
        let reader = match self.idle() {
            Some(reader) => reader,
            None => Reader::open(self)?,
        };
        self.read_with(reader, operation)
    }

    /// Reads everything, over a connection of its own.
    pub(super) fn check(&self, progress: &Progress) -> Result<Integrity, SqliteFault> {
        let mut reader = Reader::open(self)?;
        ask(&mut reader.conn, progress)?;
        let found = self.look(&mut reader, |view| view.check(progress))?;
        Ok(found.into_integrity())
    }

    pub(super) fn plan(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, SqliteFault> {
        let mut conn = self.connect()?;
        ask(&mut conn, progress)?;
        Writer::plan(
            conn,
            self.path.clone(),
            self.value_cache.clone(),
            pruning,
            progress,
        )
    }

    /// Runs an operation that takes no longer than handing it to another thread; returns `None` when it might.
    pub(super) fn glance<T>(
        &self,
        operation: impl FnOnce(&mut View<'_>) -> Result<T, SqliteFault>,
    ) -> Option<Result<T, SqliteFault>> {
        let read = self.read_with(self.idle()?, |view| {
            view.hurry = true;
            operation(view)
        });
        (!matches!(read, Err(SqliteFault::Cold))).then_some(read)
    }

    fn idle(&self) -> Option<Reader> {
        self.readers.lock().pop()
    }

    /// Runs an operation in one transaction, so that every statement of it sees the same moment.
    fn look<T>(
        &self,
        reader: &mut Reader,
        operation: impl FnOnce(&mut View<'_>) -> Result<T, SqliteFault>,
    ) -> Result<T, SqliteFault> {
        let moment = Moment::begin(&reader.conn)?;
        let epoch = epoch(moment.0).ok();
        reader.metas.at(epoch);
        operation(&mut View {
            conn: moment.0,
            metas: &mut reader.metas,
            names: &mut reader.names,
            decoder: &mut reader.decoder,
            memo: Memo::default(),
            value_cache: epoch.map(|epoch| (&*self.value_cache, epoch)),
            roster: Some(&self.roster),
            hurry: false,
        })
    }

    fn read_with<T>(
        &self,
        mut reader: Reader,
        operation: impl FnOnce(&mut View<'_>) -> Result<T, SqliteFault>,
    ) -> Result<T, SqliteFault> {
        let result = self.look(&mut reader, operation);
        let mut readers = self.readers.lock();
        // A connection that met an error is not used again. One to a file that may only be read may not see what others
        // write to it.
        let lasts = self.queue.is_some();
        if lasts && readers.len() < MAX_IDLE_READERS && !matches!(result, Err(SqliteFault::Sql(_))) {
            readers.push(reader);
        }
        result
    }
}

impl Reader {
    fn open(of: &Connections) -> Result<Self, SqliteFault> {
        Ok(Self {
            conn: of.connect()?,
            metas: Metas::default(),
            names: Names::default(),
            decoder: decoder()?,
        })
    }
}

/// A transaction that reads, with statements that are prepared once.
struct Moment<'c>(&'c Connection);

impl<'c> Moment<'c> {
    fn begin(conn: &'c Connection) -> rusqlite::Result<Self> {
        conn.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(conn))
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        let ended = self
            .0
            .prepare_cached("ROLLBACK")
            .and_then(|mut end| end.execute([]));
        if let Err(error) = ended
            && !self.0.is_autocommit()
        {
            tracing::error!(%error, "a transaction that reads could not be ended");
        }
    }
}

/// Installs a handler with which SQLite asks in the middle of each statement whether to continue.
fn ask(conn: &mut Connection, progress: &Progress) -> Result<(), SqliteFault> {
    let progress = progress.clone();
    Ok(conn.progress_handler(ASK_EVERY, Some(move || progress.is_stopped()))?)
}

impl Drop for Connections {
    fn drop(&mut self) {
        // Readers first, so that the writer is the last to close and folds the log back into the file.
        self.readers.get_mut().clear();
        *self.watcher.get_mut() = None;
        if let Some(queue) = &self.queue {
            queue.close();
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(file = %self.path.display(), "the writer ended in a panic");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SqliteSaver;
    use super::*;

    #[tokio::test]
    async fn a_connection_is_used_again_unless_it_met_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = SqliteSaver::open(folder.path().join("t.db")).expect("a new database");
        let connections = &saver.connections;
        let idle = || connections.readers.lock().len();
        let before = idle();
        for _ in 0..3 {
            connections
                .read(|view| Ok(view.conn.is_autocommit()))
                .expect("reads");
            assert_eq!(idle(), before.max(1));
        }
        let fault = connections.read(|view| Ok(view.conn.execute("SELECT nothing", [])?));
        assert!(matches!(fault, Err(SqliteFault::Sql(_))));
        assert_eq!(idle(), before.max(1) - 1);
    }
}
