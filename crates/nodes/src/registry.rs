//! All kinds together: what the palette shows, what is wrong with a document's nodes and expressions, and the engine
//! graph that a document means.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value as Json};
use superstep::{
    BoxFuture, Graph, GraphPlace, MemoryCache, Node, NodeContext, NodeError, NodeOptions, NodeOutput, START,
    StateGraph, Value,
};
use superstep_document::{Diagnostic, Document, Edge, Effect, Fallback, NOTE, NodeSpec, Reducer};

use crate::access::{Access, Grants};
use crate::conduct;
use crate::kind::{BuildSite, KindInfo, NodeKind, Site, Usage};
use crate::kinds::{
    agent::Agent, ask::Ask, assign::Assign, code::Code, delay::Delay, graph::GraphKind, http::Http,
    map::MapKind, memory::Memory, model::Model, note::Note, retrieve::Retrieve, router::RouterKind,
    store::StoreKind, tools::Tools,
};
use crate::leads;
use crate::mcp::Hub;
use crate::nested::{Count, Library, Nested, NestedError, Runs, Stamp, summary};
use crate::once::Once;
use crate::provider::{Exchanges, ModelSettings, Providers, Recording, Recordings, Variables};
use crate::python::Pythons;
use crate::route;
use crate::schema::{Keys, StateSchema};
use crate::search::Folders;
use crate::secrets::{self, Redacted};
use crate::suggest;

/// What a graph may use of the world around it.
#[derive(Clone)]
pub struct Environment {
    /// Folder of the graph file, when it is saved.
    pub folder: Option<PathBuf>,
    /// The project's folder, when the graph is one of several in it: files are looked for in there only.
    pub project: Option<PathBuf>,
    /// Reads environment variables; model keys come from there.
    pub variables: Variables,
    /// Connections to model servers and prices, as the person set them up.
    pub models: Arc<ModelSettings>,
    /// Keys of model connections by the connection's name, from the system's keychain.
    pub keychain: Variables,
    /// What its owner lets it touch; nothing, unless told otherwise.
    pub grants: Grants,
    /// Whether models answer from an earlier run, when that is not for the nodes to say.
    pub recording: Option<Recording>,
    /// The model that answers where nodes name the scripted one.
    pub stand_in: Option<String>,
    /// Graphs that the outermost one has led to; counted anew for each document.
    #[doc(hidden)]
    pub graphs: Count,
}

impl Environment {
    /// The process's environment, and the folder of the graph file.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }
    /// Graph files of this folder may be used too.
    pub fn in_project(mut self, project: PathBuf) -> Self {
        self.project = Some(project);
        self
    }
    /// What bounds the files that a graph may name.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_deref().or(self.folder.as_deref())
    }
    /// As the graph in `file` has it, which a graph here runs.
    pub(crate) fn at(&self, file: &Path) -> Self {
        Self {
            folder: file.parent().map(Path::to_path_buf),
            project: self.root().map(Path::to_path_buf),
            ..self.clone()
        }
    }
    /// As a document that no other one runs has it.
    fn outermost(&self) -> Self {
        Self {
            graphs: Count::default(),
            ..self.clone()
        }
    }
    /// Other variables.
    pub fn with_variables(
        mut self,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.variables = Arc::new(variables);
        self
    }
    /// Model providers as a graph here has them.
    pub(crate) fn providers(&self) -> Providers {
        Providers::new(self.variables.clone(), self.models.clone())
            .with_keychain(self.keychain.clone())
            .with_grants(self.grants.clone())
    }
    /// Connections to model servers and prices.
    pub fn with_models(mut self, models: ModelSettings) -> Self {
        self.models = Arc::new(models);
        self
    }
    /// Whether models answer from an earlier run, whatever their nodes say.
    pub fn with_recording(mut self, recording: Recording) -> Self {
        self.recording = Some(recording);
        self
    }
    /// Keys of model connections, by the connection's name.
    pub fn with_keychain(mut self, keychain: Variables) -> Self {
        self.keychain = keychain;
        self
    }
    /// What its owner lets it touch.
    pub fn with_grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            folder: None,
            project: None,
            variables: Arc::new(|name| std::env::var(name).ok()),
            models: Arc::default(),
            keychain: Arc::new(|_| None),
            grants: Grants::none(),
            recording: None,
            stand_in: None,
            graphs: Count::default(),
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

