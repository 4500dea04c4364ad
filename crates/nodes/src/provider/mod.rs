//! Real models, through genai: which provider or connection a name means, where it is reached, which key it needs, and
//! its answer as a stream. Environment variables come in through a function, so that hosts may keep keys elsewhere.

mod embed;
mod error;
mod exchange;
mod messages;
pub(crate) mod pictures;
mod prices;
pub(crate) mod recording;
mod settings;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures::{FutureExt, StreamExt};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatFrameSink, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, ContentPart, FrameCtx, JsonSpec,
    RawFrameRef, ReasoningEffort, StreamEnd, Tool, ToolChoice as GenaiChoice, Usage as GenaiUsage,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::{Object, Value};

use crate::access::{Access, Grants};
use crate::secrets;
use error::Asked;
pub(crate) use error::wait_in_headers;
pub use error::{KeyPlace, ModelError};
use exchange::Open;
pub use exchange::{Ended, Exchange, Exchanges, Watch};
pub(crate) use messages::message;
pub use prices::{Price, Priced};
pub use recording::{RECORDINGS, Recording, Recordings};
pub use settings::{Connection, ModelSettings, key_variable, provider_names, provider_of};
use settings::{Route, base_url};

/// Reads an environment variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Base URL of an OpenAI-compatible server that takes the place of OpenAI's.
const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";

/// Longest answer, reasoning and arguments of calls included: a stream without an end must have one.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ToolSpec {
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
}

/// The schema of a tool without arguments.
pub(crate) fn no_arguments() -> Json {
    json!({"type": "object", "properties": {}})
}

/// May a model answer without a call?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::kind::words)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must call a tool.
    Required,
    /// It must not.
    None,
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::kind::words)]
pub enum Reasoning {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// A question to a model.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Messages in the engine's form, system first.
    pub messages: Vec<Value>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// Longest answer.
    pub max_tokens: Option<u32>,
    /// JSON Schema of the answer.
    pub output: Option<Json>,
    /// Tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may answer without a call.
    pub tool_choice: ToolChoice,
    /// How much it thinks.
    pub reasoning: Option<Reasoning>,
    /// Who keeps what is sent and what comes back, for the trace.
    pub watch: Option<Watch>,
}

/// A piece of an answer that is on its way.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Of the text.
    Text(String),
    /// Of the reasoning before it.
    Reasoning(String),
    /// Of a call of a tool.
    Call(CallPiece),
}

/// A piece of a call; `id` and `name` come with the first one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CallPiece {
    /// Which call of the answer, from zero.
    pub index: usize,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A piece of the arguments' JSON.
    #[serde(default)]
    pub args: String,
}

/// A call that a model makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id, which the tool's message names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, or why they are none.
    pub args: Result<Object, InvalidArgs>,
}

/// Arguments of a call as JSON.
pub(crate) fn args_json(args: &Object) -> Json {
    Json::from(&Value::Object(args.clone()))
}

/// Arguments that are no JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidArgs {
    /// What the model wrote.
    pub text: String,
    /// What is wrong with it.
    pub cause: String,
}

impl ToolCall {
    fn of(id: String, name: String, args: Json) -> Self {
        let args = match args {
            Json::Object(_) => Ok(args),
            Json::Null => Ok(json!({})),
            // A tool without arguments is often called with nothing.
            Json::String(text) if text.trim().is_empty() => Ok(json!({})),
            Json::String(text) => match serde_json::from_str::<Json>(&text) {
                Ok(json @ Json::Object(_)) => Ok(json),
                Ok(_) => Err((text, "the arguments are no JSON object".to_owned())),
                Err(e) => Err((text, format!("the arguments are no JSON: {e}"))),
            },
            other => Err((other.to_string(), "the arguments are no JSON object".to_owned())),
        };
        let args = match args.map(Value::from) {
            Ok(Value::Object(args)) => Ok(args),
            Ok(_) => Ok(Object::new()),
            Err((text, cause)) => Err(InvalidArgs { text, cause }),
        };
        Self { id, name, args }
    }

