//! `superstep test`: tests beside graphs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::{User, example};

/// A graph that asks whether to double a number, with a test of it.
fn project(user: &User) -> PathBuf {
    let folder = user.dir.path().join("desk");
    fs::create_dir_all(folder.join("expect")).unwrap();
    let graph = json!({
        "format": "superstep/1",
        "name": "Desk",
        "state": { "n": { "type": "integer" }, "yes": { "type": "boolean" } },
        "nodes": {
            "ask": { "kind": "ask", "config": { "question": "Double it?", "into": "yes" } },
            "double": { "kind": "assign", "config": { "set": { "n": "state.n * 2" } } }
        },
        "edges": [
            { "from": "__start__", "to": "ask" },
            { "from": "ask", "to": "double" },
            { "from": "double", "to": "__end__" }
        ]
    });
    fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    write(&folder, "doubles", &doubles());
    folder
}

fn doubles() -> Json {
    json!({
        "about": "The number is doubled.",
        "inputs": [{ "n": 4 }],
        "answers": [true],
        "holds": ["state.n == 8", "state.yes"],
        "expect": { "status": "done", "nodes": ["ask", "double"], "values": { "n": 8 } }
    })
}

fn write(folder: &std::path::Path, name: &str, test: &Json) {
    fs::write(folder.join(format!("expect/{name}.json")), test.to_string()).unwrap();
}

#[test]
fn tests_of_the_examples_pass_and_leave_no_trace() {
    let user = User::new();
    let done = user.expect(0, &["test", &example("refund-desk"), &example("counter")]);
    assert!(done.out.contains("passed    refund-desk/other"), "{}", done.out);
    assert!(done.out.contains(" 0 failed in "), "{}", done.out);
    assert!(!user.dir.path().join("data/threads.db").exists());
}

