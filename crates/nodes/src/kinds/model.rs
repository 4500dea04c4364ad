//! `model`: asks a language model and streams its answer. `scripted` is a model of its own: it says what the node's
//! script has for the state at hand, word by word, so that graphs run without network, key or cost. Its messages are
//! marked, so that nobody takes them for a model's.

use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use superstep::{BoxFuture, Node, NodeContext, NodeError, NodeOutput, Object, Value};
use superstep_document::{Diagnostic, Reducer};

use crate::expression::{Expression, Scope, Template};
use crate::kind::{BuildSite, KindInfo, NodeKind, Site, schema_of};
use crate::provider::{self, Answer, ModelError, Providers, Request};

/// The model that reads from a script.
pub const SCRIPTED: &str = "scripted";

/// Settings of a `model` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Asks a language model.")]
pub struct ModelConfig {
    /// `scripted`, or PROVIDER::NAME such as `openai::gpt-4o-mini`.
    #[schemars(title = "Model", extend("x-editor" = "text", "examples" = ["scripted", "openai::gpt-4o-mini", "anthropic::claude-sonnet-4-5", "gemini::gemini-2.5-flash", "ollama::llama3.2"]))]
    pub model: String,
    /// Instructions that go before everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "System", extend("x-editor" = "template"))]
    pub system: Option<String>,
    /// What is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Prompt", extend("x-editor" = "template"))]
    pub prompt: Option<String>,
    /// State key with a list of messages that are sent; the prompt, if any, comes after them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Messages", extend("x-editor" = "state-key"))]
    pub messages: Option<String>,
    /// State key that takes the answer: as a message when its reducer is `add_messages`, otherwise as text.
    #[schemars(title = "Into", extend("x-editor" = "state-key"))]
    pub into: String,
    /// JSON Schema of the answer: it is read as JSON and written as such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Output", with = "Option<serde_json::Map<String, Json>>", extend("x-editor" = "schema"))]
    pub output: Option<Json>,
    /// Randomness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Temperature", range(min = 0.0, max = 2.0))]
    pub temperature: Option<f64>,
    /// Longest answer in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Max tokens", range(min = 1))]
    pub max_tokens: Option<u32>,
    /// What `scripted` says: the first line whose condition is true or absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Script", extend("x-editor" = "script"))]
    pub script: Vec<Line>,
    /// Pause of `scripted` after each word, in milliseconds.
    #[serde(default = "default_pace")]
    #[schemars(title = "Pace (ms)", range(min = 0, max = 1000))]
    pub pace_ms: u64,
}

fn default_pace() -> u64 {
    12
}

/// A line of the script.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Line {
    /// Expression; absent means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-editor" = "expression"))]
    pub when: Option<String>,
    /// Template of the answer.
    #[schemars(extend("x-editor" = "template"))]
    pub say: String,
}

/// The kind.
pub struct Model;

