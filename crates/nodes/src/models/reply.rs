//! An answer on its way: read from its frames here where the protocol is one of ours, or by the provider layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use genai::chat::Usage as GenaiUsage;
use genai::chat::{
    ChatFrameSink, ChatStream, ChatStreamEvent, ContentPart, FrameCtx, RawFrameRef, StreamEnd,
};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value as Json, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::answer::{AnswerPiece, CallPiece, ModelAnswer, TokenUsage};
use super::call_span::CallSpan;
use super::draft::{AnswerDraft, MAX_ANSWER};
use super::error::ModelError;
use super::exchange::{self, Ended, OpenExchange};
use super::wire::{Decoder, FrameReader, GatheredCall, MAX_FRAME, WirePart};
use crate::base::secrets;

/// Most bytes of frames that the provider layer reads of one answer: it keeps some of them where nobody sees them, such as
/// the arguments of calls that have not ended.
const MAX_PROVIDED: usize = 2 * MAX_ANSWER;
/// Longest wait for what follows the reason to stop: tokens, and the mark of the end that some servers forget. More of
/// the answer begins it again.
const AFTER_STOP: Duration = Duration::from_secs(5);

/// Reader of the bytes of an answer.
pub(super) struct WireReader {
    frames: FrameReader,
    decoder: Decoder,
    /// The frames as they came, when somebody keeps them.
    kept: Option<String>,
}

impl WireReader {
    pub(super) fn new(frames: FrameReader, decoder: Decoder, is_watched: bool) -> Self {
        Self {
            frames,
            decoder,
            kept: is_watched.then(String::new),
        }
    }

    /// Reads the frames that end in these bytes.
    pub(super) fn read(&mut self, bytes: &[u8], draft: &mut AnswerDraft) -> Result<(), ModelError> {
        let pushed = self.frames.push(bytes);
        pushed.map_err(|_| {
            draft.asked.failed(format!(
                "a part of its answer has more than {} MB",
                MAX_FRAME / 1024 / 1024
            ))
        })?;
        while !draft.is_done()
            && let Some(frame) = self.frames.frame()
        {
            self.frame(&frame, draft)?;
        }
        Ok(())
    }

    /// Reads the frame that has no end, when no more bytes come.
    pub(super) fn read_rest(&mut self, draft: &mut AnswerDraft) -> Result<(), ModelError> {
        match self.frames.rest() {
            Some(frame) if !draft.is_done() => self.frame(&frame, draft),
            _ => Ok(()),
        }
    }

    fn frame(&mut self, frame: &super::wire::Frame, draft: &mut AnswerDraft) -> Result<(), ModelError> {
        if let Some(kept) = &mut self.kept {
            exchange::add_frame(kept, frame.event.as_deref(), &frame.data);
        }
        match self.decoder.decode(frame) {
            Ok(decoded) => {
                let mut parts = decoded.parts.into_iter();
                parts.try_for_each(|part| draft.add(part, decoded.marked))
            }
            // The answer was whole before.
            Err(cause) if draft.has_stopped() => {
                draft.skip(format!("a part that is no JSON at the end: {cause}"));
                Ok(())
            }
            Err(cause) => Err(draft
                .asked
                .failed(format!("a part of its answer is no JSON: {cause}"))),
        }
    }
}

/// Source of an answer.
pub(super) enum AnswerSource {
    /// A response whose bytes are read here.
    Wire {
        response: reqwest::Response,
        reader: Box<WireReader>,
        /// When the wait for what follows the reason to stop is over.
        until: Option<Instant>,
    },
    /// A stream of the provider layer.
    Provider {
        stream: Box<ChatStream>,
        noted: Arc<FrameSink>,
        calls: Vec<SeenCall>,
    },
}

/// A call of the provider layer that is on its way.
pub(super) struct SeenCall {
    id: String,
    /// How much of its arguments came.
    came: usize,
}

/// An answer on its way.
pub struct AnswerStream {
    draft: AnswerDraft,
    source: AnswerSource,
    open: Option<OpenExchange>,
    span: CallSpan,
    failed: Option<ModelError>,
    has_ended: bool,
}

impl AnswerStream {
    pub(super) fn new(
        draft: AnswerDraft,
        source: AnswerSource,
        open: Option<OpenExchange>,
        span: CallSpan,
    ) -> Self {
        Self {
            draft,
            source,
            open,
            span,
            failed: None,
            has_ended: false,
        }
    }

    /// Reads the next piece; `None` when the answer is complete.
    pub async fn next(&mut self) -> Result<Option<AnswerPiece>, ModelError> {
        let next = self.piece().await;
        match &next {
            Ok(Some(_)) => self.span.piece(),
            Ok(None) => {
                self.span.done(&self.draft.answer);
                if let Some(open) = &mut self.open {
                    open.done(&self.draft.answer);
                }
            }
            Err(error) => {
                self.span.failed(error);
                if let Some(open) = &mut self.open {
                    open.ended = Ended::Failed;
                }
                self.source.note(&error.to_string());
            }
        }
        next
    }

