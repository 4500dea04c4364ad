//! adk-graph. A fan-out has one named node a worker: it has no packets.

use std::sync::Arc;

use adk_graph::checkpoint::MemoryCheckpointer;
use adk_graph::edge::{END, START};
use adk_graph::graph::StateGraph;
use adk_graph::node::{ExecutionConfig, NodeOutput};
use adk_graph::state::{State, StateSchema};
use serde_json::json;

use crate::{Job, cannot, extra_edges, timed};

fn chain(n: usize, extra: bool) -> StateGraph {
    let mut graph = StateGraph::with_channels(&["x"]);
    for i in 0..n {
        graph = graph.add_node_fn(&format!("n{i}"), |_| async { Ok(NodeOutput::new()) });
        let from = if i == 0 {
            START.to_owned()
        } else {
            format!("n{}", i - 1)
        };
        graph = graph.add_edge(&from, &format!("n{i}"));
    }
    if extra {
        for (from, to) in extra_edges(n) {
            graph = graph.add_edge(&format!("n{from}"), &format!("n{to}"));
        }
    }
    graph.add_edge(&format!("n{}", n - 1), END)
}

fn counter(limit: usize) -> StateGraph {
    let mut graph = StateGraph::with_channels(&["n"]);
    for name in ["a", "b"] {
        graph = graph.add_node_fn(name, |context| async move {
            let n = context.get("n").and_then(|n| n.as_i64()).unwrap_or(0);
            Ok(NodeOutput::new().with_update("n", json!(n + 1)))
        });
    }
    let again = move |state: &State| {
        let n = state.get("n").and_then(|n| n.as_u64()).unwrap_or(0) as usize;
        if n < limit { "a" } else { END }.to_owned()
    };
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_conditional_edges("b", again, [("a", "a"), (END, END)])
}

fn fan_out(k: usize) -> StateGraph {
    let schema = StateSchema::builder().list_channel("out").build();
    let mut graph = StateGraph::new(schema).add_node_fn("join", |_| async { Ok(NodeOutput::new()) });
    for i in 0..k {
        let name = format!("w{i}");
        graph = graph
            .add_node_fn(&name, move |_| async move {
                Ok(NodeOutput::new().with_update("out", json!([i])))
            })
            .add_edge(START, &name)
            .add_edge(&name, "join");
    }
    graph.add_edge("join", END)
}

pub async fn run(job: &Job) {
    let n = job.size;
    if job.workload == "compile" {
        let build = || async move {
            timed(async {
                std::hint::black_box(chain(n, true).compile().expect("it compiles"));
                n
            })
            .await
        };
        return job.measure(build).await;
    }
    let (builder, key, start) = match job.workload.as_str() {
        "chain" => (chain(n, false), "x", json!(1)),
        "loop" => (counter(n), "n", json!(0)),
        "send" => (fan_out(n), "out", json!([])),
        _ => cannot(job),
    };
    let graph = builder
        .compile()
        .expect("it compiles")
        .with_recursion_limit(usize::MAX);
    let graph = match job.saver.as_str() {
        "none" => graph,
        "memory" => graph.with_checkpointer_arc(Arc::new(MemoryCheckpointer::new())),
        _ => cannot(job),
    };
    let graph = Arc::new(graph);
    let mut thread = 0;
    job.measure(|| {
        thread += 1;
        let config = ExecutionConfig::new(&format!("t{thread}")).with_recursion_limit(usize::MAX);
        let input: State = [(key.to_owned(), start.clone())].into_iter().collect();
        let graph = graph.clone();
        async move {
            timed(async {
                let state = graph.invoke(input, config).await.expect("it runs");
                let value = &state[key];
                value
                    .as_array()
                    .map_or_else(|| value.as_u64().unwrap_or(0) as usize, Vec::len)
            })
            .await
        }
    })
    .await;
}
