//! Breakpoints: where a run stops, what a condition is given, what the step keeps, and how the run goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use superstep::graph::*;
use superstep::run::*;
use superstep::run::{Breakpoint, BreakpointLimit, BreakpointPlace, Durability, HitRule, StepTask};
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// count, which adds one to `n` and goes round until it is 5; then done.
fn counter() -> StateGraph {
    let count = |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::Update(json!({"n": n + 1, "log": ["count"]})))
    };
    let route = routes(|state| match state["n"].as_i64() {
        Some(5..) => vec!["done".into()],
        _ => vec!["count".into()],
    });
    base()
        .channel("n", ChannelSpec::last_value())
        .node("count", count)
        .node("done", logs("done"))
        .edge(START, "count")
        .branch("count", Branch::new(route))
}

async fn run_with(graph: &Graph, input: Input, breakpoints: Vec<Breakpoint>) -> RunResult {
    let config = RunConfig::on("1").breakpoints(breakpoints);
    graph.invoke(input, config).await.unwrap()
}

fn reason(result: &RunResult) -> &str {
    assert_eq!(result.status, RunStatus::Breakpoint);
    &result.stopped.as_ref().unwrap().reason
}

fn state(seen: &Value, key: &str) -> i64 {
    seen["state"].get(key).and_then(Value::as_i64).unwrap_or(-1)
}

#[tokio::test]
async fn a_key_stops_the_run_where_its_condition_holds_and_it_goes_on_from_there() {
    let graph = on_memory(counter());
    let at_three = Breakpoint::new("b", BreakpointPlace::Key("n".into())).when(|seen: &Value| {
        assert_eq!(seen["writer"], json!("count"));
        assert_eq!(seen["task"]["node"], json!("count"));
        assert_eq!(
            seen["new"].as_i64().unwrap(),
            seen["old"].as_i64().unwrap_or(0) + 1
        );
        Ok(seen["new"] == json!(3))
    });
    let result = run_with(&graph, input(), vec![at_three.clone()]).await;
    assert_eq!(reason(&result), "`n` became 3, written by `count`");
    let hit = result.stopped.clone().unwrap();
    assert_eq!((&*hit.id, hit.step, hit.hit), ("b", 3, 1));
    let snapshot = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(snapshot.values["n"], json!(3));
    assert_eq!(snapshot.next, ["count".into()]);
    let result = run_with(&graph, Input::Continue, vec![at_three]).await;
    assert_eq!((result.status, &result.value["n"]), (RunStatus::Done, &json!(5)));
    assert_eq!(result.stopped, None);
}

#[tokio::test]
async fn edges_stop_after_the_step_that_took_them() {
    let graph = on_memory(counter());
    let edge = |to: &str| {
        Breakpoint::new(
            "e",
            BreakpointPlace::Edge {
                from: "count".into(),
                to: to.into(),
            },
        )
    };
    let result = run_with(&graph, input(), vec![edge("done")]).await;
    assert_eq!(reason(&result), "`count` led to `done`");
    let snapshot = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(snapshot.next, ["done".into()]);
    let end = Breakpoint::new(
        "e",
        BreakpointPlace::Edge {
            from: "done".into(),
            to: END.into(),
        },
    );
    let result = run_with(&graph, Input::Continue, vec![end]).await;
    assert_eq!(reason(&result), "`done` led to the end");
    let result = run_with(&graph, Input::Continue, vec![]).await;
    assert_eq!(result.status, RunStatus::Done);
}

#[tokio::test]
async fn hits_are_counted_over_runs_and_chosen_by_their_rule() {
    let graph = on_memory(counter());
    let third = Breakpoint::new("v", BreakpointPlace::Before("count".into())).hits(HitRule::Nth(3));
    let result = run_with(&graph, input(), vec![third.clone()]).await;
    assert_eq!(reason(&result), "Before `count`");
    assert_eq!(result.stopped.unwrap().hit, 3);
    assert_eq!(result.value["n"], json!(2));
    let result = run_with(&graph, Input::Continue, vec![third.clone()]).await;
    assert_eq!(result.status, RunStatus::Done);
    // The stop itself is passed on the way back in; the two rounds after it are counted.
    assert_eq!(third.hit_count(), 5);
    assert_eq!(third.counted(7).hit_count(), 7);
}

