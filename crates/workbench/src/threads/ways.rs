//! The wires of a document that a task followed: each by its own identity, so that two between the same nodes are two.

use std::collections::{BTreeMap, HashMap};

use superstep_document::{Document, END, Edge, Fallback};

use crate::wire::{DecisionView, RecordedValueView, TakenWay};

/// A wire of the document: an edge, or one of the paths of an edge that has several.
#[derive(Clone, Debug)]
struct Wire {
    id: String,
    to: String,
}

/// The rule by which an edge is followed for a task of its source.
#[derive(Clone, Debug)]
enum Leaving {
    /// It is followed each time.
    Always(Wire),
    /// It is followed when its decision has targets.
    Decided { edge: String, wire: Wire },
    /// Its decision has labels; each has its own wire, or the default's.
    Labelled {
        edge: String,
        labels: Vec<(String, Wire)>,
        default: Option<Wire>,
    },
}

/// The wires of a document by source.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    leaving: HashMap<String, Vec<Leaving>>,
    /// Where a node leads when it has failed.
    on_error: HashMap<String, String>,
    /// Where a node leads when it was visited as often as it may be.
    at_limit: HashMap<String, LimitWays>,
}

/// The ways that are taken in place of a node's work.
#[derive(Debug, Default)]
struct LimitWays {
    /// The most visits with work.
    most: u64,
    wires: Vec<Wire>,
}

/// Returns the id of the wire of an edge that is drawn for one of its paths.
fn wire_id(edge: &str, part: &str) -> String {
    format!("{edge}|{part}")
}

/// Returns when an edge is followed after the work of its source; `None` for one that is taken in place of it.
fn leaving(id: &str, source: &str, edge: &Edge) -> Option<Leaving> {
    let wire = |id: String, to: &str| Wire {
        id,
        to: to.to_owned(),
    };
    Some(match edge {
        Edge::Limit { .. } => return None,
        Edge::Plain { to, .. } => Leaving::Always(wire(id.to_owned(), to)),
        Edge::Join { to, .. } => Leaving::Always(wire(wire_id(id, source), to)),
        Edge::When { to, .. } | Edge::Each { to, .. } => Leaving::Decided {
            edge: id.to_owned(),
            wire: wire(id.to_owned(), to),
        },
        Edge::Route { paths, default, .. } => Leaving::Labelled {
            edge: id.to_owned(),
            labels: (paths.iter())
                .map(|(label, to)| (label.clone(), wire(wire_id(id, &format!("={label}")), to)))
                .collect(),
            default: default.as_ref().map(|to| wire(wire_id(id, "default"), to)),
        },
    })
}

/// Returns the labels that an expression gave; `None` where they were too large to be recorded.
fn labels_of(result: Option<&RecordedValueView>) -> Option<Vec<String>> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(label) => label.clone(),
        other => other.to_string(),
    };
    match result?.value.as_ref()? {
        serde_json::Value::Array(labels) => Some(labels.iter().map(text).collect()),
        label => Some(vec![text(label)]),
    }
}

/// Ways that are being counted, each once, in the order in which they were found.
#[derive(Default)]
struct Found(Vec<TakenWay>);

impl Found {
    fn add(&mut self, wire: &Wire, times: u32) {
        self.0.push(TakenWay {
            to: wire.to.clone(),
            way: Some(wire.id.clone()),
            times,
        });
    }

    /// Returns the number of times that ways to a target were found.
    fn times(&self, to: &str) -> u32 {
        let same = self.0.iter().filter(|way| way.to == to);
        same.map(|way| way.times).sum()
    }
}

impl Wires {
    pub(crate) fn of(document: &Document) -> Self {
        let mut wires = Self::default();
        for (id, edge) in document.edges() {
            for source in edge.sources() {
                let all = wires.leaving.entry(source.to_owned()).or_default();
                all.extend(leaving(id, source, &edge));
            }
            if let Edge::Limit { from, to } = edge {
                let id = id.to_owned();
                let ways = wires.at_limit.entry(from).or_default();
                ways.wires.push(Wire { id, to });
            }
        }
        for (node, spec) in document.nodes() {
            if let (Some(ways), Some(most)) = (wires.at_limit.get_mut(node), spec.policy.max_visits) {
                ways.most = most.into();
            }
            if let Some(Fallback::Branch { to, .. }) = spec.policy.fallback {
                wires.on_error.insert(node.to_owned(), to);
            }
        }
        wires
    }

