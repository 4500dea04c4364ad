//! Everything that decodes what is stored is given bytes that nobody stored: at random, and what was stored with some of
//! its bytes changed, left out or repeated. It answers with an error or a value, and never with a panic or without end.
//! `SUPERSTEP_FUZZ_ROUNDS=1000000` tries more of it.

use std::collections::HashMap;

use superstep::{Value, json};

use super::bytes::{read_rows, rows_blob};
use super::encoding::{Compressor, EncodedValue, ValueDecoder, read_refs, refs_blob, split};
use super::plain::{JournalEntry, Record, WrittenSlot, read_back};
use super::record::{Delta, Rows, Tasks};
use super::value::parse;

/// Numbers that are the same in each run, and bytes spoiled by them.
pub(crate) struct FuzzBytes(pub(crate) u64);

impl FuzzBytes {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.below(80);
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Returns a corrupted copy of stored bytes.
    pub(crate) fn spoil(&mut self, stored: &[u8]) -> Vec<u8> {
        let mut bytes = stored.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match (self.below(5), bytes.is_empty()) {
                (_, true) => bytes = self.bytes(),
                (0, _) => bytes.truncate(at),
                (1, _) => drop(bytes.remove(at)),
                (2, _) => bytes.insert(at, self.next() as u8),
                (3, _) => {
                    let end = at + self.below(bytes.len() - at);
                    bytes.extend_from_within(at..end);
                }
                _ => bytes[at] ^= 1 << self.below(8),
            }
        }
        bytes
    }
}

pub(crate) fn rounds() -> u64 {
    let asked = std::env::var("SUPERSTEP_FUZZ_ROUNDS").ok();
    asked.and_then(|rounds| rounds.parse().ok()).unwrap_or(20_000)
}

#[test]
fn records_of_rows() {
    let delta = Delta {
        channels: vec![(1, Some(3), 0), (300, None, 0), (2, Some(u64::MAX - 1), i64::MAX)],
        seen: vec![(5, None), (7, Some(vec![(1, 9), (2, 1 << 40)]))],
        texts: [(1, b"null"[..].into()), (300, b"[1, 2]"[..].into())].into(),
    };
    let mut rows = Rows::default();
    for (idx, text) in [(2, "{}"), (0, "\"a\""), (-4, "null")] {
        rows.add(idx, 7, text.into());
    }
    let tasks = Tasks(vec![
        (
            "0190a000-0000-8000-8000-00000000000a".into(),
            "a path".into(),
            rows.clone().encode(),
        ),
        ("a task".into(), "".into(), vec![0]),
    ]);
    let (delta, rows, tasks) = (delta.encode(), rows.encode(), tasks.encode());
    let refs = refs_blob(&[1, 5, 900, i64::MAX]).expect("there are some");
    let numbers = rows_blob(&[3, 1, 1 << 50]);
    let mut fuzz = FuzzBytes(0x9E37_79B9_7F4A_7C15);
    let mut read = 0;
    for round in 0..rounds() {
        let bytes = match round % 6 {
            0 => fuzz.bytes(),
            1 => fuzz.spoil(&delta),
            2 => fuzz.spoil(&rows),
            3 => fuzz.spoil(&refs),
            4 => fuzz.spoil(&tasks),
            _ => fuzz.spoil(&numbers),
        };
        // What is taken is what would be stored for it.
        if let Ok(delta) = Delta::decode(&bytes) {
            assert_eq!(Delta::decode(&delta.encode()), Ok(delta), "{bytes:?}");
            read += 1;
        }
        if let Ok(rows) = Rows::decode(&bytes) {
            let again = Rows::decode(&rows.clone().encode()).expect("it was made here");
            assert_eq!(again.0.len(), rows.0.len(), "{bytes:?}");
        }
        if let Ok(tasks) = Tasks::decode(&bytes) {
            assert_eq!(Tasks::decode(&tasks.encode()), Ok(tasks), "{bytes:?}");
        }
        let _ = read_refs(Some(&bytes));
        let _ = read_rows(&bytes);
        let _ = split(&bytes);
    }
    assert!(read > 0, "some of it can be read");
}

#[test]
fn values() {
    let mut compressor = Compressor::new().expect("there is memory");
    let long = "words that come again and again, ".repeat(60);
    let plain = json!({"text": long.as_str(), "list": [1, {"deep": ["é", null]}], "short": 1.5}).to_string();
    let referring = json!({"text": "\u{0}1", "list": [1, {"deep": ["\u{0}2", "\u{0}\u{0}5"]}]}).to_string();
    let data = compressor.data(referring.as_bytes(), true);
    let encoded = EncodedValue {
        data: data.clone(),
        refs: vec![1, 2],
        ..EncodedValue::default()
    };
    let stored = [
        plain.clone().into_bytes(),
        compressor.plain(plain.as_bytes()),
        data,
        encoded.into_bytes(),
    ];
    let mut decoder = ValueDecoder::new().expect("there is memory");
    let parts: HashMap<i64, Value> = (1..4).map(|n| (n, json!(long.as_str()))).collect();
    let mut fuzz = FuzzBytes(0xD1B5_4A32_D192_ED03);
    let mut refused = 0;
    for round in 0..rounds() {
        let bytes = match round % 4 {
            0 => fuzz.bytes(),
            _ => {
                let one = fuzz.below(stored.len());
                fuzz.spoil(&stored[one])
            }
        };
        let read = split(&bytes).and_then(|(_, data)| decoder.value(data, &parts));
        refused += u64::from(read.is_err());
        let _ = decoder.text(&bytes);
        let _ = parse(&bytes);
    }
    assert!(refused > rounds() / 4, "{refused} of {}", rounds());
}

/// Creates a record with every part that one can have.
pub(crate) fn record() -> Value {
    json!({
        "head": {
            "id": "0190a000-0000-7000-8000-000000000001", "parent": "0190a000-0000-7000-8000-000000000000",
            "ts": "2026-01-01T00:00:00+00:00", "source": "loop", "step": 3, "next": ["a"], "user": {"run_id": "r"},
        },
        "continues": true,
        "channels": {"n": {"set": [4, 1]}, "log": {"add": [5, 2, [1, {"x": "y"}]]}, "gone": null, "empty": {"empty": 3}},
        "seen": {"a": {"n": 3}, "b": null},
    })
}

#[test]
fn records_of_text() {
    let record = record();
    let entry = json!({"ns": "", "put": record, "writes": [
        {"of": "x", "task": "t", "writes": [[0, "n", 1], [-3, "__interrupt__", ["?"]]]},
    ]});
    let stored = [record.to_string(), entry.to_string()];
    let mut fuzz = FuzzBytes(0xA076_1D64_78BD_642F);
    for _ in 0..rounds() {
        let one = fuzz.below(stored.len());
        let bytes = fuzz.spoil(stored[one].as_bytes());
        if let Ok(record) = serde_json::from_slice::<Record<WrittenSlot>>(&bytes) {
            let _ = read_back(record, None);
        }
        let _ = serde_json::from_slice::<JournalEntry>(&bytes);
    }
}
