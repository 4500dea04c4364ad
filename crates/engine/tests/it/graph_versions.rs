//! The version of its graph that a run names and its thread keeps.

use std::sync::Arc;

use superstep::checkpoint::GraphVersion;
use superstep::checkpoint::*;
use superstep::run::*;
use superstep::*;

use crate::support::{chain, input};

fn version(id: &str) -> GraphVersion {
    GraphVersion::new(id, json!({"document": id}))
}

async fn spaces(saver: &dyn Checkpointer) -> Vec<String> {
    let heads = saver.heads(&ListQuery::default()).await.unwrap();
    let mut spaces: Vec<String> = heads.iter().map(|head| head.ns.to_string()).collect();
    spaces.retain(|ns| GraphVersion::is_space(ns));
    spaces.sort();
    spaces
}

#[tokio::test]
async fn each_run_names_its_version_and_the_thread_keeps_it_once() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let saver = Arc::new(MemorySaver::new());
        let graph = chain(&["a", "b"])
            .compile()
            .unwrap()
            .with_checkpointer(saver.clone());
        let config = |id: &str| {
            RunConfig::on("t")
                .durability(durability)
                .graph_version(version(id))
        };
        for id in ["one", "one", "two", "one"] {
            graph.invoke(input(), config(id)).await.unwrap();
        }
        assert_eq!(
            spaces(&*saver).await,
            ["__graph__|one", "__graph__|two"],
            "{durability:?}"
        );
        let root = ListQuery::new().ns("");
        let history = graph.get_state_history(&"t".into(), &root).await.unwrap();
        let newest = history.first().and_then(|state| state.checkpoint.as_ref());
        assert_eq!(newest.and_then(GraphVersion::of), Some("one"));
        assert!(
            history
                .iter()
                .all(|state| state.checkpoint.as_ref().is_some_and(|head| head.ns.is_empty()))
        );
        let kept = GraphVersion::read(&*saver, &"t".into(), "two").await.unwrap();
        assert_eq!(kept.map(|kept| kept.content), Some(json!({"document": "two"})));
    }
}

#[tokio::test]
async fn a_run_without_a_version_keeps_nothing_and_an_edit_names_the_one_before() {
    let saver = Arc::new(MemorySaver::new());
    let graph = chain(&["a"]).compile().unwrap().with_checkpointer(saver.clone());
    graph.invoke(input(), RunConfig::on("none")).await.unwrap();
    assert!(spaces(&*saver).await.is_empty());
    graph
        .invoke(input(), RunConfig::on("t").graph_version(version("one")))
        .await
        .unwrap();
    let update = StateUpdate {
        values: json!({"x": 2}),
        ..StateUpdate::default()
    };
    graph.update_state(&StateRef::live("t"), update).await.unwrap();
    let head = saver.thread(&"t".into()).await.unwrap().unwrap().head;
    assert_eq!(GraphVersion::of(&head), Some("one"));
}

#[tokio::test]
async fn a_run_that_does_not_begin_leaves_nothing_behind() {
    let saver = Arc::new(MemorySaver::new());
    let graph = chain(&["a"]).compile().unwrap().with_checkpointer(saver.clone());
    let refused = graph
        .invoke(Input::Continue, RunConfig::on("t").graph_version(version("one")))
        .await;
    assert!(refused.is_err());
    assert!(saver.heads(&ListQuery::default()).await.unwrap().is_empty());
}
