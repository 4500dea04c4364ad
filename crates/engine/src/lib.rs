#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod analysis;
mod attempt;
mod base;
mod blocking;
mod call;
mod channel;
mod checkpoint;
mod compile;
mod compiled;
mod context;
mod delta;
mod draw;
mod effect;
mod entries;
mod entrypoint;
mod graph;
mod handler;
mod links;
mod live;
mod nest;
mod node;
mod options;
mod persist;
mod plan;
mod policy;
mod questions;
mod run;
mod running;
mod schema;
mod single;
mod snapshot;
mod stream;
mod task;
mod typed;
mod update;
mod value;
mod view;

pub mod conformance;
pub mod observe;
pub mod protocol;
pub mod store;

pub use analysis::{Analysis, GraphLoop, ParallelWriters};
/// The attribute with which traits of this crate that have async methods are implemented.
pub use async_trait::async_trait;
pub use base::clock::{Clock, SystemClock, iso8601};
pub use base::ids::{CheckpointId, CheckpointIds, ClaimId, InterruptId, Name, TaskId, ThreadId};
pub use base::names::{Entries, NameMap};
pub use base::timeout::{RefreshOn, Timeout};
pub use blocking::blocking;
pub use call::{TaskFn, TaskHandle};
pub use channel::{BatchFn, BinaryOp, ChannelSpec, CheckFn, DeltaReducer, Managed, ReducerFn, overwrite};
pub use checkpoint::checkpointer::Checkpointer;
pub use checkpoint::claim::{
    CLAIM_LENGTH, ClaimRequest, ClaimRow, ClaimUse, ClaimView, Claims, Coordination, Holder, Take, TakeOver,
    delete_thread,
};
pub use checkpoint::maintenance::{
    CheckpointUsage, Damage, Integrity, Keep, KeyUsage, Link, Maintenance, Pruning, Removal, Scope,
    ThreadLens, ThreadUsage, Usage, tips,
};
pub use checkpoint::memory::MemorySaver;
pub use checkpoint::progress::{Progress, Watch};
pub use checkpoint::threads::{ThreadPlace, ThreadQuery, ThreadStatus, ThreadSummary};
pub use checkpoint::types::reserved::{END, START};
pub use checkpoint::types::*;
pub use checkpoint::waiting::{Waiting, WaitingQuery};
pub use compiled::Graph;
pub use context::{NodeContext, TaskInfo};
pub use delta::{prune, prune_watched};
pub use effect::{Effect, EffectDone, EffectPolicy, EffectState};
pub use entrypoint::Entrypoint;
pub use graph::{Branch, StateGraph};
pub use handler::{ErrorHandler, NodeFailed};
pub use nest::Persistence;
pub use node::{
    BoxFuture, Command, CommandGraph, Failure, Interrupted, Node, NodeError, NodeOutput, Packet,
    ParentCommand, Router, Target,
};
pub use options::NodeOptions;
pub use policy::bounds::{Bound, Bounds};
pub use policy::cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use policy::limits::Limits;
pub use policy::retry::{RetryOn, RetryPolicy, is_retryable};
pub use policy::schedule::Schedule;
pub use questions::{questions, waiting_questions, withdraw};
pub use running::Run;
pub use single::NodeRun;
pub use snapshot::{StateSnapshot, TaskSnapshot, TaskState};
pub use store::{
    Embedding, HashedNgrams, Index, Item, MemoryStore, NamespaceQuery, Ranking, Store, StoreAnswer,
    StoreConfig, StoreError, StoreOp, StoreQuery, Sweeper, Ttl, TtlConfig, VectorIndex,
};
pub use stream::config::{Drain, Durability, Input, Output, RunConfig, RunResult, RunStatus, StateRef};
pub use stream::error::{
    CompileError, GraphPlace, GraphProblem, RunError, StateError, TimeoutScope, UnknownInterruptReason,
};
pub use stream::events::{
    AttemptFailed, CheckpointEvent, Interrupt, Payload, StreamEvent, StreamMode, TaskEnd, TaskStart, Update,
};
pub use stream::lifecycle::{Lifecycle, LifecycleEvent, LifecycleStatus};
pub use stream::metrics::{Meter, RunMetrics};
pub use typed::{IntoOutput, IntoTargets, Outcome, State, TypedGraph, choose, typed, typed_with};
pub use update::{StateUpdate, Updated};
#[doc(hidden)]
pub use value::Key;
pub use value::decode::DecodeError;
pub use value::messages::{REMOVE_ALL, add_messages, coerce as coerce_message};
pub use value::{List, Number, Object, Value};

#[doc(hidden)]
pub use serde_json as __serde_json;
