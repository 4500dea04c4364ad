//! What runs record beside the writes of their tasks: the keys that were read, and why edges led where they did.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use superstep::checkpoint::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::{build, no_keys};

/// The records of a thread by node; the last one of each.
pub(crate) async fn records(
    saver: &MemorySaver,
    graph: &Graph,
    thread: &str,
) -> BTreeMap<String, TaskRecord> {
    let mut found = BTreeMap::new();
    let query = ListQuery::new().thread(thread);
    for tuple in saver.list(&query).await.unwrap() {
        let at = StateRef::at(thread, tuple.checkpoint.id.clone());
        let tasks = graph.get_state(&at).await.unwrap().tasks;
        for (id, record) in tuple.records() {
            let task = tasks.iter().find(|task| task.id == *id).unwrap();
            found.entry(task.name.to_string()).or_insert(record);
        }
    }
    found
}

async fn recorded(file: &serde_json::Value, input: Value) -> BTreeMap<String, TaskRecord> {
    let saver = Arc::new(MemorySaver::new());
    let graph = build(file, &no_keys()).with_checkpointer(saver.clone());
    let done = graph
        .invoke(Input::value(input.clone()), RunConfig::on("t").record(true))
        .await;
    let plain = graph.invoke(Input::value(input), RunConfig::on("plain")).await;
    assert_eq!(
        done.unwrap().value,
        plain.unwrap().value,
        "recording changes nothing"
    );
    assert_eq!(records(&saver, &graph, "plain").await, BTreeMap::new());
    let state = |thread: &'static str| {
        let graph = graph.clone();
        async move { graph.get_state(&StateRef::live(thread)).await.unwrap() }
    };
    let (recorded, plain) = (state("t").await, state("plain").await);
    assert_eq!(
        (recorded.values, recorded.next),
        (plain.values, plain.next),
        "nobody sees it"
    );
    records(&saver, &graph, "t").await
}

fn keys(names: &[&str]) -> KeysRead {
    KeysRead::Keys(names.iter().map(|name| (*name).into()).collect())
}

fn whole(value: Value) -> RecordedValue {
    RecordedValue::Whole(value)
}

#[tokio::test]
async fn expressions_note_the_keys_that_they_read() {
    let file = json!({
        "format": "superstep/1",
        "state": {"a": {}, "b": {}, "c": {}, "out": {}},
        "nodes": {
            "some": {"kind": "assign", "config": {"set": {"out": "state.a if state.b else state.c"}}},
            "whole": {"kind": "assign", "config": {"set": {"out": "state|length"}}},
            "itself": {"kind": "assign", "config": {"set": {"c": "state"}}},
            "listed": {"kind": "assign", "config": {"set": {"c": "state|items|list|length"}}},
            "none": {"kind": "assign", "config": {"set": {"c": 7}}},
            "program": {"kind": "code", "config": {"source": "return {out: state.a}"}},
        },
        "edges": [
            {"from": "__start__", "to": "some"},
            {"from": "some", "to": "whole"},
            {"from": "whole", "to": "itself"},
            {"from": "itself", "to": "listed"},
            {"from": "listed", "to": "none"},
            {"from": "none", "to": "program"},
        ],
    });
    let found = recorded(&file, superstep::json!({"a": 1, "b": true, "c": 3})).await;
    assert_eq!(
        found["some"].reads,
        keys(&["b", "a"]),
        "what is not evaluated is not read"
    );
    for node in ["whole", "itself", "listed"] {
        assert_eq!(found[node].reads, KeysRead::All, "{node}");
    }
    assert_eq!(found["none"].reads, keys(&[]));
    assert_eq!(found["program"].reads, keys(&["a"]));
}

