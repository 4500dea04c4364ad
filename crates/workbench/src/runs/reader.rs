//! Reads one run to its end: what interfaces are told of it, and what the ledger notes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use superstep::{
    AttemptFailed, CheckpointEvent, Payload, Run, RunError, StreamEvent, TaskEnd, TaskStart, Value,
};
use tokio::time::Instant;

use super::{Slot, status_of, view};
use crate::Workbench;
use crate::attempts::attempt_view;
use crate::files;
use crate::graphs::Built;
use crate::inbox::interrupt_view;
use crate::ledger::{RunRow, TaskRow};
use crate::snapshot::not_retried;
use crate::tokens;
use crate::wire::{AppEvent, AttemptView, TaskStatus};

/// A thread's entry in lists is sent at most so often while it runs.
const THREAD_EVERY: Duration = Duration::from_millis(250);
/// Ended tasks are written to the ledger when so many wait, or when the run is quiet.
const TASKS_AT_ONCE: usize = 256;

/// Reads one run to its end.
pub(super) struct Reader {
    workbench: Arc<Workbench>,
    slot: Slot,
    run: RunRow,
    /// The checkpoint that the current step starts from.
    checkpoint: String,
    /// Tasks whose result was kept from an earlier attempt at the step.
    kept: HashSet<String>,
    begun: HashMap<String, (Instant, String)>,
    /// Tasks that have not ended, those of nested graphs too.
    working: HashSet<String>,
    ended: Vec<TaskRow>,
    /// What failed at tasks that have not ended, those of nested graphs too.
    attempts: HashMap<String, Vec<AttemptView>>,
    thread_sent: Instant,
    thread_due: bool,
    built: Arc<Built>,
}

impl Reader {
    pub(super) fn new(workbench: Arc<Workbench>, slot: Slot, run: RunRow, built: Arc<Built>) -> Self {
        Self {
            workbench,
            slot,
            run,
            checkpoint: String::new(),
            kept: HashSet::new(),
            begun: HashMap::new(),
            working: HashSet::new(),
            ended: Vec::new(),
            attempts: HashMap::new(),
            thread_sent: Instant::now(),
            thread_due: false,
            built,
        }
    }

    pub(super) async fn read(mut self, mut stream: Run) {
        // The run works already: nothing that is told of it holds it up.
        self.workbench.publish_thread(&self.run.thread_id).await;
        loop {
            // Quiet moments are for what can wait.
            match tokio::time::timeout(THREAD_EVERY, stream.next()).await {
                Ok(Some(event)) => self.event(event).await,
                Ok(None) => break,
                Err(_) => self.store_tasks(),
            }
            if self.thread_due && self.thread_sent.elapsed() >= THREAD_EVERY {
                self.thread_due = false;
                self.workbench.publish_thread(&self.run.thread_id).await;
                self.thread_sent = Instant::now();
            }
        }
        let result = stream.finish().await;
        // What was cut off has asked, too.
        for task in std::mem::take(&mut self.working) {
            self.store_exchanges(&task);
            self.store_attempts(&task);
        }
        self.store_tasks();
        self.end(result).await;
    }

    async fn event(&mut self, event: StreamEvent) {
        let root = event.ns.is_empty();
        match &event.payload {
            Payload::TaskStart(task) => {
                self.working.insert(task.id.to_string());
            }
            Payload::TaskEnd(task) => {
                let id = task.id.to_string();
                self.working.remove(&id);
                self.store_exchanges(&id);
                self.store_attempts(&id);
            }
            _ => {}
        }
        match event.payload {
            Payload::Checkpoint(checkpoint) if root => self.checkpoint(*checkpoint).await,
            Payload::Checkpoint(checkpoint) => self.publish(AppEvent::Within {
                thread_id: self.run.thread_id.clone(),
                ns: event.ns.join("|"),
                next: checkpoint.next.iter().map(ToString::to_string).collect(),
            }),
            Payload::TaskStart(task) if root => self.task_started(task),
            Payload::TaskEnd(task) if root => self.task_ended(task),
            Payload::AttemptFailed(failed) => self.attempt_failed(&failed, root),
            Payload::Message(message, metadata) => self.message(&message, &metadata),
            Payload::Custom(value) => self.publish(AppEvent::Custom {
                thread_id: self.run.thread_id.clone(),
                node: self.only_node(),
                value: value.into(),
                at: now(),
            }),
            _ => {}
        }
    }

