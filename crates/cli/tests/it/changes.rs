//! An open app sees what the command line does.

use std::path::PathBuf;

use serde_json::json;
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::{User, example};

fn data(user: &User) -> PathBuf {
    user.dir.path().join("data")
}

fn is_change(event: &AppEvent) -> bool {
    matches!(event, AppEvent::Changed { threads: true, .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_answers_and_deletions_of_another_program_are_seen() {
    let user = User::new();
    let mut app = App::open(&data(&user)).await;
    app.settled(&data(&user)).await;
    let input = r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#;
    user.expect(
        3,
        &["run", &example("refund-desk"), "--thread", "t", "--input", input],
    );
    app.until(|event| matches!(event, AppEvent::Inbox { waiting: 1 }).then_some(()))
        .await;
    let list = app.ok("thread.list", json!({})).await;
    assert_eq!(list["threads"][0]["threadId"], "t");

    app.settled(&data(&user)).await;
    let asked = app.ok("inbox.list", json!({})).await;
    let question = &asked["questions"][0];
    let answer = question["value"]["choices"][0]["value"].clone();
    user.expect(0, &["resume", "t", "--answer", &answer.to_string()]);
    app.until(|event| matches!(event, AppEvent::Inbox { waiting: 0 }).then_some(()))
        .await;

    app.settled(&data(&user)).await;
    user.expect(0, &["store", "put", "notes", "a", r#"{"text": "b"}"#]);
    app.until(|event| is_change(event).then_some(())).await;

    app.settled(&data(&user)).await;
    user.expect(0, &["delete", "t", "--yes"]);
    app.until(|event| is_change(event).then_some(())).await;
    assert_eq!(app.ok("thread.list", json!({})).await["threads"], json!([]));

    app.settled(&data(&user)).await;
    user.expect(0, &["trust", &example("refund-desk"), "--all"]);
    std::fs::write(user.dir.path().join("data/settings.json"), r#"{"name": "Ada"}"#).unwrap();
    app.settled(&data(&user)).await;
    assert_eq!(app.ok("app.info", json!({})).await["settings"]["name"], "Ada");
    assert!(
        !app.settled(&data(&user)).await.iter().any(is_change),
        "nothing is reported while nothing happens"
    );
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_program_does_itself_is_no_change() {
    let user = User::new();
    let mut app = App::open(&data(&user)).await;
    app.settled(&data(&user)).await;
    let graph = format!("{}/graph.json", example("counter"));
    let graph = app.ok("graph.open", json!({"path": graph})).await["graphId"].clone();
    let start = json!({"graphId": graph, "recursionLimit": 2000, "action": {"type": "input", "input": {"limit": 900}}});
    let run = app.ok("run.start", start).await["runId"].clone();
    app.ok(
        "store.put",
        json!({"namespace": ["n"], "key": "k", "value": {"a": 1}}),
    )
    .await;
    let mut came = Vec::new();
    let ended = |event: &AppEvent| matches!(event, AppEvent::Run { run: of } if run == of.run_id.as_str() && of.ended_at.is_some());
    while !came.iter().any(ended) {
        came.extend(app.batch().await);
    }
    came.extend(app.settled(&data(&user)).await);
    assert!(came.len() > 1800, "it ran");
    assert!(
        !came.iter().any(is_change),
        "the program's own commits were reported as another's"
    );
    app.close().await;
}
