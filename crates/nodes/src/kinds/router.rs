//! `router`: chooses a label, by conditions or by asking a model, and writes it to a state key. Where the run goes on is
//! said by an ordinary `route` edge that reads the key: so the ways are drawn, checked and edited like any others.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Edge};

use super::inner_model::{self, InnerModel, InnerModelNode, ModelNeeds};
use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::schema_validator::SchemaValidator;
use crate::expression::{Expression, Scope};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::track_reads;
use crate::state::schema::Key;
use superstep_document::text;

/// Settings of a `router` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Picks the next way.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["ways", "otherwise", "into"], &[("Model choice", &["by_model"])])))]
pub struct RouterConfig {
    /// Ways to choose from; without a model, the first with a true condition is taken.
    #[schemars(title = "Ways")]
    pub ways: Vec<RouterBranch>,
    /// Label to use when no condition is true; without it, the node fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Default way", extend("x-editor" = "way"))]
    pub otherwise: Option<String>,
    /// Stores the chosen label in this state key, for a `route` edge to read: `"route": "state.KEY"`.
    #[schemars(title = "Output key", extend("x-editor" = "state-key"))]
    pub into: String,
    /// Lets a model choose by the descriptions of the ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Classifier")]
    pub by_model: Option<ByModel>,
}

/// A way that the run can take.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RouterBranch {
    /// Value that the `route` edge matches against its paths.
    #[schemars(title = "Label")]
    pub label: String,
    /// Expression that selects this way when it is true; not needed with a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Condition", extend("x-editor" = "expression", "examples" = ["state.total > 10"]))]
    pub when: Option<String>,
    /// Tells the model when to choose this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Description")]
    pub description: Option<String>,
}

/// Settings of a choice by a model.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ByModel {
    /// Text to classify.
    #[schemars(title = "Input text", extend("x-editor" = "template"))]
    pub text: String,
    /// The model.
    #[serde(flatten)]
    pub model: InnerModel,
}

/// The kind.
pub struct RouterKind;

/// Wraps text so that a template outputs it unchanged.
fn raw(text: &str) -> String {
    // A text cannot end the block it stands in.
    format!("{{% raw %}}{}{{% endraw %}}", text.replace("{%", "{ %"))
}

fn wanted(config: &RouterConfig, by: &ByModel) -> ModelNeeds<'static> {
    let mut labels: Vec<&str> = config.ways.iter().map(|way| way.label.as_str()).collect();
    labels.extend(
        config
            .otherwise
            .as_deref()
            .filter(|label| !labels.contains(label)),
    );
    let mut ways = String::new();
    for label in &labels {
        let way = config.ways.iter().find(|way| way.label == *label);
        let about = match way.and_then(|way| way.description.as_deref()) {
            Some(about) => format!(": {about}"),
            None if way.is_none() => ": when none of the others fits".to_owned(),
            None => String::new(),
        };
        ways.push_str(&format!("- {label}{about}\n"));
    }
    ModelNeeds {
        base: "/config/by_model",
        prompt: format!(
            "Choose the one label that fits the text best. The labels:\n{}\nThe text:\n{}",
            raw(&ways),
            by.text
        ),
        output: Some(json!({"type": "string", "enum": labels})),
        extra: &[],
    }
}

/// Says which edges are followed whichever way the router chooses, where it looks as if they were the ways: two plain
/// edges, or one beside a route.
fn every_way(site: &mut Site<'_>, config: &RouterConfig) {
    let record = site.record.clone();
    let own = record.strip_prefix("node:").unwrap_or_default();
    let routes = site
        .edges
        .iter()
        .any(|(_, edge)| matches!(edge, Edge::Route { from, .. } if from == own));
    let always: Vec<&str> = site
        .edges
        .iter()
        .filter_map(|(_, edge)| match edge {
            Edge::Plain { from, to } if from == own => Some(to.as_str()),
            _ => None,
        })
        .collect();
    if config.ways.is_empty() || always.is_empty() || (!routes && always.len() < 2) {
        return;
    }
    let message = text!(
        "`{own}` goes to {known} each time, whichever way it chooses.",
        own,
        known = superstep_document::suggest::listing(always)
    );
    let remedy = text!("Make one edge of them that routes by the label.");
    // The edges are no setting: the problem stands at the node.
    site.problems.push(Diagnostic::warning(
        "router-every-way",
        record.clone(),
        message,
        remedy,
    ));
}

