//! `graph` nodes: a graph file runs as one step of another.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::run::{RunStatus, StateRef};
use superstep::{Graph, Input, MemorySaver, RunConfig, Value, json as value};
use superstep_document::Diagnostic;
use superstep_nodes::{Built, Environment, Registry, Stamp};

use crate::support::{document, one_node};

fn write(folder: &Path, name: &str, graph: &Json) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, graph.to_string()).unwrap();
}

fn built(folder: &Path, graph: &Json) -> Built {
    let environment = Environment::new(Some(folder.to_owned())).with_variables(|_| None);
    Registry::standard()
        .build(&document(graph), &environment)
        .unwrap()
}

fn runnable(folder: &Path, graph: &Json) -> Graph {
    built(folder, graph)
        .graph
        .with_checkpointer(Arc::new(MemorySaver::new()))
}

fn problems(folder: Option<&Path>, graph: &Json) -> Vec<Diagnostic> {
    let environment = Environment::new(folder.map(Path::to_owned)).with_variables(|_| None);
    Registry::standard().check_in(&document(graph), &environment)
}

/// Doubles `n` and notes it; `secret` is a key of its own.
fn doubler() -> Json {
    json!({
        "format": "superstep/1", "name": "doubler",
        "state": {
            "n": {"type": "integer"}, "secret": {"type": "integer"},
            "log": {"type": "array", "reducer": "append"},
        },
        "nodes": {"double": {"kind": "assign", "config": {"set": {
            "n": "state.n * 2", "secret": 7, "log": ["doubled"],
        }}}},
        "edges": [{"from": "__start__", "to": "double"}],
    })
}

async fn invoke(graph: &Graph, input: Value) -> Value {
    graph
        .invoke(Input::value(input), RunConfig::on("t"))
        .await
        .unwrap()
        .value
}

#[test]
fn the_graph_at_the_end_of_a_path_of_nodes_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "parts/doubler.json", &doubler());
    let middle = one_node(json!({}), "graph", json!({"graph": "doubler.json"}));
    write(folder.path(), "parts/middle.json", &middle);
    let outer = document(&one_node(
        json!({}),
        "graph",
        json!({"graph": "parts/middle.json"}),
    ));
    let environment = Environment::new(Some(folder.path().to_owned())).with_variables(|_| None);
    let run_by = |path: &[&str]| {
        let path: Vec<String> = path.iter().map(|node| (*node).to_owned()).collect();
        let (document, file) = Registry::standard().run_by(&outer, &environment, &path)?;
        let nodes: Vec<String> = document.node_ids().map(str::to_owned).collect();
        Some((nodes, file?.file_name()?.to_owned()))
    };
    assert_eq!(run_by(&["n"]), Some((vec!["n".into()], "middle.json".into())));
    assert_eq!(
        run_by(&["n", "n"]),
        Some((vec!["double".into()], "doubler.json".into())),
        "a path is read from the folder of the file that names it"
    );
    assert_eq!(run_by(&["n", "n", "double"]), None, "a node that runs no graph");
    assert_eq!(run_by(&["elsewhere"]), None);
    assert_eq!(run_by(&[]), None);
}

#[tokio::test]
async fn keys_of_the_same_name_are_shared() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "doubler.json", &doubler());
    let state = json!({"n": {"type": "integer"}, "other": {"type": "string"}});
    let graph = one_node(state, "graph", json!({"graph": "doubler.json"}));
    assert_eq!(problems(Some(folder.path()), &graph), vec![]);
    let usage = Registry::standard().usage(&document(&graph));
    assert!(
        usage["node:n"].writes.is_empty(),
        "without the disk nothing is known of the file"
    );
    let done = invoke(
        &runnable(folder.path(), &graph),
        value!({"n": 4, "other": "kept"}),
    )
    .await;
    assert_eq!(done, value!({"n": 8, "other": "kept"}));
}

