//! Facts that a node finds out once: when it runs again, after a question, a failure or the death of the process, it
//! goes on from the same ones.

use std::sync::{Arc, Mutex, PoisonError};

use superstep::{NodeContext, NodeError, TaskFn, TaskHandle, Value};
use tokio::sync::oneshot;

/// The names of such facts.
const NAMES: [&str; 4] = ["begin", "deadline", "outcome", "wait"];

/// Is this task only a fact that a node wrote down for itself?
pub fn is_own_record(task: &str, result: &Value) -> bool {
    let fields = result.as_object();
    NAMES.contains(&task)
        && fields.is_some_and(|fields| fields.len() == 1 && fields.contains_key("__return__"))
}

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

/// What a piece of work came to. It is begun before the work, so that it has its place among the node's calls whatever
/// the work calls, and stays without a record when the process dies.
pub(crate) struct Outcome {
    tell: oneshot::Sender<Value>,
    kept: TaskHandle,
}

impl Outcome {
    pub(crate) fn begin(context: &NodeContext) -> Self {
        let (tell, told) = oneshot::channel();
        let told = Arc::new(Mutex::new(Some(told)));
        let keep = TaskFn::new("outcome", move |_, _| {
            let told = told.lock().unwrap_or_else(PoisonError::into_inner).take();
            async move {
                match told {
                    // Nobody tells when the node is stopped.
                    Some(told) => Ok(told.await.unwrap_or_default()),
                    None => Ok(Value::Null),
                }
            }
        });
        Self {
            tell,
            kept: context.call(&keep, Value::Null),
        }
    }

    /// Records `value`, and gives what is recorded: that of an earlier run, when it came so far.
    pub(crate) async fn end(self, value: Value) -> Value {
        // The task is gone when there is a record, or no run.
        let _ = self.tell.send(value);
        self.kept.await.unwrap_or_default()
    }
}
