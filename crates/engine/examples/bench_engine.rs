//! Cost per super-step, as `./dev bench engine` prints it: one JSON object a line.
//!
//! Limits are measured in the same run: a bare loop that awaits the same boxed futures, so the ratio says what
//! super-steps, channels and versions cost on top of calling the nodes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]

use std::sync::Arc;
use std::time::Instant;

use superstep::*;

fn noop() -> impl Node {
    |_: NodeContext, _: Value| async { Ok(NodeOutput::none()) }
}

fn chain(n: usize) -> Graph {
    let mut graph = StateGraph::new().channel("x", ChannelSpec::last_value());
    for i in 0..n {
        graph = graph.node(format!("n{i}"), noop());
        graph = if i == 0 {
            graph.edge(START, "n0")
        } else {
            graph.edge(format!("n{}", i - 1), format!("n{i}"))
        };
    }
    graph.compile().unwrap()
}

fn counter() -> Graph {
    let step = |_: NodeContext, input: Value| async move {
        let n = input.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::update([("n", n + 1)]))
    };
    let again = |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_i64).unwrap_or(0);
        let limit = state.get("limit").and_then(Value::as_i64).unwrap_or(0);
        Ok(vec![Target::node(if n < limit { "a" } else { END })])
    };
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .channel("limit", ChannelSpec::last_value())
        .node("a", step)
        .node("b", step)
        .edge(START, "a")
        .edge("a", "b")
        .branch("b", Branch::new(again))
        .compile()
        .unwrap()
}

fn fan_out(k: usize) -> Graph {
    let fan =
        move |_: NodeContext, _: Value| async move { Ok((0..k).map(|i| Target::send("w", i)).collect()) };
    let worker = |_: NodeContext, input: Value| async move {
        Ok(NodeOutput::Update(Value::Object(
            [("out", Value::from(vec![input]))].into_iter().collect(),
        )))
    };
    StateGraph::new()
        .channel("out", ChannelSpec::append())
        .node("w", worker)
        .node("join", noop())
        .branch(START, Branch::new(fan))
        .edge("w", "join")
        .compile()
        .unwrap()
}

/// Median of several runs, in microseconds.
async fn micros<F: AsyncFnMut()>(rounds: usize, mut run: F) -> f64 {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        run().await;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print(workload: &str, params: &str, value: f64, limit: Option<f64>) {
    let line = serde_json::json!({
        "bench": "engine", "workload": workload, "params": params, "value": value, "unit": "us",
        "limit": limit, "ratio": limit.map(|limit| value / limit),
    });
    println!("{line}");
}

async fn bare_loop(steps: usize) {
    let node: Arc<dyn Fn() -> BoxFuture<'static, usize> + Send + Sync> = Arc::new(|| Box::pin(async { 1 }));
    let mut sum = 0;
    for _ in 0..steps {
        sum += node().await;
    }
    assert_eq!(std::hint::black_box(sum), steps);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let bare = micros(9, async || bare_loop(100_000).await).await / 100_000.0;
    let config = || RunConfig {
        recursion_limit: 1_000_000_000,
        ..RunConfig::default()
    };
    let on_thread = |i: usize| RunConfig {
        thread: Some(format!("t{i}").into()),
        ..config()
    };
    for n in [10, 1_000, 100_000] {
        let graph = chain(n);
        let rounds = if n > 10_000 { 3 } else { 15 };
        let us = micros(rounds, async || {
            graph
                .invoke(Input::value(json!({"x": 1})), config())
                .await
                .unwrap();
        })
        .await;
        print(
            "chain, no checkpointer, per step",
            &format!("n={n}"),
            us / n as f64,
            Some(bare),
        );
    }
    for n in [10, 1_000] {
        let graph = chain(n).with_checkpointer(Arc::new(MemorySaver::new()));
        let mut thread = 0;
        let us = micros(9, async || {
            thread += 1;
            graph
                .invoke(Input::value(json!({"x": 1})), on_thread(thread))
                .await
                .unwrap();
        })
        .await;
        print(
            "chain, memory checkpointer, per step",
            &format!("n={n}"),
            us / n as f64,
            Some(bare),
        );
    }
    for steps in [1_000, 10_000] {
        let graph = counter();
        let us = micros(9, async || {
            graph
                .invoke(Input::value(json!({"n": 0, "limit": steps})), config())
                .await
                .unwrap();
        })
        .await;
        print(
            "two-node loop, no checkpointer, per step",
            &format!("steps={steps}"),
            us / steps as f64,
            Some(bare),
        );
    }
    for k in [100, 1_000, 10_000] {
        let graph = fan_out(k);
        let us = micros(5, async || {
            graph.invoke(Input::value(json!({})), config()).await.unwrap();
        })
        .await;
        let spawned = micros(5, async || {
            let mut set = tokio::task::JoinSet::new();
            for i in 0..k {
                set.spawn(async move { i });
            }
            while set.join_next().await.is_some() {}
        })
        .await;
        print(
            "Send fan-out and join, per task",
            &format!("k={k}"),
            us / k as f64,
            Some(spawned / k as f64),
        );
    }
    for n in [1_000, 100_000] {
        let us = micros(3, async || {
            std::hint::black_box(chain(n));
        })
        .await;
        print(
            "build and compile, per node",
            &format!("n={n}"),
            us / n as f64,
            None,
        );
    }
}
