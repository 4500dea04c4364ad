//! juncture, through `invoke_async`, which does not pass a checkpointer on: only runs without one are compared.

use std::sync::Arc;

use juncture_core::command::SendTarget;
use juncture_core::edge::{END, PathMap, Router};
use juncture_core::node::{NodeFnCommand, NodeFnUpdate};
use juncture_core::{Command, RunnableConfig, StateGraph};
use juncture_derive::State;
use serde::{Deserialize, Serialize};

use crate::{Job, cannot, extra_edges, timed};

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Numbers {
    n: usize,
    limit: usize,
    #[reducer(append)]
    out: Vec<usize>,
}

fn nothing() -> NumbersUpdate {
    NumbersUpdate {
        n: None,
        limit: None,
        out: None,
    }
}

fn chain(n: usize, extra: bool) -> StateGraph<Numbers> {
    let mut graph = StateGraph::new();
    for i in 0..n {
        let idle = NodeFnUpdate(|_: &Numbers| async { Ok(nothing()) });
        graph.add_node_simple(format!("n{i}"), idle).expect("a new name");
        if i > 0 {
            graph.add_edge(format!("n{}", i - 1), format!("n{i}"));
        }
    }
    if extra {
        for (from, to) in extra_edges(n) {
            graph.add_edge(format!("n{from}"), format!("n{to}"));
        }
    }
    graph.set_entry_point("n0");
    graph.set_finish_point(format!("n{}", n - 1));
    graph
}

fn again(state: &Numbers) -> &str {
    if state.n < state.limit { "a" } else { END }
}

fn counter() -> StateGraph<Numbers> {
    let mut graph = StateGraph::new();
    for name in ["a", "b"] {
        let count = NodeFnUpdate(|state: &Numbers| {
            let n = state.n + 1;
            async move {
                Ok(NumbersUpdate {
                    n: Some(n),
                    ..nothing()
                })
            }
        });
        graph.add_node_simple(name, count).expect("a new name");
    }
    graph.set_entry_point("a");
    graph.add_edge("a", "b");
    let router = Arc::new(again) as Arc<dyn Router<Numbers>>;
    graph.add_conditional_edges("b", router, PathMap::from(&[("a", "a"), (END, END)]));
    graph
}

fn fan_out(k: usize) -> StateGraph<Numbers> {
    let mut graph = StateGraph::new();
    let fan = NodeFnCommand(move |_: &Numbers| {
        Box::pin(async move {
            let send = |n| SendTarget {
                node: "w".into(),
                state: serde_json::json!({"n": n, "limit": 0, "out": []}),
                timeout: None,
            };
            Ok(Command::update_and_send(nothing(), (0..k).map(send).collect()))
        })
    });
    graph
        .add_node("fan", fan, false, None, None, vec![], vec![])
        .expect("a new name");
    let work = NodeFnUpdate(|state: &Numbers| {
        let n = state.n;
        async move {
            Ok(NumbersUpdate {
                out: Some(vec![n]),
                ..nothing()
            })
        }
    });
    graph.add_node_simple("w", work).expect("a new name");
    graph.set_entry_point("fan");
    graph.add_edge("fan", "w");
    graph.set_finish_point("w");
    graph
}

pub async fn run(job: &Job) {
    let n = job.size;
    if job.saver != "none" {
        cannot(job);
    }
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
    let builder = match job.workload.as_str() {
        "chain" => chain(n, false),
        "loop" => counter(),
        "send" => fan_out(n),
        _ => cannot(job),
    };
    let graph = Arc::new(builder.compile().expect("it compiles"));
    let workload = job.workload.clone();
    job.measure(|| {
        let (graph, workload) = (graph.clone(), workload.clone());
        async move {
            let config = RunnableConfig {
                recursion_limit: 1_000_000_000,
                ..RunnableConfig::new()
            };
            let input = Numbers {
                limit: n,
                ..Numbers::default()
            };
            timed(async {
                let done = graph.invoke_async(input, &config).await.expect("it runs");
                match workload.as_str() {
                    "chain" => 1,
                    "loop" => done.value.n,
                    _ => done.value.out.len(),
                }
            })
            .await
        }
    })
    .await;
}
