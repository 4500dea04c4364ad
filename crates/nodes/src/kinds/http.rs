//! `http`: sends a request and takes what the answer says. What stands in `{{ }}` of the address is encoded, so that a
//! value of the state never changes whom the request goes to; only an address that begins with a value is any address.
//! `${NAME}` is a secret, which goes to that server only when its owner lets it.

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::value::Object;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Effect, escape_pointer};

use crate::base::access::{Access, Grants};
use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::references::{self, Reference, References, several_lines};
use crate::base::text::{origin, percent_encoded};
use crate::base::web::{Web, WebError, WebRequest};
use crate::expression::{Expression, Scope, Template};
use crate::kinds::http_request::{
    self, ANSWER, HttpMethod, RequestError, ResponseLimits, add_query, default_timeout,
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
    /// Template for the address; values in `{{ }}` are encoded, unless the address begins with `{{`. `${NAME}` inserts a secret.
    #[schemars(title = "URL", extend("x-editor" = "template", "x-secrets" = "written", "examples" = ["https://api.example.org/orders/{{ state.id }}"]))]
    pub url: String,
    /// Adds `?name=value` to the URL, with templates as values; empty values are skipped, and `${NAME}` inserts a secret.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(
        title = "Query parameters",
        with = "std::collections::BTreeMap<String, crate::base::config_schema::SecretText>"
    )]
    pub query: IndexMap<String, String>,
    /// Adds these headers, with templates as values; `${NAME}` inserts a secret, as in `Bearer ${MY_KEY}`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(
        title = "Headers",
        with = "std::collections::BTreeMap<String, crate::base::config_schema::SecretText>"
    )]
    pub headers: IndexMap<String, String>,
    /// Expression for the body of POST, PUT and PATCH: text is sent as text, anything else as JSON. `'${NAME}'` inserts a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Body", extend("x-editor" = "expression", "x-secrets" = true, "x-if" = serde_json::json!({"method": ["POST", "PUT", "PATCH"]})))]
    pub body: Option<String>,
    /// Secret or environment variable with the API key, sent as `Authorization: Bearer KEY`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "API key variable", extend("x-editor" = "secret"))]
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

