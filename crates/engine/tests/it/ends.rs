//! How runs are brought to an end from outside or by their own bounds, and go on afterwards.

use superstep::graph::Effect;
use superstep::run::*;
use superstep::*;

use crate::support::*;

/// A node that logs its name and asks the run to drain.
fn asks_to_drain(name: &'static str, drain: &Drain) -> impl Node {
    let drain = drain.clone();
    move |_: NodeContext, _: Value| {
        drain.request("maintenance");
        async move { Ok(NodeOutput::update([("log", json!([name]))])) }
    }
}

fn three(drain: &Drain, asks: &'static str) -> Graph {
    let mut graph = base();
    let mut last = START;
    for name in ["a", "b", "c"] {
        graph = match name == asks {
            true => graph.node(name, asks_to_drain(name, drain)),
            false => graph.node(name, logs(name)),
        }
        .edge(last, name);
        last = name;
    }
    on_memory(graph)
}

/// Recorded from LangGraph: the error, what is next, and the steps of the history, by durability.
#[tokio::test]
async fn a_drain_keeps_what_the_durability_keeps() {
    let newest = "1 loop [a] -> b";
    let all = [newest, "0 loop [] -> a", "-1 input [] -> __start__"];
    for (durability, kept) in [(Durability::Sync, &all[..]), (Durability::Exit, &[newest])] {
        let drain = Drain::default();
        let graph = three(&drain, "a");
        let config = RunConfig::on("t").drain(drain).durability(durability);
        let drained = graph.invoke(input(), config).await.unwrap_err();
        assert_eq!(drained.to_string(), "Graph drained: maintenance");
        assert_eq!(history(&graph, "t").await, kept);
        let done = graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
        assert_eq!(log_of(&done.value), "a,b,c");
    }
}

#[tokio::test]
async fn a_drain_in_the_last_step_is_no_error() {
    let drain = Drain::default();
    let graph = three(&drain, "c");
    let config = RunConfig::on("t").drain(drain);
    let done = graph.invoke(input(), config).await.unwrap();
    assert_eq!(
        (log_of(&done.value).as_str(), done.status),
        ("a,b,c", RunStatus::Done)
    );
}

#[tokio::test]
async fn a_breakpoint_comes_before_a_drain() {
    let drain = Drain::default();
    let graph = three(&drain, "a");
    let config = RunConfig::on("t").drain(drain).interrupt_before(["b"]);
    let stopped = graph.invoke(input(), config).await.unwrap();
    assert_eq!(stopped.status, RunStatus::Breakpoint);
    assert_eq!(history(&graph, "t").await[0], "1 loop [a] -> b");
}

#[tokio::test]
async fn a_drain_inside_a_nested_graph_goes_on_inside_it() {
    let drain = Drain::default();
    let calls = Calls::default();
    let counted = calls.clone();
    let first = asks_to_drain("s1", &drain);
    let first = std::sync::Arc::new(first);
    let inner = base()
        .node("s1", move |context: NodeContext, state: Value| {
            counted.add("s1");
            let first = first.clone();
            async move { first.run(context, state).await }
        })
        .node("s2", logs("s2"))
        .edge(START, "s1")
        .edge("s1", "s2")
        .compile()
        .unwrap();
    let graph = on_memory(
        base()
            .subgraph("sub", &inner)
            .node("q", logs("q"))
            .edge(START, "sub")
            .edge("sub", "q"),
    );
    let config = RunConfig::on("t").drain(drain);
    let drained = graph.invoke(input(), config).await.unwrap_err();
    assert_eq!(drained.code(), "drained");
    assert_eq!(history(&graph, "t").await[0], "0 loop [] -> sub");
    let done = graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
    assert_eq!((log_of(&done.value).as_str(), calls.of("s1")), ("s1,s2,q", 1));
}

/// `think` and `act` in turns, for ever.
fn endless(limit: u32) -> StateGraph {
    chain(&["think"])
        .node_with(
            "act",
            std::sync::Arc::new(logs("act")),
            NodeOptions::new().max_visits(limit),
        )
        .edge("think", "act")
        .edge("act", "think")
}

#[tokio::test]
async fn a_bounded_node_ends_its_loop_and_the_thread_goes_on() {
    let graph = on_memory(endless(2));
    let error = graph.invoke(input(), RunConfig::on("t")).await.unwrap_err();
    assert_eq!(
        (error.code(), error.class()),
        ("loop-limit", "GraphRecursionError")
    );
    assert!(
        error.to_string().contains("`act`") && error.to_string().contains("at most 2"),
        "{error}"
    );
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(state.next, ["act".into()]);
    assert_eq!(log_of(&state.values), "think,act,think,act,think");
    // Whoever has it go on nevertheless begins to count again.
    let error = graph
        .invoke(Input::Continue, RunConfig::on("t"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "loop-limit");
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(log_of(&state.values).matches("act").count(), 4);
}

/// `draft` and `ask` in turns, until somebody answers "done". `draft` may be visited twice.
fn rounds(options: NodeOptions) -> StateGraph {
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt("Again?")?;
        Ok(NodeOutput::update([("log", json!([answer]))]))
    };
    let done = routes(|state| {
        vec![Target::node(if log_of(state).ends_with("done") {
            END
        } else {
            "draft"
        })]
    });
    base()
        .node_with("draft", std::sync::Arc::new(logs("draft")), options.max_visits(2))
        .node("ask", ask)
        .node("late", logs("late"))
        .edge(START, "draft")
        .edge("draft", "ask")
        .branch("ask", Branch::new(done).path("draft", "draft").path(END, END))
}

