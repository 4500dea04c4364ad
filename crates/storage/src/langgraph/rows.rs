//! Rows of LangGraph's tables, as a file or a server gives them: in the order of ids, and each call in reads that are
//! short.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep::Name;
use superstep::checkpoint::StorageError;

/// Bytes of a row that is read.
pub(super) const MAX_ROW: i64 = 64 << 20;

/// Namespaces that are read at a time, and how many times while one is looked for.
const PAGE: usize = 200;
const MAX_PAGES: usize = 10;

/// Counts of what was read of a database, since it was opened: a read is short because it takes few rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadCounts {
    /// Statements that were executed, each a transaction of its own.
    pub statements: u64,
    /// The most rows or entries of an index that one of them took.
    pub most_rows: u64,
}

/// Counters of the reads of a database.
#[derive(Debug, Default)]
pub(super) struct Meter {
    statements: AtomicU64,
    most_rows: AtomicU64,
}

impl Meter {
    /// Notes a statement and the rows that it took.
    pub(super) fn note(&self, rows: usize) {
        self.statements.fetch_add(1, Ordering::Relaxed);
        self.most_rows.fetch_max(rows as u64, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> ReadCounts {
        ReadCounts {
            statements: self.statements.load(Ordering::Relaxed),
            most_rows: self.most_rows.load(Ordering::Relaxed),
        }
    }
}

/// A failure within this module.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    #[cfg(feature = "postgres")]
    Server(crate::postgres::PostgresFault),
    Storage(StorageError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl Fault {
    /// Converts a fault that no place words better.
    pub(super) fn elsewhere(self, what: &str) -> StorageError {
        let cause = match self {
            Self::Storage(error) => return error,
            Self::Sql(error) => error.to_string(),
            #[cfg(feature = "postgres")]
            Self::Server(fault) => return fault.worded(what, "PostgreSQL"),
        };
        StorageError::Backend {
            what: what.to_owned(),
            cause,
            remedy: "Try again; if it stays, report it with this message".to_owned(),
        }
    }
}

/// Values that a read of checkpoints is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// Those that name tasks; of others only that they are there.
    Structure,
    /// Also those of these channels.
    Channels(&'a [Name]),
    /// All, and what tasks stored.
    All,
}

impl Wanted<'_> {
    pub(super) fn is_all(self) -> bool {
        matches!(self, Self::All)
    }
}

/// A row of a checkpoint.
#[derive(Debug)]
pub(super) struct CheckpointRow {
    pub(super) ns: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) kind: String,
    /// The checkpoint, or why it cannot be read.
    pub(super) checkpoint: Result<Vec<u8>, String>,
    pub(super) metadata: Option<Result<Vec<u8>, String>>,
    /// Values that are stored beside it.
    pub(super) blobs: Vec<Blob>,
    /// Packets that its parent's tasks stored for it, of before 2025.
    pub(super) sends: Vec<Blob>,
}

/// A value that is stored beside its checkpoint, for every checkpoint that has it.
#[derive(Clone, Debug)]
pub(super) struct Blob {
    pub(super) channel: Name,
    pub(super) kind: Arc<str>,
    pub(super) size: u64,
    /// `None` when it was not asked for.
    pub(super) bytes: Option<Result<Arc<[u8]>, String>>,
}

/// A row of a write.
#[derive(Debug)]
pub(super) struct WriteRow {
    pub(super) task: String,
    pub(super) path: String,
    pub(super) idx: i64,
    pub(super) channel: String,
    pub(super) kind: String,
    /// `None` when it was not asked for.
    pub(super) value: Option<Result<Vec<u8>, String>>,
}

/// A row of the program's store.
#[derive(Debug)]
pub(super) struct ItemRow {
    /// Its namespace, the labels joined by dots.
    pub(super) prefix: String,
    pub(super) key: String,
    /// The value as JSON, or why it cannot be read.
    pub(super) value: Result<Vec<u8>, String>,
    /// Times in milliseconds since the Unix epoch.
    pub(super) created: i64,
    pub(super) updated: i64,
    pub(super) expires: Option<i64>,
}

/// Says that something is larger than what is read.
pub(super) fn too_large(what: &str, length: i64) -> String {
    format!("its {what} has {length} bytes, more than the {MAX_ROW} that are read")
}

/// Reader of the tables during one operation.
pub(super) trait RowReader {
    /// Returns threads that follow one in the order of ids, each with the newest checkpoint of its outermost graph.
    fn threads_after(
        &self,
        thread: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, Fault>;

    /// Returns namespaces of a thread that follow one.
    fn namespaces_after(&self, thread: &str, ns: Option<&str>, limit: usize) -> Result<Vec<String>, Fault>;

    /// Returns whether the thread has a namespace that begins so.
    fn has_namespace(&self, thread: &str, begins: &str) -> Result<bool, Fault> {
        // Where text is not ordered by its bytes, those that begin alike need not stand together.
        let mut last: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page = self.namespaces_after(thread, last.as_deref(), PAGE)?;
            if page.iter().any(|ns| ns.starts_with(begins)) {
                return Ok(true);
            }
            last = page.into_iter().next_back();
            if last.is_none() {
                break;
            }
        }
        Ok(false)
    }

    /// Returns the newest checkpoint of a namespace: the one with the greatest id.
    fn newest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault>;

    /// Returns the checkpoint with the smallest id.
    fn oldest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault>;

    /// Counts the checkpoints of a namespace.
    fn count(&self, thread: &str, ns: &str) -> Result<u64, Fault>;

    /// Returns ids of a namespace, the newest first, at most `limit`.
    fn ids(&self, thread: &str, ns: &str, before: Option<&str>, limit: usize) -> Result<Vec<String>, Fault>;

    /// Reads rows of a namespace from one id back, as many as one short read gives; `below` without its own row.
    fn checkpoints(
        &self,
        thread: &str,
        ns: &str,
        below: Option<&str>,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Result<Vec<CheckpointRow>, Fault>;

    /// Reads one row.
    fn checkpoint(
        &self,
        thread: &str,
        ns: &str,
        id: &str,
        wanted: Wanted<'_>,
    ) -> Result<Option<CheckpointRow>, Fault>;

    /// Reads rows that follow an id, in the order of ids.
    fn following(&self, thread: &str, ns: &str, id: &str, limit: usize) -> Result<Vec<CheckpointRow>, Fault>;

    /// Reads what tasks of checkpoints stored, for each, with the values or without.
    fn writes(
        &self,
        thread: &str,
        ns: &str,
        ids: &[&str],
        with_values: bool,
    ) -> Result<Vec<Vec<WriteRow>>, Fault>;

    /// Names rows that are nobody's, because an id in them is no text.
    fn strange(&self) -> Result<Vec<String>, Fault>;

    /// Returns the checkpoints of a thread's outermost graph with a task that asked something.
    fn asked(&self, thread: &str) -> Result<Vec<String>, Fault>;

    /// Reads items of the program's store that follow a place; `None` when the database has no table of it.
    fn items_after(&self, last: Option<(&str, &str)>) -> Result<Option<Vec<ItemRow>>, Fault>;
}
