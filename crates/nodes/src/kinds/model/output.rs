//! Structured output: the schema as it is sent, and the answer as it is read.

use serde_json::{Value as Json, json};
use superstep::Value;

use crate::base::json::{read_json, without_halves};
use crate::base::schema_validator::SchemaValidator;
use crate::models::ModelError;

/// The member that carries an answer which is no object.
const CARRIER: &str = "answer";
/// Most places at which JSON may begin within prose that are tried.
const MAX_BEGINNINGS: usize = 64;

/// Converts the schema to the form that providers accept: they insist on an object at the top.
pub(super) fn sent(schema: &Json) -> Json {
    if schema.get("type").is_some_and(|ty| ty == "object") {
        return schema.clone();
    }
    json!({
        "type": "object", "properties": {CARRIER: schema}, "required": [CARRIER], "additionalProperties": false,
    })
}

/// Reads the JSON of an answer; models like to wrap it in a code block, or to talk about it. Where `schema` lists texts, one of them may be
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
    let json = match read_json(body.as_bytes()) {
        Ok(json) => unpacked(json, shape),
        Err(error) => {
            let found = listed(schema, body).or_else(|| embedded(body, shape).map(Value::from));
            return found.ok_or_else(|| bad(error.to_string()));
        }
    };
    match shape.misfit(&json) {
        Some(misfit) => listed(schema, body)
            .or_else(|| listed(schema, &json.to_string()))
            .ok_or_else(|| bad(misfit.to_string())),
        None => Ok(json.into()),
    }
}

/// Returns what an object with nothing else carries.
fn unpacked(mut json: Json, shape: &SchemaValidator) -> Json {
    let carries = json
        .as_object()
        .is_some_and(|fields| fields.len() == 1 && fields.contains_key(CARRIER));
    match carries && !shape.fits(&json) {
        true => json[CARRIER].take(),
        false => json,
    }
}

/// Returns the one object or list within prose that fits. Of several that differ nobody knows which is meant.
fn embedded(text: &str, shape: &SchemaValidator) -> Option<Json> {
    let bytes = without_halves(text.as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    let mut found: Vec<Json> = Vec::new();
    let mut at = 0;
    for _ in 0..MAX_BEGINNINGS {
        let Some(next) = text[at..].find(['{', '[']) else {
            break;
        };
        at += next;
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Json>();
        let Some(Ok(json)) = values.next() else {
            at += 1;
            continue;
        };
        at += values.byte_offset();
        let json = unpacked(json, shape);
        if shape.fits(&json) && !found.contains(&json) {
            found.push(json);
        }
    }
    found.pop().filter(|_| found.is_empty())
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
    fn an_object_is_taken_out_of_prose_and_fences() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let shape = SchemaValidator::new(&schema).unwrap();
        for text in [
            "Here it is:\n```json\n{\"n\": 1}\n```\nAnything else?",
            "The set {x} has one: {\"n\": 1}.",
            "{\"n\": 1} and again {\"n\": 1}",
            "{\"m\": 2} is wrong, {\"n\": 1} is right [sic]",
            "It is {\"answer\": {\"n\": 1}}",
        ] {
            assert_eq!(
                parsed(text, &shape, &schema).unwrap(),
                superstep::json!({"n": 1}),
                "{text}"
            );
        }
        for text in [
            "{\"n\": 1} or {\"n\": 2}",
            "{\"n\": \"x\"} it is",
            "n is 1",
            "{\"n\": 1",
        ] {
            assert!(parsed(text, &shape, &schema).is_err(), "{text}");
        }
        let text = json!({"type": "object", "properties": {"t": {"type": "string"}}});
        let shape = SchemaValidator::new(&text).unwrap();
        assert_eq!(
            parsed("{\"t\": \"cut \\ud83d\"}", &shape, &text).unwrap(),
            superstep::json!({"t": "cut \u{fffd}"})
        );
        assert_eq!(
            parsed("It is {\"t\": \"cut \\ud83d\"}.", &shape, &text).unwrap(),
            superstep::json!({"t": "cut \u{fffd}"})
        );
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
