//! Makes a case that differs as small as it gets: parts are taken away while the difference stays.

use serde_json::Value;

/// Returns the smallest case found for which `differs` still holds. `differs` is called at most `limit` times.
pub fn shrink(case: Value, limit: usize, mut differs: impl FnMut(&Value) -> bool) -> Value {
    let mut best = case;
    let mut left = limit;
    loop {
        let mut smaller = None;
        for candidate in candidates(&best) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if differs(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(candidate) => best = candidate,
            None => return best,
        }
    }
}

fn without(value: &Value, pointer: &str, index: usize) -> Option<Value> {
    let mut smaller = value.clone();
    match smaller.pointer_mut(pointer)? {
        Value::Array(items) => drop(items.remove(index)),
        Value::Object(fields) => {
            let key = fields.keys().nth(index)?.clone();
            fields.shift_remove(&key);
        }
        _ => return None,
    }
    Some(smaller)
}

fn size(value: &Value, pointer: &str) -> usize {
    match value.pointer(pointer) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(fields)) => fields.len(),
        _ => 0,
    }
}

/// Returns cases with one part less, the biggest parts first.
fn candidates(case: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut each = |pointer: &str| {
        for index in (0..size(case, pointer)).rev() {
            found.extend(without(case, pointer, index));
        }
    };
    each("/script");
    each("/graph/nodes");
    each("/graph/graphs");
    each("/graph/edges");
    let nodes: Vec<String> = case
        .pointer("/graph/nodes")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    for node in &nodes {
        each(&format!("/graph/nodes/{node}/do"));
        each(&format!("/graph/nodes/{node}"));
    }
    let graphs: Vec<String> = case
        .pointer("/graph/graphs")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    for graph in graphs {
        each(&format!("/graph/graphs/{graph}/edges"));
        each(&format!("/graph/graphs/{graph}/nodes"));
    }
    for index in 0..size(case, "/script") {
        for (place, (key, _)) in case["script"][index]
            .as_object()
            .into_iter()
            .flatten()
            .enumerate()
            .collect::<Vec<_>>()
        {
            if !matches!(key.as_str(), "op" | "input" | "command" | "values") {
                found.extend(without(case, &format!("/script/{index}"), place));
            }
        }
    }
    for index in 0..size(case, "/graph/edges") {
        let edge = format!("/graph/edges/{index}");
        if size(case, &format!("{edge}/from")) > 2 {
            found.extend(
                (0..size(case, &format!("{edge}/from")))
                    .filter_map(|k| without(case, &format!("{edge}/from"), k)),
            );
        }
        let options = format!("{edge}/route/$at/0");
        for k in 0..size(case, &options) {
            if size(case, &options) > 1 {
                found.extend(without(case, &options, k));
            }
            let inner = format!("{options}/{k}");
            found.extend((0..size(case, &inner)).filter_map(|m| without(case, &inner, m)));
        }
    }
    found
}
