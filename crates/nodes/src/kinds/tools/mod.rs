//! `tools`: runs the calls of the last ai message, all at once, and answers each with a message. What goes wrong is an
//! answer too: the model reads it and may do better.
//!
//! Each call is a task of its own whose result is recorded. When the node runs again, because somebody was asked or the
//! process died, calls that had finished are not made again.

mod approval;
mod script;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::{BoxFuture, List, Node, NodeContext, NodeError, NodeOutput, Object, TaskFn, Value};
use superstep_document::{Diagnostic, NodeSpec, Reducer};

use crate::kind::{self, BuildSite, KindInfo, NodeKind, Site, schema_of};
use crate::provider::{ToolCall, ToolSpec, args_json, no_arguments};
use crate::request::{HttpRequest, RequestError};
use crate::suggest;
use crate::web::Web;
use approval::Decision;
pub use script::Script;

/// Name of the kind.
const KIND: &str = "tools";
/// Longest answer that is given to a model, in characters.
const LONGEST_ANSWER: usize = 256 * 1024;

/// Settings of a `tools` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Runs tools that a model calls.")]
pub struct ToolsConfig {
    /// State key with the messages: the calls of its last ai message are run, and answered there.
    #[schemars(title = "Messages", extend("x-editor" = "state-key"))]
    pub messages: String,
    /// The tools. A `model` node is given them with `tools_of`.
    #[schemars(title = "Tools")]
    pub tools: Vec<ToolConfig>,
}

/// A tool: what the model is told of it, and what it does.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ToolConfig {
    /// How the model calls it: letters, digits, `_` and `-`.
    #[schemars(title = "Name")]
    pub name: String,
    /// What it does and when to use it, for the model.
    #[schemars(title = "Description", extend("x-editor" = "text"))]
    pub description: String,
    /// JSON Schema of its arguments, an object.
    #[serde(default = "no_arguments")]
    #[schemars(title = "Parameters", with = "serde_json::Map<String, Json>", extend("x-editor" = "schema"))]
    pub parameters: Json,
    /// Ask a person before it runs: they may approve, change the arguments, reject, or answer in its place.
    #[serde(default)]
    #[schemars(title = "Approval")]
    pub approval: bool,
    /// It is a JavaScript function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "JavaScript")]
    pub javascript: Option<Script>,
    /// It is an HTTP request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "HTTP request")]
    pub http: Option<HttpRequest>,
}

impl ToolConfig {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

/// What a model is told of the tools of node `id`.
pub(crate) fn of_node(nodes: &BTreeMap<&str, NodeSpec>, id: &str) -> Result<Vec<ToolSpec>, String> {
    let of_kind = || {
        nodes
            .iter()
            .filter(|(_, node)| node.kind == KIND)
            .map(|(id, _)| *id)
    };
    match nodes.get(id) {
        Some(node) if node.kind == KIND => {
            // What is wrong with its settings is said there.
            let config = kind::parse::<ToolsConfig>(&node.config).ok();
            let tools = config.map(|config| config.tools).unwrap_or_default();
            Ok(tools.iter().map(ToolConfig::spec).collect())
        }
        Some(node) => Err(format!("Node `{id}` is of kind {}, not tools.", node.kind)),
        None => Err(format!(
            "There is no node `{id}`.{} Nodes of kind tools: {}.",
            suggest::did_you_mean(id, of_kind()),
            suggest::listing(of_kind())
        )),
    }
}

/// A name that stands twice.
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
                format!("{:?} cannot be the name of a tool.", spec.name),
                "Providers take up to 64 letters, digits, `_` and `-`.",
            );
        }
        if spec.description.trim().is_empty() {
            let message = format!("The tool `{}` has no description.", spec.name);
            let remedy = "Models choose tools by what their descriptions say.";
            site.warning("tool-description", &at("description"), message, remedy);
        }
        site.schema(&at("parameters"), &spec.parameters);
        if spec.parameters.get("type").is_none_or(|ty| ty != "object") {
            site.error(
                "tool-parameters",
                &at("parameters"),
                format!("The arguments of the tool `{}` are no object.", spec.name),
                "Write `{\"type\": \"object\", \"properties\": {…}}`.",
            );
        }
    }
}

/// The kind.
pub struct Tools;

