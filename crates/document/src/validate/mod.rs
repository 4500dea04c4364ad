//! Finds every problem of a document that can be known without looking into a node's `config`. All at once: a person
//! repairs a file in one go, and the canvas marks every place.

mod edges;
mod flow;
mod head;
mod invariants;
mod state;

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::Value as Json;

use crate::diagnostic::Diagnostic;
use crate::document::{Document, Section};
use crate::invariant::INVARIANTS;
use crate::json::{escape_pointer, type_name};
use crate::policy::{Fallback, NodePolicy};
use crate::suggest::nearest_record;
use crate::words::{Text, text};
use crate::{END, START};

impl Document {
    /// Returns all problems, in the order of the records.
    pub fn validate(&self) -> Vec<Diagnostic> {
        if self.source().is_some() {
            return vec![Diagnostic::error(
                "unreadable",
                "doc",
                text!("The file could not be read as a graph."),
                text!("Correct its text, or take back an earlier version."),
            )];
        }
        let mut check = Check {
            document: self,
            found: Vec::new(),
            suggestions: Cell::new(0),
        };
        head::check(&mut check);
        state::check(&mut check);
        check.nodes();
        edges::check(&mut check);
        invariants::check(&mut check);
        check.layout();
        flow::check(&mut check);
        check.sorted()
    }
}

/// Unknown names after which nobody reads proposals any more, and a large broken file must not take minutes.
const MAX_SUGGESTIONS: usize = 200;

/// What a node's record may say.
const NODE_FIELDS: [&str; 15] = [
    "kind",
    "config",
    "title",
    "description",
    "retry",
    "timeout",
    "cache",
    "defer",
    "fallback",
    "effect",
    "concurrency",
    "max_visits",
    "disabled",
    "summary",
    INVARIANTS,
];

/// The document under examination and what was found so far.
struct Check<'a> {
    document: &'a Document,
    found: Vec<Diagnostic>,
    /// How many names were looked up for a "did you mean"; each look-up walks all nodes.
    suggestions: Cell<usize>,
}

