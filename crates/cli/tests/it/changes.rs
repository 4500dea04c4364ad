//! An open app sees within a second what the command line does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use superstep_workbench::wire::AppEvent;
use superstep_workbench::{Options, Subscription, Workbench};

use crate::{User, example};

/// How long it may take until a change is seen.
const WITHIN: Duration = Duration::from_secs(1);

struct App {
    workbench: Arc<Workbench>,
    events: Subscription,
}

impl App {
    async fn open(user: &User) -> Self {
        let workbench = Workbench::open(Options::new(user.dir.path().join("data")));
        let workbench = workbench.await.unwrap();
        let events = workbench.subscribe();
        Self { workbench, events }
    }

    async fn ask(&self, command: &str, request: Json) -> Json {
        self.workbench.call(command, request).await.unwrap()
    }

    /// Waits for an event, for as long as it may take.
    async fn sees(&mut self, what: &str, wanted: impl Fn(&AppEvent) -> bool) {
        let until = Instant::now() + WITHIN;
        while let Ok(batch) = tokio::time::timeout_at(until.into(), self.events.next()).await {
            if batch.unwrap().events.iter().any(&wanted) {
                return;
            }
        }
        panic!("{what} is not seen within {WITHIN:?}");
    }

    /// Everything that comes while nothing happens.
    async fn quiet(&mut self) -> Vec<AppEvent> {
        let (mut came, until) = (Vec::new(), Instant::now() + Duration::from_millis(1200));
        while let Ok(batch) = tokio::time::timeout_at(until.into(), self.events.next()).await {
            came.extend(batch.unwrap().events);
        }
        came
    }
}

fn is_change(event: &AppEvent) -> bool {
    matches!(event, AppEvent::Changed { threads: true, .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_answers_and_deletions_of_another_program_are_seen() {
    let user = User::new();
    let mut app = App::open(&user).await;
    app.quiet().await;
    let input = r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#;
    user.expect(
        3,
        &["run", &example("refund-desk"), "--thread", "t", "--input", input],
    );
    app.sees("a new question", |event| {
        matches!(event, AppEvent::Inbox { waiting: 1 })
    })
    .await;
    let list = app.ask("thread.list", json!({})).await;
    assert_eq!(list["threads"][0]["threadId"], "t");

    app.quiet().await;
    let asked = app.ask("inbox.list", json!({})).await;
    let question = &asked["questions"][0];
    let answer = question["value"]["choices"][0]["value"].clone();
    user.expect(0, &["resume", "t", "--answer", &answer.to_string()]);
    app.sees("an answer", |event| {
        matches!(event, AppEvent::Inbox { waiting: 0 })
    })
    .await;

    app.quiet().await;
    user.expect(0, &["store", "put", "notes", "a", r#"{"text": "b"}"#]);
    app.sees("an item", is_change).await;

    app.quiet().await;
    user.expect(0, &["delete", "t", "--yes"]);
    app.sees("a deletion", is_change).await;
    assert_eq!(app.ask("thread.list", json!({})).await["threads"], json!([]));

    app.quiet().await;
    user.expect(0, &["trust", &example("refund-desk"), "--all"]);
    std::fs::write(user.dir.path().join("data/settings.json"), r#"{"name": "Ada"}"#).unwrap();
    app.sees("a setting", |event| {
        matches!(event, AppEvent::Changed { settings: true, .. })
    })
    .await;
    app.quiet().await;
    assert_eq!(app.ask("app.info", json!({})).await["settings"]["name"], "Ada");
    assert!(
        !app.quiet().await.iter().any(is_change),
        "nothing is reported while nothing happens"
    );
    app.workbench.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_program_does_itself_is_no_change() {
    let user = User::new();
    let mut app = App::open(&user).await;
    app.quiet().await;
    let graph = format!("{}/graph.json", example("counter"));
    let graph = app.ask("graph.open", json!({"path": graph})).await["graphId"].clone();
    let start = json!({"graphId": graph, "recursionLimit": 2000, "action": {"type": "input", "input": {"limit": 900}}});
    app.ask("run.start", start).await;
    app.ask(
        "store.put",
        json!({"namespace": ["n"], "key": "k", "value": {"a": 1}}),
    )
    .await;
    let (mut came, until) = (Vec::new(), Instant::now() + Duration::from_secs(20));
    while !came
        .iter()
        .any(|event| matches!(event, AppEvent::Run { run } if run.ended_at.is_some()))
    {
        assert!(Instant::now() < until, "the run ends");
        came.extend(app.quiet().await);
    }
    assert!(came.len() > 1800, "it ran");
    assert!(
        !came.iter().any(is_change),
        "the program's own commits were reported as another's"
    );
    app.workbench.shutdown().await;
}