/// Reports a key for the label that takes not every label.
fn check_into(site: &mut Site<'_>, config: &RouterConfig) {
    let Some(key) = site.write("/into", &config.into) else {
        return;
    };
    let labels = config.ways.iter().map(|way| &way.label).chain(&config.otherwise);
    let shape = SchemaValidator::new(&key.schema).ok();
    let wrong: Vec<String> = labels
        .filter(|label| {
            let label = Json::String((*label).clone());
            shape.as_ref().is_some_and(|shape| !shape.fits(&label))
        })
        .cloned()
        .collect();
    if !wrong.is_empty() {
        let message = text!(
            "State key `{into}` does not take {known}.",
            into = &config.into,
            known = superstep_document::suggest::listing(wrong.iter().map(String::as_str))
        );
        site.error(
            "into-type",
            "/into",
            message,
            text!("Choose a key of type string whose values include the labels."),
        );
    }
}

/// Says which labels that a node writes into `into` no path of its routes takes that read exactly this key.
pub(super) fn labels_without_path<'a>(
    site: &mut Site<'_>,
    into: &str,
    labels: impl IntoIterator<Item = (String, &'a str)>,
) {
    let listed = |key: &Key| key.schema.get("enum").is_some();
    if site.keys.get(into).is_some_and(listed) {
        // What the key can be is held against the paths already.
        return;
    }
    let own = site.record.strip_prefix("node:").unwrap_or_default().to_owned();
    let read = format!("state.{into}");
    let labels: Vec<(String, &str)> = labels.into_iter().collect();
    let mut found = Vec::new();
    for (_, edge) in site.edges {
        let Edge::Route {
            from,
            route,
            paths,
            default: None,
        } = edge
        else {
            continue;
        };
        if *from != own || route.trim() != read {
            continue;
        }
        for (pointer, label) in &labels {
            if !label.is_empty() && !paths.iter().any(|(known, _)| known == label) {
                found.push((pointer.clone(), (*label).to_owned()));
            }
        }
    }
    for (pointer, label) in found {
        let message = text!(
            "`{own}` can write `{label}` into `{into}`, and its route has no path for that; the run would fail.",
            own = &own,
            label = &label,
            into
        );
        let remedy = text!("Connect this way, or give the route a default.");
        site.warning("label-without-path", &pointer, message, remedy);
    }
}

