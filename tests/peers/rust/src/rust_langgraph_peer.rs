//! rust-langgraph. A node runs only when the one before it changed the state, so the nodes of its chain count.

use rust_langgraph::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Job, cannot, extra_edges, timed};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Numbers {
    n: usize,
}

impl State for Numbers {
    fn merge(&mut self, other: Self) -> Result<()> {
        self.n = other.n;
        Ok(())
    }
}

fn chain(n: usize, extra: bool) -> StateGraph<Numbers> {
    let mut graph = StateGraph::new();
    for i in 0..n {
        graph.add_node(format!("n{i}"), |state: Numbers, _: &Config| async move {
            Ok(Numbers { n: state.n + 1 })
        });
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

pub async fn run(job: &Job) {
    let n = job.size;
    if job.saver != "none" || !matches!(job.workload.as_str(), "chain" | "compile") {
        cannot(job);
    }
    if job.workload == "compile" {
        let build = || async move {
            timed(async {
                std::hint::black_box(chain(n, true).compile(None).expect("it compiles"));
                n
            })
            .await
        };
        return job.measure(build).await;
    }
    let graph = tokio::sync::Mutex::new(chain(n, false).compile(None).expect("it compiles"));
    job.measure(|| async {
        let mut graph = graph.lock().await;
        let mut config = Config::default();
        config.recursion_limit = usize::MAX;
        timed(async {
            let done = graph.invoke(Numbers { n: 0 }, config).await.expect("it runs");
            // The others end with the 1 that they were given.
            done.n - n + 1
        })
        .await
    })
    .await;
}
