//! A run of a program without a workbench, as the command line is one: claimed and recorded as a workbench would, and
//! followed to its end, over waits for a time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{CheckpointAddress, ClaimRequest, GraphVersion};
use superstep::run::EffectPolicy;
use superstep::run::{Breakpoint, StepTask};
use superstep::value::Object;
use superstep::{
    Checkpointer, Graph, Input, Name, RunConfig, RunError, RunResult, StreamEvent, StreamMode, ThreadId,
    Value,
};
use superstep_document::{Document, MAX_RECURSION_LIMIT};
use superstep_nodes::models::Exchanges;
use tokio_util::sync::CancellationToken;

use super::records::{AnswersOfRun, Recorded, RunRecord};
use crate::base::files::now_ms;
use crate::running::StopHandle;
use crate::running::claim::Claimant;
use crate::session::{Given, Origin, Start, only_waits};

/// The longest time that a timer is trusted: the machine may sleep meanwhile, and its timers with it.
const LOOK_EVERY: u64 = 10_000;

/// Parameters of a run that every host gives.
#[derive(Debug)]
pub(crate) struct RunOf<'a> {
    pub(crate) thread: &'a str,
    pub(crate) run_id: &'a str,
    pub(crate) document: &'a Document,
    pub(crate) origin: &'a Origin,
    /// None for a branch aside, which no other run can be on.
    pub(crate) claim: Option<ClaimRequest>,
    pub(crate) stop: StopHandle,
    /// In place of the document's.
    pub(crate) recursion_limit: Option<u32>,
    /// What the graph consists of.
    pub(crate) version: Arc<GraphVersion>,
}

impl RunOf<'_> {
    pub(crate) fn config(self) -> RunConfig {
        let limit = self.recursion_limit;
        let mut config = RunConfig::on(self.thread);
        config.claim = self.claim;
        config.recursion_limit = limit
            .unwrap_or_else(|| self.document.recursion_limit())
            .clamp(1, MAX_RECURSION_LIMIT);
        config.bounds = superstep_nodes::bounds(self.document);
        config.metadata = self.origin.of_run(self.run_id);
        config.tags = self
            .origin
            .labels
            .tags
            .iter()
            .map(|tag| tag.as_str().into())
            .collect();
        config.cancel = self.stop.cancel;
        config.drain = self.stop.drain;
        config.record = true;
        config.graph_version = Some(self.version);
        config.run_id = Some(self.run_id.to_owned());
        config
    }
}

/// The request for a run.
#[derive(Debug)]
pub struct RunRequest<'a> {
    /// The graph, with its database and its long-term memory.
    pub graph: Graph,
    /// Its document.
    pub document: &'a Document,
    /// What its checkpoints say of it.
    pub origin: Origin,
    /// The version of it, which its thread keeps.
    pub version: Arc<GraphVersion>,
    /// Thread.
    pub thread: ThreadId,
    /// With what it begins.
    pub start: Start,
    /// The modes of the stream that the watcher receives.
    pub modes: &'a [StreamMode],
    /// Super-steps, in place of the document's limit.
    pub recursion_limit: Option<u32>,
    /// Stop before these nodes; `*` means all.
    pub break_before: Vec<Name>,
    /// Stop after these nodes; `*` means all.
    pub break_after: Vec<Name>,
    /// Breakpoints with conditions.
    pub breakpoints: Vec<Breakpoint>,
    /// Run one task of the open step alone.
    pub step_task: Option<StepTask>,
    /// What nodes write instead of running.
    pub pinned: BTreeMap<Name, Value>,
    /// What nodes read and no node writes.
    pub context: Value,
    /// The most tasks at once.
    pub max_concurrency: Option<usize>,
    /// What happens with effects that were done already.
    pub effects: EffectPolicy,
    /// The thread is taken from a program that runs it.
    pub take_over: bool,
    /// Stops the run.
    pub cancel: CancellationToken,
    /// Where the run is recorded, when it is.
    pub record: Option<RecordIn<'a>>,
}

/// Place where a run is recorded.
#[derive(Clone, Debug)]
pub struct RecordIn<'a> {
    /// The data folder.
    pub data_dir: &'a Path,
    /// The name of the database there.
    pub storage: &'a str,
    /// What the run's nodes ask of models: the registry's that its graph was built with.
    pub exchanges: Arc<Exchanges>,
}

/// Receives what happens in a run.
pub trait Watcher {
    /// Receives an event of the requested modes; returns false when nobody reads any more, which stops the run. The
    /// thread stays resumable.
    fn event(&mut self, event: &StreamEvent) -> bool;
    /// Receives the time until which the thread waits, in milliseconds since the epoch; returns false when the run
    /// should not wait for it.
    fn waits(&mut self, until: u64) -> bool;
}

/// A run that has been claimed, and is recorded.
#[derive(Debug)]
pub struct Session {
    graph: Graph,
    thread: ThreadId,
    run_id: String,
    input: Input,
    config: RunConfig,
    modes: Vec<StreamMode>,
    claimant: Claimant,
    record: Option<RunRecord>,
}

