//! Requests of Ollama's chat.

use genai::chat::{BinarySource, ChatMessage, ChatRole, ContentPart, ReasoningEffort};
use serde_json::{Map, Value as Json, json};

use super::{WireRequest, WireTarget, effort, object};
use crate::models::request::{ModelRequest, ToolSpec};

pub(super) fn request(
    target: WireTarget<'_>,
    messages: Vec<ChatMessage>,
    request: &ModelRequest,
) -> WireRequest {
    let mut body = object(json!({"model": target.model, "stream": true}));
    let mut options = Map::new();
    if let Some(temperature) = request.temperature {
        options.insert("temperature".into(), temperature.into());
    }
    if let Some(most) = request.max_tokens {
        options.insert("num_predict".into(), most.into());
    }
    if !options.is_empty() {
        body.insert("options".into(), options.into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body.insert("messages".into(), messages.into_iter().map(sent).collect());
    if let Some(reasoning) = request.reasoning {
        let think = match effort(reasoning) {
            ReasoningEffort::Zero => json!(false),
            ReasoningEffort::Minimal | ReasoningEffort::Low => json!("low"),
            ReasoningEffort::Medium => json!("medium"),
            ReasoningEffort::High => json!("high"),
            ReasoningEffort::XHigh | ReasoningEffort::Max => json!("max"),
            ReasoningEffort::Budget(_) => json!(true),
        };
        body.insert("think".into(), think);
    }
    WireRequest {
        url: format!("{}api/chat", target.base_url),
        headers: Vec::new(),
        body: Json::Object(body),
    }
}

fn tool(spec: &ToolSpec) -> Json {
    json!({"type": "function", "function": {
        "name": spec.name, "description": spec.description, "parameters": spec.parameters}})
}

fn sent(message: ChatMessage) -> Json {
    let role = match message.role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
        ChatRole::Tool => "tool",
    };
    let mut sent = Map::new();
    sent.insert("role".into(), role.into());
    let (mut content, mut images, mut calls) = (String::new(), Vec::new(), Vec::new());
    for part in message.content.into_parts() {
        match part {
            ContentPart::Text(text) => content.push_str(&text),
            ContentPart::Binary(data) if data.content_type.starts_with("image/") => {
                if let BinarySource::Base64(encoded) = data.source {
                    images.push(Json::from(encoded.to_string()));
                }
            }
            ContentPart::ToolCall(call) => calls.push(json!({"function": {
                "name": call.fn_name, "arguments": call.fn_arguments}})),
            ContentPart::ToolResponse(answer) => {
                sent.insert("content".into(), json!(answer.content));
            }
            _ => {}
        }
    }
    if !content.is_empty() {
        sent.insert("content".into(), content.into());
    }
    if !images.is_empty() {
        sent.insert("images".into(), images.into());
    }
    if !calls.is_empty() {
        sent.insert("tool_calls".into(), calls.into());
    }
    Json::Object(sent)
}
