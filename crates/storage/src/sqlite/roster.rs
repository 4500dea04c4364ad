//! The newest root checkpoint of every thread, in the order of lists. It is kept in memory from one operation to the next,
//! so that a page of a list needs no walk over the threads before and after it.
//!
//! Within an epoch no checkpoint is removed and a new one has a larger number than all before it, so the epoch and the
//! largest number say which moment a roster shows, and a later one differs only by the checkpoints with larger numbers.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Found;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, Row, params};
use superstep::ThreadId;
use superstep::checkpoint::{CheckpointHead, Source, ThreadPlace};

use super::space::{Space, head};
use crate::codec::text::uuid_bytes;

/// Threads up to which a roster is kept: some ten megabytes.
const KEPT: usize = 100_000;
/// New checkpoints up to which a roster is brought up to date, beside one for each thread that it has.
const FOLLOWED: i64 = 1024;

/// The newest root checkpoint of every thread. The order is made in memory.
const ALL: &str = head!(
    ", t.name, s.id",
    "threads t
     CROSS JOIN spaces s ON s.thread = t.id AND s.ns = ''
     CROSS JOIN checkpoints c ON c.space = s.id
         AND c.id = (SELECT max(n.id) FROM checkpoints n INDEXED BY checkpoints_by_id WHERE n.space = s.id)
     LEFT JOIN checkpoints p ON p.seq = c.parent"
);

/// Every root checkpoint after a number.
const SINCE: &str = head!(
    ", t.name, s.id",
    "checkpoints c NOT INDEXED
     CROSS JOIN spaces s ON s.id = c.space AND s.ns = ''
     CROSS JOIN threads t ON t.id = s.thread
     LEFT JOIN checkpoints p ON p.seq = c.parent
     WHERE c.seq > ?1"
);

/// A checkpoint's id in the order of its column: text comes before bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum IdKey {
    Text(Box<str>),
    Uuid([u8; 16]),
}

impl From<&str> for IdKey {
    fn from(id: &str) -> Self {
        match uuid_bytes(id) {
            Some(bytes) => IdKey::Uuid(bytes),
            None => IdKey::Text(id.into()),
        }
    }
}

/// The newest root checkpoint of a thread, with what never changes. Its head could be read, so lists show the thread.
#[derive(Debug)]
pub(super) struct NewestHead {
    id: IdKey,
    pub(super) thread: ThreadId,
    pub(super) space: i64,
    pub(super) seq: i64,
    pub(super) ts: Sql,
    pub(super) source: Source,
    pub(super) step: i64,
    pub(super) meta: i64,
    pub(super) has_next: bool,
}

impl NewestHead {
    /// Creates it from a row and the head that was read from there.
    pub(super) fn new(row: &Row<'_>, space: &Space, head: &CheckpointHead) -> rusqlite::Result<Self> {
        Ok(Self {
            id: IdKey::from(head.id.as_str()),
            thread: space.thread.clone(),
            space: space.row,
            seq: row.get(0)?,
            ts: row.get(4)?,
            source: head.metadata.source,
            step: head.metadata.step,
            meta: row.get(7)?,
            has_next: !head.next.is_empty(),
        })
    }

    /// Returns the id of the checkpoint.
    pub(super) fn id(&self) -> String {
        match &self.id {
            IdKey::Text(text) => text.to_string(),
            IdKey::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string(),
        }
    }
}

/// The newest root checkpoints of all threads at a moment, the newest first, equal ones by the names of their threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    heads: Vec<Arc<NewestHead>>,
    /// The moment: the count of removals, and the largest number of a checkpoint.
    epoch: Option<i64>,
    last: i64,
}

/// The roster that was read last.
#[derive(Debug, Default)]
pub(super) struct KeptRoster(Mutex<Option<Arc<Roster>>>);

