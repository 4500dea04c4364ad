//! Runs that claim their thread: one runs, the others are notified, and who lost its thread stores nothing more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use superstep::checkpoint::*;
use superstep::inspect::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;
use tokio::sync::Semaphore;

use crate::support::{Calls, base, logs, returns};

fn by(name: &str) -> Option<ClaimRequest> {
    Some(ClaimRequest::by(Holder::new(format!("id of {name}"), name)))
}

fn config(name: &str) -> RunConfig {
    RunConfig::on("t").claim(by(name))
}

/// A node that counts and waits until it may end; another after it.
struct Slow {
    calls: Calls,
    begun: Arc<Semaphore>,
    go: Arc<Semaphore>,
    graph: Graph,
}

fn slow(saver: &Arc<MemorySaver>) -> Slow {
    let (calls, begun, go) = (
        Calls::default(),
        Arc::new(Semaphore::new(0)),
        Arc::new(Semaphore::new(0)),
    );
    let (count, tell, wait) = (calls.clone(), begun.clone(), go.clone());
    let node = move |_: NodeContext, _: Value| {
        count.add("slow");
        tell.add_permits(1);
        let wait = wait.clone();
        async move {
            drop(wait.acquire().await);
            Ok(NodeOutput::update([("log", json!(["slow"]))]))
        }
    };
    let graph = base()
        .node("slow", node)
        .node("after", logs("after"))
        .edge(START, "slow")
        .edge("slow", "after")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    Slow {
        calls,
        begun,
        go,
        graph,
    }
}

fn input() -> Input {
    Input::value(json!({"x": 1}))
}

async fn forks(saver: &MemorySaver) -> usize {
    let query = ListQuery::new().thread("t").ns("");
    let heads = saver.heads(&query).await.unwrap();
    let children = |id: &CheckpointId| {
        heads
            .iter()
            .filter(|head| head.parent.as_ref() == Some(id))
            .count()
    };
    let roots = heads.iter().filter(|head| head.parent.is_none()).count();
    heads.iter().filter(|head| children(&head.id) > 1).count() + roots.saturating_sub(1)
}

#[tokio::test]
async fn a_second_run_is_notified_before_a_node_begins() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let saver = Arc::new(MemorySaver::new());
        let (one, two) = (slow(&saver), slow(&saver));
        let with = |name: &str| config(name).durability(durability);
        let first = {
            let (graph, config) = (one.graph.clone(), with("one"));
            tokio::spawn(async move { graph.invoke(input(), config).await })
        };
        drop(one.begun.acquire().await);
        two.go.add_permits(9);
        for again in [input(), Input::Continue] {
            let error = two.graph.invoke(again, with("two")).await.unwrap_err();
            let message = error.to_string();
            match error {
                RunError::Storage(StorageError::Busy { held, .. }) => assert_eq!(&*held.holder.name, "one"),
                // Stored at its end only, there is nothing to resume yet.
                RunError::EmptyInput { .. } if durability == Durability::Exit => {}
                other => panic!("{durability:?}: {other}"),
            }
            assert!(
                message.contains("one") || durability == Durability::Exit,
                "{message}"
            );
        }
        assert_eq!(
            two.calls.of("slow"),
            0,
            "{durability:?}: no node of the second began"
        );
        one.go.add_permits(9);
        first.await.unwrap().unwrap();
        let claim = saver.claim(&"t".into()).await.unwrap().unwrap();
        assert!(claim.ended && claim.number == 1, "{durability:?}: {claim:?}");
        two.graph.invoke(input(), with("two")).await.unwrap();
        assert_eq!(
            (two.calls.of("slow"), forks(&saver).await),
            (1, 0),
            "{durability:?}"
        );
    }
}

/// A saver whose thread goes on each time after it was read, once it is armed.
#[derive(Debug)]
struct Moving {
    inner: MemorySaver,
    armed: AtomicBool,
    /// Nothing can be written, so that a checkpoint and the claim that comes with it are not there.
    full: AtomicBool,
    go: Arc<Semaphore>,
    /// Number of commits that were stored with each claim.
    stored: Mutex<HashMap<ClaimId, u32>>,
    /// Number of commits that ended a claim.
    ended: AtomicUsize,
}

