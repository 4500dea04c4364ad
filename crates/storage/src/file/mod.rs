//! Checkpoints in a folder: a journal of readable lines for each thread.
//!
//! One process has the folder, one thread of it writes (`writer`), and a thread that was asked for is in memory, where
//! readers find it without waiting for the writer. `docs/storage.md` describes the files and what survives which
//! accident.

mod folder;
mod journal;
mod line;
mod maintenance;
mod opening;
mod rewrite;
mod shared;
mod store;
mod thread_list_cache;
mod verify;
mod writer;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, ListQuery, Maintenance, PendingWrite, Pruning, Removal, Scope, StorageError, ThreadQuery,
    ThreadSummary, Waiting, WaitingQuery,
};
use superstep::store::StoreConfig;
use superstep::{CheckpointId, Checkpointer, Name, ThreadId};
use tokio::sync::oneshot;

use crate::base::Synchronous;
use crate::base::blocking;
use crate::base::quarantine::passed_over;
use folder::Folder;
use journal::Loaded;
pub(crate) use opening::open;
use rewrite::Pruned;
use shared::{Residence, Shared, size_of};
pub use store::FileStore;
use writer::{Job, Writer};

const READING: &str = "reading a thread";
const LISTING: &str = "listing threads";
const ASKED: &str = "listing questions that wait";
const PRUNING: &str = "pruning a thread";
const COPYING: &str = "copying a thread";

/// Settings for opening a folder.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FileOptions {
    /// What an acknowledged commit survives.
    pub synchronous: Synchronous,
}

impl FileOptions {
    /// Sets what an acknowledged commit survives.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }
}

/// Saver that keeps checkpoints in a folder, one file for each thread.
pub struct FileSaver {
    folder: Arc<Folder>,
    shared: Arc<Shared>,
    /// The long-term memory in the same folder, when it was opened with it.
    store: Option<Arc<store::Inner>>,
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

impl fmt::Debug for FileSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSaver")
            .field("folder", &self.folder.path())
            .finish_non_exhaustive()
    }
}

