//! Answers that are not in their threads yet. An answer is never refused because something runs: it is kept in the ledger, can
//! be taken back for a moment, and is given as soon as its thread is free, with all others of its step. What a program kept
//! that ended, whichever way, the next one gives.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use superstep::ThreadId;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::Workbench;
use crate::base::blocking;
use crate::base::files::now_ms;
use crate::base::problem::already_answered;
use crate::ledger::{AnswerRow, not_taken};
use crate::session::{self};
use crate::wire::{
    AnswerState, AnswersTaken, AppEvent, ChangeHeld, GiveAnswers, HeldAnswer, HeldChanged, Problem,
    RefusedAnswers, RunAction, StartRun,
};
use superstep_document::text;

/// How long an answer can be taken back when the settings do not say.
const HOLD: Duration = Duration::from_secs(5);
/// The longest that an answer is held.
const MAX_HOLD: Duration = Duration::from_secs(3600);
/// Longest time without a look: a program may have ended that kept answers.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The least time between two looks.
const REST: Duration = Duration::from_millis(20);
/// A thread that another program runs is tried again after this time.
const AGAIN_AFTER: Duration = Duration::from_millis(500);
/// An answer that is given at once is confirmed after this time, whether its run has begun or not.
const BEGUN_WITHIN: Duration = Duration::from_secs(2);
/// Runs that begin at once.
const MAX_AT_ONCE: usize = 8;

/// State of the answers that this program gives.
#[derive(Debug)]
pub(crate) struct Holding {
    /// Threads whose runs are about to begin with answers.
    beginning: Mutex<HashSet<String>>,
    /// Threads that another program runs, and when they are tried again.
    blocked: Mutex<HashMap<String, Instant>>,
    /// For runs that begin.
    room: Semaphore,
}

impl Default for Holding {
    fn default() -> Self {
        Self {
            beginning: Mutex::default(),
            blocked: Mutex::default(),
            room: Semaphore::new(MAX_AT_ONCE),
        }
    }
}

impl Holding {
    /// Leaves a thread alone for a moment.
    fn block(&self, thread_id: &str) {
        let again = Instant::now() + AGAIN_AFTER;
        self.blocked.lock().insert(thread_id.to_owned(), again);
    }

    fn is_blocked(&self, thread_id: &str) -> bool {
        let mut blocked = self.blocked.lock();
        blocked.retain(|_, until| *until > Instant::now());
        blocked.contains_key(thread_id)
    }
}

/// Gives what is due for as long as the workbench is there.
pub(crate) fn give(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    let changed = workbench.announcer.answers.clone();
    tokio::spawn(async move {
        loop {
            let Some(workbench) = weak.upgrade() else { return };
            let wait = workbench.give_due().await.unwrap_or_else(|problem| {
                tracing::warn!(%problem, "answers could not be given");
                LOOK_EVERY
            });
            drop(workbench);
            tokio::select! {
                () = stop.cancelled() => return,
                () = changed.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(REST) => {}
            }
        }
    });
}

/// Answers to one thread that begin one run.
struct StepAnswers {
    thread_id: String,
    checkpoint_id: String,
    rows: Vec<AnswerRow>,
}

impl Workbench {
    /// Keeps answers, and gives them after a moment. Each start is taken or refused for itself.
    pub(crate) async fn answer_give(self: &Arc<Self>, request: GiveAnswers) -> Result<AnswersTaken, Problem> {
        let settings = self.preferences.settings();
        let hold = request.hold_ms.map(|ms| Duration::from_millis(ms.into()));
        let of_settings = settings.hold_s.map(|seconds| Duration::from_secs(seconds.into()));
        let hold = hold.or(of_settings).unwrap_or(HOLD).min(MAX_HOLD);
        let due = now_ms().saturating_add(u64::try_from(hold.as_millis()).unwrap_or(u64::MAX));
        let note = request.note.map(|note| note.trim().to_owned());
        let note = note.filter(|note| !note.is_empty());
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for (at, start) in request.starts.into_iter().enumerate() {
            match self.keep(start, note.as_deref(), due).await {
                Ok(rows) => kept.extend(rows),
                Err(problem) => refused.push(RefusedAnswers {
                    start: u32::try_from(at).unwrap_or(u32::MAX),
                    problem,
                }),
            }
        }
        if hold.is_zero() {
            // Whoever asks at once how the threads stand sees that they run.
            self.give_due().await?;
            self.begun(&kept).await;
            let open = self.open_answers().await?;
            let is_held = |row: &AnswerRow| {
                open.iter()
                    .any(|one| one.id == row.id && one.state == AnswerState::Held)
            };
            kept.retain(is_held);
        }
        self.publish_count();
        let held = kept.iter().map(AnswerRow::view).collect();
        Ok(AnswersTaken { held, refused })
    }

