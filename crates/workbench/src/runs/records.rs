//! What runs did, for who looks at it later: read by interfaces, written by the runs of this process, and by hosts that run a
//! graph without a workbench.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use superstep::checkpoint::PendingWrite;
use superstep::stream::{CheckpointEvent, Payload};
use superstep::{
    CheckpointId, Checkpointer, Interrupt, RunError, RunResult, StreamEvent, StreamMode, ThreadId, Value,
};
use superstep_document::Document;
use superstep_nodes::models::Exchanges;
use tokio_util::sync::CancellationToken;

use crate::Workbench;
use crate::base::files;
use crate::base::instance::Instance;
use crate::events::hub::{Hub, Subscription};
use crate::ipc::{HandedRun, Hello, Host, Listener, Started};
use crate::ledger::{AnswerRow, BackgroundWriter, Ledger, RunLog, RunRow, StoredEvents};
use crate::running::StopHandle;
use crate::runs::{Recorder, status_of, stop_of};
use crate::session::{Answers, waiting_at};
use crate::threads::questions::answer_rows;
use crate::wire::commands;
use crate::wire::{
    AnswerState, AppEvent, CheckpointView, Json, Problem, ReadEvents, RunStatus, StopRun, ThreadEvents,
};
use superstep_document::text;

/// The modes of the engine's stream that a record is made from.
const MODES: [StreamMode; 6] = [
    StreamMode::Tasks,
    StreamMode::Checkpoints,
    StreamMode::Messages,
    StreamMode::Custom,
    StreamMode::Attempts,
    StreamMode::Waits,
];

/// How long another program may take to say what it has of a thread; without its answer, what it has not written is missing.
const READ_WITHIN: Duration = Duration::from_secs(10);
/// How long other programs may take to take the end of a run. They do at once, unless they are frozen or the machine is busy.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);

impl Workbench {
    pub(crate) async fn thread_events(
        self: &Arc<Self>,
        request: ReadEvents,
    ) -> Result<ThreadEvents, Problem> {
        // The program that runs the thread knows what it has not written yet.
        if let Some(program) = self.hub.elsewhere(&request.thread_id)
            && let Some(program) = self.programs.followed.peer(&program)
            && let Ok(asked) = serde_json::to_value(&request)
            && let Ok(answer) = program.call_within("thread.events", asked, READ_WITHIN).await
            && let Ok(events) = serde_json::from_value(answer)
        {
            return Ok(events);
        }
        let log = self.runs.records.open().get(&request.thread_id).cloned();
        events_of(request, log, &self.runs.records.keeper(), &self.hub).await
    }
}

/// Reads what was kept of a thread, and marks the current moment among the events.
async fn events_of(
    request: ReadEvents,
    log: Option<Arc<RunLog>>,
    keeper: &BackgroundWriter,
    hub: &Hub,
) -> Result<ThreadEvents, Problem> {
    let ReadEvents {
        thread_id,
        after,
        mark,
    } = request;
    let after = after.and_then(|after| i64::try_from(after).ok());
    let mut reading = None;
    let begin = || {
        let read = move |ledger: &Ledger| ledger.events(&thread_id, after);
        reading = Some(keeper.ask(read));
        if let Some(mark) = mark {
            hub.publish(AppEvent::Mark { mark });
        }
    };
    match log {
        Some(log) => log.hand_in_and(begin),
        None => begin(),
    }
    let kept = match reading {
        Some(reading) => reading.await?,
        None => StoredEvents::default(),
    };
    Ok(ThreadEvents {
        events: kept.events,
        left_out: kept.left_out,
        last: kept.last.unsigned_abs(),
    })
}

/// A run as other programs of the data folder see it.
#[derive(Clone, Debug)]
pub struct Recorded<'a> {
    /// The data folder.
    pub data_dir: &'a Path,
    /// Thread.
    pub thread_id: &'a str,
    /// Run.
    pub run_id: &'a str,
    /// Its graph.
    pub document: &'a Document,
    /// The name of the database that the thread is in.
    pub storage: &'a str,
    /// The program that runs it, as a person calls it.
    pub program: &'a str,
    /// Stops it.
    pub stop: StopHandle,
    /// What its nodes ask of models: the registry's that its graph was built with.
    pub exchanges: Arc<Exchanges>,
}

