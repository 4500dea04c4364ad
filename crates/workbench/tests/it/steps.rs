//! Steps of undo that outlive the opening of a graph.

use std::fs;

use serde_json::{Value, json};
use superstep_acceptance::App;

fn graph(name: &str) -> String {
    json!({"format": "superstep/1", "name": name, "state": {}, "nodes": {}, "edges": []}).to_string()
}

async fn rename(app: &App, view: &Value, from: &str, to: &str, rev: u64) -> Value {
    let head = |name: &str| json!({"format": "superstep/1", "name": name});
    let ops = json!([{"id": "doc", "from": head(from), "to": head(to)}]);
    app.ok(
        "graph.apply",
        json!({"graphId": view["graphId"], "baseRev": rev, "ops": ops}),
    )
    .await
}

#[tokio::test]
async fn steps_come_back_with_the_graph_and_go_when_it_was_changed_outside() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("one.json");
    fs::write(&path, graph("One")).unwrap();
    let view = app.ok("graph.open", json!({"path": path})).await;
    let id = view["graphId"].clone();
    assert_eq!(
        app.ok("graph.steps", json!({"graphId": id})).await,
        json!({"dropped": false})
    );
    rename(&app, &view, "One", "Two", 0).await;
    let steps = json!({"undo": [{"name": "rename", "ops": []}], "redo": []});
    // Of a revision that is over they are not taken.
    app.ok(
        "graph.keepSteps",
        json!({"graphId": id, "rev": 0, "steps": "old"}),
    )
    .await;
    assert_eq!(
        app.ok("graph.steps", json!({"graphId": id})).await,
        json!({"dropped": false})
    );
    app.ok(
        "graph.keepSteps",
        json!({"graphId": id, "rev": 1, "steps": steps}),
    )
    .await;

    // Closed with its changes kept, and opened again by another process.
    app.ok("graph.close", json!({"graphId": id, "discard": false}))
        .await;
    app.close().await;
    let app = App::open(&dir.path().join("data")).await;
    let again = app.ok("graph.open", json!({"path": path})).await;
    let read = app.ok("graph.steps", json!({"graphId": again["graphId"]})).await;
    assert_eq!(read, json!({"steps": steps, "dropped": false}));

    // Saved, closed, changed by somebody else.
    app.ok(
        "graph.save",
        json!({"graphId": again["graphId"], "overwrite": false}),
    )
    .await;
    app.ok(
        "graph.close",
        json!({"graphId": again["graphId"], "discard": false}),
    )
    .await;
    let text = fs::read_to_string(&path).unwrap();
    // The same graph in other lines is the same graph.
    fs::write(&path, serde_json::from_str::<Value>(&text).unwrap().to_string()).unwrap();
    let same = app.ok("graph.open", json!({"path": path})).await;
    assert_eq!(
        app.ok("graph.steps", json!({"graphId": same["graphId"]})).await["steps"],
        steps
    );
    app.ok(
        "graph.close",
        json!({"graphId": same["graphId"], "discard": false}),
    )
    .await;
    fs::write(&path, graph("Three")).unwrap();
    let other = app.ok("graph.open", json!({"path": path})).await;
    let read = app.ok("graph.steps", json!({"graphId": other["graphId"]})).await;
    assert_eq!(
        read,
        json!({"dropped": true}),
        "it is reported that there were steps"
    );
    let read = app.ok("graph.steps", json!({"graphId": other["graphId"]})).await;
    assert_eq!(read, json!({"dropped": false}), "and reported once");
}

#[tokio::test]
async fn discarded_changes_take_their_steps_along_and_huge_steps_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("one.json");
    fs::write(&path, graph("One")).unwrap();
    let view = app.ok("graph.open", json!({"path": path})).await;
    rename(&app, &view, "One", "Two", 0).await;
    let huge = "x".repeat(9 << 20);
    let keep = json!({"graphId": view["graphId"], "rev": 1, "steps": huge});
    assert_eq!(app.refused("graph.keepSteps", keep).await.code, "invalid-request");
    app.ok(
        "graph.keepSteps",
        json!({"graphId": view["graphId"], "rev": 1, "steps": [1]}),
    )
    .await;
    app.ok(
        "graph.close",
        json!({"graphId": view["graphId"], "discard": true}),
    )
    .await;
    let again = app.ok("graph.open", json!({"path": path})).await;
    let read = app.ok("graph.steps", json!({"graphId": again["graphId"]})).await;
    assert_eq!(
        read,
        json!({"dropped": false}),
        "a person threw them away, nothing is to be reported"
    );
}
