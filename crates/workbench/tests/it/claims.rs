//! A thread that another program runs: who does is reported, and the thread can be taken over.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use superstep::Checkpointer;
use superstep::checkpoint::{ClaimRequest, ClaimUse, Commit, Holder, StorageError, TakeOver};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// The database of threads as another program has it open.
async fn elsewhere(dir: &Path) -> Arc<dyn Checkpointer> {
    let file = dir.join("threads.db");
    superstep_storage::open(&file.to_string_lossy())
        .await
        .unwrap()
        .checkpointer
}

fn other() -> ClaimRequest {
    ClaimRequest::by(Holder::new("other", "the nightly import"))
}

async fn show(saver: &dyn Checkpointer, thread: &str, shown: ClaimUse) -> Result<(), StorageError> {
    let commit = Commit {
        thread: thread.into(),
        ns: "".into(),
        writes: Vec::new(),
        put: None,
        claim: Some(shown),
    };
    saver.commit(commit).await
}

/// Takes the claim of a thread, as the first commit of a run does.
async fn hold(saver: &dyn Checkpointer, thread: &str, by: &ClaimRequest) -> ClaimUse {
    let shown = ClaimUse {
        ends: false,
        ..by.change()
    };
    show(saver, thread, shown.clone()).await.unwrap();
    shown
}

/// A graph that asks, and then works for as long as it is let when the answer is "long".
fn desk() -> Value {
    json!({
        "key:answer": {"type": "string"},
        "node:ask": {"kind": "ask", "config": {"question": "Pay?", "into": "answer"}},
        "node:work": {"kind": "code", "config": {
            "source": "while (state.answer === 'long') {} return {};", "timeout_ms": 60_000
        }},
        "edge:1": {"from": "__start__", "to": "ask"},
        "edge:2": {"from": "ask", "to": "work"}
    })
}

async fn asking(app: &mut App) -> (String, Value) {
    let graph = app.draft("Desk", desk()).await;
    let (run, _) = app
        .run(json!({"graphId": graph, "action": {"type": "input", "input": {}}}))
        .await;
    assert_eq!(run["status"], "asking", "{run}");
    let thread = run["threadId"].as_str().unwrap().to_owned();
    let asked = app.ok("inbox.list", json!({"threadId": thread})).await;
    (thread, asked["questions"][0].clone())
}

fn answer(question: &Value, with: &str) -> Value {
    let id = question["interruptId"].as_str().unwrap();
    json!({"threadId": question["threadId"], "action": {"type": "resume", "answers": {id: with}}})
}

