//! The shape of a graph: who follows whom, what can be reached, where the loops are, which layers it has.
//!
//! `petgraph` holds it, with the algorithms that do not recurse: a chain of 100,000 nodes is a graph like any other.
//! Expressions are not looked at: a conditional edge counts as able to lead to each of its targets.

use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::document::Document;
use crate::policy::Fallback;
use crate::{END, START};

/// The shape of a document's graph. Edges that name unknown nodes, leave the end or
/// lead to the start are left out.
#[derive(Clone, Debug)]
pub struct Topology {
    graph: DiGraph<String, ()>,
    places: HashMap<String, NodeIndex>,
}

impl Topology {
    /// Creates the topology of a document.
    pub fn of(document: &Document) -> Self {
        let mut graph = DiGraph::new();
        let names = [START, END]
            .into_iter()
            .chain(document.node_ids().filter(|id| *id != START && *id != END));
        let places: HashMap<String, NodeIndex> = names
            .map(|name| (name.to_owned(), graph.add_node(name.to_owned())))
            .collect();
        for (_, edge) in document.edges() {
            for from in edge.sources() {
                for to in edge.targets() {
                    if let (Some(&from), Some(&to)) = (places.get(from), places.get(to))
                        && graph[from] != END
                        && graph[to] != START
                    {
                        graph.add_edge(from, to, ());
                    }
                }
            }
        }
        // A fallback that goes on elsewhere is a way there as well.
        for (from, spec) in document.nodes() {
            if let Some(Fallback::Branch { to, .. }) = &spec.policy.fallback
                && let (Some(&from), Some(&to)) = (places.get(from), places.get(to.as_str()))
                && graph[to] != START
            {
                graph.add_edge(from, to, ());
            }
        }
        Self { graph, places }
    }

    /// Returns start, end and every node, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.graph.node_weights().map(String::as_str)
    }

    /// Returns the places that the edges of a node can lead to, each once, in the order of the edges.
    pub fn successors(&self, name: &str) -> Vec<&str> {
        self.neighbours(name, petgraph::Direction::Outgoing)
    }

    /// Returns the nodes that can lead to a node, each once, in the order of the edges.
    pub fn predecessors(&self, name: &str) -> Vec<&str> {
        self.neighbours(name, petgraph::Direction::Incoming)
    }

    fn neighbours(&self, name: &str, direction: petgraph::Direction) -> Vec<&str> {
        let Some(&place) = self.places.get(name) else {
            return Vec::new();
        };
        // petgraph walks the newest edge first.
        let mut found: Vec<NodeIndex> = self.graph.neighbors_directed(place, direction).collect();
        found.reverse();
        let mut seen = HashSet::new();
        found.retain(|place| seen.insert(*place));
        found
            .into_iter()
            .map(|place| self.graph[place].as_str())
            .collect()
    }

    /// Returns everything that can run after `name`, including `name` itself.
    pub fn reachable(&self, name: &str) -> HashSet<&str> {
        let mut seen = HashSet::new();
        let mut queue: VecDeque<NodeIndex> = self.places.get(name).copied().into_iter().collect();
        seen.extend(queue.iter().copied());
        while let Some(place) = queue.pop_front() {
            for next in self.graph.neighbors(place) {
                if seen.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        seen.into_iter().map(|place| self.graph[place].as_str()).collect()
    }

    /// Returns the loops: strongly connected components with more than one node or with an edge to themselves. Nodes
    /// are in the order of the file, loops in the order of their first node.
    pub fn loops(&self) -> Vec<Vec<&str>> {
        let mut loops: Vec<Vec<NodeIndex>> = kosaraju_scc(&self.graph)
            .into_iter()
            .filter(|nodes| match nodes.as_slice() {
                [only] => self.graph.contains_edge(*only, *only),
                _ => true,
            })
            .map(|mut nodes| {
                nodes.sort();
                nodes
            })
            .collect();
        loops.sort();
        loops
            .into_iter()
            .map(|nodes| {
                nodes
                    .into_iter()
                    .map(|place| self.graph[place].as_str())
                    .collect()
            })
            .collect()
    }

    /// Returns the layers from left to right: a node is to the right of everything that leads to it, the nodes of a
    /// loop share one layer. Nodes are in the order of the file.
    pub fn layers(&self) -> Vec<Vec<&str>> {
        // The components come in reverse topological order: successors come before predecessors.
        let components = kosaraju_scc(&self.graph);
        let mut component_of = vec![0; self.graph.node_count()];
        for (index, nodes) in components.iter().enumerate() {
            for node in nodes {
                component_of[node.index()] = index;
            }
        }
        let mut depth = vec![0; components.len()];
        for (index, nodes) in components.iter().enumerate().rev() {
            for next in nodes.iter().flat_map(|node| self.graph.neighbors(*node)) {
                let next = component_of[next.index()];
                if next != index {
                    depth[next] = depth[next].max(depth[index] + 1);
                }
            }
        }
        let mut layers = vec![Vec::new(); depth.iter().max().map_or(0, |deepest| deepest + 1)];
        for place in self.graph.node_indices() {
            layers[depth[component_of[place.index()]]].push(self.graph[place].as_str());
        }
        layers
    }
}
