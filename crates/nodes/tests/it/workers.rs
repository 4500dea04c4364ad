//! Processes that run JavaScript: ended when a program does not end, used again when it does.

use std::sync::Arc;

use serde_json::json;
use superstep::{Graph, Input, MemorySaver, RunConfig, Value, json as value};
use superstep_nodes::Registry;

use crate::support::{HANGS, document, javascript, no_keys, one_node, run, wait_until};

/// Functions of the language that do not look whether they are to end.
const ENDLESS: [&str; 3] = [
    "return {n: Array(2 ** 32 - 1).join('ab').length}",
    "const a = []; a.length = 2 ** 32 - 1; a.copyWithin(0, 1); return {}",
    "Array.prototype.reverse.call({length: 2 ** 53 - 1}); return {}",
];

fn graph(registry: &Registry, state: serde_json::Value, kind: &str, config: serde_json::Value) -> Graph {
    let document = document(&one_node(state, kind, config));
    let built = registry.build(&document, &no_keys()).unwrap();
    built.graph.with_checkpointer(Arc::new(MemorySaver::new()))
}

fn script(registry: &Registry, source: &str, timeout_ms: u64) -> Graph {
    let config = json!({"source": source, "timeout_ms": timeout_ms});
    graph(registry, json!({"n": {}}), "code", config)
}

/// Processes of the test that gave them this name.
#[cfg(target_os = "linux")]
fn processes(name: &str) -> Vec<rustix::process::Pid> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let id = entry.file_name().to_str().and_then(|id| id.parse::<i32>().ok());
        let Some(id) = id else { continue };
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // One that has ended and was not waited for has no words.
        if words.split(|byte| *byte == 0).any(|word| word == name.as_bytes()) {
            found.extend(rustix::process::Pid::from_raw(id));
        }
    }
    found
}

#[cfg(target_os = "linux")]
async fn none_left(name: &str) {
    wait_until("the end of the processes", || processes(name).is_empty()).await;
}

