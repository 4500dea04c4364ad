//! One run of one row: the fork that it makes, what it may use, and what came of it.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use superstep::checkpoint::{CheckpointAddress, Source};
use superstep::inspect::withdraw;
use superstep::run::{RunStatus as Ended, StateRef};
use superstep::stream::Payload;
use superstep::value::Object;
use superstep::{
    CheckpointId, Graph, Input, RunConfig, RunError, RunResult, StateUpdate, StreamEvent, StreamMode, Value,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, Spent};
use super::plan::Planned;
use crate::base::files::{self, now_ms};
use crate::runs::exchanges;
use crate::runs::session::RunOf;
use crate::session::asked;
use crate::session::{self, Origin, Start, disabled_in, mark_what_if, only_waits};
use crate::wire::{ExchangeCost, Problem, WhatIfBranch, WhatIfLimit, WhatIfStatus};
use superstep_document::text;

/// Seconds of a row when nobody says how many.
const SECONDS: f64 = 300.0;
/// The longest time that is counted, in seconds.
const MAX_SECONDS: f64 = 1e7;
/// How long a node may take to let itself be stopped.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// Outcome of a run.
#[derive(Debug)]
pub(super) struct RunOutcome {
    pub(super) status: WhatIfStatus,
    pub(super) problem: Option<Problem>,
    pub(super) asks: Option<String>,
    /// The node at which it did not go on.
    pub(super) node: Option<String>,
    /// Where the branch ends, when anything of it was stored.
    pub(super) end: Option<CheckpointId>,
    /// The state there.
    pub(super) state: Option<Value>,
    pub(super) steps: u32,
    pub(super) spent: Spent,
    pub(super) millis: u32,
}

/// Reason why a run was cut off.
enum Cut {
    Time(f64),
    Used(&'static str),
    /// The grid may use no more.
    Total,
}

impl Cut {
    fn problem(&self) -> Problem {
        let (message, remedy) = match self {
            Cut::Time(seconds) => (
                format!("The row took longer than {seconds} s."),
                "Raise the time limit of a row, and run it again.",
            ),
            Cut::Used(what) => (
                format!("The row used up its {what}."),
                "Raise the limit of a row, and run it again.",
            ),
            Cut::Total => (
                "The grid used up what all rows together may use.".to_owned(),
                "Raise the total limit, and run the row again.",
            ),
        };
        Problem::new("what-if-limit", message).remedy(remedy)
    }
}

/// A run of a row.
pub(super) struct RowRun<'a> {
    pub(super) bench: &'a Bench,
    pub(super) planned: &'a Planned,
    pub(super) branch: WhatIfBranch,
    pub(super) limit: WhatIfLimit,
    /// Stops this run only.
    pub(super) cancel: CancellationToken,
}

