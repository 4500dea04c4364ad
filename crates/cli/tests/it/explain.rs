//! `superstep why` and `superstep explain`: questions about what a run did.

use serde_json::json;

use crate::{User, example};

fn ran(user: &User) {
    user.expect(
        3,
        &["run", &example("refund-desk"), "--example", "1", "--thread", "t"],
    );
    user.expect(0, &["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
}

#[test]
fn a_value_is_followed_to_the_input() {
    let user = User::new();
    ran(&user);
    let found = user.expect(0, &["why", "t", "category", "--json"]).json();
    let writes = found["writes"].as_array().unwrap();
    assert_eq!(
        (
            &writes[0]["pointer"],
            &writes[0]["writers"][0]["node"],
            &writes[0]["writers"][0]["reads"]
        ),
        (&json!("/category"), &json!("classify"), &json!(["request"]))
    );
    assert_eq!(
        (&writes[1]["pointer"], &writes[1]["origin"], &writes[1]["read_by"]),
        (&json!("/request"), &json!("input"), &json!(0))
    );
    assert_eq!(found["more"], false);
    let text = user.expect(0, &["why", "t", "category"]).out;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("category  nothing -> \"refund\""), "{text}");
    assert!(lines[0].ends_with("by classify (read request)"), "{text}");
    assert!(
        lines[1].starts_with("  request  nothing -> ") && lines[1].ends_with("by the input"),
        "{text}"
    );
    let writer = |path: &str| {
        let found = user.expect(0, &["why", "t", path, "--json"]).json();
        found["writes"][0].clone()
    };
    let decided = writer("review");
    let answer = &decided["writers"][0]["answers"][0];
    assert_eq!(answer["answer"], json!({"decision": "approve"}), "{decided}");
    let text = user.expect(0, &["why", "t", "review"]).out;
    let line = format!(
        "asked at checkpoint {}, answered by {}",
        decided["from"].as_str().unwrap(),
        decided["at"].as_str().unwrap()
    );
    let said = text.lines().nth(1).unwrap();
    assert!(
        said.starts_with("  answer to \"Refund ") && said.ends_with(&line),
        "{text}"
    );
    let program = user.expect(0, &["why", "t", "amount"]).out;
    assert!(
        program.contains("by propose (read review, days, price)"),
        "{program}"
    );
    for (path, part) in [
        ("amnt", "nothing at /amnt"),
        ("category/0", "nothing at /category/0"),
    ] {
        let refused = user.expect(2, &["why", "t", path]);
        assert!(refused.err.contains(part), "{}", refused.err);
    }
}

#[test]
fn the_edges_of_a_step_say_why() {
    let user = User::new();
    ran(&user);
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let after = |node: &str| {
        let list = history.as_array().unwrap();
        let before = list
            .iter()
            .position(|state| state["next"] == json!([node]))
            .unwrap();
        let id = &list[before - 1]["config"]["configurable"]["checkpoint_id"];
        id.as_str().unwrap().to_owned()
    };
    let step = user
        .expect(0, &["explain", "t", "--checkpoint", &after("classify"), "--json"])
        .json();
    let task = &step["tasks"][0];
    assert_eq!(
        (&task["node"], &task["recorded"], &task["reads"]),
        (&json!("classify"), &json!(true), &json!(["request"]))
    );
    let decision = &task["decisions"][0];
    assert_eq!(decision["values"]["category"], json!({"value": "refund"}));
    assert_eq!(decision["to"], json!(["propose"]));
    let text = user
        .expect(0, &["explain", "t", "--checkpoint", &after("classify")])
        .out;
    assert!(
        text.contains("led to propose") && text.contains("category = \"refund\""),
        "{text}"
    );
    let plain = user
        .expect(0, &["explain", "t", "--checkpoint", &after("propose")])
        .out;
    assert!(plain.contains("nothing to decide"), "{plain}");
    let first =
        history.as_array().unwrap().last().unwrap()["config"]["configurable"]["checkpoint_id"].clone();
    let refused = user.expect(2, &["explain", "t", "--checkpoint", first.as_str().unwrap()]);
    assert!(
        refused.err.contains("is the first of its thread"),
        "{}",
        refused.err
    );
}

#[test]
fn a_node_that_did_not_run_says_why() {
    let user = User::new();
    let assign = |key: &str| json!({"kind": "assign", "config": {"set": {key: "state.n + 1"}}});
    let graph = json!({
        "format": "superstep/1", "name": "Waiting",
        "state": {"n": {"type": "integer", "default": 0}, "a": {"type": "integer"}, "b": {"type": "integer"},
            "c": {"type": "integer"}},
        "nodes": {
            "one": assign("a"), "two": assign("b"), "both": assign("c"), "never": assign("n"),
            "late": {"kind": "delay", "config": {"seconds": "0"}},
            "flaky": {"kind": "code", "retry": {"attempts": 2, "initial_interval": 0.01, "jitter": false,
                "retry_on": ["CodeError"]}, "config": {"source": "throw new Error('no');"}}
        },
        "edges": [
            {"from": "__start__", "to": "one"}, {"from": "__start__", "to": "late"},
            {"from": "one", "to": "never", "when": "state.n > 5"},
            {"from": "late", "to": "two"}, {"from": ["one", "two"], "to": "both"},
            {"from": "both", "to": "flaky"}
        ]
    });
    let file = user.dir.path().join("graph.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    user.expect(
        1,
        &["run", file.to_str().unwrap(), "--thread", "t", "--input", "{}"],
    );
    let history = user.expect(0, &["history", "t", "--json"]).json();
    // The checkpoint after the step in which this node ran.
    let after = |node: &str| {
        let list = history.as_array().unwrap();
        let before = list.iter().position(|state| {
            let next = state["next"].as_array().unwrap();
            next.iter().any(|name| name == node)
        });
        let id = &list[before.unwrap() - 1]["config"]["configurable"]["checkpoint_id"];
        id.as_str().unwrap().to_owned()
    };
    let second = after("two");
    let explain = |node: &str, at: &str| {
        user.expect(0, &["explain", "t", "--node", node, "--checkpoint", at])
            .out
    };
    let text = explain("both", &second);
    assert!(
        text.starts_with("both did not run in this step")
            && text.contains("waits for two; came: one (step 1)"),
        "{text}"
    );
    assert!(text.contains("runs next in step 3"), "{text}");
    let text = explain("never", &second);
    for part in [
        "never has not run on this branch",
        "one ran, and edge",
        "state.n > 5  ->  false",
        "n = 0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = explain("both", &after("both"));
    assert!(text.contains("ran after one (step 1), two (step 2)"), "{text}");
    let seen = user
        .expect(
            0,
            &[
                "explain",
                "t",
                "--node",
                "never",
                "--checkpoint",
                &second,
                "--json",
            ],
        )
        .json();
    assert_eq!(
        (&seen["tasks"], &seen["visits"]["notTaken"][0]["from"]),
        (&json!([]), &json!("one"))
    );
    // The step that has not ended.
    let open = user.expect(0, &["explain", "t", "--open", "--json"]).json();
    let task = &open["tasks"][0];
    assert_eq!(
        (
            &task["node"],
            &task["status"],
            &task["failed_attempts"],
            &open["checkpoint"]
        ),
        (&json!("flaky"), &json!("failed"), &json!(1), &json!(null))
    );
    let text = user.expect(0, &["explain", "t", "--open"]).out;
    assert!(text.contains("gave up after 2 attempts: CodeError"), "{text}");
    let refused = user.expect(2, &["explain", "t", "--node", "nobody"]);
    assert!(refused.err.contains("no such node"), "{}", refused.err);
}

#[test]
fn summaries_of_tasks_and_runs_are_in_the_authors_words() {
    let user = User::new();
    let graph = json!({
        "format": "superstep/1",
        "state": {"n": {"type": "integer"}},
        "summary": "Ended at **{{ state.n }}**",
        "nodes": {"add": {
            "kind": "assign", "config": {"set": {"n": "state.n + 1"}}, "summary": "One more: {{ update.n }}"
        }},
        "edges": [{"from": "__start__", "to": "add"}, {"from": "add", "to": "__end__"}]
    });
    std::fs::write(user.dir.path().join("graph.json"), graph.to_string()).unwrap();
    let file = user.dir.path().join("graph.json");
    let file = file.to_str().unwrap();
    user.expect(0, &["check", file]);
    user.expect(0, &["run", file, "--input", r#"{"n": 1}"#, "--thread", "t"]);
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let ids = history.as_array().unwrap().iter();
    let ids: Vec<&str> = ids
        .map(|state| state["config"]["configurable"]["checkpoint_id"].as_str().unwrap())
        .collect();
    let step = user
        .expect(0, &["explain", "t", "--checkpoint", ids[0], "--json"])
        .json();
    assert_eq!(step["tasks"][0]["summary"], "One more: 2");
    let text = user.expect(0, &["explain", "t", "--checkpoint", ids[0]]).out;
    assert!(text.contains("  One more: 2\n"), "{text}");
    let trace = user.expect(0, &["trace", "t", "--json"]).json();
    assert_eq!(trace["runs"][0]["summary"], "Ended at **2**", "{trace}");
}

#[test]
fn a_value_that_nothing_has_written_is_what_its_key_begins_with() {
    let user = User::new();
    let graph = user.graph(
        "graph.json",
        &json!({
            "format": "superstep/1", "name": "Defaults",
            "state": {"n": {"type": "integer", "default": 7}, "deep": {"type": "object", "default": {"a": [1]}}, "m": {"type": "string"}},
            "nodes": {"set": {"kind": "assign", "config": {"set": {"m": "'x'"}}}},
            "edges": [{"from": "__start__", "to": "set"}],
        }),
    );
    user.expect(0, &["run", &graph, "--input", "{}", "--thread", "t"]);
    for path in ["n", "deep", "deep/a/0"] {
        let said = user.expect(0, &["why", "t", path]).out;
        assert!(said.starts_with(path) && said.contains("begins with"), "{said}");
        let found = user.expect(0, &["why", "t", path, "--json"]).json();
        assert_eq!(found, json!({"writes": [], "more": false}));
    }
    for path in ["nope", "deep/b"] {
        assert!(
            user.expect(2, &["why", "t", path])
                .err
                .contains("There is nothing")
        );
    }
}

#[cfg(unix)]
#[test]
fn a_task_that_was_begun_and_left_is_not_called_queued() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    let user = User::new();
    let graph = user.graph(
        "graph.json",
        &json!({
            "format": "superstep/1", "name": "Left", "state": {"text": {"type": "string"}},
            // It would go on for a quarter of an hour.
            "nodes": {"write": {"kind": "model", "config": {"model": "scripted", "prompt": "Go on", "into": "text",
                "pace_ms": 1000, "script": [{"say": "Once ".repeat(1000)}]}}},
            "edges": [{"from": "__start__", "to": "write"}],
        }),
    );
    let mut run = user.command(&["run", &graph, "--input", "{}", "--thread", "t"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut said, mut byte) = (String::new(), [0]);
    let mut words = run.stderr.take().unwrap();
    while !said.contains("Once") && words.read(&mut byte).unwrap() > 0 {
        said.push(char::from(byte[0]));
    }
    let interrupt = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    words.read_to_string(&mut said).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{said}");
    let said = user.expect(0, &["explain", "t", "--open"]).out;
    assert!(said.contains("was begun, and left"), "{said}");
    assert!(!said.contains("queued"), "{said}");
}
