//! What the tests of a graph came to: its nodes, the ways of its edges, what conditions decided, and the answers of people.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;
use superstep_document::{Document, Edge, START};
use superstep_nodes::testing::Played;

use crate::threads::ways::Wires;
use crate::wire::DecisionView;

/// Coverage of a graph by its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// The nodes.
    pub nodes: Vec<CoveredNode>,
    /// The ways of its edges.
    pub ways: Vec<CoveredWay>,
    /// The answers that its questions offer.
    pub answers: Vec<CoveredAnswer>,
}

/// A node, and how often it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoveredNode {
    /// The node.
    pub node: String,
    /// How often.
    pub times: u32,
}

/// A way of an edge, and how often it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoveredWay {
    /// The edge, and its way where it has several.
    pub id: String,
    /// The node that it leaves.
    pub from: String,
    /// Where it leads.
    pub to: String,
    /// How often it was taken.
    pub taken: u32,
    /// Of a condition: how often it did not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_taken: Option<u32>,
}

/// An answer that a question offers, and how often it was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoveredAnswer {
    /// The node that asks.
    pub node: String,
    /// The field of the answer that has the value; absent where the value is the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The value.
    pub value: Json,
    /// How often it was given.
    pub times: u32,
}

/// Returns the values that an answer's schema lists, or else its choices, with the field that has each.
fn offered(config: &Json) -> Vec<(Option<String>, Json)> {
    let schema = &config["answer"];
    let listed = |schema: &Json| match &schema["enum"] {
        Json::Array(values) => values.clone(),
        _ if schema["type"] == "boolean" => vec![true.into(), false.into()],
        _ => Vec::new(),
    };
    let whole = listed(schema).into_iter().map(|value| (None, value));
    let mut offered: Vec<(Option<String>, Json)> = whole.collect();
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        offered.extend(
            listed(schema)
                .into_iter()
                .map(|value| (Some(field.clone()), value)),
        );
    }
    if offered.is_empty() {
        let choices = config["choices"].as_array().into_iter().flatten();
        offered.extend(choices.map(|choice| (None, choice["value"].clone())));
    }
    offered
}

impl Coverage {
    /// Creates the coverage of a graph by no test.
    pub fn of(document: &Document) -> Self {
        let mut is_condition: BTreeMap<&str, bool> = BTreeMap::new();
        let edges: Vec<(&str, Edge)> = document.edges().collect();
        for (id, edge) in &edges {
            is_condition.insert(id, matches!(edge, Edge::When { .. } | Edge::Each { .. }));
        }
        let way = |(from, id, to): (String, String, String)| CoveredWay {
            not_taken: is_condition
                .get(id.as_str())
                .copied()
                .unwrap_or_default()
                .then_some(0),
            id,
            from,
            to,
            taken: 0,
        };
        let mut answers = Vec::new();
        for (node, spec) in document.nodes().filter(|(_, spec)| spec.kind == "ask") {
            for (field, value) in offered(&Json::Object(spec.config)) {
                answers.push(CoveredAnswer {
                    node: node.to_owned(),
                    field,
                    value,
                    times: 0,
                });
            }
        }
        Self {
            nodes: document
                .nodes()
                .map(|(node, _)| CoveredNode {
                    node: node.to_owned(),
                    times: 0,
                })
                .collect(),
            ways: Wires::of(document).all().into_iter().map(way).collect(),
            answers,
        }
    }

    /// Adds what a test came to.
    pub fn add(&mut self, document: &Document, played: &Played) {
        let wires = Wires::of(document);
        let mut visits: BTreeMap<&str, u64> = BTreeMap::new();
        for task in &played.tasks {
            let node = task.node.as_str();
            for known in self.nodes.iter_mut().filter(|known| known.node == node) {
                known.times += 1;
            }
            let visit = visits.entry(node).or_default();
            *visit += 1;
            let decisions: Vec<DecisionView> = task.decisions.iter().map(Into::into).collect();
            let ways = match task.is_failed {
                false => wires.followed(node, &task.targets, Some(&decisions)),
                true => {
                    let runs_next = |to: &str| {
                        let mut later = played.tasks.iter().filter(|later| later.step > task.step);
                        later.any(|later| later.node == to)
                    };
                    wires.instead(node, Some(*visit), runs_next)
                }
            };
            for way in ways {
                let known = self.ways.iter_mut().filter(|known| {
                    known.from == node && known.to == way.to && way.way.as_ref() == Some(&known.id)
                });
                known.for_each(|known| known.taken += way.times);
            }
            let refused = decisions.iter().filter(|decision| decision.to.is_empty());
            for edge in refused.filter_map(|decision| decision.edge.as_deref()) {
                let known = self
                    .ways
                    .iter_mut()
                    .filter(|known| known.from == node && known.id == edge);
                known.for_each(|known| known.not_taken.iter_mut().for_each(|times| *times += 1));
            }
        }
        // What leads from the start is no task.
        let runs = |to: &str| played.tasks.iter().any(|task| task.node == to);
        for way in self
            .ways
            .iter_mut()
            .filter(|way| way.from == START && runs(&way.to))
        {
            way.taken += 1;
        }
        for given in &played.given {
            let is_it = |known: &&mut CoveredAnswer| {
                let value = match &known.field {
                    Some(field) => given.answer.get(field),
                    None => Some(&given.answer),
                };
                known.node == given.node && value == Some(&known.value)
            };
            self.answers
                .iter_mut()
                .filter(is_it)
                .for_each(|known| known.times += 1);
        }
    }
}
