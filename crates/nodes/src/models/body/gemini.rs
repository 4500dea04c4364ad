//! Requests of Gemini's `streamGenerateContent`.

use std::collections::{HashMap, HashSet};

use genai::chat::{
    BinarySource, ChatMessage, ChatRole, ContentPart, MessageContent, ReasoningEffort, ToolResponse,
};
use serde_json::{Map, Value as Json, json};

use super::{WireRequest, WireTarget, effort};
use crate::models::request::{ModelRequest, ToolChoice, ToolSpec};

/// What Gemini takes in the place of a signature that there is not.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn request(
    target: WireTarget<'_>,
    messages: Vec<ChatMessage>,
    request: &ModelRequest,
) -> WireRequest {
    let (effort, model) = effort_and_name(request, target.model);
    WireRequest {
        url: format!("{}models/{model}:streamGenerateContent?alt=sse", target.base_url),
        headers: vec![("x-goog-api-key", target.key.to_owned())],
        body: body(target, model, effort, messages, request),
    }
}

/// Returns the same as for other providers, but no thinking is a budget of nothing.
fn effort_and_name<'a>(request: &ModelRequest, model: &'a str) -> (Option<ReasoningEffort>, &'a str) {
    if let Some(reasoning) = request.reasoning {
        return (Some(effort(reasoning)), model);
    }
    let Some((name, last)) = model.rsplit_once('-') else {
        return (None, model);
    };
    let effort = match last {
        "none" | "zero" => ReasoningEffort::Budget(0),
        "low" | "minimal" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" => ReasoningEffort::High,
        "xhigh" => ReasoningEffort::XHigh,
        "max" => ReasoningEffort::Max,
        _ => return (None, model),
    };
    (Some(effort), name)
}

fn body(
    target: WireTarget<'_>,
    model: &str,
    effort: Option<ReasoningEffort>,
    messages: Vec<ChatMessage>,
    request: &ModelRequest,
) -> Json {
    let mut config = Map::new();
    config.insert("thinkingConfig".into(), thinking(model, effort));
    if let Some(schema) = &request.output {
        config.insert("responseMimeType".into(), "application/json".into());
        config.insert("responseJsonSchema".into(), schema.clone());
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), temperature.into());
    }
    if let Some(most) = request.max_tokens {
        config.insert("maxOutputTokens".into(), most.into());
    }
    let mut body = Map::new();
    body.insert("generationConfig".into(), config.into());
    let (system, contents) = contents(messages, target.model.contains("gemini-3"));
    if !system.is_empty() {
        let text = system.join("\n");
        body.insert("systemInstruction".into(), json!({"parts": [{"text": text}]}));
    }
    if !request.tools.is_empty() {
        let functions: Vec<Json> = request.tools.iter().map(tool).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": functions}]));
        let mode = match request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::Required => Some("ANY"),
            ToolChoice::None => Some("NONE"),
        };
        if let Some(mode) = mode {
            body.insert(
                "toolConfig".into(),
                json!({"functionCallingConfig": {"mode": mode}}),
            );
        }
    }
    body.insert("contents".into(), contents.into());
    Json::Object(body)
}

fn thinking(model: &str, effort: Option<ReasoningEffort>) -> Json {
    let mut thinking = Map::new();
    if ["gemini-3", "gemma-4"].iter().any(|name| model.contains(name)) {
        let level = effort.and_then(|effort| {
            Some(match effort {
                ReasoningEffort::Zero | ReasoningEffort::Budget(_) => return None,
                ReasoningEffort::Minimal => "MINIMAL",
                ReasoningEffort::Low => "LOW",
                ReasoningEffort::Medium => "MEDIUM",
                ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max => "HIGH",
            })
        });
        thinking.extend(level.map(|level| ("thinkingLevel".to_owned(), level.into())));
    } else {
        let budget = effort.and_then(|effort| {
            Some(match effort {
                ReasoningEffort::Zero => return None,
                ReasoningEffort::Budget(budget) => budget,
                ReasoningEffort::Minimal | ReasoningEffort::Low => 1000,
                ReasoningEffort::Medium => 8000,
                ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max => 24000,
            })
        });
        thinking.extend(budget.map(|budget| ("thinkingBudget".to_owned(), budget.into())));
    }
    thinking.insert("includeThoughts".into(), true.into());
    Json::Object(thinking)
}

fn tool(spec: &ToolSpec) -> Json {
    json!({"name": spec.name, "description": spec.description, "parametersJsonSchema": spec.parameters})
}

