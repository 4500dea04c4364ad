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
async fn what_does_not_fit_is_said() {
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
