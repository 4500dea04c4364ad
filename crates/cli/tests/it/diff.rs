//! `superstep diff`: two moments of any threads, and the ways to them.

use serde_json::{Value as Json, json};

use crate::User;

/// Counts to two, then takes one of two ways.
fn graph(user: &User) -> String {
    let graph = json!({
        "format": "superstep/1", "name": "Ways",
        "state": {
            "n": {"type": "integer", "default": 0}, "big": {"type": "boolean", "default": false},
            "text": {"type": "string"}, "items": {"type": "array"}, "same": {"type": "integer"}
        },
        "nodes": {
            "count": {"kind": "assign", "config": {"set": {"n": "state.n + 1"}}},
            "small": {"kind": "assign", "config": {"set": {"n": "state.n * 10"}}},
            "large": {"kind": "assign", "config": {"set": {"n": "state.n * 100"}}}
        },
        "edges": [
            {"from": "__start__", "to": "count"},
            {"from": "count", "route": "'yes' if state.big else 'no'", "paths": {"yes": "large", "no": "small"}}
        ]
    });
    user.graph("graph.json", &graph)
}

fn run(user: &User, file: &str, thread: &str, input: &Json) {
    user.expect(
        0,
        &["run", file, "--thread", thread, "--input", &input.to_string()],
    );
}

fn of(found: &Json) -> Vec<(String, String)> {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let differences = found["differences"].as_array().unwrap().iter();
    differences
        .map(|one| (text(&one["pointer"]), text(&one["change"])))
        .collect()
}

#[test]
fn two_threads_differ_in_state_and_way() {
    let user = User::new();
    let file = graph(&user);
    let text = "The front brake squeals when it is wet, the rear one does not.";
    run(
        &user,
        &file,
        "t1",
        &json!({"text": text, "same": 1, "items": [{"id": "a", "v": 1}, {"id": "b"}, {"id": "c"}]}),
    );
    run(
        &user,
        &file,
        "t@2",
        &json!({
            "text": text.replace("wet", "cold"), "same": 1, "big": true,
            "items": [{"id": "c"}, {"id": "a", "v": 2}, {"id": "b"}]
        }),
    );
    let found = user.expect(0, &["diff", "t1", "t@2", "--json"]).json();
    let changed = |pointer: &str, change: &str| (pointer.to_owned(), change.to_owned());
    let mut differences = of(&found);
    differences.sort();
    assert_eq!(
        differences,
        [
            changed("/big", "changed"),
            changed("/items/0", "moved"),
            changed("/items/1/v", "changed"),
            changed("/n", "changed"),
            changed("/text", "changed"),
        ],
        "{found:#}"
    );
    assert_eq!(
        (&found["equal_keys"], &found["truncated"]),
        (&json!(["same"]), &json!(false))
    );
    assert_eq!(
        (&found["paths"]["only_left"], &found["paths"]["only_right"]),
        (&json!(["small"]), &json!(["large"]))
    );
    assert_eq!(found["common_ancestor"], Json::Null);
    assert_eq!(found["right"]["thread_id"], "t@2");

    let shown = user.expect(0, &["diff", "t1", "t@2"]).out;
    for line in [
        "< step 2  small",
        "> step 2  large",
        "< only here: small",
        "= items/0  moved from items/2",
        "~ items/1/v  1 -> 2",
        "~ n  10 -> 100",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line}:\n{shown}");
    }
    assert!(shown.contains("[-wet-]{+cold+}, the rear"), "{shown}");
    let one = user
        .expect(0, &["diff", "t1", "t@2", "--key", "n", "--json"])
        .json();
    assert_eq!(of(&one), [changed("/n", "changed")]);
}

#[test]
fn moments_and_branches_of_one_thread() {
    let user = User::new();
    let file = graph(&user);
    run(&user, &file, "t1", &json!({"same": 1}));
    let at = |step: i64| {
        let history = user.expect(0, &["history", "t1", "--json"]).json();
        let all = history.as_array().unwrap();
        let state = all
            .iter()
            .find(|state| state["metadata"]["step"] == step)
            .unwrap();
        state["config"]["configurable"]["checkpoint_id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (first, end) = (at(1), at(2));
    // A moment by its step, its checkpoint and its link is the same.
    let link = format!("superstep://thread/t1?at={first}");
    for name in ["t1@1", &format!("t1@{first}"), &link] {
        let found = user.expect(0, &["diff", name, "t1", "--json"]).json();
        assert_eq!(found["common_ancestor"], json!(first), "{name}");
        assert_eq!(found["paths"]["only_right"], json!(["small"]), "{name}");
        assert_eq!(found["paths"]["stretches"][0]["left"], json!([]), "{name}");
    }
    // A branch that was edited takes the other way.
    let edit = [
        "update",
        "t1",
        "--values",
        r#"{"big": true}"#,
        "--checkpoint",
        &first,
    ];
    user.expect(0, &edit);
    let found = user
        .expect(0, &["diff", &format!("t1@{end}"), "t1", "--json"])
        .json();
    assert_eq!(found["common_ancestor"], json!(first));
    let stretch = &found["paths"]["stretches"][0];
    assert_eq!(
        (&stretch["same"], &stretch["right"][0]["source"]),
        (&json!(false), &json!("update")),
        "{found:#}"
    );
    let equal = user.expect(0, &["diff", "t1", "t1"]);
    assert!(equal.err.contains("The states are equal."), "{}", equal.err);

    // The graph is gone: the stored values still say what differs.
    std::fs::remove_file(&file).unwrap();
    let bare = user.expect(0, &["diff", "t1@1", &format!("t1@{end}")]);
    assert!(bare.out.contains("~ n  1 -> 10"), "{}", bare.out);
    assert!(bare.err.contains("--graph"), "{}", bare.err);
    for (wrong, part) in [
        ("nobody", "no thread nobody"),
        ("t1@99", "no step 99"),
        ("t1@nothing", "no checkpoint nothing"),
        ("superstep://graph/t1", "no link"),
    ] {
        let refused = user.expect(2, &["diff", "t1", wrong]);
        assert!(refused.err.contains(part), "{wrong}: {}", refused.err);
    }
}

#[test]
fn a_key_that_neither_moment_has_is_said() {
    let user = User::new();
    let file = graph(&user);
    run(&user, &file, "t", &json!({"text": "x"}));
    let said = |key: &str| user.expect(0, &["diff", "t@1", "t", "--key", key]).err;
    assert!(said("nope").contains("Neither moment has a value of the key nope."));
    assert!(!said("n").contains("Neither moment"));
}