impl RowRun<'_> {
    /// Runs it to its end.
    pub(super) async fn run(&self) -> RunOutcome {
        let began = Instant::now();
        let mut came = RunOutcome {
            status: WhatIfStatus::Failed,
            problem: None,
            asks: None,
            node: None,
            end: None,
            state: None,
            steps: 0,
            spent: Spent::default(),
            millis: 0,
        };
        if let Err(problem) = self.forked(&mut came, began).await {
            came.problem = Some(problem);
        }
        came.millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        came
    }

    async fn forked(&self, came: &mut RunOutcome, began: Instant) -> Result<(), Problem> {
        let (graph, from) = self.fork().await?;
        came.end = from.made.then(|| from.at.clone());
        let run_id = uuid::Uuid::now_v7().to_string();
        let mut config = self.config(&run_id);
        let mut input = match &self.planned.input {
            Some(input) if !from.input_given => Start::input(input.clone(), Some(from.at)).apply(&mut config),
            _ => Start::go_on(Some(from.at)).apply(&mut config),
        };
        loop {
            let (ended, cut) = self.stretch(&graph, input, config.clone(), came, began).await;
            if let (Ok(result), None) = (&ended, &cut)
                && let Some(until) = only_waits(&result.interrupts)
                && let Some(end) = came.end.clone()
            {
                // It waits for a time: here, if that is soon enough.
                match self.wait(until, began).await {
                    None => {
                        input = Start::time_passed(end).apply(&mut config);
                        continue;
                    }
                    Some(cut) => {
                        self.ends(&graph, came, ended, cut).await?;
                        return Ok(());
                    }
                }
            }
            return self.ends(&graph, came, ended, cut).await;
        }
    }

    /// Builds the configuration of the run.
    fn config(&self, run_id: &str) -> RunConfig {
        let bench = self.bench;
        let mut config = RunOf {
            thread: bench.thread.as_str(),
            run_id,
            document: &self.planned.document,
            origin: &self.origin(),
            claim: None,
            stop: self.cancel.clone().into(),
            recursion_limit: None,
            version: self.planned.version.clone(),
        }
        .config();
        mark_what_if(&mut config.metadata, &self.branch);
        config.context = bench.context.clone();
        config.effects = superstep::run::EffectPolicy::Reuse;
        let chosen = bench.grid.effects.iter();
        config.effects_of = chosen
            .map(|(node, choice)| (node.as_str().into(), (*choice).into()))
            .collect();
        config.hold_effects = true;
        config.modes = vec![StreamMode::Tasks, StreamMode::Checkpoints];
        config.subgraphs = true;
        config
    }

    fn origin(&self) -> Origin {
        Origin {
            models: self.planned.models.clone(),
            disabled: disabled_in(&self.planned.document),
            ..self.bench.origin.clone()
        }
    }

    /// Creates the fork of a row: the graph, whose checkpoints do not become part of the thread's current state, and
    /// where its run begins.
    async fn fork(&self) -> Result<(Graph, Begins), Problem> {
        let (bench, planned) = (self.bench, self.planned);
        let (moment, newest) = (&bench.moment, &bench.newest);
        // Nothing may be stored beside the tasks of a checkpoint that goes on, or that somebody is asked at.
        let copies = moment.id == newest.id || moment.interrupted > 0;
        let graph = planned.graph.clone();
        let aside = match copies {
            true => graph.aside(moment.parent.as_ref(), &moment.id),
            false => graph.aside(Some(&moment.id), &newest.id),
        };
        let graph = aside.ok_or_else(|| {
            Problem::new(
                "what-if-no-room",
                text!("Checkpoints of this thread have ids that leave no room for a branch beside it."),
            )
            .remedy(text!("Copy the thread, and ask there."))
        })?;
        let mut from = Begins {
            at: moment.id.clone(),
            made: false,
            input_given: false,
        };
        if copies {
            from.edit(self, &graph, Value::Null, Some("__copy__"), &[])
                .await?;
        }
        let keys: Vec<&str> = planned.values.keys().map(|key| &**key).collect();
        if moment.metadata.source == Source::Input && (planned.input.is_some() || !keys.is_empty()) {
            // Nothing has read the input yet: another one takes its place, and values are part of it.
            let given = planned
                .input
                .as_ref()
                .and_then(Value::as_object)
                .or(bench.input.as_ref());
            let mut input = given.cloned().unwrap_or_default();
            for (key, value) in planned.plain.iter() {
                input.insert(key.clone(), value.clone());
            }
            from.edit(self, &graph, input.into(), Some("__input__"), &keys)
                .await?;
            from.input_given = true;
        } else if !keys.is_empty() {
            let values = Value::Object(planned.values.clone());
            from.edit(self, &graph, values, planned.as_node.as_deref(), &keys)
                .await?;
        }
        Ok((graph, from))
    }

    /// Runs until the branch stops, be it to wait.
    async fn stretch(
        &self,
        graph: &Graph,
        input: Input,
        config: RunConfig,
        came: &mut RunOutcome,
        began: Instant,
    ) -> (Result<RunResult, RunError>, Option<Cut>) {
        let cancel = self.cancel.clone();
        let seconds = self.seconds();
        let deadline = began + Duration::from_secs_f64(seconds);
        let mut run = graph.stream(input, config);
        let mut working = HashSet::new();
        let mut cut: Option<Cut> = None;
        loop {
            let at = if cut.is_some() {
                Instant::now() + ENDS_WITHIN
            } else {
                deadline
            };
            tokio::select! {
                event = run.next() => match event {
                    Some(event) => self.event(event, &mut working, came),
                    None => break,
                },
                () = tokio::time::sleep_until(at) => {
                    if cut.is_some() {
                        // The node does not give way; what it does later is no part of the result.
                        return (Err(RunError::Cancelled), cut);
                    }
                    cut = Some(Cut::Time(seconds));
                    cancel.cancel();
                }
            }
            if cut.is_none() {
                cut = self.used_up(&came.spent);
                if cut.is_some() {
                    cancel.cancel();
                }
            }
        }
        let ended = run.finish().await;
        for task in working {
            self.paid(&task, came);
        }
        (ended, cut)
    }

    fn seconds(&self) -> f64 {
        self.limit.seconds.unwrap_or(SECONDS).min(MAX_SECONDS)
    }

    fn used_up(&self, spent: &Spent) -> Option<Cut> {
        if self.bench.is_over() {
            return Some(Cut::Total);
        }
        spent.beyond(&self.limit).map(Cut::Used)
    }

    fn event(&self, event: StreamEvent, working: &mut HashSet<String>, came: &mut RunOutcome) {
        let root = event.ns.is_empty();
        match event.payload {
            Payload::Checkpoint(made) if root => {
                came.end = Some(made.id.clone());
                came.steps += u32::from(made.metadata.source == Source::Loop);
            }
            Payload::TaskStart(task) => {
                working.insert(task.id.to_string());
            }
            Payload::TaskEnd(task) => {
                working.remove(task.id.as_str());
                self.paid(task.id.as_str(), came);
            }
            _ => {}
        }
    }

    /// Counts what a task asked of models, and keeps it beside the thread.
    fn paid(&self, task: &str, came: &mut RunOutcome) {
        let asked = self.bench.host.exchanges(task);
        if asked.is_empty() {
            return;
        }
        let views: Vec<_> = asked.into_iter().map(exchanges::view).collect();
        let mut spent = Spent::default();
        views.iter().for_each(|exchange| spent.exchange(exchange));
        came.spent.add(&spent);
        self.bench.spend(&spent);
        if let Some(ledger) = &self.bench.ledger
            && let Err(problem) = ledger.keep_exchanges(self.bench.thread.as_str(), task, &views)
        {
            tracing::warn!(%problem, "exchanges with models were not stored");
        }
    }

    /// Waits for a time, in milliseconds since the epoch; what cuts it off otherwise.
    async fn wait(&self, until: u64, began: Instant) -> Option<Option<Cut>> {
        let left = Duration::from_secs_f64(self.seconds()).saturating_sub(began.elapsed());
        let wait = Duration::from_millis(until.saturating_sub(now_ms()));
        if wait > left {
            return Some(Some(Cut::Time(self.seconds())));
        }
        tokio::select! {
            () = self.cancel.cancelled() => Some(self.bench.is_over().then_some(Cut::Total)),
            () = tokio::time::sleep(wait + Duration::from_millis(1)) => None,
        }
    }

    /// Notes how it ended.
    async fn ends(
        &self,
        graph: &Graph,
        came: &mut RunOutcome,
        ended: Result<RunResult, RunError>,
        cut: Option<Cut>,
    ) -> Result<(), Problem> {
        (came.status, came.problem) = match (&cut, &ended) {
            // What used up the limit with its last task has come to its end all the same.
            (_, Ok(result)) if matches!(result.status, Ended::Done | Ended::Breakpoint) => {
                (WhatIfStatus::Done, None)
            }
            (Some(cut), _) => (WhatIfStatus::Limit, Some(cut.problem())),
            (None, Ok(_)) if self.cancel.is_cancelled() => (WhatIfStatus::Stopped, None),
            (None, Ok(_)) => (WhatIfStatus::Asked, None),
            (None, Err(RunError::Cancelled)) if self.bench.is_over() => {
                (WhatIfStatus::Limit, Some(Cut::Total.problem()))
            }
            (None, Err(RunError::Cancelled)) => (WhatIfStatus::Stopped, None),
            (None, Err(error @ (RunError::Effect { .. } | RunError::Held { .. }))) => {
                (WhatIfStatus::Held, Some(error.into()))
            }
            (None, Err(error)) => (WhatIfStatus::Failed, Some(error.into())),
        };
        let Some(end) = came.end.clone() else {
            return Ok(());
        };
        let bench = self.bench;
        if let Ok(result) = &ended
            && let Some(question) = result.interrupts.first()
        {
            came.asks = Some(asked(&question.value).text);
        }
        let pending = bench
            .saver
            .writes_of(CheckpointAddress::new(bench.thread.clone(), "", end.clone()))
            .await?;
        let asking = session::asking(&pending)
            .into_iter()
            .find_map(|asking| asking.node);
        // Nobody is to answer what was only tried.
        let why: Object = [("at", files::now().as_str()), ("why", "what-if")]
            .into_iter()
            .collect();
        withdraw(&*bench.saver, &bench.thread, &end, None, why, None).await?;
        let state = graph.get_state(&StateRef::at(bench.thread.clone(), end)).await?;
        came.node = match &ended {
            Err(
                RunError::Node { node, .. } | RunError::Effect { node, .. } | RunError::Held { node, .. },
            ) => Some(node.to_string()),
            Ok(result) if !result.interrupts.is_empty() => asking,
            _ => None,
        };
        came.state = Some(state.values);
        Ok(())
    }
}

