//! The storage part of `./dev bench`: one JSON object a line.
//!
//! Each figure is printed with what it is compared against in the same run (`limit`), because absolute times on a
//! shared machine say little. `cargo run --release -p superstep-storage --example bench_storage -- crowd steps` runs only
//! these groups.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop")]
#![allow(clippy::too_many_lines, reason = "a benchmark tells one story")]

#[path = "../../engine/examples/workloads/mod.rs"]
mod workloads;

#[path = "bench/claims.rs"]
mod bench_claims;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use rusqlite::Connection;
use superstep::checkpoint::{
    Checkpoint, Commit, ListQuery, Maintenance, Put, TaskId, TaskWrites, WaitingQuery, Write,
};
use superstep::graph::Effect;
use superstep::run::Durability;
use superstep::{
    Branch, ChannelSpec, Checkpointer, END, Input, MemorySaver, NodeContext, NodeOptions, NodeOutput,
    RunConfig, START, StateGraph, Target, Value, json,
};
use superstep_storage::{
    FileOptions, FileSaver, PostgresSaver, RedisSaver, SqliteOptions, SqliteSaver, Synchronous,
};
use superstep_suites::{Draft, id};
use superstep_test_servers::{Postgres, Redis};

const STEPS: u64 = 3_000;
const TURNS: u64 = 1_000;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        if runs("commits") {
            for synchronous in [Synchronous::Normal, Synchronous::Full] {
                commits(folder.path(), synchronous).await;
            }
        }
        if runs("steps") {
            super_steps(folder.path()).await;
        }
        if runs("effects") {
            effects(folder.path()).await;
        }
        if runs("conversation") {
            conversation(folder.path()).await;
        }
        if runs("space") {
            space(folder.path()).await;
        }
        if runs("reading") {
            reading(folder.path()).await;
        }
        if runs("threads") {
            threads(folder.path()).await;
        }
        if runs("waiting") {
            waiting(folder.path()).await;
        }
        if runs("crowd") {
            crowd(folder.path()).await;
        }
        if runs("claims") {
            bench_claims::claims(folder.path()).await;
        }
        if runs("wide") {
            wide(folder.path()).await;
        }
    });
}

/// A database that does not wait for the disk, as LangGraph.js' does not: what waiting costs is measured by itself.
fn normal(file: impl AsRef<Path>) -> SqliteSaver {
    let options = SqliteOptions::default().synchronous(Synchronous::Normal);
    SqliteSaver::open_with(file, options).unwrap()
}

fn report(workload: &str, params: serde_json::Value, value: f64, unit: &str, limit: Option<f64>) {
    let round = |x: f64| (x * 1000.0).round() / 1000.0;
    let line = serde_json::json!({
        "bench": "storage",
        "workload": workload,
        "params": params,
        "value": round(value),
        "unit": unit,
        "limit": limit.map(round),
        "ratio": limit.map(|limit| round(value / limit)),
    });
    println!("{line}");
}

/// What the engine commits for a step of a small counter loop: one task's writes and the next checkpoint.
fn small_steps(first: u64, steps: u64) -> Vec<(Vec<TaskWrites>, Put)> {
    let mut last = Draft::root(id(first))
        .set("n", 0)
        .set("branch:to:loop", Value::Null)
        .put();
    let mut made = vec![(Vec::new(), last.clone())];
    for n in 1..steps {
        let parent = &last.checkpoint;
        let task = TaskWrites {
            checkpoint_id: parent.id.clone(),
            task_id: TaskId::new(format!("{:08x}-1111-8222-9333-444455556666", n)),
            task_path: "~__pregel_pull, loop".into(),
            writes: vec![
                Write {
                    idx: 0,
                    channel: "n".into(),
                    value: json!(n),
                },
                Write {
                    idx: 1,
                    channel: "branch:to:loop".into(),
                    value: Value::Null,
                },
            ],
        };
        let draft = Draft::after(parent, id(first + n))
            .set("n", n)
            .clear("branch:to:loop");
        let put = draft.sees("loop", &["branch:to:loop"]).put();
        last = put.clone();
        made.push((vec![task], put));
    }
    made
}

fn commit(writes: Vec<TaskWrites>, put: Put) -> Commit {
    Commit {
        claim: None,
        thread: "bench".into(),
        ns: "".into(),
        writes,
        put: Some(put),
    }
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).unwrap().len()
}

