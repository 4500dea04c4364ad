//! What a node is, what it is given and what it may return.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::base::command::{Command, CommandGraph, Target};
use crate::base::failure::Failure;
use crate::base::ids::Name;
use crate::graph::context::NodeContext;
use crate::store::StoreError;
use crate::stream::events::Interrupt;
use crate::value::decode::DecodeError;
use crate::value::{Object, Value};

/// The work of one node. It may run many times, in parallel, and again from its beginning after an interrupt.
///
/// ```
/// use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
///
/// struct Greet;
///
/// #[async_trait]
/// impl Node for Greet {
///     async fn run(&self, _: NodeContext, state: Value) -> Result<NodeOutput, NodeError> {
///         let name: String = state.get("name").cloned().unwrap_or_default().decode()?;
///         Ok(NodeOutput::update([("line", format!("Hello, {name}."))]))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no node",
    note = "a closure over JSON takes `(NodeContext, Value)`; one over a type of yours is made a node by `typed`, and by \
            `typed_with` where it uses something from outside, such as a client"
)]
#[async_trait]
pub trait Node: Send + Sync + 'static {
    /// Runs the node. `input` is the state seen through the node's input schema, or the packet of a `Send`.
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError>;
}

// Closures return a future already: it is boxed as it is, in the signature that `async_trait` gives the method, and not
// held by another one that would be polled for it.

impl<F, Fut> Node for F
where
    F: Fn(NodeContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<NodeOutput, NodeError>> + Send + 'static,
{
    fn run<'node, 'run>(
        &'node self,
        context: NodeContext,
        input: Value,
    ) -> BoxFuture<'run, Result<NodeOutput, NodeError>>
    where
        'node: 'run,
        Self: 'run,
    {
        Box::pin(self(context, input))
    }
}

/// Output that a node returns.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeOutput {
    /// A partial state update; `null` writes nothing.
    Update(Value),
    /// An update together with targets.
    Command(Command),
    /// Several, applied in order.
    Many(Vec<NodeOutput>),
    /// From an [`Entrypoint`](crate::graph::Entrypoint) only: what it returns, and what its next run is given.
    Final {
        /// What it returns.
        value: Value,
        /// What the next run is given.
        save: Value,
    },
}

impl NodeOutput {
    /// Writes nothing; the node's edges are followed.
    pub fn none() -> Self {
        NodeOutput::Update(Value::Null)
    }
    /// Creates an update from key and value pairs.
    pub fn update<K: Into<Arc<str>>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        NodeOutput::Update(Value::Object(entries.into_iter().collect::<Object>()))
    }
    /// Returns the targets of the output's commands for this graph.
    pub(crate) fn targets(&self) -> Vec<&Target> {
        match self {
            NodeOutput::Command(command) if command.graph == CommandGraph::Current => {
                command.goto.iter().collect()
            }
            NodeOutput::Many(outputs) => outputs.iter().flat_map(NodeOutput::targets).collect(),
            _ => Vec::new(),
        }
    }
}

impl<T: Into<Value>> From<T> for NodeOutput {
    fn from(value: T) -> Self {
        NodeOutput::Update(value.into())
    }
}

impl From<Command> for NodeOutput {
    fn from(command: Command) -> Self {
        NodeOutput::Command(command)
    }
}

/// A packet or a name returned bare leads there and writes nothing.
impl From<Target> for NodeOutput {
    fn from(target: Target) -> Self {
        NodeOutput::Command(Command::goto(target))
    }
}

/// Reason why a node did not return an output.
///
/// Any error becomes one with `?`: a [`Failure`] of its class that says what it and its sources say. It is no
/// [`std::error::Error`] itself, and becomes a boxed one with `?`.
///
/// ```
/// # use superstep::{NodeContext, NodeError, NodeOutput, Value, json};
/// async fn read(_: NodeContext, state: Value) -> Result<NodeOutput, NodeError> {
///     let path: String = state.decode()?;
///     Ok(json!({"text": std::fs::read_to_string(path)?}).into())
/// }
/// ```
#[derive(Clone, Debug)]
pub enum NodeError {
    /// The node asks a question and waits; made by [`NodeContext::interrupt`] and passed on with `?`.
    Interrupt(Interrupted),
    /// The node failed.
    Failed(Failure),
    /// The run was cancelled while the node worked.
    Cancelled,
    /// A nested graph stopped because the run was asked to drain.
    Drained(String),
    /// A command for the graph around, on its way there.
    Parent(ParentCommand),
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeError::Interrupt(_) => f.write_str("waiting for an answer"),
            NodeError::Failed(failure) => failure.fmt(f),
            NodeError::Cancelled => f.write_str("cancelled"),
            NodeError::Drained(reason) => write!(f, "drained: {reason}"),
            NodeError::Parent(_) => f.write_str("a command for the parent graph"),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for NodeError {
    fn from(error: E) -> Self {
        let any = &error as &dyn Any;
        if let Some(failure) = any.downcast_ref::<Failure>() {
            return NodeError::Failed(failure.clone());
        }
        let class = match any.downcast_ref::<StoreError>() {
            Some(error) => Some(error.class()),
            // What does not read as a type is a wrong value, no matter who wrote it.
            None => any.is::<DecodeError>().then_some("ValueError"),
        };
        let failure = Failure::of(error);
        NodeError::Failed(match class {
            Some(class) => Failure {
                class: class.into(),
                ..failure
            },
            None => failure,
        })
    }
}

/// A [`NodeError`] as an error of Rust's standard library, for callers that take any.
#[derive(Debug)]
struct BoxedNodeError(NodeError);

impl fmt::Display for BoxedNodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for BoxedNodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            NodeError::Failed(failure) => failure.source(),
            _ => None,
        }
    }
}

