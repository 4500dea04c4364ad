//! Messages that a program streams itself, such as those of a model that it asks: a secret that is spelled out over
//! several of their chunks is in none of them, so their texts are read as they are put together again.

use std::collections::{BTreeMap, HashMap};

use superstep::Value;
use superstep::value::{List, Object};

use crate::base::secrets::{Pieces, redact_value};

/// Members of a chunk whose texts are continued by those of the next chunk.
const CONTINUED: [&str; 4] = [
    "content",
    "tool_call_chunks",
    "invalid_tool_calls",
    "additional_kwargs",
];
/// Members within them that say what something is, in every chunk.
const REPEATED: [&str; 4] = ["type", "id", "name", "index"];

/// The way to a text in a chunk. An entry of a list is known by its `index`, or else by its place.
type Path = Vec<Step>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Member(String),
    Item(String),
}

#[derive(Default)]
struct Text {
    pieces: Pieces,
    /// `index` and `type` of the items on the way to it.
    items: Vec<Object>,
}

/// Streams by the id of their message.
#[derive(Default)]
pub(super) struct Streams(HashMap<String, BTreeMap<Path, Text>>);

impl Streams {
    /// Returns what can be delivered of a message or chunk, in this order.
    pub(super) fn delivered(&mut self, message: &Value) -> Vec<Value> {
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let (Some(id), Some("AIMessageChunk"), Some(members)) =
            (text("id"), text("type"), message.as_object())
        else {
            if let Some(id) = text("id") {
                // What was still held back of it is in the whole message.
                self.0.remove(id);
            }
            return vec![redact_value(message)];
        };
        let texts = self.0.entry(id.to_owned()).or_default();
        let chunk: Object = members
            .iter()
            .map(|(name, value)| {
                let value = match CONTINUED.contains(&&**name) {
                    true => continued(
                        value,
                        &mut vec![Step::Member((**name).to_owned())],
                        &mut Vec::new(),
                        texts,
                    ),
                    false => value.clone(),
                };
                (name.clone(), value)
            })
            .collect();
        let mut chunks = vec![redact_value(&Value::Object(chunk))];
        if text("chunk_position") == Some("last") {
            let texts = self.0.remove(id).unwrap_or_default();
            chunks.extend(rest(id, texts));
        }
        chunks
    }

    /// Returns what was held back, once nothing follows any more.
    pub(super) fn rest(&mut self) -> Vec<Value> {
        let mut all: Vec<_> = self.0.drain().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.into_iter()
            .filter_map(|(id, texts)| rest(&id, texts))
            .collect()
    }
}

fn continued(
    value: &Value,
    path: &mut Path,
    items: &mut Vec<Object>,
    texts: &mut BTreeMap<Path, Text>,
) -> Value {
    match value {
        Value::String(piece) => {
            let text = texts.entry(path.clone()).or_default();
            text.items.clone_from(items);
            text.pieces.push(piece).into()
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                if REPEATED.contains(&&**name) {
                    return (name.clone(), value.clone());
                }
                path.push(Step::Member((**name).to_owned()));
                let clean = continued(value, path, items, texts);
                path.pop();
                (name.clone(), clean)
            })
            .collect::<Object>()
            .into(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(place, item)| {
                let index = item.get("index").filter(|index| !index.is_null());
                path.push(Step::Item(
                    index.map_or_else(|| place.to_string(), Value::to_string),
                ));
                let known = ["type", "index"].into_iter();
                items.push(
                    known
                        .filter_map(|name| Some((name, item.get(name)?.clone())))
                        .collect(),
                );
                let clean = continued(item, path, items, texts);
                items.pop();
                path.pop();
                clean
            })
            .collect::<List>()
            .into(),
        other => other.clone(),
    }
}

