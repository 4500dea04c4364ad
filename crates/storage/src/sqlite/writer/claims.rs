//! Claims. They are compared in the transaction of the commit that shows them. The rows of threads that run are in memory,
//! so that a commit whose claim need not be written asks nothing.

use std::time::{SystemTime, UNIX_EPOCH};

use superstep::checkpoint::{ClaimId, ClaimRow, ClaimUse, Holder};

use super::*;

impl Writer {
    /// Decides about something that shows a claim; gives the row to store with it.
    pub(super) fn compare(
        &mut self,
        thread: &ThreadId,
        shown: &ClaimUse,
    ) -> Result<Option<ClaimRow>, SqliteFault> {
        if !self.claims.contains_key(thread) {
            let row = read(&self.conn, thread)?;
            if self.claims.len() >= KNOWN {
                self.claims.clear();
            }
            self.claims.insert(thread.clone(), row);
        }
        let row = self.claims.get(thread).and_then(Option::as_ref);
        let newest = || {
            let sql = "SELECT c.id FROM threads t JOIN spaces s ON s.thread = t.id AND s.ns = ''
                       JOIN checkpoints c ON c.space = s.id WHERE t.name = ?1 ORDER BY c.id DESC LIMIT 1";
            let mut read = self.conn.prepare_cached(sql)?;
            let id: Option<IdColumn> = read.query_row([thread.as_str()], |row| row.get(0)).optional()?;
            Ok::<_, SqliteFault>(id.map(|id| CheckpointId::new(id.0)))
        };
        ClaimRow::compare(row, thread, shown, now(), newest)
    }

    /// Stores what was decided by a commit that stores nothing else. The ended claim of a thread in which nothing is
    /// stored goes.
    pub(super) fn set_claim_alone(&mut self, thread: &ThreadId, row: ClaimRow) -> Result<(), SqliteFault> {
        let sql = "SELECT EXISTS (SELECT 1 FROM threads WHERE name = ?1)";
        if row.until == 0
            && !self
                .conn
                .prepare_cached(sql)?
                .query_row([thread.as_str()], |row| row.get(0))?
        {
            self.wrote = true;
            return self.drop_claim(thread);
        }
        self.set_claim(thread, row)
    }

    /// Stores what was decided.
    pub(super) fn set_claim(&mut self, thread: &ThreadId, row: ClaimRow) -> Result<(), SqliteFault> {
        self.wrote = true;
        self.conn
            .prepare_cached(
                "INSERT INTO claims (thread, claim, number, holder, name, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (thread) DO UPDATE SET claim = excluded.claim, number = excluded.number,
                 holder = excluded.holder, name = excluded.name, until = excluded.until",
            )?
            .execute(params![
                thread.as_str(),
                row.claim.as_str(),
                row.number as i64,
                &*row.holder.id,
                &*row.holder.name,
                row.until as i64,
            ])?;
        self.claims.insert(thread.clone(), Some(row));
        Ok(())
    }

    /// Removes the claim of a thread that is no longer stored.
    pub(super) fn drop_claim(&mut self, thread: &ThreadId) -> Result<(), SqliteFault> {
        self.conn
            .prepare_cached("DELETE FROM claims WHERE thread = ?1")?
            .execute([thread.as_str()])?;
        self.claims.remove(thread);
        Ok(())
    }

    /// Returns whether a run holds the thread.
    pub(super) fn is_claimed(&self, thread: &ThreadId) -> Result<bool, SqliteFault> {
        Ok(read(&self.conn, thread)?.is_some_and(|row| row.until > now()))
    }
}

/// Reads the stored claim of a thread.
pub(in crate::sqlite) fn read(conn: &Connection, thread: &ThreadId) -> Result<Option<ClaimRow>, SqliteFault> {
    let sql = "SELECT claim, number, holder, name, until FROM claims WHERE thread = ?1";
    let row = conn
        .prepare_cached(sql)?
        .query_row([thread.as_str()], |row| {
            let text = |column: usize| row.get::<_, String>(column);
            Ok(ClaimRow {
                claim: ClaimId::from(text(0)?),
                number: row.get::<_, i64>(1)?.unsigned_abs(),
                holder: Holder::new(text(2)?, text(3)?),
                until: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
            })
        })
        .optional();
    Ok(row?)
}

/// Returns the time for claims: all who share a file share the clock of its machine.
pub(in crate::sqlite) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
