//! Delta keys on SQLite: values that are rebuilt from stored writes read like stored ones, in every branch.

use std::sync::Arc;

use superstep::checkpoint::ListQuery;
use superstep::graph::BinaryOp;
use superstep::run::{Durability, StateRef};
use superstep::{
    ChannelSpec, Checkpointer, Graph, Input, MemorySaver, NodeContext, NodeOutput, RunConfig, START,
    StateGraph, StateUpdate, Value, json, overwrite,
};
use superstep_storage::SqliteSaver;

fn graph(spec: ChannelSpec, saver: Arc<dyn Checkpointer>) -> Graph {
    let node = |name: &'static str| {
        move |_: NodeContext, _: Value| async move { Ok(NodeOutput::from(json!({"items": [name]}))) }
    };
    StateGraph::new()
        .channel("items", spec)
        .node("a", node("a"))
        .node("b", node("b"))
        .node("c", node("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .compile()
        .expect("a graph")
        .with_checkpointer(saver)
}

/// What the history of the thread shows after runs, edits and forks, newest first. The first checkpoint of a thread
/// that only stores the ends of its runs is left out: it is there for delta keys alone.
async fn script(graph: &Graph, durability: Durability) -> Vec<String> {
    let config = || RunConfig::on("t").durability(durability);
    let given = |n: i64| Input::value(json!({"items": [n]}));
    let edit = |values: Value| StateUpdate {
        values,
        as_node: Some("a".into()),
        ..StateUpdate::default()
    };
    let live = StateRef::live("t");
    graph.invoke(given(1), config()).await.expect("a run");
    let fork = graph.get_state(&live).await.expect("a state").checkpoint;
    let fork = fork.expect("a checkpoint").id;
    graph.invoke(given(2), config()).await.expect("a second run");
    let edits = [json!({"items": ["e"]}), json!({"items": overwrite(json!(["o"]))})];
    for values in edits {
        graph.update_state(&live, edit(values)).await.expect("an edit");
    }
    let past = config().checkpoint_id(fork.clone());
    graph.invoke(given(3), past).await.expect("a run on a branch");
    let at = StateRef::at("t", fork);
    let past_edit = edit(json!({"items": ["p"]}));
    graph
        .update_state(&at, past_edit)
        .await
        .expect("an edit of the past");
    graph.invoke(Input::Continue, config()).await.expect("a resume");
    let history = graph
        .get_state_history(&"t".into(), &ListQuery::default())
        .await
        .expect("a history");
    history
        .iter()
        .filter_map(|entry| entry.checkpoint.as_ref().map(|head| (head, &entry.values)))
        .filter(|(head, _)| head.metadata.step > -2)
        .map(|(head, values)| format!("{} {values}", head.metadata.step))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rebuilt_values_read_like_stored_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let ordinary = graph(ChannelSpec::append(), Arc::new(MemorySaver::new()));
        let wanted = script(&ordinary, durability).await;
        assert!(wanted.len() > 6, "{wanted:?}");
        for frequency in [1, 2, 3, 100] {
            let file = folder.path().join(format!("{durability:?}{frequency}.db"));
            let savers: [Arc<dyn Checkpointer>; 2] = [
                Arc::new(MemorySaver::new()),
                Arc::new(SqliteSaver::open(file).expect("a new database")),
            ];
            for saver in savers {
                let spec = ChannelSpec::delta(BinaryOp::Append, frequency);
                let found = script(&graph(spec, saver.clone()), durability).await;
                assert_eq!(found, wanted, "{durability:?}, every {frequency}, {saver:?}");
            }
        }
    }
}
