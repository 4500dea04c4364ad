//! What one run does, from the engine's events: what interfaces receive of it, and what is kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use superstep::checkpoint::TaskId;
use superstep::stream::{AttemptFailed, CheckpointEvent, Payload, TaskEnd, TaskStart, TaskWaited};
use superstep::{RunError, RunResult, StreamEvent, Value};
use superstep_document::Document;
use superstep_nodes::models::Exchanges;
use superstep_nodes::registry::run_summary;
use tokio::time::Instant;

use crate::base::files;
use crate::base::values::interrupt_view;
use crate::ledger::{BackgroundWriter, Ledger, TaskRow};
use crate::runs::attempts::attempt_view;
use crate::runs::exchanges::view;
use crate::runs::tokens;
use crate::runs::trace::call;
use crate::threads::tasks::not_retried;
use crate::threads::ways::Wires;
use crate::wire::{
    AppEvent, AttemptView, DecisionView, ExchangeView, Problem, RunStatus, SpanAttempt, SpanEnd, SpanWait,
    TaskStatus, TraceSpan,
};

/// Ended tasks are handed in when this number waits, at a checkpoint, or when the run is quiet.
const TASKS_AT_ONCE: usize = 256;

/// Recorder of one run.
pub(crate) struct Recorder {
    thread_id: String,
    document: Arc<Document>,
    wires: Wires,
    keeper: Arc<BackgroundWriter>,
    /// The checkpoint that the current step starts from.
    checkpoint: String,
    /// Tasks whose result was kept from an earlier attempt at the step.
    kept: HashSet<String>,
    begun: HashMap<String, (Instant, String)>,
    ended: Vec<TaskRow>,
    /// What failed at tasks that have not ended, those of nested graphs too.
    attempts: HashMap<String, Vec<AttemptView>>,
    run_id: String,
    /// Tasks at work, those of nested graphs too, and those that ended and are not handed in yet.
    at_work: HashMap<String, TraceSpan>,
    spans: Vec<TraceSpan>,
    /// What the graph's nodes asked of models.
    exchanges: Arc<Exchanges>,
}

impl Recorder {
    pub(crate) fn new(
        keeper: Arc<BackgroundWriter>,
        thread_id: &str,
        run_id: &str,
        document: Arc<Document>,
        exchanges: Arc<Exchanges>,
    ) -> Self {
        Self {
            thread_id: thread_id.to_owned(),
            wires: Wires::of(&document),
            document,
            keeper,
            checkpoint: String::new(),
            kept: HashSet::new(),
            begun: HashMap::new(),
            ended: Vec::new(),
            attempts: HashMap::new(),
            run_id: run_id.to_owned(),
            at_work: HashMap::new(),
            spans: Vec::new(),
            exchanges,
        }
    }

    /// Renders the summary of a run that is done, from what it returned; `None` if the graph has none.
    pub(crate) fn summary(&self, status: RunStatus, result: &Result<RunResult, RunError>) -> Option<String> {
        let result = result.as_ref().ok().filter(|_| status == RunStatus::Done)?;
        run_summary(&self.document, &result.value)
    }

    /// Notes an event; gives what interfaces receive of it. Checkpoints are noted with [`Recorder::checkpoint`].
    pub(crate) fn note(&mut self, event: StreamEvent, known: Option<&Ledger>) -> Vec<AppEvent> {
        let root = event.ns.is_empty();
        if let Payload::TaskEnd(task) = &event.payload {
            self.keep_exchanges(task.id.as_str(), known);
        }
        self.trace(&event);
        match event.payload {
            Payload::TaskStart(task) if root => vec![self.task_started(&task, known)],
            Payload::TaskEnd(task) => {
                self.keep_attempts(&task.id.to_string());
                if self.spans.len() >= TASKS_AT_ONCE {
                    self.keep_tasks();
                }
                match root {
                    true => vec![self.task_ended(task)],
                    false => Vec::new(),
                }
            }
            Payload::AttemptFailed(failed) => self.attempt_failed(&failed, root).into_iter().collect(),
            Payload::TaskWaited(waited) if root => vec![self.waited(&waited)],
            Payload::Message(message, metadata) => self.message(&message, &metadata),
            Payload::Custom(value, task) => vec![AppEvent::Custom {
                thread_id: self.thread_id.clone(),
                node: self.emitter(task.as_ref()),
                task_id: task.map(|id| id.to_string()),
                value: value.into(),
                at: now(),
            }],
            _ => Vec::new(),
        }
    }

