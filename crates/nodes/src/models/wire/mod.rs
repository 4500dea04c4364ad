//! Answers as four protocols stream them, frame by frame. Each has a decoder that says what a frame means; what is
//! optional, newer or odd in it costs that part, not the answer.

mod anthropic;
mod calls;
mod frames;
mod gemini;
pub(super) mod halves;
mod ollama;
mod openai;
mod part;

use genai::adapter::AdapterKind;
use serde_json::{Value as Json, json};

use anthropic::AnthropicDecoder;
pub(super) use calls::{CallGatherer, GatheredCall, MAX_CALLS};
pub(super) use frames::{Frame, FrameReader, Framing, MAX_FRAME};
use gemini::GeminiDecoder;
pub(super) use halves::{Joiner, unmarked, unmarked_json};
use ollama::OllamaDecoder;
use openai::OpenAiDecoder;
pub(super) use part::WirePart;
use part::unknown;

/// A protocol of model servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireForm {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// Ollama's chat.
    Ollama,
}

impl WireForm {
    /// Returns the protocol of a provider; `None` for those whose answers the provider layer reads.
    pub(super) fn of(kind: AdapterKind) -> Option<Self> {
        Some(match kind {
            AdapterKind::OpenAI
            | AdapterKind::Together
            | AdapterKind::Groq
            | AdapterKind::Aihubmix
            | AdapterKind::Kimi
            | AdapterKind::Mimo
            | AdapterKind::Moonshot
            | AdapterKind::Nebius
            | AdapterKind::Xai
            | AdapterKind::DeepSeek
            | AdapterKind::Mistral
            | AdapterKind::BigModel
            | AdapterKind::Aliyun
            | AdapterKind::QwenCloud
            | AdapterKind::OpenRouter
            | AdapterKind::AtlasCloud
            | AdapterKind::Requesty
            | AdapterKind::ApiRoute
            | AdapterKind::Heabsy
            | AdapterKind::Runcrate
            | AdapterKind::CloudGpu => Self::OpenAi,
            AdapterKind::Anthropic | AdapterKind::MiniMax => Self::Anthropic,
            AdapterKind::Gemini => Self::Gemini,
            AdapterKind::Ollama => Self::Ollama,
            _ => return None,
        })
    }

    /// Returns how an answer with this content type is divided.
    pub(super) fn framing(self, content_type: &str) -> Framing {
        let is = |name: &str| content_type.to_ascii_lowercase().contains(name);
        match self {
            _ if is("text/event-stream") => Framing::Events,
            Self::Ollama => Framing::Lines,
            // A server that was asked for a stream and answers without one.
            _ if is("application/json") => Framing::Whole,
            _ if is("ndjson") || is("jsonl") => Framing::Lines,
            _ => Framing::Events,
        }
    }
}

/// Reader of one answer's frames.
#[derive(Debug)]
pub(super) enum Decoder {
    OpenAi(OpenAiDecoder),
    Anthropic(AnthropicDecoder),
    Gemini(GeminiDecoder),
    Ollama(OllamaDecoder),
}

/// Parts of a frame; its texts hold marks of halves of characters if `marked`.
#[derive(Debug, Default)]
pub(super) struct DecodedFrame {
    pub(super) parts: Vec<WirePart>,
    pub(super) marked: bool,
}

impl Decoder {
    pub(super) fn new(kind: AdapterKind, form: WireForm) -> Self {
        match form {
            WireForm::OpenAi => Self::OpenAi(OpenAiDecoder::new(kind)),
            WireForm::Anthropic => Self::Anthropic(AnthropicDecoder::default()),
            WireForm::Gemini => Self::Gemini(GeminiDecoder::default()),
            WireForm::Ollama => Self::Ollama(OllamaDecoder::default()),
        }
    }

    /// Decodes a frame; otherwise returns why it is no JSON.
    pub(super) fn decode(&mut self, frame: &Frame) -> Result<DecodedFrame, String> {
        let mut decoded = DecodedFrame::default();
        let data = frame.data.trim();
        if data.is_empty() {
            return Ok(decoded);
        }
        if data == "[DONE]" {
            decoded.parts.push(WirePart::Done);
            return Ok(decoded);
        }
        let is_failure = frame.event.as_deref() == Some("error");
        match halves::read_marked(data) {
            Ok((json, _)) if is_failure => decoded.parts.push(WirePart::Failure(json)),
            Err(_) if is_failure => decoded.parts.push(WirePart::Failure(json!({"message": data}))),
            Ok((json, marked)) => {
                decoded.marked = marked;
                self.part(frame.event.as_deref(), json, &mut decoded.parts);
            }
            // Two events without the empty line between them.
            Err(error) if data.contains('\n') => {
                for line in data.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    match halves::read_marked(line) {
                        _ if line == "[DONE]" => decoded.parts.push(WirePart::Done),
                        Ok((json, marked)) => {
                            decoded.marked |= marked;
                            self.part(frame.event.as_deref(), json, &mut decoded.parts);
                        }
                        Err(_) if !line.starts_with(['{', '[']) => {
                            decoded.parts.push(unknown("the line", line))
                        }
                        Err(_) => return Err(error.to_string()),
                    }
                }
            }
            // A sign of life. Part of an answer begins as JSON does.
            Err(_) if !data.starts_with(['{', '[']) => decoded.parts.push(unknown("the line", data)),
            Err(error) => return Err(error.to_string()),
        }
        Ok(decoded)
    }

    fn part(&mut self, event: Option<&str>, json: Json, parts: &mut Vec<WirePart>) {
        // Google puts failures into a list.
        let frames = match json {
            Json::Array(list) => list,
            other => vec![other],
        };
        for json in frames {
            match self {
                Self::OpenAi(decoder) => decoder.frame(event, json, parts),
                Self::Anthropic(decoder) => decoder.frame(event, json, parts),
                Self::Gemini(decoder) => decoder.frame(json, parts),
                Self::Ollama(decoder) => decoder.frame(json, parts),
            }
        }
    }
}
