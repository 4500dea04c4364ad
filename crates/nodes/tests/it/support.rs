//! Small things that the tests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use superstep::stream::Payload;
use superstep::{Graph, Input, MemorySaver, RunConfig, RunError, RunResult, StreamEvent, StreamMode, Value};
use superstep_document::{Diagnostic, Document};
use superstep_nodes::{Environment, HelperProgram, Registry};

pub(crate) fn graphs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../graphs")
}

/// The folders of all examples, sorted.
pub(crate) fn examples() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(graphs())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

pub(crate) fn document(json: &serde_json::Value) -> Document {
    let (document, problems) = Document::parse(&json.to_string());
    assert_eq!(
        problems.iter().filter(|p| p.is_error()).collect::<Vec<_>>(),
        Vec::<&Diagnostic>::new()
    );
    document
}

/// The process that runs JavaScript for these tests: this test, started by others.
#[test]
fn worker() {
    superstep_nodes::serve_as_asked();
}

/// `name` is among the arguments of the process, for tests that look for it.
pub(crate) fn javascript(name: &str) -> HelperProgram {
    let args = [
        "--exact",
        "support::worker",
        "--nocapture",
        "--test-threads",
        "1",
        "--skip",
        name,
    ];
    HelperProgram {
        path: std::env::current_exe().unwrap(),
        args: args.map(Into::into).to_vec(),
    }
}

/// The standard kinds, with JavaScript in processes, as programs of ours have it.
pub(crate) fn registry() -> Registry {
    Registry::standard().with_javascript(Some(javascript("nothing")))
}

pub(crate) fn build(json: &serde_json::Value, environment: &Environment) -> Graph {
    let document = document(json);
    match registry().build(&document, environment) {
        Ok(built) => built.graph.with_checkpointer(Arc::new(MemorySaver::new())),
        Err(problems) => panic!(
            "{}",
            problems
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        ),
    }
}

/// A graph of one node between start and end.
pub(crate) fn one_node(state: serde_json::Value, kind: &str, config: serde_json::Value) -> serde_json::Value {
    serde_json::json!({
        "format": "superstep/1", "name": "one", "state": state,
        "nodes": {"n": {"kind": kind, "config": config}},
        "edges": [{"from": "__start__", "to": "n"}, {"from": "n", "to": "__end__"}],
    })
}

pub(crate) fn no_keys() -> Environment {
    Environment::default().with_variables(|_| None)
}

/// After this time something hangs, however busy the computer is.
pub(crate) const HANGS: Duration = Duration::from_mins(5);

/// Returns the processor time of this thread, which is the same on a busy computer.
pub(crate) fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
    }
    #[cfg(not(unix))]
    {
        static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        BEGAN.get_or_init(std::time::Instant::now).elapsed()
    }
}

/// Waits for what shows in no event.
pub(crate) async fn wait_until(what: &str, done: impl Fn() -> bool) {
    let came = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let came = tokio::time::timeout(HANGS, came).await;
    assert!(came.is_ok(), "{what} does not come");
}

/// Runs and collects everything that was streamed.
pub(crate) async fn run(
    graph: &Graph,
    input: Input,
    modes: &[StreamMode],
) -> (Vec<StreamEvent>, Result<RunResult, RunError>) {
    let mut run = graph.stream(input, RunConfig::on("t").modes(modes.to_vec()));
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    (events, run.finish().await)
}

pub(crate) async fn value(json: &serde_json::Value, input: Value) -> Value {
    run(&build(json, &no_keys()), Input::Value(input), &[])
        .await
        .1
        .unwrap()
        .value
}

/// The message of the node's failure.
pub(crate) async fn failure(json: &serde_json::Value, input: Value) -> String {
    run(&build(json, &no_keys()), Input::Value(input), &[])
        .await
        .1
        .unwrap_err()
        .to_string()
}

/// Text of all message chunks in order.
pub(crate) fn tokens(events: &[StreamEvent]) -> Vec<Value> {
    events
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::Message(chunk, _) => Some(chunk.clone()),
            _ => None,
        })
        .collect()
}
