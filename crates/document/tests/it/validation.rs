//! Every problem is found, at its place, with a remedy, and all of them at once.

use serde_json::{Value as Json, json};
use superstep_document::{Document, Severity};

use crate::document;

/// A graph without a problem, with changes.
fn with(changes: Json) -> Document {
    let mut base = json!({
        "format": "superstep/1",
        "name": "Test",
        "state": { "x": { "type": "string" }, "items": { "type": "array", "reducer": "append" } },
        "nodes": { "first": { "kind": "assign" }, "second": { "kind": "assign" } },
        "edges": [ { "from": "__start__", "to": "first" }, { "from": "first", "to": "second" } ]
    });
    for (name, value) in changes.as_object().unwrap() {
        base[name] = value.clone();
    }
    document(base)
}

/// `code record pointer` of every problem; warnings begin with `~`.
fn found(graph: &Document) -> Vec<String> {
    graph
        .validate()
        .iter()
        .map(|problem| {
            let mark = if problem.severity == Severity::Warning {
                "~"
            } else {
                ""
            };
            let pointer = problem.pointer.as_deref().unwrap_or("-");
            format!("{mark}{} {} {pointer}", problem.code, problem.record)
        })
        .collect()
}

fn edges(edges: Json) -> Document {
    let start = json!([{ "from": "__start__", "to": "first" }, { "from": "first", "to": "second" }]);
    let all: Vec<Json> = start
        .as_array()
        .unwrap()
        .iter()
        .chain(edges.as_array().unwrap())
        .cloned()
        .collect();
    with(json!({ "edges": all }))
}

#[test]
fn a_good_graph_has_no_problem() {
    assert_eq!(found(&with(json!({}))), [""; 0]);
    assert_eq!(
        found(&with(json!({ "x-future": { "any": "thing" } }))),
        [""; 0],
        "unknown fields are kept silently"
    );
}

#[test]
fn the_head() {
    let (graph, _) = Document::parse("{}");
    assert_eq!(
        found(&graph),
        ["missing-format doc /format", "no-entry doc /edges"]
    );
    assert_eq!(
        found(&with(json!({ "format": "superstep/7" }))),
        ["newer-format doc /format"]
    );
    assert_eq!(
        found(&with(json!({ "format": "else/1" }))),
        ["unknown-format doc /format"]
    );
    assert_eq!(found(&with(json!({ "format": 1 }))), ["bad-type doc /format"]);
    assert_eq!(
        found(&with(json!({
            "name": 1, "description": [], "recursion_limit": 0, "input": "x", "output": ["x", "y", 1, "x"],
            "examples": [ { "name": "a" }, { "input": { "x": 1, "item": 2 } } ]
        }))),
        [
            "bad-type doc /name",
            "bad-type doc /description",
            "bad-type doc /input",
            "unknown-key doc /output/1",
            "bad-type doc /output/2",
            "~duplicate-key doc /output/3",
            "bad-limit doc /recursion_limit",
            "~bad-example doc /examples/0",
            "~unknown-key doc /examples/1/input/item",
        ]
    );
    for (head, want) in [
        (json!({ "recursion_limit": 1_000_000 }), vec![]),
        (
            json!({ "recursion_limit": 1_000_001 }),
            vec!["bad-limit doc /recursion_limit"],
        ),
        (
            json!({ "limits": { "packets": 1, "packet_mb": 4096, "state_mb": 16_384 } }),
            vec![],
        ),
        (json!({ "limits": 3 }), vec!["bad-type doc /limits"]),
        (
            json!({ "context": { "user": {} }, "context_sets": [
                { "name": "Ada", "values": { "user": "ada", "usr": 1 } },
                { "name": "Ada", "values": {} },
                { "name": "", "values": {} },
                { "name": "x".repeat(101), "values": {} },
                { "name": "no values" },
                { "name": "x".repeat(100), "values": {}, "x-note": 1 },
            ]}),
            vec![
                "~bad-context-set doc /context_sets/1/name",
                "~bad-context-set doc /context_sets/2",
                "~bad-context-set doc /context_sets/3",
                "~bad-context-set doc /context_sets/4",
                "~unknown-context-field doc /context_sets/0/values/usr",
            ],
        ),
        (
            json!({ "context_sets": (0..65).map(|n| json!({ "name": n.to_string(), "values": {} })).collect::<Vec<_>>() }),
            vec!["~bad-context-set doc /context_sets"],
        ),
        (json!({ "context_sets": {} }), vec!["bad-type doc /context_sets"]),
        (
            json!({ "limits": { "packets": 1_000_001, "packet_mb": 0, "state_mb": "x", "steps": 1 } }),
            vec![
                "bad-limit doc /limits/packet_mb",
                "bad-limit doc /limits/packets",
                "bad-limit doc /limits/state_mb",
                "bad-limit doc /limits/steps",
            ],
        ),
    ] {
        let mut problems = found(&with(head));
        problems.sort_unstable();
        assert_eq!(problems, want);
    }
    let graph =
        with(json!({ "limits": { "packets": u64::MAX, "state_mb": 0 }, "recursion_limit": u64::MAX }));
    assert_eq!(
        graph.limits().packets,
        1_000_000,
        "the most that a document may have"
    );
    assert_eq!(graph.limits().state_mb, 1024);
    assert!(graph.recursion_limit() <= 1_000_000);
    let graph = with(json!({ "input": ["x"], "examples": [ { "name": "a", "input": { "items": [] } } ] }));
    assert_eq!(found(&graph), ["~not-an-input doc /examples/0/input/items"]);
}

