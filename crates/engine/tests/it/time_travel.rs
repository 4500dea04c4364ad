//! Replay, forks and edits: nothing overwrites history.

use std::sync::Arc;

use superstep::StreamMode::*;
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

fn edit(values: Value, as_node: Option<&str>) -> StateUpdate {
    StateUpdate {
        values,
        as_node: as_node.map(Into::into),
        ..Default::default()
    }
}

fn resume_at(at: &StateRef) -> RunConfig {
    RunConfig::on(at.thread.clone()).checkpoint_id(at.checkpoint_id.clone())
}

#[tokio::test]
async fn replay_forks_and_runs_everything_after_again() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let (lines, _) = stream(
        &graph,
        Input::Continue,
        resume_at(&cp1),
        &[Values, Updates, Checkpoints],
    )
    .await;
    assert_eq!(
        lines,
        [
            r#"values {"x":1,"log":["a"]}"#,
            "checkpoint 2 fork -> b",
            r#"updates {"b":{"log":["b"]}}"#,
            r#"values {"x":1,"log":["a","b"]}"#,
            "checkpoint 3 loop -> c",
            r#"updates {"c":{"log":["c"]}}"#,
            r#"values {"x":1,"log":["a","b","c"]}"#,
            "checkpoint 4 loop -> ",
        ]
    );
    assert_eq!(
        history(&graph, "1").await,
        [
            "4 loop [a,b,c] -> ",
            "3 loop [a,b] -> c",
            "2 fork [a] -> b",
            "3 loop [a,b,c] -> ",
            "2 loop [a,b] -> c",
            "1 loop [a] -> b",
            "0 loop [] -> a",
            "-1 input [] -> __start__"
        ]
    );
    let last = graph
        .get_state(&StateRef::live("1"))
        .await
        .unwrap()
        .checkpoint
        .unwrap();
    let at = StateRef::at("1", last.id);
    let (lines, _) = stream(&graph, Input::Continue, resume_at(&at), &[Values, Updates]).await;
    assert_eq!(lines.len(), 1, "nothing is left to run: {lines:?}");
    assert_eq!(history(&graph, "1").await.len(), 9, "the fork is there even so");
}

#[tokio::test]
async fn an_edit_of_the_past_forks_and_runs_on_from_there() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let preview = graph
        .preview_update(&cp1, edit(json!({"x": 99}), None))
        .await
        .unwrap();
    assert_eq!((&*preview.as_node, preview.next.join(",")), ("a", "b".into()));
    assert_eq!(history(&graph, "1").await.len(), 5, "a preview stores nothing");

    let updated = graph
        .update_state(&cp1, edit(json!({"x": 99, "log": ["FORK"]}), None))
        .await
        .unwrap();
    let fork = StateRef::at("1", updated.checkpoint_id.clone());
    let state = graph.get_state(&fork).await.unwrap();
    let head = state.checkpoint.unwrap();
    assert_eq!(state.values, json!({"x": 99, "log": ["a", "FORK"]}));
    assert_eq!(
        (head.metadata.source, head.metadata.step, head.parent),
        (Source::Update, 2, cp1.checkpoint_id.clone())
    );
    let (lines, _) = stream(&graph, Input::Continue, resume_at(&fork), &[Values]).await;
    assert_eq!(lines[0], r#"values {"x":99,"log":["a","FORK"]}"#);
    assert_eq!(
        lines.last().unwrap(),
        r#"values {"x":99,"log":["a","FORK","b","c"]}"#
    );
    assert_eq!(
        history(&graph, "1").await[..4],
        [
            "4 loop [a,FORK,b,c] -> ",
            "3 loop [a,FORK,b] -> c",
            "2 update [a,FORK] -> b",
            "3 loop [a,b,c] -> "
        ],
        "an edited head is continued without another fork"
    );
    let old = graph.get_state(&at_step(&graph, "1", 3).await).await.unwrap();
    assert_eq!(log_of(&old.values), "a,b,c", "the first branch is as it was");
}

#[tokio::test]
async fn a_fork_asks_again_and_takes_a_new_answer() {
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("name?")?;
        Ok(NodeOutput::update([("log", answer)]))
    };
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("ask", ask)
            .node("z", logs("z"))
            .edge(START, "a")
            .edge("a", "ask")
            .edge("ask", "z"),
    );
    let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    graph
        .invoke(Input::answer("first"), RunConfig::on("1"))
        .await
        .unwrap();
    let cp1 = at_step(&graph, "1", 1).await;
    let replayed = graph.invoke(Input::Continue, resume_at(&cp1)).await.unwrap();
    assert_eq!(replayed.status, RunStatus::Interrupted);
    assert_ne!(
        replayed.interrupts[0].id, asked.interrupts[0].id,
        "a fork has questions of its own"
    );
    let done = graph
        .invoke(Input::answer("second"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "a,second,z");
    let old = graph
        .get_state_history(&"1".into(), &ListQuery::default())
        .await
        .unwrap();
    assert!(
        old.iter().any(|entry| log_of(&entry.values) == "a,first,z"),
        "the first branch is still there"
    );
}

