//! States of threads that another program makes, read without their graph: values, tasks, questions and answers as they are
//! stored. What only the graph knows is left out: what reducers would make of the writes of an open step, and edges that no
//! task took.

use std::collections::HashMap;

use crate::base::ids::{Name, TaskId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::foreign::{Foreign, ForeignTask};
use crate::checkpoint::types::{
    CheckpointAddress, CheckpointTuple, ListQuery, PendingWrite, StorageError, TaskStatus, reserved,
};
use crate::inspect::questions::questions;
use crate::inspect::snapshot::{StateSnapshot, TaskSnapshot, TaskState, head_of};
use crate::stream::events::Interrupt;
use crate::stream::request::StateRef;
use crate::value::{List, Object, Value};

/// The channel of a state that is one value.
const ROOT: &str = "__root__";

/// Returns whether a channel holds a key of the state, and nothing of how nodes are triggered.
fn is_state_key(name: &str) -> bool {
    let triggers = ["branch:", "join:", "start:"];
    (!name.starts_with("__") || name == ROOT) && !triggers.iter().any(|kind| name.starts_with(kind))
}

/// Returns the node that a write to this channel triggers.
fn target_of(channel: &str) -> Option<&str> {
    if let Some(node) = channel.strip_prefix("branch:to:") {
        return Some(node);
    }
    let rest = channel
        .strip_prefix("branch:")
        .or_else(|| channel.strip_prefix("join:"))
        .or_else(|| channel.strip_prefix("start:"))?;
    rest.rsplit(':').next().filter(|node| !node.is_empty())
}

impl dyn Checkpointer + '_ {
    /// Reads the state of a thread that another program makes; `None` when there is no such checkpoint. Refused with
    /// [`StorageError::Unsupported`] by a saver of threads of our own, whose states their graphs read.
    pub async fn foreign_state(&self, at: &StateRef) -> Result<Option<StateSnapshot>, StorageError> {
        let foreign = self.as_foreign()?;
        let tuple = self.get(&at.thread, &at.ns, at.checkpoint_id.as_ref()).await?;
        match tuple {
            Some(tuple) => {
                let live = at.checkpoint_id.is_none();
                Ok(Some(snapshot(self, foreign, tuple, live).await?))
            }
            None => Ok(None),
        }
    }

    /// Reads states of a thread that another program makes, the newest first, each as its step began.
    pub async fn foreign_history(&self, query: &ListQuery) -> Result<Vec<StateSnapshot>, StorageError> {
        let foreign = self.as_foreign()?;
        let mut states = Vec::new();
        for tuple in self.list(query).await? {
            states.push(snapshot(self, foreign, tuple, false).await?);
        }
        Ok(states)
    }

    fn as_foreign(&self) -> Result<&dyn Foreign, StorageError> {
        let none = StorageError::Unsupported("reading threads without their graph");
        self.foreign().ok_or(none)
    }
}

async fn snapshot(
    saver: &dyn Checkpointer,
    foreign: &dyn Foreign,
    tuple: CheckpointTuple,
    live: bool,
) -> Result<StateSnapshot, StorageError> {
    let head = head_of(&tuple);
    let CheckpointTuple {
        thread,
        ns,
        checkpoint,
        pending_writes,
    } = tuple;
    let values: Object = checkpoint
        .channel_values
        .iter()
        .filter(|(name, _)| is_state_key(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let address = CheckpointAddress::new(thread.clone(), ns.clone(), checkpoint.id.clone());
    let known = foreign.tasks(&address).await?;
    let mut by_task: HashMap<&TaskId, Vec<PendingWrite>> = HashMap::new();
    for row in &pending_writes {
        by_task.entry(&row.task_id).or_default().push(row.clone());
    }
    let mut tasks = Vec::with_capacity(known.len());
    let mut next = Vec::new();
    for task in known {
        let own = by_task.remove(&task.id).unwrap_or_default();
        let status = TaskStatus::of(&task.id, own.iter().map(|row| &*row.write.channel));
        if !live || !status.finished {
            next.push(task.name.clone());
        }
        let nested = nested_ns(&ns, &task);
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns(nested.clone())
            .limit(1);
        let has_nested = !saver.heads(&query).await?.is_empty();
        let mut shown = task_snapshot(task, &own, &values);
        if live && status.finished {
            shown.interrupts.clear();
        }
        shown.state = has_nested.then_some(TaskState::Ns(nested));
        tasks.push(shown);
    }
    let interrupts: Vec<Interrupt> = tasks.iter().flat_map(|task| task.interrupts.clone()).collect();
    Ok(StateSnapshot {
        thread,
        ns,
        values: Value::Object(values),
        next,
        checkpoint: Some(head),
        tasks,
        interrupts,
    })
}

/// Returns where the graph of a task keeps its checkpoints, if the task runs one.
fn nested_ns(ns: &str, task: &ForeignTask) -> Name {
    let own = format!("{}:{}", task.name, task.id);
    match ns {
        "" => own.into(),
        ns => format!("{ns}|{own}").into(),
    }
}

fn task_snapshot(task: ForeignTask, own: &[PendingWrite], values: &Object) -> TaskSnapshot {
    let mut written: Vec<(Name, Vec<Value>)> = Vec::new();
    let mut targets = Vec::new();
    let mut error = None;
    let mut finished = false;
    for PendingWrite { write, .. } in own {
        let channel = &*write.channel;
        if channel == reserved::ERROR {
            let text = write.value.as_str().map(str::to_owned);
            error = Some(text.unwrap_or_else(|| write.value.to_string()));
        }
        if reserved::is_control(channel) {
            continue;
        }
        finished = true;
        if channel == reserved::TASKS {
            let node = write.value.get("node").and_then(Value::as_str);
            targets.extend(node.map(Name::from));
        } else if let Some(node) = target_of(channel) {
            targets.push(node.into());
        // Programs of before 2025 mark with a channel of the node's own name that it ran.
        } else if is_state_key(channel) && *channel != *task.name {
            match written.iter_mut().find(|(name, _)| **name == *channel) {
                Some((_, values)) => values.push(write.value.clone()),
                None => written.push((write.channel.clone(), vec![write.value.clone()])),
            }
        }
    }
    let result = written.into_iter().map(|(name, mut values)| match values.len() {
        1 => (name, values.remove(0)),
        _ => (name, Value::Array(values.into_iter().collect::<List>())),
    });
    let result = finished.then(|| Value::Object(result.collect()));
    TaskSnapshot {
        interrupts: questions(own),
        id: task.id,
        name: task.name,
        path: task.path,
        input: task.packet.unwrap_or_else(|| Value::Object(values.clone())),
        error,
        result,
        targets,
        state: None,
    }
}
