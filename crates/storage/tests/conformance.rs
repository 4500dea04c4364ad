//! Every backend passes the engine's suite: memory, SQLite, and SQLite closed and opened again before each read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Integrity, ListQuery, Maintenance, PendingWrite, Progress, Pruning, Removal, StorageError,
    ThreadBreakdown, ThreadQuery, ThreadSummary, Usage, Waiting, WaitingQuery,
};
use superstep::store::StoreConfig;
use superstep::{CheckpointId, Checkpointer, MemorySaver, Name, ThreadId};
use superstep_storage::{SqliteOptions, SqliteSaver, Synchronous};

fn accepted(backend: &str, report: &superstep_suites::Report) {
    println!("{backend}\n{report}");
    assert!(report.is_ok(), "{backend} does not pass:\n{report}");
    assert!(
        report.passed.len() > 70,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory() {
    let make = async || Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted("memory", &report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims() {
    let accepted = |backend: &str, report: superstep_suites::Report| {
        assert!(report.is_ok(), "{backend} does not pass:\n{report}");
        assert!(report.passed.len() > 20, "the suite has shrunk:\n{report}");
    };
    let memory = async || Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>;
    accepted("memory", superstep_suites::run_claims(memory).await);
    let files = Files::new();
    let sqlite =
        async || Arc::new(SqliteSaver::open(files.path()).expect("a new database")) as Arc<dyn Checkpointer>;
    accepted("sqlite", superstep_suites::run_claims(sqlite).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes() {
    let files = Files::new();
    let report = superstep_suites::run_two_programs(async || {
        let path = files.path();
        [(); 2].map(|()| {
            let saver = SqliteSaver::open(&path).expect("the database opens");
            let store = Arc::new(saver.store(StoreConfig::default()));
            superstep_suites::Program {
                saver: Arc::new(saver),
                store,
            }
        })
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 5, "the suite has shrunk: {report}");
}

/// Gives each case a file of its own.
struct Files {
    folder: tempfile::TempDir,
    next: std::sync::atomic::AtomicUsize,
}

impl Files {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            next: Default::default(),
        }
    }

    fn path(&self) -> PathBuf {
        let n = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.folder.path().join(format!("{n}.db"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    let files = Files::new();
    let make =
        async || Arc::new(SqliteSaver::open(files.path()).expect("a new database")) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted("sqlite", &report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_opened_again_before_each_read() {
    let files = Files::new();
    let make = async || Arc::new(Reopening::new(files.path())) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted("sqlite, opened again", &report);
}

/// Forgets everything between a write and a read, and now and then between two writes.
#[derive(Debug)]
struct Reopening {
    path: PathBuf,
    saver: tokio::sync::Mutex<(SqliteSaver, usize)>,
}

impl Reopening {
    fn new(path: PathBuf) -> Self {
        let saver = tokio::sync::Mutex::new((Self::open(&path), 0));
        Self { path, saver }
    }

    fn open(path: &std::path::Path) -> SqliteSaver {
        let options = SqliteOptions::default().synchronous(Synchronous::Full);
        SqliteSaver::open_with(path, options).expect("the database opens again")
    }

    async fn fresh(&self) -> tokio::sync::MutexGuard<'_, (SqliteSaver, usize)> {
        let mut guard = self.saver.lock().await;
        // A reader that has seen no write in between may go on with what it has.
        if guard.1 > 0 {
            *guard = (Self::open(&self.path), 0);
        }
        guard
    }
}

#[async_trait]
impl Checkpointer for Reopening {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        if guard.1 % 13 == 0 {
            *guard = (Self::open(&self.path), 1);
        }
        guard.0.commit(commit).await
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.fresh().await.0.get(thread, ns, id).await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.fresh().await.0.list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.fresh().await.0.heads(query).await
    }
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.fresh().await.0.threads(query).await
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        guard.0.delete_thread(thread).await
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        guard.0.copy_thread(from, to).await
    }
    async fn values(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
        keys: &[Name],
    ) -> Result<Option<ChannelValues>, StorageError> {
        self.fresh().await.0.values(thread, ns, id, keys).await
    }
    async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        self.fresh().await.0.count_threads(query).await
    }
    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        self.fresh().await.0.writes(of).await
    }
    fn coordination(&self) -> Option<&dyn Coordination> {
        Some(self)
    }
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[async_trait]
impl Coordination for Reopening {
    async fn claims(&self, threads: &[ThreadId]) -> Result<HashMap<ThreadId, ClaimView>, StorageError> {
        self.fresh().await.0.claims(threads).await
    }
    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        self.fresh().await.0.waiting(query).await
    }
    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.fresh().await.0.count_waiting().await
    }
    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        guard.0.delete_claimed(thread, by).await
    }
}

#[async_trait]
impl Maintenance for Reopening {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        guard.0.prune_watched(pruning, progress).await
    }
    async fn usage(&self) -> Result<Usage, StorageError> {
        self.fresh().await.0.usage().await
    }
    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        self.fresh().await.0.breakdown(thread).await
    }
    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        let mut guard = self.saver.lock().await;
        guard.1 += 1;
        guard.0.verify_watched(repair, progress).await
    }
}
