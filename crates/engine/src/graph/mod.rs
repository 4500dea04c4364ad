//! Graphs, their compilation and analysis, and the context of their nodes.

pub(crate) mod analysis;
pub(crate) mod blocking;
pub(crate) mod builder;
pub(crate) mod call;
pub(crate) mod compile;
pub(crate) mod compiled;
pub(crate) mod context;
pub(crate) mod context_schema;
pub(crate) mod draw;
pub(crate) mod entrypoint;
pub(crate) mod handler;
pub(crate) mod links;
pub(crate) mod node;
pub(crate) mod noted_store;
pub(crate) mod options;
pub(crate) mod other_branches;
pub(crate) mod plan;
pub(crate) mod recorder;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod scope;
pub(crate) mod shared;
pub(crate) mod task;
pub(crate) mod typed;
pub(crate) mod writes;

pub use analysis::{Analysis, GraphLoop, ParallelWriters};
pub use blocking::blocking;
pub use builder::{Branch, StateGraph};
pub use call::{TaskFn, TaskHandle};
pub use compiled::Graph;
pub use context::{NodeContext, TaskInfo};
pub use context_schema::ContextSchema;
pub use entrypoint::Entrypoint;
pub use handler::{ErrorHandler, NodeFailed};
pub use node::{Interrupted, Node, NodeError, NodeOutput, ParentCommand, Router};
pub use options::NodeOptions;
pub use recorder::Recorder;
pub use scope::Persistence;
pub use shared::IntoShared;
pub use typed::{IntoOutput, State, choose, typed, typed_with};

pub use crate::base::command::{Command, CommandGraph, IntoTargets, Packet, Target};
pub use crate::base::timeout::{RefreshOn, Timeout};
pub use crate::channel::{
    BatchFn, BinaryOp, ChannelSpec, CheckFn, DeltaReducer, Managed, ReducerFn, overwrite,
};
pub use crate::checkpoint::types::reserved::{END, START};
pub use crate::policy::cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use crate::policy::effect::Effect;
pub use crate::policy::limits::Limits;
pub use crate::policy::retry::{RetryOn, RetryPolicy, is_retryable};
pub use crate::stream::error::{CompileError, GraphPlace, GraphProblem};
