//! Runs that are read by the streaming protocol. What is emitted is compared with LangGraph in `tests/conformance/cases/events`;
//! here is how it is read.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use superstep::run::StateRef;
use superstep::{
    ChannelSpec, Graph, Input, MemorySaver, NodeContext, NodeError, NodeOptions, NodeOutput, RetryPolicy,
    RunConfig, RunError, START, StateGraph, StreamMode, Value, json,
};
use superstep_protocol::{MessageEvent, Projected, Projection, Status, StreamEvents};

fn adds(
    text: &'static str,
) -> impl Fn(NodeContext, Value) -> std::future::Ready<Result<NodeOutput, NodeError>> {
    move |_, _| std::future::ready(Ok(json!({"log": [text]}).into()))
}

fn log() -> StateGraph {
    StateGraph::new().channel("log", ChannelSpec::append())
}

fn nested() -> Graph {
    let inner = log().node("s", adds("s")).edge(START, "s").compile().unwrap();
    let outer = log()
        .node("a", adds("a"))
        .subgraph("sub", &inner)
        .edge(START, "a")
        .edge("a", "sub");
    outer.compile().unwrap()
}

fn input() -> Input {
    Input::value(json!({"log": []}))
}

/// A graph whose only node waits until the run is stopped, within a nested graph.
fn endless() -> Graph {
    let waits = |context: NodeContext, _: Value| async move {
        context.cancelled().await;
        Err::<NodeOutput, _>(NodeError::Cancelled)
    };
    let inner = log()
        .node("s", adds("s"))
        .node("w", waits)
        .edge(START, "s")
        .edge("s", "w")
        .compile()
        .unwrap();
    let graph = log()
        .subgraph("sub", &inner)
        .edge(START, "sub")
        .compile()
        .unwrap();
    graph.with_checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn each_reader_reads_all_of_its_own() {
    let config = RunConfig::default().modes([StreamMode::Updates]);
    let run = nested().stream_events(input(), config);
    let (values, again) = (run.values(), run.values());
    let updates = run.mode(StreamMode::Updates).unwrap();
    let (one, two, three) = tokio::join!(
        tokio::spawn(values.into_stream().collect::<Vec<_>>()),
        tokio::spawn(again.into_stream().collect::<Vec<_>>()),
        tokio::spawn(
            updates
                .into_stream()
                .map(|payload| payload.to_json())
                .collect::<Vec<_>>()
        ),
    );
    let one = one.unwrap();
    assert_eq!(one, two.unwrap());
    assert_eq!(
        one,
        [
            json!({"log": []}),
            json!({"log": ["a"]}),
            json!({"log": ["a", "a", "s"]})
        ]
    );
    assert_eq!(
        three.unwrap(),
        [json!({"a": {"log": ["a"]}}), json!({"sub": {"log": ["a", "s"]}})]
    );
    assert_eq!(run.output().await, Some(json!({"log": ["a", "a", "s"]})));
    assert!(!run.interrupted().await);
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.finish().await.unwrap().value, json!({"log": ["a", "a", "s"]}));
}

#[tokio::test]
async fn a_nested_graph_is_read_as_it_runs() {
    let run = nested().stream_events(input(), RunConfig::default());
    let mut graphs = run.subgraphs();
    let mut states = run.values();
    let graph = graphs.next().await.unwrap();
    assert_eq!(
        (graph.graph_name(), graph.status()),
        (Some("sub"), Status::Started)
    );
    assert_eq!(
        graph.path(),
        [format!("sub:{}", graph.trigger_call_id().unwrap())]
    );
    // The root has not emitted its last state yet.
    assert!(states.try_next().is_some() && states.try_next().is_some() && states.try_next().is_none());
    assert_eq!(graph.values().next().await, Some(json!({"log": ["a", "s"]})));
    assert_eq!(graph.output().await, Some(json!({"log": ["a", "s"]})));
    assert_eq!(graph.status(), Status::Completed);
    assert!(graph.values().next().await.is_none(), "it has ended");
    assert!(graphs.next().await.is_none());
}

