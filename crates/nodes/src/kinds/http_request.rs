//! HTTP requests that are described by data, for tools and for the `http` kind.
//!
//! In a tool's request arguments stand as `{name}` in the address, query, headers and body. In an address they are
//! encoded, so that an argument is never more than a value: it cannot change the host or the path. How a request is
//! sent, within which limits, and how its answer is read is the same for both.

use std::fmt;
use std::time::{Duration, SystemTime};

use indexmap::IndexMap;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use superstep::value::Object;
use superstep::{NodeContext, Value};

use crate::base::access::Access;
use crate::base::json::read_json;
use crate::base::text::{origin, percent_encoded};
use crate::base::web::{Web, WebError, WebRequest, failure};
use crate::expression::{Expression, Scope};
use crate::models::{args_json, wait_in_headers};
use crate::registry::Site;
use superstep_document::suggest;
use superstep_document::text;

/// What `take` calls the answer.
pub(crate) const ANSWER: &str = "answer";

/// Characters of a failed answer that the model is shown.
const MAX_SHOWN_FAILURE: usize = 2000;

/// An HTTP request.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct HttpRequest {
    /// HTTP method of the request.
    #[serde(default)]
    #[schemars(title = "Method")]
    pub method: HttpMethod,
    /// Address of the request; `{name}` inserts an encoded argument, but not in the host.
    #[schemars(title = "URL", extend("examples" = ["https://api.example.org/weather/{city}?units={units}"]))]
    pub url: String,
    /// Adds `?name=value` to the URL; `{name}` inserts an argument, and empty values are skipped.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(
        title = "Query parameters",
        with = "std::collections::BTreeMap<String, String>"
    )]
    pub query: IndexMap<String, String>,
    /// Adds these headers; `{name}` inserts an argument.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(title = "Headers", with = "std::collections::BTreeMap<String, String>")]
    pub headers: IndexMap<String, String>,
    /// JSON to send, in which `{name}` inserts an argument; without it, POST, PUT and PATCH send all arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Body", with = "Option<serde_json::Map<String, Json>>")]
    pub body: Option<Json>,
    /// Expression over `answer` (`status`, `headers` and `body`) for what to return to the model; without it, the response text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Result expression", extend("x-editor" = "expression", "examples" = ["answer.body.results[:5]"]))]
    pub take: Option<String>,
    /// Stops waiting for the answer after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 3600))]
    pub timeout_s: u64,
    /// Cuts off the response after this size.
    #[serde(default = "default_size")]
    #[schemars(title = "Maximum response size (kB)", range(min = 1, max = 16_384))]
    pub max_kb: usize,
}

/// Method of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum HttpMethod {
    /// Reads.
    #[default]
    Get,
    /// Adds or does something.
    Post,
    /// Replaces.
    Put,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
}

pub(crate) fn default_timeout() -> u64 {
    30
}
fn default_size() -> usize {
    128
}

impl HttpMethod {
    pub(crate) fn method(self) -> Method {
        match self {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
            HttpMethod::Put => Method::PUT,
            HttpMethod::Patch => Method::PATCH,
            HttpMethod::Delete => Method::DELETE,
        }
    }
    pub(crate) fn has_body(self) -> bool {
        matches!(self, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch)
    }
}

/// A piece of text with arguments in it.
enum TemplatePart<'a> {
    Text(&'a str),
    Argument(&'a str),
}

/// Returns whether a part of a path would lead to the folder above: dots alone do, in any encoding.
fn climbs(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c == '.')
}

/// Splits a template into text and arguments; braces around anything but a name are text.
fn parts(template: &str) -> Vec<TemplatePart<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut from) = (template, 0);
    while let Some(open) = rest[from..].find('{').map(|at| at + from) {
        let name = rest[open + 1..]
            .find('}')
            .map(|end| &rest[open + 1..open + 1 + end]);
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        match name.filter(|name| is_name(name)) {
            Some(name) => {
                parts.push(TemplatePart::Text(&rest[..open]));
                parts.push(TemplatePart::Argument(name));
                rest = &rest[open + name.len() + 2..];
                from = 0;
            }
            None => from = open + 1,
        }
    }
    parts.push(TemplatePart::Text(rest));
    parts
}