struct Entry {
    info: KindInfo,
    kind: Box<dyn NodeKind>,
    config: Option<Validator>,
}

/// A graph file that a node names, what is wrong in it, and what it touches.
pub(crate) type OpenedGraph = (Arc<Nested>, Vec<Diagnostic>, BTreeSet<Access>);

/// The known kinds.
pub struct Registry {
    kinds: IndexMap<&'static str, Entry>,
    folders: Arc<Folders>,
    /// MCP servers, over all projects.
    servers: Arc<Hub>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) exchanges: Arc<Exchanges>,
    /// Python's workers, over all projects.
    pythons: Arc<Pythons>,
    /// Results of nodes with a `cache`, over all graphs that are built here.
    cache: Arc<MemoryCache>,
    library: Library,
}

/// A graph, and the files beside its own that it was built from.
#[derive(Debug)]
pub struct Built {
    /// The graph.
    pub graph: Graph,
    /// Files of the graphs it runs, as they were: when one changes, the graph is to be built again.
    pub files: Vec<(PathBuf, Stamp)>,
}

/// Results of nodes that are kept at once.
const CACHE_SIZE: usize = 1_000;

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.keys()).finish()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// No kinds.
    pub fn empty() -> Self {
        Self {
            kinds: IndexMap::new(),
            folders: Arc::default(),
            servers: Arc::default(),
            recordings: Arc::default(),
            exchanges: Arc::default(),
            pythons: Arc::default(),
            cache: Arc::new(MemoryCache::new(CACHE_SIZE)),
            library: Library::default(),
        }
    }

    /// The kinds that come with Superstep.
    pub fn standard() -> Self {
        Self::empty()
            .with(Assign)
            .with(RouterKind)
            .with(Delay)
            .with(Model)
            .with(Tools)
            .with(Agent)
            .with(Memory)
            .with(Code::default())
            .with(Http)
            .with(MapKind)
            .with(Ask)
            .with(Note)
            .with(Retrieve)
            .with(StoreKind)
            .with(GraphKind)
    }

    /// One more kind; it takes the place of an earlier one of the same name.
    pub fn with(mut self, kind: impl NodeKind + 'static) -> Self {
        let info = kind.info();
        let config = jsonschema::validator_for(&info.config_schema).ok();
        self.kinds.insert(
            info.kind,
            Entry {
                info,
                kind: Box::new(kind),
                config,
            },
        );
        self
    }

    /// Where search indexes are kept and what reads documents; in memory and nothing, unless told otherwise.
    pub fn with_folders(mut self, folders: Folders) -> Self {
        self.folders = Arc::new(folders);
        self
    }

    /// What graphs that are built here ask of models and what is answered, task by task, for the host to take.
    pub fn exchanges(&self) -> &Exchanges {
        &self.exchanges
    }

    /// All kinds, in the order of the palette.
    pub fn kinds(&self) -> Vec<KindInfo> {
        self.kinds.values().map(|entry| entry.info.clone()).collect()
    }

    /// What is wrong with the nodes' settings and with expressions, without looking at the disk.
    pub fn check(&self, document: &Document) -> Vec<Diagnostic> {
        self.look_at(document, None, &[]).problems
    }

    /// The same, and whether the folders and connections exist that nodes name.
    pub fn check_in(&self, document: &Document, environment: &Environment) -> Vec<Diagnostic> {
        self.look_at(document, Some(environment), &[]).problems
    }

    /// Every problem of a document: its structure, and what its nodes and expressions say; the disk is looked at.
    pub fn problems(&self, document: &Document, environment: &Environment) -> Vec<Diagnostic> {
        self.look_at(document, Some(environment), &[]).all(document)
    }

    /// State keys that each node and edge uses, by record id.
    pub fn usage(&self, document: &Document) -> BTreeMap<String, Usage> {
        self.look_at(document, None, &[]).usage
    }

    /// What the nodes touch outside of the graph, by record id, with the graphs that they run; the disk is looked at.
    pub fn accesses(
        &self,
        document: &Document,
        environment: &Environment,
    ) -> BTreeMap<String, BTreeSet<Access>> {
        self.look_at(document, Some(environment), &[]).accesses
    }

    /// A graph file that a node names, what is wrong in it, and what it touches.
    pub(crate) fn nested(
        &self,
        environment: &Environment,
        above: &[PathBuf],
        path: &str,
    ) -> Result<OpenedGraph, NestedError> {
        environment.graphs.one_more()?;
        let nested = self.library.open(environment, above, path)?;
        let inner = environment.at(&nested.path);
        let mut above = above.to_vec();
        above.push(nested.path.clone());
        let mut found = self.look_at(&nested.document, Some(&inner), &above);
        let problems = found.all(&nested.document);
        let accesses = found.accesses.into_values().flatten().collect();
        Ok((nested, problems, accesses))
    }

    /// The graph of a file that a node names.
    pub(crate) fn build_nested(
        &self,
        environment: &Environment,
        above: &[PathBuf],
        path: &str,
    ) -> Result<(Arc<Nested>, Built), NestedError> {
        environment.graphs.one_more()?;
        let nested = self.library.open(environment, above, path)?;
        let mut above = above.to_vec();
        above.push(nested.path.clone());
        match self.build_at(&nested.document, &environment.at(&nested.path), &above, None) {
            Ok(built) => Ok((nested, built)),
            Err(problems) => {
                let cause = summary(&problems).unwrap_or_else(|| "it has no node.".to_owned());
                Err(NestedError::Broken(nested.path.clone(), cause))
            }
        }
    }

    /// Does the kind draw a graph from its settings?
    pub fn draws(&self, kind: &str) -> bool {
        self.kinds.get(kind).is_some_and(|entry| {
            let defaults = entry.info.defaults.as_object().cloned().unwrap_or_default();
            entry.kind.inside(kind, &defaults, &Keys::default()).is_some()
        })
    }

    /// The graph that a node is inside, for kinds that draw one from their settings.
    pub fn inside(&self, document: &Document, node: &str) -> Option<Document> {
        let (_, spec) = document.nodes().find(|(id, _)| *id == node)?;
        let entry = self.kinds.get(spec.kind.as_str())?;
        entry.kind.inside(node, &spec.config, &Keys::of(document))
    }

    /// The graph that a node is inside, built where the node is.
    pub(crate) fn build_inside(
        &self,
        document: &Document,
        environment: &Environment,
        above: &[PathBuf],
    ) -> Result<Built, Vec<Diagnostic>> {
        self.build_at(document, environment, above, None)
    }

    /// The graph that a document means; every problem when it cannot be built.
    pub fn build(&self, document: &Document, environment: &Environment) -> Result<Built, Vec<Diagnostic>> {
        self.build_at(document, environment, &[], None)
    }

    /// A graph that runs one node of a document and does nothing where its edges lead, so that the node can be tried on
    /// its own with any state; what is wrong elsewhere in the document does not matter. An unknown node is a problem.
    pub fn build_trial(
        &self,
        document: &Document,
        environment: &Environment,
        node: &str,
    ) -> Result<Built, Vec<Diagnostic>> {
        if document.nodes().all(|(id, _)| id != node) {
            return Err(vec![Diagnostic::error(
                "unknown-node",
                format!("node:{node}"),
                format!("There is no node `{node}`."),
                "Choose a node of the graph.",
            )]);
        }
        self.build_at(document, environment, &[], Some(node))
    }

    fn build_at(
        &self,
        document: &Document,
        environment: &Environment,
        above: &[PathBuf],
        trial: Option<&str>,
    ) -> Result<Built, Vec<Diagnostic>> {
        let outermost = above.is_empty().then(|| environment.outermost());
        let environment = outermost.as_ref().unwrap_or(environment);
        let leaves = |edge: &Edge| trial.is_none_or(|node| edge.sources().contains(&node));
        let own: HashSet<String> = trial
            .into_iter()
            .flat_map(|node| {
                let edges = document.edges().filter(|(_, edge)| leaves(edge));
                edges
                    .map(|(id, _)| format!("edge:{id}"))
                    .chain([format!("node:{node}")])
            })
            .collect();
        let matters = |problem: &Diagnostic| {
            problem.is_error()
                && (trial.is_none() || problem.record.starts_with("key:") || own.contains(&problem.record))
        };
        let mut found = self.look_at(document, Some(environment), above);
        // What a graph is given is never shown again.
        for access in found.accesses.values().flatten() {
            if let Access::Variable(name) = access
                && let Some(value) = (environment.variables)(name)
            {
                secrets::note(&value);
            }
        }
        let mut problems = found.all(document);
        problems.retain(matters);
        if !problems.is_empty() {
            return Err(problems);
        }
        let keys = Keys::of(document);
        let (schema, _) = StateSchema::of(document);
        let schema = Arc::new(schema);
        let providers = Arc::new(environment.providers());
        let unknown = schema.clone();
        let mut graph = StateGraph::new().refuse_unknown_keys(move |key| unknown.no_key(key));
        for (name, key) in document.state_keys() {
            graph = schema.channel(graph, name, route::channel(&key));
        }
        // Notes are read by people only.
        let specs: IndexMap<&str, NodeSpec> =
            document.nodes().filter(|(_, spec)| spec.kind != NOTE).collect();
        let nodes: BTreeMap<&str, NodeSpec> = document.nodes().collect();
        let node = |id: &str| {
            let spec = specs.get(id)?;
            let entry = self.kinds.get(spec.kind.as_str())?;
            let site = BuildSite {
                node: id,
                config: &spec.config,
                keys: &keys,
                folder: environment.folder.clone(),
                nodes: &nodes,
                effect: spec.conduct.effect,
                providers: providers.clone(),
                folders: self.folders.clone(),
                servers: self.servers.clone(),
                pythons: self.pythons.clone(),
                registry: self,
                environment,
                above,
                runs: RefCell::<Runs>::default(),
            };
            let built = entry.kind.build(&site);
            let touches = found.accesses.contains_key(&format!("node:{id}"));
            Some(built.map(|node| {
                let mut node = node;
                if spec.conduct.effect == Some(Effect::Once) {
                    let name = id.into();
                    node = Arc::new(Once { name, node });
                }
                if touches {
                    node = Arc::new(Redacted(node));
                }
                (node, site.runs.into_inner())
            }))
        };
        let mut files = Vec::new();
        for (&id, spec) in &specs {
            if trial.is_some_and(|node| node != id) {
                graph = graph.node(id, Idle);
                continue;
            }
            let Some(built) = node(id) else { continue };
            let stand_in = match &spec.conduct.fallback {
                Some(Fallback::Node(other)) => node(other).transpose(),
                _ => Ok(None),
            };
            let made = built.and_then(|(node, mut runs)| {
                let stand_in = stand_in?.map(|(node, more)| {
                    runs.graphs.extend(more.graphs);
                    runs.files.extend(more.files);
                    node
                });
                let identity = || {
                    let edges = document.edges().map(|(_, edge)| edge);
                    let own: Vec<Edge> = edges.filter(|edge| edge.sources().contains(&id)).collect();
                    let config = Json::Object(spec.config.clone()).to_string();
                    let world = format!("{:?} {:?}", environment.folder, runs.files);
                    conduct::identity(&[&spec.kind, &config, &world], &own)
                };
                let options = conduct::options(id, &spec.conduct, identity, stand_in)?;
                let leads = found.usage.get(&format!("node:{id}")).map(|usage| &usage.leads);
                let known = leads
                    .into_iter()
                    .flatten()
                    .filter(|to| specs.contains_key(to.as_str()));
                let options = options.destinations(known.map(String::as_str));
                Ok((node, options, runs))
            });
            match made {
                Ok((node, options, runs)) => {
                    graph = graph.node_with(id, node, runs.graphs.iter().fold(options, NodeOptions::runs));
                    files.extend(runs.files);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut ids = HashMap::new();
        if let Some(node) = trial {
            graph = graph.edge(START, node);
        }
        for (id, edge) in document.edges().filter(|(_, edge)| leaves(edge)) {
            graph = route::connect(graph, id, &edge).map_err(|e| {
                vec![Diagnostic::error(
                    "expression-syntax",
                    format!("edge:{id}"),
                    e.message,
                    e.remedy,
                )]
            })?;
            for source in edge.sources() {
                for target in edge.targets() {
                    ids.entry((source.to_owned(), target.to_owned()))
                        .or_insert_with(|| id.to_owned());
                }
            }
        }
        // A trial takes any state, and nothing is answered from the cache: it is to be seen what the node does.
        if trial.is_none() {
            if let Some(input) = document.input_keys() {
                graph = graph.input_keys(input);
            }
            if let Some(output) = document.output_keys() {
                graph = graph.output_keys(output);
            }
        }
        let compiled = graph.compile().map(|graph| Built {
            graph: match trial {
                None => graph.with_cache(self.cache.clone()),
                Some(_) => graph,
            },
            files,
        });
        compiled.map_err(|error| {
            let diagnostic = |problem: superstep::GraphProblem| {
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
            };
            error.problems.into_iter().map(diagnostic).collect()
        })
    }

    /// `environment` is absent when the disk is not to be looked at; `above` are the files of the graphs around.
    fn look_at(&self, document: &Document, environment: Option<&Environment>, above: &[PathBuf]) -> Findings {
        let outermost = environment
            .filter(|_| above.is_empty())
            .map(Environment::outermost);
        let environment = outermost.as_ref().or(environment);
        let folder = environment.and_then(|environment| environment.folder.as_deref());
        let nodes: BTreeMap<&str, NodeSpec> = document.nodes().collect();
        let keys = Keys::of(document);
        let (_, problems) = StateSchema::of(document);
        let mut findings = Findings {
            problems,
            usage: BTreeMap::new(),
            accesses: BTreeMap::new(),
        };
        let all: BTreeSet<String> = keys.names().map(str::to_owned).collect();
        let edges: Vec<(String, Edge)> = document.edges().map(|(id, edge)| (id.to_owned(), edge)).collect();
        let given = Given::of(&edges, &all);
        for (id, spec) in document.nodes() {
            let Some(entry) = self.known(id, &spec, &mut findings.problems) else {
                continue;
            };
            let mut site = Site {
                record: format!("node:{id}"),
                called: format!("node {id}"),
                base: "/config",
                config: &spec.config,
                keys: &keys,
                readable: given.node(id),
                folder,
                looks: environment.map(|environment| (self, environment, above)),
                nodes: &nodes,
                problems: Vec::new(),
                usage: Usage::default(),
                accesses: BTreeSet::new(),
            };
            let broken = config_problems(entry, &mut site);
            if broken.is_empty() {
                entry.kind.check(&mut site);
            } else {
                check_the_rest(entry, &mut site, &broken);
            }
            site.base = "";
            conduct::check(&mut site, &spec.conduct);
            findings.problems.extend(site.problems);
            if !site.accesses.is_empty() {
                findings.accesses.insert(site.record.clone(), site.accesses);
            }
            findings.usage.insert(site.record, site.usage);
        }
        let nothing = Map::new();
        for (id, edge) in &edges {
            let mut site = Site {
                record: format!("edge:{id}"),
                called: format!("edge {id}"),
                base: "",
                config: &nothing,
                keys: &keys,
                readable: &all,
                folder,
                looks: environment.map(|environment| (self, environment, above)),
                nodes: &nodes,
                problems: Vec::new(),
                usage: Usage::default(),
                accesses: BTreeSet::new(),
            };
            match edge {
                Edge::Plain { .. } | Edge::Join { .. } => continue,
                Edge::When { when, .. } => site.expression("/when", when, None),
                Edge::Route { route, .. } => site.expression("/route", route, None),
                Edge::Each { each, item, with, .. } => {
                    site.expression("/each", each, None);
                    for (key, source) in with {
                        site.expression(&format!("/with/{key}"), source, Some(item));
                    }
                }
            }
            findings.problems.extend(site.problems);
            findings.usage.insert(site.record, site.usage);
        }
        parallel_writers(&keys, &edges, &mut findings);
        findings
    }

    fn known(&self, id: &str, spec: &NodeSpec, problems: &mut Vec<Diagnostic>) -> Option<&Entry> {
        let entry = self.kinds.get(spec.kind.as_str());
        // A node without a kind is the document's own diagnostic.
        if entry.is_none() && !spec.kind.is_empty() {
            let message = format!(
                "Node `{id}` is of the unknown kind `{}`.{}",
                spec.kind,
                suggest::did_you_mean(&spec.kind, self.kinds.keys().copied())
            );
            let remedy = format!("Choose one of {}.", suggest::listing(self.kinds.keys().copied()));
            problems
                .push(Diagnostic::error("unknown-kind", format!("node:{id}"), message, remedy).at("/kind"));
        }
        entry
    }
}

/// Stands for the nodes around one that is tried.
struct Idle;

impl Node for Idle {
    fn run(&self, _: NodeContext, _: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async { Ok(NodeOutput::none()) })
    }
}

struct Findings {
    problems: Vec<Diagnostic>,
    usage: BTreeMap<String, Usage>,
    accesses: BTreeMap<String, BTreeSet<Access>>,
}

impl Findings {
    /// The problems found, after those of the document itself.
    fn all(&mut self, document: &Document) -> Vec<Diagnostic> {
        let mut all = leads::reached(document, &self.usage, document.validate());
        all.append(&mut self.problems);
        all
    }
}

/// What a setting must be, in words, and what to do.
fn mended(name: &str, error: &ValidationError<'_>) -> (String, String) {
    let listed = |values: &[Json]| {
        let shown = values.iter().filter(|value| !value.is_null());
        shown.map(Json::to_string).collect::<Vec<_>>().join(", ")
    };
    let found = shortened(&error.instance().to_string());
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = listed(options.as_array().map_or(&[], Vec::as_slice));
            (
                format!("The setting `{name}` is {found}, which it does not know."),
                format!("Write one of {options}."),
            )
        }
        ValidationErrorKind::Type { kind } => {
            let types: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
            };
            let wanted: Vec<&str> = types.iter().filter_map(|one| type_words(one)).collect();
            let wanted = wanted.join(" or ");
            (
                format!("The setting `{name}` takes {wanted}, and is {found}."),
                format!("Write {wanted} there."),
            )
        }
        _ => (
            format!("The setting `{name}` is not valid: {error}."),
            "Correct the setting.".to_owned(),
        ),
    }
}

