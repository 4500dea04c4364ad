//! Structured output: the schema as it is sent, and the answer as it is read.

use serde_json::{Value as Json, json};
use superstep::Value;

use crate::base::schema_validator::SchemaValidator;
use crate::models::ModelError;

/// The member that carries an answer which is no object.
const CARRIER: &str = "answer";

/// Converts the schema to the form that providers accept: they insist on an object at the top.
pub(super) fn sent(schema: &Json) -> Json {
    if schema.get("type").is_some_and(|ty| ty == "object") {
        return schema.clone();
    }
    json!({
        "type": "object", "properties": {CARRIER: schema}, "required": [CARRIER], "additionalProperties": false,
    })
}

/// Reads the JSON of an answer; models like to wrap it in a code block. Where `schema` lists texts, one of them may be
/// written without quotes, also when it looks like a number.
pub(super) fn parsed(text: &str, shape: &SchemaValidator, schema: &Json) -> Result<Value, ModelError> {
    let bad = |cause: String| ModelError::BadOutput {
        cause,
        answer: text.chars().take(500).collect(),
    };
    let mut body = text.trim();
    if let Some(inner) = body.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        body = inner.strip_prefix("json").unwrap_or(inner).trim();
    }
    let mut json: Json = match serde_json::from_str(body) {
        Ok(json) => json,
        Err(error) => return listed(schema, body).ok_or_else(|| bad(error.to_string())),
    };
    if let Json::Object(fields) = &mut json
        && fields.len() == 1
        && fields.contains_key(CARRIER)
        && !shape.fits(&Json::Object(fields.clone()))
    {
        json = fields.remove(CARRIER).unwrap_or_default();
    }
    match shape.misfit(&json) {
        Some(misfit) => listed(schema, body)
            .or_else(|| listed(schema, &json.to_string()))
            .ok_or_else(|| bad(misfit.to_string())),
        None => Ok(json.into()),
    }
}

/// Returns the text if it is one of the texts that `schema` lists.
fn listed(schema: &Json, text: &str) -> Option<Value> {
    let values = schema.get("enum")?.as_array()?;
    values
        .iter()
        .any(|value| value == text)
        .then(|| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_answers_are_read_and_checked() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let shape = SchemaValidator::new(&schema).unwrap();
        let parsed = |text: &str, shape: &SchemaValidator| super::parsed(text, shape, &schema);
        assert_eq!(parsed("{\"n\": 1}", &shape).unwrap(), superstep::json!({"n": 1}));
        assert_eq!(
            parsed("```json\n{\"n\": 1}\n```", &shape).unwrap(),
            superstep::json!({"n": 1})
        );
        let list = SchemaValidator::new(&json!({"type": "array"})).unwrap();
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
            let text = parsed(wrong, &shape).unwrap_err().to_string();
            assert!(text.contains(part) && text.contains(wrong), "{text}");
        }
    }
    #[test]
    fn a_listed_text_is_taken_with_and_without_quotes_also_when_it_looks_like_a_number() {
        let schema = json!({"type": "string", "enum": ["1", "007", "true", "refund"]});
        let shape = SchemaValidator::new(&schema).unwrap();
        for (answer, label) in [
            ("\"1\"", "1"),
            ("1", "1"),
            ("{\"answer\": \"1\"}", "1"),
            ("{\"answer\": 1}", "1"),
            ("```\n007\n```", "007"),
            ("true", "true"),
            ("refund", "refund"),
        ] {
            assert_eq!(
                parsed(answer, &shape, &schema).unwrap(),
                superstep::json!(label),
                "{answer}"
            );
        }
        for answer in ["2", "{\"answer\": 2}", "refunds", "[1]"] {
            assert!(parsed(answer, &shape, &schema).is_err(), "{answer}");
        }
        let numbers = json!({"enum": [1, "1"]});
        let numbers_shape = SchemaValidator::new(&numbers).unwrap();
        assert_eq!(
            parsed("1", &numbers_shape, &numbers).unwrap(),
            superstep::json!(1),
            "JSON first"
        );
    }
}
