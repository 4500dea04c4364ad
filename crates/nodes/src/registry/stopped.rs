//! Nodes whose expressions were ended because their run was stopped or their time was over: the expression has not failed.

use std::sync::Arc;

use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};

use crate::expression::is_stop;

/// A node that is cancelled, and has not failed, when an expression of it ends with its run; when one ends with the time
/// of its attempt, the engine says so.
pub(super) struct Stoppable(pub(super) Arc<dyn Node>);

#[async_trait]
impl Node for Stoppable {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let done = self.0.run(context.clone(), input).await;
        match done {
            Err(error) if is_stop(&error) && context.is_cancelled() => Err(NodeError::Cancelled),
            // The limit that is over ends this wait, and is the error of the attempt.
            Err(error) if is_stop(&error) && context.is_out_of_time() => std::future::pending().await,
            done => done,
        }
    }
}
