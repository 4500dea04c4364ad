//! How many tokens messages are, about: a token for every four characters, and three for what is around a message. The
//! rules are those of LangChain's approximate counter, so that limits mean the same there and here.

use superstep::Value;
use superstep::value::List;

/// Tokens of a picture.
const PICTURE: usize = 85;

/// Returns the length of a value as Python writes it, which is what the counter counts.
fn written(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(_) => value.to_string().len(),
        Value::String(text) => text.chars().count() + 2,
        Value::Array(items) => {
            2 + items.iter().map(written).sum::<usize>() + items.len().saturating_sub(1) * 2
        }
        Value::Object(fields) => {
            let members = fields
                .iter()
                .map(|(name, value)| name.chars().count() + 4 + written(value));
            2 + members.sum::<usize>() + fields.len().saturating_sub(1) * 2
        }
    }
}

/// Returns the type of a message: `human`, `ai`, `system`, `tool` …
pub(super) fn kind(message: &Value) -> &str {
    message.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn role(message: &Value) -> &str {
    match kind(message) {
        "human" => "user",
        "ai" => "assistant",
        other => other,
    }
}

/// Calls of tools that a message makes.
pub(super) fn calls(message: &Value) -> Option<&List> {
    message
        .get("tool_calls")?
        .as_array()
        .filter(|calls| !calls.is_empty())
}

/// Counts the tokens of one message.
pub(super) fn tokens(message: &Value) -> usize {
    let (mut letters, mut tokens) = (0, 0);
    let content = message.get("content");
    match content {
        Some(Value::String(text)) => letters += text.chars().count(),
        Some(Value::Array(blocks)) => {
            for block in blocks.iter() {
                match (block.get("type").and_then(Value::as_str), block) {
                    (_, Value::String(text)) => letters += text.chars().count(),
                    (Some("image" | "image_url"), _) => tokens += PICTURE,
                    (Some("text"), _) => {
                        let text = block.get("text").and_then(Value::as_str).unwrap_or_default();
                        letters += text.chars().count();
                    }
                    _ => letters += written(block),
                }
            }
        }
        _ => {}
    }
    if kind(message) == "ai"
        && content.and_then(Value::as_array).is_none()
        && let Some(calls) = calls(message)
    {
        letters += written(&Value::Array(calls.clone()));
    }
    let length = |name: &str| {
        message
            .get(name)
            .and_then(Value::as_str)
            .map_or(0, |text| text.chars().count())
    };
    if kind(message) == "tool" {
        letters += length("tool_call_id");
    }
    letters += role(message).len() + length("name");
    tokens + letters.div_ceil(4) + 3
}

/// Returns by how much the provider's count exceeds this one, as far as its last answer shows; from 1 to 1.25.
pub(super) fn scale(messages: &[Value]) -> f64 {
    let (mut sum, mut known) = (0, None);
    let mut provider: Option<&str> = None;
    for message in messages {
        sum += tokens(message);
        if kind(message) != "ai" {
            continue;
        }
        let facts = message.get("response_metadata");
        let of = facts.and_then(|facts| facts.get("provider").or_else(|| facts.get("model_provider")));
        match (of.and_then(Value::as_str), provider) {
            (of, None) => provider = of,
            (of, known) if of == known => {}
            // Two providers count in two ways.
            _ => return 1.0,
        }
        let total = message
            .get("usage_metadata")
            .and_then(|usage| usage.get("total_tokens")?.as_u64());
        known = total.map(|total| (total, sum)).or(known);
    }
    match known {
        Some((total, sum)) if provider.is_some() && messages.len() > 1 && sum > 0 => {
            (total as f64 / sum as f64).clamp(1.0, 1.25)
        }
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    /// What `count_tokens_approximately` of langchain-core says for the same messages.
    #[test]
    fn tokens_are_counted_as_langchain_does() {
        for (message, expected) in [
            (json!({"type": "human", "content": "hello"}), 6),
            (json!({"type": "human", "content": ""}), 4),
            (
                json!({"type": "human", "content": "Ålesund · 雨が降る", "name": "Ada"}),
                9,
            ),
            (json!({"type": "ai", "content": "It rains."}), 8),
            (
                json!({"type": "system", "content": "Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. Be brief. "}),
                55,
            ),
            (
                json!({"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": {"city": "Oslo", "n": 2, "ok": true, "no": null, "deep": {"a": [1, 2.5, "x"]}}, "id": "call-1", "type": "tool_call"}]}),
                42,
            ),
            (
                json!({"type": "tool", "content": "rain", "tool_call_id": "call-1", "name": "weather"}),
                9,
            ),
            (
                json!({"type": "human", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
                93,
            ),
            (
                json!({"type": "human", "content": [{"type": "file", "name": "a.pdf", "pages": [1, 2]}, "and text"]}),
                19,
            ),
        ] {
            assert_eq!(tokens(&message), expected, "{message}");
        }
    }

    #[test]
    fn the_provider_corrects_the_count_within_bounds() {
        let conversation = |provider: &str, total: i64| {
            let facts = json!({"provider": provider});
            vec![
                json!({"type": "human", "content": "x".repeat(400)}),
                json!({"type": "ai", "content": "yes", "response_metadata": facts, "usage_metadata": {"total_tokens": total}}),
            ]
        };
        let ours: usize = conversation("a", 0).iter().map(tokens).sum();
        let ours = i64::try_from(ours).unwrap();
        assert!((scale(&conversation("a", ours * 11 / 10)) - 1.1).abs() < 0.02);
        assert_eq!(scale(&conversation("a", ours * 3)), 1.25);
        assert_eq!(scale(&conversation("a", 1)), 1.0);
        let two = [conversation("a", ours * 3), conversation("b", ours * 3)].concat();
        assert_eq!(scale(&two), 1.0, "two providers count in two ways");
        assert_eq!(scale(&[json!({"type": "human", "content": "x"})]), 1.0);
    }
}
