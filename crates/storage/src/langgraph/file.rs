//! The SQLite file of a LangGraph program, read without a trace: no byte of it or of its log is written, nothing is made
//! beside it where nobody has it open, and every read is short, so that the program which writes it does not wait.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, ToSql, params};
use superstep::checkpoint::StorageError;

use crate::base::unwritable::{beside, unchanging};

use super::rows::{CheckpointRow, Fault, ItemRow, MAX_ROW, Meter, RowReader, Wanted, WriteRow, too_large};

/// Idle connections that are kept.
const MAX_IDLE: usize = 4;
/// Length of a read before it ends and goes on as another one: less than half of what a writer may notice.
const MAX_MOMENT: Duration = Duration::from_millis(40);
/// Rows and bytes of a read.
const MAX_ROWS: usize = 256;
const MAX_BYTES: usize = 16 << 20;
/// Index entries that are counted in a read.
const MAX_COUNTED: u64 = 20_000;

/// The first value in an index that is no text.
const FIRST_BYTES: [u8; 0] = [];

/// What the tables have at least.
const CHECKPOINTS: [&str; 7] = [
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "parent_checkpoint_id",
    "type",
    "checkpoint",
    "metadata",
];
const WRITES: [&str; 8] = [
    "thread_id",
    "checkpoint_ns",
    "checkpoint_id",
    "task_id",
    "idx",
    "channel",
    "type",
    "value",
];

fn refused(path: &Path, cause: impl Into<String>, remedy: &str) -> StorageError {
    StorageError::Backend {
        what: format!("opening the LangGraph database ({})", path.display()),
        cause: cause.into(),
        remedy: remedy.to_owned(),
    }
}

impl Fault {
    pub(super) fn worded(self, what: &str, path: &Path) -> StorageError {
        let error = match self {
            Self::Sql(error) => error,
            other => return other.elsewhere(what),
        };
        let remedy = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => {
                "A page of the file is damaged, and what is on it cannot be shown; other threads can. Restore a backup"
            }
            Some(ErrorCode::NotADatabase) => "It is no SQLite file, or it is encrypted; choose another one",
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "The program keeps the file locked; try again when it has stored what it is storing"
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                "Check that the file may be read; where a program was ended while it wrote, open it once with that program"
            }
            _ => "Try again; if it stays, report it with this message",
        };
        StorageError::Backend {
            what: format!("{what} ({})", path.display()),
            cause: error.to_string(),
            remedy: remedy.to_owned(),
        }
    }

    fn is_refusal(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen)
        )
    }
}

/// Returns whether the file says that commits go to a log beside it.
fn has_log_mode(path: &Path) -> std::io::Result<bool> {
    let mut header = [0; 20];
    let read = File::open(path)?.read(&mut header)?;
    Ok(read == header.len() && header[18] == 2)
}

/// Size and time of a file that is read as one which does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fixed {
    size: u64,
    changed: Option<SystemTime>,
    alone: bool,
}

impl Fixed {
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self {
            size: found.len(),
            changed: found.modified().ok(),
            alone: is_alone(path),
        })
    }
}

/// Returns whether nobody has the file open with a log, and no commit is in one.
fn is_alone(path: &Path) -> bool {
    let is_empty = |ending| beside(path, ending).metadata().map_or(true, |log| log.len() == 0);
    is_empty("-wal") && !beside(path, "-shm").exists()
}

#[derive(Debug)]
struct Reading {
    conn: Connection,
    /// What the file was like, when it was opened as one that does not change.
    fixed: Option<Fixed>,
}

/// The file.
#[derive(Debug)]
pub(super) struct DbFile {
    pub(super) path: PathBuf,
    idle: Mutex<Vec<Reading>>,
    pub(super) meter: Meter,
    /// Says that the program has stored something.
    watcher: Mutex<Option<Reading>>,
}