impl Check<'_> {
    fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Reports a field that has the wrong type; absent fields are fine. True when it may be used.
    fn field(&mut self, record: &str, value: &Json, field: &str, wanted: JsonType) -> bool {
        let Some(content) = value.get(field) else {
            return true;
        };
        if wanted.holds(content) {
            return true;
        }
        self.push(
            Diagnostic::error(
                "bad-type",
                record,
                text!(
                    "`{field}` must be {wanted}, and is {found}.",
                    field,
                    wanted = wanted.words(),
                    found = type_name(content)
                ),
                text!(
                    "Write {wanted} there, or remove `{field}`.",
                    wanted = wanted.words(),
                    field
                ),
            )
            .at(format!("/{}", escape_pointer(field))),
        );
        false
    }

    /// Reports a record that is no object.
    fn object(&mut self, record: &str, value: &Json, what: Text) -> bool {
        if value.is_object() {
            return true;
        }
        self.push(Diagnostic::error(
            "bad-type",
            record,
            text!(
                "{what} must be an object, and is {found}.",
                what,
                found = type_name(value)
            ),
            text!("Write an object, or delete it."),
        ));
        false
    }

    fn nodes(&mut self) {
        for (id, value) in self.document.named(Section::Nodes) {
            let record = format!("node:{id}");
            if let Some((code, message)) = bad_node_name(id) {
                self.push(Diagnostic::error(
                    code,
                    &record,
                    message,
                    text!("Give the node another name."),
                ));
            }
            if !self.object(&record, value, text!("A node")) {
                continue;
            }
            match value.get("kind") {
                None => self.push(
                    Diagnostic::error(
                        "missing-kind",
                        &record,
                        text!("Node `{id}` has no `kind`.", id),
                        text!("Choose what the node does, e.g. \"kind\": \"assign\"."),
                    )
                    .at("/kind"),
                ),
                Some(_) => {
                    self.field(&record, value, "kind", JsonType::Text);
                }
            }
            self.field(&record, value, "config", JsonType::Object);
            self.field(&record, value, "title", JsonType::Text);
            self.field(&record, value, "description", JsonType::Text);
            self.disabled(&record, value);
            self.policy(id, &record, value);
            self.unknown_fields(&record, value);
        }
    }

    /// Checks the field `disabled`: `true`, or an object that may name a way; `false` has no effect.
    fn disabled(&mut self, record: &str, node: &Json) {
        let well_formed = match node.get("disabled") {
            None | Some(Json::Bool(_)) => true,
            Some(Json::Object(fields)) => fields
                .iter()
                .all(|(name, value)| name == "way" && value.is_string()),
            Some(_) => false,
        };
        if !well_formed {
            let message = text!("`disabled` must be `true`, or an object with the text `way`.");
            let remedy = text!("Write `true`, or {\"way\": \"NODE\"} for a node that routes.");
            self.push(Diagnostic::error("bad-type", record, message, remedy).at("/disabled"));
        }
    }

    /// Reports unknown fields: a misspelt `retry` would just never retry. Names that begin with `x-` are reserved for
    /// users.
    fn unknown_fields(&mut self, record: &str, node: &Json) {
        let fields = node.as_object().into_iter().flat_map(|node| node.keys());
        for field in fields.filter(|field| !NODE_FIELDS.contains(&field.as_str()) && !field.starts_with("x-"))
        {
            let remedy = match nearest_record(field, NODE_FIELDS) {
                Some(known) => text!("Did you mean `{known}`?", known),
                None => text!(
                    "Remove it, or call it `x-{field}` to keep it for yourself.",
                    field
                ),
            };
            let message = text!("A node has no field `{field}`: nothing reads it.", field);
            let pointer = format!("/{}", escape_pointer(field));
            self.push(Diagnostic::warning("unknown-field", record, message, remedy).at(pointer));
        }
    }

    /// Retries, timeouts, cache, deferral, and where a fallback leads.
    fn policy(&mut self, id: &str, record: &str, value: &Json) {
        let (policy, problems) = NodePolicy::read(value);
        for problem in problems {
            self.push(
                Diagnostic::error(problem.code, record, problem.message, problem.remedy).at(problem.pointer),
            );
        }
        let (name, field) = match &policy.fallback {
            Some(Fallback::Node(name)) => (name, "node"),
            Some(Fallback::Branch { to, into }) => {
                let known = |key: &String| {
                    self.document
                        .section(Section::Keys)
                        .contains_key(&format!("key:{key}"))
                };
                if let Some(key) = into.as_ref().filter(|key| !known(key)) {
                    let message = text!(
                        "The fallback writes the error to `{key}`, which is not a key of the state.",
                        key
                    );
                    let remedy = text!(
                        "Declare `{key}`, e.g. {\"type\": \"object\"}, or remove `into`.",
                        key
                    );
                    self.push(Diagnostic::error("unknown-key", record, message, remedy).at("/fallback/into"));
                }
                (to, "to")
            }
            Some(Fallback::Value(_)) | None => return,
        };
        let is_branch = field == "to";
        let known = if self.document.is_note(name) {
            false
        } else if is_branch {
            self.document.is_place(name) && name != START
        } else {
            self.document.is_place(name) && ![START, END, id].contains(&name.as_str())
        };
        if !known {
            let remedy = match self.suggest_node(name, false).filter(|other| other != id) {
                Some(other) => text!("Did you mean `{other}`?", other),
                None if is_branch => text!("Name a node, or `{end}`.", end = END),
                None => text!("Name another node."),
            };
            let message = text!(
                "The fallback of `{id}` names `{name}`, which is no other node.",
                id,
                name
            );
            let pointer = format!("/fallback/{field}");
            self.push(Diagnostic::error("unknown-target", record, message, remedy).at(pointer));
        }
    }

    fn layout(&mut self) {
        for (id, value) in self.document.named(Section::Layout) {
            let record = format!("layout:{id}");
            if !self.document.is_place(id) {
                let remedy = match self.suggest_node(id, false) {
                    Some(name) => text!("Did you mean `{name}`? Otherwise delete the position.", name),
                    None => text!("Delete the position; it is left from a node that is gone."),
                };
                let message = text!("There is a canvas position for `{id}`, and no such node.", id);
                self.push(Diagnostic::warning(
                    "layout-unknown-node",
                    &record,
                    message,
                    remedy,
                ));
            }
            let pair = value
                .as_array()
                .is_some_and(|pair| pair.len() == 2 && pair.iter().all(Json::is_number));
            if !pair {
                self.push(Diagnostic::warning(
                    "bad-position",
                    &record,
                    text!("The canvas position of `{id}` is not a pair of numbers.", id),
                    text!("Write [x, y], or delete the position; the node is then placed automatically."),
                ));
            }
        }
    }

    /// Returns the node with the most similar name, including start and end when `places` is set.
    fn suggest_node(&self, name: &str, places: bool) -> Option<String> {
        self.suggestions.set(self.suggestions.get() + 1);
        if self.suggestions.get() > MAX_SUGGESTIONS {
            return None;
        }
        let ends = [START, END].into_iter().filter(|_| places);
        nearest_record(name, self.document.node_ids().chain(ends)).map(str::to_owned)
    }

    /// Sorts the problems in the order of the records, each once.
    fn sorted(self) -> Vec<Diagnostic> {
        let order: std::collections::HashMap<&str, usize> = self
            .document
            .records()
            .enumerate()
            .map(|(index, (id, _))| (id, index))
            .collect();
        let mut found = self.found;
        found.sort_by_key(|diagnostic| order.get(diagnostic.record.as_str()).copied().unwrap_or(0));
        let mut seen = HashSet::new();
        found.retain(|diagnostic| seen.insert(format!("{diagnostic}")));
        found
    }
}

