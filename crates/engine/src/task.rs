//! Tasks: which ones a checkpoint gives, and running one of them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use smallvec::SmallVec;
use tracing::Span;

use crate::call::TaskFn;
use crate::channel::packet;
use crate::checkpoint::reserved::{END, RETURN, START};
use crate::context::NodeContext;
use crate::entries::{Writer, add_command_writes, add_writes};
use crate::handler::NodeFailed;
use crate::ids::{CheckpointId, Name, TaskId, uuid_text};
use crate::live::{Applied, Channel, Live, Writes};
use crate::node::{
    Command, CommandGraph, Failure, Interrupted, Node, NodeError, NodeOutput, Packet, ParentCommand, Target,
};
use crate::observe::{self, Ending};
use crate::plan::{ChannelIx, NodeIx, Plan, Shown};
use crate::timeout::Timeout;
use crate::value::{List, Object, Value};
use crate::view::{input_view, router_view};

/// Why a task is there.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The node was triggered.
    Pull,
    /// Index among the queued packets.
    Packet(usize),
    /// Another task called it: the caller's path, and the number of the call.
    Call(Value, usize),
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
                vec![push, caller.clone(), Value::from(*index), Value::Bool(true)].into()
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
    /// START is part of no event.
    pub(crate) fn is_start(&self) -> bool {
        self.node
            .is_some_and(|node| self.stage.plan().node(node).is_start())
    }
    /// The namespace that the task's questions are named in, and graphs that it runs keep their checkpoints under.
    pub(crate) fn ns(&self) -> String {
        let graph = &self.stage.ground.ns;
        let separator = if graph.is_empty() { "" } else { "|" };
        format!("{graph}{separator}{}:{}", self.name, self.id())
    }
}

fn packet_path(index: usize) -> String {
    format!("~__pregel_push, {index:010}, {:010}", 0)
}

/// Where a task stands among the tasks of its step: pulled nodes by name, then packets by index.
pub(crate) enum Place<'a> {
    Packet(usize),
    Of(&'a Head),
    Text(&'a str),
}

impl Place<'_> {
    /// The order of the texts, without making them where the numbers tell.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Place::Packet(a), Place::Packet(b)) => a.cmp(b),
            (a, b) => a.text().cmp(&b.text()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Place::Packet(index) => packet_path(*index).into(),
            Place::Of(head) => (&**head.path_text()).into(),
            Place::Text(text) => (*text).into(),
        }
    }
}

/// Stands between the parts that a task's id is made from.
const BETWEEN: u8 = 0x1f;

