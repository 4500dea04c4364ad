//! A `model` node at work: the conversation that is sent, the answer that is streamed and written.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::value::{List, Object};
use superstep::{Node, NodeContext, NodeError, NodeOutput, StreamMode, Value, async_trait};

use super::SCRIPTED;
use super::output::{parsed, sent};
use super::usage::TaskCost;
use crate::base::error_class;
use crate::base::schema_validator::SchemaValidator;
use crate::expression::{Expression, Scope, Template};
use crate::kinds::tools::mcp::{ServerTools, specs_of};
use crate::mcp::{self, Mcp};
use crate::models::recording::{RequestOrigin, file_in};
use crate::models::{
    self, AnswerPiece, AnsweredBy, CallPiece, Exchanges, Facts, ModelAnswer, ModelError, ModelRequest,
    OpenExchange, Providers, Reasoning, Recording, Recordings, TestAnswers, ToolCall, ToolChoice, ToolSpec,
    WatchedTask, pictures,
};
use crate::state::reads::{read, track_reads};

/// The node.
pub(super) struct ModelNode {
    pub(super) name: Arc<str>,
    pub(super) model: String,
    pub(super) facts: Facts,
    pub(super) system: Option<Template>,
    pub(super) prompt: Option<Template>,
    pub(super) messages: Option<String>,
    pub(super) images: Vec<Template>,
    pub(super) folder: Option<PathBuf>,
    pub(super) root: Option<PathBuf>,
    pub(super) usage_into: Option<Arc<str>>,
    pub(super) recording: Recording,
    pub(super) recordings: Arc<Recordings>,
    /// Those of the test that plays the graph.
    pub(super) test_answers: Option<Arc<TestAnswers>>,
    pub(super) exchanges: Arc<Exchanges>,
    pub(super) into: Arc<str>,
    pub(super) as_message: bool,
    pub(super) output: Option<(SchemaValidator, Json)>,
    pub(super) repairs: u32,
    pub(super) tools: Vec<ToolSpec>,
    /// Servers whose tools are asked for when the model is.
    pub(super) servers: Vec<ServerTools>,
    /// Servers and addresses of what the model reads first.
    pub(super) resources: Vec<(String, Template)>,
    pub(super) mcp: Mcp,
    pub(super) tool_choice: ToolChoice,
    pub(super) reasoning: Option<Reasoning>,
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: Option<u32>,
    pub(super) timeout: Duration,
    pub(super) script: Vec<ScriptLine>,
    pub(super) pace: Duration,
    pub(super) providers: Arc<Providers>,
}

/// A line of the script.
pub(super) struct ScriptLine {
    pub(super) when: Option<Expression>,
    pub(super) say: Template,
    pub(super) calls: Vec<ScriptedCall>,
}

/// A call of the script; arguments are expressions or fixed.
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    pub(super) args: Vec<(Arc<str>, Result<Expression, Value>)>,
}

#[async_trait]
impl Node for ModelNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let mut spent = TaskCost::default();
        let value = tokio::select! {
            biased;
            () = context.cancelled() => return Err(NodeError::Cancelled),
            value = self.value(&context, &input, &mut spent) => value?,
        };
        let usage = self.usage_into.clone().map(|key| (key, spent.value(&self.model)));
        Ok(NodeOutput::update(
            [(self.into.clone(), value)].into_iter().chain(usage),
        ))
    }
}

/// Destination of the pieces of one answer.
struct Stream<'a> {
    context: &'a NodeContext,
    id: &'a str,
    facts: Value,
}

impl Stream<'_> {
    /// Sends a chunk as LangChain streams it: text in `content`, reasoning and calls in fields of their own.
    async fn send(&self, piece: &AnswerPiece) {
        let mut chunk: Object = [
            ("type", Value::from("AIMessageChunk")),
            ("id", self.id.into()),
            ("content", "".into()),
            ("response_metadata", self.facts.clone()),
        ]
        .into_iter()
        .collect();
        match piece {
            AnswerPiece::Text(text) => chunk.insert("content", text.as_str()),
            AnswerPiece::Reasoning(text) => {
                chunk.insert("additional_kwargs", superstep::json!({"reasoning_content": text}))
            }
            AnswerPiece::Call(call) => chunk.insert(
                "tool_call_chunks",
                superstep::json!([{"name": call.name, "args": call.args, "id": call.id, "index": call.index, "type": "tool_call_chunk"}]),
            ),
        };
        self.context.message(Value::Object(chunk)).await;
    }

    /// Sends the last chunk: what the answer used and why it stopped, which no piece of it contains.
    async fn end(&self, answer: &ModelAnswer, facts: &Facts) {
        if answer.usage.is_none() && answer.stop.is_none() {
            return;
        }
        let whole = models::message(self.id, answer, facts);
        let field = |name: &str| whole.get(name).cloned().unwrap_or_default();
        let chunk: Object = [
            ("type", Value::from("AIMessageChunk")),
            ("id", self.id.into()),
            ("content", "".into()),
            ("response_metadata", field("response_metadata")),
            ("usage_metadata", field("usage_metadata")),
            ("chunk_position", "last".into()),
        ]
        .into_iter()
        .collect();
        self.context.message(Value::Object(chunk)).await;
    }
}