fn settle(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(Duration::from_secs(2))?;
    // The schema is somebody else's: what it calls may do nothing but calculate, and nothing may be changed.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "query_only", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.set_prepared_statement_cache_capacity(32);
    // The first look at the file.
    conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| {
        row.get::<_, i64>(0)
    })
    .map(drop)
}

impl DbFile {
    /// Opens a file that must be a LangGraph program's.
    pub(super) fn open(path: &Path) -> Result<Self, StorageError> {
        if !path.is_file() {
            let cause = if path.exists() {
                "it is no file"
            } else {
                "there is no such file"
            };
            return Err(refused(
                path,
                cause,
                "Give the file that SqliteSaver was opened with",
            ));
        }
        let file = Self {
            path: path.to_owned(),
            idle: Mutex::default(),
            meter: Meter::default(),
            watcher: Mutex::default(),
        };
        file.read("opening the LangGraph database", |tables| {
            check(tables.conn, path)
        })?;
        Ok(file)
    }

    fn connect(&self) -> Result<Reading, Fault> {
        let path = &self.path;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fixed = || -> Result<Reading, Fault> {
            let fixed = Fixed::of(path);
            let conn = Connection::open_with_flags(unchanging(path), flags | OpenFlags::SQLITE_OPEN_URI)?;
            settle(&conn)?;
            Ok(Reading { conn, fixed })
        };
        // To read a file of this mode SQLite makes files beside it. Where there are none, nobody has it open.
        if has_log_mode(path).unwrap_or(false) && is_alone(path) {
            return fixed();
        }
        let open = || -> Result<Reading, Fault> {
            let conn = Connection::open_with_flags(path, flags)?;
            settle(&conn)?;
            Ok(Reading { conn, fixed: None })
        };
        match open() {
            Err(fault) if (fault.is_refusal() || self.lacks_index(&fault)) && path.is_file() => {
                if beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
                    let cause = format!(
                        "the newest commits are in {}, which cannot be read where nothing may be written",
                        beside(path, "-wal").display()
                    );
                    let remedy = "Copy both files to a folder that may be written, and open the copy";
                    return Err(refused(path, cause, remedy).into());
                }
                if beside(path, "-journal")
                    .metadata()
                    .is_ok_and(|journal| journal.len() > 0)
                {
                    let cause = "a program was ended in the middle of a commit, and only that program may take it back";
                    return Err(refused(path, cause, "Open it once with that program").into());
                }
                fixed()
            }
            other => other,
        }
    }

    /// Returns whether the file that SQLite keeps beside a log, to find commits in it, could not be made or opened: it says so
    /// in this way after it has tried for a while.
    fn lacks_index(&self, fault: &Fault) -> bool {
        let Fault::Sql(error) = fault else { return false };
        error.sqlite_error_code() == Some(ErrorCode::FileLockingProtocolFailed)
            && !beside(&self.path, "-shm").is_file()
    }

    fn is_good(&self, reading: &Reading) -> bool {
        match reading.fixed {
            None => true,
            fixed => fixed == Fixed::of(&self.path),
        }
    }

    /// Reads, in reads of the file that are each short.
    pub(super) fn read<T>(
        &self,
        what: &str,
        operation: impl Fn(&FileRows<'_>) -> Result<T, Fault>,
    ) -> Result<T, StorageError> {
        let once = || -> Result<(T, bool), Fault> {
            let idle = std::iter::from_fn(|| self.idle.lock().pop()).find(|reading| self.is_good(reading));
            let reading = match idle {
                Some(reading) => reading,
                None => self.connect()?,
            };
            let done = operation(&FileRows::of(&reading.conn, &self.meter)?);
            // What changed while it was read as unchanging may have been read by halves.
            let good = self.is_good(&reading);
            let done = match done {
                Ok(done) => (done, good),
                Err(_) if !good => return self.read_open(&operation).map(|done| (done, true)),
                Err(fault) => return Err(fault),
            };
            let mut idle = self.idle.lock();
            if good && idle.len() < MAX_IDLE {
                idle.push(reading);
            }
            Ok(done)
        };
        let outcome = once().and_then(|(done, good)| match good {
            true => Ok(done),
            false => self.read_open(&operation),
        });
        outcome.map_err(|fault| fault.worded(what, &self.path))
    }

    /// Reads once more, over a connection of its own.
    fn read_open<T>(&self, operation: impl Fn(&FileRows<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let reading = self.connect()?;
        operation(&FileRows::of(&reading.conn, &self.meter)?)
    }

    /// Returns a number that changes when the program has stored something.
    pub(super) fn version(&self) -> Result<u64, StorageError> {
        let version = || -> Result<u64, Fault> {
            let mut watcher = self.watcher.lock();
            let reading = match watcher.take().filter(|reading| self.is_good(reading)) {
                Some(reading) => reading,
                None => self.connect()?,
            };
            let version: i64 = reading
                .conn
                .prepare_cached("PRAGMA data_version")?
                .query_row([], |row| row.get(0))?;
            let fixed = reading.fixed.map(|fixed| (fixed.size, fixed.changed));
            *watcher = Some(reading);
            let text = format!("{version} {fixed:?}");
            Ok(xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
        };
        version().map_err(|fault| fault.worded("looking for changes", &self.path))
    }
}

/// Refuses what is no database of LangGraph, or has something else in the place of its tables.
fn check(conn: &Connection, path: &Path) -> Result<(), Fault> {
    const OTHER: &str = "Give the file that SqliteSaver was opened with";
    for (table, wanted) in [("checkpoints", &CHECKPOINTS[..]), ("writes", &WRITES[..])] {
        let found = conn
            .query_row(
                "SELECT type, sql FROM sqlite_master WHERE name = ?1 AND type IN ('table', 'view')",
                [table],
                |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)),
            )
            .optional()?;
        let Some((kind, sql)) = found else {
            return Err(refused(path, format!("it has no table {table:?}"), OTHER).into());
        };
        let sql = sql.unwrap_or_default().trim_start().to_ascii_uppercase();
        if kind != "table" || !sql.starts_with("CREATE TABLE") {
            let cause = format!("{table:?} is a {kind} and no table of its own, as LangGraph makes it");
            return Err(refused(path, cause, OTHER).into());
        }
        let mut columns = conn.prepare("SELECT name, hidden FROM pragma_table_xinfo(?1)")?;
        let columns = columns.query_map([table], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })?;
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for name in wanted {
            match columns.iter().find(|(column, _)| column == name) {
                Some((_, 0)) => {}
                Some(_) => {
                    let cause = format!(
                        "column {name:?} of its table {table:?} is calculated, and LangGraph stores it"
                    );
                    return Err(refused(path, cause, OTHER).into());
                }
                None => {
                    let cause = format!("its table {table:?} has no column {name:?}");
                    return Err(refused(path, cause, OTHER).into());
                }
            }
        }
    }
    let trigger: Option<String> = conn
        .query_row(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ('checkpoints', 'writes')",
            [],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(name) = trigger {
        let cause =
            format!("it has the trigger {name:?} on a table of LangGraph, which LangGraph did not make");
        return Err(refused(path, cause, "Find out who made it, and remove it (DROP TRIGGER)").into());
    }
    Ok(())
}

