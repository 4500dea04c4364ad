//! Reads checkpoints back: heads without values, states from deltas, values from chains of list rows.

mod names;
mod states;
mod tuples;
mod values;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::collections::HashMap;
use superstep::checkpoint::{ChannelValues, CheckpointHead, CheckpointTuple, ListQuery, Metadata};
use superstep::value::Object;
use superstep::{CheckpointId, Name, ThreadId, Value};

use crate::codec::encoding::ValueDecoder;
use crate::codec::plan::{self, SOURCES, read_metadata};
use crate::codec::value_cache::ValueCache;

use super::columns::{IdColumn, id_column, time_text};
use super::fault::SqliteFault;
use super::roster::KeptRoster;
use super::slot::SqliteSlot;
use super::space::{Space, head};

pub(super) use names::Names;
pub(super) use tuples::refs_of_writes;

/// Versions and the places of the values of one checkpoint.
pub(super) type SqliteState = plan::ChannelState<SqliteSlot>;

/// Metadata without source and step.
pub(super) type Meta = (Object, Object);

/// Data that one read operation has already decoded. With `keep`, prefixes are kept too: a listing of a whole thread
/// then decodes every row once.
#[derive(Debug, Default)]
pub(super) struct Memo {
    keep: bool,
    states: HashMap<i64, SqliteState>,
    values: HashMap<i64, Value>,
    parts: HashMap<i64, Value, foldhash::fast::RandomState>,
}

/// Metadata that one connection has decoded, by row.
#[derive(Debug, Default)]
pub(super) struct Metas {
    epoch: Option<i64>,
    rows: HashMap<i64, Meta>,
}

/// Metadata that is kept from one operation to the next.
const METAS: usize = 1024;

impl Metas {
    /// Begins an operation: numbers of rows that were removed since may have been reused.
    pub(super) fn at(&mut self, epoch: Option<i64>) {
        if epoch.is_none() || self.epoch != epoch || self.rows.len() > METAS {
            self.rows.clear();
        }
        self.epoch = epoch;
    }
}

impl Memo {
    /// Keeps everything that it meets.
    pub(super) fn keeping() -> Self {
        Self {
            keep: true,
            ..Self::default()
        }
    }
}

/// One read operation on a connection.
pub(super) struct View<'a> {
    pub(super) conn: &'a Connection,
    pub(super) metas: &'a mut Metas,
    pub(super) names: &'a mut Names,
    pub(super) decoder: &'a mut ValueDecoder,
    pub(super) memo: Memo,
    /// What is in memory, and the count of removals at the moment that is read.
    pub(super) value_cache: Option<(&'a ValueCache<SqliteState>, i64)>,
    /// What is kept of the list of threads; `None` where what is seen may be undone.
    pub(super) roster: Option<&'a KeptRoster>,
    /// Only what is decoded already is wanted: the rest is [`SqliteFault::Cold`].
    pub(super) hurry: bool,
}

/// Writes that are read in a hurry.
const FEW: usize = 64;

const NEWEST: &str = head!(
    "checkpoints c INDEXED BY checkpoints_by_id LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.space = ?1 AND c.id < ?2 ORDER BY c.id DESC"
);
const OF_STEP: &str = head!(
    "checkpoints c NOT INDEXED LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.seq IN (SELECT seq FROM steps WHERE space = ?1 AND step = ?3 UNION ALL
                     SELECT seq FROM checkpoints NOT INDEXED WHERE seq > coalesce((SELECT stepped FROM epochs), 0)
                     AND space = ?1 AND step = ?3)
     AND c.space = ?1 AND c.id < ?2 AND c.step = ?3 ORDER BY c.id DESC"
);
const BY_ID: &str = head!(
    "checkpoints c INDEXED BY checkpoints_by_id LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.space = ?1 AND c.id < ?2 AND c.id = ?3"
);
/// Sorts after every id: longer than any UUID of the same bytes, and blobs sort after text.
const AFTER_ALL: &[u8] = &[0xff; 17];

