//! What nodes cost, as `./dev bench nodes` prints it: one JSON object a line.
//!
//! Every figure is the fastest of several rounds and is compared with what it is made of in the same run (`limit`): the bare
//! interpreter, a plain insert, a plain reader. Read the ratios; a shared machine makes of absolute times what it wants.
//!
//! `bench_nodes NAME…` runs only the groups that are named: `calls` (of it `javascript` alone), `stream`, `search`; with
//! `--small` on a tenth of the data, which shows that everything works and says nothing about speed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at the first surprise"
)]
#![allow(clippy::too_many_lines, reason = "a benchmark tells one story")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use futures::StreamExt;
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use superstep::{Graph, Input, RunConfig, StreamMode, Value};
use superstep_document::Document;
use superstep_nodes::expression::{Expression, Scope, Template};
use superstep_nodes::models::{ModelRequest, Providers};
use superstep_nodes::search::reader::ReaderProgram;
use superstep_nodes::search::{Embedder, Folders, Mode, NGRAMS, Search};
use superstep_nodes::{Environment, Grants, ModelSettings, Registry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

const SIZES: [(usize, &str); 2] = [(10 * 1024, "10 KiB"), (1024 * 1024, "1 MiB")];

fn main() {
    // HTML is read, and JavaScript run, by this program started once more.
    superstep_nodes::serve_if_asked();
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    let small = asked.iter().any(|one| one == "--small");
    asked.retain(|one| one != "--small");
    let part = if small { 10 } else { 1 };
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|one| one == name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        if wanted("calls") {
            expressions();
            for (size, name) in SIZES {
                javascript(size, name).await;
                python(size, name).await;
            }
        } else if wanted("javascript") {
            for (size, name) in SIZES {
                javascript(size, name).await;
            }
        }
        if wanted("stream") {
            stream(20_000 / part).await;
            recorded_stream(20_000 / part).await;
        }
        if wanted("search") {
            search(2000 / part).await;
        }
    });
}

fn print(workload: &str, params: &str, value: f64, unit: &str, limit: Option<f64>) {
    let round = |x: f64| (x * 1e4).round() / 1e4;
    let line = json!({
        "bench": "nodes", "workload": workload, "params": params, "value": round(value), "unit": unit,
        "limit": limit.map(round), "ratio": limit.map(|limit| round(value / limit)),
    });
    println!("{line}");
}

/// The fastest of the rounds that fit into the budget, three at least, in microseconds for each of `per`.
fn fastest(per: usize, mut work: impl FnMut()) -> f64 {
    let (began, mut best, mut rounds) = (Instant::now(), f64::MAX, 0);
    while rounds < 4 || began.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        work();
        // The first round warms up.
        if rounds > 0 {
            best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
        rounds += 1;
    }
    best / per as f64
}

async fn fastest_run<F: AsyncFnMut()>(per: usize, mut work: F) -> f64 {
    let (began, mut best, mut rounds) = (Instant::now(), f64::MAX, 0);
    while rounds < 4 || began.elapsed() < Duration::from_millis(800) {
        let start = Instant::now();
        work().await;
        if rounds > 0 {
            best = best.min(start.elapsed().as_secs_f64() * 1e6);
        }
        rounds += 1;
    }
    best / per as f64
}

/// A state of about this many bytes as JSON: a conversation, and a number that the work is about.
fn state(bytes: usize) -> Json {
    let text = "Somebody says a sentence of a usual length, and then another one. ".repeat(3);
    let messages: Vec<Json> = (0..(bytes / 270).max(1))
        .map(|n| json!({"type": "human", "id": format!("m{n}"), "content": text}))
        .collect();
    json!({"n": 1, "messages": messages})
}

/// JSON as the engine of expressions has it by itself.
fn jinja(json: &Json) -> minijinja::Value {
    match json {
        Json::Null => minijinja::Value::from(()),
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(jinja).collect::<Vec<_>>().into(),
        Json::Object(members) => {
            minijinja::Value::from_pairs(members.iter().map(|(name, value)| (name.as_str(), jinja(value))))
        }
    }
}

