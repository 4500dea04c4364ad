//! Checkpoints, the trait of their backends, claims of runs on threads.

pub(crate) mod checkpointer;
pub(crate) mod claim;
pub(crate) mod foreign;
pub(crate) mod graph_version;
pub(crate) mod maintenance;
pub(crate) mod memory;
pub(crate) mod memory_use;
pub(crate) mod progress;
pub(crate) mod run_claim;
pub(crate) mod task_record;
pub(crate) mod threads;
pub(crate) mod types;
pub(crate) mod waiting;

pub use checkpointer::Checkpointer;
pub use claim::{
    CLAIM_LENGTH, ClaimRequest, ClaimRow, ClaimUse, ClaimView, Claims, Coordination, Holder, Take, TakeOver,
    delete_thread,
};
pub use foreign::{Foreign, ForeignTask, Sealed, TASK_IDS};
pub use graph_version::{GRAPH_VERSION, GraphVersion};
pub use maintenance::{
    CheckpointUsage, Damage, Integrity, Keep, KeySums, KeyUsage, Link, Maintenance, Pruning, Removal, Scope,
    ThreadBreakdown, ThreadUsage, Usage, tips,
};
pub use memory::MemorySaver;
pub use memory_use::{MemoryAction, MemoryUse};
pub use progress::{Progress, Watch};
pub use task_record::{
    Decision, KeysRead, MAX_RECORDED_VALUE, Reason, RecordedValue, TaskRecord, TriedCondition, records_of,
};
pub use threads::{ThreadPlace, ThreadQuery, ThreadStatus, ThreadSummary};
pub use types::*;
pub use waiting::{Waiting, WaitingQuery};

pub use crate::base::ids::{CheckpointId, CheckpointIds, ClaimId, InterruptId, Name, TaskId, ThreadId};
pub use crate::base::names::{Entries, NameMap};
