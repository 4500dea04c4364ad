//! What is left in the app's own database of threads that went: by the rule for old ones, or by another program.

use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::exchanges::{agent, app, exchanges, inside, model_server, question};

/// Deletes a thread as the command line does: beside the app.
async fn delete_beside(dir: &Path, thread: &str) {
    let url = format!("sqlite:{}", dir.join("threads.db").display());
    let storage = superstep_storage::open(&url).await.unwrap();
    storage.checkpointer.delete_thread(&thread.into()).await.unwrap();
}

/// Puts a thread back as it was, but for its age: years.
async fn aged(app: &App, dir: &Path, thread: &str) {
    let file = dir.join("old.jsonl");
    app.ok("thread.export", json!({"threadId": thread, "path": file}))
        .await;
    let text = std::fs::read_to_string(&file).unwrap();
    let made = run_at(app, thread).await;
    let year = &made[..4];
    let old = text.replace(&format!("\"ts\":\"{year}-"), "\"ts\":\"2001-");
    assert_ne!(old, text, "the file says when");
    std::fs::write(&file, old).unwrap();
    delete_beside(dir, thread).await;
    let back = app.ok("thread.import", json!({"path": file})).await;
    assert_eq!(back["threadId"], thread, "under its own name");
}

/// When the newest checkpoint of a thread was made.
async fn run_at(app: &App, thread: &str) -> String {
    let found = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    found["checkpoints"][0]["at"].as_str().unwrap().to_owned()
}

fn rule(keep: &str, dry_run: bool) -> Value {
    json!({"rule": {"idleDays": 7, "keep": {"type": keep}}, "dryRun": dry_run})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rule_takes_what_the_app_knows_of_old_threads() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("openai-agent").await;
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "proxy::scripted-1").await;
    let ask = json!({"graphId": graph, "action": {"type": "input", "input": question()}});
    let (run, _) = app.run(ask.clone()).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let (run, _) = app.run(ask).await;
    let young = run["threadId"].as_str().unwrap().to_owned();
    let tasks = inside(&app, &thread).await;
    let young_tasks = inside(&app, &young).await;
    assert_eq!(exchanges(&app, &thread, &tasks[0]).await.len(), 1);
    aged(&app, dir.path(), &thread).await;

    // The past goes, and with it what models were asked then.
    let plan = app.ok("storage.retain", rule("latest", true)).await;
    assert!(plan["checkpoints"].as_u64().unwrap() > 0, "{plan}");
    assert_eq!(
        exchanges(&app, &thread, &tasks[0]).await.len(),
        1,
        "a plan takes nothing"
    );
    app.ok("storage.retain", rule("latest", false)).await;
    assert!(app.ok("thread.get", json!({"threadId": thread})).await["head"].is_string());
    for task in &tasks {
        assert!(exchanges(&app, &thread, task).await.is_empty());
    }

    // A thread that goes whole leaves nothing; another one is not touched.
    app.ok("storage.retain", rule("nothing", false)).await;
    assert_eq!(
        app.refused("thread.get", json!({"threadId": thread})).await.code,
        "not-found"
    );
    assert_eq!(exchanges(&app, &young, &young_tasks[0]).await.len(), 1);
    app.close().await;
    // The last rows come from the log beside it when the database is closed, which then takes the log away.
    while dir.path().join("workbench.db-wal").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let ledger = std::fs::read(dir.path().join("workbench.db")).unwrap();
    assert!(!contains(&ledger, &thread), "no row names it");
    assert!(contains(&ledger, &young));
}

/// The events up to the new title of a thread, which is published after them.
async fn until_renamed(app: &mut App, thread: &str, title: &str) -> Vec<AppEvent> {
    app.ok("thread.rename", json!({"threadId": thread, "title": title}))
        .await;
    let is_last = |event: &AppEvent| matches!(event, AppEvent::Thread { thread } if thread.title == title);
    let mut seen = Vec::new();
    while !seen.iter().any(is_last) {
        seen.extend(app.batch().await);
    }
    seen
}