    /// Reads the next piece. A model may spell out a key that it found in a prompt or a tool's answer, over any number
    /// of pieces.
    async fn piece(&mut self) -> Result<Option<AnswerPiece>, ModelError> {
        loop {
            if let Some(piece) = self.draft.ready.pop_front() {
                return Ok(Some(piece));
            }
            // What came before a failure is shown first.
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.has_ended {
                return Ok(None);
            }
            match self.source.read(&mut self.draft).await {
                Ok(true) => {}
                Ok(false) => {
                    self.has_ended = true;
                    self.failed = self.source.end(&mut self.draft).err();
                }
                Err(error) => {
                    self.has_ended = true;
                    self.failed = Some(error);
                }
            }
        }
    }

    /// Converts everything received to an answer.
    pub fn into_answer(mut self) -> ModelAnswer {
        std::mem::take(&mut self.draft.answer)
    }
}

impl Drop for AnswerStream {
    fn drop(&mut self) {
        let Some(open) = &mut self.open else { return };
        open.frames = self.source.take_frames();
        // A stream that was stopped keeps what it had.
        open.cut(&self.draft.answer);
        if self.draft.has_secret_in_parts() {
            // Each frame has a part of it, which nobody would find there.
            open.frames =
                "The frames were not kept, because a secret is spelled out over several of them.".to_owned();
        }
    }
}

impl AnswerSource {
    pub(super) fn wire(response: reqwest::Response, reader: WireReader) -> Self {
        Self::Wire {
            response,
            reader: Box::new(reader),
            until: None,
        }
    }

    pub(super) fn provider(stream: ChatStream, noted: Arc<FrameSink>) -> Self {
        Self::Provider {
            stream: Box::new(stream),
            noted,
            calls: Vec::new(),
        }
    }

    /// Reads more of the answer; returns whether there may be more.
    async fn read(&mut self, draft: &mut AnswerDraft) -> Result<bool, ModelError> {
        match self {
            Self::Wire {
                response,
                reader,
                until,
            } => {
                if draft.is_done() {
                    return Ok(false);
                }
                let chunk = if draft.has_stopped() {
                    let until = *until.get_or_insert_with(|| Instant::now() + AFTER_STOP);
                    match tokio::time::timeout_at(until, response.chunk()).await {
                        Ok(Ok(chunk)) => chunk,
                        Ok(Err(_)) | Err(_) => None,
                    }
                } else {
                    response
                        .chunk()
                        .await
                        .map_err(|error| draft.asked.unreachable(&error))?
                };
                match chunk {
                    Some(bytes) => {
                        let before = draft.size();
                        reader.read(&bytes, draft)?;
                        // Some servers give a reason to stop with every part.
                        if draft.size() > before {
                            *until = None;
                        }
                        Ok(true)
                    }
                    None => reader.read_rest(draft).map(|()| false),
                }
            }
            Self::Provider { stream, noted, calls } => {
                let event = tokio::select! {
                    biased;
                    () = noted.is_full.notified() => {
                        let limit = format!("its answer has more than {} MB", MAX_PROVIDED / 1024 / 1024);
                        return Err(draft.asked.failed(limit));
                    }
                    event = stream.next() => event,
                };
                let Some(event) = event else {
                    return Ok(false);
                };
                match event.map_err(|e| draft.asked.classify(&e))? {
                    ChatStreamEvent::Chunk(chunk) => draft.add(WirePart::Text(chunk.content), false)?,
                    ChatStreamEvent::ReasoningChunk(chunk) => {
                        draft.add(WirePart::Reasoning(chunk.content), false)?;
                    }
                    ChatStreamEvent::ToolCallChunk(chunk) => {
                        let call = chunk.tool_call;
                        seen(calls, call.call_id, call.fn_name, call.fn_arguments, draft)?;
                    }
                    ChatStreamEvent::End(end) => self.take_end(end, draft)?,
                    ChatStreamEvent::Start
                    | ChatStreamEvent::Heartbeat
                    | ChatStreamEvent::ThoughtSignatureChunk(_) => {}
                }
                Ok(true)
            }
        }
    }

    /// Reads until the end or a failure.
    #[cfg(test)]
    pub(super) async fn drained(&mut self) {
        if let Self::Provider { stream, .. } = self {
            while let Some(Ok(_)) = stream.next().await {}
        }
    }

    /// Ends the answer when nothing more comes.
    fn end(&self, draft: &mut AnswerDraft) -> Result<(), ModelError> {
        match self {
            Self::Wire { .. } => draft.end(),
            Self::Provider { .. } if draft.has_stopped() => Ok(()),
            Self::Provider { .. } => Err(draft.asked.failed("the connection ended before the answer did")),
        }
    }