/// Plain inserts of as many bytes, one a transaction or `batch` of them.
fn plain(folder: &Path, pragma: &str, bytes: usize, rows: u64, batch: u64) -> f64 {
    let file = folder.join(format!("plain-{pragma}-{bytes}-{batch}.db"));
    let conn = Connection::open(&file).unwrap();
    conn.pragma_update(None, "journal_mode", "WAL").unwrap();
    conn.pragma_update(None, "synchronous", pragma).unwrap();
    conn.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB)")
        .unwrap();
    let data = vec![7_u8; bytes];
    let began = Instant::now();
    for n in 0..rows {
        if n % batch == 0 {
            conn.prepare_cached("BEGIN IMMEDIATE")
                .unwrap()
                .execute([])
                .unwrap();
        }
        conn.prepare_cached("INSERT INTO t (data) VALUES (?1)")
            .unwrap()
            .execute([&data])
            .unwrap();
        if n % batch == batch - 1 || n == rows - 1 {
            conn.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
        }
    }
    rows as f64 / began.elapsed().as_secs_f64()
}

async fn commits(folder: &Path, synchronous: Synchronous) {
    let full = synchronous == Synchronous::Full;
    let pragma = if full { "FULL" } else { "NORMAL" };
    let steps = if full { STEPS / 5 } else { STEPS };
    let options = SqliteOptions::default().synchronous(synchronous);
    let file = folder.join(format!("sequential-{pragma}.db"));
    let saver = SqliteSaver::open_with(&file, options).unwrap();
    let work = small_steps(0, steps);
    let began = Instant::now();
    for (writes, put) in work {
        saver.commit(commit(writes, put)).await.unwrap();
    }
    let rate = steps as f64 / began.elapsed().as_secs_f64();
    drop(saver);
    let bytes = size(&file) / steps;
    let params = |how: &str| serde_json::json!({"synchronous": pragma, "steps": steps, "commits": how});
    let limit = plain(folder, pragma, bytes as usize, steps, 1);
    report(
        "small steps",
        params("awaited one by one"),
        rate,
        "commits/s",
        Some(limit),
    );
    if !full {
        report(
            "small steps",
            params("awaited one by one"),
            bytes as f64,
            "bytes/step on disk",
            Some(350.0),
        );
    }

    let saver = SqliteSaver::open_with(folder.join(format!("pipelined-{pragma}.db")), options).unwrap();
    let work = small_steps(0, steps);
    let began = Instant::now();
    let pending: Vec<_> = work
        .into_iter()
        .map(|(writes, put)| saver.commit(commit(writes, put)))
        .collect();
    for outcome in join_all(pending).await {
        outcome.unwrap();
    }
    let rate = steps as f64 / began.elapsed().as_secs_f64();
    let limit = plain(folder, pragma, bytes as usize, steps, 256);
    report(
        "small steps",
        params("queued, awaited together"),
        rate,
        "commits/s",
        Some(limit),
    );
}

/// Many threads at once on one file, each awaiting its own commits. The limit is as many plain inserts of the same bytes, as
/// many to a transaction as there are threads that wait, up to the size of a group.
async fn crowd(folder: &Path) {
    const THREADS: u64 = 1000;
    const EACH: u64 = 100;
    let file = folder.join("crowd.db");
    let saver = Arc::new(normal(&file));
    let work: Vec<_> = (0..THREADS).map(|_| small_steps(0, EACH)).collect();
    let began = Instant::now();
    let running = work.into_iter().enumerate().map(|(n, steps)| {
        let saver = saver.clone();
        tokio::spawn(async move {
            for (writes, put) in steps {
                let thread = format!("thread {n}").as_str().into();
                let commit = Commit {
                    claim: None,
                    thread,
                    ..commit(writes, put)
                };
                saver.commit(commit).await.unwrap();
            }
        })
    });
    for ended in join_all(running.collect::<Vec<_>>()).await {
        ended.unwrap();
    }
    let rate = (THREADS * EACH) as f64 / began.elapsed().as_secs_f64();
    drop(saver);
    let bytes = size(&file) / (THREADS * EACH);
    let limit = plain(folder, "NORMAL", bytes as usize, THREADS * EACH, 256);
    let params = serde_json::json!({"synchronous": "NORMAL", "threads": THREADS, "steps": EACH});
    report("threads at once", params, rate, "commits/s", Some(limit));
}

