//! What a run left: its events are read again as they were emitted, by another workbench too.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// What an interface shows of an event.
fn shown(event: &Value) -> Option<String> {
    let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
    Some(match event["type"].as_str()? {
        "run" => format!("run {}", event["run"]["status"].as_str()?),
        "taskStarted" => format!("begin {}", text("node")),
        "taskEnded" => format!("end {} {}", text("node"), text("status")),
        "taskAttempt" => format!("attempt {}", text("node")),
        "custom" => format!("custom {}", event["value"]),
        "checkpoint" => format!("checkpoint {}", event["checkpoint"]["step"]),
        _ => return None,
    })
}

fn all(events: &[Value]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for event in events.iter().filter_map(shown) {
        // A checkpoint is emitted again when the run has ended.
        if !(event.starts_with("checkpoint") && all.contains(&event)) {
            all.push(event);
        }
    }
    all
}

fn tokens(events: &[Value]) -> String {
    let tokens = events.iter().filter(|event| event["type"] == "token");
    tokens
        .filter_map(|event| event["piece"]["text"].as_str())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_read_again_as_it_was_emitted() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.ok("graph.openExample", json!({"id": "refund-desk"})).await;
    let (id, input) = (graph["graphId"].clone(), graph["sampleInput"].clone());
    let (run, reported) = app
        .run(json!({"graphId": id, "action": {"type": "input", "input": input}}))
        .await;
    let reported: Vec<Value> = reported
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    let thread = run["threadId"].clone();
    let now = app.ok("thread.events", json!({"threadId": thread})).await;
    app.close().await;

    let app = App::open(dir.path()).await;
    let kept = app.ok("thread.events", json!({"threadId": thread})).await;
    assert_eq!(kept["events"], now["events"], "before and after a restart");
    assert_eq!(kept["leftOut"], false);
    let kept = kept["events"].as_array().unwrap();
    assert!(all(&reported).len() > 5, "{reported:?}");
    assert_eq!(all(kept), all(&reported));
    assert_eq!(tokens(kept), tokens(&reported));
    assert!(!tokens(kept).is_empty());
    let messages = kept.iter().filter(|event| event["type"] == "token").count();
    assert!(messages <= 4, "{messages} entries for a message or two");
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["run"], run, "its total time is known");

    let copy = app
        .ok("thread.copy", json!({"threadId": thread, "title": "Copy"}))
        .await;
    let copied = app
        .ok("thread.events", json!({"threadId": copy["threadId"]}))
        .await;
    assert_eq!(all(copied["events"].as_array().unwrap()), all(kept));
    let file = dir.path().join("thread.jsonl");
    app.ok("thread.export", json!({"threadId": thread, "path": file}))
        .await;
    let came = app.ok("thread.import", json!({"path": file})).await;
    let imported = app
        .ok("thread.events", json!({"threadId": came["threadId"]}))
        .await;
    assert_eq!(
        all(imported["events"].as_array().unwrap()),
        all(kept),
        "as in the file"
    );
    assert_eq!(tokens(imported["events"].as_array().unwrap()), tokens(kept));
    let times = async |thread: &Value| {
        let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
        snapshot["previousTasks"].clone()
    };
    let took = times(&thread).await;
    assert!(took[0]["millis"].is_u64(), "{took}");
    assert_eq!(times(&came["threadId"]).await, took, "how long its tasks took");
    // It comes back under its name, for which the app still has the records of the thread that another program deleted.
    let storage = superstep_storage::open(&dir.path().join("threads.db").to_string_lossy()).await;
    let deleted = thread.as_str().unwrap().into();
    storage
        .unwrap()
        .checkpointer
        .delete_thread(&deleted)
        .await
        .unwrap();
    let back = app.ok("thread.import", json!({"path": file})).await;
    assert_eq!(back["threadId"], thread);
    let again = app.ok("thread.events", json!({"threadId": thread})).await;
    assert_eq!(again["events"], json!(kept), "each event once");
    app.ok("thread.delete", json!({"threadId": thread})).await;
    let gone = app.ok("thread.events", json!({"threadId": thread})).await;
    assert_eq!(gone["events"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missing_or_double_where_the_record_of_a_running_run_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Counting",
            json!({
                "key:n": {"type": "integer", "default": 0},
                "node:count": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}},
                "edge:1": {"from": "__start__", "to": "count"},
                "edge:2": {"from": "count", "route": "state.n < 400", "paths": {"true": "count", "false": "__end__"}}
            }),
        )
        .await;
    let started = app
        .ok(
            "run.start",
            json!({"graphId": graph, "recursionLimit": 1000, "action": {"type": "input", "input": {}}}),
        )
        .await;
    let thread = started["threadId"].clone();
    // Somebody looks in the middle of the run.
    app.until(|event| matches!(event, AppEvent::TaskEnded { step: 40.., .. }).then_some(()))
        .await;
    let before = app
        .ok("thread.events", json!({"threadId": thread, "mark": "here"}))
        .await;
    let (mut events, mut marked, mut ended) = (before["events"].as_array().unwrap().clone(), false, false);
    while !ended {
        for event in app.batch().await {
            ended |= matches!(&event, AppEvent::Run { run } if run.ended_at.is_some());
            if matches!(&event, AppEvent::Mark { mark } if mark == "here") {
                marked = true;
            } else if marked {
                events.push(serde_json::to_value(&event).unwrap());
            }
        }
    }
    let kept = app.ok("thread.events", json!({"threadId": thread})).await;
    assert!(!before["events"].as_array().unwrap().is_empty());
    let count = |events: &[Value]| events.iter().filter_map(shown).count();
    assert_eq!(all(&events).len(), 2 + 2 * 400 + 402);
    // Its last checkpoint is emitted again when it has ended.
    assert_eq!(count(&events), count(kept["events"].as_array().unwrap()) + 1);
    assert_eq!(all(&events), all(kept["events"].as_array().unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_another_host_is_shown_from_its_record() {
    use superstep::{Input, RunConfig, StreamMode};
    use superstep_workbench::{Recorded, RunRecord};

    let dir = tempfile::tempdir().unwrap();
    let text = json!({
        "format": "superstep/1", "name": "Host",
        "state": {"n": {"type": "integer", "reducer": "add"}},
        "nodes": {"a": {"kind": "assign", "config": {"set": {"n": "1"}}}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__"}]
    });
    let (document, _) = superstep_document::Document::parse(&text.to_string());
    let url = superstep_workbench::database_url(dir.path()).unwrap();
    let storage = superstep_storage::open(&url).await.unwrap();
    let made = superstep_nodes::Registry::standard()
        .build(&document, &superstep_nodes::Environment::new(None))
        .unwrap();
    let graph = made.graph.with_checkpointer(storage.checkpointer.clone());
    let modes = RunRecord::with_modes(&[StreamMode::Values, StreamMode::Tasks]);
    assert_eq!(
        modes[..2],
        [StreamMode::Values, StreamMode::Tasks],
        "what was asked for comes first"
    );
    let tasks = modes.iter().filter(|mode| **mode == StreamMode::Tasks);
    assert_eq!(tasks.count(), 1, "{modes:?}");
    assert!(modes.contains(&StreamMode::Checkpoints));
    let mut record = RunRecord::begin(Recorded {
        data_dir: dir.path(),
        thread_id: "t",
        run_id: "r",
        document: &document,
        storage: "threads.db",
        program: "a program",
        stop: superstep_workbench::StopHandle::default(),
        exchanges: std::sync::Arc::default(),
    })
    .unwrap();
    let mut config = RunConfig::on("t");
    config.modes = modes;
    config.run_id = Some("r".into());
    let mut run = graph.stream(Input::Value(superstep::json!({})), config);
    while let Some(event) = run.next().await {
        record.note(&event);
    }
    record.end(&run.finish().await).await;
    drop((graph, storage));

    let app = App::open(dir.path()).await;
    let events = app.ok("thread.events", json!({"threadId": "t"})).await["events"].clone();
    let shown = all(events.as_array().unwrap());
    for event in ["run running", "begin a", "end a done", "checkpoint 1", "run done"] {
        assert!(shown.contains(&event.to_owned()), "{event} is not in {shown:?}");
    }
    let view = app.ok("thread.get", json!({"threadId": "t"})).await;
    assert_eq!(
        (&view["run"]["runId"], &view["run"]["status"], &view["status"]),
        (&json!("r"), &json!("done"), &json!("done"))
    );
    let snapshot = app.ok("thread.snapshot", json!({"threadId": "t"})).await;
    assert_eq!(snapshot["checkpoint"]["next"], json!([]));
}
