//! The super-step loop: prepare tasks, run them at once, apply their writes as one, store, repeat.
//!
//! A super-step is a transaction. What a task writes reaches no channel before every task of the step has finished;
//! until then it is a pending write of the checkpoint the step started from, and a resume takes it from there.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;
use tracing::Instrument;

use crate::checkpoint::{
    CheckpointTuple, ListQuery, Metadata, PendingWrite, Put, Source, TaskWrites, reserved,
};
use crate::clock::iso8601;
use crate::compiled::{Durability, Graph, Input, RunConfig, RunResult, RunStatus};
use crate::context::{Answers, NodeContext, TaskInfo, interrupt_id, message_metadata};
use crate::emit::Emitter;
use crate::error::RunError;
use crate::ids::{CheckpointId, Name, TaskId};
use crate::live::{Applied, Channel, Live, Writes, load, resolve, shorten, stored_writes};
use crate::node::{Command, NodeError};
use crate::persist::Persister;
use crate::plan::{ChannelIx, Plan};
use crate::snapshot;
use crate::stream::{CheckpointEvent, Interrupt, Payload, StreamMode, TaskEnd, TaskStart, Update};
use crate::task::{self, End, Outcome, Task};
use crate::value::{List, Object, Value};

/// Why the loop stopped without an error.
enum Stop {
    Done,
    Asked,
    Breakpoint,
}

pub(crate) struct Loop {
    graph: Graph,
    plan: Arc<Plan>,
    config: RunConfig,
    run_id: String,
    emitter: Emitter,
    persister: Option<Persister>,
    user: Arc<Object>,
    live: Live,
    /// The checkpoint that the current step starts from.
    current: CheckpointId,
    metadata: Metadata,
    step: i64,
    stop: i64,
    updated: Option<Vec<ChannelIx>>,
    pending: Vec<PendingWrite>,
    /// Give finished tasks of an open step their stored writes back instead of running them again.
    keep_finished: bool,
    /// Answers that tasks of the open step were given before, by task.
    given: HashMap<TaskId, Vec<Value>>,
    by_id: BTreeMap<String, Value>,
    scalar: Arc<Mutex<Option<Value>>>,
    tasks: Vec<Task>,
    interrupts: Vec<Interrupt>,
    any_values: bool,
}

impl Loop {
    pub(crate) fn new(graph: &Graph, config: RunConfig, emitter: Emitter) -> Result<Self, RunError> {
        if config.recursion_limit < 1 {
            return Err(RunError::invalid_request("recursion_limit must be at least 1"));
        }
        let persister = match (&graph.saver, &config.thread) {
            (Some(saver), Some(thread)) => {
                Some(Persister::new(saver.clone(), thread.clone(), config.durability))
            }
            (Some(_), None) => {
                return Err(RunError::NotPersistent {
                    message: "Checkpointer requires a thread: set `thread` in the run's configuration."
                        .into(),
                });
            }
            (None, _) => None,
        };
        let names = config.interrupt_before.iter().chain(&config.interrupt_after);
        for name in names.filter(|name| &***name != "*") {
            if !graph.plan.node_index.contains_key(name) {
                return Err(RunError::invalid_request(format!(
                    "Interrupt node `{name}` not found"
                )));
            }
        }
        let run_id = config
            .run_id
            .clone()
            .unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let user = user_metadata(&config.metadata);
        let mut live = Live::fresh(graph.plan.clone());
        live.tracked = persister.is_some();
        Ok(Self {
            plan: graph.plan.clone(),
            graph: graph.clone(),
            current: CheckpointId::new(run_id.as_str()),
            run_id,
            emitter,
            persister,
            metadata: Metadata {
                source: Source::Input,
                step: -2,
                parents: Object::new(),
                user: user.clone(),
            },
            user: Arc::new(user),
            live,
            step: -1,
            stop: i64::from(config.recursion_limit),
            updated: None,
            pending: Vec::new(),
            keep_finished: true,
            given: HashMap::new(),
            by_id: BTreeMap::new(),
            scalar: Arc::new(Mutex::new(None)),
            tasks: Vec::new(),
            interrupts: Vec::new(),
            any_values: false,
            config,
        })
    }

