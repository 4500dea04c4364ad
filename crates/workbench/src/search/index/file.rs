//! The file: which threads are in it, and the words of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::kept;

/// The version of the file. A file of another version is made again.
const VERSION: i64 = 1;
/// Texts of a thread that grew: with more of them its words are collected again.
pub(super) const MAX_PARTS: i64 = 1 << 10;

/// Of words only which threads have them is kept; beginnings have lists of their own, because that of a short one would be
/// made of those of thousands of words.
const SCHEMA: &str = "
CREATE TABLE known (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE threads (
    id          INTEGER PRIMARY KEY,
    thread      TEXT NOT NULL UNIQUE,
    head        TEXT NOT NULL,
    checkpoints INTEGER NOT NULL,
    parts       INTEGER NOT NULL
);
CREATE INDEX threads_by_head ON threads (head DESC, thread);
CREATE VIRTUAL TABLE words USING fts5(
    text, content = '', contentless_delete = 1, detail = none, prefix = '1 2 3 4',
    tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\"
);
";

/// A thread of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexedThread {
    pub(super) head: String,
    pub(super) checkpoints: u64,
    /// It has grown so often that its words are to be collected again.
    pub(super) is_full: bool,
}

/// The stretch of the list of threads that the index knows: heads of the newest and of the oldest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) newest: String,
    /// Empty when there is no older thread.
    pub(super) oldest: String,
    /// When the index was compared with the database last: ISO-8601, UTC.
    pub(super) until: String,
}

/// The words of a thread.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) thread: String,
    pub(super) head: String,
    pub(super) checkpoints: u64,
    /// They are added to those that it has.
    pub(super) grew: bool,
    pub(super) words: BTreeSet<String>,
}

/// The open file.
#[derive(Debug)]
pub(super) struct File {
    connection: Connection,
}

/// Converts a stored count.
fn number(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

fn indexed(row: &rusqlite::Row<'_>) -> rusqlite::Result<IndexedThread> {
    Ok(IndexedThread {
        head: row.get(0)?,
        checkpoints: number(row.get(1)?),
        is_full: row.get::<_, i64>(2)? >= MAX_PARTS,
    })
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(20))?;
    Ok(connection)
}

impl File {
    /// Opens the file to write it; one that is damaged or of another version is made again.
    pub(super) fn write(path: &Path) -> rusqlite::Result<Self> {
        Self::prepare(path).or_else(|error| {
            tracing::info!(%error, path = %path.display(), "the index of threads is made again");
            remove(path);
            Self::prepare(path)
        })
    }

    fn prepare(path: &Path) -> rusqlite::Result<Self> {
        let mut connection = connect(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // What was deleted must not be read in the file.
        connection.pragma_update(None, "secure_delete", "ON")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version == 0 {
            let transaction = connection.transaction()?;
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
            transaction.commit()?;
        } else if version != VERSION {
            return Err(rusqlite::Error::InvalidQuery);
        }
        let check: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        match check.as_str() {
            "ok" => Ok(Self { connection }),
            _ => Err(rusqlite::Error::InvalidQuery),
        }
    }

    /// Opens the file to read it; `None` when there is none that can be read.
    pub(super) fn read(path: &Path) -> rusqlite::Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect(path)?;
        connection.pragma_update(None, "query_only", "ON")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok((version == VERSION).then_some(Self { connection }))
    }

    pub(super) fn range(&self) -> rusqlite::Result<Option<Range>> {
        let mut statement = self.connection.prepare_cached("SELECT name, value FROM known")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut known = rows.collect::<rusqlite::Result<BTreeMap<String, String>>>()?;
        Ok((known.remove("newest")).map(|newest| Range {
            newest,
            oldest: known.remove("oldest").unwrap_or_default(),
            until: known.remove("until").unwrap_or_default(),
        }))
    }

    pub(super) fn set_range(&self, range: &Range) -> rusqlite::Result<()> {
        self.connection.execute(
            "INSERT OR REPLACE INTO known (name, value) VALUES ('newest', ?1), ('oldest', ?2), ('until', ?3)",
            params![range.newest, range.oldest, range.until],
        )?;
        Ok(())
    }

    pub(super) fn count(&self) -> rusqlite::Result<u64> {
        let mut statement = self.connection.prepare_cached("SELECT count(*) FROM threads")?;
        statement.query_row([], |row| row.get(0).map(number))
    }

    /// Reads the rows of all threads.
    pub(super) fn rows(&self) -> rusqlite::Result<BTreeMap<String, IndexedThread>> {
        let mut statement = self
            .connection
            .prepare("SELECT head, checkpoints, parts, thread FROM threads")?;
        let rows = statement.query_map([], |row| Ok((row.get(3)?, indexed(row)?)))?;
        rows.collect()
    }

