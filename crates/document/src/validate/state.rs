//! The keys of the state: names, words, and whether default and reducer fit the declared type.

use serde_json::Value as Json;

use super::{Check, Wanted, unreadable_name};
use crate::diagnostic::Diagnostic;
use crate::document::Section;
use crate::json::type_name;
use crate::suggest::nearest_record;
use crate::view::{ChannelKind, Reducer, types_of};

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
        if !check.object(&record, value, "A state key") {
            continue;
        }
        type_word(check, &record, value);
        let reducer = reducer(check, &record, name, value);
        channel(check, &record, name, value, reducer);
        default(check, &record, name, value);
        if let Some(values) = value.get("enum")
            && !values.is_array()
        {
            check.field(&record, value, "enum", Wanted::Array);
        }
    }
}

fn key_name(check: &mut Check<'_>, record: &str, name: &str) {
    if name.starts_with("__") || RESERVED.contains(&name) {
        let message = format!("`{name}` is reserved for the engine.");
        check.push(Diagnostic::error(
            "reserved-name",
            record,
            message,
            "Give the key another name.",
        ));
    } else if let Some(why) = unreadable_name(name) {
        let message = format!("The name of a state key {why}.");
        check.push(Diagnostic::error(
            "bad-name",
            record,
            message,
            "Give the key another name.",
        ));
    } else if !is_identifier(name) {
        let message = format!("`{name}` cannot be written as `state.{name}` in expressions.");
        let remedy = format!("Use letters, digits and `_` only, or write `state[\"{name}\"]` everywhere.");
        check.push(Diagnostic::warning("awkward-name", record, message, remedy));
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c == '_' || c.is_alphanumeric())
}

fn type_word(check: &mut Check<'_>, record: &str, value: &Json) {
    let unknown = |word: &str| {
        let remedy = match nearest_record(word, TYPES) {
            Some(other) => format!("Did you mean `{other}`?"),
            None => format!("Write one of {}.", TYPES.join(", ")),
        };
        (format!("`{word}` is not a type."), remedy)
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
                        "`type` lists the names of types.".into(),
                        format!("Write {}.", TYPES.join(", ")),
                    ),
                };
                check.push(
                    Diagnostic::error("unknown-type", record, message, remedy).at(format!("/type/{index}")),
                );
            }
        }
        Some(other) => {
            let message = format!("`type` must be a string, and is {}.", type_name(other));
            let remedy = format!("Write one of {}.", TYPES.join(", "));
            check.push(Diagnostic::error("bad-type", record, message, remedy).at("/type"));
        }
    }
}

fn reducer(check: &mut Check<'_>, record: &str, name: &str, value: &Json) -> Option<Reducer> {
    check.field(record, value, "reducer", Wanted::Text);
    let word = value.get("reducer")?.as_str()?;
    let Some(reducer) = Reducer::of(word) else {
        let words = Reducer::ALL.map(Reducer::as_str);
        let remedy = match nearest_record(word, words) {
            Some(other) => format!("Did you mean `{other}`?"),
            None => format!("Write one of {}.", words.join(", ")),
        };
        let message = format!("`{word}` is not a reducer.");
        check.push(Diagnostic::error("unknown-reducer", record, message, remedy).at("/reducer"));
        return None;
    };
    let declared = types_of(value);
    // `null` beside a fitting type is allowed: the reducer never sees it once there is a value.
    let fits = declared.iter().any(|ty| reducer.types().contains(ty))
        || declared.iter().any(|ty| !TYPES.contains(ty));
    if !declared.is_empty() && !reducer.types().is_empty() && !fits {
        let message = format!(
            "`{name}` is declared as {}, which `{word}` cannot join.",
            declared.join(" or ")
        );
        let remedy = format!(
            "Declare it as {}, or choose another reducer.",
            reducer.types().join(", ")
        );
        check.push(Diagnostic::error("reducer-type", record, message, remedy).at("/reducer"));
    }
    Some(reducer)
}

fn channel(check: &mut Check<'_>, record: &str, name: &str, value: &Json, reducer: Option<Reducer>) {
    check.field(record, value, "channel", Wanted::Text);
    let Some(word) = value.get("channel").and_then(Json::as_str) else {
        return;
    };
    let Some(kind) = ChannelKind::of(word) else {
        let words = ChannelKind::ALL.map(ChannelKind::as_str);
        let message = format!("`{word}` is not a channel.");
        let remedy = match nearest_record(word, words) {
            Some(other) => format!("Did you mean `{other}`?"),
            None => format!(
                "Write one of {}, or remove the field so that the value is kept.",
                words.join(", ")
            ),
        };
        check.push(Diagnostic::error("unknown-channel", record, message, remedy).at("/channel"));
        return;
    };
    if reducer.is_some_and(|reducer| reducer != Reducer::Overwrite) {
        let message =
            format!("The channel `{word}` says what several writes mean; the reducer is never used.");
        let remedy = "Remove `reducer`, or remove `channel` so that the value is kept.";
        check.push(Diagnostic::error("reducer-on-channel", record, message, remedy).at("/reducer"));
    }
    if kind.is_short() && value.get("default").is_some() {
        let message =
            format!("A key with channel `{word}` is empty before it is written; its default is never used.");
        let remedy = "Remove `default`, or remove `channel` so that the value is kept.";
        check.push(Diagnostic::warning("default-on-channel", record, message, remedy).at("/default"));
    }
    let declared = types_of(value);
    if kind == ChannelKind::Topic && !declared.is_empty() && !declared.contains(&"array") {
        let message = format!(
            "`{name}` is declared as {}, and a topic is a list.",
            declared.join(" or ")
        );
        let remedy = "Declare it as array, or choose another channel.";
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
        let message = format!(
            "The default of `{name}` is {}, and the key is declared as {}.",
            type_name(default),
            declared.join(" or ")
        );
        let remedy = "Change the default or the type, so that they agree.";
        check.push(Diagnostic::error("default-type", record, message, remedy).at("/default"));
    } else if let Some(values) = value.get("enum").and_then(Json::as_array)
        && !values.iter().any(|allowed| crate::same(allowed, default))
    {
        let message = format!("The default of `{name}` is not one of its allowed values.");
        let remedy = "Add it to `enum`, or choose another default.";
        check.push(Diagnostic::error("default-type", record, message, remedy).at("/default"));
    }
}

/// Whether a value has the type of this word.
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
