//! Delta keys: what is stored of them, when, and that they read like ordinary reducers.

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// `a -> b -> c`; a and b write `items`, c writes nothing.
fn chained(spec: ChannelSpec) -> (Graph, Arc<MemorySaver>) {
    let saver = Arc::new(MemorySaver::new());
    let graph = on(spec, &saver);
    (graph, saver)
}

fn on(spec: ChannelSpec, saver: &Arc<MemorySaver>) -> Graph {
    StateGraph::new()
        .channel("items", spec)
        .node("a", returns(json!({"items": ["a1"]})))
        .node("b", returns(json!({"items": ["b1"]})))
        .node("c", returns(json!({})))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone())
}

fn every(frequency: u32) -> ChannelSpec {
    ChannelSpec::delta(BinaryOp::Append, frequency)
}

fn given(item: &str) -> Input {
    Input::value(json!({"items": [item]}))
}

fn at_exit() -> RunConfig {
    RunConfig::on("1").durability(Durability::Exit)
}

fn edit(values: Value, node: &str) -> StateUpdate {
    StateUpdate {
        values,
        as_node: Some(node.into()),
        ..StateUpdate::default()
    }
}

/// One line a checkpoint, oldest first: step, what is stored of `items`, its version, the counters, its stored writes.
async fn rows(saver: &MemorySaver) -> Vec<String> {
    let query = ListQuery::new().thread("1");
    let tuples = saver.list(&query).await.unwrap();
    let row = |tuple: &CheckpointTuple| {
        let checkpoint = &tuple.checkpoint;
        let stored = checkpoint.channel_values.get("items");
        let counters = checkpoint.metadata.user.get("counters_since_delta_snapshot");
        let writes: Vec<String> = tuple
            .pending_writes
            .iter()
            .filter(|w| &*w.write.channel == "items")
            .map(|w| w.write.value.to_string())
            .collect();
        format!(
            "{} {} v{} {} [{}]",
            checkpoint.metadata.step,
            stored.map_or("-".into(), |value| value.get("__snapshot__").unwrap().to_string()),
            checkpoint.channel_versions.get("items").copied().unwrap_or(0),
            counters.map_or("-".into(), |counters| counters.get("items").unwrap().to_string()),
            writes.join(" ")
        )
    };
    tuples.iter().rev().map(row).collect()
}

/// `items` at each checkpoint, oldest first.
async fn values(graph: &Graph) -> Vec<String> {
    let history = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let items = |entry: &StateSnapshot| entry.values.get("items").unwrap().to_string();
    history.iter().rev().map(items).collect()
}

#[tokio::test]
async fn a_snapshot_is_stored_with_every_so_many_updates() {
    let (graph, saver) = chained(every(2));
    let result = graph.invoke(given("in"), RunConfig::on("1")).await.unwrap();
    assert_eq!(result.value, json!({"items": ["in", "a1", "b1"]}));
    assert_eq!(
        rows(&saver).await,
        [
            r#"-1 - v0 [0,1] [["in"]]"#,
            r#"0 - v2 [1,2] [["a1"]]"#,
            r#"1 ["in","a1"] v3 - [["b1"]]"#,
            "2 - v4 [1,1] []",
            "3 - v4 [1,2] []",
        ]
    );
    let again = graph.invoke(given("in2"), RunConfig::on("1")).await.unwrap();
    let all = json!(["in", "a1", "b1", "in2", "a1", "b1"]);
    assert_eq!(again.value.get("items"), Some(&all));
    assert_eq!(
        rows(&saver).await[5..],
        [
            r#"4 - v4 [1,3] [["in2"]]"#,
            r#"5 ["in","a1","b1","in2"] v7 - [["a1"]]"#,
            r#"6 - v8 [1,1] [["b1"]]"#,
            r#"7 ["in","a1","b1","in2","a1","b1"] v9 - []"#,
            r#"8 ["in","a1","b1","in2","a1","b1"] v9 [0,1] []"#,
        ],
        "a value that has not changed since its snapshot is still there"
    );
    let (ordinary, _) = chained(ChannelSpec::append());
    for item in ["in", "in2"] {
        ordinary.invoke(given(item), RunConfig::on("1")).await.unwrap();
    }
    assert_eq!(
        values(&graph).await,
        values(&ordinary).await,
        "every checkpoint reads like that of an ordinary reducer"
    );
}

