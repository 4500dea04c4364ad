//! An answer as it is put together: pieces that hold no secret, calls that are each one, a bound on all of it, and the
//! question whether it is whole.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use super::answer::{AnswerPiece, ModelAnswer, ToolCall};
use super::error::{ModelError, RequestTarget};
use super::prices::Priced;
use super::wire::{self, CallGatherer, GatheredCall, Joiner, MAX_CALLS, WirePart};
use crate::base::secrets::{self, Pieces};

/// Longest answer, reasoning and arguments of calls included: a stream without an end must have one.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;
/// Most unknown parts of an answer that are named in the log.
const MAX_NAMED: usize = 16;

/// Reasons to stop that come with calls, each of which has ended. Capitals are a matter of the server.
const CALLING: &[&str] = &["tool_calls", "tool_use", "function_call", "tool_call"];
/// Reasons to stop that come with all that the model had to say.
const COMPLETE: &[&str] = &[
    "stop",
    "end_turn",
    "stop_sequence",
    "eos",
    "eos_token",
    "complete",
    "completed",
];
/// Reasons to stop that mean a call which the server could not read.
const BROKEN_CALL: &[&str] = &["malformed_function_call", "unexpected_tool_call"];
/// Words in the place of a reason to stop where there is none yet.
const UNDECIDED: &[&str] = &["null", "none", "undefined", "finish_reason_unspecified"];

fn is_among(reasons: &[&str], stop: &str) -> bool {
    reasons.iter().any(|reason| reason.eq_ignore_ascii_case(stop))
}

/// Returns whether an answer that stopped with this reason has all that the model had to say.
fn is_complete(stop: &str) -> bool {
    is_among(CALLING, stop) || is_among(COMPLETE, stop)
}

/// An answer on its way.
pub(super) struct AnswerDraft {
    pub(super) asked: RequestTarget,
    price: Option<Priced>,
    pub(super) answer: ModelAnswer,
    /// Pieces that nobody took yet.
    pub(super) ready: VecDeque<AnswerPiece>,
    calls: CallGatherer,
    /// Arguments of calls that may hold a secret in parts, by the call's place.
    pub(super) args: Vec<Pieces>,
    text: Pieces,
    reasoning: Pieces,
    text_ends: Joiner,
    reasoning_ends: Joiner,
    size: usize,
    unknown: Vec<String>,
    is_done: bool,
}

impl AnswerDraft {
    pub(super) fn new(asked: RequestTarget, price: Option<Priced>) -> Self {
        Self {
            asked,
            price,
            answer: ModelAnswer::default(),
            ready: VecDeque::new(),
            calls: CallGatherer::default(),
            args: Vec::new(),
            text: Pieces::default(),
            reasoning: Pieces::default(),
            text_ends: Joiner::default(),
            reasoning_ends: Joiner::default(),
            size: 0,
            unknown: Vec::new(),
            is_done: false,
        }
    }

    /// Returns whether the model said that this is all.
    pub(super) fn has_stopped(&self) -> bool {
        self.is_done || self.answer.stop.is_some()
    }

    /// Returns how much came, in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns whether the server said that nothing follows.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Returns whether some text that came is a secret spelled out over several pieces.
    pub(super) fn has_secret_in_parts(&self) -> bool {
        let texts = self.args.iter().chain([&self.text, &self.reasoning]);
        texts.into_iter().any(Pieces::in_parts)
    }

    /// Adds a part; its texts hold marks of halves of characters if `marked`.
    pub(super) fn add(&mut self, part: WirePart, marked: bool) -> Result<(), ModelError> {
        match part {
            WirePart::Text(text) => {
                let text = self.text_ends.join(text, marked);
                self.grown(text.len())?;
                let text = self.text.push(&text);
                self.say(text);
            }
            WirePart::Reasoning(text) => {
                let text = self.reasoning_ends.join(text, marked);
                self.grown(text.len())?;
                let text = self.reasoning.push(&text);
                self.think(text);
            }
            WirePart::Call(piece) => {
                let texts = [&piece.id, &piece.name, &piece.signature].into_iter().flatten();
                let whole = piece.whole.as_ref().map_or(0, |whole| whole.to_string().len());
                self.grown(texts.map(String::len).sum::<usize>() + whole)?;
                let added = self.calls.add(piece, marked);
                let mut piece = added.map_err(|_| {
                    self.asked
                        .failed(format!("it made more than {MAX_CALLS} calls in one answer"))
                })?;
                self.grown(piece.args.len())?;
                if self.args.len() <= piece.index {
                    self.args.resize_with(piece.index + 1, Pieces::default);
                }
                piece.args = self.args[piece.index].push(&piece.args);
                for text in [&mut piece.id, &mut piece.name].into_iter().flatten() {
                    *text = secrets::redact(text).into_owned();
                }
                if piece.id.is_some() || piece.name.is_some() || !piece.args.is_empty() {
                    self.ready.push_back(AnswerPiece::Call(piece));
                }
            }
            WirePart::Thinking(block) => {
                self.grown(block.to_string().len())?;
                self.answer.thinking.push(block);
            }
            WirePart::Usage(usage) => {
                if self.answer.usage.is_none() || usage.input > 0 || usage.output > 0 {
                    self.answer.usage = Some(usage);
                }
            }
            WirePart::Model(model) => {
                self.answer
                    .model
                    .get_or_insert(wire::unmarked(&model).into_owned());
            }
            WirePart::Stop(reason) => self.stop(wire::unmarked(&reason).into_owned()),
            WirePart::Done => self.is_done = true,
            WirePart::Unknown(what) => self.skip(what),
            // The answer was whole before.
            WirePart::Failure(body) if self.has_stopped() => {
                self.skip(format!("a failure at the end: {body}"))
            }
            WirePart::Failure(body) => return Err(self.asked.failure(&body)),
        }
        Ok(())
    }

