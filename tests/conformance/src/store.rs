//! What nodes of a case do with the store, and what a store holds in the end.

use std::sync::Arc;

use serde_json::{Value, json};
use superstep::store::{Item, NamespaceQuery, StoreError, StoreQuery};
use superstep::{NodeError, Store};

use crate::build::texts;

fn failed(error: StoreError) -> NodeError {
    NodeError::new("StoreError", error.to_string())
}

fn shown(item: &Item) -> Value {
    let value = superstep::Value::Object(item.value.clone());
    json!({"namespace": item.namespace, "key": item.key, "value": Value::from(value)})
}

/// Sorts items by their names, because LangGraph's stores have orders of their own.
fn in_order(items: &[Item]) -> Value {
    let mut items: Vec<&Item> = items.iter().collect();
    items.sort_by(|a, b| (&a.namespace, &a.key).cmp(&(&b.namespace, &b.key)));
    items.into_iter().map(shown).collect()
}

/// Performs one action and returns what the store answers.
pub(crate) async fn use_store(store: Option<&Arc<dyn Store>>, spec: &Value) -> Result<Value, NodeError> {
    let invalid = || NodeError::new("InvalidCase", format!("unknown store action {spec}"));
    let store = store.ok_or_else(|| NodeError::new("InvalidCase", "the graph has no store"))?;
    let (verb, given) = spec
        .as_object()
        .and_then(|spec| spec.iter().next())
        .ok_or_else(invalid)?;
    let labels = texts(given.get("namespace"));
    let namespace: Vec<&str> = labels.iter().map(String::as_str).collect();
    let key = given.get("key").and_then(Value::as_str).unwrap_or_default();
    Ok(match verb.as_str() {
        "put" => {
            let value = given.get("value").cloned().unwrap_or_default();
            store.put(&namespace, key, value.into()).await.map_err(failed)?;
            Value::Null
        }
        "delete" => {
            store.delete(&namespace, key).await.map_err(failed)?;
            Value::Null
        }
        "get" => match store.get(&namespace, key).await.map_err(failed)? {
            Some(item) => shown(&item),
            None => Value::Null,
        },
        "search" => {
            let query = all_below(labels).filter(given.get("filter").cloned().unwrap_or_default().into());
            in_order(&store.search(query).await.map_err(failed)?)
        }
        "namespaces" => {
            let query = NamespaceQuery::default()
                .prefix(texts(given.get("prefix")))
                .suffix(texts(given.get("suffix")))
                .max_depth(
                    given
                        .get("max_depth")
                        .and_then(Value::as_u64)
                        .map(|depth| depth as usize),
                );
            let found = store.list_namespaces(query).await.map_err(failed)?;
            json!(found)
        }
        _ => return Err(invalid()),
    })
}

fn all_below(prefix: Vec<String>) -> StoreQuery {
    StoreQuery::default().prefix(prefix).limit(1000)
}

/// Reads all items of a store.
pub(crate) async fn stored_items(store: &dyn Store) -> Value {
    match store.search(all_below(Vec::new())).await {
        Ok(items) => in_order(&items),
        Err(error) => json!({"error": error.to_string()}),
    }
}
