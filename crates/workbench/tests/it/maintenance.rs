//! Many threads, what they take, and what is done about it: lists, bookmarks, pruning, files, other databases.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::Options;
use superstep_workbench::wire::{AppEvent, Problem};

/// A graph that says and asks, as records.
fn records() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:word": {"type": "string"},
        "node:say": {"kind": "assign", "config": {"set": {"log": "'said'"}}},
        "node:ask": {"kind": "ask", "config": {"question": "Which word?", "into": "word"}},
        "edge:1": {"from": "__start__", "to": "say"},
        "edge:2": {"from": "say", "to": "ask"},
        "edge:3": {"from": "ask", "to": "__end__"}
    })
}

async fn begin(app: &mut App, graph: &str, log: &str) -> String {
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {"log": [log]}}});
    let (run, _) = app.run(input).await;
    assert_eq!(run["status"], "asking");
    run["threadId"].as_str().unwrap().to_owned()
}

async fn answer(app: &mut App, thread: &str, word: &str) {
    let asked = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let question = asked["tasks"][0]["interrupts"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let resume = json!({"threadId": thread, "action": {"type": "resume", "answers": {question: word}}});
    assert_eq!(app.run(resume).await.0["status"], "done");
}

fn titles(list: &Value) -> Vec<&str> {
    let threads = list["threads"].as_array().unwrap();
    threads
        .iter()
        .map(|thread| thread["title"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_are_listed_in_pages_and_found_by_title_and_status() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", records()).await;
    let other = app.draft("Other", records()).await;
    for n in 0..5 {
        begin(&mut app, &graph, &format!("case {n}")).await;
    }
    let foreign = begin(&mut app, &other, "foreign").await;
    answer(&mut app, &foreign, "tea").await;

    let first = app.ok("thread.list", json!({"graphId": graph, "limit": 2})).await;
    assert_eq!(
        (titles(&first), &first["total"]),
        (vec!["case 4", "case 3"], &json!(5))
    );
    let second = app
        .ok(
            "thread.list",
            json!({"graphId": graph, "limit": 2, "after": first["next"]}),
        )
        .await;
    assert_eq!(
        (titles(&second), second.get("total")),
        (vec!["case 2", "case 1"], None)
    );
    let last = app
        .ok(
            "thread.list",
            json!({"graphId": graph, "limit": 2, "after": second["next"]}),
        )
        .await;
    assert_eq!((titles(&last), last.get("next")), (vec!["case 0"], None));

    let found = app.ok("thread.list", json!({"search": "CASE", "limit": 3})).await;
    assert_eq!((titles(&found).len(), &found["total"]), (3, &json!(5)));
    let rest = app
        .ok(
            "thread.list",
            json!({"search": "CASE", "limit": 3, "after": found["next"]}),
        )
        .await;
    assert_eq!(
        (titles(&rest), rest.get("next")),
        (vec!["case 1", "case 0"], None)
    );
    let done = app.ok("thread.list", json!({"status": "done"})).await;
    assert_eq!((titles(&done), &done["total"]), (vec!["foreign"], &json!(1)));
    let asking = app
        .ok("thread.list", json!({"status": "asking", "limit": 1}))
        .await;
    assert_eq!(asking["total"], 5);
    assert_eq!(
        app.ok("thread.list", json!({"status": "failed"})).await["total"],
        0
    );
    assert_eq!(
        app.ok("inbox.list", json!({})).await["questions"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(
        app.refused("thread.list", json!({"after": "nowhere"})).await.code,
        "invalid-request"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_says_first_what_goes_and_leaves_bookmarks() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", records()).await;
    let thread = begin(&mut app, &graph, "a").await;
    let of = json!({"threadId": thread});
    let asked = app.ok("thread.checkpoints", of.clone()).await["checkpoints"][0]["id"].clone();
    answer(&mut app, &thread, "tea").await;
    // A second branch: the question is answered once more, in the past.
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "replay", "checkpointId": asked}}))
        .await;
    assert_eq!(run["status"], "asking");
    let before = app.ok("thread.checkpoints", of.clone()).await;
    let count = before["checkpoints"].as_array().unwrap().len();
    let marked = before["checkpoints"].as_array().unwrap().last().unwrap()["id"].clone();
    let mark = |name: Value| json!({"threadId": thread, "checkpointId": marked, "name": name});
    assert_eq!(
        app.ok("thread.bookmark", mark(json!(" The  input "))).await["bookmark"],
        "The input"
    );
    assert_eq!(
        app.refused("thread.bookmark", mark(json!(" "))).await.code,
        "invalid-request"
    );

    // A note may have several lines; without one the bookmark has none any more.
    let note =
        |text: &str| json!({"threadId": thread, "checkpointId": marked, "name": "The input", "note": text});
    let noted = app.ok("thread.bookmark", note("\n# Why\n\nIt was odd. ")).await;
    assert_eq!(
        (&noted["bookmark"], &noted["bookmarkNote"]),
        (&json!("The input"), &json!("# Why\n\nIt was odd."))
    );
    let list = app.ok("thread.checkpoints", of.clone()).await;
    assert_eq!(list["checkpoints"].as_array().unwrap().last().unwrap(), &noted);
    let long = app.refused("thread.bookmark", note(&"x".repeat(20_000))).await;
    assert_eq!(long.code, "invalid-request");
    let file = dir.path().join("noted.json");
    app.ok("thread.export", json!({"threadId": thread, "path": file}))
        .await;
    let copy = app
        .ok("thread.copy", json!({"threadId": thread, "title": "Copy"}))
        .await;
    let came = app.ok("thread.import", json!({"path": file})).await;
    for thread in [&copy["threadId"], &came["threadId"]] {
        let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
        let notes = list["checkpoints"].as_array().unwrap().iter();
        let notes: Vec<&Value> = notes.filter_map(|one| one.get("bookmarkNote")).collect();
        assert_eq!(notes, [&noted["bookmarkNote"]], "{list}");
        app.ok("thread.delete", json!({"threadId": thread})).await;
    }
    let bare = app.ok("thread.bookmark", mark(json!("The input"))).await;
    assert_eq!(bare.get("bookmarkNote"), None);

    let prune = |dry: bool| json!({"threadIds": [thread], "keep": {"type": "latest"}, "dryRun": dry});
    let plan = app.ok("thread.prune", prune(true)).await;
    assert_eq!(
        plan["checkpoints"],
        count - 2,
        "all but the newest and the bookmark: {plan}"
    );
    assert_eq!(
        (&plan["bookmarks"], &plan["branchCount"], &plan["threads"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(plan["branches"][0]["title"], "a");
    assert_eq!(app.ok("thread.checkpoints", of.clone()).await, {
        let mut marked = before.clone();
        let last = marked["checkpoints"].as_array_mut().unwrap().last_mut().unwrap();
        last["bookmark"] = json!("The input");
        marked
    });
    let went = app.ok("thread.prune", prune(false)).await;
    assert_eq!(went["checkpoints"], plan["checkpoints"]);
    let left = app.ok("thread.checkpoints", of.clone()).await;
    assert_eq!(left["checkpoints"].as_array().unwrap().len(), 2);
    assert_eq!(
        app.ok("thread.snapshot", of.clone()).await["tasks"][0]["status"],
        "asking",
        "it still waits"
    );
    answer(&mut app, &thread, "coffee").await;

    // A rule for threads that nobody touches leaves this one: it was touched just now.
    let rule = json!({"rule": {"idleDays": 1, "keep": {"type": "nothing"}}, "dryRun": true});
    assert_eq!(app.ok("storage.retain", rule).await["threads"], 0);
    let never = json!({"rule": {"idleDays": 0, "keep": {"type": "nothing"}}});
    assert_eq!(app.refused("storage.retain", never).await.code, "invalid-request");
    let all = json!({"threadIds": [thread], "keep": {"type": "nothing"}});
    assert_eq!(app.ok("thread.prune", all).await["threads"], 1);
    assert_eq!(app.refused("thread.get", of).await.code, "not-found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_are_copied_and_travel_as_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", records()).await;
    let thread = begin(&mut app, &graph, "a").await;
    let copy = app
        .ok("thread.copy", json!({"threadId": thread, "title": "Second"}))
        .await;
    let copied = copy["threadId"].as_str().unwrap().to_owned();
    answer(&mut app, &copied, "tea").await;
    assert_eq!(app.state(&copied, None).await["word"], "tea");
    assert_eq!(
        app.state(&thread, None).await["word"],
        Value::Null,
        "the other one still waits"
    );

    let file = dir.path().join("out/second.jsonl");
    let exported = app
        .ok(
            "thread.export",
            json!({"threadId": copied, "path": file, "work": "w"}),
        )
        .await;
    // The copy's own first checkpoint, and the graph version that the thread keeps.
    assert_eq!(exported["checkpoints"], copy["checkpoints"].as_u64().unwrap() + 2);
    assert_eq!(exported["bytes"], std::fs::metadata(&file).unwrap().len());
    // Beside the one it came from, and somewhere else.
    let beside = app.ok("thread.import", json!({"path": file})).await;
    assert_ne!(beside["threadId"], copied.as_str());
    let elsewhere = tempfile::tempdir().unwrap();
    let there = App::open(elsewhere.path()).await;
    let came = there.ok("thread.import", json!({"path": file})).await;
    assert_eq!(
        (&came["threadId"], &came["title"]),
        (&json!(copied), &json!("Second"))
    );
    assert_eq!(came["graphName"], "Words");
    assert_eq!(there.state(&copied, None).await, app.state(&copied, None).await);
    let cut = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &cut[..cut.len() - 20]).unwrap();
    let broken = there.refused("thread.import", json!({"path": file})).await;
    assert_eq!(broken.code, "broken-file");
    assert!(
        broken.message.contains("cut off") && broken.remedy.is_some(),
        "{broken:?}"
    );
    assert_eq!(there.ok("thread.list", json!({})).await["total"], 1);
    let folder = app.refused("thread.import", json!({"path": dir.path()})).await;
    assert!(
        folder.message.contains("Could not read")
            && folder.remedy.is_some_and(|text| text.contains("not a folder")),
        "{}",
        folder.message
    );
    // A device without an end filled the memory of the machine.
    let device = app.refused("thread.import", json!({"path": "/dev/zero"})).await;
    assert!(
        device.message.contains("it is no regular file"),
        "{}",
        device.message
    );
    assert_eq!(
        app.refused("thread.import", json!({"path": dir.path().join("none")}))
            .await
            .code,
        "not-found"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_database_is_tried_chosen_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Words", records()).await;
    begin(&mut app, &graph, "a").await;
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(
        (&info["kind"], &info["chosenBy"], &info["threads"]),
        (&json!("sqlite"), &json!("default"), &json!(1))
    );

    let tested = app.ok("storage.test", json!({"url": "sqlite:other.db"})).await;
    assert_eq!((&tested["isNew"], &tested["threads"]), (&json!(true), &json!(0)));
    assert!(!dir.path().join("other.db").exists(), "asking makes no file");
    let nowhere = app
        .refused("storage.test", json!({"url": "sqlite:none/other.db"}))
        .await;
    assert!(nowhere.remedy.is_some(), "{nowhere:?}");
    let unknown = app.refused("storage.use", json!({"url": "mysql://h/d"})).await;
    assert!(unknown.message.contains("mysql"), "{unknown:?}");

    let other = app.ok("storage.use", json!({"url": "sqlite:other.db"})).await;
    assert_eq!(
        (&other["chosenBy"], &other["threads"]),
        (&json!("settings"), &json!(0))
    );
    assert_eq!(app.ok("thread.list", json!({})).await["total"], 0);
    begin(&mut app, &graph, "b").await;
    assert_eq!(titles(&app.ok("thread.list", json!({})).await), ["b"]);
    app.workbench.shutdown().await;
    drop(app);

    let app = App::open(dir.path()).await;
    assert_eq!(
        titles(&app.ok("thread.list", json!({})).await),
        ["b"],
        "the choice is kept"
    );
    let back = app.ok("storage.use", json!({})).await;
    assert_eq!(
        (&back["chosenBy"], &back["threads"]),
        (&json!("default"), &json!(1))
    );
    app.workbench.shutdown().await;
    drop(app);

    // A database that cannot be opened does not lock anybody out.
    std::fs::write(
        dir.path().join("other.db"),
        "this is no database, and long enough to tell",
    )
    .unwrap();
    std::fs::write(
        dir.path().join("database.json"),
        r#"{"url": "sqlite:/nowhere/at/all.db"}"#,
    )
    .unwrap();
    let app = App::open(dir.path()).await;
    let down = app.ok("storage.info", json!({})).await;
    assert!(
        down["problem"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("/nowhere/at/all.db")),
        "{down}"
    );
    assert_eq!(app.refused("thread.list", json!({})).await.code, "storage");
    assert_eq!(app.ok("storage.use", json!({})).await["threads"], 1);
    app.workbench.shutdown().await;
    drop(app);

    let by_host = Options::new(dir.path().to_owned()).storage("memory:".to_owned());
    let app = App::open_with(by_host).await;
    assert_eq!(app.ok("storage.info", json!({})).await["chosenBy"], "program");
    assert_eq!(
        app.refused("storage.use", json!({})).await.code,
        "chosen-by-program"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_threads_take_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let by_host = Options::new(dir.path().to_owned()).storage("memory:".to_owned());
    let mut app = App::open_with(by_host).await;
    let graph = app.draft("Words", records()).await;
    let thread = begin(&mut app, &graph, "a").await;
    let usage = app.ok("storage.usage", json!({})).await;
    assert_eq!(
        (&usage["total"], &usage["threads"][0]["title"]),
        (&json!(1), &json!("a"))
    );
    let breakdown = app.ok("storage.lens", json!({"threadId": thread})).await;
    assert_eq!(
        (&breakdown["bytes"], &breakdown["checkpoints"]),
        (&usage["threads"][0]["bytes"], &json!(4)),
        "three of the run, and the version of its graph"
    );
    assert!(
        breakdown["keys"]
            .as_array()
            .unwrap()
            .iter()
            .any(|key| key["key"] == "log" && key["versions"] == 2),
        "{breakdown}"
    );
    assert_eq!(
        breakdown["growth"].as_array().unwrap().last().unwrap()["total"],
        breakdown["bytes"]
    );
    assert_eq!(
        app.refused("storage.lens", json!({"threadId": "nobody"}))
            .await
            .code,
        "not-found"
    );
    let sound = app.ok("storage.verify", json!({})).await;
    assert_eq!((&sound["threads"], &sound["damage"]), (&json!(1), &json!([])));
}

/// Calls a command that works for a while under a name, and stops it as soon as it says how far it is; what it answered
/// and the last that was reported.
async fn stopped(
    app: &mut App,
    command: &str,
    mut request: Value,
    work: &str,
) -> (Result<Value, Problem>, (u64, u64)) {
    request["work"] = work.into();
    let (workbench, command) = (app.workbench.clone(), command.to_owned());
    let going = tokio::spawn(async move { workbench.call(&command, request).await });
    let cancel = json!({"work": work});
    while !going.is_finished() {
        // Nothing goes on under that name before it begins and after it is over: then this stops nothing.
        app.ok("work.cancel", cancel.clone()).await;
        tokio::task::yield_now().await;
    }
    let reported = app
        .until(|event| match event {
            AppEvent::Work {
                work: name,
                done,
                total,
            } if name == work => Some((*done, *total)),
            _ => None,
        })
        .await;
    (going.await.unwrap(), reported)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checking_and_pruning_say_how_far_they_are_and_can_be_stopped() {
    let dir = tempfile::tempdir().unwrap();
    // In folders each thread goes by itself: what was removed before the stop is gone.
    let mut app = App::open_with(
        Options::new(dir.path().to_owned()).storage(format!("file:{}", dir.path().join("threads").display())),
    )
    .await;
    let graph = app.draft("Words", records()).await;
    let first = begin(&mut app, &graph, "case").await;
    answer(&mut app, &first, "tea").await;
    let mut threads = vec![first.clone()];
    for n in 0..150 {
        let copy = json!({"threadId": first, "title": format!("copy {n}")});
        let copied = app.ok("thread.copy", copy).await;
        threads.push(copied["threadId"].as_str().unwrap().to_owned());
    }

    let (answer, reported) = stopped(&mut app, "storage.verify", json!({}), "looking").await;
    assert_eq!(answer.unwrap_err().code, "stopped");
    assert!(reported.0 < reported.1, "{reported:?}");
    let whole = app.ok("storage.verify", json!({"work": "again"})).await;
    assert_eq!((&whole["threads"], &whole["damage"]), (&json!(151), &json!([])));

    let prune = json!({"threadIds": threads, "keep": {"type": "nothing"}, "dryRun": false});
    let (answer, _) = stopped(&mut app, "thread.prune", prune.clone(), "removing").await;
    assert_eq!(answer.unwrap_err().code, "stopped");
    let left = app.ok("thread.list", json!({"limit": 500})).await;
    let left = left["threads"].as_array().unwrap().clone();
    assert!(!left.is_empty(), "it was stopped before the last");
    // What is listed is there, whole; what is not is gone everywhere, and no thread is held any more.
    for thread in &threads {
        let is_left = left.iter().any(|one| one["threadId"] == **thread);
        let read = app
            .workbench
            .call("thread.get", json!({"threadId": thread}))
            .await;
        assert_eq!(read.is_ok(), is_left);
    }
    let sound = app.ok("storage.verify", json!({})).await;
    assert_eq!(
        (&sound["threads"], &sound["damage"]),
        (&json!(left.len()), &json!([]))
    );
    let ids: Vec<&Value> = left.iter().map(|one| &one["threadId"]).collect();
    let rest = json!({"threadIds": ids, "keep": {"type": "nothing"}, "dryRun": false});
    assert_eq!(app.ok("thread.prune", rest).await["threads"], left.len());
}
