//! The builder: a graph is declared by chaining, and everything that is wrong with it is said by `compile`, at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::blocking::Away;
use crate::channel::{ChannelSpec, Kind, Managed};
use crate::checkpoint::reserved::{END, INPUT, START, TASKS};
use crate::compiled::Graph;
use crate::error::{CompileError, GraphPlace, GraphProblem};
use crate::ids::Name;
use crate::node::{Node, Router};
use crate::options::NodeOptions;
use crate::plan::{BranchPlan, Plan};
use crate::retry::RetryPolicy;
use crate::schema::{Key, Schema};
use crate::timeout::Timeout;

/// A graph under construction.
#[derive(Default)]
pub struct StateGraph {
    schema: Schema,
    default_retry: Vec<RetryPolicy>,
    default_timeout: Option<Timeout>,
    nodes: Vec<NodeDecl>,
    edges: Vec<(Name, Name)>,
    joins: Vec<(Vec<Name>, Name)>,
    branches: Vec<(Name, Branch)>,
}

struct NodeDecl {
    name: Name,
    node: Arc<dyn Node>,
    options: NodeOptions,
}

/// A conditional edge: a router, and what its labels mean.
pub struct Branch {
    name: Option<Name>,
    router: Arc<dyn Router>,
    paths: Vec<(Name, Name)>,
    default: Option<Name>,
    input: Option<Vec<Name>>,
}

impl Branch {
    /// Without paths, the router's answers are node names.
    pub fn new(router: impl Router) -> Self {
        Self {
            name: None,
            router: Arc::new(router),
            paths: Vec::new(),
            default: None,
            input: None,
        }
    }
    /// A name, for messages. Two branches of one node need different ones.
    pub fn named(mut self, name: impl Into<Name>) -> Self {
        self.name = Some(name.into());
        self
    }
    /// `label` leads to `target`.
    pub fn path(mut self, label: impl Into<Name>, target: impl Into<Name>) -> Self {
        self.paths.push((label.into(), target.into()));
        self
    }
    /// The router is given only these keys. Otherwise it is given what its node is given, on top of what its node
    /// returned.
    pub fn input<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.input = Some(names(keys));
        self
    }
    /// Where labels without a path lead.
    pub fn default(mut self, target: impl Into<Name>) -> Self {
        self.default = Some(target.into());
        self
    }
}

fn names<T: Into<Name>>(items: impl IntoIterator<Item = T>) -> Vec<Name> {
    items.into_iter().map(Into::into).collect()
}

