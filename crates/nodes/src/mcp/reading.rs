//! Messages of servers, read leniently: what rmcp's types refuse for one optional or unknown detail is still a message.
//!
//! The transports hand every text that comes in to [`messages`]. What a request came to is passed on as it is, as a
//! result of no particular type (see [`raw_result`]); `client.rs` and `content.rs` read it part by part.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CustomNotification, CustomRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, ListToolsResult,
    RequestId, ServerJsonRpcMessage, ServerNotification, ServerRequest, ServerResult,
};
use serde_json::{Map, Value as Json, json};

use super::offers;

/// Longest message from a server, in bytes; one that never ends would fill the memory.
pub(super) const MAX_MESSAGE: usize = 32 * 1024 * 1024;
/// Messages that are read of one text.
const MAX_BATCH: usize = 1_000;
/// Code of an answer that could not be read, made up on this side; servers use codes of JSON-RPC.
pub(super) const UNREADABLE: ErrorCode = ErrorCode(i32::MIN);
const NO_RESULT: &str = "it has neither `result` nor `error`";
/// Member that holds a result as it came in.
const RAW: &str = "superstep/raw";

/// Counts parts of messages that are not whole yet. A server that sends a long answer is slow, and not silent.
#[derive(Clone, Debug, Default)]
pub(super) struct PartsCount(Arc<AtomicU64>);

impl PartsCount {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request that was sent, as far as its answer is read by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentRequest {
    pub(super) id: RequestId,
    pub(super) method: String,
}

/// A message, or an answer whose request has to be found.
#[derive(Debug)]
pub(super) enum Incoming {
    /// What a request came to; without an id, the server could not read the request, or forgot it.
    Answer {
        id: Option<RequestId>,
        result: Result<Json, ErrorData>,
    },
    /// A request or a notice of the server.
    Said(Box<ServerJsonRpcMessage>),
}

/// Reads a text of one message, or of several as a list.
pub(super) fn messages(bytes: &[u8]) -> Result<Vec<Incoming>, String> {
    match json(bytes)? {
        Json::Array(batch) => Ok(batch
            .into_iter()
            .take(MAX_BATCH)
            .filter_map(|one| message(one).ok())
            .collect()),
        one => Ok(vec![message(one)?]),
    }
}

/// Reads JSON as programs write it.
fn json(bytes: &[u8]) -> Result<Json, String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    serde_json::from_str(text)
        .or_else(|error| serde_json::from_str(&repaired(text)).map_err(|_| error))
        .map_err(|error| format!("it is no JSON ({error})"))
}

fn message(message: Json) -> Result<Incoming, String> {
    let Json::Object(mut fields) = message else {
        return Err(format!("it is no message, but {}", kind_of(&message)));
    };
    let id = fields.remove("id").and_then(|id| serde_json::from_value(id).ok());
    if let Some(Json::String(method)) = fields.remove("method") {
        return Ok(Incoming::Said(Box::new(said(
            id,
            &method,
            fields.remove("params"),
        ))));
    }
    let result = match (fields.remove("error"), fields.remove("result")) {
        (None | Some(Json::Null), Some(result)) => Ok(result),
        (Some(error), _) if !error.is_null() => Err(error_of(error)),
        _ if fields.contains_key("jsonrpc") => Err(ErrorData::new(UNREADABLE, NO_RESULT, None)),
        _ => return Err(NO_RESULT.to_owned()),
    };
    Ok(Incoming::Answer { id, result })
}

/// Returns a server's request or notice; one that has no form that is known stays one.
fn said(id: Option<RequestId>, method: &str, params: Option<Json>) -> ServerJsonRpcMessage {
    let params = params.filter(|params| !params.is_null());
    let mut whole = json!({"method": method});
    if let Some(params) = &params {
        whole["params"] = params.clone();
    }
    match id {
        Some(id) => {
            let known = serde_json::from_value(whole).ok();
            let other = || ServerRequest::CustomRequest(CustomRequest::new(method, params));
            JsonRpcMessage::request(known.unwrap_or_else(other), id)
        }
        None => {
            let known = serde_json::from_value(whole).ok();
            let other = || ServerNotification::CustomNotification(CustomNotification::new(method, params));
            JsonRpcMessage::notification(known.unwrap_or_else(other))
        }
    }
}

