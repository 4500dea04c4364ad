//! Long parts of values, each stored once for the whole database.
//!
//! A part's number is made from its content, so a writer knows it without asking; a second, longer hash beside it
//! finds out when two contents have come to the same number, and the commit is then planned with other numbers. A row of
//! `items` or `writes` names every part that it needs, also those inside others, and a part counts the rows that name
//! it: anyone who removes rows knows what nobody needs any more.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sha2::{Digest, Sha256};
use superstep::checkpoint::StorageError;
use superstep::{ThreadId, Value};
use tokio_postgres::Row;

use crate::codec::encoding::{
    Compressor, Content, EncodeError, EncodedValue, LongList, PartSink, ValueDecoder, ValueEncoder,
};
use crate::codec::value::{json, nested};

use super::fault::PostgresFault;

/// Parts that are remembered as stored.
const REMEMBERED: usize = 8192;

/// A part that is to be stored.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) hash: Vec<u8>,
    /// The parts right inside it.
    pub(super) below: Vec<i64>,
    /// The parts inside it at any depth.
    all: Vec<i64>,
    /// Nothing when it is known to be stored.
    pub(super) data: Option<Vec<u8>>,
}

/// A value as a row holds it.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) data: Vec<u8>,
    /// Every part that it needs.
    pub(super) parts: Vec<i64>,
    /// Length of the JSON of all of it.
    pub(super) size: i64,
}

/// Encodes values of the commits of one statement.
pub(super) struct PartStore {
    encoder: ValueEncoder,
    sink: PartWriter,
    /// Parts that are in the database.
    stored: HashSet<i64>,
}

struct PartWriter {
    compressor: Compressor,
    /// Goes into the numbers.
    salt: u64,
    kept: BTreeMap<i64, Part>,
}

impl PartStore {
    pub(super) fn new() -> Result<Self, StorageError> {
        Ok(Self {
            encoder: ValueEncoder::default(),
            sink: PartWriter {
                compressor: Compressor::new().map_err(memory)?,
                salt: 0,
                kept: BTreeMap::new(),
            },
            stored: HashSet::new(),
        })
    }

    /// Forgets which parts are stored; from now on, parts get other numbers than with other salts.
    pub(super) fn forget(&mut self, salt: u64) {
        self.stored.clear();
        self.sink.salt = salt;
    }

    /// Ends encoding; must be called before the encoded values are dropped. With `stored`, their parts are in the
    /// database now.
    pub(super) fn done(&mut self, stored: bool) {
        self.encoder.forget();
        let kept = std::mem::take(&mut self.sink.kept);
        if stored {
            if self.stored.len() > REMEMBERED {
                self.stored.clear();
            }
            self.stored.extend(kept.into_keys());
        }
    }

    /// Returns a part of what was encoded since [`PartStore::done`].
    pub(super) fn part(&self, id: i64) -> Option<Part> {
        let part = self.sink.kept.get(&id)?;
        let mut part = part.clone();
        if self.stored.contains(&id) {
            part.data = None;
        }
        Some(part)
    }

    pub(super) fn value(
        &mut self,
        value: &Value,
        what: &str,
        thread: &ThreadId,
    ) -> Result<Stored, StorageError> {
        let encoded = self.encoder.value(value, &mut self.sink);
        self.sink.stored(encoded, what, thread)
    }

    /// Encodes items of a list.
    pub(super) fn items<'a>(
        &mut self,
        items: impl Iterator<Item = &'a Value>,
        what: &str,
        thread: &ThreadId,
    ) -> Result<Stored, StorageError> {
        let encoded = self.encoder.list(items, LongList::Part, &mut self.sink);
        self.sink.stored(encoded, what, thread)
    }

    /// Encodes a value so that it names no parts: a value that may be replaced, so that nobody has to track what is no
    /// longer needed.
    pub(super) fn alone(
        &mut self,
        value: &Value,
        what: &str,
        thread: &ThreadId,
    ) -> Result<Stored, StorageError> {
        let text = json(value, what, thread)?;
        Ok(Stored {
            data: self.sink.compressor.plain(&text),
            parts: Vec::new(),
            size: text.len() as i64,
        })
    }
}

