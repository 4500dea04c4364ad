//! What a task does that runs another graph.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::effects::{Counting, grant, opened};

fn write(dir: &std::path::Path, name: &str, graph: &Value) -> String {
    let path = dir.join(name);
    std::fs::write(&path, graph.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn nested(dir: &std::path::Path) -> String {
    let inner = json!({
        "format": "superstep/1", "name": "Inner",
        "state": {"n": {"type": "integer", "reducer": "add"}, "word": {"type": "string"}},
        "nodes": {
            "one": {"kind": "assign", "config": {"set": {"n": "1"}}},
            "two": {"kind": "ask", "config": {"question": "Word?", "into": "word"}}
        },
        "edges": [{"from": "__start__", "to": "one"}, {"from": "one", "to": "two"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer",
        "state": {"n": {"type": "integer", "reducer": "add"}, "word": {"type": "string"}},
        "nodes": {"work": {"kind": "graph", "config": {"graph": "inner.json"}}},
        "edges": [{"from": "__start__", "to": "work"}]
    });
    write(dir, "inner.json", &inner);
    write(dir, "outer.json", &outer)
}

/// A graph of a step, then a nested graph or another step.
fn level(dir: &std::path::Path, name: &str, first: &str, then: &str, inner: Option<&str>) -> String {
    let second = match inner {
        Some(inner) => json!({"kind": "graph", "config": {"graph": inner}}),
        None => json!({"kind": "assign", "config": {"set": {"n": "1"}}}),
    };
    let graph = json!({
        "format": "superstep/1", "name": name,
        "state": {"n": {"type": "integer", "reducer": "add"}},
        "nodes": {first: {"kind": "assign", "config": {"set": {"n": "1"}}}, then: second},
        "edges": [{"from": "__start__", "to": first}, {"from": first, "to": then}]
    });
    write(dir, &format!("{name}.json"), &graph)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_level_what_comes_next_is_what_has_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    level(dir.path(), "cell", "measure", "opine", None);
    level(dir.path(), "lane", "light", "cell_check", Some("cell.json"));
    level(dir.path(), "zone", "heat", "lane_check", Some("lane.json"));
    let outer = level(dir.path(), "outer", "plan", "zone", Some("zone.json"));
    let graph = app.ok("graph.open", json!({"path": outer})).await;
    let mut thread = Value::Null;
    let mut stood = Vec::new();
    for _ in 0..4 {
        let mut step = json!({"graphId": graph["graphId"], "singleStep": true, "stepInto": true,
            "action": {"type": "input", "input": {"n": 5}}});
        if !thread.is_null() {
            step["action"] = json!({"type": "continue"});
            step["threadId"] = thread;
        }
        let (run, _) = app.run(step).await;
        thread = run["threadId"].clone();
        let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
        let (mut tasks, mut path) = (snapshot["tasks"].clone(), Vec::new());
        let mut next = snapshot["next"].clone();
        while let Some(open) = tasks
            .as_array()
            .unwrap()
            .iter()
            .find(|task| !task["within"].is_null())
        {
            let read = json!({"threadId": thread, "ns": open["within"], "limit": 1});
            let within = app.ok("thread.within", read).await;
            let Some(newest) = within["steps"].get(0) else {
                break;
            };
            path.push(open["node"].as_str().unwrap().to_owned());
            next = newest["checkpoint"]["next"].clone();
            tasks = newest["tasks"].clone();
        }
        let states: Vec<&str> = tasks
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["status"].as_str().unwrap())
            .collect();
        stood.push(json!([path.join(" > "), next, states]));
    }
    assert_eq!(
        stood,
        [
            json!(["", ["zone"], ["waiting"]]),
            json!(["zone", ["lane_check"], ["waiting"]]),
            json!(["zone > lane_check", ["cell_check"], ["waiting"]]),
            json!(["zone > lane_check > cell_check", ["opine"], ["waiting"]]),
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_goes_into_a_nested_graph_or_over_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = app.ok("graph.open", json!({"path": nested(dir.path())})).await;
    let step = |action: Value, thread: Value| {
        let mut request = json!({
            "graphId": graph["graphId"], "action": action, "singleStep": true, "stepInto": true
        });
        if !thread.is_null() {
            request["threadId"] = thread;
        }
        request
    };
    let mut inside = Vec::new();
    let mut next = step(json!({"type": "input", "input": {"n": 5}}), Value::Null);
    for _ in 0..2 {
        let (run, _) = app.run(next).await;
        let thread = run["threadId"].clone();
        let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
        let ns = &snapshot["tasks"][0]["within"];
        let within = app
            .ok("thread.within", json!({"threadId": thread, "ns": ns}))
            .await;
        inside.push(json!([run["status"], within["steps"][0]["tasks"][0]["node"]]));
        next = step(json!({"type": "continue"}), thread);
    }
    assert_eq!(
        inside,
        [json!(["paused", "two"]), json!(["asking", "two"])],
        "after its first node, then at the question of its second"
    );

    // Over it: the nested graph runs to its question at once.
    let mut over = step(json!({"type": "input", "input": {}}), Value::Null);
    over["stepInto"] = false.into();
    let (run, _) = app.run(over).await;
    assert_eq!(run["status"], "asking");
    // A thread's own checkpoints are those of the graph around.
    let of = json!({"threadId": run["threadId"]});
    let list = app.ok("thread.checkpoints", of.clone()).await;
    let snapshot = app.ok("thread.snapshot", of).await;
    assert_eq!(snapshot["checkpoint"], list["checkpoints"][0]);
    assert_eq!(
        (&snapshot["isHead"], &snapshot["next"]),
        (&json!(true), &json!(["work"]))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_steps_of_a_nested_graph_are_seen_while_it_runs_and_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = app.ok("graph.open", json!({"path": nested(dir.path())})).await;
    let (run, happened) = app
        .run(json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {"n": 5}}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap();
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let ns = snapshot["tasks"][0]["within"].as_str().unwrap().to_owned();
    let seen: Vec<Vec<String>> = happened
        .iter()
        .filter_map(|event| match event {
            AppEvent::Within { ns: at, next, .. } if *at == ns => Some(next.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        seen,
        [
            vec!["__start__".to_owned()],
            vec!["one".into()],
            vec!["two".into()]
        ]
    );

    let within = |before: Value, limit: u32| {
        let mut request = json!({"threadId": thread, "ns": ns, "limit": limit});
        if !before.is_null() {
            request["before"] = before;
        }
        app.ok("thread.within", request)
    };
    let all = within(Value::Null, 0).await;
    assert_eq!(all["more"], false);
    let steps = all["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3, "{all}");
    assert_eq!(steps[0]["tasks"][0]["node"], "two");
    assert_eq!(steps[0]["tasks"][0]["status"], "asking");
    assert_eq!(steps[0]["state"]["n"]["value"], 6);
    assert_eq!(steps[1]["tasks"][0]["result"]["value"], json!({"n": 1}));
    assert_eq!(
        steps[1]["tasks"][0]["record"]["reads"],
        json!({"kind": "keys", "keys": []}),
        "what its tasks read is recorded too"
    );
    assert_eq!(within(Value::Null, 3).await["more"], false, "those are all");
    let first = within(Value::Null, 1).await;
    assert_eq!(first["more"], true);
    let rest = within(first["steps"][0]["checkpoint"]["id"].clone(), 5).await;
    assert_eq!(rest["steps"], json!(steps[1..]), "older ones follow");

    let nothing = app
        .ok("thread.within", json!({"threadId": thread, "ns": "work:nobody"}))
        .await;
    assert_eq!(nothing["steps"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_graph_of_an_agent_opens_as_a_draft_that_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let info = app.ok("app.info", json!({})).await;
    let drawn: Vec<&str> = info["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|kind| kind["inside"] == true)
        .map(|kind| kind["kind"].as_str().unwrap())
        .collect();
    assert_eq!(drawn, ["agent"]);
    let outer = app
        .draft(
            "Desk",
            json!({
                "key:messages": {"type": "array", "reducer": "add_messages"},
                "node:helper": {"kind": "agent", "config": {
                    "messages": "messages", "model": "scripted", "script": [{"say": "Hello."}]
                }},
                "edge:1": {"from": "__start__", "to": "helper"}
            }),
        )
        .await;
    let inside = json!({"name": "", "inside": {"graphId": outer, "node": "helper"}});
    let draft = app.ok("graph.new", inside).await;
    assert_eq!(draft["name"], "helper");
    let records = draft["records"].as_array().unwrap();
    let model = records
        .iter()
        .find(|record| record["id"] == "node:model")
        .unwrap();
    assert_eq!(model["value"]["kind"], "model", "{draft}");
    drop(app);
    let again = App::open(dir.path()).await;
    let kept = again.ok("graph.get", json!({"graphId": draft["graphId"]})).await;
    assert_eq!(kept["records"], draft["records"]);
    let problem = again
        .refused(
            "graph.new",
            json!({"name": "", "inside": {"graphId": outer, "node": "nobody"}}),
        )
        .await;
    assert_eq!(problem.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_graph_that_was_changed_runs_as_it_is_now() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let inner = |by: &str| {
        json!({
            "format": "superstep/1", "name": "Inner",
            "state": {"n": {"type": "integer", "reducer": "add"}},
            "nodes": {"one": {"kind": "assign", "config": {"set": {"n": by}}}},
            "edges": [{"from": "__start__", "to": "one"}]
        })
    };
    let outer = nested(dir.path());
    write(dir.path(), "inner.json", &inner("1"));
    let graph = app.ok("graph.open", json!({"path": outer})).await["graphId"].clone();
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    for by in ["1", "1000"] {
        write(dir.path(), "inner.json", &inner(by));
        let (run, _) = app.run(start.clone()).await;
        assert_eq!(run["status"], "done", "{run}");
        let thread = run["threadId"].as_str().unwrap();
        assert_eq!(app.state(thread, None).await["n"].to_string(), by);
    }
    let shown = app
        .ok("graph.inside", json!({"graphId": graph, "path": ["work"]}))
        .await;
    assert_eq!(shown["name"], "Inner");
    assert!(shown["path"].as_str().unwrap().ends_with("inner.json"));
    let none = json!({"graphId": graph, "path": ["nothing"]});
    assert_eq!(app.refused("graph.inside", none).await.code, "not-found");
}

/// Nested steps have no times of their own, so that a result beside an error says what came of a task once its step is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_task_that_failed_and_then_succeeded_is_done_on_every_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let inner = |source: &str| {
        json!({
            "format": "superstep/1", "name": "Inner", "state": {"word": {"type": "string"}},
            "nodes": {
                "one": {"kind": "code", "config": {"source": source}},
                "two": {"kind": "ask", "config": {"question": "Word?", "into": "word"}}
            },
            "edges": [{"from": "__start__", "to": "one"}, {"from": "one", "to": "two"}]
        })
    };
    let outer = nested(dir.path());
    write(dir.path(), "inner.json", &inner("throw new Error('no luck')"));
    let graph = app.ok("graph.open", json!({"path": outer})).await;
    let start = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {"n": 1}}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "failed", "{run}");
    write(dir.path(), "inner.json", &inner("return {word: 'x'}"));
    let thread = run["threadId"].clone();
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let ns = snapshot["tasks"][0]["within"].clone();
    let all = app
        .ok("thread.within", json!({"threadId": thread, "ns": ns}))
        .await;
    let status = |page: &Value, step: usize| {
        let task = &page["steps"][step]["tasks"][0];
        (task["node"].clone(), task["status"].clone())
    };
    assert_eq!(status(&all, 0), (json!("two"), json!("asking")), "{all}");
    assert_eq!(status(&all, 1), (json!("one"), json!("done")), "{all}");
    let before = json!({"threadId": thread, "ns": ns, "before": all["steps"][0]["checkpoint"]["id"]});
    let page = app.ok("thread.within", before).await;
    assert_eq!(
        status(&page, 0),
        (json!("one"), json!("done")),
        "the first of a later page"
    );
}

/// The answer of a nested question is stored with the checkpoint of the graph around it, long after the first of the
/// nested graph.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_question_is_not_asked_again_while_its_answer_is_worked_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let outer = nested(dir.path());
    let inner = json!({
        "format": "superstep/1", "name": "Inner", "state": {"word": {"type": "string"}},
        "nodes": {
            "two": {"kind": "ask", "config": {"question": "Word?", "into": "word"}},
            "slow": {"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}}
        },
        "edges": [{"from": "__start__", "to": "two"}, {"from": "two", "to": "slow"}]
    });
    write(dir.path(), "inner.json", &inner);
    let graph = app.ok("graph.open", json!({"path": outer})).await;
    let start = json!({"graphId": graph["graphId"], "action": {"type": "input", "input": {"n": 1}}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "asking", "{run}");
    let question = crate::inbox::waiting(&app).await.remove(0);
    app.ok("run.start", crate::inbox::answer(&question, "yes")).await;
    let is_running = |event: &AppEvent| match event {
        AppEvent::Within { next, .. } if next.iter().any(|node| node == "slow") => Some(()),
        _ => None,
    };
    app.until(is_running).await;
    let inbox = app.ok("inbox.list", json!({})).await;
    assert_eq!(inbox["questions"], json!([]), "somebody has answered it");
    app.ok("run.stop", json!({"threadId": run["threadId"]})).await;
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_again_from_a_step_of_a_nested_graph() {
    let dir = tempfile::tempdir().unwrap();
    let server = Counting::start().await;
    let mut app = opened(dir.path(), &server).await;
    let post = json!({"method": "POST", "url": format!("http://{}/book", server.address()),
        "body": "{}", "take": "answer.body.receipt", "into": "booked"});
    let inner = json!({
        "format": "superstep/1", "name": "Inner",
        "state": {"n": {"type": "integer", "reducer": "add"}, "booked": {"type": "integer"}},
        "nodes": {
            "one": {"kind": "assign", "config": {"set": {"n": "1"}}},
            "book": {"kind": "http", "effect": "once", "config": post},
            "ten": {"kind": "assign", "config": {"set": {"n": "10"}}}
        },
        "edges": [{"from": "__start__", "to": "one"}, {"from": "one", "to": "book"}, {"from": "book", "to": "ten"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer",
        "state": {"n": {"type": "integer"}, "booked": {"type": "integer"}, "last": {"type": "integer"}},
        "nodes": {
            "work": {"kind": "graph", "config": {"graph": "inner.json"}},
            "after": {"kind": "assign", "config": {"set": {"last": "state.n"}}}
        },
        "edges": [{"from": "__start__", "to": "work"}, {"from": "work", "to": "after"}]
    });
    write(dir.path(), "inner.json", &inner);
    let path = write(dir.path(), "outer.json", &outer);
    let graph = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    grant(&app, graph.as_str().unwrap()).await;
    let input = json!({"type": "input", "input": {"n": 100}});
    let (run, _) = app.run(json!({"graphId": graph, "action": input})).await;
    assert_eq!(run["status"], "done", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let all = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let steps = all["checkpoints"].as_array().unwrap();
    let before = steps.iter().find(|step| step["next"] == json!(["work"])).unwrap();
    let snapshot = app
        .ok(
            "thread.snapshot",
            json!({"threadId": thread, "checkpointId": before["id"]}),
        )
        .await;
    let ns = snapshot["tasks"][0]["within"].clone();
    let inside = app
        .ok("thread.within", json!({"threadId": thread, "ns": ns}))
        .await;
    let at = |node: &str| {
        let steps = inside["steps"].as_array().unwrap();
        let step = steps
            .iter()
            .find(|step| step["tasks"][0]["node"] == node)
            .unwrap();
        assert_eq!(step["root"], before["id"]);
        json!({"ns": ns, "checkpointId": step["checkpoint"]["id"]})
    };
    let effects = async |within: Option<Value>| {
        let mut request = json!({"threadId": thread, "checkpointId": before["id"], "graphId": graph});
        if let Some(within) = within {
            request["within"] = within;
        }
        let ahead = app.ok("run.effects", request).await;
        let nodes = ahead["effects"].as_array().unwrap().iter();
        nodes.map(|effect| effect["node"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(effects(None).await, ["book"]);
    assert_eq!(effects(Some(at("book"))).await, ["book"]);
    assert_eq!(
        effects(Some(at("ten"))).await,
        Vec::<Value>::new(),
        "it was done before that step"
    );

    let (ten, book) = (at("ten"), at("book"));
    let again = json!({"type": "replay", "checkpointId": before["id"], "within": ten});
    let (run, happened) = app
        .run(json!({"graphId": graph, "threadId": thread, "action": again}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let ran = happened.iter().filter_map(|event| match event {
        AppEvent::Within { next, .. } => Some(next.join("+")),
        _ => None,
    });
    assert_eq!(
        ran.collect::<Vec<_>>(),
        ["ten", ""],
        "what came before it is not run"
    );
    let state = app.state(&thread, None).await;
    assert_eq!((&state["last"], &state["booked"]), (&json!(111), &json!(1)));
    assert_eq!(server.requests("/book"), 1);

    let again = json!({"type": "replay", "checkpointId": before["id"], "within": book});
    let request =
        json!({"graphId": graph, "threadId": thread, "action": again, "effects": {"book": "again"}});
    let (run, _) = app.run(request).await;
    assert_eq!(run["status"], "done", "{run}");
    let state = app.state(&thread, None).await;
    assert_eq!((&state["last"], &state["booked"]), (&json!(111), &json!(2)));

    let gone =
        json!({"type": "replay", "checkpointId": before["id"], "within": {"ns": ns, "checkpointId": "none"}});
    let request = json!({"graphId": graph, "threadId": thread, "action": gone});
    let (run, _) = app.run(request).await;
    assert_eq!(run["status"], "failed", "{run}");
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ways_of_a_nested_graph_are_told_apart_as_those_of_the_outer_one_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let decide = json!({"kind": "assign", "config": {"set": {"n": "1"}}});
    let edges = |from: &str| {
        json!([{"from": "__start__", "to": from}, {"id": "r", "from": from, "route": "'no' if state.n > 0 else 'yes'",
            "paths": {"yes": "__end__", "no": "__end__"}}])
    };
    let graph = |name: &str, node: &str, record: &Value| {
        json!({"format": "superstep/1", "name": name, "state": {"n": {"type": "integer"}},
            "nodes": {node: record}, "edges": edges(node)})
    };
    write(dir.path(), "inner.json", &graph("Inner", "decide", &decide));
    let work = json!({"kind": "graph", "config": {"graph": "inner.json"}});
    let outer = write(dir.path(), "outer.json", &graph("Outer", "work", &work));
    let open = app.ok("graph.open", json!({"path": outer})).await;
    let begin = json!({"graphId": open["graphId"], "action": {"type": "input", "input": {"n": 0}}});
    let (run, happened) = app.run(begin).await;
    assert_eq!(run["status"], "done", "{run}");
    let snapshot = app
        .ok("thread.snapshot", json!({"threadId": run["threadId"]}))
        .await;
    let of_work: Vec<&Value> = (snapshot["taken"].as_array().unwrap().iter())
        .filter(|taken| taken["from"] == "work")
        .collect();
    let no = json!({"from": "work", "to": "__end__", "way": "r|=no", "times": 1});
    assert_eq!(of_work, [&no], "and not the other one, which leads there as well");
    let way = json!([{"to": "__end__", "way": "r|=no", "times": 1}]);
    let live = happened.iter().find_map(|event| match event {
        AppEvent::TaskEnded { node, ways, .. } if node == "work" => Some(json!(ways)),
        _ => None,
    });
    assert_eq!(live, Some(way.clone()), "as it happens, too");
    let task = &snapshot["previousTasks"][0];
    assert_eq!(task["ways"], way);
    let read = json!({"threadId": run["threadId"], "ns": task["within"]});
    let within = app.ok("thread.within", read).await;
    let steps = within["steps"].as_array().unwrap();
    let decided = steps.iter().flat_map(|step| step["tasks"].as_array().unwrap());
    let ways: Vec<&Value> = decided
        .filter(|task| task["node"] == "decide")
        .map(|task| &task["ways"])
        .collect();
    assert_eq!(ways, [&way]);
}