impl NodeKind for Tools {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: KIND,
            title: "Tools",
            summary: "Runs the tools that a model calls, and answers each call with a message.",
            icon: "wrench",
            group: "models",
            config_schema: schema_of::<ToolsConfig>(),
            defaults: json!({"messages": "", "tools": []}),
            card: &["/messages"],
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
            let message = format!("State key `{}` takes no messages.", config.messages);
            let remedy = "Choose a key with the reducer add_messages.";
            site.error("tools-into", "/messages", message, remedy);
        }
        if config.tools.is_empty() {
            let remedy = "Add a tool, or remove the node.";
            site.warning("no-tools", "/tools", "The node has no tools.", remedy);
        }
        let specs: Vec<ToolSpec> = config.tools.iter().map(ToolConfig::spec).collect();
        check_specs(site, "/tools", &specs);
        if let Some(name) = twice(specs.iter().map(|spec| spec.name.as_str())) {
            let message = format!("There are two tools `{name}`.");
            site.error(
                "same-tool",
                "/tools",
                message,
                "Give each tool a name of its own.",
            );
        }
        for (index, tool) in config.tools.iter().enumerate() {
            let pointer = format!("/tools/{index}");
            match (&tool.javascript, &tool.http) {
                (Some(script), None) => script.check(site, &format!("{pointer}/javascript")),
                (None, Some(request)) => request.check(site, &format!("{pointer}/http"), &tool.parameters),
                (None, None) => site.error(
                    "tool-does",
                    &pointer,
                    format!("The tool `{}` does nothing.", tool.name),
                    "Give it a JavaScript function or an HTTP request.",
                ),
                (Some(_), Some(_)) => site.error(
                    "tool-does",
                    &pointer,
                    format!("The tool `{}` is both a function and a request.", tool.name),
                    "Remove one of them.",
                ),
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: ToolsConfig = site.parse()?;
        let web = Arc::new(Web::new(site.grants(), &site.environment.models.private_hosts));
        let mut tools = BTreeMap::new();
        for (index, tool) in config.tools.into_iter().enumerate() {
            let parameters = site.schema(&format!("/tools/{index}/parameters"), &tool.parameters)?;
            let work = match (tool.javascript, tool.http) {
                (Some(script), _) => Work::Script(script),
                (None, Some(request)) => Work::Http(request, web.clone()),
                (None, None) => continue,
            };
            let tool = Tool {
                name: tool.name.clone(),
                description: tool.description,
                parameters,
                approval: tool.approval,
                work,
            };
            tools.insert(tool.name.clone(), Arc::new(tool));
        }
        Ok(Arc::new(ToolsNode {
            name: site.node.into(),
            messages: config.messages.into(),
            tools: Arc::new(tools),
        }))
    }
}

/// A tool that can be called.
struct Tool {
    name: String,
    description: String,
    parameters: Validator,
    approval: bool,
    work: Work,
}

enum Work {
    Script(Script),
    Http(HttpRequest, Arc<Web>),
}

/// What a call came to: something for the model to read, or the end of the run.
type Said = Result<String, Unsaid>;

/// Why a tool gave no answer.
enum Unsaid {
    /// The model is told.
    Failed(String),
    /// The run stops: it was cancelled, or somebody is asked.
    Stop(NodeError),
}

impl Tool {
    /// What is wrong with the arguments.
    fn problem(&self, args: &Object) -> Option<String> {
        let args = args_json(args);
        let problems: Vec<String> = self
            .parameters
            .iter_errors(&args)
            .take(5)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{error} (at {path})"),
            })
            .collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    async fn call(&self, context: &NodeContext, call: ToolCall, state: Value) -> Said {
        let mut args = match call.args {
            Ok(args) => args,
            Err(invalid) => return Err(Unsaid::Failed(format!("{}. Call it again", invalid.cause))),
        };
        if let Some(problem) = self.problem(&args) {
            return Err(Unsaid::Failed(format!("the arguments do not fit: {problem}")));
        }
        if self.approval {
            match approval::ask(context, self, &call.id, &args).map_err(Unsaid::Stop)? {
                Decision::Approve => {}
                Decision::Edit(edited) => args = edited,
                Decision::Respond(answer) => return Ok(answer),
                Decision::Reject(reason) => {
                    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                    return Err(Unsaid::Failed(format!(
                        "a person did not allow this call{reason}"
                    )));
                }
            }
        }
        match &self.work {
            Work::Script(script) => script.run(context, &self.name, args, state).await,
            Work::Http(request, web) => {
                let answer = request.send(context, web, &call.id, &args).await;
                answer.map_err(|error| match error {
                    RequestError::Cancelled => Unsaid::Stop(NodeError::Cancelled),
                    other => Unsaid::Failed(other.to_string()),
                })
            }
        }
    }
}