    /// Waits a moment for the runs that are about to begin with these answers.
    async fn begun(&self, rows: &[AnswerRow]) {
        let threads: HashSet<&str> = rows.iter().map(|row| row.thread_id.as_str()).collect();
        let until = Instant::now() + BEGUN_WITHIN;
        let is_beginning = || {
            let beginning = self.desk.holding.beginning.lock();
            beginning.iter().any(|thread| threads.contains(thread.as_str()))
        };
        while is_beginning() && Instant::now() < until {
            tokio::time::sleep(REST).await;
        }
    }

    /// Keeps the answers of one start, once they may be given and a run could begin with them.
    async fn keep(
        self: &Arc<Self>,
        start: StartRun,
        note: Option<&str>,
        due: u64,
    ) -> Result<Vec<AnswerRow>, Problem> {
        let (
            Some(thread_id),
            RunAction::Resume {
                answers,
                checkpoint_id: Some(checkpoint),
            },
        ) = (start.thread_id.clone(), &start.action)
        else {
            return Err(Problem::invalid(text!(
                "An answer names its thread, its questions and the checkpoint that asks."
            )));
        };
        let (answers, checkpoint) = (answers.clone(), checkpoint.clone());
        self.waiting_for(&thread_id, Some(&checkpoint.as_str().into()), &answers)
            .await?;
        if self.ledger.thread(&thread_id)?.is_none()
            && let Some(summary) = self.saver().thread(&thread_id.as_str().into()).await?
        {
            self.adopt(&summary).await?;
        }
        self.could_begin(&thread_id, &start).await?;
        let kept = serde_json::to_string(&start).map_err(|error| Problem::invalid(error.to_string()))?;
        let rows = self
            .answers_as_rows(&thread_id, &checkpoint, &answers)
            .await?
            .into_iter()
            .map(|row| AnswerRow {
                note: note.map(str::to_owned),
                due,
                start: kept.clone(),
                ..row
            });
        let mut rows: Vec<AnswerRow> = rows.collect();
        match self.ledger.keep_answers(&rows)? {
            Some(ids) => rows.iter_mut().zip(ids).for_each(|(row, id)| row.id = id),
            None => {
                return Err(already_answered(text!(
                    "Somebody else has just answered this question."
                )));
            }
        }
        Ok(rows)
    }

    pub(crate) async fn answer_take_back(
        self: &Arc<Self>,
        request: ChangeHeld,
    ) -> Result<HeldChanged, Problem> {
        let this = self.clone();
        let changed = blocking(move || this.ledger.take_back_answers(&request.ids)).await??;
        self.publish_count();
        Ok(HeldChanged::of(changed))
    }

    pub(crate) async fn answer_give_now(
        self: &Arc<Self>,
        request: ChangeHeld,
    ) -> Result<HeldChanged, Problem> {
        let this = self.clone();
        let changed = blocking(move || this.ledger.hasten_answers(&request.ids, now_ms())).await??;
        self.announcer.thread_is_free();
        self.publish_count();
        Ok(HeldChanged::of(changed))
    }

    /// Returns the answers that no thread has yet.
    pub(crate) async fn open_answers(self: &Arc<Self>) -> Result<Vec<AnswerRow>, Problem> {
        let (this, place) = (self.clone(), self.database.place());
        blocking(move || this.ledger.open_answers(&place)).await?
    }

    /// Gives what is due; returns the time until the next look.
    async fn give_due(self: &Arc<Self>) -> Result<Duration, Problem> {
        let mut rows = self.open_answers().await?;
        for row in &mut rows {
            if row.instance != self.instance.id() && !self.instance.is_other_alive(&row.instance) {
                self.ledger.adopt_answers(&row.instance, self.instance.id())?;
                self.instance.id().clone_into(&mut row.instance);
            }
        }
        rows.retain(|row| row.instance == self.instance.id());
        let now = now_ms();
        let mut wait = LOOK_EVERY;
        let mut steps: Vec<StepAnswers> = Vec::new();
        let mut of_thread: HashMap<String, usize> = HashMap::new();
        for row in rows {
            if self.runs.is_taken(&row.thread_id)
                || self.desk.holding.beginning.lock().contains(&row.thread_id)
            {
                continue;
            }
            if row.state == AnswerState::Giving {
                self.settle_begun(&row).await?;
                wait = Duration::ZERO;
                continue;
            }
            if row.due > now {
                wait = wait.min(Duration::from_millis(row.due - now));
                continue;
            }
            if self.desk.holding.is_blocked(&row.thread_id) {
                wait = wait.min(AGAIN_AFTER);
                continue;
            }
            // Those of another checkpoint of the thread come after this run.
            match of_thread.get(&row.thread_id) {
                Some(&at) if steps[at].checkpoint_id == row.checkpoint_id => steps[at].rows.push(row),
                Some(_) => {}
                None => {
                    of_thread.insert(row.thread_id.clone(), steps.len());
                    steps.push(StepAnswers {
                        thread_id: row.thread_id.clone(),
                        checkpoint_id: row.checkpoint_id.clone(),
                        rows: vec![row],
                    });
                }
            }
        }
        for step in steps {
            let (this, thread_id) = (self.clone(), step.thread_id.clone());
            if !self.desk.holding.beginning.lock().insert(thread_id.clone()) {
                continue;
            }
            tokio::spawn(async move {
                let permit = this.desk.holding.room.acquire().await;
                if let Err(problem) = this.begin_with(step).await {
                    tracing::warn!(%problem, thread = thread_id, "answers could not be given");
                    this.desk.holding.block(&thread_id);
                }
                drop(permit);
                this.desk.holding.beginning.lock().remove(&thread_id);
                this.announcer.thread_is_free();
            });
        }
        Ok(wait)
    }

