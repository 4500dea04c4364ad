//! `retrieve`: searches documents beside the graph, or elsewhere with a grant.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::value::{List, Object};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::Diagnostic;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::base::access::Grants;
use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::expression::{Expression, Scope};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::search::{self, Embedder, Folders, Hit, Hits, IndexProgress, Mode, NGRAMS, Search, SearchError};
use crate::state::reads::track_reads;
use superstep_document::text;

/// How often a long indexing says how far it is.
const TELL: Duration = Duration::from_millis(200);

/// Settings of a `retrieve` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Searches documents.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["folder", "query", "into"], &[("Search", &["mode", "embedding", "limit", "files"]), ("Sections", &["size", "overlap", "text_into"])])))]
pub struct RetrieveConfig {
    /// Folder or file to search: relative to the graph's folder, or an absolute path.
    #[schemars(title = "Folder", extend("x-editor" = "folder"))]
    pub folder: String,
    /// Searches only files that match, such as `*.md` or `guides/**`; `!` excludes, and without patterns all readable files are searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "File patterns")]
    pub files: Vec<String>,
    /// Expression for the text to search for.
    #[schemars(title = "Query", extend("x-editor" = "expression", "examples" = ["state.question"]))]
    pub query: String,
    /// `words` searches the full text, `vectors` compares embeddings by similarity, `both` merges the two rankings.
    #[serde(default)]
    #[schemars(title = "Search method")]
    pub mode: Mode,
    /// Creates the vectors: a model such as `openai::text-embedding-3-small`, one of a connection, or `ngrams`, which works offline and compares spelling only.
    #[serde(default = "default_embedding")]
    #[schemars(title = "Embedding model", extend("x-editor" = "model", "examples" = ["ngrams", "openai::text-embedding-3-small", "ollama::nomic-embed-text"], "x-if" = serde_json::json!({"mode": ["vectors", "both"]})))]
    pub embedding: String,
    /// Limits the number of sections.
    #[serde(default = "default_limit")]
    #[schemars(title = "Maximum sections", range(min = 1, max = 100))]
    pub limit: u64,
    /// Splits longer sections between paragraphs.
    #[serde(default = "default_size")]
    #[schemars(title = "Section size (bytes)", range(min = 200, max = 20_000))]
    pub size: u64,
    /// Repeats this much of a split section at the start of the next one.
    #[serde(default = "default_overlap")]
    #[schemars(title = "Overlap (bytes)", range(min = 0, max = 5_000))]
    pub overlap: u64,
    /// Stores the sections in this state key, best first: a list of `{path, title, text, score, cite, lines, bytes}`.
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array"})))]
    pub into: String,
    /// Stores the sections in this state key as numbered text for a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Text key", extend("x-editor" = "state-key"))]
    pub text_into: Option<String>,
}

fn default_limit() -> u64 {
    5
}
fn default_size() -> u64 {
    2000
}
fn default_overlap() -> u64 {
    200
}
fn default_embedding() -> String {
    NGRAMS.to_owned()
}

/// The kind.
pub struct Retrieve;

