//! Versions of graphs that runs keep with their threads: listed, read, named, restored; and a thread that goes on after its
//! graph was changed.

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::inbox::waiting;
use crate::threads::{begin, thread_of};

fn asks() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:word": {"type": "string"},
        "node:first": {"kind": "assign", "config": {"set": {"log": "'first'"}}},
        "node:review": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
        "node:last": {"kind": "assign", "config": {"set": {"log": "'last'"}}},
        "edge:1": {"from": "__start__", "to": "first"},
        "edge:2": {"from": "first", "to": "review"},
        "edge:3": {"from": "review", "to": "last"},
        "edge:4": {"from": "last", "to": "__end__"}
    })
}

async fn apply(app: &App, graph: &str, ops: Value) {
    let view = app.ok("graph.get", json!({"graphId": graph})).await;
    app.ok(
        "graph.apply",
        json!({"graphId": graph, "baseRev": view["rev"], "ops": ops}),
    )
    .await;
}

/// `review` becomes `approve`, with all that leads to it.
async fn rename(app: &App, graph: &str) {
    let records = asks();
    let edge = |from: &str, to: &str| json!({"from": from, "to": to});
    let ops = json!([
        {"id": "edge:2", "from": records["edge:2"], "to": edge("first", "approve")},
        {"id": "edge:3", "from": records["edge:3"], "to": edge("approve", "last")},
        {"id": "node:review", "from": records["node:review"], "to": null},
        {"id": "node:approve", "from": null, "to": records["node:review"]},
    ]);
    apply(app, graph, ops).await;
}