    pub(super) fn row(&self, thread: &str) -> rusqlite::Result<Option<IndexedThread>> {
        let mut statement = (self.connection)
            .prepare_cached("SELECT head, checkpoints, parts FROM threads WHERE thread = ?1")?;
        statement.query_row([thread], indexed).optional()
    }

    /// Adds threads as one unit. Words that a thread does not have any more leave the file.
    pub(super) fn add(&mut self, entries: &[Entry]) -> rusqlite::Result<()> {
        let mut replaced = false;
        let transaction = self.connection.transaction()?;
        for entry in entries {
            let known: Option<(i64, i64)> = transaction
                .prepare_cached("SELECT id, parts FROM threads WHERE thread = ?1")?
                .query_row([&entry.thread], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let parts = match known {
                Some((id, _)) if !entry.grew => {
                    forget_words(&transaction, id)?;
                    replaced = true;
                    0
                }
                known => known.map_or(0, |(_, parts)| parts),
            };
            let id: i64 = transaction
                .prepare_cached(
                    "INSERT INTO threads (thread, head, checkpoints, parts) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (thread) DO UPDATE SET head = ?2, checkpoints = ?3, parts = ?4 RETURNING id",
                )?
                .query_row(
                    params![
                        entry.thread,
                        entry.head,
                        i64::try_from(entry.checkpoints).unwrap_or(i64::MAX),
                        parts + 1
                    ],
                    |row| row.get(0),
                )?;
            let mut text = String::new();
            for word in &entry.words {
                text.push_str(kept(word));
                text.push(' ');
            }
            transaction
                .prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
                .execute(params![id * MAX_PARTS + parts, text])?;
        }
        if replaced {
            rewrite(&transaction)?;
        }
        transaction.commit()?;
        if replaced { self.empty_log() } else { Ok(()) }
    }

    /// Forgets threads with their words, and writes what is left together, so that nothing of them stays in the file.
    pub(super) fn forget(&mut self, threads: &[String]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for thread in threads {
            let id: Option<i64> = transaction
                .query_row(
                    "DELETE FROM threads WHERE thread = ?1 RETURNING id",
                    [thread],
                    |row| row.get(0),
                )
                .optional()?;
            if let Some(id) = id {
                forget_words(&transaction, id)?;
            }
        }
        rewrite(&transaction)?;
        transaction.commit()?;
        self.empty_log()
    }

    /// Writes what is in the log into the file, and leaves nothing of it in the log.
    fn empty_log(&self) -> rusqlite::Result<()> {
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }

    /// Returns threads that may have these words, or are among `named`, in the order of lists: after the place, the
    /// newest first.
    pub(super) fn candidates(
        &self,
        words: &str,
        named: &[String],
        after: (&str, &str),
        range: &Range,
        limit: usize,
    ) -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT head, thread FROM threads
             WHERE (id IN (SELECT rowid / ?7 FROM words WHERE words MATCH ?1)
                    OR thread IN (SELECT value FROM json_each(?2)))
               AND (head < ?3 OR (head = ?3 AND thread > ?4)) AND head >= ?5
             ORDER BY head DESC, thread LIMIT ?6",
        )?;
        let named = serde_json::Value::from(named).to_string();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(
            params![words, named, after.0, after.1, range.oldest, limit, MAX_PARTS],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        rows.collect()
    }

    /// Sets how often a thread has grown. Its words are in the last part then.
    #[cfg(test)]
    pub(super) fn set_parts(&self, thread: &str, parts: i64) -> rusqlite::Result<()> {
        self.connection.execute(
            "UPDATE threads SET parts = ?2 WHERE thread = ?1",
            params![thread, parts],
        )?;
        Ok(())
    }

    /// Returns every word that is kept.
    #[cfg(test)]
    pub(super) fn vocabulary(&self) -> Vec<String> {
        let sql = "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')";
        self.connection.execute_batch(sql).unwrap();
        let mut statement = self
            .connection
            .prepare("SELECT term FROM temp.vocabulary")
            .unwrap();
        let terms = statement.query_map([], |row| row.get(0)).unwrap();
        terms.collect::<rusqlite::Result<_>>().unwrap()
    }
}

/// Writes all words together: until then those that were forgotten are still in the file.
fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
    Ok(())
}

fn forget_words(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM words WHERE rowid >= ?1 AND rowid < ?2")?;
    statement.execute([id * MAX_PARTS, (id + 1) * MAX_PARTS])?;
    Ok(())
}

/// Deletes the file.
pub(super) fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        if let Err(error) = std::fs::remove_file(&name)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, file = %name.display(), "the index of threads cannot be deleted");
        }
    }
}
