//! Graphs within graphs, commands for the parent, tasks called from code, and entry points (SEMANTICS 6.1, 6.2 and 8).

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

fn sub(question: bool) -> Graph {
    let second = move |context: NodeContext, _: Value| async move {
        let entry = if question {
            format!("s2:{}", text(&context.interrupt("sub-q")?))
        } else {
            "s2".to_owned()
        };
        Ok(NodeOutput::from(json!({ "log": [entry] })))
    };
    base()
        .node("s1", logs("s1"))
        .node("s2", second)
        .edge(START, "s1")
        .edge("s1", "s2")
        .compile()
        .unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn outer(sub: &Graph) -> Graph {
    base()
        .node("p", logs("p"))
        .subgraph("sub", sub)
        .node("q", logs("q"))
        .edge(START, "p")
        .edge("p", "sub")
        .edge("sub", "q")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
}

fn input() -> Input {
    Input::value(json!({"x": 1, "log": ["i"]}))
}

/// Each event as `namespace mode`, with task ids left out.
async fn places(graph: &Graph, input: Input, config: RunConfig) -> Vec<String> {
    let mut run = graph.stream(input, config);
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        let ns: Vec<&str> = event
            .ns
            .iter()
            .map(|part| part.split(':').next().unwrap())
            .collect();
        seen.push(format!("[{}] {}", ns.join("|"), event.mode()));
    }
    run.finish().await.unwrap();
    seen
}

fn all_modes(thread: &str) -> RunConfig {
    RunConfig::on(thread)
        .modes([
            StreamMode::Values,
            StreamMode::Updates,
            StreamMode::Tasks,
            StreamMode::Checkpoints,
        ])
        .subgraphs(true)
}

async fn history(graph: &Graph, ns: &str) -> Vec<StateSnapshot> {
    let query = ListQuery::new().ns(ns);
    graph.get_state_history(&"t".into(), &query).await.unwrap()
}

fn shape(history: &[StateSnapshot]) -> Vec<(i64, Source, Value)> {
    let row = |snapshot: &StateSnapshot| {
        let metadata = &snapshot.checkpoint.as_ref().unwrap().metadata;
        let log = snapshot.values.get("log").cloned().unwrap_or_default();
        (metadata.step, metadata.source, log)
    };
    history.iter().map(row).collect()
}

async fn waiting_ns(graph: &Graph) -> String {
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    match &state.tasks[0].state {
        Some(TaskState::Ns(ns)) => ns.to_string(),
        other => panic!("no namespace: {other:?}"),
    }
}

#[tokio::test]
async fn a_graph_as_a_node_streams_and_stores_under_its_own_namespace() {
    let graph = outer(&sub(false));
    let seen = places(&graph, input(), all_modes("t")).await;
    let step = |ns: &str| {
        ["tasks", "updates", "tasks", "values", "checkpoints"]
            .iter()
            .map(|mode| format!("[{ns}] {mode}"))
            .collect::<Vec<_>>()
    };
    let own = |ns: &str, modes: &[&str]| {
        modes
            .iter()
            .map(|mode| format!("[{ns}] {mode}"))
            .collect::<Vec<_>>()
    };
    let expected = [
        own("", &["checkpoints", "values", "checkpoints"]),
        step(""),
        own("", &["tasks"]),
        own("sub", &["checkpoints", "values", "checkpoints"]),
        step("sub"),
        step("sub"),
        own("", &["updates", "tasks", "values", "checkpoints"]),
        step(""),
    ]
    .concat();
    assert_eq!(seen, expected);
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    // What both join with a reducer is joined with itself.
    assert_eq!(
        state.values,
        json!({"x": 1, "log": ["i", "p", "i", "p", "s1", "s2", "q"]})
    );
}