    /// Settles an answer whose run has ended without a word, as with its program: it was stored, or it is given again, or it
    /// came back where somebody else had begun the run.
    async fn settle_begun(self: &Arc<Self>, row: &AnswerRow) -> Result<(), Problem> {
        let (to, problem) = match (self.still_waits(row).await?, row.start.is_empty()) {
            (false, _) => (AnswerState::Given, None),
            (true, false) => (AnswerState::Held, None),
            (true, true) => (AnswerState::Returned, Some(not_taken())),
        };
        self.ledger
            .move_answers(&[row.id], AnswerState::Giving, to, problem.as_ref())?;
        if let Some(problem) = problem {
            self.refuse(row, problem);
        }
        self.publish_count();
        Ok(())
    }

    async fn still_waits(&self, row: &AnswerRow) -> Result<bool, Problem> {
        let (thread, checkpoint) = (
            ThreadId::from(row.thread_id.as_str()),
            row.checkpoint_id.as_str().into(),
        );
        let waiting = session::waiting_at(&*self.saver(), &thread, &checkpoint).await?;
        Ok(waiting
            .iter()
            .any(|question| question.id.as_str() == row.interrupt_id))
    }

    /// Begins a run with the answers of a step, or notes why it cannot.
    async fn begin_with(self: &Arc<Self>, step: StepAnswers) -> Result<(), Problem> {
        let mut rows = Vec::with_capacity(step.rows.len());
        for row in step.rows {
            if self.still_waits(&row).await? {
                rows.push(row);
                continue;
            }
            let lost = already_answered(text!(
                "The question does not wait any more: it was answered or withdrawn, or the thread went on without it."
            ));
            let moved =
                self.ledger
                    .move_answers(&[row.id], AnswerState::Held, AnswerState::Lost, Some(&lost))?;
            if !moved.is_empty() {
                self.refuse(&row, lost);
            }
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        // Some may be taken back at this moment.
        let ids = self
            .ledger
            .move_answers(&ids, AnswerState::Held, AnswerState::Giving, None)?;
        rows.retain(|row| ids.contains(&row.id));
        let Some(mut start) = rows
            .last()
            .and_then(|row| serde_json::from_str::<StartRun>(&row.start).ok())
        else {
            return Ok(());
        };
        let answers = rows
            .iter()
            .map(|row| (row.interrupt_id.clone(), row.answer.clone()));
        start.action = RunAction::Resume {
            answers: answers.collect(),
            checkpoint_id: Some(step.checkpoint_id),
        };
        // It may have been closed meanwhile, or been open in a program that ended.
        let is_open = |id: &String| self.document(id).is_ok();
        start.graph_id = start.graph_id.take().filter(is_open);
        let Err(problem) = self.run_begin(start, None, None).await else {
            return Ok(());
        };
        if ["busy", "thread-busy"].contains(&problem.code.as_str()) {
            self.desk.holding.block(&step.thread_id);
            self.ledger
                .move_answers(&ids, AnswerState::Giving, AnswerState::Held, None)?;
            return Ok(());
        }
        let to = AnswerState::Returned;
        self.ledger
            .move_answers(&ids, AnswerState::Giving, to, Some(&problem))?;
        for row in &rows {
            self.refuse(row, problem.clone());
        }
        Ok(())
    }

    /// Says that an answer was not taken.
    fn refuse(self: &Arc<Self>, row: &AnswerRow, problem: Problem) {
        self.hub.publish(AppEvent::AnswerRefused {
            thread_id: row.thread_id.clone(),
            checkpoint_id: row.checkpoint_id.clone(),
            interrupt_id: row.interrupt_id.clone(),
            problem,
        });
        self.publish_inbox(Some(&row.thread_id));
    }
}

impl AnswerRow {
    pub(crate) fn view(&self) -> HeldAnswer {
        HeldAnswer {
            id: self.id,
            thread_id: self.thread_id.clone(),
            checkpoint_id: self.checkpoint_id.clone(),
            interrupt_id: self.interrupt_id.clone(),
            text: self.question.clone(),
            answer: self.answer.clone(),
            left_ms: u32::try_from(self.due.saturating_sub(now_ms())).unwrap_or(u32::MAX),
        }
    }
}
