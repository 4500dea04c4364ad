//! What is stored takes so much: of everything, of each thread, of each key and checkpoint.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension};
use superstep::checkpoint::{CheckpointUsage, KeySums, StorageError, ThreadBreakdown, ThreadUsage, Usage};
use superstep::{CheckpointId, ThreadId};

use crate::codec::encoding::read_refs;
use crate::codec::record::Delta;

use super::columns::{IdColumn, time_text};
use super::fault::SqliteFault;
use super::parts::{CHECKPOINT_BYTES, ROW_BYTES};
use super::reader::{View, refs_of_writes};

/// Counter of the bytes of rows, each once. Damaged rows count with what can be read of them.
struct Scale<'a> {
    conn: &'a Connection,
    items: HashSet<i64>,
    parts: HashSet<i64>,
}

impl<'a> Scale<'a> {
    fn new(conn: &'a Connection) -> Self {
        Self {
            conn,
            items: HashSet::new(),
            parts: HashSet::new(),
        }
    }

    /// Returns the bytes of a value row with what it builds on.
    fn item(&mut self, item: i64) -> Result<u64, SqliteFault> {
        let (mut bytes, mut at) = (0, Some(item));
        while let Some(item) = at.filter(|item| self.items.insert(*item)) {
            let row: Option<(Option<i64>, i64, Option<Vec<u8>>)> = self
                .conn
                .prepare_cached("SELECT base, length(data), refs FROM items WHERE id = ?1")?
                .query_row([item], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((base, length, refs)) = row else { break };
            bytes += (length + ROW_BYTES).unsigned_abs();
            bytes += self.parts(read_refs(refs.as_deref()).unwrap_or_default())?;
            at = base;
        }
        Ok(bytes)
    }

    fn parts(&mut self, mut open: Vec<i64>) -> Result<u64, SqliteFault> {
        let mut bytes = 0;
        while let Some(part) = open.pop() {
            if !self.parts.insert(part) {
                continue;
            }
            let row: Option<(i64, Option<Vec<u8>>)> = self
                .conn
                .prepare_cached("SELECT length(data), refs FROM parts WHERE id = ?1")?
                .query_row([part], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((length, refs)) = row else { continue };
            bytes += (length + ROW_BYTES).unsigned_abs();
            open.extend(read_refs(refs.as_deref()).unwrap_or_default());
        }
        Ok(bytes)
    }

    fn writes(&mut self, checkpoint: i64) -> Result<u64, SqliteFault> {
        let mut bytes = 0;
        let mut statement = self
            .conn
            .prepare_cached("SELECT data FROM writes WHERE checkpoint = ?1")?;
        let mut rows = statement.query([checkpoint])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(0)?.as_bytes().unwrap_or_default();
            bytes += data.len() as u64 + ROW_BYTES.unsigned_abs();
            bytes += self.parts(refs_of_writes(data).unwrap_or_default())?;
        }
        Ok(bytes)
    }
}

impl View<'_> {
    pub(super) fn usage(&mut self) -> Result<Usage, SqliteFault> {
        let number = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, i64>(0));
        let page = number("PRAGMA page_size")?;
        let mut usage = Usage {
            bytes: (page * number("PRAGMA page_count")?).unsigned_abs(),
            free: (page * number("PRAGMA freelist_count")?).unsigned_abs(),
            shared: number("SELECT coalesce(sum(s.more * length(p.data)), 0) FROM shares s JOIN parts p ON p.id = s.part")?
                .unsigned_abs(),
            store: number(
                "SELECT (SELECT coalesce(sum(length(namespace) + length(key) + octet_length(value)), 0) FROM store_items)
                      + (SELECT coalesce(sum(length(data)), 0) FROM store_vectors)
                      + (SELECT coalesce(sum(length(block)), 0) FROM store_words_data WHERE id > 10)",
            )?
            .unsigned_abs(),
            threads: Vec::new(),
        };
        let mut names = self.conn.prepare_cached("SELECT name FROM threads")?;
        let names = names
            .query_map([], |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        for name in names {
            let thread = ThreadId::new(name);
            let (mut checkpoints, mut bytes) = (0, 0);
            self.weigh(&thread, |found| {
                checkpoints += 1;
                bytes += found.bytes;
            })?;
            usage.threads.push(ThreadUsage {
                thread,
                checkpoints,
                bytes,
            });
        }
        usage
            .threads
            .sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.thread.cmp(&b.thread)));
        Ok(usage)
    }

    pub(super) fn breakdown(&mut self, thread: &ThreadId) -> Result<ThreadBreakdown, SqliteFault> {
        let mut checkpoints = Vec::new();
        let keys = self.weigh(thread, |found| checkpoints.push(found))?;
        checkpoints.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(ThreadBreakdown {
            keys: keys.sorted(),
            checkpoints,
        })
    }

    /// Returns what each checkpoint of a thread added, in the order in which they were stored, and what its keys took.
    fn weigh(
        &mut self,
        thread: &ThreadId,
        mut each: impl FnMut(CheckpointUsage),
    ) -> Result<KeySums, SqliteFault> {
        let conn = self.conn;
        let mut scale = Scale::new(conn);
        let mut keys = KeySums::default();
        let mut statement = conn.prepare_cached(
            "SELECT c.seq, s.ns, c.id, c.step, c.ts, c.delta, coalesce(length(c.tasks), 0) FROM threads t JOIN spaces s ON s.thread = t.id
             JOIN checkpoints c ON c.space = s.id WHERE t.name = ?1 ORDER BY c.seq",
        )?;
        let mut rows = statement.query([thread.as_str()])?;
        while let Some(row) = rows.next()? {
            let seq = row.get(0)?;
            let blob = row.get_ref(5)?.as_bytes().unwrap_or_default();
            let mut bytes = blob.len() as u64 + (row.get::<_, i64>(6)? + CHECKPOINT_BYTES).unsigned_abs();
            let delta = Delta::decode(blob).unwrap_or_default();
            for (channel, _, item) in delta.channels {
                let text = delta.texts.get(&channel);
                if (item == 0 && text.is_none()) || scale.items.contains(&item) {
                    continue;
                }
                let key = match self.names.name(conn, channel) {
                    Ok(key) => key,
                    Err(SqliteFault::Storage(StorageError::Corrupt { .. })) => continue,
                    Err(fault) => return Err(fault),
                };
                // A text is part of the delta, whose bytes count already.
                let (added, size) = match text {
                    Some(text) => (text.len() as u64, text.len() as u64),
                    None => {
                        let added = scale.item(item)?;
                        bytes += added;
                        (added, whole(conn, item)?)
                    }
                };
                keys.add(&key, added, size);
            }
            bytes += scale.writes(seq)?;
            let damaged = |fault: rusqlite::Error| {
                SqliteFault::from(fault).at(|| format!("A checkpoint of thread {thread}"))
            };
            each(CheckpointUsage {
                ns: row.get::<_, String>(1)?.into(),
                id: CheckpointId::new(row.get::<_, IdColumn>(2).map_err(damaged)?.0),
                step: row.get(3).map_err(damaged)?,
                ts: time_text(row.get_ref(4)?).map_err(|e| SqliteFault::corrupt("A time stamp", e))?,
                bytes,
            });
        }
        Ok(keys)
    }
}

