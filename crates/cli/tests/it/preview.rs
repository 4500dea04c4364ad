//! `superstep preview`: what an answer would lead to.

use serde_json::json;

use crate::{User, example};

#[test]
fn answers_say_where_they_lead_and_the_question_still_waits() {
    let user = User::new();
    let asks = ["run", &example("refund-desk"), "--example", "1", "--thread", "t"];
    user.expect(3, &asks);
    let before = user.expect(0, &["history", "t", "--json"]).json();
    let approve = r#"{"decision": "approve"}"#;
    let revise = r#"{"decision": "revise", "days": 3}"#;
    let found = user.expect(
        0,
        &["preview", "t", "--answer", approve, "--answer", revise, "--json"],
    );
    let previews = found.json()["previews"].as_array().unwrap().clone();
    assert_eq!(previews[0]["end"], json!({"type": "done"}), "{}", found.out);
    assert_ne!(previews[0]["steps"], previews[1]["steps"]);
    let text = user.expect(0, &["preview", "t", "--answer", approve]).out;
    assert!(text.trim_end().ends_with("-> End"), "{text}");
    let refused = user.expect(0, &["preview", "t", "--text", "perhaps"]).out;
    assert!(refused.contains("rejected: "), "{refused}");
    assert_eq!(
        user.expect(0, &["history", "t", "--json"]).json(),
        before,
        "nothing was stored"
    );
    user.expect(0, &["resume", "t", "--answer", approve]);
    let late = user.expect(2, &["preview", "t", "--answer", approve]);
    assert!(late.err.contains("does not wait any more"), "{}", late.err);
}

#[test]
fn a_preview_and_a_grid_are_given_a_context_by_its_name() {
    let user = User::new();
    let value = json!({
        "format": "superstep/1",
        "name": "Levels",
        "state": {"word": {}, "said": {}},
        "context": {"level": {"type": "integer", "default": 1}},
        "nodes": {
            "ask": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
            "high": {"kind": "assign", "config": {"set": {"said": "context.level"}}},
        },
        "edges": [
            {"from": "__start__", "to": "ask"},
            {"from": "ask", "to": "high", "when": "context.level > 1"},
        ],
        "context_sets": [{"name": "Low", "values": {}}, {"name": "High", "values": {"level": 2}}],
    });
    let graph = user.graph("levels.json", &value);
    user.expect(3, &["run", &graph, "--input", "{}", "--thread", "t"]);
    let led = |rest: &[&str]| {
        let found = user.expect(0, &[&["preview", "t", "--text", "tea"], rest].concat());
        found.out.contains("high")
    };
    assert!(led(&["--context-set", "High"]));
    assert!(led(&["--context", r#"{"level": 3}"#]));
    assert!(!led(&["--context-set", "Low"]));
    assert!(!led(&[]));
    let unknown = user.expect(2, &["preview", "t", "--text", "tea", "--context-set", "Middle"]);
    assert!(unknown.err.contains("It has: Low, High."), "{}", unknown.err);

    user.expect(0, &["resume", "t", "--text", "tea"]);
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let asked = history
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["next"] == json!(["ask"]));
    let asked = asked.unwrap()["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap();
    let rows = json!({"rows": [{"name": "one"}], "scorer": {"expression": "state.said"}});
    std::fs::write(user.dir.path().join("rows.json"), rows.to_string()).unwrap();
    let grid = ["whatif", "t", "rows.json", "--checkpoint", asked, "--json"];
    let unknown = user.expect(2, &[&grid[..], &["--context-set", "Middle"]].concat());
    assert!(unknown.err.contains("It has: Low, High."), "{}", unknown.err);
}
