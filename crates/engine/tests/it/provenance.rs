//! Where values came from: who wrote them, from what, back to an input or an edit.

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

use crate::support::{on_memory, routes};

/// Reads these keys, and returns what `make` makes of them.
fn reads(keys: &'static [&'static str], make: fn(Vec<Value>) -> Value) -> impl Node {
    move |context: NodeContext, state: Value| {
        let read = |key: &&str| {
            let value = match context.recorder() {
                Some(recorder) => recorder.read(&state, key),
                None => state.get(key),
            };
            value.cloned().unwrap_or_default()
        };
        if let Some(recorder) = context.recorder() {
            recorder.tracks_reads();
        }
        let update = make(keys.iter().map(read).collect());
        async move { Ok(NodeOutput::Update(update)) }
    }
}

fn number(values: &[Value], place: usize) -> i64 {
    values.get(place).and_then(Value::as_i64).unwrap_or(0)
}

/// total = price * count; then `other` writes something else; then `sum` adds 1 to the total.
fn graph() -> Graph {
    on_memory(
        StateGraph::new()
            .channel("price", ChannelSpec::last_value())
            .channel("count", ChannelSpec::last_value())
            .channel("total", ChannelSpec::last_value())
            .channel("note", ChannelSpec::last_value())
            .node(
                "multiply",
                reads(
                    &["price", "count"],
                    |v| json!({"total": number(&v, 0) * number(&v, 1)}),
                ),
            )
            .node("other", reads(&[], |_| json!({"note": "nothing"})))
            .node("sum", reads(&["total"], |v| json!({"total": number(&v, 0) + 1})))
            .edge(START, "multiply")
            .edge("multiply", "other")
            .edge("other", "sum"),
    )
}

/// Each write as `pointer = value by node (origin) < place`.
fn lines(found: &Provenance) -> Vec<String> {
    let line = |write: &inspect::ValueWrite| {
        let nodes: Vec<&str> = write.writers.iter().map(|writer| &*writer.node).collect();
        let value = write.after.as_ref().map(ToString::to_string).unwrap_or_default();
        let by = write
            .read_by
            .map(|place| format!(" < {place}"))
            .unwrap_or_default();
        format!(
            "{} = {value} by {} ({}){by}",
            write.pointer,
            nodes.join("+"),
            write.origin.as_str()
        )
    };
    found.writes.iter().map(line).collect()
}

fn recorded(thread: &str) -> RunConfig {
    RunConfig::on(thread).record(true)
}

async fn ask(graph: &Graph, at: &StateRef, pointer: &str) -> Vec<String> {
    lines(&graph.provenance(at, pointer, 20).await.unwrap())
}

#[tokio::test]
async fn a_value_is_followed_to_the_input() {
    let graph = graph();
    let input = Input::value(json!({"price": 4, "count": 3}));
    graph.invoke(input, recorded("t")).await.unwrap();
    let live = StateRef::live("t");
    let chain = [
        "/total = 13 by sum (task)",
        "/total = 12 by multiply (task) < 0",
        "/price = 4 by  (input) < 1",
        "/count = 3 by  (input) < 1",
    ];
    assert_eq!(ask(&graph, &live, "/total").await, chain);
    let found = graph.provenance(&live, "/total", 20).await.unwrap();
    assert_eq!(found.writes[0].before, Some(json!(12)));
    assert!(!found.more);
    let cut = graph.provenance(&live, "/total", 2).await.unwrap();
    assert_eq!(
        (lines(&cut), cut.more),
        (chain[..2].iter().map(ToString::to_string).collect(), true)
    );
}

#[tokio::test]
async fn without_a_record_the_first_writer_is_all_that_is_known() {
    let graph = graph();
    let input = Input::value(json!({"price": 4, "count": 3}));
    graph.invoke(input, RunConfig::on("t")).await.unwrap();
    let found = graph
        .provenance(&StateRef::live("t"), "/total", 20)
        .await
        .unwrap();
    assert_eq!(lines(&found), ["/total = 13 by sum (task)"]);
    let writer = &found.writes[0].writers[0];
    assert_eq!(writer.reads, KeysRead::Unknown);
    // What it may have read is named, each to be asked for in its turn; nothing is claimed.
    assert_eq!(
        possible(writer),
        ["note 2", "total 1", "count 0", "price 0"],
        "{found:?}"
    );
    assert!(!writer.may_have_read_more);
    let from = StateRef::at("t", found.writes[0].from.clone().unwrap());
    let next = graph.provenance(&from, "/total", 20).await.unwrap();
    assert_eq!(lines(&next), ["/total = 12 by multiply (task)"]);
    assert_eq!(possible(&next.writes[0].writers[0]), ["count 0", "price 0"]);
}

