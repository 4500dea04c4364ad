//! Acceptance tests: all crates together. Here is what they share: a workbench on a folder of its own, driven as a host
//! drives it, by command names and JSON.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use superstep_workbench::wire::{AppEvent, Problem};
use superstep_workbench::{Options, Subscription, Workbench};

/// Returns the path of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// So long nothing happens only when nothing will. It is no bound on how fast something is: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A workbench under test.
pub struct App {
    /// The workbench.
    pub workbench: Arc<Workbench>,
    events: Subscription,
    /// Events that came in one batch with the one that was waited for, behind it.
    left: VecDeque<AppEvent>,
}

impl App {
    /// Opens a workbench on a data folder.
    pub async fn open(data_dir: &Path) -> Self {
        Self::open_with(Options::new(data_dir.to_path_buf())).await
    }

    /// Opens a workbench with the repository's examples and these options.
    pub async fn open_with(options: Options) -> Self {
        let options = options.examples_dir(repository().join("graphs"));
        let workbench = Workbench::open(options).await.expect("the workbench opens");
        let events = workbench.subscribe();
        App {
            workbench,
            events,
            left: VecDeque::new(),
        }
    }

    /// Ends the workbench and waits until its last task has let go of it: a folder has one user at a time.
    pub async fn close(self) {
        self.workbench.shutdown().await;
        for _ in 0..12_000 {
            if Arc::strong_count(&self.workbench) == 1 {
                // Dropped here, it is closed when this returns.
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("something still holds the workbench");
    }

    /// Calls a command that must succeed.
    pub async fn ok(&self, command: &str, request: Value) -> Value {
        match self.workbench.call(command, request.clone()).await {
            Ok(answer) => answer,
            Err(problem) => panic!("{command} {request} failed: {problem:?}"),
        }
    }

    /// Calls a command that must be refused.
    pub async fn refused(&self, command: &str, request: Value) -> Problem {
        match self.workbench.call(command, request.clone()).await {
            Ok(answer) => panic!("{command} {request} was not refused: {answer}"),
            Err(problem) => {
                assert!(!problem.message.is_empty(), "a problem says what happened");
                problem
            }
        }
    }

    /// Starts a run and reads events until it has ended; the run and everything that happened.
    pub async fn run(&mut self, request: Value) -> (Value, Vec<AppEvent>) {
        let started = self.ok("run.start", request).await;
        let run_id = started["runId"].as_str().expect("a run id").to_owned();
        let mut happened = Vec::new();
        loop {
            let mut events = self.batch().await.into_iter();
            let mut ended = None;
            for event in events.by_ref() {
                happened.push(event);
                if let Some(AppEvent::Run { run }) = happened.last()
                    && run.run_id == run_id
                    && run.ended_at.is_some()
                {
                    ended = Some(serde_json::to_value(run).expect("JSON"));
                    break;
                }
            }
            if let Some(run) = ended {
                // They are shown here, and somebody may wait for one of them.
                self.left = events.collect();
                happened.extend(self.left.iter().cloned());
                return (run, happened);
            }
        }
    }

    /// Receives the events of the next batch, or those that are left of the last one.
    pub async fn batch(&mut self) -> Vec<AppEvent> {
        if !self.left.is_empty() {
            return std::mem::take(&mut self.left).into();
        }
        let batch = tokio::time::timeout(PATIENCE, self.events.next()).await;
        let batch = batch.expect("something happens");
        batch.expect("the workbench is open").events
    }

    /// Reads events until `wanted` finds what it looks for.
    pub async fn until<T>(&mut self, wanted: impl Fn(&AppEvent) -> Option<T>) -> T {
        loop {
            let mut events = self.batch().await.into_iter();
            if let Some(found) = events.by_ref().find_map(|event| wanted(&event)) {
                self.left = events.collect();
                return found;
            }
        }
    }

    /// Waits until everything that was changed in a data folder by now is published, by whichever program; returns what
    /// was published. The program looks at everything at once, so a change of a file that is published comes last.
    pub async fn settled(&mut self, data_dir: &Path) -> Vec<AppEvent> {
        let file = data_dir.join("models.json");
        let mut seen = Vec::new();
        // What is seen first may be of a file that was changed before.
        for _ in 0..2 {
            let mut is_published = false;
            while !is_published {
                let text = std::fs::read_to_string(&file).unwrap_or_else(|_| "{}".into());
                std::fs::write(&file, text + " ").expect("write the file");
                // What was changed before the first look is no change: it is changed again.
                let until = tokio::time::Instant::now() + Duration::from_secs(1);
                while !is_published && let Ok(batch) = tokio::time::timeout_at(until, self.batch()).await {
                    let changed =
                        |event: &AppEvent| matches!(event, AppEvent::Changed { settings: true, .. });
                    is_published = batch.iter().any(changed);
                    seen.extend(batch);
                }
            }
        }
        seen
    }

    /// Returns the live state of a thread, by key.
    pub async fn state(&self, thread: &str, checkpoint: Option<&str>) -> Value {
        let mut request = json!({"threadId": thread, "pointer": ""});
        if let Some(id) = checkpoint {
            request["checkpointId"] = id.into();
        }
        self.ok("thread.value", request).await["value"].clone()
    }

    /// Creates a draft with these records, which have no problems, and returns its id.
    pub async fn draft(&self, name: &str, records: Value) -> String {
        let (id, problems) = self.draft_with_problems(name, records).await;
        assert_eq!(problems, json!([]), "the graph of a test has no problems");
        id
    }

    /// Creates a draft with these records and returns its id and its problems.
    pub async fn draft_with_problems(&self, name: &str, records: Value) -> (String, Value) {
        let graph = self.ok("graph.new", json!({"name": name})).await;
        let id = graph["graphId"].as_str().expect("an id").to_owned();
        let ops: Vec<Value> = records
            .as_object()
            .expect("records by id")
            .iter()
            .map(|(id, value)| json!({"id": id, "from": null, "to": value}))
            .collect();
        let applied = self
            .ok("graph.apply", json!({"graphId": id, "baseRev": 0, "ops": ops}))
            .await;
        (id, applied["diagnostics"].clone())
    }
}
