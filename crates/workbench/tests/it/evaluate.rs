//! What an expression gives, below its field.

use serde_json::{Value, json};
use superstep_acceptance::App;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expression_gives_its_value_or_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Sums",
            json!({
                "key:n": {"type": "integer", "default": 2},
                "key:log": {"type": "array", "reducer": "append"},
                "key:name": {"type": "string"},
                "node:twice": {"kind": "assign", "config": {"set": {"n": "state.n * 2", "log": "'done'"}}},
                "edge:1": {"from": "__start__", "to": "twice"},
                "edge:2": {"from": "twice", "to": "__end__"}
            }),
        )
        .await;
    let request = |text: &str, more: Value| {
        let mut request = json!({"graphId": graph, "text": text});
        for (name, value) in more.as_object().unwrap() {
            request[name] = value.clone();
        }
        request
    };
    // What the keys begin with, values of a person, names beside the state, and the state of a run.
    let begun = app
        .ok("expression.evaluate", request("state.n + 1", json!({})))
        .await;
    assert_eq!(begun["value"]["value"], 3, "{begun}");
    let given = json!({"state": {"n": 40, "name": "Ada"}});
    let text = json!({"state": {"n": 40, "name": "Ada"}, "template": true});
    let asked = app.ok("expression.evaluate", request("state.n + 2", given)).await;
    assert_eq!(asked["value"]["value"], 42);
    let rendered = app
        .ok("expression.evaluate", request("Hello {{ state.name }}", text))
        .await;
    assert_eq!(rendered["value"]["value"], "Hello Ada");
    let item = json!({"variables": {"item": {"price": 3}}});
    let priced = app
        .ok("expression.evaluate", request("item.price * 2", item))
        .await;
    assert_eq!(priced["value"]["value"], 6);
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {"n": 10}}}))
        .await;
    let at = json!({"at": {"threadId": run["threadId"]}});
    let ran = app
        .ok("expression.evaluate", request("[state.n, state.log|length]", at))
        .await;
    assert_eq!(ran["value"]["value"], json!([20, 1]));

    // Bounded in what it gives and what it does; a mistake is an answer.
    let large = app
        .ok("expression.evaluate", request("'x' * 9000", json!({})))
        .await;
    assert_eq!(large["value"]["value"], Value::Null);
    assert_eq!(large["value"]["length"], 9000);
    let endless = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
    for (text, template, says) in [
        ("state.nam", false, "nam"),
        ("state.n +", false, "unexpected"),
        (endless, true, "work"),
    ] {
        let refused = app
            .ok(
                "expression.evaluate",
                request(text, json!({"template": template})),
            )
            .await;
        let message = refused["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{text}: {refused}"));
        assert!(message.contains(says), "{text}: {message}");
    }
}
