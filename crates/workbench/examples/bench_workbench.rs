//! What questions that wait cost, as `./dev bench workbench` prints it: one JSON object a line.
//!
//! Runs of a trivial graph while 5,000 questions wait are compared with the same runs while none does (`limit`, by turns in
//! the same process); times are compared with what they may be. The workbench is driven as a host drives it, by commands
//! and events.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value as Json, json};
use superstep_workbench::wire::AppEvent;
use superstep_workbench::{Options, Subscription, Workbench};

/// Questions that wait.
const WAITING: usize = 5000;
/// Runs of a round, and rounds of which the middle one counts.
const RUNS: usize = 40;
const ROUNDS: usize = 7;

fn main() {
    let small = std::env::args().skip(1).any(|one| one == "--small");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(bench(if small { WAITING / 10 } else { WAITING }));
}

fn print(workload: &str, params: &str, value: f64, unit: &str, limit: f64) {
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let line = json!({
        "bench": "workbench", "workload": workload, "params": params, "value": round(value), "unit": unit,
        "limit": round(limit), "ratio": round(value / limit),
    });
    println!("{line}");
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

struct Host {
    workbench: Arc<Workbench>,
    events: Subscription,
    graph: String,
}

impl Host {
    async fn open(dir: &std::path::Path) -> Self {
        let options = Options::new(dir.to_path_buf());
        let workbench = Workbench::open(options).await.unwrap();
        let events = workbench.subscribe();
        let mut host = Self {
            workbench,
            events,
            graph: String::new(),
        };
        let graph = host.call("graph.new", json!({"name": "Desk"})).await;
        host.graph = graph["graphId"].as_str().unwrap().to_owned();
        // With `ask` it asks, without it is done at once.
        let records = json!({
            "key:ask": {"type": "boolean"},
            "key:word": {"type": "string"},
            "node:look": {"kind": "assign", "config": {"set": {"word": "'looked'"}}},
            "node:review": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
            "edge:1": {"from": "__start__", "to": "look"},
            "edge:2": {"from": "look", "to": "review", "when": "state.ask"},
            "edge:3": {"from": "look", "to": "__end__", "when": "not state.ask"},
            "edge:4": {"from": "review", "to": "__end__"}
        });
        let ops: Vec<Json> = records
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, value)| json!({"id": id, "from": null, "to": value}))
            .collect();
        let applied = host
            .call(
                "graph.apply",
                json!({"graphId": host.graph, "baseRev": 0, "ops": ops}),
            )
            .await;
        assert_eq!(applied["diagnostics"], json!([]));
        host
    }

    async fn call(&self, command: &str, request: Json) -> Json {
        match self.workbench.call(command, request).await {
            Ok(answer) => answer,
            Err(problem) => panic!("{command}: {problem:?}"),
        }
    }

    async fn until_ended(&mut self, mut runs: usize) {
        while runs > 0 {
            let batch = self.events.next().await.unwrap();
            let ended = |event: &&AppEvent| matches!(event, AppEvent::Run { run } if run.ended_at.is_some());
            runs -= batch.events.iter().filter(ended).count();
        }
    }

    fn begin(&self, ask: bool) -> Json {
        json!({"graphId": self.graph, "action": {"type": "input", "input": {"ask": ask}}})
    }

    /// Runs one after the other without waiting for a frame, as a program does; how many a second.
    async fn round(&mut self) -> f64 {
        let began = Instant::now();
        for _ in 0..RUNS {
            let started = self.call("run.start", self.begin(false)).await;
            let thread = started["threadId"].clone();
            while self.call("thread.get", json!({"threadId": thread})).await["status"] == "running" {
                tokio::task::yield_now().await;
            }
        }
        let rate = RUNS as f64 / began.elapsed().as_secs_f64();
        self.until_ended(RUNS).await;
        rate
    }

    /// This many threads, which ask or are done at once.
    async fn fill(&mut self, questions: usize, ask: bool) {
        // A subscriber that falls behind misses events: not too many at once.
        for part in (0..questions).step_by(100) {
            let part = (questions - part).min(100);
            for _ in 0..part {
                self.call("run.start", self.begin(ask)).await;
            }
            self.until_ended(part).await;
        }
    }
}

async fn bench(waiting: usize) {
    let (full_dir, empty_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut full = Host::open(full_dir.path()).await;
    let mut empty = Host::open(empty_dir.path()).await;
    full.fill(waiting, true).await;
    // As many threads are beside, of which none asks: what is measured is the questions and not the size of a file.
    empty.fill(waiting, false).await;
    let params = format!("{waiting} questions wait");

    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    // The first of each warms up.
    for round in 0..=ROUNDS {
        let (a, b) = (empty.round().await, full.round().await);
        if round > 0 {
            alone.push(a);
            beside.push(b);
        }
    }
    print("runs", &params, middle(beside), "runs/s", middle(alone));

    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let (mut after, mut seen) = (Json::Null, 0);
        loop {
            let page = full.call("inbox.list", json!({"after": after})).await;
            seen += page["questions"].as_array().unwrap().len();
            after = page["next"].clone();
            if after.is_null() {
                break;
            }
        }
        assert_eq!(seen, waiting);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    print("list all in pages of 100", &params, middle(times), "ms", 300.0);

    let mut times = Vec::new();
    for _ in 0..ROUNDS * 3 {
        let page = full.call("inbox.list", json!({"limit": 2})).await;
        let (first, next) = (&page["questions"][0], &page["questions"][1]);
        let id = first["interruptId"].as_str().unwrap();
        let answer = json!({
            "threadId": first["threadId"],
            "action": {"type": "resume", "answers": {id: "yes"}, "checkpointId": first["checkpointId"]}
        });
        let began = Instant::now();
        full.call("run.start", answer).await;
        let left = full.call("inbox.list", json!({"limit": 2})).await;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        assert_eq!(
            left["questions"][0]["interruptId"], next["interruptId"],
            "it leaves the list at once"
        );
        full.until_ended(1).await;
    }
    print("answer, then the next one", &params, middle(times), "ms", 100.0);
    full.workbench.shutdown().await;
    empty.workbench.shutdown().await;
}