#[tokio::test]
async fn edits_act_as_a_node() {
    let route = routes(|state| {
        vec![Target::node(
            if state.get("x").and_then(Value::as_i64).unwrap_or(0) > 0 {
                "b"
            } else {
                "c"
            },
        )]
    });
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("b", logs("b"))
            .node("c", logs("c"))
            .edge(START, "a")
            .branch("a", Branch::new(route)),
    );
    // A fresh thread: acting as START arms the entry edges, acting as a node its successors.
    let fresh = graph
        .update_state(&StateRef::live("n"), edit(json!({"log": ["U"]}), None))
        .await
        .unwrap();
    assert_eq!((&*fresh.as_node, fresh.next.join(",")), (START, "a".into()));
    for (x, next) in [(5, "b"), (-5, "c")] {
        let at = StateRef::live(format!("t{x}"));
        let done = graph
            .update_state(
                &at,
                edit(Value::Object([("x", x)].into_iter().collect()), Some("a")),
            )
            .await
            .unwrap();
        assert_eq!(done.next.join(","), next, "the router decides on the new values");
        let state = graph.get_state(&at).await.unwrap();
        assert_eq!(state.checkpoint.unwrap().metadata.step, 0);
    }
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let last = graph
        .update_state(&StateRef::live("1"), edit(json!({"log": ["U"]}), None))
        .await
        .unwrap();
    assert_eq!(
        (&*last.as_node, last.next.len()),
        ("b", 0),
        "without a name it acts as the node that ran last"
    );
    let error = graph
        .update_state(&StateRef::live("1"), edit(json!({}), Some("zz")))
        .await
        .unwrap_err();
    assert!(error.to_string().starts_with("Node zz does not exist"), "{error}");
    let error = graph
        .update_state(&StateRef::live("1"), edit(json!(5), Some("a")))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("Expected dict, got 5"), "{error}");
}

#[tokio::test]
async fn parallel_nodes_make_an_unnamed_edit_ambiguous() {
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("b", logs("b"))
            .edge(START, "a")
            .edge(START, "b"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let error = graph
        .update_state(&StateRef::live("1"), edit(json!({"log": ["U"]}), None))
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("Ambiguous update, specify as_node"),
        "{error}"
    );
}

