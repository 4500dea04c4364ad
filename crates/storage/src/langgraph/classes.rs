//! Values of classes, as they are shown: an object that names its class under [`CLASS`], with the fields or the argument
//! that the program stored. Nothing is imported or called, so no class need be known; some that everybody has are shown in
//! the form that people write.

use superstep::Value;
use superstep::value::{List, Object};

/// The key under which an object says what it was in the program. It is no key of a plain dictionary: one that has it is
/// shown by its entries.
pub const CLASS: &str = "$class";

/// Letters of a text in a line.
const MAX_SHOWN_TEXT: usize = 60;
/// Entries of an object or a list in a line.
const MAX_SHOWN_ENTRIES: usize = 8;
/// Levels that a line shows.
const MAX_SHOWN_DEPTH: usize = 4;

/// Arguments that a class was stored with.
pub(super) enum Arguments {
    One(Value),
    Several(List),
    /// By name.
    Fields(Value),
}

/// Creates the object of a class.
pub(super) fn of_class(class: &str, entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let mut object = Object::new();
    object.insert(CLASS, class);
    for (key, value) in entries {
        object.insert(key, value);
    }
    object.into()
}

/// Creates what stands for a value that cannot be shown.
pub(super) fn unreadable(reason: impl Into<String>) -> Value {
    of_class("unreadable", [("reason", Value::from(reason.into()))])
}

/// Builds a dictionary: an object where every key is text, or else its entries.
pub(super) fn dictionary(entries: Vec<(Value, Value)>) -> Value {
    let plain = |key: &Value| key.as_str().is_some_and(|key| key != CLASS);
    if entries.iter().all(|(key, _)| plain(key)) {
        let mut object = Object::new();
        for (key, value) in entries {
            if let Value::String(key) = key {
                object.insert(key, value);
            }
        }
        return object.into();
    }
    let pair = |(key, value): (Value, Value)| Value::Array([key, value].into_iter().collect());
    of_class(
        "dict",
        [("entries", Value::Array(entries.into_iter().map(pair).collect()))],
    )
}

/// Shows an object of a class.
pub(super) fn shown(module: &str, class: &str, arguments: Arguments) -> Value {
    match arguments {
        Arguments::One(value) => shown_one(module, class, value),
        Arguments::Several(values) => shown_several(module, class, values),
        Arguments::Fields(fields) => shown_fields(module, class, fields),
    }
}

fn full(module: &str, class: &str) -> String {
    match module {
        "" | "builtins" => class.to_owned(),
        module => format!("{module}.{class}"),
    }
}

fn shown_one(module: &str, class: &str, value: Value) -> Value {
    let name = full(module, class);
    match (&*name, value) {
        ("set" | "frozenset" | "collections.deque" | "Set", Value::Array(items)) => {
            of_class(&name, [("items", Value::Array(items))])
        }
        ("uuid.UUID", Value::String(hex)) => {
            let id = uuid::Uuid::parse_str(&hex).map(|id| id.hyphenated().to_string());
            of_class(
                &name,
                [("value", Value::from(id.unwrap_or_else(|_| hex.to_string())))],
            )
        }
        (_, value) => of_class(&name, [("value", value)]),
    }
}

fn shown_several(module: &str, class: &str, values: List) -> Value {
    let name = full(module, class);
    let text = match &*name {
        "datetime.date" => date(&values),
        "datetime.time" => time(&values),
        "datetime.timedelta" => duration(&values),
        _ if module == "pathlib" || module.starts_with("pathlib.") => path(&values),
        _ => None,
    };
    if let Some(text) = text {
        return of_class(&name, [("value", Value::from(text))]);
    }
    let at = |index: usize| values.get(index).cloned().unwrap_or_default();
    match &*name {
        "re.compile" => of_class("re.Pattern", [("pattern", at(0)), ("flags", at(1))]),
        "langgraph.types.Send" | "langgraph.constants.Send" => {
            of_class(&name, [("node", at(0)), ("arg", at(1))])
        }
        _ if values.len() == 1 => shown_one(module, class, at(0)),
        _ => of_class(&name, [("args", Value::Array(values))]),
    }
}