#[tokio::test]
async fn projections_come_in_the_order_of_their_items() {
    let run = nested().stream_events(input(), RunConfig::default());
    let wanted = [Projection::Values, Projection::Lifecycle, Projection::Subgraphs];
    let mut all = run.interleave(&wanted).unwrap();
    let mut names = Vec::new();
    while let Some(item) = all.next().await {
        names.push(match item {
            Projected::Lifecycle(lifecycle) => lifecycle.status.as_str(),
            other => other.projection().as_str(),
        });
    }
    assert_eq!(
        names,
        ["values", "values", "started", "subgraphs", "completed", "values"]
    );
}

#[tokio::test]
async fn nothing_is_emitted_without_a_reader_and_nothing_after_the_end() {
    let run = nested().stream_events(input(), RunConfig::default());
    let mut states = run.values();
    assert!(
        states.try_next().is_none(),
        "who only looks does not drive the run"
    );
    while states.next().await.is_some() {}
    for mut late in [run.values(), run.values()] {
        assert!(late.next().await.is_none());
    }
    assert!(
        run.everything(&[Projection::Values])
            .unwrap()
            .next()
            .await
            .is_none()
    );
    assert!(run.events().next().await.is_none());
    assert!(run.finish().await.is_ok());
}

#[tokio::test]
async fn what_the_run_does_not_tell_is_refused() {
    let run = nested().stream_events(input(), RunConfig::default());
    let error = run.mode(StreamMode::Updates).unwrap_err();
    assert!(
        matches!(&error, RunError::InvalidRequest { message } if message.contains("`updates`")),
        "{error}"
    );
    assert!(run.interleave(&[Projection::Mode(StreamMode::Debug)]).is_err());
    assert!(run.everything(&[Projection::Mode(StreamMode::Custom)]).is_err());
}

