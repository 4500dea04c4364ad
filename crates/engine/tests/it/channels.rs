//! Channels and schemas: what each kind of key does with its writes, who sees it, and what is stored of it.

use std::sync::{Arc, Mutex};

use superstep::StreamMode::*;
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// Runs on a new thread and gives the joined log.
async fn log_after(graph: StateGraph) -> String {
    let graph = on_memory(graph);
    log_of(&graph.invoke(input(), RunConfig::on("1")).await.unwrap().value)
}

fn deferred() -> NodeOptions {
    NodeOptions::new().defer(true)
}

fn deferring(graph: StateGraph, name: &str) -> StateGraph {
    graph.node_with(name, Arc::new(logs(name)), deferred())
}

fn logging(names: &[&str]) -> StateGraph {
    names
        .iter()
        .fold(base(), |graph, name| graph.node(*name, logs(name)))
}

/// Stored checkpoints of a thread, oldest first.
async fn stored(saver: &MemorySaver) -> Vec<CheckpointTuple> {
    let query = ListQuery::new().thread("1");
    let mut tuples = saver.list(&query).await.unwrap();
    tuples.reverse();
    tuples
}

fn saved(graph: StateGraph) -> (Graph, Arc<MemorySaver>) {
    let saver = Arc::new(MemorySaver::new());
    (graph.compile().unwrap().with_checkpointer(saver.clone()), saver)
}

/// What a checkpoint holds for `channel`, as text; `-` when it holds nothing.
fn held(tuple: &CheckpointTuple, channel: &str) -> String {
    let value = tuple.checkpoint.channel_values.get(channel);
    value.map_or_else(|| "-".into(), Value::to_string)
}

/// What nodes were given, in the order in which they ran.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn node(&self, name: &str, update: Value) -> impl Node + use<> {
        let (seen, name) = (self.clone(), name.to_owned());
        move |_: NodeContext, input: Value| {
            seen.note(&name, &input);
            let update = update.clone();
            async move { Ok(NodeOutput::Update(update)) }
        }
    }
    fn note(&self, name: &str, input: &Value) {
        self.0.lock().unwrap().push(format!("{name} {input}"));
    }
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn first_line(error: &RunError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

// Joins and deferred nodes.

#[tokio::test]
async fn branches_of_unequal_length_meet_once_in_a_join_and_twice_without() {
    let before = || {
        logging(&["a", "b", "b2", "c", "d"])
            .edge(START, "a")
            .edge("a", "b")
            .edge("a", "c")
            .edge("b", "b2")
    };
    assert_eq!(
        log_after(before().edge("b2", "d").edge("c", "d")).await,
        "a,b,c,b2,d,d"
    );
    let (graph, saver) = saved(before().join(["b2", "c"], "d"));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let barrier: Vec<String> = stored(&saver)
        .await
        .iter()
        .map(|tuple| held(tuple, "join:b2+c:d"))
        .collect();
    assert_eq!(barrier, ["-", "-", "-", "[\"c\"]", "[\"c\",\"b2\"]", "[]"]);
}

#[tokio::test]
async fn a_join_is_armed_again_and_remembers_across_runs() {
    let twice = routes(|state| match log_of(state).len() {
        n if n < 8 => vec![Target::node("a")],
        _ => vec![Target::node(END)],
    });
    let cycle = logging(&["a", "b", "c", "d"])
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .join(["b", "c"], "d")
        .branch("d", Branch::new(twice));
    assert_eq!(log_after(cycle).await, "a,b,c,d,a,b,c,d");

    let turn = routes(|state| {
        let second = log_of(state).contains('b');
        vec![Target::node(if second { "c" } else { "b" })]
    });
    let graph = on_memory(
        logging(&["a", "b", "c", "d"])
            .edge(START, "a")
            .branch("a", Branch::new(turn))
            .join(["b", "c"], "d"),
    );
    let first = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&first.value), "a,b");
    let second = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&second.value), "a,b,a,c,d");
}

#[tokio::test]
async fn packets_of_one_node_are_one_name_to_a_join() {
    let fan = routes(|_| {
        let mut to: Vec<Target> = (0..3).map(|i| Target::send("w", i)).collect();
        to.push(Target::node("side"));
        to
    });
    let graph = logging(&["w", "side", "j"])
        .branch(START, Branch::new(fan))
        .join(["w", "side"], "j");
    assert_eq!(log_after(graph).await, "side,w,w,w,j");
}

