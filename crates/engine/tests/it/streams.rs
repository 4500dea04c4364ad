//! Streams: what each mode says and when, and what happens to readers that are slow or go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

/// The events of a run as `mode: what`, with all modes asked for.
async fn all_modes(graph: &Graph, input: Input, config: RunConfig) -> Vec<String> {
    let config = config.modes(StreamMode::ALL.to_vec());
    let mut run = graph.stream(input, config);
    let mut shown = Vec::new();
    while let Some(event) = run.next().await {
        assert_eq!(
            event.seq as usize,
            shown.len(),
            "events are numbered without holes"
        );
        let data = event.data();
        let text = |value: &Value, key: &str| value.get(key).map(Value::to_string).unwrap_or_default();
        let what = match event.mode() {
            StreamMode::Tasks if data.get("input").is_some() => {
                format!("{} start {}", text(&data, "name"), text(&data, "input"))
            }
            StreamMode::Tasks => format!("{} result {}", text(&data, "name"), text(&data, "result")),
            StreamMode::Checkpoints => format!("next {} {}", text(&data, "next"), text(&data, "values")),
            StreamMode::Debug => {
                let inner = data.get("payload").unwrap();
                format!(
                    "{} {} {}{}",
                    text(&data, "step"),
                    text(&data, "type"),
                    text(inner, "name"),
                    text(inner, "next")
                )
            }
            _ => data.to_string(),
        };
        shown.push(format!("{}: {what}", event.mode()).replace('"', ""));
    }
    run.finish().await.unwrap();
    shown
}

#[tokio::test]
async fn every_mode_at_once_keeps_the_order_of_the_worked_example() {
    let graph = on_memory(chain(&["a", "b"]));
    let shown = all_modes(&graph, input(), RunConfig::on("1")).await;
    let (debug, rest): (Vec<String>, Vec<String>) =
        shown.into_iter().partition(|line| line.starts_with("debug: "));
    assert_eq!(
        rest,
        [
            "checkpoints: next [__start__] {log:[]}",
            "values: {x:1,log:[]}",
            "checkpoints: next [a] {x:1,log:[]}",
            "tasks: a start {x:1,log:[]}",
            "updates: {a:{log:[a]}}",
            "tasks: a result {log:[a]}",
            "values: {x:1,log:[a]}",
            "checkpoints: next [b] {x:1,log:[a]}",
            "tasks: b start {x:1,log:[a]}",
            "updates: {b:{log:[b]}}",
            "tasks: b result {log:[b]}",
            "values: {x:1,log:[a,b]}",
            "checkpoints: next [] {x:1,log:[a,b]}",
        ]
    );
    assert_eq!(
        debug,
        [
            "debug: -1 checkpoint [__start__]",
            "debug: 0 checkpoint [a]",
            "debug: 1 task a",
            "debug: 1 task_result a",
            "debug: 1 checkpoint [b]",
            "debug: 2 task b",
            "debug: 2 task_result b",
            "debug: 2 checkpoint []",
        ]
    );
}

