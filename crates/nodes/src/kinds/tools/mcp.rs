//! Tools of MCP servers. What a server offers is asked while the graph runs, because servers change their minds; what
//! of it may be called, and when a person is asked first, is in the settings.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::value::Object;
use superstep::{NodeContext, NodeError, Value};

use super::node::{NoAnswer, Tool, ToolAnswer, ToolResult, ToolWork};
use crate::base::json::read_json;
use crate::base::schema_validator::SchemaValidator;
use crate::mcp::{self, Client, Content, Mcp, McpError, ServerList, ServerTool};
use crate::models::{ToolSpec, args_json};
use crate::registry::Site;
use superstep_document::suggest;
use superstep_document::text;

/// Longest name of a tool that providers take.
const MAX_NAME: usize = 64;

/// Tools of an MCP server.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["server", "tools", "approval"], &[("Approval exceptions", &["always_ask", "never_ask"]), ("More", &["resources", "prefix", "timeout_s"])])))]
pub struct McpSource {
    /// Name of the server in the project's `.mcp.json`.
    #[schemars(title = "Server", extend("x-editor" = "mcp-server"))]
    pub server: String,
    /// Tools that may be called; without it, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Tools", extend("x-editor" = "mcp-tools"))]
    pub tools: Option<Vec<String>>,
    /// Asks a person before tools run: `changes` asks unless the server marks the tool as read-only.
    #[serde(default)]
    #[schemars(title = "Approval")]
    pub approval: McpApproval,
    /// Always asks a person before these tools run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Tools with approval")]
    pub always_ask: Vec<String>,
    /// Runs these tools without asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Tools without approval")]
    pub never_ask: Vec<String>,
    /// Adds two tools that list and read the server's resources.
    #[serde(default)]
    #[schemars(title = "Resources")]
    pub resources: bool,
    /// Prepended to tool names, to tell apart servers with tools of the same name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(title = "Name prefix")]
    pub prefix: String,
    /// Stops a tool that has been silent for this time; each progress report restarts it.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 86_400))]
    pub timeout_s: u64,
}

/// Before which tools of a server a person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum McpApproval {
    /// Before those that may change something.
    #[default]
    Changes,
    /// Before each.
    All,
    /// Before none.
    None,
}

fn default_timeout() -> u64 {
    60
}

impl McpSource {
    pub(super) fn check(&self, site: &mut Site<'_>, pointer: &str) {
        let at = |field: &str| format!("{pointer}/{field}");
        if self.server.trim().is_empty() {
            site.filled(&at("server"), &self.server);
        } else {
            site.reaches_server(&at("server"), &self.server);
        }
        if !self.prefix.chars().all(callable) || self.prefix.len() > MAX_NAME / 2 {
            let message = text!(
                "{prefix} cannot be the beginning of a tool's name.",
                prefix = format!("{:?}", self.prefix)
            );
            let remedy = text!("Providers take letters, digits, `_` and `-`; a few of them.");
            site.error("tool-name", &at("prefix"), message, remedy);
        }
        let contrary = self.always_ask.iter().find(|name| self.never_ask.contains(name));
        if let Some(name) = contrary {
            let message = text!("A person is always and never asked before `{name}`.", name);
            site.error(
                "mcp-approval",
                &at("never_ask"),
                message,
                text!("Remove it from one of the lists."),
            );
        }
        for (field, names) in [("always_ask", &self.always_ask), ("never_ask", &self.never_ask)] {
            let stray = names.iter().find(|name| !self.may_be_called(name));
            if let Some(name) = stray {
                let message = text!("`{name}` is not among the tools that may be called.", name);
                site.warning(
                    "mcp-approval",
                    &at(field),
                    message,
                    text!("Add it to `tools`, or remove it here."),
                );
            }
        }
    }

    fn may_be_called(&self, name: &str) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }

    fn asks(&self, offer: &ServerTool) -> bool {
        let named = |names: &[String]| names.contains(&offer.name);
        match self.approval {
            _ if named(&self.always_ask) => true,
            _ if named(&self.never_ask) => false,
            McpApproval::All => true,
            McpApproval::None => false,
            McpApproval::Changes => offer.reads_only != Some(true),
        }
    }
}

