//! A stored value: the name of its encoding, and bytes.

use superstep::Value;
use superstep::value::{List, Object};

use super::cipher::encrypted;
use super::classes::{Arguments, CLASS, dictionary, of_class, shown, unreadable};
use super::msgpack;

/// Shows a value; what cannot be read is named in its place.
pub(super) fn decode(kind: &str, bytes: &[u8]) -> Value {
    match try_decode(kind, bytes) {
        Ok(value) => value,
        Err(reason) => unreadable(reason),
    }
}

fn try_decode(kind: &str, bytes: &[u8]) -> Result<Value, String> {
    if let Some((_, cipher)) = kind.split_once('+') {
        return Ok(of_class(
            "encrypted",
            [
                ("cipher", Value::from(cipher)),
                ("length", Value::from(bytes.len())),
                ("reason", Value::from(encrypted(kind))),
            ],
        ));
    }
    match kind {
        "null" => Ok(Value::Null),
        "msgpack" => msgpack::decode(bytes),
        "json" => parse(bytes).map(|json| of_json(&json)),
        "bytes" | "bytearray" => Ok(msgpack::shown_bytes(bytes)),
        // Never followed: it is a program.
        "pickle" => Ok(of_class("pickled", [("length", Value::from(bytes.len()))])),
        other => Err(format!(
            "its encoding {other:?} is not known ({} bytes)",
            bytes.len()
        )),
    }
}

/// Parses JSON as Python and JavaScript write it: numbers that are none, which Python writes by name, become null.
pub(super) fn parse(bytes: &[u8]) -> Result<serde_json::Value, String> {
    match serde_json::from_slice(bytes) {
        Ok(json) => Ok(json),
        Err(error) => {
            let text = String::from_utf8_lossy(bytes);
            let without = without_names(&text);
            match without == text {
                true => Err(error.to_string()),
                false => serde_json::from_str(&without).map_err(|error| error.to_string()),
            }
        }
    }
}

/// Replaces `NaN`, `Infinity` and `-Infinity` outside of texts.
fn without_names(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let (mut rest, mut in_text) = (text, false);
    while let Some(letter) = rest.chars().next() {
        let name = ["NaN", "-Infinity", "Infinity"]
            .into_iter()
            .find(|name| rest.starts_with(name));
        if let Some(name) = name.filter(|_| !in_text) {
            result.push_str("null");
            rest = &rest[name.len()..];
            continue;
        }
        let mut len = letter.len_utf8();
        if in_text && letter == '\\' {
            len += rest[len..].chars().next().map_or(0, char::len_utf8);
        } else if letter == '"' {
            in_text = !in_text;
        }
        result.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    result
}

/// Shows JSON, in which objects with the key `lc` are of classes.
pub(super) fn of_json(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Array(items) => Value::Array(items.iter().map(of_json).collect::<List>()),
        serde_json::Value::Object(object) if object.contains_key("lc") && object.contains_key("type") => {
            of_constructor(object)
        }
        serde_json::Value::Object(object) => {
            let entries = object
                .iter()
                .map(|(key, value)| (Value::from(key.as_str()), of_json(value)));
            dictionary(entries.collect())
        }
        plain => plain.clone().into(),
    }
}

fn of_constructor(object: &serde_json::Map<String, serde_json::Value>) -> Value {
    let path = object.get("id").and_then(serde_json::Value::as_array);
    let path: Vec<&str> = path
        .into_iter()
        .flatten()
        .filter_map(serde_json::Value::as_str)
        .collect();
    let kind = object
        .get("type")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default();
    let Some((class, modules)) = path.split_last() else {
        return match (kind, object.get("value")) {
            // The value of a delta channel, as it is.
            ("delta_snapshot", Some(value)) => of_json(value),
            _ => of_class(kind, []),
        };
    };
    let module = modules.join(".");
    if kind != "constructor" {
        // A secret, which only has a name, or what could not be written.
        let repr = object.get("repr").map_or(Value::Null, of_json);
        let entries = [("id", Value::from(path.join("."))), ("repr", repr)];
        return of_class(kind, entries.into_iter().filter(|(_, value)| !value.is_null()));
    }
    let args = object.get("args").and_then(serde_json::Value::as_array);
    let args: List = args.into_iter().flatten().map(of_json).collect();
    let kwargs = object.get("kwargs").and_then(serde_json::Value::as_object);
    let kwargs: Object = (kwargs.into_iter().flatten())
        .map(|(key, value)| (key.as_str(), of_json(value)))
        .collect();
    if let Some(shown) = of_javascript(&path, &args) {
        return shown;
    }
    match (args.len(), kwargs.is_empty()) {
        (0, _) => shown(&module, class, Arguments::Fields(kwargs.into())),
        (1, true) => match (&*module, *class, args.get(0)) {
            // One argument that stands for several.
            ("pathlib" | "datetime", _, _) => shown(&module, class, Arguments::Several(args)),
            (_, _, Some(one)) => shown(&module, class, Arguments::One(one.clone())),
            _ => Value::Null,
        },
        (_, true) => shown(&module, class, Arguments::Several(args)),
        (_, false) => {
            let mut all = Object::new();
            all.insert("args", Value::Array(args));
            for (key, value) in kwargs.iter().filter(|(key, _)| &***key != CLASS) {
                all.insert(key.clone(), value.clone());
            }
            shown(&module, class, Arguments::Fields(all.into()))
        }
    }
}

