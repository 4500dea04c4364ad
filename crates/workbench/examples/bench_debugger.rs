//! What a debugger's questions cost, as `./dev bench debugger` prints it: one JSON object a line.
//!
//! Recording stands beside the same runs without it (`limit`, by turns in the same process); questions about a thread of
//! 5,000 checkpoints stand beside 200 ms, which is what a person may wait, and a chain of writes beside reading the whole history.
//! `--small` asks of a tenth of it, which shows that everything works and says nothing about speed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value as Json, json};
use superstep::{Checkpointer, Graph, Input, ListQuery, MemorySaver, RunConfig};
use superstep_document::Document;
use superstep_nodes::{Environment, Grants, Registry};
use superstep_workbench::wire::AppEvent;
use superstep_workbench::{Options, Workbench};

/// Turns of a loop that is recorded, and rounds of which the middle one counts.
const TURNS: usize = 500;
const ROUNDS: usize = 7;
/// Milliseconds that a question about one thread may take.
const WAIT: f64 = 200.0;

fn main() {
    superstep_nodes::serve_if_asked();
    let small = std::env::args().skip(1).any(|one| one == "--small");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        recording().await;
        questions(if small { 500 } else { 5000 }).await;
    });
}

fn print(workload: &str, params: &str, value: f64, unit: &str, limit: f64) {
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let line = json!({
        "bench": "debugger", "workload": workload, "params": params, "value": round(value), "unit": unit,
        "limit": round(limit), "ratio": round(value / limit),
    });
    println!("{line}");
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A loop that adds to `n`, whose edges read it, until it is so large.
fn counter(turns: usize) -> Json {
    json!({
        "format": "superstep/1",
        "name": "Counter",
        "recursion_limit": 100_000,
        "state": {"n": {"type": "integer", "default": 0}, "last": {"type": "string"}},
        "nodes": {
            "add": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}},
            "end": {"kind": "assign", "config": {"set": {"last": "'n is ' ~ state.n"}}},
        },
        "edges": [
            {"from": "__start__", "to": "add"},
            {"from": "add", "to": "add", "when": format!("state.n < {turns}")},
            {"from": "add", "to": "end", "when": format!("state.n >= {turns}")},
        ],
    })
}

fn graph(file: &Json) -> Graph {
    let (document, problems) = Document::parse(&file.to_string());
    assert!(problems.is_empty(), "{problems:?}");
    let environment = Environment::new(None).with_grants(Grants::all());
    Registry::standard().build(&document, &environment).unwrap().graph
}

/// Microseconds of a turn with and without recording, in the middle of rounds by turns.
async fn turns(saver: Arc<dyn Checkpointer>) -> (f64, f64) {
    let graph = graph(&counter(TURNS)).with_checkpointer(saver);
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..=2 * ROUNDS {
        let record = round % 2 == 0;
        let config = RunConfig::on(format!("{round}"))
            .record(record)
            .recursion_limit(100_000);
        let began = Instant::now();
        graph
            .invoke(Input::value(superstep::json!({"n": 0})), config)
            .await
            .unwrap();
        let took = began.elapsed().as_secs_f64() * 1e6 / TURNS as f64;
        // The first round warms up.
        match (round, record) {
            (0, _) => {}
            (_, true) => with.push(took),
            (_, false) => without.push(took),
        }
    }
    (middle(with), middle(without))
}

/// Bytes of the records of a run, in the middle of its decisions.
async fn bytes() -> f64 {
    let saver = Arc::new(MemorySaver::new());
    let graph = graph(&counter(20)).with_checkpointer(saver.clone());
    graph
        .invoke(
            Input::value(superstep::json!({"n": 0})),
            RunConfig::on("t").record(true),
        )
        .await
        .unwrap();
    let mut sizes = Vec::new();
    for tuple in saver.list(&ListQuery::default()).await.unwrap() {
        for (_, record) in tuple.records() {
            let decisions = record.decisions.len().max(1);
            sizes.push(record.to_value().to_string().len() as f64 / decisions as f64);
        }
    }
    middle(sizes)
}

async fn recording() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("threads.db").display());
    let sqlite = superstep_storage::open(&url).await.unwrap().checkpointer;
    let (with, without) = turns(sqlite).await;
    print("step with recording", "SQLite, sync", with, "us", without);
    let (with, without) = turns(Arc::new(MemorySaver::new())).await;
    print("step with recording", "in memory", with, "us", without);
    print(
        "recording of a decision",
        "in memory, two a step",
        (with - without).max(0.0) / 2.0,
        "us",
        0.5,
    );
    print(
        "record of a decision",
        "the middle one",
        bytes().await,
        "bytes",
        300.0,
    );
}

async fn questions(checkpoints: usize) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        data_dir: folder.path().to_path_buf(),
        ..Options::default()
    };
    let workbench = Workbench::open(options).await.unwrap();
    let mut events = workbench.subscribe();
    let file = folder.path().join("graph.json");
    std::fs::write(&file, counter(checkpoints).to_string()).unwrap();
    let call = async |command: &str, request: Json| match workbench.call(command, request).await {
        Ok(answer) => answer,
        Err(problem) => panic!("{command}: {problem:?}"),
    };
    let opened = call("graph.open", json!({"path": file})).await;
    let begin = json!({"graphId": opened["graphId"], "action": {"type": "input", "input": {"n": 0}}});
    let thread = call("run.start", begin).await["threadId"]
        .as_str()
        .unwrap()
        .to_owned();
    let is_ended = |event: &AppEvent| matches!(event, AppEvent::Run { run } if run.ended_at.is_some());
    while !events.next().await.unwrap().events.iter().any(is_ended) {}
    let params = format!("{checkpoints} checkpoints");
    let timed = async |command: &str, request: Json| {
        let mut times = Vec::new();
        for _ in 0..3 {
            let began = Instant::now();
            call(command, request.clone()).await;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        middle(times)
    };
    let ask = |more: Json| {
        let mut request = json!({"threadId": thread});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        request
    };
    let history = timed("thread.keyHistory", ask(json!({"key": "n"}))).await;
    print(
        "history of a key, its newest 100 writes",
        &params,
        history,
        "ms",
        WAIT,
    );
    let first = json!({"key": "n", "limit": 1, "firstWhere": format!("value > {}", checkpoints / 2)});
    let first = timed("thread.keyHistory", ask(first)).await;
    print("first write where a condition held", &params, first, "ms", WAIT);
    let trace = timed("thread.trace", ask(json!({}))).await;
    print("trace", &params, trace, "ms", WAIT);
    let chain = timed("thread.provenance", ask(json!({"pointer": "/last"}))).await;
    print("who wrote a value, 25 writes", &params, chain, "ms", WAIT);
    let long = timed(
        "thread.provenance",
        ask(json!({"pointer": "/last", "limit": 500})),
    )
    .await;
    print("who wrote a value, 500 writes", &params, long, "ms", WAIT);
    let url = format!("sqlite:{}", folder.path().join("threads.db").display());
    let saver = superstep_storage::open(&url).await.unwrap().checkpointer;
    let query = ListQuery {
        thread: Some(thread.as_str().into()),
        ..ListQuery::default()
    };
    let began = Instant::now();
    assert!(saver.list(&query).await.unwrap().len() > checkpoints);
    let whole = began.elapsed().as_secs_f64() * 1e3;
    print(
        "who wrote a value, beside the whole history",
        &params,
        chain,
        "ms",
        whole,
    );
    workbench.shutdown().await;
}
