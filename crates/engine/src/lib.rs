#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

// Layers, the lowest first: each names only those above it in this list. `tests/acceptance` checks it.
pub mod value;

mod base;

mod channel;

pub mod checkpoint;

pub mod store;

mod policy;

pub mod stream;

pub mod graph;

mod state;

mod task;

pub mod inspect;

pub mod run;

pub use stream::testing;
pub use task::spans as observe;

/// The attribute with which traits of this crate that have async methods are implemented.
pub use async_trait::async_trait;
pub use base::failure::Failure;
pub use base::ids::{CheckpointId, Name, ThreadId};
pub use checkpoint::{Checkpointer, MemorySaver};
/// What [`Node::run`] returns.
pub use futures::future::BoxFuture;
pub use graph::{
    Branch, ChannelSpec, Command, END, Graph, Node, NodeContext, NodeError, NodeOptions, NodeOutput, Packet,
    RetryPolicy, START, State, StateGraph, Target, choose, overwrite, typed, typed_with,
};
pub use inspect::{StateSnapshot, StateUpdate};
pub use run::{Input, Outcome, Run, RunConfig, RunError, RunResult};
pub use store::{MemoryStore, Store};
pub use stream::{Interrupt, StreamEvent, StreamMode};
pub use value::Value;

/// Types of this crate under the names that they have in LangGraph.
pub mod langgraph {
    pub use crate::checkpoint::{Checkpointer as BaseCheckpointSaver, MemorySaver as InMemorySaver};
    pub use crate::graph::{
        Graph as CompiledStateGraph, NodeContext as Runtime, Packet as Send, Persistence, StateGraph,
    };
    pub use crate::run::RunConfig as RunnableConfig;
    pub use crate::store::{MemoryStore as InMemoryStore, Store as BaseStore};
}

#[doc(hidden)]
pub use serde_json as __serde_json;
