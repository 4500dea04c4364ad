//! Runs a grid: its rows as forks from one moment, some at once, within what they may use.
//!
//! A row is a branch of the thread whose ids sort before what the thread is now ([`superstep::Graph::aside`]): whatever reads
//! the thread's newest checkpoint never meets it, and it needs no claim. Somebody may go on with the thread meanwhile.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use superstep::checkpoint::{CheckpointHead, ListQuery, Source};
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Graph, START, ThreadId, Value};
use superstep_document::Document;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::plan::{self, Planned, WhatIfHost};
use super::row::{RowRun, RunOutcome, costs};
use super::score::{self, ComparedWith, Graded, judge};
use crate::base::{blocking, files, values};
use crate::ledger::Ledger;
use crate::session::{self, Origin};
use crate::threads::compare::compare;
use crate::wire::{
    ExchangeView, Problem, RunModels, WhatIfBase, WhatIfBranch, WhatIfGrid, WhatIfLimit, WhatIfResult,
    WhatIfStatus, WhatIfView,
};
use superstep_document::text;

/// Differences of a result that are kept.
const MAX_CHANGES: usize = 100;
/// State keys of a result that are kept.
const MAX_KEYS: usize = 30;
/// Checkpoints among which what followed the moment is looked for.
const MAX_HEADS: usize = 50_000;

/// Tokens and cost that were used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) tokens: u64,
    /// By currency.
    pub(crate) cost: BTreeMap<String, f64>,
    /// A model has no price.
    pub(crate) unpriced: bool,
}

impl Spent {
    pub(crate) fn exchange(&mut self, exchange: &ExchangeView) {
        if let Some(tokens) = &exchange.tokens {
            self.tokens += tokens.input + tokens.output;
        }
        match &exchange.cost {
            Some(cost) => *self.cost.entry(cost.currency.clone()).or_default() += cost.amount,
            None => self.unpriced = true,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        for (currency, amount) in &other.cost {
            *self.cost.entry(currency.clone()).or_default() += amount;
        }
        self.unpriced |= other.unpriced;
    }

    /// Returns which part of the limit is used up.
    pub(crate) fn beyond(&self, limit: &WhatIfLimit) -> Option<&'static str> {
        let cost = self.cost.values().copied().fold(0.0, f64::max);
        if limit.tokens.is_some_and(|most| self.tokens > most) {
            return Some("tokens");
        }
        limit.cost.is_some_and(|most| cost > most).then_some("money")
    }
}

/// Setting in which a grid runs.
pub struct Setting {
    /// Where graphs come from.
    pub host: Arc<dyn WhatIfHost>,
    /// The database.
    pub saver: Arc<dyn Checkpointer>,
    /// The thread.
    pub thread: ThreadId,
    /// The moment; the newest checkpoint when absent.
    pub checkpoint: Option<CheckpointId>,
    /// The graph.
    pub document: Document,
    /// What its checkpoints say of it.
    pub origin: Origin,
    /// What nodes read and no node writes.
    pub context: Value,
    /// The program, by its id.
    pub instance: String,
}

/// A grid that can run.
pub struct Bench {
    pub(super) host: Arc<dyn WhatIfHost>,
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) thread: ThreadId,
    pub(super) moment: CheckpointHead,
    pub(super) newest: CheckpointHead,
    pub(super) origin: Origin,
    pub(super) context: Value,
    pub(super) grid: WhatIfGrid,
    pub(super) ledger: Option<Arc<Ledger>>,
    rows: Vec<Planned>,
    pace: plan::Pace,
    models: RunModels,
    output_keys: Option<Vec<String>>,
    /// What the moment was given, when it is that of an input.
    pub(super) input: Option<Object>,
    moment_state: Value,
    base_state: Value,
    spent: Mutex<Spent>,
    over: CancellationToken,
    view: Mutex<WhatIfView>,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench")
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

