//! Parts of a frame, and how fields of JSON are taken for them.

use serde_json::Value as Json;

use super::calls::CallDelta;
use crate::models::answer::TokenUsage;

/// Meaning of a part of a frame.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::models) enum WirePart {
    /// More of the text.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// More of a call.
    Call(CallDelta),
    /// Signed or encrypted reasoning, whole.
    Thinking(Json),
    /// Tokens so far.
    Usage(TokenUsage),
    /// The model that answers.
    Model(String),
    /// Why the answer ends.
    Stop(String),
    /// The answer has ended.
    Done,
    /// Something that this version does not know.
    Unknown(String),
    /// The server failed in the middle of its answer.
    Failure(Json),
}

/// Takes the text of a field.
pub(super) fn text_of(json: &mut Json, name: &str) -> Option<String> {
    match json.get_mut(name)?.take() {
        Json::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Takes a field that has a value.
pub(super) fn field_of(json: &mut Json, name: &str) -> Option<Json> {
    let value = json.get_mut(name)?.take();
    (!value.is_null()).then_some(value)
}

/// Reads a number of tokens or an index, whichever way a server writes it.
pub(super) fn number_of(json: Option<&Json>) -> Option<u64> {
    match json? {
        Json::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            // Larger ones are no counts.
            ((0.0..9e15).contains(&float) && float.fract() == 0.0).then_some(float as u64)
        }),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Names something unknown, as short as a line of a log should be.
pub(super) fn unknown(what: &str, name: &str) -> WirePart {
    let name: String = name.chars().take(60).collect();
    WirePart::Unknown(format!("{what} `{name}`"))
}
