//! A run of the command line in an open app: what it does is seen while it does it, and it is stopped from there.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep_workbench::wire::{AppEvent, Problem, RunStatus};
use superstep_workbench::{Options, Subscription, Workbench};

use crate::User;

/// So long nothing is waited for that happens; the machine may be busy.
const SOON: Duration = Duration::from_secs(120);

pub(crate) fn talk() -> Json {
    // More than a busy machine gets through before it is stopped.
    let words: Vec<String> = (0..1000).map(|n| format!("word{n}")).collect();
    json!({
        "format": "superstep/1",
        "name": "Talk",
        "state": {"said": {"type": "string"}},
        "nodes": {"talk": {"kind": "model", "config": {
            "model": "scripted", "prompt": "Talk", "into": "said", "pace_ms": 200, "script": [{"say": words.join(" ")}]
        }}},
        "edges": [{"from": "__start__", "to": "talk"}, {"from": "talk", "to": "__end__"}]
    })
}

struct App {
    workbench: Arc<Workbench>,
    events: Subscription,
}

impl App {
    async fn open(user: &User) -> Self {
        let options = Options::new(user.dir.path().join("data"));
        let workbench = Workbench::open(options).await.unwrap();
        let events = workbench.subscribe();
        Self { workbench, events }
    }

    /// Reads events until one is wanted.
    async fn until<T>(&mut self, wanted: impl Fn(&AppEvent) -> Option<T>) -> (T, Vec<AppEvent>) {
        let (mut seen, end) = (Vec::new(), tokio::time::Instant::now() + SOON);
        loop {
            let batch = tokio::time::timeout_at(end, self.events.next()).await;
            let batch = batch.unwrap_or_else(|_| panic!("it does not happen; only {seen:#?}"));
            for event in batch.unwrap().events {
                let found = wanted(&event);
                seen.push(event);
                if let Some(found) = found {
                    return (found, seen);
                }
            }
        }
    }
}

fn run(user: &User, thread: &str) -> Child {
    let graph = user.graph("talk.json", &talk());
    user.command(&["run", &graph, "--thread", thread, "--input", "{}"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn is_token(event: &AppEvent) -> Option<()> {
    matches!(event, AppEvent::Token { .. }).then_some(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_of_a_run_are_seen_before_its_next_checkpoint() {
    let user = User::new();
    let mut app = App::open(&user).await;
    let child = run(&user, "t");
    let (_, seen) = app.until(is_token).await;
    let over = |event: &AppEvent| {
        matches!(event, AppEvent::TaskEnded { .. })
            || matches!(event, AppEvent::Run { run } if run.ended_at.is_some())
    };
    assert!(!seen.iter().any(over), "the node still speaks: {seen:?}");
    let program = seen.iter().find_map(|event| match event {
        AppEvent::Run { run } => run.program.clone(),
        _ => None,
    });
    assert!(
        program.is_some_and(|program| program.starts_with("the superstep command")),
        "who runs it is shown: {seen:?}"
    );

    app.workbench
        .call("run.stop", json!({"threadId": "t"}))
        .await
        .unwrap();
    let stopped = |event: &AppEvent| match event {
        AppEvent::Run { run } if run.ended_at.is_some() => Some(run.status),
        _ => None,
    };
    assert_eq!(app.until(stopped).await.0, RunStatus::Stopped);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "it was stopped, not taken over");
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.contains("Stopped. What was finished is kept"),
        "{message}"
    );
    app.workbench.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_killed_is_shown_as_stopped() {
    let user = User::new();
    let mut app = App::open(&user).await;
    let mut child = run(&user, "t");
    app.until(is_token).await;
    child.kill().unwrap();
    child.wait().unwrap();
    let changed = |event: &AppEvent| matches!(event, AppEvent::Changed { threads: true, .. }).then_some(());
    app.until(changed).await;
    let thread = json!({"threadId": "t"});
    let shown = app.workbench.call("thread.get", thread.clone()).await.unwrap();
    assert_eq!(shown["status"], "stopped", "{shown}");
    let tasks = app
        .workbench
        .call("thread.snapshot", thread.clone())
        .await
        .unwrap();
    assert_ne!(tasks["tasks"][0]["status"], "running", "{tasks}");
    let events = app.workbench.call("thread.events", thread).await;
    events.expect("what was kept is read here");
    app.workbench.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_frozen_is_not_waited_for_and_can_be_taken_over() {
    let user = User::new();
    let mut app = App::open(&user).await;
    let mut child = run(&user, "t");
    app.until(is_token).await;
    let signal = |name: &str| {
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
    };
    // A program that is frozen in the middle of a commit keeps the whole file locked, for reading or only for writing,
    // which is another answer: it is let go on for a moment then and frozen once more.
    let locked = |problem: &Problem| problem.code == "busy" || problem.message.contains("database is locked");
    loop {
        signal("-STOP");
        // It answers nothing, so whatever comes was not waited for.
        let refused = app.workbench.call("run.stop", json!({"threadId": "t"})).await;
        let refused = refused.unwrap_err();
        // Its claim may have ended meanwhile, because it does not renew it; that it lives is known all the same.
        let lapsed = refused.message.contains("another window or program");
        if lapsed || !locked(&refused) {
            assert!(lapsed || refused.code == "thread-busy", "{refused:?}");
            let taken = json!({"threadId": "t", "takeOver": true});
            match app.workbench.call("run.stop", taken).await {
                Ok(_) => break,
                Err(problem) => assert!(locked(&problem), "{problem:?}"),
            }
        }
        signal("-CONT");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    signal("-CONT");
    // Its next commit is refused; or it comes first to the request to stop that it was sent while it was frozen.
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(1 | 130)), "it runs no more: {code:?}");
    app.workbench.shutdown().await;
}