#[tokio::test]
async fn a_watchpoint_stops_once_for_each_time_that_it_becomes_true() {
    let graph = on_memory(counter());
    let watch = Breakpoint::new("w", BreakpointPlace::Watch).when(|seen: &Value| match state(seen, "n") {
        -1 => Err("There is no key `n`.".to_owned()),
        n => Ok(n >= 2),
    });
    let result = run_with(&graph, input(), vec![watch.clone()]).await;
    assert_eq!(reason(&result), "The condition became true after `count`");
    assert_eq!(result.value["n"], json!(2));
    let result = run_with(&graph, Input::Continue, vec![watch]).await;
    assert_eq!(result.status, RunStatus::Done);
}

#[tokio::test]
async fn limits_stop_once() {
    let graph = on_memory(counter());
    let steps = Breakpoint::new("l", BreakpointPlace::Limit(BreakpointLimit::Steps(4)));
    let result = run_with(&graph, input(), vec![steps]).await;
    assert_eq!(reason(&result), "4 steps are done");
    assert_eq!(result.value["n"], json!(4));
    let step = Breakpoint::new("l", BreakpointPlace::Limit(BreakpointLimit::Steps(1)));
    let result = run_with(&on_memory(counter()), input(), vec![step]).await;
    assert_eq!(reason(&result), "1 step is done");

    let graph = on_memory(chain(&["a", "b", "c"]));
    let size = BreakpointLimit::KeyBytes("log".into(), 1);
    let size = Breakpoint::new("s", BreakpointPlace::Limit(size));
    let result = run_with(&graph, input(), vec![size.clone()]).await;
    assert!(reason(&result).starts_with("`log` has "), "{}", reason(&result));
    let time = BreakpointLimit::Time(Duration::ZERO);
    let time = Breakpoint::new("t", BreakpointPlace::Limit(time));
    let result = run_with(&graph, Input::Continue, vec![time]).await;
    assert!(reason(&result).ends_with("s have passed (limit 0 s)"));
}

/// A node that reports 100 tokens each time, at 0.3 dollars or without a price.
fn spends(price: Option<f64>) -> impl Node {
    move |context: NodeContext, _: Value| {
        context.report_usage(ModelUsage::tokens(90, 10).cost(price));
        async move { Ok(NodeOutput::Update(json!({"log": ["spent"]}))) }
    }
}

#[tokio::test]
async fn limits_of_tokens_and_cost_stop_after_the_step_that_reached_them() {
    let graph = || {
        let chain = base().node("a", spends(Some(0.3))).node("b", spends(None));
        let chain = chain.node("c", spends(Some(0.3))).node("d", spends(Some(0.3)));
        on_memory(
            chain
                .edge(START, "a")
                .edge("a", "b")
                .edge("b", "c")
                .edge("c", "d"),
        )
    };
    let at = |limit| Breakpoint::new("l", BreakpointPlace::Limit(limit));
    let one = graph();
    let result = run_with(&one, input(), vec![at(BreakpointLimit::Tokens(200))]).await;
    assert_eq!(reason(&result), "200 tokens are used (limit 200)");
    let rest = run_with(&one, Input::Continue, vec![at(BreakpointLimit::Tokens(300))]).await;
    assert_eq!(rest.status, RunStatus::Done, "each run counts its own");

    let result = run_with(&graph(), input(), vec![at(BreakpointLimit::Cost(0.6))]).await;
    assert_eq!(
        reason(&result),
        "0.6 USD are spent (limit 0.6), without 1 request that has no price"
    );
    assert_eq!(result.value["log"].as_array().unwrap().len(), 3);

    let never = run_with(&graph(), input(), vec![at(BreakpointLimit::Cost(0.91))]).await;
    assert_eq!(never.status, RunStatus::Done);
    let watched = Breakpoint::new("w", BreakpointPlace::After("*".into()))
        .when(|seen: &Value| Ok(seen["run"]["tokens"] == json!(300) && seen["run"]["cost"] == json!(0.6)));
    let result = run_with(&graph(), input(), vec![watched]).await;
    assert_eq!(reason(&result), "After `c`");
}

#[tokio::test]
async fn what_nested_graphs_use_counts_for_the_run_around_them() {
    let inner = base().node("x", spends(Some(0.3))).node("y", spends(Some(0.3)));
    let inner = inner.edge(START, "x").edge("x", "y").compile().unwrap();
    let outer = base().subgraph("inner", &inner).node("after", logs("after"));
    let graph = on_memory(outer.edge(START, "inner").edge("inner", "after"));
    let at = || Breakpoint::new("l", BreakpointPlace::Limit(BreakpointLimit::Tokens(100)));
    let result = run_with(&graph, input(), vec![at()]).await;
    assert_eq!(
        reason(&result),
        "200 tokens are used (limit 100)",
        "after the step of its own graph"
    );
    let stopped = run_with(&graph, input(), vec![at().within("*")]).await;
    assert_eq!(reason(&stopped), "100 tokens are used (limit 100)");
    assert_eq!(stopped.stopped.unwrap().path, "inner");
}

