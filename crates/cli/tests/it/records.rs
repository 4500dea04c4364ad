//! A run of the command line is shown by the app as one of its own: what it did, and how long that took.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep_workbench::{Options, Workbench};

use crate::{User, example};

async fn app(user: &User) -> Arc<Workbench> {
    let options = Options::new(user.dir.path().join("data"));
    Workbench::open(options).await.unwrap()
}

fn types(events: &Json) -> Vec<&str> {
    let events = events["events"].as_array().unwrap().iter();
    events.filter_map(|event| event["type"].as_str()).collect()
}

#[tokio::test]
async fn what_it_did_and_how_long_that_took_is_there() {
    let user = User::new();
    let done = user.expect(
        3,
        &[
            "run",
            &example("refund-desk"),
            "--thread",
            "t",
            "--input",
            r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#,
        ],
    );
    assert!(done.out.is_empty() || !done.err.is_empty());
    let app = app(&user).await;
    let thread = app.call("thread.get", json!({"threadId": "t"})).await.unwrap();
    assert_eq!(
        (&thread["status"], &thread["run"]["status"]),
        (&json!("asking"), &json!("asking"))
    );
    assert!(
        thread["run"]["endedAt"].is_string(),
        "its total time is known: {thread}"
    );
    let events = app.call("thread.events", json!({"threadId": "t"})).await.unwrap();
    let found = types(&events);
    for expected in ["taskStarted", "taskEnded", "token", "checkpoint"] {
        assert!(found.contains(&expected), "{expected} is not among {found:?}");
    }
    assert_eq!((found.first(), found.last()), (Some(&"run"), Some(&"run")));
    let snapshot = app
        .call("thread.snapshot", json!({"threadId": "t"}))
        .await
        .unwrap();
    let before = snapshot["previousTasks"].as_array().unwrap();
    assert!(
        !before.is_empty() && before.iter().all(|task| task["millis"].is_u64()),
        "{before:?}"
    );
    app.shutdown().await;
    drop(app);

    let file = user.dir.path().join("t.jsonl");
    let file = file.to_str().unwrap();
    user.expect(0, &["threads", "export", "t", "--output", file]);
    user.expect(0, &["threads", "import", file, "--as", "imported"]);
    user.expect(0, &["threads", "copy", "t", "copied"]);
    let app = self::app(&user).await;
    for thread in ["imported", "copied"] {
        let of = json!({"threadId": thread});
        let came = app.call("thread.events", of.clone()).await.unwrap();
        assert_eq!(types(&came), types(&events), "{thread}");
        let snapshot = app.call("thread.snapshot", of).await.unwrap();
        assert_eq!(&snapshot["previousTasks"], &json!(before), "{thread}");
    }
    app.shutdown().await;
    drop(app);

    user.expect(0, &["delete", "t", "--yes"]);
    let app = self::app(&user).await;
    let events = app.call("thread.events", json!({"threadId": "t"})).await.unwrap();
    assert_eq!(types(&events), [""; 0], "it goes with its thread");
}

#[test]
fn recording_changes_nothing_of_what_is_printed() {
    let user = User::new();
    let nowhere = user.dir.path().join("file");
    std::fs::write(&nowhere, "not a folder").unwrap();
    let run = |data: &std::path::Path| {
        let db = user.dir.path().join("same.db");
        let _ = std::fs::remove_file(&db);
        let mut command = user.command(&[
            "run",
            &example("counter"),
            "--thread",
            "t",
            "--input",
            r#"{"limit": 3}"#,
            "--stream",
            "updates",
            "--db",
            db.to_str().unwrap(),
        ]);
        let done = command.env("SUPERSTEP_DATA", data).output().unwrap();
        let lines = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<Json> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let reported = lines.into_iter().filter(|line| line["event"] == "updates");
        (done.status.code(), reported.collect::<Vec<_>>())
    };
    std::fs::create_dir(user.dir.path().join("data")).unwrap();
    let recorded = run(&user.dir.path().join("data"));
    assert!(user.dir.path().join("data/workbench.db").exists());
    assert!(recorded.1.len() > 2);
    assert_eq!(
        run(&nowhere),
        recorded,
        "a run does not fail where nothing can be recorded"
    );
}
