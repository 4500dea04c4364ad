//! What the engine costs, as `./dev bench engine` prints it: one JSON object a line.
//!
//! Every figure is the fastest of several rounds (a shared machine adds time and never takes any away), with the
//! median beside it. Limits are measured in the same run: a bare loop that awaits the same boxed futures, so the
//! ratio says what super-steps, channels and versions cost on top of calling the nodes.
//!
//! `bench_engine NAME…` runs only the groups that are named.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]

mod workloads;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use superstep::checkpoint::*;
use superstep::run::*;
use superstep::*;
use workloads::{Workload, chain_builder, measure, workload};

/// The fastest round and the median, in microseconds. At least three rounds, then as many as fit into the budget.
async fn micros<F: AsyncFnMut()>(mut run: F) -> (f64, f64) {
    const BUDGET: Duration = Duration::from_millis(600);
    run().await;
    let began = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (began.elapsed() < BUDGET && times.len() < 200) {
        let start = Instant::now();
        run().await;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn print(
    workload: &str,
    params: String,
    per: f64,
    (fastest, median): (f64, f64),
    unit: &str,
    limit: Option<f64>,
) {
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let value = fastest / per;
    let line = serde_json::json!({
        "bench": "engine", "workload": workload, "params": params, "value": round(value),
        "median": round(median / per), "unit": unit,
        "limit": limit.map(round), "ratio": limit.map(|limit| round(value / limit)),
    });
    println!("{line}");
}

async fn bare_loop(steps: usize) {
    let node: Arc<dyn Fn() -> BoxFuture<'static, usize> + Send + Sync> = Arc::new(|| Box::pin(async { 1 }));
    let mut sum = 0;
    for _ in 0..steps {
        sum += node().await;
    }
    assert_eq!(black_box(sum), steps);
}

fn config() -> RunConfig {
    RunConfig::default().recursion_limit(1_000_000_000)
}

/// Runs the workload once; with a checkpointer on a new thread each time.
async fn once(work: &Workload, graph: &Graph, thread: Option<usize>, durability: Durability) {
    let mut config = config().durability(durability);
    config.thread = thread.map(|thread| format!("t{thread}").into());
    let done = graph
        .invoke(Input::Value(work.input.clone()), config)
        .await
        .unwrap();
    assert_eq!(measure(&done.value, work.expect.0), work.expect.1);
}

/// Time a task without checkpointer.
async fn plain(label: &str, name: &str, size: &str, limit: Option<f64>) {
    let work = workload(name, size);
    let times = micros(async || once(&work, &work.graph, None, Durability::Sync).await).await;
    print(label, size.into(), work.tasks as f64, times, "us/task", limit);
}

/// Time a task with the checkpointer in memory. The saver is emptied after each round.
async fn saved(label: &str, name: &str, size: &str, durability: Durability, limit: Option<f64>) {
    let work = workload(name, size);
    let saver = Arc::new(MemorySaver::new());
    let graph = work.graph.clone().with_checkpointer(saver.clone());
    let mut times = Vec::new();
    let began = Instant::now();
    for round in 0.. {
        let start = Instant::now();
        once(&work, &graph, Some(round), durability).await;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        saver.delete_thread(&format!("t{round}").into()).await.unwrap();
        if round >= 3 && (began.elapsed() > Duration::from_millis(600) || round > 200) {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    let how = match durability {
        Durability::Sync => "sync",
        Durability::Async => "async",
        Durability::Exit => "exit",
    };
    let params = if size == "-" {
        how.to_owned()
    } else {
        format!("{size} {how}")
    };
    let times = (times[0], times[times.len() / 2]);
    print(label, params, work.tasks as f64, times, "us/task", limit);
}

async fn steps(bare: f64) {
    for size in ["10", "1000", "100000"] {
        plain("super-step in a chain of n nodes", "chain", size, Some(bare)).await;
    }
    for size in ["1000", "10000", "100000"] {
        plain("super-step of a two-node loop", "loop", size, Some(bare)).await;
    }
}

async fn memory(bare: f64) {
    for size in ["10", "1000"] {
        let label = "super-step in a chain, saved in memory";
        saved(label, "chain", size, Durability::Sync, Some(bare)).await;
    }
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let label = "super-step of a two-node loop, saved in memory";
        saved(label, "loop", "1000", durability, Some(bare)).await;
    }
}

async fn send() {
    for size in ["100", "1000", "10000", "100000"] {
        let k: usize = size.parse().unwrap();
        let spawned = micros(async || {
            let mut set = tokio::task::JoinSet::new();
            for i in 0..k {
                set.spawn(async move { i });
            }
            while set.join_next().await.is_some() {}
        })
        .await;
        plain(
            "Send to k workers and join",
            "send",
            size,
            Some(spawned.0 / k as f64),
        )
        .await;
    }
    saved(
        "Send to k workers and join, saved in memory",
        "send",
        "1000",
        Durability::Sync,
        None,
    )
    .await;
}

async fn subgraph() {
    for size in ["10", "100", "1000"] {
        plain("Send to k sub-graphs of 12 steps", "subgraph", size, None).await;
    }
    let label = "Send to k sub-graphs, saved in memory";
    for durability in [Durability::Sync, Durability::Exit] {
        saved(label, "subgraph", "100", durability, None).await;
    }
}

async fn state() {
    let mut first = None;
    for size in ["25x300", "15x600", "9x1200", "250x300"] {
        let work = workload("wide", size);
        let times = micros(async || once(&work, &work.graph, None, Durability::Sync).await).await;
        // Sharing means that a message ten times as large costs the same.
        let limit = (size == "250x300").then_some(first).flatten();
        print("wide state, whole run", size.into(), 1.0, times, "us", limit);
        first = first.or(Some(times.0));
    }
    for durability in [Durability::Sync, Durability::Exit] {
        saved("wide state, saved in memory", "wide", "25x300", durability, None).await;
    }
    for size in ["10", "100"] {
        plain("agent with a scripted model and a tool", "react", size, None).await;
    }
    saved("agent, saved in memory", "react", "100", Durability::Sync, None).await;
}

/// One thread to which every turn adds a message, and a list that grows step by step: late turns must cost what early
/// ones do.
async fn growing() {
    const TURNS: usize = 3_000;
    let work = workloads::talk();
    let graph = work.graph.with_checkpointer(Arc::new(MemorySaver::new()));
    let mut turns = Vec::new();
    for i in 0..TURNS {
        let input = workloads::turn(i);
        let start = Instant::now();
        let config = config().thread("talk");
        graph.invoke(Input::Value(input), config).await.unwrap();
        turns.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let median = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        (part[0], part[part.len() / 2])
    };
    let tenth = TURNS / 10;
    let early = median(&turns[..tenth]);
    let late = median(&turns[TURNS - tenth..]);
    let params = format!("{TURNS} turns, last tenth against first");
    print(
        "conversation, a turn saved in memory",
        params,
        1.0,
        late,
        "us/turn",
        Some(early.0),
    );

    let grow = |limit: usize| {
        let step = |_: NodeContext, _: Value| async move { Ok(NodeOutput::update([("list", 1)])) };
        let again = move |_: NodeContext, state: Value| async move {
            let length = state
                .get("list")
                .and_then(Value::as_array)
                .map_or(0, |list| list.len());
            Ok(vec![Target::node(if length < limit { "grow" } else { END })])
        };
        let graph = StateGraph::new()
            .channel("list", ChannelSpec::append())
            .node("grow", step)
            .edge(START, "grow")
            .branch("grow", Branch::new(again));
        graph.compile().unwrap()
    };
    let mut short = None;
    for limit in [1_000, 100_000] {
        let graph = grow(limit);
        let times = micros(async || {
            graph
                .invoke(Input::value(json!({"list": []})), config())
                .await
                .unwrap();
        })
        .await;
        let params = format!("{limit} items");
        print(
            "list that grows by an item a step",
            params,
            limit as f64,
            times,
            "us/step",
            short,
        );
        short = short.or(Some(times.0 / limit as f64));
    }
}

async fn stream(bare: f64) {
    let work = workload("loop", "1000");
    let config = || config().modes([StreamMode::Updates]);
    let times = micros(async || {
        let mut run = work.graph.stream(Input::Value(work.input.clone()), config());
        let mut events = 0;
        while run.next().await.is_some() {
            events += 1;
        }
        assert_eq!(events, work.tasks);
    })
    .await;
    print(
        "updates stream of a loop",
        "1000 steps".into(),
        work.tasks as f64,
        times,
        "us/event",
        Some(bare),
    );
    let times = micros(async || {
        let mut run = work.graph.stream(Input::Value(work.input.clone()), config());
        run.next().await.unwrap();
    })
    .await;
    print(
        "updates stream, first event",
        "1000 steps".into(),
        1.0,
        times,
        "us",
        None,
    );
}

async fn compile() {
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        let times = micros(async || {
            black_box(chain_builder(n, n / 2).compile().unwrap());
        })
        .await;
        print(
            "build and compile, per node",
            format!("n={n}"),
            n as f64,
            times,
            "us/node",
            None,
        );
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let bare = micros(async || bare_loop(100_000).await).await.0 / 100_000.0;
    if runs("steps") {
        steps(bare).await;
    }
    if runs("memory") {
        memory(bare).await;
    }
    if runs("send") {
        send().await;
    }
    if runs("subgraph") {
        subgraph().await;
    }
    if runs("state") {
        state().await;
    }
    if runs("growing") {
        growing().await;
    }
    if runs("stream") {
        stream(bare).await;
    }
    if runs("compile") {
        compile().await;
    }
}
