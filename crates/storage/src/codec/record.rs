//! Records of rows: what a checkpoint changes, and what a task wrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::Name;
use superstep::checkpoint::TaskId;

use super::bytes::{Cursor, Decoded, put_number, put_row};
use super::text::uuid_bytes;

/// Channel name rows and the versions that a node has seen.
pub(crate) type SeenRows = Vec<(i64, u64)>;

/// Changes of a checkpoint against its parent, or, as a snapshot, everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Delta {
    /// Channel name row, version (`None`: the channel is gone), row of the value in `items` (0: it has none).
    pub(crate) channels: Vec<(i64, Option<u64>, i64)>,
    /// JSON text of values that are shorter than a row of their own would be, by channel name row.
    pub(crate) texts: BTreeMap<i64, Arc<[u8]>>,
    /// Node name row, channels it has seen (`None`: the entry is gone).
    pub(crate) seen: Vec<(i64, Option<SeenRows>)>,
}

impl Delta {
    pub(crate) fn encode(&self) -> Vec<u8> {
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
        // Older releases wrote no such part, and without texts there is none.
        if !self.texts.is_empty() {
            put_number(&mut out, self.texts.len() as u64);
            for (channel, text) in &self.texts {
                put_row(&mut out, *channel);
                put_number(&mut out, text.len() as u64);
                out.extend_from_slice(text);
            }
        }
        out
    }

    pub(crate) fn decode(blob: &[u8]) -> Decoded<Self> {
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
        if !cursor.0.is_empty() {
            for _ in 0..cursor.count()? {
                let channel = cursor.row()?;
                let len = cursor.count()?;
                delta.texts.insert(channel, cursor.bytes(len)?.into());
            }
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
pub(crate) struct Rows(pub(crate) Vec<(i32, i64, Vec<u8>)>);

impl Rows {
    /// Adds a write by the rule of the slots: negative ones replace, the others are kept when already there.
    pub(crate) fn add(&mut self, idx: i32, channel: i64, json: Vec<u8>) {
        match self.0.iter_mut().find(|(known, ..)| *known == idx) {
            Some(row) if idx < 0 => *row = (idx, channel, json),
            Some(_) => {}
            None => self.0.push((idx, channel, json)),
        }
    }

    pub(crate) fn encode(mut self) -> Vec<u8> {
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

    pub(crate) fn decode(blob: &[u8]) -> Decoded<Self> {
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

/// Writes that are short enough to stand in the row of their checkpoint: for each task its id, its path and what [`Rows`]
/// made of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tasks(pub(crate) Vec<(TaskId, Name, Vec<u8>)>);

impl Tasks {
    /// Returns whether the tasks fit into this many bytes; called before they are encoded.
    pub(crate) fn fits(&self, most: usize) -> bool {
        let bytes = |(_, path, rows): &(TaskId, Name, Vec<u8>)| path.len() + rows.len();
        self.0.iter().map(bytes).sum::<usize>() <= most
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.0.iter().map(|(.., rows)| rows.len() + 48).sum());
        for (task, path, rows) in &self.0 {
            // No length means the 16 bytes of a UUID, as most ids are.
            match uuid_bytes(task.as_str()) {
                Some(bytes) => {
                    put_number(&mut out, 0);
                    out.extend_from_slice(&bytes);
                }
                None => {
                    put_number(&mut out, task.as_str().len() as u64 + 1);
                    out.extend_from_slice(task.as_str().as_bytes());
                }
            }
            for bytes in [path.as_bytes(), rows] {
                put_number(&mut out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
        out
    }

    pub(crate) fn decode(blob: &[u8]) -> Decoded<Self> {
        let mut cursor = Cursor(blob);
        let mut tasks = Vec::new();
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| "a name is not text".to_owned());
        while !cursor.0.is_empty() {
            let task = match cursor.count()?.checked_sub(1) {
                None => uuid::Uuid::from_slice(cursor.bytes(16)?)
                    .map_err(|error| error.to_string())?
                    .to_string(),
                Some(len) => text(cursor.bytes(len)?)?.to_owned(),
            };
            let len = cursor.count()?;
            let path = text(cursor.bytes(len)?)?.into();
            let len = cursor.count()?;
            tasks.push((TaskId::new(task), path, cursor.bytes(len)?.to_vec()));
        }
        Ok(Tasks(tasks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_writes_of_tasks_come_back_as_they_were() {
        let mut tasks = Tasks::default();
        for (task, path) in [
            ("0190a000-0000-8000-8000-00000000000a", "~__pregel_pull, node"),
            ("0190A000-0000-8000-8000-00000000000A", ""),
            ("", "é"),
            ("a task", "~__pregel_push, 0"),
        ] {
            tasks.0.push((task.into(), path.into(), task.as_bytes().to_vec()));
        }
        let blob = tasks.encode();
        assert_eq!(Tasks::decode(&blob), Ok(tasks));
        assert_eq!(Tasks::decode(b""), Ok(Tasks::default()));
        assert!(Tasks::decode(&blob[..blob.len() - 1]).is_err());
        assert!(Tasks::decode(&[0xff; 40]).is_err());
        assert!(Tasks::decode(&[2, 0xff, 0, 0]).is_err(), "no text");
    }

    #[test]
    fn deltas_and_writes_come_back_as_they_were() {
        let delta = Delta {
            channels: vec![(1, Some(0), 0), (300, None, 0), (2, Some(u64::MAX - 1), i64::MAX)],
            seen: vec![
                (5, None),
                (6, Some(vec![])),
                (7, Some(vec![(1, 9), (2, 1 << 40)])),
            ],
            texts: BTreeMap::new(),
        };
        let plain = delta.encode();
        assert_eq!(Delta::decode(&plain), Ok(delta.clone()));
        let delta = Delta {
            texts: [(1, b"null"[..].into()), (300, b"\"\""[..].into())].into(),
            ..delta
        };
        assert!(delta.encode().starts_with(&plain));
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
            texts: [(1, b"12"[..].into())].into(),
        };
        let whole = Delta {
            texts: BTreeMap::new(),
            ..good.clone()
        };
        let (good, whole) = (good.encode(), whole.encode());
        for cut in (0..good.len()).filter(|cut| *cut != whole.len()) {
            assert!(
                Delta::decode(&good[..cut]).is_err(),
                "{cut} bytes of a delta were accepted"
            );
        }
        assert!(Delta::decode(&[0xff; 40]).is_err());
        assert!(Rows::decode(&[0xff; 40]).is_err());
        assert!(Rows::decode(&[9, 0, 1, 1, b'x']).is_err());
    }
}
