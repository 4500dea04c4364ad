//! Runs: one per thread at a time, from the request to the last event.
//!
//! The engine's stream is read by one task per run, which publishes what happens, notes in the ledger how long
//! tasks took and where they led, and says at the end how the run stands. Nothing here is needed to resume: the
//! checkpoints are; a process that dies leaves a run that the next one shows as stopped.

mod reader;
mod recorder;
mod stop;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use superstep::{
    CheckpointId, Input, Interrupt, Name, Object, RunConfig, RunError, RunStatus as Ended, StorageError,
    StreamMode, Value, waiting_questions,
};
use superstep_document::MAX_RECURSION_LIMIT;
use superstep_nodes::kinds::ask;
use tokio_util::sync::CancellationToken;

use self::reader::Reader;
pub(crate) use self::recorder::Recorder;
pub(crate) use self::stop::stopped;
use crate::Workbench;
use crate::documents::blocking;
use crate::effects;
use crate::files;
use crate::inbox::already_answered;
use crate::ipc::Handed;
use crate::ledger::{RunRow, ThreadRow};
use crate::threads::{GRAPH, GRAPH_PATH, RUN_ID, problem};
use crate::values::first_text;
use crate::wire::{AppEvent, Json, Problem, RunAction, RunModels, RunStatus, RunView, StartRun};

/// Characters of a title.
pub(crate) const TITLE: usize = 60;

/// Runs of this process by thread.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    active: Mutex<HashMap<String, Active>>,
}

#[derive(Debug, Default)]
struct Active {
    /// False while a thread is only reserved, for an edit or while a run is prepared.
    running: bool,
    cancel: CancellationToken,
    ended: CancellationToken,
    /// Questions that this run answers, until what it did with the answers is stored.
    answering: Vec<String>,
    /// The checkpoint that asks them.
    asked_at: Option<String>,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_running(&self, thread_id: &str) -> bool {
        self.lock().get(thread_id).is_some_and(|active| active.running)
    }

    /// Threads that run.
    pub(crate) fn running(&self) -> Vec<String> {
        let active = self.lock();
        let running = active.iter().filter(|(_, active)| active.running);
        running.map(|(thread_id, _)| thread_id.clone()).collect()
    }

    /// Keeps every thread from being taken for as long as the answer is held; `None` when one is taken already.
    pub(crate) fn idle(&self) -> Option<impl Drop + '_> {
        let active = self.lock();
        active.is_empty().then_some(active)
    }

    pub(crate) fn answering(&self, thread_id: &str) -> Vec<String> {
        self.lock()
            .get(thread_id)
            .map(|active| active.answering.clone())
            .unwrap_or_default()
    }

    /// Questions that are being answered, by thread and checkpoint.
    pub(crate) fn being_answered(&self) -> Vec<(String, String, Vec<String>)> {
        let active = self.lock();
        let answered = active.iter().filter(|(_, active)| !active.answering.is_empty());
        answered
            .filter_map(|(thread, active)| {
                Some((thread.clone(), active.asked_at.clone()?, active.answering.clone()))
            })
            .collect()
    }

    fn with(&self, thread_id: &str, change: impl FnOnce(&mut Active)) {
        if let Some(active) = self.lock().get_mut(thread_id) {
            change(active);
        }
    }

    /// Stops every run and waits, but not for ever.
    pub(crate) async fn stop_all(&self, within: Duration) {
        let ends: Vec<CancellationToken> = {
            let active = self.lock();
            active.values().for_each(|run| run.cancel.cancel());
            active.values().map(|run| run.ended.clone()).collect()
        };
        let all = async {
            for ended in ends {
                ended.cancelled().await;
            }
        };
        let _ = tokio::time::timeout(within, all).await;
    }
}

/// A thread that is taken; given back when dropped, however the work on it ends.
#[derive(Debug)]
pub(crate) struct Slot {
    workbench: Weak<Workbench>,
    thread_id: String,
    cancel: CancellationToken,
    ended: CancellationToken,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(workbench) = self.workbench.upgrade() {
            workbench.runs.lock().remove(&self.thread_id);
            workbench.hub.forget(&self.thread_id);
        }
        self.ended.cancel();
    }
}

