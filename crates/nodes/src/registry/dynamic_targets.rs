//! Nodes that are reached without an edge: by a hand-off, or because a program says so. The document knows edges only,
//! and would say of them that they never run.

use std::collections::{BTreeMap, HashSet};

use superstep_document::{Diagnostic, Document, START, Topology};

use super::kind::KeyUsage;

/// Returns the problems, without those of nodes that are reached by other ways than edges.
pub(crate) fn reached(
    document: &Document,
    usage: &BTreeMap<String, KeyUsage>,
    problems: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let targets_of = |node: &str| {
        let usage = usage.get(&format!("node:{node}"));
        usage.into_iter().flat_map(|usage| &usage.dynamic_targets)
    };
    if usage.values().all(|usage| usage.dynamic_targets.is_empty()) {
        return problems;
    }
    let topology = Topology::of(document);
    let mut reached = HashSet::new();
    let mut next = vec![START];
    while let Some(from) = next.pop() {
        for place in topology.reachable(from) {
            if reached.insert(place) {
                next.extend(targets_of(place).map(String::as_str));
            }
        }
    }
    let is_reached = |problem: &Diagnostic| {
        let idle = matches!(problem.code, "unreachable-node" | "unconnected-node");
        idle && problem
            .record
            .strip_prefix("node:")
            .is_some_and(|node| reached.contains(node))
    };
    problems
        .into_iter()
        .filter(|problem| !is_reached(problem))
        .collect()
}