/// A UUID-looking hash: the same checkpoint and path always give the same id.
fn task_id(
    (ns, checkpoint, step): (&str, &CheckpointId, i64),
    name: &str,
    kind: &str,
    rest: impl IntoIterator<Item: AsRef<str>>,
) -> TaskId {
    let mut text: SmallVec<[u8; 256]> = SmallVec::new();
    text.extend_from_slice(checkpoint.as_str().as_bytes());
    text.push(BETWEEN);
    text.extend_from_slice(ns.as_bytes());
    text.push(BETWEEN);
    let mut digits = [0; 20];
    let mut room = &mut digits[..];
    // The longest number has twenty characters.
    let _ = write!(room, "{step}");
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

/// The id under which an update of an edit is filed when no task of its node waits.
pub(crate) fn derived_task_id(checkpoint: &CheckpointId, step: i64, position: usize) -> TaskId {
    task_id(("", checkpoint, step), "", "update", [position.to_string()])
}

/// The task of a call made by `caller`.
pub(crate) fn called(caller: &Task, call: &crate::call::Call) -> Task {
    let (name, index, stage) = (call.task.name.clone(), call.index, &caller.stage);
    let around = caller.path_text();
    let id = task_id(
        stage.at(),
        &name,
        "__pregel_push",
        [&**around, &index.to_string()],
    );
    let path = format!("~__pregel_push, {around}, {index:010}, {:010}", 1);
    let origin = Origin::Call(caller.path(), index);
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

/// How a task ended.
pub(crate) enum End {
    Done,
    Failed(Failure),
    Interrupted(Interrupted),
    /// The graph around is to go on with this command.
    Parent(Box<Command>),
    Drained(String),
    Cancelled,
}

pub(crate) struct Outcome {
    pub(crate) writes: Writes,
    pub(crate) end: End,
    pub(crate) answers: Option<Vec<Value>>,
}

/// The work of a task, whatever attempt it is.
#[derive(Clone)]
pub(crate) struct Work {
    /// The state that routers see.
    pub(crate) state: Arc<Vec<Option<Value>>>,
    pub(crate) input: Value,
    /// What a called task does; the task's node otherwise.
    pub(crate) call: Option<TaskFn>,
}

impl Work {
    /// Does it to its end: the node, then its edges and routers. A panic in the node is a failure of the task.
    pub(crate) async fn run(self, context: &NodeContext, stand_in: Option<Arc<dyn Node>>) -> Outcome {
        let mut writes = Vec::new();
        let span = match context.head().is_start() {
            true => Span::none(),
            false => observe::attempt(context),
        };
        let mut ending = Ending::of(&span);
        let end = {
            let work = pin!(self.write(context, stand_in, &mut writes));
            contained(work, &span).await
        };
        ending.task(&end);
        Outcome {
            writes,
            end,
            answers: context.used_answers(),
        }
    }

    async fn write(
        self,
        context: &NodeContext,
        stand_in: Option<Arc<dyn Node>>,
        writes: &mut Writes,
    ) -> Result<(), NodeError> {
        if let Some(call) = &self.call {
            if let NodeOutput::Update(value) = call.run(context.clone(), self.input).await? {
                writes.push((Channel::Named(RETURN.into()), value));
            }
            return Ok(());
        }
        let head = context.head();
        let (plan, index) = (head.stage.plan(), head.node.unwrap_or_default());
        let output = match stand_in.as_ref().or(plan.node(index).node.as_ref()) {
            Some(node) => match node.run(context.clone(), self.input).await {
                // What a nested graph sent up is this node's output.
                Err(NodeError::Parent(up)) if up.arrived => NodeOutput::Command(*up.command),
                ended => ended?,
            },
            None => output_of_start(self.input),
        };
        write(plan, &self.state, index, output, context, writes).await
    }
}

/// How `work` ended; a panic is a failure.
async fn contained(
    mut work: Pin<&mut (impl Future<Output = Result<(), NodeError>> + Send)>,
    span: &Span,
) -> End {
    let ended = poll_fn(|cx| {
        let _in_span = span.enter();
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    });
    match ended.await {
        Ok(Ok(())) => End::Done,
        Ok(Err(NodeError::Failed(failure))) => End::Failed(failure),
        Ok(Err(NodeError::Interrupt(asked))) => End::Interrupted(asked),
        Ok(Err(NodeError::Parent(up))) => End::Parent(up.command),
        Ok(Err(NodeError::Drained(reason))) => End::Drained(reason),
        Ok(Err(NodeError::Cancelled)) => End::Cancelled,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            let said = said.unwrap_or_else(|| "no message".into());
            End::Failed(Failure::new("Panic", format!("the node panicked: {said}")))
        }
    }
}

/// The key under which START is given a command instead of values. No channel can have this name.
const COMMAND: &str = "__command__";

/// A command as an input for START, which keeps it in the thread's first checkpoint.
pub(crate) fn input_of(command: &Command) -> Value {
    let target = |target: &Target| match target {
        Target::Node(name) => Value::String(name.clone()),
        Target::Send(send) => packet(send),
    };
    let parts: Object = [
        ("update", command.update.clone().unwrap_or_default()),
        ("goto", command.goto.iter().map(target).collect::<List>().into()),
    ]
    .into_iter()
    .collect();
    Value::Object([(COMMAND, parts)].into_iter().collect())
}

/// What START does with its input: it writes it, or does what the command says.
fn output_of_start(input: Value) -> NodeOutput {
    let Some(parts) = input.get(COMMAND) else {
        return NodeOutput::Update(input);
    };
    let target = |target: &Value| match target {
        Value::String(name) => Some(Target::Node(name.clone())),
        packet => Some(Target::Send(Packet {
            node: packet.get("node")?.as_str()?.into(),
            arg: packet.get("arg").cloned().unwrap_or_default(),
            timeout: packet.get("timeout").map(Timeout::from_json),
        })),
    };
    let goto = parts.get("goto").and_then(Value::as_array);
    NodeOutput::Command(Command {
        update: parts.get("update").filter(|update| !update.is_null()).cloned(),
        goto: goto
            .iter()
            .flat_map(|targets| targets.iter())
            .filter_map(target)
            .collect(),
        ..Command::default()
    })
}

/// What a node's output writes: state, commands, static edges, joins, then what its routers decide.
pub(crate) async fn write(
    plan: &Plan,
    state: &[Option<Value>],
    node: NodeIx,
    output: NodeOutput,
    context: &NodeContext,
    writes: &mut Writes,
) -> Result<(), NodeError> {
    let spec = plan.node(node);
    // A router sees what its node returned below the state, unless the node returned a command.
    let returned = match &output {
        NodeOutput::Update(Value::Object(returned)) if !spec.branches.is_empty() => Some(returned.clone()),
        _ => None,
    };
    write_output(plan, node, output, writes)?;
    for channel in &spec.edges {
        writes.push((Channel::Known(*channel), Value::Null));
    }
    for channel in &spec.joins {
        writes.push((Channel::Known(*channel), Value::String(spec.name.clone())));
    }
    for branch in &spec.branches {
        let fresh = match &branch.input {
            Some(keys) => router_view(plan, state, writes, &spec.name, None, Some(keys))?,
            None => router_view(
                plan,
                state,
                writes,
                &spec.name,
                returned.as_ref(),
                spec.input.as_deref(),
            )?,
        };
        // Where a router leads is checked as a whole before any of it is written.
        let mut targets = branch.router.route(context.clone(), fresh).await?;
        for target in &mut targets {
            let (Target::Node(label), Some(paths)) = (target, &branch.paths) else {
                continue;
            };
            let Some(found) = paths.get(label).or(branch.default.as_ref()) else {
                let mut known: Vec<&str> = paths.keys().map(|label| &**label).collect();
                known.sort_unstable();
                return Err(NodeError::new(
                    "KeyError",
                    format!(
                        "'{label}': the conditional edge `{}` of `{}` has no path with this label. Its labels are {}. \
                         Add the path or a default.",
                        branch.name,
                        spec.name,
                        known.join(", ")
                    ),
                ));
            };
            *label = found.clone();
        }
        if (targets.iter())
            .any(|target| matches!(target, Target::Node(name) if &**name == START || name.is_empty()))
        {
            return Err(NodeError::new(
                "ValueError",
                "Branch did not return a valid destination",
            ));
        }
        if (targets.iter()).any(|target| matches!(target, Target::Send(send) if &*send.node == END)) {
            return Err(NodeError::new(
                "InvalidUpdateError",
                "Cannot send a packet to the END node",
            ));
        }
        for target in targets {
            goto(plan, target, writes);
        }
    }
    Ok(())
}

/// The updates of a node's output, then where its commands lead.
fn write_output(plan: &Plan, node: NodeIx, output: NodeOutput, writes: &mut Writes) -> Result<(), NodeError> {
    let mut targets = Vec::new();
    write_updates(plan, node, output, writes, &mut targets)?;
    for target in targets {
        goto(plan, target, writes);
    }
    Ok(())
}

fn write_updates(
    plan: &Plan,
    node: NodeIx,
    output: NodeOutput,
    writes: &mut Writes,
    targets: &mut Vec<Target>,
) -> Result<(), NodeError> {
    let spec = plan.node(node);
    let writer = if spec.is_start() {
        Writer::Input
    } else {
        Writer::Node(&spec.name)
    };
    let refused = |message| NodeError::new("InvalidUpdateError", message);
    if let Some(previous) = plan.previous_channel {
        let (value, save) = match output {
            NodeOutput::Update(value) => (value.clone(), value),
            NodeOutput::Final { value, save } => (value, save),
            NodeOutput::Command(Command {
                update, resume: None, ..
            }) => {
                let value = update.unwrap_or_default();
                (value.clone(), value)
            }
            _ => {
                return Err(refused(format!(
                    "`{}` is an entry point: it returns one value.",
                    spec.name
                )));
            }
        };
        writes.push((Channel::Known(0), value));
        writes.push((Channel::Known(previous), save));
        return Ok(());
    }
    match output {
        NodeOutput::Final { .. } => Err(refused(format!(
            "Node `{}` returned a final value, which only an entry point can. Return an update.",
            spec.name
        ))),
        NodeOutput::Update(update) => add_writes(plan, writer, &update, writes).map_err(refused),
        NodeOutput::Command(command) if command.graph == CommandGraph::Parent => {
            Err(NodeError::Parent(ParentCommand {
                command: Box::new(Command {
                    graph: CommandGraph::Current,
                    ..command
                }),
                arrived: false,
            }))
        }
        NodeOutput::Command(Command { update, goto, .. }) => {
            targets.extend(goto);
            match update {
                Some(update) => add_command_writes(plan, writer, &update, writes).map_err(refused),
                None => Ok(()),
            }
        }
        NodeOutput::Many(items) => items
            .into_iter()
            .try_for_each(|item| write_updates(plan, node, item, writes, targets)),
    }
}

/// Writes what leads to `target`: the trigger of a node, or a packet in the queue. A name that no node has is kept
/// among the task's writes, where it says why nothing followed.
pub(crate) fn goto(plan: &Plan, target: Target, writes: &mut Writes) {
    match target {
        Target::Node(name) if &*name == END => {}
        Target::Node(name) => match plan.node_index.get(&name) {
            Some(node) if &*name != START => {
                writes.push((Channel::Known(plan.node(*node).branch_channel), Value::Null));
            }
            _ => writes.push((Channel::Named(format!("branch:to:{name}").into()), Value::Null)),
        },
        Target::Send(send) => writes.push((Channel::Known(plan.tasks_channel), packet(&send))),
    }
}

/// Writes to state keys as `updates` shows them: an object, single-key objects in a list when a key was written
/// twice, or null.
pub(crate) fn update_view(plan: &Plan, writes: &Writes, shown: &Shown) -> Value {
    if let Some(value) = return_of(writes) {
        return value.clone();
    }
    let visible = || {
        writes.iter().filter_map(|(channel, value)| match channel {
            Channel::Known(index) if shown.has(plan, *index) => Some((*index, value)),
            _ => None,
        })
    };
    if plan.is_root || matches!(shown, Shown::Key(_)) {
        let mut values: Vec<Value> = visible().map(|(_, value)| value.clone()).collect();
        return match values.len() {
            0 | 1 => values.pop().unwrap_or_default(),
            _ => values.into(),
        };
    }
    let mut whole = Object::new();
    let mut list = List::new();
    let mut repeated = false;
    for (index, value) in visible() {
        let name = &plan.channel(index).name;
        repeated |= whole.contains_key(name);
        list.push(Value::Object(
            [(name.clone(), value.clone())].into_iter().collect(),
        ));
        whole.insert(name.clone(), value.clone());
    }
    match (whole.is_empty(), repeated) {
        (true, _) => Value::Null,
        (_, true) => Value::Array(list),
        _ => Value::Object(whole),
    }
}

/// Writes to state keys as results show them: `{"$writes": [...]}` for a key written more than once.
pub(crate) fn result_view(plan: &Plan, writes: &Writes) -> Value {
    if let Some(value) = return_of(writes) {
        return Value::Object([(RETURN, value.clone())].into_iter().collect());
    }
    let mut whole = Object::new();
    let mut counts: BTreeMap<Name, List> = BTreeMap::new();
    for (name, value) in state_writes(plan, writes) {
        let all = counts.entry(name.clone()).or_default();
        all.push(value.clone());
        let shown = match all.len() {
            1 => value.clone(),
            _ => Value::Object([("$writes", Value::Array(all.clone()))].into_iter().collect()),
        };
        whole.insert(name.clone(), shown);
    }
    Value::Object(whole)
}

/// What snapshots show as a finished task's result: the bare value when the state is one value.
pub(crate) fn result_of(plan: &Plan, writes: &Writes) -> Value {
    let result = result_view(plan, writes);
    if plan.is_root {
        return result.get(&plan.channel(0).name).cloned().unwrap_or_default();
    }
    result
}

/// What a call returned.
pub(crate) fn return_of(writes: &Writes) -> Option<&Value> {
    let is_return = |channel: &Channel| matches!(channel, Channel::Named(name) if &**name == RETURN);
    let found = writes.iter().find(|(channel, _)| is_return(channel));
    found.map(|(_, value)| value)
}

fn state_writes<'a>(plan: &'a Plan, writes: &'a Writes) -> impl Iterator<Item = (&'a Name, &'a Value)> {
    writes.iter().filter_map(|(channel, value)| match channel {
        Channel::Known(index) if plan.is_state_key(*index) => Some((&plan.channel(*index).name, value)),
        _ => None,
    })
}

