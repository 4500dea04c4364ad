//! The beginning of a run: its thread is taken and claimed, its graph is built, and what it begins with is checked before
//! anything of it is noted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use superstep::checkpoint::{ClaimRequest, GraphVersion};
use superstep::run::StepTask;
use superstep::value::Object;
use superstep::{CheckpointId, Graph, Name, RunConfig, StreamMode, Value};

use super::effects;
use super::reader::RunReader;
use super::session::RunOf;
use crate::Workbench;
use crate::base::blocking;
use crate::base::files;
use crate::base::values::{MAX_TITLE, first_text};
use crate::documents::GraphSource;
use crate::documents::graphs::Built;
use crate::ipc::Handed;
use crate::ledger::{AnswerRow, RunRow, ThreadRow};
use crate::running::TakenThread;
use crate::session::{Origin, Start};
use crate::wire::{
    AnswerState, AppEvent, Breakpoint, Json, Problem, Renamed, RunAction, RunLabels, RunModels, RunStatus,
    RunView, StartRun,
};
use superstep_document::text;

impl Workbench {
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
    #[expect(clippy::too_many_lines, reason = "the steps of a start, in their order")]
    pub(crate) async fn run_begin(
        self: &Arc<Self>,
        mut request: StartRun,
        passed: Option<CheckpointId>,
        mut handed: Option<Handed>,
    ) -> Result<RunView, Problem> {
        if request.thread_id.is_none() && !matches!(request.action, RunAction::Input { .. }) {
            return Err(Problem::invalid(text!("Only an input can begin a new thread."))
                .remedy(text!("Name the thread to go on with.")));
        }
        if passed.is_none() && handed.is_none() && self.attached().is_some() {
            return self.run_attached(request).await;
        }
        let known = request.thread_id.clone();
        let thread_id = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let (slot, claim) = self.take(&thread_id, &request).await?;
        let source = match handed.as_mut().and_then(|handed| handed.source.take()) {
            Some(source) => source,
            None => self.source_of(&request).await?,
        };
        let labels = self.labels_for(&mut request, passed.as_ref()).await?;
        let Runnable {
            built,
            version,
            models,
            renamed,
        } = self
            .runnable(&thread_id, &request, passed.as_ref(), source)
            .await?;
        let title = self.title_of(&thread_id, &request.action, &built)?;
        // A question whose time is over goes on without a person, so the context is kept with the thread.
        let context = match request.context.take() {
            Some(context) => Some(context),
            None => self.ledger.context(&thread_id)?,
        };
        let given = Value::from(context.clone().unwrap_or_default());
        built
            .graph
            .context_of(given.clone())
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let action = std::mem::replace(&mut request.action, RunAction::Continue);
        let goes_on = matches!(&action, RunAction::Continue | RunAction::Resume { .. });
        let answered = match &action {
            RunAction::Resume { answers, .. } => answers.clone(),
            _ => BTreeMap::new(),
        };
        let start = self.start_of(&thread_id, action, passed, &built).await?;
        let start = self.renamed_start(&thread_id, start, &renamed).await?;
        let pinned = self.pinned_for(&mut request, &built)?;
        let mut names = BTreeSet::new();
        pinned.name(&built.graph, "", &mut names);
        let run = self.new_run(&thread_id);
        let of = RunOf {
            thread: &thread_id,
            run_id: &run.run_id,
            document: &built.source.document,
            origin: &Origin {
                labels,
                pinned: names.into_iter().collect(),
                ..self.origin(&built.source, &models)
            },
            claim: Some(claim),
            stop: slot.stop.clone(),
            recursion_limit: request.recursion_limit,
            version,
        };
        let mut config = of.config();
        config.context = given;
        config.pinned = pinned.own;
        config.pinned_within = pinned.within;
        choose(&mut config, &request, &built, handed.as_ref())?;
        self.runs.count_on(&thread_id, goes_on, &config.breakpoints);
        let input = start.apply(&mut config);
        self.note_run(&run, title, &built, context.as_ref())?;
        self.note_answers(&thread_id, answered).await?;
        self.runs.with(&thread_id, |active| active.running = true);
        let started = run.view();
        let log = self.runs.records.begin(&thread_id, &run.run_id);
        log.emit(AppEvent::Run { run: started.clone() }, |event| {
            self.hub.publish(event)
        });
        let stream = built.graph.stream(input, config);
        let report = handed.map(|handed| handed.report);
        let document = Arc::new(built.source.document.clone());
        tokio::spawn(RunReader::new(self.clone(), slot, run, log, document, report).read(stream));
        self.publish_inbox(Some(&thread_id));
        Ok(started)
    }

