//! What a saved file looks like.

use serde_json::json;
use superstep_document::Document;

use crate::document;

#[test]
fn small_values_stay_on_their_line_and_records_have_their_own() {
    let graph = document(json!({
        "format": "superstep/1",
        "name": "Desk",
        "state": { "request": { "type": "string" }, "log": { "type": "array", "reducer": "append" } },
        "nodes": {
            "classify": { "kind": "model", "config": {
                "model": "scripted", "prompt": "Which kind of request is this? {{ state.request }}", "into": "category"
            } },
            "review": { "kind": "ask", "config": { "question": "…", "into": "decision" } }
        },
        "edges": [ { "from": "__start__", "to": "classify" }, { "from": ["a", "b"], "to": "c" } ],
        "layout": { "classify": [120, 80.5], "review": [420, 80] },
        "x-unknown": { "kept": [[1, 2], [], {}] },
        "examples": [ { "name": "A broken lamp", "input": { "request": "…" } } ]
    }));
    let expected = r#"{
  "format": "superstep/1",
  "name": "Desk",
  "state": {
    "request": { "type": "string" },
    "log": { "type": "array", "reducer": "append" }
  },
  "nodes": {
    "classify": {
      "kind": "model",
      "config": {
        "model": "scripted",
        "prompt": "Which kind of request is this? {{ state.request }}",
        "into": "category"
      }
    },
    "review": { "kind": "ask", "config": { "question": "…", "into": "decision" } }
  },
  "edges": [
    { "from": "__start__", "to": "classify" },
    { "from": ["a", "b"], "to": "c" }
  ],
  "layout": { "classify": [120, 80.5], "review": [420, 80] },
  "x-unknown": { "kept": [ [1, 2], [], {} ] },
  "examples": [ { "name": "A broken lamp", "input": { "request": "…" } } ]
}
"#;
    assert_eq!(graph.to_text(), expected);
}

#[test]
fn lines_keep_to_the_width() {
    let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let graph = document(json!({
        "format": "superstep/1",
        "nodes": { "a": { "kind": "x", "config": { "words": words, "nested": { "also": words[..12] } } } }
    }));
    let text = graph.to_text();
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 100, "{longest} columns:\n{text}");
}

#[test]
fn a_new_document_reads_well_and_opens_again() {
    let graph = Document::new("My graph");
    let expected = r#"{
  "format": "superstep/1",
  "name": "My graph",
  "state": {},
  "nodes": {},
  "edges": []
}
"#;
    assert_eq!(graph.to_text(), expected);
    assert_eq!(Document::parse(expected), (graph, vec![]));
}

#[test]
fn text_that_is_no_graph_is_kept_and_explained() {
    let (graph, problems) = Document::parse("{\n  \"format\": \"superstep/1\",\n  oops\n}");
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, "not-json");
    assert!(
        problems[0].message.contains("line 3 column 3"),
        "{}",
        problems[0].message
    );
    assert!(graph.source().unwrap().contains("oops"));
    assert_eq!(graph.validate()[0].code, "unreadable");

    let (graph, problems) = Document::parse("[1, 2]");
    assert_eq!(problems[0].code, "not-an-object");
    assert_eq!(graph.source(), Some("[1, 2]"));
    let (_, problems) = Document::parse("");
    assert_eq!(problems[0].code, "not-json");
}

#[test]
fn names_that_stand_twice_are_reported_where_they_stand() {
    let text = r#"{ "format": "superstep/1", "name": "a", "name": "b",
        "nodes": { "a": { "kind": "ask" }, "a": { "kind": "assign", "config": { "x": 1, "x": 2 } } },
        "edges": [ { "from": "__start__", "to": "a", "to": "b" } ] }"#;
    let (graph, problems) = Document::parse(text);
    let places: Vec<_> = problems
        .iter()
        .map(|problem| (problem.code, problem.record.as_str(), problem.pointer.as_deref()))
        .collect();
    assert_eq!(
        places,
        [
            ("duplicate-name", "doc", Some("/name")),
            ("duplicate-name", "node:a", None),
            ("duplicate-name", "node:a", Some("/config/x")),
            ("duplicate-name", "edge:__start__->b", Some("/to")),
        ]
    );
    assert_eq!(graph.name(), "b");
    assert_eq!(graph.record("node:a").unwrap()["kind"], "assign");
}

#[test]
fn a_byte_order_mark_is_no_problem() {
    let (graph, problems) = Document::parse("\u{feff}{ \"format\": \"superstep/1\" }");
    assert_eq!(problems, []);
    assert_eq!(graph.source(), None);
}

/// A list stands on its line while it fits into a hundred columns with the comma behind it. Of a list of texts four
/// columns stay free: brackets are counted with the air that others have in them, and each item with a comma.
#[test]
fn a_line_is_full_at_a_hundred_columns() {
    let line_of = |length: usize| {
        let graph = document(json!({"x-list": ["a".repeat(length)], "x-more": 1}));
        let text = graph.to_text();
        let line = text.lines().find(|line| line.contains("x-list")).unwrap();
        line.chars().count()
    };
    let longest = (1..120).map(line_of).max().unwrap();
    assert_eq!(longest, 96);
    let nested = |length: usize| {
        let graph = document(
            json!({"x-deep": {"list": [1, "b".repeat(length)], "other": "c".repeat(90)}, "x-more": 1}),
        );
        let text = graph.to_text();
        text.lines()
            .find(|line| line.contains("list"))
            .unwrap()
            .chars()
            .count()
    };
    let longest = (1..120).map(nested).max().unwrap();
    assert_eq!(longest, 96);
}
