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
mod event;
mod lifecycle;
mod pieces;
mod run;
mod start;

pub use event::{EventData, ProtocolEvent};
pub use lifecycle::{Lifecycle, Status};
pub use pieces::{Delta, MessageEvent};
pub use run::{
    Everything, GraphRunStream, LifecycleEvents, Log, MessageStream, Messages, Payloads, Projected,
    Projection, Projections, Reader, SubgraphRunStream, Subgraphs, Values,
};
pub use start::StreamEvents;
