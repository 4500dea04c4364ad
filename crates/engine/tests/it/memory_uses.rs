//! What tasks do with items of long-term memory, in their records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use superstep::checkpoint::*;
use superstep::checkpoint::{RecordedValue, records_of};
use superstep::store::*;
use superstep::*;

/// The uses that a thread has recorded, in order, as `action namespace/key value`.
async fn uses(saver: &dyn Checkpointer) -> Vec<String> {
    let query = ListQuery::new().thread("t");
    let mut found = Vec::new();
    // They are listed newest first.
    for tuple in saver.list(&query).await.unwrap().into_iter().rev() {
        for (_, record) in records_of(&tuple.pending_writes) {
            assert!(!record.memory_cut);
            found.extend(record.memory);
        }
    }
    let line = |used: &checkpoint::MemoryUse| {
        let value = match &used.value {
            None => "nothing".to_owned(),
            Some(RecordedValue::Whole(value)) => value.to_string(),
            Some(RecordedValue::Large { size, hash }) => {
                assert!(hash.is_some());
                format!("{} bytes", size.unwrap())
            }
        };
        format!(
            "{} {}/{} {value}",
            used.action.word(),
            used.namespace.join("."),
            used.key
        )
    };
    found.iter().map(line).collect()
}

fn graph(attempts: Arc<AtomicBool>) -> StateGraph {
    let learn = move |context: NodeContext, _: Value| {
        let again = attempts.swap(true, Ordering::SeqCst);
        async move {
            let store = context.store().unwrap();
            store.get(&["people"], "ada").await?;
            if !again {
                store.put(&["people"], "ada", json!({"likes": "tea"})).await?;
                return Err(NodeError::new("Flaky", "fails after it remembered"));
            }
            store
                .put(&["people"], "big", json!({"text": "x".repeat(500)}))
                .await?;
            Ok(NodeOutput::Update(Value::Null))
        }
    };
    let use_it = |context: NodeContext, _: Value| async move {
        let store = context.store().unwrap();
        for _ in 0..3 {
            store.get(&["people"], "ada").await?;
        }
        store.search(StoreQuery::under(&["people"]).query("tea")).await?;
        store.delete(&["people"], "big").await?;
        Ok(NodeOutput::Update(Value::Null))
    };
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node_with(
            "learn",
            Arc::new(learn),
            NodeOptions::new().retry(RetryPolicy::default().jitter(false)),
        )
        .node("use", use_it)
        .edge(START, "learn")
        .edge("learn", "use")
        .edge("use", END)
}

#[tokio::test(start_paused = true)]
async fn reads_finds_and_writes_are_recorded_and_those_of_failed_attempts_too() {
    let saver = Arc::new(MemorySaver::new());
    let graph = graph(Arc::default())
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone())
        .with_store(Arc::new(MemoryStore::new()));
    let mut config = RunConfig::on("t");
    config.record = true;
    graph
        .invoke(Input::value(json!({"log": []})), config)
        .await
        .unwrap();
    assert_eq!(
        uses(&*saver).await,
        [
            "read people/ada nothing",
            r#"written people/ada {"likes":"tea"}"#,
            r#"read people/ada {"likes":"tea"}"#,
            "written people/big 511 bytes",
            r#"read people/ada {"likes":"tea"}"#,
            r#"found people/ada {"likes":"tea"}"#,
            "removed people/big nothing",
        ],
        "the same read is noted once in a task"
    );
}

#[tokio::test]
async fn a_run_that_records_nothing_has_the_store_itself() {
    let saver = Arc::new(MemorySaver::new());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let own = store.clone();
    let same = move |context: NodeContext, _: Value| {
        let is_own = Arc::ptr_eq(context.store().unwrap(), &own);
        async move { Ok(NodeOutput::Update(json!({"log": [is_own]}))) }
    };
    let graph = StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("same", same)
        .edge(START, "same")
        .edge("same", END)
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone())
        .with_store(store);
    let ended = graph
        .invoke(Input::value(json!({"log": []})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(ended.value["log"], json!([true]));
    assert!(uses(&*saver).await.is_empty());
}
