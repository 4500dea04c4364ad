//! The store: what nodes, tasks and nested graphs see of it, and what LangGraph's own store answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::store::*;
use superstep::store::{Path, namespace};
use superstep::value::*;
use superstep::*;

/// An embedding with known vectors: the number of times that each of four letters occurs.
#[derive(Debug)]
struct Letters;

#[async_trait]
impl Embedding for Letters {
    fn name(&self) -> &str {
        "letters"
    }
    fn dims(&self) -> usize {
        4
    }
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, StoreError> {
        let count = |text: &String, letter: char| text.chars().filter(|c| *c == letter).count() as f32;
        let vector = |text| ['a', 'b', 'c', 'd'].map(|letter| count(text, letter)).to_vec();
        Ok(texts.iter().map(vector).collect())
    }
}

fn remembering(key: &'static str) -> impl Node {
    move |context: NodeContext, _: Value| async move {
        let store = context
            .store()
            .ok_or_else(|| NodeError::new("Test", "there is no store"))?;
        let count = store
            .get(&["runs"], key)
            .await?
            .and_then(|item| item.value.get("n")?.as_u64());
        store
            .put(&["runs"], key, json!({"n": count.unwrap_or(0) + 1}))
            .await?;
        Ok(NodeOutput::Update(json!({"log": [key]})))
    }
}

fn graph(node: impl Node) -> StateGraph {
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("n", node)
        .edge(START, "n")
        .edge("n", END)
}

async fn count(store: &dyn Store, key: &str) -> Option<u64> {
    store.get(&["runs"], key).await.unwrap()?.value.get("n")?.as_u64()
}

#[tokio::test]
async fn nodes_tasks_and_nested_graphs_see_one_store() {
    let inner = graph(remembering("inner")).compile().unwrap();
    let called = graph(remembering("called")).compile().unwrap();
    let own_store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let apart = graph(remembering("apart"))
        .compile()
        .unwrap()
        .with_store(own_store.clone());
    let task = TaskFn::new("task", |context: NodeContext, _: Value| async move {
        let store = context
            .store()
            .ok_or_else(|| NodeError::new("Test", "there is no store"))?;
        store.put(&["runs"], "task", json!({"n": 1})).await?;
        Ok(Value::Null)
    });
    let outer = StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("n", remembering("outer"))
        .subgraph("sub", &inner)
        .node("call", move |context: NodeContext, _: Value| {
            let (called, apart, task) = (called.clone(), apart.clone(), task.clone());
            async move {
                context.invoke(&called, Input::value(json!({}))).await?;
                context.invoke(&apart, Input::value(json!({}))).await?;
                context.call(&task, json!(null)).await?;
                Ok(NodeOutput::Update(Value::Null))
            }
        })
        .edge(START, "n")
        .edge("n", "sub")
        .edge("sub", "call")
        .edge("call", END)
        .compile()
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let outer = outer
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .with_store(store.clone());
    for thread in ["one", "two"] {
        outer
            .invoke(Input::value(json!({"log": []})), RunConfig::on(thread))
            .await
            .unwrap();
    }
    for key in ["outer", "inner", "called"] {
        assert_eq!(count(&*store, key).await, Some(2), "{key}: both threads share it");
    }
    assert_eq!(count(&*store, "task").await, Some(1));
    assert_eq!(count(&*store, "apart").await, None, "a graph may have its own");
    assert_eq!(count(&*own_store, "apart").await, Some(2));
}

