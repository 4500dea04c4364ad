//! The connection to a server at an address, by streamable HTTP: rmcp's way through sessions and streams, with answers
//! that are read here (see `reading.rs`).

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Sse, SseStream};

use super::error::McpError;
use super::login::Login;
use super::reading::{self, Incoming, MAX_MESSAGE, PartsCount, SentRequest};
use crate::base::event_length::EventLength;

/// Longest wait for the answer to the question which revisions a server speaks. Older ones may say nothing at all.
const DISCOVER: Duration = Duration::from_secs(10);
/// Of the text that comes with a status that is no success.
const MAX_ERROR_TEXT: usize = 2_000;

/// Returns the settings of the transport to an address.
pub(super) fn config(
    url: &str,
    headers: HashMap<HeaderName, HeaderValue>,
) -> StreamableHttpClientTransportConfig {
    StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE)
        .max_json_response_size(MAX_MESSAGE)
}

type Events = BoxStream<'static, Result<Sse, SseError>>;
type Failure = StreamableHttpError<reqwest::Error>;

/// Client that asks a server.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    pub(super) client: Client,
    pub(super) parts: PartsCount,
    pub(super) login: Arc<Login>,
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        self.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, MAX_MESSAGE)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        most: usize,
    ) -> Result<Events, Failure> {
        let asking = async |token: Option<String>| {
            let (uri, session, last, headers) =
                (uri.clone(), session.clone(), last_event.clone(), headers.clone());
            self.client
                .get_stream_with_max_sse_event_size(uri, session, last, token, headers, most)
                .await
        };
        let token = self.token(token).await?;
        let events = match (asking(token.clone()).await, token) {
            (Err(StreamableHttpError::AuthRequired(challenge)), Some(refused)) => {
                match self.renewed(&refused).await? {
                    None => return Err(StreamableHttpError::AuthRequired(challenge)),
                    renewed => asking(renewed).await?,
                }
            }
            (answer, _) => answer?,
        };
        Ok(read(events, None))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let token = self.token(token).await?;
        self.client.delete_session(uri, session, token, headers).await
    }

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        _: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let sent = match &message {
            JsonRpcMessage::Request(request) => Some(SentRequest {
                id: request.id.clone(),
                method: request.request.method().to_owned(),
            }),
            _ => None,
        };
        let in_session = session.is_some();
        let token = self.token(token).await?;
        let asking = self.ask(uri, &message, session, token, headers);
        let response = match &sent {
            Some(sent) if sent.method == "server/discover" => {
                match tokio::time::timeout(DISCOVER, asking).await {
                    Ok(response) => response?,
                    Err(_) => return Ok(told(sent, "it says nothing")),
                }
            }
            _ => asking.await?,
        };
        match (response.status(), sent) {
            (StatusCode::ACCEPTED | StatusCode::NO_CONTENT, _) => Ok(StreamableHttpPostResponse::Accepted),
            (StatusCode::NOT_FOUND, _) if in_session => Err(StreamableHttpError::SessionExpired),
            (status, sent) if !status.is_success() => refused(response, sent, &self.parts).await,
            (_, None) => Ok(StreamableHttpPostResponse::Accepted),
            (_, Some(sent)) => answered(response, sent, &self.parts).await,
        }
    }
}

impl HttpClient {
    /// Returns the token to send: that of the login, where there is no other.
    async fn token(&self, given: Option<String>) -> Result<Option<String>, Failure> {
        match given {
            None => (self.login.token().await).map_err(|error| unsent(&self.login, error)),
            given => Ok(given),
        }
    }

    async fn renewed(&self, refused: &str) -> Result<Option<String>, Failure> {
        (self.login.renewed(refused).await).map_err(|error| unsent(&self.login, error))
    }

