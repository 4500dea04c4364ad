//! How a run begins: the thread is loaded, and the input becomes the state that the first step starts from.

use std::sync::Arc;

use super::answers::is_interrupt_id;
use super::persist::StoreTime;
use super::states::StartPoint;
use super::{Loop, subgraph};
use crate::base::clock::iso8601;
use crate::base::command::{Command, CommandGraph, Target};
use crate::base::ids::{CheckpointId, TaskId, ThreadId};
use crate::checkpoint::foreign::GivenTasks;
use crate::checkpoint::run_claim::RunClaim;
use crate::checkpoint::types::{CheckpointTuple, ListQuery, PendingWrite, Source, TaskWrites, reserved};
use crate::graph::other_branches::RunStart;
use crate::graph::scope::{Address, Replay};
use crate::graph::task::{StepContext, TaskOrder};
use crate::graph::writes::{Channel, Writes, named_writes, stored_writes};
use crate::inspect::snapshot;
use crate::state::entries::{UpdateAuthor, add_command_writes};
use crate::state::live::{Applied, load};
use crate::stream::error::RunError;
use crate::stream::lifecycle::LifecycleStatus;
use crate::stream::request::{Durability, Input};
use crate::task::{self, applied_of};
use crate::value::{Object, Value};

/// The checkpoint that a run goes on from, among those of its thread.
#[derive(Default)]
struct Loaded {
    /// The thread has moved past it.
    superseded: bool,
    newest: Option<CheckpointId>,
    /// A nested checkpoint that belongs to another namespace: it is continued under this one.
    elsewhere: bool,
}

impl Loop {
    /// Loads the thread and turns the input into the state that the first step starts from.
    pub(super) async fn begin(&mut self, input: Input) -> Result<(), RunError> {
        let is_input = matches!(&input, Input::Value(value) if !value.is_null());
        let claim = self.setup.shared.claim.clone();
        let claim = claim.filter(|_| !self.setup.shared.is_nested());
        let mut entry = self.claim_and_enter(claim.as_deref(), is_input).await?;
        // A checkpoint in which nothing was ever written is nothing to go on from.
        let written = |tuple: &CheckpointTuple| !tuple.checkpoint.channel_versions.is_empty();
        let has_checkpoint = entry.tuple.as_ref().is_some_and(written);
        self.keep_version(entry.tuple.is_some()).await?;
        let mut loaded = Loaded::default();
        if let Some(tuple) = entry.tuple.take() {
            loaded = self.load_entry(tuple, entry.addressed).await?;
        }
        let Loaded {
            superseded,
            newest,
            elsewhere,
        } = loaded;
        let answers = matches!(&input, Input::Command(command) if command.resume.is_some());
        if entry.forget_resuming {
            self.resumed.resuming = None;
        }
        let asked = self.resumed.resuming;
        let goes_on = matches!(&input, Input::Continue | Input::Command(_))
            || matches!(&input, Input::Value(value) if value.is_null());
        let resuming = has_checkpoint && asked.unwrap_or(goes_on);
        let travels = entry.addressed && (entry.exact || !(answers || asked == Some(true)));
        let keeps = self.setup.shared.config.keep_finished && (answers || asked == Some(true));
        self.resumed.keep_finished = !travels && (!superseded || keeps) && !elsewhere;
        self.resumed.owns_start = !superseded && !elsewhere;
        if travels {
            // Going back asks again: what was answered then does not count now, and a task that asks again says so.
            self.resumed
                .pending
                .retain(|write| &*write.write.channel != reserved::RESUME);
            self.resumed.given.values_mut().for_each(Vec::clear);
        }
        let edited = matches!(self.progress.metadata.source, Source::Update | Source::Fork);
        let point = match (travels && (!edited || superseded)) || elsewhere {
            _ if !has_checkpoint => StartPoint::Nothing,
            true => StartPoint::Fork,
            false => StartPoint::Checkpoint,
        };
        let forks = point == StartPoint::Fork;
        if !self.setup.shared.is_nested() {
            let start = self.progress.origin.as_ref().map(|(_, id)| id.clone());
            if let (Some(claim), false) = (&claim, forks) {
                claim.goes_on(newest.clone().or_else(|| start.clone()));
            }
            self.setup.shared.past.begin(RunStart {
                newest: newest.or_else(|| start.clone()),
                start,
                leaves: forks || is_input,
                input: is_input,
            });
            self.resumed.resuming = Some(resuming);
            if superseded && keeps {
                let _ = self.setup.shared.kept_at.set(self.progress.current.clone());
            }
            if travels && has_checkpoint {
                self.replay_nested(edited);
            }
        }
        self.note_questions(point);
        if !is_input {
            self.note_left(point).await?;
        }
        match input {
            Input::Command(command) => self.begin_command(command, point).await,
            _ if resuming => self.begin_resumed(&[], point).await,
            Input::Value(value) if !value.is_null() => self.begin_input(value).await,
            _ => Err(RunError::EmptyInput {
                message: "Received no input for __start__: the thread has no checkpoint to go on from."
                    .into(),
            }),
        }
    }

