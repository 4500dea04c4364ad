//! Requests of OpenAI's chat completions.

use genai::adapter::AdapterKind;
use genai::chat::{
    BinarySource, ChatMessage, ChatRole, ContentPart, JsonSchemaDialect, MessageContent, ReasoningEffort,
    sanitize_json_schema,
};
use serde_json::{Map, Value as Json, json};

use super::{WireRequest, WireTarget, effort_and_name, object};
use crate::models::request::{ModelRequest, ToolChoice, ToolSpec};

pub(super) fn request(
    target: WireTarget<'_>,
    messages: Vec<ChatMessage>,
    request: &ModelRequest,
) -> Result<WireRequest, String> {
    let base = reqwest::Url::parse(target.base_url).map_err(|e| format!("its address is wrong: {e}"))?;
    let mut url = base
        .join("chat/completions")
        .map_err(|e| format!("its address is wrong: {e}"))?;
    // Azure wants its version there.
    url.set_query(base.query());
    Ok(WireRequest {
        url: url.into(),
        headers: vec![("authorization", format!("Bearer {}", target.key))],
        body: body(target, messages, request),
    })
}

fn body(target: WireTarget<'_>, messages: Vec<ChatMessage>, request: &ModelRequest) -> Json {
    let (effort, model) = effort_and_name(request, target.model);
    let mut body = object(json!({"model": model, "stream": true}));
    let mut set = |name: &str, value: Json| {
        body.insert(name.to_owned(), value);
    };
    if target.kind == AdapterKind::OpenAI && caches_at_a_price(target.model) {
        set("prompt_cache_options", json!({"mode": "explicit"}));
    }
    if let Some(effort) = &effort {
        let is_off = matches!(effort, ReasoningEffort::Zero);
        if target.kind == AdapterKind::DeepSeek {
            set(
                "thinking",
                json!({"type": if is_off { "disabled" } else { "enabled" }}),
            );
        }
        if let Some(word) = effort_word(effort)
            && !(is_off && target.kind == AdapterKind::DeepSeek)
        {
            set("reasoning_effort", word.into());
        }
    }
    // Tools before messages: what stays the same can be kept by the provider.
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
        match request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Required => set("tool_choice", "required".into()),
            ToolChoice::None => set("tool_choice", "none".into()),
        }
    }
    set(
        "messages",
        messages
            .into_iter()
            .flat_map(|message| sent(message, target.kind))
            .collect(),
    );
    if let Some(schema) = &request.output {
        let schema = sanitize_json_schema(schema, JsonSchemaDialect::OpenAiStrict);
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        set(
            "response_format",
            json!({"type": "json_schema", "json_schema": format}),
        );
    }
    set("stream_options", json!({"include_usage": true}));
    if let Some(temperature) = request.temperature {
        set("temperature", temperature.into());
    }
    if let Some(most) = request.max_tokens {
        let is_new = ["gpt-5", "gpt-6", "o1", "o3", "o4"]
            .iter()
            .any(|name| model.starts_with(name));
        set(
            if is_new {
                "max_completion_tokens"
            } else {
                "max_tokens"
            },
            most.into(),
        );
    }
    Json::Object(body)
}

fn effort_word(effort: &ReasoningEffort) -> Option<&'static str> {
    Some(match effort {
        ReasoningEffort::Zero => "none",
        ReasoningEffort::Minimal => "minimal",
        ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High => "high",
        ReasoningEffort::XHigh => "xhigh",
        ReasoningEffort::Max => "max",
        ReasoningEffort::Budget(_) => return None,
    })
}

/// Returns whether the model, GPT-5.6 or newer, keeps prompts for a price unless the request says which.
fn caches_at_a_price(model: &str) -> bool {
    let Some(rest) = model.strip_prefix("gpt-").or_else(|| model.strip_prefix("gpt")) else {
        return false;
    };
    let end = rest
        .find(|sign: char| !sign.is_ascii_digit() && sign != '.')
        .unwrap_or(rest.len());
    let mut numbers = rest[..end].split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= (5, 6),
        (Some(major), None) => major > 5,
        _ => false,
    }
}

