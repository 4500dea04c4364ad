//! Messages of the engine as providers take them, and answers as the engine stores them: the shapes that LangGraph's
//! messages have, so that threads of either can be read by the other.

use std::borrow::Cow;
use std::collections::HashSet;

use genai::ModelIden;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRole, ContentPart, MessageContent, ToolCall as GenaiCall, ToolResponse};
use serde_json::{Map, Value as Json, json};
use superstep::Value;

use super::{Facts, ModelAnswer, ToolCall, args_json};

/// Longest id of a call that OpenAI takes, in bytes.
const MAX_ID: usize = 40;
/// Longest name of a tool that all providers take.
const MAX_NAME: usize = 64;
/// Largest picture or file in a message, as base64 text.
const MAX_DATA: usize = 32 * 1024 * 1024;

/// Converts the messages to the form sent to a model of `kind`; otherwise returns which of them cannot be sent, and
/// why.
///
/// Tools answer with pictures too, which providers take from people only: they come after the answers of the tools.
/// Behind each call stands its answer, and no answer stands without a call. Each call has an id of its own and a name,
/// both as the provider takes them.
pub(super) fn chat_messages(
    messages: &[Value],
    kind: AdapterKind,
    provider: &str,
) -> Result<Vec<ChatMessage>, (usize, String)> {
    let mut sent = Vec::with_capacity(messages.len());
    let mut shown = Vec::new();
    let mut calls = SentCalls::new(kind);
    for (index, message) in paired(messages) {
        let message = message.as_ref();
        let of_tool = message.get("type").and_then(Value::as_str) == Some("tool");
        if !of_tool && !shown.is_empty() {
            sent.push(ChatMessage::user(MessageContent::from_parts(std::mem::take(
                &mut shown,
            ))));
        }
        let said = chat_message(message, kind, provider, &mut calls).map_err(|cause| (index + 1, cause))?;
        if index + 1 == messages.len() || !is_refused(&said, kind) {
            sent.push(said);
        }
        if of_tool {
            shown.extend(pictures(message, kind).map_err(|cause| (index + 1, cause))?);
        }
    }
    if !shown.is_empty() {
        sent.push(ChatMessage::user(MessageContent::from_parts(shown)));
    }
    Ok(sent)
}

/// Returns whether a provider refuses the message for saying nothing, and with it each conversation that has it: an
/// answer that was cut before its first word.
fn is_refused(message: &ChatMessage, kind: AdapterKind) -> bool {
    let is_strict = matches!(
        kind,
        AdapterKind::Anthropic | AdapterKind::MiniMax | AdapterKind::Gemini
    );
    let says = |part: &ContentPart| match part {
        ContentPart::Text(text) => !text.trim().is_empty(),
        ContentPart::ReasoningContent(_) | ContentPart::ThoughtSignature(_) => false,
        ContentPart::Custom(custom) => custom.typ() != Some("redacted_thinking"),
        _ => true,
    };
    let is_plain = matches!(message.role, ChatRole::Assistant | ChatRole::User);
    is_strict && is_plain && !message.content.parts().iter().any(says)
}

/// The calls of a conversation as they are sent. Servers give one id to many calls, or none; each provider wants other
/// ids, also for the calls that another one made; and a model may call a tool by a name that none can have.
struct SentCalls {
    kind: AdapterKind,
    ids: HashSet<String>,
    /// Calls of the last answer that wait for theirs: the id in the message, and the one that is sent.
    open: Vec<(String, String)>,
    count: usize,
}

impl SentCalls {
    fn new(kind: AdapterKind) -> Self {
        Self {
            kind,
            ids: HashSet::new(),
            open: Vec::new(),
            count: 0,
        }
    }

    /// Returns the id with which a call is sent.
    fn id_of_call(&mut self, id: &str) -> String {
        self.count += 1;
        let mut sent = id.to_owned();
        let mut number = self.count;
        while !self.takes(&sent) {
            // Nine letters and digits, which all of them take.
            sent = format!("call{number:05}");
            number += 1;
        }
        self.ids.insert(sent.clone());
        self.open.push((id.to_owned(), sent.clone()));
        sent
    }

