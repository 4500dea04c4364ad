//! All kinds together: what the palette shows, what is wrong with a document's nodes and expressions, and the engine
//! graph that a document means.

mod build;
mod build_site;
mod check;
mod disabled;
mod dynamic_targets;
mod edges;
mod flow;
pub mod invariants;
mod kind;
mod policy;
mod preview;
mod settings;
mod site;
mod stopped;
mod summary;
mod working;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use jsonschema::Validator;
use serde_json::Value as Json;
use superstep::Graph;
use superstep::graph::MemoryCache;
use superstep_document::{Diagnostic, Document};

use crate::base::access::Access;
use crate::base::files::Stamp;
use crate::mcp::{self, Mcp, OfferedTool, ServerFault, ServerPool, SignIn};
use crate::models::{Exchanges, Recordings};
use crate::programs::helper::HelperProgram;
use crate::programs::javascript::Workers;
use crate::programs::python::PythonWorkers;
use crate::project::Environment;
use crate::project::graph_files::{GRAPH, Library, Nested, NestedError, summary};
use crate::search::Folders;
use crate::state::schema::Keys;

pub use crate::base::config_schema::schema_of;
pub use build_site::BuildSite;
pub use disabled::{NODE_DISABLED, refuse as refuse_disabled};
pub use kind::{KeyUsage, KindInfo, NodeKind, parse};
pub use policy::{bounds, may_pass, not_retried};
pub use site::{NO_ORDER, Site};
pub use summary::run_summary;
use superstep_document::text;
use working::WorkingNodes;
pub use working::{PreviewGraph, Uncertain};

struct KindEntry {
    info: KindInfo,
    kind: Box<dyn NodeKind>,
    config: Option<Validator>,
}

/// A graph file that a node names, what is wrong in it, and what it touches.
pub(crate) type OpenedGraph = (Arc<Nested>, Vec<Diagnostic>, BTreeSet<Access>);

/// The known kinds.
pub struct Registry {
    kinds: IndexMap<&'static str, KindEntry>,
    folders: Arc<Folders>,
    /// MCP servers, over all projects.
    servers: Arc<ServerPool>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) exchanges: Arc<Exchanges>,
    /// Python's workers, over all projects.
    pythons: Arc<PythonWorkers>,
    /// What runs JavaScript.
    workers: Arc<Workers>,
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

/// Results of checking a document.
#[derive(Debug)]
pub struct Checked {
    /// Every problem.
    pub problems: Vec<Diagnostic>,
    /// State keys that each node and edge uses, and where it may go without an edge, by record id.
    pub usage: BTreeMap<String, KeyUsage>,
}

impl Checked {
    /// Returns targets without an edge: a node, and one that it may go to.
    pub fn dynamic_targets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.usage.iter().flat_map(|(record, usage)| {
            let from = record.strip_prefix("node:");
            let to = usage.dynamic_targets.iter();
            from.into_iter()
                .flat_map(move |from| to.clone().map(move |to| (from, to.as_str())))
        })
    }
}

/// Results of nodes that are kept at once.
const CACHE_SIZE: usize = 1_000;

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.keys()).finish()
    }
}

impl Registry {
    /// Creates a registry without kinds.
    pub fn empty() -> Self {
        Self {
            kinds: IndexMap::new(),
            folders: Arc::default(),
            servers: Arc::default(),
            recordings: Arc::default(),
            exchanges: Arc::default(),
            pythons: Arc::default(),
            workers: Arc::default(),
            cache: Arc::new(MemoryCache::new(CACHE_SIZE)),
            library: Library::default(),
        }
    }

    /// Adds a kind; it replaces an earlier one of the same name.
    pub fn with(mut self, kind: impl NodeKind + 'static) -> Self {
        let info = kind.info();
        let config = jsonschema::validator_for(&info.config_schema).ok();
        self.kinds.insert(
            info.kind,
            KindEntry {
                info,
                kind: Box::new(kind),
                config,
            },
        );
        self
    }

