//! Identity of a task: its place in its step, and the id that follows from it.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::Write as _;
use std::sync::{Arc, LazyLock, OnceLock};

use smallvec::SmallVec;

use crate::base::ids::{CheckpointId, Name, TaskId, uuid_text};
use crate::checkpoint::foreign::GivenTasks;
use crate::checkpoint::types::{Checkpoint, Metadata};
use crate::graph::handler::NodeFailed;
use crate::graph::plan::{NodeIx, Plan};
use crate::value::{List, Object, Value};

/// Reason why a task exists.
#[derive(Clone)]
pub(crate) enum Origin {
    /// The node was triggered.
    Pull,
    /// Index among the queued packets.
    Packet(usize),
    /// Another task called it: the caller, and the number of the call.
    Call(Arc<TaskHeader>, usize),
    /// It takes over from a task that failed.
    Failure(Arc<FailedTask>),
}

/// Failed task that another task takes over from.
#[derive(Debug)]
pub(crate) struct FailedTask {
    /// The path of the failed task.
    pub(crate) path: Value,
    pub(crate) failed: NodeFailed,
}

/// Graph and namespace in which the steps of a run take place: one for all of them.
pub(crate) struct GraphScope {
    pub(crate) plan: Arc<Plan>,
    /// The namespace of the graph.
    pub(crate) ns: Name,
}

/// The step that tasks belong to: what their ids are made from.
#[derive(Clone)]
pub(crate) struct StepContext {
    scope: Arc<GraphScope>,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) step: i64,
    /// Set at a checkpoint of another program.
    given: Option<GivenTasks>,
}

impl StepContext {
    pub(crate) fn new(plan: &Arc<Plan>, ns: &Name, checkpoint: &CheckpointId, step: i64) -> Self {
        let scope = GraphScope {
            plan: plan.clone(),
            ns: ns.clone(),
        };
        Self::on(&Arc::new(scope), checkpoint, step)
    }

    pub(crate) fn on(scope: &Arc<GraphScope>, checkpoint: &CheckpointId, step: i64) -> Self {
        Self {
            scope: scope.clone(),
            checkpoint: checkpoint.clone(),
            step,
            given: None,
        }
    }

    /// Creates the context of the step that begins at a stored checkpoint.
    pub(crate) fn at(plan: &Arc<Plan>, ns: &Name, checkpoint: &Checkpoint) -> Self {
        let metadata = &checkpoint.metadata;
        Self::new(plan, ns, &checkpoint.id, metadata.next_step()).given_in(metadata)
    }

    /// Takes the ids of tasks from a checkpoint that another program made.
    pub(crate) fn given_in(mut self, metadata: &Metadata) -> Self {
        self.given = GivenTasks::of(metadata);
        self
    }

    /// Returns the id of the task at a path: the one that another program gave it, or else one that is made.
    pub(crate) fn id_at(&self, path: &str, make: impl FnOnce() -> TaskId) -> TaskId {
        let given = self.given.as_ref().and_then(|given| given.id(path));
        given.unwrap_or_else(make)
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.scope.plan
    }

    pub(crate) fn address(&self) -> StepAddress<'_> {
        StepAddress {
            ns: &self.scope.ns,
            checkpoint: &self.checkpoint,
            step: self.step,
        }
    }
}

/// Description of a task. Its id and its path as text are created on demand: most runs never need them.
pub(crate) struct TaskHeader {
    pub(crate) stage: StepContext,
    /// None for a call, whose work is its own.
    pub(crate) node: Option<NodeIx>,
    pub(crate) name: Name,
    pub(crate) origin: Origin,
    id: OnceLock<TaskId>,
    path_text: OnceLock<Name>,
}

impl TaskHeader {
    pub(crate) fn new(stage: &StepContext, node: Option<NodeIx>, name: Name, origin: Origin) -> Self {
        Self {
            stage: stage.clone(),
            node,
            name,
            origin,
            id: OnceLock::new(),
            path_text: OnceLock::new(),
        }
    }

