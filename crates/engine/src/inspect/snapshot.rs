//! Reading threads: the state at a checkpoint, its tasks, and what waits.
//!
//! The same checkpoint reads in two ways. Live (no checkpoint id): finished tasks of the open step are applied and no
//! longer next. Addressed: the state as the step began, with every task of the step and how it ended.

use std::collections::HashSet;

use crate::base::failure::shown_of;
use crate::base::ids::{InterruptId, Name, TaskId, ThreadId};
use crate::checkpoint::types::{
    CheckpointHead, CheckpointTuple, ListQuery, PendingWrite, TaskStatus, reserved,
};
use crate::graph::compiled::Graph;
use crate::graph::context::interrupt_id;
use crate::graph::plan::{NodeIx, Plan, Shown};
use crate::graph::scope::{Persistence, graph_path, stable_ns};
use crate::graph::task::StepContext;
use crate::graph::writes::{Channel, Writes, resolve};
use crate::state::delta;
use crate::state::live::{Applied, Live};
use crate::stream::error::StateError;
use crate::stream::events::Interrupt;
use crate::stream::json::{config_json, metadata_json};
use crate::stream::request::StateRef;
use crate::stream::run_config::RunConfig;
use crate::task::{self, Task, applied_of};
use crate::value::{List, Object, Value};
use futures::future::BoxFuture;

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
    /// Of a node that runs another graph: that graph's state.
    pub state: Option<TaskState>,
}

/// The state of a graph that a task runs.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// Where it keeps its checkpoints.
    Ns(Name),
    /// The state itself, when it was asked for.
    Snapshot(Box<StateSnapshot>),
}

/// The state of a thread at a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct StateSnapshot {
    /// The thread.
    pub thread: ThreadId,
    /// Where the graph keeps its checkpoints, also when there is none yet: empty for the outermost graph.
    pub ns: Name,
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

fn names(names: &[Name]) -> Value {
    Value::Array(names.iter().cloned().map(Value::String).collect())
}

impl StateSnapshot {
    /// Returns whether this node, and no other, runs next.
    pub fn is_next(&self, node: &str) -> bool {
        matches!(self.next.as_slice(), [next] if &**next == node)
    }

    /// Returns the reference to this state, as reads and edits at its checkpoint take it.
    pub fn state_ref(&self) -> StateRef {
        let at = match &self.checkpoint {
            Some(head) => StateRef::at(self.thread.clone(), head.id.clone()),
            None => StateRef::live(self.thread.clone()),
        };
        at.within(self.ns.clone())
    }

    /// Returns the configuration of a run that goes on from here: a replay, or a fork after an edit.
    pub fn run_config(&self) -> RunConfig {
        RunConfig {
            checkpoint_id: self.checkpoint.as_ref().map(|head| head.id.clone()),
            ns: self.ns.clone(),
            ..RunConfig::on(self.thread.clone())
        }
    }

