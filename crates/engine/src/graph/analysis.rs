//! What can be derived about a graph without running it: what is out of reach, where it loops, what runs before what,
//! what may run at once.
//!
//! The analysis knows what was declared: edges, joins, conditional edges with their paths, the destinations of
//! commands, and what nodes say they write. A router without paths may lead anywhere. Commands and packets to
//! undeclared destinations cannot be seen, so what is found are warnings, not errors.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use petgraph::algo::dominators::{self, Dominators};
use petgraph::algo::{all_simple_paths, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::base::ids::Name;
use crate::channel::Kind;
use crate::graph::compiled::Graph;
use crate::graph::links::{Connection, ConnectionKind};
use crate::graph::plan::{ChannelIx, NodeIx, Plan};
use crate::stream::error::{GraphPlace, GraphProblem};

/// Pairs of nodes that are looked at when asking what may run at once; past them the answer is incomplete.
const MAX_PAIRS: usize = 1_000_000;

/// A loop: nodes that can all reach each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLoop {
    /// Its nodes, in declaration order.
    pub nodes: Vec<Name>,
    /// Ways out of it: a node of the loop, and where it leads (`__end__`, or a node that is not of the loop).
    pub exits: Vec<(Name, Name)>,
    /// Can a run leave it? False when nothing leads out, or when edges that are always taken lead round and round.
    pub ends: bool,
}

/// Nodes that may run in the same super-step and write the same key, which takes one value per step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelWriters {
    /// The key.
    pub key: Name,
    /// The nodes.
    pub nodes: (Name, Name),
}

/// Facts that can be derived about a graph without running it. See [`Graph::analysis`](crate::Graph::analysis).
pub struct Analysis {
    plan: Arc<Plan>,
    links: Vec<Connection>,
    /// Declared ways from node to node.
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
    reached: Vec<bool>,
}

impl fmt::Debug for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn ix(node: NodeIx) -> NodeIndex {
    NodeIndex::new(node as usize)
}

impl Graph {
    /// Derives what can be known about the graph without running it. Each call computes it again.
    pub fn analysis(&self) -> Analysis {
        Analysis::of(self.plan.clone())
    }
}

impl Analysis {
    pub(crate) fn of(plan: Arc<Plan>) -> Self {
        let links = plan.links();
        let mut graph = DiGraph::with_capacity(plan.nodes.len(), links.len());
        for _ in &plan.nodes {
            graph.add_node(());
        }
        let mut seen = HashSet::new();
        for link in &links {
            if let Some(to) = link.to
                && seen.insert((link.from, to))
            {
                graph.add_edge(ix(link.from), ix(to), ());
            }
        }
        let mut analysis = Self {
            dominators: dominators::simple_fast(&graph, ix(0)),
            reached: Vec::new(),
            graph,
            links,
            plan,
        };
        analysis.reached = analysis.reach();
        analysis
    }

    /// Computes which nodes a run may reach. A router that may name any node reaches all.
    fn reach(&self) -> Vec<bool> {
        let mut reached = vec![false; self.plan.nodes.len()];
        reached[0] = true;
        let mut open = vec![0 as NodeIx];
        while let Some(node) = open.pop() {
            if self.plan.may_go_anywhere(node) {
                return vec![true; self.plan.nodes.len()];
            }
            for next in self.graph.neighbors(ix(node)) {
                if !std::mem::replace(&mut reached[next.index()], true) {
                    open.push(next.index() as NodeIx);
                }
            }
        }
        reached
    }

    fn name(&self, node: impl Into<usize>) -> Name {
        self.plan.nodes[node.into()].name.clone()
    }

    fn names(&self, nodes: impl IntoIterator<Item = NodeIndex>) -> Vec<Name> {
        nodes.into_iter().map(|node| self.name(node.index())).collect()
    }

    fn index(&self, node: &str) -> Option<NodeIndex> {
        self.plan.node_index.get(node).map(|index| ix(*index))
    }

