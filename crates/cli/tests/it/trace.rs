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