/// What a type of JSON Schema is called in a sentence; a setting that may be left out is not told to be null.
fn type_words(name: &str) -> Option<&'static str> {
    Some(match name {
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => return None,
    })
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Checks what is right of a config of which some settings are not: in their place stands what the kind begins with, and
/// only what is said of the others counts.
fn check_the_rest(entry: &Entry, site: &mut Site<'_>, broken: &BTreeSet<String>) {
    let mut config = site.config.clone();
    for name in broken {
        config.remove(name);
        // A number of whatever size is still a number, and others may depend on its being there.
        let setting = &entry.info.config_schema["properties"][name.as_str()];
        let numeric = |one: &Json| matches!(one.as_str(), Some("integer" | "number"));
        let types = &setting["type"];
        if numeric(types) || types.as_array().is_some_and(|types| types.iter().any(numeric)) {
            let least = setting.get("minimum").cloned();
            config.insert(name.clone(), least.unwrap_or_else(|| 1.into()));
        }
    }
    let needed = entry.info.config_schema.get("required").and_then(Json::as_array);
    for name in needed.into_iter().flatten().filter_map(Json::as_str) {
        let usual = entry.info.defaults.get(name).cloned();
        config
            .entry(name)
            .or_insert_with(|| usual.unwrap_or_else(|| "".into()));
    }
    let base = format!("{}/", site.base);
    let given = site.config;
    let known = site.problems.len();
    site.part(&config, None, |site| entry.kind.check(site));
    let found = site.problems.split_off(known);
    let counts = |problem: &Diagnostic| {
        let within = problem.pointer.as_deref().and_then(|at| at.strip_prefix(&base));
        let setting = within.and_then(|within| within.split('/').next());
        setting.is_some_and(|name| given.contains_key(name) && !broken.contains(name))
    };
    site.problems.extend(found.into_iter().filter(counts));
}

