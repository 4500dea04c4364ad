//! What was asked of a model and what it answered, as somebody else's server speaks: recorded from LiteLLM's proxy.

use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::{App, repository};
use superstep_workbench::wire::{AppEvent, TokenPiece};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers requests one after the other with what is recorded, from the beginning again at the end; its address.
pub(crate) async fn model_server(recording: &str) -> String {
    let file = repository().join(format!("crates/nodes/tests/exchanges/{recording}.json"));
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let exchanges = recorded["exchanges"].as_array().unwrap().iter();
    let answers: Vec<String> = exchanges
        .map(|one| one["response"].as_str().unwrap().to_owned())
        .collect();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        for answer in answers.iter().cycle() {
            let Ok((mut socket, _)) = listener.accept().await else {
                return;
            };
            let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
            loop {
                let read = socket.read(&mut buffer).await.unwrap_or(0);
                bytes.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&bytes).to_lowercase();
                let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
                    length.is_some_and(|length| body.len() >= length.trim().parse().unwrap_or(0))
                });
                if whole || read == 0 {
                    break;
                }
            }
            let _ = socket.write_all(answer.as_bytes()).await;
            let _ = socket.shutdown().await;
        }
    });
    address
}

pub(crate) async fn app(dir: &Path, address: &str) -> App {
    let models = json!({
        "connections": {
            "proxy": {"provider": "openai", "base_url": format!("http://{address}/v1/")},
            "claude": {"provider": "anthropic", "base_url": format!("http://{address}/v1/")}},
        "prices": {"proxy::scripted-1": {"input": 1.0, "output": 10.0}}});
    std::fs::write(dir.join("models.json"), models.to_string()).unwrap();
    App::open(dir).await
}

