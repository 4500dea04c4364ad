//! Opens a database file: recognises ours, refuses others, migrates older schemas.
//!
//! `application_id` tells that the file is ours, `user_version` is the schema. Migrations are numbered SQL files,
//! applied in one transaction each; a released file is never edited.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use superstep::StorageError;

use super::fault::Fault;
use super::{SqliteOptions, Synchronous};

/// "SStp" in ASCII.
const APPLICATION_ID: i64 = 0x5353_7470;
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_checkpoints.sql"),
    include_str!("migrations/0002_shared_parts.sql"),
    include_str!("migrations/0003_store.sql"),
    include_str!("migrations/0004_short_values.sql"),
];

/// Opens the writing connection and brings the schema up to date.
pub(super) fn open_writer(path: &Path, options: SqliteOptions) -> Result<Connection, StorageError> {
    let what = "opening the database";
    let open = || -> Result<Connection, Fault> {
        let mut conn = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_CREATE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        conn.busy_timeout(options.busy_timeout)?;
        // Before anything is changed: another program's file must stay as it is.
        check(&conn, path)?;
        if conn.is_readonly("main")? {
            return Err(StorageError::Backend {
                what: format!("{what} ({})", path.display()),
                cause: "the file may not be written".to_owned(),
                remedy: "Make the file and its folder writable, or choose another file".to_owned(),
            }
            .into());
        }
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
        conn.set_prepared_statement_cache_capacity(64);
        Ok(conn)
    };
    open().map_err(|fault| fault.worded(what, path))
}

/// Opens a connection that only reads; the writer has been opened before, so the schema is known to be good.
pub(super) fn open_reader(path: &Path, options: SqliteOptions) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(options.busy_timeout)?;
    conn.pragma_update(None, "query_only", true)?;
    conn.set_prepared_statement_cache_capacity(64);
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

/// The schema version of our own or an empty file (0); an error for anything else.
fn check(conn: &Connection, path: &Path) -> Result<i64, Fault> {
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
            found: version,
            supported,
        }
        .into());
    }
    Ok(version)
}

fn migrate(conn: &mut Connection, path: &Path) -> Result<(), Fault> {
    if check(conn, path)? == MIGRATIONS.len() as i64 {
        return Ok(());
    }
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
    tx.commit()?;
    Ok(())
}
