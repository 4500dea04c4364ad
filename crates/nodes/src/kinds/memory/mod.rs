//! `memory`: keeps a conversation short and remembers what matters of it: trims it by tokens or turns, deletes messages,
//! summarises what is old with a model, extracts facts into the store.

mod count;
mod trim;
mod work;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::Node;
use superstep_document::{Diagnostic, Reducer};

use super::inner_model::{self, InnerModel, ModelNeeds};
use super::store::Namespace;
use crate::base::config_schema::schema_of;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use superstep_document::text;
use trim::Trim;
use work::{Delete, Extract, MemoryNode, MemoryWork, Summarise};

/// Settings of a `memory` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Manages a conversation.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["do", "messages", "max_tokens", "max_turns", "ids", "types", "keep_last", "model", "namespace", "into", "summary"], &[("Trim options", &["by_provider", "include_system", "start_on", "end_on", "allow_partial"]), ("Prompt and facts", &["prompt", "fact"])])))]
pub struct MemoryConfig {
    /// `trim` keeps the end of the conversation, `delete` removes messages, `summarise` replaces old messages with a summary, `extract` saves facts to the store.
    #[serde(rename = "do")]
    #[schemars(title = "Operation")]
    pub action: MemoryAction,
    /// State key with the conversation.
    #[schemars(title = "Messages", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array", "reducer": "add_messages"})))]
    pub messages: String,
    /// Trim keeps at most about this many tokens, at four characters each; summarise does nothing below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum tokens", range(min = 1), extend("x-if" = serde_json::json!({"do": ["trim", "summarise"]})))]
    pub max_tokens: Option<usize>,
    /// Starts from the token count that the provider reported with its last answer.
    #[serde(default)]
    #[schemars(title = "Provider token count", extend("x-if" = serde_json::json!({"do": ["trim", "summarise"]})))]
    pub by_provider: bool,
    /// Trim keeps at most this many turns, each beginning with a human message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum turns", range(min = 1), extend("x-if" = serde_json::json!({"do": "trim"})))]
    pub max_turns: Option<usize>,
    /// Trim always keeps a system message at the beginning.
    #[serde(default = "yes")]
    #[schemars(title = "Leading system message", extend("x-if" = serde_json::json!({"do": "trim"})))]
    pub include_system: bool,
    /// Trim starts at a message of one of these types.
    #[serde(default = "human")]
    #[schemars(title = "First message types", extend("x-if" = serde_json::json!({"do": "trim"})))]
    pub start_on: Vec<String>,
    /// Trim ends at a message of one of these types; without any, at the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Last message types", extend("x-if" = serde_json::json!({"do": "trim"})))]
    pub end_on: Vec<String>,
    /// Trim keeps the last lines or blocks of the message at the edge.
    #[serde(default)]
    #[schemars(title = "Partial messages", extend("x-if" = serde_json::json!({"do": "trim"})))]
    pub allow_partial: bool,
    /// Trim stores the kept messages in this state key and leaves the conversation unchanged; extract stores the facts there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array"}), "x-if" = serde_json::json!({"do": ["trim", "extract"]})))]
    pub into: Option<String>,
    /// Expression for the list of message IDs to delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Message IDs", extend("x-editor" = "expression", "x-if" = serde_json::json!({"do": "delete"})))]
    pub ids: Option<String>,
    /// Delete removes only messages of these types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Message types", extend("x-if" = serde_json::json!({"do": "delete"})))]
    pub types: Vec<String>,
    /// Delete and summarise leave this many of the last messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Messages to keep", range(min = 0), extend("x-if" = serde_json::json!({"do": ["delete", "summarise"]})))]
    pub keep_last: Option<usize>,
    /// Stores the summary in this state key; without it, the summary is a system message at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Summary key", extend("x-editor" = "state-key", "x-if" = serde_json::json!({"do": "summarise"})))]
    pub summary: Option<String>,
    /// Model that summarises or extracts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Model", extend("x-if" = serde_json::json!({"do": ["summarise", "extract"]})))]
    pub model: Option<InnerModel>,
    /// Replaces the built-in prompt; it can use `state.transcript` and `state.known`, the summary or facts so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Prompt", extend("x-editor" = "template", "x-if" = serde_json::json!({"do": ["summarise", "extract"]})))]
    pub prompt: Option<String>,
    /// Namespace of the facts in the store, one template for each level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Namespace", extend("x-if" = serde_json::json!({"do": "extract"})))]
    pub namespace: Vec<String>,
    /// JSON Schema of one fact, an object; without it, a fact is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Fact schema", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema", "x-if" = serde_json::json!({"do": "extract"})))]
    pub fact: Option<Json>,
}