    /// Sees to it that the thread keeps the version of the graph that runs.
    async fn keep_version(&mut self, is_known: bool) -> Result<(), RunError> {
        let shared = &self.setup.shared;
        let (Some(version), Some(persister)) = (&shared.config.graph_version, &mut self.persister) else {
            return Ok(());
        };
        if shared.is_nested() || is_known && persister.has_version(version).await? {
            return Ok(());
        }
        let now = iso8601(shared.clock.now_ms());
        persister.keep_version(version, shared.ids.next(None), now);
        Ok(())
    }

    /// Loads the checkpoint that the run goes on from, again after the thread was taken over from another run.
    async fn claim_and_enter(
        &mut self,
        claim: Option<&RunClaim>,
        is_input: bool,
    ) -> Result<subgraph::SubgraphEntry, RunError> {
        // An input makes a checkpoint, by which the second of two runs is refused.
        let takes_over = match claim.filter(|_| !is_input) {
            Some(claim) => claim.look().await?,
            None => false,
        };
        let entry = self.enter().await?;
        if takes_over
            && entry.tuple.is_some()
            && let Some(persister) = &mut self.persister
        {
            // The other run may store something until the thread is taken over: it is read once more after that.
            persister.secure().await?;
            return self.enter().await;
        }
        Ok(entry)
    }

    /// Makes a stored checkpoint the one that the run goes on from.
    async fn load_entry(&mut self, tuple: CheckpointTuple, addressed: bool) -> Result<Loaded, RunError> {
        let mut loaded = Loaded::default();
        if addressed
            && let (Some(saver), Some(thread)) = (&self.setup.saver, &self.setup.shared.config.thread)
        {
            let query = ListQuery::new()
                .thread(thread.clone())
                .ns(tuple.ns.clone())
                .limit(1);
            let head = saver.heads(&query).await?.into_iter().next();
            if let Some(head) = &head {
                // A branch off the past becomes the head, also when the clock was set back meanwhile.
                self.setup.shared.ids.follow(&head.id);
            }
            // What a branch aside made itself is its end, although the thread has a younger one.
            let own = self.setup.shared.ids.made(&tuple.checkpoint.id);
            loaded.superseded = !own && head.as_ref().is_none_or(|head| head.id != tuple.checkpoint.id);
            loaded.newest = head.map(|head| head.id);
        }
        loaded.elsewhere = tuple.ns != self.setup.shared.ns;
        self.load(tuple);
        if loaded.elsewhere {
            self.live.detach();
        }
        Ok(loaded)
    }

    /// Makes nested graphs go back to where they were before the loaded checkpoint.
    fn replay_nested(&self, edited: bool) {
        let base = self.live.base.as_ref();
        let parent = base.and_then(|base| base.parent.clone()).filter(|_| edited);
        let before = parent.unwrap_or_else(|| self.progress.current.clone());
        let _ = self.setup.shared.replay.set(Arc::new(Replay::new(before)));
    }