/// Kinds of LangChain's messages by their classes.
const MESSAGES: [(&str, &str); 13] = [
    ("HumanMessage", "human"),
    ("HumanMessageChunk", "human"),
    ("AIMessage", "ai"),
    ("AIMessageChunk", "ai"),
    ("SystemMessage", "system"),
    ("SystemMessageChunk", "system"),
    ("ToolMessage", "tool"),
    ("ToolMessageChunk", "tool"),
    ("FunctionMessage", "function"),
    ("FunctionMessageChunk", "function"),
    ("ChatMessage", "chat"),
    ("ChatMessageChunk", "chat"),
    ("RemoveMessage", "remove"),
];

fn kind_of_message(module: &str, class: &str) -> Option<&'static str> {
    let is_langchain = module.starts_with("langchain") || module.starts_with("@langchain");
    let found = MESSAGES.iter().find(|(name, _)| *name == class);
    found
        .filter(|_| is_langchain && module.contains("messages"))
        .map(|(_, kind)| *kind)
}

fn shown_fields(module: &str, class: &str, fields: Value) -> Value {
    let name = full(module, class);
    let Value::Object(fields) = fields else {
        return of_class(&name, [("fields", fields)]);
    };
    if let Some(kind) = kind_of_message(module, class) {
        // A message is what it is in a thread of ours.
        let mut message = Object::new();
        message.insert("type", kind);
        for (key, value) in fields.iter().filter(|(key, _)| &***key != "type") {
            message.insert(key.clone(), value.clone());
        }
        if class.ends_with("Chunk") {
            message.insert(CLASS, name);
        }
        return message.into();
    }
    if &*name == "datetime.time" {
        let part = |key: &str| fields.get(key).cloned().unwrap_or_default();
        let parts = ["hour", "minute", "second", "microsecond", "tzinfo"].map(part);
        if let Some(text) = time(&parts.into_iter().collect()) {
            return of_class(&name, [("value", Value::from(text))]);
        }
    }
    let mut object = Object::new();
    object.insert(CLASS, name);
    for (key, value) in fields.iter() {
        object.insert(key.clone(), value.clone());
    }
    object.into()
}

fn number(values: &List, index: usize) -> Option<i64> {
    match values.get(index) {
        None | Some(Value::Null) => Some(0),
        Some(value) => value.as_i64(),
    }
}

