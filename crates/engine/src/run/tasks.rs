//! The tasks of one super-step: started all at once, recorded as they finish.

use super::*;
use crate::attempt::{self, Rules};
use crate::timeout::Timeout;

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
                        task.path_text.clone()
                    } else {
                        format!("~~{:010}{}", self.step.max(0), task.path_text)
                    },
                    writes: stored_writes(&self.plan, 0, &writes),
                });
            }
        }
    }

    /// Runs every task without writes, all at once. Some(stop) when the step stays open.
    pub(super) async fn run_tasks(&mut self) -> Result<Option<Stop>, RunError> {
        let waiting: Vec<usize> = (0..self.tasks.len())
            .filter(|i| self.tasks[*i].writes.is_empty())
            .collect();
        let mut failure: Option<RunError> = None;
        let mut asked = false;
        if let [only] = waiting[..] {
            // One task needs no task of the runtime: it runs here.
            let work = self.execute(only);
            let cancel = self.config.cancel.clone();
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(RunError::Cancelled),
                outcome = work => outcome,
            };
            self.finished(only, outcome, 0, &mut failure, &mut asked).await?;
        } else if !waiting.is_empty() {
            let limit = self
                .config
                .max_concurrency
                .unwrap_or(usize::MAX)
                .clamp(1, MAX_TASKS_AT_ONCE);
            let mut queue = waiting.into_iter();
            let mut set: JoinSet<(usize, Outcome)> = JoinSet::new();
            let cancel = self.config.cancel.clone();
            loop {
                while set.len() < limit
                    && let Some(index) = queue.next()
                {
                    let work = self.execute(index);
                    set.spawn(async move { (index, work.await) }.in_current_span());
                }
                let joined = tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(RunError::Cancelled),
                    joined = set.join_next() => joined,
                };
                match joined {
                    None => break,
                    Some(Ok((index, outcome))) => {
                        let running = set.len() + queue.len();
                        self.finished(index, outcome, running, &mut failure, &mut asked)
                            .await?;
                    }
                    // Panics are caught inside; what is left is a runtime that shuts down.
                    Some(Err(_)) => return Err(RunError::Cancelled),
                }
            }
        }
        match (failure, asked) {
            (Some(error), _) => Err(error),
            (None, true) => Ok(Some(Stop::Asked)),
            (None, false) => Ok(None),
        }
    }

    pub(super) fn execute(&self, index: usize) -> impl Future<Output = Outcome> + Send + 'static {
        let task = &self.tasks[index];
        let mut given = self.given.get(&task.id).cloned().unwrap_or_default();
        if !self.by_id.is_empty() {
            // An answer by id goes to the task's next question; the id of its first question is accepted as well.
            let ns = task.ns();
            let answer = |index| self.by_id.get(interrupt_id(&ns, index).as_str());
            given.extend(answer(given.len()).or_else(|| answer(0)).cloned());
        }
        let info = self.info(task);
        let content_limit = self.config.content_limit;
        let span = if self.is_hidden(task) {
            Span::none()
        } else {
            observe::task(task, self.step, content_limit)
        };
        let mut ending = Ending::of(&span);
        let meter = self.config.metrics.clone();
        let answers = Answers {
            given,
            scalar: self.scalar.clone(),
        };
        let context = NodeContext::new(
            info,
            self.user.clone(),
            self.emitter.clone(),
            self.config.cancel.clone(),
            answers,
        );
        let (plan, state) = (self.plan.clone(), self.live.state.clone());
        let (node, input) = (task.node, task.input.clone());
        let rules = self.rules(task);
        async move {
            let attempt = |context, stand_in| {
                let busy = meter.as_ref().map(|meter| meter.enter(Activity::Node));
                let work = task::execute(
                    plan.clone(),
                    state.clone(),
                    node,
                    input.clone(),
                    context,
                    stand_in,
                );
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
    fn rules(&self, task: &Task) -> Option<Rules> {
        let spec = self.plan.node(task.node);
        let own = task.push.and_then(|place| {
            let packets = self.live.packets();
            packets.get(place)?.get("timeout").map(Timeout::from_json)
        });
        let limits = &self.graph.limits;
        let gate = spec
            .kind
            .as_ref()
            .and_then(|kind| limits.gate(kind, &self.run_id));
        if spec.rules.is_plain() && own.is_none() && gate.is_none() {
            return None;
        }
        let mut rules = spec.rules.clone();
        rules.timeout = own.or(rules.timeout);
        rules.gate = gate;
        Some(rules)
    }

    /// Records how a task ended, and tells readers.
    pub(super) async fn finished(
        &mut self,
        index: usize,
        outcome: Outcome,
        running: usize,
        failure: &mut Option<RunError>,
        asked: &mut bool,
    ) -> Result<(), RunError> {
        let task = self.tasks[index].clone();
        let Outcome {
            mut writes,
            end,
            answers,
        } = outcome;
        let quiet = failure.is_some() || task.is_start();
        let resume = answers.map(|answers| (Channel::Named(reserved::RESUME.into()), Value::from(answers)));
        let mut stored: Writes = resume.into_iter().collect();
        let mut interrupts = Vec::new();
        let mut error = None;
        if !task.is_start() {
            let written = task::count_state_writes(&self.plan, &writes);
            self.count(0, 1, written);
        }
        match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
                self.keep_result(index, &writes).await;
                stored.extend(writes.iter().cloned());
            }
            End::Interrupted { question, index } => {
                let interrupt = Interrupt {
                    id: interrupt_id(&task.ns(), index),
                    value: question,
                };
                let list: List = [interrupt.to_json()].into_iter().collect();
                stored.push((Channel::Named(reserved::INTERRUPT.into()), Value::Array(list)));
                interrupts.push(interrupt);
                *asked = true;
            }
            End::Failed(reason) => {
                let shown = task::repr(&reason);
                stored.push((Channel::Named(reserved::ERROR.into()), shown.as_str().into()));
                // A router that fails comes after its node's own writes, which are kept.
                stored.extend(writes.iter().cloned());
                error = Some(shown);
                failure.get_or_insert(match &*reason.class {
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
            End::Cancelled => {
                failure.get_or_insert(RunError::Cancelled);
                return Ok(());
            }
        }
        let record = self.record(task.id.clone(), task.path_text.clone(), &stored);
        if let Some(persister) = &mut self.persister
            && !record.writes.is_empty()
        {
            persister.task(record, running > 0).await?;
        }
        if !quiet {
            self.emit_outcome(&task, &writes, &interrupts, error).await;
        }
        self.interrupts.extend(interrupts);
        self.tasks[index].writes = writes;
        Ok(())
    }

    pub(super) fn info(&self, task: &Task) -> TaskInfo {
        TaskInfo {
            thread: self.config.thread.clone(),
            run_id: self.run_id.clone(),
            task_id: task.id.clone(),
            checkpoint_id: self.current.clone(),
            checkpoint_ns: task.ns(),
            node: task.name.clone(),
            step: self.step,
            attempt: 1,
            first_attempt_ms: self.graph.clock.now_ms(),
            triggers: task.triggers(&self.plan),
            path: task.path(),
        }
    }

    /// A task's writes as they are stored; also kept as pending writes of the open step.
    pub(super) fn record(&mut self, task_id: TaskId, task_path: String, writes: &Writes) -> TaskWrites {
        let writes = stored_writes(&self.plan, 0, writes);
        for write in &writes {
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
