//! Copies of LangGraph threads, run on where a graph with the same nodes exists here: questions, second questions, answers that
//! nothing has taken yet, edits, errors and nested graphs, each as the library itself goes on with them.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::checkpoint::{CheckpointAddress, ListQuery, WaitingQuery};
use superstep::inspect::StateSnapshot;
use superstep::run::StateRef;
use superstep::{
    ChannelSpec, Checkpointer, Command, Graph, Input, MemorySaver, NodeContext, NodeError, NodeOutput,
    RunConfig, START, StateGraph, StateUpdate, Target, ThreadId, Value,
};
use superstep_storage::SqliteSaver;
use superstep_storage::transfer::transfer;

use crate::langgraph::{Copy, MORE, RELEASES, expected};

/// What is made by `make_open.py`, with both layouts of triggers.
const OPEN: [&str; 2] = ["open-0.2.60", "open-1.2.24"];

async fn copied(from: &dyn Checkpointer, to: &dyn Checkpointer, thread: &str) {
    let thread = ThreadId::from(thread);
    transfer(from, to, &thread, &thread, &|_, _| true)
        .await
        .expect("copies");
}

fn wrote(name: &str) -> NodeOutput {
    NodeOutput::Update(superstep::json!({"log": [name]}))
}

fn base() -> StateGraph {
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .channel("n", ChannelSpec::last_value())
}

trait Nodes {
    /// A node that says its name.
    fn notes(self, node: &'static str, says: &'static str) -> Self;
    /// A node that asks, one question after the other.
    fn asks(self, node: &'static str, questions: &'static [&'static str]) -> Self;
}

impl Nodes for StateGraph {
    fn notes(self, node: &'static str, says: &'static str) -> Self {
        self.node(node, move |_: NodeContext, _: Value| async move {
            Ok::<_, NodeError>(wrote(says))
        })
    }

    fn asks(self, node: &'static str, questions: &'static [&'static str]) -> Self {
        self.node(node, move |context: NodeContext, _: Value| async move {
            let mut log = Vec::new();
            for question in questions {
                let answer = context.interrupt(superstep::json!({"ask": question}))?;
                log.push(Value::from(format!(
                    "{question} {}",
                    answer.as_str().unwrap_or_default()
                )));
            }
            Ok::<_, NodeError>(NodeOutput::Update(Value::Object(
                [("log", Value::from(log))].into_iter().collect(),
            )))
        })
    }
}

fn line(questions: &'static [&'static str]) -> StateGraph {
    base()
        .notes("first", "first")
        .asks("ask", questions)
        .notes("last", "last")
        .edge(START, "first")
        .edge("first", "ask")
        .edge("ask", "last")
}

fn around(inner: StateGraph) -> StateGraph {
    let inner = inner.compile().expect("a nested graph");
    base()
        .notes("first", "first")
        .subgraph("review", &inner)
        .notes("last", "last")
        .edge(START, "first")
        .edge("first", "review")
        .edge("review", "last")
}

fn writes_first(inner: StateGraph, then: &'static str) -> StateGraph {
    inner
        .node("write", |_: NodeContext, _: Value| async {
            Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"n": 7})))
        })
        .edge(START, "write")
        .edge("write", then)
}

/// The program of a thread of `make_open.py`, with nodes of the same names, in which nothing breaks any more.
fn program(thread: &str) -> StateGraph {
    match thread {
        "one" | "given" | "edited" | "skipped" => line(&["one?"]),
        "second" | "given second" => line(&["one?", "two?"]),
        "three" => line(&["one?", "two?", "three?"]),
        "nested" | "nested given" => around(writes_first(base().asks("ask", &["inner?"]), "ask")),
        "fails inside" => around(writes_first(base().notes("boom", "mended"), "boom")),
        "fails" => base()
            .notes("fine", "fine again")
            .notes("boom", "mended")
            .notes("end", "end")
            .edge(START, "fine")
            .edge(START, "boom")
            .join(["fine", "boom"], "end"),
        "both" => base()
            .asks("a", &["a?"])
            .asks("b", &["b?"])
            .notes("end", "end")
            .notes("after_a", "after a")
            .edge(START, "a")
            .edge(START, "b")
            .join(["a", "b"], "end")
            .edge("a", "after_a"),
        "packets" => base()
            .node("fan", |_: NodeContext, _: Value| async {
                let packet = |n: i64| Target::send("ask", superstep::json!({"n": n}));
                Ok::<_, NodeError>(NodeOutput::Command(
                    Command::goto(vec![packet(0), packet(1)]).update(superstep::json!({"log": ["fan"]})),
                ))
            })
            .node("ask", |context: NodeContext, input: Value| async move {
                let n = input["n"].as_i64().unwrap_or_default();
                let answer = context.interrupt(superstep::json!({"n": n}))?;
                let said = format!("{n} {}", answer.as_str().unwrap_or_default());
                Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"log": [said]})))
            })
            .edge(START, "fan"),
        other => panic!("there is no program for {other:?}"),
    }
}

