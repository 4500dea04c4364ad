//! Why a model gave no answer, in words that say what to do.

use std::fmt;
use std::time::{Duration, SystemTime};

use genai::adapter::AdapterKind;
use serde_json::Value as Json;
use superstep::NodeError;

use crate::base::access::AccessDenied;
use crate::base::error_class;
use crate::base::json::read_json;
use crate::base::secrets;
use superstep_document::{Text, text};

/// Place where a key is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In this environment variable.
    Variable(String),
    /// In the system's keychain, for this connection.
    Keychain(String),
}

/// Reason why a model gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelError {
    /// The graph may not ask it.
    AccessDenied(AccessDenied),
    /// The setting `model` names no provider and no connection.
    UnknownProvider {
        /// What it says.
        model: String,
        /// "Did you mean …", or empty.
        hint: Text,
    },
    /// The file with connections and prices, or an entry of it, cannot be used.
    BadSettings {
        /// What is wrong, where, and what to do.
        cause: String,
    },
    /// There is no key.
    MissingKey {
        /// Provider or connection.
        provider: String,
        /// Where it would be.
        place: KeyPlace,
    },
    /// The provider refused the key.
    Refused {
        /// Model.
        model: String,
        /// Where the key is.
        place: KeyPlace,
        /// What it said.
        cause: String,
        /// The HTTP status of its answer.
        status: u16,
    },
    /// Too many requests, or no credit.
    Busy {
        /// Model.
        model: String,
        /// What it said.
        cause: String,
        /// How long to wait, when it said so.
        wait: Option<Duration>,
        /// The HTTP status of its answer.
        status: Option<u16>,
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
    /// It took too long.
    Timeout {
        /// Model.
        model: String,
        /// How long it had.
        limit: Duration,
    },
    /// The request itself is wrong: it will be refused each time.
    BadRequest {
        /// Model.
        model: String,
        /// What the provider said.
        cause: String,
        /// The HTTP status of its answer.
        status: u16,
    },
    /// Anything else it answered.
    Failed {
        /// Model.
        model: String,
        /// What it said.
        cause: String,
        /// How long to wait, when it said so.
        wait: Option<Duration>,
        /// The HTTP status of its answer.
        status: Option<u16>,
    },
    /// A message that cannot be sent.
    BadMessage {
        /// Which, counted from one.
        position: usize,
        /// Why.
        cause: String,
    },
    /// A picture that cannot be sent.
    BadPicture {
        /// As the setting names it.
        name: String,
        /// Why.
        cause: String,
    },
    /// There is no recorded answer, or the recording cannot be read or written.
    Recording {
        /// What is wrong and what to do.
        cause: String,
    },
    /// The answer ended in the middle of a call, which therefore does not run.
    CutAnswer {
        /// Model.
        model: String,
        /// The tool that it was about to call.
        tool: String,
        /// Why it stopped, in the provider's word.
        stop: Option<String>,
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
    /// Returns the error class, for retry policies and readers.
    pub fn class(&self) -> &'static str {
        match self {
            ModelError::AccessDenied(_) => AccessDenied::CLASS,
            ModelError::UnknownProvider { .. }
            | ModelError::BadSettings { .. }
            | ModelError::MissingKey { .. } => error_class::MODEL_SETUP,
            ModelError::Refused { .. } => error_class::MODEL_AUTH,
            ModelError::Busy { .. } => "ModelBusyError",
            ModelError::NoSuchModel { .. } => error_class::MODEL_NOT_FOUND,
            ModelError::Unreachable { .. } => "ModelConnectionError",
            ModelError::Timeout { .. } => "ModelTimeoutError",
            ModelError::BadRequest { .. } | ModelError::BadMessage { .. } | ModelError::BadPicture { .. } => {
                error_class::MODEL_INPUT
            }
            ModelError::Recording { .. } => error_class::MODEL_RECORDING,
            ModelError::Failed { .. } => "ModelError",
            ModelError::CutAnswer { .. } => "ModelCutError",
            ModelError::BadOutput { .. } => "ModelOutputError",
        }
    }

    /// Returns what is wrong, without what to do where [`ModelError::remedy`] covers that.
    pub fn message(&self) -> Text {
        match self {
            ModelError::UnknownProvider { model, hint } => text!(
                "`{model}` names no model provider and no connection.{hint}",
                model,
                hint
            ),
            error => error.to_string().into(),
        }
    }

    /// Returns what to do, for errors whose message does not include it.
    pub fn remedy(&self) -> Option<Text> {
        matches!(self, ModelError::UnknownProvider { .. }).then_some(text!(
            "Write `scripted`, or PROVIDER::NAME such as `openai::gpt-4o-mini`, `anthropic::claude-sonnet-4-5` or `ollama::llama3.2`, or CONNECTION::NAME with a connection from the file of model settings."
        ))
    }

    /// Returns how long the provider asks to wait before the next request.
    pub fn wait(&self) -> Option<Duration> {
        match self {
            ModelError::Busy { wait, .. } | ModelError::Failed { wait, .. } => *wait,
            _ => None,
        }
    }

    /// Returns the HTTP status of the answer that is the failure.
    pub fn status(&self) -> Option<u16> {
        match self {
            ModelError::Refused { status, .. } | ModelError::BadRequest { status, .. } => Some(*status),
            ModelError::NoSuchModel { .. } => Some(404),
            ModelError::Busy { status, .. } | ModelError::Failed { status, .. } => *status,
            _ => None,
        }
    }

    /// Converts the error to the failure of node `name`; retry policies keep to the wait that the provider asked for.
    pub fn of_node(&self, name: &str) -> NodeError {
        let error = NodeError::new(self.class(), format!("node {name}: {self}")).retry_after(self.wait());
        match self.status() {
            Some(status) => error.status(status),
            None => error,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = |wait: &Option<Duration>| match wait {
            Some(wait) => format!(" It asks to wait {} s.", wait.as_secs_f64().ceil()),
            None => String::new(),
        };
        match self {
            ModelError::AccessDenied(denied) => denied.fmt(f),
            ModelError::UnknownProvider { .. } => {
                write!(f, "{} {}", self.message(), self.remedy().unwrap_or_default())
            }
            ModelError::BadSettings { cause } => f.write_str(cause),
            ModelError::MissingKey { provider, place } => {
                let remedy = match place {
                    KeyPlace::Variable(variable) => {
                        format!("Set the environment variable {variable} and start Superstep again")
                    }
                    KeyPlace::Keychain(_) => "Give its key in Settings under Model connections".to_owned(),
                };
                write!(
                    f,
                    "{provider} needs a key and there is none. {remedy}, or choose the model `scripted`."
                )
            }
            ModelError::Refused {
                model, place, cause, ..
            } => {
                let check = match place {
                    KeyPlace::Variable(variable) => format!("Check the environment variable {variable}"),
                    KeyPlace::Keychain(connection) => {
                        format!("Check the key of `{connection}` in Settings under Model connections")
                    }
                };
                write!(f, "the key for {model} was refused: {cause}. {check}.")
            }
            ModelError::Busy {
                model, cause, wait, ..
            } => write!(
                f,
                "{model} takes no more requests for now: {cause}.{} Wait, or check the account's limits.",
                asked(wait)
            ),
            ModelError::NoSuchModel { model, cause } => write!(
                f,
                "{model} was not found: {cause}. Check the model's name in the node's settings."
            ),
            ModelError::Unreachable { model, cause } => write!(
                f,
                "{model} could not be reached: {cause}. Check the network and the address."
            ),
            ModelError::Timeout { model, limit } => write!(
                f,
                "{model} gave no whole answer within {} s. Try again, or raise `timeout_s` in the node's settings.",
                limit.as_secs_f64()
            ),
            ModelError::BadRequest { model, cause, .. } => write!(
                f,
                "{model} does not take the request: {cause}. Check the node's settings and the messages."
            ),
            ModelError::Failed {
                model, cause, wait, ..
            } => {
                write!(f, "{model} failed: {cause}.{}", asked(wait))
            }
            ModelError::BadMessage { position, cause } => {
                write!(f, "message {position} cannot be sent to a model: {cause}.")
            }
            ModelError::BadPicture { name, cause } => {
                write!(f, "the picture {name:?} cannot be sent to a model: {cause}.")
            }
            ModelError::Recording { cause } => f.write_str(cause),
            ModelError::CutAnswer { model, tool, stop } => f.write_str(&cut(model, tool, stop.as_deref())),
            ModelError::BadOutput { cause, answer } => write!(
                f,
                "the answer is not the JSON that was asked for: {cause}. The answer was: {answer}. Say in the prompt what is wanted, or relax the schema."
            ),
        }
    }
}

/// Says that an answer was cut.
fn cut(model: &str, tool: &str, stop: Option<&str>) -> String {
    let why = match stop {
        Some(stop) => format!("it stopped with `{stop}`"),
        None => "it did not say why it stopped".to_owned(),
    };
    format!(
        "the answer of {model} was cut in the middle of a call of `{tool}` ({why}), so no tool was called. Raise `max_tokens` in the node's settings, or ask for less in one answer."
    )
}

impl std::error::Error for ModelError {}

/// Recipient of a request, as far as errors name it.
#[derive(Clone, Debug)]
pub(super) struct RequestTarget {
    /// The model as the graph names it.
    pub(super) model: String,
    /// Provider, or connection.
    pub(super) provider: String,
    /// Where its key is.
    pub(super) key: KeyPlace,
}

impl RequestTarget {
    pub(super) fn failed(&self, cause: impl Into<String>) -> ModelError {
        ModelError::Failed {
            model: self.model.clone(),
            cause: cause.into(),
            wait: None,
            status: None,
        }
    }

    /// Classifies an error of the provider layer.
    pub(super) fn classify(&self, error: &genai::Error) -> ModelError {
        let model = self.model.clone();
        // Some servers repeat what they were sent.
        let cause = secrets::redact(&provider_message(error)).into_owned();
        let missing = |place: KeyPlace| ModelError::MissingKey {
            provider: self.provider.clone(),
            place,
        };
        match error {
            genai::Error::RequiresApiKey { .. }
            | genai::Error::NoAuthData { .. }
            | genai::Error::NoAuthResolver { .. } => return missing(self.key.clone()),
            genai::Error::Resolver {
                resolver_error: genai::resolver::Error::ApiKeyEnvNotFound { env_name },
                ..
            } => return missing(KeyPlace::Variable(env_name.clone())),
            _ => {}
        }
        if let Some(refusal) = Refusal::of(error) {
            return self.refused(&refusal, cause);
        }
        match error {
            genai::Error::WebModelCall {
                webc_error: genai::webc::Error::Reqwest(_),
                ..
            }
            | genai::Error::WebAdapterCall {
                webc_error: genai::webc::Error::Reqwest(_),
                ..
            }
            | genai::Error::WebStream { .. } => ModelError::Unreachable { model, cause },
            _ => self.failed(cause),
        }
    }

    /// Classifies an answer with a status that is no success.
    pub(super) fn refusal<'a>(
        &self,
        status: reqwest::StatusCode,
        header: impl Fn(&str) -> Option<&'a str>,
        body: &str,
    ) -> ModelError {
        let text = body_text(body).unwrap_or_else(|| status.to_string());
        let cause = secrets::redact(&one_line(&text)).into_owned();
        self.refused(&Refusal::new(status.as_u16(), header, body), cause)
    }

    /// Classifies a failure in the middle of a stream that began well.
    pub(super) fn failure(&self, body: &Json) -> ModelError {
        let text = body.to_string();
        let text = body
            .as_str()
            .map_or_else(|| body_text(&text).unwrap_or(text.clone()), str::to_owned);
        let cause = secrets::redact(&one_line(&text)).into_owned();
        match Refusal::in_stream(body) {
            Some(refusal) => self.refused(&refusal, cause),
            None => self.failed(cause),
        }
    }

    /// Classifies a connection that failed.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let cause = innermost(error).unwrap_or_else(|| error.to_string());
        ModelError::Unreachable {
            model: self.model.clone(),
            cause: secrets::redact(&one_line(&cause)).into_owned(),
        }
    }

    fn refused(&self, refusal: &Refusal, cause: String) -> ModelError {
        let model = self.model.clone();
        let Refusal { status, wait } = *refusal;
        match status {
            401 | 403 => ModelError::Refused {
                model,
                place: self.key.clone(),
                cause,
                status,
            },
            402 | 429 | 503 | 529 => ModelError::Busy {
                model,
                cause,
                wait,
                status: Some(status),
            },
            404 => ModelError::NoSuchModel { model, cause },
            400 | 405 | 413 | 415 | 422 => ModelError::BadRequest { model, cause, status },
            _ => ModelError::Failed {
                model,
                cause,
                wait,
                status: Some(status),
            },
        }
    }
}

