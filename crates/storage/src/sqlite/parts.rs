//! Long parts of values as the writer keeps them: found by content, counted, and gone with their last reference.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};
use superstep::checkpoint::StorageError;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::codec::encoding::{
    Compressor, Content, EncodeError, EncodedValue, LongList, PartSink, ValueDecoder, ValueEncoder, hash,
    read_refs, refs_blob,
};

use super::fault::SqliteFault;

/// Contents that are found without asking the database.
const REMEMBERED: usize = 1 << 16;
/// What a row takes beside its data, about.
pub(super) const ROW_BYTES: i64 = 24;
/// What a checkpoint takes beside its delta, about: two ids, and an entry in each of two indices.
pub(super) const CHECKPOINT_BYTES: i64 = 96;

fn no_memory(error: std::io::Error) -> StorageError {
    StorageError::Backend {
        what: "making room for compressing".to_owned(),
        cause: error.to_string(),
        remedy: "Close other programs and try again".to_owned(),
    }
}

/// Creates the decoder that decodes stored values.
pub(super) fn decoder() -> Result<ValueDecoder, StorageError> {
    ValueDecoder::new().map_err(no_memory)
}

/// The parts of a database.
pub(super) struct PartStore {
    compressor: Compressor,
    decoder: ValueDecoder,
    encoder: ValueEncoder,
    /// Parts by a hash of their content. Its seed differs from process to process, so nobody can make two contents meet.
    met: HashMap<u128, i64>,
    seed: u64,
    /// How many more (or fewer) references each part has than the database says.
    owed: HashMap<i64, i64>,
}

/// The sink while a value is encoded.
struct PartWriter<'a> {
    conn: &'a Connection,
    compressor: &'a mut Compressor,
    decoder: &'a mut ValueDecoder,
    met: &'a mut HashMap<u128, i64>,
    owed: &'a mut HashMap<i64, i64>,
    seed: u64,
}

/// Source of what is encoded.
pub(super) enum PartSource<'a, I> {
    /// A value.
    Value(&'a superstep::Value),
    /// Items of a list.
    Items(I, LongList),
}

impl PartStore {
    pub(super) fn new() -> Result<Self, StorageError> {
        Ok(Self {
            compressor: Compressor::new().map_err(no_memory)?,
            decoder: decoder()?,
            encoder: ValueEncoder::default(),
            met: HashMap::new(),
            seed: uuid::Uuid::new_v4().as_u64_pair().0,
            owed: HashMap::new(),
        })
    }

    /// Returns the decoder that decodes stored values.
    pub(super) fn decoder(&mut self) -> &mut ValueDecoder {
        &mut self.decoder
    }

    /// Forgets everything that is known of the database.
    pub(super) fn forget(&mut self) {
        self.met.clear();
        self.owed.clear();
        self.encoder.forget();
    }

    /// Releases the values that were encoded; they may be dropped after this.
    pub(super) fn let_go(&mut self) {
        self.encoder.forget();
    }