    /// Notes a checkpoint of the outermost graph.
    pub(crate) fn checkpoint(&mut self, event: &CheckpointEvent) {
        self.checkpoint = event.id.to_string();
        self.kept.clear();
        for task in event.tasks.iter() {
            if task.get("result").is_some()
                && let Some(id) = task.get("id").and_then(Value::as_str)
            {
                self.kept.insert(id.to_owned());
            }
        }
    }

    /// Returns the node whose task emitted something; if the task is not known, the node that is working, when there is
    /// only one.
    fn emitter(&self, task: Option<&TaskId>) -> String {
        let own = task.and_then(|id| self.at_work.get(id.as_str()));
        if let Some(span) = own.filter(|span| span.parent.is_none()) {
            return span.node.clone();
        }
        let mut nodes: Vec<&String> = self.begun.values().map(|(_, node)| node).collect();
        nodes.dedup();
        if let [only] = nodes[..] {
            only.clone()
        } else {
            String::new()
        }
    }

    fn task_started(&mut self, task: &TaskStart, known: Option<&Ledger>) -> AppEvent {
        let (thread_id, task_id, node) = (self.thread_id.clone(), task.id.to_string(), task.name.to_string());
        let step = i32::try_from(task.step).unwrap_or(i32::MAX);
        if self.kept.contains(&task_id) {
            let tasks = known.and_then(|ledger| {
                let tasks = ledger.tasks(&thread_id, &self.checkpoint, &self.checkpoint);
                tasks.ok()?.remove(&self.checkpoint)
            });
            let noted = tasks.into_iter().flatten().find(|noted| noted.task_id == task_id);
            let (targets, ways) = noted.map(|task| (task.targets, task.ways)).unwrap_or_default();
            return AppEvent::TaskEnded {
                targets,
                ways: ways.unwrap_or_default(),
                thread_id,
                task_id,
                node,
                step,
                at: now(),
                status: TaskStatus::Done,
                error: None,
                failure: None,
                not_retried: None,
                interrupts: Vec::new(),
                cached: true,
            };
        }
        self.begun.insert(task_id.clone(), (Instant::now(), node.clone()));
        AppEvent::TaskStarted {
            thread_id,
            task_id,
            node,
            step,
            at: now(),
        }
    }

    fn task_ended(&mut self, task: TaskEnd) -> AppEvent {
        let task_id = task.id.to_string();
        let status = match (&task.error, task.interrupts.is_empty()) {
            (Some(_), _) => TaskStatus::Failed,
            (None, false) => TaskStatus::Asking,
            (None, true) => TaskStatus::Done,
        };
        let targets: Vec<String> = task.targets.iter().map(ToString::to_string).collect();
        let ways = match status {
            TaskStatus::Done => {
                let decisions = task.record.as_ref().map(|record| &record.decisions);
                let decisions: Option<Vec<DecisionView>> =
                    decisions.map(|decisions| decisions.iter().map(Into::into).collect());
                self.wires.followed(&task.name, &targets, decisions.as_deref())
            }
            _ => Vec::new(),
        };
        if let Some((begun, _)) = self.begun.remove(&task_id) {
            self.ended.push(TaskRow {
                checkpoint_id: self.checkpoint.clone(),
                task_id: task_id.clone(),
                node: task.name.to_string(),
                millis: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
                finished: status == TaskStatus::Done,
                targets: targets.clone(),
                ways: Some(ways.clone()),
                status: task.failure.as_ref().and_then(|failure| failure.status),
                questions: task.interrupts.iter().map(|asked| asked.id.to_string()).collect(),
                at: files::now(),
            });
        }
        AppEvent::TaskEnded {
            thread_id: self.thread_id.clone(),
            task_id,
            node: task.name.to_string(),
            step: i32::try_from(task.step).unwrap_or(i32::MAX),
            at: now(),
            status,
            not_retried: (task.failure.as_ref())
                .and_then(|failure| not_retried(&self.document, &task.name, failure)),
            failure: task.failure.as_ref().map(Into::into),
            error: task.error,
            interrupts: task.interrupts.iter().map(interrupt_view).collect(),
            targets,
            ways,
            cached: false,
        }
    }

