//! Where two records differ, in words that name the place.

use std::fmt;

use serde_json::Value;

/// One place where the engine does something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where in the record, e.g. `2.events.7.updates.a.log`.
    pub place: String,
    /// What LangGraph did.
    pub reference: Option<Value>,
    /// What the engine did.
    pub engine: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<Value>| match value {
            None => "(nothing)".to_owned(),
            Some(value) => {
                let text = value.to_string();
                match text.char_indices().nth(500) {
                    Some((end, _)) => format!("{}…", &text[..end]),
                    None => text,
                }
            }
        };
        write!(
            f,
            "{}\n    LangGraph  {}\n    engine     {}",
            self.place,
            side(&self.reference),
            side(&self.engine)
        )
    }
}

/// Compares two records and returns the differences in the order of the record.
pub fn compare(reference: &Value, engine: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(String::new(), Some(reference), Some(engine), &mut found);
    found
}

/// Returns the part of an error's text that both sides must share: LangGraph's first sentence, up to a value that it
/// quotes as Python writes it. After that LangGraph gives advice about its own API, and the engine gives its own.
fn core(text: &str) -> &str {
    let text = text.split(". ").next().unwrap_or(text);
    let text = text.split(" Docs: ").next().unwrap_or(text);
    text.split(", got ").next().unwrap_or(text).trim_end_matches('.')
}

/// Returns whether both values are the same error; `None` if they are not both errors.
fn same_error(reference: &Value, engine: &Value) -> Option<bool> {
    if let (Value::String(a), Value::String(b)) = (reference, engine) {
        let (class, reported) = shown_error(a)?;
        let (engine_class, engine_message) = shown_error(b)?;
        let plain = |text: &str| text.replace("\\'", "'");
        return Some(class == engine_class && plain(engine_message).contains(&plain(core(reported))));
    }
    let expected = core(reference.get("message")?.as_str()?);
    reference.get("class")?;
    if let Some(messages) = engine.get("messages").and_then(Value::as_array) {
        // Every problem of a graph is reported at once, LangGraph stops at the first.
        return Some(
            messages
                .iter()
                .filter_map(Value::as_str)
                .any(|message| message.contains(expected)),
        );
    }
    let reported = engine.get("message")?.as_str()?;
    Some(reference["class"] == engine["class"] && reported.contains(expected))
}

/// Returns whether two texts differ only in the advice of an error that they quote, as a handler may write it.
fn same_quote(reference: &Value, engine: &Value) -> bool {
    const LIMIT: &str = "reached without hitting a stop condition. ";
    let parts = |text: &str| {
        let (before, rest) = text.split_once(LIMIT)?;
        let (_, after) = rest.split_once("')")?;
        Some((before.to_owned(), after.to_owned()))
    };
    let parts = |value: &Value| value.as_str().and_then(parts);
    parts(reference).is_some_and(|reference| Some(reference) == parts(engine))
}

/// Splits `Class('text')` into its parts.
fn shown_error(text: &str) -> Option<(&str, &str)> {
    let (class, rest) = text.strip_suffix(')')?.split_once('(')?;
    let message = rest.strip_prefix(['\'', '"'])?.strip_suffix(['\'', '"'])?;
    (class.ends_with("Error") && class.chars().all(char::is_alphanumeric)).then_some((class, message))
}

fn walk(place: String, reference: Option<&Value>, engine: Option<&Value>, found: &mut Vec<Difference>) {
    let at = |part: &str| {
        if place.is_empty() {
            part.to_owned()
        } else {
            format!("{place}.{part}")
        }
    };
    match (reference, engine) {
        (Some(a), Some(b)) if a == b || same_error(a, b) == Some(true) || same_quote(a, b) => {}
        // The text of an error without its class, as the lifecycle of nested graphs shows it.
        (Some(Value::String(a)), Some(Value::String(b)))
            if place.ends_with(".error") && b.contains(core(a.lines().next().unwrap_or(a))) => {}
        (Some(Value::Object(a)), Some(Value::Object(b)))
            if same_error(&a.clone().into(), &b.clone().into()).is_none() =>
        {
            for (key, value) in a {
                walk(at(key), Some(value), b.get(key), found);
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                walk(at(key), None, Some(value), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                walk(at(&index.to_string()), a.get(index), b.get(index), found);
            }
        }
        (a, b) => found.push(Difference {
            place,
            reference: a.cloned(),
            engine: b.cloned(),
        }),
    }
}
