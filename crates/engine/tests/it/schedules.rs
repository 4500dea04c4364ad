//! What a run leads to does not depend on who finishes first; and how long it may take.

use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::testing::{self, Schedule};
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// A graph with a name, and what to do with it: inputs and answers, one run each.
type Case = (&'static str, fn() -> StateGraph, Vec<Input>);

fn fan_and_joins() -> StateGraph {
    let mut graph = base().channel("sum", ChannelSpec::binary(BinaryOp::Add, Some(Value::from(0))));
    for name in ["a", "b", "c", "d", "e"] {
        graph = graph
            .node(name, returns(json!({"log": [name], "sum": 1})))
            .edge(START, name);
    }
    graph
        .node("z", logs("z"))
        .node("y", logs("y"))
        .join(["a", "c", "e"], "z")
        .edge("b", "y")
        .edge("d", "y")
        .edge("y", "z")
}

fn packets() -> StateGraph {
    let work = |_: NodeContext, packet: Value| async move {
        let update = NodeOutput::from(json!({"log": [packet.clone()]}));
        let on = Command {
            goto: vec![Target::send("w2", packet)],
            ..Command::default()
        };
        Ok(NodeOutput::Many(vec![update, NodeOutput::Command(on)]))
    };
    let last = |_: NodeContext, packet: Value| async move {
        Ok(NodeOutput::from(json!({"log": [format!("{packet}!")], "x": 1})))
    };
    base_with_max().node("w", work).node("w2", last).branch(
        START,
        Branch::new(routes(|_| (0..6).map(|i| Target::send("w", i)).collect())),
    )
}

/// Several packets write the same key here, so it takes the largest.
fn base_with_max() -> StateGraph {
    StateGraph::new()
        .channel("x", ChannelSpec::binary(BinaryOp::Max, None))
        .channel("log", ChannelSpec::append())
}

fn failures_and_handlers() -> StateGraph {
    let fails = |_: NodeContext, _: Value| async { Err::<NodeOutput, _>(NodeError::new("ValueError", "no")) };
    let handler = |_: NodeContext, _: Value, failed: NodeFailed| async move {
        Ok(NodeOutput::Command(Command {
            update: Some(json!({"log": [format!("h {}", failed.node)]})),
            goto: vec![Target::node("z")],
            ..Command::default()
        }))
    };
    let mut graph = base().default_error_handler(handler);
    for name in ["a", "b"] {
        graph = graph.node(name, fails).edge(START, name);
    }
    for name in ["c", "d"] {
        graph = graph.node(name, logs(name)).edge(START, name);
    }
    graph.node("z", logs("z"))
}

fn questions() -> StateGraph {
    let asks = |name: &'static str| {
        move |context: NodeContext, _: Value| async move {
            let answer = context.interrupt(name)?;
            Ok(NodeOutput::from(json!({ "log": [answer] })))
        }
    };
    base()
        .node("a", asks("a"))
        .node("b", logs("b"))
        .node("c", logs("c"))
        .node("z", logs("z"))
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c")
        .join(["a", "b", "c"], "z")
}

fn calls() -> StateGraph {
    let double = TaskFn::new("double", |_: NodeContext, args: Value| async move {
        Ok::<_, NodeError>(Value::from(args.as_i64().unwrap_or_default() * 2))
    });
    let caller = move |context: NodeContext, _: Value| {
        let double = double.clone();
        async move {
            let handles: Vec<TaskHandle> = (1..4).map(|i| context.call(&double, i)).collect();
            let mut log = List::new();
            for handle in handles {
                log.push(handle.await?);
            }
            Ok(NodeOutput::update([("log", log)]))
        }
    };
    base()
        .node("a", caller.clone())
        .node("b", caller)
        .edge(START, "a")
        .edge(START, "b")
}