/// fan to quick and to flaky, which fails `failures` times; both lead to join.
fn flaky(failures: u32, retries: u32, calls: &Calls) -> StateGraph {
    let tried = Arc::new(AtomicU32::new(0));
    let (quick_calls, flaky_calls) = (calls.clone(), calls.clone());
    let quick = move |_: NodeContext, _: Value| {
        quick_calls.add("quick");
        async move { Ok(NodeOutput::Update(json!({"log": ["quick"]}))) }
    };
    let flaky = move |_: NodeContext, _: Value| {
        flaky_calls.add("flaky");
        let fails = tried.fetch_add(1, Ordering::SeqCst) < failures;
        async move {
            match fails {
                true => Err(NodeError::new("ConnectionError", "nobody is there")),
                false => Ok(NodeOutput::Update(json!({"log": ["flaky"]}))),
            }
        }
    };
    let policy = RetryPolicy::default()
        .max_attempts(retries + 1)
        .initial_interval(Duration::from_millis(1));
    base()
        .node("quick", quick)
        .node_with("flaky", Arc::new(flaky), NodeOptions::default().retry(policy))
        .node("join", logs("join"))
        .edge(START, "quick")
        .edge(START, "flaky")
        .join(["quick", "flaky"], "join")
}

#[tokio::test]
async fn an_error_holds_the_step_open_with_what_its_siblings_finished() {
    let calls = Calls::default();
    let graph = on_memory(flaky(1, 0, &calls));
    let error = |class: Option<&str>| {
        let place = BreakpointPlace::Error {
            node: "*".into(),
            class: class.map(Into::into),
        };
        Breakpoint::new("x", place)
    };
    let result = run_with(&graph, input(), vec![error(Some("ConnectionError"))]).await;
    assert_eq!(
        reason(&result),
        "`flaky` failed: ConnectionError: nobody is there"
    );
    let snapshot = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(snapshot.next, ["flaky".into()], "its sibling has finished");
    let failed = snapshot.tasks.iter().find(|task| &*task.name == "flaky").unwrap();
    assert!(failed.error.is_some());
    let result = run_with(&graph, Input::Continue, vec![error(None)]).await;
    assert_eq!(result.status, RunStatus::Done);
    assert_eq!((calls.of("quick"), calls.of("flaky")), (1, 2));

    let graph = on_memory(flaky(1, 0, &calls));
    let config = RunConfig::on("1").breakpoints([error(Some("Another"))]);
    let error = graph.invoke(input(), config).await.unwrap_err();
    assert!(matches!(error, RunError::Node { .. }), "{error}");
}

#[tokio::test]
async fn a_retry_stops_only_where_its_condition_holds() {
    let calls = Calls::default();
    let graph = on_memory(flaky(3, 5, &calls));
    let second = Breakpoint::new("r", BreakpointPlace::Retry("flaky".into())).when(|seen: &Value| {
        assert_eq!(seen["task"]["error"]["class"], json!("ConnectionError"));
        Ok(seen["task"]["attempt"] == json!(2))
    });
    let result = run_with(&graph, input(), vec![second]).await;
    assert_eq!(
        reason(&result),
        "`flaky` would be tried again after: ConnectionError: nobody is there"
    );
    assert_eq!((calls.of("quick"), calls.of("flaky")), (1, 2));
    // It would be tried again: nothing has failed.
    let snapshot = graph.get_state(&StateRef::live("1")).await.unwrap();
    let flaky = snapshot.tasks.iter().find(|task| &*task.name == "flaky").unwrap();
    assert_eq!((&flaky.error, &flaky.result), (&None, &None));
    assert_eq!(
        snapshot.checkpoint.unwrap().failed,
        0,
        "the thread stands as paused"
    );
    let result = run_with(&graph, Input::Continue, vec![]).await;
    assert_eq!(result.status, RunStatus::Done);
    assert_eq!((calls.of("quick"), calls.of("flaky")), (1, 4));
}

