//! Pinned outputs: kept by graph, used in its runs instead of the node, and always said.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// `fetch` counts how often it works, and its edge decides by what it gives.
fn records() -> Value {
    json!({
        "key:n": {"type": "integer"},
        "key:size": {"type": "string"},
        "node:fetch": {"kind": "code", "config": {"source": "emit('worked'); return {n: 1};"}},
        "node:big": {"kind": "assign", "config": {"set": {"size": "'big'"}}},
        "node:small": {"kind": "assign", "config": {"set": {"size": "'small'"}}},
        "edge:1": {"from": "__start__", "to": "fetch"},
        "edge:2": {"from": "fetch", "to": "big", "when": "state.n > 5"},
        "edge:3": {"from": "fetch", "to": "small", "when": "state.n <= 5"},
        "edge:4": {"from": "big", "to": "__end__"},
        "edge:5": {"from": "small", "to": "__end__"}
    })
}

/// Runs the graph; how the thread stands, its state, and how often `fetch` worked.
async fn run(app: &mut App, graph: &str) -> (Value, Value, usize) {
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let (run, happened) = app.run(input).await;
    assert_eq!(run["status"], "done", "{run}");
    let worked = happened
        .iter()
        .filter(|event| matches!(event, AppEvent::Custom { .. }));
    let worked = worked.count();
    let id = run["threadId"].as_str().unwrap();
    let thread = app.ok("thread.get", json!({"threadId": id})).await;
    let state = app.state(id, None).await;
    (thread, state, worked)
}

