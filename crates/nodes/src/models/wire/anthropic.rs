//! Events of Anthropic's messages.

use serde_json::{Map, Value as Json, json};

use super::calls::CallDelta;
use super::part::{WirePart, field_of, number_of, text_of, unknown};
use crate::models::answer::TokenUsage;

/// Most blocks that are open at the same time.
const MAX_BLOCKS: usize = 64;

/// A block of the answer that has begun.
#[derive(Debug)]
enum Block {
    Text,
    Tool,
    Thinking {
        text: String,
        signature: String,
    },
    /// Of a kind that this version does not know.
    Other,
}

/// Decoder of events.
#[derive(Debug, Default)]
pub(in crate::models) struct AnthropicDecoder {
    /// Open blocks by the server's number, in the order in which they began.
    blocks: Vec<(u64, Block)>,
    usage: Option<TokenUsage>,
}

impl AnthropicDecoder {
    pub(super) fn frame(&mut self, event: Option<&str>, mut json: Json, parts: &mut Vec<WirePart>) {
        let kind = text_of(&mut json, "type");
        let kind = kind.as_deref().or(event).unwrap_or_default();
        let index = number_of(json.get("index"));
        match kind {
            "message_start" => {
                if let Some(message) = field_of(&mut json, "message") {
                    self.message(message, parts);
                }
            }
            // An answer that is no stream.
            "message" => {
                self.message(json, parts);
                parts.push(WirePart::Done);
            }
            "content_block_start" => match field_of(&mut json, "content_block") {
                Some(block) => self.begin(index, block, parts),
                None => parts.push(unknown("an event without a block", kind)),
            },
            "content_block_delta" => match field_of(&mut json, "delta") {
                Some(delta) => self.delta(index, delta, parts),
                None => parts.push(unknown("an event without a delta", kind)),
            },
            "content_block_stop" => self.end(index, parts),
            "message_delta" => {
                self.count(json.get("usage"), parts);
                let mut delta = field_of(&mut json, "delta").unwrap_or_default();
                parts.extend(text_of(&mut delta, "stop_reason").map(WirePart::Stop));
            }
            "message_stop" => {
                self.end_all(parts);
                parts.push(WirePart::Done);
            }
            "error" => parts.push(WirePart::Failure(json)),
            "ping" => {}
            _ if json.get("error").is_some_and(|error| !error.is_null()) => {
                parts.push(WirePart::Failure(json));
            }
            other => parts.push(unknown("the event", other)),
        }
    }

    fn message(&mut self, mut message: Json, parts: &mut Vec<WirePart>) {
        parts.extend(text_of(&mut message, "model").map(WirePart::Model));
        self.count(message.get("usage"), parts);
        if let Some(Json::Array(blocks)) = field_of(&mut message, "content") {
            for (index, block) in (0_u64..).zip(blocks) {
                self.begin(Some(index), block, parts);
                self.end(Some(index), parts);
            }
        }
        parts.extend(text_of(&mut message, "stop_reason").map(WirePart::Stop));
    }

    fn begin(&mut self, index: Option<u64>, mut block: Json, parts: &mut Vec<WirePart>) {
        let last = self.blocks.last().map_or(0, |(index, _)| index + 1);
        let index = index.unwrap_or(last);
        let kind = block
            .get("type")
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned();
        let begun = match kind.as_str() {
            "text" => {
                parts.extend(text_of(&mut block, "text").map(WirePart::Text));
                Block::Text
            }
            "thinking" => {
                let text = text_of(&mut block, "thinking").unwrap_or_default();
                if !text.is_empty() {
                    parts.push(WirePart::Reasoning(text.clone()));
                }
                Block::Thinking {
                    text,
                    signature: text_of(&mut block, "signature").unwrap_or_default(),
                }
            }
            // It comes whole, and goes back as it is.
            "redacted_thinking" => {
                parts.push(WirePart::Thinking(block));
                Block::Other
            }
            "tool_use" => {
                let input = field_of(&mut block, "input");
                let is_given = |input: &Json| input.as_object().is_none_or(|fields| !fields.is_empty());
                parts.push(WirePart::Call(CallDelta {
                    index: Some(index),
                    id: text_of(&mut block, "id"),
                    name: text_of(&mut block, "name"),
                    whole: input.filter(is_given),
                    ..CallDelta::default()
                }));
                Block::Tool
            }
            other => {
                parts.push(unknown("the block", other));
                Block::Other
            }
        };
        self.blocks.retain(|(known, _)| *known != index);
        if self.blocks.len() == MAX_BLOCKS {
            self.blocks.remove(0);
        }
        self.blocks.push((index, begun));
    }

