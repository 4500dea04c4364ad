//! A workflow written as code: one function that calls tasks.

use std::future::Future;
use std::sync::Arc;

use crate::base::ids::Name;
use crate::channel::ChannelSpec;
use crate::checkpoint::types::reserved::{END, PREVIOUS, START, TASKS};
use crate::graph::compiled::Graph;
use crate::graph::context::NodeContext;
use crate::graph::context_schema::ContextSchema;
use crate::graph::node::{Node, NodeError, NodeOutput};
use crate::graph::options::NodeOptions;
use crate::graph::plan::{More, Plan};
use crate::graph::rules::Rules;
use crate::graph::schema::is_reserved;
use crate::stream::error::{CompileError, GraphPlace, GraphProblem};
use crate::value::Value;

/// A function as a graph: it is run with the input, calls tasks with [`NodeContext::call`], and what it returns is the
/// state of the thread.
///
/// When a thread is resumed the function runs again from its beginning, and finished calls give their recorded
/// results. What it returned last is [`NodeContext::previous`] of the next run, unless it said otherwise with
/// [`NodeOutput::Final`].
///
/// ```
/// use superstep::graph::{Entrypoint, TaskFn};
/// use superstep::{Input, NodeContext, NodeOutput, RunConfig, Value};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let double = TaskFn::new("double", |_: NodeContext, n: Value| async move {
///     Ok(Value::from(n.as_i64().unwrap_or(0) * 2))
/// });
/// let graph = Entrypoint::new("workflow", move |context: NodeContext, n: Value| {
///     let double = double.clone();
///     async move {
///         let two = context.call(&double, n);
///         Ok(NodeOutput::from(two.await?))
///     }
/// })
/// .compile()?;
/// let result = graph.invoke(Input::value(21), RunConfig::default()).await?;
/// assert_eq!(result.value, Value::from(42));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct Entrypoint {
    name: Name,
    work: Arc<dyn Node>,
    options: NodeOptions,
    context: Option<ContextSchema>,
}

impl std::fmt::Debug for Entrypoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entrypoint").field(&self.name).finish()
    }
}

impl Entrypoint {
    /// Creates an entry point from the workflow `work`, under a name.
    pub fn new<F, Fut>(name: impl Into<Name>, work: F) -> Self
    where
        F: Fn(NodeContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<NodeOutput, NodeError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            work: Arc::new(work),
            options: NodeOptions::default(),
            context: None,
        }
    }

    /// Sets how the workflow is run: retries, a timeout, the graphs that it runs. Its retries and its cache also apply
    /// to the tasks that it calls, unless they have their own.
    pub fn options(mut self, options: NodeOptions) -> Self {
        self.options = options;
        self
    }

    /// Declares the [context](crate::RunConfig::context) of its runs.
    pub fn context(mut self, schema: ContextSchema) -> Self {
        self.context = Some(schema);
        self
    }

    /// Compiles the runnable graph: one node, triggered by the input.
    pub fn compile(self) -> Result<Graph, CompileError> {
        if is_reserved(&self.name) || self.name.contains([':', '|']) {
            return Err(CompileError {
                problems: vec![GraphProblem {
                    code: "reserved-name",
                    message: format!("An entry point cannot be called `{}`.", self.name),
                    remedy: "Choose another name, without `:` and `|`.".into(),
                    place: GraphPlace::Node(self.name),
                }],
            });
        }
        let mut plan = Plan::default();
        plan.add_channel(END.into(), ChannelSpec::last_value());
        plan.state_keys = 1;
        plan.readable_keys = 1;
        plan.is_root = true;
        plan.start_channel = plan.add_channel(START.into(), ChannelSpec::ephemeral());
        plan.tasks_channel = plan.add_channel(TASKS.into(), ChannelSpec::topic());
        plan.previous_channel = Some(plan.add_channel(PREVIOUS.into(), ChannelSpec::last_value()));
        plan.add_node(self.name, Some(self.work));
        let start = plan.start_channel;
        plan.subscribe(0, start);
        if let Some(node) = plan.nodes.first_mut() {
            node.say(More {
                rules: Rules {
                    retry: self.options.retry.into(),
                    timeout: self.options.timeout,
                    fallback: self.options.fallback,
                    gates: Vec::new(),
                },
                cache: self.options.cache,
                kind: self.options.kind,
                places: self.options.places,
                graphs: self.options.graphs,
                ..More::default()
            });
        }
        Ok(Graph {
            context: self.context,
            ..Graph::new(plan.finish())
        })
    }
}
