//! Where a node's settings or an edge are checked: what is there to check them with, and what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use superstep_document::{Diagnostic, Edge, NodeSpec};

use super::Registry;
use super::disabled::NODE_DISABLED;
use super::kind::{KeyUsage, parse};
use crate::base::access::Access;
use crate::base::schema_validator::SchemaValidator;
use crate::expression::{
    Comparison, Expression, ExpressionError, ExpressionProblem, FILTERS, Miscompared, Template, Uses,
};
use crate::mcp;
use crate::models::{ModelSettings, Recording};
use crate::project::Environment;
use crate::project::graph_files::{self, Nested, NestedError};
use crate::state::schema::{Key, Keys};
use superstep_document::suggest;
use superstep_document::{Text, text};

/// Code of an order between values that have none: an error of a check, while a graph that has one is built as before. A
/// thread that ran on it can be read and goes on, and its run fails where it comes to the comparison.
pub const NO_ORDER: &str = "no-order";

/// Place that is checked: a node's config, or an edge.
pub struct Site<'a> {
    /// `node:ID` or `edge:ID`.
    pub record: String,
    /// How messages name it, e.g. `node draft`.
    pub called: Text,
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
    pub usage: KeyUsage,
    /// What is touched outside of the graph.
    pub accesses: BTreeSet<Access>,
    /// `state` has the document's keys here, with their types, and nothing else.
    pub(crate) typed: bool,
}

impl<'a> Site<'a> {
    /// Returns what the graph may use of the world, if the disk is looked at.
    pub(crate) fn environment(&self) -> Option<&'a Environment> {
        self.looks.map(|(_, environment, _)| environment)
    }
}

