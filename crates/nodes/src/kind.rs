//! What a node kind is. Everything the app knows about a kind (palette, form, card, checks, documentation) comes from
//! its implementation of [`NodeKind`]; adding a kind is one module and one line in the registry.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use superstep::{Graph, Node, Persistence};
use superstep_document::{Diagnostic, Document, Edge, Effect, NodeSpec};

use crate::access::{Access, Grants};
use crate::expression::{Expression, ExpressionError, ExpressionProblem, FILTERS, Template, Uses};
use crate::mcp::{self, Hub, Mcp};
use crate::nested::{self, Nested, NestedError, Runs};
use crate::provider::{Exchanges, ModelSettings, Providers, Recording, Recordings};
use crate::python::Pythons;
use crate::registry::{Environment, Registry};
use crate::sandbox::{Files, Workers};
use crate::schema::{Key, Keys};
use crate::search::Folders;
use crate::shape::Shape;
use crate::suggest;

/// A kind as the palette and the inspector show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindInfo {
    /// `kind` in the document.
    pub kind: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Lucide icon name.
    pub icon: &'static str,
    /// Palette group: `state`, `models`, `code`, `people`, `knowledge`.
    pub group: &'static str,
    /// JSON Schema of `config`, with `title`, `description`, `default` and `x-editor` for the form.
    pub config_schema: Json,
    /// `config` of a new node.
    pub defaults: Json,
    /// JSON Pointers into `config` whose text is shown on the node's card.
    pub card: &'static [&'static str],
}

/// A kind of node.
pub trait NodeKind: Send + Sync {
    /// How it is shown and what its config looks like.
    fn info(&self) -> KindInfo;
    /// Says what is wrong with a config that satisfies the schema, and what the node reads and writes.
    fn check(&self, site: &mut Site<'_>);
    /// Makes the engine's node. Called for configs without errors only.
    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic>;
    /// What a node of these settings does to the world outside of the graph, when its record does not say.
    fn effect(&self, config: &Map<String, Json>) -> superstep::Effect {
        let _ = config;
        superstep::Effect::Pure
    }
    /// Does [`check`](Self::check) find every state key that the node reads? Then its effect depends on these keys only.
    fn reads_are_known(&self) -> bool {
        false
    }
    /// The graph that a node is inside, for kinds that draw one from their settings; `keys` are those around it.
    fn inside(&self, node: &str, config: &Map<String, Json>, keys: &Keys) -> Option<Document> {
        let _ = (node, config, keys);
        None
    }
}

/// JSON Schema of a config type.
pub fn schema_of<C: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<C>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
    }
    schema
}

/// The schema of words as the plain list that forms show as a choice.
pub(crate) fn words(schema: &mut schemars::Schema) {
    let Some(variants) = schema.get("oneOf").and_then(Json::as_array) else {
        return;
    };
    let words: Option<Vec<Json>> = variants.iter().map(|one| one.get("const").cloned()).collect();
    if let Some(words) = words {
        schema.remove("oneOf");
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), words.into());
    }
}

/// Reads a config.
pub fn parse<C: DeserializeOwned>(config: &Map<String, Json>) -> Result<C, String> {
    serde_json::from_value(Json::Object(config.clone())).map_err(|e| e.to_string())
}

/// State keys that a node, or the edges that leave it, use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Keys it reads.
    pub reads: BTreeSet<String>,
    /// Keys it writes.
    pub writes: BTreeSet<String>,
    /// True when it may read more than `reads` says: it uses the state as a whole.
    #[serde(skip)]
    pub whole: bool,
    /// Nodes that it may go to without an edge.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub leads: BTreeSet<String>,
}

/// Where something is checked: a node's config, or an edge.
pub struct Site<'a> {
    /// `node:ID` or `edge:ID`.
    pub record: String,
    /// How messages name it, e.g. `node draft`.
    pub called: String,
    /// Start of JSON Pointers, e.g. `/config`.
    pub base: &'static str,
    /// The config; empty for edges.
    pub config: &'a Map<String, Json>,
    /// The document's state keys.
    pub keys: &'a Keys,
    /// Names that `state` has here: the state keys, or for the target of an `each` edge the keys of its packet.
    pub readable: &'a BTreeSet<String>,
    /// Folder of the graph file, when it is saved.
    pub folder: Option<&'a Path>,
    /// The registry that checks, and the graph's files, when the disk is to be looked at.
    pub(crate) looks: Option<(&'a Registry, &'a Environment, &'a [PathBuf])>,
    /// The document's nodes, for settings that name one.
    pub nodes: &'a BTreeMap<&'a str, NodeSpec>,
    /// The document's edges, for settings that mean nothing without them.
    pub edges: &'a [(String, Edge)],
    /// What is wrong.
    pub problems: Vec<Diagnostic>,
    /// What is used.
    pub usage: Usage,
    /// What is touched outside of the graph.
    pub accesses: BTreeSet<Access>,
}

