//! Python functions, run by the interpreter that is there; the tests with LangGraph's own functions by one that has it.

use std::fs;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::checkpoint::KeysRead;
use superstep::stream::Payload;
use superstep::{
    Graph, Input, MemorySaver, MemoryStore, RunConfig, RunError, StreamMode, Value, json as value,
};
use superstep_document::Diagnostic;
use superstep_nodes::python::INTERPRETER;
use superstep_nodes::{Access, Environment, Grants, Registry};
use superstep_test_servers::python_with_langgraph as langgraph;

use crate::records::records;
use crate::support::{build, document, one_node, run};

/// A project that Python runs in.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn environment(&self) -> Environment {
        Environment::new(Some(self.0.path().to_path_buf()))
            .with_variables(|_| None)
            .with_grants(Grants::all())
    }

    fn graph(&self, state: Json, config: Json) -> Graph {
        let mut all = json!({"language": "python"});
        all.as_object_mut()
            .unwrap()
            .extend(config.as_object().unwrap().clone());
        build(&one_node(state, "code", all), &self.environment())
    }

    async fn result(&self, source: &str, input: Value) -> Result<Value, RunError> {
        let state = json!({"n": {}, "said": {}});
        let graph = self.graph(state, json!({"source": source}));
        run(&graph, Input::Value(input), &[])
            .await
            .1
            .map(|done| done.value)
    }

    async fn failure(&self, source: &str) -> String {
        self.result(source, value!({"n": 1}))
            .await
            .unwrap_err()
            .to_string()
    }
}

fn customs(events: &[superstep::StreamEvent]) -> Vec<Value> {
    let custom = |event: &superstep::StreamEvent| match &event.payload {
        Payload::Custom(value, _) => Some(value.clone()),
        _ => None,
    };
    events.iter().filter_map(custom).collect()
}

#[tokio::test]
async fn functions_and_bodies_give_updates() {
    let project = Project::new();
    for (source, want) in [
        ("return {'n': state['n'] + 1}", value!(3)),
        (
            "import asyncio\nawait asyncio.sleep(0)\nreturn {'n': 4}",
            value!(4),
        ),
        (
            "def helper(x):\n    return x * 5\n\ndef node(state):\n    return {'n': helper(state['n'])}",
            value!(10),
        ),
        (
            "async def work(state, config, runtime, ctx):\n    return {'n': [ctx.node, ctx.step, config['configurable']['thread_id'], runtime.execution_info.node_attempt]}",
            value!(["n", 1, "t", 1]),
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass S:\n    n: int\n    x: int = 1\ndef node(s: S):\n    return {'n': s.n + s.x}",
            value!(3),
        ),
        ("text = '''a\n  b'''\nreturn {'n': text}", value!("a\n  b")),
        ("pass", value!(2)),
        ("x = 1", value!(2)),
    ] {
        let source = if source == "pass" || source == "x = 1" {
            format!("{source}\nreturn")
        } else {
            source.to_owned()
        };
        let found = project.result(&source, value!({"n": 2})).await;
        assert_eq!(
            found.unwrap_or_else(|e| panic!("{source}: {e}")).get("n"),
            Some(&want),
            "{source}"
        );
    }
}

