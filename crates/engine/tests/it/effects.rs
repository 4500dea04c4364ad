//! Effects on the world outside: what was done on one branch of a thread is not done again on another unasked.

use std::sync::{Arc, Mutex};

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::{Calls, at_step, on_memory, routes};

/// The world outside: what was paid, with the keys that came with it.
#[derive(Clone, Default)]
struct World(Arc<Mutex<Vec<(String, i64)>>>);

impl World {
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
    fn keys(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|(key, _)| key.clone())
            .collect()
    }
    fn pay(&self, context: &NodeContext, amount: i64) -> Value {
        let mut paid = self.0.lock().unwrap();
        paid.push((context.effect_key().to_owned(), amount));
        json!(paid.len())
    }
    /// A node that pays `x` and writes the number of the receipt.
    fn node(&self) -> Arc<dyn Node> {
        let world = self.clone();
        Arc::new(move |context: NodeContext, state: Value| {
            let world = world.clone();
            async move {
                let amount = state.get("x").and_then(Value::as_i64).unwrap_or(0);
                Ok(NodeOutput::from(json!({"log": [world.pay(&context, amount)]})))
            }
        })
    }
}

/// A member of an object.
fn of(value: &Value, key: &str) -> Value {
    value.get(key).cloned().unwrap_or_default()
}

fn shared(node: impl Node) -> Arc<dyn Node> {
    Arc::new(node)
}

fn channels() -> StateGraph {
    StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .channel("note", ChannelSpec::last_value())
        .channel("log", ChannelSpec::append())
}

fn declared(effect: Effect) -> NodeOptions {
    NodeOptions::new().effect(effect).effect_keys(["x"])
}

fn nothing() -> impl Node {
    |_: NodeContext, _: Value| async { Ok(NodeOutput::none()) }
}

/// first -> pay -> last
fn one_payment(world: &World, effect: Effect) -> Graph {
    on_memory(
        channels()
            .node("first", nothing())
            .node_with("pay", world.node(), declared(effect))
            .node("last", nothing())
            .edge(START, "first")
            .edge("first", "pay")
            .edge("pay", "last"),
    )
}

fn begin(x: i64) -> Input {
    Input::value(json!({"x": x, "log": []}))
}

fn at(at: &StateRef, effects: EffectPolicy) -> RunConfig {
    RunConfig::on(at.thread.clone())
        .checkpoint_id(at.checkpoint_id.clone())
        .effects(effects)
}

fn on(thread: &str, effects: EffectPolicy) -> RunConfig {
    RunConfig::on(thread).effects(effects)
}

fn edit(values: Value, as_node: &str) -> StateUpdate {
    StateUpdate {
        values,
        as_node: Some(as_node.into()),
        ..StateUpdate::default()
    }
}

async fn edited(graph: &Graph, from: &StateRef, values: Value, as_node: &str) -> StateRef {
    let updated = graph.update_state(from, edit(values, as_node)).await.unwrap();
    StateRef::at(from.thread.clone(), updated.checkpoint_id)
}

fn question(result: &RunResult) -> Value {
    assert_eq!(result.status, RunStatus::Interrupted, "it asks: {result:?}");
    result.interrupts[0].value.clone()
}

#[tokio::test]
async fn a_replay_does_not_repeat_what_is_to_be_done_once() {
    for effect in [Effect::Once, Effect::Idempotent, Effect::Unknown] {
        let world = World::default();
        let graph = one_payment(&world, effect);
        graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
        let before = at_step(&graph, "1", 0).await;
        let stopped = graph
            .invoke(Input::Continue, at(&before, EffectPolicy::Stop))
            .await;
        let error = stopped.unwrap_err();
        assert!(
            matches!(&error, RunError::Effect { node, state: EffectState::Done, same_input: true, .. } if &**node == "pay"),
            "{effect:?}: {error}"
        );
        assert!(
            error
                .to_string()
                .contains("`pay` did its work already on another branch"),
            "{error}"
        );
        assert_eq!(world.count(), 1, "{effect:?}: nothing was repeated");
        let next = graph.get_state(&StateRef::live("1")).await.unwrap().next;
        assert_eq!(next, [Name::from("pay")], "the thread can go on");
        let result = graph
            .invoke(Input::Continue, on("1", EffectPolicy::Reuse))
            .await
            .unwrap();
        assert_eq!(
            (world.count(), &of(&result.value, "log")),
            (1, &json!([1])),
            "{effect:?}: its result is used"
        );
    }
}

