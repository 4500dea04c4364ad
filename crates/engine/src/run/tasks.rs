//! The tasks of one super-step: started all at once, recorded as they finish.

use std::collections::VecDeque;
use std::task::Poll;
use std::time::Instant;

use futures::future::{Either, OptionFuture};
use tokio::sync::mpsc;

use super::*;
use crate::attempt::{self, Rules};
use crate::context::Standing;
use crate::options::NodeOptions;
use crate::pace::MANY;
use crate::task::Origin;
use crate::timeout::Timeout;

/// After so many tasks done on the spot the runtime may do something else, and a cancelled run stops.
const BREATHER: usize = 128;

/// How the tasks of a step ended, all together.
#[derive(Default)]
pub(super) struct Ended {
    /// The task that is being recorded was done on the spot: its writes can wait for those of its neighbours.
    on_the_spot: bool,
    failure: Option<RunError>,
    asked: bool,
}

/// What the tasks of a step call.
pub(super) struct Calls {
    sender: mpsc::UnboundedSender<Call>,
    receiver: mpsc::UnboundedReceiver<Call>,
    /// Place of each called task.
    places: HashMap<TaskId, usize>,
    /// Who waits for the task at a place.
    waiting: HashMap<usize, Vec<Reply>>,
    work: HashMap<usize, TaskFn>,
    /// What calls of an earlier attempt at this step wrote.
    stored: Option<HashMap<TaskId, Writes>>,
}

impl Default for Calls {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            sender,
            receiver,
            places: HashMap::new(),
            waiting: HashMap::new(),
            work: HashMap::new(),
            stored: None,
        }
    }
}

impl Calls {
    pub(super) fn options(&self, place: usize) -> Option<&NodeOptions> {
        self.work.get(&place).map(|task| &task.options)
    }

    fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    fn next_now(&mut self) -> Option<Call> {
        self.receiver.try_recv().ok()
    }

    async fn next(&mut self) -> Option<Call> {
        self.receiver.recv().await
    }

    /// A step's calls end with it.
    fn clear(&mut self) {
        self.places.clear();
        self.waiting.clear();
        self.work.clear();
        self.stored = None;
    }
}

impl Loop {
    /// Gives tasks that finished in an earlier attempt at this step their writes back.
    pub(super) fn give_back(&mut self) {
        let mut places: HashMap<TaskId, usize> = HashMap::new();
        for (place, task) in self.tasks.iter().enumerate() {
            places.insert(task.id.clone(), place);
        }
        for pending in &self.pending {
            if snapshot::is_output(&pending.write.channel)
                && let Some(place) = places.get(&pending.task_id)
            {
                let channel = resolve(&self.plan, &pending.write.channel);
                self.tasks[*place]
                    .writes
                    .push((channel, pending.write.value.clone()));
            }
        }
    }

    /// Stored writes that no task was given back are not part of what this step leads to.
    pub(super) fn leave_behind(&mut self) {
        if self.plan.deltas.is_empty() {
            return;
        }
        let done = self.tasks.iter().filter(|task| !task.writes.is_empty());
        self.given_back = done.map(|task| task.id.clone()).collect();
        let unused =
            |write: &&PendingWrite| !write.task_id.is_null() && !self.given_back.contains(&write.task_id);
        self.live.leave_behind(self.pending.iter().filter(unused));
    }

    /// When nothing is stored before the run ends, its writes to delta keys are kept, because the last checkpoint is
    /// rebuilt from them. Their order is that of the steps.
    pub(super) fn keep_deltas(&mut self) {
        let given_back = std::mem::take(&mut self.given_back);
        let first_step = *self.first_step.get_or_insert(self.step);
        let Some(persister) = &mut self.persister else {
            return;
        };
        if self.plan.deltas.is_empty() || persister.durability != Durability::Exit {
            return;
        }
        if !self.owns_start {
            self.live.deltas.force_written();
            return;
        }
        for task in self.tasks.iter().filter(|task| !given_back.contains(&task.id)) {
            let is_delta = |(channel, _): &&(Channel, Value)| matches!(channel, Channel::Known(c) if self.plan.deltas.contains(c));
            let writes: Writes = task.writes.iter().filter(is_delta).cloned().collect();
            if !writes.is_empty() {
                persister.keep_delta(TaskWrites {
                    checkpoint_id: self.current.clone(),
                    task_id: crate::delta::late_task(&task.id, self.step),
                    // The first step of the run takes its place among what is stored of that step already.
                    task_path: if self.step == first_step {
                        task.path_text.to_string()
                    } else {
                        format!("~~{:010}{}", self.step.max(0), task.path_text)
                    },
                    writes: stored_writes(&self.plan, 0, &writes),
                });
            }
        }
    }

