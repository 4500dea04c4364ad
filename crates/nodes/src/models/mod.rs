//! Real models: which provider or connection a name means, where it is reached, which key it needs, and its answer as a
//! stream. Requests and answers in the protocols of OpenAI, Anthropic, Gemini and Ollama are written and read here; genai
//! knows the addresses of providers and speaks with the rest of them. Environment variables come in through a function,
//! so that hosts may keep keys elsewhere.

mod answer;
mod body;
mod call_span;
mod draft;
mod embed;
mod error;
mod exchange;
mod messages;
pub(crate) mod pictures;
mod prices;
pub(crate) mod recording;
mod reply;
mod request;
mod settings;
mod wire;

use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::FutureExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec, Tool, ToolChoice as GenaiChoice};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use reqwest::header::{CONTENT_TYPE, HeaderValue};

use crate::base::access::{Access, Grants};
use crate::base::secrets;
pub(crate) use answer::args_json;
pub use answer::{AnswerPiece, CallPiece, Facts, InvalidArgs, ModelAnswer, TokenUsage, ToolCall};
use body::{WireRequest, WireTarget};
pub use call_span::observed_model;
use call_span::{CallSpan, CalledModel};
use draft::AnswerDraft;
use error::RequestTarget;
pub(crate) use error::wait_in_headers;
pub use error::{KeyPlace, ModelError};
pub(crate) use exchange::OpenExchange;
pub use exchange::{AnsweredBy, Ended, Exchange, Exchanges, WatchedTask};
pub(crate) use messages::message;
pub use prices::{Price, Priced, listed_prices};
pub use recording::{RECORDINGS, Recording, Recordings, TestAnswers};
pub use reply::AnswerStream;
use reply::{AnswerSource, FrameSink, WireReader};
pub(crate) use request::no_arguments;
pub use request::{ModelRequest, Reasoning, ToolChoice, ToolSpec};
pub use settings::{Connection, ModelSettings, key_variable, provider_names, provider_of};
use settings::{ModelRoute, base_url};
use wire::{Decoder, FrameReader, WireForm};

/// Function that reads an environment variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Base URL of an OpenAI-compatible server that takes the place of OpenAI's.
const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";
/// Longest refusal that is read.
const MAX_REFUSAL: usize = 64 * 1024;

/// Access to providers; one HTTP client, made when it is first needed.
pub struct Providers {
    variables: Variables,
    settings: Arc<ModelSettings>,
    keychain: Variables,
    grants: Grants,
    client: OnceLock<Result<ModelClient, String>>,
}

/// The HTTP client, and the provider layer on top of it.
#[derive(Clone)]
struct ModelClient {
    web: reqwest::Client,
    genai: Client,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Providers")
    }
}

impl Providers {
    /// Creates providers that find their keys with `variables`. Nothing is asked without grants.
    pub fn new(variables: Variables, settings: Arc<ModelSettings>) -> Self {
        Self {
            variables,
            settings,
            keychain: Arc::new(|_| None),
            grants: Grants::none(),
            client: OnceLock::new(),
        }
    }

    /// Sets the source of connections' keys, by the connection's name.
    pub fn with_keychain(mut self, keychain: Variables) -> Self {
        self.keychain = keychain;
        self
    }

