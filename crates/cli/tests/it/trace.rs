//! `superstep trace`: tasks with their times, sums, and JSON.

use serde_json::{Value as Json, json};

use crate::User;

#[test]
fn tasks_sums_and_json_of_a_run_of_the_command_line() {
    let user = User::new();
    let graph = json!({
        "format": "superstep/1", "name": "Two", "state": {"n": {"type": "integer"}},
        "nodes": {
            "quick": {"kind": "assign", "config": {"set": {"n": "1"}}},
            "slow": {"kind": "delay", "config": {"seconds": "0.2"}}
        },
        "edges": [{"from": "__start__", "to": "quick"}, {"from": "quick", "to": "slow"}]
    });
    let file = user.dir.path().join("graph.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    user.expect(
        0,
        &["run", file.to_str().unwrap(), "--thread", "t", "--input", "{}"],
    );

    let shown = user.expect(0, &["trace", "t"]).out;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("START"), "{shown}");
    assert!(lines[1].contains("quick") && lines[2].contains("slow"), "{shown}");
    assert!(lines[2].ends_with("done"), "{shown}");

    let sums = user.expect(0, &["trace", "t", "--by", "node"]).out;
    assert!(sums.starts_with("NODE"), "{sums}");
    for node in ["quick", "slow"] {
        assert!(sums.lines().any(|line| line.starts_with(node)), "{sums}");
    }

    let trace: Json = serde_json::from_str(&user.expect(0, &["trace", "t", "--json"]).out).unwrap();
    let spans = trace["spans"].as_array().unwrap();
    let slow = spans.iter().find(|span| span["node"] == "slow").unwrap();
    assert_eq!((&slow["node"], &slow["end"]), (&json!("slow"), &json!("done")));
    assert!(slow["ended"].as_f64() >= slow["started"].as_f64(), "{slow}");
    assert_eq!(trace["runs"][0]["status"], "done");
    user.expect(2, &["trace", "nobody"]);
}

#[test]
fn the_wait_for_a_place_is_a_column_where_there_was_one() {
    let user = User::new();
    let graph = json!({
        "format": "superstep/1", "name": "Wide",
        "state": {"items": {"type": "array", "items": {"type": "integer"}}},
        "nodes": {"slow": {"kind": "delay", "config": {"seconds": "0.2"}}},
        "edges": [{"from": "__start__", "each": "state.items", "as": "item", "to": "slow"}]
    });
    let file = user.dir.path().join("graph.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    let run = |thread: &str, more: &[&str]| {
        let input = json!({"items": [1, 2, 3]}).to_string();
        let begin = [
            "run",
            file.to_str().unwrap(),
            "--thread",
            thread,
            "--input",
            &input,
        ];
        user.expect(0, &[&begin[..], more].concat());
    };
    run("free", &[]);
    let shown = user.expect(0, &["trace", "free"]).out;
    assert!(!shown.contains("WAITED"), "nobody waited: {shown}");

    run("narrow", &["--max-concurrency", "1"]);
    let shown = user.expect(0, &["trace", "narrow"]).out;
    assert!(shown.lines().next().unwrap().contains("WAITED"), "{shown}");
    let sums = user.expect(0, &["trace", "narrow", "--by", "node"]).out;
    assert!(sums.contains("WAITED"), "{sums}");
    let trace: Json = serde_json::from_str(&user.expect(0, &["trace", "narrow", "--json"]).out).unwrap();
    let mut waited: Vec<f64> = (trace["spans"].as_array().unwrap().iter())
        .filter(|span| span["node"] == "slow")
        .map(|span| {
            let waits = span["waits"].as_array().map(Vec::as_slice).unwrap_or_default();
            let long = |wait: &Json| wait["to"].as_f64().unwrap() - wait["from"].as_f64().unwrap();
            waits.iter().map(long).sum()
        })
        .collect();
    waited.sort_by(f64::total_cmp);
    // One after the other, each for 200 ms: a busy machine makes it more.
    assert_eq!(waited.len(), 3, "{trace}");
    assert_eq!(waited[0], 0.0);
    assert!(waited[1] > 150.0 && waited[2] > 350.0, "{waited:?}");

    // Without a collector nothing can be sent, and that is reported.
    let refused = user.expect(2, &["trace", "narrow", "--send"]);
    assert!(
        refused.err.contains("OTEL_EXPORTER_OTLP_ENDPOINT"),
        "{}",
        refused.err
    );
}

#[test]
fn what_a_run_of_the_command_line_asked_of_models_is_kept() {
    let user = User::new();
    let model = json!({"kind": "model", "config": {"model": "scripted", "prompt": "Hello {{ state.name }}", "into": "said",
        "pace_ms": 0, "script": [{"say": "Good day."}]}});
    let graph = json!({
        "format": "superstep/1", "name": "Polite",
        "state": {"name": {"type": "string"}, "said": {"type": "string"}},
        "nodes": {"greet": model},
        "edges": [{"from": "__start__", "to": "greet"}, {"from": "greet", "to": "__end__"}]
    });
    let file = user.dir.path().join("graph.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    let input = json!({"name": "Ada"}).to_string();
    user.expect(
        0,
        &["run", file.to_str().unwrap(), "--thread", "t", "--input", &input],
    );

    let trace: Json = serde_json::from_str(&user.expect(0, &["trace", "t", "--json"]).out).unwrap();
    let call = &trace["spans"][0]["calls"][0];
    assert_eq!(
        (&call["model"], &call["ended"]),
        (&json!("scripted"), &json!("done")),
        "{trace}"
    );
    let by_model = user.expect(0, &["trace", "t", "--by", "model"]).out;
    assert!(
        by_model.lines().any(|line| line.starts_with("scripted")),
        "{by_model}"
    );
}

#[test]
fn what_takes_over_from_a_node_is_called_by_the_node() {
    let user = User::new();
    let graph = user.graph(
        "handled.json",
        &json!({
            "format": "superstep/1", "name": "handled", "state": {"err": {"type": "object"}, "n": {"type": "integer"}},
            "nodes": {
                "boom": {"kind": "code", "fallback": {"to": "after", "into": "err"},
                    "config": {"source": "throw new Error('boom');"}},
                "after": {"kind": "assign", "config": {"set": {"n": "1"}}}
            },
            "edges": [{"from": "__start__", "to": "boom"}, {"from": "boom", "to": "__end__"}, {"from": "after", "to": "__end__"}]
        }),
    );
    let run = user.expect(0, &["run", &graph, "--input", "{}", "--thread", "t"]);
    let trace = user.expect(0, &["trace", "t"]);
    assert!(run.err.contains("boom (fallback)"), "{}", run.err);
    for shown in [&run.err, &trace.out] {
        assert!(!shown.contains("__error_handler__"), "{shown}");
    }
}
