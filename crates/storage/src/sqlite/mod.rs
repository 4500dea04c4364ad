//! Checkpoints in one SQLite file.
//!
//! One connection writes (`writer`, `queue`), a small pool of others reads (`reader`) and, thanks to the write-ahead log,
//! never waits for it. `docs/storage.md` describes the tables and what survives which accident.

mod columns;
mod connections;
mod fault;
mod maintenance;
mod opening;
mod parts;
mod queue;
mod reader;
mod roster;
mod schema;
mod slot;
mod space;
mod step_index;
mod store;
mod threads;
mod usage;
mod verify;
mod waiting;
mod writer;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, ListQuery, Maintenance, PendingWrite, Pruning, StorageError, ThreadQuery, ThreadSummary,
    Waiting, WaitingQuery,
};
use superstep::{CheckpointId, Checkpointer, Name, ThreadId};

use crate::base::Synchronous;
use connections::Connections;
use fault::SqliteFault;
use reader::View;
use writer::{Done, Job, Outcome, claims};

pub(crate) use opening::open;
pub use store::SqliteStore;

/// Heads that are read where they are asked for.
const FEW: usize = 16;

/// Settings for opening a database.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SqliteOptions {
    /// What an acknowledged commit survives.
    pub synchronous: Synchronous,
    /// How long to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// About how many bytes of values that were read or written last are kept in memory.
    pub cache_bytes: u64,
}

impl SqliteOptions {
    /// Sets what an acknowledged commit survives.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long to wait for another process that is writing.
    pub fn busy_timeout(mut self, wait: Duration) -> Self {
        self.busy_timeout = wait;
        self
    }

    /// Sets about how many bytes of values are kept in memory.
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(10),
            cache_bytes: 64 << 20,
        }
    }
}

/// Saver that keeps checkpoints in a SQLite file.
#[derive(Clone)]
pub struct SqliteSaver {
    connections: Arc<Connections>,
}

impl fmt::Debug for SqliteSaver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSaver")
            .field("path", &self.connections.path)
            .finish_non_exhaustive()
    }
}

impl SqliteSaver {
    /// Opens or creates the file, migrating an older schema.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StorageError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// Opens or creates the file with options. One that may not be written is read, and refuses commits.
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StorageError> {
        let path = path.as_ref().to_path_buf();
        let connections = match schema::open(&path, options)? {
            Some(conn) => Connections::new(conn, path, options)?,
            None => Connections::reading(path, options),
        };
        Ok(Self {
            connections: Arc::new(connections),
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.connections.path
    }

    /// Queues a job at once; the future only waits for its outcome. So the order of the calls is the order of the
    /// commits, even when the futures are awaited later and in another order.
    fn submit(&self, job: Job) -> impl Future<Output = Outcome> + Send + 'static {
        let Connections {
            queue, path, options, ..
        } = &*self.connections;
        // A commit that waits for the disk would keep the tasks of its caller's thread waiting too.
        let here = options.synchronous == Synchronous::Normal && job.is_short();
        let submitted = match queue {
            Some(queue) => Ok(queue.submit(job, here, path)),
            None => Err(fault::only_read(path)),
        };
        async move {
            match submitted {
                Ok(outcome) => outcome.await,
                Err(error) => Err(error),
            }
        }
    }

    /// Returns whether the file may only be read.
    pub(crate) fn is_read_only(&self) -> bool {
        self.connections.queue.is_none()
    }

    /// Answers at once what is in memory, and the rest on a thread that may wait for the disk.
    async fn glance<T: Send + 'static>(
        &self,
        what: &'static str,
        operation: impl Fn(&mut View<'_>) -> Result<T, SqliteFault> + Send + 'static,
    ) -> Result<T, StorageError> {
        match self.connections.glance(&operation) {
            Some(found) => found.map_err(|fault| fault.worded(what, &self.connections.path)),
            None => self.read(what, operation).await,
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        what: &'static str,
        operation: impl FnOnce(&mut View<'_>) -> Result<T, SqliteFault> + Send + 'static,
    ) -> Result<T, StorageError> {
        self.apart(what, move |connections| connections.read(operation))
            .await
    }

    /// Works on a thread that may wait for the disk.
    async fn apart<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connections) -> Result<T, SqliteFault> + Send + 'static,
    ) -> Result<T, StorageError> {
        let connections = self.connections.clone();
        let work = move || work(&connections).map_err(|fault| fault.worded(what, &connections.path));
        if tokio::runtime::Handle::try_current().is_err() {
            // Another executor: it has no pool of blocking threads that we know of.
            return work();
        }
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            Err(StorageError::Backend {
                what: what.to_owned(),
                cause: error.to_string(),
                remedy: "Try again".to_owned(),
            })
        })
    }
}

