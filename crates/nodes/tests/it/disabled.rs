//! Disabled nodes: a run passes them by.

use serde_json::{Value as Json, json};
use superstep::{Input, RunConfig, Value, json as value};
use superstep_document::Diagnostic;
use superstep_nodes::{Environment, NODE_DISABLED, Registry};

use crate::support::{build, document};

fn set(key: &str, expression: &str) -> Json {
    json!({"kind": "assign", "config": {"set": {key: expression}}})
}

/// A router between two nodes that say which of them worked.
fn desk(disabled: Json) -> Json {
    let mut graph = json!({
        "format": "superstep/1",
        "state": {
            "total": {"type": "integer"}, "way": {"type": "string"},
            "said": {"type": "array", "reducer": "append"}
        },
        "nodes": {
            "first": set("said", "['first']"),
            "choose": {"kind": "router", "config": {
                "ways": [{"label": "large", "when": "state.total > 10"}], "otherwise": "small", "into": "way"
            }},
            "large": set("said", "['large']"),
            "small": set("said", "['small']")
        },
        "edges": [
            {"from": "__start__", "to": "first"},
            {"from": "first", "to": "choose"},
            {"from": "choose", "route": "state.way", "paths": {"large": "large", "small": "small"}},
            {"from": "large", "to": "__end__"},
            {"from": "small", "to": "__end__"}
        ]
    });
    for (node, field) in disabled.as_object().unwrap() {
        graph["nodes"][node]["disabled"] = field.clone();
    }
    graph
}

fn codes(graph: &Json) -> Vec<(&'static str, String)> {
    let environment = Environment::new(None);
    let problems = Registry::standard().problems(&document(graph), &environment);
    problems
        .into_iter()
        .map(|problem| (problem.code, problem.record))
        .collect()
}

async fn run(graph: &Json, total: i64) -> Value {
    let graph = build(graph, &Environment::new(None));
    let input = Input::value(value!({"total": total}));
    graph.invoke(input, RunConfig::on("t")).await.unwrap().value
}

#[tokio::test]
async fn a_disabled_node_writes_nothing_and_its_plain_edges_are_taken() {
    let graph = desk(json!({"first": true}));
    assert_eq!(codes(&graph), [(NODE_DISABLED, "node:first".to_owned())]);
    let state = run(&graph, 20).await;
    assert_eq!(state["said"], value!(["large"]));
}

#[tokio::test]
async fn the_way_of_a_disabled_router_is_the_one_that_was_chosen() {
    for (way, expected) in [
        ("small", value!(["first", "small"])),
        ("large", value!(["first", "large"])),
    ] {
        let state = run(&desk(json!({"choose": {"way": way}})), 20).await;
        assert_eq!(state["said"], expected);
        assert_eq!(state.get("way"), None, "a disabled router writes no label");
    }
    let ends = desk(json!({"choose": {"way": "__end__"}}));
    assert!(codes(&ends).contains(&("disabled-way", "node:choose".to_owned())));
}

#[test]
fn a_disabled_router_without_a_way_does_not_run() {
    let graph = desk(json!({"choose": true}));
    let found = codes(&graph);
    assert!(
        found.contains(&("disabled-way", "node:choose".to_owned())),
        "{found:?}"
    );
    let built = Registry::standard().build(&document(&graph), &Environment::new(None));
    let problems: Vec<Diagnostic> = built.unwrap_err();
    assert!(problems[0].remedy.contains("`large`"), "{}", problems[0].remedy);
}

#[tokio::test]
async fn settings_of_a_disabled_node_are_in_nobodys_way() {
    let mut graph = desk(json!({"first": true}));
    graph["nodes"]["first"] = json!({"kind": "model", "config": {}, "disabled": true});
    assert_eq!(codes(&graph), [(NODE_DISABLED, "node:first".to_owned())]);
    assert_eq!(run(&graph, 1).await["said"], value!(["small"]));
}

#[tokio::test]
async fn packets_of_a_disabled_node_are_sent_when_they_are_the_way() {
    let graph = json!({
        "format": "superstep/1",
        "state": {
            "items": {"type": "array"}, "seen": {"type": "array", "reducer": "append"}, "note": {"type": "string"}
        },
        "nodes": {
            "load": {"kind": "assign", "config": {"set": {"note": "'worked'"}}, "disabled": {"way": "one"}},
            "one": set("seen", "state.item")
        },
        "edges": [
            {"from": "__start__", "to": "load"},
            {"from": "load", "each": "state.items", "as": "item", "to": "one"},
            {"from": "one", "to": "__end__"}
        ]
    });
    let graph = build(&graph, &Environment::new(None));
    let input = Input::value(value!({"items": [1, 2, 3]}));
    let state = graph.invoke(input, RunConfig::on("t")).await.unwrap().value;
    assert_eq!(state["seen"], value!([1, 2, 3]));
    assert_eq!(state.get("note"), None);
}

#[test]
fn a_disabled_node_can_be_tested_alone() {
    let graph = document(&desk(json!({"first": true})));
    let built = Registry::standard().build_node_test(&graph, &Environment::new(None), "first");
    let built = built.expect("the node is fine");
    let updates = run_blocking(&built.graph);
    assert_eq!(updates["said"], value!(["first"]));
}

fn run_blocking(graph: &superstep::Graph) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let graph = graph
        .clone()
        .with_checkpointer(std::sync::Arc::new(superstep::MemorySaver::new()));
    let input = Input::value(value!({"total": 1}));
    runtime
        .block_on(graph.invoke(input, RunConfig::on("t")))
        .unwrap()
        .value
}

#[test]
fn nodes_that_a_nested_graph_runs_without_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("inner.json"),
        desk(json!({"first": true})).to_string(),
    )
    .unwrap();
    let outer = json!({
        "format": "superstep/1",
        "state": {"total": {"type": "integer"}},
        "nodes": {"desk": {"kind": "graph", "config": {"graph": "inner.json"}}},
        "edges": [{"from": "__start__", "to": "desk"}, {"from": "desk", "to": "__end__"}]
    });
    let environment = Environment::new(Some(folder.path().to_owned()));
    let mut problems = Registry::standard().problems(&document(&outer), &environment);
    problems.retain(|problem| problem.code == NODE_DISABLED);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].message.contains("first"), "{}", problems[0].message);
    assert!(!problems[0].is_error());
    superstep_nodes::refuse_disabled(&mut problems);
    assert!(problems[0].is_error());
}