impl NodeKind for Model {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "model",
            title: "Model",
            summary: "Asks a language model and streams its answer; a scripted one answers offline.",
            icon: "sparkles",
            group: "models",
            config_schema: schema_of::<ModelConfig>(),
            defaults: json!({"model": SCRIPTED, "prompt": "", "into": "", "script": [{"say": "A scripted answer."}]}),
            card: &["/model", "/prompt", "/into"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<ModelConfig>() else {
            return;
        };
        let scripted = config.model == SCRIPTED;
        if !scripted && let Err(error) = provider::provider_of(&config.model) {
            let text = error.to_string();
            let (message, remedy) = text.rsplit_once(" Write ").unwrap_or((&text, ""));
            site.error(
                "unknown-model",
                "/model",
                message.to_owned(),
                format!("Write {remedy}"),
            );
        }
        for (pointer, text) in [("/system", &config.system), ("/prompt", &config.prompt)] {
            if let Some(text) = text {
                site.template(pointer, text);
            }
        }
        if let Some(key) = &config.messages {
            site.read("/messages", key);
            if site
                .keys
                .get(key)
                .and_then(|key| key.schema.get("type"))
                .is_some_and(|ty| ty != "array")
            {
                site.error(
                    "messages-type",
                    "/messages",
                    format!("State key `{key}` is no list of messages."),
                    "Choose a key of type array.",
                );
            }
        }
        if !scripted
            && config.messages.is_none()
            && config
                .prompt
                .as_ref()
                .is_none_or(|prompt| prompt.trim().is_empty())
        {
            site.error(
                "nothing-to-ask",
                "/prompt",
                "The node asks nothing.",
                "Write a prompt, or choose a state key with messages.",
            );
        }
        let key = site.write("/into", &config.into);
        let message_key = key
            .as_ref()
            .is_some_and(|key| key.reducer == Reducer::AddMessages);
        if let Some(schema) = &config.output {
            site.schema("/output", schema);
            if message_key {
                site.error(
                    "output-into-messages",
                    "/output",
                    format!("State key `{}` takes messages, not JSON.", config.into),
                    "Choose another key, or remove the output schema.",
                );
            }
        } else if let Some(ty) = key.as_ref().and_then(|key| key.schema.get("type"))
            && !message_key
        {
            let reducer = key.as_ref().map_or(Reducer::Overwrite, |key| key.reducer);
            let text_fits = ty == "string"
                || ty
                    .as_array()
                    .is_some_and(|types| types.contains(&json!("string")));
            if !text_fits && !matches!(reducer, Reducer::Append | Reducer::Union) {
                site.error(
                    "into-type",
                    "/into",
                    format!("State key `{}` takes {ty}, but the answer is text.", config.into),
                    "Choose a key of type string, or give an output schema.",
                );
            }
        }
        if scripted && config.script.is_empty() {
            site.error(
                "empty-script",
                "/script",
                "The scripted model has nothing to say.",
                "Add a line to the script, or choose a real model.",
            );
        }
        for (index, line) in config.script.iter().enumerate() {
            match &line.when {
                Some(when) => site.expression(&format!("/script/{index}/when"), when, None),
                None if index + 1 < config.script.len() => site.warning(
                    "unreachable-line",
                    &format!("/script/{}", index + 1),
                    "This line is never said: the one before it has no condition.",
                    "Give the earlier line a `when`, or move it to the end.",
                ),
                None => {}
            }
            site.template(&format!("/script/{index}/say"), &line.say);
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: ModelConfig = site.parse()?;
        let template = |pointer: &str, text: &Option<String>| {
            text.as_ref()
                .filter(|text| !text.trim().is_empty())
                .map(|text| site.template(pointer, text))
                .transpose()
        };
        let mut script = Vec::new();
        for (index, line) in config.script.iter().enumerate() {
            let when = line
                .when
                .as_ref()
                .map(|when| site.expression(&format!("/script/{index}/when"), when))
                .transpose()?;
            script.push((when, site.template(&format!("/script/{index}/say"), &line.say)?));
        }
        let output = match config.output {
            Some(schema) => Some((site.schema("/output", &schema)?, schema)),
            None => None,
        };
        Ok(Arc::new(ModelNode {
            name: site.node.into(),
            system: template("/system", &config.system)?,
            prompt: template("/prompt", &config.prompt)?,
            messages: config.messages,
            as_message: site
                .keys
                .get(&config.into)
                .is_some_and(|key| key.reducer == Reducer::AddMessages),
            into: config.into.into(),
            output,
            temperature: config.temperature,
            max_tokens: config.max_tokens,
            script,
            pace: Duration::from_millis(config.pace_ms),
            providers: site.providers.clone(),
            model: config.model,
        }))
    }
}

struct ModelNode {
    name: Arc<str>,
    model: String,
    system: Option<Template>,
    prompt: Option<Template>,
    messages: Option<String>,
    into: Arc<str>,
    as_message: bool,
    output: Option<(Validator, Json)>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    script: Vec<(Option<Expression>, Template)>,
    pace: Duration,
    providers: Arc<Providers>,
}

impl Node for ModelNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            // One id per task: an answer that is given again after a failure takes the place of the first one.
            let id: Arc<str> = format!("ai-{}", context.info().task_id).into();
            let answer = tokio::select! {
                biased;
                () = context.cancelled() => return Err(NodeError::Cancelled),
                answer = self.answer(&context, &input, &id) => answer?,
            };
            let value = match &self.output {
                Some((validator, _)) => parsed(&answer.text, validator).map_err(|e| e.of_node(&self.name))?,
                None if self.as_message => self.message(&id, answer),
                None => answer.text.into(),
            };
            Ok(NodeOutput::update([(self.into.clone(), value)]))
        })
    }
}

impl ModelNode {
    fn facts(&self) -> Value {
        let (provider, model) = self.model.split_once("::").unwrap_or((SCRIPTED, SCRIPTED));
        superstep::json!({"provider": provider, "model_name": model})
    }

    async fn answer(&self, context: &NodeContext, input: &Value, id: &Arc<str>) -> Result<Answer, NodeError> {
        let scope = Scope::new(input);
        let facts = self.facts();
        let chunk = |piece: &str| {
            let fields: [(&str, Value); 4] = [
                ("type", "AIMessageChunk".into()),
                ("id", id.clone().into()),
                ("content", piece.into()),
                ("response_metadata", facts.clone()),
            ];
            context.message(Value::Object(fields.into_iter().collect::<Object>()))
        };
        if self.model == SCRIPTED {
            let text = self.line(&scope)?;
            let mut words = text.split_inclusive(char::is_whitespace).peekable();
            while let Some(word) = words.next() {
                chunk(word).await;
                if words.peek().is_some() && !self.pace.is_zero() {
                    tokio::time::sleep(self.pace).await;
                }
            }
            return Ok(Answer {
                text,
                ..Answer::default()
            });
        }
        let request = Request {
            messages: self.conversation(&scope, input)?,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            output: self.output.as_ref().map(|(_, schema)| sent(schema)),
        };
        let failed = |e: ModelError| e.of_node(&self.name);
        let mut reply = self.providers.ask(&self.model, &request).await.map_err(failed)?;
        while let Some(piece) = reply.next().await.map_err(failed)? {
            chunk(&piece).await;
        }
        Ok(reply.into_answer())
    }

