//! A process that is killed loses nothing that was done more than a second ago.
//!
//! The child is this test binary again, running the ignored test `child`, which works until it is killed.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use superstep_acceptance::App;

const DATA: &str = "SUPERSTEP_CRASH_TEST_DATA";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs as the child of the test below"]
async fn child() {
    let data = std::env::var_os(DATA).expect("started by its parent");
    let app = App::open(Path::new(&data)).await;
    let graph = app
        .draft(
            "Survivor",
            json!({
                "key:n": {"type": "integer", "reducer": "add"},
                "node:one": {"kind": "assign", "config": {"set": {"n": "1"}}},
                "node:long": {"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}},
                "edge:1": {"from": "__start__", "to": "one"},
                "edge:2": {"from": "one", "to": "long"},
                "edge:3": {"from": "long", "to": "__end__"}
            }),
        )
        .await;
    let started = app
        .ok(
            "run.start",
            json!({"graphId": graph, "action": {"type": "input", "input": {}}}),
        )
        .await;
    let thread = started["threadId"].as_str().unwrap();
    loop {
        let view = app.ok("thread.get", json!({"threadId": thread})).await;
        if view["next"] == json!(["long"]) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("\nworking {graph} {thread}");
    std::future::pending::<()>().await;
}

/// Kills its process, also when the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_process_leaves_its_draft_and_a_thread_that_can_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::child", "--ignored", "--nocapture"])
        .env(DATA, dir.path());
    let mut child = Killed(
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let ready = tokio::task::spawn_blocking(move || {
        lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("working ").map(str::to_owned))
    });
    let line = tokio::time::timeout(Duration::from_secs(60), ready)
        .await
        .unwrap()
        .unwrap()
        .expect("the child works");
    let (graph, thread) = line.split_once(' ').unwrap();

    // While it lives, its thread is running and its draft is its own.
    let other = App::open(dir.path()).await;
    let view = other.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["status"], "running");
    let again = json!({"threadId": thread, "action": {"type": "continue"}});
    assert_eq!(
        other.refused("run.start", again.clone()).await.code,
        "thread-busy"
    );
    drop(other);

    // An edit is on disk within about a second, where the machine has one to give.
    let slot = dir.path().join("autosave").join(graph);
    let is_kept = || {
        let files = std::fs::read_dir(&slot).into_iter().flatten().flatten();
        files
            .map(|file| file.file_name())
            .any(|name| name.to_string_lossy().starts_with("unsaved-"))
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_kept() {
        assert!(Instant::now() < deadline, "the draft was not autosaved");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(child);

    let mut app = App::open(dir.path()).await;
    assert_eq!(
        app.ok("app.info", json!({})).await["open"],
        json!([{"graphId": graph}])
    );
    let view = app.ok("graph.get", json!({"graphId": graph})).await;
    assert_eq!(
        (&view["name"], view["records"].as_array().unwrap().len()),
        (&json!("Survivor"), 7)
    );
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("stopped"), &json!(["long"]))
    );
    let records = app.ok("graph.get", json!({"graphId": graph})).await;
    let long = records["records"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["id"] == "node:long")
        .unwrap()["value"]
        .clone();
    let mended = json!({"kind": "code", "config": {"source": "return {n: 10};"}});
    let ops = json!([{"id": "node:long", "from": long, "to": mended}]);
    app.ok(
        "graph.apply",
        json!({"graphId": graph, "baseRev": records["rev"], "ops": ops}),
    )
    .await;
    let (run, _) = app.run(again).await;
    assert_eq!(run["status"], "done");
    assert_eq!(app.state(thread, None).await["n"], 11);
}