/// An expression and a template, beside the engine of both called directly.
fn expressions() {
    const CALLS: usize = 1000;
    let json = state(10 * 1024);
    let value = Value::from(json.clone());
    let mut environment = minijinja::Environment::new();
    for (name, source) in [
        ("expression", "state.n + 1 if state.messages|length > 3 else 0"),
        ("expression, last message", "state.messages[-1].content|upper"),
    ] {
        let compiled = Expression::compile(source, "bench").unwrap();
        let ours = fastest(CALLS, || {
            for _ in 0..CALLS {
                black_box(compiled.eval(&Scope::new(black_box(&value))).unwrap());
            }
        });
        let bare = environment.compile_expression(source).unwrap();
        let state = jinja(&json!({"state": json}));
        let floor = fastest(CALLS, || {
            for _ in 0..CALLS {
                black_box(bare.eval(black_box(&state)).unwrap());
            }
        });
        print(name, "10 KiB", ours, "us", Some(floor));
    }
    let source = "{% for m in state.messages %}{{ m.type }}: {{ m.content }}\n{% endfor %}";
    let compiled = Template::compile(source, "bench").unwrap();
    let ours = fastest(CALLS, || {
        for _ in 0..CALLS {
            black_box(compiled.render(&Scope::new(black_box(&value))).unwrap());
        }
    });
    environment.add_template("t", source).unwrap();
    let bare = environment.get_template("t").unwrap();
    let state = jinja(&json!({"state": json}));
    let floor = fastest(CALLS, || {
        for _ in 0..CALLS {
            black_box(bare.render(black_box(&state)).unwrap());
        }
    });
    print("template", "10 KiB", ours, "us", Some(floor));
}

fn graph(document: &Json, environment: &Environment) -> Graph {
    graph_of(&Registry::standard(), document, environment)
}

fn graph_of(registry: &Registry, document: &Json, environment: &Environment) -> Graph {
    let (document, problems) = Document::parse(&document.to_string());
    assert!(problems.is_empty(), "{problems:?}");
    registry.build(&document, environment).unwrap().graph
}

async fn run(graph: &Graph, input: Value) {
    graph
        .invoke(Input::value(input), RunConfig::default().recursion_limit(10_000))
        .await
        .unwrap();
}

/// A loop of one node that adds one to `n`.
struct Turns {
    graph: Graph,
    input: Value,
    _project: tempfile::TempDir,
}

impl Turns {
    const COUNT: usize = 100;

    fn of(registry: &Registry, kind: &str, config: Json, bytes: usize) -> Self {
        let route = format!("'on' if state.n < {} else 'end'", Self::COUNT);
        let document = json!({
            "format": "superstep/1", "name": "calls",
            "state": {"n": {"type": "integer"}, "messages": {"type": "array"}},
            "nodes": {"work": {"kind": kind, "config": config}},
            "edges": [{"from": "__start__", "to": "work"},
                {"from": "work", "route": route, "paths": {"on": "work", "end": "__end__"}}]});
        let project = tempfile::tempdir().unwrap();
        let environment = Environment::new(Some(project.path().to_owned())).with_grants(Grants::all());
        let mut state = state(bytes);
        state["n"] = 0.into();
        Self {
            graph: graph_of(registry, &document, &environment),
            input: Value::from(state),
            _project: project,
        }
    }

    async fn run(&self) {
        run(&self.graph, self.input.clone()).await;
    }

    /// Microseconds for each turn, with its super-step and its edge.
    async fn fastest(&self) -> f64 {
        fastest_run(Self::COUNT, async || self.run().await).await
    }

    /// The same for this one and another in turns: what else the machine does meets both. The median of eleven rounds each.
    async fn beside(&self, other: &Self) -> (f64, f64) {
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for round in 0..12 {
            for (turns, times) in [(self, &mut ours), (other, &mut others)] {
                let start = Instant::now();
                turns.run().await;
                // The first round warms up.
                if round > 0 {
                    times.push(start.elapsed().as_secs_f64() * 1e6 / Self::COUNT as f64);
                }
            }
        }
        let median = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        (median(ours), median(others))
    }
}

async fn turns(kind: &str, config: Json, bytes: usize) -> f64 {
    Turns::of(&Registry::standard(), kind, config, bytes)
        .fastest()
        .await
}