#[tokio::test]
async fn errors_have_their_class_file_and_line() {
    let project = Project::new();
    project.write(
        "nodes/plan.py",
        "from .deep import dive\n\ndef plan(state):\n    return dive(state)\n",
    );
    project.write(
        "nodes/deep.py",
        "def dive(state):\n    # far down\n    raise KeyError('stock')\n",
    );
    let graph = project.graph(
        json!({"n": {}}),
        json!({"module": "nodes/plan.py", "function": "plan"}),
    );
    let error = run(&graph, Input::value(value!({"n": 1})), &[])
        .await
        .1
        .unwrap_err()
        .to_string();
    for part in [
        "node n: the code failed in nodes/deep.py, line 3: KeyError: 'stock'",
        "plan.py\", line 4, in plan",
        "raise KeyError('stock')",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("<superstep>"), "{error}");
    // Of a module that fails by itself, what imports it is no news; the annotation needs no LangGraph.
    project.write(
        "nodes/broken.py",
        "from typing import Literal\nfrom superstep import Command\n\n\
         def plan(state) -> Command[Literal['n']]:\n    return {}\n\nBOOKS = 1 / 0\n",
    );
    let graph = project.graph(
        json!({"n": {}}),
        json!({"module": "nodes/broken.py", "function": "plan"}),
    );
    let broken = run(&graph, Input::value(value!({"n": 1})), &[]).await.1;
    let broken = broken.unwrap_err().to_string();
    assert!(
        broken.contains("in nodes/broken.py, line 7: ZeroDivisionError") && !broken.contains("importlib"),
        "{broken}"
    );
    for (source, parts) in [
        (
            "x = 1\nreturn {'n': missing}",
            ["line 2", "NameError", "return {'n': missing}"],
        ),
        ("return {'n': (1}", ["line 1", "SyntaxError", ""]),
        (
            "return {'n': object()}",
            ["the value['n'] is a object", "not JSON", ""],
        ),
        (
            "return {'n': float('nan')}",
            ["JSON does not have", "TypeError", ""],
        ),
        (
            "import no_such_thing_here",
            ["Install it for the interpreter", "ModuleNotFoundError", ""],
        ),
        ("x = 1", ["has no function", "write `def node(state)", ""]),
        ("return Send('x', 1)", ["part of a Command", "", ""]),
        ("raise SystemExit(3)", ["SystemExit", "line 1", ""]),
    ] {
        let text = project.failure(source).await;
        for part in parts {
            assert!(text.contains(part), "{source}: {text}");
        }
    }
}

