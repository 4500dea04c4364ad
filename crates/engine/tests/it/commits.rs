//! What is stored together, in which order, and what happens after a failure.

use std::sync::{Arc, Mutex};

use superstep::checkpoint::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::*;
use tokio::sync::Semaphore;

use crate::support::routes;

/// Keeps what it is given, once it is allowed to; refuses from the `refuse`-th call on.
#[derive(Debug)]
struct Gate {
    inner: MemorySaver,
    open: Semaphore,
    /// Steps of the checkpoints of each call.
    calls: Mutex<Vec<Vec<i64>>>,
    refuse: usize,
}

impl Gate {
    fn new(refuse: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: MemorySaver::new(),
            open: Semaphore::new(0),
            calls: Mutex::default(),
            refuse,
        })
    }

    fn calls(&self) -> Vec<Vec<i64>> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait::async_trait]
impl Checkpointer for Gate {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        self.commit_all(vec![commit]).await
    }
    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        let call = {
            let mut calls = self.calls.lock().unwrap();
            let steps = commits.iter().filter_map(|commit| commit.put.as_ref());
            calls.push(steps.map(|put| put.checkpoint.metadata.step).collect());
            calls.len()
        };
        self.open.acquire().await.unwrap().forget();
        if call >= self.refuse {
            return Err(StorageError::Unsupported("storing anything more"));
        }
        for commit in commits {
            self.inner.commit(commit).await?;
        }
        Ok(())
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.inner.get(thread, ns, id).await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.inner.list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.inner.heads(query).await
    }
    async fn threads(
        &self,
        query: &superstep::checkpoint::ThreadQuery,
    ) -> Result<Vec<ThreadSummary>, StorageError> {
        self.inner.threads(query).await
    }
    fn coordination(&self) -> Option<&dyn Coordination> {
        self.inner.coordination()
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.inner.delete_thread(thread).await
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.inner.copy_thread(from, to).await
    }
}

/// Three nodes in a row; the last lets the saver work.
fn graph(gate: &Arc<Gate>) -> Graph {
    let count = |_: NodeContext, input: Value| async move {
        let n = input.get("n").and_then(Value::as_i64).unwrap_or(0);
        tokio::task::yield_now().await;
        Ok(NodeOutput::update([("n", n + 1)]))
    };
    let opener = gate.clone();
    let open = move |_: NodeContext, _: Value| {
        opener.open.add_permits(100);
        async { Ok(NodeOutput::none()) }
    };
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("a", count)
        .node("b", count)
        .node("c", open)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .compile()
        .unwrap()
        .with_checkpointer(gate.clone())
}

fn config() -> RunConfig {
    RunConfig::on("t").durability(Durability::Async)
}

#[tokio::test]
async fn commits_that_come_while_one_is_stored_go_together_and_in_order() {
    let gate = Gate::new(usize::MAX);
    let graph = graph(&gate);
    let done = graph
        .invoke(Input::value(json!({"n": 0})), config())
        .await
        .unwrap();
    assert_eq!(done.value, json!({"n": 2}));
    let calls = gate.calls();
    assert_eq!(
        calls.concat(),
        [-1, 0, 1, 2, 3],
        "every checkpoint once, in order"
    );
    assert!(
        calls.len() == 2 && calls[1].len() >= 2,
        "what came while the first call was stored is one call: {calls:?}"
    );
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    assert_eq!(history.len(), 5, "nothing is lost");
}

#[tokio::test]
async fn after_a_failed_commit_nothing_later_is_stored_and_the_run_says_so() {
    let gate = Gate::new(2);
    let graph = graph(&gate);
    let failed = graph
        .invoke(Input::value(json!({"n": 0})), config())
        .await
        .unwrap_err();
    assert!(matches!(failed, RunError::Storage(_)), "{failed}");
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .unwrap();
    let calls = gate.calls();
    assert_eq!(
        history.len(),
        calls[0].len(),
        "the thread ends before the failure and has no hole: {calls:?}"
    );
    assert_eq!(calls.len(), 2, "the backend is not asked again");
}

#[tokio::test]
async fn an_input_is_stored_with_what_start_makes_of_it_unless_somebody_may_know_of_it() {
    let sync = RunConfig::on("t");
    let input = || Input::value(json!({"n": 0}));

    let gate = Gate::new(usize::MAX);
    gate.open.add_permits(100);
    graph(&gate).invoke(input(), sync.clone()).await.unwrap();
    assert_eq!(gate.calls(), [vec![-1, 0], vec![1], vec![2], vec![3]]);

    // Who reads checkpoints is notified of one when it is stored.
    let gate = Gate::new(usize::MAX);
    gate.open.add_permits(100);
    let reading = sync.clone().modes([StreamMode::Checkpoints]);
    let mut run = graph(&gate).stream(input(), reading);
    let mut reported = 0;
    while let Some(event) = run.next().await {
        assert!(matches!(event.payload, Payload::Checkpoint(_)));
        reported += 1;
        assert!(gate.calls().len() >= reported, "reported before it is stored");
    }
    run.finish().await.unwrap();
    assert_eq!(gate.calls(), [vec![-1], vec![0], vec![1], vec![2], vec![3]]);

    // A router of START is the user's code: it may fail, or take long.
    let gate = Gate::new(usize::MAX);
    gate.open.add_permits(100);
    let stored = gate.clone();
    let routed = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("a", |_: NodeContext, _: Value| async { Ok(NodeOutput::none()) })
        .branch(
            START,
            Branch::new(routes(move |_| {
                assert_eq!(stored.calls(), [[-1]]);
                vec![Target::node("a")]
            })),
        )
        .compile()
        .unwrap()
        .with_checkpointer(gate.clone());
    routed.invoke(input(), sync.clone()).await.unwrap();
    assert_eq!(gate.calls(), [vec![-1], vec![0], vec![1]]);

    // What START refuses is stored as it came.
    let gate = Gate::new(usize::MAX);
    gate.open.add_permits(100);
    graph(&gate)
        .invoke(Input::value(json!("no object")), sync)
        .await
        .unwrap_err();
    assert_eq!(gate.calls().concat(), [-1]);
}
