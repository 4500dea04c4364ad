//! Requests of Anthropic's messages.

use genai::chat::{
    BinarySource, ChatMessage, ChatRole, ContentPart, JsonSchemaDialect, MessageContent, ReasoningEffort,
    sanitize_json_schema,
};
use serde_json::{Map, Value as Json, json};

use super::{WireRequest, WireTarget, effort_and_name, object};
use crate::models::request::{ModelRequest, ToolChoice, ToolSpec};

const VERSION: &str = "2023-06-01";

pub(super) fn request(
    target: WireTarget<'_>,
    messages: Vec<ChatMessage>,
    request: &ModelRequest,
) -> WireRequest {
    WireRequest {
        url: format!("{}messages", target.base_url),
        headers: vec![
            ("x-api-key", target.key.to_owned()),
            ("anthropic-version", VERSION.to_owned()),
        ],
        body: body(target, messages, request),
    }
}

fn body(target: WireTarget<'_>, messages: Vec<ChatMessage>, request: &ModelRequest) -> Json {
    let (effort, model) = effort_and_name(request, target.model);
    let traits = ClaudeTraits::of(model);
    let mut body = object(json!({"model": model, "stream": true}));
    let mut set = |name: &str, value: Json| {
        body.insert(name.to_owned(), value);
    };
    let (mut system, mut sent) = (Vec::new(), Vec::new());
    for message in messages {
        match message.role {
            ChatRole::System => system.extend(message.content.into_joined_texts()),
            ChatRole::User => sent.push(json!({"role": "user", "content": shown(message.content)})),
            ChatRole::Assistant => sent.push(answered(message.content)),
            ChatRole::Tool => {
                let results: Vec<Json> = message
                    .content
                    .into_parts()
                    .into_iter()
                    .filter_map(result)
                    .collect();
                if !results.is_empty() {
                    sent.push(json!({"role": "user", "content": results}));
                }
            }
        }
    }
    if !system.is_empty() {
        set("system", system.join("\n\n").into());
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
        match request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Required => set("tool_choice", json!({"type": "any"})),
            ToolChoice::None => set("tool_choice", json!({"type": "none"})),
        }
    }
    set("messages", sent.into());
    let mut output = Map::new();
    if let Some(effort) = &effort {
        if let Some(thinking) = traits.thinking(effort) {
            set("thinking", thinking);
        }
        output.extend(
            traits
                .effort(effort)
                .map(|word| ("effort".to_owned(), word.into())),
        );
    }
    if let Some(schema) = &request.output {
        let schema = sanitize_json_schema(schema, JsonSchemaDialect::AnthropicStructured);
        output.insert("format".into(), json!({"type": "json_schema", "schema": schema}));
    }
    if !output.is_empty() {
        set("output_config", output.into());
    }
    if let Some(temperature) = request.temperature {
        set("temperature", temperature.into());
    }
    // It has to be there.
    set(
        "max_tokens",
        request.max_tokens.unwrap_or(traits.max_tokens).into(),
    );
    Json::Object(body)
}

fn tool(spec: &ToolSpec) -> Json {
    json!({"name": spec.name, "input_schema": spec.parameters, "description": spec.description})
}

fn shown(content: MessageContent) -> Json {
    if content.is_text_only() {
        return content.joined_texts().unwrap_or_default().into();
    }
    let parts = content.into_parts().into_iter();
    let parts = parts.filter_map(|part| match part {
        ContentPart::Text(text) => Some(json!({"type": "text", "text": text})),
        ContentPart::Binary(data) => {
            let is_image = data.is_image();
            let kind = if is_image { "image" } else { "document" };
            match data.source {
                BinarySource::Base64(encoded) => Some(json!({"type": kind, "source": {
                    "type": "base64", "media_type": data.content_type, "data": &*encoded}})),
                BinarySource::Url(_) if is_image => None,
                BinarySource::Url(url) => Some(json!({"type": kind, "source": {"type": "url", "url": url}})),
            }
        }
        ContentPart::ToolResponse(_) => result(part),
        ContentPart::Custom(custom) => Some(custom.data),
        _ => None,
    });
    parts.collect()
}