#[tokio::test]
async fn a_list_that_both_join_is_warned_about_and_can_be_mapped() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "doubler.json", &doubler());
    let state = json!({"n": {"type": "integer"}, "log": {"type": "array", "reducer": "append"}});
    let shared = one_node(state.clone(), "graph", json!({"graph": "doubler.json"}));
    let found = problems(Some(folder.path()), &shared);
    assert_eq!(found.iter().map(|p| p.code).collect::<Vec<_>>(), ["doubled-key"]);
    let input = || value!({"n": 1, "log": ["in"]});
    let done = invoke(&runnable(folder.path(), &shared), input()).await;
    assert_eq!(
        done,
        value!({"n": 2, "log": ["in", "in", "doubled"]}),
        "as the engine's nested graphs do it"
    );
    // The remedy of the warning, word for word.
    let mapped = one_node(
        state,
        "graph",
        json!({
            "graph": "doubler.json",
            "output": {"n": "result.n", "log": "result.log[state.log|length:]"},
        }),
    );
    assert_eq!(problems(Some(folder.path()), &mapped), vec![]);
    let done = invoke(&runnable(folder.path(), &mapped), input()).await;
    assert_eq!(done, value!({"n": 2, "log": ["in", "doubled"]}));
}

#[tokio::test]
async fn a_list_that_is_no_input_comes_back_with_what_was_added_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut nested = doubler();
    nested["input"] = json!(["n"]);
    write(folder.path(), "doubler.json", &nested);
    let state = json!({"n": {"type": "integer"}, "log": {"type": "array", "reducer": "append"}});
    let graph = one_node(state, "graph", json!({"graph": "doubler.json"}));
    assert_eq!(
        problems(Some(folder.path()), &graph),
        vec![],
        "nothing is in it twice"
    );
    let done = invoke(&runnable(folder.path(), &graph), value!({"n": 1, "log": ["in"]})).await;
    assert_eq!(done, value!({"n": 2, "log": ["in", "doubled"]}));
}

#[tokio::test]
async fn input_and_output_can_have_other_names() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "tools/doubler.json", &doubler());
    let state = json!({"price": {"type": "integer"}, "twice": {"type": "integer"}});
    let node = |input: Json, output: Json| {
        one_node(
            state.clone(),
            "graph",
            json!({"graph": "tools/doubler.json", "input": input, "output": output}),
        )
    };
    let graph = node(
        json!({"n": "state.price + 1"}),
        json!({"twice": "result.n + state.price"}),
    );
    assert_eq!(problems(Some(folder.path()), &graph), vec![]);
    let done = invoke(&runnable(folder.path(), &graph), value!({"price": 10})).await;
    assert_eq!(done, value!({"price": 10, "twice": 32}));
    let wrong = node(
        json!({"m": "state.price"}),
        json!({"thrice": "result.n", "twice": "results.n"}),
    );
    let found: Vec<(String, Option<String>)> = problems(Some(folder.path()), &wrong)
        .into_iter()
        .map(|p| (p.code.to_owned(), p.pointer))
        .collect();
    let at = |code: &str, pointer: &str| (code.to_owned(), Some(pointer.to_owned()));
    assert_eq!(
        found,
        [
            at("unknown-key", "/config/input/m"),
            at("unknown-key", "/config/output/thrice"),
            at("unknown-name", "/config/output/twice"),
        ]
    );
}

