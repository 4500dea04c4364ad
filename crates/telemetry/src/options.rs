//! Where spans and metrics go and what they may hold, from code or from the standard environment variables.

use std::time::Duration;

use crate::error::Error;

/// Settings of the export. What the exporter's own library reads from the environment (`OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`, `OTEL_METRIC_EXPORT_INTERVAL`) applies in addition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Where spans go; None sends none.
    pub traces: Option<Target>,
    /// Where what runs cost goes; None sends none, and nothing is measured.
    pub metrics: Option<Target>,
    /// Headers of each request, e.g. a key of the service.
    pub headers: Vec<(String, String)>,
    /// The `service.name` of the resource. None leaves it to `OTEL_SERVICE_NAME`.
    pub service_name: Option<String>,
    /// Export the inputs and outputs of runs and tasks too.
    pub content: bool,
}

/// Destination of one signal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Target {
    /// The full address that is posted to, e.g. `http://localhost:4318/v1/traces`.
    pub endpoint: String,
    /// How long one request may take.
    pub timeout: Duration,
}

impl Target {
    /// Creates a target with this full address and ten seconds for a request.
    pub fn at(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            timeout: Duration::from_secs(10),
        }
    }

    /// Sets how long one request may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl Options {
    /// Creates the options to export both signals to the collector at this address, e.g. `http://localhost:4318`,
    /// without inputs and outputs.
    pub fn to(collector: &str) -> Self {
        let at = |path: &str| Target::at(below(collector, path));
        Self {
            traces: Some(at(TRACES.path)),
            metrics: Some(at(METRICS.path)),
            headers: Vec::new(),
            service_name: None,
            content: false,
        }
    }

    /// Sets where spans go; None sends none.
    pub fn traces(mut self, target: impl Into<Option<Target>>) -> Self {
        self.traces = target.into();
        self
    }

    /// Sets where what runs cost goes; None sends none, and nothing is measured.
    pub fn metrics(mut self, target: impl Into<Option<Target>>) -> Self {
        self.metrics = target.into();
        self
    }

    /// Adds a header to each request, e.g. a key of the service.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the `service.name` of the resource.
    pub fn service_name(mut self, name: impl Into<String>) -> Self {
        self.service_name = Some(name.into());
        self
    }

    /// Exports the inputs and outputs of runs and tasks too, or does not.
    pub fn content(mut self, content: bool) -> Self {
        self.content = content;
        self
    }

    /// Reads the options from the environment; returns `None` when it names no endpoint or switches export off.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads the options from variables of any source. Empty ones count as absent.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        if get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (traces, metrics) = (TRACES.target(get)?, METRICS.target(get)?);
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        // Headers stay with the exporter's library, which reads them from the environment itself.
        Ok(Some(Self {
            traces,
            metrics,
            headers: Vec::new(),
            service_name: get("OTEL_SERVICE_NAME").or_else(|| {
                // The library's own default says only that nobody chose a name.
                let named = get("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
                (!named).then(|| "superstep".to_owned())
            }),
            content: get("SUPERSTEP_OTEL_CONTENT")
                .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true")),
        }))
    }
}

/// Name of a signal in the environment, and the path where a collector accepts it.
struct Signal {
    name: &'static str,
    exporter: &'static str,
    path: &'static str,
}

const TRACES: Signal = Signal {
    name: "TRACES",
    exporter: "OTEL_TRACES_EXPORTER",
    path: "/v1/traces",
};
const METRICS: Signal = Signal {
    name: "METRICS",
    exporter: "OTEL_METRICS_EXPORTER",
    path: "/v1/metrics",
};

impl Signal {
    /// Returns the variable that sets this for the signal, or else the one that sets it for all signals.
    fn variable(&self, get: impl Fn(&str) -> Option<String>, rest: &str) -> Option<(String, String)> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_{rest}", self.name);
        [own, format!("OTEL_EXPORTER_OTLP_{rest}")]
            .into_iter()
            .find_map(|name| get(&name).map(|value| (name, value)))
    }

    fn target(&self, get: impl Fn(&str) -> Option<String>) -> Result<Option<Target>, Error> {
        let off = get(self.exporter).is_some_and(|value| value == "none");
        let Some((name, address)) = self.variable(&get, "ENDPOINT").filter(|_| !off) else {
            return Ok(None);
        };
        let setting = |(name, value): (String, String), why: &str| Error::Setting {
            name,
            value,
            why: why.into(),
        };
        if !address.starts_with("http://") && !address.starts_with("https://") {
            return Err(setting(
                (name, address),
                "it must be an address like http://localhost:4318",
            ));
        }
        let protocol = self.variable(&get, "PROTOCOL");
        if let Some(other) = protocol.filter(|(_, value)| value != "http/protobuf") {
            return Err(setting(
                other,
                "only http/protobuf is spoken; collectors take it on port 4318",
            ));
        }
        let mut target = Target::at(match name.contains(self.name) {
            true => address,
            false => below(&address, self.path),
        });
        if let Some(timeout) = self.variable(&get, "TIMEOUT") {
            let millis = timeout.1.trim().parse();
            let millis = millis.map_err(|_| setting(timeout, "it must be a number of milliseconds"))?;
            target.timeout = Duration::from_millis(millis);
        }
        Ok(Some(target))
    }
}

fn below(collector: &str, path: &str) -> String {
    format!("{}{path}", collector.trim_end_matches('/'))
}
