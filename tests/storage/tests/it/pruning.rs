//! What pruning leaves of threads whose graphs have graphs in them.

use std::sync::Arc;

use superstep::checkpoint::{Keep, ListQuery, Pruning};
use superstep::run::StateRef;
use superstep::{
    ChannelSpec, END, Graph, Input, NodeContext, NodeOutput, RunConfig, START, StateGraph, ThreadId, Value,
    json,
};
use superstep_storage::Backend;
use superstep_storage_tests::Place;
use tokio::sync::Semaphore;

/// Counts in a nested graph that asks whether the count is right when it is a multiple of three.
fn graph() -> Graph {
    let inner = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("count", async |_: NodeContext, state: Value| {
            let n = state.get("n").and_then(Value::as_u64).unwrap_or(0) + 1;
            Ok(NodeOutput::update([("n", n)]))
        })
        .node("ask", async |context: NodeContext, state: Value| {
            if state
                .get("n")
                .and_then(Value::as_u64)
                .unwrap_or(0)
                .is_multiple_of(3)
            {
                context.interrupt("Is it right?")?;
            }
            Ok(NodeOutput::none())
        })
        .edge(START, "count")
        .edge("count", "ask")
        .edge("ask", END)
        .compile()
        .expect("a graph");
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .subgraph("inner", &inner)
        .edge(START, "inner")
        .edge("inner", END)
        .compile()
        .expect("a graph")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nested_runs_go_with_the_checkpoint_they_belong_to() {
    for backend in Backend::ALL {
        let Some(place) = Place::of(*backend) else {
            continue;
        };
        let saver = place.open().await.expect("opens");
        let graph = graph().with_checkpointer(saver.clone());
        let thread = ThreadId::from("t");
        let run = async |input: Input| {
            let ran = graph.invoke(input, RunConfig::on("t")).await;
            ran.unwrap_or_else(|error| panic!("{backend:?}: {error}"))
        };
        let spaces = async || {
            let all = ListQuery::new().thread(thread.clone());
            let heads = saver.heads(&all).await.expect("lists");
            let mut spaces: Vec<String> = heads.iter().map(|head| head.ns.to_string()).collect();
            spaces.sort();
            (heads.len(), {
                spaces.dedup();
                spaces
            })
        };
        for n in [0, 1, 3] {
            run(Input::value(json!({"n": n}))).await;
        }
        let (_, before) = spaces().await;
        assert_eq!(before.len(), 4, "{backend:?}: {before:?}");
        let history = saver
            .heads(&ListQuery::new().thread(thread.clone()).ns(""))
            .await
            .expect("lists");
        // Somebody marked the checkpoint of the second run at which its nested graph ran.
        let marked = history
            .iter()
            .filter(|head| head.next.iter().any(|node| &**node == "inner"))
            .nth(1)
            .expect("the second run");
        let latest = Pruning::threads([thread.clone()], Keep::Latest).retain([marked.id.clone()]);
        let plan = superstep::inspect::prune(&*saver, &latest.clone().dry_run())
            .await
            .expect("looks");
        let went = superstep::inspect::prune(&*saver, &latest).await.expect("prunes");
        assert_eq!(
            (plan.checkpoints, plan.threads),
            (went.checkpoints, 0),
            "{backend:?}"
        );
        assert_eq!(went.branches, [], "{backend:?}: what ended is no lost branch");
        let (count, left) = spaces().await;
        // The newest checkpoint, the marked one, and the newest of what ran in the marked one.
        assert_eq!((count, left.len()), (3, 2), "{backend:?}: {left:?}");
        // A question in a nested graph is still there, and can be answered.
        run(Input::value(json!({"n": 2}))).await;
        let latest = Pruning::threads([thread.clone()], Keep::Latest);
        superstep::inspect::prune(&*saver, &latest).await.expect("prunes");
        let (count, left) = spaces().await;
        assert_eq!((count, left.len()), (2, 2), "{backend:?}: {left:?}");
        let state = graph
            .get_state(&StateRef::live("t").with_subgraphs())
            .await
            .expect("reads");
        assert_eq!(state.interrupts.len(), 1, "{backend:?}");
        run(Input::answer("yes")).await;
        let state = graph.get_state(&StateRef::live("t")).await.expect("reads");
        assert_eq!(state.values.get("n"), Some(&json!(3)), "{backend:?}");
    }
}

/// A nested graph counts, says that it runs, and waits to be let go.
fn waiting(runs: Arc<Semaphore>, go: Arc<Semaphore>) -> Graph {
    let inner = StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .node("count", async |_: NodeContext, state: Value| {
            let n = state.get("n").and_then(Value::as_u64).unwrap_or(0) + 1;
            Ok(NodeOutput::update([("n", n)]))
        })
        .node("wait", move |_: NodeContext, _: Value| {
            let (runs, go) = (runs.clone(), go.clone());
            async move {
                runs.add_permits(1);
                go.acquire().await.expect("open").forget();
                Ok(NodeOutput::none())
            }
        })
        .edge(START, "count")
        .edge("count", "wait")
        .edge("wait", END)
        .compile()
        .expect("a graph");
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .subgraph("inner", &inner)
        .edge(START, "inner")
        .edge("inner", END)
        .compile()
        .expect("a graph")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_run_that_goes_on_is_not_ended() {
    for backend in Backend::ALL {
        let Some(place) = Place::of(*backend) else {
            continue;
        };
        let saver = place.open().await.expect("opens");
        let (runs, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let graph = waiting(runs.clone(), go.clone()).with_checkpointer(saver.clone());
        // How many namespaces are left in the end: three checkpoints of the root are those of one run.
        for (name, keep, left) in [
            ("latest", Keep::Latest, 1),
            ("one", Keep::Newest(1), 1),
            ("three", Keep::Newest(3), 2),
            ("branches", Keep::Branches, 1),
        ] {
            let thread = ThreadId::from(name);
            let pruning = Pruning::threads([thread.clone()], keep);
            for n in [1, 10, 100] {
                let run = async {
                    let input = Input::value(json!({"n": n}));
                    graph
                        .invoke(input, RunConfig::on(thread.clone()))
                        .await
                        .expect("runs");
                };
                let prune = async {
                    runs.acquire().await.expect("open").forget();
                    superstep::inspect::prune(&*saver, &pruning)
                        .await
                        .expect("prunes");
                    let live = StateRef::live(thread.clone()).with_subgraphs();
                    let state = graph.get_state(&live).await.expect("reads");
                    assert_eq!(state.next.len(), 1, "{backend:?}, {name}: it still runs");
                    go.add_permits(1);
                };
                tokio::join!(run, prune);
                let state = graph.get_state(&StateRef::live(thread.clone())).await;
                let state = state.expect("reads");
                assert_eq!(state.values.get("n"), Some(&json!(n + 1)), "{backend:?}, {name}");
                assert_eq!(state.next.len(), 0, "{backend:?}, {name}");
            }
            superstep::inspect::prune(&*saver, &pruning)
                .await
                .expect("prunes");
            let all = ListQuery::new().thread(thread.clone());
            let heads = saver.heads(&all).await.expect("lists");
            let spaces: std::collections::BTreeSet<_> = heads.iter().map(|head| &head.ns).collect();
            assert_eq!(spaces.len(), left, "{backend:?}, {name}: {spaces:?}");
        }
    }
}