/// Returns whether a file is a database of LangGraph, by its content. What cannot be read is none.
pub(super) fn is_one(path: &Path) -> bool {
    let mut header = [0; 16];
    let begins = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    begins.is_ok() && &header == b"SQLite format 3\0" && DbFile::open(path).is_ok()
}

/// The tables during one operation.
pub(super) struct FileRows<'a> {
    conn: &'a Connection,
    has_paths: bool,
    meter: &'a Meter,
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => String::new(),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
    })
}

/// Reads a column of bytes, which some savers store as text.
fn bytes(
    row: &Row<'_>,
    column: usize,
    length: usize,
    what: &str,
) -> rusqlite::Result<Result<Vec<u8>, String>> {
    let length: i64 = row.get::<_, Option<i64>>(length)?.unwrap_or(0);
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
        ValueRef::Null if length > MAX_ROW => Err(too_large(what, length)),
        other => Err(format!("its {what} is {}, where bytes are stored", named(other))),
    })
}

fn named(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "null",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a number",
        ValueRef::Text(_) => "text",
        ValueRef::Blob(_) => "bytes",
    }
}

/// The time of one read.
struct Moment(Instant, usize, usize);

impl Moment {
    fn begin() -> Self {
        Self(Instant::now(), 0, 0)
    }

