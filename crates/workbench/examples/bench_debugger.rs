//! What a debugger's questions cost, as `./dev bench debugger` prints it: one JSON object a line.
//!
//! Recording is compared with the same runs without it (`limit`, by turns in the same process). One database holds a thread
//! of 5,000 checkpoints with 40 branches and a state of 200 kB, and 10,000 threads of 20 checkpoints of 4 KB. Questions about
//! the one thread are compared with 200 ms, which is what a person may wait, and a chain of writes with reading the whole
//! history. Searches over all threads are compared with what a person may wait for the first rows, with the same search
//! without an index, and with `grep` over the texts in one file. `--small` asks of a tenth of it, which shows that everything works and says nothing about speed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]
#![allow(clippy::too_many_lines, reason = "a benchmark tells one story")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use superstep::checkpoint::{
    Change, ChannelValues, Checkpoint, Commit, ListQuery, Metadata, Put, Source, TaskRecord, reserved,
};
use superstep::{Checkpointer, Graph, Input, MemorySaver, Name, RunConfig};
use superstep_document::Document;
use superstep_nodes::{Environment, Grants, Registry};
use superstep_workbench::wire::AppEvent;
use superstep_workbench::{Options, Workbench};

/// The allocator of the window and the command line.
#[cfg_attr(not(test), global_allocator)]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Turns of a loop that is recorded, and rounds of which the middle one counts.
const TURNS: usize = 500;
const ROUNDS: usize = 7;
/// Milliseconds that a question about one thread may take.
const WAIT: f64 = 200.0;
/// Milliseconds until the first rows of a question about all threads.
const WALK: f64 = 500.0;

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
        let (checkpoints, threads) = if small { (500, 1_000) } else { (5_000, 10_000) };
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export.txt");
        fill(folder.path(), &export, threads).await;
        let options = Options::new(folder.path().to_path_buf());
        let workbench = Workbench::open(options).await.unwrap();
        questions(&workbench, folder.path(), checkpoints).await;
        searches(&workbench, folder.path(), &export, threads).await;
        walks(&workbench, threads).await;
        workbench.shutdown().await;
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