#[tokio::test]
async fn a_failed_run_and_time_travel_roll_nothing_back() {
    let fails = |context: NodeContext, _: Value| async move {
        if let Some(store) = context.store() {
            store.put(&["runs"], "tried", json!({"n": 1})).await?;
        }
        Err::<NodeOutput, _>(NodeError::new("Test", "fails after it remembered"))
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let failing = graph(fails).compile().unwrap().with_store(store.clone());
    failing
        .invoke(Input::value(json!({"log": []})), RunConfig::default())
        .await
        .unwrap_err();
    assert_eq!(count(&*store, "tried").await, Some(1));

    let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let graph = graph(remembering("n"))
        .compile()
        .unwrap()
        .with_store(store.clone())
        .with_checkpointer(saver);
    graph
        .invoke(Input::value(json!({"log": []})), RunConfig::on("t"))
        .await
        .unwrap();
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let before = history
        .iter()
        .find(|state| state.next.iter().any(|node| &**node == "n"))
        .unwrap();
    let again = RunConfig::on("t").checkpoint_id(before.checkpoint.as_ref().map(|head| head.id.clone()));
    graph.invoke(Input::Continue, again).await.unwrap();
    assert_eq!(
        count(&*store, "n").await,
        Some(2),
        "the node ran twice, and remembers both"
    );
}

#[tokio::test]
async fn without_a_store_there_is_none() {
    let node = |context: NodeContext, _: Value| async move {
        Ok(NodeOutput::Update(json!({"log": [context.store().is_none()]})))
    };
    let ended = graph(node)
        .compile()
        .unwrap()
        .invoke(Input::value(json!({"log": []})), RunConfig::default())
        .await;
    assert_eq!(ended.unwrap().value, json!({"log": [true]}));
}

#[tokio::test(start_paused = true)]
async fn a_sweeper_removes_what_has_expired() {
    #[derive(Debug)]
    struct Paused(tokio::time::Instant);
    impl Clock for Paused {
        fn now_ms(&self) -> u64 {
            u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
        }
    }
    let minute = std::time::Duration::from_secs(60);
    let config = StoreConfig::default()
        .clock(Arc::new(Paused(tokio::time::Instant::now())))
        .ttl(
            TtlConfig::default()
                .default_ttl(minute)
                .omit_expired(false)
                .refresh_on_read(false),
        );
    let store: Arc<dyn Store> = Arc::new(MemoryStore::with_config(config));
    let sweeper = Sweeper::start(store.clone(), minute * 3);
    store.put(&["a"], "k", json!({})).await.unwrap();
    tokio::time::sleep(minute * 2).await;
    assert!(
        store.get(&["a"], "k").await.unwrap().is_some(),
        "expired, and not yet swept"
    );
    tokio::time::sleep(minute * 2).await;
    assert!(store.get(&["a"], "k").await.unwrap().is_none());
    drop(sweeper);
    store.put(&["a"], "k", json!({})).await.unwrap();
    tokio::time::sleep(minute * 10).await;
    assert!(
        store.get(&["a"], "k").await.unwrap().is_some(),
        "nobody sweeps any more"
    );
}

/// What LangGraph's InMemoryStore answered; `tests/conformance/python/store.py` wrote it.
fn facts(part: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../fixtures/store.json")).unwrap();
    all.get(part).unwrap().clone()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|item| item.as_str().unwrap().to_owned())
        .collect()
}

async fn fill(store: &dyn Store, at: &str, values: &Value) {
    for (key, value) in values.as_object().unwrap().iter() {
        store.put(&[at], key, value.clone()).await.unwrap();
    }
}

#[test]
fn paths_give_the_texts_that_langgraph_gives() {
    let facts = facts("paths");
    for (path, texts) in facts.get("texts").unwrap().as_object().unwrap().iter() {
        let mut got = Path::parse(path).unwrap().texts(facts.get("value").unwrap());
        if &**path == "active" {
            // A truth value is spelled as in JSON here.
            got = got.into_iter().map(|text| text.replace("true", "True")).collect();
        }
        assert_eq!(got, strings(texts), "{path}");
    }
}

#[tokio::test]
async fn filters_find_what_langgraph_finds() {
    let facts = facts("filters");
    let store = MemoryStore::new();
    fill(&store, "f", facts.get("values").unwrap()).await;
    for case in facts.get("found").unwrap().as_array().unwrap().iter() {
        let (filter, wanted) = (case.at(0).unwrap(), strings(case.at(1).unwrap()));
        let query = StoreQuery::under(&["f"]).filter(filter.clone()).limit(100);
        let mut got: Vec<String> = store
            .search(query)
            .await
            .unwrap()
            .into_iter()
            .map(|item| item.key)
            .collect();
        got.sort();
        if *filter == json!({"t": {"$ne": "x"}}) {
            // As in its SQL stores, what is missing or null is not unequal either.
            assert_eq!((got, wanted.len()), (vec!["b".to_owned()], 3));
            continue;
        }
        assert_eq!(got, wanted, "{filter}");
    }
}