    /// Runs every task without writes, all at once, and what they call. Some(stop) when the step stays open.
    pub(super) async fn run_tasks(&mut self) -> Result<Option<Stop>, RunError> {
        let mut queue: VecDeque<usize> = (0..self.tasks.len())
            .filter(|i| self.tasks[*i].writes.is_empty())
            .collect();
        let mut ended = Ended::default();
        // A step of one task needs no task of the runtime: it runs here.
        let only = if queue.len() == 1 { queue.pop_front() } else { None };
        let work = only.map(|place| self.execute(place));
        let mut here = std::pin::pin!(OptionFuture::from(work));
        let mut working_here = only.is_some();
        let shared = self.shared.clone();
        let limit = shared.config.max_concurrency.unwrap_or(usize::MAX);
        let limit = limit.clamp(1, MAX_TASKS_AT_ONCE);
        let cancel = &shared.config.cancel;
        let mut running: JoinSet<(usize, Outcome)> = JoinSet::new();
        let mut calls_running = 0;
        let schedule = shared.config.schedule;
        let mut held: Vec<(usize, Outcome)> = Vec::new();
        let mut turn = 0;
        let mut expiry = std::pin::pin!(self.deadline.expiry(shared.config.step_timeout));
        let mut expired = None;
        let mut on_the_spot = 0_usize;
        loop {
            // A caller waits for what it calls: so calls do not count, or a limit of one would never end.
            while running.len() - calls_running < limit
                && let Some(place) = queue.pop_front()
            {
                let began = Instant::now();
                if schedule.is_some() || !self.is_quick(place, &queue) {
                    let work = self.execute(place);
                    let (plan, node) = (self.plan.clone(), self.tasks[place].node);
                    let work = async move {
                        let began = Instant::now();
                        let outcome = work.await;
                        if let Some(node) = node {
                            plan.node(node).pace.learn(began);
                        }
                        (place, outcome)
                    };
                    running.spawn(work.in_current_span());
                    continue;
                }
                on_the_spot += 1;
                if on_the_spot.is_multiple_of(BREATHER) {
                    tokio::task::yield_now().await;
                    if cancel.is_cancelled() {
                        return Err(RunError::Cancelled);
                    }
                }
                let mut work = Box::pin(self.execute(place));
                let done = futures::poll!(work.as_mut());
                if let Some(node) = self.tasks[place].node {
                    self.plan.node(node).pace.learn(began);
                }
                match done {
                    Poll::Ready(outcome) => {
                        ended.on_the_spot = true;
                        let others = running.len() + queue.len();
                        if let Some(handler) = self.finished(place, outcome, others, &mut ended).await? {
                            queue.push_front(handler);
                        }
                        ended.on_the_spot = false;
                    }
                    Poll::Pending => {
                        running.spawn(async move { (place, work.await) }.in_current_span());
                    }
                }
            }
            // Others of the step take longer, so what is done so far is stored now.
            if on_the_spot > 0
                && !running.is_empty()
                && let Some(persister) = &mut self.persister
            {
                persister.release().await?;
            }
            let goes_on = working_here || !running.is_empty();
            // What waits for a call can only end when the call is dealt with.
            if !goes_on || held.iter().any(|(place, _)| self.tasks[*place].is_call()) {
                if let Some(schedule) = schedule.filter(|_| !held.is_empty()) {
                    held.sort_by_key(|(place, _)| *place);
                    let (place, outcome) = held.remove(schedule.pick(self.step, turn, held.len()));
                    turn += 1;
                    let others = running.len() + queue.len() + held.len() + usize::from(working_here);
                    if let Some(handler) = self.finished(place, outcome, others, &mut ended).await? {
                        queue.push_front(handler);
                    }
                    continue;
                }
                // What was called without being awaited is done before the step ends.
                if !goes_on && self.calls.is_empty() {
                    break;
                }
            }
            let (place, outcome) = tokio::select! {
                biased;
                // Work that need not wait is done before anything else is asked for.
                Some(outcome) = &mut here, if working_here => {
                    working_here = false;
                    (only.unwrap_or_default(), outcome)
                }
                () = cancel.cancelled() => return Err(RunError::Cancelled),
                late = &mut expiry => {
                    expired = Some(late);
                    break;
                }
                Some(call) = self.calls.next() => {
                    calls_running += self.begin_call(call, &mut running).await?;
                    continue;
                }
                Some(joined) = running.join_next() => match joined {
                    Ok(joined) => {
                        calls_running -= usize::from(self.tasks[joined.0].is_call());
                        joined
                    }
                    // Panics are caught inside; what is left is a runtime that shuts down.
                    Err(_) => return Err(RunError::Cancelled),
                },
            };
            // What the task called before it ended is begun before its end is told.
            while let Some(call) = self.calls.next_now() {
                calls_running += self.begin_call(call, &mut running).await?;
            }
            if schedule.is_some() {
                held.push((place, outcome));
                continue;
            }
            let others = running.len() + queue.len() + usize::from(working_here);
            if let Some(handler) = self.finished(place, outcome, others, &mut ended).await? {
                queue.push_front(handler);
            }
        }
        self.calls.clear();
        // What ended before the time was up is not hidden by it.
        match (ended.failure.or(expired.filter(|_| !ended.asked)), ended.asked) {
            (Some(error), _) => Err(error),
            (None, true) if self.interrupts.is_empty() => {
                Ok(Some(Stop::Breakpoint(LifecycleStatus::Pending)))
            }
            (None, true) => Ok(Some(Stop::Asked)),
            (None, false) => Ok(None),
        }
    }

