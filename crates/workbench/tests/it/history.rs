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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_handed_to_named_people_who_may_answer_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let is = async |app: &App, name: &str| {
        let mut settings = app.ok("app.info", json!({})).await["settings"].clone();
        settings["name"] = name.into();
        app.ok("settings.set", settings).await;
    };
    let mut records = desk();
    records["node:review"]["config"]["who"] = json!(["Ada"]);
    let graph = app.draft("Desk", records).await;
    begin(&mut app, &graph, 1).await;
    let question = waiting(&app).await.remove(0);
    let place = json!({
        "threadId": question["threadId"], "checkpointId": question["checkpointId"], "interruptId": question["interruptId"]
    });
    let hand = |to: &[&str], more: Value| {
        let mut request = json!({"questions": [place], "to": to});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        request
    };
    is(&app, "Eve").await;
    let refused = app.refused("question.delegate", hand(&["Eve"], json!({}))).await;
    assert_eq!(refused.code, "not-asked", "who may not answer may not hand it on");
    is(&app, "Ada").await;
    app.ok(
        "question.delegate",
        hand(&[" Bob ", "bob", ""], json!({"why": "holidays"})),
    )
    .await;
    let handed = &waiting(&app).await[0]["delegation"];
    assert_eq!(
        json!([handed["to"], handed["by"], handed["why"], handed["escalated"]]),
        json!([["Bob"], "Ada", "holidays", false])
    );
    app.ok("question.delegate", hand(&["Cleo"], json!({"escalate": true})))
        .await;
    assert_eq!(waiting(&app).await[0]["delegation"]["escalated"], true);
    is(&app, "Eve").await;
    let refused = app.refused("run.start", answer(&question, "yes")).await;
    assert_eq!(refused.code, "not-asked");
    is(&app, "cleo").await;
    let (run, _) = app.run(answer(&question, "yes")).await;
    assert_eq!(run["status"], "done", "{run}");
    let states: Vec<Value> = past(&app, json!({}))
        .await
        .iter()
        .map(|one| one["state"].clone())
        .collect();
    assert_eq!(states, ["given", "escalated", "delegated"]);
    let chain = app.ok("answers.verify", json!({})).await;
    assert_eq!((&chain["entries"], &chain["faultCount"]), (&json!(3), &json!(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_is_put_off_is_so_for_every_program_of_the_data_folder() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    begin(&mut app, &graph, 1).await;
    let question = waiting(&app).await.remove(0);
    let place = json!({
        "threadId": question["threadId"], "checkpointId": question["checkpointId"], "interruptId": question["interruptId"]
    });
    let far = 4_000_000_000_000_u64;
    app.ok("question.snooze", json!({"questions": [place], "until": far}))
        .await;
    let other = App::open(dir.path()).await;
    assert_eq!(waiting(&other).await[0]["snoozedUntil"], far);
    other.ok("question.snooze", json!({"questions": [place]})).await;
    assert!(waiting(&app).await[0].get("snoozedUntil").is_none());
    let costs = app
        .ok("inbox.costs", json!({"threadIds": [question["threadId"]]}))
        .await;
    assert_eq!(costs["costs"], json!([]), "no model was asked");
}
