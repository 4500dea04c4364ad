//! Runs that are stopped, fail, break and meet each other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::Options;
use superstep_workbench::wire::{AppEvent, RunStatus, TaskStatus};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::effects::grant;

/// `a` and `b` in parallel, then `c` once both are done; `b` asks.
fn fan() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:word": {"type": "string"},
        "node:a": {"kind": "assign", "config": {"set": {"log": "'a'"}}},
        "node:b": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
        "node:c": {"kind": "assign", "config": {"set": {"log": "'c'"}}},
        "edge:1": {"from": "__start__", "to": "a"},
        "edge:2": {"from": "__start__", "to": "b"},
        "edge:3": {"from": ["a", "b"], "to": "c"},
        "edge:4": {"from": "c", "to": "__end__"}
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_task_of_an_open_step_is_not_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Fan", fan()).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "asking");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let live = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(live["next"], json!(["b"]));
    assert_eq!(
        app.state(&thread, None).await["log"],
        json!(["a"]),
        "live shows the finished task's write"
    );
    let inbox = app.ok("inbox.list", json!({})).await;
    let question = inbox["questions"][0]["interruptId"].as_str().unwrap();
    let resume = json!({"threadId": thread, "action": {"type": "resume", "answers": {question: "tea"}}});
    let (run, happened) = app.run(resume).await;
    assert_eq!(run["status"], "done");
    let ended: Vec<(String, bool)> = happened
        .iter()
        .filter_map(|event| match event {
            AppEvent::TaskEnded {
                node,
                cached,
                status: TaskStatus::Done,
                ..
            } => Some((node.clone(), *cached)),
            _ => None,
        })
        .collect();
    assert_eq!(
        ended,
        [
            ("a".to_owned(), true),
            ("b".to_owned(), false),
            ("c".to_owned(), false)
        ]
    );
    let state = app.state(&thread, None).await;
    assert_eq!(
        (&state["log"], &state["word"]),
        (&json!(["a", "c"]), &json!("tea"))
    );

    // A thread of a draft belongs to the file that the draft becomes.
    let saved = app
        .ok(
            "graph.save",
            json!({"graphId": graph, "path": dir.path().join("fan.json")}),
        )
        .await;
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["graphPath"], saved["path"]);
    let list = app.ok("thread.list", json!({"graphId": graph})).await;
    assert_eq!(list["total"], 1);

    let renamed = app
        .ok(
            "thread.rename",
            json!({"threadId": thread, "title": " Tea  time "}),
        )
        .await;
    assert_eq!(renamed["title"], "Tea time");
    assert_eq!(app.ok("thread.list", json!({"search": "tea"})).await["total"], 1);
    assert_eq!(
        app.ok("thread.list", json!({"status": "asking"})).await["total"],
        0
    );
    app.ok("thread.delete", json!({"threadId": thread})).await;
    assert_eq!(app.ok("thread.list", json!({})).await["total"], 0);
    assert_eq!(
        app.refused("thread.get", json!({"threadId": thread})).await.code,
        "not-found"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn breakpoints_and_single_steps_stop_where_they_should() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Line",
            json!({
                "key:log": {"type": "array", "reducer": "append"},
                "node:a": {"kind": "assign", "config": {"set": {"log": "'a'"}}},
                "node:b": {"kind": "assign", "config": {"set": {"log": "'b'"}}},
                "node:c": {"kind": "assign", "config": {"set": {"log": "'c'"}}},
                "edge:1": {"from": "__start__", "to": "a"},
                "edge:2": {"from": "a", "to": "b"},
                "edge:3": {"from": "b", "to": "c"},
                "edge:4": {"from": "c", "to": "__end__"}
            }),
        )
        .await;
    let begin = json!({"graphId": graph, "singleStep": true, "action": {"type": "input", "input": {}}});
    let (run, _) = app.run(begin).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let mut seen = vec![(
        run["status"].clone(),
        app.state(&thread, None).await["log"].clone(),
    )];
    for _ in 0..2 {
        let step = json!({"threadId": thread, "singleStep": true, "action": {"type": "continue"}});
        let (run, _) = app.run(step).await;
        seen.push((
            run["status"].clone(),
            app.state(&thread, None).await["log"].clone(),
        ));
    }
    let expected = [
        (json!("paused"), json!(["a"])),
        (json!("paused"), json!(["a", "b"])),
        (json!("done"), json!(["a", "b", "c"])),
    ];
    assert_eq!(seen, expected, "each step is exactly one super-step");

    let with = |before: Value, after: Value| json!({"graphId": graph, "breakBefore": before, "breakAfter": after, "action": {"type": "input", "input": {}}});
    let (run, _) = app.run(with(json!(["c", "gone"]), json!(["a"]))).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    assert_eq!(app.state(&thread, None).await["log"], json!(["a"]));
    let on = json!({"threadId": thread, "breakBefore": ["c"], "breakAfter": ["a"], "action": {"type": "continue"}});
    let (run, _) = app.run(on.clone()).await;
    assert_eq!(
        (&run["status"], app.state(&thread, None).await["log"].clone()),
        (&json!("paused"), json!(["a", "b"]))
    );
    let (run, _) = app.run(on).await;
    assert_eq!(run["status"], "done");

    // Replay from the middle makes a branch and leaves the old one.
    let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let list = list["checkpoints"].as_array().unwrap();
    let middle = list.iter().find(|c| c["next"] == json!(["b"])).unwrap();
    let replay = json!({"threadId": thread, "action": {"type": "replay", "checkpointId": middle["id"]}});
    let (run, _) = app.run(replay).await;
    assert_eq!(run["status"], "done");
    assert_eq!(app.state(&thread, None).await["log"], json!(["a", "b", "c"]));
    let after = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    assert!(
        after["checkpoints"].as_array().unwrap().len() > list.len(),
        "history only grows"
    );
}

