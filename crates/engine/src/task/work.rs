//! Running a task: its node to the end, and what follows from what it returns.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use tracing::Span;

use super::output::write;
use crate::base::command::{Command, Packet, Target};
use crate::base::failure::Failure;
use crate::base::ids::Name;
use crate::base::timeout::Timeout;
use crate::channel::packet;
use crate::checkpoint::types::reserved::RETURN;
use crate::graph::call::TaskFn;
use crate::graph::context::NodeContext;
use crate::graph::node::{Interrupted, Node, NodeError, NodeOutput};
use crate::graph::task::Origin;
use crate::graph::writes::{Channel, Writes};
use crate::policy::effect::Effect;
use crate::state::entries::add_message;
use crate::task::spans::{self, Ending};
use crate::value::{List, Object, Value};

/// The end of a task.
pub(crate) enum End {
    Done,
    Failed(Failure),
    Interrupted(Interrupted),
    /// The graph around is to go on with this command.
    Parent(Box<Command>),
    Drained(String),
    Cancelled,
}

pub(crate) struct TaskOutcome {
    pub(crate) writes: Writes,
    pub(crate) end: End,
    pub(crate) answers: Option<Vec<Value>>,
    /// The stored form of what it read and decided, in runs that record it.
    pub(crate) record: Option<Value>,
}

/// The work of a task, whatever attempt it is.
#[derive(Clone)]
pub(crate) struct TaskWork {
    /// The state that routers see.
    pub(crate) state: Arc<Vec<Option<Value>>>,
    pub(crate) input: Value,
    /// What a called task does; the task's node otherwise.
    pub(crate) call: Option<Arc<TaskFn>>,
    /// What happens instead of the node's work.
    pub(crate) instead: Option<Box<Substitute>>,
}

/// Substitute for the work of a node.
#[derive(Clone)]
pub(crate) enum Substitute {
    /// It asks this, as its question of that number.
    Ask(Value, usize),
    /// It returned this.
    Give(NodeOutput),
    /// Its output is pinned: this update.
    Pinned(Value),
    /// It fails: it may not work any more.
    Fail(Failure),
}

/// Returns the keys of the state that a task's node was given, where only some were.
fn given(context: &NodeContext) -> Option<Vec<Name>> {
    let head = context.head();
    let node = head.node.filter(|_| matches!(head.origin, Origin::Pull))?;
    let plan = head.stage.plan();
    let keys = plan.node(node).input.as_ref()?;
    Some(keys.iter().map(|key| plan.channel(*key).name.clone()).collect())
}

impl TaskWork {
    /// Runs the work to its end: the node, then its edges and routers. A panic in the node is a failure of the task.
    pub(crate) async fn run(self, context: &NodeContext, fallback: Option<Arc<dyn Node>>) -> TaskOutcome {
        let mut writes = Vec::new();
        let span = match context.head().is_start() {
            true => Span::none(),
            false => spans::attempt(context),
        };
        let mut ending = Ending::of(&span);
        let end = {
            let work = pin!(self.write(context, fallback, &mut writes));
            contained(work, &span).await
        };
        ending.task(&end);
        TaskOutcome {
            writes,
            end: claimed(end, context),
            answers: context.used_answers(),
            record: context
                .recorder()
                .and_then(|recorder| recorder.take(|| given(context))),
        }
    }

    async fn write(
        self,
        context: &NodeContext,
        fallback: Option<Arc<dyn Node>>,
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
        let once = plan.node(index).more().effect == Some(Effect::Once);
        let output = match (
            self.instead.map(|instead| *instead),
            fallback.as_ref().or(plan.node(index).node.as_ref()),
        ) {
            (Some(Substitute::Ask(question, index)), _) => {
                return Err(NodeError::Interrupt(Interrupted::Question { question, index }));
            }
            (Some(Substitute::Give(output)), _) => output,
            (Some(Substitute::Fail(failure)), _) => return Err(NodeError::Failed(failure)),
            (Some(Substitute::Pinned(update)), _) => {
                if let Some(recorder) = context.recorder() {
                    recorder.pinned();
                }
                NodeOutput::Update(update)
            }
            (None, Some(node)) => match node.run(context.clone(), self.input).await {
                // The answer would find a node that began already, and could not be distinguished from a broken one.
                Err(NodeError::Interrupt(_)) if once => {
                    let name = &plan.node(index).name;
                    let why = format!(
                        "node {name}: a node with the effect `once` cannot ask in the middle of its work. Ask in a node before it"
                    );
                    return Err(NodeError::new("EffectError", why));
                }
                // What a nested graph sent up is this node's output.
                Err(NodeError::Parent(up)) if up.arrived => NodeOutput::Command(*up.command),
                ended => ended?,
            },
            (None, None) => output_of_start(self.input),
        };
        for (key, message) in context.take_pushed() {
            add_message(plan, &plan.node(index).name, &key, &message, writes)
                .map_err(|why| NodeError::new("InvalidUpdateError", why))?;
        }
        write(plan, &self.state, index, output, context, writes).await
    }
}

/// Checks the end that a node claims for its task. A task that claims to be cancelled when nobody stopped the run has
/// failed.
fn claimed(end: End, context: &NodeContext) -> End {
    if !matches!(end, End::Cancelled) || context.is_cancelled() {
        return end;
    }
    let node = &context.info().node;
    End::Failed(Failure::new(
        "NodeCancelledError",
        format!("Node '{node}' ended as cancelled, but nobody stopped the run."),
    ))
}

/// Runs `work` and returns its end; a panic is a failure.
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
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            let message = message.unwrap_or_else(|| "no message".into());
            End::Failed(Failure::new("Panic", format!("the node panicked: {message}")))
        }
    }
}

/// The key under which START is given a command instead of values. No channel can have this name.
const COMMAND: &str = "__command__";

/// Converts a command to an input for START, which keeps it in the thread's first checkpoint.
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

/// Returns the output of START for its input: it writes the input, or does what the command says.
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
