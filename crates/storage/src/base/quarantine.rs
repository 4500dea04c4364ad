//! What becomes of what cannot be read. An item of the store is quarantined in a namespace of its own, with what was stored
//! as text: anyone who looks for it finds nothing, and nothing is lost. A thread does not hide the others.

use superstep::checkpoint::{
    PendingWrite, StorageError, TaskStatus, TaskWrites, Write, reserved, write_index,
};
use superstep::value::Object;
use superstep::{CheckpointId, ThreadId};

/// First label of the namespaces in which such items are; the item's own labels follow.
pub(crate) const QUARANTINE: &str = "damaged";

/// What a repair does with one.
pub(crate) const QUARANTINE_REPAIR: &str =
    "the item is moved below the namespace `damaged`, with what was stored as text";

/// Creates the value of an item that is quarantined.
pub(crate) fn quarantined(text: &str) -> Object {
    [("stored", text)].into_iter().collect()
}

/// Names a thread that a list shows without what cannot be read of it, or not at all. It is reported as an error, because
/// anyone who reads the list does not see what is missing.
pub(crate) fn passed_over(thread: &ThreadId, error: &StorageError) {
    tracing::error!(%thread, %error, "a list goes on without what cannot be read of a thread; `verify` says more");
}

/// Creates the writes that withdraw the questions among the writes of a checkpoint of an older release that a new input
/// came after.
pub(crate) fn withdrawals(of: &CheckpointId, pending: &[PendingWrite]) -> Vec<TaskWrites> {
    let statuses = TaskStatus::of_all(pending);
    let by_task = pending.chunk_by(|a, b| a.task_id == b.task_id);
    let asking = by_task.filter(|writes| {
        let status = statuses.get(&writes[0].task_id);
        status.is_some_and(|status| status.interrupted)
    });
    let note = || serde_json::from_str(ABANDONED).unwrap_or_default();
    asking
        .map(|writes| TaskWrites {
            checkpoint_id: of.clone(),
            task_id: writes[0].task_id.clone(),
            task_path: writes[0].task_path.clone(),
            writes: vec![Write {
                idx: write_index(reserved::WITHDRAWN, 0),
                channel: reserved::WITHDRAWN.into(),
                value: note(),
            }],
        })
        .collect()
}

/// What is stored beside such a question.
pub(crate) const ABANDONED: &str = r#"{"why":"a new input came after it"}"#;
