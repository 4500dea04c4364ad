//! Graphs within graphs: what a run hands down to the graphs its tasks run, and where those keep their checkpoints.
//!
//! A nested run is an ordinary run of the same thread under a namespace of its own. Its namespace is the place of
//! the task that started it (`node:task`, one segment per level), so a graph that runs again for another task starts
//! empty; a stateful graph leaves the task ids out and finds its own state again.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::base::ids::{CheckpointId, Name, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{CheckpointTuple, ListQuery, StorageError};
use crate::graph::builder::StateGraph;
use crate::graph::compiled::Graph;
use crate::graph::context::NodeContext;
use crate::graph::node::{Interrupted, Node, NodeError, NodeOutput};
use crate::graph::options::NodeOptions;
use crate::graph::plan::Plan;
use crate::graph::scope::{Persistence, Replay, Shared, graph_path};
use crate::run::steps::Loop;
use crate::state::delta;
use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::request::{Input, RunResult, RunStatus};
use crate::stream::run_config::RunConfig;
use crate::task::Task;
use crate::value::Value;

impl StateGraph {
    /// Adds a compiled graph as a node. It is given the state and takes the keys that it knows; its output is the
    /// node's update. So a key that both join with a reducer is joined with itself: give it output keys of its own.
    pub fn subgraph(self, name: impl Into<Name>, graph: &Graph) -> Self {
        self.subgraph_with(name, graph, NodeOptions::default())
    }
    /// Adds a compiled graph as a node with options of its own.
    pub fn subgraph_with(self, name: impl Into<Name>, graph: &Graph, options: NodeOptions) -> Self {
        self.node_with(name, Arc::new(GraphNode(graph.clone())), options.runs(graph))
    }
}

impl NodeContext {
    /// Runs another graph inside this task, with its own state, and gives its output.
    ///
    /// The graph keeps its checkpoints under this task's namespace (see [`Persistence`](crate::graph::Persistence)), so a
    /// question asked inside it stops this run too, and an answer goes on inside it. This node runs again from its
    /// beginning then; graphs that it ran to their end before return at once what they returned. To have such graphs
    /// in state reads and edits, name them in [`NodeOptions::runs`](crate::NodeOptions::runs).
    pub async fn invoke(&self, graph: &Graph, input: Input) -> Result<Value, NodeError> {
        self.invoke_with_context(graph, input, Value::Null).await
    }

    /// Runs another graph with a run context of its own; without one it has that of this run.
    pub async fn invoke_with_context(
        &self,
        graph: &Graph,
        input: Input,
        context: impl Into<Value>,
    ) -> Result<Value, NodeError> {
        self.note_activity();
        let value = run(graph, self, input, context.into()).await;
        self.note_activity();
        value
    }
}

impl Replay {
    async fn load(
        &self,
        plan: &Plan,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        shared: &Shared,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let ns = &shared.ns;
        let place = ns.rsplit_once(':').map_or(&**ns, |(place, _)| place).to_owned();
        let again = !self.visited.lock().insert(place);
        let newest_before = |before: CheckpointId| {
            ListQuery::new()
                .thread(thread.clone())
                .ns(ns.clone())
                .before(before)
                .limit(1)
        };
        if again {
            // The newest is not what a branch aside made; that is found among its own ids.
            if shared.ids.made_aside().is_none() {
                return delta::get(plan, saver, thread, ns, None).await;
            }
            let query = newest_before(shared.ids.next(None));
            let own = delta::list(plan, saver, &query).await?.into_iter().next();
            if own
                .as_ref()
                .is_some_and(|own| shared.ids.made(&own.checkpoint.id))
            {
                return Ok(own);
            }
        }
        let query = newest_before(self.before.clone());
        Ok(delta::list(plan, saver, &query).await?.into_iter().next())
    }
}

/// The checkpoint that a run starts from.
#[derive(Default)]
pub(crate) struct SubgraphEntry {
    pub(crate) tuple: Option<CheckpointTuple>,
    /// The checkpoint was named, by the run's configuration or on the way to a nested one that was.
    pub(crate) addressed: bool,
    /// The run was asked to start at exactly this nested checkpoint.
    pub(crate) exact: bool,
    /// What the parent said about resuming does not count.
    pub(crate) forget_resuming: bool,
}

/// Loads what a nested graph goes on from.
pub(crate) async fn enter(
    shared: &Shared,
    plan: &Plan,
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    resuming: Option<bool>,
) -> Result<SubgraphEntry, StorageError> {
    if let Some((ns, id)) = shared.address.get().and_then(|address| address.take(&shared.ns)) {
        return Ok(SubgraphEntry {
            tuple: delta::get(plan, saver, thread, &ns, Some(&id)).await?,
            addressed: true,
            exact: true,
            forget_resuming: false,
        });
    }
    if let (Some(kept), Some(true)) = (shared.kept_at.get(), resuming) {
        let tuple = kept_by(shared, plan, saver, thread, kept).await?;
        return Ok(SubgraphEntry {
            addressed: tuple.is_some(),
            tuple,
            ..SubgraphEntry::default()
        });
    }
    let replay = shared.replay.get();
    let tuple = match replay {
        Some(replay) => replay.load(plan, saver, thread, shared).await?,
        None => delta::get(plan, saver, thread, &shared.ns, None).await?,
    };
    Ok(SubgraphEntry {
        tuple,
        addressed: replay.is_some(),
        exact: false,
        forget_resuming: replay.is_some(),
    })
}

