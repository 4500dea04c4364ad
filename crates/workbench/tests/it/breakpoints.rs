//! Breakpoints belong to a graph and are the same in every window.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

fn point(node: &str) -> Value {
    json!({"node": node, "when": "before", "enabled": true})
}

async fn points(app: &App, graph: &str) -> Value {
    app.ok("breakpoints.get", json!({"graph": graph})).await["points"].clone()
}

async fn told(app: &mut App) -> Value {
    let breakpoints = app
        .until(|event| match event {
            AppEvent::Breakpoints { breakpoints } => Some(json!(breakpoints)),
            _ => None,
        })
        .await;
    breakpoints["points"].clone()
}

#[tokio::test]
async fn every_window_hears_of_breakpoints_and_they_outlive_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut second = app.workbench.subscribe();
    assert_eq!(points(&app, "/graphs/a.json").await, json!([]));
    let off = json!({"node": "b", "when": "after", "enabled": false});
    let set = json!({"graph": "/graphs/a.json", "points": [point("a"), off, point("a")]});
    let kept = app.ok("breakpoints.set", set).await["points"].clone();
    assert_eq!(kept, json!([point("a"), off]), "one of a kind");
    assert_eq!(told(&mut app).await, kept);
    let batch = second.next().await.unwrap();
    assert!(
        matches!(&batch.events[..], [AppEvent::Breakpoints { breakpoints }] if json!(breakpoints.points) == kept)
    );
    drop(second);
    app.close().await;

    let mut app = App::open(dir.path()).await;
    assert_eq!(points(&app, "/graphs/a.json").await, kept);
    assert_eq!(points(&app, "/graphs/b.json").await, json!([]));
    app.ok(
        "breakpoints.set",
        json!({"graph": "/graphs/a.json", "points": []}),
    )
    .await;
    assert_eq!(told(&mut app).await, json!([]));
    assert_eq!(points(&app, "/graphs/a.json").await, json!([]));
    assert_eq!(
        app.refused("breakpoints.set", json!({"graph": "", "points": []}))
            .await
            .code,
        "invalid-request"
    );
}

#[tokio::test]
async fn breakpoints_go_with_a_draft_to_its_file_and_with_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let draft = app.ok("graph.new", json!({"name": "one"})).await["graphId"].clone();
    let draft = draft.as_str().unwrap();
    app.ok("breakpoints.set", json!({"graph": draft, "points": [point("a")]}))
        .await;
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let saved = app
        .ok("graph.save", json!({"graphId": draft, "path": path("one.json")}))
        .await;
    let one = saved["path"].as_str().unwrap();
    assert_eq!(points(&app, one).await, json!([point("a")]));
    assert_eq!(
        points(&app, draft).await,
        json!([point("a")]),
        "a draft is followed to its file"
    );

    let saved = app
        .ok("graph.save", json!({"graphId": draft, "path": path("two.json")}))
        .await;
    let two = saved["path"].as_str().unwrap();
    assert_eq!(points(&app, two).await, json!([point("a")]));
    app.ok("breakpoints.set", json!({"graph": two, "points": [point("b")]}))
        .await;
    assert_eq!(
        points(&app, one).await,
        json!([point("a")]),
        "each file has its own"
    );
}

#[tokio::test]
async fn another_program_on_the_data_folder_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (one, mut two) = (App::open(dir.path()).await, App::open(dir.path()).await);
    // What opening changed is told first.
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    let set = json!({"graph": "/graphs/a.json", "points": [point("a")]});
    one.ok("breakpoints.set", set).await;
    two.until(|event| matches!(event, AppEvent::Changed { threads: true, .. }).then_some(()))
        .await;
    assert_eq!(points(&two, "/graphs/a.json").await, json!([point("a")]));
}
