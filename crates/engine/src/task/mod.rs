//! Tasks: which ones a checkpoint gives, and what each of them is.

mod output;
mod shown;
pub mod spans;
mod work;

use std::sync::Arc;

use crate::graph::handler::NodeFailed;
use crate::graph::plan::{ChannelIx, NodeIx};
use crate::graph::task::{FailedTask, Origin, StepContext, TaskHeader, TaskOrder, task_id};
use crate::graph::writes::{Channel, Writes};
use crate::state::live::{Applied, Live};
use crate::state::view::input_view;
use crate::value::Value;

pub(crate) use output::{goto, write};
pub(crate) use shown::{count_state_writes, result_of, result_view, return_of, targets, update_view};
pub(crate) use work::{End, Substitute, TaskOutcome, TaskWork, input_of};

/// One task of a super-step.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) head: Arc<TaskHeader>,
    pub(crate) input: Value,
    pub(crate) writes: Writes,
}

impl std::ops::Deref for Task {
    type Target = TaskHeader;
    fn deref(&self) -> &TaskHeader {
        &self.head
    }
}

/// Creates the task of a call made by `caller`.
pub(crate) fn called(caller: &Task, call: &crate::graph::call::Call) -> Task {
    let (name, index, stage) = (call.task.name.clone(), call.index, &caller.stage);
    let around = caller.path_text();
    let path = format!("~__pregel_push, {around}, {index:010}, {:010}", 1);
    let id = stage.id_at(&path, || {
        task_id(
            stage.address(),
            &name,
            "__pregel_push",
            [&**around, &index.to_string()],
        )
    });
    let origin = Origin::Call(caller.head.clone(), index);
    Task {
        head: Arc::new(TaskHeader::known(stage, None, name, origin, id, path.into())),
        input: call.args.clone(),
        writes: Vec::new(),
    }
}

/// Creates the task of the node `handler` that takes over from `task`.
pub(crate) fn taking_over(task: &Task, handler: NodeIx, failed: NodeFailed) -> Task {
    let stage = &task.stage;
    let name = stage.plan().node(handler).name.clone();
    let rest = ["node_error_handler", task.id().as_str()];
    let path = format!("{}, node_error_handler, {:010}", task.path_text(), 0);
    let id = stage.id_at(&path, || task_id(stage.address(), &name, "__pregel_push", rest));
    let origin = Origin::Failure(Arc::new(FailedTask {
        path: task.path(),
        failed,
    }));
    Task {
        head: Arc::new(TaskHeader::known(
            stage,
            Some(handler),
            name,
            origin,
            id,
            path.into(),
        )),
        input: task.input.clone(),
        writes: Vec::new(),
    }
}

/// Prepares the tasks of the super-step that starts from `live`: packets in queue order, then triggered nodes.
pub(crate) fn prepare(live: &Live, stage: &StepContext, updated: Option<&[ChannelIx]>) -> Vec<Task> {
    let mut tasks = Vec::new();
    prepare_into(&mut tasks, live, stage, updated);
    tasks
}

/// Prepares the tasks of a super-step, in place of the earlier ones.
pub(crate) fn prepare_into(
    tasks: &mut Vec<Task>,
    live: &Live,
    stage: &StepContext,
    updated: Option<&[ChannelIx]>,
) {
    let plan = &live.plan;
    tasks.clear();
    for (index, queued) in live.packets().enumerate() {
        let name = queued.get("node").and_then(Value::as_str).unwrap_or_default();
        let Some(&node) = plan.node_index.get(name) else {
            tracing::warn!("ignoring unknown node name {name} in pending sends");
            continue;
        };
        let name = plan.node(node).name.clone();
        tasks.push(Task {
            head: Arc::new(TaskHeader::new(stage, Some(node), name, Origin::Packet(index))),
            input: queued.get("arg").cloned().unwrap_or_default(),
            writes: Vec::new(),
        });
    }
    for node in live.triggered_nodes(updated) {
        let spec = plan.node(node);
        let input = match &spec.input {
            _ if node == 0 => live.value(plan.start_channel).cloned().unwrap_or_default(),
            Some(keys) => input_view(plan, &live.state, Some(keys)),
            None => live.whole_view(),
        };
        tasks.push(Task {
            head: Arc::new(TaskHeader::new(
                stage,
                Some(node),
                spec.name.clone(),
                Origin::Pull,
            )),
            input,
            writes: Vec::new(),
        });
    }
}

/// Returns a task's writes, ready to be applied.
pub(crate) fn applied_of<'a>(task: &'a Task, writes: &'a [(Channel, Value)]) -> Applied<'a> {
    Applied {
        name: &task.name,
        // A handler is no node that a thread remembers the triggers of.
        node: task.node.filter(|_| task.failed().is_none()),
        place: match task.origin {
            Origin::Packet(index) => TaskOrder::Packet(index),
            _ => TaskOrder::Of(&task.head),
        },
        pulled: task.pulled(),
        writes,
    }
}
