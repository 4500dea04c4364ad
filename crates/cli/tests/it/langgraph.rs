//! Threads of a LangGraph program: listed, read and explained from its own file, which stays as it is.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::User;

fn database(user: &User) -> String {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storage/tests/langgraph/sqlite-1.2.24.db");
    let to = user.dir.path().join("agent.sqlite");
    fs::copy(from, &to).unwrap();
    to.display().to_string()
}

#[test]
fn threads_of_a_langgraph_program_are_read() {
    let user = User::new();
    let path = database(&user);
    let before = fs::read(&path).unwrap();
    let db = format!("langgraph:{path}");
    let call = |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--db", &db]).collect();
        user.expect(0, &args)
    };
    let threads = call(&["threads", "list", "--json"]).json();
    let of = |name: &str| {
        let all = threads.as_array().unwrap().iter();
        all.clone()
            .find(|thread| thread["thread_id"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(threads.as_array().unwrap().len(), 4);
    assert_eq!(of("done")["status"], "done");
    assert_eq!(of("waiting")["status"], "asking");
    assert_eq!(of("waiting")["next"], json!(["review"]));
    assert_eq!(of("done")["metadata"], json!({"customer": "c-17"}));
    let text = call(&["threads", "list"]).out;
    assert!(text.contains("waiting") && text.contains("asking"), "{text}");
    let shown = call(&["threads", "show", "forked"]).out;
    assert!(shown.contains("checkpoints 9"), "{shown}");

    let history = call(&["history", "done"]).out;
    assert!(
        history.contains("loop") && history.contains("decide"),
        "{history}"
    );
    let history = call(&["history", "done", "--json"]).json();
    assert_eq!(history.as_array().unwrap().len(), 7);
    assert_eq!(history[1]["next"], json!(["decide"]));
    let state = call(&["state", "done", "--json"]).json();
    assert_eq!(state["values"]["verdict"], "paid");
    assert_eq!(
        state["values"]["values"]["policy"]["limit"],
        json!({"$class": "decimal.Decimal", "value": "99.90"})
    );
    assert_eq!(state["values"]["messages"][2]["tool_calls"][0]["name"], "price");
    let limit = call(&["state", "done", "values/policy/limit/value"]).out;
    assert_eq!(limit.trim(), "\"99.90\"");
    let asks = call(&["state", "waiting"]);
    assert!(
        asks.err.contains("Pay 43.50?") && !asks.err.contains("resume"),
        "{}",
        asks.err
    );

    let why = call(&["why", "done", "verdict"]).out;
    assert!(why.contains("by decide"), "{why}");
    let why = call(&["why", "done", "values/policy"]).out;
    assert!(
        why.contains("nothing -> Policy {limit: 99.90, kinds: [Kind goods]}  step 1, by read"),
        "{why}"
    );
    let why = call(&["why", "done", "total", "--json"]).json();
    assert_eq!(why["writes"][0]["writers"].as_array().unwrap().len(), 2);
    let explained = call(&["explain", "done"]);
    assert!(
        explained.out.contains("decide\n  wrote verdict, log"),
        "{}",
        explained.out
    );
    assert!(
        explained.err.contains("is not in a LangGraph database"),
        "{}",
        explained.err
    );
    let step = history[4]["config"]["configurable"]["checkpoint_id"]
        .as_str()
        .unwrap();
    let explained = call(&["explain", "done", "--checkpoint", step, "--json"]).json();
    assert_eq!(explained["tasks"][0]["node"], "read");
    assert_eq!(explained["tasks"][0]["to"], json!(["cost", "cost"]));

    let diff = call(&["diff", "done@0", "done@5"]).out;
    assert!(
        diff.contains("+ verdict") && diff.contains("step 1  read"),
        "{diff}"
    );
    let diff = call(&["diff", "done", "waiting", "--json"]).json();
    assert!(
        diff["differences"]
            .as_array()
            .unwrap()
            .iter()
            .any(|found| found["pointer"] == "/verdict")
    );
    let found = call(&["find", "lamp", "--json"]).json();
    assert!(!found["moments"].as_array().unwrap().is_empty(), "{found}");
    let probed = call(&["probe", "decide", "state.verdict"]);
    assert!(
        probed.out.contains("paid") || probed.out.contains("done"),
        "{}{}",
        probed.out,
        probed.err
    );
    let waiting = call(&["threads", "waiting", "--json"]).json();
    let questions: Vec<&str> = waiting
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| asked["thread_id"].as_str().unwrap())
        .collect();
    assert_eq!(questions, ["waiting", "forked"], "{waiting}");
    assert_eq!(waiting[0]["value"]["question"], "Pay 43.50?");
    assert_eq!(waiting[0]["node"], "review");

    // By its content, too.
    let plain = user.expect(0, &["threads", "list", "--count", "--db", &path]).out;
    assert_eq!(plain.trim(), "4");
    assert!(before == fs::read(&path).unwrap(), "no byte was written");
}

#[test]
fn what_would_change_a_langgraph_database_is_refused_with_the_reason() {
    let user = User::new();
    let path = database(&user);
    let before = fs::read(&path).unwrap();
    let db = format!("langgraph:{path}");
    for args in [
        &["run", &crate::example("counter"), "--example", "1"][..],
        &["resume", "waiting", "--answer", "true"],
        &["update", "done", "--values", "{}", "--as-node", "read"],
        &["delete", "done", "--yes"],
        &["threads", "withdraw", "waiting"],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--db", &db]).collect();
        let done = user.call(&args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        let is_worded = done.err.contains("is only read") && done.err.contains("alone runs, answers, edits");
        assert!(is_worded, "{args:?}: {}", done.err);
    }
    let missing = user
        .expect(2, &["threads", "list", "--db", "langgraph:none.sqlite"])
        .err;
    assert!(missing.contains("There is nothing at"), "{missing}");
    assert!(before == fs::read(&path).unwrap());
    assert_eq!(
        fs::read_dir(user.dir.path())
            .unwrap()
            .filter(|entry| {
                entry
                    .as_ref()
                    .unwrap()
                    .file_name()
                    .to_string_lossy()
                    .starts_with("agent.sqlite")
            })
            .count(),
        1,
        "nothing was made beside it"
    );
}

#[test]
fn what_a_langgraph_database_does_not_have_is_said_so() {
    let user = User::new();
    let db = format!("langgraph:{}", database(&user));
    for args in [
        ["effects", "done"].as_slice(),
        &["preview", "waiting"],
        &["effects", "done", "--graph", "nowhere.json"],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--db", &db]).collect();
        let done = user.expect(2, &args);
        assert!(
            done.err.contains("is not in a LangGraph database"),
            "{args:?}: {}",
            done.err
        );
    }
    let trace = user.expect(0, &["trace", "done", "--db", &db]);
    assert!(
        trace.err.contains("is not in a LangGraph database") && trace.err.contains("superstep history"),
        "{}",
        trace.err
    );
}

#[test]
fn a_copied_thread_is_answered_and_goes_on_with_a_graph_of_ones_own() {
    let user = User::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storage/tests/langgraph/open-1.2.24.db");
    let (theirs, ours) = (
        user.dir.path().join("open.sqlite"),
        user.dir.path().join("threads.db"),
    );
    fs::copy(from, &theirs).unwrap();
    let graph = user.dir.path().join("line.json");
    let node = |source: &str| serde_json::json!({"kind": "code", "config": {"source": source}});
    let document = serde_json::json!({
        "format": "superstep/1", "name": "Line",
        "state": {"log": {"type": "array", "reducer": "append", "default": []}},
        "nodes": {
            "first": node("return { log: ['first'] }"),
            "ask": node("return { log: ['one? ' + interrupt({ ask: 'one?' })] }"),
            "last": node("return { log: ['last'] }"),
        },
        "edges": [
            {"from": "__start__", "to": "first"}, {"from": "first", "to": "ask"},
            {"from": "ask", "to": "last"}, {"from": "last", "to": "__end__"},
        ],
    });
    fs::write(&graph, document.to_string()).unwrap();
    let (theirs, ours) = (
        format!("langgraph:{}", theirs.display()),
        ours.display().to_string(),
    );
    let graph = graph.display().to_string();
    user.expect(0, &["threads", "copy", "one", "--db", &theirs, "--to", &ours]);
    let unnamed = user.expect(2, &["state", "one", "--db", &ours]).err;
    assert!(
        unnamed.contains("was copied from a LangGraph program") && unnamed.contains("--graph"),
        "{unnamed}"
    );
    let asked = user.expect(3, &["resume", "one", "--graph", &graph, "--db", &ours]);
    assert!(asked.err.contains("one?"), "{}", asked.err);
    user.expect(
        0,
        &["resume", "one", "--graph", &graph, "--text", "yes", "--db", &ours],
    );
    let state = user.expect(0, &["state", "one", "--json", "--db", &ours]).json();
    assert_eq!(
        state["values"]["log"],
        serde_json::json!(["in", "first", "one? yes", "last"])
    );
    // It has gone a way of its own.
    let again = user.call(&["threads", "copy", "one", "--db", &theirs, "--to", &ours]);
    assert!(again.code != 0 && again.err.contains("already"), "{}", again.err);
}
