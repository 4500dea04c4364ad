//! Reads one run to its end: what interfaces receive of it, and what the ledger notes.

use std::sync::Arc;
use std::time::Duration;

use superstep::stream::{CheckpointEvent, Payload};
use superstep::{Run, RunError, RunResult, StreamEvent};
use superstep_document::Document;
use tokio::time::Instant;

use super::recorder::Recorder;
use super::{status_of, stop_of};
use crate::Workbench;
use crate::base::files;
use crate::ipc::{Ending, Report};
use crate::ledger::{RunLog, RunRow};
use crate::running::TakenThread;
use crate::runs::records::{checkpoint_view, within};
use crate::wire::{AppEvent, RunStatus, RunStop};

/// A thread's entry in lists is sent at most so often while it runs.
const THREAD_EVERY: Duration = Duration::from_millis(250);

/// Events of a run, up to its end.
pub(super) trait RunStream: Send + 'static {
    /// A checkpoint may be said before it is stored.
    const STORES_LATER: bool;
    /// Waits for the next event; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<StreamEvent>> + Send;
    /// Waits for the end, and says where a breakpoint stopped it.
    fn finish(self) -> impl Future<Output = (Result<RunResult, RunError>, Option<RunStop>)> + Send;
}

impl RunStream for Run {
    const STORES_LATER: bool = false;

    async fn next(&mut self) -> Option<StreamEvent> {
        Run::next(self).await
    }

    async fn finish(self) -> (Result<RunResult, RunError>, Option<RunStop>) {
        let result = Run::finish(self).await;
        let stop = stop_of(&result);
        (result, stop)
    }
}

/// Reader of one run, up to its end.
pub(super) struct RunReader {
    workbench: Arc<Workbench>,
    slot: TakenThread,
    run: RunRow,
    log: Arc<RunLog>,
    recorder: Recorder,
    thread_sent: Instant,
    thread_due: bool,
    /// To the program that handed the run over.
    report: Option<Report>,
}

impl RunReader {
    pub(super) fn new(
        workbench: Arc<Workbench>,
        slot: TakenThread,
        run: RunRow,
        log: Arc<RunLog>,
        document: Arc<Document>,
        report: Option<Report>,
    ) -> Self {
        Self {
            recorder: Recorder::new(
                workbench.runs.records.keeper(),
                &run.thread_id,
                &run.run_id,
                document,
                workbench.registry.exchanges().clone(),
            ),
            workbench,
            slot,
            run,
            log,
            thread_sent: Instant::now(),
            thread_due: false,
            report,
        }
    }

    pub(super) async fn read<S: RunStream>(mut self, mut stream: S) {
        // The run works already: nothing that is published of it holds it up.
        self.workbench.publish_thread(&self.run.thread_id).await;
        loop {
            // Quiet moments are for what can wait.
            match tokio::time::timeout(THREAD_EVERY, stream.next()).await {
                Ok(Some(event)) => self.event(event, S::STORES_LATER).await,
                Ok(None) => break,
                Err(_) => self.recorder.keep_tasks(),
            }
            if self.thread_due && self.thread_sent.elapsed() >= THREAD_EVERY {
                self.thread_due = false;
                self.recorder.keep_tasks();
                self.workbench.publish_thread(&self.run.thread_id).await;
                self.thread_sent = Instant::now();
            }
        }
        let (result, stop) = stream.finish().await;
        self.recorder.end();
        self.end(result, stop).await;
    }

    async fn event(&mut self, event: StreamEvent, stores_later: bool) {
        if let Some(report) = &mut self.report {
            report.note(&event);
        }
        let root = event.ns.is_empty();
        match &event.payload {
            Payload::Checkpoint(checkpoint) if root => {
                return self.checkpoint(checkpoint, stores_later).await;
            }
            Payload::Checkpoint(checkpoint) => {
                let within = within(&self.run.thread_id, &event, checkpoint);
                return self.workbench.hub.publish(within);
            }
            _ => {}
        }
        for event in self.recorder.note(event, Some(&self.workbench.ledger)) {
            self.emit(event);
        }
    }

