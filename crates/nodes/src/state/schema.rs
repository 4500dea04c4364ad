//! The types of the state: every update is held against the JSON Schema of its key before the engine merges it.
//!
//! What an update may look like depends on the key's reducer: an `append` key takes an item or a list of items, a
//! `merge` key takes part of an object, an `add` key takes an increment that need not satisfy `minimum` itself.
//! Schemas are compiled once per key; the common case, a bare `type`, is checked without copying the value.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use superstep::{ChannelSpec, StateGraph, Value};
use superstep_document::{ChannelKind, Diagnostic, Document, Reducer, StateKey};

use crate::base::schema_validator::SchemaValidator;
use superstep_document::suggest;
use superstep_document::text;

/// A state key as kinds and checks need it.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: Arc<str>,
    /// JSON Schema of its value.
    pub schema: Json,
    /// How updates join.
    pub reducer: Reducer,
    /// Gone after the next step.
    pub short: bool,
    /// Has a value before the first write.
    pub initial: bool,
}

/// The keys of a document, in its order.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Key>);

impl Keys {
    /// Collects the keys of `document`.
    pub fn of(document: &Document) -> Self {
        Self(
            document
                .state_keys()
                .map(|(name, key)| Key::of(name, &key))
                .collect(),
        )
    }
    /// Returns the key with this name.
    pub fn get(&self, name: &str) -> Option<&Key> {
        self.0.iter().find(|key| &*key.name == name)
    }
    /// Returns the names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|key| &*key.name)
    }
    /// Returns all keys.
    pub fn iter(&self) -> impl Iterator<Item = &Key> {
        self.0.iter()
    }
}

impl Key {
    fn of(name: &str, key: &StateKey) -> Self {
        Self {
            name: name.into(),
            schema: key.schema.clone(),
            reducer: key.reducer,
            short: key.channel.is_short(),
            initial: key.initial().is_some(),
        }
    }
}

/// An update that does not fit the state.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateError {
    /// The node did not return an object.
    NotAnObject {
        /// Who: `node draft`, `the input`.
        who: String,
        /// What it returned.
        found: String,
    },
    /// There is no such key.
    UnknownKey {
        /// Who: `node draft`, `the input`.
        who: String,
        /// The key.
        key: String,
        /// "Did you mean …", or empty.
        hint: String,
        /// The keys there are.
        known: String,
    },
    /// The value does not satisfy the key's schema.
    Mismatch {
        /// Who: `node draft`, `the input`.
        who: String,
        /// The key.
        key: String,
        /// Where inside the value; empty for the value itself.
        path: String,
        /// What the schema asks for.
        expected: String,
        /// What came.
        found: String,
    },
}

impl fmt::Display for UpdateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpdateError::NotAnObject { who, found } => write!(
                f,
                "{who} gave {found}, which is no update. Return an object of state keys and values, or nothing."
            ),
            UpdateError::UnknownKey {
                who,
                key,
                hint,
                known,
            } => write!(
                f,
                "{who} wrote `{key}`, which is no state key.{hint} Keys: {known}. Add the key to the state, or correct the name."
            ),
            UpdateError::Mismatch {
                who,
                key,
                path,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{who} wrote `{key}`: {}. Correct the value, or the key's type.",
                    mismatch(path, expected, found)
                )
            }
        }
    }
}

impl std::error::Error for UpdateError {}

fn mismatch(path: &str, expected: &str, found: &str) -> String {
    let inside = if path.is_empty() {
        String::new()
    } else {
        format!(" at {path}")
    };
    format!("expected {expected}, found {found}{inside}")
}

enum Rule {
    Any,
    /// Nothing but a `type`.
    Types(Vec<String>),
    Schema(Box<SchemaValidator>, String),
}

