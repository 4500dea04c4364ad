//! Limits of loops that a person is part of: `max_visits` counts within one run, and each answer begins a new one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use superstep_document::{Diagnostic, Edge, NodeSpec, text};

/// Kind of the nodes that ask a person.
const ASK: &str = "ask";

type NextNodes<'a> = HashMap<&'a str, BTreeSet<&'a str>>;

/// Warns of limits that each answer sets back: no way round leads past all questions.
pub(super) fn bounds_over_answers(
    nodes: &BTreeMap<&str, NodeSpec>,
    edges: &[(String, Edge)],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut successors = NextNodes::new();
    for (_, edge) in edges {
        for source in edge.sources() {
            successors.entry(source).or_default().extend(edge.targets());
        }
    }
    let asks = |name: &str| {
        nodes
            .get(name)
            .is_some_and(|spec| spec.kind == ASK && spec.disabled.is_none())
    };
    for (node, spec) in nodes {
        let Some(most) = spec.policy.max_visits else {
            continue;
        };
        let without_questions = |name: &str| name != *node && asks(name);
        let is_free = !asks(node) && reached(node, &successors, without_questions).contains(node);
        let round = reached(node, &successors, |_| false);
        if is_free || !round.contains(node) {
            continue;
        }
        let on_the_way = |name: &&&str| asks(name) && reached(name, &successors, |_| false).contains(*node);
        let Some(ask) = round.iter().find(on_the_way) else {
            continue;
        };
        let message = text!(
            "`{node}` may be visited {most} times in one run, and its loop asks at `{ask}`. Each answer begins a new run, which counts from the start: the loop is not limited.",
            node = *node,
            most,
            ask = *ask
        );
        let remedy = text!("Count the rounds in a state key, and choose another way when there were enough.");
        let problem = Diagnostic::warning("bound-over-answers", format!("node:{node}"), message, remedy);
        found.push(problem.at("/max_visits"));
    }
    found
}

/// Returns what edges lead to from a node, without what is left out and what only that leads to.
fn reached<'a>(
    from: &str,
    successors: &NextNodes<'a>,
    is_left_out: impl Fn(&str) -> bool,
) -> BTreeSet<&'a str> {
    let next = |name: &str| successors.get(name).into_iter().flatten().copied();
    let mut found = BTreeSet::new();
    let mut open: Vec<&'a str> = next(from).collect();
    while let Some(name) = open.pop() {
        if !is_left_out(name) && found.insert(name) {
            open.extend(next(name));
        }
    }
    found
}