    /// Returns the ways of a node that ended without a result and led on to what runs next: its error way, or those of
    /// its limit when it had more visits than it may have. A way to the end leaves no trace.
    pub(crate) fn instead(
        &self,
        node: &str,
        visits: Option<u64>,
        leads: impl Fn(&str) -> bool,
    ) -> Vec<TakenWay> {
        let mut found = Found::default();
        let is_taken = |to: &str| to == END || leads(to);
        match (self.at_limit.get(node), visits) {
            (Some(limit), Some(visits)) if visits > limit.most => {
                let taken = limit.wires.iter().filter(|wire| is_taken(&wire.to));
                taken.for_each(|wire| found.add(wire, 1));
            }
            _ => {
                let to = self.on_error.get(node).filter(|to| is_taken(to));
                found.0.extend(to.map(|to| Self::way_of_error(node, to)));
            }
        }
        found.0
    }

    /// Returns every way: its source, its id and its target, those of a source together.
    pub(crate) fn all(&self) -> Vec<(String, String, String)> {
        let mut all = Vec::new();
        let mut add =
            |from: &str, id: &str, to: &str| all.push((from.to_owned(), id.to_owned(), to.to_owned()));
        for from in self.leaving.keys() {
            self.candidates(from)
                .for_each(|wire| add(from, &wire.id, &wire.to));
        }
        for (from, limit) in &self.at_limit {
            limit.wires.iter().for_each(|wire| add(from, &wire.id, &wire.to));
        }
        for (from, to) in &self.on_error {
            let way = Self::way_of_error(from, to);
            add(from, way.way.as_deref().unwrap_or_default(), to);
        }
        all.sort();
        all
    }

    /// Returns whether an edge leads from a node to another.
    pub(crate) fn leads(&self, from: &str, to: &str) -> bool {
        self.candidates(from).any(|wire| wire.to == to)
    }

    /// Returns the way of a node that failed and leads on.
    fn way_of_error(node: &str, to: &str) -> TakenWay {
        TakenWay {
            to: to.to_owned(),
            way: Some(format!("on-error:{node}")),
            times: 1,
        }
    }

    fn of_node(&self, node: &str) -> &[Leaving] {
        self.leaving.get(node).map_or(&[], Vec::as_slice)
    }

