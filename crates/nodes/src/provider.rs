//! Real models, through genai: which provider a name means, where it is reached, which key it needs, and its answer as
//! a stream. Environment variables come in through a function, so that hosts may keep keys elsewhere.

use std::fmt;
use std::sync::{Arc, OnceLock};

use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, JsonSpec};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ServiceTarget};
use serde_json::Value as Json;
use superstep::{NodeError, Value};

use crate::suggest;

/// Reads an environment variable.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Base URL of an OpenAI-compatible server that takes the place of OpenAI's.
const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";

/// Why a model gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelError {
    /// The setting `model` names no provider.
    UnknownProvider {
        /// What it says.
        model: String,
        /// "Did you mean …", or empty.
        hint: String,
    },
    /// There is no key.
    MissingKey {
        /// Provider.
        provider: String,
        /// Environment variable that would hold it.
        variable: String,
    },
    /// The provider refused the key.
    Refused {
        /// Model.
        model: String,
        /// Environment variable that holds the key.
        variable: String,
        /// What it said.
        cause: String,
    },
    /// Too many requests, or no credit.
    Busy {
        /// Model.
        model: String,
        /// What it said.
        cause: String,
    },
    /// There is no such model.
    NoSuchModel {
        /// Model.
        model: String,
        /// What it said.
        cause: String,
    },
    /// It could not be reached.
    Unreachable {
        /// Model.
        model: String,
        /// Why.
        cause: String,
    },
    /// Anything else it answered.
    Failed {
        /// Model.
        model: String,
        /// What it said.
        cause: String,
    },
    /// A message that cannot be sent.
    BadMessage {
        /// Which, counted from one.
        position: usize,
        /// Why.
        cause: String,
    },
    /// The answer is not the JSON that was asked for.
    BadOutput {
        /// Why.
        cause: String,
        /// What was answered.
        answer: String,
    },
}

impl ModelError {
    /// Error class, for retry policies and readers.
    pub fn class(&self) -> &'static str {
        match self {
            ModelError::UnknownProvider { .. } | ModelError::MissingKey { .. } => "ModelSetupError",
            ModelError::Refused { .. } => "ModelAuthError",
            ModelError::Busy { .. } => "ModelBusyError",
            ModelError::NoSuchModel { .. } => "ModelNotFoundError",
            ModelError::Unreachable { .. } => "ModelConnectionError",
            ModelError::Failed { .. } => "ModelError",
            ModelError::BadMessage { .. } => "ModelInputError",
            ModelError::BadOutput { .. } => "ModelOutputError",
        }
    }

    /// As the failure of node `name`.
    pub fn of_node(&self, name: &str) -> NodeError {
        NodeError::new(self.class(), format!("node {name}: {self}"))
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::UnknownProvider { model, hint } => write!(
                f,
                "`{model}` names no model provider.{hint} Write `scripted`, or PROVIDER::NAME such as `openai::gpt-4o-mini`, `anthropic::claude-sonnet-4-5` or `ollama::llama3.2`."
            ),
            ModelError::MissingKey { provider, variable } => write!(
                f,
                "{provider} needs a key and there is none. Set the environment variable {variable} and start Superstep again, or choose the model `scripted`."
            ),
            ModelError::Refused {
                model,
                variable,
                cause,
            } => {
                write!(
                    f,
                    "the key for {model} was refused: {cause}. Check the environment variable {variable}."
                )
            }
            ModelError::Busy { model, cause } => {
                write!(
                    f,
                    "{model} takes no more requests for now: {cause}. Wait, or check the account's limits."
                )
            }
            ModelError::NoSuchModel { model, cause } => {
                write!(
                    f,
                    "{model} was not found: {cause}. Check the model's name in the node's settings."
                )
            }
            ModelError::Unreachable { model, cause } => {
                write!(
                    f,
                    "{model} could not be reached: {cause}. Check the network and the address."
                )
            }
            ModelError::Failed { model, cause } => write!(f, "{model} failed: {cause}."),
            ModelError::BadMessage { position, cause } => {
                write!(f, "message {position} cannot be sent to a model: {cause}.")
            }
            ModelError::BadOutput { cause, answer } => write!(
                f,
                "the answer is not the JSON that `output` asks for: {cause}. The answer was: {answer}. Say in the prompt what is wanted, or relax the schema."
            ),
        }
    }
}

impl std::error::Error for ModelError {}

