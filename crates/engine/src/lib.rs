//! A Rust engine for stateful agent graphs with LangGraph's execution model.
//!
//! Declare state keys as channels with reducers, nodes, and edges; compile; run threads. A run proceeds in
//! super-steps: all triggered nodes run at once on the same snapshot of the state, their writes are merged in a fixed
//! order, and a checkpoint is stored. Runs stop for questions and breakpoints, and go on from any checkpoint.
//!
//! The engine knows no file format, no storage backend, no model provider, no window and no wall clock: those come in
//! through traits ([`Node`], [`Checkpointer`], [`Clock`]).
//!
//! ```
//! use superstep::{ChannelSpec, END, Input, NodeContext, NodeOutput, RunConfig, START, StateGraph, Value, json};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let graph = StateGraph::new()
//!     .channel("log", ChannelSpec::append())
//!     .node("greet", |_: NodeContext, _: Value| async { Ok(NodeOutput::from(json!({"log": "hello"}))) })
//!     .edge(START, "greet")
//!     .edge("greet", END)
//!     .compile()?;
//! let result = graph.invoke(Input::value(json!({"log": ["hi"]})), RunConfig::default()).await?;
//! assert_eq!(result.value, json!({"log": ["hi", "hello"]}));
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
#![deny(missing_docs)]

mod analysis;
mod attempt;
mod blocking;
mod cache;
mod channel;
mod checkpoint;
mod clock;
mod compile;
mod compiled;
mod context;
mod decode;
mod delta;
mod draw;
mod emit;
mod entries;
mod error;
mod graph;
mod handler;
mod ids;
mod limits;
mod links;
mod live;
mod memory;
mod messages;
mod metrics;
mod node;
mod options;
mod persist;
mod plan;
mod retry;
mod run;
mod schema;
mod snapshot;
mod stream;
mod task;
mod timeout;
mod typed;
mod update;
mod value;

pub mod conformance;
pub mod observe;

pub use analysis::{Analysis, GraphLoop, ParallelWriters};
pub use blocking::blocking;
pub use cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use channel::{BatchFn, BinaryOp, ChannelSpec, CheckFn, DeltaReducer, Managed, ReducerFn, overwrite};
pub use checkpoint::reserved::{END, START};
pub use checkpoint::*;
pub use clock::{Clock, SystemClock, iso8601};
pub use compiled::{Durability, Graph, Input, Run, RunConfig, RunResult, RunStatus, StateRef};
pub use context::{NodeContext, TaskInfo};
pub use decode::DecodeError;
pub use error::{CompileError, GraphPlace, GraphProblem, RunError, StateError, UnknownInterruptReason};
pub use graph::{Branch, StateGraph};
pub use handler::{ErrorHandler, NodeFailed};
pub use ids::{CheckpointId, CheckpointIds, InterruptId, Name, TaskId, ThreadId};
pub use limits::Limits;
pub use memory::MemorySaver;
pub use messages::{REMOVE_ALL, add_messages, coerce as coerce_message};
pub use metrics::{Meter, RunMetrics};
pub use node::{
    BoxFuture, Command, Failure, Interrupted, Node, NodeError, NodeOutput, Packet, Router, Target,
};
pub use options::NodeOptions;
pub use retry::{RetryOn, RetryPolicy, is_retryable};
pub use snapshot::{StateSnapshot, TaskSnapshot};
pub use stream::{CheckpointEvent, Interrupt, Payload, StreamEvent, StreamMode, TaskEnd, TaskStart, Update};
pub use timeout::{RefreshOn, Timeout};
pub use typed::{IntoOutput, IntoTargets, Outcome, State, TypedGraph, choose, typed};
pub use update::{StateUpdate, Updated};
pub use value::{List, Number, Object, Value};

#[doc(hidden)]
pub use serde_json as __serde_json;
