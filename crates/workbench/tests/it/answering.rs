//! Questions while they are asked and answered: who asks, what changed since, and what nobody is to answer twice.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::inbox::{answer, begin, desk, waiting};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_is_what_the_run_did_that_asks() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app
        .draft(
            "Twice",
            json!({
                "key:log": {"type": "array", "reducer": "append"},
                "key:word": {"type": "string"},
                "node:first": {"kind": "ask", "config": {"question": "First?", "into": "word"}},
                "node:work": {"kind": "assign", "config": {"set": {"log": "'worked'"}}},
                "node:second": {"kind": "ask", "config": {"question": "Second?", "into": "word"}},
                "edge:1": {"from": "__start__", "to": "first"},
                "edge:2": {"from": "first", "to": "work"},
                "edge:3": {"from": "work", "to": "second"},
                "edge:4": {"from": "second", "to": "__end__"}
            }),
        )
        .await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    let thread = run["threadId"].clone();
    let of = json!({"threadId": thread});
    assert_eq!(
        app.ok("inbox.changes", of.clone()).await,
        json!({}),
        "nobody had a hand in it before"
    );
    let question = waiting(&app).await.remove(0);
    assert_eq!(question["text"], "First?");
    assert_eq!(question.get("graphPath"), None, "a draft has no file");
    let (run, _) = app.run(answer(&question, "tea")).await;
    assert_eq!(run["status"], "asking");
    let changes = app.ok("inbox.changes", of).await;
    assert_eq!(changes["since"], run["startedAt"]);
    let comparison = &changes["comparison"];
    assert_eq!(
        comparison["left"]["id"], question["checkpointId"],
        "from where the run went on"
    );
    let mut places: Vec<&str> = (comparison["differences"].as_array().unwrap().iter())
        .map(|difference| difference["pointer"].as_str().unwrap())
        .collect();
    places.sort_unstable();
    assert_eq!(places, ["/log/0", "/word"]);
    let second = waiting(&app).await.remove(0);
    assert_eq!(second["text"], "Second?");
    assert_eq!(comparison["right"]["id"], second["checkpointId"]);
    let nobody = json!({"threadId": "nobody"});
    assert_eq!(app.refused("inbox.changes", nobody).await.code, "not-found");
    // How many questions an edit would leave behind.
    let left = app.ok("run.effects", json!({"threadId": thread})).await;
    assert_eq!(left["questionsLeft"], 1);
    let here = json!({"threadId": thread, "checkpointId": second["checkpointId"]});
    assert_eq!(app.ok("run.effects", here).await["questionsLeft"], 0);
}

/// A thread that asks "x?" and "y?" at once.
pub(crate) async fn two_questions(app: &mut App) -> Value {
    let graph = app
        .draft(
            "Many",
            json!({
                "key:items": {"type": "array"},
                "key:words": {"type": "array", "reducer": "append"},
                "node:list": {"kind": "assign", "config": {"set": {"items": "['x', 'y']"}}},
                "node:ask": {"kind": "ask", "config": {"question": "{{ state.item }}?", "into": "words"}},
                "edge:1": {"from": "__start__", "to": "list"},
                "edge:2": {"from": "list", "each": "state.items", "as": "item", "to": "ask"},
                "edge:3": {"from": "ask", "to": "__end__"}
            }),
        )
        .await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_packet_asks_in_the_name_of_its_node() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let run = two_questions(&mut app).await;
    let inbox = app.ok("inbox.list", json!({})).await;
    let mut asked: Vec<(&str, &str)> = (inbox["questions"].as_array().unwrap().iter())
        .map(|question| {
            (
                question["node"].as_str().unwrap(),
                question["text"].as_str().unwrap(),
            )
        })
        .collect();
    asked.sort_unstable();
    assert_eq!(asked, [("ask", "x?"), ("ask", "y?")]);
    let of = json!({"threadId": run["threadId"]});
    assert_eq!(app.ok("thread.get", of).await["next"], json!(["ask", "ask"]));
    assert_eq!(app.ok("inbox.list", json!({"limit": 1})).await.get("next"), None);
    // Every window counts again when an answer was refused: it may have been counted as answered.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let mut events = app.workbench.subscribe();
    let empty = json!({"threadId": run["threadId"], "action": {"type": "resume", "answers": {}}});
    assert_eq!(app.refused("run.start", empty).await.code, "invalid-request");
    let is_count = |event: &AppEvent| matches!(event, AppEvent::Inbox { waiting: 2 });
    while !events.next().await.unwrap().events.iter().any(is_count) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_being_answered_is_not_asked_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 1).await;
    let other = begin(&mut app, &graph, 2).await;
    let question = (waiting(&app).await.into_iter()).find(|question| question["threadId"] == *thread);
    let question = question.unwrap();
    // Nothing can be stored while somebody writes: the answer is given, and not yet in the database.
    let writer = rusqlite::Connection::open(dir.path().join("threads.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    app.ok("run.start", answer(&question, "yes")).await;
    let left = app.ok("inbox.list", json!({})).await;
    let of: Vec<&Value> = (left["questions"].as_array().unwrap().iter())
        .map(|question| &question["threadId"])
        .collect();
    assert_eq!((of, &left["waiting"]), (vec![&json!(other)], &json!(1)));
    assert_eq!(
        app.refused("run.start", answer(&question, "no")).await.code,
        "already-answered"
    );
    let withdraw = json!({
        "threadId": thread, "checkpointId": question["checkpointId"], "interruptId": question["interruptId"]
    });
    assert_eq!(
        app.refused("question.withdraw", withdraw).await.code,
        "already-answered"
    );
    let more = json!({"threadId": thread, "action": {"type": "continue"}});
    assert_eq!(app.refused("run.start", more).await.code, "busy");
    writer.execute_batch("ROLLBACK").unwrap();
    let done = |event: &AppEvent| match event {
        AppEvent::Run { run } if run.thread_id == thread => run.ended_at.clone(),
        _ => None,
    };
    app.until(done).await;
    assert_eq!(app.state(&thread, None).await["verdict"], "yes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_one_question_of_a_thread_is_answered_the_other_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    two_questions(&mut app).await;
    let asked = waiting(&app).await;
    let answered = asked.iter().find(|question| question["text"] == "x?");
    let writer = rusqlite::Connection::open(dir.path().join("threads.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    app.ok("run.start", answer(answered.unwrap(), "yes")).await;
    let left = waiting(&app).await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["text"], "y?");
    writer.execute_batch("ROLLBACK").unwrap();
}