    /// Sends a message, and once more with a new token when the first is refused.
    async fn ask(
        &self,
        uri: Arc<str>,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, Failure> {
        let again = (uri.clone(), session.clone(), headers.clone());
        let mut response = self.send(uri, message, session, token.clone(), headers).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(refused) = token
            && let renewed @ Some(_) = self.renewed(&refused).await?
        {
            let (uri, session, headers) = again;
            response = self.send(uri, message, session, renewed, headers).await?;
        }
        self.login
            .learn(response.status(), challenge(response.headers()).as_deref())
            .await;
        Ok(response)
    }

    async fn send(
        &self,
        uri: Arc<str>,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response, Failure> {
        let mut request = self
            .client
            .post(uri.as_ref())
            .header(ACCEPT, format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}"))
            .header(CONTENT_TYPE, JSON_MIME_TYPE)
            .body(serde_json::to_vec(message)?);
        for (name, value) in headers {
            let reserved = name == ACCEPT
                || [HEADER_SESSION_ID, HEADER_LAST_EVENT_ID]
                    .iter()
                    .any(|header| name.as_str().eq_ignore_ascii_case(header));
            if reserved {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, session.as_ref());
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        Ok(request.send().await?)
    }
}

/// Takes note of why a request was not sent.
fn unsent(login: &Login, error: McpError) -> Failure {
    let words = error.to_string();
    login.fail(error);
    StreamableHttpError::AuthRequired(AuthRequiredError::new(words))
}

/// Returns what a server says of the login that it wants.
pub(super) fn challenge(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(WWW_AUTHENTICATE).iter();
    let all = all.map(|one| String::from_utf8_lossy(one.as_bytes()).into_owned());
    all.reduce(|all, one| format!("{all}, {one}"))
}

/// Returns the headers that a project gives to a server.
pub(super) fn headers(declared: &BTreeMap<String, String>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in declared {
        let name: HeaderName = name
            .parse()
            .map_err(|_| format!("{name:?} cannot be the name of a header"))?;
        let mut value: HeaderValue = value
            .parse()
            .map_err(|_| format!("the header {name} has characters that headers cannot have"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Reads the answer to a request.
async fn answered(
    response: Response,
    sent: SentRequest,
    parts: &PartsCount,
) -> Result<StreamableHttpPostResponse, Failure> {
    let session = header(response.headers(), HEADER_SESSION_ID);
    let kind = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    if is_kind(&kind, EVENT_STREAM_MIME_TYPE) {
        let events = SseStream::from_bytes_stream(bounded(response, parts.clone())).boxed();
        return Ok(StreamableHttpPostResponse::Sse(read(events, Some(sent)), session));
    }
    let body = match whole(response, MAX_MESSAGE, parts).await? {
        Some(body) => body,
        None => return Ok(told(&sent, &too_long())),
    };
    let read = match reading::messages(&body) {
        _ if body.trim_ascii().is_empty() => Err("it is empty".to_owned()),
        Err(_) if !is_kind(&kind, JSON_MIME_TYPE) => Err(format!("it is of the type {kind:?}")),
        read => read,
    };
    let mut messages = match read {
        Ok(read) => told_all(read, Some(&sent)),
        Err(cause) => return Ok(told(&sent, &cause)),
    };
    if !messages.iter().any(is_answer) {
        messages.push(reading::unreadable(&sent, "there is none"));
    }
    match <[ServerJsonRpcMessage; 1]>::try_from(messages) {
        Ok([one]) => Ok(StreamableHttpPostResponse::Json(one, session)),
        Err(several) => {
            let events = several.into_iter().map(|message| event(Sse::default(), &message));
            let events = stream::iter(events.collect::<Vec<_>>()).boxed();
            Ok(StreamableHttpPostResponse::Sse(events, session))
        }
    }
}

/// Reads an answer with a status that is no success.
async fn refused(
    response: Response,
    sent: Option<SentRequest>,
    parts: &PartsCount,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let challenge = challenge(response.headers());
    let retry_after = header(response.headers(), RETRY_AFTER.as_str());
    let forbidden = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let challenge = challenge.or_else(|| (status == StatusCode::UNAUTHORIZED).then(String::new));
    if let (true, Some(challenge)) = (forbidden, challenge) {
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(
            format!("HTTP {status}, {challenge}"),
        )));
    }
    let body = whole(response, MAX_MESSAGE, parts).await?.unwrap_or_default();
    if let Some(sent) = &sent
        && !forbidden
    {
        let read = reading::messages(&body).map(|read| told_all(read, Some(sent)));
        let error = read
            .unwrap_or_default()
            .into_iter()
            .find(|message| matches!(message, JsonRpcMessage::Error(_)));
        if let Some(error) = error {
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
        if sent.method == "server/discover" {
            return Ok(told(sent, "it is refused"));
        }
    }
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
    }
    let text: String = String::from_utf8_lossy(&body)
        .chars()
        .take(MAX_ERROR_TEXT)
        .collect();
    Err(StreamableHttpError::UnexpectedServerResponse(
        format!("HTTP {status}: {text}").into(),
    ))
}

/// Returns what a server that is there said instead of an answer.
pub(super) fn refusal(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    match error.downcast_ref::<Failure>()? {
        StreamableHttpError::HttpStatus(failure) => Some(failure.to_string()),
        StreamableHttpError::UnexpectedServerResponse(words) => Some(words.trim_end_matches('.').to_owned()),
        StreamableHttpError::AuthRequired(challenge) => Some(challenge.www_authenticate_header.clone()),
        _ => None,
    }
}

/// Returns whether the server did not let us in.
pub(super) fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(StreamableHttpError::<reqwest::Error>::AuthRequired(_))
    )
}

/// Reads the events of a stream, which answers `sent` if it came with it.
fn read(events: Events, sent: Option<SentRequest>) -> Events {
    let read = move |read: Result<Sse, SseError>| -> Vec<Result<Sse, SseError>> {
        let sse = match (read, &sent) {
            (Ok(sse), _) => sse,
            (Err(SseError::Body(cause)), Some(sent)) if is_too_long(&*cause) => {
                return vec![event(Sse::default(), &reading::unreadable(sent, too_long()))];
            }
            (error, _) => return vec![error],
        };
        let data = match (sse.event.as_deref(), sse.data.as_deref()) {
            (None | Some("" | "message"), Some(data)) if !data.trim().is_empty() => data,
            _ => return vec![Ok(sse)],
        };
        let messages = match reading::messages(data.as_bytes()) {
            Ok(read) => told_all(read, sent.as_ref()),
            Err(cause) => {
                tracing::warn!(target: "superstep::mcp", "an event cannot be read: {cause}");
                let outline = reading::Outline::of(data.as_bytes());
                let ours = sent.iter().filter(|_| outline.is_message && !outline.asks);
                ours.map(|sent| reading::unreadable(sent, cause.clone()))
                    .collect()
            }
        };
        let without = Sse {
            data: None,
            ..sse.clone()
        };
        if messages.is_empty() {
            return vec![Ok(without)];
        }
        messages
            .iter()
            .map(|message| event(without.clone(), message))
            .collect()
    };
    events.flat_map(move |next| stream::iter(read(next))).boxed()
}

/// Returns what came in as rmcp takes it. With `sent`, it came as the answer to that, whatever id it has.
fn told_all(read: Vec<Incoming>, sent: Option<&SentRequest>) -> Vec<ServerJsonRpcMessage> {
    let told = |incoming: Incoming| match (incoming, sent) {
        (Incoming::Said(message), _) => Some(*message),
        (Incoming::Answer { result, .. }, Some(sent)) => Some(reading::answer(sent, result)),
        (Incoming::Answer { id, result }, None) => {
            let method = String::new();
            Some(reading::answer(&SentRequest { id: id?, method }, result))
        }
    };
    read.into_iter().filter_map(told).collect()
}

fn told(sent: &SentRequest, cause: &str) -> StreamableHttpPostResponse {
    StreamableHttpPostResponse::Json(reading::unreadable(sent, cause.to_owned()), None)
}

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))
}