fn compiled(graph: StateGraph, saver: &Arc<dyn Checkpointer>) -> Graph {
    graph.compile().expect("a graph").with_checkpointer(saver.clone())
}

async fn live(graph: &Graph, thread: &str) -> StateSnapshot {
    graph.get_state(&StateRef::live(thread)).await.expect("a state")
}

fn next(state: &StateSnapshot) -> Vec<&str> {
    state.next.iter().map(|name| &**name).collect()
}

#[tokio::test]
async fn every_open_thread_goes_on_as_the_library_goes_on_with_it() {
    for release in OPEN {
        let copy = Copy::of(release);
        let theirs = copy.saver();
        for (thread, library) in expected(release).as_object().expect("threads") {
            let place = format!("{release} {thread}");
            if library["next"] == json!([]) && library["questions"] == json!([]) {
                // In the first release one answer is for every question that is asked at once.
                continue;
            }
            let ours: Arc<dyn Checkpointer> =
                Arc::new(SqliteSaver::open(copy.folder.path().join(format!("{thread}.db"))).expect("opens"));
            copied(&*theirs, &*ours, thread).await;
            let graph = compiled(program(thread), &ours);
            let state = live(&graph, thread).await;
            // The first release shows a task that has answers as none that is next.
            if !(library["next"] == json!([]) && library["questions"] != json!([])) {
                assert_eq!(json!(next(&state)), library["next"], "{place}: next");
            }
            // An answer that the program was given and had not come to use is the task's: its question waits no longer.
            let is_given = thread.contains("given");
            let asked: Vec<Json> = state
                .interrupts
                .iter()
                .map(|asked| Json::from(&asked.value))
                .collect();
            match is_given && !thread.contains("nested") {
                true => assert!(asked.is_empty(), "{place}: {asked:?}"),
                false => assert_eq!(json!(asked), library["questions"], "{place}: questions"),
            }
            for answer in library["answers"].as_array().expect("answers") {
                let input = match answer.as_str() {
                    Some(answer) => Input::answer(answer),
                    None => Input::Continue,
                };
                graph
                    .invoke(input, RunConfig::on(thread.as_str()))
                    .await
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
            }
            let ended = live(&graph, thread).await;
            assert_eq!(Json::from(&ended.values), library["values"], "{place}");
            assert_eq!(json!(next(&ended)), library["left"], "{place}");
            let waiting = WaitingQuery::new().thread(ThreadId::from(thread.as_str()));
            if let Some(waits) = ours.coordination() {
                let waiting = waits.waiting(&waiting).await.expect("lists");
                assert!(waiting.iter().all(|at| !at.is_newest), "{place}: {waiting:?}");
            }
        }
    }
}

/// The program of the given databases, with nodes of the same names.
fn shop(saver: &Arc<dyn Checkpointer>) -> Graph {
    let says = |name: &'static str, update: Value| {
        move |_: NodeContext, _: Value| {
            let mut update = update.as_object().cloned().unwrap_or_default();
            update.insert("log", Value::from(vec![Value::from(name)]));
            async move { Ok::<_, NodeError>(NodeOutput::Update(Value::Object(update))) }
        }
    };
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(superstep::json!({"question": "Pay 43.50?"}))?;
        let said = format!("answer {}", answer.as_str().unwrap_or_default());
        Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"log": [said]})))
    };
    let inner = StateGraph::new()
        .channel("log", ChannelSpec::append())
        .channel("draft", ChannelSpec::last_value())
        .node(
            "write",
            says("write", superstep::json!({"draft": "Dear customer, 43.50 EUR."})),
        )
        .node("ask", ask)
        .edge(START, "write")
        .edge("write", "ask")
        .compile()
        .expect("a nested graph");
    let graph = StateGraph::new()
        .channel("messages", ChannelSpec::add_messages())
        .channel("log", ChannelSpec::append())
        .channel("total", ChannelSpec::last_value())
        .channel("lines", ChannelSpec::last_value())
        .channel("values", ChannelSpec::last_value())
        .channel("draft", ChannelSpec::last_value())
        .channel("verdict", ChannelSpec::last_value())
        .node("read", says("read", superstep::json!({})))
        .node("cost", says("cost", superstep::json!({})))
        .node("join", says("join", superstep::json!({})))
        .node("decide", says("decide", superstep::json!({"verdict": "paid"})))
        .subgraph("review", &inner)
        .edge(START, "read")
        .edge("cost", "join")
        .edge("join", "review")
        .edge("review", "decide");
    compiled(graph, saver)
}