    /// The node that works, when there is only one: what a node emits does not say whose it is.
    fn only_node(&self) -> String {
        let mut nodes: Vec<&String> = self.begun.values().map(|(_, node)| node).collect();
        nodes.dedup();
        if let [only] = nodes[..] {
            only.clone()
        } else {
            String::new()
        }
    }

    fn publish(&self, event: AppEvent) {
        self.workbench.hub.publish(event);
    }

    async fn checkpoint(&mut self, event: CheckpointEvent) {
        self.checkpoint = event.id.to_string();
        self.kept.clear();
        self.workbench.runs.with(&self.run.thread_id, |active| {
            // What was answered is stored with the checkpoint after the one that asked.
            if active
                .asked_at
                .as_ref()
                .is_some_and(|asked_at| *asked_at != self.checkpoint)
            {
                active.answering.clear();
            }
        });
        for task in event.tasks.iter() {
            if task.get("result").is_some()
                && let Some(id) = task.get("id").and_then(Value::as_str)
            {
                self.kept.insert(id.to_owned());
            }
        }
        self.workbench
            .publish_checkpoint(&self.run.thread_id, event.id.as_str())
            .await;
        self.thread_due = true;
    }

    fn task_started(&mut self, task: TaskStart) {
        let (thread_id, task_id, node) = (
            self.run.thread_id.clone(),
            task.id.to_string(),
            task.name.to_string(),
        );
        let step = i32::try_from(task.step).unwrap_or(i32::MAX);
        if self.kept.contains(&task_id) {
            let noted = self
                .workbench
                .ledger
                .tasks(&thread_id, &self.checkpoint, &self.checkpoint)
                .unwrap_or_default();
            let noted = noted
                .get(&self.checkpoint)
                .and_then(|tasks| tasks.iter().find(|t| t.task_id == task_id));
            self.publish(AppEvent::TaskEnded {
                targets: noted.map(|task| task.targets.clone()).unwrap_or_default(),
                thread_id,
                task_id,
                node,
                step,
                at: now(),
                status: TaskStatus::Done,
                error: None,
                not_retried: None,
                interrupts: Vec::new(),
                cached: true,
            });
            return;
        }
        self.begun.insert(task_id.clone(), (Instant::now(), node.clone()));
        self.workbench.runs.with(&thread_id, |active| {
            active.tasks.insert(task_id.clone());
        });
        self.publish(AppEvent::TaskStarted {
            thread_id,
            task_id,
            node,
            step,
            at: now(),
        });
    }

    fn task_ended(&mut self, task: TaskEnd) {
        let task_id = task.id.to_string();
        let status = match (&task.error, task.interrupts.is_empty()) {
            (Some(_), _) => TaskStatus::Failed,
            (None, false) => TaskStatus::Asking,
            (None, true) => TaskStatus::Done,
        };
        self.workbench.runs.with(&self.run.thread_id, |active| {
            active.tasks.remove(&task_id);
        });
        let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
        if let Some((begun, _)) = self.begun.remove(&task_id) {
            self.ended.push(TaskRow {
                checkpoint_id: self.checkpoint.clone(),
                task_id: task_id.clone(),
                node: task.name.to_string(),
                millis: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
                finished: status == TaskStatus::Done,
                targets: targets.clone(),
            });
        }
        if self.ended.len() >= TASKS_AT_ONCE {
            self.store_tasks();
        }
        self.publish(AppEvent::TaskEnded {
            thread_id: self.run.thread_id.clone(),
            task_id,
            node: task.name.to_string(),
            step: i32::try_from(task.step).unwrap_or(i32::MAX),
            at: now(),
            status,
            not_retried: (task.error.as_deref())
                .and_then(|error| not_retried(&self.built.source.document, &task.name, error)),
            error: task.error,
            interrupts: task.interrupts.iter().map(interrupt_view).collect(),
            targets,
            cached: false,
        });
    }