    /// Sets what may be asked.
    pub fn with_grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }

    /// Returns what asking `model` touches: a connection that the person set up, with its key, or a provider's server
    /// and the variable of its key.
    pub fn accesses(&self, model: &str) -> Vec<Access> {
        self.route(model)
            .map_or_else(|_| Vec::new(), |route| Self::touched(&route))
    }

    fn touched(route: &ModelRoute) -> Vec<Access> {
        if let Some(connection) = &route.connection {
            return vec![Access::Connection(connection.clone())];
        }
        let server = match &route.base_url {
            Some(url) => url.parse().ok(),
            None => address_of(route.kind),
        };
        let server = server.map_or_else(|| Access::Host("*".into()), |url| Access::of_url(&url));
        let key = route
            .variable
            .as_deref()
            .map(|variable| Access::key_to(variable, &server));
        [server].into_iter().chain(key).collect()
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    /// Returns the origin of answers of `model`.
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

    /// Returns the route, including what the environment adds to it: another server for OpenAI.
    fn route(&self, model: &str) -> Result<ModelRoute, ModelError> {
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

    /// Returns the route and its key if the graph may use both.
    fn target(&self, model: &str) -> Result<(ModelRoute, Option<String>), ModelError> {
        let route = self.route(model)?;
        for access in Self::touched(&route) {
            self.grants.require(&access).map_err(ModelError::AccessDenied)?;
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

    fn key(&self, route: &ModelRoute) -> Option<String> {
        let stored = route.connection.as_deref().filter(|_| route.keychain);
        let key = stored
            .and_then(|connection| (self.keychain)(connection))
            .or_else(|| self.variable(route.variable.as_deref()?))?;
        secrets::note(&key);
        Some(key)
    }

    /// Fetches the models that the server of a connection offers, to find out whether it can be reached and accepts the
    /// key; `None` if the provider has no such list.
    pub async fn models_of(&self, connection: &str) -> Result<Option<Vec<String>>, ModelError> {
        let (route, key) = self.target(&format!("{connection}::any"))?;
        // These answer with a list that is part of the program.
        if matches!(route.kind, AdapterKind::Cohere | AdapterKind::Baidu) {
            return Ok(None);
        }
        let asked = RequestTarget {
            model: route.label.clone(),
            provider: route.label.clone(),
            key: route.key_place(),
        };
        let endpoint = route.base_url.as_deref().map(Endpoint::from_owned);
        let auth = AuthData::from_single(key.unwrap_or_else(|| "none".to_owned()));
        let client = self.client().map_err(|cause| asked.failed(cause))?;
        let models = client
            .genai
            .all_model_names(route.kind, (endpoint, Some(auth)))
            .await;
        models.map(Some).map_err(|e| asked.classify(&e))
    }

    fn client(&self) -> Result<&ModelClient, String> {
        let made = self.client.get_or_init(made_client);
        made.as_ref().map_err(Clone::clone)
    }

    /// Returns the address of `model`, with its key, for the provider layer.
    async fn service(&self, model: &str) -> Result<Service<'_>, ModelError> {
        let (route, key) = self.target(model)?;
        let asked = RequestTarget {
            model: model.to_owned(),
            provider: route.label.clone(),
            key: route.key_place(),
        };
        let client = self.client().map_err(|cause| asked.failed(cause))?;
        let iden = ModelIden::new(route.kind, route.name.as_str());
        let mut target = client
            .genai
            .resolve_service_target(iden)
            .await
            .map_err(|e| asked.classify(&e))?;
        if let Some(url) = &route.base_url {
            target.endpoint = Endpoint::from_owned(url.as_str());
            // The protocol wants a key also where the server does not.
            target.auth = AuthData::from_single("none");
        }
        if let Some(key) = &key {
            target.auth = AuthData::from_single(key.as_str());
        }
        Ok(Service {
            client,
            target,
            key,
            route,
            asked,
        })
    }

    /// Asks `model`; the answer is read piece by piece. Dropping the reply ends the request.
    pub async fn ask(&self, model: &str, request: &ModelRequest) -> Result<AnswerStream, ModelError> {
        let service = self.service(model).await?;
        let route = &service.route;
        let provider = self.facts(model).provider;
        let messages = messages::chat_messages(&request.messages, route.kind, &provider)
            .map_err(|(position, cause)| ModelError::BadMessage { position, cause })?;
        let address = route.base_url.as_deref().unwrap_or_default();
        let mut open = OpenExchange::new(request, model, address);
        let known = route.base_url.is_none().then_some(route.name.as_str());
        let price = prices::find(&self.settings.prices, model, known);
        let mut span = CallSpan::chat(&service.called(), request);
        let source = match WireForm::of(route.kind) {
            Some(form) => service.sent(form, messages, request, open.as_mut()).await,
            None => service.provided(messages, request, open.is_some()).await,
        };
        match source {
            Ok(source) => Ok(AnswerStream::new(
                AnswerDraft::new(service.asked, price),
                source,
                open,
                span,
            )),
            Err(error) => {
                span.failed(&error);
                if let Some(open) = &mut open {
                    open.failed(&error.to_string());
                }
                Err(error)
            }
        }
    }
}

/// Creates a client that follows no redirects. The chosen server must not choose another one: a redirect would carry
/// the prompt, and its target was never allowed.
fn made_client() -> Result<ModelClient, String> {
    let web = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let web = web.build().map_err(|e| e.to_string())?;
    let genai = Client::builder().with_reqwest(web.clone()).build();
    let genai = genai.map_err(|e| e.to_string())?;
    Ok(ModelClient { web, genai })
}

/// Returns the address of a provider.
fn address_of(kind: AdapterKind) -> Option<reqwest::Url> {
    static CLIENT: OnceLock<Option<ModelClient>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| made_client().ok()).as_ref()?;
    // Only the address is wanted, and nothing on the way to it waits.
    let target = client
        .genai
        .resolve_service_target(ModelIden::new(kind, ""))
        .now_or_never()?;
    target.ok()?.endpoint.base_url().parse().ok()
}

/// A model server that can be asked.
struct Service<'a> {
    client: &'a ModelClient,
    target: ServiceTarget,
    key: Option<String>,
    route: ModelRoute,
    asked: RequestTarget,
}