/// Windows load everything again upon `Storage`: they are to do so when something went, and only then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_was_removed_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", crate::threads::line()).await;
    let (run, _) = app.run(crate::threads::begin(&graph)).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let loads = |events: &[AppEvent]| events.iter().any(|event| matches!(event, AppEvent::Storage));
    app.ok("storage.retain", rule("latest", false)).await;
    let seen = until_renamed(&mut app, &thread, "Young").await;
    assert!(!loads(&seen), "nothing was old enough: {seen:?}");
    aged(&app, dir.path(), &thread).await;
    app.ok("storage.retain", rule("latest", true)).await;
    let seen = until_renamed(&mut app, &thread, "Planned").await;
    assert!(!loads(&seen), "a plan takes nothing: {seen:?}");
    app.ok("storage.retain", rule("latest", false)).await;
    let seen = until_renamed(&mut app, &thread, "Pruned").await;
    assert!(loads(&seen), "its past went: {seen:?}");
    app.close().await;
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_was_deleted_beside_the_app_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let address = model_server("openai-agent").await;
    let mut app = app(dir.path(), &address).await;
    let graph = agent(&app, "proxy::scripted-1").await;
    let ask = json!({"graphId": graph, "action": {"type": "input", "input": question()}});
    let (run, _) = app.run(ask.clone()).await;
    let thread = run["threadId"].as_str().unwrap().to_owned();
    app.run(ask).await;
    let task = inside(&app, &thread).await.remove(0);
    delete_beside(dir.path(), &thread).await;
    assert_eq!(
        app.refused("thread.get", json!({"threadId": thread})).await.code,
        "not-found",
        "no ghost of it"
    );
    assert_eq!(exchanges(&app, &thread, &task).await.len(), 1);
    app.close().await;

    let app = App::open(dir.path()).await;
    for _ in 0..4_000 {
        if exchanges(&app, &thread, &task).await.is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("what it asked of models is still there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookmarks_outlive_the_rule_and_threads_that_have_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Line", crate::threads::line()).await;
    let mut threads = Vec::new();
    for _ in 0..3 {
        let (run, _) = app.run(crate::threads::begin(&graph)).await;
        threads.push(run["threadId"].as_str().unwrap().to_owned());
    }
    aged(&app, dir.path(), &threads[0]).await;
    aged(&app, dir.path(), &threads[1]).await;
    for thread in [&threads[0], &threads[2]] {
        let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
        let mark = json!({"threadId": thread, "checkpointId": list["checkpoints"][2]["id"], "name": "Here"});
        app.ok("thread.bookmark", mark).await;
    }
    let counts = async |thread: &str| {
        let view = app.ok("thread.get", json!({"threadId": thread})).await;
        view["checkpoints"].as_u64().unwrap()
    };
    let plan = app.ok("storage.retain", rule("latest", true)).await;
    assert_eq!(
        (&plan["bookmarks"], &plan["checkpoints"], &plan["threads"]),
        (&json!(1), &json!(3 + 4), &json!(0)),
        "the bookmark of the young thread is not in its way: {plan}"
    );
    assert_eq!((counts(&threads[0]).await, counts(&threads[1]).await), (5, 5));
    let went = app.ok("storage.retain", rule("latest", false)).await;
    assert_eq!(went, plan);
    assert_eq!((counts(&threads[0]).await, counts(&threads[1]).await), (2, 1));
    let went = app.ok("storage.retain", rule("nothing", false)).await;
    assert_eq!(
        (&went["threads"], &went["bookmarks"]),
        (&json!(1), &json!(0)),
        "{went}"
    );
    assert_eq!(counts(&threads[0]).await, 2, "somebody wants to find it again");
    let gone = json!({"threadId": threads[1]});
    assert_eq!(app.refused("thread.get", gone).await.code, "not-found");
    assert_eq!(counts(&threads[2]).await, 5);
    app.close().await;

    // What hosts without the app see of it.
    let marked = superstep_workbench::bookmarks(dir.path()).unwrap();
    assert_eq!(marked.len(), 2);
    assert_eq!(marked[&threads[0]].len(), 1);
    let place = superstep_workbench::database_url(dir.path()).unwrap();
    let forget = |place: &str| superstep_workbench::forget_threads(dir.path(), place, &[&threads[0]]);
    forget("sqlite:/another.db").unwrap();
    assert_eq!(superstep_workbench::bookmarks(dir.path()).unwrap().len(), 2);
    forget(&place).unwrap();
    let left = superstep_workbench::bookmarks(dir.path()).unwrap();
    assert_eq!(left.keys().collect::<Vec<_>>(), [&threads[2]]);
    let none = tempfile::tempdir().unwrap();
    assert!(superstep_workbench::bookmarks(none.path()).unwrap().is_empty());
    superstep_workbench::forget_threads(none.path(), &place, &["t"]).unwrap();
    assert_eq!(
        std::fs::read_dir(none.path()).unwrap().count(),
        0,
        "nothing is made"
    );
}
