//! From declarations to a plan. Nothing stops at the first problem: everything that is wrong is reported at once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::ids::Name;
use crate::base::timeout::Timeout;
use crate::channel::{ChannelSpec, Kind};
use crate::checkpoint::types::reserved::{END, START, TASKS};
use crate::graph::blocking::BlockingNode;
use crate::graph::builder::{Branch, NodeDecl, StateGraph};
use crate::graph::handler::{ErrorHandler, LimitBranch};
use crate::graph::plan::{BranchPlan, ChannelIx, More, NodeIx, Plan};
use crate::graph::rules::Rules;
use crate::graph::schema::is_reserved;
use crate::policy::cache::CachePolicy;
use crate::policy::effect::Effect;
use crate::policy::retry::RetryPolicy;
use crate::stream::error::{CompileError, GraphPlace, GraphProblem};

const POINT_ELSEWHERE: &str = "Add the node, or point the edge to one that exists.";

struct Compiler {
    plan: Plan,
    problems: Vec<GraphProblem>,
    /// Names of nodes that were refused: what leads to or from them is no further problem.
    refused: HashSet<Name>,
    default_retry: Arc<[RetryPolicy]>,
    default_timeout: Option<Timeout>,
    default_cache: Option<CachePolicy>,
    handlers: Vec<(NodeIx, Arc<dyn ErrorHandler>)>,
    limit_branches: Vec<(NodeIx, LimitBranch)>,
}

pub(crate) fn compile(graph: StateGraph) -> Result<Plan, CompileError> {
    let mut compiler = Compiler {
        plan: Plan::default(),
        problems: Vec::new(),
        refused: HashSet::new(),
        default_retry: graph.default_retry.into(),
        default_timeout: graph.default_timeout,
        default_cache: graph.default_cache,
        handlers: Vec::new(),
        limit_branches: Vec::new(),
    };
    graph.schema.lay_out(&mut compiler.plan, &mut compiler.problems);
    let plan = &mut compiler.plan;
    plan.reserve(graph.nodes.len());
    plan.start_channel = plan.add_channel(START.into(), ChannelSpec::ephemeral());
    plan.tasks_channel = plan.add_channel(TASKS.into(), ChannelSpec::topic());
    plan.add_node(START.into(), None);
    let start_channel = plan.start_channel;
    plan.subscribe(0, start_channel);

    let enters = |from: &Name| &**from == START;
    let has_entry = graph.edges.iter().any(|(from, _)| enters(from))
        || graph.branches.iter().any(|(from, _)| enters(from));
    for node in graph.nodes {
        compiler.node(node);
    }
    compiler.triggers();
    compiler.error_handlers(graph.default_error_handler);
    compiler.destinations();
    compiler.edges(graph.edges);
    for (from, to) in graph.joins {
        compiler.join(from, to);
    }
    compiler.branches(graph.branches);
    if !has_entry {
        compiler.problem(
            "no-entry",
            GraphPlace::Graph,
            "Graph must have an entrypoint: add at least one edge from START to another node".into(),
            "Connect START to the node that runs first.",
        );
    }
    match compiler.problems.is_empty() {
        true => Ok(compiler.plan.finish()),
        false => Err(CompileError {
            problems: compiler.problems,
        }),
    }
}

impl Compiler {
    fn problem(&mut self, code: &'static str, place: GraphPlace, message: String, remedy: &str) {
        self.problems.push(GraphProblem {
            code,
            message,
            remedy: remedy.into(),
            place,
        });
    }

    /// Checks whether a node can have this name, and reports why it cannot.
    fn is_named_well(&mut self, name: &Name, place: &GraphPlace) -> bool {
        let (code, message, remedy) = if &**name == START || &**name == END {
            let message = format!("Node `{name}` is reserved.");
            ("reserved-name", message, "Choose another name.")
        } else if is_reserved(name) {
            let message = format!("Node name '{name}' is reserved");
            ("reserved-name", message, "Choose another name.")
        } else if let Some(bad) = name.chars().find(|c| matches!(c, ':' | '|')) {
            let message = format!("'{bad}' is a reserved character and is not allowed in the node names.");
            ("reserved-character", message, "Rename the node.")
        } else if self.plan.node_index.contains_key(name) {
            let message = format!("Node `{name}` already present.");
            self.problem(
                "duplicate-node",
                place.clone(),
                message,
                "Give each node its own name.",
            );
            return false;
        } else {
            return true;
        };
        self.refused.insert(name.clone());
        self.problem(code, place.clone(), message, remedy);
        false
    }

