//! Going on from the past repeats nothing unasked: what a counting server saw is what was chosen, never more.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that counts what it was asked to change. Below `/status/` it answers with the status that is named.
#[derive(Clone, Default)]
pub(crate) struct Counting {
    /// Path and idempotency key of each request.
    asked: Arc<Mutex<Vec<(String, String)>>>,
    address: String,
}

impl Counting {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap().to_string(),
            ..Self::default()
        };
        let asked = server.asked.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (mut bytes, mut buffer) = (Vec::new(), [0; 16 * 1024]);
                let head = loop {
                    let read = socket.read(&mut buffer).await.unwrap_or(0);
                    bytes.extend_from_slice(&buffer[..read]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    if let Some((head, body)) = text.split_once("\r\n\r\n") {
                        let length = head.to_lowercase();
                        let length = length
                            .lines()
                            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
                        if body.len() >= length.unwrap_or(0) {
                            break head.to_owned();
                        }
                    }
                    if read == 0 {
                        break String::new();
                    }
                };
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let key = head
                    .lines()
                    .find_map(|line| line.strip_prefix("idempotency-key: "));
                let number = {
                    let mut asked = asked.lock().unwrap();
                    asked.push((path.clone(), key.unwrap_or_default().to_owned()));
                    asked.len()
                };
                let body = format!("{{\"receipt\": {number}}}");
                let status = path.strip_prefix("/status/").unwrap_or("200");
                let answer = format!(
                    "HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = socket.write_all(answer.as_bytes()).await;
                let _ = socket.shutdown().await;
            }
        });
        server
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// How often it was asked.
    pub(crate) fn requests(&self, path: &str) -> usize {
        self.asked
            .lock()
            .unwrap()
            .iter()
            .filter(|(asked, _)| asked == path)
            .count()
    }

    /// How often it changed something: once for each key.
    fn done(&self, path: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        let keys: HashSet<&String> = asked
            .iter()
            .filter(|(asked, _)| asked == path)
            .map(|(_, key)| key)
            .collect();
        keys.len()
    }
}

pub(crate) async fn desk(app: &App, server: &Counting) -> String {
    let post = |path: &str, into: &str| {
        json!({"method": "POST", "url": format!("http://{}{path}", server.address), "body": "{\"amount\": state.amount}",
            "take": "answer.body.receipt", "into": into})
    };
    let mut records = json!({
        "key:amount": {"type": "integer"},
        "key:note": {"type": "string"},
        "key:booked": {"type": "integer"},
        "key:mailed": {"type": "integer"},
        "key:told": {"type": "integer"},
        "node:look": {"kind": "assign", "config": {"set": {"note": "'seen'"}}},
        "node:book": {"kind": "http", "effect": "once", "config": post("/book", "booked")},
        "node:mail": {"kind": "http", "effect": "idempotent", "config": post("/mail", "mailed")},
        "node:tell": {"kind": "http", "config": post("/tell", "told")},
    });
    for (index, pair) in ["__start__", "look", "book", "mail", "tell", "__end__"]
        .windows(2)
        .enumerate()
    {
        records[format!("edge:{index}")] = json!({"from": pair[0], "to": pair[1]});
    }
    let graph = app.draft("Desk", records).await;
    grant(app, &graph).await;
    graph
}

