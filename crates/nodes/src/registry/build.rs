//! The engine graph that a document means: its state keys, its nodes, its edges, in this order.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;
use superstep::graph::{ContextSchema, GraphPlace};
use superstep::{Node, NodeOptions, START, StateGraph, Value};
use superstep_document::{Diagnostic, Document, Edge, Fallback, NOTE, NodeSpec};

use super::check::Findings;
use super::disabled::{self, IdleNode};
use super::site::NO_ORDER;
use super::stopped::Stoppable;
use super::summary::Summarized;
use super::working::WorkingNodes;
use super::{BuildSite, Built, KindEntry, Registry, edges, invariants, policy};
use crate::base::files::Stamp;
use crate::base::schema_validator::SchemaValidator;
use crate::base::secrets::{self, Redacted};
use crate::models::Providers;
use crate::project::Environment;
use crate::project::graph_files::Runs;
use crate::state::channel::channel;
use crate::state::schema::{Keys, StateSchema};
use superstep_document::text;

impl Registry {
    /// Builds the graph of a document; `above` are the files of the graphs around it.
    pub(super) fn build_at(
        &self,
        document: &Document,
        environment: &Environment,
        above: &[PathBuf],
        working: WorkingNodes<'_>,
    ) -> Result<Built, Vec<Diagnostic>> {
        let outermost = above.is_empty().then(|| environment.outermost());
        let environment = outermost.as_ref().unwrap_or(environment);
        let mut found = self.look_at(document, Some(environment), above);
        note_secrets(&found, environment);
        let problems = found.all(document);
        let build = Build {
            registry: self,
            document,
            environment,
            above,
            working,
            found,
            keys: Keys::of(document),
            providers: Arc::new(environment.providers()),
            specs: document.nodes().filter(|(_, spec)| spec.kind != NOTE).collect(),
            nodes: document.nodes().collect(),
        };
        let problems = build.in_the_way(problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut files = Vec::new();
        let graph = build.state()?;
        let graph = build.with_nodes(graph, &mut files)?;
        let graph = build.with_edges(graph)?;
        let graph = build.with_invariants(graph)?;
        build.compiled(graph, files)
    }
}

/// Records the secrets that a graph gets, so that they are never shown again.
fn note_secrets(found: &Findings, environment: &Environment) {
    for access in found.accesses.values().flatten() {
        if let Some(name) = access.variable()
            && let Some(value) = (environment.variables)(name)
        {
            secrets::note(&value);
        }
    }
}

/// A node as its kind built it, and the graphs that it runs.
struct BuiltNode {
    node: Arc<dyn Node>,
    runs: Runs,
}

/// A document on its way to a graph: what it says, where it is, and what was found in it.
struct Build<'a> {
    registry: &'a Registry,
    document: &'a Document,
    environment: &'a Environment,
    /// Files of the graphs around this one, and its own.
    above: &'a [PathBuf],
    working: WorkingNodes<'a>,
    found: Findings,
    keys: Keys,
    providers: Arc<Providers>,
    /// Nodes that run; notes are read by people only.
    specs: IndexMap<&'a str, NodeSpec>,
    /// All nodes, for settings that name one.
    nodes: BTreeMap<&'a str, NodeSpec>,
}

