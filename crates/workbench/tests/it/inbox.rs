//! The inbox over branches, pages and people: what waits, for how long, and who was first.

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// draft → review, which asks, beside check → send
pub(crate) fn desk() -> Value {
    json!({
        "key:log": {"type": "array", "reducer": "append"},
        "key:amount": {"type": "integer"},
        "key:verdict": {"type": "string"},
        "node:draft": {"kind": "assign", "config": {"set": {"log": "'drafted'"}}},
        "node:review": {"kind": "ask", "config": {"question": "Pay {{ state.amount }}?", "into": "verdict"}},
        "node:check": {"kind": "assign", "config": {"set": {"log": "'checked'"}}},
        "node:send": {"kind": "assign", "config": {"set": {"log": "'sent'"}}},
        "edge:1": {"from": "__start__", "to": "draft"},
        "edge:2": {"from": "draft", "to": "review"},
        "edge:3": {"from": "draft", "to": "check"},
        "edge:4": {"from": ["review", "check"], "to": "send"},
        "edge:5": {"from": "send", "to": "__end__"}
    })
}

pub(crate) async fn begin(app: &mut App, graph: &str, amount: i64) -> String {
    let input = json!({"graphId": graph, "action": {"type": "input", "input": {"amount": amount}}});
    let (run, _) = app.run(input).await;
    assert_eq!(run["status"], "asking", "{run}");
    run["threadId"].as_str().unwrap().to_owned()
}

pub(crate) async fn waiting(app: &App) -> Vec<Value> {
    let inbox = app.ok("inbox.list", json!({})).await;
    let questions = inbox["questions"].as_array().unwrap().clone();
    assert_eq!(
        inbox["waiting"],
        questions.len(),
        "the badge counts what the list shows"
    );
    questions
}

/// A model calls a tool twice at once, and a person decides about each.
fn paying() -> Value {
    let call = |amount: i64| json!({"tool": "pay", "args": {"amount": amount}});
    json!({
        "key:messages": {"type": "array", "reducer": "add_messages"},
        "node:model": {"kind": "model", "config": {
            "model": "scripted", "messages": "messages", "into": "messages", "tools_of": "tools",
            "script": [{"calls": [call(1), call(2)]}]
        }},
        "node:tools": {"kind": "tools", "config": {"messages": "messages", "tools": [{
            "name": "pay", "description": "Pays.", "approval": true,
            "parameters": {"type": "object", "properties": {"amount": {"type": "number"}}},
            "javascript": {"source": "return `paid ${args.amount}`"}
        }]}},
        "edge:1": {"from": "__start__", "to": "model"},
        "edge:2": {"from": "model", "to": "tools"},
        "edge:3": {"from": "tools", "to": "__end__"}
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tool_call_asks_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Paying", paying()).await;
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {"messages": [{"type": "human", "content": "Pay"}]}}});
    let (run, _) = app.run(start).await;
    assert_eq!(run["status"], "asking", "{run}");
    let both = waiting(&app).await;
    assert_eq!(both.len(), 2, "a question of each call: {both:?}");
    let id = both[0]["interruptId"].as_str().unwrap();
    let reject = json!({"threadId": both[0]["threadId"], "action": {
        "type": "resume", "answers": {id: {"type": "reject"}}, "checkpointId": both[0]["checkpointId"]
    }});
    let (run, _) = app.run(reject).await;
    assert_eq!(run["status"], "asking", "{run}");
    let left = waiting(&app).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["interruptId"], both[1]["interruptId"]);
    app.until(|event| matches!(event, AppEvent::Inbox { waiting: 1 }).then_some(()))
        .await;
}

pub(crate) fn answer(question: &Value, verdict: &str) -> Value {
    let id = question["interruptId"].as_str().unwrap();
    json!({
        "threadId": question["threadId"],
        "action": {"type": "resume", "answers": {id: verdict}, "checkpointId": question["checkpointId"]}
    })
}

