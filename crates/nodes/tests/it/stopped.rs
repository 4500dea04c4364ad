//! An expression that works for long ends when its run is stopped, or the time of its node is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use superstep::stream::Payload;
use superstep::{
    ChannelSpec, END, Input, MemorySaver, NodeContext, NodeError, NodeOutput, RunConfig, RunError, START,
    StateGraph, StreamMode, Value,
};
use superstep_nodes::expression::{ExpressionProblem, Scope, Template};

use crate::support::{build, no_keys, one_node, processor_time};

/// Looks through a text until all that an evaluation may look through is used up.
const WORK: &str = "{% for i in range(90000) %}{% set x = state.t == state.u %}{% endfor %}";

fn texts() -> Value {
    let text = "x".repeat(1 << 20);
    superstep::json!({"t": text, "u": text})
}

fn long_work(timeout: Option<f64>) -> serde_json::Value {
    let mut graph = one_node(
        json!({"t": {"type": "string"}, "u": {"type": "string"}, "said": {"type": "string"}}),
        "model",
        json!({"model": "scripted", "script": [{"say": WORK}], "pace_ms": 0, "into": "said"}),
    );
    if let Some(timeout) = timeout {
        graph["nodes"]["n"]["timeout"] = timeout.into();
    }
    graph
}

#[tokio::test]
async fn an_expression_of_a_stopped_run_ends_and_has_not_failed() {
    let config = RunConfig::on("t");
    let cancel = config.cancel.clone();
    let stopped = Arc::new(AtomicBool::new(false));
    let seen = stopped.clone();
    let node = move |context: NodeContext, input: Value| {
        let (cancel, seen) = (cancel.clone(), seen.clone());
        async move {
            let template = Template::compile(WORK, "here").unwrap();
            let scope = Scope::of(&context, &input);
            let to_its_end = template.render(&scope).unwrap_err();
            assert_ne!(
                to_its_end.problem,
                ExpressionProblem::Stopped,
                "it has all of its work"
            );
            cancel.cancel();
            let began = processor_time();
            let error = template.render(&scope).unwrap_err();
            assert_eq!(error.problem, ExpressionProblem::Stopped, "{error}");
            assert!(processor_time() - began < std::time::Duration::from_secs(1));
            seen.store(true, Ordering::SeqCst);
            Err::<NodeOutput, _>(NodeError::Cancelled)
        }
    };
    let graph = StateGraph::new()
        .channel("t", ChannelSpec::last_value())
        .channel("u", ChannelSpec::last_value())
        .node("n", node)
        .edge(START, "n")
        .edge("n", END)
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let ended = graph.invoke(Input::Value(texts()), config).await;
    assert!(matches!(ended, Err(RunError::Cancelled)), "{ended:?}");
    assert!(stopped.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stopped_while_an_expression_works() {
    // The work would fail when it is not stopped.
    let graph = build(&long_work(None), &no_keys());
    let config = RunConfig::on("t").modes(vec![StreamMode::Tasks]);
    let cancel = config.cancel.clone();
    let mut run = graph.stream(Input::Value(texts()), config);
    while let Some(event) = run.next().await {
        if let Payload::TaskStart(_) = event.payload {
            cancel.cancel();
        }
    }
    let ended = run.finish().await;
    assert!(matches!(ended, Err(RunError::Cancelled)), "{ended:?}");
}

#[tokio::test]
async fn the_timeout_of_a_node_ends_its_expression() {
    for (timeout, says) in [(0.001, "exceeded its run timeout"), (3600.0, "expression")] {
        let graph = build(&long_work(Some(timeout)), &no_keys());
        let ended = graph.invoke(Input::Value(texts()), RunConfig::on("t")).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.to_lowercase().contains(says), "{timeout}: {error}");
    }
    let mut idle = long_work(None);
    idle["nodes"]["n"]["timeout"] = json!({"idle": 0.001});
    let ended = build(&idle, &no_keys())
        .invoke(Input::Value(texts()), RunConfig::on("t"))
        .await;
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("exceeded its idle timeout"), "{error}");
}
