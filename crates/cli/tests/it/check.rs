//! `check`, `export` and help: nothing runs.

use serde_json::{Value as Json, json};

use crate::{User, example};

fn broken() -> Json {
    json!({
        "format": "superstep/1",
        "name": "Broken",
        "state": { "n": { "type": "integer", "reducer": "appendd" } },
        "nodes": {
            "first": { "kind": "assign", "config": { "set": { "n": "state.n +" } } },
            "second": { "kind": "asign" },
            "island": { "kind": "assign", "config": { "set": {} } }
        },
        "edges": [
            { "from": "__start__", "to": "frist" },
            { "from": "first", "route": "state.n", "paths": {} }
        ]
    })
}

#[test]
fn every_example_is_without_problem() {
    let user = User::new();
    for name in [
        "counter",
        "refund-desk",
        "knowledge-agent",
        "research-fan-out",
        "chat",
        "notes-agent",
        "supervisor",
        "service-desk",
    ] {
        let done = user.expect(0, &["check", "--deny-warnings", &example(name)]);
        assert!(done.out.contains(": no problems ("), "{}", done.out);
        assert_eq!(done.err, "");
    }
    assert!(!user.dir.path().join("data").exists(), "checking leaves no trace");
}

#[test]
fn a_broken_file_shows_every_problem_at_once() {
    let user = User::new();
    let path = user.graph("broken.json", &broken());
    let done = user.expect(1, &["check", &path]);
    for expected in [
        "error[unknown-reducer] key:n /reducer\n    `appendd` is not a reducer.\n    Did you mean `append`?",
        "error[unknown-target] edge:__start__->frist /to\n    The edge leads to `frist`, and there is no such node.",
        "error[route-without-paths] edge:first->? /paths",
        "error[unknown-kind] node:second /kind",
        "warning[unconnected-node] node:island",
        "node:first /config/set/n",
    ] {
        assert!(
            done.out.contains(expected),
            "{expected:?} is not in:\n{}",
            done.out
        );
    }
    let list = user
        .expect(1, &["check", "--json", &path, &example("counter")])
        .json();
    assert_eq!(list[0]["name"], "Broken");
    assert_eq!(
        list[0]["errors"].as_u64().unwrap(),
        done.out.matches("error[").count() as u64
    );
    assert_eq!(
        list[1],
        json!({
            "path": format!("{}/graph.json", example("counter")), "name": "Counter", "errors": 0, "warnings": 0, "problems": []
        })
    );
    let problem = &list[0]["problems"][0];
    for field in ["code", "severity", "message", "remedy", "record"] {
        assert!(problem[field].is_string(), "{problem}");
    }

    let run = user.expect(1, &["run", &path, "--input", "{}"]);
    assert!(
        run.err.contains("error[unknown-target]") && run.err.contains("cannot run"),
        "{}",
        run.err
    );
    assert_eq!(run.out, "");
}

#[test]
fn warnings_are_no_failure_unless_they_are_denied() {
    let user = User::new();
    let mut graph = broken();
    graph["state"] = json!({ "n": { "type": "integer" } });
    graph["nodes"] = json!({ "first": { "kind": "assign", "config": { "set": { "n": 1 } } } });
    graph["edges"] = json!([ { "from": "__start__", "to": "first" } ]);
    graph["layout"] = json!({ "gone": [1, 2] });
    let path = user.graph("warned.json", &graph);
    let done = user.expect(0, &["check", &path]);
    assert!(done.out.ends_with("0 errors, 1 warning\n"), "{}", done.out);
    user.expect(1, &["check", "--deny-warnings", &path]);
}

#[test]
fn files_that_cannot_be_read_are_usage_errors() {
    let user = User::new();
    let done = user.expect(2, &["check", "nowhere.json"]);
    assert!(
        done.err.contains("The graph nowhere.json cannot be read") && done.err.contains("Check the path."),
        "{}",
        done.err
    );
    std::fs::write(user.dir.path().join("text.json"), "{ \"format\": ").unwrap();
    let done = user.expect(1, &["check", "text.json"]);
    assert!(
        done.out
            .contains("error[not-json] doc\n    The file is not JSON: EOF"),
        "{}",
        done.out
    );
    user.expect(1, &["export", "text.json"]);
    user.expect(1, &["run", "text.json", "--input", "{}"]);
}

#[test]
fn export_draws_and_formats() {
    let user = User::new();
    let drawn = user.expect(0, &["export", &example("counter")]);
    assert_eq!(
        drawn.out,
        "flowchart TD\n  start([\"Start\"])\n  n1[\"Add one turn<br/>increment\"]\n  n2[\"Say the result<br/>finish\"]\n  \
         finish([\"End\"])\n  start --> n1\n  n1 -.->|\"state.count #lt; state.limit\"| n1\n  \
         n1 -.->|\"state.count #gt;= state.limit\"| n2\n  n2 --> finish\n"
    );
    let mut graph = broken();
    graph["x-unknown"] = json!({ "kept": true });
    let path = user.graph("a.json", &graph);
    user.expect(0, &["export", &path, "--format", "json", "--output", &path]);
    let once = std::fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&once).unwrap(), graph);
    user.expect(0, &["export", &path, "--format", "json", "-o", &path]);
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        once,
        "formatting is stable"
    );
    // Where a program says that it goes is drawn, too.
    let goes = json!({
        "format": "superstep/1", "state": {"n": {}},
        "nodes": {
            "plan": {"kind": "code", "config": {"source": "return new Command({goto: 'look'})", "destinations": ["look", "__end__"]}},
            "look": {"kind": "assign", "config": {"set": {"n": "1"}}}},
        "edges": [{"from": "__start__", "to": "plan"}],
    });
    let drawn = user.expect(0, &["export", &user.graph("goes.json", &goes)]).out;
    for line in ["finish([\"End\"])", "n1 -.-> n2", "n1 -.-> finish"] {
        assert!(drawn.lines().any(|drawn| drawn.trim() == line), "{line}: {drawn}");
    }
    let schema = user
        .expect(0, &["export", &example("counter"), "--format", "input-schema"])
        .json();
    assert_eq!(schema["properties"]["limit"]["default"], 5);
}

