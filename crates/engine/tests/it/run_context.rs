//! The run context: what nodes read of what the caller gave beside the input.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// A node that logs the context it reads.
fn reads(name: &'static str) -> impl Node {
    move |context: NodeContext, _: Value| async move {
        let read = context.context().clone();
        Ok(NodeOutput::Update(json!({"log": [name, read]})))
    }
}

fn given(context: Value) -> RunConfig {
    RunConfig::default().context(context)
}

async fn log(graph: &Graph, config: RunConfig) -> Value {
    let result = graph.invoke(Input::value(json!({"x": 1})), config).await.unwrap();
    result.value.get("log").cloned().unwrap_or_default()
}

fn one() -> StateGraph {
    base().node("a", reads("a")).edge(START, "a")
}

#[tokio::test]
async fn nodes_read_the_context_and_without_one_null() {
    let graph = one().compile().unwrap();
    assert_eq!(
        log(&graph, given(json!({"user": "ada"}))).await,
        json!(["a", {"user": "ada"}])
    );
    assert_eq!(log(&graph, RunConfig::default()).await, json!(["a", null]));
    // As in LangGraph, an empty object is no context.
    assert_eq!(log(&graph, given(json!({}))).await, json!(["a", null]));
}

#[derive(Serialize, Deserialize)]
struct Caller {
    user: String,
    #[serde(default)]
    level: u32,
}

#[tokio::test]
async fn a_declared_context_is_checked_and_gets_its_defaults() {
    let graph = one().context(ContextSchema::of::<Caller>()).compile().unwrap();
    assert_eq!(
        log(&graph, given(json!({"user": "ada"}))).await,
        json!(["a", {"user": "ada", "level": 0}])
    );
    assert_eq!(log(&graph, RunConfig::default()).await, json!(["a", null]));
    let refused = graph
        .invoke(Input::value(json!({})), given(json!({"level": 2})))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), "invalid-context");
    assert!(refused.to_string().contains("missing field `user`"), "{refused}");

    let needed = ContextSchema::of::<Caller>().required();
    let graph = one().context(needed).compile().unwrap();
    let refused = graph.invoke(Input::value(json!({})), RunConfig::default()).await;
    assert!(refused.is_err(), "a required context was not given");
}

#[tokio::test]
async fn nested_graphs_read_that_of_the_run_unless_they_are_given_their_own() {
    let inner = one().output_keys(["log"]).compile().unwrap();
    let called = inner.clone();
    let fresh = || Input::value(json!({"x": 1}));
    let calls = move |context: NodeContext, _: Value| {
        let called = called.clone();
        async move {
            let own = context
                .invoke_with_context(&called, fresh(), json!({"user": "eve"}))
                .await?;
            let empty = context.invoke_with_context(&called, fresh(), json!({})).await?;
            let read = [own, empty].map(|one| {
                one.get("log")
                    .and_then(Value::as_array)
                    .and_then(|log| log.get(1).cloned())
                    .unwrap_or_default()
            });
            Ok(NodeOutput::Update(json!({"log": read.to_vec()})))
        }
    };
    let graph = base()
        .subgraph("nested", &inner)
        .node("calls", calls)
        .edge(START, "nested")
        .edge("nested", "calls")
        .compile()
        .unwrap();
    assert_eq!(
        log(&graph, given(json!({"user": "ada"}))).await,
        json!(["a", {"user": "ada"}, {"user": "eve"}, {"user": "ada"}])
    );
}

#[tokio::test]
async fn a_run_that_goes_on_reads_its_own_context_and_none_is_stored() {
    let asks = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("sure?")?;
        Ok(NodeOutput::Update(
            json!({"log": [answer, context.context().clone()]}),
        ))
    };
    let saver = std::sync::Arc::new(MemorySaver::new());
    let graph = base()
        .node("a", asks)
        .edge(START, "a")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let on = |context| RunConfig::on("1").context(context);
    let secret = json!({"user": "kept-out"});
    graph
        .invoke(Input::value(json!({"x": 1})), on(secret))
        .await
        .unwrap();
    let result = graph.invoke(Input::answer("yes"), on(Value::Null)).await.unwrap();
    assert_eq!(
        result.value.get("log").cloned().unwrap_or_default(),
        json!(["yes", null]),
        "each run is given its own"
    );
    let stored = saver.list(&ListQuery::default()).await.unwrap();
    assert!(
        !format!("{stored:?}").contains("kept-out"),
        "a context is not stored"
    );
}

#[tokio::test]
async fn configurable_values_and_labels_are_read_and_plain_values_are_stored() {
    let reads = |context: NodeContext, _: Value| async move {
        let level = context.configurable().get("level").cloned().unwrap_or_default();
        let tags: Vec<Value> = context.tags().iter().cloned().map(Value::String).collect();
        Ok(NodeOutput::Update(json!({"log": [level, tags]})))
    };
    let saver = std::sync::Arc::new(MemorySaver::new());
    let graph = base()
        .node("a", reads)
        .edge(START, "a")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let object = |value: Value| value.as_object().cloned().unwrap();
    let config = RunConfig::on("1")
        .configurable(object(json!({"level": 3, "who": "configured", "deep": {"x": 1}})))
        .metadata(object(json!({"who": "named"})))
        .tags(["night"]);
    assert_eq!(log(&graph, config).await, json!([3, ["night"]]));
    let newest = &saver.list(&ListQuery::default()).await.unwrap()[0];
    let user = Value::Object(newest.checkpoint.metadata.user.clone());
    assert_eq!(user, json!({"level": 3, "who": "named"}));
}