    /// Returns the graph that a request runs, once it can run and is allowed to.
    async fn runnable(
        self: &Arc<Self>,
        thread_id: &str,
        request: &StartRun,
        passed: Option<&CheckpointId>,
        source: GraphSource,
    ) -> Result<Runnable, Problem> {
        let models = self.models_for(request, passed).await?;
        let (source, renamed) = self
            .version_to_run(thread_id, request, passed, source, &models)
            .await?;
        let (this, answering) = (self.clone(), models.clone());
        let (built, version) = blocking(move || {
            // What cannot run at all is reported first.
            let built = this.build_with(source, answering.clone())?;
            this.permit(&built.source, None, &answering)?;
            let version = this.consists_of(&built.source).version;
            Ok::<_, Problem>((built, version))
        })
        .await??;
        Ok(Runnable {
            built,
            version,
            models,
            renamed,
        })
    }

    /// Refuses what no run can begin with, as far as that is known before its thread is free.
    pub(crate) async fn could_begin(
        self: &Arc<Self>,
        thread_id: &str,
        request: &StartRun,
    ) -> Result<(), Problem> {
        // An attached program is asked when it runs.
        if self.attached().is_some() {
            return Ok(());
        }
        let source = self.source_of(request).await?;
        self.runnable(thread_id, request, None, source).await.map(drop)
    }

    /// Notes answers that a run begins with and that nobody has kept before.
    pub(super) async fn note_answers(
        &self,
        thread_id: &str,
        answers: BTreeMap<String, Json>,
    ) -> Result<(), Problem> {
        let mut asked_at = None;
        self.runs
            .with(thread_id, |active| asked_at.clone_from(&active.asked_at));
        let Some(asked_at) = asked_at.filter(|_| !answers.is_empty()) else {
            return Ok(());
        };
        for row in self.answers_as_rows(thread_id, &asked_at, &answers).await? {
            self.ledger.keep_answers(&[AnswerRow {
                state: AnswerState::Giving,
                ..row
            }])?;
        }
        Ok(())
    }

    pub(super) fn new_run(&self, thread_id: &str) -> RunRow {
        RunRow {
            run_id: uuid::Uuid::now_v7().to_string(),
            thread_id: thread_id.to_owned(),
            instance: self.instance.id().to_owned(),
            status: RunStatus::Running,
            started_at: files::now(),
            ended_at: None,
            problem: None,
            stop: None,
            summary: None,
        }
    }

