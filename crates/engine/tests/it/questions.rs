//! Questions that wait: at which checkpoint, for how long, and what withdraws them.

use std::sync::Arc;

use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// Asks `count` times with its name, and logs the answers.
fn asks(calls: &Calls, name: &'static str, count: usize) -> impl Node + use<> {
    let calls = calls.clone();
    move |context: NodeContext, _: Value| {
        calls.add(name);
        async move {
            let mut log = List::new();
            for k in 1..=count {
                log.push(context.interrupt(format!("{name}-{k}"))?);
            }
            Ok(NodeOutput::update([("log", Value::Array(log))]))
        }
    }
}

fn counted(calls: &Calls, name: &'static str) -> impl Node + use<> {
    let calls = calls.clone();
    move |_: NodeContext, _: Value| {
        calls.add(name);
        async move { Ok(NodeOutput::Update(json!({ "log": [name] }))) }
    }
}

/// draft → review, which asks → send
fn desk(calls: &Calls) -> Kept {
    let graph = base()
        .node("draft", counted(calls, "draft"))
        .node("review", asks(calls, "review", 1))
        .node("send", counted(calls, "send"))
        .edge(START, "draft")
        .edge("draft", "review")
        .edge("review", "send");
    kept(graph)
}

/// A graph and what keeps its threads.
struct Kept {
    graph: Graph,
    saver: Arc<MemorySaver>,
}

impl std::ops::Deref for Kept {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}

fn kept(graph: StateGraph) -> Kept {
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().with_checkpointer(saver.clone());
    Kept { graph, saver }
}

/// The waiting checkpoints of all threads, the oldest first: which step, how many tasks, and whether it is the newest.
async fn pending(graph: &Kept, checkpoint: &CheckpointId) -> Vec<PendingWrite> {
    let of = [CheckpointAddress::new("1", "", checkpoint.clone())];
    graph.saver.writes(&of).await.unwrap().concat()
}

async fn waiting(graph: &Kept) -> Vec<String> {
    let found = graph.saver.waiting(&WaitingQuery::default()).await.unwrap();
    let mut lines = Vec::new();
    for waiting in found {
        let tuple = graph
            .saver
            .get(&waiting.thread, "", Some(&waiting.checkpoint))
            .await
            .unwrap()
            .unwrap();
        let place = if waiting.is_newest { "newest" } else { "branch" };
        lines.push(format!(
            "step {} asks {} {place}",
            tuple.checkpoint.metadata.step, waiting.tasks
        ));
    }
    lines
}

/// Why what was asked at a checkpoint waits no more, by task.
async fn notes(graph: &Kept, checkpoint: &CheckpointId) -> Vec<String> {
    let pending = pending(graph, checkpoint).await;
    let text = |value: &Value, key| value.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
    pending
        .iter()
        .filter(|write| matches!(&*write.write.channel, "__withdrawn__" | "__asked_again__"))
        .map(|write| format!("{} {}", write.write.channel, text(&write.write.value, "why")))
        .collect()
}

async fn head(graph: &Kept) -> StateSnapshot {
    graph.get_state(&StateRef::live("1")).await.unwrap()
}

async fn head_id(graph: &Kept) -> CheckpointId {
    head(graph).await.checkpoint.unwrap().id
}

fn at(checkpoint: &CheckpointId) -> RunConfig {
    RunConfig::on("1").checkpoint_id(checkpoint.clone())
}

/// As the workbench answers: by id, at the checkpoint that asks.
fn answering(checkpoint: &CheckpointId) -> RunConfig {
    at(checkpoint).keep_finished(true)
}

fn edit(values: Value, as_node: Option<&str>) -> StateUpdate {
    StateUpdate {
        values,
        as_node: as_node.map(Into::into),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_new_input_withdraws_what_waited() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let graph = desk(&Calls::default());
        let config = || RunConfig::on("1").durability(durability).run_id("run-7");
        graph.invoke(input(), config()).await.unwrap();
        let asked = head_id(&graph).await;
        assert_eq!(waiting(&graph).await, ["step 1 asks 1 newest"]);
        graph.invoke(input(), config()).await.unwrap();
        assert_eq!(
            waiting(&graph).await.len(),
            1,
            "{durability:?}: the first question was abandoned with its step"
        );
        assert_ne!(head_id(&graph).await, asked);
        assert_eq!(notes(&graph, &asked).await, ["__withdrawn__ input"]);
        let pending = pending(&graph, &asked).await;
        let note = pending
            .iter()
            .find(|w| &*w.write.channel == "__withdrawn__")
            .unwrap();
        let note = &note.write.value;
        assert_eq!(note.get("run").and_then(Value::as_str), Some("run-7"));
        assert!(
            note.get("at")
                .and_then(Value::as_str)
                .is_some_and(|at| at.ends_with('Z') || at.contains("+00"))
        );
    }
}

