//! Values whose long parts are stored once.
//!
//! A part is text, an item of a list, or a member of an object, at any depth, whose JSON is long. It is stored by
//! itself, found again by its content, and what holds it has a reference. So a message is stored once although
//! the input, the write of a node, the list it is added to, a fork and a nested graph all hold it; and a list of long
//! items that is stored again costs its references.
//!
//! The text of a value with references is JSON too: a reference to part 7 is the string `"\u00007"`, and a string
//! that begins with U+0000 itself gets another one in front.

mod decoder;

use std::collections::HashMap;

use superstep::Value;
use superstep::value::Object;
use xxhash_rust::xxh3::xxh3_64;

use super::bytes::{Cursor, Decoded, put_number, put_row};
use super::value::put_text;

pub(crate) use decoder::{Parts, ValueDecoder, parse};

/// Bytes of JSON from which a part is stored by itself: a part costs about fifty bytes and a row.
pub(crate) const SHARED_FROM: usize = 512;
/// Bytes from which compressing is tried.
const COMPRESSED_FROM: usize = 512;
/// Levels of nesting that can be read back (the JSON parser's limit is 128, and a list row adds one).
pub(crate) const MAX_DEPTH: usize = 120;
/// zstd's fastest ordinary level: what repeats in a value is found at any level, and the writer should not wait.
const LEVEL: i32 = 1;

const COMPRESSED: u8 = 1;
const REFERRING: u8 = 2;
const WITH_REFS: u8 = 4;

/// The content of a part: what it is found by.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    /// JSON with references.
    pub(crate) text: &'a [u8],
    /// The text needs resolving: it has references or strings in the escaped form.
    pub(crate) referring: bool,
    /// The parts it refers to, each once, in order.
    pub(crate) refs: &'a [i64],
    /// Length of its JSON with everything it refers to.
    pub(crate) size: u64,
}

/// Storage for parts.
pub(crate) trait PartSink {
    /// Reason why a part could not be kept.
    type Error;
    /// Returns the number of the part with this content, which is created if there is none.
    fn keep(&mut self, part: &Content<'_>) -> Result<i64, Self::Error>;
    /// Returns the compressor of texts.
    fn compressor(&mut self) -> &mut Compressor;
}

/// Reason why a value could not be encoded.
#[derive(Debug)]
pub(crate) enum EncodeError<E> {
    /// It could not be read back.
    TooDeep,
    /// The sink failed.
    Sink(E),
}

/// A value as it is stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EncodedValue {
    /// JSON text, or a byte that says what follows.
    pub(crate) data: Vec<u8>,
    /// The parts it refers to, each once, in order.
    pub(crate) refs: Vec<i64>,
    /// Length of the JSON of the whole value.
    pub(crate) size: u64,
}

/// Compressor of texts.
pub(crate) struct Compressor(zstd::bulk::Compressor<'static>);

impl Compressor {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self(zstd::bulk::Compressor::new(LEVEL)?))
    }

    /// Compresses the text to a frame that `zstd` reads. An error here is one of space; the text is then stored
    /// unchanged.
    pub(crate) fn frame(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.0.compress(text).ok()
    }

    /// Returns the stored form of a text that needs no resolving.
    pub(crate) fn plain(&mut self, text: &[u8]) -> Vec<u8> {
        self.data(text, false)
    }

    /// Returns the stored form of a text, which may be `referring`.
    pub(crate) fn data(&mut self, text: &[u8], referring: bool) -> Vec<u8> {
        let flag = if referring { REFERRING } else { 0 };
        if text.len() >= COMPRESSED_FROM
            && let Some(short) = self.frame(text)
            && short.len() + text.len() / 8 < text.len()
        {
            let mut data = Vec::with_capacity(short.len() + 6);
            data.push(flag | COMPRESSED);
            put_number(&mut data, text.len() as u64);
            data.extend_from_slice(&short);
            return data;
        }
        let mut data = Vec::with_capacity(text.len() + 1);
        if referring {
            data.push(flag);
        }
        data.extend_from_slice(text);
        data
    }
}

/// Place of a list that is long enough to be a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LongList {
    /// It is a part of its own.
    Part,
    /// It stays where it is, and only its items are parts.
    Inline,
}

/// Converter of values to their stored form.
#[derive(Default)]
pub(crate) struct ValueEncoder {
    text: Vec<u8>,
    refs: Vec<i64>,
    escapes: usize,
    /// Parts by where their value is in memory. Only while these values are alive.
    met: HashMap<usize, (i64, u64), foldhash::fast::RandomState>,
}

impl ValueEncoder {
    /// Forgets where values are in memory. Call it before values that were encoded are dropped: another value may then
    /// be where they were.
    pub(crate) fn forget(&mut self) {
        self.met.clear();
    }

