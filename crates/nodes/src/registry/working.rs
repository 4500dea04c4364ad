//! Which nodes of a graph work, and what is known of those that do not.

use std::collections::{BTreeMap, BTreeSet};

use superstep::Graph;
use superstep::graph::Effect;

/// Selection of the nodes of a graph that work; the others do nothing when it is their turn.
#[derive(Clone, Copy)]
pub(super) enum WorkingNodes<'a> {
    /// All that are enabled.
    All,
    /// The one that is tried alone.
    Only(&'a str),
    /// Those whose result follows from the state alone, but for these.
    Certain(&'a BTreeSet<String>),
}

/// A graph of which only the certain nodes work.
#[derive(Debug)]
pub struct PreviewGraph {
    /// The graph.
    pub graph: Graph,
    /// The nodes that are passed by.
    pub uncertain: BTreeMap<String, Uncertain>,
}

/// Facts about a node that are known without running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertain {
    /// State keys that it may write; `None` when that may be any.
    pub writes: Option<BTreeSet<String>>,
    /// Nodes that it may go to without an edge.
    pub targets: BTreeSet<String>,
    /// What it does to the world outside of the graph.
    pub effect: Effect,
}