    /// Bounds how often a thread may come to the node that is added next.
    fn bound(&mut self, name: &Name, place: &GraphPlace, max_visits: Option<u32>) {
        let Some(limit) = max_visits else { return };
        if limit == 0 {
            self.problem(
                "visit-limit",
                place.clone(),
                format!("Node `{name}` may be visited 0 times, so no run could ever come to it."),
                "Give at least 1, or no limit.",
            );
        }
        self.plan.bounded.push(self.plan.nodes.len() as NodeIx);
    }

    fn node(&mut self, decl: NodeDecl) {
        let name = decl.name;
        let place = GraphPlace::Node(name.clone());
        if !self.is_named_well(&name, &place) {
            return;
        }
        let plain =
            self.default_retry.is_empty() && self.default_timeout.is_none() && self.default_cache.is_none();
        if decl.options.is_none() && plain {
            self.plan.add_node(name, Some(decl.node));
            return;
        }
        let options = decl.options.map(|options| *options).unwrap_or_default();
        let reader = || format!("Node `{name}` reads");
        let input = self.keys(options.input, self.plan.readable_keys, reader, &place);
        let writer = || format!("Node `{name}` writes");
        let writes = self.keys(options.writes, self.plan.state_keys, writer, &place);
        let timeout = options.timeout.or(self.default_timeout);
        if let Some(message) = timeout.and_then(|timeout| timeout.problem()) {
            let message = format!("Node `{name}`: {message}");
            self.problem(
                "invalid-timeout",
                place.clone(),
                message,
                "Give it a longer time, or none.",
            );
        }
        let mut destinations = options.destinations;
        if let Some(branch) = &options.error_branch {
            destinations.push(branch.target.clone());
            let into = branch.into.clone().into_iter().collect();
            let writer = || format!("The error branch of node `{name}` writes");
            self.keys(Some(into), self.plan.state_keys, writer, &place);
        }
        let node = match options.blocking {
            true => Arc::new(BlockingNode(decl.node)),
            false => decl.node,
        };
        if options.max_visits.is_some() && !options.limit_branch.is_empty() {
            destinations.extend(options.limit_branch.iter().cloned());
            let branch = LimitBranch {
                targets: options.limit_branch,
            };
            self.limit_branches
                .push((self.plan.nodes.len() as NodeIx, branch));
        }
        let branch = options
            .error_branch
            .map(|branch| Arc::new(branch) as Arc<dyn ErrorHandler>);
        if let Some(handler) = options.error_handler.or(branch) {
            self.handlers.push((self.plan.nodes.len() as NodeIx, handler));
        }
        self.bound(&name, &place, options.max_visits);
        self.plan.acts |= options.effect.is_some_and(Effect::is_outside);
        let plan = self.plan.add_node(name, Some(node));
        plan.deferred = options.defer;
        plan.input = input;
        if let Some(spec) = self.plan.nodes.last_mut() {
            let rules = Rules {
                retry: match options.retry.is_empty() {
                    true => self.default_retry.clone(),
                    false => options.retry.into(),
                },
                timeout,
                fallback: options.fallback,
                gates: Vec::new(),
            };
            spec.say(More {
                rules,
                cache: options.cache.or_else(|| self.default_cache.clone()),
                kind: options.kind,
                places: options.places,
                graphs: options.graphs,
                destinations,
                writes,
                metadata: options.metadata,
                max_visits: options.max_visits,
                effect: options.effect,
                effect_keys: options.effect_keys,
            });
        }
    }

