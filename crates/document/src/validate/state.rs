//! The keys of the state: names, words, and whether default and reducer fit the declared type.

use serde_json::Value as Json;

use super::{Check, JsonType, unreadable_name};
use crate::diagnostic::Diagnostic;
use crate::document::Section;
use crate::json::type_name;
use crate::suggest::nearest_record;
use crate::view::{ChannelKind, Reducer, types_of};
use crate::words::{Join, Text, text};

/// The type words of JSON Schema.
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// Names that the engine and its configuration use for themselves.
const RESERVED: [&str; 6] = [
    "checkpoint_ns",
    "checkpoint_id",
    "checkpoint_map",
    "thread_id",
    "configurable",
    "recursion_limit",
];

pub(super) fn check(check: &mut Check<'_>) {
    for (name, value) in check.document.named(Section::Keys) {
        let record = format!("key:{name}");
        key_name(check, &record, name);
        if !check.object(&record, value, text!("A state key")) {
            continue;
        }
        type_word(check, &record, value);
        let reducer = reducer(check, &record, name, value);
        channel(check, &record, name, value, reducer);
        default(check, &record, name, value);
        if let Some(values) = value.get("enum")
            && !values.is_array()
        {
            check.field(&record, value, "enum", JsonType::Array);
        }
    }
}

fn key_name(check: &mut Check<'_>, record: &str, name: &str) {
    if name.starts_with("__") || RESERVED.contains(&name) {
        let message = text!("`{name}` is reserved for the engine.", name);
        check.push(Diagnostic::error(
            "reserved-name",
            record,
            message,
            text!("Give the key another name."),
        ));
    } else if let Some(why) = unreadable_name(name) {
        let message = text!("The name of a state key {why}.", why);
        check.push(Diagnostic::error(
            "bad-name",
            record,
            message,
            text!("Give the key another name."),
        ));
    } else if !is_identifier(name) {
        let message = text!(
            "`{name}` cannot be written as `state.{name}` in expressions.",
            name
        );
        let remedy = text!(
            "Use letters, digits and `_` only, or write `state[\"{name}\"]` everywhere.",
            name
        );
        check.push(Diagnostic::warning("awkward-name", record, message, remedy));
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c == '_' || c.is_alphanumeric())
}

fn type_word(check: &mut Check<'_>, record: &str, value: &Json) {
    let unknown = |word: &str| {
        let remedy = match nearest_record(word, TYPES) {
            Some(other) => text!("Did you mean `{other}`?", other),
            None => text!("Write one of {names}.", names = Text::list(Join::Comma, TYPES)),
        };
        (text!("`{word}` is not a type.", word), remedy)
    };
    match value.get("type") {
        None => {}
        Some(Json::String(word)) if TYPES.contains(&word.as_str()) => {}
        Some(Json::String(word)) => {
            let (message, remedy) = unknown(word);
            check.push(Diagnostic::error("unknown-type", record, message, remedy).at("/type"));
        }
        Some(Json::Array(words)) => {
            for (index, word) in words.iter().enumerate() {
                let (message, remedy) = match word.as_str() {
                    Some(word) if TYPES.contains(&word) => continue,
                    Some(word) => unknown(word),
                    None => (
                        text!("`type` lists the names of types."),
                        text!("Write {names}.", names = Text::list(Join::Comma, TYPES)),
                    ),
                };
                check.push(
                    Diagnostic::error("unknown-type", record, message, remedy).at(format!("/type/{index}")),
                );
            }
        }
        Some(other) => {
            let message = text!(
                "`type` must be a string, and is {found}.",
                found = type_name(other)
            );
            let remedy = text!("Write one of {names}.", names = Text::list(Join::Comma, TYPES));
            check.push(Diagnostic::error("bad-type", record, message, remedy).at("/type"));
        }
    }
}

