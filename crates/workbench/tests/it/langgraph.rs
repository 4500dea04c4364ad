//! The database of a LangGraph program as the one in use: recognized by its content, shown beside any graph.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::threads::{checkpoints, line};

fn database(folder: &Path, name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../storage/tests/langgraph")
        .join(name);
    let to = folder.join("agent.sqlite");
    fs::copy(from, &to).unwrap();
    to
}

/// A file in which the thread with the last id is the newest.
fn many_threads(folder: &Path, count: u32) -> PathBuf {
    let path = folder.join("many.sqlite");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(&format!(
        "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, \
         parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)); \
         CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL, task_id TEXT NOT \
         NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, \
         PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)); \
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         INSERT INTO checkpoints SELECT printf('t%04d', i), '', printf('1f000000-0000-6000-8000-%012d', i), NULL, 'json', \
         CAST('{{\"v\": 4, \"ts\": \"2026-03-01T09:30:00+00:00\", \"channel_values\": {{}}, \"channel_versions\": {{}}, \
         \"versions_seen\": {{}}}}' AS BLOB), CAST('{{\"source\": \"loop\", \"step\": 1}}' AS BLOB) FROM n",
        count - 1
    ))
    .unwrap();
    path
}

// With one thread for all tasks the walk through the threads begins when this test waits.
#[tokio::test]
async fn the_first_of_many_threads_are_shown_at_once_and_the_newest_when_they_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let file = many_threads(dir.path(), 2000);
    let mut app = App::open(&dir.path().join("data")).await;
    let used = app
        .ok("storage.use", json!({"url": file.display().to_string()}))
        .await;
    assert_eq!(used["onlyRead"], true);
    let counted = &used["threads"];
    assert!(counted.is_null() || counted == 2000, "all or none: {used}");
    let graph = app.draft("Line", line()).await;
    let list = loop {
        let list = app
            .ok("thread.list", json!({"graphId": graph, "limit": 20}))
            .await;
        assert_eq!(list["threads"].as_array().unwrap().len(), 20);
        if list["sorting"] != true {
            break list;
        }
        assert_eq!(list["threads"][0]["threadId"], "t0000", "in the order of ids");
        assert!(list["total"].is_null() && list["next"].is_null(), "{list}");
        app.until(|event| matches!(event, AppEvent::Changed { threads: true, .. }).then_some(()))
            .await;
    };
    assert_eq!(
        (&list["threads"][0]["threadId"], &list["total"]),
        (&json!("t1999"), &json!(2000))
    );
    let next = app
        .ok(
            "thread.list",
            json!({"graphId": graph, "limit": 20, "after": list["next"]}),
        )
        .await;
    assert_eq!(next["threads"][0]["threadId"], "t1979");
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(info["threads"], 2000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_a_langgraph_program_are_shown_beside_any_graph() {
    let dir = tempfile::tempdir().unwrap();
    let file = database(dir.path(), "sqlite-1.2.24.db");
    let before = fs::read(&file).unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let url = file.display().to_string();
    let tested = app
        .ok("storage.test", json!({"url": format!("sqlite:{url}")}))
        .await;
    assert_eq!(
        (&tested["kind"], &tested["threads"]),
        (&json!("langgraph"), &json!(4))
    );
    let used = app.ok("storage.use", json!({"url": url})).await;
    assert_eq!(
        (&used["kind"], &used["onlyRead"]),
        (&json!("langgraph"), &json!(true))
    );

    let graph = app.draft("Line", line()).await;
    let list = app.ok("thread.list", json!({"graphId": graph})).await;
    let status = |id: &str| {
        let threads = list["threads"].as_array().unwrap();
        threads.iter().find(|thread| thread["threadId"] == id).unwrap()["status"].clone()
    };
    assert_eq!(list["total"], 4);
    assert_eq!(
        (status("done"), status("waiting")),
        (json!("done"), json!("asking"))
    );
    let moments = checkpoints(&app, "done").await;
    assert_eq!(moments.len(), 7);
    assert_eq!(moments[1]["next"], json!(["decide"]));
    assert_eq!(moments[0]["updated"], json!(["log", "verdict"]));
    let shown = app.ok("thread.snapshot", json!({"threadId": "done"})).await;
    let keys: Vec<&str> = shown["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["key"].as_str().unwrap())
        .collect();
    assert!(
        keys.contains(&"verdict") && keys.contains(&"messages"),
        "{keys:?}"
    );
    assert!(before == fs::read(&file).unwrap(), "no byte was written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encrypted_values_are_shown_as_soon_as_their_key_is_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let file = database(dir.path(), "encrypted-1.2.24.db");
    let url = file.display().to_string();
    let app = App::open(&dir.path().join("data")).await;
    let sealed = async || app.ok("graph.seen", json!({})).await["seen"]["sealed"].clone();
    let title = async || app.ok("thread.list", json!({})).await["threads"][0]["title"].clone();
    let opened = app.ok("graph.open", json!({"path": url})).await;
    assert_eq!(opened["seen"]["sealed"], "noKey");
    assert_eq!(
        title().await,
        "sealed",
        "a list is shown, though no value can be read"
    );
    for (key, why) in [
        ("a key of thirty-two bytes, 12346", json!("wrongKey")),
        ("too short", json!("keyLength")),
        ("a key of thirty-two bytes, 12345", json!(null)),
    ] {
        let set = json!({"name": "LANGGRAPH_AES_KEY", "value": key, "keep": "untilClosed"});
        let list = app.ok("secrets.set", set).await;
        assert!(!list.to_string().contains(key), "{list}");
        assert_eq!(sealed().await, why, "{key}");
    }
    let shown = app.ok("thread.snapshot", json!({"threadId": "sealed"})).await;
    let secret = shown["keys"]
        .as_array()
        .unwrap()
        .iter()
        .find(|key| key["key"] == "secret");
    assert!(secret.is_some(), "{shown}");
    assert_ne!(title().await, "sealed", "the title is of the input");
    // Opened again, and without the secret.
    app.ok("storage.use", json!({})).await;
    app.ok("graph.open", json!({"path": url})).await;
    assert_eq!(sealed().await, json!(null));
    app.ok("secrets.remove", json!({"name": "LANGGRAPH_AES_KEY"}))
        .await;
    assert_eq!(sealed().await, "noKey");
}