#[tokio::test]
async fn what_looks_at_no_limit_is_ended_and_the_next_program_runs() {
    let registry = Registry::standard().with_javascript(Some(javascript("endless")));
    for source in ENDLESS {
        let graph = script(&registry, source, 100);
        let (_, ended) = run(&graph, Input::value(value!({"n": 1})), &[]).await;
        let message = ended.unwrap_err().to_string();
        assert!(
            message.contains("was stopped after 100 ms of processor time"),
            "{source}: {message}"
        );
    }
    let graph = script(&registry, "return {n: state.n + 1}", 10_000);
    let (_, done) = run(&graph, Input::value(value!({"n": 1})), &[]).await;
    assert_eq!(done.unwrap().value, value!({"n": 2}));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stop_ends_the_process_at_once() {
    const NAME: &str = "a-stop-ends-the-process";
    let registry = Registry::standard().with_javascript(Some(javascript(NAME)));
    for source in ENDLESS {
        let source = format!("console.log('go'); {source}");
        let graph = script(&registry, &source, 600_000);
        let config = RunConfig::on("t").modes([superstep::StreamMode::Custom]);
        let mut stream = graph.stream(Input::value(value!({"n": 1})), config);
        assert!(stream.next().await.is_some(), "it says that it has begun");
        assert_eq!(processes(NAME).len(), 1);
        drop(stream);
        none_left(NAME).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_is_used_again_and_replaced_when_it_is_gone() {
    const NAME: &str = "a-process-is-used-again";
    let registry = Registry::standard().with_javascript(Some(javascript(NAME)));
    let graph = script(&registry, "return {n: state.n + 1}", 60_000);
    let next = async || {
        let (_, done) = run(&graph, Input::value(value!({"n": 1})), &[]).await;
        assert_eq!(done.unwrap().value, value!({"n": 2}));
        processes(NAME)
    };
    let first = next().await;
    assert_eq!(first.len(), 1);
    assert_eq!(next().await, first, "the same one");
    rustix::process::kill_process(first[0], rustix::process::Signal::KILL).unwrap();
    let second = next().await;
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
    drop((graph, registry));
    none_left(NAME).await;
}

#[tokio::test]
async fn large_parts_of_a_state_go_when_the_program_looks_at_them() {
    let registry = Registry::standard().with_javascript(Some(javascript("large")));
    let text = "x".repeat(600_000);
    let some: Vec<String> = (0..40).map(|n| format!("{n} {}", "y".repeat(20_000))).collect();
    let state = value!({"n": 1, "text": text, "some": some, "other": {"text": text}});
    let keys = json!({"n": {}, "text": {}, "some": {}, "other": {}});
    for (source, want) in [
        (
            "return {n: [state.text.length, state.some[39].length, state.other.text === state.text]}",
            value!([600_000, 20_003, true]),
        ),
        (
            "return {n: Object.keys(state)}",
            value!(["n", "text", "some", "other"]),
        ),
        (
            "const {text, ...rest} = state; return {n: JSON.stringify(rest).length > 1400000}",
            value!(true),
        ),
        (
            "const got = await Promise.all([task('a', () => state.text.length), sleep(5)]); return {n: got[0] + state.other.text.length}",
            value!(1_200_000),
        ),
        ("return {n: 7}", value!(7)),
    ] {
        let graph = graph(
            &registry,
            keys.clone(),
            "code",
            json!({"source": source, "timeout_ms": 60_000}),
        );
        let (_, done) = run(&graph, Input::value(state.clone()), &[]).await;
        assert_eq!(done.unwrap().value.get("n"), Some(&want), "{source}");
    }
}

#[tokio::test]
async fn programs_that_wait_do_not_hold_up_each_other() {
    let registry = Registry::standard().with_javascript(Some(javascript("many")));
    let config = json!({"items": "range(96)", "as": "n", "into": "all", "concurrency": 96, "timeout_ms": 60_000,
        "javascript": "await sleep(200); emit(n); return n * n"});
    let graph = graph(&registry, json!({"all": {"type": "array"}}), "map", config);
    let (_, done) = run(&graph, Input::value(value!({})), &[]).await;
    let want: Vec<i64> = (0..96).map(|n| n * n).collect();
    assert_eq!(done.unwrap().value, value!({"all": want}));
}

#[tokio::test]
async fn a_program_that_is_no_worker_is_an_error() {
    let program = superstep_nodes::HelperProgram {
        path: "/bin/echo".into(),
        args: vec!["hello".into()],
    };
    let registry = Registry::standard().with_javascript(Some(program));
    let (_, ended) = run(
        &script(&registry, "return {}", 1000),
        Input::value(value!({})),
        &[],
    )
    .await;
    let message = ended.unwrap_err().to_string();
    assert!(
        message.contains("cannot be started: it is no worker"),
        "{message}"
    );
    // What starts well and ends at its first program is not started again and again.
    #[cfg(unix)]
    {
        let greeting = r"printf '\036superstep javascript 1\n'";
        let program = superstep_nodes::HelperProgram {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), greeting.into()],
        };
        let registry = Registry::standard().with_javascript(Some(program));
        let graph = script(&registry, "return {}", 1000);
        let ended = run(&graph, Input::value(value!({})), &[]);
        let (_, ended) = tokio::time::timeout(HANGS, ended).await.unwrap();
        let message = ended.unwrap_err().to_string();
        assert!(
            message.contains("its process ended in the middle of the program"),
            "{message}"
        );
    }
    let graph = script(&Registry::standard(), "return {n: 1}", 10_000);
    let (_, done) = run(&graph, Input::value(value!({"n": Value::Null})), &[]).await;
    assert_eq!(
        done.unwrap().value,
        value!({"n": 1}),
        "without a program it runs on a thread"
    );
}