#[tokio::test]
async fn a_node_that_notes_nothing_has_read_the_keys_that_it_is_given() {
    let seven = |_: NodeContext, _: Value| async { Ok(NodeOutput::from(json!({"b": 7}))) };
    let graph = on_memory(
        StateGraph::new()
            .channel("a", ChannelSpec::last_value())
            .channel("b", ChannelSpec::last_value())
            .channel("c", ChannelSpec::last_value())
            .node_with("some", Arc::new(seven), NodeOptions::new().input(["a"]))
            .node_with(
                "noting",
                Arc::new(reads(&["b"], |_| json!({"c": 7}))),
                NodeOptions::new().input(["a", "b"]),
            )
            .edge(START, "some")
            .edge("some", "noting"),
    );
    graph
        .invoke(Input::value(json!({"a": 1})), recorded("t"))
        .await
        .unwrap();
    let live = StateRef::live("t");
    assert_eq!(
        ask(&graph, &live, "/c").await,
        [
            "/c = 7 by noting (task)",
            "/b = 7 by some (task) < 0",
            "/a = 1 by  (input) < 1"
        ]
    );
    // A packet is given in place of the state.
    let packets = on_memory(
        StateGraph::new()
            .channel("a", ChannelSpec::last_value())
            .channel("b", ChannelSpec::last_value())
            .node_with("some", Arc::new(seven), NodeOptions::new().input(["a"]))
            .branch(
                START,
                Branch::new(routes(|_| vec![Target::send("some", json!(1))])),
            ),
    );
    packets
        .invoke(Input::value(json!({"a": 1})), recorded("t"))
        .await
        .unwrap();
    let found = packets.provenance(&live, "/b", 20).await.unwrap();
    assert_eq!(found.writes[0].writers[0].reads, KeysRead::Unknown);
}

#[tokio::test]
async fn what_tasks_read_and_decided_is_in_the_stream_without_a_checkpointer_too() {
    let graph = StateGraph::new()
        .channel("a", ChannelSpec::last_value())
        .channel("b", ChannelSpec::last_value())
        .node("first", reads(&["a"], |_| json!({"b": 1})))
        .node("second", reads(&["b"], |_| json!({"a": 2})))
        .edge(START, "first")
        .branch(
            "first",
            Branch::new(routes(|_| vec![Target::node("second")])).named("on"),
        )
        .compile()
        .unwrap();
    let config = RunConfig::default().record(true).modes([StreamMode::Tasks]);
    let mut run = graph.stream(Input::value(json!({"a": 1})), config);
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        if let Payload::TaskEnd(end) = event.payload {
            let record = end.record.expect("a record");
            let to: Vec<_> = record
                .decisions
                .iter()
                .flat_map(|decision| decision.to.clone())
                .collect();
            seen.push((end.name, record.reads, to));
        }
    }
    let keys = |key: &str| KeysRead::Keys(vec![key.into()]);
    assert_eq!(
        seen,
        [
            ("first".into(), keys("a"), vec!["second".into()]),
            ("second".into(), keys("b"), vec![])
        ]
    );
}

/// The keys that a task may have read, each with the step that wrote it last; those of a step by name.
fn possible(writer: &inspect::Writer) -> Vec<String> {
    let read = |read: &inspect::PossibleRead| (-read.written.metadata.step, read.key.clone());
    let mut reads: Vec<_> = writer.may_have_read.iter().map(read).collect();
    assert!(reads.is_sorted_by_key(|(step, _)| *step));
    reads.sort();
    reads
        .iter()
        .map(|(step, key)| format!("{key} {}", -step))
        .collect()
}

