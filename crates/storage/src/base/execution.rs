//! Removing, or saying what a removal would do.

use superstep::checkpoint::Pruning;

/// Manner of a removal: real or only worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// It is done.
    Apply,
    /// It is worked out; nothing changes.
    DryRun,
}

impl Execution {
    /// Returns what a pruning asks for.
    pub(crate) fn of(pruning: &Pruning) -> Self {
        if pruning.dry_run {
            Self::DryRun
        } else {
            Self::Apply
        }
    }
}
