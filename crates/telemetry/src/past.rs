//! Work that is over, sent afterwards: with the times at which it was done.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::SystemTime;

use opentelemetry::trace::{Span, SpanKind, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue, Value};

use crate::Telemetry;
use crate::error::Error;

/// Number of spans that are handed to the exporter at once: its queue holds 2,048 and drops what does not fit.
const AT_ONCE: usize = 1_000;

/// A span of work that is over.
#[derive(Clone, Debug)]
pub struct PastSpan {
    /// A name that is its own among those that are sent together.
    pub id: String,
    /// The one around it, which comes before it; a span without one is a trace of its own.
    pub parent: Option<String>,
    /// What it is: run, step, task, attempt, or a call of a model.
    pub name: Cow<'static, str>,
    /// When it began.
    pub from: SystemTime,
    /// When it ended.
    pub to: SystemTime,
    /// It is a request to another program.
    pub is_request: bool,
    /// Its fields. An `outcome` that is `failed` makes it a failure, with the field `error`.
    pub fields: Vec<(&'static str, Value)>,
}

impl Telemetry {
    /// Sends spans of work that is over. Blocks until they have been delivered.
    pub fn send(&self, spans: &[PastSpan]) -> Result<(), Error> {
        let Some(traces) = &self.traces else {
            return Ok(());
        };
        let tracer = traces.provider.tracer("superstep");
        let mut around: HashMap<&str, Context> = HashMap::new();
        let mut flushed = Ok(());
        for batch in spans.chunks(AT_ONCE) {
            for span in batch {
                let parent = span.parent.as_deref().and_then(|parent| around.get(parent));
                let fields = span.fields.iter();
                let mut made = tracer
                    .span_builder(span.name.clone())
                    .with_start_time(span.from)
                    .with_kind(match span.is_request {
                        true => SpanKind::Client,
                        false => SpanKind::Internal,
                    })
                    .with_attributes(fields.map(|(name, value)| KeyValue::new(*name, value.clone())))
                    .start_with_context(&tracer, parent.unwrap_or(&Context::new()));
                let place = made.span_context().clone();
                around.insert(&span.id, Context::new().with_remote_span_context(place));
                made.end_with_timestamp(span.to);
            }
            flushed = flushed.and(traces.provider.force_flush());
        }
        traces.delivered("traces", flushed)
    }
}
