//! Reading threads: the state at a checkpoint, its tasks, and what waits.
//!
//! The same checkpoint reads in two ways. Live (no checkpoint id): finished tasks of the open step are applied and no
//! longer next. Addressed: the state as the step began, with every task of the step and how it ended.

use std::collections::HashSet;
use std::sync::Arc;

use crate::checkpoint::{CheckpointHead, CheckpointTuple, ListQuery, PendingWrite, reserved};
use crate::compiled::{Graph, StateRef};
use crate::context::interrupt_id;
use crate::delta;
use crate::error::StateError;
use crate::ids::{InterruptId, Name, TaskId, ThreadId};
use crate::live::{Applied, Live, Writes, resolve};
use crate::plan::Plan;
use crate::stream::Interrupt;
use crate::task::{self, Task};
use crate::value::{List, Object, Value};

/// A task of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSnapshot {
    /// Id.
    pub id: TaskId,
    /// Node.
    pub name: Name,
    /// Path, e.g. `["__pregel_pull", "a"]`.
    pub path: Value,
    /// What the node is given.
    pub input: Value,
    /// Why it failed last, as `Class('message')`.
    pub error: Option<String>,
    /// Its questions; in a live snapshot only unanswered ones.
    pub interrupts: Vec<Interrupt>,
    /// Its writes to state keys; None unless it finished.
    pub result: Option<Value>,
    /// Nodes that its stored writes lead to.
    pub targets: Vec<Name>,
}

/// The state of a thread at a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSnapshot {
    /// The thread.
    pub thread: ThreadId,
    /// State keys that have a value.
    pub values: Value,
    /// What runs next.
    pub next: Vec<Name>,
    /// The checkpoint; None when the thread has none.
    pub checkpoint: Option<CheckpointHead>,
    /// Its tasks.
    pub tasks: Vec<TaskSnapshot>,
    /// The questions of all tasks.
    pub interrupts: Vec<Interrupt>,
}

fn config_json(thread: &ThreadId, ns: &str, id: Option<&crate::ids::CheckpointId>) -> Value {
    let mut inner = Object::new();
    inner.insert("thread_id", thread);
    inner.insert("checkpoint_ns", ns);
    if let Some(id) = id {
        inner.insert("checkpoint_id", id);
    }
    Value::Object([("configurable", Value::Object(inner))].into_iter().collect())
}

/// Metadata as LangGraph's checkpoints show it.
pub(crate) fn metadata_json(metadata: &crate::checkpoint::Metadata) -> Value {
    let mut object = Object::new();
    object.insert("source", metadata.source.as_str());
    object.insert("step", metadata.step);
    object.insert("parents", metadata.parents.clone());
    for (key, value) in metadata.user.iter() {
        object.insert(key.clone(), value.clone());
    }
    Value::Object(object)
}

fn names(names: &[Name]) -> Value {
    Value::Array(names.iter().cloned().map(Value::String).collect())
}

impl StateSnapshot {
    /// LangGraph's shape: values, next, config, metadata, created_at, parent_config, tasks, interrupts.
    pub fn to_json(&self) -> Value {
        let head = self.checkpoint.as_ref();
        let ns = head.map_or("", |head| &*head.ns);
        let tasks: List = self
            .tasks
            .iter()
            .map(|task| {
                let entries: Object = [
                    ("id", Value::from(&task.id)),
                    ("name", Value::String(task.name.clone())),
                    ("path", task.path.clone()),
                    ("error", task.error.clone().into()),
                    ("interrupts", interrupts_json(&task.interrupts)),
                    ("state", Value::Null),
                    ("result", task.result.clone().unwrap_or_default()),
                ]
                .into_iter()
                .collect();
                Value::Object(entries)
            })
            .collect();
        let entries: Object = [
            ("values", self.values.clone()),
            ("next", names(&self.next)),
            ("config", config_json(&self.thread, ns, head.map(|head| &head.id))),
            ("metadata", head.map(|head| metadata_json(&head.metadata)).into()),
            ("created_at", head.map(|head| head.ts.as_str()).into()),
            (
                "parent_config",
                head.and_then(|head| head.parent.as_ref())
                    .map(|id| config_json(&self.thread, ns, Some(id)))
                    .into(),
            ),
            ("tasks", Value::Array(tasks)),
            ("interrupts", interrupts_json(&self.interrupts)),
        ]
        .into_iter()
        .collect();
        Value::Object(entries)
    }
}