fn error_of(error: Json) -> ErrorData {
    let code = error.get("code").and_then(Json::as_i64);
    let code = code
        .and_then(|code| i32::try_from(code).ok())
        .filter(|code| *code != UNREADABLE.0);
    let message = match error.get("message").unwrap_or(&error) {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    ErrorData::new(
        code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
        message,
        error.get("data").cloned(),
    )
}

/// Returns the message with which rmcp gets the outcome of a request.
pub(super) fn answer(sent: &SentRequest, result: Result<Json, ErrorData>) -> ServerJsonRpcMessage {
    let result = result.and_then(|result| match &*sent.method {
        "initialize" => Ok(initialized(&result)),
        // Some servers answer everything; one that knows this request says which revisions it speaks.
        "server/discover" => discovered(&result).ok_or_else(not_discovered),
        "tools/list" => Ok(listed_tools(result)),
        _ => Ok(raw_result(result)),
    });
    match result {
        Ok(result) => JsonRpcMessage::response(result, sent.id.clone()),
        Err(error) if error.code == UNREADABLE => unreadable(sent, error.message),
        Err(error) => JsonRpcMessage::error(error, Some(sent.id.clone())),
    }
}

/// Returns the message for a request whose answer is there and cannot be read.
pub(super) fn unreadable(sent: &SentRequest, cause: impl Into<Cow<'static, str>>) -> ServerJsonRpcMessage {
    let error = match &*sent.method {
        "server/discover" => not_discovered(),
        _ => ErrorData::new(UNREADABLE, cause, None),
    };
    JsonRpcMessage::error(error, Some(sent.id.clone()))
}

/// Returns the error with which rmcp goes on in the way of the older revisions.
fn not_discovered() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover is not known", None)
}

/// Packs a result that rmcp's types are not to read.
pub(super) fn raw_result(result: Json) -> ServerResult {
    ServerResult::CustomResult(CustomResult(json!({ RAW: result })))
}

/// Returns a result as the server sent it.
pub(super) fn unpacked(result: ServerResult) -> Json {
    match result {
        ServerResult::CustomResult(CustomResult(mut packed)) => match packed.get_mut(RAW) {
            Some(raw) => raw.take(),
            None => packed,
        },
        ServerResult::ListToolsResult(mut list) => {
            let Some(mut raw) = list.meta.as_mut().and_then(|meta| meta.remove(RAW)) else {
                return serde_json::to_value(list).unwrap_or_default();
            };
            // rmcp has left out those whose arguments cannot be sent as headers, as the protocol wants it.
            let kept = |tool: &Json| {
                offers::tool(tool, 0)
                    .map_or(true, |read| list.tools.iter().any(|tool| tool.name == *read.name))
            };
            if let Some(Json::Array(tools)) = raw.get_mut("tools") {
                tools.retain(kept);
            }
            raw
        }
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// Packs a list of tools so that rmcp sees those that it needs for the headers of their calls.
fn listed_tools(result: Json) -> ServerResult {
    let tools = result.get("tools").and_then(Json::as_array);
    let known = tools.into_iter().flatten().filter_map(|tool| {
        let read = offers::tool(tool, 0).ok()?;
        serde_json::from_value(json!({"name": read.name, "inputSchema": read.input_schema})).ok()
    });
    let mut list = ListToolsResult::with_all_items(known.collect());
    list.meta = Some(Map::from_iter([(RAW.to_owned(), result)]).into());
    ServerResult::ListToolsResult(list)
}

fn initialized(result: &Json) -> ServerResult {
    let known = |field: &str, what: Json| match as_type::<rmcp::model::InitializeResult>(&json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "", "version": ""},
        field: result.get(field).cloned().unwrap_or_default(),
    })) {
        Some(_) => result[field].clone(),
        None => what,
    };
    let whole = json!({
        "protocolVersion": known("protocolVersion", json!("2025-06-18")),
        "capabilities": known("capabilities", json!({})),
        "serverInfo": known("serverInfo", json!({"name": "unknown", "version": "0"})),
    });
    as_type(&whole).map_or_else(|| raw_result(result.clone()), ServerResult::InitializeResult)
}

