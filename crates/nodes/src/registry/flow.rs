//! What edges mean for state keys: what a node sees of the state, and who writes a key beside whom.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use superstep_document::{Diagnostic, Edge, NodeSpec, Reducer, text};

use super::check::Findings;
use crate::state::schema::Keys;

/// Contents of `state` in each node.
pub(super) struct NodeInputs {
    all: BTreeSet<String>,
    packets: HashMap<String, BTreeSet<String>>,
}

impl NodeInputs {
    /// Collects what each node sees. A node that only `each` edges lead to sees its packet; one that is reached both
    /// ways may see either.
    pub(super) fn of(edges: &[(String, Edge)], all: &BTreeSet<String>) -> Self {
        let mut packets: HashMap<String, BTreeSet<String>> = HashMap::new();
        for (_, edge) in edges {
            if let Edge::Each { item, to, with, .. } = edge {
                let given = packets.entry(to.clone()).or_default();
                given.insert(item.clone());
                given.extend(with.iter().map(|(key, _)| key.clone()));
            }
        }
        for (_, edge) in edges
            .iter()
            .filter(|(_, edge)| !matches!(edge, Edge::Each { .. }))
        {
            for target in edge.targets() {
                if let Some(given) = packets.get_mut(target) {
                    given.extend(all.iter().cloned());
                }
            }
        }
        Self {
            all: all.clone(),
            packets,
        }
    }

    pub(super) fn node(&self, id: &str) -> &BTreeSet<String> {
        self.packets.get(id).unwrap_or(&self.all)
    }
}

/// Widest fan-out whose branches are followed side by side, and how far; a wider one is compared at its first step.
const WIDE: usize = 24;
const FAR: usize = 16;

/// The nodes that follow a node, joins aside: a join waits, so what follows it is not in step with anything.
type Successors<'a> = HashMap<&'a str, BTreeSet<&'a str>>;

/// Two nodes (in order) and the key they both write.
type WriteConflict = (String, String, String);

/// Warns where two tasks of one super-step write the same `overwrite` key, as far as the drawing shows.
pub(super) fn parallel_writers(
    keys: &Keys,
    nodes: &BTreeMap<&str, NodeSpec>,
    edges: &[(String, Edge)],
    findings: &mut Findings,
) {
    let mut writes: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (record, usage) in &findings.usage {
        let overwrites = |key: &&String| keys.get(key).is_some_and(|key| key.reducer == Reducer::Overwrite);
        let plain: BTreeSet<&str> = usage
            .writes
            .iter()
            .filter(overwrites)
            .map(String::as_str)
            .collect();
        let is_enabled = |node: &&str| nodes.get(node).is_none_or(|spec| spec.disabled.is_none());
        if let (Some(node), false) = (record.strip_prefix("node:").filter(is_enabled), plain.is_empty()) {
            writes.insert(node, plain);
        }
    }
    let mut successors = Successors::new();
    let mut always = Successors::new();
    let mut found: BTreeSet<WriteConflict> = BTreeSet::new();
    let mut seen = HashSet::new();
    for (_, edge) in edges
        .iter()
        .filter(|(_, edge)| !matches!(edge, Edge::Join { .. }))
    {
        for source in edge.sources() {
            successors.entry(source).or_default().extend(edge.targets());
            if let Edge::Plain { to, .. } = edge {
                always.entry(source).or_default().insert(to);
            }
        }
        if let Edge::Each { to, .. } = edge {
            let keys = writes.get(to.as_str()).into_iter().flatten();
            found.extend(keys.map(|key| (to.clone(), to.clone(), (*key).to_owned())));
        }
    }
    for targets in always.values().filter(|targets| targets.len() > 1) {
        let targets: Vec<&str> = targets.iter().copied().collect();
        if targets.len() > WIDE {
            let mut first: HashMap<&str, &str> = HashMap::new();
            for target in targets {
                for key in writes.get(target).into_iter().flatten() {
                    let other = *first.entry(key).or_insert(target);
                    if other != target {
                        found.insert((other.to_owned(), target.to_owned(), (*key).to_owned()));
                    }
                }
            }
            continue;
        }
        for (index, left) in targets.iter().enumerate() {
            for right in &targets[index + 1..] {
                meet(left, right, &successors, &writes, &mut seen, &mut found);
            }
        }
    }
    let met = found
        .iter()
        .map(|(left, right, key)| overwritten(left, right, key));
    findings.problems.extend(met);
}

/// Creates the diagnostic of two nodes of a step that overwrite the same key, or of one that runs more than once in it.
fn overwritten(left: &str, right: &str, key: &str) -> Diagnostic {
    let (message, remedy) = if left == right {
        (
            text!(
                "Node `{left}` runs once per item, and each run overwrites `{key}`.",
                left,
                key
            ),
            text!(
                "Give `{key}` a reducer such as `append`, or write another key.",
                key
            ),
        )
    } else {
        (
            text!(
                "Nodes `{left}` and `{right}` run in the same step and both overwrite `{key}`.",
                left,
                right,
                key
            ),
            text!(
                "Give `{key}` a reducer, or let the nodes run one after the other.",
                key
            ),
        )
    };
    Diagnostic::warning("parallel-writers", format!("node:{right}"), message, remedy)
}

/// Follows two branches that start in the same step side by side, and says where they write the same key at once.
fn meet<'a>(
    left: &'a str,
    right: &'a str,
    successors: &Successors<'a>,
    writes: &HashMap<&'a str, BTreeSet<&'a str>>,
    seen: &mut HashSet<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
    found: &mut BTreeSet<WriteConflict>,
) {
    let (mut lefts, mut rights) = (BTreeSet::from([left]), BTreeSet::from([right]));
    for _ in 0..FAR {
        if !seen.insert((lefts.clone(), rights.clone())) {
            return;
        }
        for a in &lefts {
            for b in rights.iter().filter(|b| *b != a) {
                let (first, second) = if a < b { (*a, *b) } else { (*b, *a) };
                if let (Some(one), Some(other)) = (writes.get(first), writes.get(second)) {
                    found.extend(
                        one.intersection(other)
                            .map(|key| (first.into(), second.into(), (*key).into())),
                    );
                }
            }
        }
        let next = |nodes: &BTreeSet<&'a str>| -> BTreeSet<&'a str> {
            nodes
                .iter()
                .flat_map(|node| successors.get(node).into_iter().flatten().copied())
                .collect()
        };
        let (next_left, next_right) = (next(&lefts), next(&rights));
        // Where both arrive at the same node there is one task, and what follows is common.
        let l: BTreeSet<&str> = next_left.difference(&next_right).copied().collect();
        let r: BTreeSet<&str> = next_right.difference(&next_left).copied().collect();
        if l.is_empty() || r.is_empty() || l.len() + r.len() > WIDE {
            return;
        }
        (lefts, rights) = (l, r);
    }
}
