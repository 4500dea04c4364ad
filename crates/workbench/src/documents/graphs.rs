//! Engine graphs of documents. Building checks everything and compiles code, so the graph of a version of a document
//! is kept; the last one that could be built also serves to read threads while the document has errors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use superstep::checkpoint::GraphVersion;
use superstep::{Graph, Value};
use superstep_document::Diagnostic;
use superstep_nodes::models::TestAnswers;
use superstep_nodes::schema::StateSchema;
use superstep_nodes::{Grants, GraphSources, ModelSettings, Stamp};

use crate::Workbench;
use crate::documents::GraphSource;
use crate::session::RanOn;
use crate::wire::{Problem, RunModels};
use superstep_document::{Join, Text, text};

/// Graphs that are kept.
const MAX_GRAPHS: usize = 32;

/// A document and the graph that it means.
#[derive(Debug)]
pub(crate) struct Built {
    /// The connections to model servers that it was built with.
    models: ModelSettings,
    /// Who answers for its models.
    answering: RunModels,
    /// What it may touch.
    grants: Grants,
    pub(crate) source: GraphSource,
    pub(crate) graph: Graph,
    /// Graph files that it runs, as they were when it was built.
    files: Vec<(PathBuf, Stamp)>,
    schema: StateSchema,
}

impl Built {
    fn is_current(&self) -> bool {
        are_current(&self.files)
    }

    /// Refuses an input or an edit that the state's schema does not allow. Nodes are held to it while they run; what a
    /// person types passes no node.
    pub(crate) fn check(&self, what: &str, update: &Value) -> Result<(), Problem> {
        self.schema.check_update(what, update).map_err(|error| {
            Problem::new("does-not-fit", error.to_string()).remedy(text!(
                "Correct the value, or change the key's type in the state panel."
            ))
        })
    }
}

/// Built graphs by the document's key, the version of it that a thread ran on, and who answers for their models.
type BuiltGraphs = HashMap<(String, Option<String>, RunModels), Arc<Built>>;

/// Parts of a document, valid as long as none of these files changes.
#[derive(Debug)]
struct Gathered {
    /// Of the document.
    of: String,
    files: Vec<(PathBuf, Stamp)>,
    current: CurrentParts,
}

/// Current parts of a graph.
#[derive(Clone, Debug)]
pub(crate) struct CurrentParts {
    pub(crate) sources: Arc<GraphSources>,
    pub(crate) version: Arc<GraphVersion>,
}

/// Graphs that were built.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    built: Mutex<BuiltGraphs>,
    gathered: Mutex<HashMap<String, Gathered>>,
}

fn are_current(files: &[(PathBuf, Stamp)]) -> bool {
    files
        .iter()
        .all(|(file, stamp)| Stamp::of(file).as_ref() == Some(stamp))
}

impl Graphs {
    fn lock(&self) -> MutexGuard<'_, BuiltGraphs> {
        self.built.lock()
    }

    fn get(&self, source: &GraphSource, answering: &RunModels) -> Option<Arc<Built>> {
        self.lock().get(&Self::place(source, answering)).cloned()
    }

    fn place(source: &GraphSource, answering: &RunModels) -> (String, Option<String>, RunModels) {
        let earlier = source.earlier.as_ref().map(|ran| ran.id.clone());
        (source.key.clone(), earlier, answering.clone())
    }

    /// Returns any graph of a document: they differ in who answers, and not in what is stored.
    fn any(&self, key: &str) -> Option<Arc<Built>> {
        let all = self.lock();
        let is_it = |built: &&Arc<Built>| built.source.key == key && built.source.earlier.is_none();
        all.values().find(is_it).cloned()
    }

    /// Forgets every graph.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn keep(&self, built: &Arc<Built>) {
        let mut all = self.lock();
        if all.len() >= MAX_GRAPHS {
            all.clear();
        }
        all.insert(Self::place(&built.source, &built.answering), built.clone());
    }
}

pub(crate) fn cannot_run(source: &GraphSource, errors: &[Diagnostic]) -> Problem {
    let shown = errors.iter().take(3);
    let mut shown: Vec<Text> = shown
        .map(|error| {
            text!(
                "{record}: {message}",
                record = &error.record,
                message = &error.message
            )
        })
        .collect();
    if errors.len() > shown.len() {
        shown.push(text!("and {count} more", count = errors.len() - shown.len()));
    }
    let remedy = errors.first().map_or_else(
        || text!("Look at the list of problems."),
        |error| error.remedy.clone(),
    );
    let problems = Text::list(Join::Space, shown);
    let message = text!("{name} cannot run. {problems}", name = &source.name, problems);
    Problem::new("graph-invalid", message).remedy(remedy)
}

impl Workbench {
    /// Builds the graph of a document, with the models that its nodes name.
    pub(crate) fn build(&self, source: GraphSource) -> Result<Arc<Built>, Problem> {
        self.build_with(source, RunModels::default())
    }

    /// Builds the graph of a document, ready to run.
    pub(crate) fn build_with(
        &self,
        source: GraphSource,
        answering: RunModels,
    ) -> Result<Arc<Built>, Problem> {
        let models = self.models();
        let grants = self.trust.grants(&Self::project(&source));
        if let Some(built) = self.graphs.built.get(&source, &answering).filter(|built| {
            built.source.version == source.version
                && built.models == models
                && built.grants == grants
                && built.is_current()
        }) {
            return Ok(built);
        }
        let (graph, files) = self.made(&source, &answering)?;
        let (schema, _) = StateSchema::of(&source.document);
        let built = Arc::new(Built {
            models,
            answering,
            grants,
            source,
            graph,
            files,
            schema,
        });
        self.graphs.built.keep(&built);
        Ok(built)
    }

