//! Facts that a node finds out once: when it runs again, after a question, a failure or the death of the process, it
//! goes on from the same ones.

use superstep::{NodeContext, NodeError, TaskFn, Value};

/// `value`, or what this call was given the first time. Outside of a run nothing is recorded.
pub(crate) async fn recorded(
    context: &NodeContext,
    name: &'static str,
    value: Value,
) -> Result<Value, NodeError> {
    let keep = TaskFn::new(name, |_, value: Value| async move { Ok(value) }).sealed();
    match context.call(&keep, value.clone()).await {
        Err(NodeError::Failed(failure)) if &*failure.class == "RuntimeError" => Ok(value),
        kept => kept,
    }
}