/// Operation on the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum MemoryAction {
    /// Keeps the end.
    Trim,
    /// Removes messages.
    Delete,
    /// Writes what is old into a summary.
    Summarise,
    /// Puts facts into the store.
    Extract,
}

fn yes() -> bool {
    true
}
fn human() -> Vec<String> {
    vec!["human".to_owned()]
}

/// Types of messages.
const TYPES: [&str; 4] = ["human", "ai", "system", "tool"];
/// What prompts see besides the state.
const EXTRA: [&str; 2] = ["transcript", "known"];
/// Longest list of facts that a model may give at once.
const MAX_FACTS: usize = 50;

const SUMMARY: &str = "{% if state.known %}This is the summary of the conversation so far:\n{{ state.known }}\n\nExtend it by \
    these messages:\n{% else %}Summarise this conversation:\n{% endif %}{{ state.transcript }}\n\nKeep names, facts, decisions and \
    open questions. Answer with the summary alone.";
const FACTS: &str = "List what is worth remembering about the person from this conversation: lasting facts, preferences and \
    decisions, not what matters only now. Give each fact a short key of letters and `-`; take the same key for a fact that \
    takes the place of a known one.\n{% if state.known %}Known:\n{% for fact in state.known %}- {{ fact.key }}: {{ fact.value }}\n\
    {% endfor %}{% endif %}The conversation:\n{{ state.transcript }}";

impl MemoryConfig {
    fn wanted(&self) -> ModelNeeds<'static> {
        let (usual, output) = match self.action {
            MemoryAction::Extract => {
                let mut fact = self.fact.clone().unwrap_or_else(|| {
                    json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
                });
                if let Some(fields) = fact.as_object_mut() {
                    let properties = fields.entry("properties").or_insert_with(|| json!({}));
                    if let Some(properties) = properties.as_object_mut() {
                        properties.insert(
                            "key".into(),
                            json!({"type": "string", "minLength": 1, "maxLength": 100}),
                        );
                    }
                    let required = fields.entry("required").or_insert_with(|| json!([]));
                    if let Some(required) = required
                        .as_array_mut()
                        .filter(|list| !list.contains(&json!("key")))
                    {
                        required.push("key".into());
                    }
                }
                (
                    FACTS,
                    Some(json!({"type": "array", "items": fact, "maxItems": MAX_FACTS})),
                )
            }
            _ => (SUMMARY, None),
        };
        ModelNeeds {
            base: "/config/model",
            prompt: self.prompt.clone().unwrap_or_else(|| usual.to_owned()),
            output,
            extra: &EXTRA,
        }
    }
}

/// The kind.
pub struct Memory;

