//! Reads checkpoints back: heads without values, states from deltas, values from chains of list rows.
//!
//! One operation is one transaction that sees one moment. Its first statements travel together with its beginning, and
//! its last one with its end, so that reading a checkpoint takes two round trips.

mod statements;
mod states;
mod threads;
mod tuples;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::future::{try_join, try_join3};
use superstep::checkpoint::{
    ChannelValues, CheckpointHead, CheckpointTuple, ListQuery, Metadata, StorageError,
};
use superstep::value::Object;
use superstep::{CheckpointId, Name, ThreadId, Value};
use tokio_postgres::Row;

use crate::base::quarantine::passed_over;
use crate::codec::bytes::read_rows;
use crate::codec::plan::{SOURCES, read_metadata};

use super::fault::PostgresFault;
use super::names::Names;
use super::server::{Params, Server, Session};
pub(super) use statements::CHAINS;
use statements::{CHAIN_OF, HEAD_OF, HEADS, HEADS_BY_ID, HEADS_OF_STEP, ITEMS, PARTS, WRITES, WRITES_OF};
pub(super) use states::Deltas;

/// Sorts after every id: no text begins with this many of the last character.
const AFTER_ALL: &str = "\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}\u{10ffff}";
/// Rows that are looked through at a time when something is looked for that the server cannot find.
const PAGE: i64 = 500;

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

/// Returns the name of a checkpoint for messages.
pub(super) fn place(id: &CheckpointId, thread: &ThreadId, ns: &str) -> String {
    let ns = match ns {
        "" => String::new(),
        ns => format!(" (namespace {ns})"),
    };
    format!("Checkpoint {id} of thread {thread}{ns}")
}

/// One read operation.
pub(super) struct View {
    pub(super) session: Session,
    server: Arc<Server>,
    pub(super) names: Arc<Names>,
    metas: HashMap<String, Meta>,
    /// Inside a transaction.
    open: bool,
    /// Only what the server holds counts, and not what is in memory.
    pub(super) afresh: bool,
}

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Treatment of a head that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDamage {
    /// The whole answer is an error.
    Fail,
    /// It is left out.
    PassOver,
}

impl OnDamage {
    /// Returns what applies to a query: a list of many threads does not hide the others behind one.
    fn of(query: &ListQuery) -> Self {
        if query.thread.is_none() {
            Self::PassOver
        } else {
            Self::Fail
        }
    }
}