    fn note(&mut self, error: &str) {
        match self {
            Self::Wire { reader, .. } => reader.kept.get_or_insert_default().push_str(error),
            Self::Provider { noted, .. } => noted.lock().frames.get_or_insert_default().push_str(error),
        }
    }

    fn take_frames(&mut self) -> String {
        let frames = match self {
            Self::Wire { reader, .. } => reader.kept.take(),
            Self::Provider { noted, .. } => noted.lock().frames.take(),
        };
        frames.unwrap_or_default()
    }

    /// Takes over what the provider layer put together.
    fn take_end(&mut self, end: StreamEnd, draft: &mut AnswerDraft) -> Result<(), ModelError> {
        if let Self::Provider { noted, .. } = self {
            let mut notes = noted.lock();
            draft.answer.model = notes.model.take();
            let usage = end.captured_usage.as_ref().and_then(TokenUsage::of);
            draft.answer.usage = usage.or(notes.usage);
        }
        draft.answer.stop = end.captured_stop_reason.map(|reason| reason.raw().to_owned());
        draft.emit_the_rest();
        let mut calls = Vec::new();
        let mut signature: Option<String> = None;
        let block = |signature: String, thinking: String| json!({"type": "thinking", "thinking": thinking, "signature": signature});
        let content = end.captured_content.into_iter();
        for part in content.flat_map(|content| content.into_parts()) {
            // A signature stands before the reasoning that it signs.
            if let (Some(signature), ContentPart::ReasoningContent(text)) = (signature.clone(), &part) {
                draft.answer.thinking.push(block(signature, text.clone()));
            } else if let Some(signature) = signature.take() {
                draft.answer.thinking.push(block(signature, String::new()));
            }
            signature = None;
            match part {
                ContentPart::ThoughtSignature(text) => signature = Some(text),
                ContentPart::Custom(custom) => draft.answer.thinking.push(custom.data),
                ContentPart::ToolCall(call) => calls.push(GatheredCall {
                    id: call.call_id,
                    name: call.fn_name,
                    has_ended: match &call.fn_arguments {
                        Json::String(text) => serde_json::from_str::<Json>(text).is_ok(),
                        Json::Null => false,
                        _ => true,
                    },
                    args: call.fn_arguments,
                    signatures: call.thought_signatures.unwrap_or_default(),
                }),
                _ => {}
            }
        }
        draft
            .answer
            .thinking
            .extend(signature.map(|signature| block(signature, String::new())));
        draft.settle(calls)?;
        draft.add(WirePart::Done, false)
    }
}

/// Adds the new part of a call: the provider layer sends the arguments so far, or the whole call at once.
fn seen(
    calls: &mut Vec<SeenCall>,
    id: String,
    name: String,
    args: Json,
    draft: &mut AnswerDraft,
) -> Result<(), ModelError> {
    let args = match args {
        Json::String(text) => text,
        Json::Null => String::new(),
        other => other.to_string(),
    };
    let known = calls.iter().position(|call| call.id == id);
    let index = known.unwrap_or_else(|| {
        calls.push(SeenCall {
            id: id.clone(),
            came: 0,
        });
        draft.args.resize_with(calls.len(), Default::default);
        calls.len() - 1
    });
    let new = args.get(calls[index].came..).unwrap_or_default();
    draft.grown(new.len())?;
    let piece = draft.args[index].push(new);
    calls[index].came = args.len();
    let first = |text: String| known.is_none().then(|| secrets::redact(&text).into_owned());
    draft.ready.push_back(AnswerPiece::Call(CallPiece {
        index,
        id: first(id),
        name: first(name),
        args: piece,
    }));
    Ok(())
}

/// Details that a stream contains and the provider layer loses: the model that answers, and tokens in a chunk that
/// looks like a piece of the answer.
#[derive(Default)]
pub(super) struct FrameSink {
    details: Mutex<FrameDetails>,
    /// Bytes of all frames so far.
    bytes: AtomicUsize,
    /// Told when there were more than [`MAX_PROVIDED`].
    is_full: Notify,
}

#[derive(Default)]
pub(super) struct FrameDetails {
    model: Option<String>,
    usage: Option<TokenUsage>,
    /// The frames as they came, when somebody keeps them.
    pub(super) frames: Option<String>,
}

impl FrameSink {
    pub(super) fn lock(&self) -> MutexGuard<'_, FrameDetails> {
        self.details.lock()
    }
}

impl ChatFrameSink for FrameSink {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let bytes = self.bytes.fetch_add(frame.data.len(), Ordering::Relaxed) + frame.data.len();
        if bytes > MAX_PROVIDED {
            self.is_full.notify_one();
        }
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
