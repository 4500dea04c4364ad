//! Router, map, delay, note, store and memory, as documents use them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::run::RunStatus;
use superstep::stream::Payload;
use superstep::{Graph, Input, MemorySaver, MemoryStore, RunConfig, StreamMode, Value};
use superstep_nodes::{Environment, Registry, kinds};

use crate::support::{build, document, failure, no_keys, one_node, run, value};

fn codes(json: &Json) -> Vec<String> {
    let document = document_with_problems(json);
    let mut found: Vec<String> = document
        .validate()
        .into_iter()
        .chain(Registry::standard().check(&document))
        .map(|problem| format!("{} {}", problem.code, problem.pointer.unwrap_or_default()))
        .collect();
    found.sort();
    found
}

fn document_with_problems(json: &Json) -> superstep_document::Document {
    superstep_document::Document::parse(&json.to_string()).0
}

#[tokio::test]
async fn a_router_writes_the_label_that_an_edge_follows() {
    let router = |config: Json| {
        json!({
            "format": "superstep/1", "name": "routed",
            "state": {"n": {"type": "integer"}, "way": {"type": "string", "enum": ["small", "large", "odd"]}, "out": {"type": "string"}},
            "nodes": {
                "choose": {"kind": "router", "config": config},
                "a": {"kind": "assign", "config": {"set": {"out": "'went small'"}}},
                "b": {"kind": "assign", "config": {"set": {"out": "'went large'"}}},
            },
            "edges": [
                {"from": "__start__", "to": "choose"},
                {"from": "choose", "route": "state.way", "paths": {"small": "a", "large": "b", "odd": "__end__"}},
                {"from": "a", "to": "__end__"}, {"from": "b", "to": "__end__"},
            ],
        })
    };
    let ways =
        json!([{"label": "small", "when": "state.n < 10"}, {"label": "large", "when": "state.n >= 100"}]);
    let by_conditions = router(json!({"ways": ways, "otherwise": "odd", "into": "way"}));
    assert_eq!(codes(&by_conditions), Vec::<String>::new());
    for (n, out) in [(3, Some("went small")), (300, Some("went large")), (30, None)] {
        let end = value(&by_conditions, superstep::json!({"n": n})).await;
        assert_eq!(end.get("out").and_then(Value::as_str), out, "{n}");
    }
    let strict = router(json!({"ways": ways, "into": "way"}));
    assert!(
        failure(&strict, superstep::json!({"n": 30}))
            .await
            .contains("no condition is true")
    );
    let ways = json!([{"label": "small", "description": "fewer than {% ten %}"}, {"label": "large"}]);
    let script = json!([{"when": "state.n < 10", "say": "\"small\""}, {"say": "\"huge\""}]);
    let by_model = router(json!({"ways": ways, "into": "way",
        "by_model": {"text": "{{ state.n }}", "model": "scripted", "script": script}}));
    assert_eq!(codes(&by_model), Vec::<String>::new());
    let end = value(&by_model, superstep::json!({"n": 3})).await;
    assert_eq!(end.get("out").and_then(Value::as_str), Some("went small"));
    let refused = failure(&by_model, superstep::json!({"n": 30})).await;
    assert!(
        refused.contains("ModelOutputError") && refused.contains("huge"),
        "{refused}"
    );
    // A label that looks like a number is still a label.
    let ways = json!([{"label": "1", "description": "small"}, {"label": "2"}]);
    let script = json!([{"say": "1"}]);
    let mut numbered = router(json!({"ways": ways, "into": "way",
        "by_model": {"text": "{{ state.n }}", "model": "scripted", "script": script}}));
    numbered["edges"][1]["paths"] = json!({"1": "a", "2": "b"});
    numbered["state"]["way"] = json!({"type": "string"});
    assert_eq!(codes(&numbered), Vec::<String>::new());
    let end = value(&numbered, superstep::json!({"n": 3})).await;
    assert_eq!(end.get("out").and_then(Value::as_str), Some("went small"));
    // A label that its own route does not know.
    let ways = json!([{"label": "small", "when": "state.n < 10"}, {"label": "huge", "when": "true"}]);
    let mut lost = router(json!({"ways": ways, "otherwise": "odd", "into": "way"}));
    lost["state"]["way"] = json!({"type": "string"});
    assert_eq!(codes(&lost), ["label-without-path /config/ways/1/label"]);
    assert!(
        failure(&lost, superstep::json!({"n": 30}))
            .await
            .contains("no path")
    );
    lost["edges"][1]["default"] = json!("b");
    assert_eq!(codes(&lost), Vec::<String>::new());
    let choices = json!([{"label": "Small", "value": "small"}, {"label": "Huge", "value": "huge"}]);
    let mut asked = lost.clone();
    asked["nodes"]["choose"] =
        json!({"kind": "ask", "config": {"question": "How?", "choices": choices, "into": "way"}});
    assert_eq!(codes(&asked), Vec::<String>::new());
    asked["edges"][1].as_object_mut().unwrap().remove("default");
    assert_eq!(codes(&asked), ["label-without-path /config/choices/1/value"]);
    // Edges that are followed whichever way is chosen look like the ways and are none.
    let conditions = json!([{"label": "small", "when": "state.n < 10"}, {"label": "large", "when": "true"}]);
    let mut wired = router(json!({"ways": conditions, "into": "way"}));
    wired["state"]["out"] = json!({"type": "string", "reducer": "add"});
    let every_way = ["router-every-way "];
    wired["edges"][1] = json!({"from": "choose", "to": "a"});
    assert_eq!(codes(&wired), ["unreachable-node "], "one edge is all there is");
    wired["edges"]
        .as_array_mut()
        .unwrap()
        .push(json!({"from": "choose", "to": "b"}));
    assert_eq!(codes(&wired), every_way);
    let end = value(&wired, superstep::json!({"n": 3})).await;
    assert_eq!(
        end.get("out").and_then(Value::as_str),
        Some("went smallwent large"),
        "both ran"
    );
    wired["edges"][1] =
        json!({"from": "choose", "route": "state.way", "paths": {"small": "a", "large": "b", "odd": "b"}});
    assert_eq!(codes(&wired), every_way, "beside a route");
    // What is wrong is reported where it stands.
    let wrong = router(
        json!({"ways": [{"label": "small"}, {"label": "small", "when": "state.m"}, {"label": ""}], "into": "way"}),
    );
    assert_eq!(
        codes(&wrong),
        [
            "empty-setting /config/ways/2/label",
            "into-type /config/into",
            "router-ways /config/ways/1/label",
            "router-when /config/ways/0/when",
            "unknown-key /config/ways/1/when",
        ]
    );
}

