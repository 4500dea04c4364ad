//! Edits of a thread: what they write, what they arm, what history shows of them, and what they refuse.

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

fn as_node(node: &str, values: Value) -> StateUpdate {
    StateUpdate {
        values,
        as_node: Some(node.into()),
        ..StateUpdate::default()
    }
}

fn at(updated: &Updated) -> StateRef {
    StateRef::at("1", updated.checkpoint_id.clone())
}

fn on(at: &StateRef) -> RunConfig {
    RunConfig::on(at.thread.clone()).checkpoint_id(at.checkpoint_id.clone())
}

/// History, newest first: `step source values -> next | task=result …`.
async fn results(graph: &Graph, thread: &str) -> Vec<String> {
    let entries = graph
        .get_state_history(&thread.into(), &ListQuery::default())
        .await
        .unwrap();
    let line = |entry: &StateSnapshot| {
        let head = entry.checkpoint.as_ref().unwrap();
        let tasks = entry.tasks.iter().map(|task| match &task.result {
            Some(result) => format!("{}={result}", task.name),
            None => task.name.to_string(),
        });
        format!(
            "{} {} {} -> {} | {}",
            head.metadata.step,
            head.metadata.source.as_str(),
            entry.values,
            entry.next.join(","),
            tasks.collect::<Vec<_>>().join(" ")
        )
    };
    entries.iter().map(line).collect()
}

async fn live(graph: &Graph) -> (String, String, usize) {
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    (
        log_of(&state.values),
        state.next.join(","),
        state.interrupts.len(),
    )
}

fn asks(question: &'static str) -> impl Node {
    move |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(question)?;
        Ok(NodeOutput::update([("log", answer)]))
    }
}

#[tokio::test]
async fn super_steps_in_bulk_make_the_history_of_a_real_run() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    let done = graph
        .bulk_update_state(
            &StateRef::live("1"),
            vec![
                vec![as_node("__input__", json!({"x": 1, "log": ["i"]}))],
                vec![as_node(START, json!({"log": ["A"]}))],
                vec![as_node("a", json!({"log": ["B"]}))],
                vec![
                    as_node("b", json!({"log": ["C1"]})),
                    as_node("c", json!({"log": ["C2"]})),
                ],
            ],
        )
        .await
        .unwrap();
    assert_eq!((&*done.as_node, done.next.join(",")), ("c", "c".into()));
    assert_eq!(
        results(&graph, "1").await,
        [
            r#"2 update {"log":["A","B","C1","C2"]} -> c | c"#,
            r#"1 update {"log":["A","B"]} -> b | b={"log":["C1"]}"#,
            r#"0 update {"log":["A"]} -> a | a={"log":["B"]}"#,
            r#"-1 input {"log":[]} -> __start__ | __start__={"log":["A"]}"#,
        ]
    );
    // The whole of a run, played in: the same records as a run that ran.
    let played = graph
        .bulk_update_state(
            &StateRef::live("2"),
            vec![
                vec![as_node("__input__", json!({"x": 1, "log": ["i"]}))],
                vec![as_node(START, json!({"x": 1, "log": ["i"]}))],
                vec![as_node("a", json!({"log": ["a"]}))],
                vec![as_node("b", json!({"log": ["b"]}))],
                vec![as_node("c", json!({"log": ["c"]}))],
            ],
        )
        .await
        .unwrap();
    assert!(played.next.is_empty());
    graph
        .invoke(Input::value(json!({"x": 1, "log": ["i"]})), RunConfig::on("3"))
        .await
        .unwrap();
    let (played, ran) = (results(&graph, "2").await, results(&graph, "3").await);
    let ran: Vec<String> = ran.iter().map(|line| line.replace("loop", "update")).collect();
    assert_eq!(played, ran);
}

#[tokio::test]
async fn bulk_edits_that_make_no_sense_are_refused_and_store_nothing() {
    let graph = on_memory(
        base()
            .node("ok", logs("ok"))
            .node("z", logs("z"))
            .edge(START, "ok"),
    );
    let null = |node: &str| as_node(node, Value::Null);
    let some = |node: &str| as_node(node, json!({"x": 1}));
    let unnamed = || StateUpdate {
        values: json!({"x": 1}),
        ..StateUpdate::default()
    };
    let cases: Vec<(Vec<Vec<StateUpdate>>, &str)> = vec![
        (vec![], "No supersteps provided"),
        (vec![vec![some("ok")], vec![]], "No updates provided"),
        (
            vec![vec![unnamed(), some("ok")]],
            "as_node is required when applying multiple updates",
        ),
        (
            vec![vec![null(END), null(END)]],
            "Cannot apply multiple updates when clearing state",
        ),
        (vec![vec![some("ok"), null(END)]], "Node __end__ does not exist"),
        (vec![vec![some(END)]], "Node __end__ does not exist"),
        (vec![vec![some("nope")]], "Node nope does not exist"),
        (
            vec![vec![some("__input__"), some("ok")]],
            "Cannot apply multiple updates when updating as input",
        ),
        (
            vec![vec![null("__input__")]],
            "Received no input writes for __start__",
        ),
        (
            vec![vec![null("__copy__"), some("ok")]],
            "Cannot copy checkpoint with multiple updates",
        ),
        (
            vec![vec![null("__copy__")]],
            "Cannot copy a non-existent checkpoint",
        ),
        (
            vec![vec![as_node("__copy__", json!([5]))]],
            "Invalid update item: 5 when copying checkpoint",
        ),
        (vec![vec![as_node("ok", json!(5))]], "Expected dict, got 5"),
        (
            vec![vec![some("ok"), some("z")]],
            "At key 'x': Can receive only one value per step. Use an Annotated key to handle multiple values.",
        ),
        // The first super-step is fine, but the second is not: neither is stored.
        (
            vec![vec![some("ok")], vec![some("nope")]],
            "Node nope does not exist",
        ),
    ];
    for (steps, text) in cases {
        let error = graph
            .bulk_update_state(&StateRef::live("1"), steps)
            .await
            .unwrap_err();
        let first = error.to_string();
        let first = first.lines().next().unwrap_or_default();
        assert!(first.starts_with(text), "{first:?} should be {text:?}");
    }
    assert!(results(&graph, "1").await.is_empty());
}

