//! Breakpoints belong to a graph and are the same in every window.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

fn point(node: &str) -> Value {
    json!({"node": node, "when": "before", "enabled": true})
}

async fn points(app: &App, graph: &str) -> Value {
    app.ok("breakpoints.get", json!({"graph": graph})).await["points"].clone()
}

async fn reported(app: &mut App) -> Value {
    let breakpoints = app
        .until(|event| match event {
            AppEvent::Breakpoints { breakpoints } => Some(json!(breakpoints)),
            _ => None,
        })
        .await;
    breakpoints["points"].clone()
}

#[tokio::test]
async fn every_window_hears_of_breakpoints_and_they_outlive_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut second = app.workbench.subscribe();
    assert_eq!(points(&app, "/graphs/a.json").await, json!([]));
    let off = json!({"node": "b", "when": "after", "enabled": false});
    let set = json!({"graph": "/graphs/a.json", "points": [point("a"), off, point("a")]});
    let kept = app.ok("breakpoints.change", set).await["points"].clone();
    assert_eq!(kept, json!([point("a"), off]), "one of a kind");
    assert_eq!(reported(&mut app).await, kept);
    let batch = second.next().await.unwrap();
    assert!(
        matches!(&batch.events[..], [AppEvent::Breakpoints { breakpoints }] if json!(breakpoints.points) == kept)
    );
    drop(second);
    app.close().await;

    let mut app = App::open(dir.path()).await;
    assert_eq!(points(&app, "/graphs/a.json").await, kept);
    assert_eq!(points(&app, "/graphs/b.json").await, json!([]));
    app.ok(
        "breakpoints.change",
        json!({"graph": "/graphs/a.json", "removed": ["before:a", "after:b"]}),
    )
    .await;
    assert_eq!(reported(&mut app).await, json!([]));
    assert_eq!(points(&app, "/graphs/a.json").await, json!([]));
    assert_eq!(
        app.refused("breakpoints.change", json!({"graph": "", "points": []}))
            .await
            .code,
        "invalid-request"
    );
}

#[tokio::test]
async fn breakpoints_go_with_a_draft_to_its_file_and_with_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let draft = app.ok("graph.new", json!({"name": "one"})).await["graphId"].clone();
    let draft = draft.as_str().unwrap();
    app.ok(
        "breakpoints.change",
        json!({"graph": draft, "points": [point("a")]}),
    )
    .await;
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let saved = app
        .ok("graph.save", json!({"graphId": draft, "path": path("one.json")}))
        .await;
    let one = saved["path"].as_str().unwrap();
    assert_eq!(points(&app, one).await, json!([point("a")]));
    assert_eq!(
        points(&app, draft).await,
        json!([point("a")]),
        "a draft is followed to its file"
    );

    let saved = app
        .ok("graph.save", json!({"graphId": draft, "path": path("two.json")}))
        .await;
    let two = saved["path"].as_str().unwrap();
    assert_eq!(points(&app, two).await, json!([point("a")]));
    app.ok(
        "breakpoints.change",
        json!({"graph": two, "points": [point("b")], "removed": ["before:a"]}),
    )
    .await;
    assert_eq!(points(&app, two).await, json!([point("b")]));
    assert_eq!(
        points(&app, one).await,
        json!([point("a")]),
        "each file has its own"
    );
}

#[tokio::test]
async fn another_program_on_the_data_folder_is_notified() {
    let dir = tempfile::tempdir().unwrap();
    let (one, mut two) = (App::open(dir.path()).await, App::open(dir.path()).await);
    // What opening changed is reported first.
    two.settled(dir.path()).await;
    let set = json!({"graph": "/graphs/a.json", "points": [point("a")]});
    one.ok("breakpoints.change", set).await;
    two.until(|event| matches!(event, AppEvent::Changed { threads: true, .. }).then_some(()))
        .await;
    assert_eq!(points(&two, "/graphs/a.json").await, json!([point("a")]));
}

#[tokio::test]
async fn what_two_windows_change_at_once_is_all_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (App::open(dir.path()).await, App::open(dir.path()).await);
    let graph = "/graphs/a.json";
    let named = |id: &str, node: &str| json!({"id": id, "node": node, "when": "before", "enabled": true});
    let first: Vec<Value> = ["a", "b", "c"].map(|id| named(id, id)).into();
    one.ok("breakpoints.change", json!({"graph": graph, "points": first}))
        .await;
    // Both know these three. Each changes something else, several times at once.
    let off = json!({"id": "a", "node": "a", "when": "before", "enabled": false});
    let when = json!({"id": "c", "node": "c", "when": "before", "condition": "state.n > 2", "enabled": true});
    let add = |app: App, letter: char| async move {
        for number in 0..20 {
            let id = format!("{letter}{number}");
            let change = json!({"graph": graph, "points": [named(&id, &id)]});
            app.ok("breakpoints.change", change).await;
        }
        app
    };
    one.ok("breakpoints.change", json!({"graph": graph, "points": [off]}))
        .await;
    two.ok(
        "breakpoints.change",
        json!({"graph": graph, "points": [when], "removed": ["b"]}),
    )
    .await;
    let (one, two) = tokio::join!(tokio::spawn(add(one, 'x')), tokio::spawn(add(two, 'y')));
    let (one, two) = (one.unwrap(), two.unwrap());
    let kept = points(&one, graph).await;
    assert_eq!(points(&two, graph).await, kept);
    let kept = kept.as_array().unwrap();
    assert_eq!((kept.len(), &kept[0], &kept[1]), (42, &off, &when));
    for letter in ['x', 'y'] {
        for number in 0..20 {
            let id = format!("{letter}{number}");
            assert!(kept.iter().any(|point| point["id"] == *id), "{id} is kept");
        }
    }
}

