//! Reads checkpoints back: heads without values, states from deltas, values from chains of list rows.
//!
//! One operation is one transaction that sees one moment. Its first statements travel together with its beginning, and
//! its last one with its end, so that reading a checkpoint takes two round trips.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::future::{try_join, try_join3};
use imbl::OrdMap;
use superstep::{
    ChannelValues, ChannelVersions, Checkpoint, CheckpointHead, CheckpointId, CheckpointTuple, ListQuery,
    Metadata, Name, Object, PendingWrite, Source, StorageError, TaskId, ThreadId, ThreadQuery, ThreadStatus,
    ThreadSummary, Value, VersionsSeen, Write,
};
use tokio_postgres::Row;

use crate::codec::bytes::read_rows;
use crate::codec::record::Delta;
use crate::salvage::passed_over;

use super::fault::Fault;
use super::names::Names;
use super::parts::Library;
use super::server::{Params, Server, Session};

pub(super) const SOURCES: [Source; 4] = [Source::Input, Source::Loop, Source::Update, Source::Fork];
/// Sorts after every id: no text begins with this many of the last character.
const AFTER_ALL: &str = "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}";
/// Rows that are looked through at a time when something is looked for that the server cannot find.
const PAGE: i64 = 500;

/// What a head is made of, from `s` (spaces) and `c` (checkpoints).
macro_rules! head {
    ($sql:literal) => {
        concat!(
            "SELECT s.id, s.thread, s.ns, c.seq, c.id, c.parent, c.ts, c.source, c.step, m.json, c.next, c.updated,
                    o.asked, o.failed ",
            $sql
        )
    };
}

/// Metadata of `c`, and its tasks that wait or have failed.
macro_rules! beside {
    () => {
        " LEFT JOIN metas m ON m.space = c.space AND m.id = c.meta
          CROSS JOIN LATERAL (
              SELECT count(DISTINCT w.task) FILTER (WHERE w.kind = 1) AS asked,
                     count(DISTINCT w.task) FILTER (WHERE w.kind = 2) AS failed
              FROM writes w
              WHERE w.checkpoint = c.seq AND w.kind IN (1, 2) AND NOT EXISTS (
                  SELECT 1 FROM writes f WHERE f.checkpoint = w.checkpoint AND f.task = w.task AND f.kind = 0
              )
          ) o "
    };
}

const HEAD_OF: &str = concat!(
    head!("FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)"),
    beside!(),
    "WHERE s.thread = $1 AND s.ns = $2"
);

const CHAIN_OF: &str = "
    WITH RECURSIVE t (space, id, parent, depth) AS (
        SELECT c.space, c.id, c.parent, c.depth
        FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)
        WHERE s.thread = $1 AND s.ns = $2
        UNION
        SELECT p.space, p.id, p.parent, p.depth FROM t
        JOIN checkpoints p ON p.space = t.space AND p.id = t.parent
        WHERE t.depth > 0
    )
    SELECT c.space, c.id, c.parent, c.depth, c.delta
    FROM t JOIN checkpoints c ON c.space = t.space AND c.id = t.id";

pub(super) const CHAINS: &str = "
    WITH RECURSIVE t (space, id, parent, depth) AS (
        SELECT c.space, c.id, c.parent, c.depth
        FROM unnest($1::bigint[], $2::text[]) u (space, id)
        JOIN checkpoints c ON c.space = u.space AND c.id = u.id
        UNION
        SELECT p.space, p.id, p.parent, p.depth FROM t
        JOIN checkpoints p ON p.space = t.space AND p.id = t.parent
        WHERE t.depth > 0
    )
    SELECT c.space, c.id, c.parent, c.depth, c.delta
    FROM t JOIN checkpoints c ON c.space = t.space AND c.id = t.id";

const WRITES_OF: &str = "
    SELECT w.checkpoint, w.task, w.path, w.idx, w.channel::bigint, w.parts, w.data
    FROM writes w
    WHERE w.checkpoint = (
        SELECT c.seq FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = coalesce($3::text, s.head)
        WHERE s.thread = $1 AND s.ns = $2
    )
    ORDER BY w.path, w.task, w.idx";

const WRITES: &str = "
    SELECT w.checkpoint, w.task, w.path, w.idx, w.channel::bigint, w.parts, w.data
    FROM writes w
    WHERE w.checkpoint = ANY($1)
    ORDER BY w.path, w.task, w.idx";

