//! What was asked of a model server and what it answered, kept for the trace: the request as it is handed to the
//! provider layer, the body that was sent, and the answer frame by frame as it came over the wire.
//!
//! Exchanges are no part of the state and of no stream: they would make every checkpoint and every reader of a run pay
//! for what is looked at when something is odd. They wait here until the host takes them to the task's record.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};
use superstep::stream::ModelUsage;
use superstep::{NodeContext, ThreadId};

use super::recording::{self, RecordedEntry, RequestOrigin};
use super::{ModelAnswer, ModelRequest, TokenUsage, args_json};
use crate::base::secrets;

/// Longest text of one message, and of one answer, that is kept.
const MAX_TEXT: usize = 128 * 1024;
/// Longest data of a picture or file that is kept.
const MAX_DATA: usize = 64;
/// Longest body of a request that is kept, as JSON.
const MAX_BODY: usize = 512 * 1024;
/// Longest text in a body that would be too long with the texts in full.
const MAX_TEXT_OF_LONG_BODY: usize = 2 * 1024;
/// What waits at most, over all tasks.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// The model as the graph names it.
    pub model: String,
    /// Where the request went; empty for the provider's own address.
    pub address: String,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub at: u64,
    /// How long the answer took, in milliseconds.
    pub took: u64,
    /// Messages, tools and parameters, as they were handed to the provider layer.
    pub request: Json,
    /// The body as it was sent, in the server's own protocol; `None` where the provider layer wrote it, or nothing was
    /// sent. Keys are in no body.
    pub body: Option<Json>,
    /// The frames of the answer, one a line, as they came.
    pub response: String,
    /// The text of the answer, when it is complete, and the calls in it.
    pub answer: String,
    /// Who gave it.
    pub by: AnsweredBy,
    /// How it ended: `done`, `failed`, or `left` when nobody waited for the rest.
    pub ended: Ended,
    /// Tokens it used, as `usage_metadata` has them, when the server says.
    pub usage: Option<Json>,
    /// `{amount, currency, prices}`, when there is a price.
    pub cost: Option<Json>,
    /// Of a complete answer of a server: what a file of [recorded answers](super::Recordings) would have of it, so that a
    /// test can be made of what happened. `None` when it is too long to be kept.
    pub recorded: Option<Json>,
}

/// Outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The answer is complete.
    Done,
    /// The server failed or refused.
    Failed,
    /// The run was stopped, or the time was over.
    Left,
}

/// Source of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// The model's server.
    #[default]
    Server,
    /// The file of recorded answers; tokens and cost are those of the recording.
    Recording,
    /// The node's script.
    Script,
}

impl Exchange {
    fn size(&self) -> usize {
        // The request as JSON text is about as large as what it is made of.
        let size = |json: &Option<Json>| json.as_ref().map_or(0, json_size);
        let kept = size(&self.body) + size(&self.recorded);
        self.response.len() + self.answer.len() + json_size(&self.request) + kept
    }
}

/// Exchanges by task, the oldest forgotten first when there are too many.
#[derive(Debug, Default)]
pub struct Exchanges(Mutex<ExchangeLog>);

#[derive(Debug, Default)]
struct ExchangeLog {
    list: VecDeque<(String, usize, Exchange)>,
    bytes: usize,
}

impl Exchanges {
    fn lock(&self) -> MutexGuard<'_, ExchangeLog> {
        self.0.lock()
    }

    /// Keeps one.
    fn put(&self, task: String, exchange: Exchange) {
        let size = exchange.size();
        let mut waiting = self.lock();
        waiting.bytes += size;
        waiting.list.push_back((task, size, exchange));
        while waiting.bytes > MAX_WAITING {
            let Some((_, size, _)) = waiting.list.pop_front() else {
                break;
            };
            waiting.bytes -= size;
        }
    }

    /// Removes the exchanges of a task and returns them in their order.
    pub fn take(&self, task: &str) -> Vec<Exchange> {
        let mut waiting = self.lock();
        let (taken, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut waiting.list)
            .into_iter()
            .partition(|(of, ..)| of == task);
        waiting.list = rest.into();
        waiting.bytes = waiting.list.iter().map(|(_, size, _)| size).sum();
        taken.into_iter().map(|(_, _, exchange)| exchange).collect()
    }
}

/// Task whose exchanges are kept.
#[derive(Clone, Debug)]
pub struct WatchedTask {
    exchanges: Arc<Exchanges>,
    task: NodeContext,
}

