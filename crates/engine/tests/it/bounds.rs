//! Bounds of what a run may make: packets of a step, their size, the size of the state.

use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

/// `begin` leads to `work` with one packet for each number of `sizes`, as large as the number says.
fn fan_out(sizes: &'static [usize]) -> Graph {
    on_memory(
        base()
            .node("begin", logs("begin"))
            .node("work", logs("work"))
            .edge(START, "begin")
            .branch(
                "begin",
                Branch::new(routes(move |_| {
                    let packet = |size: &usize| Target::send("work", json!({"text": "x".repeat(*size)}));
                    sizes.iter().map(packet).collect()
                })),
            ),
    )
}

fn bounded(bounds: Bounds) -> RunConfig {
    RunConfig::on("t").bounds(bounds)
}

/// Fails with the bound and goes on from there without it.
async fn fails_and_goes_on(graph: &Graph, bounds: Bounds, bound: Bound, code: &str, next: &[&str]) {
    let error = graph.invoke(input(), bounded(bounds)).await.unwrap_err();
    assert!(
        matches!(&error, RunError::Bound { bound: found, .. } if *found == bound),
        "{error}"
    );
    assert_eq!(error.code(), code);
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    let waiting: Vec<&str> = state.next.iter().map(|name| &**name).collect();
    assert_eq!(waiting, next, "{error}");
    let again = graph.invoke(Input::Continue, bounded(bounds)).await.unwrap_err();
    assert_eq!(again.code(), code, "it is bounded as before");
    let done = graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
    assert_eq!(done.status, RunStatus::Done);
}

#[tokio::test]
async fn a_step_makes_no_more_packets_than_it_may() {
    let bounds = |packets| Bounds::default().packets(packets);
    let graph = fan_out(&[1; 20]);
    let done = graph.invoke(input(), bounded(bounds(20))).await.unwrap();
    assert_eq!(log_of(&done.value).matches("work").count(), 20);
    let graph = fan_out(&[1; 21]);
    fails_and_goes_on(&graph, bounds(20), Bound::Packets, "packet-limit", &["begin"]).await;
}

#[tokio::test]
async fn packets_of_all_tasks_of_a_step_count_together() {
    let mut graph = base().node("work", logs("work"));
    for name in ["a", "b", "c"] {
        let make = |_: &Value| vec![Target::send("work", json!({})); 4];
        graph = graph
            .node(name, logs(name))
            .edge(START, name)
            .branch(name, Branch::new(routes(make)));
    }
    let graph = on_memory(graph);
    let bounds = Bounds::default().packets(11);
    let error = graph.invoke(input(), bounded(bounds)).await.unwrap_err();
    assert_eq!(error.code(), "packet-limit");
    let done = graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
    assert_eq!(log_of(&done.value).matches("work").count(), 12);
}

#[tokio::test]
async fn packets_take_no_more_memory_than_they_may() {
    let bounds = Bounds::default().packet_bytes(100_000);
    let graph = fan_out(&[40_000; 3]);
    fails_and_goes_on(
        &graph,
        bounds,
        Bound::PacketBytes,
        "packet-size-limit",
        &["begin"],
    )
    .await;
    let graph = fan_out(&[40_000; 2]);
    assert!(graph.invoke(input(), bounded(bounds)).await.is_ok());
}

#[tokio::test]
async fn a_state_grows_no_larger_than_it_may() {
    let bounds = Bounds::default().state_bytes(100_000);
    let graph = on_memory(
        base()
            .node("grow", returns(json!({"log": ["x".repeat(10_000)]})))
            .edge(START, "grow")
            .branch(
                "grow",
                Branch::new(routes(|state| {
                    let turns = state.get("log").and_then(Value::as_array).map_or(0, List::len);
                    let next = if turns < 20 { "grow" } else { END };
                    vec![Target::node(next)]
                })),
            ),
    );
    // What the task wrote is kept, so nothing is left to run; it takes effect when the thread goes on.
    fails_and_goes_on(&graph, bounds, Bound::StateBytes, "state-size-limit", &[]).await;
    let error = graph
        .invoke(Input::value(json!({"x": "y".repeat(200_000)})), bounded(bounds))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "state-size-limit", "the input counts, too");
}

#[tokio::test]
async fn edges_are_no_packets() {
    let mut graph = base();
    for n in 0..50 {
        let name = format!("n{n}");
        graph = graph.node(name.as_str(), logs(&name)).edge(START, name.as_str());
    }
    let bounds = Bounds::default().packets(1).packet_bytes(1);
    let done = on_memory(graph).invoke(input(), bounded(bounds)).await.unwrap();
    assert_eq!(log_of(&done.value).split(',').count(), 50);
}
