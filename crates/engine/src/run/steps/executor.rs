//! The tasks of one super-step at work: begun all at once, taken up as they end.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::future::OptionFuture;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;

use super::deadline::Expiry;
use super::tasks::{BREATHER, StepOutcome};
use super::{Loop, MAX_TASKS_AT_ONCE, Stop};
use crate::graph::call::Call;
use crate::policy::pace::MANY;
use crate::stream::error::RunError;
use crate::stream::events::StreamMode;
use crate::task::TaskOutcome;

/// Time that a cancelled run waits for its tasks. One that never lets others go first is not waited for.
const STOPPED_WITHIN: Duration = Duration::from_millis(200);

/// Work that goes on where the run is.
pub(super) struct InlineTask<'a> {
    pub(super) place: usize,
    pub(super) work: Pin<&'a mut (dyn Future<Output = TaskOutcome> + Send)>,
    /// True while the run is in the very poll in which the work was begun and had to wait.
    pub(super) just_begun: &'a AtomicBool,
}

/// The tasks of a step that have not ended.
pub(super) struct Executor<'a> {
    run: &'a mut Loop,
    /// Places of tasks that have not begun.
    queue: VecDeque<usize>,
    /// Tasks of the runtime.
    running: JoinSet<(usize, TaskOutcome)>,
    /// How many of them were called by others.
    calls_running: usize,
    /// The task that goes on where the run is.
    here: Option<usize>,
    /// Tasks done on the spot.
    on_the_spot: usize,
    /// When tasks of the step had to stay in the queue, as far as somebody asks; those are the ones before a place.
    full_since: Option<tokio::time::Instant>,
    planned: usize,
    /// Completions that a schedule holds back, and how many it has let go.
    held: Vec<(usize, TaskOutcome)>,
    turn: usize,
    /// Nothing is emitted any more.
    silent: bool,
    ended: StepOutcome,
}

impl<'a> Executor<'a> {
    pub(super) fn new(run: &'a mut Loop, queue: VecDeque<usize>, ended: StepOutcome) -> Self {
        Self {
            full_since: None,
            planned: run.open.tasks.len(),
            run,
            queue,
            running: JoinSet::new(),
            calls_running: 0,
            here: None,
            on_the_spot: 0,
            held: Vec::new(),
            turn: 0,
            silent: false,
            ended,
        }
    }

    /// Works until nothing is left to do. Some(stop) when the step stays open.
    pub(super) async fn run(
        mut self,
        here: Option<InlineTask<'_>>,
        expiry: Expiry,
    ) -> Result<Option<Stop>, RunError> {
        self.here = here.as_ref().map(|here| here.place);
        let mut here = pin!(OptionFuture::from(here.map(|mut here| {
            // Asked again at once, work that only let others go first would believe that they had.
            poll_fn(move |cx| match here.just_begun.load(Ordering::Relaxed) {
                true => Poll::Pending,
                false => here.work.as_mut().poll(cx),
            })
        })));
        let mut expiry = pin!(expiry.wait());
        let shared = self.run.setup.shared.clone();
        loop {
            self.begin_queued().await?;
            if self.ended.has_failed() && !self.silent {
                self.drain_after_failure().await?;
            }
            if self.let_go().await? {
                continue;
            }
            // What was called without being awaited is done before the step ends.
            if self.here.is_none() && self.running.is_empty() && self.run.open.calls.is_empty() {
                return self.run.closed(self.ended, None);
            }
            let (place, outcome) = tokio::select! {
                biased;
                // Work that need not wait is done before anything else is asked for.
                Some(outcome) = &mut here, if self.here.is_some() => {
                    (self.here.take().unwrap_or_default(), outcome)
                }
                () = shared.config.cancel.cancelled() => {
                    // What it was in the middle of is let go before the run says that it has ended: a stream keeps what it had.
                    let _ = tokio::time::timeout(STOPPED_WITHIN, self.running.shutdown()).await;
                    return Err(RunError::Cancelled);
                }
                late = &mut expiry => return self.run.closed(self.ended, Some(late)),
                Some(call) = self.run.open.calls.next() => {
                    self.begin_call(call).await?;
                    self.begin_calls().await?;
                    continue;
                }
                Some(joined) = self.running.join_next() => self.joined(joined)?,
            };
            self.take_up_or_hold(place, outcome).await?;
        }
    }

    /// Returns the outcome of a task of the runtime.
    fn joined(
        &mut self,
        joined: Result<(usize, TaskOutcome), JoinError>,
    ) -> Result<(usize, TaskOutcome), RunError> {
        // Panics are caught inside; what is left is a runtime that shuts down.
        let joined = joined.map_err(|_| RunError::Cancelled)?;
        self.calls_running -= usize::from(self.run.open.tasks[joined.0].is_call());
        Ok(joined)
    }

    /// Emits after a failure what ended just as quickly, and nothing after that.
    async fn drain_after_failure(&mut self) -> Result<(), RunError> {
        self.silent = true;
        // What needs no time is done when it has had its turn.
        tokio::task::yield_now().await;
        while let Some(joined) = self.running.try_join_next() {
            let (place, outcome) = self.joined(joined)?;
            self.take_up_or_hold(place, outcome).await?;
        }
        self.run.fall_silent();
        Ok(())
    }