pub(crate) fn interrupts_json(interrupts: &[Interrupt]) -> Value {
    Value::Array(interrupts.iter().map(Interrupt::to_json).collect())
}

/// A write that makes its task count as finished.
pub(crate) fn is_output(channel: &str) -> bool {
    !matches!(
        channel,
        reserved::ERROR | reserved::ERROR_SOURCE | reserved::INTERRUPT | reserved::RESUME
    )
}

/// What is stored about one task.
#[derive(Default)]
pub(crate) struct Stored {
    pub(crate) writes: Writes,
    pub(crate) error: Option<String>,
    pub(crate) interrupts: Vec<Interrupt>,
    answers: usize,
}

pub(crate) fn stored(plan: &Plan, id: &TaskId, pending: &[PendingWrite]) -> Stored {
    let mut stored = Stored::default();
    for PendingWrite { write, .. } in pending.iter().filter(|w| w.task_id == *id) {
        match &*write.channel {
            reserved::ERROR => stored.error = write.value.as_str().map(str::to_owned),
            reserved::INTERRUPT => {
                stored.interrupts = write
                    .value
                    .as_array()
                    .iter()
                    .flat_map(|l| l.iter())
                    .filter_map(Interrupt::from_json)
                    .collect();
            }
            reserved::RESUME => stored.answers = write.value.as_array().map_or(1, List::len),
            reserved::ERROR_SOURCE => {}
            _ => stored
                .writes
                .push((resolve(plan, &write.channel), write.value.clone())),
        }
    }
    stored
}

impl Stored {
    /// Questions that still wait: none of a finished task, and none that an answer has reached already.
    pub(crate) fn unanswered(&self, task_ns: &str) -> Vec<Interrupt> {
        if !self.writes.is_empty() {
            return Vec::new();
        }
        let answered =
            |interrupt: &Interrupt| (0..self.answers).any(|k| interrupt_id(task_ns, k) == interrupt.id);
        self.interrupts
            .iter()
            .filter(|interrupt| !answered(interrupt))
            .cloned()
            .collect()
    }
}

/// The questions of the open step that wait for an answer.
pub(crate) fn pending_questions(plan: &Plan, open: &[Task], pending: &[PendingWrite]) -> Vec<InterruptId> {
    let asked: HashSet<&TaskId> = pending
        .iter()
        .filter(|w| &*w.write.channel == reserved::INTERRUPT)
        .map(|w| &w.task_id)
        .collect();
    let asking = open.iter().filter(|task| asked.contains(&task.id));
    asking
        .flat_map(|task| stored(plan, &task.id, pending).unanswered(&task.ns()))
        .map(|question| question.id)
        .collect()
}

/// A task in a checkpoint event: with its error, its result, or neither.
pub(crate) fn task_json(plan: &Plan, task: &Task, pending: &[PendingWrite]) -> Value {
    let stored = stored(plan, &task.id, pending);
    let mut entry = Object::new();
    entry.insert("id", &task.id);
    entry.insert("name", task.name.clone());
    if let Some(error) = stored.error {
        entry.insert("error", error);
    } else {
        if !stored.writes.is_empty() {
            entry.insert("result", task::result_of(plan, &stored.writes));
        }
        entry.insert("interrupts", interrupts_json(&stored.interrupts));
    }
    entry.insert("state", Value::Null);
    Value::Object(entry)
}

