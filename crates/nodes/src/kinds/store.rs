//! `store`: reads, writes and searches the long-term memory of the graph, which all threads share.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::store::{Index, NamespaceQuery, Ranking, StoreAnswer, StoreOp, StoreQuery, Ttl};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Store, Value, async_trait};
use superstep_document::Diagnostic;

use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::expression::{Expression, Scope, Template};
use crate::programs::requests::shown;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::track_reads;
use superstep_document::text;

/// Settings of a `store` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Uses the long-term memory.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["do", "namespace", "key", "value", "query", "into"], &[("Search", &["by", "filter", "limit", "take"]), ("Storage", &["ttl_minutes", "index"])])))]
pub struct StoreSettings {
    /// `get` reads an item, `put` writes one, `delete` removes one, `search` finds items, `namespaces` lists namespaces.
    #[serde(rename = "do")]
    #[schemars(title = "Operation")]
    pub action: StoreAction,
    /// Namespace, one template for each level, as in `["users", "{{ state.user }}"]`; searches include the levels below.
    #[serde(default)]
    #[schemars(title = "Namespace")]
    pub namespace: Vec<String>,
    /// Template for the key of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Key", extend("x-editor" = "template", "x-if" = serde_json::json!({"do": ["get", "put", "delete"]})))]
    pub key: Option<String>,
    /// Expression for the value to write, an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Value", extend("x-editor" = "expression", "examples" = ["{'text': state.fact}"], "x-if" = serde_json::json!({"do": "put"})))]
    pub value: Option<String>,
    /// Template for the text to search for; without it, the last updated items come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Query", extend("x-editor" = "template", "x-if" = serde_json::json!({"do": "search"})))]
    pub query: Option<String>,
    /// `auto` searches by meaning if the store has a vector index, otherwise by words.
    #[serde(default)]
    #[schemars(title = "Search method", extend("x-if" = serde_json::json!({"do": "search", "query": "*"})))]
    pub by: QueryMethod,
    /// Expression for the fields that items must match, such as `{'done': false, 'age': {'$gt': 3}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Filter", extend("x-editor" = "expression", "x-if" = serde_json::json!({"do": "search"})))]
    pub filter: Option<String>,
    /// Limits the number of items or namespaces.
    #[serde(default = "default_limit")]
    #[schemars(title = "Maximum results", range(min = 1, max = 1000), extend("x-if" = serde_json::json!({"do": ["search", "namespaces"]})))]
    pub limit: usize,
    /// Deletes the item after this time; without it, the store's setting applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Time to live (min)", range(min = 0), extend("x-if" = serde_json::json!({"do": "put"})))]
    pub ttl_minutes: Option<f64>,
    /// Lets queries find the item.
    #[serde(default = "yes")]
    #[schemars(title = "Search index", extend("x-if" = serde_json::json!({"do": "put"})))]
    pub index: bool,
    /// Stores what was found in this state key: an item or null, a list of items, or a list of namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({}), "x-if" = serde_json::json!({"do": ["get", "search", "namespaces"]})))]
    pub into: Option<String>,
    /// Expression over `found` for what to store; without it, everything is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Result expression", extend("x-editor" = "expression", "examples" = ["found.value", "found|map(attribute='value')|list"], "x-if" = serde_json::json!({"do": ["get", "search", "namespaces"]})))]
    pub take: Option<String>,
}

/// Operation on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum StoreAction {
    /// Reads an item.
    Get,
    /// Writes one.
    Put,
    /// Removes one.
    Delete,
    /// Finds items.
    Search,
    /// Lists namespaces.
    Namespaces,
}

/// Method by which a query finds items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum QueryMethod {
    /// By meaning when that can be done.
    #[default]
    Auto,
    /// By words.
    Words,
    /// By meaning.
    Vectors,
}

fn default_limit() -> usize {
    10
}
fn yes() -> bool {
    true
}

/// What `take` calls what was found.
const FOUND: &str = "found";

