//! What servers send, as parts of messages: the forms of LangChain's content blocks.

use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};
use serde_json::Value as Json;
use superstep::value::List;
use superstep::{Value, json};

/// Longest text of an answer, in characters.
const LONGEST_TEXT: usize = 256 * 1024;
/// Largest picture, sound or file of an answer, as base64 text; and all of them together.
const LARGEST_DATA: usize = 8 * 1024 * 1024;
const ALL_DATA: usize = 16 * 1024 * 1024;
/// Parts of one answer.
const MOST_PARTS: usize = 256;

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
            text: LONGEST_TEXT,
            data: ALL_DATA,
            left_out: 0,
        }
    }

    fn room(&mut self) -> bool {
        let room = self.parts.len() < MOST_PARTS;
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
        if data.len() > LARGEST_DATA.min(self.data) {
            self.text(&format!(
                "[{mime} of {} KB is left out: it is too large]",
                data.len() / 4 * 3 / 1024
            ));
        } else if self.room() {
            self.data -= data.len();
            self.parts
                .push(json!({"type": ty, "base64": data, "mime_type": mime}));
        }
    }

    fn resource(&mut self, resource: &ResourceContents) {
        match resource {
            ResourceContents::TextResourceContents { text, .. } => self.text(text),
            ResourceContents::BlobResourceContents { blob, mime_type, .. } => {
                self.data(blob, mime_type.as_deref().unwrap_or("application/octet-stream"));
            }
            // What servers may send one day.
            other => self.text(&format!("[{}]", serde_json::to_string(other).unwrap_or_default())),
        }
    }

    fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(&text.text),
            ContentBlock::Image(image) => self.data(&image.data, &image.mime_type),
            ContentBlock::Audio(audio) => self.data(&audio.data, &audio.mime_type),
            ContentBlock::Resource(embedded) => self.resource(&embedded.resource),
            ContentBlock::ResourceLink(link) => {
                let about = link
                    .description
                    .as_ref()
                    .map_or_else(String::new, |text| format!(": {text}"));
                self.text(&format!("[resource {} at {}{about}]", link.name, link.uri));
            }
            other => self.text(&format!("[{}]", serde_json::to_string(other).unwrap_or_default())),
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

/// Returns the content of a tool's answer.
pub(crate) fn of_call(result: &CallToolResult) -> Content {
    let mut parts = Parts::new();
    for block in &result.content {
        parts.block(block);
    }
    let structured = result
        .structured_content
        .as_ref()
        .filter(|value| !value.is_null());
    if let (true, Some(structured)) = (parts.parts.is_empty(), structured) {
        parts.text(&structured.to_string());
    }
    Content {
        content: parts.content(),
        artifact: structured.map_or(Value::Null, artifact),
        failed: result.is_error == Some(true),
    }
}

/// Returns the structured answer; one that is as large as a document is in the text already.
fn artifact(structured: &Json) -> Value {
    match structured.to_string().len() > LONGEST_TEXT {
        true => Value::Null,
        false => json!({"structured_content": structured.clone()}),
    }
}

/// Returns the contents of a resource.
pub(crate) fn of_resource(result: &ReadResourceResult) -> Value {
    let mut parts = Parts::new();
    for contents in &result.contents {
        parts.resource(contents);
    }
    parts.content()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(result: serde_json::Value) -> Content {
        of_call(&serde_json::from_value(result).unwrap())
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
        let long = "ä".repeat(LONGEST_TEXT + 7);
        let cut = content(
            serde_json::json!({"content": [{"type": "text", "text": long}, {"type": "text", "text": "more"}]}),
        );
        let cut = cut.content.as_str().unwrap().to_owned();
        assert!(
            cut.contains("(14 bytes more are left out)") && cut.len() < 600_000,
            "{}",
            cut.len()
        );
        let data = "A".repeat(LARGEST_DATA + 4);
        let picture = content(
            serde_json::json!({"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}),
        );
        assert_eq!(
            picture.content,
            json!("[image/png of 6144 KB is left out: it is too large]")
        );
        let many: Vec<_> = (0..MOST_PARTS + 3)
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