impl KeptRoster {
    /// Returns the roster at the moment that a transaction sees; nothing is kept without an epoch. `read` reads the head
    /// of a row, or skips a damaged one.
    pub(super) fn at<E: From<rusqlite::Error>>(
        &self,
        conn: &Connection,
        epoch: Option<i64>,
        read: impl FnMut(&Row<'_>, &Space) -> Result<Option<NewestHead>, E>,
    ) -> Result<Arc<Roster>, E> {
        let last = "SELECT coalesce(max(seq), 0) FROM checkpoints";
        let last: i64 = conn.prepare_cached(last)?.query_row([], |row| row.get(0))?;
        let kept = self.0.lock().clone();
        let kept = kept.filter(|kept| epoch.is_some() && kept.epoch == epoch);
        let roster = match kept {
            Some(kept) if kept.last == last => return Ok(kept),
            Some(kept) if kept.is_near(last) => kept.followed(conn, last, read)?,
            _ => Roster::read(conn, epoch, last, read)?,
        };
        let roster = Arc::new(roster);
        let mut kept = self.0.lock();
        let is_newer = |kept: &Arc<Roster>| (kept.epoch, kept.last) < (epoch, last);
        if epoch.is_some() && roster.heads.len() <= KEPT && kept.as_ref().is_none_or(is_newer) {
            *kept = Some(roster.clone());
        }
        Ok(roster)
    }
}

impl Roster {
    fn read<E: From<rusqlite::Error>>(
        conn: &Connection,
        epoch: Option<i64>,
        last: i64,
        read: impl FnMut(&Row<'_>, &Space) -> Result<Option<NewestHead>, E>,
    ) -> Result<Self, E> {
        let mut roster = Self {
            heads: Vec::new(),
            epoch,
            last,
        };
        each(conn, ALL, None, read, |head| roster.heads.push(Arc::new(head)))?;
        roster.sort();
        Ok(roster)
    }

    /// Returns whether reading the checkpoints up to this number is less work than reading every thread.
    fn is_near(&self, last: i64) -> bool {
        let threads = i64::try_from(self.heads.len()).unwrap_or(i64::MAX);
        self.last < last && last - self.last <= threads.saturating_add(FOLLOWED)
    }

    /// Returns the roster with the checkpoints up to this number.
    fn followed<E: From<rusqlite::Error>>(
        &self,
        conn: &Connection,
        last: i64,
        read: impl FnMut(&Row<'_>, &Space) -> Result<Option<NewestHead>, E>,
    ) -> Result<Self, E> {
        let mut newer: HashMap<i64, NewestHead> = HashMap::new();
        each(conn, SINCE, Some(self.last), read, |head| {
            match newer.entry(head.space) {
                Found::Vacant(place) => {
                    place.insert(head);
                }
                Found::Occupied(mut place) => {
                    if place.get().id < head.id {
                        place.insert(head);
                    }
                }
            }
        })?;
        let mut heads = Vec::with_capacity(self.heads.len() + newer.len());
        for head in &self.heads {
            match newer.remove(&head.space) {
                // A thread may be given a checkpoint that is older than its newest.
                Some(new) if new.id > head.id => heads.push(Arc::new(new)),
                _ => heads.push(head.clone()),
            }
        }
        heads.extend(newer.into_values().map(Arc::new));
        let mut roster = Self {
            heads,
            epoch: self.epoch,
            last,
        };
        roster.sort();
        Ok(roster)
    }

    fn sort(&mut self) {
        let order = |a: &Arc<NewestHead>, b: &Arc<NewestHead>| {
            b.id.cmp(&a.id)
                .then_with(|| a.thread.as_str().cmp(b.thread.as_str()))
        };
        self.heads.sort_by(order);
    }

    /// Returns all heads, in order.
    pub(super) fn heads(&self) -> &[Arc<NewestHead>] {
        &self.heads
    }

    /// Returns the heads after a place, in order.
    pub(super) fn after(&self, place: &ThreadPlace) -> &[Arc<NewestHead>] {
        let (id, thread) = (IdKey::from(place.head.as_str()), place.thread.as_str());
        let is_before =
            |head: &Arc<NewestHead>| head.id > id || (head.id == id && head.thread.as_str() <= thread);
        &self.heads[self.heads.partition_point(is_before)..]
    }
}

/// Calls `found` with the checkpoints of a statement that can be read.
fn each<E: From<rusqlite::Error>>(
    conn: &Connection,
    sql: &str,
    since: Option<i64>,
    mut read: impl FnMut(&Row<'_>, &Space) -> Result<Option<NewestHead>, E>,
    mut found: impl FnMut(NewestHead),
) -> Result<(), E> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = match since {
        Some(since) => statement.query(params![since])?,
        None => statement.query([])?,
    };
    while let Some(row) = rows.next()? {
        let space = Space {
            row: row.get(13)?,
            thread: ThreadId::new(row.get::<_, String>(12)?),
            ns: "".into(),
        };
        if let Some(head) = read(row, &space)? {
            found(head);
        }
    }
    Ok(())
}
