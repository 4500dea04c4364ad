//! `agent`: a model and its tools that take turns until the model has its answer. It is a graph of its own, drawn from
//! the settings: it can be opened and stepped, its questions and checkpoints are those of a nested graph, and it shares
//! the conversation with the graph around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::value::Object;
use superstep::{Graph, Input, Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Document, END, FORMAT, NodePolicy, NodeSpec, START};

use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::kinds::model::{Model, Resource, SCRIPTED, ScriptLineConfig};
use crate::kinds::tools::{McpSource, ToolConfig, Tools};
use crate::models::Reasoning;
use crate::project::graph_files::AGENT;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site, parse};
use crate::state::reads::{read, track_reads};
use crate::state::schema::Keys;
use superstep_document::text;

// The nodes of the graph inside.
const MODEL: &str = "model";
const TOOLS: &str = "tools";
const ANSWER: &str = "answer";
const RESULT: &str = "result";
/// State key inside: how long the conversation was when the agent began.
const BEFORE: &str = "messages_before";

/// Settings that the agent's models have from it as they are.
const OF_MODELS: [&str; 8] = [
    "model",
    "messages",
    "resources",
    "reasoning",
    "temperature",
    "max_tokens",
    "timeout_s",
    "pace_ms",
];

/// Settings of an `agent` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Calls a model and its tools in a loop until the model answers.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["model", "messages", "system", "tools"], &[("MCP servers", &["mcp", "resources"]), ("Answer", &["output", "into"]), ("Limits", &["max_turns", "at_limit", "timeout_s"]), ("Model settings", &["temperature", "max_tokens", "reasoning"]), ("Script", &["script", "pace_ms"])])))]
pub struct AgentConfig {
    /// PROVIDER::NAME such as `openai::gpt-4o-mini`, CONNECTION::NAME for one of your connections, or `scripted`.
    #[schemars(title = "Model", extend("x-editor" = "model", "examples" = ["scripted", "openai::gpt-4o-mini", "anthropic::claude-sonnet-4-5", "gemini::gemini-2.5-flash", "ollama::llama3.2"]))]
    pub model: String,
    /// Describes the agent's role and task, as the system message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Instructions", extend("x-editor" = "template"))]
    pub system: Option<String>,
    /// Reads and extends the conversation in this state key.
    #[schemars(title = "Messages", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array", "reducer": "add_messages"})))]
    pub messages: String,
    /// Tools that the agent may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Tools")]
    pub tools: Vec<ToolConfig>,
    /// Adds tools of MCP servers declared in the project's `.mcp.json`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "MCP servers")]
    pub mcp: Vec<McpSource>,
    /// Adds resources of MCP servers before the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Resources")]
    pub resources: Vec<Resource>,
    /// Limits the model calls of one run of the node.
    #[serde(default = "default_turns")]
    #[schemars(title = "Maximum model calls", range(min = 1, max = 400))]
    pub max_turns: u32,
    /// `error` fails the node when the limit is reached; `answer` calls the model once more, without tools.
    #[serde(default)]
    #[schemars(title = "Behaviour at the limit")]
    pub at_limit: AtLimit,
    /// JSON Schema of a result that the model gives at the end, stored in `into`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output schema", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema"))]
    pub output: Option<Json>,
    /// Stores the result in this state key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({})))]
    pub into: Option<String>,
    /// Sets how much a reasoning model thinks before it answers; without it, the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Reasoning effort")]
    pub reasoning: Option<Reasoning>,
    /// Makes answers more varied the higher it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Temperature", range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Limits the length of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum output tokens", range(min = 1))]
    pub max_tokens: Option<u32>,
    /// Stops waiting for an answer of the model after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 86_400))]
    pub timeout_s: u64,
    /// Answers of `scripted`: the first line with a true condition, or with none, is used; lines with calls are skipped where tools are not allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Script", extend("x-editor" = "script", "x-if" = serde_json::json!({"model": "scripted"})))]
    pub script: Vec<ScriptLineConfig>,
    /// Makes `scripted` pause after each word.
    #[serde(default = "default_pace")]
    #[schemars(title = "Delay per word (ms)", range(min = 0, max = 1000), extend("x-if" = serde_json::json!({"model": "scripted"})))]
    pub pace_ms: u64,
}

