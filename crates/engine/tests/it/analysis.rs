//! What can be derived about a graph before it runs.

use std::sync::Arc;

use superstep::graph::*;
use superstep::*;

use crate::support::*;

fn bare(names: &[&str]) -> StateGraph {
    names
        .iter()
        .fold(base(), |graph, name| graph.node(*name, logs(name)))
}

fn one_of(paths: &[(&str, &str)]) -> Branch {
    let branch = Branch::new(routes(|_| vec![])).named("choice");
    paths
        .iter()
        .fold(branch, |branch, (label, target)| branch.path(*label, *target))
}

fn codes(analysis: &Analysis) -> Vec<(String, String)> {
    let place = |place: &GraphPlace| match place {
        GraphPlace::Graph => "graph".to_owned(),
        GraphPlace::Node(node) => node.to_string(),
        GraphPlace::Edge(from, to) => format!("{from}->{to}"),
        GraphPlace::Branch(node, branch) => format!("{node}?{branch}"),
        GraphPlace::Channel(key) => format!("key {key}"),
    };
    let warnings = analysis.warnings();
    assert!(
        warnings
            .iter()
            .all(|w| !w.message.is_empty() && !w.remedy.is_empty())
    );
    warnings
        .iter()
        .map(|w| (w.code.to_owned(), place(&w.place)))
        .collect()
}

#[test]
fn what_no_edge_leads_to_is_warned_of_and_runs_even_so() {
    let graph = bare(&["a", "b", "lost", "after"])
        .edge(START, "a")
        .edge("a", "b")
        .edge("lost", "after")
        .join(["a", "lost"], "b")
        .compile()
        .unwrap();
    let analysis = graph.analysis();
    assert_eq!(analysis.unreachable().join(","), "lost,after");
    assert_eq!(
        codes(&analysis),
        [
            ("unreachable-node".into(), "lost".into()),
            ("unreachable-node".into(), "after".into()),
            ("join-never-fires".into(), "a+lost->b".into()),
        ]
    );
    // A router that may name any node, or a declared destination, is a way.
    let open = bare(&["a", "b"])
        .edge(START, "a")
        .branch("a", Branch::new(routes(|_| vec![])))
        .compile()
        .unwrap();
    assert!(open.analysis().warnings().is_empty());
    let declared = bare(&["b"])
        .node_with(
            "a",
            Arc::new(logs("a")),
            NodeOptions::new().destinations(["b", END]),
        )
        .edge(START, "a")
        .compile()
        .unwrap();
    assert!(declared.analysis().warnings().is_empty());
}

#[test]
fn loops_are_listed_with_their_ways_out() {
    let graph = bare(&["a", "b", "c", "turn", "round", "round2", "self"])
        .edge(START, "a")
        .edge("a", "b")
        .branch("b", one_of(&[("again", "a"), ("on", "c"), ("done", END)]))
        .edge("c", "turn")
        .edge("turn", "turn")
        .edge("turn", "round")
        .branch("round", one_of(&[("x", "round2")]))
        .edge("round2", "round")
        .branch("round", one_of(&[("self", "self")]).named("other"))
        .branch("self", one_of(&[("self", "self")]))
        .compile()
        .unwrap();
    let analysis = graph.analysis();
    let shown: Vec<String> = analysis
        .loops()
        .iter()
        .map(|found| {
            let exits: Vec<String> = found.exits.iter().map(|(a, b)| format!("{a}>{b}")).collect();
            format!("{} | {} | {}", found.nodes.join(","), exits.join(","), found.ends)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "a,b | b>__end__,b>c | true",
            "turn | turn>round | false",
            "round,round2 | round>self | true",
            "self |  | false",
        ]
    );
    assert_eq!(
        codes(&analysis),
        [
            ("endless-loop".into(), "turn".into()),
            ("loop-without-exit".into(), "self".into()),
        ]
    );
}

#[test]
fn joins_of_alternatives_never_fire_in_one_pass() {
    let graph = bare(&["a", "b", "z"])
        .branch(START, one_of(&[("l", "a"), ("r", "b")]))
        .join(["a", "b"], "z")
        .compile()
        .unwrap();
    assert_eq!(
        codes(&graph.analysis()),
        [("join-of-alternatives".into(), "a+b->z".into())]
    );
    let both = bare(&["a", "b", "z"])
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "z")
        .compile()
        .unwrap();
    assert!(both.analysis().warnings().is_empty());
}