const ITEMS: &str = "
    WITH RECURSIVE t (space, id, base) AS (
        SELECT i.space, i.id, i.base
        FROM unnest($1::bigint[], $2::bigint[]) u (space, id)
        JOIN items i ON i.space = u.space AND i.id = u.id
        UNION
        SELECT i.space, i.id, i.base FROM t JOIN items i ON i.space = t.space AND i.id = t.base
    )
    SELECT i.id, i.base, i.len, i.parts, i.data, i.whole
    FROM t JOIN items i ON i.space = t.space AND i.id = t.id";

const PARTS: &str = "
    WITH RECURSIVE t (space, id, base, parts) AS (
        SELECT i.space, i.id, i.base, i.parts
        FROM unnest($1::bigint[], $2::bigint[]) u (space, id)
        JOIN items i ON i.space = u.space AND i.id = u.id
        UNION
        SELECT i.space, i.id, i.base, i.parts FROM t JOIN items i ON i.space = t.space AND i.id = t.base
    )
    SELECT p.id, coalesce(p.below, '{}'), p.data FROM parts p
    WHERE p.id IN (SELECT unnest(t.parts) FROM t UNION SELECT unnest($3::bigint[]))";

const HEADS: &str = concat!(
    head!(
        "FROM spaces s CROSS JOIN LATERAL (
               SELECT * FROM checkpoints c WHERE c.space = s.id AND c.id < $3 ORDER BY c.id DESC LIMIT $4
           ) c"
    ),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY c.id DESC, s.thread, s.ns"
);

const HEADS_OF_STEP: &str = concat!(
    head!(
        "FROM spaces s CROSS JOIN LATERAL (
               SELECT * FROM checkpoints c WHERE c.space = s.id AND c.step = $5 AND c.id < $3
               ORDER BY c.id DESC LIMIT $4
           ) c"
    ),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY c.id DESC, s.thread, s.ns"
);

const HEADS_BY_ID: &str = concat!(
    head!("FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = $4 AND c.id < $3"),
    beside!(),
    "WHERE ($1::text IS NULL OR s.thread = $1) AND ($2::text IS NULL OR s.ns = $2)
     ORDER BY s.thread, s.ns"
);

/// Which root spaces a thread query is about; what it cannot say in SQL is looked at afterwards.
macro_rules! threads {
    ($columns:literal, $end:literal) => {
        concat!(
            "SELECT s.id, s.thread, s.ns, c.seq, c.id, c.parent, c.ts, c.source, c.step, m.json, c.next, c.updated,
                    o.asked, o.failed ",
            $columns,
            " FROM spaces s JOIN checkpoints c ON c.space = s.id AND c.id = s.head",
            beside!(),
            "WHERE s.ns = '' AND ($1::text IS NULL OR position($1 IN lower(s.thread)) > 0)
               AND ($2::text IS NULL OR c.ts < $2)
               AND ($3::text IS NULL OR $3 = CASE WHEN o.asked > 0 THEN 'interrupted' WHEN o.failed > 0 THEN 'error'
                                             WHEN c.next IS NOT NULL THEN 'pending' ELSE 'idle' END) ",
            $end
        )
    };
}

const THREADS: &str = threads!(
    ", s.checkpoints,
       (SELECT f.ts FROM checkpoints f WHERE f.space = s.id ORDER BY f.id LIMIT 1)",
    "AND (s.head < $4 OR (s.head = $4 AND s.thread > $5)) ORDER BY s.head DESC, s.thread LIMIT $6"
);
const THREAD: &str = threads!(
    ", s.checkpoints,
       (SELECT f.ts FROM checkpoints f WHERE f.space = s.id ORDER BY f.id LIMIT 1)",
    "AND s.thread = $4"
);
const COUNT: &str = concat!("SELECT count(*) FROM (", threads!("", ""), ") t");

/// Versions and the rows of the values of one checkpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) versions: ChannelVersions,
    pub(super) values: OrdMap<Name, i64>,
    pub(super) seen: VersionsSeen,
}

/// Metadata without source and step.
pub(super) type Meta = (Object, Object);

/// A head and where its checkpoint is.
pub(super) struct Found {
    pub(super) space: i64,
    pub(super) thread: ThreadId,
    pub(super) seq: i64,
    pub(super) head: CheckpointHead,
}

