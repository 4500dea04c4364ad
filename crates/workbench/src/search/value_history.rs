//! The value of an expression over the steps of one branch: where it became another.

use superstep::checkpoint::ThreadSummary;
use superstep::{CheckpointId, Checkpointer};

use super::Directory;
use super::condition::{Condition, NAMES};
use super::thread_history::ThreadHistory;
use crate::wire::{Evaluated, Problem, WatchChange, WatchHistory};

/// Steps that are looked at, the newest of the branch.
const MAX_STEPS: usize = 2_000;
/// Changes that are given.
const MAX_CHANGES: usize = 500;

/// Returns whether two values would be shown alike, and thus count as one.
fn alike(a: &Evaluated, b: &Evaluated) -> bool {
    let text = |result: &Evaluated| {
        let value = result.value.as_ref();
        value.map(|view| (view.value.clone(), view.head.clone(), view.bytes))
    };
    text(a) == text(b)
}

pub(super) async fn history(
    saver: &dyn Checkpointer,
    directory: &dyn Directory,
    summary: &ThreadSummary,
    source: &str,
    until: Option<&CheckpointId>,
) -> Result<WatchHistory, Problem> {
    let expression = Condition::compile(source, "The watch", NAMES)?;
    let mut past = ThreadHistory::read(saver, directory, summary, &expression.wanted).await?;
    let end = match until {
        Some(id) => past.heads.iter().position(|head| head.id == *id),
        None => past.heads.len().checked_sub(1),
    };
    let mut branch: Vec<usize> = Vec::new();
    let mut at = end;
    while let Some(place) = at.filter(|_| branch.len() < MAX_STEPS) {
        branch.push(place);
        at = past.parent(place);
    }
    let more = at.is_some();
    branch.reverse();
    let mut changes: Vec<WatchChange> = Vec::new();
    let mut wanted = branch.iter().copied().enumerate().peekable();
    while let Some((_, from)) = wanted.peek().copied() {
        let next = past.next(from);
        let read = past.chunk(from, directory).await?;
        for checkpoint in read {
            let Some((place, _)) = wanted.next_if(|(_, at)| *at == checkpoint.place) else {
                continue;
            };
            let result = expression.value_at(&past, checkpoint.place, &checkpoint.state);
            if changes.last().is_some_and(|last| alike(&last.result, &result)) {
                continue;
            }
            let head = &past.heads[checkpoint.place];
            changes.push(WatchChange {
                checkpoint_id: head.id.to_string(),
                step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
                place: u32::try_from(place).unwrap_or(u32::MAX),
                result,
            });
        }
        // A checkpoint that was removed meanwhile is passed by.
        while wanted.next_if(|(_, at)| *at < next).is_some() {}
    }
    if changes.len() > MAX_CHANGES {
        changes.drain(..changes.len() - MAX_CHANGES);
    }
    Ok(WatchHistory {
        changes,
        steps: u32::try_from(branch.len()).unwrap_or(u32::MAX),
        more,
    })
}