#[test]
fn dominators_layers_and_paths() {
    let graph = bare(&["a", "b", "c", "d", "e", "far"])
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .edge("b", "d")
        .edge("c", "d")
        .edge("d", "e")
        .branch("e", one_of(&[("more", "d"), ("done", END)]))
        .compile()
        .unwrap();
    let analysis = graph.analysis();
    let through = |node: &str| analysis.dominators(node).map(|nodes| nodes.join(","));
    assert_eq!(through("d").as_deref(), Some("a"), "b or c, but always a");
    assert_eq!(through("e").as_deref(), Some("a,d"));
    assert_eq!(through("a").as_deref(), Some(""));
    assert_eq!((through("far"), through("nobody")), (None, None));
    let layers: Vec<String> = analysis.layers().iter().map(|layer| layer.join(",")).collect();
    assert_eq!(layers, ["__start__", "a", "b,c", "d,e"]);
    assert_eq!(analysis.path(START, "e").unwrap().join(","), "__start__,a,b,d,e");
    assert_eq!(analysis.path("d", "d").unwrap().join(","), "d,e,d");
    assert_eq!(analysis.path("e", "a"), None);
    assert_eq!(
        analysis
            .paths("a", "e", 10)
            .iter()
            .map(|way| way.join(","))
            .collect::<Vec<_>>(),
        ["a,b,d,e", "a,c,d,e"]
    );
    assert_eq!(analysis.paths("a", "e", 1).len(), 1);
    assert_eq!(
        analysis.to_string(),
        "layer 0: __start__\nlayer 1: a\nlayer 2: b, c\nlayer 3: d, e\n\
         loop d, e; ways out: e -> __end__\n\
         warning No way leads from START to `far`. [unreachable-node] Connect it or remove it. A command or a packet \
         can still reach it: name such destinations.\n"
    );
}

