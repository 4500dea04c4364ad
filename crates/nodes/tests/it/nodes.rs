//! Each kind in a run of the engine.

use serde_json::json;
use superstep::run::RunStatus;
use superstep::stream::Payload;
use superstep::{Input, RunConfig, RunError, StreamMode, Value, json as value};
use superstep_nodes::Environment;

use crate::support::{build, failure, no_keys, one_node, run, tokens, value as result};

#[tokio::test]
async fn assign_sets_keys_from_expressions_and_literals() {
    let graph = one_node(
        json!({"n": {"type": "integer"}, "list": {"type": "array", "reducer": "append"}, "o": {"type": "object"}, "t": {"type": "string"}}),
        "assign",
        json!({"set": {"n": "state.n + 1", "list": ["literal", 1], "o": {"k": null}, "t": "'n was ' ~ state.n"}}),
    );
    assert_eq!(
        result(&graph, value!({"n": 1})).await,
        value!({"n": 2, "list": ["literal", 1], "o": {"k": null}, "t": "n was 1"})
    );
    let text = failure(&graph, value!({})).await;
    assert!(
        text.contains("ExpressionError")
            && text.contains("`set.n` of node n")
            && text.contains("`state.n` has no value"),
        "{text}"
    );
}

#[tokio::test]
async fn channels_of_a_document_are_channels_of_the_engine() {
    let graph = json!({
        "format": "superstep/1", "name": "channels",
        "state": {
            "queue": {"type": "array", "items": {"type": "string"}, "channel": "topic"},
            "flag": {"channel": "any"},
            "link": {"type": "object", "channel": "untracked"},
            "seen": {"type": "array", "reducer": "append"},
        },
        "nodes": {
            "a": {"kind": "assign", "config": {"set": {"queue": "'x'", "flag": "1", "link": {"up": true}}}},
            "b": {"kind": "assign", "config": {"set": {"queue": ["y", "z"], "flag": "2"}}},
            "c": {"kind": "assign", "config": {"set": {"seen": "[state.queue, state.flag, state.link]"}}},
        },
        "edges": [
            {"from": "__start__", "to": "a"},
            {"from": "__start__", "to": "b"},
            {"from": ["a", "b"], "to": "c"},
        ],
    });
    assert_eq!(
        result(&graph, value!({})).await,
        value!({"link": {"up": true}, "seen": [["x", "y", "z"], 2, {"up": true}]})
    );
}

#[tokio::test]
async fn updates_are_held_against_the_types_of_the_state() {
    let graph = one_node(
        json!({"n": {"type": "integer"}}),
        "assign",
        json!({"set": {"n": "'three'"}}),
    );
    let text = failure(&graph, value!({})).await;
    assert!(
        text.starts_with("Node `n` wrote `n`: expected integer, found \"three\" of type string"),
        "{text}"
    );
    let graph = one_node(
        json!({"total": {}}),
        "code",
        json!({"source": "return {totel: 1}"}),
    );
    let text = failure(&graph, value!({"total": 0})).await;
    assert!(text.contains("Did you mean `total`?"), "{text}");
}

#[tokio::test]
async fn every_reducer_of_the_document_works() {
    let graph = one_node(
        json!({
            "over": {}, "add": {"type": "integer", "reducer": "add"}, "mul": {"type": "number", "reducer": "multiply", "default": 2},
            "min": {"type": "integer", "reducer": "min"}, "max": {"type": "integer", "reducer": "max"},
            "and": {"type": "boolean", "reducer": "and"}, "or": {"type": "boolean", "reducer": "or"},
            "app": {"type": "array", "reducer": "append"}, "mer": {"type": "object", "reducer": "merge"},
            "uni": {"type": "array", "reducer": "union"}, "msg": {"type": "array", "reducer": "add_messages"},
            "def": {"type": "string", "default": "kept"}
        }),
        "assign",
        json!({"set": {"over": 1, "add": 2, "mul": 3, "min": 4, "max": 5, "and": false, "or": true, "app": 6, "mer": {"b": 2}, "uni": ["x", "y"], "msg": {"type": "human", "content": "hi", "id": "1"}}}),
    );
    let input = value!({"over": 0, "add": 1, "min": 9, "max": 9, "and": true, "or": false, "app": [5], "mer": {"a": 1}, "uni": ["x"]});
    let found = result(&graph, input).await;
    for (key, expected) in [
        ("over", value!(1)),
        ("add", value!(3)),
        ("mul", value!(6)),
        ("min", value!(4)),
        ("max", value!(9)),
        ("and", value!(false)),
        ("or", value!(true)),
        ("app", value!([5, 6])),
        ("mer", value!({"a": 1, "b": 2})),
        ("uni", value!(["x", "y"])),
        ("def", value!("kept")),
    ] {
        assert_eq!(found.get(key), Some(&expected), "{key}");
    }
    assert_eq!(
        found.get("msg").unwrap().at(0).unwrap().get("content"),
        Some(&value!("hi"))
    );
}

