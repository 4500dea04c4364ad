//! A model that another kind asks: the settings they share, and a `model` node that does the asking. What a model node
//! can do (scripts, streams, retries of answers that do not fit, costs) holds there too.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value};
use superstep_document::Diagnostic;

use crate::kinds::model::{Model, ScriptLineConfig};
use crate::registry::{BuildSite, NodeKind, Site};

/// Where the inner node writes: no key of a state is called that.
const INTO: &str = "__inner";

/// Settings of a model that a node asks.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct InnerModel {
    /// PROVIDER::NAME such as `openai::gpt-4o-mini`, CONNECTION::NAME for one of your connections, or `scripted`.
    #[schemars(title = "Model", extend("x-editor" = "model", "examples" = ["scripted", "openai::gpt-4o-mini", "anthropic::claude-sonnet-4-5"]))]
    pub model: String,
    /// Answers of `scripted`: the first line with a true condition, or with none, is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Script", extend("x-editor" = "script", "x-if" = serde_json::json!({"model": "scripted"})))]
    pub script: Vec<ScriptLineConfig>,
    /// Stops waiting for the answer after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (s)", range(min = 1, max = 86_400))]
    pub timeout_s: u64,
}

fn default_timeout() -> u64 {
    120
}

/// Requirements of a kind for its model.
pub(crate) struct ModelNeeds<'a> {
    /// Where the settings stand, e.g. `/config/model`.
    pub(crate) base: &'static str,
    /// What it is asked: a template that has been checked where it stands.
    pub(crate) prompt: String,
    /// JSON Schema of the answer; text without one.
    pub(crate) output: Option<Json>,
    /// What the prompt and the script see besides the state.
    pub(crate) extra: &'a [&'a str],
}

fn config(settings: &InnerModel, wanted: &ModelNeeds<'_>) -> Map<String, Json> {
    let mut config = Map::new();
    config.insert("model".into(), settings.model.clone().into());
    config.insert("prompt".into(), wanted.prompt.clone().into());
    config.insert("script".into(), json!(settings.script));
    config.insert("timeout_s".into(), settings.timeout_s.into());
    config.insert("into".into(), INTO.into());
    config.insert("pace_ms".into(), 0.into());
    if let Some(output) = &wanted.output {
        config.insert("output".into(), output.clone());
    }
    config
}

/// Says what is wrong with the settings.
pub(crate) fn check(site: &mut Site<'_>, settings: &InnerModel, wanted: &ModelNeeds<'_>) {
    let config = config(settings, wanted);
    let elsewhere = [format!("{}/into", wanted.base), format!("{}/prompt", wanted.base)];
    let known = site.problems.len();
    site.inside(wanted.base, &config, wanted.extra, |inner| Model.check(inner));
    // Where the answer goes and what is asked is no matter of these settings.
    let found = site.problems.split_off(known);
    let own = |problem: &Diagnostic| !problem.pointer.as_ref().is_some_and(|at| elsewhere.contains(at));
    site.problems.extend(found.into_iter().filter(own));
}

/// A model node inside of another node.
pub(crate) struct InnerModelNode(Arc<dyn Node>);

/// Makes it.
pub(crate) fn build(
    site: &BuildSite<'_>,
    settings: &InnerModel,
    wanted: &ModelNeeds<'_>,
) -> Result<InnerModelNode, Diagnostic> {
    let config = config(settings, wanted);
    Ok(InnerModelNode(Model.build(&site.with_config(&config))?))
}

impl InnerModelNode {
    /// Asks the model; `state` is what the prompt and the script see.
    pub(crate) async fn ask(&self, context: &NodeContext, state: Value) -> Result<Value, NodeError> {
        match self.0.run(context.clone(), state).await? {
            NodeOutput::Update(update) => Ok(update.get(INTO).cloned().unwrap_or_default()),
            _ => Ok(Value::Null),
        }
    }
}
