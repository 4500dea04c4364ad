//! `map`: does something for each item of a list, several at once. What each item came to is recorded when it is done:
//! when the node runs again, after a failure, a question or the death of the process, only the others are worked on.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::graph::{Persistence, TaskFn};
use superstep::value::{List, Object};
use superstep::{Graph, Input, Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, escape_pointer};

use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::secrets::redact_result;
use crate::expression::{Expression, Scope};
use crate::kinds::code;
use crate::programs::javascript::{self, CodeError, JavaScriptSource, Limits};
use crate::programs::requests::{self, Output, Owner};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::schema::Keys;
use superstep_document::text;

/// Most items, whatever the settings say.
const MAX_ITEMS: usize = 100_000;
/// What the nested graph's result is called.
const RESULT: &str = "result";

/// Settings of a `map` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Processes each item of a list.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["items", "as", "expression", "javascript", "graph", "input", "take", "into"], &[("Failures", &["on_error", "errors"]), ("Limits", &["concurrency", "max_items", "timeout_ms"])])))]
#[schemars(extend("x-one-of" = ["expression", "javascript", "graph"]))]
pub struct MapConfig {
    /// Expression for the list to process.
    #[schemars(title = "List", extend("x-editor" = "expression", "examples" = ["state.orders"]))]
    pub items: String,
    /// Name of the current item in the settings below, as in `item.name`.
    #[serde(default = "default_as", rename = "as")]
    #[schemars(title = "Item name")]
    pub name: String,
    /// Expression for the result of an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Expression", extend("x-editor" = "expression", "examples" = ["item.price * 2"]))]
    pub expression: Option<String>,
    /// JavaScript function body that uses the item by its name, `index` and `state`, and returns the item's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "JavaScript", extend("x-editor" = "code", "x-language" = "javascript"))]
    pub javascript: Option<String>,
    /// Graph file to run for each item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Graph", extend("x-editor" = "graph-file"))]
    pub graph: Option<String>,
    /// Value of each key of the graph: text is an expression that can use the item, any other JSON is used as is; without it, the item is passed under its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Input mapping", extend("x-editor" = "assignments", "x-if" = serde_json::json!({"graph": "*"})))]
    pub input: Option<Map<String, Json>>,
    /// Expression over `result`, the graph's output, for the item's result; without it, the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Result expression", extend("x-editor" = "expression", "x-if" = serde_json::json!({"graph": "*"})))]
    pub take: Option<String>,
    /// Stores the list of results in this state key, in the order of the items.
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array"})))]
    pub into: String,
    /// Limits how many items are processed at the same time.
    #[serde(default = "default_concurrency")]
    #[schemars(title = "Maximum concurrent items", range(min = 1, max = 256))]
    pub concurrency: usize,
    /// `fail` fails the node after all items have run, `skip` leaves the failed item out, `collect` puts null in its place.
    #[serde(default)]
    #[schemars(title = "Error handling")]
    pub on_error: OnError,
    /// Stores the failures in this state key: a list of `{index, item, class, message}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Errors key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({"type": "array"}), "x-if" = serde_json::json!({"on_error": ["skip", "collect"]})))]
    pub errors: Option<String>,
    /// Fails the node if the list is longer.
    #[serde(default = "default_most")]
    #[schemars(title = "Maximum items", range(min = 1, max = MAX_ITEMS))]
    pub max_items: usize,
    /// Limits the processor time of the JavaScript of an item.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (ms)", range(min = 1, max = 600_000), extend("x-if" = serde_json::json!({"javascript": "*"})))]
    pub timeout_ms: u64,
}

/// Reaction to a failed item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum OnError {
    /// The node fails when all items are done.
    #[default]
    Fail,
    /// The item is left out.
    Skip,
    /// Null stands in its place.
    Collect,
}

fn default_as() -> String {
    "item".to_owned()
}
fn default_concurrency() -> usize {
    8
}
fn default_most() -> usize {
    1000
}
fn default_timeout() -> u64 {
    1000
}

/// The kind.
pub struct MapKind;

