//! What servers send, as parts of messages: the forms of LangChain's content blocks. Each part is read by itself; what is
//! not understood is named, and costs nothing else.

use std::borrow::Cow;

use serde_json::Value as Json;
use superstep::value::List;
use superstep::{Value, json};

/// Longest text of an answer, in characters.
const MAX_TEXT: usize = 256 * 1024;
/// Largest picture, sound or file of an answer, as base64 text; and all of them together.
const MAX_DATA: usize = 8 * 1024 * 1024;
const ALL_DATA: usize = 16 * 1024 * 1024;
/// Parts of one answer.
const MAX_PARTS: usize = 256;
/// Longest text of a part that is not understood, in characters.
const MAX_UNKNOWN: usize = 2_000;

/// Parts of an answer that a message takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Content {
    /// Text when there is nothing else, a list of parts when there is.
    pub(crate) content: Value,
    /// What programs read: the structured answer, if there is one.
    pub(crate) artifact: Value,
    /// The tool says that it failed.
    pub(crate) failed: bool,
}

/// Parts as they come in, with what is left of the room for them.
struct Parts {
    parts: Vec<Value>,
    text: usize,
    data: usize,
    left_out: usize,
}

impl Parts {
    fn new() -> Self {
        Self {
            parts: Vec::new(),
            text: MAX_TEXT,
            data: ALL_DATA,
            left_out: 0,
        }
    }

    fn room(&mut self) -> bool {
        let room = self.parts.len() < MAX_PARTS;
        self.left_out += usize::from(!room);
        room
    }

    fn text(&mut self, text: &str) {
        if !self.room() {
            return;
        }
        let cut = match text.char_indices().nth(self.text) {
            None => text.to_owned(),
            Some((end, _)) => format!("{}… ({} bytes more are left out)", &text[..end], text.len() - end),
        };
        self.text = self.text.saturating_sub(text.len());
        self.parts.push(json!({"type": "text", "text": cut}));
    }

    fn data(&mut self, data: &str, mime: &str) {
        let ty = match mime.split('/').next() {
            Some("image") => "image",
            Some("audio") => "audio",
            _ => "file",
        };
        if data.len() > MAX_DATA.min(self.data) {
            self.text(&format!(
                "[{mime} of {} KB is left out: it is too large]",
                data.len() / 4 * 3 / 1024
            ));
        } else if !is_base64(data) {
            // A model's server would refuse the whole conversation.
            self.text(&format!("[{mime} is left out: it is no base64]"));
        } else if self.room() {
            self.data -= data.len();
            self.parts
                .push(json!({"type": ty, "base64": data, "mime_type": mime}));
        }
    }

    /// Adds the data of a part, in whose `field` it is.
    fn data_of(&mut self, part: &Json, field: &str, otherwise: &str) {
        let Some(data) = part.get(field).and_then(Json::as_str) else {
            return self.unknown(part);
        };
        let (announced, data) = match data
            .strip_prefix("data:")
            .and_then(|data| data.split_once(";base64,"))
        {
            Some((mime, data)) => (Some(mime), data),
            None => (None, data),
        };
        let named = part.get("mimeType").and_then(Json::as_str).or(announced);
        let mime = named.or_else(|| picture_type(data)).unwrap_or(otherwise);
        self.data(&as_base64(data), mime);
    }

    /// Names what is not understood; the text in it may still be what the model needs.
    fn unknown(&mut self, part: &Json) {
        let ty = match part.get("type").and_then(Json::as_str) {
            Some(ty) => format!("a part of the type `{}`", cut(ty, 40)),
            None => "a part without a type".to_owned(),
        };
        let told = match part.get("text") {
            Some(Json::String(text)) => text.clone(),
            _ => part.to_string(),
        };
        self.text(&format!(
            "[{ty} that is not understood: {}]",
            cut(&told, MAX_UNKNOWN)
        ));
    }

    fn resource(&mut self, resource: &Json) {
        match resource.get("text") {
            Some(Json::String(text)) => self.text(text),
            _ if resource.get("blob").is_some() => self.data_of(resource, "blob", "application/octet-stream"),
            _ => self.unknown(resource),
        }
    }

    fn block(&mut self, block: &Json) {
        let field = |name: &str| block.get(name).and_then(Json::as_str);
        match (field("type"), block) {
            (_, Json::String(text)) => self.text(text),
            (Some("text") | None, _) if field("text").is_some() => {
                self.text(field("text").unwrap_or_default())
            }
            (Some("image"), _) => self.data_of(block, "data", "image/png"),
            (Some("audio"), _) => self.data_of(block, "data", "audio/wav"),
            (Some("resource"), _) => match block.get("resource") {
                Some(resource) => self.resource(resource),
                None => self.unknown(block),
            },
            (Some("resource_link"), _) if field("uri").is_some() => {
                let uri = field("uri").unwrap_or_default();
                let name = field("name").or(field("title")).unwrap_or("without a name");
                let about = field("description").map_or_else(String::new, |text| format!(": {text}"));
                self.text(&format!("[resource {name} at {uri}{about}]"));
            }
            _ => self.unknown(block),
        }
    }