fn arguments(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().filter_map(|part| match part {
        TemplatePart::Argument(name) => Some(name),
        TemplatePart::Text(_) => None,
    })
}

fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.to_string(),
        Some(other) => other.to_string(),
    }
}

fn filled(template: &str, args: &Object) -> String {
    parts(template)
        .into_iter()
        .map(|part| match part {
            TemplatePart::Text(text) => text.to_owned(),
            TemplatePart::Argument(name) => plain(args.get(name)),
        })
        .collect()
}

impl HttpRequest {
    /// Says what is wrong with a tool's request.
    pub(crate) fn check(&self, site: &mut Site<'_>, pointer: &str, parameters: &Json) {
        let at = |field: &str| format!("{pointer}/{field}");
        if arguments(origin(&self.url)).next().is_some() {
            site.error(
                "tool-host",
                &at("url"),
                text!("The host of the address is an argument: the model would choose whom to ask."),
                text!("Write the host out; arguments stand in the path and after the `?`."),
            );
        }
        let sample: String = parts(&self.url)
            .into_iter()
            .map(|part| match part {
                TemplatePart::Text(text) => text,
                TemplatePart::Argument(_) => "x",
            })
            .collect();
        match Url::parse(&sample) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
                site.reaches(Access::of_url(&url));
            }
            _ => site.error(
                "tool-url",
                &at("url"),
                text!("{url} is no address.", url = format!("{:?}", self.url)),
                text!("Write one that begins with https:// and a host."),
            ),
        }
        let mut used: Vec<(String, String)> = arguments(&self.url)
            .map(|name| (at("url"), name.to_owned()))
            .collect();
        for (name, value) in &self.headers {
            let pointer = at(&format!("headers/{}", superstep_document::escape_pointer(name)));
            if HeaderName::try_from(name.as_str()).is_err() {
                site.error(
                    "tool-header",
                    &pointer,
                    text!("{name} is no header.", name = format!("{name:?}")),
                    text!("Correct its name."),
                );
            }
            used.extend(arguments(value).map(|name| (pointer.clone(), name.to_owned())));
        }
        for (name, value) in &self.query {
            let pointer = at(&format!("query/{}", superstep_document::escape_pointer(name)));
            used.extend(arguments(value).map(|name| (pointer.clone(), name.to_owned())));
        }
        if let Some(take) = &self.take {
            site.expression(&at("take"), take, Some(ANSWER));
        }
        if let Some(body) = &self.body {
            texts(body, &mut |text| {
                used.extend(arguments(text).map(|name| (at("body"), name.to_owned())))
            });
        }
        let known = parameters.get("properties").and_then(Json::as_object);
        for (pointer, name) in used {
            if known.is_none_or(|known| !known.contains_key(&name)) {
                let names = || {
                    known
                        .into_iter()
                        .flat_map(|known| known.keys().map(String::as_str))
                };
                let message = text!(
                    "The request uses the argument `{name}`, which the tool does not have.{hint}",
                    name = &name,
                    hint = suggest::did_you_mean(&name, names())
                );
                let remedy = text!(
                    "Correct the name, or add it to the parameters. Known: {known}.",
                    known = suggest::listing(names())
                );
                site.error("unknown-argument", &pointer, message, remedy);
            }
        }
    }

    fn address(&self, args: &Object) -> Result<Url, String> {
        let (path, query) = match self.url.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.url.as_str(), None),
        };
        let fill = |template: &str, refuses: fn(&str) -> bool| -> Result<String, String> {
            let mut text = String::new();
            for part in parts(template) {
                match part {
                    TemplatePart::Text(fixed) => text.push_str(fixed),
                    TemplatePart::Argument(name) => {
                        let value = plain(args.get(name));
                        if refuses(&value) {
                            return Err(format!("the argument `{name}` cannot be {value:?} in an address"));
                        }
                        text.push_str(&percent_encoded(&value));
                    }
                }
            }
            Ok(text)
        };
        let mut address = fill(path, climbs)?;
        if let Some(query) = query {
            address.push('?');
            address.push_str(&fill(query, |_| false)?);
        }
        let mut url = Url::parse(&address).map_err(|e| format!("{address:?} is no address ({e})"))?;
        let query = self
            .query
            .iter()
            .map(|(name, value)| (name.as_str(), filled(value, args)));
        add_query(&mut url, query);
        Ok(url)
    }

    fn call(&self, key: &str, args: &Object) -> Result<WebRequest, String> {
        let mut headers = HeaderMap::new();
        let body = match (&self.body, self.method.has_body()) {
            (_, false) => None,
            (Some(body), true) => Some(substituted(body, args)),
            (None, true) => Some(args_json(args)),
        };
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // When the process dies between the answer and its record the request is sent again; servers that know the
        // header do its work once.
        if let (HttpMethod::Post | HttpMethod::Patch, Ok(key)) = (self.method, HeaderValue::from_str(key)) {
            headers.insert("idempotency-key", key);
        }
        for (name, value) in &self.headers {
            let key =
                HeaderName::try_from(name.as_str()).map_err(|e| format!("{name:?} is no header ({e})"))?;
            let value = HeaderValue::try_from(filled(value, args))
                .map_err(|_| format!("the header {name} would hold characters that headers do not take"))?;
            headers.insert(key, value);
        }
        Ok(WebRequest {
            method: self.method.method(),
            url: self.address(args)?,
            headers,
            body: body.map(|body| body.to_string().into_bytes()),
        })
    }

    /// Sends the request with these arguments and gives what goes to the model. `key` is the one under which a server
    /// does the work once.
    pub(crate) async fn send(
        &self,
        context: &NodeContext,
        web: &Web,
        key: &str,
        args: &Object,
    ) -> Result<String, RequestError> {
        let call = self.call(key, args).map_err(RequestError::Input)?;
        let limits = ResponseLimits {
            time: Duration::from_secs(self.timeout_s),
            bytes: self.max_kb.saturating_mul(1024),
        };
        let answer = send(context, web, call, limits).await?;
        if !answer.status.is_success() {
            return Err(answer.refused());
        }
        match &self.take {
            None => {
                let mut text = answer.text()?;
                if answer.cut {
                    text.push_str(&format!("… (cut after {} kB)", self.max_kb));
                }
                Ok(text)
            }
            Some(take) => {
                let take = Expression::compile(take, "`take` of the request")
                    .map_err(|e| RequestError::Input(e.to_string()))?;
                let scope = Scope::new(&Value::Object(args.clone())).with(ANSWER, answer.value()?);
                match take
                    .eval(&scope)
                    .map_err(|e| RequestError::Input(e.to_string()))?
                {
                    Value::String(text) => Ok(text.to_string()),
                    other => Ok(other.to_string()),
                }
            }
        }
    }
}

