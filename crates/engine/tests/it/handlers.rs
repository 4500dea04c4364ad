//! Error handlers and error branches: what takes over when a node has failed for good.

use std::sync::Arc;
use std::time::Duration;

use superstep::StreamMode::*;
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::*;

use crate::support::*;

fn fails(class: &'static str, message: &'static str) -> Arc<dyn Node> {
    Arc::new(
        move |_: NodeContext, _: Value| async move { Err::<NodeOutput, _>(NodeError::new(class, message)) },
    )
}

fn shown(failed: &NodeFailed) -> String {
    format!("handled {} {}", failed.node, failed.error)
}

async fn handled(_: NodeContext, _: Value, failed: NodeFailed) -> Result<NodeOutput, NodeError> {
    Ok(NodeOutput::from(json!({ "log": [shown(&failed)] })))
}

fn bad(options: NodeOptions) -> StateGraph {
    base()
        .node_with("bad", fails("ValueError", "bad"), options)
        .node("next", logs("next"))
        .edge(START, "bad")
        .edge("bad", "next")
}

/// Stored writes of the step, `task channel=value`, tasks by their first letter of appearance.
async fn stored(saver: &MemorySaver, thread: &str, step: i64) -> Vec<String> {
    let query = ListQuery::new().thread(thread);
    let tuples = saver.list(&query).await.unwrap();
    let tuple = tuples
        .iter()
        .find(|t| t.checkpoint.metadata.step == step)
        .unwrap();
    let mut tasks: Vec<&TaskId> = Vec::new();
    let mut lines = Vec::new();
    for write in &tuple.pending_writes {
        if !tasks.contains(&&write.task_id) {
            tasks.push(&write.task_id);
        }
        let task = tasks
            .iter()
            .position(|id| **id == write.task_id)
            .unwrap_or_default();
        lines.push(format!("{task} {}={}", write.write.channel, write.write.value));
    }
    lines
}

#[tokio::test]
async fn a_handler_runs_in_the_same_step_and_the_nodes_edges_are_not_taken() {
    let saver = Arc::new(MemorySaver::new());
    let graph = bad(NodeOptions::new().error_handler(handled))
        .node("sib", logs("sib"))
        .edge(START, "sib")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let schedule = RunConfig::on("1");
    let (lines, result) = stream(&graph, input(), schedule, &[Tasks, Updates, Values, Checkpoints]).await;
    assert_eq!(
        lines,
        [
            "checkpoint -1 input -> __start__",
            r#"values {"x":1,"log":[]}"#,
            "checkpoint 0 loop -> bad,sib",
            "start bad",
            "start sib",
            "end bad ValueError('bad')",
            r#"updates {"sib":{"log":["sib"]}}"#,
            r#"end sib {"log":["sib"]}"#,
            r#"updates {"__error_handler__bad":{"log":["handled bad ValueError: bad"]}}"#,
            r#"end __error_handler__bad {"log":["handled bad ValueError: bad"]}"#,
            r#"values {"x":1,"log":["handled bad ValueError: bad","sib"]}"#,
            "checkpoint 1 loop -> ",
        ]
    );
    assert_eq!(result.unwrap().status, RunStatus::Done);
    assert_eq!(
        stored(&saver, "1", 0).await,
        [
            r#"0 __error__="ValueError('bad')""#,
            r#"0 __error_source_node__="bad""#,
            r#"1 log=["handled bad ValueError: bad"]"#,
            r#"2 log=["sib"]"#,
        ]
    );
    let query = ListQuery::default();
    let head = saver.list(&query).await.unwrap().remove(0);
    let seen = head.checkpoint.versions_seen.get("__error_handler__bad");
    assert!(
        seen.is_some_and(|seen| seen.is_empty()),
        "{:?}",
        head.checkpoint.versions_seen
    );
    let addressed = graph.get_state(&at_step(&graph, "1", 0).await).await.unwrap();
    let tasks: Vec<_> = addressed
        .tasks
        .iter()
        .map(|task| (&*task.name, task.error.as_deref()))
        .collect();
    assert_eq!(
        tasks,
        [("bad", Some("ValueError('bad')")), ("sib", None)],
        "the handler is no task of the history"
    );
    assert_eq!(
        graph.node_names().map(|name| &**name).collect::<Vec<_>>(),
        ["bad", "next", "sib"]
    );
}

#[tokio::test]
async fn a_command_of_the_handler_goes_on() {
    let on = |_: NodeContext, _: Value, failed: NodeFailed| async move {
        Ok(NodeOutput::Command(Command {
            update: Some(json!({ "log": [shown(&failed)] })),
            goto: vec![Target::node("next")],
            ..Command::default()
        }))
    };
    let graph = on_memory(bad(NodeOptions::new().error_handler(on)));
    let result = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&result.value), "handled bad ValueError: bad,next");
}

