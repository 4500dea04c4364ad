//! `http`: sends a request and takes what the answer says. What stands in `{{ }}` of the address is encoded, so that a
//! value of the state never changes whom the request goes to; only an address that begins with a value is any address.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Effect, escape_pointer};

use crate::base::access::{Access, Grants};
use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::web::{Web, WebError, WebRequest};
use crate::expression::{Expression, Scope, Template};
use crate::kinds::http_request::{
    self, ANSWER, HttpMethod, RequestError, ResponseLimits, add_query, default_timeout, origin,
};
use crate::models::Variables;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::track_reads;
use superstep_document::text;

/// Settings of an `http` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Sends an HTTP request.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["method", "url", "body", "into"], &[("Query and headers", &["query", "headers", "key_variable"]), ("Answer", &["take", "on_status"]), ("Limits", &["timeout_s", "max_kb"])])))]
pub struct HttpConfig {
    /// HTTP method of the request.
    #[serde(default)]
    #[schemars(title = "Method")]
    pub method: HttpMethod,
    /// Template for the address; values in `{{ }}` are encoded, unless the address begins with `{{`.
    #[schemars(title = "URL", extend("x-editor" = "template", "examples" = ["https://api.example.org/orders/{{ state.id }}"]))]
    pub url: String,
    /// Adds `?name=value` to the URL, with templates as values; empty values are skipped.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(
        title = "Query parameters",
        with = "std::collections::BTreeMap<String, String>"
    )]
    pub query: IndexMap<String, String>,
    /// Adds these headers, with templates as values.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(title = "Headers", with = "std::collections::BTreeMap<String, String>")]
    pub headers: IndexMap<String, String>,
    /// Expression for the body of POST, PUT and PATCH: text is sent as text, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Body", extend("x-editor" = "expression", "x-if" = serde_json::json!({"method": ["POST", "PUT", "PATCH"]})))]
    pub body: Option<String>,
    /// Environment variable with the API key, sent as `Authorization: Bearer KEY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "API key variable")]
    pub key_variable: Option<String>,
    /// Expression over `answer` (`status`, `headers` and `body`) for what to store.
    #[serde(default = "default_take")]
    #[schemars(title = "Result expression", extend("x-editor" = "expression"))]
    pub take: String,
    /// Stores the result in this state key.
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({})))]
    pub into: String,
    /// `fail` fails the node on a status outside 200 to 299, so that it can be retried; `data` stores the response.
    #[serde(default)]
    #[schemars(title = "Error status handling")]
    pub on_status: OnStatus,
    /// Stops waiting for the answer after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 3600))]
    pub timeout_s: u64,
    /// Fails the node if the response is larger.
    #[serde(default = "default_size")]
    #[schemars(title = "Maximum response size (kB)", range(min = 1, max = 65_536))]
    pub max_kb: usize,
}

fn default_take() -> String {
    "answer.body".to_owned()
}
fn default_size() -> usize {
    1024
}

/// Meaning of a status outside of 200 to 299.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum OnStatus {
    /// A failure of the node.
    #[default]
    Fail,
    /// An answer.
    Data,
}

/// The kind.
pub struct Http;