/// Creates one more chunk with what was held back of a message.
fn rest(id: &str, texts: BTreeMap<Path, Text>) -> Option<Value> {
    let mut chunk = Object::new();
    for (path, mut text) in texts {
        let held = text.pieces.rest();
        if held.is_empty() {
            continue;
        }
        // From the inside to the outside.
        let value = path
            .iter()
            .skip(1)
            .rev()
            .fold(Value::from(held), |inner, step| match step {
                Step::Member(name) => Value::Object([(name.as_str(), inner)].into_iter().collect()),
                Step::Item(_) => {
                    let mut item = text.items.pop().unwrap_or_default();
                    let item = match inner {
                        Value::Object(members) => {
                            for (name, value) in members.iter() {
                                item.insert(name.clone(), value.clone());
                            }
                            Value::Object(item)
                        }
                        other => other,
                    };
                    Value::Array([item].into_iter().collect())
                }
            });
        let Some(Step::Member(name)) = path.first() else {
            continue;
        };
        let value = match (chunk.get(name.as_str()), value) {
            (Some(Value::Array(before)), Value::Array(more)) => {
                Value::Array(before.iter().chain(more.iter()).cloned().collect())
            }
            (_, value) => value,
        };
        chunk.insert(name.as_str(), value);
    }
    if chunk.is_empty() {
        return None;
    }
    if !chunk.contains_key("content") {
        chunk.insert("content", "");
    }
    chunk.insert("type", "AIMessageChunk");
    chunk.insert("id", id);
    Some(Value::Object(chunk))
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;
    use crate::base::secrets::note;

    fn chunk(content: Value) -> Value {
        json!({"type": "AIMessageChunk", "id": "m", "name": null, "content": content})
    }

    #[test]
    fn a_secret_in_several_chunks_is_in_none_of_them() {
        note("streamed-0815");
        let mut streams = Streams::default();
        let mut chunks = Vec::new();
        for content in ["Key: str", "eamed", "-0815, and str", "eams flow st"] {
            chunks.extend(streams.delivered(&chunk(content.into())));
        }
        // Others come between them, and are others. No secret of another test begins with its end.
        let other = json!({"type": "AIMessageChunk", "id": "n", "content": "re…"});
        assert_eq!(streams.delivered(&other), [other]);
        chunks.extend(streams.rest());
        let texts: Vec<&str> = chunks
            .iter()
            .filter_map(|chunk| chunk.get("content")?.as_str())
            .collect();
        assert_eq!(texts, ["Key: ", "", "[secret], and ", "streams flow ", "st"]);
        assert_eq!(
            chunks[4],
            json!({"content": "st", "type": "AIMessageChunk", "id": "m"})
        );
        assert_eq!(streams.rest(), [Value::Null; 0]);
    }

    #[test]
    fn parts_of_a_chunk_are_continued_each_by_itself() {
        note("blockwise-0815");
        let mut streams = Streams::default();
        let call = |args: &str, index: u32| {
            json!({"type": "AIMessageChunk", "id": "m", "content": [
                {"type": "text", "text": args, "index": 0}, {"type": "thinking", "thinking": "plain", "index": 1}],
                "tool_call_chunks": [{"type": "tool_call_chunk", "name": "add", "id": null, "args": args, "index": index}]})
        };
        let first = streams.delivered(&call("blockwise-", 2));
        assert_eq!(first, [call("", 2)].map(|mut chunk| {
            if let Value::Object(members) = &mut chunk {
                members.insert("content", json!([
                    {"type": "text", "text": "", "index": 0}, {"type": "thinking", "thinking": "plain", "index": 1}]));
            }
            chunk
        }));
        let second = streams.delivered(&call("0815.", 3));
        assert_eq!(
            second[0].get("content").unwrap(),
            &json!([
            {"type": "text", "text": "[secret].", "index": 0}, {"type": "thinking", "thinking": "plain", "index": 1}])
        );
        assert_eq!(
            second[0].get("tool_call_chunks").unwrap(),
            &json!([
            {"type": "tool_call_chunk", "name": "add", "id": null, "args": "0815.", "index": 3}])
        );
        // What was held back comes at the end, under the same index.
        assert_eq!(
            streams.rest(),
            [json!({"tool_call_chunks": [
            {"type": "tool_call_chunk", "index": 2, "args": "blockwise-"}],
            "content": "", "type": "AIMessageChunk", "id": "m"})]
        );
    }

    #[test]
    fn the_last_chunk_and_the_whole_message_end_a_stream() {
        note("ending-0815");
        let mut streams = Streams::default();
        assert_eq!(streams.delivered(&chunk("an end".into())), [chunk("an ".into())]);
        let mut last = chunk("ing".into());
        if let Value::Object(members) = &mut last {
            members.insert("chunk_position", "last");
        }
        let chunks = streams.delivered(&last);
        assert_eq!(chunks.len(), 2);
        assert_eq!(chunks[1].get("content"), Some(&"ending".into()));
        streams.delivered(&chunk("an end".into()));
        let whole = json!({"type": "ai", "id": "m", "content": "ending-0815"});
        assert_eq!(
            streams.delivered(&whole)[0].get("content"),
            Some(&"[secret]".into())
        );
        assert_eq!(streams.rest(), [Value::Null; 0]);
    }
}
