//! Graphs within graphs: what a run hands down to the graphs its tasks run, and where those keep their checkpoints.
//!
//! A nested run is an ordinary run of the same thread under a namespace of its own. Its namespace is the place of
//! the task that started it (`node:task`, one segment per level), so a graph that runs again for another task starts
//! empty; a stateful graph leaves the task ids out and finds its own state again.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use crate::call::Call;
use tokio::sync::mpsc;

use crate::checkpoint::{CheckpointTuple, ListQuery, StorageError};
use crate::claimed::RunClaim;
use crate::clock::Clock;
use crate::compiled::Graph;
use crate::context::NodeContext;
use crate::delta;
use crate::effect::Past;
use crate::emit::Emitter;
use crate::error::RunError;
use crate::ids::{CheckpointId, CheckpointIds, Name, ThreadId};
use crate::node::{BoxFuture, Interrupted, Node, NodeError, NodeOutput};
use crate::plan::Plan;
use crate::request::{Input, RunConfig, RunResult, RunStatus};
use crate::run::{Loop, user_metadata};
use crate::saver::Checkpointer;
use crate::store::Store;
use crate::task::Task;
use crate::timeout::Pulse;
use crate::value::{Object, Value};

/// How a graph keeps its threads when it runs inside another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persistence {
    /// A namespace for each task that runs it: it starts empty each time, and goes on after an interrupt.
    #[default]
    Inherit,
    /// One namespace for all its runs in a thread: its state grows from run to run.
    Stateful,
    /// Nothing is stored: after an interrupt it runs again from its beginning.
    Off,
}

/// What every graph of one run shares, from the root down.
#[derive(Default)]
pub(crate) struct Answers {
    /// The one answer of a scalar resume; whoever asks first takes it.
    pub(crate) scalar: Mutex<Option<Value>>,
    /// Answers by interrupt id.
    pub(crate) by_id: OnceLock<BTreeMap<String, Value>>,
}

/// What the tasks of one graph's run are given, and what they hand down.
pub(crate) struct Shared {
    pub(crate) config: RunConfig,
    pub(crate) run_id: String,
    /// What checkpoints keep of the user's metadata and of the configurable values.
    pub(crate) stored: Arc<Object>,
    /// The checkpoint that the outermost run was told to start at.
    pub(crate) asked_at: Option<CheckpointId>,
    pub(crate) emitter: Emitter,
    /// The checkpointer that nested graphs inherit.
    pub(crate) saver: Option<Arc<dyn Checkpointer>>,
    /// The run's claim on its thread, where the checkpointer is the outermost graph's.
    pub(crate) claim: Option<Arc<RunClaim>>,
    /// The store that nested graphs inherit.
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// One for the whole run, so that checkpoints of all its graphs sort by time.
    pub(crate) ids: Arc<CheckpointIds>,
    /// Where this graph's checkpoints are; empty at the root.
    pub(crate) ns: Name,
    /// For each graph around this one, its namespace and the checkpoint it is at.
    pub(crate) parents: Object,
    /// The address of the outermost graph's task that this graph runs in; nothing for that graph itself.
    pub(crate) within: Option<Name>,
    pub(crate) answers: Arc<Answers>,
    /// Set when the run goes back in time: nested graphs then start from what they held at that time.
    pub(crate) replay: OnceLock<Arc<Replay>>,
    /// Set when the run goes on at a checkpoint that its thread has moved past, which is this one: nested graphs that
    /// began there go on where they were.
    pub(crate) kept_at: OnceLock<CheckpointId>,
    /// Set when the run starts at a checkpoint of a nested graph.
    pub(crate) address: OnceLock<Arc<Address>>,
    /// What was done on other branches of the thread.
    pub(crate) past: Arc<Past>,
    /// Of the attempt that runs this graph, when somebody watches it.
    pub(crate) pulse: Option<Arc<Pulse>>,
    /// Where the tasks of this graph say what they call; not set where no run stands behind them.
    pub(crate) calls: OnceLock<mpsc::UnboundedSender<Call>>,
}

impl Shared {
    pub(crate) fn is_nested(&self) -> bool {
        self.within.is_some()
    }

    /// A task began or ended, or something was emitted: whoever watches the node around this graph sees it live.
    pub(crate) fn seen(&self) {
        if let Some(pulse) = &self.pulse {
            pulse.seen();
        }
    }

