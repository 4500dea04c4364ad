//! Gives SQLite connections the functions of sqlite-vec: vectors and their distances.
//!
//! An extension is C code behind a C entry point, so calling it is unsafe. That call is all there is here, and the
//! reason why this is a crate of its own: everything else in the workspace forbids unsafe code.
#![deny(missing_docs)]

use std::ffi::{c_char, c_int};
use std::ptr::{null, null_mut};

use rusqlite::{Connection, ffi};

/// Entry point through which SQLite calls an extension.
type Entry =
    unsafe extern "C" fn(*mut ffi::sqlite3, *mut *mut c_char, *const ffi::sqlite3_api_routines) -> c_int;

/// Registers `vec_distance_cosine` and its relatives on a connection.
pub fn load(conn: &Connection) -> rusqlite::Result<()> {
    // SAFETY: the crate declares the entry point without its parameters; this is the signature it has in C, which
    // `sqlite3_auto_extension` asks of it, too.
    let entry: Entry = unsafe { std::mem::transmute(sqlite_vec::sqlite3_vec_init as unsafe extern "C" fn()) };
    // SAFETY: the handle is open for as long as `conn` is borrowed. Built into the program (`SQLITE_CORE`), the
    // extension uses neither the place for a message nor the table of routines.
    let code = unsafe { entry(conn.handle(), null_mut(), null()) };
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(rusqlite::Error::SqliteFailure(
        ffi::Error::new(code),
        Some("sqlite-vec could not be registered".to_owned()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_known() {
        let conn = Connection::open_in_memory().expect("opens");
        load(&conn).expect("loads");
        let bytes = |numbers: [f32; 2]| numbers.map(f32::to_le_bytes).concat();
        let distance: f64 = conn
            .query_row(
                "SELECT vec_distance_cosine(?1, ?2)",
                [bytes([1.0, 0.0]), bytes([0.0, 3.0])],
                |row| row.get(0),
            )
            .expect("computes");
        assert!((distance - 1.0).abs() < 1e-6);
    }
}
