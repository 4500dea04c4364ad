//! The super-step loop: prepare tasks, run them at once, apply their writes as one, store, repeat.
//!
//! A super-step is a transaction. What a task writes reaches no channel before every task of the step has finished;
//! until then it is a pending write of the checkpoint the step started from, and a resume takes it from there.

use std::pin::pin;
use std::sync::Arc;

use tracing::{Instrument, Span};

use crate::base::ids::Name;
use crate::checkpoint::types::Source;
use crate::graph::compiled::Graph;
use crate::graph::node::NodeError;
use crate::graph::plan::{ChannelIx, Shown};
use crate::graph::scope::{Persistence, Shared};
use crate::graph::task::{GraphScope, StepContext};
use crate::run::steps::persist::Persister;
use crate::state::live::{Applied, Live};
use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::events::{Payload, StreamMode};
use crate::stream::lifecycle::{LifecycleEvent, LifecycleStatus};
use crate::stream::metrics::{Activity, Meter};
use crate::stream::request::{Durability, Input, Output, RunResult, RunStatus};
use crate::stream::run_config::RunConfig;
use crate::task::spans::{self, Ending};
use crate::task::{self, Task, applied_of};
use crate::value::Value;

mod answers;
pub(crate) mod attempt;
mod begin;
mod breakpoint_places;
mod breakpoints;
mod cached;
mod calls;
mod conclusion;
mod counts;
mod deadline;
mod effects;
mod executor;
mod handlers;
mod packets;
pub(crate) mod persist;
mod put_checkpoint;
mod questions;
mod report;
mod states;
mod step_task;
mod subgraph;
mod tasks;
mod work;

use breakpoints::Breakpoints;
use deadline::Deadline;
use states::{OpenStep, Report, Resumed, Setup, StepProgress};

/// Reason why the loop stopped without an error.
enum Stop {
    Done,
    Asked,
    Breakpoint(LifecycleStatus),
}

/// A run: the loop over its super-steps.
pub(crate) struct Loop {
    setup: Setup,
    persister: Option<Box<Persister>>,
    live: Live,
    progress: StepProgress,
    open: OpenStep,
    resumed: Resumed,
    report: Report,
    /// Not set for a graph without breakpoints and invariants.
    breakpoints: Option<Box<Breakpoints>>,
}

impl Loop {
    /// Creates a run of its own.
    pub(crate) fn root(
        graph: &Graph,
        mut config: RunConfig,
        emitter: Emitter,
    ) -> Result<Box<Self>, RunError> {
        if config.recursion_limit < 1 {
            return Err(RunError::invalid_request("recursion_limit must be at least 1"));
        }
        if graph.persistence == Persistence::Stateful {
            return Err(RunError::invalid_request(
                "A stateful graph keeps its state in the graph that runs it: it cannot be run by itself. Give it \
                 Persistence::Inherit.",
            ));
        }
        if graph.saver.is_some() && config.thread.is_none() {
            return Err(RunError::NotPersistent {
                message: "Checkpointer requires a thread: set `thread` in the run's configuration.".into(),
            });
        }
        let own = graph.interrupt_before.iter().chain(&graph.interrupt_after);
        let names = config
            .interrupt_before
            .iter()
            .chain(&config.interrupt_after)
            .chain(own);
        for name in names.filter(|name| &***name != "*") {
            if !graph.plan.node_index.contains_key(name) {
                return Err(RunError::invalid_request(format!(
                    "Interrupt node `{name}` not found"
                )));
            }
        }
        Self::check_breakpoints(graph, &config)?;
        let run_id = config
            .run_id
            .clone()
            .unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        config.context = graph.context_of(std::mem::take(&mut config.context))?;
        if spans::wants_costs() {
            config.metrics = Some(Meter::of_run(config.metrics.take()));
        }
        let emitter = emitter.measured(config.metrics.clone());
        let shared = Shared::root(graph, config, run_id, emitter);
        let index = |name: &Name| match graph.plan.channel_named(name) {
            Some(index) if graph.plan.is_state_key(index) => Ok(index),
            _ => Err(RunError::invalid_request(format!(
                "Key {name} not in channels\nThe output of a run is of state keys."
            ))),
        };
        let shown = match &shared.config.output {
            Output::Graph => Shown::All,
            Output::Keys(keys) => Shown::Keys(keys.iter().map(index).collect::<Result<_, _>>()?),
            Output::Key(key) => Shown::Key(index(key)?),
        };
        Ok(Self::new(graph, shared, shown, None))
    }

