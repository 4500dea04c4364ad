//! Pieces of a model's answer, read from the message chunks that nodes stream: those of our own kinds, and those that a
//! program streams with a library of its own.

use superstep::Value;

use crate::wire::TokenPiece;

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Returns the new pieces in a message; none for a whole message, which soon appears in the state.
pub(crate) fn pieces(message: &Value) -> Vec<TokenPiece> {
    if !text(message, "type").ends_with("Chunk") {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut reasoning = |text: String| pieces.push(TokenPiece::Reasoning { text });
    if let Some(kwargs) = message.get("additional_kwargs") {
        reasoning(text(kwargs, "reasoning_content"));
    }
    match message.get("content") {
        Some(Value::Array(parts)) => {
            for part in parts.iter() {
                match text(part, "type").as_str() {
                    "text" => pieces.push(TokenPiece::Text {
                        text: text(part, "text"),
                    }),
                    "thinking" => pieces.push(TokenPiece::Reasoning {
                        text: text(part, "thinking"),
                    }),
                    "reasoning" => pieces.push(TokenPiece::Reasoning {
                        text: text(part, "reasoning"),
                    }),
                    _ => {}
                }
            }
        }
        Some(content) => pieces.push(TokenPiece::Text {
            text: content.as_str().unwrap_or_default().to_owned(),
        }),
        None => {}
    }
    let calls = message.get("tool_call_chunks").and_then(Value::as_array);
    for (place, call) in calls.into_iter().flat_map(|calls| calls.iter()).enumerate() {
        let index = call.get("index").and_then(Value::as_i64);
        let index = index.and_then(|index| u32::try_from(index).ok());
        pieces.push(TokenPiece::Call {
            index: index.unwrap_or(u32::try_from(place).unwrap_or(u32::MAX)),
            name: Some(text(call, "name")).filter(|name| !name.is_empty()),
            text: text(call, "args"),
        });
    }
    pieces.retain(|piece| match piece {
        TokenPiece::Text { text } | TokenPiece::Reasoning { text } => !text.is_empty(),
        TokenPiece::Call { name, text, .. } => name.is_some() || !text.is_empty(),
    });
    pieces
}

impl TokenPiece {
    /// Returns the text of the piece.
    pub fn text(&self) -> &str {
        match self {
            TokenPiece::Text { text } | TokenPiece::Reasoning { text } | TokenPiece::Call { text, .. } => {
                text
            }
        }
    }

    /// Joins a later piece of the same message to this one; false when they are pieces of different things.
    pub(crate) fn join(&mut self, later: &TokenPiece) -> bool {
        match (self, later) {
            (TokenPiece::Text { text }, TokenPiece::Text { text: more })
            | (TokenPiece::Reasoning { text }, TokenPiece::Reasoning { text: more }) => text.push_str(more),
            (
                TokenPiece::Call { index, name, text },
                TokenPiece::Call {
                    index: of,
                    name: later,
                    text: more,
                },
            ) if index == of => {
                text.push_str(more);
                if name.is_none() {
                    name.clone_from(later);
                }
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn read(message: &Value) -> String {
        let pieces = pieces(message);
        let shown = pieces.iter().map(|piece| match piece {
            TokenPiece::Text { text } => format!("text {text}"),
            TokenPiece::Reasoning { text } => format!("reasoning {text}"),
            TokenPiece::Call { index, name, text } => format!("call {index} {name:?} {text}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn chunks_of_every_form_are_read() {
        assert_eq!(
            read(&json!({"type": "AIMessageChunk", "content": "Hi"})),
            "text Hi"
        );
        assert_eq!(
            read(&json!({"type": "AIMessageChunk", "content": "",
                "additional_kwargs": {"reasoning_content": "hm"}})),
            "reasoning hm"
        );
        assert_eq!(
            read(&json!({"type": "AIMessageChunk", "content": [
                {"type": "thinking", "thinking": "so"}, {"type": "text", "text": "yes"}, {"type": "image"}]})),
            "reasoning so, text yes"
        );
        assert_eq!(
            read(
                &json!({"type": "AIMessageChunk", "content": "", "tool_call_chunks": [
                {"name": "find", "args": "{\"q\"", "index": 1}, {"name": null, "args": "", "index": 2}]})
            ),
            r#"call 1 Some("find") {"q""#
        );
        assert_eq!(read(&json!({"type": "ai", "content": "whole"})), "");
    }

    #[test]
    fn only_what_belongs_together_is_joined() {
        let call = |index, name: Option<&str>, text: &str| TokenPiece::Call {
            index,
            name: name.map(str::to_owned),
            text: text.into(),
        };
        let mut first = call(0, Some("find"), "{");
        assert!(first.join(&call(0, None, "}")));
        assert!(!first.join(&call(1, None, "}")));
        assert!(!first.join(&TokenPiece::Text { text: "x".into() }));
        assert_eq!(first, call(0, Some("find"), "{}"));
    }

    #[test]
    fn parts_say_of_which_kind_they_are_and_empty_ones_are_left_out() {
        assert_eq!(
            read(&json!({"type": "AIMessageChunk", "content": [
                {"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": ""},
                {"type": "thinking", "thinking": ""}, {"type": "text", "text": "yes"}]})),
            "reasoning hm, text yes"
        );
        // A call is known by its place when it has no index, and counts with a name or with arguments.
        assert_eq!(
            read(&json!({"type": "AIMessageChunk", "tool_call_chunks": [
                {"name": "a", "args": ""}, {"name": "", "args": "{"}, {"name": "", "args": ""}]})),
            r#"call 0 Some("a") , call 1 None {"#
        );
        assert_eq!(read(&json!({"type": "AIMessageChunk"})), "");
    }

    #[test]
    fn a_name_that_comes_late_is_taken_and_one_that_is_known_stays() {
        let call = |name: Option<&str>, text: &str| TokenPiece::Call {
            index: 0,
            name: name.map(str::to_owned),
            text: text.into(),
        };
        let mut first = call(None, "{");
        assert!(first.join(&call(Some("find"), "")));
        assert!(first.join(&call(Some("other"), "}")));
        assert_eq!(first, call(Some("find"), "{}"));
        let mut text = TokenPiece::Text { text: "a".into() };
        assert!(text.join(&TokenPiece::Text { text: "b".into() }));
        assert!(!text.join(&TokenPiece::Reasoning { text: "c".into() }));
        assert_eq!(text.text(), "ab");
    }
}