impl Session {
    /// Claims a thread of this database for a run, and begins to record it.
    pub async fn begin(saver: &dyn Checkpointer, claimant: Claimant, request: RunRequest<'_>) -> Self {
        let run_id = uuid::Uuid::now_v7().to_string();
        let stop = StopHandle::from(request.cancel);
        let of = RunOf {
            thread: request.thread.as_str(),
            run_id: &run_id,
            document: request.document,
            origin: &request.origin,
            claim: Some(claimant.claim(saver, &request.thread, request.take_over).await),
            stop: stop.clone(),
            recursion_limit: request.recursion_limit,
            version: request.version,
        };
        let mut config = of.config();
        config.modes = request.modes.to_vec();
        config.interrupt_before = request.break_before;
        config.interrupt_after = request.break_after;
        config.breakpoints = request.breakpoints.into();
        config.step_task = request.step_task;
        config.pinned = request.pinned;
        config.context = request.context;
        config.max_concurrency = request.max_concurrency;
        config.effects = request.effects;
        let answers = match &request.record {
            Some(_) => answers_of(saver, &request.thread, &request.start).await,
            None => None,
        };
        let input = request.start.apply(&mut config);
        let record = request.record.and_then(|place| {
            RunRecord::begin(Recorded {
                data_dir: place.data_dir,
                thread_id: request.thread.as_str(),
                run_id: &run_id,
                document: request.document,
                storage: place.storage,
                program: claimant.program(),
                stop,
                exchanges: place.exchanges,
            })
        });
        let record = record.map(|mut record| {
            answers.iter().for_each(|answers| record.begin_answers(answers));
            record
        });
        if record.is_some() {
            (config.modes, config.subgraphs) = (RunRecord::with_modes(request.modes), true);
        }
        Self {
            graph: request.graph,
            thread: request.thread,
            run_id,
            input,
            config,
            modes: request.modes.to_vec(),
            claimant,
            record,
        }
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Runs it to its end.
    pub async fn follow(
        mut self,
        saver: &dyn Checkpointer,
        watcher: &mut impl Watcher,
    ) -> Result<RunResult, RunError> {
        let result = loop {
            let result = self.stretch(watcher).await;
            let waits = result.as_ref().ok();
            let until = waits.and_then(|result| only_waits(&result.interrupts));
            let Some(until) = until.filter(|until| watcher.waits(*until)) else {
                break result;
            };
            tokio::select! {
                () = self.config.cancel.cancelled() => break Err(RunError::Cancelled),
                () = passed(until) => {}
            }
            // A step of a branch that is not the newest is still open where it was answered.
            let here = result.ok().and_then(|result| result.checkpoint_id);
            match here.filter(|here| self.config.checkpoint_id.as_ref() == Some(here)) {
                Some(_) => self.input = Given::Answers(Object::new().into()).input(),
                None => (self.input, self.config.checkpoint_id) = (Given::Nothing.input(), None),
            }
            // A thread that was taken over once is not taken over again.
            self.config.claim = Some(self.claimant.claim(saver, &self.thread, false).await);
        };
        if let Some(mut record) = self.record {
            record.settle_answers(saver).await;
            record.end(&result).await;
        }
        result
    }

    /// Runs until the thread stops, be it to wait.
    async fn stretch(&mut self, watcher: &mut impl Watcher) -> Result<RunResult, RunError> {
        let mut run = self.graph.stream(self.input.clone(), self.config.clone());
        while let Some(event) = run.next().await {
            if let Some(record) = &mut self.record {
                record.note(&event);
            }
            // More is recorded than was asked for.
            let asked = event.ns.is_empty() && self.modes.contains(&event.mode());
            if asked && !watcher.event(&event) {
                run.cancel();
            }
        }
        run.finish().await
    }
}

/// Reads the questions that a run begins with answers to; `None` where it gives none, or they cannot be read.
async fn answers_of(saver: &dyn Checkpointer, thread: &ThreadId, start: &Start) -> Option<AnswersOfRun> {
    let Given::Answers(answer) = &start.given else {
        return None;
    };
    let checkpoint = match &start.checkpoint {
        Some(checkpoint) => checkpoint.clone(),
        None => saver.thread(thread).await.ok()??.head.id,
    };
    let address = CheckpointAddress::new(thread.clone(), start.ns.clone(), checkpoint.clone());
    Some(AnswersOfRun {
        pending: saver.writes_of(address).await.ok()?,
        checkpoint,
        answer: answer.clone(),
        person: start.person.clone(),
    })
}

/// Waits for a time of the clock.
async fn passed(until: u64) {
    loop {
        match until.saturating_sub(now_ms()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left.min(LOOK_EVERY))).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_time_that_has_passed_is_not_waited_for_and_another_is() {
        let began = now_ms();
        passed(began).await;
        passed(began + 60).await;
        assert!(now_ms() >= began + 60);
    }
}