#[tokio::test]
async fn deferred_nodes_wait_until_nothing_else_is_triggered() {
    let both_paths = deferring(logging(&["a", "b", "b2", "c"]), "d")
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .edge("b", "b2")
        .edge("b2", "d")
        .edge("c", "d");
    assert_eq!(log_after(both_paths).await, "a,b,c,b2,d");

    let held_alone = deferring(logging(&["a", "b", "e"]), "d")
        .edge(START, "a")
        .edge("a", "d")
        .edge("a", "b")
        .edge("d", "e")
        .edge("b", "e");
    assert_eq!(log_after(held_alone).await, "a,b,e,d,e");

    let released_together = deferring(deferring(logging(&["a", "b"]), "d1"), "d2")
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "d1")
        .edge("a", "d2");
    assert_eq!(log_after(released_together).await, "a,b,d1,d2");

    let goto = |targets: Vec<Target>| {
        move |_: NodeContext, _: Value| {
            let goto = targets.clone();
            async move {
                Ok(NodeOutput::Command(Command {
                    update: Some(json!({"log": ["a"]})),
                    goto,
                    ..Command::default()
                }))
            }
        }
    };
    let by_goto = deferring(logging(&["b", "b2"]), "d")
        .node("a", goto(vec![Target::node("d")]))
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "b2");
    assert_eq!(log_after(by_goto).await, "a,b,b2,d");
}

#[tokio::test]
async fn packets_neither_wait_nor_hold_a_deferred_node_back() {
    let to_deferred = deferring(logging(&["a", "b", "b2"]), "d")
        .edge(START, "a")
        .edge(START, "b")
        .branch("a", Branch::new(routes(|_| vec![Target::send("d", 1)])))
        .edge("b", "b2");
    let graph = on_memory(to_deferred);
    let (lines, _) = stream(&graph, input(), RunConfig::on("1"), &[Tasks]).await;
    let starts: Vec<&String> = lines.iter().filter(|line| line.starts_with("start")).collect();
    assert_eq!(starts, ["start a", "start b", "start d", "start b2"]);

    let w =
        |_: NodeContext, arg: Value| async move { Ok(NodeOutput::from(json!({"log": [format!("w{arg}")]}))) };
    let fan = || Branch::new(routes(|_| vec![Target::send("w", 1), Target::send("w", 2)]));
    let chained = deferring(logging(&["plan", "w2"]), "red")
        .node("w", w)
        .edge(START, "plan")
        .branch("plan", fan())
        .edge("plan", "red")
        .edge("w", "w2");
    assert_eq!(log_after(chained).await, "plan,red,w1,w2,w2");

    let w1_sends = Branch::new(routes(|state| match log_of(state).contains("w1") {
        true => vec![Target::send("v", 1)],
        false => vec![],
    }));
    let again = deferring(logging(&["v"]), "red")
        .node("w", w)
        .branch(START, fan())
        .branch("w", w1_sends)
        .edge("w", "red")
        .edge("v", "red");
    assert_eq!(log_after(again).await, "w1,w2,red,v,red");
}

