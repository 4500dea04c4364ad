//! The rule for threads that nobody has touched for a while, and what the ledger forgets when a thread, or the past of
//! one, is gone: times, bookmarks and what models were asked would otherwise outlive what they are of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{ThreadQuery, ThreadSummary};
use superstep::run::iso8601;
use superstep::{CheckpointId, ThreadId};
use superstep_storage::retention::{Exempt, Retention, retain};

use crate::Workbench;
use crate::base::files;
use crate::wire::{AppEvent, ApplyRetention, KeepRule, Problem, RemovalView, RetentionRule};
use superstep_document::text;

/// Threads that are read together.
const PAGE: usize = 1000;

/// Applies the rule of the settings now and once a day, and forgets threads that another program deleted, for as long
/// as the workbench is there.
pub(crate) fn clean_daily(workbench: &Arc<Workbench>) {
    let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
    tokio::spawn(async move {
        let mut days = tokio::time::interval(Duration::from_hours(24));
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = days.tick() => {}
            }
            let Some(workbench) = weak.upgrade() else { return };
            match workbench.forget_deleted().await {
                Ok(0) => {}
                Ok(threads) => tracing::info!(threads, "threads that were deleted elsewhere are forgotten"),
                Err(problem) => tracing::warn!(%problem, "deleted threads could not be looked for"),
            }
            let Some(rule) = workbench.preferences.settings().retention else {
                continue;
            };
            let request = ApplyRetention {
                rule,
                dry_run: false,
                work: None,
            };
            match workbench.storage_retain(request).await {
                Ok(went) if went.checkpoints > 0 => {
                    tracing::info!(went.threads, went.checkpoints, "the retention rule was applied");
                }
                Ok(_) => {}
                Err(problem) => tracing::warn!(%problem, "the retention rule could not be applied"),
            }
        }
    });
}

impl Workbench {
    pub(crate) async fn storage_retain(
        self: &Arc<Self>,
        request: ApplyRetention,
    ) -> Result<RemovalView, Problem> {
        let RetentionRule { idle_days, keep } = request.rule;
        if idle_days == 0 {
            return Err(
                Problem::invalid(text!("A rule needs at least a day without a change."))
                    .remedy(text!("Give a number of days from 1 on.")),
            );
        }
        let rule = Retention::new(Duration::from_hours(24 * u64::from(idle_days)), keep.into())
            .dry_run(request.dry_run);
        let now = files::now_ms();
        let idle = now.saturating_sub(u64::from(idle_days) * 24 * 3_600_000);
        let before = self.stored(Some(iso8601(idle))).await?;
        let mut exempt = Exempt {
            threads: self.runs.running().into_iter().map(ThreadId::from).collect(),
            checkpoints: Vec::new(),
        };
        let mut bookmarks = 0;
        for (thread, checkpoints) in self.ledger.bookmarks(None)? {
            let thread = ThreadId::from(thread);
            // A thread that somebody marked is one that somebody wants to find again.
            if keep == KeepRule::Nothing {
                exempt.threads.insert(thread);
            } else if before.contains_key(&thread) && !exempt.threads.contains(&thread) {
                bookmarks += checkpoints.len();
            }
            exempt
                .checkpoints
                .extend(checkpoints.into_keys().map(CheckpointId::from));
        }
        // Held until the work is done: a thread that begins to run would lose what it goes on from.
        let mut slots = Vec::new();
        if !request.dry_run {
            for thread in before.keys().filter(|thread| !exempt.threads.contains(*thread)) {
                slots.push((thread, self.reserve(thread.as_str())));
            }
            let taken = slots.iter().filter(|(_, slot)| slot.is_err());
            let taken: Vec<ThreadId> = taken.map(|(thread, _)| (*thread).clone()).collect();
            exempt.threads.extend(taken);
        }
        let (work, saver) = (self.job(request.work), self.saver());
        let removal = retain(&*saver, &rule, now, &exempt, &|done, total| work.at(done, total)).await;
        // Also when it was stopped or failed on the way: what went until then is gone.
        if !request.dry_run && removal.as_ref().map_or(true, |removal| removal.checkpoints > 0) {
            let after = self.stored(Some(iso8601(idle))).await?;
            for (thread, count) in &before {
                if after.get(thread) != Some(count) {
                    self.forget_removed(thread, after.contains_key(thread)).await?;
                }
            }
            // Any thread may have changed.
            self.hub.publish(AppEvent::Storage);
            self.publish_inbox(None);
        }
        self.removal_view(removal?, bookmarks)
    }

    /// Publishes what is left of threads after something was removed.
    pub(crate) async fn pruned(&self, threads: &[ThreadId]) -> Result<(), Problem> {
        for thread in threads {
            let left = self.saver().thread(thread).await;
            let left = left?.is_some();
            self.forget_removed(thread, left).await?;
            if left {
                self.publish_thread(thread.as_str()).await;
            } else {
                let thread_id = thread.to_string();
                self.hub.publish(AppEvent::ThreadDeleted { thread_id });
            }
        }
        self.publish_inbox(None);
        Ok(())
    }

    /// Removes the ledger's entries for checkpoints that no longer exist.
    async fn forget_removed(&self, thread: &ThreadId, left: bool) -> Result<(), Problem> {
        self.indexing.note_removed();
        let oldest = match left {
            true => self.heads(thread.as_str(), None, None).await?.pop(),
            false => None,
        };
        match oldest {
            Some(oldest) => self.ledger.forget_before(thread.as_str(), oldest.id.as_str()),
            None => self.forget_thread(thread.as_str()),
        }
    }

    /// Returns every thread of the database in use, or those without a change since a moment, with the number of their
    /// checkpoints.
    async fn stored(&self, idle_since: Option<String>) -> Result<HashMap<ThreadId, u64>, Problem> {
        let mut query = ThreadQuery::new().idle_since(idle_since).limit(PAGE);
        let (saver, mut found) = (self.saver(), HashMap::new());
        loop {
            let page = saver.threads(&query).await?;
            let more = page.len() == PAGE;
            query.after = page.last().map(ThreadSummary::place);
            found.extend(page.into_iter().map(|thread| (thread.thread, thread.checkpoints)));
            if !more {
                return Ok(found);
            }
        }
    }

    /// Forgets threads of the database in use that another program deleted; answers how many. Threads of other
    /// databases are left alone, and so is everything while the database is empty: it may have been put aside for a moment.
    pub(crate) async fn forget_deleted(self: &Arc<Self>) -> Result<usize, Problem> {
        let place = self.database.place();
        let known = self.ledger.threads_at(&place)?;
        let stored = self.stored(None).await?;
        if stored.is_empty() {
            return Ok(0);
        }
        let ids: HashSet<&str> = stored.keys().map(ThreadId::as_str).collect();
        self.ledger
            .placed(&place, &ids.iter().copied().collect::<Vec<_>>())?;
        let mut forgotten = 0;
        for thread in known.iter().filter(|thread| !ids.contains(thread.as_str())) {
            // One that begins now has stored nothing yet.
            let Ok(_slot) = self.reserve(thread) else { continue };
            let thread = ThreadId::from(thread.as_str());
            let there = self.saver().thread(&thread).await;
            if there?.is_none() {
                self.forget_thread(thread.as_str())?;
                forgotten += 1;
            }
        }
        Ok(forgotten)
    }
}
