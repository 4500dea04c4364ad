//! Nodes whose expressions were ended because their run was stopped: they have not failed.

use std::sync::Arc;

use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};

use crate::expression::is_stop;

/// A node that is cancelled, and has not failed, when an expression of it ends with its run.
pub(super) struct Stoppable(pub(super) Arc<dyn Node>);

#[async_trait]
impl Node for Stoppable {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let done = self.0.run(context.clone(), input).await;
        match done {
            Err(error) if context.is_cancelled() && is_stop(&error) => Err(NodeError::Cancelled),
            done => done,
        }
    }
}