    /// Loads the checkpoint that the run goes on from.
    async fn enter(&self) -> Result<subgraph::SubgraphEntry, RunError> {
        let mut entry = subgraph::SubgraphEntry::default();
        let (Some(saver), Some(thread)) = (&self.setup.saver, &self.setup.shared.config.thread) else {
            return Ok(entry);
        };
        if self.setup.shared.is_nested() {
            return Ok(subgraph::enter(
                &self.setup.shared,
                &self.setup.plan,
                &**saver,
                thread,
                self.resumed.resuming,
            )
            .await?);
        }
        let config = &self.setup.shared.config;
        let mut wanted = config.checkpoint_id.clone();
        if !config.ns.is_empty() {
            let Some(id) = &wanted else {
                return Err(RunError::invalid_request(
                    "A run starts inside a nested graph only at a checkpoint of it: set `checkpoint_id` beside `ns`.",
                ));
            };
            let tuple = saver.get(thread, &config.ns, Some(id)).await?;
            let tuple = tuple.ok_or_else(|| missing(thread, id))?;
            let address = Address::of(&tuple);
            wanted = address.root();
            let _ = self.setup.shared.address.set(Arc::new(address));
        }
        entry.addressed = wanted.is_some();
        entry.tuple =
            crate::state::delta::get(&self.setup.plan, &**saver, thread, "", wanted.as_ref()).await?;
        match (&entry.tuple, wanted) {
            (None, Some(id)) => Err(missing(thread, &id)),
            _ => Ok(entry),
        }
    }

    /// Goes on from the loaded checkpoint, on a branch of its own when it is a past one. `carried` are the writes of
    /// a command that belong to the new branch.
    pub(super) async fn begin_resumed(
        &mut self,
        carried: &[PendingWrite],
        point: StartPoint,
    ) -> Result<(), RunError> {
        let writes: Vec<PendingWrite> = self.resumed.pending.iter().chain(carried).cloned().collect();
        let updated = self.live.apply_null_writes(&writes)?;
        if let Some(known) = &mut self.progress.updated {
            known.extend(updated);
        }
        self.live.pass_breakpoints();
        if let Some(lifecycle) = &self.setup.shared.config.lifecycle {
            lifecycle.on_resume(&self.lifecycle_event(LifecycleStatus::Pending));
        }
        if point == StartPoint::Fork {
            let addressed = self.setup.shared.address.get().is_some();
            let before = if addressed {
                self.original_tasks()
            } else {
                Vec::new()
            };
            // The new checkpoint gives its tasks other ids, so nothing stored for the old ones is theirs.
            self.live.leave_behind(&writes);
            self.resumed.pending.clear();
            let updated = self.progress.updated.clone();
            if self.setup.shared.config.durability != Durability::Exit {
                // What led to a fork is not known to anyone who loads it; one that is stored at the end knows.
                self.progress.updated = None;
            }
            self.put(Source::Fork).await?;
            self.progress.updated = updated;
            if addressed {
                subgraph::note_moves(&self.setup.shared, &before, &self.prepare());
            }
        }
        self.emit_values(Vec::new()).await;
        Ok(())
    }

    pub(super) fn load(&mut self, tuple: CheckpointTuple) {
        self.live = load(&self.setup.plan, Some(&tuple));
        self.live.tracked = true;
        self.progress.current = tuple.checkpoint.id.clone();
        self.progress.origin = Some((tuple.ns.clone(), tuple.checkpoint.id.clone()));
        self.progress.step = tuple.checkpoint.metadata.next_step();
        self.progress.stop = self.progress.step + i64::from(self.setup.shared.config.recursion_limit) + 1;
        // A step that updated nothing says as little as one that is not known.
        let updated = tuple.checkpoint.updated_channels.as_ref();
        // What triggered a task of another program need not be a channel of this graph.
        let is_own = GivenTasks::of(&tuple.checkpoint.metadata).is_none();
        self.progress.updated = updated
            .filter(|names| is_own && !names.is_empty())
            .map(|names| self.live.indexes(names));
        self.load_visits(&tuple.checkpoint.metadata);
        self.progress.metadata = tuple.checkpoint.metadata;
        self.progress.loaded = true;
        let answers = |write: &PendingWrite| {
            let list = write.write.value.as_array()?.iter().cloned().collect();
            (&*write.write.channel == reserved::RESUME).then(|| (write.task_id.clone(), list))
        };
        self.resumed.given = tuple.pending_writes.iter().filter_map(answers).collect();
        self.resumed.pending = tuple.pending_writes;
    }