#[test]
fn sections_of_the_wrong_type_stay_in_the_file() {
    let value = json!({ "format": "superstep/1", "state": [], "nodes": 3, "edges": {}, "layout": "x" });
    let graph = document(value.clone());
    assert_eq!(
        found(&graph),
        [
            "bad-type doc /state",
            "bad-type doc /nodes",
            "bad-type doc /edges",
            "bad-type doc /layout",
            "no-entry doc /edges"
        ]
    );
    assert_eq!(graph.to_json(), value);
}

#[test]
fn state_keys() {
    let graph = with(json!({ "state": {
        "__input__": {},
        "checkpoint_ns": {},
        "": {},
        "two words": {},
        "größe": { "type": "number" },
        "a": 5,
        "b": { "type": "strng" },
        "c": { "type": ["string", "lst", 1] },
        "d": { "type": 7 },
        "e": { "reducer": "appendd" },
        "f": { "reducer": 1 },
        "g": { "type": "string", "reducer": "append" },
        "h": { "type": ["array", "null"], "reducer": "append" },
        "i": { "channel": "topics" },
        "j": { "channel": "ephemeral", "reducer": "add", "default": 1 },
        "k": { "type": "integer", "default": "1" },
        "l": { "type": "integer", "default": 1.0 },
        "m": { "type": "string", "enum": ["a", "b"], "default": "c" },
        "n": { "type": ["string", "null"], "default": null },
        "o": { "enum": "a" },
        "p": { "type": "array", "channel": "topic", "default": [] },
        "q": { "type": "string", "channel": "topic" },
        "r": { "channel": "untracked", "default": 1 },
        "s": { "channel": "any", "reducer": "append" }
    }, "edges": [ { "from": "__start__", "to": "first" }, { "from": "first", "to": "second" } ] }));
    assert_eq!(
        found(&graph),
        [
            "reserved-name key:__input__ -",
            "reserved-name key:checkpoint_ns -",
            "bad-name key: -",
            "~awkward-name key:two words -",
            "bad-type key:a -",
            "unknown-type key:b /type",
            "unknown-type key:c /type/1",
            "unknown-type key:c /type/2",
            "bad-type key:d /type",
            "unknown-reducer key:e /reducer",
            "bad-type key:f /reducer",
            "reducer-type key:g /reducer",
            "unknown-channel key:i /channel",
            "reducer-on-channel key:j /reducer",
            "~default-on-channel key:j /default",
            "default-type key:k /default",
            "default-type key:m /default",
            "bad-type key:o /enum",
            "~default-on-channel key:p /default",
            "channel-type key:q /channel",
            "reducer-on-channel key:s /reducer",
        ]
    );
}

