//! Messages and chunks of them, taken apart into the pieces that the protocol emits.

use serde_json::Value as Json;

use super::pieces::{Delta, MessageEvent};
use superstep::Value;
use superstep::value::{List, Object};

impl Delta {
    /// Returns what a part of a block adds to it; blocks that arrive whole have none.
    fn of(part: &Object) -> Option<Delta> {
        let text = |name: &str| {
            let text = part.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        match kind(part) {
            "text" => text("text").map(Delta::Text),
            "reasoning" => text("reasoning").map(Delta::Reasoning),
            CALL_CHUNK | SERVER_CALL_CHUNK => text("args").map(Delta::ToolCall),
            _ => text("data").map(|data| Delta::Data {
                data,
                base64: part.get("encoding").and_then(Value::as_str) == Some("base64"),
            }),
        }
    }
}

const CALL_CHUNK: &str = "tool_call_chunk";
const SERVER_CALL_CHUNK: &str = "server_tool_call_chunk";
/// Kinds of blocks that mean the same no matter who made them; all others are shown as `non_standard`.
const STANDARD: [&str; 16] = [
    "text",
    "reasoning",
    "image",
    "audio",
    "video",
    "file",
    "text-plain",
    "tool_call",
    CALL_CHUNK,
    "invalid_tool_call",
    "server_tool_call",
    SERVER_CALL_CHUNK,
    "server_tool_result",
    "citation",
    "non_standard_annotation",
    "non_standard",
];

fn kind(block: &Object) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or("text")
}

fn block(kind: &str, field: &str, value: impl Into<Value>) -> Object {
    let mut block = Object::new();
    block.insert("type", kind);
    block.insert(field, value);
    block
}

