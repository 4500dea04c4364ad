//! An answer on its way: pieces that hold no secret, what gets lost in the provider layer, and the end.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use genai::chat::{
    ChatFrameSink, ChatStream, ChatStreamEvent, ContentPart, FrameCtx, RawFrameRef, StreamEnd,
    Usage as GenaiUsage,
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value as Json, json};

use super::answer::{AnswerPiece, CallPiece, ModelAnswer, TokenUsage, ToolCall};
use super::error::{ModelError, RequestTarget};
use super::exchange::{self, Ended, OpenExchange};
use super::prices::Priced;
use crate::base::secrets::{self, Pieces};

/// Longest answer, reasoning and arguments of calls included: a stream without an end must have one.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// Details that a stream contains and the provider layer loses: the model that answers, and tokens in a chunk that
/// looks like a piece of the answer, as LiteLLM's proxy sends them.
#[derive(Default)]
pub(super) struct FrameSink(Mutex<FrameDetails>);

#[derive(Default)]
pub(super) struct FrameDetails {
    model: Option<String>,
    usage: Option<TokenUsage>,
    /// The frames as they came, when somebody keeps them.
    pub(super) frames: Option<String>,
}

impl FrameSink {
    pub(super) fn lock(&self) -> MutexGuard<'_, FrameDetails> {
        self.0.lock()
    }
}

impl ChatFrameSink for FrameSink {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if let Some(frames) = &mut self.lock().frames {
            exchange::add_frame(frames, frame.event, frame.data);
        }
        let counts = frame.data.contains("\"usage\":{") || frame.data.contains("\"usage\": {");
        if frame.index > 0 && !counts {
            return;
        }
        let Some(json) = frame.json() else { return };
        let mut notes = self.lock();
        if notes.model.is_none() {
            let names = ["/model", "/message/model", "/modelVersion"];
            let name = names.iter().find_map(|path| json.pointer(path)?.as_str());
            notes.model = name.filter(|name| !name.is_empty()).map(str::to_owned);
        }
        let usage = json.get("usage").filter(|_| counts).cloned();
        let usage: Option<GenaiUsage> = usage.and_then(|usage| serde_json::from_value(usage).ok());
        if let Some(usage) = usage.as_ref().and_then(TokenUsage::of) {
            notes.usage = Some(usage);
        }
    }
}

/// A call that is on its way.
struct PartialCall {
    id: String,
    /// How much of its arguments came.
    came: usize,
    args: Pieces,
}

/// An answer on its way.
pub struct AnswerStream {
    asked: RequestTarget,
    stream: ChatStream,
    noted: Arc<FrameSink>,
    open: Option<OpenExchange>,
    price: Option<Priced>,
    calls: Vec<PartialCall>,
    text: Pieces,
    reasoning: Pieces,
    /// What was held back until the end.
    last: VecDeque<AnswerPiece>,
    size: usize,
    ended: bool,
    answer: ModelAnswer,
}

impl AnswerStream {
    pub(super) fn new(
        asked: RequestTarget,
        stream: ChatStream,
        noted: Arc<FrameSink>,
        open: Option<OpenExchange>,
        price: Option<Priced>,
    ) -> Self {
        Self {
            asked,
            stream,
            noted,
            open,
            price,
            calls: Vec::new(),
            text: Pieces::default(),
            reasoning: Pieces::default(),
            last: VecDeque::new(),
            size: 0,
            ended: false,
            answer: ModelAnswer::default(),
        }
    }

    /// Reads the next piece; `None` when the answer is complete.
    pub async fn next(&mut self) -> Result<Option<AnswerPiece>, ModelError> {
        let next = self.piece().await;
        if let Some(open) = &mut self.open {
            match &next {
                Ok(Some(_)) => {}
                Ok(None) => open.done(&self.answer),
                Err(error) => {
                    open.ended = Ended::Failed;
                    self.noted
                        .lock()
                        .frames
                        .get_or_insert_default()
                        .push_str(&error.to_string());
                }
            }
        }
        next
    }

