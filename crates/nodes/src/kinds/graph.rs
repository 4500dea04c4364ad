//! `graph`: runs another graph file as one node. Without mappings both share the state keys that have the same name;
//! with them the nested graph is given what `input` says, and `output` says what comes of its result.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::graph::Persistence;
use superstep::value::Object;
use superstep::{Graph, Input, Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Document, Reducer};

use crate::base::config_schema::schema_of;
use crate::expression::{Expression, Scope};
use crate::project::graph_files::GRAPH;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::{read, track_reads};
use crate::state::schema::Keys;
use superstep_document::text;

/// What `output` calls the nested graph's result.
pub(crate) const RESULT: &str = "result";

/// Settings of a `graph` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Runs another graph.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["graph"], &[("Input and output", &["input", "output"]), ("Memory", &["remembers"])])))]
pub struct GraphConfig {
    /// Graph file, relative to this graph's folder.
    #[schemars(title = "Graph", extend("x-editor" = "graph-file"))]
    pub graph: String,
    /// Value of each key of the nested graph: text is an expression, any other JSON is used as is; without it, shared keys are passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Input mapping", extend("x-editor" = "assignments"))]
    pub input: Option<Map<String, Json>>,
    /// New value of each state key, an expression over `result`, the nested graph's output; without it, shared keys are taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output mapping", extend("x-editor" = "assignments"))]
    pub output: Option<Map<String, Json>>,
    /// `run` starts over each time, `thread` continues where the last run ended, `nothing` stores no checkpoints.
    #[serde(default)]
    #[schemars(title = "Persistence")]
    pub remembers: Remembers,
}

/// Persistence of a nested graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Remembers {
    /// Starts over each time; the checkpoints belong to the task.
    #[default]
    Run,
    /// Continues where the last run of the thread ended.
    Thread,
    /// Stores no checkpoints; cannot be interrupted or inspected.
    Nothing,
}

impl From<Remembers> for Persistence {
    fn from(remembers: Remembers) -> Self {
        match remembers {
            Remembers::Run => Persistence::Inherit,
            Remembers::Thread => Persistence::Stateful,
            Remembers::Nothing => Persistence::Off,
        }
    }
}

/// The kind.
pub struct GraphKind;