async fn versions(app: &App, graph: &str) -> Vec<Value> {
    let list = app.ok("graph.versions", json!({"graphId": graph})).await;
    list["versions"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_keeps_its_version_which_is_listed_read_named_and_restored() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", asks()).await;
    let thread = thread_of(&mut app, begin(&graph)).await;
    let of = json!({"threadId": thread, "graphId": graph});
    assert_eq!(app.ok("thread.graph", of.clone()).await["moved"], false);

    // Moving a node is no other version.
    apply(
        &app,
        &graph,
        json!([{"id": "layout:first", "from": null, "to": [40, 40]}]),
    )
    .await;
    assert_eq!(app.ok("thread.graph", of.clone()).await["moved"], false);
    let listed = versions(&app, &graph).await;
    let kept = listed
        .iter()
        .find(|version| version["threadId"] == thread.as_str())
        .unwrap();
    assert_eq!(
        (&kept["threads"], &kept["nodes"], &kept["edges"]),
        (&json!(1), &json!(3), &json!(4))
    );

    rename(&app, &graph).await;
    let moved = app.ok("thread.graph", of.clone()).await;
    assert_eq!((&moved["moved"], &moved["version"]), (&json!(true), &kept["id"]));
    let task = &moved["report"]["tasks"][0];
    assert_eq!(
        (&task["node"], &task["change"], &task["candidates"]),
        (&json!("review"), &json!("gone"), &json!(["approve"]))
    );
    // The thread is read with the graph that it ran on.
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    assert_eq!(snapshot["next"], json!(["review"]), "its question still waits");

    let content = app
        .ok("graph.version", json!({"graphId": graph, "id": kept["id"]}))
        .await;
    let ids: Vec<&str> = content["records"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|record| record["id"].as_str())
        .collect();
    assert!(
        ids.contains(&"node:review") && !ids.contains(&"node:approve"),
        "{ids:?}"
    );

    let name = json!({"graphId": graph, "id": kept["id"], "name": "  Before   the rename "});
    let named = app.ok("graph.nameVersion", name).await;
    let named = named["versions"].as_array().unwrap();
    assert!(
        named
            .iter()
            .any(|version| version["name"] == "Before the rename" && version["threads"] == 1)
    );

    let back = app
        .ok("graph.restore", json!({"graphId": graph, "version": kept["id"]}))
        .await;
    let records = back["records"].as_array().unwrap();
    assert!(records.iter().any(|record| record["id"] == "node:review"));
    assert_eq!(
        app.ok("thread.graph", of).await["moved"],
        false,
        "the graph is what the thread ran on"
    );

    // Its name keeps a version when its thread is gone.
    app.ok("thread.delete", json!({"threadId": thread})).await;
    let left = versions(&app, &graph).await;
    let named = left
        .iter()
        .find(|version| version["name"] == "Before the rename")
        .unwrap();
    assert_eq!(named["threads"], 0);
    let unnamed = app
        .ok("graph.nameVersion", json!({"graphId": graph, "id": named["id"]}))
        .await;
    assert!(
        unnamed["versions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|version| version.get("name").is_none())
    );
}

#[tokio::test]
async fn a_named_version_has_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let graph = app.draft("Words", asks()).await;
    let noted = async |extra: Value| {
        let mut request = json!({"graphId": graph, "name": "First"});
        request
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        let list = app.ok("graph.nameVersion", request).await;
        let list = list["versions"].as_array().unwrap().clone();
        let mut named = list.into_iter().filter(|version| version.get("name").is_some());
        let one = named.next();
        assert!(named.next().is_none(), "one version has a name");
        one.map(|one| (one["id"].clone(), one.get("note").cloned()))
    };
    let note = async |extra: Value| noted(extra).await.unwrap().1;
    assert_eq!(note(json!({})).await, None);
    let written = json!("Before the cut.\n\nIt asked twice.");
    assert_eq!(
        note(json!({"note": "\n Before the cut.\n\nIt asked twice. "})).await,
        Some(written.clone())
    );
    assert_eq!(
        note(json!({"name": "Second"})).await,
        Some(written.clone()),
        "absent keeps it"
    );
    let id = noted(json!({})).await.unwrap().0;
    assert_eq!(
        note(json!({"id": id, "name": "Third"})).await,
        Some(written.clone()),
        "by its id, too"
    );

    let long = json!({"graphId": graph, "name": "First", "note": "x".repeat(16 * 1024 + 1)});
    let refused = app.refused("graph.nameVersion", long).await;
    assert_eq!(
        (refused.code.as_str(), refused.remedy.as_deref()),
        ("invalid-request", Some("Shorten it."))
    );
    assert_eq!(
        note(json!({})).await,
        Some(written.clone()),
        "a refused note changes nothing"
    );

    assert_eq!(note(json!({"note": " "})).await, None, "an empty one removes it");
    note(json!({"note": written})).await;
    app.ok("graph.nameVersion", json!({"graphId": graph})).await;
    assert_eq!(
        note(json!({})).await,
        None,
        "a name that is taken away takes its note along"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_whose_next_node_is_gone_goes_on_only_as_somebody_says() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", asks()).await;
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(thread_of(&mut app, begin(&graph)).await);
    }
    let questions = waiting(&app).await;
    rename(&app, &graph).await;
    let answer = |thread: &str, extra: Value| {
        let question = questions
            .iter()
            .find(|question| question["threadId"] == thread)
            .unwrap();
        let answers = json!({question["interruptId"].as_str().unwrap(): "tea"});
        let mut request =
            json!({"threadId": thread, "graphId": graph, "action": {"type": "resume", "answers": answers}});
        for (name, value) in extra.as_object().unwrap() {
            request[name] = value.clone();
        }
        request
    };
    let refused = app.refused("run.start", answer(&threads[0], json!({}))).await;
    assert_eq!(refused.code, "graph-changed");
    assert!(refused.message.contains("review"), "{refused:?}");

    // Where an answer would lead is not known before that: it is no way to the end.
    let question = &questions[0];
    let preview = json!({
        "threadId": question["threadId"], "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"], "answers": ["tea"]
    });
    let refused = app.refused("question.preview", preview).await;
    assert!(refused.message.contains("no node review"), "{refused:?}");

    let (run, _) = app
        .run(answer(&threads[0], json!({"graphVersion": "recorded"})))
        .await;
    assert_eq!(run["status"], "done");
    let state = app.state(&threads[0], None).await;
    assert_eq!(
        (&state["word"], &state["log"]),
        (&json!("tea"), &json!(["first", "last"]))
    );

    let unknown = json!({"graphVersion": "current", "renamed": {"review": "nobody"}});
    assert_eq!(
        app.refused("run.start", answer(&threads[1], unknown)).await.code,
        "invalid-request"
    );
    let mapped = json!({"graphVersion": "current", "renamed": {"review": "approve"}});
    let (run, _) = app.run(answer(&threads[1], mapped)).await;
    assert_eq!(run["status"], "asking", "the node that runs in its place asks");
    let asked = waiting(&app).await;
    let asked = asked
        .iter()
        .find(|question| question["threadId"] == threads[1].as_str() && question["node"] == "approve")
        .unwrap();
    let on = json!({asked["interruptId"].as_str().unwrap(): "milk"});
    let resume =
        json!({"threadId": threads[1], "graphId": graph, "action": {"type": "resume", "answers": on}});
    assert_eq!(app.run(resume).await.0["status"], "done");
    assert_eq!(app.state(&threads[1], None).await["word"], "milk");

    let without = json!({"threadId": threads[2], "graphId": graph, "action": {"type": "continue"}, "graphVersion": "current"});
    assert_eq!(
        app.run(without).await.0["status"],
        "done",
        "the lost task is what somebody wanted"
    );
}