#[test]
fn help_teaches() {
    let user = User::new();
    let short = user.expect(0, &["-h"]);
    for command in [
        "check", "run", "resume", "threads", "state", "history", "update", "delete", "export", "serve",
    ] {
        assert!(short.out.contains(&format!("  {command} ")), "{}", short.out);
        assert!(user.expect(0, &[command, "--help"]).out.contains("Examples:"));
    }
    assert!(user.expect(0, &["--help"]).out.contains("130  stopped by Ctrl-C"));
    user.expect(2, &["frobnicate"]);
    user.expect(2, &[]);
}

/// A pipe would be waited for, and a device never ends.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let user = User::new();
    let folder = user.dir.path().join("odd");
    std::fs::create_dir(&folder).unwrap();
    let graph = folder.join("graph.json");
    let made = std::process::Command::new("mkfifo").arg(&graph).status().unwrap();
    assert!(made.success());
    let began = std::time::Instant::now();
    let done = user.expect(2, &["check", &folder.display().to_string()]);
    assert!(done.err.contains("it is no regular file"), "{}", done.err);
    std::fs::remove_file(&graph).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &graph).unwrap();
    let done = user.expect(2, &["check", &folder.display().to_string()]);
    assert!(done.err.contains("it is no regular file"), "{}", done.err);
    assert!(began.elapsed().as_secs() < 120, "nothing was waited for");
}

fn with_disabled_node() -> Json {
    json!({
        "format": "superstep/1",
        "name": "Desk",
        "state": { "n": { "type": "integer" } },
        "nodes": {
            "first": { "kind": "assign", "config": { "set": { "n": "7" } }, "disabled": true },
            "second": { "kind": "assign", "config": { "set": { "n": "state.n + 1" } } }
        },
        "edges": [
            { "from": "__start__", "to": "first" },
            { "from": "first", "to": "second" },
            { "from": "second", "to": "__end__" }
        ]
    })
}

#[test]
fn a_graph_with_disabled_nodes_is_refused_unless_that_is_allowed() {
    let user = User::new();
    let graph = user.graph("desk", &with_disabled_node());
    let refused = user.expect(1, &["check", &graph]);
    assert!(
        refused.out.contains("error[node-disabled] node:first"),
        "{}",
        refused.out
    );
    let allowed = user.expect(0, &["check", "--allow-disabled", &graph]);
    assert!(
        allowed.out.contains("warning[node-disabled] node:first"),
        "{}",
        allowed.out
    );

    let refused = user.expect(2, &["run", &graph, "--input", r#"{"n": 1}"#]);
    assert!(
        refused.err.contains("first") && refused.err.contains("--allow-disabled"),
        "{}",
        refused.err
    );
    let ran = user.expect(0, &["run", "--allow-disabled", &graph, "--input", r#"{"n": 1}"#]);
    assert!(ran.out.contains("\"n\": 2"), "{}", ran.out);
}

#[test]
fn a_text_in_an_order_with_a_number_is_found_before_the_run_and_in_it() {
    let user = User::new();
    let graph = |score: Json| {
        json!({
            "format": "superstep/1", "name": "Judge",
            "state": {"score": score, "way": {"type": "string"}, "word": {}},
            "nodes": {
                "ask": {"kind": "ask", "config": {"question": "Which?", "into": "word"}},
                "pass": {"kind": "assign", "config": {"set": {"way": "'pass'"}}},
                "fail": {"kind": "assign", "config": {"set": {"way": "'fail'"}}},
            },
            "edges": [
                {"from": "__start__", "to": "ask"},
                {"from": "ask", "when": "state.score >= 50", "to": "pass"},
                {"from": "ask", "when": "state.score < 50", "to": "fail"},
            ],
        })
    };
    let path = user.graph("graph.json", &graph(json!({"type": "string"})));
    let found = user.expect(1, &["check", &path]);
    assert_eq!(found.out.matches("error[no-order]").count(), 2, "{}", found.out);
    let refused = user.expect(1, &["run", &path, "--input", r#"{"score": "7"}"#]);
    assert!(refused.err.contains("no-order"), "{}", refused.err);

    // Of a key without a type only the run knows.
    user.graph("graph.json", &graph(json!({})));
    user.expect(0, &["check", &path]);
    user.expect(
        3,
        &["run", &path, "--input", r#"{"score": "7"}"#, "--thread", "t"],
    );
    user.expect(3, &["run", &path, "--input", r#"{"score": 70}"#, "--thread", "n"]);
    // A thread is read and goes on, whatever is said of its graph now.
    user.graph("graph.json", &graph(json!({"type": "string"})));
    user.expect(0, &["state", "t"]);
    let recorded = ["--graph-version", "recorded"];
    let resume = |thread: &'static str| [&["resume", thread, "--text", "x"][..], &recorded].concat();
    let failed = user.expect(1, &resume("t"));
    assert!(
        failed
            .err
            .contains("no order between the text `7` and the number 50"),
        "{}",
        failed.err
    );
    assert_eq!(user.expect(0, &resume("n")).json()["way"], "pass");
}
