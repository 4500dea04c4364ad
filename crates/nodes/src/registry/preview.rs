//! A graph that says what would happen, and does nothing: nodes whose result follows from the state alone work, the others
//! are passed by. What these would have written is not known, and neither is anything that depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value as Json;
use superstep::graph::Effect;
use superstep_document::{Diagnostic, Document, NOTE, NodeSpec};

use super::working::{PreviewGraph, Uncertain, WorkingNodes};
use super::{KindEntry, Registry, policy};
use crate::project::Environment;
use crate::project::graph_files::GRAPH;

impl KindEntry {
    /// Returns what running a node does to the world outside of the graph.
    pub(super) fn effect(&self, spec: &NodeSpec) -> Effect {
        match (&spec.policy.effect, &spec.policy.cache) {
            (Some(effect), _) => policy::effect(*effect),
            // Who lets a cached result replace the work has said that nothing else comes of it.
            (None, Some(_)) => Effect::Reads,
            (None, None) => self.kind.effect(&spec.config),
        }
    }
}

impl Registry {
    /// Builds the graph of a document for the question of what would happen, skipping the nodes of `without`, too;
    /// returns every problem if it cannot be built.
    pub fn build_preview(
        &self,
        document: &Document,
        environment: &Environment,
        without: &BTreeSet<String>,
    ) -> Result<PreviewGraph, Vec<Diagnostic>> {
        let graph = self
            .build_at(document, environment, &[], WorkingNodes::Certain(without))?
            .graph;
        let usage = self.checked(document, environment).usage;
        let mut uncertain = BTreeMap::new();
        for (id, spec) in document.nodes() {
            let inactive = spec.kind == NOTE || spec.disabled.is_some();
            if inactive || (!without.contains(id) && self.is_certain(&spec, environment, &[])) {
                continue;
            }
            let Some(entry) = self.kinds.get(spec.kind.as_str()) else {
                continue;
            };
            let used = usage.get(&format!("node:{id}")).cloned().unwrap_or_default();
            let known = Uncertain {
                writes: entry.kind.writes_are_known().then_some(used.writes),
                targets: used.dynamic_targets,
                effect: self.effect_of(&spec, environment, &[]),
            };
            uncertain.insert(id.to_owned(), known);
        }
        Ok(PreviewGraph { graph, uncertain })
    }

    /// Returns whether the result of a node follows from the state alone. A nested graph's does if that of each of its
    /// nodes does.
    pub(super) fn is_certain(&self, spec: &NodeSpec, environment: &Environment, above: &[PathBuf]) -> bool {
        let Some(entry) = self.kinds.get(spec.kind.as_str()) else {
            return false;
        };
        // Who says that a node changes something means that it does.
        if !entry.kind.is_certain(&spec.config) || entry.effect(spec) != Effect::Pure {
            return false;
        }
        let certain =
            |spec: &NodeSpec, inside: &Environment, above: &[PathBuf]| self.is_certain(spec, inside, above);
        spec.kind != GRAPH
            || self
                .each_nested(spec, environment, above, certain)
                .is_some_and(|all| all.iter().all(|each| *each))
    }

    /// Returns what a node does to the world outside; for one that runs a graph file, the worst effect of its nodes.
    fn effect_of(&self, spec: &NodeSpec, environment: &Environment, above: &[PathBuf]) -> Effect {
        let Some(entry) = self.kinds.get(spec.kind.as_str()) else {
            return Effect::Unknown;
        };
        let own = entry.effect(spec);
        if spec.kind != GRAPH || own != Effect::Pure {
            return own;
        }
        let effect =
            |spec: &NodeSpec, inside: &Environment, above: &[PathBuf]| self.effect_of(spec, inside, above);
        let nested = self.each_nested(spec, environment, above, effect);
        nested.map_or(Effect::Unknown, |all| {
            all.into_iter()
                .max_by_key(|effect| weight(*effect))
                .unwrap_or(own)
        })
    }

    /// Asks of each working node of the graph file that a node names; `None` when it cannot be read.
    fn each_nested<T>(
        &self,
        spec: &NodeSpec,
        environment: &Environment,
        above: &[PathBuf],
        ask: impl Fn(&NodeSpec, &Environment, &[PathBuf]) -> T,
    ) -> Option<Vec<T>> {
        let path = spec.config.get("graph").and_then(Json::as_str)?;
        let nested = self.library.open(environment, above, path).ok()?;
        let mut above = above.to_vec();
        above.push(nested.path.clone());
        let inside = environment.at(&nested.path);
        let nodes = nested.document.nodes();
        let working = nodes.filter(|(_, spec)| spec.kind != NOTE && spec.disabled.is_none());
        Some(working.map(|(_, spec)| ask(&spec, &inside, &above)).collect())
    }
}

/// Returns how much an effect matters to the person who decides.
fn weight(effect: Effect) -> u8 {
    match effect {
        Effect::Pure => 0,
        Effect::Reads => 1,
        Effect::Idempotent => 2,
        Effect::Once => 4,
        _ => 3,
    }
}