impl Rule {
    fn compile(schema: &Json) -> Result<Rule, String> {
        const ANNOTATIONS: &[&str] = &[
            "title",
            "description",
            "examples",
            "default",
            "$comment",
            "deprecated",
            "readOnly",
        ];
        let fields: Vec<(&String, &Json)> = match schema {
            Json::Object(fields) => fields
                .iter()
                .filter(|(name, _)| !ANNOTATIONS.contains(&name.as_str()) && !name.starts_with("x-"))
                .collect(),
            Json::Bool(true) => return Ok(Rule::Any),
            _ => Vec::new(),
        };
        match fields[..] {
            [] if schema.is_object() => return Ok(Rule::Any),
            [(name, Json::String(ty))] if name == "type" && TYPES.contains(&ty.as_str()) => {
                return Ok(Rule::Types(vec![ty.clone()]));
            }
            _ => {}
        }
        let shape = SchemaValidator::new(schema)?;
        let short = Json::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Map<_, _>>(),
        );
        Ok(Rule::Schema(Box::new(shape), expected(&short)))
    }

    fn check(&self, value: &Value) -> Result<(), KeyViolation> {
        match self {
            Rule::Any => Ok(()),
            Rule::Types(types) => {
                let fits = types.iter().any(|ty| match (ty.as_str(), value) {
                    ("number", Value::Number(_)) => true,
                    ("integer", Value::Number(n)) => {
                        n.is_i64() || n.is_u64() || n.as_f64().is_some_and(|n| n.fract() == 0.0)
                    }
                    (ty, value) => ty == value.type_name(),
                });
                if fits {
                    Ok(())
                } else {
                    Err((String::new(), types.join(" or "), found(value)))
                }
            }
            Rule::Schema(shape, expected) => {
                let json = Json::from(value);
                match shape.misfit(&json) {
                    None => Ok(()),
                    Some(misfit) => Err((misfit.path, expected.clone(), shortened(&misfit.cause))),
                }
            }
        }
    }
}

const TYPES: &[&str] = &[
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// Describes a schema in words, where words are shorter.
fn expected(schema: &Json) -> String {
    if let Some(options) = schema.get("enum").and_then(Json::as_array) {
        let options: Vec<String> = options.iter().map(Json::to_string).collect();
        return shortened(&format!("one of {}", options.join(", ")));
    }
    shortened(&schema.to_string())
}

fn found(value: &Value) -> String {
    format!("{} of type {}", shortened(&value.to_string()), value.type_name())
}

fn shortened(text: &str) -> String {
    const MAX_SHOWN: usize = 200;
    if text.chars().count() <= MAX_SHOWN {
        text.to_owned()
    } else {
        text.chars().take(MAX_SHOWN).chain(['…']).collect()
    }
}

/// `(path, expected, found)`
type KeyViolation = (String, String, String);

struct KeyRule {
    name: Arc<str>,
    /// Is one item as good as a list with one item?
    items: bool,
    whole: Rule,
    update: Rule,
}

impl KeyRule {
    fn check(&self, update: &Value) -> Result<(), KeyViolation> {
        if self.items && !matches!(update, Value::Array(_)) {
            return self.update.check(&Value::from(vec![update.clone()]));
        }
        self.update.check(update)
    }
}

/// Compiled rules of a document's state.
pub struct StateSchema {
    rules: Vec<Arc<KeyRule>>,
}

impl fmt::Debug for StateSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.rules.iter().map(|rule| &rule.name))
            .finish()
    }
}

impl StateSchema {
    /// Compiles the schemas of all keys; a schema that is none is a diagnostic, and its key takes anything.
    pub fn of(document: &Document) -> (Self, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        let rules = document.state_keys().map(|(name, key)| {
            let mut compile = |schema: &Json| {
                Rule::compile(schema).unwrap_or_else(|cause| {
                    let diagnostic = Diagnostic::error(
                        "bad-schema",
                        format!("key:{name}"),
                        text!(
                            "The type of state key `{name}` is no JSON Schema: {cause}.",
                            name,
                            cause
                        ),
                        text!("Correct the schema, e.g. `{\"type\": \"string\"}`."),
                    );
                    if !problems.contains(&diagnostic) {
                        problems.push(diagnostic);
                    }
                    Rule::Any
                })
            };
            let whole = compile(&key.schema);
            let update = match &whole {
                Rule::Any => Rule::Any,
                _ => compile(&update_schema(&key)),
            };
            Arc::new(KeyRule {
                name: name.into(),
                items: takes_items(&key),
                whole,
                update,
            })
        });
        let rules = rules.collect();
        (Self { rules }, problems)
    }

