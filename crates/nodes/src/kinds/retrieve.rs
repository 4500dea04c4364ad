//! `retrieve`: full-text search over a folder of Markdown that lies beside the graph file.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::{BoxFuture, List, Node, NodeContext, NodeError, NodeOutput, Object, Value};
use superstep_document::Diagnostic;

use crate::expression::{Expression, Scope};
use crate::kind::{BuildSite, KindInfo, NodeKind, Site, schema_of};
use crate::search::{self, Folders, SearchError};

/// Settings of a `retrieve` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Searches documents.")]
pub struct RetrieveConfig {
    /// Folder with Markdown files, inside the graph's own folder.
    #[schemars(title = "Folder", extend("x-editor" = "folder"))]
    pub folder: String,
    /// Expression that gives what to look for.
    #[schemars(title = "Query", extend("x-editor" = "expression"))]
    pub query: String,
    /// Most sections to give.
    #[serde(default = "default_limit")]
    #[schemars(title = "Limit", range(min = 1, max = 100))]
    pub limit: u64,
    /// State key that takes the sections: a list of `{path, title, text, score}`, best first.
    #[schemars(title = "Into", extend("x-editor" = "state-key"))]
    pub into: String,
}

fn default_limit() -> u64 {
    5
}

/// The kind.
pub struct Retrieve;

impl NodeKind for Retrieve {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "retrieve",
            title: "Retrieve",
            summary: "Finds the sections of Markdown documents that match a question.",
            icon: "book-open-text",
            group: "knowledge",
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
        if let Some(key) = site.write("/into", &config.into)
            && key.schema.get("type").is_some_and(|ty| ty != "array")
        {
            let message = format!(
                "State key `{}` takes a list, but its type is {}.",
                config.into, key.schema["type"]
            );
            site.error("into-type", "/into", message, "Choose a key of type array.");
        }
        if site.folder.is_some()
            && !config.folder.trim().is_empty()
            && let Err(error) = search::resolve(site.folder, &config.folder)
        {
            let text = error.to_string();
            let (message, remedy) = text.split_once(". ").unwrap_or((&text, ""));
            let message = format!("{}.", message.trim_end_matches('.'));
            match error {
                SearchError::Outside(_) => site.error("folder-outside", "/folder", message, remedy),
                _ => site.warning("missing-folder", "/folder", message, remedy),
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: RetrieveConfig = site.parse()?;
        Ok(Arc::new(RetrieveNode {
            name: site.node.into(),
            query: site.expression("/query", &config.query)?,
            root: site.folder.clone(),
            folder: config.folder,
            limit: usize::try_from(config.limit).unwrap_or(usize::MAX),
            into: config.into.into(),
            folders: site.folders.clone(),
        }))
    }
}

struct RetrieveNode {
    name: Arc<str>,
    query: Expression,
    root: Option<PathBuf>,
    folder: String,
    limit: usize,
    into: Arc<str>,
    folders: Arc<Folders>,
}

impl Node for RetrieveNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let query = match self.query.eval(&Scope::new(&input))? {
                Value::String(text) => text.to_string(),
                Value::Array(words) if words.iter().all(|word| word.as_str().is_some()) => words
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
                other => return Err(self.query.wrong_type("text or a list of words", &other).into()),
            };
            let (root, folder, limit, folders) = (
                self.root.clone(),
                self.folder.clone(),
                self.limit,
                self.folders.clone(),
            );
            let search = tokio::task::spawn_blocking(move || {
                let folder = search::resolve(root.as_deref(), &folder)?;
                folders.search(&folder, &query, limit)
            });
            let hits = tokio::select! {
                () = context.cancelled() => return Err(NodeError::Cancelled),
                hits = search => hits,
            };
            let hits = hits
                .unwrap_or_else(|panic| Err(SearchError::Index(panic.to_string())))
                .map_err(|e| NodeError::new("SearchError", format!("node {}: {e}", self.name)))?;
            let list: List = hits
                .into_iter()
                .map(|hit| {
                    let fields: [(&str, Value); 4] = [
                        ("path", hit.path.into()),
                        ("title", hit.title.into()),
                        ("text", hit.text.into()),
                        ("score", hit.score.into()),
                    ];
                    Value::Object(fields.into_iter().collect::<Object>())
                })
                .collect();
            Ok(NodeOutput::update([(self.into.clone(), Value::Array(list))]))
        })
    }
}
