//! Rust types in and out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::*;

superstep::state! {
    /// A ticket on its way through the desk.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Ticket {
        pub text: String,
        pub urgency: Option<u8>,
        pub notes: Vec<String> = ChannelSpec::append(),
        pub answer: String,
    }
}

#[derive(Serialize)]
struct Rated {
    urgency: u8,
    notes: &'static str,
}

/// A node with something of its own.
struct Signs {
    name: String,
}

#[async_trait]
impl Node for Signs {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let ticket: Ticket = input.decode()?;
        let approved = context.interrupt(json!({"approve": ticket.text}))?;
        let answer = match approved == json!(true) {
            true => format!("Yes. {}", self.name),
            false => format!("No. {}", self.name),
        };
        Ok(NodeOutput::update([("answer", answer)]))
    }
}

fn desk() -> TypedGraph<Ticket, Ticket> {
    StateGraph::of::<Ticket>()
        .node(
            "rate",
            typed(async |_, ticket: Ticket| {
                let urgency = ticket.text.matches('!').count() as u8;
                Ok(Rated {
                    urgency,
                    notes: "rated",
                })
            }),
        )
        .node("hurry", typed(async |_, _: Value| Ok(json!({"notes": "hurry"}))))
        .node("sign", Signs { name: "Bo".into() })
        .edge(START, "rate")
        .branch(
            "rate",
            Branch::new(choose(|ticket: Ticket| match ticket.urgency {
                Some(2..) => vec!["hurry", "sign"],
                _ => vec!["sign"],
            })),
        )
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .typed()
}

fn ticket(text: &str) -> Ticket {
    Ticket {
        text: text.into(),
        ..Ticket::default()
    }
}

#[tokio::test]
async fn structs_go_in_and_come_out() {
    let desk = desk();
    let Outcome::Asked(questions) = desk.invoke(&ticket("Help!!"), RunConfig::on("1")).await.unwrap() else {
        panic!("it asks")
    };
    assert_eq!(questions[0].value, json!({"approve": "Help!!"}));
    let waiting: Ticket = desk.state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (waiting.urgency, waiting.notes.join(",")),
        (Some(2), "rated,hurry".into())
    );
    let done = desk
        .resume(true, RunConfig::on("1"))
        .await
        .unwrap()
        .done()
        .unwrap();
    assert_eq!(
        done,
        Ticket {
            urgency: Some(2),
            notes: vec!["rated".into(), "hurry".into()],
            answer: "Yes. Bo".into(),
            ..ticket("Help!!")
        }
    );
    let again = desk.go_on(RunConfig::on("1")).await.unwrap().done().unwrap();
    assert_eq!(again, done);
    assert_eq!(
        desk.get_state_history(&"1".into(), &ListQuery::default())
            .await
            .unwrap()
            .len(),
        4,
        "everything of the graph is there too"
    );
}

#[tokio::test]
async fn a_node_alone_takes_several_states_and_streams() {
    let desk = desk();
    let states = vec![json!({"text": "a!"}), json!(5), json!({"text": "b!!"})];
    let rated = desk.batch_node("rate", states).await;
    let urgency = |run: &NodeRun| run.update.get("urgency").and_then(Value::as_i64);
    assert_eq!(rated[0].as_ref().ok().and_then(urgency), Some(1));
    assert!(rated[1].is_err(), "the others are none the worse for it");
    assert_eq!(rated[2].as_ref().ok().and_then(urgency), Some(2));

    let says = |context: NodeContext, _: Value| async move {
        context.emit("half way").await;
        Ok(NodeOutput::update([("x", 1)]))
    };
    let graph = StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .node("says", says)
        .edge(START, "says")
        .compile()
        .unwrap();
    let config = RunConfig::default().modes([StreamMode::Custom, StreamMode::Updates]);
    let mut run = graph.stream_node("says", json!({}), vec![], config);
    let mut emitted = Vec::new();
    while let Some(event) = run.next().await {
        emitted.push(event.data());
    }
    assert_eq!(emitted, [json!("half way"), json!({"says": {"x": 1}})]);
    assert_eq!(run.finish().await.unwrap().update, json!({"x": 1}));
}