impl StoreAction {
    fn word(self) -> &'static str {
        match self {
            StoreAction::Get => "get",
            StoreAction::Put => "put",
            StoreAction::Delete => "delete",
            StoreAction::Search => "search",
            StoreAction::Namespaces => "namespaces",
        }
    }
    fn reads(self) -> bool {
        !matches!(self, StoreAction::Put | StoreAction::Delete)
    }
    fn of_one(self) -> bool {
        matches!(self, StoreAction::Get | StoreAction::Put | StoreAction::Delete)
    }
}

/// The kind.
pub struct StoreKind;

impl NodeKind for StoreKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "store",
            title: "Store",
            summary: "Reads, writes and searches the long-term memory that all threads share.",
            icon: "database",
            group: "knowledge",
            aliases: &[
                "long-term memory",
                "remember",
                "key value",
                "database",
                "BaseStore",
                "InMemoryStore",
                "semantic search",
                "vector",
                "save",
                "put",
            ],
            config_schema: schema_of::<StoreSettings>(),
            defaults: json!({"do": "search", "namespace": ["memories"], "into": ""}),
            card: &["/do", "/namespace", "/into"],
        }
    }

    fn effect(&self, config: &serde_json::Map<String, serde_json::Value>) -> superstep::graph::Effect {
        match crate::registry::parse::<StoreSettings>(config) {
            Ok(config) if config.action.of_one() && config.action != StoreAction::Get => {
                superstep::graph::Effect::Unknown
            }
            _ => superstep::graph::Effect::Reads,
        }
    }

    fn reads_are_known(&self) -> bool {
        true
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<StoreSettings>() else {
            return;
        };
        let action = config.action;
        for (index, label) in config.namespace.iter().enumerate() {
            let pointer = format!("/namespace/{index}");
            site.filled(&pointer, label);
            site.template(&pointer, label);
            if label.contains('.') && !label.contains("{{") {
                let message = text!(
                    "A label of a namespace holds no period, and {label} does.",
                    label = format!("{label:?}")
                );
                site.error(
                    "store-namespace",
                    &pointer,
                    message,
                    text!("Make two labels of it."),
                );
            }
        }
        if action.of_one() && config.namespace.is_empty() {
            let remedy = text!("Add a label, e.g. `memories`.");
            site.error(
                "store-namespace",
                "/namespace",
                text!("An item stands in a namespace."),
                remedy,
            );
        }
        let missing = |site: &mut Site<'_>, name: &str| {
            site.error(
                "empty-setting",
                &format!("/{name}"),
                text!("`{word}` needs `{name}`.", word = action.word(), name),
                text!("Fill it in."),
            );
        };
        match &config.key {
            Some(key) => site.template("/key", key),
            None if action.of_one() => missing(site, "key"),
            None => {}
        }
        match &config.value {
            Some(value) => site.expression("/value", value, None),
            None if action == StoreAction::Put => missing(site, "value"),
            None => {}
        }
        if let Some(query) = &config.query {
            site.template("/query", query);
        }
        if let Some(filter) = &config.filter {
            site.expression("/filter", filter, None);
        }
        match &config.into {
            Some(into) if action.reads() => drop(site.write("/into", into)),
            Some(_) => site.warning(
                "store-into",
                "/into",
                text!(
                    "`{word}` finds nothing to write into the state.",
                    word = action.word()
                ),
                text!("Remove `into`."),
            ),
            None if action.reads() => drop(site.write("/into", "")),
            None => {}
        }
        if let Some(take) = &config.take {
            site.expression("/take", take, Some(FOUND));
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: StoreSettings = site.parse()?;
        let template = |pointer: &str, source: &Option<String>| {
            source
                .as_ref()
                .map(|source| site.template(pointer, source))
                .transpose()
        };
        let expression = |pointer: &str, source: &Option<String>| {
            source
                .as_ref()
                .map(|source| site.expression(pointer, source))
                .transpose()
        };
        Ok(Arc::new(StoreNode {
            name: site.node.into(),
            namespace: Namespace::build(site, &config.namespace)?,
            key: template("/key", &config.key)?,
            value: expression("/value", &config.value)?,
            query: template("/query", &config.query)?,
            filter: expression("/filter", &config.filter)?,
            take: expression("/take", &config.take)?,
            config,
        }))
    }
}

/// A namespace whose labels are templates.
pub(crate) struct Namespace(Vec<Template>);