impl From<NodeError> for Box<dyn Error + Send + Sync> {
    fn from(error: NodeError) -> Self {
        Box::new(BoxedNodeError(error))
    }
}

impl From<NodeError> for Box<dyn Error> {
    fn from(error: NodeError) -> Self {
        Box::new(BoxedNodeError(error))
    }
}

/// A command on its way to the graph around; only the engine can make one.
#[derive(Clone, Debug)]
pub struct ParentCommand {
    pub(crate) command: Box<Command>,
    /// It has reached the node that runs the graph it came from.
    pub(crate) arrived: bool,
}

/// Proof that a question was asked; only the engine can make one.
#[derive(Clone, Debug)]
pub enum Interrupted {
    /// The task's own question.
    #[doc(hidden)]
    Question {
        /// What is asked.
        question: Value,
        /// How many questions the task asked before.
        index: usize,
    },
    /// Questions of what the task runs; none when that stopped at a breakpoint.
    #[doc(hidden)]
    Nested(Vec<Interrupt>),
}

impl NodeError {
    /// Creates a failure of the given class.
    pub fn new(class: impl Into<Name>, message: impl Into<String>) -> Self {
        NodeError::Failed(Failure::new(class, message))
    }

    /// Combines the errors of several calls that were made at once: their questions are asked together, and any other
    /// error takes precedence over a question. `None` when there are no errors.
    pub fn together(errors: impl IntoIterator<Item = NodeError>) -> Option<Self> {
        let mut asked = None;
        for error in errors {
            match (error, &mut asked) {
                (NodeError::Interrupt(Interrupted::Nested(more)), Some(all)) => Vec::extend(all, more),
                (NodeError::Interrupt(Interrupted::Nested(first)), None) => asked = Some(first),
                (other, _) => return Some(other),
            }
        }
        asked.map(|all| NodeError::Interrupt(Interrupted::Nested(all)))
    }

    /// Sets the HTTP status that a server answered with: by default the failure is retried when the server is at fault.
    pub fn status(mut self, status: u16) -> Self {
        if let NodeError::Failed(failure) = &mut self {
            failure.status = Some(status);
        }
        self
    }

    /// Marks the failure as one that comes back in every attempt: by default it is not retried, whatever its class.
    pub fn lasting(mut self) -> Self {
        if let NodeError::Failed(failure) = &mut self {
            failure.retryable = Some(false);
        }
        self
    }

    /// Marks the failure as one that may pass: by default it is retried, whatever its class.
    pub fn transient(mut self) -> Self {
        if let NodeError::Failed(failure) = &mut self {
            failure.retryable = Some(true);
        }
        self
    }

    /// Sets the time that must pass before the failure is retried; retry policies respect it.
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        if let NodeError::Failed(failure) = &mut self {
            failure.retry_after = wait;
        }
        self
    }

    pub(crate) fn arrived(command: Command) -> Self {
        NodeError::Parent(ParentCommand {
            command: Box::new(command),
            arrived: true,
        })
    }
}

/// Router that chooses targets after its source node has run. Sees the state with the node's own writes applied.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no router",
    note = "a closure over a type of yours is made a router by `choose`: `Branch::new(choose(|state: State| …))`"
)]
#[async_trait]
pub trait Router: Send + Sync + 'static {
    /// Returns labels (looked up in the branch's paths), node names or packets.
    async fn route(&self, context: NodeContext, state: Value) -> Result<Vec<Target>, NodeError>;
}

impl<F, Fut> Router for F
where
    F: Fn(NodeContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<Target>, NodeError>> + Send + 'static,
{
    fn route<'router, 'run>(
        &'router self,
        context: NodeContext,
        state: Value,
    ) -> BoxFuture<'run, Result<Vec<Target>, NodeError>>
    where
        'router: 'run,
        Self: 'run,
    {
        Box::pin(self(context, state))
    }
}
