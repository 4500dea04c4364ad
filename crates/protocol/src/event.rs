//! What happens in a run, as the protocol reports it.

use std::sync::Arc;

use superstep::stream::Payload;
use superstep::value::{List, Object};
use superstep::{Interrupt, StreamMode, Value};

use super::lifecycle::{Lifecycle, segments};
use super::pieces::MessageEvent;

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

/// Subject of an event of the protocol.
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
    /// Returns the protocol's name for the event: the name of a stream mode, or `lifecycle`.
    pub fn method(&self) -> &'static str {
        match &self.data {
            EventData::Payload(payload) => payload.mode().as_str(),
            EventData::Piece(..) => StreamMode::Messages.as_str(),
            EventData::Lifecycle(_) => "lifecycle",
        }
    }

    /// Converts the event to `{"type": "event", "method", "params": {"namespace", "timestamp", "data"}, "seq"}`;
    /// `values` have `interrupts` beside the data.
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
