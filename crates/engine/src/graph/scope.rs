//! The part of a run that the graphs within it share.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::base::clock::Clock;
use crate::base::ids::{CheckpointId, CheckpointIds, Name};
use crate::base::timeout::Pulse;
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::run_claim::RunClaim;
use crate::checkpoint::types::CheckpointTuple;
use crate::graph::call::Call;
use crate::graph::compiled::Graph;
use crate::graph::other_branches::OtherBranches;
use crate::policy::breakpoint::Hits;
use crate::store::Store;
use crate::stream::emit::Emitter;
use crate::stream::metrics::UsageSum;
use crate::stream::run_config::{RunConfig, user_metadata};
use crate::value::{Object, Value};

/// Persistence of a graph's threads when it runs inside another graph.
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

/// Answers that every graph of one run shares, from the root down.
#[derive(Default)]
pub(crate) struct Answers {
    /// The one answer of a scalar resume; the first question takes it.
    pub(crate) scalar: Mutex<Option<Value>>,
    /// Answers by interrupt id.
    pub(crate) by_id: OnceLock<BTreeMap<String, Value>>,
}

/// Data that the tasks of one graph's run are given, and pass down.
pub(crate) struct Shared {
    pub(crate) config: RunConfig,
    pub(crate) run_id: String,
    /// What checkpoints keep of the user's metadata and of the configurable values.
    pub(crate) stored: Arc<Object>,
    /// The checkpoint at which the outermost run was asked to start.
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
    pub(crate) past: Arc<OtherBranches>,
    /// Why the run stops at a breakpoint, and what its breakpoints wait for.
    pub(crate) hits: Arc<Hits>,
    /// Tokens and money that its nodes reported.
    pub(crate) usage: Arc<UsageSum>,
    /// Of the attempt that runs this graph, when somebody watches it.
    pub(crate) pulse: Option<Arc<Pulse>>,
    /// Where the tasks of this graph say what they call; not set where no run stands behind them.
    pub(crate) calls: OnceLock<mpsc::UnboundedSender<Call>>,
}

impl Shared {
    pub(crate) fn is_nested(&self) -> bool {
        self.within.is_some()
    }

    /// Notes that a task began or ended, or that something was emitted, for the idle timeout of the node around this graph.
    pub(crate) fn seen(&self) {
        if let Some(pulse) = &self.pulse {
            pulse.seen();
        }
    }

    /// Creates the shared data of an outermost graph.
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
            hits: Arc::default(),
            usage: Arc::default(),
            pulse: None,
            calls: OnceLock::new(),
        }
    }
}

/// A bound in time for nested graphs: the first time one is met, it loads what it held before that checkpoint.
pub(crate) struct Replay {
    pub(crate) before: CheckpointId,
    pub(crate) visited: Mutex<HashSet<String>>,
}

impl Replay {
    pub(crate) fn new(before: CheckpointId) -> Self {
        Self {
            before,
            visited: Mutex::default(),
        }
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

    /// Returns the checkpoint at which the root is entered.
    pub(crate) fn root(&self) -> Option<CheckpointId> {
        self.enter.lock().get("").cloned()
    }

    /// Returns the checkpoint at which each graph is entered, by its namespace.
    pub(crate) fn entries(self) -> BTreeMap<String, CheckpointId> {
        self.enter.into_inner()
    }

    /// Notes that `new` continues `old`.
    pub(crate) fn moves(&self, new: String, old: String) {
        self.moved.lock().push((new, old));
    }

    fn origin(&self, ns: &str) -> String {
        let moved = self.moved.lock();
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

    /// Takes the checkpoint at which the graph at `ns` is entered: once, so that a loop that comes back does not start
    /// over.
    pub(crate) fn take(&self, ns: &str) -> Option<(Name, CheckpointId)> {
        let origin = self.origin(ns);
        let id = self.enter.lock().remove(&origin)?;
        Some((origin.into(), id))
    }
}

/// Returns the namespace without task ids and call numbers: it identifies the graph, whatever runs it.
pub(crate) fn graph_path(ns: &str) -> Vec<&str> {
    ns.split('|')
        .filter(|part| !part.is_empty() && !part.bytes().all(|b| b.is_ascii_digit()))
        .map(|part| part.split(':').next().unwrap_or(part))
        .collect()
}

/// Returns the namespace in which a stateful graph keeps its checkpoints: without task ids.
pub(crate) fn stable_ns(ns: &str) -> String {
    ns.split('|')
        .map(|part| part.split(':').next().unwrap_or(part))
        .collect::<Vec<_>>()
        .join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_graphs_and_neither_tasks_nor_calls() {
        assert_eq!(graph_path(""), Vec::<&str>::new());
        assert_eq!(graph_path("agent:8f1c|tools:22ab"), ["agent", "tools"]);
        assert_eq!(graph_path("agent:8f1c|1|tools:22ab"), ["agent", "tools"]);
        assert_eq!(stable_ns("agent:8f1c|1|tools:22ab"), "agent|1|tools");
    }
}