#[tokio::test]
async fn a_question_inside_a_graph_stops_its_parents_and_is_answered_inside_it() {
    let graph = outer(&sub(true));
    let asked = graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    assert_eq!(asked.status, RunStatus::Interrupted);
    assert_eq!(asked.interrupts.len(), 1);
    let state = graph
        .get_state(&StateRef::live("t").with_subgraphs())
        .await
        .unwrap();
    assert_eq!(state.next, ["sub".into()]);
    let Some(TaskState::Snapshot(nested)) = &state.tasks[0].state else {
        panic!("the nested state was asked for");
    };
    assert_eq!(nested.values, json!({"x": 1, "log": ["i", "p", "s1"]}));
    assert_eq!(nested.next, ["s2".into()]);
    let ns = waiting_ns(&graph).await;
    let inside = graph
        .get_state(&StateRef::live("t").within(ns.as_str()))
        .await
        .unwrap();
    assert_eq!(inside, **nested);

    let seen = places(&graph, Input::answer("R"), all_modes("t")).await;
    assert!(!seen.is_empty());
    let done = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(
        done.values.get("log"),
        Some(&json!(["i", "p", "i", "p", "s1", "s2:R", "q"]))
    );
    // The nested graph went on in the middle: s1 ran once.
    let inside = history(&graph, &ns).await;
    assert_eq!(
        shape(&inside),
        [
            (2, Source::Loop, json!(["i", "p", "s1", "s2:R"])),
            (1, Source::Loop, json!(["i", "p", "s1"])),
            (0, Source::Loop, json!(["i", "p"])),
            (-1, Source::Input, json!([])),
        ]
    );
    let parents = &inside[0].checkpoint.as_ref().unwrap().metadata.parents;
    assert_eq!(parents.len(), 1);
    assert!(parents.get("").is_some());
}

#[tokio::test]
async fn without_the_flag_nothing_of_a_nested_graph_is_seen() {
    let graph = outer(&sub(false));
    let config = all_modes("t").subgraphs(false);
    let seen = places(&graph, input(), config).await;
    assert!(seen.iter().all(|event| event.starts_with("[] ")));
}

#[tokio::test]
async fn a_stateful_graph_goes_on_from_run_to_run() {
    let counter = |persistence| {
        StateGraph::new()
            .channel("t", ChannelSpec::append())
            .node("c1", returns(json!({"t": ["c1"]})))
            .edge(START, "c1")
            .compile()
            .unwrap()
            .with_persistence(persistence)
    };
    for (persistence, second) in [
        (Persistence::Inherit, json!(["in", "c1"])),
        (Persistence::Off, json!(["in", "c1"])),
        (Persistence::Stateful, json!(["in", "c1", "in", "c1"])),
    ] {
        let inner = counter(persistence);
        let called = inner.clone();
        let caller = move |context: NodeContext, _: Value| {
            let inner = called.clone();
            async move {
                let value = context.invoke(&inner, Input::value(json!({"t": ["in"]}))).await?;
                Ok(NodeOutput::from(
                    json!({"x": value.get("t").cloned().unwrap_or_default()}),
                ))
            }
        };
        let graph = base()
            .node_with("caller", Arc::new(caller), NodeOptions::new().runs(&inner))
            .edge(START, "caller")
            .compile()
            .unwrap()
            .with_checkpointer(Arc::new(MemorySaver::new()));
        for expected in [json!(["in", "c1"]), second] {
            let result = graph
                .invoke(Input::value(json!({})), RunConfig::on("t"))
                .await
                .unwrap();
            assert_eq!(result.value.get("x"), Some(&expected), "{persistence:?}");
        }
        if persistence == Persistence::Stateful {
            let steps: Vec<i64> = history(&graph, "caller")
                .await
                .iter()
                .map(|snapshot| snapshot.checkpoint.as_ref().unwrap().metadata.step)
                .collect();
            assert_eq!(steps, [4, 3, 2, 1, 0, -1]);
        }
    }
    let alone = counter(Persistence::Stateful)
        .invoke(Input::value(json!({})), RunConfig::default())
        .await;
    assert!(matches!(alone, Err(RunError::InvalidRequest { .. })));
}

#[tokio::test]
async fn a_command_for_the_parent_ends_the_graph_it_comes_from() {
    let up = |_: NodeContext, _: Value| async {
        Ok(NodeOutput::Command(Command {
            update: Some(json!({"log": ["from-sub"], "x": 7})),
            goto: vec![Target::node("other")],
            graph: CommandGraph::Parent,
            ..Command::default()
        }))
    };
    let inner = base()
        .node("s1", logs("s1"))
        .node("s2", up)
        .edge(START, "s1")
        .edge("s1", "s2")
        .compile()
        .unwrap();
    let graph = base()
        .node("p", logs("p"))
        .subgraph("sub", &inner)
        .node("after", logs("after"))
        .node("other", logs("other"))
        .edge(START, "p")
        .edge("p", "sub")
        .edge("sub", "after")
        .compile()
        .unwrap();
    let result = graph.invoke(input(), RunConfig::default()).await.unwrap();
    assert_eq!(
        result.value,
        json!({"x": 7, "log": ["i", "p", "from-sub", "after", "other"]})
    );
    // Where there is no parent the command is an error.
    let alone = inner.invoke(input(), RunConfig::default()).await;
    assert!(matches!(alone, Err(RunError::ParentCommand { .. })));
}