/// What lists show of a checkpoint.
pub(crate) fn head_of(tuple: &CheckpointTuple) -> CheckpointHead {
    let checkpoint = &tuple.checkpoint;
    let unfinished = |channel: &str| {
        let mut tasks: Vec<&TaskId> = tuple
            .pending_writes
            .iter()
            .filter(|w| &*w.write.channel == channel)
            .map(|w| &w.task_id)
            .collect();
        tasks.dedup();
        let finished = |id: &&TaskId| {
            tuple
                .pending_writes
                .iter()
                .any(|w| w.task_id == **id && is_output(&w.write.channel))
        };
        tasks.iter().filter(|id| !finished(id)).count() as u32
    };
    CheckpointHead {
        ns: tuple.ns.clone(),
        id: checkpoint.id.clone(),
        parent: checkpoint.parent.clone(),
        ts: checkpoint.ts.clone(),
        metadata: checkpoint.metadata.clone(),
        next: checkpoint.next.clone(),
        updated_channels: checkpoint.updated_channels.clone(),
        interrupted: unfinished(reserved::INTERRUPT),
        failed: unfinished(reserved::ERROR),
    }
}

fn snapshot(plan: &Arc<Plan>, tuple: &CheckpointTuple, live: bool) -> Result<StateSnapshot, StateError> {
    let checkpoint = &tuple.checkpoint;
    let mut state = Live::load(plan.clone(), checkpoint);
    state.tracked = false;
    let step = checkpoint.metadata.step + 1;
    let mut tasks = task::prepare(&state, &checkpoint.id, step, None);
    // What a command wrote belongs to the values; where it jumped is not a task of this checkpoint.
    state.apply_null_writes(&tuple.pending_writes, false)?;
    let mut shown = Vec::with_capacity(tasks.len());
    for task in &mut tasks {
        let stored = stored(plan, &task.id, &tuple.pending_writes);
        shown.push(TaskSnapshot {
            id: task.id.clone(),
            name: task.name.clone(),
            path: task.path(),
            input: task.input.clone(),
            interrupts: if live {
                stored.unanswered(&task.ns())
            } else {
                stored.interrupts.clone()
            },
            result: (!stored.writes.is_empty()).then(|| task::result_of(plan, &stored.writes)),
            targets: task::targets(plan, &stored.writes),
            error: stored.error,
        });
        if live {
            task.writes = stored.writes;
        }
    }
    let next = tasks
        .iter()
        .filter(|task| task.writes.is_empty())
        .map(|task| task.name.clone())
        .collect();
    if tasks.iter().any(|task| !task.writes.is_empty()) {
        let mut applied: Vec<Applied<'_>> = tasks
            .iter()
            .filter(|task| !task.writes.is_empty())
            .map(|task| Applied {
                name: &task.name,
                node: Some(task.node),
                path: &task.path_text,
                pulled: task.push.is_none(),
                writes: &task.writes,
            })
            .collect();
        state.apply(&mut applied, true, false)?;
    }
    let interrupts = shown
        .iter()
        .flat_map(|task| task.interrupts.iter().cloned())
        .collect();
    Ok(StateSnapshot {
        thread: tuple.thread.clone(),
        values: state.values(),
        next,
        checkpoint: Some(head_of(tuple)),
        tasks: shown,
        interrupts,
    })
}

pub(crate) async fn get_state(graph: &Graph, at: &StateRef) -> Result<StateSnapshot, StateError> {
    let saver = graph.need_saver("get_state")?;
    match delta::get(&graph.plan, &**saver, &at.thread, "", at.checkpoint_id.as_ref()).await? {
        Some(tuple) => snapshot(&graph.plan, &tuple, at.checkpoint_id.is_none()),
        None => Ok(StateSnapshot {
            thread: at.thread.clone(),
            values: Value::Object(Object::new()),
            next: Vec::new(),
            checkpoint: None,
            tasks: Vec::new(),
            interrupts: Vec::new(),
        }),
    }
}

pub(crate) async fn history(
    graph: &Graph,
    thread: &ThreadId,
    query: &ListQuery,
) -> Result<Vec<StateSnapshot>, StateError> {
    let saver = graph.need_saver("get_state_history")?;
    let query = ListQuery {
        thread: Some(thread.clone()),
        ns: Some("".into()),
        ..query.clone()
    };
    delta::list(&graph.plan, &**saver, &query)
        .await?
        .iter()
        .map(|tuple| snapshot(&graph.plan, tuple, false))
        .collect()
}
