//! Answers that are kept until their threads can take them: nothing that runs makes one be refused, each is given once, and
//! a program that ends keeps them.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::answering::two_questions;
use crate::inbox::{answer, begin, desk, waiting};

const AN_HOUR: u32 = 3_600_000;

fn gives(questions: &[(&Value, &str)], hold_ms: u32) -> Value {
    let starts: Vec<Value> = (questions.iter())
        .map(|(question, verdict)| answer(question, verdict))
        .collect();
    json!({"starts": starts, "holdMs": hold_ms})
}

/// Gives answers that must be taken; returns their numbers.
async fn give(app: &App, questions: &[(&Value, &str)], hold_ms: u32) -> Vec<i64> {
    let taken = app.ok("answer.give", gives(questions, hold_ms)).await;
    assert_eq!(taken["refused"], json!([]), "{taken}");
    let held = taken["held"].as_array().unwrap();
    held.iter().map(|held| held["id"].as_i64().unwrap()).collect()
}

/// Waits until a thread has come to its end, whoever ran it and whenever.
async fn done(app: &mut App, thread: &str) -> Value {
    loop {
        let view = app.ok("thread.get", json!({"threadId": thread})).await;
        if view["status"] == "done" {
            return app.state(thread, None).await;
        }
        app.batch().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_questions_of_a_thread_are_answered_in_a_row() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let run = two_questions(&mut app).await;
    let thread = run["threadId"].as_str().unwrap();
    let asked = waiting(&app).await;
    // Nothing can be stored while somebody writes: the run with the first answer does not end.
    let writer = rusqlite::Connection::open(dir.path().join("threads.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    app.ok("run.start", answer(&asked[0], "one")).await;
    give(&app, &[(&asked[1], "two")], 0).await;
    let left = app.ok("inbox.list", json!({})).await;
    assert_eq!((&left["questions"], &left["waiting"]), (&json!([]), &json!(0)));
    assert_eq!(left["held"].as_array().unwrap().len(), 1, "{left}");
    writer.execute_batch("ROLLBACK").unwrap();
    let state = done(&mut app, thread).await;
    let mut words: Vec<&str> = state["words"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    words.sort_unstable();
    assert_eq!(words, ["one", "two"]);
    let left = app.ok("inbox.list", json!({})).await;
    assert_eq!(left.get("held"), None, "{left}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_cannot_be_kept_waits_for_the_thread_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let run = two_questions(&mut app).await;
    let asked = waiting(&app).await;
    let writer = rusqlite::Connection::open(dir.path().join("threads.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    app.ok("run.start", answer(&asked[0], "one")).await;
    let workbench = app.workbench.clone();
    let second = answer(&asked[1], "two");
    let second = tokio::spawn(async move { workbench.call("run.start", second).await });
    writer.execute_batch("ROLLBACK").unwrap();
    second.await.unwrap().unwrap();
    let state = done(&mut app, run["threadId"].as_str().unwrap()).await;
    assert_eq!(state["words"].as_array().unwrap().len(), 2, "{state}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_to_all_questions_of_a_step_begin_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let run = two_questions(&mut app).await;
    let asked = waiting(&app).await;
    let ids = give(&app, &[(&asked[0], "one"), (&asked[1], "two")], AN_HOUR).await;
    app.ok("answer.giveNow", json!({"ids": ids})).await;
    done(&mut app, run["threadId"].as_str().unwrap()).await;
    let ledger = rusqlite::Connection::open(dir.path().join("workbench.db")).unwrap();
    let runs: u32 = ledger
        .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_eq!(runs, 2, "the one that asked, and the one with both answers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_answer_can_be_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 1).await;
    let question = waiting(&app).await.remove(0);
    let ids = give(&app, &[(&question, "no")], AN_HOUR).await;
    let inbox = app.ok("inbox.list", json!({})).await;
    assert_eq!((&inbox["questions"], &inbox["waiting"]), (&json!([]), &json!(0)));
    let held = &inbox["held"][0];
    assert_eq!((&held["text"], &held["answer"]), (&json!("Pay 1?"), &json!("no")));
    assert!(held["leftMs"].as_u64().unwrap() > 1_000_000, "{held}");
    for again in [answer(&question, "yes"), gives(&[(&question, "yes")], 0)] {
        let problem = match again.get("starts") {
            None => app.refused("run.start", again).await.code,
            Some(_) => {
                let taken = app.ok("answer.give", again).await;
                taken["refused"][0]["problem"]["code"].as_str().unwrap().into()
            }
        };
        assert_eq!(problem, "already-answered");
    }
    let withdraw = json!({
        "threadId": thread, "checkpointId": question["checkpointId"], "interruptId": question["interruptId"]
    });
    assert_eq!(
        app.refused("question.withdraw", withdraw).await.code,
        "already-answered"
    );
    let back = app.ok("answer.takeBack", json!({"ids": ids})).await;
    assert_eq!(back["changed"], 1);
    assert_eq!(waiting(&app).await.len(), 1);
    give(&app, &[(&question, "yes")], 0).await;
    assert_eq!(done(&mut app, &thread).await["verdict"], "yes");
    let back = app.ok("answer.takeBack", json!({"ids": ids})).await;
    assert_eq!(back["changed"], 0, "what was given cannot be taken back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_answer_one_is_taken() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    for amount in 0..4 {
        let thread = begin(&mut app, &graph, amount).await;
        let question = waiting(&app).await.remove(0);
        let all = (0..12).map(|n| {
            let (workbench, word) = (app.workbench.clone(), format!("w{n}"));
            // Held ones and immediate ones, and requests that keep nothing.
            let hold = if n % 2 == 0 { 0 } else { AN_HOUR };
            let give = gives(&[(&question, &word)], hold);
            let start = answer(&question, &word);
            tokio::spawn(async move {
                if n % 3 == 0 {
                    return workbench
                        .call("run.start", start)
                        .await
                        .ok()
                        .map(|_| (word, None));
                }
                let taken = workbench.call("answer.give", give).await.unwrap();
                let is_taken = taken["refused"] == json!([]);
                is_taken.then(|| (word, taken["held"][0]["id"].as_i64()))
            })
        });
        let mut taken = Vec::new();
        for one in all.collect::<Vec<_>>() {
            taken.extend(one.await.unwrap());
        }
        // One that was kept and one that was not may both have begun; the thread has taken one of them.
        assert!(!taken.is_empty());
        let ids: Vec<i64> = taken.iter().filter_map(|(_, id)| *id).collect();
        assert!(ids.len() <= 1, "{taken:?}");
        app.ok("answer.giveNow", json!({"ids": ids})).await;
        let verdict = done(&mut app, &thread).await["verdict"].clone();
        assert!(
            taken.iter().any(|(word, _)| verdict == word.as_str()),
            "{verdict} of {taken:?}"
        );
        assert_eq!(waiting(&app).await, Vec::<Value>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_either_taken_back_or_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    for amount in 0..12_u32 {
        let thread = begin(&mut app, &graph, amount.into()).await;
        let question = waiting(&app).await.remove(0);
        // Its time is over when it is taken back, or a moment before.
        let ids = give(&app, &[(&question, "yes")], 1 + amount % 3 * 10).await;
        let back = app.ok("answer.takeBack", json!({"ids": ids})).await;
        if back["changed"] == 1 {
            assert_eq!(waiting(&app).await.len(), 1);
            give(&app, &[(&question, "later")], 0).await;
            assert_eq!(done(&mut app, &thread).await["verdict"], "later");
        } else {
            assert_eq!(done(&mut app, &thread).await["verdict"], "yes");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_ends_keeps_its_answers() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let (closed, killed) = (begin(&mut app, &graph, 1).await, begin(&mut app, &graph, 2).await);
    let asked = waiting(&app).await;
    let of = |thread: &str| {
        asked
            .iter()
            .find(|question| question["threadId"] == thread)
            .unwrap()
    };
    let ids = give(&app, &[(of(&closed), "yes")], AN_HOUR).await;
    give(&app, &[(of(&killed), "also")], AN_HOUR).await;
    app.close().await;
    // As a program leaves it that is killed when its run had begun and had stored nothing.
    let ledger = rusqlite::Connection::open(dir.path().join("workbench.db")).unwrap();
    let begun = "UPDATE answers SET state = 'giving', due = 0 WHERE thread_id = ?1";
    assert_eq!(ledger.execute(begun, [&killed]).unwrap(), 1);
    let mut app = App::open(dir.path()).await;
    assert_eq!(done(&mut app, &killed).await["verdict"], "also");
    let inbox = app.ok("inbox.list", json!({})).await;
    assert_eq!(inbox["held"][0]["threadId"], *closed, "{inbox}");
    app.ok("answer.giveNow", json!({"ids": ids})).await;
    assert_eq!(done(&mut app, &closed).await["verdict"], "yes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_held_keeps_its_question_from_passing() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let (thread, question) = crate::questions::hastily_asked(&mut app).await;
    let taken = app.ok("answer.give", gives(&[(&question, "yes")], AN_HOUR)).await;
    let Some(id) = taken["held"][0]["id"].as_i64() else {
        // Its time was over before it could be answered.
        assert_eq!(taken["refused"][0]["problem"]["code"], "already-answered");
        return;
    };
    let deadline = question["value"]["deadline"].as_str().unwrap().to_owned();
    let clock = rusqlite::Connection::open_in_memory().unwrap();
    let now = "SELECT strftime('%Y-%m-%dT%H:%M:%S', 'now')";
    while clock.query_row(now, [], |row| row.get::<_, String>(0)).unwrap() <= deadline[..19].to_owned() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(app.ok("inbox.list", json!({})).await["held"][0]["id"], id);
    app.ok("answer.giveNow", json!({"ids": [id]})).await;
    assert_eq!(done(&mut app, &thread).await["answer"], "yes!");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_cannot_be_given_comes_back_with_its_question() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 1).await;
    let question = waiting(&app).await.remove(0);
    let mut request = gives(&[(&question, "yes")], AN_HOUR);
    request["note"] = "as agreed".into();
    let taken = app.ok("answer.give", request).await;
    let id = &taken["held"][0]["id"];
    // What it would run is gone by then.
    app.ok("graph.close", json!({"graphId": graph, "discard": true}))
        .await;
    app.ok("answer.giveNow", json!({"ids": [id]})).await;
    let refused = |event: &AppEvent| match event {
        AppEvent::AnswerRefused {
            thread_id, problem, ..
        } => Some((thread_id.clone(), problem.message.to_string())),
        _ => None,
    };
    let (refused, message) = app.until(refused).await;
    assert_eq!(refused, thread);
    let again = waiting(&app).await.remove(0);
    let returned = &again["returned"];
    assert_eq!(
        (&returned["answer"], &returned["note"]),
        (&json!("yes"), &json!("as agreed"))
    );
    assert_eq!(returned["problem"]["message"], message);
}