#[tokio::test]
async fn questions_inside_are_answered_from_outside_and_its_state_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let inner = json!({
        "format": "superstep/1", "name": "ask",
        "state": {"ok": {"type": "string"}, "private": {"type": "string"}},
        "nodes": {
            "note": {"kind": "assign", "config": {"set": {"private": "'seen'"}}},
            "ask": {"kind": "ask", "config": {"question": "Go on?", "into": "ok"}},
        },
        "edges": [{"from": "__start__", "to": "note"}, {"from": "note", "to": "ask"}],
    });
    write(folder.path(), "ask.json", &inner);
    let graph = runnable(
        folder.path(),
        &one_node(
            json!({"ok": {"type": "string"}}),
            "graph",
            json!({"graph": "ask.json"}),
        ),
    );
    let asked = graph
        .invoke(Input::value(value!({})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(asked.status, RunStatus::Interrupted);
    let outer = graph
        .get_state(&StateRef::live("t").with_subgraphs())
        .await
        .unwrap();
    let shown = format!("{:?}", outer.tasks[0].state);
    assert!(shown.contains("private") && shown.contains("seen"), "{shown}");
    let done = graph
        .invoke(Input::answer("yes"), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        (done.status, done.value),
        (RunStatus::Done, value!({"ok": "yes"}))
    );
}

#[tokio::test]
async fn what_a_nested_graph_remembers_is_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let counter = json!({
        "format": "superstep/1", "name": "counter",
        "state": {"count": {"type": "integer", "reducer": "add", "default": 0}},
        "nodes": {"one": {"kind": "assign", "config": {"set": {"count": 1}}}},
        "edges": [{"from": "__start__", "to": "one"}],
    });
    write(folder.path(), "counter.json", &counter);
    for (remembers, want) in [("run", 1), ("thread", 3), ("nothing", 1)] {
        let config = json!({
            "graph": "counter.json", "input": {}, "output": {"total": "result.count"}, "remembers": remembers,
        });
        let graph = runnable(
            folder.path(),
            &one_node(json!({"total": {"type": "integer"}}), "graph", config),
        );
        for _ in 0..2 {
            invoke(&graph, value!({})).await;
        }
        assert_eq!(
            invoke(&graph, value!({})).await,
            value!({"total": want}),
            "{remembers}"
        );
    }
}

#[test]
fn files_that_cannot_be_run_are_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    let step = |path: &str| one_node(json!({"n": {"type": "integer"}}), "graph", json!({"graph": path}));
    write(folder.path(), "outside.json", &doubler());
    write(&root, "broken.json", &json!("no object"));
    std::fs::write(root.join("torn.json"), "{\"format\": ").unwrap();
    let mut wrong = doubler();
    wrong["nodes"]["double"]["kind"] = "asign".into();
    write(&root, "wrong.json", &wrong);
    write(&root, "a/one.json", &step("../two.json"));
    write(&root, "two.json", &step("a/one.json"));
    let cases = [
        ("", "empty-setting", "names no graph"),
        ("nowhere.json", "missing-graph", "nowhere.json"),
        ("../outside.json", "graph-outside", "outside the project"),
        ("/etc/hostname", "graph-outside", "outside the project"),
        ("a", "missing-graph", "it is no file"),
        ("torn.json", "broken-graph", "torn.json"),
        ("broken.json", "broken-graph", "broken.json"),
        ("wrong.json", "broken-graph", "Did you mean"),
        ("two.json", "graph-cycle", "two.json → one.json → two.json"),
    ];
    for (path, code, part) in cases {
        let found = problems(Some(&root), &step(path));
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(
            found
                .iter()
                .any(|p| p.code == code && p.message.contains(part) && p.is_error()),
            "{path}: {texts:?}"
        );
        let environment = Environment::new(Some(root.clone()));
        assert!(
            Registry::standard()
                .build(&document(&step(path)), &environment)
                .is_err(),
            "{path}"
        );
    }
    let unsaved = problems(None, &step("two.json"));
    assert_eq!(
        unsaved.iter().map(|p| p.code).collect::<Vec<_>>(),
        ["graph-not-saved"]
    );
}

#[test]
fn a_graph_knows_when_a_file_it_was_built_from_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let state = json!({"n": {"type": "integer"}});
    write(folder.path(), "inner.json", &doubler());
    write(
        folder.path(),
        "middle.json",
        &one_node(state.clone(), "graph", json!({"graph": "inner.json"})),
    );
    let outer = built(
        folder.path(),
        &one_node(state, "graph", json!({"graph": "middle.json"})),
    );
    let current = || {
        outer
            .files
            .iter()
            .all(|(file, stamp)| Stamp::of(file).as_ref() == Some(stamp))
    };
    assert_eq!((outer.files.len(), current()), (2, true));
    let mut longer = doubler();
    longer["description"] = "changed".into();
    write(folder.path(), "inner.json", &longer);
    assert!(!current());
}