    /// Of an outermost graph.
    pub(crate) fn root(graph: &Graph, mut config: RunConfig, run_id: String, emitter: Emitter) -> Self {
        let stored = Arc::new(user_metadata(&config));
        let mut claim = None;
        if let Some(request) = &config.claim {
            // A run that loses its thread is stopped, and nothing else that the caller's token stops.
            let cancel = config.cancel.child_token();
            claim = RunClaim::of(request, graph.saver.as_ref(), config.thread.as_ref(), &cancel);
            config.cancel = cancel;
        }
        Self {
            claim,
            asked_at: config.checkpoint_id.clone(),
            config,
            run_id,
            stored,
            emitter,
            saver: graph.saver.clone(),
            store: graph.store.clone(),
            clock: graph.clock.clone(),
            ids: graph.ids.clone(),
            ns: "".into(),
            parents: Object::new(),
            within: None,
            answers: Arc::default(),
            replay: OnceLock::new(),
            kept_at: OnceLock::new(),
            address: OnceLock::new(),
            past: Arc::default(),
            pulse: None,
            calls: OnceLock::new(),
        }
    }
}

/// A bound in time for nested graphs: the first time one is met, it loads what it held before that checkpoint.
pub(crate) struct Replay {
    pub(crate) before: CheckpointId,
    visited: Mutex<HashSet<String>>,
}

impl Replay {
    pub(crate) fn new(before: CheckpointId) -> Self {
        Self {
            before,
            visited: Mutex::default(),
        }
    }

    async fn load(
        &self,
        plan: &Plan,
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        ns: &Name,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let place = ns.rsplit_once(':').map_or(&**ns, |(place, _)| place).to_owned();
        if !lock(&self.visited).insert(place) {
            return delta::get(plan, saver, thread, ns, None).await;
        }
        let query = ListQuery {
            thread: Some(thread.clone()),
            ns: Some(ns.clone()),
            before: Some(self.before.clone()),
            limit: Some(1),
            ..ListQuery::default()
        };
        Ok(delta::list(plan, saver, &query).await?.into_iter().next())
    }
}

/// The checkpoints at which a run that starts inside a nested graph enters the graphs on the way.
///
/// Going back to a checkpoint makes a new branch, and on it the tasks have other ids: so the graphs they run have
/// other namespaces. `moved` says which new namespace continues which old one.
pub(crate) struct Address {
    enter: Mutex<BTreeMap<String, CheckpointId>>,
    moved: Mutex<Vec<(String, String)>>,
}

impl Address {
    pub(crate) fn of(tuple: &CheckpointTuple) -> Self {
        let mut enter: BTreeMap<String, CheckpointId> = tuple
            .checkpoint
            .metadata
            .parents
            .iter()
            .filter_map(|(ns, id)| Some((ns.to_string(), id.as_str()?.into())))
            .collect();
        enter.insert(tuple.ns.to_string(), tuple.checkpoint.id.clone());
        Self {
            enter: Mutex::new(enter),
            moved: Mutex::default(),
        }
    }

    /// The checkpoint at which the root is entered.
    pub(crate) fn root(&self) -> Option<CheckpointId> {
        lock(&self.enter).get("").cloned()
    }

    /// `new` continues `old`.
    fn moves(&self, new: String, old: String) {
        lock(&self.moved).push((new, old));
    }

    fn origin(&self, ns: &str) -> String {
        let moved = lock(&self.moved);
        let continued = |(new, old): &(String, String)| {
            let rest = ns.strip_prefix(new.as_str())?;
            (rest.is_empty() || rest.starts_with('|')).then(|| format!("{old}{rest}"))
        };
        moved
            .iter()
            .rev()
            .find_map(continued)
            .unwrap_or_else(|| ns.to_owned())
    }

    /// Where the graph at `ns` is entered: once, so that a loop that comes back does not start over.
    fn take(&self, ns: &str) -> Option<(Name, CheckpointId)> {
        let origin = self.origin(ns);
        let id = lock(&self.enter).remove(&origin)?;
        Some((origin.into(), id))
    }
}

