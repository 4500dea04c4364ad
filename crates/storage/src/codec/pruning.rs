//! Which checkpoints a pruning takes, for backends that look at them as rows.

use superstep::checkpoint::{Link, Pruning, Removal};
use superstep::{CheckpointId, Name, ThreadId};

/// A checkpoint as pruning looks at it.
pub(crate) struct Looked<K> {
    /// What the backend calls it.
    pub(crate) key: K,
    pub(crate) id: CheckpointId,
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) run: Option<String>,
}

/// Returns the keys of the checkpoints of one namespace to remove; the removal reports them.
pub(crate) fn doomed<'r, K>(
    pruning: &Pruning,
    thread: &ThreadId,
    ns: &Name,
    rows: &'r [Looked<K>],
    removal: &mut Removal,
) -> Vec<&'r K> {
    let links: Vec<Link<'_>> = rows
        .iter()
        .map(|row| Link {
            id: &row.id,
            parent: row.parent.as_ref(),
            run: row.run.as_deref(),
        })
        .collect();
    let doomed = pruning.doomed(thread, ns, &links);
    let lost = pruning.lost_branches(thread, ns, &links, &doomed);
    let lost = lost.into_iter().map(|id| (thread.clone(), id.clone()));
    removal.branches.extend(lost);
    removal.checkpoints += doomed.len() as u64;
    // What goes is in the order of the rows.
    let mut doomed = doomed.into_iter().peekable();
    rows.iter()
        .filter(|row| doomed.next_if(|link| *link.id == row.id).is_some())
        .map(|row| &row.key)
        .collect()
}