/// A counter that loops through the engine, with a checkpoint a step. The limit is one plain insert of the same bytes
/// per step, one transaction each.
async fn super_steps(folder: &Path) {
    let count = |_: NodeContext, input: Value| async move {
        let n = input.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::update([("n", n + 1)]))
    };
    let again = |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_u64).unwrap_or(0);
        Ok(vec![Target::node(if n < STEPS { "count" } else { END })])
    };
    let graph = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("count", count)
        .edge(START, "count")
        .branch("count", Branch::new(again))
        .compile()
        .unwrap();
    for (name, durability) in [("sync", Durability::Sync), ("async", Durability::Async)] {
        let file = folder.join(format!("engine-{name}.db"));
        let saver = normal(&file);
        let graph = graph.clone().with_checkpointer(Arc::new(saver));
        let config = RunConfig::on("counter")
            .durability(durability)
            .recursion_limit(u32::MAX);
        let began = Instant::now();
        let input = Value::Object([("n", 0)].into_iter().collect());
        graph.invoke(Input::Value(input), config).await.unwrap();
        let micros = began.elapsed().as_secs_f64() * 1e6 / STEPS as f64;
        drop(graph);
        let bytes = size(&file) / STEPS;
        let batch = if durability == Durability::Sync { 1 } else { 256 };
        let limit = 1e6 / plain(folder, "NORMAL", bytes as usize, STEPS, batch);
        let params = serde_json::json!({"durability": name, "synchronous": "NORMAL", "steps": STEPS});
        report(
            "super-step through the engine",
            params,
            micros,
            "us/step",
            Some(limit),
        );
    }
}

