#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod analysis;
mod attempt;
mod blocking;
mod bounds;
mod cache;
mod call;
mod channel;
mod checkpoint;
mod claim;
mod claimed;
mod clock;
mod compile;
mod compiled;
mod context;
mod context_schema;
mod decode;
mod delta;
mod draw;
mod effect;
mod emit;
mod entries;
mod entrypoint;
mod error;
mod graph;
mod handler;
mod ids;
mod lifecycle;
mod limits;
mod links;
mod live;
mod maintenance;
mod memory;
mod messages;
mod metrics;
mod names;
mod nest;
mod node;
mod options;
mod pace;
mod persist;
mod plan;
mod progress;
mod questions;
mod request;
mod retry;
mod run;
mod running;
mod saver;
mod schedule;
mod schema;
mod single;
mod snapshot;
mod stream;
mod task;
mod threads;
mod timeout;
mod typed;
mod update;
mod value;
mod view;
mod waiting;

pub mod conformance;
pub mod observe;
pub mod protocol;
pub mod store;

pub use analysis::{Analysis, GraphLoop, ParallelWriters};
/// The attribute with which traits of this crate that have async methods are implemented.
pub use async_trait::async_trait;
pub use blocking::blocking;
pub use bounds::{Bound, Bounds};
pub use cache::{CacheKey, CachePolicy, CachedWrites, MemoryCache, NodeCache};
pub use call::{TaskFn, TaskHandle};
pub use channel::{BatchFn, BinaryOp, ChannelSpec, CheckFn, DeltaReducer, Managed, ReducerFn, overwrite};
pub use checkpoint::reserved::{END, START};
pub use checkpoint::*;
pub use claim::{
    CLAIM_LENGTH, ClaimRequest, ClaimRow, ClaimUse, ClaimView, Claims, Coordination, Holder, Take, TakeOver,
    delete_thread,
};
pub use clock::{Clock, SystemClock, iso8601};
pub use compiled::Graph;
pub use context::{NodeContext, TaskInfo};
pub use context_schema::ContextSchema;
pub use decode::DecodeError;
pub use delta::{prune, prune_watched};
pub use effect::{Effect, EffectDone, EffectPolicy, EffectState};
pub use entrypoint::Entrypoint;
pub use error::{
    CompileError, GraphPlace, GraphProblem, RunError, StateError, TimeoutScope, UnknownInterruptReason,
};
pub use graph::{Branch, StateGraph};
pub use handler::{ErrorHandler, NodeFailed};
pub use ids::{CheckpointId, CheckpointIds, ClaimId, InterruptId, Name, TaskId, ThreadId};
pub use lifecycle::{Lifecycle, LifecycleEvent, LifecycleStatus};
pub use limits::Limits;
pub use maintenance::{
    CheckpointUsage, Damage, Integrity, Keep, KeyUsage, Link, Maintenance, Pruning, Removal, Scope,
    ThreadLens, ThreadUsage, Usage, tips,
};
pub use memory::MemorySaver;
pub use messages::{REMOVE_ALL, add_messages, coerce as coerce_message};
pub use metrics::{Meter, RunMetrics};
pub use names::{Entries, NameMap};
pub use nest::Persistence;
pub use node::{
    BoxFuture, Command, CommandGraph, Failure, Interrupted, Node, NodeError, NodeOutput, Packet,
    ParentCommand, Router, Target,
};
pub use options::NodeOptions;
pub use progress::{Progress, Watch};
pub use questions::{questions, waiting_questions, withdraw};
pub use request::{Drain, Durability, Input, Output, RunConfig, RunResult, RunStatus, StateRef};
pub use retry::{RetryOn, RetryPolicy, is_retryable};
pub use running::Run;
pub use saver::Checkpointer;
pub use schedule::Schedule;
pub use single::NodeRun;
pub use snapshot::{StateSnapshot, TaskSnapshot, TaskState};
pub use store::{
    Embedding, HashedNgrams, Index, Item, MemoryStore, NamespaceQuery, Ranking, Store, StoreAnswer,
    StoreConfig, StoreError, StoreOp, StoreQuery, Sweeper, Ttl, TtlConfig, VectorIndex,
};
pub use stream::{
    AttemptFailed, CheckpointEvent, Interrupt, Payload, StreamEvent, StreamMode, TaskEnd, TaskStart, Update,
};
pub use threads::{ThreadPlace, ThreadQuery, ThreadStatus, ThreadSummary};
pub use timeout::{RefreshOn, Timeout};
pub use typed::{IntoOutput, IntoTargets, Outcome, State, TypedGraph, choose, typed, typed_with};
pub use update::{StateUpdate, Updated};
#[doc(hidden)]
pub use value::Key;
pub use value::{List, Number, Object, Value};
pub use waiting::{Waiting, WaitingQuery};

#[doc(hidden)]
pub use serde_json as __serde_json;