#[tokio::test]
async fn of_a_task_that_took_the_whole_state_the_newest_keys_are_named() {
    let whole = |context: NodeContext, state: Value| async move {
        if let Some(recorder) = context.recorder() {
            recorder.tracks_reads();
            recorder.read_all();
        }
        Ok(NodeOutput::from(
            json!({"sum": state.as_object().map(|keys| keys.len() as i64)}),
        ))
    };
    let keys: Vec<String> = (0..10).map(|n| format!("k{n}")).collect();
    let graph = (keys.iter().fold(StateGraph::new(), |graph, key| {
        graph.channel(key.as_str(), ChannelSpec::last_value())
    }))
    .channel("sum", ChannelSpec::last_value())
    .node("late", reads(&[], |_| json!({"k9": 2})))
    .node("whole", whole)
    .edge(START, "late")
    .edge("late", "whole");
    let graph = on_memory(graph);
    let input: Object = keys.iter().map(|key| (key.clone(), Value::from(1))).collect();
    let input = Input::value(Value::Object(input));
    graph.invoke(input, recorded("t")).await.unwrap();
    let found = graph.provenance(&StateRef::live("t"), "/sum", 20).await.unwrap();
    let writer = &found.writes[0].writers[0];
    assert_eq!((found.writes.len(), &writer.reads), (1, &KeysRead::All));
    assert_eq!((writer.may_have_read.len(), &*possible(writer)[0]), (8, "k9 1"));
    assert!(writer.may_have_read_more);
    let seen = graph.provenance(&StateRef::live("t"), "/k9", 20).await.unwrap();
    assert_eq!(seen.writes[0].writers[0].may_have_read, []);
}

#[tokio::test]
async fn an_edit_ends_the_chain_and_a_past_moment_is_asked_as_it_was() {
    let graph = graph();
    let input = Input::value(json!({"price": 4, "count": 3}));
    graph.invoke(input, recorded("t")).await.unwrap();
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let before_sum = history
        .iter()
        .find(|state| state.next == ["sum".into()] as [Name; 1])
        .unwrap();
    let update = StateUpdate {
        values: json!({"total": 50}),
        as_node: Some("other".into()),
        ..StateUpdate::default()
    };
    let edited = graph.update_state(&before_sum.state_ref(), update).await.unwrap();
    let at = StateRef::at("t", edited.checkpoint_id);
    graph.invoke(Input::Continue, recorded("t")).await.unwrap();
    let live = StateRef::live("t");
    let chain = ["/total = 51 by sum (task)", "/total = 50 by other (edit) < 0"];
    assert_eq!(ask(&graph, &live, "/total").await, chain);
    assert_eq!(ask(&graph, &at, "/total").await, ["/total = 50 by other (edit)"]);
    assert_eq!(
        ask(&graph, &before_sum.state_ref(), "/total").await[0],
        "/total = 12 by multiply (task)"
    );
}

/// A node that asks twice, then writes the second answer; another one reads what it wrote.
fn asking() -> Graph {
    let ask = |context: NodeContext, _: Value| async move {
        context.interrupt("Is it so?")?;
        let why = context.interrupt(json!({"text": "Why?"}))?;
        Ok(NodeOutput::update([("note", why)]))
    };
    on_memory(
        StateGraph::new()
            .channel("note", ChannelSpec::last_value())
            .channel("total", ChannelSpec::last_value())
            .node("ask", ask)
            .node("sum", reads(&["note"], |v| json!({"total": v[0].clone()})))
            .edge(START, "ask")
            .edge("ask", "sum"),
    )
}

#[tokio::test]
async fn an_answer_of_a_person_is_named_with_its_question() {
    let graph = asking();
    let input = Input::value(json!({"total": 1}));
    graph.invoke(input, recorded("t")).await.unwrap();
    graph.invoke(Input::answer("yes"), recorded("t")).await.unwrap();
    let asked = graph.get_state(&StateRef::live("t")).await.unwrap();
    let last = Command::answer("because").update(json!({"total": 5}));
    graph.invoke(Input::Command(last), recorded("t")).await.unwrap();
    let live = StateRef::live("t");
    let found = graph.provenance(&live, "/total", 20).await.unwrap();
    assert_eq!(
        lines(&found),
        [
            r#"/total = "because" by sum (task)"#,
            r#"/note = "because" by ask (task) < 0"#
        ]
    );
    assert_eq!(found.writes[0].writers[0].answers, []);
    let given = |question: Option<Value>, answer: &str| inspect::AnswerGiven {
        question,
        answer: answer.into(),
    };
    // Of several questions of a task the last one is stored.
    assert_eq!(
        found.writes[1].writers[0].answers,
        [
            given(None, "yes"),
            given(Some(json!({"text": "Why?"})), "because")
        ]
    );
    assert_eq!(found.writes[1].from, asked.checkpoint.map(|head| head.id));
    let at = StateRef::at("t", found.writes[1].written.id.clone());
    assert_eq!(ask(&graph, &at, "/total").await, ["/total = 5 by  (command)"]);
}