    /// The calls of an ai message as it is stored, the invalid ones last.
    pub fn all_of(message: &Value) -> Vec<Self> {
        let list = |key: &str| {
            message
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let text = |call: &Value, key: &str| {
            let text = call.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let mut calls = Vec::new();
        for call in list("tool_calls").iter() {
            let args = call.get("args").cloned().unwrap_or_default();
            calls.push(Self::of(text(call, "id"), text(call, "name"), Json::from(&args)));
        }
        for call in list("invalid_tool_calls").iter() {
            calls.push(Self {
                id: text(call, "id"),
                name: text(call, "name"),
                args: Err(InvalidArgs {
                    text: text(call, "args"),
                    cause: text(call, "error"),
                }),
            });
        }
        calls
    }
}

/// Tokens that an answer used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent, the cached ones included.
    pub input: u64,
    /// Answered, reasoning included.
    pub output: u64,
    /// Both, as the provider counts.
    pub total: u64,
    /// Of the sent ones: those that the provider still had.
    pub cached: u64,
    /// Of the sent ones: those that it keeps from now on.
    pub cache_written: u64,
    /// Of the answered ones: reasoning.
    pub reasoning: u64,
}

impl Usage {
    fn of(usage: &GenaiUsage) -> Option<Self> {
        let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
        if usage.prompt_tokens.is_none() && usage.completion_tokens.is_none() {
            return None;
        }
        let (input, output) = (count(usage.prompt_tokens), count(usage.completion_tokens));
        let sent = usage.prompt_tokens_details.as_ref();
        let answered = usage.completion_tokens_details.as_ref();
        Some(Self {
            input,
            output,
            total: usage
                .total_tokens
                .map_or(input + output, |total| count(Some(total))),
            cached: count(sent.and_then(|details| details.cached_tokens)),
            cache_written: count(sent.and_then(|details| details.cache_creation_tokens)),
            reasoning: count(answered.and_then(|details| details.reasoning_tokens)),
        })
    }

    /// As `usage_metadata` has it.
    pub fn json(&self) -> Json {
        let mut json = json!({
            "input_tokens": self.input, "output_tokens": self.output, "total_tokens": self.total});
        let details = |list: [(&str, u64); 2]| {
            let given = list.into_iter().filter(|(_, tokens)| *tokens > 0);
            let given: Map<String, Json> = given
                .map(|(name, tokens)| (name.to_owned(), tokens.into()))
                .collect();
            (!given.is_empty()).then_some(given)
        };
        if let Some(given) = details([
            ("cache_read", self.cached),
            ("cache_creation", self.cache_written),
        ]) {
            json["input_token_details"] = given.into();
        }
        if let Some(given) = details([("reasoning", self.reasoning), ("", 0)]) {
            json["output_token_details"] = given.into();
        }
        json
    }
}

/// What came with an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The reasoning before it, where the provider shows it.
    pub reasoning: String,
    /// Signed or encrypted reasoning that the provider wants back, as blocks of its own form.
    pub thinking: Vec<Json>,
    /// Signatures of calls, by the call's id.
    pub signatures: Map<String, Json>,
    /// Calls of tools.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens used, when the provider says.
    pub usage: Option<Usage>,
    /// `{amount, currency, prices}`, when there is a price.
    pub cost: Option<Json>,
    /// Why it stopped, in the provider's word.
    pub stop: Option<String>,
    /// The model that answered, in the provider's word.
    pub model: Option<String>,
}

/// Where an answer is from, as it stands in `response_metadata`.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The provider.
    pub provider: String,
    /// The connection, when it is no provider's own.
    pub connection: Option<String>,
    /// The model that was asked.
    pub model: String,
}

impl Facts {
    /// As an object.
    pub fn json(&self) -> Map<String, Json> {
        let mut facts = Map::new();
        facts.insert("provider".into(), self.provider.clone().into());
        if let Some(connection) = &self.connection {
            facts.insert("connection".into(), connection.clone().into());
        }
        facts.insert("model_name".into(), self.model.clone().into());
        facts
    }
}

