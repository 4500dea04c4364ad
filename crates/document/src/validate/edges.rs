//! Edges: their form, their ends, their labels.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::{Check, JsonType};
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::Section;
use crate::json::{escape_pointer, type_name};
use crate::suggest::nearest_record;
use crate::view::Edge;
use crate::words::{Join, Text, text};
use crate::{END, START};

/// Fields that make a form, whose value is an expression.
const FORMS: [&str; 3] = ["when", "route", "each"];

/// The field of the way that is taken when a node was visited often enough; an edge has at most one of it and those.
const LIMIT: &str = "limit";

/// Most problems of a join's sources: nobody repairs more of them in one go.
const MAX_OF_JOIN: usize = 100;

pub(super) fn check(check: &mut Check<'_>) {
    let mut ids: HashMap<&str, &str> = HashMap::new();
    let mut contents: HashSet<String> = HashSet::new();
    for (name, value) in check.document.named(Section::Edges) {
        let record = format!("edge:{name}");
        if !check.object(&record, value, text!("An edge")) {
            continue;
        }
        match value.get("id") {
            None => {}
            Some(Json::String(id)) if !id.is_empty() => {
                if let Some(other) = ids.insert(id, name) {
                    let message = text!("Two edges have the id `{id}`; the first is `{other}`.", id, other);
                    let remedy = text!("Give one of them another id, or remove the `id`.");
                    check.push(Diagnostic::error("duplicate-name", &record, message, remedy).at("/id"));
                }
            }
            Some(_) => {
                let message = text!("The `id` of an edge is a text.");
                check.push(
                    Diagnostic::error(
                        "bad-type",
                        &record,
                        message,
                        text!("Write a text, or remove `id`."),
                    )
                    .at("/id"),
                );
            }
        }
        let problems = check.found.len();
        one(check, &record, value);
        // Two edges that cannot be read are not called the same.
        if let Some(edge) = Edge::of(value)
            && check.found.len() == problems
            && !contents.insert(format!("{edge:?}"))
        {
            let message = text!("The same edge stands here twice; following it twice changes nothing.");
            let mut problem =
                Diagnostic::warning("duplicate-edge", &record, message, text!("Delete one of them."));
            if value.get("from").is_some_and(Json::is_array) {
                // Two joins with the same ends would share their memory of who has arrived.
                problem.severity = Severity::Error;
            }
            check.push(problem);
        }
    }
}

fn one(check: &mut Check<'_>, record: &str, value: &Json) {
    let forms: Vec<&str> = FORMS
        .into_iter()
        .filter(|form| value.get(*form).is_some())
        .collect();
    let limit = value.get(LIMIT).map(|_| LIMIT);
    let all: Vec<&str> = forms.iter().copied().chain(limit).collect();
    if all.len() > 1 {
        let message = text!(
            "The edge has {names}; an edge has one form.",
            names = Text::list(Join::And, &all)
        );
        let remedy = text!("Make it two edges, or remove the fields of the other form.");
        check.push(Diagnostic::error("mixed-edge", record, message, remedy).at(format!("/{}", all[1])));
    }
    for form in &forms {
        check.field(record, value, form, JsonType::Text);
        if value
            .get(*form)
            .and_then(Json::as_str)
            .is_some_and(|text| text.trim().is_empty())
        {
            let remedy = text!(
                "Write an expression, e.g. state.category, or remove `{form}`.",
                form
            );
            let message = text!("The expression of `{form}` is empty.", form);
            check.push(Diagnostic::error("empty-expression", record, message, remedy).at(format!("/{form}")));
        }
    }
    sources(check, record, value, !all.is_empty());
    if value.get("route").is_some() {
        route(check, record, value);
    } else {
        to(check, record, value);
    }
    if value.get("each").is_some() {
        each(check, record, value);
    }
    if let Some(limit) = value.get(LIMIT) {
        at_limit(check, record, value, limit);
    }
}

