//! Requests to models, the same for every provider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::Value;

use super::WatchedTask;

/// A tool as described to the model.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ToolSpec {
    /// Name that the model calls the tool by: letters, digits, `_` and `-`.
    #[schemars(title = "Name")]
    pub name: String,
    /// Tells the model what the tool does and when to use it.
    #[schemars(title = "Description", extend("x-editor" = "text"))]
    pub description: String,
    /// JSON Schema of the arguments; must be an object.
    #[serde(default = "no_arguments")]
    #[schemars(title = "Parameters", with = "serde_json::Map<String, Json>", extend("x-editor" = "schema"))]
    pub parameters: Json,
}

/// Returns the schema of a tool without arguments.
pub(crate) fn no_arguments() -> Json {
    json!({"type": "object", "properties": {}})
}

/// May a model answer without a call?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must call a tool.
    Required,
    /// It must not.
    None,
}

/// Amount of thinking that a model does before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum Reasoning {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// A question to a model.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// Messages in the engine's form, system first.
    pub messages: Vec<Value>,
    /// Makes answers more varied the higher it is.
    pub temperature: Option<f64>,
    /// Longest answer.
    pub max_tokens: Option<u32>,
    /// JSON Schema of the answer.
    pub output: Option<Json>,
    /// Tools it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may answer without a call.
    pub tool_choice: ToolChoice,
    /// How much it thinks.
    pub reasoning: Option<Reasoning>,
    /// Who keeps what is sent and what comes back, for the trace.
    pub watch: Option<WatchedTask>,
}