/// Reaction of an agent to its limit of model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum AtLimit {
    /// The node fails.
    #[default]
    Error,
    /// It answers with what it has.
    Answer,
}

fn default_turns() -> u32 {
    20
}
fn default_timeout() -> u64 {
    600
}
fn default_pace() -> u64 {
    12
}

/// Returns a key of the state as written in an expression.
fn state(key: &str) -> String {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match plain && !key.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("state.{key}"),
        false => format!("state[{}]", Json::from(key)),
    }
}

/// Permission of a model of the graph inside to call tools.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolUse {
    Allowed,
    Forbidden,
}

/// A node of the graph inside.
struct InnerNode {
    id: &'static str,
    kind: &'static str,
    title: &'static str,
    config: Map<String, Json>,
}

impl InnerNode {
    fn model(id: &'static str, title: &'static str, config: Map<String, Json>) -> Self {
        Self {
            id,
            kind: "model",
            title,
            config,
        }
    }
}

impl AgentConfig {
    fn has_tools(&self) -> bool {
        !self.tools.is_empty() || !self.mcp.is_empty()
    }

    /// Returns the config of a model of the inner graph, with these settings beside the common ones. `all` are the
    /// agent's settings.
    fn asks(&self, all: &Map<String, Json>, more: Json, tools: ToolUse) -> Map<String, Json> {
        let mut config: Map<String, Json> = OF_MODELS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone())))
            .collect();
        if let Some(system) = &self.system {
            config.insert("system".into(), system.clone().into());
        }
        let script: Vec<&ScriptLineConfig> = self
            .script
            .iter()
            .filter(|line| tools == ToolUse::Allowed || line.calls.is_empty())
            .collect();
        if self.model == SCRIPTED {
            config.insert("script".into(), json!(script));
        }
        if let Json::Object(more) = more {
            config.extend(more);
        }
        config
    }

    /// Returns the nodes of the inner graph.
    fn parts(&self, all: &Map<String, Json>) -> Vec<InnerNode> {
        let mut own = json!({"into": self.messages});
        if self.has_tools() {
            own["tools_of"] = TOOLS.into();
        }
        let mut parts = vec![InnerNode::model(
            MODEL,
            "Model",
            self.asks(all, own, ToolUse::Allowed),
        )];
        if self.has_tools() {
            let mut config = Map::new();
            config.insert("messages".into(), self.messages.clone().into());
            for name in ["tools", "mcp"] {
                if let Some(setting) = all.get(name) {
                    config.insert(name.into(), setting.clone());
                }
            }
            parts.push(InnerNode {
                id: TOOLS,
                kind: "tools",
                title: "Tools",
                config,
            });
            if self.at_limit == AtLimit::Answer {
                let prompt = "You cannot call tools any more. Answer now, with what you know, and say what is missing.";
                let config = self.asks(
                    all,
                    json!({"into": self.messages, "prompt": prompt}),
                    ToolUse::Forbidden,
                );
                parts.push(InnerNode::model(ANSWER, "Answer with what it has", config));
            }
        }
        if let (Some(output), Some(into)) = (&self.output, &self.into) {
            let prompt = "Give the result of this conversation in the form that is asked for.";
            let config = json!({"into": into, "output": output, "prompt": prompt});
            parts.push(InnerNode::model(
                RESULT,
                "Result",
                self.asks(all, config, ToolUse::Forbidden),
            ));
        }
        parts
    }

    /// Builds the inner graph, with the state keys of the graph around.
    fn document(&self, name: &str, all: &Map<String, Json>, keys: &Keys) -> Document {
        let mut state_keys = Map::new();
        for key in keys.iter() {
            let mut record = key.schema.as_object().cloned().unwrap_or_default();
            // It is given their values, and gives back the conversation and its result only: nothing is joined twice.
            record.remove("default");
            if *key.name == *self.messages {
                record.insert("reducer".into(), "add_messages".into());
            }
            state_keys.insert(key.name.to_string(), record.into());
        }
        state_keys.insert(
            BEFORE.into(),
            json!({"type": "integer", "description": "How long the conversation was before"}),
        );
        let messages = state(&self.messages);
        let after = if self.output.is_some() && self.into.is_some() {
            RESULT
        } else {
            END
        };
        let mut edges = vec![json!({"from": START, "to": MODEL})];
        let mut output = vec![self.messages.clone()];
        let mut layout = json!({START: [40, 120], MODEL: [180, 100], END: [1000, 120]});
        if self.has_tools() {
            let calls = format!("{messages}[-1].tool_calls or {messages}[-1].invalid_tool_calls");
            edges.push(
                json!({"from": MODEL, "route": format!("'tools' if {calls} else 'done'"),
                "paths": {"tools": TOOLS, "done": after}}),
            );
            let turns = format!("{messages}[state.{BEFORE}:]|selectattr('type', 'eq', 'ai')|list|length");
            let limit = match self.at_limit {
                AtLimit::Answer => ANSWER,
                AtLimit::Error => END,
            };
            edges.push(json!({"from": TOOLS, "route": format!("'again' if {turns} < {} else 'limit'", self.max_turns),
                "paths": {"again": MODEL, "limit": limit}}));
            layout[TOOLS] = json!([180, 260]);
            if self.at_limit == AtLimit::Answer {
                edges.push(json!({"from": ANSWER, "to": after}));
                layout[ANSWER] = json!([460, 260]);
            }
        } else {
            edges.push(json!({"from": MODEL, "to": after}));
        }
        if after == RESULT {
            edges.push(json!({"from": RESULT, "to": END}));
            output.extend(self.into.clone());
            layout[RESULT] = json!([740, 100]);
        }
        let nodes: Map<String, Json> = self
            .parts(all)
            .into_iter()
            .map(|part| {
                let node = json!({"kind": part.kind, "title": part.title, "config": part.config});
                (part.id.to_owned(), node)
            })
            .collect();
        let text = json!({
            "format": FORMAT, "name": name, "state": state_keys, "output": output,
            "nodes": nodes, "edges": edges, "layout": layout,
        });
        Document::parse(&text.to_string()).0
    }
}