#[test]
fn a_failing_test_names_the_first_place_that_differs() {
    let user = User::new();
    let folder = project(&user);
    let desk = folder.display().to_string();
    user.expect(0, &["test", &desk]);
    let mut test = doubles();
    test["expect"]["nodes"] = json!(["ask", "triple"]);
    test["expect"]["values"]["n"] = json!(9);
    test["holds"][0] = json!("state.n > 8");
    test["answers"] = json!([true, "another"]);
    write(&folder, "doubles", &test);
    let done = user.expect(1, &["test", &desk]);
    let lines: Vec<&str> = done.out.lines().map(str::trim).collect();
    assert!(lines[0].starts_with("FAILED    desk/doubles"), "{}", done.out);
    assert_eq!(lines[1], r#"/expect/nodes/1: "triple" expected, "double" found"#);
    assert_eq!(lines[2], r#"/answers/1: "another" expected, nothing found"#);
    assert_eq!(lines[3], "/expect/values/n: 9 expected, 8 found");
    assert_eq!(lines[4], r#"/holds/0: "state.n > 8" expected, false found"#);
    // It says another thing than the graph does: nothing of it is accepted.
    let before = fs::read(folder.join("expect/doubles.json")).unwrap();
    user.expect(1, &["test", "--accept", &desk]);
    assert_eq!(fs::read(folder.join("expect/doubles.json")).unwrap(), before);
}

#[test]
fn what_came_is_accepted_of_what_the_test_looks_at() {
    let user = User::new();
    let folder = project(&user);
    let mut test = doubles();
    test["expect"] = json!({"values": {"n": 0}});
    write(&folder, "doubles", &test);
    let file = folder.join("expect/doubles.json").display().to_string();
    let done = user.expect(0, &["test", "--accept", &file]);
    assert!(done.out.contains("accepted  desk/doubles"), "{}", done.out);
    let accepted: Json = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    test["expect"] = json!({"values": {"n": 8}});
    assert_eq!(accepted, test);
    user.expect(0, &["test", &file]);
}

#[test]
fn results_are_read_by_programs() {
    let user = User::new();
    let folder = project(&user);
    let mut test = doubles();
    test["expect"]["status"] = json!("interrupted <&>");
    write(&folder, "waits", &test);
    write(&folder, "broken", &json!({"inputs": [], "expects": {}}));
    let report = user.dir.path().join("junit.xml").display().to_string();
    let parent = user.dir.path().display().to_string();
    let done = user.expect(1, &["test", "--json", "--junit", &report, &parent]);
    let results = done.json();
    let by_name = |name: &str| {
        results
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(by_name("desk/doubles")["passed"], true);
    assert_eq!(
        by_name("desk/waits")["divergences"],
        json!([{"at": "/expect/status", "expected": "interrupted <&>", "found": "done"}])
    );
    let broken = by_name("desk/broken");
    assert!(
        broken["error"]
            .as_str()
            .unwrap()
            .contains("unknown field `expects`"),
        "{broken}"
    );
    let xml = fs::read_to_string(&report).unwrap();
    assert!(
        xml.contains(r#"<testsuite name="superstep" tests="3" failures="2">"#),
        "{xml}"
    );
    assert!(xml.contains("interrupted &lt;&amp;&gt;"), "{xml}");
    // One alone.
    let done = user.expect(0, &["test", "--filter", "desk/doub", &parent]);
    assert!(
        done.out.ends_with("1 passed, 0 failed in 0.0 s\n") || done.out.contains("1 passed, 0 failed"),
        "{}",
        done.out
    );
    let nothing = user.expect(2, &["test", "--filter", "nowhere", &parent]);
    assert!(
        nothing.err.contains("No test with \"nowhere\""),
        "{}",
        nothing.err
    );
}

#[test]
fn a_run_that_fails_is_an_outcome() {
    let user = User::new();
    let folder = project(&user);
    let test = json!({"inputs": [{"n": "no number"}], "expect": {"status": "done"}});
    write(&folder, "doubles", &test);
    let desk = folder.display().to_string();
    let done = user.expect(1, &["test", &desk]);
    assert!(
        done.out
            .contains(r#"/expect/status: "done" expected, "failed" found"#)
            || done.out.contains("interrupted"),
        "{}",
        done.out
    );
    let nobody = json!({"inputs": [{"n": 1}], "edit": {"before": "nobody", "values": {}}, "expect": {}});
    write(&folder, "doubles", &nobody);
    let done = user.expect(1, &["test", &desk]);
    assert!(done.out.contains("/edits/0/before"), "{}", done.out);
}

#[test]
fn every_test_of_a_graph_that_cannot_run_fails() {
    let user = User::new();
    let folder = project(&user);
    write(&folder, "another", &doubles());
    let graph = folder.join("graph.json");
    let text = fs::read_to_string(&graph).unwrap().replace("assign", "asign");
    fs::write(&graph, text).unwrap();
    let done = user.expect(1, &["test", &folder.display().to_string()]);
    assert!(done.out.contains("0 passed, 2 failed in "), "{}", done.out);
    assert!(done.err.contains("unknown-kind"), "{}", done.err);
}

/// Runs the desk on a thread: the number, then the answer.
fn doubled(user: &User, desk: &str, thread: &str) {
    user.expect(3, &["run", desk, "--thread", thread, "--input", "{\"n\": 4}"]);
    user.expect(0, &["resume", thread, "--answer", "true"]);
}

fn read(folder: &std::path::Path, name: &str) -> Json {
    serde_json::from_slice(&fs::read(folder.join(format!("expect/{name}.json"))).unwrap()).unwrap()
}

#[test]
fn a_thread_becomes_a_test_in_one_action() {
    let user = User::new();
    let folder = project(&user);
    let desk = folder.display().to_string();
    doubled(&user, &desk, "t");
    let done = user.expect(
        0,
        &[
            "test",
            "--from",
            "t",
            "--name",
            "eight",
            "--holds",
            "state.n == 8",
            &desk,
        ],
    );
    assert!(done.out.starts_with("written  "), "{}", done.out);
    assert!(done.out.contains("1 input, 1 answer"), "{}", done.out);
    assert_eq!(
        read(&folder, "eight"),
        json!({
            "about": "Made of thread t.",
            "inputs": [{"n": 4}],
            "answers": [true],
            "holds": ["state.n == 8"],
            "expect": {
                "status": "done",
                "questions": [{"question": "Double it?"}],
                "nodes": ["ask", "double"],
                "values": {"n": 8, "yes": true}
            }
        })
    );
    user.expect(0, &["test", &desk]);
    // The graph does something else: the test says where.
    let graph = folder.join("graph.json");
    let text = fs::read_to_string(&graph).unwrap();
    fs::write(&graph, text.replace("state.n * 2", "state.n * 3")).unwrap();
    let done = user.expect(1, &["test", "--filter", "eight", &desk]);
    assert!(
        done.out.contains("/expect/values/n: 8 expected, 12 found"),
        "{}",
        done.out
    );
    fs::write(&graph, text).unwrap();
    // Nothing is written over, and a name of its own is found.
    let before = fs::read(folder.join("expect/eight.json")).unwrap();
    let done = user.expect(2, &["test", "--from", "t", "--name", "eight", &desk]);
    assert!(done.err.contains("already"), "{}", done.err);
    assert_eq!(fs::read(folder.join("expect/eight.json")).unwrap(), before);
    let made = user.expect(0, &["test", "--from", "t", "--json"]).json();
    assert_eq!(
        (&made["name"], &made["written"]),
        (&json!("thread"), &json!(true))
    );
    let made = user.expect(0, &["test", "--from", "t", "--json"]).json();
    assert_eq!(made["name"], "thread-2");
    let bad = user.expect(2, &["test", "--from", "t", "--name", "../up", &desk]);
    assert!(bad.err.contains("cannot be the name of a test"), "{}", bad.err);
}

#[test]
fn a_thread_that_asks_or_fails_is_a_test_and_one_on_its_way_is_none() {
    let user = User::new();
    let folder = project(&user);
    let desk = folder.display().to_string();
    user.expect(3, &["run", &desk, "--thread", "asks", "--input", "{\"n\": 4}"]);
    user.expect(0, &["test", "--from", "asks", "--name", "asks"]);
    assert_eq!(
        read(&folder, "asks")["expect"],
        json!({"status": "interrupted", "questions": [{"question": "Double it?"}], "nodes": [], "values": {}})
    );
    let graph = folder.join("graph.json");
    let text = fs::read_to_string(&graph).unwrap();
    fs::write(&graph, text.replace("state.n * 2", "state.n // 0")).unwrap();
    user.expect(3, &["run", &desk, "--thread", "fails", "--input", "{\"n\": 4}"]);
    user.expect(1, &["resume", "fails", "--answer", "true"]);
    user.expect(0, &["test", "--from", "fails", "--name", "fails"]);
    let made = read(&folder, "fails");
    assert_eq!(made["expect"]["status"], "failed");
    assert_eq!(made["expect"]["nodes"], json!(["ask", "double failed"]));
    user.expect(0, &["test", "--filter", "desk/fails", &desk]);
    fs::write(&graph, text).unwrap();
    let stops = ["--interrupt-before", "ask", "--thread", "stands"];
    user.expect(
        3,
        &[&["run", &desk, "--input", "{\"n\": 1}"][..], &stops[..]].concat(),
    );
    let done = user.expect(2, &["test", "--from", "stands"]);
    assert!(done.err.contains("it stands before ask"), "{}", done.err);
    let done = user.expect(2, &["test", "--from", "nobody", &desk]);
    assert!(done.err.contains("no thread nobody"), "{}", done.err);
}

#[test]
fn edits_and_forks_of_a_thread_are_in_its_test() {
    let user = User::new();
    let folder = user.dir.path().join("line");
    fs::create_dir_all(&folder).unwrap();
    let graph = json!({
        "format": "superstep/1",
        "name": "Line",
        "state": {
            "n": { "type": "integer" },
            "log": { "type": "array", "items": { "type": "string" }, "reducer": "append" }
        },
        "nodes": {
            "a": { "kind": "assign", "config": { "set": { "log": "['a']", "n": "state.n + 1" } } },
            "b": { "kind": "assign", "config": { "set": { "log": "['b']", "n": "state.n * 10" } } }
        },
        "edges": [
            { "from": "__start__", "to": "a" },
            { "from": "a", "to": "b" },
            { "from": "b", "to": "a", "when": "state.n < 500" },
            { "from": "b", "to": "__end__", "when": "state.n >= 500" }
        ]
    });
    fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let line = folder.display().to_string();
    let stop = |node: &str| format!("--interrupt-before={node}");
    // Before the second visit of b, and as it stands after that.
    user.expect(
        3,
        &["run", &line, "--thread", "t", "--input", "{\"n\": 1}", &stop("b")],
    );
    user.expect(3, &["resume", "t", &stop("b")]);
    user.expect(
        0,
        &["update", "t", "--values", "{\"n\": 3, \"log\": [\"edited\"]}"],
    );
    user.expect(0, &["resume", "t"]);
    user.expect(0, &["test", "--from", "t", "--name", "edited"]);
    let made = read(&folder, "edited");
    assert_eq!(made["edits"][0]["before"], "b");
    assert_eq!(made["edits"][0]["visit"], 2);
    assert_eq!(made["edits"][0]["as"], "a");
    assert_eq!(made["edits"].as_array().unwrap().len(), 1);
    let state = user.expect(0, &["state", "t", "--json"]).json();
    assert_eq!(made["expect"]["values"], state["values"]);
    user.expect(0, &["test", &line]);
    // Back to before the first b, and another way from there: only that way is the test.
    let history = user.expect(0, &["history", "t", "--json"]).json();
    let mut oldest = history.as_array().unwrap().iter().rev();
    let first = oldest.find(|one| one["next"] == json!(["b"])).unwrap();
    let id = first["config"]["configurable"]["checkpoint_id"].as_str().unwrap();
    user.expect(0, &["update", "t", "--checkpoint", id, "--values", "{\"n\": 60}"]);
    user.expect(0, &["resume", "t"]);
    user.expect(0, &["test", "--from", "t", "--name", "forked"]);
    let made = read(&folder, "forked");
    assert_eq!(made["expect"]["nodes"], json!(["a", "b"]));
    assert_eq!(made["expect"]["values"], json!({"n": 600, "log": ["a", "b"]}));
    user.expect(0, &["test", &line]);
}

#[test]
fn what_comes_out_otherwise_is_named_and_left_out_when_that_is_wanted() {
    let user = User::new();
    let folder = user.dir.path().join("clock");
    fs::create_dir_all(&folder).unwrap();
    let graph = json!({
        "format": "superstep/1",
        "name": "Clock",
        "state": { "n": { "type": "integer" }, "at": { "type": "number" }, "twice": { "type": "integer" } },
        "nodes": {
            "draw": { "kind": "code", "config": { "source": "return { at: Math.random() };" } },
            "double": { "kind": "assign", "config": { "set": { "twice": "state.n * 2" } } }
        },
        "edges": [
            { "from": "__start__", "to": "draw" },
            { "from": "draw", "to": "double" },
            { "from": "double", "to": "__end__" }
        ]
    });
    fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let clock = folder.display().to_string();
    user.expect(0, &["run", &clock, "--thread", "t", "--input", "{\"n\": 4}"]);
    let done = user.expect(1, &["test", "--from", "t", "--name", "drawn"]);
    assert!(done.out.starts_with("NOT written  "), "{}", done.out);
    assert!(done.out.contains("/expect/values/at: "), "{}", done.out);
    assert!(done.out.contains("by draw (code)"), "{}", done.out);
    assert!(done.err.contains("--leave-out"), "{}", done.err);
    assert!(!folder.join("expect").exists());
    let made = user
        .expect(
            0,
            &["test", "--from", "t", "--name", "drawn", "--leave-out", "--json"],
        )
        .json();
    assert_eq!(made["leftOut"], json!(["values.at"]));
    assert_eq!(read(&folder, "drawn")["expect"]["values"], json!({"twice": 8}));
    user.expect(0, &["test", &clock]);
}

#[test]
fn files_that_are_no_tests_fail_with_a_word_and_stay_as_they_are() {
    let user = User::new();
    let folder = project(&user);
    let files: [(&str, &[u8], &str); 11] = [
        ("empty", b"", "it is empty"),
        (
            "truncated",
            b"{\"inputs\": [{\"n\": 4}], \"expe",
            "EOF while parsing",
        ),
        ("list", b"[\"about\", [{\"n\": 4}]]", "it holds a list"),
        ("number", b"3", "it holds no object"),
        ("nothing", b"{\"inputs\": []}", "`inputs` is empty"),
        (
            "foreign",
            b"{\"name\": \"left-pad\", \"version\": \"1.0.0\"}",
            "unknown field `name`",
        ),
        (
            "types",
            b"{\"inputs\": {\"n\": 4}}",
            "invalid type: map, expected a sequence",
        ),
        (
            "edits",
            b"{\"inputs\": [{}], \"edits\": [{\"before\": 3}]}",
            "invalid type: integer",
        ),
        (
            "both",
            b"{\"inputs\": [{}], \"edit\": [], \"edits\": []}",
            "duplicate field",
        ),
        ("binary", b"\xff\xfe\x00\x01", "UTF-8"),
        ("deep", &[b'['; 4096], "it holds a list"),
    ];
    for (name, bytes, _) in files {
        fs::write(folder.join(format!("expect/{name}.json")), bytes).unwrap();
    }
    fs::create_dir(folder.join("expect/folder.json")).unwrap();
    let deep = format!("{{\"inputs\": [{}{}]}}", "[".repeat(4096), "]".repeat(4096));
    fs::write(folder.join("expect/nested.json"), deep).unwrap();
    let huge = fs::File::create(folder.join("expect/huge.json")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let desk = folder.display().to_string();
    let done = user.expect(1, &["test", "--accept", "--json", &desk]);
    let results = done.json();
    let error = |name: &str| {
        let mut all = results.as_array().unwrap().iter();
        let one = all.find(|one| one["name"] == format!("desk/{name}")).unwrap();
        assert_eq!(one["passed"], false, "{name}");
        one["error"].as_str().unwrap_or_default().to_owned()
    };
    for (name, bytes, word) in files {
        assert!(error(name).contains(word), "{name}: {}", error(name));
        let now = fs::read(folder.join(format!("expect/{name}.json"))).unwrap();
        assert_eq!(now, bytes, "{name} was changed");
    }
    for (name, word) in [
        ("folder", "no regular file"),
        ("nested", "recursion limit"),
        ("huge", "16 MiB"),
    ] {
        assert!(error(name).contains(word), "{name}: {}", error(name));
    }
    // The one that is a test passes beside them.
    let mut all = results.as_array().unwrap().iter();
    let one = all.find(|one| one["name"] == "desk/doubles").unwrap();
    assert_eq!(one["passed"], true, "{one}");
}

#[test]
fn an_older_file_with_one_edit_is_read() {
    let user = User::new();
    let folder = project(&user);
    let mut test = doubles();
    test["edit"] = json!({"before": "double", "values": {"n": 5}});
    test["holds"] = json!([]);
    test["expect"]["values"]["n"] = json!(10);
    write(&folder, "doubles", &test);
    user.expect(0, &["test", &folder.display().to_string()]);
}

#[test]
fn anything_may_stand_where_a_test_says_so_and_still_after_it_was_accepted() {
    let user = User::new();
    let folder = project(&user);
    let mut test = doubles();
    test["expect"]["values"] = json!({"n": "*", "yes": false});
    write(&folder, "doubles", &test);
    let desk = folder.display().to_string();
    let done = user.expect(1, &["test", &desk]);
    assert!(!done.out.contains("/expect/values/n"), "{}", done.out);
    user.expect(0, &["test", "--accept", &desk]);
    assert_eq!(
        read(&folder, "doubles")["expect"]["values"],
        json!({"n": "*", "yes": true})
    );
}

#[test]
fn coverage_names_what_no_test_takes() {
    let user = User::new();
    let desk = example("refund-desk");
    let done = user.expect(0, &["test", "--coverage", "--filter", "approved", &desk]);
    assert!(done.out.contains("never ran       forward"), "{}", done.out);
    assert!(
        done.out.contains("never taken     review -> decline ("),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("never answered  review: decision: \"reject\""),
        "{}",
        done.out
    );
    let report = user.expect(0, &["test", "--coverage", "--json", &desk]).json();
    assert_eq!(report["tests"].as_array().unwrap().len(), 6);
    let graph = &report["coverage"][0];
    let ways = graph["ways"].as_array().unwrap();
    let way = |from: &str, to: &str| {
        let found = ways.iter().find(|way| way["from"] == from && way["to"] == to);
        found.unwrap_or_else(|| panic!("{from} -> {to} in {graph}"))["taken"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(way("__start__", "classify"), 6);
    assert!(way("review", "pay") >= 1 && way("review", "propose") >= 1);
    let answers = graph["answers"].as_array().unwrap();
    let approve = answers.iter().find(|one| one["value"] == "approve").unwrap();
    assert!(approve["times"].as_u64().unwrap() >= 1, "{graph}");
}

#[test]
fn tests_run_again_when_a_file_changes() {
    let user = User::new();
    let folder = project(&user);
    let mut command = user.command(&["test", "desk", "--watch"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let until = |wanted: &str| loop {
        let line = told
            .recv_timeout(Duration::from_secs(60))
            .unwrap_or_else(|_| panic!("{wanted} did not come"));
        if line.contains(wanted) {
            break;
        }
    };
    until("1 passed, 0 failed");
    let mut other = doubles();
    other["expect"]["values"]["n"] = json!(9);
    write(&folder, "doubles", &other);
    until("doubles.json changed");
    until("0 passed, 1 failed");
    fs::write(folder.join("graph.json"), "{").unwrap();
    until("graph.json changed");
    until("0 passed, 1 failed");
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    user.expect(2, &["test", "desk", "--watch", "--models", "record"]);
}
