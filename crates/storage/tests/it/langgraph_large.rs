//! LangGraph files with many threads or many rows, in folders that may not be written, or left behind in the middle of a commit:
//! each read takes few rows, the first page few statements, and what cannot be read is refused with a word.

use std::fs;
use std::time::Duration;

use rusqlite::Connection;
use superstep::checkpoint::{Coordination as _, ListQuery, ThreadQuery, WaitingQuery};
use superstep::run::StateRef;
use superstep::{Checkpointer, ThreadId};
use superstep_storage::LanggraphSaver;

use crate::langgraph::Copy;

/// The most rows or entries of an index that one statement may take: a page of a count.
const MAX_TAKEN: u64 = 20_000;

/// The tables as SqliteSaver makes them.
const TABLES: &str = "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT \
    NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, \
    checkpoint_id)); CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT \
    NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, \
    checkpoint_ns, checkpoint_id, task_id, idx));";

/// A checkpoint without values, in JSON.
const CHECKPOINT: &str = "CAST('{\"v\": 4, \"ts\": \"2026-03-01T09:30:00+00:00\", \"channel_values\": {}, \"channel_versions\": \
    {\"a\": 1}, \"versions_seen\": {}}' AS BLOB)";

fn numbers(count: u64) -> String {
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {})",
        count - 1
    )
}

/// Fills a new file.
fn filled(folder: &tempfile::TempDir, name: &str, sql: &[String]) -> std::path::PathBuf {
    let path = folder.path().join(name);
    let conn = Connection::open(&path).expect("opens");
    conn.pragma_update(None, "synchronous", "OFF").expect("set");
    conn.execute_batch(TABLES).expect("made");
    for sql in sql {
        conn.execute_batch(sql).expect("filled");
    }
    path
}

/// Threads whose newest checkpoints are in another order than their ids.
fn threads(count: u64) -> String {
    format!(
        "{} INSERT INTO checkpoints SELECT printf('t%07d', i), '', printf('1f000000-0000-6000-8000-%012d', (i * 7919) % 1000003), \
         NULL, 'json', {CHECKPOINT}, CAST('{{\"source\": \"loop\", \"step\": 1}}' AS BLOB) FROM n",
        numbers(count)
    )
}

#[tokio::test]
async fn the_first_page_takes_as_little_of_many_threads_as_of_few() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut taken = Vec::new();
    for count in [1_000_u64, 100_000] {
        let path = filled(&folder, &format!("{count}.db"), &[threads(count)]);
        let saver = LanggraphSaver::open(&path).expect("opens");
        let looked = saver.changes().await.expect("looks");
        let before = saver.read_counts().statements;
        let soon = ThreadQuery::new().limit(50).soon(true);
        let page = saver.threads(&soon).await.expect("lists");
        let ids: Vec<&str> = page.iter().map(|thread| thread.thread.as_str()).collect();
        assert_eq!(ids.len(), 50);
        assert!(
            ids.is_sorted() && ids[0] == "t0000000" && ids[49] == "t0000049",
            "in the order of ids: {ids:?}"
        );
        // The walk in the background begins when this test waits again.
        let counts = saver.read_counts();
        assert!(counts.most_rows <= 256, "{counts:?}");
        taken.push(counts.statements - before);
        // When the walk in the background has ended, it is a change, and the newest come first.
        while saver.changes().await.expect("looks") == looked {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let newest = saver.threads(&soon).await.expect("lists");
        assert!(newest.is_sorted_by(|a, b| a.head.id > b.head.id), "{count}");
        let all = saver.threads(&ThreadQuery::new().limit(50)).await.expect("lists");
        assert_eq!(newest, all, "{count}");
        assert_eq!(
            saver.count_threads(&ThreadQuery::new()).await.expect("counts"),
            count
        );
        // And pages follow one another in that order.
        let next = ThreadQuery::new().limit(50).after(all[49].place());
        let next = saver.threads(&next).await.expect("lists");
        assert!(all[49].head.id > next[0].head.id, "{count}");
        assert!(saver.read_counts().most_rows <= MAX_TAKEN);
    }
    let (few, many) = (taken[0], taken[1]);
    assert!(
        many * 10 <= few * 12,
        "{many} statements of 100,000 threads, {few} of 1,000"
    );
}

