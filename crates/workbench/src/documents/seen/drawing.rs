//! A graph as the steps of threads show it: nodes that ran, ways that were taken and how often. What no thread did is not in
//! it, and conditions are not known.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value as Json, json};
use superstep::Name;
use superstep::checkpoint::Source;
use superstep::inspect::{ForeignStep, ForeignWork};
use superstep_document::{Document, END, START};

use crate::arranging::arrange;
use crate::arranging::boxes::{Budget, End, LayoutBox, Link};

/// The kind of a node whose program is not known.
const SEEN: &str = "seen";
/// The kind of a node that runs another graph.
pub(super) const GRAPH: &str = "graph";
/// Sizes of cards as the canvas draws them, and what the label of a way takes.
const CARD: (f64, f64) = (216.0, 44.0);
const PILL: (f64, f64) = (72.0, 28.0);
const LABEL: f64 = 48.0;
/// Work that may go into places.
const MAX_COST: u64 = 4_000_000;

/// Counts of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    /// Tasks that took it.
    tasks: u64,
    /// Packets that were sent along it.
    packets: u64,
}

/// Nodes and ways of one graph, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    nodes: BTreeSet<String>,
    /// Tasks of each node that ended with a result.
    finished: BTreeMap<String, u64>,
    /// Those of them that led nowhere.
    ended: BTreeMap<String, u64>,
    ways: BTreeMap<(String, String), Taken>,
    /// Ways that wait for all of several nodes.
    joins: BTreeSet<(Vec<String>, String)>,
}

fn on_grid(place: f64) -> f64 {
    (place / 4.0).round() * 4.0
}

/// Lists the nodes that ran after each checkpoint, for the steps of one namespace.
pub(super) fn following(steps: &[&ForeignStep]) -> BTreeMap<String, Vec<Name>> {
    let mut next: BTreeMap<String, Vec<Name>> = BTreeMap::new();
    // An input or an edit begins again: its nodes were led to by nobody.
    let led = |step: &&&ForeignStep| step.head.metadata.source == Source::Loop;
    for step in steps.iter().filter(led) {
        if let Some(parent) = &step.head.parent {
            next.entry(parent.to_string())
                .or_default()
                .extend(step.head.next.iter().cloned());
        }
    }
    next
}

impl Drawn {
    /// Returns its nodes.
    pub(super) fn nodes(&self) -> &BTreeSet<String> {
        &self.nodes
    }

    /// Adds what the tasks of a checkpoint did; `next` is what ran after it.
    pub(super) fn learn(&mut self, step: &ForeignStep, next: &[Name]) {
        let due = step.head.next.iter().filter(|node| ***node != *START);
        self.nodes.extend(due.map(ToString::to_string));
        for work in &step.work {
            if &*work.node != START {
                self.nodes.insert(work.node.to_string());
            }
            if work.finished {
                self.finished(work, step, next);
            }
        }
    }

    fn finished(&mut self, work: &ForeignWork, step: &ForeignStep, next: &[Name]) {
        let from = work.node.to_string();
        *self.finished.entry(from.clone()).or_default() += 1;
        let mut led = 0;
        for way in work.ways.iter().filter(|way| !way.to.is_empty()) {
            led += 1;
            self.nodes.insert(way.to.to_string());
            if way.joins.len() > 1 {
                let sources = way.joins.iter().map(ToString::to_string).collect();
                self.joins.insert((sources, way.to.to_string()));
                continue;
            }
            let taken = self.ways.entry((from.clone(), way.to.to_string())).or_default();
            taken.tasks += 1;
            taken.packets += u64::from(way.packets);
        }
        if work.marked {
            // Whom its mark triggers is what ran next and nothing else of the step led to.
            let others = step.work.iter().flat_map(|work| &work.ways);
            let known: BTreeSet<&Name> = others.map(|way| &way.to).collect();
            let fresh: BTreeSet<&Name> = next.iter().filter(|node| !known.contains(node)).collect();
            for to in fresh {
                led += 1;
                self.ways.entry((from.clone(), to.to_string())).or_default().tasks += 1;
            }
        }
        if led == 0 && from != START {
            *self.ended.entry(from).or_default() += 1;
        }
    }

    /// Adds what another look at the same graph found.
    pub(super) fn add(&mut self, other: &Self) {
        self.nodes.extend(other.nodes.iter().cloned());
        self.joins.extend(other.joins.iter().cloned());
        for (counts, more) in [
            (&mut self.finished, &other.finished),
            (&mut self.ended, &other.ended),
        ] {
            for (node, count) in more {
                *counts.entry(node.clone()).or_default() += count;
            }
        }
        for (way, more) in &other.ways {
            let taken = self.ways.entry(way.clone()).or_default();
            taken.tasks += more.tasks;
            taken.packets += more.packets;
        }
    }