impl NodeKind for Http {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "http",
            title: "HTTP",
            summary: "Sends an HTTP request and stores the response.",
            icon: "globe",
            group: "code",
            aliases: &[
                "api", "request", "rest", "webhook", "fetch", "curl", "url", "get", "post", "web",
            ],
            config_schema: schema_of::<HttpConfig>(),
            defaults: json!({"url": "https://", "into": ""}),
            card: &["/method", "/url", "/into"],
        }
    }

    fn effect(&self, config: &serde_json::Map<String, serde_json::Value>) -> superstep::graph::Effect {
        match crate::registry::parse::<HttpConfig>(config) {
            Ok(config) if config.method == HttpMethod::Get => superstep::graph::Effect::Reads,
            _ => superstep::graph::Effect::Unknown,
        }
    }

    fn reads_are_known(&self) -> bool {
        true
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<HttpConfig>() else {
            return;
        };
        site.template("/url", &config.url);
        let server = match host(&config.url) {
            UrlHost::Any => Some(Access::Host("*".into())),
            UrlHost::Is(access) => Some(access),
            UrlHost::Bad(cause) => {
                site.error(
                    "http-url",
                    "/url",
                    cause,
                    text!("Write an address that begins with https:// and a host, or with `{{` when the state has the whole address."),
                );
                None
            }
        };
        if let Some(server) = &server {
            site.reaches(server.clone());
        }
        for (name, value) in &config.query {
            site.template(&format!("/query/{}", escape_pointer(name)), value);
        }
        for (name, value) in &config.headers {
            let pointer = format!("/headers/{}", escape_pointer(name));
            if HeaderName::try_from(name.as_str()).is_err() {
                site.error(
                    "http-header",
                    &pointer,
                    text!("{name} is no header.", name = format!("{name:?}")),
                    text!("Correct its name."),
                );
            }
            site.template(&pointer, value);
        }
        if let Some(body) = &config.body {
            site.expression("/body", body, None);
            if !config.method.has_body() {
                site.warning(
                    "http-body",
                    "/body",
                    text!("This method sends no body."),
                    text!("Choose POST, PUT or PATCH, or remove the body."),
                );
            }
        }
        if let Some(variable) = &config.key_variable {
            site.filled("/key_variable", variable);
            if let Some(server) = &server {
                site.reaches(Access::key_to(variable, server));
            }
        }
        site.expression("/take", &config.take, Some(ANSWER));
        site.write("/into", &config.into);
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: HttpConfig = site.parse()?;
        let templates = |part: &str, map: &IndexMap<String, String>| {
            let template = |(name, text): (&String, &String)| {
                Ok((
                    name.clone(),
                    site.template(&format!("/{part}/{}", escape_pointer(name)), text)?,
                ))
            };
            map.iter().map(template).collect::<Result<Vec<_>, Diagnostic>>()
        };
        // What begins with a value is an address as a whole: there is nothing to encode a value into.
        let url = match host(&config.url) {
            UrlHost::Any => site.template("/url", &config.url)?,
            _ => site.address("/url", &config.url)?,
        };
        Ok(Arc::new(HttpNode {
            name: site.node.into(),
            query: templates("query", &config.query)?,
            headers: templates("headers", &config.headers)?,
            body: config
                .body
                .as_ref()
                .map(|body| site.expression("/body", body))
                .transpose()?,
            take: site.expression("/take", &config.take)?,
            keyed: matches!(site.effect, Some(Effect::Idempotent | Effect::Once)),
            grants: site.grants().clone(),
            variables: site.environment.variables.clone(),
            web: Web::new(site.grants(), &site.environment.models.private_hosts),
            fixed: !config.url.contains('{'),
            url,
            config,
        }))
    }
}

/// The host of an address.
enum UrlHost {
    /// One server.
    Is(Access),
    /// Whomever the state says.
    Any,
    Bad(String),
}

fn host(url: &str) -> UrlHost {
    let origin = origin(url.trim_start());
    if origin.contains("{{") || origin.contains("{%") {
        // `https://{{ state.shop }}.example.org` has no one host either.
        return UrlHost::Any;
    }
    match Url::parse(origin) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            UrlHost::Is(Access::of_url(&url))
        }
        _ => UrlHost::Bad(format!("{url:?} is no address.")),
    }
}

struct HttpNode {
    name: Arc<str>,
    url: Template,
    /// There is no value in the address.
    fixed: bool,
    query: Vec<(String, Template)>,
    headers: Vec<(String, Template)>,
    body: Option<Expression>,
    take: Expression,
    /// The server is told which requests are the same one.
    keyed: bool,
    grants: Grants,
    variables: Variables,
    web: Web,
    config: HttpConfig,
}

impl HttpNode {
    fn wrong(&self, cause: impl std::fmt::Display) -> NodeError {
        NodeError::new(error_class::HTTP_INPUT, format!("node {}: {cause}", self.name))
    }

