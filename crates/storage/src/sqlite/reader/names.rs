//! Names of channels and nodes, which rows name by a number.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};
use superstep::Name;

use crate::codec::bytes::read_rows;
use crate::sqlite::fault::SqliteFault;

/// The dictionary of channel and node names of one connection. Names are never removed, so it cannot be stale.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Names {
    by_row: HashMap<i64, Name, foldhash::fast::RandomState>,
    rows: HashMap<Name, i64, foldhash::fast::RandomState>,
}

impl Names {
    fn keep(&mut self, row: i64, name: &Name) {
        self.by_row.insert(row, name.clone());
        self.rows.insert(name.clone(), row);
    }

    /// Returns the name with this row number.
    pub(in crate::sqlite) fn name(&mut self, conn: &Connection, row: i64) -> Result<Name, SqliteFault> {
        if let Some(name) = self.by_row.get(&row) {
            return Ok(name.clone());
        }
        let text: Option<String> = conn
            .prepare_cached("SELECT name FROM names WHERE id = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        let name: Name = text
            .ok_or_else(|| SqliteFault::corrupt("The table of names", format!("row {row} is missing")))?
            .into();
        self.keep(row, &name);
        Ok(name)
    }

    /// Returns the row number of a name, creating it when the name is new.
    pub(in crate::sqlite) fn row(&mut self, conn: &Connection, name: &Name) -> Result<i64, SqliteFault> {
        if let Some(row) = self.rows.get(name) {
            return Ok(*row);
        }
        let known: Option<i64> = conn
            .prepare_cached("SELECT id FROM names WHERE name = ?1")?
            .query_row([&**name], |row| row.get(0))
            .optional()?;
        let row = match known {
            Some(row) => row,
            None => conn
                .prepare_cached("INSERT INTO names (name) VALUES (?1)")?
                .insert([&**name])?,
        };
        self.keep(row, name);
        Ok(row)
    }

    pub(super) fn list(
        &mut self,
        conn: &Connection,
        blob: &[u8],
        place: &str,
    ) -> Result<Vec<Name>, SqliteFault> {
        let rows = read_rows(blob).map_err(|cause| SqliteFault::corrupt(place, cause))?;
        rows.into_iter().map(|row| self.name(conn, row)).collect()
    }
}
