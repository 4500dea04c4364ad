//! What is written to a file that was deleted or replaced while it is open is not acknowledged.

use std::fs;
use std::path::Path;

use superstep::checkpoint::Checkpoint;
use superstep::json;
use superstep::store::StoreOp;
use superstep_storage::{Storage, open};
use superstep_suites::{Draft, id};

const WORDS: [&str; 2] = ["was deleted or moved while", "was replaced by another file while"];

async fn root(storage: &Storage) -> Checkpoint {
    let draft = Draft::root(id(1)).set("log", json!([1]));
    draft
        .store(&*storage.checkpointer, "t", "")
        .await
        .expect("stores")
}

async fn next(storage: &Storage, last: &Checkpoint, n: u64) -> Result<Checkpoint, String> {
    let draft = Draft::after(last, id(n)).append("log", vec![json!(n)]);
    let stored = draft.store(&*storage.checkpointer, "t", "").await;
    stored.map_err(|error| error.to_string())
}

async fn put(storage: &Storage, key: &str) -> Result<(), String> {
    let put = StoreOp::put(&["n"], key, json!({"a": 1})).expect("a sound item");
    let done = storage.store.batch(vec![put]).await;
    done.map(drop).map_err(|error| error.to_string())
}

fn assert_gone<T: std::fmt::Debug>(done: Result<T, String>, words: &str) {
    let error = done.expect_err("it must not be acknowledged");
    assert!(
        error.contains(words) && error.contains("Put the file back"),
        "{error}"
    );
}

fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).expect("readable").flatten() {
        fs::remove_file(entry.path()).expect("removable");
    }
}

#[tokio::test]
async fn a_database_that_was_deleted_takes_nothing_more() {
    for mode in ["normal", "full"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("t.db");
        let url = format!("sqlite:{}?synchronous={mode}", file.display());
        let storage = open(&url).await.expect("opens");
        let last = root(&storage).await;
        put(&storage, "a").await.expect("stores");
        remove(folder.path());
        assert_gone(next(&storage, &last, 2).await, WORDS[0]);
        assert_gone(next(&storage, &last, 3).await, WORDS[0]);
        assert_gone(put(&storage, "b").await, WORDS[0]);
    }
}

#[tokio::test]
async fn a_database_that_was_replaced_takes_nothing_more_until_it_is_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, aside) = (folder.path().join("t.db"), folder.path().join("aside.db"));
    let storage = open(&format!("sqlite:{}", file.display())).await.expect("opens");
    let last = root(&storage).await;
    fs::rename(&file, &aside).expect("can be renamed");
    fs::copy(&aside, &file).expect("can be copied");
    assert_gone(next(&storage, &last, 2).await, WORDS[1]);
    fs::rename(&aside, &file).expect("can be renamed");
    next(&storage, &last, 3).await.expect("it is back");

    // Its log alone, in which the newest commits are.
    fs::remove_file(folder.path().join("t.db-wal")).expect("removable");
    assert_gone(next(&storage, &last, 4).await, WORDS[0]);
}

#[tokio::test]
async fn a_folder_that_was_deleted_takes_nothing_more() {
    for mode in ["normal", "full"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join("place");
        let url = format!("file:{}?synchronous={mode}", place.display());
        let storage = open(&url).await.expect("opens");
        let last = root(&storage).await;
        put(&storage, "a").await.expect("stores");
        fs::remove_dir_all(&place).expect("removable");
        assert_gone(next(&storage, &last, 2).await, WORDS[0]);
        next(&storage, &last, 3).await.expect_err("it stays so");
        assert_gone(put(&storage, "b").await, WORDS[0]);
        put(&storage, "c").await.expect_err("it stays so");
        assert!(!place.exists(), "nothing was made where it stood");
    }
}

#[tokio::test]
async fn a_journal_that_was_replaced_takes_nothing_more() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let storage = open(&format!("file:{}", folder.path().display()))
        .await
        .expect("opens");
    let last = root(&storage).await;
    let journal = folder.path().join("threads/t.jsonl");
    let text = fs::read(&journal).expect("readable");
    fs::remove_file(&journal).expect("removable");
    fs::write(&journal, &text[..text.len() / 2]).expect("writable");
    assert_gone(next(&storage, &last, 2).await, WORDS[1]);
    next(&storage, &last, 3).await.expect_err("it stays so");
    assert_eq!(
        fs::read(&journal).expect("readable"),
        &text[..text.len() / 2],
        "it was left as it is"
    );
}
