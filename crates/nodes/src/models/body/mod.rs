//! Requests to models in the four protocols that are read here: where they go, what they say, and the key.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ReasoningEffort};
use serde_json::{Map, Value as Json};

use super::request::{ModelRequest, Reasoning};
use super::wire::WireForm;

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WireRequest {
    pub(super) url: String,
    /// Headers, the key among them.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Json,
}

/// A model and its server.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireTarget<'a> {
    pub(super) kind: AdapterKind,
    /// Where the server is, with a slash at the end.
    pub(super) base_url: &'a str,
    /// The model, as its server calls it.
    pub(super) model: &'a str,
    pub(super) key: &'a str,
}

impl WireRequest {
    /// Creates the request; otherwise returns what is wrong with the address.
    pub(super) fn new(
        form: WireForm,
        target: WireTarget<'_>,
        messages: Vec<ChatMessage>,
        request: &ModelRequest,
    ) -> Result<Self, String> {
        Ok(match form {
            WireForm::OpenAi => openai::request(target, messages, request)?,
            WireForm::Anthropic => anthropic::request(target, messages, request),
            WireForm::Gemini => gemini::request(target, messages, request),
            WireForm::Ollama => ollama::request(target, messages, request),
        })
    }
}

/// Returns how much a request wants thought.
pub(super) fn effort(reasoning: Reasoning) -> ReasoningEffort {
    match reasoning {
        Reasoning::None => ReasoningEffort::Zero,
        Reasoning::Minimal => ReasoningEffort::Minimal,
        Reasoning::Low => ReasoningEffort::Low,
        Reasoning::Medium => ReasoningEffort::Medium,
        Reasoning::High => ReasoningEffort::High,
    }
}

/// Returns how much is thought, and the model's name without the ending that says it too.
fn effort_and_name<'a>(request: &ModelRequest, model: &'a str) -> (Option<ReasoningEffort>, &'a str) {
    match request.reasoning {
        Some(reasoning) => (Some(effort(reasoning)), model),
        None => ReasoningEffort::from_model_name(model),
    }
}

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(fields) => fields,
        _ => Map::new(),
    }
}
