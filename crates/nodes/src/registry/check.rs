//! What is wrong with a document's nodes and expressions, which state keys they use, and what they touch.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};
use superstep_document::{Diagnostic, Document, Edge, NodeSpec};

use super::flow::{NodeInputs, parallel_writers};
use super::kind::KeyUsage;
use super::settings::{check_the_rest, config_problems};
use super::site::Site;
use super::{Environment, KindEntry, Registry};
use super::{disabled, dynamic_targets, invariants, policy, summary};
use crate::base::access::Access;
use crate::state::schema::{Keys, StateSchema};
use superstep_document::suggest;
use superstep_document::{Text, text};

pub(super) struct Findings {
    pub(super) problems: Vec<Diagnostic>,
    pub(super) usage: BTreeMap<String, KeyUsage>,
    pub(super) accesses: BTreeMap<String, BTreeSet<Access>>,
}

impl Findings {
    /// Returns the problems found, after those of the document itself.
    pub(super) fn all(&mut self, document: &Document) -> Vec<Diagnostic> {
        let mut all = dynamic_targets::reached(document, &self.usage, document.validate());
        all.append(&mut self.problems);
        all
    }
}

/// A document that is looked at, record by record.
struct DocumentCheck<'a> {
    registry: &'a Registry,
    document: &'a Document,
    keys: &'a Keys,
    /// The names of the state keys.
    all: BTreeSet<String>,
    nodes: &'a BTreeMap<&'a str, NodeSpec>,
    edges: &'a [(String, Edge)],
    folder: Option<&'a Path>,
    looks: Option<(&'a Registry, &'a Environment, &'a [PathBuf])>,
    /// The settings of what has none.
    nothing: Map<String, Json>,
}

impl DocumentCheck<'_> {
    /// Creates the place of expressions that see the whole state.
    fn site(&self, record: String, called: Text) -> Site<'_> {
        Site {
            record,
            called,
            base: "",
            config: &self.nothing,
            keys: self.keys,
            readable: &self.all,
            folder: self.folder,
            looks: self.looks,
            nodes: self.nodes,
            edges: self.edges,
            problems: Vec::new(),
            usage: KeyUsage::default(),
            accesses: BTreeSet::new(),
            typed: true,
        }
    }

    fn at_nodes(&self, findings: &mut Findings) {
        let given = NodeInputs::of(self.edges, &self.all);
        for (id, spec) in self.document.nodes() {
            let Some(entry) = self.registry.known(id, &spec, &mut findings.problems) else {
                continue;
            };
            let mut site = Site {
                base: "/config",
                config: &spec.config,
                readable: given.node(id),
                typed: !given.is_packet(id),
                ..self.site(format!("node:{id}"), text!("node {id}", id))
            };
            let broken = config_problems(entry, &mut site);
            if broken.is_empty() {
                entry.kind.check(&mut site);
            } else {
                check_the_rest(entry, &mut site, &broken);
            }
            site.base = "";
            policy::check(&mut site, &spec.policy);
            // What keeps a disabled node from working keeps no run from passing it by.
            findings.problems.extend(match &spec.disabled {
                Some(way) => disabled::problems(id, way, self.edges, &site.usage),
                None => site.problems,
            });
            if !site.accesses.is_empty() {
                findings.accesses.insert(site.record.clone(), site.accesses);
            }
            findings.usage.insert(site.record, site.usage);
        }
    }

    fn at_edges(&self, findings: &mut Findings) {
        for (id, edge) in self.edges {
            let mut site = self.site(format!("edge:{id}"), text!("edge {id}", id));
            // An empty one is the document's own diagnostic.
            let mut expression = |pointer: &str, source: &str| {
                if !source.trim().is_empty() {
                    site.expression(pointer, source, None);
                }
            };
            match edge {
                Edge::Plain { .. } | Edge::Join { .. } | Edge::Limit { .. } => continue,
                Edge::When { when, .. } => expression("/when", when),
                Edge::Route { route, .. } => expression("/route", route),
                Edge::Each { each, item, with, .. } => {
                    expression("/each", each);
                    for (key, source) in with {
                        site.expression(&format!("/with/{key}"), source, Some(item));
                    }
                }
            }
            findings.problems.extend(site.problems);
            findings.usage.insert(site.record, site.usage);
        }
    }

    fn at_invariants(&self, findings: &mut Findings) {
        for invariant in self.document.invariants() {
            let mut site = self.site(invariant.record.clone(), text!("an invariant"));
            site.invariant(
                &invariant.pointer(),
                &invariant.must,
                invariants::names(&invariant),
            );
            findings.problems.extend(site.problems);
        }
    }
}

/// Summaries are looked at by themselves: what they read is no input of the node.
impl DocumentCheck<'_> {
    fn at_summaries(&self, findings: &mut Findings) {
        if let Some(source) = self.document.summary() {
            let mut site = self.site("doc".to_owned(), text!("the graph"));
            site.summary("/summary", source, &[]);
            findings.problems.extend(site.problems);
        }
        for (id, spec) in self.nodes {
            if let Some(source) = &spec.policy.summary {
                let mut site = self.site(format!("node:{id}"), text!("node {id}", id));
                site.summary("/summary", source, &[summary::UPDATE]);
                findings.problems.extend(site.problems);
            }
        }
    }
}

impl Registry {
    /// Checks a document. `environment` is absent if the disk is not to be looked at; `above` are the files of the
    /// graphs around.
    pub(super) fn look_at(
        &self,
        document: &Document,
        environment: Option<&Environment>,
        above: &[PathBuf],
    ) -> Findings {
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
        let edges: Vec<(String, Edge)> = document.edges().map(|(id, edge)| (id.to_owned(), edge)).collect();
        let look = DocumentCheck {
            registry: self,
            document,
            all: keys.names().map(str::to_owned).collect(),
            keys: &keys,
            nodes: &nodes,
            edges: &edges,
            folder,
            looks: environment.map(|environment| (self, environment, above)),
            nothing: Map::new(),
        };
        look.at_nodes(&mut findings);
        look.at_edges(&mut findings);
        look.at_invariants(&mut findings);
        look.at_summaries(&mut findings);
        parallel_writers(&keys, &nodes, &edges, &mut findings);
        findings
    }

    fn known(&self, id: &str, spec: &NodeSpec, problems: &mut Vec<Diagnostic>) -> Option<&KindEntry> {
        let entry = self.kinds.get(spec.kind.as_str());
        // A node without a kind is the document's own diagnostic.
        if entry.is_none() && !spec.kind.is_empty() {
            let message = text!(
                "Node `{id}` is of the unknown kind `{kind}`.{hint}",
                id,
                kind = &spec.kind,
                hint = suggest::did_you_mean(&spec.kind, self.kinds.keys().copied())
            );
            let remedy = text!(
                "Choose one of {known}.",
                known = suggest::listing(self.kinds.keys().copied())
            );
            problems
                .push(Diagnostic::error("unknown-kind", format!("node:{id}"), message, remedy).at("/kind"));
        }
        entry
    }
}
