//! Tools that are graphs: the arguments are what the graph is given, and what comes of it is the answer. A graph whose
//! state has messages is an agent to the model that calls it: it is given a task and answers with what it says last.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::graph::Persistence;
use superstep::value::Object;
use superstep::{Graph, Input, NodeContext, NodeError, Value};
use superstep_document::{Diagnostic, Document, Reducer};

use super::node::{NoAnswer, ToolAnswer, ToolResult};
use crate::expression::{Expression, Scope};
use crate::kinds::graph::{Mapping, RESULT, compiled, known_inside, mapped, pointer_to};
use crate::models::no_arguments;
use crate::registry::{BuildSite, Site};
use crate::state::schema::Keys;
use superstep_document::suggest;
use superstep_document::text;

/// What `input` calls the arguments.
const ARGS: &str = "args";
/// The argument of a tool whose parameters are not described.
const TASK: &str = "task";

/// A graph.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct GraphTool {
    /// Graph file, relative to this graph's folder.
    #[schemars(title = "Graph", extend("x-editor" = "graph-file"))]
    pub graph: String,
    /// Value of each key of the graph: text is an expression over `args` and `state`, any other JSON is used as is; without it, arguments go to keys of the same name and the others become a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Input mapping", extend("x-editor" = "assignments"))]
    pub input: Option<Map<String, Json>>,
    /// Expression over `result`, the graph's output; without it, the text of the last message or else the output is returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Result expression", extend("x-editor" = "expression"))]
    pub output: Option<String>,
}

/// Returns the parameters of a tool that declares none.
pub(super) fn parameters() -> Json {
    json!({"type": "object", "required": [TASK], "properties": {
        TASK: {"type": "string", "description": "What to do, with everything that has to be known for it."}}})
}

/// Returns the key that takes messages, if there is exactly one.
fn messages_key(keys: &Keys) -> Option<&str> {
    let takes = |name: &&str| {
        keys.get(name)
            .is_some_and(|key| key.reducer == Reducer::AddMessages)
    };
    let mut keys = keys.names().filter(takes);
    keys.next().filter(|_| keys.next().is_none())
}

fn names(parameters: &Json) -> impl Iterator<Item = &str> {
    let properties = parameters.get("properties").and_then(Json::as_object);
    properties
        .into_iter()
        .flat_map(|all| all.keys().map(String::as_str))
}

impl GraphTool {
    pub(super) fn check(&self, site: &mut Site<'_>, pointer: &str, parameters: &Json) {
        let nested = site.graph(&format!("{pointer}/graph"), &self.graph);
        let inner = nested.as_ref().map(|nested| Keys::of(&nested.document));
        match (&self.input, &inner) {
            (Some(input), inner) => {
                for (key, value) in input {
                    let pointer = format!("{pointer}{}", pointer_to("input", key));
                    if let Some(inner) = inner {
                        known_inside(site, &pointer, key, inner);
                    }
                    if let Json::String(source) = value {
                        site.expression(&pointer, source, Some(ARGS));
                    }
                }
            }
            (None, Some(inner)) if messages_key(inner).is_none() => {
                if let Some(lost) = names(parameters).find(|name| inner.get(name).is_none()) {
                    let message = text!(
                        "The graph has no state key `{lost}` that would take the argument, and no one key for messages.{hint}",
                        lost,
                        hint = suggest::did_you_mean(lost, inner.names())
                    );
                    let remedy = text!(
                        "Name the arguments after its keys ({known}), or say in `input` where they go.",
                        known = suggest::listing(inner.names())
                    );
                    site.error("tool-graph", &format!("{pointer}/graph"), message, remedy);
                }
            }
            (None, _) => {}
        }
        if let Some(output) = &self.output {
            site.expression(&format!("{pointer}/output"), output, Some(RESULT));
        }
    }