    /// Creates the header of a task whose id and path do not follow from what it is.
    pub(crate) fn known(
        stage: &StepContext,
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

    /// Returns the id, a hash of the place of the task: preparing the same step again gives it the same id.
    pub(crate) fn id(&self) -> &TaskId {
        self.id.get_or_init(|| match self.stage.given {
            None => self.made_id(),
            Some(_) => self.stage.id_at(self.path_text(), || self.made_id()),
        })
    }

    fn made_id(&self) -> TaskId {
        match (&self.origin, self.node) {
            (Origin::Packet(index), _) => task_id(
                self.stage.address(),
                &self.name,
                "__pregel_push",
                [index.to_string()],
            ),
            (_, Some(node)) => {
                let triggers = self.stage.plan().trigger_names(node);
                task_id(self.stage.address(), &self.name, "__pregel_pull", triggers)
            }
            (_, None) => task_id(self.stage.address(), &self.name, "__pregel_pull", [""; 0]),
        }
    }

    /// Returns the path as text that sorts.
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
    /// Returns the failed node that the task takes over from.
    pub(crate) fn failed(&self) -> Option<&NodeFailed> {
        match &self.origin {
            Origin::Failure(over) => Some(&over.failed),
            _ => None,
        }
    }
    /// Returns the metadata of all events of the task.
    pub(crate) fn metadata(&self) -> &Object {
        static NONE: LazyLock<Object> = LazyLock::new(Object::new);
        self.node
            .map_or(&NONE, |node| &self.stage.plan().node(node).more().metadata)
    }
    /// Returns whether the task is START, which is part of no event.
    pub(crate) fn is_start(&self) -> bool {
        self.node
            .is_some_and(|node| self.stage.plan().node(node).is_start())
    }
    /// Returns the namespace that the task's questions are named in, and that graphs which it runs keep their
    /// checkpoints under.
    pub(crate) fn ns(&self) -> String {
        let around = match self.caller() {
            Some(caller) => Cow::Owned(caller.ns()),
            None => Cow::Borrowed(&*self.stage.scope.ns),
        };
        let separator = if around.is_empty() { "" } else { "|" };
        format!("{around}{separator}{}:{}", self.name, self.id())
    }
    /// Returns the tasks that called this one, directly or through others, the nearest first.
    pub(crate) fn callers(&self) -> impl Iterator<Item = &TaskHeader> {
        std::iter::successors(self.caller(), |head| head.caller())
    }
    /// Returns the namespace of the task that called this one, below that of the graph; none when it was not called.
    pub(crate) fn caller_segments(&self, graph: &[String]) -> Option<Arc<[String]>> {
        self.caller()?;
        let called: Vec<&TaskHeader> = self.callers().collect();
        let callers = called
            .iter()
            .rev()
            .map(|head| format!("{}:{}", head.name, head.id()));
        Some(graph.iter().cloned().chain(callers).collect())
    }
    fn caller(&self) -> Option<&TaskHeader> {
        match &self.origin {
            Origin::Call(caller, _) => Some(caller),
            _ => None,
        }
    }
}

pub(crate) fn packet_path(index: usize) -> String {
    format!("~__pregel_push, {index:010}, {:010}", 0)
}

/// Position of a task among the tasks of its step: pulled nodes by name, then packets by index.
pub(crate) enum TaskOrder<'a> {
    Packet(usize),
    Of(&'a TaskHeader),
    Text(&'a str),
}

impl TaskOrder<'_> {
    /// Compares the order of the texts, without creating them where the numbers decide it.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (TaskOrder::Packet(a), TaskOrder::Packet(b)) => a.cmp(b),
            (a, b) => a.text().cmp(&b.text()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            TaskOrder::Packet(index) => packet_path(*index).into(),
            TaskOrder::Of(head) => (&**head.path_text()).into(),
            TaskOrder::Text(text) => (*text).into(),
        }
    }
}

/// Separator of the parts that a task's id is made from.
const BETWEEN: u8 = 0x1f;

/// Place of a step in its thread, by which its tasks get their ids.
#[derive(Clone, Copy)]
pub(crate) struct StepAddress<'a> {
    pub(crate) ns: &'a str,
    pub(crate) checkpoint: &'a CheckpointId,
    pub(crate) step: i64,
}

/// Computes a hash that looks like a UUID: the same checkpoint and path always give the same id.
pub(crate) fn task_id(
    at: StepAddress<'_>,
    name: &str,
    kind: &str,
    rest: impl IntoIterator<Item: AsRef<str>>,
) -> TaskId {
    let mut text: SmallVec<[u8; 256]> = SmallVec::new();
    text.extend_from_slice(at.checkpoint.as_str().as_bytes());
    text.push(BETWEEN);
    text.extend_from_slice(at.ns.as_bytes());
    text.push(BETWEEN);
    let mut digits = [0; 20];
    let mut room = &mut digits[..];
    // The longest number has twenty characters.
    let _ = write!(room, "{}", at.step);
    let left = room.len();
    text.extend_from_slice(&digits[..digits.len() - left]);
    for part in [name, kind] {
        text.push(BETWEEN);
        text.extend_from_slice(part.as_bytes());
    }
    for part in rest {
        text.push(BETWEEN);
        text.extend_from_slice(part.as_ref().as_bytes());
    }
    let hash = xxhash_rust::xxh3::xxh3_128(&text);
    TaskId::new(uuid_text(uuid::Uuid::from_u128(hash)))
}

/// Returns the id under which an update of an edit is stored when no task of its node waits.
pub(crate) fn derived_task_id(checkpoint: &CheckpointId, step: i64, position: usize) -> TaskId {
    let at = StepAddress {
        ns: "",
        checkpoint,
        step,
    };
    task_id(at, "", "update", [position.to_string()])
}
