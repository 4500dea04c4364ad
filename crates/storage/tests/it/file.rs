//! The file backend: the engine's suite, also closed and opened again before each read, and what only files can do
//! wrong.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, CheckpointHead, CheckpointTuple, ClaimRequest, ClaimView, Commit,
    Coordination, Integrity, Keep, ListQuery, Maintenance, PendingWrite, Progress, Pruning, Removal,
    StorageError, TaskId, TaskWrites, ThreadBreakdown, ThreadQuery, ThreadSummary, Usage, Waiting,
    WaitingQuery, Write,
};
use superstep::store::{StoreAnswer, StoreConfig, StoreError, StoreOp, StoreQuery};
use superstep::{CheckpointId, Checkpointer, Store, ThreadId, json};
use superstep_storage::retention::{Exempt, Retention, retain};
use superstep_storage::{FileOptions, FileSaver, FileStore, Synchronous};
use superstep_suites::{Draft, id};

fn accepted(report: &superstep_suites::Report) {
    println!("{report}");
    assert!(report.is_ok(), "{report}");
    assert!(
        report.passed.len() > 50,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

/// Gives each case a folder of its own.
struct Folders {
    parent: tempfile::TempDir,
    next: AtomicUsize,
}

impl Folders {
    fn new() -> Self {
        Self {
            parent: tempfile::tempdir().expect("a temporary folder"),
            next: AtomicUsize::new(0),
        }
    }

    fn path(&self) -> PathBuf {
        self.parent
            .path()
            .join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite() {
    let folders = Folders::new();
    let make = async || {
        let options = FileOptions::default().synchronous(Synchronous::Full);
        Arc::new(FileSaver::open_with(folders.path(), options).expect("a new folder"))
            as Arc<dyn Checkpointer>
    };
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted(&report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims() {
    let folders = Folders::new();
    let report = superstep_suites::run_claims(async || {
        Arc::new(FileSaver::open(folders.path()).expect("a new folder")) as Arc<dyn Checkpointer>
    });
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 20, "the suite has shrunk: {report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_opened_again_before_each_read() {
    let folders = Folders::new();
    let make = async || Arc::new(Reopening::new(folders.path())) as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    accepted(&report);
}

/// Forgets everything between a write and a read.
#[derive(Debug)]
struct Reopening {
    path: PathBuf,
    saver: tokio::sync::Mutex<(Option<FileSaver>, bool)>,
}

impl Reopening {
    fn new(path: PathBuf) -> Self {
        let saver = tokio::sync::Mutex::new((None, false));
        Self { path, saver }
    }

    async fn with<T>(&self, writes: bool, work: impl AsyncFnOnce(&FileSaver) -> T) -> T {
        let mut guard = self.saver.lock().await;
        if guard.0.is_none() || (guard.1 && !writes) {
            // A folder has one user at a time, so the old one goes first.
            guard.0 = None;
            *guard = (
                Some(FileSaver::open(&self.path).expect("the folder opens again")),
                false,
            );
        }
        guard.1 |= writes;
        let (saver, _) = &*guard;
        work(saver.as_ref().expect("opened above")).await
    }
}

#[async_trait]
impl Checkpointer for Reopening {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        self.with(true, async |saver| saver.commit(commit).await).await
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.with(false, async |saver| saver.get(thread, ns, id).await)
            .await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.with(false, async |saver| saver.list(query).await).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.with(false, async |saver| saver.heads(query).await).await
    }
    async fn threads(&self, query: &ThreadQuery) -> Result<Vec<ThreadSummary>, StorageError> {
        self.with(false, async |saver| saver.threads(query).await).await
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.with(true, async |saver| saver.delete_thread(thread).await)
            .await
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.with(true, async |saver| saver.copy_thread(from, to).await)
            .await
    }
    async fn writes(&self, of: &[CheckpointAddress]) -> Result<Vec<Vec<PendingWrite>>, StorageError> {
        self.with(false, async |saver| saver.writes(of).await).await
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
        self.with(false, async |saver| saver.claims(threads).await).await
    }
    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Waiting>, StorageError> {
        self.with(false, async |saver| saver.waiting(query).await).await
    }
    async fn count_waiting(&self) -> Result<u64, StorageError> {
        self.with(false, async |saver| saver.count_waiting().await).await
    }
    async fn delete_claimed(&self, thread: &ThreadId, by: &ClaimRequest) -> Result<(), StorageError> {
        self.with(true, async |saver| saver.delete_claimed(thread, by).await)
            .await
    }
}

#[async_trait]
impl Maintenance for Reopening {
    async fn prune_watched(&self, pruning: &Pruning, progress: &Progress) -> Result<Removal, StorageError> {
        self.with(true, async |saver| saver.prune_watched(pruning, progress).await)
            .await
    }
    async fn usage(&self) -> Result<Usage, StorageError> {
        self.with(false, async |saver| saver.usage().await).await
    }
    async fn breakdown(&self, thread: &ThreadId) -> Result<ThreadBreakdown, StorageError> {
        self.with(false, async |saver| saver.breakdown(thread).await)
            .await
    }
    async fn verify_watched(&self, repair: bool, progress: &Progress) -> Result<Integrity, StorageError> {
        self.with(true, async |saver| saver.verify_watched(repair, progress).await)
            .await
    }
}

/// A thread of this many checkpoints with a growing list, the next checkpoint of each after the one before.
async fn grown(saver: &dyn Checkpointer, thread: &str, count: u64) -> Vec<Checkpoint> {
    let root = Draft::root(id(1))
        .set("log", json!([]))
        .store(saver, thread, "")
        .await;
    let mut made = vec![root.expect("stores")];
    for n in 2..=count {
        let draft = Draft::after(&made[made.len() - 1], id(n))
            .append("log", vec![json!(n)])
            .set("n", n);
        made.push(draft.store(saver, thread, "").await.expect("stores"));
    }
    made
}

async fn newest(saver: &dyn Checkpointer, thread: &str) -> Result<Option<Checkpoint>, StorageError> {
    let found = saver.get(&thread.into(), "", None).await?;
    Ok(found.map(|tuple| tuple.checkpoint))
}

fn journal(folder: &Path, thread: &str) -> PathBuf {
    folder.join("threads").join(format!("{thread}.jsonl"))
}

#[tokio::test]
async fn a_torn_line_is_cut_off_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = FileSaver::open(folder.path()).expect("opens");
    let made = grown(&saver, "t", 5).await;
    drop(saver);
    let whole = fs::read(journal(folder.path(), "t")).expect("a journal");
    let last = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("lines")
        + 1;
    for cut in (last..whole.len()).step_by(13) {
        fs::write(journal(folder.path(), "t"), &whole[..cut]).expect("writable");
        let saver = FileSaver::open(folder.path()).expect("opens");
        assert_eq!(
            newest(&saver, "t").await.expect("readable"),
            Some(made[3].clone()),
            "cut at {cut}"
        );
        let again = Draft::after(&made[3], id(9))
            .set("n", "again")
            .store(&saver, "t", "")
            .await
            .expect("stores");
        drop(saver);
        let saver = FileSaver::open(folder.path()).expect("opens");
        assert_eq!(
            newest(&saver, "t").await.expect("readable"),
            Some(again),
            "cut at {cut}"
        );
        assert!(
            saver.verify(false).await.expect("checks").is_sound(),
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn damage_is_named_and_repaired_and_costs_little() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = FileSaver::open(folder.path()).expect("opens");
    let made = grown(&saver, "t", 400).await;
    let other = grown(&saver, "other", 3).await;
    drop(saver);
    let path = journal(folder.path(), "t");
    let mut bytes = fs::read(&path).expect("a journal");
    let at = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .nth(20)
        .expect("lines")
        .0
        + 40;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).expect("writable");
    let saver = FileSaver::open(folder.path()).expect("opens");
    let error = newest(&saver, "t")
        .await
        .expect_err("the newest may be lost")
        .to_string();
    assert!(
        error.contains("Thread t") && error.contains("line 22") && error.contains("checksum"),
        "{error}"
    );
    let after = Draft::after(&made[399], id(999)).store(&saver, "t", "").await;
    assert!(
        after.is_err(),
        "a damaged thread does not go on as if nothing were"
    );
    let early = saver
        .get(&"t".into(), "", Some(&made[5].id))
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(early.checkpoint, made[5]);
    assert_eq!(
        newest(&saver, "other").await.expect("readable").as_ref(),
        other.last()
    );
    let found = saver.verify(false).await.expect("checks");
    assert!(
        !found.is_sound() && !found.repaired && found.threads == 2,
        "{found:?}"
    );
    assert!(
        found
            .damage
            .iter()
            .all(|damage| damage.thread == Some("t".into()) && damage.repair.is_some())
    );
    let repaired = saver.verify(true).await.expect("repairs");
    assert!(repaired.repaired, "{repaired:?}");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    // Checkpoints that were written whole stand by themselves: what follows the next of them is not lost.
    let left = saver
        .heads(&ListQuery::new().thread("t"))
        .await
        .expect("readable");
    assert!(left.len() > 200, "{} of 400 are left", left.len());
    let newest = newest(&saver, "t").await.expect("readable").expect("there");
    assert_eq!(newest, made[399]);
    let next = Draft::after(&newest, id(1000))
        .set("n", 0)
        .store(&saver, "t", "")
        .await;
    next.expect("the thread goes on");
    let copies = fs::read_dir(folder.path().join("threads")).expect("a folder");
    let copies = copies.filter(|entry| {
        entry
            .as_ref()
            .is_ok_and(|e| e.file_name().to_string_lossy().contains("damaged"))
    });
    assert_eq!(copies.count(), 1, "what was damaged is kept");
}

#[tokio::test]
async fn lists_go_on_beside_a_damaged_thread() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = FileSaver::open(folder.path()).expect("opens");
    let made = grown(&saver, "t", 20).await;
    grown(&saver, "other", 3).await;
    grown(&saver, &"long ".repeat(100), 3).await;
    drop(saver);
    // The newest of one thread is damaged, another is no file at all, and of the third nobody can say whose it is.
    let path = journal(folder.path(), "t");
    let mut bytes = fs::read(&path).expect("a journal");
    bytes.remove(bytes.len() - 40);
    fs::write(&path, &bytes).expect("writable");
    fs::create_dir(journal(folder.path(), "folder")).expect("writable");
    let files = fs::read_dir(folder.path().join("threads")).expect("a folder");
    let long = files
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().contains('~'))
        .expect("a name that was cut");
    let text = fs::read_to_string(&long).expect("a journal");
    fs::write(&long, text.replacen("journal", "jouRnal", 1)).expect("writable");
    // What is remembered of the damaged one has another length, so that the second time it is read again too.
    for _ in 0..2 {
        let saver = FileSaver::open(folder.path()).expect("opens");
        let listed = saver.threads(&ThreadQuery::default()).await.expect("lists");
        let names: Vec<&str> = listed.iter().map(|found| found.thread.as_str()).collect();
        assert_eq!(names, ["t", "other"]);
        assert_eq!(listed[0].head.id, made[18].id, "what can be read of it");
        let counted = saver.count_threads(&ThreadQuery::default()).await;
        assert_eq!(counted.expect("counts"), 2);
        let heads = saver.heads(&ListQuery::default()).await.expect("lists");
        assert_eq!(heads.len(), 19 + 3);
        let tuples = saver.list(&ListQuery::default()).await.expect("lists");
        assert_eq!(tuples.len(), 19 + 3);
        let usage = saver.usage().await.expect("measures");
        assert_eq!(usage.threads.len(), 3);
        let found = saver.verify(false).await.expect("checks");
        let threads: Vec<_> = found.damage.iter().map(|damage| damage.thread.clone()).collect();
        assert_eq!(threads, [None, Some("folder".into()), Some("t".into())]);
        // A rule for threads that nobody touches goes on with the others too.
        let rule = Retention::new(Duration::ZERO, Keep::Latest).dry_run(true);
        let dry = retain(&saver, &rule, 1_900_000_000_000, &Exempt::default(), &|_, _| true).await;
        assert_eq!(dry.expect("looks").checkpoints, 2);
        // Who asks for the damaged one gets an error.
        let newest = saver.get(&"t".into(), "", None).await;
        assert!(newest.is_err(), "{newest:?}");
    }
}

#[tokio::test]
async fn one_process_has_the_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = FileSaver::open(folder.path()).expect("opens");
    let refused = FileSaver::open(folder.path())
        .expect_err("it is in use")
        .to_string();
    assert!(
        refused.contains(&format!("process {}", std::process::id())),
        "{refused}"
    );
    drop(first);
    FileSaver::open(folder.path()).expect("free again");
}

#[tokio::test]
async fn folders_of_others_and_of_newer_releases_are_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("thesis.txt"), "mine").expect("writable");
    let refused = FileSaver::open(folder.path()).expect_err("not ours").to_string();
    assert!(refused.contains("other files"), "{refused}");
    assert_eq!(
        fs::read_dir(folder.path()).expect("a folder").count(),
        1,
        "nothing was added"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("superstep.json"), r#"{"schema": 7}"#).expect("writable");
    let refused = FileSaver::open(folder.path()).expect_err("too new");
    assert!(
        matches!(
            refused,
            StorageError::NewerSchema {
                found: 7,
                supported: 3,
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_threads_are_listed_without_being_held() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = FileSaver::open(folder.path()).expect("opens");
    for n in 0..600 {
        grown(&saver, &format!("Thread {n}"), 2).await;
    }
    let all = |saver: FileSaver| async move {
        let query = ThreadQuery::new().search("thread 59".to_owned());
        let found = saver.threads(&query).await.expect("lists");
        let names: Vec<_> = found.iter().map(|thread| thread.thread.to_string()).collect();
        assert_eq!(
            saver
                .count_threads(&ThreadQuery::default())
                .await
                .expect("counts"),
            600
        );
        assert_eq!(saver.usage().await.expect("measures").threads.len(), 600);
        (names, found)
    };
    let (names, before) = all(saver).await;
    assert_eq!(names.len(), 11, "{names:?}");
    let list = folder.path().join("threads.jsonl");
    assert!(list.exists(), "the summaries are written down");
    let (_, after) = all(FileSaver::open(folder.path()).expect("opens")).await;
    assert_eq!(before, after, "from the list");
    fs::remove_file(&list).expect("removable");
    let (_, after) = all(FileSaver::open(folder.path()).expect("opens")).await;
    assert_eq!(before, after, "from the journals");
}

#[tokio::test]
async fn pruning_makes_the_file_smaller_and_says_by_how_much() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saver = FileSaver::open(folder.path()).expect("opens");
    let made = grown(&saver, "t", 300).await;
    let task = TaskWrites {
        checkpoint_id: made[299].id.clone(),
        task_id: TaskId::new("task"),
        task_path: "p".into(),
        writes: vec![Write {
            idx: 0,
            channel: "n".into(),
            value: json!(1),
        }],
    };
    let commit = Commit {
        claim: None,
        thread: "t".into(),
        ns: "".into(),
        writes: vec![task],
        put: None,
    };
    saver.commit(commit).await.expect("stores");
    let size = || {
        fs::metadata(journal(folder.path(), "t"))
            .expect("a journal")
            .len()
    };
    let pruning = Pruning::threads(["t".into()], Keep::Newest(2)).retain([made[10].id.clone()]);
    let before = size();
    let planned = saver.prune(&pruning.clone().dry_run()).await.expect("plans");
    assert_eq!(size(), before, "a dry run changes nothing");
    let done = saver.prune(&pruning).await.expect("prunes");
    assert_eq!(planned, done);
    assert_eq!((done.checkpoints, done.bytes), (297, Some(before - size())));
    for kept in [&made[10], &made[298], &made[299]] {
        let tuple = saver
            .get(&"t".into(), "", Some(&kept.id))
            .await
            .expect("readable")
            .expect("there");
        assert_eq!(&tuple.checkpoint, kept);
        assert_eq!(tuple.pending_writes.len(), usize::from(kept.id == made[299].id));
    }
    drop(saver);
    let saver = FileSaver::open(folder.path()).expect("opens");
    assert_eq!(newest(&saver, "t").await.expect("readable").as_ref(), made.last());
    saver
        .prune(&Pruning::threads(["t".into()], Keep::Nothing))
        .await
        .expect("prunes");
    assert!(!journal(folder.path(), "t").exists());
}

#[tokio::test]
async fn the_deepest_value_that_is_taken_comes_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nested = |levels: usize| (0..levels).fold(json!("deep"), |value, _| vec![value].into());
    let saver = FileSaver::open(folder.path()).expect("opens");
    let deep = Draft::root(id(1))
        .set("x", nested(120))
        .store(&saver, "t", "")
        .await
        .expect("stores");
    let list = Draft::after(&deep, id(2))
        .append("x", vec![nested(119)])
        .store(&saver, "t", "")
        .await
        .expect("stores");
    let refused = Draft::after(&deep, id(3))
        .set("x", nested(121))
        .store(&saver, "t", "")
        .await;
    assert!(refused.is_err_and(|error| error.to_string().contains("120 levels")));
    drop(saver);
    let saver = FileSaver::open(folder.path()).expect("opens");
    assert_eq!(newest(&saver, "t").await.expect("readable"), Some(list));
}

/// A store that is opened again for every batch.
#[derive(Debug)]
struct ReopenedStore(PathBuf, StoreConfig, tokio::sync::Mutex<()>);

#[async_trait]
impl Store for ReopenedStore {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        let _turn = self.2.lock().await;
        FileStore::open(&self.0, self.1.clone())?.batch(ops).await
    }
    async fn sweep(&self) -> Result<u64, StoreError> {
        let _turn = self.2.lock().await;
        FileStore::open(&self.0, self.1.clone())?.sweep().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_of_stores() {
    let folders = Folders::new();
    let kept = superstep_suites::store::run(async |config| {
        Arc::new(FileStore::open(folders.path(), config).expect("a new folder")) as Arc<dyn Store>
    });
    let kept = kept.await;
    let reopened = superstep_suites::store::run(async |config| {
        Arc::new(ReopenedStore(
            folders.path(),
            config,
            tokio::sync::Mutex::default(),
        )) as Arc<dyn Store>
    });
    for report in [kept, reopened.await] {
        println!("{report}");
        assert!(report.is_ok() && report.passed.len() > 40, "{report}");
    }
}

#[tokio::test]
async fn a_line_of_the_store_that_cannot_be_read_is_not_passed_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = || FileSaver::open_with_store(folder.path(), FileOptions::default(), StoreConfig::default());
    let (saver, store) = open().expect("opens");
    for n in 1..=3 {
        store.put(&["a"], "k1", json!({"v": n})).await.expect("stores");
    }
    store.put(&["a"], "k2", json!({"v": 9})).await.expect("stores");
    let path = folder.path().join("store.jsonl");
    let spoil = || {
        let text = fs::read_to_string(&path).expect("a journal");
        let spoiled = text.replace("{\"v\":3}", "{\"v\":4}");
        assert_ne!(text, spoiled);
        fs::write(&path, spoiled).expect("writable");
    };
    // While the items are in memory, nothing is lost.
    spoil();
    let found = saver.verify(false).await.expect("checks");
    assert!(!found.is_sound() && found.items == 2, "{found:?}");
    assert!(found.damage[0].what.contains("a/k1"), "{found:?}");
    assert!(saver.verify(true).await.expect("repairs").repaired);
    drop((saver, store));
    let (saver, store) = open().expect("opens");
    let value = |item: Option<superstep::store::Item>| item.map(|item| json!(item.value));
    assert_eq!(
        value(store.get(&["a"], "k1").await.expect("reads")),
        Some(json!({"v": 3}))
    );
    drop((saver, store));
    // Otherwise nobody is given the older value as if it were the last one.
    spoil();
    let (saver, store) = open().expect("opens");
    for key in ["k1", "k2"] {
        let error = store.get(&["a"], key).await.expect_err("not known").to_string();
        assert!(error.contains("store.jsonl") && error.contains("a/k1"), "{error}");
    }
    store
        .put(&["a"], "k3", json!({"v": 1}))
        .await
        .expect("what is new is kept");
    let found = saver.verify(true).await.expect("repairs");
    assert!(found.repaired && found.damage.len() == 1, "{found:?}");
    assert!(saver.verify(false).await.expect("checks").is_sound());
    assert!(store.get(&["a"], "k2").await.expect("reads").is_some());
    assert!(store.get(&["a"], "k3").await.expect("reads").is_some());
    let copies = fs::read_dir(folder.path()).expect("our folder").flatten();
    let copies = copies.filter(|entry| entry.file_name().to_string_lossy().starts_with("store.damaged."));
    assert_eq!(copies.count(), 2, "what was damaged is kept");
}

#[tokio::test]
async fn a_store_whose_file_cannot_be_read_is_not_an_empty_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = || FileSaver::open_with_store(folder.path(), FileOptions::default(), StoreConfig::default());
    let (saver, store) = open().expect("opens");
    store.put(&["a"], "k", json!({"v": 1})).await.expect("stores");
    drop((saver, store));
    let path = folder.path().join("store.jsonl");
    fs::remove_file(&path).expect("removable");
    fs::create_dir(&path).expect("a folder of its name");
    let read = match open() {
        Ok((_saver, store)) => store
            .get(&["a"], "k")
            .await
            .map(drop)
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    assert!(read.is_err_and(|error| error.contains("store.jsonl")));
}

#[tokio::test]
async fn the_deepest_item_that_is_taken_comes_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let nested = |levels: usize| (0..levels).fold(json!("deep"), |value, _| vec![value].into());
    let open = || FileSaver::open_with_store(folder.path(), FileOptions::default(), StoreConfig::default());
    let (saver, store) = open().expect("opens");
    let deepest = json!({"x": nested(119)});
    store.put(&["a"], "k", deepest.clone()).await.expect("stores");
    let refused = store.put(&["a"], "k", json!({"x": nested(120)})).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("120 levels")));
    drop((saver, store));
    let (_saver, store) = open().expect("opens");
    let item = store.get(&["a"], "k").await.expect("reads").expect("is there");
    assert_eq!(json!(item.value), deepest);
}