    /// Creates the run of a graph inside a task of another.
    pub(crate) fn nested(graph: &Graph, shared: Shared, resuming: Option<bool>) -> Box<Self> {
        let shown = match &graph.plan.output_keys {
            Some(keys) => Shown::Keys(keys.clone()),
            None => Shown::All,
        };
        Self::new(graph, shared, shown, resuming)
    }

    fn new(graph: &Graph, shared: Shared, shown: Shown, resuming: Option<bool>) -> Box<Self> {
        let config = &shared.config;
        let saver = match graph.persistence {
            Persistence::Off if shared.is_nested() => None,
            _ => shared.saver.clone(),
        };
        let persister = match (&saver, &config.thread) {
            (Some(saver), Some(thread)) => Some(Box::new(Persister::new(
                saver.clone(),
                thread.clone(),
                shared.ns.clone(),
                config.durability,
                shared.claim.clone(),
                config.metrics.clone(),
            ))),
            (None, _) if config.durability != Durability::default() && !shared.is_nested() => {
                tracing::warn!(
                    "durability {:?} means nothing without a checkpointer",
                    config.durability
                );
                None
            }
            _ => None,
        };
        let choose = |call: &Vec<Name>, own: &Vec<Name>| {
            if call.is_empty() {
                own.clone()
            } else {
                call.clone()
            }
        };
        let mut live = Live::fresh(graph.plan.clone());
        live.tracked = persister.is_some();
        let scope = GraphScope {
            plan: graph.plan.clone(),
            ns: shared.ns.clone(),
        };
        let (breaks_before, breaks_after) = (
            choose(&config.interrupt_before, &graph.interrupt_before),
            choose(&config.interrupt_after, &graph.interrupt_after),
        );
        Box::new(Self {
            persister,
            live,
            progress: StepProgress::new(&shared),
            open: OpenStep::new(&shared),
            resumed: Resumed::new(resuming),
            report: Report::default(),
            breakpoints: Breakpoints::of(&shared, graph),
            setup: Setup {
                plan: graph.plan.clone(),
                scope: Arc::new(scope),
                saver,
                limits: graph.limits.clone(),
                cache: graph.cache.clone(),
                shown,
                breaks_before,
                breaks_after,
                origin: graph.origin.clone(),
                shared: Arc::new(shared),
            },
        })
    }

    pub(crate) async fn run(mut self: Box<Self>, input: Input) -> Result<RunResult, RunError> {
        let shared = self.setup.shared.clone();
        let span = spans::run(&shared.config, &shared.run_id, &input);
        let meter = shared.config.metrics.clone().filter(|_| !shared.is_nested());
        let mut ending = Ending::of_run(&span, meter.clone());
        let content_limit = shared.config.content_limit;
        let nested = shared.is_nested();
        self.progress.deadline = Deadline::after(shared.config.run_timeout);
        // Pinned here: what is given to a span is moved into it.
        let work = pin!(async move {
            let going = meter.as_ref().map(|meter| meter.enter(Activity::Run));
            let stopped = self.drive(input).await;
            // A nested graph that came to its end leaves nothing to go on from, unless it keeps its state.
            let over = matches!(stopped, Ok(Stop::Done) | Err(RunError::Recursion { .. }));
            let worth_storing =
                !self.setup.shared.is_nested() || !over || !self.setup.shared.ns.contains(':');
            self.make_last();
            if self.setup.shared.answers.scalar.lock().is_none()
                && let Some(persister) = &mut self.persister
            {
                persister.forget_answer();
            }
            // What lost its thread stores nothing more.
            let is_lost = self
                .setup
                .shared
                .claim
                .as_ref()
                .is_some_and(|claim| claim.lost().is_some());
            let stored = match &mut self.persister {
                Some(persister) if !is_lost && (worth_storing || !persister.waits_for_end()) => {
                    persister.finish().await
                }
                _ => Ok(()),
            };
            let lost = self.setup.shared.claim.as_ref().and_then(|claim| claim.lost());
            let status = lost
                .map_or(stopped, |lost| Err(lost.clone().into()))
                .and_then(|stop| stored.map(|()| stop))
                .map(|stop| match stop {
                    Stop::Done => RunStatus::Done,
                    Stop::Asked => RunStatus::Interrupted,
                    Stop::Breakpoint(_) => RunStatus::Breakpoint,
                });
            ending.counts(
                self.report.counts.steps,
                self.report.counts.tasks,
                self.report.counts.writes,
            );
            ending.run(status.as_ref().copied());
            drop(going);
            let status = status?;
            let value = match self.report.any_values {
                true => self.report.kept.take().unwrap_or_else(|| self.result()),
                false => Value::Null,
            };
            ending.output(|| value.clone(), content_limit);
            let checkpoint_id = self.persister.is_some().then_some(self.progress.current);
            Ok(RunResult {
                value,
                status,
                interrupts: self.report.interrupts,
                checkpoint_id,
                stopped: match nested {
                    true => None,
                    false => self.setup.shared.hits.stopped.lock().take(),
                },
                metrics: meter.as_ref().and_then(Meter::given).map(Meter::read),
            })
        });
        work.instrument(span).await
    }

