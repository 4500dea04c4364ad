//! Breakpoints, by the graph that they are in.

use rusqlite::OptionalExtension;

use super::Ledger;
use crate::wire::{Breakpoint, Problem};
use superstep_document::text;

impl Ledger {
    /// Returns the breakpoints of a graph; none where nothing was kept.
    pub(crate) fn breakpoints(&self, graph: &str) -> Result<Vec<Breakpoint>, Problem> {
        let body = self.with(|c| {
            c.prepare_cached("SELECT body FROM breakpoints WHERE graph = ?1")?
                .query_row([graph], |row| row.get::<_, String>(0))
                .optional()
        })?;
        let Some(body) = body else { return Ok(Vec::new()) };
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

    /// Keeps these as the breakpoints of a graph.
    pub(crate) fn set_breakpoints(&self, graph: &str, points: &[Breakpoint]) -> Result<(), Problem> {
        if points.is_empty() {
            return self.with(|c| {
                c.execute("DELETE FROM breakpoints WHERE graph = ?1", [graph])
                    .map(drop)
            });
        }
        let body =
            serde_json::Value::from_iter(points.iter().map(|point| serde_json::json!(point))).to_string();
        self.with(|c| {
            c.prepare_cached("INSERT OR REPLACE INTO breakpoints (graph, body) VALUES (?1, ?2)")?
                .execute([graph, &body])
                .map(drop)
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