/// Checks the way that is taken instead of a node: it needs a node that may be visited only so often.
fn at_limit(check: &mut Check<'_>, record: &str, value: &Json, limit: &Json) {
    let problem = |code, message, remedy| Diagnostic::error(code, record, message, remedy).at("/limit");
    if limit != &Json::Bool(true) {
        let found = type_name(limit);
        let message = match limit {
            Json::Bool(_) => text!("`limit` of an edge is true or absent."),
            _ => text!("`limit` of an edge is true or absent, and is {found}.", found),
        };
        let remedy =
            text!("Write `\"limit\": true`, and how often in `max_visits` of the node; or remove `limit`.");
        check.push(problem("bad-type", message, remedy));
        return;
    }
    let Some(from) = value.get("from").and_then(Json::as_str) else {
        return;
    };
    if from == START {
        let message = text!("The start is visited once; its edge cannot be the way of a limit.");
        let remedy = text!("Begin the edge at a node, or remove `limit`.");
        check.push(problem("limit-at-start", message, remedy));
        return;
    }
    let node = check.document.record(&format!("node:{from}"));
    if node.is_some_and(|node| node.get("max_visits").is_none()) {
        let message = text!(
            "`{from}` may be visited any number of times, so this edge is never taken.",
            from
        );
        let remedy = text!(
            "Give `{from}` a `max_visits`, or remove `limit` from the edge.",
            from
        );
        let problem = Diagnostic::warning("limit-without-use", record, message, remedy);
        check.push(problem.at("/limit"));
    }
}

fn sources(check: &mut Check<'_>, record: &str, value: &Json, conditional: bool) {
    match value.get("from") {
        None => {
            let remedy = text!("Add \"from\": the id of a node, or \"__start__\".");
            check.push(
                Diagnostic::error("missing-source", record, text!("The edge has no `from`."), remedy)
                    .at("/from"),
            );
        }
        Some(Json::String(name)) => source(check, record, name, "/from"),
        Some(Json::Array(names)) => {
            if conditional {
                let message = text!("Only a plain edge can wait for several nodes.");
                let remedy =
                    text!("Join the nodes in a node of its own and put the condition on an edge from there.");
                check.push(Diagnostic::error("conditional-join", record, message, remedy).at("/from"));
            }
            if names.len() < 2 {
                let message = text!("A waiting join has at least two sources.");
                let remedy = match names.first().and_then(Json::as_str) {
                    Some(name) => {
                        text!(
                            "Write \"from\": \"{name}\" for a plain edge, or add the other sources.",
                            name
                        )
                    }
                    None => text!("List the nodes to wait for, or delete the edge."),
                };
                check.push(Diagnostic::error("short-join", record, message, remedy).at("/from"));
            }
            let (mut seen, before) = (HashSet::new(), check.found.len());
            for (index, name) in names.iter().enumerate() {
                // Each problem names the edge, whose name is made of all its sources.
                if check.found.len() - before >= MAX_OF_JOIN {
                    break;
                }
                let pointer = format!("/from/{index}");
                match name.as_str() {
                    None => {
                        let message = text!(
                            "A source is the id of a node, and this is {found}.",
                            found = type_name(name)
                        );
                        let remedy = text!("Write the id of a node.");
                        check.push(Diagnostic::error("bad-type", record, message, remedy).at(pointer));
                    }
                    Some(START) => {
                        let message = text!("A join cannot wait for the start.");
                        let remedy =
                            text!("Remove `__start__` from the sources; the others run after it anyway.");
                        check.push(Diagnostic::error("start-in-join", record, message, remedy).at(pointer));
                    }
                    Some(name) if !seen.insert(name) => {
                        let message = text!("The join waits for `{name}` twice.", name);
                        check.push(
                            Diagnostic::error(
                                "duplicate-source",
                                record,
                                message,
                                text!("Remove one of them."),
                            )
                            .at(pointer),
                        );
                    }
                    Some(name) => source(check, record, name, &pointer),
                }
            }
        }
        Some(other) => {
            let message = text!(
                "`from` must be the id of a node or a list of ids, and is {found}.",
                found = type_name(other)
            );
            let remedy = text!("Write the id of a node, or \"__start__\".");
            check.push(Diagnostic::error("bad-type", record, message, remedy).at("/from"));
        }
    }
}

