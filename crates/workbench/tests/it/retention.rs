//! What is left in the app's own database of threads that went: by the rule for old ones, or by another program.

use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;

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
    for _ in 0..200 {
        if exchanges(&app, &thread, &task).await.is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("what it asked of models is still there");
}