    /// Returns the id with which the answer to a call is sent.
    fn id_of_answer(&mut self, id: &str) -> String {
        match self.open.iter().position(|(call, _)| call == id) {
            Some(call) => self.open.remove(call).1,
            None => id.to_owned(),
        }
    }

    fn takes(&self, id: &str) -> bool {
        let is_among = |id: &str, more: &[u8]| {
            id.bytes()
                .all(|sign| sign.is_ascii_alphanumeric() || more.contains(&sign))
        };
        let is_new = !id.is_empty() && !self.ids.contains(id);
        match self.kind {
            // It goes by the place.
            AdapterKind::Gemini => true,
            AdapterKind::Mistral => is_new && id.len() == 9 && is_among(id, b""),
            AdapterKind::Anthropic | AdapterKind::MiniMax => is_new && is_among(id, b"_-"),
            AdapterKind::OpenAI => is_new && id.len() <= MAX_ID,
            _ => is_new,
        }
    }
}

/// Returns the name with which a call is sent. That of a tool that there is stays.
fn sent_name(name: &str) -> String {
    let plain = |sign: char| match sign {
        '-' => sign,
        _ if sign.is_ascii_alphanumeric() => sign,
        _ => '_',
    };
    let sent: String = name.chars().take(MAX_NAME).map(plain).collect();
    if sent.is_empty() {
        "unnamed".to_owned()
    } else {
        sent
    }
}

/// What stands in the place of an answer that there is not.
const NO_ANSWER: &str = "Error: this call has no result. It was not run, or it was stopped before it ended; do not take it for done.";

/// Returns the messages with their places, so that each call of a model is followed by its answer: providers refuse
/// everything else, for the whole rest of a conversation. A run that was killed or stopped, a question that was
/// withdrawn, an edit and a list that was cut leave calls without answers and answers without calls.
///
/// An id counts from the message with the call to the next one of a model: some servers use one again.
fn paired(messages: &[Value]) -> Vec<(usize, Cow<'_, Value>)> {
    let is = |message: &Value, names: &[&str]| {
        let role = message.get("type").or_else(|| message.get("role"));
        role.and_then(Value::as_str)
            .is_some_and(|role| names.contains(&role))
    };
    let id_of = |message: &Value| {
        message
            .get("tool_call_id")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let mut list = Vec::with_capacity(messages.len());
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let place = at;
        at += 1;
        if is(message, &["tool"]) {
            // Without an id it is reported, and with one it answers nothing.
            if id_of(message).is_none() {
                list.push((place, Cow::Borrowed(message)));
            }
            continue;
        }
        list.push((place, Cow::Borrowed(message)));
        if !is(message, &["ai", "assistant", "AIMessageChunk"]) {
            continue;
        }
        let mut open: Vec<(String, String)> = ToolCall::all_of(message)
            .into_iter()
            .map(|call| (call.id, call.name))
            .collect();
        let turn = messages[at..]
            .iter()
            .take_while(|next| !is(next, &["ai", "assistant", "AIMessageChunk"]));
        let turn = at + turn.count();
        let mut others = Vec::new();
        for (place, next) in messages.iter().enumerate().take(turn).skip(at) {
            let answers = is(next, &["tool"]).then(|| id_of(next)).flatten();
            match answers {
                None => others.push((place, Cow::Borrowed(next))),
                Some(id) => {
                    if let Some(call) = open.iter().position(|(call, _)| *call == id) {
                        open.remove(call);
                        list.push((place, Cow::Borrowed(next)));
                    }
                }
            }
        }
        for (id, name) in open {
            let answer = superstep::json!({
                "type": "tool", "tool_call_id": id, "name": name, "content": NO_ANSWER, "status": "error"});
            list.push((place, Cow::Owned(answer)));
        }
        list.extend(others);
        at = turn;
    }
    list
}

fn is_picture(part: &Value) -> bool {
    matches!(
        part.get("type").and_then(Value::as_str),
        Some("image" | "image_url")
    )
}

/// Returns the pictures of a tool's answer, with a note about their origin.
fn pictures(message: &Value, kind: AdapterKind) -> Result<Vec<ContentPart>, String> {
    let Some(Value::Array(list)) = message.get("content") else {
        return Ok(Vec::new());
    };
    let mut parts: Vec<ContentPart> = list
        .iter()
        .filter(|part| is_picture(part))
        .map(|part| data(part, kind))
        .collect::<Result<_, _>>()?;
    if !parts.is_empty() {
        let name = message.get("name").and_then(Value::as_str).unwrap_or("called");
        parts.insert(0, ContentPart::from_text(format!("What the tool {name} showed:")));
    }
    Ok(parts)
}

