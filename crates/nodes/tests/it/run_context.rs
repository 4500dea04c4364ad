//! The run context of a graph file: what expressions, templates, edges and programs read of it.

use serde_json::json;
use superstep::{Graph, Input, RunConfig, RunError, RunResult, Value, json as value};

use crate::support::{build, document, no_keys, registry};

async fn given(graph: &Graph, context: Value) -> Result<RunResult, RunError> {
    let thread = format!("{context:?}");
    let config = RunConfig::on(thread).context(context);
    graph.invoke(Input::value(value!({})), config).await
}

/// A node of this kind in a graph that declares a context.
fn graph_of(kind: &str, config: serde_json::Value) -> serde_json::Value {
    json!({
        "format": "superstep/1",
        "state": {"said": {}, "to": {}},
        "context": {"user": {"type": "string"}, "level": {"type": "integer", "default": 1}},
        "nodes": {"n": {"kind": kind, "config": config}},
        "edges": [{"from": "__start__", "to": "n"}],
    })
}

#[tokio::test]
async fn expressions_and_edges_read_the_context() {
    let mut file = graph_of("assign", json!({"set": {"said": "context.user ~ context.level"}}));
    file["nodes"]["high"] =
        json!({"kind": "assign", "config": {"set": {"to": "'high for ' ~ context.user"}}});
    file["edges"] = json!([
        {"from": "__start__", "to": "n"},
        {"from": "n", "to": "high", "when": "context.level > 3"},
    ]);
    assert_eq!(
        registry().check(&document(&file)),
        Vec::new(),
        "`context` is a known name"
    );
    let graph = build(&file, &no_keys());
    let low = given(&graph, value!({"user": "ada"})).await.unwrap();
    assert_eq!(low.value, value!({"said": "ada1"}), "a default is filled in");
    let high = given(&graph, value!({"user": "eve", "level": 4})).await.unwrap();
    assert_eq!(high.value, value!({"said": "eve4", "to": "high for eve"}));
}

#[tokio::test]
async fn what_does_not_fit_the_declared_context_is_refused() {
    let graph = build(
        &graph_of("assign", json!({"set": {"said": "context.user"}})),
        &no_keys(),
    );
    for (context, part) in [
        (Value::Null, "user"),
        (value!({"level": 2}), "user"),
        (value!({"user": 1}), "string"),
        (value!({"user": "ada", "other": 1}), "other"),
        (value!(["ada"]), "object"),
    ] {
        let error = given(&graph, context).await.unwrap_err();
        assert_eq!(error.code(), "invalid-context");
        assert!(error.to_string().contains(part), "{error}");
    }
    let broken = json!({"user": {"type": "strin"}});
    let mut file = graph_of("assign", json!({"set": {"said": "1"}}));
    file["context"] = broken;
    let problems = registry().build(&document(&file), &no_keys()).unwrap_err();
    assert_eq!(
        (problems[0].code, problems[0].record.as_str()),
        ("bad-schema", "doc")
    );
}

#[tokio::test]
async fn javascript_reads_the_context() {
    let source = "return {said: [context.user, context.level, context.node, ctx.user]}";
    let graph = build(&graph_of("code", json!({"source": source})), &no_keys());
    let done = given(&graph, value!({"user": "ada"})).await.unwrap();
    let expected = value!(["ada", 1, "n", {"user": "ada", "level": 1}]);
    assert_eq!(done.value, value!({"said": expected}));
}

#[tokio::test]
async fn the_name_of_an_item_goes_before_the_context() {
    let mut file = graph_of(
        "map",
        json!({"items": "[1, 2]", "as": "context", "expression": "context + 1", "into": "said"}),
    );
    let graph = build(&file, &no_keys());
    let done = given(&graph, value!({"user": "ada"})).await.unwrap();
    assert_eq!(
        done.value,
        value!({"said": [2, 3]}),
        "a graph file that names its item so is read as before"
    );
    file["nodes"]["n"]["config"] =
        json!({"items": "[1, 2]", "as": "item", "expression": "context.user ~ item", "into": "said"});
    let done = given(&build(&file, &no_keys()), value!({"user": "ada"}))
        .await
        .unwrap();
    assert_eq!(done.value, value!({"said": ["ada1", "ada2"]}));
}
