//! Events that a run emits about its steps and tasks.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::time::Duration;

use super::Loop;
use crate::base::clock::iso8601;
use crate::base::failure::{Failure, repr};
use crate::checkpoint::task_record::TaskRecord;
use crate::checkpoint::types::{Metadata, reserved};
use crate::graph::call::shown_args;
use crate::graph::context::{message_metadata, tag_list};
use crate::graph::writes::{Channel, Writes};
use crate::inspect::snapshot;
use crate::state::live::Applied;
use crate::stream::emit::ids_in;
use crate::stream::error::RunError;
use crate::stream::events::{
    CheckpointEvent, Interrupt, Payload, StreamMode, TaskEnd, TaskStart, TaskWaited, Update,
};
use crate::stream::request::Durability;
use crate::stream::run_config::{RunConfig, is_place};
use crate::task::{self, Task, applied_of};
use crate::value::{List, Object, Value};

/// Returns the metadata of a run as events of its tasks show it, with what a node adds.
fn shown_metadata(config: &RunConfig, own: &Object) -> Object {
    let given = config.metadata.iter().filter(|(key, _)| !is_place(key));
    let mut shown: Object = given.map(|(key, value)| (key.clone(), value.clone())).collect();
    if !config.tags.is_empty() {
        shown.insert("tags", tag_list(&config.tags));
    }
    for (key, value) in own.iter() {
        shown.insert(key.clone(), value.clone());
    }
    shown
}

/// Source of the writes that are shown as a node's update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateSource {
    /// The node worked in this run.
    Work,
    /// An earlier run, another branch or the cache has them.
    Stored,
}

impl Loop {
    /// Returns whether anybody reads that tasks begin, or the updates of those that need no work.
    pub(super) fn shows_starts(&self) -> bool {
        let emitter = &self.setup.shared.emitter;
        let modes = [StreamMode::Tasks, StreamMode::Updates, StreamMode::Debug];
        modes.into_iter().any(|mode| emitter.wants(mode))
    }

    pub(super) async fn emit_starts(&self) {
        for (place, task) in self.open.tasks.iter().enumerate() {
            if !task.is_start() && !self.is_held(place) {
                self.emit_start(task).await;
            }
        }
        // What failed and was taken over has nothing to show, unless its node had written before.
        let shows = |task: &Task| match task.writes.as_slice() {
            [] => false,
            [(Channel::Named(name), _)] => &**name != reserved::ERROR,
            _ => true,
        };
        for task in self
            .open
            .tasks
            .iter()
            .filter(|task| !task.is_start() && shows(task))
        {
            self.emit_update(task, &task.writes, UpdateSource::Stored).await;
        }
    }

    pub(super) async fn emit_start(&self, task: &Task) {
        if !self.setup.shared.emitter.wants(StreamMode::Tasks)
            && !self.setup.shared.emitter.wants(StreamMode::Debug)
        {
            return;
        }
        let start = TaskStart {
            id: task.id().clone(),
            name: task.name.clone(),
            input: if task.is_call() {
                shown_args(&task.input)
            } else {
                task.input.clone()
            },
            triggers: task.triggers(),
            metadata: shown_metadata(&self.setup.shared.config, task.metadata()),
            step: self.progress.step,
        };
        self.emit_task("task", Payload::TaskStart(start)).await;
    }

    /// Emits that a task begins which waited in the queue of its step.
    pub(super) async fn emit_waited(&self, place: usize, waited: Duration) {
        let task = &self.open.tasks[place];
        let event = || {
            Payload::TaskWaited(Box::new(TaskWaited {
                id: task.id().clone(),
                name: task.name.clone(),
                step: self.progress.step,
                waited,
            }))
        };
        if !task.is_start() {
            self.setup.shared.emitter.send_if(StreamMode::Waits, event).await;
        }
    }

    pub(super) async fn emit_update(&self, task: &Task, writes: &Writes, source: UpdateSource) {
        self.setup
            .shared
            .emitter
            .send_if(StreamMode::Updates, || {
                let value = task::update_view(&self.setup.plan, writes, &self.setup.shown);
                Payload::Update(Update {
                    node: task.name.clone(),
                    value,
                    cached: source == UpdateSource::Stored,
                })
            })
            .await;
    }