/// A code node that looks at the state and adds one, beside the interpreter alone, and a node without a program; and the
/// same on a thread of this process, which cannot be ended by force.
async fn javascript(bytes: usize, name: &str) {
    let source = "return {n: state.n + (state.messages[0].content.length > 0 ? 1 : 0)};";
    let pooled = Turns::of(&Registry::standard(), "code", json!({"source": source}), bytes);
    let threads = Registry::standard().with_javascript(None);
    let threaded = Turns::of(&threads, "code", json!({"source": source}), bytes);
    let code = pooled.fastest().await;
    let (pool, thread) = pooled.beside(&threaded).await;
    let assign = turns("assign", json!({"set": {"n": "state.n + 1"}}), bytes).await;
    let bare = bare_javascript(source, &state(bytes).to_string());
    print("step of `assign`", name, assign, "us", None);
    print("step of JavaScript", name, code, "us", Some(bare));
    print("step of JavaScript on a thread", name, thread, "us", Some(bare));
    // Above 1.2 at 10 KiB a change of QuickJS would be worth more than the pool of processes.
    print(
        "JavaScript in the pool beside a thread",
        name,
        pool,
        "us",
        Some(thread),
    );
    print(
        "JavaScript beyond `assign`",
        name,
        (code - assign).max(0.0),
        "us",
        Some(bare),
    );
}

/// The same in Python, in the worker of the interpreter that is installed, beside that interpreter calling the function.
async fn python(bytes: usize, name: &str) {
    let source = "return {'n': state['n'] + (1 if state['messages'][0]['content'] else 0)}";
    let Some(bare) = bare_python(source, &state(bytes).to_string()) else {
        eprintln!("There is no python3, so nothing is said about it.");
        return;
    };
    let code = turns("code", json!({"language": "python", "source": source}), bytes).await;
    print("step of Python", name, code, "us", Some(bare));
}

/// The interpreter alone: a warm function that is given the state as JSON and gives its update as JSON.
fn bare_python(source: &str, state: &str) -> Option<f64> {
    let program = format!(
        "import json, sys, timeit\ndef node(state):\n    {source}\ntext = sys.stdin.read()\n\
         print(min(timeit.repeat(lambda: json.dumps(node(json.loads(text))), number=20, repeat=20)) / 20 * 1e6)"
    );
    let mut child = std::process::Command::new("python3")
        .args(["-c", &program])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    std::io::Write::write_all(&mut child.stdin.take()?, state.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// The interpreter alone: a warm function that is given the state as JSON and gives its update as JSON.
fn bare_javascript(source: &str, state: &str) -> f64 {
    const CALLS: usize = 100;
    let runtime = rquickjs::Runtime::new().unwrap();
    let context = rquickjs::Context::full(&runtime).unwrap();
    context.with(|ctx| {
        let function: rquickjs::Function = ctx.eval(format!("(function (state) {{ {source} }})")).unwrap();
        fastest(CALLS, || {
            for _ in 0..CALLS {
                let state = ctx.json_parse(state).unwrap();
                let update: rquickjs::Value = function.call((state,)).unwrap();
                let text = ctx.json_stringify(update).unwrap().unwrap().to_string().unwrap();
                black_box(serde_json::from_str::<Json>(&text).unwrap());
            }
        })
    })
}

/// A server that streams the same long answer to everybody, as fast as it is taken.
async fn fast_server(pieces: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let piece = json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "choices": [{"index": 0, "delta": {"content": "word "}, "finish_reason": null}]});
    let last = json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let body = format!("data: {piece}\n\n").repeat(pieces) + &format!("data: {last}\n\ndata: [DONE]\n\n");
    let body: Arc<str> = body.into();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let body = body.clone();
            tokio::spawn(async move {
                let mut request = [0; 65536];
                // One small request comes in one piece.
                if matches!(socket.read(&mut request).await, Ok(n) if n > 0) {
                    let head =
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                    // A client that leaves is none of its business.
                    let _ = socket.write_all(head.as_bytes()).await;
                    let _ = socket.write_all(body.as_bytes()).await;
                    let _ = socket.shutdown().await;
                }
            });
        }
    });
    url
}

