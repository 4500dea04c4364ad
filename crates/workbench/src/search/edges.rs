//! Which edges a step took, from what its tasks wrote.

use std::collections::BTreeMap;

use superstep::checkpoint::reserved::{START, TASKS};
use superstep::checkpoint::{PendingWrite, TaskId};
use superstep::{END, Name, Value};

use super::thread_history::ThreadHistory;
use crate::session::node_of;

/// What the channel of a node's trigger begins with.
const TRIGGER: &str = "branch:to:";
/// What the channel of a join begins with.
const JOIN: &str = "join:";

/// Returns where a write leads; `None` if it leads nowhere.
fn target(write: &PendingWrite) -> Option<&str> {
    let channel = &*write.write.channel;
    if channel == TASKS {
        return write.write.value.get("node").and_then(Value::as_str);
    }
    if channel.starts_with(JOIN) {
        return channel.rsplit_once(':').map(|(_, to)| to);
    }
    channel.strip_prefix(TRIGGER)
}

/// Groups the writes by task.
pub(super) fn by_task(writes: &[PendingWrite]) -> BTreeMap<&TaskId, Vec<&PendingWrite>> {
    let mut tasks: BTreeMap<&TaskId, Vec<&PendingWrite>> = BTreeMap::new();
    for write in writes {
        tasks.entry(&write.task_id).or_default().push(write);
    }
    tasks
}

/// Checks whether `from` led to `to` in the step that produced a checkpoint. `writes` are those of the step's tasks.
/// Packets name the node they are for, but not the task that sent them: those of a node that ran only because of
/// packets count as sent by it.
pub(super) fn led(
    past: &ThreadHistory<'_>,
    place: usize,
    writes: &[PendingWrite],
    from: &str,
    to: &str,
) -> bool {
    let is_of = |write: &&PendingWrite| node_of(&write.task_path) == Some(from);
    let pulled: Vec<&PendingWrite> = writes.iter().filter(is_of).collect();
    let ran: Vec<&Name> = past.ran(place).into_iter().collect();
    let sent = || {
        writes
            .iter()
            .filter(|write| node_of(&write.task_path).is_none())
            .collect()
    };
    let own: Vec<&PendingWrite> = match (pulled.is_empty(), from) {
        (false, _) | (_, START) => pulled,
        _ if ran.iter().any(|node| ***node == *from) => sent(),
        _ => return false,
    };
    match to {
        END => !own.is_empty() && own.iter().all(|write| target(write).is_none()),
        _ => own.iter().any(|write| target(write) == Some(to)),
    }
}
