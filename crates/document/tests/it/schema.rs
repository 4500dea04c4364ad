//! The published schema is the one the code makes, and agrees with `validate` about what is well formed.

use serde_json::{Value as Json, json};
use superstep_document::{Document, schema};

use crate::{document, root};

/// Set it to write the schema instead of comparing.
const UPDATE: &str = "SUPERSTEP_UPDATE";

#[test]
fn the_committed_schema_is_current() {
    let path = root().join("docs/graph.schema.json");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, schema::schema_text()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == schema::schema_text(),
        "docs/graph.schema.json is not what the code makes. Run the test once with {UPDATE}=1 and commit the file."
    );
}

#[test]
fn the_schema_is_a_schema() {
    let schema = schema::json_schema();
    let checked = jsonschema::meta::validate(&schema);
    assert!(checked.is_ok(), "{checked:?}");
}

/// The example of docs/graph-format.md.
fn documented_example() -> Json {
    let page = std::fs::read_to_string(root().join("docs/graph-format.md")).unwrap();
    let start = page.find("```json").unwrap() + 7;
    let end = start + page[start..].find("```").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn the_documented_example_is_valid_and_has_no_problem() {
    let example = documented_example();
    let validator = jsonschema::validator_for(&schema::json_schema()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&example)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
    let problems: Vec<String> = document(example)
        .validate()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(problems, [""; 0]);
}

#[test]
fn the_schema_and_validate_agree_about_form() {
    let validator = jsonschema::validator_for(&schema::json_schema()).unwrap();
    let base = json!({
        "format": "superstep/1",
        "state": { "k": { "type": "array" } },
        "nodes": { "a": { "kind": "assign" }, "b": { "kind": "assign" } },
        "edges": [
            { "from": "__start__", "to": "a" },
            { "from": "a", "to": "b" },
            { "from": "b", "route": "state.k", "paths": { "x": "a" }, "default": "__end__" }
        ]
    });
    assert!(validator.is_valid(&base));
    let with = |pointer: &str, value: Json| {
        let mut changed = base.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed
    };
    let edge = |value: Json| with("/edges/1", value);
    let good = [
        edge(json!({"from": ["a", "b"], "to": "b"})),
        edge(json!({"from": "a", "to": "b", "when": "state.k"})),
        edge(json!({"from": "a", "to": "b", "each": "state.k", "as": "item", "with": {"n": "1"}})),
        with(
            "/state/k",
            json!({"type": "array", "reducer": "append", "default": []}),
        ),
        with("/state/k", json!({"type": "object", "channel": "ephemeral"})),
        with("/state/k", json!({"type": "array", "channel": "topic"})),
        with("/state/k", json!({"channel": "any"})),
        with("/state/k", json!({"channel": "untracked", "default": 1})),
        with(
            "/nodes/a",
            json!({"kind": "assign", "retry": 3, "timeout": 1.5, "cache": true, "defer": true}),
        ),
        with(
            "/nodes/a",
            json!({"kind": "assign", "retry": [{"retry_on": ["E"]}], "fallback": {"node": "b"}}),
        ),
        with(
            "/nodes/a",
            json!({"kind": "assign", "concurrency": 1, "max_visits": 3, "effect": "pure", "x-mine": {}}),
        ),
        with(
            "/nodes/a",
            json!({"kind": "assign", "timeout": {"idle": 1}, "cache": {"ttl": 1, "key": "1"}}),
        ),
        with(
            "/nodes/a",
            json!({"kind": "assign", "fallback": {"to": "b", "into": "k"}}),
        ),
        with(
            "/nodes/a",
            json!({"kind": "assign", "fallback": {"value": {"k": []}}}),
        ),
    ];
    for value in good {
        assert!(validator.is_valid(&value), "the schema refuses {value}");
        let errors: Vec<_> = document(value)
            .validate()
            .into_iter()
            .filter(|problem| problem.is_error())
            .collect();
        assert_eq!(errors, []);
    }
    let bad = [
        with("/format", json!("superstep/2")),
        with("/nodes", json!([])),
        with("/edges", json!({})),
        with("/nodes/a", json!({"config": {}})),
        with("/nodes/a", json!({"kind": "assign", "retry": 0})),
        with("/nodes/a", json!({"kind": "assign", "retry": {"attempts": 1.5}})),
        with("/nodes/a", json!({"kind": "assign", "timeout": 0})),
        with(
            "/nodes/a",
            json!({"kind": "assign", "timeout": {"refresh_on": "auto"}}),
        ),
        with("/nodes/a", json!({"kind": "assign", "cache": 60})),
        with("/nodes/a", json!({"kind": "assign", "defer": 1})),
        with(
            "/nodes/a",
            json!({"kind": "assign", "fallback": {"node": "b", "to": "b"}}),
        ),
        with("/nodes/a", json!({"kind": "assign", "fallback": {"value": 1}})),
        with("/nodes/a", json!({"kind": "assign", "config": []})),
        with("/nodes", json!({"a:x": {"kind": "assign"}})),
        with("/nodes", json!({"__a": {"kind": "assign"}})),
        with("/state/k", json!({"reducer": "appendd"})),
        with("/state/k", json!({"channel": "topics"})),
        with("/state/k", json!({"type": "list"})),
        edge(json!({"from": "a"})),
        edge(json!({"to": "a"})),
        edge(json!({"from": ["a"], "to": "b"})),
        edge(json!({"from": ["a", "a"], "to": "b"})),
        edge(json!({"from": ["a", "b"], "to": "b", "when": "x"})),
        edge(json!({"from": "__end__", "to": "b"})),
        edge(json!({"from": "a", "to": "__start__"})),
        edge(json!({"from": "a", "to": "b", "when": ""})),
        edge(json!({"from": "a", "to": "b", "limit": 3})),
        edge(json!({"from": "a", "to": "b", "limit": false})),
        edge(json!({"from": "a", "to": "b", "limit": true, "when": "x"})),
        edge(json!({"from": "__start__", "to": "b", "limit": true})),
        edge(json!({"from": ["a", "b"], "to": "b", "limit": true})),
        edge(json!({"from": "a", "to": "b", "when": "x", "each": "y", "as": "z"})),
        edge(json!({"from": "a", "route": "x"})),
        edge(json!({"from": "a", "route": "x", "paths": {}})),
        edge(json!({"from": "a", "route": "x", "paths": {"l": "__start__"}})),
        edge(json!({"from": "a", "to": "b", "each": "y"})),
        edge(json!({"from": "a", "to": "__end__", "each": "y", "as": "z"})),
        edge(json!("a->b")),
    ];
    for value in bad {
        assert!(!validator.is_valid(&value), "the schema accepts {value}");
        assert!(
            document(value.clone())
                .validate()
                .iter()
                .any(|problem| problem.is_error()),
            "accepted: {value}"
        );
    }
}

#[test]
fn every_graph_of_the_repository_is_well_formed() {
    let validator = jsonschema::validator_for(&schema::json_schema()).unwrap();
    for entry in std::fs::read_dir(root().join("graphs")).unwrap() {
        let path = entry.unwrap().path().join("graph.json");
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let errors: Vec<String> = validator
            .iter_errors(&serde_json::from_str(&text).unwrap())
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert_eq!(errors, [""; 0], "{}", path.display());
        let (graph, problems) = Document::parse(&text);
        let found: Vec<String> = problems
            .iter()
            .chain(&graph.validate())
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, [""; 0], "{}", path.display());
    }
}