    pub(super) async fn begin_input(&mut self, value: Value) -> Result<(), RunError> {
        let pending = std::mem::take(&mut self.resumed.pending);
        let updated = self.live.apply_null_writes(&pending)?;
        if let Some(known) = &mut self.progress.updated {
            known.extend(updated);
        }
        self.live.leave_behind(&pending);
        // Whatever waited is abandoned: its triggers are consumed, its stored writes are not used.
        let open = self.prepare();
        let start = [(Channel::Known(self.setup.plan.start_channel), value)];
        let mut applied: Vec<Applied<'_>> = open.iter().map(|task| applied_of(task, &[])).collect();
        applied.push(Applied {
            name: reserved::INPUT,
            node: None,
            place: TaskOrder::Text(""),
            pulled: false,
            writes: &start,
        });
        self.progress.updated = Some(match open.is_empty() {
            true => self.live.apply_input(&mut applied)?,
            false => self.live.apply_step(&mut applied)?,
        });
        self.withdraw_waiting("input");
        self.progress.visits.clear();
        self.put(Source::Input).await
    }

    pub(super) async fn begin_command(
        &mut self,
        mut command: Command,
        point: StartPoint,
    ) -> Result<(), RunError> {
        self.name_null_answer(&mut command);
        self.check_command(&command)?;
        let twice = self.setup.shared.config.testing.double_command && point == StartPoint::Nothing;
        let again = twice.then(|| task::input_of(&command));
        let resume = command.resume.clone();
        let mut writes = self.command_writes(command)?;
        let by_id = self.take_answers(resume, &mut writes)?;
        if let Some(command) = again {
            self.resumed.pending = self.null_writes(0, &writes);
            *self.setup.shared.answers.scalar.lock() = None;
            return self.begin_input(command).await;
        }
        if point == StartPoint::Nothing {
            if self.setup.shared.answers.scalar.lock().is_some() || by_id {
                return Err(RunError::EmptyInput {
                    message: "There is nothing to resume: the thread has no checkpoint.".into(),
                });
            }
            let mut task = [Applied {
                name: reserved::INPUT,
                node: None,
                place: TaskOrder::Text(""),
                pulled: false,
                writes: &writes,
            }];
            self.progress.updated = Some(self.live.apply_input(&mut task)?);
            return self.put(Source::Input).await;
        }
        if point == StartPoint::Fork {
            let carried = self.null_writes(0, &writes);
            return self.begin_resumed(&carried, point).await;
        }
        if !writes.is_empty() {
            self.store_command(&writes).await?;
        }
        self.begin_resumed(&[], point).await
    }

    /// Makes null the answer of the one question that waits, by its id: by itself it is no answer.
    fn name_null_answer(&self, command: &mut Command) {
        if command.resume != Some(Value::Null) {
            return;
        }
        let open = task::prepare(&self.live, &self.stage(), None);
        let pending = snapshot::pending_questions(&self.setup.plan, &open, &self.resumed.pending);
        if let [id] = pending.as_slice() {
            command.resume = Some(Value::Object([(id.as_str(), Value::Null)].into_iter().collect()));
        }
    }

