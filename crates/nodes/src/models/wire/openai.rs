//! Chunks of OpenAI's chat completions, and of the many servers that speak the same protocol with an accent.

use genai::adapter::AdapterKind;
use serde_json::Value as Json;

use super::calls::CallDelta;
use super::part::{WirePart, field_of, number_of, text_of, unknown};
use crate::models::answer::TokenUsage;

/// Decoder of chunks.
#[derive(Debug)]
pub(in crate::models) struct OpenAiDecoder {
    kind: AdapterKind,
    has_model: bool,
}

impl OpenAiDecoder {
    pub(super) fn new(kind: AdapterKind) -> Self {
        Self {
            kind,
            has_model: false,
        }
    }

    pub(super) fn frame(&mut self, event: Option<&str>, mut json: Json, parts: &mut Vec<WirePart>) {
        if let Some(error) = field_of(&mut json, "error") {
            parts.push(WirePart::Failure(error));
            return;
        }
        let object = text_of(&mut json, "object").unwrap_or_default();
        if object == "error" {
            parts.push(WirePart::Failure(json));
            return;
        }
        if !self.has_model
            && let Some(model) = text_of(&mut json, "model")
        {
            self.has_model = true;
            parts.push(WirePart::Model(model));
        }
        let of_groq = json.get_mut("x_groq").and_then(|groq| field_of(groq, "usage"));
        let mut usage = field_of(&mut json, "usage").or(of_groq);
        match field_of(&mut json, "choices") {
            Some(Json::Array(choices)) => {
                // One answer is asked for, whichever number it has: some count pieces there.
                let mut choices = choices.into_iter();
                if let Some(mut choice) = choices.next() {
                    // Moonshot counts here.
                    usage = usage.or_else(|| field_of(&mut choice, "usage"));
                    choice_of(choice, object == "chat.completion.chunk", parts);
                }
                parts.extend(choices.next().map(|_| unknown("a second of the", "choices")));
            }
            Some(_) => parts.push(unknown("a chunk with", "choices")),
            None if usage.is_some() => {}
            None => match event {
                Some(event) => parts.push(unknown("the event", event)),
                // A failure in a form of the server's own.
                None if ["message", "msg", "detail"]
                    .iter()
                    .any(|name| is_said(&json, name)) =>
                {
                    parts.push(WirePart::Failure(json));
                }
                None => {
                    let mut fields = json.as_object().into_iter().flatten();
                    parts.extend(fields.next().map(|(name, _)| unknown("a chunk with", name)));
                }
            },
        }
        parts.extend(usage.and_then(|usage| self.usage(&usage)).map(WirePart::Usage));
    }

    fn usage(&self, usage: &Json) -> Option<TokenUsage> {
        let count = |path: &str| number_of(usage.pointer(path));
        let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
        if input.is_none() && output.is_none() {
            return None;
        }
        let reasoning = count("/completion_tokens_details/reasoning_tokens").unwrap_or(0);
        // xAI does not count its reasoning among the tokens of the answer.
        let beside = if self.kind == AdapterKind::Xai {
            reasoning
        } else {
            0
        };
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0).saturating_add(beside));
        Some(TokenUsage {
            input,
            output,
            total: count("/total_tokens").unwrap_or(input.saturating_add(output)),
            cached: count("/prompt_tokens_details/cached_tokens").unwrap_or(0),
            cache_written: count("/prompt_tokens_details/cache_creation_tokens")
                .or_else(|| count("/prompt_tokens_details/cache_write_tokens"))
                .unwrap_or(0),
            reasoning,
        })
    }
}

/// Returns whether a field says something: a text, or a list of what is wrong.
fn is_said(json: &Json, name: &str) -> bool {
    matches!(json.get(name), Some(Json::String(_) | Json::Array(_)))
}

