//! Values as JSON, and back.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{List, Object, Value};
use crate::value::messages;

/// The key of an object as it is read. Messages are read more often than anything else: what they are made of shares
/// its names.
#[derive(Debug)]
pub struct Key(pub Arc<str>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
                static COMMON: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| messages::field_names().collect());
                let common = COMMON.iter().find(|common| ***common == *key);
                Ok(Key(common.cloned().unwrap_or_else(|| key.into())))
            }
        }
        d.deserialize_str(V)
    }
}

fn entries_of<'de, A: MapAccess<'de>>(mut map: A) -> Result<Object, A::Error> {
    let mut object = Object::new();
    while let Some((Key(key), value)) = map.next_entry::<Key, Value>()? {
        object.insert(key, value);
    }
    Ok(object)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Number(n) => n.serialize(s),
            Value::String(text) => s.serialize_str(text),
            Value::Array(items) => s.collect_seq(items.iter()),
            Value::Object(map) => s.collect_map(map.iter().map(|(k, v)| (&**k, v))),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
                Ok(Value::Bool(b))
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
            fn visit_str<E>(self, s: &str) -> Result<Value, E> {
                Ok(s.into())
            }
            fn visit_string<E>(self, s: String) -> Result<Value, E> {
                Ok(s.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                let mut items = List::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Value::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
                entries_of(map).map(Value::Object)
            }
        }
        d.deserialize_any(V)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.iter().map(|(k, v)| (&**k, v)))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Object;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object, A::Error> {
                entries_of(map)
            }
        }
        d.deserialize_map(V)
    }
}