#[tokio::test]
async fn what_is_pure_only_reads_or_says_nothing_runs_again() {
    for effect in [Some(Effect::Pure), Some(Effect::Reads), None] {
        let world = World::default();
        let options = effect.map_or_else(NodeOptions::new, |effect| NodeOptions::new().effect(effect));
        let graph = on_memory(
            channels()
                .node_with("pay", world.node(), options)
                .edge(START, "pay"),
        );
        graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
        let before = at_step(&graph, "1", 0).await;
        graph
            .invoke(Input::Continue, at(&before, EffectPolicy::Stop))
            .await
            .unwrap();
        assert_eq!(world.count(), 2, "{effect:?}");
    }
}

#[tokio::test]
async fn doing_it_again_sends_the_key_of_the_first_time() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Idempotent);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    for _ in 0..2 {
        graph
            .invoke(Input::Continue, at(&before, EffectPolicy::Again))
            .await
            .unwrap();
    }
    let keys = world.keys();
    assert_eq!(keys.len(), 3);
    assert!(
        keys.iter().all(|key| *key == keys[0]),
        "one key for one effect: {keys:?}"
    );
    // Another amount is another effect.
    let other = edited(&graph, &before, json!({"x": 50}), "first").await;
    graph
        .invoke(Input::Continue, at(&other, EffectPolicy::Again))
        .await
        .unwrap();
    assert_ne!(world.keys()[3], keys[0]);
}