/// Access to providers; one HTTP client, made when it is first needed.
pub struct Providers {
    variables: Variables,
    settings: Arc<ModelSettings>,
    keychain: Variables,
    grants: Grants,
    client: OnceLock<Result<Client, String>>,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Providers")
    }
}

impl Providers {
    /// Providers that find their keys with `variables`. Nothing is asked without grants.
    pub fn new(variables: Variables, settings: Arc<ModelSettings>) -> Self {
        Self {
            variables,
            settings,
            keychain: Arc::new(|_| None),
            grants: Grants::none(),
            client: OnceLock::new(),
        }
    }

    /// Keys of connections, by the connection's name.
    pub fn with_keychain(mut self, keychain: Variables) -> Self {
        self.keychain = keychain;
        self
    }

    /// What may be asked.
    pub fn with_grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }

    /// What asking `model` touches: a connection that the person set up, with its key, or a provider's server and the
    /// variable of its key.
    pub fn accesses(&self, model: &str) -> Vec<Access> {
        self.route(model)
            .map_or_else(|_| Vec::new(), |route| Self::touched(&route))
    }

    fn touched(route: &Route) -> Vec<Access> {
        if let Some(connection) = &route.connection {
            return vec![Access::Connection(connection.clone())];
        }
        let server = match &route.base_url {
            Some(url) => url.parse().ok(),
            None => address_of(route.kind),
        };
        let server = server.map_or_else(|| Access::Host("*".into()), |url| Access::of_url(&url));
        let key = route.variable.clone().map(Access::Variable);
        [server].into_iter().chain(key).collect()
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    /// Where answers of `model` are from.
    pub fn facts(&self, model: &str) -> Facts {
        let (prefix, name) = model.split_once("::").unwrap_or((model, model));
        let route = self.settings.route(model).ok();
        Facts {
            provider: match &route {
                Some(route) if route.connection.is_some() => route.kind.as_lower_str().to_owned(),
                _ => prefix.to_owned(),
            },
            connection: route.and_then(|route| route.connection),
            model: name.to_owned(),
        }
    }

    /// The route with what the environment adds to it: another server for OpenAI.
    fn route(&self, model: &str) -> Result<Route, ModelError> {
        let mut route = self.settings.route(model)?;
        if route.kind == AdapterKind::OpenAI
            && route.connection.is_none()
            && let Some(url) = self.variable(OPENAI_BASE_URL)
        {
            let url = base_url(&url).map_err(|cause| ModelError::BadSettings {
                cause: format!("the environment variable {OPENAI_BASE_URL} {cause}. Correct it."),
            })?;
            route.base_url = Some(url);
        }
        Ok(route)
    }

    /// The route and its key, when the graph may use both.
    fn target(&self, model: &str) -> Result<(Route, Option<String>), ModelError> {
        let route = self.route(model)?;
        for access in Self::touched(&route) {
            self.grants.require(&access).map_err(ModelError::Denied)?;
        }
        let key = self.key(&route);
        // Local servers take any key, and a connection says whether it has one.
        let none_wanted = !route.keychain && (route.connection.is_none() || route.variable.is_none());
        let optional = route.kind == AdapterKind::Ollama || (route.base_url.is_some() && none_wanted);
        let wanted = route.keychain || route.variable.is_some();
        match &key {
            None if wanted && !optional => Err(ModelError::MissingKey {
                place: route.key_place(),
                provider: route.label,
            }),
            _ => Ok((route, key)),
        }
    }

    fn key(&self, route: &Route) -> Option<String> {
        let stored = route.connection.as_deref().filter(|_| route.keychain);
        let key = stored
            .and_then(|connection| (self.keychain)(connection))
            .or_else(|| self.variable(route.variable.as_deref()?))?;
        secrets::note(&key);
        Some(key)
    }

    /// The models that the server of a connection offers, to see whether it can be reached and takes the key; `None`
    /// when the provider has no such list.
    pub async fn models_of(&self, connection: &str) -> Result<Option<Vec<String>>, ModelError> {
        let (route, key) = self.target(&format!("{connection}::any"))?;
        // These answer with a list that is part of the program.
        if matches!(route.kind, AdapterKind::Cohere | AdapterKind::Baidu) {
            return Ok(None);
        }
        let asked = Asked {
            model: route.label.clone(),
            provider: route.label.clone(),
            key: route.key_place(),
        };
        let endpoint = route.base_url.as_deref().map(Endpoint::from_owned);
        let auth = AuthData::from_single(key.unwrap_or_else(|| "none".to_owned()));
        let client = self.client().map_err(|cause| asked.failed(cause))?;
        let models = client.all_model_names(route.kind, (endpoint, Some(auth))).await;
        models.map(Some).map_err(|e| asked.classify(&e))
    }

    fn client(&self) -> Result<&Client, String> {
        let made = self.client.get_or_init(made_client);
        made.as_ref().map_err(Clone::clone)
    }

    /// Where `model` is, with its key, for the provider layer.
    async fn service(&self, model: &str) -> Result<Service<'_>, ModelError> {
        let (route, key) = self.target(model)?;
        let asked = Asked {
            model: model.to_owned(),
            provider: route.label.clone(),
            key: route.key_place(),
        };
        let client = self.client().map_err(|cause| asked.failed(cause))?;
        let iden = ModelIden::new(route.kind, route.name.as_str());
        let mut target = client
            .resolve_service_target(iden)
            .await
            .map_err(|e| asked.classify(&e))?;
        if let Some(url) = &route.base_url {
            target.endpoint = Endpoint::from_owned(url.as_str());
            // The protocol wants a key also where the server does not.
            target.auth = AuthData::from_single("none");
        }
        if let Some(key) = key {
            target.auth = AuthData::from_single(key);
        }
        Ok(Service {
            client,
            target,
            route,
            asked,
        })
    }

    /// Asks `model`; the answer is read piece by piece. Dropping the reply ends the request.
    pub async fn ask(&self, model: &str, request: &Request) -> Result<Reply, ModelError> {
        let Service {
            client,
            target,
            route,
            asked,
        } = self.service(model).await?;
        let provider = self.facts(model).provider;
        let messages = messages::chat_messages(&request.messages, route.kind, &provider)
            .map_err(|(position, cause)| ModelError::BadMessage { position, cause })?;
        let mut chat = ChatRequest::new(messages);
        let noted = Arc::new(Noted::default());
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_reasoning_content(true)
            .with_capture_tool_calls(true)
            .with_raw_frame_sink_arc(noted.clone());
        if let Some(temperature) = request.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(max_tokens) = request.max_tokens {
            options = options.with_max_tokens(max_tokens);
        }
        if let Some(reasoning) = request.reasoning {
            options = options.with_reasoning_effort(match reasoning {
                Reasoning::None => ReasoningEffort::Zero,
                Reasoning::Minimal => ReasoningEffort::Minimal,
                Reasoning::Low => ReasoningEffort::Low,
                Reasoning::Medium => ReasoningEffort::Medium,
                Reasoning::High => ReasoningEffort::High,
            });
        }
        if let Some(schema) = &request.output {
            options = options.with_response_format(JsonSpec::new("answer", schema.clone()));
        }
        if !request.tools.is_empty() {
            let tool = |spec: &ToolSpec| {
                Tool::new(spec.name.clone())
                    .with_description(spec.description.clone())
                    .with_schema(spec.parameters.clone())
            };
            chat = chat.with_tools(request.tools.iter().map(tool).collect::<Vec<_>>());
            // `auto` is what every provider does by itself, and some refuse the word.
            options = match request.tool_choice {
                ToolChoice::Auto => options,
                ToolChoice::Required => options.with_tool_choice(GenaiChoice::Required),
                ToolChoice::None => options.with_tool_choice(GenaiChoice::None),
            };
        }
        let address = route.base_url.as_deref().unwrap_or_default();
        let open = Open::new(request, model, address);
        noted.lock().frames = open.is_some().then(String::new);
        let response = client
            .exec_chat_stream(target, chat, Some(&options))
            .await
            .map_err(|e| asked.classify(&e))?;
        let known = route.base_url.is_none().then_some(route.name);
        let price = prices::find(&self.settings.prices, model, known.as_deref());
        Ok(Reply {
            asked,
            stream: response.stream,
            noted,
            open,
            price,
            calls: Vec::new(),
            size: 0,
            ended: false,
            answer: Answer::default(),
        })
    }
}