/// The checkpoint of a super-step of the first branch.
async fn at_step(app: &App, thread: &str, step: i64) -> String {
    let list = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    let checkpoints = list["checkpoints"].as_array().unwrap();
    let found = checkpoints
        .iter()
        .rev()
        .find(|checkpoint| checkpoint["step"] == step);
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_leaves_the_question_and_its_branch_can_be_answered() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 40).await;
    let first = waiting(&app).await.remove(0);
    assert!(
        first.get("branch").is_none(),
        "the newest branch is nothing to speak of: {first}"
    );
    assert_eq!(
        app.ok("thread.get", json!({"threadId": thread})).await["next"],
        json!(["review"]),
        "what has finished beside the question does not ask"
    );

    let start = at_step(&app, &thread, 0).await;
    let edit =
        json!({"threadId": thread, "checkpointId": start, "values": {"amount": 7}, "asNode": "__start__"});
    app.ok("thread.update", edit).await;
    let left = waiting(&app).await;
    assert_eq!(
        left.len(),
        1,
        "an edit of an earlier checkpoint withdraws nothing"
    );
    assert_eq!(left[0]["branch"], json!({"step": 1, "leftAt": 0}));
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking");
    let both = waiting(&app).await;
    let texts: Vec<&str> = both
        .iter()
        .map(|question| question["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Pay 40?", "Pay 7?"]);
    assert!(both[1].get("branch").is_none());
    let changes = app
        .ok(
            "inbox.changes",
            json!({"threadId": thread, "checkpointId": first["checkpointId"]}),
        )
        .await;
    assert!(changes.is_object(), "{changes}");

    let (run, _) = app.run(answer(&first, "yes")).await;
    assert_eq!(run["status"], "done", "{run}");
    let state = app.state(&thread, None).await;
    assert_eq!((&state["amount"], &state["verdict"]), (&json!(40), &json!("yes")));
    assert_eq!(
        state["log"],
        json!(["drafted", "checked", "sent"]),
        "what had finished there is not run again"
    );
    let rest = waiting(&app).await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["branch"], json!({"step": 2, "leftAt": 0}));
    let late = app.refused("run.start", answer(&first, "no")).await;
    assert_eq!(late.code, "already-answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asking_again_on_an_edited_branch_is_one_row() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 40).await;
    let edit = json!({"threadId": thread, "values": {"amount": 9}, "asNode": "draft"});
    app.ok("thread.update", edit).await;
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking");
    let rows = waiting(&app).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["text"], "Pay 9?");
    // A new input abandons it.
    let again = json!({"threadId": thread, "action": {"type": "input", "input": {"amount": 1}}});
    assert_eq!(app.run(again).await.0["status"], "asking");
    let rows = waiting(&app).await;
    assert_eq!((rows.len(), &rows[0]["text"]), (1, &json!("Pay 1?")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawn_question_waits_no_more_and_its_thread_is_paused() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 40).await;
    let question = waiting(&app).await.remove(0);
    let withdraw = json!({
        "threadId": thread, "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"], "why": "paid already"
    });
    app.ok("question.withdraw", withdraw.clone()).await;
    assert!(waiting(&app).await.is_empty());
    let view = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_eq!(
        (&view["status"], &view["questions"]),
        (&json!("paused"), &json!(0))
    );
    let listed = app.ok("thread.list", json!({"status": "asking"})).await;
    assert_eq!(
        listed["threads"],
        json!([]),
        "the last run asked, the thread does not"
    );
    let snapshot = app.ok("thread.snapshot", json!({"threadId": thread})).await;
    let review = snapshot["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|task| task["node"] == "review");
    assert_eq!(review.unwrap()["status"], "waiting");
    assert_eq!(
        app.refused("question.withdraw", withdraw).await.code,
        "already-answered"
    );
    assert_eq!(
        app.refused("run.start", answer(&question, "yes")).await.code,
        "already-answered",
        "a withdrawn question takes no answer"
    );
    // Going on asks again.
    let (run, _) = app
        .run(json!({"threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "asking");
    let again = waiting(&app).await.remove(0);
    assert_eq!(app.run(answer(&again, "yes")).await.0["status"], "done");
    assert!(waiting(&app).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_another_question_of_the_step_makes_none_younger() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut records = desk();
    records["key:checked"] = json!({"type": "string"});
    records["node:check"] = json!({"kind": "ask", "config": {"question": "Checked?", "into": "checked"}});
    let graph = app.draft("Desk", records).await;
    begin(&mut app, &graph, 40).await;
    let of = |questions: &[Value], node: &str| {
        let found = questions.iter().find(|question| question["node"] == node);
        found.cloned().unwrap()
    };
    let before = waiting(&app).await;
    assert_eq!(before.len(), 2);
    app.run(answer(&of(&before, "check"), "yes")).await;
    let after = waiting(&app).await;
    assert_eq!(after.len(), 1);
    assert_eq!(of(&after, "review")["since"], of(&before, "review")["since"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_come_in_pages() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let mut threads = Vec::new();
    for amount in 0..5 {
        threads.push(begin(&mut app, &graph, amount).await);
    }
    let mut seen = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = app.ok("inbox.list", json!({"limit": 2, "after": after})).await;
        assert_eq!(page["waiting"], 5);
        let questions = page["questions"].as_array().unwrap();
        assert!(questions.len() <= 2);
        seen.extend(
            questions
                .iter()
                .map(|question| question["text"].as_str().unwrap().to_owned()),
        );
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(
        seen,
        ["Pay 0?", "Pay 1?", "Pay 2?", "Pay 3?", "Pay 4?"],
        "the oldest first, each once"
    );
    let of_thread = app.ok("inbox.list", json!({"threadId": threads[3]})).await;
    assert_eq!(of_thread["questions"][0]["text"], "Pay 3?");
    assert_eq!(of_thread["questions"].as_array().unwrap().len(), 1);
    assert!(
        app.refused("inbox.list", json!({"after": "nowhere"}))
            .await
            .remedy
            .is_some()
    );
    let question = &of_thread["questions"][0];
    let withdraw = json!({
        "threadId": threads[3], "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"]
    });
    app.ok("question.withdraw", withdraw).await;
    // Every interface hears how many are left.
    app.until(|event| match event {
        AppEvent::Inbox { waiting: 4 } => Some(()),
        _ => None,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_answers_the_second_hears_that_it_is_too_late() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(dir.path()).await;
    let mut records = desk();
    // What comes after the answer takes its time.
    records["node:send"] = json!({"kind": "delay", "config": {"seconds": "1"}});
    let graph = app.draft("Desk", records).await;
    let mut app = app;
    begin(&mut app, &graph, 40).await;
    let question = waiting(&app).await.remove(0);
    let (first, second) = (answer(&question, "yes"), answer(&question, "no"));
    let (first, second) = tokio::join!(
        app.workbench.call("run.start", first),
        app.workbench.call("run.start", second)
    );
    let lost = [&first, &second]
        .into_iter()
        .filter_map(|answer| answer.as_ref().err())
        .next()
        .cloned();
    assert!(first.is_ok() != second.is_ok(), "one of them is taken");
    assert_eq!(lost.unwrap().code, "already-answered");
    assert!(waiting(&app).await.is_empty(), "it leaves the list at once");
    let late = app.refused("run.start", answer(&question, "no")).await;
    assert_eq!(late.code, "already-answered", "also while the thread works on");
    let withdraw = json!({
        "threadId": question["threadId"], "checkpointId": question["checkpointId"],
        "interruptId": question["interruptId"]
    });
    let late = app.refused("question.withdraw", withdraw).await;
    assert!(
        ["already-answered", "busy"].contains(&late.code.as_str()),
        "{late}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_of_an_old_branch_passes_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut wait = 2;
    let thread = loop {
        let mut records = desk();
        records["node:review"] = json!({"kind": "ask", "config": {
            "question": "Pay {{ state.amount }}?", "into": "verdict", "wait_s": wait, "otherwise": "nobody"
        }});
        let graph = app.draft("Desk", records).await;
        let thread = begin(&mut app, &graph, 40).await;
        let start = at_step(&app, &thread, 0).await;
        let edit = json!({"threadId": thread, "checkpointId": start, "values": {"amount": 7}, "asNode": "__start__"});
        let _ = app.workbench.call("thread.update", edit).await;
        // On a busy machine the time may be over before the branch that asks is an old one.
        if !waiting(&app).await.is_empty() {
            break thread;
        }
        wait *= 2;
    };
    app.until(|event| match event {
        AppEvent::Run { run } if run.thread_id == thread && run.ended_at.is_some() => Some(()),
        _ => None,
    })
    .await;
    let state = app.state(&thread, None).await;
    assert_eq!(
        (&state["amount"], &state["verdict"], &state["log"]),
        (
            &json!(40),
            &json!("nobody"),
            &json!(["drafted", "checked", "sent"])
        ),
        "the branch that asked went on"
    );
    assert!(waiting(&app).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_failed_and_then_succeeded_is_done_and_why_it_was_not_tried_again_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let code = |retry: Value| {
        json!({
            "key:n": {"type": "integer"},
            "node:js": {"kind": "code", "retry": retry, "config": {
                "source": "if (state.n > 1) throw new Error('too much'); return {n: state.n + 1};"
            }},
            "edge:1": {"from": "__start__", "to": "js"},
            "edge:2": {"from": "js", "to": "__end__"}
        })
    };
    let quick = json!({"attempts": 3, "initial_interval": 0.01, "jitter": false});
    let graph = app.draft("Code", code(quick.clone())).await;
    let (run, events) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {"n": 5}}}))
        .await;
    assert_eq!(run["status"], "failed", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let (message, failure) = events
        .iter()
        .find_map(|event| match event {
            AppEvent::TaskEnded {
                not_retried, failure, ..
            } => Some((not_retried.clone()?, failure.clone()?)),
            _ => None,
        })
        .unzip();
    let why = "Not tried again: CodeError is not among the errors that may pass. Name it in `retry_on` to try it again.";
    assert_eq!(message.as_deref(), Some(why));
    let lasting = json!({"class": "CodeError", "retryable": false});
    assert_eq!(json!(failure), lasting);
    let tasks = app.ok("thread.snapshot", json!({"threadId": thread})).await["tasks"].clone();
    assert_eq!(
        (&tasks[0]["status"], &tasks[0]["notRetried"], &tasks[0]["failure"]),
        (&json!("failed"), &json!(why), &lasting)
    );

    // What the remedy says works.
    let mut named = quick;
    named["retry_on"] = json!(["CodeError"]);
    let ops = json!([{"id": "node:js", "from": code(json!({"attempts": 3, "initial_interval": 0.01, "jitter": false}))["node:js"], "to": code(named.clone())["node:js"]}]);
    app.ok("graph.apply", json!({"graphId": graph, "baseRev": 1, "ops": ops}))
        .await;
    let (_, events) = app
        .run(json!({"graphId": graph, "threadId": thread, "action": {"type": "continue"}}))
        .await;
    let attempts = events
        .iter()
        .filter(|event| matches!(event, AppEvent::TaskAttempt { .. }))
        .count();
    assert_eq!(attempts, 2, "three attempts in all");

    // Corrected, the task succeeds at the same checkpoint.
    let fixed = json!({"kind": "code", "config": {"source": "return {n: 1};"}});
    let now = app.ok("graph.get", json!({"graphId": graph})).await;
    let before = code(named)["node:js"].clone();
    let ops = json!([{"id": "node:js", "from": before, "to": fixed}]);
    app.ok(
        "graph.apply",
        json!({"graphId": graph, "baseRev": now["rev"], "ops": ops}),
    )
    .await;
    let (run, _) = app
        .run(json!({"graphId": graph, "threadId": thread, "action": {"type": "continue"}}))
        .await;
    assert_eq!(run["status"], "done", "{run}");
    let led = app.ok("thread.snapshot", json!({"threadId": thread})).await["previousTasks"].clone();
    assert_eq!(
        (&led[0]["status"], led[0].get("error")),
        (&json!("done"), None),
        "{led}"
    );
    let attempts: Vec<&Value> = (led[0]["attempts"].as_array().unwrap().iter())
        .map(|attempt| &attempt["attempt"])
        .collect();
    assert_eq!(attempts, [&json!(1), &json!(2), &json!(3)], "{led}");
}

/// The newest checkpoint by its id is the thread as it is: with what finished tasks of its open step wrote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_at_the_newest_checkpoint_is_what_changed_in_the_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let graph = app.draft("Desk", desk()).await;
    let thread = begin(&mut app, &graph, 1).await;
    let again = json!({"threadId": thread, "action": {"type": "input", "input": {"amount": 2}}});
    let (run, _) = app.run(again).await;
    assert_eq!(run["status"], "asking", "{run}");
    let of_thread = app.ok("inbox.changes", json!({"threadId": thread})).await;
    let newest = app.ok("thread.get", json!({"threadId": thread})).await["head"].clone();
    let at_newest = json!({"threadId": thread, "checkpointId": newest});
    assert_eq!(app.ok("inbox.changes", at_newest).await, of_thread);
    let differences = of_thread["comparison"]["differences"].to_string();
    assert!(differences.contains("checked"), "{differences}");
    app.close().await;
}
