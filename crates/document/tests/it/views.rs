//! Typed views: edge ids, state keys, nodes, head, Mermaid.

use serde_json::json;
use superstep_document::{ChannelKind, Edge, Reducer};

use crate::document;

#[test]
fn edges_without_an_id_are_known_by_what_they_connect() {
    let graph = document(json!({"edges": [
        { "from": "a", "to": "b" },
        { "id": "mine", "from": "a", "to": "b" },
        { "from": "a", "to": "b", "when": "state.x" },
        { "from": ["a", "b"], "to": "c" },
        { "from": "c", "route": "state.x", "paths": { "x": "a" } },
        { "from": "a", "to": "b" },
        { "id": "a->b~2", "from": "x", "to": "y" },
        { "id": "mine", "from": "x", "to": "y" },
        17,
        {}
    ]}));
    let ids: Vec<&str> = graph
        .section(superstep_document::Section::Edges)
        .keys()
        .map(|id| id.strip_prefix("edge:").unwrap())
        .collect();
    // An own id is never taken by a derived one, wherever it stands.
    assert_eq!(
        ids,
        [
            "a->b", "mine", "a->b~3", "a+b->c", "c->?", "a->b~4", "a->b~2", "mine~2", "?->?", "?->?~2"
        ]
    );
    assert_eq!(graph.edges().count(), 8, "two have no readable form");
}

#[test]
fn every_form_of_edge_is_read() {
    let graph = document(json!({"edges": [
        { "from": ["a", "b"], "to": "c" },
        { "from": "c", "route": "state.x", "paths": { "x": "a", "y": "__end__", "z": "a" }, "default": "b" },
        { "from": "c", "to": "d", "when": "state.n > 1" },
        { "from": "c", "each": "state.items", "as": "item", "to": "w", "with": { "topic": "state.topic" } }
    ]}));
    let edges: Vec<Edge> = graph.edges().map(|(_, edge)| edge).collect();
    assert_eq!(
        edges[0],
        Edge::Join {
            from: vec!["a".into(), "b".into()],
            to: "c".into()
        }
    );
    assert_eq!(edges[1].targets(), ["a", "__end__", "b"]);
    assert_eq!(
        edges[2],
        Edge::When {
            from: "c".into(),
            to: "d".into(),
            when: "state.n > 1".into()
        }
    );
    let Edge::Each { item, with, .. } = &edges[3] else {
        panic!("{:?}", edges[3])
    };
    assert_eq!(
        (item.as_str(), with.as_slice()),
        ("item", &[("topic".to_owned(), "state.topic".to_owned())][..])
    );
    assert!(edges[3].is_conditional() && !edges[0].is_conditional());
}

#[test]
fn state_keys_have_schema_reducer_and_first_value() {
    let graph = document(json!({"state": {
        "messages": { "type": "array", "reducer": "add_messages" },
        "attempts": { "type": "integer", "reducer": "add", "default": 3 },
        "count": { "type": "integer", "reducer": "add" },
        "text": { "type": "string", "reducer": "add" },
        "list": { "type": "array", "reducer": "add" },
        "facts": { "reducer": "merge" },
        "best": { "type": "number", "reducer": "max" },
        "all": { "type": "boolean", "reducer": "and" },
        "decision": { "type": "string", "enum": ["yes", "no"], "description": "d" },
        "scratch": { "type": "object", "channel": "ephemeral" }
    }}));
    let initial: Vec<_> = graph
        .state_keys()
        .map(|(name, key)| (name, key.initial()))
        .collect();
    assert_eq!(
        initial,
        [
            ("messages", Some(json!([]))),
            ("attempts", Some(json!(3))),
            ("count", Some(json!(0))),
            ("text", Some(json!(""))),
            ("list", Some(json!([]))),
            ("facts", Some(json!({}))),
            ("best", None),
            ("all", Some(json!(true))),
            ("decision", None),
            ("scratch", None),
        ]
    );
    let attempts = graph.state_key("attempts").unwrap();
    assert_eq!(
        (attempts.schema, attempts.reducer),
        (json!({ "type": "integer" }), Reducer::Add)
    );
    assert_eq!(
        graph.state_key("scratch").unwrap().channel,
        ChannelKind::Ephemeral
    );
    assert_eq!(
        graph.state_key("decision").unwrap().schema,
        json!({ "type": "string", "enum": ["yes", "no"], "description": "d" })
    );
}

#[test]
fn the_head_has_defaults() {
    let graph = document(json!({
        "name": "N", "description": "D", "input": ["a"], "recursion_limit": 25,
        "state": { "a": { "type": "string", "default": "x" }, "b": {} },
        "examples": [ { "name": "one", "input": { "a": "y" } }, { "name": "broken" } ],
        "context_sets": [ { "name": "broken" }, { "name": "Ada", "values": { "user": "ada" } }, { "values": {} } ]
    }));
    let sets = graph.context_sets();
    assert_eq!(
        sets.iter()
            .map(|set| (&*set.name, &set.values))
            .collect::<Vec<_>>(),
        [("Ada", &json!({ "user": "ada" }))]
    );
    assert_eq!(
        (graph.name(), graph.description(), graph.recursion_limit()),
        ("N", "D", 25)
    );
    assert_eq!((graph.input_keys(), graph.output_keys()), (Some(vec!["a"]), None));
    assert_eq!(graph.examples().len(), 1);
    assert_eq!(
        graph.input_schema(),
        json!({ "type": "object", "properties": { "a": { "type": "string", "default": "x" } }, "additionalProperties": false })
    );
    let empty = document(json!({ "recursion_limit": 0 }));
    assert_eq!((empty.name(), empty.recursion_limit()), ("", 1000));
}

/// Mermaid refuses the whole drawing for one label that is empty.
#[test]
fn mermaid_has_no_empty_labels() {
    let graph = r#"{"format": "superstep/1", "name": "", "state": {}, "nodes": {"a": {"kind": "x", "title": ""}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "route": "''", "paths": {"": "a", "\t": "__end__"}},
            {"from": "a", "when": "", "to": "a"}]}"#;
    let drawn = superstep_document::Document::parse(graph).0.mermaid();
    assert!(!drawn.contains("\"\"") && drawn.contains("|\" \"|"), "{drawn}");
}

#[test]
fn mermaid_escapes_and_shows_every_form() {
    let graph = document(json!({
        "nodes": {
            "end": { "kind": "assign", "title": "Say \"<hi>\" & `go` #1\nnow" },
            "ask_me": { "kind": "ask" },
            "w": { "kind": "code" }
        },
        "edges": [
            { "from": "__start__", "to": "end" },
            { "from": ["end", "ask_me", "gone"], "to": "w" },
            { "from": "end", "to": "w", "when": "state.a > \"1\"" },
            { "from": "ask_me", "route": "state.d", "paths": { "yes|no": "w" }, "default": "__end__" },
            { "from": "end", "each": "state.items", "as": "item", "to": "w" },
            { "from": "end", "to": "gone" }
        ]
    }));
    let expected = r#"flowchart TD
  start(["Start"])
  n1["Say #quot;#lt;hi#gt;#quot; #amp; #96;go#96; #35;1 now<br/>end"]
  n2{{"ask#95;me"}}
  n3["w"]
  finish(["End"])
  start --> n1
  j1(("all"))
  n1 & n2 --> j1 --> n3
  n1 -.->|"state.a #gt; #quot;1#quot;"| n3
  n2 -.->|"yes|no"| n3
  n2 -.->|"otherwise"| finish
  n1 ==>|"each state.items"| n3
"#;
    assert_eq!(graph.mermaid(), expected);
}
