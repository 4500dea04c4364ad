//! Requests to a LangGraph server. What it says is bounded in size and time; nothing that it says is taken on trust.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use sse_stream::{Sse, SseStream};
use superstep::Value;

use super::address::AgentAddress;
use super::wire::{Assistant, ListedThread, ServerReleases, WireDrawing, WireRun, WireSchemas, WireState};
use crate::base::event_length::EventLength;
use crate::base::text::percent_encoded;
use crate::base::web::{Web, WebError, WebRequest};
use crate::programs::agent_server_error::AgentServerError;
use crate::project::Environment;

/// Largest answer, and largest event of a stream, in bytes.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// Bytes of what is said with a status that is no success.
const MAX_DETAIL: usize = 16 * 1024;
/// Letters of it that are shown.
const MAX_DETAIL_SHOWN: usize = 500;
/// Assistants and threads that are listed at a time.
const MAX_PAGE: usize = 1_000;
/// Assistants that are listed.
const MAX_ASSISTANTS: usize = 5_000;

/// Waits between attempts to go on with a stream.
const AGAIN: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// Times that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// For a whole answer, or the begin of a stream.
    pub answer: Duration,
    /// Between two parts of a stream: a server says every five seconds that it is there.
    pub silence: Duration,
    /// For a run to stop after it was asked to.
    pub stop: Duration,
    /// Waits between attempts to go on with a stream that broke off; as many attempts as there are waits.
    pub again: &'static [Duration],
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(60),
            silence: Duration::from_secs(60),
            stop: Duration::from_secs(10),
            again: &AGAIN,
        }
    }
}

/// Filter of a list of threads.
#[derive(Clone, Debug, Default)]
pub struct ThreadFilter {
    /// Entries of their metadata.
    pub metadata: Option<Json>,
    /// `idle`, `busy`, `interrupted` or `error`.
    pub status: Option<&'static str>,
}

/// A LangGraph server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AgentServer(Arc<ServerConnection>);

#[derive(Debug)]
struct ServerConnection {
    address: AgentAddress,
    web: Web,
    headers: HeaderMap,
    limits: AgentLimits,
}

/// Name of a request, for errors.
type Asked = &'static str;

/// Events of a run, as they come.
pub(super) type RunEvents = BoxStream<'static, Result<Sse, StreamEnd>>;

/// Reason why a stream of events ends before its time.
#[derive(Debug)]
pub(super) enum StreamEnd {
    /// An event is larger than the limit.
    TooLarge,
    /// Nothing came for too long.
    Silent,
    /// The connection broke off.
    Cut(String),
    /// What comes is no event.
    Garbled(String),
}

impl AgentServer {
    /// Prepares requests to a server, as far as the grants of the environment allow; its secrets are read there. Nothing is
    /// asked yet.
    pub fn new(address: AgentAddress, environment: &Environment) -> Result<Self, AgentServerError> {
        Self::with_limits(address, environment, AgentLimits::default())
    }

    /// Prepares requests to a server that has other times.
    pub fn with_limits(
        address: AgentAddress,
        environment: &Environment,
        limits: AgentLimits,
    ) -> Result<Self, AgentServerError> {
        let grants = address.permitted(&environment.grants)?;
        let headers = address.headers(&environment.variables)?;
        Ok(Self(Arc::new(ServerConnection {
            web: Web::new(&grants, &environment.models.private_hosts),
            address,
            headers,
            limits,
        })))
    }

    /// Returns its address.
    pub fn address(&self) -> &AgentAddress {
        &self.0.address
    }

    pub(super) fn limits(&self) -> AgentLimits {
        self.0.limits
    }

    /// Returns its address for messages.
    pub(super) fn place(&self) -> String {
        self.0.address.to_string()
    }

