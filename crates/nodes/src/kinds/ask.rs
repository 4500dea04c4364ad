//! `ask`: a question to a person. The run stops, the question waits in the inbox, the answer is held against a schema;
//! one that does not fit is asked for again with the reason.
//!
//! A question may have a deadline, which it holds. When it has passed, the program that keeps the thread goes on with it
//! without an answer (the engine knows no time): the node then finds that it is too late, and says so.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::run::iso8601;
use superstep::value::{List, Object};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait, overwrite};
use superstep_document::{Diagnostic, Reducer};

use crate::base::config_schema::schema_of;
use crate::base::error_class;
use crate::base::schema_validator::SchemaValidator;
use crate::base::time::millis;
use crate::expression::{Scope, Template};
use crate::kinds::durable::recorded;
use crate::kinds::router::labels_without_path;
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use crate::state::reads::{read, track_reads};
use crate::state::schema::Key;
use superstep_document::text;

/// Settings of an `ask` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Asks a person.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["question", "choices", "into"], &[("Context", &["context", "edit"]), ("Answer", &["answer"]), ("Deadline and people", &["wait_s", "otherwise", "who"])])))]
pub struct AskConfig {
    /// Template for the text to send.
    #[schemars(title = "Question", extend("x-editor" = "template"))]
    pub question: String,
    /// JSON Schema that the answer must match; without it, a choice or else a value that fits the state key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Answer schema", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema"))]
    pub answer: Option<Json>,
    /// Answers to offer as buttons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Choices", extend("x-editor" = "choices"))]
    pub choices: Vec<Choice>,
    /// Shows the value of this state key for editing; the answer is its new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Edited key", extend("x-editor" = "state-key"))]
    pub edit: Option<String>,
    /// Shows these state keys with the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Context keys", extend("x-editor" = "state-keys"))]
    pub context: Vec<String>,
    /// Stores the answer in this state key.
    #[schemars(title = "Output key", extend("x-editor" = "state-key", "x-key" = serde_json::json!({})))]
    pub into: String,
    /// Closes the question after this time; without it, it waits indefinitely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Answer timeout (s)", range(min = 1, max = MAX_DEADLINE))]
    pub wait_s: Option<u64>,
    /// Answer to store when time runs out; without it, the node fails with `AskTimeoutError`, which a fallback can handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Default answer", extend("x-if" = serde_json::json!({"wait_s": "*"})))]
    pub otherwise: Option<Json>,
    /// Lets only these people answer, by name; without any, everybody may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Allowed people")]
    pub who: Vec<String>,
}

/// Longest time that a question waits, in seconds: a year.
const MAX_DEADLINE: u64 = 366 * 86_400;

/// A predefined answer.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Choice {
    /// Text on the button.
    #[schemars(title = "Label")]
    pub label: String,
    /// Answer that the button gives.
    #[schemars(title = "Value")]
    pub value: Json,
    /// Explains the choice to the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Description")]
    pub description: Option<String>,
}

impl AskConfig {
    fn schema(&self, key: Option<&Key>, edited: Option<&Key>) -> Json {
        if let Some(schema) = &self.answer {
            return schema.clone();
        }
        // A value is edited as a whole, whatever joins updates to it.
        if let Some(edited) = edited {
            return edited.schema.clone();
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
            summary: "Pauses the run, asks a person and continues with the answer.",
            icon: "message-circle-question",
            group: "people",
            aliases: &[
                "human",
                "human in the loop",
                "hitl",
                "approval",
                "approve",
                "input",
                "form",
                "review",
                "interrupt",
                "wait for answer",
                "confirm",
                "question",
                "user",
            ],
            config_schema: schema_of::<AskConfig>(),
            defaults: json!({"question": "", "into": ""}),
            card: &["/question", "/into"],
        }
    }