impl Moving {
    fn new(go: Arc<Semaphore>) -> Self {
        Self {
            inner: MemorySaver::new(),
            armed: AtomicBool::new(false),
            full: AtomicBool::new(false),
            go,
            stored: Mutex::default(),
            ended: AtomicUsize::new(0),
        }
    }

    fn stored(&self) -> Vec<u32> {
        self.stored.lock().unwrap().values().copied().collect()
    }
}

#[async_trait]
impl Checkpointer for Moving {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        let claim = commit.claim.as_ref().map(|shown| shown.claim.clone());
        let ends = commit.claim.as_ref().is_some_and(|shown| shown.ends);
        self.ended.fetch_add(usize::from(ends), Ordering::SeqCst);
        if self.full.load(Ordering::SeqCst) && commit.put.is_some() {
            return Err(StorageError::Backend {
                what: "writing".into(),
                cause: "the disk is only read".into(),
                remedy: "Make it writable".into(),
            });
        }
        self.inner.commit(commit).await?;
        if let Some(claim) = claim {
            *self.stored.lock().unwrap().entry(claim).or_default() += 1;
        }
        Ok(())
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let found = self.inner.get(thread, ns, id).await?;
        if self.armed.swap(false, Ordering::SeqCst) {
            let before = self.stored();
            self.go.add_permits(1);
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_millis(2)).await;
                if self.stored() != before {
                    break;
                }
            }
        }
        Ok(found)
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.inner.list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.inner.heads(query).await
    }
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
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

/// A run of "one" with a task that waits and one that never ends. Once the saver is armed, the task that waits ends between
/// the moment at which the newcomer reads the thread and the moment at which it takes it.
struct TakenOver {
    saver: Arc<Moving>,
    calls: Calls,
    graph: Graph,
    first: tokio::task::JoinHandle<Result<RunResult, RunError>>,
}

impl TakenOver {
    async fn begin() -> Self {
        let go = Arc::new(Semaphore::new(0));
        let saver = Arc::new(Moving::new(go.clone()));
        let (calls, begun) = (Calls::default(), Arc::new(Semaphore::new(0)));
        let build = |waits: bool| {
            let (count, begun, go) = (calls.clone(), begun.clone(), go.clone());
            let works = move |_: NodeContext, _: Value| {
                count.add("works");
                begun.add_permits(1);
                let go = go.clone();
                async move {
                    if waits {
                        go.acquire().await.unwrap().forget();
                    }
                    Ok(NodeOutput::update([("log", json!(["works"]))]))
                }
            };
            let hangs = move |_: NodeContext, _: Value| async move {
                match waits {
                    true => std::future::pending().await,
                    false => Ok(NodeOutput::update([("log", json!(["hangs"]))])),
                }
            };
            let graph = base()
                .node("works", works)
                .node("hangs", hangs)
                .edge(START, "works")
                .edge(START, "hangs");
            graph.compile().unwrap().with_checkpointer(saver.clone())
        };
        let (one, graph) = (build(true), build(false));
        let first = tokio::spawn(async move { one.invoke(input(), config("one")).await });
        begun.acquire().await.unwrap().forget();
        Self {
            saver,
            calls,
            graph,
            first,
        }
    }

    /// A request that takes the thread over.
    fn over() -> Option<ClaimRequest> {
        by("two").map(|claim| claim.take_over(TakeOver::Always))
    }

    fn arm(&self) {
        self.saver.armed.store(true, Ordering::SeqCst);
    }

    async fn ends_superseded(self) {
        let lost = self.first.await.unwrap().unwrap_err();
        assert!(
            matches!(lost, RunError::Storage(StorageError::Superseded { .. })),
            "{lost}"
        );
    }
}

