//! The route to a checkpoint: what ran, and which edges were followed.

use std::collections::{BTreeMap, HashMap};

use superstep::Value;
use superstep::checkpoint::{CheckpointHead, Source, VISITS};
use superstep::inspect::TaskSnapshot;
use superstep_document::START;

use crate::ledger::TaskRow;
use crate::threads::ways::Wires;
use crate::wire::TakenWay;

/// Visits of a node, counted from the newest back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Visits {
    pub(super) runs: u32,
    /// Whether the newest of them failed, and the thread went on along the node's error way; `None` before it is found.
    pub(super) rerouted: Option<bool>,
}

/// Nodes that ran and wires that were followed on the way to a checkpoint.
#[derive(Default)]
pub(super) struct Route {
    pub(super) visits: BTreeMap<String, Visits>,
    /// By source, target, and the wire where it is known.
    pub(super) taken: BTreeMap<(String, String, Option<String>), u32>,
}

impl Route {
    fn ran(&mut self, node: &str, rerouted: bool) {
        if node != START {
            let visits = self.visits.entry(node.to_owned()).or_default();
            visits.runs += 1;
            visits.rerouted.get_or_insert(rerouted);
        }
    }

    fn took(&mut self, from: &str, ways: impl IntoIterator<Item = TakenWay>) {
        for TakenWay { to, way, times } in ways {
            *self.taken.entry((from.to_owned(), to, way)).or_default() += times;
        }
    }

    /// Adds a task that ended and the wires that it followed, as they were noted, or else as its targets say.
    fn finished(&mut self, wires: &Wires, node: &str, targets: &[String], noted: Option<&Vec<TakenWay>>) {
        self.ran(node, false);
        match noted {
            Some(ways) => self.took(node, ways.iter().cloned()),
            None => self.took(node, wires.followed(node, targets, None)),
        }
    }
}

/// Returns the ways of a node that ended without a result and led on instead of along its edges. `child` is the
/// checkpoint that was made of it.
fn failed_to(
    wires: &Wires,
    node: &str,
    rows: Option<&Vec<TaskRow>>,
    child: &CheckpointHead,
) -> Vec<TakenWay> {
    let failed = rows.is_some_and(|rows| rows.iter().any(|row| !row.finished && row.node == node));
    if !failed {
        return Vec::new();
    }
    let counts = child.metadata.user.get(VISITS).and_then(Value::as_object);
    let visits = counts.and_then(|counts| counts.get(node)?.as_u64());
    wires.instead(node, visits, |to| child.next.iter().any(|name| **name == *to))
}

/// Returns where a source led, derived from what ran next: exact unless two sources of one step lead to the same
/// target.
fn led(wires: &Wires, from: &str, next: &[superstep::Name]) -> Vec<String> {
    let led = next.iter().filter(|name| wires.leads(from, name));
    led.map(ToString::to_string).collect()
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
    wires: &Wires,
    timings: &HashMap<String, Vec<TaskRow>>,
    live: &[TaskSnapshot],
) -> Route {
    let mut route = Route::default();
    for task in live.iter().filter(|task| task.result.is_some()) {
        let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
        let rows = timings.get(head.id.as_str());
        let row = rows.and_then(|rows| rows.iter().find(|row| row.task_id == task.id.as_str()));
        let noted = row.filter(|row| row.finished).and_then(|row| row.ways.as_ref());
        route.finished(wires, &task.name, &targets, noted);
    }
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
                        route.ran(node, false);
                        continue;
                    }
                    // One row per task: a fan-out has several of one node.
                    match noted.iter().position(|row| *row.node == **node) {
                        Some(index) => {
                            let row = noted.swap_remove(index);
                            route.finished(wires, node, &row.targets, row.ways.as_ref());
                        }
                        None => match failed_to(wires, node, rows, child) {
                            ways if ways.is_empty() => {
                                route.finished(wires, node, &led(wires, node, &child.next), None);
                            }
                            ways => {
                                route.ran(node, true);
                                route.took(node, ways);
                            }
                        },
                    }
                }
            }
            Source::Update => {
                if let Some(node) = child.metadata.user.get("as_node").and_then(Value::as_str) {
                    let targets = led(wires, node, &child.next);
                    if !targets.is_empty() {
                        route.took(node, wires.followed(node, &targets, None));
                    }
                    edited = Some(node.to_owned());
                }
            }
            Source::Input | Source::Fork => {}
        }
        child = parent;
    }
    route
}

#[cfg(test)]
mod tests {
    use super::*;
    use superstep_document::Document;

    fn wires(edges: serde_json::Value) -> Wires {
        let text = serde_json::json!({
            "format": "superstep/1",
            "nodes": {"a": {"kind": "assign"}, "b": {"kind": "assign"}, "c": {"kind": "assign"}},
            "edges": edges
        });
        Wires::of(&Document::parse(&text.to_string()).0)
    }

    fn ways(wires: &Wires, node: &str, targets: &[&str]) -> Vec<String> {
        let mut route = Route::default();
        let targets: Vec<String> = targets.iter().map(|target| (*target).to_owned()).collect();
        route.finished(wires, node, &targets, None);
        assert_eq!(route.visits.get(node).map(|visits| visits.runs), Some(1));
        route
            .taken
            .into_iter()
            .map(|((from, to, _), times)| format!("{from}>{to} {times}"))
            .collect()
    }

    #[test]
    fn ways_to_the_end_follow_from_the_edges() {
        let plain = wires(serde_json::json!([
            {"from": "a", "to": "__end__"}, {"from": "a", "to": "b"}
        ]));
        assert_eq!(
            ways(&plain, "a", &["b"]),
            ["a>__end__ 1", "a>b 1"],
            "a plain edge is always followed"
        );
        let choice = wires(serde_json::json!([
            {"from": "a", "to": "__end__", "when": "state.n > 1"}, {"from": "a", "to": "b", "when": "state.n <= 1"}
        ]));
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
            wires(edges.into())
        };
        for turned in [false, true] {
            assert_eq!(ways(&both(turned), "a", &["b"]), ["a>__end__ 1", "a>b 1"]);
        }
        let next: Vec<superstep::Name> = vec!["b".into(), "c".into()];
        assert_eq!(led(&plain, "a", &next), ["b"]);
        assert_eq!(led(&plain, "c", &next), Vec::<String>::new());
    }

    #[test]
    fn the_newest_visit_says_whether_a_node_failed_over() {
        let mut route = Route::default();
        // From the newest back.
        route.ran(START, false);
        route.ran("a", true);
        route.ran("a", false);
        route.ran("b", false);
        route.ran("b", true);
        let shown = |node: &str| (route.visits[node].runs, route.visits[node].rerouted);
        assert_eq!(shown("a"), (2, Some(true)));
        assert_eq!(shown("b"), (2, Some(false)));
        assert!(!route.visits.contains_key(START));
    }
}