    /// Adds a row; gives whether the read has to end.
    fn is_over(&mut self, bytes: usize) -> bool {
        self.1 += 1;
        self.2 += bytes;
        self.1 >= MAX_ROWS || self.2 >= MAX_BYTES || self.0.elapsed() >= MAX_MOMENT
    }
}

impl<'a> FileRows<'a> {
    fn of(conn: &'a Connection, meter: &'a Meter) -> Result<Self, Fault> {
        let found = "SELECT EXISTS (SELECT 1 FROM pragma_table_info('writes') WHERE name = 'task_path')";
        let has_paths = conn.prepare_cached(found)?.query_row([], |row| row.get(0))?;
        meter.note(1);
        Ok(Self {
            conn,
            has_paths,
            meter,
        })
    }

    fn one_text(&self, sql: &str, params: impl rusqlite::Params) -> Result<Option<String>, Fault> {
        let mut statement = self.conn.prepare_cached(sql)?;
        self.meter.note(1);
        let found = statement.query_row(params, |row| match row.get_ref(0)? {
            ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text).into_owned())),
            _ => Ok(None),
        });
        Ok(found.optional()?.flatten())
    }

    /// Returns the thread that follows one in the order of ids.
    fn thread_after(&self, thread: &str, inclusive: bool) -> Result<Option<String>, Fault> {
        // Other types than text sort elsewhere, and are nobody's thread.
        let sql = match inclusive {
            true => "SELECT thread_id FROM checkpoints WHERE thread_id >= ?1 ORDER BY thread_id LIMIT 1",
            false => "SELECT thread_id FROM checkpoints WHERE thread_id > ?1 ORDER BY thread_id LIMIT 1",
        };
        self.one_text(sql, [thread])
    }

    /// Returns the namespace of a thread that follows one.
    fn ns_after(&self, thread: &str, ns: Option<&str>) -> Result<Option<String>, Fault> {
        match ns {
            None => self.one_text(
                "SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns >= '' \
                 ORDER BY checkpoint_ns LIMIT 1",
                [thread],
            ),
            Some(ns) => self.one_text(
                "SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns > ?2 \
                 ORDER BY checkpoint_ns LIMIT 1",
                [thread, ns],
            ),
        }
    }

    /// Reads what tasks of a checkpoint stored, with the values or without.
    fn writes_of(&self, thread: &str, ns: &str, id: &str, with_values: bool) -> Result<Vec<WriteRow>, Fault> {
        let path = if self.has_paths { "task_path" } else { "''" };
        let value = match with_values {
            true => "length(value), CASE WHEN length(value) > ?4 THEN NULL ELSE value END",
            false => "0, NULL",
        };
        let sql = format!(
            "SELECT task_id, {path}, idx, channel, type, {value} FROM writes WHERE thread_id = ?1 AND checkpoint_ns = ?2 \
             AND checkpoint_id = ?3 AND ?4 > 0 AND typeof(task_id) = 'text' AND typeof(idx) = 'integer' \
             AND (task_id, idx) > (?5, ?6) ORDER BY task_id, idx"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let (mut found, mut last) = (Vec::<WriteRow>::new(), (String::new(), i64::MIN));
        loop {
            let mut rows = statement.query(params![thread, ns, id, MAX_ROW, last.0, last.1])?;
            let mut moment = Moment::begin();
            let (mut more, before) = (false, found.len());
            while let Some(row) = rows.next()? {
                let read = write_row(row, with_values)?;
                let bytes = read.value.iter().flatten().map(Vec::len).sum();
                last = (read.task.clone(), read.idx);
                found.push(read);
                if moment.is_over(bytes) {
                    more = true;
                    break;
                }
            }
            self.meter.note(found.len() - before);
            if !more {
                return Ok(found);
            }
        }
    }
}