    /// Publishes it and keeps it.
    fn emit(&self, event: AppEvent) {
        self.log.emit(event, |event| self.workbench.hub.publish(event));
    }

    async fn checkpoint(&mut self, event: &CheckpointEvent, stores_later: bool) {
        self.recorder.checkpoint(event);
        let mut has_stored = false;
        self.workbench.runs.with(&self.run.thread_id, |active| {
            // What was answered is stored with the checkpoint after the one that asked.
            if active
                .asked_at
                .as_ref()
                .is_some_and(|asked_at| asked_at != event.id.as_str())
            {
                has_stored = !active.answering.is_empty();
                active.answering.clear();
            }
        });
        if has_stored {
            self.note_stored();
        }
        let stored = self
            .workbench
            .checkpoint_event(&self.run.thread_id, event.id.as_str());
        let made = || AppEvent::Checkpoint {
            thread_id: self.run.thread_id.clone(),
            checkpoint: checkpoint_view(event),
        };
        if let Some(event) = stored.await.or_else(|| stores_later.then(made)) {
            self.emit(event);
        }
        self.thread_due = true;
    }

    /// Notes that the thread has the answers.
    fn note_stored(&self) {
        let workbench = &self.workbench;
        let noted = workbench
            .ledger
            .answers_stored(&self.run.thread_id, workbench.instance.id());
        if let Err(problem) = noted {
            tracing::warn!(thread = self.run.thread_id, %problem, "the answers of the run were not noted");
        }
    }

    async fn end(mut self, result: Result<superstep::RunResult, RunError>, stop: Option<RunStop>) {
        let (workbench, thread_id) = (self.workbench.clone(), self.run.thread_id.clone());
        let head = workbench
            .heads(&thread_id, None, Some(1))
            .await
            .ok()
            .and_then(|heads| heads.into_iter().next());
        let ending = Ending::from(&result);
        let (status, problem) = status_of(&result, head.as_ref().is_some_and(|head| !head.next.is_empty()));
        self.run.status = status;
        self.run.problem = problem;
        self.run.stop = stop;
        self.run.summary = self.recorder.summary(status, &result);
        self.run.ended_at = Some(files::now());
        if let Err(problem) = workbench.ledger.run_ended(&self.run) {
            tracing::error!(thread = thread_id, %problem, "the end of the run was not noted");
        }
        if let Some(id) = self.run.stop.as_ref().and_then(|stop| stop.breakpoint.as_deref()) {
            workbench.forget_once(&thread_id, id);
        }
        // How long its tasks took is there when its end is published.
        let written = workbench.runs.records.keeper().ask(|_| Ok(())).await;
        if let Err(problem) = written {
            tracing::warn!(thread = thread_id, %problem, "what the run did was not recorded");
        }
        // A run that ends because the program does has not done what was answered; that is seen at the next start.
        if status != RunStatus::Stopped || !workbench.jobs.ending.is_cancelled() {
            self.note_stored();
        }
        let run = self.run.view();
        // The thread is free before its end is published: a client that reacts at once must not find it busy.
        drop(self.slot);
        if let Some(head) = &head {
            workbench.publish_checkpoint(&thread_id, head.id.as_str()).await;
        }
        self.log
            .emit(AppEvent::Run { run }, |event| workbench.hub.publish(event));
        if let Some(report) = self.report {
            report.end(ending);
        }
        workbench.runs.records.ended(&self.log);
        workbench.publish_inbox(Some(&thread_id));
        if head.is_some() {
            workbench.publish_thread(&thread_id).await;
        } else {
            // Nothing was stored: there is no thread to go back to.
            let forgotten = thread_id.clone();
            workbench.runs.records.keeper().then(move |ledger| {
                let _ = ledger.delete_thread(&forgotten);
            });
            let _ = workbench.ledger.delete_thread(&thread_id);
            workbench.hub.publish(AppEvent::ThreadDeleted { thread_id });
        }
    }
}
