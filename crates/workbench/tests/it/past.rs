//! What the checkpoints of a thread say, editing it by hand, and going on from its past.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::threads::{begin, checkpoints, line, only, thread_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints_come_in_pages_and_say_how_they_were_made() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let thread = thread_of(&mut app, begin(&graph)).await;
    let all = checkpoints(&app, &thread).await;
    assert_eq!(all.len(), 5);
    for (at, checkpoint) in all.iter().enumerate() {
        assert_eq!(checkpoint["step"], 3 - at as i64);
        let parent = all.get(at + 1).map(|older| &older["id"]);
        assert_eq!(checkpoint.get("parent"), parent);
        let source = if at == 4 { "input" } else { "loop" };
        assert_eq!(checkpoint["source"], source);
        assert_eq!(
            (&checkpoint["questions"], &checkpoint["failed"]),
            (&json!(0), &json!(0))
        );
    }
    assert_eq!(
        (&all[0]["next"], &all[1]["next"], &all[1]["updated"]),
        (&json!([]), &json!(["c"]), &json!(["log"])),
        "channels of the engine are no state keys"
    );

    let page = |limit: u32, before: Value| json!({"threadId": thread, "limit": limit, "before": before});
    for limit in 1..=5 {
        let mut seen = Vec::new();
        let mut before = Value::Null;
        loop {
            let found = app.ok("thread.checkpoints", page(limit, before)).await;
            let checkpoints = found["checkpoints"].as_array().unwrap();
            assert!(checkpoints.len() <= limit as usize);
            seen.extend(checkpoints.iter().cloned());
            before = checkpoints.last().unwrap()["id"].clone();
            if found["more"] == false {
                break;
            }
            assert_eq!(checkpoints.len(), limit as usize, "a page with more is full");
        }
        assert_eq!(seen, all, "in pages of {limit}");
    }
    let last = app.ok("thread.checkpoints", page(2, all[4]["id"].clone())).await;
    assert_eq!(last, json!({"checkpoints": [], "more": false, "runs": []}));
    let unknown = json!({"threadId": "nobody"});
    assert_eq!(app.refused("thread.checkpoints", unknown).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_is_made_as_a_node_and_shows_first_what_would_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let mut step = begin(&graph);
    step["singleStep"] = true.into();
    let thread = thread_of(&mut app, step).await;
    let before = checkpoints(&app, &thread).await;
    let edit = |preview: bool| json!({"threadId": thread, "values": {"log": ["x"]}, "asNode": "b", "preview": preview});
    let shown = app.ok("thread.update", edit(true)).await;
    assert_eq!(shown, json!({"next": ["c"], "asNode": "b"}));
    assert_eq!(
        checkpoints(&app, &thread).await,
        before,
        "a preview stores nothing"
    );

    let made = app.ok("thread.update", edit(false)).await;
    assert_eq!((&made["next"], &made["asNode"]), (&json!(["c"]), &json!("b")));
    let said = app
        .until(|event| match event {
            AppEvent::Checkpoint { checkpoint, .. } if checkpoint.source == "update" => {
                Some(checkpoint.id.clone())
            }
            _ => None,
        })
        .await;
    assert_eq!(made["checkpointId"], said, "every window learns of it");
    let after = checkpoints(&app, &thread).await;
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(
        (&after[0]["source"], &after[0]["asNode"], &after[0]["updated"]),
        (&json!("update"), &json!("b"), &json!(["log"]))
    );
    assert_eq!(app.state(&thread, None).await["log"], json!(["a", "x"]));

    let replace = json!({"threadId": thread, "values": {"log": ["only"], "n": 4}, "overwrite": ["log", "n"], "asNode": "b"});
    app.ok("thread.update", replace).await;
    let state = app.state(&thread, None).await;
    assert_eq!((&state["log"], &state["n"]), (&json!(["only"]), &json!(4)));
    let one =
        json!({"threadId": thread, "values": {"log": ["more"], "n": 5}, "overwrite": ["n"], "asNode": "b"});
    app.ok("thread.update", one).await;
    let state = app.state(&thread, None).await;
    assert_eq!(
        (&state["log"], &state["n"]),
        (&json!(["only", "more"]), &json!(5))
    );
    let on = json!({"threadId": thread, "action": {"type": "continue"}});
    assert_eq!(app.run(on).await.0["status"], "done");
    assert_eq!(
        app.state(&thread, None).await["log"],
        json!(["only", "more", "c"])
    );
    let head = checkpoints(&app, &thread).await.remove(0);
    assert_eq!(
        (head.get("asNode"), &head["updated"], &head["source"]),
        (None, &json!(["log"]), &json!("loop")),
        "what follows an edit was made by the run"
    );

    for (values, code) in [
        (json!(7), "invalid-request"),
        (json!({"n": "many"}), "does-not-fit"),
    ] {
        let wrong = json!({"threadId": thread, "values": values, "asNode": "b"});
        assert_eq!(app.refused("thread.update", wrong).await.code, code);
    }
    let nowhere = json!({"threadId": "nobody", "values": {"n": 1}, "asNode": "b"});
    assert_eq!(app.refused("thread.update", nowhere).await.code, "not-found");

    // With a graph, an edit may also begin a thread.
    let fresh = json!({"threadId": "fresh", "graphId": graph, "values": {"n": 1}, "asNode": "__start__"});
    app.ok("thread.update", fresh).await;
    let view = app.ok("thread.get", json!({"threadId": "fresh"})).await;
    assert_eq!(
        (&view["title"], &view["graphName"], &view["status"]),
        (&json!("Line"), &json!("Line"), &json!("paused"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_cannot_begin_says_why_and_leaves_no_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let input = |input: Value| json!({"graphId": graph, "action": {"type": "input", "input": input}});
    for (request, code) in [
        (input(json!([1])), "invalid-request"),
        (input(json!({"n": "many"})), "does-not-fit"),
        (
            json!({"action": {"type": "input", "input": {}}}),
            "invalid-request",
        ),
        (
            json!({"graphId": graph, "action": {"type": "continue"}}),
            "invalid-request",
        ),
        (
            json!({"graphId": "none", "action": {"type": "input", "input": {}}}),
            "not-found",
        ),
        (
            json!({"threadId": "none", "action": {"type": "continue"}}),
            "not-found",
        ),
    ] {
        let refused = app.refused("run.start", request.clone()).await;
        assert_eq!(refused.code, code, "{request}");
    }
    assert_eq!(app.ok("thread.list", json!({})).await["total"], 0);
    app.ok("run.stop", json!({"threadId": "none"})).await;

    // A thread is free again at once, and another input goes on with it.
    let thread = thread_of(&mut app, input(json!({"n": 1}))).await;
    let more = json!({"threadId": thread, "action": {"type": "input", "input": {"n": 2}}});
    assert_eq!(app.run(more).await.0["status"], "done");
    let state = app.state(&thread, None).await;
    assert_eq!(
        (&state["n"], &state["log"]),
        (&json!(2), &json!(["a", "b", "c", "a", "b", "c"]))
    );
    // From a past checkpoint it makes a branch.
    let oldest = checkpoints(&app, &thread).await.pop().unwrap();
    let before = json!({"threadId": thread, "action": {"type": "input", "input": {"n": 3}, "checkpointId": oldest["id"]}});
    assert_eq!(app.run(before).await.0["status"], "done");
    let state = app.state(&thread, None).await;
    assert_eq!((&state["n"], &state["log"]), (&json!(3), &json!(["a", "b", "c"])));
    // A limit of zero steps is one.
    let short = json!({"graphId": graph, "recursionLimit": 0, "action": {"type": "input", "input": {}}});
    let run = app.run(short).await.0;
    assert_eq!(run["problem"]["code"], "recursion-limit");
    assert!(run["endedAt"].as_str() >= run["startedAt"].as_str());
    let of = json!({"threadId": run["threadId"]});
    assert_eq!(app.ok("thread.get", of).await["next"], json!(["b"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_with_many_errors_names_some_and_counts_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    for (broken, more) in [(3, None), (5, Some("and 2 more"))] {
        let graph = app.draft("Line", line()).await;
        let ops: Vec<Value> = (0..broken)
            .map(|n| {
                let node = json!({"kind": "assign", "config": {"set": {"log": "state.("}}});
                json!({"id": format!("node:x{n}"), "from": null, "to": node})
            })
            .collect();
        let patch = json!({"graphId": graph, "baseRev": 1, "ops": ops});
        let found = app.ok("graph.apply", patch).await;
        let errors = found["diagnostics"].as_array().unwrap();
        let errors = errors.iter().filter(|found| found["severity"] == "error");
        assert_eq!(errors.count(), broken);
        let refused = app.refused("run.start", begin(&graph)).await;
        assert_eq!(refused.code, "graph-invalid");
        assert_eq!(
            refused.message.matches("node:x").count(),
            3,
            "{}",
            refused.message
        );
        assert!(
            more.is_none_or(|more| refused.message.ends_with(more)),
            "{}",
            refused.message
        );
        assert_eq!(refused.message.contains(" more"), more.is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_node_emits_comes_under_its_name_while_it_works_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let emits = json!({"kind": "code", "config": {"source": "emit('hello'); return {};"}});
    let graph = app.draft("Alone", only(emits)).await;
    let (_, events) = app.run(begin(&graph)).await;
    let emitted: Vec<(&str, &Value)> = (events.iter())
        .filter_map(|event| match event {
            AppEvent::Custom { node, value, .. } => Some((node.as_str(), value)),
            _ => None,
        })
        .collect();
    assert_eq!(emitted, [("it", &json!("hello"))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn far_branches_are_compared_by_where_they_part() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Long",
            json!({
                "key:n": {"type": "integer", "reducer": "add"},
                "node:a": {"kind": "assign", "config": {"set": {"n": "1"}}},
                "edge:1": {"from": "__start__", "to": "a"},
                "edge:2": {"from": "a", "to": "a", "when": "state.n < 90"},
                "edge:3": {"from": "a", "to": "__end__", "when": "state.n >= 90"}
            }),
        )
        .await;
    let mut start = begin(&graph);
    start["recursionLimit"] = 200.into();
    let thread = thread_of(&mut app, start).await;
    let all = checkpoints(&app, &thread).await;
    assert_eq!(all.len(), 92);
    let head = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(head["visits"], json!([{"node": "a", "runs": 90}]));
    let middle = &all[85];
    let replay = json!({"threadId": thread, "recursionLimit": 200, "action": {"type": "replay", "checkpointId": middle["id"]}});
    assert_eq!(app.run(replay).await.0["status"], "done");
    let both =
        json!({"left": {"threadId": thread, "checkpointId": all[0]["id"]}, "right": {"threadId": thread}});
    let found = app.ok("thread.compare", both.clone()).await;
    let part = found["commonAncestor"].as_str().unwrap();
    assert!(
        all[86..].iter().chain([middle]).any(|old| old["id"] == part),
        "{part} is not before {}",
        middle["id"]
    );
    let turned = json!({"left": both["right"], "right": both["left"]});
    assert_eq!(app.ok("thread.compare", turned).await["commonAncestor"], part);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_ends_with_the_program_and_its_thread_can_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let endless = json!({"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}});
    let graph = app.draft("Endless", only(endless)).await;
    let started = app.ok("run.start", begin(&graph)).await;
    let works = |event: &AppEvent| matches!(event, AppEvent::TaskStarted { .. }).then_some(());
    app.until(works).await;
    let of = json!({"threadId": started["threadId"]});
    app.workbench.shutdown().await;
    let view = app.ok("thread.get", of.clone()).await;
    assert_eq!(
        (&view["status"], &view["next"]),
        (&json!("stopped"), &json!(["it"]))
    );
    drop(app);
    let app = App::open(dir.path()).await;
    assert_eq!(app.ok("thread.get", of).await["status"], "stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_the_past_is_skipped_and_the_rest_runs_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Fan",
            json!({
                "key:log": {"type": "array", "reducer": "append"},
                "node:a": {"kind": "assign", "config": {"set": {"log": "'a'"}}},
                "node:b": {"kind": "assign", "config": {"set": {"log": "'b'"}}},
                "node:c": {"kind": "assign", "config": {"set": {"log": "state.log | length"}}},
                "edge:1": {"from": "__start__", "to": "a"},
                "edge:2": {"from": "__start__", "to": "b"},
                "edge:3": {"from": ["a", "b"], "to": "c"},
                "edge:4": {"from": "c", "to": "__end__"}
            }),
        )
        .await;
    let thread = thread_of(&mut app, begin(&graph)).await;
    assert_eq!(app.state(&thread, None).await["log"], json!(["a", "b", 2]));
    let all = checkpoints(&app, &thread).await;
    let fan = all
        .iter()
        .find(|one| one["next"] == json!(["a", "b"]))
        .expect("before the fan");
    let skip = |preview: bool| {
        json!({
            "threadId": thread, "checkpointId": fan["id"], "values": null, "skipStep": true, "preview": preview
        })
    };
    let seen = app.ok("thread.update", skip(true)).await;
    assert_eq!((&seen["next"], seen.get("checkpointId")), (&json!(["c"]), None));
    assert_eq!(
        checkpoints(&app, &thread).await.len(),
        all.len(),
        "a preview stores nothing"
    );
    let made = app.ok("thread.update", skip(false)).await;
    assert_eq!(made["next"], json!(["c"]), "the join counts both as done");
    let head = &checkpoints(&app, &thread).await[0];
    assert_eq!(
        (&head["source"], &head["updated"], &head["parent"]),
        (&json!("update"), &json!([]), &fan["id"])
    );
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(app.state(&thread, None).await["log"], json!([0]));
    let last = &all[0]["id"];
    assert_eq!(
        app.state(&thread, last.as_str()).await["log"],
        json!(["a", "b", 2]),
        "the other branch is as it was"
    );
    let nothing = json!({"threadId": thread, "checkpointId": last, "values": null, "skipStep": true});
    let problem = app.refused("thread.update", nothing).await;
    assert!(problem.message.contains("no step to skip"), "{problem:?}");
}
