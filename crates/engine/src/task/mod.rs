//! Tasks: which ones a checkpoint gives, and what each of them is.

mod failure;
mod output;
mod place;
mod shown;
pub mod spans;
mod work;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::base::ids::{CheckpointId, Name, TaskId};
use crate::graph::handler::NodeFailed;
use crate::graph::plan::{ChannelIx, NodeIx, Plan};
use crate::state::live::{Applied, Channel, Live, Writes};
use crate::state::view::input_view;
use crate::value::{List, Object, Value};

pub(crate) use failure::{failure_of, repr};
pub(crate) use output::{goto, write};
pub(crate) use place::{Place, derived_task_id};
pub(crate) use shown::{count_state_writes, result_of, result_view, return_of, targets, update_view};
pub(crate) use work::{End, Instead, Outcome, Work, input_of};

use place::{packet_path, task_id};

/// Why a task is there.
#[derive(Clone)]
pub(crate) enum Origin {
    /// The node was triggered.
    Pull,
    /// Index among the queued packets.
    Packet(usize),
    /// Another task called it: the caller, and the number of the call.
    Call(Arc<Head>, usize),
    /// It takes over from a task that failed.
    Failure(Arc<TakeOver>),
}

/// What a task takes over from.
#[derive(Debug)]
pub(crate) struct TakeOver {
    /// The path of the failed task.
    path: Value,
    pub(crate) failed: NodeFailed,
}

/// Where the steps of a run take place: one for all of them.
pub(crate) struct Ground {
    pub(crate) plan: Arc<Plan>,
    /// The namespace of the graph.
    pub(crate) ns: Name,
}

/// The step that tasks belong to: what their ids are made from.
#[derive(Clone)]
pub(crate) struct Stage {
    ground: Arc<Ground>,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) step: i64,
}

impl Stage {
    pub(crate) fn new(plan: &Arc<Plan>, ns: &Name, checkpoint: &CheckpointId, step: i64) -> Self {
        let ground = Ground {
            plan: plan.clone(),
            ns: ns.clone(),
        };
        Self::on(&Arc::new(ground), checkpoint, step)
    }

    pub(crate) fn on(ground: &Arc<Ground>, checkpoint: &CheckpointId, step: i64) -> Self {
        Self {
            ground: ground.clone(),
            checkpoint: checkpoint.clone(),
            step,
        }
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.ground.plan
    }

    fn at(&self) -> (&str, &CheckpointId, i64) {
        (&self.ground.ns, &self.checkpoint, self.step)
    }
}

/// What a task is. Its id and its path as text are made when somebody asks: most runs never do.
pub(crate) struct Head {
    pub(crate) stage: Stage,
    /// None for a call, whose work is its own.
    pub(crate) node: Option<NodeIx>,
    pub(crate) name: Name,
    pub(crate) origin: Origin,
    id: OnceLock<TaskId>,
    path_text: OnceLock<Name>,
}

/// One task of a super-step.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) head: Arc<Head>,
    pub(crate) input: Value,
    pub(crate) writes: Writes,
}

impl std::ops::Deref for Task {
    type Target = Head;
    fn deref(&self) -> &Head {
        &self.head
    }
}

impl Head {
    fn new(stage: &Stage, node: Option<NodeIx>, name: Name, origin: Origin) -> Self {
        Self {
            stage: stage.clone(),
            node,
            name,
            origin,
            id: OnceLock::new(),
            path_text: OnceLock::new(),
        }
    }

    /// Of a task whose id and path do not follow from what it is.
    pub(crate) fn known(
        stage: &Stage,
        node: Option<NodeIx>,
        name: Name,
        origin: Origin,
        id: TaskId,
        path_text: Name,
    ) -> Self {
        Self {
            id: id.into(),
            path_text: path_text.into(),
            ..Self::new(stage, node, name, origin)
        }
    }

    /// A hash of where the task stands: whoever prepares the same step again gives it the same id.
    pub(crate) fn id(&self) -> &TaskId {
        self.id.get_or_init(|| match (&self.origin, self.node) {
            (Origin::Packet(index), _) => {
                task_id(self.stage.at(), &self.name, "__pregel_push", [index.to_string()])
            }
            (_, Some(node)) => {
                let triggers = self.stage.plan().trigger_names(node);
                task_id(self.stage.at(), &self.name, "__pregel_pull", triggers)
            }
            (_, None) => task_id(self.stage.at(), &self.name, "__pregel_pull", [""; 0]),
        })
    }

    /// The path as text that sorts.
    pub(crate) fn path_text(&self) -> &Name {
        self.path_text.get_or_init(|| match (&self.origin, self.node) {
            (Origin::Packet(index), _) => packet_path(*index).into(),
            (_, Some(node)) => self.stage.plan().node(node).path_text(),
            (_, None) => "".into(),
        })
    }

