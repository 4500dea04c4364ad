//! Every backend passes the engine's suite: memory, SQLite, and SQLite closed and opened again before each read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use superstep::checkpoint::{
    ChannelValues, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Integrity, Keep, ListQuery, Maintenance, PendingWrite, Progress, Pruning, Removal,
    StorageError, ThreadBreakdown, ThreadQuery, ThreadSummary, Usage, Waiting, WaitingQuery,
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

/// What one program keeps of the list in memory is what a program that has just opened the file reads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_follow_what_another_program_stores_and_removes() {
    let files = Files::new();
    let path = files.path();
    let open = || SqliteSaver::open(&path).expect("the database opens");
    let savers = [open(), open()];
    let (mut seed, mut longest) = (7_u64, 0);
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    for round in 0..250 {
        let saver = &savers[random(2) as usize];
        let thread = format!("t{}", random(12));
        match random(8) {
            0 => saver
                .delete_thread(&thread.as_str().into())
                .await
                .expect("deletes"),
            1 => {
                let copy = format!("t{}", random(12));
                let copied = saver
                    .copy_thread(&thread.as_str().into(), &copy.as_str().into())
                    .await;
                copied.expect("copies");
            }
            2 => {
                let pruning = Pruning::threads([thread.as_str().into()], Keep::Latest);
                saver.prune(&pruning).await.expect("prunes");
            }
            kind => {
                // Some ids are no UUIDs, and some come again in other threads.
                let number = random(40);
                let id = match kind {
                    3 => CheckpointId::new(format!("own {number:02}")),
                    _ => superstep_suites::id(number),
                };
                let ns = if kind == 4 { "nested" } else { "" };
                let stored = superstep_suites::Draft::root(id)
                    .meta("even", number % 2 == 0)
                    .store(saver, &thread, ns)
                    .await;
                stored.expect("stores");
            }
        }
        let fresh = open();
        let even = superstep::value::Object::from_iter([("even", superstep::Value::from(true))]);
        for query in [ThreadQuery::new(), ThreadQuery::new().filter(even)] {
            let expected = fresh.threads(&query).await.expect("lists");
            longest = longest.max(expected.len());
            for saver in &savers {
                let found = saver.threads(&query).await.expect("lists");
                assert_eq!(found, expected, "round {round}");
                let count = saver.count_threads(&query).await.expect("counts");
                assert_eq!(count, expected.len() as u64, "round {round}");
            }
            let heads: Vec<_> = expected.iter().map(|thread| &thread.head.id).collect();
            let is_text = |id: &CheckpointId| !id.as_str().starts_with('0');
            assert!(
                heads.is_sorted_by(|a, b| (is_text(b), *a) >= (is_text(a), *b)),
                "{heads:?}"
            );
        }
    }
    assert!(longest > 8, "the test has too few threads: {longest}");
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
