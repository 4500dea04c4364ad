//! The route to a checkpoint: what ran, and which edges were followed.

use std::collections::{BTreeMap, HashMap, HashSet};

use superstep::Value;
use superstep::checkpoint::{CheckpointHead, Source};
use superstep::inspect::TaskSnapshot;
use superstep_document::{Document, END, Edge, Fallback, START};

use crate::documents::graphs::Built;
use crate::ledger::TaskRow;

/// Nodes that ran and edges that were followed on the way to a checkpoint.
#[derive(Default)]
pub(super) struct Route {
    pub(super) visits: BTreeMap<String, u32>,
    pub(super) taken: BTreeMap<(String, String), u32>,
}

impl Route {
    fn ran(&mut self, node: &str) {
        if node != START {
            *self.visits.entry(node.to_owned()).or_default() += 1;
        }
    }

    fn took(&mut self, from: &str, to: &str) {
        *self.taken.entry((from.to_owned(), to.to_owned())).or_default() += 1;
    }

    /// Adds a task that ended and the targets of its writes. Paths to the end leave no trace in storage, so they are
    /// derived from the edges: a plain edge is always followed, a conditional one when nothing else was.
    fn finished(&mut self, edges: &Edges, node: &str, targets: &[String]) {
        self.ran(node);
        for target in targets {
            self.took(node, target);
        }
        match edges.to_end.get(node) {
            Some(EndEdge::Always) => self.took(node, END),
            Some(EndEdge::Otherwise) if targets.is_empty() => self.took(node, END),
            _ => {}
        }
    }
}

enum EndEdge {
    Always,
    Otherwise,
}

/// The document's edges by source.
#[derive(Default)]
struct Edges {
    targets: HashMap<String, HashSet<String>>,
    to_end: HashMap<String, EndEdge>,
    /// Where a node leads when it has failed.
    on_error: HashMap<String, String>,
}

impl Edges {
    fn of(document: &Document) -> Self {
        let mut edges = Edges::default();
        for (_, edge) in document.edges() {
            for source in edge.sources() {
                for target in edge.targets() {
                    if target == END {
                        let ending = match edge {
                            Edge::Plain { .. } => EndEdge::Always,
                            _ => EndEdge::Otherwise,
                        };
                        let entry = edges
                            .to_end
                            .entry(source.to_owned())
                            .or_insert(EndEdge::Otherwise);
                        if matches!(ending, EndEdge::Always) {
                            *entry = ending;
                        }
                    } else {
                        edges
                            .targets
                            .entry(source.to_owned())
                            .or_default()
                            .insert(target.to_owned());
                    }
                }
            }
        }
        for (node, spec) in document.nodes() {
            if let Some(Fallback::Branch { to, .. }) = spec.policy.fallback {
                edges.on_error.insert(node.to_owned(), to);
            }
        }
        edges
    }

    /// Returns where a node that ended without a result led instead of along its edges.
    fn failed_to(&self, node: &str, rows: Option<&Vec<TaskRow>>, next: &[superstep::Name]) -> Option<&str> {
        let failed = rows.is_some_and(|rows| rows.iter().any(|row| !row.finished && row.node == node));
        let to = self.on_error.get(node).filter(|_| failed)?;
        (to == END || next.iter().any(|name| **name == **to)).then_some(to)
    }

    /// Returns where a source led, derived from what ran next: exact unless two sources of one step lead to the same
    /// target.
    fn led(&self, from: &str, next: &[superstep::Name]) -> Vec<String> {
        let targets = self.targets.get(from);
        next.iter()
            .filter(|name| targets.is_some_and(|targets| targets.contains(&***name)))
            .map(ToString::to_string)
            .collect()
    }
}

/// Returns what made the state of a checkpoint out of its parent's. A copy is stored next to the checkpoint that it was
/// copied from, so the same happened between it and its parent; a replay's fork only repeats its parent.
fn made_by(head: &CheckpointHead, parent: &CheckpointHead) -> Source {
    let source = head.metadata.source;
    let copied = head.metadata.step > parent.metadata.next_step();
    match source {
        Source::Fork if copied && head.metadata.user.contains_key("as_node") => Source::Update,
        Source::Fork if copied => Source::Loop,
        _ => source,
    }
}

