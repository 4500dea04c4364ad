//! The compact bytes inside rows: numbers of variable length, ids, deltas of versions, the writes of a task.
//!
//! Everything here is decoded with checks: a damaged row becomes an error with a reason, never a panic.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value as Sql, ValueRef};

/// Why bytes could not be understood.
pub(super) type Decoded<T> = Result<T, String>;

/// An id as a column: 16 bytes when it is a canonical UUID, its text otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IdColumn(pub(super) String);

impl ToSql for IdColumn {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(id_column(&self.0))
    }
}

/// The column value of an id.
pub(super) fn id_column(text: &str) -> ToSqlOutput<'_> {
    match uuid_bytes(text) {
        Some(bytes) => ToSqlOutput::Owned(Sql::Blob(bytes.to_vec())),
        None => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    }
}

fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    // Only the canonical form comes back from bytes as the same text.
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    canonical.then(|| uuid::Uuid::try_parse(text).ok().map(uuid::Uuid::into_bytes))?
}

impl FromSql for IdColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => uuid::Uuid::from_slice(bytes)
                .map(|id| IdColumn(id.to_string()))
                .map_err(|e| FromSqlError::Other(Box::new(e))),
            ValueRef::Text(_) => Ok(IdColumn(value.as_str()?.to_owned())),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A time stamp as a column: milliseconds when that gives the same text back.
pub(super) fn time_column(ts: &str) -> Sql {
    match millis(ts) {
        Some(ms) => Sql::Integer(ms),
        None => Sql::Text(ts.to_owned()),
    }
}

/// The text of a time stamp column.
pub(super) fn time_text(column: ValueRef<'_>) -> FromSqlResult<String> {
    match column {
        ValueRef::Integer(ms) => u64::try_from(ms)
            .map(superstep::iso8601)
            .map_err(|_| FromSqlError::OutOfRange(ms)),
        other => Ok(other.as_str()?.to_owned()),
    }
}

fn millis(ts: &str) -> Option<i64> {
    let field = |from: usize, to: usize| ts.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    // Days from civil, the inverse of the engine's iso8601.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let seconds = days * 86_400 + field(11, 13)? * 3_600 + field(14, 16)? * 60 + field(17, 19)?;
    let ms = seconds * 1_000 + field(20, 23)?;
    (superstep::iso8601(u64::try_from(ms).ok()?) == ts).then_some(ms)
}

/// Appends a number, 7 bits a byte.
pub(super) fn put_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Takes numbers off bytes.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn number(&mut self) -> Decoded<u64> {
        let (mut n, mut shift) = (0_u64, 0);
        loop {
            let (&byte, rest) = self.0.split_first().ok_or("it ends in the middle of a number")?;
            self.0 = rest;
            if shift > 63 {
                return Err("a number is too long".to_owned());
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
            shift += 7;
        }
    }

    pub(super) fn row(&mut self) -> Decoded<i64> {
        i64::try_from(self.number()?).map_err(|_| "a row number is too large".to_owned())
    }

    /// A count of things of at least one byte each: more than the bytes left is damage, not a size to reserve.
    pub(super) fn count(&mut self) -> Decoded<usize> {
        let n = usize::try_from(self.number()?).map_err(|_| "a count is too large".to_owned())?;
        if n > self.0.len() {
            Err("a count is larger than the record".to_owned())
        } else {
            Ok(n)
        }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Decoded<&'a [u8]> {
        if len > self.0.len() {
            return Err("it is shorter than it says".to_owned());
        }
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(taken)
    }
}

/// Appends a row number.
pub(super) fn put_row(out: &mut Vec<u8>, row: i64) {
    put_number(out, row.unsigned_abs());
}

/// A list of name rows.
pub(super) fn rows_blob(rows: &[i64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() + 1);
    for &row in rows {
        put_row(&mut out, row);
    }
    out
}

/// Reads what [`rows_blob`] wrote.
pub(super) fn read_rows(blob: &[u8]) -> Decoded<Vec<i64>> {
    let mut cursor = Cursor(blob);
    let mut rows = Vec::new();
    while !cursor.0.is_empty() {
        rows.push(cursor.row()?);
    }
    Ok(rows)
}

/// Channel name rows and the versions that a node has seen.
pub(super) type SeenRows = Vec<(i64, u64)>;

/// What a checkpoint changes against its parent, or, as a snapshot, everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Delta {
    /// Channel name row, version (`None`: the channel is gone), row of the value in `items` (0: no value).
    pub(super) channels: Vec<(i64, Option<u64>, i64)>,
    /// Node name row, channels it has seen (`None`: the entry is gone).
    pub(super) seen: Vec<(i64, Option<SeenRows>)>,
}

impl Delta {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 + 6 * self.channels.len() + 8 * self.seen.len());
        put_number(&mut out, self.channels.len() as u64);
        for &(channel, version, value) in &self.channels {
            put_row(&mut out, channel);
            put_optional(&mut out, version);
            put_row(&mut out, value);
        }
        put_number(&mut out, self.seen.len() as u64);
        for (node, versions) in &self.seen {
            put_row(&mut out, *node);
            put_optional(&mut out, versions.as_ref().map(|versions| versions.len() as u64));
            for &(channel, version) in versions.iter().flatten() {
                put_row(&mut out, channel);
                put_number(&mut out, version);
            }
        }
        out
    }

    pub(super) fn decode(blob: &[u8]) -> Decoded<Self> {
        let mut cursor = Cursor(blob);
        let mut delta = Delta::default();
        for _ in 0..cursor.count()? {
            delta
                .channels
                .push((cursor.row()?, optional(&mut cursor)?, cursor.row()?));
        }
        for _ in 0..cursor.count()? {
            let node = cursor.row()?;
            let versions = match optional(&mut cursor)? {
                None => None,
                Some(n) => {
                    let mut versions = Vec::new();
                    for _ in 0..n {
                        versions.push((cursor.row()?, cursor.number()?));
                    }
                    Some(versions)
                }
            };
            delta.seen.push((node, versions));
        }
        if cursor.0.is_empty() {
            Ok(delta)
        } else {
            Err("it is longer than it says".to_owned())
        }
    }
}