fn callable(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Converts a name to one that providers accept.
fn name_of(prefix: &str, name: &str) -> String {
    let letters = name.chars().map(|c| if callable(c) { c } else { '_' });
    prefix.chars().chain(letters).take(MAX_NAME).collect()
}

/// Returns a name that none of the server's other tools has: two may differ only in what providers do not take.
fn unlike(name: String, taken: impl Fn(&str) -> bool) -> String {
    let others = (2..).map(|number: usize| {
        let end = format!("_{number}");
        let begin = name.len().min(MAX_NAME - end.len());
        format!("{}{end}", &name[..begin])
    });
    let mut names = std::iter::once(name.clone()).chain(others);
    names.find(|name| !taken(name)).unwrap_or(name)
}

/// Tools of a server, to be asked for.
#[derive(Clone, Debug)]
pub(crate) struct ServerTools {
    config: Arc<McpSource>,
    mcp: Mcp,
}

/// A tool of a server, as the model sees it, and what a call of it does.
pub(super) struct Offered {
    pub(super) spec: ToolSpec,
    approval: bool,
    work: McpWork,
}

/// A call's request to a server.
pub(super) struct McpWork {
    source: ServerTools,
    does: ServerAction,
}

enum ServerAction {
    /// Calls the tool that the server knows by this name, and whose structured answers fit a schema.
    Call {
        tool: String,
        answers: Option<Json>,
    },
    List,
    Read,
}

impl ServerTools {
    pub(crate) fn new(config: McpSource, mcp: Mcp) -> Self {
        Self {
            config: config.into(),
            mcp,
        }
    }

    async fn client(&self) -> Result<Arc<Client>, McpError> {
        self.mcp.client(&self.config.server).await
    }

    /// Returns those of the server's offers that the settings allow.
    pub(super) async fn offers(&self) -> Result<Vec<Offered>, McpError> {
        let config = &self.config;
        let offers = self.client().await?.tools().await?;
        for wanted in config.tools.iter().flatten() {
            if !offers.entries.iter().any(|offer| offer.name == *wanted) {
                return Err(self.missing(wanted, &offers));
            }
        }
        let mut offered: Vec<Offered> = Vec::new();
        let allowed = offers
            .entries
            .iter()
            .filter(|offer| config.may_be_called(&offer.name));
        for offer in allowed {
            let taken = |name: &str| offered.iter().any(|other| other.spec.name == name);
            offered.push(Offered {
                spec: ToolSpec {
                    name: unlike(name_of(&config.prefix, &offer.name), taken),
                    description: offer.description.clone().unwrap_or_default(),
                    parameters: parameters(offer),
                },
                approval: config.asks(offer),
                work: self.work(ServerAction::Call {
                    tool: offer.name.clone(),
                    answers: offer.output_schema.clone(),
                }),
            });
        }
        if config.resources {
            offered.extend(self.resources());
        }
        Ok(offered)
    }

    /// Returns why a tool that the settings name cannot be called.
    fn missing(&self, wanted: &str, offers: &ServerList<ServerTool>) -> McpError {
        let server = self.config.server.clone();
        let tool = wanted.to_owned();
        if let Some(odd) = offers.odd.iter().find(|odd| odd.name == wanted) {
            let cause = odd.cause.clone();
            return McpError::OddTool { server, tool, cause };
        }
        let names = || offers.entries.iter().map(|offer| &*offer.name);
        McpError::NoTool {
            server,
            tool,
            near: suggest::nearest(wanted, names()).map(str::to_owned),
            known: suggest::listing(names()),
        }
    }

    fn work(&self, does: ServerAction) -> McpWork {
        McpWork {
            source: self.clone(),
            does,
        }
    }

    /// Returns the tools that list and read resources.
    fn resources(&self) -> [Offered; 2] {
        let config = &self.config;
        let offered = |name: &str, description: String, parameters: Json, does: ServerAction| Offered {
            spec: ToolSpec {
                name: name_of(&config.prefix, &format!("{}_{name}", config.server)),
                description,
                parameters,
            },
            approval: config.approval == McpApproval::All,
            work: self.work(does),
        };
        [
            offered(
                "list_resources",
                format!(
                    "Lists the resources that {} has, with their addresses.",
                    config.server
                ),
                json!({"type": "object", "properties": {}}),
                ServerAction::List,
            ),
            offered(
                "read_resource",
                format!("Reads a resource of {}.", config.server),
                json!({"type": "object", "required": ["uri"], "properties": {
                    "uri": {"type": "string", "description": "The address of the resource."}}}),
                ServerAction::Read,
            ),
        ]
    }
}

/// Returns the schema of the arguments; providers insist on an object.
fn parameters(offer: &ServerTool) -> Json {
    let mut schema = offer.input_schema.clone();
    schema.insert("type".into(), "object".into());
    Json::Object(schema)
}

/// Collects everything that several servers offer, each under a unique name.
pub(super) async fn offers_of(sources: &[ServerTools], taken: &[&str]) -> Result<Vec<Offered>, McpError> {
    let mut all: Vec<Offered> = Vec::new();
    let each = futures::future::join_all(sources.iter().map(ServerTools::offers)).await;
    for (source, offers) in sources.iter().zip(each) {
        for offer in offers? {
            let name = offer.spec.name.as_str();
            if taken.contains(&name) || all.iter().any(|other| other.spec.name == name) {
                return Err(McpError::SameTool {
                    server: source.config.server.clone(),
                    tool: name.to_owned(),
                });
            }
            all.push(offer);
        }
    }
    Ok(all)
}

/// Returns descriptions for the model of the tools of several servers, in addition to its other tools.
pub(crate) async fn specs_of(
    sources: &[ServerTools],
    beside: &[ToolSpec],
    node: &str,
) -> Result<Vec<ToolSpec>, NodeError> {
    let taken: Vec<&str> = beside.iter().map(|spec| spec.name.as_str()).collect();
    let offers = offers_of(sources, &taken)
        .await
        .map_err(|error| error.of_node(node))?;
    Ok(offers.into_iter().map(|offer| offer.spec).collect())
}

impl Offered {
    pub(super) fn tool(self) -> Tool {
        Tool {
            name: self.spec.name,
            description: self.spec.description,
            // One that is no schema is the server's business: it checks the arguments itself.
            parameters: SchemaValidator::new(&self.spec.parameters).ok(),
            schema: self.spec.parameters,
            approval: self.approval,
            work: ToolWork::Mcp(self.work),
        }
    }
}

impl McpWork {
    pub(super) async fn run(&self, context: &NodeContext, args: &Object) -> ToolResult {
        match self.answer(context, args).await {
            Ok(Content {
                content,
                failed: true,
                ..
            }) => Err(NoAnswer::Failed(words(&content).trim_end_matches('.').to_owned())),
            Ok(Content {
                content, artifact, ..
            }) => Ok(ToolAnswer { content, artifact }),
            Err(McpError::Cancelled) => Err(NoAnswer::Stop(NodeError::Cancelled)),
            Err(error) if error.is_settings() => Err(NoAnswer::Stop(error.of_node(&context.info().node))),
            Err(error) => Err(NoAnswer::Failed(error.to_string())),
        }
    }

    async fn answer(&self, context: &NodeContext, args: &Object) -> Result<Content, McpError> {
        let client = self.source.client().await?;
        let limit = Duration::from_secs(self.source.config.timeout_s);
        match &self.does {
            ServerAction::Call { tool, answers } => {
                let args = match args_json(args) {
                    Json::Object(args) => args,
                    _ => serde_json::Map::new(),
                };
                let result = client.call(context, tool, args, limit).await?;
                let content = mcp::of_call(&result);
                Ok(match answers {
                    Some(schema) if !content.failed => held_to(schema, tool, &result, content),
                    _ => content,
                })
            }
            ServerAction::List => {
                // Not every server has both.
                let (named, forms) = futures::join!(client.resources(), client.templates());
                let named = named?.into_iter().map(|resource| {
                    json!({"uri": resource.address, "name": resource.name, "description": resource.description, "mime_type": resource.mime_type})
                });
                let forms = forms.unwrap_or_default().into_iter().map(|form| {
                    json!({"uri_template": form.address, "name": form.name, "description": form.description})
                });
                let all: Vec<Json> = named.chain(forms).collect();
                Ok(Content {
                    content: Json::Array(all).to_string().into(),
                    ..Content::default()
                })
            }
            ServerAction::Read => {
                let uri = args.get("uri").and_then(Value::as_str).unwrap_or_default();
                let content = mcp::of_resource(&client.read(context, uri, limit).await?);
                Ok(Content {
                    content,
                    ..Content::default()
                })
            }
        }
    }
}

/// Returns what content says in words.
fn words(content: &Value) -> String {
    let word = |part: &Value| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => format!("[{}]", part.get("type").and_then(Value::as_str).unwrap_or("part")),
    };
    match content {
        Value::String(text) => text.to_string(),
        Value::Array(parts) => parts.iter().map(word).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// Holds an answer to the schema that its tool promises. The tool has done its work, so one that does not fit is told
/// with what it says.
fn held_to(schema: &Json, tool: &str, result: &Json, content: Content) -> Content {
    // One that is no schema promises nothing.
    let Ok(validator) = SchemaValidator::new(schema) else {
        return content;
    };
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let cause = match structured.map(|value| validator.misfit(value)) {
        Some(None) => return content,
        Some(Some(misfit)) => {
            format!("its structured answer does not fit the server's `outputSchema`: {misfit}")
        }
        None => {
            // Servers of the time before there was a place for it write it as text.
            let text = content
                .content
                .as_str()
                .and_then(|text| read_json(text.as_bytes()).ok());
            if let Some(value) = text.filter(|value| validator.fits(value)) {
                return Content {
                    artifact: mcp::structured(&value),
                    ..content
                };
            }
            "it has no structured answer, which the server's `outputSchema` promises".to_owned()
        }
    };
    let said = words(&content.content);
    Content {
        content: format!("the tool `{tool}` ran, but {cause}. It said: {said}").into(),
        artifact: Value::Null,
        failed: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(json: Json) -> McpSource {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn who_is_asked_before_what() {
        let offer = |name: &str, reads_only: Option<bool>| ServerTool {
            name: name.to_owned(),
            description: None,
            reads_only,
            input_schema: serde_json::Map::new(),
            output_schema: None,
        };
        let (read, write, unsaid) = (
            offer("read", Some(true)),
            offer("write", Some(false)),
            offer("do", None),
        );
        let asks = |source: &McpSource| [&read, &write, &unsaid].map(|offer| source.asks(offer));
        assert_eq!(asks(&source(json!({"server": "s"}))), [false, true, true]);
        assert_eq!(
            asks(&source(json!({"server": "s", "approval": "none"}))),
            [false; 3]
        );
        assert_eq!(
            asks(&source(
                json!({"server": "s", "approval": "all", "never_ask": ["do"]})
            )),
            [true, true, false]
        );
        assert_eq!(
            asks(&source(
                json!({"server": "s", "always_ask": ["read"], "never_ask": ["write"]})
            )),
            [true, false, true]
        );
    }

    #[test]
    fn structured_answers_are_held_to_the_schema_of_their_tool() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let held = |schema: &Json, result: Json| held_to(schema, "count", &result, mcp::of_call(&result));
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let fits = held(
            &schema,
            json!({"content": text("7"), "structuredContent": {"n": 7}}),
        );
        assert!(!fits.failed && fits.content == Value::from("7"), "{fits:?}");
        let in_text = held(&schema, json!({"content": text("{\"n\": 7}")}));
        assert_eq!(
            in_text.artifact,
            superstep::json!({"structured_content": {"n": 7}})
        );
        for (result, part) in [
            (
                json!({"content": text("done"), "structuredContent": {"n": "7"}}),
                "does not fit",
            ),
            (json!({"content": text("done")}), "has no structured answer"),
            (
                json!({"content": text("done"), "structuredContent": null}),
                "has no structured answer",
            ),
        ] {
            let told = held(&schema, result);
            let words = told.content.as_str().unwrap();
            assert!(told.failed && told.artifact == Value::Null, "{told:?}");
            assert!(
                words.contains(part) && words.contains("`count` ran") && words.ends_with("It said: done"),
                "{words}"
            );
        }
        let none = held(&json!({"type": 7}), json!({"content": text("done")}));
        assert!(!none.failed, "a schema that is none promises nothing");
        let parts = superstep::json!([{"type": "text", "text": "see"}, {"type": "image", "base64": "AAAA"}]);
        assert_eq!(words(&parts), "see\n[image]");
    }

    #[test]
    fn names_that_providers_take() {
        assert_eq!(name_of("fs_", "read.file/now"), "fs_read_file_now");
        let long = name_of("", &"x".repeat(100));
        assert_eq!(long.len(), MAX_NAME);
        assert_eq!(unlike("a".to_owned(), |name| ["a", "a_2"].contains(&name)), "a_3");
        assert_eq!(
            unlike(long.clone(), |name| name == long),
            "x".repeat(MAX_NAME - 2) + "_2"
        );
    }
}