/// Holds a config against its kind's schema, and gives the settings that do not satisfy it or are missing.
fn config_problems(entry: &Entry, site: &mut Site<'_>) -> BTreeSet<String> {
    let known = entry
        .info
        .config_schema
        .get("properties")
        .and_then(Json::as_object);
    let unknown: Vec<String> = site
        .config
        .keys()
        .filter(|name| known.is_some_and(|known| !known.contains_key(*name)))
        .cloned()
        .collect();
    for name in unknown {
        let settings = || {
            known
                .into_iter()
                .flat_map(|known| known.keys().map(String::as_str))
        };
        let message = format!(
            "A node of kind {} has no setting `{name}`.{}",
            entry.info.kind,
            suggest::did_you_mean(&name, settings())
        );
        let remedy = format!(
            "Remove it, or correct its name. Settings: {}.",
            suggest::listing(settings())
        );
        site.warning("unknown-setting", &format!("/{name}"), message, remedy);
    }
    let Some(validator) = &entry.config else {
        return BTreeSet::new();
    };
    let config = Json::Object(site.config.clone());
    let mut broken = BTreeSet::new();
    for error in validator.iter_errors(&config) {
        let path = error.instance_path().to_string();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let title = known
                    .and_then(|known| known.get(name)?.get("description")?.as_str())
                    .unwrap_or_default();
                let pointer = format!("{path}/{name}");
                broken.extend(pointer.split('/').nth(1).map(str::to_owned));
                site.error(
                    "missing-setting",
                    &pointer,
                    format!("The setting `{name}` is missing."),
                    format!("Fill it in. {title}"),
                );
            }
            _ => {
                let name = path.trim_start_matches('/').replace('/', ".");
                broken.insert(path.split('/').nth(1).unwrap_or_default().to_owned());
                let (message, remedy) = mended(&name, &error);
                site.error("bad-setting", &path, message, remedy);
            }
        }
    }
    broken
}

