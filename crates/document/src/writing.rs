//! The text of a document: stable, small in diffs, readable.
//!
//! A value that fits on its line stays on one line, anything else has a line per member. The top level and the sections
//! `state`, `nodes` and `edges` always have a line per record, so that adding one is a diff of one line.

use serde_json::Value as Json;

/// Columns that a line may have before its value is broken up.
const MAX_WIDTH: usize = 100;

/// Formats the members of a document's top level.
pub(crate) fn document<'a>(members: impl Iterator<Item = (&'a str, Json)>) -> String {
    let mut out = String::from("{");
    let mut first = true;
    for (name, value) in members {
        out.push_str(if first { "\n  " } else { ",\n  " });
        first = false;
        string(&mut out, name);
        out.push_str(": ");
        if matches!(name, "state" | "nodes" | "edges") && !is_empty(&value) {
            broken(&mut out, &value, 2);
        } else {
            write(&mut out, &value, 2, name.chars().count() + 6);
        }
    }
    out.push_str(if first { "}\n" } else { "\n}\n" });
    out
}

/// Writes `value` at `indent`; `used` columns of its line are already taken.
fn write(out: &mut String, value: &Json, indent: usize, used: usize) {
    if is_empty(value) || fits(value, MAX_WIDTH.saturating_sub(used + 1)) {
        inline(out, value);
    } else {
        broken(out, value, indent);
    }
}

fn broken(out: &mut String, value: &Json, indent: usize) {
    let inner = indent + 2;
    match value {
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                line(out, inner, index == 0);
                write(out, item, inner, inner);
            }
            line(out, indent, true);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (name, member)) in members.iter().enumerate() {
                line(out, inner, index == 0);
                let start = out.len();
                string(out, name);
                out.push_str(": ");
                let used = inner + out[start..].chars().count();
                write(out, member, inner, used);
            }
            line(out, indent, true);
            out.push('}');
        }
        scalar => inline(out, scalar),
    }
}

fn line(out: &mut String, indent: usize, first: bool) {
    out.push_str(if first { "\n" } else { ",\n" });
    out.extend(std::iter::repeat_n(' ', indent));
}

fn inline(out: &mut String, value: &Json) {
    match value {
        Json::Array(items) => {
            // An array of arrays or objects gets air inside its brackets: `[ { … }, { … } ]`.
            let air = items.iter().any(|item| !is_empty(item));
            out.push_str(if air { "[ " } else { "[" });
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inline(out, item);
            }
            out.push_str(if air { " ]" } else { "]" });
        }
        Json::Object(members) if members.is_empty() => out.push_str("{}"),
        Json::Object(members) => {
            out.push_str("{ ");
            for (index, (name, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                string(out, name);
                out.push_str(": ");
                inline(out, member);
            }
            out.push_str(" }");
        }
        Json::String(text) => string(out, text),
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Returns whether a value is an empty container or a scalar: there is nothing to break up.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => true,
    }
}

/// Returns whether the inline form has at most `columns` characters. Gives up early, so that formatting stays linear.
fn fits(value: &Json, columns: usize) -> bool {
    measure(value, columns).is_some()
}

/// Returns what is left of `columns` after the inline form of `value`.
fn measure(value: &Json, columns: usize) -> Option<usize> {
    match value {
        Json::Array(items) => {
            let mut left = columns.checked_sub(4)?;
            for item in items {
                left = measure(item, left)?.checked_sub(2)?;
            }
            Some(left)
        }
        Json::Object(members) => {
            let mut left = columns.checked_sub(4)?;
            for (name, member) in members {
                left = measure(member, left.checked_sub(name.chars().count() + 6)?)?;
            }
            Some(left)
        }
        Json::String(text) => {
            let mut escaped = String::new();
            if text.len() > columns.saturating_mul(4) {
                return None;
            }
            string(&mut escaped, text);
            columns.checked_sub(escaped.chars().count())
        }
        scalar => columns.checked_sub(scalar.to_string().len()),
    }
}

fn string(out: &mut String, text: &str) {
    out.push_str(&Json::String(text.to_owned()).to_string());
}
