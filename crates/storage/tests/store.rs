//! Every store passes the engine's suite: SQLite as it is, and closed and opened again before each batch.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use superstep::{
    HashedNgrams, Ranking, Store, StoreAnswer, StoreConfig, StoreError, StoreOp, StoreQuery, VectorIndex,
    conformance, json,
};
use superstep_storage::SqliteSaver;

/// Gives each case a file of its own.
struct Files(tempfile::TempDir, AtomicUsize);

impl Files {
    fn new() -> Self {
        Self(
            tempfile::tempdir().expect("a temporary folder"),
            AtomicUsize::new(0),
        )
    }
    fn path(&self) -> PathBuf {
        self.0
            .path()
            .join(format!("{}.db", self.1.fetch_add(1, Ordering::Relaxed)))
    }
}

fn accepted(backend: &str, report: &conformance::Report) {
    println!("{backend}\n{report}");
    assert!(report.is_ok(), "{backend} does not pass:\n{report}");
    assert!(
        report.passed.len() > 45,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

fn open(path: &std::path::Path, config: StoreConfig) -> impl Store + use<> {
    SqliteSaver::open(path).expect("the database opens").store(config)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    let files = Files::new();
    let make = async |config| Arc::new(open(&files.path(), config)) as Arc<dyn Store>;
    accepted("sqlite", &conformance::store::run(make).await);
}

/// Opens the file anew for every batch and sweep.
#[derive(Debug)]
struct Reopening(PathBuf, StoreConfig);

#[async_trait]
impl Store for Reopening {
    async fn batch(&self, ops: Vec<StoreOp>) -> Result<Vec<StoreAnswer>, StoreError> {
        open(&self.0, self.1.clone()).batch(ops).await
    }
    async fn sweep(&self) -> Result<u64, StoreError> {
        open(&self.0, self.1.clone()).sweep().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_opened_again_before_each_batch() {
    let files = Files::new();
    let make = async |config| Arc::new(Reopening(files.path(), config)) as Arc<dyn Store>;
    accepted("sqlite, opened again", &conformance::store::run(make).await);
}

#[tokio::test]
async fn vectors_of_another_embedding_are_not_compared() {
    let files = Files::new();
    let path = files.path();
    let with = |dims| StoreConfig {
        index: Some(VectorIndex::new(Arc::new(HashedNgrams::new(dims)))),
        ..StoreConfig::default()
    };
    let query = || StoreQuery::under(&["a"]).query("word").by(Ranking::Vectors);
    open(&path, with(64))
        .put(&["a"], "old", json!({"t": "word"}))
        .await
        .expect("stores");
    let other = open(&path, with(128));
    assert_eq!(other.search(query()).await.expect("searches"), []);
    other
        .put(&["a"], "new", json!({"t": "word"}))
        .await
        .expect("stores");
    let found = other.search(query()).await.expect("searches");
    assert_eq!(found.iter().map(|item| &*item.key).collect::<Vec<_>>(), ["new"]);
    // The items themselves do not depend on how they are found.
    assert_eq!(
        other
            .search(StoreQuery::under(&["a"]))
            .await
            .expect("searches")
            .len(),
        2
    );
    let first = open(&path, with(64)).search(query()).await.expect("searches");
    assert_eq!(first.iter().map(|item| &*item.key).collect::<Vec<_>>(), ["old"]);
}

#[tokio::test]
async fn a_damaged_item_is_named_and_the_others_are_read() {
    let files = Files::new();
    let path = files.path();
    let store = open(&path, StoreConfig::default());
    for key in ["good", "bad"] {
        store
            .put(&["a", "b"], key, json!({"t": "word"}))
            .await
            .expect("stores");
    }
    let conn = rusqlite::Connection::open(&path).expect("opens");
    conn.execute("UPDATE store_items SET value = '{\"t\":' WHERE key = 'bad'", [])
        .expect("damages");
    let error = store
        .get(&["a", "b"], "bad")
        .await
        .expect_err("is damaged")
        .to_string();
    assert!(error.contains("Item \"bad\" of namespace \"a.b\""), "{error}");
    assert!(store.get(&["a", "b"], "good").await.expect("reads").is_some());
    store.delete(&["a", "b"], "bad").await.expect("deletes");
    assert_eq!(
        store
            .search(StoreQuery::under(&["a"]).query("word"))
            .await
            .expect("searches")
            .len(),
        1
    );
}

#[tokio::test]
async fn nothing_is_left_of_what_was_deleted() {
    let files = Files::new();
    let path = files.path();
    let config = StoreConfig {
        index: Some(VectorIndex::default()),
        ..StoreConfig::default()
    };
    let store = open(&path, config);
    for n in 0..20 {
        let key = (n % 10).to_string();
        store
            .put(&["a"], &key, json!({"t": format!("word {n}")}))
            .await
            .expect("stores");
    }
    for n in 0..10 {
        store.delete(&["a"], &n.to_string()).await.expect("deletes");
    }
    let conn = rusqlite::Connection::open(&path).expect("opens");
    for table in ["store_items", "store_vectors", "store_words_docsize"] {
        let left: i64 = conn
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .expect("counts");
        assert_eq!(left, 0, "{table}");
    }
}