/// Returns the answer of a tool as text, with a note in place of each part that is not text.
fn answer_text(content: Option<&Value>) -> Result<String, String> {
    let Some(Value::Array(parts)) = content else {
        return content_text(content);
    };
    let texts = parts.iter().map(|part| {
        match (
            part.as_str().or_else(|| part.get("text")?.as_str()),
            part.get("type").and_then(Value::as_str),
        ) {
            (Some(text), _) => text.to_owned(),
            (None, _) if is_picture(part) => "[a picture, shown below]".to_owned(),
            (None, ty) => format!("[{}, left out]", ty.unwrap_or("something that is no text")),
        }
    });
    Ok(texts.collect::<Vec<_>>().join("\n"))
}

/// Converts a message to the form sent to a model of `kind`.
fn chat_message(
    message: &Value,
    kind: AdapterKind,
    provider: &str,
    calls: &mut SentCalls,
) -> Result<ChatMessage, String> {
    let role = message
        .get("type")
        .or_else(|| message.get("role"))
        .and_then(Value::as_str)
        .unwrap_or("human");
    let content = match message {
        Value::String(_) => Some(message),
        message => message.get("content"),
    };
    match role {
        "human" | "user" => Ok(ChatMessage::user(parts(content, kind)?)),
        "system" | "developer" => Ok(ChatMessage::system(content_text(content)?)),
        "ai" | "assistant" | "AIMessageChunk" => {
            Ok(ChatMessage::assistant(answered(message, kind, provider, calls)?))
        }
        "tool" => {
            let id = message
                .get("tool_call_id")
                .and_then(Value::as_str)
                .ok_or("it is a tool message without the `tool_call_id` that it answers")?;
            let mut response = ToolResponse::new(calls.id_of_answer(id), answer_text(content)?);
            if let Some(name) = message.get("name").and_then(Value::as_str) {
                response = response.with_fn_name(sent_name(name));
            }
            Ok(ChatMessage::from(response))
        }
        other => Err(format!(
            "messages of type `{other}` are not supported; send human, ai, system and tool messages"
        )),
    }
}

/// Returns the text of a message's content: text, or a list with text parts.
fn content_text(content: Option<&Value>) -> Result<String, String> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Array(parts)) => parts
            .iter()
            .map(
                |part| match (part.as_str(), part.get("text").and_then(Value::as_str)) {
                    (Some(text), _) | (None, Some(text)) => Ok(text.to_owned()),
                    _ => Err("it has a part that is not text".to_owned()),
                },
            )
            .collect(),
        Some(other) => Err(format!("its content is of type {}", other.type_name())),
    }
}

/// Returns the text, pictures and files of a human message.
fn parts(content: Option<&Value>, kind: AdapterKind) -> Result<MessageContent, String> {
    let Some(Value::Array(list)) = content else {
        return Ok(MessageContent::from_text(content_text(content)?));
    };
    let mut parts = Vec::new();
    for part in list.iter() {
        parts.push(match part.as_str().or_else(|| part.get("text")?.as_str()) {
            Some(text) => ContentPart::from_text(text),
            None => data(part, kind)?,
        });
    }
    Ok(MessageContent::from_parts(parts))
}

