//! One workload in a process of its own: `bench_workload WORKLOAD SIZE SAVER SECONDS`, one JSON object on stdout.
//!
//! `./dev bench peers` runs this beside the same workload on the peers; the graphs are those of `./dev bench engine`.
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

#[path = "../../engine/examples/workloads/mod.rs"]
mod workloads;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use superstep::{Checkpointer, Graph, Input, MemorySaver, RunConfig, StreamMode};
use superstep_storage::{SqliteOptions, SqliteSaver, Synchronous};
use workloads::{Workload, measure, workload};

fn config() -> RunConfig {
    RunConfig::default().recursion_limit(1_000_000_000)
}

/// A database that does not wait for the disk, as LangGraph.js' does not: `bench_storage` says what waiting costs.
fn normal(file: impl AsRef<Path>) -> SqliteSaver {
    let options = SqliteOptions::default().synchronous(Synchronous::Normal);
    SqliteSaver::open_with(file, options).unwrap()
}

/// A saver of the kind, empty.
fn open(kind: &str, folder: &Path, round: usize) -> Option<Arc<dyn Checkpointer>> {
    match kind {
        "memory" => Some(Arc::new(MemorySaver::new())),
        "sqlite" => {
            let saver = normal(folder.join(format!("{round}.db")));
            Some(Arc::new(saver))
        }
        _ => None,
    }
}

fn saving(graph: &Graph, saver: Option<Arc<dyn Checkpointer>>) -> (Graph, RunConfig) {
    match saver {
        Some(saver) => (graph.clone().with_checkpointer(saver), config().thread("t")),
        None => (graph.clone(), config()),
    }
}

async fn run(work: &Workload, saver: Option<Arc<dyn Checkpointer>>) -> (f64, usize) {
    let (graph, config) = saving(&work.graph, saver);
    let began = Instant::now();
    let done = graph
        .invoke(Input::Value(work.input.clone()), config)
        .await
        .unwrap();
    (began.elapsed().as_secs_f64(), measure(&done.value, work.expect.0))
}

/// Every event of an `updates` stream.
async fn stream(work: &Workload) -> (f64, usize) {
    let began = Instant::now();
    let config = config().modes([StreamMode::Updates]);
    let mut run = work.graph.stream(Input::Value(work.input.clone()), config);
    let mut events = 0;
    while run.next().await.is_some() {
        events += 1;
    }
    (began.elapsed().as_secs_f64(), events)
}

/// A thread of this many turns.
async fn talk(turns: usize, saver: Option<Arc<dyn Checkpointer>>) -> (f64, usize) {
    let (graph, config) = saving(&workloads::talk().graph, saver);
    let began = Instant::now();
    let mut messages = 0;
    for i in 0..turns {
        let done = graph
            .invoke(Input::Value(workloads::turn(i)), config.clone())
            .await
            .unwrap();
        messages = measure(&done.value, "messages");
    }
    (began.elapsed().as_secs_f64(), messages)
}

fn compile(n: usize) -> (f64, usize) {
    let began = Instant::now();
    std::hint::black_box(workloads::chain_builder(n, n / 2).compile().unwrap());
    (began.elapsed().as_secs_f64(), n)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, size, saver, seconds] = &arguments[..] else {
        panic!("usage: bench_workload WORKLOAD SIZE SAVER SECONDS")
    };
    let seconds: f64 = seconds.parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let number: usize = size.parse().unwrap_or(0);
    let work = match &**name {
        "compile" | "talk" => None,
        "stream" => Some(workload("loop", size)),
        _ => Some(workload(name, size)),
    };
    let began = Instant::now();
    let mut times: Vec<f64> = Vec::new();
    let mut came_to = 0;
    // The first round warms up and does not count.
    for round in 0..=200 {
        let saver = open(saver, folder.path(), round);
        let (took, came) = match (&**name, &work) {
            ("stream", Some(work)) => stream(work).await,
            (_, Some(work)) => run(work, saver).await,
            ("talk", None) => talk(number, saver).await,
            (_, None) => compile(number),
        };
        came_to = came;
        if round > 0 {
            times.push(took);
        }
        if round > 0 && began.elapsed().as_secs_f64() > seconds {
            break;
        }
    }
    println!("{}", serde_json::json!({"seconds": times, "came_to": came_to}));
}