/// Shows what JavaScript has of its own.
fn of_javascript(path: &[&str], args: &List) -> Option<Value> {
    let text = |index: usize| args.get(index).filter(|value| value.as_str().is_some()).cloned();
    let list = || args.get(0).and_then(Value::as_array);
    match path {
        ["Uint8Array"] => {
            let bytes = list()?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            bytes
                .collect::<Option<Vec<u8>>>()
                .map(|bytes| msgpack::shown_bytes(&bytes))
        }
        ["RegExp"] => Some(of_class("RegExp", [("pattern", text(0)?), ("flags", text(1)?)])),
        ["Map"] => Some(of_class("Map", [("entries", Value::Array(list()?.clone()))])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn every_encoding_is_shown_or_named() {
        assert_eq!(decode("null", b""), Value::Null);
        assert_eq!(
            decode("json", br#"{"a": NaN, "b": "NaN \" Infinity", "c": -Infinity}"#),
            json!({"a": null, "b": "NaN \" Infinity", "c": null})
        );
        assert_eq!(
            decode("bytes", &[1]),
            json!({"$class": "bytes", "length": 1, "hex": "01"})
        );
        assert_eq!(
            decode("pickle", b"cos\nsystem\n"),
            json!({"$class": "pickled", "length": 11})
        );
        assert_eq!(
            decode("msgpack+aes", &[0; 32]),
            json!({
                "$class": "encrypted",
                "cipher": "aes",
                "length": 32,
                "reason": "it is encrypted (aes): give the program's key, in the variable LANGGRAPH_AES_KEY or as a secret of this name",
            })
        );
        for (kind, bytes) in [
            ("xml", &b"<a/>"[..]),
            ("json", b"{"),
            ("msgpack", b"\x92\x01"),
            ("msgpack", b""),
        ] {
            assert_eq!(decode(kind, bytes)["$class"], json!("unreadable"), "{kind}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(decode("json", deep.as_bytes())["$class"], json!("unreadable"));
    }

    #[test]
    fn classes_in_json_are_shown_as_those_in_msgpack() {
        let shown = |json: serde_json::Value| of_json(&json);
        let class = |id: &[&str], args: serde_json::Value, kwargs: serde_json::Value| {
            shown(
                serde_json::json!({"lc": 2, "type": "constructor", "id": id, "args": args, "kwargs": kwargs}),
            )
        };
        let (none, empty) = (serde_json::json!([]), serde_json::json!({}));
        assert_eq!(
            class(&["shop", "Line"], none.clone(), serde_json::json!({"cents": 5})),
            json!({"$class": "shop.Line", "cents": 5})
        );
        assert_eq!(
            class(
                &["decimal", "Decimal"],
                serde_json::json!(["1.50"]),
                empty.clone()
            ),
            json!({"$class": "decimal.Decimal", "value": "1.50"})
        );
        assert_eq!(
            class(&["Set"], serde_json::json!([["a"]]), empty),
            json!({"$class": "Set", "items": ["a"]})
        );
        assert_eq!(
            class(
                &["langchain_core", "messages", "HumanMessage"],
                none,
                serde_json::json!({"content": "Hi"})
            ),
            json!({"type": "human", "content": "Hi"})
        );
        assert_eq!(
            shown(serde_json::json!({"lc": 1, "type": "not_implemented", "id": ["a", "B"], "repr": "B()"})),
            json!({"$class": "not_implemented", "id": "a.B", "repr": "B()"})
        );
        assert_eq!(
            shown(serde_json::json!({"lc": 3})),
            json!({"lc": 3}),
            "a plain object that has the key"
        );
    }
}