    /// Returns the channels of these keys, which must be among the first `known`.
    fn keys(
        &mut self,
        keys: Option<Vec<Name>>,
        known: usize,
        who: impl Fn() -> String,
        place: &GraphPlace,
    ) -> Option<Vec<ChannelIx>> {
        let mut indexes = Vec::new();
        for key in keys? {
            match self.plan.channel_named(&key) {
                Some(index) if (index as usize) < known => indexes.push(index),
                _ => self.problem(
                    "unknown-key",
                    place.clone(),
                    format!("{} `{key}`, which is not a state key.", who()),
                    "Declare the key or remove it.",
                ),
            }
        }
        Some(indexes)
    }

    /// Adds a trigger channel for every node, so that commands and packets can reach nodes without edges.
    fn triggers(&mut self) {
        for index in 1..self.plan.nodes.len() {
            let spec = match self.plan.nodes[index].deferred {
                true => ChannelSpec::of(Kind::LastAfterFinish),
                false => ChannelSpec::ephemeral_any(),
            };
            self.plan.add_trigger(index as NodeIx, spec);
        }
    }

    /// Adds the error handlers, which come after the nodes. Nodes without one of their own share the default.
    fn error_handlers(&mut self, default: Option<Arc<dyn ErrorHandler>>) {
        let rules = Rules {
            retry: self.default_retry.clone(),
            timeout: self.default_timeout,
            ..Rules::default()
        };
        if let Some(handler) = default {
            let name = "__default_error_handler__".into();
            let index = self.plan.add_handler(name, handler, rules.clone());
            for node in self.plan.nodes.iter_mut().skip(1) {
                node.handler = Some(index);
            }
        }
        for (node, handler) in std::mem::take(&mut self.handlers) {
            let name = format!("__error_handler__{}", self.plan.nodes[node as usize].name).into();
            let index = self.plan.add_handler(name, handler, rules.clone());
            self.plan.nodes[node as usize].handler = Some(index);
        }
        for (node, branch) in std::mem::take(&mut self.limit_branches) {
            let name = format!("__limit_handler__{}", self.plan.nodes[node as usize].name).into();
            let index = self.plan.add_handler(name, Arc::new(branch), Rules::default());
            self.plan.limit_handlers.insert(node, index);
        }
    }

    fn is_target(&self, target: &Name) -> bool {
        &**target == END || self.plan.node_index.contains_key(target) || self.refused.contains(target)
    }

    fn destinations(&mut self) {
        let declared = |node: &crate::graph::plan::NodePlan| {
            let from = node.name.clone();
            let pairs = node.more().destinations.iter();
            let pairs = pairs.map(move |to| (from.clone(), to.clone()));
            pairs.collect::<Vec<_>>()
        };
        let says = |node: &&crate::graph::plan::NodePlan| !node.more().destinations.is_empty();
        let pairs: Vec<(Name, Name)> = self.plan.nodes.iter().filter(says).flat_map(declared).collect();
        for (from, to) in pairs {
            if !self.is_target(&to) {
                let message = format!("Found edge ending at unknown node `{to}`");
                let place = GraphPlace::Edge(from, to);
                self.problem(
                    "unknown-target",
                    place,
                    message,
                    "Add the node, or correct the destination.",
                );
            }
        }
    }

    fn edges(&mut self, edges: Vec<(Name, Name)>) {
        for (from, to) in edges {
            let place = || GraphPlace::Edge(from.clone(), to.clone());
            if &*from == END {
                let message = "END cannot be a start node".into();
                self.problem("end-as-source", place(), message, "Remove the edge.");
                continue;
            }
            if &*to == START {
                let message = "START cannot be an end node".into();
                self.problem("start-as-target", place(), message, "Remove the edge.");
                continue;
            }
            let source = self.plan.node_index.get(&from).copied();
            let target = self.plan.node_index.get(&to).copied();
            if source.is_none() && !self.refused.contains(&from) {
                let message = format!("Found edge starting at unknown node '{from}'");
                self.problem("unknown-source", place(), message, POINT_ELSEWHERE);
            }
            if target.is_none() && !self.is_target(&to) {
                let message = format!("Found edge ending at unknown node `{to}`");
                self.problem("unknown-target", place(), message, POINT_ELSEWHERE);
            }
            // An edge to END has no target. The same edge again says nothing new: `finish` drops it.
            if let Some(source) = source {
                match target {
                    Some(target) => {
                        let channel = self.plan.nodes[target as usize].branch_channel;
                        self.plan.nodes[source as usize].edges.push(channel);
                    }
                    None => self.plan.nodes[source as usize].ends = true,
                }
            }
        }
    }