fn tool(spec: &ToolSpec) -> Json {
    json!({"type": "function", "function": {
        "name": spec.name, "description": spec.description, "parameters": spec.parameters, "strict": false}})
}

/// Converts a message; a message of several tools becomes several.
fn sent(message: ChatMessage, kind: AdapterKind) -> Vec<Json> {
    match message.role {
        ChatRole::System => {
            let text = message.content.into_joined_texts();
            text.map(|text| json!({"role": "system", "content": text}))
                .into_iter()
                .collect()
        }
        ChatRole::User => vec![json!({"role": "user", "content": shown(message.content)})],
        ChatRole::Assistant => vec![answered(message.content, kind)],
        ChatRole::Tool => {
            let parts = message.content.into_parts().into_iter();
            let answers = parts.filter_map(|part| match part {
                ContentPart::ToolResponse(answer) => {
                    Some(json!({"role": "tool", "content": answer.content, "tool_call_id": answer.call_id}))
                }
                _ => None,
            });
            answers.collect()
        }
    }
}

fn shown(content: MessageContent) -> Json {
    if content.is_text_only() {
        return content.joined_texts().unwrap_or_default().into();
    }
    let parts = content.into_parts().into_iter();
    let parts = parts.filter_map(|part| match part {
        ContentPart::Text(text) => Some(json!({"type": "text", "text": text})),
        ContentPart::Binary(data) if data.is_audio() => match &data.source {
            BinarySource::Base64(encoded) => {
                let format = match data.content_type.split('/').next_back().unwrap_or_default() {
                    "mpeg" => "mp3",
                    other => other,
                };
                Some(json!({"type": "input_audio", "input_audio": {"data": &**encoded, "format": format}}))
            }
            BinarySource::Url(_) => None,
        },
        ContentPart::Binary(data) if data.is_image() => {
            Some(json!({"type": "image_url", "image_url": {"url": data.into_url()}}))
        }
        ContentPart::Binary(data) => match &data.source {
            BinarySource::Base64(_) => {
                let name = data.name.clone();
                Some(json!({"type": "file", "file": {"filename": name, "file_data": data.into_url()}}))
            }
            BinarySource::Url(_) => None,
        },
        _ => None,
    });
    parts.collect()
}

fn answered(content: MessageContent, kind: AdapterKind) -> Json {
    let (mut texts, mut calls, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
    let mut details = Vec::new();
    for part in content.into_parts() {
        match part {
            ContentPart::Text(text) => texts.push(text),
            ContentPart::ReasoningContent(text) => thoughts.push(text),
            ContentPart::ToolCall(call) => {
                let mut sent = json!({"type": "function", "id": call.call_id,
                    "function": {"name": call.fn_name, "arguments": call.fn_arguments.to_string()}});
                // Gemini's compatible endpoint gave it with the call.
                if let Some(signature) = call.thought_signatures.and_then(|all| all.into_iter().next()) {
                    sent["extra_content"] = json!({"google": {"thought_signature": signature}});
                }
                calls.push(sent);
            }
            // OpenRouter wants its blocks back as they were.
            ContentPart::Custom(custom) if custom.typ().is_some_and(|ty| ty.starts_with("reasoning.")) => {
                details.push(custom.data);
            }
            _ => {}
        }
    }
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    message.insert("content".into(), texts.join("\n\n").into());
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    if !thoughts.is_empty() {
        let thoughts = thoughts.join("\n");
        // Mistral takes reasoning back the way it sent it, and refuses the other field.
        if kind == AdapterKind::Mistral {
            let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": thoughts}]});
            let text = message
                .get("content")
                .and_then(Json::as_str)
                .filter(|text| !text.is_empty());
            let text = text.map(|text| json!({"type": "text", "text": text}));
            let chunks: Vec<Json> = [thinking].into_iter().chain(text).collect();
            message.insert("content".into(), chunks.into());
        } else {
            message.insert("reasoning_content".into(), thoughts.into());
        }
    }
    if !details.is_empty() {
        message.insert("reasoning_details".into(), details.into());
    }
    Json::Object(message)
}