#[tokio::test]
async fn a_task_that_ends_while_its_thread_is_taken_over_is_not_run_again() {
    let taken = TakenOver::begin().await;
    taken.arm();
    let over = config("two").claim(TakenOver::over());
    let value = taken.graph.invoke(Input::Continue, over).await.unwrap().value;
    assert_eq!(
        taken.calls.of("works"),
        1,
        "its writes were stored before the thread was taken over"
    );
    assert_eq!(
        value.get("log").and_then(Value::as_array).unwrap().len(),
        2,
        "{value}"
    );
    taken.ends_superseded().await;
}

#[tokio::test]
async fn an_edit_that_takes_a_thread_over_keeps_what_the_other_run_stored() {
    let taken = TakenOver::begin().await;
    taken.arm();
    let at = StateRef::live("t").claimed(TakenOver::over());
    // It applies what finished tasks wrote, and drops the others.
    let close = StateUpdate::new(Value::Null).as_node(END);
    taken.graph.update_state(&at, close).await.unwrap();
    let state = taken.graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(
        state.values.get("log"),
        Some(&json!(["works"])),
        "the end of the task was acknowledged before the thread was taken over"
    );
    taken.ends_superseded().await;
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_takes_no_thread_over() {
    let taken = TakenOver::begin().await;
    let at = StateRef::live("t").claimed(TakenOver::over());
    let wrong = StateUpdate::new(json!({"x": 2})).as_node("nobody");
    let refused = taken.graph.update_state(&at, wrong).await.unwrap_err();
    assert!(refused.to_string().contains("nobody"), "{refused}");
    let held = taken
        .saver
        .coordination()
        .unwrap()
        .claim(&"t".into())
        .await
        .unwrap();
    let held = held.unwrap();
    assert_eq!((&*held.holder.name, held.is_live()), ("one", true), "{held:?}");
    taken.first.abort();
}

#[tokio::test]
async fn a_question_that_is_answered_while_its_thread_is_taken_over_is_not_withdrawn() {
    let (go, begun) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let saver = Arc::new(Moving::new(go.clone()));
    let (tell, wait) = (begun.clone(), go.clone());
    let asks = move |context: NodeContext, _: Value| {
        let (tell, wait) = (tell.clone(), wait.clone());
        async move {
            let answer = context.interrupt(json!("?"))?;
            tell.add_permits(1);
            wait.acquire().await.unwrap().forget();
            Ok(NodeOutput::update([("x", answer)]))
        }
    };
    let hangs = |_: NodeContext, _: Value| std::future::pending::<Result<NodeOutput, NodeError>>();
    let graph = base()
        .node("asks", asks)
        .node("hangs", hangs)
        .edge(START, "asks")
        .edge("asks", "hangs");
    let graph = graph.compile().unwrap().with_checkpointer(saver.clone());
    graph.invoke(input(), config("one")).await.unwrap();
    let asked = graph.get_state(&StateRef::live("t")).await.unwrap();
    let checkpoint = asked.checkpoint.unwrap().id;
    let run = graph.clone();
    let first = tokio::spawn(async move { run.invoke(Input::answer(7), config("one")).await });
    begun.acquire().await.unwrap().forget();
    saver.armed.store(true, Ordering::SeqCst);
    let by = TakenOver::over();
    let withdrawn = withdraw(
        &*saver,
        &"t".into(),
        &checkpoint,
        None,
        Object::new(),
        by.as_ref(),
    )
    .await;
    assert_eq!(withdrawn.unwrap(), 0, "the answer was acknowledged before");
    assert!(first.await.unwrap().is_err(), "the other run has lost its thread");
}

#[tokio::test]
async fn a_disk_that_cannot_be_written_is_no_other_run() {
    let saver = Arc::new(Moving::new(Arc::new(Semaphore::new(0))));
    let node = returns(json!({"x": 1}));
    let graph = base().node("one", node).edge(START, "one").compile().unwrap();
    let graph = graph.with_checkpointer(saver.clone());
    saver.full.store(true, Ordering::SeqCst);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let run = graph.invoke(input(), config("one").durability(durability));
        let error = run.await.unwrap_err().to_string();
        assert!(error.contains("only read"), "{durability:?}: {error}");
    }
}

