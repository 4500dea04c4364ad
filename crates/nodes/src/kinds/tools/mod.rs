//! `tools`: runs the calls of the last ai message, all at once, and answers each with a message. What goes wrong is an
//! answer too: the model reads it and may do better.
//!
//! Each call is a task of its own whose result is recorded. When the node runs again, because somebody was asked or the
//! process died, calls that had finished are not made again.

mod approval;
mod graph;
pub(crate) mod handoff;
pub(crate) mod mcp;
mod node;
mod script;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::Node;
use superstep_document::{Diagnostic, NodeSpec, Reducer};

use crate::base::config_schema::schema_of;
use crate::base::web::Web;
use crate::kinds::http_request::HttpRequest;
use crate::models::{ToolSpec, no_arguments};
use crate::programs::python::{PythonFunction, PythonWork};
use crate::project::graph_files::TOOLS;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
pub use graph::GraphTool;
pub use handoff::HandOff;
pub use mcp::{McpApproval, McpSource};
use node::{Tool, ToolWork, ToolsNode};
pub use script::ScriptTool;
use superstep_document::suggest;
use superstep_document::{Join, Text, text};

/// Settings of a `tools` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Runs tools that a model calls.")]
pub struct ToolsConfig {
    /// Runs the calls of the last ai message in this state key and adds the results there.
    #[schemars(title = "Messages", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array", "reducer": "add_messages"})))]
    pub messages: String,
    /// Tools of this node; a `model` node offers them with `tools_of`.
    #[schemars(title = "Tools")]
    #[serde(default)]
    pub tools: Vec<ToolConfig>,
    /// Adds tools of MCP servers declared in the project's `.mcp.json`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "MCP servers")]
    pub mcp: Vec<McpSource>,
}

/// Returns the starting values of a tool in a form, with the field to fill in first.
fn beginnings() -> Json {
    json!([
        {"title": "HTTP request", "first": "http/url",
         "value": {"name": "fetch", "description": "Asks a web service.", "parameters": no_arguments(), "http": {"url": ""}}},
        {"title": "Graph", "first": "graph/graph",
         "value": {"name": "ask_graph", "description": "Runs another graph and answers with its result.",
                   "parameters": no_arguments(), "graph": {"graph": ""}}},
        {"title": "JavaScript", "first": "javascript/source",
         "value": {"name": "compute", "description": "Computes an answer.", "parameters": no_arguments(),
                   "javascript": {"source": "return {};"}}},
    ])
}

/// A tool: its description for the model and its implementation.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("x-one-of" = ["javascript", "python", "http", "graph", "handoff"], "x-begin" = beginnings()))]
pub struct ToolConfig {
    /// Name that the model calls the tool by: letters, digits, `_` and `-`.
    #[schemars(title = "Name")]
    pub name: String,
    /// Tells the model what the tool does and when to use it.
    #[schemars(title = "Description", extend("x-editor" = "text"))]
    pub description: String,
    /// JSON Schema of the arguments; must be an object.
    #[serde(default = "no_arguments")]
    #[schemars(title = "Parameters", with = "serde_json::Map<String, Json>", extend("x-editor" = "schema"))]
    pub parameters: Json,
    /// Asks a person to approve, edit or reject each call, or to answer it in the tool's place.
    #[serde(default)]
    #[schemars(title = "Approval")]
    pub approval: bool,
    /// Runs a JavaScript function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "JavaScript")]
    pub javascript: Option<ScriptTool>,
    /// Calls a Python function of the project with the arguments by name; parameters called `state`, `store`, `config`,
    /// `runtime` and `ctx` are filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Python")]
    pub python: Option<PythonFunction>,
    /// Sends an HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "HTTP request")]
    pub http: Option<HttpRequest>,
    /// Runs a graph of the project, such as an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Graph")]
    pub graph: Option<GraphTool>,
    /// Hands off to another node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Hand-off")]
    pub handoff: Option<HandOff>,
}

