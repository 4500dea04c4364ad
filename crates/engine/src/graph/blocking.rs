//! Work that computes without waiting, away from the threads that everybody else works on.

use std::sync::Arc;

use async_trait::async_trait;

use crate::graph::context::NodeContext;
use crate::graph::node::{Node, NodeError, NodeOutput};
use crate::value::Value;

/// Creates a node from a closure that is not async. It works on a thread of tokio's blocking pool.
///
/// A run that is stopped does not wait for it. Long work should look at
/// [`is_cancelled`](NodeContext::is_cancelled) now and then.
pub fn blocking<F>(work: F) -> impl Node + use<F>
where
    F: Fn(&NodeContext, Value) -> Result<NodeOutput, NodeError> + Send + Sync + 'static,
{
    let work = Arc::new(work);
    move |context: NodeContext, input: Value| {
        let work = work.clone();
        away(move || work(&context, input))
    }
}

/// A node whose futures are driven to their end on a thread of the blocking pool.
pub(crate) struct BlockingNode(pub(crate) Arc<dyn Node>);

#[async_trait]
impl Node for BlockingNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let node = self.0.clone();
        let runtime = tokio::runtime::Handle::current();
        away(move || {
            let stopped = context.clone();
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    ended = node.run(context, input) => ended,
                    () = stopped.cancelled() => Err(NodeError::Cancelled),
                }
            })
        })
        .await
    }
}

async fn away(
    work: impl FnOnce() -> Result<NodeOutput, NodeError> + Send + 'static,
) -> Result<NodeOutput, NodeError> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(ended) => ended,
        // The task that waits for it reports the panic.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(NodeError::Cancelled),
        },
    }
}
