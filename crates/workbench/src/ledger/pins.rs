//! Pinned outputs, by the graph and the node that they are of.

use std::collections::BTreeMap;

use rusqlite::params;

use super::Ledger;
use crate::wire::{Json, Problem};

impl Ledger {
    /// Returns the pinned outputs of a graph, by node.
    pub(crate) fn pins(&self, graph: &str) -> Result<BTreeMap<String, Json>, Problem> {
        let rows: Vec<(String, String)> = self.with(|c| {
            let mut statement = c.prepare_cached("SELECT node, output FROM pins WHERE graph = ?1")?;
            let rows = statement.query_map([graph], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let read = |(node, output): (String, String)| Some((node, serde_json::from_str(&output).ok()?));
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Renames the node of a pin.
    pub(crate) fn rename_pin(&self, graph: &str, node: &str, name: &str) -> Result<(), Problem> {
        self.with(|c| {
            c.execute(
                "UPDATE OR REPLACE pins SET node = ?3 WHERE graph = ?1 AND node = ?2",
                [graph, node, name],
            )
            .map(drop)
        })
    }

    /// Pins the output of a node, or removes the pin.
    pub(crate) fn set_pin(&self, graph: &str, node: &str, output: Option<&Json>) -> Result<(), Problem> {
        let text = output.map(Json::to_string);
        self.with(|c| {
            match text {
                Some(text) => c.execute(
                    "INSERT OR REPLACE INTO pins (graph, node, output) VALUES (?1, ?2, ?3)",
                    params![graph, node, text],
                )?,
                None => c.execute("DELETE FROM pins WHERE graph = ?1 AND node = ?2", [graph, node])?,
            };
            Ok(())
        })
    }
}