/// How a graph's own error text `Class('message')` reads to a person is the interface's business; codes are ours.
pub(crate) fn status_of(
    result: &Result<superstep::RunResult, RunError>,
    open: bool,
) -> (RunStatus, Option<Problem>) {
    match result {
        Ok(result) => match result.status {
            Ended::Done => (RunStatus::Done, None),
            Ended::Interrupted => (RunStatus::Asking, None),
            // A stop after the last step leaves nothing to continue.
            Ended::Breakpoint => (if open { RunStatus::Paused } else { RunStatus::Done }, None),
        },
        Err(RunError::Cancelled) => (RunStatus::Stopped, None),
        // Another program goes on with the thread; how it stands is for that one to say.
        Err(error @ RunError::Storage(StorageError::Superseded { .. })) => {
            (RunStatus::Stopped, Some(problem(error)))
        }
        // Nothing of the step was begun: it stands before the node.
        Err(error @ RunError::Effect { .. }) => (RunStatus::Paused, Some(problem(error))),
        Err(error) => (RunStatus::Failed, Some(problem(error))),
    }
}

fn busy(place: &str) -> Problem {
    Problem::new("busy", format!("The thread is running{place}."))
        .remedy("Wait until it stops, or stop it first.")
}

pub(crate) fn run_view(row: &RunRow) -> RunView {
    RunView {
        run_id: row.run_id.clone(),
        thread_id: row.thread_id.clone(),
        status: row.status,
        started_at: row.started_at.clone(),
        ended_at: row.ended_at.clone(),
        problem: row.problem.clone(),
        program: None,
    }
}

impl Workbench {
    /// Takes a thread for what shows no claim to storage.
    pub(crate) fn reserve(self: &Arc<Self>, thread_id: &str) -> Result<Slot, Problem> {
        if let Some(last) = self.ledger.last_runs(&[thread_id])?.get(thread_id)
            && last.status == RunStatus::Running
            && self.instance.is_other_alive(&last.instance)
        {
            return Err(busy(" in another window or program"));
        }
        self.reserve_here(thread_id)
    }

    /// Takes a thread for a run or an edit that shows a claim: storage says whether another program runs it.
    pub(crate) fn reserve_claimed(self: &Arc<Self>, thread_id: &str) -> Result<Slot, Problem> {
        match self.saver().coordination() {
            Some(_) => self.reserve_here(thread_id),
            None => self.reserve(thread_id),
        }
    }

    fn reserve_here(self: &Arc<Self>, thread_id: &str) -> Result<Slot, Problem> {
        let mut active = self.runs.lock();
        if active.contains_key(thread_id) {
            return Err(busy(""));
        }
        let taken = Active::default();
        let slot = Slot {
            workbench: Arc::downgrade(self),
            thread_id: thread_id.to_owned(),
            cancel: taken.cancel.clone(),
            ended: taken.ended.clone(),
        };
        active.insert(thread_id.to_owned(), taken);
        Ok(slot)
    }

    pub(crate) async fn run_start(self: &Arc<Self>, request: StartRun) -> Result<RunView, Problem> {
        let answered = match &request.action {
            RunAction::Resume { .. } => request.thread_id.clone(),
            _ => None,
        };
        let started = self.run_begin(request, None, None).await;
        if let (Err(_), Some(thread_id)) = (&started, answered) {
            // It may have been counted as answered meanwhile.
            self.publish_inbox(Some(&thread_id));
        }
        started
    }