impl HttpConfig {
    /// Returns the texts of the request in which secrets are named.
    fn texts(&self) -> impl Iterator<Item = &String> {
        let body = self.body.as_ref().filter(|_| self.method.has_body());
        [&self.url]
            .into_iter()
            .chain(self.query.values())
            .chain(self.headers.values())
            .chain(body)
    }
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
                "api", "request", "rest", "webhook", "fetch", "curl", "url", "get", "post", "web", "email",
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
        if let Some(server) = &server {
            for name in config.texts().flat_map(|text| references::names(text)) {
                site.reaches(Access::key_to(name, server));
            }
        }
        site.expression("/take", &config.take, Some(ANSWER));
        site.write("/into", &config.into);
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: HttpConfig = site.parse()?;
        let mut references = References::new();
        let mut templates = |part: &str, map: &IndexMap<String, String>| {
            let template = |(name, text): (&String, &String)| {
                let pointer = format!("/{part}/{}", escape_pointer(name));
                Ok((name.clone(), site.template(&pointer, &references.take_out(text))?))
            };
            map.iter().map(template).collect::<Result<Vec<_>, Diagnostic>>()
        };
        let query = templates("query", &config.query)?;
        let headers = templates("headers", &config.headers)?;
        // What begins with a value is an address as a whole: there is nothing to encode a value into.
        let address = references.take_out(&config.url);
        let url = match host(&config.url) {
            UrlHost::Any => site.template("/url", &address)?,
            _ => site.address("/url", &address)?,
        };
        let body = config.body.as_ref().map(|body| references.take_out(body));
        Ok(Arc::new(HttpNode {
            name: site.node.into(),
            query,
            headers,
            body: body.map(|body| site.expression("/body", &body)).transpose()?,
            take: site.expression("/take", &config.take)?,
            keyed: matches!(site.effect, Some(Effect::Idempotent | Effect::Once)),
            grants: site.grants().clone(),
            variables: site.environment.variables.clone(),
            web: Web::new(site.grants(), &site.environment.models.private_hosts),
            fixed: !config.url.contains('{'),
            url,
            references,
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
    if references::names(origin).next().is_some() {
        return UrlHost::Bad("A secret cannot be part of the host.".to_owned());
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
    /// Secrets that the address, the query, the headers and the body name.
    references: References,
    query: Vec<(String, Template)>,
    headers: Vec<(String, Template)>,
    body: Option<Expression>,
    take: Expression,
    /// The server learns which requests are the same one.
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

    /// Reads a secret for a server, when its owner lets it go there.
    fn secret(&self, name: &str, server: &Access) -> Result<String, NodeError> {
        self.grants.require_key(name, server)?;
        let value = (self.variables)(name).ok_or_else(|| {
            NodeError::new(
                error_class::SECRET_MISSING,
                format!(
                    "node {}: the secret {name} has no value. Enter one in Settings under Secrets, or set the \
                     environment variable {name} before Superstep is started",
                    self.name
                ),
            )
        })?;
        Ok(value.trim().to_owned())
    }

    /// Fills in a header. A secret of several lines, such as a PEM key, cannot be part of one.
    fn header(&self, name: &str, text: &str, server: &Access) -> Result<HeaderValue, NodeError> {
        let filled = self.references.put_back(text, |reference| {
            let value = self.referred(reference, server)?;
            self.require_one_line(&reference.name, &value, name)?;
            Ok::<_, NodeError>(value)
        })?;
        let mut value = HeaderValue::try_from(filled).map_err(|_| {
            self.wrong(format!(
                "the header {name} would hold characters that headers do not take"
            ))
        })?;
        value.set_sensitive(self.references.are_in(text));
        Ok(value)
    }

    fn require_one_line(&self, secret: &str, value: &str, header: &str) -> Result<(), NodeError> {
        match several_lines(value) {
            false => Ok(()),
            true => Err(NodeError::new(
                error_class::SECRET_LINES,
                format!(
                    "node {}: the secret {secret} has several lines, and the header {header} takes one. Send it in \
                     `body`, or name a secret of one line",
                    self.name
                ),
            )),
        }
    }

    /// Puts secrets into a text that is sent to a server.
    fn filled(&self, text: &str, server: &Access) -> Result<String, NodeError> {
        self.references
            .put_back(text, |reference| self.referred(reference, server))
    }

    fn referred(&self, reference: &Reference, server: &Access) -> Result<String, NodeError> {
        match &reference.default {
            Some(default) if (self.variables)(&reference.name).is_none_or(|value| value.is_empty()) => {
                Ok(default.clone())
            }
            _ => self.secret(&reference.name, server),
        }
    }

    /// Puts secrets into the texts of a value that is sent to a server.
    fn filled_value(&self, value: Value, server: &Access) -> Result<Value, NodeError> {
        Ok(match value {
            Value::String(text) if self.references.are_in(&text) => self.filled(&text, server)?.into(),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.filled_value(item.clone(), server));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let field = |(name, value): (&Arc<str>, &Value)| {
                    Ok::<_, NodeError>((
                        self.filled(name, server)?,
                        self.filled_value(value.clone(), server)?,
                    ))
                };
                Value::Object(fields.iter().map(field).collect::<Result<Object, _>>()?)
            }
            other => other,
        })
    }

    /// Returns what an expression or template fails with, in the words of the node's settings.
    fn in_own_words(&self, error: impl Into<NodeError>) -> NodeError {
        match error.into() {
            NodeError::Failed(mut failure) => {
                failure.message = self.references.shown(&failure.message);
                NodeError::Failed(failure)
            }
            other => other,
        }
    }

    fn render(&self, template: &Template, scope: &Scope) -> Result<String, NodeError> {
        template.render(scope).map_err(|error| self.in_own_words(error))
    }

    /// Returns the address of the request and its server. Which server it is does not depend on a secret.
    fn address(&self, scope: &Scope) -> Result<(Url, Access), NodeError> {
        let text = self.render(&self.url, scope)?;
        let parsed = |address: &str| {
            Url::parse(address.trim())
                .map_err(|e| self.wrong(format!("{:?} is no address ({e})", self.references.shown(&text))))
        };
        let server = Access::of_url(&parsed(&text)?);
        let whole = self.references.put_back(&text, |reference| {
            let value = self.referred(reference, &server)?;
            Ok::<_, NodeError>(percent_encoded(&value))
        })?;
        let url = parsed(&whole)?;
        if Access::of_url(&url) != server {
            return Err(self.wrong("a secret would be part of the host"));
        }
        // A value of dots would climb out of its folder, and the parser has already followed it.
        let path = whole.split(['?', '#']).next().unwrap_or_default();
        if !self.fixed && path.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
            let shown = self.references.shown(&text);
            return Err(self.wrong(format!("{shown:?} climbs to another folder")));
        }
        Ok((url, server))
    }

    fn call(&self, context: &NodeContext, scope: &Scope) -> Result<WebRequest, NodeError> {
        let (mut url, server) = self.address(scope)?;
        let mut query = Vec::new();
        for (name, template) in &self.query {
            query.push((
                name.as_str(),
                self.filled(&self.render(template, scope)?, &server)?,
            ));
        }
        add_query(&mut url, query.into_iter());
        let mut headers = HeaderMap::new();
        let body = match (&self.body, self.config.method.has_body()) {
            (Some(body), true) => {
                let body = body.eval(scope).map_err(|error| self.in_own_words(error))?;
                Some(match self.filled_value(body, &server)? {
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
                })
            }
            _ => None,
        };
        if self.keyed
            && let Ok(key) = HeaderValue::from_str(context.effect_key())
        {
            headers.insert("idempotency-key", key);
        }
        if let Some(variable) = &self.config.key_variable {
            let key = self.secret(variable, &server)?;
            self.require_one_line(variable, &key, "Authorization")?;
            let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
                self.wrong(format!(
                    "the key in {variable} holds characters that headers do not take"
                ))
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        for (name, template) in &self.headers {
            let key = HeaderName::try_from(name.as_str()).map_err(|e| self.wrong(e))?;
            let text = self.render(template, scope)?;
            headers.insert(key, self.header(name, &text, &server)?);
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
        let asked = format!("{} {}", call.method, origin(call.url.as_str()));
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