/// Which provider a model name such as `openai::gpt-4o-mini` means.
pub fn provider_of(model: &str) -> Result<AdapterKind, ModelError> {
    let known = || AdapterKind::all().iter().map(AdapterKind::as_lower_str);
    let unknown = |hint: String| ModelError::UnknownProvider {
        model: model.to_owned(),
        hint,
    };
    let Some((namespace, name)) = model.split_once("::") else {
        let hint = if suggest::nearest(model, ["scripted"]).is_some() {
            " Did you mean `scripted`?".to_owned()
        } else {
            // Bare names would silently fall back to a local Ollama.
            AdapterKind::from_model(model).map_or_else(
                |_| String::new(),
                |kind| match kind {
                    AdapterKind::Ollama => String::new(),
                    kind => format!(" Did you mean `{}::{model}`?", kind.as_lower_str()),
                },
            )
        };
        return Err(unknown(hint));
    };
    if name.trim().is_empty() {
        return Err(unknown(String::new()));
    }
    match AdapterKind::from_lower_str(namespace) {
        Some(kind) => Ok(kind),
        None => match AdapterKind::from_model(model) {
            // Namespaces of genai that are no provider name of their own.
            Ok(kind) if kind != AdapterKind::Ollama => Ok(kind),
            _ => Err(unknown(suggest::did_you_mean(namespace, known()))),
        },
    }
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
}

/// What came with an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// `{input_tokens, output_tokens, total_tokens}`, when the provider says.
    pub usage: Option<Json>,
    /// Why it stopped, when the provider says.
    pub stop: Option<String>,
}

/// Access to providers; one HTTP client, made when it is first needed.
pub struct Providers {
    variables: Variables,
    client: OnceLock<Result<Client, String>>,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Providers")
    }
}