/// Start of a row's run.
struct Begins {
    at: CheckpointId,
    /// The branch has a checkpoint of its own already.
    made: bool,
    /// The input is in it.
    input_given: bool,
}

impl Begins {
    /// Makes an edit on the branch, which goes on from there.
    async fn edit(
        &mut self,
        row: &RowRun<'_>,
        graph: &Graph,
        values: Value,
        as_node: Option<&str>,
        keys: &[&str],
    ) -> Result<(), Problem> {
        let mut metadata = row.origin().of_edit(keys.iter().copied());
        mark_what_if(&mut metadata, &row.branch);
        let update = StateUpdate {
            values,
            as_node: as_node.map(Into::into),
            metadata,
            ..StateUpdate::default()
        };
        let at = StateRef::at(row.bench.thread.clone(), self.at.clone());
        let edited = graph.update_state(&at, update).await?;
        (self.at, self.made) = (edited.checkpoint_id, true);
        Ok(())
    }
}

/// Converts the costs of a result to the form that interfaces receive.
pub(super) fn costs(spent: &Spent) -> Vec<ExchangeCost> {
    let costs: &BTreeMap<String, f64> = &spent.cost;
    let view = |(currency, amount): (&String, &f64)| ExchangeCost {
        amount: *amount,
        currency: currency.clone(),
    };
    costs.iter().map(view).collect()
}