fn source(check: &mut Check<'_>, record: &str, name: &str, pointer: &str) {
    if name == END {
        let message = text!("The end cannot be the source of an edge.");
        let remedy = text!("Begin the edge at a node; nothing runs after the end.");
        check.push(Diagnostic::error("end-as-source", record, message, remedy).at(pointer));
    } else if !check.document.is_place(name) {
        let message = text!("The edge begins at `{name}`, and there is no such node.", name);
        let remedy = unknown_node(check, name);
        check.push(Diagnostic::error("unknown-source", record, message, remedy).at(pointer));
    } else {
        no_note(check, record, name, pointer);
    }
}

/// Reports an edge at a note, which never runs: what waits for it waits forever, and what leads to it leads nowhere.
fn no_note(check: &mut Check<'_>, record: &str, name: &str, pointer: &str) {
    if check.document.is_note(name) {
        let message = text!("`{name}` is a note; it is no part of the graph.", name);
        let remedy = text!("Connect a node, or remove the edge.");
        check.push(Diagnostic::error("note-in-graph", record, message, remedy).at(pointer));
    }
}

fn target(check: &mut Check<'_>, record: &str, name: &str, pointer: &str) {
    if name == START {
        let message = text!("The start cannot be the target of an edge.");
        let remedy = text!("Lead the edge to the node that runs first.");
        check.push(Diagnostic::error("start-as-target", record, message, remedy).at(pointer));
    } else if !check.document.is_place(name) {
        let message = text!("The edge leads to `{name}`, and there is no such node.", name);
        let remedy = unknown_node(check, name);
        check.push(Diagnostic::error("unknown-target", record, message, remedy).at(pointer));
    } else {
        no_note(check, record, name, pointer);
    }
}

fn unknown_node(check: &Check<'_>, name: &str) -> Text {
    match check.suggest_node(name, true) {
        Some(other) => text!(
            "Did you mean `{other}`? Otherwise add a node `{name}`.",
            other,
            name
        ),
        None => text!(
            "Add a node `{name}`, or lead the edge to one that is there.",
            name
        ),
    }
}

fn to(check: &mut Check<'_>, record: &str, value: &Json) {
    match value.get("to") {
        None => {
            let remedy = text!("Add \"to\": the id of a node, or \"__end__\".");
            check.push(
                Diagnostic::error("missing-target", record, text!("The edge has no `to`."), remedy).at("/to"),
            );
        }
        Some(Json::String(name)) => {
            target(check, record, name, "/to");
            let join = value.get("from").is_some_and(Json::is_array);
            if name == END && join {
                let message = text!("A join that leads to the end does nothing; a branch ends by itself.");
                check.push(
                    Diagnostic::warning("join-to-end", record, message, text!("Delete the edge.")).at("/to"),
                );
            } else if name == END && value.get("each").is_some() {
                let message = text!("Items cannot be sent to the end.");
                let remedy = text!("Send them to the node that works on one item.");
                check.push(Diagnostic::error("send-to-end", record, message, remedy).at("/to"));
            }
        }
        Some(other) => {
            let message = text!(
                "`to` must be the id of a node, and is {found}.",
                found = type_name(other)
            );
            check.push(
                Diagnostic::error("bad-type", record, message, text!("Write the id of a node.")).at("/to"),
            );
        }
    }
}

fn route(check: &mut Check<'_>, record: &str, value: &Json) {
    if value.get("to").is_some() {
        let message = text!("A route takes its targets from `paths`; its `to` is never used.");
        let remedy = text!("Remove `to`, or move it to `default`.");
        check.push(Diagnostic::error("mixed-edge", record, message, remedy).at("/to"));
    }
    let readable = check.field(record, value, "paths", JsonType::TextMap);
    let paths = value.get("paths").and_then(Json::as_object);
    if readable && paths.is_none_or(serde_json::Map::is_empty) {
        let message = text!("The route has no paths.");
        let remedy = text!("Add \"paths\": a target for each label that the expression can give.");
        check.push(Diagnostic::error("route-without-paths", record, message, remedy).at("/paths"));
    }
    for (label, to) in paths.into_iter().flatten() {
        path(
            check,
            record,
            to,
            &format!("/paths/{}", escape_pointer(label)),
            text!("the path `{label}`", label),
        );
    }
    if let Some(default) = value.get("default") {
        path(check, record, default, "/default", "`default`".into());
    }
    if let (Some(paths), Some(expression)) = (paths, value.get("route").and_then(Json::as_str)) {
        labels(check, record, expression, paths, value.get("default").is_some());
    }
}

