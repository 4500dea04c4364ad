//! Branches beside a thread: what they make never becomes what the thread is now.

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::*;

use crate::support::routes;

async fn ids(saver: &MemorySaver, ns: &str) -> Vec<CheckpointId> {
    let query = ListQuery::new().thread("t").ns(ns);
    let heads = saver.heads(&query).await.unwrap();
    heads.into_iter().map(|head| head.id).collect()
}

/// Counts until `until`, and keeps what a stateful graph within has seen.
fn counting(saver: &Arc<MemorySaver>) -> Graph {
    let inner = StateGraph::new()
        .channel("seen", ChannelSpec::append())
        .node("look", typed(async |_, _: Value| Ok(json!({}))))
        .edge(START, "look")
        .compile()
        .unwrap()
        .with_persistence(Persistence::Stateful);
    let called = inner.clone();
    let count = move |context: NodeContext, state: Value| {
        let inner = called.clone();
        async move {
            let n = state.get("n").and_then(Value::as_i64).unwrap_or(0) + 1;
            let seen = context.invoke(&inner, Input::value(json!({"seen": [n]}))).await?;
            let seen = seen.get("seen").cloned().unwrap_or_default();
            Ok(NodeOutput::from(json!({"n": n, "seen": seen})))
        }
    };
    let again = |state: &Value| {
        let number = |key: &str| state.get(key).and_then(Value::as_i64).unwrap_or(0);
        match number("n") < number("until") {
            true => vec![Target::node("count")],
            false => vec![],
        }
    };
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .channel("until", ChannelSpec::last_value())
        .channel("seen", ChannelSpec::last_value())
        .node_with("count", Arc::new(count), NodeOptions::new().runs(&inner))
        .edge(START, "count")
        .branch("count", Branch::new(routes(again)))
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone())
}

#[tokio::test]
async fn a_branch_aside_sorts_between_its_moment_and_what_followed() {
    let saver = Arc::new(MemorySaver::new());
    let graph = counting(&saver);
    graph
        .invoke(Input::value(json!({"until": 3})), RunConfig::on("t"))
        .await
        .unwrap();
    let before = ids(&saver, "").await;
    let now = graph.get_state(&StateRef::live("t")).await.unwrap();
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let at = history
        .iter()
        .find(|state| state.values.get("n") == Some(&json!(1)))
        .and_then(|state| state.checkpoint.as_ref())
        .unwrap();
    for limit in [5, 4] {
        let aside = graph
            .clone()
            .aside(Some(&at.id), &before[0])
            .expect("there is room");
        let from = StateRef::at("t", at.id.clone());
        let edit = StateUpdate::new(json!({"until": limit})).as_node("count");
        let edited = aside.update_state(&from, edit).await.unwrap();
        let config = RunConfig::on("t").checkpoint_id(edited.checkpoint_id);
        let result = aside.invoke(Input::Continue, config).await.unwrap();
        let expected: Vec<i64> = (1..=limit).collect();
        assert_eq!(
            result.value.get("seen"),
            Some(&json!(expected)),
            "the graph within goes on from where it was at the moment, and from round to round"
        );
    }
    let after = ids(&saver, "").await;
    assert_eq!(after.len(), before.len() + 9, "an edit and its rounds of each");
    assert_eq!(after[0], before[0]);
    let next = before.iter().rev().find(|id| **id > at.id).unwrap();
    for made in after.iter().filter(|id| !before.contains(id)) {
        assert!(at.id < *made && made < next, "{made}");
    }
    let still = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!((still.values, still.next), (now.values, now.next));
}

#[tokio::test]
async fn what_the_thread_is_now_is_left_by_a_copy() {
    let saver = Arc::new(MemorySaver::new());
    let graph = counting(&saver);
    graph
        .invoke(Input::value(json!({"until": 2})), RunConfig::on("t"))
        .await
        .unwrap();
    let now = graph.get_state(&StateRef::live("t")).await.unwrap();
    let head = now.checkpoint.as_ref().unwrap();
    let aside = graph
        .clone()
        .aside(head.parent.as_ref(), &head.id)
        .expect("there is room");
    let copy = StateUpdate::new(Value::Null).as_node("__copy__");
    let copied = aside.update_state(&now.state_ref(), copy).await.unwrap();
    let config = RunConfig::on("t").checkpoint_id(copied.checkpoint_id.clone());
    let result = aside
        .invoke(Input::value(json!({"until": 4})), config)
        .await
        .unwrap();
    assert_eq!(result.value.get("n"), Some(&json!(4)));
    let after = ids(&saver, "").await;
    assert_eq!(after[0], head.id, "the thread stays where it was");
    let still = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(still.values.get("n"), Some(&json!(2)));
}

#[tokio::test]
async fn held_work_does_not_begin_and_a_result_is_still_used() {
    let paid = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = paid.clone();
    let pay = move |_: NodeContext, _: Value| {
        let number = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
        async move { Ok(NodeOutput::from(json!({"receipt": number}))) }
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .channel("receipt", ChannelSpec::last_value())
        .node("look", typed(async |_, _: Value| Ok(json!({}))))
        .node_with(
            "pay",
            Arc::new(pay),
            NodeOptions::new().effect(Effect::Once).effect_keys(["x"]),
        )
        .edge(START, "look")
        .edge("look", "pay")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let held = RunConfig::on("t").effects(EffectPolicy::Reuse).hold_effects(true);
    let error = graph
        .invoke(Input::value(json!({"x": 1})), held.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RunError::Held { node, .. } if &**node == "pay"),
        "{error}"
    );
    assert_eq!((error.code(), error.class()), ("effect-held", "EffectError"));
    let allowed = held.clone().effects_of([("pay".into(), EffectPolicy::Again)]);
    graph.invoke(Input::Continue, allowed).await.unwrap();
    let count = || paid.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(count(), 1);
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let before = history.iter().find(|state| state.next == ["pay".into()]).unwrap();
    let id = before.checkpoint.as_ref().unwrap().id.clone();
    let again = graph
        .invoke(Input::Continue, held.checkpoint_id(id))
        .await
        .unwrap();
    assert_eq!((again.value.get("receipt"), count()), (Some(&json!(1)), 1));
}