/// Converts a picture, sound or file from any of the forms that LangChain and the providers write.
fn data(part: &Value, kind: AdapterKind) -> Result<ContentPart, String> {
    let ty = part.get("type").and_then(Value::as_str).unwrap_or("untyped");
    let text = |path: &[&str]| {
        let mut at = part;
        for step in path {
            at = at.get(step)?;
        }
        at.as_str()
    };
    let mime = text(&["mime_type"])
        .or_else(|| text(&["source", "media_type"]))
        .unwrap_or(match ty {
            "image" | "image_url" => "image/png",
            "audio" => "audio/wav",
            _ => "application/pdf",
        });
    let name = text(&["filename"])
        .or_else(|| text(&["file", "filename"]))
        .map(str::to_owned);
    let encoded = text(&["base64"])
        .or_else(|| text(&["source", "data"]))
        .or_else(|| text(&["data"]));
    let url = text(&["image_url", "url"])
        .or_else(|| text(&["image_url"]))
        .or_else(|| text(&["url"]))
        .or_else(|| text(&["source", "url"]))
        .or_else(|| text(&["file", "file_data"]));
    if !matches!(ty, "image" | "image_url" | "file" | "document" | "audio") {
        return Err(format!(
            "it has a part of type `{ty}`; parts are `text`, `image_url`, `image`, `file` and `audio`"
        ));
    }
    let sized = |encoded: &str| match encoded.len() > MAX_DATA {
        true => Err(format!("its {ty} is larger than {} MB", MAX_DATA / 1024 / 1024)),
        false => Ok(()),
    };
    if let Some(encoded) = encoded {
        sized(encoded)?;
        return Ok(ContentPart::from_binary_base64(mime, encoded, name));
    }
    let url = url.ok_or_else(|| {
        format!("its {ty} has neither an address (`image_url`, `url`) nor data (`base64` and `mime_type`)")
    })?;
    if let Some(inline) = url.strip_prefix("data:") {
        let (mime, encoded) = inline
            .split_once(";base64,")
            .ok_or_else(|| format!("the data address of its {ty} is not base64"))?;
        sized(encoded)?;
        return Ok(ContentPart::from_binary_base64(mime, encoded, name));
    }
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err(format!("the address of its {ty} is neither http, https nor data"));
    }
    if !fetches(kind) || !mime.starts_with("image/") {
        return Err(format!(
            "{} takes no addresses of a {ty}; put the data itself into the message, as `data:{mime};base64,…`",
            kind.as_str()
        ));
    }
    Ok(ContentPart::from_binary_url(mime, url, name))
}

/// Returns whether the provider fetches pictures by their address. Requests to the others would silently lack them.
fn fetches(kind: AdapterKind) -> bool {
    !matches!(
        kind,
        AdapterKind::Anthropic | AdapterKind::Ollama | AdapterKind::OllamaCloud | AdapterKind::Cohere
    )
}

/// Returns an earlier answer of a model, with the calls it made and the reasoning it wants back.
fn answered(
    message: &Value,
    kind: AdapterKind,
    provider: &str,
    calls: &mut SentCalls,
) -> Result<MessageContent, String> {
    calls.open.clear();
    let mut parts = Vec::new();
    let extra = |key: &str| message.get("additional_kwargs").and_then(|extra| extra.get(key));
    // Signatures are worth something only to the provider that made them.
    let own = message
        .get("response_metadata")
        .and_then(|facts| facts.get("provider"))
        .and_then(Value::as_str)
        .is_some_and(|name| name == provider);
    let mut reasoned = false;
    if let (true, Some(Value::Array(blocks))) = (own, extra("thinking_blocks")) {
        reasoned = true;
        for block in blocks.iter() {
            let field = |key: &str| {
                block
                    .get(key)
                    .and_then(Value::as_str)
                    .filter(|text| !text.is_empty())
            };
            match (block.get("type").and_then(Value::as_str), field("signature")) {
                (Some("thinking"), Some(signature)) => {
                    parts.push(ContentPart::ThoughtSignature(signature.to_owned()));
                    if let Some(thinking) = field("thinking") {
                        parts.push(ContentPart::ReasoningContent(thinking.to_owned()));
                    }
                }
                _ => parts.push(ContentPart::from_custom(
                    Json::from(block),
                    Some(ModelIden::new(kind, "")),
                )),
            }
        }
    }
    let text = match message.get("content") {
        // Parts that stand elsewhere in the message too, or are the provider's own business.
        Some(Value::Array(list)) => {
            let mut text = String::new();
            for part in list.iter() {
                match part.as_str().or_else(|| part.get("text")?.as_str()) {
                    Some(piece) => text.push_str(piece),
                    None => match part.get("type").and_then(Value::as_str) {
                        Some("tool_use" | "tool_call" | "thinking" | "redacted_thinking" | "reasoning") => {}
                        _ => return Err("it has a part that is not text".into()),
                    },
                }
            }
            text
        }
        content => content_text(content)?,
    };
    if !text.is_empty() {
        parts.push(ContentPart::Text(text));
    }
    if let (true, false, Some(Value::String(reasoning))) = (own, reasoned, extra("reasoning_content")) {
        parts.push(ContentPart::ReasoningContent(reasoning.to_string()));
    }
    let signatures = extra("thought_signatures").filter(|_| own);
    for call in ToolCall::all_of(message) {
        let args = match call.args {
            Ok(args) => args_json(&args),
            // Providers insist on an object; the model sees what it wrote.
            Err(invalid) => json!({"invalid_arguments": invalid.text}),
        };
        let signed = signatures.and_then(|all| all.get(&call.id)).and_then(|list| {
            let list = list.as_array()?.iter().filter_map(Value::as_str);
            Some(list.map(str::to_owned).collect())
        });
        parts.push(ContentPart::ToolCall(GenaiCall {
            call_id: calls.id_of_call(&call.id),
            fn_name: sent_name(&call.name),
            fn_arguments: args,
            thought_signatures: signed,
        }));
    }
    Ok(MessageContent::from_parts(parts))
}