    /// Notes when a task began, failed and ended, of any graph of the run.
    fn trace(&mut self, event: &StreamEvent) {
        match &event.payload {
            Payload::TaskStart(task) => {
                let task_id = task.id.to_string();
                if self.kept.contains(&task_id) {
                    return;
                }
                let around = match event.ns.last() {
                    Some(place) => Some(place.to_string()),
                    None => self.caller(task),
                };
                let span = TraceSpan {
                    run_id: self.run_id.clone(),
                    task_id: task_id.clone(),
                    parent: around.map(|place| match place.rsplit_once(':') {
                        Some((_, id)) => id.to_owned(),
                        None => place,
                    }),
                    checkpoint_id: self.checkpoint.clone(),
                    node: task.name.to_string(),
                    step: i32::try_from(task.step).unwrap_or(i32::MAX),
                    started: now(),
                    ended: 0.0,
                    end: SpanEnd::Left,
                    error: None,
                    attempts: Vec::new(),
                    calls: Vec::new(),
                    waits: Vec::new(),
                };
                self.at_work.insert(task_id, span);
            }
            Payload::TaskWaited(waited) => {
                if let Some(span) = self.at_work.get_mut(waited.id.as_str()) {
                    let to = now();
                    let from = (to - waited.waited.as_secs_f64() * 1000.0).max(span.started);
                    span.waits.push(SpanWait { from, to });
                }
            }
            Payload::AttemptFailed(failed) => {
                if let Some(span) = self.at_work.get_mut(failed.id.as_str()) {
                    let view = attempt_view(failed);
                    span.attempts.push(SpanAttempt {
                        attempt: view.attempt,
                        ended: now(),
                        error: view.error,
                        wait_millis: view.wait_millis,
                    });
                }
            }
            Payload::TaskEnd(task) => {
                if let Some(span) = self.at_work.remove(task.id.as_str()) {
                    self.spans.push(TraceSpan {
                        ended: now(),
                        end: match (&task.error, task.interrupts.is_empty()) {
                            (Some(_), _) => SpanEnd::Failed,
                            (None, false) => SpanEnd::Asking,
                            (None, true) => SpanEnd::Done,
                        },
                        error: task.error.clone(),
                        ..span
                    });
                }
            }
            _ => {}
        }
    }

    /// Returns the task of the outermost graph that called this one: a call has a name of its own and does not name its
    /// caller, so the caller is known only when a single task of the step is at work.
    fn caller(&self, task: &TaskStart) -> Option<String> {
        let name = &*task.name;
        if task.triggers.iter().all(|trigger| &**trigger != "__pregel_push")
            || self.document.nodes().any(|(id, _)| id == name)
        {
            return None;
        }
        let mut callers = self.at_work.values().filter(|span| span.parent.is_none());
        match (callers.next(), callers.next()) {
            (Some(only), None) => Some(only.task_id.clone()),
            _ => None,
        }
    }

    /// Keeps what a task that is over asked of models: at once in a ledger that is at hand, so that it is there when the
    /// task's end is published.
    fn keep_exchanges(&mut self, task: &str, known: Option<&Ledger>) {
        let exchanges: Vec<ExchangeView> = self.exchanges.take(task).into_iter().map(view).collect();
        if exchanges.is_empty() {
            return;
        }
        if let Some(span) = self.at_work.get_mut(task) {
            span.calls.extend(exchanges.iter().map(call));
        }
        let (thread, task) = (self.thread_id.clone(), task.to_owned());
        let keep = move |ledger: &Ledger| {
            looked_at(&thread, ledger.keep_exchanges(&thread, &task, &exchanges));
        };
        match known {
            Some(ledger) => keep(ledger),
            None => self.keeper.then(keep),
        }
    }

