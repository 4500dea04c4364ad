//! Graph files that nodes name: found, read and held until they change, and never one inside itself.

use std::collections::HashMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::Value as Json;
use superstep::Graph;
use superstep_document::{Diagnostic, Document, NodeSpec, Text, text};

use super::Environment;
use crate::base::files::{self, Stamp};

/// The kind of node that runs a graph file.
pub(crate) const GRAPH: &str = "graph";
/// The kind that runs tools, which may be graph files.
pub(crate) const TOOLS: &str = "tools";
/// The kind that runs a model with such tools.
pub(crate) const AGENT: &str = "agent";
/// Graphs inside graphs, at most.
const MAX_DEPTH: usize = 16;
/// Graphs that one document leads to at most, each as often as it is run: a few files that run the next one twice would
/// mean thousands, before anybody has agreed to anything.
const MAX_GRAPHS: usize = 2_000;
/// Largest graph file that is read.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Reason why a graph file cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub enum NestedError {
    /// The setting is empty.
    Unnamed,
    /// The graph around it is not saved, so the path leads nowhere yet.
    NoFolder,
    /// The path leads out of the project.
    Outside(String),
    /// There is no such file, or it cannot be read.
    Unreadable(PathBuf, String),
    /// The file is no graph document.
    Broken(PathBuf, Text),
    /// The file runs itself, through these files.
    Cycle(Vec<PathBuf>),
    /// Too many graphs inside each other.
    TooDeep(PathBuf),
    /// Too many graphs in all.
    TooMany,
}

impl NestedError {
    /// Returns the stable name of the problem.
    pub fn code(&self) -> &'static str {
        match self {
            NestedError::Unnamed => "empty-setting",
            NestedError::NoFolder => "graph-not-saved",
            NestedError::Outside(_) => "graph-outside",
            NestedError::Unreadable(..) => "missing-graph",
            NestedError::Broken(..) => "broken-graph",
            NestedError::Cycle(_) => "graph-cycle",
            NestedError::TooDeep(_) => "graph-depth",
            NestedError::TooMany => "graph-count",
        }
    }

    /// Returns what to do about the problem.
    pub fn remedy(&self) -> Text {
        match self {
            NestedError::Unnamed => text!("Name a graph file, e.g. `research.json`."),
            NestedError::NoFolder => text!("Save this graph first: the path is read from its folder."),
            NestedError::Outside(_) => text!("Name a file inside the project's folder."),
            NestedError::Unreadable(..) => text!("Create the file, or correct the path."),
            NestedError::Broken(..) => text!("Open that graph and correct it."),
            NestedError::Cycle(_) => {
                text!("Let a loop inside one graph do the repeating, or call another graph.")
            }
            NestedError::TooDeep(_) | NestedError::TooMany => text!("Put some of the graphs into one."),
        }
    }

    /// Returns what is wrong.
    pub fn message(&self) -> Text {
        match self {
            NestedError::Unnamed => text!("The node names no graph."),
            NestedError::NoFolder => text!("This graph is not saved yet, so a path leads nowhere."),
            NestedError::Outside(path) => text!(
                "The graph {path} is outside the project's folder.",
                path = format!("{path:?}")
            ),
            NestedError::Unreadable(path, cause) => text!(
                "The graph {path} cannot be read: {cause}.",
                path = path.display().to_string(),
                cause
            ),
            NestedError::Broken(path, cause) => text!(
                "{path} is no graph that can be run: {cause}",
                path = path.display().to_string(),
                cause
            ),
            NestedError::Cycle(files) => {
                let names: Vec<String> = files.iter().map(|file| name(file)).collect();
                text!("The graph would run itself: {names}.", names = names.join(" → "))
            }
            NestedError::TooDeep(path) => text!(
                "{path} would be the graph number {number} inside other graphs.",
                path = path.display().to_string(),
                number = MAX_DEPTH + 1
            ),
            NestedError::TooMany => text!(
                "More than {most} graphs would be looked at, with those that run inside others.",
                most = MAX_GRAPHS
            ),
        }
    }
}

impl fmt::Display for NestedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// A graph file as it was read.
#[derive(Debug)]
pub(crate) struct Nested {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub document: Document,
    /// Which version of the file that is.
    pub stamp: Stamp,
}

/// Number of graphs that one document has led to so far.
#[derive(Clone, Debug, Default)]
pub struct GraphCount(Arc<AtomicUsize>);

impl GraphCount {
    pub(crate) fn one_more(&self) -> Result<(), NestedError> {
        match self.0.fetch_add(1, Ordering::Relaxed) < MAX_GRAPHS {
            true => Ok(()),
            false => Err(NestedError::TooMany),
        }
    }
}

/// Graphs that a node runs, and the files they were built from.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    pub(crate) graphs: Vec<Graph>,
    pub(crate) files: Vec<(PathBuf, Stamp)>,
}

/// Documents by file, each read again only when the file has changed.
#[derive(Debug, Default)]
pub(crate) struct Library {
    read: Mutex<HashMap<PathBuf, Arc<Nested>>>,
}