    /// Reads the next piece. A model may spell out a key that it found in a prompt or a tool's answer, over any number
    /// of pieces.
    async fn piece(&mut self) -> Result<Option<AnswerPiece>, ModelError> {
        while let Some(event) = self.stream.next().await {
            match event.map_err(|e| self.asked.classify(&e))? {
                ChatStreamEvent::Chunk(chunk) => {
                    self.grown(chunk.content.len())?;
                    let text = self.text.push(&chunk.content);
                    if let Some(piece) = self.text(text) {
                        return Ok(Some(piece));
                    }
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    self.grown(chunk.content.len())?;
                    let text = self.reasoning.push(&chunk.content);
                    if let Some(piece) = self.thought(text) {
                        return Ok(Some(piece));
                    }
                }
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    let call = chunk.tool_call;
                    let piece = self.called(call.call_id, call.fn_name, call.fn_arguments)?;
                    return Ok(Some(AnswerPiece::Call(piece)));
                }
                ChatStreamEvent::End(end) => {
                    self.emit_the_rest();
                    self.end(end);
                }
                ChatStreamEvent::Start
                | ChatStreamEvent::Heartbeat
                | ChatStreamEvent::ThoughtSignatureChunk(_) => {}
            }
        }
        match self.ended {
            true => Ok(self.last.pop_front()),
            // Half an answer looks like a whole one otherwise.
            false => Err(self.asked.failed("the connection ended before the answer did")),
        }
    }

    fn text(&mut self, text: String) -> Option<AnswerPiece> {
        self.answer.text.push_str(&text);
        (!text.is_empty()).then_some(AnswerPiece::Text(text))
    }

    fn thought(&mut self, text: String) -> Option<AnswerPiece> {
        self.answer.reasoning.push_str(&text);
        (!text.is_empty()).then_some(AnswerPiece::Reasoning(text))
    }

    /// Emits the held-back text: nothing follows that could turn it into a secret.
    fn emit_the_rest(&mut self) {
        let reasoning = self.reasoning.rest();
        let reasoning = self.thought(reasoning);
        let text = self.text.rest();
        let text = self.text(text);
        self.last.extend(reasoning.into_iter().chain(text));
        for (index, call) in self.calls.iter_mut().enumerate() {
            let args = call.args.rest();
            if !args.is_empty() {
                let (id, name) = (None, None);
                self.last.push_back(AnswerPiece::Call(CallPiece {
                    index,
                    id,
                    name,
                    args,
                }));
            }
        }
    }

    fn grown(&mut self, by: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(by);
        match self.size > LONGEST_ANSWER {
            true => Err(self.asked.failed(format!(
                "it answered more than {} MB",
                LONGEST_ANSWER / 1024 / 1024
            ))),
            false => Ok(()),
        }
    }

    /// Returns the new part of a call: some providers send the arguments so far, others the whole call at once.
    fn called(&mut self, id: String, name: String, args: Json) -> Result<CallPiece, ModelError> {
        let args = match args {
            Json::String(text) => text,
            Json::Null => String::new(),
            other => other.to_string(),
        };
        let known = self.calls.iter().position(|call| call.id == id);
        let index = known.unwrap_or_else(|| {
            self.calls.push(PartialCall {
                id: id.clone(),
                came: 0,
                args: Pieces::default(),
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[index];
        let new = args.get(call.came..).unwrap_or_default();
        call.came = args.len();
        let piece = call.args.push(new);
        self.grown(new.len())?;
        let first = |text: String| known.is_none().then(|| secrets::redact(&text).into_owned());
        Ok(CallPiece {
            index,
            id: first(id),
            name: first(name),
            args: piece,
        })
    }

    fn end(&mut self, end: StreamEnd) {
        self.ended = true;
        let answer = &mut self.answer;
        {
            let mut notes = self.noted.lock();
            answer.model = notes
                .model
                .take()
                .map(|model| secrets::redact(&model).into_owned());
            answer.usage = end
                .captured_usage
                .as_ref()
                .and_then(TokenUsage::of)
                .or(notes.usage);
        }
        answer.stop = end.captured_stop_reason.map(|reason| reason.raw().to_owned());
        answer.cost = match (&self.price, &answer.usage) {
            (Some(price), Some(usage)) => Some(price.facts(usage)),
            _ => None,
        };
        let mut signature: Option<String> = None;
        let block = |signature: String, thinking: String| json!({"type": "thinking", "thinking": thinking, "signature": signature});
        for part in end
            .captured_content
            .into_iter()
            .flat_map(|content| content.into_parts())
        {
            // A signature stands before the reasoning that it signs.
            if let (Some(signature), ContentPart::ReasoningContent(text)) = (signature.clone(), &part) {
                answer.thinking.push(block(signature, text.clone()));
            } else if let Some(signature) = signature.take() {
                answer.thinking.push(block(signature, String::new()));
            }
            signature = None;
            match part {
                ContentPart::ThoughtSignature(text) => signature = Some(text),
                ContentPart::Custom(custom) => answer.thinking.push(custom.data),
                ContentPart::ToolCall(call) => {
                    let place = answer.tool_calls.len();
                    // Every call is answered by its id, so each needs one of its own.
                    let taken = |id: &str| answer.tool_calls.iter().any(|call| call.id == id);
                    let id = match call.call_id.is_empty() || taken(&call.call_id) {
                        true => format!("call_{place}_{}", call.call_id),
                        false => call.call_id,
                    };
                    let id = secrets::redact(&id).into_owned();
                    if let Some(signatures) = call.thought_signatures {
                        answer.signatures.insert(id.clone(), signatures.into());
                    }
                    let name = secrets::redact(&call.fn_name).into_owned();
                    let args = secrets::redact_json(call.fn_arguments);
                    answer.tool_calls.push(ToolCall::of(id, name, args));
                }
                _ => {}
            }
        }
        if let Some(signature) = signature {
            answer.thinking.push(block(signature, String::new()));
        }
        for block in &mut answer.thinking {
            *block = secrets::redact_json(block.take());
        }
    }

    /// Converts everything received to an answer.
    pub fn into_answer(mut self) -> ModelAnswer {
        std::mem::take(&mut self.answer)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.frames = self.noted.lock().frames.take().unwrap_or_default();
        let args = self.calls.iter().map(|call| &call.args);
        if args.chain([&self.text, &self.reasoning]).any(Pieces::in_parts) {
            // Each frame has a part of it, which nobody would find there.
            open.frames =
                "The frames were not kept, because a secret is spelled out over several of them.".to_owned();
        }
    }
}
