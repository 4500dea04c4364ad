//! A thread at one moment: what changed, who wrote it, which way was taken, and what two moments differ in.

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::threads::{begin, line};

/// a → b → a until `n` is 2.
fn round() -> Value {
    json!({
        "key:n": {"type": "integer", "reducer": "add"},
        "key:log": {"type": "array", "reducer": "append"},
        "key:mode": {"enum": ["x", "y"]},
        "key:word": {"type": ["string", "null"]},
        "node:a": {"kind": "assign", "config": {"set": {"n": "1", "log": "'a'"}}},
        "node:b": {"kind": "assign", "config": {"set": {"mode": "'x'"}}},
        "edge:1": {"from": "__start__", "to": "a"},
        "edge:2": {"from": "a", "to": "b", "when": "state.n < 2"},
        "edge:3": {"from": "a", "to": "__end__", "when": "state.n >= 2"},
        "edge:4": {"from": "b", "to": "a"}
    })
}

fn key<'a>(snapshot: &'a Value, name: &str) -> &'a Value {
    let keys = snapshot["keys"].as_array().unwrap();
    keys.iter().find(|key| key["key"] == name).unwrap()
}

fn counts(snapshot: &Value, list: &str) -> Vec<String> {
    let mut counts: Vec<String> = (snapshot[list].as_array().unwrap().iter())
        .map(|count| match count.get("node") {
            Some(node) => format!("{} {}", node.as_str().unwrap(), count["runs"]),
            None => format!(
                "{}>{} {}",
                count["from"].as_str().unwrap(),
                count["to"].as_str().unwrap(),
                count["times"]
            ),
        })
        .collect();
    counts.sort();
    counts
}

async fn of(app: &App, thread: &str, checkpoint: Option<&str>) -> Value {
    app.ok(
        "thread.snapshot",
        json!({"threadId": thread, "checkpointId": checkpoint}),
    )
    .await
}

