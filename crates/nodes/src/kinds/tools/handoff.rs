//! Tools by which one agent lets another go on. The call is answered like any other, so that the conversation stays
//! whole; then the run goes on at the named node, in this graph or in the one around it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::graph::CommandGraph;
use superstep::value::{List, Object};
use superstep::{Command, NodeOutput, Target, Value};

use crate::registry::Site;
use superstep_document::suggest;
use superstep_document::text;

/// Node at which a run continues.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct HandOff {
    /// Node that continues the run.
    #[schemars(title = "Target node", extend("x-leads-to" = serde_json::json!({"outside": false})))]
    pub to: String,
    /// Looks for the node in the graph that runs this one and passes the conversation to its key of the same name.
    #[serde(default)]
    #[schemars(title = "Target in parent graph")]
    pub outside: bool,
    /// Stores the node's name in this state key, so that the next run can start there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Active node key", extend("x-editor" = "state-key", "x-takes" = "to", "x-if" = serde_json::json!({"outside": false})))]
    pub active: Option<String>,
}

impl HandOff {
    pub(super) fn check(&self, site: &mut Site<'_>, pointer: &str) {
        site.filled(&format!("{pointer}/to"), &self.to);
        if self.outside {
            // What the graph around has is said there, if at all.
            return;
        }
        target(site, &format!("{pointer}/to"), &self.to);
        if let Some(key) = &self.active {
            site.write(&format!("{pointer}/active"), key);
        }
    }

    pub(super) fn message(&self) -> String {
        format!("Handed over to `{}`.", self.to)
    }

    /// Returns the output of the tools node, after `answers`; `state` is the node's input.
    pub(super) fn output(&self, key: &Arc<str>, answers: List, state: &Value) -> NodeOutput {
        let messages = match self.outside {
            false => answers,
            // The graph around has seen nothing of this one's conversation yet.
            true => {
                let before = state.get(key).and_then(Value::as_array);
                before
                    .into_iter()
                    .flat_map(List::iter)
                    .chain(answers.iter())
                    .cloned()
                    .collect()
            }
        };
        let mut update: Object = [(key.clone(), Value::Array(messages))].into_iter().collect();
        if let Some(active) = &self.active {
            update.insert(active.as_str(), self.to.as_str());
        }
        NodeOutput::Command(Command {
            update: Some(Value::Object(update)),
            goto: vec![Target::node(self.to.as_str())],
            resume: None,
            graph: match self.outside {
                true => CommandGraph::Parent,
                false => CommandGraph::Current,
            },
        })
    }
}

/// Says that there is no such node to hand over to.
pub(crate) fn target(site: &mut Site<'_>, pointer: &str, to: &str) {
    site.usage.dynamic_targets.insert(to.to_owned());
    if !to.trim().is_empty() && !site.nodes.contains_key(to) {
        let names = || site.nodes.keys().copied();
        let message = text!(
            "There is no node `{to}` to hand over to.{hint}",
            to,
            hint = suggest::did_you_mean(to, names())
        );
        let remedy = text!(
            "Name a node of this graph: {known}.",
            known = suggest::listing(names())
        );
        site.error("unknown-node", pointer, message, remedy);
    }
}
