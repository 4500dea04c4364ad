//! States: which rows hold the values of a checkpoint.

use rusqlite::OptionalExtension;

use super::{SqliteState, View};
use crate::codec::record::Delta;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::slot::{Shape, SqliteSlot};

impl View<'_> {
    /// Builds the state of a checkpoint from the nearest snapshot and the deltas after it.
    pub(in crate::sqlite) fn state(&mut self, seq: i64, place: &str) -> Result<SqliteState, SqliteFault> {
        let mut chain = Vec::new();
        let mut state = SqliteState::default();
        let mut at = seq;
        loop {
            let value_cache = || {
                self.value_cache
                    .and_then(|(value_cache, epoch)| value_cache.state(epoch, at))
            };
            if let Some(known) = self.memo.states.get(&at).cloned().or_else(value_cache) {
                state = known;
                break;
            }
            let row: Option<(Option<i64>, i64, Vec<u8>)> = self
                .conn
                .prepare_cached(
                    "SELECT CASE typeof(parent) WHEN 'integer' THEN parent END, depth, delta
                     FROM checkpoints WHERE seq = ?1",
                )?
                .query_row([at], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((parent, depth, blob)) = row else {
                return Err(SqliteFault::corrupt(
                    place,
                    "a checkpoint that it builds on is missing",
                ));
            };
            chain.push((
                at,
                Delta::decode(&blob).map_err(|cause| SqliteFault::corrupt(place, cause))?,
            ));
            match parent {
                _ if depth == 0 => break,
                // Rows only ever build on earlier ones; anything else would be a cycle.
                Some(parent) if parent < at => at = parent,
                _ => {
                    return Err(SqliteFault::corrupt(
                        place,
                        "it does not build on an earlier checkpoint",
                    ));
                }
            }
        }
        for (at, delta) in chain.into_iter().rev() {
            let names = |row| self.names.name(self.conn, row);
            state.apply(&delta, names, |row, text| match (row, text) {
                (0, None) => None,
                (0, Some(text)) => Some(SqliteSlot::Text(text.clone())),
                (row, _) => Some(SqliteSlot::Row(row, Shape::Unread)),
            })?;
            if self.memo.keep {
                self.memo.states.insert(at, state.clone());
            } else if at == seq
                && let Some((value_cache, epoch)) = self.value_cache
            {
                value_cache.keep_state(epoch, seq, state.clone());
            }
        }
        Ok(state)
    }
}