impl Found {
    pub(super) fn place(&self) -> String {
        place(&self.head.id, &self.thread, &self.head.ns)
    }
}

/// How a checkpoint is named in messages.
pub(super) fn place(id: &CheckpointId, thread: &ThreadId, ns: &str) -> String {
    let ns = match ns {
        "" => String::new(),
        ns => format!(" (namespace {ns})"),
    };
    format!("Checkpoint {id} of thread {thread}{ns}")
}

/// Deltas by space and checkpoint, and the states they make.
#[derive(Default)]
pub(super) struct Deltas {
    rows: HashMap<(i64, String), Link>,
    states: HashMap<(i64, String), State>,
}

struct Link {
    parent: Option<String>,
    depth: i64,
    delta: Result<Delta, String>,
}

impl Deltas {
    pub(super) fn read(rows: &[Row]) -> Result<Self, Fault> {
        let mut deltas = Deltas::default();
        for row in rows {
            let link = Link {
                parent: row.try_get(2)?,
                depth: row.try_get(3)?,
                delta: Delta::decode(row.try_get(4)?),
            };
            deltas.rows.insert((row.try_get(0)?, row.try_get(1)?), link);
        }
        Ok(deltas)
    }

    /// Every name that they use.
    pub(super) fn names(&self) -> impl Iterator<Item = i64> {
        let deltas = self.rows.values().filter_map(|link| link.delta.as_ref().ok());
        deltas.flat_map(|delta| {
            let channels = delta.channels.iter().map(|(channel, ..)| *channel);
            let seen = delta.seen.iter().flat_map(|(node, versions)| {
                std::iter::once(*node).chain(versions.iter().flatten().map(|(channel, _)| *channel))
            });
            channels.chain(seen)
        })
    }

    /// The state of a checkpoint: the nearest snapshot and the deltas after it.
    pub(super) fn state(&mut self, names: &Names, space: i64, id: &str) -> Result<State, String> {
        let mut chain = Vec::new();
        let mut at = (space, id.to_owned());
        let mut state = State::default();
        loop {
            if let Some(known) = self.states.get(&at) {
                state = known.clone();
                break;
            }
            let link = self
                .rows
                .get(&at)
                .ok_or("a checkpoint that it builds on is missing")?;
            let (depth, parent) = (link.depth, link.parent.clone());
            chain.push(at);
            match parent {
                _ if depth == 0 => break,
                Some(parent) if chain.len() <= self.rows.len() => at = (space, parent),
                _ => return Err("it does not build on an earlier checkpoint".to_owned()),
            }
        }
        while let Some(at) = chain.pop() {
            if let Some(link) = self.rows.get(&at) {
                apply(&mut state, link.delta.as_ref().map_err(String::clone)?, names)?;
            }
            self.states.insert(at, state.clone());
        }
        Ok(state)
    }
}

fn apply(state: &mut State, delta: &Delta, names: &Names) -> Result<(), String> {
    for (channel, version, value) in &delta.channels {
        let channel = names.expect(*channel)?;
        match version {
            Some(version) => state.versions.insert(channel.clone(), *version),
            None => state.versions.remove(&channel),
        };
        match value {
            0 => state.values.remove(&channel),
            row => state.values.insert(channel, *row),
        };
    }
    for (node, versions) in &delta.seen {
        let node = names.expect(*node)?;
        let Some(versions) = versions else {
            state.seen.remove(&node);
            continue;
        };
        let entry = versions
            .iter()
            .map(|(channel, version)| Ok((names.expect(*channel)?, *version)));
        state.seen.insert(node, entry.collect::<Result<_, String>>()?);
    }
    Ok(())
}

/// Rows of values, and what they have been put together to.
#[derive(Default)]
struct Items {
    rows: HashMap<i64, Item>,
    values: HashMap<i64, Value>,
}

/// The row it builds on, the length of the list with it, the parts it names, its bytes, and the length of the JSON of
/// the whole value.
type Item = (Option<i64>, Option<i64>, Vec<i64>, Vec<u8>, i64);

