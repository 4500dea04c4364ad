//! Invariants: their form. What their expressions use is for those to check that know expressions.

use serde_json::Value as Json;

use super::{Check, JsonType};
use crate::diagnostic::Diagnostic;
use crate::document::Section;
use crate::invariant::{INVARIANTS, MAX_INVARIANTS, WhenBroken};
use crate::json::{escape_pointer, type_name};
use crate::suggest::nearest_record;
use crate::words::{Join, Text, text};

const FIELDS: [&str; 3] = ["must", "message", "when_broken"];

pub(super) fn check(check: &mut Check<'_>) {
    let document = check.document;
    let head = Json::Object(document.head().clone());
    of_record(check, "doc", &head);
    for section in [Section::Keys, Section::Nodes, Section::Edges] {
        for (id, record) in document.section(section) {
            of_record(check, id, record);
        }
    }
}

fn of_record(check: &mut Check<'_>, record: &str, value: &Json) {
    let Some(list) = value.get(INVARIANTS) else { return };
    if !check.field(record, value, INVARIANTS, JsonType::Array) {
        return;
    }
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    if list.len() > MAX_INVARIANTS {
        let message = text!(
            "There are {count} invariants here; {most} are the most.",
            count = list.len(),
            most = MAX_INVARIANTS
        );
        let remedy = text!("Join some of them with `and`, or remove them.");
        let problem = Diagnostic::error("bad-invariant", record, message, remedy);
        check.push(problem.at(format!("/{INVARIANTS}")));
    }
    for (place, invariant) in list.iter().take(MAX_INVARIANTS).enumerate() {
        one(check, record, &format!("/{INVARIANTS}/{place}"), invariant);
    }
}

fn one(check: &mut Check<'_>, record: &str, pointer: &str, invariant: &Json) {
    let mut bad = |at: String, message: Text, remedy: Text| {
        check.push(Diagnostic::error("bad-invariant", record, message, remedy).at(at));
    };
    let Some(fields) = invariant.as_object() else {
        let message = text!(
            "An invariant must be an object, and is {found}.",
            found = type_name(invariant)
        );
        let remedy = text!("Write {\"must\": \"EXPRESSION\"}, or delete it.");
        return bad(pointer.to_owned(), message, remedy);
    };
    match fields.get("must") {
        Some(Json::String(must)) if !must.trim().is_empty() => {}
        Some(Json::String(_)) | None => bad(
            format!("{pointer}/must"),
            text!("The invariant has no expression."),
            text!("Write what must hold in `must`, such as `state.total >= 0`, or delete it."),
        ),
        Some(other) => bad(
            format!("{pointer}/must"),
            text!(
                "`must` must be a string, and is {found}.",
                found = type_name(other)
            ),
            text!("Write an expression such as `state.total >= 0`."),
        ),
    }
    if let Some(other) = fields.get("message").filter(|message| !message.is_string()) {
        let message = text!(
            "`message` must be a string, and is {found}.",
            found = type_name(other)
        );
        bad(
            format!("{pointer}/message"),
            message,
            text!("Write a text, or remove it."),
        );
    }
    let known = |then: &Json| then.as_str().and_then(WhenBroken::of).is_some();
    if let Some(other) = fields.get("when_broken").filter(|then| !known(then)) {
        let words = Text::list(Join::Comma, WhenBroken::ALL.map(WhenBroken::as_str));
        let message = text!(
            "`when_broken` is {other}, which is none of {words}.",
            other = other.to_string(),
            words = &words
        );
        bad(
            format!("{pointer}/when_broken"),
            message,
            text!("Write one of {words}, or remove it.", words),
        );
    }
    for field in fields
        .keys()
        .filter(|field| !FIELDS.contains(&field.as_str()) && !field.starts_with("x-"))
    {
        let remedy = match nearest_record(field, FIELDS) {
            Some(other) => text!("Did you mean `{other}`?", other),
            None => text!("Remove it."),
        };
        let message = text!("An invariant has no field `{field}`: nothing reads it.", field);
        let at = format!("{pointer}/{}", escape_pointer(field));
        check.push(Diagnostic::warning("unknown-field", record, message, remedy).at(at));
    }
}