    pub(crate) fn path(&self) -> Value {
        let push = Value::from("__pregel_push");
        match &self.origin {
            Origin::Pull => vec![Value::from("__pregel_pull"), Value::String(self.name.clone())].into(),
            Origin::Packet(index) => vec![push, Value::from(*index), Value::Bool(false)].into(),
            Origin::Call(caller, index) => {
                vec![push, caller.path(), Value::from(*index), Value::Bool(true)].into()
            }
            Origin::Failure(over) => {
                let failed = over.path.as_array().into_iter().flat_map(List::iter);
                let mut path: List = failed.take(3).cloned().collect();
                path.push(Value::from("node_error_handler"));
                path.push(Value::Bool(false));
                path.into()
            }
        }
    }
    pub(crate) fn triggers(&self) -> Vec<Name> {
        match (&self.origin, self.node) {
            (Origin::Pull, Some(node)) => self.stage.plan().trigger_names(node).cloned().collect(),
            _ => vec!["__pregel_push".into()],
        }
    }
    pub(crate) fn pulled(&self) -> bool {
        matches!(self.origin, Origin::Pull)
    }
    pub(crate) fn is_call(&self) -> bool {
        matches!(self.origin, Origin::Call(..))
    }
    /// What it takes over from.
    pub(crate) fn failed(&self) -> Option<&NodeFailed> {
        match &self.origin {
            Origin::Failure(over) => Some(&over.failed),
            _ => None,
        }
    }
    /// What accompanies all that it tells.
    pub(crate) fn metadata(&self) -> &Object {
        static NONE: LazyLock<Object> = LazyLock::new(Object::new);
        self.node
            .map_or(&NONE, |node| &self.stage.plan().node(node).more().metadata)
    }
    /// START is part of no event.
    pub(crate) fn is_start(&self) -> bool {
        self.node
            .is_some_and(|node| self.stage.plan().node(node).is_start())
    }
    /// The namespace that the task's questions are named in, and graphs that it runs keep their checkpoints under.
    pub(crate) fn ns(&self) -> String {
        let around = match self.caller() {
            Some(caller) => Cow::Owned(caller.ns()),
            None => Cow::Borrowed(&*self.stage.ground.ns),
        };
        let separator = if around.is_empty() { "" } else { "|" };
        format!("{around}{separator}{}:{}", self.name, self.id())
    }
    /// The tasks that called it, the nearest first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = &Head> {
        std::iter::successors(self.caller(), |head| head.caller())
    }
    /// The namespace of the task that called it, below that of the graph; none when it was not called.
    pub(crate) fn caller_segments(&self, graph: &[String]) -> Option<Arc<[String]>> {
        self.caller()?;
        let called: Vec<&Head> = self.callers().collect();
        let callers = called
            .iter()
            .rev()
            .map(|head| format!("{}:{}", head.name, head.id()));
        Some(graph.iter().cloned().chain(callers).collect())
    }
    fn caller(&self) -> Option<&Head> {
        match &self.origin {
            Origin::Call(caller, _) => Some(caller),
            _ => None,
        }
    }
}

/// The task of a call made by `caller`.
pub(crate) fn called(caller: &Task, call: &crate::graph::call::Call) -> Task {
    let (name, index, stage) = (call.task.name.clone(), call.index, &caller.stage);
    let around = caller.path_text();
    let id = task_id(
        stage.at(),
        &name,
        "__pregel_push",
        [&**around, &index.to_string()],
    );
    let path = format!("~__pregel_push, {around}, {index:010}, {:010}", 1);
    let origin = Origin::Call(caller.head.clone(), index);
    Task {
        head: Arc::new(Head::known(stage, None, name, origin, id, path.into())),
        input: call.args.clone(),
        writes: Vec::new(),
    }
}

/// The task of `handler` that takes over from `task`.
pub(crate) fn taking_over(task: &Task, (node, name): (NodeIx, Name), failed: NodeFailed) -> Task {
    let stage = &task.stage;
    let rest = ["node_error_handler", task.id().as_str()];
    let id = task_id(stage.at(), &name, "__pregel_push", rest);
    let path = format!("{}, node_error_handler, {:010}", task.path_text(), 0);
    let origin = Origin::Failure(Arc::new(TakeOver {
        path: task.path(),
        failed,
    }));
    Task {
        head: Arc::new(Head::known(stage, Some(node), name, origin, id, path.into())),
        input: task.input.clone(),
        writes: Vec::new(),
    }
}

/// The tasks of the super-step that starts from `live`: packets in queue order, then triggered nodes.
pub(crate) fn prepare(live: &Live, stage: &Stage, updated: Option<&[ChannelIx]>) -> Vec<Task> {
    let mut tasks = Vec::new();
    prepare_into(&mut tasks, live, stage, updated);
    tasks
}

/// The same, in the place of the tasks before.
pub(crate) fn prepare_into(tasks: &mut Vec<Task>, live: &Live, stage: &Stage, updated: Option<&[ChannelIx]>) {
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
            head: Arc::new(Head::new(stage, Some(node), name, Origin::Packet(index))),
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
            head: Arc::new(Head::new(stage, Some(node), spec.name.clone(), Origin::Pull)),
            input,
            writes: Vec::new(),
        });
    }
}

/// A task's writes, ready to be applied.
pub(crate) fn applied_of<'a>(task: &'a Task, writes: &'a [(Channel, Value)]) -> Applied<'a> {
    Applied {
        name: &task.name,
        // A handler is no node that a thread remembers the triggers of.
        node: task.node.filter(|_| task.failed().is_none()),
        place: match task.origin {
            Origin::Packet(index) => Place::Packet(index),
            _ => Place::Of(&task.head),
        },
        pulled: task.pulled(),
        writes,
    }
}