fn result(part: ContentPart) -> Option<Json> {
    match part {
        ContentPart::ToolResponse(answer) => {
            Some(json!({"type": "tool_result", "content": answer.content, "tool_use_id": answer.call_id}))
        }
        ContentPart::Custom(custom) => Some(custom.data),
        _ => None,
    }
}

fn is_thinking(block: &Json) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn answered(content: MessageContent) -> Json {
    let mut signatures = Vec::new();
    let mut thoughts = Vec::new();
    // In their order: none for the next signed one.
    let mut blocks: Vec<Option<Json>> = Vec::new();
    let mut others = Vec::new();
    for part in content.into_parts() {
        match part {
            ContentPart::ThoughtSignature(signature) => {
                signatures.push(signature);
                blocks.push(None);
            }
            ContentPart::ReasoningContent(text) => thoughts.push(text),
            ContentPart::Custom(custom) if is_thinking(&custom.data) => blocks.push(Some(custom.data)),
            other => others.push(other),
        }
    }
    if signatures.is_empty() {
        let of_call = others.iter().find_map(|part| match part {
            ContentPart::ToolCall(call) => call.thought_signatures.clone(),
            _ => None,
        });
        signatures = of_call.unwrap_or_default();
        blocks = std::iter::repeat_n(None, signatures.len())
            .chain(blocks)
            .collect();
    }
    let mut sent: Vec<Json> = Vec::new();
    // A signature of another text is refused: they have to come in pairs.
    let are_pairs = thoughts.len() == signatures.len();
    let mut signed = thoughts.into_iter().zip(signatures).map(
        |(thinking, signature)| json!({"type": "thinking", "thinking": thinking, "signature": signature}),
    );
    sent.extend(
        blocks
            .into_iter()
            .filter_map(|block| block.or_else(|| signed.next().filter(|_| are_pairs))),
    );
    let mut is_plain = sent.is_empty();
    for part in others {
        match part {
            ContentPart::Text(text) => sent.push(json!({"type": "text", "text": text})),
            ContentPart::ToolCall(call) => {
                is_plain = false;
                let input = if call.fn_arguments.is_null() {
                    json!({})
                } else {
                    call.fn_arguments
                };
                sent.push(
                    json!({"type": "tool_use", "id": call.call_id, "name": call.fn_name, "input": input}),
                );
            }
            ContentPart::Custom(custom) => {
                is_plain = false;
                sent.push(custom.data);
            }
            _ => {}
        }
    }
    match sent.as_slice() {
        [only] if is_plain => json!({"role": "assistant", "content": only["text"]}),
        _ => json!({"role": "assistant", "content": sent}),
    }
}

/// Abilities of a model of Anthropic's, as far as its name shows them.
struct ClaudeTraits {
    /// How much it thinks is given as a word.
    has_effort: bool,
    has_max_effort: bool,
    has_extra_effort: bool,
    /// It decides itself how much it thinks.
    is_adaptive: bool,
    /// It thinks unless that is turned off.
    thinks_by_itself: bool,
    max_tokens: u32,
}