/// What it costs that a node declares an effect, beside one that says nothing: the median of rounds in turns.
async fn effects(folder: &Path) {
    let graph = |effect: Option<Effect>| {
        let count = |_: NodeContext, input: Value| async move {
            let n = input.get("n").and_then(Value::as_i64).unwrap_or(0);
            Ok(NodeOutput::update([("n", n + 1)]))
        };
        let again = |_: NodeContext, state: Value| async move {
            let n = state.get("n").and_then(Value::as_u64).unwrap_or(0);
            Ok(vec![Target::node(if n < TURNS { "count" } else { END })])
        };
        let options = effect.map_or_else(NodeOptions::new, |effect| NodeOptions::new().effect(effect));
        StateGraph::new()
            .channel("n", ChannelSpec::last_value())
            .node_with("count", Arc::new(count), options)
            .edge(START, "count")
            .branch("count", Branch::new(again))
            .compile()
            .unwrap()
    };
    let kinds = [
        None,
        Some(Effect::Idempotent),
        Some(Effect::Unknown),
        Some(Effect::Once),
    ];
    for (name, durability) in [("sync", Durability::Sync), ("async", Durability::Async)] {
        let mut times = vec![Vec::new(); kinds.len()];
        for round in 0..9 {
            for (place, kind) in kinds.iter().enumerate() {
                let saver = normal(folder.join(format!("effects-{name}-{round}-{place}.db")));
                let graph = graph(*kind).with_checkpointer(Arc::new(saver));
                let config = RunConfig::on("counter")
                    .durability(durability)
                    .recursion_limit(u32::MAX);
                let began = Instant::now();
                graph.invoke(Input::value(json!({"n": 0})), config).await.unwrap();
                times[place].push(began.elapsed().as_secs_f64() * 1e6 / TURNS as f64);
            }
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        let plain = median(&mut times[0]);
        for (kind, times) in kinds.iter().zip(&mut times).skip(1) {
            let effect = kind.map_or("none", Effect::as_str);
            let params = serde_json::json!({"durability": name, "effect": effect});
            report(
                "step of a node with an effect",
                params,
                median(times),
                "us/step",
                Some(plain),
            );
        }
    }
}

/// A thread to which every turn adds a message of 1 KiB.
async fn conversation(folder: &Path) {
    let file = folder.join("conversation.db");
    let saver = normal(&file);
    let mut last: Option<Checkpoint> = None;
    let mut turns = Vec::new();
    for n in 0..TURNS {
        let message = json!({"type": "human", "id": format!("m{n}"), "content": "x".repeat(1000)});
        let put = match &last {
            Some(parent) => Draft::after(parent, id(n)).append("messages", vec![message]),
            None => Draft::root(id(n)).set("messages", json!([])),
        };
        let put = put.put();
        last = Some(put.checkpoint.clone());
        let began = Instant::now();
        saver.commit(commit(Vec::new(), put)).await.unwrap();
        turns.push(began.elapsed());
    }
    let tenth = (TURNS / 10) as usize;
    let median = |part: &[Duration]| {
        let mut sorted = part.to_vec();
        sorted.sort();
        sorted[sorted.len() / 2].as_secs_f64() * 1e6
    };
    let (first, end) = (median(&turns[..tenth]), median(&turns[turns.len() - tenth..]));
    let params = |what: &str| serde_json::json!({"turns": TURNS, "message": "1 KiB", "what": what});
    report(
        "growing conversation",
        params("median turn of the last tenth, against the first"),
        end,
        "us/turn",
        Some(first),
    );
    let began = Instant::now();
    let tuple = saver.get(&"bench".into(), "", None).await.unwrap().unwrap();
    let read = began.elapsed().as_secs_f64() * 1e6;
    let whole = serde_json::to_vec(&tuple.checkpoint.channel_values["messages"]).unwrap();
    let began = Instant::now();
    let _: Value = serde_json::from_slice(&whole).unwrap();
    let parse = began.elapsed().as_secs_f64() * 1e6;
    report(
        "growing conversation",
        params("read the newest state, against parsing its JSON"),
        read,
        "us",
        Some(parse),
    );
    drop(saver);
    let bytes = size(&file) as f64 / TURNS as f64;
    report(
        "growing conversation",
        params("file, against the messages"),
        bytes,
        "bytes/turn",
        Some(whole.len() as f64 / TURNS as f64),
    );
}

/// The newest of 1,000 checkpoints, a checkpoint in the middle, the history.
async fn reading(folder: &Path) {
    let file = folder.join("reading.db");
    let saver = normal(&file);
    for (writes, put) in small_steps(0, 1000) {
        saver.commit(commit(writes, put)).await.unwrap();
    }
    drop(saver);
    let thread = "bench".into();
    let began = Instant::now();
    let saver = normal(&file);
    saver.get(&thread, "", None).await.unwrap().unwrap();
    let cold = began.elapsed().as_secs_f64() * 1e6;
    let params = |what: &str| serde_json::json!({"checkpoints": 1000, "what": what});
    let rounds: u32 = 200;
    let conn = Connection::open(&file).unwrap();
    let began = Instant::now();
    for n in 0..rounds {
        let sql = "SELECT id, delta FROM checkpoints WHERE seq = ?1";
        let _: (Vec<u8>, Vec<u8>) = conn
            .prepare_cached(sql)
            .unwrap()
            .query_row([n + 1], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
    }
    let row = began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    report(
        "reading",
        params("open the file and get the newest"),
        cold,
        "us",
        None,
    );
    let began = Instant::now();
    for _ in 0..rounds {
        saver.get(&thread, "", None).await.unwrap().unwrap();
    }
    let warm = began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    report(
        "reading",
        params("get the newest, against reading one row by key"),
        warm,
        "us",
        Some(row),
    );
    let step = ListQuery::new()
        .thread(thread.clone())
        .ns("")
        .filter([("step", json!(500))].into_iter().collect());
    let began = Instant::now();
    for _ in 0..rounds {
        assert_eq!(saver.heads(&step).await.unwrap().len(), 1);
    }
    let found = began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
    report(
        "reading",
        params("find step 500, against reading one row by key"),
        found,
        "us",
        Some(row),
    );
    let all = ListQuery::new().thread(thread.clone());
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(saver.heads(&all).await.unwrap().len(), 1000);
    }
    let heads = began.elapsed().as_secs_f64() * 1e3 / 20.0;
    report(
        "reading",
        params("heads of the whole history, against 1,000 rows by key"),
        heads,
        "ms",
        Some(row),
    );
    let began = Instant::now();
    assert_eq!(saver.list(&all).await.unwrap().len(), 1000);
    report(
        "reading",
        params("the whole history with values"),
        began.elapsed().as_secs_f64() * 1e3,
        "ms",
        None,
    );
    let began = Instant::now();
    saver
        .threads(&superstep::checkpoint::ThreadQuery::default())
        .await
        .unwrap();
    report(
        "reading",
        params("the list of threads"),
        began.elapsed().as_secs_f64() * 1e6,
        "us",
        None,
    );
}

/// One changed channel in a state of many: the cost must follow the change and not the state.
async fn wide(folder: &Path) {
    let mut costs = Vec::new();
    for channels in [10_u64, 1000] {
        let file = folder.join(format!("wide-{channels}.db"));
        let saver = normal(&file);
        let mut root = Draft::root(id(0));
        for n in 0..channels {
            let (channel, node) = (format!("channel {n}"), format!("node {n}"));
            root = root
                .set(&channel, json!({"text": "x".repeat(200)}))
                .sees(&node, &[&channel]);
        }
        let mut last = root.store(&saver, "bench", "").await.unwrap();
        let before = 200 * channels;
        let mut spent = Duration::ZERO;
        for n in 1..=1000 {
            let channel = format!("channel {}", n % channels);
            let draft = Draft::after(&last, id(n))
                .set(&channel, n)
                .sees(&format!("node {}", n % channels), &[&channel]);
            // The engine stamps versions in constant time; this helper does not, so it is left out of the clock.
            let put = draft.put();
            last = put.checkpoint.clone();
            let began = Instant::now();
            saver.commit(commit(Vec::new(), put)).await.unwrap();
            spent += began.elapsed();
        }
        drop(saver);
        costs.push((spent.as_secs_f64() * 1e3, (size(&file) - before) as f64 / 1000.0));
    }
    let params = serde_json::json!({"channels": 1000, "changed": 1, "against": "10 channels"});
    report(
        "wide state",
        params.clone(),
        costs[1].0,
        "us/commit",
        Some(costs[0].0),
    );
    report("wide state", params, costs[1].1, "bytes/commit", Some(costs[0].1));
}

/// What whole workloads of the engine leave on the disk, against the most that is aimed at.
async fn space(folder: &Path) {
    let cases = [
        ("wide", "25x300", 1, 1_000_000.0),
        ("wide", "9x1200", 1, 1_000_000.0),
        ("react", "100", 1, 6_000_000.0),
        ("talk", "", TURNS, TURNS as f64 * 2_200.0),
    ];
    for (name, size_of, runs, limit) in cases {
        let file = folder.join(format!("space-{name}-{size_of}.db"));
        let work = match name {
            "talk" => workloads::talk(),
            _ => workloads::workload(name, size_of),
        };
        let saver = normal(&file);
        let graph = work.graph.with_checkpointer(Arc::new(saver));
        let began = Instant::now();
        for run in 0..runs {
            let input = match name {
                "talk" => workloads::turn(run as usize),
                _ => work.input.clone(),
            };
            let config = RunConfig::on("t").recursion_limit(u32::MAX);
            graph.invoke(Input::Value(input), config).await.unwrap();
        }
        let took = began.elapsed().as_secs_f64() * 1e3;
        drop(graph);
        let params =
            |what: &str| serde_json::json!({"workload": name, "size": size_of, "runs": runs, "what": what});
        report(
            "space",
            params("file, against the goal"),
            size(&file) as f64,
            "bytes",
            Some(limit),
        );
        report("space", params("time of the runs"), took, "ms", None);
    }
}

/// Lists among 10,000 threads, against reading the newest checkpoint of one.
async fn threads(folder: &Path) {
    const THREADS: u64 = 10_000;
    let saver = normal(folder.join("threads.db"));
    let text = "the same long greeting, ".repeat(100);
    let made = (0..THREADS).map(|n| {
        let put = Draft::root(id(n)).set("messages", vec![json!(text)]).put();
        saver.commit(Commit {
            claim: None,
            thread: format!("customer {n}").into(),
            ns: "".into(),
            writes: Vec::new(),
            put: Some(put),
        })
    });
    for outcome in join_all(made).await {
        outcome.unwrap();
    }
    let began = Instant::now();
    saver.get(&"customer 77".into(), "", None).await.unwrap().unwrap();
    let one = began.elapsed().as_secs_f64() * 1e3;
    let page = superstep::checkpoint::ThreadQuery::new().limit(50);
    let found = page.clone().search("CUSTOMER 777".to_owned());
    let waiting = page
        .clone()
        .status(superstep::checkpoint::ThreadStatus::Interrupted);
    for (what, query, count) in [
        ("the first 50", &page, 50),
        ("a search", &found, 11),
        ("none of a status", &waiting, 0),
    ] {
        let began = Instant::now();
        assert_eq!(saver.threads(query).await.unwrap().len(), count);
        let took = began.elapsed().as_secs_f64() * 1e3;
        let params = serde_json::json!({"threads": THREADS, "what": what, "against": "one checkpoint"});
        report("threads", params, took, "ms", Some(one));
    }
    let began = Instant::now();
    let usage = saver.usage().await.unwrap();
    let params = |what: &str| serde_json::json!({"threads": THREADS, "what": what});
    report(
        "threads",
        params("usage of all"),
        began.elapsed().as_secs_f64() * 1e3,
        "ms",
        None,
    );
    report(
        "threads",
        params("saved by sharing"),
        usage.shared as f64,
        "bytes",
        None,
    );
    let began = Instant::now();
    assert!(saver.verify(false).await.unwrap().is_sound());
    report(
        "threads",
        params("check everything"),
        began.elapsed().as_secs_f64() * 1e3,
        "ms",
        None,
    );
}

/// Five thousand threads that ask, among as many that do not: counting, a page, all of them, and what asking costs a commit.
async fn waiting(folder: &Path) {
    let (postgres, redis) = (Postgres::start(), Redis::start());
    let mut savers: Vec<(&str, Arc<dyn Checkpointer>)> = vec![
        ("memory", Arc::new(MemorySaver::new())),
        ("sqlite", Arc::new(normal(folder.join("waiting.db")))),
        (
            "file",
            Arc::new(
                FileSaver::open_with(
                    folder.join("waiting"),
                    FileOptions::default().synchronous(Synchronous::Normal),
                )
                .unwrap(),
            ),
        ),
    ];
    if let Some(server) = &postgres {
        savers.push((
            "postgres",
            Arc::new(PostgresSaver::open(server.url()).await.unwrap()),
        ));
    }
    if let Some(server) = &redis {
        savers.push(("redis", Arc::new(RedisSaver::open(server.url()).await.unwrap())));
    }
    for (name, saver) in savers {
        let (mut asking, mut quiet) = (0.0, 0.0);
        for n in 0..10_000_u64 {
            let put = Draft::root(id(n)).set("n", n).put();
            let checkpoint = put.checkpoint.clone();
            let thread = format!("0190b000-0000-7000-8000-{n:012x}");
            let (channel, idx) = if n % 2 == 0 {
                ("__interrupt__", -3)
            } else {
                ("n", 0)
            };
            let write = TaskWrites {
                checkpoint_id: checkpoint.id.clone(),
                task_id: TaskId::new("0190c000-0000-8000-8000-000000000001"),
                task_path: "~__pregel_pull, ask".into(),
                writes: vec![Write {
                    idx,
                    channel: channel.into(),
                    value: json!([{"value": "how?"}]),
                }],
            };
            let first = Commit {
                claim: None,
                thread: thread.as_str().into(),
                ns: "".into(),
                writes: Vec::new(),
                put: Some(put),
            };
            saver.commit(first).await.unwrap();
            let began = Instant::now();
            let second = Commit {
                claim: None,
                thread: thread.as_str().into(),
                ns: "".into(),
                writes: vec![write],
                put: None,
            };
            saver.commit(second).await.unwrap();
            *(if n % 2 == 0 { &mut asking } else { &mut quiet }) += began.elapsed().as_secs_f64();
        }
        let page = |limit| WaitingQuery::new().limit(limit).after((id(5_000), "".into()));
        let (mut counts, mut pages, mut all) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..21 {
            let began = Instant::now();
            assert_eq!(saver.count_waiting().await.unwrap(), 5_000);
            counts.push(began.elapsed().as_secs_f64());
            let began = Instant::now();
            assert_eq!(saver.waiting(&page(Some(100))).await.unwrap().len(), 100);
            pages.push(began.elapsed().as_secs_f64());
            let began = Instant::now();
            assert_eq!(
                saver.waiting(&WaitingQuery::default()).await.unwrap().len(),
                5_000
            );
            all.push(began.elapsed().as_secs_f64());
        }
        for (what, mut times, limit) in [
            ("count", counts, 1.0),
            ("page of 100", pages, 5.0),
            ("all 5,000", all, 50.0),
        ] {
            times.sort_by(f64::total_cmp);
            let params =
                serde_json::json!({"backend": name, "what": what, "waiting": 5_000, "threads": 10_000});
            report(
                "waiting",
                params,
                times[times.len() / 2] * 1000.0,
                "ms",
                Some(limit),
            );
        }
        let params =
            serde_json::json!({"backend": name, "what": "a commit that asks, beside one that does not"});
        report("waiting", params, asking * 200.0, "µs", Some(quiet * 200.0));
    }
}
