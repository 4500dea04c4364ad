#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod base;
mod channel;
mod checkpoint;
mod effect;
mod graph;
mod inspect;
mod policy;
mod run;
mod state;
mod stream;
mod task;
mod value;

pub use task::spans as observe;
pub mod conformance;
pub mod protocol;
pub mod store;

pub use self::graph::analysis::{Analysis, GraphLoop, ParallelWriters};
pub use self::graph::blocking::blocking;
pub use self::graph::builder::{Branch, StateGraph};
pub use self::graph::call::{TaskFn, TaskHandle};
pub use self::graph::compiled::Graph;
pub use self::graph::context::{NodeContext, TaskInfo};
pub use self::graph::entrypoint::Entrypoint;
pub use self::graph::handler::{ErrorHandler, NodeFailed};
pub use self::graph::node::{
    BoxFuture, Command, CommandGraph, Failure, Interrupted, Node, NodeError, NodeOutput, Packet,
    ParentCommand, Router, Target,
};
pub use self::graph::options::NodeOptions;
pub use self::graph::scope::Persistence;
pub use self::graph::typed::{
    IntoOutput, IntoTargets, Outcome, State, TypedGraph, choose, typed, typed_with,
};
/// The attribute with which traits of this crate that have async methods are implemented.
pub use async_trait::async_trait;
pub use base::clock::{Clock, SystemClock, iso8601};
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
pub use effect::{Effect, EffectDone, EffectPolicy, EffectState};
pub use inspect::edit::{StateUpdate, Updated};
pub use inspect::questions::{questions, waiting_questions, withdraw};
pub use inspect::snapshot::{StateSnapshot, TaskSnapshot, TaskState};
pub use policy::bounds::{Bound, Bounds};
pub use policy::cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use policy::limits::Limits;
pub use policy::retry::{RetryOn, RetryPolicy, is_retryable};
pub use policy::schedule::Schedule;
pub use run::handle::Run;
pub use run::single::NodeRun;
pub use state::delta::{prune, prune_watched};
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
#[doc(hidden)]
pub use value::Key;
pub use value::decode::DecodeError;
pub use value::messages::{REMOVE_ALL, add_messages, coerce as coerce_message};
pub use value::{List, Number, Object, Value};

#[doc(hidden)]
pub use serde_json as __serde_json;