#[tokio::test]
async fn questions_tasks_events_and_the_store_are_those_of_the_graph() {
    let project = Project::new();
    let source = "
@task
def row(number):
    emit(f'row {number}')
    return {'row': number}

@task
async def late(number):
    import asyncio
    await asyncio.sleep(0.01)
    return number

def node(state, store):
    print('looking', end=' ')
    print('around')
    rows = [future.result() for future in [row(1), row(2), late(3)]]
    seen = store.get(('a',), 'k')
    store.put(('a',), 'k', {'n': (seen.value['n'] if seen else 0) + 1})
    progress(1, 2, 'half')
    try:
        first = interrupt({'rows': len(rows)})
    except Exception:
        first = 'caught'
    second = interrupt('sure?')
    return {'said': [rows, first, second, [item.key for item in store.search(('a',))]]}
";
    let graph = project.graph(json!({"said": {}}), json!({"source": source}));
    let graph = graph.with_store(std::sync::Arc::new(MemoryStore::new()));
    let (events, done) = run(&graph, Input::value(value!({})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!({"rows": 3}));
    let mut customs = customs(&events);
    assert_eq!(customs.remove(0), value!({"log": "looking around", "node": "n"}));
    assert_eq!(
        customs.pop(),
        Some(value!({"progress": {"done": 1.0, "total": 2.0, "text": "half"}, "node": "n"}))
    );
    assert_eq!(customs.len(), 2, "{customs:?}");
    let (events, done) = run(&graph, Input::answer(value!("yes")), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!("sure?"));
    assert_eq!(events.len(), 2, "recorded tasks are not done again: {events:?}");
    let (_, done) = run(&graph, Input::answer(value!(true)), &[]).await;
    assert_eq!(
        done.unwrap().value.get("said"),
        Some(&value!([[{"row": 1}, {"row": 2}, 3], "yes", true, ["k"]]))
    );
}

#[tokio::test]
async fn generators_stream_and_commands_go() {
    let project = Project::new();
    let graph = project.graph(
        json!({"n": {}}),
        json!({"source": "for i in range(2):\n    yield {'i': i}\nreturn {'n': 2}"}),
    );
    let (events, done) = run(&graph, Input::value(value!({"n": 0})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().value, value!({"n": 2}));
    assert_eq!(customs(&events), [value!({"i": 0}), value!({"i": 1})]);
    let python = |source: &str| json!({"kind": "code", "config": {"language": "python", "source": source}});
    let graph = build(
        &json!({
            "format": "superstep/1", "name": "c", "state": {"seen": {"type": "array", "reducer": "append"}},
            "nodes": {
                "plan": python("async def node(state) -> Command[Literal['work']]:\n    yield 'planning'\n    yield Command(update={'seen': ['p']}, goto=[Send('work', {'item': i}) for i in 'ab'])"),
                "work": python("return {'seen': [state['item']]}"),
            },
            "edges": [{"from": "__start__", "to": "plan"}, {"from": "work", "to": "__end__"}],
        }),
        &project.environment(),
    );
    let (events, done) = run(&graph, Input::value(value!({"seen": []})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().value, value!({"seen": ["p", "a", "b"]}));
    assert_eq!(customs(&events), [value!("planning")]);
}

#[tokio::test]
async fn changed_files_are_imported_again_and_nothing_outside_is() {
    let project = Project::new();
    project.write("lib/values.py", "VALUE = 1\n");
    project.write("code.py", "from lib.values import VALUE\ncalls = 0\n\ndef node(state):\n    global calls\n    calls += 1\n    return {'n': [VALUE, calls]}\n");
    let graph = project.graph(json!({"n": {}}), json!({"module": "code.py", "function": "node"}));
    let call = async || {
        run(&graph, Input::value(value!({"n": 0})), &[])
            .await
            .1
            .unwrap()
            .value
            .get("n")
            .cloned()
            .unwrap()
    };
    assert_eq!(call().await, value!([1, 1]));
    assert_eq!(
        call().await,
        value!([1, 2]),
        "one worker, which keeps its modules"
    );
    project.write("lib/values.py", "VALUE = 22\n");
    assert_eq!(call().await, value!([22, 1]));
}

#[tokio::test]
async fn calls_run_side_by_side_and_stop_when_they_are_to() {
    let project = Project::new();
    // Each waits for the other: they can only end when they run at once.
    project.write(
        "meet.py",
        "import asyncio, threading\nboth = threading.Barrier(2, timeout=20)\nseen = None\n\ndef one(state):\n    both.wait()\n    return {'seen': [1]}\n\ndef two(state):\n    both.wait()\n    return {'seen': [2]}\n",
    );
    let node = |function: &str| json!({"kind": "code", "config": {"language": "python", "module": "meet.py", "function": function}});
    let graph = build(
        &json!({
            "format": "superstep/1", "name": "c", "state": {"seen": {"type": "array", "reducer": "append"}},
            "nodes": {"a": node("one"), "b": node("two")},
            "edges": [{"from": "__start__", "to": "a"}, {"from": "__start__", "to": "b"}, {"from": "a", "to": "__end__"}, {"from": "b", "to": "__end__"}],
        }),
        &project.environment(),
    );
    assert_eq!(
        run(&graph, Input::value(value!({"seen": []})), &[])
            .await
            .1
            .unwrap()
            .value,
        value!({"seen": [1, 2]})
    );

    let state = || json!({"n": {}});
    // One that listens, and one that holds the interpreter's only lock and never looks up: the process goes with it.
    let endless = [
        "import time\nwhile True:\n    time.sleep(0.01)\nreturn",
        "import asyncio\nawait asyncio.sleep(1000)\nreturn",
        "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')\nreturn",
    ];
    for source in endless {
        let graph = project.graph(state(), json!({"source": source, "timeout_ms": 700}));
        let error = run(&graph, Input::value(value!({"n": 1})), &[])
            .await
            .1
            .unwrap_err()
            .to_string();
        assert!(error.contains("stopped after 700 ms"), "{error}");
        let found = run(
            &project.graph(state(), json!({"source": "return {'n': 2}"})),
            Input::value(value!({"n": 1})),
            &[],
        )
        .await;
        assert_eq!(found.1.unwrap().value, value!({"n": 2}));
    }
    let graph = project.graph(
        state(),
        json!({"source": "print('on')\nimport time\nwhile True:\n    time.sleep(0.01)\nreturn"}),
    );
    let mut stream = graph.stream(
        Input::value(value!({"n": 1})),
        RunConfig::on("t").modes([StreamMode::Custom]),
    );
    stream.next().await.expect("it has begun");
    stream.cancel();
    assert!(matches!(stream.finish().await, Err(RunError::Cancelled)));
}

#[cfg(unix)]
#[tokio::test]
async fn the_start_of_the_interpreter_does_not_count() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write("slow", "#!/bin/sh\nsleep 4\nexec python3 \"$@\"\n");
    let slow = project.0.path().join("slow");
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let named = slow.to_str().unwrap().to_owned();
    let environment = project
        .environment()
        .with_variables(move |name| (name == INTERPRETER).then(|| named.clone()));
    let config = json!({"language": "python", "source": "return {'n': 2}", "timeout_ms": 3000});
    let graph = build(&one_node(json!({"n": {}}), "code", config), &environment);
    let (_, done) = run(&graph, Input::value(value!({"n": 1})), &[]).await;
    assert_eq!(done.unwrap().value, value!({"n": 2}));
}

#[tokio::test]
async fn a_worker_that_dies_says_so_and_is_begun_again() {
    let project = Project::new();
    project.write("w.py", "import os, sys\n\ndef die(state):\n    sys.__stderr__.write('out of luck')\n    sys.__stderr__.flush()\n    os._exit(7)\n\ndef pid(state):\n    return {'n': [os.getpid(), sorted(os.environ), len(os.environ.get('TOKEN', ''))]}\n");
    let environment = project
        .environment()
        .with_variables(|name| (name == "TOKEN").then(|| "s3cret".to_owned()));
    let graph = |function: &str, variables: Json| {
        let config =
            json!({"language": "python", "module": "w.py", "function": function, "variables": variables});
        document(&one_node(json!({"n": {}}), "code", config))
    };
    // One registry, as an app has it.
    let registry = Registry::standard();
    let call = async |function: &str, variables: Json| {
        let built = registry
            .build(&graph(function, variables), &environment)
            .unwrap()
            .graph;
        built
            .invoke(Input::value(value!({"n": 0})), RunConfig::default())
            .await
            .map(|done| done.value.get("n").cloned().unwrap())
    };
    let first = call("pid", json!([])).await.unwrap();
    assert_eq!(call("pid", json!([])).await.unwrap(), first);
    let error = call("die", json!([])).await.unwrap_err().to_string();
    assert!(
        error.contains("ended in the middle of the call") && error.contains("out of luck"),
        "{error}"
    );
    let second = call("pid", json!([])).await.unwrap();
    assert_ne!(second.at(0), first.at(0));
    // What it finds in its environment is a short list, and what the node declares.
    let names = Json::from(second.at(1).unwrap());
    let names: Vec<&str> = names
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"PATH") && !names.iter().any(|name| name.starts_with("CARGO")),
        "{names:?}"
    );
    assert_eq!(second.at(2), Some(&value!(0)));
    assert_eq!(
        call("pid", json!(["TOKEN"])).await.unwrap().at(2),
        Some(&value!(6))
    );
}