    /// Sets where search indexes are kept and what reads documents; in memory and nothing, unless set.
    pub fn with_folders(mut self, folders: Folders) -> Self {
        self.folders = Arc::new(folders);
        self
    }

    /// Sets what runs JavaScript, and what runs Python and MCP servers so that everything they start ends with them; by
    /// default this program once more, if it calls [`serve_if_asked`](crate::serve_if_asked) before the registry is
    /// made. Without a helper JavaScript runs on threads, where the few functions of the language that check no limit
    /// can block one indefinitely, and for other programs the process group is ended.
    pub fn with_helper(mut self, helper: Option<HelperProgram>) -> Self {
        self.workers = Arc::new(Workers::new(helper.clone()));
        self.servers = Arc::new(ServerPool::new(helper.clone()));
        self.pythons = Arc::new(PythonWorkers::new(helper));
        self
    }

    /// Sets the helper for JavaScript alone.
    pub fn with_javascript(mut self, helper: Option<HelperProgram>) -> Self {
        self.workers = Arc::new(Workers::new(helper));
        self
    }

    /// Returns the requests to models and their answers from graphs that are built here, task by task, for the host to
    /// take.
    pub fn exchanges(&self) -> &Arc<Exchanges> {
        &self.exchanges
    }

    /// Sets where these requests and answers are put, for a host that outlives the registry.
    pub fn with_exchanges(mut self, exchanges: Arc<Exchanges>) -> Self {
        self.exchanges = exchanges;
        self
    }

    /// Returns all kinds, in the order of the palette.
    pub fn kinds(&self) -> Vec<KindInfo> {
        self.kinds.values().map(|entry| entry.info.clone()).collect()
    }

    /// Checks the nodes' settings and expressions, without looking at the disk.
    pub fn check(&self, document: &Document) -> Vec<Diagnostic> {
        self.look_at(document, None, &[]).problems
    }

    /// Checks the same, and whether the folders and connections that nodes name exist.
    pub fn check_in(&self, document: &Document, environment: &Environment) -> Vec<Diagnostic> {
        self.look_at(document, Some(environment), &[]).problems
    }

    /// Returns every problem of a document: in its structure, its nodes and its expressions; the disk is looked at.
    pub fn problems(&self, document: &Document, environment: &Environment) -> Vec<Diagnostic> {
        self.checked(document, environment).problems
    }

    /// Returns the same, and what the nodes use and where they may go, as far as the files beside the graph reveal it.
    pub fn checked(&self, document: &Document, environment: &Environment) -> Checked {
        let mut found = self.look_at(document, Some(environment), &[]);
        Checked {
            problems: found.all(document),
            usage: found.usage,
        }
    }

    /// Returns the state keys that each node and edge uses, by record id.
    pub fn usage(&self, document: &Document) -> BTreeMap<String, KeyUsage> {
        self.look_at(document, None, &[]).usage
    }

    /// Returns what the nodes touch outside of the graph, by record id, including the graphs that they run; the disk is
    /// looked at.
    pub fn accesses(
        &self,
        document: &Document,
        environment: &Environment,
    ) -> BTreeMap<String, BTreeSet<Access>> {
        self.look_at(document, Some(environment), &[]).accesses
    }

    /// Returns what using an MCP server of a project touches, as declared in its file.
    pub fn accesses_of_server(&self, environment: &Environment, server: &str) -> Result<Vec<Access>, String> {
        mcp::accesses(environment, server).map_err(|error| error.to_string())
    }

    /// Asks an MCP server of a project what it offers; starts it if need be, within the environment's grants.
    pub async fn offered_tools(
        &self,
        environment: &Environment,
        server: &str,
    ) -> Result<Vec<OfferedTool>, ServerFault> {
        Ok(self.mcp(environment).offered(server).await?)
    }

    /// Begins to sign in at an MCP server of a project, within the environment's grants.
    pub async fn sign_in(&self, environment: &Environment, server: &str) -> Result<SignIn, ServerFault> {
        Ok(self.mcp(environment).begin_sign_in(server).await?)
    }

