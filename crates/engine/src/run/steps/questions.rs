//! Questions that wait when a run begins, and what becomes of them: a new input abandons them, a step that ends is over for
//! them, and on a branch that goes back behind one the node that asks it again takes it over.

use std::collections::{HashMap, HashSet};

use super::Loop;
use super::states::StartPoint;
use crate::base::clock::iso8601;
use crate::base::ids::{CheckpointId, Name, TaskId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::types::{ListQuery, PendingWrite, StorageError, reserved};
use crate::checkpoint::waiting::WaitingQuery;
use crate::graph::task::{Origin, StepContext, TaskHeader};
use crate::graph::writes::Channel;
use crate::inspect::questions::{waiting_tasks, withdrawal};
use crate::state::live::{Live, load};
use crate::stream::error::RunError;
use crate::task::{self, Task};
use crate::value::{Object, Value};

/// Checkpoints of a page while a line is followed back.
const PAGE: usize = 256;

#[derive(Default)]
pub(super) struct Questions {
    /// Of the open step: the write of each task that asked, and has neither finished nor was withdrawn.
    waiting: Vec<PendingWrite>,
    /// Tasks of the open step whose questions were withdrawn.
    withdrawn: HashSet<TaskId>,
    /// Questions that pass to this run when their nodes ask again.
    left: Vec<Left>,
}

/// A question of the checkpoint that the run goes back behind.
struct Left {
    checkpoint: CheckpointId,
    asked: PendingWrite,
    node: Name,
    /// What the task was given, when a packet says it.
    packet: Option<Value>,
}

fn packet(task: &Task) -> Option<Value> {
    matches!(task.origin, Origin::Packet(_)).then(|| task.input.clone())
}

impl Questions {
    /// Removes the questions of a task that has finished: they no longer wait.
    pub(super) fn finished(&mut self, task: &TaskHeader) {
        if !self.waiting.is_empty() {
            self.waiting.retain(|asked| asked.task_id != *task.id());
        }
    }
}

impl Loop {
    /// Notes what waits at the loaded checkpoint.
    pub(super) fn note_questions(&mut self, point: StartPoint) {
        if self.persister.is_none() || self.setup.shared.is_nested() || !self.progress.loaded {
            return;
        }
        let withdrawn = |write: &&PendingWrite| &*write.write.channel == reserved::WITHDRAWN;
        self.resumed.questions.withdrawn = (self.resumed.pending.iter().filter(withdrawn))
            .map(|write| write.task_id.clone())
            .collect();
        if point != StartPoint::Fork {
            self.resumed.questions.waiting = waiting_tasks(&self.resumed.pending)
                .map(|writes| writes[0].clone())
                .collect();
        }
    }

    /// Notes what the run may ask again in the place of a checkpoint that it goes back to, or that an edit or a replay
    /// before it went back to.
    pub(super) async fn note_left(&mut self, point: StartPoint) -> Result<(), RunError> {
        let (Some(saver), Some(thread)) = (&self.setup.saver, &self.setup.shared.config.thread) else {
            return Ok(());
        };
        if self.setup.shared.is_nested() || !self.progress.loaded {
            return Ok(());
        }
        let mut left = Vec::new();
        if point == StartPoint::Fork {
            let waiting: Vec<&PendingWrite> = waiting_tasks(&self.resumed.pending)
                .map(|writes| &writes[0])
                .collect();
            if !waiting.is_empty() {
                let stage = StepContext::new(
                    &self.setup.plan,
                    &self.setup.shared.ns,
                    &self.progress.current,
                    self.progress.step,
                )
                .given_in(&self.progress.metadata);
                left.extend(questions_left(&self.live, &stage, waiting.into_iter()));
            }
        }
        // Of a checkpoint that the line to this one goes through, and whose step did not finish: an edit or a replay of it
        // began this branch, in this run or in one before.
        let query = WaitingQuery::new().thread(thread.clone());
        let mut asking = saver.waiting(&query).await?;
        asking.retain(|waiting| waiting.checkpoint < self.progress.current);
        let oldest = asking.iter().map(|waiting| waiting.checkpoint.clone()).min();
        let parent = self.live.base.as_ref().and_then(|base| base.parent.clone());
        if let (Some(oldest), Some(parent)) = (oldest, parent) {
            let line = line(&**saver, thread, parent, &oldest).await?;
            asking.retain(|waiting| line.contains(&waiting.checkpoint));
            for waiting in asking {
                let id = &waiting.checkpoint;
                let Some(tuple) =
                    crate::state::delta::get(&self.setup.plan, &**saver, thread, "", Some(id)).await?
                else {
                    continue;
                };
                let asked: Vec<&PendingWrite> = waiting_tasks(&tuple.pending_writes).map(|w| &w[0]).collect();
                let live = load(&self.setup.plan, Some(&tuple));
                let stage = StepContext::at(&self.setup.plan, &self.setup.shared.ns, &tuple.checkpoint);
                left.extend(questions_left(&live, &stage, asked.into_iter()));
            }
        }
        self.resumed.questions.left = left;
        Ok(())
    }

    /// Notes that a task asks. The question that it replaces is withdrawn in the same commit; returns what is stored
    /// beside the new question if the old one had been withdrawn.
    pub(super) fn note_asked(&mut self, place: usize) -> Option<(Channel, Value)> {
        let task = &self.open.tasks[place];
        if self.setup.shared.is_nested() || task.is_call() {
            return None;
        }
        if !self.resumed.questions.left.is_empty() {
            let (name, given) = (task.name.clone(), packet(task));
            let mut note = self.note("asked-again");
            let left = &mut self.resumed.questions.left;
            // Of several packets for a node the same one; when it was edited, any.
            let same = left
                .iter()
                .position(|left| left.node == name && left.packet == given)
                .or_else(|| {
                    let alike = |left: &Left| left.node == name && left.packet.is_some() == given.is_some();
                    left.iter().position(alike)
                });
            if let (Some(same), Some(persister)) = (same, &mut self.persister) {
                let left = left.swap_remove(same);
                note.insert("checkpoint", self.progress.current.as_str());
                persister.withdraw(withdrawal(&left.checkpoint, &left.asked, note.into()));
            }
        }
        let id = self.open.tasks[place].id().clone();
        let again = self.resumed.questions.withdrawn.remove(&id);
        again.then(|| {
            let note = self.note("asked-again");
            (Channel::Named(reserved::ASKED_AGAIN.into()), note.into())
        })
    }

    /// Withdraws what waits at the current checkpoint, together with what is stored next: nobody comes back to it.
    pub(super) fn withdraw_waiting(&mut self, why: &str) {
        if self.resumed.questions.waiting.is_empty() {
            return;
        }
        let note = self.note(why);
        let waiting = std::mem::take(&mut self.resumed.questions.waiting);
        if let Some(persister) = &mut self.persister {
            for asked in &waiting {
                persister.withdraw(withdrawal(&self.progress.current, asked, note.clone().into()));
            }
        }
    }

    /// Closes the questions of the open step when it has ended. A task that had asked was answered and has finished,
    /// which is stored, unless only the last checkpoint of a run is; or it failed and another took over.
    pub(super) fn close_questions(&mut self) {
        self.withdraw_waiting("answered");
        self.resumed.questions.withdrawn.clear();
    }

    fn note(&self, why: &str) -> Object {
        [
            ("why", Value::from(why)),
            ("run", self.setup.shared.run_id.as_str().into()),
            ("at", iso8601(self.setup.shared.clock.now_ms()).into()),
        ]
        .into_iter()
        .collect()
    }
}

/// Returns the checkpoints of the outermost graph that led to `from`, itself included, back to `oldest`.
async fn line(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    from: CheckpointId,
    oldest: &CheckpointId,
) -> Result<HashSet<CheckpointId>, StorageError> {
    let mut parents: HashMap<CheckpointId, Option<CheckpointId>> = HashMap::new();
    let mut before = None;
    loop {
        let query = ListQuery::new()
            .thread(thread.clone())
            .ns("")
            .before(before.take())
            .limit(PAGE);
        let heads = saver.heads(&query).await?;
        before = heads.last().map(|head| head.id.clone());
        let ended = heads.len() < PAGE || before.as_ref().is_none_or(|before| before <= oldest);
        parents.extend(heads.into_iter().map(|head| (head.id, head.parent)));
        if ended {
            break;
        }
    }
    let parent = |id: &CheckpointId| parents.get(id).cloned().flatten();
    Ok(std::iter::successors(Some(from), parent).collect())
}

/// Returns the nodes that ask these questions of a step.
fn questions_left<'a>(
    live: &Live,
    stage: &StepContext,
    asked: impl Iterator<Item = &'a PendingWrite>,
) -> Vec<Left> {
    let tasks = task::prepare(live, stage, None);
    let found = asked.filter_map(|asked| {
        let task = tasks.iter().find(|task| *task.id() == asked.task_id)?;
        Some(Left {
            checkpoint: stage.checkpoint.clone(),
            asked: asked.clone(),
            node: task.name.clone(),
            packet: packet(task),
        })
    });
    found.collect()
}