    /// Is the task better done on the spot than beside the others?
    fn is_quick(&self, place: usize, queue: &VecDeque<usize>) -> bool {
        let Some(node) = self.tasks[place].node else {
            return false;
        };
        self.plan.node(node).pace.quick().unwrap_or_else(|| {
            let same = |place: &usize| self.tasks[*place].node == Some(node);
            queue.len() >= MANY && queue.iter().take(MANY).all(same)
        })
    }

    /// Takes up a call and starts its work. The number of works started: none when the result is there.
    async fn begin_call(
        &mut self,
        call: Call,
        running: &mut JoinSet<(usize, Outcome)>,
    ) -> Result<usize, RunError> {
        let Some(place) = self.accept(call).await? else {
            return Ok(0);
        };
        let work = self.execute(place);
        running.spawn(async move { (place, work.await) }.in_current_span());
        Ok(1)
    }

    /// Takes up a call: Some(place) when its work is to be done.
    async fn accept(&mut self, call: Call) -> Result<Option<usize>, RunError> {
        let caller = &self.tasks[call.caller];
        let task = task::called(&self.shared.ns, &self.current, self.step, caller, &call);
        let known = self.calls.places.get(&task.id).copied();
        if let Some(place) = known
            && let Some(replies) = self.calls.waiting.get_mut(&place)
        {
            // The caller was tried again while its call goes on.
            replies.push(call.reply);
            return Ok(None);
        }
        if self.calls.stored.is_none() {
            let mut stored: HashMap<TaskId, Writes> = HashMap::new();
            let kept = self.pending.iter().filter(|_| self.keep_finished);
            for pending in kept.filter(|w| snapshot::is_output(&w.write.channel)) {
                let channel = resolve(&self.plan, &pending.write.channel);
                let writes = stored.entry(pending.task_id.clone()).or_default();
                writes.push((channel, pending.write.value.clone()));
            }
            self.calls.stored = Some(stored);
        }
        let finished = match known {
            Some(place) => self.tasks[place].writes.clone(),
            None => {
                let stored = self.calls.stored.as_mut();
                stored
                    .and_then(|stored| stored.remove(&task.id))
                    .unwrap_or_default()
            }
        };
        let place = known.unwrap_or(self.tasks.len());
        self.calls.places.insert(task.id.clone(), place);
        self.emit_start(&task).await;
        if known.is_none() {
            self.tasks.push(task);
        }
        if !finished.is_empty() {
            let _ = call
                .reply
                .send(Ok(task::return_of(&finished).cloned().unwrap_or_default()));
            self.tasks[place].writes = finished;
            return Ok(None);
        }
        self.calls.work.insert(place, call.task);
        if self.take_cached(place).await? {
            let value = task::return_of(&self.tasks[place].writes).cloned();
            let _ = call.reply.send(Ok(value.unwrap_or_default()));
            return Ok(None);
        }
        self.calls.waiting.insert(place, vec![call.reply]);
        Ok(Some(place))
    }