    /// Pieces of a model's answer; whole messages are in the state soon enough.
    fn message(&self, message: &Value, metadata: &Value) {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(node) = text(metadata, "langgraph_node") else {
            return;
        };
        let place = text(metadata, "langgraph_checkpoint_ns").unwrap_or_default();
        let task_id = place
            .rsplit_once(':')
            .map(|(_, id)| id.to_owned())
            .unwrap_or_default();
        let message_id = text(message, "id").unwrap_or_else(|| task_id.clone());
        for piece in tokens::pieces(message) {
            self.publish(AppEvent::Token {
                thread_id: self.run.thread_id.clone(),
                task_id: task_id.clone(),
                node: node.clone(),
                message_id: message_id.clone(),
                piece,
            });
        }
    }

    /// Keeps what was asked of models by a task that is over.
    fn store_exchanges(&self, task: &str) {
        let exchanges = self.workbench.taken_exchanges(task);
        if exchanges.is_empty() {
            return;
        }
        // They are for looking: a run does not fail because they could not be written.
        if let Err(problem) = self
            .workbench
            .ledger
            .keep_exchanges(&self.run.thread_id, task, &exchanges)
        {
            tracing::warn!(thread = self.run.thread_id, %problem, "exchanges with models were not stored");
        }
    }

    fn attempt_failed(&mut self, failed: &AttemptFailed, root: bool) {
        let (task_id, attempt) = (failed.id.to_string(), attempt_view(failed));
        self.attempts
            .entry(task_id.clone())
            .or_default()
            .push(attempt.clone());
        if root {
            self.publish(AppEvent::TaskAttempt {
                thread_id: self.run.thread_id.clone(),
                task_id,
                node: failed.name.to_string(),
                step: i32::try_from(failed.step).unwrap_or(i32::MAX),
                at: now(),
                attempt,
            });
        }
    }

    /// Keeps what failed at a task before it was over.
    fn store_attempts(&mut self, task: &str) {
        let Some(attempts) = self.attempts.remove(task) else {
            return;
        };
        // They are for looking, as the exchanges are.
        if let Err(problem) = self
            .workbench
            .ledger
            .keep_attempts(&self.run.thread_id, task, &attempts)
        {
            tracing::warn!(thread = self.run.thread_id, %problem, "failed attempts were not stored");
        }
    }

    fn store_tasks(&mut self) {
        if self.ended.is_empty() {
            return;
        }
        // Durations are a convenience: a run does not fail because they could not be written.
        if let Err(problem) = self
            .workbench
            .ledger
            .tasks_ended(&self.run.thread_id, &self.ended)
        {
            tracing::warn!(thread = self.run.thread_id, %problem, "durations of tasks were not stored");
        }
        self.ended.clear();
    }

    async fn end(mut self, result: Result<superstep::RunResult, RunError>) {
        let (workbench, thread_id) = (self.workbench.clone(), self.run.thread_id.clone());
        let head = workbench
            .heads(&thread_id, None, Some(1))
            .await
            .ok()
            .and_then(|heads| heads.into_iter().next());
        let (status, problem) = status_of(&result, head.as_ref().is_some_and(|head| !head.next.is_empty()));
        self.run.status = status;
        self.run.problem = problem;
        self.run.ended_at = Some(files::now());
        if let Err(problem) = workbench.ledger.run_ended(&self.run) {
            tracing::error!(thread = thread_id, %problem, "the end of the run was not noted");
        }
        let run = view(&self.run);
        // The thread is free before anybody hears of it: whoever reacts at once must not find it busy.
        drop(self.slot);
        if let Some(head) = &head {
            workbench.publish_checkpoint(&thread_id, head.id.as_str()).await;
        }
        workbench.hub.publish(AppEvent::Run { run });
        workbench.publish_inbox(Some(&thread_id));
        if head.is_some() {
            workbench.publish_thread(&thread_id).await;
        } else {
            // Nothing was stored: there is no thread to go back to.
            let _ = workbench.ledger.delete_thread(&thread_id);
            workbench.hub.publish(AppEvent::ThreadDeleted { thread_id });
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
fn now() -> f64 {
    files::now_ms() as f64
}