    /// Starts a run. With `passed` it goes on at that checkpoint without an answer, because the time of a question there
    /// is over. Another program may have handed it over.
    pub(crate) async fn run_begin(
        self: &Arc<Self>,
        request: StartRun,
        passed: Option<CheckpointId>,
        mut handed: Option<Handed>,
    ) -> Result<RunView, Problem> {
        let new_thread = request.thread_id.is_none();
        let thread_id = request
            .thread_id
            .clone()
            .unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        if new_thread && !matches!(request.action, RunAction::Input { .. }) {
            return Err(Problem::invalid("Only an input can begin a new thread.")
                .remedy("Name the thread to go on with."));
        }
        let slot = match self.reserve_claimed(&thread_id) {
            Ok(slot) => slot,
            Err(busy) => return Err(self.too_late(&thread_id, &request.action).await?.unwrap_or(busy)),
        };
        if let RunAction::Resume { answers, .. } = &request.action {
            let answering = answers.keys().cloned().collect();
            self.runs.with(&thread_id, |active| active.answering = answering);
        }
        let claim = match self.claim_to_run(&thread_id, request.take_over).await {
            Ok(claim) => claim,
            Err(busy) => {
                // It is not answered here.
                self.runs.with(&thread_id, |active| active.answering.clear());
                return Err(self.too_late(&thread_id, &request.action).await?.unwrap_or(busy));
            }
        };
        let source = handed.as_mut().and_then(|handed| handed.source.take());
        let source = match (source, &request.graph_id, new_thread) {
            (Some(source), ..) => source,
            (None, Some(graph_id), _) => self.document(graph_id)?.source(),
            (None, None, true) => {
                return Err(Problem::invalid("A new thread needs a graph.").remedy("Name an open graph."));
            }
            (None, None, false) => {
                let key = self.key_of_thread(&thread_id).await?;
                self.source_by_key(&key)?
            }
        };
        let models = match (request.models.clone(), new_thread) {
            (Some(models), _) => models.cleaned(),
            (None, true) => RunModels::default(),
            // It goes on as it began: from where it is continued, which may be a past checkpoint.
            (None, false) => {
                let from = request.action.checkpoint();
                let from = from.or_else(|| passed.as_ref().map(CheckpointId::as_str));
                self.models_of(&thread_id, from).await?
            }
        };
        let (this, answering) = (self.clone(), models.clone());
        let built = blocking(move || {
            // What cannot run at all is said first.
            let built = this.build_with(source, answering.clone())?;
            this.permit(&built.source, None, &answering)?;
            Ok(built)
        })
        .await??;
        let row = self.ledger.thread(&thread_id)?;
        let title = match (&row, &request.action) {
            (Some(row), _) => row.title.clone(),
            (None, RunAction::Input { input, .. }) => {
                first_text(&Value::from(input.clone()), TITLE).unwrap_or_else(|| built.source.name.clone())
            }
            (None, _) => built.source.name.clone(),
        };
        let mut config = RunConfig::on(thread_id.as_str());
        config.claim = Some(claim);
        effects::choose(&request, &mut config);
        // A question whose time is over goes on without a person, so the context is kept with the thread.
        let context = match request.context {
            Some(context) => Some(context),
            None => self.ledger.context(&thread_id)?,
        };
        config.context = context.clone().unwrap_or_default().into();
        built
            .graph
            .context_of(config.context.clone())
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let input = match request.action {
            RunAction::Input { input, checkpoint_id } => {
                if !input.is_object() {
                    return Err(Problem::invalid("The input must be an object of state keys.")
                        .remedy("Give an object such as {\"key\": value}."));
                }
                config.checkpoint_id = checkpoint_id.map(Into::into);
                let input = Value::from(input);
                built.check("the input", &input)?;
                Input::Value(input)
            }
            RunAction::Continue => match passed {
                Some(checkpoint) => {
                    self.still_passes(&thread_id, &checkpoint).await?;
                    config.checkpoint_id = Some(checkpoint);
                    config.keep_finished = true;
                    Input::answer(Object::new())
                }
                None => Input::Continue,
            },
            RunAction::Replay { checkpoint_id } => {
                config.checkpoint_id = Some(checkpoint_id.into());
                Input::Continue
            }
            RunAction::Resume {
                answers,
                checkpoint_id,
            } => {
                config.checkpoint_id = checkpoint_id.map(Into::into);
                config.keep_finished = true;
                let at = config.checkpoint_id.as_ref();
                self.waiting_for(&thread_id, at, &answers).await?;
                let answers: Object = answers
                    .into_iter()
                    .map(|(id, answer)| (id, Value::from(answer)))
                    .collect();
                Input::answer(answers)
            }
        };
        // Breakpoints outlive the nodes they were set on.
        let known: HashSet<&str> = built.graph.node_names().map(|name| &**name).collect();
        let breaks = |names: &[String]| -> Vec<Name> {
            names
                .iter()
                .filter(|name| *name == "*" || known.contains(name.as_str()))
                .map(|name| name.as_str().into())
                .collect()
        };
        config.interrupt_before = breaks(&request.break_before);
        config.interrupt_after = if request.single_step {
            vec!["*".into()]
        } else {
            breaks(&request.break_after)
        };
        config.interrupt_nested = request.single_step && request.step_into;
        config.recursion_limit = request
            .recursion_limit
            .unwrap_or_else(|| built.source.document.recursion_limit())
            .clamp(1, MAX_RECURSION_LIMIT);
        config.bounds = superstep_nodes::bounds(&built.source.document);
        config.modes = vec![
            StreamMode::Tasks,
            StreamMode::Checkpoints,
            StreamMode::Messages,
            StreamMode::Custom,
            StreamMode::Attempts,
        ];
        config.metadata = [
            (GRAPH, built.source.name.as_str()),
            (GRAPH_PATH, built.source.key.as_str()),
        ]
        .into_iter()
        .collect();
        if let Some(handed) = &handed {
            config.max_concurrency = handed.max_concurrency.map(NonZeroUsize::get);
            config.effects = handed.effects.map_or(config.effects, Into::into);
            let modes = handed.report.modes.iter();
            let more: Vec<StreamMode> = modes
                .filter(|mode| !config.modes.contains(mode))
                .copied()
                .collect();
            config.modes.extend(more);
        }
        models.note(&mut config.metadata);
        config.cancel = slot.cancel.clone();
        // Nested graphs are looked into while they run.
        config.subgraphs = true;
        let run = RunRow {
            run_id: uuid::Uuid::now_v7().to_string(),
            thread_id: thread_id.clone(),
            instance: self.instance.id().to_owned(),
            status: RunStatus::Running,
            started_at: files::now(),
            ended_at: None,
            problem: None,
        };
        config.metadata.insert(RUN_ID, run.run_id.as_str());
        config.run_id = Some(run.run_id.clone());
        let row = ThreadRow {
            thread_id: thread_id.clone(),
            title,
            graph_name: built.source.name.clone(),
            graph_key: built.source.key.clone(),
            created_at: run.started_at.clone(),
        };
        self.ledger.thread_began(&row, &self.database.place())?;
        self.ledger.keep_context(&thread_id, context.as_ref())?;
        self.ledger.run_began(&run)?;
        self.runs.with(&thread_id, |active| active.running = true);
        let started = run_view(&run);
        let log = self.records.begin(&thread_id, &run.run_id);
        log.emit(AppEvent::Run { run: started.clone() }, |event| {
            self.hub.publish(event)
        });
        let stream = built.graph.stream(input, config);
        let report = handed.map(|handed| handed.report);
        tokio::spawn(Reader::new(self.clone(), slot, run, log, &built, report).read(stream));
        self.publish_inbox(Some(&thread_id));
        Ok(started)
    }

