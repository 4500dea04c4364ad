//! What-if grids: what would have come of a thread, beside what it is, without doing anything to it or to the world.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::effects::{Counting, before_the_work, desk, opened};
use crate::exchanges;

/// Adds up until a limit, then says so.
async fn counter(app: &App) -> String {
    app.draft(
        "Counter",
        json!({
            "key:limit": {"type": "integer", "default": 3},
            "key:stride": {"type": "integer", "default": 1},
            "key:count": {"type": "integer", "reducer": "add", "default": 0},
            "key:text": {"type": "string"},
            "node:add": {"kind": "assign", "config": {"set": {"count": "state.stride"}}},
            "node:say": {"kind": "assign", "config": {"set": {"text": "'Reached ' ~ state.count"}}},
            "edge:1": {"from": "__start__", "to": "add"},
            "edge:2": {"from": "add", "to": "add", "when": "state.count < state.limit"},
            "edge:3": {"from": "add", "to": "say", "when": "state.count >= state.limit"},
            "edge:4": {"from": "say", "to": "__end__"}
        }),
    )
    .await
}

async fn run(app: &mut App, graph: &str, input: Value) -> String {
    let action = json!({"type": "input", "input": input});
    let (run, _) = app.run(json!({"graphId": graph, "action": action})).await;
    run["threadId"].as_str().unwrap().to_owned()
}