impl PartWriter {
    fn stored(
        &self,
        encoded: Result<EncodedValue, EncodeError<StorageError>>,
        what: &str,
        thread: &ThreadId,
    ) -> Result<Stored, StorageError> {
        match encoded {
            Ok(encoded) => Ok(Stored {
                parts: self.all(&encoded.refs),
                size: i64::try_from(encoded.size).unwrap_or(i64::MAX),
                data: encoded.data,
            }),
            Err(EncodeError::TooDeep) => Err(nested(what, thread)),
            Err(EncodeError::Sink(error)) => Err(error),
        }
    }

    fn all(&self, parts: &[i64]) -> Vec<i64> {
        let mut all: BTreeSet<i64> = parts.iter().copied().collect();
        for part in parts {
            all.extend(self.kept.get(part).into_iter().flat_map(|part| &part.all));
        }
        all.into_iter().collect()
    }
}

impl PartSink for PartWriter {
    type Error = StorageError;

    fn keep(&mut self, part: &Content<'_>) -> Result<i64, StorageError> {
        let mut digest = Sha256::new();
        digest.update(self.salt.to_le_bytes());
        digest.update([u8::from(part.referring)]);
        digest.update(part.text);
        let digest = digest.finalize();
        let mut number = [0; 8];
        number.copy_from_slice(&digest[..8]);
        // Positive, and never nothing.
        let id = (i64::from_le_bytes(number) & i64::MAX).max(1);
        if !self.kept.contains_key(&id) {
            let kept = Part {
                hash: digest[8..24].to_vec(),
                below: part.refs.to_vec(),
                all: self.all(part.refs),
                data: Some(self.compressor.data(part.text, part.referring)),
            };
            self.kept.insert(id, kept);
        }
        Ok(id)
    }

    fn compressor(&mut self) -> &mut Compressor {
        &mut self.compressor
    }
}

/// Parts as they are read back.
pub(super) struct Library {
    rows: HashMap<i64, (Vec<i64>, Vec<u8>)>,
    values: HashMap<i64, Value>,
    decoder: ValueDecoder,
}

impl Library {
    pub(super) fn read(rows: &[Row]) -> Result<Self, PostgresFault> {
        let mut parts = HashMap::with_capacity(rows.len());
        for row in rows {
            parts.insert(row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?));
        }
        Ok(Self {
            rows: parts,
            values: HashMap::new(),
            decoder: ValueDecoder::new().map_err(memory)?,
        })
    }

    /// Decodes the data of a row that names these parts into its value.
    pub(super) fn value(&mut self, data: &[u8], parts: &[i64]) -> Result<Value, String> {
        // A part comes after those inside it.
        let mut open: Vec<(i64, bool)> = parts.iter().map(|part| (*part, false)).collect();
        while let Some((part, ready)) = open.pop() {
            if self.values.contains_key(&part) {
                continue;
            }
            let Some((below, data)) = self.rows.get(&part) else {
                return Err(format!("part {part} of it is missing"));
            };
            if ready {
                let value = self.decoder.value(data, &self.values)?;
                self.values.insert(part, value);
                continue;
            }
            if open.len() > 2 * (self.rows.len() + parts.len()) + below.len() {
                return Err("its parts are inside each other".to_owned());
            }
            open.push((part, true));
            open.extend(below.iter().map(|part| (*part, false)));
        }
        self.decoder.value(data, &self.values)
    }
}

fn memory(error: std::io::Error) -> StorageError {
    StorageError::Backend {
        what: "preparing to encode values".to_owned(),
        cause: error.to_string(),
        remedy: "Close other programs and try again".to_owned(),
    }
}
