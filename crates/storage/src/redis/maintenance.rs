//! Pruning, measuring and checking.

use superstep::checkpoint::{Integrity, Progress, Pruning, Removal, ThreadBreakdown, Usage};

use super::*;

#[async_trait]
impl Maintenance for RedisSaver {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        let (pruning, progress) = (pruning.clone(), progress.clone());
        let work: Other =
            Box::new(move |writer| Box::pin(async move { writer.prune(&pruning, &progress).await }));
        self.other(work).await
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        self.home.read(|server| async move { server.usage().await }).await
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        let thread = thread.clone();
        self.home
            .read(|server| async move { server.breakdown(&thread).await })
            .await
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let progress = progress.clone();
        let (answer, outcome) = oneshot::channel();
        let work: Other = Box::new(move |writer| {
            Box::pin(async move {
                let _ = answer.send(writer.verify(repair, &progress).await);
                Ok(Removal::default())
            })
        });
        self.other(work).await?;
        outcome.await.unwrap_or_else(|_| Err(self.home.gone()))
    }
}