/// A file has a checkpoint with its values in one row, which is read whole.
impl RowReader for FileRows<'_> {
    fn threads_after(
        &self,
        thread: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, Fault> {
        let mut found: Vec<(String, Option<String>)> = Vec::new();
        while found.len() < limit {
            let next = match (found.last(), thread) {
                (Some((last, _)), _) => self.thread_after(last, false)?,
                (None, Some(thread)) => self.thread_after(thread, false)?,
                (None, None) => self.thread_after("", true)?,
            };
            let Some(next) = next else { break };
            let newest = self.newest(&next, "")?;
            found.push((next, newest));
        }
        Ok(found)
    }

    fn namespaces_after(&self, thread: &str, ns: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        let mut found: Vec<String> = Vec::new();
        while found.len() < limit {
            let last = found.last().map(String::as_str).or(ns);
            let Some(next) = self.ns_after(thread, last)? else {
                break;
            };
            found.push(next);
        }
        Ok(found)
    }

    fn has_namespace(&self, thread: &str, begins: &str) -> Result<bool, Fault> {
        let next = self.ns_after(thread, Some(begins))?;
        Ok(next.is_some_and(|ns| ns.starts_with(begins)))
    }

    fn writes(
        &self,
        thread: &str,
        ns: &str,
        ids: &[&str],
        with_values: bool,
    ) -> Result<Vec<Vec<WriteRow>>, Fault> {
        let each = ids.iter().map(|id| self.writes_of(thread, ns, id, with_values));
        each.collect()
    }

    fn newest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        self.one_text(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2 \
             ORDER BY checkpoint_id DESC LIMIT 1",
            [thread, ns],
        )
    }

    fn oldest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        self.one_text(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2 \
             ORDER BY checkpoint_id LIMIT 1",
            [thread, ns],
        )
    }

    fn count(&self, thread: &str, ns: &str) -> Result<u64, Fault> {
        let mut statement = self.conn.prepare_cached(
            "SELECT count(*), max(checkpoint_id) FROM (SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 \
             AND checkpoint_ns = ?2 AND checkpoint_id > ?3 ORDER BY checkpoint_id LIMIT ?4)",
        )?;
        let (mut total, mut last) = (0, String::new());
        loop {
            let (count, end) = statement
                .query_row(params![thread, ns, last, MAX_COUNTED.cast_signed()], |row| {
                    Ok((row.get::<_, i64>(0)?.cast_unsigned(), text(row, 1)?))
                })?;
            self.meter.note(count as usize);
            total += count;
            if count < MAX_COUNTED {
                return Ok(total);
            }
            last = end;
        }
    }

    fn ids(&self, thread: &str, ns: &str, before: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        // Text stands before bytes in an index: without a limit the newest is below the first of those.
        let mut statement = self.conn.prepare_cached(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2 \
             AND checkpoint_id >= '' AND checkpoint_id < ?3 ORDER BY checkpoint_id DESC LIMIT ?4",
        )?;
        let mut found: Vec<String> = Vec::new();
        loop {
            let left = limit.saturating_sub(found.len()).min(MAX_COUNTED as usize);
            let last = found.last().map(String::as_str).or(before);
            let below: &dyn ToSql = match &last {
                Some(last) => last,
                None => &FIRST_BYTES,
            };
            let page = i64::try_from(left).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![thread, ns, below, page], |row| text(row, 0))?;
            let known = found.len();
            for id in rows {
                found.push(id?);
            }
            self.meter.note(found.len() - known);
            if found.len() - known < left || left == 0 {
                return Ok(found);
            }
        }
    }

    fn checkpoints(
        &self,
        thread: &str,
        ns: &str,
        below: Option<&str>,
        limit: usize,
        _: Wanted<'_>,
    ) -> Result<Vec<CheckpointRow>, Fault> {
        let sql = format!(
            "{} AND (?4 IS NULL OR checkpoint_id < ?4) ORDER BY checkpoint_id DESC LIMIT ?5",
            select_checkpoint()
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![thread, ns, MAX_ROW, below, limit])?;
        let (mut found, mut moment) = (Vec::new(), Moment::begin());
        while let Some(row) = rows.next()? {
            let read = checkpoint_row(row)?;
            let bytes = read.checkpoint.as_ref().map_or(0, Vec::len);
            found.push(read);
            if moment.is_over(bytes) {
                break;
            }
        }
        self.meter.note(found.len());
        Ok(found)
    }

    fn checkpoint(
        &self,
        thread: &str,
        ns: &str,
        id: &str,
        _: Wanted<'_>,
    ) -> Result<Option<CheckpointRow>, Fault> {
        let sql = format!("{} AND checkpoint_id = ?4", select_checkpoint());
        let mut statement = self.conn.prepare_cached(&sql)?;
        self.meter.note(1);
        Ok(statement
            .query_row(params![thread, ns, MAX_ROW, id], checkpoint_row)
            .optional()?)
    }

    fn following(&self, thread: &str, ns: &str, id: &str, limit: usize) -> Result<Vec<CheckpointRow>, Fault> {
        let sql = format!(
            "{} AND checkpoint_id > ?4 ORDER BY checkpoint_id LIMIT ?5",
            select_checkpoint()
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![thread, ns, MAX_ROW, id, limit], checkpoint_row)?;
        let found = rows.collect::<Result<Vec<_>, _>>()?;
        self.meter.note(found.len());
        Ok(found)
    }

    fn strange(&self) -> Result<Vec<String>, Fault> {
        let mut found = Vec::new();
        // In an index other types stand before and after all text.
        for table in ["checkpoints", "writes"] {
            let many = MAX_COUNTED.cast_signed();
            let count = |condition: &str| {
                let sql =
                    format!("SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {condition} LIMIT {many})");
                let count = self.conn.query_row(&sql, [], |row| row.get::<_, i64>(0))?;
                self.meter.note(usize::try_from(count).unwrap_or(0));
                Ok::<_, Fault>(count)
            };
            let count = count("thread_id < ''")? + count("thread_id >= x''")?;
            let more = if count >= many { " or more" } else { "" };
            if count > 0 {
                found.push(format!(
                    "{count}{more} rows of {table}: their thread_id is no text"
                ));
            }
        }
        Ok(found)
    }

    fn asked(&self, thread: &str) -> Result<Vec<String>, Fault> {
        let mut statement = self.conn.prepare_cached(
            "SELECT checkpoint_id, task_id, idx, channel FROM writes WHERE thread_id = ?1 AND checkpoint_ns = '' \
             AND typeof(task_id) = 'text' AND typeof(idx) = 'integer' \
             AND (checkpoint_id, task_id, idx) > (?2, ?3, ?4) ORDER BY checkpoint_id, task_id, idx LIMIT ?5",
        )?;
        let (mut found, mut last) = (Vec::new(), (String::new(), String::new(), i64::MIN));
        loop {
            let page = i64::try_from(MAX_ROWS).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![thread, last.0, last.1, last.2, page])?;
            let mut count = 0;
            while let Some(row) = rows.next()? {
                count += 1;
                last = (text(row, 0)?, text(row, 1)?, row.get(2)?);
                if text(row, 3)? == "__interrupt__" && found.last() != Some(&last.0) {
                    found.push(last.0.clone());
                }
            }
            self.meter.note(count);
            if count < MAX_ROWS {
                return Ok(found);
            }
        }
    }

    fn items_after(&self, last: Option<(&str, &str)>) -> Result<Option<Vec<ItemRow>>, Fault> {
        let table = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'store' AND type = 'table' \
                     AND upper(ltrim(sql)) LIKE 'CREATE TABLE%'), EXISTS (SELECT 1 FROM pragma_table_info('store') \
                     WHERE name = 'expires_at')";
        let (is_there, expire): (bool, bool) = self
            .conn
            .prepare_cached(table)?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if !is_there {
            return Ok(None);
        }
        let ms =
            |column: &str| format!("CAST(round((julianday({column}) - 2440587.5) * 86400000.0) AS INTEGER)");
        let sql = format!(
            "SELECT prefix, key, length(value), CASE WHEN length(value) > ?3 THEN NULL ELSE value END, {}, {}, {} FROM store \
             WHERE typeof(prefix) = 'text' AND typeof(key) = 'text' AND (prefix, key) > (?1, ?2) ORDER BY prefix, key",
            ms("created_at"),
            ms("updated_at"),
            if expire {
                ms("expires_at")
            } else {
                "NULL".to_owned()
            }
        );
        let (prefix, key) = last.unwrap_or_default();
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut rows = statement.query(params![prefix, key, MAX_ROW])?;
        let (mut found, mut moment) = (Vec::new(), Moment::begin());
        while let Some(row) = rows.next()? {
            let time = |column: usize| row.get::<_, Option<i64>>(column);
            let value = bytes(row, 3, 2, "value")?;
            let size = value.as_ref().map_or(0, Vec::len);
            found.push(ItemRow {
                prefix: text(row, 0)?,
                key: text(row, 1)?,
                value,
                created: time(4)?.unwrap_or(0),
                updated: time(5)?.unwrap_or(0),
                expires: time(6)?,
            });
            if moment.is_over(size) {
                break;
            }
        }
        self.meter.note(found.len());
        Ok(Some(found))
    }
}