    /// Encodes a value that lives until [`ValueEncoder::forget`].
    pub(crate) fn value<S: PartSink>(
        &mut self,
        value: &Value,
        sink: &mut S,
    ) -> Result<EncodedValue, EncodeError<S::Error>> {
        self.begin();
        let size = self.node(value, 0, sink)?;
        Ok(self.encoded(size, sink.compressor()))
    }

    /// Encodes items as a list.
    pub(crate) fn list<'a, S: PartSink>(
        &mut self,
        items: impl Iterator<Item = &'a Value>,
        long: LongList,
        sink: &mut S,
    ) -> Result<EncodedValue, EncodeError<S::Error>> {
        self.begin();
        let mut size = self.items(items, 0, sink)?;
        if long == LongList::Part && self.text.len() >= SHARED_FROM {
            size = self.keep_part(0, 0, 0, size, sink)?.1;
        }
        Ok(self.encoded(size, sink.compressor()))
    }

    fn begin(&mut self) {
        self.text.clear();
        self.refs.clear();
        self.escapes = 0;
    }

    fn encoded(&self, size: u64, compressor: &mut Compressor) -> EncodedValue {
        let refs = distinct(&self.refs);
        let referring = self.escapes > 0 || !refs.is_empty();
        EncodedValue {
            data: compressor.data(&self.text, referring),
            refs,
            size,
        }
    }

    /// Writes a node and gives the length of its whole JSON.
    fn node<S: PartSink>(
        &mut self,
        value: &Value,
        depth: usize,
        sink: &mut S,
    ) -> Result<u64, EncodeError<S::Error>> {
        let (start, refs, escapes) = (self.text.len(), self.refs.len(), self.escapes);
        let identity = match value {
            Value::String(text) if text.len() < SHARED_FROM => None,
            other => other.identity(),
        };
        if let Some((part, size)) = identity.and_then(|identity| self.met.get(&identity)).copied() {
            self.refer(part);
            return Ok(size);
        }
        let size = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.json(value);
                return Ok((self.text.len() - start) as u64);
            }
            Value::String(text) if text.starts_with('\0') => {
                self.escapes += 1;
                let before = self.text.len();
                put_text(&mut self.text, text);
                let size = (self.text.len() - before) as u64;
                // Inside the opening quote.
                self.text.splice(before + 1..before + 1, *b"\\u0000");
                size
            }
            Value::String(text) => {
                put_text(&mut self.text, text);
                (self.text.len() - start) as u64
            }
            Value::Array(list) => self.items(list.iter(), depth, sink)?,
            Value::Object(object) => self.members(object, depth, sink)?,
        };
        if self.text.len() - start < SHARED_FROM {
            return Ok(size);
        }
        let (part, size) = self.keep_part(start, refs, escapes, size, sink)?;
        if let Some(identity) = identity {
            self.met.insert(identity, (part, size));
        }
        Ok(size)
    }

    fn items<'a, S: PartSink>(
        &mut self,
        items: impl Iterator<Item = &'a Value>,
        depth: usize,
        sink: &mut S,
    ) -> Result<u64, EncodeError<S::Error>> {
        let depth = deeper(depth)?;
        let (mut size, mut first) = (2, true);
        self.text.push(b'[');
        for item in items {
            size += u64::from(!first);
            if !std::mem::take(&mut first) {
                self.text.push(b',');
            }
            size += self.node(item, depth, sink)?;
        }
        self.text.push(b']');
        Ok(size)
    }

    fn members<S: PartSink>(
        &mut self,
        object: &Object,
        depth: usize,
        sink: &mut S,
    ) -> Result<u64, EncodeError<S::Error>> {
        let depth = deeper(depth)?;
        let (mut size, mut first) = (2, true);
        self.text.push(b'{');
        for (key, value) in object.iter() {
            size += u64::from(!first) + 1;
            if !std::mem::take(&mut first) {
                self.text.push(b',');
            }
            let before = self.text.len();
            put_text(&mut self.text, key);
            size += (self.text.len() - before) as u64;
            self.text.push(b':');
            size += self.node(value, depth, sink)?;
        }
        self.text.push(b'}');
        Ok(size)
    }

    fn json(&mut self, value: &Value) {
        // Writing numbers into memory cannot fail.
        let written = serde_json::to_writer(&mut self.text, value);
        debug_assert!(written.is_ok(), "numbers are JSON");
    }

    fn refer(&mut self, part: i64) {
        self.text.extend_from_slice(b"\"\\u0000");
        self.text.extend_from_slice(part.to_string().as_bytes());
        self.text.push(b'"');
        self.refs.push(part);
    }

    /// Takes the text from `start` off and puts a reference in its place.
    fn keep_part<S: PartSink>(
        &mut self,
        start: usize,
        refs: usize,
        escapes: usize,
        size: u64,
        sink: &mut S,
    ) -> Result<(i64, u64), EncodeError<S::Error>> {
        let own = distinct(&self.refs[refs..]);
        let part = sink
            .keep(&Content {
                text: &self.text[start..],
                referring: self.escapes > escapes || !own.is_empty(),
                refs: &own,
                size,
            })
            .map_err(EncodeError::Sink)?;
        self.text.truncate(start);
        self.refs.truncate(refs);
        self.refer(part);
        Ok((part, size))
    }
}