/// The default of a key of this type is refused when it is none of them.
#[test]
fn a_default_has_the_declared_type() {
    let values = [
        json!("a"),
        json!(1.5),
        json!(2),
        json!(true),
        json!([]),
        json!({}),
        json!(null),
    ];
    let fits = |ty: &str, value: &Json| match ty {
        "number" => value.is_number(),
        "integer" => *value == json!(2),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    for ty in [
        "string", "number", "integer", "boolean", "array", "object", "null",
    ] {
        for value in &values {
            let graph = with(json!({"state": {"k": {"type": ty, "default": value}}}));
            let refused = found(&graph).contains(&"default-type key:k /default".to_owned());
            assert_eq!(refused, !fits(ty, value), "{ty} {value}");
        }
    }
}

#[test]
fn an_edge_without_a_readable_id_is_named() {
    for id in [json!(""), json!(1), json!(null)] {
        let graph = edges(json!([{"id": id, "from": "__start__", "to": "first"}]));
        assert!(
            found(&graph)
                .iter()
                .any(|line| line.starts_with("bad-type edge:") && line.ends_with("/id")),
            "{id}"
        );
    }
}

#[test]
fn only_a_later_format_is_a_newer_one() {
    for (format, code) in [
        ("superstep/2", "newer-format"),
        ("superstep/01", "unknown-format"),
        ("superstep/0", "unknown-format"),
    ] {
        assert_eq!(
            found(&with(json!({"format": format}))),
            [format!("{code} doc /format")]
        );
    }
}

#[test]
fn nodes_and_layout() {
    let graph = with(json!({
        "nodes": {
            "first": { "kind": "assign" },
            "second": {},
            "__end__": { "kind": "assign" },
            "a:b": { "kind": 1, "config": [] },
            "": { "kind": "assign" },
            " x": 7
        },
        "layout": { "first": [1, 2], "__start__": [0, 0], "frist": [1, 2], "second": [1] }
    }));
    assert_eq!(
        found(&graph),
        [
            "missing-kind node:second /kind",
            "reserved-name node:__end__ -",
            "~unconnected-node node:__end__ -",
            "bad-name node:a:b -",
            "bad-type node:a:b /kind",
            "bad-type node:a:b /config",
            "~unconnected-node node:a:b -",
            "bad-name node: -",
            "~unconnected-node node: -",
            "bad-name node: x -",
            "bad-type node: x -",
            "~unconnected-node node: x -",
            "~layout-unknown-node layout:frist -",
            "~bad-position layout:second -",
        ]
    );
    let remedy = |code: &str| {
        graph
            .validate()
            .into_iter()
            .find(|problem| problem.code == code)
            .unwrap()
            .remedy
    };
    assert_eq!(
        remedy("layout-unknown-node"),
        "Did you mean `first`? Otherwise delete the position."
    );
}

#[test]
fn how_nodes_are_run() {
    let node = |fields: Json| {
        let mut node = json!({ "kind": "assign" });
        node.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        with(json!({ "nodes": { "first": node, "second": { "kind": "assign" } } }))
    };
    let good = [
        json!({ "retry": 3, "timeout": 0.5, "cache": true, "defer": false }),
        json!({ "retry": [{ "retry_on": ["ModelBusyError"], "attempts": 5 }, {}], "cache": { "ttl": 60, "key": "state.x" } }),
        json!({ "timeout": { "run": 10, "idle": 1, "refresh_on": "heartbeat" }, "fallback": { "value": {} } }),
        json!({ "fallback": { "node": "second" } }),
        json!({ "fallback": { "to": "__end__", "into": "x" } }),
    ];
    for fields in good {
        assert_eq!(found(&node(fields.clone())), [""; 0], "{fields}");
    }
    let cases = [
        (json!({ "retry": 0 }), vec!["bad-retry node:first /retry"]),
        (
            json!({ "retry": { "attempts": 0, "backoff_factor": 0.5, "wait": 1 } }),
            vec![
                "bad-retry node:first /retry/wait",
                "bad-retry node:first /retry/attempts",
                "bad-retry node:first /retry/backoff_factor",
            ],
        ),
        (
            json!({ "retry": [{ "retry_on": "E" }] }),
            vec!["bad-retry node:first /retry/0/retry_on"],
        ),
        (json!({ "timeout": 0 }), vec!["bad-timeout node:first /timeout"]),
        (json!({ "timeout": {} }), vec!["bad-timeout node:first /timeout"]),
        (
            json!({ "timeout": { "idle": -1 } }),
            vec!["bad-timeout node:first /timeout/idle"],
        ),
        (json!({ "cache": 60 }), vec!["bad-cache node:first /cache"]),
        (json!({ "defer": "yes" }), vec!["bad-type node:first /defer"]),
        (
            json!({ "fallback": {} }),
            vec!["bad-fallback node:first /fallback"],
        ),
        (
            json!({ "fallback": { "node": "second", "to": "second" } }),
            vec!["bad-fallback node:first /fallback"],
        ),
        (
            json!({ "fallback": { "node": "first" } }),
            vec!["unknown-target node:first /fallback/node"],
        ),
        (
            json!({ "fallback": { "to": "secnd" } }),
            vec!["unknown-target node:first /fallback/to"],
        ),
        (
            json!({ "fallback": { "to": "second", "into": "y" } }),
            vec!["unknown-key node:first /fallback/into"],
        ),
    ];
    for (fields, problems) in cases {
        assert_eq!(found(&node(fields.clone())), problems, "{fields}");
    }
    let message = node(json!({ "timeout": 0 })).validate()[0].to_string();
    assert_eq!(
        message,
        "error[bad-timeout] node:first /timeout: `timeout` must be a number of seconds greater than 0, or an object, \
         and is 0. Write a number of seconds greater than 0, or an object there, or remove `timeout`."
    );
}

#[test]
fn a_fallback_reaches_nodes_that_no_edge_reaches() {
    let nodes = |fallback: Json| {
        with(json!({ "nodes": {
            "first": { "kind": "assign", "fallback": fallback },
            "second": { "kind": "assign" },
            "third": { "kind": "assign" }
        } }))
    };
    assert_eq!(
        found(&nodes(json!({ "value": {} }))),
        ["~unconnected-node node:third -"]
    );
    assert_eq!(found(&nodes(json!({ "node": "third" }))), [""; 0]);
    assert_eq!(found(&nodes(json!({ "to": "third" }))), [""; 0]);
}

#[test]
fn ends_of_edges() {
    let graph = edges(json!([
        { "from": "scond", "to": "frist" },
        { "from": "second", "to": "elsewhere" },
        { "from": "__end__", "to": "__start__" },
        { "to": "first" },
        { "from": "first" },
        { "from": 1, "to": [] },
        "first->second",
        { "from": "first", "to": "__END__" }
    ]));
    assert_eq!(
        found(&graph),
        [
            "unknown-source edge:scond->frist /from",
            "unknown-target edge:scond->frist /to",
            "unknown-target edge:second->elsewhere /to",
            "end-as-source edge:__end__->__start__ /from",
            "start-as-target edge:__end__->__start__ /to",
            "missing-source edge:?->first /from",
            "missing-target edge:first->? /to",
            "bad-type edge:?->? /from",
            "bad-type edge:?->? /to",
            "bad-type edge:?->?~2 -",
            "unknown-target edge:first->__END__ /to",
        ]
    );
    let remedies: Vec<String> = graph
        .validate()
        .into_iter()
        .map(|problem| String::from(problem.remedy))
        .collect();
    assert_eq!(
        remedies[0],
        "Did you mean `second`? Otherwise add a node `scond`."
    );
    assert_eq!(remedies[1], "Did you mean `first`? Otherwise add a node `frist`.");
    assert_eq!(
        remedies[2],
        "Add a node `elsewhere`, or lead the edge to one that is there."
    );
    assert_eq!(
        remedies[10],
        "Did you mean `__end__`? Otherwise add a node `__END__`."
    );
}

#[test]
fn a_join_of_very_many_sources_is_checked_in_time_and_memory() {
    // Work that grows with the square of the sources would take hours. The second goes round in a loop.
    for (name, to) in [("first", "second"), ("first", "first"), ("nobody", "second")] {
        let from = vec![name; 100_000];
        let graph = edges(json!([{ "from": from, "to": to }]));
        let problems = graph.validate();
        assert!((100..110).contains(&problems.len()), "{}", problems.len());
    }
}

#[test]
fn joins() {
    let graph = edges(json!([
        { "from": ["first"], "to": "second" },
        { "from": [], "to": "second" },
        { "from": ["first", "first"], "to": "second" },
        { "from": ["first", "nobody", "__start__", "__end__", 3], "to": "second" },
        { "from": ["first", "second"], "to": "__end__" },
        { "from": ["first", "second"], "to": "first", "when": "state.x" }
    ]));
    assert_eq!(
        found(&graph),
        [
            "short-join edge:first->second~2 /from",
            "short-join edge:->second /from",
            "duplicate-source edge:first+first->second /from/1",
            "unknown-source edge:first+nobody+__start__+__end__+?->second /from/1",
            "start-in-join edge:first+nobody+__start__+__end__+?->second /from/2",
            "end-as-source edge:first+nobody+__start__+__end__+?->second /from/3",
            "bad-type edge:first+nobody+__start__+__end__+?->second /from/4",
            "~join-to-end edge:first+second->__end__ /to",
            "conditional-join edge:first+second->first /from",
        ]
    );
}

#[test]
fn conditional_edges() {
    let graph = edges(json!([
        { "from": "first", "route": "state.x" },
        { "from": "first", "route": "state.x", "paths": {} },
        { "from": "first", "route": "state.x", "paths": [] },
        { "from": "first", "route": " ", "paths": { "a": "nobody", "b/c": 1, "d": "__start__" }, "default": "zz" },
        { "from": "first", "route": 1, "paths": { "a": "second" }, "to": "second" },
        { "from": "first", "to": "second", "when": true },
        { "from": "first", "to": "second", "when": "state.x", "each": "state.items", "as": "i" },
        { "from": "first", "to": "second", "each": "state.items" },
        { "from": "first", "to": "__end__", "each": "state.items", "as": "i", "with": { "i": "1", "j": 2 } },
        { "id": "l1", "from": "first", "to": "second", "limit": true },
        { "id": "l2", "from": "first", "to": "second", "limit": false },
        { "id": "l3", "from": "first", "to": "second", "limit": 2 },
        { "id": "l4", "from": "__start__", "to": "second", "limit": true },
        { "id": "l5", "from": "first", "to": "second", "when": "state.x", "limit": true },
        { "id": "l6", "from": ["first", "second"], "to": "second", "limit": true }
    ]));
    assert_eq!(
        found(&graph),
        [
            "route-without-paths edge:first->? /paths",
            "route-without-paths edge:first->?~2 /paths",
            "bad-type edge:first->?~3 /paths",
            "empty-expression edge:first->?~4 /route",
            "unknown-target edge:first->?~4 /paths/a",
            "bad-type edge:first->?~4 /paths/b~1c",
            "start-as-target edge:first->?~4 /paths/d",
            "unknown-target edge:first->?~4 /default",
            "bad-type edge:first->?~5 /route",
            "mixed-edge edge:first->?~5 /to",
            "bad-type edge:first->second~2 /when",
            "mixed-edge edge:first->second~3 /each",
            "missing-as edge:first->second~4 /as",
            "send-to-end edge:first->__end__ /to",
            "duplicate-name edge:first->__end__ /with/i",
            "bad-type edge:first->__end__ /with/j",
            "~limit-without-use edge:l1 /limit",
            "bad-type edge:l2 /limit",
            "bad-type edge:l3 /limit",
            "limit-at-start edge:l4 /limit",
            "mixed-edge edge:l5 /limit",
            "~limit-without-use edge:l5 /limit",
            "conditional-join edge:l6 /from",
        ]
        .map(String::from)
        .to_vec()
    );
}

#[test]
fn labels_are_compared_with_the_values_of_the_key() {
    let state = json!({ "kind": { "type": "string", "enum": ["refund", "other"] } });
    let route = |paths: Json, default: Option<&str>| {
        let mut edge = json!({ "from": "first", "route": "state.kind", "paths": paths });
        if let Some(default) = default {
            edge["default"] = json!(default);
        }
        with(json!({ "state": state, "edges": [
            { "from": "__start__", "to": "first" }, { "from": "first", "to": "second" }, edge
        ] }))
    };
    assert_eq!(
        found(&route(json!({ "refund": "second", "other": "__end__" }), None)),
        [""; 0]
    );
    assert_eq!(
        found(&route(json!({ "refund": "second" }), Some("__end__"))),
        [""; 0]
    );
    let graph = route(json!({ "refnd": "second", "other": "__end__" }), None);
    assert_eq!(
        found(&graph),
        [
            "~label-without-use edge:first->? /paths/refnd",
            "~value-without-path edge:first->? /paths"
        ]
    );
    assert!(graph.validate()[0].remedy.starts_with("Did you mean `refund`?"));
}

#[test]
fn edges_that_stand_twice() {
    let graph = edges(json!([
        { "id": "x", "from": "second", "to": "__end__" },
        { "id": "x", "from": "second", "to": "first", "when": "state.x" },
        { "from": "second", "to": "__end__", "note": "the same, with a note" },
        { "from": ["first", "second"], "to": "first" },
        { "from": ["first", "second"], "to": "first" }
    ]));
    assert_eq!(
        found(&graph),
        [
            "duplicate-name edge:x~2 /id",
            "~duplicate-edge edge:second->__end__ -",
            "duplicate-edge edge:first+second->first~2 -"
        ]
    );
}

#[test]
fn the_graph_as_a_whole() {
    let nodes = json!({ "a": { "kind": "k" }, "b": { "kind": "k" }, "c": { "kind": "k" }, "island": { "kind": "k" } });
    let graph = |edges: Json| with(json!({ "nodes": nodes, "edges": edges }));
    assert_eq!(
        found(&graph(
            json!([ { "from": "a", "to": "b" }, { "from": "b", "to": "a" }, { "from": "c", "to": "a" } ])
        )),
        [
            "no-entry doc /edges",
            "~unreachable-node node:a -",
            "~unreachable-node node:b -",
            "~unreachable-node node:c -",
            "~unconnected-node node:island -",
        ]
    );
    let start = json!({ "from": "__start__", "to": "a" });
    // A loop nobody leaves, and the same with each of the ways out.
    let ring = [
        start,
        json!({ "from": "a", "to": "b" }),
        json!({ "from": "b", "to": "c" }),
    ];
    let looped = |last: Json| found(&graph(json!([ring[0], ring[1], ring[2], last])));
    let island = "~unconnected-node node:island -";
    assert_eq!(
        looped(json!({ "from": "c", "to": "a" })),
        ["~endless-loop node:a -", island]
    );
    assert_eq!(
        looped(json!({ "from": "c", "to": "a", "when": "state.x" })),
        [island]
    );
    assert_eq!(
        looped(json!({ "from": "c", "route": "state.x", "paths": { "r": "a" }, "default": "__end__" })),
        [island]
    );
    let reached = found(&graph(
        json!([ring[0], ring[1], ring[2], { "from": "c", "to": "a" }, { "from": "b", "to": "island" }]),
    ));
    assert_eq!(reached, [""; 0], "an edge leads out of the loop");
    assert_eq!(
        looped(json!({ "from": "c", "to": "c" })),
        ["~endless-loop node:c -", island]
    );
    // A join one of whose sources never runs.
    assert_eq!(
        looped(json!({ "from": ["c", "island"], "to": "b" })),
        [
            "~unreachable-node node:island -",
            "~starved-join edge:c+island->b /from/1"
        ]
    );
}

#[test]
fn all_problems_come_at_once_and_read_well() {
    let graph = document(json!({
        "format": "superstep/1",
        "state": { "n": { "type": "integer", "reducer": "appendd" } },
        "nodes": { "a": { "kind": "assign" }, "__b": { "kind": "assign" } },
        "edges": [ { "from": "a", "to": "B" }, { "from": ["a"], "to": "a" } ]
    }));
    let text: Vec<String> = graph.validate().iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        [
            "error[no-entry] doc /edges: The graph has no entry: no edge begins at `__start__`. Connect the start to the node that runs first, e.g. `a`.",
            "error[unknown-reducer] key:n /reducer: `appendd` is not a reducer. Did you mean `append`?",
            "warning[unconnected-node] node:a: `a` is not connected to anything; it never runs. Draw an edge to it, or delete it.",
            "error[reserved-name] node:__b: `__b` is reserved: names that begin with `__` belong to the engine. Give the node another name.",
            "warning[unconnected-node] node:__b: `__b` is not connected to anything; it never runs. Draw an edge to it, or delete it.",
            "error[unknown-target] edge:a->B /to: The edge leads to `B`, and there is no such node. Did you mean `a`? Otherwise add a node `B`.",
            "error[short-join] edge:a->a /from: A waiting join has at least two sources. Write \"from\": \"a\" for a plain edge, or add the other sources.",
        ]
    );
}