impl NodeKind for MapKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "map",
            title: "Map",
            summary: "Processes each item of a list, several at a time.",
            icon: "list-checks",
            group: "code",
            aliases: &[
                "foreach",
                "for each",
                "loop",
                "loop over items",
                "iterate",
                "parallel",
                "batch",
                "split",
                "Send",
                "fan out",
                "map reduce",
            ],
            config_schema: schema_of::<MapConfig>(),
            defaults: json!({"items": "", "expression": "item", "into": ""}),
            card: &["/items", "/graph", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<MapConfig>() else {
            return;
        };
        let name = Some(config.name.as_str());
        site.expression("/items", &config.items, None);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if config.name.is_empty()
            || !config.name.chars().all(is_name)
            || config.name.starts_with(|c: char| c.is_ascii_digit())
            || ["state", "input", "index", RESULT].contains(&config.name.as_str())
        {
            site.error(
                "map-name",
                "/as",
                text!("{name} cannot be the name of an item.", name = format!("{:?}", config.name)),
                text!("Write letters, digits and `_`, and none of the names that are taken: state, input, index, result."),
            );
        }
        let ways = [
            config.expression.is_some(),
            config.javascript.is_some(),
            config.graph.is_some(),
        ];
        if ways.iter().filter(|given| **given).count() != 1 {
            site.error(
                "map-does",
                "",
                text!("The node must do one thing with each item."),
                text!("Write one of `expression`, `javascript` and `graph`, and remove the others."),
            );
        }
        if let Some(expression) = &config.expression {
            site.expression("/expression", expression, name);
        }
        if let Some(source) = &config.javascript
            && let Err(error) = javascript::check(source, &parameters(&config.name))
        {
            site.error(
                "code-syntax",
                "/javascript",
                error.of_source(),
                text!("Correct the JavaScript."),
            );
        }
        if let Some(path) = &config.graph {
            let nested = site.graph("/graph", path);
            let inner = nested.as_ref().map(|nested| Keys::of(&nested.document));
            for (key, value) in config.input.iter().flatten() {
                let pointer = format!("/input/{}", escape_pointer(key));
                site.value(&pointer, value, name);
                known_inside(site, &pointer, key, inner.as_ref());
            }
            if config.input.is_none() {
                known_inside(site, "/as", &config.name, inner.as_ref());
            }
            if let Some(take) = &config.take {
                site.expression("/take", take, Some(RESULT));
            }
        }
        site.write("/into", &config.into);
        if let Some(errors) = &config.errors {
            site.write("/errors", errors);
        }
        if config.on_error == OnError::Collect && config.errors.is_none() {
            site.warning(
                "map-errors",
                "/errors",
                text!("Failed items become null, and nothing says why they failed."),
                text!("Choose a state key for the errors."),
            );
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: MapConfig = site.parse()?;
        let expression = |pointer: &str, source: &Option<String>| {
            source
                .as_ref()
                .map(|source| site.expression(pointer, source))
                .transpose()
        };
        let work = if let Some(path) = &config.graph {
            let (_, graph) = site.graph("/graph", path, Persistence::Inherit)?;
            let input = match &config.input {
                None => None,
                Some(map) => {
                    let mut sources = Vec::new();
                    for (key, value) in map {
                        let source = match value {
                            Json::String(source) => {
                                Ok(site.expression(&format!("/input/{}", escape_pointer(key)), source)?)
                            }
                            literal => Err(Value::from(literal.clone())),
                        };
                        sources.push((Arc::from(key.as_str()), source));
                    }
                    Some(sources)
                }
            };
            let take = expression("/take", &config.take)?;
            MapWork::Graph(Box::new(GraphPerItem {
                graph,
                sources: input,
                take,
            }))
        } else if let Some(source) = &config.javascript {
            let limits = Limits::new(Duration::from_millis(config.timeout_ms), 64 * 1024 * 1024);
            MapWork::JavaScript(code::JavaScriptProgram {
                source: JavaScriptSource::new(source.as_str(), parameters(&config.name)),
                files: site.files(),
                limits,
                workers: site.workers.clone(),
            })
        } else {
            let source = config.expression.clone().unwrap_or_default();
            MapWork::Expression(site.expression("/expression", &source)?)
        };
        Ok(Arc::new(MapNode {
            node: site.node.into(),
            items: site.expression("/items", &config.items)?,
            per_item: Arc::new(PerItem {
                node: site.node.into(),
                name: config.name.as_str().into(),
                work,
            }),
            config,
        }))
    }
}

fn known_inside(site: &mut Site<'_>, pointer: &str, key: &str, inner: Option<&Keys>) {
    let Some(inner) = inner.filter(|inner| inner.get(key).is_none()) else {
        return;
    };
    let message = text!(
        "The graph has no state key `{key}`.{hint}",
        key,
        hint = superstep_document::suggest::did_you_mean(key, inner.names())
    );
    let remedy = text!(
        "Say in `input` what it is given. It has {known}.",
        known = superstep_document::suggest::listing(inner.names())
    );
    site.error("unknown-key", pointer, message, remedy);
}

/// Returns the parameters of the JavaScript function.
fn parameters(name: &str) -> String {
    format!("{name}, index, state, ctx")
}

type Sources = Vec<(Arc<str>, Result<Expression, Value>)>;

enum MapWork {
    Expression(Expression),
    JavaScript(code::JavaScriptProgram),
    Graph(Box<GraphPerItem>),
}

/// A graph that is run for each item, with what it is given and what is taken of its output.
struct GraphPerItem {
    graph: Graph,
    sources: Option<Sources>,
    take: Option<Expression>,
}