    /// Asks for its releases, which shows that it is one.
    pub async fn releases(&self) -> Result<ServerReleases, AgentServerError> {
        let asked = "what it is";
        let found: Json = self
            .ask(asked, Method::GET, "/info", None)
            .await
            .map_err(|error| {
                let cause = match error {
                    AgentServerError::Refused {
                        status: status @ (404 | 405),
                        ..
                    } => {
                        format!("it answers {status} to /info")
                    }
                    AgentServerError::Garbled { cause, .. } => cause,
                    error => return error,
                };
                self.other(cause)
            })?;
        if found.get("version").is_none() && found.get("flags").is_none() {
            return Err(self.other("what it says of itself has neither a version nor flags".to_owned()));
        }
        self.read_as(asked, found)
    }

    fn other(&self, cause: String) -> AgentServerError {
        AgentServerError::NotOne {
            server: self.place(),
            cause,
        }
    }

    /// Lists its assistants, those of its graphs first.
    pub async fn assistants(&self) -> Result<Vec<Assistant>, AgentServerError> {
        let mut found: Vec<Assistant> = Vec::new();
        loop {
            let body = json!({"limit": MAX_PAGE, "offset": found.len()});
            let asked = "its assistants";
            let page: Vec<Assistant> = self
                .ask(asked, Method::POST, "/assistants/search", Some(body))
                .await?;
            let is_last = page.len() < MAX_PAGE;
            found.extend(page);
            if found.len() > MAX_ASSISTANTS {
                return Err(self.too_large(asked, format!("{MAX_ASSISTANTS} assistants")));
            }
            if is_last {
                break;
            }
        }
        found.sort_by(|a, b| {
            let order = |one: &Assistant| (!one.is_of_graph(), one.graph_id.clone(), one.name.clone());
            order(a).cmp(&order(b))
        });
        Ok(found)
    }

    /// Chooses the assistant of this id or name, or the graph's of this name; where none is named, the only one.
    pub async fn assistant(&self, named: Option<&str>) -> Result<Assistant, AgentServerError> {
        let all = self.assistants().await?;
        let found = match named {
            Some(named) => {
                let by_id = all.iter().find(|one| one.assistant_id == named);
                let by_graph = || all.iter().find(|one| one.is_of_graph() && one.graph_id == named);
                let by_name = || all.iter().find(|one| one.name == named);
                by_id.or_else(by_graph).or_else(by_name)
            }
            None => {
                let graphs = all.iter().filter(|one| one.is_of_graph()).count();
                match (graphs, all.len()) {
                    (1, _) | (0, 1) => all.first(),
                    _ => None,
                }
            }
        };
        if let Some(found) = found {
            return Ok(found.clone());
        }
        let mut names: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
        names.dedup();
        Err(AgentServerError::Assistant {
            server: self.place(),
            named: named.map(str::to_owned),
            names,
        })
    }

    /// Asks for the drawing of an assistant's graph, with those within when `whole`.
    pub(super) async fn drawing(
        &self,
        assistant: &str,
        whole: bool,
    ) -> Result<WireDrawing, AgentServerError> {
        let path = format!("/assistants/{}/graph?xray={whole}", percent_encoded(assistant));
        self.ask("the drawing of a graph", Method::GET, &path, None).await
    }

    /// Asks for the schemas of an assistant.
    pub(super) async fn schemas(&self, assistant: &str) -> Result<WireSchemas, AgentServerError> {
        let path = format!("/assistants/{}/schemas", percent_encoded(assistant));
        self.ask("the schemas of a graph", Method::GET, &path, None).await
    }

