//! Pruning, measuring and checking.

use superstep::checkpoint::{Integrity, Progress, Pruning, ThreadBreakdown, Usage};

use super::*;

#[async_trait]
impl Maintenance for PostgresSaver {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        self.submit(Job::Prune(pruning.clone(), progress.clone())).await
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        read!(self, "measuring what is stored", view => view.usage())
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        read!(self, "measuring a thread", view => view.breakdown(thread))
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let (mut found, sick) = read!(self, "checking what is stored", view => view.survey(progress))?;
        if repair && !found.damage.is_empty() {
            self.submit(Job::Repair(sick)).await?;
            found.repaired = true;
        }
        Ok(found)
    }
}
