//! A run reported by LangGraph's streaming protocol, version 3: one numbered log of what the graph and all graphs in it do,
//! where nested graphs begin and end, and projections of it that are read apart.
//!
//! [`StreamEvents::stream_events`] begins a run. Its [`GraphRunStream`] is read as a log of
//! [`ProtocolEvent`]s, or by what a reader wants of it: the states, the messages piece by piece, the nested graphs with the
//! same projections of their own.
//!
//! ```
//! use superstep_protocol::StreamEvents;
//! use superstep::{ChannelSpec, Input, NodeContext, RunConfig, START, StateGraph, Value, json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let answer = |_: NodeContext, _: Value| async {
//!     Ok(json!({"messages": [{"type": "ai", "content": "Forty-two.", "id": "a"}]}).into())
//! };
//! let graph = StateGraph::new()
//!     .channel("messages", ChannelSpec::add_messages())
//!     .node("answer", answer)
//!     .edge(START, "answer")
//!     .compile()?;
//! let run = graph.stream_events(Input::value(json!({"messages": "What is it?"})), RunConfig::default());
//! let mut messages = run.messages();
//! while let Some(message) = messages.next().await {
//!     assert_eq!(message.text().await, "Forty-two.");
//! }
//! assert!(run.finish().await.is_ok());
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

mod blocks;
mod hub;
mod lifecycle;
mod pieces;
mod run;
mod start;

use std::sync::Arc;

pub use lifecycle::{Lifecycle, Status};
pub use pieces::{Delta, MessageEvent};
pub use run::{
    Everything, GraphRunStream, LifecycleEvents, Log, MessageStream, Messages, Payloads, Projected,
    Projection, Projections, Reader, SubgraphRunStream, Subgraphs, Values,
};
pub use start::StreamEvents;

use superstep::{Interrupt, List, Object, Payload, StreamMode, Value};

/// One thing that happened, as the protocol reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolEvent {
    /// Counts up by one over the whole run, from 1.
    pub seq: u64,
    /// `node:task` segments of the nested graph it comes from; empty at the root, and where a nested graph begins or ends.
    pub ns: Arc<[String]>,
    /// When it was emitted: milliseconds since the Unix epoch, by the graph's clock. `seq` says the order.
    pub timestamp_ms: u64,
    /// What happened.
    pub data: EventData,
}

/// What an event of the protocol is about.
#[derive(Clone, Debug, PartialEq)]
pub enum EventData {
    /// An item of the stream mode of the same name.
    Payload(Payload),
    /// A piece of a message that a model streams, with the metadata of the task; `run_id` in it is the same for all pieces.
    Piece(MessageEvent, Value),
    /// A nested graph begins or ends.
    Lifecycle(Lifecycle),
}

impl ProtocolEvent {
    /// What the protocol calls it: the name of a stream mode, or `lifecycle`.
    pub fn method(&self) -> &'static str {
        match &self.data {
            EventData::Payload(payload) => payload.mode().as_str(),
            EventData::Piece(..) => StreamMode::Messages.as_str(),
            EventData::Lifecycle(_) => "lifecycle",
        }
    }

    /// `{"type": "event", "method", "params": {"namespace", "timestamp", "data"}, "seq"}`; `values` have `interrupts`
    /// beside the data.
    pub fn to_json(&self) -> Value {
        let mut params = Object::new();
        params.insert("namespace", segments(&self.ns));
        params.insert("timestamp", self.timestamp_ms);
        match &self.data {
            EventData::Payload(Payload::Values(values, interrupts)) => {
                params.insert("data", values.clone());
                params.insert(
                    "interrupts",
                    interrupts.iter().map(Interrupt::to_json).collect::<List>(),
                );
            }
            EventData::Payload(payload) => {
                params.insert("data", payload.to_json());
            }
            EventData::Piece(piece, metadata) => {
                params.insert("data", vec![piece.to_json(), metadata.clone()]);
            }
            EventData::Lifecycle(lifecycle) => {
                params.insert("data", lifecycle.to_json());
            }
        }
        let mut event = Object::new();
        event.insert("type", "event");
        event.insert("method", self.method());
        event.insert("params", params);
        event.insert("seq", self.seq);
        event.into()
    }
}

/// The segments of a namespace as JSON.
fn segments(ns: &[String]) -> Value {
    let segments = ns.iter().map(|segment| Value::from(segment.as_str()));
    segments.collect::<List>().into()
}