/// Finds where a nested graph was when the thread moved past the checkpoint that the run goes on at: a stateful one has
/// stored what it did on other branches since. One that had not begun there starts from what it had before.
async fn kept_by(
    shared: &Shared,
    plan: &Plan,
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    kept: &CheckpointId,
) -> Result<Option<CheckpointTuple>, StorageError> {
    let newest = ListQuery::new()
        .thread(thread.clone())
        .ns(shared.ns.clone())
        .limit(1);
    let there = newest.clone().filter(
        [("parents", Value::Object(shared.parents.clone()))]
            .into_iter()
            .collect(),
    );
    if let Some(tuple) = delta::list(plan, saver, &there).await?.into_iter().next() {
        return Ok(Some(tuple));
    }
    let earlier = newest.before(kept.clone());
    Ok(delta::list(plan, saver, &earlier).await?.into_iter().next())
}

/// Notes which tasks of a new branch continue which of the old one: `before` holds their paths and namespaces.
pub(crate) fn note_moves(shared: &Shared, before: &[(String, String)], after: &[Task]) {
    let Some(address) = shared.address.get() else {
        return;
    };
    for task in after {
        if let Some((_, old)) = before.iter().find(|(path, _)| **path == **task.path_text()) {
            address.moves(task.ns(), old.clone());
        }
    }
}

/// A graph as a node: it is given the whole state, takes the keys it knows, and its output is the node's update.
struct GraphNode(Graph);

#[async_trait]
impl Node for GraphNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let value = run(&self.0, &context, Input::Value(input), Value::Null).await?;
        Ok(NodeOutput::Update(value))
    }
}

/// Returns the breakpoints of a nested run: those on every node, when they are to hold in nested graphs.
fn every(config: &RunConfig, breaks: &[Name]) -> Vec<Name> {
    let star = breaks
        .iter()
        .find(|name| config.interrupt_nested && &***name == "*");
    star.into_iter().cloned().collect()
}

/// Runs `graph` inside the task of `context`; `given` is a run context of its own.
async fn run(graph: &Graph, context: &NodeContext, input: Input, given: Value) -> Result<Value, NodeError> {
    let given = match given {
        Value::Null => Value::Null,
        given => graph
            .context_of(given)
            .map_err(|why| NodeError::new(why.class(), why.to_string()))?,
    };
    let outer = context.shared();
    let info = context.info();
    let call = context.next_graph_call();
    let mut ns = match graph.persistence {
        Persistence::Stateful => graph_path(&info.checkpoint_ns).join("|"),
        Persistence::Inherit | Persistence::Off => info.checkpoint_ns.clone(),
    };
    if call > 0 {
        ns = format!("{ns}|{call}");
    }
    let mut parents = outer.parents.clone();
    parents.insert(outer.ns.clone(), &info.checkpoint_id);
    for caller in context.head().callers() {
        parents.insert(caller.ns(), &info.checkpoint_id);
    }
    let saver = graph.saver.clone().or_else(|| outer.saver.clone());
    let segments: Arc<[String]> = ns.split('|').map(str::to_owned).collect();
    let config = RunConfig {
        checkpoint_id: None,
        // Names mean nodes of the graph outside; "every node" can mean these, too.
        interrupt_before: every(&outer.config, &outer.config.interrupt_before),
        interrupt_after: every(&outer.config, &outer.config.interrupt_after),
        step_timeout: None,
        run_timeout: None,
        step_task: None,
        context: match given {
            Value::Null => outer.config.context.clone(),
            given => given,
        },
        ..outer.config.clone()
    };
    let shared = Shared {
        emitter: match config.subgraphs {
            true => outer.emitter.nested(segments),
            false => Emitter::silent(segments),
        },
        config,
        run_id: outer.run_id.clone(),
        stored: outer.stored.clone(),
        claim: outer
            .claim
            .clone()
            .filter(|claim| saver.as_ref().is_some_and(|saver| claim.is_of(saver))),
        asked_at: outer.asked_at.clone(),
        saver,
        store: graph.store.clone().or_else(|| outer.store.clone()),
        clock: outer.clock.clone(),
        ids: outer.ids.clone(),
        ns: ns.into(),
        parents,
        within: outer
            .within
            .clone()
            .or_else(|| Some(info.checkpoint_ns.as_str().into())),
        answers: outer.answers.clone(),
        replay: outer.replay.clone(),
        kept_at: outer.kept_at.clone(),
        address: outer.address.clone(),
        past: outer.past.clone(),
        hits: outer.hits.clone(),
        usage: outer.usage.clone(),
        pulse: context.pulse(),
        calls: OnceLock::new(),
    };
    let run = Loop::nested(graph, shared, context.resuming());
    // Boxed: a graph may hold graphs to any depth.
    let ended: BoxFuture<'_, Result<RunResult, RunError>> = Box::pin(run.run(input));
    output_of(ended.await)
}

/// Returns what the task that holds a nested run gives, or why it fails.
fn output_of(ended: Result<RunResult, RunError>) -> Result<Value, NodeError> {
    match ended {
        Ok(result) if result.status == RunStatus::Done => Ok(result.value),
        Ok(result) => Err(NodeError::Interrupt(Interrupted::Nested(result.interrupts))),
        Err(RunError::ParentCommand { command }) => Err(NodeError::arrived(*command)),
        Err(RunError::Cancelled) => Err(NodeError::Cancelled),
        Err(RunError::Drained { reason }) => Err(NodeError::Drained(reason)),
        Err(RunError::Node { failure, .. }) => Err(NodeError::Failed(failure)),
        Err(error) => Err(NodeError::new(error.class(), error.to_string())),
    }
}