/// How many of the writes go to state keys.
pub(crate) fn count_state_writes(plan: &Plan, writes: &Writes) -> u64 {
    state_writes(plan, writes).count() as u64
}

/// Nodes that writes lead to, packets included, each as often as it is named.
pub(crate) fn targets(plan: &Plan, writes: &Writes) -> Vec<Name> {
    let name = |node: NodeIx| plan.node(node).name.clone();
    writes
        .iter()
        .filter_map(|(channel, value)| match channel {
            Channel::Known(index) if *index == plan.tasks_channel => plan
                .node_index
                .get(value.get("node")?.as_str()?)
                .map(|node| name(*node)),
            Channel::Known(index) => {
                let channel = plan.channel(*index);
                channel.branch_target.or(channel.join_target).map(name)
            }
            Channel::Named(_) => None,
        })
        .collect()
}

/// `Class('message')`, as errors are stored and shown.
pub(crate) fn repr(failure: &Failure) -> String {
    let message = &failure.message;
    let quote = match message.contains('\'') && !message.contains('"') {
        true => '"',
        false => '\'',
    };
    let mut shown = format!("{}({quote}", failure.class);
    for c in message.chars() {
        let escaped = ESCAPES
            .iter()
            .find(|(plain, _)| *plain == c && (c != '\'' || quote == '\''));
        if escaped.is_some() {
            shown.push('\\');
        }
        shown.push(escaped.map_or(c, |(_, letter)| *letter));
    }
    shown.push(quote);
    shown.push(')');
    shown
}