impl View {
    pub(super) async fn new(server: &Arc<Server>, names: &Arc<Names>) -> Result<Self, PostgresFault> {
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
    pub(super) async fn close<T>(self, outcome: Result<T, PostgresFault>) -> Result<T, PostgresFault> {
        if let Err(PostgresFault::Sql(_)) = outcome {
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
    ) -> Result<Vec<Vec<Row>>, PostgresFault> {
        let prepared = self.session.prepare_all(statements.map(|(sql, _)| sql)).await?;
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
    ) -> Result<(Vec<Row>, Vec<Row>), PostgresFault> {
        let [items, library] = self.session.prepare_all([ITEMS, PARTS]).await?;
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
    ) -> Result<Option<CheckpointTuple>, PostgresFault> {
        let thread = thread.as_str();
        let id = id.map(CheckpointId::as_str);
        let target: Params<'_> = &[&thread, &ns, &id];
        let answers = self
            .together([(HEAD_OF, target), (CHAIN_OF, target), (WRITES_OF, target)])
            .await?;
        let [head, chain, writes] = &answers[..] else {
            return Ok(None);
        };
        let found = self.heads_of(head, OnDamage::Fail).await?;
        Ok(self.tuples(found, chain, writes, None).await?.pop())
    }

    pub(super) async fn values(
        &mut self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, PostgresFault> {
        let thread = thread.as_str();
        let id = id.map(CheckpointId::as_str);
        let target: Params<'_> = &[&thread, &ns, &id];
        let answers = self.together([(HEAD_OF, target), (CHAIN_OF, target)]).await?;
        let [head, chain] = &answers[..] else {
            return Ok(None);
        };
        let found = self.heads_of(head, OnDamage::Fail).await?;
        let tuple = self.tuples(found, chain, &[], Some(keys)).await?.pop();
        Ok(tuple.map(|tuple| tuple.checkpoint.channel_values))
    }

    pub(super) async fn list(&mut self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, PostgresFault> {
        let found = self.select(query).await?;
        let place = |found: &Found| (found.thread.clone(), found.head.ns.clone(), found.head.id.clone());
        let places: Vec<_> = found.iter().map(place).collect();
        match self.whole(found).await {
            // What cannot be read of one thread does not hide the others, nor the rest of it.
            Err(PostgresFault::Storage(StorageError::Corrupt { .. })) if query.thread.is_none() => {}
            whole => return whole,
        }
        let mut tuples = Vec::with_capacity(places.len());
        for (thread, ns, id) in places {
            match self.get(&thread, &ns, Some(&id)).await {
                Err(PostgresFault::Storage(error @ StorageError::Corrupt { .. })) => {
                    passed_over(&thread, &error)
                }
                found => tuples.extend(found?),
            }
        }
        Ok(tuples)
    }

    /// Loads the whole checkpoints of these heads.
    pub(super) async fn whole(&mut self, found: Vec<Found>) -> Result<Vec<CheckpointTuple>, PostgresFault> {
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

    pub(super) async fn heads(&mut self, query: &ListQuery) -> Result<Vec<CheckpointHead>, PostgresFault> {
        let found = self.select(query).await?;
        Ok(found.into_iter().map(|found| found.head).collect())
    }

    /// Selects matching heads, newest first; equal ids of copied threads in thread and namespace order.
    pub(super) async fn select(&mut self, query: &ListQuery) -> Result<Vec<Found>, PostgresFault> {
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
            let mut found = self.heads_of(&rows, OnDamage::of(query)).await?;
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
            let mut part = self.heads_of(&rows, OnDamage::of(query)).await?;
            // Each namespace gave a number of its newest: beyond the last of one that was cut off, others may be missing.
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

    async fn learn_names(&mut self, rows: &[Row]) -> Result<(), PostgresFault> {
        let mut names = HashSet::new();
        for row in rows {
            for column in [10, 11] {
                let list: Option<&[u8]> = row.try_get(column)?;
                names.extend(list.and_then(|list| read_rows(list).ok()).unwrap_or_default());
            }
        }
        self.names.learn(&mut self.session, names).await
    }

    /// Reads the heads in these rows.
    async fn heads_of(&mut self, rows: &[Row], damage: OnDamage) -> Result<Vec<Found>, PostgresFault> {
        self.learn_names(rows).await?;
        let mut heads = Vec::with_capacity(rows.len());
        for row in rows {
            match self.head(row) {
                Err(PostgresFault::Storage(error @ StorageError::Corrupt { .. }))
                    if damage == OnDamage::PassOver =>
                {
                    passed_over(&ThreadId::from(row.try_get::<_, &str>(1)?), &error);
                }
                head => heads.push(head?),
            }
        }
        Ok(heads)
    }

    fn head(&mut self, row: &Row) -> Result<Found, PostgresFault> {
        let (thread, ns): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
        let (thread, id) = (
            ThreadId::from(thread),
            CheckpointId::new(row.try_get::<_, &str>(4)?),
        );
        let place = place(&id, &thread, ns);
        let damaged = |cause: String| PostgresFault::corrupt(&place, cause);
        let json: Option<&str> = row.try_get(9)?;
        let json = json.ok_or_else(|| damaged("its metadata is missing".to_owned()))?;
        let (parents, user) = self.meta(json).map_err(&damaged)?;
        let list = |column: usize| -> Result<Option<Vec<Name>>, PostgresFault> {
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
        let count = |column: usize| -> Result<u32, PostgresFault> {
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

    /// Decodes stored metadata, once per operation.
    fn meta(&mut self, json: &str) -> Result<Meta, String> {
        if let Some(meta) = self.metas.get(json) {
            return Ok(meta.clone());
        }
        let meta = read_metadata(json)?;
        self.metas.insert(json.to_owned(), meta.clone());
        Ok(meta)
    }
}

/// Returns the id down to which a page is complete; `None` when it holds everything.
fn complete_until(part: &[Row], page: i64) -> Result<Option<String>, PostgresFault> {
    let mut spaces: HashMap<i64, (i64, &str)> = HashMap::new();
    for row in part {
        let id = row.try_get(4)?;
        let last = spaces.entry(row.try_get(0)?).or_insert((0, id));
        *last = (last.0 + 1, id);
    }
    let cut = spaces.into_values().filter(|(count, _)| *count == page);
    Ok(cut.map(|(_, last)| last.to_owned()).max())
}

/// Returns the statement in the form that is planned best: one that may mean any thread is planned for all of them.
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
    /// Returns the rows of the only statement.
    fn concat_rows(self) -> Vec<Row> {
        self.into_iter().flatten().collect()
    }
}