impl Items {
    fn read(rows: &[Row]) -> Result<Self, Fault> {
        let mut items = Items::default();
        for row in rows {
            let parts: Option<Vec<i64>> = row.try_get(3)?;
            let item = (
                row.try_get(1)?,
                row.try_get(2)?,
                parts.unwrap_or_default(),
                row.try_get(4)?,
                row.try_get(5)?,
            );
            items.rows.insert(row.try_get(0)?, item);
        }
        Ok(items)
    }

    /// Length of the JSON of the value that ends with a row that was read.
    fn size(&self, row: i64) -> Option<i64> {
        self.rows.get(&row).map(|(.., size)| *size)
    }

    /// The value that ends with this row.
    fn value(&mut self, row: i64, library: &mut Library) -> Result<Value, String> {
        let mut chain = Vec::new();
        let mut at = row;
        let mut value = loop {
            if let Some(known) = self.values.get(&at) {
                break Some(known.clone());
            }
            let (base, ..) = self.rows.get(&at).ok_or("a part of it is missing")?;
            chain.push(at);
            match base {
                None => break None,
                Some(base) if chain.len() <= self.rows.len() => at = *base,
                Some(_) => return Err("its parts build on each other".to_owned()),
            }
        };
        while let Some(at) = chain.pop() {
            let Some((_, len, parts, data, _)) = self.rows.get(&at) else {
                continue;
            };
            let part = library.value(data, parts)?;
            let whole = match (value.take(), part) {
                (None, part) => part,
                (Some(Value::Array(mut list)), Value::Array(more)) => {
                    list.extend(more.iter().cloned());
                    Value::Array(list)
                }
                _ => return Err("items were added to something that is not a list".to_owned()),
            };
            if let Some(len) = len
                && whole
                    .as_array()
                    .is_none_or(|list| i64::try_from(list.len()) != Ok(*len))
            {
                return Err("the list has not the length it should have".to_owned());
            }
            self.values.insert(at, whole.clone());
            value = Some(whole);
        }
        Ok(value.unwrap_or_default())
    }
}

/// One read operation.
pub(super) struct View {
    pub(super) session: Session,
    server: Arc<Server>,
    pub(super) names: Arc<Names>,
    metas: HashMap<String, Meta>,
    /// Inside a transaction.
    open: bool,
    /// Only what the server holds counts, and not what is at hand.
    pub(super) afresh: bool,
}

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

impl View {
    pub(super) async fn new(server: &Arc<Server>, names: &Arc<Names>) -> Result<Self, Fault> {
        Ok(Self {
            session: server.session().await?,
            server: server.clone(),
            names: names.clone(),
            metas: HashMap::new(),
            open: false,
            afresh: false,
        })
    }

    /// Ends the operation. A session that met an error is not used again.
    pub(super) async fn close<T>(self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(Fault::Sql(_)) = outcome {
            return outcome;
        }
        match self.open {
            true => self.server.end(self.session),
            false => self.server.keep(self.session),
        }
        outcome
    }