impl FileSaver {
    /// Opens or makes the folder; it is ours until this is dropped.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        Self::open_with(path, FileOptions::default())
    }

    /// Opens or makes the folder with options.
    pub fn open_with(path: impl AsRef<Path>, options: FileOptions) -> Result<Self, StorageError> {
        let folder = Arc::new(Folder::open(path.as_ref())?);
        Self::in_folder(folder, options, None)
    }

    /// Opens threads and long-term memory in one folder.
    pub fn open_with_store(
        path: impl AsRef<Path>,
        options: FileOptions,
        config: StoreConfig,
    ) -> Result<(Self, FileStore), StorageError> {
        let folder = Arc::new(Folder::open(path.as_ref())?);
        let store = FileStore::in_folder(folder.clone(), options, config)?;
        Ok((Self::in_folder(folder, options, Some(store.inner()))?, store))
    }

    fn in_folder(
        folder: Arc<Folder>,
        options: FileOptions,
        store: Option<Arc<store::Inner>>,
    ) -> Result<Self, StorageError> {
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(folder.clone(), options.synchronous, shared.clone())?;
        let (jobs, queue) = mpsc::channel();
        let writer = std::thread::Builder::new()
            .name("superstep-files".to_owned())
            .spawn(move || writer.run(&queue))
            .map_err(|error| StorageError::Backend {
                what: format!("starting the writer of {}", folder.path().display()),
                cause: error.to_string(),
                remedy: "Close other programs and try again".to_owned(),
            })?;
        Ok(Self {
            folder,
            shared,
            store,
            jobs: Some(jobs),
            writer: Some(writer),
        })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Hands a job to the writer at once; the future only waits for its outcome. So the order of the calls is the
    /// order of the commits, even when the futures are awaited later and in another order.
    fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writer) -> Result<T, StorageError> + Send + 'static,
    ) -> impl Future<Output = Result<T, StorageError>> + Send + 'static {
        let (answer, outcome) = oneshot::channel();
        let job: Job = Box::new(move |writer| {
            let done = work(writer);
            Box::new(move |unsafe_disk| {
                let done = match unsafe_disk {
                    Some(error) => done.and_then(|_| Err(error.clone())),
                    None => done,
                };
                // A caller that stopped waiting does not want to know.
                let _ = answer.send(done);
            })
        });
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        let path = self.folder.path().to_path_buf();
        async move {
            let gone = || StorageError::Backend {
                what: format!("working in {}", path.display()),
                cause: "its writer has stopped".to_owned(),
                remedy: "Open the folder again; what was acknowledged is stored".to_owned(),
            };
            if !sent {
                return Err(gone());
            }
            outcome.await.unwrap_or_else(|_| Err(gone()))
        }
    }

    async fn loaded(&self, thread: &ThreadId) -> Result<Option<Arc<Loaded>>, StorageError> {
        match self.shared.thread(thread) {
            Residence::Nothing => Ok(None),
            Residence::Loaded(loaded) => Ok(Some(loaded)),
            Residence::Unread => {
                let wanted = thread.clone();
                let found = self.beside(READING, move |shared| shared.bring(&wanted)).await?;
                Ok(found.map(|(loaded, to_be_taken)| {
                    if to_be_taken {
                        let thread = thread.clone();
                        // Nobody waits for that.
                        drop(self.submit(move |writer| {
                            writer.take_over(&thread);
                            Ok(())
                        }));
                    }
                    loaded
                }))
            }
        }
    }

    /// Runs `work` on a thread that may wait for the disk, not on the writer's thread.
    async fn beside<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Shared) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let shared = self.shared.clone();
        blocking(what, move || work(&shared)).await
    }

    /// Prunes a thread: it is looked at after what was committed before, worked out while everybody goes on, and the
    /// writer only puts the new journal in place.
    async fn prune_thread(
        &self,
        thread: &ThreadId,
        pruning: &Pruning,
        at: impl Fn() -> Result<(), StorageError> + Clone + Send + 'static,
    ) -> Result<Removal, StorageError> {
        loop {
            // Read here, so that the writer does not have to; what is wrong with it is reported by the next.
            let _ = self.loaded(thread).await;
            let asked = thread.clone();
            let Some(begun) = self.submit(move |writer| writer.begin(&asked)).await? else {
                return Ok(Removal::default());
            };
            let (file, pruning, at) = (begun.file, pruning.clone(), at.clone());
            let pruned = blocking(PRUNING, move || begun.prune(&pruning, &at)).await;
            match pruned {
                Err(StorageError::Stopped) => return Err(StorageError::Stopped),
                // Its file was replaced or removed under its hands.
                Err(_) if self.is_replaced(thread, file).await? => {}
                Err(error) => return Err(error),
                Ok(None) => return Ok(Removal::default()),
                Ok(Some(Pruned {
                    removal,
                    rewrite: None,
                })) => return Ok(removal),
                Ok(Some(Pruned {
                    removal,
                    rewrite: Some(rewrite),
                })) => {
                    if self.submit(move |writer| writer.put_in_place(rewrite)).await? {
                        return Ok(removal);
                    }
                }
            }
        }
    }

    /// Returns whether the thread now has another file, or none. The writer is asked, because it may be about to change
    /// that.
    async fn is_replaced(&self, thread: &ThreadId, file: Option<u64>) -> Result<bool, StorageError> {
        let thread = thread.clone();
        let now = self.submit(move |writer| Ok(writer.file_of(&thread))).await?;
        Ok(now != file)
    }

    /// Returns what `read` finds in the threads that a query is about, newest first.
    async fn select<T, F: Future<Output = Result<Vec<T>, StorageError>>>(
        &self,
        query: &ListQuery,
        read: impl Fn(Arc<Loaded>) -> F,
        id: impl Fn(&T) -> &CheckpointId,
    ) -> Result<Vec<T>, StorageError> {
        let threads = match &query.thread {
            Some(thread) => vec![thread.clone()],
            None => self.shared.threads(),
        };
        let mut found = Vec::new();
        for thread in &threads {
            let loaded = match self.loaded(thread).await {
                Ok(Some(loaded)) => loaded,
                Ok(None) => continue,
                // One thread that cannot be read does not hide the others.
                Err(error) if query.thread.is_none() => {
                    passed_over(thread, &error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let some = read(loaded.clone()).await?;
            match loaded.sound(thread) {
                Err(error) if query.thread.is_none() => passed_over(thread, &error),
                // Anyone who names a checkpoint does not ask for what is lost.
                Err(error) if query.id.is_none() || some.is_empty() => return Err(error),
                _ => {}
            }
            found.extend(some);
        }
        if threads.len() > 1 {
            // Stable: equal ids of copied threads stay in the order of the threads.
            found.sort_by(|a, b| id(b).cmp(id(a)));
        }
        found.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(found)
    }
}

impl Drop for FileSaver {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!(folder = %self.folder.path().display(), "the writer ended in a panic");
        }
    }
}