#[tokio::test]
async fn a_copy_of_every_release_is_answered_and_forked() {
    for release in RELEASES {
        let copy = Copy::of(release);
        let theirs = copy.saver();
        let ours: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
        copied(&*theirs, &*ours, "waiting").await;
        let graph = shop(&ours);
        let state = live(&graph, "waiting").await;
        assert_eq!(next(&state), ["review"], "{release}");
        assert_eq!(
            state.interrupts.len(),
            1,
            "{release}: its question waits here too"
        );
        let theirs_asked = theirs
            .foreign_state(&StateRef::live("waiting"))
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(
            state.interrupts, theirs_asked.interrupts,
            "{release}: under its id"
        );
        // The graph that the task runs is where the program kept it.
        let nested = graph
            .get_state(&StateRef::live("waiting").with_subgraphs())
            .await
            .expect("a state");
        let Some(superstep::inspect::TaskState::Snapshot(inner)) = &nested.tasks[0].state else {
            panic!("{release}: {:?}", nested.tasks);
        };
        assert_eq!(next(inner), ["ask"], "{release}");
        assert_eq!(inner.interrupts.len(), 1, "{release}");
        let ended = graph
            .invoke(Input::answer("yes"), RunConfig::on("waiting"))
            .await
            .expect("runs on");
        // As the program itself ended, when it was given the same answer.
        let library = &expected(release)["done"]["history"][0]["values"];
        let value = Json::from(&ended.value);
        for key in ["log", "verdict", "draft", "total"] {
            assert_eq!(value[key], library[key], "{release} {key}");
        }
        // What it ran here are tasks of our own.
        let newest = live(&graph, "waiting").await.checkpoint.expect("a checkpoint");
        assert!(
            !newest.metadata.user.contains_key(superstep::checkpoint::TASK_IDS),
            "{release}: {newest:?}"
        );
        // Another branch from a checkpoint that the program made.
        let history = theirs
            .heads(&ListQuery::new().thread("waiting").ns(""))
            .await
            .expect("reads");
        let join = history
            .iter()
            .find(|head| head.next.iter().any(|name| &**name == "join"))
            .expect("there");
        let past = RunConfig::on("waiting").checkpoint_id(join.id.clone());
        let forked = graph
            .invoke(Input::Continue, past)
            .await
            .expect("runs on from there");
        assert_eq!(forked.interrupts.len(), 1, "{release}: {forked:?}");
        assert!(
            forked.interrupts[0].id != state.interrupts[0].id,
            "{release}: a branch asks by itself"
        );
        // And from its packets, where the file of that release has them inside the checkpoint.
        let costs = history
            .iter()
            .find(|head| head.next.iter().any(|name| &**name == "cost"))
            .expect("there");
        let past = StateRef::at("waiting", costs.id.clone());
        let packets = graph.get_state(&past).await.expect("a state");
        assert_eq!(next(&packets), ["cost", "cost"], "{release}");
        assert_eq!(Json::from(&packets.tasks[0].input["line"]["cents"]), json!(4000));
        assert!(
            packets.tasks.iter().all(|task| task.result.is_some()),
            "{release}: what they wrote is theirs here, too: {:?}",
            packets.tasks
        );
    }
}