/// What `state` holds in each node.
struct Given {
    all: BTreeSet<String>,
    packets: HashMap<String, BTreeSet<String>>,
}

impl Given {
    /// A node that only `each` edges lead to sees its packet; one that is reached both ways may see either.
    fn of(edges: &[(String, Edge)], all: &BTreeSet<String>) -> Self {
        let mut packets: HashMap<String, BTreeSet<String>> = HashMap::new();
        for (_, edge) in edges {
            if let Edge::Each { item, to, with, .. } = edge {
                let given = packets.entry(to.clone()).or_default();
                given.insert(item.clone());
                given.extend(with.iter().map(|(key, _)| key.clone()));
            }
        }
        for (_, edge) in edges
            .iter()
            .filter(|(_, edge)| !matches!(edge, Edge::Each { .. }))
        {
            for target in edge.targets() {
                if let Some(given) = packets.get_mut(target) {
                    given.extend(all.iter().cloned());
                }
            }
        }
        Self {
            all: all.clone(),
            packets,
        }
    }

    fn node(&self, id: &str) -> &BTreeSet<String> {
        self.packets.get(id).unwrap_or(&self.all)
    }
}

/// Widest fan-out whose branches are followed side by side, and how far; a wider one is compared at its first step.
const WIDE: usize = 24;
const FAR: usize = 16;