    pub(super) fn build(&self, site: &BuildSite<'_>, pointer: &str) -> Result<GraphToolWork, Diagnostic> {
        let (nested, graph) = site.graph(&format!("{pointer}/graph"), &self.graph, Persistence::Inherit)?;
        let keys = Keys::of(&nested.document);
        let input = self.input.clone();
        let output = |source: &String| site.expression(&format!("{pointer}/output"), source);
        Ok(GraphToolWork {
            input: input
                .map(|map| compiled(site, &format!("{pointer}/input"), map))
                .transpose()?,
            output: self.output.as_ref().map(output).transpose()?,
            messages: messages_key(&keys).map(Into::into),
            keys: keys.names().map(str::to_owned).collect(),
            returned: returned(&nested.document),
            graph,
        })
    }
}

/// Returns the one key that a graph returns, if the graph declares it.
fn returned(document: &Document) -> Option<String> {
    match document.output_keys()?.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    }
}

/// A graph that can be called.
pub(super) struct GraphToolWork {
    graph: Graph,
    input: Option<Mapping>,
    output: Option<Expression>,
    messages: Option<Arc<str>>,
    keys: Vec<String>,
    returned: Option<String>,
}

impl GraphToolWork {
    pub(super) async fn run(&self, context: &NodeContext, args: &Object, state: &Value) -> ToolResult {
        let failed = |error: NodeError| match error {
            NodeError::Failed(failure) => {
                NoAnswer::Failed(failure.to_string().trim_end_matches('.').to_owned())
            }
            NodeError::Parent(_) => NoAnswer::Failed(
                "the tool's graph wanted to hand over to a node outside of it, which a tool cannot"
                    .to_owned(),
            ),
            stop => NoAnswer::Stop(stop),
        };
        let given = match &self.input {
            Some(mapping) => mapped(
                mapping,
                &Scope::of(context, state).with(ARGS, Value::Object(args.clone())),
            ),
            None => Ok(self.given(args)),
        };
        let given = given.map_err(failed)?;
        let result = context
            .invoke(&self.graph, Input::value(given))
            .await
            .map_err(failed)?;
        self.answer(context, result, state).map_err(failed)
    }

    /// Maps arguments to keys by their names; the others become the message to the graph.
    fn given(&self, args: &Object) -> Value {
        let mut given = Object::new();
        let mut lines = Vec::new();
        for (name, value) in args.iter() {
            match (self.keys.iter().any(|key| **key == **name), value) {
                (true, value) => {
                    given.insert(name.clone(), value.clone());
                }
                (false, Value::String(text)) if &**name == TASK => lines.insert(0, text.to_string()),
                (false, Value::String(text)) => lines.push(format!("{name}: {text}")),
                (false, value) => lines.push(format!("{name}: {value}")),
            }
        }
        if let (Some(key), false) = (&self.messages, lines.is_empty()) {
            let message = superstep::json!([{"type": "human", "content": lines.join("\n")}]);
            given.insert(key.clone(), message);
        }
        Value::Object(given)
    }

    fn answer(&self, context: &NodeContext, result: Value, state: &Value) -> Result<ToolAnswer, NodeError> {
        let value = match (&self.output, &self.messages, &self.returned) {
            (Some(output), ..) => output.eval(&Scope::of(context, state).with(RESULT, result))?,
            (None, Some(key), _) => {
                let messages = result.get(key).and_then(Value::as_array);
                let last = messages.and_then(|messages| messages.get(messages.len().checked_sub(1)?));
                last.and_then(|message| message.get("content"))
                    .cloned()
                    .unwrap_or_default()
            }
            (None, None, Some(key)) => result.get(key).cloned().unwrap_or_default(),
            (None, None, None) => result,
        };
        Ok(match value {
            Value::String(text) => ToolAnswer::from(text.to_string()),
            other => ToolAnswer::from(other.to_string()),
        })
    }
}

/// Returns whether the tool has no parameters of its own.
pub(super) fn undescribed(parameters: &Json) -> bool {
    *parameters == no_arguments()
}
