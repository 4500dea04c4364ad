//! Values of a case: JSON in which an object with one key that begins with `$` is computed.
//!
//! `python/expressions.py` computes the same. Nonsense (an index into a number) gives null rather than an error:
//! cases are written so that it does not happen.

use serde_json::{Map, Value, json};

/// Variables that expressions see, by name.
pub(crate) type Scope = Map<String, Value>;

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn at(list: &Value, index: i64) -> Value {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let place = if index < 0 {
        index + list.len() as i64
    } else {
        index
    };
    usize::try_from(place)
        .ok()
        .and_then(|place| list.get(place))
        .cloned()
        .unwrap_or_default()
}

fn look(path: &str, scope: &Scope) -> Value {
    let mut parts = path.split('.');
    let mut value = parts
        .next()
        .and_then(|name| scope.get(name))
        .cloned()
        .unwrap_or_default();
    for part in parts {
        value = match &value {
            Value::Object(object) => object.get(part).cloned().unwrap_or_default(),
            list => part.parse().map(|index| at(list, index)).unwrap_or_default(),
        };
    }
    value
}

fn fill(template: &str, scope: &Scope) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (path, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(&text(&look(path, scope)));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns whether a condition holds. As in Python, null, zero and empty values are false.
pub(crate) fn holds(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

fn plus(a: Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Array(mut a), Value::Array(b)) => {
            a.extend(b.iter().cloned());
            Value::Array(a)
        }
        (Value::String(a), Value::String(b)) => (a + b).into(),
        (a, b) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => (a + b).into(),
            _ => json!(a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()),
        },
    }
}

fn less(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_str() < b.as_str(),
    }
}

/// Returns the value with everything computed.
pub(crate) fn compute(value: &Value, scope: &Scope) -> Value {
    let object = match value {
        Value::Array(list) => return list.iter().map(|item| compute(item, scope)).collect(),
        Value::Object(object) => object,
        plain => return plain.clone(),
    };
    if object.len() == 1
        && let Some((name, argument)) = object.iter().next()
        && let Some(function) = name.strip_prefix('$')
    {
        return call(function, argument, scope);
    }
    object
        .iter()
        .map(|(key, item)| (key.clone(), compute(item, scope)))
        .collect()
}

fn call(function: &str, argument: &Value, scope: &Scope) -> Value {
    match function {
        "" => return look(argument.as_str().unwrap_or_default(), scope),
        "text" => return fill(argument.as_str().unwrap_or_default(), scope).into(),
        "literal" => return argument.clone(),
        "if" => {
            let which = if holds(&compute(&argument[0], scope)) {
                1
            } else {
                2
            };
            return compute(&argument[which], scope);
        }
        "map" => {
            let items = compute(&argument[0], scope);
            let each = |item: &Value| {
                let mut inner = scope.clone();
                inner.insert("item".into(), item.clone());
                compute(&argument[1], &inner)
            };
            return items
                .as_array()
                .map(|items| items.iter().map(each).collect())
                .unwrap_or_else(|| json!([]));
        }
        _ => {}
    }
    let given = compute(argument, scope);
    let list = || given.as_array().cloned().unwrap_or_default();
    match function {
        "add" => list().into_iter().reduce(|a, b| plus(a, &b)).unwrap_or_default(),
        "len" => match &given {
            Value::Array(list) => list.len(),
            Value::Object(object) => object.len(),
            Value::String(text) => text.chars().count(),
            _ => 0,
        }
        .into(),
        "eq" => (given[0] == given[1]).into(),
        "lt" => less(&given[0], &given[1]).into(),
        "in" => given[1]
            .as_array()
            .is_some_and(|items| items.contains(&given[0]))
            .into(),
        "not" => (!holds(&given)).into(),
        "or" => {
            let items = list();
            items
                .iter()
                .find(|item| holds(item))
                .or(items.last())
                .cloned()
                .unwrap_or_default()
        }
        "mod" => match (given[0].as_i64(), given[1].as_i64()) {
            (Some(a), Some(b)) if b != 0 => a.rem_euclid(b).into(),
            _ => Value::Null,
        },
        "at" => at(&given[0], given[1].as_i64().unwrap_or_default()),
        "tail" => list().into_iter().skip(1).collect(),
        "message" => message(&given),
        _ => Value::Null,
    }
}

/// Builds a whole message, in the shape that states hold.
fn message(given: &Value) -> Value {
    superstep::value::coerce_message(&given.clone().into())
        .map(Value::from)
        .unwrap_or_else(|_| given.clone())
}

/// Converts JSON to the values that a node returns: the case's notation for overwrites becomes the engine's form.
pub(crate) fn thaw(value: Value) -> Value {
    match value {
        Value::Object(object) if object.len() == 1 && object.contains_key("overwrite") => {
            json!({"__overwrite__": thaw(object["overwrite"].clone())})
        }
        Value::Object(object) => object.into_iter().map(|(key, item)| (key, thaw(item))).collect(),
        Value::Array(list) => list.into_iter().map(thaw).collect(),
        plain => plain,
    }
}