/// Microseconds for a frame of the stream of `url` that is read as JSON: what any client has to do.
async fn frames_as_json(url: &str, pieces: usize) -> f64 {
    let client = reqwest::Client::new();
    fastest_run(pieces, async || {
        let response = client
            .post(format!("{url}chat/completions"))
            .body("{}")
            .send()
            .await
            .unwrap();
        let mut bytes = response.bytes_stream();
        let (mut rest, mut words) = (Vec::new(), 0);
        while let Some(some) = bytes.next().await {
            rest.extend_from_slice(&some.unwrap());
            let mut done = 0;
            while let Some(end) = rest[done..].windows(2).position(|two| two == b"\n\n") {
                let frame = &rest[done..done + end];
                let json = serde_json::from_slice::<Json>(frame.strip_prefix(b"data: ").unwrap_or(frame));
                words +=
                    usize::from(json.is_ok_and(|json| json["choices"][0]["delta"]["content"].is_string()));
                done += end + 2;
            }
            rest.drain(..done);
        }
        assert_eq!(words, pieces);
    })
    .await
}

/// The reading of a recorded stream, without a graph, beside reading its frames as JSON.
async fn recorded_stream(pieces: usize) {
    let url = fast_server(pieces).await;
    let models: ModelSettings =
        serde_json::from_value(json!({"connections": {"fast": {"provider": "openai", "base_url": url}}}))
            .unwrap();
    let providers = Providers::new(Arc::new(|_| None), Arc::new(models)).with_grants(Grants::all());
    let request = ModelRequest {
        messages: vec![superstep::json!({"type": "human", "content": "Go"})],
        ..ModelRequest::default()
    };
    let ours = fastest_run(pieces, async || {
        let mut answer = providers.ask("fast::m", &request).await.unwrap();
        let mut seen = 0;
        while let Some(piece) = answer.next().await.unwrap() {
            seen += 1;
            black_box(piece);
        }
        assert_eq!(answer.into_answer().text.len(), 5 * pieces);
        assert!(seen >= pieces);
    })
    .await;
    let parsed = frames_as_json(&url, pieces).await;
    print(
        "reading a recorded stream",
        "beside its frames as JSON",
        ours,
        "us",
        Some(parsed),
    );
}

