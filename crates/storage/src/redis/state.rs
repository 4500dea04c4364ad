//! What of a checkpoint is stored where: records that change each other, rows of values that continue each other.

use std::collections::HashMap;
use std::convert::Infallible;

use serde::{Deserialize, Serialize};
use superstep::value::List;
use superstep::{CheckpointId, Name, Value};

use crate::codec::compression;
use crate::codec::plain::{Head, Record};
use crate::codec::plan::{ChannelState, DeltaChain};

/// Rows of a list after which its newest items are written once more in one row...
const RUN: u32 = 64;
/// ...unless they hold more than this: reading long rows is not slower than reading the same bytes in one.
const FOLD_BYTES: usize = 16 * 1024;

/// A channel's version and the number of the row that holds its value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Held {
    /// It has no value.
    Empty(u64),
    /// Version and row.
    At(u64, u64),
}

/// Encodes a checkpoint for storage, after a line with the base that it changes, which the scripts read.
pub(super) fn record_text(record: &Record<Held>) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    if let (true, Some(base)) = (record.continues, &record.head.parent) {
        text.push(b'+');
        text.extend_from_slice(base.as_str().as_bytes());
    }
    text.push(b'\n');
    serde_json::to_writer(&mut text, record).map_err(|error| error.to_string())?;
    Ok(text)
}

/// Parses a stored record.
pub(super) fn read_record(text: &[u8]) -> Result<Record<Held>, String> {
    let end = text
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or("it has no first line")?;
    serde_json::from_slice(&text[end + 1..]).map_err(|error| format!("it is not a record: {error}"))
}

/// Returns the index key of a checkpoint.
pub(super) fn index_key(ns: &str, id: &CheckpointId) -> Vec<u8> {
    let mut key = ns.as_bytes().to_vec();
    key.push(0);
    key.extend_from_slice(id.as_str().as_bytes());
    key
}

/// Splits an index key into namespace and checkpoint.
pub(super) fn index_parts(key: &[u8]) -> Option<(Name, CheckpointId)> {
    let end = key.iter().position(|byte| *byte == 0)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some((text(&key[..end])?.into(), text(&key[end + 1..])?.into()))
}

/// A state whose values are rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    pub(super) state: ChannelState<u64>,
    /// Changes since a record that stands by itself. They have no weight: see `writer::plan`.
    pub(super) changes: DeltaChain,
}

impl Resolved {
    /// Resolves the record of a checkpoint together with those it builds on.
    pub(super) fn of(
        ns: &str,
        id: &CheckpointId,
        records: &HashMap<Vec<u8>, Vec<u8>>,
    ) -> Result<Self, String> {
        let mut chain = Vec::new();
        let mut at = Some(id.clone());
        let mut resolved = Self::default();
        while let Some(id) = at {
            let text = records
                .get(&index_key(ns, &id))
                .ok_or_else(|| format!("checkpoint {id}, on which it builds, is not there"))?;
            let record = read_record(text)?;
            at = record.continues.then(|| record.head.parent.clone()).flatten();
            if at.is_some() {
                resolved.changes.depth += 1;
            }
            if chain.len() > records.len() {
                return Err("it builds on itself".to_owned());
            }
            chain.push(record);
        }
        for record in chain.into_iter().rev() {
            resolved.change(record);
        }
        Ok(resolved)
    }

    /// Applies what a record says; gives its head.
    pub(super) fn change(&mut self, record: Record<Held>) -> Head {
        let Ok(head) = record.apply(&mut self.state, |_, _, held| {
            Ok::<_, Infallible>(match held {
                Held::Empty(version) => (version, None),
                Held::At(version, row) => (version, Some(row)),
            })
        });
        head
    }
}

/// First line of a row: the row that it continues, and for a list how it has grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) base: u64,
    pub(super) grown: Option<Grown>,
    /// How long the text is, when what follows is compressed.
    pub(super) whole: Option<u64>,
}

/// Growth of a list: its items, and the run of rows since the last one that holds many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grown {
    len: usize,
    run: u32,
    /// The row before the run, and how many items the list had there.
    before: u64,
    before_len: usize,
    /// Bytes of the run.
    bytes: usize,
}