#[tokio::test]
async fn a_map_keeps_the_order_and_counts_what_failed() {
    let state =
        json!({"list": {"type": "array"}, "by": {"type": "integer", "default": 2}, "out": {}, "errors": {}});
    let map = |more: Json| {
        let mut config = json!({"items": "state.list", "into": "out"});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        one_node(state.clone(), "map", config)
    };
    let list = superstep::json!({"list": [3, 1, 2]});
    let end = value(
        &map(json!({"expression": "item * state.by", "concurrency": 2})),
        list.clone(),
    )
    .await;
    assert_eq!(end.get("out"), Some(&superstep::json!([6, 2, 4])));
    let script = json!({"javascript": "if (n === 1) throw new Error('one ' + index); return {n, by: state.by};", "as": "n"});
    let with = |more: Json| {
        let mut config = script.clone();
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        map(config)
    };
    let message = failure(&with(json!({})), list.clone()).await;
    assert!(
        message.contains("CodeError") && message.contains("item 2 of 3 failed") && message.contains("one 1"),
        "{message}"
    );
    let end = value(&with(json!({"on_error": "skip"})), list.clone()).await;
    assert_eq!(
        end.get("out"),
        Some(&superstep::json!([{"n": 3, "by": 2}, {"n": 2, "by": 2}]))
    );
    let end = value(
        &with(json!({"on_error": "collect", "errors": "errors"})),
        list.clone(),
    )
    .await;
    assert_eq!(
        end.get("out"),
        Some(&superstep::json!([{"n": 3, "by": 2}, null, {"n": 2, "by": 2}]))
    );
    let error = nth(&end, "errors", 0);
    assert_eq!(
        (error.get("index"), error.get("item")),
        (Some(&1.into()), Some(&1.into()))
    );
    let long = failure(&map(json!({"expression": "item", "max_items": 2})), list).await;
    assert!(
        long.contains("MapLimitError") && long.contains("3 items"),
        "{long}"
    );
    assert_eq!(
        value(
            &map(json!({"expression": "item"})),
            superstep::json!({"list": []})
        )
        .await
        .get("out"),
        Some(&superstep::json!([]))
    );
    assert_eq!(
        codes(&map(json!({"as": "state", "on_error": "collect"}))),
        [
            "map-does /config",
            "map-errors /config/errors",
            "map-name /config/as"
        ]
    );
    assert_eq!(
        codes(&map(json!({"javascript": "return (", "expression": "itm"}))).len(),
        3
    );
}

/// Each item runs a graph of its own; one of them asks, one fails at first, and what is done is not done again.
#[tokio::test]
async fn a_map_of_graphs_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let inner = json!({
        "format": "superstep/1", "name": "inner", "state": {"item": {}, "doubled": {}, "sure": {"type": "string"}},
        "nodes": {
            "double": {"kind": "assign", "config": {"set": {"doubled": "state.item * 2"}}},
            "ask": {"kind": "ask", "config": {"question": "Sure about {{ state.item }}?", "into": "sure"}},
        },
        "edges": [
            {"from": "__start__", "to": "double"},
            {"from": "double", "to": "ask", "when": "state.item == 2"},
            {"from": "double", "to": "__end__", "when": "state.item != 2"},
            {"from": "ask", "to": "__end__"},
        ],
    });
    std::fs::write(folder.path().join("inner.json"), inner.to_string()).unwrap();
    let config = json!({"items": "[1, 2, 3]", "graph": "inner.json", "take": "result.doubled ~ result.sure|default('')", "into": "out"});
    let outer = one_node(json!({"out": {}}), "map", config);
    let environment = Environment::new(Some(folder.path().to_owned()));
    let registry = Registry::standard();
    assert_eq!(registry.check_in(&document(&outer), &environment), []);
    let graph = registry
        .build(&document(&outer), &environment)
        .unwrap()
        .graph
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let (_, first) = run(&graph, Input::Value(superstep::json!({})), &[]).await;
    let first = first.unwrap();
    assert_eq!(
        (first.status, first.interrupts.len()),
        (RunStatus::Interrupted, 1)
    );
    assert_eq!(
        first.interrupts[0].value.get("question").and_then(Value::as_str),
        Some("Sure about 2?")
    );
    let (events, second) = run(&graph, Input::answer("!"), &[StreamMode::Tasks]).await;
    assert_eq!(
        second.unwrap().value.get("out"),
        Some(&superstep::json!(["2", "4!", "6"]))
    );
    let begun = events
        .iter()
        .filter(|event| matches!(&event.payload, Payload::TaskStart(start) if &*start.name == "double"));
    assert_eq!(begun.count(), 0, "what had finished is not begun again");
    // The item has to have a place in the graph.
    let lost = one_node(
        json!({"out": {}}),
        "map",
        json!({"items": "[1]", "as": "file", "graph": "inner.json", "into": "out"}),
    );
    let problems = registry.check_in(&document(&lost), &environment);
    assert_eq!(problems[0].code, "unknown-key");
}