    fn delta(&mut self, index: Option<u64>, mut delta: Json, parts: &mut Vec<WirePart>) {
        let kind = text_of(&mut delta, "type");
        let kind = match kind.as_deref() {
            Some(kind) => kind,
            None if delta.get("text").is_some() => "text_delta",
            None if delta.get("partial_json").is_some() => "input_json_delta",
            None if delta.get("thinking").is_some() => "thinking_delta",
            None if delta.get("signature").is_some() => "signature_delta",
            None => "",
        };
        let mut known = self.blocks.iter_mut().rev();
        let block = known.find(|(known, _)| index.is_none_or(|index| *known == index));
        match kind {
            // Some servers send text in the middle of a call.
            "text_delta" => parts.extend(text_of(&mut delta, "text").map(WirePart::Text)),
            "input_json_delta" => {
                let of_tool = match block {
                    Some((index, Block::Tool)) => Some(*index),
                    // Arguments of a tool that the server itself calls.
                    Some((_, Block::Other)) => return,
                    _ => self.last_tool(),
                };
                match (of_tool, text_of(&mut delta, "partial_json")) {
                    (_, None) => {}
                    (None, Some(_)) => parts.push(unknown("a delta outside of a call", kind)),
                    (index, args) => parts.push(WirePart::Call(CallDelta {
                        index,
                        args,
                        ..CallDelta::default()
                    })),
                }
            }
            "thinking_delta" => {
                if let Some(more) = text_of(&mut delta, "thinking") {
                    if let Some((_, Block::Thinking { text, .. })) = block {
                        text.push_str(&more);
                    }
                    parts.push(WirePart::Reasoning(more));
                }
            }
            "signature_delta" => {
                if let (Some((_, Block::Thinking { signature, .. })), Some(more)) =
                    (block, text_of(&mut delta, "signature"))
                {
                    signature.push_str(&more);
                }
            }
            other => parts.push(unknown("the delta", other)),
        }
    }

    fn last_tool(&self) -> Option<u64> {
        let mut blocks = self.blocks.iter().rev();
        let found = blocks.find(|(_, block)| matches!(block, Block::Tool));
        found.map(|(index, _)| *index)
    }

    fn end(&mut self, index: Option<u64>, parts: &mut Vec<WirePart>) {
        let place = match index {
            Some(index) => self.blocks.iter().position(|(known, _)| *known == index),
            None => self.blocks.len().checked_sub(1),
        };
        if let Some(place) = place {
            parts.extend(thought(self.blocks.remove(place).1));
        }
    }

    fn end_all(&mut self, parts: &mut Vec<WirePart>) {
        let blocks = std::mem::take(&mut self.blocks);
        parts.extend(blocks.into_iter().filter_map(|(_, block)| thought(block)));
    }

    /// Adds the counts of an event, which has some of them.
    fn count(&mut self, usage: Option<&Json>, parts: &mut Vec<WirePart>) {
        let Some(counts) = usage.and_then(Json::as_object) else {
            return;
        };
        let count = |name: &str| number_of(counts.get(name));
        let (input, output) = (count("input_tokens"), count("output_tokens"));
        let written = count("cache_creation_input_tokens").unwrap_or(0);
        let read = count("cache_read_input_tokens").unwrap_or(0);
        if input.is_none() && output.is_none() && written == 0 && read == 0 {
            return;
        }
        let usage = self.usage.get_or_insert_default();
        if let Some(input) = input {
            // Here the cached ones are counted apart.
            usage.input = input.saturating_add(written).saturating_add(read);
        }
        usage.output = output.unwrap_or(usage.output);
        if written > 0 || read > 0 {
            (usage.cache_written, usage.cached) = (written, read);
        }
        let details = counts.get("output_tokens_details").and_then(Json::as_object);
        let reasoning = |details: &Map<String, Json>| number_of(details.get("thinking_tokens"));
        usage.reasoning = details.and_then(reasoning).unwrap_or(usage.reasoning);
        usage.total = usage.input.saturating_add(usage.output);
        parts.push(WirePart::Usage(*usage));
    }
}

/// Returns reasoning in the form in which it goes back; unsigned reasoning does not.
fn thought(block: Block) -> Option<WirePart> {
    match block {
        Block::Thinking { text, signature } if !signature.is_empty() => Some(WirePart::Thinking(
            json!({"type": "thinking", "thinking": text, "signature": signature}),
        )),
        _ => None,
    }
}