impl NodeKind for Retrieve {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "retrieve",
            title: "Retrieve",
            summary: "Finds sections of documents that match a query.",
            icon: "book-open-text",
            group: "knowledge",
            aliases: &[
                "rag",
                "vector",
                "vector store",
                "embedding",
                "search",
                "documents",
                "knowledge base",
                "files",
                "pdf",
                "retriever",
                "similarity",
                "index",
            ],
            config_schema: schema_of::<RetrieveConfig>(),
            defaults: json!({"folder": "documents", "query": "", "limit": default_limit(), "into": ""}),
            card: &["/folder", "/query", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<RetrieveConfig>() else {
            return;
        };
        site.filled("/folder", &config.folder);
        site.expression("/query", &config.query, None);
        let keys = [
            ("/into", Some(&config.into), "array"),
            ("/text_into", config.text_into.as_ref(), "string"),
        ];
        for (pointer, key, wanted) in keys {
            let Some(key) = key else { continue };
            if let Some(known) = site.write(pointer, key)
                && known.schema.get("type").is_some_and(|ty| ty != wanted)
            {
                let what = if wanted == "array" {
                    text!("a list")
                } else {
                    text!("text")
                };
                let message = text!(
                    "State key `{key}` takes {what}, but its type is {value}.",
                    key,
                    what,
                    value = known.schema["type"].to_string()
                );
                site.error(
                    "into-type",
                    pointer,
                    message,
                    text!("Choose a key of type {wanted}.", wanted),
                );
            }
        }
        if config.mode != Mode::Words && config.embedding != NGRAMS && !config.embedding.is_empty() {
            match site.models().map(|models| models.knows(&config.embedding)) {
                Some(Err(error)) => site.error(
                    "unknown-model",
                    "/embedding",
                    error.to_string(),
                    text!("Correct the model, or write `{ngrams}`.", ngrams = NGRAMS),
                ),
                _ => site.reaches_model(&config.embedding),
            }
        }
        if config.overlap * 2 > config.size {
            site.warning(
                "large-overlap",
                "/overlap",
                text!("A section repeats more than half of the one before it."),
                text!("Half of `size` is repeated at most."),
            );
        }
        check_folder(site, &config.folder);
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: RetrieveConfig = site.parse()?;
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Arc::new(RetrieveNode {
            name: site.node.into(),
            query: site.expression("/query", &config.query)?,
            folder: site.folder.clone(),
            root: site.root(),
            place: config.folder,
            grants: site.grants().clone(),
            search: Search {
                place: PathBuf::new(),
                files: config.files,
                query: String::new(),
                limit: whole(config.limit),
                mode: config.mode,
                embedder: Embedder::of(&config.embedding, &site.providers),
                size: whole(config.size),
                overlap: whole(config.overlap),
            },
            into: config.into.into(),
            text_into: config.text_into.map(Into::into),
            folders: site.folders.clone(),
        }))
    }
}

/// Checks whether the folder exists and may be read.
fn check_folder(site: &mut Site<'_>, folder: &str) {
    let name = folder.trim();
    if name.is_empty() {
        return;
    }
    let absolute = Path::new(name).is_absolute();
    if site.folder.is_none() && !absolute {
        return;
    }
    let found = search::resolve(site.folder, site.root(), name);
    // Checks that do not look at the disk know no folder, and nothing is missing there.
    match found {
        Ok(place) => {
            if let Some(access) = place.access {
                site.reaches(access);
            }
        }
        Err(error) => {
            if absolute {
                site.reaches(search::access(Path::new(name)));
            }
            let (message, remedy) = (error.message(), error.remedy().unwrap_or_default());
            match error {
                SearchError::Outside(_) => site.error("folder-outside", "/folder", message, remedy),
                _ => site.warning("missing-folder", "/folder", message, remedy),
            }
        }
    }
}

struct RetrieveNode {
    name: Arc<str>,
    query: Expression,
    folder: Option<PathBuf>,
    root: Option<PathBuf>,
    place: String,
    grants: Grants,
    /// Without its place and query, which each run finds again.
    search: Search,
    into: Arc<str>,
    text_into: Option<Arc<str>>,
    folders: Arc<Folders>,
}

/// Stops the thread that indexes when nobody waits for it any longer.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Node for RetrieveNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let query = match self.query.eval(&Scope::of(&context, &input))? {
            Value::String(text) => text.to_string(),
            Value::Array(words) if words.iter().all(|word| word.as_str().is_some()) => words
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            other => {
                return Err(self
                    .query
                    .wrong_type(text!("text or a list of words"), &other)
                    .into());
            }
        };
        let found = self.found(&context, query).await.map_err(|e| self.failed(e))?;
        for (file, problem) in &found.problems {
            tracing::info!(node = %self.name, file, "not searched: {problem}");
        }
        if !found.problems.is_empty() {
            context.emit(self.left_out(&found)).await;
        }
        let text = self
            .text_into
            .clone()
            .map(|key| (key, search::as_text(&found.hits).into()));
        let list: List = found.hits.into_iter().map(document).collect();
        let updates = [(self.into.clone(), Value::Array(list))].into_iter().chain(text);
        Ok(NodeOutput::update(updates))
    }
}

