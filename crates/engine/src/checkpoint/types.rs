//! What is stored.
//!
//! A checkpoint is the state *before* its tasks ran; what the tasks wrote is kept beside it as pending writes
//! (the writes that produced checkpoint N+1 are the pending writes of checkpoint N). A [`Commit`] is the
//! unit of atomicity: the writes of tasks and the checkpoint that follows them reach the backend together, so a
//! super-step costs one transaction. Beside each checkpoint the engine says what changed against its parent
//! ([`Change`]), so that a backend can store the change and not the state.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::base::names::NameMap;
use crate::checkpoint::claim::{ClaimRow, ClaimUse, ClaimView, Holder};
use crate::value::{Object, Value};

/// Values by channel name.
pub type ChannelValues = NameMap<Value>;
/// Versions by channel name. Only their order means something.
pub type ChannelVersions = NameMap<u64>;
/// Channel versions that each node had seen when it last ran.
pub type VersionsSeen = NameMap<ChannelVersions>;

/// Channels and pending-write channels with a meaning of their own.
pub mod reserved {
    /// The entry node, and the channel that carries the input.
    pub const START: &str = "__start__";
    /// The pseudo target that ends a branch.
    pub const END: &str = "__end__";
    /// Pseudo writer of input.
    pub const INPUT: &str = "__input__";
    /// Pending write: the questions a task asked.
    pub const INTERRUPT: &str = "__interrupt__";
    /// Pending write: the answers a task was given.
    pub const RESUME: &str = "__resume__";
    /// Pending write: why a task failed.
    pub const ERROR: &str = "__error__";
    /// Pending write: the node whose failure was routed to a handler.
    pub const ERROR_SOURCE: &str = "__error_source_node__";
    /// Pending write: a task that finished without writing anything.
    pub const NO_WRITES: &str = "__no_writes__";
    /// What a workflow hands to its next run.
    pub const PREVIOUS: &str = "__previous__";
    /// Pending write: what a called task returned.
    pub const RETURN: &str = "__return__";
    /// The topic of `Send` packets for the next step.
    pub const TASKS: &str = "__pregel_tasks";
    /// `as_node` value that clones a checkpoint.
    pub const COPY: &str = "__copy__";
    /// Pending write: what a task with an effect was given and the key that it sent.
    pub const EFFECT: &str = "__effect__";
    /// Pending write: the questions of a task wait no longer, and who withdrew them.
    pub const WITHDRAWN: &str = "__withdrawn__";
    /// Pending write: a task whose questions were withdrawn has asked again. It takes the place of [`WITHDRAWN`].
    pub const ASKED_AGAIN: &str = "__asked_again__";
    /// Pending write: what a task read and decided, as a [`TaskRecord`](crate::checkpoint::TaskRecord).
    pub const RECORD: &str = "__record__";

    /// Returns true for channels of pending writes that say something about their task and are no output of it.
    pub fn is_control(channel: &str) -> bool {
        matches!(
            channel,
            ERROR | ERROR_SOURCE | INTERRUPT | RESUME | EFFECT | WITHDRAWN | ASKED_AGAIN | RECORD
        )
    }

    /// Returns true for channels of pending writes that LangGraph does not know.
    pub fn is_own(channel: &str) -> bool {
        matches!(channel, EFFECT | WITHDRAWN | ASKED_AGAIN | RECORD)
    }
}

/// Origin of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// New input arrived.
    Input,
    /// A super-step finished.
    Loop,
    /// Somebody edited the state.
    Update,
    /// A replay or a copy started a new branch.
    Fork,
}

impl Source {
    /// Returns the name of the source: input, loop, update or fork.
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Input => "input",
            Source::Loop => "loop",
            Source::Update => "update",
            Source::Fork => "fork",
        }
    }
}

/// Facts about a checkpoint that are not state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// How it came to be.
    pub source: Source,
    /// Super-step number; -1 is the input.
    pub step: i64,
    /// Ancestor namespace to checkpoint id; empty at the root.
    #[serde(default)]
    pub parents: Object,
    /// Metadata of the run (strings, numbers, booleans) and of the host; usable as history filters.
    #[serde(flatten)]
    pub user: Object,
}

/// Key of metadata that holds the number of super-steps since the input in which each bounded node had work, by name.
pub const VISITS: &str = "__visits__";