/// Where a node leads, joins aside: a join waits, so what follows it is not in step with anything.
type Leads<'a> = HashMap<&'a str, BTreeSet<&'a str>>;

/// Two nodes (in order) and the key they both write.
type Clash = (String, String, String);

/// Warns where two tasks of one super-step write the same `overwrite` key, as far as the drawing tells.
fn parallel_writers(keys: &Keys, edges: &[(String, Edge)], findings: &mut Findings) {
    let mut writes: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (record, usage) in &findings.usage {
        let overwrites = |key: &&String| keys.get(key).is_some_and(|key| key.reducer == Reducer::Overwrite);
        let plain: BTreeSet<&str> = usage
            .writes
            .iter()
            .filter(overwrites)
            .map(String::as_str)
            .collect();
        if let (Some(node), false) = (record.strip_prefix("node:"), plain.is_empty()) {
            writes.insert(node, plain);
        }
    }
    let mut leads = Leads::new();
    let mut always = Leads::new();
    let mut found: BTreeSet<Clash> = BTreeSet::new();
    let mut seen = HashSet::new();
    for (_, edge) in edges
        .iter()
        .filter(|(_, edge)| !matches!(edge, Edge::Join { .. }))
    {
        for source in edge.sources() {
            leads.entry(source).or_default().extend(edge.targets());
            if let Edge::Plain { to, .. } = edge {
                always.entry(source).or_default().insert(to);
            }
        }
        if let Edge::Each { to, .. } = edge {
            let keys = writes.get(to.as_str()).into_iter().flatten();
            found.extend(keys.map(|key| (to.clone(), to.clone(), (*key).to_owned())));
        }
    }
    for targets in always.values().filter(|targets| targets.len() > 1) {
        let targets: Vec<&str> = targets.iter().copied().collect();
        if targets.len() > WIDE {
            let mut first: HashMap<&str, &str> = HashMap::new();
            for target in targets {
                for key in writes.get(target).into_iter().flatten() {
                    let other = *first.entry(key).or_insert(target);
                    if other != target {
                        found.insert((other.to_owned(), target.to_owned(), (*key).to_owned()));
                    }
                }
            }
            continue;
        }
        for (index, left) in targets.iter().enumerate() {
            for right in &targets[index + 1..] {
                meet(left, right, &leads, &writes, &mut seen, &mut found);
            }
        }
    }
    for (left, right, key) in found {
        let (message, remedy) = if left == right {
            (
                format!("Node `{left}` runs once per item, and each run overwrites `{key}`."),
                format!("Give `{key}` a reducer such as `append`, or write another key."),
            )
        } else {
            (
                format!("Nodes `{left}` and `{right}` run in the same step and both overwrite `{key}`."),
                format!("Give `{key}` a reducer, or let the nodes run one after the other."),
            )
        };
        findings.problems.push(Diagnostic::warning(
            "parallel-writers",
            format!("node:{right}"),
            message,
            remedy,
        ));
    }
}