/// Reads the checkpoint that a grid begins at, and the thread's current one.
async fn moments(setting: &Setting) -> Result<(CheckpointHead, CheckpointHead), Problem> {
    let query = |id: Option<&CheckpointId>| {
        ListQuery::new()
            .thread(setting.thread.clone())
            .ns("")
            .id(id.cloned())
            .limit(1)
    };
    let newest = setting.saver.heads(&query(None)).await?.into_iter().next();
    let newest = newest.ok_or_else(|| {
        Problem::new(
            "not-found",
            text!(
                "Thread {thread} has no checkpoint to begin at.",
                thread = setting.thread.as_str()
            ),
        )
        .remedy(text!("Run it first."))
    })?;
    let Some(id) = &setting.checkpoint else {
        return Ok((newest.clone(), newest));
    };
    let moment = setting.saver.heads(&query(Some(id))).await?.into_iter().next();
    let moment = moment.ok_or_else(|| {
        Problem::new(
            "not-found",
            text!(
                "Thread {thread} has no checkpoint {id}.",
                thread = setting.thread.as_str(),
                id = id.as_str()
            ),
        )
        .remedy(text!("Choose one of its timeline."))
    })?;
    Ok((moment, newest))
}

/// Returns the last checkpoint that followed a moment, ignoring what-if branches.
async fn followed(setting: &Setting, moment: &CheckpointHead) -> Result<Option<CheckpointHead>, Problem> {
    let query = ListQuery::new()
        .thread(setting.thread.clone())
        .ns("")
        .limit(MAX_HEADS);
    let mut heads = setting.saver.heads(&query).await?;
    heads.sort_by(|a, b| a.id.cmp(&b.id));
    let mut after: HashSet<&CheckpointId> = HashSet::from([&moment.id]);
    let mut last = None;
    for head in &heads {
        if session::what_if(head).is_none() && head.parent.as_ref().is_some_and(|id| after.contains(id)) {
            after.insert(&head.id);
            last = Some(head);
        }
    }
    Ok(last.cloned())
}

/// Reads the state of a checkpoint.
async fn state(graph: &Graph, thread: &ThreadId, id: &CheckpointId) -> Result<Value, Problem> {
    let at = StateRef::at(thread.clone(), id.clone());
    Ok(graph.get_state(&at).await?.values)
}

/// Reads the input that a checkpoint begins with.
async fn given_at(setting: &Setting, moment: &CheckpointHead) -> Result<Option<Object>, Problem> {
    let tuple = setting.saver.get(&setting.thread, "", Some(&moment.id)).await?;
    let given = tuple
        .as_ref()
        .and_then(|tuple| tuple.checkpoint.channel_values.get(START));
    Ok(given.and_then(Value::as_object).cloned())
}

impl Bench {
    /// Checks a grid and makes it ready.
    pub async fn new(setting: Setting, grid: WhatIfGrid) -> Result<Self, Problem> {
        let pace = plan::pace(&grid)?;
        let (moment, newest) = moments(&setting).await?;
        let chosen = grid.models.clone().unwrap_or_default().cleaned();
        let models = chosen.or(session::models_of(&moment));
        let (rows, own, models, setting, grid) = blocking(move || {
            let host = &*setting.host;
            let rows = plan::rows(host, &setting.document, &models, &grid)?;
            // What cannot be graded is reported first.
            if let Some(model) = grid.scorer.as_ref().and_then(|scorer| scorer.model.as_deref()) {
                host.graph(&judge(model), &models)?;
            }
            let own = host.graph(&setting.document, &models);
            Ok::<_, Problem>((rows, own, models, setting, grid))
        })
        .await??;
        // States are read with the thread's graph, or with that of a row where its own has errors.
        let reader = own.map_or_else(|_| rows[0].graph.clone(), |(graph, _)| graph);
        let end = followed(&setting, &moment).await?;
        let input = match moment.metadata.source {
            Source::Input => given_at(&setting, &moment).await?,
            _ => None,
        };
        let moment_state = state(&reader, &setting.thread, &moment.id).await?;
        let base = end.as_ref().unwrap_or(&moment);
        let base_state = state(&reader, &setting.thread, &base.id).await?;
        let output_keys = match grid.keys.is_empty() {
            false => Some(grid.keys.clone()),
            true => setting
                .document
                .output_keys()
                .map(|keys| keys.into_iter().map(str::to_owned).collect()),
        };
        let mut bench = Self {
            view: Mutex::new(WhatIfView {
                id: uuid::Uuid::now_v7().to_string(),
                thread_id: setting.thread.to_string(),
                checkpoint_id: moment.id.to_string(),
                step: i32::try_from(moment.metadata.step).unwrap_or(i32::MAX),
                made_at: files::now(),
                instance: setting.instance,
                running: true,
                grid: grid.clone(),
                names: rows.iter().map(|row| row.name.clone()).collect(),
                base: WhatIfBase {
                    checkpoint_id: base.id.to_string(),
                    followed: end.is_some(),
                    output: BTreeMap::new(),
                },
                results: queued(&grid, pace.repeat),
            }),
            host: setting.host,
            saver: setting.saver,
            thread: setting.thread,
            moment,
            newest,
            origin: setting.origin,
            context: setting.context,
            grid,
            ledger: None,
            rows,
            pace,
            models,
            output_keys,
            input,
            moment_state,
            base_state,
            spent: Mutex::default(),
            over: CancellationToken::new(),
        };
        let output = bench.output(&bench.base_state);
        bench.view.get_mut().base.output = output;
        Ok(bench)
    }