    pub(super) fn execute(&self, place: usize) -> impl Future<Output = Outcome> + Send + 'static {
        let task = &self.tasks[place];
        let mut given = self.given.get(&task.id).cloned().unwrap_or_default();
        let by_id = self
            .shared
            .answers
            .by_id
            .get()
            .filter(|answers| !answers.is_empty());
        if let Some(by_id) = by_id {
            // An answer by id goes to the task's next question; the id of its first question is accepted as well.
            let ns = task.ns(&self.shared.ns);
            let own = interrupt_id(&ns, given.len());
            let first = interrupt_id(&ns, 0);
            if let Some(answer) = by_id.get(own.as_str()).or_else(|| by_id.get(first.as_str())) {
                given.push(answer.clone());
            }
        }
        let standing = self.standing(task);
        let content_limit = self.shared.config.content_limit;
        let span = if self.is_hidden(task) {
            Span::none()
        } else {
            observe::task(task, self.step, content_limit)
        };
        let mut ending = Ending::of(&span);
        let meter = self.shared.config.metrics.clone();
        let caller = Caller {
            place,
            calls: self.calls.sender.clone(),
        };
        let previous = self
            .plan
            .previous_channel
            .and_then(|channel| self.live.value(channel))
            .cloned();
        let mut context = NodeContext::new(standing, self.shared.clone(), self.resuming, given, Some(caller))
            .after(previous);
        if let Some(failed) = task.failed() {
            context = context.taking_over(failed.clone());
        }
        let (plan, input) = (self.plan.clone(), task.input.clone());
        let state = self.live.state.clone();
        let node = task.node.unwrap_or_default();
        let call = self.calls.work.get(&place).cloned();
        let rules = self.rules(task, call.as_ref());
        async move {
            let attempt = |context, stand_in| {
                let busy = meter.as_ref().map(|meter| meter.enter(Activity::Node));
                let work = match &call {
                    Some(call) => Either::Left(task::execute_call(call.clone(), input.clone(), context)),
                    None => {
                        let (plan, state) = (plan.clone(), state.clone());
                        Either::Right(task::execute(plan, state, node, input.clone(), context, stand_in))
                    }
                };
                async move {
                    let _busy = busy;
                    work.await
                }
            };
            let outcome = attempt::run(rules, context, attempt).await;
            ending.task(&outcome.end);
            ending.output(|| task::result_view(&plan, &outcome.writes), content_limit);
            outcome
        }
        .instrument(span)
    }

    /// How the task is tried; None when there is nothing to it but the work.
    fn rules(&self, task: &Task, call: Option<&TaskFn>) -> Option<Rules> {
        let (mut rules, kind) = match (task.node, call) {
            (Some(node), _) => {
                let spec = self.plan.node(node);
                (spec.rules.clone(), spec.kind.as_ref())
            }
            (None, Some(call)) => {
                let rules = Rules {
                    retry: call.options.retry.clone().into(),
                    timeout: call.options.timeout,
                    ..Rules::default()
                };
                (rules, call.options.kind.as_ref())
            }
            (None, None) => return None,
        };
        if let Origin::Packet(place) = task.origin {
            let packets = self.live.packets();
            let own = packets.get(place).and_then(|packet| packet.get("timeout"));
            rules.timeout = own.map(Timeout::from_json).or(rules.timeout);
        }
        rules.gate = kind.and_then(|kind| self.limits.gate(kind, &self.shared.run_id));
        (!rules.is_plain()).then_some(rules)
    }

    /// Records how a task ended, and tells readers. Gives the place of the task that takes over, if it failed.
    pub(super) async fn finished(
        &mut self,
        place: usize,
        outcome: Outcome,
        others: usize,
        ended: &mut Ended,
    ) -> Result<Option<usize>, RunError> {
        let task = Task {
            input: self.tasks[place].input.clone(),
            ..self.tasks[place].outline()
        };
        let keeps = self.persister.is_some();
        let Outcome {
            mut writes,
            end,
            answers,
        } = outcome;
        let quiet = ended.failure.is_some() || task.is_start(&self.plan);
        let resume = answers.map(|answers| (Channel::Named(reserved::RESUME.into()), Value::from(answers)));
        let mut stored: Writes = resume.into_iter().collect();
        let mut leaves_something = false;
        let mut interrupts = Vec::new();
        let mut error = None;
        let mut handled = None;
        if !task.is_start(&self.plan) {
            let written = task::count_state_writes(&self.plan, &writes);
            self.count(0, 1, written);
        }
        let answer = match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
                self.keep_result(place, &writes).await;
                leaves_something = true;
                if keeps {
                    stored.extend(writes.iter().cloned());
                }
                Ok(task::return_of(&writes).cloned().unwrap_or_default())
            }
            End::Interrupted(asked) => {
                interrupts = match asked {
                    Interrupted::Question { question, index } => vec![Interrupt {
                        id: interrupt_id(&task.ns(&self.shared.ns), index),
                        value: question,
                    }],
                    Interrupted::Nested(interrupts) => interrupts,
                };
                if !interrupts.is_empty() {
                    let list: List = interrupts.iter().map(Interrupt::to_json).collect();
                    stored.push((Channel::Named(reserved::INTERRUPT.into()), Value::Array(list)));
                }
                ended.asked = true;
                Err(NodeError::Interrupt(Interrupted::Nested(interrupts.clone())))
            }
            End::Failed(reason) => {
                let shown = task::repr(&reason);
                stored.push((Channel::Named(reserved::ERROR.into()), shown.as_str().into()));
                // A router that fails comes after its node's own writes, which are kept.
                stored.extend(writes.iter().cloned());
                error = Some(shown);
                let answer = Err(NodeError::Failed(reason.clone()));
                if let Some(handler) = self.handler_of(&task) {
                    let name = Value::String(task.name.clone());
                    stored.push((Channel::Named(reserved::ERROR_SOURCE.into()), name));
                    handled = Some((handler, reason));
                } else if !task.is_call() {
                    // Who called decides what the failure of a call means.
                    ended.failure.get_or_insert(match &*reason.class {
                        "InvalidUpdateError" => RunError::InvalidUpdate {
                            message: format!("{}\nReturned by node {:?}.", reason.message, &*task.name),
                        },
                        _ => RunError::Node {
                            node: task.name.clone(),
                            task_id: task.id.clone(),
                            failure: reason,
                        },
                    });
                }
                answer
            }
            End::Parent(command) => {
                let command = Box::new(command);
                ended.failure.get_or_insert(RunError::ParentCommand { command });
                return Ok(None);
            }
            End::Drained(reason) => {
                ended.failure.get_or_insert(RunError::Drained { reason });
                return Ok(None);
            }
            End::Cancelled => {
                ended.failure.get_or_insert(RunError::Cancelled);
                return Ok(None);
            }
        };
        leaves_something |= !stored.is_empty();
        if keeps && !stored.is_empty() {
            // When the last task of a step is done the step closes, and nobody asks for its pending writes.
            let open = others > 0 || ended.asked || ended.failure.is_some() || handled.is_some();
            let record = self.record(task.id.clone(), &task.path_text, &stored, open);
            if let Some(persister) = &mut self.persister
                && !record.writes.is_empty()
            {
                let at_once = others > 0 && !ended.on_the_spot || handled.is_some();
                persister.task(record, at_once).await?;
            }
        }
        // A question asked in a call is shown as its caller's.
        let shown_by_caller = task.is_call() && !interrupts.is_empty();
        // A nested graph that stopped at a breakpoint leaves nothing to tell.
        if !quiet && !shown_by_caller && leaves_something {
            self.emit_outcome(&task, &writes, &interrupts, error).await;
        }
        if !task.is_call() {
            self.interrupts.extend(interrupts);
        }
        self.tasks[place].writes = writes;
        for reply in self.calls.waiting.remove(&place).into_iter().flatten() {
            let _ = reply.send(answer.clone());
        }
        Ok(handled.map(|(handler, reason)| self.take_over(place, handler, reason)))
    }

    fn standing(&self, task: &Task) -> Standing {
        Standing {
            plan: self.plan.clone(),
            task: task.outline(),
            checkpoint: self.current.clone(),
            step: self.step,
            attempt: 1,
            first_attempt_ms: self.shared.clock.now_ms(),
        }
    }

    pub(super) fn info(&self, task: &Task) -> TaskInfo {
        self.standing(task).info(&self.shared)
    }

    /// A task's writes as they are stored; also kept as pending writes of the open step, if it stays open.
    pub(super) fn record(
        &mut self,
        task_id: TaskId,
        task_path: &str,
        writes: &Writes,
        pending: bool,
    ) -> TaskWrites {
        let writes = stored_writes(&self.plan, 0, writes);
        let task_path = task_path.to_owned();
        for write in writes.iter().filter(|_| pending) {
            // Only a task that was tried before has something to replace; a wide step is not searched for each write.
            if write.idx < 0 {
                self.pending
                    .retain(|p| p.task_id != task_id || p.write.idx != write.idx);
            }
            self.pending.push(PendingWrite {
                task_id: task_id.clone(),
                task_path: task_path.clone(),
                write: write.clone(),
            });
        }
        TaskWrites {
            checkpoint_id: self.current.clone(),
            task_id,
            task_path,
            writes,
        }
    }
}
