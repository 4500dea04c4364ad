//! Questions that wait, apart from any run: withdrawing them.
//!
//! A question belongs to the checkpoint whose task asked it, and waits until that task has finished or the question is
//! withdrawn. Withdrawing is a write of the task beside its question, so that every program and every export sees it.

use crate::base::ids::{CheckpointId, InterruptId, TaskId, ThreadId};
use crate::checkpoint::checkpointer::Checkpointer;
use crate::checkpoint::claim::ClaimRequest;
use crate::checkpoint::types::write_index;
use crate::checkpoint::types::{
    CheckpointAddress, Commit, PendingWrite, StorageError, TaskStatus, TaskWrites, Write, reserved,
};
use crate::stream::events::Interrupt;
use crate::value::{Object, Value};

/// Withdraws the waiting questions of a checkpoint of the outermost graph: those of the task that asks `question`, or
/// of every task. `note` says who, when and why, and is stored beside the question. Gives the number of tasks whose
/// questions were withdrawn: 0 when none waited. `by` says who withdraws; it is refused while a run of another program holds
/// the thread.
pub async fn withdraw(
    saver: &dyn Checkpointer,
    thread: &ThreadId,
    checkpoint: &CheckpointId,
    question: Option<&InterruptId>,
    note: Object,
    by: Option<&ClaimRequest>,
) -> Result<usize, StorageError> {
    let read = async || {
        let address = CheckpointAddress::new(thread.clone(), "", checkpoint.clone());
        let pending = saver.writes_of(address).await?;
        let asks = |writes: &[PendingWrite]| {
            question.is_none_or(|id| questions(writes).iter().any(|question| question.id == *id))
        };
        let withdrawn = waiting_tasks(&pending)
            .filter(|writes| asks(writes))
            .map(|writes| withdrawal(checkpoint, &writes[0], Value::Object(note.clone())));
        Ok::<Vec<TaskWrites>, StorageError>(withdrawn.collect())
    };
    let (mut withdrawn, mut by) = (read().await?, by.cloned());
    if let Some(by) = &mut by
        && !withdrawn.is_empty()
        && by.has_to_take(saver, thread).await?
    {
        // The other run may have taken an answer meanwhile.
        by.take_first(saver, thread).await?;
        withdrawn = read().await?;
    }
    let tasks = withdrawn.len();
    if tasks > 0 {
        let commit = Commit {
            thread: thread.clone(),
            ns: "".into(),
            writes: withdrawn,
            put: None,
            claim: by.as_ref().map(ClaimRequest::change),
        };
        saver.commit(commit).await?;
    }
    Ok(tasks)
}

/// Returns the pending writes of each task whose questions wait; `pending` is sorted by task.
pub(crate) fn waiting_tasks(pending: &[PendingWrite]) -> impl Iterator<Item = &[PendingWrite]> {
    let statuses = TaskStatus::of_all(pending);
    let waits = move |writes: &&[PendingWrite]| {
        let status = statuses.get(&writes[0].task_id);
        let asks = |write: &PendingWrite| &*write.write.channel == reserved::INTERRUPT;
        status.is_some_and(|status| status.interrupted) && writes.iter().any(asks)
    };
    pending
        .chunk_by(|a: &PendingWrite, b: &PendingWrite| a.task_id == b.task_id)
        .filter(waits)
}

/// Returns the waiting questions among the pending writes of a checkpoint, by the first write of the task that asks
/// them.
pub fn waiting_questions(pending: &[PendingWrite]) -> Vec<(&PendingWrite, Vec<Interrupt>)> {
    waiting_tasks(pending)
        .map(|writes| (&writes[0], questions(writes)))
        .collect()
}

/// Creates the write that withdraws the questions of a task.
pub(crate) fn withdrawal(checkpoint: &CheckpointId, of: &PendingWrite, note: Value) -> TaskWrites {
    TaskWrites {
        checkpoint_id: checkpoint.clone(),
        task_id: TaskId::clone(&of.task_id),
        task_path: of.task_path.clone(),
        writes: vec![Write {
            idx: write_index(reserved::WITHDRAWN, 0),
            channel: reserved::WITHDRAWN.into(),
            value: note,
        }],
    }
}

/// Returns the questions among the pending writes of one task.
pub fn questions(writes: &[PendingWrite]) -> Vec<Interrupt> {
    writes
        .iter()
        .filter(|write| &*write.write.channel == reserved::INTERRUPT)
        .filter_map(|write| write.write.value.as_array())
        .flat_map(|list| list.iter().filter_map(Interrupt::from_json))
        .collect()
}
