//! A `tools` node at work: every open call is a task, and what it came to a message.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use serde_json::Value as Json;
use superstep::graph::TaskFn;
use superstep::value::{List, Object};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};

use super::approval::{self, Decision};
use super::graph::GraphToolWork;
use super::handoff::HandOff;
use super::mcp::{self, McpWork, ServerTools};
use super::script;
use crate::base::error_class;
use crate::base::schema_validator::SchemaValidator;
use crate::base::secrets::{redact_error, redact_value};
use crate::base::web::Web;
use crate::kinds::code;
use crate::kinds::http_request::{HttpRequest, RequestError};
use crate::models::{ToolCall, args_json};
use crate::programs::python::{self, PythonWork};
use crate::programs::requests::Owner;
use superstep_document::suggest;

/// Longest answer that is given to a model, in characters.
const MAX_ANSWER: usize = 256 * 1024;

/// A tool that can be called.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    /// JSON Schema of the arguments, for the person who edits them.
    pub(super) schema: Json,
    /// Absent when somebody else checks the arguments.
    pub(super) parameters: Option<SchemaValidator>,
    pub(super) approval: bool,
    pub(super) work: ToolWork,
}

pub(super) enum ToolWork {
    Script(code::JavaScriptProgram),
    Python(PythonWork),
    Http(HttpRequest, Arc<Web>),
    Graph(Box<GraphToolWork>),
    HandOff(HandOff),
    Mcp(McpWork),
}

/// A tool's answer.
#[derive(Default)]
pub(super) struct ToolAnswer {
    /// For the model: text, or a list of parts with pictures among them.
    pub(super) content: Value,
    /// For programs: not sent to the model.
    pub(super) artifact: Value,
}

impl From<String> for ToolAnswer {
    fn from(text: String) -> Self {
        Self {
            content: shortened(text).into(),
            artifact: Value::Null,
        }
    }
}

/// Outcome of a call: something for the model to read, or the end of the run.
pub(super) type ToolResult = Result<ToolAnswer, NoAnswer>;

/// Reason why a tool gave no answer.
pub(super) enum NoAnswer {
    /// The model is given the reason.
    Failed(String),
    /// The run stops: it was cancelled, or somebody is asked.
    Stop(NodeError),
}