/// Everything that is stored, without ids and times.
async fn record(build: fn() -> StateGraph, inputs: &[Input], schedule: Option<Schedule>) -> Vec<String> {
    let saver = Arc::new(MemorySaver::new());
    let graph = build().compile().unwrap().with_checkpointer(saver.clone());
    let mut lines = Vec::new();
    for input in inputs {
        let config = testing::scheduled(RunConfig::on("1"), schedule);
        let result = graph.invoke(input.clone(), config).await;
        lines.push(match result {
            Ok(result) => format!("{:?} {}", result.status, result.value),
            Err(error) => error.to_string(),
        });
    }
    for tuple in saver.list(&ListQuery::default()).await.unwrap() {
        let Checkpoint {
            channel_values,
            channel_versions,
            versions_seen,
            metadata,
            next,
            updated_channels,
            ..
        } = tuple.checkpoint;
        lines.push(format!(
            "{} {:?} {channel_values:?} {channel_versions:?} {versions_seen:?} {next:?} {updated_channels:?}",
            metadata.step, metadata.source
        ));
        // Questions have ids; who asked says enough.
        let writes = tuple
            .pending_writes
            .iter()
            .filter(|write| &*write.write.channel != "__interrupt__");
        lines.extend(writes.map(|PendingWrite { task_path, write, .. }| format!("  {task_path} {write:?}")));
    }
    lines
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_depends_on_who_finishes_first() {
    let cases: [Case; 5] = [
        ("fan and joins", fan_and_joins, vec![input(), input()]),
        ("packets", packets, vec![input()]),
        ("failures and handlers", failures_and_handlers, vec![input()]),
        ("questions", questions, vec![input(), Input::answer("answer")]),
        ("calls", calls, vec![input()]),
    ];
    for (name, build, inputs) in cases {
        let expected = record(build, &inputs, None).await;
        assert!(expected.len() > inputs.len() + 2, "{name}: {expected:#?}");
        for seed in 0..50 {
            let found = record(build, &inputs, Some(Schedule::seeded(seed))).await;
            assert_eq!(found, expected, "{name}, seed {seed}");
        }
    }
}

#[tokio::test]
async fn a_seed_is_an_order() {
    let order = async |seed| {
        let mut graph = base();
        for name in ["a", "b", "c", "d"] {
            graph = graph.node(name, logs(name)).edge(START, name);
        }
        let config = testing::scheduled(RunConfig::on("1"), Schedule::seeded(seed));
        stream(&on_memory(graph), input(), config, &[StreamMode::Updates])
            .await
            .0
            .join(" ")
    };
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let first = order(seed).await;
        assert_eq!(first, order(seed).await, "seed {seed}");
        orders.insert(first);
    }
    assert!(
        orders.len() >= 15,
        "of 24 orders only {} were taken",
        orders.len()
    );
}

#[tokio::test(start_paused = true)]
async fn steps_and_runs_have_their_time_and_the_thread_goes_on() {
    let limit = Duration::from_millis(100);
    let graph = || {
        let calls = Calls::default();
        let counted = calls.clone();
        let slow = move |_: NodeContext, _: Value| {
            let attempt = counted.add("slow");
            async move {
                let millis = if attempt == 1 { 150 } else { 1 };
                tokio::time::sleep(Duration::from_millis(millis)).await;
                Ok(NodeOutput::from(json!({"log": ["slow"]})))
            }
        };
        let quick = calls.clone();
        let quick = move |_: NodeContext, _: Value| {
            quick.add("quick");
            async move {
                tokio::time::sleep(Duration::from_millis(60)).await;
                Ok(NodeOutput::from(json!({"log": ["quick"]})))
            }
        };
        let first = |_: NodeContext, _: Value| async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(NodeOutput::from(json!({"log": ["first"]})))
        };
        let graph = base()
            .node("first", first)
            .node("slow", slow)
            .node("quick", quick)
            .edge(START, "first")
            .edge("first", "slow")
            .edge("first", "quick");
        (on_memory(graph), calls)
    };
    let step = RunConfig::on("1").step_timeout(limit);
    let run = RunConfig::on("1").run_timeout(limit);
    for (config, scope, took, quick) in [
        (step, TimeoutScope::Step, 150, 1),
        (run, TimeoutScope::Run, 100, 2),
    ] {
        let (graph, calls) = graph();
        let began = tokio::time::Instant::now();
        let error = graph.invoke(input(), config).await.unwrap_err();
        assert_eq!(began.elapsed().as_millis(), took);
        assert!(
            matches!(error, RunError::TimedOut { scope: found, .. } if found == scope),
            "{error}"
        );
        assert_eq!((error.code(), error.class()), ("timed-out", "TimeoutError"));
        let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
        assert_eq!(log_of(&done.value), "first,quick,slow");
        assert_eq!(calls.of("quick"), quick, "what had ended within its time is kept");
    }
}