/// A server that answers its first request when it is told to.
async fn waiting_server() -> (String, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (go_on, told) = oneshot::channel();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.read(&mut [0; 4096]).await;
        told.await.unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\nconnection: close\r\n\r\n{\"n\": 1}";
        socket.write_all(answer.as_bytes()).await.unwrap();
    });
    (address, go_on)
}

/// Waits until a node of the thread works.
async fn until_works(app: &App, thread: &str, node: &str) {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
        if snapshot["tasks"][0]["node"] == node && snapshot["tasks"][0]["status"] == "running" {
            return;
        }
        assert!(Instant::now() < deadline, "the node never began");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_stopped_can_go_on_and_one_that_failed_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let endless = json!({"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}});
    let graph = app
        .draft(
            "Endless",
            json!({
                "key:n": {"type": "integer", "reducer": "add"},
                "node:one": {"kind": "assign", "config": {"set": {"n": "1"}}},
                "node:long": endless.clone(),
                "edge:1": {"from": "__start__", "to": "one"},
                "edge:2": {"from": "one", "to": "long"},
                "edge:3": {"from": "long", "to": "__end__"}
            }),
        )
        .await;
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let started = app.ok("run.start", start).await;
    let thread = started["threadId"].as_str().unwrap().to_owned();
    until_works(&app, &thread, "long").await;
    let again = json!({"threadId": thread, "action": {"type": "continue"}});
    assert_eq!(app.refused("run.start", again.clone()).await.code, "busy");
    let edit = json!({"threadId": thread, "values": {"n": 1}, "asNode": "one"});
    assert_eq!(app.refused("thread.update", edit).await.code, "busy");
    assert_eq!(
        app.refused("thread.delete", json!({"threadId": thread}))
            .await
            .code,
        "busy"
    );
    app.ok("run.stop", json!({"threadId": thread})).await;
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("stopped"), &json!(["long"]))
    );

    // With the node mended the thread goes on from where it was.
    let mended = json!({"kind": "code", "config": {"source": "throw new Error('not today');"}});
    let change = |rev: u32, from: &Value, to: &Value| json!({"graphId": graph, "baseRev": rev, "ops": [{"id": "node:long", "from": from, "to": to}]});
    app.ok("graph.apply", change(1, &endless, &mended)).await;
    let (run, _) = app.run(again.clone()).await;
    assert_eq!(
        (&run["status"], &run["problem"]["code"]),
        (&json!("failed"), &json!("node-failed"))
    );
    assert!(
        run["problem"]["message"].as_str().unwrap().contains("not today"),
        "{run}"
    );
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["status"], "failed");
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(snapshot["tasks"][0]["status"], "failed");
    let fine = json!({"kind": "code", "config": {"source": "return {n: 10};"}});
    app.ok("graph.apply", change(2, &mended, &fine)).await;
    let (run, _) = app.run(again).await;
    assert_eq!(run["status"], "done");
    assert_eq!(
        app.state(&thread, None).await["n"],
        11,
        "what finished before is not run again"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_paused_finishes_its_step_and_goes_on_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let (address, go_on) = waiting_server().await;
    let models = json!({"private_hosts": [address]});
    std::fs::write(dir.path().join("models.json"), models.to_string()).unwrap();
    let mut app = App::open(dir.path()).await;
    let slow = json!({"url": format!("http://{address}/"), "take": "answer.body.n", "into": "n"});
    let graph = app
        .draft(
            "Slow",
            json!({
                "key:n": {"type": "integer", "reducer": "add"},
                "node:slow": {"kind": "http", "config": slow},
                "node:after": {"kind": "assign", "config": {"set": {"n": "10"}}},
                "edge:1": {"from": "__start__", "to": "slow"},
                "edge:2": {"from": "slow", "to": "after"},
                "edge:3": {"from": "after", "to": "__end__"}
            }),
        )
        .await;
    grant(&app, &graph).await;
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let started = app.ok("run.start", start).await;
    let thread = started["threadId"].as_str().unwrap().to_owned();
    until_works(&app, &thread, "slow").await;
    let pause = json!({"threadId": thread, "afterStep": true});
    app.ok("run.stop", pause.clone()).await;
    app.ok("run.stop", pause.clone()).await;
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["status"], "running", "nothing is waited for");
    go_on.send(()).unwrap();
    let run = app
        .until(|event| match event {
            AppEvent::Run { run } if run.ended_at.is_some() => Some(run.clone()),
            _ => None,
        })
        .await;
    assert!(
        run.status == RunStatus::Paused && run.problem.is_none(),
        "{run:?}"
    );
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("paused"), &json!(["after"]))
    );
    assert_eq!(
        app.state(&thread, None).await["n"],
        1,
        "the task was not broken off"
    );
    // Nothing runs: nothing is left to pause.
    app.ok("run.stop", pause).await;
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(app.state(&thread, None).await["n"], 11);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_loop_ends_with_a_problem_and_the_thread_stays() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Loop",
            json!({
                "key:n": {"type": "integer", "reducer": "add"},
                "node:a": {"kind": "assign", "config": {"set": {"n": "1"}}},
                "edge:1": {"from": "__start__", "to": "a"},
                "edge:2": {"from": "a", "to": "__end__", "when": "state.n > 100000"},
                "edge:3": {"from": "a", "to": "a", "when": "state.n <= 100000"}
            }),
        )
        .await;
    let start = json!({"graphId": graph, "recursionLimit": 5, "action": {"type": "input", "input": {}}});
    let (run, _) = app.run(start).await;
    assert_eq!(
        (&run["status"], &run["problem"]["code"]),
        (&json!("failed"), &json!("recursion-limit"))
    );
    let thread = run["threadId"].as_str().unwrap();
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("failed"), &json!(["a"]))
    );
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let round = snapshot["taken"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["from"] == "a" && e["to"] == "a")
        .unwrap();
    assert_eq!(
        round["times"], snapshot["visits"][0]["runs"],
        "every visit led round the loop"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_another_program_have_a_title_and_their_questions_are_asked() {
    let dir = tempfile::tempdir().unwrap();
    let storage = format!("sqlite:{}", dir.path().join("shared.db").display());
    let open = async |name: &str| {
        let options = Options::new(dir.path().join(name)).storage(storage.clone());
        App::open_with(options).await
    };
    let mut one = open("one").await;
    let graph = one.ok("graph.openExample", json!({"id": "refund-desk"})).await;
    let input = json!({"request": "My kettle is broken", "price": 20, "days": 3});
    let (run, _) = one
        .run(json!({"graphId": graph["graphId"], "action": {"type": "input", "input": input}}))
        .await;
    assert_eq!(run["status"], "asking");
    let mut two = open("two").await;
    let list = two.ok("thread.list", json!({})).await;
    let thread = &list["threads"][0];
    assert_eq!(
        (&thread["title"], &thread["status"]),
        (&json!("My kettle is broken"), &json!("asking"))
    );
    assert_eq!(
        (&thread["graphName"], &thread["graphPath"]),
        (&json!("Refund desk"), &graph["path"])
    );
    let question = two.ok("inbox.list", json!({})).await["questions"][0].clone();
    assert_eq!(
        (&question["node"], &question["threadTitle"]),
        (&json!("review"), &json!("My kettle is broken"))
    );
    let answers = json!({question["interruptId"].as_str().unwrap(): {"decision": "reject"}});
    let resume = json!({"threadId": run["threadId"], "action": {"type": "resume", "answers": answers}});
    let (run, _) = two.run(resume).await;
    assert_eq!(run["status"], "done");

    // A question whose graph is gone is still shown, and answering says what is missing.
    let (run, _) = one
        .run(json!({"graphId": graph["graphId"], "action": {"type": "input", "input": input}}))
        .await;
    assert_eq!(run["status"], "asking");
    std::fs::remove_file(graph["path"].as_str().unwrap()).unwrap();
    let three = open("three").await;
    let question = three.ok("inbox.list", json!({})).await["questions"][0].clone();
    assert_eq!(question["node"], "review");
    assert!(question["text"].as_str().unwrap().starts_with("Refund 20 EUR"));
    let answers = json!({question["interruptId"].as_str().unwrap(): {"decision": "reject"}});
    let resume = json!({"threadId": run["threadId"], "action": {"type": "resume", "answers": answers}});
    assert_eq!(three.refused("run.start", resume).await.code, "not-found");
    let snapshot = three
        .ok("thread.snapshot", json!({"threadId": run["threadId"]}))
        .await;
    assert_eq!(
        snapshot["next"],
        json!(["review"]),
        "the state can be read without the graph"
    );
    assert!(
        snapshot["keys"]
            .as_array()
            .unwrap()
            .iter()
            .any(|key| key["key"] == "draft")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_goes_on_with_the_context_of_its_last_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let path = dir.path().join("context.json");
    let file = json!({
        "format": "superstep/1",
        "name": "Context",
        "state": {"said": {}, "word": {}},
        "context": {"user": {"type": "string"}, "level": {"type": "integer", "default": 1}},
        "nodes": {
            "ask": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
            "say": {"kind": "assign", "config": {"set": {"said": "context.user ~ context.level ~ state.word"}}},
        },
        "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "say"}],
    });
    std::fs::write(&path, file.to_string()).unwrap();
    let graph = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let input = json!({"type": "input", "input": {}});

    let refused = app
        .refused("run.start", json!({"graphId": graph, "action": input}))
        .await;
    assert_eq!(refused.code, "invalid-request");
    assert!(refused.message.contains("user"), "{}", refused.message);
    let threads = app.ok("thread.list", json!({})).await;
    assert_eq!(threads["threads"], json!([]), "what is refused begins no thread");

    let start = json!({"graphId": graph, "action": input, "context": {"user": "ada", "level": 2}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "asking");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    answer(&mut app, &thread, "tea").await;
    assert_eq!(
        app.state(&thread, None).await["said"],
        json!("ada2tea"),
        "who answers need not know the context"
    );

    let start = json!({"threadId": thread, "action": input, "context": {"user": "eve"}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "asking");
    answer(&mut app, &thread, "rum").await;
    assert_eq!(app.state(&thread, None).await["said"], json!("eve1rum"));
}

/// Answers the only question that waits.
async fn answer(app: &mut App, thread: &str, answer: &str) {
    let inbox = app.ok("inbox.list", json!({})).await;
    let question = inbox["questions"][0]["interruptId"].as_str().unwrap();
    let action = json!({"type": "resume", "answers": {question: answer}});
    let (run, _) = app.run(json!({"threadId": thread, "action": action})).await;
    assert_eq!(run["status"], "done");
}
