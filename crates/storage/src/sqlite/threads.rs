//! The list of threads, in the order of the newest checkpoint of each, which is kept in memory; summaries are read only as
//! far as the page goes.

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};
use superstep::checkpoint::{CheckpointHead, ListQuery, Metadata, StorageError, ThreadQuery, ThreadSummary};
use superstep::{CheckpointId, Name, ThreadId};

use super::columns::{IdColumn, time_text};
use super::fault::SqliteFault;
use super::reader::View;
use super::roster::{KeptRoster, NewestHead, Roster};
use super::space::Space;
use super::writer::epoch;
use crate::base::quarantine::passed_over;

/// Tasks of a checkpoint that wait, and that have failed.
const OPEN: &str = "
    SELECT (SELECT count(*) FROM writes w WHERE w.checkpoint = ?1 AND w.status > 0 AND w.status & 1),
           (SELECT count(*) FROM writes w WHERE w.checkpoint = ?1 AND w.status > 0 AND w.status & 2)";

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
        if all.search.is_none() && all.status.is_none() && all.filter.is_empty() && all.idle_since.is_none() {
            return Ok(self.roster()?.heads().len() as u64);
        }
        let mut count = 0;
        self.matching(&all, |_, _, _| {
            count += 1;
            Ok(true)
        })?;
        Ok(count)
    }

    fn roster(&mut self) -> Result<Arc<Roster>, SqliteFault> {
        let (conn, kept) = (self.conn, self.roster);
        let read = |row: &Row<'_>, space: &Space| {
            let head = self
                .head(row, space)
                .and_then(|head| Ok(NewestHead::new(row, space, &head)?));
            let thread = &space.thread;
            match head.map_err(|fault| fault.at(|| format!("The newest checkpoint of thread {thread}"))) {
                Ok(head) => Ok(Some(head)),
                Err(fault) => skip(thread, fault).map(|()| None),
            }
        };
        let epoch = epoch(conn).ok();
        match kept {
            Some(kept) => kept.at(conn, epoch, read),
            None => KeptRoster::default().at(conn, epoch, read),
        }
    }

    /// Calls `each` with the matching threads in order, until it says that it has enough.
    fn matching(
        &mut self,
        query: &ThreadQuery,
        mut each: impl FnMut(&mut Self, Space, CheckpointId) -> Result<bool, SqliteFault>,
    ) -> Result<(), SqliteFault> {
        let roster = self.roster()?;
        let heads = match &query.after {
            Some(place) => roster.after(place),
            None => roster.heads(),
        };
        for head in heads {
            let thread = &head.thread;
            let light = self
                .light(head, query)
                .map_err(|fault| fault.at(|| format!("The newest checkpoint of thread {thread}")));
            match light {
                Ok(light) if query.matches(&light) => {
                    let space = Space {
                        row: head.space,
                        thread: thread.clone(),
                        ns: "".into(),
                    };
                    if !each(self, space, light.head.id)? {
                        break;
                    }
                }
                Ok(_) => {}
                Err(fault) => skip(thread, fault)?,
            }
        }
        Ok(())
    }

    /// Builds as much of a summary as the query needs.
    fn light(&mut self, newest: &NewestHead, query: &ThreadQuery) -> Result<ThreadSummary, SqliteFault> {
        let damaged = |cause: String| SqliteFault::corrupt("The newest checkpoint", cause);
        let (parents, user) = match query.filter.is_empty() {
            true => Default::default(),
            false => self.meta(newest.meta, "The newest checkpoint")?,
        };
        let (interrupted, failed) = match query.status {
            Some(_) => self
                .conn
                .prepare_cached(OPEN)?
                .query_row([newest.seq], |row| Ok((row.get(0)?, row.get(1)?)))?,
            None => (0, 0),
        };
        let ts = match query.idle_since {
            Some(_) => time_text(ValueRef::from(&newest.ts)).map_err(|error| damaged(error.to_string()))?,
            None => String::new(),
        };
        let head = CheckpointHead {
            ns: "".into(),
            id: CheckpointId::new(newest.id()),
            parent: None,
            ts,
            metadata: Metadata {
                source: newest.source,
                step: newest.step,
                parents,
                user,
            },
            // Which nodes these are is not asked.
            next: if newest.has_next {
                vec![Name::from("")]
            } else {
                Vec::new()
            },
            updated_channels: None,
            interrupted,
            failed,
        };
        Ok(ThreadSummary {
            thread: newest.thread.clone(),
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