    /// Holds an update, against the state. `who` made it: `node draft`, `the input`.
    pub fn check_update(&self, who: &str, update: &Value) -> Result<(), UpdateError> {
        match update {
            Value::Null => Ok(()),
            Value::Object(entries) => entries
                .iter()
                .try_for_each(|(key, value)| self.check_write(who, key, value)),
            Value::Array(pairs)
                if pairs
                    .iter()
                    .all(|pair| pair.as_array().is_some_and(|pair| pair.len() == 2)) =>
            {
                pairs
                    .iter()
                    .try_for_each(|pair| match (pair.at(0).and_then(Value::as_str), pair.at(1)) {
                        (Some(key), Some(value)) => self.check_write(who, key, value),
                        _ => Err(UpdateError::NotAnObject {
                            who: who.to_owned(),
                            found: found(pair),
                        }),
                    })
            }
            other => Err(UpdateError::NotAnObject {
                who: who.to_owned(),
                found: found(other),
            }),
        }
    }

    /// Declares a key whose every update the engine holds against the key's type.
    pub(crate) fn channel(&self, graph: StateGraph, name: &str, spec: ChannelSpec) -> StateGraph {
        let Some(rule) = self.rules.iter().find(|rule| &*rule.name == name) else {
            return graph.channel(name, spec);
        };
        let in_words = |(path, expected, found): KeyViolation| mismatch(&path, &expected, &found);
        let (rule, whole) = (rule.clone(), rule.clone());
        let spec = spec
            .checked(move |update| rule.check(update).map_err(in_words))
            .checked_overwrite(move |value| whole.whole.check(value).map_err(in_words));
        graph.channel(name, spec)
    }

    /// Returns the message about a key that does not exist: the one that was probably meant, and the existing ones.
    pub(crate) fn no_key(&self, key: &str) -> String {
        let known = || self.rules.iter().map(|rule| &*rule.name);
        format!(
            "{} Keys: {}. Add the key to the state, or correct the name.",
            suggest::did_you_mean(key, known()),
            suggest::listing(known())
        )
        .trim()
        .to_owned()
    }

    fn check_write(&self, who: &str, key: &str, value: &Value) -> Result<(), UpdateError> {
        let Some(rule) = self.rules.iter().find(|rule| &*rule.name == key) else {
            let known = || self.rules.iter().map(|rule| &*rule.name);
            return Err(UpdateError::UnknownKey {
                who: who.to_owned(),
                key: key.to_owned(),
                hint: suggest::did_you_mean(key, known()).into(),
                known: suggest::listing(known()).into(),
            });
        };
        let overwrite = value
            .as_object()
            .filter(|object| object.len() == 1)
            .and_then(|object| object.get("__overwrite__"));
        let checked = match overwrite {
            Some(whole) => rule.whole.check(whole),
            None => rule.check(value),
        };
        checked.map_err(|(path, expected, found)| UpdateError::Mismatch {
            who: who.to_owned(),
            key: key.to_owned(),
            path,
            expected,
            found,
        })
    }
}

/// Returns whether an update of the key may be one item where its value is a list.
fn takes_items(key: &StateKey) -> bool {
    match key.channel {
        ChannelKind::Topic => true,
        ChannelKind::Kept => matches!(key.reducer, Reducer::Append | Reducer::Union),
        ChannelKind::Ephemeral | ChannelKind::Any | ChannelKind::Untracked => false,
    }
}

