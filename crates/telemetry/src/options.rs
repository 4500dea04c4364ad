//! Where spans go and what they may hold, from code or from the standard environment variables.

use std::time::Duration;

use crate::Error;

/// How to export. What the exporter's own library reads from the environment (`OTEL_RESOURCE_ATTRIBUTES`,
/// `OTEL_TRACES_SAMPLER`, `OTEL_BSP_*`) holds beside this.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The full address that spans are posted to, e.g. `http://localhost:4318/v1/traces`.
    pub endpoint: String,
    /// Headers of each request, e.g. a key of the service.
    pub headers: Vec<(String, String)>,
    /// How long one request may take.
    pub timeout: Duration,
    /// The `service.name` of the resource. None leaves it to `OTEL_SERVICE_NAME`.
    pub service_name: Option<String>,
    /// Export the inputs and outputs of runs and tasks too.
    pub content: bool,
}

impl Options {
    /// Export to this full address, without inputs and outputs.
    pub fn to(endpoint: impl Into<String>) -> Self {
        Self {
            endpoint: endpoint.into(),
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            service_name: None,
            content: false,
        }
    }

    /// What the environment asks for; None when it names no endpoint or switches export off.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same, with variables from anywhere. Empty ones count as absent.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
        // What is said for traces goes before what is said for all signals.
        let signal = |rest: &str| {
            [
                format!("OTEL_EXPORTER_OTLP_TRACES_{rest}"),
                format!("OTEL_EXPORTER_OTLP_{rest}"),
            ]
            .into_iter()
            .find_map(|name| get(&name).map(|value| (name, value)))
        };
        let off = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || get("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        let Some((name, address)) = signal("ENDPOINT").filter(|_| !off) else {
            return Ok(None);
        };
        if !address.starts_with("http://") && !address.starts_with("https://") {
            return Err(Error::Setting {
                name,
                value: address,
                why: "it must be an address like http://localhost:4318".into(),
            });
        }
        let endpoint = if name.contains("TRACES") {
            address
        } else {
            format!("{}/v1/traces", address.trim_end_matches('/'))
        };
        if let Some((name, value)) = signal("PROTOCOL").filter(|(_, value)| value != "http/protobuf") {
            return Err(Error::Setting {
                name,
                value,
                why: "only http/protobuf is spoken; collectors take it on port 4318".into(),
            });
        }
        let mut options = Self {
            service_name: get("OTEL_SERVICE_NAME").or_else(|| {
                // The library's own default says only that nobody chose a name.
                let named = get("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
                (!named).then(|| "superstep".to_owned())
            }),
            content: get("SUPERSTEP_OTEL_CONTENT")
                .is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true")),
            ..Self::to(endpoint)
        };
        if let Some((name, value)) = signal("TIMEOUT") {
            let Ok(millis) = value.trim().parse() else {
                return Err(Error::Setting {
                    name,
                    value,
                    why: "it must be a number of milliseconds".into(),
                });
            };
            options.timeout = Duration::from_millis(millis);
        }
        // Headers stay with the exporter's library, which reads them from the environment itself.
        Ok(Some(options))
    }
}