    pub(crate) async fn run(mut self, input: Input) -> Result<RunResult, RunError> {
        let thread = self
            .config
            .thread
            .as_ref()
            .map(|t| t.to_string())
            .unwrap_or_default();
        let span = tracing::info_span!("run", run = %self.run_id, %thread);
        async move {
            let stopped = self.drive(input).await;
            let stored = match &mut self.persister {
                Some(persister) => persister.finish().await,
                None => Ok(()),
            };
            let status = match stopped {
                Ok(Stop::Done) => RunStatus::Done,
                Ok(Stop::Asked) => RunStatus::Interrupted,
                Ok(Stop::Breakpoint) => RunStatus::Breakpoint,
                Err(error) => return Err(error),
            };
            stored?;
            let value = if self.any_values {
                self.live.output()
            } else {
                Value::Null
            };
            let checkpoint_id = self.persister.is_some().then_some(self.current);
            Ok(RunResult {
                value,
                status,
                interrupts: self.interrupts,
                checkpoint_id,
            })
        }
        .instrument(span)
        .await
    }

    async fn drive(&mut self, input: Input) -> Result<Stop, RunError> {
        let stop = match self.begin(input).await {
            Ok(()) => self.steps().await?,
            Err(error) => return Err(error),
        };
        if !matches!(stop, Stop::Done) {
            self.show_open_step().await?;
            if matches!(stop, Stop::Breakpoint) {
                self.emitter
                    .send_if(StreamMode::Updates, || Payload::Interrupts(Vec::new()))
                    .await;
            }
        }
        Ok(stop)
    }

    /// Loads the thread and turns the input into the state that the first step starts from.
    async fn begin(&mut self, input: Input) -> Result<(), RunError> {
        let mut has_checkpoint = false;
        let mut superseded = false;
        if let (Some(saver), Some(thread)) = (self.graph.saver.clone(), self.config.thread.clone()) {
            let wanted = self.config.checkpoint_id.as_ref();
            let tuple = saver.get(&thread, "", wanted).await?;
            if let (None, Some(id)) = (&tuple, wanted) {
                return Err(RunError::invalid_request(format!(
                    "Thread {thread} has no checkpoint {id}. List its history and choose one of those."
                )));
            }
            if let Some(tuple) = tuple {
                has_checkpoint = true;
                if wanted.is_some() {
                    let query = ListQuery {
                        thread: Some(thread),
                        ns: Some("".into()),
                        limit: Some(1),
                        ..ListQuery::default()
                    };
                    let head = saver.heads(&query).await?.into_iter().next();
                    superseded = head.is_none_or(|head| head.id != tuple.checkpoint.id);
                }
                self.load(tuple);
            }
        }
        let answers = matches!(&input, Input::Command(command) if command.resume.is_some());
        let travels = self.config.checkpoint_id.is_some() && !answers;
        self.keep_finished = !travels && !superseded;
        if travels {
            // Going back asks again: what was answered then does not count now.
            self.pending
                .retain(|write| &*write.write.channel != reserved::RESUME);
            self.given.clear();
        }
        let edited = matches!(self.metadata.source, Source::Update | Source::Fork);
        let forks = has_checkpoint && travels && (!edited || superseded);
        match input {
            Input::Value(value) if !value.is_null() => self.begin_input(value).await,
            Input::Command(command) => self.begin_command(command, has_checkpoint, forks).await,
            _ if !has_checkpoint => Err(RunError::EmptyInput {
                message: "Received no input for __start__: the thread has no checkpoint to go on from."
                    .into(),
            }),
            _ => self.begin_resumed(&[], forks).await,
        }
    }