    /// Lists all ways in the form of edges of a graph file.
    fn edges(&self) -> Vec<Json> {
        let mut edges = Vec::new();
        let share = |from: &str, tasks: u64| {
            let of = self.finished.get(from).copied().unwrap_or(tasks);
            (tasks < of).then(|| format!("{tasks}/{of}"))
        };
        for ((from, to), taken) in &self.ways {
            let id = format!("{from}>{to}");
            edges.push(match (taken.packets, share(from, taken.tasks)) {
                (0, None) => json!({"id": id, "from": from, "to": to}),
                (0, Some(share)) => json!({"id": id, "from": from, "to": to, "when": share}),
                (packets, _) => {
                    json!({"id": id, "from": from, "each": format!("×{packets}"), "as": "item", "to": to})
                }
            });
        }
        for (sources, to) in &self.joins {
            let id = format!("{}>{to}", sources.join("+"));
            edges.push(json!({"id": id, "from": sources, "to": to}));
        }
        for (from, tasks) in &self.ended {
            let id = format!("{from}>{END}");
            edges.push(match share(from, *tasks) {
                None => json!({"id": id, "from": from, "to": END}),
                Some(share) => json!({"id": id, "from": from, "to": END, "when": share}),
            });
        }
        edges
    }

    /// Lists links between nodes.
    fn links(&self) -> Vec<(&str, &str)> {
        let ways = self.ways.keys().map(|(from, to)| (from.as_str(), to.as_str()));
        let joins = self.joins.iter();
        let joins = joins.flat_map(|(from, to)| from.iter().map(move |from| (from.as_str(), to.as_str())));
        let ends = self.ended.keys().map(|from| (from.as_str(), END));
        ways.chain(joins).chain(ends).collect()
    }

    /// Lists the nodes as they are reached from the start; those that nothing leads to come last.
    fn order(&self) -> Vec<&str> {
        let links = self.links();
        let mut order: Vec<&str> = Vec::new();
        let mut known = BTreeSet::from([START, END]);
        let mut waiting = VecDeque::from([START]);
        let mut rest = self.nodes.iter();
        loop {
            while let Some(from) = waiting.pop_front() {
                if from != START {
                    order.push(from);
                }
                for &(_, to) in links.iter().filter(|(of, _)| *of == from) {
                    if known.insert(to) {
                        waiting.push_back(to);
                    }
                }
            }
            match rest.by_ref().find(|node| known.insert(node.as_str())) {
                Some(node) => waiting.push_back(node.as_str()),
                None => return order,
            }
        }
    }

    /// Returns whether a way out of a node has a label.
    fn is_labelled(&self, node: &str) -> bool {
        let finished = self.finished.get(node).copied().unwrap_or_default();
        let mut ways = self.ways.iter().filter(|((from, _), _)| from == node);
        ways.any(|(_, taken)| taken.packets > 0 || taken.tasks < finished)
    }

    /// Builds the graph as a document. `is_nested` says which nodes ran graphs.
    pub(super) fn document(&self, name: &str, is_nested: impl Fn(&str) -> bool) -> Document {
        let order = self.order();
        let node = |node: &str| {
            let kind = if is_nested(node) { GRAPH } else { SEEN };
            (node.to_owned(), json!({"kind": kind}))
        };
        let nodes: Map<String, Json> = order.iter().copied().map(node).collect();
        let text = json!({
            "format": "superstep/1",
            "name": name,
            "nodes": nodes,
            "edges": self.edges(),
            "layout": layout(&order, &self.links(), |node| self.is_labelled(node)),
        });
        Document::parse(&text.to_string()).0
    }
}

/// Places the nodes of a graph, start and end. `is_labelled` says which nodes have a way out with a label.
pub(super) fn layout(
    nodes: &[&str],
    links: &[(&str, &str)],
    is_labelled: impl Fn(&str) -> bool,
) -> Map<String, Json> {
    let all: Vec<&str> = [START]
        .into_iter()
        .chain(nodes.iter().copied())
        .chain([END])
        .collect();
    let place = |name: &str| all.iter().position(|known| *known == name);
    let boxes: Vec<LayoutBox> = (all.iter())
        .map(|name| {
            let (end, (width, height)) = match *name {
                START => (Some(End::First), PILL),
                END => (Some(End::Last), PILL),
                node if is_labelled(node) => (None, (CARD.0 + LABEL, CARD.1)),
                _ => (None, CARD),
            };
            let port = height / 2.0;
            LayoutBox {
                width,
                height,
                port,
                end,
            }
        })
        .collect();
    let link = |(from, to): &(&str, &str)| {
        let (from, to) = (place(from)?, place(to)?);
        let port = boxes.get(from)?.port;
        Some(Link { from, to, port })
    };
    let links: Vec<Link> = links.iter().filter_map(link).collect();
    let places = arrange(&boxes, &links, &mut Budget::new(MAX_COST, &|_, _| true)).unwrap_or_default();
    let placed = all.iter().zip(places);
    placed
        .map(|(name, (x, y))| ((*name).to_owned(), json!([on_grid(x), on_grid(y)])))
        .collect()
}

/// Builds a graph of our own from one that was seen: each node writes nothing, each way is open. What it does is to be drawn.
pub(super) fn skeleton(seen: &Document) -> Document {
    let mut json = seen.to_json();
    let nodes = json.get_mut("nodes").and_then(Json::as_object_mut);
    for node in nodes.into_iter().flat_map(|nodes| nodes.values_mut()) {
        *node = json!({"kind": "assign", "config": {"set": {}}});
    }
    let edges = json.get_mut("edges").and_then(Json::as_array_mut);
    for edge in edges.into_iter().flatten().filter_map(Json::as_object_mut) {
        if edge.contains_key("when") {
            edge.insert("when".to_owned(), "true".into());
        }
        if edge.contains_key("each") {
            edge.insert("each".to_owned(), "[]".into());
        }
    }
    Document::parse(&json.to_string()).0
}
