//! Pruning, measuring and checking.

use superstep::checkpoint::{Integrity, Progress, ThreadBreakdown, Usage};

use super::*;

#[async_trait]
impl Maintenance for FileSaver {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        let threads = match &pruning.scope {
            Scope::Threads(threads, _) => Scope::distinct(threads),
            Scope::Runs(_) => self.submit(|writer| Ok(writer.threads())).await?,
        };
        let mut removal = Removal {
            bytes: Some(0),
            ..Removal::default()
        };
        let total = threads.len() as u64;
        for (done, thread) in (0..).zip(&threads) {
            let progress = progress.clone();
            let at = move || progress.at(done, total);
            at()?;
            if self.shared.claims().is_live(thread) {
                removal.skipped.push(thread.clone());
                continue;
            }
            let one = self.prune_thread(thread, pruning, at).await?;
            removal.checkpoints += one.checkpoints;
            removal.threads += one.threads;
            removal.branches.extend(one.branches);
            removal.bytes = Some(removal.bytes.unwrap_or(0) + one.bytes.unwrap_or(0));
        }
        Ok(removal)
    }

    async fn usage(&self) -> Result<Usage, StorageError> {
        let folder = self.folder.path().to_path_buf();
        let read = move |shared: &Shared| {
            let store = size_of(&folder.join("store.jsonl"));
            let threads = shared.usage();
            let journals: u64 = threads.iter().map(|thread| thread.bytes).sum();
            Ok(Usage {
                store,
                bytes: store + size_of(&thread_list_cache::path_in(&folder)) + journals,
                threads,
                ..Usage::default()
            })
        };
        self.beside("measuring what threads take", read).await
    }

    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        match self.loaded(thread).await? {
            Some(loaded) => loaded.saver.breakdown(thread).await,
            None => Ok(ThreadBreakdown::default()),
        }
    }

    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        // What was committed before is looked at, too.
        self.submit(|writer| writer.sync()).await?;
        let (watched, folder) = (progress.clone(), self.folder.clone());
        let check = move |shared: &Shared| verify::threads(shared, &folder, &watched);
        let (mut found, damaged) = self.beside("checking threads", check).await?;
        for thread in damaged {
            let again = self.submit(move |writer| writer.read_again(&thread, repair));
            found.repaired |= again.await?;
        }
        let (store, folder) = (self.store.clone(), self.folder.clone());
        let check = self.submit(move |_| {
            let store = match store {
                Some(store) => store,
                // Nobody else has it: the folder has one user.
                None => FileStore::in_folder(folder, FileOptions::default(), StoreConfig::default())?.inner(),
            };
            store.verify(repair)
        });
        let (items, damage) = check.await?;
        found.items = items;
        found.repaired |= repair && !damage.is_empty();
        found.damage.extend(damage);
        Ok(found)
    }
}
