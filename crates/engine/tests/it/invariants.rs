//! Invariants: what a graph says must hold, checked in each of its runs, and what a broken one does.

use superstep::run::*;
use superstep::run::{Breakpoint, BreakpointPlace, WhenBroken};
use superstep::stream::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// count, which adds one to `n` and goes round until it is 5.
fn counter() -> StateGraph {
    let count = |_: NodeContext, state: Value| async move {
        let n = state.get("n").and_then(Value::as_i64).unwrap_or(0);
        Ok(NodeOutput::Update(json!({"n": n + 1})))
    };
    let route = routes(|state| match state["n"].as_i64() {
        Some(5..) => vec!["done".into()],
        _ => vec!["count".into()],
    });
    base()
        .channel("n", ChannelSpec::last_value())
        .node("count", count)
        .node("done", logs("done"))
        .edge(START, "count")
        .branch("count", Branch::new(route))
}

/// `n` must be below this. Not to be evaluated before there is an `n`.
fn below(most: i64) -> impl Fn(&Value) -> Result<bool, String> {
    move |seen: &Value| {
        let n = seen["state"].get("n").and_then(Value::as_i64);
        n.map(|n| n < most).ok_or_else(|| "there is no n".to_owned())
    }
}

fn rule(place: BreakpointPlace, most: i64, then: WhenBroken) -> Breakpoint {
    Breakpoint::invariant("doc#1", place, below(most), format!("n stays below {most}"), then)
}

fn n_of(value: &Value) -> i64 {
    value["n"].as_i64().unwrap()
}

#[tokio::test]
async fn a_run_pauses_in_the_step_that_broke_it_and_goes_on_from_there() {
    let graph = on_memory(counter().invariant(rule(BreakpointPlace::Watch, 3, WhenBroken::Pause)));
    let result = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!(result.status, RunStatus::Breakpoint);
    let hit = result.stopped.unwrap();
    assert_eq!((&*hit.id, hit.step), ("doc#1", 3));
    assert_eq!(hit.reason, "Invariant broken: n stays below 3 (after `count`)");
    let result = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(
        result.status,
        RunStatus::Done,
        "it is reported once while it stays broken"
    );
    assert_eq!(n_of(&result.value), 5);
}

#[tokio::test]
async fn a_run_that_fails_keeps_the_step_and_goes_on_when_the_state_was_corrected() {
    let graph = on_memory(counter().invariant(rule(BreakpointPlace::Watch, 3, WhenBroken::Fail)));
    let failed = graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    let RunError::Invariant { id, step, .. } = &failed else {
        panic!("another error: {failed}");
    };
    assert_eq!((&**id, *step, failed.code()), ("doc#1", 3, "invariant-broken"));
    assert!(failed.to_string().contains("n stays below 3"), "{failed}");
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(n_of(&state.values), 3, "what the step wrote is stored");
    // Nothing runs on a state that is broken.
    let again = graph
        .invoke(Input::Continue, RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(
        again
            .to_string()
            .contains("in the state that the run begins with"),
        "{again}"
    );
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(n_of(&state.values), 3);
    let corrected = StateUpdate::new(json!({"n": 1})).as_node("count");
    graph.update_state(&StateRef::live("1"), corrected).await.unwrap();
    let failed = graph
        .invoke(Input::Continue, RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(
        failed.to_string().contains("(after `count`)"),
        "it ran until it broke once more: {failed}"
    );
}

#[tokio::test]
async fn what_is_only_reported_is_a_value_of_the_stream() {
    let graph =
        on_memory(counter().invariant(rule(BreakpointPlace::After("count".into()), 4, WhenBroken::Tell)));
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &[StreamMode::Custom]).await;
    assert_eq!(result.unwrap().status, RunStatus::Done);
    let message = r#"custom {"log":"Invariant broken: n stays below 4 (after `count`)","invariant":"doc#1"}"#;
    assert_eq!(lines, [message, message], "at each visit that it is broken at");
}

#[tokio::test]
async fn keys_and_edges_are_places_too() {
    let grows =
        |seen: &Value| Ok(seen["new"].as_i64() > seen["old"].as_i64() && seen["writer"] == json!("count"));
    let key = Breakpoint::invariant(
        "key:n#1",
        BreakpointPlace::Key("n".into()),
        grows,
        "n grows",
        WhenBroken::Fail,
    );
    let edge = BreakpointPlace::Edge {
        from: "count".into(),
        to: "done".into(),
    };
    let edge = Breakpoint::invariant("edge:x#1", edge, below(5), "n is small", WhenBroken::Pause);
    let graph = on_memory(counter().invariant(key).invariant(edge));
    let result = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let hit = result.stopped.unwrap();
    assert_eq!(hit.reason, "Invariant broken: n is small (`count` led to `done`)");
    assert_eq!(hit.id.as_ref(), "edge:x#1");
}

#[tokio::test]
async fn a_nested_graph_has_its_own_and_the_node_around_it_fails() {
    let inner = counter()
        .invariant(rule(BreakpointPlace::Watch, 2, WhenBroken::Fail))
        .compile()
        .unwrap();
    let outer = base()
        .channel("n", ChannelSpec::last_value())
        .subgraph("inner", &inner)
        .edge(START, "inner");
    let failed = on_memory(outer)
        .invoke(input(), RunConfig::on("1"))
        .await
        .unwrap_err();
    let RunError::Node { node, failure, .. } = &failed else {
        panic!("another error: {failed}");
    };
    assert_eq!((&**node, &*failure.class), ("inner", "InvariantError"));
    assert!(failure.message.contains("n stays below 2"), "{failure}");
}

#[tokio::test]
async fn an_invariant_at_a_node_that_is_not_there_is_refused() {
    let graph =
        on_memory(counter().invariant(rule(BreakpointPlace::After("gone".into()), 2, WhenBroken::Tell)));
    let refused = graph.invoke(input(), RunConfig::on("1")).await.unwrap_err();
    assert!(refused.to_string().contains("`gone`"), "{refused}");
}
