//! The graph as a whole: is there an entry, is everything reached, does every loop end, can every join complete.

use std::collections::{HashMap, HashSet};

use super::Check;
use crate::diagnostic::Diagnostic;
use crate::policy::Fallback;
use crate::topology::Topology;
use crate::view::Edge;
use crate::words::{Join, Text, text};
use crate::{END, START};

pub(super) fn check(check: &mut Check<'_>) {
    let topology = Topology::of(check.document);
    let edges: Vec<(&str, Edge)> = check.document.edges().collect();
    entry(check, &edges);
    let reachable = topology.reachable(START);
    unreached(check, &topology, &reachable);
    starved_joins(check, &edges, &reachable);
    endless_loops(check, &topology, &edges, &reachable);
}

fn entry(check: &mut Check<'_>, edges: &[(&str, Edge)]) {
    if edges.iter().any(|(_, edge)| edge.sources().contains(&START)) {
        return;
    }
    let message = text!("The graph has no entry: no edge begins at `__start__`.");
    let remedy = match check.document.node_ids().find(|id| !check.document.is_note(id)) {
        None => text!("Add a node and connect the start to it."),
        Some(first) => text!(
            "Connect the start to the node that runs first, e.g. `{first}`.",
            first
        ),
    };
    check.push(Diagnostic::error("no-entry", "doc", message, remedy).at("/edges"));
}

fn unreached(check: &mut Check<'_>, topology: &Topology, reachable: &HashSet<&str>) {
    // A node in the place of another runs without being reached.
    let fallback_nodes: HashSet<String> = check
        .document
        .nodes()
        .filter_map(|(_, spec)| match spec.policy.fallback {
            Some(Fallback::Node(name)) => Some(name),
            _ => None,
        })
        .collect();
    let document = check.document;
    let idle = |id: &&str| !reachable.contains(id) && !fallback_nodes.contains(*id) && !document.is_note(id);
    for id in document.node_ids().filter(idle) {
        let others = |names: Vec<&str>| names.iter().any(|name| *name != id);
        let record = format!("node:{id}");
        if others(topology.predecessors(id)) || others(topology.successors(id)) {
            let message = text!("No path leads from the start to `{id}`; it never runs.", id);
            let remedy = text!("Connect it, or delete it.");
            check.push(Diagnostic::warning("unreachable-node", record, message, remedy));
        } else {
            let message = text!("`{id}` is not connected to anything; it never runs.", id);
            let remedy = text!("Draw an edge to it, or delete it.");
            check.push(Diagnostic::warning("unconnected-node", record, message, remedy));
        }
    }
}

/// Reports joins that never run their target because one source is never reached.
fn starved_joins(check: &mut Check<'_>, edges: &[(&str, Edge)], reachable: &HashSet<&str>) {
    for (id, edge) in edges {
        let Edge::Join { from, .. } = edge else { continue };
        if !from.iter().any(|name| reachable.contains(name.as_str())) {
            continue;
        }
        for (index, name) in from.iter().enumerate() {
            if !reachable.contains(name.as_str()) && check.document.is_place(name) && name != END {
                let message = text!(
                    "The join waits for `{name}`, which never runs; it never completes.",
                    name
                );
                let remedy = text!("Connect `{name}`, or take it out of the join.", name);
                let diagnostic = Diagnostic::warning("starved-join", format!("edge:{id}"), message, remedy);
                check.push(diagnostic.at(format!("/from/{index}")));
            }
        }
    }
}

/// Reports loops that run until the limit: no edge leads out of them, and nothing is decided in them.
fn endless_loops(
    check: &mut Check<'_>,
    topology: &Topology,
    edges: &[(&str, Edge)],
    reachable: &HashSet<&str>,
) {
    let loops = topology.loops();
    let mut loop_of: HashMap<&str, usize> = HashMap::new();
    for (index, nodes) in loops.iter().enumerate() {
        loop_of.extend(nodes.iter().map(|name| (*name, index)));
    }
    // One pass over the edges for all loops together.
    let mut ends: Vec<bool> = vec![false; loops.len()];
    for (_, edge) in edges {
        let loops_of = |names: Vec<&str>| -> HashSet<Option<usize>> {
            names.iter().map(|name| loop_of.get(name).copied()).collect()
        };
        let (from, to) = (loops_of(edge.sources()), loops_of(edge.targets()));
        // A join that also waits for something outside does not go round by itself.
        let waits = from.len() > 1;
        for &index in from.iter().flatten() {
            let leaves = to.iter().any(|other| *other != Some(index));
            ends[index] |= leaves || waits || edge.is_conditional();
        }
    }
    for (nodes, _) in loops
        .iter()
        .zip(ends)
        .filter(|(nodes, ends)| !ends && reachable.contains(nodes[0]))
    {
        let mut names: Vec<Text> = nodes
            .iter()
            .take(5)
            .map(|name| format!("`{name}`").into())
            .collect();
        if nodes.len() > names.len() {
            names.push(text!("{count} more", count = nodes.len() - names.len()));
        }
        let message = text!(
            "The loop through {names} has no way out; a run goes round until its limit.",
            names = Text::list(Join::Comma, names)
        );
        let remedy = text!("Make one of its edges conditional, with a path to the end or to a node outside.");
        check.push(Diagnostic::warning(
            "endless-loop",
            format!("node:{}", nodes[0]),
            message,
            remedy,
        ));
    }
}