impl NodeKind for RouterKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "router",
            title: "Router",
            summary: "Picks the next way by conditions or with a model.",
            icon: "split",
            group: "state",
            aliases: &[
                "if",
                "else",
                "if else",
                "switch",
                "case",
                "condition",
                "conditional",
                "branch",
                "decision",
                "choose",
                "classify",
                "classifier",
                "intent",
                "filter",
                "add_conditional_edges",
                "conditional edge",
                "Command",
                "goto",
            ],
            config_schema: schema_of::<RouterConfig>(),
            defaults: json!({"ways": [{"label": "yes", "when": ""}, {"label": "no", "when": ""}], "into": ""}),
            card: &["/into"],
        }
    }

    fn is_certain(&self, config: &serde_json::Map<String, serde_json::Value>) -> bool {
        !config.contains_key("by_model")
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<RouterConfig>() else {
            return;
        };
        if config.ways.is_empty() {
            site.error(
                "router-ways",
                "/ways",
                text!("There is nothing to choose from."),
                text!("Add a way."),
            );
        }
        let mut seen = Vec::new();
        for (index, way) in config.ways.iter().enumerate() {
            let at = |field: &str| format!("/ways/{index}/{field}");
            site.filled(&at("label"), &way.label);
            if seen.contains(&&way.label) {
                site.error(
                    "router-ways",
                    &at("label"),
                    text!("There are two ways `{label}`.", label = &way.label),
                    text!("Give each way a label of its own."),
                );
            }
            seen.push(&way.label);
            match (&way.when, &config.by_model) {
                (Some(when), None) => site.expression(&at("when"), when, None),
                (Some(_), Some(_)) => site.warning(
                    "router-when",
                    &at("when"),
                    text!("A model chooses; this condition is not looked at."),
                    text!("Remove it, or remove `by_model`."),
                ),
                (None, None) if index + 1 < config.ways.len() || config.otherwise.is_some() => site.error(
                    "router-when",
                    &at("when"),
                    text!(
                        "The way `{label}` has no condition, so nothing after it is ever chosen.",
                        label = &way.label
                    ),
                    text!("Write an expression that is true when it is to be chosen."),
                ),
                (None, _) => {}
            }
        }
        every_way(site, &config);
        let ways = config.ways.iter().enumerate();
        let ways = ways.map(|(index, way)| (format!("/ways/{index}/label"), way.label.as_str()));
        let otherwise = config
            .otherwise
            .as_deref()
            .map(|label| ("/otherwise".to_owned(), label));
        labels_without_path(site, &config.into, ways.chain(otherwise));
        check_into(site, &config);
        if let Some(by) = &config.by_model {
            site.template("/by_model/text", &by.text);
            site.filled("/by_model/text", &by.text);
            inner_model::check(site, &by.model, &wanted(&config, by));
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: RouterConfig = site.parse()?;
        let asking = match &config.by_model {
            Some(by) => Some(inner_model::build(site, &by.model, &wanted(&config, by))?),
            None => None,
        };
        let mut ways = Vec::new();
        for (index, way) in config.ways.iter().enumerate() {
            let when = match &way.when {
                Some(when) if asking.is_none() => {
                    Some(site.expression(&format!("/ways/{index}/when"), when)?)
                }
                _ => None,
            };
            ways.push((Arc::from(way.label.as_str()), when));
        }
        Ok(Arc::new(RouterNode {
            name: site.node.into(),
            ways,
            otherwise: config.otherwise.map(Into::into),
            into: config.into.into(),
            asking,
        }))
    }
}

struct RouterNode {
    name: Arc<str>,
    ways: Vec<(Arc<str>, Option<Expression>)>,
    otherwise: Option<Arc<str>>,
    into: Arc<str>,
    asking: Option<InnerModelNode>,
}

impl RouterNode {
    async fn chosen(&self, context: &NodeContext, input: Value) -> Result<Value, NodeError> {
        if let Some(asking) = &self.asking {
            let label = asking.ask(context, input).await?;
            if let Some(recorder) = context.recorder() {
                recorder.decided_by(None, &label);
            }
            return Ok(label);
        }
        let scope = Scope::of(context, &input);
        for (label, when) in &self.ways {
            let held = when.as_ref().map_or(Ok(true), |when| when.truth(&scope))?;
            if let Some(recorder) = context.recorder() {
                recorder.tried(label, when.as_ref().map(Expression::source), held);
            }
            if held {
                return Ok(Value::String(label.clone()));
            }
        }
        let otherwise = self.otherwise.clone().ok_or_else(|| {
            NodeError::new(
                error_class::ROUTE,
                format!(
                    "node {}: no condition is true. Add a way without a condition at the end, or `otherwise`",
                    self.name
                ),
            )
        })?;
        if let Some(recorder) = context.recorder() {
            recorder.tried(&otherwise, None, true);
        }
        Ok(Value::String(otherwise))
    }
}

#[async_trait]
impl Node for RouterNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let label = self.chosen(&context, input).await?;
        Ok(NodeOutput::update([(self.into.clone(), label)]))
    }
}