#[tokio::test(start_paused = true)]
async fn a_delay_waits_and_can_be_cancelled() {
    let state = json!({"due": {}});
    let wait = |config: Json| one_node(state.clone(), "delay", config);
    let took = async |config: Json, input: Value| {
        let begun = tokio::time::Instant::now();
        let graph = build(&wait(config), &no_keys());
        let (events, result) = run(&graph, Input::Value(input), &[StreamMode::Custom]).await;
        (
            begun.elapsed(),
            events.len(),
            result.map(|done| done.status).map_err(|e| e.to_string()),
        )
    };
    let (time, emitted, status) = took(json!({"seconds": "30"}), superstep::json!({})).await;
    assert_eq!(status, Ok(RunStatus::Done));
    assert!(
        (29..=31).contains(&time.as_secs()) && (25..=32).contains(&emitted),
        "{time:?} {emitted}"
    );
    let (time, _, status) = took(
        json!({"until": "state.due"}),
        superstep::json!({"due": "2020-01-01T00:00:00Z"}),
    )
    .await;
    assert_eq!(
        (time, status),
        (Duration::ZERO, Ok(RunStatus::Done)),
        "a time that has passed is not waited for"
    );
    let (_, _, status) = took(
        json!({"until": "state.due"}),
        superstep::json!({"due": "tomorrow"}),
    )
    .await;
    assert!(status.unwrap_err().contains("it must give a time"));
    let (_, _, status) = took(json!({"seconds": "1e9"}), superstep::json!({})).await;
    assert!(status.unwrap_err().contains("longer than a year"));
    assert_eq!(codes(&wait(json!({}))), ["delay-time /config"]);
    assert_eq!(
        codes(&wait(json!({"seconds": "1", "until": "state.due"}))),
        ["delay-time /config/until"]
    );
    let graph = build(&wait(json!({"seconds": "3600"})), &no_keys());
    let config = RunConfig::on("t");
    let cancel = config.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cancel.cancel();
    });
    let begun = tokio::time::Instant::now();
    let result = graph
        .stream(Input::Value(superstep::json!({})), config)
        .finish()
        .await;
    assert!(
        begun.elapsed() < Duration::from_secs(7),
        "{:?} {result:?}",
        begun.elapsed()
    );
}

/// A clock that is set by hand.
#[derive(Debug, Default)]
struct Hands(AtomicUsize);

impl superstep::run::Clock for Hands {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed) as u64
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_that_was_stopped_waits_for_what_is_left() {
    let json = one_node(json!({}), "delay", json!({"seconds": "30"}));
    let saver = Arc::new(MemorySaver::new());
    let clock = Arc::new(Hands::default());
    let built = || -> Graph {
        let built = Registry::standard().build(&document(&json), &no_keys()).unwrap();
        built
            .graph
            .with_checkpointer(saver.clone())
            .with_clock(clock.clone())
    };
    clock.0.store(1_000_000, Ordering::Relaxed);
    let config = RunConfig::on("t");
    let cancel = config.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(10)).await;
        cancel.cancel();
    });
    built()
        .stream(Input::Value(superstep::json!({})), config)
        .finish()
        .await
        .ok();
    // Another process, a quarter of a minute later.
    clock.0.store(1_015_000, Ordering::Relaxed);
    let begun = tokio::time::Instant::now();
    let (_, result) = run(&built(), Input::Continue, &[]).await;
    assert_eq!(result.unwrap().status, RunStatus::Done);
    let left = begun.elapsed().as_secs();
    assert!((14..=16).contains(&left), "{left} s");
}

#[tokio::test]
async fn a_long_delay_is_put_aside_and_ends_by_itself_or_by_an_answer() {
    let json = one_node(json!({}), "delay", json!({"seconds": "100"}));
    let clock = Arc::new(Hands::default());
    let built = |saver: &Arc<MemorySaver>| -> Graph {
        let built = Registry::standard().build(&document(&json), &no_keys()).unwrap();
        built
            .graph
            .with_checkpointer(saver.clone())
            .with_clock(clock.clone())
    };
    for early in [false, true] {
        let saver = Arc::new(MemorySaver::new());
        clock.0.store(1_000_000, Ordering::Relaxed);
        let (_, result) = run(&built(&saver), Input::Value(superstep::json!({})), &[]).await;
        let result = result.unwrap();
        assert_eq!(result.status, RunStatus::Interrupted);
        let wait = &result.interrupts[0].value;
        assert!(kinds::ask::is_wait(wait), "{wait}");
        assert_eq!(kinds::ask::deadline(wait), Some(1_100_000));
        clock.0.store(1_099_999, Ordering::Relaxed);
        let (_, result) = run(&built(&saver), Input::Continue, &[]).await;
        assert_eq!(result.unwrap().status, RunStatus::Interrupted, "not yet");
        let input = match early {
            true => Input::answer(true),
            false => {
                clock.0.store(1_100_000, Ordering::Relaxed);
                Input::Continue
            }
        };
        let (_, result) = run(&built(&saver), input, &[]).await;
        assert_eq!(result.unwrap().status, RunStatus::Done, "early: {early}");
    }
}