impl NodeKind for GraphKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: GRAPH,
            title: "Graph",
            summary: "Runs another graph as one step.",
            icon: "workflow",
            group: "code",
            aliases: &[
                "sub",
                "subgraph",
                "sub-graph",
                "sub graph",
                "subworkflow",
                "sub-workflow",
                "workflow",
                "StateGraph",
                "nested",
                "call",
                "module",
                "component",
                "compile",
            ],
            config_schema: schema_of::<GraphConfig>(),
            defaults: json!({"graph": ""}),
            card: &["/graph"],
        }
    }

    fn is_certain(&self, _: &Map<String, Json>) -> bool {
        true
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<GraphConfig>() else {
            return;
        };
        let nested = site.graph("/graph", &config.graph);
        let inner = nested.as_ref().map(|nested| Keys::of(&nested.document));
        match &config.input {
            Some(input) => {
                for (key, value) in input {
                    let pointer = pointer_to("input", key);
                    if let Some(inner) = &inner {
                        known_inside(site, &pointer, key, inner);
                    }
                    if let Json::String(source) = value {
                        site.expression(&pointer, source, None);
                    }
                }
            }
            None => {
                let given = nested
                    .as_ref()
                    .map_or_else(Vec::new, |nested| given(&nested.document, site.keys));
                site.usage.reads.extend(given);
            }
        }
        match &config.output {
            Some(output) => {
                for (key, value) in output {
                    let pointer = pointer_to("output", key);
                    site.write(&pointer, key);
                    if let Json::String(source) = value {
                        site.expression(&pointer, source, Some(RESULT));
                    }
                }
            }
            None => {
                let given: Vec<String> = match &config.input {
                    Some(input) => input.keys().cloned().collect(),
                    None => nested
                        .as_ref()
                        .map_or_else(Vec::new, |nested| self::given(&nested.document, site.keys)),
                };
                let written = nested
                    .as_ref()
                    .map_or_else(Vec::new, |nested| written(&nested.document, site.keys));
                for key in written {
                    let twice =
                        given.contains(&key) && site.keys.get(&key).is_some_and(|key| doubles(key.reducer));
                    if twice {
                        let message = text!(
                            "The nested graph is given `{key}` and returns it whole, and this graph joins the two: what was in it is in it twice.",
                            key = &key
                        );
                        let remedy = text!(
                            "Say in `output` what to take, e.g. `\"{key}\": \"result.{key}[state.{key}|length:]\"`, or give the nested graph another key.",
                            key = &key
                        );
                        site.warning("doubled-key", "/graph", message, remedy);
                    }
                    site.usage.writes.insert(key);
                }
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: GraphConfig = site.parse()?;
        let (nested, graph) = site.graph("/graph", &config.graph, config.remembers.into())?;
        let document = &nested.document;
        let compile = |part: &str, map: Map<String, Json>| compiled(site, part, map);
        Ok(Arc::new(GraphNode {
            input: config.input.map(|map| compile("/input", map)).transpose()?,
            output: config.output.map(|map| compile("/output", map)).transpose()?,
            given: given(document, site.keys),
            taken: written(document, site.keys),
            graph,
        }))
    }
}

/// Compiles the expressions of a mapping at `part`.
pub(crate) fn compiled(
    site: &BuildSite<'_>,
    part: &str,
    map: Map<String, Json>,
) -> Result<Mapping, Diagnostic> {
    map.into_iter()
        .map(|(key, value)| {
            let source = match value {
                Json::String(source) => {
                    let pointer = format!("{part}/{}", superstep_document::escape_pointer(&key));
                    MappedValue::Expression(Box::new(site.expression(&pointer, &source)?))
                }
                literal => MappedValue::Literal(literal.into()),
            };
            Ok((Arc::from(key), source))
        })
        .collect()
}

/// Returns the pointer to a key of a mapping.
pub(crate) fn pointer_to(part: &str, key: &str) -> String {
    format!("/{part}/{}", superstep_document::escape_pointer(key))
}

/// Says that the nested graph has no such key.
pub(crate) fn known_inside(site: &mut Site<'_>, pointer: &str, key: &str, inner: &Keys) {
    if inner.get(key).is_none() {
        let message = text!(
            "The nested graph has no state key `{key}`.{hint}",
            key,
            hint = superstep_document::suggest::did_you_mean(key, inner.names())
        );
        let remedy = text!(
            "It has {known}.",
            known = superstep_document::suggest::listing(inner.names())
        );
        site.error("unknown-key", pointer, message, remedy);
    }
}

/// Returns the keys that the nested graph takes as input and the outer graph has.
fn given(document: &Document, outer: &Keys) -> Vec<String> {
    let inner = Keys::of(document);
    let inputs = document.input_keys();
    let taken = |name: &&str| inputs.as_ref().is_none_or(|inputs| inputs.contains(name));
    let both = inner
        .names()
        .filter(taken)
        .filter(|name| outer.get(name).is_some());
    both.map(str::to_owned).collect()
}

/// Returns the keys of the nested graph's output that the outer graph has.
fn written(document: &Document, outer: &Keys) -> Vec<String> {
    let inner = Keys::of(document);
    let names: Vec<&str> = document.output_keys().unwrap_or_else(|| inner.names().collect());
    let both = names.into_iter().filter(|name| outer.get(name).is_some());
    both.map(str::to_owned).collect()
}

/// Returns whether joining a value with itself would change it.
fn doubles(reducer: Reducer) -> bool {
    matches!(reducer, Reducer::Append | Reducer::Add | Reducer::Multiply)
}

/// The value of a key in a mapping.
pub(crate) enum MappedValue {
    Expression(Box<Expression>),
    Literal(Value),
}

/// Keys with their values.
pub(crate) type Mapping = Vec<(Arc<str>, MappedValue)>;

struct GraphNode {
    graph: Graph,
    input: Option<Mapping>,
    output: Option<Mapping>,
    /// Keys that the nested graph is given when there is no `input`.
    given: Vec<String>,
    /// Keys that are taken over when there is no `output`.
    taken: Vec<String>,
}

/// Computes the values of a mapping.
pub(crate) fn mapped(mapping: &Mapping, scope: &Scope) -> Result<Value, NodeError> {
    let mut values = Object::new();
    for (key, source) in mapping {
        let value = match source {
            MappedValue::Expression(expression) => expression.eval(scope)?,
            MappedValue::Literal(value) => value.clone(),
        };
        values.insert(key.clone(), value);
    }
    Ok(Value::Object(values))
}

fn picked(value: &Value, keys: &[String]) -> Value {
    let pairs = keys
        .iter()
        .filter_map(|key| Some((key.as_str(), value.get(key)?.clone())));
    Value::Object(pairs.collect())
}

#[async_trait]
impl Node for GraphNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let given = match &self.input {
            Some(mapping) => mapped(mapping, &Scope::of(&context, &input))?,
            None => {
                for key in &self.given {
                    read(&context, &input, key);
                }
                picked(&input, &self.given)
            }
        };
        let result = context.invoke(&self.graph, Input::value(given)).await?;
        Ok(NodeOutput::Update(match &self.output {
            Some(mapping) => mapped(mapping, &Scope::of(&context, &input).with(RESULT, result))?,
            None => picked(&result, &self.taken),
        }))
    }
}