async fn answered(graph: &Graph, answer: &str) -> Result<String, RunError> {
    let command = Input::Command(Command::answer(answer));
    let done = graph.invoke(command, RunConfig::on("t")).await?;
    Ok(format!("{} {:?}", log_of(&done.value), done.status))
}

#[tokio::test]
async fn a_bound_counts_over_the_answers_of_people() {
    for durability in [Durability::Sync, Durability::Exit] {
        let graph = on_memory(rounds(NodeOptions::new()));
        let run = |input| graph.invoke(input, RunConfig::on("t").durability(durability));
        let resume = |answer: &str| Input::Command(Command::answer(answer));
        run(input()).await.unwrap();
        let asks = run(resume("more")).await.unwrap();
        assert_eq!(log_of(&asks.value), "draft,more,draft");
        let error = run(resume("more")).await.unwrap_err();
        assert_eq!(error.code(), "loop-limit", "{durability:?}");
        // The answer is kept, and a new input begins to count again.
        let state = graph.get_state(&StateRef::live("t")).await.unwrap();
        assert_eq!(log_of(&state.values), "draft,more,draft,more");
        run(input()).await.unwrap();
        run(resume("more")).await.unwrap();
        assert_eq!(run(resume("more")).await.unwrap_err().code(), "loop-limit");
    }
}

#[tokio::test]
async fn a_bound_counts_on_from_where_a_branch_or_an_edit_begins() {
    let graph = on_memory(rounds(NodeOptions::new()));
    graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    let first = graph.get_state(&StateRef::live("t")).await.unwrap();
    answered(&graph, "more").await.unwrap();
    // An edit keeps the count.
    graph
        .update_state(
            &StateRef::live("t"),
            StateUpdate::new(json!({"log": ["edited"]})).as_node("draft"),
        )
        .await
        .unwrap();
    graph.invoke(Input::Continue, RunConfig::on("t")).await.unwrap();
    let error = answered(&graph, "more").await.unwrap_err();
    assert_eq!(error.code(), "loop-limit");
    // A branch off the first question has one visit behind it.
    let past = first.checkpoint.unwrap().id;
    let branch = RunConfig::on("t").checkpoint_id(past);
    let asks = graph
        .invoke(Input::Command(Command::answer("more")), branch)
        .await
        .unwrap();
    assert_eq!(log_of(&asks.value), "draft,more,draft");
    answered(&graph, "more").await.unwrap_err();
}

#[tokio::test]
async fn a_limit_has_a_way_of_its_own() {
    let options = || {
        NodeOptions::new()
            .effect(Effect::Once)
            .retry(RetryPolicy::default())
    };
    for way in ["late", END] {
        let graph = on_memory(rounds(options().limit_branch(way)));
        graph.invoke(input(), RunConfig::on("t")).await.unwrap();
        answered(&graph, "more").await.unwrap();
        let log = match way {
            END => "draft,more,draft,more Done",
            _ => "draft,more,draft,more,late Done",
        };
        assert_eq!(answered(&graph, "more").await.unwrap(), log);
        // The next input has its own rounds.
        graph.invoke(input(), RunConfig::on("t")).await.unwrap();
        let again = answered(&graph, "more").await.unwrap();
        assert!(again.ends_with("draft,more,draft Interrupted"), "{again}");
    }
    // In one run, too, and where an error way would lead elsewhere.
    let graph = on_memory(
        base()
            .node_with(
                "work",
                std::sync::Arc::new(logs("work")),
                NodeOptions::new()
                    .max_visits(3)
                    .limit_branch("late")
                    .error_branch("other", None),
            )
            .node("late", logs("late"))
            .node("other", logs("other"))
            .edge(START, "work")
            .edge("work", "work"),
    );
    let done = graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    assert_eq!(log_of(&done.value), "work,work,work,late");
}

#[tokio::test]
async fn a_bound_within_a_nested_graph_counts_over_answers() {
    let inner = rounds(NodeOptions::new().limit_branch("late")).compile().unwrap();
    let graph = on_memory(base().subgraph("sub", &inner).edge(START, "sub"));
    graph.invoke(input(), RunConfig::on("t")).await.unwrap();
    answered(&graph, "more").await.unwrap();
    let done = answered(&graph, "more").await.unwrap();
    assert!(done.ends_with("draft,more,draft,more,late Done"), "{done}");
}

#[tokio::test]
async fn packets_of_one_step_are_one_visit() {
    let graph = base()
        .node("begin", returns(Value::Null))
        .node_with(
            "work",
            std::sync::Arc::new(logs("work")),
            NodeOptions::new().max_visits(1),
        )
        .edge(START, "begin")
        .branch(
            "begin",
            Branch::new(routes(|_| {
                (0..5).map(|_| Target::send("work", json!({}))).collect()
            })),
        )
        .compile()
        .unwrap();
    let done = graph.invoke(input(), RunConfig::default()).await.unwrap();
    assert_eq!(log_of(&done.value).matches("work").count(), 5);
}

#[test]
fn a_bound_that_lets_nothing_through_is_a_problem() {
    let problems = endless(0).compile().unwrap_err();
    assert!(
        problems.to_string().contains("may be visited 0 times"),
        "{problems}"
    );
}
