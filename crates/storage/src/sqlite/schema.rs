//! Opens a database file: recognises ours, refuses others, migrates older schemas.
//!
//! `application_id` says that the file is ours, `user_version` is the schema. Migrations are numbered SQL files,
//! applied in one transaction each; a released file is never edited.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use superstep::checkpoint::StorageError;

use super::fault::SqliteFault;
use super::{SqliteOptions, Synchronous, waiting};
use crate::base::handles::{MORE_HANDLES, lack_of_handles};
use crate::base::unwritable::{log_of, may_be_written, open_to_read};

/// "SStp" in ASCII.
const APPLICATION_ID: i64 = 0x5353_7470;
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_checkpoints.sql"),
    include_str!("migrations/0002_shared_parts.sql"),
    include_str!("migrations/0003_store.sql"),
    include_str!("migrations/0004_short_values.sql"),
    include_str!("migrations/0005_fewer_pages.sql"),
    include_str!("migrations/0006_waiting.sql"),
    include_str!("migrations/0007_claims.sql"),
];

/// What is reported to go wrong when a file cannot be opened.
pub(super) const OPENING: &str = "opening the database";

/// Opens the writing connection and brings the schema up to date; nothing when the file may only be read.
pub(super) fn open(path: &Path, options: SqliteOptions) -> Result<Option<Connection>, StorageError> {
    let what = OPENING;
    let mut refused = None;
    if may_be_written(path) {
        match open_writer(path, options) {
            Ok(conn) => return Ok(Some(conn)),
            Err(fault) if fault.is_refusal() && lack_of_handles(path).is_some() => {
                return Err(StorageError::Backend {
                    what: format!("{what} ({})", path.display()),
                    cause: "the program has as many files open as it may".to_owned(),
                    remedy: MORE_HANDLES.to_owned(),
                });
            }
            // The folder may not be written, in which the log would be.
            Err(fault) if fault.is_refusal() && path.is_file() => refused = Some(fault),
            Err(fault) => return Err(fault.worded(what, path)),
        }
    }
    let reading = || {
        let conn = open_only_reader(path, options)?;
        let version = check(&conn, path)?;
        if version == MIGRATIONS.len() as i64 {
            return Ok(());
        }
        // It was made just now and no release wrote anything into it: what kept us from writing is what is wrong.
        if let (0, Some(refused)) = (version, refused) {
            return Err(refused);
        }
        Err(SqliteFault::from(StorageError::Backend {
            what: format!("{what} ({})", path.display()),
            cause: "an older release wrote it, and it may not be written to bring it up to date".to_owned(),
            remedy: "Make the file and its folder writable, or copy the file to a folder that is".to_owned(),
        }))
    };
    match reading() {
        Ok(()) => Ok(None),
        Err(fault) if fault.is_refusal() && log_of(path).exists() => Err(StorageError::Backend {
            what: format!("{what} ({})", path.display()),
            cause: format!(
                "the newest commits are in {}, which cannot be read where nothing may be written",
                log_of(path).display()
            ),
            remedy: "Copy both files to a folder that may be written, and open the copy".to_owned(),
        }),
        Err(fault) => Err(fault.worded(what, path)),
    }
}

fn open_writer(path: &Path, options: SqliteOptions) -> Result<Connection, SqliteFault> {
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(options.busy_timeout)?;
    keep_statements(&conn)?;
    // Before anything is changed: another program's file must stay as it is.
    check(&conn, path)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(
        None,
        "synchronous",
        match options.synchronous {
            Synchronous::Normal => "NORMAL",
            Synchronous::Full => "FULL",
        },
    )?;
    conn.pragma_update(None, "journal_size_limit", 64 << 20)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    migrate(&mut conn, path)?;
    Ok(conn)
}

/// Opens a connection to a file that may only be read.
pub(super) fn open_only_reader(path: &Path, options: SqliteOptions) -> Result<Connection, SqliteFault> {
    let conn = open_to_read(path)?;
    conn.busy_timeout(options.busy_timeout)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    keep_statements(&conn)?;
    Ok(conn)
}

/// Keeps statements, so that they are prepared once. By itself SQLite prepares those whose best plan may depend on a
/// value again for every other value, which takes longer than most of ours run. The schema of a file may come from
/// somebody else, so what it calls may do nothing but calculate.
fn keep_statements(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_prepared_statement_cache_capacity(64);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Opens a connection that only reads; the writer has been opened before, so the schema is known to be good.
pub(super) fn open_reader(path: &Path, options: SqliteOptions) -> Result<Connection, SqliteFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(options.busy_timeout)?;
    conn.pragma_update(None, "query_only", true)?;
    keep_statements(&conn)?;
    Ok(conn)
}