impl ClaudeTraits {
    fn of(name: &str) -> Self {
        let mut words = name.split('-');
        let is_claude = words.next() == Some("claude");
        let family = words.next().filter(|_| is_claude).unwrap_or_default();
        let short = |word: &&str| (1..=2).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
        let number = |word: Option<&str>| word.filter(short).and_then(|word| word.parse::<u32>().ok());
        let version = number(words.next()).map(|major| (major, number(words.next()).unwrap_or(0)));
        let from = |least: (u32, u32)| version.is_some_and(|version| version >= least);
        let has = |names: &[&str]| names.iter().any(|part| name.contains(part));
        let is_newest = has(&["fable", "mythos"]);
        let of = |has_effort, has_max_effort, has_extra_effort, is_adaptive, thinks_by_itself| Self {
            has_effort,
            has_max_effort,
            has_extra_effort,
            is_adaptive,
            thinks_by_itself,
            max_tokens: max_tokens(name, family, version),
        };
        let is_fifth = matches!(version, Some((5, _)));
        match family {
            "opus" => of(from((4, 5)), from((4, 6)), from((4, 7)), from((4, 6)), is_fifth),
            "sonnet" => {
                let is_new = is_fifth || version == Some((4, 6));
                of(is_new, is_new, is_fifth, is_new, is_fifth)
            }
            "haiku" => {
                let is_new = from((5, 0));
                of(is_new, is_new, is_new, is_new, is_new)
            }
            "fable" | "mythos" => of(true, true, true, true, false),
            _ => {
                let opus = opus_within(name) >= (4, 7) || is_newest;
                of(
                    opus || has(&[
                        "claude-opus-4-6",
                        "claude-sonnet-4-6",
                        "claude-opus-4-5",
                        "claude-sonnet-5",
                    ]),
                    opus || has(&["claude-opus-4-6", "claude-sonnet-5"]),
                    opus || has(&["claude-sonnet-5"]),
                    opus || has(&["claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-5"]),
                    has(&["claude-sonnet-5", "claude-opus-5"]),
                )
            }
        }
    }

    fn effort(&self, effort: &ReasoningEffort) -> Option<&'static str> {
        if !self.has_effort {
            return None;
        }
        Some(match effort {
            ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::XHigh if self.has_extra_effort => "xhigh",
            ReasoningEffort::Max if self.has_max_effort => "max",
            ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max => "high",
            ReasoningEffort::Zero | ReasoningEffort::Budget(_) => return None,
        })
    }

    fn thinking(&self, effort: &ReasoningEffort) -> Option<Json> {
        if matches!(effort, ReasoningEffort::Zero) {
            return self.thinks_by_itself.then(|| json!({"type": "disabled"}));
        }
        if !self.has_effort {
            let budget = match effort {
                ReasoningEffort::Zero => return None,
                ReasoningEffort::Budget(budget) => *budget,
                ReasoningEffort::Minimal | ReasoningEffort::Low => 1024,
                ReasoningEffort::Medium => 8000,
                ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max => 24000,
            };
            return Some(json!({"type": "enabled", "budget_tokens": budget}));
        }
        self.is_adaptive
            .then(|| json!({"type": "adaptive", "display": "summarized"}))
    }
}

/// Returns the version of an Opus that a longer name has in it.
fn opus_within(name: &str) -> (u32, u32) {
    let Some((_, rest)) = name.split_once("claude-opus-") else {
        return (0, 0);
    };
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits(rest));
    let minor = rest.strip_prefix('-').map_or("", |rest| &rest[..digits(rest)]);
    // More digits are a date.
    let minor = if minor.len() > 2 { "" } else { minor };
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// Returns the longest answer of a model.
fn max_tokens(name: &str, family: &str, version: Option<(u32, u32)>) -> u32 {
    let has = |names: &[&str]| names.iter().any(|part| name.contains(part));
    match (family, version) {
        ("opus", Some(version)) if version >= (4, 8) => 128_000,
        ("opus", Some(version)) if version >= (4, 5) => 64_000,
        ("opus", Some(version)) if version >= (4, 0) => 32_000,
        ("opus", Some((3, _))) => 4096,
        ("haiku", Some(version)) if version >= (5, 0) => 128_000,
        _ if has(&["fable", "mythos"]) => 128_000,
        _ if has(&[
            "claude-sonnet",
            "claude-haiku",
            "claude-3-7-sonnet",
            "claude-opus-4-5",
        ]) =>
        {
            64_000
        }
        _ if has(&["claude-opus-4"]) => 32_000,
        _ if has(&["claude-3-5"]) => 8192,
        _ if has(&["3-opus", "3-haiku"]) => 4096,
        _ => 64_000,
    }
}