    /// Takes a thread for a run.
    async fn take(
        self: &Arc<Self>,
        thread_id: &str,
        request: &StartRun,
    ) -> Result<(TakenThread, ClaimRequest), Problem> {
        let answering = match &request.action {
            RunAction::Resume { answers, .. } => answers.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let answering: Vec<String> = answering;
        let slot = loop {
            let busy = match self.reserve_claimed(thread_id, answering.clone()) {
                Ok(slot) => break slot,
                Err(busy) => busy,
            };
            if let Some(late) = self.too_late(thread_id, &request.action).await? {
                return Err(late);
            }
            // An answer waits until it can be given, and nothing else does.
            match self.runs.end_of(thread_id) {
                Some(ended) if !answering.is_empty() => ended.cancelled().await,
                Some(_) => return Err(busy),
                None => self.runs_here_only(thread_id)?,
            }
        };
        match self.claim_to_run(thread_id, request.take_over).await {
            Ok(claim) => Ok((slot, claim)),
            Err(busy) => {
                // It is not answered here.
                self.runs.with(thread_id, |active| active.answering.clear());
                Err(self.too_late(thread_id, &request.action).await?.unwrap_or(busy))
            }
        }
    }

    /// Returns the graph to run: the one that is named, or the thread's.
    async fn source_of(self: &Arc<Self>, request: &StartRun) -> Result<GraphSource, Problem> {
        match (&request.graph_id, &request.thread_id) {
            (Some(graph_id), _) => {
                let open = self.document(graph_id)?;
                // What another program wrote a moment ago is what runs, unless there are changes here.
                self.look_at_file(&open, true).await;
                Ok(open.source())
            }
            (None, Some(thread_id)) => {
                let key = self.key_of_thread(thread_id).await?;
                self.source_by_key(&key)
            }
            (None, None) => {
                Err(Problem::invalid(text!("A new thread needs a graph."))
                    .remedy(text!("Name an open graph.")))
            }
        }
    }

    /// Returns the choice of who answers for the models. A thread keeps the choice of the checkpoint where it is
    /// continued, which may be a past one.
    async fn models_for(
        &self,
        request: &StartRun,
        passed: Option<&CheckpointId>,
    ) -> Result<RunModels, Problem> {
        match (&request.models, &request.thread_id) {
            (Some(models), _) => Ok(models.clone().cleaned()),
            (None, None) => Ok(RunModels::default()),
            (None, Some(thread_id)) => self.models_of(thread_id, goes_on_from(request, passed)).await,
        }
    }

    /// Returns the tags and metadata of the run: those of the request, or those of the checkpoint from which the thread
    /// is continued.
    async fn labels_for(
        &self,
        request: &mut StartRun,
        passed: Option<&CheckpointId>,
    ) -> Result<RunLabels, Problem> {
        match (request.labels.take(), &request.thread_id) {
            (Some(labels), _) => labels.checked(),
            (None, None) => Ok(RunLabels::default()),
            (None, Some(thread_id)) => {
                let from = goes_on_from(request, passed);
                let heads = self.heads(thread_id, from, Some(1)).await?;
                Ok(heads
                    .first()
                    .and_then(RunLabels::of_checkpoint)
                    .unwrap_or_default())
            }
        }
    }

    /// Returns the values that nodes write instead of running: those of the request, or those kept for the graph and for
    /// the graphs within it. Values of nodes that are gone are ignored.
    fn pinned_for(&self, request: &mut StartRun, built: &Built) -> Result<Pinned, Problem> {
        if let Some(given) = request.pinned.take() {
            return Ok(Pinned {
                own: known(given, &built.graph),
                within: BTreeMap::new(),
            });
        }
        let kept = self.ledger.pins(&self.ledger.followed(&built.source.key)?)?;
        let mut pinned = Pinned {
            own: known(kept, &built.graph),
            within: BTreeMap::new(),
        };
        let mut graphs: Vec<&Graph> = vec![&built.graph];
        while let Some(graph) = graphs.pop() {
            graphs.extend(graph.nested().map(|(_, nested)| nested));
            let Some(origin) = graph.origin().filter(|&one| !pinned.within.contains_key(one)) else {
                continue;
            };
            let kept = known(self.ledger.pins(origin)?, graph);
            pinned.within.insert(origin.clone(), kept);
        }
        pinned.within.retain(|_, nodes| !nodes.is_empty());
        Ok(pinned)
    }

    /// Returns the title of the thread; for a new thread, its first input.
    fn title_of(&self, thread_id: &str, action: &RunAction, built: &Built) -> Result<String, Problem> {
        if let Some(row) = self.ledger.thread(thread_id)? {
            return Ok(row.title);
        }
        let title = match action {
            RunAction::Input { input, .. } => first_text(&Value::from(input.clone()), MAX_TITLE),
            _ => None,
        };
        Ok(title.unwrap_or_else(|| built.source.name.clone()))
    }

    /// Returns the start of the run, if it can begin.
    async fn start_of(
        &self,
        thread_id: &str,
        action: RunAction,
        passed: Option<CheckpointId>,
        built: &Built,
    ) -> Result<Start, Problem> {
        match (action, passed) {
            (RunAction::Input { input, checkpoint_id }, _) => {
                if !input.is_object() {
                    return Err(
                        Problem::invalid(text!("The input must be an object of state keys."))
                            .remedy(text!("Give an object such as {\"key\": value}.")),
                    );
                }
                let input = Value::from(input);
                built.check("the input", &input)?;
                Ok(Start::input(input, checkpoint_id.map(Into::into)))
            }
            (RunAction::Continue, Some(checkpoint)) => {
                self.still_passes(thread_id, &checkpoint).await?;
                Ok(Start::time_passed(checkpoint))
            }
            (RunAction::Continue, None) => Ok(Start::go_on(None)),
            (RunAction::Replay { within: Some(at), .. }, _) => {
                Ok(Start::go_on(Some(at.checkpoint_id.into())).within(at.ns))
            }
            (RunAction::Replay { checkpoint_id, .. }, _) => Ok(Start::go_on(Some(checkpoint_id.into()))),
            (
                RunAction::Resume {
                    answers,
                    checkpoint_id,
                },
                _,
            ) => {
                let at = checkpoint_id.map(CheckpointId::from);
                let asked_at = self.waiting_for(thread_id, at.as_ref(), &answers).await?;
                self.runs
                    .with(thread_id, |active| active.asked_at = Some(asked_at.to_string()));
                let answers: Object = answers
                    .into_iter()
                    .map(|(id, answer)| (id, Value::from(answer)))
                    .collect();
                Ok(Start::answers(answers.into(), at))
            }
        }
    }

    /// Notes in the ledger that a run begins.
    fn note_run(
        &self,
        run: &RunRow,
        title: String,
        built: &Built,
        context: Option<&Json>,
    ) -> Result<(), Problem> {
        let row = ThreadRow {
            thread_id: run.thread_id.clone(),
            title,
            graph_name: built.source.name.clone(),
            graph_key: built.source.key.clone(),
            created_at: run.started_at.clone(),
        };
        self.ledger.thread_began(&row, &self.database.place())?;
        self.ledger.keep_context(&run.thread_id, context)?;
        self.ledger.run_began(run)
    }
}

/// A graph that can run and is allowed to.
struct Runnable {
    built: Arc<Built>,
    version: Arc<GraphVersion>,
    models: RunModels,
    renamed: Renamed,
}

/// Outputs that nodes of a run write instead of running.
struct Pinned {
    /// Of the graph itself.
    own: BTreeMap<Name, Value>,
    /// Of graphs within it, by their files.
    within: BTreeMap<Name, BTreeMap<Name, Value>>,
}

impl Pinned {
    /// Names the pinned nodes of a graph and of those within it, each after the nodes around it.
    fn name(&self, graph: &Graph, around: &str, names: &mut BTreeSet<String>) {
        let of = match around {
            "" => Some(&self.own),
            _ => graph.origin().and_then(|origin| self.within.get(origin)),
        };
        names.extend(
            of.into_iter()
                .flat_map(BTreeMap::keys)
                .map(|node| format!("{around}{node}")),
        );
        if self.within.is_empty() {
            return;
        }
        for (node, nested) in graph.nested() {
            self.name(nested, &format!("{around}{node}/"), names);
        }
    }
}

/// Returns the outputs whose nodes are in the graph.
fn known(pinned: BTreeMap<String, Json>, graph: &Graph) -> BTreeMap<Name, Value> {
    let known: HashSet<&str> = graph.node_names().map(|name| &**name).collect();
    let pinned = pinned
        .into_iter()
        .filter(|(node, _)| known.contains(node.as_str()));
    pinned
        .map(|(node, output)| (Name::from(node), Value::from(output)))
        .collect()
}

/// Names the checkpoint that a run goes on from; the newest when it is `None`.
fn goes_on_from<'a>(request: &'a StartRun, passed: Option<&'a CheckpointId>) -> Option<&'a str> {
    let from = request.action.checkpoint();
    from.or_else(|| passed.map(CheckpointId::as_str))
}

/// Sets what a request chooses for its run: effects, breakpoints, and what another program asks for that handed it over.
fn choose(
    config: &mut RunConfig,
    request: &StartRun,
    built: &Built,
    handed: Option<&Handed>,
) -> Result<(), Problem> {
    effects::choose(request, config);
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
    let points = request.breakpoints.iter().filter(|point| {
        let is_own = point.within.is_none();
        let has_key = |key: &String| built.graph.state_keys().any(|(own, _)| **own == **key);
        let has_node = point.node.is_empty() || point.node == "*" || known.contains(point.node.as_str());
        let ends = |to: &String| to == superstep::END || to == "*" || known.contains(to.as_str());
        point.enabled && (!is_own || has_node && point.key.iter().all(has_key) && point.to.iter().all(ends))
    });
    config.breakpoints = points.map(Breakpoint::compile).collect::<Result<_, _>>()?;
    config.step_task = request.step_task.as_ref().map(|task| match task.as_str() {
        "next" => StepTask::Next,
        id => StepTask::Task(id.into()),
    });
    config.interrupt_nested = request.single_step && request.step_into;
    config.modes = vec![
        StreamMode::Tasks,
        StreamMode::Checkpoints,
        StreamMode::Messages,
        StreamMode::Custom,
        StreamMode::Attempts,
        StreamMode::Waits,
    ];
    // Nested graphs are looked into while they run.
    config.subgraphs = true;
    if let Some(handed) = handed {
        config.max_concurrency = handed.max_concurrency.map(NonZeroUsize::get);
        config.effects = handed.effects.map_or(config.effects, Into::into);
        let modes = handed.report.modes.iter();
        let more: Vec<StreamMode> = modes
            .filter(|mode| !config.modes.contains(mode))
            .copied()
            .collect();
        config.modes.extend(more);
    }
    Ok(())
}
