//! Graph files: found, read, checked and made runnable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use superstep::checkpoint::GraphVersion;
use superstep::{Graph, Name, Value};
use superstep_document::{Diagnostic, Document};
use superstep_nodes::models::{Exchanges, TestAnswers};
use superstep_nodes::{
    Access, Environment, Grants, GraphSources, ModelSettings, NO_ORDER, NODE_DISABLED, Registry, files,
};
use superstep_workbench::session::{self, Origin, RanOn};
use superstep_workbench::wire::{RunLabels, RunModels};
use superstep_workbench::{KeptLogins, Keychain, NamedSecrets, Trust, WantedAccess, connection_key};

use crate::fault::Fault;
use crate::out::{self, plain, quoted};

/// A graph file that was read.
#[derive(Debug)]
pub(crate) struct GraphFile {
    pub(crate) path: PathBuf,
    pub(crate) document: Document,
    /// Problems of the text; those of the content are found by [`GraphFile::problems`].
    unread: Vec<Diagnostic>,
    /// Who answers for its models.
    models: RunModels,
    /// Tags and metadata of its run.
    labels: RunLabels,
    /// What nodes write in its run instead of working.
    pub(crate) pinned: BTreeMap<Name, Value>,
    /// The version that a thread ran on, which this is in place of the file as it is now.
    earlier: Option<RanOn>,
    /// What the nodes of its run ask of models.
    pub(crate) exchanges: Arc<Exchanges>,
    /// The recorded answers of the test that plays it.
    test_answers: Option<Arc<TestAnswers>>,
}

/// Builds the environment of the graphs in a folder.
pub(crate) fn around(folder: Option<PathBuf>) -> Environment {
    let environment =
        Environment::new(folder).with_keychain(Arc::new(|connection| connection_key(&Keychain, connection)));
    match superstep_workbench::default_data_dir() {
        Some(folder) => {
            let secrets = Arc::new(NamedSecrets::of(&folder, Arc::new(Keychain)));
            environment
                .with_secrets(secrets.lookup())
                .with_logins(Arc::new(KeptLogins::of(&folder, Arc::new(Keychain)).lasting()))
                .with_models(ModelSettings::load(&folder.join(ModelSettings::FILE)))
        }
        None => environment,
    }
}