impl Service<'_> {
    fn called(&self) -> CalledModel<'_> {
        CalledModel {
            kind: self.route.kind,
            base_url: self.target.endpoint.base_url(),
            model: self.target.model.model_name.namespace_and_name().1,
        }
    }

    /// Sends a request in a protocol that is read here.
    async fn sent(
        &self,
        form: WireForm,
        messages: Vec<ChatMessage>,
        request: &ModelRequest,
        watched: Option<&mut OpenExchange>,
    ) -> Result<AnswerSource, ModelError> {
        let is_watched = watched.is_some();
        let called = self.called();
        let target = WireTarget {
            kind: called.kind,
            base_url: called.base_url,
            model: called.model,
            // The protocol wants a key also where the server does not.
            key: self.key.as_deref().unwrap_or("none"),
        };
        let made = WireRequest::new(form, target, messages, request);
        let made = made.map_err(|cause| self.asked.failed(cause))?;
        let mut post = self.client.web.post(&made.url);
        for (name, value) in &made.headers {
            let value = HeaderValue::from_str(value).map(|mut value| {
                value.set_sensitive(true);
                value
            });
            let unsendable = |_| self.asked.failed("its key has signs in it that cannot be sent");
            post = post.header(*name, value.map_err(unsendable)?);
        }
        let body = made.body.to_string();
        if let Some(open) = watched {
            open.sent(made.body);
        }
        let sent = post
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .send()
            .await;
        let mut response = sent.map_err(|error| self.asked.unreachable(&error))?;
        if !response.status().is_success() {
            let mut text = Vec::new();
            while text.len() < MAX_REFUSAL
                && let Ok(Some(bytes)) = response.chunk().await
            {
                text.extend_from_slice(&bytes);
            }
            text.truncate(MAX_REFUSAL);
            let header = |name: &str| response.headers().get(name)?.to_str().ok();
            let text = String::from_utf8_lossy(&text);
            return Err(self.asked.refusal(response.status(), header, &text));
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if content_type.to_ascii_lowercase().starts_with("text/html") {
            let cause = "it answered with a web page; look whether the address of the connection is that of a model server";
            return Err(self.asked.failed(cause));
        }
        let frames = FrameReader::new(form.framing(content_type));
        let reader = WireReader::new(frames, Decoder::new(self.route.kind, form), is_watched);
        Ok(AnswerSource::wire(response, reader))
    }

    /// Lets the provider layer send a request and read the answer.
    async fn provided(
        &self,
        messages: Vec<ChatMessage>,
        request: &ModelRequest,
        is_watched: bool,
    ) -> Result<AnswerSource, ModelError> {
        let noted = Arc::new(FrameSink::default());
        noted.lock().frames = is_watched.then(String::new);
        let mut chat = ChatRequest::new(messages);
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
            options = options.with_reasoning_effort(body::effort(reasoning));
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
        let response = self
            .client
            .genai
            .exec_chat_stream(self.target.clone(), chat, Some(&options))
            .await
            .map_err(|e| self.asked.classify(&e))?;
        Ok(AnswerSource::provider(response.stream, noted))
    }
}