impl ModelNode {
    fn failed(&self, error: &ModelError) -> NodeError {
        error.of_node(&self.name)
    }

    /// Returns the value to write to the state.
    async fn value(
        &self,
        context: &NodeContext,
        input: &Value,
        spent: &mut TaskCost,
    ) -> Result<Value, NodeError> {
        // One id per task: an answer that is given again after a failure takes the place of the first one.
        let id = format!("ai-{}", context.info().task_id);
        let scope = Scope::of(context, input);
        if context.info().attempt > 1 {
            // What the attempt before said under this id is over; readers of the stream would add to it.
            context
                .message(superstep::json!({"type": "remove", "id": id, "content": ""}))
                .await;
        }
        if self.model == SCRIPTED {
            let mut open = self.unsent(context, input);
            let answer = self.scripted(&self.stream(context, &id), &scope, &mut open).await;
            let answer = answer
                .inspect_err(|error| open.iter_mut().for_each(|open| open.failed(&error.to_string())))?;
            open.iter_mut().for_each(|open| open.done(&answer));
            drop(open);
            spent.add(&answer);
            return match &self.output {
                Some((shape, schema)) => parsed(&answer.text, shape, schema).map_err(|e| self.failed(&e)),
                None => Ok(self.written(&id, answer)),
            };
        }
        let mut request = ModelRequest {
            messages: self.conversation(context, &scope, input).await?,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            output: self.output.as_ref().map(|(_, schema)| sent(schema)),
            tools: self.all_tools().await?,
            tool_choice: self.tool_choice,
            reasoning: self.reasoning,
            watch: Some(WatchedTask::new(self.exchanges.clone(), context)),
        };
        let Some((shape, schema)) = &self.output else {
            let answer = self.ask(&self.stream(context, &id), &request).await?;
            spent.add(&answer);
            return Ok(self.written(&id, answer));
        };
        let mut repairs = 0;
        loop {
            let id = match repairs {
                0 => id.clone(),
                // A second answer must not run on from the first one on the screen.
                repairs => format!("{id}-{repairs}"),
            };
            let answer = self.ask(&self.stream(context, &id), &request).await?;
            spent.add(&answer);
            let error = match parsed(&answer.text, shape, schema) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            if repairs == self.repairs {
                return Err(self.failed(&error));
            }
            repairs += 1;
            let cause = match &error {
                ModelError::BadOutput { cause, .. } => cause.clone(),
                other => other.to_string(),
            };
            tracing::info!(node = %self.name, repairs, "the answer does not fit, asking again: {cause}");
            request
                .messages
                .push(superstep::json!({"type": "ai", "content": answer.text}));
            request.messages.push(superstep::json!({"type": "human", "content": format!(
                "This answer cannot be used: {cause}. Give the whole answer again, corrected, as JSON that satisfies the schema, and nothing else."
            )}));
        }
    }

    fn stream<'a>(&self, context: &'a NodeContext, id: &'a str) -> Stream<'a> {
        Stream {
            context,
            id,
            facts: Json::Object(self.facts.json()).into(),
        }
    }

    fn written(&self, id: &str, answer: ModelAnswer) -> Value {
        match self.as_message {
            true => models::message(id, &answer, &self.facts),
            false => answer.text.into(),
        }
    }

    async fn ask(&self, stream: &Stream<'_>, request: &ModelRequest) -> Result<ModelAnswer, NodeError> {
        let answer = match self.recording {
            Recording::Replay => self.replayed(stream, request).await,
            Recording::Record | Recording::Off => self.asked(stream, request).await,
        };
        let answer = answer.map_err(|e| self.failed(&e))?;
        stream.end(&answer, &self.facts).await;
        Ok(answer)
    }