#[tokio::test]
async fn an_edit_as_end_closes_the_open_step() {
    let ask = |context: NodeContext, _: Value| async move { context.interrupt("q").map(NodeOutput::Update) };
    let graph = on_memory(
        base()
            .node("ok", logs("ok"))
            .node("ask", ask)
            .edge(START, "ok")
            .edge(START, "ask"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let done = graph
        .update_state(&StateRef::live("1"), edit(Value::Null, Some(END)))
        .await
        .unwrap();
    assert!(done.next.is_empty(), "{done:?}");
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (log_of(&state.values), state.next.len(), state.interrupts.len()),
        ("ok".into(), 0, 0)
    );
}

#[tokio::test]
async fn an_edit_while_asking_rearms_or_skips_the_question() {
    let build = || {
        let ask = |context: NodeContext, _: Value| async move {
            let answer = context.interrupt("q")?;
            Ok(NodeOutput::update([("log", answer)]))
        };
        on_memory(
            base()
                .node("a", logs("a"))
                .node("ask", ask)
                .node("z", logs("z"))
                .edge(START, "a")
                .edge("a", "ask")
                .edge("ask", "z"),
        )
    };
    let graph = build();
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let edited = graph
        .update_state(&StateRef::live("1"), edit(json!({"log": ["E"]}), None))
        .await
        .unwrap();
    assert_eq!((&*edited.as_node, edited.next.join(",")), ("a", "ask".into()));
    let done = graph
        .invoke(Input::answer("v"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "a,E,v,z");

    let graph = build();
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let skipped = graph
        .update_state(&StateRef::live("1"), edit(json!({"log": ["S"]}), Some("ask")))
        .await
        .unwrap();
    assert_eq!(skipped.next.join(","), "z");
    let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "a,S,z");
    let cp1 = graph.get_state(&at_step(&graph, "1", 1).await).await.unwrap();
    assert_eq!(
        cp1.tasks[0].result,
        Some(json!({"log": ["S"]})),
        "history shows the edit as the task's result"
    );
}

#[tokio::test]
async fn missing_threads_and_checkpoints() {
    let graph = on_memory(chain(&["a"]));
    let state = graph.get_state(&StateRef::live("none")).await.unwrap();
    assert!(state.checkpoint.is_none() && state.next.is_empty() && state.values == json!({}));
    let error = graph
        .invoke(Input::Continue, RunConfig::on("none"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().starts_with("Received no input for __start__"),
        "{error}"
    );
    let config = RunConfig::on("none").checkpoint_id(CheckpointId::from("nope"));
    assert_eq!(
        graph.invoke(Input::Continue, config).await.unwrap_err().code(),
        "invalid-request"
    );
    let bare = chain(&["a"]).compile().unwrap();
    assert!(
        bare.get_state(&StateRef::live("1"))
            .await
            .unwrap_err()
            .to_string()
            .starts_with("No checkpointer set")
    );
}

#[tokio::test]
async fn histories_filter_by_metadata() {
    let graph = on_memory(chain(&["a", "b"]));
    let metadata: Object = [
        ("user", Value::from("u1")),
        ("hidden", json!({"o": 1})),
        ("__x", json!(1)),
    ]
    .into_iter()
    .collect();
    graph
        .invoke(input(), RunConfig::on("1").metadata(metadata))
        .await
        .unwrap();
    let count = |filter: Value| {
        let graph = graph.clone();
        async move {
            let query = ListQuery::new().filter(filter.as_object().unwrap().clone());
            graph.get_state_history(&"1".into(), &query).await.unwrap().len()
        }
    };
    assert_eq!(count(json!({"source": "loop"})).await, 3);
    assert_eq!(count(json!({"user": "u1", "step": 1})).await, 1);
    assert_eq!(count(json!({"nope": 1})).await, 0);
    let head = graph
        .get_state(&StateRef::live("1"))
        .await
        .unwrap()
        .checkpoint
        .unwrap();
    assert_eq!(
        head.metadata.user,
        [("user", "u1")].into_iter().collect::<Object>(),
        "only plain values are kept"
    );
}

#[tokio::test]
async fn changes_say_what_a_backend_must_store() {
    // A backend that keeps only the changes must be able to rebuild every checkpoint.
    #[derive(Debug, Default)]
    struct Changes(std::sync::Mutex<Vec<(i64, Vec<Change>)>>, MemorySaver);
    #[async_trait::async_trait]
    impl Checkpointer for Changes {
        async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
            if let Some(put) = &commit.put {
                self.0
                    .lock()
                    .unwrap()
                    .push((put.checkpoint.metadata.step, put.changes.clone()));
            }
            self.1.commit(commit).await
        }
        async fn get(
            &self,
            t: &ThreadId,
            ns: &str,
            id: Option<&CheckpointId>,
        ) -> Result<Option<CheckpointTuple>, StorageError> {
            self.1.get(t, ns, id).await
        }
        async fn list(&self, q: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
            self.1.list(q).await
        }
        async fn heads(&self, q: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
            self.1.heads(q).await
        }
        async fn threads(
            &self,
            query: &superstep::checkpoint::ThreadQuery,
        ) -> Result<Vec<ThreadSummary>, StorageError> {
            self.1.threads(query).await
        }
        fn coordination(&self) -> Option<&dyn Coordination> {
            self.1.coordination()
        }
        async fn delete_thread(&self, t: &ThreadId) -> Result<(), StorageError> {
            self.1.delete_thread(t).await
        }
        async fn copy_thread(&self, a: &ThreadId, b: &ThreadId) -> Result<(), StorageError> {
            self.1.copy_thread(a, b).await
        }
    }
    let saver = Arc::new(Changes::default());
    let graph = chain(&["a", "b"])
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    graph
        .invoke(Input::value(json!({"x": 1, "log": ["in"]})), RunConfig::on("1"))
        .await
        .unwrap();
    let text: Vec<String> = saver
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|(step, changes)| {
            let parts: Vec<String> = changes
                .iter()
                .map(|c| match c.appended_from {
                    Some(kept) => format!("{}+{kept}", c.channel),
                    None => c.channel.to_string(),
                })
                .collect();
            format!("{step}: {}", parts.join(" "))
        })
        .collect();
    assert_eq!(
        text,
        [
            "-1: __start__",
            "0: __start__ branch:to:a log x",
            "1: branch:to:a branch:to:b log+1",
            "2: branch:to:b log+2",
        ]
    );
}

#[tokio::test]
async fn a_branch_becomes_the_head_although_the_clock_was_set_back() {
    #[derive(Debug)]
    struct Stopped(u64);
    impl Clock for Stopped {
        fn now_ms(&self) -> u64 {
            self.0
        }
    }
    let saver = Arc::new(MemorySaver::new());
    // Another process: nothing is remembered of the ids that were made.
    let at = |ms: u64| {
        chain(&["a", "b"])
            .compile()
            .unwrap()
            .with_checkpointer(saver.clone())
            .with_clock(Arc::new(Stopped(ms)))
    };
    let first = at(1_800_000_000_000);
    first.invoke(input(), RunConfig::on("1")).await.unwrap();
    let cp1 = at_step(&first, "1", 1).await;
    let run = at(1_000).invoke(Input::Continue, resume_at(&cp1)).await.unwrap();
    let live = async |graph: &Graph| {
        graph
            .get_state(&StateRef::live("1"))
            .await
            .unwrap()
            .checkpoint
            .unwrap()
    };
    assert_eq!(Some(live(&first).await.id), run.checkpoint_id);
    let edited = at(500)
        .update_state(&cp1, edit(json!({"x": 7}), None))
        .await
        .unwrap();
    assert_eq!(live(&first).await.id, edited.checkpoint_id);
    let copied = at(200)
        .update_state(&cp1, edit(Value::Null, Some("__copy__")))
        .await
        .unwrap();
    assert_eq!(live(&first).await.id, copied.checkpoint_id);
}
