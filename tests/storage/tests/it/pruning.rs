//! What pruning leaves of threads whose graphs have graphs in them.

use superstep::{
    ChannelSpec, END, Graph, Input, Keep, ListQuery, NodeContext, NodeOutput, Pruning, RunConfig, START,
    StateGraph, StateRef, ThreadId, Value, json,
};
use superstep_storage_tests::Backend;

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
        let Some(place) = backend.place() else { continue };
        let saver = place.open().await.expect("opens");
        let graph = graph().with_checkpointer(saver.clone());
        let thread = ThreadId::from("t");
        let run = async |input: Input| {
            let ran = graph.invoke(input, RunConfig::on("t")).await;
            ran.unwrap_or_else(|error| panic!("{backend:?}: {error}"))
        };
        let spaces = async || {
            let all = ListQuery {
                thread: Some(thread.clone()),
                ..ListQuery::default()
            };
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
            .heads(&ListQuery {
                thread: Some(thread.clone()),
                ns: Some("".into()),
                ..ListQuery::default()
            })
            .await
            .expect("lists");
        // Somebody marked the checkpoint of the second run at which its nested graph ran.
        let marked = history
            .iter()
            .filter(|head| head.next.iter().any(|node| &**node == "inner"))
            .nth(1)
            .expect("the second run");
        let latest = Pruning::threads([thread.clone()], Keep::Latest).retain([marked.id.clone()]);
        let plan = superstep::prune(&*saver, &latest.clone().dry_run())
            .await
            .expect("looks");
        let went = superstep::prune(&*saver, &latest).await.expect("prunes");
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
        superstep::prune(&*saver, &latest).await.expect("prunes");
        let (count, left) = spaces().await;
        assert_eq!((count, left.len()), (2, 2), "{backend:?}: {left:?}");
        let state = graph
            .get_state(&StateRef::live("t").with_subgraphs())
            .await
            .expect("reads");
        assert_eq!(state.interrupts.len(), 1, "{backend:?}");
        run(Input::resume("yes")).await;
        let state = graph.get_state(&StateRef::live("t")).await.expect("reads");
        assert_eq!(state.values.get("n"), Some(&json!(3)), "{backend:?}");
    }
}