    fn candidates<'a>(&'a self, node: &str) -> impl Iterator<Item = &'a Wire> {
        self.of_node(node).iter().flat_map(|leaving| match leaving {
            Leaving::Always(wire) | Leaving::Decided { wire, .. } => vec![wire],
            Leaving::Labelled { labels, default, .. } => {
                labels.iter().map(|(_, wire)| wire).chain(default).collect()
            }
        })
    }

    /// Returns the ways that a finished task of a node followed, from the nodes that its writes lead to and from what it
    /// decided, where that was recorded: a node that chose for itself jumped. A way without an identity is one that no wire, or more than one, may have been.
    pub(crate) fn followed(
        &self,
        node: &str,
        targets: &[String],
        decisions: Option<&[DecisionView]>,
    ) -> Vec<TakenWay> {
        let mut found = Found::default();
        for leaving in self.of_node(node) {
            // A path to the end leaves no trace in storage; a node that waits for a join does.
            if let Leaving::Always(wire) = leaving
                && (wire.to == END || targets.contains(&wire.to))
            {
                found.add(wire, 1);
            }
        }
        for decision in decisions.unwrap_or_default() {
            self.decided(node, decision, &mut found);
        }
        let mut led: BTreeMap<&str, u32> = BTreeMap::new();
        for target in targets {
            *led.entry(target).or_default() += 1;
        }
        for (to, times) in led {
            let left = times.saturating_sub(found.times(to));
            let own = |decision: &DecisionView| {
                decision.edge.is_none() && decision.to.iter().any(|target| target == to)
            };
            if left == 0 {
                continue;
            }
            found.0.push(match decisions.unwrap_or_default().iter().any(own) {
                true => TakenWay {
                    to: to.to_owned(),
                    way: Some(format!("jump|{node}|{to}")),
                    times: left,
                },
                false => self.unseen(node, to, left),
            });
        }
        if found.0.is_empty() && decisions.is_none() && self.leads(node, END) {
            found.0.push(self.unseen(node, END, 1));
        }
        found.0
    }

    /// Adds what a decision of an edge led to.
    fn decided(&self, node: &str, decision: &DecisionView, found: &mut Found) {
        let Some(edge) = &decision.edge else { return };
        for leaving in self.of_node(node) {
            match leaving {
                Leaving::Decided { edge: own, wire } if own == edge && !decision.to.is_empty() => {
                    found.add(wire, decision.packets.max(1));
                }
                Leaving::Labelled {
                    edge: own,
                    labels,
                    default,
                } if own == edge => {
                    let Some(given) = labels_of(decision.result.as_ref()) else {
                        continue;
                    };
                    for label in given {
                        let own = labels.iter().find(|(name, _)| *name == label);
                        if let Some(wire) = own.map(|(_, wire)| wire).or(default.as_ref()) {
                            found.add(wire, 1);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the way to a target of which it is not recorded which wire it was: the only one that leads there.
    fn unseen(&self, node: &str, to: &str, times: u32) -> TakenWay {
        let mut wires = self.candidates(node).filter(|wire| wire.to == to);
        let only = wires.next().filter(|_| wires.next().is_none());
        TakenWay {
            to: to.to_owned(),
            way: only.map(|wire| wire.id.clone()),
            times,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wires(edges: serde_json::Value) -> Wires {
        let node = serde_json::json!({"kind": "assign"});
        let text = serde_json::json!({
            "format": "superstep/1",
            "nodes": {"a": node, "b": node, "c": node},
            "edges": edges
        });
        Wires::of(&Document::parse(&text.to_string()).0)
    }

    fn decision(edge: &str, to: &[&str], result: serde_json::Value) -> DecisionView {
        DecisionView {
            edge: Some(edge.to_owned()),
            to: to.iter().map(|to| (*to).to_owned()).collect(),
            packets: 0,
            expression: None,
            result: Some(RecordedValueView {
                value: Some(result),
                ..RecordedValueView::default()
            }),
            values: Vec::new(),
            conditions: Vec::new(),
            cut: false,
        }
    }

    fn followed(wires: &Wires, targets: &[&str], decisions: Option<&[DecisionView]>) -> Vec<String> {
        let targets: Vec<String> = targets.iter().map(|to| (*to).to_owned()).collect();
        let ways = wires.followed("a", &targets, decisions);
        let shown = |way: TakenWay| format!("{}>{} {}", way.way.unwrap_or_default(), way.to, way.times);
        ways.into_iter().map(shown).collect()
    }

    #[test]
    fn two_labels_that_lead_to_the_same_place_are_two_ways() {
        let route = |to: &str| {
            wires(serde_json::json!([{"id": "r", "from": "a", "route": "state.x",
                "paths": {"approve": to, "reject": to, "true": "c"}, "default": to}]))
        };
        let (end, inner) = (route("__end__"), route("b"));
        let of = |to: &str, label: &str| [decision("r", &[to], label.into())];
        let ended = |label: &str| followed(&end, &[], Some(&of("__end__", label)));
        assert_eq!(ended("approve"), ["r|=approve>__end__ 1"]);
        assert_eq!(ended("reject"), ["r|=reject>__end__ 1"]);
        assert_eq!(ended("something else"), ["r|default>__end__ 1"]);
        assert_eq!(
            followed(&inner, &["b"], Some(&of("b", "reject"))),
            ["r|=reject>b 1"]
        );
        // A list of labels, and a label that is no text.
        let both = [decision("r", &["b", "c"], serde_json::json!(["approve", true]))];
        assert_eq!(
            followed(&inner, &["b", "c"], Some(&both)),
            ["r|=approve>b 1", "r|=true>c 1"]
        );
        // Nothing was recorded: it may have been any of them.
        assert_eq!(followed(&inner, &["b"], None), [">b 1"]);
        assert_eq!(
            followed(&inner, &["c"], None),
            ["r|=true>c 1"],
            "no other leads there"
        );
        assert_eq!(followed(&end, &[], None), [">__end__ 1"]);
    }

    #[test]
    fn conditions_between_the_same_nodes_are_told_apart() {
        let wires = wires(serde_json::json!([
            {"id": "one", "from": "a", "to": "b", "when": "state.n > 1"},
            {"id": "two", "from": "a", "to": "b", "when": "state.n > 2"},
            {"id": "sent", "from": "a", "to": "b", "each": "state.l", "as": "i"},
            {"id": "end", "from": "a", "to": "__end__"},
            {"id": "join", "from": ["a", "c"], "to": "b"}
        ]));
        let mut sent = decision("sent", &["b"], 3.into());
        sent.packets = 3;
        let decisions = [
            decision("one", &["b"], true.into()),
            decision("two", &[], false.into()),
            sent,
        ];
        assert_eq!(
            followed(&wires, &["b", "b", "b", "b", "b"], Some(&decisions)),
            ["end>__end__ 1", "join|a>b 1", "one>b 1", "sent>b 3"]
        );
        // A node that chose for itself: no wire says so.
        let mut own = decision("", &["c"], serde_json::Value::Null);
        own.edge = None;
        assert_eq!(
            followed(&wires, &["b", "c"], Some(&[own])),
            ["end>__end__ 1", "join|a>b 1", "jump|a|c>c 1"]
        );
    }

    #[test]
    fn what_led_nowhere_followed_nothing() {
        let wires = wires(serde_json::json!([{"from": "a", "to": "b", "when": "state.n > 1"}]));
        let decisions = [decision("a->b", &[], false.into())];
        assert_eq!(followed(&wires, &[], Some(&decisions)), Vec::<String>::new());
        assert_eq!(followed(&wires, &["b"], None), ["a->b>b 1"]);
    }
}