/// The task of `fetch` in a thread, with the checkpoint that its step began from.
async fn fetched(app: &App, thread: &Value) -> (Value, Value) {
    let id = &thread["threadId"];
    let list = app.ok("thread.checkpoints", json!({"threadId": id})).await;
    let list = list["checkpoints"].as_array().unwrap().clone();
    let at = list.iter().find(|one| one["next"] == json!(["fetch"])).unwrap()["id"].clone();
    let shown = app
        .ok("thread.snapshot", json!({"threadId": id, "checkpointId": at}))
        .await;
    (shown["tasks"][0].clone(), at)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pinned_node_does_not_run_until_it_is_unpinned_and_the_run_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Fetching", records()).await;
    let pins = json!({"graph": graph});
    assert_eq!(app.ok("pins.get", pins.clone()).await["nodes"], json!({}));
    let (thread, state, worked) = run(&mut app, &graph).await;
    assert_eq!((&state["size"], worked), (&json!("small"), 1));
    assert_eq!(thread.get("pinned"), None);
    let (task, checkpoint) = fetched(&app, &thread).await;

    // What the task wrote is pinned, as it was.
    let from = json!({"threadId": thread["threadId"], "checkpointId": checkpoint, "taskId": task["id"]});
    let set = json!({"graph": graph, "node": "fetch", "from": from});
    let pinned = app.ok("pins.set", set).await;
    assert_eq!(pinned["nodes"]["fetch"]["value"], json!({"n": 1}));
    let (thread, state, worked) = run(&mut app, &graph).await;
    assert_eq!((&state["size"], worked), (&json!("small"), 0));
    assert_eq!(thread["pinned"], json!(["fetch"]));
    let (task, _) = fetched(&app, &thread).await;
    assert_eq!(task["record"]["pinned"], true);

    // Another output leads another way.
    let set = json!({"graph": graph, "node": "fetch", "output": {"n": 9}});
    app.ok("pins.set", set).await;
    let (_, state, worked) = run(&mut app, &graph).await;
    assert_eq!((&state["size"], worked), (&json!("big"), 0));

    // A file that the draft becomes has them too; the file itself says nothing of it.
    let path = dir.path().join("fetching.json");
    app.ok("graph.save", json!({"graphId": graph, "path": path}))
        .await;
    let kept = app.ok("pins.get", json!({"graph": path})).await;
    assert_eq!(kept["nodes"]["fetch"]["value"], json!({"n": 9}));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("pin"));

    for (node, name) in [("fetch", "get"), ("get", "fetch")] {
        let renamed = app
            .ok("pins.set", json!({"graph": path, "node": node, "renamed": name}))
            .await;
        assert_eq!(renamed["nodes"][name]["value"], json!({"n": 9}));
        assert_eq!(renamed["nodes"].get(node), None);
    }
    app.ok("pins.set", json!({"graph": path, "node": "fetch"})).await;
    let (thread, state, worked) = run(&mut app, &graph).await;
    assert_eq!((&state["size"], worked), (&json!("small"), 1));
    assert_eq!(thread.get("pinned"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_pinned_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut records = records();
    records["node:fetch"] = json!({"kind": "code", "config": {"destinations": ["big", "small"],
        "source": "return new Command({update: {n: 1}, goto: 'big'});"}});
    for edge in ["edge:2", "edge:3"] {
        records.as_object_mut().unwrap().remove(edge);
    }
    let graph = app.draft("Choosing", records).await;
    let (thread, ..) = run(&mut app, &graph).await;
    let (task, checkpoint) = fetched(&app, &thread).await;
    let from = json!({"threadId": thread["threadId"], "checkpointId": checkpoint, "taskId": task["id"]});
    for (set, says) in [
        (
            json!({"graph": graph, "node": "fetch", "from": from}),
            "chose itself",
        ),
        (
            json!({"graph": graph, "node": "fetch", "output": [1]}),
            "an object",
        ),
        (
            json!({"graph": "", "node": "fetch", "output": {}}),
            "names no graph",
        ),
    ] {
        let refused = app.refused("pins.set", set).await;
        assert!(refused.message.contains(says), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_wrote_nothing_is_pinned_as_that() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let alone = json!({
        "key:n": {"type": "integer"},
        "node:fetch": {"kind": "code", "config": {"source": "emit('worked'); return {};"}},
        "edge:1": {"from": "__start__", "to": "fetch"}
    });
    let mut led = alone.clone();
    led["edge:2"] = json!({"from": "fetch", "to": "__end__"});
    let mut followed = alone.clone();
    followed["node:next"] = json!({"kind": "assign", "config": {"set": {"n": "1"}}});
    followed["edge:2"] = json!({"from": "fetch", "to": "next"});
    for (records, edges) in [(alone, "no edge"), (led, "to the end"), (followed, "to a node")] {
        let graph = app.draft("Nothing", records).await;
        let (thread, _, worked) = run(&mut app, &graph).await;
        assert_eq!(worked, 1);
        let (task, checkpoint) = fetched(&app, &thread).await;
        let from = json!({"threadId": thread["threadId"], "checkpointId": checkpoint, "taskId": task["id"]});
        let pinned = app
            .ok("pins.set", json!({"graph": graph, "node": "fetch", "from": from}))
            .await;
        assert_eq!(pinned["nodes"]["fetch"]["value"], json!({}), "{edges}");
        let (.., worked) = run(&mut app, &graph).await;
        assert_eq!(worked, 0, "{edges}");
    }
}

/// A graph file with one node, which runs another graph file.
fn around(node: &str, graph: &str) -> Value {
    json!({
        "format": "superstep/1", "name": format!("Around {graph}"),
        "state": {"n": {"type": "integer"}, "size": {"type": "string"}},
        "nodes": {node: {"kind": "graph", "config": {"graph": graph}}},
        "edges": [{"from": "__start__", "to": node}]
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_within_others_uses_its_own_pins_and_the_run_names_them_by_the_nodes_around() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = |name: &str| dir.path().canonicalize().unwrap().join(name);
    let inner = app.draft("Fetching", records()).await;
    app.ok(
        "graph.save",
        json!({"graphId": inner, "path": path("inner.json")}),
    )
    .await;
    std::fs::write(path("middle.json"), around("sub", "inner.json").to_string()).unwrap();
    std::fs::write(path("outer.json"), around("desk", "middle.json").to_string()).unwrap();
    let opened = app.ok("graph.open", json!({"path": path("outer.json")})).await;
    let outer = opened["graphId"].as_str().unwrap();

    let (thread, state, worked) = run(&mut app, outer).await;
    assert_eq!((&state["size"], worked), (&json!("small"), 1));
    assert_eq!(thread.get("pinned"), None);

    for node in ["fetch", "gone"] {
        let set = json!({"graph": path("inner.json"), "node": node, "output": {"n": 9}});
        app.ok("pins.set", set).await;
    }
    let (thread, state, worked) = run(&mut app, outer).await;
    assert_eq!((&state["size"], worked), (&json!("big"), 0));
    assert_eq!(thread["pinned"], json!(["desk/sub/fetch"]));

    // A run that is given its own pins, as the command line does, uses no others.
    let given = json!({"graphId": outer, "action": {"type": "input", "input": {}}, "pinned": {}});
    let (own, happened) = app.run(given).await;
    let custom = |event: &&AppEvent| matches!(event, AppEvent::Custom { .. });
    assert_eq!(happened.iter().filter(custom).count(), 1);
    let id = own["threadId"].as_str().unwrap();
    assert_eq!(
        app.ok("thread.get", json!({"threadId": id})).await.get("pinned"),
        None
    );

    // The pin of a graph outside means no node of one inside.
    app.ok("pins.set", json!({"graph": path("inner.json"), "node": "fetch"}))
        .await;
    let set = json!({"graph": path("outer.json"), "node": "fetch", "output": {"n": 9}});
    app.ok("pins.set", set).await;
    let (thread, state, worked) = run(&mut app, outer).await;
    assert_eq!((&state["size"], worked), (&json!("small"), 1));
    assert_eq!(thread.get("pinned"), None);

    // The node of a graph outside covers everything within it.
    let set = json!({"graph": path("middle.json"), "node": "sub", "output": {"size": "pinned"}});
    app.ok("pins.set", set).await;
    let (thread, state, worked) = run(&mut app, outer).await;
    assert_eq!((&state["size"], worked), (&json!("pinned"), 0));
    assert_eq!(thread["pinned"], json!(["desk/sub"]));
    app.close().await;
}