// 0 is nothing, n + 1 is n. Versions and counts never come near the end of the range.
fn put_optional(out: &mut Vec<u8>, n: Option<u64>) {
    put_number(out, n.map_or(0, |n| n.saturating_add(1)));
}

fn optional(cursor: &mut Cursor<'_>) -> Decoded<Option<u64>> {
    Ok(cursor.number()?.checked_sub(1))
}

/// The writes of a task as stored: idx, channel name row, JSON text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows(pub(super) Vec<(i32, i64, Vec<u8>)>);

impl Rows {
    /// Adds a write by the rule of the slots: negative ones replace, the others are kept when already there.
    pub(super) fn add(&mut self, idx: i32, channel: i64, json: Vec<u8>) {
        match self.0.iter_mut().find(|(known, ..)| *known == idx) {
            Some(row) if idx < 0 => *row = (idx, channel, json),
            Some(_) => {}
            None => self.0.push((idx, channel, json)),
        }
    }

    pub(super) fn encode(mut self) -> Vec<u8> {
        self.0.sort_by_key(|(idx, ..)| *idx);
        let mut out = Vec::with_capacity(self.0.iter().map(|(.., json)| json.len() + 4).sum::<usize>() + 2);
        put_number(&mut out, self.0.len() as u64);
        for (idx, channel, json) in &self.0 {
            // Zigzag keeps the small negative slots small.
            put_number(&mut out, u64::from(((idx << 1) ^ (idx >> 31)) as u32));
            put_row(&mut out, *channel);
            put_number(&mut out, json.len() as u64);
        }
        for (.., json) in &self.0 {
            out.extend_from_slice(json);
        }
        out
    }

    pub(super) fn decode(blob: &[u8]) -> Decoded<Self> {
        let mut cursor = Cursor(blob);
        let mut slots = Vec::new();
        for _ in 0..cursor.count()? {
            let zigzag = u32::try_from(cursor.number()?).map_err(|_| "a write index is too large")?;
            let idx = (zigzag >> 1) as i32 ^ -((zigzag & 1) as i32);
            let channel = cursor.row()?;
            let len = usize::try_from(cursor.number()?).map_err(|_| "a length is too large")?;
            slots.push((idx, channel, len));
        }
        let mut rows = Vec::with_capacity(slots.len());
        for (idx, channel, len) in slots {
            rows.push((idx, channel, cursor.bytes(len)?.to_vec()));
        }
        if cursor.0.is_empty() {
            Ok(Rows(rows))
        } else {
            Err("it is longer than it says".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_and_writes_come_back_as_they_were() {
        let delta = Delta {
            channels: vec![(1, Some(0), 0), (300, None, 0), (2, Some(u64::MAX - 1), i64::MAX)],
            seen: vec![
                (5, None),
                (6, Some(vec![])),
                (7, Some(vec![(1, 9), (2, 1 << 40)])),
            ],
        };
        assert_eq!(Delta::decode(&delta.encode()), Ok(delta));
        let mut rows = Rows::default();
        for (idx, text) in [
            (2, "c"),
            (0, "a"),
            (-4, "old"),
            (0, "again"),
            (-4, "new"),
            (i32::MAX, "z"),
        ] {
            rows.add(idx, 1, text.as_bytes().to_vec());
        }
        let back = Rows::decode(&rows.encode()).expect("own bytes");
        let texts: Vec<_> = back
            .0
            .iter()
            .map(|(idx, _, json)| (*idx, String::from_utf8_lossy(json).into_owned()))
            .collect();
        let want = [(-4, "new"), (0, "a"), (2, "c"), (i32::MAX, "z")];
        assert_eq!(texts, want.map(|(i, s)| (i, s.to_owned())));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let good = Delta {
            channels: vec![(1, Some(4), 7)],
            seen: vec![(2, Some(vec![(1, 3)]))],
        }
        .encode();
        for cut in 0..good.len() {
            assert!(
                Delta::decode(&good[..cut]).is_err(),
                "{cut} bytes of a delta were accepted"
            );
        }
        assert!(Delta::decode(&[0xff; 40]).is_err());
        assert!(Rows::decode(&[0xff; 40]).is_err());
        assert!(Rows::decode(&[9, 0, 1, 1, b'x']).is_err());
    }

    #[test]
    fn times_and_ids_keep_their_text() {
        for ms in [0, 951_827_696_789, 1_795_224_600_123, 253_402_300_799_999] {
            assert_eq!(time_column(&superstep::iso8601(ms)), Sql::Integer(ms as i64));
        }
        for odd in [
            "",
            "yesterday",
            "2026-11-21T09:30:00Z",
            "2026-13-41T09:30:00.123+00:00",
        ] {
            assert_eq!(
                time_column(odd),
                Sql::Text(odd.to_owned()),
                "{odd:?} is not in the usual form"
            );
        }
        for id in [
            "0190a000-0000-7000-8000-000000000001",
            "0190A000-0000-7000-8000-000000000001",
            "cp-1",
            "",
        ] {
            let column = match id_column(id) {
                ToSqlOutput::Owned(owned) => owned,
                ToSqlOutput::Borrowed(borrowed) => borrowed.try_into().expect("text"),
                _ => panic!("an id column is a plain value"),
            };
            assert_eq!(
                IdColumn::column_result((&column).into()).expect("own column").0,
                id
            );
        }
    }
}