#[tokio::test]
async fn parallel_questions_and_deep_ones_are_answered_by_their_ids() {
    let copy = Copy::of(MORE);
    let theirs = copy.saver();
    let ours: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    copied(&*theirs, &*ours, "parallel").await;
    copied(&*theirs, &*ours, "deep").await;
    let ask = |context: NodeContext, input: Value| async move {
        let answer = context.interrupt(superstep::json!({"n": input["n"].clone()}))?;
        Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"log": [answer]})))
    };
    let one = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("one?")?;
        Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"log": [answer]})))
    };
    let graph = base()
        .notes("fan", "fan")
        .node("ask", ask)
        .node("one", one)
        .edge(START, "fan");
    let graph = compiled(graph, &ours);
    let state = live(&graph, "parallel").await;
    let shown = theirs
        .foreign_state(&StateRef::live("parallel"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(state.interrupts.len(), 3, "one of four was answered");
    let mut ids: Vec<&str> = state.interrupts.iter().map(|asked| asked.id.as_str()).collect();
    let mut theirs_ids: Vec<&str> = shown.interrupts.iter().map(|asked| asked.id.as_str()).collect();
    ids.sort_unstable();
    theirs_ids.sort_unstable();
    assert_eq!(ids, theirs_ids);
    // One answer would not say which question it is for.
    let ambiguous = graph
        .invoke(Input::answer("which?"), RunConfig::on("parallel"))
        .await;
    assert!(ambiguous.is_err(), "{ambiguous:?}");
    let answers: Vec<(String, Value)> = (state.interrupts.iter())
        .map(|asked| {
            let said = match asked.value["n"].as_i64() {
                Some(n) => format!("to {n}"),
                None => "to one".to_owned(),
            };
            (asked.id.as_str().to_owned(), Value::from(said))
        })
        .collect();
    // Two of them first: the third waits on.
    let some: Value = Value::Object(answers[..2].iter().cloned().collect());
    let stopped = graph
        .invoke(Input::answer(some), RunConfig::on("parallel"))
        .await
        .expect("runs on");
    assert_eq!(stopped.interrupts.len(), 1, "{stopped:?}");
    let rest: Value = Value::Object(answers[2..].iter().cloned().collect());
    let ended = graph
        .invoke(Input::answer(rest), RunConfig::on("parallel"))
        .await
        .expect("runs on");
    let mut log: Vec<String> = Json::from(&ended.value["log"])
        .as_array()
        .expect("a list")
        .iter()
        .map(ToString::to_string)
        .collect();
    log.sort();
    assert_eq!(
        log,
        [
            "\"fan\"",
            "\"first\"",
            "\"in\"",
            "\"to 1\"",
            "\"to 2\"",
            "\"to one\""
        ]
    );
    // Two graphs deep.
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(superstep::json!({"who": "inner"}))?;
        let said = format!("inner {}", answer.as_str().unwrap_or_default());
        Ok::<_, NodeError>(NodeOutput::Update(superstep::json!({"log": [said]})))
    };
    let inner = base()
        .node("ask", ask)
        .edge(START, "ask")
        .compile()
        .expect("a graph");
    let middle = base()
        .subgraph("inner", &inner)
        .edge(START, "inner")
        .compile()
        .expect("a graph");
    let graph = base()
        .subgraph("middle", &middle)
        .notes("after", "after")
        .edge(START, "middle")
        .edge("middle", "after");
    let graph = compiled(graph, &ours);
    let state = live(&graph, "deep").await;
    assert_eq!(state.interrupts.len(), 1, "{state:?}");
    let by_id = [(state.interrupts[0].id.as_str(), Value::from("done"))];
    let answer = Value::Object(by_id.into_iter().collect());
    let ended = graph
        .invoke(Input::answer(answer), RunConfig::on("deep"))
        .await
        .expect("runs on");
    let log = Json::from(&ended.value["log"]);
    let log = log.as_array().expect("a list");
    assert_eq!(log.last(), Some(&json!("after")), "{log:?}");
    assert!(log.contains(&json!("inner done")), "{log:?}");
}

#[tokio::test]
async fn an_edit_of_a_copy_takes_the_place_of_its_question() {
    let copy = Copy::of(OPEN[1]);
    let theirs = copy.saver();
    let ours: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    copied(&*theirs, &*ours, "one").await;
    let graph = compiled(program("one"), &ours);
    let asked = live(&graph, "one").await.checkpoint.expect("a checkpoint");
    let update = StateUpdate::new(superstep::json!({"log": ["by hand"]})).as_node("ask");
    graph
        .update_state(&StateRef::live("one"), update)
        .await
        .expect("edits");
    let edited = live(&graph, "one").await;
    assert_eq!(next(&edited), ["last"]);
    let newest = edited.checkpoint.expect("a checkpoint");
    assert!(
        !newest.metadata.user.contains_key(superstep::checkpoint::TASK_IDS),
        "its tasks are its own: {newest:?}"
    );
    // The edit is filed with the task that asked, under the id that the program gave it.
    let rows = ours
        .writes_of(CheckpointAddress::new("one", "", asked.id.clone()))
        .await
        .expect("reads");
    let task = &rows
        .iter()
        .find(|row| &*row.write.channel == "__interrupt__")
        .expect("asked")
        .task_id;
    assert!(
        rows.iter()
            .any(|row| row.task_id == *task && &*row.write.channel == "log"),
        "{rows:?}"
    );
    let ended = graph
        .invoke(Input::Continue, RunConfig::on("one"))
        .await
        .expect("runs on");
    assert_eq!(
        Json::from(&ended.value["log"]),
        json!(["in", "first", "by hand", "last"])
    );
}