    /// Goes on from the loaded checkpoint, on a branch of its own when it is a past one. `carried` are the writes of
    /// a command that belong to the new branch.
    async fn begin_resumed(&mut self, carried: &[PendingWrite], forks: bool) -> Result<(), RunError> {
        let writes: Vec<PendingWrite> = self.pending.iter().chain(carried).cloned().collect();
        let updated = self.live.apply_null_writes(&writes, true)?;
        if let Some(known) = &mut self.updated {
            known.extend(updated);
        }
        self.live.pass_breakpoints();
        if forks {
            // The new checkpoint gives its tasks other ids, so nothing stored for the old ones is theirs.
            self.pending.clear();
            let updated = self.updated.take();
            self.put(Source::Fork).await?;
            self.updated = updated;
        }
        self.emit_values(Vec::new()).await;
        Ok(())
    }

    fn load(&mut self, tuple: CheckpointTuple) {
        self.live = load(&self.plan, Some(&tuple));
        self.live.tracked = true;
        self.current = tuple.checkpoint.id.clone();
        self.step = tuple.checkpoint.metadata.step + 1;
        self.stop = self.step + i64::from(self.config.recursion_limit) + 1;
        self.updated = tuple
            .checkpoint
            .updated_channels
            .as_ref()
            .map(|names| self.live.indexes(names));
        self.metadata = tuple.checkpoint.metadata;
        let answers = |write: &PendingWrite| {
            let list = write.write.value.as_array()?.iter().cloned().collect();
            (&*write.write.channel == reserved::RESUME).then(|| (write.task_id.clone(), list))
        };
        self.given = tuple.pending_writes.iter().filter_map(answers).collect();
        self.pending = tuple.pending_writes;
    }

    async fn begin_input(&mut self, value: Value) -> Result<(), RunError> {
        let pending = std::mem::take(&mut self.pending);
        let updated = self.live.apply_null_writes(&pending, true)?;
        if let Some(known) = &mut self.updated {
            known.extend(updated);
        }
        // Whatever waited is abandoned: its triggers are consumed, its stored writes are not used.
        let open = task::prepare(&self.live, &self.current, self.step, self.updated.as_deref());
        let start = [(Channel::Known(self.plan.start_channel), value)];
        let mut applied: Vec<Applied<'_>> = open.iter().map(|task| applied_of(task, &[])).collect();
        applied.push(Applied {
            name: reserved::INPUT,
            node: None,
            path: "",
            pulled: false,
            writes: &start,
        });
        let is_step = !open.is_empty();
        self.updated = Some(self.live.apply(&mut applied, is_step, true)?);
        self.put(Source::Input).await
    }