#[tokio::test]
async fn with_another_input_there_is_nothing_to_use() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let other = edited(&graph, &before, json!({"x": 50}), "first").await;
    for policy in [EffectPolicy::Stop, EffectPolicy::Reuse] {
        let error = graph
            .invoke(Input::Continue, at(&other, policy))
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                RunError::Effect {
                    same_input: false,
                    ..
                }
            ),
            "{policy:?}: {error}"
        );
    }
    assert_eq!(world.count(), 1);
    let asked = graph
        .invoke(Input::Continue, on("1", EffectPolicy::Ask))
        .await
        .unwrap();
    let asks = question(&asked);
    assert_eq!(
        (of(&asks, "kind").as_str(), of(&asks, "state").as_str()),
        (Some("effect"), Some("other-input"))
    );
    let done = graph
        .invoke(Input::answer("again"), on("1", EffectPolicy::Ask))
        .await
        .unwrap();
    assert_eq!((world.count(), &of(&done.value, "log")), (2, &json!([2])));
    // What it stood for is taken: another fork of the edit has one payment behind it, not two.
    let other = edited(&graph, &before, json!({"x": 50}), "first").await;
    let used = graph
        .invoke(Input::Continue, at(&other, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!(
        (world.count(), &of(&used.value, "log")),
        (2, &json!([2])),
        "the one with this input is used"
    );
}

#[tokio::test]
async fn what_the_node_does_not_depend_on_may_differ() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let noted = edited(&graph, &before, json!({"note": "looked at"}), "first").await;
    let result = graph
        .invoke(Input::Continue, at(&noted, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!((world.count(), &of(&result.value, "log")), (1, &json!([1])));
}

#[tokio::test]
async fn a_person_is_asked_and_may_use_the_result_or_give_one() {
    for (answer, count, log) in [
        (json!("use"), 1, json!([1])),
        (json!("again"), 2, json!([2])),
        (json!({"update": {"log": ["by hand"]}}), 1, json!(["by hand"])),
    ] {
        let world = World::default();
        let saver = Arc::new(MemorySaver::new());
        let graph = one_payment(&world, Effect::Once).with_checkpointer(saver.clone());
        graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
        let before = at_step(&graph, "1", 0).await;
        let asked = graph
            .invoke(Input::Continue, at(&before, EffectPolicy::Ask))
            .await
            .unwrap();
        let asks = question(&asked);
        assert_eq!(
            of(&asks, "result"),
            json!({"log": [1]}),
            "what it returned is shown"
        );
        assert_eq!(world.count(), 1, "nothing is done before the answer");
        let refused = graph
            .invoke(Input::answer("perhaps"), on("1", EffectPolicy::Ask))
            .await
            .unwrap();
        assert!(
            question(&refused).get("refused").is_some(),
            "another answer is refused with a reason"
        );
        let done = graph
            .invoke(Input::answer(answer.clone()), on("1", EffectPolicy::Ask))
            .await
            .unwrap();
        assert_eq!(
            (world.count(), &of(&done.value, "log")),
            (count, &log),
            "{answer}"
        );
        let source = match answer.as_str() {
            Some("use") => EffectSource::Earlier,
            Some(_) => EffectSource::Work,
            None => EffectSource::Answer,
        };
        assert_eq!(newest_source(&saver, "1").await, Some(source), "{answer}");
    }
}

/// What was noted last about where the result of `pay` came from.
async fn newest_source(saver: &MemorySaver, thread: &str) -> Option<EffectSource> {
    let heads = saver
        .heads(&ListQuery::new().thread(thread).ns(""))
        .await
        .unwrap();
    for head in heads {
        let tuple = saver
            .get(&thread.into(), "", Some(&head.id))
            .await
            .unwrap()
            .unwrap();
        let notes = tuple.pending_writes.iter();
        let mut notes = notes.filter(|write| &*write.write.channel == reserved::EFFECT);
        if let Some(note) = notes.next() {
            return EffectSource::of_note(&note.write.value);
        }
    }
    None
}

/// pay in a loop until `x` is 0; each time `x` is one less.
fn loop_of_payments(world: &World) -> Graph {
    let node = world.clone();
    on_memory(
        channels()
            .node_with(
                "pay",
                shared(move |context: NodeContext, state: Value| {
                    let world = node.clone();
                    async move {
                        let x = state.get("x").and_then(Value::as_i64).unwrap_or(0);
                        let receipt = world.pay(&context, x);
                        Ok(NodeOutput::from(json!({"log": [receipt], "x": x - 1})))
                    }
                }),
                declared(Effect::Once),
            )
            .edge(START, "pay")
            .branch(
                "pay",
                Branch::new(routes(|state| match state.get("x").and_then(Value::as_i64) {
                    Some(x) if x > 0 => vec![Target::node("pay")],
                    _ => vec![Target::node(END)],
                })),
            ),
    )
}

#[tokio::test]
async fn each_round_of_a_loop_takes_its_own_result() {
    let world = World::default();
    let graph = loop_of_payments(&world);
    graph.invoke(begin(3), RunConfig::on("1")).await.unwrap();
    assert_eq!(world.count(), 3);
    let second = at_step(&graph, "1", 1).await;
    let result = graph
        .invoke(Input::Continue, at(&second, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!((world.count(), &of(&result.value, "log")), (3, &json!([1, 2, 3])));
    // A longer case: what is left over of the first is used or asked about, what is beyond it is new.
    let longer = edited(
        &graph,
        &at_step(&graph, "1", 0).await,
        json!({"x": 5, "log": []}),
        START,
    )
    .await;
    let again = graph
        .invoke(Input::Continue, at(&longer, EffectPolicy::Again))
        .await
        .unwrap();
    assert_eq!(of(&again.value, "log").as_array().unwrap().len(), 5);
    assert_eq!(world.count(), 8);
}

#[tokio::test]
async fn beyond_what_was_done_before_nobody_is_asked() {
    let world = World::default();
    let graph = loop_of_payments(&world);
    let two = RunConfig::on("1").interrupt_after(["pay"]);
    graph.invoke(begin(3), two).await.unwrap();
    assert_eq!(world.count(), 1);
    let first = at_step(&graph, "1", 0).await;
    let result = graph
        .invoke(Input::Continue, at(&first, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!(
        of(&result.value, "log"),
        json!([1, 2, 3]),
        "the first is used, the others are new"
    );
    assert_eq!(world.count(), 3);
}

#[tokio::test]
async fn a_new_input_on_the_newest_checkpoint_is_a_new_case() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let other = edited(&graph, &before, json!({"x": 7}), "first").await;
    let reused = graph
        .invoke(Input::Continue, at(&other, EffectPolicy::Again))
        .await;
    reused.unwrap();
    for n in 3..5 {
        graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
        assert_eq!(world.count(), n, "the next turn pays as any");
    }
    // An input at a past checkpoint goes back to where things were done.
    let error = graph
        .invoke(begin(40), at(&before, EffectPolicy::Stop))
        .await
        .unwrap_err();
    assert!(matches!(error, RunError::Effect { .. }), "{error}");
}

#[tokio::test]
async fn packets_take_their_own_results() {
    let world = World::default();
    let node = world.clone();
    let graph = on_memory(
        channels()
            .node("split", nothing())
            .node_with(
                "pay",
                shared(move |context: NodeContext, item: Value| {
                    let world = node.clone();
                    async move {
                        let amount = item.as_i64().unwrap_or(0);
                        world.pay(&context, amount);
                        Ok(NodeOutput::from(json!({"log": [amount]})))
                    }
                }),
                declared(Effect::Once),
            )
            .edge(START, "split")
            .branch(
                "split",
                Branch::new(routes(|state| {
                    let items = state
                        .get("x")
                        .and_then(Value::as_array)
                        .cloned()
                        .unwrap_or_default();
                    items
                        .iter()
                        .map(|item| Target::send("pay", item.clone()))
                        .collect()
                })),
            ),
    );
    let given = Input::value(json!({"x": [5, 6, 5], "log": []}));
    graph.invoke(given, RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let result = graph
        .invoke(Input::Continue, at(&before, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!((world.count(), &of(&result.value, "log")), (3, &json!([5, 6, 5])));
    let other = edited(&graph, &before, json!({"x": [6, 7]}), START).await;
    let asked = graph.invoke(Input::Continue, at(&other, EffectPolicy::Ask)).await;
    assert!(asked.is_ok());
}

#[tokio::test]
async fn work_that_was_broken_off_is_asked_about_each_time() {
    let calls = Calls::default();
    let seen = calls.clone();
    let graph = on_memory(
        channels()
            .node_with(
                "pay",
                shared(move |_: NodeContext, _: Value| {
                    let n = seen.add("pay");
                    async move {
                        match n {
                            3 => Ok(NodeOutput::from(json!({"log": ["paid"]}))),
                            n => Err(NodeError::new("ServerError", format!("no answer ({n})"))),
                        }
                    }
                }),
                NodeOptions::new().effect(Effect::Once),
            )
            .edge(START, "pay"),
    );
    graph.invoke(begin(1), RunConfig::on("1")).await.unwrap_err();
    for failures in 1..3 {
        let asked = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
        let text = of(&question(&asked), "question").as_str().unwrap().to_owned();
        assert!(
            text.contains("Did `pay` do its work?") && text.contains(&format!("no answer ({failures})")),
            "{text}"
        );
        assert_eq!(calls.of("pay"), failures);
        let id = asked.interrupts[0].id.clone();
        let answers: Object = [(id.as_str(), Value::from("again"))].into_iter().collect();
        let run = graph.invoke(Input::answer(answers), RunConfig::on("1")).await;
        assert_eq!(run.is_ok(), failures == 2, "{run:?}");
    }
    assert_eq!(calls.of("pay"), 3);
}

#[tokio::test]
async fn an_idempotent_request_that_was_broken_off_is_done_on_a_fork_with_its_key() {
    let world = World::default();
    let (node, fails) = (world.clone(), Calls::default());
    let graph = on_memory(
        channels()
            .node("first", nothing())
            .node_with(
                "pay",
                shared(move |context: NodeContext, state: Value| {
                    let (world, n) = (node.clone(), fails.add("pay"));
                    async move {
                        world.pay(&context, of(&state, "x").as_i64().unwrap_or(0));
                        match n {
                            1 => Err(NodeError::Cancelled),
                            _ => Ok(NodeOutput::none()),
                        }
                    }
                }),
                declared(Effect::Idempotent),
            )
            .edge(START, "first")
            .edge("first", "pay"),
    );
    graph.invoke(begin(1), RunConfig::on("1")).await.unwrap_err();
    let before = at_step(&graph, "1", 0).await;
    graph
        .invoke(Input::Continue, at(&before, EffectPolicy::Stop))
        .await
        .unwrap();
    let keys = world.keys();
    assert_eq!(keys.len(), 2);
    assert_eq!(
        keys[0], keys[1],
        "nobody knows whether the first came through: it carries the same key"
    );
}

#[tokio::test]
async fn nodes_of_nested_graphs_are_not_repeated_either() {
    let world = World::default();
    let inner = channels()
        .node("look", nothing())
        .node_with("pay", world.node(), declared(Effect::Once))
        .edge(START, "look")
        .edge("look", "pay")
        .compile()
        .unwrap();
    let run = inner.clone();
    let graph = on_memory(
        channels()
            .node("first", nothing())
            .node_with(
                "sub",
                shared(move |context: NodeContext, state: Value| {
                    let inner = run.clone();
                    async move {
                        let given = json!({"x": of(&state, "x"), "log": []});
                        let out = context.invoke(&inner, Input::value(given)).await?;
                        Ok(NodeOutput::from(json!({"log": of(&out, "log")})))
                    }
                }),
                NodeOptions::new().runs(&inner),
            )
            .edge(START, "first")
            .edge("first", "sub"),
    );
    graph.invoke(begin(9), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let listed = graph
        .effects_after(&StateRef::live("1").checkpoint(before.checkpoint_id.clone()))
        .await
        .unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (&*listed[0].node, &*listed[0].path[0], listed[0].times),
        ("pay", "sub", 1)
    );
    let error = graph
        .invoke(Input::Continue, at(&before, EffectPolicy::Stop))
        .await
        .unwrap_err();
    assert_eq!(error.class(), "EffectError", "{error}");
    assert_eq!(world.count(), 1);
    let result = graph
        .invoke(Input::Continue, at(&before, EffectPolicy::Reuse))
        .await
        .unwrap();
    assert_eq!((world.count(), &of(&result.value, "log")), (1, &json!([1])));
}

#[tokio::test]
async fn what_would_be_done_again_is_listed_before() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let thread = ThreadId::new("1");
    assert!(
        graph
            .effects_after(&StateRef::live(thread.clone()))
            .await
            .unwrap()
            .is_empty(),
        "nothing lies ahead of the newest"
    );
    let before = at_step(&graph, "1", 0).await;
    let listed = graph
        .effects_after(&StateRef::live(thread.clone()).checkpoint(before.checkpoint_id.clone()))
        .await
        .unwrap();
    assert_eq!(listed.len(), 1);
    let done = &listed[0];
    assert_eq!((&*done.node, done.effect, done.times), ("pay", Effect::Once, 1));
    assert_eq!(
        (done.state, done.result.clone()),
        (EffectState::Done, Some(json!({"log": [1]})))
    );
    let after = at_step(&graph, "1", 2).await;
    let listed = graph
        .effects_after(&StateRef::live(thread.clone()).checkpoint(after.checkpoint_id.clone()))
        .await
        .unwrap();
    assert!(listed.is_empty(), "it was done before that checkpoint");
}

/// What a node of this kind notes before and after its work is the engine's own.
#[tokio::test]
async fn a_node_done_once_streams_its_own_update_and_nothing_else() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    let config = RunConfig::on("1").modes([StreamMode::Updates, StreamMode::Tasks]);
    let mut run = graph.stream(begin(4), config);
    let (mut updates, mut tasks) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        let data = event.data();
        match event.mode() {
            StreamMode::Updates => updates.extend(data.as_object().unwrap().keys().map(ToString::to_string)),
            _ => tasks.push(data.get("name").unwrap().as_str().unwrap().to_owned()),
        }
    }
    run.finish().await.unwrap();
    assert_eq!(updates, ["first", "pay", "last"]);
    assert_eq!(tasks, ["first", "first", "pay", "pay", "last", "last"]);
}

/// A node of a nested graph may bear the name of one around it: both are listed, and each once.
#[tokio::test]
async fn effects_of_one_name_in_two_graphs_are_two() {
    let world = World::default();
    let inner = channels()
        .node_with("pay", world.node(), declared(Effect::Once))
        .edge(START, "pay")
        .compile()
        .unwrap();
    let graph = on_memory(
        channels()
            .node("first", nothing())
            .subgraph("sub", &inner)
            .node_with("pay", world.node(), declared(Effect::Once))
            .edge(START, "first")
            .edge("first", "sub")
            .edge("sub", "pay"),
    );
    graph.invoke(begin(4), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let listed = graph
        .effects_after(&StateRef::live("1").checkpoint(before.checkpoint_id.clone()))
        .await
        .unwrap();
    let found: Vec<(usize, &str, u32)> = listed
        .iter()
        .map(|done| (done.path.len(), &*done.node, done.times))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found.iter().all(|(_, node, times)| (*node, *times) == ("pay", 1)),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_policy_of_one_node_comes_before_that_of_the_run() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let before = at_step(&graph, "1", 0).await;
    let mut config = at(&before, EffectPolicy::Stop);
    config.effects_of.insert("pay".into(), EffectPolicy::Reuse);
    graph.invoke(Input::Continue, config).await.unwrap();
    assert_eq!(world.count(), 1);
    // Nothing fits another input: then the policy of the run decides.
    let other = edited(&graph, &before, json!({"x": 1}), "first").await;
    let mut config = at(&other, EffectPolicy::Ask);
    config.effects_of.insert("pay".into(), EffectPolicy::Reuse);
    let asked = graph.invoke(Input::Continue, config).await.unwrap();
    assert_eq!(of(&question(&asked), "state"), json!("other-input"));
}

/// A fork that is a copy of a checkpoint.
async fn copied(graph: &Graph, from: &StateRef) -> StateRef {
    let copy = StateUpdate {
        as_node: Some(reserved::COPY.into()),
        ..StateUpdate::default()
    };
    let fork = graph.update_state(from, copy).await.unwrap();
    StateRef::at(from.thread.clone(), fork.checkpoint_id)
}

/// What two branches have in common may be pruned; they are branches of one case all the same.
#[tokio::test]
async fn branches_from_a_pruned_checkpoint_know_of_each_other() {
    let world = World::default();
    let graph = one_payment(&world, Effect::Once);
    graph.invoke(begin(1), on("1", EffectPolicy::Stop)).await.unwrap();
    let before = at_step(&graph, "1", 1).await;
    let forks = [copied(&graph, &before).await, copied(&graph, &before).await];
    graph
        .prune(&Pruning::threads(["1".into()], Keep::Newest(2)))
        .await
        .unwrap();
    let again = graph
        .invoke(Input::Continue, at(&forks[0], EffectPolicy::Stop))
        .await;
    again.expect("the branch that paid is gone, and nothing says that it did");
    assert_eq!(world.count(), 2);
    let stopped = graph
        .invoke(Input::Continue, at(&forks[1], EffectPolicy::Stop))
        .await;
    assert!(matches!(stopped, Err(RunError::Effect { .. })), "{stopped:?}");
    assert_eq!(world.count(), 2);
}

/// A copy of the first checkpoint is a second root: what follows it has no checkpoint in common with the first run.
#[tokio::test]
async fn a_branch_from_the_first_checkpoint_knows_of_the_others() {
    let world = World::default();
    let asks = |context: NodeContext, _: Value| async move {
        context.interrupt("May it go on?")?;
        Ok(NodeOutput::none())
    };
    let graph = on_memory(
        channels()
            .node("first", asks)
            .node_with("pay", world.node(), declared(Effect::Once))
            .edge(START, "first")
            .edge("first", "pay"),
    );
    graph.invoke(begin(40), RunConfig::on("1")).await.unwrap();
    let root = at_step(&graph, "1", -1).await;
    graph
        .invoke(Input::answer("yes"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(world.count(), 1);
    // It stops before the payment, and another run goes on from where it stopped.
    let fork = copied(&graph, &root).await;
    let asked = graph
        .invoke(Input::Continue, at(&fork, EffectPolicy::Reuse))
        .await;
    assert_eq!(question(&asked.unwrap()), json!("May it go on?"));
    let done = graph
        .invoke(Input::answer("yes"), on("1", EffectPolicy::Reuse))
        .await;
    assert_eq!(of(&done.unwrap().value, "log"), json!([1]));
    assert_eq!(world.count(), 1, "it was paid on the first branch");
    // The branch that comes after is another branch of the same roots.
    let stopped = graph.invoke(Input::Continue, at(&root, EffectPolicy::Stop)).await;
    assert_eq!(stopped.unwrap().status, RunStatus::Interrupted);
    let stopped = graph
        .invoke(Input::answer("yes"), on("1", EffectPolicy::Stop))
        .await;
    assert!(matches!(stopped, Err(RunError::Effect { .. })), "{stopped:?}");
}
