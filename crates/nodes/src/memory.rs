//! The store as JavaScript sees it: requests and answers are JSON text, so that the sandbox needs to know neither
//! stores nor how to wait.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use superstep::{Index, List, NamespaceQuery, Ranking, Store, StoreAnswer, StoreOp, StoreQuery, Ttl, Value};
use tokio::runtime::Handle;

/// What is evaluated before a program that may use the store. `ask` is the one function that leaves the sandbox.
pub(crate) const PRELUDE: &str = r#"(ask) => {
  const path = (labels) => (Array.isArray(labels) ? labels : labels === undefined ? [] : [labels]).map(String);
  const call = (request) => JSON.parse(ask(JSON.stringify(request)));
  globalThis.store = Object.freeze({
    get: (namespace, key, options = {}) => call({...options, op: 'get', namespace: path(namespace), key: String(key)}),
    put: (namespace, key, value, options = {}) => {
      call({...options, op: 'put', namespace: path(namespace), key: String(key), value: value === undefined ? null : value});
    },
    delete: (namespace, key) => { call({op: 'delete', namespace: path(namespace), key: String(key)}); },
    search: (prefix, options = {}) => call({...options, op: 'search', prefix: path(prefix)}),
    listNamespaces: (options = {}) =>
      call({...options, op: 'listNamespaces', prefix: path(options.prefix), suffix: path(options.suffix)}),
  });
}"#;