#[tokio::test]
async fn an_error_branch_leads_elsewhere_and_keeps_the_error() {
    let graph = bad(NodeOptions::new().error_branch("sorry", Some("x".into()))).node("sorry", logs("sorry"));
    let result = on_memory(graph)
        .invoke(input(), RunConfig::on("1"))
        .await
        .unwrap();
    let error = json!({"node": "bad", "class": "ValueError", "message": "bad"});
    assert_eq!(result.value, json!({"x": error, "log": ["sorry"]}));

    let error = bad(NodeOptions::new().error_branch("nowhere", Some("y".into())))
        .compile()
        .unwrap_err();
    let codes: Vec<&str> = error.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["unknown-key", "unknown-target"], "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_comes_after_the_last_attempt_and_defaults_are_for_the_rest() {
    let calls = Calls::default();
    let counted = calls.clone();
    let flaky = move |_: NodeContext, _: Value| {
        counted.add("flaky");
        async { Err::<NodeOutput, _>(NodeError::new("E", "no")) }
    };
    let policy = RetryPolicy::default()
        .initial_interval(Duration::from_millis(1))
        .jitter(false);
    let own =
        |_: NodeContext, _: Value, _: NodeFailed| async { Ok(NodeOutput::from(json!({"log": ["own"]}))) };
    let graph = base()
        .default_error_handler(handled)
        .node_with("flaky", Arc::new(flaky), NodeOptions::new().retry(policy))
        .node_with("own", fails("E", "x"), NodeOptions::new().error_handler(own))
        .edge(START, "flaky")
        .edge(START, "own");
    let graph = on_memory(graph);
    let (lines, _) = stream(&graph, input(), RunConfig::on("1"), &[Updates]).await;
    assert_eq!(
        lines,
        [
            r#"updates {"__error_handler__own":{"log":["own"]}}"#,
            r#"updates {"__default_error_handler__":{"log":["handled flaky E: no"]}}"#,
        ]
    );
    assert_eq!(calls.of("flaky"), 3);
}

