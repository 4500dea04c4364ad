//! A thread that goes on after its graph was changed: the report, what is refused, and with which version it goes on.

use serde_json::{Value as Json, json};

use crate::User;

fn graph(node: &str) -> Json {
    json!({"format": "superstep/1", "name": "Words",
        "state": {"word": {"type": "string"}, "n": {"type": "number"}},
        "nodes": {
            "count": {"kind": "assign", "config": {"set": {"n": "1"}}},
            node: {"kind": "ask", "config": {"question": "Which word?", "into": "word"}}},
        "edges": [{"from": "__start__", "to": "count"}, {"from": "count", "to": node}, {"from": node, "to": "__end__"}]})
}

#[test]
fn next_tasks_that_would_be_lost_are_reported_and_nothing_is_begun() {
    let user = User::new();
    let file = user.graph("words.json", &graph("review"));
    for thread in ["a", "b", "c"] {
        user.expect(3, &["run", &file, "--thread", thread, "--input", "{}"]);
    }
    user.graph("words.json", &graph("approve"));
    let refused = user.expect(2, &["resume", "a", "--text", "tea"]);
    for expected in [
        "node review runs next",
        "--rename review=approve",
        "--graph-version recorded",
    ] {
        assert!(refused.err.contains(expected), "{expected}: {}", refused.err);
    }
    let again = user.expect(
        0,
        &["resume", "a", "--text", "tea", "--graph-version", "recorded"],
    );
    assert!(!again.err.contains("node review runs next"), "{}", again.err);
    let state = user.expect(0, &["state", "a", "--json"]).json();
    assert_eq!(state["values"]["word"], "tea");

    user.expect(3, &["resume", "b", "--text", "tea", "--rename", "review=approve"]);
    user.expect(0, &["resume", "b", "--text", "milk"]);
    assert_eq!(
        user.expect(0, &["state", "b", "--json"]).json()["values"]["word"],
        "milk"
    );

    let unknown = user.expect(2, &["resume", "c", "--text", "tea", "--rename", "review=nobody"]);
    assert!(unknown.err.contains("no node nobody"), "{}", unknown.err);
}

#[test]
fn what_does_not_matter_is_not_reported_and_keys_that_differ_are() {
    let user = User::new();
    let file = user.graph("words.json", &graph("review"));
    for thread in ["a", "b"] {
        user.expect(3, &["run", &file, "--thread", thread, "--input", "{}"]);
    }
    let mut other = graph("review");
    other["nodes"]["count"]["config"]["set"]["n"] = "2".into();
    other["state"]["more"] = json!({"type": "string"});
    user.graph("words.json", &other);
    let quiet = user.expect(0, &["resume", "a", "--text", "tea"]);
    assert!(!quiet.err.contains("was changed"), "{}", quiet.err);
    other["state"]["n"] = json!({"type": "integer"});
    user.graph("words.json", &other);
    let done = user.expect(0, &["resume", "b", "--text", "tea"]);
    assert!(
        done.err.contains("key n: its type was number and is integer"),
        "{}",
        done.err
    );
}

#[test]
fn a_copy_and_an_export_carry_the_version() {
    let user = User::new();
    let file = user.graph("words.json", &graph("review"));
    user.expect(3, &["run", &file, "--thread", "a", "--input", "{}"]);
    user.expect(0, &["threads", "copy", "a", "copied", "--to", "file:elsewhere"]);
    user.expect(0, &["threads", "export", "a", "-o", "a.jsonl"]);
    user.expect(0, &["threads", "import", "a.jsonl", "--as", "imported"]);
    user.graph("words.json", &graph("approve"));
    let recorded = ["--text", "tea", "--graph-version", "recorded"];
    user.expect(0, &[&["resume", "imported"], recorded.as_slice()].concat());
    user.expect(
        0,
        &[
            &["resume", "copied", "--db", "file:elsewhere"],
            recorded.as_slice(),
        ]
        .concat(),
    );
}
