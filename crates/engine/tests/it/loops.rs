//! The super-step loop: order, joins, sends, limits, failures.

use std::sync::Arc;
use std::time::Duration;

use superstep::StreamMode::*;
use superstep::checkpoint::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

#[tokio::test]
async fn a_linear_graph_stores_what_the_worked_example_says() {
    let saver = Arc::new(MemorySaver::new());
    let graph = base()
        .node("a", returns(json!({"log": ["a"], "x": 1})))
        .node("b", returns(json!({"log": ["b"], "x": 2})))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let result = graph
        .invoke(Input::value(json!({"x": 0, "log": ["in"]})), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(result.value, json!({"x": 2, "log": ["in", "a", "b"]}));
    assert_eq!(
        history(&graph, "1").await,
        [
            "2 loop [in,a,b] -> ",
            "1 loop [in,a] -> b",
            "0 loop [in] -> a",
            "-1 input [] -> __start__"
        ]
    );
    let stored = saver.list(&ListQuery::new().thread("1")).await.unwrap();
    let text = |tuple: &CheckpointTuple| {
        let versions: Vec<String> = tuple
            .checkpoint
            .channel_versions
            .iter()
            .map(|(c, v)| format!("{c}:v{v}"))
            .collect();
        let writes: Vec<String> = tuple
            .pending_writes
            .iter()
            .map(|w| format!("{}={}", w.write.channel, w.write.value))
            .collect();
        let updated: Vec<&str> = tuple
            .checkpoint
            .updated_channels
            .iter()
            .flatten()
            .map(|c| &**c)
            .collect();
        format!(
            "{} | {} | {}",
            versions.join(" "),
            updated.join(" "),
            writes.join(" ")
        )
    };
    assert_eq!(
        stored.iter().rev().map(text).collect::<Vec<_>>(),
        [
            "__start__:v1 | __start__ | x=0 log=[\"in\"] branch:to:a=null",
            "__start__:v2 branch:to:a:v2 log:v2 x:v2 | branch:to:a log x | log=[\"a\"] x=1 branch:to:b=null",
            "__start__:v2 branch:to:a:v3 branch:to:b:v3 log:v3 x:v3 | branch:to:b log x | log=[\"b\"] x=2",
            "__start__:v2 branch:to:a:v3 branch:to:b:v4 log:v4 x:v4 | log x | ",
        ]
    );
    let seen = &stored[0].checkpoint.versions_seen;
    assert_eq!(
        seen["a"]["branch:to:a"], 2,
        "reading a trigger does not bump it, clearing it does"
    );
    assert_eq!(seen["b"]["branch:to:b"], 3);

    graph
        .invoke(Input::value(json!({"x": 100})), RunConfig::on("1"))
        .await
        .unwrap();
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        log_of(&live.values),
        "in,a,b,a,b",
        "a second input goes on from the first result"
    );
}

#[tokio::test]
async fn all_streams_interleave_in_the_documented_order() {
    let graph = on_memory(chain(&["a", "b"]));
    let (lines, _) = stream(
        &graph,
        input(),
        RunConfig::on("1"),
        &[Values, Updates, Tasks, Checkpoints],
    )
    .await;
    assert_eq!(
        lines,
        [
            "checkpoint -1 input -> __start__",
            r#"values {"x":1,"log":[]}"#,
            "checkpoint 0 loop -> a",
            "start a",
            r#"updates {"a":{"log":["a"]}}"#,
            r#"end a {"log":["a"]}"#,
            r#"values {"x":1,"log":["a"]}"#,
            "checkpoint 1 loop -> b",
            "start b",
            r#"updates {"b":{"log":["b"]}}"#,
            r#"end b {"log":["b"]}"#,
            r#"values {"x":1,"log":["a","b"]}"#,
            "checkpoint 2 loop -> ",
        ]
    );
}

