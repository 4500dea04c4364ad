//! What people who write programs for a graph need of the app: the types of its state, and the interpreter.

use serde_json::json;
use superstep_acceptance::App;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_types_of_the_state_follow_the_open_document() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Desk",
            json!({
                "key:amount": {"type": "integer", "description": "In cents"},
                "key:log": {"type": "array"},
                "node:note": {"kind": "assign", "config": {"set": {"log": "[1]"}}},
                "edge:1": {"from": "__start__", "to": "note"}
            }),
        )
        .await;
    let types = |language: &str| app.ok("graph.types", json!({"graphId": graph, "language": language}));
    let python = types("python").await;
    assert!(
        python["text"].as_str().unwrap().contains("amount: int"),
        "{python}"
    );
    let script = types("javascript").await;
    let text = script["text"].as_str().unwrap();
    assert!(text.contains("amount") && text.contains("In cents"), "{text}");
    let rename = json!([
        {"id": "key:amount", "from": {"type": "integer", "description": "In cents"}, "to": null},
        {"id": "key:price", "from": null, "to": {"type": "number"}}]);
    app.ok(
        "graph.apply",
        json!({"graphId": graph, "baseRev": 1, "ops": rename}),
    )
    .await;
    let python = types("python").await;
    let text = python["text"].as_str().unwrap();
    assert!(
        text.contains("price: float") && !text.contains("amount"),
        "{text}"
    );
}

/// A process has one environment, and this test looks only at what does not come from there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_interpreter_of_the_settings_is_used_and_a_missing_one_is_reported() {
    if std::env::var_os("SUPERSTEP_PYTHON").is_some() {
        println!("skipped: SUPERSTEP_PYTHON is set, and comes before the settings");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let project = dir.path().join("project");
    let venv = project.join(".venv/bin");
    std::fs::create_dir_all(&venv).unwrap();
    std::fs::write(venv.join("python"), "").unwrap();
    let graph = project.join("graph.json");
    std::fs::write(
        &graph,
        json!({"format": "superstep/1", "state": {"n": {"type": "integer"}}, "nodes": {
            "work": {"kind": "code", "config": {"language": "python", "source": "return {}"}}},
            "edges": [{"from": "__start__", "to": "work"}]})
        .to_string(),
    )
    .unwrap();
    let opened = app.ok("graph.open", json!({"path": graph})).await;
    let find = || app.ok("python.find", json!({"graphId": opened["graphId"]}));
    let found = find().await;
    if cfg!(unix) {
        assert_eq!(found["chosenBy"], "project");
        assert!(
            found["program"].as_str().unwrap().ends_with(".venv/bin/python"),
            "{found}"
        );
    }

    let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
    settings["python"] = "/no/such/python".into();
    app.ok("settings.set", settings.clone()).await;
    let found = find().await;
    assert_eq!(found["chosenBy"], "settings");
    assert_eq!(found["problem"]["code"], "no-python", "{found}");
    let problem = app
        .refused(
            "run.start",
            json!({"graphId": opened["graphId"], "action": {"type": "input", "input": {"n": 1}}}),
        )
        .await;
    assert!(problem.message.contains("/no/such/python"), "{problem}");

    settings.as_object_mut().unwrap().remove("python");
    app.ok("settings.set", settings).await;
    assert_eq!(find().await["problem"], serde_json::Value::Null);
}
