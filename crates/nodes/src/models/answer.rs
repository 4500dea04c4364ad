//! What a model answers: the pieces on their way, and the whole with its calls, tokens and cost.

use genai::chat::Usage as GenaiUsage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use superstep::Value;
use superstep::value::Object;

use crate::base::json::read_json;

/// A piece of an answer that is on its way.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerPiece {
    /// Of the text.
    Text(String),
    /// Of the reasoning before it.
    Reasoning(String),
    /// Of a call of a tool.
    Call(CallPiece),
}

/// A piece of a call; `id` and `name` come with the first one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CallPiece {
    /// Which call of the answer, from zero.
    pub index: usize,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A piece of the arguments' JSON.
    #[serde(default)]
    pub args: String,
}

/// A call that a model makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id, which the tool's message names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, or why they are none.
    pub args: Result<Object, InvalidArgs>,
}

/// Converts the arguments of a call to JSON.
pub(crate) fn args_json(args: &Object) -> Json {
    Json::from(&Value::Object(args.clone()))
}

/// Arguments that are no JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct InvalidArgs {
    /// What the model wrote.
    pub text: String,
    /// What is wrong with it.
    pub cause: String,
}

impl ToolCall {
    pub(super) fn of(id: String, name: String, args: Json) -> Self {
        let args = match args {
            Json::Object(_) => Ok(args),
            Json::Null => Ok(json!({})),
            // A tool without arguments is often called with nothing.
            Json::String(text) if text.trim().is_empty() => Ok(json!({})),
            Json::String(text) => match read_json(text.as_bytes()) {
                Ok(json @ Json::Object(_)) => Ok(json),
                Ok(Json::Null) => Ok(json!({})),
                Ok(_) => Err((text, "the arguments are no JSON object".to_owned())),
                Err(e) => Err((text, format!("the arguments are no JSON: {e}"))),
            },
            other => Err((other.to_string(), "the arguments are no JSON object".to_owned())),
        };
        let args = match args.map(Value::from) {
            Ok(Value::Object(args)) => Ok(args),
            Ok(_) => Ok(Object::new()),
            Err((text, cause)) => Err(InvalidArgs { text, cause }),
        };
        Self { id, name, args }
    }

    /// Returns the calls of an ai message in stored form, the invalid ones last.
    pub fn all_of(message: &Value) -> Vec<Self> {
        let list = |key: &str| {
            message
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let text = |call: &Value, key: &str| {
            let text = call.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let mut calls = Vec::new();
        for call in list("tool_calls").iter() {
            let args = call.get("args").cloned().unwrap_or_default();
            calls.push(Self::of(text(call, "id"), text(call, "name"), Json::from(&args)));
        }
        for call in list("invalid_tool_calls").iter() {
            calls.push(Self {
                id: text(call, "id"),
                name: text(call, "name"),
                args: Err(InvalidArgs {
                    text: text(call, "args"),
                    cause: text(call, "error"),
                }),
            });
        }
        calls
    }
}

/// Tokens that an answer used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Sent, the cached ones included.
    pub input: u64,
    /// Answered, reasoning included.
    pub output: u64,
    /// Both, as the provider counts.
    pub total: u64,
    /// Of the sent ones: those that the provider still had.
    pub cached: u64,
    /// Of the sent ones: those that it keeps from now on.
    pub cache_written: u64,
    /// Of the answered ones: reasoning.
    pub reasoning: u64,
}

impl TokenUsage {
    pub(super) fn of(usage: &GenaiUsage) -> Option<Self> {
        let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
        if usage.prompt_tokens.is_none() && usage.completion_tokens.is_none() {
            return None;
        }
        let (input, output) = (count(usage.prompt_tokens), count(usage.completion_tokens));
        let sent = usage.prompt_tokens_details.as_ref();
        let answered = usage.completion_tokens_details.as_ref();
        Some(Self {
            input,
            output,
            total: usage
                .total_tokens
                .map_or(input + output, |total| count(Some(total))),
            cached: count(sent.and_then(|details| details.cached_tokens)),
            cache_written: count(sent.and_then(|details| details.cache_creation_tokens)),
            reasoning: count(answered.and_then(|details| details.reasoning_tokens)),
        })
    }

    /// Converts the usage to the form of `usage_metadata`.
    pub fn json(&self) -> Json {
        let mut json = json!({
            "input_tokens": self.input, "output_tokens": self.output, "total_tokens": self.total});
        let details = |list: [(&str, u64); 2]| {
            let given = list.into_iter().filter(|(_, tokens)| *tokens > 0);
            let given: Map<String, Json> = given
                .map(|(name, tokens)| (name.to_owned(), tokens.into()))
                .collect();
            (!given.is_empty()).then_some(given)
        };
        if let Some(given) = details([
            ("cache_read", self.cached),
            ("cache_creation", self.cache_written),
        ]) {
            json["input_token_details"] = given.into();
        }
        if let Some(given) = details([("reasoning", self.reasoning), ("", 0)]) {
            json["output_token_details"] = given.into();
        }
        json
    }
}

/// Content and details of a model's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    /// The text.
    pub text: String,
    /// The reasoning before it, where the provider shows it.
    pub reasoning: String,
    /// Signed or encrypted reasoning that the provider wants back, as blocks of its own form.
    pub thinking: Vec<Json>,
    /// Signatures of calls, by the call's id.
    pub signatures: Map<String, Json>,
    /// Calls of tools.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens used, when the provider says.
    pub usage: Option<TokenUsage>,
    /// `{amount, currency, prices}`, when there is a price.
    pub cost: Option<Json>,
    /// Why it stopped, in the provider's word.
    pub stop: Option<String>,
    /// The model that answered, in the provider's word.
    pub model: Option<String>,
}

/// Origin of an answer, in the form of `response_metadata`.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The provider.
    pub provider: String,
    /// The connection, when it is no provider's own.
    pub connection: Option<String>,
    /// The model that was asked.
    pub model: String,
}

impl Facts {
    /// Converts the facts to an object.
    pub fn json(&self) -> Map<String, Json> {
        let mut facts = Map::new();
        facts.insert("provider".into(), self.provider.clone().into());
        if let Some(connection) = &self.connection {
            facts.insert("connection".into(), connection.clone().into());
        }
        facts.insert("model_name".into(), self.model.clone().into());
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_calls_are_objects_or_say_why_not() {
        let args = |args: Json| ToolCall::of("t".into(), "f".into(), args).args;
        assert_eq!(args(json!({"a": 1})).unwrap().len(), 1);
        assert_eq!(args(json!("{\"a\": 1}")).unwrap().len(), 1);
        for nothing in [json!(""), json!(null), json!("{}"), json!("null")] {
            assert!(args(nothing).unwrap().is_empty());
        }
        assert!(args(json!("{oops")).unwrap_err().cause.contains("no JSON"));
        assert!(args(json!([1])).unwrap_err().cause.contains("no JSON object"));
    }
}
