//! How threads stand, and the lists that they are found in.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// a → b → c, each of which leaves its name.
pub(crate) fn line() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:n": {"type": "integer"},
        "node:a": {"kind": "assign", "config": {"set": {"log": "'a'"}}},
        "node:b": {"kind": "assign", "config": {"set": {"log": "'b'"}}},
        "node:c": {"kind": "assign", "config": {"set": {"log": "'c'"}}},
        "edge:1": {"from": "__start__", "to": "a"},
        "edge:2": {"from": "a", "to": "b"},
        "edge:3": {"from": "b", "to": "c"},
        "edge:4": {"from": "c", "to": "__end__"}
    })
}

/// One node of this kind between start and end.
pub(crate) fn only(node: Value) -> Value {
    json!({
        "key:word": {"type": "string"},
        "node:it": node,
        "edge:1": {"from": "__start__", "to": "it"},
        "edge:2": {"from": "it", "to": "__end__"}
    })
}

pub(crate) fn begin(graph: &str) -> Value {
    json!({"graphId": graph, "action": {"type": "input", "input": {}}})
}

pub(crate) async fn thread_of(app: &mut App, start: Value) -> String {
    app.run(start).await.0["threadId"].as_str().unwrap().to_owned()
}

fn ids(list: &Value) -> Vec<&str> {
    let threads = list["threads"].as_array().unwrap();
    threads
        .iter()
        .map(|thread| thread["threadId"].as_str().unwrap())
        .collect()
}