    fn is_certain(&self, _: &serde_json::Map<String, Json>) -> bool {
        true
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
        let choices = config.choices.iter().enumerate().filter_map(|(index, choice)| {
            let label = choice.value.as_str()?;
            Some((format!("/choices/{index}/value"), label))
        });
        let otherwise = config.otherwise.as_ref().and_then(Json::as_str);
        let otherwise = otherwise.map(|label| ("/otherwise".to_owned(), label));
        labels_without_path(site, &config.into, choices.chain(otherwise));
        if let Some(edit) = &config.edit {
            site.read("/edit", edit);
            if !config.choices.is_empty() && config.answer.is_none() {
                site.error(
                    "ask-edit",
                    "/choices",
                    text!("Choices are no new value of what is edited."),
                    text!("Remove them, or do not edit."),
                );
            }
        }
        match (&config.otherwise, config.wait_s) {
            (Some(_), None) => site.warning(
                "ask-wait",
                "/otherwise",
                text!("The question waits for ever, so this is never written."),
                text!("Say how long it waits."),
            ),
            (Some(otherwise), Some(_)) => {
                let fits = |key: &Key| {
                    // What a reducer takes is its own business.
                    key.reducer != Reducer::Overwrite
                        || SchemaValidator::new(&key.schema).is_ok_and(|shape| shape.fits(otherwise))
                };
                if key.as_ref().is_some_and(|key| !fits(key)) {
                    let message = text!(
                        "State key `{into}` does not take {otherwise}.",
                        into = &config.into,
                        otherwise = otherwise.to_string()
                    );
                    let remedy = text!("Correct it, or widen the type of the key.");
                    site.error("into-type", "/otherwise", message, remedy);
                }
            }
            (None, _) => {}
        }
        for (index, who) in config.who.iter().enumerate() {
            site.filled(&format!("/who/{index}"), who);
        }
        if config.choices.is_empty() {
            if let Some(schema) = &config.answer {
                site.schema("/answer", schema);
            }
            return;
        }
        let schema = config.schema(key.as_ref(), None);
        let shape = match SchemaValidator::new(&schema) {
            Ok(shape) => shape,
            Err(_) => return site.schema("/answer", &schema),
        };
        for (index, choice) in config.choices.iter().enumerate() {
            if let Some(error) = shape.misfit(&choice.value).map(|misfit| misfit.cause) {
                let message = text!(
                    "The choice {choice} is not a valid answer: {error}.",
                    choice = format!("{:?}", choice.label),
                    error
                );
                site.error(
                    "choice-not-valid",
                    &format!("/choices/{index}/value"),
                    message,
                    text!("Correct its value, or the answer's schema."),
                );
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: AskConfig = site.parse()?;
        let edited = config.edit.as_ref().and_then(|key| site.keys.get(key));
        let schema = config.schema(site.keys.get(&config.into), edited);
        let shape = site.form("/answer", &schema)?;
        let choices = serde_json::to_value(&config.choices).unwrap_or_default();
        Ok(Arc::new(AskNode {
            question: site.template("/question", &config.question)?,
            schema: schema.into(),
            shape,
            choices: Value::from(choices).as_array().cloned().unwrap_or_default(),
            context: config.context.into_iter().map(Into::into).collect(),
            // What was edited takes the place of what was there.
            whole: config.edit.as_ref() == Some(&config.into)
                && edited.is_some_and(|key| key.reducer != Reducer::Overwrite),
            edit: config.edit.map(Into::into),
            into: config.into.into(),
            name: site.node.into(),
            wait: config.wait_s.map(|seconds| seconds.min(MAX_DEADLINE) * 1000),
            otherwise: config.otherwise.map(Value::from),
            who: config.who.into_iter().map(Value::from).collect(),
        }))
    }
}

/// Returns when a question ends without an answer, in milliseconds since the Unix epoch: its thread is then to be
/// continued.
pub fn deadline(question: &Value) -> Option<u64> {
    millis(question.get("deadline")?)
}

/// Returns whether this is not a question, but a wait that anybody may end early.
pub fn is_wait(question: &Value) -> bool {
    question.get(WAITS) == Some(&Value::Bool(true)) && deadline(question).is_some()
}

/// The field of a question that is none.
pub(crate) const WAITS: &str = "waits";

/// Returns the reason why this person may not answer the question.
pub fn not_asked(question: &Value, name: Option<&str>) -> Option<String> {
    if may_answer(question, name) {
        return None;
    }
    let who = question.get("who").and_then(Value::as_array);
    let who: Vec<&str> = who
        .iter()
        .flat_map(|who| who.iter())
        .filter_map(Value::as_str)
        .collect();
    let who = who.join(", ");
    Some(match name {
        Some(name) => format!("The question is for {who}, and you are {name}."),
        None => format!("The question is for {who}."),
    })
}

/// Returns whether this person may answer the question.
fn may_answer(question: &Value, name: Option<&str>) -> bool {
    match question.get("who").and_then(Value::as_array) {
        Some(who) if !who.is_empty() => name.is_some_and(|name| {
            let same = |one: &Value| {
                one.as_str()
                    .is_some_and(|one| one.trim().eq_ignore_ascii_case(name.trim()))
            };
            who.iter().any(same)
        }),
        _ => true,
    }
}

struct AskNode {
    question: Template,
    schema: Value,
    shape: SchemaValidator,
    choices: List,
    context: Vec<Arc<str>>,
    edit: Option<Arc<str>>,
    whole: bool,
    into: Arc<str>,
    name: Arc<str>,
    /// In milliseconds.
    wait: Option<u64>,
    otherwise: Option<Value>,
    who: List,
}

impl AskNode {
    fn nobody(&self, deadline: u64) -> Result<NodeOutput, NodeError> {
        match &self.otherwise {
            Some(otherwise) => Ok(NodeOutput::update([(self.into.clone(), otherwise.clone())])),
            None => Err(NodeError::new(
                error_class::ASK_TIMEOUT,
                format!("node {}: nobody answered by {}", self.name, iso8601(deadline)),
            )),
        }
    }

    fn refusal(&self, answer: &Value) -> Option<String> {
        let json = Json::from(answer);
        let misfits = self.shape.misfits(&json, 5);
        let reasons: Vec<String> = misfits.iter().map(ToString::to_string).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

#[async_trait]
impl Node for AskNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let mut question = Object::new();
        question.insert("question", self.question.render(&Scope::of(&context, &input))?);
        question.insert("schema", self.schema.clone());
        question.insert("choices", self.choices.clone());
        let shown: Object = self
            .context
            .iter()
            .map(|key| {
                (
                    key.clone(),
                    read(&context, &input, key).cloned().unwrap_or_default(),
                )
            })
            .collect();
        question.insert("context", shown);
        if let Some(key) = &self.edit {
            question.insert("edit", key.clone());
            question.insert("value", read(&context, &input, key).cloned().unwrap_or_default());
        }
        if !self.who.is_empty() {
            question.insert("who", self.who.clone());
        }
        let mut deadline = None;
        if let Some(wait) = self.wait {
            let until = recorded(&context, "deadline", context.now_ms().saturating_add(wait).into()).await?;
            deadline = until.as_u64();
            question.insert(
                "deadline",
                deadline.map_or(Value::Null, |until| iso8601(until).into()),
            );
        }
        loop {
            let answer = match (context.interrupt(Value::Object(question.clone())), deadline) {
                // An answer that was given counts, however late; without one the time decides.
                (Err(_), Some(deadline)) if context.now_ms() >= deadline => return self.nobody(deadline),
                (answer, _) => answer?,
            };
            match self.refusal(&answer) {
                None if self.whole => {
                    return Ok(NodeOutput::update([(self.into.clone(), overwrite(answer))]));
                }
                None => return Ok(NodeOutput::update([(self.into.clone(), answer)])),
                Some(why) => question.insert("refused", why),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn a_question_is_for_those_it_names_or_for_anybody() {
        let named = json!({"who": ["Ada", "Bob"]});
        for name in ["Ada", "ada", " bob"] {
            assert_eq!(not_asked(&named, Some(name)), None, "{name}");
        }
        assert_eq!(
            not_asked(&named, Some("Eve")).unwrap(),
            "The question is for Ada, Bob, and you are Eve."
        );
        assert_eq!(not_asked(&named, None).unwrap(), "The question is for Ada, Bob.");
        for open in [json!({"who": []}), json!({})] {
            assert_eq!(not_asked(&open, Some("Eve")), None, "{open}");
            assert_eq!(not_asked(&open, None), None, "{open}");
        }
    }
}