    /// Lists threads, those that have changed last first.
    pub async fn threads(
        &self,
        filter: &ThreadFilter,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<ListedThread>, AgentServerError> {
        let mut body = json!({
            "limit": limit.clamp(1, MAX_PAGE),
            "offset": offset,
            "sort_by": "updated_at",
            "sort_order": "desc",
            "select": ["thread_id", "status", "created_at", "updated_at", "metadata"],
        });
        if let Some(metadata) = &filter.metadata {
            body["metadata"] = metadata.clone();
        }
        if let Some(status) = filter.status {
            body["status"] = status.into();
        }
        self.ask("its threads", Method::POST, "/threads/search", Some(body))
            .await
    }

    /// Lists all threads, at most `most`.
    pub(super) async fn all_threads(
        &self,
        filter: &ThreadFilter,
        most: usize,
    ) -> Result<Vec<ListedThread>, AgentServerError> {
        let mut found = Vec::new();
        loop {
            let page = self
                .threads(filter, MAX_PAGE.min(most - found.len()), found.len())
                .await?;
            let is_last = page.len() < MAX_PAGE;
            found.extend(page);
            if is_last || found.len() >= most {
                return Ok(found);
            }
        }
    }

    /// Asks for one thread as lists have it; `None` when there is none.
    pub(super) async fn thread(&self, thread: &str) -> Result<Option<ListedThread>, AgentServerError> {
        let path = format!("/threads/{}", percent_encoded(thread));
        let found: Result<ListedThread, _> = self.ask("a thread", Method::GET, &path, None).await;
        self.there("a thread", thread, found, |thread| {
            Some(thread.thread_id.as_str())
        })
    }

    /// Asks why the last run of a thread failed.
    pub(super) async fn failure(&self, thread: &str) -> Result<Value, AgentServerError> {
        let path = format!("/threads/{}", percent_encoded(thread));
        let found: Value = self.ask("a thread", Method::GET, &path, None).await?;
        Ok(found.get("error").cloned().unwrap_or_default())
    }

    /// Asks for a state, the newest of a namespace unless a checkpoint is named; `None` when there is none.
    pub(super) async fn state(
        &self,
        thread: &str,
        ns: &str,
        checkpoint: Option<&str>,
    ) -> Result<Option<WireState>, AgentServerError> {
        let asked = "a state";
        let id = percent_encoded(thread);
        let found: Result<WireState, _> = match (ns, checkpoint) {
            ("", None) => {
                self.ask(asked, Method::GET, &format!("/threads/{id}/state"), None)
                    .await
            }
            (ns, checkpoint) => {
                let mut place = json!({"checkpoint_ns": ns});
                if let Some(checkpoint) = checkpoint {
                    place["checkpoint_id"] = checkpoint.into();
                }
                let path = format!("/threads/{id}/state/checkpoint");
                let body = json!({"checkpoint": place});
                self.ask(asked, Method::POST, &path, Some(body)).await
            }
        };
        let found = self.there(asked, thread, found, |state| {
            state.checkpoint.as_ref()?.thread_id.as_deref()
        })?;
        let Some(state) = found.filter(|state| state.id().is_some()) else {
            return Ok(None);
        };
        self.is_of(asked, thread, ns, &state)?;
        if let (Some(wanted), Some(id)) = (checkpoint, state.id()) {
            self.same(asked, wanted, id)?;
        }
        Ok(Some(state))
    }

    /// Asks for the states of a namespace, the newest first; none of a thread that is not there.
    pub(super) async fn history(
        &self,
        thread: &str,
        ns: &str,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<WireState>, AgentServerError> {
        let asked = "the history of a thread";
        let path = format!("/threads/{}/history", percent_encoded(thread));
        let mut body = json!({"limit": limit.clamp(1, MAX_PAGE)});
        if !ns.is_empty() {
            body["checkpoint"] = json!({"checkpoint_ns": ns});
        }
        if let Some(before) = before {
            body["before"] = json!({"configurable": {"checkpoint_id": before}});
        }
        let found: Vec<WireState> = match self.ask(asked, Method::POST, &path, Some(body)).await {
            Err(error) if error.is_absent() => return Ok(Vec::new()),
            found => found?,
        };
        for state in &found {
            self.is_of(asked, thread, ns, state)?;
        }
        Ok(found)
    }

    /// Refuses a state of another thread or graph.
    fn is_of(&self, asked: Asked, thread: &str, ns: &str, state: &WireState) -> Result<(), AgentServerError> {
        let Some(place) = &state.checkpoint else {
            return Ok(());
        };
        if let Some(said) = &place.thread_id {
            self.same(asked, thread, said)?;
        }
        match &place.checkpoint_ns {
            Some(said) => self.same(asked, ns, said),
            None => Ok(()),
        }
    }

    pub(super) fn same(&self, what: Asked, asked: &str, said: &str) -> Result<(), AgentServerError> {
        match asked == said {
            true => Ok(()),
            false => Err(AgentServerError::OtherIds {
                server: self.place(),
                what,
                asked: asked.to_owned(),
                said: cut(said),
            }),
        }
    }

    /// Takes the answer about a thread; `None` when it is not there.
    fn there<T>(
        &self,
        asked: Asked,
        thread: &str,
        found: Result<T, AgentServerError>,
        id: impl Fn(&T) -> Option<&str>,
    ) -> Result<Option<T>, AgentServerError> {
        match found {
            Ok(found) => {
                if let Some(said) = id(&found) {
                    self.same(asked, thread, said)?;
                }
                Ok(Some(found))
            }
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes a thread's state as a node would, at its newest checkpoint unless one is named. Returns the new checkpoint.
    pub async fn update_state(
        &self,
        thread: &str,
        checkpoint: Option<&str>,
        values: &Value,
        as_node: Option<&str>,
    ) -> Result<String, AgentServerError> {
        let asked = "an edit of a state";
        let mut body = json!({"values": values});
        if let Some(node) = as_node {
            body["as_node"] = node.into();
        }
        if let Some(checkpoint) = checkpoint {
            body["checkpoint"] = json!({"checkpoint_id": checkpoint, "checkpoint_ns": ""});
        }
        let path = format!("/threads/{}/state", percent_encoded(thread));
        let made: Json = self.ask(asked, Method::POST, &path, Some(body)).await?;
        let place = &made["checkpoint"];
        if let Some(said) = place["thread_id"].as_str() {
            self.same(asked, thread, said)?;
        }
        let id = place["checkpoint_id"]
            .as_str()
            .or_else(|| made["checkpoint_id"].as_str());
        id.map(str::to_owned)
            .ok_or_else(|| self.garbled(asked, "it names no checkpoint".to_owned()))
    }

    /// Asks for a run; `None` when it is not there any more.
    pub(super) async fn run(&self, thread: &str, run: &str) -> Result<Option<WireRun>, AgentServerError> {
        let asked = "a run";
        let path = format!(
            "/threads/{}/runs/{}",
            percent_encoded(thread),
            percent_encoded(run)
        );
        let found: Result<WireRun, _> = self.ask(asked, Method::GET, &path, None).await;
        self.there(asked, run, found, |found| Some(found.run_id.as_str()))
    }

    /// Stops a run. One that has ended already stays as it is.
    pub async fn cancel(&self, thread: &str, run: &str) -> Result<(), AgentServerError> {
        let asked = "to stop a run";
        let (thread, run) = (percent_encoded(thread), percent_encoded(run));
        let path = format!("/threads/{thread}/runs/{run}/cancel?wait=0&action=interrupt");
        match self.send(asked, Method::POST, &path, None, &[]).await {
            Err(error) if error.is_absent() => Ok(()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Begins a run. Returns its events, and its id where the answer names it.
    pub(super) async fn begin(
        &self,
        thread: &str,
        request: Json,
    ) -> Result<(Option<String>, RunEvents), AgentServerError> {
        let asked = "to begin a run";
        let path = format!("/threads/{}/runs/stream", percent_encoded(thread));
        let response = self.send(asked, Method::POST, &path, Some(request), &[]).await?;
        let run = match response.headers().get("content-location") {
            Some(place) => self.run_of(asked, thread, place)?,
            None => None,
        };
        Ok((run, self.events(asked, response)?))
    }

    /// Reads the id of a run from its path, which has to be of this thread.
    fn run_of(
        &self,
        asked: Asked,
        thread: &str,
        place: &HeaderValue,
    ) -> Result<Option<String>, AgentServerError> {
        let place = place.to_str().unwrap_or_default();
        let parts = place
            .rsplit_once("/threads/")
            .and_then(|(_, rest)| rest.split_once("/runs/"));
        let Some((of, run)) = parts else {
            return Ok(None);
        };
        self.same(asked, thread, of)?;
        let run = run.split(['/', '?']).next().unwrap_or_default();
        Ok((!run.is_empty()).then(|| run.to_owned()))
    }

    /// Goes on with the events of a run behind one that came, or from its first one.
    pub(super) async fn go_on(
        &self,
        thread: &str,
        run: &str,
        behind: Option<&str>,
    ) -> Result<RunEvents, AgentServerError> {
        let asked = "the events of a run";
        let path = format!(
            "/threads/{}/runs/{}/stream",
            percent_encoded(thread),
            percent_encoded(run)
        );
        let behind = HeaderValue::from_str(behind.unwrap_or("-1"))
            .map_err(|_| self.garbled(asked, "the id of an event is none".to_owned()))?;
        let headers = [("last-event-id", behind)];
        let response = self.send(asked, Method::GET, &path, None, &headers).await?;
        self.events(asked, response)
    }

    fn events(&self, asked: Asked, response: Response) -> Result<RunEvents, AgentServerError> {
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.to_ascii_lowercase().contains("text/event-stream") {
            return Err(self.garbled(
                asked,
                format!("it is of the type {:?}, and no stream of events", cut(kind)),
            ));
        }
        let bytes = bounded(response, self.0.limits.silence);
        Ok(SseStream::from_bytes_stream(bytes)
            .map(|read| read.map_err(StreamEnd::of))
            .boxed())
    }

    pub(super) fn garbled(&self, what: Asked, cause: String) -> AgentServerError {
        AgentServerError::Garbled {
            server: self.place(),
            what,
            cause,
        }
    }

    pub(super) fn too_large(&self, what: Asked, limit: String) -> AgentServerError {
        AgentServerError::TooLarge {
            server: self.place(),
            what,
            limit,
        }
    }

    fn read_as<T: DeserializeOwned>(&self, asked: Asked, json: Json) -> Result<T, AgentServerError> {
        serde_json::from_value(json).map_err(|error| self.garbled(asked, error.to_string()))
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        asked: Asked,
        method: Method,
        path: &str,
        body: Option<Json>,
    ) -> Result<T, AgentServerError> {
        let limit = self.0.limits.answer;
        let whole = async {
            let response = self.send(asked, method, path, body, &[]).await?;
            let (bytes, is_whole) = self.whole(response, MAX_ANSWER).await?;
            match is_whole {
                true => Ok(bytes),
                false => Err(self.too_large(asked, format!("{} MiB", MAX_ANSWER >> 20))),
            }
        };
        let bytes = match tokio::time::timeout(limit, whole).await {
            Ok(bytes) => bytes?,
            Err(_) => return Err(self.stalls(asked)),
        };
        // Values that are nested too deep are an error of the reader.
        serde_json::from_slice(&bytes).map_err(|error| self.garbled(asked, error.to_string()))
    }

    fn stalls(&self, what: Asked) -> AgentServerError {
        AgentServerError::Stalls {
            server: self.place(),
            what,
            limit: self.0.limits.answer,
        }
    }

    /// Sends a request, and takes an answer that is a success.
    async fn send(
        &self,
        asked: Asked,
        method: Method,
        path: &str,
        body: Option<Json>,
        more: &[(&'static str, HeaderValue)],
    ) -> Result<Response, AgentServerError> {
        let mut headers = self.0.headers.clone();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        for (name, value) in more {
            headers.insert(*name, value.clone());
        }
        let body = match body {
            Some(body) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Some(serde_json::to_vec(&body).map_err(|error| self.garbled(asked, error.to_string()))?)
            }
            None => None,
        };
        let call = WebRequest {
            method,
            url: self.0.address.at(path)?,
            headers,
            body,
        };
        let sent = tokio::time::timeout(self.0.limits.answer, self.0.web.send(call)).await;
        let response = match sent {
            Err(_) => return Err(self.stalls(asked)),
            Ok(Err(WebError::AccessDenied(denied))) => return Err(AgentServerError::AccessDenied(denied)),
            Ok(Err(error)) => {
                return Err(AgentServerError::Unreachable {
                    server: self.place(),
                    cause: error.to_string(),
                });
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let said = tokio::time::timeout(self.0.limits.answer, self.whole(response, MAX_DETAIL)).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default().0;
        Err(AgentServerError::Refused {
            server: self.place(),
            what: asked,
            status: status.as_u16(),
            detail: detail(&said),
        })
    }

    /// Reads a body, and whether that is all of it.
    async fn whole(&self, mut response: Response, most: usize) -> Result<(Vec<u8>, bool), AgentServerError> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if bytes.len() + chunk.len() <= most => bytes.extend_from_slice(&chunk),
                Ok(Some(_)) => return Ok((bytes, false)),
                Ok(None) => return Ok((bytes, true)),
                Err(error) => {
                    return Err(AgentServerError::Unreachable {
                        server: self.place(),
                        cause: crate::base::web::failure(&error).to_string(),
                    });
                }
            }
        }
    }
}

/// Returns what a server says about a status: its `detail`, or else the text.
fn detail(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let json: Option<Json> = serde_json::from_slice(said).ok();
    let text = match json.as_ref().map(|json| json.get("detail").unwrap_or(json)) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(items)) => {
            let one = |item: &Json| {
                item["msg"]
                    .as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            };
            items.iter().map(one).collect::<Vec<_>>().join("; ")
        }
        Some(other) => other.to_string(),
        None => text.into_owned(),
    };
    cut(text.trim().trim_end_matches('.'))
}

/// Shortens a text of a server, in one line and without control characters.
fn cut(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(MAX_DETAIL_SHOWN)
        .collect();
    plain.trim().to_owned()
}

impl std::fmt::Display for StreamEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge => write!(f, "an event is larger than {} MiB", MAX_ANSWER >> 20),
            Self::Silent => f.write_str("nothing came for too long"),
            Self::Cut(cause) | Self::Garbled(cause) => f.write_str(cause),
        }
    }
}

impl std::error::Error for StreamEnd {}

impl StreamEnd {
    fn of(error: sse_stream::Error) -> Self {
        match error {
            sse_stream::Error::Body(cause) => match cause.downcast::<StreamEnd>() {
                Ok(end) => *end,
                Err(cause) => Self::Cut(cause.to_string()),
            },
            error => Self::Garbled(error.to_string()),
        }
    }
}

/// Returns the bytes of a stream of events, none of which may be endless, and which may not be silent for ever.
fn bounded(
    response: Response,
    silence: Duration,
) -> impl futures::Stream<Item = Result<Cursor<Vec<u8>>, StreamEnd>> + Send + 'static {
    stream::unfold(
        Some((response, EventLength::default())),
        move |state| async move {
            let (mut response, mut length) = state?;
            loop {
                let end = match tokio::time::timeout(silence, response.chunk()).await {
                    Ok(Ok(Some(chunk))) if chunk.is_empty() => continue,
                    Ok(Ok(Some(chunk))) if length.grow(&chunk) <= MAX_ANSWER => {
                        return Some((Ok(Cursor::new(chunk.to_vec())), Some((response, length))));
                    }
                    Ok(Ok(Some(_))) => StreamEnd::TooLarge,
                    Ok(Ok(None)) => return None,
                    Ok(Err(error)) => StreamEnd::Cut(crate::base::web::failure(&error).to_string()),
                    Err(_) => StreamEnd::Silent,
                };
                return Some((Err(end), None));
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_about_a_status_is_short_and_of_one_line() {
        for (said, shown) in [
            (r#"{"detail": "Thread not found."}"#, "Thread not found"),
            (r#"{"detail": [{"msg": "a"}, {"loc": []}]}"#, r#"a; {"loc":[]}"#),
            ("\"bare\"", "bare"),
            ("Internal\n\u{1b}[31mServer Error", "Internal  [31mServer Error"),
            (r#"{"other": 1}"#, r#"{"other":1}"#),
        ] {
            assert_eq!(detail(said.as_bytes()), shown);
        }
        assert_eq!(detail(&vec![b'x'; 5_000]).len(), MAX_DETAIL_SHOWN);
    }
}
