//! Reads checkpoints back: heads without values, states from deltas, values from chains of list rows.

use imbl::OrdMap;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use std::collections::{BTreeMap, HashMap};
use superstep::{
    ChannelValues, ChannelVersions, Checkpoint, CheckpointHead, CheckpointId, CheckpointTuple, ListQuery,
    Metadata, Name, Object, PendingWrite, Source, TaskId, ThreadId, Value, VersionsSeen, Write,
};

use crate::codec::bytes::read_rows;
use crate::codec::pack::{Parts, Unpacker, hash, parse, read_refs, split};
use crate::codec::record::{Delta, Rows, Tasks};
use crate::codec::value::parse as json_value;
use crate::codec::warm::Warm;

use super::columns::{IdColumn, id_column, time_text};
use super::fault::Fault;
use super::slot::{Shape, Slot};

/// The dictionary of channel and node names of one connection. Names are never removed, so it cannot be stale.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_row: HashMap<i64, Name, foldhash::fast::RandomState>,
    rows: HashMap<Name, i64, foldhash::fast::RandomState>,
}

impl Names {
    fn keep(&mut self, row: i64, name: &Name) {
        self.by_row.insert(row, name.clone());
        self.rows.insert(name.clone(), row);
    }

    /// The name with this row number.
    pub(super) fn name(&mut self, conn: &Connection, row: i64) -> Result<Name, Fault> {
        if let Some(name) = self.by_row.get(&row) {
            return Ok(name.clone());
        }
        let text: Option<String> = conn
            .prepare_cached("SELECT name FROM names WHERE id = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        let name: Name = text
            .ok_or_else(|| Fault::corrupt("The table of names", format!("row {row} is missing")))?
            .into();
        self.keep(row, &name);
        Ok(name)
    }

    /// The row number of a name, made when it is new.
    pub(super) fn row(&mut self, conn: &Connection, name: &Name) -> Result<i64, Fault> {
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

    fn list(&mut self, conn: &Connection, blob: &[u8], place: &str) -> Result<Vec<Name>, Fault> {
        let rows = read_rows(blob).map_err(|cause| Fault::corrupt(place, cause))?;
        rows.into_iter().map(|row| self.name(conn, row)).collect()
    }
}

/// Versions and the rows of the values of one checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) versions: ChannelVersions,
    pub(super) values: OrdMap<Name, Slot>,
    pub(super) seen: VersionsSeen,
}

/// Metadata without source and step.
pub(super) type Meta = (Object, Object);

/// What one read operation has already decoded. With `keep`, prefixes are kept too: a listing of a whole thread
/// then decodes every row once.
#[derive(Debug, Default)]
pub(super) struct Memo {
    keep: bool,
    states: HashMap<i64, State>,
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
    /// An operation begins: numbers of rows that were removed since may have been given again.
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
    pub(super) unpacker: &'a mut Unpacker,
    pub(super) memo: Memo,
    /// What is at hand, and the count of removals at the moment that is read.
    pub(super) warm: Option<(&'a Warm<State>, i64)>,
    /// Only what is at hand is wanted: what has to be decoded first is [`Fault::Cold`].
    pub(super) hurry: bool,
}

/// Writes that are read in a hurry.
const FEW: usize = 64;

/// A namespace of a thread.
pub(super) struct Space {
    pub(super) row: i64,
    pub(super) thread: ThreadId,
    pub(super) ns: Name,
}

impl Space {
    pub(super) fn place(&self, id: &CheckpointId) -> String {
        let ns = if self.ns.is_empty() {
            String::new()
        } else {
            format!(" (namespace {})", self.ns)
        };
        format!("Checkpoint {id} of thread {}{ns}", self.thread)
    }
}

macro_rules! head {
    ($from:literal) => {
        concat!(
            "SELECT c.seq, c.id, c.parent, p.id, c.ts, c.source, c.step, c.meta, c.next, c.updated,
             (SELECT count(*) FROM writes w WHERE w.checkpoint = c.seq AND w.status > 0 AND w.status & 1),
             (SELECT count(*) FROM writes w WHERE w.checkpoint = c.seq AND w.status > 0 AND w.status & 2)
             FROM checkpoints c ",
            $from,
        )
    };
}

const NEWEST: &str = head!(
    "INDEXED BY checkpoints_by_id LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.space = ?1 AND c.id < ?2 ORDER BY c.id DESC"
);
const OF_STEP: &str = head!(
    "NOT INDEXED LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.seq IN (SELECT seq FROM steps WHERE space = ?1 AND step = ?3 UNION ALL
                     SELECT seq FROM checkpoints NOT INDEXED WHERE seq > coalesce((SELECT stepped FROM epochs), 0)
                     AND space = ?1 AND step = ?3)
     AND c.space = ?1 AND c.id < ?2 AND c.step = ?3 ORDER BY c.id DESC"
);
const BY_ID: &str = head!(
    "INDEXED BY checkpoints_by_id LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.space = ?1 AND c.id < ?2 AND c.id = ?3"
);
/// Sorts after every id: longer than any UUID of the same bytes, and blobs sort after text.
const AFTER_ALL: &[u8] = &[0xff; 17];

pub(super) const SOURCES: [Source; 4] = [Source::Input, Source::Loop, Source::Update, Source::Fork];

impl View<'_> {
    pub(super) fn get(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, Fault> {
        let query = ListQuery {
            thread: Some(thread.clone()),
            ns: Some(ns.into()),
            id: id.cloned(),
            limit: Some(1),
            ..ListQuery::default()
        };
        Ok(self.tuples(&query)?.pop())
    }

    pub(super) fn list(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, Fault> {
        self.memo = Memo::keeping();
        self.tuples(query)
    }

    fn tuples(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, Fault> {
        let spaces = self.spaces(query)?;
        let heads = self.select(query, &spaces)?;
        heads
            .into_iter()
            .map(|(space, seq, head)| self.tuple(&spaces[space], seq, head))
            .collect()
    }

    pub(super) fn heads(&mut self, query: &ListQuery) -> Result<Vec<CheckpointHead>, Fault> {
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
    ) -> Result<Option<ChannelValues>, Fault> {
        let query = ListQuery {
            thread: Some(thread.clone()),
            ns: Some(ns.into()),
            id: id.cloned(),
            limit: Some(1),
            ..ListQuery::default()
        };
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

    /// The value of a channel.
    pub(super) fn channel(&mut self, channel: &Name, slot: &Slot, place: &str) -> Result<Value, Fault> {
        let named = || format!("Channel {channel} of {}", lower(place));
        let read = match slot {
            Slot::Row(row, _) => self.value(*row),
            Slot::Text(text) => json_value(text).map_err(Unreadable::Damaged),
        };
        read.map_err(|cause| match cause {
            Unreadable::Fault(fault) => fault.at(named),
            Unreadable::Damaged(cause) => Fault::corrupt(named(), cause),
        })
    }

    pub(super) fn spaces(&self, query: &ListQuery) -> Result<Vec<Space>, Fault> {
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

    /// Matching heads with the index of their space and their row, newest first.
    fn select(
        &mut self,
        query: &ListQuery,
        spaces: &[Space],
    ) -> Result<Vec<(usize, i64, CheckpointHead)>, Fault> {
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
    ) -> Result<Vec<(i64, CheckpointHead)>, Fault> {
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

    fn head(&mut self, row: &Row<'_>, space: &Space) -> Result<CheckpointHead, Fault> {
        let id = CheckpointId::new(row.get::<_, IdColumn>(1)?.0);
        let place = space.place(&id);
        let damaged = |cause: &str| Fault::corrupt(&place, cause);
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
            ts: time_text(row.get_ref(4)?).map_err(|e| Fault::corrupt(&place, e))?,
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

    /// Metadata of a row, decoded once.
    pub(super) fn meta(&mut self, row: i64, place: &str) -> Result<Meta, Fault> {
        if let Some(meta) = self.metas.rows.get(&row) {
            return Ok(meta.clone());
        }
        let json: Option<String> = self
            .conn
            .prepare_cached("SELECT json FROM metas WHERE id = ?1")?
            .query_row([row], |row| row.get(0))
            .optional()?;
        let json = json.ok_or_else(|| Fault::corrupt(place, "its metadata is missing"))?;
        let meta: Meta = serde_json::from_str::<Value>(&json)
            .map_err(|e| Fault::corrupt(place, format!("its metadata is not JSON: {e}")))
            .and_then(|value| match (value.at(0), value.at(1)) {
                (Some(Value::Object(parents)), Some(Value::Object(user))) => {
                    Ok((parents.clone(), user.clone()))
                }
                _ => Err(Fault::corrupt(place, "its metadata has an unknown shape")),
            })?;
        self.metas.rows.insert(row, meta.clone());
        Ok(meta)
    }

    pub(super) fn tuple(
        &mut self,
        space: &Space,
        seq: i64,
        head: CheckpointHead,
    ) -> Result<CheckpointTuple, Fault> {
        let place = space.place(&head.id);
        let state = self.state(seq, &place)?;
        let mut channel_values = ChannelValues::new();
        for (channel, slot) in &state.values {
            let value = self.channel(channel, slot, &place)?;
            channel_values.insert(channel.clone(), value);
        }
        let pending_writes = self.pending_writes(seq, &place)?;
        Ok(CheckpointTuple {
            thread: space.thread.clone(),
            ns: space.ns.clone(),
            checkpoint: Checkpoint {
                id: head.id,
                parent: head.parent,
                ts: head.ts,
                channel_values,
                channel_versions: state.versions,
                versions_seen: state.seen,
                updated_channels: head.updated_channels,
                metadata: head.metadata,
                next: head.next,
            },
            pending_writes,
        })
    }

    fn pending_writes(&mut self, seq: i64, place: &str) -> Result<Vec<PendingWrite>, Fault> {
        let mut found = Vec::new();
        self.short_writes(seq, place, &mut found)?;
        let conn = self.conn;
        let mut statement =
            conn.prepare_cached("SELECT task, path, data FROM writes WHERE checkpoint = ?1")?;
        let mut rows = statement.query([seq])?;
        while let Some(row) = rows.next()? {
            if self.hurry && found.len() > FEW {
                return Err(Fault::Cold);
            }
            self.row_of_writes(row, place, &mut found)?;
        }
        found.sort_by(|a, b| {
            (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
        });
        Ok(found)
    }

    /// The writes in the row of a checkpoint.
    pub(super) fn short_writes(
        &mut self,
        seq: i64,
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), Fault> {
        let damaged =
            |cause: String| Fault::corrupt(format!("The writes of tasks of {}", lower(place)), cause);
        let blob: Option<Option<Vec<u8>>> = self
            .conn
            .prepare_cached("SELECT tasks FROM checkpoints WHERE seq = ?1")?
            .query_row([seq], |row| row.get(0))
            .optional()
            .map_err(|error| Fault::from(error).at(|| format!("The writes of tasks of {}", lower(place))))?;
        let Some(blob) = blob.flatten() else { return Ok(()) };
        for (task, path, rows) in Tasks::decode(&blob).map_err(damaged)?.0 {
            self.task_writes(&task, &path, &rows, place, found)?;
        }
        Ok(())
    }

    /// Reads one row of writes; whether it can be read is what the check of everything wants to know.
    pub(super) fn writes_of_row(&mut self, row: i64) -> Result<(), Fault> {
        let conn = self.conn;
        let mut statement = conn.prepare_cached("SELECT task, path, data FROM writes WHERE id = ?1")?;
        let mut rows = statement.query([row])?;
        match rows.next()? {
            Some(row) => self.row_of_writes(row, "A checkpoint", &mut Vec::new()),
            None => Ok(()),
        }
    }

    fn row_of_writes(
        &mut self,
        row: &Row<'_>,
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), Fault> {
        let unreadable = |e: rusqlite::Error| Fault::from(e).at(|| format!("A task of {}", lower(place)));
        let task = TaskId::new(row.get::<_, IdColumn>(0).map_err(unreadable)?.0);
        let path: Name = row.get(1).map_err(unreadable)?;
        let blob = row
            .get_ref(2)?
            .as_blob()
            .map_err(|e| Fault::corrupt(format!("The writes of task {task} of {}", lower(place)), e))?;
        self.task_writes(&task, &path, blob, place, found)
    }

    fn task_writes(
        &mut self,
        task: &TaskId,
        path: &Name,
        blob: &[u8],
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), Fault> {
        let damaged =
            |cause: String| Fault::corrupt(format!("The writes of task {task} of {}", lower(place)), cause);
        for (idx, channel, data) in Rows::decode(blob).map_err(damaged)?.0 {
            let (refs, data) = split(&data).map_err(damaged)?;
            let value = self.unpack(data, &refs).map_err(|cause| match cause {
                Unreadable::Fault(fault) => fault,
                Unreadable::Damaged(cause) => damaged(cause),
            })?;
            let channel = self.names.name(self.conn, channel)?;
            found.push(PendingWrite {
                task_id: task.clone(),
                task_path: path.clone(),
                write: Write { idx, channel, value },
            });
        }
        Ok(())
    }

    /// The state of a checkpoint: the nearest snapshot and the deltas after it.
    pub(super) fn state(&mut self, seq: i64, place: &str) -> Result<State, Fault> {
        let mut chain = Vec::new();
        let mut state = State::default();
        let mut at = seq;
        loop {
            let warm = || self.warm.and_then(|(warm, epoch)| warm.state(epoch, at));
            if let Some(known) = self.memo.states.get(&at).cloned().or_else(warm) {
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
                return Err(Fault::corrupt(place, "a checkpoint that it builds on is missing"));
            };
            chain.push((
                at,
                Delta::decode(&blob).map_err(|cause| Fault::corrupt(place, cause))?,
            ));
            match parent {
                _ if depth == 0 => break,
                // Rows only ever build on earlier ones; anything else would be a cycle.
                Some(parent) if parent < at => at = parent,
                _ => {
                    return Err(Fault::corrupt(
                        place,
                        "it does not build on an earlier checkpoint",
                    ));
                }
            }
        }
        for (at, delta) in chain.into_iter().rev() {
            self.apply(&mut state, delta)?;
            if self.memo.keep {
                self.memo.states.insert(at, state.clone());
            } else if at == seq
                && let Some((warm, epoch)) = self.warm
            {
                warm.keep_state(epoch, seq, state.clone());
            }
        }
        Ok(state)
    }

    fn apply(&mut self, state: &mut State, delta: Delta) -> Result<(), Fault> {
        for (row, version, value) in delta.channels {
            let channel = self.names.name(self.conn, row)?;
            match version {
                Some(version) => state.versions.insert(channel.clone(), version),
                None => state.versions.remove(&channel),
            };
            match (value, delta.texts.get(&row)) {
                (0, None) => state.values.remove(&channel),
                (0, Some(text)) => state.values.insert(channel, Slot::Text(text.clone())),
                (item, _) => state.values.insert(channel, Slot::Row(item, Shape::Unread)),
            };
        }
        for (node, versions) in delta.seen {
            let node = self.names.name(self.conn, node)?;
            let Some(versions) = versions else {
                state.seen.remove(&node);
                continue;
            };
            let mut entry = ChannelVersions::new();
            for (channel, version) in versions {
                entry.insert(self.names.name(self.conn, channel)?, version);
            }
            state.seen.insert(node, entry);
        }
        Ok(())
    }

    fn value(&mut self, row: i64) -> Result<Value, Unreadable> {
        let (mut chain, mut refs) = (Vec::new(), Vec::new());
        let (mut at, mut whole_size) = (row, 0);
        let mut value = loop {
            let warm = || self.warm.and_then(|(warm, epoch)| warm.value(epoch, at));
            if let Some(known) = self.memo.values.get(&at).cloned().or_else(warm) {
                break Some(known);
            }
            if self.hurry {
                return Err(Fault::Cold.into());
            }
            type Row = (Option<i64>, Option<u32>, Vec<u8>, Option<Vec<u8>>, Option<i64>);
            let found: Option<Row> = self
                .conn
                .prepare_cached("SELECT base, len, data, refs, size FROM items WHERE id = ?1")?
                .query_row([at], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .optional()?;
            let Some((base, len, data, parts, size)) = found else {
                return Err(Unreadable::Damaged("a part of it is missing".to_owned()));
            };
            if at == row {
                // An older release did not write it down.
                whole_size = size.map_or(data.len() as u64, i64::unsigned_abs);
            }
            refs.extend(read_refs(parts.as_deref()).map_err(Unreadable::Damaged)?);
            chain.push((at, len, data));
            match base {
                None => break None,
                Some(base) if base < at => at = base,
                Some(_) => {
                    return Err(Unreadable::Damaged(
                        "a part of it builds on a later one".to_owned(),
                    ));
                }
            }
        };
        self.read_parts(refs)?;
        for (at, len, data) in chain.into_iter().rev() {
            let part = self
                .unpacker
                .value(&data, &self.memo.parts)
                .map_err(Unreadable::Damaged)?;
            let whole = match (value.take(), part) {
                (None, part) => part,
                (Some(Value::Array(mut list)), Value::Array(more)) => {
                    list.extend(more.iter().cloned());
                    Value::Array(list)
                }
                _ => {
                    return Err(Unreadable::Damaged(
                        "items were added to something that is not a list".to_owned(),
                    ));
                }
            };
            if let Some(len) = len
                && whole.as_array().is_none_or(|list| list.len() != len as usize)
            {
                return Err(Unreadable::Damaged(
                    "the list has not the length it should have".to_owned(),
                ));
            }
            if self.memo.keep {
                self.memo.values.insert(at, whole.clone());
            } else if at == row
                && let Some((warm, epoch)) = self.warm
            {
                warm.keep(epoch, row, None, whole.clone(), whole_size);
            }
            value = Some(whole);
        }
        Ok(value.unwrap_or_default())
    }

    /// The value of stored bytes that refer to these parts.
    fn unpack(&mut self, data: &[u8], refs: &[i64]) -> Result<Value, Unreadable> {
        self.read_parts(refs.to_vec())?;
        self.unpacker
            .value(data, &self.memo.parts)
            .map_err(Unreadable::Damaged)
    }

    /// Reads these parts, and what they refer to, into the memo.
    fn read_parts(&mut self, mut wanted: Vec<i64>) -> Result<(), Unreadable> {
        let mut found: BTreeMap<i64, (i64, Vec<u8>)> = BTreeMap::new();
        loop {
            wanted.retain(|part| !self.memo.parts.contains_key(part) && !found.contains_key(part));
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                break;
            }
            let mut below = Vec::new();
            self.memo.parts.reserve(wanted.len());
            let (unpacker, known) = (&mut *self.unpacker, &mut self.memo.parts);
            let mut keep = |row: &Row<'_>| -> Result<(), Unreadable> {
                let id: i64 = row.get(0)?;
                let refs = row.get_ref(2)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
                if refs.is_none_or(<[u8]>::is_empty) {
                    // Most parts are text that refers to nothing: no copy is made of what is stored.
                    let data = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
                    let value = content(unpacker, known, id, row.get(1)?, data)?;
                    known.insert(id, value);
                    return Ok(());
                }
                for part in read_refs(refs).map_err(Unreadable::Damaged)? {
                    // A part is made after what it refers to; anything else would be a cycle.
                    if part >= id {
                        return Err(Unreadable::Damaged(format!(
                            "part {id} of it refers to a later one"
                        )));
                    }
                    below.push(part);
                }
                found.insert(id, (row.get(1)?, row.get(3)?));
                Ok(())
            };
            // Parts of one thread mostly lie side by side; then one walk is faster than a search for each.
            for run in wanted.chunk_by(|a, b| b - a <= 4) {
                let (first, last) = (run[0], run[run.len() - 1]);
                if run.len() < 8 {
                    let mut statement = self
                        .conn
                        .prepare_cached("SELECT id, hash, refs, data FROM parts WHERE id = ?1")?;
                    for part in run {
                        let mut rows = statement.query([part])?;
                        if let Some(row) = rows.next()? {
                            keep(row)?;
                        }
                    }
                    continue;
                }
                let mut statement = self
                    .conn
                    .prepare_cached("SELECT id, hash, refs, data FROM parts WHERE id BETWEEN ?1 AND ?2")?;
                let mut rows = statement.query([first, last])?;
                while let Some(row) = rows.next()? {
                    if run.binary_search(&row.get(0)?).is_ok() {
                        keep(row)?;
                    }
                }
            }
            let there = |part: &&i64| !found.contains_key(part) && !self.memo.parts.contains_key(part);
            if let Some(missing) = wanted.iter().find(there) {
                return Err(Unreadable::Damaged(format!("part {missing} of it is missing")));
            }
            wanted = below;
        }
        // What a part refers to has a smaller number, so it is there before it.
        for (id, (stored, data)) in found {
            let value = content(self.unpacker, &self.memo.parts, id, stored, &data)?;
            self.memo.parts.insert(id, value);
        }
        Ok(())
    }
}

/// The value of a part whose text had the hash `stored`; what it refers to is in `parts`.
fn content<P: Parts>(
    unpacker: &mut Unpacker,
    parts: &P,
    id: i64,
    stored: i64,
    data: &[u8],
) -> Result<Value, Unreadable> {
    let damaged = |cause: String| Unreadable::Damaged(format!("part {id} of it: {cause}"));
    let (text, referring) = unpacker.text(data).map_err(damaged)?;
    if hash(&text) != stored {
        return Err(damaged("its content is not what was stored".to_owned()));
    }
    parse(&text, referring, parts).map_err(damaged)
}

enum Unreadable {
    Fault(Fault),
    Damaged(String),
}

impl From<Fault> for Unreadable {
    fn from(fault: Fault) -> Self {
        Unreadable::Fault(fault)
    }
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Unreadable::Fault(error.into())
    }
}

fn lower(place: &str) -> String {
    place.replacen("Checkpoint", "checkpoint", 1)
}

/// The parts that the stored writes of a task refer to, as often as they do.
pub(super) fn refs_of_writes(blob: &[u8]) -> Result<Vec<i64>, String> {
    let mut all = Vec::new();
    for (.., data) in Rows::decode(blob)?.0 {
        all.extend(split(&data)?.0);
    }
    Ok(all)
}