    pub(super) async fn emit_task(&self, kind: &str, payload: Payload) {
        let debug = (self.setup.shared.emitter.wants(StreamMode::Debug))
            .then(|| self.debug(kind, self.progress.step, payload.to_json()));
        self.setup
            .shared
            .emitter
            .send_if(StreamMode::Tasks, || payload)
            .await;
        if let Some(debug) = debug {
            self.setup.shared.emitter.send(debug).await;
        }
    }

    pub(super) fn debug(&self, kind: &str, step: i64, payload: Value) -> Payload {
        let wrapped: Object = [
            ("step", Value::from(step)),
            ("timestamp", iso8601(self.setup.shared.clock.now_ms()).into()),
            ("type", kind.into()),
            ("payload", payload),
        ]
        .into_iter()
        .collect();
        Payload::Debug(Value::Object(wrapped))
    }

    pub(super) async fn emit_values(&mut self, interrupts: Vec<Interrupt>) {
        self.report.any_values = true;
        self.report.kept = None;
        self.setup
            .shared
            .emitter
            .send_if(StreamMode::Values, || {
                Payload::Values(self.live.shown(&self.setup.shown), interrupts)
            })
            .await;
    }

    pub(super) fn wants_checkpoints(&self) -> bool {
        self.persister.is_some()
            && (self.setup.shared.emitter.wants(StreamMode::Checkpoints)
                || self.setup.shared.emitter.wants(StreamMode::Debug))
    }

    pub(super) async fn emit_checkpoint(&self, tasks: &[Task]) {
        let (true, Some(thread)) = (self.wants_checkpoints(), &self.setup.shared.config.thread) else {
            return;
        };
        // With durability exit this is the checkpoint that was loaded, whose parent all events of the run show.
        let stored_parent = (self.live.base.as_ref()).and_then(|base| base.parent.clone());
        let event = CheckpointEvent {
            thread: thread.clone(),
            ns: self.setup.shared.ns.clone(),
            id: self.progress.current.clone(),
            parent: stored_parent,
            values: self.live.values(),
            metadata: Metadata {
                user: match self.progress.loaded {
                    true => self.progress.metadata.user.clone(),
                    false => crate::state::delta::counters_of(&self.progress.metadata.user),
                },
                ..self.progress.metadata.clone()
            },
            next: tasks.iter().map(|task| task.name.clone()).collect(),
            tasks: tasks
                .iter()
                .map(|task| {
                    snapshot::task_json(
                        &self.setup.plan,
                        thread,
                        task,
                        &self.resumed.pending,
                        &self.setup.shown,
                    )
                })
                .collect::<List>(),
            configurable: self.setup.shared.config.configurable.clone(),
            parent_read: self.progress.loaded || self.setup.shared.config.durability == Durability::Exit,
        };
        let payload = Payload::Checkpoint(Box::new(event));
        let debug = (self.setup.shared.emitter.wants(StreamMode::Debug))
            .then(|| self.debug("checkpoint", self.progress.metadata.step, payload.to_json()));
        self.setup
            .shared
            .emitter
            .send_if(StreamMode::Checkpoints, || payload)
            .await;
        if let Some(debug) = debug {
            self.setup.shared.emitter.send(debug).await;
        }
    }

    /// Notes that a task ended, with these questions. True when somebody reads what it comes to.
    pub(super) fn shows(&mut self, interrupts: &[Interrupt]) -> bool {
        self.setup.shared.seen();
        self.report.any_values |= !interrupts.is_empty();
        self.setup.shared.emitter.is_read()
    }