/// The thread of a run of this graph, and its checkpoints from the oldest on.
async fn ran(app: &mut App, graph: &str) -> (String, Vec<String>) {
    let (run, _) = app.run(begin(graph)).await;
    assert_eq!(run["status"], "done", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let ids = list["checkpoints"].as_array().unwrap().iter().rev();
    let ids = ids
        .map(|found| found["id"].as_str().unwrap().to_owned())
        .collect();
    (thread, ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_says_what_changed_by_whom_and_which_way_was_taken() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Round", round()).await;
    let (thread, ids) = ran(&mut app, &graph).await;

    let head = of(&app, &thread, None).await;
    assert_eq!(head["isHead"], true);
    assert_eq!(counts(&head, "visits"), ["a 2", "b 1"]);
    let ways = ["__start__>a 1", "a>__end__ 1", "a>b 1", "b>a 1"];
    assert_eq!(counts(&head, "taken"), ways);
    assert_eq!(
        (head.get("counted"), &head["next"], &head["tasks"]),
        (None, &json!([]), &json!([]))
    );
    let n = key(&head, "n");
    assert_eq!(
        (
            &n["change"],
            &n["value"]["value"],
            &n["previous"]["value"],
            &n["writers"]
        ),
        (&json!("changed"), &json!(2), &json!(1), &json!(["a"]))
    );
    assert_eq!(
        (&n["declared"], &n["reducer"]),
        (&json!("integer"), &json!("add"))
    );
    let log = key(&head, "log");
    assert_eq!(
        (&log["change"], &log["value"]["length"]),
        (&json!("appended"), &json!(2))
    );
    let mode = key(&head, "mode");
    assert_eq!(
        (
            &mode["change"],
            mode.get("previous"),
            &mode["writers"],
            &mode["declared"]
        ),
        (&json!("same"), None, &json!([]), &json!("enum"))
    );
    let word = key(&head, "word");
    assert_eq!(
        (&word["change"], word.get("value"), &word["declared"]),
        (&json!("same"), None, &json!("string | null"))
    );
    let led = &head["previousTasks"][0];
    assert_eq!((&led["node"], &led["status"]), (&json!("a"), &json!("done")));
    assert_eq!(led["result"]["value"]["n"], 1, "{led}");
    assert!(led["millis"].is_u64());

    // input, start, a, b, a: the fourth is what b led to.
    let past = of(&app, &thread, Some(&ids[3])).await;
    assert_eq!((&past["isHead"], &past["next"]), (&json!(false), &json!(["a"])));
    assert_eq!(counts(&past, "visits"), ["a 1", "b 1"]);
    assert_eq!(counts(&past, "taken"), ["__start__>a 1", "a>b 1", "b>a 1"]);
    let mode = key(&past, "mode");
    assert_eq!(
        (&mode["change"], &mode["writers"]),
        (&json!("added"), &json!(["b"]))
    );
    assert_eq!(
        (&past["tasks"][0]["node"], &past["tasks"][0]["status"]),
        (&json!("a"), &json!("done")),
        "what ran from there"
    );
    assert_eq!(past["checkpoint"]["id"], ids[3].as_str());

    let unknown = json!({"threadId": thread, "checkpointId": "none"});
    assert_eq!(app.refused("thread.snapshot", unknown).await.code, "not-found");
    let unknown = json!({"threadId": "none"});
    assert_eq!(app.refused("thread.snapshot", unknown).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_of_a_checkpoint_shows_the_way_that_led_to_what_was_copied() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    // After a and b.
    let middle = of(&app, &thread, Some(&ids[3])).await;
    assert_eq!(counts(&middle, "visits"), ["a 1", "b 1"]);
    let copy = json!({"threadId": thread, "checkpointId": ids[3], "asNode": "__copy__", "values": null});
    let copied = app.ok("thread.update", copy).await;
    let there = of(&app, &thread, copied["checkpointId"].as_str()).await;
    for what in ["visits", "taken"] {
        assert_eq!(counts(&there, what), counts(&middle, what));
    }
    // A replay begins with a checkpoint of its own, which is no second visit of what led to its parent.
    let replay = json!({"type": "replay", "checkpointId": ids[3]});
    let (run, _) = app.run(json!({"threadId": thread, "action": replay})).await;
    assert_eq!(run["status"], "done", "{run}");
    let end = of(&app, &thread, None).await;
    assert_eq!(counts(&end, "visits"), ["a 1", "b 1", "c 1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_shows_as_an_edit_and_takes_the_place_of_the_nodes_edges() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let mut step = begin(&graph);
    step["singleStep"] = true.into();
    let (run, _) = app.run(step).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let live = of(&app, &thread, None).await;
    assert_eq!(
        (&live["next"], &live["tasks"][0]["status"]),
        (&json!(["b"]), &json!("waiting"))
    );
    let edit = json!({"threadId": thread, "values": {"n": 5}, "asNode": "b"});
    app.ok("thread.update", edit).await;
    let edited = of(&app, &thread, None).await;
    let n = key(&edited, "n");
    assert_eq!(
        (&n["change"], &n["writers"]),
        (&json!("added"), &json!(["b"])),
        "an edit is written by the node that it was made as"
    );
    assert_eq!(key(&edited, "log")["writers"], json!([]));
    assert_eq!(counts(&edited, "taken"), ["__start__>a 1", "a>b 1", "b>c 1"]);
    assert_eq!(counts(&edited, "visits"), ["a 1"], "b was not run");
    let on = json!({"threadId": thread, "action": {"type": "continue"}});
    app.run(on).await;
    let end = of(&app, &thread, None).await;
    assert_eq!(counts(&end, "visits"), ["a 1", "c 1"]);
    assert_eq!(
        counts(&end, "taken"),
        ["__start__>a 1", "a>b 1", "b>c 1", "c>__end__ 1"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_of_the_state_are_read_by_pointer_and_range() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let newest = ids.last().unwrap().as_str();
    for checkpoint in [None, Some(newest)] {
        let ask = |pointer: &str, offset: u32, limit: u32| json!({"threadId": thread, "checkpointId": checkpoint, "pointer": pointer, "offset": offset, "limit": limit});
        let part = app.ok("thread.value", ask("/log", 1, 1)).await;
        assert_eq!(
            (&part["value"], &part["length"], &part["kind"]),
            (&json!(["b"]), &json!(3), &json!("array"))
        );
        let rest = app.ok("thread.value", ask("/log", 1, 0)).await;
        assert_eq!(rest["value"], json!(["b", "c"]));
        assert_eq!(app.ok("thread.value", ask("/log/2", 0, 0)).await["value"], "c");
        for (pointer, code) in [
            ("log", "invalid-request"),
            ("/nothing", "not-found"),
            ("/log/3", "not-found"),
            ("/log/0/x", "not-found"),
            ("/__start__", "not-found"),
        ] {
            let refused = app.refused("thread.value", ask(pointer, 0, 0)).await;
            assert_eq!(refused.code, code, "{pointer} of {checkpoint:?}");
        }
    }
    // A past state is that of then.
    assert_eq!(app.state(&thread, Some(&ids[3])).await["log"], json!(["a", "b"]));
    for pointer in ["", "/log"] {
        let unknown = json!({"threadId": thread, "checkpointId": "none", "pointer": pointer});
        let refused = app.refused("thread.value", unknown).await;
        assert_eq!(refused.code, "not-found");
        assert!(refused.message.contains("checkpoint none"), "{refused:?}");
    }
    let nobody = json!({"threadId": "nobody", "pointer": ""});
    assert_eq!(app.refused("thread.value", nobody).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_moments_are_compared_with_the_last_one_that_both_share() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let side =
        |thread: &str, checkpoint: Option<&str>| json!({"threadId": thread, "checkpointId": checkpoint});
    let both = json!({"left": side(&thread, Some(&ids[2])), "right": side(&thread, None)});
    let found = app.ok("thread.compare", both).await;
    let places: Vec<(&Value, &Value)> = (found["differences"].as_array().unwrap().iter())
        .map(|difference| (&difference["pointer"], &difference["change"]))
        .collect();
    let added = json!("appended");
    assert_eq!(places, [(&json!("/log/1"), &added), (&json!("/log/2"), &added)]);
    assert_eq!(
        (&found["commonAncestor"], &found["truncated"]),
        (&json!(ids[2]), &json!(false))
    );
    assert_eq!(
        (&found["left"]["id"], &found["right"]["id"]),
        (&json!(ids[2]), &json!(ids[4]))
    );

    // A branch from the second step: what both continue is where they part.
    let replay = json!({"threadId": thread, "action": {"type": "replay", "checkpointId": ids[2]}});
    app.run(replay).await;
    let both = json!({"left": side(&thread, Some(&ids[4])), "right": side(&thread, None)});
    let found = app.ok("thread.compare", both).await;
    assert_eq!(found["differences"], json!([]));
    assert_eq!(found["equalKeys"], json!(["log"]));
    let shared = found["commonAncestor"].as_str().unwrap();
    assert!(
        ids[1].as_str() <= shared && shared <= ids[2].as_str(),
        "{shared} of {ids:?}"
    );

    let (other, _) = ran(&mut app, &graph).await;
    let both = json!({"left": side(&thread, None), "right": side(&other, None)});
    let found = app.ok("thread.compare", both).await;
    assert_eq!(
        (found.get("commonAncestor"), &found["differences"]),
        (None, &json!([])),
        "threads share no checkpoint"
    );
    let none = json!({"left": side(&thread, Some("none")), "right": side(&thread, None)});
    assert_eq!(app.refused("thread.compare", none).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_whose_graph_was_thrown_away_is_still_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    app.ok("graph.close", json!({"graphId": graph, "discard": true}))
        .await;
    app.close().await;
    let app = App::open(dir.path()).await;
    let past = of(&app, &thread, Some(&ids[2])).await;
    assert_eq!((&past["next"], &past["tasks"]), (&json!(["b"]), &json!([])));
    let keys = past["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1, "only what is stored is known: {keys:?}");
    assert_eq!(
        (
            &keys[0]["key"],
            &keys[0]["declared"],
            &keys[0]["value"]["value"],
            &keys[0]["change"]
        ),
        (&json!("log"), &json!("any"), &json!(["a"]), &json!("added"))
    );
    assert_eq!(app.state(&thread, None).await, json!({"log": ["a", "b", "c"]}));
    let on = json!({"threadId": thread, "action": {"type": "continue"}});
    let refused = app.refused("run.start", on).await;
    assert_eq!(refused.code, "not-found");
    assert!(refused.message.contains("thrown away"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_task_of_a_step_went_its_own_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let set = |name: &str| json!({"kind": "assign", "config": {"set": {"log": format!("'{name}'")}}});
    let records = json!({
        "key:log": {"type": "array", "reducer": "append"},
        "node:a": set("a"), "node:b": set("b"), "node:c": set("c"), "node:d": set("d"),
        "edge:1": {"from": "__start__", "to": "a"},
        "edge:2": {"from": "__start__", "to": "b"},
        "edge:3": {"from": "a", "to": "c"},
        "edge:4": {"from": "b", "to": "d"},
        "edge:5": {"from": "c", "to": "__end__"},
        "edge:6": {"from": "d", "to": "__end__"}
    });
    let graph = app.draft("Two", records).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let ways = [
        "__start__>a 1",
        "__start__>b 1",
        "a>c 1",
        "b>d 1",
        "c>__end__ 1",
        "d>__end__ 1",
    ];
    let head = of(&app, &thread, None).await;
    assert_eq!(counts(&head, "taken"), ways);
    assert_eq!(counts(&head, "visits"), ["a 1", "b 1", "c 1", "d 1"]);
    assert_eq!(key(&head, "log")["writers"], json!(["c", "d"]));
    let before = of(&app, &thread, Some(&ids[2])).await;
    assert_eq!(counts(&before, "taken"), ways[..4]);
    let led: Vec<(&Value, &Value)> = (before["previousTasks"].as_array().unwrap().iter())
        .map(|task| (&task["node"], &task["targets"]))
        .collect();
    assert_eq!(led, [(&json!("a"), &json!(["c"])), (&json!("b"), &json!(["d"]))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_and_an_edge_say_where_they_came_from() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Round", round()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let asked = json!({"threadId": thread, "pointer": "/mode"});
    let found = app.ok("thread.provenance", asked).await;
    let first = &found["writes"][0];
    assert_eq!(
        (&first["origin"], &first["writers"][0]["node"]),
        (&json!("task"), &json!("b"))
    );
    assert_eq!(first["writers"][0]["reads"], json!({"kind": "keys", "keys": []}));
    assert_eq!(
        (&first["change"], &first["after"]["value"]),
        (&json!("added"), &json!("x"))
    );
    let last = of(&app, &thread, Some(ids.last().unwrap())).await;
    let record = &last["previousTasks"][0]["record"];
    let edges: Vec<(&str, &Value)> = (record["decisions"].as_array().unwrap().iter())
        .map(|decision| (decision["edge"].as_str().unwrap(), &decision["result"]["value"]))
        .collect();
    assert_eq!(edges, [("2", &json!(false)), ("3", &json!(true))], "{record}");
    assert_eq!(
        record["decisions"][1]["values"],
        json!([{"key": "n", "value": {"value": 2}}])
    );
    let missing = app
        .refused(
            "thread.provenance",
            json!({"threadId": thread, "pointer": "/none"}),
        )
        .await;
    assert!(missing.message.contains("/none"), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_history_of_a_key_is_the_steps_that_wrote_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Round", round()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let history = app
        .ok("thread.keyHistory", json!({"threadId": thread, "key": "n"}))
        .await;
    let brief = |history: &Value| -> Vec<String> {
        let writes = history["writes"].as_array().unwrap().iter();
        let one = |write: &Value| {
            let value = |side: &str| write[side]["value"].to_string();
            format!(
                "{} {}>{} {}",
                write["step"],
                value("before"),
                value("after"),
                write["writers"]
            )
        };
        writes.map(one).collect()
    };
    // A number with a reducer begins with zero; the last write is the first that is listed.
    assert_eq!(brief(&history), ["3 1>2 [\"a\"]", "1 0>1 [\"a\"]"]);
    assert_eq!((&history["total"], &history["more"]), (&json!(2), &json!(false)));

    let page = json!({"threadId": thread, "key": "n", "limit": 1});
    let newest = app.ok("thread.keyHistory", page).await;
    assert_eq!((brief(&newest).len(), &newest["more"]), (1, &json!(true)));
    let before = json!({"threadId": thread, "key": "n", "before": newest["writes"][0]["checkpointId"]});
    let older = app.ok("thread.keyHistory", before).await;
    assert_eq!(
        (brief(&older), &older["more"]),
        (vec!["1 0>1 [\"a\"]".to_owned()], &json!(false))
    );

    // Up to a moment of the past, and the other node's key.
    let past = json!({"threadId": thread, "key": "n", "checkpointId": ids[2]});
    assert_eq!(app.ok("thread.keyHistory", past).await["total"], 1);
    let mode = app
        .ok("thread.keyHistory", json!({"threadId": thread, "key": "mode"}))
        .await;
    assert_eq!(brief(&mode), ["2 null>\"x\" [\"b\"]"]);
    assert_eq!(mode["writes"][0]["change"], "added");

    let first = |condition: &str| json!({"threadId": thread, "key": "n", "firstWhere": condition});
    let found = app.ok("thread.keyHistory", first("value >= 1")).await;
    assert_eq!(found["first"]["step"], 1, "the oldest, not the newest");
    let none = app.ok("thread.keyHistory", first("value > 9")).await;
    assert!(none.get("first").is_none(), "{none}");
    for wrong in ["value >", "missing.part.of > 1"] {
        let problem = app.refused("thread.keyHistory", first(wrong)).await;
        assert!(problem.message.contains("First where"), "{wrong}: {problem:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inputs_edits_and_forks_say_who_made_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
    settings["name"] = "Ada".into();
    app.ok("settings.set", settings.clone()).await;
    let (thread, ids) = ran(&mut app, &graph).await;
    let replay = json!({"type": "replay", "checkpointId": ids[3]});
    app.run(json!({"threadId": thread, "action": replay})).await;
    // The next person has no name, and is not taken for Ada.
    settings.as_object_mut().unwrap().remove("name");
    app.ok("settings.set", settings).await;
    let edit = json!({"threadId": thread, "values": {"n": 5}, "asNode": "b", "checkpointId": ids[2]});
    app.ok("thread.update", edit).await;
    let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let by = |source: &str| -> Vec<Value> {
        let found = list["checkpoints"].as_array().unwrap().iter();
        let found = found.filter(|checkpoint| checkpoint["source"] == source);
        found.map(|checkpoint| checkpoint["by"].clone()).collect()
    };
    assert_eq!(by("input"), [json!("Ada")]);
    assert_eq!(by("fork"), [json!("Ada")]);
    assert_eq!(by("update"), [Value::Null]);
    assert!(
        by("loop").iter().all(Value::is_null),
        "what followed was made by nodes"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_of_now_is_of_one_checkpoint_while_its_thread_goes_on() {
    const LAST: i64 = 300;
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    // After each step `n` is the number of the step.
    let counting = json!({
        "key:n": {"type": "integer", "reducer": "add"},
        "node:a": {"kind": "assign", "config": {"set": {"n": "1"}}},
        "edge:1": {"from": "__start__", "to": "a"},
        "edge:2": {"from": "a", "to": "a", "when": format!("state.n < {LAST}")}
    });
    let graph = app.draft("Counting", counting).await;
    let mut start = begin(&graph);
    start["recursionLimit"] = json!(2 * LAST);
    let run = app.ok("run.start", start).await;
    let thread = run["threadId"].as_str().unwrap();
    let mut steps = std::collections::BTreeSet::new();
    while !steps.contains(&LAST) {
        let snapshot = of(&app, thread, None).await;
        let step = snapshot["checkpoint"]["step"].as_i64().unwrap_or(-1);
        if step > 0 {
            assert_eq!(key(&snapshot, "n")["value"]["value"], step, "{snapshot}");
        }
        steps.insert(step);
    }
    assert!(steps.len() > 3, "it was looked at while it ran: {steps:?}");
}