#[cfg(test)]
mod body_tests;
#[cfg(test)]
mod stream_tests;

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            let error = providers
                .ask(model, &ModelRequest::default())
                .await
                .err()
                .unwrap();
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
        let key = |name: &str| Access::Key(name.into());
        for (variables, model, touched) in [
            (
                &none,
                "openai::gpt-4o-mini",
                vec![host("api.openai.com"), key("OPENAI_API_KEY@api.openai.com")],
            ),
            (
                &none,
                "anthropic::claude-sonnet-4-5",
                vec![
                    host("api.anthropic.com"),
                    key("ANTHROPIC_API_KEY@api.anthropic.com"),
                ],
            ),
            (&none, "ollama::llama3.2", vec![host("localhost:11434")]),
            (&none, "mine::llama3", vec![Access::Connection("mine".into())]),
            (&none, "nonsense", vec![]),
            (
                &(Arc::new(elsewhere) as Variables),
                "openai::gpt-4o-mini",
                vec![host("127.0.0.1:9"), key("OPENAI_API_KEY@127.0.0.1:9")],
            ),
        ] {
            let providers = Providers::new(variables.clone(), Arc::new(settings.clone()));
            let accesses = providers.accesses(model);
            assert_eq!(accesses, touched, "{model}");
            if let Some(first) = accesses.first() {
                let error = providers
                    .ask(model, &ModelRequest::default())
                    .await
                    .err()
                    .unwrap();
                assert_eq!(
                    error,
                    ModelError::AccessDenied(crate::base::access::AccessDenied(first.clone()))
                );
                assert_eq!(error.class(), "AccessDenied");
            }
        }
    }

    #[tokio::test]
    async fn the_provider_layer_reads_no_answer_without_end() {
        use std::io::{BufRead, BufReader, Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let sent = std::thread::spawn(move || {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(asked) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = asked.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let stream = reader.get_mut();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            // Calls that have not ended are kept in the layer and shown to nobody.
            let text = "a".repeat(1 << 16);
            for index in 0..10_000 {
                let item =
                    json!({"type": "function_call", "call_id": index.to_string(), "name": "f", "x": text});
                let event =
                    json!({"type": "response.output_item.added", "output_index": index, "item": item});
                if write!(stream, "data: {event}\n\n").is_err() {
                    return index;
                }
            }
            10_000
        });
        let settings: ModelSettings = serde_json::from_value(
            json!({"connections": {"mine": {"provider": "openai_resp", "base_url": url}}}),
        )
        .unwrap();
        let providers = Providers::new(Arc::new(|_| None), Arc::new(settings)).with_grants(Grants::all());
        let request = ModelRequest {
            messages: vec![superstep::json!({"type": "human", "content": "Go"})],
            ..ModelRequest::default()
        };
        let mut answer = providers.ask("mine::m", &request).await.unwrap();
        let error = loop {
            match answer.next().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it has no end"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("more than 32 MB"), "{error}");
        drop(answer);
        // The connection is closed by this runtime, so nothing here may stand still.
        let sent = tokio::task::spawn_blocking(move || sent.join().unwrap());
        assert!(sent.await.unwrap() < 5_000, "the connection is closed");
    }
}