/// A server that was chosen must not choose another one: a redirect would carry the prompt, and what it leads to was never
/// allowed.
fn made_client() -> Result<Client, String> {
    let web = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let web = web.build().map_err(|e| e.to_string())?;
    Client::builder()
        .with_reqwest(web)
        .build()
        .map_err(|e| e.to_string())
}

/// Where a provider is.
fn address_of(kind: AdapterKind) -> Option<reqwest::Url> {
    static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| made_client().ok()).as_ref()?;
    // Only the address is wanted, and nothing on the way to it waits.
    let target = client
        .resolve_service_target(ModelIden::new(kind, ""))
        .now_or_never()?;
    target.ok()?.endpoint.base_url().parse().ok()
}

/// A model server that can be asked.
struct Service<'a> {
    client: &'a Client,
    target: ServiceTarget,
    route: Route,
    asked: Asked,
}

/// What stands in a stream and gets lost on its way through the provider layer: the model that answers, and tokens in
/// a chunk that looks like a piece of the answer, as LiteLLM's proxy sends them.
#[derive(Default)]
struct Noted(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    model: Option<String>,
    usage: Option<Usage>,
    /// The frames as they came, when somebody keeps them.
    frames: Option<String>,
}

impl Noted {
    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Noted {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if let Some(frames) = &mut self.lock().frames {
            exchange::add_frame(frames, frame.event, frame.data);
        }
        let counts = frame.data.contains("\"usage\":{") || frame.data.contains("\"usage\": {");
        if frame.index > 0 && !counts {
            return;
        }
        let Some(json) = frame.json() else { return };
        let mut notes = self.lock();
        if notes.model.is_none() {
            let names = ["/model", "/message/model", "/modelVersion"];
            let name = names.iter().find_map(|path| json.pointer(path)?.as_str());
            notes.model = name.filter(|name| !name.is_empty()).map(str::to_owned);
        }
        let usage = json.get("usage").filter(|_| counts).cloned();
        let usage: Option<GenaiUsage> = usage.and_then(|usage| serde_json::from_value(usage).ok());
        if let Some(usage) = usage.as_ref().and_then(Usage::of) {
            notes.usage = Some(usage);
        }
    }
}