#[tokio::test]
async fn emitted_values_and_questions_are_places() {
    let emits = |context: NodeContext, _: Value| async move {
        context.emit(json!({"progress": 50})).await;
        Ok(NodeOutput::Update(json!({"log": ["emits"]})))
    };
    let asks = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(json!({"kind": "approval", "text": "Send?"}))?;
        Ok(NodeOutput::Update(json!({ "log": [answer] })))
    };
    let graph = base()
        .node("emits", emits)
        .node("asks", asks)
        .edge(START, "emits")
        .edge("emits", "asks");
    let graph = on_memory(graph);
    let emitted = Breakpoint::new("m", BreakpointPlace::Emitted("emits".into()))
        .when(|seen: &Value| Ok(seen["value"]["progress"] == json!(50)));
    let question = |kind: &str| {
        let place = BreakpointPlace::Question {
            node: "*".into(),
            kind: Some(kind.into()),
        };
        Breakpoint::new("q", place)
    };
    let result = run_with(&graph, input(), vec![emitted, question("approval")]).await;
    assert_eq!(reason(&result), "`emits` emitted {\"progress\":50}");
    let result = run_with(&graph, Input::Continue, vec![question("approval")]).await;
    assert_eq!(result.status, RunStatus::Interrupted);
    assert_eq!(result.stopped.unwrap().reason, "`asks` asks (approval)");
    let result = run_with(&graph, Input::Continue, vec![question("choice")]).await;
    assert_eq!((result.status, result.stopped), (RunStatus::Interrupted, None));
    let result = run_with(&graph, Input::answer("yes"), vec![]).await;
    assert_eq!(log_of(&result.value), "emits,yes");
}

#[tokio::test]
async fn a_breakpoint_that_logs_does_not_stop() {
    let graph = on_memory(counter());
    let log = Breakpoint::new("log", BreakpointPlace::After("count".into()))
        .hits(HitRule::Every(2))
        .log(|seen: &Value| Ok(format!("n is {}", seen["state"]["n"])));
    let config = RunConfig::on("1").breakpoints([log]);
    let (lines, result) = stream(&graph, input(), config, &[StreamMode::Custom]).await;
    assert_eq!(result.unwrap().status, RunStatus::Done);
    assert_eq!(
        lines,
        [
            r#"custom {"log":"n is 2","breakpoint":"log"}"#,
            r#"custom {"log":"n is 4","breakpoint":"log"}"#
        ]
    );
}

#[tokio::test]
async fn a_condition_that_cannot_be_evaluated_stops_and_says_why() {
    let graph = on_memory(counter());
    let broken = Breakpoint::new("c", BreakpointPlace::After("count".into()))
        .when(|_: &Value| Err("There is no key `count`.".to_owned()));
    let result = run_with(&graph, input(), vec![broken]).await;
    assert_eq!(
        reason(&result),
        "The condition of the breakpoint after `count` failed: There is no key `count`."
    );
}

#[tokio::test]
async fn breakpoints_of_a_nested_graph_stop_the_run_around_it() {
    let inner = chain(&["p", "q"]).compile().unwrap();
    let graph = base()
        .node("before", logs("before"))
        .subgraph("inner", &inner)
        .edge(START, "before")
        .edge("before", "inner");
    let graph = on_memory(graph);
    let inside = |path: &str| Breakpoint::new("n", BreakpointPlace::Before("q".into())).within(path);
    let result = run_with(&graph, input(), vec![inside("inner")]).await;
    assert_eq!(reason(&result), "Before `q`");
    assert_eq!(result.stopped.as_ref().unwrap().path, "inner");
    let result = run_with(&graph, Input::Continue, vec![inside("*")]).await;
    assert_eq!((result.status, result.stopped), (RunStatus::Done, None));

    let config = RunConfig::on("2").breakpoints([inside("another")]);
    let result = graph.invoke(input(), config).await.unwrap();
    assert_eq!(result.status, RunStatus::Done);
}