fn taking_over(request: &Value) -> Value {
    let mut request = request.clone();
    request["takeOver"] = true.into();
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_of_another_program_is_busy_until_it_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let saver = elsewhere(dir.path()).await;
    for command in [
        "run.start",
        "run.stop",
        "thread.update",
        "question.withdraw",
        "thread.delete",
    ] {
        let (thread, question) = asking(&mut app).await;
        let held = hold(&*saver, &thread, &other()).await;
        let request = match command {
            "run.start" => answer(&question, "short"),
            "thread.update" => json!({"threadId": thread, "values": {"answer": "no"}, "asNode": "ask"}),
            "question.withdraw" => json!({
                "threadId": thread, "checkpointId": question["checkpointId"], "interruptId": question["interruptId"]
            }),
            _ => json!({"threadId": thread}),
        };
        let before = app.ok("thread.get", json!({"threadId": thread})).await;
        let problem = app.refused(command, request.clone()).await;
        assert_eq!(problem.code, "thread-busy", "{command}: {problem}");
        assert!(
            problem.message.contains("the nightly import"),
            "{command}: {problem}"
        );
        let after = app.ok("thread.get", json!({"threadId": thread})).await;
        assert_eq!(before, after, "{command}: nothing is noted of what was refused");

        if command == "run.start" {
            let (run, _) = app.run(taking_over(&request)).await;
            assert_eq!(run["status"], "done", "{run}");
        } else {
            app.ok(command, taking_over(&request)).await;
        }
        let late = show(&*saver, &thread, ClaimUse { take: None, ..held }).await;
        assert!(
            matches!(late, Err(StorageError::Superseded { .. })),
            "{command}: the other program stores nothing more: {late:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_taken_over_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let saver = elsewhere(dir.path()).await;
    let (thread, question) = asking(&mut app).await;
    let watch = {
        let (saver, thread) = (saver.clone(), thread.clone());
        tokio::spawn(async move {
            let id = thread.as_str().into();
            // Once the run of the app holds the thread.
            while !(saver.coordination().unwrap().claim(&id).await.unwrap())
                .is_some_and(|held| held.is_live() && &*held.holder.id != "other")
            {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            let by = other().take_over(TakeOver::Always);
            hold(&*saver, &thread, &by).await
        })
    };
    let (run, _) = app.run(answer(&question, "long")).await;
    watch.await.unwrap();
    assert_eq!(
        (&run["status"], &run["problem"]["code"]),
        (&json!("stopped"), &json!("superseded")),
        "{run}"
    );
    assert_eq!(
        run["problem"]["message"],
        "Another program took this thread over: the nightly import."
    );
    let thread = app.ok("thread.get", json!({"threadId": thread})).await;
    assert_ne!(thread["status"], "failed", "{thread}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_another_window_runs_is_not_pruned_until_it_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = App::open(dir.path()).await;
    let (thread, question) = asking(&mut one).await;
    one.ok("run.start", answer(&question, "long")).await;
    let is_running = |event: &AppEvent| match event {
        AppEvent::TaskStarted { node, .. } if node == "work" => Some(()),
        _ => None,
    };
    one.until(is_running).await;
    let two = App::open(dir.path()).await;
    let of = json!({"threadId": thread});
    assert_eq!(two.ok("thread.get", of.clone()).await["status"], "running");
    let prune = json!({"threadIds": [thread], "keep": {"type": "latest"}});
    let busy = two.refused("thread.prune", prune.clone()).await;
    assert_eq!(busy.code, "busy");
    assert!(busy.message.contains("another window"), "{busy}");
    one.ok("run.stop", of.clone()).await;
    assert_eq!(two.ok("thread.get", of.clone()).await["status"], "stopped");
    let went = two.ok("thread.prune", prune).await;
    assert!(went["checkpoints"].as_u64() > Some(0), "{went}");
    assert_eq!(one.ok("thread.get", of).await["checkpoints"], 1);
    one.close().await;
    two.close().await;
}

/// A claim of another data folder or machine is all that is known of who runs a thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_another_program_runs_is_shown_as_running_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let saver = elsewhere(dir.path()).await;
    let (thread, _) = asking(&mut app).await;
    let of = json!({"threadId": thread});
    let held = hold(&*saver, &thread, &other()).await;
    let list = app.ok("thread.list", json!({"status": "running"})).await;
    for (what, view) in [
        ("thread.get", &app.ok("thread.get", of.clone()).await),
        ("thread.list", &list["threads"][0]),
    ] {
        assert_eq!(
            (&view["status"], &view["program"]),
            (&json!("running"), &json!("the nightly import")),
            "{what}: {view}"
        );
    }
    let ended = ClaimUse {
        ends: true,
        take: None,
        ..held
    };
    show(&*saver, &thread, ended).await.unwrap();
    let view = app.ok("thread.get", of).await;
    assert_eq!(
        (&view["status"], &view["program"]),
        (&json!("asking"), &Value::Null)
    );
    app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_claim_that_nobody_renews_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let saver = elsewhere(dir.path()).await;
    let (thread, _) = asking(&mut app).await;
    let of = json!({"threadId": thread});
    let mut length = std::time::Duration::from_secs(2);
    loop {
        hold(&*saver, &thread, &other().length(length)).await;
        // On a busy machine it may have ended before anybody looked.
        if app.ok("thread.get", of.clone()).await["status"] == "running" {
            break;
        }
        length *= 2;
    }
    let changed = |event: &AppEvent| matches!(event, AppEvent::Changed { threads: true, .. }).then_some(());
    loop {
        // The first is of the commit itself; for the last one nothing in the database has changed.
        app.until(changed).await;
        if app.ok("thread.get", of.clone()).await["status"] == "asking" {
            break;
        }
    }
    app.close().await;
}

/// Two windows of one data folder: the second one names the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_another_window_runs_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = App::open(dir.path()).await;
    let (thread, question) = asking(&mut one).await;
    one.ok("run.start", answer(&question, "long")).await;
    let is_running = |event: &AppEvent| match event {
        AppEvent::TaskStarted { node, .. } if node == "work" => Some(()),
        _ => None,
    };
    one.until(is_running).await;
    let two = App::open(dir.path()).await;
    let of = json!({"threadId": thread});
    let view = two.ok("thread.get", of.clone()).await;
    assert_eq!(view["status"], "running");
    let program = view["program"].as_str().unwrap_or_default();
    assert!(program.starts_with("the Superstep app"), "{view}");
    let own = one.ok("thread.get", of.clone()).await;
    assert_eq!(
        (&own["status"], &own["program"]),
        (&json!("running"), &Value::Null),
        "it runs here"
    );
    one.ok("run.stop", of).await;
    one.close().await;
    two.close().await;
}