fn choice_of(mut choice: Json, is_chunk: bool, parts: &mut Vec<WirePart>) {
    let delta =
        field_of(&mut choice, "delta").filter(|delta| delta.as_object().is_none_or(|d| !d.is_empty()));
    // A server that was asked for a stream and answers at once.
    let is_whole = delta.is_none() && !is_chunk && choice.get("message").is_some_and(Json::is_object);
    match delta.or_else(|| field_of(&mut choice, "message")) {
        Some(delta) => delta_of(delta, parts),
        // As servers that complete a text send it.
        None => parts.extend(text_of(&mut choice, "text").map(WirePart::Text)),
    }
    match text_of(&mut choice, "finish_reason") {
        Some(reason) => parts.push(WirePart::Stop(reason)),
        None if is_whole => parts.push(WirePart::Done),
        None => {}
    }
}

fn delta_of(mut delta: Json, parts: &mut Vec<WirePart>) {
    for name in ["reasoning_content", "reasoning", "thinking"] {
        if let Some(text) = text_of(&mut delta, name) {
            parts.push(WirePart::Reasoning(text));
            break;
        }
    }
    match field_of(&mut delta, "content") {
        Some(Json::String(text)) if text.is_empty() => {}
        Some(Json::Array(chunks)) => chunks.into_iter().for_each(|chunk| content(chunk, parts)),
        Some(one) => content(one, parts),
        None => {}
    }
    parts.extend(text_of(&mut delta, "refusal").map(WirePart::Text));
    match field_of(&mut delta, "tool_calls") {
        Some(Json::Array(calls)) => parts.extend(calls.into_iter().filter_map(call)),
        Some(one @ Json::Object(_)) => parts.extend(call(one)),
        Some(_) => parts.push(unknown("a delta with", "tool_calls")),
        None => {}
    }
    if let Some(function) = field_of(&mut delta, "function_call") {
        parts.extend(call(function));
    }
}

/// Decodes a content that is no text, or a part of one that is a list, as Mistral's reasoning models send it.
fn content(mut chunk: Json, parts: &mut Vec<WirePart>) {
    if let Json::String(text) = chunk {
        parts.push(WirePart::Text(text));
        return;
    }
    let kind = text_of(&mut chunk, "type");
    let kind = kind.unwrap_or_else(|| if is_said(&chunk, "text") { "text" } else { "" }.to_owned());
    match kind.as_str() {
        "text" | "output_text" => parts.extend(text_of(&mut chunk, "text").map(WirePart::Text)),
        "thinking" => match field_of(&mut chunk, "thinking") {
            Some(Json::String(text)) => parts.push(WirePart::Reasoning(text)),
            Some(Json::Array(inner)) => {
                let texts = inner
                    .into_iter()
                    .filter_map(|mut part| text_of(&mut part, "text"));
                parts.extend(texts.map(WirePart::Reasoning));
            }
            _ => {}
        },
        other => parts.push(unknown("the content", other)),
    }
}

/// Decodes a piece of a call.
fn call(mut call: Json) -> Option<WirePart> {
    let index = number_of(call.get("index"));
    let id = match field_of(&mut call, "id") {
        Some(Json::String(id)) => Some(id),
        Some(id @ Json::Number(_)) => Some(id.to_string()),
        _ => None,
    };
    // Gemini 3 wants it back.
    let signature = call.pointer_mut("/extra_content/google/thought_signature");
    let signature = signature.and_then(|signature| signature.as_str().map(str::to_owned));
    // Some put the function's fields beside its id.
    let mut function = field_of(&mut call, "function").unwrap_or(call);
    let (args, whole) = match field_of(&mut function, "arguments") {
        Some(Json::String(text)) => (Some(text), None),
        Some(whole) => (None, Some(whole)),
        None => (None, None),
    };
    let delta = CallDelta {
        index,
        id,
        name: text_of(&mut function, "name"),
        args,
        whole,
        signature,
    };
    let is_empty =
        delta.id.is_none() && delta.name.is_none() && delta.args.is_none() && delta.whole.is_none();
    (!is_empty).then_some(WirePart::Call(delta))
}
