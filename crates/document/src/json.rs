//! Reading JSON without losing anything unsaid, and comparing it as every client compares it.

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use crate::words::{Text, text};

/// A parsed text, with what a plain parse would have dropped.
pub(crate) struct Parsed {
    pub(crate) value: Json,
    /// Pointers of object members that stand more than once; the last one is in `value`.
    pub(crate) duplicates: Vec<String>,
}

/// Parses `text`, noting members that an object holds twice.
pub(crate) fn parse(text: &str) -> Result<Parsed, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut path = String::new();
    let value = JsonReader {
        path: &mut path,
        duplicates: &mut duplicates,
    }
    .deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Parsed { value, duplicates })
}

/// Returns whether two JSON values are equal for all clients: numbers by value (`1` is `1.0`, as in JavaScript),
/// objects without regard to the order of members.
pub fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns whether two values have the same text: the order of members counts too.
pub(crate) fn identical(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((name, a), (other, b))| name == other && identical(a, b))
        }
        _ => a == b,
    }
}

/// Escapes one segment of a JSON Pointer.
pub fn escape_pointer(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// Returns the type of a value, in the words of JSON Schema.
pub(crate) fn type_name(value: &Json) -> Text {
    match value {
        Json::Null => "null".into(),
        Json::Bool(_) => text!("a boolean"),
        Json::Number(_) => text!("a number"),
        Json::String(_) => text!("a string"),
        Json::Array(_) => text!("an array"),
        Json::Object(_) => text!("an object"),
    }
}

struct JsonReader<'a> {
    path: &'a mut String,
    duplicates: &'a mut Vec<String>,
}

impl JsonReader<'_> {
    fn child<'c>(&'c mut self) -> JsonReader<'c> {
        JsonReader {
            path: self.path,
            duplicates: self.duplicates,
        }
    }
}

impl<'de> DeserializeSeed<'de> for JsonReader<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }
    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        let depth = self.path.len();
        loop {
            self.path.push('/');
            self.path.push_str(&items.len().to_string());
            let item = seq.next_element_seed(self.child())?;
            self.path.truncate(depth);
            match item {
                Some(item) => items.push(item),
                None => return Ok(Json::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Map::new();
        let depth = self.path.len();
        while let Some(key) = map.next_key::<String>()? {
            self.path.push('/');
            self.path.push_str(&escape_pointer(&key));
            if members.contains_key(&key) {
                self.duplicates.push(self.path.clone());
            }
            let value = map.next_value_seed(self.child())?;
            self.path.truncate(depth);
            members.insert(key, value);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicates_are_noted_with_their_place_and_the_last_one_wins() {
        let parsed = parse(r#"{"nodes": {"a/b": 1, "c": [{"x": 1, "x": 2}], "a/b": 3}}"#).unwrap();
        assert_eq!(parsed.duplicates, ["/nodes/c/0/x", "/nodes/a~1b"]);
        assert_eq!(parsed.value, json!({"nodes": {"a/b": 3, "c": [{"x": 2}]}}));
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same(&json!({"a": [1, 2.5]}), &json!({"a": [1.0, 2.5]})));
        assert!(same(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": null})));
        assert!(!same(&json!("1"), &json!(1)));
    }
}