impl Tool {
    /// Returns what is wrong with the arguments.
    pub(super) fn problem(&self, args: &Object) -> Option<String> {
        let args = args_json(args);
        let misfits = self.parameters.as_ref()?.misfits(&args, 5);
        let problems: Vec<String> = misfits.iter().map(ToString::to_string).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    /// Makes a call; `key` is the one under which a server does its work once.
    async fn call(&self, context: &NodeContext, call: ToolCall, state: Value, key: &str) -> ToolResult {
        let mut args = match call.args {
            Ok(args) => args,
            Err(invalid) => return Err(NoAnswer::Failed(format!("{}. Call it again", invalid.cause))),
        };
        if let Some(problem) = self.problem(&args) {
            return Err(NoAnswer::Failed(format!("the arguments do not fit: {problem}")));
        }
        let mut changed = None;
        if self.approval {
            match approval::ask(context, self, &call.id, &args).map_err(NoAnswer::Stop)? {
                Decision::Approve => {}
                Decision::Edit(edited) => {
                    changed = (edited != args).then(|| args_json(&edited));
                    args = edited;
                }
                Decision::Respond(answer) => return Ok(answer.into()),
                Decision::Reject(reason) => {
                    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                    return Err(NoAnswer::Failed(format!(
                        "a person did not allow this call{reason}"
                    )));
                }
            }
        }
        let answer = self.answer(context, args, state, key).await;
        match changed {
            Some(changed) => told_of_change(answer, &changed),
            None => answer,
        }
    }

    async fn answer(&self, context: &NodeContext, args: Object, state: Value, key: &str) -> ToolResult {
        match &self.work {
            ToolWork::Script(script) => script::run(context, script.clone(), &self.name, args, state).await,
            ToolWork::Python(work) => {
                let label = format!("tool {}", self.name);
                let call = python::PythonCall {
                    owner: Owner::Tool(&self.name),
                    label: &label,
                    style: python::Style::Tool,
                    args: Some(&args),
                    state: &state,
                };
                match work.run(context, call).await.map_err(NoAnswer::Stop)? {
                    Ok(output) => script::answer_text(output)
                        .map(Into::into)
                        .map_err(NoAnswer::Failed),
                    Err(error) => Err(NoAnswer::Failed(error.for_model())),
                }
            }
            ToolWork::Http(request, web) => {
                let answer = request.send(context, web, key, &args).await;
                answer.map(ToolAnswer::from).map_err(|error| match error {
                    RequestError::Cancelled => NoAnswer::Stop(NodeError::Cancelled),
                    other => NoAnswer::Failed(other.to_string()),
                })
            }
            ToolWork::Graph(graph) => graph.run(context, &args, &state).await,
            ToolWork::HandOff(hand_off) => Ok(hand_off.message().into()),
            ToolWork::Mcp(work) => work.run(context, &args).await,
        }
    }
}

/// The node.
pub(super) struct ToolsNode {
    pub(super) name: Arc<str>,
    pub(super) messages: Arc<str>,
    pub(super) tools: BTreeMap<String, Arc<Tool>>,
    pub(super) servers: Vec<ServerTools>,
}

/// Tools by the names that models call them by.
type ToolsByName = Arc<BTreeMap<String, Arc<Tool>>>;

#[async_trait]
impl Node for ToolsNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let calls = self.open_calls(&input)?;
        let tools = self.tools_for(&context, &calls).await?;
        let hands = |call: &ToolCall| match tools.get(&call.name).map(|tool| &tool.work) {
            Some(ToolWork::HandOff(hand_off)) => Some(hand_off.clone()),
            _ => None,
        };
        // A run goes on in one place: the first hand-off of a message counts.
        let first = calls.iter().position(|call| hands(call).is_some());
        let hand_off = first.and_then(|first| hands(&calls[first]));
        let started: Vec<_> = calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| {
                let late = first.is_some_and(|first| first < index) && hands(&call).is_some();
                self.start(&context, index, call, &tools, &input, late)
            })
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
        let done = |index: usize| {
            let status = answers.get(index).and_then(|message| message.get("status"));
            status.and_then(Value::as_str) == Some("success")
        };
        if let (Some(first), Some(hand_off)) = (first, &hand_off)
            && done(first)
        {
            return Ok(hand_off.output(&self.messages, answers, &input));
        }
        if answers.is_empty() {
            return Ok(NodeOutput::none());
        }
        Ok(NodeOutput::update([(
            self.messages.clone(),
            Value::Array(answers),
        )]))
    }
}