/// Converts an answer to a message as LangGraph stores it.
pub(crate) fn message(id: &str, answer: &ModelAnswer, facts: &Facts) -> Value {
    let mut metadata = facts.json();
    if let Some(model) = &answer.model {
        metadata.insert("model_name".into(), model.clone().into());
    }
    if let Some(stop) = &answer.stop {
        metadata.insert("stop_reason".into(), stop.clone().into());
    }
    if let Some(cost) = &answer.cost {
        metadata.insert("cost".into(), cost.clone());
    }
    let mut extra = Map::new();
    if !answer.reasoning.is_empty() {
        extra.insert("reasoning_content".into(), answer.reasoning.clone().into());
    }
    if !answer.thinking.is_empty() {
        extra.insert("thinking_blocks".into(), answer.thinking.clone().into());
    }
    if !answer.signatures.is_empty() {
        extra.insert("thought_signatures".into(), answer.signatures.clone().into());
    }
    let (mut calls, mut invalid) = (Vec::new(), Vec::new());
    for call in &answer.tool_calls {
        match &call.args {
            Ok(args) => calls.push(json!({
                "name": call.name, "args": args_json(args), "id": call.id, "type": "tool_call"})),
            Err(wrong) => invalid.push(json!({
                "name": call.name, "args": wrong.text, "id": call.id, "error": wrong.cause, "type": "invalid_tool_call"})),
        }
    }
    json!({
        "type": "ai", "id": id, "content": answer.text, "name": null,
        "additional_kwargs": extra, "response_metadata": metadata,
        "tool_calls": calls, "invalid_tool_calls": invalid,
        "usage_metadata": answer.usage.as_ref().map(super::TokenUsage::json),
    })
    .into()
}

#[cfg(test)]
mod tests {
    use superstep::json;
    use superstep::value::List;

    use super::*;

    fn sent(message: Value, kind: AdapterKind) -> Result<Vec<ContentPart>, String> {
        let mut calls = SentCalls::new(kind);
        let said = chat_message(&message, kind, "x", &mut calls)?;
        Ok(said.content.into_parts())
    }

    #[test]
    fn message_contents() {
        let parts = json!({"type": "human", "content": [{"type": "text", "text": "a"}, "b"]});
        assert_eq!(content_text(parts.get("content")).unwrap(), "ab");
        assert!(content_text(Some(&json!([{"type": "image"}]))).is_err());
        let lost = sent(json!({"type": "tool", "content": "x"}), AdapterKind::OpenAI).unwrap_err();
        assert!(lost.contains("tool_call_id"), "{lost}");
        assert!(
            sent(json!({"type": "function", "content": "x"}), AdapterKind::OpenAI)
                .unwrap_err()
                .contains("`function`")
        );
    }