fn deeper<E>(depth: usize) -> Result<usize, EncodeError<E>> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(EncodeError::TooDeep)
    }
}

fn distinct(refs: &[i64]) -> Vec<i64> {
    let mut refs = refs.to_vec();
    refs.sort_unstable();
    refs.dedup();
    refs
}

/// Computes the hash by which a part is found, and which reveals that it was damaged.
pub(crate) fn hash(text: &[u8]) -> i64 {
    xxh3_64(text).cast_signed()
}

/// Encodes references as a column; `None` if there are none.
pub(crate) fn refs_blob(refs: &[i64]) -> Option<Vec<u8>> {
    if refs.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(2 * refs.len() + 2);
    let mut before = 0;
    for &part in refs {
        put_row(&mut out, part - before);
        before = part;
    }
    Some(out)
}

/// Reads what [`refs_blob`] wrote.
pub(crate) fn read_refs(blob: Option<&[u8]>) -> Decoded<Vec<i64>> {
    let mut cursor = Cursor(blob.unwrap_or_default());
    let (mut refs, mut before) = (Vec::new(), 0_i64);
    while !cursor.0.is_empty() {
        before = before
            .checked_add(cursor.row()?)
            .ok_or("a row number is too large")?;
        refs.push(before);
    }
    Ok(refs)
}

impl EncodedValue {
    /// Converts the value to bytes with its references in front, for places where they have no column of their own.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let Some(refs) = refs_blob(&self.refs) else {
            return self.data;
        };
        let mut out = Vec::with_capacity(self.data.len() + refs.len() + 3);
        out.push(WITH_REFS);
        put_number(&mut out, refs.len() as u64);
        out.extend_from_slice(&refs);
        out.extend_from_slice(&self.data);
        out
    }
}

/// Returns whether the output of [`EncodedValue::into_bytes`] refers to parts.
pub(crate) fn refers(bytes: &[u8]) -> bool {
    bytes.first() == Some(&WITH_REFS)
}

