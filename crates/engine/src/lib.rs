#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

// Layers, the lowest first: each names only those above it in this list. `tests/acceptance` checks it.
mod value;

mod base;

mod channel;

mod checkpoint;

pub mod store;

mod policy;

mod stream;

mod graph;

mod state;

mod task;

mod inspect;

mod run;

pub mod protocol;

pub mod conformance;

pub use task::spans as observe;

/// The attribute with which traits of this crate that have async methods are implemented.
pub use async_trait::async_trait;
pub use base::clock::{Clock, SystemClock, iso8601};
pub use base::command::IntoTargets;
pub use base::command::{Command, CommandGraph, Packet, Target};
pub use base::failure::Failure;
pub use base::ids::{CheckpointId, CheckpointIds, ClaimId, InterruptId, Name, TaskId, ThreadId};
pub use base::names::{Entries, NameMap};
pub use base::timeout::{RefreshOn, Timeout};
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
pub use futures::future::BoxFuture;
pub use graph::analysis::{Analysis, GraphLoop, ParallelWriters};
pub use graph::blocking::blocking;
pub use graph::builder::{Branch, StateGraph};
pub use graph::call::{TaskFn, TaskHandle};
pub use graph::compiled::Graph;
pub use graph::context::{NodeContext, TaskInfo};
pub use graph::context_schema::ContextSchema;
pub use graph::entrypoint::Entrypoint;
pub use graph::handler::{ErrorHandler, NodeFailed};
pub use graph::node::{Interrupted, Node, NodeError, NodeOutput, ParentCommand, Router};
pub use graph::options::NodeOptions;
pub use graph::scope::Persistence;
pub use graph::typed::{IntoOutput, State, choose, typed, typed_with};
pub use inspect::edit::{StateUpdate, Updated};
pub use inspect::questions::{questions, waiting_questions, withdraw};
pub use inspect::snapshot::{StateSnapshot, TaskSnapshot, TaskState};
pub use policy::bounds::{Bound, Bounds};
pub use policy::cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use policy::effect::{Effect, EffectDone, EffectPolicy, EffectState};
pub use policy::limits::Limits;
pub use policy::retry::{RetryOn, RetryPolicy, is_retryable};
pub use run::handle::Run;
pub use run::single::NodeRun;
pub use run::typed::{Outcome, TypedGraph};
pub use state::delta::{prune, prune_watched};
pub use store::{
    Embedding, HashedNgrams, Index, Item, MemoryStore, NamespaceQuery, Ranking, Store, StoreAnswer,
    StoreConfig, StoreError, StoreOp, StoreQuery, Sweeper, Ttl, TtlConfig, VectorIndex,
};
pub use stream::config::{Drain, Durability, Input, Output, RunResult, RunStatus, StateRef};
pub use stream::error::{
    CompileError, GraphPlace, GraphProblem, RunError, StateError, TimeoutScope, UnknownInterruptReason,
};
pub use stream::events::{
    AttemptFailed, CheckpointEvent, Interrupt, Payload, StreamEvent, StreamMode, TaskEnd, TaskStart, Update,
};
pub use stream::lifecycle::{Lifecycle, LifecycleEvent, LifecycleStatus};
pub use stream::metrics::{Meter, RunMetrics};
pub use stream::run_config::RunConfig;
pub use stream::testing;
#[doc(hidden)]
pub use value::Key;
pub use value::decode::DecodeError;
pub use value::messages::{REMOVE_ALL, add_messages, coerce as coerce_message};
pub use value::{List, Number, Object, Value};

#[doc(hidden)]
pub use serde_json as __serde_json;