#[tokio::test]
async fn runs_that_store_only_their_end_leave_their_writes_on_the_checkpoint_before() {
    let (graph, saver) = chained(every(100));
    graph.invoke(given("in"), at_exit()).await.unwrap();
    graph.invoke(given("in2"), at_exit()).await.unwrap();
    assert_eq!(
        rows(&saver).await,
        [
            r#"-2 - v0 - [["in"] ["a1"] ["b1"]]"#,
            r#"3 - v4 [3,5] [["in2"] ["a1"] ["b1"]]"#,
            "8 - v9 [6,10] []",
        ]
    );
    assert_eq!(
        values(&graph).await,
        ["[]", r#"["in","a1","b1"]"#, r#"["in","a1","b1","in2","a1","b1"]"#]
    );
    let resumed = graph.invoke(given("in3"), RunConfig::on("1")).await.unwrap();
    assert_eq!(resumed.value.get("items").unwrap().as_array().unwrap().len(), 9);

    let (graph, saver) = chained(every(2));
    graph.invoke(given("in"), at_exit()).await.unwrap();
    graph.invoke(given("in2"), at_exit()).await.unwrap();
    assert_eq!(
        rows(&saver).await,
        [
            r#"3 ["in","a1","b1"] v4 - []"#,
            r#"8 ["in","a1","b1","in2","a1","b1"] v9 - []"#
        ],
        "with a snapshot nothing else is needed"
    );
}

#[tokio::test]
async fn an_interrupted_run_that_stores_only_its_end_is_resumed_whole() {
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("q")?;
        Ok(NodeOutput::from(json!({"items": [answer]})))
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = StateGraph::new()
        .channel("items", every(100))
        .node("a", returns(json!({"items": ["a1"]})))
        .node("ok", returns(json!({"items": ["ok"]})))
        .node("ask", ask)
        .edge(START, "a")
        .edge("a", "ok")
        .edge("a", "ask")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    graph.invoke(given("in"), at_exit()).await.unwrap();
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(live.values, json!({"items": ["in", "a1", "ok"]}));
    let done = graph.invoke(Input::answer("R"), at_exit()).await.unwrap();
    assert_eq!(done.value, json!({"items": ["in", "a1", "R", "ok"]}));
    let read = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(read.values, done.value);
}

#[tokio::test]
async fn edits_count_and_force_snapshots_where_nobody_would_find_their_writes() {
    let (graph, saver) = chained(every(100));
    let live = StateRef::live("1");
    graph
        .update_state(&live, edit(json!({"items": ["u"]}), "a"))
        .await
        .unwrap();
    graph
        .update_state(&live, edit(json!({"items": ["u2"]}), "a"))
        .await
        .unwrap();
    graph
        .update_state(&live, edit(json!({"items": overwrite(json!(["o"]))}), "a"))
        .await
        .unwrap();
    assert_eq!(
        rows(&saver).await,
        [
            r#"0 ["u"] v1 - [["u2"]]"#,
            r#"1 - v2 [1,1] [{"__overwrite__":["o"]}]"#,
            r#"2 ["o"] v3 - []"#,
        ]
    );
    assert_eq!(values(&graph).await, [r#"["u"]"#, r#"["u","u2"]"#, r#"["o"]"#]);
}

#[tokio::test]
async fn branches_do_not_read_each_others_writes() {
    let (graph, saver) = chained(every(100));
    graph.invoke(given("in"), RunConfig::on("1")).await.unwrap();
    let fork = at_step(&graph, "1", 1).await;
    let from = || RunConfig::on("1").checkpoint_id(fork.checkpoint_id.clone());
    let replayed = graph.invoke(Input::Continue, from()).await.unwrap();
    assert_eq!(replayed.value, json!({"items": ["in", "a1", "b1"]}));
    let branched = graph.invoke(given("x"), from()).await.unwrap();
    assert_eq!(branched.value, json!({"items": ["in", "a1", "x", "a1", "b1"]}));
    graph
        .update_state(&fork, edit(json!({"items": ["U"]}), "a"))
        .await
        .unwrap();
    assert_eq!(
        rows(&saver).await[5..],
        [
            r#"2 ["in","a1"] v4 - [["b1"]]"#,
            "3 - v5 [1,1] []",
            "4 - v5 [1,2] []",
            r#"2 ["in","a1"] v4 - [["x"]]"#,
            r#"3 - v5 [1,1] [["a1"]]"#,
            r#"4 - v6 [2,2] [["b1"]]"#,
            "5 - v7 [3,3] []",
            "6 - v7 [3,4] []",
            r#"2 ["in","a1","U"] v4 - []"#,
        ]
    );
    let read = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(read.values, json!({"items": ["in", "a1", "U"]}));
    let copy = edit(Value::Null, "__copy__");
    graph
        .update_state(&at_step(&graph, "1", 3).await, copy)
        .await
        .unwrap();
    let read = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(read.values, json!({"items": ["in", "a1", "b1"]}));
}

#[tokio::test]
async fn writes_of_an_abandoned_step_are_not_replayed() {
    let ask = |context: NodeContext, _: Value| async move {
        context.interrupt("q")?;
        Ok(NodeOutput::none())
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = StateGraph::new()
        .channel("items", every(100))
        .node("ok", returns(json!({"items": ["ok"]})))
        .node("ask", ask)
        .edge(START, "ok")
        .edge(START, "ask")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    graph.invoke(given("1"), RunConfig::on("1")).await.unwrap();
    graph.invoke(given("2"), RunConfig::on("1")).await.unwrap();
    let head = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let items: Vec<String> = head.iter().map(|entry| entry.values.to_string()).collect();
    assert_eq!(
        items,
        [
            r#"{"items":["1","2"]}"#,
            r#"{"items":["1"]}"#,
            r#"{"items":["1"]}"#,
            r#"{"items":[]}"#
        ],
        "what `ok` wrote in the step that was given up belongs to nobody"
    );
}

#[tokio::test]
async fn a_key_may_become_a_delta_key_and_an_ordinary_one_again() {
    let saver = Arc::new(MemorySaver::new());
    let run = async |spec: ChannelSpec, item: &str| {
        let graph = on(spec, &saver);
        graph.invoke(given(item), RunConfig::on("1")).await.unwrap();
        graph
            .get_state(&StateRef::live("1"))
            .await
            .unwrap()
            .values
            .to_string()
    };
    run(ChannelSpec::append(), "1").await;
    assert_eq!(
        run(every(100), "2").await,
        r#"{"items":["1","a1","b1","2","a1","b1"]}"#,
        "the plain value is where the rebuilding begins"
    );
    assert_eq!(
        run(ChannelSpec::append(), "3").await,
        r#"{"items":["1","a1","b1","2","a1","b1","3","a1","b1"]}"#
    );
    let reread = on(ChannelSpec::append(), &saver);
    let steps = values(&reread).await;
    assert_eq!(
        steps[7], r#"["1","a1","b1","2","a1"]"#,
        "old entries are rebuilt still"
    );
}

#[tokio::test]
async fn a_batch_reducer_gets_all_writes_of_a_step_and_objects_begin_as_one() {
    let merge = DeltaReducer::batch("merge", |value, writes| {
        let mut object = value.as_object().cloned().ok_or("not an object")?;
        for (key, value) in writes
            .iter()
            .flat_map(|write| write.as_object())
            .flat_map(Object::iter)
        {
            object.insert(key.clone(), value.clone());
        }
        object.insert("batch", writes.len());
        Ok(object.into())
    });
    let graph = on_memory(
        StateGraph::new()
            .channel("d", ChannelSpec::delta(merge, 100).with_default(Object::new()))
            .node("a", returns(json!({"d": {"a": 1}})))
            .node("b", returns(json!({"d": {"b": 2}})))
            .node("z", returns(json!({"d": {"__overwrite__": null}})))
            .edge(START, "a")
            .edge(START, "b")
            .edge("a", "z"),
    );
    graph
        .invoke(Input::value(json!({})), RunConfig::on("1"))
        .await
        .unwrap();
    let at = async |step| {
        let at = at_step(&graph, "1", step).await;
        graph.get_state(&at).await.unwrap().values.to_string()
    };
    assert_eq!(at(0).await, r#"{"d":{}}"#);
    assert_eq!(at(1).await, r#"{"d":{"a":1,"b":2,"batch":2}}"#);
    assert_eq!(
        at(2).await,
        r#"{"d":{}}"#,
        "an overwrite with null leaves the beginning"
    );
}

#[tokio::test]
async fn messages_get_their_ids_before_they_are_stored() {
    let graph = on_memory(
        StateGraph::new()
            .channel("messages", ChannelSpec::delta(DeltaReducer::Messages, 100))
            .node("a", returns(json!({"messages": "hello"})))
            .edge(START, "a"),
    );
    let result = graph
        .invoke(
            Input::value(json!({"messages": [["user", "hi"]]})),
            RunConfig::on("1"),
        )
        .await
        .unwrap();
    for _ in 0..2 {
        let read = graph.get_state(&StateRef::live("1")).await.unwrap();
        assert_eq!(read.values, result.value, "each reading gives the same ids");
    }
}

#[tokio::test]
async fn the_past_is_kept_as_long_as_the_newest_checkpoint_needs_it() {
    let (graph, saver) = chained(every(100));
    graph.invoke(given("in"), RunConfig::on("1")).await.unwrap();
    let before = graph.get_state(&StateRef::live("1")).await.unwrap().values;
    let all = rows(&saver).await.len();
    let removal = graph
        .prune(&Pruning::threads(["1".into()], Keep::Latest))
        .await
        .unwrap();
    assert!(rows(&saver).await.len() > 1, "what the newest is rebuilt from");
    assert_eq!(rows(&saver).await.len() as u64 + removal.checkpoints, all as u64);
    assert_eq!(
        graph.get_state(&StateRef::live("1")).await.unwrap().values,
        before
    );
    let own = overwrite(before.get("items").unwrap().clone());
    graph
        .update_state(&StateRef::live("1"), edit(json!({"items": own}), "c"))
        .await
        .unwrap();
    graph
        .prune(&Pruning::threads(["1".into()], Keep::Latest))
        .await
        .unwrap();
    assert_eq!(rows(&saver).await.len(), 1, "the newest holds the key whole now");
    let after = graph.get_state(&StateRef::live("1")).await.unwrap().values;
    assert_eq!(after, before);
}

#[test]
fn a_frequency_of_zero_is_a_problem() {
    let graph = StateGraph::new()
        .channel("k", every(0))
        .node("a", logs("a"))
        .edge(START, "a");
    let problems = graph.compile().unwrap_err().problems;
    assert_eq!(
        (problems[0].code, problems[0].message.as_str()),
        (
            "delta-frequency",
            "snapshot_frequency must be a positive int, got 0"
        )
    );
}

fn two_keys(m: ChannelSpec, update: Value) -> StateGraph {
    StateGraph::new()
        .channel("m", m)
        .channel("n", ChannelSpec::last_value())
        .node("a", move |_: NodeContext, _: Value| {
            let update = update.clone();
            async move { Ok(NodeOutput::Update(update)) }
        })
        .edge(START, "a")
}

#[tokio::test]
async fn a_key_that_held_null_begins_empty_as_a_delta_key() {
    let saver = Arc::new(MemorySaver::new());
    let plain = two_keys(ChannelSpec::last_value(), json!({"m": null}))
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let input = Input::value(json!({"m": null}));
    plain.invoke(input, RunConfig::on("1")).await.unwrap();
    let delta = two_keys(ChannelSpec::delta(BinaryOp::Append, 10), json!({"m": ["x"]}))
        .compile()
        .unwrap()
        .with_checkpointer(saver);
    let state = delta.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(state.values.get("m"), Some(&json!([])));
    for length in 1..4 {
        let done = delta
            .invoke(Input::value(json!({"n": length})), RunConfig::on("1"))
            .await
            .unwrap();
        let items = done.value.get("m").and_then(Value::as_array).map(List::len);
        assert_eq!(items, Some(length));
    }
}

#[tokio::test]
async fn a_removal_of_what_is_not_there_is_no_mistake_in_a_delta_key_of_messages() {
    let update = json!({"m": [{"type": "remove", "content": "", "id": "gone"}, {"role": "ai", "content": "x", "id": "1"}]});
    let graph = two_keys(ChannelSpec::delta(DeltaReducer::Messages, 10), update.clone())
        .compile()
        .unwrap();
    let done = graph
        .invoke(Input::value(json!({"n": 1})), RunConfig::default())
        .await
        .unwrap();
    let messages = done.value.get("m").and_then(Value::as_array).map(List::len);
    assert_eq!(messages, Some(1));
    // In other keys it is one, as in LangGraph.
    let graph = two_keys(ChannelSpec::add_messages(), update).compile().unwrap();
    let failed = graph
        .invoke(Input::value(json!({"n": 1})), RunConfig::default())
        .await;
    assert!(failed.unwrap_err().to_string().contains("doesn't exist ('gone')"));
}