#[tokio::test]
async fn an_answer_inside_nested_graphs_is_named_with_its_question() {
    let ask = |context: NodeContext, _: Value| async move {
        let sure = context.interrupt("Sure?")?;
        let why = context.interrupt("Why?")?;
        Ok(NodeOutput::update([("note", json!([sure, why]))]))
    };
    let state = || StateGraph::new().channel("note", ChannelSpec::last_value());
    let inner = state().node("ask", ask).edge(START, "ask").compile().unwrap();
    let middle = state()
        .subgraph("inner", &inner)
        .edge(START, "inner")
        .compile()
        .unwrap();
    let graph = on_memory(state().subgraph("middle", &middle).edge(START, "middle"));
    graph
        .invoke(Input::value(json!({"note": ""})), recorded("t"))
        .await
        .unwrap();
    for answer in ["yes", "because"] {
        graph.invoke(Input::answer(answer), recorded("t")).await.unwrap();
    }
    let found = graph
        .provenance(&StateRef::live("t"), "/note/1", 20)
        .await
        .unwrap();
    assert_eq!(lines(&found)[0], r#"/note/1 = "because" by middle (task)"#);
    let given = |question: Option<&str>, answer: &str| inspect::AnswerGiven {
        question: question.map(Value::from),
        answer: answer.into(),
    };
    assert_eq!(
        found.writes[0].writers[0].answers,
        [given(None, "yes"), given(Some("Why?"), "because")]
    );
}

#[tokio::test]
async fn a_thread_that_begins_with_an_edit_names_it() {
    let graph = graph();
    let update = StateUpdate {
        values: json!({"total": 50}),
        as_node: Some("other".into()),
        ..StateUpdate::default()
    };
    graph.update_state(&StateRef::live("t"), update).await.unwrap();
    let live = StateRef::live("t");
    assert_eq!(
        ask(&graph, &live, "/total").await,
        ["/total = 50 by other (edit)"]
    );
}

#[tokio::test]
async fn of_many_packets_the_one_that_gave_the_item_is_named() {
    let fan = |_: NodeContext, state: Value| async move {
        let items = state
            .get("items")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        Ok(items
            .iter()
            .map(|item| Target::send("work", json!({"n": item.clone()})))
            .collect())
    };
    let explained = move |context: NodeContext, state: Value| {
        if let Some(recorder) = context.recorder() {
            recorder.read(&state, "items");
            recorder.decided_by(Some(&"state.items".into()), &2.into());
        }
        fan(context, state)
    };
    let work = |_: NodeContext, packet: Value| async move {
        let n = packet.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::from(
            json!({"results": [{"id": format!("r{n}"), "n": n * 10}]}),
        ))
    };
    let graph = on_memory(
        StateGraph::new()
            .channel("items", ChannelSpec::last_value())
            .channel("results", ChannelSpec::append())
            .node("plan", reads(&["items"], |_| json!({})))
            .node("work", work)
            .node("front", reads(&[], |_| json!({"results": []})))
            .edge(START, "plan")
            .branch("plan", Branch::new(explained).named("each"))
            .edge("work", "front"),
    );
    let input = Input::value(json!({"items": [1, 2, 3], "results": []}));
    graph.invoke(input, recorded("t")).await.unwrap();
    let live = StateRef::live("t");
    let found = graph.provenance(&live, "/results/1", 20).await.unwrap();
    assert_eq!(
        lines(&found),
        [
            r#"/results/1 = {"id":"r2","n":20} by work (task)"#,
            "/items = [1,2,3] by  (input) < 0"
        ]
    );
    let [writer] = &found.writes[0].writers[..] else {
        panic!("one of the three gave it: {found:?}");
    };
    assert!(writer.packet);
    assert!(writer.input.is_some(), "which packet it was");
    assert_eq!(writer.sent_by, [Name::from("plan")]);
    let inside = ask(&graph, &live, "/results/1/n").await;
    assert_eq!(
        inside[0], "/results/1/n = 20 by work (task)",
        "a part of the item, too"
    );
}