/// Work on an item.
struct PerItem {
    node: Arc<str>,
    name: Arc<str>,
    work: MapWork,
}

impl PerItem {
    async fn run(
        &self,
        context: &NodeContext,
        index: usize,
        item: Value,
        state: Value,
    ) -> Result<Value, NodeError> {
        let scope = || Scope::of(context, &state).with(self.name.clone(), item.clone());
        match &self.work {
            MapWork::Expression(expression) => Ok(expression.eval(&scope())?),
            MapWork::JavaScript(script) => {
                let owner = Owner::Item(&self.node, index);
                let given = vec![item.clone(), Value::from(index), state.clone()];
                match code::run(context, owner, script.clone(), given).await? {
                    Ok(Output::Update(value)) => Ok(value),
                    Ok(_) => {
                        let message = "the program returned a Command, which only code nodes may; it returns what becomes of the item";
                        Err(NodeError::new(requests::CLASS, message))
                    }
                    Err(CodeError::Cancelled) => Err(NodeError::Cancelled),
                    Err(other) => Err(NodeError::new(requests::CLASS, other.to_string())),
                }
            }
            MapWork::Graph(work) => {
                let GraphPerItem { graph, sources, take } = &**work;
                let mut input = Object::new();
                match sources {
                    None => drop(input.insert(self.name.clone(), item.clone())),
                    Some(sources) => {
                        for (key, source) in sources {
                            let value = match source {
                                Ok(expression) => expression.eval(&scope())?,
                                Err(fixed) => fixed.clone(),
                            };
                            input.insert(key.clone(), value);
                        }
                    }
                }
                let result = context.invoke(graph, Input::value(Value::Object(input))).await?;
                match take {
                    None => Ok(result),
                    Some(take) => Ok(take.eval(&Scope::of(context, &state).with(RESULT, result))?),
                }
            }
        }
    }
}

struct MapNode {
    node: Arc<str>,
    items: Expression,
    per_item: Arc<PerItem>,
    config: MapConfig,
}

impl MapNode {
    fn items(&self, context: &NodeContext, input: &Value) -> Result<List, NodeError> {
        let items = self.items.list(&Scope::of(context, input))?;
        let most = self.config.max_items.min(MAX_ITEMS);
        if items.len() > most {
            return Err(NodeError::new(
                error_class::MAP_LIMIT,
                format!(
                    "node {}: the list has {} items, and at most {most} are allowed. Give it fewer, or raise `max_items`",
                    self.node,
                    items.len()
                ),
            ));
        }
        Ok(items)
    }
}

#[async_trait]
impl Node for MapNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let items = self.items(&context, &input)?;
        // Calls are known by their order, so all begin in the order of the items; a list of futures that begin
        // when they are polled would do that too, but not beyond the limit.
        let begin = |(index, item): (usize, &Value)| {
            let (per_item, state, item) = (self.per_item.clone(), input.clone(), item.clone());
            let shown = item.clone();
            let task = TaskFn::new(self.config.name.as_str(), move |context: NodeContext, _| {
                let (per_item, state, item) = (per_item.clone(), state.clone(), item.clone());
                async move { redact_result(per_item.run(&context, index, item, state).await) }
            });
            context.call(&task, shown)
        };
        let mut ended = futures::stream::iter(items.iter().enumerate().map(begin))
            .buffered(self.config.concurrency)
            .enumerate();
        let (mut results, mut errors, mut stopped) = (List::new(), List::new(), Vec::new());
        let mut first = None;
        while let Some((index, result)) = ended.next().await {
            context.heartbeat();
            match result {
                Ok(value) => results.push(value),
                Err(NodeError::Failed(failure)) => {
                    if self.config.on_error == OnError::Collect {
                        results.push(Value::Null);
                    }
                    errors.push(superstep::json!({
                        "index": index, "item": items.get(index).cloned().unwrap_or_default(),
                        "class": &*failure.class, "message": failure.message.as_str(),
                    }));
                    first.get_or_insert((index, failure));
                }
                Err(stop) => stopped.push(stop),
            }
        }
        drop(ended);
        // Everything that is asked is asked at once, and before anything else is said.
        if let Some(error) = NodeError::together(stopped) {
            return Err(error);
        }
        if self.config.on_error == OnError::Fail
            && let Some((index, mut failure)) = first
        {
            let others = match errors.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            failure.message = format!(
                "node {}: item {} of {} failed{others}: {}",
                self.node,
                index + 1,
                items.len(),
                failure.message
            );
            return Err(NodeError::Failed(failure));
        }
        let mut update = Object::new();
        update.insert(self.config.into.as_str(), results);
        if let Some(key) = &self.config.errors {
            update.insert(key.as_str(), errors);
        }
        Ok(NodeOutput::Update(Value::Object(update)))
    }
}