    async fn begin_command(
        &mut self,
        command: Command,
        has_checkpoint: bool,
        forks: bool,
    ) -> Result<(), RunError> {
        if self.persister.is_none() && command.resume.is_some() {
            return Err(RunError::NotPersistent {
                message: "Cannot use Command(resume=...) without checkpointer".into(),
            });
        }
        let mut writes: Writes = Vec::new();
        if let Some(update) = &command.update {
            let Some(entries) = update.as_object() else {
                return Err(crate::live::expected_object(update));
            };
            for (key, value) in entries.iter() {
                if let Some(index) = self
                    .plan
                    .channel_index
                    .get(key)
                    .filter(|c| self.plan.is_state_key(**c))
                {
                    writes.push((Channel::Known(*index), value.clone()));
                }
            }
        }
        for target in command.goto {
            // LangGraph marks such triggers with the name of START.
            let from = writes.len();
            task::goto(&self.plan, target, &mut writes)
                .map_err(|error| RunError::invalid_update(error.to_string()))?;
            for (channel, value) in &mut writes[from..] {
                if *channel != Channel::Known(self.plan.tasks_channel) {
                    *value = reserved::START.into();
                }
            }
        }
        let mut by_id = false;
        match command.resume {
            Some(Value::Object(map)) if map.keys().all(|key| is_interrupt_id(key)) => {
                by_id = true;
                self.by_id = map
                    .iter()
                    .map(|(id, answer)| (id.to_string(), answer.clone()))
                    .collect();
            }
            Some(answer) if !answer.is_null() => {
                let open = task::prepare(&self.live, &self.current, self.step, None);
                let pending = snapshot::pending_questions(&self.plan, &open, &self.pending);
                if pending > 1 {
                    return Err(RunError::AmbiguousResume { pending });
                }
                writes.push((Channel::Named(reserved::RESUME.into()), answer.clone()));
                self.scalar = Arc::new(Mutex::new(Some(answer)));
            }
            _ => {}
        }
        if writes.is_empty() && !by_id {
            return Err(RunError::EmptyInput {
                message: "Received empty Command input".into(),
            });
        }
        if !has_checkpoint {
            if self.scalar.lock().is_ok_and(|answer| answer.is_some()) || by_id {
                return Err(RunError::EmptyInput {
                    message: "There is nothing to resume: the thread has no checkpoint.".into(),
                });
            }
            let mut task = [Applied {
                name: reserved::INPUT,
                node: None,
                path: "",
                pulled: false,
                writes: &writes,
            }];
            self.updated = Some(self.live.apply(&mut task, false, true)?);
            return self.put(Source::Input).await;
        }
        if forks {
            let carried = self.null_writes(0, &writes);
            return self.begin_resumed(&carried, true).await;
        }
        if !writes.is_empty() {
            // Writes of earlier commands on this checkpoint stay: these are numbered after them.
            let taken = self
                .pending
                .iter()
                .filter(|w| w.task_id.is_null() && w.write.idx >= 0)
                .count();
            let stored = self.null_writes(taken, &writes);
            self.pending.retain(|w| !(w.task_id.is_null() && w.write.idx < 0));
            self.pending.extend(stored.iter().cloned());
            let record = TaskWrites {
                checkpoint_id: self.current.clone(),
                task_id: TaskId::null(),
                task_path: String::new(),
                writes: stored.into_iter().map(|w| w.write).collect(),
            };
            if let Some(persister) = &mut self.persister {
                persister.task(record, true).await?;
            }
        }
        self.begin_resumed(&[], false).await
    }

    /// Writes that belong to no task, numbered from `from`.
    fn null_writes(&self, from: usize, writes: &Writes) -> Vec<PendingWrite> {
        let pending = |write| PendingWrite {
            task_id: TaskId::null(),
            task_path: String::new(),
            write,
        };
        stored_writes(&self.plan, from, writes)
            .into_iter()
            .map(pending)
            .collect()
    }

    async fn steps(&mut self) -> Result<Stop, RunError> {
        loop {
            if self.step > self.stop {
                let next = task::prepare(&self.live, &self.current, self.step, self.updated.as_deref());
                self.emit_checkpoint(&next).await;
                return Err(RunError::Recursion {
                    limit: self.config.recursion_limit,
                });
            }
            self.tasks = task::prepare(&self.live, &self.current, self.step, self.updated.as_deref());
            if self.wants_checkpoints() {
                let tasks = std::mem::take(&mut self.tasks);
                self.emit_checkpoint(&tasks).await;
                self.tasks = tasks;
            }
            if self.tasks.is_empty() {
                return Ok(Stop::Done);
            }
            if self.keep_finished && !self.pending.is_empty() {
                self.give_back();
            }
            if self.breaks(&self.config.interrupt_before) {
                return Ok(Stop::Breakpoint);
            }
            if self.config.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            self.emit_starts().await;
            let span = tracing::debug_span!("step", step = self.step, tasks = self.tasks.len());
            if let Some(stop) = self.run_tasks().instrument(span).await? {
                return Ok(stop);
            }
            let mut applied: Vec<Applied<'_>> = self
                .tasks
                .iter()
                .map(|task| applied_of(task, &task.writes))
                .collect();
            let updated = self.live.apply(&mut applied, true, true)?;
            drop(applied);
            if updated.iter().any(|channel| self.plan.is_state_key(*channel)) {
                self.emit_values(Vec::new()).await;
            }
            self.updated = Some(updated);
            self.pending.clear();
            self.keep_finished = true;
            // A single answer is for the step that asked; nobody later takes it by accident.
            self.scalar = Arc::default();
            self.put(Source::Loop).await?;
            if self.breaks(&self.config.interrupt_after) {
                if self.wants_checkpoints() {
                    let next = task::prepare(&self.live, &self.current, self.step, self.updated.as_deref());
                    self.emit_checkpoint(&next).await;
                }
                self.tasks.clear();
                return Ok(Stop::Breakpoint);
            }
        }
    }