#[tokio::test]
async fn a_node_can_be_tried_alone() {
    let desk = desk();
    let rated = desk
        .run_node("rate", json!({"text": "a!b!c!"}), vec![])
        .await
        .unwrap();
    assert_eq!(rated.update, json!({"urgency": 3, "notes": "rated"}));
    assert_eq!(
        rated.next,
        ["hurry".into(), "sign".into()],
        "its router sees what it wrote"
    );
    let asked = desk.run_node("sign", json!({"text": "t"}), vec![]).await.unwrap();
    assert_eq!((asked.update, asked.next.len()), (json!({}), 0));
    assert_eq!(asked.asked[0].value, json!({"approve": "t"}));
    let signed = desk
        .run_node("sign", json!({"text": "t"}), vec![false.into()])
        .await
        .unwrap();
    assert_eq!(
        (signed.update, signed.asked.len()),
        (json!({"answer": "No. Bo"}), 0)
    );
    let error = desk.run_node("nobody", json!({}), vec![]).await.unwrap_err();
    assert!(
        error.to_string().starts_with("Node nobody does not exist"),
        "{error}"
    );
    let error = desk.run_node("rate", json!(5), vec![]).await.unwrap_err();
    assert!(error.to_string().starts_with("Expected dict, got 5"), "{error}");
    let panics = StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .node("p", |_: NodeContext, state: Value| async move {
            assert!(state.get("x").is_some(), "no x");
            Ok(NodeOutput::none())
        })
        .edge(START, "p")
        .compile()
        .unwrap();
    let error = panics.run_node("p", json!({}), vec![]).await.unwrap_err();
    assert!(error.to_string().contains("no x"), "{error}");
}

#[tokio::test]
async fn batches_and_streams_of_structs() {
    let graph = StateGraph::of::<Ticket>()
        .node(
            "echo",
            typed(async |_, ticket: Ticket| {
                Ok(Command {
                    update: Some(json!({"answer": ticket.text})),
                    goto: vec![Target::node(END)],
                    ..Command::default()
                })
            }),
        )
        .edge(START, "echo")
        .compile()
        .unwrap()
        .typed::<Ticket, Ticket>();
    let outcomes = graph
        .batch(&[ticket("one"), ticket("two")], RunConfig::default())
        .await;
    let answers: Vec<String> = outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap().done().unwrap().answer)
        .collect();
    assert_eq!(answers, ["one", "two"]);
    let config = RunConfig::default().modes([StreamMode::Values]);
    let mut run = graph.stream(&ticket("three"), config).unwrap();
    let mut last = Ticket::default();
    while let Some(event) = run.next().await {
        last = event.data().decode().unwrap();
    }
    assert_eq!(last.answer, "three");
}

#[tokio::test]
async fn what_does_not_fit_says_where() {
    let wrong = StateGraph::new()
        .channel("urgency", ChannelSpec::last_value())
        .node(
            "read",
            typed(async |_, ticket: Ticket| Ok(json!({"urgency": ticket.urgency}))),
        )
        .edge(START, "read")
        .compile()
        .unwrap();
    let error = wrong
        .invoke(Input::value(json!({"urgency": "much"})), RunConfig::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"read\"") && error.contains("the state does not read as `Ticket`"),
        "{error}"
    );
    assert!(
        error.contains("`urgency`: invalid type: string \"much\""),
        "{error}"
    );
    let unfit = wrong.typed::<Ticket, BTreeMap<String, bool>>();
    let input = Ticket {
        urgency: Some(1),
        ..Ticket::default()
    };
    let error = unfit
        .invoke(&input, RunConfig::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the output does not read as its type: `urgency`"),
        "{error}"
    );
}

