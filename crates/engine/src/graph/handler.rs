//! What happens when a node has failed for good: another piece of work that takes over.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::base::command::{Command, Target};
use crate::base::failure::Failure;
use crate::base::ids::Name;
use crate::graph::context::NodeContext;
use crate::graph::node::{Node, NodeError, NodeOutput};
use crate::value::{Object, Value};

/// The node that failed, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeFailed {
    /// The node.
    pub node: Name,
    /// What it said.
    pub error: Failure,
}

/// Handler that takes over from a node that failed after all its attempts, in the same super-step, with the same input.
///
/// What it returns is written in place of what the node would have written. The node's edges are not followed: to go
/// on, return a [`Command`](crate::Command) with a target. A handler that fails, fails the run; when the thread goes
/// on, only the handler runs again.
#[async_trait]
pub trait ErrorHandler: Send + Sync + 'static {
    /// Handles the failure. `input` is what the node was given.
    async fn handle(
        &self,
        context: NodeContext,
        input: Value,
        failed: NodeFailed,
    ) -> Result<NodeOutput, NodeError>;
}

impl<F, Fut> ErrorHandler for F
where
    F: Fn(NodeContext, Value, NodeFailed) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<NodeOutput, NodeError>> + Send + 'static,
{
    fn handle<'handler, 'run>(
        &'handler self,
        context: NodeContext,
        input: Value,
        failed: NodeFailed,
    ) -> BoxFuture<'run, Result<NodeOutput, NodeError>>
    where
        'handler: 'run,
        Self: 'run,
    {
        Box::pin(self(context, input, failed))
    }
}

/// Branch that leads to another node instead of along the failed node's edges.
#[derive(Clone, Debug)]
pub(crate) struct ErrorBranch {
    pub(crate) target: Name,
    /// The state key that the error is written to.
    pub(crate) into: Option<Name>,
}

#[async_trait]
impl ErrorHandler for ErrorBranch {
    async fn handle(&self, _: NodeContext, _: Value, failed: NodeFailed) -> Result<NodeOutput, NodeError> {
        let update = self.into.as_ref().map(|key| {
            let error: Object = [
                ("node", Value::String(failed.node)),
                ("class", Value::String(failed.error.class)),
                ("message", failed.error.message.into()),
            ]
            .into_iter()
            .collect();
            Value::Object([(key.clone(), Value::Object(error))].into_iter().collect())
        });
        let command = Command {
            update,
            goto: vec![Target::Node(self.target.clone())],
            ..Command::default()
        };
        Ok(NodeOutput::Command(command))
    }
}

/// Branch that leads to other nodes instead of to a node that was visited as often as it may be.
#[derive(Clone, Debug)]
pub(crate) struct LimitBranch {
    pub(crate) targets: Vec<Name>,
}

#[async_trait]
impl ErrorHandler for LimitBranch {
    async fn handle(&self, _: NodeContext, _: Value, _: NodeFailed) -> Result<NodeOutput, NodeError> {
        let command = Command {
            goto: self.targets.iter().cloned().map(Target::Node).collect(),
            ..Command::default()
        };
        Ok(NodeOutput::Command(command))
    }
}

/// A handler as the node that its tasks run.
pub(crate) struct HandlerNode(pub(crate) Arc<dyn ErrorHandler>);

#[async_trait]
impl Node for HandlerNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        match context.failed().cloned() {
            Some(failed) => self.0.handle(context, input, failed).await,
            None => Err(NodeError::new(
                "RuntimeError",
                "an error handler runs only after a node has failed",
            )),
        }
    }
}
