//! `superstep whatif`: rows of a file as forks of a thread, and how the program ends.

use serde_json::{Value as Json, json};

use crate::User;

fn graph(user: &User) -> String {
    let graph = json!({
        "format": "superstep/1", "name": "Sum",
        "state": {"n": {"type": "integer"}, "total": {"type": "integer"}},
        "nodes": {
            "double": {"kind": "assign", "config": {"set": {"total": "state.n * 2"}}},
            "check": {"kind": "code", "config": {
                "source": "if (state.total > 100) throw new Error('too much'); return {};"}}
        },
        "edges": [{"from": "__start__", "to": "double"}, {"from": "double", "to": "check"}]
    });
    user.graph("graph.json", &graph)
}

fn started(user: &User) -> String {
    let file = graph(user);
    user.expect(0, &["run", &file, "--thread", "t", "--input", r#"{"n": 3}"#]);
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let mut checkpoints = history.as_array().unwrap().iter();
    let first = checkpoints.find(|one| one["metadata"]["source"] == "input");
    let first = first.expect("the input");
    first["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn rows_of_a_file_are_run_compared_and_graded() {
    let user = User::new();
    let first = started(&user);
    let rows = json!({"rows": [
        {"name": "as it is"}, {"input": {"n": 4}},
        {"settings": {"/nodes/double/config/set/total": "state.n * 3"}}],
        "scorer": {"expression": "state.total - base.total"}});
    std::fs::write(user.dir.path().join("rows.json"), rows.to_string()).unwrap();
    let args = ["whatif", "t", "rows.json", "--checkpoint", &first];
    let shown = user.expect(0, &args).out;
    for text in ["ROW", "as it is", "done", "total 9"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let json = user
        .expect(0, &[&args[..], &["--json", "--repeat", "2"]].concat())
        .json();
    let scores: Vec<&Json> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| &result["score"])
        .collect();
    assert_eq!(scores, [0, 0, 2, 2, 3, 3], "{json:#}");
    let state = user.expect(0, &["state", "t", "total"]).json();
    assert_eq!(state, json!(6), "the thread is what it was");
}

#[test]
fn a_row_that_fails_and_a_file_that_cannot_be_used_say_so() {
    let user = User::new();
    let first = started(&user);
    let run = |rows: Json, code: i32| {
        std::fs::write(user.dir.path().join("rows.json"), rows.to_string()).unwrap();
        user.expect(code, &["whatif", "t", "rows.json", "--checkpoint", &first])
    };
    let failed = run(json!({"rows": [{"input": {"n": 90}}, {}]}), 1);
    assert!(failed.out.contains("too much"), "{}", failed.out);
    for (rows, expected) in [
        (json!({}), "rows"),
        (json!({"rows": [{"value": {}}]}), "rows[0]"),
        (json!({"rows": [{}, {"values": {"x": 1}}]}), "Row 2"),
        (json!({"rows": [{}], "scorer": {"expression": ")"}}), "scorer"),
    ] {
        let refused = run(rows, 2);
        assert!(refused.err.contains(expected), "{expected}: {}", refused.err);
    }
    let broken = run(
        json!({"rows": [{"settings": {"/nodes/double/config/set/total": "state."}}]}),
        1,
    );
    assert!(broken.err.contains("The graph cannot run."), "{}", broken.err);
    let missing = user.expect(2, &["whatif", "t", "gone.json"]);
    assert!(missing.err.contains("gone.json"), "{}", missing.err);
    user.expect(2, &["whatif", "gone", "rows.json"]);
    user.expect(2, &["whatif", "t", "rows.json", "--limit", "steps=3"]);
}