/// Limits on the time and size of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseLimits {
    pub(crate) time: Duration,
    pub(crate) bytes: usize,
}

/// Reason why a request has no usable response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequestError {
    /// The run was cancelled meanwhile.
    Cancelled,
    /// The request could not be made of what it was given, or its answer not be read.
    Input(String),
    /// The answer is larger than it may be, in bytes.
    TooLarge(usize),
    /// No answer came in time.
    Late(Duration),
    /// The server was not reached.
    Web(WebError),
    /// It answered with a status that means failure, this text, and perhaps how long to wait.
    Refused(StatusCode, String, Option<Duration>),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::Cancelled => f.write_str("the run was cancelled"),
            RequestError::Input(cause) => f.write_str(cause),
            RequestError::TooLarge(bytes) => write!(f, "the answer is larger than {} kB", bytes / 1024),
            RequestError::Late(limit) => write!(f, "there was no answer within {} s", limit.as_secs()),
            RequestError::Web(error) => error.fmt(f),
            RequestError::Refused(status, text, _) if text.is_empty() => {
                write!(f, "it answered with status {status}")
            }
            RequestError::Refused(status, text, _) => write!(f, "it answered with status {status}: {text}"),
        }
    }
}

impl std::error::Error for RequestError {}

/// A server's response, read up to the limit.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
    /// There was more.
    pub(crate) cut: bool,
}