impl Site<'_> {
    /// Opens the graph file that a node runs; `None` after reporting what is wrong with it, or if the disk is not
    /// looked at.
    pub(crate) fn graph(&mut self, pointer: &str, path: &str) -> Option<Arc<Nested>> {
        let (registry, environment, above) = self.looks?;
        match registry.nested(environment, above, path) {
            Ok((nested, problems, accesses)) => {
                self.accesses.extend(accesses);
                if let Some(summary) = graph_files::summary(&problems) {
                    let error = NestedError::Broken(nested.path.clone(), summary);
                    let mut errors = problems.iter().filter(|problem| problem.is_error());
                    let code = match errors.all(|problem| problem.code == NO_ORDER) {
                        true => NO_ORDER,
                        false => error.code(),
                    };
                    self.error(code, pointer, error.message(), error.remedy());
                }
                let mut disabled = problems.iter().filter(|problem| problem.code == NODE_DISABLED);
                if let Some(first) = disabled.next() {
                    let first = Text::from(first.record.trim_start_matches("node:"));
                    let nodes = match disabled.count() {
                        0 => first,
                        count => text!("{first} and {count} more", first, count),
                    };
                    let message = text!(
                        "The graph {path} runs without some of its nodes: {nodes}.",
                        path,
                        nodes
                    );
                    self.warning(
                        NODE_DISABLED,
                        pointer,
                        message,
                        text!("Open the graph and enable them."),
                    );
                }
                Some(nested)
            }
            Err(error) => {
                self.error(error.code(), pointer, error.message(), error.remedy());
                None
            }
        }
    }

    /// Parses the config as the kind's type; `None` after reporting what is wrong.
    pub fn parse<C: DeserializeOwned>(&mut self) -> Option<C> {
        match parse(self.config) {
            Ok(config) => Some(config),
            Err(cause) => {
                self.error(
                    "bad-config",
                    "",
                    text!("The settings cannot be read: {cause}.", cause),
                    text!("Correct the setting."),
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
            usage: KeyUsage::default(),
            accesses: BTreeSet::new(),
            typed: self.typed,
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
        self.usage.dynamic_targets.extend(part.usage.dynamic_targets);
        self.accesses.extend(part.accesses);
    }

    /// Notes that the node touches something outside of the graph, which its owner is to allow.
    pub fn reaches(&mut self, access: Access) {
        self.accesses.insert(access);
    }

    /// Returns the folder that bounds the files the graph may name, if the disk is looked at.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.looks.and_then(|(_, environment, _)| environment.root())
    }

    /// Returns whether a model answers from an earlier run: the host's choice takes precedence over the node's.
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
                let message = text!("{message}.", message = error.message().capital());
                let remedy = error.remedy().unwrap_or(text!("Correct .mcp.json"));
                let remedy = text!("{remedy}.", remedy);
                self.error(error.code(), pointer, message, remedy);
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

    /// Returns the connections to model servers, if they are known here.
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
            usage: KeyUsage::default(),
            accesses: BTreeSet::new(),
            typed: self.typed && extra.is_empty(),
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
        message: impl Into<Text>,
        remedy: impl Into<Text>,
    ) {
        let diagnostic = Diagnostic::error(code, self.record.clone(), message, remedy);
        self.problems.push(self.at(diagnostic, pointer));
    }

    /// Adds a warning.
    pub fn warning(
        &mut self,
        code: &'static str,
        pointer: &str,
        message: impl Into<Text>,
        remedy: impl Into<Text>,
    ) {
        let diagnostic = Diagnostic::warning(code, self.record.clone(), message, remedy);
        self.problems.push(self.at(diagnostic, pointer));
    }

    /// Checks an expression at `pointer`; `extra` is one more variable it may use.
    pub fn expression(&mut self, pointer: &str, source: &str, extra: Option<&str>) {
        let compiled =
            Expression::compile(source, self.place(pointer)).map(|compiled| compiled.uses().clone());
        self.uses(pointer, source, compiled, extra.as_slice());
    }

    /// Checks an invariant at `pointer`, which may use these names.
    pub(crate) fn invariant(&mut self, pointer: &str, source: &str, names: &[&str]) {
        let compiled =
            Expression::compile(source, self.place(pointer)).map(|compiled| compiled.uses().clone());
        if compiled.as_ref().is_ok_and(|uses| uses.names.contains("context")) {
            let message = text!("{setting} uses the run context.", setting = self.label(pointer));
            let remedy = text!(
                "Invariants are checked over past runs as well, and a run context is not stored: use the state."
            );
            self.error("context-in-invariant", pointer, message, remedy);
        }
        self.uses(pointer, source, compiled, names);
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
        self.uses(pointer, source, compiled, &[]);
    }

    /// Checks a summary at `pointer`, which may use these names besides the state.
    pub(crate) fn summary(&mut self, pointer: &str, source: &str, names: &[&str]) {
        let compiled = Template::compile(source, self.place(pointer)).map(|compiled| compiled.uses().clone());
        self.uses(pointer, source, compiled, names);
    }

    fn uses(&mut self, pointer: &str, source: &str, compiled: Result<Uses, ExpressionError>, extra: &[&str]) {
        let uses = match compiled {
            Ok(uses) => uses,
            Err(error) => {
                let code = if error.problem == ExpressionProblem::Syntax {
                    "expression-syntax"
                } else {
                    "expression"
                };
                let (setting, cause) = (self.label(pointer), error.message);
                let message = match error.line {
                    Some(line) => text!("{setting} (line {line}): {cause}", setting, line, cause),
                    None => text!("{setting}: {cause}", setting, cause),
                };
                self.error(code, pointer, message, error.remedy);
                return;
            }
        };
        self.usage.whole |= uses.whole;
        if self.typed {
            self.comparisons(pointer, source, &uses.comparisons);
        }
        for key in uses.keys {
            self.read(pointer, &key);
        }
        for filter in uses.unknown_filters {
            let message = text!(
                "{setting} uses the filter `{filter}`, which does not exist.{hint}",
                setting = self.label(pointer),
                filter = &filter,
                hint = suggest::did_you_mean(&filter, FILTERS.iter().copied())
            );
            self.error(
                "unknown-filter",
                pointer,
                message,
                text!("The expression reference lists the filters."),
            );
        }
        let is_free = |name: &&String| !extra.contains(&name.as_str()) && *name != "context";
        for name in uses.names.iter().filter(is_free) {
            let remedy = if self.readable.contains(name) {
                text!(
                    "State keys are read as `state.{name}`; text stands in quotes.",
                    name
                )
            } else {
                text!("State keys are read as `state.NAME`; text stands in quotes.")
            };
            self.warning(
                "unknown-name",
                pointer,
                text!(
                    "{setting} uses `{name}`, which is not defined.",
                    setting = self.label(pointer),
                    name
                ),
                remedy,
            );
        }
    }

    /// Says what is wrong with comparisons of values whose types are known.
    fn comparisons(&mut self, pointer: &str, source: &str, comparisons: &[Comparison]) {
        let mut said = Vec::new();
        for comparison in comparisons {
            let keys = self.keys;
            let schema = |key: &str| keys.get(key).map(|key| &key.schema);
            let Some(mistake) = comparison.mistake(source, &schema) else {
                continue;
            };
            // Both links of a chain may say the same.
            let about = (std::mem::discriminant(&mistake), comparison.source());
            if said.contains(&about) {
                continue;
            }
            said.push(about);
            let (setting, compared) = (self.label(pointer), comparison.source());
            match mistake {
                Miscompared::NoOrder(left, right) => self.error(
                    NO_ORDER,
                    pointer,
                    text!(
                        "{setting} puts values without an order side by side: in `{compared}` one is of type {left}, the other \
                         of type {right}.",
                        setting,
                        compared,
                        left,
                        right
                    ),
                    text!("Compare values of one type: give the key the type number, or convert with `|float`."),
                ),
                Miscompared::NeverEqual(left, right) => self.warning(
                    "never-equal",
                    pointer,
                    text!(
                        "{setting} compares values that are never equal: in `{compared}` one is of type {left}, the other of \
                         type {right}.",
                        setting,
                        compared,
                        left,
                        right
                    ),
                    text!("Compare values of one type; a number stands without quotes."),
                ),
                Miscompared::MaybeNull(path) => self.warning(
                    "null-in-order",
                    pointer,
                    text!(
                        "{setting}: `{path}` may be null, which counts as less than everything in `{compared}`.",
                        setting,
                        path = &path,
                        compared
                    ),
                    text!("Say what null counts as: `{path}|default(0, true)`.", path = &path),
                ),
            }
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
            text!(
                "`state.{key}` is not part of what {called} is given: it is the target of an `each` edge.",
                key,
                called = &self.called
            )
        } else {
            self.no_key(pointer, key, hint)
        };
        let remedy = if self.keys.get(key).is_some() {
            text!(
                "Pass it on in the edge's `with`: `\"{key}\": \"state.{key}\"`. Given are {known}.",
                key,
                known = suggest::listing(known)
            )
        } else {
            text!(
                "Correct the name, or add the key to the state. Known: {known}.",
                known = suggest::listing(known)
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
        let message = self.no_key(pointer, key, suggest::did_you_mean(key, self.keys.names()));
        let remedy = text!(
            "Choose a key, or add it to the state. Known: {known}.",
            known = suggest::listing(self.keys.names())
        );
        self.error("unknown-key", pointer, message, remedy);
        None
    }

    fn no_key(&self, pointer: &str, key: &str, hint: Text) -> Text {
        if key.trim().is_empty() {
            text!("{setting} names no state key.", setting = self.label(pointer))
        } else {
            text!("There is no state key `{key}`.{hint}", key, hint)
        }
    }

    /// Says that a setting is empty.
    pub fn filled(&mut self, pointer: &str, text: &str) {
        if text.trim().is_empty() {
            self.error(
                "empty-setting",
                pointer,
                text!("{setting} is empty.", setting = self.label(pointer)),
                text!("Fill it in."),
            );
        }
    }

    /// Checks that `schema` is a JSON Schema.
    pub fn schema(&mut self, pointer: &str, schema: &Json) {
        if let Err(cause) = SchemaValidator::new(schema) {
            let message = text!(
                "{setting} is no JSON Schema: {cause}.",
                setting = self.label(pointer),
                cause
            );
            self.error(
                "bad-schema",
                pointer,
                message,
                text!("Correct the schema, e.g. `{\"type\": \"string\"}`."),
            );
        }
    }
}