impl WatchedTask {
    /// Returns the thread of the task.
    pub(super) fn thread(&self) -> Option<&ThreadId> {
        self.task.info().thread.as_ref()
    }

    /// Keeps exchanges for the task of `context`.
    pub fn new(exchanges: Arc<Exchanges>, context: &NodeContext) -> Self {
        Self {
            exchanges,
            task: context.clone(),
        }
    }
}

/// An exchange that goes on; it is kept when this is dropped, however it ended.
pub(crate) struct OpenExchange {
    watch: WatchedTask,
    model: String,
    address: String,
    request: Json,
    body: Option<Json>,
    at: u64,
    began: Instant,
    pub(super) frames: String,
    answer: String,
    by: AnsweredBy,
    pub(super) ended: Ended,
    pub(super) usage: Option<Json>,
    pub(super) cost: Option<Json>,
    /// What would be recorded of it; of an answer from a server only.
    recorded: Option<RecordedEntry>,
}

impl OpenExchange {
    pub(super) fn new(request: &ModelRequest, model: &str, address: &str) -> Option<Self> {
        let mut open = Self::begun(request, model, address)?;
        let task = open.watch.task.info();
        let asker = RequestOrigin {
            node: &task.node,
            step: task.step,
        };
        open.recorded = Some(RecordedEntry::of(model, request, asker));
        Some(open)
    }

    fn begun(request: &ModelRequest, model: &str, address: &str) -> Option<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Some(Self {
            watch: request.watch.clone()?,
            model: model.to_owned(),
            address: address.to_owned(),
            request: described(request),
            body: None,
            at: u64::try_from(now.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX),
            began: Instant::now(),
            frames: String::new(),
            answer: String::new(),
            by: AnsweredBy::Server,
            ended: Ended::Left,
            usage: None,
            cost: None,
            recorded: None,
        })
    }

    /// Creates an exchange for an answer that does not come from a server now.
    pub(crate) fn offline(request: &ModelRequest, model: &str, by: AnsweredBy) -> Option<Self> {
        let mut open = Self::begun(request, model, "")?;
        open.by = by;
        Some(open)
    }

    /// Records the body of the request, which is sent now.
    pub(super) fn sent(&mut self, body: Json) {
        self.body = Some(bounded(body));
    }

    /// Records that the answer is complete.
    pub(crate) fn done(&mut self, answer: &ModelAnswer) {
        self.ended = Ended::Done;
        self.usage = answer.usage.as_ref().map(TokenUsage::json);
        self.cost.clone_from(&answer.cost);
        self.answer = shown(answer);
        let pieces = |entry: RecordedEntry| entry.answered(answer, recording::pieces_of(answer));
        self.recorded = self.recorded.take().map(pieces);
    }

    /// Records what came of an answer that was cut off.
    pub(super) fn cut(&mut self, answer: &ModelAnswer) {
        if self.ended != Ended::Done {
            self.answer = shown(answer);
        }
    }

    /// Adds a piece of an answer whose end may not come.
    pub(crate) fn came(&mut self, text: &str) {
        if self.answer.len() < MAX_TEXT {
            self.answer.push_str(text);
        }
    }

    /// Records that the answer did not arrive.
    pub(crate) fn failed(&mut self, why: &str) {
        self.ended = Ended::Failed;
        self.frames.push_str(why);
    }
}

/// Formats an answer for people: its text, and a line for each call.
fn shown(answer: &ModelAnswer) -> String {
    let mut text = answer.text.clone();
    for call in &answer.tool_calls {
        let args = match &call.args {
            Ok(args) => args_json(args).to_string(),
            Err(invalid) => invalid.text.clone(),
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&call.name);
        text.push('(');
        text.push_str(&args);
        text.push(')');
    }
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text
}