#[tokio::test]
async fn few_threads_are_the_newest_first_at_once() {
    let copy = Copy::of("sqlite-1.2.24");
    let saver = copy.saver();
    let soon = saver
        .threads(&ThreadQuery::new().limit(50).soon(true))
        .await
        .expect("lists");
    assert_eq!(
        soon,
        saver.threads(&ThreadQuery::new()).await.expect("lists"),
        "nothing is left to walk"
    );
    // Anything else that is asked for is looked for everywhere.
    let other = ThreadQuery::new()
        .limit(1)
        .search("waiting".to_owned())
        .soon(true);
    let found = saver.threads(&other).await.expect("lists");
    assert_eq!(found[0].thread.as_str(), "waiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_rows_under_one_thread_are_read_a_few_at_a_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let many = format!(
        "{} INSERT INTO checkpoints SELECT 't', '', printf('1f000000-0000-6000-8000-%012d', i), NULL, 'json', {CHECKPOINT}, \
         NULL FROM n",
        numbers(1_000_000)
    );
    let writes = format!(
        "{} INSERT INTO writes SELECT 't', '', '1f000000-0000-6000-8000-000000999999', printf('task %d', i), i,          '__interrupt__', 'json', CAST('1' AS BLOB) FROM n",
        numbers(30_000)
    );
    let strange = format!(
        "{} INSERT INTO checkpoints SELECT CAST(printf('%d', i) AS BLOB), '', '1', NULL, 'json', x'00', NULL FROM n",
        numbers(50_000)
    );
    let path = filled(&folder, "million.db", &[many, writes, strange]);
    let saver = LanggraphSaver::open(&path).expect("opens");
    let dynamic: &dyn Checkpointer = &saver;
    let thread = ThreadId::from("t");
    let summary = saver.thread(&thread).await.expect("reads").expect("there");
    assert_eq!(summary.checkpoints, 1_000_000);
    assert_eq!(summary.head.interrupted, 30_000);
    let page = ListQuery::new().thread("t").ns("").limit(100);
    assert_eq!(saver.heads(&page).await.expect("lists").len(), 100);
    assert_eq!(saver.list(&page).await.expect("lists").len(), 100);
    assert_eq!(
        saver
            .list(&ListQuery::new().limit(10))
            .await
            .expect("lists")
            .len(),
        10,
        "of all threads"
    );
    let one = ListQuery::new().id(summary.head.id.clone());
    assert_eq!(saver.heads(&one).await.expect("lists").len(), 1);
    let state = dynamic
        .foreign_state(&StateRef::live("t"))
        .await
        .expect("reads")
        .expect("there");
    assert_eq!(state.checkpoint.expect("a checkpoint").id, summary.head.id);
    let waiting = saver.waiting(&WaitingQuery::new()).await.expect("lists");
    assert_eq!((waiting.len(), waiting[0].tasks), (1, 30_000));
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 1);
    let counts = saver.read_counts();
    assert!(counts.most_rows <= MAX_TAKEN, "{counts:?}");
}

#[tokio::test]
async fn where_nothing_may_be_written_a_file_is_read_only_without_a_log() {
    // In the place of the file that SQLite needs beside a log stands a folder: as where nothing may be made, also for root.
    let copy = Copy::of("sqlite-1.2.24");
    let beside = |ending: &str| format!("{}{ending}", copy.path.display());
    copy.write()
        .pragma_update(None, "journal_mode", "WAL")
        .expect("WAL");
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(ending));
    }
    fs::create_dir(beside("-shm")).expect("made");
    let whole = fs::read(&copy.path).expect("read");
    let saver = LanggraphSaver::open(&copy.path).expect("opens without a log");
    assert_eq!(saver.count_threads(&ThreadQuery::new()).await.expect("counts"), 4);
    drop(saver);
    fs::write(beside("-wal"), vec![7; 5000]).expect("written");
    let error = LanggraphSaver::open(&copy.path)
        .map(drop)
        .expect_err("the newest commits cannot be read")
        .to_string();
    assert!(
        error.contains("-wal, which cannot be read where nothing may be written"),
        "{error}"
    );
    assert!(error.contains("Copy both files"), "{error}");
    assert!(whole == fs::read(&copy.path).expect("read"));
    assert_eq!(fs::read(beside("-wal")).expect("read"), vec![7; 5000]);
}

#[tokio::test]
async fn a_commit_that_was_cut_off_is_left_to_its_program() {
    let copy = Copy::of("sqlite-1.2.24");
    let conn = copy.write();
    conn.execute_batch(
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; \
         UPDATE checkpoints SET metadata = zeroblob(3000); UPDATE writes SET value = zeroblob(3000);",
    )
    .expect("begun");
    // As a program that is killed here leaves it.
    let left = copy.folder.path().join("left.db");
    let journal = copy.folder.path().join("left.db-journal");
    fs::copy(&copy.path, &left).expect("copied");
    fs::copy(format!("{}-journal", copy.path.display()), &journal).expect("copied");
    let before = (fs::read(&left).expect("read"), fs::read(&journal).expect("read"));
    let opened = LanggraphSaver::open(&left);
    let error = opened.map(drop).expect_err("half a commit").to_string();
    assert!(error.contains("in the middle of a commit"), "{error}");
    assert!(
        before == (fs::read(&left).expect("read"), fs::read(&journal).expect("read")),
        "nothing was taken back"
    );
    drop(conn);
}
