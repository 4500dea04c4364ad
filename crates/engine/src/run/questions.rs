//! Questions that wait when a run begins, and what becomes of them: a new input abandons them, a step that ends is over for
//! them, and on a branch that goes back behind one the node that asks it again takes it over.

use super::*;
use crate::questions::{waiting_tasks, withdrawal};
use crate::task::Origin;

/// Edits of edits that are followed back to the checkpoint whose question they were made for.
const EDITS: usize = 64;

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
    /// A task has finished: what it had asked waits no more.
    pub(super) fn finished(&mut self, task: &Head) {
        if !self.waiting.is_empty() {
            self.waiting.retain(|asked| asked.task_id != *task.id());
        }
    }
}

impl Loop {
    /// Notes what waits at the loaded checkpoint, and what the run may ask again in its place when it goes back there.
    pub(super) async fn note_questions(&mut self, forks: bool) -> Result<(), RunError> {
        let (Some(saver), Some(thread)) = (&self.saver, &self.shared.config.thread) else {
            return Ok(());
        };
        if self.shared.is_nested() || !self.loaded {
            return Ok(());
        }
        let waiting: Vec<PendingWrite> = waiting_tasks(&self.pending)
            .map(|writes| writes[0].clone())
            .collect();
        let withdrawn = |write: &&PendingWrite| &*write.write.channel == reserved::WITHDRAWN;
        self.questions.withdrawn = (self.pending.iter().filter(withdrawn))
            .map(|write| write.task_id.clone())
            .collect();
        let mut left = Vec::new();
        if forks && !waiting.is_empty() {
            let stage = Stage::new(&self.plan, &self.shared.ns, &self.current, self.step);
            left.extend(questions_left(&self.live, &stage, waiting.iter()));
        }
        let mut made_by = self.metadata.source;
        let mut parent = self.live.base.as_ref().and_then(|base| base.parent.clone());
        for _ in 0..EDITS {
            let (Source::Update | Source::Fork, Some(id)) = (made_by, &parent) else {
                break;
            };
            let Some(tuple) = crate::delta::get(&self.plan, &**saver, thread, "", Some(id)).await? else {
                break;
            };
            let asked: Vec<&PendingWrite> = waiting_tasks(&tuple.pending_writes).map(|w| &w[0]).collect();
            if !asked.is_empty() {
                let live = load(&self.plan, Some(&tuple));
                let step = tuple.checkpoint.metadata.step + 1;
                let stage = Stage::new(&self.plan, &self.shared.ns, id, step);
                left.extend(questions_left(&live, &stage, asked.into_iter()));
            }
            made_by = tuple.checkpoint.metadata.source;
            parent = tuple.checkpoint.parent;
        }
        self.questions.left = left;
        if !forks {
            self.questions.waiting = waiting;
        }
        Ok(())
    }

    /// A task asks. What it took the place of is withdrawn in the same commit; gives what is stored beside its question
    /// when it had been withdrawn.
    pub(super) fn note_asked(&mut self, place: usize) -> Option<(Channel, Value)> {
        let task = &self.tasks[place];
        if self.shared.is_nested() || task.is_call() {
            return None;
        }
        if !self.questions.left.is_empty() {
            let (name, given) = (task.name.clone(), packet(task));
            let mut note = self.note("asked-again");
            let left = &mut self.questions.left;
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
                note.insert("checkpoint", self.current.as_str());
                persister.withdraw(withdrawal(&left.checkpoint, &left.asked, note.into()));
            }
        }
        let id = self.tasks[place].id().clone();
        let again = self.questions.withdrawn.remove(&id);
        again.then(|| {
            let note = self.note("asked-again");
            (Channel::Named(reserved::ASKED_AGAIN.into()), note.into())
        })
    }

    /// Withdraws what waits at the current checkpoint, together with what is stored next: nobody comes back to it.
    pub(super) fn withdraw_waiting(&mut self, why: &str) {
        if self.questions.waiting.is_empty() {
            return;
        }
        let note = self.note(why);
        let waiting = std::mem::take(&mut self.questions.waiting);
        if let Some(persister) = &mut self.persister {
            for asked in &waiting {
                persister.withdraw(withdrawal(&self.current, asked, note.clone().into()));
            }
        }
    }

    /// The open step has ended. A task that had asked was answered and has finished, which is stored, unless only the
    /// last checkpoint of a run is; or it failed and another took over.
    pub(super) fn close_questions(&mut self) {
        self.withdraw_waiting("answered");
        self.questions.withdrawn.clear();
    }

    fn note(&self, why: &str) -> Object {
        [
            ("why", Value::from(why)),
            ("run", self.shared.run_id.as_str().into()),
            ("at", iso8601(self.shared.clock.now_ms()).into()),
        ]
        .into_iter()
        .collect()
    }
}

/// Which nodes ask these questions of a step.
fn questions_left<'a>(
    live: &Live,
    stage: &Stage,
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