    /// Encodes a value for a row that is about to be stored, and counts its references.
    pub(super) fn encode<'v>(
        &mut self,
        conn: &Connection,
        source: PartSource<'v, impl Iterator<Item = &'v superstep::Value>>,
    ) -> Result<EncodedValue, EncodeError<SqliteFault>> {
        let mut desk = PartWriter {
            conn,
            compressor: &mut self.compressor,
            decoder: &mut self.decoder,
            met: &mut self.met,
            owed: &mut self.owed,
            seed: self.seed,
        };
        let encoded = match source {
            PartSource::Value(value) => self.encoder.value(value, &mut desk)?,
            PartSource::Items(items, long) => self.encoder.list(items, long, &mut desk)?,
        };
        self.refer(&encoded.refs);
        Ok(encoded)
    }

    /// Records that a row refers to these parts.
    pub(super) fn refer(&mut self, refs: &[i64]) {
        for part in refs {
            *self.owed.entry(*part).or_default() += 1;
        }
    }

    /// Records that a row that referred to these parts is gone.
    pub(super) fn release(&mut self, refs: &[i64]) {
        for part in refs {
            *self.owed.entry(*part).or_default() -= 1;
        }
    }

    /// Writes the counts down and removes parts without a reference; gives the bytes that are free then.
    pub(super) fn settle(&mut self, conn: &Connection) -> Result<u64, SqliteFault> {
        let mut freed = 0;
        while !self.owed.is_empty() {
            for (part, change) in std::mem::take(&mut self.owed) {
                if change > 0 {
                    conn.prepare_cached(
                        "INSERT INTO shares (part, more) VALUES (?1, ?2)
                         ON CONFLICT (part) DO UPDATE SET more = more + excluded.more",
                    )?
                    .execute([part, change])?;
                } else if change < 0 {
                    freed += self.give_up(conn, part, change)?;
                }
            }
        }
        Ok(freed)
    }

    /// Computes what [`Self::settle`] would free, without changing anything: what was released is forgotten.
    pub(super) fn plan(&mut self, conn: &Connection) -> Result<u64, SqliteFault> {
        let mut freed = 0;
        // References that are left beyond the first; none when a part is gone.
        let mut left: HashMap<i64, i64> = HashMap::new();
        while !self.owed.is_empty() {
            for (part, change) in std::mem::take(&mut self.owed) {
                let before = match left.get(&part) {
                    Some(before) => *before,
                    None => conn
                        .prepare_cached("SELECT more FROM shares WHERE part = ?1")?
                        .query_row([part], |row| row.get(0))
                        .optional()?
                        .unwrap_or(0),
                };
                left.insert(part, before + change);
                if before < 0 || before + change >= 0 {
                    continue;
                }
                let gone: Option<(Option<Vec<u8>>, i64)> = conn
                    .prepare_cached("SELECT refs, length(data) FROM parts WHERE id = ?1")?
                    .query_row([part], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?;
                let Some((refs, bytes)) = gone else { continue };
                self.release(&read_refs(refs.as_deref()).unwrap_or_default());
                freed += (bytes + ROW_BYTES).unsigned_abs();
            }
        }
        Ok(freed)
    }

    fn give_up(&mut self, conn: &Connection, part: i64, change: i64) -> Result<u64, SqliteFault> {
        let more: Option<i64> = conn
            .prepare_cached("SELECT more FROM shares WHERE part = ?1")?
            .query_row([part], |row| row.get(0))
            .optional()?;
        let left = more.unwrap_or(0) + change;
        if left > 0 {
            conn.prepare_cached("UPDATE shares SET more = ?2 WHERE part = ?1")?
                .execute([part, left])?;
            return Ok(0);
        }
        if more.is_some() {
            conn.prepare_cached("DELETE FROM shares WHERE part = ?1")?
                .execute([part])?;
        }
        if left == 0 {
            return Ok(0);
        }
        // Its number may be given to another part.
        self.met.clear();
        let gone: Option<(Option<Vec<u8>>, i64)> = conn
            .prepare_cached("DELETE FROM parts WHERE id = ?1 RETURNING refs, length(data)")?
            .query_row([part], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((refs, bytes)) = gone else {
            return Ok(0);
        };
        match read_refs(refs.as_deref()) {
            Ok(refs) => self.release(&refs),
            Err(cause) => tracing::warn!(part, cause, "a damaged part of a value was deleted"),
        }
        Ok((bytes + ROW_BYTES).unsigned_abs())
    }
}

impl PartSink for PartWriter<'_> {
    type Error = SqliteFault;

    fn keep(&mut self, part: &Content<'_>) -> Result<i64, SqliteFault> {
        let key = xxh3_128_with_seed(part.text, self.seed);
        if let Some(known) = self.met.get(&key) {
            return Ok(*known);
        }
        let hash = hash(part.text);
        let found = self.find(hash, part)?;
        let id = match found {
            Some(id) => id,
            None => {
                let data = self.compressor.data(part.text, part.referring);
                let id = self
                    .conn
                    .prepare_cached("INSERT INTO parts (hash, size, refs, data) VALUES (?1, ?2, ?3, ?4)")?
                    .insert(params![hash, part.size as i64, refs_blob(part.refs), data])?;
                // A part counts the references beyond the first, and the first is about to be counted.
                *self.owed.entry(id).or_default() -= 1;
                for below in part.refs {
                    *self.owed.entry(*below).or_default() += 1;
                }
                id
            }
        };
        if self.met.len() >= REMEMBERED {
            self.met.clear();
        }
        self.met.insert(key, id);
        Ok(id)
    }

    fn compressor(&mut self) -> &mut Compressor {
        self.compressor
    }
}

impl PartWriter<'_> {
    /// Finds the part with this text: equal hashes alone prove nothing.
    fn find(&mut self, hash: i64, part: &Content<'_>) -> Result<Option<i64>, SqliteFault> {
        let mut statement = self
            .conn
            .prepare_cached("SELECT id, data FROM parts WHERE hash = ?1")?;
        let mut rows = statement.query([hash])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(1)?.as_blob().unwrap_or_default();
            // A damaged part equals nothing.
            if self
                .decoder
                .text(data)
                .is_ok_and(|(text, referring)| *text == *part.text && referring == part.referring)
            {
                return Ok(Some(row.get(0)?));
            }
        }
        Ok(None)
    }
}
