//! Graphs in the compact form of the worked examples, and records of what a run did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::*;

/// How often each node began.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<HashMap<String, usize>>>);

impl Calls {
    pub(crate) fn add(&self, node: &str) -> usize {
        let mut calls = self.0.lock().unwrap();
        let count = calls.entry(node.to_owned()).or_default();
        *count += 1;
        *count
    }
    pub(crate) fn of(&self, node: &str) -> usize {
        self.0.lock().unwrap().get(node).copied().unwrap_or(0)
    }
}

/// `x: last, log: append`
pub(crate) fn base() -> StateGraph {
    StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .channel("log", ChannelSpec::append())
}

/// A node that returns always the same.
pub(crate) fn returns(update: Value) -> impl Node {
    move |_: NodeContext, _: Value| {
        let update = update.clone();
        async move { Ok(NodeOutput::Update(update)) }
    }
}

/// A node that logs its name.
pub(crate) fn logs(name: &str) -> impl Node + use<> {
    returns(json!({ "log": [name] }))
}

/// A router that looks at the state.
pub(crate) fn routes(decide: impl Fn(&Value) -> Vec<Target> + Send + Sync + 'static) -> impl Router {
    move |_: NodeContext, state: Value| {
        let targets = decide(&state);
        async move { Ok(targets) }
    }
}

pub(crate) fn chain(names: &[&str]) -> StateGraph {
    let mut graph = base();
    let mut last = START;
    for &name in names {
        graph = graph.node(name, logs(name)).edge(last, name);
        last = name;
    }
    graph
}

pub(crate) fn on_memory(graph: StateGraph) -> Graph {
    graph
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
}

pub(crate) fn input() -> Input {
    Input::value(json!({"x": 1, "log": []}))
}

pub(crate) fn log_of(value: &Value) -> String {
    let log = value
        .get("log")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    log.iter()
        .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(",")
}

/// History, newest first, one line an entry: `step source [log] -> next`.
pub(crate) async fn history(graph: &Graph, thread: &str) -> Vec<String> {
    let entries = graph
        .get_state_history(&thread.into(), &ListQuery::default())
        .await
        .unwrap();
    entries
        .iter()
        .map(|entry| {
            let head = entry.checkpoint.as_ref().unwrap();
            format!(
                "{} {} [{}] -> {}",
                head.metadata.step,
                head.metadata.source.as_str(),
                log_of(&entry.values),
                entry.next.join(",")
            )
        })
        .collect()
}

/// The checkpoint with this step, of the oldest branch.
pub(crate) async fn at_step(graph: &Graph, thread: &str, step: i64) -> StateRef {
    let entries = graph
        .get_state_history(&thread.into(), &ListQuery::default())
        .await
        .unwrap();
    let head = entries
        .iter()
        .rev()
        .filter_map(|e| e.checkpoint.as_ref())
        .find(|h| h.metadata.step == step);
    StateRef::at(thread, head.unwrap().id.clone())
}

/// Runs and gives the events of the asked modes, one compact line each.
pub(crate) async fn stream(
    graph: &Graph,
    input: Input,
    mut config: RunConfig,
    modes: &[StreamMode],
) -> (Vec<String>, Result<RunResult, RunError>) {
    config.modes = modes.to_vec();
    let mut run = graph.stream(input, config);
    let mut lines = Vec::new();
    while let Some(event) = run.next().await {
        lines.push(line(&event));
    }
    (lines, run.finish().await)
}

fn line(event: &StreamEvent) -> String {
    match &event.payload {
        Payload::TaskStart(start) => format!("start {}", start.name),
        Payload::TaskEnd(end) => match (&end.error, end.interrupts.first()) {
            (Some(error), _) => format!("end {} {error}", end.name),
            (None, Some(question)) => format!("end {} asks {}", end.name, question.value),
            _ => format!("end {} {}", end.name, end.result),
        },
        Payload::Checkpoint(event) => format!(
            "checkpoint {} {} -> {}",
            event.metadata.step,
            event.metadata.source.as_str(),
            event.next.join(",")
        ),
        Payload::Values(values, questions) => {
            let asks: Vec<String> = questions.iter().map(|q| q.value.to_string()).collect();
            format!(
                "values {values}{}{}",
                if asks.is_empty() { "" } else { " asks " },
                asks.join(",")
            )
        }
        Payload::Interrupts(questions) => {
            let asks: Vec<String> = questions.iter().map(|q| q.value.to_string()).collect();
            format!("interrupts [{}]", asks.join(","))
        }
        _ => format!("{} {}", event.mode(), event.data()),
    }
}
