//! Values in msgpack, with the extensions of LangGraph's serializer. Depth and number of values are bounded; nothing is
//! loaded or called.

use std::cell::Cell;

use rmp::Marker;
use superstep::Value;
use superstep::value::{List, Object};

use super::classes::{Arguments, dictionary, of_class, shown, unreadable};
use super::numpy;

/// Levels of a value that are shown; what is deeper is named.
pub(super) const MAX_DEPTH: usize = 96;
/// Values in one value that are shown.
const MAX_VALUES: usize = 2_000_000;
/// Bytes of a byte string that are shown.
const MAX_SHOWN_BYTES: usize = 1024;

type Decoded<T> = Result<T, String>;

/// A place in encoded bytes.
struct Reader<'a, 'c> {
    bytes: &'a [u8],
    at: usize,
    /// Values that may still be made.
    left: &'c Cell<usize>,
}

/// Decodes one value.
pub(super) fn decode(bytes: &[u8]) -> Decoded<Value> {
    let left = Cell::new(MAX_VALUES);
    Reader::new(bytes, &left).value(0)
}

/// Returns the entries of a map without decoding its values; a key that is not text is left out.
pub(super) fn entries(bytes: &[u8]) -> Decoded<Vec<(&str, &[u8])>> {
    let left = Cell::new(MAX_VALUES);
    let mut reader = Reader::new(bytes, &left);
    let len = match reader.marker()? {
        Marker::FixMap(len) => usize::from(len),
        Marker::Map16 => reader.number::<2>()?,
        Marker::Map32 => reader.number::<4>()?,
        other => return Err(format!("it is {other:?} and no dictionary")),
    };
    let mut entries = Vec::new();
    for _ in 0..len {
        let key = reader.skipped()?;
        let value = reader.skipped()?;
        if let Some(key) = text(key) {
            entries.push((key, value));
        }
    }
    Ok(entries)
}

/// Returns the items of a list without decoding them.
pub(super) fn items(bytes: &[u8]) -> Decoded<Vec<&[u8]>> {
    let left = Cell::new(MAX_VALUES);
    let mut reader = Reader::new(bytes, &left);
    let len = match reader.marker()? {
        Marker::FixArray(len) => usize::from(len),
        Marker::Array16 => reader.number::<2>()?,
        Marker::Array32 => reader.number::<4>()?,
        other => return Err(format!("it is {other:?} and no list")),
    };
    let mut items = Vec::new();
    for _ in 0..len {
        items.push(reader.skipped()?);
    }
    Ok(items)
}

/// Returns the text of an encoded value, if it is text.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    let left = Cell::new(1);
    let mut reader = Reader::new(bytes, &left);
    let len = match reader.marker().ok()? {
        Marker::FixStr(len) => usize::from(len),
        Marker::Str8 => reader.number::<1>().ok()?,
        Marker::Str16 => reader.number::<2>().ok()?,
        Marker::Str32 => reader.number::<4>().ok()?,
        _ => return None,
    };
    std::str::from_utf8(reader.take(len).ok()?).ok()
}

/// Returns whether an encoded value is null.
pub(super) fn is_null(bytes: &[u8]) -> bool {
    bytes
        .first()
        .is_some_and(|first| Marker::from_u8(*first) == Marker::Null)
}

/// Shows bytes: a few in full, of more the beginning with their number and a hash of all.
pub(super) fn shown_bytes(bytes: &[u8]) -> Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let length = ("length", Value::from(bytes.len()));
    if bytes.len() <= MAX_SHOWN_BYTES {
        return of_class("bytes", [length, ("hex", Value::from(hex(bytes)))]);
    }
    let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes));
    let beginning = hex(&bytes[..MAX_SHOWN_BYTES]);
    of_class(
        "bytes",
        [
            length,
            ("begins", Value::from(beginning)),
            ("hash", Value::from(hash)),
        ],
    )
}

fn shown_float(number: f64) -> Value {
    if number.is_finite() {
        return Value::from(number);
    }
    let name = match (number.is_nan(), number > 0.0) {
        (true, _) => "nan",
        (false, true) => "inf",
        (false, false) => "-inf",
    };
    of_class("float", [("value", Value::from(name))])
}

/// Value, or the beginning of one, that a marker stands for.
enum Begun {
    Value(Value),
    List(usize),
    Map(usize),
    Extension(usize),
}

impl<'a, 'c> Reader<'a, 'c> {
    fn new(bytes: &'a [u8], left: &'c Cell<usize>) -> Self {
        Self { bytes, at: 0, left }
    }