#[tokio::test]
async fn items_survive_torn_lines_and_their_journal_stays_small() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let open = || FileSaver::open_with_store(folder.path(), FileOptions::default(), StoreConfig::default());
    let (saver, store) = open().expect("opens");
    assert!(
        FileStore::open(folder.path(), StoreConfig::default()).is_err(),
        "the folder has one user"
    );
    grown(&saver, "t", 2).await;
    for n in 0..5000 {
        store
            .put(&["notes"], &format!("key {}", n % 7), json!({"n": n}))
            .await
            .expect("stores");
    }
    drop((saver, store));
    let path = folder.path().join("store.jsonl");
    let text = fs::read_to_string(&path).expect("a journal");
    assert!(
        text.lines().count() < 2500,
        "{} lines for seven items",
        text.lines().count()
    );
    fs::write(&path, format!("{text}0123456789abcdef {{\"batch\"")).expect("writable");
    let (saver, store) = open().expect("opens");
    let found = store
        .search(StoreQuery::under(&["notes"]))
        .await
        .expect("searches");
    let mut numbers: Vec<_> = found
        .iter()
        .filter_map(|item| item.value.get("n")?.as_i64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (4993..5000).collect::<Vec<_>>());
    store
        .put(&["notes"], "after", json!({"n": 1}))
        .await
        .expect("stores");
    drop((saver, store));
    let (saver, store) = open().expect("opens");
    assert!(store.get(&["notes"], "after").await.expect("reads").is_some());
    assert!(newest(&saver, "t").await.expect("readable").is_some());
}

/// Who starts a program shares its locks with it for a moment.
#[test]
fn a_folder_that_is_let_go_of_soon_is_waited_for() {
    let folders = Folders::new();
    let path = folders.path();
    drop(FileSaver::open(&path).expect("the folder is made"));
    let held = std::fs::File::open(path.join("lock")).expect("it has a lock");
    held.lock().expect("nobody has it");
    let refused = FileSaver::open(&path).expect_err("somebody has it").to_string();
    assert!(refused.contains("one user at a time"), "{refused}");
    let letting_go = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(held);
    });
    FileSaver::open(&path).expect("it is free soon");
    letting_go.join().expect("ends");
}