impl<'a> Site<'a> {
    /// What the graph may use of the world, when the disk is looked at.
    pub(crate) fn environment(&self) -> Option<&'a Environment> {
        self.looks.map(|(_, environment, _)| environment)
    }
}

impl Site<'_> {
    /// The graph file that a node runs; `None` after saying what is wrong with it, or when the disk is not looked at.
    pub(crate) fn graph(&mut self, pointer: &str, path: &str) -> Option<Arc<Nested>> {
        let (registry, environment, above) = self.looks?;
        match registry.nested(environment, above, path) {
            Ok((nested, problems, accesses)) => {
                self.accesses.extend(accesses);
                if let Some(summary) = nested::summary(&problems) {
                    let error = NestedError::Broken(nested.path.clone(), summary);
                    self.error(error.code(), pointer, error.to_string(), error.remedy());
                }
                Some(nested)
            }
            Err(error) => {
                self.error(error.code(), pointer, error.to_string(), error.remedy());
                None
            }
        }
    }

    /// The config as the kind's type; `None` after saying what is wrong.
    pub fn parse<C: DeserializeOwned>(&mut self) -> Option<C> {
        match parse(self.config) {
            Ok(config) => Some(config),
            Err(cause) => {
                self.error(
                    "bad-config",
                    "",
                    format!("The settings cannot be read: {cause}."),
                    "Correct the setting.",
                );
                None
            }
        }
    }

    /// Checks a part of the node as a node of its own: its settings are `config`, and the nodes that they may name are
    /// `nodes`, or those beside this one.
    pub(crate) fn part(
        &mut self,
        config: &Map<String, Json>,
        nodes: Option<&BTreeMap<&str, NodeSpec>>,
        check: impl FnOnce(&mut Site<'_>),
    ) {
        let mut part = Site {
            record: self.record.clone(),
            called: self.called.clone(),
            base: self.base,
            config,
            keys: self.keys,
            readable: self.readable,
            folder: self.folder,
            looks: self.looks,
            nodes: nodes.unwrap_or(self.nodes),
            edges: self.edges,
            problems: Vec::new(),
            usage: Usage::default(),
            accesses: BTreeSet::new(),
        };
        check(&mut part);
        for problem in part.problems {
            // Parts may have the same thing to say.
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        self.usage.reads.extend(part.usage.reads);
        self.usage.writes.extend(part.usage.writes);
        self.usage.leads.extend(part.usage.leads);
        self.accesses.extend(part.accesses);
    }

    /// Notes that the node touches something outside of the graph, which its owner is to allow.
    pub fn reaches(&mut self, access: Access) {
        self.accesses.insert(access);
    }

    /// What bounds the files that the graph may name, when the disk is looked at.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.looks.and_then(|(_, environment, _)| environment.root())
    }

    /// Whether a model answers from an earlier run: what the host wants goes before what the node says.
    pub(crate) fn recording(&self, own: Recording) -> Recording {
        self.looks
            .and_then(|(_, environment, _)| environment.recording)
            .unwrap_or(own)
    }

    /// Notes that the node asks a model.
    pub(crate) fn reaches_model(&mut self, model: &str) {
        if let Some((_, environment, _)) = self.looks {
            self.accesses.extend(environment.providers().accesses(model));
        }
    }

    /// Notes that the node uses an MCP server, and says what is wrong with its declaration.
    pub(crate) fn reaches_server(&mut self, pointer: &str, server: &str) {
        let Some((_, environment, _)) = self.looks else {
            return;
        };
        match mcp::accesses(environment, server) {
            Ok(accesses) => self.accesses.extend(accesses),
            Err(error) => {
                let text = capital(&error.to_string());
                let (message, remedy) = text.rsplit_once(". ").unwrap_or((&text, "Correct .mcp.json"));
                self.error(error.code(), pointer, format!("{message}."), format!("{remedy}."));
            }
        }
    }

    fn at(&self, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
        let pointer = format!("{}{pointer}", self.base);
        if pointer.is_empty() {
            diagnostic
        } else {
            diagnostic.at(pointer)
        }
    }

    /// Connections to model servers, when they are known here.
    pub(crate) fn models(&self) -> Option<&ModelSettings> {
        self.looks.map(|(_, environment, _)| &*environment.models)
    }

    /// Checks settings that stand inside this node's, with the check of another kind. `extra` are names that `state`
    /// has there besides the state keys.
    pub(crate) fn inside(
        &mut self,
        base: &'static str,
        config: &Map<String, Json>,
        extra: &[&str],
        check: impl FnOnce(&mut Site<'_>),
    ) {
        let mut readable = self.readable.clone();
        readable.extend(extra.iter().map(|name| (*name).to_owned()));
        let mut site = Site {
            record: self.record.clone(),
            called: self.called.clone(),
            base,
            config,
            keys: self.keys,
            readable: &readable,
            folder: self.folder,
            looks: self.looks,
            nodes: self.nodes,
            edges: self.edges,
            problems: Vec::new(),
            usage: Usage::default(),
            accesses: BTreeSet::new(),
        };
        check(&mut site);
        let known = site
            .usage
            .reads
            .into_iter()
            .filter(|key| self.readable.contains(key));
        self.usage.reads.extend(known);
        self.problems.extend(site.problems);
        self.accesses.extend(site.accesses);
    }

    /// Adds an error.
    pub fn error(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::error(code, self.record.clone(), message, remedy);
        self.problems.push(self.at(diagnostic, pointer));
    }

    /// Adds a warning.
    pub fn warning(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::warning(code, self.record.clone(), message, remedy);
        self.problems.push(self.at(diagnostic, pointer));
    }

    /// Checks an expression at `pointer`; `extra` is one more variable it may use.
    pub fn expression(&mut self, pointer: &str, source: &str, extra: Option<&str>) {
        let compiled =
            Expression::compile(source, self.place(pointer)).map(|compiled| compiled.uses().clone());
        self.uses(pointer, compiled, extra);
    }

    /// Checks what is text for an expression, and taken as it is otherwise.
    pub fn value(&mut self, pointer: &str, value: &Json, extra: Option<&str>) {
        if let Json::String(source) = value {
            self.expression(pointer, source, extra);
        }
    }

    /// Checks a template at `pointer`.
    pub fn template(&mut self, pointer: &str, source: &str) {
        let compiled = Template::compile(source, self.place(pointer)).map(|compiled| compiled.uses().clone());
        self.uses(pointer, compiled, None);
    }

    fn uses(&mut self, pointer: &str, compiled: Result<Uses, ExpressionError>, extra: Option<&str>) {
        let uses = match compiled {
            Ok(uses) => uses,
            Err(error) => {
                let line = error
                    .line
                    .map_or_else(String::new, |line| format!(" (line {line})"));
                let code = if error.problem == ExpressionProblem::Syntax {
                    "expression-syntax"
                } else {
                    "expression"
                };
                self.error(
                    code,
                    pointer,
                    format!("{}{line}: {}", capital(&self.label(pointer)), error.message),
                    error.remedy,
                );
                return;
            }
        };
        self.usage.whole |= uses.whole;
        for key in uses.keys {
            self.read(pointer, &key);
        }
        for filter in uses.unknown_filters {
            let message = format!(
                "{} uses the filter `{filter}`, which does not exist.{}",
                capital(&self.label(pointer)),
                suggest::did_you_mean(&filter, FILTERS.iter().copied())
            );
            self.error(
                "unknown-filter",
                pointer,
                message,
                "The expression reference lists the filters.",
            );
        }
        let is_free = |name: &&String| Some(name.as_str()) != extra && *name != "context";
        for name in uses.names.iter().filter(is_free) {
            let remedy = if self.readable.contains(name) {
                format!("State keys are read as `state.{name}`; text stands in quotes.")
            } else {
                "State keys are read as `state.NAME`; text stands in quotes.".to_owned()
            };
            self.warning(
                "unknown-name",
                pointer,
                format!(
                    "{} uses `{name}`, which is not defined.",
                    capital(&self.label(pointer))
                ),
                remedy,
            );
        }
    }

    fn label(&self, pointer: &str) -> String {
        format!("`{}`", pointer.trim_start_matches('/').replace('/', "."))
    }

    fn place(&self, pointer: &str) -> String {
        format!("{} of {}", self.label(pointer), self.called)
    }

    /// Notes that state key `key` is read; an unknown one is a warning, because it may be tested for.
    pub fn read(&mut self, pointer: &str, key: &str) {
        if self.readable.contains(key) {
            self.usage.reads.insert(key.to_owned());
            return;
        }
        let known: Vec<&str> = self.readable.iter().map(String::as_str).collect();
        let hint = suggest::did_you_mean(key, known.iter().copied());
        let message = if self.keys.get(key).is_some() {
            format!(
                "`state.{key}` is not part of what {} is given: it is the target of an `each` edge.",
                self.called
            )
        } else {
            self.no_key(pointer, key, &hint)
        };
        let remedy = if self.keys.get(key).is_some() {
            format!(
                "Pass it on in the edge's `with`: `\"{key}\": \"state.{key}\"`. Given are {}.",
                suggest::listing(known)
            )
        } else {
            format!(
                "Correct the name, or add the key to the state. Known: {}.",
                suggest::listing(known)
            )
        };
        self.warning("unknown-key", pointer, message, remedy);
    }

    /// Notes that state key `key` is written; an unknown one is an error.
    pub fn write(&mut self, pointer: &str, key: &str) -> Option<Key> {
        if let Some(known) = self.keys.get(key) {
            self.usage.writes.insert(key.to_owned());
            return Some(known.clone());
        }
        let message = self.no_key(pointer, key, &suggest::did_you_mean(key, self.keys.names()));
        let remedy = format!(
            "Choose a key, or add it to the state. Known: {}.",
            suggest::listing(self.keys.names())
        );
        self.error("unknown-key", pointer, message, remedy);
        None
    }

    fn no_key(&self, pointer: &str, key: &str, hint: &str) -> String {
        if key.trim().is_empty() {
            format!("{} names no state key.", capital(&self.label(pointer)))
        } else {
            format!("There is no state key `{key}`.{hint}")
        }
    }

    /// Says that a setting is empty.
    pub fn filled(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() {
            self.error(
                "empty-setting",
                pointer,
                format!("{} is empty.", capital(&self.label(pointer))),
                "Fill it in.",
            );
        }
    }

    /// Checks that `schema` is a JSON Schema.
    pub fn schema(&mut self, pointer: &str, schema: &Json) {
        if let Err(cause) = Shape::new(schema) {
            let message = format!("{} is no JSON Schema: {cause}.", capital(&self.label(pointer)));
            self.error(
                "bad-schema",
                pointer,
                message,
                "Correct the schema, e.g. `{\"type\": \"string\"}`.",
            );
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Where a node is built.
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
    pub(crate) servers: Arc<Hub>,
    /// Python's workers.
    pub(crate) pythons: Arc<Pythons>,
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
                    error.to_string(),
                    error.remedy(),
                )
                .at(format!("/config{pointer}"))
            })?;
        let graph = built.graph.with_persistence(persistence);
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
                let cause = nested::summary(&problems).unwrap_or_else(|| "it has no node.".to_owned());
                self.problem("broken-graph", "", cause.trim_end_matches('.'))
            })?;
        let mut runs = self.runs.borrow_mut();
        runs.graphs.push(built.graph.clone());
        runs.files.extend(built.files);
        Ok(built.graph)
    }
    /// The project's MCP servers.
    pub(crate) fn mcp(&self) -> Mcp {
        Mcp::new(self.servers.clone(), self.environment.clone())
    }
    /// The same place with other settings: those of a kind that this one uses.
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
    /// The project's modules, as programs of this graph import them; `None` while the graph is in no folder.
    pub(crate) fn files(&self) -> Option<Files> {
        let folder = self.environment.folder.as_deref()?;
        Files::new(self.environment.root()?, folder)
    }
    /// What bounds the files that the graph may name.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.environment.root().map(Path::to_path_buf)
    }
    /// Whether a model answers from an earlier run: what the host wants goes before what the node says.
    pub(crate) fn recording(&self, own: Recording) -> Recording {
        self.environment.recording.unwrap_or(own)
    }
    /// Recorded answers of models.
    pub(crate) fn recordings(&self) -> Arc<Recordings> {
        self.registry.recordings.clone()
    }
    /// What was asked of models, for the trace.
    pub(crate) fn exchanges(&self) -> Arc<Exchanges> {
        self.registry.exchanges.clone()
    }
    /// What the graph may touch; nodes ask it while they run.
    pub fn grants(&self) -> &Grants {
        &self.environment.grants
    }
    /// The config as the kind's type.
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
    pub fn schema(&self, pointer: &str, schema: &Json) -> Result<Shape, Diagnostic> {
        Shape::new(schema).map_err(|cause| self.problem("bad-schema", pointer, &cause))
    }
    /// Compiles a JSON Schema of what people fill in: a date has to be one, because nobody else looks at it.
    pub(crate) fn form(&self, pointer: &str, schema: &Json) -> Result<Shape, Diagnostic> {
        Shape::form(schema).map_err(|cause| self.problem("bad-schema", pointer, &cause))
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
            format!("The node cannot be built: {cause}."),
            "Correct the setting.",
        )
        .at(format!("/config{pointer}"))
    }
}
