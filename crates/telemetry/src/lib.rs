//! Sends the spans of runs and what runs cost to an OpenTelemetry collector, as OTLP over HTTP with protobuf.
//!
//! The engine only makes `tracing` spans and events and knows nothing of this; a host that wants to export them adds
//! [`Telemetry::layer`] to its subscriber. Nothing is sent unless an endpoint was named, nothing but what the engine says of
//! runs is sent ever, and what users put into a graph and get out of it only when asked for by [`Options::content`].
#![deny(missing_docs)]

mod client;
mod costs;
mod error;
mod options;
mod past;
mod shape;

use std::time::Duration;

use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{MetricExporter, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SdkTracerProvider};
use superstep::observe;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

pub use error::Error;
pub use opentelemetry::Value as FieldValue;
pub use options::{Options, Target};
pub use past::PastSpan;

/// An exporter at work. Call [`Telemetry::finish`] before the program ends, or the newest spans and sums are lost.
#[derive(Debug)]
pub struct Telemetry {
    thread: client::Thread,
    traces: Option<Export<SdkTracerProvider>>,
    metrics: Option<Export<SdkMeterProvider>>,
}

/// One signal on its way.
#[derive(Debug)]
struct Export<P> {
    provider: P,
    client: client::Client,
    endpoint: String,
}

impl<P> Export<P> {
    /// Checks that everything was delivered.
    fn delivered(&self, what: &'static str, result: OTelSdkResult) -> Result<(), Error> {
        match self.client.failure() {
            Some(why) => Err(why),
            None => result.map_err(|error| error.to_string()),
        }
        .map_err(|why| Error::Delivery {
            what,
            endpoint: self.endpoint.clone(),
            why,
        })
    }
}

/// Settings of both kinds of exporter.
macro_rules! exporter {
    ($kind:ident, $target:expr, $client:expr, $headers:expr) => {
        $kind::builder()
            .with_http()
            .with_http_client($client.clone())
            .with_endpoint(&$target.endpoint)
            .with_timeout($target.timeout)
            .with_headers($headers.iter().cloned().collect())
            // A command that has done its work does not wait for a collector that is not there.
            .with_retry_policy(
                RetryPolicy::recommended()
                    .with_max_retries(1)
                    .with_max_delay(Duration::from_millis(500)),
            )
            .build()
            .map_err(|error| Error::Start(error.to_string()))
    };
}

impl Telemetry {
    /// Starts an exporter. It has threads of its own and needs no runtime of the host.
    pub fn start(options: Options) -> Result<Self, Error> {
        let thread = client::Thread::start().map_err(|error| Error::Start(error.to_string()))?;
        let mut resource = Resource::builder();
        if let Some(name) = options.service_name {
            resource = resource.with_service_name(name);
        }
        let resource = resource.build();
        let headers = options.headers;
        let mut traces = None;
        if let Some(target) = options.traces {
            let client = thread.client(target.timeout);
            let exporter = exporter!(SpanExporter, target, client, headers)?;
            let processor = shape::Shape {
                next: BatchSpanProcessor::builder(exporter).build(),
                content: options.content,
            };
            traces = Some(Export {
                provider: SdkTracerProvider::builder()
                    .with_resource(resource.clone())
                    .with_span_processor(processor)
                    .build(),
                client,
                endpoint: target.endpoint,
            });
        }
        let mut metrics = None;
        if let Some(target) = options.metrics {
            let client = thread.client(target.timeout);
            let exporter = exporter!(MetricExporter, target, client, headers)?;
            metrics = Some(Export {
                provider: SdkMeterProvider::builder()
                    .with_resource(resource)
                    .with_periodic_exporter(exporter)
                    .build(),
                client,
                endpoint: target.endpoint,
            });
        }
        Ok(Self {
            thread,
            traces,
            metrics,
        })
    }

    /// Sees the engine's spans and what it says of the cost of runs, and nothing else.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let mut layers: Vec<Box<dyn Layer<S> + Send + Sync>> = Vec::new();
        if let Some(traces) = &self.traces {
            let spans = tracing_opentelemetry::layer()
                .with_tracer(traces.provider.tracer("superstep"))
                .with_location(false)
                .with_threads(false)
                .with_tracked_inactivity(false)
                .with_target(false)
                .with_filter(filter_fn(|metadata| {
                    metadata.is_span() && metadata.target() == observe::TARGET
                }));
            layers.push(spans.boxed());
        }
        if let Some(metrics) = &self.metrics {
            let costs = costs::Costs::new(&metrics.provider.meter("superstep"));
            let costs = costs.with_filter(filter_fn(|metadata| metadata.target() == observe::METRICS_TARGET));
            layers.push(costs.boxed());
        }
        layers
    }

    /// Sends what is left and stops; waits for it, and says what could not be delivered.
    pub fn finish(self) -> Result<(), Error> {
        const WAIT: Duration = Duration::from_secs(2);
        let traces = self.traces.map_or(Ok(()), |traces| {
            let sent = traces.provider.force_flush();
            let stopped = traces.provider.shutdown_with_timeout(WAIT);
            traces.delivered("traces", sent.and(stopped))
        });
        let metrics = self.metrics.map_or(Ok(()), |metrics| {
            // This sends the sums once more.
            let stopped = metrics.provider.shutdown_with_timeout(WAIT);
            metrics.delivered("metrics", stopped)
        });
        self.thread.stop();
        traces.and(metrics)
    }
}
