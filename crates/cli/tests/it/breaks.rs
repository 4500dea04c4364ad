//! `--break` and `--step-task`: where a run stops, what it says, and how it goes on.

use serde_json::json;

use crate::{User, example};

#[test]
fn a_run_stops_where_a_condition_holds_and_goes_on() {
    let user = User::new();
    let stopped = user.expect(
        3,
        &[
            "run",
            &example("counter"),
            "--input",
            r#"{"limit": 5}"#,
            "--thread",
            "t",
            "--break",
            "key:count if new == 3",
        ],
    );
    assert_eq!(stopped.json()["count"], 3);
    assert!(
        stopped
            .err
            .contains("Stopped: `count` became 3, written by `increment`. Go on with: superstep resume t"),
        "{}",
        stopped.err
    );
    let events = user.expect(
        3,
        &["resume", "t", "--json", "--break", "watch if state.count >= 4"],
    );
    let last: serde_json::Value = serde_json::from_str(events.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["data"]["status"], "breakpoint");
    assert_eq!(
        last["data"]["stop"]["reason"],
        "The condition became true after `increment`"
    );
    let done = user.expect(
        0,
        &[
            "resume",
            "t",
            "--break",
            "after:increment => count is {{ state.count }}",
        ],
    );
    assert_eq!(done.json()["count"], 5);
}

#[test]
fn a_place_that_is_not_understood_is_a_usage_error() {
    let user = User::new();
    let counter = example("counter");
    let err = |point: &str| {
        user.expect(2, &["run", &counter, "--input", "{}", "--break", point])
            .err
    };
    assert!(
        err("key:count when new == 3").contains("`when` is not known"),
        "{}",
        err("key:count when new == 3")
    );
    assert!(err("nowhere").contains("PLACE is before:NODE"));
    let unknown = err("before:nobody");
    assert!(unknown.contains("which the graph does not have"), "{unknown}");
    let key = err("watch if state.nope > 3");
    assert!(key.contains("nope"), "{key}");
    let condition = err("watch if state.count >");
    assert!(condition.contains("is not valid"), "{condition}");
}

#[test]
fn tasks_of_a_step_run_one_by_one() {
    let user = User::new();
    let set = |name: &str| json!({"kind": "assign", "config": {"set": {"log": format!("'{name}'")}}});
    let graph = user.graph(
        "fan",
        &json!({
            "format": "superstep/1",
            "name": "Fan",
            "state": {"log": {"type": "array", "reducer": "append"}},
            "nodes": {"a": set("a"), "b": set("b")},
            "edges": [{"from": "__start__", "to": "a"}, {"from": "__start__", "to": "b"}],
        }),
    );
    let alone = &[
        "run",
        &graph,
        "--input",
        "{}",
        "--thread",
        "t",
        "--step-task",
        "next",
    ];
    let first = user.expect(3, alone);
    assert!(
        first.err.contains("`a` ran alone; 1 task of the step waits"),
        "{}",
        first.err
    );
    let second = user.expect(3, &["resume", "t", "--step-task", "next"]);
    assert!(
        second.err.contains("`b` ran, the last task of its step"),
        "{}",
        second.err
    );
    let state = user.expect(0, &["state", "t", "--json"]).json();
    assert_eq!(state["values"]["log"], json!(["a", "b"]));
}

#[test]
fn an_edge_is_named_by_its_id_where_names_have_arrows() {
    let user = User::new();
    let one = serde_json::json!({"kind": "assign", "config": {"set": {"n": "1"}}});
    let graph = serde_json::json!({
        "format": "superstep/1", "name": "g", "state": {"n": {"type": "integer", "reducer": "add"}},
        "nodes": {"a": one, "b->c": one, "a->b": one, "c": one},
        "edges": [
            {"from": "__start__", "to": "a"}, {"from": "__start__", "to": "a->b"},
            {"from": "a", "to": "b->c", "when": "state.n > 99"}, {"id": "second", "from": "a->b", "to": "c"},
        ],
    });
    let path = user.graph("graph.json", &graph);
    let run = |edge: &str| {
        let point = format!("edge:{edge}");
        user.call(&["run", &path, "--input", "{}", "--break", &point])
    };
    let stopped = run("second");
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    assert_eq!(
        run("a->b->c").code,
        0,
        "the id of the first, which is not followed"
    );
    let unknown = run("secnd");
    assert!(
        unknown.code == 2 && unknown.err.contains("second"),
        "{}",
        unknown.err
    );
}

#[test]
fn a_condition_on_a_key_that_the_state_does_not_have_is_refused() {
    let user = User::new();
    let args = |condition: &str| {
        let point = format!("watch if {condition}");
        user.call(&["run", &example("counter"), "--example", "1", "--break", &point])
    };
    let refused = args("state.cuont > 1");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("no key `cuont`") && refused.err.contains("Did you mean `count`?"),
        "{}",
        refused.err
    );
    assert_eq!(args("state.count > 1").code, 3);
}

#[test]
fn the_reason_of_a_stop_is_one_sentence() {
    let user = User::new();
    let graph = user.graph(
        "graph.json",
        &json!({
            "format": "superstep/1", "name": "Fails", "state": {},
            "nodes": {"boom": {"kind": "code", "config": {"source": "throw new Error('no')"}}},
            "edges": [{"from": "__start__", "to": "boom"}],
        }),
    );
    let stopped = |point: &str| {
        let args = ["run", &graph, "--input", "{}", "--break", point];
        user.expect(3, &args).err
    };
    let failed = stopped("error:boom");
    assert!(failed.contains("Error: no. Go on with"), "{failed}");
}