#[tokio::test]
async fn a_run_that_is_stopped_ends_its_nested_graphs_and_can_go_on() {
    let graph = endless();
    let run = graph.stream_events(input(), RunConfig::on("1"));
    let (mut lives, mut graphs) = (run.lifecycle(), run.subgraphs());
    assert_eq!(lives.next().await.unwrap().status, Status::Started);
    run.abort();
    let ended = tokio::time::timeout(Duration::from_mins(1), lives.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(ended.status, Status::Failed);
    assert!(lives.next().await.is_none());
    let graph_in_it = graphs.next().await.unwrap();
    assert_eq!(
        (graph_in_it.status(), run.status()),
        (Status::Failed, Status::Failed)
    );
    assert!(graph_in_it.error().is_some());
    assert!(matches!(run.finish().await, Err(RunError::Cancelled)));
    let state = graph
        .get_state(&StateRef::live("1").with_subgraphs())
        .await
        .unwrap();
    assert_eq!(&*state.next[0], "sub");
}

#[tokio::test]
async fn a_run_that_nobody_holds_stops() {
    let working = Arc::new(AtomicUsize::new(0));
    struct Ends(Arc<AtomicUsize>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.store(2, Ordering::SeqCst);
        }
    }
    let seen = working.clone();
    let waits = move |context: NodeContext, _: Value| {
        let ends = Ends(seen.clone());
        async move {
            ends.0.store(1, Ordering::SeqCst);
            context.cancelled().await;
            drop(ends);
            Err::<NodeOutput, _>(NodeError::Cancelled)
        }
    };
    let graph = log().node("w", waits).edge(START, "w").compile().unwrap();
    let run = graph.stream_events(input(), RunConfig::default());
    let mut states = run.values();
    states.next().await.unwrap();
    drop(run);
    while working.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(working.load(Ordering::SeqCst), 1, "a reader holds it");
    drop(states);
    for _ in 0..1000 {
        if working.load(Ordering::SeqCst) == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it goes on");
}

#[tokio::test]
async fn a_drained_run_says_so() {
    let config = RunConfig::on("1");
    let drain = config.drain.clone();
    let graph = {
        let asks = move |_: NodeContext, _: Value| {
            drain.request("enough");
            std::future::ready(Ok(NodeOutput::from(json!({"log": ["s"]}))))
        };
        let inner = log()
            .node("s", asks)
            .node("t", adds("t"))
            .edge(START, "s")
            .edge("s", "t")
            .compile()
            .unwrap();
        let graph = log()
            .subgraph("sub", &inner)
            .edge(START, "sub")
            .compile()
            .unwrap();
        graph.with_checkpointer(Arc::new(MemorySaver::new()))
    };
    let run = graph.stream_events(input(), config);
    let mut lives = run.lifecycle();
    assert_eq!(lives.next().await.unwrap().status, Status::Started);
    assert_eq!(lives.next().await.unwrap().status, Status::Drained);
    assert!(matches!(run.finish().await, Err(RunError::Drained { .. })));
}

#[tokio::test]
async fn a_message_is_read_while_the_model_speaks() {
    let talks = |context: NodeContext, _: Value| async move {
        let failed = context.info().attempt == 1;
        for text in ["Hel", "lo"] {
            let chunk = json!({"type": "AIMessageChunk", "id": "m", "content": text});
            context.message(chunk).await;
            if failed {
                return Err(NodeError::new("ConnectionError", "cut"));
            }
        }
        Ok(NodeOutput::from(
            json!({"messages": [{"type": "ai", "id": "m", "content": "Hello"}]}),
        ))
    };
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .node_with(
            "talk",
            Arc::new(talks),
            NodeOptions::new().retry(RetryPolicy::default().initial_interval(Duration::ZERO)),
        )
        .edge(START, "talk");
    let run = graph
        .compile()
        .unwrap()
        .stream_events(Input::value(json!({"messages": "hi"})), RunConfig::default());
    let mut messages = run.messages();
    let mut cut = messages.next().await.unwrap();
    assert_eq!((cut.node(), cut.id().as_deref()), (Some("talk"), Some("m")));
    let mut last = None;
    while let Some(piece) = cut.next().await {
        last = Some(piece);
    }
    assert!(
        matches!(last, Some(MessageEvent::BlockDelta { .. })),
        "an attempt that fails makes no whole message"
    );
    let mut whole = messages.next().await.unwrap();
    assert!(matches!(whole.next().await, Some(MessageEvent::Start { .. })));
    assert_eq!(whole.clone().text().await, "Hello");
    let mut last = None;
    while let Some(piece) = whole.next().await {
        last = Some(piece);
    }
    assert!(matches!(last, Some(MessageEvent::Finish { .. })));
    assert!(
        messages.next().await.is_none(),
        "what was streamed is not emitted again"
    );
    assert!(run.finish().await.is_ok());
}

#[tokio::test]
async fn an_event_has_the_protocols_form() {
    let run = nested().stream_events(input(), RunConfig::default());
    let mut events = run.events();
    let mut shown = Vec::new();
    while let Some(event) = events.next().await {
        let mut json = event.to_json();
        let at = json
            .get("params")
            .and_then(|params| params.get("timestamp"))
            .and_then(Value::as_u64);
        assert!(
            at.is_some_and(|at| at > 1_700_000_000_000),
            "milliseconds since 1970"
        );
        if let Value::Object(fields) = &mut json {
            let mut params = fields.get("params").and_then(Value::as_object).cloned().unwrap();
            params.remove("timestamp");
            fields.insert("params", params);
        }
        shown.push(json);
    }
    let life = shown[3]
        .get("params")
        .and_then(|params| params.get("data"))
        .unwrap()
        .clone();
    let (ns, task) = (
        life.get("namespace").unwrap().clone(),
        life.get("trigger_call_id").unwrap().clone(),
    );
    assert_eq!(ns, json!([format!("sub:{}", task.as_str().unwrap())]));
    let event = |method: &str, params: Value, seq: u64| json!({"type": "event", "method": method, "params": params, "seq": seq});
    let started = json!({"event": "started", "namespace": ns, "graph_name": "sub", "trigger_call_id": task});
    assert_eq!(
        shown[..4],
        [
            event(
                "values",
                json!({"namespace": [], "data": {"log": []}, "interrupts": []}),
                1
            ),
            event(
                "values",
                json!({"namespace": [], "data": {"log": ["a"]}, "interrupts": []}),
                2
            ),
            event(
                "values",
                json!({"namespace": ns, "data": {"log": ["a"]}, "interrupts": []}),
                3
            ),
            event("lifecycle", json!({"namespace": [], "data": started}), 4),
        ]
    );
}