/// A key that a program was given, wherever it puts it.
#[tokio::test]
async fn a_key_that_a_program_tells_goes_no_further() {
    const KEY: &str = "key-of-a-program-4711";
    let project = Project::new();
    let source = "
import os
KEY = os.environ['TOKEN']

@task
def copied(text):
    return {'copy': text}

def node(state, store):
    print('the key is', KEY)
    emit({'event': [KEY]})
    progress(1, 2, KEY)
    for at in range(0, len(KEY), 4):
        message({'type': 'AIMessageChunk', 'id': 'm', 'content': KEY[at:at + 4]})
    message({'type': 'AIMessageChunk', 'id': 'm', 'content': ', k'})
    copied(KEY).result()
    store.put(('a',), 'k', {'kept': KEY})
    if not state['said']:
        interrupt({'ask': KEY})
        return Command(update={'said': [KEY]}, goto=[Send('n', {'said': ['again', KEY]})])
    raise ValueError('no ' + KEY)
";
    let config = json!({"language": "python", "source": source, "variables": ["TOKEN"]});
    let environment = project
        .environment()
        .with_variables(|name| (name == "TOKEN").then(|| KEY.to_owned()));
    let saver = std::sync::Arc::new(superstep::MemorySaver::new());
    let store = std::sync::Arc::new(MemoryStore::new());
    let graph = build(
        &one_node(json!({"said": {"type": "array", "default": []}}), "code", config),
        &environment,
    )
    .with_checkpointer(saver)
    .with_store(store.clone());
    let modes = [
        StreamMode::Custom,
        StreamMode::Messages,
        StreamMode::Tasks,
        StreamMode::Checkpoints,
        StreamMode::Updates,
        StreamMode::Values,
        StreamMode::Debug,
    ];
    let (mut events, asked) = run(&graph, Input::value(value!({"said": []})), &modes).await;
    assert_eq!(asked.unwrap().interrupts[0].value, value!({"ask": "[secret]"}));
    let (more, failed) = run(&graph, Input::answer(value!(true)), &modes).await;
    events.extend(more);
    let failed = failed.unwrap_err().to_string();
    assert!(failed.contains("ValueError: no [secret]"), "{failed}");
    let reported = format!("{events:?}");
    for part in ["the key is [secret]", "\"event\"", "\"copy\"", "again"] {
        assert!(reported.contains(part), "{part} is emitted: {reported}");
    }
    assert!(!reported.contains(KEY), "{reported}");
    // Nor do the pieces of a message spell it out; the function ran three times, and ended in three ways.
    let pieces = events.iter().filter(|event| event.mode() == StreamMode::Messages);
    let pieces = pieces.map(|event| Json::from(&event.to_json())["data"][0]["content"].clone());
    let spelled: String = pieces
        .filter_map(|piece| piece.as_str().map(str::to_owned))
        .collect();
    assert_eq!(spelled, "[secret], k".repeat(3));
    let history = graph
        .get_state_history(&"t".into(), &superstep::checkpoint::ListQuery::default())
        .await
        .unwrap();
    let stored = format!("{history:?}");
    assert!(stored.contains("[secret]") && !stored.contains(KEY), "{stored}");
    let item = superstep::Store::get(&*store, &["a"], "k")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(Value::from(item.value), value!({"kept": "[secret]"}));
}

