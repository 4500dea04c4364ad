//! `model`: asks a language model and streams its answer. `scripted` is a model of its own: it says what the node's
//! script has for the current state, word by word, so that graphs run without network, key or cost. Its messages are
//! marked, so that nobody takes them for a model's.

mod check;
mod node;
mod output;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::Node;
use superstep_document::{Diagnostic, Reducer};

use crate::Environment;
use crate::base::config_schema::schema_of;
use crate::expression::Template;
use crate::kinds::tools;
use crate::kinds::tools::mcp::ServerTools;
use crate::models::{self, Reasoning, Recording, ToolChoice, ToolSpec};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use node::{ModelNode, ScriptLine, ScriptedCall};

/// The model that reads from a script.
pub const SCRIPTED: &str = "scripted";

/// Settings of a `model` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Calls a language model.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["model", "prompt", "into", "system"], &[("Conversation", &["messages", "images"]), ("Tools", &["tools_of", "tools", "tool_choice", "resources"]), ("Answer", &["output", "repairs", "usage_into"]), ("Model settings", &["temperature", "max_tokens", "reasoning", "timeout_s"]), ("Recording and script", &["recording", "script", "pace_ms"])])))]
pub struct ModelConfig {
    /// PROVIDER::NAME such as `openai::gpt-4o-mini`, CONNECTION::NAME for one of your connections, or `scripted`.
    #[schemars(title = "Model", extend("x-editor" = "model", "examples" = ["scripted", "openai::gpt-4o-mini", "anthropic::claude-sonnet-4-5", "gemini::gemini-2.5-flash", "ollama::llama3.2"]))]
    pub model: String,
    /// Sent first, as the system message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Instructions", extend("x-editor" = "template"))]
    pub system: Option<String>,
    /// Template for the text to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Prompt", extend("x-editor" = "template"))]
    pub prompt: Option<String>,
    /// Sends the messages in this state key before the prompt, with their images, tool calls and tool results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Messages", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array", "reducer": "add_messages"})))]
    pub messages: Option<String>,
    /// Sends images with the prompt: project files, or `https` or `data` URLs; each template gives one per line, and empty lines are skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Images", extend("x-if" = serde_json::json!({"prompt": "*"})))]
    pub images: Vec<String>,
    /// Stores the answer in this state key: as a message if its reducer is `add_messages`, otherwise as text.
    #[schemars(title = "Output key", extend("x-editor" = "state-key"))]
    pub into: String,
    /// JSON Schema that the answer must match; the answer is stored as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output schema", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema"))]
    pub output: Option<Json>,
    /// Stores token counts and cost in this state key, repairs included: `{model, requests, input_tokens, output_tokens, total_tokens, cost}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Usage key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "object"})))]
    pub usage_into: Option<String>,
    /// Returns an answer that does not match `output` to the model, with the errors, up to this many times.
    #[serde(default = "default_repairs")]
    #[schemars(title = "Maximum repairs", range(min = 0, max = 5), extend("x-if" = serde_json::json!({"output": "*"})))]
    pub repairs: u32,
    /// Tools that the model may call; the stored message contains the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Tools")]
    pub tools: Vec<ToolSpec>,
    /// Offers the tools of a `tools` node to the model, without describing them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Tools node", extend("x-editor" = "node", "x-kind" = "tools"))]
    pub tools_of: Option<String>,
    /// Adds resources of MCP servers before the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Resources")]
    pub resources: Vec<Resource>,
    /// Controls whether the model may, must or must not call a tool.
    #[serde(default)]
    #[schemars(title = "Tool choice")]
    pub tool_choice: ToolChoice,
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
    /// Stops waiting for the complete answer after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 86_400))]
    pub timeout_s: u64,
    /// `record` saves answers to `recordings/models.jsonl` beside the graph; `replay` reads them instead of calling the model.
    #[serde(default)]
    #[schemars(title = "Recording")]
    pub recording: Recording,
    /// Answers of `scripted`: the first line with a true condition, or with none, is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Script", extend("x-editor" = "script", "x-if" = serde_json::json!({"model": "scripted"})))]
    pub script: Vec<ScriptLineConfig>,
    /// Makes `scripted` pause after each word.
    #[serde(default = "default_pace")]
    #[schemars(title = "Delay per word (ms)", range(min = 0, max = 1000), extend("x-if" = serde_json::json!({"model": "scripted"})))]
    pub pace_ms: u64,
}