/// An answer on its way.
pub struct Reply {
    asked: Asked,
    stream: ChatStream,
    noted: Arc<Noted>,
    open: Option<Open>,
    price: Option<Priced>,
    /// Calls by id, and how much of their arguments was passed on.
    calls: Vec<(String, usize)>,
    size: usize,
    ended: bool,
    answer: Answer,
}

impl Reply {
    /// The next piece; `None` when the answer is complete.
    pub async fn next(&mut self) -> Result<Option<Piece>, ModelError> {
        let next = self.piece().await;
        if let Some(open) = &mut self.open {
            match &next {
                Ok(Some(_)) => {}
                Ok(None) => {
                    open.ended = Ended::Done;
                    open.usage = self.answer.usage.as_ref().map(Usage::json);
                    open.cost.clone_from(&self.answer.cost);
                }
                Err(error) => {
                    open.ended = Ended::Failed;
                    self.noted
                        .lock()
                        .frames
                        .get_or_insert_default()
                        .push_str(&error.to_string());
                }
            }
        }
        next
    }

    async fn piece(&mut self) -> Result<Option<Piece>, ModelError> {
        while let Some(event) = self.stream.next().await {
            let piece = match event.map_err(|e| self.asked.classify(&e))? {
                ChatStreamEvent::Chunk(chunk) => {
                    self.grown(chunk.content.len())?;
                    let text = secrets::redact(&chunk.content).into_owned();
                    self.answer.text.push_str(&text);
                    Piece::Text(text)
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    self.grown(chunk.content.len())?;
                    let text = secrets::redact(&chunk.content).into_owned();
                    self.answer.reasoning.push_str(&text);
                    Piece::Reasoning(text)
                }
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    let call = chunk.tool_call;
                    let mut piece = self.call_piece(call.call_id, call.fn_name, call.fn_arguments);
                    self.grown(piece.args.len())?;
                    for text in [Some(&mut piece.args), piece.id.as_mut(), piece.name.as_mut()]
                        .into_iter()
                        .flatten()
                    {
                        *text = secrets::redact(text).into_owned();
                    }
                    Piece::Call(piece)
                }
                ChatStreamEvent::End(end) => {
                    self.end(end);
                    continue;
                }
                ChatStreamEvent::Start
                | ChatStreamEvent::Heartbeat
                | ChatStreamEvent::ThoughtSignatureChunk(_) => continue,
            };
            return Ok(Some(piece));
        }
        match self.ended {
            true => Ok(None),
            // Half an answer looks like a whole one otherwise.
            false => Err(self.asked.failed("the connection ended before the answer did")),
        }
    }

    fn grown(&mut self, by: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(by);
        match self.size > LONGEST_ANSWER {
            true => Err(self.asked.failed(format!(
                "it answered more than {} MB",
                LONGEST_ANSWER / 1024 / 1024
            ))),
            false => Ok(()),
        }
    }

    /// Some providers send the arguments so far, others the whole call at once; what is passed on is what is new.
    fn call_piece(&mut self, id: String, name: String, args: Json) -> CallPiece {
        let args = match args {
            Json::String(text) => text,
            Json::Null => String::new(),
            other => other.to_string(),
        };
        let known = self.calls.iter().position(|(known, _)| *known == id);
        let index = known.unwrap_or_else(|| {
            self.calls.push((id.clone(), 0));
            self.calls.len() - 1
        });
        let passed = &mut self.calls[index].1;
        let new = args.get(*passed..).unwrap_or_default().to_owned();
        *passed = args.len();
        let first = known.is_none();
        CallPiece {
            index,
            id: first.then_some(id),
            name: first.then_some(name),
            args: new,
        }
    }

    fn end(&mut self, end: StreamEnd) {
        self.ended = true;
        let answer = &mut self.answer;
        {
            let mut notes = self.noted.lock();
            answer.model = notes
                .model
                .take()
                .map(|model| secrets::redact(&model).into_owned());
            answer.usage = end.captured_usage.as_ref().and_then(Usage::of).or(notes.usage);
        }
        answer.stop = end.captured_stop_reason.map(|reason| reason.raw().to_owned());
        answer.cost = match (&self.price, &answer.usage) {
            (Some(price), Some(usage)) => Some(price.facts(usage)),
            _ => None,
        };
        let mut signature: Option<String> = None;
        let block = |signature: String, thinking: String| json!({"type": "thinking", "thinking": thinking, "signature": signature});
        for part in end
            .captured_content
            .into_iter()
            .flat_map(|content| content.into_parts())
        {
            // A signature stands before the reasoning that it signs.
            if let (Some(signature), ContentPart::ReasoningContent(text)) = (signature.clone(), &part) {
                answer.thinking.push(block(signature, text.clone()));
            } else if let Some(signature) = signature.take() {
                answer.thinking.push(block(signature, String::new()));
            }
            signature = None;
            match part {
                ContentPart::ThoughtSignature(text) => signature = Some(text),
                ContentPart::Custom(custom) => answer.thinking.push(custom.data),
                ContentPart::ToolCall(call) => {
                    let place = answer.tool_calls.len();
                    // Every call is answered by its id, so each needs one of its own.
                    let taken = |id: &str| answer.tool_calls.iter().any(|call| call.id == id);
                    let id = match call.call_id.is_empty() || taken(&call.call_id) {
                        true => format!("call_{place}_{}", call.call_id),
                        false => call.call_id,
                    };
                    if let Some(signatures) = call.thought_signatures {
                        answer.signatures.insert(id.clone(), signatures.into());
                    }
                    let call = ToolCall::of(id, call.fn_name, call.fn_arguments);
                    answer.tool_calls.push(call);
                }
                _ => {}
            }
        }
        if let Some(signature) = signature {
            answer.thinking.push(block(signature, String::new()));
        }
    }

    /// Everything that came.
    pub fn into_answer(mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let Some(open) = &mut self.open {
            open.frames = self.noted.lock().frames.take().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_missing_key_names_its_variable() {
        let settings: ModelSettings = serde_json::from_value(json!({"connections": {
            "mine": {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "key_variable": "MINE"}}}))
        .unwrap();
        let providers = Providers::new(Arc::new(|_| None), Arc::new(settings)).with_grants(Grants::all());
        for (model, variable) in [
            ("openai::gpt-4o-mini", "OPENAI_API_KEY"),
            ("anthropic::claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
            ("mine::llama3", "MINE"),
        ] {
            let error = providers.ask(model, &Request::default()).await.err().unwrap();
            assert!(
                matches!(&error, ModelError::MissingKey { place: KeyPlace::Variable(v), .. } if v == variable),
                "{error}"
            );
            assert!(
                error
                    .to_string()
                    .contains(&format!("Set the environment variable {variable}")),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn what_a_model_touches_is_known_and_needs_a_grant() {
        let settings: ModelSettings = serde_json::from_value(json!({"connections": {
            "mine": {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "key_variable": "MINE"}}}))
        .unwrap();
        let elsewhere = |name: &str| (name == OPENAI_BASE_URL).then(|| "http://127.0.0.1:9/v1".to_owned());
        let none: Variables = Arc::new(|_| None);
        let host = |name: &str| Access::Host(name.into());
        let variable = |name: &str| Access::Variable(name.into());
        for (variables, model, touched) in [
            (
                &none,
                "openai::gpt-4o-mini",
                vec![host("api.openai.com"), variable("OPENAI_API_KEY")],
            ),
            (
                &none,
                "anthropic::claude-sonnet-4-5",
                vec![host("api.anthropic.com"), variable("ANTHROPIC_API_KEY")],
            ),
            (&none, "ollama::llama3.2", vec![host("localhost:11434")]),
            (&none, "mine::llama3", vec![Access::Connection("mine".into())]),
            (&none, "nonsense", vec![]),
            (
                &(Arc::new(elsewhere) as Variables),
                "openai::gpt-4o-mini",
                vec![host("127.0.0.1:9"), variable("OPENAI_API_KEY")],
            ),
        ] {
            let providers = Providers::new(variables.clone(), Arc::new(settings.clone()));
            let accesses = providers.accesses(model);
            assert_eq!(accesses, touched, "{model}");
            if let Some(first) = accesses.first() {
                let error = providers.ask(model, &Request::default()).await.err().unwrap();
                assert_eq!(error, ModelError::Denied(crate::access::Denied(first.clone())));
                assert_eq!(error.class(), "AccessDenied");
            }
        }
    }

    #[test]
    fn arguments_of_calls_are_objects_or_say_why_not() {
        let args = |args: Json| ToolCall::of("t".into(), "f".into(), args).args;
        assert_eq!(args(json!({"a": 1})).unwrap().len(), 1);
        assert_eq!(args(json!("{\"a\": 1}")).unwrap().len(), 1);
        for nothing in [json!(""), json!(null), json!("{}")] {
            assert!(args(nothing).unwrap().is_empty());
        }
        assert!(args(json!("{oops")).unwrap_err().cause.contains("no JSON"));
        assert!(args(json!([1])).unwrap_err().cause.contains("no JSON object"));
    }
}