/// `count` adds one to `n` until it is 4, then `end`.
fn rounds() -> serde_json::Value {
    json!({
        "key:n": {"type": "integer", "default": 0},
        "key:log": {"type": "array", "reducer": "append"},
        "node:count": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}},
        "node:end": {"kind": "assign", "config": {"set": {"log": "'end'"}}},
        "edge:1": {"from": "__start__", "to": "count"},
        "edge:2": {"from": "count", "to": "count", "when": "state.n < 4"},
        "edge:3": {"from": "count", "to": "end", "when": "state.n >= 4"},
        "edge:4": {"from": "end", "to": "__end__"}
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_condition_stops_a_run_and_the_run_says_why_after_a_restart_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Rounds", rounds()).await;
    let points = json!([
        {"id": "off", "when": "before", "node": "count", "enabled": false},
        {"id": "gone", "when": "before", "node": "nobody", "enabled": true},
        {"id": "key", "when": "key", "key": "n", "condition": "new == 2", "enabled": true},
    ]);
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}, "breakpoints": points}))
        .await;
    assert_eq!(run["status"], "paused");
    assert_eq!(run["stop"]["reason"], "`n` became 2, written by `count`");
    assert_eq!(run["stop"]["breakpoint"], "key");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    app.close().await;

    let mut app = App::open(dir.path()).await;
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(view["run"]["stop"]["node"], "count", "{view}");
    let edge = json!([{"id": "e", "when": "edge", "node": "count", "to": "end", "enabled": true}]);
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}, "breakpoints": edge}))
        .await;
    assert_eq!(run["stop"]["reason"], "`count` led to `end`");
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!((&run["status"], &run["stop"]), (&json!("done"), &json!(null)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hits_are_counted_on_when_a_run_goes_on_after_a_stop_and_from_one_with_a_new_input() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Rounds", rounds()).await;
    let visit = |id: &str, hits: u32| json!({"id": id, "when": "before", "node": "count", "hits": {"rule": "nth", "n": hits}, "enabled": true});
    let points = json!([visit("second", 2), visit("fourth", 4)]);
    let mut thread = json!(null);
    for _ in ["of a new thread", "of its next turn"] {
        let mut start =
            json!({"graphId": graph, "action": {"type": "input", "input": {"n": 0}}, "breakpoints": points});
        if thread.is_string() {
            start["threadId"] = thread.clone();
        }
        let (run, _) = app.run(start).await;
        thread = run["threadId"].clone();
        assert_eq!(run["stop"]["breakpoint"], "second", "{run}");
        let go_on = json!({"threadId": thread, "action": {"type": "continue"}, "breakpoints": points});
        let (run, _) = app.run(go_on.clone()).await;
        assert_eq!(run["stop"]["breakpoint"], "fourth", "{run}");
        let (run, _) = app.run(go_on).await;
        assert_eq!(run["status"], "done");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_breakpoint_that_stops_once_is_gone_then() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Rounds", rounds()).await;
    let once = json!({"id": "here", "when": "after", "node": "count", "once": true, "enabled": true});
    let stays = json!({"id": "stays", "when": "before", "node": "end", "enabled": true});
    let both = json!([once, stays]);
    app.ok("breakpoints.change", json!({"graph": graph, "points": both}))
        .await;
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}, "breakpoints": both});
    let (run, _) = app.run(start).await;
    assert_eq!(run["stop"]["breakpoint"], "here");
    assert_eq!(points(&app, &graph).await, json!([stays]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_breakpoint_that_cannot_be_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graph = app.draft("Rounds", rounds()).await;
    let point = json!([{"when": "after", "node": "count", "condition": "retries > 2", "enabled": true}]);
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}, "breakpoints": point});
    let problem = app.refused("run.start", start).await;
    assert_eq!(problem.code, "invalid-breakpoint");
    assert!(
        problem.message.contains("there is no `retries` here"),
        "{problem}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_task_of_a_step_runs_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Fan",
            json!({
                "key:log": {"type": "array", "reducer": "append"},
                "node:a": {"kind": "assign", "config": {"set": {"log": "'a'"}}},
                "node:b": {"kind": "assign", "config": {"set": {"log": "'b'"}}},
                "edge:1": {"from": "__start__", "to": "a"},
                "edge:2": {"from": "__start__", "to": "b"},
            }),
        )
        .await;
    let before = json!([{"id": "x", "when": "before", "node": "a", "enabled": true}]);
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}, "breakpoints": before}))
        .await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let live = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let b = live["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|task| task["node"] == "b")
        .unwrap();
    let alone = json!({"threadId": thread, "action": {"type": "continue"}, "stepTask": b["id"]});
    let (run, _) = app.run(alone).await;
    assert_eq!(run["status"], "paused");
    assert_eq!(run["stop"]["reason"], "`b` ran alone; 1 task of the step waits");
    let live = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(live["next"], json!(["a"]));
    let next = json!({"threadId": thread, "action": {"type": "continue"}, "stepTask": "next"});
    let (run, _) = app.run(next).await;
    assert_eq!(run["stop"]["reason"], "`a` ran, the last task of its step");
    assert_eq!(app.state(&thread, None).await["log"], json!(["a", "b"]));
}