    /// Returns the pieces of a model's answer; whole messages are skipped, because they soon appear in the state.
    fn message(&self, message: &Value, metadata: &Value) -> Vec<AppEvent> {
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(node) = text(metadata, "langgraph_node") else {
            return Vec::new();
        };
        let place = text(metadata, "langgraph_checkpoint_ns").unwrap_or_default();
        let task_id = place
            .rsplit_once(':')
            .map(|(_, id)| id.to_owned())
            .unwrap_or_default();
        let message_id = text(message, "id").unwrap_or_else(|| task_id.clone());
        let event = |piece| AppEvent::Token {
            thread_id: self.thread_id.clone(),
            task_id: task_id.clone(),
            node: node.clone(),
            message_id: message_id.clone(),
            piece,
            at: now(),
        };
        tokens::pieces(message).into_iter().map(event).collect()
    }

    /// Records a wait of a task; the time is not counted as work.
    fn waited(&mut self, waited: &TaskWaited) -> AppEvent {
        let task_id = waited.id.to_string();
        if let Some((begun, _)) = self.begun.get_mut(&task_id) {
            *begun += waited.waited;
        }
        AppEvent::TaskWaited {
            thread_id: self.thread_id.clone(),
            task_id,
            node: waited.name.to_string(),
            step: i32::try_from(waited.step).unwrap_or(i32::MAX),
            at: now(),
            millis: waited.waited.as_secs_f64() * 1000.0,
        }
    }

    fn attempt_failed(&mut self, failed: &AttemptFailed, root: bool) -> Option<AppEvent> {
        let (task_id, attempt) = (failed.id.to_string(), attempt_view(failed));
        let attempts = self.attempts.entry(task_id.clone()).or_default();
        attempts.push(attempt.clone());
        root.then(|| AppEvent::TaskAttempt {
            thread_id: self.thread_id.clone(),
            task_id,
            node: failed.name.to_string(),
            step: i32::try_from(failed.step).unwrap_or(i32::MAX),
            at: now(),
            attempt,
        })
    }

    /// Keeps what failed at a task before it was over.
    fn keep_attempts(&mut self, task: &str) {
        let Some(attempts) = self.attempts.remove(task) else {
            return;
        };
        let (thread, task) = (self.thread_id.clone(), task.to_owned());
        self.keeper.then(move |ledger| {
            looked_at(&thread, ledger.keep_attempts(&thread, &task, &attempts));
        });
    }

    /// Keeps how long tasks took that have ended, and when that was.
    pub(crate) fn keep_tasks(&mut self) {
        if self.ended.is_empty() && self.spans.is_empty() {
            return;
        }
        let (thread, tasks) = (self.thread_id.clone(), std::mem::take(&mut self.ended));
        let spans = std::mem::take(&mut self.spans);
        self.keeper.then(move |ledger| {
            looked_at(&thread, ledger.tasks_ended(&thread, &tasks));
            looked_at(&thread, ledger.keep_spans(&thread, &spans));
        });
    }

    /// Keeps what is left; what was cut off has failed attempts, too.
    pub(crate) fn end(&mut self) {
        for task in self.attempts.keys().cloned().collect::<Vec<_>>() {
            self.keep_attempts(&task);
        }
        for task in self.at_work.keys().cloned().collect::<Vec<_>>() {
            self.keep_exchanges(&task, None);
        }
        let now = now();
        let left = self
            .at_work
            .drain()
            .map(|(_, span)| TraceSpan { ended: now, ..span });
        self.spans.extend(left);
        self.keep_tasks();
    }
}

/// Logs a failure to store records that are kept only for viewing: a run does not fail because of it.
fn looked_at(thread: &str, kept: Result<(), Problem>) {
    if let Err(problem) = kept {
        tracing::warn!(thread, %problem, "times, attempts or exchanges of tasks were not stored");
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
fn now() -> f64 {
    files::now_ms() as f64
}