#[tokio::test]
async fn a_note_is_no_part_of_the_graph() {
    let mut graph = one_node(json!({"a": {}}), "assign", json!({"set": {"a": "1"}}));
    graph["nodes"]["remark"] = json!({"kind": "note", "config": {"text": "# Why\n{{ not a template"}});
    assert_eq!(codes(&graph), Vec::<String>::new());
    let built = Registry::standard().build(&document(&graph), &no_keys()).unwrap();
    assert!(!format!("{:?}", built.graph).contains("remark"));
    assert_eq!(
        value(&graph, superstep::json!({})).await.get("a"),
        Some(&1.into())
    );
    graph["edges"]
        .as_array_mut()
        .unwrap()
        .push(json!({"from": "n", "to": "remark"}));
    graph["nodes"]["n"]["fallback"] = json!({"node": "remark"});
    assert_eq!(
        codes(&graph),
        ["note-in-graph /to", "unknown-target /fallback/node"]
    );
}

#[tokio::test]
async fn a_store_is_written_read_and_searched() {
    let store = Arc::new(MemoryStore::new());
    let state = json!({"user": {"type": "string"}, "text": {"type": "string"}, "out": {}});
    let go = async |config: Json, input: Value| {
        let json = one_node(state.clone(), "store", config);
        assert_eq!(codes(&json), Vec::<String>::new());
        let graph = build(&json, &no_keys()).with_store(store.clone());
        let (_, result) = run(&graph, Input::Value(input), &[]).await;
        result
            .map(|done| done.value.get("out").cloned().unwrap_or_default())
            .map_err(|e| e.to_string())
    };
    let own = json!(["users", "{{ state.user }}"]);
    for (user, key, text) in [
        ("ada", "diet", "eats no meat"),
        ("ada", "town", "lives in Oslo"),
        ("bob", "town", "lives in Rome"),
    ] {
        let put = json!({"do": "put", "namespace": own, "key": "{{ state.text }}", "value": "{'text': state.text, 'long': state.text|length > 3}"});
        go(put, superstep::json!({"user": user, "text": text}))
            .await
            .unwrap();
        let _ = key;
    }
    let ada = || superstep::json!({"user": "ada", "text": "eats no meat"});
    let get = json!({"do": "get", "namespace": own, "key": "{{ state.text }}", "take": "found.value.text", "into": "out"});
    assert_eq!(go(get.clone(), ada()).await, Ok(superstep::json!("eats no meat")));
    let search = |more: Json| {
        let mut config = json!({"do": "search", "namespace": own, "take": "found|map(attribute='key')|list", "into": "out"});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        config
    };
    assert_eq!(
        go(search(json!({"query": "who lives where"})), ada()).await,
        Ok(superstep::json!(["lives in Oslo"]))
    );
    assert_eq!(
        go(search(json!({"limit": 1})), ada()).await,
        Ok(superstep::json!(["lives in Oslo"]))
    );
    assert_eq!(
        go(search(json!({"filter": "{'text': state.text}"})), ada()).await,
        Ok(superstep::json!(["eats no meat"]))
    );
    let names = json!({"do": "namespaces", "namespace": ["users"], "into": "out"});
    assert_eq!(
        go(names, ada()).await,
        Ok(superstep::json!([["users", "ada"], ["users", "bob"]]))
    );
    let delete = json!({"do": "delete", "namespace": own, "key": "{{ state.text }}"});
    go(delete, ada()).await.unwrap();
    let get = json!({"do": "get", "namespace": own, "key": "x", "into": "out"});
    assert_eq!(go(get, ada()).await, Ok(Value::Null));
    // What the store does not take is reported in its words, and nothing is lost on the way.
    let put = json!({"do": "put", "namespace": own, "key": "k", "value": "state.text"});
    assert!(go(put, ada()).await.unwrap_err().contains("is string"));
    let vectors = search(json!({"by": "vectors", "query": "x"}));
    assert!(
        go(vectors, ada())
            .await
            .unwrap_err()
            .to_lowercase()
            .contains("vector")
    );
    let json = one_node(
        state.clone(),
        "store",
        json!({"do": "put", "namespace": ["a.b"], "into": "out"}),
    );
    assert_eq!(
        codes(&json),
        [
            "empty-setting /config/key",
            "empty-setting /config/value",
            "store-into /config/into",
            "store-namespace /config/namespace/0"
        ]
    );
    let without = build(
        &one_node(state.clone(), "store", json!({"do": "search", "into": "out"})),
        &no_keys(),
    );
    let (_, result) = run(&without, Input::Value(superstep::json!({})), &[]).await;
    assert!(result.unwrap_err().to_string().contains("has no store"));
}