/// Node, and the value that it gives.
type Step = (&'static str, fn() -> Value);

/// Each node gives a key another value.
fn rewriting(key: &'static str, steps: [Step; 4]) -> Graph {
    let graph = StateGraph::new().channel(key, ChannelSpec::last_value());
    let (mut graph, mut before) = (graph, START);
    for (name, make) in steps {
        let node = move |_: NodeContext, _: Value| {
            let update = NodeOutput::update([(key, make())]);
            async move { Ok(update) }
        };
        graph = graph.node(name, node).edge(before, name);
        before = name;
    }
    on_memory(graph)
}

/// An order of more than 200 bytes.
fn order_of(price: i64, note: &str) -> Value {
    json!({"text": "long ".repeat(100), "lines": [{"price": price}], "note": note})
}

#[tokio::test]
async fn a_place_in_a_large_value_is_followed_past_writes_that_left_it_alone() {
    let graph = rewriting(
        "order",
        [
            ("first", || order_of(1, "a")),
            ("dear", || order_of(9, "a")),
            ("noted", || order_of(9, "b")),
            ("again", || order_of(9, "c")),
        ],
    );
    graph
        .invoke(Input::value(json!({"order": 0})), recorded("t"))
        .await
        .unwrap();
    let live = StateRef::live("t");
    let of = async |pointer: &str| ask(&graph, &live, pointer).await[0].clone();
    assert_eq!(
        of("/order/lines/0/price").await,
        "/order/lines/0/price = 9 by dear (task)"
    );
    assert_eq!(of("/order/note").await, "/order/note = \"c\" by again (task)");
    let text = of("/order/text").await;
    assert!(text.ends_with("by first (task)"), "{text}");
}

#[tokio::test]
async fn what_is_older_than_the_values_looked_through_is_asked_for_further_back() {
    let turn = |_: NodeContext, state: Value| {
        let n = state
            .get("log")
            .and_then(|log| log.get("n").and_then(Value::as_i64))
            .unwrap_or(0);
        async move { Ok(NodeOutput::update([("log", json!({"first": "x", "n": n + 1}))])) }
    };
    let again = |_: NodeContext, state: Value| {
        let n = state
            .get("log")
            .and_then(|log| log.get("n").and_then(Value::as_i64))
            .unwrap_or(0);
        async move { Ok(vec![Target::node(if n < 2_100 { "turn" } else { END })]) }
    };
    let graph = StateGraph::new()
        .channel("log", ChannelSpec::last_value())
        .node("begin", turn)
        .node("turn", turn)
        .edge(START, "begin")
        .edge("begin", "turn")
        .branch("turn", Branch::new(again));
    let graph = on_memory(graph);
    let config = recorded("t").recursion_limit(10_000);
    graph
        .invoke(Input::value(json!({"log": null})), config)
        .await
        .unwrap();
    let live = StateRef::live("t");
    let found = graph.provenance(&live, "/log/first", 20).await.unwrap();
    assert_eq!(lines(&found), ["/log/first = \"x\" by  (older)"]);
    let write = &found.writes[0];
    assert_eq!(write.written.metadata.step, 2_100 - 2_000);
    let further = StateRef::at("t", write.written.id.clone());
    let found = ask(&graph, &further, &write.pointer).await;
    assert_eq!(found, ["/log/first = \"x\" by begin (task)"]);
}

#[tokio::test]
async fn an_item_without_an_id_is_known_where_its_place_moved() {
    let graph = rewriting(
        "log",
        [
            ("add", || json!(["x", {"n": 1}])),
            ("more", || json!(["x", {"n": 1}, "y"])),
            ("trim", || json!([{"n": 1}, "y"])),
            ("twice", || json!(["new", {"n": 1}, "y", "y"])),
        ],
    );
    graph
        .invoke(Input::value(json!({"log": []})), recorded("t"))
        .await
        .unwrap();
    let live = StateRef::live("t");
    let of = async |pointer: &str| ask(&graph, &live, pointer).await[0].clone();
    assert_eq!(of("/log/0").await, "/log/0 = \"new\" by twice (task)");
    assert_eq!(of("/log/1/n").await, "/log/1/n = 1 by add (task)");
    assert_eq!(of("/log/1").await, "/log/1 = {\"n\":1} by add (task)");
    // Of two equal items one is new, and which of them cannot be seen.
    assert_eq!(of("/log/3").await, "/log/3 = \"y\" by twice (task)");
}

#[tokio::test]
async fn what_is_not_there_is_reported() {
    let graph = graph();
    graph
        .invoke(Input::value(json!({"price": 1})), recorded("t"))
        .await
        .unwrap();
    let live = StateRef::live("t");
    for (pointer, part) in [
        ("/none", "nothing at /none"),
        ("/price/0", "nothing at /price/0"),
        ("", "names no value"),
        ("price", "names no value"),
    ] {
        let error = graph.provenance(&live, pointer, 5).await.unwrap_err().to_string();
        assert!(error.contains(part), "{pointer}: {error}");
    }
    let error = graph
        .provenance(&StateRef::live("other"), "/price", 5)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("other"), "{error}");
}