impl GraphFile {
    /// Reads a file, or the `graph.json` of a folder.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        let file = if path.is_dir() {
            path.join("graph.json")
        } else {
            path.to_owned()
        };
        let text = files::read_text(&file, files::MAX_GRAPH).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound if path.is_dir() => {
                    "Name a folder that holds a graph.json, or a file."
                }
                std::io::ErrorKind::NotFound => "Check the path.",
                std::io::ErrorKind::InvalidData
                | std::io::ErrorKind::InvalidInput
                | std::io::ErrorKind::FileTooLarge => "Name a graph's file.",
                _ => "Check that you may read it.",
            };
            Fault::usage(format!(
                "The graph {} cannot be read: {error}. {hint}",
                file.display()
            ))
        })?;
        // Stored with the thread, so that it is found from any folder.
        let path = file.canonicalize().unwrap_or(file);
        let (document, unread) = Document::parse(&text);
        Ok(Self {
            path,
            document,
            unread,
            models: RunModels::default(),
            labels: RunLabels::default(),
            pinned: BTreeMap::new(),
            earlier: None,
            exchanges: Arc::default(),
            test_answers: None,
        })
    }

    /// Returns the same file for a test that plays it with these recorded answers.
    pub(crate) fn tested_with(&self, answers: Arc<TestAnswers>) -> Self {
        Self {
            unread: self.unread.clone(),
            test_answers: Some(answers),
            ..self.changed(self.document.clone(), self.models.clone())
        }
    }

    /// Sets the models that answer for the graph's models, whatever its nodes specify.
    pub(crate) fn with_models(mut self, models: RunModels) -> Self {
        if let Some(model) = &models.scripted {
            out::note(&format!("{model} answers for the scripted models of the graph."));
        }
        self.models = models;
        self
    }

    /// Sets the tags and metadata of the graph's run.
    pub(crate) fn with_labels(mut self, labels: RunLabels) -> Self {
        self.labels = labels;
        self
    }

    /// Sets the values that these nodes write in the graph's run instead of working.
    pub(crate) fn with_pins(mut self, pins: &[(String, Value)]) -> Result<Self, Fault> {
        for (node, output) in pins {
            let names: Vec<&str> = self.document.nodes().map(|(name, _)| name).collect();
            if !names.contains(&node.as_str()) {
                return Err(Fault::usage(format!(
                    "--pin {node}: the graph has no such node. Its nodes are {}.",
                    names.join(", ")
                )));
            }
            out::note(&format!("{node} does not run: its output is pinned."));
            self.pinned.insert(node.as_str().into(), output.clone());
        }
        Ok(self)
    }

    /// Returns the same file with other content and with these models.
    pub(crate) fn changed(&self, document: Document, models: RunModels) -> Self {
        Self {
            path: self.path.clone(),
            document,
            unread: Vec::new(),
            models,
            labels: RunLabels::default(),
            pinned: BTreeMap::new(),
            earlier: None,
            exchanges: self.exchanges.clone(),
            test_answers: None,
        }
    }

    /// Converts the file to the version that a thread ran on.
    pub(crate) fn at_version(self, ran: RanOn) -> Result<Self, Fault> {
        if ran.sources.redacted {
            return Err(Fault::usage(
                "The version that the thread ran on cannot run: secrets were taken out of it. Go on with --graph-version \
                 current.",
            ));
        }
        Ok(Self {
            document: ran.sources.document(),
            unread: Vec::new(),
            earlier: Some(ran),
            ..self
        })
    }

    /// Returns the current sources of the graph.
    pub(crate) fn sources(&self) -> GraphSources {
        GraphSources::of(&self.document, &self.environment()).0
    }

    /// Returns the version of the graph that a thread keeps.
    pub(crate) fn version(&self) -> GraphVersion {
        match &self.earlier {
            Some(ran) => GraphVersion {
                id: ran.id.as_str().into(),
                ..ran.sources.version()
            },
            None => self.sources().version(),
        }
    }

    /// Returns the problems of the text.
    pub(crate) fn unread(&self) -> &[Diagnostic] {
        &self.unread
    }

    pub(crate) fn environment(&self) -> Environment {
        let environment = around(self.path.parent().map(Path::to_owned));
        let environment = match &self.earlier {
            Some(ran) => environment.at_version(&ran.sources),
            None => environment,
        };
        self.models
            .within(environment)
            .with_test_answers(self.test_answers.clone())
    }

    /// Returns everything outside of itself that the graph wants to access.
    pub(crate) fn wanted(&self, registry: &Registry) -> WantedAccess {
        match self.document.source() {
            None => Trust::wanted(registry, &self.document, &self.environment()),
            Some(_) => WantedAccess::new(),
        }
    }

    /// Returns what the graph may access: what was allowed in its folder, or for this run everything that it wants.
    /// Otherwise fails with the list of what is missing.
    pub(crate) fn permitted(&self, everything: bool) -> Result<Grants, Fault> {
        let path = self.path.display().to_string();
        let allow = format!("superstep trust {} --all", quoted(&path));
        let project = Trust::project_of(&self.path);
        permit(
            &project,
            &path,
            self.wanted(&Registry::standard()),
            everything,
            |_| allow,
        )
    }

    /// Returns everything that is wrong with the graph, errors first in each record.
    pub(crate) fn problems(&self, registry: &Registry) -> Vec<Diagnostic> {
        let mut problems = self.unread.clone();
        if self.document.source().is_none() {
            problems.extend(registry.problems(&self.document, &self.environment()));
        }
        problems
    }

    /// Refuses a graph that would run without some of its nodes.
    pub(crate) fn all_enabled(&self) -> Result<(), Fault> {
        if self.document.source().is_some() {
            return Ok(());
        }
        let mut problems = self.problems(&Registry::standard());
        problems.retain(|problem| problem.code == NODE_DISABLED);
        if problems.is_empty() {
            return Ok(());
        }
        let own = session::disabled_in(&self.document);
        let within = problems.iter().filter_map(|problem| {
            let node = problem.record.strip_prefix("node:")?;
            let own = own.iter().any(|disabled| disabled == node);
            (!own).then(|| format!("those in the graph of {node}"))
        });
        let names: Vec<String> = own.iter().cloned().chain(within).collect();
        Err(Fault::usage(format!(
            "{} has disabled nodes: {}. Enable them, or run without them with --allow-disabled.",
            self.path.display(),
            names.join(", ")
        )))
    }

    /// Refuses a graph that compares values without an order, where a run begins. A thread that ran on it goes on, and
    /// fails where it comes to the comparison.
    pub(crate) fn has_order(&self) -> Result<(), Fault> {
        let mut problems = self.problems(&Registry::standard());
        problems.retain(|problem| problem.code == NO_ORDER);
        match problems.is_empty() {
            true => Ok(()),
            false => Err(self.cannot_run(&problems)),
        }
    }

    /// Prints errors on stderr, and returns the fault of a graph that has them.
    fn cannot_run(&self, problems: &[Diagnostic]) -> Fault {
        for problem in problems {
            out::note(&describe(problem));
        }
        let path = self.path.display();
        let count = match problems.len() {
            1 => "an error".to_owned(),
            count => format!("{count} errors"),
        };
        Fault::failed(format!(
            "{path} has {count} and cannot run. `superstep check {}` shows everything.",
            quoted(&path.to_string())
        ))
    }

    /// Draws the graph with Mermaid, including the ways that its programs declare.
    pub(crate) fn mermaid(&self, registry: &Registry) -> String {
        let checked = registry.checked(&self.document, &self.environment());
        self.document.mermaid_with(checked.dynamic_targets())
    }

    /// Builds the graph, restricted to what it may access, or prints every error on stderr.
    pub(crate) fn build(&self, grants: &Grants) -> Result<Graph, Fault> {
        let registry = match superstep_workbench::default_data_dir() {
            Some(folder) => superstep_workbench::registry(&folder),
            None => Registry::standard(),
        }
        .with_exchanges(self.exchanges.clone());
        let environment = self.environment().with_grants(grants.clone());
        let built = match self.unread.is_empty() {
            true => registry
                .build(&self.document, &environment)
                .map(|built| built.graph),
            false => Err(self
                .problems(&registry)
                .into_iter()
                .filter(Diagnostic::is_error)
                .collect()),
        };
        built.map_err(|problems| self.cannot_run(&problems))
    }

    /// Returns what is stored with every checkpoint, so that a thread can be continued without naming its graph.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            graph: session::name_of(&self.document, Some(&self.path)),
            path: self.path.to_string_lossy().into_owned(),
            models: self.models.clone(),
            disabled: session::disabled_in(&self.document),
            labels: self.labels.clone(),
            pinned: self.pinned.keys().map(ToString::to_string).collect(),
            by: crate::place::data_dir()
                .ok()
                .and_then(|dir| superstep_workbench::person(&dir)),
        }
    }
}

