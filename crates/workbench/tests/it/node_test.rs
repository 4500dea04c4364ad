//! One node tried by itself.

use serde_json::{Value, json};
use superstep_acceptance::App;

fn desk() -> Value {
    json!({
        "key:amount": {"type": "integer"},
        "key:log": {"type": "array", "reducer": "append"},
        "key:answer": {"type": "string"},
        "node:price": {"kind": "assign", "config": {"set": {"amount": "state.amount * 2", "log": "'priced'"}}},
        "node:ask": {"kind": "ask", "config": {"question": "Pay {{ state.amount }}?", "into": "answer"}},
        "node:work": {"kind": "code", "config": {"source": "console.log('n', state.amount); return {amount: state.amount.nothing.at}"}},
        "edge:1": {"from": "__start__", "to": "price"},
        "edge:2": {"from": "price", "route": "'big' if state.amount > 10 else 'small'",
                   "paths": {"big": "ask", "small": "work"}}
    })
}

/// With a node that cannot be built, which is none of the business of the others.
async fn half_broken(app: &App) -> String {
    let graph = app.draft("Desk", desk()).await;
    let ops = json!([
        {"id": "node:broken", "from": null, "to": {"kind": "assign", "config": {"set": {"nowhere": "1"}}}},
        {"id": "edge:3", "from": null, "to": {"from": "work", "to": "broken"}}
    ]);
    let applied = app
        .ok("graph.apply", json!({"graphId": graph, "baseRev": 1, "ops": ops}))
        .await;
    assert_eq!(applied["diagnostics"][0]["record"], "node:broken");
    graph
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_runs_alone_with_any_state() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graph = half_broken(&app).await;
    let test = |node: &str, state: Value, answers: Value| {
        app.ok(
            "node.test",
            json!({"graphId": graph, "node": node, "state": state, "answers": answers}),
        )
    };
    let big = test("price", json!({"amount": 6, "log": ["a"]}), json!([])).await;
    assert_eq!(big["task"]["status"], "done");
    assert_eq!(
        big["task"]["result"]["value"],
        json!({"amount": 12, "log": "priced"}),
        "what it wrote, before any reducer"
    );
    assert_eq!(
        big["task"]["targets"],
        json!(["ask"]),
        "its own edges are followed"
    );
    let record = &big["task"]["record"];
    assert_eq!(record["reads"], json!({"kind": "keys", "keys": ["amount"]}));
    assert_eq!(record["decisions"][0]["to"], json!(["ask"]));
    let small = test("price", json!({"amount": 1}), json!([])).await;
    assert_eq!(small["task"]["targets"], json!(["work"]));

    let asks = test("ask", json!({"amount": 5}), json!([])).await;
    assert_eq!(asks["task"]["status"], "asking");
    assert_eq!(asks["task"]["interrupts"][0]["value"]["question"], "Pay 5?");
    let answered = test("ask", json!({"amount": 5}), json!(["yes"])).await;
    assert_eq!(answered["task"]["result"]["value"], json!({"answer": "yes"}));

    let fails = test("work", json!({"amount": 3}), json!([])).await;
    assert_eq!(fails["task"]["status"], "failed");
    assert!(
        fails["task"]["error"].as_str().unwrap().contains("TypeError"),
        "{fails}"
    );
    assert_eq!(fails["emitted"][0]["log"], "n 3");

    let threads = app.ok("thread.list", json!({})).await;
    assert_eq!(threads["threads"], json!([]), "a test leaves nothing behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_state_of_a_checkpoint_is_what_it_starts_from() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {"amount": 7, "log": "first"}}}))
        .await;
    let thread = run["threadId"].as_str().unwrap();
    let at = json!({"threadId": thread});
    let asked = app
        .ok("node.test", json!({"graphId": graph, "node": "ask", "at": at}))
        .await;
    assert_eq!(asked["task"]["interrupts"][0]["value"]["question"], "Pay 14?");
    let other = json!({"graphId": graph, "node": "ask", "at": at, "state": {"amount": 1}});
    let asked = app.ok("node.test", other).await;
    assert_eq!(asked["task"]["interrupts"][0]["value"]["question"], "Pay 1?");
    let state = app.state(thread, None).await;
    assert_eq!(state["amount"], 14, "the thread is untouched");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graph = half_broken(&app).await;
    for (node, state, code) in [
        ("nobody", json!({}), "graph-invalid"),
        ("broken", json!({}), "graph-invalid"),
        ("price", json!({"amount": "many"}), "does-not-fit"),
        ("price", json!({"amuont": 1}), "does-not-fit"),
    ] {
        let problem = app
            .refused(
                "node.test",
                json!({"graphId": graph, "node": node, "state": state}),
            )
            .await;
        assert_eq!(problem.code, code, "{node}: {problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_shows_the_attempts_and_as_much_of_what_is_emitted_as_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let retry = json!({"attempts": 3, "initial_interval": 0.01, "jitter": false, "retry_on": ["CodeError"]});
    let graph = app
        .draft(
            "Trials",
            json!({
                "key:n": {"type": "integer"},
                "node:fails": {"kind": "code", "retry": retry, "config": {"source": "throw new Error('no');"}},
                "node:talks": {"kind": "code", "config": {
                    "source": "for (let i = 0; i < state.n; i++) emit(i); return {};"
                }},
                "edge:1": {"from": "__start__", "to": "fails"},
                "edge:2": {"from": "fails", "to": "talks"},
                "edge:3": {"from": "talks", "to": "__end__"}
            }),
        )
        .await;
    let failed = app
        .ok("node.test", json!({"graphId": graph, "node": "fails"}))
        .await;
    assert_eq!(failed["task"]["status"], "failed");
    let attempts: Vec<&Value> = (failed["task"]["attempts"].as_array().unwrap().iter())
        .map(|attempt| &attempt["attempt"])
        .collect();
    assert_eq!(attempts, [&json!(1), &json!(2)], "{failed}");
    for (emits, shown, more) in [(3, 3, 0), (500, 500, 0), (505, 500, 5)] {
        let request = json!({"graphId": graph, "node": "talks", "state": {"n": emits}});
        let talked = app.ok("node.test", request).await;
        let emitted = talked["emitted"].as_array().unwrap();
        assert_eq!((emitted.len(), &talked["more"]), (shown, &json!(more)));
        assert_eq!(emitted[shown - 1], shown - 1);
    }
    let nowhere =
        json!({"graphId": graph, "node": "talks", "at": {"threadId": "nobody", "checkpointId": "none"}});
    assert_eq!(app.refused("node.test", nowhere).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_that_takes_too_long_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Endless",
            json!({
                "key:n": {"type": "integer"},
                "node:long": {"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}},
                "edge:1": {"from": "__start__", "to": "long"},
                "edge:2": {"from": "long", "to": "__end__"}
            }),
        )
        .await;
    let workbench = app.workbench.clone();
    let test = tokio::spawn(async move {
        let request = json!({"graphId": graph, "node": "long", "work": "trial"});
        workbench.call("node.test", request).await
    });
    let began = std::time::Instant::now();
    while !test.is_finished() {
        app.ok("work.cancel", json!({"work": "trial"})).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert!(began.elapsed().as_secs() < 120, "it goes on");
    }
    assert!(test.await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_inside_of_a_nested_graph_belongs_to_the_node_around_it() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    // The node inside has the name of the node around it.
    let inner = json!({
        "format": "superstep/1", "name": "Inner", "state": {"n": {"type": "integer"}},
        "nodes": {
            "work": {
                "kind": "code",
                "retry": {"attempts": 2, "initial_interval": 0.01, "jitter": false, "retry_on": ["CodeError"]},
                "config": {"source": "emit('inside'); throw new Error('no');"}
            }
        },
        "edges": [{"from": "__start__", "to": "work"}]
    });
    let outer = json!({
        "format": "superstep/1", "name": "Outer", "state": {"n": {"type": "integer"}},
        "nodes": {"work": {"kind": "graph", "config": {"graph": "inner.json"}}},
        "edges": [{"from": "__start__", "to": "work"}]
    });
    std::fs::write(dir.path().join("inner.json"), inner.to_string()).unwrap();
    let path = dir.path().join("outer.json");
    std::fs::write(&path, outer.to_string()).unwrap();
    let graph = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let tested = app
        .ok("node.test", json!({"graphId": graph, "node": "work"}))
        .await;
    assert_eq!(
        tested["emitted"],
        json!(["inside", "inside"]),
        "each attempt inside is seen"
    );
    assert_eq!(tested["task"]["status"], "failed");
    assert_eq!(
        tested["task"].get("attempts"),
        None,
        "the node around was tried once: {tested}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_is_given_the_run_context() {
    let dir = tempfile::tempdir().unwrap();
    let graph = json!({
        "format": "superstep/1", "name": "greeter",
        "context": {"user": {"type": "string"}, "level": {"type": "integer", "default": 1}},
        "state": {"text": {"type": "string"}},
        "nodes": {"greet": {"kind": "assign", "config": {"set": {"text": "context.user ~ context.level"}}}},
        "edges": [{"from": "__start__", "to": "greet"}, {"from": "greet", "to": "__end__"}],
    });
    let path = dir.path().join("greeter.json");
    std::fs::write(&path, graph.to_string()).unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let opened = app.ok("graph.open", json!({"path": path})).await;
    let request = |extra: Value| {
        let mut request = json!({"graphId": opened["graphId"], "node": "greet"});
        request
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        request
    };
    let refused = app.refused("node.test", request(json!({}))).await;
    assert!(refused.message.contains("user"), "{refused:?}");
    let given = request(json!({"context": {"user": "ada"}}));
    let tested = app.ok("node.test", given).await;
    assert_eq!(tested["task"]["result"]["value"], json!({"text": "ada1"}));

    let start = json!({"graphId": opened["graphId"], "action": {"type": "input", "input": {}},
        "context": {"user": "eve", "level": 7}});
    let (run, _) = app.run(start).await;
    let at = json!({"at": {"threadId": run["threadId"]}});
    let tested = app.ok("node.test", request(at)).await;
    assert_eq!(
        tested["task"]["result"]["value"],
        json!({"text": "eve7"}),
        "as the thread's last run had it"
    );
}