#[tokio::test]
async fn single_edges_are_or_triggers_and_joins_wait() {
    let build = |join: bool| {
        let mut graph = base();
        for name in ["a", "b", "b2", "c", "d"] {
            graph = graph.node(name, logs(name));
        }
        graph = graph
            .edge(START, "a")
            .edge("a", "b")
            .edge("a", "c")
            .edge("b", "b2");
        if join {
            graph.join(["b2", "c"], "d")
        } else {
            graph.edge("b2", "d").edge("c", "d")
        }
    };
    for (join, want) in [(false, "a,b,c,b2,d,d"), (true, "a,b,c,b2,d")] {
        let graph = on_memory(build(join));
        let result = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
        assert_eq!(log_of(&result.value), want);
    }
}

#[tokio::test]
async fn a_join_is_armed_again_in_a_loop_and_remembers_across_runs() {
    let twice = routes(|state| {
        let rounds = state.get("log").unwrap().as_array().unwrap().len() / 4;
        vec![Target::node(if rounds < 2 { "a" } else { END })]
    });
    let mut graph = base();
    for name in ["a", "b", "c", "d"] {
        graph = graph.node(name, logs(name));
    }
    let graph = graph
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .join(["b", "c"], "d")
        .branch("d", Branch::new(twice));
    let result = graph
        .compile()
        .unwrap()
        .invoke(input(), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(log_of(&result.value), "a,b,c,d,a,b,c,d");

    let pick = routes(|state| {
        let had_b = log_of(state).contains('b');
        vec![Target::node(if had_b { "c" } else { "b" })]
    });
    let mut graph = base();
    for name in ["a", "b", "c", "d"] {
        graph = graph.node(name, logs(name));
    }
    let graph = on_memory(
        graph
            .edge(START, "a")
            .branch("a", Branch::new(pick))
            .join(["b", "c"], "d"),
    );
    let first = graph
        .invoke(Input::value(json!({"log": []})), RunConfig::on("1"))
        .await
        .unwrap();
    let second = graph
        .invoke(Input::value(json!({"log": []})), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(
        (log_of(&first.value), log_of(&second.value)),
        ("a,b".into(), "a,b,a,c,d".into())
    );
}

#[tokio::test]
async fn sends_run_first_and_apply_last() {
    let worker = |_: NodeContext, input: Value| async move {
        let i = input.get("i").unwrap().clone();
        // The later an item, the sooner it is done: the order of results must not depend on it.
        tokio::time::sleep(Duration::from_millis(10 - i.as_u64().unwrap())).await;
        Ok(NodeOutput::from(json!({ "out": [format!("w{i}")] })))
    };
    let fan = routes(|state| {
        let items = state.get("items").unwrap().as_array().unwrap();
        let mut targets: Vec<Target> = items
            .iter()
            .map(|i| Target::send("w", [("i", i.clone())].into_iter().collect::<Object>()))
            .collect();
        targets.push(Target::node("a_side"));
        targets
    });
    let graph = StateGraph::new()
        .channel("items", ChannelSpec::last_value())
        .channel("out", ChannelSpec::append())
        .node("plan", returns(json!({"out": ["plan"]})))
        .node("w", worker)
        .node("a_side", returns(json!({"out": ["a_side"]})))
        .node("red", returns(json!({"out": ["red"]})))
        .edge(START, "plan")
        .branch("plan", Branch::new(fan))
        .edge("w", "red")
        .edge("a_side", "red");
    let graph = on_memory(graph);
    let (lines, result) = stream(
        &graph,
        Input::value(json!({"items": [3, 1, 2]})),
        RunConfig::on("1"),
        &[Tasks, Values],
    )
    .await;
    let starts: Vec<&String> = lines.iter().filter(|l| l.starts_with("start")).collect();
    assert_eq!(
        starts,
        [
            "start plan",
            "start w",
            "start w",
            "start w",
            "start a_side",
            "start red"
        ]
    );
    assert_eq!(
        result.unwrap().value.get("out").unwrap(),
        &json!(["plan", "a_side", "w3", "w1", "w2", "red"]),
        "triggered nodes before packets, packets in queue order"
    );
    let at = at_step(&graph, "1", 1).await;
    let state = graph.get_state(&at).await.unwrap();
    assert_eq!(state.next.join(","), "w,w,w,a_side");
    assert_eq!(state.tasks[0].path, json!(["__pregel_push", 0, false]));
    assert_eq!(state.tasks[1].result, Some(json!({"out": ["w1"]})));
    assert_eq!(state.tasks[0].targets, ["red".into()] as [Name; 1]);
}

#[tokio::test]
async fn the_recursion_limit_counts_start_and_leaves_a_thread_that_goes_on() {
    for (limit, ok, next, log) in [(1, false, "b", "a"), (2, false, "", "a,b"), (3, true, "", "a,b")] {
        let graph = on_memory(chain(&["a", "b"]));
        let config = RunConfig::on("1").recursion_limit(limit);
        let result = graph.invoke(input(), config).await;
        assert_eq!(result.is_ok(), ok, "limit {limit}");
        if let Err(error) = result {
            assert_eq!(error.code(), "recursion-limit");
            assert!(
                error
                    .to_string()
                    .starts_with(&format!("Recursion limit of {limit} reached")),
                "{error}"
            );
        }
        let state = graph.get_state(&StateRef::live("1")).await.unwrap();
        assert_eq!(
            (state.next.join(","), log_of(&state.values)),
            (next.into(), log.into()),
            "limit {limit}"
        );
        if limit == 1 {
            let config = RunConfig::on("1").recursion_limit(1);
            assert_eq!(
                log_of(&graph.invoke(Input::Continue, config).await.unwrap().value),
                "a,b"
            );
        }
    }
}

#[tokio::test]
async fn two_writers_of_a_last_value_are_named_and_nothing_is_applied() {
    let graph = on_memory(
        base()
            .node("a", returns(json!({"x": 1})))
            .node("b", returns(json!({"x": 2})))
            .edge(START, "a")
            .edge(START, "b"),
    );
    let error = graph
        .invoke(Input::value(json!({"x": 0})), RunConfig::on("1"))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("At key 'x': Can receive only one value per step. Use an Annotated key"),
        "{text}"
    );
    assert!(text.contains("a and b"), "{text}");
    let start = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(start.values.get("x"), Some(&json!(0)));
    assert!(
        graph.get_state(&StateRef::live("1")).await.is_err(),
        "the live state re-applies the conflict"
    );
}

#[tokio::test]
async fn overwrite_goes_past_the_reducer_whatever_the_order() {
    for (a, b, want) in [
        (json!(["a"]), json!(["b"]), Ok("i,a,b")),
        (json!({"__overwrite__": ["A"]}), json!(["b"]), Ok("A")),
        (
            json!(["a"]),
            json!({"type": "__overwrite__", "value": ["B"]}),
            Ok("B"),
        ),
        (
            json!({"__overwrite__": ["A"]}),
            json!({"__overwrite__": ["B"]}),
            Err("only one Overwrite"),
        ),
    ] {
        let update = |v: Value| returns(Value::Object([("log", v)].into_iter().collect()));
        let graph = base()
            .node("a", update(a))
            .node("b", update(b))
            .edge(START, "a")
            .edge(START, "b");
        let result = graph
            .compile()
            .unwrap()
            .invoke(Input::value(json!({"log": ["i"]})), RunConfig::default())
            .await;
        match (result, want) {
            (Ok(result), Ok(want)) => assert_eq!(log_of(&result.value), want),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{error}"),
            (result, want) => panic!("{result:?} instead of {want:?}"),
        }
    }
}

#[tokio::test]
async fn a_router_sees_its_own_nodes_writes_and_not_its_siblings() {
    let seen = Arc::new(std::sync::Mutex::new(Value::Null));
    let keep = seen.clone();
    let router = routes(move |state| {
        *keep.lock().unwrap() = state.clone();
        vec![]
    });
    let graph = base()
        .node("a", returns(json!({"x": 2, "log": ["a"], "extra": 42})))
        .node("p", logs("p"))
        .edge(START, "a")
        .edge(START, "p")
        .branch("a", Branch::new(router));
    graph
        .compile()
        .unwrap()
        .invoke(Input::value(json!({"x": 1, "log": ["i"]})), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        json!({"x": 2, "log": ["i", "a"], "extra": 42})
    );
}

#[tokio::test]
async fn path_maps_defaults_and_missing_labels() {
    let build = |label: &'static str, with_default: bool| {
        let mut branch = Branch::new(routes(move |_| vec![Target::node(label)]))
            .path("yes", "b")
            .path("no", END);
        if with_default {
            branch = branch.default("c");
        }
        base()
            .node("a", logs("a"))
            .node("b", logs("b"))
            .node("c", logs("c"))
            .edge(START, "a")
            .branch("a", branch)
    };
    for (label, default, want) in [("yes", false, "a,b"), ("no", true, "a"), ("other", true, "a,c")] {
        let result = build(label, default)
            .compile()
            .unwrap()
            .invoke(input(), RunConfig::default())
            .await
            .unwrap();
        assert_eq!(log_of(&result.value), want);
    }
    let error = build("other", false)
        .compile()
        .unwrap()
        .invoke(input(), RunConfig::default())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("'other'") && error.to_string().contains("no, yes"),
        "{error}"
    );
}

