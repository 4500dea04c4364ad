//! Lines of Ollama's chat.

use serde_json::{Value as Json, json};

use super::calls::CallDelta;
use super::part::{WirePart, field_of, number_of, text_of, unknown};
use crate::models::answer::TokenUsage;

/// Decoder of lines.
#[derive(Debug, Default)]
pub(in crate::models) struct OllamaDecoder {
    calls: u64,
    has_model: bool,
}

impl OllamaDecoder {
    pub(super) fn frame(&mut self, mut json: Json, parts: &mut Vec<WirePart>) {
        if let Some(error) = field_of(&mut json, "error") {
            parts.push(WirePart::Failure(match error {
                Json::String(text) => json!({"message": text}),
                other => other,
            }));
            return;
        }
        if !self.has_model
            && let Some(model) = text_of(&mut json, "model")
        {
            self.has_model = true;
            parts.push(WirePart::Model(model));
        }
        if let Some(mut message) = field_of(&mut json, "message") {
            let thought = ["thinking", "reasoning_content", "reasoning"]
                .iter()
                .find_map(|name| text_of(&mut message, name));
            parts.extend(thought.map(WirePart::Reasoning));
            parts.extend(text_of(&mut message, "content").map(WirePart::Text));
            let calls = match field_of(&mut message, "tool_calls") {
                Some(Json::Array(calls)) => calls,
                Some(one) => vec![one],
                None => Vec::new(),
            };
            let calls = calls.into_iter().map(|call| self.call(call));
            parts.extend(calls.map(|call| call.unwrap_or_else(|| unknown("a call without a", "name"))));
        }
        if json.get("done").and_then(Json::as_bool) == Some(true) {
            parts.extend(usage(&json).map(WirePart::Usage));
            parts.extend(text_of(&mut json, "done_reason").map(WirePart::Stop));
            parts.push(WirePart::Done);
        }
    }

    /// Decodes a call, which comes whole.
    fn call(&mut self, mut call: Json) -> Option<WirePart> {
        let id = text_of(&mut call, "id");
        let mut function = field_of(&mut call, "function").unwrap_or(call);
        let name = text_of(&mut function, "name")?;
        let whole = match field_of(&mut function, "arguments") {
            Some(args) => args,
            None => json!({}),
        };
        let index = Some(self.calls);
        self.calls += 1;
        Some(WirePart::Call(CallDelta {
            index,
            id,
            name: Some(name),
            args: None,
            whole: Some(whole),
            signature: None,
        }))
    }
}

fn usage(json: &Json) -> Option<TokenUsage> {
    let count = |name: &str| number_of(json.get(name));
    let (input, output) = (count("prompt_eval_count"), count("eval_count"));
    input.or(output)?;
    let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(TokenUsage {
        input,
        output,
        total: input.saturating_add(output),
        cached: count("prompt_eval_cached_count").unwrap_or(0),
        ..TokenUsage::default()
    })
}
