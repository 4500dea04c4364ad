//! A thread becomes a test, which is listed, run and accepted.

use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::exchanges;

/// Opens an agent in a folder of its own, with what it wants allowed.
async fn agent(app: &App, folder: &Path) -> String {
    let tool = json!({"name": "get_weather", "description": "Tells the weather in a town.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "javascript": {"source": "return {city: args.city, degrees: args.city.length};"}});
    let graph = json!({
        "format": "superstep/1",
        "name": "Weather",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {"helper": {"kind": "agent", "config": {
            "messages": "messages", "model": "proxy::scripted-1", "max_tokens": 200, "tools": [tool]}}},
        "edges": [{"from": "__start__", "to": "helper"}, {"from": "helper", "to": "__end__"}]
    });
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let opened = app
        .ok("graph.open", json!({"path": folder.join("graph.json")}))
        .await;
    let graph = opened["graphId"].as_str().unwrap().to_owned();
    let shown = app.ok("trust.show", json!({"graphId": graph})).await;
    let wants = shown["wants"].as_array().unwrap().iter();
    let accesses: Vec<&Value> = wants.map(|want| &want["access"]).collect();
    let project = &shown["project"]["project"];
    app.ok("trust.grant", json!({"project": project, "accesses": accesses}))
        .await;
    graph
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_of_a_thread_replays_what_the_model_said() {
    let dir = tempfile::tempdir().unwrap();
    let address = exchanges::model_server("openai-agent").await;
    let mut app = exchanges::app(dir.path(), &address).await;
    let folder = dir.path().join("weather");
    let graph = agent(&app, &folder).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": exchanges::question()}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let thread = run["threadId"].as_str().unwrap();
    let list = app.ok("test.list", json!({"graphId": graph})).await;
    assert_eq!(list["tests"], json!([]));

    // Shown first: nothing is written.
    let request =
        json!({"threadId": thread, "graphId": graph, "holds": [], "leaveOut": false, "write": false});
    let shown = app.ok("test.make", request).await;
    assert_eq!(shown["differences"], json!([]), "{shown}");
    assert_eq!(
        (&shown["recorded"], &shown["written"]),
        (&json!(2), &json!(false))
    );
    assert!(!folder.join("expect").exists() && !folder.join("recordings").exists());
    let request = json!({"threadId": thread, "graphId": graph, "name": "warmer", "leaveOut": false,
        "holds": ["state.messages|length > 2"], "write": true});
    let made = app.ok("test.make", request.clone()).await;
    assert_eq!(
        (&made["name"], &made["written"]),
        (&json!("warmer"), &json!(true))
    );
    let there = app.refused("test.make", request).await;
    assert_eq!(there.code, "conflict");
    let recorded = std::fs::read_to_string(folder.join("recordings/models.jsonl")).unwrap();
    assert_eq!(recorded.lines().count(), 2);
    assert!(recorded.contains("\"test\":\"warmer\""), "{recorded}");
    let exchange = app.ok("thread.exchanges", json!({"threadId": thread})).await;
    assert!(
        exchange["exchanges"][0].get("recorded").is_none(),
        "what a recording needs is not shown"
    );
    app.close().await;

    // Another program without the server: free and offline.
    let app = App::open(dir.path()).await;
    let opened = app
        .ok("graph.open", json!({"path": folder.join("graph.json")}))
        .await;
    let graph = opened["graphId"].as_str().unwrap().to_owned();
    let list = app.ok("test.list", json!({"graphId": graph})).await;
    assert_eq!(list["tests"][0]["name"], "warmer");
    let run = json!({"graphId": graph, "name": "warmer"});
    let result = app.ok("test.run", run.clone()).await;
    assert_eq!(result["passed"], true, "{result}");

    // Another prompt: the model was never asked that, and the test says so.
    let value = json!({"kind": "agent", "config": {"messages": "messages", "model": "proxy::scripted-1",
        "max_tokens": 200, "system": "Be brief."}});
    let before = app.ok("graph.get", json!({"graphId": graph})).await;
    let records = before["records"].as_array().unwrap();
    let from = &records.iter().find(|one| one["id"] == "node:helper").unwrap()["value"];
    let ops = json!([{"id": "node:helper", "from": from, "to": value}]);
    app.ok(
        "graph.apply",
        json!({"graphId": graph, "baseRev": before["rev"], "ops": ops}),
    )
    .await;
    let result = app.ok("test.run", run.clone()).await;
    // What is to hold does not, which is never accepted.
    assert_eq!(
        (&result["passed"], &result["acceptable"]),
        (&json!(false), &json!(false))
    );
    assert!(result.to_string().contains("has no recorded answer"), "{result}");
    let missing = app
        .refused("test.run", json!({"graphId": graph, "name": "../graph"}))
        .await;
    assert_eq!(missing.code, "invalid-request");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_is_accepted_unless_the_test_says_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let folder = dir.path().join("desk");
    std::fs::create_dir_all(folder.join("expect")).unwrap();
    let graph = json!({
        "format": "superstep/1",
        "name": "Desk",
        "state": {"n": {"type": "integer"}},
        "nodes": {"double": {"kind": "assign", "config": {"set": {"n": "state.n * 2"}}}},
        "edges": [{"from": "__start__", "to": "double"}, {"from": "double", "to": "__end__"}]
    });
    std::fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let write = |name: &str, test: Value| {
        std::fs::write(folder.join(format!("expect/{name}.json")), test.to_string()).unwrap();
    };
    write(
        "double",
        json!({"inputs": [{"n": 4}], "expect": {"values": {"n": 9}}}),
    );
    write(
        "answered",
        json!({"inputs": [{"n": 4}], "answers": [1], "expect": {}}),
    );
    write("broken", json!({"inputs": "none"}));
    let opened = app
        .ok("graph.open", json!({"path": folder.join("graph.json")}))
        .await;
    let graph = opened["graphId"].as_str().unwrap();
    let list = app.ok("test.list", json!({"graphId": graph})).await;
    let names: Vec<&Value> = list["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["answered", "broken", "double"]);
    assert!(
        list["tests"][1]["error"]
            .as_str()
            .unwrap()
            .contains("invalid type")
    );
    let of = |name: &str| json!({"graphId": graph, "name": name});
    let result = app.ok("test.run", of("double")).await;
    assert_eq!(result["differences"][0]["at"], "/expect/values/n");
    assert_eq!(
        result["differences"][0]["by"],
        json!([{"node": "double", "kind": "assign"}])
    );
    let result = app.ok("test.accept", of("double")).await;
    assert_eq!(result["passed"], true);
    assert_eq!(app.ok("test.run", of("double")).await["passed"], true);
    let before = std::fs::read(folder.join("expect/answered.json")).unwrap();
    let refused = app.refused("test.accept", of("answered")).await;
    assert!(refused.message.contains("cannot be accepted"), "{refused}");
    assert_eq!(
        std::fs::read(folder.join("expect/answered.json")).unwrap(),
        before
    );
    let broken = app.refused("test.run", of("broken")).await;
    assert!(broken.message.contains("is no test of a graph"), "{broken}");
    let (draft, _) = app.draft_with_problems("Draft", json!({})).await;
    let list = app.ok("test.list", json!({"graphId": draft})).await;
    assert_eq!(list, json!({"tests": []}));
    app.close().await;
}