#[tokio::test]
async fn an_input_where_nothing_waits_writes_nothing_more() {
    let graph = kept(chain(&["a", "b"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let before = head_id(&graph).await;
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert!(pending(&graph, &before).await.is_empty());
}

#[tokio::test]
async fn an_answer_is_the_end_of_the_question_whenever_it_is_stored() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let graph = desk(&Calls::default());
        let config = || RunConfig::on("1").durability(durability);
        graph.invoke(input(), config()).await.unwrap();
        graph.invoke(Input::answer("yes"), config()).await.unwrap();
        assert_eq!(waiting(&graph).await, [""; 0], "{durability:?}: it was answered");
    }
}

#[tokio::test]
async fn a_question_whose_task_fails_and_is_handled_does_not_wait() {
    let ask = |context: NodeContext, _: Value| async move {
        context.interrupt("ask")?;
        Err::<NodeOutput, _>(NodeError::new("Broken", "no"))
    };
    let handled = NodeOptions::new().fallback_value(json!({"log": ["handled"]}));
    let graph = kept(base().node_with("ask", Arc::new(ask), handled).edge(START, "ask"));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let done = graph
        .invoke(Input::answer("yes"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(done.status, RunStatus::Done);
    assert_eq!(waiting(&graph).await, [""; 0], "its step is over");
}

#[tokio::test]
async fn a_fork_from_an_earlier_checkpoint_leaves_the_question() {
    let calls = Calls::default();
    let graph = desk(&calls);
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let asked = head_id(&graph).await;
    // An edit before the draft, and the run on its branch asks a question of its own.
    let start = at_step(&graph, "1", 0).await;
    graph
        .update_state(&start, edit(json!({"x": 2}), Some(START)))
        .await
        .unwrap();
    graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(
        waiting(&graph).await,
        ["step 1 asks 1 branch", "step 2 asks 1 newest"]
    );
    assert_eq!(notes(&graph, &asked).await, [""; 0]);
    // So does a replay of it.
    graph
        .invoke(Input::Continue, at(start.checkpoint_id.as_ref().unwrap()))
        .await
        .unwrap();
    assert_eq!(waiting(&graph).await.len(), 3);
}

#[tokio::test]
async fn asking_again_after_an_edit_or_a_replay_is_one_question() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let graph = desk(&Calls::default());
        let config = |checkpoint_id| {
            RunConfig::on("1")
                .durability(durability)
                .checkpoint_id(checkpoint_id)
        };
        graph.invoke(input(), config(None)).await.unwrap();
        let first = head_id(&graph).await;
        graph
            .update_state(&StateRef::live("1"), edit(json!({"x": 2}), Some("draft")))
            .await
            .unwrap();
        graph
            .update_state(&StateRef::live("1"), edit(json!({"x": 3}), Some("draft")))
            .await
            .unwrap();
        assert_eq!(
            waiting(&graph).await,
            ["step 1 asks 1 branch"],
            "an edit asks nothing yet"
        );
        graph.invoke(Input::Continue, config(None)).await.unwrap();
        assert_eq!(waiting(&graph).await, ["step 3 asks 1 newest"], "{durability:?}");
        assert_eq!(notes(&graph, &first).await, ["__withdrawn__ asked-again"]);
        let second = head_id(&graph).await;
        let pending = pending(&graph, &first).await;
        let note = pending
            .iter()
            .find(|w| &*w.write.channel == "__withdrawn__")
            .unwrap();
        assert_eq!(
            note.write.value.get("checkpoint").and_then(Value::as_str),
            Some(second.as_str())
        );

        graph
            .invoke(Input::Continue, config(Some(second.clone())))
            .await
            .unwrap();
        assert_eq!(
            notes(&graph, &second).await,
            [""; 0],
            "a replay of an edit asks at its checkpoint"
        );
        assert_eq!(waiting(&graph).await, ["step 3 asks 1 newest"], "{durability:?}");

        let graph = desk(&Calls::default());
        graph.invoke(input(), config(None)).await.unwrap();
        let first = head_id(&graph).await;
        graph
            .invoke(Input::Continue, config(Some(first.clone())))
            .await
            .unwrap();
        assert_eq!(
            waiting(&graph).await,
            ["step 2 asks 1 newest"],
            "{durability:?}: a replay"
        );
        assert_eq!(notes(&graph, &first).await, ["__withdrawn__ asked-again"]);
    }
}

#[tokio::test]
async fn asking_again_some_runs_after_the_edit_is_one_question() {
    let graph = desk(&Calls::default());
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let first = head_id(&graph).await;
    // The edit leads to `draft` again, and a single step stops before the node that asks.
    graph
        .update_state(&StateRef::live("1"), edit(json!({"x": 2}), Some(START)))
        .await
        .unwrap();
    let step = RunConfig::on("1").interrupt_after(["draft"]);
    graph.invoke(Input::Continue, step).await.unwrap();
    assert_eq!(
        waiting(&graph).await,
        ["step 1 asks 1 branch"],
        "nothing was asked yet"
    );
    graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(waiting(&graph).await, ["step 3 asks 1 newest"]);
    assert_eq!(notes(&graph, &first).await, ["__withdrawn__ asked-again"]);
}

#[tokio::test]
async fn what_was_not_asked_again_keeps_waiting() {
    let calls = Calls::default();
    let graph = kept(
        base()
            .node("draft", logs("draft"))
            .node("left", asks(&calls, "left", 1))
            .node("right", |context: NodeContext, state: Value| async move {
                if state.get("x").and_then(Value::as_i64) == Some(1) {
                    context.interrupt("right")?;
                }
                Ok(NodeOutput::Update(json!({})))
            })
            .edge(START, "draft")
            .edge("draft", "left")
            .edge("draft", "right"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(waiting(&graph).await, ["step 1 asks 2 newest"]);
    graph
        .update_state(&StateRef::live("1"), edit(json!({"x": 2}), Some("draft")))
        .await
        .unwrap();
    graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(
        waiting(&graph).await,
        ["step 1 asks 1 branch", "step 2 asks 1 newest"]
    );
}

#[tokio::test]
async fn packets_that_ask_again_are_distinguished() {
    let packet = |arg: i64| {
        Target::Send(Packet {
            node: "item".into(),
            arg: arg.into(),
            timeout: None,
        })
    };
    let graph = kept(
        base()
            .node("plan", logs("plan"))
            .node("item", |context: NodeContext, item: Value| async move {
                context.interrupt(item)?;
                Ok(NodeOutput::Update(json!({})))
            })
            .edge(START, "plan")
            .branch("plan", Branch::new(routes(move |_| vec![packet(1), packet(2)]))),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let asked = head_id(&graph).await;
    assert_eq!(waiting(&graph).await, ["step 1 asks 2 newest"]);
    graph.invoke(Input::Continue, at(&asked)).await.unwrap();
    assert_eq!(waiting(&graph).await, ["step 2 asks 2 newest"]);
    assert_eq!(notes(&graph, &asked).await, ["__withdrawn__ asked-again"; 2]);
}

#[tokio::test]
async fn an_edit_in_the_place_of_the_question_ends_it() {
    let edits = [
        edit(json!({"log": ["by hand"]}), Some("review")),
        edit(Value::Null, Some(END)),
        edit(json!({"x": 5}), Some("__input__")),
    ];
    for (edit_of_it, on_a_branch) in edits.iter().flat_map(|edit| [(edit, false), (edit, true)]) {
        let graph = desk(&Calls::default());
        graph.invoke(input(), RunConfig::on("1")).await.unwrap();
        let asked = StateRef::at("1", head_id(&graph).await);
        if on_a_branch {
            let start = at_step(&graph, "1", 0).await;
            let earlier = edit(json!({"x": 2}), Some(START));
            graph.update_state(&start, earlier).await.unwrap();
        }
        graph.update_state(&asked, edit_of_it.clone()).await.unwrap();
        assert_eq!(
            waiting(&graph).await,
            [""; 0],
            "{:?}, {on_a_branch}",
            edit_of_it.as_node
        );
    }
}

#[tokio::test]
async fn answering_an_old_branch_makes_it_the_newest_and_runs_nothing_twice() {
    let calls = Calls::default();
    let graph = kept(
        base()
            .node("draft", counted(&calls, "draft"))
            .node("review", asks(&calls, "review", 1))
            .node("check", counted(&calls, "check"))
            .node("send", counted(&calls, "send"))
            .edge(START, "draft")
            .edge("draft", "review")
            .edge("draft", "check")
            .join(["review", "check"], "send"),
    );
    let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let old = head_id(&graph).await;
    let start = at_step(&graph, "1", 0).await;
    graph
        .update_state(&start, edit(json!({"x": 2}), Some(START)))
        .await
        .unwrap();
    graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    let other = head_id(&graph).await;
    assert_eq!((calls.of("check"), calls.of("review")), (2, 2));

    let answer: Object = [(asked.interrupts[0].id.to_string(), Value::from("yes"))]
        .into_iter()
        .collect();
    let done = graph
        .invoke(Input::answer(answer), answering(&old))
        .await
        .unwrap();
    assert_eq!(done.status, RunStatus::Done);
    assert_eq!(
        (calls.of("check"), calls.of("review"), calls.of("send")),
        (2, 3, 1),
        "what had finished beside the question is not run again"
    );
    let state = head(&graph).await;
    assert_eq!(
        state.values.get("x").and_then(Value::as_i64),
        Some(1),
        "the old branch is the newest"
    );
    assert_eq!(log_of(&state.values), "draft,check,yes,send");
    assert_eq!(waiting(&graph).await, ["step 2 asks 1 branch"]);
    assert!(
        notes(&graph, &other).await.is_empty(),
        "the other branch keeps its question"
    );
}

#[tokio::test]
async fn an_old_branch_goes_on_inside_its_nested_graphs() {
    for persistence in [Persistence::Inherit, Persistence::Stateful] {
        let calls = Calls::default();
        let inner = base()
            .node("begin", counted(&calls, "begin"))
            .node("ask", asks(&calls, "ask", 1))
            .node("beside", counted(&calls, "beside"))
            .edge(START, "begin")
            .edge("begin", "ask")
            .edge("begin", "beside")
            .compile()
            .unwrap()
            .with_persistence(persistence);
        let graph = kept(
            base()
                .node("draft", logs("draft"))
                .subgraph("inner", &inner)
                .node("send", logs("send"))
                .edge(START, "draft")
                .edge("draft", "inner")
                .edge("inner", "send"),
        );
        let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
        let old = head_id(&graph).await;
        let start = at_step(&graph, "1", 0).await;
        graph
            .update_state(&start, edit(json!({"x": 2}), Some(START)))
            .await
            .unwrap();
        let other = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
        assert_eq!(other.status, RunStatus::Interrupted);
        assert_eq!((calls.of("begin"), calls.of("beside")), (2, 2), "{persistence:?}");

        let answer: Object = [(asked.interrupts[0].id.to_string(), Value::from("yes"))]
            .into_iter()
            .collect();
        let done = graph
            .invoke(Input::answer(answer), answering(&old))
            .await
            .unwrap();
        assert_eq!(
            done.status,
            RunStatus::Done,
            "{persistence:?}: {:?}",
            done.interrupts
        );
        assert_eq!(
            (calls.of("begin"), calls.of("beside"), calls.of("ask")),
            (2, 2, 3),
            "{persistence:?}: only what asked runs again"
        );
        let state = head(&graph).await;
        assert_eq!(state.values.get("x").and_then(Value::as_i64), Some(1));
        assert!(
            log_of(&state.values).ends_with("send"),
            "{persistence:?}: {}",
            log_of(&state.values)
        );
        assert_eq!(waiting(&graph).await, ["step 2 asks 1 branch"], "{persistence:?}");
    }
}

#[tokio::test]
async fn a_withdrawn_question_is_asked_again_when_its_thread_goes_on() {
    let graph = desk(&Calls::default());
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let asked = head_id(&graph).await;
    let saver = &*graph.saver;
    let note: Object = [("why", "by mistake")].into_iter().collect();
    let withdrawn = withdraw(saver, &"1".into(), &asked, None, note.clone(), None)
        .await
        .unwrap();
    assert_eq!(withdrawn, 1);
    assert_eq!(waiting(&graph).await, [""; 0]);
    assert_eq!(
        withdraw(saver, &"1".into(), &asked, None, note, None)
            .await
            .unwrap(),
        0,
        "only once"
    );
    assert_eq!(
        head(&graph).await.interrupts.len(),
        1,
        "the snapshot is LangGraph's"
    );

    graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(waiting(&graph).await, ["step 1 asks 1 newest"]);
    assert_eq!(notes(&graph, &asked).await, ["__asked_again__ asked-again"]);
    graph
        .invoke(Input::answer("yes"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(waiting(&graph).await, [""; 0]);
}

#[tokio::test]
async fn going_on_at_an_old_branch_without_an_answer_runs_what_waits() {
    let calls = Calls::default();
    let graph = desk(&calls);
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let old = head_id(&graph).await;
    let start = at_step(&graph, "1", 0).await;
    graph
        .update_state(&start, edit(json!({"x": 2}), Some(START)))
        .await
        .unwrap();
    let before = graph
        .saver
        .thread(&"1".into())
        .await
        .unwrap()
        .unwrap()
        .checkpoints;
    // How a deadline passes: nobody answers, and the node looks at the time itself.
    graph
        .invoke(Input::answer(Object::new()), answering(&old))
        .await
        .unwrap();
    let after = graph
        .saver
        .thread(&"1".into())
        .await
        .unwrap()
        .unwrap()
        .checkpoints;
    assert_eq!(
        (before, calls.of("review")),
        (after, 2),
        "it asks at the same checkpoint, without a fork"
    );
    assert_eq!(waiting(&graph).await, ["step 1 asks 1 branch"]);
}