#[tokio::test]
async fn a_breakpoint_of_a_nested_graph_stops_the_run() {
    let inner = sub(false).with_interrupt_before(["s2"]);
    let graph = outer(&inner);
    let stopped = graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    assert_eq!(stopped.status, RunStatus::Breakpoint);
    assert!(stopped.interrupts.is_empty());
    let ns = waiting_ns(&graph).await;
    let inside = graph
        .get_state(&StateRef::live("t").within(ns.as_str()))
        .await
        .unwrap();
    assert_eq!(inside.next, ["s2".into()]);
    let done = graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
    assert_eq!(done.status, RunStatus::Done);
    assert_eq!(
        done.value.get("log"),
        Some(&json!(["i", "p", "i", "p", "s1", "s2", "q"]))
    );
}

#[tokio::test]
async fn a_nested_state_is_edited_where_it_waits() {
    let graph = outer(&sub(true));
    graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    let ns = waiting_ns(&graph).await;
    let at = StateRef::live("t").within(ns.as_str());
    let edit = StateUpdate {
        values: json!({"log": ["SUBUPD"]}),
        ..StateUpdate::default()
    };
    graph.update_state(&at, edit).await.unwrap();
    let done = graph
        .invoke(Input::answer("R"), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        done.value.get("log"),
        Some(&json!(["i", "p", "i", "p", "s1", "SUBUPD", "s2:R", "q"]))
    );
    let unknown = graph
        .update_state(&StateRef::live("t").within("nope:1"), StateUpdate::default())
        .await;
    assert!(
        unknown
            .unwrap_err()
            .to_string()
            .starts_with("Subgraph nope not found")
    );
}

#[tokio::test]
async fn a_run_from_a_nested_checkpoint_goes_on_inside_the_nested_graph() {
    let graph = outer(&sub(true));
    graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    let ns = waiting_ns(&graph).await;
    let paused = graph
        .get_state(&StateRef::live("t").within(ns.as_str()))
        .await
        .unwrap();
    let paused = paused.checkpoint.unwrap();
    graph
        .invoke(Input::answer("first"), RunConfig::on("t"))
        .await
        .unwrap();

    // Back inside: s1 does not run again, the question is asked again on a new branch.
    let config = RunConfig::on("t")
        .checkpoint_id(paused.id.clone())
        .ns(ns.as_str());
    let asked = graph.invoke(Input::Continue, config).await.unwrap();
    assert_eq!(asked.status, RunStatus::Interrupted);
    let branch = waiting_ns(&graph).await;
    assert_ne!(branch, ns);
    let inside = history(&graph, &branch).await;
    assert_eq!(shape(&inside), [(2, Source::Fork, json!(["i", "p", "s1"]))]);
    let done = graph
        .invoke(Input::answer("second"), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        done.value.get("log"),
        Some(&json!(["i", "p", "i", "p", "s1", "s2:second", "q"]))
    );
    // The first branch is as it was.
    assert_eq!(history(&graph, &ns).await.len(), 4);
}