/// Sends a request and reads its answer.
pub(crate) async fn send(
    context: &NodeContext,
    web: &Web,
    call: WebRequest,
    limits: ResponseLimits,
) -> Result<HttpResponse, RequestError> {
    let answer = async {
        let response = web.send(call).await.map_err(RequestError::Web)?;
        read(response, limits.bytes).await
    };
    tokio::select! {
        biased;
        () = context.cancelled() => Err(RequestError::Cancelled),
        answer = tokio::time::timeout(limits.time, answer) => {
            answer.unwrap_or(Err(RequestError::Late(limits.time)))
        }
    }
}

async fn read(mut response: Response, limit: usize) -> Result<HttpResponse, RequestError> {
    let mut answer = HttpResponse {
        status: response.status(),
        headers: std::mem::take(response.headers_mut()),
        bytes: Vec::new(),
        cut: false,
    };
    let broken = |e: reqwest::Error| RequestError::Web(failure(&e));
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        let space = limit - answer.bytes.len();
        answer.bytes.extend_from_slice(&chunk[..chunk.len().min(space)]);
        if chunk.len() > space {
            answer.cut = true;
            break;
        }
    }
    Ok(answer)
}

impl HttpResponse {
    /// Returns the body as text.
    pub(crate) fn text(&self) -> Result<String, RequestError> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(text.to_owned()),
            // A letter that was cut in two is no reason to refuse the text before it.
            Err(e) if self.cut && self.bytes.len() - e.valid_up_to() < 4 => {
                Ok(String::from_utf8_lossy(&self.bytes[..e.valid_up_to()]).into_owned())
            }
            Err(_) => {
                let ty = self.content_type();
                let ty = if ty.is_empty() {
                    String::new()
                } else {
                    format!(" ({ty})")
                };
                let size = self.bytes.len();
                Err(RequestError::Input(format!(
                    "it answered {size} bytes that are no text{ty}"
                )))
            }
        }
    }

    fn content_type(&self) -> &str {
        let ty = self.headers.get(CONTENT_TYPE);
        ty.and_then(|ty| ty.to_str().ok()).unwrap_or_default()
    }

    /// Returns whether the server says that the body is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let ty = self.content_type().split(';').next().unwrap_or_default().trim();
        ty.eq_ignore_ascii_case("application/json") || ty.to_ascii_lowercase().ends_with("+json")
    }

    /// Status, headers and body, as expressions see them. JSON is read as what it says; anything else is text.
    pub(crate) fn value(&self) -> Result<Value, RequestError> {
        let text = self.text()?;
        let body = match (read_json::<Value>(text.as_bytes()), self.is_json()) {
            (Ok(json), true) => json,
            (_, true) if self.cut => return Err(RequestError::TooLarge(self.bytes.len())),
            (Err(e), true) => {
                return Err(RequestError::Input(format!(
                    "its answer says that it is JSON, and is not: {e}"
                )));
            }
            (Ok(json @ (Value::Object(_) | Value::Array(_))), false) => json,
            _ => text.into(),
        };
        let headers: Object = self
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), Value::from(value.to_str().ok()?))))
            .collect();
        let mut answer = Object::new();
        answer.insert("status", i64::from(self.status.as_u16()));
        answer.insert("headers", headers);
        answer.insert("body", body);
        Ok(Value::Object(answer))
    }

    /// Returns the error for a status that means failure.
    pub(crate) fn refused(&self) -> RequestError {
        let text = self.text().unwrap_or_default();
        RequestError::Refused(self.status, shown(&text), self.retry_after())
    }

    /// Returns how long the server asks to wait before the next request.
    fn retry_after(&self) -> Option<Duration> {
        let header = |name: &str| self.headers.get(name)?.to_str().ok();
        wait_in_headers(header, SystemTime::now)
    }
}

/// Returns the beginning of a failed answer.
fn shown(text: &str) -> String {
    text.trim().chars().take(MAX_SHOWN_FAILURE).collect()
}

/// Adds what is not empty to the query of an address.
pub(crate) fn add_query<'a>(url: &mut Url, query: impl Iterator<Item = (&'a str, String)>) {
    let given: Vec<(&str, String)> = query.filter(|(_, value)| !value.is_empty()).collect();
    if !given.is_empty() {
        url.query_pairs_mut().extend_pairs(given);
    }
}

