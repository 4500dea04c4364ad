//! Every store passes the engine's suite: SQLite as it is, and closed and opened again before each batch.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use superstep::checkpoint::Maintenance;
use superstep::store::{
    HashedNgrams, Ranking, StoreAnswer, StoreConfig, StoreError, StoreOp, StoreQuery, VectorIndex,
};
use superstep::{Store, json};
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

fn accepted(backend: &str, report: &superstep_suites::Report) {
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
    accepted("sqlite", &superstep_suites::store::run(make).await);
}

/// Opens the file again for every batch and sweep.
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
    accepted("sqlite, opened again", &superstep_suites::store::run(make).await);
}

#[tokio::test]
async fn vectors_of_another_embedding_are_not_compared() {
    let files = Files::new();
    let path = files.path();
    let with = |dims| StoreConfig::default().index(VectorIndex::new(Arc::new(HashedNgrams::new(dims))));
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
async fn a_check_finds_items_that_cannot_be_read_and_a_repair_quarantines_them() {
    let files = Files::new();
    let path = files.path();
    let saver = SqliteSaver::open(&path).expect("opens");
    let store = saver.store(StoreConfig::default());
    let put = async |key: &str, n: u64| {
        let value = json!({"t": "word", "n": n});
        store.put(&["a", "b"], key, value).await.expect("stores");
    };
    put("good", 1).await;
    let conn = rusqlite::Connection::open(&path).expect("opens");
    // Twice, so that what was quarantined before is not lost.
    for broken in ["{\"n\":", "[1]"] {
        put("bad", 2).await;
        conn.execute(
            "UPDATE store_items SET value = ?1 WHERE key = 'bad' AND namespace = 'a.b'",
            [broken],
        )
        .expect("damages");
        let all = store.search(StoreQuery::under(&["a"])).await;
        assert!(all.is_err_and(|error| error.to_string().contains("what can be repaired")));
        let found = saver.verify(false).await.expect("checks");
        assert_eq!(found.damage.len(), 1, "{found:?}");
        let what = &found.damage[0];
        assert!(
            what.what.contains("Item \"bad\" of namespace \"a.b\""),
            "{what:?}"
        );
        assert!(what.repair.is_some() && !found.repaired);
        assert!(saver.verify(true).await.expect("repairs").repaired);
        let found = saver.verify(false).await.expect("checks");
        assert!(found.is_sound() && found.items >= 2, "{found:?}");
        assert!(store.get(&["a", "b"], "bad").await.expect("reads").is_none());
    }
    let left = store.search(StoreQuery::under(&["a"])).await.expect("searches");
    assert_eq!(left.iter().map(|item| &*item.key).collect::<Vec<_>>(), ["good"]);
    let quarantined = store
        .search(StoreQuery::under(&["damaged", "a", "b"]))
        .await
        .expect("searches");
    let mut stored: Vec<_> = quarantined
        .iter()
        .filter_map(|item| item.value.get("stored")?.as_str())
        .collect();
    stored.sort_unstable();
    assert_eq!(stored, ["[1]", "{\"n\":"]);
}

#[tokio::test]
async fn a_damaged_index_of_words_is_cut_again() {
    let files = Files::new();
    let path = files.path();
    let saver = SqliteSaver::open(&path).expect("opens");
    let store = saver.store(StoreConfig::default());
    for n in 0..50 {
        let value = json!({"t": format!("word{n} common")});
        store.put(&["a"], &n.to_string(), value).await.expect("stores");
    }
    let words = async |query: &str| {
        let query = StoreQuery::under(&["a"]).query(query);
        store
            .search(query)
            .await
            .map(|found| found.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(words("word7").await, Ok(1));
    let conn = rusqlite::Connection::open(&path).expect("opens");
    conn.execute_batch("UPDATE store_words_data SET block = zeroblob(length(block)) WHERE id > 10")
        .expect("damages");
    let found = saver.verify(false).await.expect("checks");
    assert!(
        !found.is_sound() && found.damage.iter().all(|damage| damage.repair.is_some()),
        "{found:?}"
    );
    assert!(saver.verify(true).await.expect("repairs").repaired);
    let found = saver.verify(false).await.expect("checks");
    assert!(found.is_sound(), "{found:?}");
    assert_eq!((words("word7").await, words("common").await), (Ok(1), Ok(10)));
    store
        .put(&["a"], "new", json!({"t": "later"}))
        .await
        .expect("stores");
    assert_eq!(words("later").await, Ok(1));
}

#[tokio::test]
async fn nothing_is_left_of_what_was_deleted() {
    let files = Files::new();
    let path = files.path();
    let config = StoreConfig::default().index(VectorIndex::default());
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