#[tokio::test]
async fn functions_are_tools() {
    let project = Project::new();
    project.write(
        "tools.py",
        "def weather(city, *, state, ctx, unit='C'):\n    print('asked', city)\n    if city == 'Atlantis':\n        raise LookupError('it has sunk')\n    if city == 'Oslo':\n        city = interrupt('which Oslo?')\n    return {'city': city, 'unit': unit, 'n': state['n'], 'tool': ctx.node}\n\nfrom superstep import interrupt\n",
    );
    let call =
        |id: &str, name: &str, args: Json| json!({"id": id, "name": name, "args": args, "type": "tool_call"});
    let graph = json!({
        "format": "superstep/1", "name": "tools",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}, "n": {}},
        "nodes": {"act": {"kind": "tools", "config": {"messages": "messages", "tools": [
            {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
             "python": {"module": "tools.py", "function": "weather"}},
            {"name": "inline", "description": "d", "parameters": {"type": "object"}, "python": {"source": "return args['x'] + state['n']"}},
        ]}}},
        "edges": [{"from": "__start__", "to": "act"}, {"from": "act", "to": "__end__"}],
    });
    let graph = build(&graph, &project.environment());
    let input = json!({"n": 5, "messages": [{"type": "ai", "id": "a", "content": "", "tool_calls": [
        call("1", "weather", json!({"city": "Rome"})), call("2", "weather", json!({"city": "Atlantis"})),
        call("3", "inline", json!({"x": 2})), call("4", "weather", json!({"city": "Oslo"})),
    ]}]});
    let (events, done) = run(&graph, Input::value(Value::from(input)), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!("which Oslo?"));
    assert!(
        customs(&events).contains(&value!({"log": "asked Rome", "tool": "weather"})),
        "{events:?}"
    );
    let (_, done) = run(&graph, Input::answer(value!("the big one")), &[]).await;
    let answers = done.unwrap().value;
    let answers: Vec<Json> = answers
        .get("messages")
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(Json::from)
        .collect();
    let contents: Vec<&str> = answers
        .iter()
        .map(|answer| answer["content"].as_str().unwrap())
        .collect();
    assert_eq!(
        contents,
        [
            r#"{"city":"Rome","unit":"C","n":5,"tool":"weather"}"#,
            "Error: the code failed in tools.py, line 4: LookupError: it has sunk.",
            "7",
            r#"{"city":"the big one","unit":"C","n":5,"tool":"weather"}"#,
        ]
    );
}

fn problems(environment: &Environment, config: Json) -> Vec<(&'static str, Option<String>)> {
    let document = document(&one_node(json!({"n": {}}), "code", config));
    let found: Vec<Diagnostic> = Registry::standard().check_in(&document, environment);
    found
        .into_iter()
        .map(|problem| (problem.code, problem.pointer))
        .collect()
}