fn messages() -> Value {
    superstep::json!([
        {"type": "system", "content": "Be kind.", "id": "s"},
        {"type": "human", "content": "I eat no meat.", "id": "h1"},
        {"type": "ai", "content": "", "id": "a1", "tool_calls": [{"name": "note", "args": {}, "id": "c1", "type": "tool_call"}]},
        {"type": "tool", "content": "noted", "tool_call_id": "c1", "id": "t1"},
        {"type": "ai", "content": "Noted.", "id": "a2"},
        {"type": "human", "content": "What can I cook?", "id": "h2"},
        {"type": "ai", "content": "Soup.", "id": "a3"},
    ])
}

fn nth(value: &Value, key: &str, index: usize) -> Value {
    value
        .get(key)
        .unwrap()
        .as_array()
        .unwrap()
        .get(index)
        .unwrap()
        .clone()
}

fn ids(value: &Value, key: &str) -> Vec<String> {
    let list = value
        .get(key)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    list.iter()
        .map(|m| m.get("id").and_then(Value::as_str).unwrap_or("?").to_owned())
        .collect()
}

#[tokio::test]
async fn a_conversation_is_trimmed_and_messages_are_deleted() {
    for reducer in ["add_messages", "overwrite", "append"] {
        let state = json!({"messages": {"type": "array", "reducer": reducer}, "short": {"type": "array"}, "gone": {"default": ["h1"]}});
        let left = async |config: Json| {
            let mut whole = json!({"messages": "messages"});
            whole
                .as_object_mut()
                .unwrap()
                .extend(config.as_object().unwrap().clone());
            let json = one_node(state.clone(), "memory", whole);
            assert_eq!(codes(&json), Vec::<String>::new());
            value(&json, superstep::json!({"messages": messages()})).await
        };
        let end = left(json!({"do": "trim", "max_turns": 1})).await;
        assert_eq!(ids(&end, "messages"), ["s", "h2", "a3"], "{reducer}");
        let end =
            left(json!({"do": "trim", "max_tokens": 30, "include_system": false, "into": "short"})).await;
        assert_eq!(
            (ids(&end, "short"), ids(&end, "messages").len()),
            (vec!["h2".into(), "a3".into()], 7),
            "{reducer}"
        );
        let end = left(json!({"do": "trim", "max_tokens": 10_000})).await;
        assert_eq!(ids(&end, "messages").len(), 7);
        let end = left(json!({"do": "delete", "ids": "state.gone"})).await;
        assert_eq!(
            ids(&end, "messages"),
            ["s", "a1", "t1", "a2", "h2", "a3"],
            "{reducer}"
        );
        let end = left(json!({"do": "delete", "types": ["tool"]})).await;
        assert_eq!(
            ids(&end, "messages"),
            ["s", "h1", "a2", "h2", "a3"],
            "a call goes with its answer"
        );
        let end = left(json!({"do": "delete", "types": ["human", "ai"], "keep_last": 4})).await;
        assert_eq!(
            ids(&end, "messages"),
            ["s", "a1", "t1", "a2", "h2", "a3"],
            "kept are whole pairs"
        );
    }
    let wrong = one_node(
        json!({"messages": {"type": "array"}}),
        "memory",
        json!({"do": "trim", "messages": "messages", "start_on": ["humn"]}),
    );
    assert_eq!(
        codes(&wrong),
        [
            "memory-limit /config/max_tokens",
            "memory-type /config/start_on/0"
        ]
    );
}

#[tokio::test]
async fn what_is_old_becomes_a_summary() {
    let script = json!([{"say": "{% if state.known %}{{ state.known }}; {% endif %}{{ state.transcript|lines|length }} lines, ends with {{ (state.transcript|lines)[-1] }}"}]);
    let state =
        json!({"messages": {"type": "array", "reducer": "add_messages"}, "summary": {"type": "string"}});
    let config = |more: Json| {
        let mut config = json!({"do": "summarise", "messages": "messages", "keep_last": 2, "model": {"model": "scripted", "script": script}});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        one_node(state.clone(), "memory", config)
    };
    let into_key = config(json!({"summary": "summary"}));
    assert_eq!(codes(&into_key), Vec::<String>::new());
    let end = value(
        &into_key,
        superstep::json!({"messages": messages(), "summary": "so far"}),
    )
    .await;
    assert_eq!(ids(&end, "messages"), ["s", "h2", "a3"]);
    assert_eq!(
        end.get("summary").and_then(Value::as_str),
        Some("so far; 4 lines, ends with ai: Noted.")
    );
    let in_place = config(json!({}));
    let graph = build(&in_place, &no_keys());
    let (_, first) = run(
        &graph,
        Input::Value(superstep::json!({"messages": messages()})),
        &[],
    )
    .await;
    let first = first.unwrap().value;
    assert_eq!(ids(&first, "messages"), ["s", "summary-n", "h2", "a3"]);
    // The next time the summary grows, and stays one message.
    let more = superstep::json!({"messages": [{"type": "human", "content": "Thanks", "id": "h3"}, {"type": "ai", "content": "!", "id": "a4"}]});
    let (_, second) = run(&graph, Input::Value(more), &[]).await;
    let second = second.unwrap().value;
    assert_eq!(ids(&second, "messages"), ["s", "summary-n", "h3", "a4"]);
    let summary = nth(&second, "messages", 1).get("content").cloned();
    assert!(
        summary
            .unwrap()
            .as_str()
            .unwrap()
            .starts_with("4 lines, ends with ai: Noted.; 2 lines")
    );
    let rarely = config(json!({"max_tokens": 1000}));
    let end = value(&rarely, superstep::json!({"messages": messages()})).await;
    assert_eq!(
        ids(&end, "messages").len(),
        7,
        "a short conversation stays as it is"
    );
    let without = one_node(
        state.clone(),
        "memory",
        json!({"do": "summarise", "messages": "messages"}),
    );
    assert_eq!(codes(&without), ["memory-model /config/model"]);
}