fn path(check: &mut Check<'_>, record: &str, to: &Json, pointer: &str, what: Text) {
    match to.as_str() {
        Some(name) => target(check, record, name, pointer),
        None => {
            let message = text!(
                "{what} must lead to a node, and holds {found}.",
                what,
                found = type_name(to)
            );
            check.push(
                Diagnostic::error("bad-type", record, message, text!("Write the id of a node.")).at(pointer),
            );
        }
    }
}

/// Compares the labels of a route with its paths. They are known when the route is just a key with a list of allowed
/// values.
fn labels(
    check: &mut Check<'_>,
    record: &str,
    expression: &str,
    paths: &serde_json::Map<String, Json>,
    default: bool,
) {
    let Some(key) = expression
        .trim()
        .strip_prefix("state.")
        .filter(|key| !key.is_empty() && key.chars().all(|c| c == '_' || c.is_alphanumeric()))
    else {
        return;
    };
    let Some(schema) = check.document.record(&format!("key:{key}")) else {
        return;
    };
    let Some(values) = schema.get("enum").and_then(Json::as_array) else {
        return;
    };
    let words: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
    if words.len() != values.len() {
        return;
    }
    for label in paths.keys().filter(|label| !words.contains(&label.as_str())) {
        let remedy = match nearest_record(label, words.iter().copied()) {
            Some(word) => text!(
                "Did you mean `{word}`? Otherwise add the label to the `enum` of `{key}`.",
                word,
                key
            ),
            None => text!("Remove the path, or add the label to the `enum` of `{key}`.", key),
        };
        let message = text!(
            "No value of `{key}` gives the label `{label}`; its path is never taken.",
            key,
            label
        );
        let pointer = format!("/paths/{}", escape_pointer(label));
        check.push(Diagnostic::warning("label-without-use", record, message, remedy).at(pointer));
    }
    for word in words
        .iter()
        .filter(|word| !default && !paths.contains_key(**word))
    {
        let message = text!(
            "`{key}` can be `{word}`, and no path leads on from there; the run would fail.",
            key,
            word
        );
        let remedy = text!("Add a path for `{word}`, or a `default`.", word);
        check.push(Diagnostic::warning("value-without-path", record, message, remedy).at("/paths"));
    }
}

fn each(check: &mut Check<'_>, record: &str, value: &Json) {
    match value.get("as") {
        None => {
            let message = text!("The edge does not say under which key an item is handed over.");
            let remedy = text!("Add \"as\", e.g. \"as\": \"item\".");
            check.push(Diagnostic::error("missing-as", record, message, remedy).at("/as"));
        }
        Some(Json::String(key)) if key.is_empty() => {
            let message = text!("The key under which an item is handed over is empty.");
            check.push(
                Diagnostic::error("missing-as", record, message, text!("Write a name in `as`.")).at("/as"),
            );
        }
        Some(_) => {
            check.field(record, value, "as", JsonType::Text);
        }
    }
    if !check.field(record, value, "with", JsonType::TextMap) {
        return;
    }
    for (key, expression) in value.get("with").and_then(Json::as_object).into_iter().flatten() {
        let pointer = format!("/with/{}", escape_pointer(key));
        if !expression.is_string() {
            let message = text!(
                "`{key}` is given by an expression, and this is {found}.",
                key,
                found = type_name(expression)
            );
            check.push(
                Diagnostic::error("bad-type", record, message, text!("Write an expression.")).at(pointer),
            );
        } else if value.get("as").and_then(Json::as_str) == Some(key) {
            let message = text!("`{key}` is the item already.", key);
            let remedy = text!("Choose another key in `with`, or another name in `as`.");
            check.push(Diagnostic::error("duplicate-name", record, message, remedy).at(pointer));
        }
    }
}
