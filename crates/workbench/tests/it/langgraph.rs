//! The database of a LangGraph program as the one in use: recognized by its content, shown beside any graph.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use superstep_acceptance::App;

use crate::threads::{checkpoints, line};

fn database(folder: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../storage/tests/langgraph/sqlite-1.2.24.db");
    let to = folder.join("agent.sqlite");
    fs::copy(from, &to).unwrap();
    to
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_a_langgraph_program_are_shown_beside_any_graph() {
    let dir = tempfile::tempdir().unwrap();
    let file = database(dir.path());
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