/// The records of one program after the other, each on the same state.
async fn programs(sources: &[(&str, &str, &str)]) -> BTreeMap<String, TaskRecord> {
    let mut nodes = serde_json::Map::new();
    let mut edges = Vec::new();
    let mut from = "__start__";
    for (name, language, source) in sources {
        let config = json!({"language": language, "source": source});
        nodes.insert((*name).to_owned(), json!({"kind": "code", "config": config}));
        edges.push(json!({"from": from, "to": name}));
        from = name;
    }
    let file = json!({
        "format": "superstep/1",
        "state": {"a": {}, "b": {}, "c": {}, "long": {}, "out": {}},
        "nodes": nodes,
        "edges": edges,
    });
    let long = "long ".repeat(20_000);
    let input = superstep::json!({"a": 1, "b": {"x": [1, 2]}, "c": 3, "long": long, "out": null});
    recorded(&file, input).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn javascript_notes_the_keys_that_it_looks_at() {
    let found = programs(&[
        ("members", "javascript", "return {out: state.b.x[0] + state['a']}"),
        ("large", "javascript", "return {out: state.long.length}"),
        (
            "taken_apart",
            "javascript",
            "const {c, absent} = state; return {out: c}",
        ),
        ("asked", "javascript", "return {out: 'a' in state ? 1 : 2}"),
        ("later", "javascript", "await ctx.sleep(1); return {out: state.c}"),
        ("written", "javascript", "state.out = 5; return {}"),
        (
            "printed",
            "javascript",
            "console.log(String(state), typeof state); return {}",
        ),
        ("listed", "javascript", "return {out: Object.keys(state).length}"),
        ("spread", "javascript", "return {...state, out: 1}"),
        ("none", "javascript", "return {out: 1}"),
    ])
    .await;
    let expected = [
        ("members", keys(&["b", "a"])),
        ("large", keys(&["long"])),
        ("taken_apart", keys(&["c", "absent"])),
        ("asked", keys(&["a"])),
        ("later", keys(&["c"])),
        ("written", keys(&[])),
        ("printed", keys(&[])),
        ("listed", KeysRead::All),
        ("spread", KeysRead::All),
        ("none", keys(&[])),
    ];
    for (node, reads) in expected {
        assert_eq!(found[node].reads, reads, "{node}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_decides_says_what_it_had_read() {
    let file = json!({
        "format": "superstep/1",
        "state": {"count": {}, "log": {"reducer": "append"}},
        "nodes": {
            "judge": {"kind": "code", "config": {
                "source": "return new Command({goto: state.count > 2 ? 'stop' : 'again'})",
                "destinations": ["stop", "again"],
            }},
            "stop": {"kind": "assign", "config": {"set": {"log": "'stop'"}}},
            "again": {"kind": "assign", "config": {"set": {"log": "'again'"}}},
            "broken": {"kind": "code", "config": {"source": "if (state.count) throw new Error('no')"}},
        },
        "edges": [{"from": "__start__", "to": "judge"}, {"from": "stop", "to": "broken"}],
    });
    let saver = Arc::new(MemorySaver::new());
    let graph = build(&file, &no_keys()).with_checkpointer(saver.clone());
    let input = Input::value(superstep::json!({"count": 3}));
    let failed = graph.invoke(input, RunConfig::on("t").record(true)).await;
    assert!(failed.is_err());
    let found = records(&saver, &graph, "t").await;
    assert_eq!(found["judge"].reads, keys(&["count"]));
    let decision = &found["judge"].decisions[0];
    assert_eq!(decision.to, ["stop".into()]);
    let reason = decision.reason.as_ref().expect("what it had read");
    assert_eq!(reason.values, [("count".into(), whole(3.into()))]);
    assert_eq!(found["broken"].reads, keys(&["count"]), "a failed one too");
}

#[tokio::test]
async fn edges_say_why_they_were_taken_and_why_not() {
    let file = json!({
        "format": "superstep/1",
        "state": {"retries": {}, "text": {}, "way": {}, "items": {}, "log": {"reducer": "append"}},
        "nodes": {
            "check": {"kind": "assign", "config": {"set": {"way": "'refund'"}}},
            "retry": {"kind": "assign", "config": {"set": {"log": "['retry']"}}},
            "give_up": {"kind": "assign", "config": {"set": {"log": "['give up']"}}},
            "work": {"kind": "assign", "config": {"set": {"log": "[input.item]"}}},
        },
        "edges": [
            {"id": "in", "from": "__start__", "to": "check"},
            {"id": "again", "from": "check", "to": "retry", "when": "state.retries < 3"},
            {"id": "stop", "from": "check", "to": "give_up", "when": "state.retries >= 3 and state.text"},
            {"id": "way", "from": "check", "route": "state.way", "paths": {"refund": "give_up", "other": "retry"}},
            {"id": "each", "from": "check", "each": "state.items", "as": "item", "to": "work"},
        ],
    });
    let text = "long ".repeat(100);
    let found = recorded(
        &file,
        superstep::json!({"retries": 3, "text": text, "items": [1, 2]}),
    )
    .await;
    let decision = |edge: &str| {
        let of_edge = found["check"]
            .decisions
            .iter()
            .find(|d| d.edge.as_deref() == Some(edge));
        of_edge.unwrap().clone()
    };
    let again = decision("again");
    assert_eq!(again.to, Vec::<Name>::new());
    let reason = again.reason.unwrap();
    assert_eq!(reason.expression.as_deref(), Some("state.retries < 3"));
    assert_eq!(reason.result, Some(whole(false.into())));
    assert_eq!(reason.values, [("retries".into(), whole(3.into()))]);
    let stop = decision("stop");
    assert_eq!(stop.to, [Name::from("give_up")]);
    let values = stop.reason.unwrap().values;
    assert_eq!(values[0], ("retries".into(), whole(3.into())));
    assert!(
        matches!(
            &values[1].1,
            RecordedValue::Large {
                size: Some(502),
                hash: Some(_)
            }
        ),
        "{values:?}"
    );
    let way = decision("way");
    assert_eq!(way.to, [Name::from("give_up")]);
    assert_eq!(way.reason.unwrap().result, Some(whole("refund".into())));
    let each = decision("each");
    assert_eq!((each.to, each.packets), (vec!["work".into()], 2));
    assert_eq!(each.reason.unwrap().result, Some(whole(2.into())));
    assert_eq!(found["check"].reads, keys(&[]), "what edges read is with them");
}

#[tokio::test]
async fn a_router_notes_the_conditions_that_it_tried() {
    let file = json!({
        "format": "superstep/1",
        "state": {"n": {}, "way": {}},
        "nodes": {"choose": {"kind": "router", "config": {
            "ways": [{"label": "low", "when": "state.n < 3"}, {"label": "high", "when": "state.n > 10"}],
            "otherwise": "middle", "into": "way",
        }}},
        "edges": [{"from": "__start__", "to": "choose"}],
    });
    let found = recorded(&file, superstep::json!({"n": 5})).await;
    let [decision] = &found["choose"].decisions[..] else {
        panic!("one decision: {found:?}");
    };
    assert_eq!(decision.edge, None);
    let reason = decision.reason.clone().unwrap();
    let tried: Vec<(&str, Option<&str>, bool)> = (reason.conditions.iter())
        .map(|tried| (&*tried.label, tried.expression.as_deref(), tried.held))
        .collect();
    let expected = [
        ("low", Some("state.n < 3"), false),
        ("high", Some("state.n > 10"), false),
        ("middle", None, true),
    ];
    assert_eq!(tried, expected);
    assert_eq!(reason.values, [("n".into(), whole(5.into()))]);
}

#[tokio::test]
async fn a_failed_task_keeps_what_it_had_read() {
    let file = json!({
        "format": "superstep/1",
        "state": {"n": {}, "m": {}},
        "nodes": {"bad": {"kind": "assign", "config": {"set": {"m": "state.n / 0"}}}},
        "edges": [{"from": "__start__", "to": "bad"}],
    });
    let saver = Arc::new(MemorySaver::new());
    let graph = build(&file, &no_keys()).with_checkpointer(saver.clone());
    let config = RunConfig::on("t").record(true);
    graph
        .invoke(Input::value(superstep::json!({"n": 1})), config)
        .await
        .unwrap_err();
    let newest = saver.get(&"t".into(), "", None).await.unwrap().unwrap();
    let found: Vec<TaskRecord> = newest.records().map(|(_, record)| record).collect();
    assert_eq!(found[0].reads, keys(&["n"]));
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(state.next, ["bad".into()] as [Name; 1], "it still waits");
}

#[tokio::test]
async fn a_summary_says_what_a_task_did_and_never_fails_it() {
    let assign = |set: serde_json::Value, summary: &str| json!({"kind": "assign", "config": {"set": set}, "summary": summary});
    let file = json!({
        "format": "superstep/1",
        "state": {"n": {"type": "integer"}, "text": {"type": "string"}},
        "nodes": {
            "double": assign(json!({"n": "state.n * 2"}), "{{ state.n }} **became** {{ update.n }}"),
            "broken": assign(json!({"text": "'x'"}), "{{ update.text.none.at }}"),
            "long": assign(json!({"text": "'y'"}), "{{ 'a' * 5000 }}"),
            "empty": assign(json!({"text": "'z'"}), "{% if false %}never{% endif %} "),
        },
        "edges": [
            {"from": "__start__", "to": "double"}, {"from": "double", "to": "broken"},
            {"from": "broken", "to": "long"}, {"from": "long", "to": "empty"}, {"from": "empty", "to": "__end__"}
        ]
    });
    let found = recorded(&file, superstep::json!({"n": 21})).await;
    let summary = |node: &str| found[node].summary.as_deref();
    assert_eq!(summary("double"), Some("21 **became** 42"));
    assert_eq!(
        found["double"].reads,
        keys(&["n"]),
        "what a summary reads is no input"
    );
    let broken = summary("broken").unwrap();
    assert!(broken.starts_with('*') && broken.contains("none"), "{broken}");
    let long = summary("long").unwrap();
    assert!(long.len() <= 2000 && long.ends_with("a…"), "{}", long.len());
    assert_eq!(summary("empty"), None);
}