#[test]
fn values_decode_like_json() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Dot,
        Ring(f64),
        Box { wide: u32, high: Option<u32> },
        Pair(i8, i8),
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        shapes: Vec<Shape>,
        by_name: BTreeMap<String, (bool, char)>,
        nested: Option<Box<Everything>>,
        raw: Value,
    }
    let whole = |nested| Everything {
        shapes: vec![
            Shape::Dot,
            Shape::Ring(1.5),
            Shape::Box { wide: 3, high: None },
            Shape::Pair(-1, 2),
        ],
        by_name: [("k".to_owned(), (true, 'ü'))].into_iter().collect(),
        nested,
        raw: json!([1, {"a": null}]),
    };
    let data = whole(Some(Box::new(whole(None))));
    let value = Value::encode(&data).unwrap();
    assert_eq!(value.decode::<Everything>().unwrap(), data);
    assert_eq!(value.decode::<Value>().unwrap(), value);
    for (bad, expected) in [
        (
            json!({"shapes": [{"Box": {"wide": -1, "high": null}}]}),
            "`shapes[0].wide`: invalid value: integer `-1`, expected u32",
        ),
        (json!({"shapes": [], "by_name": {"k": [true]}}), "`by_name.k`: "),
        (
            json!({"shapes": [5]}),
            "`shapes[0]`: expected the name of a variant",
        ),
        (
            json!({"shapes": ["Circle"]}),
            "`shapes[0]`: unknown variant `Circle`",
        ),
    ] {
        let error = bad.decode::<Everything>().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let bytes_as_keys: BTreeMap<(u8, u8), u8> = [((1, 2), 3)].into_iter().collect();
    assert!(Value::encode(&bytes_as_keys).is_err());
}

/// A typed graph whose one node returns `update`.
fn returning(update: Value) -> TypedGraph<Ticket, Ticket> {
    let node = move |_: NodeContext, _: Value| {
        let update = update.clone();
        async move { Ok(NodeOutput::Update(update)) }
    };
    StateGraph::of::<Ticket>()
        .node("a", node)
        .edge(START, "a")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .typed()
}

#[tokio::test]
async fn a_misspelt_key_is_refused() {
    let error = returning(json!({"anwser": "yes"}))
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("no key `anwser`") && text.contains("`answer`"),
        "{text}"
    );
}

#[tokio::test]
async fn a_value_of_another_type_is_refused_from_nodes_and_edits() {
    let error = returning(json!({"urgency": "very"}))
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("urgency"), "{error}");

    let graph = returning(json!({"urgency": 3}));
    graph
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap();
    let edit = StateUpdate::new(json!({"urgency": 1000})).as_node("a");
    let error = graph.update_state(&StateRef::live("1"), edit).await.unwrap_err();
    assert!(error.to_string().contains("urgency"), "{error}");
    let ticket: Ticket = graph.state(&StateRef::live("1")).await.unwrap();
    assert_eq!(ticket.urgency, Some(3));
}

#[tokio::test]
async fn an_answer_where_nothing_waits_is_an_error() {
    let graph = returning(json!({"urgency": 3}));
    graph
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap();
    let error = graph.resume(true, RunConfig::on("1")).await.unwrap_err();
    assert!(matches!(error, RunError::UnknownInterrupt { .. }), "{error}");
}

