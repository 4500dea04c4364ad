//! `ask`: a question to a person. The run stops, the question waits in the inbox, the answer is held against a schema;
//! one that does not fit is asked for again with the reason.

use std::sync::Arc;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::{BoxFuture, List, Node, NodeContext, NodeError, NodeOutput, Object, Value};
use superstep_document::{Diagnostic, Reducer};

use crate::expression::{Scope, Template};
use crate::kind::{BuildSite, KindInfo, NodeKind, Site, schema_of};
use crate::schema::Key;

/// Settings of an `ask` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Asks a person.")]
pub struct AskConfig {
    /// What is asked.
    #[schemars(title = "Question", extend("x-editor" = "template"))]
    pub question: String,
    /// JSON Schema of the answer. Without one: the values of the choices, or else the type of the state key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Answer", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema"))]
    pub answer: Option<Json>,
    /// Answers offered as buttons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Choices", extend("x-editor" = "choices"))]
    pub choices: Vec<Choice>,
    /// State keys shown with the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Context", extend("x-editor" = "state-keys"))]
    pub context: Vec<String>,
    /// State key that takes the answer.
    #[schemars(title = "Into", extend("x-editor" = "state-key"))]
    pub into: String,
}

/// A ready-made answer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Choice {
    /// Text on the button.
    pub label: String,
    /// The answer it gives.
    pub value: Json,
    /// What it means or leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl AskConfig {
    fn schema(&self, key: Option<&Key>) -> Json {
        if let Some(schema) = &self.answer {
            return schema.clone();
        }
        if !self.choices.is_empty() {
            return json!({"enum": self.choices.iter().map(|choice| choice.value.clone()).collect::<Vec<_>>()});
        }
        match key {
            Some(key)
                if matches!(key.reducer, Reducer::Overwrite | Reducer::Min | Reducer::Max)
                    && key.schema != json!({}) =>
            {
                key.schema.clone()
            }
            // One new item or message, not the whole list.
            Some(key) if matches!(key.reducer, Reducer::Append | Reducer::Union) => key
                .schema
                .get("items")
                .cloned()
                .unwrap_or_else(|| json!({"type": "string"})),
            Some(key)
                if matches!(
                    key.reducer,
                    Reducer::Add | Reducer::Multiply | Reducer::And | Reducer::Or
                ) =>
            {
                key.schema
                    .get("type")
                    .map_or_else(|| json!({}), |ty| json!({"type": ty}))
            }
            _ => json!({"type": "string"}),
        }
    }
}

/// The kind.
pub struct Ask;

impl NodeKind for Ask {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "ask",
            title: "Ask",
            summary: "Stops and asks a person; goes on with the answer.",
            icon: "message-circle-question",
            group: "people",
            config_schema: schema_of::<AskConfig>(),
            defaults: json!({"question": "", "into": ""}),
            card: &["/question", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<AskConfig>() else {
            return;
        };
        site.filled("/question", &config.question);
        site.template("/question", &config.question);
        for (index, key) in config.context.iter().enumerate() {
            site.read(&format!("/context/{index}"), key);
        }
        let key = site.write("/into", &config.into);
        if config.choices.is_empty() {
            if let Some(schema) = &config.answer {
                site.schema("/answer", schema);
            }
            return;
        }
        let schema = config.schema(key.as_ref());
        let validator = match jsonschema::validator_for(&schema) {
            Ok(validator) => validator,
            Err(_) => return site.schema("/answer", &schema),
        };
        for (index, choice) in config.choices.iter().enumerate() {
            if let Some(error) = validator.iter_errors(&choice.value).next() {
                let message = format!("The choice {:?} is not a valid answer: {error}.", choice.label);
                site.error(
                    "choice-not-valid",
                    &format!("/choices/{index}/value"),
                    message,
                    "Correct its value, or the answer's schema.",
                );
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: AskConfig = site.parse()?;
        let schema = config.schema(site.keys.get(&config.into));
        let validator = site.schema("/answer", &schema)?;
        let choices = serde_json::to_value(&config.choices).unwrap_or_default();
        Ok(Arc::new(AskNode {
            question: site.template("/question", &config.question)?,
            schema: schema.into(),
            validator,
            choices: Value::from(choices).as_array().cloned().unwrap_or_default(),
            context: config.context.into_iter().map(Into::into).collect(),
            into: config.into.into(),
        }))
    }
}

struct AskNode {
    question: Template,
    schema: Value,
    validator: Validator,
    choices: List,
    context: Vec<Arc<str>>,
    into: Arc<str>,
}

impl AskNode {
    fn refusal(&self, answer: &Value) -> Option<String> {
        let json = Json::from(answer);
        let reasons: Vec<String> = self
            .validator
            .iter_errors(&json)
            .take(5)
            .map(|error| match error.instance_path().to_string() {
                path if path.is_empty() => error.to_string(),
                path => format!("{error} (at {path})"),
            })
            .collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

impl Node for AskNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let mut question = Object::new();
            question.insert("question", self.question.render(&Scope::new(&input))?);
            question.insert("schema", self.schema.clone());
            question.insert("choices", self.choices.clone());
            let shown: Object = self
                .context
                .iter()
                .map(|key| (key.clone(), input.get(key).cloned().unwrap_or_default()))
                .collect();
            question.insert("context", shown);
            loop {
                let answer = context.interrupt(Value::Object(question.clone()))?;
                match self.refusal(&answer) {
                    None => return Ok(NodeOutput::update([(self.into.clone(), answer)])),
                    Some(why) => question.insert("refused", why),
                };
            }
        })
    }
}