#[test]
fn a_run_context_is_an_object_of_json_schemas() {
    let fields = json!({ "user": { "type": "string" }, "level": { "type": "integer", "default": 1 } });
    let good = with(json!({ "context": fields }));
    assert_eq!(found(&good), [""; 0]);
    assert_eq!(
        good.context_schema(),
        Some(json!({
            "type": "object", "properties": fields, "required": ["user"], "additionalProperties": false,
        }))
    );
    assert_eq!(with(json!({})).context_schema(), None);
    assert_eq!(found(&with(json!({ "context": [] }))), ["bad-type doc /context"]);
    assert_eq!(
        found(&with(json!({ "context": { "a/b": "string" } }))),
        ["bad-type doc /context/a~1b"]
    );
}

#[test]
fn invariants() {
    let of_key = |invariants: Json| {
        let mut graph = with(json!({}));
        let record = json!({ "type": "integer", "invariants": invariants });
        let op = superstep_document::PatchOp {
            id: "key:total".to_owned(),
            from: Json::Null,
            to: record,
            at: None,
        };
        graph.apply(&superstep_document::Patch { ops: vec![op] }).unwrap();
        graph
    };
    let good = json!([
        { "must": "state.total >= 0", "message": "No overdraft", "when_broken": "fail" },
        { "must": "new > old" }
    ]);
    let graph = of_key(good);
    assert_eq!(found(&graph), Vec::<String>::new());
    let all = graph.invariants();
    let shown: Vec<_> = all
        .iter()
        .map(|one| (one.id(), one.says(), one.when_broken.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("key:total#1".to_owned(), "No overdraft".to_owned(), "fail"),
            ("key:total#2".to_owned(), "`new > old`".to_owned(), "tell"),
        ]
    );
    let schema = graph.state_key("total").unwrap().schema;
    assert_eq!(
        schema,
        json!({ "type": "integer" }),
        "they are no part of the value's schema"
    );
    let wrong = json!([
        "state.total >= 0",
        { "must": " " },
        { "must": 1, "message": 2, "when_broken": "shout" },
        { "must": "true", "mesage": "x", "x-own": 1 }
    ]);
    assert_eq!(
        found(&of_key(wrong)),
        [
            "bad-invariant key:total /invariants/0",
            "bad-invariant key:total /invariants/1/must",
            "bad-invariant key:total /invariants/2/must",
            "bad-invariant key:total /invariants/2/message",
            "bad-invariant key:total /invariants/2/when_broken",
            "~unknown-field key:total /invariants/3/mesage",
        ]
    );
    assert_eq!(found(&of_key(json!({}))), ["bad-type key:total /invariants"]);
    let many: Vec<Json> = (0..51).map(|_| json!({ "must": "true" })).collect();
    assert_eq!(
        found(&of_key(many.into())),
        ["bad-invariant key:total /invariants"]
    );
    assert_eq!(
        found(&with(json!({ "invariants": [{}] }))),
        ["bad-invariant doc /invariants/0/must"]
    );
}
