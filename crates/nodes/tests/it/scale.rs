//! A graph of a thousand nodes is checked while somebody types.

use std::time::Duration;

use serde_json::{Map, json};
use superstep_nodes::{Environment, Registry};

use crate::support::{document, processor_time};

#[test]
fn large_graphs_are_checked_and_built_in_time() {
    const NODES: usize = 1000;
    let mut nodes = Map::new();
    let mut edges = vec![json!({"from": "__start__", "to": "n0"})];
    for i in 0..NODES {
        let node = match i % 4 {
            0 => json!({"kind": "assign", "config": {"set": {"log": format!("'n{i}'"), "n": "state.n + 1"}}}),
            1 => json!({"kind": "code", "config": {"source": format!("// {i}\nreturn {{ log: 'n{i}' }};")}}),
            2 => {
                json!({"kind": "model", "config": {"model": "scripted", "into": "text", "script": [{"say": "{{ state.n }}"}]}})
            }
            _ => json!({"kind": "ask", "config": {"question": "{{ state.text }}?", "into": "text"}}),
        };
        nodes.insert(format!("n{i}"), node);
        let to = if i + 1 < NODES {
            format!("n{}", i + 1)
        } else {
            "__end__".into()
        };
        edges.push(json!({"from": format!("n{i}"), "to": to}));
        if i % 10 == 0 && i + 5 < NODES {
            edges.push(json!({"from": format!("n{i}"), "to": format!("n{}", i + 5)}));
        }
    }
    let document = document(&json!({
        "format": "superstep/1", "name": "large", "nodes": nodes, "edges": edges,
        "state": {"log": {"type": "array", "reducer": "append"}, "n": {"type": "integer", "reducer": "add"}, "text": {"type": "string"}},
    }));
    let registry = Registry::standard();
    let environment = Environment::default();
    registry.check(&document);
    let before = processor_time();
    let problems = registry.check(&document);
    registry.build(&document, &environment).unwrap();
    let took = processor_time() - before;
    // The code writes `log`, which appends; the branches of this drawing do clash on `text`, and on nothing else.
    let found: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(found, ["parallel-writers"], "{problems:?}");
    assert!(problems[0].message.contains("`text`"), "{problems:?}");
    // Far above what it takes, far below what anything quadratic would take.
    assert!(
        took < Duration::from_secs(20),
        "checking and building {NODES} nodes took {took:?}"
    );
}
