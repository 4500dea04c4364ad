//! Messages of random cases that one side tells and the other does not, as the page on differences says.
//!
//! The generator begins the content of such a message with a word (`python/bodies.py`). What only LangGraph tells is taken
//! out of LangGraph's record alone, and what only the engine tells out of the engine's: told by the other side, it is a
//! difference as any.

use serde_json::Value;

/// Whose record it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// LangGraph's.
    Reference,
    /// The engine's.
    Engine,
}

impl Side {
    /// Words that a message begins with which only this side tells.
    fn words(self) -> &'static [&'static str] {
        match self {
            // In keys that do not join messages, and as values of tasks and workflows.
            Side::Reference => &["elsewhere "],
            // In a command to the graph around, as pairs of a command, and of an error handler.
            Side::Engine => &["handed ", "paired ", "handler "],
        }
    }
}

/// Takes out of a record, which is not normalised, the messages that only its side tells.
pub fn leave_out(record: &mut Value, side: Side) {
    for entry in record.as_array_mut().into_iter().flatten() {
        if let Some(Value::Array(events)) = entry.get_mut("events") {
            events.retain(|event| event[1] != "messages" || !is_told(&event[2], side));
        }
        for name in ["projected", "by_name"] {
            let scopes = entry.get_mut(name).and_then(Value::as_array_mut);
            for scope in scopes.into_iter().flatten() {
                if let Some(Value::Array(items)) = scope.get_mut(1) {
                    items.retain(|item| item[0] != "messages" || !is_projected(&item[1], side));
                }
            }
        }
    }
}

fn begins(text: &Value, side: Side) -> bool {
    let text = text.as_str().unwrap_or_default();
    side.words().iter().any(|word| text.starts_with(word))
}

/// Returns whether an event holds such a message, by itself or in the wrapping of the protocol.
fn is_told(payload: &Value, side: Side) -> bool {
    let data = payload.get("data").unwrap_or(payload);
    begins(&data[0]["content"], side)
}

/// Returns whether a projection holds such a message, as the pieces it came in.
fn is_projected(item: &Value, side: Side) -> bool {
    let pieces = item["pieces"].as_array().into_iter().flatten();
    let mut texts = pieces.map(|piece| &piece["delta"]["text"]);
    texts.any(|text| begins(text, side))
}