#[test]
fn nodes_that_may_run_at_once_and_write_one_key() {
    let writes = |name: &str, keys: &[&str]| {
        let options = NodeOptions::new().writes(keys.iter().copied());
        (Arc::new(logs(name)), options)
    };
    let build = |graph: StateGraph| {
        let add = |graph: StateGraph, name: &str, keys: &[&str]| {
            let (node, options) = writes(name, keys);
            graph.node_with(name, node, options)
        };
        let graph = add(graph, "a", &["x"]);
        let graph = add(graph, "b", &["x", "log"]);
        let graph = add(graph, "b2", &["log"]);
        add(graph, "z", &["x", "log"])
    };
    let pairs = |graph: &Graph| {
        let pairs = graph.analysis().parallel();
        pairs
            .iter()
            .map(|(a, b)| format!("{a}|{b}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let fan = build(base())
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "b2")
        .join(["a", "b2"], "z")
        .compile()
        .unwrap();
    assert_eq!(pairs(&fan), "a|b", "z waits for b2, so it never runs beside it");
    assert_eq!(
        fan.analysis().parallel_writers(),
        [ParallelWriters {
            key: "x".into(),
            nodes: ("a".into(), "b".into())
        }],
        "the list has a reducer"
    );
    assert_eq!(
        codes(&fan.analysis()),
        [("parallel-writers".into(), "key x".into())]
    );
    let choice = build(base())
        .branch(START, one_of(&[("l", "a"), ("r", "b")]))
        .edge("a", "z")
        .edge("b", "b2")
        .edge("b2", "z")
        .compile()
        .unwrap();
    assert_eq!(pairs(&choice), "", "one of them or the other");
    assert!(choice.analysis().warnings().is_empty());
    let goes = NodeOptions::new().destinations(["a", "b"]);
    let command = build(base())
        .node_with("go", Arc::new(logs("go")), goes)
        .edge(START, "go")
        .compile()
        .unwrap();
    assert_eq!(pairs(&command), "", "it goes to one of them");
    let goes = NodeOptions::new().destinations(["a"]);
    let both = build(base())
        .node_with("go", Arc::new(logs("go")), goes)
        .edge(START, "go")
        .edge("go", "b")
        .compile()
        .unwrap();
    assert_eq!(pairs(&both), "a|b", "the edge is taken whatever it chooses");
    let uneven = build(base())
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "b2")
        .edge("a", "z")
        .edge("b2", "z")
        .compile()
        .unwrap();
    assert_eq!(pairs(&uneven), "a|b b2|z");
}

#[test]
fn declared_keys_and_destinations_must_exist() {
    let options = NodeOptions::new()
        .writes(["x", "nokey"])
        .destinations(["nowhere", END]);
    let problems = base()
        .node_with("a", Arc::new(logs("a")), options)
        .channel("configurable", ChannelSpec::last_value())
        .node("checkpoint_ns", logs("c"))
        .edge(START, "a")
        .compile()
        .unwrap_err()
        .problems;
    let found: Vec<(&str, &str)> = problems.iter().map(|p| (p.code, &*p.message)).collect();
    assert_eq!(
        found,
        [
            ("reserved-name", "Channel name 'configurable' is reserved"),
            (
                "unknown-key",
                "Node `a` writes `nokey`, which is not a state key."
            ),
            ("reserved-name", "Node name 'checkpoint_ns' is reserved"),
            ("unknown-target", "Found edge ending at unknown node `nowhere`"),
        ]
    );
}

#[test]
fn what_is_no_error() {
    let graph = base()
        .node("x", logs("x"))
        .node("", logs(""))
        .node("alone", logs("alone"))
        .edge(START, "x")
        .edge(START, "x")
        .join(["x", "alone"], END)
        .join(["x", "alone"], "")
        .join(["x", "alone"], "");
    graph.compile().unwrap();
    base().edge(START, END).compile().unwrap();
}

#[test]
fn drawings_escape_what_is_markup() {
    let odd = "say \"hi\" <b> & #1; `x`\nnext_line";
    let graph = base()
        .node(odd, logs("odd"))
        .node("b", logs("b"))
        .node_with("c", Arc::new(logs("c")), NodeOptions::new().destinations(["b"]))
        .edge(START, odd)
        .edge(START, "b")
        .join([odd, "b"], "c")
        .branch("c", one_of(&[("|\"]", END)]))
        .branch("b", Branch::new(routes(|_| vec![])).named("open"))
        .compile()
        .unwrap();
    assert_eq!(
        graph.mermaid(),
        "flowchart TD\n  n0([\"START\"])\n  \
         n1[\"say #34;hi#34; #60;b#62; #38; #35;1#59; #96;x#96;<br/>next#95;line\"]\n  n2[\"b\"]\n  n3[\"c\"]\n  \
         end_([\"END\"])\n  n0 --> n1\n  n0 --> n2\n  n3 -.->|\"#124;#34;]\"| end_\n  n3 -.-> n2\n  \
         j0((\"all\"))\n  n1 & n2 --> j0 --> n3\n  any{{\"any node\"}}\n  n2 -.->|\"open\"| any\n"
    );
    assert_eq!(
        graph.dot(),
        "digraph {\n  node [shape=box];\n  n0 [label=\"START\", shape=ellipse];\n  \
         n1 [label=\"say \\\"hi\\\" <b> & #1; `x`\\nnext_line\"];\n  n2 [label=\"b\"];\n  n3 [label=\"c\"];\n  \
         end_ [label=\"END\", shape=ellipse];\n  n0 -> n1;\n  n0 -> n2;\n  \
         n3 -> end_ [style=dashed, label=\"|\\\"]\"];\n  n3 -> n2 [style=dashed];\n  \
         j0 [label=\"all\", shape=circle];\n  n1 -> j0;\n  n2 -> j0;\n  j0 -> n3;\n  \
         any [label=\"any node\", shape=hexagon];\n  n2 -> any [style=dashed, label=\"open\"];\n}\n"
    );
}

#[test]
fn a_long_chain_is_analysed_in_reasonable_time() {
    let mut graph = base();
    for i in 0..20_000 {
        graph = graph.node(format!("n{i}"), returns(Value::Null));
        if i > 0 {
            graph = graph.edge(format!("n{}", i - 1), format!("n{i}"));
        }
    }
    let analysis = graph.edge(START, "n0").compile().unwrap().analysis();
    assert_eq!(analysis.layers().len(), 20_001);
    assert!(analysis.warnings().is_empty() && analysis.parallel().is_empty());
    assert_eq!(analysis.path("n0", "n19999").unwrap().len(), 20_000);
}
