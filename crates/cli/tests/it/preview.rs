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