/// Answers that a run begins with, on their way into the history of the data folder.
#[derive(Debug)]
pub(super) struct AnswersOfRun {
    /// The questions as they wait there.
    pub(super) pending: Vec<PendingWrite>,
    pub(super) checkpoint: CheckpointId,
    pub(super) answer: Value,
    pub(super) person: Option<String>,
}

/// Answers that were kept and whose run goes on.
struct GivingAnswers {
    checkpoint: CheckpointId,
    rows: Vec<AnswerRow>,
}

/// Records one run in the ledger of a data folder, as a workbench would that had started it, and lets other programs follow and
/// stop it. Nothing that goes wrong with that is the run's concern: it is logged.
pub struct RunRecord {
    keeper: Arc<BackgroundWriter>,
    recorder: Recorder,
    log: Arc<RunLog>,
    run: RunRow,
    /// The last checkpoint has something left to run.
    is_open: bool,
    giving: Option<GivingAnswers>,
    hub: Arc<Hub>,
    /// The run is over, and noted.
    ended: CancellationToken,
    listener: Option<Listener>,
    /// Shows other processes that this one is alive.
    _instance: Instance,
}

/// Answers to what other programs may ask of a program that runs one graph.
struct RunHost {
    hello: Hello,
    thread_id: String,
    keeper: Arc<BackgroundWriter>,
    log: Arc<RunLog>,
    hub: Arc<Hub>,
    stop: StopHandle,
    ended: CancellationToken,
}

impl std::fmt::Debug for RunHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RunHost").field(&self.hello).finish()
    }
}

impl RunHost {
    fn busy(&self) -> Problem {
        Problem::new(
            "not-served",
            text!(
                "{program} runs one graph, and does nothing else for others.",
                program = &self.hello.program
            ),
        )
        .remedy(text!("Ask again when it has ended."))
    }
}

#[async_trait]
impl Host for RunHost {
    fn hello(&self) -> Hello {
        self.hello.clone()
    }

    async fn call(&self, command: String, request: Json) -> Result<Json, Problem> {
        let of_this = |thread_id: &str| match thread_id == self.thread_id {
            true => Ok(()),
            false => Err(Problem::not_found(text!(
                "{program} does not run this thread.",
                program = &self.hello.program
            ))
            .remedy(text!("It may have ended: look at the thread again."))),
        };
        match command.as_str() {
            "run.stop" => {
                let request: StopRun = commands::parse(&command, request)?;
                of_this(&request.thread_id)?;
                let done = self.stop.stop(&request, &self.ended).await?;
                commands::answer(&command, &done)
            }
            "thread.events" => {
                let request: ReadEvents = commands::parse(&command, request)?;
                of_this(&request.thread_id)?;
                let events = events_of(request, Some(self.log.clone()), &self.keeper, &self.hub).await?;
                commands::answer(&command, &events)
            }
            _ => Err(self.busy()),
        }
    }

    async fn run(&self, _: HandedRun) -> Result<Started, Problem> {
        Err(self.busy())
    }

    fn subscribe(&self) -> Option<Subscription> {
        Some(self.hub.subscribe_own())
    }
}