#[tokio::test]
async fn a_failed_task_keeps_its_finished_sibling_for_the_resume() {
    let calls = Calls::default();
    let build = || {
        let (flaky, ok) = (calls.clone(), calls.clone());
        base()
            .node("flaky", move |_: NodeContext, _: Value| {
                let attempt = flaky.add("flaky");
                async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    if attempt == 1 {
                        return Err(NodeError::new("RuntimeError", "boom"));
                    }
                    Ok(NodeOutput::from(json!({"log": ["flaky"]})))
                }
            })
            .node("ok", move |_: NodeContext, _: Value| {
                ok.add("ok");
                async { Ok(NodeOutput::from(json!({"log": ["ok"]}))) }
            })
            .node("z", logs("z"))
            .edge(START, "ok")
            .edge(START, "flaky")
            .join(["ok", "flaky"], "z")
    };
    let graph = on_memory(build());
    let modes = [Updates, Values, Tasks];
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &modes).await;
    assert_eq!(
        lines,
        [
            r#"values {"x":1,"log":[]}"#,
            "start flaky",
            "start ok",
            r#"updates {"ok":{"log":["ok"]}}"#,
            r#"end ok {"log":["ok"]}"#,
            "end flaky RuntimeError('boom')",
        ]
    );
    assert!(matches!(result, Err(RunError::Node { ref node, .. }) if &**node == "flaky"));
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (log_of(&live.values), live.next.join(",")),
        ("ok".into(), "flaky".into())
    );
    assert_eq!(
        live.tasks[0].error.as_deref(),
        Some("RuntimeError('boom')"),
        "{live:?}"
    );
    let addressed = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(
        (log_of(&addressed.values), addressed.next.join(",")),
        ("".into(), "flaky,ok".into())
    );

    let (lines, result) = stream(&graph, Input::Continue, RunConfig::on("1"), &modes).await;
    assert_eq!(
        lines[..6],
        [
            r#"values {"x":1,"log":[]}"#,
            "start flaky",
            "start ok",
            r#"updates {"ok":{"log":["ok"]},"__metadata__":{"cached":true}}"#,
            r#"updates {"flaky":{"log":["flaky"]}}"#,
            r#"end flaky {"log":["flaky"]}"#,
        ]
    );
    assert_eq!(log_of(&result.unwrap().value), "flaky,ok,z");
    assert_eq!(
        (calls.of("ok"), calls.of("flaky")),
        (1, 2),
        "the finished sibling did not run again"
    );
    let done = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert!(
        done.tasks[0].error.is_some() && done.tasks[0].result.is_some(),
        "the old error stays beside the result"
    );
}