pub(crate) async fn agent(app: &App, model: &str) -> String {
    let tool = json!({"name": "get_weather", "description": "Tells the weather in a town.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "javascript": {"source": "return {city: args.city, degrees: args.city.length};"}});
    let graph = app
        .draft(
            "Weather",
            json!({
                "key:messages": {"type": "array", "reducer": "add_messages"},
                "node:helper": {"kind": "agent", "config": {
                    "messages": "messages", "model": model, "max_tokens": 200, "tools": [tool]}},
                "edge:1": {"from": "__start__", "to": "helper"}
            }),
        )
        .await;
    let shown = app.ok("trust.show", json!({"graphId": graph})).await;
    let wants = shown["wants"].as_array().unwrap().iter();
    let accesses: Vec<&Value> = wants.map(|want| &want["access"]).collect();
    let project = &shown["project"]["project"];
    app.ok("trust.grant", json!({"project": project, "accesses": accesses}))
        .await;
    graph
}

pub(crate) fn question() -> Value {
    json!({"messages": [{"type": "human", "content": "Where is it warmer?", "id": "q"}]})
}

/// The tasks of the graph inside the only task that led to the newest checkpoint.
pub(crate) async fn inside(app: &App, thread: &str) -> Vec<Value> {
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let ns = &snapshot["previousTasks"][0]["within"];
    let within = app
        .ok("thread.within", json!({"threadId": thread, "ns": ns}))
        .await;
    let mut steps = within["steps"].as_array().unwrap().clone();
    steps.reverse();
    let tasks = steps.iter().flat_map(|step| step["tasks"].as_array().unwrap());
    tasks.filter(|task| task["node"] == "model").cloned().collect()
}

pub(crate) async fn exchanges(app: &App, thread: &str, task: &Value) -> Vec<Value> {
    let read = json!({"threadId": thread, "taskId": task["id"]});
    let answer = app.ok("thread.exchanges", read).await;
    answer["exchanges"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_asked_of_a_model_stays_with_its_task() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("openai-agent").await;
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "proxy::scripted-1").await;
    let (run, happened) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": question()}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let thread = run["threadId"].as_str().unwrap();

    let tasks = inside(&app, thread).await;
    assert_eq!(tasks.len(), 2, "asked before and after the tools");
    let first = exchanges(&app, thread, &tasks[0]).await;
    assert_eq!(first.len(), 1);
    let first = &first[0];
    assert_eq!(first["model"], "proxy::scripted-1");
    assert!(first["address"].as_str().unwrap().contains(&address), "{first}");
    assert_eq!(first["ended"], "done");
    assert_eq!(first["request"]["messages"][0]["content"], "Where is it warmer?");
    assert_eq!(first["request"]["tools"][0]["name"], "get_weather");
    let frames: Vec<&str> = first["response"].as_str().unwrap().lines().collect();
    assert!(
        frames.len() > 2 && frames[0].starts_with('{'),
        "the frames as they came: {frames:?}"
    );
    let tokens = &first["tokens"];
    let cost = tokens["input"].as_f64().unwrap() + 10.0 * tokens["output"].as_f64().unwrap();
    assert!(cost > 0.0 && (first["cost"]["amount"].as_f64().unwrap() - cost / 1e6).abs() < 1e-12);

    // The calls came piece by piece, distinguished by their number.
    let mut calls: Vec<(String, String)> = Vec::new();
    for event in &happened {
        if let AppEvent::Token { piece, .. } = event
            && let TokenPiece::Call { index, name, text } = piece
        {
            let index = *index as usize;
            calls.resize(calls.len().max(index + 1), Default::default());
            calls[index].0.push_str(name.as_deref().unwrap_or_default());
            calls[index].1.push_str(text);
        }
    }
    assert_eq!(calls.len(), 2, "{calls:?}");
    for (name, arguments) in &calls {
        assert_eq!(name, "get_weather");
        assert!(serde_json::from_str::<Value>(arguments).unwrap()["city"].is_string());
    }

    // Copied with its thread, there after a restart, gone with its thread.
    let copy = app
        .ok("thread.copy", json!({"threadId": thread, "title": "Copy"}))
        .await;
    app.workbench.shutdown().await;
    drop(app);
    let app = App::open(dir.path()).await;
    let copied = copy["threadId"].as_str().unwrap();
    for of in [thread, copied] {
        assert_eq!(&exchanges(&app, of, &tasks[0]).await[0], first);
    }
    app.ok("thread.delete", json!({"threadId": thread})).await;
    assert!(exchanges(&app, thread, &tasks[0]).await.is_empty());
    assert_eq!(exchanges(&app, copied, &tasks[1]).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_tried_alone_shows_what_it_asked() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("anthropic-agent").await;
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "claude::scripted-1").await;
    let tested = app
        .ok(
            "node.test",
            json!({"graphId": graph, "node": "helper", "state": question()}),
        )
        .await;
    assert_eq!(tested["task"]["status"], "done", "{tested}");
    let asked = tested["exchanges"].as_array().unwrap();
    assert_eq!(asked.len(), 2, "{tested}");
    assert!(asked.iter().all(|one| one["ended"] == "done"));
    assert!(
        asked[0]["response"]
            .as_str()
            .unwrap()
            .contains("message_start: {"),
        "named frames keep their names"
    );
    // A run of the same graph streams what the model thinks apart from what it says.
    let (run, happened) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": question()}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let mut tokens = String::new();
    for event in &happened {
        if let AppEvent::Token { piece, .. } = event
            && let TokenPiece::Text { text } = piece
        {
            tokens.push_str(text);
        }
    }
    assert!(tested["text"].as_str().unwrap().contains(tokens.trim()) && !tokens.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_kept_with_the_task_that_failed() {
    let dir = tempfile::tempdir().unwrap();
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "proxy::scripted-1").await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": question()}}))
        .await;
    assert_eq!(run["status"], "failed");
    let thread = run["threadId"].as_str().unwrap();
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let ns = &snapshot["tasks"][0]["within"];
    let within = app
        .ok("thread.within", json!({"threadId": thread, "ns": ns}))
        .await;
    let task = &within["steps"][0]["tasks"][0];
    let asked = exchanges(&app, thread, task).await;
    assert!(!asked.is_empty(), "{within}");
    assert_eq!(asked[0]["ended"], "failed");
    assert!(!asked[0]["response"].as_str().unwrap().is_empty(), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_that_misses_a_connection_hears_that_it_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.ok("graph.new", json!({"name": "Desk"})).await;
    let id = graph["graphId"].as_str().unwrap().to_owned();
    let ops = json!([
        {"id": "key:text", "from": null, "to": {"type": "string"}},
        {"id": "node:ask", "from": null, "to": {"kind": "model", "config": {
            "model": "mine::small", "prompt": "Hi", "into": "text"}}},
        {"id": "edge:1", "from": null, "to": {"from": "__start__", "to": "ask"}}]);
    let applied = app
        .ok("graph.apply", json!({"graphId": id, "baseRev": 0, "ops": ops}))
        .await;
    assert_eq!(applied["diagnostics"][0]["code"], "unknown-model");
    let connection = json!({"name": "mine", "provider": "openai", "baseUrl": "http://127.0.0.1:9/v1/", "key": {"type": "usual"}});
    app.ok("connections.save", connection).await;
    let left = app
        .until(|event| match event {
            AppEvent::Diagnostics {
                graph_id,
                diagnostics,
                ..
            } if *graph_id == id => Some(diagnostics.clone()),
            _ => None,
        })
        .await;
    assert_eq!(left, []);
    app.ok("connections.remove", json!({"name": "mine"})).await;
    let code = app
        .until(|event| match event {
            AppEvent::Diagnostics { diagnostics, .. } => diagnostics.first().map(|one| one.code.clone()),
            _ => None,
        })
        .await;
    assert_eq!(code, "unknown-model");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_of_tokens_and_cost_count_what_models_were_asked() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("openai-agent").await;
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "proxy::scripted-1").await;
    let input = json!({"graphId": graph, "action": {"type": "input", "input": question()}});
    let mut stopped_at = async |mut request: Value, point: &Value| {
        request["breakpoints"] = json!([point]);
        app.run(request).await.0
    };
    // The agent asks twice: 12 tokens sent and 66 answered, then 71 and 6, at 1 and 10 dollars a million.
    let tokens = json!({"when": "tokens", "limit": 78, "within": "*", "enabled": true});
    let run = stopped_at(input.clone(), &tokens).await;
    assert_eq!(run["stop"]["reason"], "78 tokens are used (limit 78)", "{run}");
    let within = &run["stop"]["within"];
    assert_eq!(within, "helper", "after the step of the agent's own graph");
    let on = json!({"threadId": run["threadId"], "action": {"type": "continue"}});
    let rest = stopped_at(on, &tokens).await;
    let (status, stop) = (&rest["status"], &rest["stop"]);
    assert_eq!(
        (status, stop.is_null()),
        (&json!("done"), true),
        "it counts from zero: {rest}"
    );

    let cost = json!({"when": "cost", "amount": 0.0008, "enabled": true});
    let run = stopped_at(input.clone(), &cost).await;
    assert_eq!(
        run["status"], "done",
        "the step that reached it was the last: {run}"
    );
    assert_eq!(
        run["stop"]["reason"], "0.000803 USD are spent (limit 0.0008)",
        "{run}"
    );
    let more = json!({"when": "cost", "amount": 0.001, "within": "*", "enabled": true});
    assert!(stopped_at(input, &more).await["stop"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_price_that_is_set_later_prices_what_had_none_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("openai-agent").await;
    let mut app = app(dir.path(), &address).await;
    let (known, unknown) = (
        agent(&app, "proxy::scripted-1").await,
        agent(&app, "proxy::other").await,
    );
    let mut run = async |graph: &str| {
        let action = json!({"type": "input", "input": question()});
        let (run, _) = app.run(json!({"graphId": graph, "action": action})).await;
        assert_eq!(run["status"], "done", "{run}");
        run["threadId"].as_str().unwrap().to_owned()
    };
    let (priced, free) = (run(&known).await, run(&unknown).await);
    let figures = async || {
        let view = app.ok("runs.overview", json!({})).await;
        (
            view["cost"].clone(),
            view["unpriced"].clone(),
            view["unpricedModels"].clone(),
        )
    };
    let usd = |amount: f64| json!([{"amount": amount, "currency": "USD"}]);
    assert_eq!(
        figures().await,
        (usd(0.000803), json!(2), json!(["proxy::other"]))
    );

    let price = json!({"model": " proxy::other ", "input": 2.0, "output": 20.0, "cached": 0.5});
    let list = app.ok("prices.set", price).await;
    let own: Vec<&Value> = list["own"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| &own["model"])
        .collect();
    assert_eq!(own, ["proxy::scripted-1", "proxy::other"]);
    assert!(list["listed"].as_array().unwrap().len() > 30 && list["taken"].is_string());
    assert_eq!(figures().await, (usd(0.002409), json!(0), json!([])));
    let costs = async |thread: &str| {
        let trace = app.ok("thread.trace", json!({"threadId": thread})).await;
        let spans = trace["spans"].as_array().unwrap().clone();
        let calls = spans.iter().filter_map(|span| span["calls"].as_array()).flatten();
        let amounts = calls.filter_map(|call| call["cost"]["amount"].as_f64());
        amounts.collect::<Vec<f64>>()
    };
    assert_eq!(costs(&free).await, [0.001344, 0.000262]);
    let exchanges = app.ok("thread.exchanges", json!({"threadId": free})).await;
    assert_eq!(exchanges["exchanges"][0]["cost"]["amount"], 0.001344);

    // What was priced when it ran keeps that price; connections stay as they are in the file.
    let dearer = json!({"model": "proxy::scripted-1", "input": 100.0, "output": 100.0});
    app.ok("prices.set", dearer).await;
    assert_eq!(costs(&priced).await, [0.000672, 0.000131]);
    let removed = app.ok("prices.remove", json!({"model": "proxy::other"})).await;
    assert_eq!(removed["own"].as_array().unwrap().len(), 1);
    assert_eq!(
        figures().await,
        (usd(0.000803), json!(2), json!(["proxy::other"]))
    );
    let connections = app.ok("connections.list", json!({})).await;
    assert_eq!(connections["connections"].as_array().unwrap().len(), 2);
    for (wrong, part) in [
        (
            json!({"model": "llama3", "input": 1.0, "output": 1.0}),
            "no name of a model",
        ),
        (
            json!({"model": "a::b", "input": -1.0, "output": 1.0}),
            "not below 0",
        ),
    ] {
        let problem = app.refused("prices.set", wrong).await;
        assert!(
            problem.message.contains(part) && problem.remedy.is_some(),
            "{problem:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_was_stopped_keeps_what_it_had() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Long",
            json!({
                "key:text": {"type": "string"},
                // It would go on for a quarter of an hour.
                "node:write": {"kind": "model", "config": {"model": "scripted", "prompt": "Go on", "into": "text",
                    "pace_ms": 1000, "script": [{"say": "Once ".repeat(1000)}]}},
                "edge:1": {"from": "__start__", "to": "write"}
            }),
        )
        .await;
    let begin = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let run = app.ok("run.start", begin).await;
    let thread = run["threadId"].clone();
    let task = app
        .until(|event| match event {
            AppEvent::TaskStarted { task_id, .. } => Some(task_id.clone()),
            _ => None,
        })
        .await;
    app.until(|event| matches!(event, AppEvent::Token { .. }).then_some(()))
        .await;
    app.ok("run.stop", json!({"threadId": thread})).await;
    app.until(|event| match event {
        AppEvent::Run { run } if run.ended_at.is_some() => Some(()),
        _ => None,
    })
    .await;
    let read = json!({"threadId": thread, "taskId": task});
    let exchanges = app.ok("thread.exchanges", read).await;
    let exchange = &exchanges["exchanges"][0];
    assert_eq!(exchange["ended"], "left", "{exchanges}");
    let answer = exchange["answer"].as_str().unwrap_or_default();
    assert!(answer.starts_with("Once") && answer.len() < 5000, "{exchanges}");
}