    fn blocks(&mut self, content: Option<&Json>) {
        match content {
            None | Some(Json::Null) => {}
            Some(Json::Array(blocks)) => blocks.iter().for_each(|block| self.block(block)),
            Some(one) => self.block(one),
        }
    }

    /// Converts the parts to content. Text alone becomes a string: not every provider takes parts in the answers of
    /// tools.
    fn content(mut self) -> Value {
        if self.left_out > 0 {
            let note = format!("({} parts more are left out)", self.left_out);
            self.parts.push(json!({"type": "text", "text": note}));
        }
        let texts: Option<Vec<&str>> = self.parts.iter().map(|part| part.get("text")?.as_str()).collect();
        match texts {
            Some(texts) => texts.join("\n").into(),
            None => Value::Array(self.parts.into_iter().collect::<List>()),
        }
    }
}

/// Returns whether a model's server takes it for base64.
fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    data.len().is_multiple_of(4)
        && data.len() - digits.len() <= 2
        && !digits.is_empty()
        && digits.bytes().all(digit)
}

/// Writes data as providers take it: in lines, without its last marks or in the alphabet for addresses it is still base64.
fn as_base64(data: &str) -> Cow<'_, str> {
    if is_base64(data) {
        return data.into();
    }
    let digits = data.chars().filter(|digit| !digit.is_ascii_whitespace());
    let mut text: String = digits
        .map(|digit| match digit {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    match text.len() % 4 {
        2 => text.push_str("=="),
        3 => text.push('='),
        _ => {}
    }
    text.into()
}

/// Returns the type of a picture whose server does not say it, by how its data begins.
fn picture_type(data: &str) -> Option<&'static str> {
    let known = [
        ("iVBORw0KGgo", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lGOD", "image/gif"),
        ("UklGR", "image/webp"),
    ];
    known
        .iter()
        .find(|(begin, _)| data.starts_with(begin))
        .map(|(_, mime)| *mime)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the content of a tool's answer.
pub(crate) fn of_call(result: &Json) -> Content {
    let mut parts = Parts::new();
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let known = ["content", "structuredContent", "isError"];
    let is_answer = known.iter().any(|field| result.get(field).is_some());
    match result {
        _ if is_answer => parts.blocks(result.get("content")),
        // An answer of the time before there were parts, or none: what it says is still what the tool said.
        Json::Object(fields) => match fields.get("toolResult") {
            Some(Json::String(text)) => parts.text(text),
            Some(other) => parts.text(&other.to_string()),
            None if fields
                .keys()
                .all(|field| field == "_meta" || field == "resultType") => {}
            None => parts.unknown(result),
        },
        Json::Null => {}
        other => parts.blocks(Some(other)),
    }
    if let (true, Some(structured)) = (parts.parts.is_empty(), structured) {
        parts.text(&structured.to_string());
    }
    Content {
        content: parts.content(),
        artifact: structured.map_or(Value::Null, self::structured),
        failed: match result.get("isError") {
            Some(Json::String(text)) => text.eq_ignore_ascii_case("true"),
            Some(Json::Number(number)) => number.as_f64() != Some(0.0),
            other => other == Some(&Json::Bool(true)),
        },
    }
}

/// Returns the structured answer; one that is as large as a document is in the text already.
pub(crate) fn structured(structured: &Json) -> Value {
    match structured.to_string().len() > MAX_TEXT {
        true => Value::Null,
        false => json!({"structured_content": structured.clone()}),
    }
}

/// Returns the contents of a resource.
pub(crate) fn of_resource(result: &Json) -> Value {
    let mut parts = Parts::new();
    match result.get("contents") {
        Some(Json::Array(contents)) => contents.iter().for_each(|contents| parts.resource(contents)),
        Some(one @ Json::Object(_)) => parts.resource(one),
        _ => parts.blocks(result.get("content").or(Some(result))),
    }
    parts.content()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(result: serde_json::Value) -> Content {
        of_call(&result)
    }

    #[test]
    fn what_is_not_understood_is_named_and_costs_nothing_else() {
        let text = serde_json::json!({"type": "text", "text": "42 orders", "annotations": {"audience": ["system"], "priority": "high"}});
        for (odd, told) in [
            (
                serde_json::json!({"type": "video", "data": "AAAA"}),
                "[a part of the type `video` that is not understood: {\"type\":\"video\",\"data\":\"AAAA\"}]",
            ),
            (
                serde_json::json!({"type": "markdown", "text": "# 7"}),
                "[a part of the type `markdown` that is not understood: # 7]",
            ),
            (
                serde_json::json!({"type": "text", "text": 7}),
                "[a part of the type `text` that is not understood: {\"type\":\"text\",\"text\":7}]",
            ),
            (
                serde_json::json!({"type": "image", "data": "no base64!", "mimeType": "image/png"}),
                "[image/png is left out: it is no base64]",
            ),
            (
                serde_json::json!({"type": "resource", "resource": {"uri": "x://1"}}),
                "[a part without a type that is not understood: {\"uri\":\"x://1\"}]",
            ),
            (
                serde_json::json!({"type": "resource_link", "uri": "x://2", "icons": 3}),
                "[resource without a name at x://2]",
            ),
            (serde_json::json!({"text": "bare"}), "bare"),
            (serde_json::json!("plain"), "plain"),
            (
                serde_json::json!(null),
                "[a part without a type that is not understood: null]",
            ),
        ] {
            let read =
                content(serde_json::json!({"content": [text, odd], "resultType": "complete", "_meta": 3}));
            assert_eq!(read.content, json!(format!("42 orders\n{told}")), "{odd}");
            assert!(!read.failed);
        }
        let picture = content(
            serde_json::json!({"content": {"type": "image", "data": "data:image/gif;base64,R0lG\nODlh"}}),
        );
        assert_eq!(
            picture.content,
            json!([{"type": "image", "base64": "R0lGODlh", "mime_type": "image/gif"}])
        );
        assert_eq!(
            (as_base64("QU-_ QUI"), as_base64("QQ"), as_base64("QUJD")),
            ("QU+/QUI=".into(), "QQ==".into(), "QUJD".into())
        );
        for (result, told) in [
            (serde_json::json!({"content": "said"}), "said"),
            (
                serde_json::json!({"content": null, "structuredContent": [1]}),
                "[1]",
            ),
            (serde_json::json!({"toolResult": {"n": 1}}), "{\"n\":1}"),
            (serde_json::json!("42"), "42"),
            (serde_json::json!({}), ""),
            (serde_json::json!(null), ""),
            (
                serde_json::json!({"output": 42}),
                "[a part without a type that is not understood: {\"output\":42}]",
            ),
        ] {
            assert_eq!(content(result.clone()).content, json!(told), "{result}");
        }
        assert!(content(serde_json::json!({"content": [], "isError": "true"})).failed);
        assert!(!content(serde_json::json!({"content": [], "isError": null})).failed);
    }

    #[test]
    fn resources_are_read_part_by_part() {
        let read = of_resource(
            &serde_json::json!({"contents": [{"uri": "x://1", "text": "a", "mimeType": 3}, {"uri": "x://2"}, {"blob": "QUJD", "mimeType": "image/png"}]}),
        );
        let parts = json!([{"type": "text", "text": "a"},
            {"type": "text", "text": "[a part without a type that is not understood: {\"uri\":\"x://2\"}]"},
            {"type": "image", "base64": "QUJD", "mime_type": "image/png"}]);
        assert_eq!(read, parts);
        assert_eq!(
            of_resource(&serde_json::json!({"contents": {"text": "b"}})),
            json!("b")
        );
    }

    #[test]
    fn text_is_text_and_the_rest_are_parts() {
        let text = content(
            serde_json::json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
        );
        assert_eq!(text.content, json!("a\nb"));
        let mixed = content(serde_json::json!({"isError": true, "content": [
            {"type": "text", "text": "see"}, {"type": "image", "data": "QUJD", "mimeType": "image/jpeg"},
            {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
            {"type": "resource_link", "uri": "x://2", "name": "two", "description": "the second"}]}));
        assert!(mixed.failed);
        assert_eq!(
            mixed.content,
            json!([{"type": "text", "text": "see"}, {"type": "image", "base64": "QUJD", "mime_type": "image/jpeg"},
                {"type": "text", "text": "inside"}, {"type": "text", "text": "[resource two at x://2: the second]"}])
        );
        let structured = content(serde_json::json!({"content": [], "structuredContent": {"n": 1}}));
        assert_eq!(structured.content, json!("{\"n\":1}"));
        assert_eq!(structured.artifact, json!({"structured_content": {"n": 1}}));
    }

    #[test]
    fn giant_answers_are_cut_and_say_so() {
        let long = "ä".repeat(MAX_TEXT + 7);
        let cut = content(
            serde_json::json!({"content": [{"type": "text", "text": long}, {"type": "text", "text": "more"}]}),
        );
        let cut = cut.content.as_str().unwrap().to_owned();
        assert!(
            cut.contains("(14 bytes more are left out)") && cut.len() < 600_000,
            "{}",
            cut.len()
        );
        let data = "A".repeat(MAX_DATA + 4);
        let picture = content(
            serde_json::json!({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}),
        );
        assert_eq!(
            picture.content,
            json!("[image/png of 6144 KB is left out: it is too large]")
        );
        let many: Vec<_> = (0..MAX_PARTS + 3)
            .map(|_| serde_json::json!({"type": "text", "text": "x"}))
            .collect();
        let many = content(serde_json::json!({ "content": many }));
        assert!(
            many.content
                .as_str()
                .unwrap()
                .ends_with("(3 parts more are left out)")
        );
    }
}