/// Returns what limits of the run count of an exchange, as the trace counts it. An answer whose server counts no tokens
/// was paid for without a known price; a scripted one is `None`.
fn used(exchange: &Exchange) -> Option<ModelUsage> {
    let Some(usage) = &exchange.usage else {
        let is_uncounted = exchange.by == AnsweredBy::Server && exchange.ended == Ended::Done;
        return is_uncounted.then(ModelUsage::default);
    };
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let cost = exchange.cost.as_ref().and_then(|cost| cost["amount"].as_f64());
    Some(ModelUsage::tokens(count("input_tokens"), count("output_tokens")).cost(cost))
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        // Some servers repeat what they were sent.
        let hidden = |text: &str| secrets::redact(text).into_owned();
        let request = without_secrets(self.request.take());
        let body = self.body.take().map(without_secrets);
        let recorded = match self.ended {
            Ended::Done => self.recorded.take(),
            Ended::Failed | Ended::Left => None,
        };
        let recorded = recorded.and_then(|entry| serde_json::to_value(entry).ok());
        let recorded = recorded.filter(|entry| json_size(entry) <= MAX_BODY);
        let exchange = Exchange {
            model: std::mem::take(&mut self.model),
            address: hidden(&self.address),
            at: self.at,
            took: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            request,
            body,
            response: hidden(&self.frames),
            answer: hidden(&self.answer),
            by: self.by,
            ended: self.ended,
            usage: self.usage.take(),
            cost: self.cost.take(),
            recorded: recorded.map(without_secrets),
        };
        let task = &self.watch.task;
        if let Some(used) = used(&exchange) {
            task.report_usage(used);
        }
        self.watch
            .exchanges
            .put(task.info().task_id.to_string(), exchange);
    }
}

/// Hides keys that stand in texts.
fn without_secrets(json: Json) -> Json {
    let text = json.to_string();
    match secrets::redact(&text) {
        Cow::Borrowed(_) => json,
        Cow::Owned(text) => serde_json::from_str(&text).unwrap_or_default(),
    }
}

/// Adds a frame of the answer, as long as there is room.
pub(super) fn add_frame(frames: &mut String, event: Option<&str>, data: &str) {
    const CUT: &str = "… the rest was not kept";
    if frames.ends_with(CUT) {
        return;
    }
    if frames.len() + data.len() > MAX_TEXT {
        frames.push_str(CUT);
        return;
    }
    if let Some(event) = event {
        frames.push_str(event);
        frames.push_str(": ");
    }
    frames.push_str(data);
    frames.push('\n');
}

/// Formats a request for people: long texts and data of pictures are cut.
fn described(request: &ModelRequest) -> Json {
    let mut json = parts(request);
    cut(&mut json, MAX_TEXT);
    json
}

/// Returns all parts of a request that affect its answer.
pub(super) fn parts(request: &ModelRequest) -> Json {
    let mut parts = Map::new();
    parts.insert(
        "messages".into(),
        request.messages.iter().map(Json::from).collect(),
    );
    let mut set = |name: &str, value: Option<Json>| {
        if let Some(value) = value {
            parts.insert(name.into(), value);
        }
    };
    set("temperature", request.temperature.map(Json::from));
    set("max_tokens", request.max_tokens.map(Json::from));
    set("reasoning", request.reasoning.map(|level| json!(level)));
    set("output", request.output.clone());
    if !request.tools.is_empty() {
        set("tools", Some(json!(request.tools)));
        set("tool_choice", Some(json!(request.tool_choice)));
    }
    Json::Object(parts)
}

/// Shortens a body that is too long: data and long texts first, then the middle of its longest list, which is the
/// conversation. A line says how much that was.
fn bounded(mut body: Json) -> Json {
    cut(&mut body, MAX_TEXT);
    if json_size(&body) <= MAX_BODY {
        return body;
    }
    cut(&mut body, MAX_TEXT_OF_LONG_BODY);
    let size = json_size(&body);
    if size <= MAX_BODY {
        return body;
    }
    if let Json::Object(fields) = &mut body {
        for list in fields.values_mut().filter_map(Json::as_array_mut) {
            shorten(list, MAX_BODY / 3);
        }
    }
    match json_size(&body) <= MAX_BODY {
        true => body,
        false => format!("… ({size} bytes)").into(),
    }
}

/// Leaves out the middle of a list whose JSON is longer than `most` bytes: its beginning and its end remain.
fn shorten(list: &mut Vec<Json>, most: usize) {
    let sizes: Vec<usize> = list.iter().map(json_size).collect();
    if sizes.iter().sum::<usize>() <= most {
        return;
    }
    let fitting = |sizes: &mut dyn Iterator<Item = &usize>| {
        let mut left = most / 2;
        sizes
            .take_while(|size| {
                left.checked_sub(**size).is_some_and(|rest| {
                    left = rest;
                    true
                })
            })
            .count()
    };
    let (first, last) = (fitting(&mut sizes.iter()), fitting(&mut sizes.iter().rev()));
    let (from, to) = (first, list.len() - last.min(list.len() - first));
    let left_out: usize = sizes[from..to].iter().sum();
    let note = format!("… ({} left out, {left_out} bytes)", to - from);
    list.splice(from..to, [Json::from(note)]);
}