    /// Builds the graph of a document now, without keeping it, and returns the files that it was built from.
    pub(crate) fn made(
        &self,
        source: &GraphSource,
        answering: &RunModels,
    ) -> Result<(Graph, Vec<(PathBuf, Stamp)>), Problem> {
        if source.document.source().is_some() {
            return Err(Problem::new(
                "graph-invalid",
                text!("{name} cannot be read as a graph.", name = &source.name),
            )
            .remedy(text!("Correct the file, or take back an earlier version of it.")));
        }
        if source.earlier.as_ref().is_some_and(|ran| ran.sources.redacted) {
            return Err(Problem::new(
                "version-redacted",
                text!(
                    "The version of {name} that the thread ran on cannot run: secrets were taken out of it.",
                    name = &source.name
                ),
            )
            .remedy(text!("Go on with the graph as it is now.")));
        }
        let folder = source.path.as_deref().and_then(Path::parent);
        let environment = source
            .within(self.environment(folder.map(Path::to_path_buf)))
            .with_grants(self.trust.grants(&Self::project(source)));
        let made = self
            .registry
            .build(&source.document, &answering.within(environment))
            .map_err(|errors| cannot_run(source, &errors))?;
        let graph = made
            .graph
            .with_checkpointer(self.saver())
            .with_store(self.store());
        Ok((graph, made.files))
    }

    /// Reads now what a graph consists of, and returns the files that it was read from.
    pub(crate) fn gather(&self, source: &GraphSource) -> (GraphSources, Vec<(PathBuf, Stamp)>) {
        let folder = source.path.as_deref().and_then(Path::parent);
        GraphSources::of(&source.document, &self.environment(folder.map(Path::to_path_buf)))
    }

    /// Returns what a graph consists of now, reading it again only where a file has changed. May take long.
    pub(crate) fn consists_of(&self, source: &GraphSource) -> CurrentParts {
        if let Some(ran) = &source.earlier {
            let sources = Arc::new(ran.sources.clone());
            let mut version = sources.version();
            // What runs again is what the thread keeps already.
            version.id = ran.id.as_str().into();
            return CurrentParts {
                sources,
                version: Arc::new(version),
            };
        }
        let mut gathered = self.graphs.built.gathered.lock();
        if let Some(known) = gathered.get(&source.key)
            && known.of == source.version
            && are_current(&known.files)
        {
            return known.current.clone();
        }
        let (sources, files) = self.gather(source);
        let current = CurrentParts {
            version: Arc::new(sources.version()),
            sources: Arc::new(sources),
        };
        if gathered.len() >= MAX_GRAPHS {
            gathered.clear();
        }
        gathered.insert(
            source.key.clone(),
            Gathered {
                of: source.version.clone(),
                files,
                current: current.clone(),
            },
        );
        current
    }

    /// Builds a graph that runs one node of a document and nothing else.
    pub(crate) fn build_node_test(
        &self,
        source: &GraphSource,
        node: &str,
        answering: &RunModels,
    ) -> Result<Graph, Problem> {
        let folder = source.path.as_deref().and_then(Path::parent);
        let environment = self
            .environment(folder.map(Path::to_path_buf))
            .with_grants(self.trust.grants(&Self::project(source)));
        let made = self
            .registry
            .build_node_test(&source.document, &answering.within(environment), node)
            .map_err(|errors| cannot_run(source, &errors))?;
        self.permit(source, Some(node), answering)?;
        Ok(made.graph.with_store(self.store()))
    }

    /// Builds the graph of a document for a test of it, whose models answer from what is recorded beside its file.
    pub(crate) fn build_tested(
        &self,
        source: &GraphSource,
        answers: Arc<TestAnswers>,
        answering: &RunModels,
    ) -> Result<Graph, Problem> {
        let folder = source.path.as_deref().and_then(Path::parent);
        let environment = self
            .environment(folder.map(Path::to_path_buf))
            .with_grants(self.trust.grants(&Self::project(source)))
            .with_test_answers(answers);
        let made = self
            .registry
            .build(&source.document, &answering.within(environment))
            .map_err(|errors| cannot_run(source, &errors))?;
        self.permit(source, None, answering)?;
        Ok(made.graph)
    }

    /// Builds the graph to read a thread with: the one that it ran on, where it is kept and can be built.
    pub(crate) fn build_as_it_was(&self, key: &str, ran: RanOn) -> Option<Arc<Built>> {
        let source = self.source_by_key(key).ok()?.as_it_was(ran);
        match self.build(source) {
            Ok(built) => Some(built),
            Err(problem) => {
                tracing::debug!(key, %problem, "the thread is read with its graph as it is now");
                None
            }
        }
    }

    /// Builds the graph to read a thread with: the one of its document as it is, or else the last one that could be
    /// built.
    pub(crate) fn build_to_read(&self, key: &str) -> Option<Arc<Built>> {
        match self.source_by_key(key).and_then(|source| self.build(source)) {
            Ok(built) => Some(built),
            Err(problem) => {
                tracing::debug!(key, %problem, "the thread is read without its graph as it is now");
                let key = self.ledger.followed(key).unwrap_or_else(|_| key.to_owned());
                self.graphs.built.any(&key)
            }
        }
    }
}