impl ToolsNode {
    /// Returns the calls of the last ai message that nothing has answered yet.
    fn open_calls(&self, input: &Value) -> Result<Vec<ToolCall>, NodeError> {
        let messages = input
            .get(&self.messages)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is = |message: &Value, kind: &str| message.get("type").and_then(Value::as_str) == Some(kind);
        let Some(last) = messages.iter().rposition(|message| is(message, "ai")) else {
            return Err(NodeError::new(
                error_class::TOOLS_INPUT,
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
        // Each answer is that of one call, also where two share an id.
        let mut answered = answered;
        let is_open = |call: &ToolCall| match answered.iter().position(|id| *id == call.id) {
            Some(place) => {
                answered.swap_remove(place);
                false
            }
            None => true,
        };
        Ok(calls.into_iter().filter(is_open).collect())
    }

    /// Returns the tools, including those of the servers if one of them is called.
    async fn tools_for(&self, context: &NodeContext, calls: &[ToolCall]) -> Result<ToolsByName, NodeError> {
        let mut tools = self.tools.clone();
        let known = calls.iter().all(|call| tools.contains_key(&call.name));
        if !known && !self.servers.is_empty() {
            let own: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            let offers = tokio::select! {
                biased;
                () = context.cancelled() => return Err(NodeError::Cancelled),
                offers = mcp::offers_of(&self.servers, &own) => offers.map_err(|error| error.of_node(&self.name))?,
            };
            let offered = offers.into_iter().map(|offer| Arc::new(offer.tool()));
            tools.extend(offered.map(|tool| (tool.name.clone(), tool)));
        }
        Ok(tools.into())
    }

    /// Starts a call as a task. What it came to is recorded with its message, failures included.
    fn start(
        &self,
        context: &NodeContext,
        index: usize,
        call: ToolCall,
        tools: &ToolsByName,
        input: &Value,
        late: bool,
    ) -> superstep::graph::TaskHandle {
        let id = format!("tool-{}-{index}", context.info().task_id);
        let shown = superstep::json!({"name": call.name, "id": call.id, "args": match &call.args {
            Ok(args) => args_json(args),
            Err(invalid) => invalid.text.clone().into(),
        }});
        let (tools, state) = (tools.clone(), input.clone());
        // The model's id is none: servers give every call the same one.
        let key = format!("{}-{index}", context.effect_key());
        let name = call.name.clone();
        let task = TaskFn::new(name, move |context: NodeContext, _| {
            let (tools, call, state, id) = (tools.clone(), call.clone(), state.clone(), id.clone());
            let key = key.clone();
            async move {
                let (call_id, name) = (call.id.clone(), call.name.clone());
                let called = match tools.get(&call.name) {
                    Some(_) if late => Err(NoAnswer::Failed(
                        "another agent goes on already: one hand-off at a time".to_owned(),
                    )),
                    Some(tool) => tool.call(&context, call, state, &key).await,
                    None => Err(NoAnswer::Failed(unknown(&tools, &name))),
                };
                let (answer, status) = match called {
                    Ok(answer) => (answer, "success"),
                    Err(NoAnswer::Failed(cause)) => (format!("Error: {cause}.").into(), "error"),
                    Err(NoAnswer::Stop(error)) => return Err(redact_error(error)),
                };
                // A server may repeat what it was sent, and this is recorded.
                Ok(redact_value(&superstep::json!({
                    "type": "tool", "id": id, "content": answer.content, "name": name,
                    "additional_kwargs": {}, "response_metadata": {},
                    "tool_call_id": call_id, "artifact": answer.artifact, "status": status,
                })))
            }
        });
        context.call(&task, shown)
    }
}

/// Says in an answer that a person changed the arguments: the call in the conversation still has the old ones.
fn told_of_change(answer: ToolResult, changed: &Json) -> ToolResult {
    let note = format!("A person changed the arguments of this call to {changed}.");
    match answer {
        Ok(mut answer) => {
            answer.content = match answer.content {
                Value::Array(parts) => {
                    let note = superstep::json!({"type": "text", "text": note});
                    Value::Array([note].into_iter().chain(parts.iter().cloned()).collect())
                }
                Value::String(text) => format!("{note}\n\n{text}").into(),
                other => other,
            };
            Ok(answer)
        }
        Err(NoAnswer::Failed(cause)) => Err(NoAnswer::Failed(format!(
            "{cause}. {}",
            note.trim_end_matches('.')
        ))),
        Err(stop) => Err(stop),
    }
}

fn unknown(tools: &ToolsByName, name: &str) -> String {
    format!(
        "there is no tool `{name}`.{} The tools are {}",
        suggest::did_you_mean(name, tools.keys().map(String::as_str)),
        suggest::listing(tools.keys().map(String::as_str))
    )
}

/// Cuts an answer that is too long, and notes the cut in the text.
fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_ANSWER) {
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({more} bytes more are left out)"));
    }
    text
}