/// The kind.
pub struct Agent;

impl NodeKind for Agent {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: AGENT,
            title: "Agent",
            summary: "Calls a model and its tools in a loop until the model answers.",
            icon: "bot",
            group: "models",
            aliases: &[
                "react",
                "create_agent",
                "create_react_agent",
                "assistant",
                "ai agent",
                "tool calling",
                "function calling",
                "mcp",
                "supervisor",
                "autonomous",
            ],
            config_schema: schema_of::<AgentConfig>(),
            defaults: json!({"model": SCRIPTED, "messages": "", "system": "You are a helpful assistant.",
                "script": [{"say": "A scripted answer."}]}),
            card: &["/model", "/messages"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<AgentConfig>() else {
            return;
        };
        let parts = config.parts(site.config);
        let spec = |part: &InnerNode| NodeSpec {
            kind: part.kind.to_owned(),
            config: part.config.clone(),
            policy: NodePolicy::default(),
            disabled: None,
            title: None,
            description: None,
        };
        let specs: BTreeMap<&str, NodeSpec> = parts.iter().map(|part| (part.id, spec(part))).collect();
        for part in &parts {
            match part.id {
                // Agents hand over to nodes beside them.
                TOOLS => site.part(&part.config, None, |site| Tools.check(site)),
                _ => site.part(&part.config, Some(&specs), |site| Model.check(site)),
            }
        }
        for (index, tool) in config.tools.iter().enumerate() {
            if tool.handoff.as_ref().is_some_and(|hand_off| hand_off.outside) {
                site.error(
                    "agent-handoff",
                    &format!("/tools/{index}/handoff/outside"),
                    text!("An agent hands over to nodes beside it."),
                    text!("Turn it off; to leave a nested graph, use a model and a tools node there."),
                );
            }
        }
        match (&config.output, &config.into) {
            (Some(_), None) => site.error(
                "agent-output",
                "/into",
                text!("The result is written nowhere."),
                text!("Choose a state key for it, or remove the output schema."),
            ),
            (None, Some(_)) => site.error(
                "agent-output",
                "/output",
                text!("There is no schema for the result."),
                text!("Say what it looks like, or remove `into`: the answer is in the messages."),
            ),
            _ => {}
        }
        if site.keys.get(BEFORE).is_some() {
            site.error(
                "agent-key",
                "",
                text!(
                    "Agents keep a number of their own in a state key `{before}`.",
                    before = BEFORE
                ),
                text!("Give your key another name."),
            );
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: AgentConfig = site.parse()?;
        let mut settings = site.config.clone();
        // Seen from inside, what stands beside the agent is outside.
        for tool in settings
            .get_mut("tools")
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(hand_off) = tool.get_mut("handoff").and_then(Json::as_object_mut) {
                hand_off.insert("outside".into(), true.into());
            }
        }
        let graph = site.inside(&config.document(site.node, &settings, site.keys))?;
        let taken = [
            Some(config.messages.clone()),
            config.into.filter(|_| config.output.is_some()),
        ];
        Ok(Arc::new(AgentNode {
            name: site.node.into(),
            graph,
            messages: config.messages,
            given: site.keys.names().map(Into::into).collect(),
            taken: taken.into_iter().flatten().collect(),
            max_turns: config.max_turns,
        }))
    }