    fn join(&mut self, from: Vec<Name>, to: Name) {
        let label: Name = from.iter().map(|n| &**n).collect::<Vec<_>>().join("+").into();
        let place = GraphPlace::Edge(label.clone(), to.clone());
        let mut complete = !from.is_empty();
        if from.is_empty() {
            let message = format!("The join before `{to}` waits for no node");
            let remedy = "Name the nodes that it waits for, or remove it.";
            self.problem("empty-join", place.clone(), message, remedy);
        }
        for name in from.iter().chain((&*to != END).then_some(&to)) {
            if self.refused.contains(name) {
                complete = false;
            } else if !self.plan.node_index.contains_key(name) || &**name == START {
                let message = match &**name {
                    END => "END cannot be a start node".to_owned(),
                    _ => format!("Need to add_node `{name}` first"),
                };
                self.problem("unknown-join", place.clone(), message, POINT_ELSEWHERE);
                complete = false;
            }
        }
        let Some(target) = self.plan.node_index.get(&to).copied().filter(|_| complete) else {
            return;
        };
        let name: Name = format!("join:{label}:{to}").into();
        if self.plan.channel_named(&name).is_some() {
            // The same join again says nothing new, as with edges.
            return;
        }
        let mut sources = from;
        sources.sort();
        sources.dedup();
        let spec = ChannelSpec::of(Kind::Barrier {
            names: sources.clone().into(),
            deferred: self.plan.nodes[target as usize].deferred,
        });
        let channel = self.plan.add_channel(name, spec);
        self.plan.channels[channel as usize].join_target = Some(target);
        self.plan.subscribe(target, channel);
        for source in sources {
            let source = self.plan.node_index[&source];
            self.plan.nodes[source as usize].joins.push(channel);
        }
    }

    fn branches(&mut self, branches: Vec<(Name, Branch)>) {
        let mut seen = HashSet::new();
        for (from, branch) in branches {
            let name = branch.name.unwrap_or_else(|| "condition".into());
            let place = GraphPlace::Branch(from.clone(), name.clone());
            let Some(source) = self.plan.node_index.get(&from).copied() else {
                if self.refused.contains(&from) {
                    continue;
                }
                let message = format!("Found edge starting at unknown node '{from}'");
                self.problem("unknown-source", place, message, POINT_ELSEWHERE);
                continue;
            };
            if !seen.insert((from.clone(), name.clone())) {
                let message = format!("Branch with name `{name}` already exists for node `{from}`");
                self.problem(
                    "duplicate-branch",
                    place,
                    message,
                    "Give the branch another name.",
                );
                continue;
            }
            for target in branch
                .paths
                .iter()
                .map(|(_, target)| target)
                .chain(&branch.default)
            {
                if !self.is_target(target) {
                    let message =
                        format!("At '{from}' node, '{name}' branch found unknown target '{target}'");
                    self.problem("unknown-target", place.clone(), message, POINT_ELSEWHERE);
                }
            }
            let reader = || format!("Branch `{name}` of `{from}` reads");
            let input = self.keys(branch.input, self.plan.readable_keys, reader, &place);
            let paths: HashMap<Name, Name> = branch.paths.into_iter().collect();
            self.plan.nodes[source as usize].branches.push(BranchPlan {
                name,
                router: branch.router,
                paths: (!paths.is_empty() || branch.default.is_some()).then_some(paths),
                default: branch.default,
                input,
            });
        }
    }
}