#[async_trait]
impl Coordination for FileSaver {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        Ok(self.shared.claims().views(threads))
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let query = query.clone();
        self.beside(ASKED, move |shared| Ok(shared.waiting(&query))).await
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.beside(ASKED, |shared| Ok(shared.count_waiting())).await
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let (thread, shown) = (thread.clone(), by.change());
        self.submit(move |writer| {
            writer.compare(&thread, &shown)?;
            writer.delete(&thread)
        })
        .await
    }
}

#[async_trait]
impl Checkpointer for FileSaver {
    // Written out rather than `async fn`, because the job must be queued when this is called and not when the
    // future is first polled.
    fn commit<'life0, 'async_trait>(
        &'life0 self,
        commit: Commit,
    ) -> BoxFuture<'async_trait, Result<(), StorageError>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.submit(move |writer| writer.commits(vec![commit])))
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        self.submit(move |writer| writer.commits(commits)).await
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let Some(loaded) = self.loaded(thread).await? else {
            return Ok(None);
        };
        let found = loaded.saver.get(thread, ns, id).await?;
        if id.is_none() || found.is_none() {
            loaded.sound(thread)?;
        }
        Ok(found)
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let read = async |loaded: Arc<Loaded>| loaded.saver.list(query).await;
        self.select(query, read, |tuple| &tuple.checkpoint.id).await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let read = async |loaded: Arc<Loaded>| loaded.saver.heads(query).await;
        self.select(query, read, |head| &head.id).await
    }

    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let Some(loaded) = self.loaded(thread).await? else {
            return Ok(None);
        };
        let found = loaded.saver.values(thread, ns, id, keys).await?;
        if id.is_none() || found.is_none() {
            loaded.sound(thread)?;
        }
        Ok(found)
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let query = query.clone();
        self.beside(LISTING, move |shared| Ok(shared.list(&query))).await
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        let thread = thread.clone();
        self.beside(LISTING, move |shared| shared.summary(&thread)).await
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let query = query.clone();
        self.beside(LISTING, move |shared| Ok(shared.count(&query))).await
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let mut all = Vec::with_capacity(of.len());
        for address in of {
            let CheckpointAddress { thread, ns, id } = address;
            let Some(loaded) = self.loaded(thread).await? else {
                all.push(Vec::new());
                continue;
            };
            let found = loaded.saver.writes(std::slice::from_ref(address)).await?;
            let found = found.concat();
            if found.is_empty() && loaded.read(thread, ns, id).is_none() {
                loaded.sound(thread)?;
            }
            all.push(found);
        }
        Ok(all)
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let thread = thread.clone();
        self.submit(move |writer| writer.delete(&thread)).await
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        loop {
            let _ = self.loaded(from).await;
            let (source, target) = (from.clone(), to.clone());
            let begun = self.submit(move |writer| writer.begin_copy(&source, &target));
            let Some((source, target)) = begun.await? else {
                return Ok(());
            };
            let files = (source.file, target.file);
            let copied = blocking(COPYING, move || target.with_copy_of(&source)).await;
            // A file was replaced or removed under its hands: what was read of it may be of two different ones.
            if self.is_replaced(from, files.0).await? {
                continue;
            }
            match copied {
                Err(_) if self.is_replaced(to, files.1).await? => {}
                Err(error) => return Err(error),
                Ok(rewrite) => {
                    if self.submit(move |writer| writer.put_in_place(rewrite)).await? {
                        return Ok(());
                    }
                }
            }
        }
    }
}
