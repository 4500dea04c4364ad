//! Rules that keep a database from growing for ever: what is left of a thread that nobody has touched for a while.

use std::collections::HashSet;
use std::time::Duration;

use superstep::checkpoint::{
    Keep, Progress, Pruning, Removal, Scope, StorageError, ThreadQuery, ThreadStatus, Watch,
};
use superstep::run::iso8601;
use superstep::{CheckpointId, Checkpointer, ThreadId};

use crate::base::quarantine::passed_over;

/// Threads that are looked at together.
const PAGE: usize = 200;

/// Rule about what is kept of a thread, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// A thread that has not changed for so long.
    pub idle: Duration,
    /// What stays of it.
    pub keep: Keep,
    /// Nothing is removed, only counted.
    pub dry_run: bool,
}

impl Retention {
    /// Creates a rule for threads that have not changed for so long.
    pub fn new(idle: Duration, keep: Keep) -> Self {
        Self {
            idle,
            keep,
            dry_run: false,
        }
    }

    /// Sets whether to count only.
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }
}

/// Threads and checkpoints that a rule does not touch.
#[derive(Clone, Debug, Default)]
pub struct Exempt {
    /// Threads, for example those that run.
    pub threads: HashSet<ThreadId>,
    /// Checkpoints, for example those that a person marked.
    pub checkpoints: Vec<CheckpointId>,
}

/// Applies a rule at the moment `now` (milliseconds since the Unix epoch), or in a dry run says what it would do.
///
/// A thread that waits for an answer is never removed whole: somebody may be about to answer. `watch` is called with how many
/// threads were looked at; when it answers `false`, the rest is left for another time.
pub async fn retain(
    saver: &dyn Checkpointer,
    rule: &Retention,
    now: u64,
    exempt: &Exempt,
    watch: Watch<'_>,
) -> Result<Removal, StorageError> {
    let idle = u64::try_from(rule.idle.as_millis()).unwrap_or(u64::MAX);
    let mut query = ThreadQuery::new().idle_since(iso8601(now.saturating_sub(idle)));
    let total = saver.count_threads(&query).await?;
    query.limit = Some(PAGE);
    let mut sum = Removal {
        bytes: Some(0),
        ..Removal::default()
    };
    let mut seen = 0;
    loop {
        let page = saver.threads(&query).await?;
        let Some(last) = page.last() else { break };
        query.after = Some(last.place());
        let spare = match rule.keep {
            Keep::Latest => 1,
            Keep::Newest(count) => count as u64,
            Keep::Branches | Keep::Nothing => 0,
        };
        let touched = page.iter().filter(|thread| {
            let waits = rule.keep == Keep::Nothing && thread.status() == ThreadStatus::Interrupted;
            thread.checkpoints > spare && !waits && !exempt.threads.contains(&thread.thread)
        });
        let threads: Vec<ThreadId> = touched.map(|thread| thread.thread.clone()).collect();
        seen += page.len() as u64;
        let pruning = |threads: Vec<ThreadId>| {
            let mut pruning = Pruning::threads(threads, rule.keep).retain(exempt.checkpoints.iter().cloned());
            pruning.dry_run = rule.dry_run;
            pruning
        };
        // Only asked whether to go on: what is counted here are threads.
        let before = seen - page.len() as u64;
        let go_on = |_, _| watch(before, total.max(seen));
        let mut removed = Vec::new();
        match apply(saver, pruning(threads.clone()), &go_on).await {
            // One of them is damaged: it stays as it is, and the others do not grow for ever because of it.
            Err(StorageError::Corrupt { .. }) => {
                for thread in threads {
                    match apply(saver, pruning(vec![thread.clone()]), &go_on).await {
                        Err(error @ StorageError::Corrupt { .. }) => passed_over(&thread, &error),
                        done => removed.push(done),
                    }
                }
            }
            done => removed.push(done),
        }
        let mut stopped = false;
        for done in removed {
            match done {
                Ok(removal) => add(&mut sum, removal),
                Err(StorageError::Stopped) => stopped = true,
                Err(error) => return Err(error),
            }
        }
        if stopped {
            break;
        }
        if !watch(seen, total.max(seen)) {
            break;
        }
    }
    Ok(sum)
}

async fn apply(
    saver: &dyn Checkpointer,
    pruning: Pruning,
    go_on: Watch<'_>,
) -> Result<Removal, StorageError> {
    if matches!(&pruning.scope, Scope::Threads(threads, _) if threads.is_empty()) {
        return Ok(Removal {
            bytes: Some(0),
            ..Removal::default()
        });
    }
    let progress = Progress::default();
    let work = superstep::inspect::prune_watched(saver, &pruning, &progress);
    progress.follow(work, go_on).await
}

/// Adds what went to what went before. Bytes are known only when they were known each time.
fn add(sum: &mut Removal, removal: Removal) {
    sum.threads += removal.threads;
    sum.checkpoints += removal.checkpoints;
    sum.bytes = sum.bytes.zip(removal.bytes).map(|(a, b)| a + b);
    sum.branches.extend(removal.branches);
    sum.skipped.extend(removal.skipped);
}
