//! `run` and `resume`: results, questions, streams, failures, exit codes.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value as Json, json};

use crate::{User, example};

#[test]
fn a_run_prints_its_result_and_tells_what_happened() {
    let user = User::new();
    let done = user.expect(
        0,
        &[
            "run",
            &example("counter"),
            "--input",
            r#"{"limit": 3}"#,
            "--thread",
            "t",
        ],
    );
    assert_eq!(done.json()["result"], "Reached 3 in 3 turns.");
    assert!(
        done.err.starts_with("thread t\n   1  increment  "),
        "{}",
        done.err
    );
    assert_eq!(done.err.lines().count(), 5, "{}", done.err);
    let by_number = user.expect(
        0,
        &["run", &example("counter"), "--example", "2", "--db", "memory:"],
    );
    let by_name = user.expect(
        0,
        &[
            "run",
            &example("counter"),
            "--example",
            "In strides of seven",
            "--db",
            "memory:",
        ],
    );
    assert_eq!(by_number.json(), by_name.json());
    assert_eq!(by_number.json()["count"], 42);
    let threads = user.expect(0, &["threads", "--json"]).json();
    assert_eq!(
        threads.as_array().unwrap().len(),
        1,
        "memory: leaves nothing behind"
    );
}

#[test]
fn input_is_checked_before_anything_runs() {
    let user = User::new();
    let counter = example("counter");
    let err = |args: &[&str]| user.expect(2, &[&["run", counter.as_str()], args].concat()).err;
    assert!(err(&["--input", "limit"]).contains(r#"a text has quotes of its own: '"limit"'"#));
    assert!(err(&["--input", "[1]"]).contains("takes an object of state keys"));
    let unknown = err(&["--input", r#"{"limt": 3}"#]);
    assert!(
        unknown.contains("sets `limt`, which is no state key") && unknown.contains("limit"),
        "{unknown}"
    );
    assert!(err(&["--input", r#"{"limit": 0}"#]).contains("does not fit the state key `limit`"));
    let nothing = err(&[]);
    assert!(
        nothing.contains("--input JSON") && nothing.contains("1  'Count to five'"),
        "{nothing}"
    );
    assert!(err(&["--thread", "new"]).contains("There is no thread new yet"));
    assert!(err(&["--example", "9"]).contains("It has:\n  1  'Count to five'"));
    assert!(err(&["--input", "{}", "--stream", "value"]).contains("known are values, updates"));
    assert!(err(&["--input", "{}", "--interrupt-before", "nobody"]).contains("nobody"));
    assert!(err(&["--input", "{}", "--thread", "t", "--checkpoint", "x"]).contains("has no checkpoint x"));
    assert_eq!(user.expect(0, &["threads", "--json"]).json(), json!([]));
}

#[test]
fn a_question_stops_the_run_and_an_answer_goes_on() {
    let user = User::new();
    let asked = user.expect(
        3,
        &[
            "run",
            &example("refund-desk"),
            "--example",
            "1",
            "--thread",
            "case 1",
        ],
    );
    assert_eq!(asked.json()["amount"], 40);
    let choice = r#"  Approve:  superstep resume 'case 1' --answer '{"decision":"approve"}'"#;
    assert!(
        asked.err.contains("Refund 40 EUR of 40 EUR?") && asked.err.contains(choice),
        "{}",
        asked.err
    );
    let waits = user.expect(3, &["resume", "case 1"]);
    assert!(
        waits.err.contains(choice),
        "without an answer the question is shown again: {}",
        waits.err
    );
    let refused = user.expect(3, &["resume", "case 1", "--text", "maybe"]);
    assert!(
        refused.err.contains("The last answer was not accepted"),
        "{}",
        refused.err
    );
    let revised = user.expect(
        3,
        &[
            "resume",
            "case 1",
            "--answer",
            r#"{"decision": "revise", "note": "less", "amount": 20}"#,
        ],
    );
    assert_eq!(revised.json()["attempts"], 2);
    let done = user.expect(0, &["resume", "case 1", "--answer", r#"{"decision": "approve"}"#]);
    assert_eq!(done.json()["payment"]["amount"], 20);
    let late = user.expect(2, &["resume", "case 1", "--answer", r#"{"decision": "approve"}"#]);
    assert!(late.err.contains("asks no question"), "{}", late.err);
    assert!(user.expect(2, &["resume", "case 1"]).err.contains("is done"));
}

#[test]
fn events_are_ndjson_with_one_shape() {
    let user = User::new();
    let args = [
        "run",
        &example("refund-desk"),
        "--example",
        "1",
        "--thread",
        "t",
        "--stream",
        "updates,values,messages",
    ];
    let events = user.expect(3, &args).events();
    for event in &events {
        let names: Vec<&String> = event.as_object().unwrap().keys().collect();
        assert_eq!(names, ["event", "ns", "data"]);
        assert_eq!(event["ns"], json!([]));
    }
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[0], "metadata");
    assert_eq!(events[0]["data"]["thread_id"], "t");
    for kind in ["values", "updates", "messages"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let updates: Vec<&Json> = events
        .iter()
        .filter(|event| event["event"] == "updates")
        .map(|event| &event["data"])
        .collect();
    let nodes: Vec<&String> = updates
        .iter()
        .map(|update| update.as_object().unwrap().keys().next().unwrap())
        .collect();
    assert_eq!(nodes, ["classify", "propose", "draft", "__interrupt__"]);
    let result = &events.last().unwrap()["data"];
    assert_eq!(
        (
            events.last().unwrap()["event"].as_str(),
            result["status"].as_str()
        ),
        (Some("result"), Some("interrupted"))
    );
    let id = result["interrupts"][0]["id"].as_str().unwrap();
    assert_eq!(updates[3]["__interrupt__"][0]["id"], id);

    let answers = json!({ id: { "decision": "reject" } }).to_string();
    let events = user
        .expect(0, &["resume", "t", "--answers", &answers, "--json"])
        .events();
    assert_eq!(events.last().unwrap()["data"]["status"], "done");
    assert_eq!(events.last().unwrap()["data"]["values"]["outcome"], "declined");
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["metadata", "updates", "updates", "updates", "result"]);
}

fn two_questions() -> Json {
    json!({
        "format": "superstep/1",
        "name": "Two questions",
        "state": { "a": { "type": "string" }, "b": { "type": "string" } },
        "nodes": {
            "ask_a": { "kind": "ask", "config": { "question": "A?", "answer": { "type": "string" }, "into": "a" } },
            "ask_b": { "kind": "ask", "config": { "question": "B?", "answer": { "type": "string" }, "into": "b" } }
        },
        "edges": [ { "from": "__start__", "to": "ask_a" }, { "from": "__start__", "to": "ask_b" } ]
    })
}

#[test]
fn several_questions_are_answered_by_id() {
    let user = User::new();
    let path = user.graph("two.json", &two_questions());
    let asked = user.expect(3, &["run", &path, "--input", "{}", "--thread", "t"]);
    assert_eq!(asked.err.matches(" --id ").count(), 2, "{}", asked.err);
    let one_for_two = user.expect(2, &["resume", "t", "--text", "x"]);
    assert!(
        one_for_two.err.contains("2 questions wait"),
        "{}",
        one_for_two.err
    );
    let state = user.expect(0, &["state", "t", "--json"]).json();
    let question = |text: &str| {
        let all = state["interrupts"].as_array().unwrap();
        let found = all
            .iter()
            .find(|interrupt| interrupt["value"]["question"] == text)
            .unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    let unknown = user.expect(2, &["resume", "t", "--id", &"0".repeat(32), "--text", "x"]);
    assert!(unknown.err.contains("These do: "), "{}", unknown.err);
    user.expect(3, &["resume", "t", "--id", &question("B?"), "--text", "bee"]);
    let done = user.expect(0, &["resume", "t", "--text", "ay"]);
    assert_eq!(done.json(), json!({ "a": "ay", "b": "bee" }));
}

#[test]
fn breakpoints_stop_and_resume_goes_on() {
    let user = User::new();
    let counter = example("counter");
    let stopped = user.expect(
        3,
        &[
            "run",
            &counter,
            "--input",
            r#"{"limit": 2}"#,
            "--thread",
            "t",
            "--interrupt-before",
            "finish",
        ],
    );
    assert!(
        stopped
            .err
            .contains("Stopped at a breakpoint. Go on with: superstep resume t"),
        "{}",
        stopped.err
    );
    assert_eq!(stopped.json()["count"], 2);
    assert_eq!(
        user.expect(0, &["resume", "t"]).json()["result"],
        "Reached 2 in 2 turns."
    );
    let every = user.expect(
        3,
        &[
            "run",
            &counter,
            "--input",
            "{}",
            "--thread",
            "u",
            "--interrupt-after",
            "*",
            "--json",
        ],
    );
    assert_eq!(every.events().last().unwrap()["data"]["status"], "breakpoint");
}

#[test]
fn a_failure_keeps_the_thread_resumable() {
    let user = User::new();
    let mut graph = json!({
        "format": "superstep/1",
        "state": { "n": { "type": "integer" } },
        "nodes": {
            "ok": { "kind": "assign", "config": { "set": { "n": 1 } } },
            "bad": { "kind": "code", "config": { "source": "throw new Error('no such customer')" } }
        },
        "edges": [ { "from": "__start__", "to": "ok" }, { "from": "ok", "to": "bad" } ]
    });
    let path = user.graph("bad.json", &graph);
    let failed = user.expect(1, &["run", &path, "--input", "{}", "--thread", "t"]);
    assert!(
        failed.err.contains("no such customer") && failed.err.contains("superstep resume t"),
        "{}",
        failed.err
    );
    assert_eq!(failed.out, "");
    assert_eq!(
        user.expect(0, &["threads", "--status", "failed", "--json"])
            .json()[0]["thread_id"],
        "t"
    );
    let again = user.expect(1, &["resume", "t", "--json"]).events();
    let last = again.last().unwrap();
    assert_eq!(
        (last["event"].as_str(), last["data"]["code"].as_str()),
        (Some("error"), Some("node-failed"))
    );
    assert_eq!(last["data"]["node"], "bad");
    graph["nodes"]["bad"]["config"]["source"] = json!("return { n: state.n + 1 }");
    user.graph("bad.json", &graph);
    assert_eq!(user.expect(0, &["resume", "t"]).json(), json!({ "n": 2 }));
}

#[test]
fn the_recursion_limit_is_a_failure_with_a_way_on() {
    let user = User::new();
    let counter = example("counter");
    let args = [
        "run",
        &counter,
        "--input",
        r#"{"limit": 9}"#,
        "--thread",
        "t",
        "--recursion-limit",
        "4",
    ];
    let failed = user.expect(1, &args);
    assert!(failed.err.contains("Recursion limit of 4"), "{}", failed.err);
    assert_eq!(user.expect(0, &["resume", "t"]).json()["count"], 9);
}

#[test]
fn a_bounded_loop_stops_and_every_run_counts_from_zero() {
    let user = User::new();
    let graph = json!({
        "format": "superstep/1", "name": "bounded",
        "state": {"n": {"type": "integer", "default": 0}},
        "nodes": {"count": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}, "max_visits": 3}},
        "edges": [{"from": "__start__", "to": "count"},
                  {"from": "count", "to": "count", "when": "state.n < 5"},
                  {"from": "count", "to": "__end__", "when": "state.n >= 5"}],
    });
    user.graph("bounded.json", &graph);
    let failed = user.expect(1, &["run", "bounded.json", "--thread", "t", "--input", "{}"]);
    assert!(failed.err.contains("at most 3 super-steps"), "{}", failed.err);
    assert!(
        failed.err.contains("resume t"),
        "it says how to go on: {}",
        failed.err
    );
    assert_eq!(user.expect(0, &["resume", "t"]).json(), json!({ "n": 5 }));
}

#[test]
#[cfg(unix)]
fn ctrl_c_stops_and_the_thread_goes_on() {
    use std::io::BufRead;
    let user = User::new();
    let counter = example("counter");
    let input = r#"{"limit": 1000000}"#;
    let args = [
        "run",
        &counter,
        "--input",
        input,
        "--thread",
        "t",
        "--json",
        "--recursion-limit",
        "1000000",
    ];
    let mut child = user
        .command(&args)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    // The third event shows that the loop is on its way and that the handler is there.
    for _ in 0..3 {
        lines.next().unwrap().unwrap();
    }
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let last = lines.map(Result::unwrap).last().unwrap();
    assert_eq!(
        serde_json::from_str::<Json>(&last).unwrap()["data"]["code"],
        "cancelled"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = user.expect(0, &["state", "t", "--json"]).json();
    assert_eq!(before["next"], json!(["increment"]));
    let on = user.expect(3, &["resume", "t", "--interrupt-after", "increment"]);
    assert_eq!(
        on.json()["count"].as_i64().unwrap(),
        before["values"]["count"].as_i64().unwrap() + 1
    );
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let user = User::new();
    let counter = example("counter");
    let args = [
        "run",
        &counter,
        "--input",
        r#"{"limit": 100}"#,
        "--thread",
        "t",
        "--stream",
        "debug",
    ];
    let mut child = user
        .command(&args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn documents_of_every_form_are_searched_and_models_replayed() {
    let user = User::new();
    let folder = user.dir.path().join("shop");
    std::fs::create_dir_all(folder.join("docs")).unwrap();
    std::fs::write(
        folder.join("docs/a.html"),
        "<h1>Locks</h1><p>A hinge lock folds.</p>",
    )
    .unwrap();
    let graph = json!({
        "format": "superstep/1", "name": "shop",
        "state": {"question": {"type": "string"}, "found": {"type": "array"}, "answer": {"type": "string"}},
        "nodes": {
            "look": {"kind": "retrieve", "config": {"folder": "docs", "query": "state.question", "into": "found"}},
            "say": {"kind": "model", "config": {"model": "openai::gpt-4o-mini", "prompt": "{{ state.question }}", "into": "answer"}}},
        "edges": [{"from": "__start__", "to": "look"}, {"from": "look", "to": "say"}, {"from": "say", "to": "__end__"}]});
    std::fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let path = folder.display().to_string();
    let run = [
        "run",
        &path,
        "--input",
        r#"{"question": "hinge"}"#,
        "--models",
        "replay",
    ];
    let missing = user.expect(1, &run);
    assert!(
        missing.err.contains("models.jsonl") && missing.err.contains("`record`"),
        "{}",
        missing.err
    );
    // What was recorded elsewhere answers here: the request is the same.
    let entry = json!({"key": "KEY", "node": "say", "step": 2, "model": "openai::gpt-4o-mini", "asked": "hinge",
        "pieces": [{"text": "It folds."}], "answer": {"type": "ai", "content": "It folds."}});
    std::fs::create_dir_all(folder.join("recordings")).unwrap();
    std::fs::write(folder.join("recordings/models.jsonl"), format!("{entry}\n")).unwrap();
    let other = user.expect(1, &run);
    assert!(other.err.contains("to another request"), "{}", other.err);
    let state = user.expect(
        3,
        &[
            "run",
            &path,
            "--input",
            r#"{"question": "hinge"}"#,
            "--models",
            "replay",
            "--interrupt-after",
            "look",
        ],
    );
    assert_eq!(state.json()["found"][0]["title"], "Locks", "{}", state.err);
}

/// Anyone who answered on a thread answers its next turn too, from the place that is gone on from.
#[test]
fn a_thread_keeps_who_answers_for_its_models() {
    let user = User::new();
    let graph = json!({
        "format": "superstep/1", "name": "chat",
        "state": {"answer": {"type": "string"}},
        "nodes": {"say": {"kind": "model", "config": {
            "model": "openai::gpt-4o-mini", "prompt": "Hi", "into": "answer"}}},
        "edges": [{"from": "__start__", "to": "say"}, {"from": "say", "to": "__end__"}],
    });
    let path = user.graph("chat.json", &graph);
    let turn = |code: i32, more: &[&str]| {
        let args = ["run", &path, "--thread", "t", "--input", "{}"];
        user.expect(code, &[&args, more].concat()).err
    };
    let newest = || user.expect(0, &["threads", "show", "t", "--json"]).json()["checkpoint_id"].clone();
    // A replay needs no leave, and looks for what was recorded.
    let replays = |reported: String| assert!(reported.contains("models.jsonl"), "{reported}");
    // Asking needs leave.
    let asks = |reported: String| assert!(reported.contains("host:api.openai.com"), "{reported}");
    replays(turn(1, &["--models", "replay"]));
    replays(turn(1, &[]));
    let replayed = newest();
    asks(turn(2, &["--models", "off"]));
    replays(turn(1, &[]));
    turn(3, &["--models", "off", "--trust", "--interrupt-before", "say"]);
    asks(turn(2, &[]));
    asks(user.expect(2, &["run", &path, "--thread", "t"]).err);
    asks(user.expect(2, &["resume", "t"]).err);
    // As it was there, in a run and for `resume`; and an edit changes nothing about it.
    let there = replayed.as_str().unwrap();
    replays(user.expect(1, &["resume", "t", "--checkpoint", there]).err);
    turn(3, &["--models", "off", "--trust", "--interrupt-before", "say"]);
    replays(turn(1, &["--checkpoint", there]));
    user.expect(0, &["update", "t", "--values", "{}", "--as-node", "say"]);
    replays(turn(1, &[]));
    let missing = user.expect(2, &["run", &path, "--thread", "t", "--checkpoint", "nowhere"]);
    assert!(
        missing.err.contains("has no checkpoint nowhere"),
        "{}",
        missing.err
    );
}

#[test]
fn a_question_says_every_way_to_answer_and_who_may() {
    let user = User::new();
    let tool = json!({
        "name": "add", "description": "adds", "approval": true,
        "parameters": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
        "javascript": {"source": "return args.a"},
    });
    let script = json!([
        {"when": "state.messages[-1].type == 'human'", "say": "", "calls": [{"tool": "add", "args": {"a": "1"}}]},
        {"say": "done"},
    ]);
    let approval = user.graph(
        "approval.json",
        &json!({
            "format": "superstep/1",
            "state": {"messages": {"type": "array", "reducer": "add_messages"}},
            "nodes": {"agent": {"kind": "agent", "config": {
                "model": "scripted", "messages": "messages", "tools": [tool], "script": script}}},
            "edges": [{"from": "__start__", "to": "agent"}, {"from": "agent", "to": "__end__"}],
        }),
    );
    let input = r#"{"messages": [{"type": "human", "content": "go"}]}"#;
    let asked = user
        .expect(3, &["run", &approval, "--input", input, "--thread", "t"])
        .err;
    for line in [
        r#"  Approve:  superstep resume t --answer '{"type":"approve"}'"#,
        r#"  Edit:  superstep resume t --answer '{"type":"edit","args":{"a":1}}'"#,
        r#"  Respond:  superstep resume t --answer '{"type":"respond","content":"…"}'"#,
    ] {
        assert!(asked.contains(line), "{line}\n{asked}");
    }
    let edited = user.expect(
        0,
        &["resume", "t", "--answer", r#"{"type":"edit","args":{"a":7}}"#],
    );
    assert_eq!(
        edited.json()["messages"][2]["content"],
        "A person changed the arguments of this call to {\"a\":7}.\n\n7"
    );
    // Another model for the scripted one is asked for as any other is.
    let unknown = user
        .expect(1, &["run", &approval, "--input", input, "--model", "nobody::x"])
        .err;
    assert!(
        unknown.starts_with("nobody::x answers for the scripted models of the graph.")
            && unknown.contains("unknown-model"),
        "{unknown}"
    );

    let to_ada = user.graph(
        "ada.json",
        &json!({
            "format": "superstep/1",
            "state": {"ok": {"type": "boolean"}},
            "nodes": {"ask": {"kind": "ask", "config": {
                "question": "Well?", "into": "ok", "who": ["ada"], "wait_s": 600}}},
            "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}],
        }),
    );
    let asked = user
        .expect(3, &["run", &to_ada, "--input", "{}", "--thread", "u"])
        .err;
    assert!(
        asked.contains("  For ada.\n  Waits until 2")
            && asked.contains("superstep resume u --as ada --answer"),
        "{asked}"
    );
    assert!(
        !asked.contains("deadline"),
        "what a node writes down for itself is no news: {asked}"
    );

    // What is edited is shown, and text need not be written as JSON.
    let letter = user.graph(
        "letter.json",
        &json!({
            "format": "superstep/1",
            "state": {"letter": {"type": "string"}},
            "nodes": {"ask": {"kind": "ask", "config": {"question": "Well?", "edit": "letter", "into": "letter"}}},
            "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}],
        }),
    );
    let input = r#"{"letter": "Dear all,\nhello"}"#;
    let asked = user
        .expect(3, &["run", &letter, "--input", input, "--thread", "v"])
        .err;
    assert!(
        asked.contains("  It is now:\n    Dear all,\n    hello\n  superstep resume v --text TEXT"),
        "{asked}"
    );
    let gone = user
        .expect(3, &["run", &letter, "--input", input, "--db", "memory:"])
        .err;
    assert!(gone.ends_with("in memory only, and is gone now.\n"), "{gone}");
}

/// Returns a graph that asks for a word, and says it behind values of the run's context.
fn contextual() -> Json {
    json!({
        "format": "superstep/1",
        "name": "Context",
        "state": {"said": {}, "word": {}},
        "context": {"user": {"type": "string"}, "level": {"type": "integer", "default": 1}},
        "nodes": {
            "ask": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
            "say": {"kind": "assign", "config": {"set": {"said": "context.user ~ context.level ~ state.word"}}},
        },
        "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "say"}],
    })
}

#[test]
fn a_run_is_given_the_context_that_its_graph_declares() {
    let user = User::new();
    let graph = user.graph("context.json", &contextual());
    let refused = user.expect(1, &["run", &graph, "--input", "{}", "--db", "memory:"]);
    assert!(refused.err.contains("user"), "{}", refused.err);
    let ada = r#"{"user": "ada"}"#;
    user.expect(
        3,
        &["run", &graph, "--input", "{}", "--thread", "t", "--context", ada],
    );
    let eve = r#"{"user": "eve", "level": 2}"#;
    let done = user.expect(0, &["resume", "t", "--answer", "\"tea\"", "--context", eve]);
    assert_eq!(
        done.json()["said"],
        "eve2tea",
        "a run that goes on is given its own"
    );
}

#[test]
fn a_run_takes_the_context_that_its_graph_keeps_under_a_name() {
    let user = User::new();
    let without = contextual();
    let mut value = without.clone();
    value["context_sets"] = json!([
        {"name": "Ada", "values": {"user": "ada"}},
        {"name": "Eve L.", "values": {"user": "eve", "level": 2}},
    ]);
    let graph = user.graph("sets.json", &value);
    let run = ["run", &graph, "--input", "{}", "--thread", "t", "--context-set"];
    let unknown = user.expect(2, &[&run[..], &["Bob"]].concat());
    assert!(
        unknown.err.contains("under the name Bob. It has: Ada, 'Eve L.'."),
        "{}",
        unknown.err
    );
    let both = user.expect(2, &[&run[..], &["Ada", "--context", "{}"]].concat());
    assert!(both.err.contains("--context"), "{}", both.err);
    user.expect(3, &[&run[..], &["Ada"]].concat());
    let done = user.expect(
        0,
        &["resume", "t", "--answer", "\"tea\"", "--context-set", "Eve L."],
    );
    assert_eq!(done.json()["said"], "eve2tea");

    let graph = user.graph("none.json", &without);
    let none = user.expect(2, &["run", &graph, "--input", "{}", "--context-set", "Ada"]);
    assert!(
        none.err.contains("no context values under names") && none.err.contains("--context"),
        "{}",
        none.err
    );
}

#[test]
fn a_pinned_node_does_not_run() {
    let user = User::new();
    let counter = example("counter");
    let run = ["run", &counter, "--example", "1", "--thread", "t"];
    let missing = user.expect(2, &[&run[..], &["--pin", "nobody={}"]].concat());
    assert!(missing.err.contains("no such node"), "{}", missing.err);
    assert!(
        user.expect(2, &[&run[..], &["--pin", "increment=[1]"]].concat())
            .err
            .contains("an object of state keys")
    );
    let pin = r#"increment={"count": 100}"#;
    let done = user.expect(0, &[&run[..], &["--pin", pin]].concat());
    assert!(done.err.contains("increment does not run"), "{}", done.err);
    assert_eq!(done.json()["count"], 100);
}

#[test]
fn what_a_failed_attempt_said_is_taken_back() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let piece = |text: &str, stop: &str| {
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{stop}}}]}}\n\n"
            )
        };
        let whole = format!(
            "{}{}data: [DONE]\n\n",
            piece("One two ", "null"),
            piece("three", "\"stop\"")
        );
        for (length, answer) in [(10_000, piece("One two ", "null")), (whole.len(), whole.clone())] {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut asked = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(length) = line.to_lowercase().strip_prefix("content-length: ") {
                    asked = length.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; asked]).unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
            );
            reader.get_mut().write_all((head + &answer).as_bytes()).unwrap();
        }
    });
    let user = User::new();
    let data = user.dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let models = json!({"connections": {"mine": {"provider": "openai", "base_url": address}}});
    std::fs::write(data.join("models.json"), models.to_string()).unwrap();
    let graph = user.graph(
        "say.json",
        &json!({
            "format": "superstep/1", "name": "Say", "state": {"answer": {"type": "string"}},
            "nodes": {"say": {"kind": "model", "retry": {"attempts": 2, "initial_interval": 0.01, "jitter": false},
                "config": {"model": "mine::m", "prompt": "Count", "into": "answer"}}},
            "edges": [{"from": "__start__", "to": "say"}, {"from": "say", "to": "__end__"}]
        }),
    );
    let done = user.expect(0, &["run", &graph, "--input", "{}", "--trust"]);
    served.join().unwrap();
    assert_eq!(done.json()["answer"], "One two three");
    let places: Vec<_> = [
        "say: One two",
        "attempt 1 failed",
        "a new attempt begins",
        "say: One two three",
    ]
    .iter()
    .map(|part| done.err.find(part))
    .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?} {}",
        done.err
    );
}
