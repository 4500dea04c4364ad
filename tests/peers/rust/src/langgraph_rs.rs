//! langgraph ("langgraph-rs"). A fan-out has one named node a worker: it has no packets.

use std::collections::HashMap;
use std::sync::Arc;

use langgraph::channels::Channel;
use langgraph::channels::binop::append_reducer;
use langgraph::checkpoint::InMemorySaver;
use langgraph::langgraph_state;
use langgraph::prelude::*;
use serde_json::json;

use crate::{Job, cannot, extra_edges, timed};

#[langgraph_state]
#[derive(Debug)]
#[allow(dead_code)]
struct Numbers {
    x: i64,
    n: i64,
    #[channel(reducer = "append_reducer")]
    out: Vec<i64>,
}

fn channels() -> HashMap<String, Box<dyn Channel>> {
    Numbers::create_channels()
}

fn chain(n: usize, extra: bool) -> Result<StateGraph, GraphError> {
    let mut graph = StateGraph::new(channels());
    for i in 0..n {
        graph.add_node(format!("n{i}"), |_: JsonValue, _: RunnableConfig| async {
            Ok(json!({}))
        })?;
    }
    graph.add_edge(START, "n0")?;
    for i in 1..n {
        graph.add_edge(format!("n{}", i - 1), format!("n{i}"))?;
    }
    if extra {
        for (from, to) in extra_edges(n) {
            graph.add_edge(format!("n{from}"), format!("n{to}"))?;
        }
    }
    graph.add_edge(format!("n{}", n - 1), END)?;
    Ok(graph)
}

fn counter(limit: usize) -> Result<StateGraph, GraphError> {
    let mut graph = StateGraph::new(channels());
    for name in ["a", "b"] {
        graph.add_node(name, |input: JsonValue, _: RunnableConfig| async move {
            Ok(json!({"n": input["n"].as_i64().unwrap_or(0) + 1}))
        })?;
    }
    graph.add_edge(START, "a")?;
    graph.add_edge("a", "b")?;
    let again = move |state: JsonValue, _: RunnableConfig| async move {
        let n = state["n"].as_u64().unwrap_or(0) as usize;
        Ok(json!(if n < limit { "a" } else { END }))
    };
    graph.add_conditional_edges("b", again, None)?;
    Ok(graph)
}

fn fan_out(k: usize) -> Result<StateGraph, GraphError> {
    let mut graph = StateGraph::new(channels());
    graph.add_node("join", |_: JsonValue, _: RunnableConfig| async { Ok(json!({})) })?;
    for i in 0..k {
        let name = format!("w{i}");
        graph.add_node(name.clone(), move |_: JsonValue, _: RunnableConfig| async move {
            Ok(json!({"out": [i]}))
        })?;
        graph.add_edge(START, name.clone())?;
        graph.add_edge(name, "join")?;
    }
    graph.add_edge("join", END)?;
    Ok(graph)
}

pub async fn run(job: &Job) {
    let n = job.size;
    if job.workload == "compile" {
        let build = || async move {
            timed(async {
                let mut graph = chain(n, true).expect("it builds");
                std::hint::black_box(graph.compile().expect("it compiles"));
                n
            })
            .await
        };
        return job.measure(build).await;
    }
    let (builder, key, input) = match job.workload.as_str() {
        "chain" => (chain(n, false), "x", json!({"x": 1})),
        "loop" => (counter(n), "n", json!({"n": 0})),
        "send" => (fan_out(n), "out", json!({"x": 1})),
        _ => cannot(job),
    };
    let mut builder = builder.expect("it builds");
    let compiled = builder.compile_builder().recursion_limit(u64::MAX);
    let compiled = match job.saver.as_str() {
        "none" => compiled,
        "memory" => compiled.checkpointer(Arc::new(InMemorySaver::new())),
        _ => cannot(job),
    };
    let graph = Arc::new(compiled.build().expect("it compiles"));
    let mut thread = 0;
    job.measure(|| {
        thread += 1;
        let config: RunnableConfig = serde_json::from_value(json!({
            "configurable": {"thread_id": format!("t{thread}")}, "recursion_limit": 1_000_000_000_u64,
        }))
        .expect("a configuration");
        let (graph, input) = (graph.clone(), input.clone());
        async move {
            timed(async {
                let out = graph.ainvoke(&input, &config).await.expect("it runs");
                let value = &out[key];
                value
                    .as_array()
                    .map_or_else(|| value.as_u64().unwrap_or(0) as usize, Vec::len)
            })
            .await
        }
    })
    .await;
}