    /// Refuses to go on without an answer where one was given meanwhile, or where there is time left.
    async fn still_passes(&self, thread_id: &str, checkpoint: &CheckpointId) -> Result<(), Problem> {
        let pending = self.writes_at(thread_id, checkpoint).await?;
        let now = files::now_ms();
        let passed = |interrupt: &Interrupt| ask::deadline(&interrupt.value).is_some_and(|at| at <= now);
        let mut waiting = waiting_questions(&pending)
            .into_iter()
            .flat_map(|(_, asked)| asked);
        match waiting.any(|interrupt| passed(&interrupt)) {
            true => Ok(()),
            false => Err(already_answered(
                "The question does not wait any more, or not yet for long enough.",
            )),
        }
    }

    /// The problem of an answer to a thread that is busy, when the question is what keeps it busy.
    async fn too_late(&self, thread_id: &str, action: &RunAction) -> Result<Option<Problem>, Problem> {
        let RunAction::Resume {
            answers,
            checkpoint_id,
        } = action
        else {
            return Ok(None);
        };
        let answering = self.runs.answering(thread_id);
        let mut late = answers.keys().any(|id| answering.contains(id));
        if let (false, Some(checkpoint)) = (late, checkpoint_id) {
            let pending = self.writes_at(thread_id, &checkpoint.as_str().into()).await?;
            let waiting: Vec<Interrupt> = waiting_questions(&pending)
                .into_iter()
                .flat_map(|(_, asked)| asked)
                .collect();
            late = answers
                .keys()
                .any(|id| !waiting.iter().any(|asked| asked.id.as_str() == id));
        }
        Ok(late.then(|| already_answered("Somebody else has just answered this question.")))
    }

    /// Refuses answers to questions that do not wait.
    async fn waiting_for(
        &self,
        thread_id: &str,
        checkpoint: Option<&CheckpointId>,
        answers: &BTreeMap<String, Json>,
    ) -> Result<(), Problem> {
        if answers.is_empty() {
            return Err(Problem::invalid("There is no answer in the request.")
                .remedy("Answer at least one question."));
        }
        let gone = || {
            already_answered(
                "The question does not wait any more: it was answered or withdrawn, or the thread went on without it.",
            )
        };
        let at = match checkpoint {
            Some(checkpoint) => checkpoint.clone(),
            None => {
                let newest = self.heads(thread_id, None, Some(1)).await?.into_iter().next();
                newest.ok_or_else(gone)?.id
            }
        };
        let pending = self.writes_at(thread_id, &at).await?;
        let interrupts: Vec<Interrupt> = waiting_questions(&pending)
            .into_iter()
            .flat_map(|(_, asked)| asked)
            .collect();
        self.runs
            .with(thread_id, |active| active.asked_at = Some(at.to_string()));
        let unknown = answers
            .keys()
            .find(|id| !interrupts.iter().any(|i| i.id.as_str() == id.as_str()));
        let me = self.preferences.settings().name;
        let asked = interrupts
            .iter()
            .filter(|interrupt| answers.contains_key(interrupt.id.as_str()));
        let not_asked = asked
            .into_iter()
            .find_map(|interrupt| ask::not_asked(&interrupt.value, me.as_deref()));
        if let Some(message) = not_asked {
            return Err(Problem::new("not-asked", message)
                .remedy("Let one of them answer, or say in the settings who you are."));
        }
        match unknown {
            None => Ok(()),
            Some(_) => Err(gone()),
        }
    }
}
