//! `superstep find` and `superstep probe`: moments of all threads.

use serde_json::{Value as Json, json};

use crate::{User, example};

fn ran(user: &User) {
    for thread in ["t1", "t2"] {
        user.expect(
            3,
            &[
                "run",
                &example("refund-desk"),
                "--example",
                "1",
                "--thread",
                thread,
            ],
        );
    }
    user.expect(0, &["resume", "t1", "--answer", r#"{"decision": "approve"}"#]);
}

fn threads(found: &Json) -> Vec<&str> {
    let moments = found["moments"].as_array().unwrap();
    moments
        .iter()
        .map(|moment| moment["thread_id"].as_str().unwrap())
        .collect()
}

#[test]
fn moments_are_found_by_words_conditions_and_nodes() {
    let user = User::new();
    ran(&user);
    let history = user.expect(0, &["state", "t1", "--json"]).json();
    let request = history["values"]["request"].as_str().unwrap().to_owned();
    let word = request
        .split(|c: char| !c.is_alphanumeric())
        .max_by_key(|word| word.len())
        .unwrap();

    let found = user.expect(0, &["find", word, "--json"]).json();
    assert_eq!(found["searched"], 2);
    let moments = found["moments"].as_array().unwrap();
    let of_input = moments
        .iter()
        .find(|moment| moment["pointer"] == "/request")
        .unwrap();
    assert!(of_input["text"].as_str().unwrap().contains(word), "{of_input}");
    assert_eq!(of_input["step"], 0, "where the input was written");
    let text = user.expect(0, &["find", word]).out;
    assert!(
        text.lines().any(|line| line.starts_with("t1  step 0  request: ")),
        "{text}"
    );

    let first = user
        .expect(
            0,
            &[
                "find",
                "--where",
                "state.category == 'refund'",
                "--json",
                "--column",
                "state.category",
            ],
        )
        .json();
    assert_eq!(threads(&first), ["t1", "t2"], "the one that changed last first");
    assert_eq!(
        (&first["moments"][0]["nodes"], &first["moments"][0]["columns"]),
        (&json!(["classify"]), &json!(["refund"]))
    );
    let passed = user
        .expect(0, &["find", "--passed", "classify,review", "--json"])
        .json();
    assert_eq!(threads(&passed), ["t1"], "the other still asks");
    let asking = user.expect(0, &["find", "--status", "asking", "--json"]).json();
    assert_eq!(threads(&asking), ["t2"]);
    let graph = example("counter");
    let other = user.expect(0, &["find", word, "--graph", &graph]);
    assert_eq!(other.out, "");
    assert!(other.err.contains("Nothing found in 2 threads."), "{}", other.err);
    // A graph is named as it is for `threads list`: by its file or its name, and a wrong one is no empty answer.
    for graph in [example("refund-desk"), "Refund desk".to_owned()] {
        let of_graph = user
            .expect(0, &["find", word, "--graph", &graph, "--json"])
            .json();
        assert_eq!(threads(&of_graph), threads(&found), "{graph}");
    }
    let unknown = user.expect(2, &["find", word, "--graph", "refund disk"]);
    assert!(
        unknown.err.contains("No graph is like \"refund disk\""),
        "{}",
        unknown.err
    );
    let unknown = user.expect(
        2,
        &["probe", "classify", "state.category", "--graph", "refund disk"],
    );
    assert!(unknown.err.contains("No graph is like"), "{}", unknown.err);
    let one = user.expect(0, &["find", "--limit", "1", "--json"]).json();
    assert_eq!((threads(&one), &one["more"]), (vec!["t1"], &json!(true)));
    let long_ago = user
        .expect(0, &["find", word, "--until", "2020-01-01", "--json"])
        .json();
    assert_eq!(long_ago["moments"], json!([]));
}

#[test]
fn a_probe_gives_a_line_for_each_visit() {
    let user = User::new();
    ran(&user);
    let probed = user
        .expect(
            0,
            &[
                "probe",
                "classify",
                "[before.category is defined, state.category]",
                "--json",
            ],
        )
        .json();
    let values: Vec<&Json> = probed["visits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|visit| &visit["value"])
        .collect();
    assert_eq!(values, [&json!([false, "refund"]); 2]);
    let lines = user.expect(0, &["probe", "review", "writes.review.decision"]).out;
    assert_eq!(
        lines.lines().count(),
        1,
        "a visit that still asks is none: {lines}"
    );
    assert!(
        lines.starts_with("t1  step ") && lines.trim_end().ends_with("\"approve\""),
        "{lines}"
    );
    for (args, says) in [
        (&["probe", "classify", "state."][..], "unexpected"),
        (&["probe", "classify", "old"], "there is no `old` here"),
        (&["find", "--where", "totl > 2"], "there is no `totl` here"),
        (&["find", "x", "--since", "yesterday"], "is no time"),
    ] {
        let refused = user.expect(2, args);
        assert!(refused.err.contains(says), "{args:?}: {}", refused.err);
    }
    let nothing = User::new().expect(0, &["find", "word"]);
    assert!(
        nothing.err.contains("Nothing found in 0 threads."),
        "{}",
        nothing.err
    );
}

#[test]
fn moments_are_found_by_the_version_that_made_them() {
    let user = User::new();
    let file = user.dir.path().join("graph.json");
    let graph = |say: &str| {
        json!({
            "format": "superstep/1", "name": "Versions", "state": {"said": {"type": "string"}},
            "nodes": {"say": {"kind": "assign", "config": {"set": {"said": format!("'{say}'")}}}},
            "edges": [{"from": "__start__", "to": "say"}, {"from": "say", "to": "__end__"}]
        })
    };
    let path = file.to_str().unwrap();
    let run = |say: &str, thread: &str| {
        std::fs::write(&file, graph(say).to_string()).unwrap();
        user.expect(0, &["run", path, "--thread", thread, "--input", "{}"]);
    };
    run("one", "t1");
    run("two", "t2");
    // It has gone on with the second version.
    run("one", "both");
    run("two", "both");
    let version = |thread: &str| {
        let state = user.expect(0, &["state", thread, "--json"]).json();
        state["metadata"]["graph_version"].as_str().unwrap().to_owned()
    };
    let (one, two) = (version("t1"), version("t2"));
    assert_ne!(one, two);
    let find = |version: &str| {
        user.expect(
            0,
            &[
                "find",
                "--graph-version",
                version,
                "--column",
                "state.said",
                "--json",
            ],
        )
        .json()
    };
    let found = find(&one[..12]);
    assert_eq!(threads(&found), ["both", "t1"]);
    assert_eq!(found["moments"][0]["columns"], json!(["one"]), "as it was then");
    let found = find(&two);
    assert_eq!(threads(&found), ["both", "t2"]);
    assert_eq!(found["moments"][0]["columns"], json!(["two"]));
    assert_eq!(find("nothing")["moments"], json!([]));
    let dear = user.expect(0, &["find", "--cost-from", "0.01", "--json"]).json();
    assert_eq!(dear["moments"], json!([]), "no run asked a model");
}

#[test]
fn a_probe_of_nodes_with_arrows_in_their_names_means_one_place() {
    let user = User::new();
    let set = json!({"kind": "assign", "config": {"set": {"n": "1"}}});
    let graph = user.graph(
        "arrows.json",
        &json!({
            "format": "superstep/1", "name": "arrows", "state": {"n": {"type": "integer", "reducer": "add"}},
            "nodes": {"a": set, "b->c": set, "a->b": set, "c": set},
            "edges": [
                {"from": "__start__", "to": "a"}, {"from": "__start__", "to": "a->b"},
                {"from": "a", "to": "b->c", "when": "state.n > 99"}, {"from": "a->b", "to": "c"}
            ]
        }),
    );
    user.expect(0, &["run", &graph, "--input", "{}", "--thread", "t"]);
    let visits = |args: &[&str]| {
        let found = user
            .expect(0, &[&["probe"], args, &["state.n", "--json"]].concat())
            .json();
        found["visits"].as_array().unwrap().len()
    };
    let refused = user.expect(2, &["probe", "a->b->c", "state.n"]);
    assert!(
        refused.err.contains("may be several edges") && refused.err.contains("--graph"),
        "{}",
        refused.err
    );
    assert_eq!(
        visits(&["a->b->c", "--graph", &graph]),
        0,
        "the first edge, which was not taken"
    );
    assert_eq!(
        visits(&["a->b->c~2", "--graph", &graph]),
        1,
        "the second, by its id"
    );
    assert_eq!(visits(&["a->b", "--graph", &graph]), 1, "a node of this name");
    assert_eq!(visits(&["c", "--graph", &graph]), 1);
    let unknown = user.expect(2, &["probe", "a->b->c~3", "state.n", "--graph", &graph]);
    assert!(unknown.err.contains("a->b->c~2"), "{}", unknown.err);
}