#[async_trait]
impl Coordination for SqliteSaver {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        let threads = threads.to_vec();
        self.glance("reading claims", move |view| {
            let now = claims::now();
            let mut found = HashMap::new();
            for thread in &threads {
                if let Some(row) = claims::read(view.conn, thread)? {
                    found.insert(thread.clone(), row.view(now));
                }
            }
            Ok(found)
        })
        .await
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        let query = query.clone();
        let look = move |view: &mut View<'_>| view.waiting(&query);
        self.read("listing questions that wait", look).await
    }

    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.glance("counting questions that wait", |view| view.count_waiting())
            .await
    }

    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let shown = Some(by.change());
        self.submit(Job::Delete(thread.clone(), shown)).await.map(drop)
    }

    async fn changes(&self) -> Result<Option<u64>, StorageError> {
        // Only the connection that writes here is not notified of what is written here.
        self.connections
            .changes()
            .map_err(|fault| fault.worded("looking for changes", &self.connections.path))
    }
}

#[async_trait]
impl Checkpointer for SqliteSaver {
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
        let done = self.submit(Job::Commits(vec![commit]));
        Box::pin(async move { done.await.map(drop) })
    }

    async fn commit_all(&self, commits: Vec<Commit>) -> Result<(), StorageError> {
        self.submit(Job::Commits(commits)).await.map(drop)
    }

    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        let (thread, ns, id) = (thread.clone(), ns.to_owned(), id.cloned());
        self.glance("reading a checkpoint", move |view| {
            view.get(&thread, &ns, id.as_ref())
        })
        .await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        let query = query.clone();
        self.read("reading checkpoints", move |view| view.list(&query))
            .await
    }

    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        let query = query.clone();
        let few = query.id.is_some() || (query.filter.len() == 1 && query.filter.get("step").is_some());
        if few || (query.limit.is_some_and(|limit| limit <= FEW) && query.filter.is_empty()) {
            return self
                .glance("reading the history", move |view| view.heads(&query))
                .await;
        }
        self.read("reading the history", move |view| view.heads(&query))
            .await
    }

    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        let query = query.clone();
        self.read("reading the list of threads", move |view| view.threads(&query))
            .await
    }

    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        let (thread, ns, id, keys) = (thread.clone(), ns.to_owned(), id.cloned(), keys.to_vec());
        self.glance("reading values", move |view| {
            view.values(&thread, &ns, id.as_ref(), &keys)
        })
        .await
    }

    async fn heads_with(
        &self,
        query: &ListQuery,
        keys: &[Name],
    ) -> Result<Vec<(CheckpointHead, ChannelValues)>, StorageError> {
        let (query, keys) = (query.clone(), keys.to_vec());
        self.read("reading values", move |view| view.heads_with(&query, &keys))
            .await
    }

    async fn thread(&self, thread: &ThreadId) -> Result<Option<ThreadSummary>, StorageError> {
        let thread = thread.clone();
        self.read("reading a thread", move |view| view.thread(&thread))
            .await
    }

    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let query = query.clone();
        self.read("counting threads", move |view| view.count_threads(&query))
            .await
    }

    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        let of = of.to_vec();
        let look = move |view: &mut View<'_>| of.iter().map(|address| view.writes(address)).collect();
        self.glance("reading what tasks wrote", look).await
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }

    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }

    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.submit(Job::Delete(thread.clone(), None)).await.map(drop)
    }

    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.submit(Job::Copy(from.clone(), to.clone())).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use rusqlite::Connection;
    use superstep::json;
    use superstep_suites::{Draft, id};

    use super::*;

    /// Creates a saver whose file may not grow beyond this many pages: SQLite then reports the same as on a full disk.
    fn small(path: &Path, pages: i64) -> SqliteSaver {
        let saver = SqliteSaver::open(path).expect("a new database");
        let options = saver.connections.options;
        drop(saver);
        let conn = schema::open(path, options)
            .expect("opens")
            .expect("may be written");
        conn.pragma_update(None, "max_page_count", pages)
            .expect("can be limited");
        let connections = Connections::new(conn, path.to_path_buf(), options).expect("there is memory");
        SqliteSaver {
            connections: Arc::new(connections),
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_full_disk_loses_nothing_that_was_acknowledged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let saver = small(&folder.path().join("small.db"), 60);
        let mut last = Draft::root(id(1))
            .set("log", json!([]))
            .store(&saver, "t", "")
            .await
            .expect("stores");
        let began = Instant::now();
        let error = loop {
            let n = (last.metadata.step + 3).unsigned_abs();
            match Draft::after(&last, id(n))
                .append("log", vec!["x".repeat(2000).into()])
                .store(&saver, "t", "")
                .await
            {
                Ok(stored) => last = stored,
                Err(error) => break error.to_string(),
            }
            assert!(began.elapsed() < Duration::from_secs(20), "the file never filled");
        };
        assert!(error.contains("Free some disk space"), "{error}");
        let newest = saver
            .get(&"t".into(), "", None)
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(newest.checkpoint, last, "the last acknowledged checkpoint");
        // A commit that fits, queued together with one that does not, is not lost with it.
        let big = Draft::after(&last, id(5000))
            .set("big", "x".repeat(400_000))
            .put();
        let fits = Draft::root(id(1)).put();
        saver.delete_thread(&"nobody".into()).await.expect("works");
        let commit = |thread: &str, put| Commit {
            claim: None,
            thread: thread.into(),
            ns: "".into(),
            writes: vec![],
            put: Some(put),
        };
        let (big, fits) = tokio::join!(saver.commit(commit("t", big)), saver.commit(commit("u", fits)));
        assert!(big.is_err());
        assert!(fits.is_ok() || fits.is_err_and(|e| e.to_string().contains("Free some disk space")));
        saver.delete_thread(&"t".into()).await.expect("room is made");
        Draft::root(id(1))
            .set("x", "again")
            .store(&saver, "v", "")
            .await
            .expect("there is room again");
    }

    #[tokio::test]
    async fn a_pruned_thread_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("prune.db");
        let saver = SqliteSaver::open(&path).expect("a new database");
        let mut last = Draft::root(id(1))
            .set("x", "old")
            .set("log", json!([]))
            .meta("run_id", "first")
            .store(&saver, "t", "")
            .await
            .expect("stores");
        for n in 2..150 {
            let long = json!([n / 7, "words ".repeat(200 + (n / 5) as usize)]);
            let draft = Draft::after(&last, id(n)).append("log", vec![json!(n), long]);
            let draft = if n == 100 { draft.set("x", "new") } else { draft };
            let draft = if n == 120 {
                draft.meta("run_id", "second")
            } else {
                draft
            };
            last = draft.store(&saver, "t", "").await.expect("stores");
        }
        let count = |sql: &str| -> i64 {
            let conn = Connection::open(&path).expect("opens");
            conn.query_row(sql, [], |row| row.get(0)).expect("counts")
        };
        // Thirty texts, each with five of the messages.
        assert!((30..40).contains(&count("SELECT count(*) FROM parts")));
        let before = count("SELECT count(*) FROM items");
        let latest = Pruning::threads(["t".into()], superstep::checkpoint::Keep::Latest);
        let dry = saver.prune(&latest.clone().dry_run()).await.expect("looks");
        assert_eq!(count("SELECT count(*) FROM items"), before);
        let went = saver.prune(&latest).await.expect("prunes");
        assert_eq!(dry, went);
        assert!(went.bytes.is_some_and(|bytes| bytes > 10_000), "{went:?}");
        let got = saver
            .get(&"t".into(), "", None)
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(got.checkpoint, last);
        assert_eq!(count("SELECT count(*) FROM checkpoints"), 1);
        assert_eq!(
            count("SELECT count(*) FROM metas"),
            1,
            "the first run's metadata is gone"
        );
        let chain = "WITH RECURSIVE chain (id) AS (SELECT max(id) FROM items UNION SELECT i.base FROM items i \
                     JOIN chain c ON i.id = c.id WHERE i.base IS NOT NULL) SELECT count(*) FROM chain";
        let kept = count("SELECT count(*) FROM items");
        assert_eq!(kept, count(chain), "the rows of the list");
        assert!(kept < before, "{kept} of {before}");
        saver
            .prune(&Pruning::runs(["second".into()]))
            .await
            .expect("deletes");
        for table in [
            "items",
            "metas",
            "checkpoints",
            "writes",
            "spaces",
            "threads",
            "parts",
            "shares",
        ] {
            assert_eq!(count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
        }
    }
}
