//! Operations of the store as programs ask for them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use superstep::store::{Index, NamespaceQuery, Ranking, StoreAnswer, StoreOp, StoreQuery, Ttl};
use superstep::value::List;
use superstep::{Store, Value};

use super::{Fault, ProgramReply};
use crate::base::error_class;
use crate::base::secrets::{redact, redact_name, redact_value};

#[derive(Debug, Deserialize, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub(crate) enum StoreRequest {
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
        #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
        ttl: Option<Option<f64>>,
    },
    Delete {
        namespace: Vec<String>,
        key: String,
    },
    Search {
        prefix: Vec<String>,
        query: Option<String>,
        by: Option<RequestedRanking>,
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

#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Indexed {
    Whether(bool),
    Paths(Vec<String>),
}

impl From<Indexed> for Index {
    fn from(indexed: Indexed) -> Self {
        match indexed {
            Indexed::Whether(true) => Index::Default,
            Indexed::Whether(false) => Index::Off,
            Indexed::Paths(paths) => Index::Paths(paths),
        }
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestedRanking {
    Words,
    Vectors,
}

impl From<RequestedRanking> for Ranking {
    fn from(by: RequestedRanking) -> Self {
        match by {
            RequestedRanking::Words => Ranking::Words,
            RequestedRanking::Vectors => Ranking::Vectors,
        }
    }
}

/// Converts minutes, as in [`StoreRequest::Put`], to a time to live.
fn time_to_live(minutes: Option<Option<f64>>) -> Result<Ttl, String> {
    match minutes {
        None => Ok(Ttl::Default),
        Some(None) => Ok(Ttl::Never),
        Some(Some(minutes)) => Duration::try_from_secs_f64(minutes * 60.0)
            .map(Ttl::For)
            .map_err(|_| format!("ttl is {minutes}. Give minutes, zero or more.")),
    }
}

fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Redacts labels, as they are stored and looked up.
fn clean(labels: Vec<String>) -> Vec<String> {
    labels
        .iter()
        .map(|label| redact_name(label).into_owned())
        .collect()
}

impl StoreRequest {
    fn op(self) -> Result<StoreOp, String> {
        Ok(match self {
            StoreRequest::Get {
                namespace,
                key,
                refresh_ttl,
            } => StoreOp::Get {
                namespace: clean(namespace),
                key: redact_name(&key).into_owned(),
                refresh_ttl,
            },
            StoreRequest::Put {
                namespace,
                key,
                value,
                index,
                ttl,
            } => {
                let namespace = clean(namespace);
                let labels: Vec<&str> = namespace.iter().map(String::as_str).collect();
                StoreOp::put(&labels, redact_name(&key), redact_value(&value))
                    .map_err(|error| error.to_string())?
                    .indexed(index.map_or(Index::Default, Into::into))
                    .living(time_to_live(ttl)?)
            }
            StoreRequest::Delete { namespace, key } => StoreOp::Put {
                namespace: clean(namespace),
                key: redact_name(&key).into_owned(),
                value: None,
                index: Index::Default,
                ttl: Ttl::Default,
            },
            StoreRequest::Search {
                prefix,
                query,
                by,
                filter,
                limit,
                offset,
                refresh_ttl,
            } => {
                let plain = StoreQuery::default();
                let (limit, offset) = (limit.unwrap_or(plain.limit), offset.unwrap_or(plain.offset));
                let mut search = plain
                    .prefix(clean(prefix))
                    .by(by.map_or(Ranking::Auto, Into::into))
                    .filter(redact_value(&filter))
                    .limit(limit)
                    .offset(offset)
                    .refresh_ttl(refresh_ttl);
                search.query = query.map(|query| redact(&query).into_owned());
                StoreOp::Search(search)
            }
            StoreRequest::ListNamespaces {
                prefix,
                suffix,
                max_depth,
                limit,
                offset,
            } => {
                let plain = NamespaceQuery::default();
                let (limit, offset) = (limit.unwrap_or(plain.limit), offset.unwrap_or(plain.offset));
                let listing = plain.prefix(clean(prefix)).suffix(clean(suffix));
                StoreOp::ListNamespaces(listing.max_depth(max_depth).limit(limit).offset(offset))
            }
        })
    }
}

/// Converts a store's answer to the form that programs and states see.
pub(crate) fn shown(answer: StoreAnswer) -> Value {
    match answer {
        StoreAnswer::Done => Value::Null,
        StoreAnswer::Item(item) => item.map_or(Value::Null, |item| item.to_json()),
        StoreAnswer::Items(items) => {
            Value::Array(items.iter().map(superstep::store::Item::to_json).collect())
        }
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

/// Executes a request to the store, and returns the reply.
pub(super) async fn answer(store: Option<Arc<dyn Store>>, request: StoreRequest) -> ProgramReply {
    let refused =
        |message: String| ProgramReply::Error(Fault::new(error_class::STORE, format!("store: {message}")));
    let Some(store) = store else {
        return refused("this graph runs without a store.".to_owned());
    };
    let op = match request.op() {
        Ok(op) => op,
        Err(message) => return refused(message),
    };
    match store.batch(vec![op]).await {
        Ok(answers) => ProgramReply::Ok(answers.into_iter().next().map_or(Value::Null, shown)),
        Err(error) => refused(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use superstep::{MemoryStore, json};

    use super::*;

    #[tokio::test]
    async fn namespaces_and_keys_hold_no_secret_and_are_found_all_the_same() {
        crate::base::secrets::note("stored-key-4711");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ask = async |request: Value| {
            let request: StoreRequest = serde_json::from_str(&request.to_string()).unwrap();
            match answer(Some(store.clone()), request).await {
                ProgramReply::Ok(value) => value.to_string(),
                other => panic!("{other:?}"),
            }
        };
        let at =
            json!({"namespace": ["n", "of stored-key-4711"], "key": "stored-key-4711!", "value": {"v": 1}});
        let place = json!({"namespace": ["n", "of stored-key-4711"], "key": "stored-key-4711!"});
        ask(json!({"put": at.clone()})).await;
        let all = ask(json!({"search": {"prefix": []}})).await;
        assert!(
            all.contains("of [secret ") && all.contains("\"[secret ") && !all.contains("4711"),
            "{all}"
        );
        assert!(ask(json!({"get": place.clone()})).await.contains("\"v\":1"));
        let found = ask(json!({"search": {"prefix": ["n", "of stored-key-4711"]}})).await;
        assert!(found.contains("\"v\":1"), "{found}");
        let names = ask(json!({"listNamespaces": {"prefix": [], "suffix": ["of stored-key-4711"]}})).await;
        assert!(names.starts_with(r#"[["n","of [secret "#), "{names}");

        // Another secret in the same place is another item.
        crate::base::secrets::note("stored-key-0815");
        let other = |part: Value| {
            serde_json::from_str::<serde_json::Value>(&part.to_string().replace("4711", "0815")).unwrap()
        };
        let mut second = other(at.clone());
        second["value"]["v"] = 2.into();
        ask(json!({"put": second})).await;
        assert!(
            ask(json!({"get": place.clone()})).await.contains("\"v\":1"),
            "overwritten"
        );
        let second = json!({"get": other(place.clone())});
        assert!(ask(second).await.contains("\"v\":2"));
        ask(json!({"delete": other(place.clone())})).await;
        ask(json!({"delete": place})).await;
        assert_eq!(ask(json!({"search": {"prefix": []}})).await, "[]");
    }

    #[tokio::test]
    async fn requests_are_read_and_wrong_ones_reported() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ask = async |request: Value| {
            let request: StoreRequest =
                serde_json::from_str(&request.to_string()).map_err(|error| error.to_string())?;
            match answer(Some(store.clone()), request).await {
                ProgramReply::Ok(value) => Ok(value.to_string()),
                ProgramReply::Error(fault) => Err(fault.message),
                ProgramReply::Stop => Err("stopped".to_owned()),
            }
        };
        let put = async |options: Value| {
            let mut request = json!({"namespace": ["a"], "key": "k", "value": {"t": "word"}})
                .as_object()
                .cloned()
                .unwrap_or_default();
            for (name, value) in options.as_object().cloned().unwrap_or_default().iter() {
                request.insert(name.clone(), value.clone());
            }
            ask(json!({"put": Value::Object(request)})).await
        };
        assert_eq!(
            put(json!({"ttl": null, "index": ["t"]})).await,
            Ok("null".to_owned())
        );
        let search =
            async |more: Value| ask(json!({"search": {"prefix": [], "query": "word", "filter": more}})).await;
        assert!(
            search(json!({"t": "word"}))
                .await
                .unwrap()
                .contains("\"key\":\"k\"")
        );
        assert_eq!(put(json!({"index": false})).await, Ok("null".to_owned()));
        assert_eq!(search(json!(null)).await, Ok("[]".to_owned()));
        for (text, part) in [
            (put(json!({"tll": 1})).await, "unknown field `tll`"),
            (put(json!({"ttl": -1})).await, "zero or more"),
            (put(json!({"value": 3})).await, "is integer"),
            (search(json!({"t": {"$in": []}})).await, "no operator $in"),
            (
                ask(json!({"get": {"namespace": ["a.b"], "key": ""}})).await,
                "period",
            ),
        ] {
            let text = text.unwrap_err();
            assert!(text.contains(part), "{text}");
        }
    }
}