    async fn take_up_or_hold(&mut self, place: usize, outcome: TaskOutcome) -> Result<(), RunError> {
        // What the task called before it ended is begun before its end is emitted.
        self.begin_calls().await?;
        match self.run.setup.shared.config.testing.schedule {
            Some(_) => self.held.push((place, outcome)),
            None => self.take_up(place, outcome).await?,
        }
        Ok(())
    }

    /// Begins what waits in the queue, as far as the limit allows. What is quick is done on the spot.
    async fn begin_queued(&mut self) -> Result<(), RunError> {
        let limit = self.run.setup.shared.config.max_concurrency.unwrap_or(usize::MAX);
        let limit = limit.clamp(1, MAX_TASKS_AT_ONCE);
        // A caller waits for what it calls: so calls do not count, or a limit of one would never end.
        while self.running.len() - self.calls_running < limit
            && let Some(place) = self.queue.pop_front()
        {
            if let Some(since) = self.full_since.filter(|_| place < self.planned) {
                self.run.emit_waited(place, since.elapsed()).await;
            }
            match self.run.setup.shared.config.testing.schedule.is_none() && self.is_quick(place) {
                true => self.do_here(place).await?,
                false => self.spawn(place),
            }
        }
        if self.full_since.is_none()
            && !self.queue.is_empty()
            && self.run.setup.shared.emitter.wants(StreamMode::Waits)
        {
            self.full_since = Some(tokio::time::Instant::now());
        }
        // Others of the step take longer, so what is done so far is stored now.
        if self.on_the_spot > 0
            && !self.running.is_empty()
            && let Some(persister) = &mut self.run.persister
        {
            persister.release().await?;
        }
        Ok(())
    }

    /// Returns whether it is better to do the task on the spot than beside the others.
    fn is_quick(&self, place: usize) -> bool {
        let tasks = &self.run.open.tasks;
        let Some(node) = tasks[place].node else {
            return false;
        };
        self.run.setup.plan.node(node).pace.quick().unwrap_or_else(|| {
            let same = |place: &usize| tasks[*place].node == Some(node);
            self.queue.len() >= MANY && self.queue.iter().take(MANY).all(same)
        })
    }

    fn spawn(&mut self, place: usize) {
        // Boxed, because the runtime moves what it is given several times.
        let work = Box::pin(self.run.execute(place));
        let (plan, node) = (self.run.setup.plan.clone(), self.run.open.tasks[place].node);
        let work = async move {
            let began = Instant::now();
            let outcome = work.await;
            if let Some(node) = node {
                plan.node(node).pace.learn(began);
            }
            (place, outcome)
        };
        self.running.spawn(work.in_current_span());
    }

    async fn do_here(&mut self, place: usize) -> Result<(), RunError> {
        self.on_the_spot += 1;
        if self.on_the_spot.is_multiple_of(BREATHER) {
            tokio::task::yield_now().await;
            if self.run.setup.shared.config.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
        }
        let began = Instant::now();
        let mut work = Box::pin(self.run.execute(place));
        let done = futures::poll!(work.as_mut());
        if let Some(node) = self.run.open.tasks[place].node {
            self.run.setup.plan.node(node).pace.learn(began);
        }
        match done {
            Poll::Ready(outcome) => {
                self.ended.on_the_spot = true;
                let taken_up = self.take_up(place, outcome).await;
                self.ended.on_the_spot = false;
                taken_up
            }
            Poll::Pending => {
                self.running
                    .spawn(async move { (place, work.await) }.in_current_span());
                Ok(())
            }
        }
    }

    /// Begins what is called at this moment.
    async fn begin_calls(&mut self) -> Result<(), RunError> {
        while let Some(call) = self.run.open.calls.next_now() {
            self.begin_call(call).await?;
        }
        Ok(())
    }

    /// Takes up a call and starts its work, unless the result is there.
    async fn begin_call(&mut self, call: Call) -> Result<(), RunError> {
        if let Some(place) = self.run.accept(call).await? {
            let work = Box::pin(self.run.execute(place));
            self.running
                .spawn(async move { (place, work.await) }.in_current_span());
            self.calls_running += 1;
        }
        Ok(())
    }

    /// Lets go of a completion that the schedule held back, once nothing else can end. False when there is none.
    async fn let_go(&mut self) -> Result<bool, RunError> {
        let Some(schedule) = self
            .run
            .setup
            .shared
            .config
            .testing
            .schedule
            .filter(|_| !self.held.is_empty())
        else {
            return Ok(false);
        };
        let goes_on = self.here.is_some() || !self.running.is_empty();
        // What waits for a call can only end when the call is dealt with.
        if goes_on
            && !self
                .held
                .iter()
                .any(|(place, _)| self.run.open.tasks[*place].is_call())
        {
            return Ok(false);
        }
        self.held.sort_by_key(|(place, _)| *place);
        let next = schedule.pick(self.run.progress.step, self.turn, self.held.len());
        self.turn += 1;
        let (place, outcome) = self.held.remove(next);
        self.take_up(place, outcome).await?;
        Ok(true)
    }

    /// Records how a task ended. What takes over from it goes to the front of the queue.
    async fn take_up(&mut self, place: usize, outcome: TaskOutcome) -> Result<(), RunError> {
        let others =
            self.running.len() + self.queue.len() + self.held.len() + usize::from(self.here.is_some());
        let others = others + self.run.open.held.iter().filter(|held| **held).count();
        if let Some(handler) = self.run.finished(place, outcome, others, &mut self.ended).await? {
            self.queue.push_front(handler);
        }
        Ok(())
    }
}