fn date(values: &List) -> Option<String> {
    let (year, month, day) = (number(values, 0)?, number(values, 1)?, number(values, 2)?);
    (values.len() == 3).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn time(values: &List) -> Option<String> {
    // A time with a zone is shown by its fields.
    if values.get(4).is_some_and(|zone| !zone.is_null()) {
        return None;
    }
    let (hour, minute, second) = (number(values, 0)?, number(values, 1)?, number(values, 2)?);
    let text = format!("{hour:02}:{minute:02}:{second:02}");
    Some(match number(values, 3)? {
        0 => text,
        part => format!("{text}.{part:06}"),
    })
}

/// Formats a time span as Python does: `1 day, 0:01:30`.
fn duration(values: &List) -> Option<String> {
    let (days, seconds, micros) = (number(values, 0)?, number(values, 1)?, number(values, 2)?);
    let mut text = match days {
        0 => String::new(),
        1 | -1 => format!("{days} day, "),
        days => format!("{days} days, "),
    };
    text += &format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if micros != 0 {
        text += &format!(".{micros:06}");
    }
    Some(text)
}

fn path(values: &List) -> Option<String> {
    let mut text = String::new();
    for part in values.iter() {
        let part = part.as_str()?;
        if !text.is_empty() && !text.ends_with(['/', '\\']) {
            text.push('/');
        }
        text.push_str(part);
    }
    Some(if text.is_empty() { ".".to_owned() } else { text })
}

/// Returns a value in a line, with the names of classes: `Policy {limit: 99.90}`. Long texts, long lists and deep values are
/// shortened. `None` for a value without classes, which JSON shows as well.
pub fn in_a_line(value: &Value) -> Option<String> {
    has_class(value).then(|| line(value, MAX_SHOWN_DEPTH))
}

fn has_class(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_class),
        Value::Object(object) => object.contains_key(CLASS) || object.iter().any(|(_, part)| has_class(part)),
        _ => false,
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn listed(mut items: impl ExactSizeIterator<Item = String>) -> String {
    let total = items.len();
    let mut shown: Vec<String> = items.by_ref().take(MAX_SHOWN_ENTRIES).collect();
    if total > MAX_SHOWN_ENTRIES {
        shown.push(format!("… {} more", total - MAX_SHOWN_ENTRIES));
    }
    shown.join(", ")
}

fn line(value: &Value, depth: usize) -> String {
    match value {
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(_) | Value::Object(_) if depth == 0 => "…".to_owned(),
        Value::Array(items) => format!("[{}]", listed(items.iter().map(|item| line(item, depth - 1)))),
        Value::Object(object) => match object.get(CLASS).and_then(Value::as_str) {
            Some(class) => line_of_class(class, object, depth),
            None => format!("{{{}}}", entries(object, depth)),
        },
        other => other.to_string(),
    }
}

fn entries(object: &Object, depth: usize) -> String {
    let fields: Vec<(&str, &Value)> = (object.iter().map(|(key, value)| (&**key, value)))
        .filter(|(key, _)| *key != CLASS)
        .collect();
    listed(
        fields
            .into_iter()
            .map(|(key, value)| format!("{key}: {}", line(value, depth - 1))),
    )
}

fn line_of_class(class: &str, object: &Object, depth: usize) -> String {
    let short = class.rsplit('.').next().unwrap_or(class);
    if object.len() == 2 {
        match (object.get("value"), object.get("items")) {
            // What people write without quotes is shown so.
            (Some(Value::String(text)), _) if matches!(short, "Decimal" | "float" | "int") => {
                return shortened(text);
            }
            (Some(Value::String(text)), _) => return format!("{short} {}", shortened(text)),
            (Some(value), _) => return format!("{short} {}", line(value, depth - 1)),
            (_, Some(items)) => return format!("{short} {}", line(items, depth - 1)),
            _ => {}
        }
    }
    format!("{short} {{{}}}", entries(object, depth))
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn values_of_classes_are_a_line() {
        let policy = json!({
            "$class": "make_graph.Policy",
            "limit": {"$class": "decimal.Decimal", "value": "99.90"},
            "kinds": [{"$class": "make_graph.Kind", "value": "goods"}],
        });
        let shown = "Policy {limit: 99.90, kinds: [Kind goods]}";
        assert_eq!(in_a_line(&policy).as_deref(), Some(shown));
        assert_eq!(in_a_line(&json!({"a": [1]})), None);
        let in_a_line = |value: &Value| line(value, MAX_SHOWN_DEPTH);
        assert_eq!(in_a_line(&json!({"a": [1, "x", null]})), "{a: [1, \"x\", null]}");
        let many: Value = Value::Array((0..20).map(Value::from).collect());
        assert_eq!(in_a_line(&many), "[0, 1, 2, 3, 4, 5, 6, 7, … 12 more]");
        let deep = json!([[[[[1]]]]]);
        assert_eq!(in_a_line(&deep), "[[[[…]]]]");
    }

    #[test]
    fn times_and_paths_are_written_as_people_do() {
        let list = |value: Value| value.as_array().cloned().unwrap();
        let shown = |module: &str, class: &str, args: Value| {
            shown(module, class, Arguments::Several(list(args)))["value"].clone()
        };
        assert_eq!(
            shown("datetime", "timedelta", json!([0, 90, 0])),
            json!("0:01:30")
        );
        assert_eq!(
            shown("datetime", "timedelta", json!([2, 3661, 5])),
            json!("2 days, 1:01:01.000005")
        );
        assert_eq!(
            shown("datetime", "date", json!([2026, 3, 1])),
            json!("2026-03-01")
        );
        assert_eq!(
            shown("pathlib", "PosixPath", json!(["/", "in", "scan.pdf"])),
            json!("/in/scan.pdf")
        );
        assert_eq!(shown("pathlib", "PosixPath", json!([])), json!("."));
    }

    #[test]
    fn a_dictionary_with_keys_of_any_kind_is_shown_by_its_entries() {
        let of = |keys: Vec<Value>| dictionary(keys.into_iter().map(|key| (key, Value::from(1))).collect());
        assert_eq!(of(vec!["a".into()]), json!({"a": 1}));
        assert_eq!(
            of(vec!["1".into(), 1.into()]),
            json!({"$class": "dict", "entries": [["1", 1], [1, 1]]})
        );
        assert_eq!(
            of(vec![CLASS.into()]),
            json!({"$class": "dict", "entries": [["$class", 1]]})
        );
    }
}