#[tokio::test]
async fn messages_come_before_the_update_with_the_metadata_of_their_task() {
    let say = |context: NodeContext, _: Value| async move {
        context.emit("working").await;
        let known = json!({"type": "human", "content": "hi", "id": "h"});
        let new = json!({"type": "ai", "content": "hello", "id": "m"});
        Ok(NodeOutput::from(json!({"messages": [known, new.clone(), new]})))
    };
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node("say", say)
        .edge(START, "say")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let config = RunConfig::on("1")
        .modes([StreamMode::Updates, StreamMode::Messages, StreamMode::Custom])
        .metadata([("um", 1)].into_iter().collect());
    let asked = Input::value(json!({"messages": [{"type": "human", "content": "hi", "id": "h"}]}));
    let mut run = graph.stream(asked, config);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let modes: Vec<&str> = events.iter().map(|event| event.mode().as_str()).collect();
    assert_eq!(
        modes,
        ["custom", "messages", "updates"],
        "known messages are not emitted, and none twice"
    );
    let Payload::Message(message, metadata) = &events[1].payload else {
        panic!("no message")
    };
    assert_eq!(message.get("id"), Some(&"m".into()));
    let keys: Vec<&str> = metadata.as_object().unwrap().keys().map(|key| &**key).collect();
    assert_eq!(
        keys,
        [
            "um",
            "thread_id",
            "langgraph_step",
            "langgraph_node",
            "langgraph_triggers",
            "langgraph_path",
            "langgraph_checkpoint_ns"
        ]
    );
    assert_eq!(
        metadata.get("langgraph_path"),
        Some(&json!(["__pregel_pull", "say"]))
    );
    assert_eq!(
        metadata.get("langgraph_triggers"),
        Some(&json!(["branch:to:say"]))
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_makes_the_run_wait_and_loses_nothing() {
    const EVENTS: usize = 5_000;
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let talks = move |context: NodeContext, _: Value| {
        let count = count.clone();
        async move {
            for number in 0..EVENTS {
                context.emit(number).await;
                count.fetch_add(1, Ordering::SeqCst);
            }
            Ok(NodeOutput::none())
        }
    };
    let graph = base()
        .node("talks", talks)
        .edge(START, "talks")
        .compile()
        .unwrap();
    let meter = Meter::new();
    let config = RunConfig::default().modes([StreamMode::Custom]).metrics(meter);
    let mut run = graph.stream(input(), config);
    for number in 0..EVENTS {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let ahead = made.load(Ordering::SeqCst) - number;
        assert!(ahead <= 300, "{ahead} events wait in memory");
        let event = run.next().await.unwrap();
        assert!(matches!(&event.payload, Payload::Custom(value, Some(_)) if *value == number.into()));
    }
    assert!(run.next().await.is_none());
    assert_eq!(run.finish().await.unwrap().status, RunStatus::Done);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_goes_away_stops_the_run_and_the_thread_goes_on_later() {
    let calls = Calls::default();
    let counted = calls.clone();
    let slow = move |_: NodeContext, _: Value| {
        let turn = counted.add("slow");
        async move {
            if turn == 1 {
                std::future::pending::<()>().await;
            }
            Ok(NodeOutput::from(json!({"log": ["slow"]})))
        }
    };
    let graph = on_memory(chain(&["a"]).node("slow", slow).edge("a", "slow"));
    let config = RunConfig::on("1").modes([StreamMode::Tasks]);
    let mut run = graph.stream(input(), config);
    while let Some(event) = run.next().await {
        if matches!(&event.payload, Payload::TaskStart(start) if &*start.name == "slow") {
            break;
        }
    }
    drop(run);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(state.next, [Name::from("slow")]);
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&result.value), "a,slow");
    assert_eq!(calls.of("slow"), 2);
}

#[derive(Debug)]
struct Backwards(AtomicU64);

impl Clock for Backwards {
    fn now_ms(&self) -> u64 {
        self.0.fetch_sub(3_600_000, Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_clock_that_runs_backwards_keeps_the_order_of_checkpoints() {
    let clock = Backwards(AtomicU64::new(1_800_000_000_000));
    let graph = on_memory(chain(&["a", "b", "c"])).with_clock(Arc::new(clock));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(
        history(&graph, "1").await,
        [
            "3 loop [a,b,c] -> ",
            "2 loop [a,b] -> c",
            "1 loop [a] -> b",
            "0 loop [] -> a",
            "-1 input [] -> __start__"
        ]
    );
}

#[test]
fn an_unknown_mode_is_refused_with_the_known_ones() {
    let error = "value".parse::<StreamMode>().unwrap_err();
    assert_eq!(
        error,
        "unknown stream mode \"value\"; known are values, updates, custom, messages, tasks, checkpoints, debug, attempts, waits"
    );
}

#[tokio::test]
async fn items_have_the_envelope_that_was_asked_for() {
    let asks =
        |context: NodeContext, _: Value| async move { Ok(NodeOutput::from(context.interrupt("age?")?)) };
    let graph = on_memory(base().node("ask", asks).edge(START, "ask"));
    let config = RunConfig::on("1").modes([StreamMode::Values]);
    let mut run = graph.stream(input(), config);
    let first = run.next().await.unwrap();
    let data = json!({"x": 1, "log": []});
    assert_eq!(first.item(ItemShape::Data), data);
    assert_eq!(first.item(ItemShape::ModeData), json!(["values", data]));
    assert_eq!(first.item(ItemShape::NsData), json!([[], data]));
    assert_eq!(first.item(ItemShape::NsModeData), json!([[], "values", data]));
    assert_eq!(
        first.to_json_v2(),
        json!({"type": "values", "ns": [], "data": data, "interrupts": []})
    );
    let question = run.next().await.unwrap().to_json_v2();
    assert_eq!(
        question.get("data"),
        Some(&data),
        "questions stand beside the value, not in it"
    );
    let asked = question.get("interrupts").unwrap().at(0).unwrap();
    assert_eq!(asked.get("value"), Some(&"age?".into()));
}

/// As `push_message` does in LangGraph: emitted at once, written before what the node returns, and not emitted twice.
#[tokio::test]
async fn a_pushed_message_is_streamed_and_written() {
    let node = |context: NodeContext, _: Value| async move {
        let first = json!({"role": "assistant", "content": "one", "id": "1"});
        context.push_message("messages", first).await?;
        Ok(NodeOutput::from(
            json!({"messages": [{"type": "ai", "content": "two", "id": "2"}]}),
        ))
    };
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node_with(
            "n",
            Arc::new(node),
            NodeOptions::new().metadata([("nodekey", "nv"), ("user", "node")].into_iter().collect()),
        )
        .edge(START, "n")
        .compile()
        .unwrap();
    let config = RunConfig::default()
        .modes([StreamMode::Messages, StreamMode::Tasks])
        .metadata([("user", "run"), ("other", "o")].into_iter().collect());
    let mut run = graph.stream(Input::value(json!({"messages": []})), config);
    let mut reported = Vec::new();
    while let Some(event) = run.next().await {
        match event.payload {
            Payload::Message(message, metadata) => {
                let content = message.get("content").and_then(Value::as_str).unwrap_or_default();
                reported.push(content.to_owned());
                let keys = ["user", "other", "nodekey", "langgraph_node"];
                let held = keys.map(|key| metadata.get(key).and_then(Value::as_str));
                assert_eq!(held, [Some("node"), Some("o"), Some("nv"), Some("n")]);
            }
            Payload::TaskStart(start) => assert_eq!(
                Value::from(start.metadata),
                json!({"user": "node", "other": "o", "nodekey": "nv"})
            ),
            _ => {}
        }
    }
    assert_eq!(reported, ["one", "two"]);
    let done = run.finish().await.unwrap().value;
    let ids: Vec<&str> = done
        .get("messages")
        .and_then(Value::as_array)
        .unwrap()
        .iter()
        .map(|message| message.get("id").and_then(Value::as_str).unwrap())
        .collect();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn a_message_pushed_to_no_key_is_refused() {
    let node = |context: NodeContext, _: Value| async move {
        context.push_message("talk", "hello").await?;
        Ok(NodeOutput::none())
    };
    let graph = base().node("n", node).edge(START, "n").compile().unwrap();
    let error = graph.invoke(input(), RunConfig::default()).await.unwrap_err();
    assert_eq!(error.code(), "invalid-update");
    assert!(
        error.to_string().contains("`talk`, which is no state key"),
        "{error}"
    );
}
