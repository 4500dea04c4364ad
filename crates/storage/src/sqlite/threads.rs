//! The list of threads: found and put in order by one walk over the newest checkpoint of each, read only as far as the
//! page goes.

use rusqlite::types::{ToSqlOutput, Value as Sql, ValueRef};
use rusqlite::{OptionalExtension, Row, params};
use superstep::checkpoint::{CheckpointHead, ListQuery, Metadata, StorageError, ThreadQuery, ThreadSummary};
use superstep::{CheckpointId, Name, ThreadId};

use super::columns::{IdColumn, id_column, time_text};
use super::fault::SqliteFault;
use super::reader::{Space, View};
use crate::base::quarantine::passed_over;
use crate::codec::plan::SOURCES;

/// Every thread with a root checkpoint after a place, the one with the newest head first. What only some questions
/// need is looked up when they do: whether tasks of the head wait or have failed.
const NEWEST: &str = "
    SELECT t.name, s.id, h.id, h.ts, h.source, h.step, h.meta, h.next IS NOT NULL,
           CASE WHEN ?3 THEN
               (SELECT count(*) FROM writes w WHERE w.checkpoint = h.seq AND w.status > 0 AND w.status & 1) END,
           CASE WHEN ?3 THEN
               (SELECT count(*) FROM writes w WHERE w.checkpoint = h.seq AND w.status > 0 AND w.status & 2) END
    FROM threads t
    CROSS JOIN spaces s ON s.thread = t.id AND s.ns = ''
    CROSS JOIN checkpoints h ON h.space = s.id
        AND h.id = (SELECT max(c.id) FROM checkpoints c INDEXED BY checkpoints_by_id WHERE c.space = s.id)
    WHERE ?1 IS NULL OR h.id < ?1 OR (h.id = ?1 AND t.name > ?2)
    ORDER BY h.id DESC, t.name";

impl View<'_> {
    pub(super) fn threads(&mut self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, SqliteFault> {
        let mut found = Vec::new();
        let limit = query.limit.unwrap_or(usize::MAX);
        if limit == 0 {
            return Ok(found);
        }
        self.matching(query, |view, space, id| {
            match view.summary(&space, id) {
                Ok(summary) => found.push(summary),
                Err(fault) => skip(&space.thread, fault)?,
            }
            Ok(found.len() < limit)
        })?;
        Ok(found)
    }

    pub(super) fn thread(&mut self, thread: &ThreadId) -> Result<Option<ThreadSummary>, SqliteFault> {
        let found: Option<(i64, Option<IdColumn>)> = self
            .conn
            .prepare_cached(
                "SELECT s.id, (SELECT max(c.id) FROM checkpoints c WHERE c.space = s.id)
                 FROM threads t JOIN spaces s ON s.thread = t.id AND s.ns = '' WHERE t.name = ?1",
            )?
            .query_row([thread.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((row, Some(head))) = found else {
            return Ok(None);
        };
        let space = Space {
            row,
            thread: thread.clone(),
            ns: "".into(),
        };
        self.summary(&space, CheckpointId::new(head.0)).map(Some)
    }

    pub(super) fn count_threads(&mut self, query: &ThreadQuery) -> Result<u64, SqliteFault> {
        let all = query.clone().after(None);
        let mut count = 0;
        self.matching(&all, |_, _, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    /// Calls `each` with the matching threads in order, until it says that it has enough.
    fn matching(
        &mut self,
        query: &ThreadQuery,
        mut each: impl FnMut(&mut Self, Space, CheckpointId) -> Result<bool, SqliteFault>,
    ) -> Result<(), SqliteFault> {
        let conn = self.conn;
        let mut statement = conn.prepare_cached(NEWEST)?;
        let (head, name) = match &query.after {
            Some(place) => (id_column(place.head.as_str()), Some(place.thread.as_str())),
            None => (ToSqlOutput::Owned(Sql::Null), None),
        };
        let mut rows = statement.query(params![head, name, query.status.is_some()])?;
        while let Some(row) = rows.next()? {
            let thread = ThreadId::new(row.get::<_, String>(0)?);
            let light = self
                .light(row, thread.clone())
                .map_err(|fault| fault.at(|| format!("The newest checkpoint of thread {thread}")));
            match light {
                Ok(light) if query.matches(&light) => {
                    let space = Space {
                        row: row.get(1)?,
                        thread,
                        ns: "".into(),
                    };
                    if !each(self, space, light.head.id)? {
                        break;
                    }
                }
                Ok(_) => {}
                Err(fault) => skip(&thread, fault)?,
            }
        }
        Ok(())
    }

    /// Builds as much of a summary as the query needs.
    fn light(&mut self, row: &Row<'_>, thread: ThreadId) -> Result<ThreadSummary, SqliteFault> {
        let source: u8 = row.get(4)?;
        let (parents, user) = self.meta(row.get(6)?, "The newest checkpoint")?;
        let next: bool = row.get(7)?;
        let head = CheckpointHead {
            ns: "".into(),
            id: CheckpointId::new(row.get::<_, IdColumn>(2)?.0),
            parent: None,
            ts: time_text(row.get_ref(3)?).map_err(|e| SqliteFault::corrupt("The newest checkpoint", e))?,
            metadata: Metadata {
                source: *SOURCES
                    .get(usize::from(source))
                    .ok_or_else(|| SqliteFault::corrupt("The newest checkpoint", "its source is unknown"))?,
                step: row.get(5)?,
                parents,
                user,
            },
            // Which nodes these are is not asked.
            next: if next { vec![Name::from("")] } else { Vec::new() },
            updated_channels: None,
            interrupted: row.get::<_, Option<u32>>(8)?.unwrap_or(0),
            failed: row.get::<_, Option<u32>>(9)?.unwrap_or(0),
        };
        Ok(ThreadSummary {
            thread,
            head,
            created: String::new(),
            checkpoints: 0,
        })
    }

    fn summary(&mut self, space: &Space, id: CheckpointId) -> Result<ThreadSummary, SqliteFault> {
        let (checkpoints, created): (i64, String) = self
            .conn
            .prepare_cached(
                "SELECT (SELECT count(*) FROM checkpoints WHERE space = ?1),
                 (SELECT ts FROM checkpoints WHERE space = ?1 ORDER BY id LIMIT 1)",
            )?
            .query_row([space.row], |row| {
                let created = match row.get_ref(1)? {
                    ValueRef::Null => String::new(),
                    ts => time_text(ts)?,
                };
                Ok((row.get(0)?, created))
            })?;
        let query = ListQuery::new().id(id);
        let head = self.select_in(&query, space, 1)?.pop();
        let (_, head) = head
            .ok_or_else(|| SqliteFault::corrupt(format!("Thread {}", space.thread), "its head is missing"))?;
        Ok(ThreadSummary {
            thread: space.thread.clone(),
            head,
            created,
            checkpoints: checkpoints.unsigned_abs(),
        })
    }
}

/// Skips a damaged thread, which must not hide the others.
fn skip(thread: &ThreadId, fault: SqliteFault) -> Result<(), SqliteFault> {
    match fault {
        SqliteFault::Storage(error @ StorageError::Corrupt { .. }) => {
            passed_over(thread, &error);
            Ok(())
        }
        other => Err(other),
    }
}
