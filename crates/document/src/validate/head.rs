//! The head: format, texts, lists of keys, examples, the limit.

use serde_json::Value as Json;

use super::{Check, JsonType};
use crate::diagnostic::Diagnostic;
use crate::document::Section;
use crate::json::{escape_pointer, type_name};
use crate::limits::FIELDS;
use crate::suggest::{nearest, nearest_record};
use crate::view::ContextSet;
use crate::words::{Join, Text, text};
use crate::{FORMAT, MAX_RECURSION_LIMIT};

pub(super) fn check(check: &mut Check<'_>) {
    let document = check.document;
    let head = Json::Object(document.head().clone());
    format(check, head.get("format"));
    for field in ["name", "description", "summary"] {
        check.field("doc", &head, field, JsonType::Text);
    }
    for section in Section::ALL {
        // A section is only left in the head when it could not become records.
        let wanted = if section == Section::Edges {
            JsonType::Array
        } else {
            JsonType::Object
        };
        check.field("doc", &head, section.field(), wanted);
    }
    for field in ["input", "output"] {
        key_list(check, &head, field);
    }
    if let Some(limit) = head.get("recursion_limit")
        && !limit
            .as_u64()
            .is_some_and(|limit| (1..=u64::from(MAX_RECURSION_LIMIT)).contains(&limit))
    {
        let message = text!("`recursion_limit` must be a whole number between 1 and 1,000,000.");
        let remedy =
            text!("Write the number of super-steps after which a run is stopped, or remove the field.");
        check.push(Diagnostic::error("bad-limit", "doc", message, remedy).at("/recursion_limit"));
    }
    limits(check, &head);
    context(check, &head);
    context_sets(check, &head);
    examples(check, &head);
}

fn limits(check: &mut Check<'_>, head: &Json) {
    let Some(limits) = head.get("limits") else { return };
    check.field("doc", head, "limits", JsonType::Object);
    for (name, value) in limits.as_object().into_iter().flatten() {
        let field = FIELDS.iter().find(|field| field.name == name);
        let Some(field) = field else {
            let message = text!("There is no limit `{name}`.", name);
            let names: Vec<&str> = FIELDS.iter().map(|field| field.name).collect();
            let remedy = text!(
                "Remove it. There are {names}.",
                names = Text::list(Join::Comma, names)
            );
            let at = format!("/limits/{}", escape_pointer(name));
            check.push(Diagnostic::error("bad-limit", "doc", message, remedy).at(at));
            continue;
        };
        let most = field.most as u64;
        if !value.as_u64().is_some_and(|value| (1..=most).contains(&value)) {
            let message = text!(
                "`{name}` must be a whole number between 1 and {most}.",
                name,
                most
            );
            let remedy = text!(
                "Correct it, or remove it: {default} counts then.",
                default = field.default
            );
            let at = format!("/limits/{name}");
            check.push(Diagnostic::error("bad-limit", "doc", message, remedy).at(at));
        }
    }
}

fn format(check: &mut Check<'_>, format: Option<&Json>) {
    let (code, message, remedy) = match format {
        None => (
            "missing-format",
            text!("The file does not say which format it has."),
            text!("Add \"format\": \"{format}\" at its beginning.", format = FORMAT),
        ),
        Some(Json::String(format)) if format == FORMAT => return,
        Some(Json::String(format)) => {
            let version = format
                .strip_prefix("superstep/")
                .and_then(|version| version.parse::<u64>().ok());
            match version {
                Some(version) if version > 1 => (
                    "newer-format",
                    text!(
                        "The file has format `{format}`, and this release reads up to `{newest}`.",
                        format,
                        newest = FORMAT
                    ),
                    text!("Install a newer release to open it. Fields that are not known here are kept."),
                ),
                _ => (
                    "unknown-format",
                    text!("`{format}` is not a format of graph files.", format),
                    text!(
                        "Write \"format\": \"{format}\" if this is a graph.",
                        format = FORMAT
                    ),
                ),
            }
        }
        Some(other) => (
            "bad-type",
            text!(
                "`format` must be a string, and is {found}.",
                found = type_name(other)
            ),
            text!("Write \"format\": \"{format}\".", format = FORMAT),
        ),
    };
    check.push(Diagnostic::error(code, "doc", message, remedy).at("/format"));
}

fn key_list(check: &mut Check<'_>, head: &Json, field: &str) {
    if !check.field("doc", head, field, JsonType::Array) {
        return;
    }
    let names = head
        .get(field)
        .and_then(Json::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/{field}/{index}");
        let Some(name) = name.as_str() else {
            let message = text!(
                "`{field}` lists names of state keys, and this is {found}.",
                field,
                found = type_name(name)
            );
            check.push(
                Diagnostic::error(
                    "bad-type",
                    "doc",
                    message,
                    text!("Write the name of a state key."),
                )
                .at(pointer),
            );
            continue;
        };
        if check.document.record(&format!("key:{name}")).is_none() {
            let (message, remedy) = unknown_key(check, name, text!("`{field}` names", field));
            check.push(Diagnostic::error("unknown-key", "doc", message, remedy).at(pointer));
        } else if names[..index].iter().any(|other| other.as_str() == Some(name)) {
            let message = text!("`{field}` names `{name}` twice.", field, name);
            check.push(
                Diagnostic::warning("duplicate-key", "doc", message, text!("Remove one of them."))
                    .at(pointer),
            );
        }
    }
}

