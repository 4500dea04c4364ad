//! Where a node is built: its settings, and what its graph may use.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use superstep::Graph;
use superstep::graph::Persistence;
use superstep_document::{Diagnostic, Document, Effect, NodeSpec};

use super::Registry;
use super::kind::parse;
use crate::base::access::Grants;
use crate::base::schema_validator::SchemaValidator;
use crate::expression::{Expression, Template};
use crate::mcp::{Mcp, ServerPool};
use crate::models::{Exchanges, Providers, Recording, Recordings, TestAnswers};
use crate::programs::javascript::{Files, Workers};
use crate::programs::python::PythonWorkers;
use crate::project::Environment;
use crate::project::graph_files::{self, Nested, Runs};
use crate::search::Folders;
use crate::state::schema::Keys;
use superstep_document::text;

/// Place at which a node is built.
pub struct BuildSite<'a> {
    /// Its id.
    pub node: &'a str,
    /// Its config.
    pub config: &'a Map<String, Json>,
    /// The document's state keys.
    pub keys: &'a Keys,
    /// Folder of the graph file, when it is saved.
    pub folder: Option<PathBuf>,
    /// The document's nodes, for settings that name one.
    pub nodes: &'a BTreeMap<&'a str, NodeSpec>,
    /// What running the node does to the world, when the document says.
    pub effect: Option<Effect>,
    /// Model providers.
    pub providers: Arc<Providers>,
    /// Search indexes.
    pub folders: Arc<Folders>,
    pub(crate) servers: Arc<ServerPool>,
    /// Python's workers.
    pub(crate) pythons: Arc<PythonWorkers>,
    /// What runs JavaScript.
    pub(crate) workers: Arc<Workers>,
    pub(crate) registry: &'a Registry,
    pub(crate) environment: &'a Environment,
    /// Files of the graphs around this one, and its own.
    pub(crate) above: &'a [PathBuf],
    pub(crate) runs: RefCell<Runs>,
}

impl BuildSite<'_> {
    /// Builds the graph file that the node runs.
    pub(crate) fn graph(
        &self,
        pointer: &str,
        path: &str,
        persistence: Persistence,
    ) -> Result<(Arc<Nested>, Graph), Diagnostic> {
        let (nested, built) = self
            .registry
            .build_nested(self.environment, self.above, path)
            .map_err(|error| {
                Diagnostic::error(
                    error.code(),
                    format!("node:{}", self.node),
                    error.message(),
                    error.remedy(),
                )
                .at(format!("/config{pointer}"))
            })?;
        let graph = (built.graph.with_persistence(persistence)).with_origin(nested.path.to_string_lossy());
        let mut runs = self.runs.borrow_mut();
        runs.graphs.push(graph.clone());
        runs.files.push((nested.path.clone(), nested.stamp.clone()));
        runs.files.extend(built.files);
        Ok((nested, graph))
    }
    /// Builds the graph that the node is inside.
    pub(crate) fn inside(&self, document: &Document) -> Result<Graph, Diagnostic> {
        let built = self
            .registry
            .build_inside(document, self.environment, self.above)
            .map_err(|problems| {
                let cause = graph_files::summary(&problems).unwrap_or(text!("it has no node."));
                self.problem("broken-graph", "", cause.trim_end_matches('.'))
            })?;
        let mut runs = self.runs.borrow_mut();
        runs.graphs.push(built.graph.clone());
        runs.files.extend(built.files);
        Ok(built.graph)
    }
    /// Returns the project's MCP servers.
    pub(crate) fn mcp(&self) -> Mcp {
        Mcp::new(self.servers.clone(), self.environment.clone())
    }
    /// Returns the same place with other settings: those of a kind that this one uses.
    pub(crate) fn with_config<'b>(&'b self, config: &'b Map<String, Json>) -> BuildSite<'b> {
        BuildSite {
            config,
            folder: self.folder.clone(),
            providers: self.providers.clone(),
            folders: self.folders.clone(),
            servers: self.servers.clone(),
            pythons: self.pythons.clone(),
            workers: self.workers.clone(),
            runs: RefCell::default(),
            ..*self
        }
    }
    /// Returns the project's modules, as programs of this graph import them; `None` while the graph is in no folder.
    pub(crate) fn files(&self) -> Option<Files> {
        let folder = self.environment.folder.as_deref()?;
        Files::new(self.environment.root()?, folder)
    }
    /// Returns the folder that bounds the files the graph may name.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.environment.root().map(Path::to_path_buf)
    }
    /// Returns whether a model answers from an earlier run: the host's choice takes precedence over the node's.
    pub(crate) fn recording(&self, own: Recording) -> Recording {
        self.environment.recording.unwrap_or(own)
    }
    /// Returns the recorded answers of models.
    pub(crate) fn recordings(&self) -> Arc<Recordings> {
        self.registry.recordings.clone()
    }
    /// Returns the answers of the test that plays the graph.
    pub(crate) fn test_answers(&self) -> Option<Arc<TestAnswers>> {
        self.environment.test_answers.clone()
    }
    /// Returns the exchanges with models, for the trace.
    pub(crate) fn exchanges(&self) -> Arc<Exchanges> {
        self.registry.exchanges.clone()
    }
    /// Returns what the graph may touch; nodes check it while they run.
    pub fn grants(&self) -> &Grants {
        &self.environment.grants
    }
    /// Parses the config as the kind's type.
    pub fn parse<C: DeserializeOwned>(&self) -> Result<C, Diagnostic> {
        parse(self.config).map_err(|cause| self.problem("bad-config", "", &cause))
    }
    /// Compiles an expression.
    pub fn expression(&self, pointer: &str, source: &str) -> Result<Expression, Diagnostic> {
        Expression::compile(source, self.place(pointer))
            .map_err(|e| self.problem("expression-syntax", pointer, &e.message))
    }
    /// Compiles a template.
    pub fn template(&self, pointer: &str, source: &str) -> Result<Template, Diagnostic> {
        Template::compile(source, self.place(pointer))
            .map_err(|e| self.problem("expression-syntax", pointer, &e.message))
    }
    /// Compiles a template of an address: values in it are encoded.
    pub(crate) fn address(&self, pointer: &str, source: &str) -> Result<Template, Diagnostic> {
        Template::address(source, self.place(pointer))
            .map_err(|e| self.problem("expression-syntax", pointer, &e.message))
    }
    /// Compiles a JSON Schema.
    pub fn schema(&self, pointer: &str, schema: &Json) -> Result<SchemaValidator, Diagnostic> {
        SchemaValidator::new(schema).map_err(|cause| self.problem("bad-schema", pointer, &cause))
    }
    /// Compiles a JSON Schema of what people fill in: a date has to be one, because nobody else looks at it.
    pub(crate) fn form(&self, pointer: &str, schema: &Json) -> Result<SchemaValidator, Diagnostic> {
        SchemaValidator::form(schema).map_err(|cause| self.problem("bad-schema", pointer, &cause))
    }
    fn place(&self, pointer: &str) -> String {
        format!(
            "`{}` of node {}",
            pointer.trim_start_matches('/').replace('/', "."),
            self.node
        )
    }
    fn problem(&self, code: &'static str, pointer: &str, cause: &str) -> Diagnostic {
        Diagnostic::error(
            code,
            format!("node:{}", self.node),
            text!("The node cannot be built: {cause}.", cause),
            text!("Correct the setting."),
        )
        .at(format!("/config{pointer}"))
    }
}
