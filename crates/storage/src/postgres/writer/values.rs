//! Where values are: a row for each, or a chain of rows for a list that grows.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use superstep::{Name, ThreadId, Value};

use super::{Space, Writer};
use crate::codec::chain::{self, Chained};
use crate::codec::plan;
use crate::postgres::batch::{Batch, ItemRow};
use crate::postgres::fault::PostgresFault;
use crate::postgres::server::Session;

/// Location of a channel's value.
#[derive(Clone, Debug)]
pub(super) struct PostgresSlot {
    pub(super) row: i64,
    /// When it is a list.
    pub(super) list: Option<Arc<ListLink>>,
}

/// A row of a list's chain.
#[derive(Debug)]
pub(super) struct ListLink {
    row: i64,
    len: usize,
    level: i64,
    run: i64,
    /// Bytes of its run up to it.
    bytes: i64,
    /// Length of the JSON of the list.
    whole: i64,
    /// The row before its run.
    before: Option<Arc<ListLink>>,
}

impl Writer {
    /// Stores a value, as the new items of a list whose beginning is already there, or whole; gives the length of its
    /// JSON with the slot. A number must be reserved.
    pub(super) fn store(
        &mut self,
        space: Space,
        channel: &Name,
        value: &Value,
        appended: Option<(usize, &PostgresSlot)>,
        thread: &ThreadId,
        batch: &mut Batch,
    ) -> Result<(PostgresSlot, i64), PostgresFault> {
        let row = self.next_number()?;
        let what = format!("channel {channel}");
        let mut item = ItemRow {
            space: space.id,
            id: row,
            base: None,
            len: value.as_array().map(|list| list.len() as i64),
            level: 0,
            run: 0,
            size: 0,
            whole: 0,
        };
        let (data, link) = match (appended, value) {
            (Some((from, PostgresSlot { list: Some(link), .. })), Value::Array(list))
                // What the engine says must fit what is stored, or the list would come back wrong.
                if link.len == from && list.len() >= from =>
            {
                let (base, level, run) =
                    chain::place(link.clone(), |last| Ok(last.before.clone().map(|before| (before, last.bytes))))?;
                let data = self.part_store.items(list.iter().skip(base.len), &what, thread)?;
                (item.base, item.level, item.run) = (Some(base.row), level, run);
                // Two lists in a row are one with a comma and two brackets less.
                item.whole = base.whole + data.size - 1;
                let (before, bytes) = match run {
                    1 => (Some(base), 0),
                    _ => (base.before.clone(), base.bytes),
                };
                let link = ListLink {
                    row,
                    len: list.len(),
                    level,
                    run,
                    bytes: bytes + data.data.len() as i64,
                    whole: item.whole,
                    before,
                };
                (data, Some(link))
            }
            _ => {
                let data = match value {
                    Value::Array(list) => self.part_store.items(list.iter(), &what, thread)?,
                    other => self.part_store.value(other, &what, thread)?,
                };
                item.whole = data.size;
                let link = value.as_array().map(|list| ListLink {
                    row,
                    len: list.len(),
                    level: 0,
                    run: 0,
                    bytes: data.data.len() as i64,
                    whole: data.size,
                    before: None,
                });
                (data, link)
            }
        };
        let size = item.whole;
        batch.item(item, data);
        let list = link.map(Arc::new);
        Ok((PostgresSlot { row, list }, size))
    }
}

impl plan::StoredSlot for PostgresSlot {
    fn row(&self) -> i64 {
        self.row
    }
}

impl Chained for Arc<ListLink> {
    type Error = PostgresFault;
    fn level(&self) -> i64 {
        self.level
    }
    fn run(&self) -> i64 {
        self.run
    }
}

/// Reads the chains of the lists among these rows.
pub(super) async fn links(
    session: &mut Session,
    space: i64,
    items: &[i64],
) -> Result<HashMap<i64, Option<Arc<ListLink>>>, PostgresFault> {
    let mut links: HashMap<i64, Option<Arc<ListLink>>> = HashMap::new();
    if items.is_empty() {
        return Ok(links);
    }
    let rows = session
        .query(
            "WITH RECURSIVE t (id, base) AS (
                 SELECT i.id, i.base FROM items i WHERE i.space = $1 AND i.id = ANY($2)
                 UNION
                 SELECT i.id, i.base FROM t JOIN items i ON i.space = $1 AND i.id = t.base
             )
             SELECT i.id, i.base, i.len, i.level, i.run, i.size, i.whole FROM t JOIN items i ON i.space = $1 AND i.id = t.id
             ORDER BY i.len",
            &[&space, &items],
        )
        .await?;
    // Shorter first, so what a row builds on is there before it; rows of equal length (an append of nothing) are
    // looked at again until nothing is added.
    let mut open: BTreeMap<usize, _> = rows.iter().enumerate().collect();
    while !open.is_empty() {
        let before = open.len();
        let mut later = BTreeMap::new();
        for (index, row) in open {
            let (id, base): (i64, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
            let Some(len) = row.try_get::<_, Option<i64>>(2)? else {
                links.insert(id, None);
                continue;
            };
            let base = match base.map(|base| links.get(&base).cloned()) {
                Some(None) => {
                    later.insert(index, row);
                    continue;
                }
                Some(Some(base)) => base,
                None => None,
            };
            let (run, size): (i64, i64) = (row.try_get(4)?, row.try_get(5)?);
            let (previous, bytes) = match (run, base) {
                (0 | 1, base) => (base, 0),
                (_, Some(base)) => (base.before.clone(), base.bytes),
                (_, None) => (None, 0),
            };
            let link = ListLink {
                row: id,
                len: usize::try_from(len).unwrap_or_default(),
                level: row.try_get(3)?,
                run,
                bytes: bytes + size,
                whole: row.try_get(6)?,
                before: previous,
            };
            links.insert(id, Some(Arc::new(link)));
        }
        // What builds on something missing is not built on: the next value is stored whole.
        if later.len() == before {
            break;
        }
        open = later;
    }
    Ok(links)
}
