//! The shape of graphs, small and large.

use std::collections::HashSet;

use serde_json::{Map, json};
use superstep_document::{END, START, Topology};

use crate::document;

#[test]
fn neighbours_reach_loops_and_layers() {
    let graph = document(json!({
        "nodes": { "a": {}, "b": {}, "c": {}, "d": {}, "self": {}, "island": {} },
        "edges": [
            { "from": START, "to": "a" },
            { "from": "a", "to": "b" },
            { "from": "a", "to": "c" },
            { "from": ["b", "c"], "to": "d" },
            { "from": "d", "route": "state.x", "paths": { "again": "b", "out": "self", "more": "b" }, "default": END },
            { "from": "self", "to": "self", "when": "state.y" },
            { "from": "d", "to": "gone" }
        ]
    }));
    let topology = Topology::of(&graph);
    assert_eq!(
        topology.names().collect::<Vec<_>>(),
        [START, END, "a", "b", "c", "d", "self", "island"]
    );
    assert_eq!(topology.successors("a"), ["b", "c"]);
    assert_eq!(topology.successors("d"), ["b", "self", END]);
    assert_eq!(topology.predecessors("d"), ["b", "c"]);
    assert_eq!(topology.successors("nobody"), [""; 0]);
    assert_eq!(topology.reachable("b"), HashSet::from(["b", "d", "self", END]));
    assert_eq!(topology.loops(), [vec!["b", "d"], vec!["self"]]);
    assert_eq!(
        topology.layers(),
        [
            vec![START, "island"],
            vec!["a"],
            vec!["c"],
            vec!["b", "d"],
            vec![END, "self"]
        ]
    );
}

/// Many nodes in one chain with a way back: nothing may recurse or be quadratic.
#[test]
fn a_large_graph_is_validated_and_laid_out() {
    let size = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let mut nodes = Map::new();
    let mut edges = vec![json!({ "from": START, "to": "n0" })];
    for index in 0..size {
        nodes.insert(format!("n{index}"), json!({ "kind": "assign" }));
        if index > 0 {
            edges.push(json!({ "from": format!("n{}", index - 1), "to": format!("n{index}") }));
        }
    }
    let graph = document(json!({ "format": "superstep/1", "nodes": nodes, "edges": edges }));
    assert_eq!(graph.validate(), []);
    assert_eq!(Topology::of(&graph).layers().len(), size + 1);
    edges.push(json!({ "from": format!("n{}", size - 1), "to": "n0" }));
    let graph = document(json!({ "format": "superstep/1", "nodes": nodes, "edges": edges }));
    let problems = graph.validate();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].code, "endless-loop");
    assert_eq!(Topology::of(&graph).loops()[0].len(), size);
}
