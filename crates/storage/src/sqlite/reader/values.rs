//! Values: from chains of list rows, and the parts that they share.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row};
use superstep::{Name, Value};

use super::{View, lower};
use crate::codec::encoding::{Parts, ValueDecoder, hash, parse, read_refs};
use crate::codec::value::parse as json_value;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::slot::SqliteSlot;

impl View<'_> {
    /// Returns the value of a channel.
    pub(in crate::sqlite) fn channel(
        &mut self,
        channel: &Name,
        slot: &SqliteSlot,
        place: &str,
    ) -> Result<Value, SqliteFault> {
        let named = || format!("Channel {channel} of {}", lower(place));
        let read = match slot {
            SqliteSlot::Row(row, _) => self.value(*row),
            SqliteSlot::Text(text) => json_value(text).map_err(Unreadable::Damaged),
        };
        read.map_err(|cause| match cause {
            Unreadable::SqliteFault(fault) => fault.at(named),
            Unreadable::Damaged(cause) => SqliteFault::corrupt(named(), cause),
        })
    }

    fn value(&mut self, row: i64) -> Result<Value, Unreadable> {
        let (mut chain, mut refs) = (Vec::new(), Vec::new());
        let (mut at, mut whole_size) = (row, 0);
        let mut value = loop {
            let value_cache = || {
                self.value_cache
                    .and_then(|(value_cache, epoch)| value_cache.value(epoch, at))
            };
            if let Some(known) = self.memo.values.get(&at).cloned().or_else(value_cache) {
                break Some(known);
            }
            if self.hurry {
                return Err(SqliteFault::Cold.into());
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
                .decoder
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
                && let Some((value_cache, epoch)) = self.value_cache
            {
                value_cache.keep(epoch, row, None, whole.clone(), whole_size);
            }
            value = Some(whole);
        }
        Ok(value.unwrap_or_default())
    }

    /// Decodes stored bytes that refer to these parts into a value.
    pub(super) fn decode(&mut self, data: &[u8], refs: &[i64]) -> Result<Value, Unreadable> {
        self.read_parts(refs.to_vec())?;
        self.decoder
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
            let (decoder, known) = (&mut *self.decoder, &mut self.memo.parts);
            let mut keep = |row: &Row<'_>| -> Result<(), Unreadable> {
                let id: i64 = row.get(0)?;
                let refs = row.get_ref(2)?.as_blob_or_null().map_err(rusqlite::Error::from)?;
                if refs.is_none_or(<[u8]>::is_empty) {
                    // Most parts are text that refers to nothing: no copy is made of what is stored.
                    let data = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
                    let value = content(decoder, known, id, row.get(1)?, data)?;
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
            let value = content(self.decoder, &self.memo.parts, id, stored, &data)?;
            self.memo.parts.insert(id, value);
        }
        Ok(())
    }
}

/// Decodes the value of a part whose text had the hash `stored`; what it refers to is in `parts`.
fn content<P: Parts>(
    decoder: &mut ValueDecoder,
    parts: &P,
    id: i64,
    stored: i64,
    data: &[u8],
) -> Result<Value, Unreadable> {
    let damaged = |cause: String| Unreadable::Damaged(format!("part {id} of it: {cause}"));
    let (text, referring) = decoder.text(data).map_err(damaged)?;
    if hash(&text) != stored {
        return Err(damaged("its content is not what was stored".to_owned()));
    }
    parse(&text, referring, parts).map_err(damaged)
}

pub(super) enum Unreadable {
    SqliteFault(SqliteFault),
    Damaged(String),
}

impl From<SqliteFault> for Unreadable {
    fn from(fault: SqliteFault) -> Self {
        Unreadable::SqliteFault(fault)
    }
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Unreadable::SqliteFault(error.into())
    }
}