impl StateGraph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }
    /// Declares a state key. A key may be declared again in the same way; a reducer wins over the plain last value.
    pub fn channel(self, name: impl Into<Name>, spec: ChannelSpec) -> Self {
        self.key(name.into(), spec, false)
    }
    /// Declares a key for nodes to pass something on: it is in the state and in streams, but neither in the input nor
    /// in the output, and nodes see it only when their options name it.
    pub fn private_channel(self, name: impl Into<Name>, spec: ChannelSpec) -> Self {
        self.key(name.into(), spec, true)
    }
    fn key(mut self, name: Name, spec: ChannelSpec, private: bool) -> Self {
        self.schema.keys.push(Key { name, spec, private });
        self
    }
    /// The state is one value and no object of keys: nodes are given it and return it bare.
    pub fn root(mut self, spec: ChannelSpec) -> Self {
        self.schema.root = Some(spec);
        self
    }
    /// Declares a key that the engine computes for every step. It is never in the output nor in checkpoints.
    pub fn managed(mut self, name: impl Into<Name>, managed: Managed) -> Self {
        self.schema.managed.push((name.into(), managed));
        self
    }
    /// Adds a node.
    pub fn node(self, name: impl Into<Name>, node: impl Node) -> Self {
        self.node_arc(name, Arc::new(node))
    }
    /// Adds a node that is already shared.
    pub fn node_arc(self, name: impl Into<Name>, node: Arc<dyn Node>) -> Self {
        self.node_with(name, node, NodeOptions::default())
    }
    /// Adds a node with options of its own.
    pub fn node_with(mut self, name: impl Into<Name>, node: Arc<dyn Node>, options: NodeOptions) -> Self {
        self.nodes.push(NodeDecl {
            name: name.into(),
            node,
            options,
        });
        self
    }
    /// `to` runs after `from`.
    pub fn edge(mut self, from: impl Into<Name>, to: impl Into<Name>) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }
    /// `to` runs once when all of `from` have finished.
    pub fn join<T: Into<Name>>(mut self, from: impl IntoIterator<Item = T>, to: impl Into<Name>) -> Self {
        self.joins.push((names(from), to.into()));
        self
    }
    /// Adds a conditional edge.
    pub fn branch(mut self, from: impl Into<Name>, branch: Branch) -> Self {
        self.branches.push((from.into(), branch));
        self
    }
    /// The keys that input may set; all but private ones when not called.
    pub fn input_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.schema.input = Some(names(keys));
        self
    }
    /// The keys that `invoke` returns; all but private ones when not called. Streams show every key.
    pub fn output_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.schema.output = Some(names(keys));
        self
    }

    /// Failures of nodes without a retry policy of their own are tried again. Called several times, the first policy
    /// that wants a failure decides about it.
    pub fn default_retry(mut self, policy: RetryPolicy) -> Self {
        self.default_retry.push(policy);
        self
    }
    /// The timeout of nodes that have none of their own.
    pub fn default_timeout(mut self, timeout: Timeout) -> Self {
        self.default_timeout = Some(timeout);
        self
    }

    /// Checks everything and builds the runnable graph. O(nodes + edges).
    pub fn compile(self) -> Result<Graph, CompileError> {
        let mut problems = Vec::new();
        let mut plan = Plan::default();
        self.schema.lay_out(&mut plan, &mut problems);
        let mut problem = |code, place, message: String, remedy: &str| {
            problems.push(GraphProblem {
                code,
                message,
                remedy: remedy.into(),
                place,
            });
        };
        plan.start_channel = plan.add_channel(START.into(), ChannelSpec::ephemeral());
        plan.tasks_channel = plan.add_channel(TASKS.into(), ChannelSpec::topic(false));

        plan.add_node(START.into(), None, false, None);
        let start_channel = plan.start_channel;
        plan.subscribe(0, start_channel);
        for decl in self.nodes {
            let name = decl.name;
            let place = GraphPlace::Node(name.clone());
            if &*name == START || &*name == END {
                problem(
                    "reserved-name",
                    place,
                    format!("Node `{name}` is reserved."),
                    "Choose another name.",
                );
                continue;
            }
            if name.starts_with("__") || &*name == INPUT {
                problem(
                    "reserved-name",
                    place,
                    format!("Node name '{name}' is reserved"),
                    "Choose another name.",
                );
                continue;
            }
            if let Some(bad) = name.chars().find(|c| matches!(c, ':' | '|')) {
                let message =
                    format!("'{bad}' is a reserved character and is not allowed in the node names.");
                problem("reserved-character", place, message, "Rename the node.");
                continue;
            }
            if plan.node_index.contains_key(&name) {
                let message = format!("Node `{name}` already present.");
                problem("duplicate-node", place, message, "Give each node its own name.");
                continue;
            }
            let mut input = None;
            if let Some(keys) = decl.options.input.clone() {
                let mut indexes = Vec::new();
                for key in keys {
                    match plan.channel_index.get(&key) {
                        Some(index) if (*index as usize) < plan.readable_keys => indexes.push(*index),
                        _ => {
                            let message = format!("Node `{name}` reads `{key}`, which is not a state key.");
                            problem(
                                "unknown-key",
                                place.clone(),
                                message,
                                "Declare the key or remove it.",
                            );
                        }
                    }
                }
                input = Some(indexes);
            }
            let options = decl.options;
            let timeout = options.timeout.or(self.default_timeout);
            if let Some(message) = timeout.and_then(|timeout| timeout.problem()) {
                let message = format!("Node `{name}`: {message}");
                problem(
                    "invalid-timeout",
                    place,
                    message,
                    "Give it a longer time, or none.",
                );
            }
            let node = if options.blocking {
                Arc::new(Away(decl.node))
            } else {
                decl.node
            };
            plan.add_node(name, Some(node), options.defer, input);
            if let Some(spec) = plan.nodes.last_mut() {
                spec.rules.retry = match options.retry.is_empty() {
                    true => self.default_retry.clone().into(),
                    false => options.retry.into(),
                };
                spec.rules.timeout = timeout;
                spec.kind = options.kind;
            }
        }
        // Trigger channels exist for every node, so that commands and packets can reach nodes without edges.
        for index in 1..plan.nodes.len() {
            let name: Name = format!("branch:to:{}", plan.nodes[index].name).into();
            let spec = if plan.nodes[index].deferred {
                ChannelSpec::of(Kind::LastAfterFinish)
            } else {
                ChannelSpec::ephemeral_any()
            };
            let channel = plan.add_channel(name, spec);
            plan.nodes[index].branch_channel = channel;
            plan.subscribe(index as u32, channel);
        }

        let remedy_edge = "Add the node, or point the edge to one that exists.";
        let mut seen_edges = HashSet::new();
        for (from, to) in self.edges {
            let place = GraphPlace::Edge(from.clone(), to.clone());
            if &*from == END {
                problem(
                    "end-as-source",
                    place,
                    "END cannot be a start node".into(),
                    "Remove the edge.",
                );
                continue;
            }
            if &*to == START {
                problem(
                    "start-as-target",
                    place,
                    "START cannot be an end node".into(),
                    "Remove the edge.",
                );
                continue;
            }
            let source = plan.node_index.get(&from).copied();
            let target = plan.node_index.get(&to).copied();
            if source.is_none() {
                let message = format!("Found edge starting at unknown node '{from}'");
                problem("unknown-source", place.clone(), message, remedy_edge);
            }
            if target.is_none() && &*to != END {
                problem(
                    "unknown-target",
                    place,
                    format!("Found edge ending at unknown node `{to}`"),
                    remedy_edge,
                );
            }
            if let (Some(source), true) = (source, seen_edges.insert((from, to))) {
                plan.nodes[source as usize].has_exit = true;
                if let Some(target) = target {
                    let channel = plan.nodes[target as usize].branch_channel;
                    plan.nodes[source as usize].edges.push(channel);
                    plan.link(source, target);
                }
            }
        }
        for (from, to) in self.joins {
            let label: Name = from.iter().map(|n| &**n).collect::<Vec<_>>().join("+").into();
            let place = GraphPlace::Edge(label.clone(), to.clone());
            let mut complete = !from.is_empty();
            for name in from.iter().chain((&*to != END).then_some(&to)) {
                if !plan.node_index.contains_key(name) || &**name == START {
                    problem(
                        "unknown-join",
                        place.clone(),
                        format!("Need to add_node `{name}` first"),
                        remedy_edge,
                    );
                    complete = false;
                }
            }
            let Some(target) = plan.node_index.get(&to).copied().filter(|_| complete) else {
                continue;
            };
            let mut sources = from.clone();
            sources.sort();
            sources.dedup();
            let spec = ChannelSpec::of(Kind::Barrier {
                names: sources.clone().into(),
                deferred: plan.nodes[target as usize].deferred,
            });
            let name: Name = format!("join:{label}:{to}").into();
            if plan.channel_index.contains_key(&name) {
                problem(
                    "duplicate-edge",
                    place,
                    format!("The join {label} -> {to} is there twice."),
                    "Remove one.",
                );
                continue;
            }
            let channel = plan.add_channel(name, spec);
            plan.channels[channel as usize].join_target = Some(target);
            plan.subscribe(target, channel);
            for source in sources {
                let source = plan.node_index[&source];
                plan.nodes[source as usize].joins.push(channel);
                plan.nodes[source as usize].has_exit = true;
                plan.link(source, target);
            }
        }
        let mut branch_names = HashSet::new();
        for (from, branch) in self.branches {
            let name = branch.name.unwrap_or_else(|| "condition".into());
            let place = GraphPlace::Branch(from.clone(), name.clone());
            let Some(source) = plan.node_index.get(&from).copied() else {
                let message = format!("Found edge starting at unknown node '{from}'");
                problem("unknown-source", place, message, remedy_edge);
                continue;
            };
            if !branch_names.insert((from.clone(), name.clone())) {
                let message = format!("Branch with name `{name}` already exists for node `{from}`");
                problem(
                    "duplicate-branch",
                    place,
                    message,
                    "Give the branch another name.",
                );
                continue;
            }
            let mut paths = HashMap::new();
            for (label, target) in branch.paths.iter() {
                if &**target != END && !plan.node_index.contains_key(target) {
                    let message =
                        format!("At '{from}' node, '{name}' branch found unknown target '{target}'");
                    problem("unknown-target", place.clone(), message, remedy_edge);
                }
                paths.insert(label.clone(), target.clone());
            }
            if let Some(target) = &branch.default
                && &**target != END
                && !plan.node_index.contains_key(target)
            {
                let message = format!("At '{from}' node, '{name}' branch found unknown target '{target}'");
                problem("unknown-target", place.clone(), message, remedy_edge);
            }
            for target in paths.values().chain(&branch.default) {
                if let Some(target) = plan.node_index.get(target).copied() {
                    plan.link(source, target);
                }
            }
            let mut input = branch.input.as_ref().map(|_| Vec::new());
            for key in branch.input.iter().flatten() {
                match plan.channel_index.get(key) {
                    Some(index) if (*index as usize) < plan.readable_keys => {
                        input.get_or_insert_default().push(*index);
                    }
                    _ => problem(
                        "unknown-key",
                        place.clone(),
                        format!("Branch `{name}` of `{from}` reads `{key}`, which is not a state key."),
                        "Declare the key or remove it.",
                    ),
                }
            }
            plan.nodes[source as usize].has_exit = true;
            plan.nodes[source as usize].branches.push(BranchPlan {
                name,
                router: branch.router,
                paths: (!paths.is_empty() || branch.default.is_some()).then_some(paths),
                default: branch.default,
                input,
            });
        }
        if !plan.nodes[0].has_exit {
            problem(
                "no-entry",
                GraphPlace::Graph,
                "Graph must have an entrypoint: add at least one edge from START to another node".into(),
                "Connect START to the node that runs first.",
            );
        }
        if problems.is_empty() {
            Ok(Graph::new(plan.finish()))
        } else {
            Err(CompileError { problems })
        }
    }
}