#[tokio::test]
async fn python_is_declared_asked_for_and_missed_with_a_remedy() {
    let project = Project::new();
    project.write("w.py", "def node(state):\n    return {}\n");
    let config = json!({"language": "python", "module": "w.py", "function": "node", "variables": ["TOKEN"]});
    let document = document(&one_node(json!({"n": {}}), "code", config.clone()));
    let registry = Registry::standard();
    let accesses = registry.accesses(&document, &project.environment());
    let wanted = &accesses["node:n"];
    assert!(wanted.contains(&Access::Variable("TOKEN".into())), "{wanted:?}");
    assert!(
        wanted
            .iter()
            .any(|access| matches!(access, Access::Program(name) if name.starts_with("python"))),
        "{wanted:?}"
    );
    let denied = project.environment().with_grants(Grants::none());
    let built = registry.build(&document, &denied).unwrap().graph;
    let error = built
        .invoke(Input::value(value!({"n": 0})), RunConfig::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("AccessDenied") && error.contains("the program python"),
        "{error}"
    );

    let pointer = |at: &str| Some(format!("/config{at}"));
    assert_eq!(
        problems(&project.environment(), config),
        [("missing-variable", pointer("/variables"))]
    );
    let nowhere = project
        .environment()
        .with_variables(|name| (name == INTERPRETER).then(|| "/no/such/python".to_owned()));
    assert_eq!(
        problems(&nowhere, json!({"language": "python", "source": "return"})),
        [("python-missing", pointer(""))]
    );
    for (config, code, at) in [
        (json!({"language": "python"}), "missing-setting", "/source"),
        (
            json!({"language": "python", "module": "w.py"}),
            "missing-setting",
            "/function",
        ),
        (
            json!({"language": "python", "module": "v.py", "function": "f"}),
            "missing-module",
            "/module",
        ),
        (
            json!({"language": "python", "module": "../w.py", "function": "f"}),
            "missing-module",
            "/module",
        ),
        (
            json!({"language": "python", "module": "w.py", "function": "other"}),
            "missing-function",
            "/function",
        ),
        (
            json!({"language": "python", "module": "w.py", "function": "node", "source": "return"}),
            "python-twice",
            "/module",
        ),
        (
            json!({"source": "return", "module": "w.py"}),
            "unknown-setting",
            "/module",
        ),
    ] {
        assert_eq!(
            problems(&project.environment(), config.clone()),
            [(code, pointer(at))],
            "{config}"
        );
    }
}