#[derive(Debug, thiserror::Error)]
#[error("the desk is closed")]
struct ClosedDesk(#[source] std::num::ParseIntError);

#[tokio::test]
async fn any_error_ends_a_node_with_its_class_and_its_sources() {
    let fails = |error: fn() -> NodeError| async move {
        let graph = StateGraph::new()
            .channel("x", ChannelSpec::last_value())
            .node("a", move |_: NodeContext, _: Value| async move { Err(error()) })
            .edge(START, "a")
            .compile()
            .unwrap();
        match graph
            .invoke(Input::value(json!({"x": 1})), RunConfig::default())
            .await
        {
            Err(RunError::Node { failure, .. }) => failure,
            other => panic!("{other:?}"),
        }
    };
    let number = || "seven".parse::<i64>().unwrap_err();
    let closed = fails(|| ClosedDesk("seven".parse::<i64>().unwrap_err()).into()).await;
    assert_eq!(&*closed.class, "ClosedDesk");
    assert_eq!(closed.message, format!("the desk is closed: {}", number()));
    let cause = closed.cause.as_ref().unwrap();
    assert!(
        cause.downcast_ref::<ClosedDesk>().is_some(),
        "the error itself is there"
    );

    let read = fails(|| std::fs::read("/nowhere/at all").unwrap_err().into()).await;
    assert_eq!(&*read.class, "IoError");
    let json = fails(|| serde_json::from_str::<i64>("x").unwrap_err().into()).await;
    assert_eq!(&*json.class, "SerdeJsonError");
    let decoded = fails(|| json!("x").decode::<i64>().unwrap_err().into()).await;
    assert_eq!(&*decoded.class, "ValueError");
    let passed_on = fails(|| Failure::new("Mine", "as it was").into()).await;
    assert_eq!((&*passed_on.class, &*passed_on.message), ("Mine", "as it was"));

    // And back: a function that takes any error takes these.
    let boxed = || -> Result<(), Box<dyn std::error::Error>> { Err(NodeError::new("Mine", "text"))? };
    assert_eq!(boxed().unwrap_err().to_string(), "Mine: text");
}

#[test]
fn targets_mix_names_and_packets() {
    let packet = || Target::send("b", json!(1));
    let mixed = [Target::node("a"), packet()];
    assert_eq!(Command::goto(("a", packet())).goto, mixed);
    assert_eq!(Command::goto(vec!["a".into(), packet()]).goto, mixed);
    assert_eq!(Command::goto("a").and_goto(packet()).goto, mixed);
    assert_eq!(
        Command::goto(["a", "b"]).goto,
        [Target::node("a"), Target::node("b")]
    );
    assert!(Command::goto(None::<Target>).goto.is_empty());
}

#[tokio::test]
async fn a_snapshot_leads_back_to_itself() {
    let graph = returning(json!({"urgency": 3}));
    graph
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap();
    let history = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    for snapshot in &history {
        let again = graph.get_state(&snapshot.state_ref()).await.unwrap();
        assert_eq!(
            again.checkpoint.unwrap().id,
            snapshot.checkpoint.as_ref().unwrap().id
        );
    }
    let begin = history
        .iter()
        .find(|snapshot| snapshot.next == ["a".into()])
        .unwrap();
    graph.go_on(begin.run_config()).await.unwrap();
    let longer = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    assert_eq!(longer.len(), history.len() + 2, "the fork, and what ran on it");
}

#[tokio::test]
async fn an_input_of_fewer_keys_leaves_the_others_as_they_are() {
    #[derive(Serialize)]
    struct Question {
        text: &'static str,
    }
    let graph = StateGraph::of::<Ticket>()
        .node("keep", typed(async |_, _: Ticket| Ok(json!({"notes": "seen"}))))
        .edge(START, "keep")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .typed::<Question, Ticket>();
    let ask = |text| Question { text };
    graph.invoke(&ask("one"), RunConfig::on("1")).await.unwrap();
    let done = graph.invoke(&ask("two"), RunConfig::on("1")).await.unwrap();
    let ticket = done.done().unwrap();
    assert_eq!((&*ticket.text, ticket.notes.len()), ("two", 2));
}

#[tokio::test]
async fn a_typed_graph_is_forked_with_a_type() {
    #[derive(Serialize)]
    struct Urgency {
        urgency: u8,
    }
    #[derive(Serialize)]
    struct Misspelt {
        urgancy: u8,
    }
    let graph = StateGraph::of::<Ticket>()
        .node("triage", typed(async |_, _: Ticket| Ok(json!({"urgency": 1}))))
        .node(
            "note",
            typed(async |_, ticket: Ticket| {
                Ok(json!({"notes": format!("urgency {}", ticket.urgency.unwrap_or(0))}))
            }),
        )
        .edge(START, "triage")
        .edge("triage", "note")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .typed::<Ticket, Ticket>();
    graph
        .invoke(&Ticket::default(), RunConfig::on("1"))
        .await
        .unwrap();
    let history = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    let before = history.iter().find(|state| state.is_next("note")).unwrap();

    let edited = graph
        .edit_as("triage", &Urgency { urgency: 3 }, &before.state_ref())
        .await
        .unwrap();
    assert_eq!((&*edited.as_node, &*edited.next[0]), ("triage", "note"));
    let forked = graph.go_on(RunConfig::on("1")).await.unwrap().done().unwrap();
    assert_eq!((forked.urgency, &*forked.notes[0]), (Some(3), "urgency 3"));

    let refused = graph
        .edit_as("triage", &Misspelt { urgancy: 3 }, &before.state_ref())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("no key `urgancy`"), "{refused}");
}