/// Returns the name of the variable that holds a provider's key.
pub(super) fn variable_of(kind: AdapterKind) -> String {
    kind.default_key_env_name()
        .unwrap_or("of the provider's key")
        .to_owned()
}

/// A refused request: its status, and how long to wait before the next.
struct Refusal {
    status: u16,
    wait: Option<Duration>,
}

impl Refusal {
    /// Returns the refusal inside an error. That of a streaming request arrives as the cause of a stream error.
    fn of(error: &genai::Error) -> Option<Self> {
        if let Some(found) = Self::here(error) {
            return Some(found);
        }
        let genai::Error::WebStream { error, .. } = error else {
            return None;
        };
        let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
        while let Some(current) = source {
            if let Some(found) = current.downcast_ref().and_then(Self::here) {
                return Some(found);
            }
            if let Some(found) = current.downcast_ref().and_then(Self::of_call) {
                return Some(found);
            }
            source = current.source();
        }
        None
    }

    fn here(error: &genai::Error) -> Option<Self> {
        match error {
            genai::Error::HttpError {
                status,
                headers,
                body,
                ..
            } => {
                let header = |name: &str| headers.get(name)?.to_str().ok();
                Some(Self::new(status.as_u16(), header, body))
            }
            genai::Error::WebModelCall { webc_error, .. }
            | genai::Error::WebAdapterCall { webc_error, .. } => Self::of_call(webc_error),
            genai::Error::ChatResponse { body, .. } => Self::in_stream(body),
            error => error.status().map(|status| Self {
                status: status.as_u16(),
                wait: None,
            }),
        }
    }