#[tokio::test]
async fn functions_written_for_langgraph_work_as_they_are() {
    let Some(python) = langgraph() else { return };
    let project = Project::new();
    project.write(
        "agent/nodes.py",
        r#"
from typing import Annotated, Literal
from typing_extensions import TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store, get_stream_writer
from langgraph.func import task
from langgraph.graph import add_messages
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    said: list


class Model(BaseModel):
    said: list = []


@task
def slow(text: str) -> AIMessage:
    get_stream_writer()({"slow": text})
    return AIMessage(content=text.upper(), id="slow")


def review(state: State, config: RunnableConfig, *, store: BaseStore) -> Command[Literal["tail"]]:
    assert isinstance(state["messages"][-1], HumanMessage), state
    writer = get_stream_writer()
    writer({"thread": config["configurable"]["thread_id"]})
    store.put(("users", "ada"), "diet", {"text": "no meat"})
    assert get_store().get(("users", "ada"), "diet").value == {"text": "no meat"}
    assert [i.key for i in store.search(("users",), filter={"text": "no meat"})] == ["diet"]
    assert store.list_namespaces(prefix=("users",)) == [("users", "ada")]
    made = slow("draft").result()
    assert isinstance(made, AIMessage)
    answer = interrupt({"question": "ok?", "draft": made.content})
    again = interrupt("really?")
    return Command(
        update={"messages": [made, AIMessage(f"{answer}/{again}", id="said"), RemoveMessage(id="h1")]},
        goto=[Send("tail", {"part": n}) for n in (1, 2)],
    )


async def tail(state: dict, runtime: Runtime) -> dict:
    assert get_runtime().execution_info.run_id == runtime.execution_info.run_id
    runtime.stream_writer({"tail": state["part"]})
    await runtime.store.aput(("parts",), str(state["part"]), {"n": state["part"]})
    return {"said": [state["part"]]}
"#,
    );
    let node = |function: &str| json!({"kind": "code", "config": {"language": "python", "module": "agent/nodes.py", "function": function}});
    let environment = project
        .environment()
        .with_variables(move |name| (name == INTERPRETER).then(|| python.display().to_string()));
    let graph = build(
        &json!({
            "format": "superstep/1", "name": "c",
            "state": {"messages": {"type": "array", "reducer": "add_messages"}, "said": {"type": "array", "reducer": "append"}},
            "nodes": {"review": node("review"), "tail": node("tail")},
            "edges": [{"from": "__start__", "to": "review"}, {"from": "review", "to": "tail", "when": "false"}, {"from": "tail", "to": "__end__"}],
        }),
        &environment,
    );
    let graph = graph.with_store(std::sync::Arc::new(MemoryStore::new()));
    let input = value!({"messages": [{"type": "human", "content": "hi", "id": "h1"}], "said": []});
    let (events, done) = run(&graph, Input::value(input), &[StreamMode::Custom]).await;
    let done = done.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        done.interrupts[0].value,
        value!({"question": "ok?", "draft": "DRAFT"})
    );
    assert_eq!(
        customs(&events),
        [value!({"thread": "t"}), value!({"slow": "draft"})]
    );
    let (events, done) = run(&graph, Input::answer(value!("yes")), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!("really?"));
    assert_eq!(
        customs(&events),
        [value!({"thread": "t"})],
        "the task is not done again"
    );
    let (events, done) = run(&graph, Input::answer(value!("sure")), &[StreamMode::Custom]).await;
    let value = done.unwrap().value;
    assert_eq!(value.get("said"), Some(&value!([1, 2])));
    let messages = value.get("messages").unwrap();
    let shown: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m.get("id").cloned().unwrap(), m.get("content").cloned().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            (value!("slow"), value!("DRAFT")),
            (value!("said"), value!("yes/sure"))
        ]
    );
    assert_eq!(customs(&events).len(), 3);
}

#[tokio::test]
async fn chat_models_of_langchain_are_streamed_while_they_answer() {
    let Some(python) = langgraph() else { return };
    let project = Project::new();
    project.write(
        "models.py",
        r#"
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage


def model(text):
    return GenericFakeChatModel(messages=iter([AIMessage(text)]))


def sync(state):
    return {"messages": [model("one two three").invoke("x")]}


async def later(state, config):
    quiet = model("not for you").with_config(tags=["nostream"])
    assert (await quiet.ainvoke("x")).content == "not for you"
    said = ""
    async for piece in model("four five").astream("x", config):
        said += piece.content
    return {"messages": [AIMessage(said)]}


def letters(state):
    return {"messages": [FakeListChatModel(responses=["abc"]).invoke("x")]}


def whole(state):
    return {"messages": [model("at once").invoke("x", stream=False)]}
"#,
    );
    for (function, text, least) in [
        ("sync", "one two three", 5),
        ("later", "four five", 3),
        ("letters", "abc", 3),
        ("whole", "at once", 1),
    ] {
        let python = python.clone();
        let environment = project
            .environment()
            .with_variables(move |name| (name == INTERPRETER).then(|| python.display().to_string()));
        let graph = build(
            &one_node(
                json!({"messages": {"type": "array", "reducer": "add_messages"}}),
                "code",
                json!({"language": "python", "module": "models.py", "function": function}),
            ),
            &environment,
        );
        let input = || Input::value(value!({"messages": []}));
        let (events, done) = run(&graph, input(), &[StreamMode::Messages]).await;
        let done = done.unwrap_or_else(|error| panic!("{function}: {error}"));
        // What was sent in pieces is sent once more as a whole, as by every model; what was not, only that once.
        let kind = if function == "whole" {
            "ai"
        } else {
            "AIMessageChunk"
        };
        let mut pieces = crate::support::tokens(&events);
        pieces.retain(|piece| piece.get("type").and_then(Value::as_str) == Some(kind));
        let content: String = pieces
            .iter()
            .filter_map(|piece| piece.get("content").and_then(Value::as_str))
            .collect();
        assert_eq!(content, text, "{function}: {pieces:?}");
        assert!(pieces.len() >= least, "{function}: {pieces:?}");
        assert!(
            pieces.iter().all(|piece| piece.get("id") == pieces[0].get("id")),
            "{function}: one answer has one name: {pieces:?}"
        );
        let messages = done.value.get("messages").unwrap().as_array().unwrap().clone();
        assert_eq!(
            messages.get(0).unwrap().get("content"),
            Some(&text.into()),
            "{function}"
        );
        let (events, done) = run(&graph, input(), &[StreamMode::Updates]).await;
        assert!(
            done.is_ok() && crate::support::tokens(&events).is_empty(),
            "{function}"
        );
    }
}