/// Returns the fields of `block` except these.
fn without(block: &Object, fields: &[&str]) -> Object {
    let kept = block.iter().filter(|(name, _)| !fields.contains(&&***name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the blocks of a message or of a chunk of one: its reasoning, its content, its calls.
fn blocks(message: &Value) -> Vec<Object> {
    let mut found = Vec::new();
    let reasoning = (message.get("additional_kwargs")).and_then(|kwargs| kwargs.get("reasoning_content"));
    if let Some(text) = reasoning.and_then(Value::as_str).filter(|text| !text.is_empty()) {
        found.push(block("reasoning", "reasoning", text));
    }
    match message.get("content") {
        Some(Value::Array(parts)) => found.extend(parts.iter().map(|part| match part {
            Value::Object(part) if STANDARD.contains(&kind(part)) => part.clone(),
            Value::String(text) => block("text", "text", text.clone()),
            other => block("non_standard", "value", other.clone()),
        })),
        Some(Value::String(text)) if !text.is_empty() => found.push(block("text", "text", text.clone())),
        _ => {}
    }
    // A call that the content has as well is the content's.
    let ids: Vec<Value> = found
        .iter()
        .filter_map(|block| block.get("id").cloned())
        .collect();
    let is_chunk = message.get("tool_call_chunks").is_some();
    let fields = match is_chunk {
        true => [("tool_call_chunks", CALL_CHUNK), ("", "")],
        false => [
            ("tool_calls", "tool_call"),
            ("invalid_tool_calls", "invalid_tool_call"),
        ],
    };
    for (field, kind) in fields {
        let calls = message.get(field).and_then(Value::as_array);
        for call in calls
            .into_iter()
            .flat_map(List::iter)
            .filter_map(Value::as_object)
        {
            if call.get("id").is_some_and(|id| !id.is_null() && ids.contains(id)) {
                continue;
            }
            let mut shown = block(kind, "id", call.get("id").cloned().unwrap_or_default());
            for (name, value) in call.iter().filter(|(name, _)| !matches!(&***name, "type" | "id")) {
                shown.insert(name.clone(), value.clone());
            }
            found.push(shown);
        }
    }
    found
}

/// Returns a block in its initial form.
fn beginning(whole: &Object) -> Object {
    let text = |name: &str| whole.get(name).cloned().unwrap_or_default();
    match kind(whole) {
        "text" => {
            let mut start = without(whole, &["text", "index", "annotations"]);
            start.insert("text", "");
            start
        }
        "reasoning" => {
            let mut start = without(whole, &["reasoning", "index"]);
            start.insert("reasoning", "");
            start
        }
        chunk @ (CALL_CHUNK | SERVER_CALL_CHUNK) => {
            let mut start = block(chunk, "args", "");
            for name in ["id", "name", "index"] {
                let value = text(name);
                if !value.is_null() || (chunk == CALL_CHUNK && name != "index") {
                    start.insert(name, value);
                }
            }
            start
        }
        other => {
            let mut start = without(whole, &["args", "data", "output", "transcript", "value"]);
            match other {
                "tool_call" | "server_tool_call" => drop(start.insert("args", Object::new())),
                "non_standard" => drop(start.insert("value", Object::new())),
                _ => {}
            }
            start
        }
    }
}

/// Returns a block in its final form: the arguments of a call are parsed.
fn ending(whole: Object) -> Object {
    let finished = match kind(&whole) {
        CALL_CHUNK => "tool_call",
        SERVER_CALL_CHUNK => "server_tool_call",
        _ => return whole,
    };
    let written = match whole.get("args").and_then(Value::as_str) {
        None | Some("") => "{}",
        Some(args) => args,
    };
    let text = |name: &str| match whole.get(name) {
        None | Some(Value::Null) => "".into(),
        Some(value) => value.clone(),
    };
    let mut call = Object::new();
    match serde_json::from_str::<Json>(written) {
        Ok(args) => {
            call.insert("type", finished);
            call.insert("id", text("id"));
            call.insert("name", text("name"));
            call.insert("args", Value::from(args));
        }
        Err(_) => {
            call.insert("type", "invalid_tool_call");
            call.insert("id", whole.get("id").cloned().unwrap_or_default());
            call.insert("name", whole.get("name").cloned().unwrap_or_default());
            call.insert("args", written);
            call.insert("error", "Failed to parse tool call arguments as JSON");
        }
    }
    for (name, value) in whole.iter() {
        let is_rewritten = matches!(&**name, "type" | "id" | "name" | "args");
        let is_place = &**name == "index" && finished == "tool_call";
        if !is_rewritten && !is_place && !value.is_null() {
            call.insert(name.clone(), value.clone());
        }
    }
    call
}

/// Adds `more` to the existing part of a block.
fn grow(whole: &mut Object, more: &Object) {
    let grows = match (kind(whole), kind(more)) {
        (old, new) if old != new => None,
        ("text", _) => Some("text"),
        ("reasoning", _) => Some("reasoning"),
        (CALL_CHUNK | SERVER_CALL_CHUNK, _) => Some("args"),
        _ if more.contains_key("data") => Some("data"),
        _ => None,
    };
    let Some(field) = grows else {
        *whole = more.clone();
        return;
    };
    let text = |block: &Object| {
        block
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let joined = text(whole) + &text(more);
    for (name, value) in more
        .iter()
        .filter(|(name, value)| &***name != "type" && !value.is_null())
    {
        let (old, new) = (whole.get(name).and_then(Value::as_object), value.as_object());
        let value = match (&**name, old, new) {
            ("extras", Some(old), Some(new)) => joined_fields(old, new).into(),
            _ => value.clone(),
        };
        whole.insert(name.clone(), value);
    }
    whole.insert(field, joined);
}

fn joined_fields(old: &Object, new: &Object) -> Object {
    let mut joined = old.clone();
    for (name, value) in new.iter() {
        joined.insert(name.clone(), value.clone());
    }
    joined
}

/// Merges pieces as LangChain does: texts are appended, lists too, objects are merged field by field.
fn merged(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::String(old), Value::String(new)) => format!("{old}{new}").into(),
        (Value::Array(old), Value::Array(new)) => {
            let mut all = old.clone();
            all.append(new);
            all.into()
        }
        (Value::Object(old), Value::Object(new)) => merged_fields(old, new).into(),
        (old, Value::Null) => old.clone(),
        (_, new) => new.clone(),
    }
}

fn merged_fields(old: &Object, new: &Object) -> Object {
    let mut all = old.clone();
    for (name, value) in new.iter() {
        let value = all
            .get(name)
            .map(|old| merged(old, value))
            .unwrap_or_else(|| value.clone());
        all.insert(name.clone(), value);
    }
    all
}

/// Counts add up; what they are made of is replaced.
fn counted(old: Option<Value>, new: &Object) -> Value {
    let mut all = old
        .as_ref()
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for (name, value) in new.iter() {
        let value = match (all.get(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => joined_fields(old, new).into(),
            (Some(old), new) => match (old.as_i64(), new.as_i64()) {
                (Some(old), Some(new)) => (old + new).into(),
                _ => new.clone(),
            },
            (None, new) => new.clone(),
        };
        all.insert(name.clone(), value);
    }
    all.into()
}

fn start(message: &Value) -> MessageEvent {
    let response = message.get("response_metadata");
    let mut metadata = Object::new();
    for (name, given) in [("provider", "model_provider"), ("model", "model_name")] {
        if let Some(value) = response.and_then(|response| response.get(given)) {
            metadata.insert(name, value.clone());
        }
    }
    MessageEvent::Start {
        id: message.get("id").and_then(Value::as_str).map(str::to_owned),
        metadata,
    }
}

fn fields(message: &Value, name: &str) -> Object {
    message
        .get(name)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

/// Replays a whole message as if it had been streamed.
pub(super) fn replay(message: &Value) -> Vec<MessageEvent> {
    let mut events = vec![start(message)];
    for (index, whole) in blocks(message).into_iter().enumerate() {
        events.push(MessageEvent::BlockStart {
            index,
            content: beginning(&whole),
        });
        events.extend(Delta::of(&whole).map(|delta| MessageEvent::BlockDelta { index, delta }));
        events.push(MessageEvent::BlockFinish {
            index,
            content: ending(whole),
        });
    }
    events.push(MessageEvent::Finish {
        usage: message
            .get("usage_metadata")
            .filter(|usage| !usage.is_null())
            .cloned(),
        metadata: fields(message, "response_metadata"),
        additional_kwargs: Object::new(),
    });
    events
}

/// The chunks of one message, put together.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    has_begun: bool,
    blocks: Vec<(Identity, Object)>,
    usage: Option<Value>,
    metadata: Object,
    additional_kwargs: Object,
}

/// Identity of the block in its message that a part belongs to: the one that its `index` names, or that of its kind at
/// its place.
#[derive(Debug, PartialEq)]
enum Identity {
    Named(Value),
    Placed(String, usize),
}

impl Assembly {
    /// Adds a chunk, and returns its events.
    pub(super) fn add(&mut self, chunk: &Value) -> Vec<MessageEvent> {
        let mut events = Vec::new();
        if !std::mem::replace(&mut self.has_begun, true) {
            events.push(start(chunk));
        }
        for (place, part) in blocks(chunk).into_iter().enumerate() {
            let identity = match part.get("index") {
                None | Some(Value::Null) => Identity::Placed(kind(&part).to_owned(), place),
                Some(index) => Identity::Named(index.clone()),
            };
            let delta = Delta::of(&part);
            let index = match self.blocks.iter().position(|(known, _)| *known == identity) {
                Some(index) => {
                    grow(&mut self.blocks[index].1, &part);
                    index
                }
                None => {
                    let index = self.blocks.len();
                    events.push(MessageEvent::BlockStart {
                        index,
                        content: beginning(&part),
                    });
                    self.blocks.push((identity, part));
                    index
                }
            };
            events.extend(delta.map(|delta| MessageEvent::BlockDelta { index, delta }));
        }
        self.metadata = joined_fields(&self.metadata, &fields(chunk, "response_metadata"));
        self.additional_kwargs = merged_fields(&self.additional_kwargs, &fields(chunk, "additional_kwargs"));
        if let Some(Value::Object(usage)) = chunk.get("usage_metadata") {
            self.usage = Some(counted(self.usage.take(), usage));
        }
        events
    }

    /// Finishes the message, which is complete now.
    pub(super) fn end(self) -> Vec<MessageEvent> {
        let blocks = self.blocks.into_iter().enumerate();
        let mut events: Vec<MessageEvent> = blocks
            .map(|(index, (_, whole))| MessageEvent::BlockFinish {
                index,
                content: ending(whole),
            })
            .collect();
        events.push(MessageEvent::Finish {
            usage: self.usage,
            metadata: self.metadata,
            additional_kwargs: self.additional_kwargs,
        });
        events
    }
}
