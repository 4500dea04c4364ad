//! `superstep test`: tests beside graphs.

use std::fs;
use std::path::PathBuf;

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
    assert!(done.out.contains("/edit/before"), "{}", done.out);
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