#[tokio::test]
async fn a_function_reads_the_run_context() {
    let project = Project::new();
    let source = "def work(state, context, ctx, runtime):\n    \
        return {'said': [context['user'], context['node'], ctx.user['user'], runtime.context['user']]}";
    let graph = project.graph(json!({"said": {}}), json!({"source": source}));
    let config = RunConfig::on("1").context(value!({"user": "ada"}));
    let done = graph.invoke(Input::value(value!({})), config).await.unwrap();
    assert_eq!(done.value, value!({"said": ["ada", "n", "ada", "ada"]}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorded_run_notes_the_keys_that_functions_look_at() {
    let project = Project::new();
    let typed = "from dataclasses import dataclass\n\n@dataclass\nclass Part:\n    b: object\n\n\
                 def node(state: Part):\n    return {'out': state.b}\n";
    project.write("typed.py", typed);
    let all = KeysRead::All;
    let keys = |names: &[&str]| KeysRead::Keys(names.iter().map(|name| (*name).into()).collect());
    let expected = [
        (
            "members",
            "return {'out': state['b'][0] + state.get('a')}",
            keys(&["b", "a"]),
        ),
        (
            "asked",
            "return {'out': 'a' in state and state.get('absent', 3)}",
            keys(&["a", "absent"]),
        ),
        ("written", "state['out'] = 5\nreturn {}", keys(&[])),
        (
            "later",
            "import asyncio\nawait asyncio.sleep(0)\nreturn {'out': state['c']}",
            keys(&["c"]),
        ),
        ("listed", "return {'out': len(state)}", all.clone()),
        (
            "copied",
            "import copy, json\nreturn {'out': copy.deepcopy(state)['a']}",
            all.clone(),
        ),
        (
            "printed",
            "import json\nreturn {'out': json.loads(json.dumps(state))['a']}",
            all.clone(),
        ),
        ("taken_apart", "return {'out': {**state}['a']}", all.clone()),
        ("spread", "return dict(state, out=1)", all),
        ("none", "return {'out': 1}", keys(&[])),
    ];
    let mut nodes = serde_json::Map::new();
    let mut edges = vec![json!({"from": "__start__", "to": "typed"})];
    nodes.insert(
        "typed".to_owned(),
        json!({"kind": "code", "config": {"language": "python", "module": "typed.py", "function": "node"}}),
    );
    let mut from = "typed";
    for (name, source, _) in &expected {
        let config = json!({"language": "python", "source": source});
        nodes.insert((*name).to_owned(), json!({"kind": "code", "config": config}));
        edges.push(json!({"from": from, "to": name}));
        from = name;
    }
    let state = json!({"a": {}, "b": {}, "c": {}, "out": {}});
    let file = json!({"format": "superstep/1", "state": state, "nodes": nodes, "edges": edges});
    let saver = Arc::new(MemorySaver::new());
    let graph = build(&file, &project.environment()).with_checkpointer(saver.clone());
    let input = || Input::value(value!({"a": 1, "b": [2], "c": 3, "out": null}));
    let plain = graph.invoke(input(), RunConfig::on("plain")).await;
    let done = graph.invoke(input(), RunConfig::on("t").record(true)).await;
    assert_eq!(
        done.unwrap().value,
        plain.unwrap().value,
        "recording changes nothing"
    );
    let found = records(&saver, &graph, "t").await;
    assert_eq!(found["typed"].reads, keys(&["b"]), "the fields of the data class");
    for (node, _, reads) in &expected {
        assert_eq!(found[*node].reads, *reads, "{node}");
    }
}