pub(crate) async fn checkpoints(app: &App, thread: &str) -> Vec<Value> {
    let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    list["checkpoints"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_by_status_holds_the_threads_that_stand_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let failing = json!({"kind": "code", "config": {"source": "throw new Error('no');"}});
    let asking = json!({"kind": "ask", "config": {"question": "Which word?", "into": "word"}});
    let endless = json!({"kind": "code", "config": {"source": "while (true) {}", "timeout_ms": 60_000}});
    let line = app.draft("Line", line()).await;
    let failing = app.draft("Failing", only(failing)).await;
    let asking = app.draft("Asking", only(asking)).await;
    let endless = app.draft("Endless", only(endless)).await;
    let done = thread_of(&mut app, begin(&line)).await;
    let mut step = begin(&line);
    step["singleStep"] = true.into();
    let paused = thread_of(&mut app, step).await;
    let failed = thread_of(&mut app, begin(&failing)).await;
    let asks = thread_of(&mut app, begin(&asking)).await;
    let runs = app.ok("run.start", begin(&endless)).await;
    let runs = runs["threadId"].as_str().unwrap().to_owned();
    let endless_runs = |event: &AppEvent| matches!(event, AppEvent::TaskStarted { .. }).then_some(());
    app.until(endless_runs).await;

    let all = [
        ("done", &done),
        ("paused", &paused),
        ("failed", &failed),
        ("asking", &asks),
        ("running", &runs),
    ];
    for (status, thread) in all {
        let found = app.ok("thread.list", json!({"status": status})).await;
        assert_eq!(ids(&found), [thread], "{status}");
        assert_eq!(found["total"], 1, "{status}");
        let view = app.ok("thread.get", json!({"threadId": thread})).await;
        assert_eq!(view["status"], status);
    }
    assert_eq!(
        app.ok("thread.list", json!({"status": "stopped"})).await["total"],
        0
    );
    app.ok("run.stop", json!({"threadId": runs})).await;
    let found = app.ok("thread.list", json!({"status": "stopped"})).await;
    assert_eq!((ids(&found), &found["total"]), (vec![&*runs], &json!(1)));
    assert_eq!(
        app.ok("thread.list", json!({"status": "running"})).await["total"],
        0
    );
    assert_eq!(app.ok("thread.list", json!({})).await["total"], 5);

    let views = |id: &str| json!({"threadId": id});
    let view = app.ok("thread.get", views(&done)).await;
    assert_eq!(
        (&view["step"], &view["checkpoints"], &view["next"], &view["title"]),
        (&json!(3), &json!(5), &json!([]), &json!("Line"))
    );
    assert_eq!(view["head"], checkpoints(&app, &done).await[0]["id"]);
    let view = app.ok("thread.get", views(&asks)).await;
    assert_eq!((&view["questions"], &view["next"]), (&json!(1), &json!(["it"])));
    let view = app.ok("thread.get", views(&failed)).await;
    assert_eq!(
        (&view["run"]["status"], &view["run"]["problem"]["code"]),
        (&json!("failed"), &json!("node-failed"))
    );
    assert_eq!(
        view["updatedAt"], view["run"]["endedAt"],
        "a run that ends after its last checkpoint is the last thing that happened"
    );
    assert!(view["createdAt"].as_str() <= view["updatedAt"].as_str());
    let edit = json!({"threadId": failed, "values": {"word": "right"}, "overwrite": [], "preview": false});
    app.ok("thread.update", edit).await;
    let edited = app.ok("thread.get", json!({"threadId": failed})).await;
    assert_eq!(
        edited["status"], "paused",
        "what was stored after the failed run counts"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_failed_come_in_pages_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let failing = json!({"kind": "code", "config": {"source": "throw new Error('no');"}});
    let failing = app.draft("Failing", only(failing)).await;
    let line = app.draft("Line", line()).await;
    let mut failed = Vec::new();
    for _ in 0..3 {
        failed.push(thread_of(&mut app, begin(&failing)).await);
        thread_of(&mut app, begin(&line)).await;
    }
    failed.reverse();
    let mut seen = Vec::new();
    let mut request = json!({"status": "failed", "limit": 1});
    for page in 0..3 {
        let list = app.ok("thread.list", request.clone()).await;
        seen.extend(ids(&list).into_iter().map(str::to_owned));
        assert_eq!(
            list.get("total"),
            (page == 0).then_some(&json!(3)),
            "the first page says how many there are"
        );
        assert_eq!(list.get("next").is_some(), page < 2, "page {page}: {list}");
        request["after"] = list["next"].clone();
    }
    assert_eq!(seen, failed);
    let exactly = app
        .ok("thread.list", json!({"status": "failed", "limit": 3}))
        .await;
    assert_eq!((ids(&exactly).len(), exactly.get("next")), (3, None));
    let exactly = app.ok("thread.list", json!({"limit": 6})).await;
    assert_eq!(
        (ids(&exactly).len(), exactly.get("next"), &exactly["total"]),
        (6, None, &json!(6))
    );
    let by_id = app.ok("thread.list", json!({"search": failed[1]})).await;
    assert_eq!(ids(&by_id), [&failed[1]], "a thread is found by its id");
    let both = json!({"search": failed[1], "status": "done"});
    assert_eq!(app.ok("thread.list", both).await["total"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_learn_of_a_new_title_and_of_a_thread_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let asking = json!({"kind": "ask", "config": {"question": "Which word?", "into": "word"}});
    let graph = app.draft("Asking", only(asking)).await;
    let thread = thread_of(&mut app, begin(&graph)).await;
    let other = thread_of(&mut app, begin(&graph)).await;
    let title = |to: &str| json!({"threadId": thread, "title": to});
    app.ok("thread.rename", title("Tea\n time ")).await;
    let titled = |event: &AppEvent| match event {
        AppEvent::Thread { thread } if thread.title == "Tea time" => Some(thread.thread_id.clone()),
        _ => None,
    };
    assert_eq!(app.until(titled).await, thread);
    assert_eq!(
        app.refused("thread.rename", title(" \n ")).await.code,
        "invalid-request"
    );
    let nobody = json!({"threadId": "nobody", "title": "x"});
    assert_eq!(app.refused("thread.rename", nobody).await.code, "not-found");
    let kept = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(kept["title"], "Tea time");

    app.ok("thread.delete", json!({"threadId": thread})).await;
    let gone = |event: &AppEvent| match event {
        AppEvent::ThreadDeleted { thread_id } => Some(thread_id.clone()),
        _ => None,
    };
    assert_eq!(app.until(gone).await, thread);
    let again = json!({"threadId": thread});
    assert_eq!(app.refused("thread.delete", again).await.code, "not-found");
    let inbox = app.ok("inbox.list", json!({})).await;
    assert_eq!(
        (&inbox["waiting"], &inbox["questions"][0]["threadId"]),
        (&json!(1), &json!(other)),
        "its question went with it"
    );
    app.ok("thread.delete", json!({"threadId": other})).await;
    let none = |event: &AppEvent| matches!(event, AppEvent::Inbox { waiting: 0 }).then_some(());
    app.until(none).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_shown_before_anything_of_it_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", line()).await;
    let other = app.draft("Other", line()).await;
    let stored = thread_of(&mut app, begin(&graph)).await;
    // Nothing can be stored while somebody writes.
    let writer = rusqlite::Connection::open(dir.path().join("threads.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let started = app.ok("run.start", begin(&graph)).await;
    let young = started["threadId"].as_str().unwrap().to_owned();
    let view = app.ok("thread.get", json!({"threadId": young})).await;
    assert_eq!(view.get("graphPath"), None, "a draft has no file");
    assert_eq!(
        (&view["status"], &view["step"], &view["checkpoints"]),
        (&json!("running"), &json!(-1), &json!(0))
    );
    assert_eq!(
        (view.get("head"), &view["title"], &view["createdAt"]),
        (None, &json!("Line"), &started["startedAt"])
    );
    for (request, wanted) in [
        (json!({}), vec![&*young, &*stored]),
        (json!({"graphId": graph}), vec![&*young, &*stored]),
        (json!({"graphId": other}), vec![]),
        (json!({"status": "running"}), vec![&*young]),
        (json!({"status": "done"}), vec![&*stored]),
        (json!({"search": young}), vec![&*young]),
    ] {
        let found = app.ok("thread.list", request.clone()).await;
        assert_eq!(ids(&found), wanted, "{request}");
        assert_eq!(found["total"], wanted.len(), "{request}");
    }
    let snapshot = app.ok("thread.snapshot", json!({"threadId": young})).await;
    assert_eq!(
        (snapshot.get("checkpoint"), &snapshot["isHead"]),
        (None, &json!(true))
    );
    let copy = json!({"threadId": young, "title": "Copy"});
    assert_eq!(app.refused("thread.copy", copy).await.code, "invalid-request");
    writer.execute_batch("ROLLBACK").unwrap();
    let done = |event: &AppEvent| match event {
        AppEvent::Run { run } if run.thread_id == young => run.ended_at.clone(),
        _ => None,
    };
    app.until(done).await;
    let view = app.ok("thread.get", json!({"threadId": young})).await;
    assert_eq!((&view["status"], &view["step"]), (&json!("done"), &json!(3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_another_program_are_titled_by_their_own_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let storage = format!("sqlite:{}", dir.path().join("shared.db").display());
    let open = async |name: &str| {
        App::open_with(superstep_workbench::Options::new(dir.path().join(name)).storage(storage.clone()))
            .await
    };
    let mut one = open("one").await;
    let graph = one.draft("Line", line()).await;
    for words in [
        json!({"log": ["first"]}),
        json!({"log": ["second"]}),
        json!({"n": 1}),
    ] {
        let start = json!({"graphId": graph, "action": {"type": "input", "input": words}});
        let thread = thread_of(&mut one, start).await;
        // A second input does not change what the thread is called.
        let more = json!({"threadId": thread, "action": {"type": "input", "input": {"log": ["later"]}}});
        one.run(more).await;
    }
    let two = open("two").await;
    let theirs = ids(&one.ok("thread.list", json!({})).await)[0].to_owned();
    assert_eq!(
        checkpoints(&two, &theirs).await.len(),
        10,
        "read before it has a title here"
    );
    let list = two.ok("thread.list", json!({})).await;
    let titles: Vec<&Value> = (list["threads"].as_array().unwrap().iter())
        .map(|thread| &thread["title"])
        .collect();
    assert_eq!(titles, [&json!("Line"), &json!("second"), &json!("first")]);
    let renamed = json!({"threadId": ids(&list)[1], "title": "Mine"});
    let view = two.ok("thread.rename", renamed).await;
    assert_eq!(
        (&view["title"], &view["graphName"]),
        (&json!("Mine"), &json!("Line"))
    );
    let there = one.ok("thread.list", json!({"search": "mine"})).await;
    assert_eq!(there["total"], 0, "titles are each program's own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_threads_of_a_file_are_those_of_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let graph = app.draft("Line", line()).await;
    let early = thread_of(&mut app, begin(&graph)).await;
    let path = dir.path().join("line.json");
    app.ok("graph.save", json!({"graphId": graph, "path": path}))
        .await;
    let late = thread_of(&mut app, begin(&graph)).await;
    let other = app.draft("Other", line()).await;
    thread_of(&mut app, begin(&other)).await;
    app.ok("graph.close", json!({"graphId": graph})).await;
    let opened = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let of = app.ok("thread.list", json!({"graphId": opened})).await;
    assert_eq!(ids(&of), [&*late, &*early], "those of the draft that it was, too");
    assert_eq!(of["total"], 2);
    let pages = async |after: Value| {
        app.ok(
            "thread.list",
            json!({"graphId": opened, "limit": 1, "after": after}),
        )
        .await
    };
    let first = pages(Value::Null).await;
    assert_eq!((ids(&first), &first["total"]), (vec![&*late], &json!(2)));
    let second = pages(first["next"].clone()).await;
    assert_eq!((ids(&second), second.get("next")), (vec![&*early], None));
    let view = app.ok("thread.get", json!({"threadId": early})).await;
    assert!(view["graphPath"].as_str().unwrap().ends_with("line.json"));
    // The open document is what its threads go on with.
    let on = json!({"threadId": early, "action": {"type": "input", "input": {"n": 7}}});
    assert_eq!(app.run(on).await.0["status"], "done");
    let none = json!({"graphId": "none"});
    assert_eq!(app.refused("thread.list", none).await.code, "not-found");
}
