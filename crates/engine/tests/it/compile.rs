//! Compilation finds everything that is wrong, at once.

use superstep::graph::*;
use superstep::run::*;
use superstep::*;

use crate::support::*;

#[test]
fn every_problem_is_reported_with_its_place_and_remedy() {
    let graph = base()
        .channel("log", ChannelSpec::topic().accumulate())
        .channel("__secret", ChannelSpec::append())
        .node("a", logs("a"))
        .node("a", logs("a"))
        .node("__start__", logs("s"))
        .node("b:c", logs("b"))
        .edge("a", "zz")
        .edge("yy", "a")
        .edge(END, "a")
        .edge("a", START)
        .join(["a", "qq"], "a")
        .branch(
            "a",
            Branch::new(routes(|_| vec![])).named("r").path("l", "nowhere"),
        )
        .branch("a", Branch::new(routes(|_| vec![])).named("r"))
        .input_keys(["x", "nokey"]);
    let problems = graph.compile().unwrap_err().problems;
    let codes: Vec<&str> = problems.iter().map(|p| p.code).collect();
    assert_eq!(
        codes,
        [
            "duplicate-channel",
            "reserved-name",
            "unknown-key",
            "duplicate-node",
            "reserved-name",
            "reserved-character",
            "unknown-target",
            "unknown-source",
            "end-as-source",
            "start-as-target",
            "unknown-join",
            "unknown-target",
            "duplicate-branch",
            "no-entry",
        ]
    );
    assert!(
        problems
            .iter()
            .all(|p| !p.message.is_empty() && !p.remedy.is_empty())
    );
    assert_eq!(problems[6].message, "Found edge ending at unknown node `zz`");
    assert_eq!(problems[6].place, GraphPlace::Edge("a".into(), "zz".into()));
}

/// Who corrects the name of a node also corrects what leads to it.
#[test]
fn a_refused_name_is_one_problem() {
    let graph = base()
        .node("a", logs("a"))
        .node("b|c", logs("b"))
        .edge(START, "a")
        .edge("a", "b|c")
        .edge("b|c", "a")
        .join(["a", "b|c"], "a")
        .branch("a", Branch::new(routes(|_| vec![])).path("l", "b|c"))
        .branch("b|c", Branch::new(routes(|_| vec![])));
    let problems = graph.compile().unwrap_err().problems;
    let codes: Vec<&str> = problems.iter().map(|p| p.code).collect();
    assert_eq!(codes, ["reserved-character"]);
}

#[test]
fn a_join_does_not_begin_at_the_end() {
    let graph = base().node("a", logs("a")).edge(START, "a").join(["a", END], "a");
    let problems = graph.compile().unwrap_err().problems;
    assert_eq!(problems[0].message, "END cannot be a start node");
}

#[test]
fn a_plan_can_be_printed_and_drawn() {
    let graph = base()
        .node("a", logs("a"))
        .node("b", logs("b"))
        .node("c", logs("c"))
        .edge(START, "a")
        .edge("a", "b")
        .join(["a", "b"], "c")
        .branch(
            "c",
            Branch::new(routes(|_| vec![]))
                .named("again")
                .path("more", "a")
                .default(END),
        )
        .compile()
        .unwrap();
    assert_eq!(
        graph.plan(),
        "key x: overwrite\nkey log: append\n\
         node __start__ <- __start__\n  -> branch:to:a\n\
         node a <- branch:to:a\n  -> branch:to:b\n  -> join:a+b:c\n\
         node b <- branch:to:b\n  -> join:a+b:c\n\
         node c <- branch:to:c, join:a+b:c\n  ? again: more -> a, otherwise -> __end__\n"
    );
    assert!(
        graph.mermaid().contains("n3 -.->|\"more\"| n1"),
        "{}",
        graph.mermaid()
    );
}

#[tokio::test]
async fn a_hundred_thousand_nodes_compile_and_a_step_does_not_visit_them() {
    let mut graph = base();
    for i in 0..100_000 {
        graph = graph.node(format!("n{i}"), returns(Value::Null));
        if i > 0 {
            graph = graph.edge(format!("n{}", i - 1), format!("n{i}"));
        }
    }
    let graph = graph.edge(START, "n0").compile().unwrap();
    let config = RunConfig::default().recursion_limit(200_000);
    let result = graph.invoke(input(), config).await.unwrap();
    assert_eq!(result.status, RunStatus::Done);
}