fn default_pace() -> u64 {
    12
}

/// A resource of an MCP server.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Resource {
    /// Name of the server in the project's `.mcp.json`.
    #[schemars(title = "Server")]
    pub server: String,
    /// Template for the URI of the resource.
    #[schemars(title = "URI", extend("x-editor" = "template"))]
    pub uri: String,
}

/// A line of the script.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ScriptLineConfig {
    /// Expression that must be true for this line; without it, the line always applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Condition", extend("x-editor" = "expression", "examples" = ["state.total > 10"]))]
    pub when: Option<String>,
    /// Template for the text of the answer.
    #[serde(default)]
    #[schemars(title = "Answer", extend("x-editor" = "template"))]
    pub say: String,
    /// Tools that the model calls in this answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Tool calls")]
    pub calls: Vec<ScriptedCallConfig>,
}

impl ModelConfig {
    /// Replaces the scripted model by another that the host may let answer for it.
    fn stood_in(&mut self, environment: Option<&Environment>) {
        let other = environment.and_then(|environment| environment.stand_in.as_ref());
        if let (SCRIPTED, Some(other)) = (self.model.as_str(), other) {
            self.model.clone_from(other);
        }
    }
}

/// A tool call of the scripted model.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ScriptedCallConfig {
    /// Name of the tool.
    #[schemars(title = "Tool", extend("x-editor" = "tool"))]
    pub tool: String,
    /// Arguments of the call: text is an expression, any other JSON is used as is.
    #[serde(default)]
    #[schemars(title = "Arguments", extend("x-editor" = "assignments", "x-names" = "tool"))]
    pub args: Map<String, Json>,
}

fn default_repairs() -> u32 {
    1
}
fn default_timeout() -> u64 {
    600
}

/// The kind.
pub struct Model;