/// Returns the length of the JSON of a whole value. An older release did not record it; its rows hold JSON text.
fn whole(conn: &Connection, item: i64) -> Result<u64, SqliteFault> {
    let (mut bytes, mut at) = (0, Some(item));
    while let Some(item) = at {
        let row: Option<(Option<i64>, Option<i64>, i64)> = conn
            .prepare_cached("SELECT size, base, length(data) FROM items WHERE id = ?1")?
            .query_row([item], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        match row {
            Some((Some(size), ..)) => return Ok(bytes + size.unsigned_abs()),
            // A base that is not older would be a circle.
            Some((None, base, length)) => {
                bytes += length.unsigned_abs();
                at = base.filter(|base| *base < item);
            }
            None => at = None,
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_builds_on_itself_is_measured_once() {
        let conn = Connection::open_in_memory().expect("there is memory");
        conn.execute_batch(
            "CREATE TABLE items (id INTEGER PRIMARY KEY, size INTEGER, base INTEGER, data);
             INSERT INTO items VALUES (1, NULL, 1, 'itself'), (2, NULL, 3, 'ab'), (3, NULL, 2, 'abc'),
                 (4, NULL, 2, 'abcd'), (5, 40, 4, 'x'), (6, NULL, 5, 'yz');",
        )
        .expect("a table as the schema has it");
        for (item, bytes) in [(1, 6), (2, 2), (3, 5), (4, 6), (5, 40), (6, 42), (7, 0)] {
            assert_eq!(whole(&conn, item).expect("reads"), bytes, "item {item}");
        }
    }
}
