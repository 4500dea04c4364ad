//! Reducers as a user writes them, by the names that cases give them; `python/record.py` has the same.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use superstep::graph::BinaryOp;

use crate::expression::holds;

type Reducer = fn(Value, Value) -> Result<Value, String>;

fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        one => vec![one],
    }
}

fn newest_three(old: Value, new: Value) -> Result<Value, String> {
    let mut all = items(old);
    all.extend(items(new));
    Ok(all.split_off(all.len().saturating_sub(3)).into())
}

fn tally(old: Value, new: Value) -> Result<Value, String> {
    let mut counts: Map<String, Value> = old.as_object().cloned().unwrap_or_default();
    let more: Vec<(String, u64)> = match new {
        Value::Object(more) => more
            .into_iter()
            .map(|(word, count)| (word, count.as_u64().unwrap_or_default()))
            .collect(),
        words => items(words)
            .iter()
            .map(|word| (word.as_str().unwrap_or_default().to_owned(), 1))
            .collect(),
    };
    for (word, count) in more {
        let before = counts.get(&word).and_then(Value::as_u64).unwrap_or_default();
        counts.insert(word, (before + count).into());
    }
    Ok(counts.into())
}

fn longest(old: Value, new: Value) -> Result<Value, String> {
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    Ok(if length(&new) > length(&old) { new } else { old })
}

fn first(old: Value, new: Value) -> Result<Value, String> {
    Ok(if holds(&old) { old } else { new })
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

fn difference(old: Value, new: Value) -> Result<Value, String> {
    Ok((whole(&old) - whole(&new)).into())
}

fn sentence(old: Value, new: Value) -> Result<Value, String> {
    let (before, after) = (old.as_str().unwrap_or_default(), new.as_str().unwrap_or_default());
    Ok(if before.is_empty() {
        json!(after)
    } else {
        format!("{before}, {after}").into()
    })
}

fn positive(old: Value, new: Value) -> Result<Value, String> {
    match whole(&new) {
        new if new < 0 => Err(format!("{new} is negative")),
        new => Ok((whole(&old) + new).into()),
    }
}

fn named(name: &str) -> Option<Reducer> {
    Some(match name {
        "newest_three" => newest_three,
        "tally" => tally,
        "longest" => longest,
        "first" => first,
        "difference" => difference,
        "sentence" => sentence,
        "positive" => positive,
        _ => return None,
    })
}

/// Returns the operator of this name.
pub(crate) fn operator(name: &str) -> Option<BinaryOp> {
    let reducer = named(name)?;
    let join = move |old: &superstep::Value, new: &superstep::Value| {
        reducer(old.into(), new.into()).map(superstep::Value::from)
    };
    Some(BinaryOp::Custom(name.into(), Arc::new(join)))
}
