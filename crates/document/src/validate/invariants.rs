//! Invariants: their form. What their expressions use is for those to check that know expressions.

use serde_json::Value as Json;

use super::{Check, Wanted};
use crate::diagnostic::Diagnostic;
use crate::document::Section;
use crate::invariant::{INVARIANTS, MOST_INVARIANTS, WhenBroken};
use crate::json::{escape_pointer, type_name};
use crate::suggest::nearest_record;

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
    if !check.field(record, value, INVARIANTS, Wanted::Array) {
        return;
    }
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    if list.len() > MOST_INVARIANTS {
        let message = format!(
            "There are {} invariants here; {MOST_INVARIANTS} are the most.",
            list.len()
        );
        let remedy = "Join some of them with `and`, or remove them.";
        let problem = Diagnostic::error("bad-invariant", record, message, remedy);
        check.push(problem.at(format!("/{INVARIANTS}")));
    }
    for (place, invariant) in list.iter().take(MOST_INVARIANTS).enumerate() {
        one(check, record, &format!("/{INVARIANTS}/{place}"), invariant);
    }
}

fn one(check: &mut Check<'_>, record: &str, pointer: &str, invariant: &Json) {
    let mut bad = |at: String, message: String, remedy: String| {
        check.push(Diagnostic::error("bad-invariant", record, message, remedy).at(at));
    };
    let Some(fields) = invariant.as_object() else {
        let message = format!("An invariant must be an object, and is {}.", type_name(invariant));
        let remedy = "Write {\"must\": \"EXPRESSION\"}, or delete it.".to_owned();
        return bad(pointer.to_owned(), message, remedy);
    };
    match fields.get("must") {
        Some(Json::String(must)) if !must.trim().is_empty() => {}
        Some(Json::String(_)) | None => bad(
            format!("{pointer}/must"),
            "The invariant has no expression.".to_owned(),
            "Write what must hold in `must`, such as `state.total >= 0`, or delete it.".to_owned(),
        ),
        Some(other) => bad(
            format!("{pointer}/must"),
            format!("`must` must be a string, and is {}.", type_name(other)),
            "Write an expression such as `state.total >= 0`.".to_owned(),
        ),
    }
    if let Some(other) = fields.get("message").filter(|message| !message.is_string()) {
        let message = format!("`message` must be a string, and is {}.", type_name(other));
        bad(
            format!("{pointer}/message"),
            message,
            "Write a text, or remove it.".to_owned(),
        );
    }
    let known = |then: &Json| then.as_str().and_then(WhenBroken::of).is_some();
    if let Some(other) = fields.get("when_broken").filter(|then| !known(then)) {
        let words = WhenBroken::ALL.map(WhenBroken::as_str).join(", ");
        let message = format!("`when_broken` is {other}, which is none of {words}.");
        bad(
            format!("{pointer}/when_broken"),
            message,
            format!("Write one of {words}, or remove it."),
        );
    }
    for field in fields
        .keys()
        .filter(|field| !FIELDS.contains(&field.as_str()) && !field.starts_with("x-"))
    {
        let remedy = match nearest_record(field, FIELDS) {
            Some(other) => format!("Did you mean `{other}`?"),
            None => "Remove it.".to_owned(),
        };
        let message = format!("An invariant has no field `{field}`: nothing reads it.");
        let at = format!("{pointer}/{}", escape_pointer(field));
        check.push(Diagnostic::warning("unknown-field", record, message, remedy).at(at));
    }
}
