//! Facts that a node finds out once: when it runs again, after a question, a failure or the death of the process, it
//! goes on from the same ones.

use superstep::graph::TaskFn;
use superstep::{NodeContext, NodeError, Value};

/// The names of such facts; the last one is what a Python function keeps of the graphs that it calls itself.
const NAMES: [&str; 3] = ["deadline", "wait", "called graphs"];

/// Returns whether this task is only a fact that a node recorded for itself.
pub fn is_own_record(task: &str, result: &Value) -> bool {
    let fields = result.as_object();
    NAMES.contains(&task)
        && fields.is_some_and(|fields| fields.len() == 1 && fields.contains_key("__return__"))
}

/// Records `value` and returns it, or what this call was given the first time. Outside of a run nothing is recorded.
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