impl RetrieveNode {
    fn failed(&self, error: SearchError) -> NodeError {
        match error {
            SearchError::Stopped => NodeError::Cancelled,
            SearchError::AccessDenied(denied) => denied.into(),
            SearchError::Model(error) => error.of_node(&self.name),
            error => NodeError::new(error_class::SEARCH, format!("node {}: {error}", self.name)),
        }
    }

    /// Searches on a thread of its own, and says meanwhile how far the indexing is.
    async fn found(&self, context: &NodeContext, query: String) -> Result<Hits, SearchError> {
        let stopped = Arc::new(AtomicBool::new(false));
        let _stop = StopOnDrop(stopped.clone());
        let (progress_of, mut latest) = watch::channel(None::<IndexProgress>);
        let (folder, root, place) = (self.folder.clone(), self.root.clone(), self.place.clone());
        let (grants, folders, runtime) = (self.grants.clone(), self.folders.clone(), Handle::current());
        let mut search = Search {
            query,
            ..self.search.clone()
        };
        let mut work = tokio::task::spawn_blocking(move || {
            let place = search::resolve(folder.as_deref(), root.as_deref(), &place)?;
            if let Some(access) = &place.access {
                grants.require(access).map_err(SearchError::AccessDenied)?;
            }
            search.place = place.path;
            let progress = |progress| {
                progress_of.send_replace(Some(progress));
            };
            folders.search(&search, &runtime, &progress, &|| stopped.load(Ordering::Relaxed))
        });
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + TELL, TELL);
        loop {
            tokio::select! {
                biased;
                () = context.cancelled() => return Err(SearchError::Stopped),
                found = &mut work => {
                    return found.unwrap_or_else(|panic| Err(SearchError::Index(panic.to_string())));
                }
                _ = ticks.tick() => {
                    context.heartbeat();
                    let progress = latest.has_changed().unwrap_or(false).then(|| latest.borrow_and_update().clone());
                    if let Some(progress) = progress.flatten() {
                        context.emit(self.progress_event(&progress)).await;
                    }
                }
            }
        }
    }

    fn progress_event(&self, progress: &IndexProgress) -> Value {
        superstep::json!({"type": "indexing", "node": self.name, "what": progress.what, "done": progress.done,
            "all": progress.all, "file": progress.file})
    }

    /// Returns the number of files that are not searched, with the names of a few of them.
    fn left_out(&self, found: &Hits) -> Value {
        const NAMED: usize = 20;
        let named: List = found
            .problems
            .iter()
            .take(NAMED)
            .map(|(file, problem)| superstep::json!({"file": file, "problem": problem}))
            .collect();
        superstep::json!({"type": "left_out", "node": self.name, "files": found.files,
            "count": found.problems.len(), "named": Value::Array(named)})
    }
}

/// Converts a hit to the form that is written to the state.
fn document(hit: Hit) -> Value {
    let pair = |a: Value, b: Value| Value::Array([a, b].into_iter().collect());
    let number = |n: usize| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
    let fields: [(&str, Option<Value>); 10] = [
        ("path", Some(hit.path.into())),
        ("title", Some(hit.title.into())),
        ("text", Some(hit.text.into())),
        ("score", Some(hit.score.into())),
        ("words", hit.words.map(Value::from)),
        ("similarity", hit.similarity.map(Value::from)),
        ("cite", Some(hit.cite.into())),
        ("page", hit.page.map(|page| i64::from(page).into())),
        (
            "lines",
            Some(pair(i64::from(hit.lines.0).into(), i64::from(hit.lines.1).into())),
        ),
        ("bytes", Some(pair(number(hit.bytes.0), number(hit.bytes.1)))),
    ];
    let given = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    Value::Object(given.collect::<Object>())
}
