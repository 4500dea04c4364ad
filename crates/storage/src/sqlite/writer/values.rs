//! Values as rows: a list that grew as its new items, everything else whole.

use super::*;

/// A row of a list's chain.
#[derive(Clone, Copy, Debug)]
struct Row(i64, Link);

impl Chained for Row {
    type Error = SqliteFault;
    fn level(&self) -> i64 {
        self.1.level
    }
    fn run(&self) -> i64 {
        self.1.run
    }
}

impl Writer {
    /// Stores a value: as the new items of a list whose beginning is already there, or whole.
    pub(super) fn store(
        &mut self,
        channel: &Name,
        value: &Value,
        appended: Option<(usize, &SqliteSlot)>,
        thread: &ThreadId,
    ) -> Result<SqliteSlot, SqliteFault> {
        let place = || format!("channel {channel}");
        if let (Some((from, SqliteSlot::Row(base, shape))), Value::Array(list)) = (appended, value)
            && let Some(link) = self.link(*base, *shape)?
            // What the engine says must fit what is stored, or the list would come back wrong.
            && link.len == from
            && list.len() >= from
        {
            let newest = *base;
            let (Row(base, before), level, run) =
                chain::place(Row(newest, link), |row| self.before_run(row))?;
            let new = list.skip(before.len);
            // The items of a folded row are in no other row as they are here.
            let long = match level {
                0 => LongList::Part,
                _ => LongList::Inline,
            };
            let encoded = self.encode(parts::PartSource::Items(new.iter(), long), place, thread)?;
            let comma = u64::from(before.len > 0 && !new.is_empty());
            let link = Link {
                len: list.len(),
                level,
                run,
                size: before
                    .size
                    .map(|size| size + encoded.size.saturating_sub(2) + comma),
            };
            let slot = self.insert_item(Some(base), Shape::List(link), encoded)?;
            self.fresh.value(&slot, Some(newest), value, link.size);
            return Ok(slot);
        }
        if let Some(text) = short(value, SHORT) {
            return Ok(SqliteSlot::Text(text.into()));
        }
        let encoded = self.encode(one(value), place, thread)?;
        let shape = match value.as_array() {
            None => Shape::Plain,
            Some(list) => Shape::List(Link {
                len: list.len(),
                level: 0,
                run: 0,
                size: Some(encoded.size),
            }),
        };
        let size = encoded.size;
        let slot = self.insert_item(None, shape, encoded)?;
        self.fresh.value(&slot, None, value, Some(size));
        Ok(slot)
    }

    pub(super) fn insert_item(
        &mut self,
        base: Option<i64>,
        shape: Shape,
        encoded: EncodedValue,
    ) -> Result<SqliteSlot, SqliteFault> {
        let (len, level, run, size) = match shape {
            Shape::List(link) => (Some(link.len as i64), link.level, link.run, link.size),
            _ => (None, 0, 0, Some(encoded.size)),
        };
        let row = self.insert(
            "INSERT INTO items (base, len, level, run, data, refs, size) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[
                &base,
                &len,
                &level,
                &run,
                &encoded.data,
                &refs_blob(&encoded.refs),
                &size.map(|size| size as i64),
            ],
        )?;
        Ok(SqliteSlot::Row(row, shape))
    }

    /// Encodes a value; what it refers to is counted.
    pub(super) fn encode<'v>(
        &mut self,
        source: parts::PartSource<'v, impl Iterator<Item = &'v Value>>,
        what: impl Fn() -> String,
        thread: &ThreadId,
    ) -> Result<EncodedValue, SqliteFault> {
        self.part_store
            .encode(&self.conn, source)
            .map_err(|error| match error {
                EncodeError::Sink(fault) => fault,
                EncodeError::TooDeep => nested(&what(), thread).into(),
            })
    }

    /// Returns the link of a list row; `None` when the value is not a list or its row is gone.
    fn link(&mut self, row: i64, shape: Shape) -> Result<Option<Link>, SqliteFault> {
        match shape {
            Shape::Plain => Ok(None),
            Shape::List(link) => Ok(Some(link)),
            Shape::Unread => Ok(self.read_link(row)?.map(|row| row.0)),
        }
    }

    /// Reads the link of a list row, its base and its bytes.
    pub(super) fn read_link(&self, row: i64) -> Result<Option<(Link, Option<i64>, i64)>, SqliteFault> {
        let found = self
            .conn
            .prepare_cached("SELECT len, level, run, size, base, length(data) FROM items WHERE id = ?1")?
            .query_row([row], |row| {
                let Some(len) = row.get::<_, Option<u32>>(0)? else {
                    return Ok(None);
                };
                let link = Link {
                    len: len as usize,
                    level: row.get(1)?,
                    run: row.get(2)?,
                    size: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
                };
                Ok(Some((link, row.get(4)?, row.get(5)?)))
            })
            .optional()?;
        Ok(found.flatten())
    }

    /// Returns the row before the run that this row ends, and the bytes of the run.
    fn before_run(&self, row: &Row) -> Result<Option<(Row, i64)>, SqliteFault> {
        let (mut at, mut bytes, mut boundary) = (row.0, 0, None);
        for _ in 0..row.1.run {
            let Some((_, Some(before), size)) = self.read_link(at)? else {
                break;
            };
            bytes += size;
            at = before;
            boundary = Some(before);
        }
        let Some(row) = boundary else { return Ok(None) };
        Ok(self.read_link(row)?.map(|(link, ..)| (Row(row, link), bytes)))
    }
}

/// Returns the source for packing one value.
pub(super) fn one<'v>(value: &'v Value) -> parts::PartSource<'v, std::iter::Empty<&'v Value>> {
    parts::PartSource::Value(value)
}