    /// Forgets the login to an MCP server of a project.
    pub async fn sign_out(&self, environment: &Environment, server: &str) -> Result<(), ServerFault> {
        Ok(self.mcp(environment).sign_out(server).await?)
    }

    /// Returns whether somebody has signed in at an MCP server of a project.
    pub fn is_signed_in(&self, environment: &Environment, server: &str) -> bool {
        self.mcp(environment).is_signed_in(server)
    }

    fn mcp(&self, environment: &Environment) -> Mcp {
        Mcp::new(self.servers.clone(), environment.clone())
    }

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

    /// Builds the graph of a file that a node names.
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
        match self.build_at(
            &nested.document,
            &environment.at(&nested.path),
            &above,
            WorkingNodes::All,
        ) {
            Ok(built) => Ok((nested, built)),
            Err(problems) => {
                let cause = summary(&problems).unwrap_or(text!("it has no node."));
                Err(NestedError::Broken(nested.path.clone(), cause))
            }
        }
    }

    /// Returns whether the kind draws a graph from its settings.
    pub fn draws(&self, kind: &str) -> bool {
        self.kinds.get(kind).is_some_and(|entry| {
            let defaults = entry.info.defaults.as_object().cloned().unwrap_or_default();
            entry.kind.inside(kind, &defaults, &Keys::default()).is_some()
        })
    }

    /// Returns the graph inside a node, for kinds that draw one from their settings.
    pub fn inside(&self, document: &Document, node: &str) -> Option<Document> {
        let (_, spec) = document.nodes().find(|(id, _)| *id == node)?;
        let entry = self.kinds.get(spec.kind.as_str())?;
        entry.kind.inside(node, &spec.config, &Keys::of(document))
    }

    /// Returns the graph that a node runs, at the end of a path of nodes: drawn from settings, or read from a file,
    /// which is named, too. `None` if one of them does not exist, runs no graph, or its file cannot be read.
    pub fn run_by(
        &self,
        document: &Document,
        environment: &Environment,
        path: &[String],
    ) -> Option<(Document, Option<PathBuf>)> {
        let (node, deeper) = path.split_first()?;
        let (_, spec) = document.nodes().find(|(id, _)| *id == node)?;
        let (inner, file) = match spec.config.get("graph").and_then(Json::as_str) {
            Some(named) if spec.kind == GRAPH => {
                let nested = self.library.open(environment, &[], named).ok()?;
                (nested.document.clone(), Some(nested.path.clone()))
            }
            _ => (self.inside(document, node)?, None),
        };
        if deeper.is_empty() {
            return Some((inner, file));
        }
        let around = file.map_or_else(|| environment.clone(), |file| environment.at(&file));
        self.run_by(&inner, &around, deeper)
    }

    /// Builds the graph inside a node, in the place of the node.
    pub(crate) fn build_inside(
        &self,
        document: &Document,
        environment: &Environment,
        above: &[PathBuf],
    ) -> Result<Built, Vec<Diagnostic>> {
        self.build_at(document, environment, above, WorkingNodes::All)
    }

    /// Builds the graph that a document describes; returns every problem if it cannot be built.
    pub fn build(&self, document: &Document, environment: &Environment) -> Result<Built, Vec<Diagnostic>> {
        self.build_at(document, environment, &[], WorkingNodes::All)
    }

    /// Builds a graph that runs one node of a document and does nothing where its edges lead, so that the node can be
    /// tested on its own with any state, disabled or not; problems elsewhere in the document do not matter. An unknown
    /// node is a problem.
    pub fn build_node_test(
        &self,
        document: &Document,
        environment: &Environment,
        node: &str,
    ) -> Result<Built, Vec<Diagnostic>> {
        let tried = document.enabled(node);
        let document = &tried;
        if document.nodes().all(|(id, _)| id != node) {
            return Err(vec![Diagnostic::error(
                "unknown-node",
                format!("node:{node}"),
                text!("There is no node `{node}`.", node),
                text!("Choose a node of the graph."),
            )]);
        }
        self.build_at(document, environment, &[], WorkingNodes::Only(node))
    }
}