impl Start {
    pub(super) fn read(row: &[u8]) -> Result<(Self, &[u8]), String> {
        let end = row
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("it has no first line")?;
        let line = std::str::from_utf8(&row[..end]).map_err(|_| "its first line is not text")?;
        let numbers: Vec<u64> = line
            .split(' ')
            .map(|number| number.parse().map_err(|_| "its first line is not numbers"))
            .collect::<Result<_, _>>()?;
        let (numbers, whole) = match numbers.split_last() {
            Some((whole, numbers)) if matches!(numbers.len(), 1 | 6) => (numbers, Some(*whole)),
            _ => (&numbers[..], None),
        };
        let start = match *numbers {
            [base] => Self {
                base,
                grown: None,
                whole,
            },
            [base, len, run, before, before_len, bytes] => Self {
                base,
                whole,
                grown: Some(Grown {
                    len: len as usize,
                    run: u32::try_from(run).unwrap_or(u32::MAX),
                    before,
                    before_len: before_len as usize,
                    bytes: bytes as usize,
                }),
            },
            _ => return Err("its first line has not as many numbers as it should".to_owned()),
        };
        Ok((start, &row[end + 1..]))
    }

    fn line(&self) -> String {
        let mut line = self.base.to_string();
        if let Some(grown) = self.grown {
            line += &format!(
                " {} {} {} {} {}",
                grown.len, grown.run, grown.before, grown.before_len, grown.bytes
            );
        }
        if let Some(whole) = self.whole {
            line += &format!(" {whole}");
        }
        line + "\n"
    }
}

/// Builds the row for a value: its items after those that are stored, when it is a list that only grew, or all of it.
pub(super) fn row(
    number: u64,
    value: &Value,
    grown_from: Option<(usize, u64, Grown)>,
) -> Result<(Vec<u8>, Start), String> {
    let json = |value: &Value| serde_json::to_vec(value).map_err(|error| error.to_string());
    if let Some((list, (from, stored_at, stored))) = continued(value, grown_from) {
        let (base, items_from, grown) = if stored.run >= RUN && stored.bytes <= FOLD_BYTES {
            (stored.before, stored.before_len, first_of_run(number, list))
        } else {
            let begins = stored.run >= RUN;
            let grown = Grown {
                len: list.len(),
                run: if begins { 1 } else { stored.run + 1 },
                before: if begins { stored_at } else { stored.before },
                before_len: if begins { from } else { stored.before_len },
                bytes: if begins { 0 } else { stored.bytes },
            };
            (stored_at, from, grown)
        };
        let items = json(&Value::Array(list.skip(items_from)))?;
        let mut grown = grown;
        if grown.run > 0 {
            grown.bytes += items.len();
        }
        return Ok(made(base, Some(grown), items));
    }
    let grown = value.as_array().map(|list| first_of_run(number, list));
    Ok(made(0, grown, json(value)?))
}

/// Returns a list that continues a stored one, with what it grew from: the length, the location and the growth of that.
pub(super) fn continued(
    value: &Value,
    grown_from: Option<(usize, u64, Grown)>,
) -> Option<(&List, (usize, u64, Grown))> {
    let (list, before) = (value.as_array()?, grown_from?);
    (before.2.len == before.0 && list.len() >= before.0).then_some((list, before))
}

fn first_of_run(number: u64, list: &List) -> Grown {
    Grown {
        len: list.len(),
        run: 0,
        before: number,
        before_len: list.len(),
        bytes: 0,
    }
}

fn made(base: u64, grown: Option<Grown>, json: Vec<u8>) -> (Vec<u8>, Start) {
    let whole = json.len() as u64;
    let data = compression::compressed(json);
    let start = Start {
        base,
        grown,
        whole: compression::is_compressed(&data).then_some(whole),
    };
    let mut row = start.line().into_bytes();
    row.extend_from_slice(&data);
    (row, start)
}

/// Builds the value in a row, given the rows it continues.
pub(super) fn value_of(number: u64, rows: &HashMap<u64, Vec<u8>>) -> Result<Value, String> {
    let mut pieces = Vec::new();
    let mut at = number;
    loop {
        let row = rows
            .get(&at)
            .ok_or_else(|| format!("row {at} of its values is not there"))?;
        let (start, data) = Start::read(row)?;
        let json = compression::decompressed(data).map_err(|cause| format!("row {at}: {cause}"))?;
        let value: Value =
            serde_json::from_slice(&json).map_err(|error| format!("row {at} is not a value: {error}"))?;
        if start.base == 0 && pieces.is_empty() {
            return Ok(value);
        }
        let Value::Array(list) = value else {
            return Err(format!("row {at} does not hold a list"));
        };
        pieces.push(list);
        if start.base == 0 {
            break;
        }
        if pieces.len() > rows.len() {
            return Err(format!("row {number} continues itself"));
        }
        at = start.base;
    }
    let mut whole = List::new();
    for piece in pieces.iter().rev() {
        whole.append(piece);
    }
    Ok(whole.into())
}
