//! Tasks called from code: work whose result is recorded, so that it is not done again when its caller is.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::base::ids::Name;
use crate::graph::context::NodeContext;
use crate::graph::node::{Node, NodeError, NodeOutput};
use crate::graph::options::NodeOptions;
use crate::graph::scope::Shared;
use crate::value::{List, Object, Value};

type CallWork = dyn Fn(NodeContext, Value) -> BoxFuture<'static, Result<Value, NodeError>> + Send + Sync;

/// A piece of work that nodes, entry points and other tasks call with [`NodeContext::call`].
///
/// When its caller runs again after an interrupt or a failure, a call that had finished gives its recorded result at
/// once. Calls are matched by their order in the caller, so a caller must make them in the same order each time.
#[derive(Clone)]
pub struct TaskFn {
    pub(crate) name: Name,
    pub(crate) options: NodeOptions,
    pub(crate) sealed: bool,
    work: Arc<CallWork>,
}

impl fmt::Debug for TaskFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskFn").field(&self.name).finish()
    }
}

impl TaskFn {
    /// Creates a task with the given name.
    pub fn new<F, Fut>(name: impl Into<Name>, work: F) -> Self
    where
        F: Fn(NodeContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, NodeError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            options: NodeOptions::default(),
            sealed: false,
            work: Arc::new(move |context, args| Box::pin(work(context, args))),
        }
    }

    /// Makes callers receive a result only when it is stored, so that they can rely on finding it again whatever
    /// happens next. Without this it is stored while they continue. With [`Durability::Exit`](crate::run::Durability::Exit)
    /// nothing is stored.
    pub fn sealed(mut self) -> Self {
        self.sealed = true;
        self
    }

    /// Sets how calls are run: retries, timeouts, cache.
    pub fn options(mut self, options: NodeOptions) -> Self {
        self.options = options;
        self
    }
}

#[async_trait]
impl Node for TaskFn {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        Ok(NodeOutput::Update((self.work)(context, input).await?))
    }
}

/// Returns what events show as the input of a call: positional and named arguments.
pub(crate) fn shown_args(args: &Value) -> Value {
    let list: List = [
        Value::Array([args.clone()].into_iter().collect()),
        Value::Object(Object::new()),
    ]
    .into_iter()
    .collect();
    Value::Array(list)
}

pub(crate) type Reply = oneshot::Sender<Result<Value, NodeError>>;

/// A call on its way to the run.
pub(crate) struct Call {
    /// Place of the calling task in its step.
    pub(crate) caller: usize,
    /// How many calls the caller made before.
    pub(crate) index: usize,
    pub(crate) task: TaskFn,
    pub(crate) args: Value,
    pub(crate) reply: Reply,
}

/// The result of a call, to be awaited. The work goes on, and ends before the run goes on, also when this is dropped.
#[derive(Debug)]
pub struct TaskHandle(oneshot::Receiver<Result<Value, NodeError>>);

impl Future for TaskHandle {
    type Output = Result<Value, NodeError>;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // A run that is gone has been stopped.
        Pin::new(&mut self.0)
            .poll(context)
            .map(|result| result.unwrap_or(Err(NodeError::Cancelled)))
    }
}

impl TaskHandle {
    pub(crate) fn call(shared: &Shared, caller: usize, index: usize, task: &TaskFn, args: Value) -> Self {
        let (reply, result) = oneshot::channel();
        let refuse = |reply: Reply| {
            let message = format!(
                "The task `{}` was called outside of a run. Call tasks from a node, an entry point or another task.",
                task.name
            );
            let _ = reply.send(Err(NodeError::new("RuntimeError", message)));
        };
        match shared.calls.get() {
            None => refuse(reply),
            Some(calls) => {
                let call = Call {
                    caller,
                    index,
                    task: task.clone(),
                    args,
                    reply,
                };
                if let Err(mpsc::error::SendError(call)) = calls.send(call) {
                    refuse(call.reply);
                }
            }
        }
        Self(result)
    }
}
