//! Questions that are for certain people, and questions that wait for a time only.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

fn desk(ask: Value) -> Value {
    json!({
        "key:answer": {"type": "string"},
        "node:ask": {"kind": "ask", "config": ask},
        "node:after": {"kind": "assign", "config": {"set": {"answer": "state.answer ~ '!'"}}},
        "edge:1": {"from": "__start__", "to": "ask"},
        "edge:2": {"from": "ask", "to": "after"}
    })
}

async fn asked(app: &mut App, ask: Value) -> (String, Value) {
    let (thread, question) = asked_for_now(app, ask).await;
    (thread, question.unwrap())
}

/// Begins a thread that asks; its question may have been answered by time already.
async fn asked_for_now(app: &mut App, ask: Value) -> (String, Option<Value>) {
    let graph = app.draft("Desk", desk(ask)).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let inbox = app.ok("inbox.list", json!({})).await;
    let question = (inbox["questions"].as_array().unwrap().iter())
        .find(|question| question["threadId"] == thread.as_str());
    let question = question.cloned();
    (thread, question)
}

/// Begins a thread whose question is for a short time only, and still waits.
pub(crate) async fn hastily_asked(app: &mut App) -> (String, Value) {
    let mut wait = 1;
    loop {
        let ask = json!({"question": "Now?", "into": "answer", "wait_s": wait, "otherwise": "nobody"});
        let (thread, question) = asked_for_now(app, ask).await;
        match question {
            Some(question) => return (thread, question),
            // On a busy machine its time was over before anybody looked.
            None => goes_on_by_itself(app, &thread).await,
        }
        wait *= 2;
    }
}

fn answer(thread: &str, question: &Value) -> Value {
    let id = question["interruptId"].as_str().unwrap();
    json!({"threadId": thread, "action": {"type": "resume", "answers": {id: "yes"}}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_those_who_are_asked_may_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let ask = json!({"question": "Pay?", "into": "answer", "who": ["Ada", "Grace"]});
    let (thread, question) = asked(&mut app, ask).await;
    assert_eq!(question["value"]["who"], json!(["Ada", "Grace"]));

    let problem = app.refused("run.start", answer(&thread, &question)).await;
    assert_eq!(problem.code, "not-asked");
    assert!(problem.message.contains("Ada"), "{problem}");
    let settings = app.ok("app.info", json!({})).await["settings"].clone();
    let named = |name: &str| {
        let mut settings = settings.clone();
        settings["name"] = name.into();
        settings
    };
    app.ok("settings.set", named("Bob")).await;
    let problem = app.refused("run.start", answer(&thread, &question)).await;
    assert!(problem.message.contains("you are Bob"), "{problem}");
    assert_eq!(
        app.ok("inbox.list", json!({})).await["questions"][0]["interruptId"],
        question["interruptId"],
        "a refused answer leaves the question"
    );

    app.ok("settings.set", named("grace ")).await;
    let (run, _) = app.run(answer(&thread, &question)).await;
    assert_eq!(run["status"], "done");
    assert_eq!(app.state(&thread, None).await["answer"], "yes!");
}

async fn goes_on_by_itself(app: &mut App, thread: &str) {
    app.until(|event| match event {
        AppEvent::Run { run } if run.thread_id == thread && run.ended_at.is_some() => Some(()),
        _ => None,
    })
    .await;
    assert_eq!(app.state(thread, None).await["answer"], "nobody!");
    assert_eq!(app.ok("inbox.list", json!({})).await["questions"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_answers_in_time_lets_its_thread_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let (thread, question) = hastily_asked(&mut app).await;
    assert!(question["value"]["deadline"].is_string(), "{question}");
    goes_on_by_itself(&mut app, &thread).await;
    let problem = app.refused("run.start", answer(&thread, &question)).await;
    assert_eq!(problem.code, "already-answered", "an answer that comes too late");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_that_passed_while_the_app_was_closed_has_passed() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let ask = json!({"question": "Pay?", "into": "answer", "wait_s": 1, "otherwise": "nobody"});
    let (thread, _) = asked_for_now(&mut app, ask).await;
    app.workbench.shutdown().await;
    drop(app);
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let mut app = App::open(dir.path()).await;
    let done = |app: &App| {
        let read = app.workbench.clone();
        let thread = thread.clone();
        async move {
            let view = read
                .call("thread.get", json!({"threadId": thread}))
                .await
                .unwrap();
            view["status"] == "done"
        }
    };
    // It may have gone on before anybody listened.
    if !done(&app).await {
        goes_on_by_itself(&mut app, &thread).await;
    }
    assert_eq!(app.state(&thread, None).await["answer"], "nobody!");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_question_of_several_that_waits_for_ever_still_waits() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let (patient, _) = asked(&mut app, json!({"question": "Later?", "into": "answer"})).await;
    let ask = json!({"question": "Now?", "into": "answer", "wait_s": 1, "otherwise": "nobody"});
    let (hasty, _) = asked_for_now(&mut app, ask).await;
    app.until(|event| match event {
        AppEvent::Run { run } if run.thread_id == hasty && run.ended_at.is_some() => Some(()),
        _ => None,
    })
    .await;
    let waiting = app.ok("inbox.list", json!({})).await;
    let threads: Vec<&Value> = waiting["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| &question["threadId"])
        .collect();
    assert_eq!(threads, [&json!(patient)]);
}