impl NodeKind for Model {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "model",
            title: "Model",
            summary: "Calls a language model and streams its answer; the scripted model works offline.",
            icon: "sparkles",
            group: "models",
            aliases: &[
                "llm",
                "gpt",
                "chat model",
                "prompt",
                "completion",
                "ai",
                "chatbot",
                "openai",
                "anthropic",
                "claude",
                "gemini",
                "ollama",
                "generate",
                "classify",
                "classifier",
                "summarize",
                "extract",
                "translate",
                "structured output",
                "vision",
                "init_chat_model",
                "call_model",
            ],
            config_schema: schema_of::<ModelConfig>(),
            defaults: json!({"model": SCRIPTED, "prompt": "", "into": "", "script": [{"say": "A scripted answer."}]}),
            card: &["/model", "/prompt", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        if let Some(mut config) = site.parse::<ModelConfig>() {
            config.stood_in(site.environment());
            check::check(&config, site);
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let mut config: ModelConfig = site.parse()?;
        config.stood_in(Some(site.environment));
        let template = |pointer: &str, text: &Option<String>| -> Result<Option<Template>, Diagnostic> {
            text.as_ref()
                .filter(|text| !text.trim().is_empty())
                .map(|text| site.template(pointer, text))
                .transpose()
        };
        let script = config.script.iter().enumerate();
        let script = script
            .map(|(index, line)| script_line(site, index, line))
            .collect::<Result<_, Diagnostic>>()?;
        let (tools, servers) = offered(site, config.tools, config.tools_of.as_deref());
        let mut images = Vec::new();
        for (index, image) in config.images.iter().enumerate() {
            images.push(site.template(&format!("/images/{index}"), image)?);
        }
        let recording = site.recording(config.recording);
        let output = match config.output {
            Some(schema) => Some((site.schema("/output", &schema)?, schema)),
            None => None,
        };
        Ok(Arc::new(ModelNode {
            name: site.node.into(),
            system: template("/system", &config.system)?,
            prompt: template("/prompt", &config.prompt)?,
            messages: config.messages,
            images,
            folder: site.folder.clone(),
            root: site.root(),
            usage_into: config.usage_into.map(Into::into),
            recording,
            recordings: site.recordings(),
            test_answers: site.test_answers(),
            exchanges: site.exchanges(),
            as_message: site
                .keys
                .get(&config.into)
                .is_some_and(|key| key.reducer == Reducer::AddMessages),
            into: config.into.into(),
            output,
            repairs: config.repairs,
            tools,
            servers,
            resources: resources(site, &config.resources)?,
            mcp: site.mcp(),
            tool_choice: config.tool_choice,
            reasoning: config.reasoning,
            temperature: config.temperature,
            max_tokens: config.max_tokens,
            timeout: Duration::from_secs(config.timeout_s),
            script,
            pace: Duration::from_millis(config.pace_ms),
            facts: facts(site, &config.model),
            providers: site.providers.clone(),
            model: config.model,
        }))
    }
}

/// Returns the tools of the node itself and of the node that it takes tools from, with the MCP servers of the latter.
fn offered(
    site: &BuildSite<'_>,
    mut tools: Vec<ToolSpec>,
    node: Option<&str>,
) -> (Vec<ToolSpec>, Vec<ServerTools>) {
    let offer = node.and_then(|node| tools::of_node(site.nodes, node).ok());
    let offer = offer.unwrap_or_default();
    tools.extend(offer.specs);
    let servers = offer.servers.into_iter();
    let servers = servers.map(|source| ServerTools::new(source, site.mcp()));
    (tools, servers.collect())
}

/// Returns servers and address templates of the resources that are read there.
fn resources(site: &BuildSite<'_>, resources: &[Resource]) -> Result<Vec<(String, Template)>, Diagnostic> {
    let resource = |(index, resource): (usize, &Resource)| {
        let uri = site.template(&format!("/resources/{index}/uri"), &resource.uri)?;
        Ok((resource.server.clone(), uri))
    };
    resources.iter().enumerate().map(resource).collect()
}

fn facts(site: &BuildSite<'_>, model: &str) -> models::Facts {
    match model == SCRIPTED {
        true => models::Facts {
            provider: SCRIPTED.into(),
            connection: None,
            model: SCRIPTED.into(),
        },
        false => site.providers.facts(model),
    }
}

/// Compiles a line of the script: its condition, its text and its calls.
fn script_line(
    site: &BuildSite<'_>,
    index: usize,
    line: &ScriptLineConfig,
) -> Result<ScriptLine, Diagnostic> {
    let when = line.when.as_ref();
    let when = when.map(|when| site.expression(&format!("/script/{index}/when"), when));
    let mut calls = Vec::new();
    for (place, call) in line.calls.iter().enumerate() {
        let arg = |(name, arg): (&String, &Json)| {
            let pointer = format!("/script/{index}/calls/{place}/args/{name}");
            let arg = match arg {
                Json::String(source) => Ok(site.expression(&pointer, source)?),
                fixed => Err(fixed.clone().into()),
            };
            Ok((name.as_str().into(), arg))
        };
        calls.push(ScriptedCall {
            tool: call.tool.clone(),
            args: call.args.iter().map(arg).collect::<Result<_, Diagnostic>>()?,
        });
    }
    Ok(ScriptLine {
        when: when.transpose()?,
        say: site.template(&format!("/script/{index}/say"), &line.say)?,
        calls,
    })
}