impl Library {
    /// Opens the graph that `path` names, seen from the graph in `environment`. `above` are the files that lead there.
    pub(crate) fn open(
        &self,
        environment: &Environment,
        above: &[PathBuf],
        path: &str,
    ) -> Result<Arc<Nested>, NestedError> {
        self.walk(environment, above, path, &mut HashMap::new())
    }

    /// Follows the graph that `path` names. `walked` has the files that were followed already, and their depth then:
    /// graphs that run each other many times are followed once for each depth, not once for each way that leads to
    /// them.
    fn walk(
        &self,
        environment: &Environment,
        above: &[PathBuf],
        path: &str,
        walked: &mut HashMap<PathBuf, usize>,
    ) -> Result<Arc<Nested>, NestedError> {
        let file = find(environment, path)?;
        if let Some(first) = above.iter().position(|one| *one == file) {
            let round = above[first..].iter().cloned().chain([file]);
            return Err(NestedError::Cycle(round.collect()));
        }
        if above.len() > MAX_DEPTH {
            return Err(NestedError::TooDeep(file));
        }
        let nested = self.read(environment, &file)?;
        if walked.get(&file).is_some_and(|depth| *depth >= above.len()) {
            return Ok(nested);
        }
        walked.insert(file.clone(), above.len());
        // A cycle further down is found here and not when the stack of a build has run out.
        let mut above = above.to_vec();
        above.push(file.clone());
        let inner = environment.at(&file);
        for (_, spec) in nested.document.nodes() {
            for path in run_by(&spec) {
                // What else is wrong in there is that graph's own problem.
                if let Err(error @ (NestedError::Cycle(_) | NestedError::TooDeep(_))) =
                    self.walk(&inner, &above, path, walked)
                {
                    return Err(error);
                }
            }
        }
        Ok(nested)
    }

    fn read(&self, environment: &Environment, file: &Path) -> Result<Arc<Nested>, NestedError> {
        let unreadable = |cause: String| NestedError::Unreadable(file.to_owned(), cause);
        let stamp = Stamp::of(file).ok_or_else(|| unreadable("there is no such file".to_owned()))?;
        if let Some(text) = environment.earlier.get(file) {
            return Ok(Arc::new(Nested {
                path: file.to_owned(),
                document: Document::parse(text).0,
                stamp,
            }));
        }
        let lock = || self.read.lock();
        if let Some(known) = lock().get(file).filter(|known| known.stamp == stamp) {
            return Ok(known.clone());
        }
        let text = files::read_text(file, MAX_FILE).map_err(|e| unreadable(e.to_string()))?;
        let (document, problems) = Document::parse(&text);
        if document.source().is_some() {
            let cause = problems
                .first()
                .map_or_else(|| text!("it is no JSON."), |p| p.message.clone());
            return Err(NestedError::Broken(file.to_owned(), cause));
        }
        let nested = Arc::new(Nested {
            path: file.to_owned(),
            document,
            stamp,
        });
        lock().insert(file.to_owned(), nested.clone());
        Ok(nested)
    }
}

/// Returns the graph files that a node runs: as the node itself, or as tools.
pub(super) fn run_by(spec: &NodeSpec) -> Vec<&str> {
    fn named(config: Option<&Json>) -> Option<&str> {
        config?.as_str().filter(|path| !path.is_empty())
    }
    match spec.kind.as_str() {
        GRAPH => named(spec.config.get("graph")).into_iter().collect(),
        TOOLS | AGENT => {
            let tools = spec.config.get("tools").and_then(Json::as_array);
            let graphs = tools
                .into_iter()
                .flatten()
                .filter_map(|tool| named(tool.get("graph")?.get("graph")));
            graphs.collect()
        }
        _ => Vec::new(),
    }
}

/// Finds the file that `path` names, proven to be inside the project.
pub(super) fn find(environment: &Environment, path: &str) -> Result<PathBuf, NestedError> {
    if path.trim().is_empty() {
        return Err(NestedError::Unnamed);
    }
    let folder = environment.folder.as_deref().ok_or(NestedError::NoFolder)?;
    let root = environment.root().unwrap_or(folder);
    let relative = Path::new(path);
    let plain = relative.components().all(|part| {
        matches!(
            part,
            Component::Normal(_) | Component::CurDir | Component::ParentDir
        )
    });
    if !plain || path.contains('\\') {
        return Err(NestedError::Outside(path.to_owned()));
    }
    let wanted = folder.join(relative);
    let real = |path: &Path| {
        path.canonicalize()
            .map_err(|e| NestedError::Unreadable(wanted.clone(), e.to_string()))
    };
    let (real_root, file) = (real(root)?, real(&wanted)?);
    if !file.starts_with(&real_root) {
        return Err(NestedError::Outside(path.to_owned()));
    }
    if !file.is_file() {
        return Err(NestedError::Unreadable(wanted, "it is no file".to_owned()));
    }
    Ok(file)
}

/// Summarizes the problems of a nested graph in one sentence.
pub(crate) fn summary(problems: &[Diagnostic]) -> Option<Text> {
    let errors: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.is_error()).collect();
    let first = errors.first()?;
    Some(match errors.len() {
        1 => text!(
            "{message} ({record})",
            message = &first.message,
            record = &first.record
        ),
        count => text!(
            "{message} ({record}), and {count} more.",
            message = &first.message,
            record = &first.record,
            count = count - 1
        ),
    })
}
