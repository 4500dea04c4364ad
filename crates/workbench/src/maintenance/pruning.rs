//! Bookmarks, copies and pruning of threads, and checking of their database.

use std::collections::HashSet;
use std::sync::Arc;

use superstep::checkpoint::{Keep, Progress, Pruning, Removal};
use superstep::{CheckpointId, ThreadId};

use crate::Workbench;
use crate::base::notes::checked_note;
use crate::ledger::{Bookmark, ThreadRow};
use crate::wire::{
    AppEvent, BookmarkCheckpoint, CheckpointView, CopyThread, DamageView, IntegrityView, KeepRule,
    LostBranch, Problem, PruneThreads, RemovalView, ThreadView, VerifyStorage,
};
use superstep_document::text;

/// Lost branches that are named.
const MAX_BRANCHES: usize = 100;

impl From<KeepRule> for Keep {
    fn from(rule: KeepRule) -> Self {
        match rule {
            KeepRule::Latest => Keep::Latest,
            KeepRule::Branches => Keep::Branches,
            KeepRule::Newest { count } => Keep::Newest(count as usize),
            KeepRule::Nothing => Keep::Nothing,
        }
    }
}

impl Workbench {
    /// Returns a lookup of titles for threads that are named in an answer.
    pub(super) fn titles(&self, ids: &[&str]) -> Result<impl Fn(&str) -> (String, String), Problem> {
        let rows = self.ledger.threads(ids)?;
        Ok(move |id: &str| match rows.get(id) {
            Some(row) => (row.title.clone(), row.graph_name.clone()),
            None => (id.to_owned(), String::new()),
        })
    }

    pub(crate) fn removal_view(&self, removal: Removal, bookmarks: usize) -> Result<RemovalView, Problem> {
        let branch_count = removal.branches.len() as u64;
        let shown = &removal.branches[..removal.branches.len().min(MAX_BRANCHES)];
        let ids: Vec<&str> = shown.iter().map(|(thread, _)| thread.as_str()).collect();
        let titles = self.titles(&ids)?;
        let branch = |(thread, checkpoint): &(ThreadId, CheckpointId)| LostBranch {
            thread_id: thread.to_string(),
            title: titles(thread.as_str()).0,
            checkpoint_id: checkpoint.to_string(),
        };
        Ok(RemovalView {
            threads: removal.threads,
            checkpoints: removal.checkpoints,
            bytes: removal.bytes,
            bookmarks: u32::try_from(bookmarks).unwrap_or(u32::MAX),
            branches: shown.iter().map(branch).collect(),
            branch_count,
        })
    }

    pub(crate) async fn thread_bookmark(
        self: &Arc<Self>,
        request: BookmarkCheckpoint,
    ) -> Result<CheckpointView, Problem> {
        let head = self.head(&request.thread_id, &request.checkpoint_id).await?;
        let name = request
            .name
            .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
        if name.as_deref() == Some("") {
            return Err(Problem::invalid(text!("The bookmark has no name.")).remedy(text!("Type a name.")));
        }
        let note = checked_note(&request.note.unwrap_or_default())?;
        let bookmark = name.map(|name| Bookmark { name, note });
        self.ledger
            .bookmark(&request.thread_id, &request.checkpoint_id, bookmark.as_ref())?;
        self.publish_checkpoint(&request.thread_id, &request.checkpoint_id)
            .await;
        self.marked(&request.thread_id, &head)
    }

    pub(crate) async fn thread_prune(
        self: &Arc<Self>,
        request: PruneThreads,
    ) -> Result<RemovalView, Problem> {
        // Held until the work is done: a thread that runs would lose what it goes on from.
        let mut slots = Vec::new();
        let mut retained = HashSet::new();
        let keep = Keep::from(request.keep);
        for id in &request.thread_ids {
            if !request.dry_run {
                slots.push(self.reserve(id)?);
            }
            // Says so when there is no such thread.
            self.thread(id).await?;
            let marked = self.ledger.bookmarks(Some(id))?.remove(id).unwrap_or_default();
            retained.extend(marked.into_keys());
        }
        if keep == Keep::Nothing {
            // A person who wants a thread gone was shown what goes with it.
            retained.clear();
        }
        let threads: Vec<ThreadId> = request.thread_ids.iter().map(|id| id.as_str().into()).collect();
        let mut pruning = Pruning::threads(threads.iter().cloned(), keep);
        pruning = pruning.retain(retained.iter().map(|id| CheckpointId::from(id.as_str())));
        pruning.dry_run = request.dry_run;
        let (work, saver, progress) = (self.job(request.work), self.saver(), Progress::default());
        let pruned = superstep::inspect::prune_watched(&*saver, &pruning, &progress);
        let removal = progress.follow(pruned, &|done, total| work.at(done, total)).await;
        if !request.dry_run {
            // Also when it was stopped or failed on the way: what went until then is gone.
            self.pruned(&threads).await?;
        }
        self.removal_view(removal?, retained.len())
    }

    pub(crate) async fn thread_copy(self: &Arc<Self>, request: CopyThread) -> Result<ThreadView, Problem> {
        let view = self.thread(&request.thread_id).await?;
        if view.head.is_none() {
            return Err(
                Problem::invalid(text!("The thread has stored nothing yet that could be copied."))
                    .remedy(text!("Wait for its first checkpoint.")),
            );
        }
        let title = request.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let id = uuid::Uuid::now_v7().to_string();
        self.saver()
            .copy_thread(&request.thread_id.as_str().into(), &id.as_str().into())
            .await?;
        let row = ThreadRow {
            thread_id: id.clone(),
            title: if title.is_empty() { view.title } else { title },
            graph_name: view.graph_name,
            graph_key: self.key_of_thread(&request.thread_id).await.unwrap_or_default(),
            created_at: view.created_at,
        };
        self.ledger
            .thread_copied(&request.thread_id, &row, &self.database.place())?;
        self.publish_thread(&id).await;
        self.publish_inbox(None);
        self.thread(&id).await
    }

    pub(crate) async fn storage_verify(
        self: &Arc<Self>,
        request: VerifyStorage,
    ) -> Result<IntegrityView, Problem> {
        let (work, saver, progress) = (self.job(request.work), self.saver(), Progress::default());
        let found = progress
            .follow(saver.verify_watched(request.repair, &progress), &|done, total| {
                work.at(done, total)
            })
            .await?;
        if found.repaired {
            self.hub.publish(AppEvent::Storage);
            self.publish_inbox(None);
        }
        let damage = found.damage.into_iter().map(|damage| DamageView {
            thread_id: damage.thread.map(|thread| thread.to_string()),
            what: damage.what,
            repair: damage.repair,
        });
        Ok(IntegrityView {
            threads: found.threads,
            checkpoints: found.checkpoints,
            items: found.items,
            damage: damage.collect(),
            repaired: found.repaired,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_the_rule_says() {
        assert_eq!(Keep::from(KeepRule::Latest), Keep::Latest);
        assert_eq!(Keep::from(KeepRule::Branches), Keep::Branches);
        assert_eq!(Keep::from(KeepRule::Newest { count: 3 }), Keep::Newest(3));
        assert_eq!(Keep::from(KeepRule::Nothing), Keep::Nothing);
    }
}