/// What a run starts from.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) tuple: Option<CheckpointTuple>,
    /// The checkpoint was named, by the run's configuration or on the way to a nested one that was.
    pub(crate) addressed: bool,
    /// The run was told to start at exactly this nested checkpoint.
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
) -> Result<Entry, StorageError> {
    if let Some((ns, id)) = shared.address.get().and_then(|address| address.take(&shared.ns)) {
        return Ok(Entry {
            tuple: delta::get(plan, saver, thread, &ns, Some(&id)).await?,
            addressed: true,
            exact: true,
            forget_resuming: false,
        });
    }
    if let (Some(kept), Some(true)) = (shared.kept_at.get(), resuming) {
        let tuple = kept_by(shared, plan, saver, thread, kept).await?;
        return Ok(Entry {
            addressed: tuple.is_some(),
            tuple,
            ..Entry::default()
        });
    }
    let replay = shared.replay.get();
    let tuple = match replay {
        Some(replay) => replay.load(plan, saver, thread, &shared.ns).await?,
        None => delta::get(plan, saver, thread, &shared.ns, None).await?,
    };
    Ok(Entry {
        tuple,
        addressed: replay.is_some(),
        exact: false,
        forget_resuming: replay.is_some(),
    })
}

/// Where a nested graph was when the thread moved past the checkpoint that the run goes on at: a stateful one has stored
/// what it did on other branches since. One that had not begun there starts from what it had before.
async fn kept_by(
    shared: &Shared,
    plan: &Plan,
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    kept: &CheckpointId,
) -> Result<Option<CheckpointTuple>, StorageError> {
    let newest = ListQuery {
        thread: Some(thread.clone()),
        ns: Some(shared.ns.clone()),
        limit: Some(1),
        ..ListQuery::default()
    };
    let there = ListQuery {
        filter: [("parents", Value::Object(shared.parents.clone()))]
            .into_iter()
            .collect(),
        ..newest.clone()
    };
    if let Some(tuple) = delta::list(plan, saver, &there).await?.into_iter().next() {
        return Ok(Some(tuple));
    }
    let earlier = ListQuery {
        before: Some(kept.clone()),
        ..newest
    };
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

/// The namespace without task ids and call numbers: which graph it is, whatever runs it.
pub(crate) fn graph_path(ns: &str) -> Vec<&str> {
    ns.split('|')
        .filter(|part| !part.is_empty() && !part.bytes().all(|b| b.is_ascii_digit()))
        .map(|part| part.split(':').next().unwrap_or(part))
        .collect()
}

/// The namespace in which a stateful graph keeps its checkpoints: without task ids.
pub(crate) fn stable_ns(ns: &str) -> String {
    ns.split('|')
        .map(|part| part.split(':').next().unwrap_or(part))
        .collect::<Vec<_>>()
        .join("|")
}

/// A graph as a node: it is given the whole state, takes the keys it knows, and its output is the node's update.
pub(crate) struct GraphNode(pub(crate) Graph);

impl Node for GraphNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let value = run(&self.0, &context, Input::Value(input), Value::Null).await?;
            Ok(NodeOutput::Update(value))
        })
    }
}

/// The breakpoints of a nested run: those on every node, when they are to hold in nested graphs.
fn every(config: &RunConfig, breaks: &[Name]) -> Vec<Name> {
    let star = breaks
        .iter()
        .find(|name| config.interrupt_nested && &***name == "*");
    star.into_iter().cloned().collect()
}

/// Runs `graph` inside the task of `context`; `given` is a run context of its own.
pub(crate) async fn run(
    graph: &Graph,
    context: &NodeContext,
    input: Input,
    given: Value,
) -> Result<Value, NodeError> {
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
        context: match given {
            Value::Null => outer.config.context.clone(),
            given => given,
        },
        ..outer.config.clone()
    };
    let shared = Shared {
        emitter: outer.emitter.nested(segments, config.subgraphs),
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
        pulse: context.pulse(),
        calls: OnceLock::new(),
    };
    let run = Loop::nested(graph, shared, context.resuming());
    // Boxed: a graph may hold graphs to any depth.
    let ended: BoxFuture<'_, Result<RunResult, RunError>> = Box::pin(run.run(input));
    match ended.await {
        Ok(result) if result.status == RunStatus::Done => Ok(result.value),
        Ok(result) => Err(NodeError::Interrupt(Interrupted::Nested(result.interrupts))),
        Err(RunError::ParentCommand { command }) => Err(NodeError::arrived(*command)),
        Err(RunError::Cancelled) => Err(NodeError::Cancelled),
        Err(RunError::Drained { reason }) => Err(NodeError::Drained(reason)),
        Err(RunError::Node { failure, .. }) => Err(NodeError::Failed(failure)),
        Err(error) => Err(NodeError::new(error.class(), error.to_string())),
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
