//! The debugger on every kind of database: run to a question, resume, fork, look at the past, and find it all again.

use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_test_servers::{Postgres, Redis};
use superstep_workbench::Options;

async fn on(dir: &Path, url: &str) -> App {
    App::open_with(Options::new(dir.to_path_buf()).storage(url.to_owned())).await
}

fn records() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:word": {"type": "string"},
        "node:say": {"kind": "assign", "config": {"set": {"log": "'said'"}}},
        "node:ask": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
        "node:end": {"kind": "assign", "config": {"set": {"log": "state.word"}}},
        "edge:1": {"from": "__start__", "to": "say"},
        "edge:2": {"from": "say", "to": "ask"},
        "edge:3": {"from": "ask", "to": "end"}
    })
}

async fn answer(app: &mut App, thread: &str, word: &str) -> Value {
    let asked = app.ok("inbox.list", json!({})).await["questions"][0].clone();
    assert_eq!(asked["threadId"], thread);
    let id = asked["interruptId"].as_str().unwrap();
    let resume = json!({"threadId": thread, "action": {"type": "resume", "answers": {id: word}}});
    app.run(resume).await.0
}

/// What a person does in Debug, on the database at an address.
async fn debugged(url: &str, kind: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut app = on(dir.path(), url).await;
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!((&info["kind"], &info["problem"]), (&json!(kind), &Value::Null));
    let graph = app.draft("Words", records()).await;
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {"log": ["begun"]}}});
    let (run, _) = app.run(input).await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let of = json!({"threadId": thread});
    let asked = app.ok("thread.checkpoints", of.clone()).await["checkpoints"][0]["id"].clone();

    assert_eq!(answer(&mut app, &thread, "tea").await["status"], "done");
    assert_eq!(
        app.state(&thread, None).await["log"],
        json!(["begun", "said", "tea"])
    );

    // The past as it was, and its difference from now.
    let then = json!({"threadId": thread, "checkpointId": asked});
    let past = app.ok("thread.snapshot", then.clone()).await;
    assert_eq!(past["tasks"][0]["node"], "ask");
    assert_eq!(
        app.state(&thread, asked.as_str()).await["log"],
        json!(["begun", "said"])
    );
    let compared = app.ok("thread.compare", json!({"left": then, "right": of})).await;
    let pointers: Vec<&str> = compared["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["pointer"].as_str().unwrap())
        .collect();
    assert_eq!(pointers, ["/log/2", "/word"]);

    // A fork: the state of the past is edited and run from there.
    let edit = json!({"threadId": thread, "graphId": graph, "checkpointId": asked, "asNode": "say",
        "values": {"log": ["edited"]}, "overwrite": [], "preview": false});
    app.ok("thread.update", edit).await;
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    let changes = app.ok("inbox.changes", of.clone()).await;
    assert_eq!(
        changes["comparison"]["differences"],
        json!([]),
        "nothing since the edit"
    );
    assert_eq!(answer(&mut app, &thread, "coffee").await["status"], "done");
    let log = json!(["begun", "said", "edited", "coffee"]);
    assert_eq!(app.state(&thread, None).await["log"], log);
    let found = app.ok("thread.checkpoints", of.clone()).await;
    let children = found["checkpoints"].as_array().unwrap().iter();
    assert_eq!(
        children.filter(|one| one["parent"] == asked).count(),
        2,
        "two branches"
    );

    // Words are found on both branches.
    for word in ["tea", "coffee"] {
        let mut request = json!({"words": word, "limit": 10});
        loop {
            let answer = app.ok("moments.find", request.clone()).await;
            if answer["moments"]
                .as_array()
                .is_some_and(|found| !found.is_empty())
            {
                break;
            }
            // The time of an answer may be over before it has found anything.
            let next = answer["progress"].get("next");
            request["after"] = next.unwrap_or_else(|| panic!("{kind}: {word} {answer}")).clone();
        }
    }

    let usage = app.ok("storage.usage", json!({"limit": 0})).await;
    assert_eq!(usage["threads"][0]["threadId"], thread.as_str());
    let checked = app.ok("storage.verify", json!({"repair": false})).await;
    assert_eq!((&checked["damage"], &checked["threads"]), (&json!([]), &json!(1)));

    app.close().await;
    let app = on(dir.path(), url).await;
    assert_eq!(
        app.ok("thread.checkpoints", of).await,
        found,
        "the same after a restart"
    );
    assert_eq!(app.state(&thread, None).await["log"], log);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    debugged(&format!("file:{}", dir.path().join("threads").display()), "file").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    debugged(&format!("sqlite:{}", dir.path().join("t.db").display()), "sqlite").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql() {
    let Some(server) = Postgres::start() else { return };
    debugged(server.url(), "postgres").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_redis() {
    let Some(server) = Redis::start() else { return };
    debugged(server.url(), "redis").await;
}