struct ToolsNode {
    name: Arc<str>,
    messages: Arc<str>,
    tools: Arc<BTreeMap<String, Arc<Tool>>>,
}

impl Node for ToolsNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let calls = self.open_calls(&input)?;
            let started: Vec<_> = calls
                .into_iter()
                .enumerate()
                .map(|(index, call)| self.start(&context, index, call, &input))
                .collect();
            let mut answers = List::new();
            let mut stopped = Vec::new();
            for ended in join_all(started).await {
                match ended {
                    Ok(message) => answers.push(message),
                    Err(error) => stopped.push(error),
                }
            }
            // A person is shown everything there is to decide, not one call after the other.
            if let Some(error) = NodeError::together(stopped) {
                return Err(error);
            }
            if answers.is_empty() {
                return Ok(NodeOutput::none());
            }
            Ok(NodeOutput::update([(
                self.messages.clone(),
                Value::Array(answers),
            )]))
        })
    }
}

impl ToolsNode {
    /// The calls of the last ai message that nothing has answered yet.
    fn open_calls(&self, input: &Value) -> Result<Vec<ToolCall>, NodeError> {
        let messages = input
            .get(&self.messages)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is = |message: &Value, kind: &str| message.get("type").and_then(Value::as_str) == Some(kind);
        let Some(last) = messages.iter().rposition(|message| is(message, "ai")) else {
            return Err(NodeError::new(
                "ToolsInputError",
                format!(
                    "node {}: there is no ai message in `{}`, so nothing calls a tool. Let a model answer first.",
                    self.name, self.messages
                ),
            ));
        };
        let answered: Vec<&str> = messages
            .iter()
            .skip(last + 1)
            .filter(|message| is(message, "tool"))
            .filter_map(|message| message.get("tool_call_id")?.as_str())
            .collect();
        let calls = messages.get(last).map(ToolCall::all_of).unwrap_or_default();
        let open = calls
            .into_iter()
            .filter(|call| !answered.contains(&call.id.as_str()));
        Ok(open.collect())
    }

    /// Starts a call as a task. What it came to is recorded with its message, failures included.
    fn start(
        &self,
        context: &NodeContext,
        index: usize,
        call: ToolCall,
        input: &Value,
    ) -> superstep::TaskHandle {
        let id = format!("tool-{}-{index}", context.info().task_id);
        let shown = superstep::json!({"name": call.name, "id": call.id, "args": match &call.args {
            Ok(args) => args_json(args),
            Err(invalid) => invalid.text.clone().into(),
        }});
        let (tools, state) = (self.tools.clone(), input.clone());
        let name = call.name.clone();
        let task = TaskFn::new(name, move |context: NodeContext, _| {
            let (tools, call, state, id) = (tools.clone(), call.clone(), state.clone(), id.clone());
            async move {
                let (call_id, name) = (call.id.clone(), call.name.clone());
                let said = match tools.get(&call.name) {
                    Some(tool) => tool.call(&context, call, state).await,
                    None => Err(Unsaid::Failed(unknown(&tools, &name))),
                };
                let (content, status) = match said {
                    Ok(answer) => (answer, "success"),
                    Err(Unsaid::Failed(cause)) => (format!("Error: {cause}."), "error"),
                    Err(Unsaid::Stop(error)) => return Err(error),
                };
                Ok(superstep::json!({
                    "type": "tool", "id": id, "content": shortened(content), "name": name,
                    "additional_kwargs": {}, "response_metadata": {},
                    "tool_call_id": call_id, "artifact": null, "status": status,
                }))
            }
        });
        context.call(&task, shown)
    }
}

fn unknown(tools: &BTreeMap<String, Arc<Tool>>, name: &str) -> String {
    format!(
        "there is no tool `{name}`.{} The tools are {}",
        suggest::did_you_mean(name, tools.keys().map(String::as_str)),
        suggest::listing(tools.keys().map(String::as_str))
    )
}

/// An answer that is too long is cut, and says so.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_ANSWER) {
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({more} bytes more are left out)"));
    }
    text
}