/// Tokens a second from a server's socket to a reader of the run's `messages`, beside a reader of the bare bytes.
async fn stream(pieces: usize) {
    let url = fast_server(pieces).await;
    let models: ModelSettings =
        serde_json::from_value(json!({"connections": {"fast": {"provider": "openai", "base_url": url}}}))
            .unwrap();
    let environment = Environment::default()
        .with_models(models)
        .with_grants(Grants::all());
    let document = json!({
        "format": "superstep/1", "name": "stream", "state": {"answer": {"type": "string"}},
        "nodes": {"ask": {"kind": "model", "config": {"model": "fast::m", "prompt": "Go", "into": "answer"}}},
        "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}]});
    let graph = graph(&document, &environment);
    let ours = fastest_run(pieces, async || {
        let config = RunConfig::default().modes([StreamMode::Messages]);
        let mut run = graph.stream(Input::value(superstep::json!({})), config);
        let mut seen = 0;
        while let Some(event) = run.next().await {
            seen += 1;
            black_box(event);
        }
        run.finish().await.unwrap();
        assert!(seen > pieces);
    })
    .await;
    let client = reqwest::Client::new();
    let plain = fastest_run(pieces, async || {
        let response = client
            .post(format!("{url}chat/completions"))
            .body("{}")
            .send()
            .await
            .unwrap();
        let mut bytes = response.bytes_stream();
        let mut size = 0;
        while let Some(some) = bytes.next().await {
            size += some.unwrap().len();
        }
        assert!(size > pieces * 100);
    })
    .await;
    let parsed = frames_as_json(&url, pieces).await;
    print(
        "tokens through a graph",
        &format!("{pieces} tokens"),
        1e6 / ours,
        "tokens/s",
        Some(1e6 / plain),
    );
    print(
        "a token through a graph",
        "beside plain bytes",
        ours,
        "us",
        Some(plain),
    );
    print(
        "a token through a graph",
        "beside frames read as JSON",
        ours,
        "us",
        Some(parsed),
    );
    // A usual fast model says a hundred tokens a second.
    print(
        "share of time that is ours",
        "at 100 tokens/s",
        ours / 1e4 * 100.0,
        "%",
        None,
    );
}

fn written(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
}

fn asking(place: &Path, mode: Mode) -> Search {
    let providers = Providers::new(Arc::new(|_| None), Arc::default());
    Search {
        place: place.to_owned(),
        files: vec![],
        query: "brake pads of page 76".into(),
        limit: 5,
        mode,
        embedder: Embedder::of(NGRAMS, &Arc::new(providers)),
        size: 2000,
        overlap: 200,
    }
}

async fn searched(folders: &Arc<Folders>, search: Search) -> f64 {
    let (folders, runtime) = (folders.clone(), Handle::current());
    let work = move || {
        let start = Instant::now();
        let found = folders.search(&search, &runtime, &|_| {}, &|| false).unwrap();
        assert!(
            !found.hits.is_empty() && found.problems.is_empty(),
            "{:?}",
            found.problems
        );
        start.elapsed().as_secs_f64()
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Indexing a folder, finding that nothing has changed, and searching it.
async fn search(files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (markdown, html) = (folder.path().join("markdown"), folder.path().join("html"));
    let mut texts = Vec::new();
    for n in 0..files {
        let section = |part: usize| {
            let words: Vec<String> = (0..60)
                .map(|word| format!("word{}", (n * 31 + part * 7 + word * word) % 5000))
                .collect();
            format!(
                "## Part {part}\n\nBrake pads of page {n}: {}.\n\n",
                words.join(" ")
            )
        };
        let text = format!("# Page {n}\n\n{}", (0..10).map(section).collect::<String>());
        written(&markdown, &format!("d{}/page-{n}.md", n % 40), &text);
        if n % 4 == 0 {
            let line = |line: &str| match line.split_once("# ") {
                Some(("", title)) => format!("<h1>{title}</h1>\n"),
                Some(("#", title)) => format!("<h2>{title}</h2>\n"),
                _ => format!("<p>{line}</p>\n"),
            };
            let lines = text.lines().filter(|line| !line.is_empty());
            let body: String = lines.map(line).collect();
            written(
                &html,
                &format!("page-{n}.html"),
                &format!("<html><body>{body}</body></html>"),
            );
        }
        texts.push(text);
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    let mb = bytes as f64 / 1e6;
    // What SQLite takes to index the texts whole, and nothing else.
    let plain = {
        let start = Instant::now();
        let mut db = Connection::open(folder.path().join("plain.db")).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.pragma_update(None, "synchronous", "OFF").unwrap();
        db.execute_batch(
            "CREATE VIRTUAL TABLE t USING fts5(text, tokenize = \"porter unicode61 remove_diacritics 2\")",
        )
        .unwrap();
        for some in texts.chunks(64) {
            let transaction = db.transaction().unwrap();
            for text in some {
                transaction
                    .prepare_cached("INSERT INTO t VALUES (?1)")
                    .unwrap()
                    .execute([text])
                    .unwrap();
            }
            transaction.commit().unwrap();
        }
        start.elapsed().as_secs_f64()
    };
    let kept = folder.path().join("indexes");
    let folders = || {
        Arc::new(
            Folders::default()
                .kept_in(kept.clone())
                .read_by(ReaderProgram::this()),
        )
    };
    let first = folders();
    let params = format!("{files} files, {mb:.1} MB");
    let took = searched(&first, asking(&markdown, Mode::Words)).await;
    print("indexing Markdown", &params, mb / took, "MB/s", Some(mb / plain));
    print(
        "indexing Markdown",
        &params,
        files as f64 / took,
        "files/s",
        Some(files as f64 / plain),
    );
    drop(first);
    let next = folders();
    let mut again = f64::MAX;
    for _ in 0..5 {
        again = again.min(searched(&next, asking(&markdown, Mode::Words)).await);
    }
    print("search, nothing changed", &params, again * 1e3, "ms", None);
    let vectors = searched(&next, asking(&markdown, Mode::Both)).await;
    print("vectors by spelling", &params, mb / vectors, "MB/s", None);
    let mut both = f64::MAX;
    for _ in 0..5 {
        both = both.min(searched(&next, asking(&markdown, Mode::Both)).await);
    }
    print(
        "search by words and vectors",
        &format!("{} sections", files * 10),
        both * 1e3,
        "ms",
        None,
    );
    let took = searched(&folders(), asking(&html, Mode::Words)).await;
    print(
        "indexing HTML",
        &format!("{} files, another process", files / 4),
        (files / 4) as f64 / took,
        "files/s",
        None,
    );
}