#[tokio::test]
async fn after_a_handler_failed_only_the_handler_runs_again() {
    let calls = Calls::default();
    let (node, handler) = (calls.clone(), calls.clone());
    let bad_node = Arc::new(move |_: NodeContext, _: Value| {
        node.add("bad");
        async { Err::<NodeOutput, _>(NodeError::new("ValueError", "it's bad")) }
    });
    let crashes = move |_: NodeContext, input: Value, failed: NodeFailed| {
        let attempt = handler.add("handler");
        async move {
            if attempt == 1 {
                return Err(NodeError::new("RuntimeError", "handler bad"));
            }
            let x = input.get("x").cloned().unwrap_or_default();
            Ok(NodeOutput::from(
                json!({ "log": [format!("{} {x}", shown(&failed))] }),
            ))
        }
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = base()
        .node_with("bad", bad_node, NodeOptions::new().error_handler(crashes))
        .edge(START, "bad")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    let error = graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    assert!(
        matches!(&error, RunError::Node { node, .. } if &**node == "__error_handler__bad"),
        "{error}"
    );
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(live.next.join(","), "bad");
    assert_eq!(live.tasks[0].error.as_deref(), Some(r#"ValueError("it's bad")"#));

    let (lines, result) = stream(
        &graph,
        Input::Continue,
        RunConfig::on("1"),
        &[Tasks, Updates, Values],
    )
    .await;
    assert_eq!(
        lines,
        [
            r#"values {"x":1,"log":[]}"#,
            "start bad",
            "start __error_handler__bad",
            r#"updates {"__error_handler__bad":{"log":["handled bad ValueError: it's bad 1"]}}"#,
            r#"end __error_handler__bad {"log":["handled bad ValueError: it's bad 1"]}"#,
            r#"values {"x":1,"log":["handled bad ValueError: it's bad 1"]}"#,
        ]
    );
    assert!(result.is_ok());
    assert_eq!((calls.of("bad"), calls.of("handler")), (1, 2));
    assert_eq!(
        stored(&saver, "1", 0).await,
        [
            r#"0 __error__="ValueError(\"it's bad\")""#,
            r#"0 __error_source_node__="bad""#,
            r#"1 __error__="RuntimeError('handler bad')""#,
            r#"1 log=["handled bad ValueError: it's bad 1"]"#,
        ]
    );
}

#[tokio::test]
async fn a_handler_may_ask_and_a_finished_one_is_not_run_again() {
    let calls = Calls::default();
    let counted = calls.clone();
    let count_handled = move |_: NodeContext, _: Value, failed: NodeFailed| {
        counted.add("handled");
        async move { Ok(NodeOutput::from(json!({ "log": [shown(&failed)] }))) }
    };
    let asks = |context: NodeContext, _: Value, _: NodeFailed| async move {
        let answer = context.interrupt("what now?")?;
        Ok(NodeOutput::from(json!({ "log": [answer] })))
    };
    let graph = base()
        .node_with("asks", fails("E", "1"), NodeOptions::new().error_handler(asks))
        .node_with(
            "done",
            fails("E", "2"),
            NodeOptions::new().error_handler(count_handled),
        )
        .edge(START, "asks")
        .edge(START, "done");
    let graph = on_memory(graph);
    let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(
        (asked.status, asked.interrupts.len()),
        (RunStatus::Interrupted, 1)
    );
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (live.next.join(","), live.interrupts.len()),
        ("asks,done".into(), 0)
    );
    let done = graph
        .invoke(Input::answer("go on"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "go on,handled done E: 2");
    assert_eq!(calls.of("handled"), 1);
}

#[tokio::test]
async fn what_a_node_wrote_before_its_router_failed_is_kept() {
    let router =
        |_: NodeContext, _: Value| async { Err::<Vec<Target>, _>(NodeError::new("ValueError", "router")) };
    let graph = base()
        .node_with(
            "a",
            Arc::new(logs("a")),
            NodeOptions::new().error_handler(handled),
        )
        .edge(START, "a")
        .branch("a", Branch::new(router));
    let graph = on_memory(graph);
    let (lines, _) = stream(&graph, input(), RunConfig::on("1"), &[Tasks, Updates, Values]).await;
    assert_eq!(
        lines[2..],
        [
            r#"updates {"a":{"log":["a"]}}"#,
            "end a ValueError('router')",
            r#"updates {"__error_handler__a":{"log":["handled a ValueError: router"]}}"#,
            r#"end __error_handler__a {"log":["handled a ValueError: router"]}"#,
            r#"values {"x":1,"log":["a","handled a ValueError: router"]}"#,
        ]
    );
}

#[tokio::test]
async fn a_handler_is_given_the_packet_and_keeps_its_place_in_the_order() {
    let node = |_: NodeContext, packet: Value| async move {
        match packet.as_i64() {
            Some(2) => Err(NodeError::new("E", "two")),
            _ => Ok(NodeOutput::from(json!({ "log": [packet] }))),
        }
    };
    let gives = |_: NodeContext, packet: Value, _: NodeFailed| async move {
        Ok(NodeOutput::from(json!({ "log": [format!("h{packet}")] })))
    };
    let graph = base()
        .node_with("w", Arc::new(node), NodeOptions::new().error_handler(gives))
        .branch(
            START,
            Branch::new(routes(|_| (1..=3).map(|i| Target::send("w", i)).collect())),
        );
    let result = on_memory(graph)
        .invoke(input(), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&result.value), "1,h2,3");
}

#[tokio::test(start_paused = true)]
async fn whether_a_failure_lasts_decides_about_attempts_and_is_stored() {
    let calls = Calls::default();
    let (node, handler) = (calls.clone(), calls.clone());
    let refuses = Arc::new(move |_: NodeContext, _: Value| {
        node.add("refuses");
        async { Err::<NodeOutput, _>(NodeError::new("MyError", "it's refused").lasting()) }
    });
    let crashes = move |_: NodeContext, _: Value, failed: NodeFailed| {
        let attempt = handler.add("handler");
        async move {
            if attempt == 1 {
                return Err(NodeError::new("RuntimeError", "handler bad"));
            }
            let line = format!("{} {:?}", failed.error, failed.error.retryable);
            Ok(NodeOutput::from(json!({ "log": [line] })))
        }
    };
    let saver = Arc::new(MemorySaver::new());
    let options = NodeOptions::new()
        .retry(RetryPolicy::attempts(3))
        .error_handler(crashes);
    let graph = base()
        .node_with("bad", refuses, options)
        .edge(START, "bad")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    assert_eq!(
        calls.of("refuses"),
        1,
        "its class may pass, but the failure says that it lasts"
    );
    assert_eq!(
        stored(&saver, "1", 0).await[0],
        r#"0 __error__="MyError(\"it's refused\", retryable=False)""#
    );
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(live.tasks[0].error.as_deref(), Some(r#"MyError("it's refused")"#));
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(
        result.value.get("log"),
        Some(&json!(["MyError: it's refused Some(false)"])),
        "the handler of the later run is told"
    );
}
