//! What people answered: listed, searched, written to a file, and kept with its thread.

use serde_json::{Value, json};
use superstep_acceptance::App;

use crate::inbox::{answer, begin, desk, waiting};

async fn past(app: &App, request: Value) -> Vec<Value> {
    app.ok("answers.list", request).await["answers"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_answered_what_and_when_is_kept_with_the_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
    settings["name"] = "Ada".into();
    app.ok("settings.set", settings).await;
    let graph = app.draft("Desk", desk()).await;
    let (paid, withdrawn) = (begin(&mut app, &graph, 1).await, begin(&mut app, &graph, 2).await);
    let asked = waiting(&app).await;
    let of = |thread: &str| {
        asked
            .iter()
            .find(|question| question["threadId"] == thread)
            .unwrap()
    };

    // An answer that no run has taken is none yet.
    let give =
        json!({"starts": [answer(of(&paid), "yes")], "note": " =as agreed, \"soon\" ", "holdMs": 3_600_000});
    let taken = app.ok("answer.give", give).await;
    assert_eq!(past(&app, json!({})).await, Vec::<Value>::new());
    app.ok("answer.giveNow", json!({"ids": [taken["held"][0]["id"]]}))
        .await;
    while past(&app, json!({})).await.is_empty() {
        app.batch().await;
    }
    let question = of(&withdrawn);
    let withdraw = json!({
        "threadId": withdrawn, "checkpointId": question["checkpointId"], "interruptId": question["interruptId"],
        "why": "a mistake"
    });
    app.ok("question.withdraw", withdraw).await;

    let all = past(&app, json!({})).await;
    let shown = |one: &Value| {
        json!([
            one["state"],
            one["question"],
            one["answer"],
            one["person"],
            one["note"]
        ])
    };
    assert_eq!(
        all.iter().map(shown).collect::<Vec<_>>(),
        [
            json!(["withdrawn", "Pay 2?", null, "Ada", "a mistake"]),
            json!(["given", "Pay 1?", "yes", "Ada", "=as agreed, \"soon\""]),
        ]
    );
    assert_eq!(all[1]["checkpointId"], of(&paid)["checkpointId"]);
    for (request, found) in [
        (json!({"words": "AGREED yes"}), 1),
        (json!({"words": "desk pay"}), 2),
        (json!({"words": "nobody"}), 0),
        (json!({"threadId": paid}), 1),
    ] {
        assert_eq!(past(&app, request.clone()).await.len(), found, "{request}");
    }
    let page = app.ok("answers.list", json!({"limit": 1})).await;
    assert_eq!(
        past(&app, json!({"before": page["next"]})).await,
        [all[1].clone()]
    );

    let file = dir.path().join("answers.csv");
    let written = app.ok("answers.export", json!({"path": file, "which": {}})).await;
    assert_eq!(written["answers"], 2);
    let csv = std::fs::read_to_string(&file).unwrap();
    assert!(csv.contains(r#""yes","'=as agreed, ""soon""""#), "{csv}");

    // With the thread: into its copy, into its file and out of it again.
    let copy = app
        .ok("thread.copy", json!({"threadId": paid, "title": "Copy"}))
        .await;
    assert_eq!(past(&app, json!({"threadId": copy["threadId"]})).await.len(), 1);
    let kept = dir.path().join("thread.jsonl");
    app.ok("thread.export", json!({"threadId": paid, "path": kept}))
        .await;
    app.ok("thread.delete", json!({"threadId": paid})).await;
    assert!(past(&app, json!({"threadId": paid})).await.is_empty());
    let came = app.ok("thread.import", json!({"path": kept})).await;
    let again = past(&app, json!({"threadId": came["threadId"]})).await;
    assert_eq!(again.iter().map(shown).collect::<Vec<_>>(), [shown(&all[1])]);
}