/// Returns the message and remedy for a name that is not a state key.
fn unknown_key(check: &Check<'_>, name: &str, who: Text) -> (Text, Text) {
    let message = text!("{who} `{name}`, and the state has no such key.", who, name);
    let remedy = match nearest_record(name, check.document.named(Section::Keys).map(|(name, _)| name)) {
        Some(other) => text!(
            "Did you mean `{other}`? Otherwise declare `{name}` in `state`.",
            other,
            name
        ),
        None => text!("Declare `{name}` in `state`, or remove it here.", name),
    };
    (message, remedy)
}

fn context(check: &mut Check<'_>, head: &Json) {
    if !check.field("doc", head, "context", JsonType::Object) {
        return;
    }
    let fields = head.get("context").and_then(Json::as_object);
    for (name, field) in fields.into_iter().flatten() {
        if !field.is_object() {
            let message = text!(
                "The field `{name}` of the run context must be a JSON Schema, and is {found}.",
                name,
                found = type_name(field)
            );
            let remedy = text!("Write an object such as { \"type\": \"string\" }, or remove the field.");
            let pointer = format!("/context/{}", escape_pointer(name));
            check.push(Diagnostic::error("bad-type", "doc", message, remedy).at(pointer));
        }
    }
}

/// Checks the sets of context values. A set that cannot be used stops no run that is given another or none.
fn context_sets(check: &mut Check<'_>, head: &Json) {
    if !check.field("doc", head, "context_sets", JsonType::Array) {
        return;
    }
    let sets = head.get("context_sets").and_then(Json::as_array);
    let sets = sets.map(Vec::as_slice).unwrap_or_default();
    if sets.len() > ContextSet::MAX_SETS {
        let message = text!(
            "There are {count} sets of context values, and {most} at most.",
            count = sets.len(),
            most = ContextSet::MAX_SETS
        );
        let remedy = text!("Remove those that are not needed.");
        check.push(Diagnostic::warning("bad-context-set", "doc", message, remedy).at("/context_sets"));
    }
    let mut names: Vec<&str> = Vec::new();
    for (index, set) in sets.iter().enumerate() {
        let pointer = format!("/context_sets/{index}");
        let name = set.get("name").and_then(Json::as_str);
        let name = name.filter(|name| (1..=ContextSet::MAX_NAME).contains(&name.chars().count()));
        let (Some(name), Some(values)) = (name, set.get("values").and_then(Json::as_object)) else {
            let message = text!(
                "A set of context values is an object with a `name` of at most {most} characters and a `values` object.",
                most = ContextSet::MAX_NAME
            );
            let remedy = text!("Write { \"name\": \"…\", \"values\": { … } }, or delete it.");
            check.push(Diagnostic::warning("bad-context-set", "doc", message, remedy).at(pointer));
            continue;
        };
        if names.contains(&name) {
            let message = text!(
                "There are two sets of context values with the name `{name}`.",
                name
            );
            let remedy = text!("Give one another name; the first is used.");
            check.push(
                Diagnostic::warning("bad-context-set", "doc", message, remedy).at(format!("{pointer}/name")),
            );
        }
        names.push(name);
        for field in values.keys() {
            unknown_context_field(check, head, name, field, &pointer);
        }
    }
}

/// Warns about a value of a set for which the context has no field.
fn unknown_context_field(check: &mut Check<'_>, head: &Json, set: &str, field: &str, pointer: &str) {
    let declared = head.get("context").and_then(Json::as_object);
    if declared.is_some_and(|fields| fields.contains_key(field)) {
        return;
    }
    let message = text!(
        "The set `{set}` of context values has `{field}`, and the context has no such field.",
        set,
        field
    );
    let names = declared.into_iter().flat_map(|fields| fields.keys());
    let remedy = match nearest(field, names.map(String::as_str)) {
        Some(other) => text!(
            "Did you mean `{other}`? Otherwise declare `{field}` in `context`.",
            other,
            field
        ),
        None => text!("Declare `{field}` in `context`, or remove it here.", field),
    };
    let at = format!("{pointer}/values/{}", escape_pointer(field));
    check.push(Diagnostic::warning("unknown-context-field", "doc", message, remedy).at(at));
}

fn examples(check: &mut Check<'_>, head: &Json) {
    if !check.field("doc", head, "examples", JsonType::Array) {
        return;
    }
    let examples = head
        .get("examples")
        .and_then(Json::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let allowed = check.document.input_keys();
    for (index, example) in examples.iter().enumerate() {
        let pointer = format!("/examples/{index}");
        let shape = example.get("name").is_none_or(Json::is_string)
            && example.get("input").is_some_and(Json::is_object);
        if !shape {
            let message = text!("An example is an object with a `name` and an `input` object.");
            let remedy = text!("Write { \"name\": \"…\", \"input\": { … } }, or delete it.");
            check.push(Diagnostic::warning("bad-example", "doc", message, remedy).at(pointer));
            continue;
        }
        for name in example
            .get("input")
            .and_then(Json::as_object)
            .into_iter()
            .flat_map(|input| input.keys())
        {
            let pointer = format!("{pointer}/input/{}", crate::escape_pointer(name));
            if check.document.record(&format!("key:{name}")).is_none() {
                let (message, remedy) = unknown_key(check, name, text!("The example sets"));
                check.push(Diagnostic::warning("unknown-key", "doc", message, remedy).at(pointer));
            } else if allowed
                .as_ref()
                .is_some_and(|allowed| !allowed.contains(&name.as_str()))
            {
                let message = text!("The example sets `{name}`, which `input` does not allow.", name);
                let remedy = text!("Add `{name}` to `input`, or remove it from the example.", name);
                check.push(Diagnostic::warning("not-an-input", "doc", message, remedy).at(pointer));
            }
        }
    }
}