impl std::fmt::Debug for RunRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunRecord")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl RunRecord {
    /// Begins a record of a run of a graph; none where the data folder may not be written to.
    pub fn begin(run: Recorded<'_>) -> Option<Self> {
        let dir = run.data_dir;
        Self::try_begin(run)
            .inspect_err(|error| tracing::warn!(dir = %dir.display(), %error, "the run is not recorded"))
            .ok()
    }

    fn try_begin(recorded: Recorded<'_>) -> std::io::Result<Self> {
        let Recorded {
            data_dir,
            thread_id,
            run_id,
            document,
            storage,
            program,
            stop,
            exchanges,
        } = recorded;
        std::fs::create_dir_all(data_dir)?;
        let instance = Instance::enter(data_dir)?;
        let path = Ledger::of(data_dir);
        let keeper = Arc::new(BackgroundWriter::start(move || {
            Ledger::open(&path).map(Arc::new)
        })?);
        let run = RunRow {
            run_id: run_id.to_owned(),
            thread_id: thread_id.to_owned(),
            instance: instance.id().to_owned(),
            status: RunStatus::Running,
            started_at: files::now(),
            ended_at: None,
            problem: None,
            stop: None,
            summary: None,
        };
        let log = RunLog::new(keeper.clone(), thread_id, run_id);
        let began = run.clone();
        keeper.then(move |ledger| {
            if let Err(problem) = ledger.run_began(&began) {
                tracing::warn!(%problem, "the beginning of the run was not noted");
            }
        });
        let (hub, ended) = (Arc::<Hub>::default(), CancellationToken::new());
        log.emit(AppEvent::Run { run: run.view() }, |event| hub.publish(event));
        let host = RunHost {
            hello: Hello::of(&instance.holder(program).name, storage),
            thread_id: thread_id.to_owned(),
            keeper: keeper.clone(),
            log: log.clone(),
            hub: hub.clone(),
            stop,
            ended: ended.clone(),
        };
        Ok(Self {
            recorder: Recorder::new(
                keeper.clone(),
                thread_id,
                run_id,
                Arc::new(document.clone()),
                exchanges,
            ),
            keeper,
            log,
            run,
            is_open: false,
            giving: None,
            hub,
            ended,
            listener: Listener::start(&instance, Arc::new(host)),
            _instance: instance,
        })
    }

    /// Returns these stream modes together with those that a record is made from.
    pub fn with_modes(asked: &[StreamMode]) -> Vec<StreamMode> {
        let more = MODES.into_iter().filter(|mode| !asked.contains(mode));
        asked.iter().copied().chain(more).collect()
    }

    /// Notes the answers that the run begins with. A program that ends before they are stored leaves them so that another one
    /// finds out what became of them.
    pub(super) fn begin_answers(&mut self, given: &AnswersOfRun) {
        let answers = Answers::of(&given.answer);
        let answer_to = |question: &Interrupt| match &answers {
            Answers::Any => Some(Json::from(&given.answer)),
            Answers::ById(_) => given.answer.get(question.id.as_str()).map(Json::from),
        };
        let at = (self.run.thread_id.as_str(), given.checkpoint.as_str());
        let person = given.person.as_deref();
        let rows = answer_rows(&given.pending, at, person, &self.run.instance, answer_to);
        let of_run = rows.into_iter().map(|row| AnswerRow {
            state: AnswerState::Giving,
            ..row
        });
        let rows: Vec<AnswerRow> = of_run.collect();
        self.giving = Some(GivingAnswers {
            checkpoint: given.checkpoint.clone(),
            rows: rows.clone(),
        });
        self.keeper.then(move |ledger| {
            if let Err(problem) = ledger.keep_answers(&rows) {
                tracing::warn!(%problem, "the answers were not noted");
            }
        });
    }

    /// Notes what became of answers that no checkpoint followed.
    pub(super) async fn settle_answers(&mut self, saver: &dyn Checkpointer) {
        let Some(giving) = &self.giving else { return };
        let thread = ThreadId::from(self.run.thread_id.as_str());
        match waiting_at(saver, &thread, &giving.checkpoint).await {
            Ok(waiting) => self.end_answers(&waiting),
            Err(error) => tracing::warn!(%error, "what became of the answers is not known"),
        }
    }

    /// Notes what became of the answers: those to questions that wait still came back.
    fn end_answers(&mut self, waiting: &[Interrupt]) {
        let Some(GivingAnswers { rows, .. }) = self.giving.take() else {
            return;
        };
        let (thread, instance) = (self.run.thread_id.clone(), self.run.instance.clone());
        let waits = |row: &AnswerRow| {
            waiting
                .iter()
                .any(|question| question.id.as_str() == row.interrupt_id)
        };
        let back: Vec<String> = rows
            .iter()
            .filter(|row| waits(row))
            .map(|row| row.interrupt_id.clone())
            .collect();
        self.keeper.then(move |ledger| {
            if let Err(problem) = (ledger.answers_returned(&thread, &instance, &back))
                .and_then(|()| ledger.answers_stored(&thread, &instance))
            {
                tracing::warn!(%problem, "what became of the answers was not noted");
            }
        });
    }

    /// Notes an event of the run.
    pub fn note(&mut self, event: &StreamEvent) {
        if let (Payload::Checkpoint(checkpoint), true) = (&event.payload, event.ns.is_empty()) {
            // What was answered is stored with the checkpoint after the one that asked.
            if self
                .giving
                .as_ref()
                .is_some_and(|giving| giving.checkpoint != checkpoint.id)
            {
                self.end_answers(&[]);
            }
            self.recorder.checkpoint(checkpoint);
            self.is_open = !checkpoint.next.is_empty();
            let event = AppEvent::Checkpoint {
                thread_id: self.run.thread_id.clone(),
                checkpoint: checkpoint_view(checkpoint),
            };
            return self.log.emit(event, |event| self.hub.publish(event));
        }
        if let Payload::Checkpoint(checkpoint) = &event.payload {
            return self.hub.publish(within(&self.run.thread_id, event, checkpoint));
        }
        for event in self.recorder.note(event.clone(), None) {
            self.log.emit(event, |event| self.hub.publish(event));
        }
    }

    /// Notes how the run ended, and waits until everything is written.
    pub async fn end(mut self, result: &Result<RunResult, RunError>) {
        self.recorder.end();
        (self.run.status, self.run.problem) = status_of(result, self.is_open);
        self.run.stop = stop_of(result);
        self.run.summary = self.recorder.summary(self.run.status, result);
        self.run.ended_at = Some(files::now());
        let event = AppEvent::Run { run: self.run.view() };
        self.log.emit(event, |event| self.hub.publish(event));
        let ended = self.run.clone();
        self.log.hand_in_and(|| {});
        self.keeper.then(move |ledger| {
            if let Err(problem) = (ledger.run_ended(&ended))
                .and_then(|()| ledger.trim_events())
                .and_then(|()| ledger.trim_spans())
            {
                tracing::warn!(%problem, "the end of the run was not noted");
            }
        });
        self.keeper.finish();
        self.ended.cancel();
        self.hub.close();
        if let Some(listener) = self.listener {
            listener.close(TAKEN_WITHIN).await;
        }
    }
}