/// A loop that adds to `n`, whose edges read it, until it is so large. `items` is state that nothing reads.
fn counter(turns: usize) -> Json {
    json!({
        "format": "superstep/1",
        "name": "Counter",
        "recursion_limit": 100_000,
        "state": {
            "n": {"type": "integer", "default": 0, "invariants": [{"must": "new < 1000000"}]},
            "last": {"type": "string"},
            "items": {"type": "array", "default": []},
        },
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
        let writes = (tuple.pending_writes.iter()).map(|row| &row.write);
        for write in writes.filter(|write| &*write.channel == reserved::RECORD) {
            let decisions = TaskRecord::from_value(&write.value).decisions.len().max(1);
            sizes.push(write.value.to_string().len() as f64 / decisions as f64);
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

/// Branches of the long thread, and steps that each of them takes.
const BRANCHES: usize = 40;
const BRANCH: usize = 10;

/// Runs a graph and waits for the end; returns its thread.
async fn run(workbench: &Arc<Workbench>, request: Json) -> String {
    let mut events = workbench.subscribe();
    let started = workbench.call("run.start", request).await.unwrap();
    let is_ended = |event: &AppEvent| matches!(event, AppEvent::Run { run } if run.ended_at.is_some());
    while !events.next().await.unwrap().events.iter().any(is_ended) {}
    started["threadId"].as_str().unwrap().to_owned()
}

async fn questions(workbench: &Arc<Workbench>, folder: &Path, checkpoints: usize) {
    let file = folder.join("graph.json");
    std::fs::write(&file, counter(checkpoints).to_string()).unwrap();
    let call = async |command: &str, request: Json| match workbench.call(command, request).await {
        Ok(answer) => answer,
        Err(problem) => panic!("{command}: {problem:?}"),
    };
    let graph = call("graph.open", json!({"path": file})).await["graphId"].clone();
    let items: Vec<Json> = (0..200)
        .map(|id| json!({"id": id, "text": "x".repeat(980)}))
        .collect();
    let input = json!({"type": "input", "input": {"n": 0, "items": items}});
    let thread = run(workbench, json!({"graphId": graph, "action": input})).await;
    let list = json!({"threadId": thread, "limit": 5000});
    let steps = call("thread.checkpoints", list).await["checkpoints"].clone();
    let steps = steps.as_array().unwrap();
    // The newest branch leaves at the end, so that its path is as long as the thread.
    for branch in 0..BRANCHES {
        let at = &steps[(BRANCHES - branch) * (steps.len() - 1) / (BRANCHES + 1)]["id"];
        let fork = json!({"threadId": thread, "graphId": graph, "checkpointId": at, "asNode": "add",
            "values": {"n": checkpoints - BRANCH}});
        call("thread.update", fork).await;
        let go_on = json!({"graphId": graph, "threadId": thread, "action": {"type": "continue"}});
        run(workbench, go_on).await;
    }
    let tip =
        call("thread.checkpoints", json!({"threadId": thread, "limit": 1})).await["checkpoints"][0]["id"]
            .clone();

    let params = format!("{checkpoints} checkpoints, {BRANCHES} branches, 200 kB");
    let ask_within = async |limit: f64, workload: &str, command: &str, more: Json| {
        let mut request = json!({"threadId": thread});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let mut times = Vec::new();
        for _ in 0..3 {
            let began = Instant::now();
            call(command, request.clone()).await;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let took = middle(times);
        print(workload, &params, took, "ms", limit);
        took
    };
    let ask =
        async |workload: &str, command: &str, more: Json| ask_within(WAIT, workload, command, more).await;
    let middle_one = &steps[steps.len() / 2]["id"];
    ask(
        "state of a moment",
        "thread.snapshot",
        json!({"checkpointId": middle_one}),
    )
    .await;
    ask("fork map", "thread.checkpoints", json!({"limit": 5000})).await;
    ask(
        "history of a key, its newest 100 writes",
        "thread.keyHistory",
        json!({"key": "n"}),
    )
    .await;
    let first = json!({"key": "n", "limit": 1, "firstWhere": format!("value > {}", checkpoints / 2)});
    ask("first write where a condition held", "thread.keyHistory", first).await;
    ask("trace", "thread.trace", json!({})).await;
    ask("visits of a node", "node.visits", json!({"node": "add"})).await;
    ask(
        "history of a watch",
        "watch.history",
        json!({"expression": "state.n > 100"}),
    )
    .await;
    let chain = ask(
        "who wrote a value, 25 writes",
        "thread.provenance",
        json!({"pointer": "/last"}),
    )
    .await;
    let long = json!({"pointer": "/last", "limit": 500});
    ask("who wrote a value, 500 writes", "thread.provenance", long).await;
    let left = json!({"threadId": thread, "checkpointId": steps[0]["id"]});
    let right = json!({"threadId": thread, "checkpointId": tip});
    ask(
        "two ends compared",
        "thread.compare",
        json!({"left": left, "right": right}),
    )
    .await;
    // These look at the threads of all graphs; the first answer has the long thread, which is the newest.
    let all = json!({"graphId": graph});
    ask_within(WALK, "invariants, first rows", "invariants.check", all).await;
    let edge = json!({"graphId": graph, "edge": "add->add", "expression": "state.n < 10"});
    ask_within(
        WALK,
        "another expression on an edge, first rows",
        "edge.reconsider",
        edge,
    )
    .await;
    let url = format!("sqlite:{}", folder.join("threads.db").display());
    let saver = superstep_storage::open(&url).await.unwrap().checkpointer;
    let query = ListQuery::new().thread(thread.as_str());
    let began = Instant::now();
    assert!(saver.list(&query).await.unwrap().len() > checkpoints);
    let whole = began.elapsed().as_secs_f64() * 1e3;
    let beside = "who wrote a value, beside the whole history";
    print(beside, &params, chain, "ms", whole);
}

/// Checkpoints of a thread of the desk, and bytes that each of them writes.
const STEPS: i64 = 20;
const TEXT: usize = 4096;

/// A text of words, most of them rare, as texts are.
fn text(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::with_capacity(TEXT + 8);
    while text.len() < TEXT {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // The lower the number, the more often it comes.
        let word = (state % 60_000) * ((state >> 32) % 1000) / 1000;
        let _ = write!(text, "w{word} ");
    }
    text
}

/// Stores a thread whose steps write a text each; the graph is not run.
fn thread(number: u64) -> Vec<Commit> {
    let id = |step: i64| format!("{:08x}-{:04x}-7000-8000-000000000000", number, step + 1);
    let commit = |step: i64| {
        let mut text = text(number * 64 + step.unsigned_abs());
        if step == 7 && number % 1000 == 3 {
            text.push_str("needle");
        }
        let state = [("text", superstep::Value::from(text)), ("n", step.into())];
        let values: ChannelValues = state
            .into_iter()
            .map(|(key, value)| (Name::from(key), value))
            .collect();
        let keys: Vec<Name> = vec!["text".into(), "n".into()];
        let checkpoint = Checkpoint {
            id: id(step).as_str().into(),
            parent: (step > -1).then(|| id(step - 1).as_str().into()),
            ts: superstep::run::iso8601(1_700_000_000_000 + number * 1000),
            channel_versions: keys
                .iter()
                .map(|key| (key.clone(), (step + 2).unsigned_abs()))
                .collect(),
            channel_values: values,
            versions_seen: Default::default(),
            updated_channels: Some(keys.clone()),
            metadata: Metadata {
                source: if step < 0 { Source::Input } else { Source::Loop },
                step,
                parents: Default::default(),
                user: Default::default(),
            },
            next: if step + 2 < STEPS {
                vec!["write".into()]
            } else {
                Vec::new()
            },
        };
        let change = |channel: &Name| Change {
            channel: channel.clone(),
            appended_from: None,
        };
        Commit {
            thread: format!("t{number}").as_str().into(),
            ns: "".into(),
            writes: Vec::new(),
            put: Some(Put {
                changes: keys.iter().map(change).collect(),
                seen: Vec::new(),
                checkpoint,
            }),
            claim: None,
        }
    };
    (-1..STEPS - 1).map(commit).collect()
}

/// Milliseconds to the first answer with a result and to the end, results, and threads that were read.
async fn search(workbench: &Arc<Workbench>, command: &str, mut request: Json) -> (f64, f64, usize, u64) {
    let list = if command == "node.probe" {
        "visits"
    } else {
        "moments"
    };
    let (began, mut first, mut found, mut read) = (Instant::now(), None, 0, 0);
    loop {
        let answer = workbench.call(command, request.clone()).await.unwrap();
        found += answer[list].as_array().unwrap().len();
        read += answer["progress"]["searched"].as_u64().unwrap();
        if found > 0 && first.is_none() {
            first = Some(began.elapsed().as_secs_f64() * 1e3);
        }
        match answer["progress"].get("next") {
            Some(next) => request["after"] = next.clone(),
            None => break,
        }
    }
    let whole = began.elapsed().as_secs_f64() * 1e3;
    (first.unwrap_or(whole), whole, found, read)
}

fn size(folder: &Path) -> f64 {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    files.map(|file| file.metadata().unwrap().len() as f64).sum()
}

/// Fills a database with threads, and a file with their texts.
async fn fill(folder: &Path, export: &Path, threads: u64) {
    let url = format!("sqlite:{}", folder.join("threads.db").display());
    let saver = superstep_storage::open(&url).await.unwrap().checkpointer;
    let mut lines = String::new();
    for number in 0..threads {
        let commits = thread(number);
        for commit in &commits {
            let values = &commit.put.as_ref().unwrap().checkpoint.channel_values;
            let text = values.get("text").and_then(superstep::Value::as_str).unwrap();
            let _ = writeln!(lines, "{text}");
        }
        saver.commit_all(commits).await.unwrap();
    }
    std::fs::write(export, lines).unwrap();
}

async fn searches(workbench: &Arc<Workbench>, folder: &Path, export: &Path, threads: u64) {
    let params = format!("{threads} threads of {STEPS} checkpoints of 4 KB");
    let words = |words: &str| json!({"words": words});
    let scan = search(workbench, "moments.find", words("needle")).await;
    let began = Instant::now();
    loop {
        let answer = workbench.call("moments.find", words("needle")).await.unwrap();
        if answer["progress"]["index"]["behind"] == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let built = began.elapsed().as_secs_f64();
    let texts = std::fs::metadata(export).unwrap().len() as f64;
    print("index, texts a second", &params, texts / built / 1e6, "MB/s", 1.0);
    print(
        "index, its size beside the texts",
        &params,
        size(&folder.join("search")),
        "bytes",
        1.5 * texts,
    );
    let (first, whole, found, read) = search(workbench, "moments.find", words("needle")).await;
    assert_eq!(
        (found, read),
        (scan.2, scan.2 as u64),
        "only threads that have the word are read"
    );
    print("words, first rows", &params, first, "ms", 300.0);
    print("words, beside reading every thread", &params, whole, "ms", scan.1);
    let began = Instant::now();
    let grep = std::process::Command::new("grep")
        .args(["-c", "needle"])
        .arg(export)
        .output()
        .unwrap();
    let lines: usize = String::from_utf8_lossy(&grep.stdout).trim().parse().unwrap();
    assert_eq!(lines, found);
    print(
        "words, beside grep over the texts",
        &params,
        whole,
        "ms",
        began.elapsed().as_secs_f64() * 1e3,
    );
    let (first, ..) = search(workbench, "moments.find", words("w1 w2")).await;
    print("frequent words, first rows", &params, first, "ms", 300.0);
}

/// Walks over all threads, when the index is built: nothing else is at work.
async fn walks(workbench: &Arc<Workbench>, threads: u64) {
    let params = format!("{threads} threads of {STEPS} checkpoints of 4 KB");
    let condition = json!({"firstWhere": "state.n == 12"});
    let (first, whole, found, _) = search(workbench, "moments.find", condition).await;
    // The long thread has such a step, too.
    assert_eq!(found as u64, threads + 1);
    print("first step where, first rows", &params, first, "ms", WALK);
    print(
        "first step where, checkpoints a second",
        &params,
        (threads * 14) as f64 / whole * 1e3,
        "1/s",
        20_000.0,
    );
    let condition = json!({"firstWhere": "state|length and state.n == 12"});
    let (_, all_keys, ..) = search(workbench, "moments.find", condition).await;
    print(
        "first step where, beside reading whole states",
        &params,
        whole,
        "ms",
        all_keys,
    );
    // As many to an answer as the window asks for.
    let probe = json!({"node": "write", "expression": "state.n", "limit": 2000});
    let (first, whole, visits, _) = search(workbench, "node.probe", probe).await;
    print("probe, first rows", &params, first, "ms", WALK);
    print(
        "probe, visits a second",
        &params,
        visits as f64 / whole * 1e3,
        "1/s",
        20_000.0,
    );
    let probe = json!({"node": "write", "expression": "state|length * 0 + state.n", "limit": 2000});
    let (_, all_keys, ..) = search(workbench, "node.probe", probe).await;
    print(
        "probe, beside reading whole states",
        &params,
        whole,
        "ms",
        all_keys,
    );
}