#[tokio::test]
async fn a_run_that_was_taken_over_ends_and_stores_nothing_more() {
    let saver = Arc::new(MemorySaver::new());
    let (one, two) = (slow(&saver), slow(&saver));
    let graph = one.graph.clone();
    let first = tokio::spawn(async move { graph.invoke(input(), config("one")).await });
    drop(one.begun.acquire().await);
    two.go.add_permits(9);
    let mut over = config("two");
    over.claim = over.claim.map(|claim| claim.take_over(TakeOver::Always));
    two.graph.invoke(Input::Continue, over).await.unwrap();
    let before = saver.thread(&"t".into()).await.unwrap();
    one.go.add_permits(9);
    match first.await.unwrap() {
        Err(RunError::Storage(StorageError::Superseded { by: Some(by), .. })) => {
            assert_eq!(&*by.name, "two");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(saver.thread(&"t".into()).await.unwrap(), before);
    assert_eq!((two.calls.of("slow"), forks(&saver).await), (1, 0));
}

#[tokio::test]
async fn a_run_that_works_long_renews_its_claim_and_ends_when_it_is_lost() {
    let saver = Arc::new(MemorySaver::new());
    let one = slow(&saver);
    let mut short = config("one");
    short.claim = short.claim.map(|claim| claim.length(Duration::from_millis(300)));
    let graph = one.graph.clone();
    let first = tokio::spawn(async move { graph.invoke(input(), short).await });
    drop(one.begun.acquire().await);
    // Longer than the claim would be there without being renewed; on a busy machine that may come late.
    tokio::time::sleep(Duration::from_millis(400)).await;
    let renewed = async {
        while !saver.claim(&"t".into()).await.unwrap().unwrap().is_live() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), renewed)
        .await
        .expect("it is renewed");
    // Somebody deletes the thread; the node never ends by itself.
    saver.delete_thread(&"t".into()).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_mins(1), first).await;
    let ended = ended.expect("the run is stopped").unwrap();
    assert!(
        matches!(
            &ended,
            Err(RunError::Storage(StorageError::Superseded { by: None, .. }))
        ),
        "{ended:?}"
    );
    assert_eq!(ended.unwrap_err().code(), "superseded");
}

#[tokio::test]
async fn a_run_that_is_dropped_lets_its_thread_go() {
    let saver = Arc::new(MemorySaver::new());
    let one = slow(&saver);
    let mut run = Box::pin(one.graph.invoke(input(), config("one")));
    tokio::select! {
        _ = &mut run => panic!("it waits"),
        permit = one.begun.acquire() => drop(permit),
    }
    drop(run);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let claim = saver.claim(&"t".into()).await.unwrap().unwrap();
    assert!(claim.ended, "{claim:?}");
    one.go.add_permits(9);
    one.graph.invoke(Input::Continue, config("two")).await.unwrap();
}