#[tokio::test]
async fn a_new_input_abandons_an_open_step() {
    let calls = Calls::default();
    let counted = calls.clone();
    let graph = on_memory(
        base()
            .node("flaky", move |_: NodeContext, _: Value| {
                let attempt = counted.add("flaky");
                async move {
                    match attempt {
                        1 => Err(NodeError::new("RuntimeError", "boom")),
                        _ => Ok(NodeOutput::from(json!({"log": ["flaky"]}))),
                    }
                }
            })
            .edge(START, "flaky"),
    );
    graph
        .invoke(Input::value(json!({"x": 1, "log": ["i1"]})), RunConfig::on("1"))
        .await
        .unwrap_err();
    graph
        .invoke(Input::value(json!({"x": 2, "log": ["i2"]})), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(
        history(&graph, "1").await,
        [
            "3 loop [i1,i2,flaky] -> ",
            "2 loop [i1,i2] -> flaky",
            "1 input [i1] -> __start__",
            "0 loop [i1] -> flaky",
            "-1 input [] -> __start__"
        ]
    );
}

#[tokio::test]
async fn nodes_that_write_nothing_and_nodes_that_return_nonsense() {
    let graph = on_memory(
        base()
            .node("a", returns(Value::Null))
            .node("b", logs("b"))
            .edge(START, "a")
            .edge("a", "b"),
    );
    let (lines, _) = stream(&graph, input(), RunConfig::on("1"), &[Updates]).await;
    assert_eq!(lines, [r#"updates {"a":null}"#, r#"updates {"b":{"log":["b"]}}"#]);

    let graph = base()
        .node("a", returns(json!(5)))
        .edge(START, "a")
        .compile()
        .unwrap();
    let error = graph.invoke(input(), RunConfig::default()).await.unwrap_err();
    assert!(
        error.to_string().contains("Expected dict, got 5") && error.to_string().contains("\"a\""),
        "{error}"
    );
    let error = graph
        .invoke(Input::value(json!(5)), RunConfig::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("Expected dict, got 5"), "{error}");
}

#[tokio::test]
async fn a_panic_in_a_node_is_a_failure_of_its_task() {
    let panics = |_: NodeContext, input: Value| async move {
        if input.get("x") != Some(&Value::Null) {
            panic!("out of cheese");
        }
        Ok(NodeOutput::none())
    };
    let graph = base().node("a", panics).edge(START, "a").compile().unwrap();
    let error = graph.invoke(input(), RunConfig::default()).await.unwrap_err();
    assert!(error.to_string().contains("out of cheese"), "{error}");
}

#[tokio::test]
async fn stopping_a_run_is_prompt_and_leaves_the_thread_resumable() {
    let calls = Calls::default();
    let counted = calls.clone();
    let slow = move |context: NodeContext, _: Value| {
        let first = counted.add("slow") == 1;
        async move {
            if first {
                context.cancelled().await;
                futures::future::pending::<()>().await;
            }
            Ok(NodeOutput::from(json!({"log": ["slow"]})))
        }
    };
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("slow", slow)
            .edge(START, "a")
            .edge("a", "slow"),
    );
    let mut run = graph.stream(input(), RunConfig::on("1").modes([Tasks]));
    while let Some(event) = run.next().await {
        if matches!(&event.payload, Payload::TaskStart(start) if &*start.name == "slow") {
            run.cancel();
        }
    }
    assert!(matches!(run.finish().await, Err(RunError::Cancelled)));
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (log_of(&state.values), state.next.join(",")),
        ("a".into(), "slow".into())
    );
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&result.value), "a,slow");
}

