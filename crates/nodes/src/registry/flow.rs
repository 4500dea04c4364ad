//! What edges mean for state keys: what a node sees of the state, and who writes a key beside whom.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use superstep_document::{Diagnostic, Edge, Join, NodeSpec, Reducer, Text, text};

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

    /// Returns whether the node may see a packet, whose values need not be those of the keys.
    pub(super) fn is_packet(&self, id: &str) -> bool {
        self.packets.contains_key(id)
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

/// Nodes that a warning names.
const NAMED: usize = 3;

/// Writes of one super-step to the same key.
#[derive(Default)]
struct ParallelWrites<'a> {
    /// Nodes of which several tasks run in one step, with the keys that they write.
    repeated: BTreeSet<(&'a str, &'a str)>,
    /// By key, the nodes that run in the same step as another one that writes it.
    together: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

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
    let mut found = ParallelWrites::default();
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
            found.repeated.extend(keys.map(|key| (to.as_str(), *key)));
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
                        found.together.entry(key).or_default().extend([other, target]);
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
    let repeated = found.repeated.iter().map(|(node, key)| repeats(node, key));
    let together = found.together.iter().map(|(key, nodes)| overwritten(key, nodes));
    findings.problems.extend(repeated.chain(together));
}

/// Creates the diagnostic of a node that runs more than once in a step.
fn repeats(node: &str, key: &str) -> Diagnostic {
    let message = text!(
        "Node `{node}` runs once per item, and each run overwrites `{key}`.",
        node,
        key
    );
    let remedy = text!(
        "Give `{key}` a reducer such as `append`, or write another key.",
        key
    );
    Diagnostic::warning("parallel-writers", format!("node:{node}"), message, remedy)
}

/// Creates the diagnostic of nodes of a step that overwrite the same key: one for all of them, at the second.
fn overwritten(key: &str, nodes: &BTreeSet<&str>) -> Diagnostic {
    let named = nodes.iter().take(NAMED).map(|node| format!("`{node}`"));
    let names = Text::list(Join::Comma, named);
    let message = match nodes.len().saturating_sub(NAMED) {
        0 => text!(
            "Nodes that run in the same step overwrite `{key}`: {names}.",
            key,
            names
        ),
        more => text!(
            "Nodes that run in the same step overwrite `{key}`: {names} and {more} more.",
            key,
            names,
            more
        ),
    };
    let remedy = text!(
        "Give `{key}` a reducer, or let the nodes run one after the other.",
        key
    );
    let place = nodes.iter().nth(1).copied().unwrap_or_default();
    Diagnostic::warning("parallel-writers", format!("node:{place}"), message, remedy)
}

/// Follows two branches that start in the same step side by side, and says where they write the same key at once.
fn meet<'a>(
    left: &'a str,
    right: &'a str,
    successors: &Successors<'a>,
    writes: &HashMap<&'a str, BTreeSet<&'a str>>,
    seen: &mut HashSet<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
    found: &mut ParallelWrites<'a>,
) {
    let (mut lefts, mut rights) = (BTreeSet::from([left]), BTreeSet::from([right]));
    for _ in 0..FAR {
        if !seen.insert((lefts.clone(), rights.clone())) {
            return;
        }
        for a in &lefts {
            for b in rights.iter().filter(|b| *b != a) {
                if let (Some(one), Some(other)) = (writes.get(a), writes.get(b)) {
                    for key in one.intersection(other) {
                        found.together.entry(key).or_default().extend([*a, *b]);
                    }
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