    /// Returns the nodes that were declared: not START, and none that the engine made.
    fn declared(&self) -> impl Iterator<Item = NodeIx> + '_ {
        let count = self.plan.nodes.len() as NodeIx;
        (1..count).filter(|node| !self.plan.node(*node).name.starts_with("__"))
    }

    /// Returns the nodes that no edge leads to from START, in declaration order.
    pub fn unreachable(&self) -> Vec<Name> {
        let lost = self.declared().filter(|node| !self.reached[*node as usize]);
        lost.map(|node| self.name(node as usize)).collect()
    }

    /// Returns the loops, each with its ways out, in declaration order.
    pub fn loops(&self) -> Vec<GraphLoop> {
        let endless = self.endless();
        let mut loops: Vec<(usize, GraphLoop)> = Vec::new();
        for group in kosaraju_scc(&self.graph) {
            if group.len() == 1 && !self.graph.contains_edge(group[0], group[0]) {
                continue;
            }
            let mut nodes: Vec<usize> = group.iter().map(|node| node.index()).collect();
            nodes.sort_unstable();
            let within: HashSet<NodeIx> = nodes.iter().map(|node| *node as NodeIx).collect();
            let mut exits = Vec::new();
            let mut is_open = false;
            for node in &nodes {
                is_open |= self.plan.may_go_anywhere(*node as NodeIx);
            }
            for link in self.links.iter().filter(|link| within.contains(&link.from)) {
                let to = match link.to {
                    Some(to) if within.contains(&to) => continue,
                    Some(to) => self.name(to as usize),
                    None => crate::END.into(),
                };
                let exit = (self.name(link.from as usize), to);
                if !exits.contains(&exit) {
                    exits.push(exit);
                }
            }
            let turns = endless.iter().any(|node| within.contains(node));
            loops.push((
                nodes[0],
                GraphLoop {
                    ends: (is_open || !exits.is_empty()) && !turns,
                    nodes: self.names(nodes.into_iter().map(NodeIndex::new)),
                    exits,
                },
            ));
        }
        loops.sort_by_key(|(first, _)| *first);
        loops.into_iter().map(|(_, found)| found).collect()
    }

    /// Returns the nodes that edges alone lead back to. Such edges are always taken, so nothing can stop the loop.
    fn endless(&self) -> Vec<NodeIx> {
        let mut always = DiGraph::<(), ()>::with_capacity(self.plan.nodes.len(), 0);
        for _ in &self.plan.nodes {
            always.add_node(());
        }
        for link in self.links.iter().filter(|link| link.way == ConnectionKind::Edge) {
            if let Some(to) = link.to {
                always.update_edge(ix(link.from), ix(to), ());
            }
        }
        kosaraju_scc(&always)
            .into_iter()
            .filter(|group| group.len() > 1 || always.contains_edge(group[0], group[0]))
            .flatten()
            .map(|node| node.index() as NodeIx)
            .collect()
    }

    /// Returns the nodes that every way from START to `node` goes through, in order; without START and the node itself.
    /// None when there is no such node, or no way to it.
    pub fn dominators(&self, node: &str) -> Option<Vec<Name>> {
        let node = self.index(node)?;
        let mut through: Vec<NodeIndex> = self.dominators.strict_dominators(node)?.collect();
        through.retain(|through| through.index() != 0);
        through.reverse();
        Some(self.names(through))
    }

    /// Returns the nodes in layers, START first: a node is below everything that leads to it, and the nodes of a loop
    /// share one layer. Unreachable nodes are left out.
    pub fn layers(&self) -> Vec<Vec<Name>> {
        let mut layers: Vec<Vec<usize>> = Vec::new();
        let mut depth: Vec<usize> = vec![0; self.plan.nodes.len()];
        // Groups come with what is led to before what leads there.
        for group in kosaraju_scc(&self.graph).into_iter().rev() {
            let within: HashSet<NodeIndex> = group.iter().copied().collect();
            if !self.reached[group[0].index()] {
                continue;
            }
            let before = group.iter().flat_map(|node| {
                self.graph
                    .neighbors_directed(*node, petgraph::Direction::Incoming)
                    .filter(|from| !within.contains(from) && self.reached[from.index()])
                    .map(|from| depth[from.index()] + 1)
            });
            // Only a router without paths leads to a node that nothing else leads to.
            let layer = before.max().unwrap_or(usize::from(group[0].index() != 0));
            while layers.len() <= layer {
                layers.push(Vec::new());
            }
            for node in group {
                depth[node.index()] = layer;
                layers[layer].push(node.index());
            }
        }
        layers
            .into_iter()
            .map(|mut layer| {
                layer.sort_unstable();
                self.names(layer.into_iter().map(NodeIndex::new))
            })
            .collect()
    }

    /// Returns a shortest way from one node to another, both included.
    pub fn path(&self, from: &str, to: &str) -> Option<Vec<Name>> {
        let (from, to) = (self.index(from)?, self.index(to)?);
        let mut before: HashMap<NodeIndex, NodeIndex> = HashMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            // In the order of the edges, so that the answer is always the same.
            let mut next: Vec<NodeIndex> = self.graph.neighbors(node).collect();
            next.sort_unstable();
            for next in next {
                if before.contains_key(&next) {
                    continue;
                }
                before.insert(next, node);
                if next == to {
                    let mut way = vec![to];
                    let mut at = to;
                    while let Some(previous) = before.get(&at) {
                        way.push(*previous);
                        at = *previous;
                        if at == from {
                            break;
                        }
                    }
                    way.reverse();
                    return Some(self.names(way));
                }
                open.push_back(next);
            }
        }
        (from == to).then(|| self.names([from]))
    }

    /// Returns the ways from one node to another that visit no node twice, at most `limit` of them.
    pub fn paths(&self, from: &str, to: &str, limit: usize) -> Vec<Vec<Name>> {
        let (Some(from), Some(to)) = (self.index(from), self.index(to)) else {
            return Vec::new();
        };
        let ways = all_simple_paths::<Vec<_>, _, std::hash::RandomState>(&self.graph, from, to, 0, None);
        let mut ways: Vec<Vec<NodeIndex>> = ways.take(limit).collect();
        ways.sort();
        ways.into_iter().map(|way| self.names(way)).collect()
    }

    /// Returns the pairs of nodes that may run in the same super-step, in declaration order. Paths of one conditional
    /// edge are taken to exclude each other, and packets are not considered.
    pub fn parallel(&self) -> Vec<(Name, Name)> {
        let pairs = self.pairs().into_iter();
        pairs
            .map(|(a, b)| (self.name(a as usize), self.name(b as usize)))
            .collect()
    }

    /// Returns the nodes that may write a key at once although the key takes one value per step. Only nodes that
    /// declare what they write ([`NodeOptions::writes`](crate::NodeOptions::writes)) are considered.
    pub fn parallel_writers(&self) -> Vec<ParallelWriters> {
        let single = |key: &ChannelIx| matches!(self.plan.channel(*key).spec.kind, Kind::Last);
        let writes = |node: NodeIx| self.plan.node(node).more().writes.iter().flatten();
        if !self.declared().any(|node| writes(node).any(single)) {
            return Vec::new();
        }
        let mut found: Vec<(ChannelIx, (NodeIx, NodeIx))> = Vec::new();
        for (a, b) in self.pairs() {
            let both = writes(a).filter(|key| single(key) && writes(b).any(|other| other == *key));
            found.extend(both.map(|key| (*key, (a, b))));
        }
        found.sort_unstable();
        found
            .into_iter()
            .map(|(key, (a, b))| ParallelWriters {
                key: self.plan.channel(key).name.clone(),
                nodes: (self.name(a as usize), self.name(b as usize)),
            })
            .collect()
    }

    /// Walks all pairs of nodes that stand side by side, from those that one node leads to at once.
    fn pairs(&self) -> BTreeSet<(NodeIx, NodeIx)> {
        let mut by_node: Vec<Vec<&Connection>> = vec![Vec::new(); self.plan.nodes.len()];
        let mut sources: HashMap<ChannelIx, Vec<NodeIx>> = HashMap::new();
        for link in self.links.iter().filter(|link| link.to.is_some()) {
            by_node[link.from as usize].push(link);
            if let ConnectionKind::Join(channel) = link.way {
                sources.entry(channel).or_default().push(link.from);
            }
        }
        let mut reach: HashMap<NodeIx, HashSet<NodeIx>> = HashMap::new();
        let mut reaches = |from: NodeIx, to: NodeIx| {
            let ahead = reach.entry(from).or_insert_with(|| self.ahead(from));
            ahead.contains(&to)
        };
        // A join does not fire while another node of it is still to come.
        let mut waits = |link: &Connection, beside: NodeIx| match link.way {
            ConnectionKind::Join(channel) => sources[&channel]
                .iter()
                .any(|source| *source != link.from && reaches(beside, *source)),
            _ => false,
        };
        let mut found = BTreeSet::new();
        let mut open = Vec::new();
        let mut meet = |one: &Connection, other: &Connection, open: &mut Vec<(NodeIx, NodeIx)>| {
            let (Some(a), Some(b)) = (one.to, other.to) else {
                return;
            };
            // A deferred node waits until nothing else runs.
            let apart = self.plan.node(a).deferred != self.plan.node(b).deferred;
            if a == b || apart || waits(one, b) || waits(other, a) {
                return;
            }
            let pair = (a.min(b), a.max(b));
            if found.len() < MAX_PAIRS && found.insert(pair) {
                open.push(pair);
            }
        };
        for node in (0..self.plan.nodes.len()).filter(|node| self.reached[*node]) {
            let links = &by_node[node];
            for (position, one) in links.iter().enumerate() {
                for other in &links[position + 1..] {
                    let alternatives = matches!((&one.way, &other.way),
                        (ConnectionKind::Branch(a, _), ConnectionKind::Branch(b, _)) if a == b)
                        || (one.way == ConnectionKind::Command && other.way == ConnectionKind::Command);
                    if !alternatives {
                        meet(one, other, &mut open);
                    }
                }
            }
        }
        while let Some((a, b)) = open.pop() {
            for one in &by_node[a as usize] {
                for other in &by_node[b as usize] {
                    meet(one, other, &mut open);
                }
            }
        }
        found
    }

    /// Returns the node itself and all that it leads to.
    fn ahead(&self, from: NodeIx) -> HashSet<NodeIx> {
        let mut found = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for next in self.graph.neighbors(ix(node)) {
                let next = next.index() as NodeIx;
                if found.insert(next) {
                    open.push(next);
                }
            }
        }
        found
    }

    /// Returns what is probably unintended, each with its place and a remedy.
    pub fn warnings(&self) -> Vec<GraphProblem> {
        let mut problems = Vec::new();
        let mut problem = |code, place, message, remedy: &str| {
            problems.push(GraphProblem {
                code,
                message,
                remedy: remedy.to_owned(),
                place,
            });
        };
        for name in self.unreachable() {
            let message = format!("No way leads from START to `{name}`.");
            let remedy =
                "Connect it or remove it. A command or a packet can still reach it: name such destinations.";
            problem("unreachable-node", GraphPlace::Node(name), message, remedy);
        }
        for found in self.loops() {
            let first = found.nodes[0].clone();
            if found.ends || !self.index(&first).is_some_and(|node| self.reached[node.index()]) {
                continue;
            }
            let nodes = found.nodes.join(", ");
            if found.exits.is_empty() {
                let message = format!("The loop of {nodes} has no way out.");
                let remedy = "Add a conditional edge that leaves it, or it runs into the recursion limit.";
                problem("loop-without-exit", GraphPlace::Node(first), message, remedy);
            } else {
                let message = format!(
                    "The loop of {nodes} never stops: its edges are always taken, also when a way out is taken too."
                );
                let remedy = "Make one of its edges conditional.";
                problem("endless-loop", GraphPlace::Node(first), message, remedy);
            }
        }
        for (sources, target) in self.joins() {
            let label: Name = sources
                .iter()
                .map(|node| &*self.plan.node(*node).name)
                .collect::<Vec<_>>()
                .join("+")
                .into();
            let place = GraphPlace::Edge(label.clone(), self.name(target as usize));
            let lost = sources.iter().find(|node| !self.reached[**node as usize]);
            if let Some(lost) = lost
                && sources.iter().any(|node| self.reached[*node as usize])
            {
                let message = format!(
                    "The join of {label} waits for `{}` for ever.",
                    self.name(*lost as usize)
                );
                problem(
                    "join-never-fires",
                    place,
                    message,
                    "Connect that node, or take it out of the join.",
                );
            } else if self.are_alternatives(&sources) {
                let message = format!(
                    "The join of {label} waits for all of them, but one conditional edge chooses among them."
                );
                let remedy =
                    "Use an edge from each instead. In a loop a join fires once each of them was chosen.";
                problem("join-of-alternatives", place, message, remedy);
            }
        }
        for ParallelWriters { key, nodes: (a, b) } in self.parallel_writers() {
            let message =
                format!("`{a}` and `{b}` may write `{key}` in the same step; it takes one value per step.");
            let remedy = "Give the key a reducer, or let one node run after the other.";
            problem("parallel-writers", GraphPlace::Channel(key), message, remedy);
        }
        problems
    }

    /// Joins, with the nodes they wait for.
    fn joins(&self) -> Vec<(Vec<NodeIx>, NodeIx)> {
        let mut joins: BTreeMap<ChannelIx, (Vec<NodeIx>, NodeIx)> = BTreeMap::new();
        for link in &self.links {
            if let (ConnectionKind::Join(channel), Some(to)) = (&link.way, link.to) {
                let join = joins.entry(*channel).or_insert_with(|| (Vec::new(), to));
                join.0.push(link.from);
            }
        }
        joins.into_values().collect()
    }

    /// Returns whether the only way to each of these nodes is a path of the same conditional edge.
    fn are_alternatives(&self, nodes: &[NodeIx]) -> bool {
        let mut choices: BTreeSet<(NodeIx, usize)> = BTreeSet::new();
        for link in self
            .links
            .iter()
            .filter(|link| link.to.is_some_and(|to| nodes.contains(&to)))
        {
            match link.way {
                ConnectionKind::Branch(position, _) => choices.insert((link.from, position)),
                _ => return false,
            };
        }
        nodes.len() > 1 && choices.len() == 1
    }
}

/// Layers, loops and warnings, a line each.
impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, layer) in self.layers().iter().enumerate() {
            writeln!(f, "layer {number}: {}", layer.join(", "))?;
        }
        for found in self.loops() {
            let exits: Vec<String> = found
                .exits
                .iter()
                .map(|(from, to)| format!("{from} -> {to}"))
                .collect();
            let exits = match exits.is_empty() {
                true => "none".to_owned(),
                false => exits.join(", "),
            };
            writeln!(f, "loop {}; ways out: {exits}", found.nodes.join(", "))?;
        }
        for warning in self.warnings() {
            writeln!(
                f,
                "warning {} [{}] {}",
                warning.message, warning.code, warning.remedy
            )?;
        }
        Ok(())
    }
}