/// Counts the bytes of a value as JSON.
fn json_size(json: &Json) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither counting nor a value that is JSON already can fail.
    serde_json::to_writer(&mut count, json).map_or(usize::MAX, |()| count.0)
}

fn cut(json: &mut Json, longest: usize) {
    match json {
        Json::String(text) => {
            let data = text.starts_with("data:") && text.len() > MAX_DATA;
            let encoded = text.len() > 1024
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
            let most = if data || encoded { MAX_DATA } else { longest };
            if text.len() > most {
                let end = text.floor_char_boundary(most);
                *text = format!("{}… ({} bytes)", &text[..end], text.len());
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| cut(item, longest)),
        Json::Object(fields) => fields.values_mut().for_each(|field| cut(field, longest)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(response: &str) -> Exchange {
        Exchange {
            model: "m".into(),
            address: String::new(),
            at: 0,
            took: 0,
            request: Json::Null,
            body: None,
            response: response.into(),
            answer: String::new(),
            by: AnsweredBy::Server,
            ended: Ended::Done,
            usage: None,
            cost: None,
            recorded: None,
        }
    }

    #[test]
    fn exchanges_wait_for_their_task_and_not_without_end() {
        let exchanges = Exchanges::default();
        exchanges.put("a".into(), exchange("1"));
        exchanges.put("b".into(), exchange("2"));
        exchanges.put("a".into(), exchange("3"));
        let of_a: Vec<String> = exchanges.take("a").into_iter().map(|one| one.response).collect();
        assert_eq!(of_a, ["1", "3"]);
        assert_eq!(exchanges.take("a"), []);
        for _ in 0..200 {
            exchanges.put("c".into(), exchange(&"x".repeat(MAX_TEXT)));
        }
        assert!(exchanges.lock().bytes <= MAX_WAITING);
        assert_eq!(exchanges.take("b"), [], "the oldest is forgotten first");
    }

    #[test]
    fn pictures_and_long_answers_are_cut() {
        let mut json = json!({"url": format!("data:image/png;base64,{}", "A".repeat(5000)), "data": "B".repeat(5000),
            "text": "word ".repeat(1000)});
        cut(&mut json, MAX_TEXT);
        assert!(json["url"].as_str().unwrap().ends_with("(5022 bytes)"), "{json}");
        assert!(json["data"].as_str().unwrap().len() < 100);
        assert_eq!(json["text"].as_str().unwrap().len(), 5000);
        let mut frames = String::new();
        for _ in 0..10 {
            add_frame(&mut frames, Some("delta"), &"y".repeat(50_000));
        }
        assert!(frames.len() < MAX_TEXT + 100 && frames.ends_with("not kept"));
    }

    #[test]
    fn a_body_has_a_bound_and_its_beginning_and_end_remain() {
        let message = |n: usize| json!({"role": "user", "content": format!("{n} {}", "word ".repeat(30))});
        let body = json!({"model": "m", "messages": (0..20_000).map(message).collect::<Vec<_>>()});
        let body = bounded(body);
        assert!(json_size(&body) <= MAX_BODY, "{}", json_size(&body));
        assert_eq!(body["model"], "m");
        let list = body["messages"].as_array().unwrap();
        assert_eq!(list[0], message(0));
        assert_eq!(list.last(), Some(&message(19_999)));
        assert!(
            list.iter()
                .any(|one| one.as_str().is_some_and(|text| text.contains("left out")))
        );
        for one in [
            json!({"messages": [{"content": "word ".repeat(1_000_000)}]}),
            json!({"tools": (0..200_000).collect::<Vec<_>>(), "messages": []}),
            json!({"format": (0..50_000).map(|n| (n.to_string(), json!("value"))).collect::<Map<_, _>>()}),
            json!({"messages": [(0..200_000).collect::<Vec<_>>()]}),
        ] {
            assert!(json_size(&bounded(one)) <= MAX_BODY);
        }
        let small = json!({"messages": [message(1)], "stream": true});
        assert_eq!(bounded(small.clone()), small);
    }
}