fn discovered(result: &Json) -> Option<ServerResult> {
    let versions: Vec<&Json> = result
        .get("supportedVersions")?
        .as_array()?
        .iter()
        .filter(|version| version.is_string())
        .collect();
    let whole = |capabilities: &Json| {
        as_type(&json!({
            "resultType": "complete", "supportedVersions": versions, "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "private",
        }))
    };
    let capabilities = result.get("capabilities").and_then(whole);
    capabilities
        .or_else(|| whole(&json!({})))
        .map(ServerResult::DiscoverResult)
}

fn as_type<T: serde::de::DeserializeOwned>(value: &Json) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// Returns the word for a kind of value, with its article.
pub(super) fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// Rewrites what programs write beside the grammar of JSON: half of a pair of surrogates becomes U+FFFD, numbers that
/// are none become null, raw control characters in texts are escaped.
fn repaired(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let (mut at, mut inside) = (0, false);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (written, taken): (&[u8], usize) = match (inside, rest[0]) {
            (_, b'"') => {
                inside = !inside;
                (&rest[..1], 1)
            }
            (true, b'\\') => match (code_unit(rest), rest.get(6..).and_then(code_unit)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (&rest[..12], 12),
                (Some(0xd800..=0xdfff), _) => (b"\\ufffd", 6),
                _ => {
                    let taken = rest.len().min(2);
                    (&rest[..taken], taken)
                }
            },
            (true, control @ 0..0x20) => {
                out.extend_from_slice(format!("\\u{control:04x}").as_bytes());
                (b"", 1)
            }
            (false, _) if rest.starts_with(b"NaN") => (b"null", 3),
            (false, _) if rest.starts_with(b"Infinity") => (b"null", 8),
            (false, _) if rest.starts_with(b"-Infinity") => (b"null", 9),
            _ => (&rest[..1], 1),
        };
        out.extend_from_slice(written);
        at += taken;
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the code unit of an escape `\uXXXX` at the beginning.
fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Members of a message, found without reading the message: one that is cut, too long or broken has them too.
#[derive(Debug, Default)]
pub(super) struct Outline {
    depth: usize,
    inside: bool,
    escaped: bool,
    word: Vec<u8>,
    key: Option<Vec<u8>>,
    /// The id, once it has been seen.
    pub(super) id: Option<RequestId>,
    /// A request or a notice of the server, and no answer.
    pub(super) asks: bool,
    /// There is a member that messages have.
    pub(super) is_message: bool,
}

impl Outline {
    /// Longest word that is looked at; ids and names of members are shorter.
    const MAX_WORD: usize = 128;

    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.feed(bytes);
        outline
    }

    /// Takes in the next bytes of the message.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match (self.inside, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (true, b'"') => {
                    self.inside = false;
                    self.end_text();
                }
                (true, _) => self.take(byte),
                (false, b'"') => {
                    self.inside = true;
                    self.word.clear();
                }
                (false, b':') if self.depth == 1 => {
                    self.key = Some(std::mem::take(&mut self.word));
                    self.note_key();
                }
                (false, b',') => self.end_value(),
                (false, b'{' | b'[') => {
                    self.depth += 1;
                    self.word.clear();
                }
                (false, b'}' | b']') => {
                    self.end_value();
                    self.depth = self.depth.saturating_sub(1);
                }
                (false, byte) if !byte.is_ascii_whitespace() => self.take(byte),
                _ => {}
            }
        }
    }

    fn take(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() < Self::MAX_WORD {
            self.word.push(byte);
        }
    }

    fn note_key(&mut self) {
        match self.key.as_deref() {
            Some(b"method") => (self.asks, self.is_message) = (true, true),
            Some(b"jsonrpc" | b"result" | b"error") => self.is_message = true,
            _ => {}
        }
    }

    fn end_text(&mut self) {
        if self.depth == 1 && self.key.as_deref() == Some(b"id") && self.id.is_none() {
            let text = String::from_utf8_lossy(&self.word).into_owned();
            self.id = Some(RequestId::String(text.into()));
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            if self.key.take().as_deref() == Some(b"id") && self.id.is_none() {
                let number = std::str::from_utf8(&self.word).ok();
                self.id = number
                    .and_then(|text| text.trim_end_matches(".0").parse().ok())
                    .map(RequestId::Number);
            }
            self.word.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(text: &str) -> (Option<RequestId>, Result<Json, ErrorData>) {
        match messages(text.as_bytes()).unwrap().pop().unwrap() {
            Incoming::Answer { id, result } => (id, result),
            said @ Incoming::Said(_) => panic!("{said:?}"),
        }
    }

    #[test]
    fn json_is_read_as_programs_write_it() {
        let read = |text: &str| answers(&format!("{{\"id\": 1, \"result\": {text}}}")).1.unwrap();
        for (text, value) in [
            (r#""cut \ud83d""#, json!("cut \u{fffd}")),
            (r#""cut \udc4d here""#, json!("cut \u{fffd} here")),
            (r#""\ud83d\ud83d\udc4d""#, json!("\u{fffd}👍")),
            (r#""\ud83d\\u""#, json!("\u{fffd}\\u")),
            (r#""a \\ud83d b""#, json!("a \\ud83d b")),
            ("\"a\tb\u{1}\"", json!("a\tb\u{1}")),
            ("[NaN, Infinity, -Infinity, -1]", json!([null, null, null, -1])),
            (r#"{"NaN": "NaN \ud800"}"#, json!({"NaN": "NaN \u{fffd}"})),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
        assert_eq!(
            json(b"\xef\xbb\xbf {\"a\": \"\xff\"}"),
            Ok(json!({"a": "\u{fffd}"}))
        );
        assert!(json(b"{\"a\": ").is_err());
    }

    #[test]
    fn messages_are_known_by_what_they_have() {
        for (text, id, result) in [
            (
                r#"{"id": 3, "result": {}}"#,
                Some(RequestId::Number(3)),
                Ok(json!({})),
            ),
            (
                r#"{"id": "3", "result": null, "error": null}"#,
                Some(RequestId::String("3".into())),
                Ok(json!(null)),
            ),
            (
                r#"{"id": 3.0, "error": "no"}"#,
                Some(RequestId::Number(3)),
                Err((-32603, "no")),
            ),
            (
                r#"{"id": null, "result": null, "error": {"code": 4.5, "message": 7}}"#,
                None,
                Err((-32603, "7")),
            ),
            (
                r#"{"error": {"code": -32700, "message": "no JSON"}}"#,
                None,
                Err((-32700, "no JSON")),
            ),
        ] {
            let read = answers(text);
            let read = (
                read.0,
                read.1.map_err(|error| (error.code.0, error.message.into_owned())),
            );
            let wanted = (id, result.map_err(|(code, text)| (code, text.to_owned())));
            assert_eq!(read, wanted, "{text}");
        }
        let batch = messages(br#"[{"id": 1, "result": 1}, {"method": "x/y", "params": 3}]"#).unwrap();
        assert_eq!(batch.len(), 2);
        assert!(messages(br#"{"id": 1}"#).is_err() && messages(b"7").is_err());
    }

    #[test]
    fn the_id_of_a_broken_message_is_found() {
        let number = |id: i64| Some(RequestId::Number(id));
        for (text, id, asks) in [
            (
                r#"{"jsonrpc":"2.0","id":12,"result":{"content":[{"te"#,
                number(12),
                false,
            ),
            (
                r#"{"result":{"id": 4, "a": "\"id\": 5"}, "id": 6 }"#,
                number(6),
                false,
            ),
            (
                r#"{"id":"a-b","result":"#,
                Some(RequestId::String("a-b".into())),
                false,
            ),
            (r#"{"method": "x", "id": 7, "params": "#, number(7), true),
            (r#"{"id": 7.0, "result": "#, number(7), false),
            (r#"{"result": {"id": 3}"#, None, false),
        ] {
            let outline = Outline::of(text.as_bytes());
            assert_eq!(
                (outline.id, outline.asks, outline.is_message),
                (id, asks, true),
                "{text}"
            );
        }
        assert!(!Outline::of(b"{'progress': 1}").is_message);
    }
}
