//! The parts of a run's state: its setup, its progress, the open step, what a resume brings, and the report.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::calls::Calls;
use super::deadline::Deadline;
use super::effects::Decided;
use super::packets::Packets;
use super::questions::Questions;
use crate::base::ids::{CheckpointId, Name, TaskId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{Metadata, PendingWrite, Source};
use crate::graph::plan::{ChannelIx, NodeIx, Plan, Shown};
use crate::graph::scope::Shared;
use crate::graph::task::GraphScope;
use crate::policy::cache::NodeCache;
use crate::policy::limits::Limits;
use crate::stream::events::Interrupt;
use crate::stream::metrics::StateSize;
use crate::task::Task;
use crate::value::{Object, Value};

/// The parts of a run that never change.
pub(super) struct Setup {
    pub(super) plan: Arc<Plan>,
    pub(super) scope: Arc<GraphScope>,
    pub(super) shared: Arc<Shared>,
    /// Not set for a graph that keeps nothing.
    pub(super) saver: Option<Arc<dyn Checkpointer>>,
    pub(super) limits: Limits,
    pub(super) cache: Option<Arc<dyn NodeCache>>,
    pub(super) shown: Shown,
    pub(super) breaks_before: Vec<Name>,
    pub(super) breaks_after: Vec<Name>,
    pub(super) origin: Option<Name>,
}

/// Place in its thread from which a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartPoint {
    /// The thread has no checkpoint to go on from.
    Nothing,
    /// The loaded checkpoint, whose branch goes on.
    Checkpoint,
    /// The loaded checkpoint, from which a new branch begins.
    Fork,
}

/// The step that a run has come to.
pub(super) struct StepProgress {
    /// The current checkpoint was read and not made by this run.
    pub(super) loaded: bool,
    /// The checkpoint that the current step starts from.
    pub(super) current: CheckpointId,
    /// The checkpoint that was loaded: its namespace and id.
    pub(super) origin: Option<(Name, CheckpointId)>,
    pub(super) metadata: Metadata,
    pub(super) step: i64,
    pub(super) stop: i64,
    pub(super) updated: Option<Vec<ChannelIx>>,
    /// The first step that this run finished.
    pub(super) first_step: Option<i64>,
    pub(super) deadline: Deadline,
    /// Steps that were done without waiting for anything.
    pub(super) on_the_spot: usize,
    /// When the newest checkpoint was due, if it is made only once the run ends.
    pub(super) unmade: Option<String>,
    /// The number of steps since the input in which each bounded node had work, the open one included.
    pub(super) visits: HashMap<NodeIx, u32>,
    /// The newest record of what a task of each node read and decided, in its stored form.
    pub(super) records: HashMap<NodeIx, Value, foldhash::fast::RandomState>,
}

impl StepProgress {
    pub(super) fn new(shared: &Shared) -> Self {
        Self {
            loaded: false,
            current: CheckpointId::new(shared.run_id.as_str()),
            origin: None,
            metadata: Metadata {
                source: Source::Input,
                step: -2,
                parents: Object::new(),
                user: (*shared.stored).clone(),
            },
            step: -1,
            stop: i64::from(shared.config.recursion_limit),
            updated: None,
            first_step: None,
            deadline: Deadline::default(),
            on_the_spot: 0,
            unmade: None,
            visits: HashMap::new(),
            records: HashMap::default(),
        }
    }
}

/// The step that is open.
pub(super) struct OpenStep {
    pub(super) tasks: Vec<Task>,
    /// Beginnings of tasks with an effect, by their place, where one is decided.
    pub(super) decided: HashMap<usize, Decided>,
    pub(super) calls: Calls,
    /// Packets that its tasks have made.
    pub(super) packets: Packets,
    /// The place of the task that runs alone; the others that wait are held back.
    pub(super) alone: Option<usize>,
    /// Which tasks are held back, by their place.
    pub(super) held: Vec<bool>,
    /// Nodes that were visited as often as they may be, and lead elsewhere.
    pub(super) beyond: Vec<NodeIx>,
}

impl OpenStep {
    pub(super) fn new(shared: &Shared) -> Self {
        Self {
            tasks: Vec::new(),
            decided: HashMap::new(),
            calls: Calls::of(shared),
            packets: Packets::default(),
            alone: None,
            held: Vec::new(),
            beyond: Vec::new(),
        }
    }
}

/// Data that a resume brings along for the first step.
pub(super) struct Resumed {
    pub(super) pending: Vec<PendingWrite>,
    pub(super) questions: Questions,
    /// Give finished tasks of an open step their stored writes back instead of running them again.
    pub(super) keep_finished: bool,
    /// Tasks of the open step that were given their stored writes back.
    pub(super) given_back: HashSet<TaskId>,
    /// Will writes stored on the checkpoint that the run starts from be read by its branch alone?
    pub(super) owns_start: bool,
    /// Does this step go on where an earlier run left it? Nested graphs ask; None after the first step.
    pub(super) resuming: Option<bool>,
    /// Answers that tasks of the open step were given before, by task; none when the run goes back behind them.
    pub(super) given: HashMap<TaskId, Vec<Value>>,
}

impl Resumed {
    pub(super) fn new(resuming: Option<bool>) -> Self {
        Self {
            pending: Vec::new(),
            questions: Questions::default(),
            keep_finished: true,
            given_back: HashSet::new(),
            owns_start: true,
            resuming,
            given: HashMap::new(),
        }
    }
}

/// Counts of a run so far, without the work of taking the input.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) steps: u64,
    pub(super) tasks: u64,
    pub(super) writes: u64,
}

/// Results and counts that are reported of a run.
#[derive(Default)]
pub(super) struct Report {
    pub(super) interrupts: Vec<Interrupt>,
    pub(super) any_values: bool,
    /// The result, if a step that wrote none of it has cleared a part meanwhile.
    pub(super) kept: Option<Value>,
    pub(super) counts: Counts,
    pub(super) size: StateSize,
}
