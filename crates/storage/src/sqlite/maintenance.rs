//! Pruning, measuring and checking.

use superstep::checkpoint::{Integrity, Progress, Removal, ThreadBreakdown, Usage};

use super::*;

#[async_trait]
impl Maintenance for SqliteSaver {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        if pruning.dry_run {
            let (pruning, progress) = (pruning.clone(), progress.clone());
            let plan = move |connections: &Connections| connections.plan(&pruning, &progress);
            return self.apart("looking what would go", plan).await;
        }
        match self.submit(Job::Prune(pruning.clone(), progress.clone())).await? {
            Done::Removed(removal) => Ok(removal),
            _ => Ok(Removal::default()),
        }
    }
    async fn usage(&self) -> Result<Usage, StorageError> {
        self.read("measuring what is stored", |view| view.usage()).await
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        let thread = thread.clone();
        self.read("measuring a thread", move |view| view.breakdown(&thread))
            .await
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let progress = progress.clone();
        if repair {
            let cutting = self.connections.cutting.lock().clone();
            return match self.submit(Job::Repair(progress, cutting)).await? {
                Done::Checked(integrity) => Ok(integrity),
                _ => Ok(Integrity::default()),
            };
        }
        self.apart("checking what is stored", move |connections| {
            connections.check(&progress)
        })
        .await
    }
}