#[tokio::test]
async fn facts_are_put_into_the_store() {
    let store = Arc::new(MemoryStore::new());
    let say = r#"[{"key": "diet", "text": "eats no meat{% for fact in state.known %}, known {{ fact.key }}{% endfor %}"}]"#;
    let config = json!({"do": "extract", "messages": "messages", "namespace": ["users", "{{ state.user }}"], "into": "facts",
        "model": {"model": "scripted", "script": [{"say": say}]}});
    let state = json!({"messages": {"type": "array", "reducer": "add_messages"}, "user": {"type": "string"}, "facts": {"type": "array"}});
    let json = one_node(state, "memory", config);
    assert_eq!(codes(&json), Vec::<String>::new());
    let graph = build(&json, &no_keys()).with_store(store.clone());
    for expected in ["eats no meat", "eats no meat, known diet"] {
        let input = superstep::json!({"messages": messages(), "user": "ada"});
        let (_, result) = run(&graph, Input::Value(input), &[]).await;
        let end = result.unwrap().value;
        assert_eq!(
            nth(&end, "facts", 0).get("text").and_then(Value::as_str),
            Some(expected)
        );
        let item = superstep::Store::get(&*store, &["users", "ada"], "diet")
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            item.to_json().get("value"),
            Some(&superstep::json!({"text": expected}))
        );
    }
}

fn asked(result: &superstep::RunResult) -> Json {
    Json::from(&result.interrupts[0].value)
}

/// code → ask → (code | end), as a person limits it in the window: with `max_visits`, and perhaps an edge with `limit`.
fn revised(more: &Json) -> Json {
    let mut edges = vec![
        json!({"from": "__start__", "to": "code"}),
        json!({"from": "code", "to": "ask"}),
        json!({"from": "ask", "route": "state.word", "paths": {"revise": "code"}, "default": "__end__"}),
    ];
    edges.extend(more.as_array().unwrap().iter().cloned());
    json!({
        "format": "superstep/1", "name": "Rounds",
        "state": {"n": {"type": "integer", "default": 0}, "word": {"type": "string"}, "gave_up": {"type": "boolean"}},
        "nodes": {
            "code": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}, "max_visits": 2},
            "ask": {"kind": "ask", "config": {"question": "Good?", "into": "word"}},
            "give_up": {"kind": "assign", "config": {"set": {"gave_up": "true"}}},
        },
        "edges": edges,
    })
}

