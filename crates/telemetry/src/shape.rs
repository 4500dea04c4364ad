//! What leaves the process: the engine's fields under names of their own, failures as a span's status, and no content.

use std::time::Duration;

use opentelemetry::trace::Status;
use opentelemetry::{Array, Context, KeyValue, Value};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use superstep::observe::CONTENT_FIELDS;

/// Layer that gives spans their outer form and passes them on.
#[derive(Debug)]
pub(crate) struct Shape<P> {
    pub(crate) next: P,
    /// May inputs and outputs leave?
    pub(crate) content: bool,
}

/// Attribute that is a list in the conventions; fields of spans are none.
const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";

/// Returns whether a field has its name from OpenTelemetry's conventions, which every viewer knows.
fn is_convention(name: &str) -> bool {
    name.starts_with("gen_ai.") || name.starts_with("server.") || name == "error.type"
}

impl<P> Shape<P> {
    fn shape(&self, span: &mut SpanData) {
        if !self.content {
            let is_content = |field: &KeyValue| CONTENT_FIELDS.contains(&field.key.as_str());
            span.attributes.retain(|field| !is_content(field));
        }
        let text = |key: &str| {
            let field = span.attributes.iter().find(|field| field.key.as_str() == key)?;
            match &field.value {
                Value::String(text) => Some(text.as_str().to_owned()),
                _ => None,
            }
        };
        if text("outcome").as_deref() == Some("failed") {
            span.status = Status::error(text("error").unwrap_or_default());
        }
        for field in &mut span.attributes {
            if !is_convention(field.key.as_str()) {
                field.key = format!("superstep.{}", field.key).into();
            } else if let (FINISH_REASONS, Value::String(reason)) = (field.key.as_str(), &field.value) {
                // One for each answer, and one answer is asked for.
                field.value = Value::Array(Array::String(vec![reason.clone()]));
            }
        }
    }
}

impl<P: SpanProcessor> SpanProcessor for Shape<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.next.on_start(span, context);
    }
    fn on_end(&self, mut span: SpanData) {
        self.shape(&mut span);
        self.next.on_end(span);
    }
    fn force_flush(&self) -> OTelSdkResult {
        self.next.force_flush()
    }
    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.next.shutdown_with_timeout(timeout)
    }
    fn set_resource(&mut self, resource: &opentelemetry_sdk::Resource) {
        self.next.set_resource(resource);
    }
}
