//! An order of completions that a test chooses.

/// The order in which the completions of a super-step are handled, drawn from a seed.
///
/// With a schedule the completions of a super-step are held back until every task has ended, and then taken in an
/// order that depends on the seed alone. What a run leads to does not depend on it: tests show that by trying many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    seed: u64,
}

impl Schedule {
    /// Creates the schedule of this seed.
    pub fn seeded(seed: u64) -> Self {
        Self { seed }
    }

    /// Picks which of `waiting` completions is next, when `step` is at its `turn`-th.
    pub(crate) fn pick(self, step: i64, turn: usize, waiting: usize) -> usize {
        let mut facts = [0; 16];
        facts[..8].copy_from_slice(&step.to_le_bytes());
        facts[8..].copy_from_slice(&(turn as u64).to_le_bytes());
        let drawn = xxhash_rust::xxh3::xxh3_64_with_seed(&facts, self.seed);
        (drawn % waiting.max(1) as u64) as usize
    }
}