/// The checkpoint of a thread, its what-if branches aside, that fits.
async fn moment(app: &App, thread: &str, fits: impl Fn(&Value) -> bool) -> String {
    let listed = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let mut checkpoints = listed["checkpoints"].as_array().unwrap().iter();
    let found = checkpoints.find(|one| one["whatIf"].is_null() && fits(one));
    found.expect("such a checkpoint")["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Runs a grid to its end.
async fn asked(app: &mut App, thread: &str, checkpoint: Option<&str>, grid: Value) -> Value {
    let mut request = json!({"threadId": thread, "grid": grid});
    if let Some(checkpoint) = checkpoint {
        request["checkpointId"] = checkpoint.into();
    }
    let started = app.ok("whatIf.start", request).await;
    ended(app, thread, started["id"].as_str().unwrap()).await
}

async fn ended(app: &mut App, thread: &str, wanted: &str) -> Value {
    app.until(|event| match event {
        AppEvent::WhatIf {
            id, running: false, ..
        } if id == wanted => Some(()),
        _ => None,
    })
    .await;
    let listed = app.ok("whatIf.list", json!({"threadId": thread})).await;
    let mut grids = listed["grids"].as_array().unwrap().iter();
    let grid = grids.find(|grid| grid["id"] == wanted).expect("the grid is kept");
    assert_eq!(grid["running"], json!(false));
    grid.clone()
}

fn column(grid: &Value, name: &str) -> Vec<Value> {
    let results = grid["results"].as_array().unwrap().iter();
    results.map(|result| result[name].clone()).collect()
}

fn outputs(grid: &Value, key: &str) -> Vec<Value> {
    let results = grid["results"].as_array().unwrap().iter();
    results
        .map(|result| result["output"][key]["value"].clone())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_run_beside_the_thread_and_say_what_would_have_come() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = counter(&app).await;
    let thread = run(&mut app, &graph, json!({"limit": 3})).await;
    let before = app.ok("thread.get", json!({"threadId": thread})).await;
    let at = moment(&app, &thread, |one| one["step"] == 1).await;
    let rows = json!({"rows": [
        {"name": "as it is"},
        {"values": {"stride": 5}},
        {"settings": {"/nodes/say/config/set/text": "'Done at ' ~ state.count"}},
        {"values": {"count": 100}},
        {"input": {"limit": 6}}
    ], "scorer": {"expression": "state.count - base.count"}});
    let grid = asked(&mut app, &thread, Some(&at), rows).await;
    assert_eq!(column(&grid, "status"), vec![json!("done"); 5], "{grid:#}");
    assert_eq!(
        outputs(&grid, "text"),
        [
            json!("Reached 3"),
            json!("Reached 6"),
            json!("Done at 3"),
            json!("Reached 100"),
            json!("Reached 6")
        ]
    );
    assert_eq!(
        column(&grid, "score"),
        [json!(0), json!(3), json!(0), json!(97), json!(3)]
    );
    assert_eq!(
        column(&grid, "changed")[0],
        json!(0),
        "nothing is different without a change"
    );
    assert_eq!(grid["base"]["followed"], json!(true));
    assert_eq!(grid["names"][1], "stride = 5");

    // The thread is what it was: its newest checkpoint, its state, and the graph.
    let after = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(after["head"], before["head"]);
    assert_eq!(app.state(&thread, None).await["text"], "Reached 3");
    let listed = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let checkpoints = listed["checkpoints"].as_array().unwrap();
    assert!(checkpoints[0]["whatIf"].is_null(), "now is no branch of a grid");
    let rows = checkpoints.iter().filter_map(|one| one["whatIf"]["row"].as_u64());
    let rows: std::collections::BTreeSet<u64> = rows.collect();
    assert_eq!(rows, (0..5).collect(), "each row has a branch that says so");
    // A thread goes on as if nobody had asked.
    let next = json!({"type": "input", "input": {"limit": 4}});
    let (again, _) = app
        .run(json!({"graphId": graph, "threadId": thread, "action": next}))
        .await;
    assert_eq!(again["status"], "done");
    assert_eq!(app.state(&thread, None).await["text"], "Reached 4");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_input_may_have_been_another_one_and_now_is_a_moment_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = counter(&app).await;
    let thread = run(&mut app, &graph, json!({"limit": 3})).await;
    let first = moment(&app, &thread, |one| one["source"] == "input").await;
    let rows = json!({"rows": [
        {"input": {"limit": 2}}, {"input": {"limit": 9, "stride": 4}}, {"values": {"stride": 7}}, {}]});
    let grid = asked(&mut app, &thread, Some(&first), rows).await;
    let texts = ["Reached 2", "Reached 12", "Reached 7", "Reached 3"].map(|text| json!(text));
    assert_eq!(outputs(&grid, "text"), texts, "{grid:#}");
    let now = asked(
        &mut app,
        &thread,
        None,
        json!({"rows": [{"input": {"limit": 5}}]}),
    )
    .await;
    assert_eq!(outputs(&now, "text"), [json!("Reached 5")], "{now:#}");
    assert_eq!(now["base"]["followed"], json!(false));
    assert_eq!(app.state(&thread, None).await["text"], "Reached 3");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_is_not_done_again_and_what_was_not_is_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    let mut app = opened(dir.path(), &server).await;
    let graph = desk(&app, &server).await;
    let thread = run(&mut app, &graph, json!({"amount": 40})).await;
    let at = before_the_work(&app, &thread).await;
    let done = || ["/book", "/mail", "/tell"].map(|path| server.requests(path));
    assert_eq!(done(), [1, 1, 1]);
    let rows = json!({"rows": [{}, {"values": {"amount": 50}}], "repeat": 2});
    let grid = asked(&mut app, &thread, Some(&at), rows).await;
    assert_eq!(
        column(&grid, "status"),
        [json!("done"), json!("done"), json!("held"), json!("held")],
        "the same input uses the result, another one stops: {grid:#}"
    );
    assert_eq!(column(&grid, "node")[2], json!("book"));
    assert_eq!(done(), [1, 1, 1], "nothing was asked of the server");
    let again = json!({"rows": [{"values": {"amount": 50}}], "effects": {"book": "again"}});
    let grid = asked(&mut app, &thread, Some(&at), again).await;
    assert_eq!(column(&grid, "node"), [json!("mail")], "{grid:#}");
    assert_eq!(done(), [2, 1, 1], "only what was allowed worked");
    // A thread that has not come to the work yet.
    let action = json!({"type": "input", "input": {"amount": 7}});
    let (stopped, _) = app
        .run(json!({"graphId": graph, "action": action, "breakAfter": ["look"]}))
        .await;
    let fresh = stopped["threadId"].as_str().unwrap();
    let grid = asked(&mut app, fresh, None, json!({"rows": [{}]})).await;
    assert_eq!(column(&grid, "status"), [json!("held")], "{grid:#}");
    assert_eq!(done(), [2, 1, 1], "nothing works for the first time either");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_asks_ends_there_and_nobody_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Asks",
            json!({
                "key:amount": {"type": "integer"},
                "key:decision": {"type": "string"},
                "node:check": {"kind": "ask", "config": {
                    "question": "Pay {{ state.amount }}?", "choices": [{"label": "Yes", "value": "yes"}], "into": "decision"}},
                "edge:1": {"from": "__start__", "to": "check"}
            }),
        )
        .await;
    let thread = run(&mut app, &graph, json!({"amount": 5})).await;
    let waiting = app.ok("inbox.list", json!({})).await["questions"].clone();
    assert_eq!(waiting.as_array().unwrap().len(), 1);
    let grid = asked(
        &mut app,
        &thread,
        None,
        json!({"rows": [{"values": {"amount": 9}}, {}]}),
    )
    .await;
    assert_eq!(
        column(&grid, "status"),
        [json!("asked"), json!("asked")],
        "{grid:#}"
    );
    assert_eq!(column(&grid, "asks"), [json!("Pay 9?"), json!("Pay 5?")]);
    assert_eq!(column(&grid, "node"), [json!("check"), json!("check")]);
    let after = app.ok("inbox.list", json!({})).await;
    assert_eq!(
        after["questions"], waiting,
        "the thread's question waits as before, and no other"
    );
    assert_eq!(after["waiting"], json!(1));
    // The thread's own question is answered as ever.
    let answer = json!({"type": "resume", "answers": {waiting[0]["interruptId"].as_str().unwrap(): "yes"}});
    let (run, _) = app.run(json!({"threadId": thread, "action": answer})).await;
    assert_eq!(run["status"], "done", "{run}");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_fails_or_takes_too_long_says_so_and_the_others_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Slow",
            json!({
                "key:n": {"type": "integer"},
                "key:out": {"type": "number"},
                "node:wait": {"kind": "delay", "config": {"seconds": "state.n"}},
                "node:divide": {"kind": "code", "config": {
                    "source": "if (state.n < 0) throw new Error('below zero'); return {out: 10 / (state.n + 1)};"}},
                "edge:1": {"from": "__start__", "to": "divide"},
                "edge:2": {"from": "divide", "to": "wait"}
            }),
        )
        .await;
    let thread = run(&mut app, &graph, json!({"n": 0})).await;
    let first = moment(&app, &thread, |one| one["source"] == "input").await;
    let rows = json!({"rows": [{"input": {"n": -1}}, {"input": {"n": 600}}, {"input": {"n": 0}}],
        "limit": {"seconds": 20}, "concurrency": 3});
    let grid = asked(&mut app, &thread, Some(&first), rows).await;
    assert_eq!(
        column(&grid, "status"),
        [json!("failed"), json!("limit"), json!("done")],
        "{grid:#}"
    );
    let problem = &column(&grid, "problem")[0];
    assert!(
        problem["message"].as_str().unwrap().contains("below zero"),
        "{problem}"
    );
    assert_eq!(column(&grid, "node")[0], json!("divide"));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_models_cost_is_counted_and_limited() {
    let dir = tempfile::tempdir().unwrap();
    let address = exchanges::model_server("openai-agent").await;
    let mut app = exchanges::app(dir.path(), &address).await;
    let graph = exchanges::agent(&app, "proxy::scripted-1").await;
    let thread = run(&mut app, &graph, exchanges::question()).await;
    let first = moment(&app, &thread, |one| one["source"] == "input").await;
    let grid = asked(&mut app, &thread, Some(&first), json!({"rows": [{}]})).await;
    let (tokens, cost) = (&column(&grid, "tokens")[0], &column(&grid, "cost")[0]);
    assert!(tokens.as_u64().unwrap() > 0, "{grid:#}");
    assert!(cost[0]["amount"].as_f64().unwrap() > 0.0, "{cost}");
    let limited = json!({"rows": [{}, {}, {}], "concurrency": 1, "total": {"tokens": 1}});
    let grid = asked(&mut app, &thread, Some(&first), limited).await;
    assert_eq!(column(&grid, "status"), vec![json!("limit"); 3], "{grid:#}");
    assert_eq!(
        column(&grid, "tokens")[2],
        json!(0),
        "what had not begun does not begin"
    );
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_rows_give_the_same_each_time_and_a_stopped_grid_keeps_what_has_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = counter(&app).await;
    let thread = run(&mut app, &graph, json!({"limit": 3})).await;
    let at = moment(&app, &thread, |one| one["step"] == 1).await;
    let rows: Vec<Value> = (1..=60)
        .map(|stride| json!({"values": {"stride": stride}}))
        .collect();
    let grid = json!({"rows": rows, "concurrency": 8, "scorer": {"expression": "state.count"}});
    let one = asked(&mut app, &thread, Some(&at), grid.clone()).await;
    let two = asked(&mut app, &thread, Some(&at), grid).await;
    assert_eq!(column(&one, "score"), column(&two, "score"));
    assert_eq!(column(&one, "score")[59], json!(61), "after one step of one");
    let listed = app
        .ok("thread.checkpoints", json!({"threadId": thread, "limit": 5000}))
        .await;
    let ids: Vec<&str> = listed["checkpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    let different: std::collections::HashSet<&&str> = ids.iter().collect();
    assert_eq!(different.len(), ids.len(), "no two branches share an id");

    let slow: Vec<Value> = (0..40).map(|_| json!({"values": {"limit": 900}})).collect();
    let started = app
        .ok(
            "whatIf.start",
            json!({"threadId": thread, "checkpointId": at, "grid": {"rows": slow, "concurrency": 1}}),
        )
        .await;
    let id = started["id"].as_str().unwrap().to_owned();
    app.ok("whatIf.stop", json!({"threadId": thread, "id": id})).await;
    let listed = app.ok("whatIf.list", json!({"threadId": thread})).await;
    let stopped = &listed["grids"][0];
    assert_eq!((&stopped["id"], &stopped["running"]), (&json!(id), &json!(false)));
    assert_eq!(column(stopped, "status")[39], json!("stopped"));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grid_is_kept_a_winner_is_taken_over_and_both_go_with_the_thread() {
    let dir = tempfile::tempdir().unwrap();
    let (thread, id) = {
        let mut app = App::open(dir.path()).await;
        let graph = counter(&app).await;
        let thread = run(&mut app, &graph, json!({"limit": 3})).await;
        let at = moment(&app, &thread, |one| one["step"] == 1).await;
        let row = json!({"settings": {"/nodes/say/config/set/text": "'So ' ~ state.count"}});
        let grid = asked(&mut app, &thread, Some(&at), json!({"rows": [row]})).await;
        let edit = app.ok("whatIf.edit", json!({"graphId": graph, "row": row})).await;
        assert_eq!(edit["ops"][0]["id"], "node:say");
        assert_eq!(
            edit["ops"][0]["to"]["config"]["set"]["text"],
            "'So ' ~ state.count"
        );
        let id = grid["id"].as_str().unwrap().to_owned();
        app.close().await;
        (thread, id)
    };
    let mut app = App::open(dir.path()).await;
    let listed = app.ok("whatIf.list", json!({"threadId": thread})).await;
    assert_eq!(listed["grids"][0]["id"], json!(id), "after a restart");
    let take = json!({"threadId": thread, "id": id, "row": 0});
    app.ok("whatIf.take", take).await;
    assert_eq!(app.state(&thread, None).await["text"], "So 3");
    let checkpoints = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    assert!(
        checkpoints["checkpoints"][0]["whatIf"].is_null(),
        "it is the thread's now"
    );
    app.ok("thread.delete", json!({"threadId": thread})).await;
    let listed = app.ok("whatIf.list", json!({"threadId": thread})).await;
    assert_eq!(listed["grids"], json!([]));
    let _ = &mut app;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grid_that_cannot_run_is_refused_with_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = counter(&app).await;
    let thread = run(&mut app, &graph, json!({"limit": 3})).await;
    for (grid, expected) in [
        (json!({"rows": []}), "no rows"),
        (
            json!({"rows": [{}, {"values": {"nothing": 1}}]}),
            "Row 2 (nothing = 1)",
        ),
        (json!({"rows": [{"values": {"limit": "five"}}]}), "Row 1"),
        (json!({"rows": [{"input": [1]}]}), "`input` is not an object"),
        (
            json!({"rows": [{"settings": {"/nodes/gone/config/x/y": 1}}]}),
            "/nodes/gone/config/x/y",
        ),
        (
            json!({"rows": [{"settings": {"/nodes/say/config/set": "'"}}]}),
            "Row 1",
        ),
        (
            json!({"rows": [{"model": "m"}]}),
            "No node of the graph asks a model",
        ),
        (json!({"rows": [{"asNode": "gone"}]}), "`asNode` names `gone`"),
        (json!({"rows": [{}], "repeat": 0}), "too many or none"),
        (json!({"rows": [{}], "concurrency": 99}), "99 rows"),
        (
            json!({"rows": [{}], "limit": {"seconds": 0}}),
            "`limit` allows nothing",
        ),
        (
            json!({"rows": [{}], "effects": {"gone": "again"}}),
            "`effects` names the node `gone`",
        ),
        (json!({"rows": [{}], "scorer": {"expression": "1 +"}}), "scorer"),
        (
            json!({"rows": [{}], "scorer": {}}),
            "neither an expression nor a model",
        ),
    ] {
        let problem = app
            .refused("whatIf.start", json!({"threadId": thread, "grid": grid}))
            .await;
        assert!(problem.message.contains(expected), "{grid}: {}", problem.message);
        assert!(problem.remedy.is_some(), "{grid}");
    }
    app.refused(
        "whatIf.start",
        json!({"threadId": "gone", "grid": {"rows": [{}]}}),
    )
    .await;
    app.close().await;
}
