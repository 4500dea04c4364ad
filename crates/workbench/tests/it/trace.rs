//! What ran when: tasks of every graph of a run, with what failed and what was asked of models.

use serde_json::{Value, json};
use superstep_acceptance::App;

fn span<'a>(trace: &'a Value, node: &str) -> &'a Value {
    let spans = trace["spans"].as_array().unwrap();
    let found = spans.iter().find(|span| span["node"] == node);
    found.unwrap_or_else(|| panic!("no span of {node} in {trace}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_of_nested_graphs_are_within_theirs_and_files_take_them_along() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let inner = json!({
        "format": "superstep/1", "name": "Inner", "state": {"n": {"type": "integer"}},
        "nodes": {
            "fails": {
                "kind": "code",
                "retry": {"attempts": 2, "initial_interval": 0.01, "jitter": false, "retry_on": ["CodeError"]},
                "config": {"source": "throw new Error('no');"}
            }
        },
        "edges": [{"from": "__start__", "to": "fails"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer", "state": {"n": {"type": "integer"}},
        "nodes": {
            "waits": {"kind": "delay", "config": {"seconds": "0.05"}},
            "work": {"kind": "graph", "config": {"graph": "inner.json"}}
        },
        "edges": [{"from": "__start__", "to": "waits"}, {"from": "waits", "to": "work"}]
    });
    std::fs::write(dir.path().join("inner.json"), inner.to_string()).unwrap();
    let path = dir.path().join("outer.json");
    std::fs::write(&path, outer.to_string()).unwrap();
    let graph = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {"n": 1}}}))
        .await;
    assert_eq!(run["status"], "failed");
    let thread = run["threadId"].clone();
    let trace = app.ok("thread.trace", json!({"threadId": thread})).await;

    let (waits, work, fails) = (span(&trace, "waits"), span(&trace, "work"), span(&trace, "fails"));
    assert_eq!(trace["spans"].as_array().unwrap().len(), 4, "{trace}");
    assert_eq!(
        span(&trace, "wait")["parent"],
        waits["taskId"],
        "what a task calls is within it"
    );
    assert_eq!(
        (&waits["end"], &work["end"], &fails["end"]),
        (&json!("done"), &json!("failed"), &json!("failed"))
    );
    let took = |span: &Value| span["ended"].as_f64().unwrap() - span["started"].as_f64().unwrap();
    // Times are of when the events were read, which a busy machine does late.
    assert!(took(waits) >= 0.0 && took(fails) >= 0.0, "{trace}");
    assert!(took(fails) <= took(work), "{fails} in {work}");
    assert_eq!((work.get("parent"), &fails["parent"]), (None, &work["taskId"]));
    assert_eq!(
        fails["checkpointId"], work["checkpointId"],
        "a moment of the thread"
    );
    assert_ne!(waits["checkpointId"], work["checkpointId"]);
    assert!(fails["error"].as_str().unwrap().contains("no"), "{fails}");
    let attempt = &fails["attempts"][0];
    assert_eq!(
        (&attempt["attempt"], &attempt["waitMillis"]),
        (&json!(1), &json!(10))
    );
    assert!(attempt["ended"].as_f64() <= fails["ended"].as_f64(), "{fails}");
    assert_eq!(
        (&trace["runs"][0]["runId"], &waits["runId"]),
        (&run["runId"], &run["runId"])
    );
    assert_eq!(trace["runs"][0]["endedAt"], run["endedAt"]);

    let later = app
        .ok(
            "thread.trace",
            json!({"threadId": thread, "after": trace["last"]}),
        )
        .await;
    assert_eq!((&later["spans"], &later["last"]), (&json!([]), &trace["last"]));
    let newest = app
        .ok("thread.trace", json!({"threadId": thread, "limit": 1}))
        .await;
    assert_eq!(
        (&newest["spans"][0]["node"], &newest["leftOut"]),
        (&json!("work"), &json!(true))
    );

    let file = dir.path().join("thread.jsonl");
    app.ok("thread.export", json!({"threadId": thread, "path": file}))
        .await;
    let came = app.ok("thread.import", json!({"path": file})).await;
    let imported = app
        .ok("thread.trace", json!({"threadId": came["threadId"]}))
        .await;
    assert_eq!(imported["spans"], trace["spans"], "as in the file");

    app.close().await;
    let kept = superstep_workbench::trace(
        &dir.path().join("data"),
        &serde_json::from_value(json!({"threadId": thread, "limit": 0})).unwrap(),
    )
    .unwrap();
    assert_eq!(
        serde_json::to_value(&kept.spans).unwrap(),
        trace["spans"],
        "without a workbench"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_cut_off_has_an_end_and_what_was_asked_of_models_is_with_its_task() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = app
        .draft(
            "Long",
            json!({
                "key:n": {"type": "integer"},
                "node:long": {
                    "kind": "code",
                    "retry": {"attempts": 2, "initial_interval": 60, "jitter": false, "retry_on": ["CodeError"]},
                    "config": {"source": "throw new Error('no');"}
                },
                "edge:1": {"from": "__start__", "to": "long"}
            }),
        )
        .await;
    let started = app
        .ok(
            "run.start",
            json!({"graphId": graph, "action": {"type": "input", "input": {"n": 1}}}),
        )
        .await;
    let thread = started["threadId"].clone();
    app.until(|event| matches!(event, superstep_workbench::wire::AppEvent::TaskAttempt { .. }).then_some(()))
        .await;
    app.ok("run.stop", json!({"threadId": thread})).await;
    let trace = app.ok("thread.trace", json!({"threadId": thread})).await;
    let long = span(&trace, "long");
    assert_eq!(
        (&long["end"], &long["attempts"][0]["attempt"]),
        (&json!("left"), &json!(1))
    );
    assert!(
        long["ended"].as_f64() >= long["started"].as_f64() && long["ended"].as_f64() > Some(0.0),
        "{long}"
    );

    let graph = app.ok("graph.openExample", json!({"id": "refund-desk"})).await;
    let (run, _) = app
        .run(json!({"graphId": graph["graphId"], "action": {"type": "input", "input": graph["sampleInput"]}}))
        .await;
    let of = json!({"threadId": run["threadId"]});
    let trace = app.ok("thread.trace", of.clone()).await;
    let exchanges = app.ok("thread.exchanges", of).await;
    for exchange in exchanges["exchanges"].as_array().unwrap() {
        let spans = trace["spans"].as_array().unwrap();
        let span = spans
            .iter()
            .find(|span| span["taskId"] == exchange["taskId"])
            .unwrap();
        let call = &span["calls"][0];
        assert_eq!(
            (&call["model"], &call["at"], &call["tokens"]),
            (&exchange["model"], &exchange["at"], &exchange["tokens"])
        );
    }
    assert_eq!(
        span(
            &trace,
            trace["spans"].as_array().unwrap().last().unwrap()["node"]
                .as_str()
                .unwrap()
        )["end"],
        "asking"
    );
}
