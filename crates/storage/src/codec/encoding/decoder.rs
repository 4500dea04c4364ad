//! EncodedValue values read back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use superstep::Value;
use superstep::value::{Key, List, Object};

use super::{COMPRESSED, REFERRING};
use crate::codec::bytes::{Cursor, Decoded};

/// No block of zstd grows more than this, so damage cannot ask for more memory.
const MAX_GROWTH: usize = 50_000;

/// Converter of stored data back to values.
pub(crate) struct ValueDecoder(zstd::bulk::Decompressor<'static>);

impl ValueDecoder {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self(zstd::bulk::Decompressor::new()?))
    }

    /// Returns the text, and whether it is a referring one.
    pub(crate) fn text<'a>(&mut self, data: &'a [u8]) -> Decoded<(Cow<'a, [u8]>, bool)> {
        let (&flag, rest) = match data.split_first() {
            // JSON text does not begin with such a byte.
            Some((flag @ 1..=3, rest)) => (flag, rest),
            _ => return Ok((Cow::Borrowed(data), false)),
        };
        let referring = flag & REFERRING != 0;
        if flag & COMPRESSED == 0 {
            return Ok((Cow::Borrowed(rest), referring));
        }
        let mut cursor = Cursor(rest);
        let len = usize::try_from(cursor.number()?).unwrap_or(usize::MAX);
        if len / MAX_GROWTH > cursor.0.len() {
            return Err("it says that it is longer than it can be".to_owned());
        }
        Ok((Cow::Owned(self.frame(cursor.0, len)?), referring))
    }

    /// Returns the text of a frame that declares this length.
    pub(crate) fn frame(&mut self, frame: &[u8], len: usize) -> Decoded<Vec<u8>> {
        let text = self
            .0
            .decompress(frame, len)
            .map_err(|e| format!("it cannot be decompressed: {e}"))?;
        if text.len() != len {
            return Err("it is shorter than it says".to_owned());
        }
        Ok(text)
    }

    /// Restores the value of stored data, whose references are in `parts`.
    pub(crate) fn value<P: Parts>(&mut self, data: &[u8], parts: &P) -> Decoded<Value> {
        let (text, referring) = self.text(data)?;
        parse(&text, referring, parts)
    }
}

/// Parts that are already known.
pub(crate) trait Parts {
    /// Returns the value of a part.
    fn part(&self, part: i64) -> Option<Value>;
}

impl<S: std::hash::BuildHasher> Parts for HashMap<i64, Value, S> {
    fn part(&self, part: i64) -> Option<Value> {
        self.get(&part).cloned()
    }
}

/// Parses the value of a text.
pub(crate) fn parse<P: Parts>(text: &[u8], referring: bool, parts: &P) -> Decoded<Value> {
    if !referring {
        return crate::codec::value::parse(text);
    }
    let wrong = |e: serde_json::Error| format!("it is not JSON: {e}");
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = Referring(parts).deserialize(&mut json).map_err(wrong)?;
    json.end().map_err(wrong)?;
    Ok(value)
}

/// Reader of a value whose strings may be references.
struct Referring<'p, P>(&'p P);

impl<'de, P: Parts> DeserializeSeed<'de> for Referring<'_, P> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, P: Parts> Visitor<'de> for Referring<'_, P> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(b.into())
    }
    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(n.into())
    }
    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(n.into())
    }
    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(n.into())
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        match text.strip_prefix('\0') {
            None => Ok(text.into()),
            Some(literal) if literal.starts_with('\0') => Ok(literal.into()),
            Some(part) => part
                .parse()
                .ok()
                .and_then(|part| self.0.part(part))
                .ok_or_else(|| E::custom(format!("it refers to part {part}, which is not among its parts"))),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = List::new();
        while let Some(item) = seq.next_element_seed(Referring(self.0))? {
            items.push(item);
        }
        Ok(items.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some(Key(key)) = map.next_key()? {
            object.insert(key, map.next_value_seed(Referring(self.0))?);
        }
        Ok(object.into())
    }
}