fn event(with: Sse, message: &ServerJsonRpcMessage) -> Result<Sse, SseError> {
    let data = serde_json::to_string(message).map_err(|error| SseError::Body(error.into()))?;
    Ok(with.data(data))
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}

fn is_kind(kind: &str, wanted: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(wanted)
}

fn too_long() -> String {
    format!("it is longer than {} MiB", MAX_MESSAGE >> 20)
}

/// Reads a body; `None` if it is longer than `most` bytes.
async fn whole(mut response: Response, most: usize, parts: &PartsCount) -> Result<Option<Vec<u8>>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
        parts.add();
    }
    Ok(Some(body))
}

/// Reason why a stream of events ends before it is whole.
#[derive(Debug, thiserror::Error)]
enum StreamFault {
    #[error("an event is longer than {} MiB", MAX_MESSAGE >> 20)]
    TooLong,
    #[error(transparent)]
    Cut(reqwest::Error),
}

fn is_too_long(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(StreamFault::TooLong))
}

/// Returns the bytes of a stream of events, none of which may be endless.
fn bounded(
    response: Response,
    parts: PartsCount,
) -> impl futures::Stream<Item = Result<Cursor<Vec<u8>>, StreamFault>> + Send + 'static {
    stream::unfold(Some((response, EventLength::default(), parts)), |state| async {
        let (mut response, mut length, parts) = state?;
        match response.chunk().await {
            Ok(Some(chunk)) if length.grow(&chunk) <= MAX_MESSAGE => {
                // What keeps the connection open, and says nothing of the call, comes in whole lines.
                if length.in_line() {
                    parts.add();
                }
                Some((Ok(Cursor::new(chunk.to_vec())), Some((response, length, parts))))
            }
            Ok(Some(_)) => Some((Err(StreamFault::TooLong), None)),
            Ok(None) => None,
            Err(error) => Some((Err(StreamFault::Cut(error)), None)),
        }
    })
}