    async fn drive(&mut self, input: Input) -> Result<Stop, RunError> {
        let stop = match self.begin(input).await {
            Ok(()) => {
                self.measure_state(0..self.setup.plan.channels.len() as ChannelIx)?;
                self.steps().await?
            }
            Err(error) => return Err(error),
        };
        let status = match stop {
            Stop::Breakpoint(status) => status,
            _ => LifecycleStatus::Pending,
        };
        // A graph that stops inside another shows nothing more: the outermost one does.
        if !matches!(stop, Stop::Done) && !self.setup.shared.is_nested() {
            if let Some(lifecycle) = &self.setup.shared.config.lifecycle {
                lifecycle.on_interrupt(&self.lifecycle_event(status));
            }
            self.show_open_step().await?;
            if let Stop::Breakpoint(_) = stop {
                self.setup
                    .shared
                    .emitter
                    .send_if(StreamMode::Updates, || Payload::Interrupts(Vec::new()))
                    .await;
            }
        }
        Ok(stop)
    }

    async fn steps(&mut self) -> Result<Stop, RunError> {
        loop {
            if let Some(stop) = self.open_step().await? {
                return Ok(stop);
            }
            let hidden = self.open.tasks.iter().all(|task| self.is_hidden(task));
            self.begin_step(hidden).await?;
            let span = match hidden {
                true => Span::none(),
                false => spans::step(self.progress.step, self.open.tasks.len()),
            };
            let has_tasks = self.open.tasks.iter().any(|task| !task.is_start());
            if let (true, Some(persister)) = (has_tasks, &mut self.persister) {
                persister.catch_up().await?;
            }
            self.count(u64::from(has_tasks), 0, 0);
            let ending = Ending::of(&span);
            match pin!(self.run_tasks()).instrument(span).await {
                Ok(None) => {}
                Ok(Some(stop)) => {
                    ending.stopped_step(None);
                    return Ok(stop);
                }
                Err(error) => {
                    ending.stopped_step(Some(&error));
                    return Err(error);
                }
            }
            self.close_step().await?;
            ending.step();
            let stepped = has_tasks && self.setup.shared.config.step_task.is_some();
            if stepped {
                self.stop_after_task();
            }
            let broken = match self.breakpoints {
                Some(_) => self.breaks_after().await,
                None => Ok(false),
            };
            let stops = *broken.as_ref().unwrap_or(&true);
            if stops | stepped | self.breaks(&self.setup.breaks_after) {
                if self.wants_checkpoints() {
                    let next = self.prepare();
                    self.emit_checkpoint(&next).await;
                }
                self.open.tasks.clear();
                return broken.map(|_| Stop::Breakpoint(LifecycleStatus::InterruptAfter));
            }
        }
    }

    /// Finds the tasks of the next step. Some(stop) when there are none, or a breakpoint is before one of them.
    async fn open_step(&mut self) -> Result<Option<Stop>, RunError> {
        self.live.set_managed(self.progress.stop - self.progress.step);
        if self.progress.step > self.progress.stop {
            let next = self.prepare();
            self.emit_checkpoint(&next).await;
            return Err(RunError::Recursion {
                limit: self.setup.shared.config.recursion_limit,
            });
        }
        let stage = self.stage();
        let updated = self.progress.updated.as_deref();
        task::prepare_into(&mut self.open.tasks, &self.live, &stage, updated);
        if self.wants_checkpoints() {
            let tasks = std::mem::take(&mut self.open.tasks);
            self.emit_checkpoint(&tasks).await;
            self.open.tasks = tasks;
        }
        if self.open.tasks.is_empty() {
            return Ok(Some(Stop::Done));
        }
        let bounded = self.count_visits();
        if !self.resumed.pending.is_empty() {
            if self.resumed.keep_finished {
                self.resume_handlers();
                self.give_back();
            }
            self.leave_behind();
        }
        let mut broken = false;
        if self.breakpoints.is_some() {
            self.refuse_broken().await?;
            broken = self.breaks_before().await;
        }
        if broken | self.breaks(&self.setup.breaks_before) {
            return Ok(Some(Stop::Breakpoint(LifecycleStatus::InterruptBefore)));
        }
        self.hold_others()?;
        bounded?;
        if let Some(reason) = self.setup.shared.config.drain.requested() {
            return Err(RunError::Drained { reason });
        }
        if self.setup.shared.config.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        self.progress.deadline.check()?;
        Ok(None)
    }