/// Returns the schema of an update of this key, derived from the schema of its value.
fn update_schema(key: &StateKey) -> Json {
    let keep = |names: &[&str]| {
        let fields = key.schema.as_object();
        let kept = fields
            .into_iter()
            .flatten()
            .filter(|(name, _)| names.contains(&name.as_str()) || name.starts_with('$'));
        Json::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    if takes_items(key) {
        return keep(&["type", "items", "definitions"]);
    }
    if key.channel != ChannelKind::Kept {
        return key.schema.clone();
    }
    match key.reducer {
        Reducer::Overwrite | Reducer::Min | Reducer::Max | Reducer::And | Reducer::Or => key.schema.clone(),
        Reducer::Add | Reducer::Multiply => keep(&["type", "items", "definitions"]),
        Reducer::Append | Reducer::Union => keep(&["type", "items", "definitions"]),
        Reducer::Merge => keep(&[
            "type",
            "properties",
            "additionalProperties",
            "patternProperties",
            "definitions",
        ]),
        // Text, pairs and removals are messages too; the reducer says what it cannot read.
        Reducer::AddMessages => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn schema(state: serde_json::Value) -> StateSchema {
        let text = serde_json::json!({"format": "superstep/1", "name": "t", "state": state}).to_string();
        let (schema, problems) = StateSchema::of(&Document::parse(&text).0);
        assert_eq!(problems, []);
        schema
    }

    #[test]
    fn updates_are_checked_by_reducer() {
        let schema = schema(serde_json::json!({
            "n": {"type": "integer", "minimum": 0, "reducer": "add"},
            "level": {"type": "integer", "minimum": 0},
            "tags": {"type": "array", "items": {"type": "string"}, "reducer": "append", "minItems": 1},
            "who": {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["name"], "reducer": "merge"},
            "pick": {"enum": ["a", "b"]},
            "any": {},
            "messages": {"type": "array", "reducer": "add_messages"},
            "ratio": {"type": "number"},
            "queue": {"type": "array", "items": {"type": "integer"}, "channel": "topic"},
            "link": {"type": "object", "channel": "untracked"}
        }));
        for fine in [
            json!({"n": -1}),
            json!({"tags": "x"}),
            json!({"tags": ["x", "y"]}),
            json!({"tags": []}),
            json!({"who": {"age": 3}}),
            json!({"pick": "a"}),
            json!({"any": [null]}),
            json!({"messages": "hello"}),
            json!({"ratio": 1}),
            json!({"level": 2.0}),
            json!({"queue": 1}),
            json!({"queue": [1, 2]}),
            json!({"link": {}}),
            json!(null),
            json!({"tags": {"__overwrite__": ["x"]}}),
            json!([["n", 1], ["n", 2]]),
        ] {
            schema
                .check_update("node a", &fine)
                .unwrap_or_else(|e| panic!("{fine}: {e}"));
        }
        for (wrong, part) in [
            (json!({"n": "1"}), "expected"),
            (json!({"level": -1}), "-1 is less than the minimum of 0"),
            (json!({"tags": 1}), "`tags`"),
            (json!({"tags": ["x", 1]}), "at /1"),
            (json!({"queue": "x"}), "at /0"),
            (json!({"link": 1}), "expected object, found 1 of type integer"),
            (json!({"who": {"age": "x"}}), "at /age"),
            (json!({"pick": "c"}), "expected one of \"a\", \"b\""),
            (
                json!({"ratio": "much"}),
                "expected number, found \"much\" of type string",
            ),
            (json!({"leval": 1}), "Did you mean `level`?"),
            (json!(7), "7 of type integer"),
            (json!({"tags": {"__overwrite__": []}}), "`tags`"),
        ] {
            let error = schema
                .check_update("node classify", &wrong)
                .expect_err(&wrong.to_string())
                .to_string();
            assert!(error.starts_with("node classify "), "{error}");
            assert!(error.contains(part), "{part:?} in {error}");
        }
    }

    #[test]
    fn a_broken_schema_is_a_diagnostic() {
        let text =
            serde_json::json!({"format": "superstep/1", "state": {"x": {"type": "strin"}}}).to_string();
        let (_, problems) = StateSchema::of(&Document::parse(&text).0);
        assert_eq!(
            (problems.len(), problems[0].code, problems[0].record.as_str()),
            (1, "bad-schema", "key:x")
        );
    }
}