    fn inside(&self, node: &str, config: &Map<String, Json>, keys: &Keys) -> Option<Document> {
        Some(parse::<AgentConfig>(config).ok()?.document(node, config, keys))
    }
}

struct AgentNode {
    name: Arc<str>,
    graph: Graph,
    messages: String,
    given: Vec<Arc<str>>,
    taken: Vec<String>,
    max_turns: u32,
}

#[async_trait]
impl Node for AgentNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let given = self
            .given
            .iter()
            .filter_map(|key| Some((key.clone(), read(&context, &input, key)?.clone())));
        let mut given: Object = given.collect();
        let before = read(&context, &input, &self.messages)
            .and_then(Value::as_array)
            .map_or(0, |list| list.len());
        given.insert(BEFORE, i64::try_from(before).unwrap_or(i64::MAX));
        let result = context
            .invoke(&self.graph, Input::value(Value::Object(given)))
            .await?;
        self.within_turns(&result)?;
        let taken = self
            .taken
            .iter()
            .filter_map(|key| Some((key.as_str(), result.get(key)?.clone())));
        Ok(NodeOutput::Update(Value::Object(taken.collect())))
    }
}

impl AgentNode {
    /// Checks that the agent ended within its turns: one that ends with the answer of a tool still had something to
    /// say.
    fn within_turns(&self, result: &Value) -> Result<(), NodeError> {
        let messages = result.get(&self.messages).and_then(Value::as_array);
        let last = messages.and_then(|messages| messages.get(messages.len().checked_sub(1)?));
        if last.and_then(|last| last.get("type")).and_then(Value::as_str) != Some("tool") {
            return Ok(());
        }
        Err(NodeError::new(
            error_class::AGENT_LIMIT,
            format!(
                "node {}: the agent has had its {} turns and still calls tools. Raise `max_turns`, or let it answer with what it has (`at_limit`).",
                self.name, self.max_turns
            ),
        ))
    }
}
