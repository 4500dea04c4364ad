//! Spans of calls of models, with the attributes of OpenTelemetry's conventions for generative AI. Prompts and answers
//! are not among them.

use std::time::Instant;

use genai::adapter::AdapterKind;
use superstep::observe;
use tracing::Span;
use tracing::field::{Empty, display};

use super::answer::{ModelAnswer, TokenUsage};
use super::error::ModelError;
use super::request::ModelRequest;
use crate::base::secrets;

/// A request that is about to be sent.
pub(super) struct CalledModel<'a> {
    pub(super) kind: AdapterKind,
    /// The address of the server.
    pub(super) base_url: &'a str,
    /// The model, as its server calls it.
    pub(super) model: &'a str,
}

/// Span of one call; it ends when this is dropped, and is `cancelled` when nobody waited for the answer.
pub(super) struct CallSpan {
    span: Span,
    began: Instant,
    has_begun: bool,
    outcome: &'static str,
}

impl CallSpan {
    /// Begins the span of a conversation, inside of the attempt that asks.
    pub(super) fn chat(called: &CalledModel<'_>, request: &ModelRequest) -> Self {
        let thread = request.watch.as_ref().and_then(|watch| watch.thread());
        let span = Self::begin("chat", called);
        span.optional("gen_ai.conversation.id", thread.map(display));
        span.optional("gen_ai.request.temperature", request.temperature);
        span.optional("gen_ai.request.max_tokens", request.max_tokens);
        span.optional("gen_ai.request.stream", Some(true));
        span.optional("gen_ai.output.type", request.output.as_ref().map(|_| "json"));
        span
    }

    /// Begins the span of a request for vectors.
    pub(super) fn embeddings(called: &CalledModel<'_>) -> Self {
        Self::begin("embeddings", called)
    }

    fn begin(operation: &'static str, called: &CalledModel<'_>) -> Self {
        let server = reqwest::Url::parse(called.base_url).ok();
        let host = server.as_ref().and_then(|url| url.host_str());
        let span = tracing::debug_span!(
            target: observe::TARGET,
            "model",
            otel.name = %format_args!("{operation} {}", called.model),
            otel.kind = "client",
            gen_ai.operation.name = operation,
            gen_ai.provider.name = provider_name(called.kind, host),
            gen_ai.request.model = called.model,
            gen_ai.request.temperature = Empty,
            gen_ai.request.max_tokens = Empty,
            gen_ai.request.stream = Empty,
            gen_ai.output.type = Empty,
            gen_ai.conversation.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.response.time_to_first_chunk = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_creation.input_tokens = Empty,
            gen_ai.usage.reasoning.output_tokens = Empty,
            server.address = host,
            server.port = server.as_ref().and_then(|url| url.port_or_known_default()),
            "error.type" = Empty,
            outcome = Empty,
            error = Empty,
        );
        Self {
            span,
            began: Instant::now(),
            has_begun: false,
            outcome: "cancelled",
        }
    }

    fn optional(&self, field: &'static str, value: Option<impl tracing::Value>) {
        if let Some(value) = value {
            self.span.record(field, value);
        }
    }

    /// Records that a piece of the answer is there.
    pub(super) fn piece(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let seconds = self.began.elapsed().as_secs_f64();
            self.span.record("gen_ai.response.time_to_first_chunk", seconds);
        }
    }

    /// Records that the answer is complete.
    pub(super) fn done(&mut self, answer: &ModelAnswer) {
        self.optional("gen_ai.response.model", answer.model.as_deref());
        self.optional("gen_ai.response.finish_reasons", answer.stop.as_deref());
        self.counted(answer.usage.as_ref());
    }

    /// Records that the request was answered, with its tokens.
    pub(super) fn counted(&mut self, usage: Option<&TokenUsage>) {
        self.outcome = "done";
        let Some(usage) = usage else { return };
        self.span
            .record("gen_ai.usage.input_tokens", usage.input)
            .record("gen_ai.usage.output_tokens", usage.output);
        let details = [
            ("gen_ai.usage.cache_read.input_tokens", usage.cached),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cache_written),
            ("gen_ai.usage.reasoning.output_tokens", usage.reasoning),
        ];
        for (field, tokens) in details {
            self.optional(field, (tokens > 0).then_some(tokens));
        }
    }

    /// Records why there is no answer.
    pub(super) fn failed(&mut self, error: &ModelError) {
        self.outcome = "failed";
        if !self.span.is_disabled() {
            let text = error.to_string();
            self.span
                .record("error.type", error.class())
                .record("error", &*secrets::redact(&text));
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        self.span.record("outcome", self.outcome);
    }
}

/// Returns the name of a provider in the conventions; those that they do not list keep their own.
fn provider_name(kind: AdapterKind, host: Option<&str>) -> &'static str {
    match kind {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp
            if host.is_some_and(|host| host.ends_with(".openai.azure.com")) =>
        {
            "azure.ai.openai"
        }
        AdapterKind::OpenAIResp => "openai",
        AdapterKind::Gemini | AdapterKind::GeminiIx => "gcp.gemini",
        AdapterKind::Vertex => "gcp.vertex_ai",
        AdapterKind::BedrockApi => "aws.bedrock",
        AdapterKind::Mistral => "mistral_ai",
        AdapterKind::Xai => "x_ai",
        AdapterKind::Moonshot | AdapterKind::Kimi => "moonshot_ai",
        other => other.as_lower_str(),
    }
}

/// Returns the provider and the model of a name such as `openai::gpt-4o-mini`, as spans of calls name them; of a
/// connection its own name. `None` where no server is asked.
pub fn observed_model(name: &str) -> Option<(&str, &str)> {
    let (prefix, model) = name.split_once("::")?;
    let provider = AdapterKind::from_lower_str(prefix).map(|kind| provider_name(kind, None));
    Some((provider.unwrap_or(prefix), model))
}