impl ToolConfig {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.parameters(),
        }
    }

    /// Returns the parameters; graphs without any get the usual ones.
    fn parameters(&self) -> Json {
        match &self.graph {
            Some(tool) if tool.input.is_none() && graph::undescribed(&self.parameters) => graph::parameters(),
            _ => self.parameters.clone(),
        }
    }

    /// Lists what the tool does, by the names of the settings.
    fn does(&self) -> Vec<&'static str> {
        let all = [
            ("javascript", self.javascript.is_some()),
            ("python", self.python.is_some()),
            ("http", self.http.is_some()),
            ("graph", self.graph.is_some()),
            ("handoff", self.handoff.is_some()),
        ];
        let set = all.into_iter().filter(|(_, set)| *set);
        set.map(|(name, _)| name).collect()
    }
}

/// Tools that a tools node offers.
#[derive(Default)]
pub(crate) struct Offer {
    /// Tools that are known before the run.
    pub(crate) specs: Vec<ToolSpec>,
    /// Servers that say while it runs what they have.
    pub(crate) servers: Vec<McpSource>,
}

/// Returns descriptions for the model of the tools of node `id`.
pub(crate) fn of_node(nodes: &BTreeMap<&str, NodeSpec>, id: &str) -> Result<Offer, Text> {
    let of_kind = || {
        nodes
            .iter()
            .filter(|(_, node)| node.kind == TOOLS)
            .map(|(id, _)| *id)
    };
    match nodes.get(id) {
        Some(node) if node.kind == TOOLS => {
            // What is wrong with its settings is said there.
            let config = crate::registry::parse::<ToolsConfig>(&node.config).ok();
            Ok(config.map_or_else(Offer::default, |config| Offer {
                specs: config.tools.iter().map(ToolConfig::spec).collect(),
                servers: config.mcp,
            }))
        }
        Some(node) => Err(text!(
            "Node `{id}` is of kind {kind}, not tools.",
            id,
            kind = &node.kind
        )),
        None => Err(text!(
            "There is no node `{id}`.{hint} Nodes of kind tools: {known}.",
            id,
            hint = suggest::did_you_mean(id, of_kind()),
            known = suggest::listing(of_kind())
        )),
    }
}

/// Finds a name that occurs twice.
pub(crate) fn twice<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// Says what is wrong with descriptions of tools.
pub(crate) fn check_specs(site: &mut Site<'_>, pointer: &str, specs: &[ToolSpec]) {
    for (index, spec) in specs.iter().enumerate() {
        let at = |field: &str| format!("{pointer}/{index}/{field}");
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if spec.name.is_empty() || spec.name.len() > 64 || !spec.name.chars().all(letter) {
            site.error(
                "tool-name",
                &at("name"),
                text!(
                    "{name} cannot be the name of a tool.",
                    name = format!("{:?}", spec.name)
                ),
                text!("Providers take up to 64 letters, digits, `_` and `-`."),
            );
        }
        if spec.description.trim().is_empty() {
            let message = text!("The tool `{name}` has no description.", name = &spec.name);
            let remedy = text!("Models choose tools by what their descriptions say.");
            site.warning("tool-description", &at("description"), message, remedy);
        }
        site.schema(&at("parameters"), &spec.parameters);
        if spec.parameters.get("type").is_none_or(|ty| ty != "object") {
            site.error(
                "tool-parameters",
                &at("parameters"),
                text!(
                    "The arguments of the tool `{name}` are no object.",
                    name = &spec.name
                ),
                text!("Write `{\"type\": \"object\", \"properties\": {…}}`."),
            );
        }
    }
}

/// The kind.
pub struct Tools;

/// Checks what a tool does.
fn check_tool(site: &mut Site<'_>, pointer: &str, tool: &ToolConfig) {
    match tool.does().as_slice() {
        [_] => {}
        [] => site.error(
            "tool-does",
            pointer,
            text!("The tool `{name}` does nothing.", name = &tool.name),
            text!("Give it one of `javascript`, `python`, `http`, `graph` and `handoff`."),
        ),
        several => site.error(
            "tool-does",
            pointer,
            text!(
                "The tool `{name}` does several things: {names}.",
                name = &tool.name,
                names = Text::list(Join::Comma, several)
            ),
            text!("Keep one of them."),
        ),
    }
    if let Some(script) = &tool.javascript {
        script.check(site, &format!("{pointer}/javascript"));
    }
    if let Some(function) = &tool.python {
        function.check(site, &format!("{pointer}/python"));
    }
    if let Some(request) = &tool.http {
        request.check(site, &format!("{pointer}/http"), &tool.parameters);
    }
    if let Some(graph) = &tool.graph {
        graph.check(site, &format!("{pointer}/graph"), &tool.parameters());
    }
    if let Some(hand_off) = &tool.handoff {
        hand_off.check(site, &format!("{pointer}/handoff"));
    }
}