impl Build<'_> {
    /// Returns the node that is tested alone.
    fn tested(&self) -> Option<&str> {
        match self.working {
            WorkingNodes::Only(node) => Some(node),
            WorkingNodes::All | WorkingNodes::Certain(_) => None,
        }
    }

    /// Returns whether the node works in this graph.
    fn is_active(&self, id: &str, spec: &NodeSpec) -> bool {
        match self.working {
            WorkingNodes::All => spec.disabled.is_none(),
            WorkingNodes::Only(node) => node == id,
            WorkingNodes::Certain(without) => {
                let certain = || self.registry.is_certain(spec, self.environment, self.above);
                spec.disabled.is_none() && !without.contains(id) && certain()
            }
        }
    }

    /// Returns the errors that keep the graph from being built: for a node that is tested alone only its own, those of
    /// its edges and of the state keys.
    fn in_the_way(&self, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
        problems.retain(|problem| problem.is_error() && problem.code != NO_ORDER);
        if let Some(node) = self.tested() {
            let edges = self.edges().into_iter().map(|(id, _)| format!("edge:{id}"));
            let own: HashSet<String> = edges.chain([format!("node:{node}")]).collect();
            problems.retain(|problem| problem.record.starts_with("key:") || own.contains(&problem.record));
        }
        problems
    }

    /// Returns the edges of the graph: for a node that is tested alone only those that leave it, for a disabled one
    /// those that do not depend on what it does.
    fn edges(&self) -> Vec<(String, Edge)> {
        let tried = |edge: &Edge| self.tested().is_none_or(|node| edge.sources().contains(&node));
        let mut edges = Vec::new();
        let mut of_disabled: IndexMap<&str, Vec<(String, Edge)>> = IndexMap::new();
        for (id, spec) in &self.specs {
            if spec.disabled.is_some() {
                of_disabled.insert(id, Vec::new());
            }
        }
        for (id, edge) in self.document.edges().filter(|(_, edge)| tried(edge)) {
            // A join has several sources, and is plain.
            let own = match edge.sources()[..] {
                [source] => of_disabled.get_mut(source),
                _ => None,
            };
            own.unwrap_or(&mut edges).push((id.to_owned(), edge));
        }
        for (node, own) in of_disabled {
            if let Some(disabled) = &self.specs[node].disabled {
                edges.extend(disabled::followed(node, disabled, own));
            }
        }
        edges
    }

    /// Creates a graph with the document's state keys and its run context.
    fn state(&self) -> Result<StateGraph, Vec<Diagnostic>> {
        let (schema, _) = StateSchema::of(self.document);
        let schema = Arc::new(schema);
        let unknown = schema.clone();
        let mut graph = StateGraph::new().refuse_unknown_keys(move |key| unknown.no_key(key));
        if let Some(declared) = self.document.context_schema() {
            graph = graph.context(context_schema(&declared).map_err(|problem| vec![problem])?);
        }
        for (name, key) in self.document.state_keys() {
            graph = schema.channel(graph, name, channel(&key));
        }
        // A node that is tried alone takes any state.
        if self.tested().is_none() {
            if let Some(input) = self.document.input_keys() {
                graph = graph.input_keys(input);
            }
            if let Some(output) = self.document.output_keys() {
                graph = graph.output_keys(output);
            }
        }
        Ok(graph)
    }

    /// Adds the nodes; `files` takes those that they were built from. Every node that cannot be built is a problem.
    fn with_nodes(
        &self,
        mut graph: StateGraph,
        files: &mut Vec<(PathBuf, Stamp)>,
    ) -> Result<StateGraph, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        for (&id, spec) in &self.specs {
            if !self.is_active(id, spec) {
                let options = match self.tested() {
                    Some(_) => NodeOptions::new(),
                    None => self.with_limit(disabled::options(&spec.policy), id),
                };
                graph = graph.node_with(id, Arc::new(IdleNode), options);
                continue;
            }
            let Some(entry) = self.registry.kinds.get(spec.kind.as_str()) else {
                continue;
            };
            match self.node_with_options(id, spec, entry) {
                Ok((BuiltNode { node, runs }, options)) => {
                    graph = graph.node_with(id, node, options);
                    files.extend(runs.files);
                }
                Err(problem) => problems.push(problem),
            }
        }
        match problems.is_empty() {
            true => Ok(graph),
            false => Err(problems),
        }
    }

    /// Builds a node with its fallback, and returns the options with which it runs.
    fn node_with_options(
        &self,
        id: &str,
        spec: &NodeSpec,
        entry: &KindEntry,
    ) -> Result<(BuiltNode, NodeOptions), Diagnostic> {
        let mut built = self.node(id, spec, entry)?;
        let fallback = match &spec.policy.fallback {
            Some(Fallback::Node(other)) => self.other_node(other)?,
            _ => None,
        };
        let fallback = fallback.map(|other| {
            built.runs.graphs.extend(other.runs.graphs);
            built.runs.files.extend(other.runs.files);
            other.node
        });
        let identity = || self.identity(id, spec, &built.runs);
        let options = policy::options(id, &spec.policy, identity, fallback)?;
        let options = self.with_effect(options, id, spec, entry);
        let options = self.with_limit(options, id);
        let usage = self.found.usage.get(&format!("node:{id}"));
        let targets = usage.into_iter().flat_map(|usage| &usage.dynamic_targets);
        let known = targets.filter(|to| self.specs.contains_key(to.as_str()));
        let options = options.destinations(known.map(String::as_str));
        let options = built.runs.graphs.iter().fold(options, NodeOptions::runs);
        Ok((built, options))
    }

    /// Adds where a run goes on when the node was visited as often as it may be.
    fn with_limit(&self, options: NodeOptions, id: &str) -> NodeOptions {
        let edges = self.document.edges().filter(|_| self.tested().is_none());
        edges.fold(options, |options, (_, edge)| match edge {
            Edge::Limit { from, to } if from == id => options.limit_branch(to),
            _ => options,
        })
    }

    /// Builds the node that a fallback names; `None` if there is none, which is a problem of the document.
    fn other_node(&self, id: &str) -> Result<Option<BuiltNode>, Diagnostic> {
        let Some(spec) = self.specs.get(id) else {
            return Ok(None);
        };
        if spec.disabled.is_some() {
            return Ok(Some(BuiltNode {
                node: Arc::new(IdleNode),
                runs: Runs::default(),
            }));
        }
        let entry = self.registry.kinds.get(spec.kind.as_str());
        entry.map(|entry| self.node(id, spec, entry)).transpose()
    }

    /// Builds a node with its kind; what it touches outside of the graph is kept out of what it shows.
    fn node(&self, id: &str, spec: &NodeSpec, entry: &KindEntry) -> Result<BuiltNode, Diagnostic> {
        let registry = self.registry;
        let site = BuildSite {
            node: id,
            config: &spec.config,
            keys: &self.keys,
            folder: self.environment.folder.clone(),
            nodes: &self.nodes,
            effect: spec.policy.effect,
            providers: self.providers.clone(),
            folders: registry.folders.clone(),
            servers: registry.servers.clone(),
            pythons: registry.pythons.clone(),
            workers: registry.workers.clone(),
            registry,
            environment: self.environment,
            above: self.above,
            runs: RefCell::<Runs>::default(),
        };
        let mut node: Arc<dyn Node> = Arc::new(Stoppable(entry.kind.build(&site)?));
        if let Some(template) = &spec.policy.summary {
            node = Arc::new(Summarized::new(id, node, template)?);
        }
        if self.found.accesses.contains_key(&format!("node:{id}")) {
            node = Arc::new(Redacted(node));
        }
        let runs = site.runs.into_inner();
        Ok(BuiltNode { node, runs })
    }

    /// Returns everything that a result of the node depends on besides its input, as one text.
    fn identity(&self, id: &str, spec: &NodeSpec, runs: &Runs) -> String {
        let edges = self.document.edges().map(|(_, edge)| edge);
        let own: Vec<Edge> = edges.filter(|edge| edge.sources().contains(&id)).collect();
        let config = Json::Object(spec.config.clone()).to_string();
        let world = format!("{:?} {:?}", self.environment.folder, runs.files);
        policy::identity(&[&spec.kind, &config, &world], &own)
    }

    /// Says what running the node does to the world, and which keys that depends on where this is known.
    fn with_effect(&self, options: NodeOptions, id: &str, spec: &NodeSpec, entry: &KindEntry) -> NodeOptions {
        let options = options.effect(entry.effect(spec));
        match self.found.usage.get(&format!("node:{id}")) {
            Some(usage) if !usage.whole && entry.kind.reads_are_known() => {
                options.effect_keys(usage.reads.iter().map(String::as_str))
            }
            _ => options,
        }
    }

    /// Adds the edges; the first whose expression cannot be read is the problem.
    fn with_edges(&self, mut graph: StateGraph) -> Result<StateGraph, Vec<Diagnostic>> {
        if let Some(node) = self.tested() {
            graph = graph.edge(START, node);
        }
        for (id, edge) in self.edges() {
            graph = edges::connect(graph, &id, &edge).map_err(|error| {
                let record = format!("edge:{id}");
                vec![Diagnostic::error(
                    "expression-syntax",
                    record,
                    error.message,
                    error.remedy,
                )]
            })?;
        }
        Ok(graph)
    }

    /// Adds the invariants; a node that is tried alone has none.
    fn with_invariants(&self, mut graph: StateGraph) -> Result<StateGraph, Vec<Diagnostic>> {
        if self.tested().is_some() {
            return Ok(graph);
        }
        for invariant in self.document.invariants() {
            for point in invariants::points(self.document, &invariant).map_err(|problem| vec![problem])? {
                graph = graph.invariant(point);
            }
        }
        Ok(graph)
    }

    /// Compiles the finished graph; problems of the engine become those of the document's records.
    fn compiled(&self, graph: StateGraph, files: Vec<(PathBuf, Stamp)>) -> Result<Built, Vec<Diagnostic>> {
        match graph.compile() {
            // What is tried works: nothing is answered from the cache.
            Ok(graph) if !matches!(self.working, WorkingNodes::All) => Ok(Built { graph, files }),
            Ok(graph) => Ok(Built {
                graph: graph.with_cache(self.registry.cache.clone()),
                files,
            }),
            Err(error) => {
                let ids = self.edge_ids();
                let problems = error.problems.into_iter();
                Err(problems.map(|problem| diagnostic(problem, &ids)).collect())
            }
        }
    }

    /// Returns the first edge of the document between each two nodes.
    fn edge_ids(&self) -> HashMap<(String, String), String> {
        let mut ids = HashMap::new();
        for (id, edge) in self.edges() {
            for source in edge.sources() {
                for target in edge.targets() {
                    ids.entry((source.to_owned(), target.to_owned()))
                        .or_insert_with(|| id.clone());
                }
            }
        }
        ids
    }
}