fn select_checkpoint() -> &'static str {
    "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, length(checkpoint), \
     CASE WHEN length(checkpoint) > ?3 THEN NULL ELSE checkpoint END, length(metadata), \
     CASE WHEN length(metadata) > ?3 THEN NULL ELSE metadata END \
     FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND typeof(checkpoint_id) = 'text'"
}

fn checkpoint_row(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    let metadata = match (row.get_ref(7)?, row.get_ref(6)?) {
        (ValueRef::Null, ValueRef::Null) => None,
        _ => Some(bytes(row, 7, 6, "metadata")?),
    };
    Ok(CheckpointRow {
        ns: text(row, 0)?,
        id: text(row, 1)?,
        parent: Some(text(row, 2)?).filter(|parent| !parent.is_empty()),
        kind: text(row, 3)?,
        checkpoint: bytes(row, 5, 4, "checkpoint")?,
        metadata,
        blobs: Vec::new(),
        sends: Vec::new(),
    })
}

fn write_row(row: &Row<'_>, with_values: bool) -> rusqlite::Result<WriteRow> {
    let value = match (with_values, row.get_ref(6)?, row.get_ref(5)?) {
        (false, ..) => None,
        // Nothing is stored of null.
        (true, ValueRef::Null, ValueRef::Null) => Some(Ok(Vec::new())),
        (true, ..) => Some(bytes(row, 6, 5, "value")?),
    };
    Ok(WriteRow {
        task: text(row, 0)?,
        path: text(row, 1)?,
        idx: match row.get_ref(2)? {
            ValueRef::Integer(idx) => idx,
            _ => 0,
        },
        channel: text(row, 3)?,
        kind: text(row, 4)?,
        value,
    })
}
