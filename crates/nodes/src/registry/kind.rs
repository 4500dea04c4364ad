//! What a node kind is. Everything the app knows about a kind (palette, form, card, checks, documentation) comes from
//! its implementation of [`NodeKind`]; adding a kind is one module and one line in the registry.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use superstep::Node;
use superstep_document::{Diagnostic, Document};

use super::build_site::BuildSite;
use super::site::Site;
use crate::state::schema::Keys;

/// A kind as the palette and the inspector show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindInfo {
    /// `kind` in the document.
    pub kind: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Lucide icon name.
    pub icon: &'static str,
    /// Palette group: `state`, `models`, `code`, `people`, `knowledge`.
    pub group: &'static str,
    /// What people who come from elsewhere call it: words that a search finds it by.
    pub aliases: &'static [&'static str],
    /// JSON Schema of `config`, with `title`, `description`, `default` and `x-editor` for the form.
    pub config_schema: Json,
    /// `config` of a new node.
    pub defaults: Json,
    /// JSON Pointers into `config` whose text is shown on the node's card.
    pub card: &'static [&'static str],
}

/// A kind of node.
pub trait NodeKind: Send + Sync {
    /// Returns how the kind is shown and what its config looks like.
    fn info(&self) -> KindInfo;
    /// Says what is wrong with a config that satisfies the schema, and what the node reads and writes.
    fn check(&self, site: &mut Site<'_>);
    /// Makes the engine's node. Called for configs without errors only.
    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic>;
    /// Returns what a node with these settings does to the world outside of the graph, if its record does not declare
    /// it.
    fn effect(&self, config: &Map<String, Json>) -> superstep::graph::Effect {
        let _ = config;
        superstep::graph::Effect::Pure
    }
    /// Returns whether the result of a node with these settings follows from the state alone, at once and without a
    /// model, a clock or anything outside. Such nodes work in a preview, which asks only what would happen.
    fn is_certain(&self, config: &Map<String, Json>) -> bool {
        let _ = config;
        false
    }
    /// Returns whether [`check`](Self::check) finds every state key that the node reads. If so, its effect depends on
    /// these keys only.
    fn reads_are_known(&self) -> bool {
        false
    }
    /// Returns whether [`check`](Self::check) finds every state key that the node may write.
    fn writes_are_known(&self) -> bool {
        true
    }
    /// Returns the graph inside a node, for kinds that draw one from their settings; `keys` are those around it.
    fn inside(&self, node: &str, config: &Map<String, Json>, keys: &Keys) -> Option<Document> {
        let _ = (node, config, keys);
        None
    }
}

/// Reads a config.
pub fn parse<C: DeserializeOwned>(config: &Map<String, Json>) -> Result<C, String> {
    serde_json::from_value(Json::Object(config.clone())).map_err(|e| e.to_string())
}

/// State keys that a node, or the edges that leave it, use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeyUsage {
    /// Keys it reads.
    pub reads: BTreeSet<String>,
    /// Keys it writes.
    pub writes: BTreeSet<String>,
    /// True when it may read more than `reads` says: it uses the state as a whole.
    #[serde(skip)]
    pub whole: bool,
    /// Nodes that it may go to without an edge.
    #[serde(rename = "leads", skip_serializing_if = "BTreeSet::is_empty")]
    pub dynamic_targets: BTreeSet<String>,
}