    async fn asked(&self, stream: &Stream<'_>, request: &ModelRequest) -> Result<ModelAnswer, ModelError> {
        let recorded = match self.recording {
            Recording::Record => Some(file_in(self.folder.as_deref())?),
            _ => None,
        };
        let mut pieces = Vec::new();
        let answer = async {
            let mut reply = self.providers.ask(&self.model, request).await?;
            while let Some(piece) = reply.next().await? {
                stream.send(&piece).await;
                if recorded.is_some() {
                    pieces.push(piece);
                }
            }
            Ok(reply.into_answer())
        };
        // Dropping the reply closes the connection, so that nobody pays for an answer that is not read.
        let answer = tokio::time::timeout(self.timeout, answer).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(ModelError::Timeout {
                model: self.model.clone(),
                limit: self.timeout,
            })
        })?;
        if let Some(file) = recorded {
            let asker = self.asker(stream);
            self.recordings
                .add(&file, &self.model, request, asker, self.test(), pieces, &answer)?;
        }
        Ok(answer)
    }

    async fn replayed(&self, stream: &Stream<'_>, request: &ModelRequest) -> Result<ModelAnswer, ModelError> {
        let mut open = OpenExchange::offline(request, &self.model, AnsweredBy::Recording);
        let found = file_in(self.folder.as_deref()).and_then(|file| {
            let asker = self.asker(stream);
            self.recordings
                .find(&file, &self.model, request, asker, self.test())
        });
        let (pieces, answer) =
            found.inspect_err(|error| open.iter_mut().for_each(|open| open.failed(&error.to_string())))?;
        for piece in &pieces {
            stream.send(piece).await;
        }
        open.iter_mut().for_each(|open| open.done(&answer));
        Ok(answer)
    }

    fn test(&self) -> Option<&TestAnswers> {
        self.test_answers.as_deref()
    }

    fn asker<'a>(&'a self, stream: &Stream<'_>) -> RequestOrigin<'a> {
        RequestOrigin {
            node: &self.name,
            step: stream.context.info().step,
        }
    }

    /// Returns the exchange of a scripted answer: what a model would have been asked. Used for the trace only, so it
    /// notes no reading of the state, fetches nothing and leaves out what cannot be rendered.
    fn unsent(&self, context: &NodeContext, input: &Value) -> Option<OpenExchange> {
        let scope = Scope::new(input).with("context", context.context().clone());
        let render = |kind: &str, template: &Option<Template>| {
            let text = template.as_ref()?.render(&scope).ok()?;
            Some(superstep::json!({"type": kind, "content": text}))
        };
        let mut messages: Vec<Value> = render("system", &self.system).into_iter().collect();
        match self.messages.as_ref().and_then(|key| input.get(key)) {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) => messages.extend(list.iter().cloned()),
            Some(one) => messages.push(one.clone()),
        }
        messages.extend(render("human", &self.prompt));
        let request = ModelRequest {
            messages,
            watch: Some(WatchedTask::new(self.exchanges.clone(), context)),
            ..ModelRequest::default()
        };
        OpenExchange::offline(&request, SCRIPTED, AnsweredBy::Script)
    }

    async fn scripted(
        &self,
        stream: &Stream<'_>,
        scope: &Scope,
        open: &mut Option<OpenExchange>,
    ) -> Result<ModelAnswer, NodeError> {
        let line = self.line(scope)?;
        let text = line.say.render(scope)?;
        // The pause is for who watches the words come.
        let pace = match stream.context.wants(StreamMode::Messages) {
            true => self.pace,
            false => Duration::ZERO,
        };
        let mut words = text.split_inclusive(char::is_whitespace).peekable();
        while let Some(word) = words.next() {
            open.iter_mut().for_each(|open| open.came(word));
            stream.send(&AnswerPiece::Text(word.to_owned())).await;
            if words.peek().is_some() && !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
        }
        let mut tool_calls = Vec::new();
        for (index, call) in line.calls.iter().enumerate() {
            let mut args = Object::new();
            for (name, arg) in &call.args {
                let value = match arg {
                    Ok(expression) => expression.eval(scope)?,
                    Err(fixed) => fixed.clone(),
                };
                args.insert(name.clone(), value);
            }
            let call = ToolCall {
                id: format!("{}-{index}", stream.id),
                name: call.tool.clone(),
                args: Ok(args.clone()),
            };
            let piece = CallPiece {
                index,
                id: Some(call.id.clone()),
                name: Some(call.name.clone()),
                args: Value::Object(args).to_string(),
            };
            stream.send(&AnswerPiece::Call(piece)).await;
            tool_calls.push(call);
        }
        Ok(ModelAnswer {
            text,
            tool_calls,
            ..ModelAnswer::default()
        })
    }

    fn line(&self, scope: &Scope) -> Result<&ScriptLine, NodeError> {
        for line in &self.script {
            if line.when.as_ref().map_or(Ok(true), |when| when.truth(scope))? {
                return Ok(line);
            }
        }
        Err(NodeError::new(
            error_class::MODEL_SCRIPT,
            format!(
                "node {}: no line of the script applies to this state. Add a line without `when` at the end of the script.",
                self.name
            ),
        ))
    }

    /// Returns the tools, including those that servers currently have.
    async fn all_tools(&self) -> Result<Vec<ToolSpec>, NodeError> {
        let mut tools = self.tools.clone();
        tools.extend(specs_of(&self.servers, &self.tools, &self.name).await?);
        Ok(tools)
    }

    /// Reads a resource and returns its contents as a message.
    async fn resource(&self, context: &NodeContext, server: &str, uri: String) -> Result<Value, NodeError> {
        let read = async {
            let client = self.mcp.client(server).await?;
            client.read(context, &uri, self.timeout).await
        };
        let result = read.await.map_err(|error| error.of_node(&self.name))?;
        let about = format!("The resource {uri}:");
        Ok(match mcp::of_resource(&result) {
            Value::String(text) => {
                superstep::json!({"type": "human", "content": format!("{about}\n\n{text}")})
            }
            Value::Array(parts) => {
                let about = superstep::json!({"type": "text", "text": about});
                let parts: List = [about].into_iter().chain(parts.iter().cloned()).collect();
                superstep::json!({"type": "human", "content": Value::Array(parts)})
            }
            other => other,
        })
    }

    /// Returns the pictures of the setting `images` as parts of a message.
    async fn shown(&self, scope: &Scope) -> Result<Vec<Json>, NodeError> {
        let mut names = Vec::new();
        for image in &self.images {
            let text = image.render(scope)?;
            names.extend(
                text.lines()
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned),
            );
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        if names.len() > pictures::MAX_PICTURES {
            return Err(NodeError::new(
                error_class::MODEL_INPUT,
                format!(
                    "node {}: `images` names {} pictures; {} are the limit.",
                    self.name,
                    names.len(),
                    pictures::MAX_PICTURES
                ),
            ));
        }
        let (folder, root) = (self.folder.clone(), self.root.clone());
        let read = move || {
            let part = |name: &String| pictures::part(folder.as_deref(), root.as_deref(), name);
            names.iter().map(part).collect::<Result<Vec<Json>, ModelError>>()
        };
        let read = tokio::task::spawn_blocking(read).await;
        read.map_err(|panic| NodeError::new("ModelError", panic.to_string()))?
            .map_err(|e| self.failed(&e))
    }

    async fn conversation(
        &self,
        context: &NodeContext,
        scope: &Scope,
        input: &Value,
    ) -> Result<Vec<Value>, NodeError> {
        let message = |kind: &str, text: String| superstep::json!({"type": kind, "content": text});
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            messages.push(message("system", system.render(scope)?));
        }
        for (server, uri) in &self.resources {
            messages.push(self.resource(context, server, uri.render(scope)?).await?);
        }
        if let Some(key) = &self.messages {
            match read(context, input, key) {
                None | Some(Value::Null) => {}
                Some(Value::Array(list)) => messages.extend(list.iter().cloned()),
                Some(one) => messages.push(one.clone()),
            }
        }
        let prompt = self
            .prompt
            .as_ref()
            .map(|prompt| prompt.render(scope))
            .transpose()?;
        let shown = self.shown(scope).await?;
        match (prompt, shown.is_empty()) {
            (Some(prompt), true) => messages.push(message("human", prompt)),
            (None, true) => {}
            (prompt, false) => {
                let text = prompt.map(|text| json!({"type": "text", "text": text}));
                let parts: Vec<Json> = text.into_iter().chain(shown).collect();
                messages.push(json!({"type": "human", "content": parts}).into());
            }
        }
        if messages
            .iter()
            .all(|message| message.get("type").and_then(Value::as_str) == Some("system"))
        {
            return Err(NodeError::new(
                error_class::MODEL_INPUT,
                format!(
                    "node {}: there is nothing to ask, the list of messages is empty. Give the run an input message.",
                    self.name
                ),
            ));
        }
        Ok(messages)
    }
}