impl NodeKind for Tools {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: TOOLS,
            title: "Tools",
            summary: "Runs the tools that a model calls and adds a message with each result.",
            icon: "wrench",
            group: "models",
            aliases: &[
                "ToolNode",
                "tool node",
                "tool call",
                "function call",
                "mcp",
                "plugin",
                "action",
            ],
            config_schema: schema_of::<ToolsConfig>(),
            defaults: json!({"messages": "", "tools": []}),
            card: &["/messages"],
        }
    }

    fn effect(&self, config: &serde_json::Map<String, Json>) -> superstep::graph::Effect {
        let inside = |tool: &ToolConfig| tool.python.is_none() && tool.http.is_none();
        match crate::registry::parse::<ToolsConfig>(config) {
            Ok(config) if config.mcp.is_empty() && config.tools.iter().all(inside) => {
                superstep::graph::Effect::Pure
            }
            _ => superstep::graph::Effect::Unknown,
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<ToolsConfig>() else {
            return;
        };
        site.read("/messages", &config.messages);
        if let Some(key) = site.write("/messages", &config.messages)
            && key.reducer != Reducer::AddMessages
        {
            let message = text!(
                "State key `{messages}` takes no messages.",
                messages = &config.messages
            );
            let remedy = text!("Choose a key with the reducer add_messages.");
            site.error("tools-into", "/messages", message, remedy);
        }
        if config.tools.is_empty() && config.mcp.is_empty() {
            let remedy = text!("Add a tool, or remove the node.");
            site.warning("no-tools", "/tools", text!("The node has no tools."), remedy);
        }
        let specs: Vec<ToolSpec> = config.tools.iter().map(ToolConfig::spec).collect();
        check_specs(site, "/tools", &specs);
        if let Some(name) = twice(specs.iter().map(|spec| spec.name.as_str())) {
            let message = text!("There are two tools `{name}`.", name);
            site.error(
                "same-tool",
                "/tools",
                message,
                text!("Give each tool a name of its own."),
            );
        }
        for (index, tool) in config.tools.iter().enumerate() {
            check_tool(site, &format!("/tools/{index}"), tool);
        }
        for (index, source) in config.mcp.iter().enumerate() {
            source.check(site, &format!("/mcp/{index}"));
        }
        let unnamed = config.mcp.iter().filter(|source| source.prefix.is_empty());
        if let Some(server) = twice(unnamed.map(|source| source.server.as_str())) {
            let message = text!(
                "The MCP server `{server}` is there twice, so that its tools are.",
                server
            );
            site.error(
                "same-tool",
                "/mcp",
                message,
                text!("Remove one, or give one a prefix."),
            );
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: ToolsConfig = site.parse()?;
        let web = Arc::new(Web::new(site.grants(), &site.environment.models.private_hosts));
        let mut tools = BTreeMap::new();
        for (index, tool) in config.tools.into_iter().enumerate() {
            let pointer = format!("/tools/{index}");
            let schema = tool.parameters();
            let parameters = site.schema(&format!("{pointer}/parameters"), &schema)?;
            let work = if let Some(script) = tool.javascript {
                ToolWork::Script(script.program(site.files(), site.workers.clone()))
            } else if let Some(function) = tool.python {
                ToolWork::Python(PythonWork::build(function, site))
            } else if let Some(request) = tool.http {
                ToolWork::Http(request, web.clone())
            } else if let Some(graph) = tool.graph {
                ToolWork::Graph(Box::new(graph.build(site, &format!("{pointer}/graph"))?))
            } else if let Some(hand_off) = tool.handoff {
                ToolWork::HandOff(hand_off)
            } else {
                continue;
            };
            let tool = Tool {
                name: tool.name.clone(),
                description: tool.description,
                schema,
                parameters: Some(parameters),
                approval: tool.approval,
                work,
            };
            tools.insert(tool.name.clone(), Arc::new(tool));
        }
        Ok(Arc::new(ToolsNode {
            name: site.node.into(),
            messages: config.messages.into(),
            tools,
            servers: config
                .mcp
                .into_iter()
                .map(|source| mcp::ServerTools::new(source, site.mcp()))
                .collect(),
        }))
    }
}