impl View<'_> {
    pub(super) fn get(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, SqliteFault> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(ns)
            .id(id.cloned())
            .limit(1);
        Ok(self.tuples(&query)?.pop())
    }

    pub(super) fn list(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, SqliteFault> {
        self.memo = Memo::keeping();
        self.tuples(query)
    }

    fn tuples(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, SqliteFault> {
        let spaces = self.spaces(query)?;
        let heads = self.select(query, &spaces)?;
        heads
            .into_iter()
            .map(|(space, seq, head)| self.tuple(&spaces[space], seq, head))
            .collect()
    }

    pub(super) fn heads(&mut self, query: &ListQuery) -> Result<Vec<CheckpointHead>, SqliteFault> {
        let spaces = self.spaces(query)?;
        Ok(self
            .select(query, &spaces)?
            .into_iter()
            .map(|(_, _, head)| head)
            .collect())
    }

    pub(super) fn values(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, SqliteFault> {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(ns)
            .id(id.cloned())
            .limit(1);
        let spaces = self.spaces(&query)?;
        let Some((space, seq, head)) = self.select(&query, &spaces)?.pop() else {
            return Ok(None);
        };
        let place = spaces[space].place(&head.id);
        let state = self.state(seq, &place)?;
        let mut values = ChannelValues::new();
        for key in keys {
            if let Some(slot) = state.values.get(key) {
                values.insert(key.clone(), self.channel(key, slot, &place)?);
            }
        }
        Ok(Some(values))
    }

    pub(super) fn heads_with(
        &mut self,
        query: &ListQuery,
        keys: &[Name],
    ) -> Result<Vec<(CheckpointHead, ChannelValues)>, SqliteFault> {
        self.memo = Memo::keeping();
        let spaces = self.spaces(query)?;
        let mut found = Vec::new();
        for (space, seq, head) in self.select(query, &spaces)? {
            let place = spaces[space].place(&head.id);
            let state = self.state(seq, &place)?;
            let mut values = ChannelValues::new();
            for (key, slot) in &state.values {
                let value = match keys.contains(key) {
                    true => self.channel(key, slot, &place)?,
                    false => Value::Null,
                };
                values.insert(key.clone(), value);
            }
            found.push((head, values));
        }
        Ok(found)
    }

    pub(super) fn spaces(&self, query: &ListQuery) -> Result<Vec<Space>, SqliteFault> {
        let read = |row: &Row<'_>| {
            Ok(Space {
                row: row.get(0)?,
                thread: ThreadId::new(row.get::<_, String>(1)?),
                ns: row.get::<_, String>(2)?.into(),
            })
        };
        let ns = query.ns.as_deref();
        let thread = query.thread.as_ref().map(ThreadId::as_str);
        // Said in the statement and not by a value, so that the index is used whatever the value.
        let of_thread = if thread.is_some() {
            "t.name = ?1"
        } else {
            "?1 IS NULL"
        };
        let of_ns = if ns.is_some() { "s.ns = ?2" } else { "?2 IS NULL" };
        let sql = format!(
            "SELECT s.id, t.name, s.ns FROM threads t JOIN spaces s ON s.thread = t.id
             WHERE {of_thread} AND {of_ns} ORDER BY t.name, s.ns"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let spaces = statement
            .query_map(params![thread, ns], read)?
            .collect::<Result<_, _>>()?;
        Ok(spaces)
    }

    /// Selects matching heads with the index of their space and their row, newest first.
    fn select(
        &mut self,
        query: &ListQuery,
        spaces: &[Space],
    ) -> Result<Vec<(usize, i64, CheckpointHead)>, SqliteFault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for (index, space) in spaces.iter().enumerate() {
            found.extend(
                self.select_in(query, space, limit)?
                    .into_iter()
                    .map(|(seq, head)| (index, seq, head)),
            );
        }
        if spaces.len() > 1 {
            // Stable: equal ids of copied threads stay in thread and namespace order.
            found.sort_by(|(_, _, a), (_, _, b)| b.id.cmp(&a.id));
            found.truncate(limit);
        }
        Ok(found)
    }

    pub(super) fn select_in(
        &mut self,
        query: &ListQuery,
        space: &Space,
        limit: usize,
    ) -> Result<Vec<(i64, CheckpointHead)>, SqliteFault> {
        let before = match &query.before {
            Some(id) => id_column(id.as_str()),
            None => ToSqlOutput::Borrowed(ValueRef::Blob(AFTER_ALL)),
        };
        let id = query.id.as_ref().map(|id| id_column(id.as_str()));
        // Only an integer can equal a step; anything else is left to the general comparison, which then finds none.
        let step = query.filter.get("step").and_then(Value::as_i64);
        let conn = self.conn;
        let mut statement;
        let mut rows = match (&id, &step) {
            (Some(id), _) => {
                statement = conn.prepare_cached(BY_ID)?;
                statement.query(params![space.row, before, id])?
            }
            (None, Some(step)) => {
                statement = conn.prepare_cached(OF_STEP)?;
                statement.query(params![space.row, before, step as &dyn ToSql])?
            }
            (None, None) => {
                statement = conn.prepare_cached(NEWEST)?;
                statement.query(params![space.row, before])?
            }
        };
        let mut found = Vec::new();
        while found.len() < limit {
            let Some(row) = rows.next()? else { break };
            let head = self.head(row, space);
            let head =
                head.map_err(|fault| fault.at(|| format!("A checkpoint of thread {}", space.thread)))?;
            if head.metadata.matches(&query.filter) {
                found.push((row.get(0)?, head));
            }
        }
        Ok(found)
    }

    /// Reads the head in a row of [`head!`].
    pub(super) fn head(&mut self, row: &Row<'_>, space: &Space) -> Result<CheckpointHead, SqliteFault> {
        let id = CheckpointId::new(row.get::<_, IdColumn>(1)?.0);
        let place = space.place(&id);
        let damaged = |cause: &str| SqliteFault::corrupt(&place, cause);
        let parent = match row.get_ref(2)? {
            ValueRef::Null => None,
            ValueRef::Integer(_) => match row.get::<_, Option<IdColumn>>(3)? {
                Some(id) => Some(id.0),
                None => return Err(damaged("its parent is missing")),
            },
            // The parent was never stored here: its id is kept as it was given.
            _ => Some(row.get::<_, IdColumn>(2)?.0),
        };
        let source: u8 = row.get(5)?;
        let (parents, user) = self.meta(row.get(7)?, &place)?;
        let next = match row.get_ref(8)? {
            ValueRef::Blob(blob) => self.names.list(self.conn, blob, &place)?,
            _ => Vec::new(),
        };
        let updated_channels = match row.get_ref(9)? {
            ValueRef::Blob(blob) => Some(self.names.list(self.conn, blob, &place)?),
            _ => None,
        };
        Ok(CheckpointHead {
            ns: space.ns.clone(),
            parent: parent.map(CheckpointId::new),
            ts: time_text(row.get_ref(4)?).map_err(|e| SqliteFault::corrupt(&place, e))?,
            metadata: Metadata {
                source: *SOURCES
                    .get(usize::from(source))
                    .ok_or_else(|| damaged("its source is unknown"))?,
                step: row.get(6)?,
                parents,
                user,
            },
            next,
            updated_channels,
            interrupted: row.get(10)?,
            failed: row.get(11)?,
            id,
        })
    }

    /// Returns the metadata of a row, decoded once.
    pub(super) fn meta(&mut self, row: i64, place: &str) -> Result<Meta, SqliteFault> {
        if let Some(meta) = self.metas.rows.get(&row) {
            return Ok(meta.clone());
        }
        let json: Option<String> = self
            .conn
            .prepare_cached("SELECT json FROM metas WHERE id = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        let json = json.ok_or_else(|| SqliteFault::corrupt(place, "its metadata is missing"))?;
        let meta = read_metadata(&json).map_err(|cause| SqliteFault::corrupt(place, cause))?;
        self.metas.rows.insert(row, meta.clone());
        Ok(meta)
    }
}

fn lower(place: &str) -> String {
    place.replacen("Checkpoint", "checkpoint", 1)
}