/// Converts a problem of the engine to one of the document's record.
fn diagnostic(
    problem: superstep::graph::GraphProblem,
    ids: &HashMap<(String, String), String>,
) -> Diagnostic {
    let record = match &problem.place {
        GraphPlace::Graph => "doc".to_owned(),
        GraphPlace::Node(name) => format!("node:{name}"),
        GraphPlace::Channel(name) => format!("key:{name}"),
        GraphPlace::Branch(_, id) => format!("edge:{id}"),
        GraphPlace::Edge(from, to) => ids
            .get(&(from.to_string(), to.to_string()))
            .map_or_else(|| format!("edge:{from}->{to}"), |id| format!("edge:{id}")),
    };
    Diagnostic::error(problem.code, record, problem.message, problem.remedy)
}

/// Returns the run context that a graph file declares: defaults are filled in, and what does not fit is refused.
fn context_schema(declared: &Json) -> Result<ContextSchema, Diagnostic> {
    let shape = SchemaValidator::new(declared).map_err(|cause| {
        let message = text!("The run context cannot be checked: {cause}.", cause);
        Diagnostic::error(
            "bad-schema",
            "doc",
            message,
            text!("Correct the field's JSON Schema."),
        )
        .at("/context")
    })?;
    let fields = declared["properties"].as_object().into_iter().flatten();
    let defaults: Vec<(String, Json)> = fields
        .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
        .collect();
    let check = move |given: Value| {
        let mut given = Json::from(given);
        if let Json::Object(fields) = &mut given {
            for (name, value) in &defaults {
                fields.entry(name).or_insert_with(|| value.clone());
            }
        }
        let misfits: Vec<String> = shape.misfits(&given, 5).iter().map(ToString::to_string).collect();
        match misfits.is_empty() {
            true => Ok(given.into()),
            false => Err(misfits.join("; ")),
        }
    };
    Ok(ContextSchema::checked(check).required())
}