/// Returns the texts of the system and the turns of the conversation.
fn contents(messages: Vec<ChatMessage>, must_sign: bool) -> (Vec<String>, Vec<Json>) {
    let (mut system, mut contents): (Vec<String>, Vec<Json>) = (Vec::new(), Vec::new());
    let mut names: HashMap<String, String> = HashMap::new();
    let mut after_answer = false;
    for message in messages {
        for call in message.content.tool_calls() {
            names.insert(call.call_id.clone(), call.fn_name.clone());
        }
        let is_answer = message.role == ChatRole::Tool;
        let turn = match message.role {
            ChatRole::System => {
                system.extend(message.content.into_joined_texts());
                continue;
            }
            ChatRole::User => Some(json!({"role": "user", "parts": shown(message.content)})),
            ChatRole::Assistant => {
                let parts = answered(message.content, must_sign);
                (!parts.is_empty()).then(|| json!({"role": "model", "parts": parts}))
            }
            ChatRole::Tool => {
                let parts = message.content.into_parts().into_iter();
                let results = parts.filter_map(|part| match part {
                    ContentPart::ToolResponse(answer) => Some(result(answer, &names)),
                    _ => None,
                });
                let results: Vec<Json> = results.collect();
                let last = contents.last_mut().filter(|_| after_answer);
                // All answers belong into one turn.
                match last.and_then(|last| last["parts"].as_array_mut()) {
                    Some(parts) => {
                        parts.extend(results);
                        None
                    }
                    None => Some(json!({"role": "user", "parts": results})),
                }
            }
        };
        contents.extend(turn);
        after_answer = is_answer;
    }
    (system, contents)
}

fn shown(content: MessageContent) -> Vec<Json> {
    let parts = content.into_parts().into_iter();
    let parts = parts.filter_map(|part| match part {
        ContentPart::Text(text) => Some(json!({"text": text})),
        ContentPart::Binary(data) => Some(match data.source {
            BinarySource::Url(url) => json!({"file_data": {"mime_type": data.content_type, "file_uri": url}}),
            BinarySource::Base64(encoded) => {
                json!({"inline_data": {"mime_type": data.content_type, "data": &*encoded}})
            }
        }),
        _ => None,
    });
    parts.collect()
}

fn answered(content: MessageContent, must_sign: bool) -> Vec<Json> {
    let of_calls: HashSet<String> = content
        .tool_calls()
        .into_iter()
        .filter_map(|call| call.thought_signatures.clone())
        .flatten()
        .collect();
    let mut parts: Vec<Json> = Vec::new();
    let mut pending: Option<String> = None;
    let mut is_first = true;
    for part in content.into_parts() {
        let (mut sent, signature) = match part {
            ContentPart::ThoughtSignature(signature) => {
                if !of_calls.contains(&signature) {
                    pending = Some(signature);
                }
                continue;
            }
            ContentPart::Text(text) => (json!({"text": text}), pending.take()),
            ContentPart::ToolCall(call) => {
                let own = call.thought_signatures.and_then(|all| all.into_iter().next());
                let stand_in = || (must_sign && is_first).then(|| UNSIGNED.to_owned());
                let signature = own.or_else(|| pending.take()).or_else(stand_in);
                is_first = false;
                let mut sent = json!({"name": call.fn_name, "args": call.fn_arguments});
                if has_own_id(&call.call_id) {
                    sent["id"] = call.call_id.into();
                }
                (json!({"functionCall": sent}), signature)
            }
            _ => continue,
        };
        if let Some(signature) = signature {
            sent["thoughtSignature"] = signature.into();
        }
        parts.push(sent);
    }
    parts
}

fn result(answer: ToolResponse, names: &HashMap<String, String>) -> Json {
    let name = answer
        .fn_name
        .clone()
        .or_else(|| names.get(&answer.call_id).cloned())
        .or_else(|| stand_in_name(&answer.call_id).map(str::to_owned))
        .unwrap_or_else(|| answer.call_id.clone());
    let mut sent = json!({"name": name, "response": {"name": name, "content": answer.content}});
    if names.contains_key(&answer.call_id) && has_own_id(&answer.call_id) {
        sent["id"] = answer.call_id.into();
    }
    json!({"functionResponse": sent})
}

/// Returns whether the id came from Gemini: `call#NAME#0` was made here for a call without one.
fn has_own_id(id: &str) -> bool {
    !id.is_empty() && stand_in_name(id).is_none()
}

fn stand_in_name(id: &str) -> Option<&str> {
    let (name, count) = id.strip_prefix("call#")?.rsplit_once('#')?;
    (!name.is_empty() && count.parse::<usize>().is_ok()).then_some(name)
}