#[tokio::test]
async fn a_breakpoint_at_nothing_is_refused() {
    let graph = on_memory(counter());
    for (place, message) in [
        (
            BreakpointPlace::Before("cuont".into()),
            "Breakpoint `b` is at the node `cuont`, which the graph does not have.",
        ),
        (
            BreakpointPlace::Key("m".into()),
            "Breakpoint `b` is at the key `m`, which the graph does not have.",
        ),
        (
            BreakpointPlace::Watch,
            "Breakpoint `b` is a watchpoint without a condition: give it one with `when`.",
        ),
    ] {
        let config = RunConfig::on("1").breakpoints([Breakpoint::new("b", place)]);
        let error = graph.invoke(input(), config).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

/// three tasks that log how many of them began before, then join.
fn wide(calls: &Calls) -> StateGraph {
    let mut graph = base().node("join", logs("join"));
    for name in ["a", "b", "c"] {
        let calls = calls.clone();
        let node = move |_: NodeContext, state: Value| {
            calls.add(name);
            async move {
                assert_eq!(log_of(&state), "", "all of a step see the same state");
                Ok(NodeOutput::Update(json!({ "log": [name] })))
            }
        };
        graph = graph.node(name, node).edge(START, name);
    }
    graph.join(["a", "b", "c"], "join")
}

#[tokio::test]
async fn tasks_of_a_step_run_one_by_one_and_the_step_is_applied_when_all_have_run() {
    let calls = Calls::default();
    let graph = on_memory(wide(&calls));
    let before = Breakpoint::new("b", BreakpointPlace::Before("a".into()));
    let result = run_with(&graph, input(), vec![before]).await;
    assert_eq!(reason(&result), "Before `a`");
    let tasks = graph.get_state(&StateRef::live("1")).await.unwrap().tasks;
    let last = tasks.iter().find(|task| &*task.name == "c").unwrap();

    let step = |task: StepTask| RunConfig::on("1").step_task(task);
    let config = step(StepTask::Task(last.id.clone()));
    let (lines, result) = stream(&graph, Input::Continue, config, &[StreamMode::Tasks]).await;
    assert_eq!(lines, ["start c", r#"end c {"log":["c"]}"#]);
    let result = result.unwrap();
    assert_eq!(reason(&result), "`c` ran alone; 2 tasks of the step wait");
    let stored = graph
        .get_state(&StateRef::at("1", result.checkpoint_id.unwrap()))
        .await
        .unwrap();
    assert_eq!(log_of(&stored.values), "", "the step is not applied");
    assert_eq!((calls.of("a"), calls.of("b"), calls.of("c")), (0, 0, 1));

    let result = graph.invoke(Input::Continue, step(StepTask::Next)).await.unwrap();
    assert_eq!(reason(&result), "`a` ran alone; 1 task of the step waits");
    let config = step(StepTask::Task(last.id.clone()));
    let error = graph.invoke(Input::Continue, config).await.unwrap_err();
    assert!(error.to_string().contains("does not wait"), "{error}");

    let result = graph.invoke(Input::Continue, step(StepTask::Next)).await.unwrap();
    assert_eq!(reason(&result), "`b` ran, the last task of its step");
    let snapshot = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(log_of(&snapshot.values), "a,b,c", "in the order of the tasks");
    assert_eq!(snapshot.next, ["join".into()]);
    assert_eq!((calls.of("a"), calls.of("b"), calls.of("c")), (1, 1, 1));
    let result = run_with(&graph, Input::Continue, vec![]).await;
    assert_eq!(log_of(&result.value), "a,b,c,join");
}

#[tokio::test]
async fn a_single_task_needs_a_place_for_what_it_wrote() {
    let graph = wide(&Calls::default()).compile().unwrap();
    let config = RunConfig::default().step_task(StepTask::Next);
    let error = graph.invoke(input(), config).await.unwrap_err();
    assert!(error.to_string().contains("use a checkpointer"), "{error}");
    let graph = on_memory(wide(&Calls::default()));
    let config = RunConfig::on("1")
        .step_task(StepTask::Next)
        .durability(Durability::Exit);
    let error = graph.invoke(input(), config).await.unwrap_err();
    assert!(error.to_string().contains("sync or async"), "{error}");
}

#[tokio::test]
async fn what_a_nested_graph_emits_beside_another_task_is_seen_by_both_graphs() {
    let emits = |name: &'static str, millis: u64| {
        move |context: NodeContext, _: Value| async move {
            context.emit(json!({ "from": name })).await;
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(NodeOutput::Update(json!({ "log": [name] })))
        }
    };
    // The nested step ends while the task beside it still works, and the other way round.
    for (beside, inside) in [(60, 1), (1, 60)] {
        let inner = base().node("in", emits("in", inside)).edge(START, "in");
        let graph = base()
            .node("beside", emits("beside", beside))
            .subgraph("inner", &inner.compile().unwrap())
            .edge(START, "beside")
            .edge(START, "inner");
        let graph = on_memory(graph);
        let logs = |_: &Value| Ok("seen".to_owned());
        let outer = Breakpoint::new("outer", BreakpointPlace::Emitted("beside".into())).log(logs);
        let nested = Breakpoint::new("nested", BreakpointPlace::Emitted("in".into()));
        let nested = nested.within("inner").log(logs);
        let result = run_with(&graph, input(), vec![outer.clone(), nested.clone()]).await;
        assert_eq!(result.status, RunStatus::Done);
        let hits = (outer.hit_count(), nested.hit_count());
        assert_eq!(hits, (1, 1), "beside {beside} ms, inside {inside} ms");
    }
}
