//! Threads that a file brings or a database holds in a state that no run of ours makes: commands end, and say so.

use serde_json::{Value as Json, json};

use crate::{Done, User, example};

/// Runs a command that may take this many seconds of processor time, however busy the computer is.
fn within(user: &User, seconds: u32, args: &[&str]) -> Done {
    limited(user, &format!("ulimit -t {seconds}"), args)
}

/// Runs a command within a limit of the system.
fn limited(user: &User, limit: &str, args: &[&str]) -> Done {
    user.through(&["sh", "-c", &format!("{limit}; exec \"$0\" \"$@\"")], args)
}

/// Exports the thread and gives its lines.
fn exported(user: &User, thread: &str) -> Vec<Json> {
    user.expect(0, &["threads", "export", thread, "-o", "whole.jsonl"]);
    let text = std::fs::read_to_string(user.dir.path().join("whole.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Imports lines as a thread of another name.
fn import(user: &User, name: &str, mut lines: Vec<Json>) {
    lines[0]["thread"] = name.into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(user.dir.path().join("other.jsonl"), text).unwrap();
    user.expect(0, &["threads", "import", "other.jsonl"]);
}

/// The newest checkpoint of the thread itself.
fn newest(lines: &mut [Json]) -> &mut Json {
    lines.iter_mut().rev().find(|line| line["ns"] == "").unwrap()
}

#[test]
fn very_many_next_nodes_are_listed() {
    let user = User::new();
    user.expect(
        0,
        &["run", &example("counter"), "--example", "1", "--thread", "t"],
    );
    let mut lines = exported(&user, "t");
    let next: Vec<String> = (0..100_000).map(|n| format!("node-{n}")).collect();
    newest(&mut lines)["next"] = json!(next);
    import(&user, "many", lines);
    for args in [
        ["threads", "list"].as_slice(),
        &["threads", "show", "many"],
        &["history", "many"],
        &["effects", "many"],
    ] {
        let done = within(&user, 30, args);
        assert_eq!(done.code, 0, "{args:?}: {}", done.err);
    }
}

#[test]
fn a_step_of_any_number_is_read_and_continued() {
    let user = User::new();
    let ask = json!({
        "format": "superstep/1", "name": "Ask", "state": {"n": {"type": "integer", "reducer": "add"}, "ok": {"type": "string"}},
        "nodes": {
            "count": {"kind": "assign", "config": {"set": {"n": "1"}}},
            "ask": {"kind": "ask", "config": {"question": "Go on?", "into": "ok"}}
        },
        "edges": [{"from": "__start__", "to": "count"}, {"from": "count", "to": "ask"}, {"from": "ask", "to": "__end__"}]
    });
    let graph = user.graph("ask.json", &ask);
    user.expect(3, &["run", &graph, "--input", "{}", "--thread", "t"]);
    for (name, step) in [("largest", i64::MAX), ("smallest", i64::MIN)] {
        let mut lines = exported(&user, "t");
        newest(&mut lines)["metadata"]["step"] = step.into();
        import(&user, name, lines);
        for (code, args) in [
            (0, ["threads", "list"].as_slice()),
            (0, &["threads", "show", name]),
            (0, &["history", name]),
            (0, &["state", name]),
            (0, &["explain", name]),
            (0, &["trace", name]),
            (0, &["effects", name]),
            (
                0,
                &["update", name, "--values", r#"{"n": 1}"#, "--as-node", "count"],
            ),
            (3, &["resume", name]),
            (0, &["resume", name, "--text", "yes"]),
            (3, &["run", &graph, "--input", "{}", "--thread", name]),
        ] {
            let done = within(&user, 30, args);
            assert_eq!(done.code, code, "{args:?} of {name}: {}{}", done.out, done.err);
        }
    }
}

#[test]
fn a_checkpoint_that_comes_from_itself_is_damage_and_ends_no_command_late() {
    let user = User::new();
    user.expect(
        0,
        &["run", &example("counter"), "--example", "1", "--thread", "t"],
    );
    let mut lines = exported(&user, "t");
    let id = newest(&mut lines)["id"].clone();
    newest(&mut lines)["parent"] = id;
    lines[0]["thread"] = "own".into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(user.dir.path().join("own.jsonl"), text).unwrap();
    let refused = within(&user, 30, &["threads", "import", "own.jsonl"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("Nothing was changed"), "{}", refused.err);

    let database = rusqlite::Connection::open(user.dir.path().join("data/threads.db")).unwrap();
    let newest = "seq = (SELECT max(seq) FROM checkpoints)";
    let changed = database.execute(&format!("UPDATE checkpoints SET parent = seq WHERE {newest}"), []);
    assert_eq!(changed.unwrap(), 1);
    drop(database);
    for args in [
        ["threads", "list"].as_slice(),
        &["threads", "show", "t"],
        &["history", "t"],
        &["state", "t"],
        &["explain", "t"],
        &["trace", "t"],
        &["effects", "t"],
        &["resume", "t"],
        &["threads", "export", "t", "-o", "again.jsonl"],
    ] {
        let done = within(&user, 30, args);
        assert!(
            (0..=2).contains(&done.code),
            "{args:?}: {} {}",
            done.code,
            done.err
        );
        assert!(!done.err.contains("panicked"), "{args:?}: {}", done.err);
    }
}

#[test]
fn limits_of_the_system_are_called_by_their_names() {
    let user = User::new();
    let counter = example("counter");
    for db in ["sqlite:few.db", "file:few"] {
        user.expect(
            0,
            &["run", &counter, "--example", "1", "--thread", "t", "--db", db],
        );
        let mut failed = 0;
        for handles in 9..=14 {
            let done = limited(
                &user,
                &format!("ulimit -n {handles}"),
                &["threads", "list", "--db", db],
            );
            if done.code != 0 {
                failed += 1;
                assert!(done.err.contains("ulimit -n"), "{handles} for {db}: {}", done.err);
                assert!(
                    !done.err.contains("-wal") && !done.err.contains("Check the disk"),
                    "{}",
                    done.err
                );
            }
        }
        assert!(failed > 0, "{db} needs more than 9 files");
    }
    // A thread of a folder is one file; the limit is in blocks of 512 or 1,024 bytes.
    let input = format!(r#"{{"limit": 3, "log": ["{}"]}}"#, "word ".repeat(20_000));
    let args = [
        "run", &counter, "--input", &input, "--thread", "long", "--db", "file:few",
    ];
    let done = limited(&user, "ulimit -f 8", &args);
    assert_ne!(done.code, 0);
    assert!(done.err.contains("ulimit -f"), "{}", done.err);
    assert!(
        !done.err.contains("gone on") && !done.err.contains("disk space"),
        "{}",
        done.err
    );
}
