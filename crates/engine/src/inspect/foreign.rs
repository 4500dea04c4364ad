//! States of threads that another program makes, read without their graph: values, tasks, questions and answers as they are
//! stored. What only the graph knows is left out: what reducers would make of the writes of an open step, and edges that no
//! task took.

use std::collections::HashMap;

use crate::base::ids::{Name, TaskId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::foreign::{Foreign, ForeignTask};
use crate::checkpoint::types::{
    CheckpointAddress, CheckpointHead, CheckpointTuple, ListQuery, PendingWrite, StorageError, TaskStatus,
    reserved,
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
    // An entry point keeps what it returned, and what its next run is given.
    let is_shown = [ROOT, reserved::END, reserved::PREVIOUS].contains(&name);
    (!name.starts_with("__") || is_shown) && !triggers.iter().any(|kind| name.starts_with(kind))
}

/// A task that stored something, and where it led.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignWork {
    /// Id of the task.
    pub task: TaskId,
    /// Its node.
    pub node: Name,
    /// It ended with a result.
    pub finished: bool,
    /// The node was marked as done and nothing says whom that triggers, as in files of before 2025: what is next shows it.
    pub marked: bool,
    /// Ways that it took, each once.
    pub ways: Vec<ForeignWay>,
}

/// A way that a task took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignWay {
    /// The node that it leads to.
    pub to: Name,
    /// All nodes that the target waits for; none where it waits for no other.
    pub joins: Vec<Name>,
    /// Packets that were sent along it; 0 for a way that carries none.
    pub packets: u32,
}

/// A checkpoint with the tasks that worked from there on.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignStep {
    /// The checkpoint.
    pub head: CheckpointHead,
    /// Tasks that stored something, in the order of their rows.
    pub work: Vec<ForeignWork>,
}

/// Returns the way that a write of a task to this channel stands for.
fn way_of(write: &PendingWrite) -> Option<ForeignWay> {
    let channel = &*write.write.channel;
    if channel == reserved::TASKS {
        let to = write.write.value.get("node").and_then(Value::as_str)?.into();
        return Some(ForeignWay {
            to,
            joins: Vec::new(),
            packets: 1,
        });
    }
    let to = Name::from(target_of(channel)?);
    let joins = channel
        .strip_prefix("join:")
        .and_then(|rest| rest.rsplit_once(':'));
    let joins = joins.map(|(from, _)| from.split('+').map(Name::from).collect());
    Some(ForeignWay {
        to,
        joins: joins.unwrap_or_default(),
        packets: 0,
    })
}

/// Returns the node of a task as the path of its rows names it; `None` for a packet's, and for what is no task.
fn node_of_path(path: &str) -> Option<&str> {
    path.strip_prefix("~__pregel_pull, ")
        .filter(|node| !node.is_empty())
}

fn work_of(task: &TaskId, node: Name, own: &[&PendingWrite]) -> ForeignWork {
    let status = TaskStatus::of(task, own.iter().map(|row| &*row.write.channel));
    let mut ways: Vec<ForeignWay> = Vec::new();
    for way in own.iter().filter_map(|row| way_of(row)) {
        match ways
            .iter_mut()
            .find(|known| known.to == way.to && known.joins == way.joins)
        {
            Some(known) => known.packets += way.packets,
            None => ways.push(way),
        }
    }
    ForeignWork {
        task: task.clone(),
        finished: status.finished,
        marked: own.iter().any(|row| row.write.channel == node),
        node,
        ways,
    }
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
                Ok(Some(snapshot(foreign, tuple, live).await?))
            }
            None => Ok(None),
        }
    }

    /// Reads states of a thread that another program makes, the newest first, each as its step began.
    pub async fn foreign_history(&self, query: &ListQuery) -> Result<Vec<StateSnapshot>, StorageError> {
        let foreign = self.as_foreign()?;
        let mut states = Vec::new();
        for tuple in self.list(query).await? {
            states.push(snapshot(foreign, tuple, false).await?);
        }
        Ok(states)
    }

    /// Reads which tasks of a thread that another program makes stored something, and where they led, the newest checkpoint
    /// first.
    pub async fn foreign_steps(&self, query: &ListQuery) -> Result<Vec<ForeignStep>, StorageError> {
        let foreign = self.as_foreign()?;
        let Some(thread) = query.thread.clone() else {
            return Err(StorageError::Unsupported(
                "reading the steps of all threads at once",
            ));
        };
        let heads = self.heads(query).await?;
        let at =
            |head: &CheckpointHead| CheckpointAddress::new(thread.clone(), head.ns.clone(), head.id.clone());
        let addresses: Vec<CheckpointAddress> = heads.iter().map(at).collect();
        let writes = self.writes(&addresses).await?;
        let mut steps = Vec::with_capacity(heads.len());
        for ((head, rows), address) in heads.into_iter().zip(writes).zip(&addresses) {
            let mut by_task: Vec<(&TaskId, Vec<&PendingWrite>)> = Vec::new();
            for row in rows.iter().filter(|row| !row.task_id.is_null()) {
                match by_task.iter_mut().find(|(id, _)| **id == row.task_id) {
                    Some((_, own)) => own.push(row),
                    None => by_task.push((&row.task_id, vec![row])),
                }
            }
            // Of a packet only the checkpoint says for which node it was.
            let is_packet = |row: &PendingWrite| row.task_path.starts_with("~__pregel_push");
            let known = match rows.iter().any(is_packet) {
                true => foreign.tasks(address).await?,
                false => Vec::new(),
            };
            let work = by_task.into_iter().filter_map(|(id, own)| {
                let by_path = own.iter().find_map(|row| node_of_path(&row.task_path));
                let by_id = || {
                    known
                        .iter()
                        .find(|task| task.id == *id)
                        .map(|task| task.name.clone())
                };
                let node = by_path
                    .map(Name::from)
                    .or_else(by_id)
                    .filter(|node| !node.is_empty())?;
                Some(work_of(id, node, &own))
            });
            steps.push(ForeignStep {
                work: work.collect(),
                head,
            });
        }
        Ok(steps)
    }

    fn as_foreign(&self) -> Result<&dyn Foreign, StorageError> {
        let none = StorageError::Unsupported("reading threads without their graph");
        self.foreign().ok_or(none)
    }
}

async fn snapshot(
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
        let nested = task.graph.clone();
        let mut shown = task_snapshot(task, &own, &values);
        if live && status.finished {
            shown.interrupts.clear();
        }
        shown.state = nested.map(TaskState::Ns);
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
