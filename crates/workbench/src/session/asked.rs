//! What a question says, from the value that a node gave.

use superstep::Value;

use super::tool_calls::tool_calls;
use crate::wire::{Asked, Choice, Json};

/// Returns a question about tool calls in a public form of another program as the `ask` kind asks, with an example of
/// each answer among its choices; any other value as it is.
pub fn as_question(value: &Value) -> Json {
    match tool_calls(value).filter(|_| value.get("question").is_none()) {
        Some(calls) => serde_json::json!({
            "question": calls.text(), "context": calls.context(), "choices": calls.examples(),
        }),
        None => value.into(),
    }
}

/// Parses what is asked from the value that a node gave: the fields of the `ask` kind, tool calls in a public form of another
/// program, or any other value as text.
pub(crate) fn asked(value: &Value) -> Asked {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let nothing = || Json::Object(serde_json::Map::new());
    let Some(question) = text("question") else {
        if let Some(calls) = tool_calls(value) {
            return Asked {
                text: calls.text(),
                schema: Some(calls.schema()),
                choices: calls.choices(),
                context: calls.context(),
                refused: text("refused"),
                value: value.into(),
                calls: Some(calls),
            };
        }
        let shown = match value {
            Value::String(text) => text.to_string(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        return Asked {
            text: shown,
            schema: None,
            choices: Vec::new(),
            context: nothing(),
            refused: None,
            value: value.into(),
            calls: None,
        };
    };
    let choices = value.get("choices").and_then(Value::as_array);
    let choices = choices
        .iter()
        .flat_map(|choices| choices.iter())
        .filter_map(|choice| {
            let value = choice.get("value")?;
            let shown = || value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(Choice {
                label: choice
                    .get("label")
                    .and_then(Value::as_str)
                    .map_or_else(shown, str::to_owned),
                value: value.into(),
                description: choice
                    .get("description")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            })
        })
        .collect();
    let schema = value.get("schema").filter(|schema| !schema.is_null());
    let context = value
        .get("context")
        .filter(|context| context.as_object().is_some());
    Asked {
        text: question,
        schema: schema.map(Into::into),
        choices,
        context: context.map_or_else(nothing, Into::into),
        refused: text("refused"),
        value: value.into(),
        calls: None,
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn any_value_can_be_a_question() {
        let question = asked(&json!({
            "question": "Pay?", "schema": {"type": "string"},
            "choices": [{"label": "Yes", "value": true}, {"value": {"a": 1}}, "odd"],
            "context": {"amount": 3}, "refused": "too short"
        }));
        assert_eq!(question.text, "Pay?");
        assert_eq!(question.schema.unwrap()["type"], "string");
        let choices = question.choices;
        assert_eq!(
            choices.iter().map(|c| c.label.as_str()).collect::<Vec<_>>(),
            ["Yes", "{\"a\":1}"]
        );
        assert_eq!(
            (question.context["amount"].as_i64(), question.refused.as_deref()),
            (Some(3), Some("too short"))
        );
        let call = json!({"action_requests": [{"name": "pay", "args": {"eur": 9}}], "refused": "no"});
        let question = asked(&call);
        assert_eq!(
            (question.text.as_str(), question.refused.as_deref()),
            ("May the tool `pay` run?", Some("no"))
        );
        assert_eq!(question.calls.unwrap().calls[0].name, "pay");
        assert_eq!(
            as_question(&call)["choices"][0]["value"]["decisions"][0]["type"],
            "approve"
        );
        assert_eq!(as_question(&json!("really?")), "really?");
        // A tool of ours names its call like this too, and has a form of its own.
        let own =
            json!({"question": "Run?", "action_requests": [{"name": "pay", "args": {}}], "choices": []});
        assert!(asked(&own).calls.is_none());
        assert_eq!(as_question(&own)["question"], "Run?");
        assert_eq!(asked(&json!("really?")).text, "really?");
        assert_eq!(asked(&json!(["a", 1])).text, "[\n  \"a\",\n  1\n]");
    }
}