/// Largest number of a step: a damaged place may hold any, and runs count on from there.
const MAX_STEP: i64 = 1 << 62;

impl Metadata {
    /// Returns the number of the super-step that follows.
    pub fn next_step(&self) -> i64 {
        self.step.clamp(-MAX_STEP, MAX_STEP) + 1
    }

    /// Returns the run that the checkpoint belongs to, for a host that puts `run_id` into the metadata of its runs.
    pub fn run_id(&self) -> Option<&str> {
        self.user.get("run_id")?.as_str()
    }

    /// Returns whether every entry of `filter` equals the entry of the same key here; an unknown key equals nothing.
    pub fn matches(&self, filter: &Object) -> bool {
        filter.iter().all(|(key, wanted)| match &**key {
            "source" => wanted.as_str() == Some(self.source.as_str()),
            "step" => wanted.as_i64() == Some(self.step),
            "parents" => wanted.as_object() == Some(&self.parents),
            key => self.user.get(key) == Some(wanted),
        })
    }
}

/// One checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Sorts by creation.
    pub id: CheckpointId,
    /// The checkpoint it continues; `None` for the first.
    pub parent: Option<CheckpointId>,
    /// ISO-8601, UTC.
    pub ts: String,
    /// Channels that have a version and a value.
    pub channel_values: ChannelValues,
    /// Version of every channel ever written.
    pub channel_versions: ChannelVersions,
    /// What each node has seen.
    pub versions_seen: VersionsSeen,
    /// Channels updated by the step that made it; `None` means unknown: consider every node.
    pub updated_channels: Option<Vec<Name>>,
    /// Source, step and user metadata.
    pub metadata: Metadata,
    /// Nodes that run next (packets first). A summary for lists; the tasks are derived from the rest.
    pub next: Vec<Name>,
}

/// Difference between one channel and the same channel of the parent checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The channel.
    pub channel: Name,
    /// `Some(n)`: the value is a list whose first `n` items are the parent's whole list; only the rest is new.
    /// `None`: the value was replaced (or removed, when `channel_values` lacks it).
    pub appended_from: Option<usize>,
}

/// A checkpoint to store, with what changed against its parent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Put {
    /// The whole checkpoint; cheap to hold, because its maps are shared with the parent's.
    pub checkpoint: Checkpoint,
    /// Channels whose version differs from the parent's. A backend may store only these.
    pub changes: Vec<Change>,
    /// Nodes whose `versions_seen` entry differs from the parent's.
    pub seen: Vec<Name>,
}

/// One write of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Write {
    /// Position among the task's writes; fixed and negative for control channels: error -1, interrupt -3, resume -4,
    /// effect -5, withdrawn and asked again -6, record -7.
    pub idx: i32,
    /// Channel.
    pub channel: Name,
    /// Value.
    pub value: Value,
}

/// Returns the position of a write in a task's list, fixed for the channels that are overwritten rather than added.
pub fn write_index(channel: &str, position: usize) -> i32 {
    match channel {
        reserved::ERROR => -1,
        reserved::INTERRUPT => -3,
        reserved::RESUME => -4,
        reserved::EFFECT => -5,
        reserved::WITHDRAWN | reserved::ASKED_AGAIN => -6,
        reserved::RECORD => -7,
        _ => i32::try_from(position).unwrap_or(i32::MAX),
    }
}

/// Rows that one task wrote. Rows with `idx < 0` replace an earlier row; others leave an earlier row as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskWrites {
    /// The checkpoint the task started from.
    pub checkpoint_id: CheckpointId,
    /// The task.
    pub task_id: TaskId,
    /// The task's path, in the text form that sorts; empty for the null task.
    pub task_path: Name,
    /// The writes in order.
    pub writes: Vec<Write>,
}

/// Status of one task by its stored writes: one rule decides what runs again, what is next and what waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskStatus {
    /// It has a write of its own.
    pub finished: bool,
    /// It asked a question that waits: it has not finished, and nobody withdrew the question.
    pub interrupted: bool,
    /// It failed and has not finished.
    pub failed: bool,
}

