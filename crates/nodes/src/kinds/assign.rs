//! `assign`: sets state keys from expressions. The workhorse between the nodes that do something.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::value::Object;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::Diagnostic;

use crate::base::config_schema::schema_of;
use crate::expression::{Expression, Scope};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::track_reads;
use superstep_document::text;

/// Settings of an `assign` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Sets state keys.")]
pub struct AssignConfig {
    /// New value of each state key: text is an expression, any other JSON is used as is.
    #[schemars(title = "Assignments", extend("x-editor" = "assignments"))]
    pub set: Map<String, Json>,
}

/// The kind.
pub struct Assign;

impl NodeKind for Assign {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "assign",
            title: "Assign",
            summary: "Sets state keys from expressions.",
            icon: "equal",
            group: "state",
            aliases: &[
                "set",
                "set variable",
                "variable",
                "transform",
                "edit fields",
                "merge",
                "combine",
                "aggregate",
                "calculate",
                "formula",
                "expression",
                "update state",
            ],
            config_schema: schema_of::<AssignConfig>(),
            defaults: json!({"set": {}}),
            card: &["/set"],
        }
    }

    fn is_certain(&self, _: &Map<String, Json>) -> bool {
        true
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<AssignConfig>() else {
            return;
        };
        if config.set.is_empty() {
            site.warning(
                "empty-setting",
                "/set",
                text!("The node sets nothing."),
                text!("Add a state key and an expression."),
            );
        }
        for (key, value) in &config.set {
            let pointer = pointer(key);
            site.write(&pointer, key);
            if let Json::String(source) = value {
                site.expression(&pointer, source, None);
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: AssignConfig = site.parse()?;
        let mut set = Vec::new();
        for (key, value) in config.set {
            let source = match value {
                Json::String(source) => {
                    AssignedValue::Expression(Box::new(site.expression(&pointer(&key), &source)?))
                }
                literal => AssignedValue::Literal(literal.into()),
            };
            set.push((Arc::from(key), source));
        }
        Ok(Arc::new(AssignNode { set }))
    }
}

fn pointer(key: &str) -> String {
    format!("/set/{}", key.replace('~', "~0").replace('/', "~1"))
}

enum AssignedValue {
    Expression(Box<Expression>),
    Literal(Value),
}

struct AssignNode {
    set: Vec<(Arc<str>, AssignedValue)>,
}

#[async_trait]
impl Node for AssignNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let scope = Scope::of(&context, &input);
        let mut update = Object::new();
        for (key, source) in &self.set {
            let value = match source {
                AssignedValue::Expression(expression) => expression.eval(&scope)?,
                AssignedValue::Literal(value) => value.clone(),
            };
            update.insert(key.clone(), value);
        }
        Ok(NodeOutput::Update(Value::Object(update)))
    }
}