#[tokio::test]
async fn an_edit_in_the_place_of_one_of_several_questions_ends_that_one() {
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("which?")?;
        Ok::<_, NodeError>(NodeOutput::Update(json!({"log": [answer]})))
    };
    let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let nodes = ["a", "b", "c"];
    let graph = nodes
        .iter()
        .fold(base(), |graph, node| graph.node(*node, ask).edge(START, *node));
    let graph = graph.compile().unwrap().with_checkpointer(saver.clone());
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let asked = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(asked.checkpoint.as_ref().unwrap().interrupted, 3);
    // What is filed in the place of the second stands before the questions, apart from its own.
    graph
        .update_state(&StateRef::live("1"), as_node("b", json!({"log": ["by hand"]})))
        .await
        .unwrap();
    let there = graph.get_state(&asked.state_ref()).await.unwrap();
    assert_eq!(there.checkpoint.unwrap().interrupted, 2);
    let address = CheckpointAddress::new("1", "", asked.checkpoint.unwrap().id);
    let rows = saver.writes_of(address).await.unwrap();
    let waiting: Vec<&str> = waiting_questions(&rows)
        .iter()
        .map(|(row, _)| &*row.task_path)
        .collect();
    assert_eq!(waiting, ["~__pregel_pull, a", "~__pregel_pull, c"]);
}

#[tokio::test]
async fn updates_of_one_node_go_to_its_waiting_tasks_in_order() {
    let graph = on_memory(
        base()
            .node("w", logs("w"))
            .node("z", logs("z"))
            .branch(
                START,
                Branch::new(routes(|_| {
                    vec![
                        Target::send("w", json!({"i": 1})),
                        Target::send("w", json!({"i": 2})),
                    ]
                })),
            )
            .edge("w", "z"),
    );
    let config = |thread: &str| RunConfig::on(thread).interrupt_before(["w"]);
    for thread in ["1", "2", "3"] {
        graph.invoke(input(), config(thread)).await.unwrap();
    }
    graph
        .bulk_update_state(
            &StateRef::live("1"),
            vec![vec![
                as_node("w", json!({"log": ["first"]})),
                as_node("w", json!({"log": ["second"]})),
            ]],
        )
        .await
        .unwrap();
    assert_eq!(
        results(&graph, "1").await[..2],
        [
            r#"1 update {"x":1,"log":["first","second"]} -> z | z"#,
            r#"0 loop {"x":1,"log":[]} -> w,w | w={"log":["first"]} w={"log":["second"]}"#,
        ]
    );
    // One update drops both packets; only the first task has a result.
    graph
        .update_state(&StateRef::live("2"), as_node("w", json!({"log": ["only"]})))
        .await
        .unwrap();
    assert_eq!(
        results(&graph, "2").await[..2],
        [
            r#"1 update {"x":1,"log":["only"]} -> z | z"#,
            r#"0 loop {"x":1,"log":[]} -> w,w | w={"log":["only"]} w"#,
        ]
    );
    // A task can be named.
    let tasks = graph.get_state(&StateRef::live("3")).await.unwrap().tasks;
    let named = StateUpdate {
        task_id: Some(tasks[1].id.clone()),
        ..as_node("w", json!({"log": ["named"]}))
    };
    graph.update_state(&StateRef::live("3"), named).await.unwrap();
    assert_eq!(
        results(&graph, "3").await[1],
        r#"0 loop {"x":1,"log":[]} -> w,w | w w={"log":["named"]}"#
    );
}