    /// Keeps what models are asked, and the grid, in the ledger of a data folder.
    pub(crate) fn kept_in(mut self, ledger: Arc<Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Returns the grid and its results so far.
    pub fn view(&self) -> WhatIfView {
        self.view.lock().clone()
    }

    /// Runs everything. `changed` is called with the place of a result whenever it is another.
    pub async fn run(&self, stop: &CancellationToken, changed: &(dyn Fn(&Self, usize) + Send + Sync)) {
        self.keep();
        let repeat = self.pace.repeat as usize;
        let at_once = self.pace.at_once as usize;
        let seconds = self.grid.total.seconds;
        let began = Instant::now();
        let all = stream::iter(0..self.rows.len() * repeat)
            .for_each_concurrent(at_once, |place| self.one(place, stop, changed));
        let timer = async {
            match seconds {
                Some(seconds) => {
                    tokio::time::sleep_until(began + std::time::Duration::from_secs_f64(seconds.min(1e7)))
                        .await;
                    self.over.cancel();
                }
                None => std::future::pending().await,
            }
        };
        tokio::pin!(all, timer);
        // Rows that work when the time is over come to their end.
        tokio::select! {
            () = &mut all => {}
            () = &mut timer => all.await,
        }
        self.view.lock().running = false;
        self.keep();
    }

    /// Stores the grid as it is.
    fn keep(&self) {
        if let Some(ledger) = &self.ledger
            && let Err(problem) = ledger.keep_what_if(&self.view.lock())
        {
            tracing::warn!(%problem, "the what-if grid was not stored");
        }
    }

    fn change(&self, place: usize, change: impl FnOnce(&mut WhatIfResult)) {
        change(&mut self.view.lock().results[place]);
    }

    /// Performs one run of one row.
    async fn one(
        &self,
        place: usize,
        stop: &CancellationToken,
        changed: &(dyn Fn(&Self, usize) + Send + Sync),
    ) {
        let (row, repeat) = (
            place / self.pace.repeat as usize,
            place % self.pace.repeat as usize,
        );
        if stop.is_cancelled() || self.is_over() {
            let over = !stop.is_cancelled();
            self.change(place, |result| {
                result.status = if over {
                    WhatIfStatus::Limit
                } else {
                    WhatIfStatus::Stopped
                };
                result.problem = over.then(|| {
                    Problem::new(
                        "what-if-limit",
                        text!("The grid used up its limit before this row began."),
                    )
                    .remedy(text!("Raise the total limit, and run the row again."))
                });
            });
            changed(self, place);
            return;
        }
        self.change(place, |result| result.status = WhatIfStatus::Running);
        changed(self, place);
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let cancel = stop.child_token();
        let run = RowRun {
            bench: self,
            planned: &self.rows[row],
            branch: WhatIfBranch {
                grid: self.view.lock().id.clone(),
                row: small(row),
                repeat: small(repeat),
            },
            limit: self.grid.limit,
            cancel: cancel.clone(),
        };
        let came = {
            let run = run.run();
            tokio::pin!(run);
            tokio::select! {
                came = &mut run => came,
                () = self.over.cancelled() => {
                    cancel.cancel();
                    run.await
                }
            }
        };
        self.note(place, row, came).await;
        self.keep();
        changed(self, place);
    }

    /// Notes what came of a run, compared and graded.
    async fn note(&self, place: usize, row: usize, came: RunOutcome) {
        let mut changes = Vec::new();
        let mut count = 0;
        let mut output = BTreeMap::new();
        let mut graded = score::Score::default();
        if let Some(state) = &came.state {
            let mut differences = compare(&self.base_state, state);
            count = u32::try_from(differences.found.len()).unwrap_or(u32::MAX);
            differences.found.truncate(MAX_CHANGES);
            changes = differences.views();
            output = self.output(state);
            if let (Some(scorer), WhatIfStatus::Done) = (&self.grid.scorer, came.status) {
                let graded_run = Graded {
                    state,
                    compared: ComparedWith {
                        name: "base",
                        title: "Result before the change, to compare with",
                        value: &self.base_state,
                    },
                    run: self.described(row, &came),
                };
                graded = score::score(&self.host, &self.models, scorer, graded_run).await;
                self.spend(&graded.spent);
            }
        }
        self.change(place, |result| {
            result.status = came.status;
            result.problem = came.problem;
            result.asks = came.asks;
            result.node = came.node;
            result.checkpoint_id = came.end.map(|id| id.to_string());
            result.output = output;
            result.changes = changes;
            result.changed = count;
            result.steps = came.steps;
            result.tokens = came.spent.tokens;
            result.cost = costs(&came.spent);
            result.unpriced = came.spent.unpriced;
            result.millis = came.millis;
            result.score = graded.score;
            result.score_note = graded.note;
        });
    }

    /// Builds the description of the run that a scorer sees.
    fn described(&self, row: usize, came: &RunOutcome) -> Value {
        let cost = came.spent.cost.values().copied().fold(0.0, f64::max);
        superstep::json!({
            "row": row + 1,
            "name": self.rows[row].name.as_str(),
            "steps": u64::from(came.steps),
            "tokens": came.spent.tokens,
            "cost": cost,
            "seconds": f64::from(came.millis) / 1000.0,
        })
    }

    /// Returns the keys of a state that are shown.
    fn output(&self, state: &Value) -> BTreeMap<String, crate::wire::ValueView> {
        let Some(state) = state.as_object() else {
            return BTreeMap::new();
        };
        let shown = |key: &str, value: &Value| match &self.output_keys {
            Some(keys) => keys.iter().any(|own| own == key),
            None => self.moment_state.get(key) != Some(value),
        };
        let keys = state.iter().filter(|(key, value)| shown(key, value));
        keys.take(MAX_KEYS)
            .map(|(key, value)| (key.to_string(), values::view(value)))
            .collect()
    }

    /// Returns whether the grid has used up what all rows together may use.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Counts what a row used.
    pub(super) fn spend(&self, more: &Spent) {
        let mut spent = self.spent.lock();
        spent.add(more);
        if spent.beyond(&self.grid.total).is_some() {
            self.over.cancel();
        }
    }
}

/// Creates results that have not begun.
fn queued(grid: &WhatIfGrid, repeat: u32) -> Vec<WhatIfResult> {
    let rows = u32::try_from(grid.rows.len()).unwrap_or(u32::MAX);
    let runs = (0..rows).flat_map(|row| (0..repeat).map(move |repeat| (row, repeat)));
    runs.map(|(row, repeat)| WhatIfResult {
        row,
        repeat,
        status: WhatIfStatus::Queued,
        checkpoint_id: None,
        problem: None,
        asks: None,
        node: None,
        output: BTreeMap::new(),
        changes: Vec::new(),
        changed: 0,
        steps: 0,
        tokens: 0,
        cost: Vec::new(),
        unpriced: false,
        millis: 0,
        score: None,
        score_note: None,
    })
    .collect()
}
