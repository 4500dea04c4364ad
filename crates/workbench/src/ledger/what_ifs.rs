//! What-if grids of threads, with what came of them.

use rusqlite::{OptionalExtension, params};

use super::Ledger;
use crate::wire::{Problem, WhatIfView};
use superstep_document::text;

/// Grids that are kept of a thread, the newest.
const MAX_KEPT: u32 = 50;

impl Ledger {
    /// Stores a grid as it is now.
    pub(crate) fn keep_what_if(&self, grid: &WhatIfView) -> Result<(), Problem> {
        let body = serde_json::to_string(grid).map_err(|error| {
            Problem::new(
                "internal",
                text!(
                    "A what-if grid could not be written: {error}.",
                    error = error.to_string()
                ),
            )
        })?;
        self.with(|c| {
            c.prepare_cached("INSERT OR REPLACE INTO what_ifs (id, thread_id, body) VALUES (?1, ?2, ?3)")?
                .execute(params![grid.id, grid.thread_id, body])?;
            // Their ids sort by time.
            c.prepare_cached(
                "DELETE FROM what_ifs WHERE thread_id = ?1 AND id NOT IN \
                 (SELECT id FROM what_ifs WHERE thread_id = ?1 ORDER BY id DESC LIMIT ?2)",
            )?
            .execute(params![grid.thread_id, MAX_KEPT])
            .map(drop)
        })
    }

    /// Returns the grids of a thread, the newest first. Grids that cannot be read are left out.
    pub(crate) fn what_ifs(&self, thread_id: &str) -> Result<Vec<WhatIfView>, Problem> {
        let bodies: Vec<String> = self.with(|c| {
            let mut statement =
                c.prepare_cached("SELECT body FROM what_ifs WHERE thread_id = ?1 ORDER BY id DESC")?;
            let rows = statement.query_map([thread_id], |row| row.get(0))?;
            rows.collect()
        })?;
        let read = |body: String| {
            serde_json::from_str(&body)
                .inspect_err(|error| tracing::warn!(thread_id, %error, "a what-if grid cannot be read"))
                .ok()
        };
        Ok(bodies.into_iter().filter_map(read).collect())
    }

    /// Returns one grid.
    pub(crate) fn what_if(&self, thread_id: &str, id: &str) -> Result<Option<WhatIfView>, Problem> {
        let body = self.with(|c| {
            c.prepare_cached("SELECT body FROM what_ifs WHERE thread_id = ?1 AND id = ?2")?
                .query_row([thread_id, id], |row| row.get::<_, String>(0))
                .optional()
        })?;
        Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
    }

    /// Forgets a grid.
    pub(crate) fn remove_what_if(&self, thread_id: &str, id: &str) -> Result<(), Problem> {
        self.with(|c| {
            c.execute(
                "DELETE FROM what_ifs WHERE thread_id = ?1 AND id = ?2",
                [thread_id, id],
            )
            .map(drop)
        })
    }
}