/// Passes every text of a JSON value to `seen`.
fn texts<'a>(json: &'a Json, seen: &mut impl FnMut(&'a str)) {
    match json {
        Json::String(text) => seen(text),
        Json::Array(items) => items.iter().for_each(|item| texts(item, seen)),
        Json::Object(fields) => fields.values().for_each(|field| texts(field, seen)),
        _ => {}
    }
}

fn substituted(body: &Json, args: &Object) -> Json {
    match body {
        Json::String(text) => match parts(text).as_slice() {
            [
                TemplatePart::Text(""),
                TemplatePart::Argument(name),
                TemplatePart::Text(""),
            ] => args.get(name).map_or(Json::Null, Json::from),
            _ => filled(text, args).into(),
        },
        Json::Array(items) => items.iter().map(|item| substituted(item, args)).collect(),
        Json::Object(fields) => fields
            .iter()
            .map(|(name, field)| (name.clone(), substituted(field, args)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(json: Json) -> HttpRequest {
        serde_json::from_value(json).unwrap()
    }
    fn args(json: Json) -> Object {
        match Value::from(json) {
            Value::Object(args) => args,
            _ => panic!("an object"),
        }
    }

    #[test]
    fn arguments_are_values_and_nothing_else() {
        let weather = request(json!({"url": "https://api.example.org/w/{city}/now?units={units}&n={n}"}));
        let url = |city: &str| {
            weather
                .address(&args(json!({"city": city, "n": 2})))
                .map(String::from)
        };
        assert_eq!(
            url("Oslo").unwrap(),
            "https://api.example.org/w/Oslo/now?units=&n=2"
        );
        for (city, written) in [
            ("../../admin", "..%2F..%2Fadmin"),
            ("a?b=c&d#e", "a%3Fb%3Dc%26d%23e"),
            ("@evil.org", "%40evil.org"),
            ("Ålesund", "%C3%85lesund"),
            ("{n}", "%7Bn%7D"),
            ("%2e%2e", "%252e%252e"),
        ] {
            let url = url(city).unwrap();
            assert!(
                url.starts_with("https://api.example.org/w/") && url.contains(written),
                "{url}"
            );
        }
        assert!(url("..").is_err() && url(".").is_err());
        let headers = request(json!({"url": "https://x.org/", "headers": {"X-Who": "{who}"}}));
        assert!(
            headers
                .call("t", &args(json!({"who": "a\r\nHost: evil"})))
                .is_err()
        );
    }

    #[test]
    fn bodies_take_arguments_with_their_types() {
        let body = json!({"n": "{n}", "text": "for {who}: {n}", "list": ["{tags}"], "fixed": {"a": "{not a name}"}, "none": "{gone}"});
        let post = request(json!({"method": "POST", "url": "https://x.org/", "body": body}));
        let call = post
            .call("t1", &args(json!({"n": 2, "who": "Ada", "tags": ["x"]})))
            .unwrap();
        let sent: Json = serde_json::from_slice(&call.body.unwrap()).unwrap();
        assert_eq!(
            sent,
            json!({"n": 2, "text": "for Ada: 2", "list": [["x"]], "fixed": {"a": "{not a name}"}, "none": null})
        );
        assert_eq!(call.headers["idempotency-key"], "t1");
        let whole = request(json!({"method": "PUT", "url": "https://x.org/"}));
        let call = whole.call("t", &args(json!({"a": 1}))).unwrap();
        assert_eq!(call.body.unwrap(), br#"{"a":1}"#);
        assert_eq!(
            request(json!({"url": "https://x.org/"}))
                .call("t", &args(json!({})))
                .unwrap()
                .body,
            None
        );
    }

    #[test]
    fn the_host_of_an_address() {
        assert_eq!(origin("https://x.org/a/{b}"), "https://x.org");
        assert_eq!(origin("https://{b}.org/a"), "https://{b}.org");
        assert_eq!(origin("https://x.org?{b}"), "https://x.org");
        assert_eq!(origin("{url}"), "{url}");
    }
}