/// Builds the event for a nested graph that advanced one step.
pub(crate) fn within(thread_id: &str, event: &StreamEvent, made: &CheckpointEvent) -> AppEvent {
    AppEvent::Within {
        thread_id: thread_id.to_owned(),
        ns: event.ns.join("|"),
        next: made.next.iter().map(ToString::to_string).collect(),
    }
}

/// Builds the view of a checkpoint that was just made.
pub(crate) fn checkpoint_view(made: &CheckpointEvent) -> CheckpointView {
    CheckpointView {
        id: made.id.to_string(),
        parent: made.parent.as_ref().map(ToString::to_string),
        at: files::now(),
        source: made.metadata.source.as_str().to_owned(),
        step: i32::try_from(made.metadata.step).unwrap_or(i32::MAX),
        next: made.next.iter().map(ToString::to_string).collect(),
        updated: Vec::new(),
        questions: 0,
        failed: 0,
        bookmark: None,
        bookmark_note: None,
        as_node: None,
        run: None,
        what_if: None,
        by: crate::session::by(&made.metadata),
    }
}

/// Forgets what the ledger of a data folder has of threads that were deleted from the database at a place.
pub fn forget_threads(data_dir: &Path, place: &str, thread_ids: &[&str]) -> Result<(), Problem> {
    let path = Ledger::of(data_dir);
    if !path.exists() {
        return Ok(());
    }
    let ledger = Ledger::open(&path)?;
    // A thread of the same id in another database is another one.
    let elsewhere = ledger.threads_not_at(place, thread_ids)?;
    for thread_id in thread_ids.iter().filter(|id| !elsewhere.contains(**id)) {
        ledger.delete_thread(thread_id)?;
    }
    Ok(())
}