impl Namespace {
    pub(crate) fn build(site: &BuildSite<'_>, labels: &[String]) -> Result<Self, Diagnostic> {
        let labels = labels.iter().enumerate();
        let templates = labels.map(|(index, label)| site.template(&format!("/namespace/{index}"), label));
        Ok(Self(templates.collect::<Result<_, _>>()?))
    }

    pub(crate) fn render(&self, scope: &Scope) -> Result<Vec<String>, NodeError> {
        let labels = self.0.iter().map(|label| Ok(label.render(scope)?));
        labels.collect()
    }
}

/// Returns the store of a run.
pub(crate) fn store_of(context: &NodeContext, node: &str) -> Result<Arc<dyn Store>, NodeError> {
    context.store().cloned().ok_or_else(|| {
        NodeError::new(
            error_class::STORE,
            format!("node {node}: this run has no store. Give the graph one"),
        )
    })
}

/// Sends operations to the store, and stops waiting when the run does.
pub(crate) async fn asked(
    context: &NodeContext,
    node: &str,
    ops: Vec<StoreOp>,
) -> Result<Vec<StoreAnswer>, NodeError> {
    let store = store_of(context, node)?;
    tokio::select! {
        biased;
        () = context.cancelled() => Err(NodeError::Cancelled),
        answers = store.batch(ops) => answers.map_err(|error| {
            NodeError::new(error.class(), format!("node {node}: {error}"))
        }),
    }
}

struct StoreNode {
    name: Arc<str>,
    config: StoreSettings,
    namespace: Namespace,
    key: Option<Template>,
    value: Option<Expression>,
    query: Option<Template>,
    filter: Option<Expression>,
    take: Option<Expression>,
}

impl StoreNode {
    fn op(&self, scope: &Scope) -> Result<StoreOp, NodeError> {
        let namespace = self.namespace.render(scope)?;
        let key = match &self.key {
            Some(key) => key.render(scope)?,
            None => String::new(),
        };
        let labels: Vec<&str> = namespace.iter().map(String::as_str).collect();
        Ok(match self.config.action {
            StoreAction::Get => StoreOp::get(&labels, key),
            StoreAction::Delete => StoreOp::delete(&labels, key),
            StoreAction::Put => {
                let value = match &self.value {
                    Some(value) => value.eval(scope)?,
                    None => Value::Null,
                };
                let put = StoreOp::put(&labels, key, value)
                    .map_err(|error| NodeError::new(error.class(), format!("node {}: {error}", self.name)))?;
                put.indexed(if self.config.index {
                    Index::Default
                } else {
                    Index::Off
                })
                .living(match self.config.ttl_minutes {
                    None => Ttl::Default,
                    Some(minutes) => Duration::try_from_secs_f64(minutes * 60.0).map_or(Ttl::Never, Ttl::For),
                })
            }
            StoreAction::Search => {
                let mut search = StoreQuery::default()
                    .prefix(namespace)
                    .by(match self.config.by {
                        QueryMethod::Auto => Ranking::Auto,
                        QueryMethod::Words => Ranking::Words,
                        QueryMethod::Vectors => Ranking::Vectors,
                    })
                    .filter(match &self.filter {
                        Some(filter) => filter.eval(scope)?,
                        None => Value::Null,
                    })
                    .limit(self.config.limit);
                search.query = match &self.query {
                    Some(query) => Some(query.render(scope)?).filter(|query| !query.trim().is_empty()),
                    None => None,
                };
                StoreOp::Search(search)
            }
            StoreAction::Namespaces => StoreOp::ListNamespaces(
                NamespaceQuery::default()
                    .prefix(namespace)
                    .limit(self.config.limit),
            ),
        })
    }
}

#[async_trait]
impl Node for StoreNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let scope = Scope::of(&context, &input);
        let answers = asked(&context, &self.name, vec![self.op(&scope)?]).await?;
        let Some(into) = self.config.into.as_ref().filter(|_| self.config.action.reads()) else {
            return Ok(NodeOutput::none());
        };
        let found = answers.into_iter().next().map_or(Value::Null, shown);
        let taken = match &self.take {
            Some(take) => take.eval(&scope.with(FOUND, found))?,
            None => found,
        };
        Ok(NodeOutput::update([(into.as_str(), taken)]))
    }
}