#[derive(Deserialize)]
#[serde(
    tag = "op",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Request {
    Get {
        namespace: Vec<String>,
        key: String,
        refresh_ttl: Option<bool>,
    },
    Put {
        namespace: Vec<String>,
        key: String,
        value: Value,
        index: Option<Indexed>,
        /// Minutes; null for never, which is not the same as leaving it out.
        #[serde(default, deserialize_with = "given")]
        ttl: Option<Option<f64>>,
    },
    Delete {
        namespace: Vec<String>,
        key: String,
    },
    Search {
        prefix: Vec<String>,
        query: Option<String>,
        by: Option<By>,
        #[serde(default)]
        filter: Value,
        limit: Option<usize>,
        offset: Option<usize>,
        refresh_ttl: Option<bool>,
    },
    ListNamespaces {
        prefix: Vec<String>,
        suffix: Vec<String>,
        max_depth: Option<usize>,
        limit: Option<usize>,
        offset: Option<usize>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Indexed {
    Whether(bool),
    Paths(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Words,
    Vectors,
}

fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Request {
    fn op(self) -> Result<StoreOp, String> {
        Ok(match self {
            Request::Get {
                namespace,
                key,
                refresh_ttl,
            } => StoreOp::Get {
                namespace,
                key,
                refresh_ttl,
            },
            Request::Put {
                namespace,
                key,
                value,
                index,
                ttl,
            } => {
                let labels: Vec<&str> = namespace.iter().map(String::as_str).collect();
                StoreOp::put(&labels, key, value)
                    .map_err(|error| error.to_string())?
                    .indexed(match index {
                        None | Some(Indexed::Whether(true)) => Index::Default,
                        Some(Indexed::Whether(false)) => Index::Off,
                        Some(Indexed::Paths(paths)) => Index::Paths(paths),
                    })
                    .living(match ttl {
                        None => Ttl::Default,
                        Some(None) => Ttl::Never,
                        Some(Some(minutes)) => Ttl::For(
                            Duration::try_from_secs_f64(minutes * 60.0)
                                .map_err(|_| format!("ttl is {minutes}. Give minutes, zero or more."))?,
                        ),
                    })
            }
            Request::Delete { namespace, key } => StoreOp::Put {
                namespace,
                key,
                value: None,
                index: Index::Default,
                ttl: Ttl::Default,
            },
            Request::Search {
                prefix,
                query,
                by,
                filter,
                limit,
                offset,
                refresh_ttl,
            } => {
                let plain = StoreQuery::default();
                StoreOp::Search(StoreQuery {
                    prefix,
                    query,
                    ranking: match by {
                        None => Ranking::Auto,
                        Some(By::Words) => Ranking::Words,
                        Some(By::Vectors) => Ranking::Vectors,
                    },
                    filter,
                    limit: limit.unwrap_or(plain.limit),
                    offset: offset.unwrap_or(plain.offset),
                    refresh_ttl,
                })
            }
            Request::ListNamespaces {
                prefix,
                suffix,
                max_depth,
                limit,
                offset,
            } => {
                let plain = NamespaceQuery::default();
                StoreOp::ListNamespaces(NamespaceQuery {
                    prefix,
                    suffix,
                    max_depth,
                    limit: limit.unwrap_or(plain.limit),
                    offset: offset.unwrap_or(plain.offset),
                })
            }
        })
    }
}

/// What a store answered, as programs and states see it.
pub(crate) fn shown(answer: StoreAnswer) -> Value {
    match answer {
        StoreAnswer::Done => Value::Null,
        StoreAnswer::Item(item) => item.map_or(Value::Null, |item| item.to_json()),
        StoreAnswer::Items(items) => Value::Array(items.iter().map(superstep::Item::to_json).collect()),
        StoreAnswer::Namespaces(namespaces) => {
            let labels = |namespace: Vec<String>| namespace.into_iter().map(Value::from).collect::<List>();
            Value::Array(
                namespaces
                    .into_iter()
                    .map(|namespace| Value::Array(labels(namespace)))
                    .collect(),
            )
        }
    }
}

/// A way for a program on a blocking thread to reach a store. It waits at most as long as it is told.
pub(crate) fn asking(
    store: Arc<dyn Store>,
    runtime: Handle,
) -> impl Fn(&str, Duration) -> Result<String, String> {
    move |request, at_most| {
        let request: Request = serde_json::from_str(request).map_err(|error| {
            // The place in the text means nothing to whoever called a function.
            let said = error.to_string();
            format!(
                "the options cannot be read: {}.",
                said.split(" at line ").next().unwrap_or_default()
            )
        })?;
        let op = request.op()?;
        // The clock of a timeout is that of the runtime it begins in.
        let answers = runtime
            .block_on(async { tokio::time::timeout(at_most, store.batch(vec![op])).await })
            .map_err(|_| "the store did not answer within the time limit.".to_owned())?
            .map_err(|error| error.to_string())?;
        Ok(answers.into_iter().next().map_or(Value::Null, shown).to_string())
    }
}

#[cfg(test)]
mod tests {
    use superstep::{MemoryStore, json};

    use super::*;

    #[test]
    fn requests_are_read_and_wrong_ones_said() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let ask = asking(Arc::new(MemoryStore::new()), runtime.handle().clone());
        let ask = |request: Value| ask(&request.to_string(), Duration::from_secs(10));
        let put = |options: Value| {
            let mut request = json!({"op": "put", "namespace": ["a"], "key": "k", "value": {"t": "word"}})
                .as_object()
                .cloned()
                .unwrap_or_default();
            for (name, value) in options.as_object().cloned().unwrap_or_default().iter() {
                request.insert(name.clone(), value.clone());
            }
            ask(Value::Object(request))
        };
        assert_eq!(put(json!({"ttl": null, "index": ["t"]})), Ok("null".to_owned()));
        let search =
            |more: Value| ask(json!({"op": "search", "prefix": [], "query": "word", "filter": more}));
        assert!(search(json!({"t": "word"})).unwrap().contains("\"key\":\"k\""));
        assert_eq!(put(json!({"index": false})), Ok("null".to_owned()));
        assert_eq!(search(json!(null)), Ok("[]".to_owned()));
        assert!(
            put(json!({"tll": 1}))
                .unwrap_err()
                .contains("unknown field `tll`")
        );
        assert!(put(json!({"ttl": -1})).unwrap_err().contains("zero or more"));
        assert!(put(json!({"value": 3})).unwrap_err().contains("is integer"));
        assert!(
            search(json!({"t": {"$in": []}}))
                .unwrap_err()
                .contains("no operator $in")
        );
        assert!(
            ask(json!({"op": "get", "namespace": ["a.b"], "key": ""}))
                .unwrap_err()
                .contains("period")
        );
    }
}