fn reducer(check: &mut Check<'_>, record: &str, name: &str, value: &Json) -> Option<Reducer> {
    check.field(record, value, "reducer", JsonType::Text);
    let word = value.get("reducer")?.as_str()?;
    let Some(reducer) = Reducer::of(word) else {
        let words = Reducer::ALL.map(Reducer::as_str);
        let remedy = match nearest_record(word, words) {
            Some(other) => text!("Did you mean `{other}`?", other),
            None => text!("Write one of {names}.", names = Text::list(Join::Comma, words)),
        };
        let message = text!("`{word}` is not a reducer.", word);
        check.push(Diagnostic::error("unknown-reducer", record, message, remedy).at("/reducer"));
        return None;
    };
    let declared = types_of(value);
    // `null` beside a fitting type is allowed: the reducer never sees it once there is a value.
    let fits = declared.iter().any(|ty| reducer.types().contains(ty))
        || declared.iter().any(|ty| !TYPES.contains(ty));
    if !declared.is_empty() && !reducer.types().is_empty() && !fits {
        let message = text!(
            "`{name}` is declared as {names}, which `{word}` cannot join.",
            name,
            names = Text::list(Join::Or, declared),
            word
        );
        let remedy = text!(
            "Declare it as {names}, or choose another reducer.",
            names = Text::list(Join::Comma, reducer.types())
        );
        check.push(Diagnostic::error("reducer-type", record, message, remedy).at("/reducer"));
    }
    Some(reducer)
}

fn channel(check: &mut Check<'_>, record: &str, name: &str, value: &Json, reducer: Option<Reducer>) {
    check.field(record, value, "channel", JsonType::Text);
    let Some(word) = value.get("channel").and_then(Json::as_str) else {
        return;
    };
    let Some(kind) = ChannelKind::of(word) else {
        let words = ChannelKind::ALL.map(ChannelKind::as_str);
        let message = text!("`{word}` is not a channel.", word);
        let remedy = match nearest_record(word, words) {
            Some(other) => text!("Did you mean `{other}`?", other),
            None => text!(
                "Write one of {names}, or remove the field so that the value is kept.",
                names = Text::list(Join::Comma, words)
            ),
        };
        check.push(Diagnostic::error("unknown-channel", record, message, remedy).at("/channel"));
        return;
    };
    if reducer.is_some_and(|reducer| reducer != Reducer::Overwrite) {
        let message = text!(
            "The channel `{word}` says what several writes mean; the reducer is never used.",
            word
        );
        let remedy = text!("Remove `reducer`, or remove `channel` so that the value is kept.");
        check.push(Diagnostic::error("reducer-on-channel", record, message, remedy).at("/reducer"));
    }
    if kind.is_short() && value.get("default").is_some() {
        let message = text!(
            "A key with channel `{word}` is empty before it is written; its default is never used.",
            word
        );
        let remedy = text!("Remove `default`, or remove `channel` so that the value is kept.");
        check.push(Diagnostic::warning("default-on-channel", record, message, remedy).at("/default"));
    }
    let declared = types_of(value);
    if kind == ChannelKind::Topic && !declared.is_empty() && !declared.contains(&"array") {
        let message = text!(
            "`{name}` is declared as {names}, and a topic is a list.",
            name,
            names = Text::list(Join::Or, declared)
        );
        let remedy = text!("Declare it as array, or choose another channel.");
        check.push(Diagnostic::error("channel-type", record, message, remedy).at("/channel"));
    }
}

fn default(check: &mut Check<'_>, record: &str, name: &str, value: &Json) {
    let Some(default) = value.get("default") else {
        return;
    };
    let declared: Vec<&str> = types_of(value)
        .into_iter()
        .filter(|ty| TYPES.contains(ty))
        .collect();
    if !declared.is_empty() && !declared.iter().any(|ty| is_of(default, ty)) {
        let message = text!(
            "The default of `{name}` is {found}, and the key is declared as {names}.",
            name,
            found = type_name(default),
            names = Text::list(Join::Or, declared)
        );
        let remedy = text!("Change the default or the type, so that they agree.");
        check.push(Diagnostic::error("default-type", record, message, remedy).at("/default"));
    } else if let Some(values) = value.get("enum").and_then(Json::as_array)
        && !values.iter().any(|allowed| crate::same(allowed, default))
    {
        let message = text!("The default of `{name}` is not one of its allowed values.", name);
        let remedy = text!("Add it to `enum`, or choose another default.");
        check.push(Diagnostic::error("default-type", record, message, remedy).at("/default"));
    }
}

/// Returns whether a value has the type that this word names.
fn is_of(value: &Json, ty: &str) -> bool {
    match ty {
        "string" => value.is_string(),
        "number" => value.is_number(),
        // As in JSON Schema, 1.0 is an integer.
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}
