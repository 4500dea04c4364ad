//! Breakpoints, by the graph that they are in.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::Ledger;
use crate::wire::{Breakpoint, Problem};
use superstep_document::text;

fn stored(connection: &Connection, graph: &str) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT body FROM breakpoints WHERE graph = ?1")?
        .query_row([graph], |row| row.get::<_, String>(0))
        .optional()
}

impl Ledger {
    /// Returns the breakpoints of a graph; none where nothing was kept.
    pub(crate) fn breakpoints(&self, graph: &str) -> Result<Vec<Breakpoint>, Problem> {
        let Some(body) = self.with(|c| stored(c, graph))? else {
            return Ok(Vec::new());
        };
        serde_json::from_str(&body).map_err(|error| {
            Problem::new(
                "storage",
                text!(
                    "The breakpoints of {graph} cannot be read: {error}.",
                    graph,
                    error = error.to_string()
                ),
            )
            .remedy(text!("Set them again; that takes the place of what is stored."))
        })
    }

    /// Changes the breakpoints of a graph as they are stored, in one transaction: no other program comes between. Returns
    /// them when `change` says that it changed any. What cannot be read is replaced.
    pub(crate) fn change_breakpoints(
        &self,
        graph: &str,
        change: impl FnOnce(&mut Vec<Breakpoint>) -> bool,
    ) -> Result<Option<Vec<Breakpoint>>, Problem> {
        self.with(|c| {
            let transaction = c.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let body = stored(&transaction, graph)?;
            let mut points: Vec<Breakpoint> = body
                .and_then(|body| serde_json::from_str(&body).ok())
                .unwrap_or_default();
            if !change(&mut points) {
                return Ok(None);
            }
            if points.is_empty() {
                transaction.execute("DELETE FROM breakpoints WHERE graph = ?1", [graph])?;
            } else {
                let body = serde_json::json!(points).to_string();
                transaction
                    .prepare_cached("INSERT OR REPLACE INTO breakpoints (graph, body) VALUES (?1, ?2)")?
                    .execute([graph, &body])?;
            }
            transaction.commit()?;
            Ok(Some(points))
        })
    }

    /// Copies the breakpoints of a graph that was saved under another name: the copy stops where the original does,
    /// unless it has breakpoints already.
    pub(crate) fn copy_breakpoints(&self, from: &str, to: &str) -> Result<(), Problem> {
        self.with(|c| {
            c.execute(
                "INSERT OR IGNORE INTO breakpoints (graph, body) SELECT ?2, body FROM breakpoints WHERE graph = ?1",
                [from, to],
            )
            .map(drop)
        })
    }
}