    fn breaks(&self, nodes: &[Name]) -> bool {
        !nodes.is_empty()
            && self.live.changed_since_interrupt
            && self
                .tasks
                .iter()
                .filter(|task| !task.is_start())
                .any(|task| nodes.iter().any(|name| &**name == "*" || *name == task.name))
    }

    /// Gives tasks that finished in an earlier attempt at this step their writes back.
    fn give_back(&mut self) {
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

    async fn emit_starts(&self) {
        if !self.emitter.wants(StreamMode::Tasks)
            && !self.emitter.wants(StreamMode::Updates)
            && !self.emitter.wants(StreamMode::Debug)
        {
            return;
        }
        for task in self.tasks.iter().filter(|task| !task.is_start()) {
            let start = TaskStart {
                id: task.id.clone(),
                name: task.name.clone(),
                input: task.input.clone(),
                triggers: task.triggers(&self.plan),
                step: self.step,
            };
            self.emit_task("task", Payload::TaskStart(start)).await;
        }
        for task in self
            .tasks
            .iter()
            .filter(|task| !task.is_start() && !task.writes.is_empty())
        {
            self.emit_update(task, &task.writes, true).await;
        }
    }

    async fn emit_update(&self, task: &Task, writes: &Writes, cached: bool) {
        self.emitter
            .send_if(StreamMode::Updates, || {
                let value = task::update_view(&self.plan, writes);
                Payload::Update(Update {
                    node: task.name.clone(),
                    value,
                    cached,
                })
            })
            .await;
    }

    async fn emit_task(&self, kind: &str, payload: Payload) {
        if self.emitter.wants(StreamMode::Debug) {
            let debug = self.debug(kind, self.step, payload.to_json());
            self.emitter.send(debug).await;
        }
        self.emitter.send_if(StreamMode::Tasks, || payload).await;
    }

    fn debug(&self, kind: &str, step: i64, payload: Value) -> Payload {
        let wrapped: Object = [
            ("step", Value::from(step)),
            ("timestamp", iso8601(self.graph.clock.now_ms()).into()),
            ("type", kind.into()),
            ("payload", payload),
        ]
        .into_iter()
        .collect();
        Payload::Debug(Value::Object(wrapped))
    }

    async fn emit_values(&mut self, interrupts: Vec<Interrupt>) {
        self.any_values = true;
        self.emitter
            .send_if(StreamMode::Values, || {
                Payload::Values(self.live.values(), interrupts)
            })
            .await;
    }

    fn wants_checkpoints(&self) -> bool {
        self.persister.is_some()
            && (self.emitter.wants(StreamMode::Checkpoints) || self.emitter.wants(StreamMode::Debug))
    }

    async fn emit_checkpoint(&self, tasks: &[Task]) {
        let (true, Some(thread)) = (self.wants_checkpoints(), &self.config.thread) else {
            return;
        };
        let base = self.live.base.as_deref();
        let stored_parent = match self.config.durability {
            Durability::Exit => base.map(|base| base.id.clone()),
            _ => base.and_then(|base| base.parent.clone()),
        };
        let event = CheckpointEvent {
            thread: thread.clone(),
            ns: "".into(),
            id: self.current.clone(),
            parent: stored_parent,
            values: self.live.values(),
            metadata: self.metadata.clone(),
            next: tasks.iter().map(|task| task.name.clone()).collect(),
            tasks: tasks
                .iter()
                .map(|task| snapshot::task_json(&self.plan, task, &self.pending))
                .collect::<List>(),
        };
        let payload = Payload::Checkpoint(Box::new(event));
        if self.emitter.wants(StreamMode::Debug) {
            let debug = self.debug("checkpoint", self.metadata.step, payload.to_json());
            self.emitter.send(debug).await;
        }
        self.emitter.send_if(StreamMode::Checkpoints, || payload).await;
    }

    /// Runs every task without writes, all at once. Some(stop) when the step stays open.
    async fn run_tasks(&mut self) -> Result<Option<Stop>, RunError> {
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

    fn execute(&self, index: usize) -> impl Future<Output = Outcome> + Send + 'static {
        let task = &self.tasks[index];
        let ns = task.ns();
        let mut given = self.given.get(&task.id).cloned().unwrap_or_default();
        // An answer by id goes to the task's next question; the id of its first question is accepted as well.
        let own = interrupt_id(&ns, given.len());
        let first = interrupt_id(&ns, 0);
        if let Some(answer) = self
            .by_id
            .get(own.as_str())
            .or_else(|| self.by_id.get(first.as_str()))
        {
            given.push(answer.clone());
        }
        let info = self.info(task);
        let span =
            tracing::debug_span!("task", node = %task.name, id = %task.id, input = shorten(&task.input));
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
        let state = self.live.state.clone();
        task::execute(self.plan.clone(), state, task.node, task.input.clone(), context).instrument(span)
    }

    /// Records how a task ended, and tells readers.
    async fn finished(
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
        match end {
            End::Done => {
                if writes.is_empty() {
                    writes.push((Channel::Named(reserved::NO_WRITES.into()), Value::Null));
                }
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
        if let Some(persister) = &mut self.persister {
            persister.task(record, running > 0).await?;
        }
        if !quiet {
            self.emit_outcome(&task, &writes, &interrupts, error).await;
        }
        self.interrupts.extend(interrupts);
        self.tasks[index].writes = writes;
        Ok(())
    }

    async fn emit_outcome(
        &mut self,
        task: &Task,
        writes: &Writes,
        interrupts: &[Interrupt],
        error: Option<String>,
    ) {
        if !interrupts.is_empty() {
            self.emitter
                .send_if(StreamMode::Updates, || Payload::Interrupts(interrupts.to_vec()))
                .await;
            self.emit_values(interrupts.to_vec()).await;
        } else if error.is_none() || !writes.is_empty() {
            self.emit_messages(task, writes).await;
            self.emit_update(task, writes, false).await;
        }
        if self.emitter.wants(StreamMode::Tasks) || self.emitter.wants(StreamMode::Debug) {
            let finished = error.is_none() && interrupts.is_empty();
            let end = TaskEnd {
                id: task.id.clone(),
                name: task.name.clone(),
                error,
                result: if finished {
                    task::result_view(&self.plan, writes)
                } else {
                    Value::Object(Object::new())
                },
                interrupts: interrupts.to_vec(),
                step: self.step,
                targets: if finished {
                    task::targets(&self.plan, writes)
                } else {
                    Vec::new()
                },
            };
            self.emit_task("task_result", Payload::TaskEnd(end)).await;
        }
    }

    /// Whole messages that a node returned, unless they were in its input already.
    async fn emit_messages(&self, task: &Task, writes: &Writes) {
        if !self.emitter.wants(StreamMode::Messages) {
            return;
        }
        let id = |message: &Value| message.get("id").and_then(Value::as_str).map(str::to_owned);
        let known: std::collections::HashSet<String> = match &task.input {
            Value::Object(input) => input
                .iter()
                .filter_map(|(_, v)| v.as_array())
                .flat_map(|l| l.iter())
                .filter_map(id)
                .collect(),
            _ => Default::default(),
        };
        let mut sent = known;
        for (channel, value) in writes {
            let Channel::Known(index) = channel else { continue };
            if self.plan.channel(*index).spec.reducer_name() != "add_messages" {
                continue;
            }
            let messages: List = match value {
                Value::Array(items) => items.clone(),
                one => [one.clone()].into_iter().collect(),
            };
            for message in messages
                .iter()
                .filter(|m| m.get("type").is_some() && m.get("content").is_some())
            {
                if id(message).is_none_or(|id| sent.insert(id)) {
                    let metadata = message_metadata(&self.info(task), &self.user);
                    self.emitter
                        .send(Payload::Message(message.clone(), metadata))
                        .await;
                }
            }
        }
    }

    fn info(&self, task: &Task) -> TaskInfo {
        TaskInfo {
            thread: self.config.thread.clone(),
            run_id: self.run_id.clone(),
            task_id: task.id.clone(),
            checkpoint_id: self.current.clone(),
            checkpoint_ns: task.ns(),
            node: task.name.clone(),
            step: self.step,
            attempt: 1,
            triggers: task.triggers(&self.plan),
            path: task.path(),
        }
    }

    /// A task's writes as they are stored; also kept as pending writes of the open step.
    fn record(&mut self, task_id: TaskId, task_path: String, writes: &Writes) -> TaskWrites {
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

    /// One more `values` event when a run stops inside a step: the state with the finished tasks applied.
    async fn show_open_step(&mut self) -> Result<(), RunError> {
        let done: Vec<Task> = self
            .tasks
            .iter()
            .filter(|task| !task.writes.is_empty())
            .cloned()
            .collect();
        if done.is_empty() || self.pending.is_empty() {
            return Ok(());
        }
        let mut applied: Vec<Applied<'_>> = done.iter().map(|task| applied_of(task, &task.writes)).collect();
        let updated = self.live.apply(&mut applied, true, true)?;
        if updated.iter().any(|channel| self.plan.is_state_key(*channel)) {
            self.emit_values(Vec::new()).await;
        }
        Ok(())
    }

    /// Makes and stores the checkpoint of the state as it is now; the next step starts from it.
    async fn put(&mut self, source: Source) -> Result<(), RunError> {
        let step = self.step;
        self.step += 1;
        let Some(persister) = &mut self.persister else {
            return Ok(());
        };
        self.metadata = Metadata {
            source,
            step,
            parents: Object::new(),
            user: (*self.user).clone(),
        };
        let after = self.live.base.as_ref().map(|base| base.id.clone());
        let id = self.graph.ids.next(after.as_ref());
        let ts = iso8601(self.graph.clock.now_ms());
        let settle = persister.durability != Durability::Exit;
        let (checkpoint, changes, seen) = self.live.checkpoint(
            id.clone(),
            ts,
            self.metadata.clone(),
            self.updated.as_deref(),
            settle,
        );
        self.current = id;
        persister
            .checkpoint(Put {
                checkpoint,
                changes,
                seen,
            })
            .await
    }
}

/// However many tasks a step has, only so many are handed to the runtime at once.
const MAX_TASKS_AT_ONCE: usize = 1024;

fn applied_of<'a>(task: &'a Task, writes: &'a [(Channel, Value)]) -> Applied<'a> {
    Applied {
        name: &task.name,
        node: Some(task.node),
        path: &task.path_text,
        pulled: task.push.is_none(),
        writes,
    }
}

fn is_interrupt_id(key: &str) -> bool {
    key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Metadata worth keeping with every checkpoint: plain values under keys of the user's own.
fn user_metadata(given: &Object) -> Object {
    const OWN: [&str; 7] = [
        "thread_id",
        "checkpoint_id",
        "checkpoint_ns",
        "checkpoint_map",
        "source",
        "step",
        "parents",
    ];
    given
        .iter()
        .filter(|(key, value)| {
            matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
                && !key.starts_with("__")
                && !key.starts_with("langgraph_")
                && !OWN.contains(&&***key)
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

impl From<NodeError> for RunError {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Cancelled => RunError::Cancelled,
            other => RunError::invalid_update(other.to_string()),
        }
    }
}