/// Splits the output of [`EncodedValue::into_bytes`] into the references and the stored value.
pub(crate) fn split(bytes: &[u8]) -> Decoded<(Vec<i64>, &[u8])> {
    let Some((&WITH_REFS, rest)) = bytes.split_first() else {
        return Ok((Vec::new(), bytes));
    };
    let mut cursor = Cursor(rest);
    let len = cursor.count()?;
    let refs = read_refs(Some(cursor.bytes(len)?))?;
    Ok((refs, cursor.0))
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    /// Parts in memory.
    struct Memory {
        compressor: Compressor,
        kept: Vec<(Vec<u8>, bool, u64)>,
    }

    impl PartSink for Memory {
        type Error = String;
        fn keep(&mut self, part: &Content<'_>) -> Result<i64, String> {
            assert!(part.text.len() >= SHARED_FROM);
            assert!(part.refs.iter().all(|below| *below <= self.kept.len() as i64));
            if let Some(at) = self.kept.iter().position(|(text, ..)| text == part.text) {
                return Ok(at as i64 + 1);
            }
            self.kept.push((part.text.to_vec(), part.referring, part.size));
            Ok(self.kept.len() as i64)
        }
        fn compressor(&mut self) -> &mut Compressor {
            &mut self.compressor
        }
    }

    fn sink() -> Memory {
        let compressor = Compressor::new().expect("there is memory");
        Memory {
            compressor,
            kept: Vec::new(),
        }
    }

    /// Restores the value, with all parts read back.
    fn back(encoded: &EncodedValue, sink: &Memory) -> Value {
        let mut parts: HashMap<i64, Value> = HashMap::new();
        for (n, (text, referring, size)) in sink.kept.iter().enumerate() {
            let value = parse(text, *referring, &parts).expect("own text");
            assert_eq!(value.to_string().len() as u64, *size, "size of part {n}");
            parts.insert(n as i64 + 1, value);
        }
        let bytes = encoded.clone().into_bytes();
        let (refs, data) = split(&bytes).expect("own bytes");
        assert_eq!((&refs, data), (&encoded.refs, &*encoded.data));
        parts.retain(|part, _| refs.contains(part));
        let mut decoder = ValueDecoder::new().expect("there is memory");
        decoder.value(data, &parts).expect("own bytes")
    }

    fn round(value: &Value, encoder: &mut ValueEncoder, sink: &mut Memory) -> EncodedValue {
        let encoded = encoder.value(value, sink).expect("a flat value");
        assert_eq!(back(&encoded, sink), *value);
        assert_eq!(encoded.size, value.to_string().len() as u64, "{value}");
        encoded
    }

    #[test]
    fn long_parts_are_stored_once() {
        let (mut encoder, mut sink) = (ValueEncoder::default(), sink());
        let text = "a long text ".repeat(100);
        let message = json!({"id": 1, "content": text.as_str()});
        let input = json!({"messages": [{"type": "human", "content": text.as_str()}]});
        let list = json!([1, {"content": text.as_str()}, message.clone()]);
        for value in [&message, &input, &list, &message] {
            let encoded = round(value, &mut encoder, &mut sink);
            assert_eq!(encoded.refs, [1]);
            assert!(encoded.data.len() < 100, "{:?}", encoded.data);
        }
        assert_eq!(sink.kept.len(), 1);
        // Long items in long lists: the list is a part of its own, and so it is found again too.
        let many: Value = (0..600)
            .map(|n| json!({"n": n % 3, "text": text.repeat(1 + n % 3)}))
            .collect::<Vec<_>>()
            .into();
        let encoded = round(&many, &mut encoder, &mut sink);
        let kept = sink.kept.len();
        assert_eq!(encoded, round(&many, &mut encoder, &mut sink));
        encoder.forget();
        assert_eq!(
            encoded,
            round(&json!(serde_json::Value::from(&many)), &mut encoder, &mut sink)
        );
        assert_eq!(sink.kept.len(), kept);
        // A list that is not to be shared has its items as parts.
        let list = many.as_array().expect("a list");
        let own = encoder
            .list(list.iter(), LongList::Inline, &mut sink)
            .expect("a flat value");
        assert_eq!(back(&own, &sink), many);
        assert_eq!((own.refs.len(), own.size), (3, encoded.size));
    }

    #[test]
    fn any_text_comes_back() {
        let (mut encoder, mut sink) = (ValueEncoder::default(), sink());
        let long = "\0".to_owned() + &"é\"\\\n".repeat(200);
        for value in [
            json!(null),
            json!(-1.5e-7),
            json!({"\x00": "\x00", "\x00\x001": ["\x007", "\x00\x007", "x\x007", ""]}),
            json!(long.as_str()),
            json!([long.as_str(), {"k": long.as_str()}, "\x001"]),
            json!({"a": [long.as_str(), long.as_str()], "b": "\u{1}\u{7f}"}),
        ] {
            round(&value, &mut encoder, &mut sink);
        }
    }

    #[test]
    fn whatever_stands_beside_a_shared_part_comes_back() {
        let (mut encoder, mut sink) = (ValueEncoder::default(), sink());
        let numbers = json!([-1, i64::MIN, 0, u64::MAX, -0.5, 1e300]);
        let value = json!({"long": "x".repeat(SHARED_FROM), "numbers": numbers, "flags": [true, false], "none": null});
        round(&value, &mut encoder, &mut sink);
        assert_eq!(sink.kept.len(), 1);
    }

    #[test]
    fn what_cannot_be_read_back_is_refused() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| vec![inner].into());
        let (mut encoder, mut sink) = (ValueEncoder::default(), sink());
        round(&nested(MAX_DEPTH), &mut encoder, &mut sink);
        let deep = encoder.value(&nested(MAX_DEPTH + 1), &mut sink);
        assert!(matches!(deep, Err(EncodeError::TooDeep)));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let (mut encoder, mut sink) = (ValueEncoder::default(), sink());
        let list: Vec<Value> = (0..300).map(|n| json!({"n": n, "same": "words"})).collect();
        let encoded = encoder
            .list(list.iter(), LongList::Inline, &mut sink)
            .expect("a flat value");
        assert_eq!(encoded.data[0], COMPRESSED);
        let mut decoder = ValueDecoder::new().expect("there is memory");
        let none: HashMap<i64, Value> = HashMap::new();
        for cut in 0..encoded.data.len() {
            assert!(decoder.value(&encoded.data[..cut], &none).is_err(), "{cut} bytes");
        }
        let huge = [
            &[COMPRESSED, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..],
            &encoded.data[3..],
        ]
        .concat();
        let refused = decoder.value(&huge, &none).unwrap_err();
        assert_eq!(refused, "it says that it is longer than it can be");
        assert!(
            decoder.value(b"\x02\"\\u00007\"", &none).is_err(),
            "an unknown part"
        );
        assert!(split(&[WITH_REFS, 9, 1]).is_err());
    }
}