/// Builds the route to a checkpoint, from the checkpoints on the way and the finished tasks of its open step.
pub(super) fn route(
    line: &[CheckpointHead],
    head: &CheckpointHead,
    built: Option<&Built>,
    timings: &HashMap<String, Vec<TaskRow>>,
    live: &[TaskSnapshot],
) -> Route {
    let edges = built
        .map(|built| Edges::of(&built.source.document))
        .unwrap_or_default();
    let mut route = Route::default();
    let mut child = head;
    // An edit as the node that had just run takes the place of that node's own edges.
    let mut edited: Option<String> = None;
    for parent in line {
        match made_by(child, parent) {
            Source::Loop => {
                let edited = edited.take();
                let rows = timings.get(parent.id.as_str());
                let mut noted: Vec<&TaskRow> =
                    rows.into_iter().flatten().filter(|row| row.finished).collect();
                for node in &parent.next {
                    if edited.as_deref() == Some(&**node) {
                        route.ran(node);
                        continue;
                    }
                    // One row per task: a fan-out has several of one node.
                    match noted.iter().position(|row| *row.node == **node) {
                        Some(index) => {
                            let row = noted.swap_remove(index);
                            route.finished(&edges, node, &row.targets);
                        }
                        None => match edges.failed_to(node, rows, &child.next) {
                            Some(to) => {
                                route.ran(node);
                                route.took(node, to);
                            }
                            None => route.finished(&edges, node, &edges.led(node, &child.next)),
                        },
                    }
                }
            }
            Source::Update => {
                if let Some(node) = child.metadata.user.get("as_node").and_then(Value::as_str) {
                    for target in edges.led(node, &child.next) {
                        route.took(node, &target);
                    }
                    edited = Some(node.to_owned());
                }
            }
            Source::Input | Source::Fork => {}
        }
        child = parent;
    }
    for task in live.iter().filter(|task| task.result.is_some()) {
        let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
        route.finished(&edges, &task.name, &targets);
    }
    route
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(edges: serde_json::Value) -> Document {
        let text = serde_json::json!({
            "format": "superstep/1",
            "nodes": {"a": {"kind": "assign"}, "b": {"kind": "assign"}, "c": {"kind": "assign"}},
            "edges": edges
        });
        Document::parse(&text.to_string()).0
    }

    fn ways(edges: &Edges, node: &str, targets: &[&str]) -> Vec<String> {
        let mut route = Route::default();
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        route.finished(edges, node, &targets);
        assert_eq!(route.visits.get(node), Some(&1));
        route
            .taken
            .into_iter()
            .map(|((from, to), times)| format!("{from}>{to} {times}"))
            .collect()
    }

    #[test]
    fn ways_to_the_end_follow_from_the_edges() {
        let plain = Edges::of(&document(serde_json::json!([
            {"from": "a", "to": "__end__"}, {"from": "a", "to": "b"}
        ])));
        assert_eq!(
            ways(&plain, "a", &["b"]),
            ["a>__end__ 1", "a>b 1"],
            "a plain edge is always followed"
        );
        let choice = Edges::of(&document(serde_json::json!([
            {"from": "a", "to": "__end__", "when": "state.n > 1"}, {"from": "a", "to": "b", "when": "state.n <= 1"}
        ])));
        assert_eq!(ways(&choice, "a", &["b"]), ["a>b 1"]);
        assert_eq!(ways(&choice, "a", &[]), ["a>__end__ 1"], "when nothing else was");
        assert_eq!(
            ways(&choice, "b", &[]),
            Vec::<String>::new(),
            "b has no way to the end"
        );
        // One plain edge among conditional ones is followed every time, in either order.
        let both = |turned: bool| {
            let mut edges = vec![
                serde_json::json!({"from": "a", "to": "__end__", "when": "state.n > 1"}),
                serde_json::json!({"from": "a", "to": "__end__"}),
            ];
            if turned {
                edges.reverse();
            }
            Edges::of(&document(edges.into()))
        };
        for turned in [false, true] {
            assert_eq!(ways(&both(turned), "a", &["b"]), ["a>__end__ 1", "a>b 1"]);
        }
        let next: Vec<superstep::Name> = vec!["b".into(), "c".into()];
        assert_eq!(plain.led("a", &next), ["b"]);
        assert_eq!(plain.led("c", &next), Vec::<String>::new());
        let mut route = Route::default();
        route.ran(START);
        route.ran("a");
        route.ran("a");
        assert_eq!(
            route.visits.into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), 2)]
        );
    }
}
