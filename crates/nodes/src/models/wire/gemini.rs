//! Chunks of Gemini's `streamGenerateContent`.

use serde_json::{Value as Json, json};

use super::calls::CallDelta;
use super::part::{WirePart, field_of, number_of, text_of, unknown};
use crate::models::answer::TokenUsage;

/// Decoder of chunks.
#[derive(Debug, Default)]
pub(in crate::models) struct GeminiDecoder {
    calls: u64,
    has_model: bool,
}

impl GeminiDecoder {
    pub(super) fn frame(&mut self, mut json: Json, parts: &mut Vec<WirePart>) {
        if json.get("error").is_some_and(|error| !error.is_null()) {
            parts.push(WirePart::Failure(json));
            return;
        }
        if !self.has_model
            && let Some(model) = text_of(&mut json, "modelVersion").or_else(|| text_of(&mut json, "model"))
        {
            self.has_model = true;
            parts.push(WirePart::Model(model));
        }
        parts.extend(usage(&json["usageMetadata"]).map(WirePart::Usage));
        let candidates = match field_of(&mut json, "candidates") {
            Some(Json::Array(candidates)) => candidates,
            _ => Vec::new(),
        };
        if let Some(reason) = json.pointer("/promptFeedback/blockReason").and_then(Json::as_str)
            && candidates.is_empty()
        {
            let message = format!("it does not answer to this prompt ({reason})");
            parts.push(WirePart::Failure(json!({"message": message})));
        }
        for mut candidate in candidates {
            if number_of(candidate.get("index")).is_some_and(|index| index > 0) {
                parts.push(WirePart::Unknown("another candidate".to_owned()));
                continue;
            }
            let content = field_of(&mut candidate, "content");
            match content.and_then(|mut content| field_of(&mut content, "parts")) {
                Some(Json::Array(list)) => list.into_iter().for_each(|part| self.part(part, parts)),
                Some(one) => self.part(one, parts),
                None => {}
            }
            parts.extend(text_of(&mut candidate, "finishReason").map(WirePart::Stop));
        }
    }

    fn part(&mut self, mut part: Json, parts: &mut Vec<WirePart>) {
        let signature = text_of(&mut part, "thoughtSignature");
        if let Some(signature) = &signature {
            parts.push(WirePart::Thinking(
                json!({"type": "thinking", "thinking": "", "signature": signature}),
            ));
        }
        if let Some(mut call) = field_of(&mut part, "functionCall") {
            let name = text_of(&mut call, "name").unwrap_or_default();
            // A call without an id is answered by its place; this form of an id is not sent back.
            let id = text_of(&mut call, "id").unwrap_or_else(|| format!("call#{name}#{}", self.calls));
            parts.push(WirePart::Call(CallDelta {
                index: Some(self.calls),
                id: Some(id),
                name: Some(name),
                args: None,
                whole: field_of(&mut call, "args"),
                signature,
            }));
            self.calls += 1;
            return;
        }
        let is_thought = part.get("thought").and_then(Json::as_bool).unwrap_or(false);
        match field_of(&mut part, "text") {
            Some(Json::String(text)) if text.is_empty() => {}
            Some(Json::String(text)) if is_thought => parts.push(WirePart::Reasoning(text)),
            Some(Json::String(text)) => parts.push(WirePart::Text(text)),
            _ => {
                let fields = part.as_object().into_iter().flatten();
                let mut fields = fields.filter(|(_, value)| !value.is_null() && !value.is_boolean());
                parts.extend(fields.next().map(|(name, _)| unknown("the part", name)));
            }
        }
    }
}

fn usage(usage: &Json) -> Option<TokenUsage> {
    let count = |name: &str| number_of(usage.get(name));
    let (prompt, of_tools) = (count("promptTokenCount"), count("toolUsePromptTokenCount"));
    let (answered, thought) = (count("candidatesTokenCount"), count("thoughtsTokenCount"));
    prompt.or(of_tools).or(answered)?;
    let input = prompt.unwrap_or(0).saturating_add(of_tools.unwrap_or(0));
    // Thoughts are counted beside the answer.
    let output = answered.map_or(0, |answered| answered.saturating_add(thought.unwrap_or(0)));
    Some(TokenUsage {
        input,
        output,
        total: count("totalTokenCount").unwrap_or(input.saturating_add(output)),
        cached: count("cachedContentTokenCount").unwrap_or(0),
        cache_written: 0,
        reasoning: thought.unwrap_or(0),
    })
}