    fn line(&self, scope: &Scope) -> Result<String, NodeError> {
        for (when, say) in &self.script {
            if when.as_ref().map_or(Ok(true), |when| when.truth(scope))? {
                return Ok(say.render(scope)?);
            }
        }
        Err(NodeError::new(
            "ModelScriptError",
            format!(
                "node {}: no line of the script applies to this state. Add a line without `when` at the end of the script.",
                self.name
            ),
        ))
    }

    fn conversation(&self, scope: &Scope, input: &Value) -> Result<Vec<Value>, NodeError> {
        let message = |kind: &str, text: String| superstep::json!({"type": kind, "content": text});
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            messages.push(message("system", system.render(scope)?));
        }
        if let Some(key) = &self.messages {
            match input.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::Array(list)) => messages.extend(list.iter().cloned()),
                Some(one) => messages.push(one.clone()),
            }
        }
        if let Some(prompt) = &self.prompt {
            messages.push(message("human", prompt.render(scope)?));
        }
        if messages
            .iter()
            .all(|message| message.get("type").and_then(Value::as_str) == Some("system"))
        {
            return Err(NodeError::new(
                "ModelInputError",
                format!(
                    "node {}: there is nothing to ask, the list of messages is empty. Give the run an input message.",
                    self.name
                ),
            ));
        }
        Ok(messages)
    }

    /// A message as LangGraph stores it.
    fn message(&self, id: &Arc<str>, answer: Answer) -> Value {
        let mut facts = Json::from(self.facts());
        if let (Some(fields), Some(stop)) = (facts.as_object_mut(), answer.stop) {
            fields.insert("stop_reason".into(), stop.into());
        }
        superstep::json!({
            "type": "ai", "id": **id, "content": answer.text, "name": null,
            "additional_kwargs": {}, "response_metadata": facts,
            "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": answer.usage,
        })
    }
}

/// The member that carries an answer which is no object.
const CARRIER: &str = "answer";

/// The schema as providers take it: they insist on an object at the top.
fn sent(schema: &Json) -> Json {
    if schema.get("type").is_some_and(|ty| ty == "object") {
        return schema.clone();
    }
    json!({
        "type": "object", "properties": {CARRIER: schema}, "required": [CARRIER], "additionalProperties": false,
    })
}

/// Reads the JSON of an answer; models like to wrap it in a code block.
fn parsed(text: &str, validator: &Validator) -> Result<Value, ModelError> {
    let bad = |cause: String| ModelError::BadOutput {
        cause,
        answer: text.chars().take(500).collect(),
    };
    let mut body = text.trim();
    if let Some(inner) = body.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        body = inner.strip_prefix("json").unwrap_or(inner).trim();
    }
    let mut json: Json = serde_json::from_str(body).map_err(|e| bad(e.to_string()))?;
    if let Json::Object(fields) = &mut json
        && fields.len() == 1
        && fields.contains_key(CARRIER)
        && !validator.is_valid(&Json::Object(fields.clone()))
    {
        json = fields.remove(CARRIER).unwrap_or_default();
    }
    let problem = validator
        .iter_errors(&json)
        .next()
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{error} (at {path})"),
        });
    match problem {
        Some(cause) => Err(bad(cause)),
        None => Ok(json.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_answers_are_read_and_checked() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert_eq!(
            parsed("{\"n\": 1}", &validator).unwrap(),
            superstep::json!({"n": 1})
        );
        assert_eq!(
            parsed("```json\n{\"n\": 1}\n```", &validator).unwrap(),
            superstep::json!({"n": 1})
        );
        let list = jsonschema::validator_for(&json!({"type": "array"})).unwrap();
        assert_eq!(parsed("[1]", &list).unwrap(), superstep::json!([1]));
        assert_eq!(
            parsed("{\"answer\": [1]}", &list).unwrap(),
            superstep::json!([1]),
            "unpacked"
        );
        for (wrong, part) in [
            ("sure!", "expected value"),
            ("{}", "\"n\" is a required property"),
            ("{\"n\": \"x\"}", "at /n"),
        ] {
            let text = parsed(wrong, &validator).unwrap_err().to_string();
            assert!(text.contains(part) && text.contains(wrong), "{text}");
        }
    }
}