impl Providers {
    /// Providers that find their keys with `variables`.
    pub fn new(variables: Variables) -> Self {
        Self {
            variables,
            client: OnceLock::new(),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
    }

    /// Fails early, with the name of the variable, when the key of `kind` is missing.
    fn key(&self, kind: AdapterKind) -> Result<(), ModelError> {
        let Some(variable) = kind.default_key_env_name() else {
            return Ok(());
        };
        let optional = kind == AdapterKind::Ollama
            || (kind == AdapterKind::OpenAI && self.variable(OPENAI_BASE_URL).is_some());
        if optional || self.variable(variable).is_some() {
            return Ok(());
        }
        Err(ModelError::MissingKey {
            provider: kind.as_str().to_owned(),
            variable: variable.to_owned(),
        })
    }

    fn client(&self) -> Result<&Client, String> {
        let made = self.client.get_or_init(|| {
            let variables = self.variables.clone();
            let resolver = ServiceTargetResolver::from_resolver_fn(
                move |mut target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                    let read = |name: &str| {
                        variables(name)
                            .map(|v| v.trim().to_owned())
                            .filter(|v| !v.is_empty())
                    };
                    let kind = target.model.adapter_kind;
                    if let Some(key) = kind.default_key_env_name().and_then(read) {
                        target.auth = AuthData::from_single(key);
                    }
                    if kind == AdapterKind::OpenAI
                        && let Some(url) = read(OPENAI_BASE_URL)
                    {
                        // Local servers take any key, but the protocol wants one.
                        if read("OPENAI_API_KEY").is_none() {
                            target.auth = AuthData::from_single("none");
                        }
                        let url = if url.ends_with('/') {
                            url
                        } else {
                            format!("{url}/")
                        };
                        target.endpoint = Endpoint::from_owned(url);
                    }
                    Ok(target)
                },
            );
            Client::builder()
                .with_service_target_resolver(resolver)
                .build()
                .map_err(|e| e.to_string())
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Asks `model`; the answer is read piece by piece. Dropping the reply ends the request.
    pub async fn ask(&self, model: &str, request: &Request) -> Result<Reply, ModelError> {
        let kind = provider_of(model)?;
        self.key(kind)?;
        let messages = request
            .messages
            .iter()
            .enumerate()
            .map(|(index, message)| {
                chat_message(message).map_err(|cause| ModelError::BadMessage {
                    position: index + 1,
                    cause,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut options = ChatOptions::default().with_capture_usage(true);
        if let Some(temperature) = request.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(max_tokens) = request.max_tokens {
            options = options.with_max_tokens(max_tokens);
        }
        if let Some(schema) = &request.output {
            options = options.with_response_format(JsonSpec::new("answer", schema.clone()));
        }
        let client = self.client().map_err(|cause| ModelError::Failed {
            model: model.to_owned(),
            cause,
        })?;
        let secret = kind.default_key_env_name().and_then(|name| self.variable(name));
        let failed = |e: genai::Error| classify(model, kind, secret.as_deref(), &e);
        let response = client
            .exec_chat_stream(model, ChatRequest::new(messages), Some(&options))
            .await
            .map_err(failed)?;
        Ok(Reply {
            model: model.to_owned(),
            kind,
            secret,
            stream: response.stream,
            answer: Answer::default(),
        })
    }
}

/// An answer on its way.
pub struct Reply {
    model: String,
    kind: AdapterKind,
    secret: Option<String>,
    stream: ChatStream,
    answer: Answer,
}

impl Reply {
    /// The next piece of text; `None` when the answer is complete.
    pub async fn next(&mut self) -> Result<Option<String>, ModelError> {
        while let Some(event) = self.stream.next().await {
            match event.map_err(|e| classify(&self.model, self.kind, self.secret.as_deref(), &e))? {
                ChatStreamEvent::Chunk(chunk) => {
                    self.answer.text.push_str(&chunk.content);
                    return Ok(Some(chunk.content));
                }
                ChatStreamEvent::End(end) => {
                    self.answer.usage = end.captured_usage.map(|usage| {
                        let (input, output) = (usage.prompt_tokens.unwrap_or(0), usage.completion_tokens.unwrap_or(0));
                        let total = usage.total_tokens.unwrap_or(input + output);
                        serde_json::json!({"input_tokens": input, "output_tokens": output, "total_tokens": total})
                    });
                    self.answer.stop = end.captured_stop_reason.map(|reason| format!("{reason:?}"));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Everything that came.
    pub fn into_answer(self) -> Answer {
        self.answer
    }
}

fn chat_message(message: &Value) -> Result<ChatMessage, String> {
    let role = message
        .get("type")
        .or_else(|| message.get("role"))
        .and_then(Value::as_str)
        .unwrap_or("human");
    let text = match message {
        Value::String(text) => text.to_string(),
        message => content_text(message.get("content"))?,
    };
    match role {
        "human" | "user" => Ok(ChatMessage::user(text)),
        "ai" | "assistant" | "AIMessageChunk" => Ok(ChatMessage::assistant(text)),
        "system" | "developer" => Ok(ChatMessage::system(text)),
        other => Err(format!(
            "messages of type `{other}` are not supported; send human, ai and system messages"
        )),
    }
}

/// The text of a message's content: text, or a list with text parts.
pub(crate) fn content_text(content: Option<&Value>) -> Result<String, String> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Array(parts)) => parts
            .iter()
            .map(
                |part| match (part.as_str(), part.get("text").and_then(Value::as_str)) {
                    (Some(text), _) | (None, Some(text)) => Ok(text.to_owned()),
                    _ => Err("it has a part that is not text".to_owned()),
                },
            )
            .collect(),
        Some(other) => Err(format!("its content is of type {}", other.type_name())),
    }
}

fn classify(model: &str, kind: AdapterKind, secret: Option<&str>, error: &genai::Error) -> ModelError {
    let model = model.to_owned();
    // Some servers repeat what they were sent.
    let cause = match secret {
        Some(secret) => said(error).replace(secret, "…"),
        None => said(error),
    };
    match error {
        genai::Error::RequiresApiKey { .. }
        | genai::Error::NoAuthData { .. }
        | genai::Error::NoAuthResolver { .. } => ModelError::MissingKey {
            provider: kind.as_str().into(),
            variable: variable_of(kind),
        },
        genai::Error::Resolver {
            resolver_error: genai::resolver::Error::ApiKeyEnvNotFound { env_name },
            ..
        } => ModelError::MissingKey {
            provider: kind.as_str().into(),
            variable: env_name.clone(),
        },
        error => match error
            .status()
            .map(|status| status.as_u16())
            .or_else(|| status_in_stream(error))
        {
            Some(401 | 403) => ModelError::Refused {
                model,
                variable: variable_of(kind),
                cause,
            },
            Some(402 | 429 | 503 | 529) => ModelError::Busy { model, cause },
            Some(404) => ModelError::NoSuchModel { model, cause },
            Some(_) => ModelError::Failed { model, cause },
            None => match error {
                genai::Error::WebModelCall {
                    webc_error: genai::webc::Error::Reqwest(_),
                    ..
                }
                | genai::Error::WebAdapterCall {
                    webc_error: genai::webc::Error::Reqwest(_),
                    ..
                }
                | genai::Error::WebStream { .. } => ModelError::Unreachable { model, cause },
                _ => ModelError::Failed { model, cause },
            },
        },
    }
}

fn variable_of(kind: AdapterKind) -> String {
    kind.default_key_env_name()
        .unwrap_or("of the provider's key")
        .to_owned()
}

/// A failed status of a streaming request arrives as the cause of a stream error.
fn status_in_stream(error: &genai::Error) -> Option<u16> {
    let genai::Error::WebStream { error, .. } = error else {
        return None;
    };
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
    while let Some(current) = source {
        if let Some(genai::Error::HttpError { status, .. }) = current.downcast_ref() {
            return Some(status.as_u16());
        }
        if let Some(status) = current
            .downcast_ref::<genai::webc::Error>()
            .and_then(genai::webc::Error::status)
        {
            return Some(status.as_u16());
        }
        source = current.source();
    }
    None
}

/// What the provider said, without headers and without the request.
fn said(error: &genai::Error) -> String {
    let text = match error {
        genai::Error::HttpError { body, status, .. } => body_text(body).unwrap_or_else(|| status.to_string()),
        genai::Error::WebModelCall {
            webc_error: genai::webc::Error::ResponseFailedStatus { body, status, .. },
            ..
        } => body_text(body).unwrap_or_else(|| status.to_string()),
        genai::Error::WebStream { cause, error, .. } => {
            let inner = error.downcast_ref::<genai::Error>().map(said);
            inner.unwrap_or_else(|| innermost(error.as_ref()).unwrap_or_else(|| cause.clone()))
        }
        genai::Error::ChatResponse { body, .. } => {
            body_text(&body.to_string()).unwrap_or_else(|| body.to_string())
        }
        other => innermost(other).unwrap_or_else(|| other.to_string()),
    };
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches('.');
    if text.chars().count() > 500 {
        text.chars().take(500).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut current = error.source()?;
    while let Some(next) = current.source() {
        current = next;
    }
    Some(current.to_string())
}

/// `{"error": {"message": …}}` and its relatives; other bodies as they are.
fn body_text(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return None;
    }
    let json: Option<Json> = serde_json::from_str(body).ok();
    let message = json.as_ref().and_then(|json| {
        json.pointer("/error/message")
            .or_else(|| json.get("message"))
            .or_else(|| json.get("error"))
            .and_then(Json::as_str)
    });
    Some(message.map_or_else(|| body.to_owned(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_understood() {
        assert_eq!(provider_of("openai::gpt-4o-mini"), Ok(AdapterKind::OpenAI));
        assert_eq!(provider_of("ollama::llama3.2"), Ok(AdapterKind::Ollama));
        for (wrong, part) in [
            ("opnai::gpt-4o", "Did you mean `openai`?"),
            ("scriptd", "Did you mean `scripted`?"),
            ("gpt-4o-mini", "Did you mean `openai::gpt-4o-mini`?"),
            (
                "claude-sonnet-4-5",
                "Did you mean `anthropic::claude-sonnet-4-5`?",
            ),
            ("openai::", "PROVIDER::NAME"),
            ("", "PROVIDER::NAME"),
        ] {
            let text = provider_of(wrong).unwrap_err().to_string();
            assert!(text.contains(part), "{wrong}: {text}");
        }
    }

    #[tokio::test]
    async fn a_missing_key_names_its_variable() {
        let providers = Providers::new(Arc::new(|_| None));
        for (model, variable) in [
            ("openai::gpt-4o-mini", "OPENAI_API_KEY"),
            ("anthropic::claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ] {
            let error = providers.ask(model, &Request::default()).await.err().unwrap();
            assert!(
                matches!(&error, ModelError::MissingKey { variable: v, .. } if v == variable),
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

    #[test]
    fn message_contents() {
        let parts = superstep::json!({"type": "human", "content": [{"type": "text", "text": "a"}, "b"]});
        assert_eq!(content_text(parts.get("content")).unwrap(), "ab");
        assert!(content_text(Some(&superstep::json!([{"type": "image"}]))).is_err());
        assert!(
            chat_message(&superstep::json!({"type": "tool", "content": "x"}))
                .unwrap_err()
                .contains("`tool`")
        );
    }
}