    /// Converts the snapshot to LangGraph's shape: values, next, config, metadata, created_at, parent_config, tasks,
    /// interrupts.
    pub fn to_json(&self) -> Value {
        let head = self.checkpoint.as_ref();
        let ns = &*self.ns;
        let parents = head.map(|head| head.metadata.parents.clone()).unwrap_or_default();
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
                    ("state", task.state_json(&self.thread)),
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
            (
                "config",
                config_json(&self.thread, ns, head.map(|head| &head.id), &parents),
            ),
            ("metadata", head.map(|head| metadata_json(&head.metadata)).into()),
            ("created_at", head.map(|head| head.ts.as_str()).into()),
            (
                "parent_config",
                head.and_then(|head| head.parent.as_ref())
                    .map(|id| config_json(&self.thread, ns, Some(id), &parents))
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

impl TaskSnapshot {
    fn state_json(&self, thread: &ThreadId) -> Value {
        match &self.state {
            None => Value::Null,
            Some(TaskState::Ns(ns)) => config_json(thread, ns, None, &Object::new()),
            Some(TaskState::Snapshot(snapshot)) => snapshot.to_json(),
        }
    }
}

pub(crate) fn interrupts_json(interrupts: &[Interrupt]) -> Value {
    Value::Array(interrupts.iter().map(Interrupt::to_json).collect())
}

/// Returns whether a write to the channel makes its task count as finished.
pub(crate) fn is_output(channel: &str) -> bool {
    !reserved::is_control(channel)
}

/// Stored records of one task.
#[derive(Default)]
pub(crate) struct StoredTask {
    pub(crate) writes: Writes,
    pub(crate) error: Option<String>,
    pub(crate) interrupts: Vec<Interrupt>,
    answers: usize,
}

pub(crate) fn stored(plan: &Plan, id: &TaskId, pending: &[PendingWrite]) -> StoredTask {
    let mut stored = StoredTask::default();
    for PendingWrite { write, .. } in pending.iter().filter(|w| w.task_id == *id) {
        match &*write.channel {
            reserved::ERROR => stored.error = write.value.as_str().map(shown_of),
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
            control if reserved::is_control(control) => {}
            _ => stored
                .writes
                .push((resolve(plan, &write.channel), write.value.clone())),
        }
    }
    stored
}

impl StoredTask {
    /// Returns the questions that still wait: none of a finished task, and none that an answer has reached already.
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

/// Returns the questions of the open step that wait for an answer. A question of a called task is its caller's too,
/// under the same id: it counts once.
pub(crate) fn pending_questions(plan: &Plan, open: &[Task], pending: &[PendingWrite]) -> Vec<InterruptId> {
    let asked: HashSet<&TaskId> = pending
        .iter()
        .filter(|w| &*w.write.channel == reserved::INTERRUPT)
        .map(|w| &w.task_id)
        .collect();
    let questions = asked.into_iter().flat_map(|id| {
        let stored = stored(plan, id, pending);
        match open.iter().find(|task| task.id() == id) {
            Some(task) => stored.unanswered(&task.ns()),
            None if stored.writes.is_empty() => stored.interrupts,
            None => Vec::new(),
        }
    });
    let ids: HashSet<InterruptId> = questions.map(|question| question.id).collect();
    ids.into_iter().collect()
}

/// Returns whether checkpoint events leave a result out: null, false, zero and anything empty.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Converts a task to its form in a checkpoint event: with its error, its result, or neither.
pub(crate) fn task_json(
    plan: &Plan,
    thread: &ThreadId,
    task: &Task,
    pending: &[PendingWrite],
    shown: &Shown,
) -> Value {
    let mut stored = stored(plan, task.id(), pending);
    if !matches!(shown, Shown::All) {
        let is_shown = |channel: &Channel| match channel {
            Channel::Known(index) => shown.has(plan, *index),
            Channel::Named(_) => true,
        };
        stored.writes.retain(|(channel, _)| is_shown(channel));
    }
    let mut entry = Object::new();
    entry.insert("id", task.id());
    entry.insert("name", task.name.clone());
    if let Some(error) = stored.error {
        entry.insert("error", error);
    } else {
        let mut result = task::result_of(plan, &stored.writes);
        if let Shown::Key(key) = shown
            && let Some(only) = result.get(&plan.channel(*key).name)
        {
            result = only.clone();
        }
        if !is_nothing(&result) {
            entry.insert("result", result);
        }
        entry.insert("interrupts", interrupts_json(&stored.interrupts));
    }
    let state = runs_graphs(plan, task).then(|| config_json(thread, &task.ns(), None, &Object::new()));
    entry.insert("state", state);
    Value::Object(entry)
}

/// Returns the graph whose state can be read at tasks of a node.
fn nested_of(plan: &Plan, node: NodeIx) -> Option<&Graph> {
    let keeps = |graph: &&Graph| graph.persistence != Persistence::Off;
    plan.node(node).more().graphs.iter().find(keeps)
}

fn runs_graphs(plan: &Plan, task: &Task) -> bool {
    task.node.is_some_and(|node| nested_of(plan, node).is_some())
}

/// Returns the part of a checkpoint that lists show.
pub(crate) fn head_of(tuple: &CheckpointTuple) -> CheckpointHead {
    let checkpoint = &tuple.checkpoint;
    let (mut interrupted, mut failed) = (0, 0);
    for status in TaskStatus::of_all(&tuple.pending_writes).into_values() {
        interrupted += u32::from(status.interrupted);
        failed += u32::from(status.failed);
    }
    CheckpointHead {
        ns: tuple.ns.clone(),
        id: checkpoint.id.clone(),
        parent: checkpoint.parent.clone(),
        ts: checkpoint.ts.clone(),
        metadata: checkpoint.metadata.clone(),
        next: checkpoint.next.clone(),
        updated_channels: checkpoint.updated_channels.clone(),
        interrupted,
        failed,
    }
}

/// Rules by which a checkpoint is read.
#[derive(Clone, Copy, Default)]
struct SnapshotRules {
    /// Finished tasks of the open step are applied and no longer next. Otherwise the state is shown as the step began.
    live: bool,
    /// The states of nested graphs are read, too.
    subgraphs: bool,
}

/// Reads the state of `graph`, whose checkpoints are at the namespace of `tuple`.
fn snapshot<'a>(
    graph: &'a Graph,
    tuple: &'a CheckpointTuple,
    rules: SnapshotRules,
) -> BoxFuture<'a, Result<StateSnapshot, StateError>> {
    Box::pin(async move {
        let plan = &graph.plan;
        let ns = &tuple.ns;
        let checkpoint = &tuple.checkpoint;
        let mut state = Live::load(plan.clone(), checkpoint);
        state.tracked = false;
        let stage = StepContext::at(plan, ns, checkpoint);
        let mut tasks = task::prepare(&state, &stage, None);
        // What a command wrote belongs to the values; where it jumped is not a task of this checkpoint.
        state.preview_null_writes(&tuple.pending_writes)?;
        let mut shown = Vec::with_capacity(tasks.len());
        for task in &mut tasks {
            let stored = stored(plan, task.id(), &tuple.pending_writes);
            let nested = match rules.subgraphs {
                true => nested_state(graph, tuple, task).await?,
                false => nested_ns(graph, task),
            };
            let interrupts = match rules.live {
                true => stored.unanswered(&task.ns()),
                false => stored.interrupts.clone(),
            };
            shown.push(task_snapshot(plan, task, &stored, interrupts, nested));
            if rules.live {
                task.writes = stored.writes;
            }
        }
        let next = tasks
            .iter()
            .filter(|task| task.writes.is_empty())
            .map(|task| task.name.clone())
            .collect();
        let mut applied: Vec<Applied<'_>> = tasks
            .iter()
            .filter(|task| !task.writes.is_empty())
            .map(|task| applied_of(task, &task.writes))
            .collect();
        if !applied.is_empty() {
            state.preview_step(&mut applied)?;
            // As in LangGraph, what lasts for one step only is not shown before that step begins.
            state.preview_step(&mut [])?;
        }
        let interrupts = shown
            .iter()
            .flat_map(|task| task.interrupts.iter().cloned())
            .collect();
        Ok(StateSnapshot {
            thread: tuple.thread.clone(),
            ns: tuple.ns.clone(),
            values: state.values(),
            next,
            checkpoint: Some(head_of(tuple)),
            tasks: shown,
            interrupts,
        })
    })
}

/// Returns where the graph that a task runs keeps its checkpoints.
fn nested_ns(graph: &Graph, task: &Task) -> Option<TaskState> {
    runs_graphs(&graph.plan, task).then(|| TaskState::Ns(task.ns().as_str().into()))
}

/// Reads the state of the graph that a task runs.
async fn nested_state(
    graph: &Graph,
    tuple: &CheckpointTuple,
    task: &Task,
) -> Result<Option<TaskState>, StateError> {
    let Some(nested) = task.node.and_then(|node| nested_of(&graph.plan, node)) else {
        return Ok(None);
    };
    let at = StateRef::live(tuple.thread.clone()).within(task.ns().as_str());
    let state = read(&inherit(nested, graph), &at.with_subgraphs()).await?;
    Ok(Some(TaskState::Snapshot(Box::new(state))))
}

/// Creates the snapshot of a task from what is stored of it.
fn task_snapshot(
    plan: &Plan,
    task: &Task,
    stored: &StoredTask,
    interrupts: Vec<Interrupt>,
    nested: Option<TaskState>,
) -> TaskSnapshot {
    TaskSnapshot {
        id: task.id().clone(),
        name: task.name.clone(),
        path: task.path(),
        input: task.input.clone(),
        interrupts,
        result: (!stored.writes.is_empty()).then(|| task::result_of(plan, &stored.writes)),
        targets: task::targets(plan, &stored.writes),
        error: stored.error.clone(),
        state: nested,
    }
}

/// Returns a nested graph as it runs inside `outer`: with its checkpointer and its ids.
fn inherit(nested: &Graph, outer: &Graph) -> Graph {
    let mut nested = nested.clone();
    nested.saver = nested.saver.or_else(|| outer.saver.clone());
    nested.clock = outer.clock.clone();
    nested.ids = outer.ids.clone();
    nested
}

/// Returns the graph that keeps its checkpoints at a namespace, and the namespace under which it keeps them.
pub(crate) fn locate(graph: &Graph, ns: &str) -> Option<(Graph, Name)> {
    let mut found = graph.clone();
    for name in graph_path(ns) {
        let node = found.plan.node_index.get(name)?;
        let nested = found.plan.node(*node).more().graphs.first()?;
        found = inherit(nested, &found);
    }
    let ns = match found.persistence {
        Persistence::Stateful => stable_ns(ns),
        _ => ns.to_owned(),
    };
    Some((found, ns.into()))
}

/// Reads the state of `graph` at a namespace that it keeps its checkpoints at.
async fn read(graph: &Graph, at: &StateRef) -> Result<StateSnapshot, StateError> {
    let ns = match graph.persistence {
        Persistence::Stateful => stable_ns(&at.ns),
        _ => at.ns.to_string(),
    };
    let saver = graph.need_saver("get_state")?;
    match delta::get(&graph.plan, &**saver, &at.thread, &ns, at.checkpoint_id.as_ref()).await? {
        Some(tuple) => {
            let rules = SnapshotRules {
                live: at.checkpoint_id.is_none(),
                subgraphs: at.subgraphs,
            };
            snapshot(graph, &tuple, rules).await
        }
        None => Ok(empty(&at.thread, ns.into())),
    }
}

fn empty(thread: &ThreadId, ns: Name) -> StateSnapshot {
    StateSnapshot {
        thread: thread.clone(),
        ns,
        values: Value::Object(Object::new()),
        next: Vec::new(),
        checkpoint: None,
        tasks: Vec::new(),
        interrupts: Vec::new(),
    }
}

pub(crate) async fn get_state(graph: &Graph, at: &StateRef) -> Result<StateSnapshot, StateError> {
    graph.need_saver("get_state")?;
    match locate(graph, &at.ns) {
        Some((graph, ns)) => read(&graph, &StateRef { ns, ..at.clone() }).await,
        None => Ok(empty(&at.thread, at.ns.clone())),
    }
}

pub(crate) async fn history(
    graph: &Graph,
    thread: &ThreadId,
    query: &ListQuery,
) -> Result<Vec<StateSnapshot>, StateError> {
    graph.need_saver("get_state_history")?;
    let Some((graph, ns)) = locate(graph, query.ns.as_deref().unwrap_or_default()) else {
        return Ok(Vec::new());
    };
    let query = query.clone().thread(thread.clone()).ns(ns);
    let saver = graph.need_saver("get_state_history")?;
    let mut shown = Vec::new();
    for tuple in delta::list(&graph.plan, &**saver, &query).await? {
        shown.push(snapshot(&graph, &tuple, SnapshotRules::default()).await?);
    }
    Ok(shown)
}