    pub(super) async fn emit_outcome(
        &mut self,
        place: usize,
        writes: &Writes,
        interrupts: &[Interrupt],
        failure: Option<Failure>,
        record: Option<Value>,
    ) {
        let task = &Task {
            writes: Writes::new(),
            ..self.open.tasks[place].clone()
        };
        if !interrupts.is_empty() {
            self.setup
                .shared
                .emitter
                .send_if(StreamMode::Updates, || Payload::Interrupts(interrupts.to_vec()))
                .await;
            self.emit_values(interrupts.to_vec()).await;
        } else if failure.is_none() || !writes.is_empty() {
            // A node whose router failed has written, but it returned nothing.
            if failure.is_none() {
                self.emit_messages(task, writes).await;
            }
            self.emit_update(task, writes, UpdateSource::Work).await;
        }
        if self.setup.shared.emitter.wants(StreamMode::Tasks)
            || self.setup.shared.emitter.wants(StreamMode::Debug)
        {
            // A task whose router failed has written, and failed all the same.
            let finished = interrupts.is_empty();
            let end = TaskEnd {
                id: task.id().clone(),
                name: task.name.clone(),
                error: failure.as_ref().map(repr),
                failure,
                record: record.map(|record| Box::new(TaskRecord::from_value(&record))),
                result: if finished {
                    task::result_view(&self.setup.plan, writes)
                } else {
                    Value::Object(Object::new())
                },
                interrupts: interrupts.to_vec(),
                step: self.progress.step,
                targets: if finished {
                    task::targets(&self.setup.plan, writes)
                } else {
                    Vec::new()
                },
            };
            self.emit_task("task_result", Payload::TaskEnd(end)).await;
        }
    }

    /// Notes what the tasks of a step were given, which is no news after it. Within the step, the outcome would depend
    /// on which task is first.
    pub(super) fn note_given(&self) {
        for task in self.open.tasks.iter().filter(|task| !task.is_start()) {
            self.setup.shared.emitter.given(&task.input);
        }
    }

    /// Emits whole messages that a node returned, except those that it, or a task of an earlier step, was given.
    pub(super) async fn emit_messages(&self, task: &Task, writes: &Writes) {
        if !self.setup.shared.emitter.wants(StreamMode::Messages) {
            return;
        }
        let mut news = Vec::new();
        let given = LazyCell::new(|| ids_in(&task.input).collect::<HashSet<_>>());
        for (channel, value) in writes {
            let Channel::Known(index) = channel else { continue };
            if self.setup.plan.channel(*index).spec.reducer_name() != "add_messages" {
                continue;
            }
            let messages: List = match value {
                Value::Array(items) => items.clone(),
                one => [one.clone()].into_iter().collect(),
            };
            for message in messages.iter() {
                let id = message.get("id").and_then(Value::as_str);
                if message.get("type").and_then(Value::as_str) == Some("tool")
                    && !self.setup.shared.emitter.emits_tool_messages()
                {
                    continue;
                }
                let is_new =
                    |id: &str| !given.contains(id) && self.setup.shared.emitter.first_time(id.to_owned());
                if message.get("type").is_some() && message.get("content").is_some() && id.is_none_or(is_new)
                {
                    news.push(message.clone());
                }
            }
        }
        drop(given);
        for message in news {
            let metadata = message_metadata(&self.info(task), &self.setup.shared, task.metadata());
            self.setup
                .shared
                .emitter
                .send(Payload::Message(message, metadata))
                .await;
        }
    }

    /// Emits one more `values` event when a run stops inside a step: the state with the finished tasks applied.
    pub(super) async fn show_open_step(&mut self) -> Result<(), RunError> {
        let done: Vec<Task> = self
            .open
            .tasks
            .iter()
            .filter(|task| !task.writes.is_empty())
            .cloned()
            .collect();
        if done.is_empty() || (self.persister.is_some() && self.resumed.pending.is_empty()) {
            return Ok(());
        }
        self.make_last();
        let mut applied: Vec<Applied<'_>> = done.iter().map(|task| applied_of(task, &task.writes)).collect();
        let updated = self.live.apply_step(&mut applied)?;
        if updated
            .iter()
            .any(|channel| self.setup.shown.has(&self.setup.plan, *channel))
        {
            self.emit_values(Vec::new()).await;
        }
        Ok(())
    }
}