/// Kind of value that a field must hold.
#[derive(Clone, Copy)]
enum JsonType {
    Text,
    Object,
    Array,
    TextMap,
}

impl JsonType {
    fn words(self) -> Text {
        match self {
            JsonType::Text => text!("a string"),
            JsonType::Object => text!("an object"),
            JsonType::Array => text!("an array"),
            JsonType::TextMap => text!("an object of strings"),
        }
    }

    fn holds(self, value: &Json) -> bool {
        match self {
            JsonType::Text => value.is_string(),
            JsonType::Object => value.is_object(),
            JsonType::Array => value.is_array(),
            // What stands inside is reported member by member.
            JsonType::TextMap => value.is_object(),
        }
    }
}

/// Returns the reason why a name cannot be a node's.
fn bad_node_name(id: &str) -> Option<(&'static str, Text)> {
    if id.starts_with("__") {
        return Some((
            "reserved-name",
            text!(
                "`{id}` is reserved: names that begin with `__` belong to the engine.",
                id
            ),
        ));
    }
    if let Some(character) = id.chars().find(|c| matches!(c, ':' | '|')) {
        return Some((
            "bad-name",
            text!(
                "`{character}` is a reserved character and cannot be part of a node's name.",
                character
            ),
        ));
    }
    unreadable_name(id).map(|why| ("bad-name", text!("The name of a node {why}.", why)))
}

/// Returns the reason why a name cannot be read or typed.
fn unreadable_name(name: &str) -> Option<Text> {
    if name.is_empty() {
        Some(text!("is empty"))
    } else if name.trim() != name {
        Some(text!("begins or ends with a space"))
    } else if name.chars().any(char::is_control) {
        Some(text!("has a control character in it"))
    } else {
        None
    }
}
