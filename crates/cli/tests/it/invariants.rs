//! Invariants on the command line, in a run and over all threads; what an edge would have decided; probes of edges.

use serde_json::{Value as Json, json};

use crate::{User, example};

/// The counter with invariants: at the graph, a node, a key and an edge.
fn counter(user: &User, broken: &str) -> String {
    let path = format!("{}/graph.json", example("counter"));
    let mut graph: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    graph["invariants"] =
        json!([{"must": "state.count < 4", "message": "The count stays below 4", "when_broken": broken}]);
    graph["state"]["count"]["invariants"] = json!([{"must": "new > old and writer == 'increment'"}]);
    graph["nodes"]["finish"]["invariants"] = json!([{"must": "state.log|length == state.count"}]);
    graph["edges"][2]["invariants"] = json!([{"must": "state.count != 5"}]);
    user.graph("counter.json", &graph)
}

fn run(user: &User, code: i32, graph: &str, thread: &str, limit: u32) -> crate::Done {
    let input = json!({"limit": limit}).to_string();
    user.expect(code, &["run", graph, "--thread", thread, "--input", &input])
}

#[test]
fn a_broken_invariant_is_reported_stops_a_run_or_fails_it() {
    let user = User::new();
    let done = run(&user, 0, &counter(&user, "tell"), "tell", 5);
    assert_eq!(done.json()["count"], 5);

    let paused = run(&user, 3, &counter(&user, "pause"), "pause", 5);
    let expected = "Stopped: Invariant broken: The count stays below 4 (after `increment`)";
    assert!(paused.err.contains(expected), "{}", paused.err);
    assert_eq!(user.expect(0, &["resume", "pause"]).json()["count"], 5);

    let failed = run(&user, 1, &counter(&user, "fail"), "fail", 5);
    assert!(
        failed.err.contains("Invariant broken: The count stays below 4"),
        "{}",
        failed.err
    );
    assert!(failed.err.contains("superstep resume fail"), "{}", failed.err);
    let again = user.expect(1, &["resume", "fail"]);
    assert!(
        again.err.contains("in the state that the run begins with"),
        "{}",
        again.err
    );
    let corrected = r#"{"count": {"__overwrite__": 0}, "limit": 2}"#;
    user.expect(
        0,
        &["update", "fail", "--values", corrected, "--as-node", "increment"],
    );
    assert_eq!(user.expect(0, &["resume", "fail"]).json()["count"], 2);
}

#[test]
fn all_threads_are_checked_in_one_pass() {
    let user = User::new();
    let graph = counter(&user, "tell");
    run(&user, 0, &graph, "five", 5);
    run(&user, 0, &graph, "three", 3);
    run(&user, 0, &example("counter"), "other", 5);

    let found = user.expect(1, &["check", &graph, "--threads", "--json"]).json();
    let report = &found[0];
    let broken: Vec<String> = report["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moment| {
            format!(
                "{} {} {} {}",
                moment["thread_id"].as_str().unwrap(),
                moment["step"],
                moment["invariant"].as_str().unwrap(),
                moment["checkpoints"]
            )
        })
        .collect();
    assert_eq!(
        broken,
        ["five 5 edge:increment->finish#1 1", "five 4 doc#1 3"],
        "the newest first; that of the graph once, for as long as it stayed broken"
    );
    assert_eq!((&report["searched"], &report["unknown"]), (&json!(2), &json!(0)));

    let text = user.expect(1, &["check", &graph, "--threads"]).out;
    assert!(
        text.contains("five  step 4  doc#1: The count stays below 4  by increment  (for 3 checkpoints)"),
        "{text}"
    );
    assert!(
        text.contains("broken at 2 moments in 1 of 2 threads (4 invariants)"),
        "{text}"
    );
    let late = user
        .expect(0, &["check", &graph, "--threads", "--since", "2999-01-01"])
        .out;
    assert!(late.contains("4 invariants held in 0 threads"), "{late}");
    let none = user
        .expect(0, &["check", &example("counter"), "--threads", "--json"])
        .json();
    assert_eq!(none[0]["broken"], json!([]));
}

#[test]
fn an_edge_tells_what_it_would_have_decided() {
    let user = User::new();
    let graph = example("counter");
    run(&user, 0, &graph, "five", 5);
    run(&user, 0, &graph, "two", 2);
    let edge = "increment->increment";
    let answer = user
        .expect(0, &["reconsider", &graph, edge, "state.count < 3", "--json"])
        .json();
    let changed: Vec<String> = answer["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} {} {} {}",
                one["thread_id"].as_str().unwrap(),
                one["step"],
                one["was"]["to"],
                one["now"]["to"]
            )
        })
        .collect();
    assert_eq!(
        changed,
        [
            r#"two 2 [] ["increment"]"#,
            r#"five 4 ["increment"] []"#,
            r#"five 3 ["increment"] []"#
        ],
        "with the count that the node had just written"
    );
    assert_eq!((&answer["decisions"], &answer["threads"]), (&json!(7), &json!(2)));
    assert_eq!(
        (&answer["unknown"], &answer["not_recorded"]),
        (&json!(0), &json!(0))
    );
    let text = user
        .expect(0, &["reconsider", &graph, edge, "state.count < 3"])
        .out;
    assert!(text.contains("five  step 4  increment -> nowhere"), "{text}");
    assert!(
        text.ends_with("3 of 7 decisions would change, in 2 threads.\n"),
        "{text}"
    );
    let same = user
        .expect(0, &["reconsider", &graph, edge, "state.count < state.limit"])
        .out;
    assert!(same.contains("0 of 7 decisions would change"), "{same}");

    let unclear = user.expect(0, &["reconsider", &graph, edge, "state.result|length > 3"]);
    assert!(
        unclear.err.contains("could not be evaluated at 7 steps"),
        "{}",
        unclear.err
    );
    for (edge, expression, expected) in [
        ("increment->nowhere", "true", "has no edge `increment->nowhere`"),
        ("finish->__end__", "true", "decides nothing"),
        ("increment->finish", "state.count <", "syntax error"),
        ("increment->finish", "context.x", "not stored"),
    ] {
        let done = user.expect(2, &["reconsider", &graph, edge, expression]);
        assert!(done.err.contains(expected), "{edge} {expression}: {}", done.err);
    }
}

#[test]
fn a_probe_takes_an_edge() {
    let user = User::new();
    run(&user, 0, &example("counter"), "t", 3);
    let values = |place: &str| {
        let found = user.expect(0, &["probe", place, "state.count", "--json"]).json();
        let visits = found["visits"].as_array().unwrap().iter();
        visits
            .map(|visit| format!("{}:{}", visit["step"], visit["value"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(values("increment"), ["3:3", "2:2", "1:1"]);
    assert_eq!(values("increment->increment"), ["2:2", "1:1"]);
    assert_eq!(values("increment->finish"), ["3:3"]);
    assert_eq!(values("finish->END"), ["4:3"]);
    assert_eq!(values("__start__->increment"), ["0:0"]);
    assert_eq!(values("finish->increment"), Vec::<String>::new());
}