impl NodeKind for Memory {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "memory",
            title: "Memory",
            summary: "Shortens a conversation or extracts facts from it.",
            icon: "brain",
            group: "models",
            aliases: &[
                "trim_messages",
                "summarize",
                "conversation",
                "history",
                "chat history",
                "RemoveMessage",
                "context window",
                "buffer",
                "shorten",
            ],
            config_schema: schema_of::<MemoryConfig>(),
            defaults: json!({"do": "trim", "messages": "", "max_tokens": 4000}),
            card: &["/do", "/messages", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<MemoryConfig>() else {
            return;
        };
        site.read("/messages", &config.messages);
        let changes = match config.action {
            MemoryAction::Trim => config.into.is_none(),
            MemoryAction::Delete | MemoryAction::Summarise => true,
            MemoryAction::Extract => false,
        };
        if changes && let Some(key) = site.write("/messages", &config.messages) {
            let fits = matches!(
                key.reducer,
                Reducer::AddMessages | Reducer::Overwrite | Reducer::Append
            );
            if !fits {
                let message = text!(
                    "State key `{messages}` takes no messages.",
                    messages = &config.messages
                );
                let remedy = text!("Choose a key with the reducer add_messages.");
                site.error("memory-messages", "/messages", message, remedy);
            }
        }
        if let Some(into) = &config.into {
            site.write("/into", into);
        }
        for (name, types) in [
            ("start_on", &config.start_on),
            ("end_on", &config.end_on),
            ("types", &config.types),
        ] {
            for (index, ty) in types
                .iter()
                .enumerate()
                .filter(|(_, ty)| !TYPES.contains(&ty.as_str()))
            {
                let message = text!(
                    "There are no messages of type `{ty}`.{hint}",
                    ty,
                    hint = superstep_document::suggest::did_you_mean(ty, TYPES)
                );
                let remedy = text!(
                    "Write one of {known}.",
                    known = superstep_document::suggest::listing(TYPES)
                );
                site.error("memory-type", &format!("/{name}/{index}"), message, remedy);
            }
        }
        match config.action {
            MemoryAction::Trim if config.max_tokens.is_none() && config.max_turns.is_none() => site.error(
                "memory-limit",
                "/max_tokens",
                text!("Nothing says how much is kept."),
                text!("Write `max_tokens` or `max_turns`."),
            ),
            MemoryAction::Delete => {
                if config.ids.is_none() && config.types.is_empty() && config.keep_last.is_none() {
                    site.error(
                        "memory-limit",
                        "/ids",
                        text!("Nothing says which messages are deleted."),
                        text!("Write `ids`, `types` or `keep_last`."),
                    );
                }
                if let Some(ids) = &config.ids {
                    site.expression("/ids", ids, None);
                }
            }
            MemoryAction::Summarise | MemoryAction::Extract => self.check_model(site, &config),
            MemoryAction::Trim => {}
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: MemoryConfig = site.parse()?;
        let asking = match &config.model {
            Some(model) if matches!(config.action, MemoryAction::Summarise | MemoryAction::Extract) => {
                Some(inner_model::build(site, model, &config.wanted())?)
            }
            _ => None,
        };
        let work = match (config.action, asking) {
            (MemoryAction::Trim, _) => MemoryWork::Trim(Trim {
                max_tokens: config.max_tokens,
                max_turns: config.max_turns,
                include_system: config.include_system,
                start_on: config.start_on,
                end_on: config.end_on,
                allow_partial: config.allow_partial,
                by_provider: config.by_provider,
            }),
            (MemoryAction::Summarise, Some(asking)) => MemoryWork::Summarise(Summarise {
                keep_last: config.keep_last.unwrap_or(4),
                above: config.max_tokens,
                by_provider: config.by_provider,
                summary: config.summary,
                asking,
            }),
            (MemoryAction::Extract, Some(asking)) => MemoryWork::Extract(Extract {
                namespace: Namespace::build(site, &config.namespace)?,
                asking,
            }),
            _ => MemoryWork::Delete(Delete {
                ids: config
                    .ids
                    .as_ref()
                    .map(|ids| site.expression("/ids", ids))
                    .transpose()?,
                types: config.types,
                keep_last: config.keep_last.unwrap_or(0),
            }),
        };
        let reducer = |key: &str| site.keys.get(key).map_or(Reducer::Overwrite, |key| key.reducer);
        Ok(Arc::new(MemoryNode {
            name: site.node.into(),
            reducer: reducer(&config.messages),
            into: config.into.map(|key| (reducer(&key), key)),
            messages: config.messages,
            work,
        }))
    }
}

impl Memory {
    fn check_model(&self, site: &mut Site<'_>, config: &MemoryConfig) {
        let Some(model) = &config.model else {
            let remedy = text!("Add `model`, e.g. {\"model\": \"openai::gpt-4o-mini\"}.");
            return site.error(
                "memory-model",
                "/model",
                text!("This is done by a model, and there is none."),
                remedy,
            );
        };
        inner_model::check(site, model, &config.wanted());
        if let Some(prompt) = &config.prompt {
            let settings: Map<String, Json> = Map::new();
            site.inside("/config", &settings, &EXTRA, |inner| {
                inner.template("/prompt", prompt)
            });
        }
        if config.action == MemoryAction::Summarise {
            if let Some(key) = &config.summary {
                site.read("/summary", key);
                site.write("/summary", key);
            }
            return;
        }
        for (index, label) in config.namespace.iter().enumerate() {
            let pointer = format!("/namespace/{index}");
            site.filled(&pointer, label);
            site.template(&pointer, label);
        }
        if config.namespace.is_empty() {
            let remedy = text!(
                "Add a label, e.g. `memories`, and one that says whose they are, e.g. `{{ state.user }}`."
            );
            site.error(
                "store-namespace",
                "/namespace",
                text!("The facts have no place in the store."),
                remedy,
            );
        }
        if let Some(fact) = &config.fact {
            site.schema("/fact", fact);
            if fact.get("type").is_none_or(|ty| ty != "object") {
                let remedy = text!("Write `{\"type\": \"object\", \"properties\": {…}}`.");
                site.error(
                    "memory-fact",
                    "/fact",
                    text!("A fact must be an object: the store keeps objects."),
                    remedy,
                );
            }
        }
    }
}