/// Characters that stand behind a backslash in [`repr`], and how.
const ESCAPES: [(char, char); 5] = [('\\', '\\'), ('\n', 'n'), ('\r', 'r'), ('\t', 't'), ('\'', '\'')];

/// The failure that [`repr`] showed so.
pub(crate) fn failure_of(shown: &str) -> Failure {
    let (class, rest) = shown.split_once('(').unwrap_or(("Exception", shown));
    let message = rest.strip_suffix(')').unwrap_or(rest);
    let quote = message.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let inner = quote.and_then(|quote| message.strip_prefix(quote)?.strip_suffix(quote));
    let mut text = String::with_capacity(message.len());
    let mut chars = inner.unwrap_or(message).chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => chars.next().map(|letter| {
                let known = ESCAPES.iter().find(|(_, escaped)| *escaped == letter);
                known.map_or(letter, |(plain, _)| *plain)
            }),
            c => Some(c),
        };
        text.extend(plain);
    }
    Failure::new(class, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_failure_reads_back() {
        let cases = [
            ("bad", "E('bad')"),
            ("it's", "E(\"it's\")"),
            ("it's \"so\"", "E('it\\'s \"so\"')"),
            ("C:\\new\nline (1)", "E('C:\\\\new\\nline (1)')"),
            ("", "E('')"),
        ];
        for (message, shown) in cases {
            let failure = Failure::new("E", message);
            assert_eq!(repr(&failure), shown);
            assert_eq!(failure_of(shown), failure);
        }
    }
}