    /// Creates the error of a failed request. `asked` is the method and the server; more of the address may be private.
    fn failed(&self, asked: &str, error: RequestError) -> NodeError {
        let remedy = match &error {
            RequestError::Late(_) => ". Raise `timeout_s`, or ask for less",
            RequestError::TooLarge(_) => ". Raise `max_kb`, or ask for less",
            RequestError::Web(WebError::Failed(_)) => ". Is the server running? Check `url`",
            RequestError::Refused(status, ..) if status.as_u16() == 401 || status.as_u16() == 403 => {
                ". Check the key and what it may do"
            }
            RequestError::Refused(..) => ". Check `url` and what is sent",
            _ => "",
        };
        let text = format!("node {}: {asked}: {error}{remedy}", self.name);
        match error {
            RequestError::Cancelled => NodeError::Cancelled,
            RequestError::Input(_) | RequestError::TooLarge(_) => NodeError::new("HttpAnswerError", text),
            RequestError::Late(_) => NodeError::new("HttpTimeoutError", text),
            RequestError::Web(WebError::AccessDenied(denied)) => denied.into(),
            RequestError::Web(_) => NodeError::new("HttpConnectionError", text),
            RequestError::Refused(status, _, wait) => NodeError::new("HttpStatusError", text)
                .status(status.as_u16())
                .retry_after(wait),
        }
    }

    fn call(&self, context: &NodeContext, scope: &Scope) -> Result<WebRequest, NodeError> {
        let text = self.url.render(scope)?;
        let mut url =
            Url::parse(text.trim()).map_err(|e| self.wrong(format!("{text:?} is no address ({e})")))?;
        // A value of dots would climb out of its folder, and the parser has already followed it.
        let path = text.split(['?', '#']).next().unwrap_or_default();
        if !self.fixed && path.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
            return Err(self.wrong(format!("{text:?} climbs to another folder")));
        }
        let mut query = Vec::new();
        for (name, template) in &self.query {
            query.push((name.as_str(), template.render(scope)?));
        }
        add_query(&mut url, query.into_iter());
        let mut headers = HeaderMap::new();
        let body = match (&self.body, self.config.method.has_body()) {
            (Some(body), true) => Some(match body.eval(scope)? {
                Value::String(text) => {
                    headers.insert(
                        CONTENT_TYPE,
                        HeaderValue::from_static("text/plain; charset=utf-8"),
                    );
                    text.as_bytes().to_vec()
                }
                json => {
                    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                    json.to_string().into_bytes()
                }
            }),
            _ => None,
        };
        if self.keyed
            && let Ok(key) = HeaderValue::from_str(context.effect_key())
        {
            headers.insert("idempotency-key", key);
        }
        if let Some(variable) = &self.config.key_variable {
            self.grants.require_key(variable, &Access::of_url(&url))?;
            let key = (self.variables)(variable).ok_or_else(|| {
                self.wrong(format!(
                    "the environment variable {variable} is not set. Set it to the server's key"
                ))
            })?;
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.trim())).map_err(|_| {
                self.wrong(format!(
                    "the key in {variable} holds characters that headers do not take"
                ))
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, template) in &self.headers {
            let key = HeaderName::try_from(name.as_str()).map_err(|e| self.wrong(e))?;
            let value = HeaderValue::try_from(template.render(scope)?).map_err(|_| {
                self.wrong(format!(
                    "the header {name} would hold characters that headers do not take"
                ))
            })?;
            headers.insert(key, value);
        }
        Ok(WebRequest {
            method: self.config.method.method(),
            url,
            headers,
            body,
        })
    }
}

#[async_trait]
impl Node for HttpNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let scope = Scope::of(&context, &input);
        let call = self.call(&context, &scope)?;
        let asked = format!("{} {}", call.method, http_request::origin(call.url.as_str()));
        let limits = ResponseLimits {
            time: Duration::from_secs(self.config.timeout_s),
            bytes: self.config.max_kb.saturating_mul(1024),
        };
        let answer = http_request::send(&context, &self.web, call, limits)
            .await
            .map_err(|e| self.failed(&asked, e))?;
        if self.config.on_status == OnStatus::Fail && !answer.status.is_success() {
            return Err(self.failed(&asked, answer.refused()));
        }
        if answer.cut {
            return Err(self.failed(&asked, RequestError::TooLarge(limits.bytes)));
        }
        let value = answer.value().map_err(|e| self.failed(&asked, e))?;
        let taken = self.take.eval(&scope.with(ANSWER, value))?;
        Ok(NodeOutput::update([(self.config.into.as_str(), taken)]))
    }
}