#[tokio::test]
async fn namespaces_are_listed_as_langgraph_lists_them() {
    let facts = facts("namespaces");
    let store = MemoryStore::new();
    for labels in facts.get("namespaces").unwrap().as_array().unwrap().iter() {
        let labels = strings(labels);
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        store.put(&labels, "k", json!({})).await.unwrap();
    }
    for case in facts.get("listed").unwrap().as_array().unwrap().iter() {
        let (asked, wanted) = (case.at(0).unwrap(), case.at(1).unwrap());
        let number = |name| Some(usize::try_from(asked.get(name)?.as_u64()?).unwrap());
        let labels = |name| asked.get(name).map(strings).unwrap_or_default();
        let query = NamespaceQuery::default()
            .prefix(labels("prefix"))
            .suffix(labels("suffix"))
            .max_depth(number("max_depth"))
            .limit(number("limit").unwrap_or(100))
            .offset(number("offset").unwrap_or(0));
        let got = store.list_namespaces(query).await.unwrap();
        let wanted: Vec<Vec<String>> = wanted.as_array().unwrap().iter().map(strings).collect();
        assert_eq!(got, wanted, "{asked}");
    }
}

#[tokio::test]
async fn a_batch_answers_as_langgraph_does() {
    let facts = facts("batch");
    let store = MemoryStore::new();
    let ops = vec![
        StoreOp::put(&["a"], "k", json!({"v": 1})).unwrap(),
        StoreOp::get(&["a"], "k"),
        StoreOp::put(&["a"], "k", json!({"v": 2})).unwrap(),
        StoreOp::Search(StoreQuery::under(&["a"])),
    ];
    let answers = store.batch(ops).await.unwrap();
    let shown: List = answers
        .into_iter()
        .map(|answer| match answer {
            StoreAnswer::Items(items) => Value::Array(items.iter().map(Item::to_json).collect()),
            answer => answer.into_item().map_or(Value::Null, |item| item.to_json()),
        })
        .collect();
    assert_eq!(Some(&Value::Array(shown)), facts.get("answers"));
    let item = store.get(&["a"], "k").await.unwrap().unwrap();
    assert_eq!(Some(&Value::Object(item.value)), facts.get("after"));
}

#[tokio::test]
async fn vectors_score_as_in_langgraph() {
    let facts = facts("vectors");
    let config = StoreConfig::default().index(VectorIndex::new(Arc::new(Letters)).fields(["text"]));
    let store = MemoryStore::with_config(config);
    fill(&store, "v", facts.get("values").unwrap()).await;
    let query = StoreQuery::default()
        .prefix(namespace(&["v"]))
        .query(facts.get("query").unwrap().as_str().unwrap());
    let got = store.search(query).await.unwrap();
    assert!(got.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let got: BTreeMap<String, f64> = got
        .into_iter()
        .map(|item| (item.key, (item.score.unwrap() * 1e4).round() / 1e4))
        .collect();
    let ranked = facts.get("ranked").unwrap().as_array().unwrap();
    // What has no vector is not found by a query here, as in its SQL stores.
    let wanted: BTreeMap<String, f64> = ranked
        .iter()
        .filter_map(|pair| Some((pair.at(0)?.as_str()?.to_owned(), pair.at(1)?.as_f64()?)))
        .collect();
    assert_eq!((got, ranked.len()), (wanted, 6));
}

#[tokio::test]
async fn values_are_nested_so_deep_and_no_deeper() {
    let store = MemoryStore::new();
    let nested = |levels: usize, step: fn(Value) -> Value| (1..levels).fold(json!(1), |inner, _| step(inner));
    let steps: [fn(Value) -> Value; 2] = [|inner| json!([inner]), |inner| json!({"in": inner})];
    for step in steps {
        let put = async |levels| {
            store
                .put(&["n"], "k", json!({"value": nested(levels, step)}))
                .await
        };
        put(120).await.unwrap();
        let refused = put(121).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::Nested { limit: 120, .. }),
            "{refused}"
        );
    }
}