/// An edit that is half done: a node is there that nobody has filled in, or the text is no graph.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_while_its_graph_is_half_edited() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("graph.json");
    let draft = app.draft("Words", asks()).await;
    let exported = app.ok("graph.export", json!({"graphId": draft})).await;
    let whole = exported["json"].as_str().unwrap();
    std::fs::write(&path, whole).unwrap();
    let opened = app.ok("graph.open", json!({"path": path})).await;
    let graph = opened["graphId"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        thread_of(&mut app, begin(&graph)).await;
    }
    let empty = json!({"kind": "ask", "config": {"question": "", "into": "word"}});
    let edit = json!([
        {"id": "node:ask", "from": null, "to": empty},
        {"id": "edge:5", "from": null, "to": {"from": "last", "to": "ask"}},
    ]);
    apply(&app, &graph, edit).await;
    let input = app.refused("run.start", begin(&graph)).await;
    assert_eq!(
        input.code, "graph-invalid",
        "a new thread runs what is there: {input:?}"
    );

    let mut left = waiting(&app).await;
    let mut answered = async |app: &mut App| {
        let question = left.pop().unwrap();
        let preview = json!({
            "threadId": question["threadId"], "checkpointId": question["checkpointId"],
            "interruptId": question["interruptId"], "answers": ["tea"]
        });
        let preview = app.ok("question.preview", preview).await;
        assert_eq!(
            preview["previews"][0]["end"],
            json!({"type": "done"}),
            "{preview}"
        );
        let of = json!({"threadId": question["threadId"], "checkpointId": question["checkpointId"]});
        app.ok("run.effects", of).await;
        let (run, _) = app.run(crate::inbox::answer(&question, "tea")).await;
        assert_eq!(run["status"], "done", "{run}");
        let thread = question["threadId"].as_str().unwrap();
        assert_eq!(app.state(thread, None).await["log"], json!(["first", "last"]));
    };
    answered(&mut app).await;

    // An edit that takes the asking node away as well: there is only one graph that can go on.
    let records = asks();
    apply(
        &app,
        &graph,
        json!([{"id": "node:review", "from": records["node:review"], "to": null}]),
    )
    .await;
    answered(&mut app).await;

    app.ok("graph.close", json!({"graphId": graph, "discard": true}))
        .await;
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    answered(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nested_graphs_and_programs_belong_to_the_version() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join("lib")).unwrap();
    let write = |name: &str, text: String| std::fs::write(project.join(name), text).unwrap();
    let inner = |node: &str| {
        json!({"format": "superstep/1", "name": "Inner", "state": {"word": {"type": "string"}},
            "nodes": {node: {"kind": "ask", "config": {"question": "Which word?", "into": "word"}}},
            "edges": [{"from": "__start__", "to": node}, {"from": node, "to": "__end__"}]})
        .to_string()
    };
    write("inner.json", inner("review"));
    write("lib/a.js", "export const a = 'x'".into());
    let outer = json!({"format": "superstep/1", "name": "Outer", "state": {"word": {"type": "string"}, "log": {"type": "array", "reducer": "append"}},
        "nodes": {
            "code": {"kind": "code", "config": {"source": "import {a} from './lib/a.js'\nexport default () => ({log: [a]})"}},
            "desk": {"kind": "graph", "config": {"graph": "inner.json", "input": {}, "output": {"word": "result.word"}}}},
        "edges": [{"from": "__start__", "to": "code"}, {"from": "code", "to": "desk"}, {"from": "desk", "to": "__end__"}]});
    write("graph.json", outer.to_string());
    let mut app = App::open(&dir.path().join("data")).await;
    let opened = app
        .ok("graph.open", json!({"path": project.join("graph.json")}))
        .await;
    let graph = opened["graphId"].as_str().unwrap().to_owned();
    assert_eq!(opened["diagnostics"], json!([]));
    let (run, _) = app.run(begin(&graph)).await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let version = app
        .ok("thread.graph", json!({"threadId": thread, "graphId": graph}))
        .await;
    let content = json!({"graphId": graph, "id": version["version"]});
    let files = app.ok("graph.version", content.clone()).await["files"].clone();
    assert_eq!(
        files,
        json!([{"path": "inner.json", "now": "same"}, {"path": "lib/a.js", "now": "same"}])
    );

    write("inner.json", inner("approve"));
    write("lib/a.js", "export const a = 'other'".into());
    let moved = app
        .ok("thread.graph", json!({"threadId": thread, "graphId": graph}))
        .await;
    assert_eq!(moved["moved"], true, "{moved}");
    let task = &moved["report"]["tasks"][0];
    assert!(task.is_object(), "{moved}");
    assert_eq!(
        (&task["path"], &task["node"], &task["change"]),
        (&json!(["desk"]), &json!("review"), &json!("gone"))
    );
    assert_eq!(moved["report"]["programs"], json!(["lib/a.js"]));
    let files = app.ok("graph.version", content).await["files"].clone();
    assert_eq!(files[0], json!({"path": "inner.json", "now": "changed"}));

    // The version that it ran on has the nested graph as it was.
    let question = waiting(&app).await.remove(0);
    let answers = json!({question["interruptId"].as_str().unwrap(): "tea"});
    let resume = json!({"threadId": thread, "graphId": graph, "graphVersion": "recorded",
        "action": {"type": "resume", "answers": answers}});
    let (run, _) = app.run(resume).await;
    assert_eq!(run["status"], "done", "{run}");
    assert_eq!(app.state(&thread, None).await["word"], "tea");
}
