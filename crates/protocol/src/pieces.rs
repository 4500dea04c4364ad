//! The pieces of a message: a start, content blocks that begin, grow and end, and an end.

use superstep::Value;
use superstep::value::Object;

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageEvent {
    /// The message begins.
    Start {
        /// Its id.
        id: Option<String>,
        /// `provider` and `model`, where they are known.
        metadata: Object,
    },
    /// A content block begins: without its text and arguments.
    BlockStart {
        /// Its place in the message.
        index: usize,
        /// What is known of it.
        content: Object,
    },
    /// A content block grows.
    BlockDelta {
        /// Its place in the message.
        index: usize,
        /// By this.
        delta: Delta,
    },
    /// A content block is whole. The arguments of a call are read now; where they are no JSON it is an
    /// `invalid_tool_call`.
    BlockFinish {
        /// Its place in the message.
        index: usize,
        /// The block.
        content: Object,
    },
    /// The message is whole.
    Finish {
        /// Tokens used.
        usage: Option<Value>,
        /// What the provider says about the answer.
        metadata: Object,
        /// What the provider sent that has no field of its own.
        additional_kwargs: Object,
    },
}

/// Piece by which a content block grows.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// A part of the JSON of a call's arguments.
    ToolCall(String),
    /// A part of an image, a sound or a file, in base64 if the block says so.
    Data {
        /// The part.
        data: String,
        /// Is it base64?
        base64: bool,
    },
}

impl MessageEvent {
    /// Converts the piece to the protocol's form: `{"event", …}`.
    pub fn to_json(&self) -> Value {
        let mut shown = Object::new();
        let named = |shown: &mut Object, event: &str| drop(shown.insert("event", event));
        match self {
            MessageEvent::Start { id, metadata } => {
                named(&mut shown, "message-start");
                shown.insert("role", "ai");
                shown.insert("id", id.as_deref().unwrap_or_default());
                if !metadata.is_empty() {
                    shown.insert("metadata", metadata.clone());
                }
            }
            MessageEvent::BlockStart { index, content } => {
                named(&mut shown, "content-block-start");
                shown.insert("index", *index as u64);
                shown.insert("content", content.clone());
            }
            MessageEvent::BlockDelta { index, delta } => {
                named(&mut shown, "content-block-delta");
                shown.insert("index", *index as u64);
                shown.insert("delta", delta.to_json());
            }
            MessageEvent::BlockFinish { index, content } => {
                named(&mut shown, "content-block-finish");
                shown.insert("index", *index as u64);
                shown.insert("content", content.clone());
            }
            MessageEvent::Finish {
                usage,
                metadata,
                additional_kwargs,
            } => {
                named(&mut shown, "message-finish");
                if let Some(usage) = usage {
                    shown.insert("usage", usage.clone());
                }
                for (name, fields) in [("metadata", metadata), ("additional_kwargs", additional_kwargs)] {
                    if !fields.is_empty() {
                        shown.insert(name, fields.clone());
                    }
                }
            }
        }
        shown.into()
    }
}

impl Delta {
    fn to_json(&self) -> Value {
        match self {
            Delta::Text(text) => superstep::json!({"type": "text-delta", "text": text}),
            Delta::Reasoning(text) => superstep::json!({"type": "reasoning-delta", "reasoning": text}),
            Delta::ToolCall(args) => superstep::json!({"type": "tool-call-delta", "args": args}),
            Delta::Data { data, base64: false } => superstep::json!({"type": "data-delta", "data": data}),
            Delta::Data { data, base64: true } => {
                superstep::json!({"type": "data-delta", "data": data, "encoding": "base64"})
            }
        }
    }
}
