//! Sends the spans of runs to an OpenTelemetry collector, as OTLP over HTTP with protobuf.
//!
//! The engine only makes `tracing` spans and knows nothing of this; a host that wants to export them adds
//! [`Telemetry::layer`] to its subscriber. Nothing is sent unless an endpoint was named, nothing but the engine's spans is sent
//! ever, and what users put into a graph and get out of it only when asked for by [`Options::content`].
#![deny(missing_docs)]

mod client;
mod options;
mod shape;

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider};
use superstep::observe;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

pub use options::Options;

/// Why spans cannot be exported, or were not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that cannot be used.
    #[error("{name}={value} cannot be used: {why}")]
    Setting {
        /// The variable or option.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// The exporter could not be built.
    #[error("traces cannot be sent: {0}")]
    Start(String),
    /// Spans were lost on their way.
    #[error("traces were not delivered to {endpoint}: {why}. Is a collector listening there?")]
    Delivery {
        /// Where they were to go.
        endpoint: String,
        /// What happened.
        why: String,
    },
}

/// An exporter at work. Call [`Telemetry::finish`] before the program ends, or the newest spans are lost.
#[derive(Debug)]
pub struct Telemetry {
    provider: SdkTracerProvider,
    client: client::Client,
    endpoint: String,
}

impl Telemetry {
    /// Starts an exporter. It has threads of its own and needs no runtime of the host.
    pub fn start(options: Options) -> Result<Self, Error> {
        let broken = |error: &dyn std::fmt::Display| Error::Start(error.to_string());
        let client = client::Client::new(options.timeout).map_err(|error| broken(&error))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_endpoint(&options.endpoint)
            .with_timeout(options.timeout)
            .with_headers(options.headers.into_iter().collect())
            // A command that has done its work does not wait for a collector that is not there.
            .with_retry_policy(
                RetryPolicy::recommended()
                    .with_max_retries(1)
                    .with_max_delay(Duration::from_millis(500)),
            )
            .build()
            .map_err(|error| broken(&error))?;
        let mut resource = Resource::builder();
        if let Some(name) = options.service_name {
            resource = resource.with_service_name(name);
        }
        let processor = shape::Shape {
            next: BatchSpanProcessor::builder(exporter).build(),
            content: options.content,
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_span_processor(processor)
            .build();
        Ok(Self {
            provider,
            client,
            endpoint: options.endpoint,
        })
    }

    /// Sees the engine's spans and nothing else.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("superstep"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_filter(filter_fn(|metadata| {
                metadata.is_span() && metadata.target() == observe::TARGET
            }))
    }

    /// Sends what is left and stops; waits for it, and says what could not be delivered.
    pub fn finish(self) -> Result<(), Error> {
        let sent = self.provider.force_flush();
        let stopped = self.provider.shutdown_with_timeout(Duration::from_secs(2));
        let failed = self.client.failure();
        self.client.stop();
        match failed {
            Some(why) => Err(why),
            None => sent.and(stopped).map_err(|error| error.to_string()),
        }
        .map_err(|why| Error::Delivery {
            endpoint: self.endpoint,
            why,
        })
    }
}