impl TaskStatus {
    /// Determines the status of every task that wrote. Writes of a task need not stand together: what somebody wrote in its
    /// place has a path of its own.
    pub fn of_all(pending: &[PendingWrite]) -> HashMap<&TaskId, Self> {
        let mut channels: HashMap<&TaskId, Vec<&str>> = HashMap::new();
        for row in pending {
            channels.entry(&row.task_id).or_default().push(&row.write.channel);
        }
        let statuses = channels.into_iter();
        statuses.map(|(task, own)| (task, Self::of(task, own))).collect()
    }

    /// Creates the status of the task that wrote to these channels.
    pub fn of<'a>(task: &TaskId, channels: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut finished, mut asked, mut failed, mut withdrawn) = (false, false, false, false);
        for channel in channels {
            match channel {
                reserved::INTERRUPT => asked = true,
                reserved::ERROR => failed = true,
                reserved::WITHDRAWN => withdrawn = true,
                other => finished |= !reserved::is_control(other),
            }
        }
        let open = !finished && !task.is_null();
        Self {
            finished,
            interrupted: asked && open && !withdrawn,
            failed: failed && open,
        }
    }
}

/// Applied as a whole or not at all, in the order of the calls for one thread.
///
/// Writes belong to a checkpoint that is stored or that this very commit stores; otherwise the commit is refused,
/// because the thread was deleted while somebody still ran it. A checkpoint that is already stored is left as it is,
/// so a repeated commit changes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Commit {
    /// The thread.
    pub thread: ThreadId,
    /// Checkpoint namespace; empty at the root.
    pub ns: Name,
    /// Task writes, stored before the checkpoint.
    pub writes: Vec<TaskWrites>,
    /// A new checkpoint.
    pub put: Option<Put>,
    /// The claim of the run that commits. A commit with nothing else in it takes, prolongs or ends a claim.
    pub claim: Option<ClaimUse>,
}

/// A pending write as read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingWrite {
    /// The task; null for writes of an input command.
    pub task_id: TaskId,
    /// The task's path text.
    pub task_path: Name,
    /// The write.
    pub write: Write,
}

/// A checkpoint with its pending writes, ordered by (task path, task id, idx).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointTuple {
    /// The thread.
    pub thread: ThreadId,
    /// The namespace.
    pub ns: Name,
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Writes of its tasks so far.
    pub pending_writes: Vec<PendingWrite>,
}

/// Address of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CheckpointAddress {
    /// The thread.
    pub thread: ThreadId,
    /// The namespace; empty at the root.
    pub ns: Name,
    /// The checkpoint.
    pub id: CheckpointId,
}

impl CheckpointAddress {
    /// Creates the address of a checkpoint.
    pub fn new(thread: impl Into<ThreadId>, ns: impl Into<Name>, id: impl Into<CheckpointId>) -> Self {
        let (thread, ns, id) = (thread.into(), ns.into(), id.into());
        Self { thread, ns, id }
    }
}

/// A checkpoint without its values: what lists and trees show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointHead {
    /// The namespace.
    pub ns: Name,
    /// Id.
    pub id: CheckpointId,
    /// Parent.
    pub parent: Option<CheckpointId>,
    /// ISO-8601, UTC.
    pub ts: String,
    /// Source, step and user metadata.
    pub metadata: Metadata,
    /// Nodes that run next.
    pub next: Vec<Name>,
    /// Channels updated by the step that made it.
    pub updated_channels: Option<Vec<Name>>,
    /// Tasks of this checkpoint with an unanswered question.
    pub interrupted: u32,
    /// Tasks of this checkpoint that failed and have not finished since.
    pub failed: u32,
}