#[tokio::test]
async fn an_input_edit_waits_to_be_run() {
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("ask", asks("q"))
            .edge(START, "a")
            .edge("a", "ask"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let done = graph
        .update_state(
            &StateRef::live("1"),
            as_node("__input__", json!({"x": 2, "log": ["I"]})),
        )
        .await
        .unwrap();
    assert_eq!(done.next.join(","), "__start__,ask", "what waited still waits");
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(result.interrupts.len(), 1);
    assert_eq!(
        results(&graph, "1").await[..2],
        [
            r#"2 input {"x":1,"log":["a"]} -> __start__,ask | __start__={"x":2,"log":["I"]} ask"#,
            r#"1 loop {"x":1,"log":["a"]} -> ask | ask"#,
        ]
    );
    // Anything but null is taken; what is no object fails where START reads it.
    graph
        .update_state(&StateRef::live("2"), as_node("__input__", json!(5)))
        .await
        .unwrap();
    let error = graph
        .invoke(Input::Continue, RunConfig::on("2"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("Expected dict, got 5"), "{error}");
}

#[tokio::test]
async fn copies_are_siblings_and_run_on_as_a_branch() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp2 = at_step(&graph, "1", 2).await;
    let cp1 = at_step(&graph, "1", 1).await;
    let copy = graph
        .update_state(&cp2, as_node("__copy__", Value::Null))
        .await
        .unwrap();
    let state = graph.get_state(&at(&copy)).await.unwrap();
    let head = state.checkpoint.unwrap();
    assert_eq!(
        (head.metadata.source, head.metadata.step, head.parent),
        (Source::Fork, 3, cp1.checkpoint_id.clone())
    );
    assert_eq!(
        (log_of(&state.values), state.next.join(",")),
        ("a,b".into(), "c".into())
    );
    let done = graph.invoke(Input::Continue, on(&at(&copy))).await.unwrap();
    assert_eq!(log_of(&done.value), "a,b,c");
    assert_eq!(
        history(&graph, "1").await[..3],
        ["4 loop [a,b,c] -> ", "3 fork [a,b] -> c", "3 loop [a,b,c] -> "],
        "the copy is continued without another fork"
    );
    let head = graph
        .get_state(&StateRef::live("1"))
        .await
        .unwrap()
        .checkpoint
        .unwrap();
    assert_eq!(head.parent, Some(copy.checkpoint_id));

    let patched = graph
        .update_state(&cp2, as_node("__copy__", json!([[{"log": ["PATCH"]}, "c"]])))
        .await
        .unwrap();
    assert!(patched.next.is_empty());
    assert_eq!(
        results(&graph, "1").await[..2],
        [
            r#"4 update {"x":1,"log":["a","b","PATCH"]} ->  | "#,
            r#"3 fork {"x":1,"log":["a","b"]} -> c | c={"log":["PATCH"]}"#,
        ]
    );
    // The first checkpoint has no parent, and neither has its copy.
    let first = at_step(&graph, "1", -1).await;
    let copy = graph
        .update_state(&first, as_node("__copy__", json!({"ignored": 1})))
        .await
        .unwrap();
    let state = graph.get_state(&at(&copy)).await.unwrap();
    assert_eq!(
        (state.checkpoint.unwrap().parent, state.next.join(",")),
        (None, START.into())
    );
    let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,b,c");
}

/// `one` sends to `two`, beside its edge to it; names are joined with ` > `.
fn sends() -> Graph {
    let path = |old: &Value, new: &Value| {
        let (old, new) = (old.as_str().unwrap_or_default(), new.as_str().unwrap_or_default());
        let both = [old, new].into_iter().filter(|part| !part.is_empty());
        Ok(Value::from(both.collect::<Vec<_>>().join(" > ")))
    };
    let join = BinaryOp::Custom("path".into(), Arc::new(path));
    let one = |_: NodeContext, _: Value| async {
        Ok(NodeOutput::Command(Command {
            update: Some(json!({"name": "one"})),
            goto: vec![Target::send("two", json!({}))],
            ..Command::default()
        }))
    };
    let named = |name: &str| returns(json!({ "name": name }));
    on_memory(
        StateGraph::new()
            .channel("name", ChannelSpec::binary(join, Some("".into())))
            .node("one", one)
            .node("two", named("two"))
            .node("three", named("three"))
            .edge(START, "one")
            .edge("one", "two")
            .edge("two", "three"),
    )
}

async fn named(graph: &Graph, name: &str) -> StateRef {
    let entries = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let found = entries
        .iter()
        .rev()
        .find(|entry| entry.values == json!({ "name": name }));
    StateRef::at("1", found.unwrap().checkpoint.clone().unwrap().id)
}

#[tokio::test]
async fn copies_with_updates_fill_the_tasks_of_a_send_step() {
    let graph = sends();
    graph
        .invoke(Input::value(json!({"name": "start"})), RunConfig::on("1"))
        .await
        .unwrap();
    let step = named(&graph, "start > one").await;
    let copy = graph
        .update_state(
            &step,
            as_node(
                "__copy__",
                json!([[{"name": "two"}, "two"], [{"name": "two"}, "two"]]),
            ),
        )
        .await
        .unwrap();
    assert_eq!(copy.next.join(","), "three");
    assert_eq!(
        results(&graph, "1").await[..2],
        [
            r#"3 update {"name":"start > one > two > two"} -> three | three"#,
            r#"2 fork {"name":"start > one"} -> two,two | two={"name":"two"} two={"name":"two"}"#,
        ]
    );
    let start = named(&graph, "start").await;
    let copy = graph
        .update_state(&start, as_node("__copy__", json!([[{"name": "one*"}, "one"]])))
        .await
        .unwrap();
    assert_eq!(copy.next.join(","), "two", "the update carried no packet");
    let done = graph.invoke(Input::Continue, on(&at(&copy))).await.unwrap();
    assert_eq!(done.value, json!({"name": "start > one* > two > three"}));
    let before = results(&graph, "1").await.len();
    let copy = graph
        .update_state(&step, as_node("__copy__", Value::Null))
        .await
        .unwrap();
    let done = graph.invoke(Input::Continue, on(&at(&copy))).await.unwrap();
    assert_eq!(done.value, json!({"name": "start > one > two > two > three"}));
    assert_eq!(results(&graph, "1").await.len(), before + 3);
}

#[tokio::test]
async fn closing_a_step_keeps_what_finished_and_where_it_led() {
    let graph = on_memory(
        base()
            .node("ok", logs("ok"))
            .node("ask", asks("q"))
            .node("z", logs("z"))
            .edge(START, "ok")
            .edge(START, "ask")
            .edge("ok", "z")
            .edge("ask", "z"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let done = graph
        .update_state(&StateRef::live("1"), as_node(END, Value::Null))
        .await
        .unwrap();
    assert_eq!(
        done.next.join(","),
        "z",
        "the finished task led on; the open one is gone"
    );
    assert_eq!(live(&graph).await, ("ok".into(), "z".into(), 0));
    let fresh = graph
        .update_state(&StateRef::live("2"), as_node(END, Value::Null))
        .await
        .unwrap();
    assert!(fresh.next.is_empty());
    assert_eq!(history(&graph, "2").await, ["0 update [] -> "]);
    let error = graph
        .invoke(Input::Continue, RunConfig::on("2"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "empty-input", "nothing was ever written: {error}");
    let done = graph.invoke(input(), RunConfig::on("2")).await.unwrap();
    assert_eq!(
        done.status,
        RunStatus::Interrupted,
        "an input begins as on any thread"
    );
}

#[tokio::test]
async fn an_edit_at_a_join_leaves_the_barrier_full() {
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("b", logs("b"))
            .node("z", logs("z"))
            .node("y", logs("y"))
            .edge(START, "a")
            .edge(START, "b")
            .join(["a", "b"], "z")
            .edge("z", "y"),
    );
    let config = RunConfig::on("1").interrupt_before(["z"]);
    graph.invoke(input(), config).await.unwrap();
    let done = graph
        .update_state(&StateRef::live("1"), as_node("z", json!({"log": ["U"]})))
        .await
        .unwrap();
    assert_eq!(done.next.join(","), "z,y");
    let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,b,U,y,z,y");
}

#[tokio::test]
async fn an_edit_ignores_what_finished_siblings_and_commands_left_behind() {
    let graph = on_memory(
        base()
            .node("ok", logs("ok"))
            .node("ask", asks("q"))
            .edge(START, "ok")
            .edge(START, "ask"),
    );
    graph
        .invoke(Input::value(json!({"x": 1, "log": ["i1"]})), RunConfig::on("1"))
        .await
        .unwrap();
    let edit = |log: &str| StateUpdate {
        values: json!({ "log": [log] }),
        ..StateUpdate::default()
    };
    let done = graph.update_state(&StateRef::live("1"), edit("U")).await.unwrap();
    assert_eq!((&*done.as_node, done.next.join(",")), (START, "ok,ask".into()));
    assert_eq!(live(&graph).await, ("i1,U".into(), "ok,ask".into(), 0));
    let done = graph
        .update_state(&StateRef::live("1"), as_node("ask", json!({"log": ["U"]})))
        .await
        .unwrap();
    assert!(done.next.is_empty(), "both are cleared: {done:?}");

    let graph = on_memory(chain(&["a"]));
    let command = || {
        Input::Command(Command {
            update: Some(json!({"log": ["CU"]})),
            ..Command::default()
        })
    };
    for thread in ["1", "2"] {
        graph.invoke(input(), RunConfig::on(thread)).await.unwrap();
        graph.invoke(command(), RunConfig::on(thread)).await.unwrap();
    }
    assert_eq!(live(&graph).await.0, "a,CU");
    graph
        .update_state(&StateRef::live("1"), edit("US"))
        .await
        .unwrap();
    assert_eq!(
        live(&graph).await.0,
        "a,US",
        "an edit starts from the checkpoint itself"
    );
    let done = graph
        .invoke(Input::value(json!({"log": ["IN"]})), RunConfig::on("2"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "a,CU,IN,a", "a new input keeps it");
}

#[tokio::test]
async fn null_edits_rearm_and_empty_edits_only_make_a_checkpoint() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let null = graph.update_state(&cp1, StateUpdate::default()).await.unwrap();
    assert_eq!((&*null.as_node, null.next.join(",")), ("a", "b".into()));
    for values in [json!({}), json!({"unknown": 1})] {
        let done = graph
            .update_state(&StateRef::live("1"), as_node("c", values))
            .await
            .unwrap();
        assert!(done.next.is_empty());
    }
    assert_eq!(live(&graph).await.0, "a", "it went on from the edited branch");
    let again = graph
        .update_state(&StateRef::live("1"), as_node("a", json!({"log": ["A"]})))
        .await
        .unwrap();
    assert_eq!(again.next.join(","), "b");
    let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,A,b,c");

    let config = RunConfig::on("2").interrupt_before(["b"]);
    graph.invoke(input(), config).await.unwrap();
    let skipped = graph
        .update_state(&StateRef::live("2"), as_node("b", Value::Null))
        .await
        .unwrap();
    assert_eq!(skipped.next.join(","), "c");
    let jump = StateUpdate {
        goto: vec![Target::node("b")],
        ..as_node("c", json!({"x": 7}))
    };
    let jumped = graph.update_state(&StateRef::live("2"), jump).await.unwrap();
    assert_eq!(jumped.next.join(","), "b");
}

#[tokio::test]
async fn an_edit_of_the_past_leaves_nothing_on_the_checkpoint_it_left() {
    let graph = on_memory(chain(&["a", "b"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    graph
        .update_state(&cp1, as_node("b", json!({"log": ["OTHER"]})))
        .await
        .unwrap();
    let state = graph.get_state(&cp1).await.unwrap();
    assert_eq!(state.tasks[0].result, Some(json!({"log": ["b"]})));
}

#[tokio::test]
async fn a_failed_node_that_is_edited_over_shows_its_error_beside_the_result() {
    let fails =
        |_: NodeContext, _: Value| async { Err::<NodeOutput, _>(NodeError::new("RuntimeError", "boom")) };
    let graph = on_memory(
        base()
            .node("bad", fails)
            .node("next", logs("next"))
            .edge(START, "bad")
            .edge("bad", "next"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    let done = graph
        .update_state(&StateRef::live("1"), as_node("bad", json!({"log": ["U"]})))
        .await
        .unwrap();
    assert_eq!(done.next.join(","), "next");
    let task = graph
        .get_state(&at_step(&graph, "1", 0).await)
        .await
        .unwrap()
        .tasks
        .remove(0);
    assert_eq!(task.error.as_deref(), Some("RuntimeError('boom')"));
    assert_eq!(task.result, Some(json!({"log": ["U"]})));
}

#[tokio::test]
async fn a_router_that_fails_on_an_edit_is_named() {
    let route = |_: NodeContext, state: Value| async move {
        match state.get("kind").and_then(Value::as_str) {
            Some(kind) => Ok(vec![Target::node(kind)]),
            None => Err(NodeError::new("KeyError", "'kind'")),
        }
    };
    let graph = on_memory(
        base()
            .channel("kind", ChannelSpec::last_value())
            .node("a", logs("a"))
            .node("b", logs("b"))
            .edge(START, "a")
            .branch("a", Branch::new(route)),
    );
    let error = graph
        .update_state(&StateRef::live("1"), as_node("a", json!({"x": 1})))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "node-failed");
    assert!(
        error.to_string().contains("The edit as `a` was not made"),
        "{error}"
    );
    let done = graph
        .update_state(&StateRef::live("1"), as_node("a", json!({"kind": "b"})))
        .await
        .unwrap();
    assert_eq!(done.next.join(","), "b");
}

fn questions() -> Graph {
    on_memory(
        base()
            .node("p", asks("p?"))
            .node("q", asks("q?"))
            .edge(START, "p")
            .edge(START, "q"),
    )
}

#[tokio::test]
async fn strict_resumes_take_only_answers_to_waiting_questions() {
    let graph = questions();
    let strict = || RunConfig::on("1").strict_resume(true);
    let asked = graph.invoke(input(), strict()).await.unwrap();
    let mut ids: Vec<InterruptId> = asked.interrupts.iter().map(|asked| asked.id.clone()).collect();
    let p = asked
        .interrupts
        .iter()
        .find(|asked| asked.value == json!("p?"))
        .unwrap()
        .id
        .clone();
    ids.sort();
    let nobody = "0".repeat(32);
    let by_id = |answers: &[(&str, i64)]| Input::answer(answers.iter().copied().collect::<Object>());
    let refused = async |input: Input| match graph.invoke(input, strict()).await.unwrap_err() {
        RunError::UnknownInterrupt {
            reason,
            interrupts,
            pending,
        } => (reason, interrupts, pending),
        other => panic!("{other}"),
    };
    use UnknownInterruptReason::*;
    assert_eq!(refused(by_id(&[])).await, (EmptyMap, vec![], ids.clone()));
    assert_eq!(
        refused(Input::answer("v")).await,
        (Ambiguous, vec![], ids.clone())
    );
    assert_eq!(
        refused(by_id(&[(&nobody, 1), (p.as_str(), 2)])).await,
        (NotPending, vec![nobody.as_str().into()], ids.clone())
    );
    let asked = graph.invoke(by_id(&[(p.as_str(), 2)]), strict()).await.unwrap();
    assert_eq!(log_of(&asked.value), "2");
    ids.retain(|id| *id != p);
    assert_eq!(
        refused(by_id(&[(p.as_str(), 2)])).await,
        (NotPending, vec![p.clone()], ids)
    );
    let done = graph.invoke(Input::answer("last"), strict()).await.unwrap();
    assert_eq!(
        (done.status, log_of(&done.value)),
        (RunStatus::Done, "2,last".into())
    );
    assert_eq!(
        refused(by_id(&[(p.as_str(), 2)])).await,
        (NotPending, vec![p], vec![]),
        "a finished thread has no questions"
    );
    let again = graph.invoke(Input::answer("ignored"), strict()).await.unwrap();
    assert_eq!(
        again.status,
        RunStatus::Done,
        "one answer passes a breakpoint, and this is as good as one"
    );
    let error = graph.invoke(by_id(&[]), strict()).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        (
            "unknown-interrupt",
            "The resume map names no interrupt\nNo question waits.".to_owned()
        )
    );
}

#[tokio::test]
async fn without_strictness_unknown_answers_ask_again() {
    let graph = questions();
    let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    for answers in [Object::new(), [("0".repeat(32), 1)].into_iter().collect()] {
        let again = graph
            .invoke(Input::answer(answers), RunConfig::on("1"))
            .await
            .unwrap();
        let ids = |result: &RunResult| {
            let mut ids: Vec<InterruptId> = result.interrupts.iter().map(|asked| asked.id.clone()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&again), ids(&asked), "the same questions, with the same ids");
    }
    let error = graph
        .invoke(Input::answer("v"), RunConfig::on("1"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "ambiguous-resume");
}

#[tokio::test]
async fn a_command_on_a_new_thread_counts_once_unless_asked_otherwise() {
    let build = || {
        base()
            .node("a", logs("a"))
            .node("c", logs("c"))
            .edge(START, "a")
            .edge("a", "c")
    };
    let graph = on_memory(build());
    let command = |goto: Vec<Target>| {
        Input::Command(Command {
            update: Some(json!({"log": ["u"]})),
            goto,
            ..Command::default()
        })
    };
    let twice = |thread: &str| testing::double_command(RunConfig::on(thread));
    let once = graph
        .invoke(command(vec![Target::node("c")]), RunConfig::on("0"))
        .await
        .unwrap();
    assert_eq!(log_of(&once.value), "u,c");
    let done = graph
        .invoke(command(vec![Target::node("c")]), twice("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "u,u,a,c,c");
    assert_eq!(
        results(&graph, "1").await,
        [
            r#"2 loop {"log":["u","u","a","c","c"]} ->  | "#,
            r#"1 loop {"log":["u","u","a","c"]} -> c | c={"log":["c"]}"#,
            r#"0 loop {"log":["u","u"]} -> a,c | a={"log":["a"]} c={"log":["c"]}"#,
            r#"-1 input {"log":["u"]} -> __start__ | __start__={"log":["u"]}"#,
        ]
    );
    let done = graph.invoke(command(vec![]), twice("2")).await.unwrap();
    assert_eq!(log_of(&done.value), "u,u,a,c");
    let packet = vec![Target::send("c", json!({}))];
    let done = graph.invoke(command(packet), twice("3")).await.unwrap();
    assert_eq!(log_of(&done.value), "u,u,a,c,c");
    let bare = build().compile().unwrap();
    let config = testing::double_command(RunConfig::default());
    let done = bare
        .invoke(command(vec![Target::node("c")]), config)
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "u,u,a,c,c");
    // On a thread that has a checkpoint nothing is doubled.
    let done = graph
        .invoke(command(vec![Target::node("c")]), twice("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "u,u,a,c,c,u,c");
}

#[tokio::test]
async fn threads_are_copied_pruned_and_deleted_through_the_graph() {
    let graph = on_memory(chain(&["a", "b"]));
    let (one, two): (ThreadId, ThreadId) = ("1".into(), "2".into());
    let named = |run: &str| RunConfig::on("1").metadata([("run_id", run)].into_iter().collect());
    graph.invoke(input(), named("first")).await.unwrap();
    graph.copy_thread(&one, &two).await.unwrap();
    assert_eq!(history(&graph, "2").await, history(&graph, "1").await);
    graph.invoke(input(), named("second")).await.unwrap();
    graph.prune(&Pruning::runs(["first".into()])).await.unwrap();
    assert_eq!(
        history(&graph, "1").await,
        [
            "6 loop [a,b,a,b] -> ",
            "5 loop [a,b,a] -> b",
            "4 loop [a,b] -> a",
            "3 input [a,b] -> __start__"
        ]
    );
    assert!(
        history(&graph, "2").await.is_empty(),
        "the copy was of the first run"
    );
    graph
        .prune(&Pruning::threads([one.clone()], Keep::Latest))
        .await
        .unwrap();
    assert_eq!(history(&graph, "1").await, ["6 loop [a,b,a,b] -> "]);
    let done = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,b,a,b,a,b", "a pruned thread goes on");
    graph
        .prune(&Pruning::threads([one.clone(), two], Keep::Nothing))
        .await
        .unwrap();
    assert!(history(&graph, "1").await.is_empty());
    graph.delete_thread(&one).await.unwrap();
    let bare = chain(&["a"]).compile().unwrap();
    assert_eq!(
        bare.delete_thread(&one).await.unwrap_err().code(),
        "not-persistent"
    );
}

fn go(targets: &[&str]) -> Input {
    Input::Command(Command {
        goto: targets.iter().map(|target| Target::node(*target)).collect(),
        ..Command::default()
    })
}

#[tokio::test]
async fn commands_on_a_finished_thread_use_its_head() {
    let graph = on_memory(chain(&["a", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let done = graph.invoke(go(&["c"]), RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,c,c");
    assert_eq!(
        results(&graph, "1").await[..2],
        [
            r#"3 loop {"x":1,"log":["a","c","c"]} ->  | "#,
            r#"2 loop {"x":1,"log":["a","c"]} ->  | "#,
        ],
        "where a command jumped is no task of the old head"
    );
    let edit = |log: &str| {
        Input::Command(Command {
            update: Some(json!({ "log": [log] })),
            ..Command::default()
        })
    };
    for (log, expected) in [("u1", "a,c,c,u1"), ("u2", "a,c,c,u1,u2")] {
        let done = graph.invoke(edit(log), RunConfig::on("1")).await.unwrap();
        assert_eq!(log_of(&done.value), expected);
    }
    assert_eq!(live(&graph).await.0, "a,c,c,u1,u2");
    assert_eq!(
        history(&graph, "1").await.len(),
        5,
        "an edit alone makes no checkpoint"
    );
    let both = Input::Command(Command {
        goto: vec![Target::send("c", json!({})), Target::node("a")],
        ..Command::default()
    });
    let done = graph.invoke(both, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,c,c,u1,u2,a,c,c");
    for nothing in [go(&["zzz"]), edit_unknown()] {
        let before = live(&graph).await;
        let done = graph.invoke(nothing, RunConfig::on("1")).await.unwrap();
        assert_eq!(done.status, RunStatus::Done);
        assert_eq!(live(&graph).await, before);
    }
    for empty in [
        Command::default(),
        Command {
            resume: Some(Value::Null),
            update: Some(json!({})),
            ..Command::default()
        },
    ] {
        let error = graph
            .invoke(Input::Command(empty), RunConfig::on("1"))
            .await
            .unwrap_err();
        assert!(
            error.to_string().starts_with("Received empty Command input"),
            "{error}"
        );
    }
}

fn edit_unknown() -> Input {
    Input::Command(Command {
        update: Some(json!({"unknown": 1})),
        ..Command::default()
    })
}

#[tokio::test]
async fn commands_on_an_interrupted_thread_run_beside_the_question() {
    let build = || {
        on_memory(
            base()
                .node("a", logs("a"))
                .node("ask", asks("q"))
                .node("z", logs("z"))
                .edge(START, "a")
                .edge("a", "ask"),
        )
    };
    let graph = build();
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let both = Input::Command(Command {
        resume: Some("v".into()),
        goto: vec![Target::node("z")],
        ..Command::default()
    });
    let done = graph.invoke(both, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,v,z");

    let graph = build();
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let jumped = graph.invoke(go(&["z"]), RunConfig::on("1")).await.unwrap();
    assert_eq!(jumped.status, RunStatus::Interrupted, "it asks again");
    assert_eq!(
        live(&graph).await,
        ("a".into(), "ask".into(), 1),
        "the step stays open, and what z wrote waits with it"
    );
    let done = graph
        .invoke(Input::answer("v"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "a,v,z");

    let graph = on_memory(chain(&["n1", "n2"]));
    let config = RunConfig::on("1").interrupt_before(["n1"]);
    graph.invoke(input(), config.clone()).await.unwrap();
    let done = graph.invoke(go(&["n2"]), config).await.unwrap();
    assert_eq!(log_of(&done.value), "n1,n2,n2", "the breakpoint counts as passed");
}

#[tokio::test]
async fn going_back_to_any_checkpoint_runs_on_from_there() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let first = at_step(&graph, "1", -1).await;
    let (lines, _) = stream(
        &graph,
        Input::Continue,
        on(&first),
        &[StreamMode::Values, StreamMode::Checkpoints],
    )
    .await;
    assert_eq!(
        lines[..4],
        [
            r#"values {"log":[]}"#,
            "checkpoint 0 fork -> __start__",
            r#"values {"x":1,"log":[]}"#,
            "checkpoint 1 loop -> a",
        ]
    );
    let cp1 = at_step(&graph, "1", 1).await;
    let done = graph
        .invoke(Input::value(json!({"log": ["fork-in"]})), on(&cp1))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "a,fork-in,a,b,c");
    let entries = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let input = entries
        .iter()
        .filter_map(|entry| entry.checkpoint.as_ref())
        .find(|head| head.metadata.source == Source::Input)
        .unwrap();
    assert_eq!(
        (input.metadata.step, &input.parent),
        (2, &cp1.checkpoint_id),
        "the input stands on the checkpoint that was named"
    );
}

#[tokio::test]
async fn answers_at_a_named_checkpoint() {
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("ask", asks("q"))
            .node("z", logs("z"))
            .edge(START, "a")
            .edge("a", "ask")
            .edge("ask", "z"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let done = graph.invoke(Input::answer("v1"), on(&cp1)).await.unwrap();
    assert_eq!(
        log_of(&done.value),
        "a,v1,z",
        "at the head this is a resume like any other"
    );
    let before = history(&graph, "1").await.len();
    let done = graph.invoke(Input::answer("v3"), on(&cp1)).await.unwrap();
    assert_eq!(
        log_of(&done.value),
        "a,v1,z",
        "where the thread went on, the stored answer wins"
    );
    let entries = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    assert_eq!(entries.len(), before + 2, "no fork: only the steps after it");
    let sibling = entries[1].checkpoint.as_ref().unwrap();
    assert_eq!(
        (sibling.metadata.source, &sibling.parent),
        (Source::Loop, &cp1.checkpoint_id)
    );
}

#[tokio::test]
async fn histories_are_cut_and_addressed() {
    let graph = on_memory(chain(&["a", "b"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let steps = async |query: ListQuery| {
        let entries = graph.get_state_history(&"1".into(), &query).await.unwrap();
        let step = |entry: &StateSnapshot| entry.checkpoint.as_ref().unwrap().metadata.step;
        entries.iter().map(step).collect::<Vec<_>>()
    };
    let limit = |n| ListQuery::new().limit(n);
    assert_eq!(steps(limit(0)).await, [0_i64; 0]);
    assert_eq!(steps(limit(2)).await, [2, 1]);
    let before = limit(1).before(cp1.checkpoint_id.clone());
    assert_eq!(steps(before).await, [0]);
    let one = ListQuery::new().id(cp1.checkpoint_id.clone());
    assert_eq!(steps(one).await, [1]);
}

#[tokio::test]
async fn one_checkpoint_reads_live_and_addressed() {
    let fails =
        |_: NodeContext, _: Value| async { Err::<NodeOutput, _>(NodeError::new("RuntimeError", "boom")) };
    let graph = on_memory(
        base()
            .node("ok", logs("ok"))
            .node("flaky", fails)
            .edge(START, "ok")
            .edge(START, "flaky"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    let shown = |state: StateSnapshot| (log_of(&state.values), state.next.join(","));
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(live.tasks[0].result, Some(json!({"log": ["ok"]})));
    assert_eq!(live.tasks[1].error.as_deref(), Some("RuntimeError('boom')"));
    assert_eq!(shown(live), ("ok".into(), "flaky".into()));
    let addressed = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(shown(addressed), (String::new(), "ok,flaky".into()));
}

#[tokio::test]
async fn strictness_knows_the_questions_of_nested_graphs() {
    let inner = base()
        .node("ask", asks("inner?"))
        .edge(START, "ask")
        .compile()
        .unwrap();
    let graph = on_memory(
        base()
            .subgraph("sub", &inner)
            .node("p", asks("p?"))
            .edge(START, "sub")
            .edge(START, "p"),
    );
    let strict = || RunConfig::on("1").strict_resume(true);
    let asked = graph.invoke(input(), strict()).await.unwrap();
    let id = |question: &str| {
        let found = asked
            .interrupts
            .iter()
            .find(|asked| asked.value == json!(question));
        found.unwrap().id.to_string()
    };
    let by_id = |id: String| Input::answer([(id, "yes")].into_iter().collect::<Object>());
    let error = graph.invoke(Input::answer("one"), strict()).await.unwrap_err();
    assert_eq!(error.code(), "unknown-interrupt");
    let after = graph.invoke(by_id(id("inner?")), strict()).await.unwrap();
    assert_eq!(after.interrupts.len(), 1);
    let error = graph.invoke(by_id(id("inner?")), strict()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Unknown or already-consumed interrupt"),
        "{error}"
    );
    let done = graph.invoke(by_id(id("p?")), strict()).await.unwrap();
    assert_eq!(done.status, RunStatus::Done);
}

#[tokio::test]
async fn many_packets_are_filled_by_one_edit() {
    let graph = on_memory(base().node("w", logs("w")).branch(
        START,
        Branch::new(routes(|_| (0..5_000).map(|i| Target::send("w", i)).collect())),
    ));
    let config = RunConfig::on("1").interrupt_before(["w"]);
    graph.invoke(input(), config).await.unwrap();
    let updates = (0..5_000).map(|i| as_node("w", json!({ "log": [i] }))).collect();
    graph
        .bulk_update_state(&StateRef::live("1"), vec![updates])
        .await
        .unwrap();
    let state = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(state.tasks[4_999].result, Some(json!({"log": [4_999]})));
}