/// Opens a connection that folds the write-ahead log into the file.
pub(super) fn open_folder(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

fn number(conn: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, pragma, |row| row.get(0))
}

/// Returns the schema version of our own or an empty file (0); an error for anything else.
fn check(conn: &Connection, path: &Path) -> Result<i64, SqliteFault> {
    let (application, version) = (number(conn, "application_id")?, number(conn, "user_version")?);
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    let ours = application == APPLICATION_ID || (application == 0 && version == 0 && tables == 0);
    if !ours {
        return Err(StorageError::Backend {
            what: format!("opening the database ({})", path.display()),
            cause: "it belongs to another program".to_owned(),
            remedy: "Choose another file; this one was not changed".to_owned(),
        }
        .into());
    }
    let supported = MIGRATIONS.len() as i64;
    if version > supported {
        return Err(StorageError::NewerSchema {
            place: path.display().to_string(),
            found: version,
            supported,
        }
        .into());
    }
    refuse_foreign(conn, path)?;
    Ok(version)
}

/// Refuses a file in which something else than our own triggers would work along with every commit, or a view would stand
/// in the place of a table.
fn refuse_foreign(conn: &Connection, path: &Path) -> Result<(), SqliteFault> {
    let mut parts =
        conn.prepare("SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")?;
    let mut parts = parts.query([])?;
    while let Some(part) = parts.next()? {
        let (kind, name): (String, String) = (part.get(0)?, part.get(1)?);
        // SQLite keeps what made a trigger, letter by letter.
        let made: String = part.get(2)?;
        if !MIGRATIONS.iter().any(|migration| migration.contains(&made)) {
            return Err(StorageError::Backend {
                what: format!("opening the database ({})", path.display()),
                cause: format!("it has the {kind} {name:?}, which Superstep did not make and which would work along with every run"),
                remedy: format!("Find out who made it, remove it (DROP {}), or choose another file", kind.to_uppercase()),
            }
            .into());
        }
    }
    Ok(())
}

fn migrate(conn: &mut Connection, path: &Path) -> Result<(), SqliteFault> {
    if check(conn, path)? != MIGRATIONS.len() as i64 {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        // Again, under the lock: another process may just have done it.
        let version = check(&tx, path)?;
        for (index, sql) in MIGRATIONS
            .iter()
            .enumerate()
            .skip(usize::try_from(version).unwrap_or(0))
        {
            tracing::info!(file = %path.display(), schema = index + 1, "migrating the database");
            tx.execute_batch(sql)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        if version == 0 {
            // Of a new file nothing can be damaged, and its disk is waited for once.
            steps_of_index(&tx)?;
            waiting::fill(&tx)?;
        }
        tx.commit()?;
    }
    if has_index_of_steps(conn)? {
        let moved = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|tx| {
                if has_index_of_steps(&tx)? {
                    steps_of_index(&tx)?;
                }
                tx.commit()
            });
        if let Err(error) = moved {
            tracing::warn!(%error, file = %path.display(), "checkpoints are not found by their step at once");
        }
    }
    // Where that cannot be read, a check says so.
    if waiting::is_unfilled(conn).unwrap_or(false) {
        let filled = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|tx| {
                if waiting::is_unfilled(&tx)? {
                    waiting::fill(&tx)?;
                }
                tx.commit()
            });
        if let Err(error) = filled {
            tracing::warn!(%error, file = %path.display(), "not every question that waits is listed");
        }
    }
    Ok(())
}

fn has_index_of_steps(conn: &Connection) -> rusqlite::Result<bool> {
    let found = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'checkpoints_by_step')";
    conn.query_row(found, [], |row| row.get(0))
}

/// Completes the migration to schema 5: the index that the table of steps replaces fills it, because it has exactly
/// what is needed, in order, and is dropped. This is a transaction of its own, because one that met a damaged page
/// cannot be committed, and with such a page the rest of the file must still be readable. Nothing depends on it: anyone
/// who looks for a step also looks at what is not in the table.
fn steps_of_index(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "INSERT OR IGNORE INTO steps SELECT space, step, seq FROM checkpoints INDEXED BY checkpoints_by_step;
         UPDATE epochs SET stepped = (SELECT coalesce(max(seq), 0) FROM checkpoints);
         DROP INDEX checkpoints_by_step",
    )
}