/// Allows a graph what it wants.
pub(crate) async fn grant(app: &App, graph: &str) {
    let shown = app.ok("trust.show", json!({"graphId": graph})).await;
    let accesses: Vec<&Value> = shown["wants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|want| &want["access"])
        .collect();
    let project = &shown["project"]["project"];
    app.ok("trust.grant", json!({"project": project, "accesses": accesses}))
        .await;
}

pub(crate) async fn opened(dir: &Path, server: &Counting) -> App {
    let models = json!({"private_hosts": [server.address.clone()]});
    std::fs::write(dir.join("models.json"), models.to_string()).unwrap();
    App::open(dir).await
}

/// The checkpoint after `look`: the past that everything here goes on from.
pub(crate) async fn before_the_work(app: &App, thread: &str) -> String {
    let listed = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let checkpoints = listed["checkpoints"].as_array().unwrap();
    let found = checkpoints
        .iter()
        .rev()
        .find(|checkpoint| checkpoint["next"] == json!(["book"]));
    found.expect("a checkpoint before book")["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The newest task of a node, in full.
async fn newest_task(app: &App, thread: &str, node: &str) -> Value {
    let listed = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let checkpoints = listed["checkpoints"].as_array().unwrap();
    let found = checkpoints
        .iter()
        .find(|checkpoint| checkpoint["next"] == json!([node]));
    let at = found.expect("a checkpoint before it")["id"].clone();
    let snapshot = json!({"threadId": thread, "checkpointId": at});
    let snapshot = app.ok("thread.snapshot", snapshot).await;
    let task = json!({"threadId": thread, "checkpointId": at, "taskId": snapshot["tasks"][0]["id"]});
    app.ok("thread.task", task).await
}

async fn waiting(app: &App) -> Value {
    app.ok("inbox.list", json!({})).await["questions"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replay_does_what_was_chosen_and_asks_about_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    let mut app = opened(dir.path(), &server).await;
    let graph = desk(&app, &server).await;
    let input = json!({"type": "input", "input": {"amount": 40}});
    let (run, happened) = app.run(json!({"graphId": graph, "action": input})).await;
    assert_eq!(run["status"], "done", "{run}");
    let reported = happened.iter().filter_map(|event| match event {
        AppEvent::TaskEnded { node, .. } => Some(node.as_str()),
        _ => None,
    });
    assert_eq!(
        reported.collect::<Vec<_>>(),
        ["look", "book", "mail", "tell"],
        "no task but those of the graph is shown"
    );
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let past = before_the_work(&app, &thread).await;

    let ahead = app
        .ok(
            "run.effects",
            json!({"threadId": thread, "checkpointId": past, "graphId": graph}),
        )
        .await;
    let listed: Vec<Value> = ahead["effects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|effect| {
            json!([
                effect["node"],
                effect["effect"],
                effect["times"],
                effect["reusable"],
                effect["state"]
            ])
        })
        .collect();
    assert_eq!(
        listed,
        [
            json!(["book", "once", 1, true, "done"]),
            json!(["mail", "idempotent", 1, true, "done"]),
            json!(["tell", null, 1, true, "done"]),
        ]
    );

    // Nothing chosen: each is asked about when it is reached.
    let replay = |effects: Value| json!({"threadId": thread, "action": {"type": "replay", "checkpointId": past}, "effects": effects});
    let (run, _) = app.run(replay(json!({}))).await;
    assert_eq!(run["status"], "asking");
    for (node, answer) in [("book", "use"), ("mail", "again"), ("tell", "use")] {
        let questions = waiting(&app).await;
        let question = &questions[0];
        assert_eq!(
            (&question["node"], &question["value"]["kind"]),
            (&json!(node), &json!("effect")),
            "{questions}"
        );
        let answers = json!({question["interruptId"].as_str().unwrap(): answer});
        let action = json!({"type": "resume", "answers": answers, "checkpointId": question["checkpointId"]});
        app.run(json!({"threadId": thread, "action": action})).await;
    }
    assert_eq!(
        (
            server.requests("/book"),
            server.requests("/mail"),
            server.requests("/tell")
        ),
        (1, 2, 1)
    );
    assert_eq!(
        server.done("/mail"),
        1,
        "it was asked again with the key of the first time"
    );
    for (node, unworked) in [
        ("book", json!("branch")),
        ("mail", Value::Null),
        ("tell", json!("branch")),
    ] {
        let detail = newest_task(&app, &thread, node).await;
        assert_eq!(detail["unworked"], unworked, "{node}: {detail}");
        assert!(detail["instead"].is_string(), "{node}: {detail}");
    }

    // All used: the server hears nothing.
    let reuse = json!({"book": "reuse", "mail": "reuse", "tell": "reuse"});
    let (run, _) = app.run(replay(reuse)).await;
    assert_eq!(
        (run["status"].as_str(), server.asked.lock().unwrap().len()),
        (Some("done"), 4),
        "{run}"
    );
    assert_eq!(app.state(&thread, None).await["booked"], 1);

    // Stopped before one: the thread stands there, and goes on with another choice.
    let (run, _) = app.run(replay(json!({"book": "stop"}))).await;
    assert_eq!(
        (run["status"].as_str(), run["problem"]["code"].as_str()),
        (Some("paused"), Some("effect-done"))
    );
    let goes_on = json!({"threadId": thread, "action": {"type": "continue"},
        "effects": {"book": "again", "mail": "reuse", "tell": "reuse"}});
    let (run, _) = app.run(goes_on).await;
    assert_eq!(
        (
            run["status"].as_str(),
            server.requests("/book"),
            server.requests("/mail")
        ),
        (Some("done"), 2, 2)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_the_past_is_not_paid_for_twice_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    let mut app = opened(dir.path(), &server).await;
    let graph = desk(&app, &server).await;
    let input = json!({"type": "input", "input": {"amount": 40}});
    let (run, _) = app.run(json!({"graphId": graph, "action": input})).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let past = before_the_work(&app, &thread).await;
    // What the requests do not depend on may differ.
    let edit =
        |values: Value| json!({"threadId": thread, "checkpointId": past, "values": values, "asNode": "look"});
    app.ok("thread.update", edit(json!({"note": "looked at twice"})))
        .await;
    let reuse = json!({"book": "reuse", "mail": "reuse", "tell": "reuse"});
    let goes_on = json!({"threadId": thread, "action": {"type": "continue"}, "effects": reuse});
    let (run, _) = app.run(goes_on.clone()).await;
    assert_eq!(
        (run["status"].as_str(), server.asked.lock().unwrap().len()),
        (Some("done"), 3),
        "{run}"
    );
    // Of another amount nothing can be used: a person decides, and each node by itself.
    app.ok("thread.update", edit(json!({"amount": 50}))).await;
    let (run, _) = app.run(goes_on).await;
    assert_eq!(run["status"], "asking");
    let questions = waiting(&app).await;
    assert_eq!(
        (&questions[0]["node"], &questions[0]["value"]["state"]),
        (&json!("book"), &json!("other-input"))
    );
    assert_eq!(
        server.asked.lock().unwrap().len(),
        3,
        "nothing was done before the answer"
    );
    let answers = json!({questions[0]["interruptId"].as_str().unwrap(): "again"});
    let again = json!({"mail": "again", "tell": "again"});
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "resume", "answers": answers}, "effects": again}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(
        (server.requests("/book"), server.done("/mail")),
        (2, 2),
        "another mail is another effect"
    );
    // A copy of the thread knows what the thread knows.
    let copy = app
        .ok("thread.copy", json!({"threadId": thread, "title": "copy"}))
        .await;
    let copied = copy["threadId"].as_str().unwrap().to_owned();
    let replay = json!({"threadId": copied, "action": {"type": "replay", "checkpointId": past}});
    let (run, _) = app.run(replay).await;
    assert_eq!(
        (run["status"].as_str(), server.requests("/book")),
        (Some("asking"), 2),
        "{run}"
    );
}

/// A node of a nested graph is none of this document, also when one here has its name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effect_inside_a_nested_graph_is_not_taken_for_a_node_of_this_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let inner = json!({
        "format": "superstep/1", "name": "Inner", "state": {"word": {"type": "string"}},
        "nodes": {"book": {"kind": "code", "effect": "once", "config": {"source": "return {word: 'booked'}"}}},
        "edges": [{"from": "__start__", "to": "book"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer", "state": {"word": {"type": "string"}},
        "nodes": {
            "book": {"kind": "assign", "effect": "once", "config": {"set": {"word": "'here'"}}},
            "work": {"kind": "graph", "config": {"graph": "inner.json"}}
        },
        "edges": [{"from": "__start__", "to": "book"}, {"from": "book", "to": "work"}]
    });
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("inner.json"), inner.to_string()).unwrap();
    std::fs::write(path("outer.json"), outer.to_string()).unwrap();
    let graph = app.ok("graph.open", json!({"path": path("outer.json")})).await;
    let start = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {"word": ""}}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "done", "{run}");
    let of = json!({"threadId": run["threadId"]});
    let list = app.ok("thread.checkpoints", of).await;
    let first = list["checkpoints"].as_array().unwrap().last().unwrap()["id"].clone();
    let of = json!({"threadId": run["threadId"], "checkpointId": first, "graphId": graph["graphId"]});
    let ahead = app.ok("run.effects", of).await;
    let mut shown: Vec<Value> = (ahead["effects"].as_array().unwrap().iter())
        .map(|effect| json!([effect["path"], effect["node"], effect["kind"]]))
        .collect();
    shown.sort_by_key(Value::to_string);
    assert_eq!(
        shown,
        [json!([["work"], "book", ""]), json!([[], "book", "assign"])],
        "{ahead}"
    );
    app.close().await;
}