#[tokio::test]
async fn a_loop_that_asks_is_limited_over_its_answers() {
    let revise = || Input::Command(superstep::Command::answer("revise"));
    let way = json!([{"from": "code", "to": "give_up", "limit": true}]);
    for (json, has_way) in [(revised(&json!([])), false), (revised(&way), true)] {
        let problems = codes(&json);
        assert_eq!(problems.is_empty(), has_way, "{problems:?}");
        let saver = Arc::new(MemorySaver::new());
        // Each answer is another program's: what was counted is read from the thread.
        let fresh = || build(&json, &no_keys()).with_checkpointer(saver.clone());
        run(&fresh(), Input::Value(superstep::json!({})), &[])
            .await
            .1
            .unwrap();
        let second = run(&fresh(), revise(), &[]).await.1.unwrap();
        assert_eq!(second.status, RunStatus::Interrupted);
        match (has_way, run(&fresh(), revise(), &[]).await.1) {
            (true, Ok(end)) => {
                assert_eq!(end.value.get("n"), Some(&2.into()));
                assert_eq!(end.value.get("gave_up"), Some(&true.into()));
            }
            (false, Err(error)) => assert_eq!(error.code(), "loop-limit"),
            (_, other) => panic!("{has_way}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_question_has_a_deadline_that_outlives_the_process() {
    let clock = Arc::new(Hands::default());
    let state = json!({"out": {"type": "string"}, "late": {"type": "object"}});
    let ask = |more: Json| {
        let mut config = json!({"question": "Now?", "into": "out", "choices": [{"label": "Yes", "value": "yes"}], "wait_s": 60, "who": ["Ada"]});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        one_node(state.clone(), "ask", config)
    };
    let fresh = |json: &Json, saver: &Arc<MemorySaver>| {
        let built = Registry::standard().build(&document(json), &no_keys()).unwrap();
        built
            .graph
            .with_checkpointer(saver.clone())
            .with_clock(clock.clone())
    };
    let with_value = ask(json!({"otherwise": "nobody"}));
    let mut with_branch = ask(json!({}));
    with_branch["nodes"]["n"]["fallback"] = json!({"to": "__end__", "into": "late"});
    for (json, late) in [
        (&with_value, false),
        (&with_branch, true),
        (&ask(json!({})), true),
    ] {
        assert_eq!(codes(json), Vec::<String>::new());
        let saver = Arc::new(MemorySaver::new());
        clock.0.store(1_000_000, Ordering::Relaxed);
        let (_, first) = run(&fresh(json, &saver), Input::Value(superstep::json!({})), &[]).await;
        let first = asked(&first.unwrap());
        assert_eq!(
            (&first["deadline"], &first["who"]),
            (&json!("1970-01-01T00:17:40.000+00:00"), &json!(["Ada"]))
        );
        // Too early: it is asked again, with the deadline it had.
        clock.0.store(1_059_999, Ordering::Relaxed);
        let (_, again) = run(&fresh(json, &saver), Input::Continue, &[]).await;
        let again = again.unwrap();
        assert_eq!(
            (again.status, &asked(&again)["deadline"]),
            (RunStatus::Interrupted, &first["deadline"])
        );
        clock.0.store(1_060_000, Ordering::Relaxed);
        let (_, end) = run(&fresh(json, &saver), Input::Continue, &[]).await;
        match (late, end) {
            (false, end) => assert_eq!(
                end.unwrap().value.get("out").and_then(Value::as_str),
                Some("nobody")
            ),
            (true, Ok(end)) => {
                let class = end.value.get("late").and_then(|late| late.get("class")).cloned();
                assert_eq!(class, Some("AskTimeoutError".into()));
            }
            (true, Err(error)) => assert!(
                error
                    .to_string()
                    .contains("nobody answered by 1970-01-01T00:17:40")
            ),
        }
    }
    // Anyone who answered in time is taken into account, whenever that is worked on.
    let saver = Arc::new(MemorySaver::new());
    clock.0.store(1_000_000, Ordering::Relaxed);
    run(
        &fresh(&with_value, &saver),
        Input::Value(superstep::json!({})),
        &[],
    )
    .await
    .1
    .unwrap();
    clock.0.store(9_000_000, Ordering::Relaxed);
    let (_, end) = run(&fresh(&with_value, &saver), Input::answer("yes"), &[]).await;
    assert_eq!(end.unwrap().value.get("out").and_then(Value::as_str), Some("yes"));
    assert_eq!(
        codes(&ask(json!({"otherwise": 3}))),
        ["into-type /config/otherwise"]
    );
    assert_eq!(
        codes(&ask(json!({"otherwise": "x", "wait_s": null}))),
        ["ask-wait /config/otherwise"]
    );
}

#[tokio::test]
async fn a_value_of_the_state_is_edited_by_a_person() {
    let state = json!({"text": {"type": "string"}, "list": {"type": "array", "items": {"type": "integer"}, "reducer": "append"}});
    for (key, before, wrong, after) in [
        (
            "text",
            superstep::json!("draft"),
            superstep::json!(3),
            superstep::json!("final"),
        ),
        (
            "list",
            superstep::json!([1, 2]),
            superstep::json!(["x"]),
            superstep::json!([2]),
        ),
    ] {
        let json = one_node(
            state.clone(),
            "ask",
            json!({"question": "Look at it.", "edit": key, "into": key}),
        );
        assert_eq!(codes(&json), Vec::<String>::new());
        let graph = build(&json, &no_keys());
        let input = Value::Object([(key, before.clone())].into_iter().collect());
        let (_, first) = run(&graph, Input::Value(input), &[]).await;
        let question = asked(&first.unwrap());
        assert_eq!(
            (&question["edit"], &question["value"]),
            (&json!(key), &Json::from(&before))
        );
        assert_eq!(question["schema"]["type"], state[key]["type"]);
        let (_, refused) = run(&graph, Input::answer(wrong), &[]).await;
        assert!(asked(&refused.unwrap())["refused"].is_string());
        let (_, end) = run(&graph, Input::answer(after.clone()), &[]).await;
        assert_eq!(end.unwrap().value.get(key), Some(&after));
    }
}

/// What a person fills in is looked at by nobody else: a day that is none is asked for again.
#[tokio::test]
async fn a_form_asks_again_for_what_is_no_date() {
    let answer = json!({"type": "object", "properties": {"day": {"type": "string", "format": "date"}}});
    let config = json!({"question": "When?", "answer": answer, "into": "form"});
    let graph = build(
        &one_node(json!({"form": {"type": "object"}}), "ask", config),
        &no_keys(),
    );
    let (_, first) = run(&graph, Input::value(superstep::json!({})), &[]).await;
    assert!(asked(&first.unwrap())["refused"].is_null());
    let (_, refused) = run(
        &graph,
        Input::answer(superstep::json!({"day": "2024-13-01"})),
        &[],
    )
    .await;
    let reason = asked(&refused.unwrap())["refused"].to_string();
    assert!(
        reason.contains("2024-13-01") && reason.contains("date"),
        "{reason}"
    );
    let day = superstep::json!({"day": "2024-12-01"});
    let (_, end) = run(&graph, Input::answer(day.clone()), &[]).await;
    assert_eq!(end.unwrap().value.get("form"), Some(&day));
}

/// Counts how often it was at work, and dies in the middle as often as it is asked to.
struct Effects(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<Mutex<Arc<MemorySaver>>>);

impl superstep_nodes::NodeKind for Effects {
    fn info(&self) -> superstep_nodes::KindInfo {
        superstep_nodes::KindInfo {
            kind: "effects",
            title: "Effects",
            summary: "Counts.",
            icon: "box",
            group: "code",
            aliases: &[],
            config_schema: json!({"type": "object", "properties": {}}),
            defaults: json!({}),
            card: &[],
        }
    }
    fn check(&self, _: &mut superstep_nodes::registry::Site<'_>) {}
    fn build(
        &self,
        _: &superstep_nodes::registry::BuildSite<'_>,
    ) -> Result<Arc<dyn superstep::Node>, superstep_document::Diagnostic> {
        let (done, deaths, saver) = (self.0.clone(), self.1.clone(), self.2.clone());
        Ok(Arc::new(move |context: superstep::NodeContext, _: Value| {
            let (done, deaths, saver) = (done.clone(), deaths.clone(), saver.clone());
            async move {
                if let Some(thread) = &context.info().thread {
                    let saver = saver.lock().unwrap().clone();
                    let kept = superstep::Checkpointer::get(&*saver, thread, "", None)
                        .await
                        .unwrap()
                        .unwrap();
                    let began = kept
                        .pending_writes
                        .iter()
                        .filter(|write| &*write.write.channel == superstep::checkpoint::reserved::EFFECT)
                        .any(|write| {
                            write.write.value.get("run") == Some(&context.info().run_id.as_str().into())
                        });
                    assert!(began, "it is stored that the work begins before it does");
                }
                done.fetch_add(1, Ordering::Relaxed);
                if deaths
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                    .is_ok()
                {
                    return Err(superstep::NodeError::new("Died", "in the middle"));
                }
                if context
                    .info()
                    .thread
                    .as_ref()
                    .is_some_and(|thread| thread.as_str() == "asks")
                {
                    context.interrupt("in the middle")?;
                }
                Ok(superstep::NodeOutput::update([("out", "worked")]))
            }
        }))
    }
}

#[tokio::test]
async fn what_must_happen_once_is_not_repeated_without_a_word() {
    let (done, deaths) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let saver = Arc::new(Mutex::new(Arc::new(MemorySaver::new())));
    let registry = Registry::standard().with(Effects(done.clone(), deaths.clone(), saver.clone()));
    let mut json = one_node(json!({"out": {}}), "effects", json!({}));
    json["nodes"]["n"]["effect"] = json!("once");
    let built = || {
        let built = registry.build(&document(&json), &no_keys()).unwrap();
        *saver.lock().unwrap() = Arc::new(MemorySaver::new());
        built.graph.with_checkpointer(saver.lock().unwrap().clone())
    };
    let times = |expected: usize| assert_eq!(done.swap(0, Ordering::Relaxed), expected);
    let new = || Input::Value(superstep::json!({}));
    assert_eq!(run(&built(), new(), &[]).await.1.unwrap().status, RunStatus::Done);
    times(1);
    for (answers, worked, out) in [
        (vec![json!("again")], 2, json!("worked")),
        (vec![json!("perhaps"), json!("done")], 1, Json::Null),
        (vec![json!({"update": {"out": "by hand"}})], 1, json!("by hand")),
    ] {
        let graph = built();
        deaths.store(1, Ordering::Relaxed);
        run(&graph, new(), &[]).await.1.unwrap_err();
        let asked = run(&graph, Input::Continue, &[]).await.1.unwrap();
        assert_eq!(asked.interrupts.len(), 1, "nobody knows how far it came");
        let question = asked.interrupts[0].value.get("question").unwrap().to_string();
        assert!(
            question.contains("failed there:") && question.contains("Died: in the middle"),
            "{question}"
        );
        let mut end = asked;
        for answer in answers {
            end = run(&graph, Input::answer(answer), &[]).await.1.unwrap();
        }
        assert_eq!(end.status, RunStatus::Done);
        assert_eq!(end.value.get("out").map_or(Json::Null, Json::from), out);
        times(worked);
    }
    // "Again" was said once, for one run: the next time it is asked again.
    let graph = built();
    deaths.store(2, Ordering::Relaxed);
    run(&graph, new(), &[]).await.1.unwrap_err();
    run(&graph, Input::Continue, &[]).await.1.unwrap();
    run(&graph, Input::answer("again"), &[]).await.1.unwrap_err();
    let asked = run(&graph, Input::Continue, &[]).await.1.unwrap();
    assert_eq!(asked.interrupts.len(), 1);
    times(2);
    let (_, end) = run(&graph, Input::answer("again"), &[]).await;
    assert_eq!(end.unwrap().status, RunStatus::Done);
    times(1);
    // A question in the middle could not be distinguished from a death.
    let graph = built();
    let mut stream = graph.stream(new(), RunConfig::on("asks"));
    while stream.next().await.is_some() {}
    assert!(
        stream
            .finish()
            .await
            .unwrap_err()
            .to_string()
            .contains("EffectError")
    );
    // Contradictions are reported.
    json["nodes"]["n"]["retry"] = json!(2);
    json["nodes"]["n"]["cache"] = json!(true);
    let problems = document_with_problems(&json).validate();
    let found: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.pointer.as_deref())
        .collect();
    assert_eq!(found, ["/retry", "/cache"]);
    for (effect, wrong) in [("reads", true), ("pure", false)] {
        let mut json = one_node(json!({"a": {}}), "assign", json!({"set": {"a": "1"}}));
        json["nodes"]["n"]["effect"] = json!(effect);
        json["nodes"]["n"]["cache"] = json!(true);
        assert_eq!(
            codes(&json) == ["cache-of-reads /cache"],
            wrong,
            "{:?}",
            codes(&json)
        );
    }
    let mut unknown = one_node(json!({"a": {}}), "assign", json!({"set": {"a": "1"}}));
    unknown["nodes"]["n"]["effect"] = json!("none");
    assert_eq!(codes(&unknown), ["bad-effect /effect"]);
}