/// Follows two branches that start in the same step side by side, and says where they write the same key at once.
fn meet<'a>(
    left: &'a str,
    right: &'a str,
    leads: &Leads<'a>,
    writes: &HashMap<&'a str, BTreeSet<&'a str>>,
    seen: &mut HashSet<(BTreeSet<&'a str>, BTreeSet<&'a str>)>,
    found: &mut BTreeSet<Clash>,
) {
    let (mut lefts, mut rights) = (BTreeSet::from([left]), BTreeSet::from([right]));
    for _ in 0..FAR {
        if !seen.insert((lefts.clone(), rights.clone())) {
            return;
        }
        for a in &lefts {
            for b in rights.iter().filter(|b| *b != a) {
                let (first, second) = if a < b { (*a, *b) } else { (*b, *a) };
                if let (Some(one), Some(other)) = (writes.get(first), writes.get(second)) {
                    found.extend(
                        one.intersection(other)
                            .map(|key| (first.into(), second.into(), (*key).into())),
                    );
                }
            }
        }
        let next = |nodes: &BTreeSet<&'a str>| -> BTreeSet<&'a str> {
            nodes
                .iter()
                .flat_map(|node| leads.get(node).into_iter().flatten().copied())
                .collect()
        };
        let (next_left, next_right) = (next(&lefts), next(&rights));
        // Where both arrive at the same node there is one task, and what follows is common.
        let l: BTreeSet<&str> = next_left.difference(&next_right).copied().collect();
        let r: BTreeSet<&str> = next_right.difference(&next_left).copied().collect();
        if l.is_empty() || r.is_empty() || l.len() + r.len() > WIDE {
            return;
        }
        (lefts, rights) = (l, r);
    }
}