    /// Notes why the answer ends. Some servers say in each part that it does not, and some say another time that it is
    /// whole although it was cut.
    fn stop(&mut self, reason: String) {
        let was_cut = self.answer.stop.as_deref().is_some_and(|stop| !is_complete(stop));
        if !(is_among(UNDECIDED, &reason) || was_cut && is_complete(&reason)) {
            self.answer.stop = Some(reason);
        }
    }

    /// Notes something that is skipped, once.
    pub(super) fn skip(&mut self, what: String) {
        if self.unknown.len() < MAX_NAMED && !self.unknown.contains(&what) {
            let hidden = secrets::redact(&what);
            tracing::warn!(model = %self.asked.model, "a part of the answer is not known here and was skipped: {hidden:.200}");
            self.unknown.push(what);
        }
    }

    fn say(&mut self, text: String) {
        self.answer.text.push_str(&text);
        if !text.is_empty() {
            self.ready.push_back(AnswerPiece::Text(text));
        }
    }

    fn think(&mut self, text: String) {
        self.answer.reasoning.push_str(&text);
        if !text.is_empty() {
            self.ready.push_back(AnswerPiece::Reasoning(text));
        }
    }

    pub(super) fn grown(&mut self, by: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(by);
        match self.size > MAX_ANSWER {
            true => Err(self
                .asked
                .failed(format!("it answered more than {} MB", MAX_ANSWER / 1024 / 1024))),
            false => Ok(()),
        }
    }

    /// Emits the held-back text: nothing follows that could turn it into a secret.
    pub(super) fn emit_the_rest(&mut self) {
        let mut reasoning = self.reasoning.push(self.reasoning_ends.rest());
        reasoning += &self.reasoning.rest();
        self.think(reasoning);
        let mut text = self.text.push(self.text_ends.rest());
        text += &self.text.rest();
        self.say(text);
        for (index, args) in self.args.iter_mut().enumerate() {
            let args = args.rest();
            if !args.is_empty() {
                self.ready.push_back(AnswerPiece::Call(super::CallPiece {
                    index,
                    id: None,
                    name: None,
                    args,
                }));
            }
        }
    }

    /// Ends the answer: its calls, if each may run, and what it cost.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        self.emit_the_rest();
        if !self.has_stopped() {
            // Half an answer looks like a whole one otherwise.
            let unknown = self
                .unknown
                .first()
                .map(|what| format!(", and {what} was not understood"));
            let cause = format!(
                "the connection ended before the answer did{}",
                unknown.unwrap_or_default()
            );
            return Err(self.asked.failed(secrets::redact(&cause)));
        }
        let calls = self.calls.end();
        self.settle(calls)
    }

    /// Takes the calls over into the answer, if none of them was cut.
    pub(super) fn settle(&mut self, mut calls: Vec<GatheredCall>) -> Result<(), ModelError> {
        let stop = self.answer.stop.as_deref();
        let is_complete = stop.is_some_and(is_complete);
        if let Some(cut) = calls.iter().find(|call| !is_complete && !call.has_ended) {
            return Err(ModelError::CutAnswer {
                model: self.asked.model.clone(),
                tool: secrets::redact(&cut.name).into_owned(),
                stop: stop.map(|stop| secrets::redact(stop).into_owned()),
            });
        }
        let names_call = |stop: &str| is_among(CALLING, stop) || is_among(BROKEN_CALL, stop);
        if calls.is_empty() && stop.is_some_and(names_call) {
            let stop = secrets::redact(stop.unwrap_or_default());
            let cause = format!("it stopped with `{stop}`, and there is no call in its answer");
            return Err(self.asked.failed(cause));
        }
        // A reader that keeps only the calls must find the signatures there.
        let signatures = self
            .answer
            .thinking
            .iter()
            .filter_map(|block| block["signature"].as_str());
        let signatures: Vec<String> = signatures.map(str::to_owned).collect();
        if let Some(first) = calls.first_mut().filter(|first| first.signatures.is_empty()) {
            first.signatures = signatures;
        }
        for call in calls {
            self.call(call);
        }
        for block in &mut self.answer.thinking {
            *block = secrets::redact_json(wire::unmarked_json(block.take()));
        }
        self.close();
        Ok(())
    }

    fn call(&mut self, call: GatheredCall) {
        let answer = &mut self.answer;
        let place = answer.tool_calls.len();
        // Every call is answered by its id, so each needs one of its own.
        let is_taken = |id: &str| answer.tool_calls.iter().any(|call| call.id == id);
        let id = match call.id {
            id if id.is_empty() => format!("call_{place}_{:016x}", RandomState::new().hash_one(place)),
            id if is_taken(&id) => format!("call_{place}_{id}"),
            id => id,
        };
        let id = secrets::redact(&id).into_owned();
        if !call.signatures.is_empty() {
            answer.signatures.insert(id.clone(), call.signatures.into());
        }
        let name = secrets::redact(&call.name).into_owned();
        let args = secrets::redact_json(call.args);
        answer.tool_calls.push(ToolCall::of(id, name, args));
    }

    fn close(&mut self) {
        let answer = &mut self.answer;
        let hidden = |text: String| secrets::redact(&text).into_owned();
        answer.model = answer.model.take().map(hidden);
        answer.stop = answer.stop.take().map(hidden);
        answer.cost = match (&self.price, &answer.usage) {
            (Some(price), Some(usage)) => Some(price.facts(usage)),
            _ => None,
        };
    }
}