    /// Returns the refusal inside a stream: some providers fail in the middle of one that began well.
    fn in_stream(body: &Json) -> Option<Self> {
        let code = body.get("code").or_else(|| body.pointer("/error/code"));
        let number = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let status = number
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code))
            .or_else(|| {
                let name = body.pointer("/error/type").or_else(|| body.get("type"))?;
                status_of(name.as_str()?)
            })?;
        Some(Self::new(status, |_| None, &body.to_string()))
    }

    fn of_call(error: &genai::webc::Error) -> Option<Self> {
        let status = error.status()?.as_u16();
        let header = |name: &str| error.headers()?.get(name)?.to_str().ok();
        let body = match error {
            genai::webc::Error::ResponseFailedStatus { body, .. } => body.as_str(),
            _ => "",
        };
        Some(Self::new(status, header, body))
    }

    fn new<'a>(status: u16, header: impl Fn(&str) -> Option<&'a str>, body: &str) -> Self {
        let wait = wait_in_headers(header, SystemTime::now).or_else(|| wait_in_body(body));
        Self { status, wait }
    }
}

/// Returns the status that a failure would have had before the stream began: Anthropic names it.
fn status_of(name: &str) -> Option<u16> {
    Some(match name {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// Reads the wait from `retry-after-ms`, or from `retry-after` with seconds or a date.
pub(crate) fn wait_in_headers<'a>(
    header: impl Fn(&str) -> Option<&'a str>,
    now: impl Fn() -> SystemTime,
) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok();
    let of_seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(wait) = number("retry-after-ms").and_then(|millis| of_seconds(millis / 1000.0)) {
        return Some(wait);
    }
    if let Some(wait) = number("retry-after").and_then(of_seconds) {
        return Some(wait);
    }
    // LiteLLM's proxy passes on the headers of the provider behind it, under names of its own.
    if let Some(wait) = number("llm_provider-retry-after").and_then(of_seconds) {
        return Some(wait);
    }
    let date = httpdate::parse_http_date(header("retry-after")?.trim()).ok()?;
    Some(date.duration_since(now()).unwrap_or_default())
}

/// Reads the wait from the body, where Google puts it: `{"error": {"details": [{"retryDelay": "34s"}]}}`.
fn wait_in_body(body: &str) -> Option<Duration> {
    let json: Json = read_json(body.as_bytes()).ok()?;
    let error = json.get(0).unwrap_or(&json).get("error")?;
    let delay = error
        .get("details")?
        .as_array()?
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the provider's message, without headers and without the request.
fn provider_message(error: &genai::Error) -> String {
    let text = match error {
        genai::Error::HttpError { body, status, .. } => body_text(body).unwrap_or_else(|| status.to_string()),
        genai::Error::WebModelCall {
            webc_error: genai::webc::Error::ResponseFailedStatus { body, status, .. },
            ..
        } => body_text(body).unwrap_or_else(|| status.to_string()),
        genai::Error::WebStream { cause, error, .. } => {
            let inner = error.downcast_ref::<genai::Error>().map(provider_message);
            inner.unwrap_or_else(|| innermost(error.as_ref()).unwrap_or_else(|| cause.clone()))
        }
        genai::Error::ChatResponse { body, .. } => {
            body_text(&body.to_string()).unwrap_or_else(|| body.to_string())
        }
        other => innermost(other).unwrap_or_else(|| other.to_string()),
    };
    one_line(&text)
}

/// Returns a message as one line of a bounded length, without the stop at its end.
fn one_line(text: &str) -> String {
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

/// Extracts the message from `{"error": {"message": …}}` and similar bodies; returns other bodies unchanged.
fn body_text(body: &str) -> Option<String> {
    if body.trim().is_empty() {
        return None;
    }
    let json: Option<Json> = read_json(body.as_bytes()).ok();
    let message = json
        .as_ref()
        .map(|json| json.get(0).unwrap_or(json))
        .and_then(|json| {
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
    fn waits_are_read_wherever_providers_say_them() {
        let now = || SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let wait = |name: &'static str, value: &'static str| {
            wait_in_headers(|asked| (asked == name).then_some(value), now).map(|wait| wait.as_millis())
        };
        assert_eq!(wait("retry-after", "7"), Some(7000));
        assert_eq!(wait("retry-after", "0.5"), Some(500));
        assert_eq!(wait("retry-after-ms", "1500"), Some(1500));
        assert_eq!(wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(7000));
        assert_eq!(
            wait("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"),
            Some(0),
            "that time has passed"
        );
        for nothing in ["", "soon", "-1", "NaN", "1e400"] {
            assert_eq!(wait("retry-after", nothing), None, "{nothing}");
        }
        let google = r#"[{"error": {"code": 429, "details": [{"@type": "x"}, {"retryDelay": "34.5s"}]}}]"#;
        assert_eq!(wait_in_body(google), Some(Duration::from_millis(34_500)));
        assert_eq!(wait_in_body("busy"), None);
    }

    #[test]
    fn an_error_of_several_layers_says_the_innermost_cause() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Layer(&'static str, #[source] Option<Box<Layer>>);
        let layer = |text, inner: Option<Layer>| Layer(text, inner.map(Box::new));
        let error = layer(
            "it failed",
            Some(layer("to send", Some(layer("the line is broken", None)))),
        );
        assert_eq!(innermost(&error).as_deref(), Some("the line is broken"));
        assert_eq!(innermost(&layer("it failed", None)), None);
    }

    #[test]
    fn a_failure_in_the_middle_of_a_stream_has_the_class_of_a_refusal() {
        let asked = RequestTarget {
            model: "anthropic::claude".to_owned(),
            provider: "anthropic".to_owned(),
            key: KeyPlace::Variable("ANTHROPIC_API_KEY".to_owned()),
        };
        for (name, class) in [
            ("overloaded_error", "ModelBusyError"),
            ("rate_limit_error", "ModelBusyError"),
            ("authentication_error", error_class::MODEL_AUTH),
            ("permission_error", error_class::MODEL_AUTH),
            ("not_found_error", error_class::MODEL_NOT_FOUND),
            ("invalid_request_error", error_class::MODEL_INPUT),
            ("request_too_large", error_class::MODEL_INPUT),
            ("api_error", "ModelError"),
        ] {
            let error = genai::Error::ChatResponse {
                model_iden: genai::ModelIden::new(AdapterKind::Anthropic, "claude"),
                body: serde_json::json!({"type": "error", "error": {"type": name, "message": "no"}}),
            };
            assert_eq!(asked.classify(&error).class(), class, "{name}");
        }
    }
}
