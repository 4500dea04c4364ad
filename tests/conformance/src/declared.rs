//! The context that a graph of a case declares, checked as a dataclass of Python checks it.

use serde_json::{Map, Value};
use superstep::graph::ContextSchema;

/// Formats names as `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [a, b] => format!("{a} and {b}"),
        [all @ .., last] => format!("{}, and {last}", all.join(", ")),
    }
}

fn read(fields: &Map<String, Value>, given: Value) -> Result<Value, String> {
    // A value that is no object is passed on.
    let Value::Object(mut given) = given else {
        return Ok(given);
    };
    if let Some(key) = given.keys().find(|key| !fields.contains_key(*key)) {
        return Err(format!(
            "Context.__init__() got an unexpected keyword argument '{key}'"
        ));
    }
    let is_missing = |key: &&String, spec: &Value| !given.contains_key(*key) && spec.get("default").is_none();
    let missing: Vec<&str> = fields
        .iter()
        .filter(|(key, spec)| is_missing(key, spec))
        .map(|(key, _)| key.as_str())
        .collect();
    if !missing.is_empty() {
        let many = if missing.len() == 1 { "" } else { "s" };
        return Err(format!(
            "Context.__init__() missing {} required keyword-only argument{many}: {}",
            missing.len(),
            listed(&missing)
        ));
    }
    let field = |(key, spec): (&String, &Value)| {
        let value = given.remove(key).or_else(|| spec.get("default").cloned());
        (key.clone(), value.unwrap_or_default())
    };
    Ok(fields.iter().map(field).collect())
}

/// Builds the context schema that a case declares.
pub(crate) fn context_schema(spec: &Value) -> ContextSchema {
    let fields = spec["fields"].as_object().cloned().unwrap_or_default();
    let is_typed = spec["typed"] == true;
    ContextSchema::checked(move |given| match is_typed {
        true => Ok(given),
        false => read(&fields, given.into()).map(superstep::Value::from),
    })
}
