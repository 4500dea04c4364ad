//! What the tasks of a super-step call: each call becomes a task of the same step.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::Loop;
use crate::base::ids::TaskId;
use crate::graph::call::{Call, Reply, TaskFn};
use crate::graph::options::NodeOptions;
use crate::graph::scope::Shared;
use crate::graph::writes::{Writes, resolve};
use crate::inspect::snapshot;
use crate::stream::error::RunError;
use crate::task;

/// The calls that the tasks of a step make.
pub(super) struct Calls {
    receiver: mpsc::UnboundedReceiver<Call>,
    /// Place of each called task.
    places: HashMap<TaskId, usize>,
    /// Who waits for the task at a place.
    pub(super) waiting: HashMap<usize, Vec<Reply>>,
    pub(super) work: HashMap<usize, Arc<TaskFn>>,
    /// What calls of an earlier attempt at this step wrote.
    stored: Option<HashMap<TaskId, Writes>>,
}

impl Calls {
    /// Takes what the tasks of this graph call.
    pub(super) fn of(shared: &Shared) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        // Nobody else sets it: what is shared belongs to one run.
        let _ = shared.calls.set(sender);
        Self {
            receiver,
            places: HashMap::new(),
            waiting: HashMap::new(),
            work: HashMap::new(),
            stored: None,
        }
    }

    pub(super) fn options(&self, place: usize) -> Option<&NodeOptions> {
        self.work.get(&place).map(|task| &task.options)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.receiver.is_empty()
    }

    pub(super) fn next_now(&mut self) -> Option<Call> {
        self.receiver.try_recv().ok()
    }

    pub(super) async fn next(&mut self) -> Option<Call> {
        self.receiver.recv().await
    }

    /// Clears the calls of a step, which end with it.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.waiting.clear();
        self.work.clear();
        self.stored = None;
    }
}

impl Loop {
    /// Takes up a call: Some(place) when its work is to be done.
    pub(super) async fn accept(&mut self, call: Call) -> Result<Option<usize>, RunError> {
        let caller = &self.open.tasks[call.caller];
        let task = task::called(caller, &call);
        let known = self.open.calls.places.get(task.id()).copied();
        if let Some(place) = known
            && let Some(replies) = self.open.calls.waiting.get_mut(&place)
        {
            // The caller was tried again while its call goes on.
            replies.push(call.reply);
            return Ok(None);
        }
        if self.open.calls.stored.is_none() {
            let mut stored: HashMap<TaskId, Writes> = HashMap::new();
            let kept = self.resumed.pending.iter().filter(|_| self.resumed.keep_finished);
            for pending in kept.filter(|w| snapshot::is_output(&w.write.channel)) {
                let channel = resolve(&self.setup.plan, &pending.write.channel);
                let writes = stored.entry(pending.task_id.clone()).or_default();
                writes.push((channel, pending.write.value.clone()));
            }
            self.open.calls.stored = Some(stored);
        }
        let finished = match known {
            Some(place) => self.open.tasks[place].writes.clone(),
            None => {
                let stored = self.open.calls.stored.as_mut();
                stored
                    .and_then(|stored| stored.remove(task.id()))
                    .unwrap_or_default()
            }
        };
        let place = known.unwrap_or(self.open.tasks.len());
        self.open.calls.places.insert(task.id().clone(), place);
        self.emit_start(&task).await;
        if known.is_none() {
            self.open.tasks.push(task);
        }
        if !finished.is_empty() {
            let _ = call
                .reply
                .send(Ok(task::return_of(&finished).cloned().unwrap_or_default()));
            self.open.tasks[place].writes = finished;
            return Ok(None);
        }
        self.open.calls.work.insert(place, Arc::new(call.task));
        if self.take_cached(place).await? {
            let value = task::return_of(&self.open.tasks[place].writes).cloned();
            let _ = call.reply.send(Ok(value.unwrap_or_default()));
            return Ok(None);
        }
        self.open.calls.waiting.insert(place, vec![call.reply]);
        Ok(Some(place))
    }
}