#[tokio::test]
async fn code_runs_logs_and_fails_with_its_line() {
    let graph = one_node(
        json!({"n": {"type": "integer"}}),
        "code",
        json!({"source": "console.log('n is', state.n);\nconsole.warn('large');\nreturn {n: state.n * 2};"}),
    );
    let built = build(&graph, &no_keys());
    let (events, done) = run(&built, Input::value(value!({"n": 21})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().value, value!({"n": 42}));
    let logged: Vec<Value> = events
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::Custom(value, _) => Some(value.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        logged,
        [
            value!({"log": "n is 21", "node": "n"}),
            value!({"log": "large", "node": "n", "level": "warn"}),
        ]
    );

    let graph = one_node(
        json!({"n": {}}),
        "code",
        json!({"source": "const a = 1;\nstate.n.x.y;"}),
    );
    let text = failure(&graph, value!({"n": {}})).await;
    assert!(
        text.contains("CodeError") && text.contains("(line 2)") && text.contains("TypeError"),
        "{text}"
    );
    let graph = one_node(
        json!({"n": {}}),
        "code",
        json!({"source": "while (true) {}", "timeout_ms": 20}),
    );
    let text = failure(&graph, value!({"n": 1})).await;
    assert!(text.contains("stopped after 20 ms"), "{text}");
}

#[tokio::test]
async fn a_running_program_is_cancelled() {
    let graph = one_node(
        json!({"n": {}}),
        "code",
        json!({"source": "console.log('started'); while (true) {}", "timeout_ms": 60000}),
    );
    let built = build(&graph, &no_keys());
    let mut stream = built.stream(
        Input::value(value!({"n": 1})),
        RunConfig::on("t").modes([StreamMode::Custom]),
    );
    stream.next().await.expect("the program has started");
    stream.cancel();
    assert!(
        matches!(stream.finish().await, Err(RunError::Cancelled)),
        "long before its time limit"
    );
}

#[tokio::test(start_paused = true)]
async fn scripted_answers_stream_word_by_word_and_are_marked() {
    let graph = one_node(
        json!({"mood": {"type": "string"}, "messages": {"type": "array", "reducer": "add_messages"}}),
        "model",
        json!({"model": "scripted", "into": "messages", "script": [
            {"when": "state.mood == 'good'", "say": "What a {{ state.mood }} day"}, {"say": "Oh dear"}]}),
    );
    let built = build(&graph, &no_keys());
    let (events, done) = run(
        &built,
        Input::value(value!({"mood": "good"})),
        &[StreamMode::Messages],
    )
    .await;
    let chunks = tokens(&events);
    let words: Vec<&str> = chunks
        .iter()
        .filter(|c| c.get("type").and_then(Value::as_str) == Some("AIMessageChunk"))
        .map(|chunk| chunk.get("content").unwrap().as_str().unwrap())
        .collect();
    assert_eq!(words, ["What ", "a ", "good ", "day"]);
    let message = done
        .unwrap()
        .value
        .get("messages")
        .unwrap()
        .at(0)
        .unwrap()
        .clone();
    assert_eq!(message.get("content"), Some(&value!("What a good day")));
    assert_eq!(
        message.get("response_metadata").unwrap().get("provider"),
        Some(&value!("scripted"))
    );
    assert_eq!(
        message.get("id"),
        chunks[0].get("id"),
        "the message keeps the id of its chunks"
    );
    let (_, other) = run(
        &build(&graph, &no_keys()),
        Input::value(value!({"mood": "bad"})),
        &[],
    )
    .await;
    assert_eq!(
        other
            .unwrap()
            .value
            .get("messages")
            .unwrap()
            .at(0)
            .unwrap()
            .get("content"),
        Some(&value!("Oh dear"))
    );
}

#[tokio::test]
async fn a_scripted_answer_is_interrupted_by_cancelling() {
    let graph = one_node(
        json!({"a": {"type": "string"}}),
        "model",
        json!({"model": "scripted", "into": "a", "pace_ms": 1000, "script": [{"say": "one two three four five six seven"}]}),
    );
    let built = build(&graph, &no_keys());
    let mut stream = built.stream(
        Input::value(value!({})),
        RunConfig::on("t").modes([StreamMode::Messages]),
    );
    stream.next().await.expect("the first word");
    stream.cancel();
    assert!(matches!(stream.finish().await, Err(RunError::Cancelled)));
}

#[tokio::test]
async fn no_line_for_the_state_is_an_error() {
    let graph = one_node(
        json!({"a": {"type": "string"}}),
        "model",
        json!({"model": "scripted", "into": "a", "script": [{"when": "false", "say": "x"}]}),
    );
    let text = failure(&graph, value!({})).await;
    assert!(text.contains("no line of the script applies"), "{text}");
}

#[tokio::test]
async fn ask_waits_refuses_and_takes_the_answer() {
    let graph = one_node(
        json!({"name": {"type": "string"}, "age": {"type": "integer"}}),
        "ask",
        json!({"question": "How old is {{ state.name }}?", "answer": {"type": "integer", "minimum": 0}, "context": ["name"], "into": "age"}),
    );
    let built = build(&graph, &no_keys());
    let first = built
        .invoke(Input::value(value!({"name": "Ada"})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(first.status, RunStatus::Interrupted);
    assert_eq!(
        first.interrupts[0].value,
        value!({"question": "How old is Ada?", "schema": {"type": "integer", "minimum": 0}, "choices": [], "context": {"name": "Ada"}})
    );
    let second = built.invoke(Input::answer(-1), RunConfig::on("t")).await.unwrap();
    let refused = second.interrupts[0]
        .value
        .get("refused")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    assert!(refused.contains("-1 is less than the minimum of 0"), "{refused}");
    assert_ne!(
        second.interrupts[0].id, first.interrupts[0].id,
        "it is a new question"
    );
    let third = built
        .invoke(Input::answer("old"), RunConfig::on("t"))
        .await
        .unwrap();
    assert!(
        third.interrupts[0]
            .value
            .get("refused")
            .unwrap()
            .as_str()
            .unwrap()
            .contains("\"old\"")
    );
    let done = built.invoke(Input::answer(36), RunConfig::on("t")).await.unwrap();
    assert_eq!(
        (done.status, done.value),
        (RunStatus::Done, value!({"name": "Ada", "age": 36}))
    );
}

#[tokio::test]
async fn choices_alone_make_the_schema() {
    let graph = one_node(
        json!({"go": {"type": "string"}}),
        "ask",
        json!({"question": "Go?", "choices": [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no", "description": "Stops"}], "into": "go"}),
    );
    let built = build(&graph, &no_keys());
    let asked = built
        .invoke(Input::value(value!({"go": ""})), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(
        asked.interrupts[0].value.get("schema"),
        Some(&value!({"enum": ["yes", "no"]}))
    );
    assert_eq!(
        asked.interrupts[0].value.get("choices"),
        Some(
            &value!([{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no", "description": "Stops"}])
        )
    );
    let refused = built
        .invoke(Input::answer("maybe"), RunConfig::on("t"))
        .await
        .unwrap();
    assert_eq!(refused.status, RunStatus::Interrupted);
    assert_eq!(
        built
            .invoke(Input::answer("no"), RunConfig::on("t"))
            .await
            .unwrap()
            .value,
        value!({"go": "no"})
    );
}

#[tokio::test]
async fn retrieve_searches_the_folder_beside_the_graph() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("docs")).unwrap();
    std::fs::write(dir.path().join("docs/a.md"), "# Alpha\n\nBrakes and gears.\n").unwrap();
    let graph = one_node(
        json!({"q": {"type": "string"}, "found": {"type": "array"}}),
        "retrieve",
        json!({"folder": "docs", "query": "state.q", "into": "found"}),
    );
    let built = build(&graph, &Environment::new(Some(dir.path().to_owned())));
    let done = built
        .invoke(Input::value(value!({"q": "brake"})), RunConfig::on("t"))
        .await
        .unwrap();
    let hit = done.value.get("found").unwrap().at(0).unwrap().clone();
    assert_eq!(
        (hit.get("path"), hit.get("title")),
        (Some(&value!("a.md")), Some(&value!("Alpha")))
    );
    assert!(hit.get("score").unwrap().as_f64().is_some());
    let text = failure(&graph, value!({"q": "brake"})).await;
    assert!(
        text.contains("SearchError") && text.contains("Save it first"),
        "{text}"
    );
}

fn routed(route: &str, default: Option<&str>) -> serde_json::Value {
    let mut edge = json!({"from": "n", "route": route, "paths": {"a": "left", "b": "right"}});
    if let Some(default) = default {
        edge["default"] = default.into();
    }
    json!({
        "format": "superstep/1", "name": "r",
        "state": {"x": {}, "log": {"type": "array", "reducer": "append"}},
        "nodes": {
            "n": {"kind": "assign", "config": {"set": {"log": ["n"]}}},
            "left": {"kind": "assign", "config": {"set": {"log": ["left"]}}},
            "right": {"kind": "assign", "config": {"set": {"log": ["right"]}}}
        },
        "edges": [{"from": "__start__", "to": "n"}, edge, {"from": "left", "to": "__end__"}, {"from": "right", "to": "__end__"}],
    })
}

#[tokio::test]
async fn routes_follow_labels_lists_and_defaults() {
    let log = |value: Value| value.get("log").unwrap().clone();
    assert_eq!(
        log(result(&routed("state.x", None), value!({"x": "b"})).await),
        value!(["n", "right"])
    );
    assert_eq!(
        log(result(&routed("state.x", None), value!({"x": ["a", "b"]})).await),
        value!(["n", "left", "right"])
    );
    assert_eq!(
        log(result(&routed("state.x", None), value!({"x": []})).await),
        value!(["n"])
    );
    assert_eq!(
        log(result(&routed("state.x", Some("left")), value!({"x": "zzz"})).await),
        value!(["n", "left"])
    );
    assert_eq!(
        log(result(&routed("state.x", Some("__end__")), value!({"x": "zzz"})).await),
        value!(["n"])
    );
    assert_eq!(
        log(result(
            &routed("'a' if (state.log|last) == 'n' else 'b'", None),
            value!({"x": 1})
        )
        .await),
        value!(["n", "left"]),
        "a route sees what its source wrote"
    );
    let text = failure(&routed("state.x", None), value!({"x": "c"})).await;
    assert!(
        text.contains("RouteError")
            && text.contains("edge n->?")
            && text.contains("`c`")
            && text.contains("`a`, `b`"),
        "{text}"
    );
    let text = failure(&routed("state.x", None), value!({"x": {"no": 1}})).await;
    assert!(text.contains("a label or a list of labels"), "{text}");
}

#[tokio::test]
async fn each_sends_a_packet_per_item() {
    let graph = json!({
        "format": "superstep/1", "name": "e",
        "state": {"items": {"type": "array"}, "factor": {"type": "integer"}, "out": {"type": "array", "reducer": "append"}},
        "nodes": {"w": {"kind": "code", "config": {"source": "return {out: {got: state.it * state.f, keys: Object.keys(state), label: state.label}}"}}},
        "edges": [
            {"from": "__start__", "each": "state.items", "as": "it", "to": "w", "with": {"f": "state.factor", "label": "'no. ' ~ it"}},
            {"from": "w", "to": "__end__"}
        ],
    });
    let found = result(&graph, value!({"items": [1, 2, 3], "factor": 10})).await;
    let keys = value!(["it", "f", "label"]);
    let expected = value!([
        {"got": 10, "keys": ["it", "f", "label"], "label": "no. 1"}, {"got": 20, "keys": ["it", "f", "label"], "label": "no. 2"},
        {"got": 30, "keys": ["it", "f", "label"], "label": "no. 3"}]);
    assert_eq!(
        found.get("out"),
        Some(&expected),
        "in the order of the items; a packet holds {keys} and nothing else"
    );
    let text = failure(&graph, value!({"items": "abc", "factor": 1})).await;
    assert!(
        text.contains("must give a list") || text.contains("expected array"),
        "{text}"
    );
}

/// A node that fails once per run, with what it says about how it is run.
fn shaky(fields: &serde_json::Value) -> serde_json::Value {
    let mut node = serde_json::json!({"kind": "code", "config": {"source": "throw new Error('no')"}});
    node.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    serde_json::json!({
        "format": "superstep/1", "name": "shaky",
        "state": {"text": {"type": "string"}, "error": {"type": "object"}},
        "nodes": {
            "n": node,
            "other": {"kind": "assign", "config": {"set": {"text": "'other'"}}},
            "sorry": {"kind": "assign", "config": {"set": {"text": "'sorry: ' ~ state.error.class"}}}
        },
        "edges": [{"from": "__start__", "to": "n"}, {"from": "n", "to": "__end__"}],
    })
}

#[tokio::test]
async fn a_fallback_of_the_document_takes_over() {
    let cases = [
        (
            serde_json::json!({"fallback": {"value": {"text": "value"}}}),
            "value",
        ),
        (
            serde_json::json!({"fallback": {"node": "other"}, "timeout": 5, "retry": 3}),
            "other",
        ),
        (
            serde_json::json!({"fallback": {"to": "sorry", "into": "error"}}),
            "sorry: CodeError",
        ),
    ];
    for (fields, text) in cases {
        let graph = build(&shaky(&fields), &no_keys());
        let input = superstep::Input::value(superstep::json!({}));
        let result = graph.invoke(input, superstep::RunConfig::on("1")).await.unwrap();
        assert_eq!(
            result.value.get("text").and_then(Value::as_str),
            Some(text),
            "{fields}"
        );
    }
}

#[test]
fn a_fallback_writes_keys_that_exist() {
    let graph = shaky(&serde_json::json!({"fallback": {"value": {"txt": 1}}, "cache": {"key": "state.("}}));
    let problems = superstep_nodes::Registry::standard().check(&crate::support::document(&graph));
    let found: Vec<_> = problems
        .iter()
        .map(|p| (p.code, p.pointer.as_deref().unwrap_or_default()))
        .collect();
    assert!(
        found.contains(&("unknown-key", "/fallback/value/txt")),
        "{found:?}"
    );
    assert!(found.contains(&("expression-syntax", "/cache/key")), "{found:?}");
}

#[tokio::test]
async fn code_reaches_the_store() {
    let source = "const who = ['users', state.user];
        const before = await store.get(who, 'visits');
        await store.put(who, 'visits', {n: (before ? before.value.n : 0) + 1, text: 'likes tea'});
        await store.put(who, 'draft', {}, {index: false, ttl: null});
        await store.delete(who, 'draft');
        const found = await store.search('users', {query: 'tea', filter: {n: {$gt: 0}}});
        return {found: found.map(item => [item.namespace[1], item.value.n]), names: await store.listNamespaces({maxDepth: 1})}";
    let state = json!({"user": {"type": "string"}, "found": {"type": "array"}, "names": {"type": "array"}});
    let graph = build(&one_node(state, "code", json!({"source": source})), &no_keys());
    let store: std::sync::Arc<dyn superstep::Store> = std::sync::Arc::new(superstep::MemoryStore::new());
    let graph = graph.with_store(store.clone());
    let run = async |user: &str, thread: &str| {
        let input = Input::value(value!({"user": user}));
        graph.invoke(input, RunConfig::on(thread)).await.unwrap().value
    };
    run("ada", "1").await;
    run("bob", "2").await;
    let value = run("ada", "3").await;
    assert_eq!(
        value.get("found"),
        Some(&value!([["ada", 2], ["bob", 1]])),
        "threads share it"
    );
    assert_eq!(value.get("names"), Some(&value!([["users"]])));
    assert!(store.get(&["users", "ada"], "draft").await.unwrap().is_none());

    let refused = "await store.put(['a.b'], 'k', {})";
    let graph = build(
        &one_node(
            json!({"x": {"type": "string"}}),
            "code",
            json!({"source": refused}),
        ),
        &no_keys(),
    );
    let graph = graph.with_store(store);
    let error = graph
        .invoke(Input::value(value!({"x": ""})), RunConfig::on("4"))
        .await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("labels without periods") && error.contains("line 1"),
        "{error}"
    );
}