    #[test]
    fn pictures_in_every_form_that_is_written() {
        let forms = [
            json!({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}}),
            json!({"type": "image_url", "image_url": "data:image/jpeg;base64,QUJD"}),
            json!({"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"}),
            json!({"type": "image", "source_type": "base64", "data": "QUJD", "mime_type": "image/jpeg"}),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"}}),
        ];
        for form in forms {
            for kind in [AdapterKind::OpenAI, AdapterKind::Anthropic, AdapterKind::Ollama] {
                let parts = sent(json!({"type": "human", "content": ["look", form.clone()]}), kind).unwrap();
                let binary = parts[1].as_binary().unwrap_or_else(|| panic!("{form}"));
                assert_eq!(binary.content_type, "image/jpeg");
                assert_eq!(binary.clone().into_url(), "data:image/jpeg;base64,QUJD");
            }
        }
        let far =
            json!({"type": "human", "content": [{"type": "image", "url": "https://example.org/a.png"}]});
        assert!(sent(far.clone(), AdapterKind::OpenAI).is_ok());
        let refused = sent(far, AdapterKind::Anthropic).unwrap_err();
        assert!(refused.contains("data:image/png;base64"), "{refused}");
        for (wrong, part) in [
            (json!({"type": "image"}), "neither an address"),
            (
                json!({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}),
                "neither http",
            ),
            (
                json!({"type": "image_url", "image_url": {"url": "data:image/png,x"}}),
                "not base64",
            ),
            (json!({"type": "video", "url": "https://x"}), "`video`"),
        ] {
            let text = sent(json!({"type": "human", "content": [wrong]}), AdapterKind::OpenAI).unwrap_err();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn pictures_of_tools_come_after_their_answers() {
        let tool = |id: &str, content: Value| json!({"type": "tool", "tool_call_id": id, "name": "draw", "content": content});
        let parts = json!(["see", {"type": "image", "base64": "QUJD", "mime_type": "image/png"}, {"type": "audio", "base64": "QUJD"}]);
        let call = |id: &str| json!({"name": "draw", "args": {}, "id": id, "type": "tool_call"});
        let messages = [
            json!({"type": "ai", "content": "", "tool_calls": [call("1"), call("2")]}),
            tool("1", parts),
            tool("2", json!("text")),
            json!({"type": "human", "content": "and?"}),
        ];
        let mut sent = chat_messages(&messages, AdapterKind::OpenAI, "x").unwrap();
        assert_eq!(sent.len(), 5);
        sent.remove(0);
        let answers = sent[0].content.tool_responses();
        assert_eq!(
            answers[0].content,
            "see\n[a picture, shown below]\n[audio, left out]"
        );
        assert_eq!(sent[1].content.tool_responses()[0].content, "text");
        let shown = sent[2].content.parts();
        assert_eq!(shown[0].as_text(), Some("What the tool draw showed:"));
        assert_eq!(shown[1].as_binary().unwrap().content_type, "image/png");
        let of_two = chat_messages(&messages[..2], AdapterKind::OpenAI, "x").unwrap();
        assert_eq!(
            of_two.len(),
            4,
            "the call, its answer, the other's, and the picture"
        );
        let (place, cause) =
            chat_messages(&[json!("a"), json!({"type": "odd"})], AdapterKind::OpenAI, "x").unwrap_err();
        assert!(place == 2 && cause.contains("`odd`"), "{cause}");
    }

    /// Returns in short what is sent of a conversation: `h` and `s` for people and the system, `a12` for a model that
    /// calls 1 and 2, `t1` for the answer to 1, `x1` for an answer that is made up.
    fn sent_in_short(conversation: &str) -> String {
        let message = |word: &str| match word.split_at(1) {
            ("a", calls) => {
                let calls: List = calls
                    .chars()
                    .map(|id| json!({"name": "f", "args": {}, "id": id.to_string(), "type": "tool_call"}))
                    .collect();
                json!({"type": "ai", "content": "", "tool_calls": Value::Array(calls)})
            }
            ("t", id) => json!({"type": "tool", "tool_call_id": id, "content": "done"}),
            ("s", _) => json!({"type": "system", "content": "s"}),
            _ => json!({"type": "human", "content": "h"}),
        };
        let messages: Vec<Value> = conversation.split(' ').map(message).collect();
        let sent = chat_messages(&messages, AdapterKind::OpenAI, "x")
            .unwrap()
            .into_iter();
        // An id that is made here holds the number of the call.
        let calls = conversation.split(' ').filter_map(|word| word.strip_prefix('a'));
        let given: Vec<char> = calls.flat_map(str::chars).collect();
        let short = |id: &str| match id.strip_prefix("call") {
            Some(number) => given[number.parse::<usize>().unwrap() - 1].to_string(),
            None => id.to_owned(),
        };
        let mut ids = HashSet::new();
        let mut word = |message: ChatMessage| {
            let calls: String = message
                .content
                .tool_calls()
                .iter()
                .inspect(|call| assert!(ids.insert(call.call_id.clone()), "{conversation}"))
                .map(|call| short(&call.call_id))
                .collect();
            match (message.role, message.content.tool_responses().first()) {
                (ChatRole::Assistant, _) => format!("a{calls}"),
                (_, Some(answer)) if answer.content == NO_ANSWER => format!("x{}", short(&answer.call_id)),
                (_, Some(answer)) => format!("t{}", short(&answer.call_id)),
                (ChatRole::System, _) => "s".to_owned(),
                _ => "h".to_owned(),
            }
        };
        sent.map(&mut word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn behind_each_call_stands_its_answer() {
        for (conversation, sent) in [
            ("s h a12 t1 t2 a h", "s h a12 t1 t2 a h"),
            ("h a12 t2 t1", "h a12 t2 t1"),
            // The process died in a tool, or the run was stopped, and somebody wrote on.
            ("h a1 h", "h a1 x1 h"),
            ("h a12 t2 h", "h a12 t2 x1 h"),
            ("h a12", "h a12 x1 x2"),
            // The answer came after a message, or twice, or for a call that is gone.
            ("h a1 h t1", "h a1 t1 h"),
            ("h a1 t1 t1 h", "h a1 t1 h"),
            ("t1 h a t2 h", "h a h"),
            ("h a12 t3 t1 h t2", "h a12 t1 t2 h"),
            // One id for each call of every answer.
            ("h a1 t1 a1 t1 a1", "h a1 t1 a1 t1 a1 x1"),
            ("h a11 t1 t1", "h a11 t1 t1"),
            ("h a1 a1 t1", "h a1 x1 a1 t1"),
        ] {
            assert_eq!(sent_in_short(conversation), sent, "{conversation}");
        }
    }

    #[test]
    fn calls_have_ids_and_names_that_the_provider_takes() {
        let call = |id: &str, name: &str| json!({"name": name, "args": {}, "id": id, "type": "tool_call"});
        let answer = |id: &str, text: &str| json!({"type": "tool", "tool_call_id": id, "name": "functions.book", "content": text});
        let long = "chatcmpl-tool-0123456789abcdef0123456789abcdef";
        // Made by Gemini, vLLM, Mistral, LangGraph and llama.cpp, which gives one to all.
        let ids = [
            "call#book#0",
            long,
            "D681PevKs",
            "",
            "ZsSt",
            "ZsSt",
            "toolu_01-A",
            "call00002",
        ];
        let calls: List = ids.iter().map(|id| call(id, "functions.book")).collect();
        let mut messages = vec![json!({"type": "ai", "content": "", "tool_calls": Value::Array(calls)})];
        messages.extend(
            ids.iter()
                .enumerate()
                .map(|(place, id)| answer(id, &place.to_string())),
        );
        messages.push(json!({"type": "ai", "content": "", "tool_calls": [call("ZsSt", ""), call("b", "a b"), call("D681PevKs", "look-up")]}));
        let is_plain = |id: &str, more: &str| {
            id.chars()
                .all(|sign| sign.is_ascii_alphanumeric() || more.contains(sign))
        };
        for kind in [
            AdapterKind::Mistral,
            AdapterKind::Anthropic,
            AdapterKind::OpenAI,
            AdapterKind::Ollama,
            AdapterKind::Cohere,
        ] {
            let sent = chat_messages(&messages, kind, "x").unwrap();
            let of = |place: usize| sent[place].content.tool_calls();
            let begun: Vec<&str> = of(0).iter().map(|call| call.call_id.as_str()).collect();
            let all: Vec<&str> = sent
                .iter()
                .flat_map(|said| said.content.tool_calls())
                .map(|call| call.call_id.as_str())
                .collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), 11, "{kind:?}: {all:?}");
            for (place, id) in begun.iter().enumerate() {
                let answer = sent[place + 1].content.tool_responses()[0];
                assert_eq!(
                    (answer.call_id.as_str(), &*answer.content),
                    (*id, &*place.to_string()),
                    "{kind:?}"
                );
                assert_eq!(answer.fn_name.as_deref(), Some("functions_book"));
            }
            let takes = |id: &&str| match kind {
                AdapterKind::Mistral => id.len() == 9 && is_plain(id, ""),
                AdapterKind::Anthropic => !id.is_empty() && is_plain(id, "_-"),
                AdapterKind::OpenAI => (1..=40).contains(&id.len()),
                _ => !id.is_empty(),
            };
            assert_eq!(all.iter().find(|id| !takes(id)), None, "{kind:?}: {all:?}");
            // What the provider takes stays.
            assert_eq!(begun[2], "D681PevKs");
            assert_eq!(begun[6] == "toolu_01-A", kind != AdapterKind::Mistral);
            let names: Vec<&str> = of(9).iter().map(|call| call.fn_name.as_str()).collect();
            assert_eq!(names, ["unnamed", "a_b", "look-up"]);
        }
    }

    #[test]
    fn an_answer_that_says_nothing_is_not_sent_where_it_is_refused() {
        let said = |content: &str| {
            json!({"type": "ai", "content": content, "response_metadata": {"provider": "x"},
            "additional_kwargs": {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}]}})
        };
        let human = |text: &str| json!({"type": "human", "content": text});
        let messages = [human("a"), said(""), human(" "), said("\n"), said("b"), human("")];
        for (kind, count) in [
            (AdapterKind::Anthropic, 3),
            (AdapterKind::Gemini, 3),
            (AdapterKind::OpenAI, 6),
        ] {
            assert_eq!(
                chat_messages(&messages, kind, "x").unwrap().len(),
                count,
                "{kind:?}"
            );
        }
    }

    #[test]
    fn conversations_of_any_shape_are_ones_that_providers_take() {
        let words = ["h", "s", "a", "a1", "a12", "a2", "a11", "t1", "t2", "t3"];
        let mut number = 12345_u64;
        for _ in 0..5000 {
            let mut conversation = vec!["h"];
            for _ in 0..8 {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                conversation.push(words[(number >> 40) as usize % words.len()]);
            }
            let conversation = conversation.join(" ");
            let sent = sent_in_short(&conversation);
            let mut open: Vec<char> = Vec::new();
            for word in sent.split(' ') {
                if let Some(id) = word.strip_prefix(['t', 'x']) {
                    let id = id.chars().next().unwrap();
                    let place = open.iter().position(|open| *open == id);
                    open.remove(
                        place.unwrap_or_else(|| panic!("{conversation} -> {sent}: {word} answers nothing")),
                    );
                    continue;
                }
                assert!(open.is_empty(), "{conversation} -> {sent}: no answer to {open:?}");
                open.extend(word.strip_prefix('a').into_iter().flat_map(str::chars));
            }
            assert!(open.is_empty(), "{conversation} -> {sent}");
        }
    }

    #[test]
    fn signatures_go_back_to_their_own_provider_only() {
        let message = json!({"type": "ai", "content": "", "response_metadata": {"provider": "x"},
            "additional_kwargs": {"reasoning_content": "hm", "thinking_blocks": [
                {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "redacted_thinking", "data": "d"}]},
            "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "t", "type": "tool_call"}],
            "invalid_tool_calls": [{"name": "g", "args": "{oops", "id": "u", "error": "e", "type": "invalid_tool_call"}]});
        let own = sent(message.clone(), AdapterKind::Anthropic).unwrap();
        assert_eq!(own[0].as_thought_signature(), Some("s"));
        assert_eq!(own[1].as_reasoning_content(), Some("hm"));
        assert_eq!(own[2].as_custom().unwrap().typ(), Some("redacted_thinking"));
        assert_eq!(own[3].as_tool_call().unwrap().fn_name, "f");
        assert_eq!(
            own[4].as_tool_call().unwrap().fn_arguments,
            serde_json::json!({"invalid_arguments": "{oops"})
        );
        let mut calls = SentCalls::new(AdapterKind::OpenAI);
        let other = chat_message(&message, AdapterKind::OpenAI, "y", &mut calls)
            .unwrap()
            .content
            .into_parts();
        assert_eq!(other.len(), 2, "only the calls: {other:?}");
    }
}
