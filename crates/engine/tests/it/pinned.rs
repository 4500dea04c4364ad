//! Nodes whose output is pinned: they do not run, and everything after them does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superstep::checkpoint::records_of;
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::*;

use crate::support::{on_memory, routes};

fn counted(count: &Arc<AtomicUsize>, n: i64) -> impl Node {
    let count = count.clone();
    move |_: NodeContext, _: Value| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok(NodeOutput::Update(json!({"n": n, "log": ["worked"]}))) }
    }
}

/// `fetch` gives 1; what is more than 5 goes to `big`, the rest to `small`.
fn graph(fetched: &Arc<AtomicUsize>, options: NodeOptions) -> Graph {
    let says = |word: &'static str| {
        move |_: NodeContext, _: Value| async move { Ok(NodeOutput::Update(json!({"log": [word]}))) }
    };
    on_memory(
        StateGraph::new()
            .channel("n", ChannelSpec::last_value())
            .channel("log", ChannelSpec::append())
            .edge(START, "fetch")
            .node_with("fetch", Arc::new(counted(fetched, 1)), options)
            .node("big", says("big"))
            .node("small", says("small"))
            .branch(
                "fetch",
                Branch::new(routes(|state| match state.get("n").and_then(Value::as_i64) {
                    Some(n) if n > 5 => vec!["big".into()],
                    _ => vec!["small".into()],
                })),
            ),
    )
}

fn pinned(node: &str, update: Value) -> RunConfig {
    let mut config = RunConfig::on("t").pinned(BTreeMap::from([(node.into(), update)]));
    config.record = true;
    config
}

async fn log(graph: &Graph, config: RunConfig) -> Value {
    let ended = graph
        .invoke(Input::value(json!({"log": []})), config)
        .await
        .unwrap();
    ended.value["log"].clone()
}

#[tokio::test]
async fn the_node_does_not_run_and_its_edges_lead_on_from_what_is_pinned() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let saver = Arc::new(MemorySaver::new());
    let graph = graph(&fetched, NodeOptions::new()).with_checkpointer(saver.clone());
    let config = pinned("fetch", json!({"n": 9, "log": ["pinned"]}));
    assert_eq!(log(&graph, config).await, json!(["pinned", "big"]));
    assert_eq!(fetched.load(Ordering::SeqCst), 0);
    let tuples = saver.list(&ListQuery::new().thread("t")).await.unwrap();
    let records = tuples.iter().flat_map(|tuple| {
        records_of(&tuple.pending_writes)
            .map(|(_, record)| (record.pinned, record.decisions.len()))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        records.filter(|(pinned, _)| *pinned).collect::<Vec<_>>(),
        [(true, 1)]
    );
    let mut without = RunConfig::on("u");
    without.record = true;
    assert_eq!(log(&graph, without).await, json!(["worked", "small"]));
}

#[tokio::test]
async fn the_cache_neither_gives_nor_takes_a_pinned_output() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let graph = graph(&fetched, NodeOptions::new().cache(CachePolicy::new()))
        .with_cache(Arc::new(MemoryCache::new(100)));
    let pin = || pinned("fetch", json!({"n": 9, "log": ["pinned"]}));
    assert_eq!(log(&graph, pin()).await, json!(["pinned", "big"]));
    for thread in ["a", "b"] {
        assert_eq!(
            log(&graph, RunConfig::on(thread)).await,
            json!(["worked", "small"]),
            "{thread}"
        );
    }
    assert_eq!(
        fetched.load(Ordering::SeqCst),
        1,
        "the second time from the cache"
    );
    let mut again = pin();
    again.thread = Some("c".into());
    assert_eq!(log(&graph, again).await, json!(["pinned", "big"]));
}

#[tokio::test]
async fn a_pinned_effect_was_not_done() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let graph = graph(&fetched, NodeOptions::new().effect(Effect::Once));
    let pin = pinned("fetch", json!({"n": 9, "log": ["pinned"]}));
    assert_eq!(log(&graph, pin).await, json!(["pinned", "big"]));
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let before = history
        .iter()
        .find(|state| state.next.iter().any(|node| &**node == "fetch"))
        .unwrap();
    let at = before.checkpoint.as_ref().unwrap().id.clone();
    assert!(
        graph
            .effects_after(&StateRef::at("t", at.clone()))
            .await
            .unwrap()
            .is_empty()
    );
    let mut config = RunConfig::on("t");
    config.checkpoint_id = Some(at);
    let ended = graph.invoke(Input::Continue, config).await.unwrap();
    assert_eq!(ended.status, RunStatus::Done, "nobody is asked");
    assert_eq!(ended.value["log"], json!(["worked", "small"]));
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_graph_within_others_has_the_pinned_nodes_of_its_origin() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let around = |inner: &Graph| {
        on_memory(
            StateGraph::new()
                .channel("n", ChannelSpec::last_value())
                .channel("log", ChannelSpec::append())
                .subgraph("sub", inner)
                .edge(START, "sub"),
        )
    };
    let inner = graph(&fetched, NodeOptions::new()).with_origin("inner");
    let outer = around(&around(&inner));
    let of = |origin: &str| {
        let nodes = BTreeMap::from([("fetch".into(), json!({"n": 9, "log": ["pinned"]}))]);
        RunConfig::on(origin).pinned_within(BTreeMap::from([(origin.into(), nodes)]))
    };
    assert_eq!(log(&outer, of("inner")).await, json!(["pinned", "big"]));
    assert_eq!(fetched.load(Ordering::SeqCst), 0);
    assert_eq!(log(&outer, of("another")).await, json!(["worked", "small"]));
    let (node, middle) = outer.nested().next().unwrap();
    assert_eq!((&**node, middle.origin()), ("sub", None));
    let origins = middle
        .nested()
        .map(|(_, graph)| graph.origin().map(|origin| &**origin));
    assert_eq!(origins.collect::<Vec<_>>(), [Some("inner")]);
}

#[tokio::test]
async fn a_graph_within_another_has_no_pinned_nodes_of_the_outermost() {
    let fetched = Arc::new(AtomicUsize::new(0));
    let inner = graph(&fetched, NodeOptions::new());
    let outer = on_memory(
        StateGraph::new()
            .channel("n", ChannelSpec::last_value())
            .channel("log", ChannelSpec::append())
            .subgraph("sub", &inner)
            .edge(START, "sub"),
    );
    let pin = pinned("fetch", json!({"n": 9, "log": ["pinned"]}));
    assert_eq!(log(&outer, pin).await, json!(["worked", "small"]));
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
}