#[tokio::test]
async fn every_end_of_a_run_frees_the_thread() {
    let fails = |_: NodeContext, _: Value| async { Err(NodeError::new("Failed", "on purpose")) };
    let asks = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(json!("?"))?;
        Ok(NodeOutput::update([("x", answer)]))
    };
    type Build = fn(StateGraph) -> StateGraph;
    let cases: [(&str, Build); 2] = [
        ("asks", |graph| graph.edge(START, "asks")),
        ("fails", |graph| graph.edge(START, "fails")),
    ];
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for (name, build) in &cases {
            let saver = Arc::new(MemorySaver::new());
            let nodes = base().node("asks", asks).node("fails", fails);
            let nodes = match *name {
                "asks" => build(nodes).edge("asks", "fails"),
                _ => build(nodes).edge("fails", "asks"),
            };
            let graph = nodes.compile().unwrap().with_checkpointer(saver.clone());
            let config = config("one").durability(durability);
            let _ = graph.invoke(input(), config.clone()).await;
            let claim = saver.claim(&"t".into()).await.unwrap().unwrap();
            assert!(claim.ended, "{name}, {durability:?}: {claim:?}");
            let stop = config.interrupt_before(["*"]);
            graph.invoke(input(), stop).await.unwrap();
            let claim = saver.claim(&"t".into()).await.unwrap().unwrap();
            assert!(claim.ended, "stopped before {name}, {durability:?}: {claim:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_programs_that_send_at_once_exactly_one_runs() {
    for round in 0..40 {
        let saver = Arc::new(MemorySaver::new());
        let calls = Calls::default();
        let count = calls.clone();
        let asks = move |context: NodeContext, _: Value| {
            let count = count.clone();
            async move {
                let answer = context.interrupt(json!("?"))?;
                count.add("answered");
                Ok(NodeOutput::update([("x", answer)]))
            }
        };
        let graph = base()
            .node("asks", asks)
            .edge(START, "asks")
            .compile()
            .unwrap()
            .with_checkpointer(saver.clone());
        for what in [input(), Input::answer(7)] {
            let runs = (0..4).map(|n| {
                let (graph, what) = (graph.clone(), what.clone());
                tokio::spawn(async move { graph.invoke(what, config(&format!("run {n}"))).await })
            });
            let outcomes = futures::future::join_all(runs).await;
            let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
            let refused = |error: &RunError| matches!(error.code(), "thread-busy" | "superseded");
            let ran = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let reported = outcomes
                .iter()
                .filter(|outcome| outcome.as_ref().is_err_and(refused))
                .count();
            // A program that read the thread after the first run had ended may run it as well.
            assert!(ran >= 1 && ran + reported == 4, "round {round}: {outcomes:?}");
            assert_eq!(forks(&saver).await, 0, "round {round}");
        }
        assert_eq!(calls.of("answered"), 1, "round {round}: one answer is taken once");
    }
}

#[tokio::test]
async fn edits_withdrawals_and_deletion_ask_who_runs() {
    let saver = Arc::new(MemorySaver::new());
    let one = slow(&saver);
    let graph = one.graph.clone();
    let first = tokio::spawn(async move { graph.invoke(input(), config("one")).await });
    drop(one.begun.acquire().await);
    let edit = || StateUpdate {
        values: json!({"log": ["edit"]}),
        as_node: Some("slow".into()),
        ..StateUpdate::default()
    };
    let other = by("two").unwrap();
    let at = StateRef::live("t").claimed(other.clone());
    let refused = one.graph.update_state(&at, edit()).await.unwrap_err();
    assert_eq!(refused.code(), "thread-busy");
    let deleted = delete_thread(&*saver, &"t".into(), &other).await;
    assert!(matches!(deleted, Err(StorageError::Busy { .. })), "{deleted:?}");
    one.go.add_permits(9);
    first.await.unwrap().unwrap();
    one.graph.update_state(&at, edit()).await.unwrap();
    delete_thread(&*saver, &"t".into(), &other).await.unwrap();
    assert!(saver.thread(&"t".into()).await.unwrap().is_none());
}

#[tokio::test]
async fn nested_graphs_show_the_claim_of_their_run() {
    let saver = Arc::new(MemorySaver::new());
    let inner = base()
        .node("a", logs("a"))
        .node("b", logs("b"))
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap();
    let graph = base()
        .subgraph("inner", &inner)
        .node("after", returns(json!({"x": 2})))
        .edge(START, "inner")
        .edge("inner", "after")
        .compile()
        .unwrap()
        .with_checkpointer(saver.clone());
    graph.invoke(input(), config("one")).await.unwrap();
    let claim = saver.claim(&"t".into()).await.unwrap().unwrap();
    assert!(claim.ended && claim.number == 1, "{claim:?}");
}

/// A commit only to end the claim would be one more wait for the disk in every run.
#[tokio::test]
async fn a_claim_is_ended_once_and_by_a_commit_that_is_made_anyway() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let saver = Arc::new(Moving::new(Arc::new(Semaphore::new(0))));
        let graph = base().node("works", logs("works")).edge(START, "works");
        let graph = graph.compile().unwrap().with_checkpointer(saver.clone());
        let run = config("one").durability(durability);
        graph.invoke(input(), run).await.unwrap();
        assert_eq!(saver.ended.load(Ordering::SeqCst), 1, "{durability:?}");
    }
}