#[tokio::test]
async fn ephemeral_values_live_for_one_step() {
    let sees = |_: NodeContext, input: Value| async move {
        let keys: Vec<&str> = input.as_object().unwrap().keys().map(|k| &**k).collect();
        Ok(NodeOutput::Update(Value::Object(
            [("log", Value::from(keys.join(" ")))].into_iter().collect(),
        )))
    };
    let graph = StateGraph::new()
        .channel("e", ChannelSpec::ephemeral())
        .channel("log", ChannelSpec::append())
        .node("a", returns(json!({"e": 1, "log": "a"})))
        .node("b", sees)
        .node("c", sees)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c");
    let result = graph
        .compile()
        .unwrap()
        .invoke(Input::value(json!({})), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(result.value, json!({"log": ["a", "e log", "log"]}));
}

#[tokio::test]
async fn parallel_tasks_run_at_once_within_the_limit() {
    let (now, peak) = (
        Arc::new(std::sync::atomic::AtomicUsize::new(0)),
        Arc::new(std::sync::atomic::AtomicUsize::new(0)),
    );
    let build = || {
        let (now, peak) = (now.clone(), peak.clone());
        let node = move |_: NodeContext, _: Value| {
            let (now, peak) = (now.clone(), peak.clone());
            async move {
                use std::sync::atomic::Ordering::SeqCst;
                peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, SeqCst);
                Ok(NodeOutput::from(json!({"log": ["w"]})))
            }
        };
        let fan = routes(|_| (0..6).map(|i| Target::send("w", i)).collect());
        base()
            .node("w", node)
            .branch(START, Branch::new(fan))
            .compile()
            .unwrap()
    };
    build().invoke(input(), RunConfig::default()).await.unwrap();
    assert_eq!(peak.swap(0, std::sync::atomic::Ordering::SeqCst), 6);
    let limited = RunConfig::default().max_concurrency(2);
    let result = build().invoke(input(), limited).await.unwrap();
    assert_eq!(peak.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(log_of(&result.value), "w,w,w,w,w,w");
}

#[tokio::test]
async fn durability_exit_stores_one_checkpoint_a_run() {
    let graph = on_memory(chain(&["a", "b"]));
    let config = || RunConfig::on("1").durability(Durability::Exit);
    graph.invoke(input(), config()).await.unwrap();
    assert_eq!(history(&graph, "1").await, ["2 loop [a,b] -> "]);
    graph.invoke(input(), config()).await.unwrap();
    let entries = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    assert_eq!(
        history(&graph, "1").await,
        ["6 loop [a,b,a,b] -> ", "2 loop [a,b] -> "]
    );
    let head = |i: usize| entries[i].checkpoint.clone().unwrap();
    assert_eq!((head(0).parent, head(1).parent), (Some(head(1).id), None));
}

#[tokio::test]
async fn custom_and_message_events_come_as_the_node_works() {
    let talk = |context: NodeContext, _: Value| async move {
        context.emit("thinking").await;
        context
            .message(json!({"type": "AIMessageChunk", "id": "m", "content": "Hel"}))
            .await;
        context
            .message(json!({"type": "AIMessageChunk", "id": "m", "content": "lo"}))
            .await;
        Ok(NodeOutput::from(
            json!({"messages": [{"type": "ai", "content": "Hello", "id": "m2"}]}),
        ))
    };
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node("talk", talk)
        .edge(START, "talk");
    let graph = graph.compile().unwrap();
    let mut run = graph.stream(
        Input::value(json!({"messages": "hi"})),
        RunConfig::default().modes([Custom, Messages, Updates]),
    );
    let mut got = Vec::new();
    while let Some(event) = run.next().await {
        got.push(match &event.payload {
            Payload::Message(message, meta) => {
                assert_eq!(meta.get("langgraph_node"), Some(&json!("talk")));
                message.get("content").unwrap().to_string()
            }
            other => other.to_json().to_string(),
        });
    }
    assert_eq!(got[..4], ["\"thinking\"", "\"Hel\"", "\"lo\"", "\"Hello\""]);
    assert_eq!(got.len(), 5, "{got:?}");
}