    fn marker(&mut self) -> Decoded<Marker> {
        Ok(Marker::from_u8(self.take(1)?[0]))
    }

    fn take(&mut self, len: usize) -> Decoded<&'a [u8]> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end =
            end.ok_or_else(|| format!("it ends at byte {} in the middle of a value", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    /// Reads an unsigned number of `N` bytes, as lengths are written.
    fn number<const N: usize>(&mut self) -> Decoded<usize> {
        let bytes = self.take(N)?;
        Ok(bytes
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn string(&mut self, len: usize) -> Decoded<Begun> {
        let bytes = self.take(len)?;
        Ok(Begun::Value(match std::str::from_utf8(bytes) {
            Ok(text) => Value::from(text),
            Err(_) => Value::from(&*String::from_utf8_lossy(bytes)),
        }))
    }

    fn bytes(&mut self, len: usize) -> Decoded<Begun> {
        Ok(Begun::Value(shown_bytes(self.take(len)?)))
    }

    fn begin(&mut self) -> Decoded<Begun> {
        let value = |value| Ok(Begun::Value(value));
        match self.marker()? {
            Marker::Null => value(Value::Null),
            Marker::True => value(true.into()),
            Marker::False => value(false.into()),
            Marker::FixPos(number) => value(i64::from(number).into()),
            Marker::FixNeg(number) => value(i64::from(number).into()),
            Marker::U8 => value(u64::from(self.array::<1>()?[0]).into()),
            Marker::U16 => value(u64::from(u16::from_be_bytes(self.array()?)).into()),
            Marker::U32 => value(u64::from(u32::from_be_bytes(self.array()?)).into()),
            Marker::U64 => value(u64::from_be_bytes(self.array()?).into()),
            Marker::I8 => value(i64::from(i8::from_be_bytes(self.array()?)).into()),
            Marker::I16 => value(i64::from(i16::from_be_bytes(self.array()?)).into()),
            Marker::I32 => value(i64::from(i32::from_be_bytes(self.array()?)).into()),
            Marker::I64 => value(i64::from_be_bytes(self.array()?).into()),
            Marker::F32 => value(shown_float(f32::from_be_bytes(self.array()?).into())),
            Marker::F64 => value(shown_float(f64::from_be_bytes(self.array()?))),
            Marker::FixStr(len) => self.string(len.into()),
            Marker::Str8 => self.number::<1>().and_then(|len| self.string(len)),
            Marker::Str16 => self.number::<2>().and_then(|len| self.string(len)),
            Marker::Str32 => self.number::<4>().and_then(|len| self.string(len)),
            Marker::Bin8 => self.number::<1>().and_then(|len| self.bytes(len)),
            Marker::Bin16 => self.number::<2>().and_then(|len| self.bytes(len)),
            Marker::Bin32 => self.number::<4>().and_then(|len| self.bytes(len)),
            Marker::FixArray(len) => Ok(Begun::List(len.into())),
            Marker::Array16 => Ok(Begun::List(self.number::<2>()?)),
            Marker::Array32 => Ok(Begun::List(self.number::<4>()?)),
            Marker::FixMap(len) => Ok(Begun::Map(len.into())),
            Marker::Map16 => Ok(Begun::Map(self.number::<2>()?)),
            Marker::Map32 => Ok(Begun::Map(self.number::<4>()?)),
            Marker::FixExt1 => Ok(Begun::Extension(1)),
            Marker::FixExt2 => Ok(Begun::Extension(2)),
            Marker::FixExt4 => Ok(Begun::Extension(4)),
            Marker::FixExt8 => Ok(Begun::Extension(8)),
            Marker::FixExt16 => Ok(Begun::Extension(16)),
            Marker::Ext8 => Ok(Begun::Extension(self.number::<1>()?)),
            Marker::Ext16 => Ok(Begun::Extension(self.number::<2>()?)),
            Marker::Ext32 => Ok(Begun::Extension(self.number::<4>()?)),
            Marker::Reserved => Err(format!("byte {} begins no value", self.at - 1)),
        }
    }

    fn value(&mut self, depth: usize) -> Decoded<Value> {
        let left = self.left.get().checked_sub(1);
        let left = left.ok_or_else(|| format!("it holds more than {MAX_VALUES} values"))?;
        self.left.set(left);
        if depth == MAX_DEPTH {
            self.skipped()?;
            return Ok(unreadable(format!("it is nested deeper than {MAX_DEPTH} levels")));
        }
        match self.begin()? {
            Begun::Value(value) => Ok(value),
            Begun::List(len) => (0..len)
                .map(|_| self.value(depth + 1))
                .collect::<Decoded<List>>()
                .map(Value::Array),
            Begun::Map(len) => self.map(len, depth),
            Begun::Extension(len) => {
                let code = i8::from_be_bytes(self.array()?);
                let payload = self.take(len)?;
                extension(code, payload, depth + 1, self.left)
            }
        }
    }

    fn map(&mut self, len: usize, depth: usize) -> Decoded<Value> {
        let mut object = Object::new();
        let mut others: Vec<(Value, Value)> = Vec::new();
        for _ in 0..len {
            let key = self.value(depth + 1)?;
            let value = self.value(depth + 1)?;
            match key {
                // The usual case, without a list in between.
                Value::String(key) if others.is_empty() && &*key != super::classes::CLASS => {
                    object.insert(key, value);
                }
                key => {
                    if others.is_empty() {
                        let before = object.iter();
                        others = before
                            .map(|(key, value)| (Value::String(key.clone()), value.clone()))
                            .collect();
                    }
                    others.push((key, value));
                }
            }
        }
        Ok(if others.is_empty() {
            object.into()
        } else {
            dictionary(others)
        })
    }

    /// Passes one value, however deep, and returns its bytes.
    fn skipped(&mut self) -> Decoded<&'a [u8]> {
        let start = self.at;
        let mut open: u64 = 1;
        while open > 0 {
            open -= 1;
            let skip = |reader: &mut Self, len: usize| reader.take(len).map(drop);
            match self.marker()? {
                Marker::Null | Marker::True | Marker::False | Marker::FixPos(_) | Marker::FixNeg(_) => {}
                Marker::U8 | Marker::I8 => skip(self, 1)?,
                Marker::U16 | Marker::I16 => skip(self, 2)?,
                Marker::U32 | Marker::I32 | Marker::F32 => skip(self, 4)?,
                Marker::U64 | Marker::I64 | Marker::F64 => skip(self, 8)?,
                Marker::FixStr(len) => skip(self, len.into())?,
                Marker::Str8 | Marker::Bin8 => {
                    let len = self.number::<1>()?;
                    skip(self, len)?;
                }
                Marker::Str16 | Marker::Bin16 => {
                    let len = self.number::<2>()?;
                    skip(self, len)?;
                }
                Marker::Str32 | Marker::Bin32 => {
                    let len = self.number::<4>()?;
                    skip(self, len)?;
                }
                Marker::FixArray(len) => open += u64::from(len),
                Marker::Array16 => open += self.number::<2>()? as u64,
                Marker::Array32 => open += self.number::<4>()? as u64,
                Marker::FixMap(len) => open += 2 * u64::from(len),
                Marker::Map16 => open += 2 * self.number::<2>()? as u64,
                Marker::Map32 => open += 2 * self.number::<4>()? as u64,
                Marker::FixExt1 => skip(self, 2)?,
                Marker::FixExt2 => skip(self, 3)?,
                Marker::FixExt4 => skip(self, 5)?,
                Marker::FixExt8 => skip(self, 9)?,
                Marker::FixExt16 => skip(self, 17)?,
                Marker::Ext8 => {
                    let len = self.number::<1>()?;
                    skip(self, len + 1)?;
                }
                Marker::Ext16 => {
                    let len = self.number::<2>()?;
                    skip(self, len + 1)?;
                }
                Marker::Ext32 => {
                    let len = self.number::<4>()?;
                    skip(self, len + 1)?;
                }
                Marker::Reserved => return Err(format!("byte {} begins no value", self.at - 1)),
            }
        }
        Ok(&self.bytes[start..self.at])
    }
}

/// Shows the value of an extension: 0 to 5 are classes, 6 an array of numbers, 7 the snapshot of a delta channel.
fn extension(code: i8, payload: &[u8], depth: usize, left: &Cell<usize>) -> Decoded<Value> {
    if !(0..=7).contains(&code) {
        return Ok(unreadable(format!(
            "an extension of an unknown kind: {code}, {} bytes",
            payload.len()
        )));
    }
    if code == 6 {
        return Ok(numpy::shown(payload).unwrap_or_else(unreadable));
    }
    let inner = Reader::new(payload, left).value(depth);
    let inner = match inner {
        Ok(inner) => inner,
        // The limit is that of the whole value; anything else is wrong with this part alone.
        Err(reason) if left.get() == 0 => return Err(reason),
        Err(reason) => return Ok(unreadable(reason)),
    };
    if code == 7 {
        return Ok(inner);
    }
    let Value::Array(parts) = &inner else {
        return Ok(unreadable(format!("a class without a name (extension {code})")));
    };
    let (Some(module), Some(class), Some(argument)) = (
        parts.get(0).and_then(Value::as_str),
        parts.get(1).and_then(Value::as_str),
        parts.get(2),
    ) else {
        return Ok(unreadable(format!("a class without a name (extension {code})")));
    };
    let arguments = match (code, argument) {
        (1, Value::Array(arguments)) => Arguments::Several(arguments.clone()),
        (2 | 4 | 5, fields) => Arguments::Fields(fields.clone()),
        (_, argument) => Arguments::One(argument.clone()),
    };
    Ok(shown(module, class, arguments))
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    /// Encodes `Ext(code, payload)`.
    fn ext(code: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xc9];
        bytes.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
        bytes.push(code);
        bytes.extend(payload);
        bytes
    }

    fn list(items: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0x90 | u8::try_from(items.len()).unwrap()];
        bytes.extend(items.concat());
        bytes
    }

    fn text_of(text: &str) -> Vec<u8> {
        let mut bytes = vec![0xa0 | u8::try_from(text.len()).unwrap()];
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn every_extension_is_shown() {
        let (module, class) = (text_of("shop"), text_of("Policy"));
        let fields = [&[0x81][..], &text_of("limit"), &[5]].concat();
        for (code, argument, expected) in [
            (0, text_of("x"), json!({"$class": "shop.Policy", "value": "x"})),
            (
                1,
                list(&[&[1], &[2]]),
                json!({"$class": "shop.Policy", "args": [1, 2]}),
            ),
            (2, fields.clone(), json!({"$class": "shop.Policy", "limit": 5})),
            (4, fields.clone(), json!({"$class": "shop.Policy", "limit": 5})),
            (5, fields, json!({"$class": "shop.Policy", "limit": 5})),
        ] {
            let bytes = ext(code, &list(&[&module, &class, &argument]));
            assert_eq!(decode(&bytes), Ok(expected), "{code}");
        }
        let when = list(&[
            &text_of("datetime"),
            &text_of("datetime"),
            &text_of("2026-03-01"),
            &text_of("fromisoformat"),
        ]);
        assert_eq!(
            decode(&ext(3, &when)),
            Ok(json!({"$class": "datetime.datetime", "value": "2026-03-01"}))
        );
        assert_eq!(
            decode(&ext(7, &list(&[&[1], &[2]]))),
            Ok(json!([1, 2])),
            "a snapshot is the value"
        );
        for strange in [ext(9, &[1]), ext(0, &[]), ext(0, &list(&[&[1]])), ext(2, &[0xc1])] {
            let shown = decode(&strange).expect("the rest of the value is shown");
            assert_eq!(shown["$class"], json!("unreadable"), "{strange:?}");
        }
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let mut deep = vec![0x91; 5_000_000];
        deep.push(0xc0);
        let shown = decode(&deep).expect("what is too deep is passed");
        assert!(
            shown.to_string().contains("deeper than 96 levels"),
            "the rest is named"
        );
        // Extensions in extensions.
        let mut nested = vec![0xc0];
        for _ in 0..400 {
            nested = ext(7, &nested);
        }
        assert!(
            decode(&nested)
                .expect("bounded")
                .to_string()
                .contains("deeper than")
        );
        // A list that claims four thousand million items ends at once.
        assert!(
            decode(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]).is_err_and(|reason| reason.contains("ends at byte"))
        );
        let mut many = vec![0xdd];
        many.extend(3_000_000_u32.to_be_bytes());
        many.extend(std::iter::repeat_n(1, 3_000_000));
        assert!(decode(&many).is_err_and(|reason| reason.contains("more than 2000000 values")));
    }

    #[test]
    fn keys_floats_and_bytes_of_any_kind_are_shown() {
        assert_eq!(
            decode(&[0x82, 1, 2, 0xc0, 3]),
            Ok(json!({"$class": "dict", "entries": [[1, 2], [null, 3]]}))
        );
        let infinity = [&[0xcb][..], &f64::INFINITY.to_be_bytes()].concat();
        assert_eq!(decode(&infinity), Ok(json!({"$class": "float", "value": "inf"})));
        assert_eq!(
            decode(&[0xc4, 2, 0, 1]),
            Ok(json!({"$class": "bytes", "length": 2, "hex": "0001"}))
        );
        let long = shown_bytes(&[7; 5000]);
        assert_eq!((&long["length"], long["hex"].is_null()), (&json!(5000), true));
        assert_ne!(
            long,
            shown_bytes(&[&[7; 4999][..], &[8]].concat()),
            "a change anywhere is seen"
        );
    }
}