    /// Runs statements side by side, beginning the transaction with the first.
    async fn together<const N: usize>(
        &mut self,
        statements: [(&str, Params<'_>); N],
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let mut prepared = Vec::with_capacity(N);
        for (sql, _) in &statements {
            prepared.push(self.session.prepare(sql).await?);
        }
        let client = &self.session.client;
        let begin = async {
            match self.open {
                true => Ok(()),
                false => client.batch_execute(BEGIN).await,
            }
        };
        // Polled in this order, and sent in the order of the polls.
        let queries = prepared
            .iter()
            .zip(&statements)
            .map(|(statement, (_, params))| client.query(statement, params));
        let (_, rows) = try_join(begin, futures::future::try_join_all(queries)).await?;
        self.open = true;
        Ok(rows)
    }

    /// Runs the last statements of the operation: rows of values, and the parts that these and `parts` name.
    async fn last(
        &mut self,
        spaces: &[i64],
        rows: &[i64],
        parts: &[i64],
    ) -> Result<(Vec<Row>, Vec<Row>), Fault> {
        let items = self.session.prepare(ITEMS).await?;
        let library = self.session.prepare(PARTS).await?;
        let client = &self.session.client;
        let (of_items, of_parts): (Params<'_>, Params<'_>) = (&[&spaces, &rows], &[&spaces, &rows, &parts]);
        let (items, parts, ()) = try_join3(
            client.query(&items, of_items),
            client.query(&library, of_parts),
            client.batch_execute("COMMIT"),
        )
        .await?;
        self.open = false;
        Ok((items, parts))
    }

    pub(super) async fn get(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, Fault> {
        let thread = thread.as_str();
        let id = id.map(CheckpointId::as_str);
        let target: Params<'_> = &[&thread, &ns, &id];
        let answers = self
            .together([(HEAD_OF, target), (CHAIN_OF, target), (WRITES_OF, target)])
            .await?;
        let [head, chain, writes] = &answers[..] else {
            return Ok(None);
        };
        let found = self.heads_of(head, false).await?;
        Ok(self.tuples(found, chain, writes, None).await?.pop())
    }

    pub(super) async fn values(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, Fault> {
        let thread = thread.as_str();
        let id = id.map(CheckpointId::as_str);
        let target: Params<'_> = &[&thread, &ns, &id];
        let answers = self.together([(HEAD_OF, target), (CHAIN_OF, target)]).await?;
        let [head, chain] = &answers[..] else {
            return Ok(None);
        };
        let found = self.heads_of(head, false).await?;
        let tuple = self.tuples(found, chain, &[], Some(keys)).await?.pop();
        Ok(tuple.map(|tuple| tuple.checkpoint.channel_values))
    }

    pub(super) async fn list(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, Fault> {
        let found = self.select(query).await?;
        let place = |found: &Found| (found.thread.clone(), found.head.ns.clone(), found.head.id.clone());
        let places: Vec<_> = found.iter().map(place).collect();
        match self.whole(found).await {
            // What cannot be read of one thread does not hide the others, nor the rest of it.
            Err(Fault::Storage(StorageError::Corrupt { .. })) if query.thread.is_none() => {}
            whole => return whole,
        }
        let mut tuples = Vec::with_capacity(places.len());
        for (thread, ns, id) in places {
            match self.get(&thread, &ns, Some(&id)).await {
                Err(Fault::Storage(error @ StorageError::Corrupt { .. })) => passed_over(&thread, &error),
                found => tuples.extend(found?),
            }
        }
        Ok(tuples)
    }

    /// The whole checkpoints of these heads.
    pub(super) async fn whole(&mut self, found: Vec<Found>) -> Result<Vec<CheckpointTuple>, Fault> {
        let spaces: Vec<i64> = found.iter().map(|found| found.space).collect();
        let ids: Vec<&str> = found.iter().map(|found| found.head.id.as_str()).collect();
        let seqs: Vec<i64> = found.iter().map(|found| found.seq).collect();
        let answers = self
            .together([(CHAINS, &[&spaces, &ids]), (WRITES, &[&seqs])])
            .await?;
        let [chains, writes] = &answers[..] else {
            return Ok(Vec::new());
        };
        self.tuples(found, chains, writes, None).await
    }

    pub(super) async fn heads(&mut self, query: &ListQuery) -> Result<Vec<CheckpointHead>, Fault> {
        let found = self.select(query).await?;
        Ok(found.into_iter().map(|found| found.head).collect())
    }

    /// Matching heads, newest first; equal ids of copied threads in thread and namespace order.
    pub(super) async fn select(&mut self, query: &ListQuery) -> Result<Vec<Found>, Fault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let thread = query.thread.as_ref().map(ThreadId::as_str);
        let ns = query.ns.as_deref();
        let before = query.before.as_ref().map_or(AFTER_ALL, CheckpointId::as_str);
        if let Some(id) = &query.id {
            let params: Params<'_> = &[&thread, &ns, &before, &id.as_str()];
            let rows = self
                .together([(&in_thread(HEADS_BY_ID, thread), params)])
                .await?
                .concat_rows();
            let mut found = self.heads_of(&rows, query.thread.is_none()).await?;
            found.retain(|found| found.head.metadata.matches(&query.filter));
            found.truncate(limit);
            return Ok(found);
        }
        // Only an integer can equal a step; anything else is left to the general comparison, which then finds none.
        let step = query.filter.get("step").and_then(Value::as_i64);
        let other = query
            .filter
            .iter()
            .any(|(key, _)| step.is_none() || &**key != "step");
        let mut found = Vec::new();
        let mut before = before.to_owned();
        loop {
            let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
            // With a filter that only we understand: a page at a time, until there are enough.
            let page = if other && limit < usize::MAX {
                PAGE.max(wanted)
            } else {
                wanted
            };
            let rows = match step {
                Some(step) => {
                    let params: Params<'_> = &[&thread, &ns, &before, &page, &step];
                    self.together([(&in_thread(HEADS_OF_STEP, thread), params)])
                        .await?
                        .concat_rows()
                }
                None => {
                    let params: Params<'_> = &[&thread, &ns, &before, &page];
                    self.together([(&in_thread(HEADS, thread), params)])
                        .await?
                        .concat_rows()
                }
            };
            let mut part = self.heads_of(&rows, query.thread.is_none()).await?;
            // Each namespace gave its newest so many: beyond the last of one that was cut off, others may be missing.
            let complete = complete_until(&rows, page)?;
            if let Some(end) = &complete {
                part.retain(|found| found.head.id.as_str() >= end.as_str());
            }
            found.extend(
                part.into_iter()
                    .filter(|found| found.head.metadata.matches(&query.filter)),
            );
            match complete {
                Some(end) if found.len() < limit => before = end,
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    pub(super) async fn threads(&mut self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, Fault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let (search, status) = said(query);
        let idle = query.idle_since.as_deref();
        let (mut head, mut name) = match &query.after {
            Some(place) => (place.head.as_str().to_owned(), place.thread.as_str().to_owned()),
            None => (AFTER_ALL.to_owned(), String::new()),
        };
        let exact = query.filter.is_empty() && (search.is_some() || query.search.is_none());
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
        let page = if exact || limit == usize::MAX {
            wanted
        } else {
            PAGE.max(wanted)
        };
        let mut found = Vec::new();
        while found.len() < limit {
            let params: Params<'_> = &[&search, &idle, &status, &head, &name, &page];
            let rows = self.together([(THREADS, params)]).await?.concat_rows();
            self.learn_names(&rows).await?;
            for row in &rows {
                let thread: &str = row.try_get(1)?;
                match self.summary(row) {
                    Ok(summary) if query.matches(&summary) => found.push(summary),
                    Ok(_) => {}
                    // One damaged thread must not hide the others.
                    Err(Fault::Storage(error @ StorageError::Corrupt { .. })) => {
                        passed_over(&ThreadId::from(thread), &error);
                    }
                    Err(other) => return Err(other),
                }
            }
            match rows.last() {
                Some(row) if rows.len() as i64 == page => {
                    head = row.try_get(4)?;
                    name = row.try_get(1)?;
                }
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    pub(super) async fn thread(&mut self, thread: &ThreadId) -> Result<Option<ThreadSummary>, Fault> {
        let any = None::<&str>;
        let params: Params<'_> = &[&any, &any, &any, &thread.as_str()];
        let rows = self.together([(THREAD, params)]).await?.concat_rows();
        self.learn_names(&rows).await?;
        rows.first().map(|row| self.summary(row)).transpose()
    }

    pub(super) async fn count_threads(&mut self, query: &ThreadQuery) -> Result<u64, Fault> {
        let (search, status) = said(query);
        if query.filter.is_empty() && (search.is_some() || query.search.is_none()) {
            let params: Params<'_> = &[&search, &query.idle_since, &status];
            let rows = self.together([(COUNT, params)]).await?.concat_rows();
            let count = rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0))?;
            return Ok(count.unsigned_abs());
        }
        let all = ThreadQuery {
            after: None,
            limit: None,
            ..query.clone()
        };
        Ok(self.threads(&all).await?.len() as u64)
    }

    fn summary(&mut self, row: &Row) -> Result<ThreadSummary, Fault> {
        let found = self.head(row)?;
        Ok(ThreadSummary {
            thread: found.thread,
            head: found.head,
            checkpoints: row.try_get::<_, i64>(14)?.unsigned_abs(),
            created: row.try_get(15)?,
        })
    }

    async fn learn_names(&mut self, rows: &[Row]) -> Result<(), Fault> {
        let mut names = HashSet::new();
        for row in rows {
            for column in [10, 11] {
                let list: Option<&[u8]> = row.try_get(column)?;
                names.extend(list.and_then(|list| read_rows(list).ok()).unwrap_or_default());
            }
        }
        self.names.learn(&mut self.session, names).await
    }

    /// The heads in these rows. Of a list of many threads, what cannot be read of one does not hide the others.
    async fn heads_of(&mut self, rows: &[Row], many: bool) -> Result<Vec<Found>, Fault> {
        self.learn_names(rows).await?;
        let mut heads = Vec::with_capacity(rows.len());
        for row in rows {
            match self.head(row) {
                Err(Fault::Storage(error @ StorageError::Corrupt { .. })) if many => {
                    passed_over(&ThreadId::from(row.try_get::<_, &str>(1)?), &error);
                }
                head => heads.push(head?),
            }
        }
        Ok(heads)
    }

    fn head(&mut self, row: &Row) -> Result<Found, Fault> {
        let (thread, ns): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
        let (thread, id) = (
            ThreadId::from(thread),
            CheckpointId::new(row.try_get::<_, &str>(4)?),
        );
        let place = place(&id, &thread, ns);
        let damaged = |cause: String| Fault::corrupt(&place, cause);
        let json: Option<&str> = row.try_get(9)?;
        let json = json.ok_or_else(|| damaged("its metadata is missing".to_owned()))?;
        let (parents, user) = self.meta(json).map_err(&damaged)?;
        let list = |column: usize| -> Result<Option<Vec<Name>>, Fault> {
            let Some(rows) = row.try_get::<_, Option<&[u8]>>(column)? else {
                return Ok(None);
            };
            let names =
                read_rows(rows).and_then(|rows| rows.into_iter().map(|row| self.names.expect(row)).collect());
            names.map(Some).map_err(&damaged)
        };
        let source: i16 = row.try_get(7)?;
        let source = usize::try_from(source)
            .ok()
            .and_then(|source| SOURCES.get(source));
        let count = |column: usize| -> Result<u32, Fault> {
            Ok(u32::try_from(row.try_get::<_, i64>(column)?).unwrap_or(u32::MAX))
        };
        Ok(Found {
            space: row.try_get(0)?,
            seq: row.try_get(3)?,
            head: CheckpointHead {
                ns: ns.into(),
                parent: row.try_get::<_, Option<&str>>(5)?.map(CheckpointId::new),
                ts: row.try_get(6)?,
                metadata: Metadata {
                    source: *source.ok_or_else(|| damaged("its source is unknown".to_owned()))?,
                    step: row.try_get(8)?,
                    parents,
                    user,
                },
                next: list(10)?.unwrap_or_default(),
                updated_channels: list(11)?,
                interrupted: count(12)?,
                failed: count(13)?,
                id,
            },
            thread,
        })
    }

    /// Metadata as stored, decoded once per operation.
    fn meta(&mut self, json: &str) -> Result<Meta, String> {
        if let Some(meta) = self.metas.get(json) {
            return Ok(meta.clone());
        }
        let meta = meta(json)?;
        self.metas.insert(json.to_owned(), meta.clone());
        Ok(meta)
    }

    /// Puts checkpoints together; with `keys`, only these values of them.
    async fn tuples(
        &mut self,
        found: Vec<Found>,
        chains: &[Row],
        writes: &[Row],
        keys: Option<&[Name]>,
    ) -> Result<Vec<CheckpointTuple>, Fault> {
        let mut deltas = Deltas::read(chains)?;
        let mut names: HashSet<i64> = deltas.names().collect();
        for write in writes {
            names.insert(write.try_get(4)?);
        }
        let known = self.names.clone();
        known.learn(&mut self.session, names).await?;
        let (mut states, mut spaces, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut warm: HashMap<i64, Value> = HashMap::new();
        for found in &found {
            let state = deltas.state(&known, found.space, found.head.id.as_str());
            let mut state = state.map_err(|cause| Fault::corrupt(found.place(), cause))?;
            if let Some(keys) = keys {
                state.values = state
                    .values
                    .into_iter()
                    .filter(|(key, _)| keys.contains(key))
                    .collect();
            }
            for row in state.values.values() {
                if warm.contains_key(row) {
                    continue;
                }
                match self.server.at_hand(*row).filter(|_| !self.afresh) {
                    Some(value) => drop(warm.insert(*row, value)),
                    None => {
                        spaces.push(found.space);
                        rows.push(*row);
                    }
                }
            }
            states.push(state);
        }
        let mut pending: HashMap<i64, Vec<&Row>> = HashMap::new();
        let mut parts = Vec::new();
        for write in writes {
            parts.extend(write.try_get::<_, Option<Vec<i64>>>(5)?.unwrap_or_default());
            pending.entry(write.try_get(0)?).or_default().push(write);
        }
        let (items, parts) = match rows.is_empty() && parts.is_empty() {
            true => (Vec::new(), Vec::new()),
            false => self.last(&spaces, &rows, &parts).await?,
        };
        let (mut items, mut library) = (Items::read(&items)?, Library::read(&parts)?);
        items.values = warm;
        let mut tuples = Vec::with_capacity(found.len());
        for (found, state) in found.into_iter().zip(states) {
            let place = found.place();
            let mut channel_values = ChannelValues::new();
            for (channel, row) in &state.values {
                let value = items.value(*row, &mut library).map_err(|cause| {
                    Fault::corrupt(format!("Channel {channel} of {}", lower(&place)), cause)
                })?;
                if let Some(size) = items.size(*row) {
                    self.server.have(*row, None, value.clone(), size);
                }
                channel_values.insert(channel.clone(), value);
            }
            let writes = pending.remove(&found.seq).unwrap_or_default();
            let pending_writes = writes
                .into_iter()
                .map(|row| pending_write(row, &known, &mut library, &place))
                .collect::<Result<_, _>>()?;
            let head = found.head;
            tuples.push(CheckpointTuple {
                thread: found.thread,
                ns: head.ns,
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
            });
        }
        Ok(tuples)
    }
}

fn pending_write(
    row: &Row,
    names: &Names,
    library: &mut Library,
    place: &str,
) -> Result<PendingWrite, Fault> {
    let task_id = TaskId::new(row.try_get::<_, &str>(1)?);
    let damaged =
        |cause: String| Fault::corrupt(format!("The writes of task {task_id} of {}", lower(place)), cause);
    let parts: Option<Vec<i64>> = row.try_get(5)?;
    let value = library.value(row.try_get(6)?, &parts.unwrap_or_default());
    let write = Write {
        idx: row.try_get(3)?,
        channel: names.expect(row.try_get(4)?).map_err(&damaged)?,
        value: value.map_err(&damaged)?,
    };
    Ok(PendingWrite {
        task_path: row.try_get::<_, &str>(2)?.into(),
        write,
        task_id,
    })
}

/// Reads metadata without source and step.
pub(super) fn meta(json: &str) -> Result<Meta, String> {
    let value: Value = serde_json::from_str(json).map_err(|e| format!("its metadata is not JSON: {e}"))?;
    match (value.at(0), value.at(1)) {
        (Some(Value::Object(parents)), Some(Value::Object(user))) => Ok((parents.clone(), user.clone())),
        _ => Err("its metadata has an unknown shape".to_owned()),
    }
}

/// What the server can look for: text without case where ASCII says what that means, and the status.
fn said(query: &ThreadQuery) -> (Option<String>, Option<&'static str>) {
    let search = query.search.as_ref().filter(|search| search.is_ascii());
    (
        search.map(|search| search.to_ascii_lowercase()),
        query.status.map(ThreadStatus::as_str),
    )
}

/// Down to which id a page is complete: `None` when it is everything.
fn complete_until(part: &[Row], page: i64) -> Result<Option<String>, Fault> {
    let mut spaces: HashMap<i64, (i64, &str)> = HashMap::new();
    for row in part {
        let id = row.try_get(4)?;
        let last = spaces.entry(row.try_get(0)?).or_insert((0, id));
        *last = (last.0 + 1, id);
    }
    let cut = spaces.into_values().filter(|(count, _)| *count == page);
    Ok(cut.map(|(_, last)| last.to_owned()).max())
}

/// The statement as it is planned best: one that may mean any thread is planned for all of them.
fn in_thread(sql: &str, thread: Option<&str>) -> String {
    match thread {
        Some(_) => sql.replace("($1::text IS NULL OR s.thread = $1)", "s.thread = $1"),
        None => sql.to_owned(),
    }
}

trait ConcatRows {
    fn concat_rows(self) -> Vec<Row>;
}

impl ConcatRows for Vec<Vec<Row>> {
    /// The rows of the only statement.
    fn concat_rows(self) -> Vec<Row> {
        self.into_iter().flatten().collect()
    }
}

fn lower(place: &str) -> String {
    place.replacen("Checkpoint", "checkpoint", 1)
}