#[tokio::test]
async fn parallel_nested_questions_are_answered_by_one_map_of_ids() {
    let inner = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .channel("out", ChannelSpec::append())
        .input_keys(["n"])
        .output_keys(["out"])
        .node("ask", |context: NodeContext, state: Value| async move {
            let n = state.get("n").cloned().unwrap_or_default();
            let answer = context.interrupt(n.clone())?;
            Ok(NodeOutput::from(
                json!({"out": [format!("{n}={}", text(&answer))]}),
            ))
        })
        .edge(START, "ask")
        .compile()
        .unwrap();
    let graph = StateGraph::new()
        .channel("out", ChannelSpec::append())
        .subgraph("each", &inner)
        .branch(
            START,
            Branch::new(routes(|_| {
                (0..5).map(|n| Target::send("each", json!({"n": n}))).collect()
            })),
        )
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let asked = graph
        .invoke(Input::value(json!({})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(asked.interrupts.len(), 5);
    let one = graph.invoke(Input::answer("no"), RunConfig::on("t")).await;
    assert!(matches!(one, Err(RunError::AmbiguousResume { pending: 5 })));
    let answers: Object = asked
        .interrupts
        .iter()
        .map(|question| (question.id.as_str(), Value::from(format!("a{}", question.value))))
        .collect();
    let done = graph
        .invoke(Input::answer(answers), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        done.value,
        json!({"out": ["0=a0", "1=a1", "2=a2", "3=a3", "4=a4"]})
    );
}

#[tokio::test]
async fn going_back_asks_again_in_a_graph_that_starts_over() {
    let graph = outer(&sub(true));
    graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    graph
        .invoke(Input::answer("A"), RunConfig::on("t"))
        .await
        .unwrap();
    let before_sub = history(&graph, "").await;
    let before_sub = before_sub.iter().find(|s| s.next == ["sub".into()]).unwrap();
    let config = RunConfig::on("t").checkpoint_id(before_sub.checkpoint.as_ref().unwrap().id.clone());
    let asked = graph.invoke(Input::Continue, config).await.unwrap();
    assert_eq!(asked.status, RunStatus::Interrupted);
    let inside = history(&graph, &waiting_ns(&graph).await).await;
    assert_eq!(inside.len(), 3, "the nested graph started over");
    let done = graph
        .invoke(Input::answer("B"), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        done.value.get("log"),
        Some(&json!(["i", "p", "i", "p", "s1", "s2:B", "q"]))
    );
}

#[tokio::test]
async fn durability_is_inherited() {
    let counted = |durability| async move {
        let saver = Arc::new(MemorySaver::new());
        let graph = outer(&sub(false)).with_checkpointer(saver.clone());
        let config = RunConfig::on("t").durability(durability);
        graph.invoke(input(), config).await.unwrap();
        let query = ListQuery::new().thread("t");
        saver.heads(&query).await.unwrap().len()
    };
    assert_eq!(counted(Durability::Sync).await, 9);
    assert_eq!(counted(Durability::Async).await, 9);
    assert_eq!(counted(Durability::Exit).await, 1);
}

fn workflow(calls: &Calls) -> Graph {
    let calls = calls.clone();
    let slow = TaskFn::new("slow", move |_: NodeContext, n: Value| {
        let n = n.as_i64().unwrap();
        calls.add(&format!("slow({n})"));
        async move { Ok(Value::from(2 * n)) }
    });
    Entrypoint::new("wf", move |context: NodeContext, n: Value| {
        let slow = slow.clone();
        async move {
            let a = context.call(&slow, n).await?;
            let x = context.interrupt(format!("approve {a}"))?;
            let b = context.call(&slow, a.clone()).await?;
            Ok(NodeOutput::from(vec![a, x, b]))
        }
    })
    .compile()
    .unwrap()
    .with_checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn recorded_results_are_reused_when_the_caller_runs_again() {
    let calls = Calls::default();
    let graph = workflow(&calls);
    let modes = |thread: &str| {
        RunConfig::on(thread).modes([StreamMode::Values, StreamMode::Updates, StreamMode::Tasks])
    };
    let mut run = graph.stream(Input::value(1), modes("t"));
    let mut first = Vec::new();
    while let Some(event) = run.next().await {
        first.push((event.mode().as_str(), event.data()));
    }
    run.finish().await.unwrap();
    let kinds: Vec<&str> = first.iter().map(|(mode, _)| *mode).collect();
    assert_eq!(
        kinds,
        ["tasks", "tasks", "updates", "tasks", "updates", "values", "tasks"]
    );
    assert_eq!(first[1].1.get("input"), Some(&json!([[1], {}])));
    assert_eq!(first[2].1, json!({"slow": 2}));
    assert_eq!(first[3].1.get("result"), Some(&json!({"__return__": 2})));

    let mut run = graph.stream(Input::answer("yes"), modes("t"));
    let mut second = Vec::new();
    while let Some(event) = run.next().await {
        second.push((event.mode().as_str(), event.data()));
    }
    let done = run.finish().await.unwrap();
    assert_eq!(done.value, json!([2, "yes", 4]));
    let kinds: Vec<&str> = second.iter().map(|(mode, _)| *mode).collect();
    assert_eq!(
        kinds,
        [
            "values", "tasks", "tasks", "tasks", "updates", "tasks", "updates", "tasks", "values"
        ]
    );
    assert_eq!(second[0].1, Value::Null);
    assert_eq!(second[6].1, json!({"wf": [2, "yes", 4]}));
    assert_eq!((calls.of("slow(1)"), calls.of("slow(2)")), (1, 1));
}

#[tokio::test]
async fn a_workflow_is_given_what_its_last_run_saved() {
    let graph = Entrypoint::new("wf", |context: NodeContext, n: Value| async move {
        let before = context.previous();
        let save = before.as_i64().unwrap_or(0) + n.as_i64().unwrap_or(0);
        Ok(NodeOutput::Final {
            value: before,
            save: save.into(),
        })
    })
    .compile()
    .unwrap()
    .with_checkpointer(Arc::new(MemorySaver::new()));
    for (n, expected) in [(3, Value::Null), (1, 3.into()), (5, 4.into())] {
        let result = graph.invoke(Input::value(n), RunConfig::on("t")).await.unwrap();
        assert_eq!(result.value, expected);
    }
}

#[tokio::test]
async fn parallel_calls_run_at_once_and_a_failed_one_is_the_callers_to_handle() {
    let failing = TaskFn::new("failing", |_: NodeContext, _: Value| async {
        Err::<Value, _>(NodeError::new("ValueError", "no"))
    });
    let waits = TaskFn::new("waits", |_: NodeContext, n: Value| async move {
        tokio::task::yield_now().await;
        Ok(n)
    });
    let graph = base()
        .node("n", move |context: NodeContext, _: Value| {
            let (failing, waits) = (failing.clone(), waits.clone());
            async move {
                let handles: Vec<TaskHandle> = (0..20).map(|n| context.call(&waits, n)).collect();
                let failed = context.call(&failing, Value::Null).await;
                let mut sum = 0;
                for handle in handles {
                    sum += handle.await?.as_i64().unwrap_or(0);
                }
                assert!(matches!(failed, Err(NodeError::Failed(_))));
                Ok(NodeOutput::from(json!({ "x": sum })))
            }
        })
        .edge(START, "n")
        .compile()
        .unwrap();
    let config = RunConfig::default().max_concurrency(1);
    let result = graph.invoke(Input::value(json!({})), config).await.unwrap();
    assert_eq!(result.value.get("x"), Some(&Value::from(190)));
}

#[tokio::test]
async fn a_question_in_a_call_is_the_callers_question() {
    let ask = TaskFn::new("ask", |context: NodeContext, q: Value| async move {
        context.interrupt(q)
    });
    let graph = Entrypoint::new("wf", move |context: NodeContext, _: Value| {
        let ask = ask.clone();
        async move { Ok(NodeOutput::from(context.call(&ask, "how many?").await?)) }
    })
    .compile()
    .unwrap()
    .with_checkpointer(Arc::new(MemorySaver::new()));
    let asked = graph.invoke(Input::value(0), RunConfig::on("t")).await.unwrap();
    assert_eq!(asked.interrupts.len(), 1);
    let done = graph.invoke(Input::answer(12), RunConfig::on("t")).await.unwrap();
    assert_eq!(done.value, Value::from(12));
}

#[tokio::test]
async fn tasks_called_outside_of_a_run_say_so() {
    let graph = Entrypoint::new("wf", |context: NodeContext, _: Value| async move {
        Ok(NodeOutput::from(context.previous()))
    })
    .compile()
    .unwrap();
    let nothing = graph
        .invoke(Input::value(Value::Null), RunConfig::default())
        .await;
    assert!(matches!(nothing, Err(RunError::EmptyInput { .. })));
}

#[derive(Debug, Default)]
struct Watch(std::sync::Mutex<Vec<String>>);

impl Watch {
    fn note(&self, what: &str, event: &LifecycleEvent) {
        let line = format!(
            "{what} {} {} {}",
            event.status.as_str(),
            event.ns.len(),
            event.interrupts.len()
        );
        self.0.lock().unwrap().push(line);
    }
}

impl Lifecycle for Watch {
    fn on_interrupt(&self, event: &LifecycleEvent) {
        self.note("interrupt", event);
    }
    fn on_resume(&self, event: &LifecycleEvent) {
        self.note("resume", event);
    }
}

#[tokio::test]
async fn stops_and_resumes_are_reported() {
    let graph = outer(&sub(true));
    let watch = Arc::new(Watch::default());
    let config = || RunConfig::on("t").lifecycle(watch.clone());
    graph.invoke(input(), config()).await.unwrap();
    let before_q = config().interrupt_before(["q"]);
    graph.invoke(Input::answer("R"), before_q).await.unwrap();
    let seen = watch.0.lock().unwrap().clone();
    assert_eq!(
        seen,
        [
            "interrupt pending 0 1",
            "resume pending 0 0",
            "resume pending 1 0",
            "interrupt interrupt_before 0 0",
        ]
    );
}

#[tokio::test]
async fn the_result_of_a_call_is_kept_in_the_cache() {
    let calls = Calls::default();
    let counted = calls.clone();
    let slow = TaskFn::new("slow", move |_: NodeContext, n: Value| {
        counted.add("slow");
        async move { Ok(n) }
    })
    .options(NodeOptions::new().cache(CachePolicy::new()));
    let graph = Entrypoint::new("wf", move |context: NodeContext, n: Value| {
        let slow = slow.clone();
        async move { Ok(NodeOutput::from(context.call(&slow, n).await?)) }
    })
    .compile()
    .unwrap()
    .with_cache(Arc::new(MemoryCache::new(16)));
    for _ in 0..2 {
        let (lines, result) = stream(
            &graph,
            Input::value(7),
            RunConfig::default(),
            &[StreamMode::Updates],
        )
        .await;
        assert_eq!(result.unwrap().value, Value::from(7));
        assert_eq!(lines.len(), 2);
    }
    assert_eq!(calls.of("slow"), 1);
}

#[tokio::test]
async fn a_message_of_a_nested_graph_is_shown_once() {
    let messages = || StateGraph::new().channel("messages", ChannelSpec::add_messages());
    let says = returns(json!({"messages": [{"type": "ai", "content": "hi", "id": "m1"}]}));
    let inner = messages()
        .node("says", says)
        .edge(START, "says")
        .compile()
        .unwrap();
    let graph = messages()
        .subgraph("sub", &inner)
        .edge(START, "sub")
        .compile()
        .unwrap();
    for (subgraphs, place) in [(true, 1), (false, 0)] {
        let config = RunConfig::default()
            .modes([StreamMode::Messages])
            .subgraphs(subgraphs);
        let mut run = graph.stream(Input::value(json!({})), config);
        let mut places = Vec::new();
        while let Some(event) = run.next().await {
            places.push(event.ns.len());
        }
        assert_eq!(places, [place]);
    }
}

#[tokio::test]
async fn a_run_steps_into_a_nested_graph_when_asked_to() {
    let outer = outer(&sub(false));
    let stepping = RunConfig::on("t").interrupt_after(["*"]).interrupt_nested(true);
    let mut seen = Vec::new();
    let mut next = input();
    loop {
        let ran = outer.invoke(next, stepping.clone()).await.unwrap();
        let state = outer
            .get_state(&StateRef::live("t").with_subgraphs())
            .await
            .unwrap();
        let inside = state.tasks.first().and_then(|task| match &task.state {
            Some(TaskState::Snapshot(inner)) => Some(inner.next.clone()),
            _ => None,
        });
        let names = |names: &[Name]| {
            names
                .iter()
                .map(|name| name.to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        seen.push(format!(
            "{}/{}",
            names(&state.next),
            inside.map_or(String::new(), |next| names(&next))
        ));
        if ran.status == RunStatus::Done || state.next.is_empty() {
            break;
        }
        next = Input::Continue;
    }
    assert_eq!(seen, ["sub/", "sub/s2", "sub/", "q/", "/"]);
    // By default a step is one of the graph outside.
    let over = RunConfig::on("u").interrupt_after(["*"]);
    outer.invoke(input(), over.clone()).await.unwrap();
    outer.invoke(Input::Continue, over).await.unwrap();
    let state = outer.get_state(&StateRef::live("u")).await.unwrap();
    assert_eq!(state.next, ["q".into()]);
}

#[tokio::test]
async fn what_an_attempt_called_is_not_called_again_by_the_next() {
    let calls = Calls::default();
    let count = calls.clone();
    let slow = TaskFn::new("slow", move |_: NodeContext, n: Value| {
        count.add("slow");
        async move { Ok(n) }
    });
    let node = move |context: NodeContext, _: Value| {
        let slow = slow.clone();
        async move {
            let done = context.call(&slow, 7).await?;
            match context.info().attempt {
                1 => Err(NodeError::new("ConnectionError", "cut off")),
                _ => Ok(NodeOutput::from(json!({"x": done}))),
            }
        }
    };
    let retry = RetryPolicy::default().initial_interval(std::time::Duration::ZERO);
    let graph = StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .node_with("caller", Arc::new(node), NodeOptions::new().retry(retry))
        .edge(START, "caller")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let done = graph
        .invoke(Input::value(json!({"x": 0})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!((done.value.get("x"), calls.of("slow")), (Some(&json!(7)), 1));
}