/// Criteria for listing checkpoints, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListQuery {
    /// Only this thread.
    pub thread: Option<ThreadId>,
    /// Only this namespace; `None` means all namespaces.
    pub ns: Option<Name>,
    /// Only this checkpoint.
    pub id: Option<CheckpointId>,
    /// Only checkpoints created before this one.
    pub before: Option<CheckpointId>,
    /// Every given metadata entry must be equal; `source` and `step` count as entries.
    pub filter: Object,
    /// At most this many; `Some(0)` gives none.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Creates a query for every checkpoint of every thread.
    pub fn new() -> Self {
        Self::default()
    }
    /// Sets the thread: only its checkpoints are listed.
    pub fn thread(mut self, thread: impl Into<ThreadId>) -> Self {
        self.thread = Some(thread.into());
        self
    }
    /// Sets the namespace: only its checkpoints are listed.
    pub fn ns(mut self, ns: impl Into<Name>) -> Self {
        self.ns = Some(ns.into());
        self
    }
    /// Sets the one checkpoint to list; any when `None`.
    pub fn id(mut self, id: impl Into<Option<CheckpointId>>) -> Self {
        self.id = id.into();
        self
    }
    /// Sets the checkpoint before which the listed ones were created; any when `None`.
    pub fn before(mut self, before: impl Into<Option<CheckpointId>>) -> Self {
        self.before = before.into();
        self
    }
    /// Sets the metadata entries that a listed checkpoint has.
    pub fn filter(mut self, filter: Object) -> Self {
        self.filter = filter;
        self
    }
    /// Sets the largest number of checkpoints to list; all when `None`.
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// Reason why a storage operation failed.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
pub enum StorageError {
    /// The file, disk or server failed. `remedy` says what to do about it.
    #[error("{what}: {cause}. {remedy}")]
    Backend {
        /// What was being done, on what.
        what: String,
        /// What the backend said.
        cause: String,
        /// What the user can do.
        remedy: String,
    },
    /// Stored bytes do not mean anything; the record is named.
    #[error(
        "{place} cannot be read: {cause}. Everything else is untouched; checking the database says what can be repaired."
    )]
    Corrupt {
        /// Which record of which thread.
        place: String,
        /// Why.
        cause: String,
    },
    /// Written by a newer release.
    #[error(
        "{place} has schema {found}, this release reads up to {supported}. Install a newer release to open it; it was not changed."
    )]
    NewerSchema {
        /// The file, folder or server, without a password.
        place: String,
        /// Version found.
        found: i64,
        /// Highest version this build knows.
        supported: i64,
    },
    /// Another run holds the thread. Nothing was stored.
    #[error(
        "{} is running thread {thread}. Wait until its run has ended, stop it there, or take the thread over: its run \
         ends then",
        .held.holder.name
    )]
    Busy {
        /// The thread.
        thread: ThreadId,
        /// The claim of that run.
        held: Box<ClaimView>,
    },
    /// The commit's claim is not the thread's any more, or the thread has gone on since it was read. Nothing was stored.
    #[error("{}", superseded(.thread, .by.as_deref()))]
    Superseded {
        /// The thread.
        thread: ThreadId,
        /// Who claimed the thread since; nothing when its claim ended or the thread was deleted.
        by: Option<Box<Holder>>,
    },
    /// The caller wanted it to stop.
    #[error("it was stopped; what was not done yet is as it was")]
    Stopped,
    /// The threads are another program's, and are only read. Nothing was stored.
    #[error("{place} is only read: {why}. {remedy}")]
    OnlyRead {
        /// The file or server, without a password.
        place: String,
        /// Why.
        why: String,
        /// What the user can do.
        remedy: String,
    },
    /// The backend does not offer this operation.
    #[error("{0} is not supported by this backend")]
    #[serde(skip)]
    Unsupported(#[serde(skip)] &'static str),
}

fn superseded(thread: &ThreadId, by: Option<&Holder>) -> String {
    let what = match by {
        Some(by) => format!("{} went on with thread {thread}", by.name),
        None => {
            format!("Thread {thread} was deleted or has gone on, or its storage was emptied or set back,")
        }
    };
    format!(
        "{what} since this run read it. Nothing more of this run is stored: look at the thread and start again"
    )
}

impl StorageError {
    /// Creates the refusal of a newcomer while another run holds the thread.
    pub fn busy(thread: &ThreadId, held: ClaimView) -> Self {
        Self::Busy {
            thread: thread.clone(),
            held: Box::new(held),
        }
    }

    /// Creates the refusal of a claim that is not the thread's; `row` is the claim that is.
    pub fn superseded(thread: &ThreadId, row: Option<&ClaimRow>) -> Self {
        Self::Superseded {
            thread: thread.clone(),
            by: row.map(|row| Box::new(row.holder.clone())),
        }
    }

    /// Creates the refusal of writes whose checkpoint is not stored.
    pub fn orphan(thread: &ThreadId, writes: &TaskWrites) -> Self {
        Self::Backend {
            what: format!("storing the writes of task {} of thread {thread}", writes.task_id),
            cause: format!("its checkpoint {} is not stored", writes.checkpoint_id),
            remedy: "The thread was deleted while it ran. Start it again".to_owned(),
        }
    }
}