/// Formats a problem for people.
pub(crate) fn describe(problem: &Diagnostic) -> String {
    let severity = if problem.is_error() { "error" } else { "warning" };
    let pointer = problem
        .pointer
        .as_deref()
        .map(|pointer| format!(" {pointer}"))
        .unwrap_or_default();
    let first = format!("{severity}[{}] {}{pointer}", problem.code, problem.record);
    let message = problem.message.to_string();
    let remedy = problem.remedy.to_string();
    format!(
        "{}\n    {}\n    {}",
        plain(&first),
        plain(&message),
        plain(&remedy)
    )
}

/// Returns what was allowed in a project, or everything that is wanted, for this time. Otherwise fails with the list of what is
/// missing and the command that allows it.
pub(crate) fn permit(
    project: &str,
    name: &str,
    mut wanted: WantedAccess,
    everything: bool,
    allow: impl FnOnce(&WantedAccess) -> String,
) -> Result<Grants, Fault> {
    if everything {
        return Ok(Grants::these(wanted.into_keys()));
    }
    let grants = match superstep_workbench::default_data_dir() {
        Some(folder) => Trust::of(&folder).grants(project),
        None => Grants::none(),
    };
    wanted.retain(|access, _| !grants.allow(access));
    if wanted.is_empty() {
        return Ok(grants);
    }
    for (access, nodes) in &wanted {
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        let nodes = match nodes.is_empty() {
            true => String::new(),
            false => format!(" (node {})", nodes.join(", ")),
        };
        out::note(&format!("  {}  {}{nodes}", access.key(), described(access)));
    }
    Err(Fault::usage(format!(
        "{name} wants to use what is listed above, which nobody has allowed yet. If you know why it does, allow it with `{}`, or for \
         one run with --trust.",
        allow(&wanted)
    )))
}

/// Describes an access, with a warning where needed.
pub(crate) fn described(access: &Access) -> String {
    match access.inside() {
        true => format!("{access}, inside the own network"),
        false => access.to_string(),
    }
}