#[tokio::test]
async fn deferred_triggers_are_stored_with_whether_they_are_released() {
    let (graph, saver) = saved(
        deferring(logging(&["a", "b", "b2", "c"]), "d")
            .edge(START, "a")
            .edge("a", "b")
            .edge("a", "c")
            .edge("b", "b2")
            .edge("b2", "d")
            .edge("c", "d"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let tuples = stored(&saver).await;
    let rows: Vec<String> = tuples[3..]
        .iter()
        .map(|tuple| {
            let checkpoint = &tuple.checkpoint;
            format!(
                "{} v{} {:?} -> {}",
                held(tuple, "branch:to:d"),
                checkpoint.channel_versions["branch:to:d"],
                checkpoint.updated_channels.as_ref().unwrap(),
                checkpoint.next.join(",")
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#"[null,false] v4 ["branch:to:b2", "log"] -> b2"#,
            r#"[null,true] v5 ["branch:to:d", "log"] -> d"#,
            r#"- v6 ["log"] -> "#,
        ]
    );
    let seen = &tuples.last().unwrap().checkpoint.versions_seen["d"];
    assert_eq!(seen["branch:to:d"], 5);

    let (graph, saver) = saved(
        deferring(logging(&["a", "b"]), "d")
            .edge(START, "a")
            .edge("a", "b")
            .join(["a", "b"], "d"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let barrier: Vec<String> = stored(&saver)
        .await
        .iter()
        .map(|tuple| held(tuple, "join:a+b:d"))
        .collect();
    assert_eq!(
        barrier,
        ["-", "-", r#"[["a"],false]"#, r#"[["a","b"],true]"#, "[[],false]"]
    );
}

#[tokio::test]
async fn a_released_deferred_node_survives_a_stop_and_an_edit_as_it() {
    let graph = on_memory(
        deferring(logging(&["a", "b"]), "d")
            .edge(START, "a")
            .edge("a", "d")
            .edge("d", "b"),
    );
    let config = RunConfig::on("1").interrupt_before(["d"]);
    let stopped = graph.invoke(input(), config).await.unwrap();
    assert_eq!(stopped.status, RunStatus::Breakpoint);
    // An edit as the node does not consume its trigger: it still runs, together with what follows it.
    let edited = graph
        .update_state(
            &StateRef::live("1"),
            StateUpdate {
                values: json!({"log": ["U"]}),
                as_node: Some("d".into()),
                ..StateUpdate::default()
            },
        )
        .await
        .unwrap();
    assert_eq!(edited.next, ["b".into(), "d".into()] as [Name; 2]);
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&result.value), "a,U,b,d,b");
}

// Short-lived keys.

#[tokio::test]
async fn short_lived_keys_are_seen_and_stored_as_the_worked_example_says() {
    let seen = Seen::default();
    let written = json!({"t": ["x", "y"], "ta": ["x"], "e": "E", "av": "V", "u": {"conn": 1}});
    let (graph, saver) = saved(
        StateGraph::new()
            .channel("t", ChannelSpec::topic())
            .channel("ta", ChannelSpec::topic().accumulate())
            .channel("e", ChannelSpec::ephemeral())
            .channel("av", ChannelSpec::any_value())
            .channel("u", ChannelSpec::untracked())
            .channel("log", ChannelSpec::append())
            .node("a", seen.node("a", written))
            .node("b", seen.node("b", json!({"ta": "single"})))
            .node("c", seen.node("c", json!({})))
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", "c"),
    );
    let result = graph
        .invoke(Input::value(json!({"log": [], "u": "in"})), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(
        seen.take(),
        [
            r#"a {"u":"in","log":[]}"#,
            r#"b {"t":["x","y"],"ta":["x"],"e":"E","av":"V","u":{"conn":1},"log":[]}"#,
            r#"c {"ta":["x","single"],"u":{"conn":1},"log":[]}"#,
        ]
    );
    assert_eq!(
        result.value,
        json!({"ta": ["x", "single"], "u": {"conn": 1}, "log": []})
    );
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(state.values, json!({"ta": ["x", "single"], "log": []}));

    let tuples = stored(&saver).await;
    let of = |channel| {
        tuples
            .iter()
            .map(|tuple| held(tuple, channel))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("t"), ["-", "-", r#"["x","y"]"#, "[]", "[]"]);
    assert_eq!(of("e"), ["-", "-", "\"E\"", "-", "-"]);
    assert_eq!(of("av"), ["-", "-", "\"V\"", "-", "-"]);
    assert_eq!(of("u"), ["-"; 5]);
    assert_eq!(
        of("__start__")[0],
        r#"{"log":[],"u":"in"}"#,
        "the raw input is stored as it is"
    );
    let names = |tuple: &CheckpointTuple| {
        let names: Vec<&str> = tuple.pending_writes.iter().map(|w| &*w.write.channel).collect();
        names.join(" ")
    };
    assert_eq!(names(&tuples[0]), "log branch:to:a");
    assert_eq!(names(&tuples[1]), "t ta e av branch:to:b");
    let versions = &tuples[3].checkpoint.channel_versions;
    let version = |channel: &str| versions[channel];
    assert_eq!(["t", "ta", "e", "av", "u"].map(version), [4, 4, 4, 4, 3]);
    assert_eq!(
        tuples[3].checkpoint.updated_channels.as_ref().unwrap().join(" "),
        "branch:to:c ta"
    );
}

#[tokio::test]
async fn a_topic_takes_items_and_lists_of_items() {
    let (graph, saver) = saved(
        StateGraph::new()
            .channel("t", ChannelSpec::topic())
            .channel("ta", ChannelSpec::topic().accumulate())
            .node("a", returns(json!({"t": ["x", ["y"]], "ta": ["x"]})))
            .node("a2", returns(json!({"t": "z", "ta": []})))
            .node("b", returns(json!({"t": []})))
            .node("c", returns(json!({"t": []})))
            .edge(START, "a")
            .edge(START, "a2")
            .edge("a", "b")
            .edge("b", "c"),
    );
    let (lines, _) = stream(&graph, Input::value(json!({})), RunConfig::on("1"), &[Values]).await;
    assert_eq!(
        lines,
        [r#"values {"t":["x",["y"],"z"],"ta":["x"]}"#],
        "a topic that is emptied, or written with nothing, is no update"
    );
    let tuples = stored(&saver).await;
    let versions: Vec<u64> = tuples[2..]
        .iter()
        .map(|tuple| tuple.checkpoint.channel_versions["t"])
        .collect();
    assert_eq!(versions, [3, 4, 4], "an empty topic is not emptied again");
    assert_eq!(held(&tuples[4], "t"), "[]");
}

#[tokio::test]
async fn guards_refuse_a_second_write_and_others_take_the_last() {
    let spec = |which: &str| match which {
        "ephemeral" => ChannelSpec::ephemeral(),
        "ephemeral any" => ChannelSpec::ephemeral_any(),
        "untracked" => ChannelSpec::untracked(),
        "untracked any" => ChannelSpec::untracked_any(),
        "any" => ChannelSpec::any_value(),
        _ => ChannelSpec::last_value(),
    };
    let run = async |which: &str| {
        let graph = StateGraph::new()
            .channel("k", spec(which))
            .node("a", returns(json!({"k": 1})))
            .node("b", returns(json!({"k": 2})))
            .edge(START, "a")
            .edge(START, "b")
            .compile()
            .unwrap();
        let result = graph.invoke(Input::value(json!({})), RunConfig::default()).await;
        result
            .map(|result| result.value.to_string())
            .map_err(|e| e.to_string())
    };
    for fine in ["ephemeral any", "untracked any", "any"] {
        assert_eq!(run(fine).await.unwrap(), r#"{"k":2}"#, "{fine}");
    }
    for (which, message) in [
        (
            "last",
            "At key 'k': Can receive only one value per step. Use an Annotated key to handle multiple values.",
        ),
        (
            "ephemeral",
            "At key 'k': EphemeralValue(guard=True) can receive only one value per step. Use guard=False if you want \
             to store any one of multiple values.",
        ),
        (
            "untracked",
            "At key 'k': UntrackedValue(guard=True) can receive only one value per step. Use guard=False if you want \
             to store any one of multiple values.",
        ),
    ] {
        let error = run(which).await.unwrap_err();
        let (first, rest) = error.split_once('\n').unwrap();
        assert_eq!(first, message);
        assert!(rest.contains("a and b"), "the writers are named: {rest}");
    }
}

#[tokio::test]
async fn an_untracked_value_is_never_stored_and_gone_after_a_resume() {
    let seen = Seen::default();
    let ask = {
        let seen = seen.clone();
        move |context: NodeContext, input: Value| {
            seen.note("ask", &input);
            async move {
                let answer = context.interrupt("q")?;
                Ok(NodeOutput::from(json!({"log": [answer]})))
            }
        }
    };
    let send = routes(|_| vec![Target::send("w", json!({"u": 1, "k": 2, "n": {"u": 3}}))]);
    let (graph, saver) = saved(
        StateGraph::new()
            .channel("log", ChannelSpec::append())
            .channel("u", ChannelSpec::untracked())
            .node("a", seen.node("a", json!({"u": {"conn": 1}})))
            .node("w", seen.node("w", json!({"log": ["w"]})))
            .node("ask", ask)
            .edge(START, "a")
            .branch("a", Branch::new(send))
            .edge("w", "ask"),
    );
    graph
        .invoke(Input::value(json!({"u": "in"})), RunConfig::on("1"))
        .await
        .unwrap();
    let resumed = graph
        .invoke(Input::answer("R"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(
        seen.take(),
        [
            r#"a {"log":[],"u":"in"}"#,
            r#"w {"u":1,"k":2,"n":{"u":3}}"#,
            r#"ask {"log":["w"],"u":{"conn":1}}"#,
            r#"ask {"log":["w"]}"#,
        ],
        "a packet reaches its node whole; the value does not outlive the run"
    );
    assert_eq!(resumed.value, json!({"log": ["w", "R"]}));
    let tuples = stored(&saver).await;
    let packets: Vec<String> = tuples[1]
        .pending_writes
        .iter()
        .map(|w| format!("{}={}", w.write.channel, w.write.value))
        .collect();
    assert_eq!(
        packets,
        [r#"__pregel_tasks={"node":"w","arg":{"k":2,"n":{"u":3}}}"#]
    );
    assert_eq!(
        held(&tuples[2], "__pregel_tasks"),
        r#"[{"node":"w","arg":{"k":2,"n":{"u":3}}}]"#
    );
    assert_eq!(tuples[2].checkpoint.channel_versions["u"], 3);
}

#[tokio::test]
async fn a_task_that_wrote_only_untracked_values_runs_again() {
    let calls = Calls::default();
    let counted = {
        let calls = calls.clone();
        move |_: NodeContext, _: Value| {
            calls.add("a");
            async { Ok(NodeOutput::from(json!({"u": 1}))) }
        }
    };
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("q")?;
        Ok(NodeOutput::from(json!({"log": [answer]})))
    };
    let graph = on_memory(
        StateGraph::new()
            .channel("log", ChannelSpec::append())
            .channel("u", ChannelSpec::untracked())
            .node("a", counted)
            .node("ask", ask)
            .edge(START, "a")
            .edge(START, "ask"),
    );
    graph
        .invoke(Input::value(json!({})), RunConfig::on("1"))
        .await
        .unwrap();
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(state.next, ["a".into(), "ask".into()] as [Name; 2]);
    let result = graph
        .invoke(Input::answer("R"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(result.value, json!({"log": ["R"], "u": 1}));
    assert_eq!(calls.of("a"), 2);
}

// Reducers.

#[tokio::test]
async fn an_overwrite_stands_alone_in_its_step() {
    let run = async |a: Value, b: Option<Value>, input: Value| {
        let mut graph = StateGraph::new()
            .channel("l", ChannelSpec::append())
            .node("a", returns(json!({"l": a})))
            .edge(START, "a");
        if let Some(b) = b {
            graph = graph.node("b", returns(json!({"l": b}))).edge(START, "b");
        }
        let graph = on_memory(graph);
        let before = graph.invoke(Input::value(json!({"l": ["before"]})), RunConfig::on("1"));
        let _ = before.await;
        let result = graph
            .invoke(Input::value(json!({"l": input})), RunConfig::on("1"))
            .await;
        result
            .map(|result| result.value.get("l").unwrap().to_string())
            .map_err(|error| first_line(&error))
    };
    let fresh = || overwrite(json!(["i"]));
    let whole = |value: Value| json!({"type": "__overwrite__", "value": value});
    for (a, b, after) in [
        (json!(["a"]), Some(json!(["b"])), r#"["i","a","b"]"#),
        (overwrite(json!(["A"])), Some(json!(["b"])), r#"["A"]"#),
        (json!(["a"]), Some(overwrite(json!(["B"]))), r#"["B"]"#),
        (json!(["a"]), Some(whole(json!(["B"]))), r#"["B"]"#),
        (overwrite(Value::Null), None, "null"),
        (
            json!({"__overwrite__": 1, "more": 2}),
            None,
            r#"["i",{"__overwrite__":1,"more":2}]"#,
        ),
    ] {
        assert_eq!(
            run(a.clone(), b.clone(), fresh()).await.unwrap(),
            after,
            "{a} {b:?}"
        );
    }
    assert_eq!(
        run(overwrite(1), Some(whole(json!(2))), fresh())
            .await
            .unwrap_err(),
        "Can receive only one Overwrite value per super-step."
    );
}

#[tokio::test]
async fn a_reducer_without_default_takes_its_first_write_as_it_is() {
    let graph = |spec| {
        StateGraph::new()
            .channel("n", spec)
            .channel("last", ChannelSpec::last_value())
            .node("a", returns(json!({"n": 2, "last": {"__overwrite__": 5}})))
            .edge(START, "a")
            .compile()
            .unwrap()
    };
    let run = async |spec, input: Value| {
        let result = graph(spec)
            .invoke(Input::value(input), RunConfig::default())
            .await;
        result.unwrap().value
    };
    let bare = || ChannelSpec::binary(BinaryOp::Multiply, None);
    let wrapper = json!({"__overwrite__": 5});
    assert_eq!(
        run(bare(), json!({})).await,
        json!({"n": 2, "last": wrapper}),
        "only reducers know the overwrite wrapper"
    );
    assert_eq!(run(bare(), json!({"n": 3})).await.get("n"), Some(&json!(6)));
    assert_eq!(
        run(bare(), json!({"n": overwrite(4)})).await.get("n"),
        Some(&json!(8)),
        "an overwrite of an empty key is unwrapped"
    );
    let start = ChannelSpec::binary(BinaryOp::Add, Some(10.into()));
    assert_eq!(run(start, json!({})).await.get("n"), Some(&json!(12)));
}

// Two writes of one value.

#[tokio::test]
async fn a_conflict_leaves_the_step_open_and_the_thread_half_wedged() {
    let graph = on_memory(
        base()
            .node("a", returns(json!({"x": 1})))
            .node("b", returns(json!({"x": 2})))
            .edge(START, "a")
            .edge(START, "b"),
    );
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &[Values, Updates, Tasks]).await;
    let mut sorted = lines[3..].to_vec();
    sorted.sort();
    assert_eq!(lines[..3], [r#"values {"x":1,"log":[]}"#, "start a", "start b"]);
    assert_eq!(
        sorted,
        [
            r#"end a {"x":1}"#,
            r#"end b {"x":2}"#,
            r#"updates {"a":{"x":1}}"#,
            r#"updates {"b":{"x":2}}"#
        ]
    );
    let message =
        "At key 'x': Can receive only one value per step. Use an Annotated key to handle multiple values.";
    let error = result.unwrap_err();
    assert_eq!(
        (error.code(), first_line(&error).as_str()),
        ("invalid-update", message)
    );
    assert!(error.to_string().contains("written by a and b"), "{error}");

    let live = StateRef::live("1");
    assert_eq!(first_line(&graph.get_state(&live).await.unwrap_err()), message);
    let resumed = graph
        .invoke(Input::Continue, RunConfig::on("1"))
        .await
        .unwrap_err();
    assert_eq!(first_line(&resumed), message);
    let close = StateUpdate {
        as_node: Some(END.into()),
        ..StateUpdate::default()
    };
    assert_eq!(
        first_line(&graph.update_state(&live, close).await.unwrap_err()),
        message
    );
    assert_eq!(
        history(&graph, "1").await,
        ["0 loop [] -> a,b", "-1 input [] -> __start__"],
        "history stays readable"
    );
    let addressed = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(addressed.values, json!({"x": 1, "log": []}));

    let edit = StateUpdate {
        values: json!({"x": 9}),
        as_node: Some("a".into()),
        ..StateUpdate::default()
    };
    graph.update_state(&live, edit).await.unwrap();
    let state = graph.get_state(&live).await.unwrap();
    assert_eq!(
        state.values,
        json!({"x": 9, "log": []}),
        "an edit frees the thread"
    );
}

#[tokio::test]
async fn one_node_that_writes_a_key_twice_fails_in_the_same_way() {
    let twice = |_: NodeContext, _: Value| async {
        Ok(NodeOutput::Many(vec![
            json!({"x": 1}).into(),
            json!({"x": 1}).into(),
        ]))
    };
    let graph = on_memory(base().node("a", twice).edge(START, "a"));
    let error = graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    assert!(
        error.to_string().starts_with("At key 'x': Can receive only one"),
        "{error}"
    );
    assert!(error.to_string().contains("written by a;"), "{error}");

    let fails = on_memory(
        base()
            .node("a", returns(json!({"log": {}, "x": 1})))
            .edge(START, "a"),
    );
    fails.invoke(input(), RunConfig::on("1")).await.unwrap();
    let adds = StateGraph::new()
        .channel("n", ChannelSpec::binary(BinaryOp::Add, Some(0.into())))
        .node("a", returns(json!({"n": null})))
        .edge(START, "a");
    let graph = on_memory(adds);
    let error = graph
        .invoke(Input::value(json!({})), RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("add reducer cannot join"), "{error}");
    let state = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    assert_eq!(state.values, json!({"n": 0}), "nothing of the step was applied");
}

// Schemas.

#[tokio::test]
async fn input_output_and_private_keys_are_seen_as_the_worked_example_says() {
    let seen = Seen::default();
    let graph = on_memory(
        StateGraph::new()
            .channel("q", ChannelSpec::last_value())
            .channel("ans", ChannelSpec::last_value())
            .channel("hidden", ChannelSpec::append())
            .private_channel("secret", ChannelSpec::last_value())
            .input_keys(["q"])
            .output_keys(["ans"])
            .node("n1", seen.node("n1", json!({"secret": 7, "hidden": ["n1"]})))
            .node_with(
                "n2",
                Arc::new(seen.node("n2", json!({"ans": "done", "hidden": ["n2"]}))),
                NodeOptions::new().input(["secret"]),
            )
            .node("n3", seen.node("n3", json!({})))
            .edge(START, "n1")
            .edge("n1", "n2")
            .edge("n2", "n3"),
    );
    let given = || Input::value(json!({"q": "hi", "ans": "ignored?", "hidden": ["x"], "secret": 1}));
    let result = graph.invoke(given(), RunConfig::on("1")).await.unwrap();
    assert_eq!(result.value, json!({"ans": "done"}));
    assert_eq!(
        seen.take(),
        [
            r#"n1 {"q":"hi","hidden":[]}"#,
            r#"n2 {"secret":7}"#,
            r#"n3 {"q":"hi","ans":"done","hidden":["n1","n2"]}"#,
        ]
    );
    let (lines, _) = stream(&graph, given(), RunConfig::on("2"), &[Values]).await;
    assert_eq!(
        lines,
        [
            r#"values {"q":"hi","hidden":[]}"#,
            r#"values {"q":"hi","hidden":["n1"],"secret":7}"#,
            r#"values {"q":"hi","ans":"done","hidden":["n1","n2"],"secret":7}"#,
        ]
    );
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        state.values,
        json!({"q": "hi", "ans": "done", "hidden": ["n1", "n2"], "secret": 7})
    );
}

#[tokio::test]
async fn a_router_sees_its_nodes_schema_or_its_own() {
    let seen = Seen::default();
    let router = |name: &'static str| {
        let seen = seen.clone();
        routes(move |state| {
            seen.note(name, state);
            vec![]
        })
    };
    let n2 = json!({"ans": "done", "hidden": ["n2"], "other": 1});
    let graph = StateGraph::new()
        .channel("q", ChannelSpec::last_value())
        .channel("ans", ChannelSpec::last_value())
        .channel("hidden", ChannelSpec::append())
        .private_channel("secret", ChannelSpec::last_value())
        .node("n1", returns(json!({"secret": 7, "hidden": ["n1"]})))
        .node_with("n2", Arc::new(returns(n2)), NodeOptions::new().input(["secret"]))
        .edge(START, "n1")
        .edge("n1", "n2")
        .branch("n1", Branch::new(router("own")).named("own").input(["secret"]))
        .branch("n1", Branch::new(router("default")).named("default"))
        .branch("n2", Branch::new(router("narrow")).named("narrow"))
        .compile()
        .unwrap();
    graph
        .invoke(Input::value(json!({"q": "hi"})), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(
        seen.take(),
        [
            r#"own {"secret":7}"#,
            r#"default {"secret":7,"hidden":["n1"],"q":"hi"}"#,
            r#"narrow {"ans":"done","hidden":["n2"],"other":1,"secret":7}"#,
        ]
    );
}

#[tokio::test]
async fn managed_values_count_down_and_are_never_stored() {
    let seen = Seen::default();
    let (graph, saver) = saved(
        StateGraph::new()
            .channel("log", ChannelSpec::append())
            .managed("left", Managed::RemainingSteps)
            .managed("last", Managed::IsLastStep)
            .node("a", seen.node("a", json!({"log": ["a"], "left": 99})))
            .node("b", seen.node("b", json!({"log": ["b"]})))
            .node_with(
                "c",
                Arc::new(seen.node("c", json!({"log": ["c"]}))),
                NodeOptions::new().input(["left"]),
            )
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", "c")
            .branch("a", {
                let seen = seen.clone();
                Branch::new(routes(move |state| {
                    seen.note("router", state);
                    vec![]
                }))
            }),
    );
    let config = RunConfig::on("1").recursion_limit(3);
    let (lines, result) = stream(&graph, Input::value(json!({})), config, &[Values, Updates]).await;
    assert!(matches!(result, Err(RunError::Recursion { limit: 3 })));
    assert_eq!(
        seen.take(),
        [
            r#"a {"log":[],"left":2,"last":false}"#,
            r#"router {"log":["a"],"left":2,"last":false}"#,
            r#"b {"log":["a"],"left":1,"last":true}"#,
            r#"c {"left":0}"#,
        ]
    );
    assert_eq!(
        lines[..2],
        [r#"updates {"a":{"log":["a"]}}"#, r#"values {"log":["a"]}"#]
    );
    for tuple in stored(&saver).await {
        assert_eq!(held(&tuple, "left"), "-");
        assert!(!tuple.checkpoint.channel_versions.contains_key("left"));
    }
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(state.values, json!({"log": ["a", "b", "c"]}));
}

#[tokio::test]
async fn a_state_that_is_one_value_is_bare_everywhere() {
    let add = |_: NodeContext, n: Value| async move { Ok(NodeOutput::from(n.as_i64().unwrap() + 1)) };
    let (graph, saver) = saved(
        StateGraph::new()
            .root(ChannelSpec::last_value())
            .node("a", add)
            .node("n", returns(Value::Null))
            .edge(START, "a")
            .edge("a", "n"),
    );
    let (lines, result) = stream(
        &graph,
        Input::value(5),
        RunConfig::on("1"),
        &[Values, Updates, Tasks],
    )
    .await;
    assert_eq!(
        lines,
        [
            "values 5",
            "start a",
            r#"updates {"a":6}"#,
            r#"end a {"__root__":6}"#,
            "values 6",
            "start n",
            r#"updates {"n":null}"#,
            "end n {}",
        ]
    );
    assert_eq!(result.unwrap().value, json!(6));
    let tuples = stored(&saver).await;
    assert_eq!(held(&tuples[1], "__root__"), "5");

    let live = StateRef::live("1");
    let edit = StateUpdate {
        values: 40.into(),
        as_node: Some("a".into()),
        ..StateUpdate::default()
    };
    graph.update_state(&live, edit).await.unwrap();
    let state = graph.get_state(&live).await.unwrap();
    assert_eq!((state.values, state.next), (json!(40), vec!["n".into()]));
    let entries = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let results: Vec<String> = entries
        .iter()
        .rev()
        .flat_map(|entry| &entry.tasks)
        .map(|task| format!("{} {}", task.name, task.result.clone().unwrap_or_default()))
        .collect();
    assert_eq!(results, ["__start__ 5", "a 6", "n null", "n null"]);
    let command = Command {
        update: Some(3.into()),
        goto: vec![Target::node("a")],
        ..Command::default()
    };
    let result = graph
        .invoke(Input::Command(command), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(result.value, json!(4));
}

#[tokio::test]
async fn a_root_reducer_shows_several_writes_as_a_list() {
    let two = |_: NodeContext, _: Value| async {
        Ok(NodeOutput::Many(vec![
            NodeOutput::Command(Command {
                update: Some(json!(["c"])),
                ..Command::default()
            }),
            json!(["d"]).into(),
        ]))
    };
    let graph = StateGraph::new()
        .root(ChannelSpec::append())
        .node("b", two)
        .edge(START, "b")
        .compile()
        .unwrap();
    let (lines, result) = stream(
        &graph,
        Input::value(json!(["i"])),
        RunConfig::default(),
        &[Updates, Tasks],
    )
    .await;
    assert_eq!(
        lines,
        [
            "start b",
            r#"updates {"b":[["c"],["d"]]}"#,
            r#"end b {"__root__":{"$writes":[["c"],["d"]]}}"#
        ]
    );
    assert_eq!(result.unwrap().value, json!(["i", "c", "d"]));
}

// Types.

#[tokio::test]
async fn every_update_is_held_against_its_type_before_it_is_merged() {
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("q")?;
        Ok(NodeOutput::from(json!({"n": answer})))
    };
    let positive = |value: &Value| match value.as_i64() {
        Some(n) if n > 0 => Ok(()),
        _ => Err(format!("expected a positive number, found {value}")),
    };
    let graph = on_memory(
        StateGraph::new()
            .channel("n", ChannelSpec::last_value().typed::<u8>())
            .channel(
                "sum",
                ChannelSpec::binary(BinaryOp::Add, Some(0.into())).checked(positive),
            )
            .node("ask", ask)
            .edge(START, "ask"),
    );
    let live = StateRef::live("1");
    let config = || RunConfig::on("1");
    let error = graph
        .invoke(Input::value(json!({"n": -1})), config())
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with(
            "The input wrote `n`: invalid value: integer `-1`, expected u8, in -1. Nothing was merged;"
        ),
        "{error}"
    );
    let error = graph
        .invoke(Input::value(json!({"sum": 0})), config())
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("The input wrote `sum`: expected a positive number, found 0."),
        "{error}"
    );
    graph
        .invoke(Input::value(json!({"sum": 2})), config())
        .await
        .unwrap();

    let error = graph.invoke(Input::answer("many"), config()).await.unwrap_err();
    assert_eq!(error.code(), "invalid-update");
    assert!(
        error
            .to_string()
            .starts_with("Node `ask` wrote `n`: invalid type: string \"many\", expected u8, in \"many\"."),
        "{error}"
    );
    let edit = StateUpdate {
        values: json!({"sum": overwrite(-3)}),
        ..StateUpdate::default()
    };
    let error = graph.update_state(&live, edit).await.unwrap_err();
    assert!(
        error.to_string().contains("expected a positive number, found -3"),
        "{error}"
    );
    let as_input = StateUpdate {
        values: json!({"n": "one"}),
        as_node: Some("__input__".into()),
        ..StateUpdate::default()
    };
    let error = graph.update_state(&live, as_input).await.unwrap_err();
    assert!(error.to_string().starts_with("The input wrote `n`"), "{error}");
    let command = Command {
        update: Some(json!([["sum", 1], ["sum", -1]])),
        ..Command::default()
    };
    let error = graph.invoke(Input::Command(command), config()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("The command wrote `sum`: expected a positive number, found -1."),
        "{error}"
    );
    let state = graph.get_state(&live).await.unwrap();
    assert_eq!(state.values, json!({"sum": 2}), "nothing wrong was merged");
}

#[tokio::test]
async fn a_commands_update_may_be_pairs_and_an_update_must_be_an_object() {
    let pairs = |_: NodeContext, _: Value| async {
        Ok(NodeOutput::Command(Command {
            update: Some(json!([["log", ["p"]], ["log", "q"], ["nokey", 1]])),
            ..Command::default()
        }))
    };
    assert_eq!(log_after(base().node("a", pairs).edge(START, "a")).await, "p,q");
    for (returned, message) in [
        (json!(5), "Expected dict, got 5"),
        (json!("str"), "Expected dict, got str"),
        (
            json!([1, "a", null, true]),
            "Expected dict, got [1, 'a', None, True]",
        ),
    ] {
        let graph = base()
            .node("a", returns(returned))
            .edge(START, "a")
            .compile()
            .unwrap();
        let error = graph.invoke(input(), RunConfig::default()).await.unwrap_err();
        assert_eq!(
            (error.code(), first_line(&error).as_str()),
            ("invalid-update", message)
        );
        assert!(error.to_string().contains("Node `a` gave"), "{error}");
    }
}

#[tokio::test]
async fn keys_that_are_none_are_ignored_or_refused() {
    let writes = || base().node("a", returns(json!({"lgo": ["a"]}))).edge(START, "a");
    assert_eq!(log_after(writes()).await, "");
    let strict = on_memory(writes().refuse_unknown_keys(|key| format!("There is no {key}.")));
    let given = Input::value(json!({"x": 1, "other": 2}));
    let error = strict.invoke(given, RunConfig::on("1")).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Node `a` wrote `lgo`, which is no state key. There is no lgo."),
        "{error}"
    );
    let edit = StateUpdate {
        values: json!({"y": 1}),
        as_node: Some("a".into()),
        ..StateUpdate::default()
    };
    let error = strict.update_state(&StateRef::live("1"), edit).await.unwrap_err();
    assert_eq!(error.code(), "invalid-update", "{error}");
}

#[test]
fn wrong_declarations_are_problems() {
    let problems = |graph: StateGraph| -> Vec<String> {
        let graph = graph.node("a", logs("a")).edge(START, "a");
        let problems = graph
            .compile()
            .err()
            .map_or_else(Vec::new, |error| error.problems);
        problems
            .into_iter()
            .map(|p| format!("{} {}", p.code, p.message))
            .collect()
    };
    let append = ChannelSpec::append;
    let key = |spec: ChannelSpec| StateGraph::new().channel("k", append()).channel("k", spec);
    assert!(problems(key(append())).is_empty());
    assert!(problems(key(ChannelSpec::last_value())).is_empty());
    let conflict = ["duplicate-channel Channel 'k' already exists with a different type"];
    assert_eq!(problems(key(ChannelSpec::binary(BinaryOp::Add, None))), conflict);
    assert_eq!(problems(key(ChannelSpec::topic().accumulate())), conflict);
    assert_eq!(
        problems(
            StateGraph::new()
                .channel("k", append())
                .managed("k", Managed::IsLastStep)
        ),
        conflict
    );
    assert_eq!(
        problems(StateGraph::new().channel("__root__", append())),
        ["reserved-name Channel name '__root__' is reserved"]
    );
    assert_eq!(
        problems(
            StateGraph::new()
                .managed("l", Managed::IsLastStep)
                .managed("r", Managed::RemainingSteps)
                .output_keys(["l", "r", "zz"])
        ),
        [
            "unknown-key The output names `zz`, which is not a state key.",
            "managed-key Invalid managed channels detected in output: l, r. Managed channels are not permitted in \
             Input/Output schema.",
        ]
    );
    assert_eq!(
        problems(StateGraph::new().channel("k", ChannelSpec::any_value().with_default(1))),
        ["default-on-channel Key 'k' is empty before it is written, so it has no default."]
    );
    assert_eq!(
        problems(StateGraph::new().root(append()).channel("k", append())),
        ["root-with-keys The state is one value, so it cannot have the key 'k' as well."]
    );
}