    /// Stores what the step goes on from, announces its tasks, and gives those their results that need no work.
    async fn begin_step(&mut self, hidden: bool) -> Result<(), RunError> {
        if let (false, Some(persister)) = (hidden, &mut self.persister) {
            persister.secure().await?;
        }
        // Most steps have none of these, and an await that does nothing is a tenth of such a step.
        self.open.decided.clear();
        self.take_pinned();
        if !self.open.beyond.is_empty() {
            self.refuse_beyond();
        }
        if self.has_effects() {
            self.decide_effects().await?;
        }
        self.setup.shared.seen();
        if self.shows_starts() {
            self.emit_starts().await;
        }
        if self.setup.cache.is_some() {
            self.take_all_cached().await?;
        }
        if !self.open.decided.is_empty() {
            self.begin_effects().await?;
        }
        Ok(())
    }

    /// Applies the writes of the step's tasks as one, and makes the checkpoint after it.
    async fn close_step(&mut self) -> Result<(), RunError> {
        self.note_given();
        self.keep_before();
        let before = self
            .setup
            .plan
            .fades
            .then(|| self.report.kept.take().unwrap_or_else(|| self.result()));
        let updated = match &self.open.tasks[..] {
            [only] => self.live.apply_step(&mut [applied_of(only, &only.writes)]),
            all => {
                let mut all: Vec<Applied<'_>> =
                    all.iter().map(|task| applied_of(task, &task.writes)).collect();
                self.live.apply_step(&mut all)
            }
        }?;
        self.measure_state(updated.iter().copied())?;
        let shown = &self.setup.shown;
        if updated
            .iter()
            .any(|channel| shown.has(&self.setup.plan, *channel))
        {
            self.emit_values(Vec::new()).await;
        }
        self.report.kept = before.filter(|_| !updated.iter().any(|channel| self.is_result(*channel)));
        self.keep_deltas();
        if let Some(before) = self.progress.updated.replace(updated) {
            self.live.recycle(before);
        }
        self.close_questions();
        self.resumed.pending.clear();
        self.resumed.keep_finished = true;
        self.resumed.resuming = None;
        if !self.setup.shared.is_nested() {
            // A single answer is for the step that asked; nobody later takes it by accident.
            *self.setup.shared.answers.scalar.lock() = None;
        }
        self.put(Source::Loop).await
    }

    /// Returns the result of the run in the current state.
    fn result(&self) -> Value {
        match &self.setup.shown {
            Shown::All => self.live.output(),
            shown => self.live.shown(shown),
        }
    }

    fn is_result(&self, channel: ChannelIx) -> bool {
        match (&self.setup.shown, &self.setup.plan.output_keys) {
            (Shown::All, Some(keys)) => keys.contains(&channel),
            (shown, _) => shown.has(&self.setup.plan, channel),
        }
    }

    fn lifecycle_event(&self, status: LifecycleStatus) -> LifecycleEvent {
        LifecycleEvent {
            status,
            checkpoint_id: self.progress.current.clone(),
            ns: self.setup.shared.emitter.ns(),
            interrupts: self.report.interrupts.clone(),
        }
    }

    fn prepare(&self) -> Vec<Task> {
        task::prepare(&self.live, &self.stage(), self.progress.updated.as_deref())
    }

    /// Returns the context from which the ids of the open step's tasks are made.
    fn stage(&self) -> StepContext {
        StepContext::on(&self.setup.scope, &self.progress.current, self.progress.step)
            .given_in(&self.progress.metadata)
    }

    /// Returns whether the task gets no span: taking the input is not worth one, unless routers of the user's run with
    /// it.
    fn is_hidden(&self, task: &Task) -> bool {
        task.is_start()
            && task
                .node
                .is_some_and(|node| self.setup.plan.node(node).branches.is_empty())
    }

    fn breaks(&self, nodes: &[Name]) -> bool {
        !nodes.is_empty()
            && self.live.changed_since_interrupt
            && self
                .open
                .tasks
                .iter()
                .filter(|task| !task.is_start() && !task.is_call())
                .any(|task| nodes.iter().any(|name| &**name == "*" || *name == task.name))
    }
}

/// The most tasks of a step that are handed to the runtime at once.
const MAX_TASKS_AT_ONCE: usize = 1024;

impl From<NodeError> for RunError {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Cancelled => RunError::Cancelled,
            NodeError::Parent(up) => RunError::ParentCommand { command: up.command },
            NodeError::Drained(reason) => RunError::Drained { reason },
            other => RunError::invalid_update(other.to_string()),
        }
    }
}