    /// Refuses a command that the run cannot begin with.
    fn check_command(&self, command: &Command) -> Result<(), RunError> {
        if command.graph == CommandGraph::Parent {
            return Err(RunError::invalid_update(
                "There is no parent graph\nAn input command is for the graph that is run.",
            ));
        }
        // A jump to a node that is not there changes nothing, but it says something.
        let says = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_null());
        let updates = says(&command.update) && command.update != Some(Value::Object(Object::new()));
        if !updates && command.goto.is_empty() && !says(&command.resume) {
            return Err(RunError::EmptyInput {
                message: "Received empty Command input".into(),
            });
        }
        if self.persister.is_none() && command.resume.is_some() {
            return Err(RunError::NotPersistent {
                message: "Cannot use Command(resume=...) without checkpointer".into(),
            });
        }
        match &command.resume {
            Some(answer) => self.check_answers(answer),
            None => Ok(()),
        }
    }

    /// Returns the writes of a command's targets and its update.
    fn command_writes(&self, command: Command) -> Result<Writes, RunError> {
        let plan = &self.setup.plan;
        let mut writes: Writes = Vec::new();
        for target in command.goto {
            // LangGraph marks such triggers with the name of START.
            let from = writes.len();
            if matches!(&target, Target::Node(name) if &**name == reserved::END) {
                // A target like any other here: it leads nowhere, and the command is not empty.
                writes.push((Channel::Named("branch:to:__end__".into()), Value::Null));
            }
            task::goto(plan, target, &mut writes);
            for (channel, value) in &mut writes[from..] {
                if *channel != Channel::Known(plan.tasks_channel) {
                    *value = reserved::START.into();
                }
            }
        }
        if let Some(update) = &command.update {
            add_command_writes(plan, UpdateAuthor::Command, update, &mut writes)
                .map_err(RunError::invalid_update)?;
        }
        Ok(writes)
    }

    /// Keeps a command's answers for the tasks that asked. True when they are by id.
    fn take_answers(&self, resume: Option<Value>, writes: &mut Writes) -> Result<bool, RunError> {
        let answers = &self.setup.shared.answers;
        match resume {
            Some(Value::Object(map)) if map.keys().all(|key| is_interrupt_id(key)) => {
                let by_id = map.iter().map(|(id, answer)| (id.to_string(), answer.clone()));
                let _ = answers.by_id.set(by_id.collect());
                return Ok(true);
            }
            Some(answer) if !answer.is_null() => {
                let open = task::prepare(&self.live, &self.stage(), None);
                let pending =
                    snapshot::pending_questions(&self.setup.plan, &open, &self.resumed.pending).len();
                if pending > 1 {
                    return Err(RunError::AmbiguousResume { pending });
                }
                writes.push((Channel::Named(reserved::RESUME.into()), answer.clone()));
                *answers.scalar.lock() = Some(answer);
            }
            _ => {}
        }
        Ok(false)
    }

    /// Stores a command's writes on the checkpoint that the run goes on from.
    async fn store_command(&mut self, writes: &Writes) -> Result<(), RunError> {
        // Writes of earlier commands on this checkpoint stay: these are numbered after them.
        let earlier = |w: &&PendingWrite| w.task_id.is_null() && w.write.idx >= 0;
        let taken = self.resumed.pending.iter().filter(earlier).count();
        self.resumed
            .pending
            .retain(|w| !(w.task_id.is_null() && w.write.idx < 0));
        let new = self.null_writes(taken, writes);
        self.resumed.pending.extend(new);
        let record = TaskWrites {
            checkpoint_id: self.progress.current.clone(),
            task_id: TaskId::null(),
            task_path: "".into(),
            writes: stored_writes(&self.setup.plan, taken, writes),
        };
        if self.setup.shared.config.durability == Durability::Exit {
            // The command's writes are stored only if the run stops before its first step ends.
            self.live.leave_behind(&self.resumed.pending);
        }
        if let Some(persister) = &mut self.persister {
            persister.task(record, StoreTime::AtOnce).await?;
        }
        Ok(())
    }

    /// Writes that belong to no task, numbered from `from`. This run sees what is untracked, too.
    pub(super) fn null_writes(&self, from: usize, writes: &Writes) -> Vec<PendingWrite> {
        let pending = |write| PendingWrite {
            task_id: TaskId::null(),
            task_path: "".into(),
            write,
        };
        named_writes(&self.setup.plan, from, writes)
            .into_iter()
            .map(pending)
            .collect()
    }

    /// Returns the tasks of the loaded checkpoint under the ids they have there.
    fn original_tasks(&self) -> Vec<(String, String)> {
        let Some(base) = &self.progress.origin else {
            return Vec::new();
        };
        let stage = StepContext::new(&self.setup.plan, &base.0, &base.1, self.progress.step)
            .given_in(&self.progress.metadata);
        let tasks = task::prepare(&self.live, &stage, None);
        tasks
            .iter()
            .map(|task| (task.path_text().to_string(), task.ns()))
            .collect()
    }
}

fn missing(thread: &ThreadId, id: &CheckpointId) -> RunError {
    RunError::invalid_request(format!(
        "Thread {thread} has no checkpoint {id}. List its history and choose one of those."
    ))
}
